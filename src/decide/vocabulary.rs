//! Which words a function accounts for, and how much a word means in a module.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    module::{Exemplar, Function, FunctionId, Module, OwnerMode, Slot, TemplatePiece},
    recognize::acts::{self, Courtesy},
    text::{Utterance, fold, in_words},
};

/// The words of a module, folded. Immutable.
#[derive(Debug, Default)]
pub struct Vocabulary {
    /// The words of each function, by its index.
    functions: Vec<FxHashSet<String>>,
    /// By function and word: the share of its exemplars that have the word outside their slots.
    literals: Vec<FxHashMap<String, f32>>,
    /// The weight of a word, by the share of functions that have it.
    rarity: FxHashMap<String, f32>,
    /// The courtesies among exemplars and functions' names: the module has functions for them.
    courtesies: BTreeSet<Courtesy>,
}

impl Vocabulary {
    /// `common` are sentences about anything: a word that occurs in many of them means little anywhere.
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^24 functions")]
    pub(crate) fn new<'t>(module: &Module, common: impl Iterator<Item = &'t str>) -> Self {
        let functions: Vec<FxHashSet<String>> = module.functions.iter().map(words).collect();
        let mut counts: FxHashMap<String, usize> = FxHashMap::default();
        let mut all = functions.len();
        for word in functions.iter().flatten() {
            *counts.entry(word.clone()).or_default() += 1;
        }
        for sentence in common {
            all += 1;
            for word in words_of(sentence).into_iter().collect::<FxHashSet<String>>() {
                *counts.entry(word).or_default() += 1;
            }
        }
        let of_all = |count: usize| ((1 + all) as f32 / (1 + count) as f32).ln() / ((1 + all) as f32).ln().max(1.0);
        let literals = module.functions.iter().map(literal_shares).collect();
        let rarity = counts.into_iter().map(|(word, count)| (word, of_all(count))).collect();
        Self { functions, literals, rarity, courtesies: courtesies(module) }
    }

    /// True if a function of the module is for such a courtesy: "talk to a human" is one of its exemplars.
    #[must_use]
    pub fn teaches(&self, courtesy: Courtesy) -> bool {
        self.courtesies.contains(&courtesy)
    }

    /// How much a folded word means, 0 to 1: a word that does not occur in the module means most.
    #[must_use]
    pub fn weight(&self, word: &str) -> f32 {
        self.rarity.get(word).copied().unwrap_or(1.0)
    }

    /// Whether a folded word is known at all.
    #[must_use]
    pub fn knows(&self, word: &str) -> bool {
        self.rarity.contains_key(word)
    }

    /// The share of the function's exemplars that have a folded word outside their slots.
    #[must_use]
    pub fn literal(&self, function: FunctionId, word: &str) -> f32 {
        self.literals.get(function.index()).and_then(|words| words.get(word)).copied().unwrap_or_default()
    }

    /// Whether a folded word is one of the function's.
    #[must_use]
    pub fn has(&self, function: FunctionId, word: &str) -> bool {
        self.functions.get(function.index()).is_some_and(|words| words.contains(word))
    }
}

/// The exemplars that mean the function wherever they are said.
fn shown(function: &Function) -> impl Iterator<Item = &Exemplar> {
    let speaks = |exemplar: &&Exemplar| exemplar.context_frame.is_none() && exemplar.context_slot.is_none();
    function.exemplars.iter().filter(|exemplar| exemplar.mode != OwnerMode::Negative).filter(speaks)
}

