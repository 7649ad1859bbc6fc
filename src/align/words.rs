//! Words as the model counts them.

/// What a word looks like, for values that were never seen: a year is more like another year than like a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Digits, or an English number word.
    Number,
    Capitalized,
    Plain,
}

impl Shape {
    pub(super) const COUNT: usize = 3;

    /// Share of each shape among words in general, roughly.
    pub(super) const BACKGROUND: [f32; Self::COUNT] = [0.05, 0.3, 0.6];

    /// The first word of a sentence has its capital for another reason.
    pub(super) fn of(word: &str, is_first: bool) -> Self {
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

/// True for a folded English function word.
pub(super) fn is_carrier(word: &str) -> bool {
    CARRIERS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriers_are_sorted_for_the_binary_search() {
        assert!(CARRIERS.is_sorted());
        assert!(is_carrier("the") && is_carrier("a") && is_carrier("your") && !is_carrier("seattle"));
    }
}
