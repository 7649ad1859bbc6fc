//! A conversation that exists only in its messages: its state is rebuilt from them, turn by turn, and cached for the
//! next request of the same conversation.
//!
//! The cache makes requests faster and changes nothing else: an entry is only found by everything that it was made
//! from. Each owner has its own entries: none finds what another one said or had done, and none loses room to another
//! one. The one exception is time. Messages do not say when they were said, so "tomorrow" in an old one is relative to
//! now, or to the request that first brought it if that was a few minutes ago.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{
    assist::history::{HistoryMessage, shortened},
    conversation::{End, Expects, State, Tenant, Who},
    module::{Module, settings::StrategyName},
    shares::SharedCache,
    snapshot::Snapshot,
    text::is_blank,
    understand::{CallResult, Conversed, Demand, TurnError, TurnRequest, Understander},
};

/// Most messages before the utterance that count, and the step in which older ones are dropped: dropping them one by
/// one would make each request of a long conversation start with another message, and be read again from there.
const REMEMBERED: usize = 40;
const STEP: usize = 20;

/// Longest earlier message that is understood again, in characters. A longer one only counts as said: even many long
/// messages then cost no more than a few utterances.
pub(super) const UNDERSTOOD: usize = 2_000;

/// Two requests within this many seconds share the same "now" for earlier messages.
const SAME_MOMENT: i64 = 600;

type ReplayKey = [u8; blake3::OUT_LEN];

/// States by the messages that led to them, as JSON: a third of the memory that they take otherwise.
pub struct Replays(Mutex<SharedCache<Tenant, ReplayKey, Vec<u8>>>);

/// Note if the earlier messages were too long to be read again.
const BEGUN_ANEW: &str =
    "the messages before are too long to be read again within their budget: nothing of them is open";

/// The result of replaying a history.
struct Replayed {
    state: State,
    /// The key for the cache.
    key: ReplayKey,
    /// Whether all of it was read.
    is_whole: bool,
}

impl Replays {
    /// Keeps at most `most` states, and at most `most_bytes` bytes of them.
    #[must_use]
    pub fn new(most: usize, most_bytes: usize) -> Self {
        Self(Mutex::new(SharedCache::new(most, most_bytes)))
    }

    /// [`Understander::converse`] on the state after the request's history. Earlier messages of the person are
    /// understood locally: they were answered before, and a model server need not answer them again.
    ///
    /// # Errors
    /// As [`Understander::turn`].
    pub async fn converse(
        &self,
        owner: &Tenant,
        understander: &Understander,
        snapshot: &Snapshot,
        request: &TurnRequest,
    ) -> Result<Conversed, TurnError> {
        let Replayed { mut state, key: last, is_whole } =
            self.replayed(owner, understander, snapshot, request, &request.history).await?;
        believe(&mut state, &request.history);
        let mut conversed = understander.converse(snapshot, &state, request).await?;
        if !is_whole {
            conversed.turn.trace.notes.push(BEGUN_ANEW.to_owned());
            return Ok(conversed);
        }
        // Only if the next request could not distinguish the turn from one without special demands, and would get the
        // same result without the cache.
        let is_plain = request.demand == Demand::Auto && request.given.is_none() && !request.single;
        if is_plain && is_understood_again(&request.utterance) {
            let said = HistoryMessage::Person(request.utterance.clone());
            self.keep(owner, extended(&last, &said), &conversed.state);
        }
        Ok(conversed)
    }

    /// Caches the state of a turn after more was done than its words say.
    pub fn amend(
        &self,
        owner: &Tenant,
        understander: &Understander,
        snapshot: &Snapshot,
        request: &TurnRequest,
        state: &State,
    ) {
        let history = recent(&request.history);
        let keys = keys(snapshot, request, &understander.now(snapshot, request), history);
        self.keep(owner, extended(&keys[history.len()], &HistoryMessage::Person(request.utterance.clone())), state);
    }

