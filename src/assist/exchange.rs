//! Asking one model server: requests with the settings of the module, each round trip counted in the ledger.

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
    /// The functions that its last answer chose, whatever came of them; `None` before there is one.
    pub chosen: Option<Vec<FunctionId>>,
    server: &'a Server,
    model: Option<&'a str>,
    /// Attempts of the ledger that are not its own.
    before: usize,
}

impl<'a> Exchange<'a> {
    /// With the server of this place in the configuration: a module names a model of the first server; the others have
    /// their own.
    pub(crate) fn new(brief: &'a Brief<'a>, ledger: &'a mut Ledger, (place, server): (usize, &'a Server)) -> Self {
        let model = brief.snapshot.module.settings.llm.model.as_deref().filter(|_| place == 0);
        let before = ledger.attempts().len();
        Self { brief, ledger, chosen: None, server, model, before }
    }

    /// What the server is known to do.
    pub(crate) fn capabilities(&self) -> Option<Capabilities> {
        self.server.capabilities(self.model)
    }

    /// How much the server's word counts, by what it said so far.
    pub(crate) fn standing(&self) -> f32 {
        self.server.standing(self.model)
    }

    /// How often the server says that nothing is meant.
    pub(crate) fn habit(&self) -> f32 {
        self.server.habit(self.model)
    }

    /// Takes note of how likely the server's answer was to rest on what was said, and not on a guess, and whether it was
    /// that nothing is meant.
    pub(crate) fn learn(&self, informed: f32, is_nothing: bool) {
        self.server.learn(self.model, informed, is_nothing);
    }

    /// True if an answer had something in it that was not said or does not fit. What it lacks is for the person to say.
    pub(crate) fn has_faults(&self) -> bool {
        let found = self.ledger.attempts().iter().skip(self.before).flat_map(|attempt| &attempt.violations);
        found.into_iter().any(|one| !matches!(one.kind, ViolationKind::Missing | ViolationKind::Ambiguous))
    }

    /// A request with the module's settings and the deadline of the ledger.
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

    /// Asks all at the same time; an answer for each, in their order, with its number in the ledger. The waiting counts
    /// once.
    pub(crate) async fn ask_all(
        &mut self,
        stage: &'static str,
        requests: Vec<ChatRequest>,
    ) -> Vec<Result<(usize, ChatReply), LlmError>> {
        let clock = Instant::now();
        let deadline = self.ledger.deadline();
        // Who does not keep the deadline of a request is held to it here.
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
        // One request, one answer.
        self.ask_all(stage, vec![request]).await.pop().unwrap_or(Err(LlmError::Timeout))
    }
}
