//! Words of a model server for a turn that no function is meant by.

use crate::{
    assist::front::{self, ResultLine, Talk},
    dialogue::{question::Voice, result::CallResult},
    llm::Listener,
    snapshot::Snapshot,
    understand::{DecidedBy, Turn, TurnError, TurnRequest, Understander},
};

/// Characters of a result that a model server is shown.
const LONGEST_RESULT: usize = 4_000;

/// What a model server is to answer.
pub struct Front<'a> {
    /// The last message of the person, with what was said before.
    pub request: &'a TurnRequest,
    /// What calls came to since then.
    pub results: &'a [CallResult],
    /// What is open, in words.
    pub summary: &'a str,
    /// What is still asked, behind the words of the server.
    pub then: Option<&'a str>,
    /// The frontend asks for itself, and says all that a model has to know.
    pub is_chore: bool,
    /// Hears the words while they are written.
    pub listener: Option<Listener>,
}

impl Understander {
    /// Puts the words of a model server in place of the turn's own. They stay where no server answers.
    ///
    /// # Errors
    /// If the server fails when its words were heard already, and if the module's prompt does not render.
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
                // A prompt that does not render is the author's to mend.
                None => Err(TurnError::of_asking(error, crate::module::settings::StrategyName::Auto)),
            },
        }
    }
}
