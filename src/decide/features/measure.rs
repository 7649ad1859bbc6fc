//! Measures the features of an alternative.

use crate::{
    call::Call,
    decide::{
        features::{Features, flag, logarithm},
        outcome::Frame,
        reading::Reading,
        situation::Situation,
    },
    embed::ActOdds,
    module::{FunctionId, SlotId},
    recognize::{ARTICLE, reply},
    retrieve::Candidate,
    text::Span,
};

/// The features that retrieval and learning give the best of these candidates, without its slots.
pub(crate) fn of_candidates(
    situation: &Situation<'_>,
    act: Option<ActOdds>,
    candidates: &[Candidate],
    at: usize,
) -> Features {
    let (knowledge, mut features) = (situation.knowledge, Features::default());
    let Some(own) = candidates.get(at) else { return features };
    let least = 1e-5_f32;
    let other = candidates.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, one)| one.share);
    features.share = own.share.max(least).ln();
    features.lead = features.share - other.fold(least, f32::max).ln();
    features.entropy = -candidates.iter().map(|one| one.share * one.share.max(least).ln()).sum::<f32>();
    let reach = knowledge.head.own();
    match own.learned {
        Some(learned) => {
            features.vectors = learned.vectors;
            features.ngrams = learned.ngrams;
            features.vectors_none = learned.vectors_none;
            features.ngrams_none = learned.ngrams_none;
            features.vectors_relative = learned.vectors - reach.vectors;
            features.ngrams_relative = learned.ngrams - reach.ngrams;
            features.own_accuracy = reach.accuracy;
        }
        None => features.unlearned = 1.0,
    }
    features.fused = own.score;
    features.above_usual = own.score - knowledge.usual_score;
    features.nearest = own.evidence.iter().map(|evidence| evidence.dense).fold(0.0, f32::max);
    if let Some(shown) = own.exemplars {
        features.pooled = shown.dense;
        features.centroid = shown.centroid;
        features.words = shown.lexical;
    }
    if let Some(described) = own.description {
        features.described = described.dense;
        features.described_words = described.lexical;
    }
    let module = &knowledge.module;
    features.functions = logarithm(module.functions.len());
    features.exemplars = logarithm(module.function(own.function).exemplars.len());
    features.negative = own.negative.unwrap_or_default();
    features.unspaced = flag(crate::language::facts::is_unspaced_language(module.language()));
    of_words(situation, own.function, &[], &mut features);
    of_act(situation, act, own.function, &mut features);
    features
}

fn of_act(situation: &Situation<'_>, act: Option<ActOdds>, function: FunctionId, features: &mut Features) {
    let Some(odds) = act else { return };
    features.act_question = odds.question;
    let shown = situation.knowledge.acts[function.index()];
    features.act_other = odds.other - shown.map_or(0.0, |shown| shown.other);
    features.act_reply = odds.reply;
    features.act_decline = odds.decline;
    features.asks_unlike = shown.map_or(0.0, |shown| odds.asks() - shown.asks);
    features.asks_beyond = features.asks_unlike.max(0.0);
}

/// Everything that is known about the candidate `at` with its slots read.
pub(crate) fn of_alternative(
    situation: &Situation<'_>,
    act: Option<ActOdds>,
    at: usize,
    reading: &Reading<'_>,
    (frame, call): (&Frame, Option<&Call>),
) -> Features {
    let mut features = of_candidates(situation, act, situation.candidates(), at);
    let spans = reading.account(situation);
    of_words(situation, reading.function, &spans, &mut features);
    of_slots(situation, reading, frame, &mut features);
    features.complete = flag(call.is_some());
    features.invalid = count(frame.invalid.len());
    features.unseen = flag(reading.may_lack(frame));
    of_the_rest(situation, reading, &mut features);
    features
}

/// The account of words: how many of them values and the function's own words explain.
pub(crate) struct Account {
    /// The share of the words' weight that is explained, 0 to 1.
    pub explained: f32,
    /// The weight of the words that are left over.
    pub left_over: f32,
    /// The number of words that are left and occur nowhere in the module.
    unknown: usize,
}

/// `covered` are the values of the function.
pub(crate) fn account(situation: &Situation<'_>, function: FunctionId, covered: &[Span]) -> Account {
    let (utterance, vocabulary) = (situation.utterance(), &situation.knowledge.vocabulary);
    let (mut all, mut left, mut unknown) = (0.0, 0.0, 0_usize);
    for word in utterance.words() {
        let folded = utterance.folded_in(*word);
        let weight = vocabulary.weight(&folded);
        all += weight;
        let is_explained = is_explained(situation, function, covered, (*word, &folded));
        if !is_explained {
            left += weight;
        }
        unknown += usize::from(!is_explained && !vocabulary.knows(&folded));
    }
    Account { explained: if all > 0.0 { 1.0 - left / all } else { 1.0 }, left_over: left, unknown }
}