    /// The question beside the calls that answered the request's utterance, if it is still open: not one about a function in
    /// `called`, which the client called in the meantime. There is no new utterance.
    ///
    /// # Errors
    /// As [`Understander::turn`].
    pub async fn pending(
        &self,
        owner: &Tenant,
        understander: &Understander,
        snapshot: &Snapshot,
        request: &TurnRequest,
        called: impl IntoIterator<Item = &str>,
    ) -> Result<Option<String>, TurnError> {
        let mut history = request.history.clone();
        if !is_blank(&request.utterance) {
            history.push(HistoryMessage::Person(request.utterance.clone()));
        }
        let Replayed { mut state, .. } = self.replayed(owner, understander, snapshot, request, &history).await?;
        called.into_iter().for_each(|name| self::called(&mut state, name));
        let asked = state.lines.iter().rfind(|line| line.who != Who::Called).filter(|_| state.expects.is_some());
        Ok(asked.filter(|line| line.who == Who::Assistant).map(|line| line.text.clone()))
    }

    /// The state after a history. All its messages together have the fuel of one request. If that is not enough,
    /// nothing of them is known: the conversation starts again.
    async fn replayed(
        &self,
        owner: &Tenant,
        understander: &Understander,
        snapshot: &Snapshot,
        request: &TurnRequest,
        history: &[HistoryMessage],
    ) -> Result<Replayed, TurnError> {
        let understander = &understander.fueled();
        let history = recent(history);
        let moment = understander.now(snapshot, request);
        let keys = keys(snapshot, request, &moment, history);
        let (mut state, done) = self.nearest(owner, &keys).unwrap_or_else(|| (State::new(&snapshot.module.name), 0));
        for (place, said) in history.iter().enumerate().skip(done) {
            let text = match said {
                HistoryMessage::Person(text) if is_understood_again(text) => text,
                _ => {
                    hear(&snapshot.module, &mut state, said);
                    continue;
                }
            };
            let again = TurnRequest {
                utterance: text.clone(),
                strategy: Some(StrategyName::Local),
                now: Some(moment.clone()),
                among: request.among.clone(),
                first: request.first.clone(),
                language: request.language.clone(),
                owner: request.owner.clone(),
                in_background: request.in_background,
                ..TurnRequest::default()
            };
            believe(&mut state, &history[..place]);
            match understander.converse(snapshot, &state, &again).await {
                Ok(_) if understander.is_out_of_fuel() => {
                    let mut state = State::new(&snapshot.module.name);
                    catch_up(&snapshot.module, &mut state, history);
                    return Ok(Replayed { state, key: keys[history.len()], is_whole: false });
                }
                Ok(conversed) => state = conversed.state,
                Err(TurnError::EmptyUtterance | TurnError::LongUtterance { .. }) => {
                    hear(&snapshot.module, &mut state, said);
                }
                Err(error) => return Err(error),
            }
        }
        if done < history.len() {
            self.keep(owner, keys[history.len()], &state);
        }
        Ok(Replayed { state, key: keys[history.len()], is_whole: true })
    }

    /// The state after the longest cached beginning of the messages, and the length of that beginning.
    fn nearest(&self, owner: &Tenant, keys: &[ReplayKey]) -> Option<(State, usize)> {
        let mut kept = self.kept();
        let done = keys.iter().rposition(|key| kept.contains(owner, key))?;
        Some((serde_json::from_slice(kept.get(owner, &keys[done])?).ok()?, done))
    }

    fn keep(&self, owner: &Tenant, key: ReplayKey, state: &State) {
        let Ok(json) = serde_json::to_vec(state) else { return };
        let bytes = json.len();
        self.kept().put(owner, key, json, bytes);
    }

    /// No operation leaves entries and their sizes inconsistent, so a poisoned lock is safe to use.
    fn kept(&self) -> MutexGuard<'_, SharedCache<Tenant, ReplayKey, Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_understood_again(text: &str) -> bool {
    text.chars().nth(UNDERSTOOD).is_none()
}

