//! Finds misspelt expressions of a list by comparing what is left when letters are taken away.
//!
//! Two texts that are `n` edits apart (a letter added, dropped, replaced, or two neighbours swapped) have a common
//! remainder after at most `n` deletions from each. The index holds these remainders for the first [`PREFIX`]
//! characters of every expression, so a look-up costs a bounded number of hashes for any size of list; the edits are
//! then counted.
//!
//! - One edit is forgiven from 5 letters on, two from 9. Digits must be right.
//! - Words are tried alone and in runs of up to one word more than the longest expression ("new yrok", "newyork").
//! - Words that are an exact match of the list, or common in a language, are never read as misspelt; the expression with the fewest edits wins.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use super::{certainty::Certainty, pieces::Piece};
use crate::{language::Language, text::fold};

/// The fewest letters for one edit, and for two.
const ONE_EDIT: usize = 5;
const TWO_EDITS: usize = 9;
/// How many characters of an expression are indexed. At least `TWO_EDITS - 2`, so that any two edits leave a trace.
const PREFIX: usize = 7;
/// The most words of an expression that may be misspelt, and the most characters.
const MOST_WORDS: usize = 6;
const MOST_CHARACTERS: usize = 64;
/// The most expressions that are compared for one remainder. If more expressions begin alike, some misspellings are not
/// found.
const MOST_CANDIDATES: usize = 256;

#[derive(Debug)]
struct FuzzyExpression {
    text: Box<[char]>,
    label: u32,
    edits: usize,
}

#[derive(Debug, Default)]
pub(super) struct FuzzyIndex {
    entries: Vec<FuzzyExpression>,
    /// Hashes of remainders with the entry that they came from, sorted by hash.
    rests: Vec<(u32, u32)>,
    most_words: usize,
}

/// A misspelt expression at pieces `start..end`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FuzzyMatch {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) label: u32,
    pub(super) certainty: Certainty,
}

/// How many edits a text with this many letters is forgiven.
const fn forgiven(letters: usize) -> usize {
    if letters >= TWO_EDITS {
        2
    } else if letters >= ONE_EDIT {
        1
    } else {
        0
    }
}

/// How sure an expression with this many edits is.
const fn certainty_of(edits: usize) -> Certainty {
    if edits > 1 { Certainty::Likely } else { Certainty::Usual }
}

