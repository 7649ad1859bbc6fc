//! Which words of an answer are the value that was asked for, if the value may be any words.
//!
//! The reader's best runs of words compete with all words, with the value that rules find, and with no value: a softmax
//! over their evidence.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::{Deserialize, Serialize};

use super::{Evidence, MOST, Weighing, is_cut};
use crate::{
    decide::features::{features, flag, logarithm},
    learned,
    module::SlotId,
    probability::MOST_ODDS,
    recognize::reply,
    text::Span,
};

/// Fitted on the answers of written conversations; the file says by which command.
static BUNDLED: LazyLock<AnswerModel> = LazyLock::new(|| {
    AnswerModel::parse(learned::text!("reader/answers.json")).expect("a test reads the bundled model")
});

/// The most words before a value that count as few; more count as many.
const FEW: usize = 2;
/// Signs that end a sentence.
const STOPS: &[char] = &['.', '!', '?', '…', ';', '。', '！', '？'];

features! {
    /// How a run of words lies in an answer, beside its [`Evidence`].
    #[derive(Serialize)]
    AnswerEvidence {
        /// How far the reader scores it below the best run; 1 if it is the best.
        behind_best,
        best,
        /// What stands before it: nothing, a comma, the end of a sentence, a colon, another mark, a word.
        starts,
        after_comma,
        after_stop,
        after_colon,
        after_mark,
        after_word,
        /// What stands behind it.
        ends,
        before_comma,
        before_stop,
        before_mark,
        before_word,
        /// Logarithms of the number of words before and behind it; its share of all words.
        words_before,
        words_behind,
        share,
        /// 1 if it is all that was said; 1 if it is one word; 1 for two words; 1 if few words stand before it; 1 if
        /// many do.
        whole,
        one,
        two,
        few_before,
        many_before,
        /// Commas within it; 1 if a sentence ends within it.
        commas,
        stops,
        /// 1 if all words before it are empty; 1 if all words behind it are.
        empty_before,
        empty_behind,
        /// 1 if its first word is empty; 1 if its last is.
        empty_first,
        empty_last,
        /// 1 if it is what remains without the phrases around an answer; 1 if it begins there; 1 if it ends there.
        core,
        core_begins,
        core_ends,
        /// 1 if it is the value that rules find.
        ruled,
        /// Evidence of "no value": 1; the reader's best score for any words; 1 if rules find a value; the share of
        /// words that fill other slots; 1 if the words end as a question does; the share of empty words.
        none,
        none_best,
        none_ruled,
        none_taken,
        none_asks,
        none_empty,
    }
}

/// The slot that was asked for, where it may be any words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FreeAnswer {
    pub slot: SlotId,
    /// What remains without the phrases around an answer.
    pub core: Span,
    /// The value that rules find.
    pub ruled: Option<Span>,
    /// The spans that fill other slots.
    pub taken: Vec<Span>,
}

/// The weights of both kinds of evidence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnswerModel {
    evidence: [f32; Evidence::NAMES.len()],
    answer: [f32; AnswerEvidence::NAMES.len()],
}

#[derive(Deserialize)]
struct AnswerModelFile {
    weights: BTreeMap<String, f32>,
}

/// A run of words that may be the value, or "no value", with its evidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnswerCandidate {
    /// `None`: the value is not said.
    pub span: Option<Span>,
    pub evidence: Evidence,
    pub answer: AnswerEvidence,
}

impl AnswerModel {
    /// # Errors
    /// If the text is not such a model, or weighs a number that is not evidence.
    fn parse(text: &str) -> Result<Self, String> {
        let AnswerModelFile { weights } = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let of = |name: &str| weights.get(name).copied().unwrap_or_default();
        let is_known = |name: &str| Evidence::NAMES.contains(&name) || AnswerEvidence::NAMES.contains(&name);
        if let Some(unknown) = weights.keys().find(|name| !is_known(name)) {
            return Err(format!("there is no evidence `{unknown}`"));
        }
        Ok(Self { evidence: Evidence::NAMES.map(of), answer: AnswerEvidence::NAMES.map(of) })
    }

