//! The effect of a reply on a conversation, besides giving values: it cancels, corrects, removes, picks, goes back.
//! Needs no model server.
//!
//! - **A value is not a move.** "Stop & Shop", "the second of May" and "second street" are read as content, and where a
//!   word may be either, the confidence says so. From [`ACTS`] on, acting on a move is safe.
//! - **Yes and no are not moves**, nor content if they stand apart: [`crate::recognize::reply`] reads them. "No, I
//!   meant 9" is a correction whose cue is "I meant".
//! - **What a module's functions do is not known here.** "Cancel my order AB123456" may call one of them, so it is only
//!   a doubtful [`MoveKind::Cancel`]; "add", "change" and "remove" are applied by the code that knows the open form.
//! - **A value ends at a comma**: in "change the address to 1 High Street, Leeds" the new value reaches as far as the
//!   recognizers say, and at least to "Street".

pub use crate::language::courtesy::Courtesy;
use crate::{
    language::{Language, acts::PhraseRole},
    text::{
        Span,
        words::{Word, words_of},
    },
};

mod reader;
#[cfg(test)]
mod tests;

use reader::ActReader;

/// The confidence from which on a move may be acted on without a question. It lies between two steps of certainty,
/// because the language packs give finer confidences than those.
pub const ACTS: f32 = 0.75;

/// The moves of a reply, and what else it says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Moves {
    /// The moves in the order of the text, without overlaps.
    pub moves: Vec<Move>,
    /// The words beside the moves, from the first to the last, without politeness; `None` if there are none.
    pub rest: Option<Span>,
    /// The courtesy that the whole reply is, in any language, if it says nothing else.
    pub courtesy: Option<Courtesy>,
}

impl Moves {
    /// True if the reply says only that the answer is not known.
    fn is_unknown(&self) -> bool {
        !self.moves.is_empty() && self.rest.is_none() && self.moves.iter().all(|one| one.kind == MoveKind::Unknown)
    }

    /// The first move that asks for a change.
    pub(crate) fn change(&self) -> Option<&Move> {
        self.moves.iter().find(|one| {
            matches!(
                one.kind,
                MoveKind::Correct
                    | MoveKind::Change { .. }
                    | MoveKind::Replace { .. }
                    | MoveKind::Remove { .. }
                    | MoveKind::Add
                    | MoveKind::Portion { .. }
            )
        })
    }
}

/// One thing that a reply does. Spans count `char`s of the text as given.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    pub kind: MoveKind,
    /// The words of the move, never empty: "change" of "change the size to 9".
    pub cue: Span,
    /// Probability that the move is meant, 0 to 1.
    pub confidence: f32,
}

/// What a move can be. The spans of named things exclude articles; those of new values are as they were said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveKind {
    /// "Forget it": what is open is dropped.
    Cancel,
    /// "Leave it as it is": nothing is done, or changed.
    Keep,
    /// "Start over": what is open starts again.
    Restart,
    /// "I don't know": the value asked for is not known.
    Unknown,
    /// "Skip that", "no preference": no value is given on purpose.
    Skip,
    /// "I meant 9", "make it two": the value behind the cue replaces another one.
    Correct,
    /// "Change the city to Rome"; without `to` if the new value is not said.
    Change { what: Span, to: Option<Span> },
    /// "Not 9 but 10".
    Replace { old: Span, new: Span },
    /// "Without the olives".
    Remove { what: Span },
    /// "And another": what is said is added.
    Add,
    /// "The second one".
    Pick(Pick),
    /// "One of them large": `rest` applies to `count` of the things that were named before.
    Portion { count: Span, rest: Span },
    /// "Back to my order".
    Resume,
    /// "What did I order?"
    Recall,
}

/// Which of the offered choices is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// From 1.
    Nth(usize),
    Last,
    All,
    Both,
    None,
    /// Any of them.
    Either,
    /// Of two choices, the one that was not mentioned.
    Other,
}

/// Reads the moves of `text` in the language of a BCP 47 tag (English if there is no table for it). "I don't know" by
/// itself is read in every language. Linear in the length of the text; never fails.
#[must_use]
pub fn read(language: &str, text: &str) -> Moves {
    let own = Language::or_english(language);
    let moves = read_in(own, text);
    if !moves.moves.is_empty() || moves.courtesy.is_some() {
        return moves;
    }
    own.others().map(|other| read_in(other, text)).find(Moves::is_unknown).unwrap_or(moves)
}

fn read_in(language: &'static Language, text: &str) -> Moves {
    ActReader::new(&language.acts, &words(language, text)).read()
}

fn words(language: &'static Language, text: &str) -> Vec<Word> {
    words_of(text, language.acts.elides, |word| language.is_abbreviation(word))
}

/// The courtesy that `text` is, in any language, if it says nothing else; empty words are looked up in the language of
/// a BCP 47 tag.
#[must_use]
pub fn courtesy(language: &str, text: &str) -> Option<Courtesy> {
    let language = Language::or_english(language);
    ActReader::new(&language.acts, &words(language, text)).courtesy()
}

/// True if `text` consists of words that only fill a sentence: "please", "お願いします".
#[must_use]
pub fn is_filler(language: &str, text: &str) -> bool {
    let language = Language::or_english(language);
    let words = words(language, text);
    let mut at = 0;
    while at < words.len() {
        let Some(length) = language.acts.phrase(&words, at, &[PhraseRole::Filler]) else { return false };
        at += length;
    }
    at > 0
}

/// The clauses at the ends of `text` that are only a courtesy, in any language: "thanks" of "thanks, Anna Meyer". None
/// if the whole text is a courtesy. Each span includes the marks that separate it from the rest.
#[must_use]
pub fn courtesies_beside(language: &str, text: &str) -> Vec<Span> {
    let language = Language::or_english(language);
    ActReader::new(&language.acts, &words(language, text)).courtesies_beside(text)
}
