//! Counts of words and slots in the exemplars of a module.

use std::collections::{HashMap, HashSet};

use rustc_hash::FxHashMap;

use crate::{
    decide::align::{
        Anchor, Filling,
        template::Templates,
        words::{Shape, is_carrier},
    },
    language::{Language, facts::is_unspaced_language},
    module::{
        Exemplar, Function, FunctionId, Module, OwnerMode, Piece, RecognizerKind, Slot, SlotId, SlotKind, squeeze,
    },
    text::{Span, Utterance, fold, name_words},
};

/// A word of the module's vocabulary, or a slot, or an end of the sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Symbol {
    Start,
    End,
    /// A word that no exemplar has.
    Unknown,
    Word(u32),
    Slot(SlotId),
}

/// One word of an utterance.
#[derive(Debug)]
pub(crate) struct Token {
    pub symbol: Symbol,
    pub shape: Shape,
    /// An English function word, or a Japanese particle.
    pub carrier: bool,
    pub folded: String,
}

/// Weights of the model, in pseudo-counts and probabilities.
mod weight {
    /// Of the back-off from bigrams to unigrams, per kind of successor seen.
    pub(crate) const BACKOFF: f32 = 0.5;
    /// Of the module's words in a function's unigrams.
    pub(crate) const MODULE: f32 = 40.0;
    /// Of a plain word that the function lacks: a function word, any other, and of an unused slot.
    pub(crate) const CARRIER: f32 = 0.05;
    pub(crate) const OTHER: f32 = 0.5;
    pub(crate) const SLOT: f32 = 0.15;
    /// Mass held back for words never seen.
    pub(crate) const UNSEEN: f32 = 100.0;
    /// Of the prior against the counts: lengths, words and shapes of a slot's values.
    pub(crate) const LENGTH: f32 = 10.0;
    pub(crate) const VALUE: f32 = 10.0;
    pub(crate) const SHAPE: f32 = 10.0;
    /// Share of each shape in values of which nothing is known: names and numbers are likelier there than in sentences.
    pub(crate) const EACH_SHAPE: f32 = 0.25;
    /// Probability of one particular word in a free value, before its shape speaks; numbers are fewer, so likelier.
    pub(crate) const OPEN: f32 = 0.01;
    pub(crate) const OPEN_NUMBER: f32 = 0.05;
    /// For a word in a value that exemplars use as a plain word.
    pub(crate) const PLAIN_IN_VALUE: f32 = 0.1;
    /// For a function word at either end of a free value.
    pub(crate) const CARRIER_AT_EDGE: f32 = 0.3;
    /// For a free value of a slot whose list does not have it.
    pub(crate) const OFF_LIST: f32 = 0.1;
    /// Of a value from another function's slot of the same name.
    pub(crate) const SHARED: f32 = 0.5;
}

/// Nats by which a certain mention outweighs reading its words as plain words.
const ANCHOR: f32 = 8.5;
/// Nats for a word of the slot's own name right beside the mention.
const NAMED: f32 = 2.5;
/// Words of a free value at most, of which most are characters in languages without spaces.
const LONGEST_VALUE: usize = 10;
const LONGEST_UNSPACED_VALUE: usize = 24;
/// Words of a value of which nothing is known.
const USUAL_LENGTH: f32 = 2.0;
const USUAL_UNSPACED_LENGTH: f32 = 4.0;