/// Adds what others said since the last turn of a state, wherever it is kept: texts of an assistant, calls, and their
/// results.
pub fn catch_up(module: &Module, state: &mut State, meanwhile: &[HistoryMessage]) {
    meanwhile.iter().for_each(|said| hear(module, state, said));
}

/// Adds a message that is not a turn.
fn hear(module: &Module, state: &mut State, said: &HistoryMessage) {
    match said {
        HistoryMessage::Person(text) => state.note(Who::Person, shortened(text)),
        HistoryMessage::Tool(text) => {
            result(module, state, text);
            state.note(Who::Tool, shortened(text));
        }
        HistoryMessage::Assistant(text) => assistant(state, text.trim()),
        HistoryMessage::Called(text) => called(state, text),
    }
}

/// The result of the only call of the turn: what it says is remembered, and the call is forgotten if the person refused it.
/// Of several calls, it is not known which one it belongs to.
fn result(module: &Module, state: &mut State, text: &str) {
    let turn = state.turn;
    let mut called = state.finished.iter().filter(|end| end.end == End::Called && end.turn == turn);
    let Some(function) = called.next().filter(|_| called.next().is_none()).map(|end| end.function.clone()) else {
        return;
    };
    let result = CallResult { function: Some(function.clone()), text: text.to_owned(), ..CallResult::default() };
    if result.is_refused() {
        state.last_call = None;
    } else if result.failure().is_none() && state.called_since().all(|name| name == function) {
        state.learn(module, &function, &result.value());
    }
}

/// Consent counts only for a question that stands in the messages as we asked it: between the request and the yes, and
/// not blank. Other text of an assistant there withdraws the question ([`assistant`]).
fn believe(state: &mut State, before: &[HistoryMessage]) {
    let mut since = before.iter().rev().take_while(|said| !matches!(said, HistoryMessage::Person(_)));
    if !since.any(|said| matches!(said, HistoryMessage::Assistant(text) if !is_blank(text))) {
        state.withdraw_consent();
    }
}

/// Text of the assistant. If it is not what we asked there, a short answer has no known question. A question that wants
/// a yes must be at its end.
fn assistant(state: &mut State, text: &str) {
    if is_blank(text) {
        return;
    }
    let is_consent = state.awaits_consent();
    let since = state.lines.iter().rposition(|line| line.who == Who::Person).map_or(0, |person| person + 1);
    let ours = state.lines[since..].iter_mut().rfind(|line| line.who == Who::Assistant);
    match ours {
        Some(ours) if ours.text.trim() == text => {}
        Some(ours) => {
            // Our question may stand among other words.
            let question = ours.text.trim();
            let is_put =
                !is_blank(question) && if is_consent { text.ends_with(question) } else { text.contains(question) };
            ours.text = shortened(text);
            if !is_put {
                state.withdraw_consent();
                state.expects = None;
            }
        }
        None => {
            state.withdraw_consent();
            state.expects = None;
            state.note(Who::Assistant, shortened(text));
        }
    }
}

/// A call. One that we did not make still counts as made: its form is done.
fn called(state: &mut State, text: &str) {
    let name = text.split('(').next().unwrap_or_default();
    let is_ours =
        |end: &crate::conversation::Finished| end.function == name && end.end == End::Called && end.turn == state.turn;
    if state.finished.iter().any(is_ours) {
        return;
    }
    if let Some(place) = state.forms.iter().rposition(|form| form.function == name) {
        state.finish(place, End::Called);
        let is_about = match &state.expects {
            Some(Expects::Slots { function, .. } | Expects::Yes { function } | Expects::Change { function }) => {
                function == name
            }
            Some(Expects::Choice { .. }) | None => false,
        };
        if is_about {
            state.expects = None;
        }
    }
    state.note(Who::Called, shortened(text));
}

