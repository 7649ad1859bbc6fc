//! A model server's text for a turn that means no function.

use crate::{
    assist::front::{self, ResultLine, Talk},
    dialogue::{question::Voice, result::CallResult},
    llm::Listener,
    snapshot::Snapshot,
    understand::{DecidedBy, Turn, TurnError, TurnRequest, Understander},
};

/// Most characters of a result that a model server sees.
const LONGEST_RESULT: usize = 4_000;

/// The input for the model server.
pub struct Front<'a> {
    /// The person's last message, with the earlier conversation.
    pub request: &'a TurnRequest,
    /// Results of the calls since then.
    pub results: &'a [CallResult],
    /// The open forms, in words.
    pub summary: &'a str,
    /// The pending question, which follows the server's text.
    pub then: Option<&'a str>,
    /// The frontend asks for itself, and gives the model all it needs.
    pub is_chore: bool,
    /// Receives the text while it is being written.
    pub listener: Option<Listener>,
}

impl Understander {
    /// Replaces the turn's text by a model server's. It stays if no server answers.
    ///
    /// # Errors
    /// If the server fails after parts of its text were sent, and if the module's prompt does not render.
    pub async fn front(&self, snapshot: &Snapshot, front: &Front<'_>, turn: &mut Turn) -> Result<(), TurnError> {
        let (module, request) = (&snapshot.module, front.request);
        let voice = Voice::new(module, request.language.as_deref());
        let shown = |text: &str| text.chars().take(LONGEST_RESULT).collect();
        let results = front.results.iter().map(|result| ResultLine {
            function: result.function.as_deref().unwrap_or("a call"),
            text: shown(&result.text),
        });
        let talk = Talk {
            module,
            titles: voice.titles(),
            history: &request.history,
            utterance: &request.utterance,
            instructions: request.instructions.as_deref(),
            summary: front.summary,
            results: results.collect(),
            is_plain: front.is_chore || module.functions.is_empty(),
        };
        let mut ledger = self.ledger(snapshot, request);
        let said = front::say(&self.servers, &talk, front.listener.as_ref(), &mut ledger).await;
        turn.usage += ledger.usage();
        turn.trace.timings.llm += ledger.llm_ms();
        turn.trace.timings.total += ledger.llm_ms();
        turn.trace.attempts.extend(ledger.into_attempts());
        match said {
            Ok(mut text) => {
                if let Some(question) = front.then {
                    let question = format!("\n{question}");
                    text.push_str(&question);
                    if let Some(listener) = &front.listener {
                        listener.add(&question);
                    }
                }
                turn.remark = Some(text);
                turn.decided_by = DecidedBy::Front;
                Ok(())
            }
            Err(error) => match error.reason() {
                Some(_) if front.listener.as_ref().is_some_and(Listener::has_heard) => {
                    Err(TurnError::of_asking(error, crate::module::settings::StrategyName::Auto))
                }
                Some(why) => {
                    turn.trace.notes.push(format!("worded here: {why}"));
                    Ok(())
                }
                // A prompt that does not render is the author's to fix.
                None => Err(TurnError::of_asking(error, crate::module::settings::StrategyName::Auto)),
            },
        }
    }
}
