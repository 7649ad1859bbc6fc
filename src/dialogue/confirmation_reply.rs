//! The reply to "is that right?".

use crate::{
    conversation::{Act, State, Who},
    decide::vocabulary::words_of,
    dialogue::{
        form_reply::form_reply,
        interpretation::{Dialogue, Interpretation, Task},
        open_form::OpenForm,
    },
    recognize::{
        acts::{ACTS, Kind, Moves},
        reply::YesNo,
    },
};

/// A reply is a yes from here on; to say again what was asked for is none.
const YES: f32 = 0.82;

/// See [the module](self). A word of the confirmation, which names every value, is no yes to it: only words of
/// agreement are.
pub(crate) fn confirmation_reply(dialogue: &Dialogue<'_>, open: &OpenForm<'_>) -> Interpretation {
    let analysis = dialogue.situation.analysis;
    let reply = dialogue.told.reply.unwrap_or(analysis.reply);
    // "No, leave it as it is", with or without a reason that changes nothing.
    if reply.answer != YesNo::Affirmative
        && open.acts().any(|one| one.kind == Kind::Keep)
        && (analysis.acts.rest.is_none() || !open.is_told_values(&dialogue.situation))
    {
        return Interpretation::of(vec![Act::Cancel], ACTS);
    }
    let is_no_answer = matches!(reply.answer, YesNo::Irrelevant | YesNo::Indifferent);
    // Who says the same once more means what they are asked about, and has not agreed.
    if is_no_answer && says_again(dialogue) {
        return Interpretation::of(vec![Act::Recall], ACTS);
    }
    if dialogue.told.reply.is_none()
        && is_no_answer
        && dialogue.asks_at(reply.confidence)
        && let Some(question) = last_question(dialogue.state)
    {
        let task = Some(Task::Reply { question: question.to_owned() });
        return Interpretation { task, ..Interpretation::default() };
    }
    let settled = |act: Act| Interpretation::of(vec![act], reply.confidence);
    // "No, don't cancel it" refuses the call, and leaves nothing to change.
    let is_refused = reply.answer != YesNo::Affirmative
        && dialogue.situation.refusal(open.id).is_some()
        && !open.is_told_values(&dialogue.situation);
    match (reply.answer, reply.rest) {
        _ if is_refused => {}
        (YesNo::Affirmative, None) if reply.confidence >= YES => return settled(Act::Yes),
        (YesNo::Negative, None) => return settled(Act::No),
        _ => {}
    }
    let corrects = matches!(reply.answer, YesNo::Affirmative | YesNo::Negative);
    // What stands beside the yes or no is what is to be another way.
    let beside = Moves { rest: reply.rest, ..Moves::default() };
    let is_said_by_acts = analysis.acts.rest.is_none() || !analysis.acts.moves.is_empty();
    let acts = if corrects && !is_said_by_acts { &beside } else { &analysis.acts };
    let found = form_reply(dialogue, &OpenForm { acts, corrects, ..*open });
    let says_something = !found.acts.is_empty() || found.task.is_some();
    match reply.answer {
        _ if !says_something && is_refused => settled(Act::Cancel),
        // A yes with a change is no yes to what was asked, but what it changes is.
        // Of a change that is not understood, there is none.
        YesNo::Affirmative if !says_something && reply.confidence >= YES && analysis.acts.change().is_none() => {
            // What may be another value, and may be none, is put to the person once more.
            if reply.rest.is_some() && open.may_contradict(&dialogue.situation) {
                return Interpretation::of(vec![Act::Recall], ACTS);
            }
            settled(Act::Yes)
        }
        YesNo::Negative if !says_something => settled(Act::No),
        // What is to be another way is asked.
        _ if !says_something && analysis.acts.change().is_some() && !open.form.is_doubtful => {
            Interpretation::of(vec![Act::No], ACTS)
        }
        _ => found,
    }
}

/// True of the same words as in the turn before.
fn says_again(dialogue: &Dialogue<'_>) -> bool {
    let mut said = dialogue.state.lines.iter().rev().filter(|line| line.who == Who::Person);
    said.next().is_some_and(|line| words_of(&line.text) == words_of(dialogue.situation.utterance().text()))
}

/// What was asked last, as it was worded.
fn last_question(state: &State) -> Option<&str> {
    state.lines.iter().rev().find(|line| line.who == Who::Assistant).map(|line| line.text.as_str())
}
