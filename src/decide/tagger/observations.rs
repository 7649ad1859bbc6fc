//! The observations of a word: itself, its neighbours, its letters, and how it is written.

use super::chain::{ROWS, WordObservations};
use crate::text::fnv1a;

/// The observations of each word of a text.
pub(super) fn observed(words: &[&str]) -> Vec<WordObservations> {
    let folded: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let shapes: Vec<String> = words.iter().map(|word| shape(word)).collect();
    (0..words.len()).map(|at| of_word(at, &folded, &shapes)).collect()
}

fn of_word(at: usize, folded: &[String], shapes: &[String]) -> WordObservations {
    let near = |texts: &'_ [String], offset: isize| -> String {
        at.checked_add_signed(offset).and_then(|at| texts.get(at)).cloned().unwrap_or_default()
    };
    let word = |offset: isize| near(folded, offset);
    let ((prefix, suffix), (long_prefix, _), (_, short_suffix)) =
        (ends(&folded[at], 3), ends(&folded[at], 5), ends(&folded[at], 2));
    let own = [
        ("w", word(0)),
        ("w-w", format!("{} {}", word(-1), word(0))),
        ("w+w", format!("{} {}", word(0), word(1))),
        ("p3", prefix),
        ("s3", suffix),
        ("p5", long_prefix),
        ("s2", short_suffix),
    ];
    let others = [
        ("-1", word(-1)),
        ("-2", word(-2)),
        ("+1", word(1)),
        ("+2", word(2)),
        ("-2-1", format!("{} {}", word(-2), word(-1))),
        ("+1+2", format!("{} {}", word(1), word(2))),
        ("-1+1", format!("{} {}", word(-1), word(1))),
        ("-3-1", format!("{} {} {}", word(-3), word(-2), word(-1))),
        ("h", shapes[at].clone()),
        ("h-1", format!("{} {}", near(shapes, -1), shapes[at])),
        ("h+1", format!("{} {}", shapes[at], near(shapes, 1))),
        ("1", if at == 0 { "first".to_owned() } else { String::new() }),
        ("", "any".to_owned()),
    ];
    let rows = |named: &[(&str, String)]| named.iter().map(|(name, text)| row(name, text)).collect();
    WordObservations { own: rows(&own), others: rows(&others) }
}

/// The first and the last `count` characters of a word.
fn ends(word: &str, count: usize) -> (String, String) {
    let letters: Vec<char> = word.chars().collect();
    let first = letters.iter().take(count).collect();
    let last = letters[letters.len().saturating_sub(count)..].iter().collect();
    (first, last)
}

/// "Xx" for "Anna", "d.d" for "2.8": runs of one kind count once.
fn shape(word: &str) -> String {
    let mut shape = String::new();
    for character in word.chars() {
        let kind = match character {
            _ if character.is_numeric() => 'd',
            _ if character.is_uppercase() => 'X',
            _ if character.is_alphabetic() => 'x',
            _ => character,
        };
        if !shape.ends_with(kind) {
            shape.push(kind);
        }
    }
    shape
}

/// The row of an observation: the same on each machine and in each version.
fn row(name: &str, text: &str) -> u32 {
    let hash = fnv1a(name.bytes().chain([0]).chain(text.bytes()));
    ((hash ^ (hash >> 32)) as usize % ROWS) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_word_is_written_is_short() {
        assert_eq!(["Anna", "2.8", "AB-1093/2", "é", "東京"].map(shape), ["Xx", "d.d", "X-d/d", "x", "x"]);
    }

    #[test]
    fn a_word_is_the_same_in_any_case_but_for_how_it_is_written() {
        let (small, large) = (observed(&["play", "it"]), observed(&["Play", "it"]));
        assert_eq!(small[0].own, large[0].own);
        assert_ne!(small[0].others, large[0].others);
        assert_eq!(small[1].others.len(), large[1].others.len());
    }
}
