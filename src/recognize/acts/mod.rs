//! What a reply does to a conversation, beside giving values: it cancels, corrects, removes, picks, goes back. Needs no
//! model server.
//!
//! - **A value is no move.** "Stop & Shop", "the second of May" and "second street" are read as content, and where a
//!   word may be either, the confidence says so. [`ACTS`] is where acting on a move begins to be safe.
//! - **Yes and no are no moves**, and no content where they stand apart: [`crate::recognize::reply`] reads them. "No, I
//!   meant 9" is a correction whose cue is "I meant".
//! - **What a module's functions do is not known here.** "Cancel my order AB123456" may call one of them, so that it is
//!   a doubtful [`Kind::Cancel`]; "add", "change" and "remove" are for whoever knows the open form to apply.
//! - **A value ends at a comma**: in "change the address to 1 High Street, Leeds" the new value reaches as far as the
//!   recognizers say, and at least to "Street".

pub use crate::language::courtesy::Courtesy;
use crate::{
    language::Language,
    text::{Span, words::words_of},
};

mod reader;
#[cfg(test)]
mod tests;

use reader::Reader;

/// The confidence from which on a move may be acted on without asking. It lies between two steps of
/// certainty, as the confidences that the languages' packs give are finer than those.
pub const ACTS: f32 = 0.75;

/// What a reply does, and what else it says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Moves {
    /// In the order of the text; they do not overlap.
    pub moves: Vec<Move>,
    /// What is said beside them, from its first word to its last, without politeness; `None` if nothing is.
    pub rest: Option<Span>,
    /// What the reply is if it says nothing else, in whatever language.
    pub courtesy: Option<Courtesy>,
}

impl Moves {
    /// Nothing is said but that the answer is not known.
    fn is_unknown(&self) -> bool {
        !self.moves.is_empty() && self.rest.is_none() && self.moves.iter().all(|one| one.kind == Kind::Unknown)
    }

    /// The first move that asks for something to be another way.
    pub(crate) fn change(&self) -> Option<&Move> {
        self.moves.iter().find(|one| {
            matches!(
                one.kind,
                Kind::Correct
                    | Kind::Change { .. }
                    | Kind::Replace { .. }
                    | Kind::Remove { .. }
                    | Kind::Add
                    | Kind::Portion { .. }
            )
        })
    }
}

/// One thing that a reply does. Spans count `char`s of the text as given.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    pub kind: Kind,
    /// The words that say so, never empty: "change" of "change the size to 9".
    pub cue: Span,
    /// Probability that this is meant, 0 to 1.
    pub confidence: f32,
}

/// What can be done to a conversation. Spans of what is named are without articles, those of new values as they were
/// said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// "Forget it": what is open is given up.
    Cancel,
    /// "Leave it as it is": nothing is done, or changed.
    Keep,
    /// "Start over": what is open begins anew.
    Restart,
    /// "I don't know": the value asked for is not known.
    Unknown,
    /// "Skip that", "no preference": no value is given on purpose.
    Skip,
    /// "I meant 9", "make it two": a value that follows the cue replaces one.
    Correct,
    /// "Change the city to Rome"; without `to` where the new value is not said.
    Change { what: Span, to: Option<Span> },
    /// "Not 9 but 10".
    Replace { old: Span, new: Span },
    /// "Without the olives".
    Remove { what: Span },
    /// "And another": what is said comes on top.
    Add,
    /// "The second one".
    Pick(Pick),
    /// "One of them large": `rest` is said of `count` of what was named before.
    Portion { count: Span, rest: Span },
    /// "Back to my order".
    Resume,
    /// "What did I order?"
    Recall,
}

/// Which of the choices that were offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// From 1.
    Nth(usize),
    Last,
    All,
    Both,
    None,
    /// Whichever.
    Either,
    /// The one of two that was not spoken of.
    Other,
}

/// Reads what `text` does, in the language of a BCP 47 tag (English if there is no table for it); "I don't know" by
/// itself is read in every language. Linear in the length of the text, never fails.
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
    let acts = &language.acts;
    Reader::new(acts, &words_of(text, acts.elides, |word| language.is_abbreviation(word))).read()
}

/// What `text` is if it is nothing but a courtesy, in whatever language; words that say nothing are looked for in the
/// language of a BCP 47 tag.
#[must_use]
pub fn courtesy(language: &str, text: &str) -> Option<Courtesy> {
    let language = Language::or_english(language);
    let acts = &language.acts;
    Reader::new(acts, &words_of(text, acts.elides, |word| language.is_abbreviation(word))).courtesy()
}

/// Clauses at the ends of `text` that are nothing but a courtesy, in whatever language: "thanks" of "thanks, Anna Meyer".
/// None if all of it is one. Each reaches over the marks that part it from the rest.
#[must_use]
pub fn courtesies_beside(language: &str, text: &str) -> Vec<Span> {
    let language = Language::or_english(language);
    let acts = &language.acts;
    Reader::new(acts, &words_of(text, acts.elides, |word| language.is_abbreviation(word))).courtesies_beside(text)
}
