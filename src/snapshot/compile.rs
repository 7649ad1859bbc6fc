//! The steps from a module's files to what a snapshot holds.

use std::{collections::BTreeMap, path::Path};

use super::{PrepareError, Snapshot, interrupted};
use crate::{
    call::Validator,
    decide::{
        head::{Example, Head, Sentence},
        knowledge::ShownActs,
        templates::Templates,
    },
    embed::SpeechActs,
    module::{self, Function, Limits, LoadError, Module, ModuleName},
    recognize::Recognizers,
    retrieve::Background,
};

pub(super) struct Parts {
    pub(super) module: Module,
    pub(super) recognizers: Recognizers,
    pub(super) templates: Templates,
    pub(super) validator: Validator,
}

/// The head of a module, from its sentences with their vectors and from sentences about other things.
pub(super) fn learn(
    module: &Module,
    (sentences, vectors): (&[Sentence], &[Vec<f32>]),
    background: &Background,
    before: Option<&Snapshot>,
) -> Head {
    if sentences.is_empty() {
        return Head::fit(&[], module.functions.len(), module.language(), None);
    }
    let nothing = |text: &str| Sentence { function: None, exemplar: None, text: text.to_owned() };
    let others: Vec<(Sentence, &[f32])> =
        background.sentences().map(|(text, vector)| (nothing(text), vector)).collect();
    let own = sentences.iter().zip(vectors).map(|(sentence, vector)| Example { sentence, vector });
    let others = others.iter().map(|(sentence, vector)| Example { sentence, vector });
    let examples: Vec<Example<'_>> = own.chain(others).collect();
    let names = |module: &Module| module.functions.iter().map(|function| function.name.clone()).collect::<Vec<_>>();
    let start = before.filter(|before| names(&before.module) == names(module)).map(|before| &before.head);
    Head::fit(&examples, module.functions.len(), module.language(), start)
}

/// See [`Knowledge::acts`](crate::decide::knowledge::Knowledge::acts).
pub(super) fn acts(
    module: &Module,
    (sentences, vectors): (&[Sentence], &[Vec<f32>]),
    acts: Option<&SpeechActs>,
) -> Vec<Option<ShownActs>> {
    let none = ShownActs { asks: 0.0, other: f32::NEG_INFINITY };
    let mut sums = vec![(none, 0.0_f32); module.functions.len()];
    for (sentence, vector) in sentences.iter().zip(vectors).filter(|(sentence, _)| sentence.exemplar.is_some()) {
        if let (Some(acts), Some(function)) = (acts, sentence.function) {
            let (sum, count) = &mut sums[function.index()];
            let odds = acts.odds(&sentence.text, vector);
            sum.asks += odds.asks();
            sum.other = sum.other.max(odds.other);
            *count += 1.0;
        }
    }
    let shown = |(sum, count): (ShownActs, f32)| (count > 0.0).then(|| ShownActs { asks: sum.asks / count, ..sum });
    sums.into_iter().map(shown).collect()
}

pub(super) fn load(directory: &Path, name: &ModuleName, limits: &Limits) -> Result<Module, PrepareError> {
    module::load(directory, name.clone(), limits).map_err(|error| match error {
        LoadError::Refused(diagnostics) => PrepareError::Refused { name: name.clone(), diagnostics },
        source @ LoadError::Io { .. } => PrepareError::Load { name: name.clone(), source },
    })
}

/// `wanted` is asked between the steps: what nobody waits for any more is given up.
pub(super) fn compile(module: Module, wanted: &dyn Fn() -> bool) -> Result<Parts, PrepareError> {
    let uncompilable = |reason: String| PrepareError::Compile { name: module.name.clone(), reason };
    let recognizers = Recognizers::compile(&module).map_err(|error| uncompilable(error.to_string()))?;
    let still = || if wanted() { Ok(()) } else { Err(interrupted(&module.name)) };
    still()?;
    let validator = Validator::compile(&module).map_err(|error| uncompilable(error.to_string()))?;
    still()?;
    let templates = Templates::compile(&module);
    Ok(Parts { module, recognizers, templates, validator })
}

/// Names of the functions that came, went, and changed.
pub(super) fn differences(before: Option<&Module>, after: &Module) -> (Vec<String>, Vec<String>, Vec<String>) {
    let by_name = |module: &Module| -> BTreeMap<String, String> {
        let content = |function: &Function| format!("{function:?}");
        module.functions.iter().map(|function| (function.name.clone(), content(function))).collect()
    };
    let before = before.map(by_name).unwrap_or_default();
    let after = by_name(after);
    let added = after.keys().filter(|name| !before.contains_key(*name)).cloned().collect();
    let removed = before.keys().filter(|name| !after.contains_key(*name)).cloned().collect();
    let changed = after
        .iter()
        .filter(|(name, content)| before.get(*name).is_some_and(|old| old != *content))
        .map(|(name, _)| name.clone())
        .collect();
    (added, removed, changed)
}
