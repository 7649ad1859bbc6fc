//! The reply to "is that right?".

use std::collections::HashSet;

use crate::{
    ablation,
    call::SlotValue,
    conversation::{Act, State, Who, next::completed},
    decide::{
        situation::Situation,
        vocabulary::{own_words, words_of},
    },
    dialogue::{
        form_reply::form_reply,
        interpretation::{Dialogue, Interpretation, ServerQuestion},
        open_form::{ANSWERED, OpenForm},
        question::Voice,
        refusal::refused_for,
    },
    language::Language,
    recognize::{
        acts::{ACTS, Courtesy, MoveKind, Moves},
        reply::{
            Reply, YesNo,
            account::{Account, ReadOut, account},
        },
    },
    text::{Span, is_same_text, plain::first_sentence},
};

/// See [the module](self). Only consent calls what was put to the person. A possible change is applied and put again. A
/// reply that cannot be understood leads to the same confirmation.
pub(crate) fn confirmation_reply(dialogue: &Dialogue<'_>, open: &OpenForm<'_>) -> Interpretation {
    let analysis = dialogue.situation.analysis;
    let reply = dialogue.told.reply.unwrap_or(analysis.reply);
    let account = open.account(dialogue);
    if open.consents(dialogue, &account) || is_told_yes(dialogue) {
        let is_read = reply.answer == YesNo::Affirmative;
        return Interpretation::of(vec![Act::Yes], if is_read { reply.confidence } else { ANSWERED.score() });
    }
    // "No, leave it as it is", with or without a reason, changes nothing.
    let is_kept = reply.answer != YesNo::Affirmative && open.acts().any(|one| one.kind == MoveKind::Keep);
    if ablation::holds("confirm.keep", is_kept) {
        if analysis.acts.rest.is_none() {
            return Interpretation::of(vec![Act::Cancel], ACTS);
        }
        if !open.is_told_values(&dialogue.situation) {
            let found = said_of_it(dialogue, open, reply);
            let asks_beside = found.asks_beside(open);
            return if asks_beside { found.in_place_of(open) } else { Interpretation::of(vec![Act::Cancel], ACTS) };
        }
    }
    if let Some(found) = ablation::found("refusal.refused_for", refused_for(dialogue, open)) {
        return found;
    }
    let is_no_answer = matches!(reply.answer, YesNo::Irrelevant | YesNo::Indifferent);
    if dialogue.told.reply.is_none()
        && is_no_answer
        && dialogue.asks_at(reply.confidence)
        && let Some(question) = last_question(dialogue.state)
    {
        let task = Some(ServerQuestion::Reply { question: question.to_owned() });
        return Interpretation { task, ..Interpretation::default() };
    }
    let is_denied = reply.answer != YesNo::Affirmative && dialogue.situation.refusal(open.id).is_some();
    let is_denied = ablation::holds("confirm.denied", is_denied);
    // "No, don't cancel it" refuses the call and leaves nothing to change.
    let is_refused = is_denied && !open.is_told_values(&dialogue.situation);
    if !is_refused && reply.is_bare_no() && !account.is_contradictory() {
        return Interpretation::of(vec![Act::No], reply.confidence);
    }
    let mut found = said_of_it(dialogue, open, reply);
    if account.agrees {
        put_again(dialogue, open, &mut found);
    } else if is_denied {
        found = found.in_place_of(open);
        // A repeated value that was read out leaves nothing to change either.
        if found.task.is_none() && !found.asks_beside(open) && !found.changes(open) {
            return Interpretation { acts: vec![Act::Cancel], confidence: ACTS, ..found };
        }
    } else if reply.answer == YesNo::Negative && !account.is_contradictory() {
        found = found.instead_of(open);
        // A no with the same values that were read out is a no to everything.
        if ablation::holds("confirm.no_to_all", !found.changes(open)) {
            found.acts.retain(|act| !matches!(act, Act::Inform { function, .. } if *function == open.id));
        }
    }
    if !found.acts.is_empty() || found.task.is_some() {
        return found;
    }
    let act = match reply.answer {
        _ if is_refused => Act::Cancel,
        YesNo::Negative if !account.is_contradictory() => Act::No,
        // Ask what is to be changed.
        _ if ablation::holds("confirm.change", analysis.acts.change().is_some() && !open.form.is_doubtful) => Act::No,
        _ => return found,
    };
    Interpretation { acts: vec![act], confidence: reply.confidence.max(found.confidence), ..found }
}

/// What the reply says about the form, or asks for besides.
fn said_of_it(dialogue: &Dialogue<'_>, open: &OpenForm<'_>, reply: Reply) -> Interpretation {
    let analysis = dialogue.situation.analysis;
    let corrects = matches!(reply.answer, YesNo::Affirmative | YesNo::Negative);
    // The words beside the yes or no say what is to be changed.
    let beside = Moves { rest: reply.rest, ..Moves::default() };
    let is_said_by_acts = analysis.acts.rest.is_none() || !analysis.acts.moves.is_empty();
    let acts = if corrects && !is_said_by_acts { &beside } else { &analysis.acts };
    form_reply(dialogue, &OpenForm { acts, corrects, ..*open })
}