/// The last messages, starting at a place that moves in steps.
fn recent(history: &[HistoryMessage]) -> &[HistoryMessage] {
    let over = history.len().saturating_sub(REMEMBERED);
    &history[over.div_ceil(STEP) * STEP..]
}

/// The cache key for each beginning of the messages, from none to all.
fn keys(
    snapshot: &Snapshot,
    request: &TurnRequest,
    moment: &jiff::Zoned,
    history: &[HistoryMessage],
) -> Vec<ReplayKey> {
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        // Lengths keep the parts apart.
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(snapshot.module.name.as_str().as_bytes());
    part(snapshot.module.version.as_bytes());
    part(request.language.as_deref().unwrap_or_default().as_bytes());
    part(request.instructions.as_deref().unwrap_or_default().as_bytes());
    part(request.strategy.map_or("", StrategyName::name).as_bytes());
    part(&moment.timestamp().as_second().div_euclid(SAME_MOMENT).to_le_bytes());
    part(moment.time_zone().iana_name().unwrap_or_default().as_bytes());
    part(&moment.offset().seconds().to_le_bytes());
    for function in request.among.iter().flatten() {
        part(&function.index().to_le_bytes());
    }
    for function in request.first.iter().flatten() {
        part(&function.index().to_le_bytes());
    }
    part(if request.first.is_some() { b"first" } else { b"alike" });
    part(if request.among.is_some() { b"some" } else { b"all" });
    let mut keys = vec![*hasher.finalize().as_bytes()];
    for said in history {
        keys.push(extended(&keys[keys.len() - 1], said));
    }
    keys
}

