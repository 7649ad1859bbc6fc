//! What was said before the utterance: a source of values, and context for a model server. Pure.

use crate::text::is_blank;

/// Number of earlier texts, counted from the end, that values may come from and that a model server is shown.
const REMEMBERED: usize = 12;
/// Characters of such a text that a model server is shown.
const SHOWN: usize = 600;

/// A message of the conversation before the utterance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryMessage {
    Person(String),
    /// Words of the assistant: a question of Uptake's, or text from another source.
    Assistant(String),
    /// The assistant called functions: everything asked for before is done.
    Called(String),
    /// The result of a called function.
    Tool(String),
}

/// Everything before the utterance.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EarlierMessages<'a> {
    /// The person's texts, which values may come from; oldest first.
    pub earlier: Vec<&'a str>,
    /// All messages, as lines for a model server; oldest first.
    pub before: Vec<PromptMessage>,
}

/// One message, as a model server is shown it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct PromptMessage {
    pub who: &'static str,
    pub text: String,
}

impl<'a> EarlierMessages<'a> {
    pub(crate) fn new(history: &'a [HistoryMessage]) -> Self {
        let recent = &history[history.len().saturating_sub(REMEMBERED)..];
        let persons = recent.iter().filter_map(|said| match said {
            HistoryMessage::Person(text) => Some(text.as_str()),
            HistoryMessage::Assistant(_) | HistoryMessage::Called(_) | HistoryMessage::Tool(_) => None,
        });
        let lines = recent.iter().map(|said| {
            let (who, text) = match said {
                HistoryMessage::Person(text) => ("person", text),
                HistoryMessage::Assistant(text) => ("assistant", text),
                HistoryMessage::Called(text) => ("assistant called", text),
                HistoryMessage::Tool(text) => ("result", text),
            };
            PromptMessage { who, text: shortened(text) }
        });
        Self { earlier: persons.collect(), before: lines.filter(|line| !is_blank(&line.text)).collect() }
    }
}

/// The beginning of a text, as long as a model server is shown it.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::assist::history::*;

    #[test]
    fn the_last_messages_are_heard() {
        let mut history: Vec<HistoryMessage> =
            (0..20).map(|number| HistoryMessage::Person(number.to_string())).collect();
        history.push(HistoryMessage::Assistant("x".repeat(SHOWN + 1)));
        history.push(HistoryMessage::Called(" ".to_owned()));
        let heard = EarlierMessages::new(&history);
        assert_eq!(heard.earlier.first().copied(), Some("10"));
        assert_eq!(heard.before.len(), REMEMBERED - 1);
        let last = heard.before.last().expect("a line");
        assert_eq!((last.who, last.text.chars().count()), ("assistant", SHOWN + 1));
    }
}