/// See [the module](super).
#[derive(Debug)]
pub struct Aligner {
    vocabulary: HashMap<Box<str>, u32>,
    /// How many exemplars have each word of the vocabulary.
    module_counts: Vec<f32>,
    module_total: f32,
    models: Vec<Model>,
    pub(super) templates: Vec<Templates>,
    pub(super) language: &'static Language,
    /// The module's language puts no spaces between words.
    is_unspaced: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Model {
    unigrams: FxHashMap<Symbol, f32>,
    total: f32,
    bigrams: FxHashMap<(Symbol, Symbol), f32>,
    /// Per first symbol: how often it was seen, and before how many different ones.
    contexts: FxHashMap<Symbol, (f32, f32)>,
    pub(crate) slots: Vec<SlotModel>,
}

/// How a slot is filled in the exemplars.
#[derive(Debug)]
pub(crate) struct SlotModel {
    /// May be any words, not only what a recognizer finds.
    pub open: bool,
    /// It takes a number, or a yes or no, which many a longer text has in it.
    pub is_common: bool,
    off_list: bool,
    pub repeated: bool,
    words: HashMap<Box<str>, f32>,
    word_total: f32,
    /// Whole values, folded.
    values: HashSet<String>,
    lengths: Vec<usize>,
    /// By number of words less one: [`Self::length`], and whether a value so long was shown at all.
    length_fits: [f32; LONGEST_UNSPACED_VALUE],
    lengths_shown: [bool; LONGEST_UNSPACED_VALUE],
    shapes: [f32; Shape::COUNT],
    shape_total: f32,
    /// Folded words of the slot's name, and of its description.
    name_words: HashSet<String>,
    description_words: HashSet<String>,
}

pub(crate) fn compile(module: &Module) -> Aligner {
    let language = module.settings.language.as_deref().unwrap_or("en");
    let mut aligner = Aligner {
        vocabulary: HashMap::new(),
        module_counts: Vec::new(),
        module_total: 0.0,
        models: Vec::new(),
        templates: module.functions.iter().map(Templates::new).collect(),
        language: Language::or_english(language),
        is_unspaced: is_unspaced_language(language),
    };
    for function in &module.functions {
        for exemplar in positive(function) {
            let distinct: HashSet<String> = literal_words(exemplar).collect();
            for word in distinct {
                let next = u32::try_from(aligner.vocabulary.len()).expect("a vocabulary is far smaller than 2^32");
                let id = *aligner.vocabulary.entry(word.into_boxed_str()).or_insert(next);
                if id == next {
                    aligner.module_counts.push(0.0);
                }
                aligner.module_counts[id as usize] += 1.0;
                aligner.module_total += 1.0;
            }
        }
    }
    let values = values_by_label(module);
    aligner.models = (0..module.functions.len()).map(|own| aligner.count(module, own, &values)).collect();
    aligner
}

fn positive(function: &Function) -> impl Iterator<Item = &Exemplar> {
    function.exemplars.iter().filter(|exemplar| exemplar.mode != OwnerMode::Negative)
}

fn words_of(text: &str) -> impl Iterator<Item = String> {
    let utterance = Utterance::new(text);
    let words: Vec<String> = utterance.words().iter().map(|word| fold(utterance.slice(*word))).collect();
    words.into_iter()
}

fn literal_words(exemplar: &Exemplar) -> impl Iterator<Item = String> + '_ {
    exemplar.pieces.iter().flat_map(|piece| match piece {
        Piece::Text(text) => words_of(text).collect::<Vec<_>>(),
        Piece::Slot { .. } => Vec::new(),
    })
}

/// The values that exemplars show, by the function they are from and the slot's squeezed label, as written.
type Values = HashMap<String, Vec<(usize, String)>>;

fn values_by_label(module: &Module) -> Values {
    let mut values = Values::new();
    for (index, function) in module.functions.iter().enumerate() {
        for exemplar in positive(function) {
            for (label, value) in shown_values(exemplar) {
                values.entry(squeeze(&label)).or_default().push((index, value));
            }
        }
    }
    values
}

/// What stands in an exemplar's utterance where its template has slots: the literals found one after the other.
/// Nothing if they are not all there.
fn shown_values(exemplar: &Exemplar) -> Vec<(String, String)> {
    let Some(utterance) = &exemplar.utterance else { return Vec::new() };
    let mut rest = utterance.trim();
    let mut found: Vec<(String, String)> = Vec::new();
    let mut waiting: Option<&str> = None;
    for piece in &exemplar.pieces {
        match piece {
            Piece::Text(text) => {
                // Between two slots only the outer white space of the template counts for nothing.
                let literal = text.trim();
                if literal.is_empty() {
                    if waiting.is_none() { continue } else { return Vec::new() }
                }
                let Some(at) = rest.find(literal) else { return Vec::new() };
                match waiting.take() {
                    Some(label) => found.push((label.to_owned(), rest[..at].trim().to_owned())),
                    None if !rest[..at].trim().is_empty() => return Vec::new(),
                    None => {}
                }
                rest = &rest[at + literal.len()..];
            }
            Piece::Slot { .. } if waiting.is_some() => return Vec::new(),
            Piece::Slot { label, .. } => waiting = Some(label),
        }
    }
    match waiting {
        Some(label) => found.push((label.to_owned(), rest.trim().to_owned())),
        None if !rest.trim().is_empty() => return Vec::new(),
        None => {}
    }
    found.retain(|(_, value)| !value.is_empty());
    found
}

