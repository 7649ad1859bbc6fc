//! The effect of an utterance on a conversation.
//!
//! It is read as the first of these that fits: an act on the whole conversation (cancel, start again), the reply to the
//! question that was asked, an answer about the open form, or a separate request.

use crate::{
    ablation,
    conversation::{Act, Expects, State},
    decide::{analysis::Analysis, expected::Expected},
    dialogue::{
        choice_reply::choice_reply,
        confirmation_reply::{confirmation_reply, consents},
        follow_up::follow_up,
        form_reply::form_reply,
        interpretation::{Dialogue, Interpretation},
        new_request::new_request,
        refusal::{asked_in, refused_for},
    },
    module::{FunctionId, Module, SlotId, SlotPath},
    recognize::{
        acts::{ACTS, Courtesy, Move, MoveKind, Pick},
        reply::YesNo,
    },
};

/// What the open form waits for; `None` if there is none.
pub(crate) fn expected(module: &Module, state: &State) -> Option<Expected> {
    let (id, form) = state.active(module).filter(|_| !matches!(state.expects, Some(Expects::Choice { .. })))?;
    let slot = |asked: &String| module.function(id).slot_at(&SlotPath::of_pointer(asked));
    let slots: Vec<SlotId> = state.asked(&form.function).iter().filter_map(slot).collect();
    Some(Expected::of(id, &slots))
}

/// See [the module](self).
pub(crate) fn interpret(dialogue: &Dialogue<'_>) -> Interpretation {
    let courtesy = || ablation::found("interpret.courtesy", courtesy_act(dialogue));
    if let Some(act) = ablation::found("interpret.offer", reply_to_offer(dialogue)).or_else(courtesy) {
        return Interpretation { tied: offered(dialogue), ..Interpretation::of(vec![act], ACTS) };
    }
    if let Some(found) = ablation::found("interpret.act", conversation_act(dialogue)) {
        return found;
    }
    let found = answer(dialogue);
    if ablation::holds("interpret.polite", found.acts.is_empty() && is_polite(dialogue)) {
        return Interpretation { acts: vec![Act::Polite], task: None, ..found };
    }
    found
}

/// The courtesy that is the whole utterance, unless a function of the module is for it.
fn courtesy(dialogue: &Dialogue<'_>) -> Option<Courtesy> {
    let teaches = |courtesy: &Courtesy| dialogue.situation.knowledge.vocabulary.teaches(*courtesy);
    dialogue.situation.analysis.acts.courtesy.filter(|courtesy| courtesy.is_no_value() && !teaches(courtesy))
}

/// True if the utterance is only thanks, a greeting or the like, while something was asked.
fn is_polite(dialogue: &Dialogue<'_>) -> bool {
    !dialogue.state.is_idle() && courtesy(dialogue).is_some()
}

/// The act of a courtesy that needs an answer whatever was asked: the person needs time, an explanation or a human.
fn courtesy_act(dialogue: &Dialogue<'_>) -> Option<Act> {
    match courtesy(dialogue)? {
        Courtesy::Person => Some(Act::HandOver),
        courtesy => (courtesy.wants_answer() && !dialogue.state.is_idle()).then_some(Act::Polite),
    }
}

/// The yes or no to "shall I hand you over to a person?"
fn reply_to_offer(dialogue: &Dialogue<'_>) -> Option<Act> {
    let reply = dialogue.situation.analysis.reply;
    match () {
        () if !dialogue.state.offers_person => None,
        () if reply.is_bare_yes() => Some(Act::HandOver),
        () if reply.is_bare_no() => Some(Act::Recall),
        () => None,
    }
}

/// The functions from which one is to be chosen.
fn offered(dialogue: &Dialogue<'_>) -> Vec<FunctionId> {
    let module = dialogue.module();
    match &dialogue.state.expects {
        Some(Expects::Choice { functions, .. }) => {
            functions.iter().filter_map(|name| module.function_named(name)).collect()
        }
        _ => Vec::new(),
    }
}

fn answer(dialogue: &Dialogue<'_>) -> Interpretation {
    match (&dialogue.state.expects, dialogue.open_form()) {
        (Some(Expects::Choice { functions, utterance, .. }), _) => choice_reply(dialogue, functions, utterance),
        (_, None) => {
            let request = new_request(dialogue, &dialogue.situation, &dialogue.state.forms);
            follow_up(dialogue, request)
        }
        (Some(Expects::Change { .. }), Some(_))
            if ablation::holds("interpret.changes_nothing", changes_nothing(dialogue)) =>
        {
            Interpretation::of(vec![Act::Cancel], ACTS)
        }
        (Some(Expects::Yes { .. }), Some(form)) => confirmation_reply(dialogue, &form),
        (expects, Some(form)) => {
            ablation::found("refusal.refused_for", refused_for(dialogue, &form)).unwrap_or_else(|| {
                let found = form_reply(dialogue, &form);
                // The call was refused before.
                if matches!(expects, Some(Expects::Change { .. })) { found.instead_of(&form) } else { found }
            })
        }
    }
}

/// An act on the whole conversation. The words beside it are read without the form that the act ends.
fn conversation_act(dialogue: &Dialogue<'_>) -> Option<Interpretation> {
    let Dialogue { situation, state, .. } = dialogue;
    // Cancelling a choice does not end a form.
    if state.is_idle() || matches!(state.expects, Some(Expects::Choice { .. })) {
        return None;
    }
    let analysis = situation.analysis;
    let expects_yes = matches!(state.expects, Some(Expects::Yes { .. }));
    // "Yes, cancel it", if exactly that was asked; "go on then".
    if expects_yes && dialogue.open_form().is_some_and(|open| consents(dialogue, &open)) {
        return None;
    }
    let agrees = expects_yes && analysis.reply.answer == YesNo::Affirmative;
    let of_conversation = |one: &Move| {
        let act = match one.kind {
            // "Yes, cancel it", if something else was asked: it is not clear which is meant.
            MoveKind::Cancel if ablation::holds("interpret.agrees_to_cancel", agrees) => return None,
            MoveKind::Cancel => Act::Cancel,
            MoveKind::Restart => Act::Restart,
            MoveKind::Recall => Act::Recall,
            MoveKind::Resume => Act::Resume,
            _ => return None,
        };
        (one.confidence >= ACTS).then_some((act, one.confidence))
    };
    let (act, confidence) = analysis.acts.moves.iter().find_map(of_conversation)?;
    if analysis.acts.rest.is_none() {
        return Some(Interpretation::of(vec![act], confidence));
    }
    // If there are values beside it, the values count.
    let mut found = asked_in(dialogue, analysis.rest.as_ref().filter(|_| act == Act::Cancel)?);
    found.acts.insert(0, act);
    found.confidence = found.confidence.max(confidence);
    Some(found)
}

/// No change is wanted after all.
fn changes_nothing(dialogue: &Dialogue<'_>) -> bool {
    let Analysis { acts, reply, .. } = dialogue.situation.analysis;
    let is_no = reply.is_bare_no();
    let keeps = |one: &Move| matches!(one.kind, MoveKind::Pick(Pick::None) | MoveKind::Skip | MoveKind::Keep);
    is_no || acts.rest.is_none() && acts.moves.iter().any(keeps)
}
