//! A correction that does not name the slot that it corrects: "make it 11".

use std::cmp::Reverse;

use crate::{
    ablation,
    call::SlotValue,
    conversation::{FormUpdate, UpdateMode},
    decide::{asked, situation::Situation},
    dialogue::{
        form_reading::FormReading,
        open_form::{KNOWN, OpenForm},
    },
    module::{SlotId, SlotKind},
    recognize::{ARTICLE, Mention, reply},
    text::{Span, Utterance},
};

/// The most words of a correction that does not name its slot.
const SHORT: usize = 8;

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

    /// "Better half past four, people come by train": the only recognized value replaces the only known value of its
    /// kind, whatever is said beside it. Whether it is a correction at all is weighed with the other evidence.
    pub(crate) fn corrects_beside(&self, own: &Situation<'_>, part: Span, read: &mut FormReading) -> bool {
        let found = |slot: SlotId| {
            let recognizers = &self.function.slot(slot).recognizers;
            let takes = |mention: &&Mention| recognizers.contains(&mention.recognizer) && mention.others.is_empty();
            own.mentions()
                .iter()
                .filter(takes)
                .filter(|mention| part.contains(mention.span))
                .map(move |one| (slot, one))
        };
        let slots: Vec<SlotId> = self.function.slot_ids().filter(|slot| self.known_of_kind(*slot).is_some()).collect();
        let mut all = slots.into_iter().flat_map(found);
        let Some((slot, mention)) = all.next().filter(|_| all.next().is_none()) else { return false };
        if mention.score <= ARTICLE.score()
            || self.known_of_kind(slot).is_some_and(|known| known.value == mention.value)
        {
            return false;
        }
        if !ablation::holds("form.corrects_beside", true) {
            return false;
        }
        let slot = self.function.slot(slot);
        let value = self.value_of(slot, (own.utterance(), mention.span), Some(mention), mention.score * KNOWN.score());
        read.said.manner = UpdateMode::Correct;
        read.leaves_words = true;
        read.confidence = value.confidence;
        read.said.values.push(value);
        true
    }

    /// "Anna Meyer", after another recipient was read out: a few words that were not used otherwise replace the only
    /// text, the text that they name, or the text that they most probably are. The person is asked to confirm again.
    pub(crate) fn corrects_text(&self, situation: &Situation<'_>) -> Option<FormUpdate> {
        let own = Situation { given: Some(self.id), is_meant: true, ..*situation };
        let utterance = own.utterance();
        let is_text = !asked::is_no_value(&own)
            && !utterance.ends_as_question()
            && !self.has_acts()
            && own.analysis.acts.courtesy.is_none()
            && own.negations().is_empty()
            && utterance.words().len() <= SHORT;
        let whole = Span::new(0, utterance.len());
        let takes = |slot: &SlotId| {
            let slot = self.function.slot(*slot);
            slot.takes_any_words() && !slot.path.is_repeated() && self.form.has(&slot.path)
        };
        let texts: Vec<SlotId> = self.function.slot_ids().filter(takes).collect();
        let slot = match &texts[..] {
            _ if !is_text => return None,
            [only] => *only,
            _ => self.likeliest_text(&own, whole).filter(|slot| texts.contains(slot))?,
        };
        let said = FormUpdate { turn: self.state.turn, manner: UpdateMode::Correct, ..FormUpdate::default() };
        let mut read = FormReading { said, confidence: 1.0, leaves_words: false };
        let is_filled = self.fill(&own, slot, whole, &mut read) && read.said.invalid.is_empty();
        read.said.is_doubtful = self.form.is_doubtful;
        (is_filled && read.said.values.iter().all(|value| self.has_other(value))).then_some(read.said)
    }

    /// What the words of `part` say about a slot with recognizers, if they say nothing else.
    fn reads_all(&self, own: &Situation<'_>, slot: SlotId, part: Span, confidence: f32) -> Option<FormReading> {
        let mut alone = FormReading { said: FormUpdate::default(), confidence, leaves_words: false };
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