impl Model {
    /// Natural logarithm of the probability that `next`, whose own probability is `unigram`, follows `previous`.
    pub(crate) fn follows(&self, previous: Symbol, next: Symbol, unigram: f32) -> f32 {
        // What was never seen before anything leaves it at that.
        let Some(&(seen, kinds)) = self.contexts.get(&previous) else { return unigram.ln() };
        let backoff = weight::BACKOFF * (kinds + 1.0);
        let pair = self.bigrams.get(&(previous, next)).copied().unwrap_or_default();
        ((pair + backoff * unigram) / (seen + backoff)).ln()
    }
}

impl Aligner {
    /// The model of the function at position `own`.
    fn count(&self, module: &Module, own: usize, values: &Values) -> Model {
        let function = &module.functions[own];
        let mut model = Model::default();
        for exemplar in positive(function) {
            let mut previous = Symbol::Start;
            let symbols = exemplar.pieces.iter().flat_map(|piece| match piece {
                Piece::Text(text) => words_of(text).map(|word| self.symbol(&word)).collect::<Vec<_>>(),
                Piece::Slot { slot: Some(slot), .. } => vec![Symbol::Slot(*slot)],
                Piece::Slot { slot: None, .. } => vec![Symbol::Unknown],
            });
            for symbol in symbols.chain([Symbol::End]) {
                *model.unigrams.entry(symbol).or_default() += 1.0;
                model.total += 1.0;
                let pair = model.bigrams.entry((previous, symbol)).or_default();
                let context = model.contexts.entry(previous).or_default();
                context.0 += 1.0;
                if *pair == 0.0 {
                    context.1 += 1.0;
                }
                *pair += 1.0;
                previous = symbol;
            }
        }
        model.slots = function
            .slots
            .iter()
            .enumerate()
            .map(|(index, slot)| {
                let exemplified = model.unigrams.contains_key(&Symbol::Slot(SlotId::from_index(index)));
                SlotModel::new(module, slot, own, exemplified, values)
            })
            .collect();
        model
    }

    fn symbol(&self, folded: &str) -> Symbol {
        self.vocabulary.get(folded).map_or(Symbol::Unknown, |id| Symbol::Word(*id))
    }

    pub(crate) fn read(&self, utterance: &Utterance) -> Vec<Token> {
        utterance
            .words()
            .iter()
            .enumerate()
            .map(|(index, span)| {
                let word = utterance.slice(*span);
                let folded = fold(word);
                Token {
                    symbol: self.symbol(&folded),
                    shape: if self.is_unspaced {
                        Shape::of_unspaced(word, self.language)
                    } else {
                        Shape::of(word, index == 0, self.language)
                    },
                    carrier: is_carrier(&folded, self.language),
                    folded,
                }
            })
            .collect()
    }

    pub(crate) fn model(&self, function: FunctionId) -> &Model {
        &self.models[function.index()]
    }

    /// The probability of `next`, whatever comes before it.
    pub(crate) fn unigram(&self, model: &Model, next: Symbol, carrier: bool) -> f32 {
        let counted = model.unigrams.get(&next).copied().unwrap_or_default();
        let in_module = match next {
            Symbol::Word(id) => weight::MODULE * self.module_counts[id as usize] / self.module_total.max(1.0),
            Symbol::Start | Symbol::End | Symbol::Unknown | Symbol::Slot(_) => 0.0,
        };
        let floor = match next {
            Symbol::Slot(_) => weight::SLOT,
            Symbol::Word(_) => weight::CARRIER,
            Symbol::Unknown if carrier => weight::CARRIER,
            Symbol::Start | Symbol::End | Symbol::Unknown => weight::OTHER,
        };
        (counted + in_module + floor) / (model.total + weight::MODULE + weight::UNSEEN)
    }

    /// How well a mention fits a slot, against reading its words as plain words.
    pub(crate) fn anchored(
        &self,
        model: &Model,
        slot: SlotId,
        score: f32,
        words: &[Token],
        from: usize,
        to: usize,
    ) -> f32 {
        let plain = |word: &Token| {
            let plain = self.unigram(model, word.symbol, word.carrier).ln();
            // Many characters in a row are worth little apart: what a free value would make of them must not outweigh what
            // a recognizer makes of all.
            let free = model.slots.iter().filter(|slot| self.is_unspaced && slot.open).map(|slot| slot.word(word));
            free.fold(plain, f32::max)
        };
        let plain: f32 = words[from..to].iter().map(plain).sum();
        plain + ANCHOR * score + model.slots[slot.index()].affinity(words, from, to)
    }