    fn score(&self, candidate: &AnswerCandidate) -> f32 {
        let evidence = self.evidence.iter().zip(candidate.evidence.values());
        let answer = self.answer.iter().zip(candidate.answer.values());
        evidence.chain(answer).map(|(weight, value)| weight * value).sum()
    }
}

impl Weighing<'_> {
    /// The words that are the value of a slot that was asked for, with the probability that exactly these words are.
    /// `None` without a reader, and where "no value" is likelier.
    pub(crate) fn answer(&self, asked: &FreeAnswer) -> Option<(Span, f32)> {
        let candidates = self.answer_candidates(asked);
        let scores: Vec<f32> = candidates.iter().map(|one| BUNDLED.score(one)).collect();
        let best = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let odds: f32 = scores.iter().map(|score| (score - best).exp()).sum();
        let chosen = scores.iter().position(|score| *score >= best)?;
        Some((candidates[chosen].span?, 1.0 / odds))
    }

    /// Every run of words that may be the answer, and "no value".
    pub(crate) fn answer_candidates(&self, asked: &FreeAnswer) -> Vec<AnswerCandidate> {
        let &FreeAnswer { slot, core, ruled, .. } = asked;
        let Some(scores) = self.scores else { return Vec::new() };
        let read = scores.above(f32::MIN).filter(|one| one.slot == slot && !is_cut(self.situation, one.span));
        let mut read: Vec<(Span, f32)> = read.map(|one| (one.span, one.score)).collect();
        read.sort_by(|one, other| other.1.total_cmp(&one.1));
        let best = read.first().map_or(0.0, |best| best.1.clamp(-MOST_ODDS, MOST_ODDS));
        let mut spans: Vec<Span> = read.into_iter().take(MOST).map(|(span, _)| span).collect();
        for other in [Some(self.all_words()), Some(core), ruled].into_iter().flatten() {
            if !other.is_empty() && !spans.contains(&other) {
                spans.push(other);
            }
        }
        let empty = self.empty_words();
        let candidate = |span: Span| {
            let evidence = self.evidence(slot, span, None);
            let answer = self.answer_evidence(span, &evidence, best, (asked, &empty));
            AnswerCandidate { span: Some(span), evidence, answer }
        };
        let none =
            AnswerCandidate { span: None, evidence: Evidence::default(), answer: self.no_answer(best, asked, &empty) };
        spans.into_iter().map(candidate).chain([none]).collect()
    }

    /// For each word, whether it is empty.
    fn empty_words(&self) -> Vec<bool> {
        let (utterance, language) = self.situation.said();
        utterance.words().iter().map(|word| reply::says_nothing(language, &utterance.meant(*word))).collect()
    }

    fn no_answer(&self, best: f32, FreeAnswer { ruled, taken, .. }: &FreeAnswer, empty: &[bool]) -> AnswerEvidence {
        let utterance = self.situation.utterance();
        let is_taken = |word: &&Span| taken.iter().any(|span| span.overlaps(**word));
        let share = |words: usize| words as f32 / empty.len().max(1) as f32;
        AnswerEvidence {
            none: 1.0,
            none_best: best,
            none_ruled: flag(ruled.is_some()),
            none_taken: share(utterance.words().iter().filter(is_taken).count()),
            none_asks: flag(utterance.ends_as_question()),
            none_empty: share(empty.iter().filter(|is_empty| **is_empty).count()),
            ..AnswerEvidence::default()
        }
    }

    /// From the first word to the last.
    fn all_words(&self) -> Span {
        let words = self.situation.utterance().words();
        let both = words.first().zip(words.last());
        both.map_or(Span::new(0, 0), |(first, last)| Span::new(first.start, last.end))
    }

    fn answer_evidence(
        &self,
        span: Span,
        evidence: &Evidence,
        best: f32,
        (&FreeAnswer { core, ruled, .. }, empty): (&FreeAnswer, &[bool]),
    ) -> AnswerEvidence {
        let utterance = self.situation.utterance();
        let words = utterance.words();
        let first = words.partition_point(|word| word.end <= span.start);
        let behind = words.partition_point(|word| word.start < span.end);
        let behind = behind.max(first);
        let (before, inside, after) = (&words[..first], &words[first..behind], &words[behind..]);
        let gap_before = utterance.slice(Span::new(before.last().map_or(0, |word| word.end), span.start)).trim();
        let gap_behind = utterance.slice(Span::new(span.end, after.first().map_or(utterance.len(), |word| word.start)));
        let gap_behind = gap_behind.trim();
        let are_empty = |words: &[bool]| flag(!words.is_empty() && words.iter().all(|is_empty| *is_empty));
        let ends_in = |marks: &[char]| flag(!before.is_empty() && gap_before.ends_with(marks));
        let begins_with = |marks: &[char]| flag(!after.is_empty() && gap_behind.starts_with(marks));
        let is_stop = |gap: &str| gap.contains(STOPS);
        let inner_gaps = inside.windows(2).map(|pair| utterance.slice(Span::new(pair[0].end, pair[1].start)));
        let is_marked = |gap: &str| !gap.is_empty() && !gap.contains(STOPS) && !gap.contains([',', ':']);
        AnswerEvidence {
            behind_best: evidence.reader - best,
            best: flag(evidence.reader >= best),
            starts: flag(before.is_empty()),
            after_comma: ends_in(&[',', '，', '、']),
            after_stop: ends_in(STOPS),
            after_colon: ends_in(&[':']),
            after_mark: flag(!before.is_empty() && is_marked(gap_before)),
            after_word: flag(!before.is_empty() && gap_before.is_empty()),
            ends: flag(after.is_empty()),
            before_comma: begins_with(&[',', '，', '、']),
            before_stop: begins_with(STOPS),
            before_mark: flag(!after.is_empty() && (is_marked(gap_behind) || gap_behind.starts_with(':'))),
            before_word: flag(!after.is_empty() && gap_behind.is_empty()),
            words_before: logarithm(before.len()),
            words_behind: logarithm(after.len()),
            share: inside.len() as f32 / words.len().max(1) as f32,
            whole: flag(before.is_empty() && after.is_empty()),
            one: flag(inside.len() == 1),
            two: flag(inside.len() == 2),
            few_before: flag((1..=FEW).contains(&before.len())),
            many_before: flag(before.len() > FEW),
            commas: inner_gaps.clone().filter(|gap| gap.contains(',')).count() as f32,
            stops: flag(inner_gaps.into_iter().any(is_stop)),
            empty_before: are_empty(&empty[..first]),
            empty_behind: are_empty(&empty[behind..]),
            empty_first: flag(empty[first..behind].first() == Some(&true)),
            empty_last: flag(empty[first..behind].last() == Some(&true)),
            core: flag(core == span),
            core_begins: flag(core.start == span.start),
            core_ends: flag(core.end == span.end),
            ruled: flag(ruled == Some(span)),
            ..AnswerEvidence::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_model_knows_the_evidence() {
        let model = AnswerModel::parse(learned::text!("reader/answers.json")).unwrap();
        assert!(model.evidence.iter().chain(&model.answer).all(|weight| weight.is_finite()));
        let every = AnswerCandidate { span: None, evidence: Evidence::all(1.0), answer: AnswerEvidence::all(1.0) };
        assert!(model.score(&every).is_finite() && model.score(&every) != 0.0);
        assert_eq!(AnswerModel::parse(r#"{"weights": {"raeder": 1}}"#).unwrap_err(), "there is no evidence `raeder`");
    }
}
