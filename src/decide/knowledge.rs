//! Everything that deciding needs to know of a module, compiled.

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
    /// How exemplars rule things out.
    pub phrasings: Phrasings,
    /// What tells misspelt words.
    pub spelling: Spelling,
    /// What finds slots by their descriptions; `None` where the embedder has no reader.
    pub slots: Option<SlotReader>,
    /// What the exemplars of each function teach of its slots, where they are many.
    pub taggers: Vec<Option<Arc<Tagger>>>,
    /// What the exemplars of each function do; `None` where nothing tells.
    pub acts: Vec<Option<ShownActs>>,
    /// The score that the best function usually gets for what is none of the module's business.
    pub usual_score: f32,
    /// How sure its answers are.
    pub calibration: Calibrated,
}

/// What the exemplars of a function do.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ShownActs {
    /// The probability that they ask about something, rather than for it, on average.
    pub asks: f32,
    /// The highest log-odds that one is about something else: what most modules take for small talk is the business of
    /// one.
    pub other: f32,
    /// Stands for the sentences that it was found in.
    pub said: u64,
}