    /// How well each run of up to [`LONGEST_VALUE`] words fits an open slot, as (from, to, fit): the number of words,
    /// their shapes, and whether they were seen in the slot's values.
    pub(crate) fn free(&self, model: &SlotModel, words: &[Token], mut found: impl FnMut(usize, usize, f32)) {
        let longest = if self.is_unspaced { LONGEST_UNSPACED_VALUE } else { LONGEST_VALUE };
        let alone: Vec<f32> = words.iter().map(|word| model.word(word)).collect();
        for from in 0..words.len() {
            let mut fit = if model.off_list { weight::OFF_LIST.ln() } else { 0.0 };
            for to in from + 1..=words.len().min(from + longest) {
                fit += alone[to - 1];
                let known = model.known(&words[from..to]);
                let edges = [from, to - 1].into_iter().filter(|edge| words[*edge].carrier).count();
                #[expect(clippy::cast_precision_loss, reason = "at most 2")]
                let edges = edges as f32 * weight::CARRIER_AT_EDGE.ln();
                found(from, to, known.unwrap_or(fit + edges + model.length_fits[to - from - 1]));
            }
        }
    }

    /// A slot that is not repeated and was filled twice passes values on to empty slots that could take the same spans:
    /// in "from 3 March to 20 March" the dates go to the first and the second slot, in the order of the schema.
    pub(crate) fn spread(&self, function: FunctionId, fillings: &mut [Filling], anchors: &[Anchor]) {
        let slots = &self.model(function).slots;
        let anchor = |slot: SlotId, span: Span| anchors.iter().position(|one| one.slot == slot && one.span == span);
        for slot in (0..slots.len()).map(SlotId::from_index).filter(|slot| !slots[slot.index()].repeated) {
            let twice: Vec<usize> = (0..fillings.len())
                .filter(|index| fillings[*index].slot == slot && fillings[*index].anchor.is_some())
                .collect();
            if twice.len() < 2 {
                continue;
            }
            let mut takers: Vec<SlotId> = (0..slots.len())
                .map(SlotId::from_index)
                .filter(|other| *other == slot || fillings.iter().all(|filling| filling.slot != *other))
                .filter(|other| twice.iter().all(|index| anchor(*other, fillings[*index].span).is_some()))
                .collect();
            takers.truncate(twice.len());
            if takers.len() == twice.len() {
                for (index, taker) in twice.into_iter().zip(takers) {
                    fillings[index].slot = taker;
                    fillings[index].anchor = anchor(taker, fillings[index].span);
                }
            }
        }
    }

    pub(crate) fn keep_single_values(&self, function: FunctionId, fillings: &mut Vec<Filling>) {
        let slots = &self.model(function).slots;
        let all = fillings.clone();
        fillings.retain(|filling| {
            slots[filling.slot.index()].repeated
                || all.iter().filter(|other| other.slot == filling.slot).all(|other| {
                    other.confidence < filling.confidence
                        || (other.confidence <= filling.confidence && other.span >= filling.span)
                })
        });
    }
}

impl SlotModel {
    fn new(module: &Module, slot: &Slot, own: usize, exemplified: bool, values: &Values) -> Self {
        let mut listed = false;
        let mut closed = !slot.choices.is_empty();
        for id in &slot.recognizers {
            match &module.recognizer(*id).kind {
                RecognizerKind::List(_) => listed = true,
                RecognizerKind::Pattern(_) | RecognizerKind::Builtin(_) => closed = true,
            }
        }
        let is_unspaced = is_unspaced_language(module.language());
        let language = Language::or_english(module.language());
        let label_words: HashSet<String> = name_words(slot.label()).iter().map(|word| fold(word)).collect();
        let mut model = Self {
            open: exemplified && !closed && matches!(slot.kind, SlotKind::String | SlotKind::Any),
            is_common: matches!(slot.kind, SlotKind::Integer | SlotKind::Number | SlotKind::Boolean),
            off_list: listed,
            repeated: slot.path.is_repeated(),
            words: HashMap::new(),
            word_total: 0.0,
            values: HashSet::new(),
            lengths: Vec::new(),
            length_fits: [0.0; LONGEST_UNSPACED_VALUE],
            lengths_shown: [false; LONGEST_UNSPACED_VALUE],
            shapes: [0.0; Shape::COUNT],
            shape_total: 0.0,
            description_words: words_of(&slot.description)
                .filter(|word| !is_carrier(word, language) && !label_words.contains(word))
                .map(|word| singular(&word).to_owned())
                .collect(),
            name_words: label_words.iter().map(|word| singular(word).to_owned()).collect(),
        };
        for (function, value) in values.get(&squeeze(slot.label())).into_iter().flatten() {
            let utterance = Utterance::new(value);
            let weight = if *function == own { 1.0 } else { weight::SHARED };
            let mut whole: Vec<String> = Vec::new();
            for span in utterance.words() {
                let word = utterance.slice(*span);
                let folded = fold(word);
                *model.words.entry(folded.clone().into_boxed_str()).or_default() += weight;
                model.word_total += weight;
                let shape =
                    if is_unspaced { Shape::of_unspaced(word, language) } else { Shape::of(word, false, language) };
                model.shapes[shape as usize] += 1.0;
                model.shape_total += 1.0;
                whole.push(folded);
            }
            if *function == own {
                model.lengths.push(whole.len());
            }
            if (1..=LONGEST_UNSPACED_VALUE).contains(&whole.len()) {
                model.lengths_shown[whole.len() - 1] = true;
            }
            model.values.insert(whole.join(" "));
        }
        let usual = if is_unspaced { USUAL_UNSPACED_LENGTH } else { USUAL_LENGTH };
        model.length_fits = std::array::from_fn(|less_one| model.length(less_one + 1, usual));
        model
    }

