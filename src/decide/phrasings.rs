//! How the exemplars of a module are worded, as far as it helps to read a negation. Made once for each version of a
//! module, when it is first needed.

use std::{collections::BTreeSet, sync::OnceLock};

use rustc_hash::FxHashMap;

use crate::{
    language::{Language, words::Names},
    module::{Exemplar, Function, FunctionId, Module, OwnerMode, Slot, SlotId, TemplatePiece},
    recognize::{NegationKind, Recognizers},
    text::{Span, Utterance, fold, in_words},
};

/// The word that stands for the value of a slot in an exemplar.
const PLACEHOLDER: &str = "thing";
/// The fewest letters that two forms of one verb have in common. Shorter words say too little about what is asked for.
pub(super) const WORD: usize = 4;

/// See [the module](self).
#[derive(Debug)]
pub struct Phrasings {
    /// The phrasing of each function, by its index.
    functions: Vec<OnceLock<Phrasing>>,
    verbs: OnceLock<Verbs>,
}

/// How the exemplars of a function are worded.
#[derive(Debug, Default)]
pub(super) struct Phrasing {
    /// The words of its name, and those that exemplars begin with; folded.
    pub name: Vec<String>,
    pub openings: BTreeSet<String>,
    /// All words between the slots of exemplars, folded.
    pub words: BTreeSet<String>,
    /// The kinds of negations that they contain.
    pub kinds: Vec<NegationKind>,
    /// Kinds of negations that stand before a slot.
    pub before_slot: Vec<NegationKind>,
    /// Slots that exemplars name when they rule something out.
    pub said_for: Vec<SlotId>,
    /// The function makes something go away.
    pub makes_go: bool,
}

/// The functions that do what a word says, by the words that begin their names and exemplars.
#[derive(Debug, Default)]
struct Verbs(FxHashMap<String, FxHashMap<String, BTreeSet<FunctionId>>>);

impl Phrasings {
    pub(crate) fn new(module: &Module) -> Self {
        Self { functions: module.functions.iter().map(|_| OnceLock::new()).collect(), verbs: OnceLock::new() }
    }

    pub(super) fn of(&self, module: &Module, recognizers: &Recognizers, function: FunctionId) -> &Phrasing {
        self.functions[function.index()].get_or_init(|| Phrasing::of(module, recognizers, function))
    }

    /// True if one of the words says what another function does, and none says what this one does.
    pub(super) fn name_another(&self, module: &Module, function: FunctionId, words: &[String]) -> bool {
        let verbs = self.verbs.get_or_init(|| Verbs::of(module));
        let mut named = words.iter().flat_map(|word| verbs.functions(word)).peekable();
        named.peek().is_some() && named.all(|functions| !functions.contains(&function))
    }
}

impl Phrasing {
    fn of(module: &Module, recognizers: &Recognizers, id: FunctionId) -> Self {
        let (function, language) = (module.function(id), module.language());
        let mut phrasing = Self {
            name: words_of(&in_words(&function.name)),
            makes_go: makes_go(function, language),
            ..Self::default()
        };
        // How often each slot is named where it is ruled out, and how often it occurs at all.
        let mut slots = vec![(0_usize, 0_usize); function.slots.len()];
        for exemplar in shown(function) {
            phrasing.add(recognizers, exemplar, &mut slots);
        }
        let is_said_for = |id: &SlotId| {
            let (ruled_out, all) = slots[id.index()];
            (ruled_out > 0 && 2 * ruled_out >= all) || is_for_what_is_left_out(function.slot(*id), language)
        };
        phrasing.said_for = function.slot_ids().filter(is_said_for).collect();
        phrasing
    }

