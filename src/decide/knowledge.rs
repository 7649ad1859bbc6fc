//! Everything that deciding needs to know about a module, compiled.

use std::sync::Arc;

use crate::{
    call::Validator,
    decide::{
        confidence::Calibrated, head::Head, phrasings::Phrasings, reader::SlotReader, spelling::Spelling,
        tagger::Tagger, templates::Templates, vocabulary::Vocabulary,
    },
    module::Module,
    recognize::Recognizers,
    retrieve::Index,
};

/// One version of a module, compiled for deciding. Immutable; a snapshot owns it.
#[derive(Debug)]
pub struct Knowledge {
    pub module: Module,
    pub recognizers: Recognizers,
    pub templates: Templates,
    pub validator: Validator,
    pub index: Index,
    /// What the module's own exemplars teach.
    pub head: Head,
    pub vocabulary: Vocabulary,
    /// How exemplars express negation.
    pub phrasings: Phrasings,
    /// The words that misspelt words are corrected to.
    pub spelling: Spelling,
    /// The reader that finds slots by their descriptions; `None` if the embedder has no reader.
    pub slots: Option<SlotReader>,
    /// What the exemplars of each function teach about its slots, if there are many exemplars.
    pub taggers: Vec<Option<Arc<Tagger>>>,
    /// The speech acts of each function's exemplars; `None` if they cannot be told.
    pub acts: Vec<Option<ShownActs>>,
    /// The score that the best function usually gets for sentences outside the module's business.
    pub usual_score: f32,
    /// How sure its answers are.
    pub calibration: Calibrated,
}

/// The speech acts of a function's exemplars.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ShownActs {
    /// The average probability that they ask about something, rather than for it.
    pub asks: f32,
    /// The highest log-odds that one of them is about something else. What is small talk for most modules is the
    /// business of some.
    pub other: f32,
    /// A hash of the sentences that these were measured on.
    pub said: u64,
}
