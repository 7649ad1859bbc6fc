//! Asks one model server: requests carry the settings of the module, and the ledger counts each round trip.

use std::time::Instant;

use futures::future::join_all;
use tokio::time::timeout_at;

use crate::{
    assist::{brief::Brief, ledger::Ledger},
    call::ViolationKind,
    llm::{Capabilities, ChatReply, ChatRequest, LlmError, Message, Server},
    module::FunctionId,
    telemetry::milliseconds,
};

/// See [the module](self).
pub(crate) struct Exchange<'a> {
    pub brief: &'a Brief<'a>,
    pub ledger: &'a mut Ledger,
    /// The functions that the server's last answer chose, even if they were not used; `None` before the first answer.
    pub chosen: Option<Vec<FunctionId>>,
    server: &'a Server,
    model: Option<&'a str>,
    /// Number of attempts that the ledger held before this exchange.
    before: usize,
}

impl<'a> Exchange<'a> {
    /// An exchange with the server at this place in the configuration. A module's model name applies to the first
    /// server; the others use their own.
    pub(crate) fn new(brief: &'a Brief<'a>, ledger: &'a mut Ledger, (place, server): (usize, &'a Server)) -> Self {
        let model = brief.snapshot.module.settings.llm.model.as_deref().filter(|_| place == 0);
        let before = ledger.attempts().len();
        Self { brief, ledger, chosen: None, server, model, before }
    }

    /// What the server is known to support.
    pub(crate) fn capabilities(&self) -> Option<Capabilities> {
        self.server.capabilities(self.model)
    }

    /// How much the server's answers count, judged by its answers so far.
    pub(crate) fn standing(&self) -> f32 {
        self.server.standing(self.model)
    }

    /// How often the server says that nothing is meant.
    pub(crate) fn habit(&self) -> f32 {
        self.server.habit(self.model)
    }

    /// Records how likely the server's answer was informed by the utterance rather than guessed, and whether it said
    /// that nothing is meant.
    pub(crate) fn learn(&self, informed: f32, is_nothing: bool) {
        self.server.learn(self.model, informed, is_nothing);
    }

    /// True if an answer contained something that was not said or does not fit. A missing part is not a fault: only
    /// the person can say it.
    pub(crate) fn has_faults(&self) -> bool {
        let found = self.ledger.attempts().iter().skip(self.before).flat_map(|attempt| &attempt.violations);
        found.into_iter().any(|one| !matches!(one.kind, ViolationKind::Missing | ViolationKind::Ambiguous))
    }

    /// A request with the module's settings and the ledger's deadline.
    pub(crate) fn request(&self, messages: Vec<Message>) -> ChatRequest {
        let module = &self.brief.snapshot.module;
        ChatRequest {
            model: self.model.map(str::to_owned),
            temperature: module.settings.llm.temperature,
            max_tokens: module.settings.llm.max_tokens,
            scope: Some(module.version.as_str().into()),
            owner: self.ledger.owner().clone(),
            is_hurried: self.ledger.is_hurried(),
            ..ChatRequest::new(messages, self.ledger.deadline())
        }
    }

    /// Sends all requests at the same time. Returns a reply for each, in their order, with its number in the ledger.
    /// The waiting time counts once.
    pub(crate) async fn ask_all(
        &mut self,
        stage: &'static str,
        requests: Vec<ChatRequest>,
    ) -> Vec<Result<(usize, ChatReply), LlmError>> {
        let clock = Instant::now();
        let deadline = self.ledger.deadline();
        // Enforces the deadline also for a server that does not keep it.
        let asked = requests.iter().map(|request| timeout_at(deadline, self.server.chat().complete(request.clone())));
        let replies = join_all(asked).await.into_iter().map(|reply| reply.unwrap_or(Err(LlmError::Timeout)));
        self.ledger.waited(milliseconds(clock));
        let mut all = Vec::with_capacity(requests.len());
        for (reply, request) in replies.zip(&requests) {
            let attempt = self.ledger.count(self.server.describe(), stage, request, &reply);
            all.push(reply.map(|reply| (attempt, reply)));
        }
        all
    }

    pub(crate) async fn ask(
        &mut self,
        stage: &'static str,
        request: ChatRequest,
    ) -> Result<(usize, ChatReply), LlmError> {
        // One request gives one reply.
        self.ask_all(stage, vec![request]).await.pop().unwrap_or(Err(LlmError::Timeout))
    }
}