/// Words joined by single spaces, if they can be misspelt at all.
fn joined(pieces: &[Piece<'_>]) -> Option<Vec<char>> {
    if pieces.is_empty() || pieces.len() > MOST_WORDS + 1 || pieces.iter().any(|piece| !piece.is_word) {
        return None;
    }
    let mut text: Vec<char> = Vec::new();
    for piece in pieces {
        if !text.is_empty() {
            text.push(' ');
        }
        text.extend(piece.text.chars().take(MOST_CHARACTERS + 1));
        if text.len() > MOST_CHARACTERS {
            return None;
        }
    }
    Some(text)
}

impl FuzzyIndex {
    pub(super) fn add(&mut self, pieces: &[Piece<'_>], label: u32) {
        let Some(text) = joined(pieces).filter(|_| pieces.len() <= MOST_WORDS) else { return };
        let edits = forgiven(text.iter().filter(|character| character.is_alphabetic()).count());
        let Ok(entry) = u32::try_from(self.entries.len()) else { return };
        if edits > 0 {
            let mut rests = Vec::new();
            rests_of(&text, edits, &mut rests);
            self.rests.extend(rests.into_iter().map(|rest| (rest, entry)));
            self.most_words = self.most_words.max(pieces.len());
            self.entries.push(FuzzyExpression { text: text.into_boxed_slice(), label, edits });
        }
    }

    /// Prepares the index after the last [`Self::add`].
    pub(super) fn finish(&mut self) {
        self.rests.sort_unstable();
        self.rests.dedup();
        self.rests.shrink_to_fit();
    }

    /// Misspelt expressions among `pieces`, outside `taken` (sorted, exact matches of the same list).
    pub(super) fn matches(&self, pieces: &[Piece<'_>], taken: &[(usize, usize)]) -> Vec<FuzzyMatch> {
        let mut found = Vec::new();
        let mut rests = Vec::new();
        let mut known: HashMap<Vec<char>, Vec<(usize, u32)>> = HashMap::new();
        for start in 0..pieces.len() {
            let next = taken.partition_point(|&(_, end)| end <= start);
            let limit = taken.get(next).map_or(pieces.len(), |&(taken, _)| taken);
            for end in start + 1..=(start + self.most_words + 1).min(limit) {
                let Some(text) = joined(&pieces[start..end]) else { break };
                // Three letters cannot be an expression of five.
                if text.len() + 1 < ONE_EDIT {
                    continue;
                }
                let near = match known.get(&text) {
                    Some(near) => near,
                    None => {
                        let near = self.nearest(&text, &mut rests);
                        known.entry(text).or_insert(near)
                    }
                };
                found.extend(near.iter().map(|&(edits, label)| FuzzyMatch {
                    start,
                    end,
                    label,
                    certainty: certainty_of(edits),
                }));
            }
        }
        // Of overlapping readings, the one with the fewest edits is meant, then the longest.
        found.sort_by(|a, b| {
            b.certainty.cmp(&a.certainty).then((b.end - b.start).cmp(&(a.end - a.start))).then(a.start.cmp(&b.start))
        });
        let mut used = vec![None; pieces.len()];
        found.retain(|near| {
            let fits =
                used[near.start..near.end].iter().all(|user| user.is_none() || *user == Some((near.start, near.end)));
            if fits {
                used[near.start..near.end].fill(Some((near.start, near.end)));
            }
            fits
        });
        found
    }

    /// The labels of the expressions with the fewest edits, and those edits; empty if no expression is near enough.
    fn nearest(&self, text: &[char], rests: &mut Vec<u32>) -> Vec<(usize, u32)> {
        let most = forgiven(text.iter().filter(|character| character.is_alphabetic()).count() + 2).min(2);
        rests.clear();
        rests_of(text, most, rests);
        let mut candidates: Vec<u32> = Vec::new();
        for rest in rests.iter() {
            let from = self.rests.partition_point(|(hash, _)| hash < rest);
            candidates.extend(
                self.rests[from..]
                    .iter()
                    .take_while(|(hash, _)| hash == rest)
                    .take(MOST_CANDIDATES)
                    .map(|(_, entry)| *entry),
            );
        }
        candidates.sort_unstable();
        candidates.dedup();
        let mut nearest: Vec<(usize, u32)> = Vec::new();
        for candidate in candidates {
            let entry = &self.entries[candidate as usize];
            if entry.text.len().abs_diff(text.len()) > entry.edits {
                continue;
            }
            let digits =
                |text: &[char]| text.iter().filter(|character| character.is_numeric()).copied().collect::<Vec<_>>();
            let edits = edits(&entry.text, text);
            let is_near = (1..=entry.edits).contains(&edits) && digits(&entry.text) == digits(text);
            if is_near && !replaces_common(&entry.text, text) {
                nearest.push((edits, entry.label));
            }
        }
        nearest.sort_unstable();
        nearest.dedup_by_key(|(_, label)| *label);
        let fewest = nearest.first().map_or(0, |(edits, _)| *edits);
        nearest.retain(|(edits, _)| *edits == fewest);
        nearest
    }
}

/// Common words of the supported languages, folded. People may speak another language than the module's.
static COMMON: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let words = Language::all().flat_map(|language| language.common.often.iter().chain(&language.common.of_pack));
    words.map(|word| fold(word)).collect()
});

/// True if a common word would be read as another one: "what" is not a misspelt "wheat".
fn replaces_common(entry: &[char], text: &[char]) -> bool {
    let words = |text: &[char]| text.split(|letter| *letter == ' ').map(String::from_iter).collect::<Vec<String>>();
    let (meant, said) = (words(entry), words(text));
    let is_replaced = |(meant, said): (&String, &String)| meant != said && COMMON.contains(said.as_str());
    match meant.len() == said.len() {
        true => meant.iter().zip(&said).any(is_replaced),
        false => said.iter().all(|word| COMMON.contains(word.as_str())),
    }
}

/// The number of letters added, dropped or replaced, and of neighbours swapped (optimal string alignment).
fn edits(one: &[char], other: &[char]) -> usize {
    let (one, other): (String, String) = (one.iter().collect(), other.iter().collect());
    strsim::osa_distance(&one, &other)
}

/// Hashes of the prefix with up to `edits` characters taken away, sorted.
fn rests_of(text: &[char], edits: usize, rests: &mut Vec<u32>) {
    let prefix = &text[..text.len().min(PREFIX)];
    let without = |first: usize, second: usize| {
        // FNV: an accidental collision costs one comparison, and deliberate ones at most `MOST_CANDIDATES`.
        let kept = prefix.iter().enumerate().filter(|&(index, _)| index != first && index != second);
        kept.fold(0x811C_9DC5_u32, |hash, (_, character)| (hash ^ u32::from(*character)).wrapping_mul(0x0100_0193))
    };
    rests.push(without(PREFIX, PREFIX));
    for first in 0..prefix.len() {
        rests.push(without(first, PREFIX));
        if edits > 1 {
            rests.extend((first + 1..prefix.len()).map(|second| without(first, second)));
        }
    }
    rests.sort_unstable();
    rests.dedup();
}
