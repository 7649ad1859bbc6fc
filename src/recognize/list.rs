//! Lists of entities: every expression of every list of a module in one automaton.
//!
//! # What matches
//!
//! Expressions and utterances are cut into [pieces](super::pieces), which are folded: case and accents don't count. An
//! expression matches whole pieces, never within a word. A run of katakana is also one word, although its pieces are
//! characters: "アメリカ" is not in "ラテンアメリカ". It is divided only if all of its parts are known: "トマトピザ"
//! has both words if lists have both.
//!
//! - Labels match like expressions: strings, numbers and booleans as their text.
//! - A comma in an expression may be left out, `&` may be said "and", a hyphen or apostrophe within a word may be
//!   missing ("tshirt", "mcdonalds").
//! - The regular plurals of words of the Latin script match their singulars and the reverse (`-s`, `-es`, `-ies`), with
//!   a score of 0.9. A possessive's `'s` is not part of the match.
//! - Of one list only the leftmost, longest match counts. An expression that two labels of a list share gives a mention
//!   for each, in the order of the file, every one with a score of at most 0.8: one of them is wrong.
//! - With [`crate::module::ListSpec::fuzzy`], see [`super::fuzzy`].
//!
//! The words of the automaton are stems, in which singular and plural coincide, each between separators. What it finds
//! is compared word for word, so two words with the same stem are never confused.

use std::collections::HashMap;

use daachorse::DoubleArrayAhoCorasick;
use serde_json::Value;

use super::{
    RecognizeError,
    certainty::Certainty,
    fuzzy::FuzzyIndex,
    pieces::{Piece, pieces},
};
use crate::{
    module::{ListSpec, RecognizerId},
    text::{Span, Utterance, fold, script::is_katakana, tokens::whole_span},
};

/// A comma, hyphen or apostrophe is left out, or `&` is said as "and".
const VARIANT: Certainty = Certainty::Evident;
/// A plural is said for its singular, or the reverse.
const INFLECTED: Certainty = Certainty::Clear;
/// Several labels have the same expression.
const SHARED: Certainty = Certainty::Usual;
/// The size of the largest list for which near spellings are looked for: they take some 250 bytes an expression.
const MOST_FORGIVEN: usize = 20_000;
/// The most labels of one list with the same expression; an expression with more says nothing.
const MOST_LABELS: usize = 8;
/// The most pieces of an expression that is matched: a longer text is a document.
const MOST_PIECES: usize = 64;
const SEPARATOR: char = '\u{1}';

/// The part that singular and plural of a word share; it finds words but does not distinguish them.
pub(super) fn stem(piece: &str) -> &str {
    let is_latin = piece.len() >= 3 && piece.bytes().all(|byte| byte.is_ascii_lowercase());
    if !is_latin {
        return piece;
    }
    let singular = match piece.strip_suffix('s') {
        Some(rest) if !matches!(rest.as_bytes().last(), Some(b's' | b'u')) => rest,
        _ => piece,
    };
    let bare = singular.strip_suffix('e').unwrap_or(singular);
    let bare = bare.strip_suffix(['i', 'y']).unwrap_or(bare);
    if bare.len() < 2 { singular } else { bare }
}

/// True if one is the regular plural of the other.
fn is_inflection(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    if short.len() < 2 || !short.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return false;
    }
    match long.strip_prefix(short) {
        Some("s") => !short.ends_with('s'),
        Some("es") => short.ends_with(['s', 'x', 'z', 'o']) || short.ends_with("sh") || short.ends_with("ch"),
        _ => short.strip_suffix('y').and_then(|base| long.strip_prefix(base)) == Some("ies"),
    }
}

/// One way of writing one label of one list.
#[derive(Debug)]
struct LabelSpelling {
    list: u32,
    label: u32,
    /// The exact pieces, between separators.
    key: Box<str>,
    certainty: Certainty,
}

#[derive(Debug)]
struct List {
    recognizer: RecognizerId,
    labels: Vec<Value>,
    fuzzy: Option<FuzzyIndex>,
}

/// All lists of a module.
pub(super) struct Lists {
    lists: Vec<List>,
    automaton: Option<DoubleArrayAhoCorasick<u32>>,
    /// The entries of each pattern of the automaton.
    entries: Vec<Vec<LabelSpelling>>,
}

impl std::fmt::Debug for Lists {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Lists")
            .field("lists", &self.lists.len())
            .field("patterns", &self.entries.len())
            .finish_non_exhaustive()
    }
}

/// An entity of a list in an utterance.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ListMatch<'l> {
    pub(super) recognizer: RecognizerId,
    pub(super) span: Span,
    pub(super) value: &'l Value,
    pub(super) score: f32,
}

/// A match, before it is known whether it is the longest.
#[derive(Debug, Clone, Copy)]
struct Raw {
    list: u32,
    label: u32,
    start: usize,
    end: usize,
    score: f32,
}