/// A doubtful value stays doubtful until the person just says yes. "Yes; payee: Mallory" may be about the confirmation:
/// a different request that it seems to make is put to the person first, unless it is a question.
fn put_again(dialogue: &Dialogue<'_>, open: &OpenForm<'_>, found: &mut Interpretation) {
    let is_question = dialogue.situation.utterance().ends_as_question();
    for act in &mut found.acts {
        if let Act::Inform { function, said, .. } = act {
            let is_own = *function == open.id;
            said.is_doubtful |= if is_own { open.form.is_doubtful } else { !is_question };
        }
    }
}

/// True if the reply agrees to what was put to the person, and says nothing else.
pub(crate) fn consents(dialogue: &Dialogue<'_>, open: &OpenForm<'_>) -> bool {
    open.consents(dialogue, &open.account(dialogue))
}

/// True if a model server took the reply for a yes, in a language whose words are not known here. In a known language,
/// unexplained words are not consent, even if a server says so.
fn is_told_yes(dialogue: &Dialogue<'_>) -> bool {
    let is_yes = |reply: Reply| reply.answer == YesNo::Affirmative && reply.rest.is_none();
    dialogue.told.reply.is_some_and(is_yes) && Language::of(dialogue.module().language()).is_none()
}

impl OpenForm<'_> {
    /// What explains the words of the reply, beside the values that were read out.
    fn account(&self, dialogue: &Dialogue<'_>) -> Account {
        let (utterance, language) = dialogue.situation.said();
        account(language, &self.read_out(dialogue), utterance.text())
    }

    fn read_out(&self, dialogue: &Dialogue<'_>) -> ReadOut {
        let voice = Voice::new(self.module, None);
        let known = completed(self.form, self.module, &dialogue.situation.knowledge.validator);
        let mut texts = known.map(|known| voice.facts(self.function, &known.arguments, "")).unwrap_or_default();
        texts.push(voice.title(self.function));
        for filled in &self.form.slots {
            texts.extend(filled.text.clone());
            texts.push(filled.value.as_str().map_or_else(|| filled.value.to_string(), str::to_owned));
        }
        let named = [words_of(&self.function.name), words_of(&first_sentence(&self.function.description))].concat();
        let own: HashSet<String> = own_words(self.module, self.id).into_iter().collect();
        let question = last_question(dialogue.state).into_iter();
        let said = dialogue.state.said_before().chain(question).flat_map(words_of);
        let asked_with = said.filter(|word| own.contains(word)).collect();
        ReadOut::new(texts.iter().map(String::as_str)).with_words(named, asked_with)
    }

    /// True of a yes without anything else. Known values may be repeated: the words that are left must all be known
    /// values, and none of them a different value for the same slot; or a reply of such words is heard as consent.
    fn consents(&self, dialogue: &Dialogue<'_>, account: &Account) -> bool {
        if account.may_agree() && account.left.is_empty() && !account.names {
            return true;
        }
        let is_heard = ablation::holds("confirm.heard", self.is_heard_as_consent(dialogue, account));
        if !is_heard && !account.may_agree() {
            return false;
        }
        let own = Situation { given: Some(self.id), is_meant: true, ..dialogue.situation };
        let said = OpenForm { corrects: false, ..*self }.read(&own).said;
        if !said.invalid.is_empty() || !said.removed.is_empty() || !said.excluded.is_empty() {
            return false;
        }
        let is_known = |one: &SlotValue| self.form.of_slot(&one.path()).any(|known| known.value == one.value);
        let same: Vec<_> = said.values.iter().filter(|value| is_known(value)).filter_map(|value| value.span).collect();
        let is_same = |left: &Span| same.iter().any(|span| span.contains(*left));
        if is_heard {
            return said.values.iter().all(is_known);
        }
        said.values.iter().all(|value| is_known(value) || !self.has_other(value) && value.recognizer.is_none())
            && account.left.iter().all(is_same)
    }

    /// True of words that people say who agree, if none of them refuses, negates, waits, doubts, asks or sets a condition.
    /// A greeting and the like agree to nothing, and neither does the request that is sent twice.
    fn is_heard_as_consent(&self, dialogue: &Dialogue<'_>, account: &Account) -> bool {
        let is_open = account.refuses || account.negates || account.unsettles;
        let said = dialogue.situation.utterance().text();
        let is_sent_before = dialogue.state.said_before().any(|before| is_same_text(before, said));
        let greets = dialogue.situation.analysis.acts.courtesy.is_some_and(Courtesy::agrees_to_nothing);
        !is_open
            && !ablation::holds("confirm.greets", greets)
            && (account.agrees || !is_sent_before)
            && dialogue.situation.is_heard_as_consent(&account.left)
    }
}

/// The last question, as it was worded.
fn last_question(state: &State) -> Option<&str> {
    state.lines.iter().rev().find(|line| line.who == Who::Assistant).map(|line| line.text.as_str())
}
