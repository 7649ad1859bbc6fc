//! Asks what a reply says to a yes-or-no question: one small question of its own.

use serde_json::Value;

use std::sync::Arc;

use crate::{
    assist::{
        brief::Brief,
        error::AskError,
        exchange::Exchange,
        prompt, schema,
        task::{ModelTask, Parsed},
    },
    call::repair,
    llm::{ChatReply, ChatRequest},
    recognize::reply::YesNo,
};

/// Greatest number of characters of an answer that may still be the bare word.
const LONGEST_WORD: usize = 40;

/// What was replied to `question`; the reply is the utterance of the brief.
pub(crate) struct Replied<'a> {
    pub(crate) question: &'a str,
}

impl ModelTask for Replied<'_> {
    type Answer = YesNo;
    const STAGE: &'static str = "yes_no";

    fn request(&self, exchange: &Exchange<'_>) -> Result<ChatRequest, AskError> {
        let messages = prompt::yes_no(exchange.brief, self.question)?;
        let shape = ("answer".to_owned(), Arc::new(schema::one_of(&YesNo::ALL.map(YesNo::name))));
        Ok(ChatRequest { response_schema: Some(shape), ..exchange.request(messages) })
    }

    fn parse(&self, _: &Brief<'_>, reply: &ChatReply) -> Parsed<YesNo> {
        match answer(reply.content.as_deref().unwrap_or_default()) {
            Some(answer) => Parsed::settled(answer, Vec::new()),
            None => Parsed::unreadable("{\"answer\": one of Affirmative, Negative, Indifferent, Irrelevant}"),
        }
    }
}

/// The answer in JSON, or the bare word of a model that is not forced to write JSON.
fn answer(content: &str) -> Option<YesNo> {
    let object = repair::object(content).unwrap_or_default().arguments;
    let said = match object.get("answer") {
        Some(Value::String(word)) => word.as_str(),
        Some(_) => return None,
        None if content.chars().count() <= LONGEST_WORD => content,
        None => return None,
    };
    let word = said.trim_matches(|c: char| !c.is_alphanumeric());
    YesNo::ALL.into_iter().find(|answer| answer.name().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use crate::assist::yes_no::*;

    #[test]
    fn one_of_four_words_is_read() {
        for (content, expected) in [
            ("{\"answer\": \"Negative\"}", Some(YesNo::Negative)),
            ("{'answer': 'affirmative'}", Some(YesNo::Affirmative)),
            ("Indifferent.", Some(YesNo::Indifferent)),
            ("\"Irrelevant\"", Some(YesNo::Irrelevant)),
            ("yes", None),
            ("{\"answer\": true}", None),
            ("", None),
            ("Affirmative, because the person said that it is all right", None),
        ] {
            assert_eq!(answer(content), expected, "{content}");
        }
    }
}
