//! Decides without a model server. Retrieval and how well the utterance fills the slots give the function; recognizers,
//! the reader and the exemplars give the arguments.

use crate::{
    ablation,
    call::{Call, SlotValue},
    conversation::Pending,
    decide::{
        analysis::Analysis,
        answered,
        bars::bars,
        enumerated,
        features::measure,
        model::DecisionModel,
        near_duplicates as overloads,
        outcome::{Alternative, Decision, Frame, Outcome},
        reading::Reading,
        remark,
        scope::by_score,
        situation::Situation,
        topic,
        vocabulary::words_of,
    },
    module::{FunctionEffect, FunctionId, SlotId},
    recognize::{acts::Courtesy, certainty::Certainty},
    text::Span,
};

/// The most functions whose slots are filled before one is chosen.
const CONSIDERED: usize = 3;
/// How sure it is that nothing is to be called if the person refuses the best understood function ("don't cancel my
/// order").
const REFUSED: Certainty = Certainty::Likely;
/// The factor for the confidence in a function's slots if one is empty and not every word is accounted for.
const LACKING: Certainty = Certainty::Likely;

/// How many functions are offered to choose from if there is no evidence for any of them.
const OFFERED: usize = 3;

/// See [the module](self).
pub(crate) fn decide(situation: &Situation<'_>) -> Decision {
    match (situation.segments, Reading::as_written(situation)) {
        (segments @ [_, _, ..], None) => together(
            situation,
            segments.iter().map(|segment| {
                let alone = situation.analysis.within(segment);
                (segment.span, read_one(&situation.within(&alone), None))
            }),
        ),
        (_, written) => {
            let decision = read_one(situation, written);
            let each = read_each_value(situation, written, &decision);
            if each.is_empty() || !ablation::holds("enumerated.each", true) {
                decision
            } else {
                together(situation, each.into_iter())
            }
        }
    }
}

/// The decision for each of several values of a slot that takes one, if each makes a whole call of the same function.
fn read_each_value(
    situation: &Situation<'_>,
    written: Option<FunctionId>,
    decision: &Decision,
) -> Vec<(Span, Decision)> {
    let is_open = !situation.expected.is_empty() || situation.given.is_some();
    let [frame] = &decision.frames[..] else { return Vec::new() };
    if is_open || !frame.missing.is_empty() {
        return Vec::new();
    }
    let requests = enumerated::requests(situation, frame);
    let read = |(span, alone): &(Span, Analysis)| (*span, read_one(&situation.within(alone), written));
    let each: Vec<(Span, Decision)> = requests.iter().map(read).collect();
    let is_whole = |(_, one): &(Span, Decision)| match &one.frames[..] {
        [own] => own.function == frame.function && own.missing.is_empty() && own.invalid.is_empty(),
        _ => false,
    };
    if each.iter().all(is_whole) { each } else { Vec::new() }
}

/// Decides each part by itself, without values from other parts: the calls, if every part is a call, else the first
/// question that a part leaves. A part that means nothing, or that refuses what it names, does not affect the others.
fn together(situation: &Situation<'_>, parts: impl Iterator<Item = (Span, Decision)>) -> Decision {
    let (mut calls, mut question, mut frames) = (Vec::new(), None, Vec::new());
    let (mut confidence, mut notes, mut alternatives) = (1.0, Vec::new(), Vec::new());
    for (span, mut part) in parts {
        notes.append(&mut part.notes);
        alternatives.append(&mut part.alternatives);
        match part.outcome {
            Outcome::Call(found) => calls.extend(found),
            Outcome::Ask(next) => question = question.or(Some(next)),
            Outcome::NoMatch => {
                let text = situation.utterance().slice(span);
                notes.push(format!("nothing is asked of any function by `{}`", text.trim()));
                continue;
            }
        }
        part.frames.iter_mut().for_each(|frame| frame.segment = span);
        frames.append(&mut part.frames);
        confidence *= part.confidence;
    }
    let (outcome, confidence) = match question {
        Some(question) => (Outcome::Ask(question), confidence),
        None if calls.is_empty() => (Outcome::NoMatch, 1.0 - situation.scope()),
        None => (Outcome::Call(calls), confidence),
    };
    Decision { outcome, confidence, frames, notes, alternatives }
}

