//! Everything that deciding needs to know of a module, compiled.

use crate::{
    call::Validator,
    decide::{align::Aligner, head::Head, reader::SlotReader, vocabulary::Vocabulary},
    module::Module,
    recognize::Recognizers,
    retrieve::Index,
};

/// One version of a module, compiled for deciding. Immutable; a snapshot owns it.
#[derive(Debug)]
pub struct Knowledge {
    pub module: Module,
    pub recognizers: Recognizers,
    pub aligner: Aligner,
    pub validator: Validator,
    pub index: Index,
    /// What the module's own exemplars teach.
    pub head: Head,
    pub vocabulary: Vocabulary,
    /// What finds slots by their descriptions; `None` where the embedder has no reader.
    pub slots: Option<SlotReader>,
    /// How likely the exemplars of each function ask about something, rather than for it; `None` where nothing tells.
    pub asks: Vec<Option<f32>>,
    /// The score that the best function usually gets for what is none of the module's business.
    pub usual_score: f32,
}
