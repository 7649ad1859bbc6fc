//! A model server with prepared replies, for tests and examples.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use futures::future::BoxFuture;

use super::{ChatModel, ChatReply, ChatRequest, LlmError, ToolCall};

type ReplyFn = Arc<dyn Fn(&ChatRequest) -> Result<ChatReply, LlmError> + Send + Sync>;

enum ScriptLine {
    Say(Result<ChatReply, LlmError>),
    /// Never answers.
    Hang,
}

#[derive(Default)]
struct Script {
    lines: VecDeque<ScriptLine>,
    /// Answers once the lines are used up.
    then: Option<ReplyFn>,
    heard: Vec<ChatRequest>,
}

/// Returns its lines in order, and keeps every request. Clones share one script. When no line is left and there is no
/// [`Self::answer`], it fails with [`LlmError::Malformed`].
#[derive(Clone, Default)]
pub struct Scripted {
    script: Arc<Mutex<Script>>,
}

impl Scripted {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next line is this reply.
    #[must_use]
    pub fn reply(self, reply: ChatReply) -> Self {
        self.line(ScriptLine::Say(Ok(reply)))
    }

    /// The next line is a call with these arguments, which may be any text.
    #[must_use]
    pub fn call(self, name: &str, arguments: &str) -> Self {
        let call = ToolCall { id: "call_0".into(), name: name.to_owned(), arguments: arguments.to_owned() };
        self.reply(ChatReply { tool_calls: vec![call], ..ChatReply::default() })
    }

    /// The next line is a text without calls.
    #[must_use]
    pub fn say(self, content: impl Into<String>) -> Self {
        self.reply(ChatReply { content: Some(content.into()), ..ChatReply::default() })
    }

    /// The next line is this failure.
    #[must_use]
    pub fn fail(self, error: LlmError) -> Self {
        self.line(ScriptLine::Say(Err(error)))
    }

    /// The next line never comes.
    #[must_use]
    pub fn hang(self) -> Self {
        self.line(ScriptLine::Hang)
    }

    /// When no line is left, `answer` makes the reply.
    #[must_use]
    pub fn answer(self, answer: impl Fn(&ChatRequest) -> Result<ChatReply, LlmError> + Send + Sync + 'static) -> Self {
        self.with(|script| script.then = Some(Arc::new(answer)));
        self
    }

    /// All requests so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.with(|script| script.heard.clone())
    }

    fn line(self, line: ScriptLine) -> Self {
        self.with(|script| script.lines.push_back(line));
        self
    }

    fn with<T>(&self, act: impl FnOnce(&mut Script) -> T) -> T {
        // Every change to the script is one step, so a poisoned lock is safe to use.
        act(&mut self.script.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ChatModel for Scripted {
    fn describe(&self) -> String {
        "scripted".to_owned()
    }

    fn complete(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatReply, LlmError>> {
        Box::pin(async move {
            let (line, then) = self.with(|script| {
                script.heard.push(request.clone());
                (script.lines.pop_front(), script.then.clone())
            });
            match (line, then) {
                (Some(ScriptLine::Say(result)), _) => {
                    if let (Ok(reply), Some(listener)) = (&result, &request.listener) {
                        listener.tell(reply.content.as_deref().unwrap_or_default());
                    }
                    result
                }
                (Some(ScriptLine::Hang), _) => std::future::pending().await,
                (None, Some(answer)) => answer(&request),
                (None, None) => Err(LlmError::Malformed("the script has no more lines".into())),
            }
        })
    }
}
