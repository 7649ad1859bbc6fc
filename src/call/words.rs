//! Words in compared texts: their boundaries, fillers, and inflected forms.

use crate::{
    language::{Language, words::OfValues},
    text::{fold, is_unspaced, script::is_katakana},
};

/// The languages of values: the module's, and English.
pub(super) type Languages = [&'static Language; 2];

fn is_among(word: &str, languages: Languages, list: fn(&OfValues) -> &Vec<String>) -> bool {
    languages.iter().any(|language| list(&language.words.values).iter().any(|known| known == word))
}

/// True for a folded word that has no weight among others in a value.
pub(super) fn is_filler(word: &str, languages: Languages) -> bool {
    is_among(word, languages, |values| &values.fillers)
}

/// True for a folded word that negates a value.
pub(super) fn negates(word: &str, languages: Languages) -> bool {
    is_among(word, languages, |values| &values.negations)
}

/// True for a text that consists only of words that are not values.
pub(super) fn is_empty(text: &str, languages: Languages) -> bool {
    let folded = fold(text);
    let mut words = split_words(&folded).peekable();
    words.peek().is_some() && words.all(|(_, word)| is_among(word, languages, |values| &values.empty))
}

/// Words of letters and digits, each with its start in bytes.
pub(super) fn split_words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split(|c: char| !c.is_alphanumeric()).filter_map(move |word| {
        // Skip the separator after a word, which is one character of any length.
        let start = at;
        at += word.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
        (!word.is_empty()).then_some((start, word))
    })
}

/// True unless a word would be cut at byte `at`. Scripts without spaces have no such boundaries, nor do words with
/// attached suffixes.
pub(super) fn is_bound(text: &str, at: usize) -> bool {
    let (Some(before), Some(after)) = (text[..at].chars().next_back(), text[at..].chars().next()) else { return true };
    // A run of katakana is one word: "ラテンアメリカ" does not contain the word "アメリカ".
    let is_one_word = is_katakana(before) && is_katakana(after);
    !(before.is_alphanumeric() && after.is_alphanumeric())
        || !is_one_word && (is_unspaced(before) || is_unspaced(after))
}

/// The same word, or the same with another common ending. Both folded.
#[must_use]
pub fn kin(left: &str, right: &str) -> bool {
    if left == right {
        return true;
    }
    let common: usize =
        left.chars().zip(right.chars()).take_while(|(left, right)| left == right).map(|(c, _)| c.len_utf8()).sum();
    let endings = [&left[common..], &right[common..]];
    // `city`/`cities`, `dress`/`dresses`: the rest on either side must be an ending. "Mars" is not a form of "Mary".
    common >= 3
        && (!endings.contains(&"y") || endings.contains(&"ies") || endings.contains(&""))
        && endings.iter().all(|ending| {
            matches!(
                *ending,
                "" | "s"
                    | "es"
                    | "y"
                    | "ies"
                    | "ed"
                    | "d"
                    | "ing"
                    | "e"
                    | "er"
                    | "r"
                    | "n"
                    | "en"
                    | "ly"
                    | "led"
                    | "ling"
            )
        })
        && (common >= 4 || endings.iter().all(|ending| matches!(*ending, "" | "s" | "es" | "y" | "ies")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_value_by_itself_is_told_in_each_language() {
        for (tag, text, expected) in [
            ("en", "of the", true),
            ("de", "von der", true),
            ("de", "of the", true),
            ("en", "von der", false),
            ("en", "my", false),
            ("fr", "le pont", false),
            ("en", "", false),
        ] {
            assert_eq!(is_empty(text, Language::and_english(tag)), expected, "{tag} {text}");
        }
    }
}
