//! What was said before the utterance, as values may come from it and as a model server is shown it. Pure.

use crate::text::is_blank;

/// Earlier texts that a value may come from, and that a model server is shown, counted from the end.
const REMEMBERED: usize = 12;
/// Characters of one of them that a model server is shown.
const SHOWN: usize = 600;

/// A message of the conversation before the utterance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    Person(String),
    /// Words of the assistant: a question of ours, or whatever another one said.
    Assistant(String),
    /// The assistant called functions: what was asked for until then is done.
    Called(String),
    /// What a called function gave.
    Tool(String),
}

/// Everything before the utterance.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Heard<'a> {
    /// Texts of the person, which values may come from; the latest last.
    pub earlier: Vec<&'a str>,
    /// All of it, as lines for a model server; the latest last.
    pub before: Vec<Line>,
}

/// One message, as a model server is shown it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Line {
    pub who: &'static str,
    pub text: String,
}

impl<'a> Heard<'a> {
    pub(crate) fn new(history: &'a [Said]) -> Self {
        let recent = &history[history.len().saturating_sub(REMEMBERED)..];
        let persons = recent.iter().filter_map(|said| match said {
            Said::Person(text) => Some(text.as_str()),
            Said::Assistant(_) | Said::Called(_) | Said::Tool(_) => None,
        });
        let lines = recent.iter().map(|said| {
            let (who, text) = match said {
                Said::Person(text) => ("person", text),
                Said::Assistant(text) => ("assistant", text),
                Said::Called(text) => ("assistant called", text),
                Said::Tool(text) => ("result", text),
            };
            Line { who, text: shortened(text) }
        });
        Self { earlier: persons.collect(), before: lines.filter(|line| !is_blank(&line.text)).collect() }
    }
}

/// As much of a text as a model server is shown.
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
        let mut history: Vec<Said> = (0..20).map(|number| Said::Person(number.to_string())).collect();
        history.push(Said::Assistant("x".repeat(SHOWN + 1)));
        history.push(Said::Called(" ".to_owned()));
        let heard = Heard::new(&history);
        assert_eq!(heard.earlier.first().copied(), Some("10"));
        assert_eq!(heard.before.len(), REMEMBERED - 1);
        let last = heard.before.last().expect("a line");
        assert_eq!((last.who, last.text.chars().count()), ("assistant", SHOWN + 1));
    }
}