fn is_explained(
    situation: &Situation<'_>,
    function: FunctionId,
    covered: &[Span],
    (word, folded): (Span, &str),
) -> bool {
    covered.iter().any(|span| span.overlaps(word))
        || situation.knowledge.vocabulary.has(function, folded)
        || situation.negations().iter().any(|negation| negation.cue.overlaps(word))
        || reply::says_nothing(situation.knowledge.module.language(), folded)
}

/// The words that nothing explains, each with its weight in [`Account::left_over`].
pub(crate) fn left_over(situation: &Situation<'_>, function: FunctionId, covered: &[Span]) -> Vec<(Span, f32)> {
    let utterance = situation.utterance();
    let words = utterance.words().iter().map(|word| (*word, utterance.folded_in(*word)));
    let left = words.filter(|(word, folded)| !is_explained(situation, function, covered, (*word, folded)));
    left.map(|(word, folded)| (word, situation.knowledge.vocabulary.weight(&folded))).collect()
}

fn of_words(situation: &Situation<'_>, function: FunctionId, covered: &[Span], features: &mut Features) {
    let Account { explained, left_over, unknown } = account(situation, function, covered);
    let utterance = situation.utterance();
    features.explained = explained;
    features.left_over = left_over;
    features.unknown = count(unknown) / count(utterance.words().len().max(1));
    features.length = logarithm(utterance.words().len());
    features.question = flag(utterance.ends_as_question());
}

fn of_slots(situation: &Situation<'_>, reading: &Reading<'_>, frame: &Frame, features: &mut Features) {
    let definition = situation.knowledge.module.function(frame.function);
    let said: Vec<(&str, Span, bool, f32)> = frame
        .slots
        .iter()
        .filter_map(|slot| Some((slot.pointer.as_str(), slot.span?, slot.recognizer.is_some(), slot.confidence)))
        .collect();
    let is_filled = |id: &SlotId| frame.slots.iter().any(|slot| definition.slot_of(&slot.pointer) == Some(*id));
    let (required, optional): (Vec<SlotId>, Vec<SlotId>) =
        definition.slot_ids().partition(|id| definition.slot(*id).required);
    let filled = |ids: &[SlotId]| ids.iter().filter(|id| is_filled(id)).count();
    features.required = if required.is_empty() { 1.0 } else { count(filled(&required)) / count(required.len()) };
    features.missing = count(frame.missing.len());
    features.optional = count(filled(&optional));
    features.lowest_slot = said.iter().map(|(.., confidence)| *confidence).fold(1.0, f32::min);
    features.all_slots = said.iter().map(|(.., confidence)| *confidence).product();
    features.recognized = count(said.iter().filter(|(_, _, is_recognized, _)| *is_recognized).count());
    features.free = count(said.len()) - features.recognized;
    let words = situation.utterance().words();
    let in_free = |word: &&Span| said.iter().any(|(_, span, is_recognized, _)| !is_recognized && span.overlaps(**word));
    features.free_share = count(words.iter().filter(in_free).count()) / count(words.len().max(1));
    let spans = reading.spans_of(&[]);
    // An article says too little to be missed if it fills no slot.
    let told = situation.mentions().iter().filter(|mention| mention.score > ARTICLE.score());
    let unclaimed = told.filter(|mention| !spans.iter().any(|span| span.overlaps(mention.span)));
    let mut places: Vec<Span> = unclaimed.map(|mention| mention.span).collect();
    places.dedup_by(|one, other| one.overlaps(*other));
    features.unclaimed = count(places.len());
}

/// The features of refusals, of other requests and of what was asked.
fn of_the_rest(situation: &Situation<'_>, reading: &Reading<'_>, features: &mut Features) {
    let function = reading.function;
    features.refused = flag(situation.refusal(function).is_some());
    features.negations = count(situation.negations().len());
    features.doubtful = flag(situation.is_doubtful);
    let clauses = &situation.analysis.clauses;
    features.clauses = count(clauses.len());
    let another = clauses.iter().filter_map(|clause| clause.candidates.first());
    let another = another.filter(|best| best.function != function).map(|best| best.share * best.score);
    features.other_clause = another.fold(0.0, f32::max);
    features.expected = flag(situation.expected.functions().contains(&function));
    let awaited = situation.expected.slots_of(function);
    features.answered = flag(!awaited.is_empty() && !reading.spans_of(&awaited).is_empty());
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^24 of anything")]
const fn count(number: usize) -> f32 {
    number as f32
}
