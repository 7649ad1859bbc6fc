//! The questions of a probe, and what counts as a right answer. Every question contains random words, so that it is
//! never answered from a cache and nothing matches by chance.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::llm::{
    ChatRequest, Message, Tool, ToolChoice,
    written::{self, AnswerContent},
};

/// The function that the conversation asks for.
pub(super) const ASKED: &str = "ring_bell";
/// Another function beside it.
pub(super) const OTHER: &str = "open_door";
/// The function for whose argument the conversation and the schema disagree.
pub(super) const NOTE: &str = "note_colour";

/// Token limit of a plain answer.
pub(super) const PLAIN_TOKENS: u32 = 8;

/// Ways to ask for the same call: a small model that misses one may understand another.
pub(super) const CALLS: [&str; 3] = [
    "Ring the bell now. Use the function ring_bell.",
    "Call the function ring_bell with now = true.",
    "Please ring the bell for me.",
];

/// An object with one member whose value is one of a few words, all drawn at random: a text can only match it on
/// purpose.
pub(super) struct Riddle {
    member: String,
    words: [String; 4],
}

impl Riddle {
    pub(super) fn draw() -> Self {
        Self { member: word(), words: std::array::from_fn(|_| word()) }
    }

    /// In strict form, so that strict servers accept it.
    pub(super) fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": { (self.member.as_str()): {"type": "string", "enum": self.words} },
            "required": [self.member],
            "additionalProperties": false,
        })
    }

    /// True if the text is a matching object with nothing around it. A text that was `cut` must at least show the
    /// member's name, which only the schema reveals.
    pub(super) fn fits(&self, text: &str, cut: bool) -> bool {
        let compact: String = text.chars().filter(|character| !character.is_whitespace()).collect();
        let opening = format!("{{\"{}\"", self.member);
        self.words.iter().any(|word| {
            let whole = format!("{opening}:\"{word}\"}}");
            compact == whole || (cut && compact.starts_with(&opening) && whole.starts_with(&compact))
        })
    }
}

/// Asks for a text that is longer than `max_tokens`.
pub(super) fn long(max_tokens: u32, deadline: Instant) -> ChatRequest {
    let request = plain("Count from one to one hundred in words.", deadline);
    ChatRequest { max_tokens: Some(max_tokens), ..request }
}

/// Asks for a short text.
pub(super) fn short(deadline: Instant) -> ChatRequest {
    plain("Say hello.", deadline)
}

fn plain(text: &str, deadline: Instant) -> ChatRequest {
    // The word at the end makes every request different.
    let text = format!("{text} ({})", word());
    ChatRequest { max_tokens: Some(PLAIN_TOKENS), ..ChatRequest::new(vec![Message::User(text)], deadline) }
}

/// Asks for [`ASKED`] in words.
pub(super) fn call(words: &str, choice: ToolChoice, deadline: Instant) -> ChatRequest {
    let flag = Arc::new(json!({
        "type": "object",
        "properties": { "now": {"type": "boolean"} },
        "required": ["now"],
        "additionalProperties": false,
    }));
    let tool = |name: &str, description: String| Tool {
        name: name.to_owned(),
        description,
        parameters: Arc::clone(&flag),
        strict: false,
    };
    let tools = vec![tool(ASKED, format!("Ring the bell of {}", word())), tool(OTHER, "Open the door".to_owned())];
    ChatRequest {
        tools: tools.into(),
        tool_choice: choice,
        ..ChatRequest::new(vec![Message::User(words.to_owned())], deadline)
    }
}

/// Asks in words for a colour that the schema of a strict tool does not allow.
pub(super) fn strict(riddle: &Riddle, tool_choice: ToolChoice, deadline: Instant) -> ChatRequest {
    let words = "Call the function note_colour with the word blue. Write exactly blue, even if blue is not listed.";
    let tool = Tool {
        name: NOTE.to_owned(),
        description: "Note any colour".to_owned(),
        parameters: riddle.schema().into(),
        strict: true,
    };
    ChatRequest {
        tools: [tool].into(),
        tool_choice,
        ..ChatRequest::new(vec![Message::User(words.to_owned())], deadline)
    }
}