    /// Log probability of one word in a free value.
    fn word(&self, word: &Token) -> f32 {
        let shape = self.shape(word.shape);
        let open = if word.shape == Shape::Number { weight::OPEN_NUMBER } else { weight::OPEN };
        let seen = self.words.get(word.folded.as_str()).copied().unwrap_or_default();
        let probability = (seen + weight::VALUE * open * shape * shape) / (self.word_total + weight::VALUE);
        let is_plain = seen == 0.0 && (word.carrier || matches!(word.symbol, Symbol::Word(_)));
        if is_plain { (probability * weight::PLAIN_IN_VALUE).ln() } else { probability.ln() }
    }

    /// Log probability of a whole value that the exemplars show; `None` if they don't show this one.
    fn known(&self, words: &[Token]) -> Option<f32> {
        // Most runs of words begin no value: this is asked for each of them.
        if !self.lengths_shown[words.len() - 1] || !self.words.contains_key(words[0].folded.as_str()) {
            return None;
        }
        let value = words.iter().map(|word| word.folded.as_str()).collect::<Vec<_>>().join(" ");
        #[expect(clippy::cast_precision_loss, reason = "a count of exemplar values")]
        let shown = (self.values.len() + 1) as f32;
        self.values.contains(&value).then(|| -0.3 * shown.ln())
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        reason = "small counts of words"
    )]
    fn length(&self, words: usize, usual: f32) -> f32 {
        let count = self.lengths.len() as f32;
        let mean = (self.lengths.iter().sum::<usize>() as f32 + usual) / (count + 1.0);
        let stop = 1.0 / mean.max(1.0);
        let geometric = stop * (1.0 - stop).powi(words as i32 - 1);
        let same = self.lengths.iter().filter(|length| **length == words).count() as f32;
        ((same + weight::LENGTH * geometric) / (count + weight::LENGTH)).max(f32::MIN_POSITIVE).ln()
    }

    /// How much more likely this shape is in the slot's values than in general.
    fn shape(&self, shape: Shape) -> f32 {
        let background = Shape::BACKGROUND[shape as usize];
        let prior = weight::SHAPE * weight::EACH_SHAPE;
        (self.shapes[shape as usize] + prior) / (self.shape_total + weight::SHAPE) / background
    }

    /// Nats for words of the slot's name or description around a mention: "a base of 10", "10 days".
    fn affinity(&self, words: &[Token], from: usize, to: usize) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "at most 4")]
        let at = |distance: usize, word: &Token| {
            let near = 1.0 / (1.0 + 0.5 * distance as f32);
            let word = singular(&word.folded);
            if self.name_words.contains(word) {
                NAMED * near
            } else if self.description_words.contains(word) {
                0.3 * NAMED * near
            } else {
                0.0
            }
        };
        let before = words[..from].iter().rev().take(4).enumerate().map(|(distance, word)| at(distance, word));
        let after = words[to..].iter().take(2).enumerate().map(|(distance, word)| at(distance, word));
        before.chain(after).fold(0.0, f32::max)
    }
}

/// Without the plural's s: enough to let "day" meet `num_days`.
fn singular(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem,
        _ => word,
    }
}