/// The best understood function, unless the person refuses it. An utterance that matches a template of the function
/// `written` word for word means that function, even if it looks like a refusal.
fn read_one(situation: &Situation<'_>, written: Option<FunctionId>) -> Decision {
    let mut decision = read(situation, written);
    // A function that is already known to be meant is not refused: "I don't want olives" still says which olives.
    let is_refusable = |frame: &&Frame| situation.given.is_none() && written != Some(frame.function);
    let chosen = decision.frames.first().filter(is_refusable);
    let refusal = chosen.and_then(|frame| situation.refusal(frame.function));
    if let Some(note) = ablation::found("local.refusal", refusal) {
        decision.outcome = Outcome::NoMatch;
        decision.confidence = REFUSED.score();
        decision.frames.clear();
        decision.notes.push(note);
    }
    decision
}

fn read(situation: &Situation<'_>, written: Option<FunctionId>) -> Decision {
    if let Some(function) = situation.given {
        return read_given(situation, function);
    }
    if let Some(reading) = ablation::found("answered", answered::answered(situation)) {
        let (frame, call) = reading.judged(situation);
        return concluded((Frame { confidence: bars().answered, ..frame }, call), situation.scope());
    }
    let courtesy = situation.analysis.acts.courtesy;
    let teaches = |courtesy| situation.knowledge.vocabulary.teaches(courtesy);
    let is_courteous = courtesy.is_some_and(|courtesy| courtesy != Courtesy::Introduction && !teaches(courtesy));
    if ablation::holds("local.courtesy", is_courteous && !situation.is_meant && written.is_none()) {
        // "Hello" asks for nothing, however similar it is to an exemplar.
        return nothing(situation, 0.0, Vec::new());
    }
    let mut alternatives = alternatives(situation, written);
    if alternatives.is_empty() {
        return nothing(situation, 0.0, alternatives);
    }
    let meant = meant(situation, &alternatives);
    if written.is_none() && is_nothing(situation, meant) {
        return nothing(situation, meant, alternatives);
    }
    let tied: Vec<FunctionId> = tied(&alternatives).map(|(other, _)| other.function).collect();
    if let Some(at) = ablation::found("local.claiming", claiming(&alternatives[..tied.len()])) {
        alternatives[..=at].rotate_right(1);
    } else if ablation::holds("local.tie", tied.len() > 1) {
        return tie(tied, alternatives);
    }
    let topic = if written.is_none() && alternatives[0].1.is_some() { topic::shared(situation) } else { Vec::new() };
    if ablation::holds("local.topic", !topic.is_empty()) {
        return tie(topic.into_iter().take(OFFERED).collect(), alternatives);
    }
    let call = alternatives[0].1.take();
    let best = &alternatives[0].0;
    let (frame, confidence) = (best.frame.clone(), in_doubt(&best.frame, best.right));
    let is_question = || ablation::holds("local.only_asks", written.is_none() && situation.only_asks(frame.function));
    let outcome = match (call, frame.asks()) {
        (Some(call), _) => called(&frame, call, is_doubtful(situation, best) || is_question()),
        (None, Some(about)) => Outcome::Ask(about),
        (None, None) => return nothing(situation, meant, alternatives),
    };
    let notes = doubts(&frame);
    Decision { outcome, confidence, frames: vec![frame], notes, alternatives: only(alternatives) }
}

/// Asks which of these functions is meant.
fn tie(functions: Vec<FunctionId>, alternatives: Vec<(Alternative, Option<Call>)>) -> Decision {
    let is_tied = |one: &&(Alternative, Option<Call>)| functions.contains(&one.0.function);
    let frames: Vec<Frame> = alternatives.iter().filter(is_tied).map(|(one, _)| one.frame.clone()).collect();
    let confidence = frames.iter().map(|frame| frame.confidence).sum::<f32>().min(1.0);
    let outcome = Outcome::Ask(Pending::Tie { functions });
    Decision { outcome, confidence, frames, notes: Vec::new(), alternatives: only(alternatives) }
}

/// Doubt about a value is doubt about the call: a call without a question must be sure as a whole and in each value.
fn called(frame: &Frame, call: Call, is_doubtful: bool) -> Outcome {
    if is_doubtful || frame.in_doubt().next().is_some() {
        Outcome::Ask(Pending::Confirm { function: frame.function })
    } else {
        Outcome::Call(vec![call])
    }
}

/// The confidence of a frame, capped if one of its values is in doubt.
fn in_doubt(frame: &Frame, confidence: f32) -> f32 {
    if frame.in_doubt().next().is_some() { confidence.min(bars().unread_clause) } else { confidence }
}

/// Notes on the words beside the values that were not read.
fn doubts(frame: &Frame) -> Vec<String> {
    let doubt = |slot: &SlotValue| {
        let (said, unread) = (slot.text.as_deref().unwrap_or_default(), slot.unread.as_deref().unwrap_or_default());
        format!("`{}` may not be all that was said: `{unread}` stands unread beside `{said}`", slot.path())
    };
    frame.in_doubt().map(doubt).collect()
}

