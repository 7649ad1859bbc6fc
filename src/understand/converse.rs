//! One turn of a conversation: analyse, interpret, ask a model server in case of doubt, apply, answer.

use std::time::Instant;

use crate::{
    assist::{
        ask::{self, Decided},
        history::EarlierMessages,
        ledger::Ledger,
    },
    conversation::{Form, Manners, State, Who, apply},
    decide::{
        analysis::Analysis,
        expected::Expected,
        situation::{Requests, Situation},
        state_question::put_if_asked,
    },
    dialogue::{
        interpret::{self, interpret},
        interpretation::{Assistance, Dialogue, Interpretation, ServerQuestion, ServerReading},
        next_step::{TurnAnswer, Turning},
    },
    llm::Usage,
    module::settings::StrategyName,
    recognize::reply,
    snapshot::Snapshot,
    telemetry::milliseconds,
    understand::{
        CUT_SHORT, DecidedBy, HistoryMessage, Outcome, Trace, Turn, TurnError, TurnRequest, Understander,
        analysis::{Analysed, among},
    },
};

/// A turn, and the conversation after it.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversed {
    /// Its frames are the forms as they are now, including values of earlier turns; called ones come first.
    pub turn: Turn,
    pub state: State,
    /// The forms of the turn's calls, in order.
    pub called: Vec<Form>,
}

/// What model servers contributed to a turn.
struct Assisted {
    assistance: Assistance,
    told: ServerReading,
    decided_by: DecidedBy,
    notes: Vec<String>,
}

/// The input for a question to a model server.
#[derive(Clone, Copy)]
struct Asking<'a> {
    snapshot: &'a Snapshot,
    request: &'a TurnRequest,
    heard: &'a EarlierMessages<'a>,
    situation: Situation<'a>,
}

impl Understander {
    /// Understands one utterance of a conversation. `state` is the one before it, [`State::new`] at the beginning; it
    /// must belong to this module ([`State::adopted`]). The same state and request give the same answer unless a model
    /// server is asked.
    ///
    /// # Errors
    /// As [`Self::turn`]; then the conversation is unchanged.
    pub async fn converse(
        &self,
        snapshot: &Snapshot,
        state: &State,
        request: &TurnRequest,
    ) -> Result<Conversed, TurnError> {
        self.fueled().converse_on(snapshot, state, request).await
    }

    async fn converse_on(
        &self,
        snapshot: &Snapshot,
        state: &State,
        request: &TurnRequest,
    ) -> Result<Conversed, TurnError> {
        let started = Instant::now();
        let mut ledger = self.ledger(snapshot, request);
        let mut conversed = match request.in_order() {
            None => self.converse_with(snapshot, state, request, &mut ledger).await?,
            Some((own, all)) => {
                let is_first = |id| own.among.as_ref().is_some_and(|among| among.contains(&id));
                let is_other = state.active(&snapshot.module).is_some_and(|(id, _)| !is_first(id));
                let first =
                    if is_other { None } else { Some(self.converse_with(snapshot, state, &own, &mut ledger).await?) };
                match first.filter(|first| first.turn.outcome != Outcome::NoMatch || first.turn.is_answered) {
                    Some(conversed) => conversed,
                    None => self.converse_with(snapshot, state, &all, &mut ledger).await?,
                }
            }
        };
        self.is_waited_for()?;
        conversed.turn.settle(started, ledger);
        Ok(conversed)
    }

    async fn converse_with(
        &self,
        snapshot: &Snapshot,
        state: &State,
        request: &TurnRequest,
        ledger: &mut Ledger,
    ) -> Result<Conversed, TurnError> {
        let started = Instant::now();
        let asked_before = ledger.llm_ms();
        let module = &snapshot.module;
        let mut before = state.clone();
        before.turn += 1;
        let expected = interpret::expected(module, &before).unwrap_or_else(|| request.expected.clone());
        let request = TurnRequest { expected, history: history(&before), ..request.clone() };
        let heard = EarlierMessages::new(&request.history);
        let Analysed { analysis, took } = self.analyse(snapshot, &request).await?;
        let situation = self.situation(snapshot, &request, &heard.earlier, &analysis);
        let asking = Asking { snapshot, request: &request, heard: &heard, situation };
        let (mut found, assisted) = self.interpret(asking, &before, ledger).await?;
        if self.fuel.is_out() {
            found.doubt(module, &before);
            found.notes.push(CUT_SHORT.to_owned());
        }

        let mut state = before.clone();
        let carry = module.settings.conversation.carry.unwrap_or(true);
        let core = self.cores.free(&request).await;
        let applied = core.run(|| {
            self.fuel.burn(|| apply(&mut state, module, &snapshot.validator, &found.acts, carry)) //
        });
        let turning = Turning {
            knowledge: snapshot,
            language: request.language.as_deref(),
            manners: self.manners(),
            now: &analysis.now,
            utterance: &request.utterance,
            moves: &analysis.acts,
            before: &before,
            applied: &applied,
            tied: &found.tied,
        };
        let core = self.cores.free(&request).await;
        let TurnAnswer { outcome, pending, remark, is_answered, frames, notes, called } =
            core.run(|| self.fuel.burn(|| turning.next_step(&mut state)));

        let requests = found.requests.unwrap_or_else(|| Requests::one(&analysis));
        let mut trace = Trace::new(&situation.with(&requests), took);
        trace.notes.extend([assisted.notes, found.notes, notes].concat());
        trace.alternatives = found.alternatives;
        trace.beside = found.beside;
        trace.explanations = self.explained(&request, &situation, &frames, &trace.alternatives).await;
        let analysed = took.recognize + took.embed + took.retrieve;
        trace.timings.decide = (milliseconds(started) - analysed - (ledger.llm_ms() - asked_before)).max(0.0);
        let (confidence, decided_by, usage) = (found.confidence, assisted.decided_by, Usage::default());
        let deeds = Vec::new();
        let turn = Turn { outcome, confidence, decided_by, frames, trace, usage, pending, remark, is_answered, deeds };
        let mut conversed = Conversed { turn, state, called };
        self.word(snapshot, &request, &analysis, &mut conversed, ledger).await;
        Ok(conversed)
    }