/// The text of an exemplar outside its slots.
fn literals(exemplar: &Exemplar) -> impl Iterator<Item = &str> {
    exemplar.pieces.iter().filter_map(|piece| match piece {
        TemplatePiece::Text(text) => Some(text.as_str()),
        TemplatePiece::Slot { .. } => None,
    })
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^24 exemplars")]
fn literal_shares(function: &Function) -> FxHashMap<String, f32> {
    let mut shares: FxHashMap<String, f32> = FxHashMap::default();
    let part = 1.0 / shown(function).count().max(1) as f32;
    for exemplar in shown(function) {
        for word in literals(exemplar).flat_map(words_of).collect::<FxHashSet<String>>() {
            *shares.entry(word).or_default() += part;
        }
    }
    shares
}

/// The courtesies that exemplars without slots, and functions' names, stand for.
fn courtesies(module: &Module) -> BTreeSet<Courtesy> {
    let whole = |exemplar: &Exemplar| match &exemplar.pieces[..] {
        [TemplatePiece::Text(text)] => Some(text.clone()),
        _ => None,
    };
    let exemplars = module.functions.iter().flat_map(shown).filter_map(whole);
    let names = module.functions.iter().map(|function| in_words(&function.name));
    exemplars.chain(names).filter_map(|text| acts::courtesy(module.language(), &text)).collect()
}

/// The words of the function's exemplars, of its name and description, and of its slots' names.
fn words(function: &Function) -> FxHashSet<String> {
    texts(function).flat_map(|text| words_of(&text)).collect()
}

/// The function's exemplars without their slots, its name and description, and its slots' names.
pub(crate) fn texts(function: &Function) -> impl Iterator<Item = String> {
    let names = std::iter::once(function.name.as_str()).chain(function.slots.iter().map(Slot::label)).map(in_words);
    let literals = shown(function).flat_map(literals).map(str::to_owned);
    literals.chain(names).chain(std::iter::once(function.description.clone()))
}

/// The words of the function's exemplars and of its slots' names.
pub(crate) fn own_words(module: &Module, function: FunctionId) -> Vec<String> {
    let definition = module.function(function);
    let literals = definition.exemplars.iter().flat_map(|exemplar| &exemplar.pieces).filter_map(|piece| match piece {
        TemplatePiece::Text(text) => Some(text.as_str()),
        TemplatePiece::Slot { .. } => None,
    });
    let names = definition.slots.iter().map(Slot::label);
    literals.chain(names).flat_map(words_of).collect()
}

/// True of words that stand side by side in a template of the module.
pub(crate) fn says(module: &Module, words: &str) -> bool {
    let words = words_of(words);
    let mut literals = module.functions.iter().flat_map(shown).flat_map(literals);
    !words.is_empty() && literals.any(|text| words_of(text).windows(words.len()).any(|said| said == words.as_slice()))
}

/// The words of a text or of a name, folded.
pub(crate) fn words_of(text: &str) -> Vec<String> {
    let text = Utterance::new(&fold(text).replace(['_', '-'], " "));
    text.words().iter().map(|word| text.slice(*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::{Limits, ModuleName, load};

    #[test]
    fn words_belong_to_functions_and_common_ones_mean_less() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        write(
            "schema.json",
            r#"[{"name": "cancel_order", "description": "Cancel an order"},
                {"name": "track", "description": "Where an order is"}]"#,
        );
        write("exemplars.json", r#"{"cancel_order": ["scrap it"], "track": ["any news"]}"#);
        let module = load(directory.path(), ModuleName::new("shop").unwrap(), &Limits::default()).unwrap();
        let vocabulary = Vocabulary::new(&module, ["it rains", "is it late"].into_iter());
        let [cancel, track] = [0, 1].map(FunctionId::from_index);
        assert!(vocabulary.has(cancel, "scrap") && !vocabulary.has(track, "scrap"));
        assert!(vocabulary.has(cancel, "order") && vocabulary.has(track, "order"));
        assert!(vocabulary.weight("scrap") > vocabulary.weight("order"));
        assert!(vocabulary.weight("telly") >= vocabulary.weight("scrap"));
        assert_eq!([vocabulary.literal(cancel, "scrap"), vocabulary.literal(cancel, "order")], [1.0, 0.0]);
        assert!(vocabulary.knows("late") && !vocabulary.knows("telly"));
    }
}
