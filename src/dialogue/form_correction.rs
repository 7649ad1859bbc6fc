//! A correction that does not name the slot that it corrects: "make it 11".

use std::cmp::Reverse;

use crate::{
    ablation,
    call::SlotValue,
    conversation::UpdateMode,
    decide::situation::Situation,
    dialogue::{form_reading::FormReading, open_form::OpenForm},
    module::{SlotId, SlotKind},
    recognize::reply,
    text::{Span, Utterance},
};

/// The most words of a correction that does not name its slot.
const SHORT: usize = 8;
/// The most recognized values of a reply among which a known one and its replacement are looked for.
const MOST_NAMED: usize = 4;

impl OpenForm<'_> {
    /// The only known value of the slot, if recognizers read the slot.
    fn known_of_kind(&self, slot: SlotId) -> Option<&SlotValue> {
        let slot = self.function.slot(slot);
        let is_of_kind = !slot.takes_any_words() && !slot.path.is_repeated() && slot.kind != SlotKind::Boolean;
        self.form.at(&slot.path.pointer()).filter(|_| is_of_kind)
    }

    /// "Make it 11", "can we take the 25th?": the words would be a value of a filled slot if that slot were asked for.
    /// Of several such slots, the one that was filled last is corrected. True if there is one.
    pub(crate) fn corrects_by_kind(&self, own: &Situation<'_>, part: Span, read: &mut FormReading) -> bool {
        if own.utterance().words().iter().filter(|word| part.contains(**word)).count() > SHORT {
            return false;
        }
        let known = |slot: SlotId| Some((self.known_of_kind(slot)?, slot));
        let mut filled: Vec<(&SlotValue, SlotId)> = self.function.slot_ids().filter_map(known).collect();
        filled.sort_unstable_by_key(|(known, slot)| (Reverse(known.turn), *slot));
        let is_bare =
            self.is_bare(own.utterance(), own.utterance().words().iter().filter(|word| part.contains(**word)));
        let is_alike = |known: &SlotValue| {
            let text = Utterance::new(known.text.as_deref().unwrap_or_default());
            self.is_bare(&text, text.words().iter())
        };
        // A bare number replaces a value that was also said as a bare number; otherwise it replaces what was said last.
        if ablation::holds("form.bare_number", is_bare && filled.iter().any(|(known, _)| is_alike(known))) {
            filled.retain(|(known, _)| is_alike(known));
        }
        let read_by: Vec<(u32, FormReading)> = filled
            .into_iter()
            .filter_map(|(known, slot)| Some((known.turn, self.reads_all(own, slot, part, read.confidence)?)))
            .collect();
        let is_open = is_bare && matches!(&read_by[..], [(one, _), (other, _), ..] if one == other);
        let alone = read_by.into_iter().next().filter(|_| !is_open);
        let Some((_, alone)) = ablation::found("form.corrects_by_kind", alone) else { return false };
        read.confidence = alone.confidence;
        read.said.values.extend(alone.said.values);
        true
    }

    /// "80 is a lot, 50 will do", "rather 70 than 50": the reply names the known value of a slot, and one
    /// other value that the slot could have. The other one replaces it. True if there is one.
    pub(crate) fn replaces_named(&self, own: &Situation<'_>, read: &mut FormReading) -> bool {
        let mut spans: Vec<Span> = own.mentions().iter().map(|mention| mention.span).collect();
        spans.sort_unstable_by_key(|span| (span.start, Reverse(span.end)));
        let mut end = 0;
        spans.retain(|span| {
            let is_apart = span.start >= end;
            end = end.max(span.end);
            is_apart
        });
        if !(2..=MOST_NAMED).contains(&spans.len()) {
            return false;
        }
        let is_ruled_out = |span: Span| own.negations().iter().any(|negation| negation.scope.overlaps(span));
        let mut replacements = self.function.slot_ids().filter_map(|slot| {
            let known = &self.known_of_kind(slot)?.value;
            let is_known = |one: &FormReading| {
                one.said.values.iter().any(|value| value.value == *known)
                    || one.said.invalid.iter().any(|aside| aside.readings.contains(known))
            };
            let (mut named, mut others) = (0, Vec::new());
            for span in &spans {
                let mut alone = FormReading::empty(read.confidence);
                match self.fill(own, slot, *span, &mut alone) {
                    true if is_known(&alone) => named += 1,
                    true if !is_ruled_out(*span) => others.push(alone),
                    _ => {}
                }
            }
            if named == 1 && others.len() == 1 { others.pop() } else { None }
        });
        let found = replacements.next().filter(|_| replacements.next().is_none());
        let Some(found) = ablation::found("form.replaces_named", found) else { return false };
        read.confidence = found.confidence;
        read.said.manner = UpdateMode::Correct;
        read.said.values.extend(found.said.values);
        read.said.invalid.extend(found.said.invalid);
        true
    }

    /// What the words of `part` say about a slot with recognizers, if they say nothing else.
    fn reads_all(&self, own: &Situation<'_>, slot: SlotId, part: Span, confidence: f32) -> Option<FormReading> {
        let mut alone = FormReading::empty(confidence);
        let is_valid = self.fill(own, slot, part, &mut alone)
            && alone.said.invalid.is_empty()
            && alone.said.values.iter().all(|value| value.recognizer.is_some());
        let is_value =
            |word: &Span| alone.said.values.iter().any(|one| one.span.is_some_and(|span| span.overlaps(*word)));
        let words = own.utterance().words().iter().filter(|word| part.contains(**word));
        let says_nothing = |word: &Span| reply::says_nothing(self.module.language(), &own.utterance().meant(*word));
        let mut left = words.filter(|word| !is_value(word) && !says_nothing(word));
        (is_valid && left.next().is_none()).then_some(alone)
    }

    /// True of a number in digits without words that say what it counts: "11", "at 11".
    fn is_bare<'w>(&self, utterance: &Utterance, words: impl Iterator<Item = &'w Span>) -> bool {
        let mut says = words.filter(|word| !reply::says_nothing(self.module.language(), &utterance.meant(**word)));
        let is_number = |word: &Span| utterance.slice(*word).bytes().all(|byte| byte.is_ascii_digit());
        says.next().is_some_and(is_number) && says.next().is_none()
    }
}
