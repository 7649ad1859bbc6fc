//! One turn of a conversation: analyse, interpret, ask a model server where that leaves doubt, apply, answer.

use std::time::Instant;

use crate::{
    assist::{
        ask::{self, Decided},
        history::Heard,
        ledger::Ledger,
    },
    conversation::{Manners, State, Who, apply},
    decide::{expected::Expected, segments::Requests, situation::Situation},
    dialogue::{
        interpret::{self, Assistance, Dialogue, Interpretation, Task, Told, interpret},
        next_step::{Answer, Turning},
    },
    llm::Usage,
    module::settings::StrategyName,
    recognize::reply,
    snapshot::Snapshot,
    telemetry::milliseconds,
    understand::{
        DecidedBy, Said, Trace, Turn, TurnError, TurnRequest, Understander,
        analysis::{Analysed, among},
    },
};

/// A turn, and the conversation after it.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversed {
    /// Its frames are the forms as they are now, values of earlier turns included: those that are called first.
    pub turn: Turn,
    pub state: State,
}

/// What model servers did for a turn.
struct Assisted {
    told: Told,
    decided_by: DecidedBy,
    notes: Vec<String>,
}

impl Understander {
    /// Understands one utterance of a conversation. `state` is the one before it, [`State::new`] at the beginning; it is
    /// of this module ([`State::adopted`]). The same state and request give the same answer, as far as no model server is
    /// asked.
    ///
    /// # Errors
    /// As [`Self::turn`]; then the conversation is as it was.
    pub async fn converse(
        &self,
        snapshot: &Snapshot,
        state: &State,
        request: &TurnRequest,
    ) -> Result<Conversed, TurnError> {
        let started = Instant::now();
        let mut ledger = self.ledger(snapshot, request, started.into());
        let module = &snapshot.module;
        let mut before = state.clone();
        before.turn += 1;
        let expected = interpret::expected(module, &before).unwrap_or_else(|| request.expected.clone());
        let request = TurnRequest { expected, history: history(&before), ..request.clone() };
        let heard = Heard::new(&request.history);
        let Analysed { analysis, took } = self.analyse(snapshot, &request).await?;
        let situation = self.situation(snapshot, &request, &heard.earlier, &analysis);
        let (found, assisted) = self.interpret(snapshot, &request, &heard, situation, &before, &mut ledger).await?;

        let mut state = before.clone();
        let carry = module.settings.conversation.carry.unwrap_or(true);
        let applied = apply(&mut state, module, &snapshot.validator, &found.acts, carry);
        let turning = Turning {
            knowledge: snapshot,
            language: request.language.as_deref(),
            manners: self.manners(),
            now: &analysis.now,
            utterance: &request.utterance,
            before: &before,
            applied: &applied,
            tied: &found.tied,
        };
        let Answer { outcome, pending, frames, notes } = turning.next_step(&mut state);

        let requests = found.requests.unwrap_or_else(|| Requests::one(&analysis));
        let mut trace = Trace::new(&situation.with(&requests), took);
        trace.notes = [assisted.notes, found.notes, notes].concat();
        let analysed = took.recognize + took.embed + took.retrieve;
        trace.timings.decide = (milliseconds(started) - analysed - ledger.llm_ms()).max(0.0);
        let (confidence, decided_by, usage) = (found.confidence, assisted.decided_by, Usage::default());
        let turn = Turn { outcome, confidence, decided_by, frames, trace, usage, pending };
        let mut conversed = Conversed { turn, state };
        self.word(snapshot, &request, &analysis, &mut conversed, &mut ledger).await;
        conversed.turn.settle(started, ledger);
        Ok(conversed)
    }

    /// What the utterance does: read locally, and again with what a model server said of it where that leaves doubt.
    async fn interpret(
        &self,
        snapshot: &Snapshot,
        request: &TurnRequest,
        heard: &Heard<'_>,
        situation: Situation<'_>,
        state: &State,
        ledger: &mut Ledger,
    ) -> Result<(Interpretation, Assisted), TurnError> {
        let strategy = self.strategy(snapshot, request);
        let mut assistance = match strategy {
            StrategyName::Local => Assistance::Never,
            StrategyName::Auto if self.servers.is_empty() => Assistance::Never,
            StrategyName::Auto => Assistance::InDoubt,
            StrategyName::Tools | StrategyName::Structured | StrategyName::Staged => Assistance::Always,
        };
        let among = among(request);
        let mut assisted = Assisted { told: Told::default(), decided_by: DecidedBy::Local, notes: Vec::new() };
        loop {
            let dialogue = Dialogue {
                situation,
                state,
                among: among.as_deref(),
                candidates: self.options.candidates,
                assistance,
                told: &assisted.told,
            };
            let mut found = interpret(&dialogue);
            match found.task.take() {
                None => return Ok((found, assisted)),
                Some(Task::Reply { question }) => {
                    let analysis = situation.analysis;
                    let read = reply::read(snapshot.module.language(), Some(&question), analysis.utterance.text());
                    let asked = self.asked_reply(snapshot, Some(&question), read, request, analysis, ledger).await?;
                    if asked.is_some() {
                        assisted.decided_by = DecidedBy::Staged;
                    }
                    assisted.told.reply = Some(asked.unwrap_or(analysis.reply));
                }
                Some(Task::Requests { part, requests }) => {
                    let nothing = Expected::default();
                    let whole = match &part {
                        Some(part) => Situation { expected: &nothing, ..situation.within(part) },
                        None => situation,
                    };
                    let brief = self.brief(snapshot, request, whole.with(&requests), &heard.before);
                    let named = (strategy != StrategyName::Auto).then_some(strategy);
                    match ask::decide(&self.servers, named, &brief, ledger).await {
                        Ok(Decided { decision, by, .. }) => {
                            assisted.notes.push(format!(
                                "asked the model server: local confidence {:.2} is under {:.2}",
                                found.confidence, situation.thresholds.sure
                            ));
                            assisted.told.decision = Some(decision);
                            assisted.decided_by = by;
                        }
                        Err(error) => match error.reason().filter(|_| strategy == StrategyName::Auto) {
                            Some(why) => {
                                assisted.notes.push(format!("decided locally: {why}"));
                                assistance = Assistance::Never;
                            }
                            // A prompt that does not render is the author's to mend; answering around it would hide it.
                            None => return Err(TurnError::of_asking(error, strategy)),
                        },
                    }
                }
            }
        }
    }

    /// How questions are asked where a module does not say otherwise.
    #[must_use]
    pub fn manners(&self) -> Manners {
        Manners { ask: self.options.ask, tries: self.options.tries }
    }
}

/// The messages of a conversation, as a turn takes them.
pub(crate) fn history(state: &State) -> Vec<Said> {
    let said = |line: &crate::conversation::Line| {
        let text = line.text.clone();
        match line.who {
            Who::Person => Said::Person(text),
            Who::Assistant => Said::Assistant(text),
            Who::Called => Said::Called(text),
            Who::Tool => Said::Tool(text),
        }
    };
    state.lines.iter().map(said).collect()
}
