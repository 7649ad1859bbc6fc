//! What an utterance does to a conversation.
//!
//! It is read as the first of these that it may be: an act of the whole conversation (cancel, begin anew), the reply to
//! the question that was asked, something said of the open form, a request of its own.

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
        acts::{ACTS, Courtesy, Kind, Move, Pick},
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

/// Nothing but a courtesy that no function of the module is for.
fn courtesy(dialogue: &Dialogue<'_>) -> Option<Courtesy> {
    let teaches = |courtesy: &Courtesy| dialogue.situation.knowledge.vocabulary.teaches(*courtesy);
    dialogue.situation.analysis.acts.courtesy.filter(|courtesy| courtesy.is_no_value() && !teaches(courtesy))
}

/// Nothing but thanks, a greeting and the like, where something was asked.
fn is_polite(dialogue: &Dialogue<'_>) -> bool {
    !dialogue.state.is_idle() && courtesy(dialogue).is_some()
}

/// What is said by a courtesy that wants an answer, whatever was asked: who needs time, an explanation or a person.
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

/// The functions of which one is to be chosen.
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
                // It was refused before.
                if matches!(expects, Some(Expects::Change { .. })) { found.instead_of(&form) } else { found }
            })
        }
    }
}

/// An act of the whole conversation. What is said beside it is read without the form that it ends.
fn conversation_act(dialogue: &Dialogue<'_>) -> Option<Interpretation> {
    let Dialogue { situation, state, .. } = dialogue;
    // What a choice is cancelled of is no form.
    if state.is_idle() || matches!(state.expects, Some(Expects::Choice { .. })) {
        return None;
    }
    let analysis = situation.analysis;
    let expects_yes = matches!(state.expects, Some(Expects::Yes { .. }));
    // "Yes, cancel it", where just that is put; "go on then".
    if expects_yes && dialogue.open_form().is_some_and(|open| consents(dialogue, &open)) {
        return None;
    }
    let agrees = expects_yes && analysis.reply.answer == YesNo::Affirmative;
    let of_conversation = |one: &Move| {
        let act = match one.kind {
            // "Yes, cancel it", where something else is put: nobody knows which is meant.
            Kind::Cancel if ablation::holds("interpret.agrees_to_cancel", agrees) => return None,
            Kind::Cancel => Act::Cancel,
            Kind::Restart => Act::Restart,
            Kind::Recall => Act::Recall,
            Kind::Resume => Act::Resume,
            _ => return None,
        };
        (one.confidence >= ACTS).then_some((act, one.confidence))
    };
    let (act, confidence) = analysis.acts.moves.iter().find_map(of_conversation)?;
    if analysis.acts.rest.is_none() {
        return Some(Interpretation::of(vec![act], confidence));
    }
    // With values beside it, the values count.
    let mut found = asked_in(dialogue, analysis.rest.as_ref().filter(|_| act == Act::Cancel)?);
    found.acts.insert(0, act);
    found.confidence = found.confidence.max(confidence);
    Some(found)
}

/// No, nothing is to be changed after all.
fn changes_nothing(dialogue: &Dialogue<'_>) -> bool {
    let Analysis { acts, reply, .. } = dialogue.situation.analysis;
    let is_no = reply.is_bare_no();
    let keeps = |one: &Move| matches!(one.kind, Kind::Pick(Pick::None) | Kind::Skip | Kind::Keep);
    is_no || acts.rest.is_none() && acts.moves.iter().any(keeps)
}