impl Lists {
    pub(super) fn compile<'m>(
        lists: impl Iterator<Item = (RecognizerId, &'m ListSpec)>,
    ) -> Result<Self, RecognizeError> {
        let mut compiled = Vec::new();
        let mut patterns: HashMap<String, u32> = HashMap::new();
        let mut entries: Vec<Vec<LabelSpelling>> = Vec::new();
        for (index, (recognizer, spec)) in lists.enumerate() {
            let list = u32::try_from(index).map_err(|error| RecognizeError::List(error.to_string()))?;
            let mut labels = Vec::with_capacity(spec.instances.len());
            let mut fuzzy = (spec.fuzzy && spec.instances.len() <= MOST_FORGIVEN).then(FuzzyIndex::default);
            for instance in &spec.instances {
                let label = u32::try_from(labels.len()).map_err(|error| RecognizeError::List(error.to_string()))?;
                labels.push(instance.label.clone());
                let written = label_text(&instance.label);
                for expression in instance.expressions.iter().map(String::as_str).chain(written.as_deref()) {
                    for (variant, certainty) in variants(expression) {
                        let pieces = pieces(&variant);
                        if pieces.is_empty() || pieces.len() > MOST_PIECES {
                            continue;
                        }
                        if let Some(fuzzy) = &mut fuzzy
                            && certainty == Certainty::WrittenOut
                        {
                            fuzzy.add(&pieces, label);
                        }
                        let mut key = String::from(SEPARATOR);
                        let mut stems = String::from(SEPARATOR);
                        for piece in &pieces {
                            key.push_str(piece.text);
                            key.push(SEPARATOR);
                            stems.push_str(stem(piece.text));
                            stems.push(SEPARATOR);
                        }
                        let next = entries.len();
                        let pattern =
                            *patterns.entry(stems).or_insert(u32::try_from(next).unwrap_or(u32::MAX)) as usize;
                        if pattern == next {
                            entries.push(Vec::new());
                        }
                        let slot = &mut entries[pattern];
                        let same = slot
                            .iter_mut()
                            .find(|entry| (entry.list, entry.label) == (list, label) && *entry.key == *key);
                        match same {
                            Some(entry) => entry.certainty = entry.certainty.max(certainty),
                            None => slot.push(LabelSpelling { list, label, key: key.into_boxed_str(), certainty }),
                        }
                    }
                }
            }
            if let Some(fuzzy) = &mut fuzzy {
                fuzzy.finish();
            }
            compiled.push(List { recognizer, labels, fuzzy });
        }
        let automaton = if patterns.is_empty() {
            None
        } else {
            let mut patterns: Vec<(String, u32)> = patterns.into_iter().collect();
            patterns.sort_unstable();
            Some(
                DoubleArrayAhoCorasick::with_values(patterns)
                    .map_err(|error| RecognizeError::List(error.to_string()))?,
            )
        };
        Ok(Self { lists: compiled, automaton, entries })
    }

    pub(super) fn matches(&self, utterance: &Utterance) -> Vec<ListMatch<'_>> {
        let Some(automaton) = &self.automaton else { return Vec::new() };
        let pieces = pieces(utterance.folded());
        let mut stems = String::with_capacity(utterance.folded().len() + 2);
        // For each piece, the place of the separator before it in `stems`.
        let mut separators = Vec::with_capacity(pieces.len() + 1);
        for piece in &pieces {
            separators.push(stems.len());
            stems.push(SEPARATOR);
            stems.push_str(stem(piece.text));
        }
        separators.push(stems.len());
        stems.push(SEPARATOR);

