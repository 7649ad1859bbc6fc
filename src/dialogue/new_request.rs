//! An utterance that opens the functions that it asks for.

use crate::{
    ablation,
    call::SlotValue,
    conversation::{Act, Form, FormUpdate, Pending, merge::CERTAIN},
    decide::{
        analysis::Analysis,
        calibration,
        expected::Expected,
        local,
        outcome::{Decision, Outcome},
        reading::Reading,
        situation::{Requests, Situation},
    },
    dialogue::{
        interpretation::{Dialogue, Interpretation, ServerQuestion},
        open_form::{WORTH_KEEPING, said},
        slot_reference::count_of,
    },
    language::facts::is_unspaced_language,
    module::FunctionId,
    recognize::acts::{ACTS, MoveKind},
    text::{Span, Utterance, is_blank},
};

/// How many earlier utterances that were not understood are read again for a form that opens.
const UNHEARD: usize = 3;

/// `situation` is the utterance, or the part of it that is a request; `open` are the forms that stay open.
pub(crate) fn new_request(dialogue: &Dialogue<'_>, situation: &Situation<'_>, open: &[Form]) -> Interpretation {
    let requests = Requests::find(situation);
    let local = local::decide(&situation.with(&requests));
    let told = dialogue.told.decision.as_ref();
    let task = (told.is_none() && local.confidence < dialogue.sure_of(&local.frames))
        .then(|| ServerQuestion::Requests { part: None, requests: requests.clone() });
    let decision = told.unwrap_or(&local);
    let mut found = Interpretation {
        confidence: decision.confidence,
        meant: decision.frames.iter().map(|frame| frame.confidence).fold(0.0, f32::max),
        notes: decision.notes.clone(),
        task,
        requests: Some(requests),
        alternatives: local.alternatives.clone(),
        ..Interpretation::default()
    };
    match &decision.outcome {
        Outcome::Ask(Pending::Tie { functions }) => found.tied.clone_from(functions),
        Outcome::NoMatch => {}
        Outcome::Call(_) | Outcome::Ask(_) => found.acts = opened(dialogue, situation, decision, open),
    }
    found
}

/// The acts that open a form for each request, with what was said about its function before the request was known.
fn opened(dialogue: &Dialogue<'_>, situation: &Situation<'_>, decision: &Decision, open: &[Form]) -> Vec<Act> {
    let (module, turn) = (dialogue.module(), dialogue.state.turn);
    let is_open = |id: FunctionId| open.iter().any(|form| form.function == module.function(id).name);
    let mut acts: Vec<Act> = Vec::new();
    for frame in &decision.frames {
        let function = frame.function;
        let is_first = !acts.iter().any(|act| matches!(act, Act::Inform { function: other, .. } if *other == function));
        if is_first && !is_open(function) {
            let unheard = ablation::found("new.unheard", unheard(dialogue, function));
            acts.extend(unheard.map(|said| Act::Inform { function, said, another: false }));
        }
        let mut whole = said(frame, turn, None);
        // If a model server proposes a call that the words hardly support, the person is asked before it is made.
        let is_proposed =
            dialogue.told.decision.is_some() && !calibration::is_called(frame.confidence, situation.sure(function));
        // If only a value is in doubt, the function itself is meant: a no denies only the value.
        let is_meant = decision.alternatives.first().is_none_or(|best| best.right >= situation.sure(function));
        let is_confirmed = matches!(&decision.outcome, Outcome::Ask(Pending::Confirm { .. }));
        whole.is_doubtful = is_proposed || is_confirmed && !(is_meant && frame.in_doubt().next().is_some());
        if matches!(&decision.outcome, Outcome::Ask(_)) && !is_unspaced_language(module.language()) {
            // A question is needed anyway, and a wrong value would stay. Values that the call needs are put to the
            // person with the question.
            let definition = module.function(function);
            let is_required =
                |value: &SlotValue| definition.slot_of(&value.pointer).is_some_and(|id| definition.slot(id).required);
            let is_put = |value: &SlotValue| is_confirmed && is_required(value);
            let is_kept = |value: &SlotValue| {
                value.recognizer.is_some() || value.confidence >= WORTH_KEEPING.score() || is_put(value)
            };
            whole.values.retain(|value| !ablation::holds("new.worth_keeping", !is_kept(value)));
        }
        let part = ablation::found("new.portion", portion(&mut whole, situation));
        acts.push(Act::Inform { function, said: whole, another: !is_first });
        acts.extend(part.map(|said| Act::Inform { function, said, another: false }));
    }
    acts
}

/// What the person said about this function before the request was known: "hello, I'm Jane".
fn unheard(dialogue: &Dialogue<'_>, function: FunctionId) -> Option<FormUpdate> {
    let turn = dialogue.state.turn;
    let mut all = FormUpdate { turn, ..FormUpdate::default() };
    for line in dialogue.state.lines.iter().rev().filter(|line| line.is_unheard).take(UNHEARD) {
        let Some(found) = said_before(dialogue, &line.text, function) else { continue };
        let is_sure = |value: &SlotValue| value.confidence >= CERTAIN.score() && !value.pointer.contains("/0");
        for value in found.values.into_iter().filter(is_sure) {
            // The latest value counts.
            if all.values.iter().all(|later| later.pointer != value.pointer) {
                all.values.push(value);
            }
        }
    }
    (!all.values.is_empty()).then_some(all)
}

/// What an earlier utterance says about this function: recognized and aligned, without considering other functions.
pub(crate) fn said_before(dialogue: &Dialogue<'_>, text: &str, function: FunctionId) -> Option<FormUpdate> {
    if is_blank(text) {
        return None;
    }
    let now = &dialogue.situation.analysis.now;
    let analysis = Analysis::recognized(dialogue.situation.knowledge, Utterance::new(text), now.clone());
    let nothing = Expected::default();
    let earlier = Situation {
        given: Some(function),
        is_meant: true,
        expected: &nothing,
        hints: &[],
        earlier: &[],
        ..dialogue.situation.within(&analysis)
    };
    let (frame, _) = Reading::new(&earlier, function).judged(&earlier);
    let mut found = said(&frame, dialogue.state.turn, None);
    // The spans would point into an utterance that is no longer there.
    found.values.iter_mut().chain(&mut found.excluded).for_each(|value| value.span = None);
    Some(found)
}

/// "Three burgers, one of them with bacon": what is said about the one, apart from what is said about all.
fn portion(said: &mut FormUpdate, situation: &Situation<'_>) -> Option<FormUpdate> {
    let utterance = situation.utterance();
    let (count, rest) = situation.analysis.acts.moves.iter().find_map(|one| match one.kind {
        MoveKind::Portion { count, rest } if one.confidence >= ACTS => Some((count, rest)),
        _ => None,
    })?;
    let is_within = |value: &SlotValue, span: Span| value.span.is_some_and(|own| span.overlaps(own));
    // The clause ends at a comma.
    let clause = utterance.slice(rest);
    let end = clause.find([',', ';']).map_or(rest.end, |at| rest.start + clause[..at].chars().count());
    let rest = Span::new(rest.start, end);
    said.values.retain(|value| !is_within(value, count));
    let (part, all): (Vec<SlotValue>, Vec<SlotValue>) =
        said.values.drain(..).partition(|value| is_within(value, rest) && value.pointer.contains("/0"));
    said.values = all;
    let portion = count_of(situation, count)?;
    (!part.is_empty()).then(|| FormUpdate {
        turn: said.turn,
        confidence: said.confidence,
        values: part,
        portion: Some(portion),
        ..FormUpdate::default()
    })
}
