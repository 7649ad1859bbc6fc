//! A tagger that is learned from a function with many exemplars: which words of an utterance fill which slot, by the
//! words themselves and those around them.
//!
//! The reader knows slots by their descriptions, and an exemplar or two sharpen it. With some dozens of exemplars, a
//! tagger for the function knows more. Its weight grows with the number of sentences that it was shown.

mod chain;
mod labels;
mod observations;

use std::sync::Arc;

use chain::{Chain, Lattice, Lesson, WordObservations};
use labels::WordLabel;
use observations::observed;

use crate::{
    decide::reader::{adapt::filled, touched},
    embed::words,
    exemplars::Sentence,
    module::SlotId,
    probability::log_odds,
    text::{Span, Utterance},
};

/// The fewest sentences with a value for which there is a tagger.
const FEWEST: usize = 24;
/// The most sentences that are learned from.
const MOST: usize = 10_000;
/// With this many sentences the tagger counts as much as everything else. Of 40, 150 and 400, the middle value was
/// chosen. With 60 exemplars of each of SNIPS' functions they gave an F1 of 78.5, 80.0 and 77.5, with 250 exemplars
/// 84.1, 86.8 and 88.3; the middle one had the second best calibration.
const AS_MUCH: f32 = 150.0;
/// With this many sentences it reads by itself: no rule changes the fillings. With rules, F1 was 64 at 120 exemplars.
const BY_ITSELF: usize = 40;
/// The most words of a value.
const LONGEST: usize = 24;
/// Spans with a lower probability are not looked at.
const LEAST: f32 = 0.03;
/// The share of sentences that the earlier tagger must have known for a fit to continue from it.
const MOSTLY: f32 = 0.9;

/// The tagger of a function.
#[derive(Debug, Clone)]
pub struct Tagger {
    chain: Chain,
    slots: usize,
    /// Hashes of the sentences that it was taught with.
    taught: Vec<blake3::Hash>,
}

/// A tagger's result for an utterance.
pub(crate) struct Tagged<'a> {
    /// The weight of the tagger against the other evidence, 0 to 1.
    pub(crate) share: f32,
    /// Only the tagger and the evidence that it is weighed with decide the fillings.
    pub(crate) reads_by_itself: bool,
    words: Vec<Span>,
    lattice: Lattice<'a>,
    spans: Vec<(SlotId, Span, f32)>,
}

impl Tagger {
    /// `None` if there is too little to learn from. `before` is the function's tagger in the version before.
    pub(crate) fn fit<'a>(
        slots: usize,
        sentences: impl Iterator<Item = &'a Sentence>,
        before: Option<&Arc<Self>>,
    ) -> Option<Arc<Self>> {
        let sentences: Vec<&Sentence> = sentences.take(MOST).collect();
        let shown = sentences.iter().filter(|sentence| !sentence.slots.is_empty()).count();
        if shown < FEWEST {
            return None;
        }
        let taught: Vec<blake3::Hash> = sentences.iter().map(|sentence| hash(sentence)).collect();
        let before = before.filter(|before| before.slots == slots);
        if let Some(same) = before.filter(|before| before.taught == taught) {
            return Some(Arc::clone(same));
        }
        let known = before.filter(|before| is_mostly(&before.taught, &taught));
        let mut chain = known.map_or_else(|| Chain::new(slots), |known| known.chain.clone());
        let lessons: Vec<Lesson> = sentences.iter().map(|sentence| lesson(sentence)).collect();
        chain.learn(&lessons, known.is_some());
        Some(Arc::new(Self { chain, slots, taught }))
    }

    /// Tags an utterance.
    pub(crate) fn tag(&self, utterance: &Utterance) -> Tagged<'_> {
        let (words, observed) = read(utterance);
        let rows: Vec<Vec<u32>> = observed.iter().map(|word| word.rows(false)).collect();
        let lattice = self.chain.lattice(&rows);
        let mut spans = Vec::new();
        for slot in 0..self.slots {
            for first in (0..words.len()).filter(|first| lattice.begins(slot, *first) >= LEAST) {
                for last in first..words.len().min(first + LONGEST) {
                    let probability = lattice.of_span(slot, first, last);
                    if probability >= LEAST {
                        let span = Span::new(words[first].start, words[last].end);
                        spans.push((SlotId::from_index(slot), span, probability));
                    }
                }
            }
        }
        let taught = self.taught.len();
        let share = taught as f32 / (taught as f32 + AS_MUCH);
        Tagged { share, reads_by_itself: taught >= BY_ITSELF, words, lattice, spans }
    }
}

