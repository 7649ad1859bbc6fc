//! The templates of a module's functions, compiled: which utterances match one word for word (`said`), and which words
//! stand where the templates have a slot (`frames`).

mod compiled;
mod frames;
mod said;
mod template;
#[cfg(test)]
mod tests;
pub(crate) mod words;

use crate::{
    decide::filling::Anchor,
    exemplars::shown,
    language::Language,
    module::{FunctionId, Module},
    text::Utterance,
};

use compiled::Compiled;
pub(crate) use frames::FramedUtterance;
#[cfg(test)]
use frames::Framing;
pub(crate) use said::TemplateMatch;

/// The templates of every function. Immutable; made with a snapshot.
#[derive(Debug)]
pub struct Templates {
    functions: Vec<Compiled>,
    /// The code of the language, as the module gives it.
    code: String,
    language: &'static Language,
}

impl Templates {
    /// Reads the exemplars of every function.
    #[must_use]
    pub fn compile(module: &Module) -> Self {
        let values = shown(module);
        let functions = module.functions.iter().map(|function| Compiled::new(module, function, &values)).collect();
        Self { functions, code: module.language().to_owned(), language: Language::or_english(module.language()) }
    }

    /// How the utterance matches a template of the function word for word, if it does.
    pub(crate) fn said(
        &self,
        function: FunctionId,
        utterance: &Utterance,
        anchors: &[Anchor],
    ) -> Option<TemplateMatch> {
        said::said(self, &self.functions[function.index()], utterance, anchors)
    }

    /// How the words of the utterance fit the places of the function's slots.
    pub(crate) fn framed<'a>(
        &'a self,
        function: FunctionId,
        utterance: &'a Utterance,
        anchors: &[Anchor],
    ) -> FramedUtterance<'a> {
        FramedUtterance::new(&self.functions[function.index()].frames, utterance, self.language, anchors)
    }
}
