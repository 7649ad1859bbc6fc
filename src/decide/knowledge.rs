//! Everything that deciding needs to know of a module, compiled.

use crate::{
    call::Validator,
    decide::{align::Aligner, reader::SlotReader},
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
    /// What finds slots by their descriptions; `None` where the embedder has no reader.
    pub slots: Option<SlotReader>,
    /// The score that the best function usually gets for what is none of the module's business.
    pub usual_score: f32,
}
