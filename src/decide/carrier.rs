//! The phrases that people put around a value in an answer, and around a request.
//!
//! Other code looks at the words of an answer one by one. In a text without spaces a word is a character, and です is
//! empty only as a whole.

use std::{collections::BTreeSet, ops::Range};

use crate::{
    ablation,
    language::{Language, facts::is_unspaced_language, words::Answers},
    text::{Span, Utterance, is_unspaced, words},
};

/// The most characters in the name of what was asked for.
const LONGEST_NAME: usize = 10;
/// With this many characters or more, a phrase before the value needs no phrase behind it.
const UNMISTAKABLE: usize = 3;

/// The part of an answer that says something: "Maria" of "my name is Maria".
pub(crate) fn core(language: &str, utterance: &Utterance) -> Span {
    core_of_named(language, utterance, &[])
}

/// The same. `names` are texts that name what was asked for, in languages without spaces: "名前は田中です" says 田中 if
/// one of them has 名前.
pub(crate) fn core_of_named(language: &str, utterance: &Utterance, names: &[&str]) -> Span {
    let whole = Span::new(0, utterance.len());
    let Some(phrases) = Language::of(language).map(|language| &language.words.answers) else { return whole };
    if !is_unspaced_language(language) {
        return ablation::made("carrier.core", whole, spaced_core(utterance, phrases));
    }
    let said: Vec<char> = utterance.half_width().text().chars().collect();
    let mut left = 0..said.len();
    trim_marks(&said, &mut left);
    while strip_before(&said, &mut left, phrases) || strip_name(&said, &mut left, phrases, names) {
        trim_marks(&said, &mut left);
    }
    while strip_behind(&said, &mut left, phrases) {
        trim_marks(&said, &mut left);
    }
    let core = if left.start >= left.end { whole } else { Span::new(left.start, left.end) };
    ablation::made("carrier.unspaced_core", whole, core)
}

/// The words of an answer between the phrases that lead to a value and those that follow one.
fn spaced_core(utterance: &Utterance, phrases: &Answers) -> Span {
    let words = utterance.words();
    let folded: Vec<&str> = utterance.folded_words().collect();
    let (mut start, mut end) = (0, words.len());
    let says = |phrase: &str, at: usize| phrase.split(' ').zip(&folded[at..]).all(|(word, said)| word == *said);
    let length = |phrase: &str| phrase.split(' ').count();
    let longest = |phrases: &[String], room: usize, fits: &dyn Fn(&str) -> bool| {
        let fitting = phrases.iter().filter(|phrase| length(phrase) < room && fits(phrase));
        fitting.map(|phrase| length(phrase)).max()
    };
    while let Some(said) = longest(&phrases.before, end - start, &|phrase| says(phrase, start)) {
        start += said;
    }
    while let Some(said) = longest(&phrases.behind, end - start, &|phrase| says(phrase, end - length(phrase))) {
        end -= said;
    }
    match (words.get(start), end.checked_sub(1).and_then(|last| words.get(last))) {
        (Some(first), Some(last)) if (start, end) != (0, words.len()) => Span::new(first.start, last.end),
        _ => Span::new(0, utterance.len()),
    }
}

/// Where a request may begin and end, in words: outside of it are greetings, politeness and phrases that lead to a
/// request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Around {
    /// Ascending; the first word is among them.
    pub starts: Vec<usize>,
    /// Descending; the end is among them.
    pub ends: Vec<usize>,
}

/// Everything around a request that says nothing about it, phrase by phrase.
pub(crate) fn around(language: &Language, utterance: &Utterance) -> Around {
    let spans = utterance.words();
    let start = spans.first().map_or(0, |first| first.start);
    let said = words::words(utterance.slice(Span::new(start, spans.last().map_or(start, |last| last.end))), false);
    let phrases = &language.words.around;
    let fits = &|phrase: &[String], at: usize| {
        said.get(at..at + phrase.len()).is_some_and(|said| said.iter().map(|word| &word.text).eq(phrase))
    };
    let before =
        |at: usize| phrases.before.iter().filter(move |phrase| fits(phrase, at)).map(move |phrase| at + phrase.len());
    let behind = |end: usize| {
        let ends_with = move |phrase: &&Vec<String>| phrase.len() < end && fits(phrase, end - phrase.len());
        phrases.behind.iter().filter(ends_with).map(move |phrase| end - phrase.len())
    };
    let word = |at: usize| {
        said.get(at).map_or(spans.len(), |next| spans.partition_point(|word| word.end <= start + next.span.start))
    };
    let starts = reached(0, before).into_iter().filter(|at| *at == 0 || *at < said.len()).map(word);
    let ends = reached(said.len(), behind).into_iter().rev().map(word);
    Around { starts: starts.collect(), ends: ends.collect() }
}

/// Every place that any number of steps reaches from the first, in order.
fn reached<S: Iterator<Item = usize>>(first: usize, steps: impl Fn(usize) -> S) -> BTreeSet<usize> {
    let (mut reached, mut next) = (BTreeSet::from([first]), vec![first]);
    while let Some(place) = next.pop() {
        next.extend(steps(place).filter(|place| reached.insert(*place)));
    }
    reached
}

/// How many words these characters count for: two characters of a script without spaces count as about one word.
pub(crate) fn words_in(utterance: &Utterance, span: Span) -> usize {
    let words = utterance.words().iter().filter(|word| word.overlaps(span));
    let is_character = |word: &&Span| word.len() == 1 && utterance.slice(**word).chars().all(is_unspaced);
    let (characters, others): (Vec<&Span>, Vec<&Span>) = words.partition(is_character);
    others.len() + characters.len().div_ceil(2)
}

