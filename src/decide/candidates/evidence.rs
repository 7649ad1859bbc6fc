//! The numbers that speak for or against filling a slot with a span.

use serde::Serialize;

use crate::{
    decide::features::features,
    probability::{MOST_ODDS, logistic},
};

features! {
    /// The struct and its names are used for fitting, deciding and explaining; the names are those of the model's file.
    #[derive(Serialize)]
    Evidence {
        /// 1 if the reader has read the utterance.
        is_read,
        /// The reader's log-odds that exactly this span fills the slot.
        reader,
        /// The reader's best log-odds for any span that shares a word with this one.
        nearest,
        /// The logarithm of the odds of all those spans together: how surely some words here fill the slot, wherever
        /// they begin and end.
        mass,
        /// By how much the slot leads the function's next one for this span, in the reader's log-odds.
        lead,
        /// The log-odds of the function's own tagger, and its weight in the probability; 0 where there is no tagger.
        tagged,
        tagged_share,
        /// How the span fits the places of the slot in the function's templates; see `Framing`.
        left,
        right,
        both,
        other_both,
        other_left,
        follows,
        other_follows,
        precedes,
        leads_on,
        shown,
        known,
        own_words,
        other_words,
        /// 1 if a recognizer found the span for the slot; 0 for free text.
        is_mention,
        /// The recognizer's score, by the kind of recognizer; a hint comes from the request.
        list,
        pattern,
        builtin,
        hint,
        /// 1 if recognizers found nothing else for the slot, and the span for no other slot.
        alone,
        /// 1 for free text where the slot has a list.
        off_list,
        /// For free text, the share of words that recognizers read for other slots.
        foreign,
        /// The number of other slots for which recognizers found the same span, and how much higher the best of them
        /// scores.
        rivals,
        outscored,
        /// 1 if the words right before it name the slot; 1 if the word right behind it belongs to the slot's name.
        named,
        named_behind,
        /// For each word, the share of the function's exemplars that have it outside their slots; the lowest of these
        /// shares.
        literal,
        /// Logarithm of the number of words.
        words,
        /// How the span lies in the sentence as it is written; see `SpanShape`.
        cut,
        quoted,
        capitals,
        broken,
        empty,
        led,
        /// For a slot that may have several values, how the span lies in an enumeration; see `Enumerated`.
        listed,
        joined,
        /// 1 if the slot was just asked for.
        asked,
        /// 1 if the slot was just asked for and the span is all that was said.
        answers,
        /// 1 if the slot is required.
        required,
    }
}

impl Evidence {
    pub(super) const fn is_read(&self) -> bool {
        self.is_read > 0.0
    }

    pub(super) const fn is_free(&self) -> bool {
        self.is_mention == 0.0
    }

    /// The probability, if all other evidence gives these log-odds.
    pub(super) fn with_tagger(&self, odds: f32) -> f32 {
        logistic(odds * (1.0 - self.tagged_share) + self.tagged * self.tagged_share)
    }

    pub(super) fn bounded(mut self) -> Self {
        for value in [&mut self.tagged, &mut self.reader, &mut self.nearest, &mut self.mass, &mut self.lead] {
            *value = value.clamp(-MOST_ODDS, MOST_ODDS);
        }
        self
    }
}
