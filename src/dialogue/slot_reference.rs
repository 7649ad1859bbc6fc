//! Which slot or value of a form some words refer to, or how many of something they say: "the city", "the second
//! pizza".

use serde_json::Value;

use crate::{
    ablation,
    call::SlotValue,
    conversation::{Form, merge::is_within},
    decide::{situation::Situation, vocabulary::words_of},
    module::{Function, SlotId},
    recognize::Mention,
    text::{Span, Utterance},
};

/// The fewest letters of a word that may refer to a value.
const LETTERS: usize = 4;

/// Words that refer to something in a form, and what recognizers found in them.
#[derive(Clone, Copy)]
pub(crate) struct SlotReference<'a> {
    pub utterance: &'a Utterance,
    pub mentions: &'a [Mention],
    pub span: Span,
}

impl SlotReference<'_> {
    fn words(&self) -> Vec<String> {
        let words = self.utterance.words().iter().filter(|word| self.span.contains(**word));
        words.map(|word| self.utterance.folded_in(*word)).collect()
    }

    /// The slot with this name: by its label, by its whole path, or by the words of its label among others.
    pub(crate) fn slot(&self, function: &Function) -> Option<SlotId> {
        let said = self.words();
        if said.is_empty() {
            return None;
        }
        let exact = function.slot_labelled(&said.concat());
        let labelled = || {
            let mut found = function.slot_ids().filter(|id| {
                let label = words_of(function.slot(*id).label());
                !label.is_empty() && label.iter().all(|word| said.contains(word))
            });
            // If two slots have the name, neither is certain.
            found.next().filter(|_| found.next().is_none())
        };
        let described = || {
            let mut found = function.slot_ids().filter(|id| {
                let description = words_of(&function.slot(*id).description);
                said.iter().all(|word| description.contains(word))
            });
            found.next().filter(|_| found.next().is_none())
        };
        let described = || ablation::found("reference.described", described());
        exact.or_else(labelled).or_else(described)
    }

    /// The pointers of the form's values that are meant: by their words, by what a recognizer finds in the words, or by
    /// their position in a list ("the second").
    pub(crate) fn values(&self, form: &Form) -> Vec<String> {
        let said = self.words();
        let text = said.join(" ");
        let found: Vec<&Value> = self
            .mentions
            .iter()
            .filter(|mention| self.span.contains(mention.span))
            .map(|mention| &mention.value)
            .collect();
        let is_meant = |filled: &&SlotValue| {
            let own = filled.text.as_deref().map(|text| words_of(text).join(" "));
            let value = filled.value.as_str().map(|text| words_of(text).join(" "));
            found.contains(&&filled.value)
                || !text.is_empty() && (own.as_deref() == Some(&text) || value.as_deref() == Some(&text))
        };
        let all: Vec<String> = form.slots.iter().filter(is_meant).map(|filled| filled.pointer.clone()).collect();
        let by_word = || ablation::found("reference.by_word", self.by_one_of_its_words(form)).into_iter().collect();
        if all.is_empty() { by_word() } else { all }
    }

    /// "The soup", if "tomato soup" is the only value with this word.
    fn by_one_of_its_words(&self, form: &Form) -> Option<String> {
        let said: Vec<String> = self.words().into_iter().filter(|word| word.chars().count() >= LETTERS).collect();
        let has_one = |filled: &&SlotValue| {
            let own = filled.value.as_str().map(words_of).unwrap_or_default();
            own.len() > 1 && own.iter().any(|word| said.contains(word))
        };
        let mut found = form.slots.iter().filter(has_one);
        let only = found.next()?;
        (said.len() == 1 && found.next().is_none()).then(|| only.pointer.clone())
    }

    /// The item of a list at this position: `/dishes/1` for "the second pizza".
    pub(crate) fn item(&self, form: &Form, nth: usize) -> Option<String> {
        let named = self.values(form);
        let mut items: Vec<String> = Vec::new();
        for filled in &form.slots {
            let Some(item) = item_of(&filled.pointer) else { continue };
            let is_meant = named.is_empty() || named.iter().any(|pointer| is_within(pointer, &item));
            if is_meant && !items.contains(&item) {
                items.push(item);
            }
        }
        items.sort_by_key(|item| item.rsplit('/').next().and_then(|index| index.parse::<usize>().ok()));
        items.into_iter().nth(nth.checked_sub(1)?)
    }
}

/// The count that some words say: as a recognizer read it, else as a plain number.
pub(crate) fn count_of(situation: &Situation<'_>, span: Span) -> Option<u64> {
    let mut mentions = situation.mentions().iter().filter(|mention| span.contains(mention.span));
    let reader = situation.knowledge.validator.reader();
    mentions.find_map(|mention| mention.value.as_u64()).or_else(|| reader.count(situation.utterance().slice(span)))
}

/// The first item of an array that a place lies in: `/dishes/1` of `/dishes/1/name`.
pub(crate) fn item_of(pointer: &str) -> Option<String> {
    let mut at = 0;
    for step in pointer.split('/') {
        at += step.len();
        if !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(pointer[..at].to_owned());
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::dialogue::slot_reference::*;

    #[test]
    fn items_are_cut_out_of_pointers() {
        assert_eq!(item_of("/dishes/1/name").as_deref(), Some("/dishes/1"));
        assert_eq!(item_of("/toppings/0").as_deref(), Some("/toppings/0"));
        assert_eq!(item_of("/person/name"), None);
    }
}
