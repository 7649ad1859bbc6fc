//! What a reply says to a yes-or-no question.

use crate::{
    assist::{ask, ledger::Ledger, yes_no::Replied},
    decide::{analysis::Analysis, calibration as belief},
    llm::{Usage, standing},
    module::settings::StrategyName,
    recognize::{
        certainty::Certainty,
        reply::{self, Reply, YesNo},
    },
    shares::Owner,
    snapshot::Snapshot,
    text::Span,
    understand::{Attempt, BudgetOverrides, TurnError, TurnRequest, Understander},
};

/// Certainty of a model server's answer that the local reading does not share.
const WITNESSED: Certainty = Certainty::Likely;

/// The reply to a yes-or-no question, and the cost of finding it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    pub reply: Reply,
    /// No model server was involved.
    pub is_local: bool,
    pub attempts: Vec<Attempt>,
    pub usage: Usage,
}

impl Understander {
    /// What `reply` says to a yes-or-no question: read locally, and in case of doubt by a model server if one is
    /// configured and the strategy allows it. The local answer stands if no server answers.
    ///
    /// # Errors
    /// See [`TurnError`]; failures of model servers are not errors here, except prompts that do not render.
    pub async fn yes_no(
        &self,
        snapshot: &Snapshot,
        question: Option<&str>,
        reply: &str,
        strategy: Option<StrategyName>,
        budget: BudgetOverrides,
        owner: Owner,
    ) -> Result<Answered, TurnError> {
        let request = TurnRequest { utterance: reply.to_owned(), budget, strategy, owner, ..TurnRequest::default() };
        let mut ledger = self.ledger(snapshot, &request);
        let fuel = self.fueled().fuel;
        let (analysis, read) = self.cores.free(&request).await.run(|| {
            fuel.burn(|| {
                let analysis = self.recognize(snapshot, &request)?;
                let read = reply::read(snapshot.module.language(), question, analysis.utterance.text());
                Ok::<_, TurnError>((analysis, read))
            })
        })?;
        if fuel.is_for_nobody() {
            return Err(TurnError::Left);
        }
        let asked = self.asked_reply(snapshot, question, read, &request, &analysis, &mut ledger).await?;
        Ok(Answered {
            reply: asked.unwrap_or(read),
            is_local: asked.is_none(),
            usage: ledger.usage(),
            attempts: ledger.into_attempts(),
        })
    }

    /// A model server's reading of the reply; `None` if no server is to be asked, or none answers. `read` is the local
    /// reading of the words.
    ///
    /// # Errors
    /// If a prompt does not render.
    pub(crate) async fn asked_reply(
        &self,
        snapshot: &Snapshot,
        question: Option<&str>,
        read: Reply,
        request: &TurnRequest,
        analysis: &Analysis,
        ledger: &mut Ledger,
    ) -> Result<Option<Reply>, TurnError> {
        let situation = self.situation(snapshot, request, &[], analysis);
        let strategy = self.strategy(snapshot, request);
        let is_sure = read.confidence >= situation.thresholds.sure;
        // Without the question there is nothing to tell a model.
        let Some(question) = question.filter(|_| !is_sure && strategy != StrategyName::Local) else { return Ok(None) };
        let brief = self.brief(snapshot, request, situation, &[]);
        match ask::answer(&self.servers, &Replied { question }, &brief, ledger).await {
            Ok(answer) => {
                let confidence = if answer == read.answer {
                    belief::confirmed(read.confidence, standing::USUAL)
                } else {
                    WITNESSED.score()
                };
                let whole = Some(Span::new(0, analysis.utterance.len()));
                let rest = if answer == YesNo::Irrelevant { whole } else { read.rest };
                Ok(Some(Reply { answer, confidence, rest }))
            }
            Err(error) if error.reason().is_some() => Ok(None),
            Err(error) => Err(TurnError::of_asking(error, strategy)),
        }
    }
}
