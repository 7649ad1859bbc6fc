//! The steps from a module's files to the content of a snapshot.

use std::{
    collections::{BTreeMap, HashMap},
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    path::Path,
    sync::Arc,
};

use super::{PrepareError, Snapshot, stopped};
use crate::{
    call::Validator,
    decide::{
        head::{Example, Head, TrainingSentence, Work},
        knowledge::ShownActs,
        tagger::Tagger,
        templates::Templates,
    },
    embed::SpeechActs,
    exemplars::Sentences,
    module::{self, ExemplarId, Function, FunctionId, Limits, LoadError, Module, ModuleName, OwnerMode},
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
    (sentences, vectors): (&[TrainingSentence], &[Vec<f32>]),
    background: &Background,
    before: Option<&Snapshot>,
) -> Head {
    let nothing = |text: &str| TrainingSentence { function: None, exemplar: None, text: text.to_owned() };
    let others: Vec<(TrainingSentence, &[f32])> = if sentences.is_empty() {
        Vec::new()
    } else {
        background.sentences().map(|(text, vector)| (nothing(text), vector)).collect()
    };
    let own = sentences.iter().zip(vectors).map(|(sentence, vector)| Example { sentence, vector });
    let others = others.iter().map(|(sentence, vector)| Example { sentence, vector });
    let examples: Vec<Example<'_>> = own.chain(others).collect();
    let functions: Vec<&str> = module.functions.iter().map(|function| function.name.as_str()).collect();
    let head = Head::fit(&examples, &functions, module.language(), before.map(|before| &before.head));
    let Work { goes_on, visited, solved } = head.work();
    tracing::debug!(module = %module.name, sentences = examples.len(), goes_on, visited, solved, "a head is fitted");
    head
}

/// See [`Knowledge::acts`](crate::decide::knowledge::Knowledge::acts). A function with the same sentences as `before`
/// is not looked at again.
pub(super) fn acts(
    module: &Module,
    (sentences, vectors): (&[TrainingSentence], &[Vec<f32>]),
    acts: Option<&SpeechActs>,
    before: Option<&Snapshot>,
) -> Vec<Option<ShownActs>> {
    let mut said: Vec<Vec<(&str, &[f32])>> = vec![Vec::new(); module.functions.len()];
    for (sentence, vector) in sentences.iter().zip(vectors).filter(|(sentence, _)| sentence.exemplar.is_some()) {
        if let Some(function) = sentence.function {
            said[function.index()].push((&sentence.text, vector));
        }
    }
    let known: HashMap<u64, ShownActs> =
        before.into_iter().flat_map(|before| &before.acts).flatten().map(|shown| (shown.said, *shown)).collect();
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let shown = |said: Vec<(&str, &[f32])>| {
        let texts: Vec<&str> = said.iter().map(|(text, _)| *text).collect();
        let hash = hasher.hash_one(texts);
        known.get(&hash).copied().or_else(|| shown_acts(&said, hash, acts?))
    };
    said.into_iter().map(shown).collect()
}

/// The tagger of each function that has enough exemplars. A function keeps its name from version to version.
pub(super) fn taggers(module: &Module, said: &Sentences, before: Option<&Snapshot>) -> Vec<Option<Arc<Tagger>>> {
    let of = |id: FunctionId| {
        let function = module.function(id);
        let known = before.and_then(|before| {
            let old = before.module.function_named(&function.name)?;
            before.taggers.get(old.index())?.as_ref()
        });
        let exemplars = function.exemplars.iter().enumerate();
        let positive = exemplars.filter(|(_, exemplar)| exemplar.mode != OwnerMode::Negative);
        let first = positive.filter_map(|(index, _)| said.of(id, ExemplarId::from_index(index)).first());
        let marked = first.filter(|one| one.is_marked).map(|one| &one.sentence);
        Tagger::fit(function.slots.len(), marked, known)
    };
    module.function_ids().map(of).collect()
}

fn shown_acts(said: &[(&str, &[f32])], hash: u64, acts: &SpeechActs) -> Option<ShownActs> {
    let (mut shown, mut count) = (ShownActs { asks: 0.0, other: f32::NEG_INFINITY, said: hash }, 0.0);
    for (text, vector) in said {
        let odds = acts.odds(text, vector);
        shown.asks += odds.asks();
        shown.other = shown.other.max(odds.other);
        count += 1.0;
    }
    shown.asks /= count;
    (count > 0.0).then_some(shown)
}

pub(super) fn load(directory: &Path, name: &ModuleName, limits: &Limits) -> Result<Module, PrepareError> {
    module::load(directory, name.clone(), limits).map_err(|error| match error {
        LoadError::Refused(diagnostics) => PrepareError::Refused { name: name.clone(), diagnostics },
        source @ LoadError::Io { .. } => PrepareError::Load { name: name.clone(), source },
    })
}

/// `wanted` is called between the steps: work whose result is no longer wanted is given up.
pub(super) fn compile(module: Module, wanted: &dyn Fn() -> bool) -> Result<Parts, PrepareError> {
    let uncompilable = |reason: String| PrepareError::Compile { name: module.name.clone(), reason };

    let recognizers = Recognizers::compile(&module).map_err(|error| uncompilable(error.to_string()))?;
    let still = || if wanted() { Ok(()) } else { Err(stopped(&module.name)) };
    still()?;
    let validator = Validator::compile(&module).map_err(|error| uncompilable(error.to_string()))?;
    still()?;
    let templates = Templates::compile(&module);
    Ok(Parts { module, recognizers, templates, validator })
}

/// Names of the functions that were added, removed and changed.
pub(super) fn differences(before: Option<&Module>, after: &Module) -> (Vec<String>, Vec<String>, Vec<String>) {
    fn by_name(module: &Module) -> BTreeMap<&str, &Function> {
        module.functions.iter().map(|function| (function.name.as_str(), function)).collect()
    }
    let before = before.map(by_name).unwrap_or_default();
    let after = by_name(after);
    let names = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    let added = after.keys().filter(|name| !before.contains_key(*name)).copied().collect();
    let removed = before.keys().filter(|name| !after.contains_key(*name)).copied().collect();
    let is_other = |name: &str, function: &Function| before.get(name).is_some_and(|old| *old != function);
    let changed = after.iter().filter(|(name, function)| is_other(name, function)).map(|(name, _)| *name).collect();
    (names(added), names(removed), names(changed))
}
