//! The n-grams for classifying dialogue acts: words and word pairs, the beginning and end of the sentence, and runs of
//! characters. `scripts/acts.py` makes the same ones.

use std::collections::BTreeMap;

/// Longest part of a text that is read, in characters.
const READ: usize = 1_000;
/// Lengths of character runs.
const RUNS: [usize; 2] = [3, 4];
/// Number of words that count as the beginning of a sentence.
const BEGINNING: usize = 3;

/// The buckets, out of `width`, of a text's n-grams, each with its weight: together they are a vector of length 1.
pub(super) fn places(text: &str, width: usize) -> Vec<(usize, f32)> {
    let words = words(text);
    let mut counts: BTreeMap<usize, f32> = BTreeMap::new();
    let mut count = |kind: &str, ngram: &str| {
        *counts.entry(hash(kind, ngram) as usize % width).or_default() += 1.0;
    };
    for word in &words {
        count("w:", word);
    }
    for pair in words.windows(2) {
        count("b:", &pair.join("_"));
    }
    for length in 1..=BEGINNING.min(words.len()) {
        count("^", &words[..length].join("_"));
    }
    if let Some(last) = words.last() {
        count("$", last);
    }
    if !words.is_empty() {
        let text = format!(" {} ", words.join(" "));
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        for length in RUNS {
            starts.windows(length + 1).for_each(|run| count("c:", &text[run[0]..run[length]]));
        }
    }
    let length = counts.values().map(|count| count * count).sum::<f32>().sqrt();
    counts.into_iter().map(|(place, count)| (place, count / length)).collect()
}

/// Runs of letters, single characters of Chinese and Japanese script, `0` for each number, and single signs; in lower
/// case.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut kind = CharacterClass::Nothing;
    for character in text.chars().take(READ).flat_map(char::to_lowercase) {
        let next = CharacterClass::of(character);
        match next {
            CharacterClass::Nothing => {}
            CharacterClass::Letter if kind == CharacterClass::Letter => {
                words.last_mut().expect("a letter came before").push(character);
            }
            CharacterClass::Digit if kind == CharacterClass::Digit => {}
            CharacterClass::Digit => words.push("0".to_owned()),
            CharacterClass::Letter | CharacterClass::Alone => words.push(character.to_string()),
        }
        kind = next;
    }
    words
}

#[derive(Clone, Copy, PartialEq)]
enum CharacterClass {
    Nothing,
    Letter,
    Digit,
    /// A word of its own.
    Alone,
}

impl CharacterClass {
    fn of(character: char) -> Self {
        match character {
            '\u{3040}'..='\u{30FF}' | '\u{4E00}'..='\u{9FFF}' => Self::Alone,
            '_' => Self::Nothing,
            _ if character.is_whitespace() => Self::Nothing,
            _ if character.is_numeric() => Self::Digit,
            _ if character.is_alphabetic() => Self::Letter,
            _ => Self::Alone,
        }
    }
}

/// FNV-1a in 32 bits.
fn hash(kind: &str, ngram: &str) -> u32 {
    let bytes = kind.bytes().chain(ngram.bytes());
    bytes.fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_into_words_signs_and_numbers() {
        assert_eq!(words("Is order 4711 out?"), ["is", "order", "0", "out", "?"]);
        assert_eq!(words("会議室を2つ、ok_"), ["会", "議", "室", "を", "0", "つ", "、", "ok"]);
    }

    #[test]
    fn shares_are_those_of_a_vector_of_length_1() {
        let places = places("is it on?", 1 << 14);
        assert!((places.iter().map(|(_, share)| share * share).sum::<f32>() - 1.0).abs() < 1e-5);
        assert!(super::places(" ", 1 << 14).is_empty());
    }

    #[test]
    fn hashes_are_those_that_the_weights_were_fitted_with() {
        assert_eq!([hash("", ""), hash("w:", "a")], [0x811C_9DC5, 0x0428_FE5F]);
    }
}