const fn is_mark(character: char) -> bool {
    character.is_whitespace()
        || matches!(character, '、' | '。' | ',' | '.' | '!' | '?' | '…' | '・' | '「' | '」' | '~' | '〜')
}

fn trim_marks(said: &[char], left: &mut Range<usize>) {
    while left.start < left.end && is_mark(said[left.start]) {
        left.start += 1;
    }
    while left.start < left.end && is_mark(said[left.end - 1]) {
        left.end -= 1;
    }
}

fn strip_before(said: &[char], left: &mut Range<usize>, phrases: &Answers) -> bool {
    let rest = &said[left.clone()];
    let fits = |phrase: &&String| {
        let length = phrase.chars().count();
        let ends = rest.get(length).is_some_and(|next| length >= UNMISTAKABLE || is_mark(*next));
        ends && phrase.chars().eq(rest[..length].iter().copied())
    };
    let longest = phrases.before.iter().filter(fits).map(|phrase| phrase.chars().count()).max();
    left.start += longest.unwrap_or_default();
    longest.is_some()
}

fn strip_name(said: &[char], left: &mut Range<usize>, phrases: &Answers, names: &[&str]) -> bool {
    let rest = &said[left.clone()];
    let Some(at) = rest.iter().take(LONGEST_NAME).position(|c| phrases.topics.contains(c)) else { return false };
    let name: String = rest[..at].iter().collect();
    let is_named = at > 1 && at + 1 < rest.len() && names.iter().any(|known| known.contains(&name));
    if is_named {
        left.start += at + 1;
    }
    is_named
}

fn strip_behind(said: &[char], left: &mut Range<usize>, phrases: &Answers) -> bool {
    let rest = &said[left.clone()];
    let fits = |phrase: &&String| {
        let length = phrase.chars().count();
        length < rest.len() && phrase.chars().eq(rest[rest.len() - length..].iter().copied())
    };
    let longest = phrases.behind.iter().filter(fits).map(|phrase| phrase.chars().count()).max();
    left.end -= longest.unwrap_or_default();
    longest.is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::decide::carrier::*;

    fn said(text: &str, names: &[&str]) -> String {
        let utterance = Utterance::new(text);
        utterance.slice(core_of_named("ja", &utterance, names)).to_owned()
    }

    #[test]
    fn politeness_and_hesitation_are_left_out() {
        for (text, core) in [
            ("渋谷区です", "渋谷区"),
            ("田中太郎と申します。", "田中太郎"),
            ("えっと、150-0002です", "150-0002"),
            ("あ、えーと、１５０−０００２でお願いします！", "１５０−０００２"),
            ("いや、間違えました、2-2-3です", "2-2-3"),
            ("名前は山本さくらです", "山本さくら"),
            ("はい、お名前は山本です", "山本"),
            ("明日にしてください", "明日"),
            // The whole text is not removed, nor is text that only looks like such a phrase.
            ("です", "です"),
            ("あべです", "あべ"),
            ("はいばらです", "はいばら"),
            ("母は花子です", "母は花子"),
            ("", ""),
            ("。。", "。。"),
        ] {
            assert_eq!(said(text, &["受取人の名前", "お名前を教えてください"]), core, "{text}");
        }
    }

    #[test]
    fn what_leads_to_a_value_and_what_follows_it_is_left_out() {
        for (language, text, left) in [
            ("en", "my name is Amara Diallo", "Amara Diallo"),
            ("en", "it's called The Long Road, I think", "The Long Road"),
            ("en", "The Long Road", "The Long Road"),
            ("en", "my name is", "my name is"),
            ("de", "Bella heißt sie", "Bella"),
            ("de", "es geht um den kaputten Zaun", "den kaputten Zaun"),
            ("es", "está a nombre de Lucía Pardo", "Lucía Pardo"),
            ("fr", "c'est au nom de Camille Roy", "Camille Roy"),
        ] {
            let utterance = Utterance::new(text);
            assert_eq!(utterance.slice(core(language, &utterance)), left, "{text}");
        }
    }

    #[test]
    fn a_request_may_begin_behind_a_greeting_and_end_before_thanks() {
        let around = |code: &str, text: &str| {
            let Around { starts, ends } = around(Language::or_english(code), &Utterance::new(text));
            (starts, ends)
        };
        assert_eq!(around("en", "hi, could you please stop it, please"), (vec![0, 1, 3, 4], vec![7, 6]));
        assert_eq!(around("en", "Good morning. Stop it, thank you very much!"), (vec![0, 2], vec![8, 4]));
        assert_eq!(around("de", "Guten Tag, storniere das bitte"), (vec![0, 2], vec![5, 4]));
        assert_eq!(around("fr", "annulez, s'il vous plaît"), (vec![0], vec![4, 1]));
        assert_eq!(around("en", "please"), (vec![0], vec![1]));
        assert_eq!(around("en", ""), (vec![0], vec![0]));
    }

    #[test]
    fn characters_are_half_a_word() {
        for (text, words) in [("田中太郎", 2), ("ジョン・スミス", 2), ("my name is 田中", 4), ("", 0)] {
            let utterance = Utterance::new(text);
            assert_eq!(words_in(&utterance, Span::new(0, utterance.len())), words, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_core_lies_within(text in "[あえのです、。はいが名前で1ー]{0,20}|\\PC{0,20}", name in "[名前は]{0,3}") {
            let utterance = Utterance::new(&text);
            let core = core_of_named("ja", &utterance, &[&name]);
            prop_assert!(core.end <= utterance.len() && (core.is_empty() == utterance.is_empty()));
        }
    }
}