    fn add(&mut self, recognizers: &Recognizers, exemplar: &Exemplar, slots: &mut [(usize, usize)]) {
        let (mut text, mut places) = (String::new(), Vec::new());
        let mut length = 0;
        for piece in &exemplar.pieces {
            match piece {
                TemplatePiece::Text(literal) => {
                    text.push_str(literal);
                    length += literal.chars().count();
                    self.words.extend(words_of(literal));
                }
                TemplatePiece::Slot { slot, .. } => {
                    text.push_str(PLACEHOLDER);
                    places.push((Span::new(length, length + PLACEHOLDER.len()), *slot));
                    length += PLACEHOLDER.len();
                }
            }
        }
        self.openings.extend(words_of(&text).into_iter().next());
        let negations = recognizers.negations(&Utterance::new(&text), &[]);
        for (place, slot) in &places {
            let Some((ruled_out, all)) = slot.and_then(|slot| slots.get_mut(slot.index())) else { continue };
            *all += 1;
            *ruled_out += usize::from(negations.iter().any(|negation| negation.scope.overlaps(*place)));
        }
        for negation in &negations {
            add_once(&mut self.kinds, negation.kind);
            if places.iter().any(|(place, _)| negation.cue.end <= place.start) {
                add_once(&mut self.before_slot, negation.kind);
            }
        }
    }
}

impl Verbs {
    fn of(module: &Module) -> Self {
        let mut verbs = Self::default();
        for id in module.function_ids() {
            let function = module.function(id);
            let openings = shown(function).filter_map(|exemplar| match exemplar.pieces.first() {
                Some(TemplatePiece::Text(text)) => words_of(text).into_iter().next(),
                _ => None,
            });
            for word in words_of(&in_words(&function.name)).into_iter().take(1).chain(openings) {
                if let Some(beginning) = beginning(&word) {
                    verbs.0.entry(beginning).or_default().entry(word).or_default().insert(id);
                }
            }
        }
        verbs
    }

    /// The functions of each verb that the word is a form of.
    fn functions<'a>(&'a self, word: &'a str) -> impl Iterator<Item = &'a BTreeSet<FunctionId>> {
        let alike = beginning(word).and_then(|beginning| self.0.get(&beginning)).into_iter().flatten();
        alike.filter(|(verb, _)| begin_alike(word, verb)).map(|(_, functions)| functions)
    }
}

fn shown(function: &Function) -> impl Iterator<Item = &Exemplar> {
    function.exemplars.iter().filter(|exemplar| exemplar.mode != OwnerMode::Negative)
}

fn add_once(kinds: &mut Vec<NegationKind>, kind: NegationKind) {
    if !kinds.contains(&kind) {
        kinds.push(kind);
    }
}

/// The letters that all forms of a verb share; `None` for a word that is too short.
fn beginning(word: &str) -> Option<String> {
    let beginning: String = word.chars().take(WORD).collect();
    (beginning.chars().count() == WORD).then_some(beginning)
}

/// True of two forms of one verb: "annulez" and "annuler".
fn begin_alike(one: &str, other: &str) -> bool {
    let common = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let longest = one.chars().count().max(other.chars().count());
    common >= WORD && 3 * common >= 2 * longest
}

fn makes_go(function: &Function, language: &str) -> bool {
    let is_said = |names: &Names, word: &str| names.going_beginnings.iter().any(|start| word.starts_with(start));
    let words = words_of(&in_words(&function.name));
    names(language).any(|names| words.iter().any(|word| is_said(names, word)))
}

fn is_for_what_is_left_out(slot: &Slot, language: &str) -> bool {
    let words = words_of(&in_words(slot.label()));
    let description = fold(&slot.description);
    names(language).any(|names| {
        let is_said = |word: &String| {
            names.left_out.contains(word) || names.left_out_beginnings.iter().any(|start| word.starts_with(start))
        };
        words.iter().any(is_said) || names.left_out_in_descriptions.iter().any(|said| description.contains(said))
    })
}

/// Function names are written in English or in the module's language.
fn names(language: &str) -> impl Iterator<Item = &'static Names> {
    let own = Language::of(language).filter(|own| own.code != Language::english().code);
    [Some(Language::english()), own].into_iter().flatten().map(|language| &language.words.names)
}

pub(super) fn words_of(text: &str) -> Vec<String> {
    let folded = fold(text);
    folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