/// A call that may be wrong is put to the person first, unless its function was given.
fn is_doubtful(situation: &Situation<'_>, best: &Alternative) -> bool {
    let is_unsure = match is_learned(situation) {
        true => best.right < situation.sure(best.function),
        false => {
            let thresholds = &DecisionModel::bundled().thresholds;
            // Without slots, only the function can be wrong.
            let has_slots = !situation.knowledge.module.function(best.function).slots.is_empty();
            let described = if has_slots { thresholds.described } else { thresholds.in_scope };
            best.right < situation.sure(best.function).min(described)
                || may_lack(situation, best)
                || enumerated::may_be_several(situation, &best.frame)
        }
    };
    let is_doubtful = is_unsure || ablation::holds("local.unread_moment", leaves_moment(situation, best));
    is_doubtful && !situation.is_meant && !situation.is_demanded
}

/// True if a day other than today, or a time of day, was said, but the function acts and neither its values nor its own
/// words contain it: "send 25 to Omar tomorrow".
fn leaves_moment(situation: &Situation<'_>, best: &Alternative) -> bool {
    let (utterance, knowledge) = (situation.utterance(), situation.knowledge);
    if knowledge.module.function(best.function).effect.effect == FunctionEffect::Reads {
        return false;
    }
    let is_read = |span: Span| {
        let words = utterance.words().iter().filter(|word| span.contains(**word));
        let is_own = |word: &Span| knowledge.vocabulary.has(best.function, &utterance.folded_in(*word));
        best.frame.slots.iter().chain(&best.frame.excluded).filter_map(|said| said.span).any(|own| own.overlaps(span))
            || words.into_iter().all(is_own)
    };
    let moments = knowledge.validator.reader().moments_said(utterance);
    moments.into_iter().any(|span| !is_read(span))
}

/// True if something was learned from the module's exemplars.
fn is_learned(situation: &Situation<'_>) -> bool {
    situation.candidates().iter().any(|candidate| candidate.learned.is_some())
}

/// For a function without exemplars: true if a value may have been missed. Words are left that may be a value of an
/// empty slot ("tell Bob that dinner is ready"); or a value contains the name of an empty slot ("titled Food with the
/// body eggs"); or a slot has only part of a name.
fn may_lack(situation: &Situation<'_>, best: &Alternative) -> bool {
    let texts: Vec<Span> = best.frame.slots.iter().filter_map(plain_text).collect();
    if ablation::holds("local.cut_name", texts.iter().any(|text| is_cut(situation, &best.frame, *text))) {
        return true;
    }
    let definition = situation.knowledge.module.function(best.function);
    let is_filled = |slot: SlotId| best.frame.slots.iter().any(|said| definition.slot_of(&said.pointer) == Some(slot));
    let empty = definition.slot_ids().filter(|slot| !is_filled(*slot));
    let names: Vec<Vec<String>> = empty.map(|slot| words_of(definition.slot(slot).label())).collect();
    let holds_a_name = |text: &Span| {
        let words = words_of(situation.utterance().slice(*text));
        // A slot's name at the beginning does not introduce a value: "body lotion".
        let is_within = |name: &Vec<String>| words.windows(name.len()).skip(1).any(|some| some == name.as_slice());
        names.iter().filter(|name| !name.is_empty()).any(is_within)
    };
    best.features.unseen > 0.0
        && (ablation::holds("local.left_over", best.features.left_over >= bars().left_over)
            || ablation::holds("local.holds_a_name", texts.iter().any(holds_a_name)))
}

/// The span of a value that no recognizer found.
fn plain_text(said: &SlotValue) -> Option<Span> {
    said.span.filter(|_| said.recognizer.is_none())
}

/// True if a name goes on beyond `text`: the next word is capitalized as well and belongs to no value.
fn is_cut(situation: &Situation<'_>, frame: &Frame, text: Span) -> bool {
    let utterance = situation.utterance();
    let is_capital = |word: Span| utterance.slice(word).chars().next().is_some_and(char::is_uppercase);
    let is_taken = |word: Span| frame.slots.iter().filter_map(|said| said.span).any(|span| span.overlaps(word));
    utterance.words().windows(2).enumerate().any(|(at, pair)| {
        let (one, other) = (pair[0], pair[1]);
        // The first word of a sentence has a capital letter anyway.
        let goes_on = text.overlaps(one) && !is_taken(other) || at > 0 && text.overlaps(other) && !is_taken(one);
        goes_on && is_capital(one) && is_capital(other) && utterance.slice(Span::new(one.end, other.start)) == " "
    })
}