impl Tagged<'_> {
    /// Spans that may fill a slot.
    pub(crate) fn spans(&self) -> impl Iterator<Item = (SlotId, Span)> + '_ {
        self.spans.iter().map(|(slot, span, _)| (*slot, *span))
    }

    /// Log-odds that exactly this span fills the slot.
    pub(crate) fn odds(&self, slot: SlotId, span: Span) -> f32 {
        let own = self.spans.iter().find(|(of, at, _)| *of == slot && *at == span);
        log_odds(own.map_or(LEAST / 3.0, |(.., probability)| *probability))
    }

    /// The probability that these values, and no others, are said. Values that a recognizer found are taken as certain.
    pub(crate) fn of_values(&self, values: impl Iterator<Item = (SlotId, Span, bool)>) -> f32 {
        let (mut filled, mut known) = (Vec::new(), 1.0);
        for (slot, span, is_found) in values {
            let Some((first, last)) = touched(&self.words, span) else { continue };
            if is_found {
                known *= self.lattice.of_span(slot.index(), first, last);
            }
            filled.push((slot.index(), first, last));
        }
        let all = self.lattice.of_labels(&WordLabel::of_words(self.words.len(), &filled));
        if known > 0.0 { (all / known).min(1.0) } else { all }
    }
}

/// The words of an utterance, and the observations of each.
fn read(utterance: &Utterance) -> (Vec<Span>, Vec<WordObservations>) {
    let words = words(utterance.text());
    let said: Vec<&str> = words.iter().map(|word| utterance.slice(*word)).collect();
    let observed = observed(&said);
    (words, observed)
}

fn lesson(sentence: &Sentence) -> Lesson {
    let (words, observed) = read(&Utterance::new(&sentence.text));
    Lesson { words: observed, labels: WordLabel::of_words(words.len(), &filled(sentence, &words)) }
}

fn hash(sentence: &Sentence) -> blake3::Hash {
    blake3::hash(format!("{sentence:?}").as_bytes())
}

fn is_mostly(before: &[blake3::Hash], now: &[blake3::Hash]) -> bool {
    let before: std::collections::HashSet<&blake3::Hash> = before.iter().collect();
    let known = now.iter().filter(|one| before.contains(one)).count();
    let both = before.len().max(now.len()).max(1);
    known as f32 >= MOSTLY * both as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACES: [&str; 8] = ["Ghent", "Lima", "San Remo", "Oslo", "New Ulm", "Rome", "Bad Ems", "Kyiv"];

    fn sentences() -> Vec<Sentence> {
        let of = |(index, place): (usize, &&str)| {
            let before = ["weather in ", "will it rain in ", "how warm is it in ", "is there snow in "][index % 4];
            let behind = [" tomorrow", "", " please", " on the weekend"][index % 3];
            let range = before.len()..before.len() + place.len();
            Sentence { text: format!("{before}{place}{behind}"), slots: vec![(SlotId::from_index(0), range)] }
        };
        (0..4).flat_map(|turn| PLACES.iter().enumerate().map(move |(at, place)| of((at + turn, place)))).collect()
    }

    fn best(tagged: &Tagged<'_>, utterance: &Utterance) -> String {
        let best = tagged.spans.iter().max_by(|a, b| a.2.total_cmp(&b.2));
        best.map(|(_, span, _)| utterance.slice(*span).to_owned()).unwrap_or_default()
    }

    #[test]
    fn a_value_that_was_never_shown_is_found_by_what_stands_around_it() {
        let tagger = Tagger::fit(1, sentences().iter(), None).unwrap();
        for (said, wanted) in
            [("will it rain in Timbuktu please", "Timbuktu"), ("weather in Le Havre tomorrow", "Le Havre")]
        {
            let utterance = Utterance::new(said);
            let tagged = tagger.tag(&utterance);
            assert_eq!(best(&tagged, &utterance), wanted);
            assert!(tagged.share > 0.1 && tagged.share < 0.5);
        }
    }

    #[test]
    fn few_sentences_teach_no_tagger_and_the_same_ones_no_other() {
        let all = sentences();
        assert!(Tagger::fit(1, all[..FEWEST - 1].iter(), None).is_none());
        let before = Tagger::fit(1, all.iter(), None).unwrap();
        let same = Tagger::fit(1, all.iter(), Some(&before)).unwrap();
        assert!(Arc::ptr_eq(&before, &same));
        let more = Tagger::fit(1, all[..all.len() - 1].iter(), Some(&before)).unwrap();
        assert!(!Arc::ptr_eq(&before, &more) && more.taught.len() + 1 == before.taught.len());
    }
}
