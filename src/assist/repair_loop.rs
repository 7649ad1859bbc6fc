//! One task for a model server: ask, read, judge, and ask again with what was wrong, until the answer is right or the
//! ledger has nothing left for it.

use serde_json::{Map, Value};

use crate::{
    assist::{
        error::AskError,
        exchange::Exchange,
        prompt,
        task::{ModelTask, Parsed},
    },
    call::Violation,
    llm::{ChatReply, ChatRequest, LlmError, Message, ToolCall},
    module::Module,
};

/// Characters of a model's own answer that are sent back to it.
const LONGEST_QUOTE: usize = 2_000;

/// Returns the first answer without a fault, else the best one.
///
/// # Errors
/// If no reply came, or no reply could be read.
pub(crate) async fn run<T: ModelTask>(exchange: &mut Exchange<'_>, task: &T) -> Result<T::Answer, AskError> {
    let mut request = task.request(exchange)?;
    exchange.ledger.afford(std::slice::from_ref(&request))?;
    let mut best: Option<T::Answer> = None;
    loop {
        let (attempt, reply) = match exchange.ask(T::STAGE, request.clone()).await {
            Ok(answer) => answer,
            // Keeps what was understood before the server failed.
            Err(error) => return best.ok_or_else(|| error.into()),
        };
        let Parsed { answer, complaints, found, repairs } = task.parse(exchange.brief, &reply);
        exchange.ledger.note(attempt, repairs, found);
        if let Some(answer) = answer
            && best.as_ref().is_none_or(|best| T::worth(&answer) >= T::worth(best))
        {
            best = Some(answer);
        }
        if complaints.is_empty() {
            break;
        }
        send_back(&exchange.brief.snapshot.module, &mut request, reply, &complaints)?;
        if !exchange.ledger.may_retry(&request) {
            break;
        }
    }
    best.ok_or_else(|| LlmError::Malformed("no reply held a usable answer".into()).into())
}

/// Adds the model's own answer and what was wrong with it, so that no request is ever sent twice.
pub(crate) fn send_back(
    module: &Module,
    request: &mut ChatRequest,
    reply: ChatReply,
    violations: &[Violation],
) -> Result<(), AskError> {
    let complaint = prompt::retry(module, violations)?;
    let mut messages = request.messages.to_vec();
    let calls: Vec<ToolCall> = reply.tool_calls;
    if calls.is_empty() || request.tools.is_empty() {
        let said = reply.content.or_else(|| calls.into_iter().next().map(|call| call.arguments));
        let said = said.unwrap_or_default().chars().take(LONGEST_QUOTE).collect();
        messages.push(Message::Assistant { content: Some(said), tool_calls: Vec::new() });
        messages.push(Message::User(complaint));
        request.messages = messages.into();
        return Ok(());
    }
    let place = messages.len();
    let calls: Vec<ToolCall> = calls
        .into_iter()
        .enumerate()
        .map(|(index, mut call)| {
            if call.id.is_empty() {
                call.id = format!("call_{place}_{index}");
            }
            // A server that parses the arguments must find JSON in them, whatever the model wrote.
            if serde_json::from_str::<Map<String, Value>>(&call.arguments).is_err() {
                call.arguments = "{}".to_owned();
            }
            call
        })
        .collect();
    let ids: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
    messages.push(Message::Assistant { content: None, tool_calls: calls });
    // Servers refuse a conversation in which a call has no answer.
    messages.extend(ids.into_iter().map(|id| Message::Tool { id, content: complaint.clone() }));
    request.messages = messages.into();
    Ok(())
}