        let mut raw: Vec<Raw> = Vec::new();
        for found in automaton.find_overlapping_iter(&stems) {
            let (Ok(start), Ok(end)) =
                (separators.binary_search(&found.start()), separators.binary_search(&(found.end() - 1)))
            else {
                continue;
            };
            if pieces[start].is_clitic {
                continue;
            }
            for entry in &self.entries[found.value() as usize] {
                if let Some(agreement) = agreement(entry, &pieces[start..end]) {
                    let score = entry.certainty.score() * agreement.score();
                    raw.push(Raw { list: entry.list, label: entry.label, start, end, score });
                }
            }
        }
        Bounds::of(&pieces).admit(&mut raw);
        let mut matches = self.longest(raw);
        let fuzzy: Vec<Raw> = (0_u32..)
            .zip(&self.lists)
            .filter_map(|(list, compiled)| Some((list, compiled.fuzzy.as_ref()?)))
            .flat_map(|(list, index)| {
                let taken: Vec<(usize, usize)> =
                    matches.iter().filter(|found| found.list == list).map(|found| (found.start, found.end)).collect();
                index.matches(&pieces, &taken).into_iter().map(move |near| Raw {
                    list,
                    label: near.label,
                    start: near.start,
                    end: near.end,
                    score: near.certainty.score(),
                })
            })
            .collect();
        matches.extend(self.longest(fuzzy));
        matches
            .into_iter()
            .filter_map(|found| {
                let list = &self.lists[found.list as usize];
                let bytes = pieces[found.start].start..pieces[found.end - 1].start + pieces[found.end - 1].text.len();
                Some(ListMatch {
                    recognizer: list.recognizer,
                    span: whole_span(utterance, &bytes)?,
                    value: &list.labels[found.label as usize],
                    score: found.score,
                })
            })
            .collect()
    }

    /// For each list, the leftmost and longest matches; of several labels at one place, the best matches.
    fn longest(&self, mut raw: Vec<Raw>) -> Vec<Raw> {
        raw.sort_by(|a, b| {
            (a.list, a.start, b.end)
                .cmp(&(b.list, b.start, a.end))
                .then(b.score.total_cmp(&a.score))
                .then(a.label.cmp(&b.label))
        });
        let mut kept: Vec<Raw> = Vec::new();
        let mut group = 0;
        for found in raw {
            match kept.last() {
                Some(last) if last.list == found.list && (found.start, found.end) == (last.start, last.end) => {
                    let best = kept[group].score;
                    let known = kept[group..]
                        .iter()
                        .any(|kept| kept.label == found.label || self.value(*kept) == self.value(found));
                    if found.score >= best && !known && kept.len() - group < MOST_LABELS {
                        kept.push(found);
                    }
                }
                Some(last) if last.list == found.list && found.start < last.end => {}
                _ => {
                    group = kept.len();
                    kept.push(found);
                }
            }
        }
        for index in 0..kept.len() {
            let at = |other: usize| kept.get(other).map(|raw| (raw.list, raw.start));
            let is_shared = at(index + 1) == at(index) || (index > 0 && at(index - 1) == at(index));
            if is_shared {
                kept[index].score = kept[index].score.min(SHARED.score());
            }
        }
        kept
    }

    fn value(&self, raw: Raw) -> &Value {
        &self.lists[raw.list as usize].labels[raw.label as usize]
    }
}

/// The pieces between which a match may begin or end: anywhere except within a word of katakana, unless the rest of
/// that word consists of other matches.
struct Bounds {
    /// For each piece, and for the end: true if it continues the katakana before it.
    is_within: Vec<bool>,
}

impl Bounds {
    fn of(pieces: &[Piece<'_>]) -> Self {
        let first = |piece: &Piece<'_>| piece.text.chars().next().is_some_and(is_katakana);
        let goes_on = |pair: &[Piece<'_>]| {
            first(&pair[0]) && first(&pair[1]) && pair[0].start + pair[0].text.len() == pair[1].start
        };
        let within = pieces.windows(2).map(goes_on);
        Self { is_within: std::iter::once(false).chain(within).chain([false]).collect() }
    }

    /// Keeps the matches that do not cut a word of katakana.
    fn admit(&self, found: &mut Vec<Raw>) {
        if !self.is_within.contains(&true) {
            return;
        }
        let mut may_begin: Vec<bool> = self.is_within.iter().map(|within| !within).collect();
        let mut may_end = may_begin.clone();
        found.sort_unstable_by_key(|one| one.start);
        for one in found.iter() {
            may_begin[one.end] |= may_begin[one.start];
        }
        found.sort_unstable_by_key(|one| std::cmp::Reverse(one.end));
        for one in found.iter() {
            may_end[one.start] |= may_end[one.end];
        }
        found.retain(|one| may_begin[one.start] && may_end[one.end]);
    }
}

/// How sure it is that the pieces are those of the entry; `None` if they are other words with the same stems.
fn agreement(entry: &LabelSpelling, pieces: &[Piece<'_>]) -> Option<Certainty> {
    let mut agreement = Certainty::WrittenOut;
    let mut said = pieces.iter();
    for own in entry.key.split(SEPARATOR).filter(|own| !own.is_empty()) {
        let piece = said.next()?;
        if piece.text != own {
            if !is_inflection(piece.text, own) {
                return None;
            }
            agreement = INFLECTED;
        }
    }
    said.next().is_none().then_some(agreement)
}

/// The text of a label: numbers and booleans as JSON writes them; `null`, lists and objects have none.
fn label_text(label: &Value) -> Option<String> {
    match label {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(boolean) => Some(boolean.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// An expression, folded, and the other ways in which people write it.
fn variants(expression: &str) -> Vec<(String, Certainty)> {
    let folded = fold(expression);
    let mut variants = Vec::with_capacity(1);
    if folded.contains([',', '&', '-', '\'']) {
        let variant = |text: String| (text != folded).then_some((text, VARIANT));
        variants.extend(variant(folded.replace(',', " ")));
        variants.extend(variant(folded.replace('&', " and ")));
        variants.extend(variant(folded.replace('\'', "")));
        variants.extend(variant(folded.replace('-', "")));
    }
    variants.push((folded, Certainty::WrittenOut));
    variants
}
