//! What a head learns from: each function's exemplars as they are said, and its name with its description.

use crate::{
    exemplars::Sentences,
    module::{Exemplar, ExemplarId, Function, FunctionId, Module, OwnerMode},
    text::in_words,
};

/// A sentence that means a function, or an example of what does not mean it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TrainingSentence {
    /// `None`: it means no function of the module.
    pub(crate) function: Option<FunctionId>,
    /// The exemplar that it was made from; `None` for a description.
    pub(crate) exemplar: Option<(FunctionId, ExemplarId)>,
    pub(crate) text: String,
}

/// Every sentence of a module, in its order. None if the module has no exemplars: retrieval finds descriptions just as
/// well without a head.
pub(crate) fn sentences(module: &Module, said: &Sentences) -> Vec<TrainingSentence> {
    if module.functions.iter().all(|function| function.exemplars.is_empty()) {
        return Vec::new();
    }
    let mut sentences = Vec::new();
    for id in module.function_ids() {
        let function = module.function(id);
        sentences.push(TrainingSentence { function: Some(id), exemplar: None, text: described(function) });
        // An exemplar that counts only in a context says nothing without a question.
        let speaks = |exemplar: &Exemplar| exemplar.context_frame.is_none() && exemplar.context_slot.is_none();
        for (index, exemplar) in function.exemplars.iter().enumerate().filter(|(_, exemplar)| speaks(exemplar)) {
            let of = (exemplar.mode != OwnerMode::Negative).then_some(id);
            let from = ExemplarId::from_index(index);
            let texts = said.of(id, from).iter().map(|one| one.sentence.text.clone());
            sentences.extend(texts.map(|text| TrainingSentence { function: of, exemplar: Some((id, from)), text }));
        }
    }
    sentences
}

fn described(function: &Function) -> String {
    let (name, description) = (in_words(&function.name), function.description.trim());
    if description.is_empty() { name } else { format!("{name}: {description}") }
}
