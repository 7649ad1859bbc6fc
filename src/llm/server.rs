//! One model server, and what is known of it.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use tokio::{runtime::Handle, time::Instant};

use super::{Capabilities, ChatModel, ChatReply, ChatRequest, LlmError, SharedChatModel, probe};

mod knowledge;

use knowledge::{ModelKnowledge, OutputConstraints, ServerKnowledge};

/// Time limit of a background probe.
const PATIENCE: Duration = Duration::from_secs(120);

/// A model server and its measured abilities. Clones are cheap and share them.
#[derive(Clone)]
pub struct Server {
    /// The server itself: probes bypass the observer.
    inner: SharedChatModel,
    /// Reports each reply to `knowledge`.
    chat: SharedChatModel,
    given: Option<Capabilities>,
    knowledge: Arc<ServerKnowledge>,
    probes: bool,
}

impl Server {
    /// A server with unknown abilities, which are measured only by [`Self::probed`].
    #[must_use]
    pub fn new(chat: SharedChatModel) -> Self {
        let knowledge = Arc::new(ServerKnowledge::default());
        let observed = ObservedModel { inner: Arc::clone(&chat), knowledge: Arc::clone(&knowledge) };
        Self { inner: chat, chat: Arc::new(observed), given: None, knowledge, probes: false }
    }

    /// A server with known abilities, which is not probed.
    #[must_use]
    pub fn known(chat: SharedChatModel, capabilities: Capabilities) -> Self {
        Self { given: Some(capabilities), ..Self::new(chat) }
    }

    /// Whether to probe the server in the background: for each model at its first use, when a different model answers,
    /// and every hour.
    #[must_use]
    pub fn probing(self, probes: bool) -> Self {
        Self { probes, ..self }
    }

    #[must_use]
    pub fn chat(&self) -> &SharedChatModel {
        &self.chat
    }

    /// For traces: the model's name and the server's host, never a key.
    #[must_use]
    pub fn describe(&self) -> String {
        self.chat.describe()
    }

    /// What the server can do for this model (`None` means the configured one), as far as known. Returns at once; if
    /// nothing is known, or the knowledge is old, it may start a background probe.
    #[must_use]
    pub fn capabilities(&self, model: Option<&str>) -> Option<Capabilities> {
        if self.given.is_some() {
            return self.given;
        }
        let slot = if self.probes { self.knowledge.slot(model) } else { self.knowledge.existing(model)? };
        let (found, is_due) = slot.look(Instant::now());
        if is_due && self.probes {
            self.probe_in_background(&slot, model);
        }
        found
    }

    /// The report of a probe of this model; waits for a new one if there is none or it is old.
    ///
    /// # Errors
    /// As [`probe::probe`]; [`LlmError::Timeout`] past the deadline.
    pub async fn probed(&self, model: Option<&str>, deadline: Instant) -> Result<probe::ProbeReport, LlmError> {
        let slot = self.knowledge.slot(model);
        let turn = tokio::time::timeout_at(deadline, slot.turn()).await;
        let _turn = turn.map_err(|_| LlmError::Timeout)?;
        if let Some(report) = slot.fresh(Instant::now()) {
            return Ok(report);
        }
        let result = probe::probe(self.inner.as_ref(), model, deadline).await;
        slot.settle(&result, Instant::now());
        result
    }

    /// How much this model's answers count; see [`super::standing`].
    #[must_use]
    pub fn standing(&self, model: Option<&str>) -> f32 {
        self.knowledge.slot(model).standing.standing()
    }

    /// How often this model says that nothing is meant.
    #[must_use]
    pub fn habit(&self, model: Option<&str>) -> f32 {
        self.knowledge.slot(model).standing.habit()
    }

    /// Records how likely an answer of this model was informed by the question, and whether it said that nothing is
    /// meant.
    pub fn learn(&self, model: Option<&str>, informed: f32, is_nothing: bool) {
        self.knowledge.slot(model).standing.learn(informed, is_nothing);
    }

    fn probe_in_background(&self, slot: &Arc<ModelKnowledge>, model: Option<&str>) {
        let Ok(runtime) = Handle::try_current() else { return };
        let Some(turn) = slot.try_turn() else { return };
        let (chat, slot, model) = (Arc::clone(&self.inner), Arc::clone(slot), model.map(str::to_owned));
        runtime.spawn(async move {
            let _turn = turn;
            let result = probe::probe(chat.as_ref(), model.as_deref(), Instant::now() + PATIENCE).await;
            slot.settle(&result, Instant::now());
            let (server, model) = (chat.describe(), model.as_deref().unwrap_or("default"));
            match result {
                Ok(report) => tracing::info!(
                    server,
                    model,
                    tools = report.tools.support.name(),
                    strict = report.strict.support.name(),
                    named_choice = report.named_choice.support.name(),
                    json_schema = report.json_schema.support.name(),
                    "the model server was probed"
                ),
                Err(error) => tracing::warn!(server, model, %error, "the model server could not be probed"),
            }
        });
    }
}

