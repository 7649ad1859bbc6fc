//! Compares the signs of a grounded text with those that were said.
//!
//! Words are compared folded, which ignores signs: a quotation mark, a path, a zero-width mark or a line break that was
//! added to a name would become part of it. So a value may have only the signs that were said.

use unicode_normalization::UnicodeNormalization as _;

use crate::text::fold;

/// Signs in numbers, days, times and durations.
const OF_NUMBERS: &str = "+-:.,/ %()TZPWYMDHS";

/// The words as they were said, to replace a `value` with signs, marks or an order that were not said; `None` if it may
/// stay. `words` are those that ground it, `all` is everything that was said, and `in_a_row` tells whether the value's
/// words were said one after the other, with nothing added to them.
pub(super) fn as_said<'w>(value: &str, words: &'w str, all: &str, in_a_row: impl FnOnce() -> bool) -> Option<&'w str> {
    let written = plain(value);
    let is_same = letters(value) == letters(words);
    if is_same && value.trim() == value && plain(all).contains(written.as_str()) {
        return None;
    }
    let is_of_number =
        value.chars().any(char::is_numeric) && value.chars().all(|c| c.is_numeric() || OF_NUMBERS.contains(c));
    let is_kept = !is_same && (is_of_number || has_signs_of(value, words) && in_a_row());
    (!is_kept).then_some(words)
}

/// Normalises case and character variants.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.nfkc().flat_map(char::to_lowercase) {
        plain.push(match character {
            '\u{2018}' | '\u{2019}' | '\u{02BC}' => '\'',
            '\u{2010}'..='\u{2014}' | '\u{2212}' => '-',
            other => other,
        });
    }
    plain
}

fn letters(text: &str) -> String {
    fold(text).chars().filter(|c| c.is_alphanumeric()).collect()
}

/// True if each sign of `value` also occurs in `words`, at least as often.
fn has_signs_of(value: &str, words: &str) -> bool {
    let signs = |text: &str| -> Vec<char> {
        let mut signs: Vec<char> = plain(text).chars().filter(|c| !c.is_alphanumeric() && *c != ' ').collect();
        signs.sort_unstable();
        signs
    };
    let mut said = signs(words).into_iter();
    signs(value).into_iter().all(|sign| said.any(|other| other == sign))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_was_not_said_is_cut_back() {
        for value in [
            "Anna\nLind",
            "Anna-Lind",
            "Anna, Lind",
            "Anna/Lind",
            "Anna'; -- Lind",
            "../Anna/../Lind",
            "$(Anna Lind)",
            "=Anna Lind",
            "+Anna|Lind",
            "Anna Lind \u{1F911}",
            "Ann\u{E1} Lind",
            "\u{202E}Anna Lind",
            "\u{FEFF}Anna Lind",
            "Anna Lind\u{200B}",
            "Anna Lind\u{20DD}",
            "Anna Lind!!!",
            "Anna    Lind",
            "Lind Anna",
            "Anna Lind, CA",
            "Anna L",
        ] {
            assert_eq!(as_said(value, "Anna Lind", "500 to Anna Lind", || false), Some("Anna Lind"), "{value}");
        }
    }

    #[test]
    fn what_was_said_stays() {
        for (value, words, all) in [
            ("ANNA LIND", "Anna Lind", "to Anna Lind"),
            ("C++", "C", "a book on C++"),
            ("/srv/data", "srv/data", "in /srv/data, please"),
            ("it\u{2019}s", "it's", "it's late"),
            (
                "150-0002",
                "\u{FF11}\u{FF15}\u{FF10}\u{2212}\u{FF10}\u{FF10}\u{FF10}\u{FF12}",
                "\u{3012}\u{FF11}\u{FF15}\u{FF10}\u{2212}\u{FF10}\u{FF10}\u{FF10}\u{FF12}",
            ),
            ("pizza", "pizzas", "two pizzas"),
            ("2026-03-01", "this sunday", "this sunday"),
            ("+15551234567", "555) 123-4567", "call (555) 123-4567"),
        ] {
            assert_eq!(as_said(value, words, all, || true), None, "{value}");
        }
    }

    proptest! {
        /// Whatever is inserted into a name, the plain name results.
        #[test]
        fn no_sign_gets_through(at in 0_usize..=9, sign in "[\\p{P}\\p{S}\\p{Cf}\\p{Mn}\\n\\t]{1,3}") {
            let mut value = "Anna Lind".to_owned();
            value.insert_str(at, &sign);
            let in_a_row = || false;
            let left = as_said(&value, "Anna Lind", "pay Anna Lind today", in_a_row).unwrap_or(&value);
            prop_assert_eq!(letters(left), "annalind");
            prop_assert!(left.chars().all(|c| c.is_alphanumeric() || c == ' '), "{:?}", left);
        }
    }
}