/// The best alternative, and those that are about as likely.
fn tied(alternatives: &[(Alternative, Option<Call>)]) -> impl Iterator<Item = &(Alternative, Option<Call>)> {
    let best = alternatives.first().map_or(0.0, |(best, _)| best.meant);
    alternatives.iter().take_while(move |(other, _)| bars().likelier * other.meant >= best)
}

/// The only one of these that takes every value that the others take, and more: "two onion soups" are not a drink.
/// `None` if there is only one.
fn claiming(tied: &[(Alternative, Option<Call>)]) -> Option<usize> {
    let claims = |at: usize| {
        let features = &tied[at].0.features;
        features.recognized - features.unclaimed
    };
    let best = (0..tied.len()).max_by(|one, other| claims(*one).total_cmp(&claims(*other)))?;
    let is_alone = |other: usize| other == best || claims(other) < claims(best);
    (tied.len() > 1 && (0..tied.len()).all(is_alone)).then_some(best)
}

/// The probability that any function is meant, by the likeliest one; while something is asked for, by the scores of
/// all.
fn meant(situation: &Situation<'_>, alternatives: &[(Alternative, Option<Call>)]) -> f32 {
    if situation.is_meant || !situation.expected.functions().is_empty() {
        return alternatives.iter().map(|(one, _)| one.meant).sum::<f32>().min(1.0);
    }
    let likeliest =
        alternatives.iter().max_by(|(one, _), (other, _)| one.features.share.total_cmp(&other.features.share));
    let anything = likeliest.map_or(0.0, |(one, _)| DecisionModel::bundled().anything(&one.features));
    // It is at least the probability of each function.
    alternatives.iter().map(|(one, _)| one.meant).fold(anything, f32::max)
}

/// True if probably nothing is meant; `meant` is the probability that something is.
fn is_nothing(situation: &Situation<'_>, meant: f32) -> bool {
    !situation.is_meant && meant < situation.thresholds.in_scope
}

/// Nothing is meant, or it is not said what. `meant` is the probability that something is.
fn nothing(situation: &Situation<'_>, meant: f32, alternatives: Vec<(Alternative, Option<Call>)>) -> Decision {
    let outcome = if situation.is_demanded { which(situation) } else { Outcome::NoMatch };
    let confidence = if outcome == Outcome::NoMatch { 1.0 - meant } else { meant };
    let (frames, notes) = (Vec::new(), Vec::new());
    Decision { outcome, confidence, frames, notes, alternatives: only(alternatives) }
}

fn only(alternatives: Vec<(Alternative, Option<Call>)>) -> Vec<Alternative> {
    alternatives.into_iter().map(|(alternative, _)| alternative).collect()
}

/// The utterance as a request for each of the likely functions, likeliest first.
fn alternatives(situation: &Situation<'_>, written: Option<FunctionId>) -> Vec<(Alternative, Option<Call>)> {
    let (model, candidates) = (DecisionModel::bundled(), situation.candidates());
    let considered = considered(situation, written);
    let act = situation.speech_act();
    let readings: Vec<Reading<'_>> =
        considered.iter().map(|index| Reading::new(situation, candidates[*index].function)).collect();
    let support: Vec<f32> = readings.iter().map(Reading::support).collect();
    let mut alternatives: Vec<(Alternative, Option<Call>)> = Vec::with_capacity(readings.len());
    for (place, reading) in readings.iter().enumerate() {
        let (frame, call) = reading.judged(situation);
        let mut features = measure::of_alternative(situation, act, considered[place], reading, (&frame, call.as_ref()));
        let others = support.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, support)| *support);
        if written == Some(reading.function) {
            features.verbatim = 1.0;
            features.verbatim_free = reading.free.unwrap_or_default();
        }
        features.support_lead = support[place] - others.reduce(f32::max).unwrap_or(support[place]);
        let candidate = &candidates[considered[place]];
        let meant = match situation.is_meant {
            true => candidate.share,
            false if situation.expected.functions().is_empty() => model.function(&features),
            false => by_score(situation, candidate),
        };
        let mut right = situation.knowledge.calibration.get().of(model.whole(&features));
        // With many exemplars, a function's tagger knows how likely it is that these values and no others were said.
        if let Some(told) = reading.told {
            right = right.min(meant * told);
        }
        // An unread remark behind everything else may matter; a value that is probably wrong makes a wrong call.
        let is_left = || remark::is_left(situation, &reading.spans_of(&[]), reading.function);
        let is_doubtful = ablation::holds("local.doubtful_value", features.lowest_slot < bars().doubtful_value)
            || ablation::holds("local.remark_is_left", is_left());
        if call.is_some() && situation.given.is_none() && is_doubtful {
            right = right.min(bars().unread_clause);
        }
        alternatives.push((Alternative { function: reading.function, meant, right, features, frame }, call));
    }
    let scores: Vec<f32> = considered.iter().map(|index| candidates[*index].score).collect();
    tell_apart(situation, &readings, &scores, &mut alternatives);
    for (one, _) in &mut alternatives {
        // A whole answer is never likelier than its function. While a form is open, only the words decide what is
        // meant.
        let is_beside = !situation.expected.functions().is_empty();
        one.frame.confidence = if is_beside { one.meant } else { one.meant.max(one.right) };
    }
    alternatives.sort_by(|(one, _), (other, _)| other.meant.total_cmp(&one.meant));
    alternatives
}

