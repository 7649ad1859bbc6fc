//! What is known about a conversation, in a few lines that a prompt can embed.

use crate::{
    call::{Validator, ViolationKind},
    conversation::{Confirmation, Form, InvalidValue, State, next::completed},
    dialogue::question::{Voice, voice::Listener, words::SummaryLine},
    module::SlotPath,
};

impl Voice<'_> {
    /// Each open function with its values that are known, missing and not valid; the one that is being filled comes
    /// first. For sensitive values, the summary says only that they were given. Empty if nothing is open.
    ///
    /// ```text
    /// Order shoes
    /// - known: style sneakers, color black
    /// - missing: size
    /// ```
    pub(crate) fn summary(&self, validator: &Validator, state: &State) -> String {
        let told = Voice { listener: Listener::Prompt, ..*self };
        let forms: Vec<String> = state.forms.iter().rev().filter_map(|form| told.summary_of(validator, form)).collect();
        forms.join("\n")
    }

    /// `None` if the module no longer has this function.
    fn summary_of(&self, validator: &Validator, form: &Form) -> Option<String> {
        let id = self.module.function_named(&form.function)?;
        let function = self.module.function(id);
        let completed = completed(form, self.module, validator)?;
        let lacking = completed.call.as_ref().err().map_or(&[][..], Vec::as_slice);
        let missing = lacking.iter().filter(|violation| violation.kind == ViolationKind::Missing);
        let wrong = lacking.iter().filter(|violation| violation.kind != ViolationKind::Missing);
        let wrong = form.aside.iter().cloned().chain(wrong.map(|violation| InvalidValue::new(violation, form.opened)));

        let known = self.facts(function, &completed.arguments, "");
        let missing: Vec<String> = missing
            // Values that were given but are not valid come below.
            .filter(|violation| !form.aside.iter().any(|aside| aside.pointer == violation.path))
            .map(|violation| {
                let name = self.name_of(function, &SlotPath::of_pointer(&violation.path));
                let item = self.item(function, form, &violation.path);
                item.map_or(name.clone(), |item| self.words.thing(&name, &item))
            })
            .collect();
        let wrong: Vec<String> = wrong.map(|aside| self.not_valid(function, &aside)).collect();
        let is_unconfirmed = completed.call.is_ok()
            && form.aside.is_empty()
            && form.confirmation != Confirmation::Given
            && self.settings(function).is_some_and(|own| own.confirm);

        let mut text = self.title(function);
        for (line, facts) in
            [(SummaryLine::Known, known), (SummaryLine::Missing, missing), (SummaryLine::NotValid, wrong)]
        {
            if !facts.is_empty() {
                text.push_str("\n- ");
                text.push_str(&self.words.line(line, &self.words.facts(&facts)));
            }
        }
        if is_unconfirmed {
            text.push_str("\n- ");
            text.push_str(&self.words.line(SummaryLine::Unconfirmed, ""));
        }
        Some(text)
    }
}