    /// The utterance's dialogue acts: read locally, and in case of doubt again with a model server's answer.
    async fn interpret(
        &self,
        asking: Asking<'_>,
        state: &State,
        ledger: &mut Ledger,
    ) -> Result<(Interpretation, Assisted), TurnError> {
        let among = among(asking.request);
        let mut assisted = Assisted {
            assistance: self.assistance(asking),
            told: ServerReading::default(),
            decided_by: DecidedBy::Local,
            notes: Vec::new(),
        };
        loop {
            let dialogue = Dialogue {
                situation: asking.situation,
                state,
                among: among.as_deref(),
                candidates: self.options.candidates,
                assistance: assisted.assistance,
                told: &assisted.told,
            };
            let mut found = self.cores.free(asking.request).await.run(|| self.fuel.burn(|| interpret(&dialogue)));
            // A text that is too long to be read here is not sent to a model server either.
            match found.task.take().filter(|_| !self.fuel.is_out()) {
                None => return Ok((found, assisted)),
                Some(ServerQuestion::Reply { question }) => {
                    self.ask_reply(asking, &question, &mut assisted, ledger).await?;
                }
                Some(ServerQuestion::Requests { part, requests }) => {
                    self.ask_requests(asking, part.as_deref(), &requests, &mut assisted, ledger).await?;
                    assisted.notes.insert(0, format!("the local confidence was {:.2}", found.confidence));
                }
            }
        }
    }

    /// Whether a model server is asked in this turn.
    fn assistance(&self, Asking { snapshot, request, .. }: Asking<'_>) -> Assistance {
        match self.strategy(snapshot, request) {
            strategy if strategy.always_asks() => Assistance::Always,
            StrategyName::Auto if !self.servers.is_empty() => Assistance::InDoubt,
            _ => Assistance::Never,
        }
    }

    /// Asks what the utterance says to a yes-or-no question. The local answer stands if no server answers.
    async fn ask_reply(
        &self,
        Asking { snapshot, request, situation, .. }: Asking<'_>,
        question: &str,
        to: &mut Assisted,
        ledger: &mut Ledger,
    ) -> Result<(), TurnError> {
        let analysis = situation.analysis;
        let read = reply::read(snapshot.module.language(), Some(question), analysis.utterance.text());
        let asked = self.asked_reply(snapshot, Some(question), read, request, analysis, ledger).await?;
        if asked.is_some() {
            to.decided_by = DecidedBy::Staged;
        }
        to.told.reply = Some(asked.unwrap_or(analysis.reply));
        Ok(())
    }

    /// Asks what the utterance, or a part of it, requests. Unless the strategy requires a server, the local reading
    /// stands if no server answers.
    async fn ask_requests(
        &self,
        Asking { snapshot, request, heard, situation }: Asking<'_>,
        part: Option<&Analysis>,
        requests: &Requests,
        to: &mut Assisted,
        ledger: &mut Ledger,
    ) -> Result<(), TurnError> {
        let nothing = Expected::default();
        let whole = match part {
            Some(part) => Situation { expected: &nothing, ..situation.within(part) },
            None => situation,
        };
        let brief = self.brief(snapshot, request, whole.with(requests), &heard.before);
        let strategy = self.strategy(snapshot, request);
        let named = (strategy != StrategyName::Auto).then_some(strategy);
        let local = match named {
            None => Some(self.locally(request, &brief).await.decision),
            Some(_) => None,
        };
        match ask::decide(&self.servers, named, local.as_ref(), &brief, ledger).await {
            Ok(Decided { decision, by, .. }) => {
                to.notes.push("asked the model server what the utterance asks for".to_owned());
                to.told.decision = Some(put_if_asked(&whole, decision));
                to.decided_by = by;
            }
            Err(error) => {
                // A prompt that does not render is the author's to fix; answering without it would hide the error.
                let Some(why) = error.reason().filter(|_| named.is_none()) else {
                    return Err(TurnError::of_asking(error, strategy));
                };
                to.notes.push(format!("decided locally: {why}"));
                to.assistance = Assistance::Never;
            }
        }
        Ok(())
    }

    /// How questions are asked, for modules that do not set it.
    #[must_use]
    pub fn manners(&self) -> Manners {
        Manners { ask: self.options.ask, tries: self.options.tries }
    }
}

/// The messages of a conversation, as input for a turn.
pub(crate) fn history(state: &State) -> Vec<HistoryMessage> {
    let said = |line: &crate::conversation::TranscriptLine| {
        let text = line.text.clone();
        match line.who {
            Who::Person => HistoryMessage::Person(text),
            Who::Assistant => HistoryMessage::Assistant(text),
            Who::Called => HistoryMessage::Called(text),
            Who::Tool => HistoryMessage::Tool(text),
        }
    };
    state.lines.iter().map(said).collect()
}
