//! Words as the model counts them: characters and runs of katakana in Japanese, where spaces tell no words apart.

use crate::text::{is_unspaced, script::is_katakana};

/// What a word looks like, for values that were never seen: a year is more like another year than like a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Digits, or an English number word.
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
    pub(crate) fn of_unspaced(word: &str) -> Self {
        let is_name = |c: char| (is_unspaced(c) && !is_hiragana(c)) || is_katakana(c);
        if word.chars().all(is_name) { Self::Capitalized } else { Self::of(word, false) }
    }

    /// The first word of a sentence has its capital for another reason.
    pub(crate) fn of(word: &str, is_first: bool) -> Self {
        if word.chars().all(char::is_numeric) || NUMBERS.contains(&word.to_lowercase().as_str()) {
            Self::Number
        } else if !is_first && word.chars().next().is_some_and(char::is_uppercase) {
            Self::Capitalized
        } else {
            Self::Plain
        }
    }
}

const NUMBERS: [&str; 14] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "twenty",
];

/// Words of English that carry a sentence and seldom begin a name: likely plain even if no exemplar has them.
/// For other languages the module's own exemplars have to say so.
const CARRIERS: &[&str] = &[
    "a", "about", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "could", "did", "do", "does",
    "find", "for", "from", "get", "give", "has", "have", "here", "how", "i", "i'd", "i'm", "in", "into", "is", "it",
    "its", "let", "like", "make", "me", "my", "need", "of", "off", "on", "onto", "or", "our", "out", "please",
    "should", "show", "some", "tell", "that", "the", "there", "these", "this", "those", "to", "up", "want", "was",
    "we", "were", "what", "what's", "when", "where", "which", "who", "will", "with", "would", "you", "your",
];

const fn is_hiragana(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{309F}')
}

/// True for a folded Japanese particle: the same, where it is one character.
pub(crate) fn is_particle(word: &str) -> bool {
    // が and で are folded to two code points.
    let letter = word.strip_suffix('\u{3099}').unwrap_or(word);
    match letter {
        "か" | "て" => true,
        "と" | "に" | "ね" | "は" | "へ" | "も" | "よ" | "を" => letter == word,
        _ => false,
    }
}

/// True for a folded English function word.
pub(crate) fn is_carrier(word: &str) -> bool {
    CARRIERS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use crate::decide::align::words::*;

    #[test]
    fn carriers_are_sorted_for_the_binary_search() {
        assert!(CARRIERS.is_sorted());
        assert!(is_carrier("the") && is_carrier("a") && is_carrier("your") && !is_carrier("seattle"));
    }
}
