//! What a model server is told about a turn.

use std::{ops::Deref, sync::OnceLock};

use crate::{
    assist::history::PromptMessage,
    decide::situation::Situation,
    module::{
        FunctionId,
        settings::{Detect, Fill},
    },
    snapshot::Snapshot,
};

/// A [`Situation`], and what only a model server needs besides.
pub(crate) struct Brief<'a> {
    pub situation: Situation<'a>,
    pub snapshot: &'a Snapshot,
    /// What was said before the utterance, oldest first.
    pub before: &'a [PromptMessage],
    /// Instructions of the module and of the client.
    pub instructions: Option<String>,
    pub extent: Extent,
    /// True if every word of the utterance is accounted for; computed once, when first needed (`schema::labels`).
    pub is_explained: OnceLock<bool>,
}

/// How much a model server is shown, and how much it is asked at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Greatest number of functions.
    pub candidates: usize,
    /// Greatest number of exemplars.
    pub shots: usize,
    pub detect: Detect,
    pub fill: Fill,
}

impl<'a> Deref for Brief<'a> {
    type Target = Situation<'a>;

    fn deref(&self) -> &Self::Target {
        &self.situation
    }
}

impl Brief<'_> {
    /// The functions that a model server is shown. They stand in the order of the schema, not of their scores: the same
    /// few candidates then give the same bytes, which servers that cache prompts need.
    pub(crate) fn shown(&self) -> Vec<FunctionId> {
        let found = self.found();
        let mut shown: Vec<FunctionId> =
            found.iter().take(self.extent.candidates).map(|candidate| candidate.function).collect();
        // A function that only one part of the utterance asks for must not be crowded out.
        for best in self.parts().iter().filter_map(|part| part.candidates.first()) {
            if !shown.contains(&best.function) {
                shown.push(best.function);
            }
        }
        shown.sort_unstable();
        shown
    }
}
