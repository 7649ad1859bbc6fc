//! Lets a model server write the text where no function is meant: small talk, the wording of a result, tasks of a
//! frontend.

use minijinja::{context, value::Serde};
use serde::Serialize;

use crate::{
    assist::{
        control_tokens::neutral,
        error::AskError,
        history::{HistoryMessage, shortened},
        ledger::Ledger,
        template,
    },
    llm::{ChatRequest, Listener, LlmError, Message, Server},
    module::Module,
};

/// Messages before the last one that the model is shown, and earlier results that it is shown.
const REMEMBERED: usize = 20;
const EARLIER: usize = 4;

/// What the model server is to reply to.
pub(crate) struct Talk<'a> {
    pub module: &'a Module,
    /// Titles of the functions, as people say them.
    pub titles: Vec<String>,
    /// The conversation, oldest first.
    pub history: &'a [HistoryMessage],
    /// The person's last message.
    pub utterance: &'a str,
    /// The client's instructions for a model.
    pub instructions: Option<&'a str>,
    /// What is still open in the conversation.
    pub summary: &'a str,
    /// Results of calls since the last message.
    pub results: Vec<ResultLine<'a>>,
    /// The client's instructions are the whole system message; Uptake adds no text of its own.
    pub is_plain: bool,
}

/// The result of a call.
#[derive(Serialize)]
pub(crate) struct ResultLine<'a> {
    pub function: &'a str,
    pub text: String,
}

impl Talk<'_> {
    fn messages(&self) -> Result<Vec<Message>, AskError> {
        let mut messages = Vec::new();
        let told = if self.is_plain {
            self.instructions.map(|text| neutral(text).into_owned()).unwrap_or_default()
        } else {
            self.system()?
        };
        if !told.is_empty() {
            messages.push(Message::System(told));
        }
        for said in &self.history[self.history.len().saturating_sub(REMEMBERED)..] {
            let (is_person, text) = match said {
                HistoryMessage::Person(text) => (true, text),
                HistoryMessage::Assistant(text) => (false, text),
                HistoryMessage::Called(_) | HistoryMessage::Tool(_) => continue,
            };
            // Servers refuse two consecutive messages of the same role.
            let text = neutral(&shortened(text)).into_owned();
            match (messages.last_mut(), is_person) {
                (Some(Message::User(last)), true) | (Some(Message::Assistant { content: Some(last), .. }), false) => {
                    last.push('\n');
                    last.push_str(&text);
                }
                (_, true) => messages.push(Message::User(text)),
                // A conversation begins with a message of the person.
                (None | Some(Message::System(_)), false) => {}
                (_, false) => messages.push(Message::Assistant { content: Some(text), tool_calls: Vec::new() }),
            }
        }
        let text = neutral(self.utterance);
        match messages.last_mut() {
            Some(Message::User(last)) => {
                last.push('\n');
                last.push_str(&text);
            }
            _ => messages.push(Message::User(text.into_owned())),
        }
        Ok(messages)
    }

    fn system(&self) -> Result<String, AskError> {
        let earlier: Vec<ResultLine<'_>> = self
            .history
            .windows(2)
            .filter_map(|pair| match pair {
                [HistoryMessage::Called(call), HistoryMessage::Tool(text)] => {
                    let function = call.split('(').next().unwrap_or_default();
                    Some(ResultLine { function, text: shortened(text) })
                }
                _ => None,
            })
            .collect();
        let earlier = &earlier[earlier.len().saturating_sub(EARLIER)..];
        let settings = &self.module.settings;
        let instructions: Vec<&str> =
            [settings.instructions.as_deref(), self.instructions].into_iter().flatten().collect();
        let known = context! {
            description => settings.description.as_str(),
            functions => Serde(&self.titles),
            instructions => instructions.join("\n\n"),
            summary => self.summary,
            earlier => Serde(earlier),
            results => Serde(&self.results),
        };
        template::render(self.module, "front", known).map_err(AskError::from)
    }
}

/// Returns what a server says, asking the preferred one first. `listener` receives the text while it is written; once
/// it has received some, no other server is asked.
///
/// # Errors
/// The error of the last server that was asked.
pub(crate) async fn say(
    servers: &[Server],
    talk: &Talk<'_>,
    listener: Option<&Listener>,
    ledger: &mut Ledger,
) -> Result<String, AskError> {
    let messages = talk.messages()?;
    let settings = &talk.module.settings.llm;
    let mut failed = AskError::NoServer;
    for (place, server) in servers.iter().enumerate() {
        let request = ChatRequest {
            // A module's model name applies to the first server; the others use their own.
            model: settings.model.clone().filter(|_| place == 0),
            temperature: settings.temperature,
            max_tokens: settings.max_tokens,
            listener: listener.cloned(),
            owner: ledger.owner().clone(),
            is_hurried: ledger.is_hurried(),
            ..ChatRequest::new(messages.clone(), ledger.deadline())
        };
        ledger.afford(std::slice::from_ref(&request))?;
        let clock = std::time::Instant::now();
        let asked = server.chat().complete(request.clone());
        let reply = tokio::time::timeout_at(ledger.deadline(), asked).await.unwrap_or(Err(LlmError::Timeout));
        ledger.waited(crate::telemetry::milliseconds(clock));
        ledger.count(server.describe(), "front", &request, &reply);
        let has_heard = || listener.is_some_and(Listener::has_heard);
        match reply.map(|reply| reply.content.unwrap_or_default()) {
            Ok(text) if !text.trim().is_empty() => return Ok(text),
            Ok(_) => failed = LlmError::Malformed("it says nothing".into()).into(),
            Err(error) => failed = error.into(),
        }
        if has_heard() || ledger.is_over() {
            break;
        }
    }
    Err(failed)
}
