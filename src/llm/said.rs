//! What was said stays out of errors, which are for the log: a model server may repeat its prompt.

use std::collections::HashSet;

use super::{ChatRequest, LlmError, Message};

/// Shorter words of letters alone are in every text.
const SHORTEST: usize = 3;

/// The error without its words, if one of them may be of what was said.
pub(super) fn without_said(error: LlmError, request: &ChatRequest) -> LlmError {
    let said = |text: &str| {
        let told: HashSet<String> = parts(text).collect();
        let repeats = |message: &Message| match message {
            // The module's and ours.
            Message::System(_) => false,
            Message::User(text) | Message::Tool { content: text, .. } => parts(text).any(|part| told.contains(&part)),
            Message::Assistant { content, tool_calls } => {
                let arguments = tool_calls.iter().map(|call| call.arguments.as_str());
                content.as_deref().into_iter().chain(arguments).flat_map(parts).any(|part| told.contains(&part))
            }
        };
        request.messages.iter().any(repeats)
    };
    let hidden = || "what it says may repeat what was said".to_owned();
    match error {
        LlmError::Connect(text) if said(&text) => LlmError::Connect(hidden()),
        LlmError::Malformed(text) if said(&text) => LlmError::Malformed(hidden()),
        LlmError::Status { status, message, retry_after } if said(&message) => {
            LlmError::Status { status, message: hidden(), retry_after }
        }
        other => other,
    }
}

/// Words in lower case; of scripts that may have no spaces, pairs of characters.
fn parts(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|character: char| !character.is_alphanumeric()).map(str::to_lowercase);
    words.flat_map(|word| {
        if word.is_ascii() {
            let counts = word.len() >= SHORTEST || word.bytes().any(|byte| byte.is_ascii_digit());
            return if counts { vec![word] } else { Vec::new() };
        }
        let characters: Vec<char> = word.chars().collect();
        characters.windows(2.min(characters.len())).map(|pair| pair.iter().collect()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_were_said_are_hidden_and_others_are_told() {
        let messages = vec![Message::System("Find the model".into()), Message::User("Zürich, 5 pm: 電気".into())];
        let request = ChatRequest::new(messages, tokio::time::Instant::now());
        let told = |message: &str| {
            let error = LlmError::Status { status: 400, message: message.into(), retry_after: None };
            without_said(error, &request).to_string().contains(message)
        };
        for message in ["model `x` not found", "context length 4096 exceeded", "invalid api key"] {
            assert!(told(message), "{message}");
        }
        for message in ["bad prompt: ... zürich ...", "at 5", "電気をつけて", "[\"Zürich, 5 pm\"]"] {
            assert!(!told(message), "{message}");
        }
    }
}
