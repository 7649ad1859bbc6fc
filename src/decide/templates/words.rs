//! The units in which templates are compared: words, but in Japanese, which has no spaces between words, characters and
//! runs of katakana.

use crate::{
    language::{Language, facts::is_unspaced_language},
    text::{Span, Utterance, is_unspaced, script::is_katakana},
};

/// One word of an utterance.
#[derive(Debug)]
pub(crate) struct TemplateWord {
    pub folded: String,
    /// A word like "the" or "for", or a Japanese particle.
    pub is_carrier: bool,
    /// Written like a name: with a capital letter in mid-sentence, or before another one ("Will Baker"); in Japanese in
    /// Han and katakana.
    pub is_name: bool,
}

/// The words of an utterance in the language of this code.
pub(super) fn tokens(utterance: &Utterance, code: &str) -> Vec<TemplateWord> {
    let language = Language::or_english(code);
    let is_unspaced = is_unspaced_language(code);
    let is_upper = |at: usize| {
        utterance.words().get(at).is_some_and(|word| utterance.slice(*word).starts_with(char::is_uppercase)) //
    };
    let token = |(at, (span, folded)): (usize, (&_, &str))| {
        let word = utterance.slice(*span);
        let is_capital = is_upper(at) && (at > 0 || is_unspaced || is_upper(at + 1));
        let is_name = is_unspaced && word.chars().all(is_of_names) || is_capital && !language.words.is_number(folded);
        TemplateWord { is_carrier: is_carrier(folded, language), is_name, folded: folded.to_owned() }
    };
    utterance.words().iter().zip(utterance.folded_words()).enumerate().map(token).collect()
}

/// In a language without spaces, function words are written in hiragana.
fn is_of_names(character: char) -> bool {
    is_unspaced(character) && !matches!(character, '\u{3040}'..='\u{309F}') || is_katakana(character)
}

/// True for a folded function word ("the", "for") of this language or of English. For other words, and in languages
/// whose packs have none, the module's own exemplars decide.
pub(crate) fn is_carrier(word: &str, language: &Language) -> bool {
    language.words.is_carrier(word) || Language::english().words.is_carrier(word)
}

/// The text between two words, before the first or behind the last.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gap {
    /// It contains a comma or the like.
    pub has_mark: bool,
    /// It contains the end of a sentence.
    pub has_stop: bool,
    /// The word before and the word behind are written as one: "Mary-Ann".
    pub joins: bool,
}

/// The gap before each word, and the gap behind the last. At the two ends of the utterance nothing is separated.
pub(crate) fn gaps(utterance: &Utterance, language: &Language) -> Vec<Gap> {
    let between = utterance.words().windows(2).map(|two| {
        let text = utterance.slice(Span::new(two[0].end, two[1].start));
        Gap::new(text, utterance.slice(two[0]), language)
    });
    let behind = utterance.words().last().map(|_| Gap::default());
    std::iter::once(Gap::default()).chain(between).chain(behind).collect()
}

impl Gap {
    /// `before` is the word before it.
    fn new(text: &str, before: &str, language: &Language) -> Self {
        let is_written_apart = text.chars().any(char::is_whitespace);
        let ends = |mark: char| {
            matches!(mark, '?' | '!' | '。' | '？' | '！') || (mark == '.' && !is_short_for_something(before, language))
        };
        let is_unspaced = text.contains(['。', '？', '！']);
        // "NAME: GRACE LOVELL / SITE: KERSTEMAN ROAD"
        let is_stroke = is_written_apart && matches!(text.trim(), "/" | "|" | "–" | "—");
        Self {
            has_mark: is_stroke || text.chars().any(parts),
            has_stop: (is_written_apart || is_unspaced) && text.chars().any(ends),
            joins: !text.is_empty() && !is_written_apart && !is_unspaced && !text.chars().any(parts),
        }
    }
}

/// "J.", "St.", "dr."
fn is_short_for_something(word: &str, language: &Language) -> bool {
    word.chars().count() == 1 || language.is_abbreviation(word)
}

/// True for a mark that separates the text before it from the text behind it.
pub(super) const fn parts(mark: char) -> bool {
    matches!(mark, ',' | ';' | ':' | '、' | '，' | '\n')
}