/// Asks in words for prose, and in the schema for something else.
pub(super) fn schema(words: &str, riddle: &Riddle, deadline: Instant) -> ChatRequest {
    let response_schema = Some(("probe".to_owned(), riddle.schema().into()));
    ChatRequest { response_schema, ..ChatRequest::new(vec![Message::User(words.to_owned())], deadline) }
}

/// True if the text calls `function` in a form that counts as a call in replies.
pub(super) fn writes_call(text: &str, function: &str) -> bool {
    matches!(written::read(text), AnswerContent::Calls(calls) if calls.iter().any(|call| call.name == function))
}

fn word() -> String {
    std::iter::repeat_with(fastrand::lowercase).take(8).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::llm::strict;

    fn riddle() -> Riddle {
        Riddle { member: "m".repeat(8), words: ["aaaaaaaa", "aaaaaaab", "cccccccc", "dddddddd"].map(str::to_owned) }
    }

    #[test]
    fn only_an_object_that_fits_fits() {
        let riddle = riddle();
        for (text, cut, fits) in [
            (r#"{"mmmmmmmm":"cccccccc"}"#, false, true),
            (" {\n \"mmmmmmmm\" : \"aaaaaaab\" }\n", false, true),
            (r#"{"mmmmmmmm":"aaaaaaa"}"#, false, false),
            (r#"{"mmmmmmmm":"blue"}"#, false, false),
            (r#"{"mmmmmmmm":"cccccccc","x":1}"#, false, false),
            (r#"{"colour":"cccccccc"}"#, false, false),
            ("```json\n{\"mmmmmmmm\":\"cccccccc\"}\n```", false, false),
            (r#""cccccccc""#, false, false),
            ("", false, false),
            ("", true, false),
            ("{", true, false),
            (r#"{"mmmmmmmm""#, true, true),
            ("{ \"mmmmmmmm\": \"aaaa\n\n\n", true, true),
            (r#"{"mmmmmmmm": "aaaa"#, false, false),
            (r#"{"mmmmmmmm": "blu"#, true, false),
        ] {
            assert_eq!(riddle.fits(text, cut), fits, "{text:?} cut: {cut}");
        }
    }

    #[test]
    fn a_riddle_is_strict_and_never_twice_the_same() {
        let (one, other) = (Riddle::draw().schema(), Riddle::draw().schema());
        assert_ne!(one, other);
        assert_eq!(strict::strict(&one), Ok(one));
        let deadline = Instant::now();
        assert_ne!(short(deadline), short(deadline));
        let ask = || call(CALLS[0], ToolChoice::Auto, deadline);
        assert_ne!(ask(), ask());
    }

    #[test]
    fn a_call_in_text_is_found() {
        for (text, found) in [
            (r#"Sure: {"name": "ring_bell", "arguments": {"now": true}}"#, true),
            (r#"It may be {"name": "ring_bell", "arguments": {"now": true}} or so"#, false),
            ("<tool_call>\n<function=ring_bell>\n<parameter=now>\ntrue\n</parameter>\n</function>\n</tool_call>", true),
            (r#"{"type": "function", "function": {"name": "ring_bell"}}"#, true),
            (r#"{"name": "open_door"}"#, false),
            ("I will call ring_bell {now}", false),
            ("ring_bell", false),
            ("{\"name\": \"ring_b", false),
        ] {
            assert_eq!(writes_call(text, ASKED), found, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics_and_free_text_never_fits(text in "\\PC{0,60}", cut: bool) {
            prop_assert!(!Riddle::draw().fits(&text, cut));
            let _ = writes_call(&text, ASKED);
        }
    }
}
