//! "Tea or coffee": several values of one recognizer to choose from. They become one mention that may mean either.

use std::collections::BTreeSet;

use super::{Mention, Negation};
use crate::{
    language::{Language, facts::is_unspaced_language},
    module::RecognizerId,
    text::{Span, Utterance, fold},
};

/// The most words between "or" and the value behind it, and the most letters of each: "or on the".
const WORDS: usize = 2;
const LETTERS: usize = 4;
/// The most characters between a value and the next one.
const NEAR: usize = 24;

/// Joins values to choose from, except those of the recognizers in `several`, which belong to slots that take any
/// number. Values that are ruled out stay as they are.
pub(super) fn joined(
    tag: &str,
    utterance: &Utterance,
    mut mentions: Vec<Mention>,
    negations: &[Negation],
    several: &BTreeSet<RecognizerId>,
) -> Vec<Mention> {
    let Some(joints) = Language::of(tag).map(|language| &language.words.joints) else { return mentions };
    let says_or = |word: &Span| joints.alternatives.contains(&fold(utterance.slice(*word)));
    let is_unspaced = is_unspaced_language(tag);
    if !is_unspaced && !utterance.words().iter().any(says_or) {
        return mentions;
    }
    let between = |one: Span, other: Span| -> Option<Joint> {
        let gap = Span::new(one.end, other.start);
        if other.start < one.end || gap.len() > NEAR {
            return None;
        }
        if is_unspaced {
            return unspaced(utterance, (gap, other.end), &joints.alternatives);
        }
        let words: Vec<Span> = utterance.words().iter().filter(|word| gap.contains(**word)).copied().collect();
        let Some(at) = words.iter().position(says_or) else {
            return (words.is_empty() && utterance.slice(gap).contains(',')).then_some(Joint::Comma);
        };
        let is_short = |word: &Span| word.len() <= LETTERS && utterance.slice(*word).chars().all(char::is_alphabetic);
        let behind = &words[at + 1..];
        let leads = behind.len() <= WORDS && behind.iter().all(is_short);
        (leads && repeats(utterance, &words[..at], other.end)).then_some(Joint::Or)
    };
    let is_denied = |span: Span| negations.iter().any(|one| one.scope.overlaps(span));
    let mut chosen: BTreeSet<(RecognizerId, Span)> = BTreeSet::new();
    // Starts with the last mention, so that a list joins what is joined already: "Monday, Tuesday or Friday".
    for index in (1..mentions.len()).rev() {
        let (recognizer, span) = (mentions[index].recognizer, mentions[index].span);
        let before = mentions[..index].iter().rposition(|one| one.recognizer == recognizer && one.span != span);
        let Some(before) = before.filter(|_| !several.contains(&recognizer) && !is_denied(span)) else { continue };
        let is_chosen_from = match between(mentions[before].span, span) {
            Some(Joint::Or) => true,
            Some(Joint::Comma) => chosen.contains(&(recognizer, span)),
            None => false,
        };
        if !is_chosen_from || is_denied(mentions[before].span) {
            continue;
        }
        let other = mentions.remove(index);
        let one = &mut mentions[before];
        for value in std::iter::once(other.value).chain(other.others) {
            if one.value != value && !one.others.contains(&value) {
                one.others.push(value);
            }
        }
        one.span = Span::new(one.span.start, other.span.end);
        utterance.slice(one.span).clone_into(&mut one.text);
        one.score = one.score.min(other.score);
        chosen.insert((recognizer, one.span));
    }
    mentions
}

/// What stands between two values.
enum Joint {
    Or,
    /// Only a comma.
    Comma,
}

/// The words before "or" also follow the second value: "four people or five people".
fn repeats(utterance: &Utterance, words: &[Span], end: usize) -> bool {
    let behind = utterance.words().iter().filter(|word| word.start >= end);
    let said = |word: &Span| fold(utterance.slice(*word));
    words.len() <= WORDS && words.iter().map(said).eq(behind.take(words.len()).map(said))
}

/// The same without spaces: "4人か5人".
fn unspaced(utterance: &Utterance, (gap, end): (Span, usize), alternatives: &[String]) -> Option<Joint> {
    let is_mark = |c: char| c.is_whitespace() || matches!(c, '、' | '，' | ',');
    let text = utterance.slice(gap).trim_matches(is_mark);
    if text.is_empty() {
        return utterance.slice(gap).contains(['、', '，', ',']).then_some(Joint::Comma);
    }
    let counter = alternatives.iter().find_map(|or| text.strip_suffix(or.as_str()))?.trim_end_matches(is_mark);
    let behind = utterance.slice(Span::new(end, (end + counter.chars().count()).min(utterance.len())));
    (counter == behind).then_some(Joint::Or)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The remaining mentions of `known`, each with the other values that it may mean.
    fn left(language: &str, text: &str, known: &[&str], denied: Option<&str>) -> Vec<(String, Vec<String>)> {
        let span = |word: &str| {
            let at = text.find(word).map(|at| text[..at].chars().count()).expect("a word of the text");
            Span::new(at, at + word.chars().count())
        };
        let mention = |word: &&str| Mention {
            recognizer: RecognizerId::from_index(0),
            span: span(word),
            text: (*word).to_owned(),
            value: (*word).into(),
            others: Vec::new(),
            unread: Vec::new(),
            score: 1.0,
        };
        let negations: Vec<Negation> = denied
            .map(|word| Negation { kind: super::super::NegationKind::Absence, cue: Span::new(0, 1), scope: span(word) })
            .into_iter()
            .collect();
        let mentions = known.iter().map(mention).collect();
        let joined = joined(language, &Utterance::new(text), mentions, &negations, &BTreeSet::new());
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        joined.iter().map(|one| (one.text.clone(), one.others.iter().map(text).collect())).collect()
    }

    #[test]
    fn what_is_said_to_choose_from_is_one_mention() {
        for (language, text, known, whole) in [
            ("en", "bring tea or coffee", &["tea", "coffee"][..], "tea or coffee"),
            ("en", "my savings or my current account", &["savings", "current"], "savings or my current"),
            ("en", "on Monday, Tuesday or Friday", &["Monday", "Tuesday", "Friday"], "Monday, Tuesday or Friday"),
            ("en", "for four people or five people", &["four", "five"], "four people or five"),
            ("de", "am Montag oder am Freitag", &["Montag", "Freitag"], "Montag oder am Freitag"),
            ("fr", "au Liban ou aux Impériaux", &["Liban", "Impériaux"], "Liban ou aux Impériaux"),
            ("es", "para siete u ocho", &["siete", "ocho"], "siete u ocho"),
            ("ja", "金曜日に4人か5人で", &["4", "5"], "4人か5"),
        ] {
            let others = known[1..].iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(left(language, text, known, None), [(whole.to_owned(), others)], "{text}");
        }
    }

    #[test]
    fn what_is_no_choice_stays_apart() {
        for (text, denied) in [
            ("tea and coffee", None),
            ("tea, coffee", None),
            ("tea, or perhaps you have some coffee", None),
            ("no tea or coffee", Some("tea")),
            ("tea or no coffee", Some("coffee")),
        ] {
            assert_eq!(left("en", text, &["tea", "coffee"], denied).len(), 2, "{text}");
        }
    }
}
