//! A turn after its calls were made here: the reply about each, and what the conversation remembers.

use crate::{
    act::{MadeCall, Status},
    assist::history::shortened,
    call::Call,
    conversation::{Confirmation, End, Form, Pending, State, Who},
    dialogue::{question::Voice, result::CallResult},
    snapshot::Snapshot,
    understand::{Conversed, Outcome, Question, Turn},
};

/// The calls of a turn that we make: those of functions with an endpoint that are not in `theirs`, which the client
/// calls itself.
#[must_use]
pub fn own_calls(snapshot: &Snapshot, turn: &Turn, theirs: &[String]) -> Vec<MadeCall> {
    let Outcome::Call(calls) = &turn.outcome else { return Vec::new() };
    let own = calls.iter().filter(|call| is_own(snapshot, call, theirs));
    own.map(|call| MadeCall::new(&snapshot.module.function(call.function()).name, call.arguments())).collect()
}

fn is_own(snapshot: &Snapshot, call: &Call, theirs: &[String]) -> bool {
    let function = snapshot.module.function(call.function());
    function.endpoint.is_some() && !theirs.contains(&function.name)
}

/// The turn after its own calls were made, with `deeds` in their order. Failed ones are reopened, and called only after
/// another yes.
#[must_use]
pub fn acted(
    snapshot: &Snapshot,
    language: Option<&str>,
    conversed: Conversed,
    deeds: Vec<MadeCall>,
    theirs: &[String],
) -> Conversed {
    let Conversed { mut turn, mut state, called } = conversed;
    let Outcome::Call(calls) = turn.outcome else { return Conversed { turn, state, called } };
    let voice = Voice::new(&snapshot.module, language);
    let (mut words, mut failed, mut done, mut left) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut told = Vec::with_capacity(deeds.len());
    let mut rest = deeds.into_iter();
    for (place, call) in calls.into_iter().enumerate() {
        let Some(deed) = is_own(snapshot, &call, theirs).then(|| rest.next()).flatten() else {
            left.push(call);
            continue;
        };
        let deed = judged(deed);
        words.push(said(snapshot, &voice, &deed));
        state.note(Who::Tool, shortened(if deed.text.is_empty() { deed.status.name() } else { &deed.text }));
        if deed.status == Status::Failed {
            failed.extend(called.get(place).cloned());
        } else {
            if deed.status == Status::Done {
                state.learn(&snapshot.module, &deed.function, &result(&deed).value());
            }
            done.push(call);
        }
        told.push(deed);
    }
    turn.deeds = told;
    let words = words.join("\n");
    // The question beside the calls stays; failed calls wait until it is answered.
    let question = reopened(snapshot, &voice, &mut state, failed, turn.pending.is_some());
    turn.outcome = match question {
        _ if !left.is_empty() => Outcome::Call(left),
        Some(question) => Outcome::Ask(question),
        None => {
            let text = turn.pending.as_ref().map(|pending| pending.text.clone()).unwrap_or_default();
            Outcome::Done { text, calls: done }
        }
    };
    match &mut turn.outcome {
        Outcome::Done { text, .. } if text.is_empty() => text.clone_from(&words),
        _ => turn.preface(&words),
    }
    if let Some(text) = turn.reply() {
        retold(&mut state, text);
    }
    Conversed { turn, state, called }
}

/// Reports calls of an earlier turn with unknown results before anything else.
pub fn interrupted(snapshot: &Snapshot, language: Option<&str>, turn: &mut Turn, deeds: Vec<MadeCall>) {
    let voice = Voice::new(&snapshot.module, language);
    let deeds: Vec<MadeCall> = deeds.into_iter().map(judged).collect();
    let words: Vec<String> = deeds.iter().map(|deed| said(snapshot, &voice, deed)).collect();
    if !words.is_empty() {
        turn.preface(&words.join("\n"));
        turn.deeds.splice(0..0, deeds);
    }
}

/// A service may report in a successful answer that it did nothing.
fn judged(deed: MadeCall) -> MadeCall {
    let is_refusal = deed.status == Status::Done && result(&deed).failure().is_some();
    if is_refusal { MadeCall { status: Status::Failed, ..deed } } else { deed }
}

fn result(deed: &MadeCall) -> CallResult {
    CallResult { function: Some(deed.function.clone()), arguments: deed.arguments.clone(), text: deed.text.clone() }
}

fn said(snapshot: &Snapshot, voice: &Voice<'_>, deed: &MadeCall) -> String {
    let function = snapshot.module.function_named(&deed.function).map(|id| snapshot.module.function(id));
    match (deed.status, function) {
        (Status::Done, _) => voice.result(&result(deed)),
        (Status::Unknown | Status::Begun, Some(function)) => voice.uncertain(function),
        // The module no longer has the function.
        (Status::Failed | Status::Unknown | Status::Begun, _) => voice.failed(&result(deed)),
    }
}

/// Reopens the forms of failed calls, each to be called only after a yes; and asks for that, unless another question is
/// pending.
fn reopened(
    snapshot: &Snapshot,
    voice: &Voice<'_>,
    state: &mut State,
    failed: Vec<Form>,
    is_asking: bool,
) -> Option<Question> {
    let function = failed.last()?.function.clone();
    for form in &failed {
        if let Some(place) =
            state.finished.iter().rposition(|end| end.function == form.function && end.end == End::Called)
        {
            state.finished.remove(place);
        }
        if state.last_call.as_ref().is_some_and(|last| last.function == form.function) {
            state.last_call = None;
        }
    }
    let again = failed.into_iter().map(|form| Form { is_doubtful: true, confirmation: Confirmation::Open, ..form });
    if is_asking {
        state.forms.splice(0..0, again);
        return None;
    }
    state.forms.extend(again);
    let form = state.forms.last_mut()?;
    form.confirmation = Confirmation::Asked;
    let id = snapshot.module.function_named(&function)?;
    let pending = Pending::Confirm { function: id };
    state.expects = pending.expects(&snapshot.module);
    let question = voice.question(&snapshot.validator, form, pending, 0);
    Some(question)
}

/// Updates what the conversation remembers of the reply, if a question of the turn is already there.
fn retold(state: &mut State, text: &str) {
    let since = state.lines.iter().rposition(|line| line.who == Who::Person).map_or(0, |person| person + 1);
    match state.lines[since..].iter_mut().rfind(|line| line.who == Who::Assistant) {
        Some(line) => line.text = shortened(text),
        None => state.note(Who::Assistant, shortened(text)),
    }
}
