//! Words as the model counts them: characters and runs of katakana in Japanese, where spaces tell no words apart.

use crate::{
    language::Language,
    text::{fold, is_unspaced, script::is_katakana},
};

/// What a word looks like, for values that were never seen: a year is more like another year than like a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Digits, or a number word.
    Number,
    /// As names are written: with a capital, in Japanese in Han and katakana.
    Capitalized,
    Plain,
}

impl Shape {
    pub(crate) const COUNT: usize = 3;

    /// Share of each shape among words in general, roughly.
    pub(crate) const BACKGROUND: [f32; Self::COUNT] = [0.05, 0.3, 0.6];

    /// The shape of a word in a language without spaces. What holds a sentence together there is hiragana.
    pub(crate) fn of_unspaced(word: &str, language: &Language) -> Self {
        let is_name = |c: char| (is_unspaced(c) && !is_hiragana(c)) || is_katakana(c);
        if word.chars().all(is_name) { Self::Capitalized } else { Self::of(word, false, language) }
    }

    /// The first word of a sentence has its capital for another reason.
    pub(crate) fn of(word: &str, is_first: bool, language: &Language) -> Self {
        if word.chars().all(char::is_numeric) || language.words.is_number(&fold(word)) {
            Self::Number
        } else if !is_first && word.chars().next().is_some_and(char::is_uppercase) {
            Self::Capitalized
        } else {
            Self::Plain
        }
    }
}

const fn is_hiragana(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{309F}')
}

/// True for a folded word that carries a sentence in this language, or in English. For other words, and in languages
/// whose packs have none, the module's own exemplars have to say so.
pub(crate) fn is_carrier(word: &str, language: &Language) -> bool {
    language.words.is_carrier(word) || Language::english().words.is_carrier(word)
}