/// Passes requests on, and reports the replies.
struct ObservedModel {
    inner: SharedChatModel,
    knowledge: Arc<ServerKnowledge>,
}

impl ChatModel for ObservedModel {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn complete(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatReply, LlmError>> {
        let Some(slot) = self.knowledge.existing(request.model.as_deref()) else { return self.inner.complete(request) };
        let asked = OutputConstraints::of(&request);
        Box::pin(async move {
            let reply = self.inner.complete(request).await?;
            slot.observe(asked, &reply);
            Ok(reply)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use serde_json::{Value, json};

    use super::*;
    use crate::llm::{Message, Support, Usage, scripted::Scripted};

    /// Enforces schemas, calls no tool, and names its model.
    #[derive(Clone)]
    struct Fake {
        name: Arc<Mutex<Result<&'static str, LlmError>>>,
        script: Scripted,
    }

    impl Fake {
        fn new(name: &'static str) -> Self {
            let name = Arc::new(Mutex::new(Ok(name)));
            let own = Arc::clone(&name);
            let script = Scripted::new().answer(move |request| {
                let fingerprint = own.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
                let schema = request.response_schema.as_ref().map(|(_, schema)| schema);
                let content = schema.map_or_else(|| "hello".to_owned(), |schema| forced(schema));
                Ok(ChatReply {
                    content: Some(content),
                    usage: Usage { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
                    fingerprint: Some(fingerprint.to_owned()).filter(|name| !name.is_empty()),
                    ..ChatReply::default()
                })
            });
            Self { name, script }
        }

        fn server(&self) -> Server {
            Server::new(Arc::new(self.script.clone())).probing(true)
        }

        fn becomes(&self, name: Result<&'static str, LlmError>) {
            *self.name.lock().unwrap_or_else(PoisonError::into_inner) = name;
        }

        fn requests(&self) -> usize {
            self.script.requests().len()
        }
    }

    fn forced(schema: &Value) -> String {
        let (name, of) = schema["properties"].as_object().and_then(|all| all.iter().next()).expect("one member");
        json!({ (name.as_str()): of["enum"][1] }).to_string()
    }

    const FOUND: Option<Capabilities> = Some(Capabilities {
        tools: Support::Ignored,
        strict: Support::Ignored,
        named_choice: Support::Ignored,
        json_schema: Support::Kept,
    });
    /// 2 plain, 1 named choice, 3 tools, 3 strict, 2 schemas.
    const PROBE: usize = 11;

    fn request() -> ChatRequest {
        ChatRequest::new(vec![Message::User("hi".into())], Instant::now() + Duration::from_secs(9))
    }

    /// Lets background work finish.
    async fn settle() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    async fn minutes(count: u64) {
        tokio::time::sleep(Duration::from_secs(60 * count)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_questions_start_one_probe() {
        let fake = Fake::new("a");
        let server = fake.server();
        for _ in 0..100 {
            assert_eq!(server.capabilities(None), None);
        }
        let report = server.probed(None, Instant::now() + Duration::from_secs(9)).await;
        assert_eq!(report.map(|report| Some(report.capabilities())), Ok(FOUND));
        assert_eq!((server.clone().capabilities(None), fake.requests()), (FOUND, PROBE));
        assert_eq!(server.capabilities(Some("other")), None);
        settle().await;
        assert_eq!((server.capabilities(Some("other")), fake.requests()), (FOUND, 2 * PROBE));
        assert_eq!(fake.script.requests()[PROBE].model.as_deref(), Some("other"));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_asked_who_should_not_be() {
        let fake = Fake::new("a");
        let silent = fake.server().probing(false);
        let known = Server::known(Arc::new(fake.script.clone()), FOUND.expect("some")).probing(true);
        for _ in 0..3 {
            assert_eq!((silent.capabilities(None), known.capabilities(None)), (None, FOUND));
            settle().await;
        }
        assert_eq!(fake.requests(), 0);
        assert!(silent.probed(None, Instant::now() + Duration::from_secs(9)).await.is_ok());
        assert_eq!(silent.capabilities(None), FOUND, "what is known is used");
        assert!(std::thread::spawn(move || fake.server().capabilities(None)).join().expect("no panic").is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_down_is_left_alone_for_longer_and_longer() {
        let fake = Fake::new("a");
        fake.becomes(Err(LlmError::Connect("refused".into())));
        let server = fake.server();
        let mut asked = Vec::new();
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(3_600) {
            let before = fake.requests();
            assert_eq!(server.capabilities(None), None);
            settle().await;
            if fake.requests() > before {
                asked.push(began.elapsed().as_secs());
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        assert_eq!(asked[..8], [0, 5, 15, 35, 75, 155, 315, 635]);
        assert_eq!((asked.len(), fake.requests()), (12, 12), "{asked:?}");
        fake.becomes(Ok("a"));
        minutes(10).await;
        assert_eq!(server.capabilities(None), None);
        settle().await;
        assert_eq!(server.capabilities(None), FOUND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_left_alone_is_not_probed() {
        let fake = Fake::new("a");
        fake.becomes(Err(LlmError::Unavailable(Duration::from_secs(30))));
        let server = fake.server();
        for _ in 0..29 {
            assert_eq!(server.capabilities(None), None);
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        assert_eq!(fake.requests(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn another_server_behind_the_address_is_probed_anew() {
        let fake = Fake::new("a");
        let server = fake.server();
        let deadline = Instant::now() + Duration::from_secs(9);
        assert!(server.probed(None, deadline).await.is_ok());
        fake.becomes(Ok("b"));
        assert_eq!(server.capabilities(None), FOUND, "nobody told yet");
        assert!(server.chat().complete(request()).await.is_ok());
        assert_eq!(server.capabilities(None), None);
        settle().await;
        assert_eq!(fake.requests(), PROBE + 1, "not so soon after the last probe");
        minutes(1).await;
        assert_eq!(server.capabilities(None), None);
        settle().await;
        assert_eq!((server.capabilities(None), fake.requests()), (FOUND, 2 * PROBE + 1));
        // The first one comes back, and both are known.
        minutes(1).await;
        for name in ["a", "b", "a", "", "a"] {
            fake.becomes(Ok(name));
            assert!(server.chat().complete(request()).await.is_ok());
            assert_eq!(server.capabilities(None), FOUND);
        }
        settle().await;
        assert_eq!(fake.requests(), 2 * PROBE + 6);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_with_another_fingerprint_each_time_is_probed_once() {
        let count = std::sync::atomic::AtomicU64::new(0);
        let script = Scripted::new().answer(move |request| {
            let number = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let content =
                request.response_schema.as_ref().map_or_else(|| "hello".to_owned(), |(_, schema)| forced(schema));
            Ok(ChatReply { content: Some(content), fingerprint: Some(number.to_string()), ..ChatReply::default() })
        });
        let server = Server::new(Arc::new(script.clone())).probing(true);
        assert!(server.probed(None, Instant::now() + Duration::from_secs(9)).await.is_ok());
        let probed = script.requests().len();
        for _ in 0..20 {
            minutes(2).await;
            assert!(server.chat().complete(request()).await.is_ok());
            assert_eq!(server.capabilities(None), FOUND);
            settle().await;
        }
        assert_eq!(script.requests().len(), probed + 20);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_old_is_used_until_it_is_found_out_anew() {
        let fake = Fake::new("a");
        let server = fake.server();
        assert!(server.probed(None, Instant::now() + Duration::from_secs(9)).await.is_ok());
        minutes(59).await;
        assert!(server.probed(None, Instant::now() + Duration::from_secs(9)).await.is_ok());
        assert_eq!((server.capabilities(None), fake.requests()), (FOUND, PROBE));
        minutes(2).await;
        assert_eq!(server.capabilities(None), FOUND);
        settle().await;
        assert_eq!((server.capabilities(None), fake.requests()), (FOUND, 2 * PROBE));
        fake.becomes(Err(LlmError::Connect("refused".into())));
        minutes(120).await;
        for _ in 0..3 {
            assert_eq!(server.capabilities(None), FOUND);
            settle().await;
        }
        assert_eq!(fake.requests(), 2 * PROBE + 1);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_broken_again_and_again_counts_as_absent() {
        let fake = Fake::new("a");
        let server = fake.server();
        assert!(server.probed(None, Instant::now() + Duration::from_secs(9)).await.is_ok());
        let schema = json!({"properties": {"x": {"enum": [0, 1]}}});
        let asked = || ChatRequest { response_schema: Some(("x".into(), schema.clone().into())), ..request() };
        let lines = |script: Scripted, count: usize| (0..count).fold(script, |script, _| script.say("I can't."));
        lines(fake.script.clone(), 2);
        for _ in 0..3 {
            // The third answer keeps to it.
            assert!(server.chat().complete(asked()).await.is_ok());
        }
        lines(fake.script.clone(), 2);
        for _ in 0..2 {
            assert!(server.chat().complete(asked()).await.is_ok());
        }
        assert_eq!(server.capabilities(None), FOUND);
        lines(fake.script.clone(), 1);
        assert!(server.chat().complete(asked()).await.is_ok());
        let absent = FOUND.map(|found| Capabilities { json_schema: Support::Ignored, ..found });
        assert_eq!(server.capabilities(None), absent);
        minutes(61).await;
        let _ = server.capabilities(None);
        settle().await;
        assert_eq!(server.capabilities(None), FOUND, "the next probe asks again");
    }
}