/// Near-duplicate functions divide their total probability by how well their slots fit: the words alone do not
/// distinguish them.
fn tell_apart(
    situation: &Situation<'_>,
    readings: &[Reading<'_>],
    scores: &[f32],
    alternatives: &mut [(Alternative, Option<Call>)],
) {
    let changes = overloads::changes(situation, readings, scores);
    let Some(best) = readings.first().map(|reading| reading.function) else { return };
    let group: Vec<usize> = (0..readings.len())
        .filter(|place| *place == 0 || overloads::alike(situation, best, readings[*place].function))
        .collect();
    let all: f32 = group.iter().map(|place| alternatives[*place].0.meant).sum();
    let weight = |place: &usize| (bars().levelled * (scores[*place] + changes[*place] - scores[0] - changes[0])).exp();
    let weights: f32 = group.iter().map(weight).sum();
    if ablation::holds("local.tell_apart", group.len() > 1) {
        for place in &group {
            alternatives[*place].0.meant = all * weight(place) / weights;
        }
    }
}

/// Fills the slots of the only function that is asked for. The confidence is lower if words are left that could be a
/// value and a slot that was asked for, or that is required, is empty.
fn read_given(situation: &Situation<'_>, function: FunctionId) -> Decision {
    let reading = Reading::new(situation, function);
    let mut decision = concluded(reading.judged(situation), 1.0);
    let lacks = answered::leaves_words(situation, &reading) && answered::lacks_values(situation, &reading);
    if ablation::holds("local.lacking", lacks) {
        decision.confidence *= LACKING.score();
    }
    decision
}

/// One frame, as a call or as the next question about it.
fn concluded((frame, call): (Frame, Option<Call>), scope: f32) -> Decision {
    let product = frame.slots.iter().map(|slot| slot.confidence).product::<f32>();
    let confidence = in_doubt(&frame, frame.confidence * product);
    let (outcome, confidence, frames) = match (call, frame.asks()) {
        (Some(call), _) => (called(&frame, call, false), confidence, vec![frame]),
        (None, Some(about)) => (Outcome::Ask(about), confidence, vec![frame]),
        (None, None) => (Outcome::NoMatch, 1.0 - scope, Vec::new()),
    };
    let notes = frames.iter().flat_map(doubts).collect();
    Decision { outcome, confidence, frames, notes, alternatives: Vec::new() }
}

/// Asks which of the likeliest functions is meant, if nothing else says so.
fn which(situation: &Situation<'_>) -> Outcome {
    let likely = situation.candidates().iter().take(OFFERED).map(|candidate| candidate.function);
    let functions: Vec<FunctionId> = likely.collect();
    if functions.is_empty() { Outcome::NoMatch } else { Outcome::Ask(Pending::Tie { functions }) }
}

/// The candidates whose slots are worth filling: the one whose template matches word for word, else the likely ones and
/// near-duplicates of the likeliest.
fn considered(situation: &Situation<'_>, written: Option<FunctionId>) -> Vec<usize> {
    let candidates = situation.candidates();
    let is_rival = |index: usize| {
        let [best, other] = [&candidates[0], &candidates[index]];
        best.score - other.score <= bars().blur && overloads::alike(situation, best.function, other.function)
    };
    let is_worth = |index: &usize| *index == 0 || candidates[*index].share >= bars().worth_reading || is_rival(*index);
    let is_allowed = |index: &usize| candidates[*index].score > 0.0;
    let is_written = |index: &usize| written == Some(candidates[*index].function);
    let all = 0..candidates.len();
    match written {
        Some(_) => all.filter(is_written).collect(),
        None => all.filter(is_worth).filter(is_allowed).take(CONSIDERED).collect(),
    }
}
