//! Makes valid, unique names: `[a-zA-Z0-9_-]{1,64}`, which model servers accept.

use std::collections::HashSet;

const LONGEST: usize = 64;

/// Names of intents that answer a question of the bot, and therefore begin nothing.
const ANSWERS: [&str; 25] = [
    "affirm",
    "affirmative",
    "agree",
    "accept",
    "confirm",
    "yes",
    "deny",
    "negative",
    "disagree",
    "decline",
    "reject",
    "no",
    "ja",
    "nein",
    "bejahen",
    "verneinen",
    "si",
    "sí",
    "afirmar",
    "negar",
    "oui",
    "non",
    "sim",
    "não",
    "nao",
];

/// True of an intent whose name ends as one does that only answers: `affirm`, `confirm.no`, `int_yes`.
pub(super) fn answers_a_question(intent: &str) -> bool {
    let lower = intent.to_lowercase();
    let last = lower.split(|c: char| !c.is_alphanumeric()).rfind(|word| !word.is_empty());
    last.is_some_and(|last| ANSWERS.contains(&last))
}

/// Gives each name its valid form.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// The valid form of `name`; a number is added if it is taken (also if only the case differs, which file systems
    /// and people confuse).
    pub(super) fn give(&mut self, name: &str, kind: &str) -> String {
        let base = fitting(name, kind);
        let mut given = base.clone();
        let mut number = 1;
        while !self.taken.insert(given.to_ascii_lowercase()) {
            number += 1;
            let suffix = format!("_{number}");
            given = format!("{}{suffix}", &base[..base.len().min(LONGEST - suffix.len())]);
        }
        given
    }
}

/// Letters outside ASCII are lost, so a name that consists mostly of them gets a part of its hash.
fn fitting(name: &str, kind: &str) -> String {
    let mut fitting = String::with_capacity(name.len());
    let mut lost = false;
    for character in name.trim().chars() {
        if character.is_ascii_alphanumeric() || character == '-' {
            fitting.push(character);
        } else {
            lost |= character.is_alphanumeric();
            if !fitting.ends_with('_') || character == '_' {
                fitting.push('_');
            }
        }
    }
    let trimmed = fitting.trim_end_matches('_').trim_start_matches(['_', '-']);
    let trimmed = if name.starts_with('_') && !trimmed.is_empty() { format!("_{trimmed}") } else { trimmed.to_owned() };
    let needs_hash = trimmed.is_empty() || lost || trimmed.len() > LONGEST;
    let starts_well = trimmed.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let readable = if starts_well { trimmed } else { format!("{kind}_{trimmed}") };
    if !needs_hash {
        return readable[..readable.len().min(LONGEST)].to_owned();
    }
    let hash = blake3::hash(name.as_bytes()).to_hex();
    let kept = readable[..readable.len().min(LONGEST - 9)].trim_end_matches('_');
    format!("{kept}_{}", &hash.as_str()[..8])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_fits_stays_and_the_rest_becomes_readable() {
        let mut names = Names::default();
        for (name, given) in [
            ("book_hotel", "book_hotel"),
            ("book.hotel", "book_hotel_2"),
            ("Book Hotel", "Book_Hotel_3"),
            ("faq/opening hours?", "faq_opening_hours"),
            ("2fast", "fn_2fast"),
            ("_private", "_private"),
        ] {
            assert_eq!(names.give(name, "fn"), given, "{name}");
        }
        assert!(names.give("天気", "fn").starts_with("fn_"));
        assert_ne!(names.give("天気", "fn"), names.give("気象", "fn"));
    }

    proptest! {
        #[test]
        fn every_name_fits_and_is_given_once(all in proptest::collection::vec("\\PC{0,80}", 0..20)) {
            let mut names = Names::default();
            let mut given = HashSet::new();
            for name in &all {
                let one = names.give(name, "slot");
                prop_assert!((1..=LONGEST).contains(&one.len()));
                prop_assert!(one.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)), "{}", one);
                prop_assert!(!one.starts_with(|first: char| first.is_ascii_digit() || first == '-'), "{}", one);
                prop_assert!(given.insert(one));
            }
        }
    }
}