/// The key with one more message.
fn extended(key: &ReplayKey, said: &HistoryMessage) -> ReplayKey {
    let (who, text) = match said {
        HistoryMessage::Person(text) => (b'p', text),
        HistoryMessage::Assistant(text) => (b'a', text),
        HistoryMessage::Called(text) => (b'c', text),
        HistoryMessage::Tool(text) => (b't', text),
    };
    *blake3::Hasher::new().update(key).update(&[who]).update(text.as_bytes()).finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use crate::{
        conversation::Form,
        module::{Limits, ModuleName, ad_hoc},
        understand::replay::*,
    };

    fn module() -> Module {
        ad_hoc(ModuleName::new("weather").unwrap(), &[], None, None, &Limits::default()).unwrap()
    }

    fn asked(question: &str) -> State {
        let mut state = State::new(&ModuleName::new("weather").unwrap());
        state.turn = 1;
        state.forms.push(Form::new("f", 1));
        state.expects = Some(Expects::Slots { function: "f".into(), pointers: vec!["/a".into()] });
        state.note(Who::Person, "how warm is it?");
        state.note(Who::Assistant, question);
        state
    }

    #[test]
    fn an_assistants_own_words_are_no_question_of_ours() {
        for (said, expects) in
            [("Where?", true), (" Where?\n", true), ("Sure! Where?", true), ("Lovely day.", false), ("", true)]
        {
            let mut state = asked("Where?");
            catch_up(&module(), &mut state, &[HistoryMessage::Assistant(said.into())]);
            assert_eq!(state.expects.is_some(), expects, "{said:?}");
            assert_eq!((state.lines.len(), state.forms.len()), (2, 1), "{said:?}");
            if !said.is_empty() {
                assert_eq!(state.lines[1].text, said.trim());
            }
        }
    }

    #[test]
    fn a_yes_counts_only_behind_its_question() {
        let person = || HistoryMessage::Person("close my account".into());
        let question = || HistoryMessage::Assistant("Close account. Is that right?".into());
        let with_more = |more: &str| HistoryMessage::Assistant(more.into());
        for (meanwhile, counts) in [
            (vec![question()], true),
            (vec![with_more("Sure! Close account. Is that right?")], true),
            (vec![], false),
            (vec![with_more("")], false),
            (vec![with_more("  ")], false),
            (vec![with_more("One moment.")], false),
            (vec![with_more("Close account. Is that right? Or shall I show your balance?")], false),
            (vec![question(), with_more("One moment.")], false),
        ] {
            let mut state = asked("Close account. Is that right?");
            state.expects = Some(Expects::Yes { function: "f".into() });
            catch_up(&module(), &mut state, &meanwhile);
            believe(&mut state, &[vec![person()], meanwhile.clone()].concat());
            assert_eq!(state.awaits_consent(), counts, "{meanwhile:?}");
            assert_eq!(state.forms.len(), 1);
        }
    }

    #[test]
    fn a_call_ends_its_form_and_no_other() {
        let mut state = asked("Where?");
        catch_up(&module(), &mut state, &[HistoryMessage::Called("g({})".into()), HistoryMessage::Tool("ok".into())]);
        assert_eq!((state.forms.len(), state.expects.is_some()), (1, true));
        catch_up(&module(), &mut state, &[HistoryMessage::Called("f({\"a\":1})".into())]);
        assert_eq!((state.forms.len(), state.expects.is_some()), (0, false));
        assert_eq!(state.finished.len(), 1);
        // The same message again, as happens when we made the call ourselves.
        let lines = state.lines.len();
        catch_up(&module(), &mut state, &[HistoryMessage::Called("f({\"a\":1})".into())]);
        assert_eq!((state.finished.len(), state.lines.len()), (1, lines));
    }

    #[test]
    fn old_messages_go_in_steps() {
        let history = |length: usize| vec![HistoryMessage::Person(String::new()); length];
        let left: Vec<usize> = [0, 1, 40, 41, 60, 61, 100].map(|length| recent(&history(length)).len()).to_vec();
        assert_eq!(left, [0, 1, 40, 21, 40, 21, 40]);
    }

    #[tokio::test]
    async fn what_is_remembered_is_its_owners_alone() {
        let (snapshot, understander) = crate::understand::tests::module().await;
        let request = TurnRequest { utterance: "order".into(), ..TurnRequest::default() };
        let (own, other) = (Tenant::of_key("a"), Tenant::of_key("b"));
        let replays = Replays::new(9, 1 << 20);
        let mut state = replays.converse(&own, &understander, &snapshot, &request).await.unwrap().state;
        state.note(Who::Tool, "balance 4711");
        replays.amend(&own, &understander, &snapshot, &request, &state);
        let history = vec![HistoryMessage::Person("order".into())];
        let next = TurnRequest { utterance: "thanks".into(), history, ..TurnRequest::default() };
        for (owner, knows) in [(&own, true), (&other, false), (&Tenant::everybody(), false)] {
            let state = replays.converse(owner, &understander, &snapshot, &next).await.unwrap().state;
            assert_eq!(state.lines.iter().any(|line| line.text == "balance 4711"), knows, "{owner:?}");
        }
    }

    #[test]
    fn what_is_kept_stays_within_its_bounds() {
        let state = asked("Where?");
        let one = serde_json::to_vec(&state).unwrap().len();
        let replays = Replays::new(100, 3 * one);
        let [own, other] = ["own", "other"].map(Tenant::of_key);
        replays.keep(&other, [0; 32], &state);
        for number in 0..10_u8 {
            replays.keep(&own, [number; 32], &state);
            // Stored twice, counted once.
            replays.keep(&own, [number; 32], &state);
        }
        assert_eq!(replays.kept().size(), (3, 3 * one));
        let nearest =
            |owner, keys: &[ReplayKey]| replays.nearest(owner, keys).map(|(found, done)| (found == state, done));
        assert_eq!(nearest(&own, &[[9; 32], [0; 32]]), Some((true, 0)));
        assert_eq!(nearest(&own, &[[0; 32]]), None);
        assert_eq!(nearest(&other, &[[0; 32], [9; 32]]), Some((true, 0)), "another owner's go first");
        let none = Replays::new(0, 1 << 20);
        none.keep(&own, [0; 32], &state);
        assert!(none.nearest(&own, &[[0; 32]]).is_none());
    }
}
