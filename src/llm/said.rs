//! Keeps what people said out of errors, which go to the log: a model server may repeat its prompt.

use super::{ChatRequest, LlmError, Message};

/// The error without its text, if the text may contain something that was said.
pub(super) fn without_said(error: LlmError, request: &ChatRequest) -> LlmError {
    let said = request.messages.iter().flat_map(|message| match message {
        // Written by the module's author and by us.
        Message::System(_) => Vec::new(),
        Message::User(text) | Message::Tool { content: text, .. } => vec![text.as_str()],
        Message::Assistant { content, tool_calls } => {
            content.as_deref().into_iter().chain(tool_calls.iter().map(|call| call.arguments.as_str())).collect()
        }
    });
    match error {
        // Our own client's words about a connection without an answer, for example an invalid certificate.
        error @ LlmError::Connect(_) => error,
        error => error.told(|text| text.unless_said(said)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_modules_words_are_told_and_a_persons_are_not() {
        let messages = vec![Message::System("Find the model".into()), Message::User("Zürich, 5 pm: 電気".into())];
        let request = ChatRequest::new(messages, tokio::time::Instant::now());
        for (message, is_told) in [("model `x` not found", true), ("bad prompt: ... zürich ...", false)] {
            let error = LlmError::Status { status: 400, message: message.into(), retry_after: None };
            assert_eq!(without_said(error, &request).to_string().contains(message), is_told, "{message}");
        }
    }
}
