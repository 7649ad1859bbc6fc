//! What an utterance takes from the conversation before it: the request that it answers a question about, and what else
//! was said.
//!
//! Nothing is remembered between turns: all of it is read from the texts. A question is ours if a module's slot is asked
//! for in just these words. Then the utterance is a reply, and is read together with the request that it belongs to.
//! Pure.

use super::{
    TurnRequest,
    outcome::{Frame, Turn},
    question,
};
use crate::{
    call::{Grounded, Origin},
    module::{FunctionId, Module, SlotId},
    text::{Span, is_blank},
};

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

/// The words to understand.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Heard<'a> {
    /// The request that is being completed with the replies so far; the utterance is the end of it.
    pub text: String,
    /// Where the utterance begins in `text`, in Unicode scalar values.
    pub start: usize,
    /// Replies to questions of ours, in order.
    pub replies: Vec<Reply>,
    /// Texts of the person before, which values may come from; the latest last.
    pub earlier: Vec<&'a str>,
    /// Everything before, as lines for a model server; the latest last.
    pub before: Vec<Line>,
}

/// Words that answer a question of ours.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reply {
    /// In [`Heard::text`].
    pub span: Span,
    /// The slots that the question may have been about.
    pub asked: Vec<(FunctionId, SlotId)>,
}

/// One message before, as a model server is shown it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(super) struct Line {
    pub who: &'static str,
    pub text: String,
}

impl<'a> Heard<'a> {
    /// The utterance by itself, after everything that was said before.
    pub(super) fn alone(request: &'a TurnRequest) -> Self {
        Self::after(&request.history, String::new(), &request.utterance)
    }

    /// The utterance as the reply that it is; `None` if nothing of ours was asked. `limit` is the length of the longest
    /// text, in characters.
    pub(super) fn reply(module: &Module, request: &'a TurnRequest, limit: usize) -> Option<Self> {
        let history = request.history.as_slice();
        // From the last message back: a question of ours, and what it was asked about.
        let mut turns: Vec<(&str, Vec<(FunctionId, SlotId)>)> = Vec::new();
        let mut rest = history;
        while let [before @ .., Said::Person(said), Said::Assistant(question)] = rest {
            let asked = question::asked(module, question);
            if asked.is_empty() {
                break;
            }
            turns.push((said, asked));
            rest = before;
        }
        let mut length = request.utterance.chars().count();
        let kept = turns.iter().take_while(|(said, _)| {
            length = length.saturating_add(said.chars().count() + 2);
            length <= limit
        });
        let kept = kept.count();
        turns.truncate(kept);
        if turns.is_empty() {
            return None;
        }
        let mut text = String::new();
        let mut replies: Vec<Reply> = Vec::new();
        let mut asked: Option<Vec<(FunctionId, SlotId)>> = None;
        for (said, next) in turns.into_iter().rev() {
            let start = text.chars().count();
            text.push_str(said);
            if let Some(asked) = asked.replace(next) {
                replies.push(Reply { span: Span::new(start, text.chars().count()), asked });
            }
            text.push_str(if said.trim_end().ends_with(['.', '?', '!']) { " " } else { ". " });
        }
        let mut heard = Self::after(rest, text, &request.utterance);
        let span = Span::new(heard.start, heard.text.chars().count());
        replies.extend(asked.map(|asked| Reply { span, asked }));
        heard.replies = replies;
        Some(heard)
    }

    fn after(history: &'a [Said], mut text: String, utterance: &str) -> Self {
        let start = text.chars().count();
        text.push_str(utterance);
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
        let before = lines.filter(|line| !is_blank(&line.text)).collect();
        Self { text, start, replies: Vec::new(), earlier: persons.collect(), before }
    }

    /// The functions that were asked about last; all if none was.
    pub(super) fn functions(&self) -> Option<Vec<FunctionId>> {
        let last = self.replies.last()?;
        let mut functions: Vec<FunctionId> = last.asked.iter().map(|(function, _)| *function).collect();
        functions.dedup();
        Some(functions)
    }

    /// The turn with its spans in the utterance alone: what lies before it was said earlier.
    pub(super) fn located(&self, mut turn: Turn) -> Turn {
        if self.start == 0 {
            return turn;
        }
        let start = self.start;
        let length = self.text.chars().count() - start;
        let is_new = |span: Span| span.start >= start;
        turn.frames.iter_mut().for_each(|frame| located(frame, start, length));
        turn.trace.mentions.retain(|mention| is_new(mention.span));
        for mention in &mut turn.trace.mentions {
            mention.span = moved(mention.span, start);
        }
        turn.trace.negations.retain(|negation| is_new(negation.cue) && is_new(negation.scope));
        for negation in &mut turn.trace.negations {
            negation.cue = moved(negation.cue, start);
            negation.scope = moved(negation.scope, start);
        }
        for segment in turn.trace.segments.iter_mut().chain(&mut turn.trace.clauses) {
            segment.span = moved(segment.span, start);
        }
        turn
    }
}

fn located(frame: &mut Frame, start: usize, length: usize) {
    frame.segment = Span::new(0, length);
    for Grounded { origin, .. } in frame.slots.iter_mut().chain(&mut frame.excluded) {
        if let Origin::Utterance { span, text, .. } = origin {
            if span.start >= start {
                *span = moved(*span, start);
            } else {
                *origin = Origin::Earlier { text: std::mem::take(text) };
            }
        }
    }
}

const fn moved(span: Span, start: usize) -> Span {
    Span::new(span.start.saturating_sub(start), span.end.saturating_sub(start))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::{FunctionId, SlotId};

    fn person(text: &str) -> Said {
        Said::Person(text.to_owned())
    }

    fn asked(text: &str) -> Said {
        Said::Assistant(text.to_owned())
    }

    fn module() -> Module {
        let functions = [serde_json::json!({"name": "weather", "description": "The weather", "parameters": {
            "type": "object", "required": ["city", "day"],
            "properties": {"city": {"type": "string"}, "day": {"type": "string"}}}})];
        let name = crate::module::ModuleName::new("test").expect("a good name");
        crate::module::ad_hoc(name, &functions, None, &crate::module::Limits::default()).expect("it loads")
    }

    fn request(history: Vec<Said>, utterance: &str) -> TurnRequest {
        TurnRequest { utterance: utterance.to_owned(), history, ..TurnRequest::default() }
    }

    fn heard(request: &TurnRequest) -> Option<Heard<'_>> {
        Heard::reply(&module(), request, 1_000)
    }

    #[test]
    fn replies_are_read_with_the_request_that_they_belong_to() {
        let history = vec![
            person("hello"),
            asked("Hi, how can I help?"),
            person("how is the weather?"),
            asked("What is the city?"),
            person("Oslo"),
            asked("What is the day?"),
        ];
        let request = request(history, "friday");
        let heard = heard(&request).expect("a reply");
        assert_eq!(heard.text, "how is the weather? Oslo. friday");
        let weather = FunctionId::from_index(0);
        let replies: Vec<_> = heard.replies.iter().map(|reply| (reply.span, reply.asked.clone())).collect();
        assert_eq!(
            replies,
            [
                (Span::new(20, 24), vec![(weather, SlotId::from_index(0))]),
                (Span::new(26, 32), vec![(weather, SlotId::from_index(1))]),
            ]
        );
        assert_eq!((heard.start, heard.earlier), (26, vec!["hello"]));
        assert_eq!(heard.before.len(), 2);
    }

    #[test]
    fn a_call_ends_what_was_being_asked_and_foreign_questions_begin_nothing() {
        let call = Said::Called("weather".into());
        for history in [
            vec![person("weather"), asked("What is the city?"), call],
            vec![person("weather"), asked("Which one do you like?")],
            vec![asked("What is the city?")],
            Vec::new(),
        ] {
            assert_eq!(heard(&request(history, "Oslo")), None);
        }
    }

    #[test]
    fn what_would_be_too_long_is_left_out_from_the_start() {
        let long = "x".repeat(2_000);
        assert_eq!(heard(&request(vec![person(&long), asked("What is the city?")], "Oslo")), None);
        let history = vec![person(&long), asked("What is the city?"), person("Oslo"), asked("What is the day?")];
        assert_eq!(heard(&request(history, "friday")).expect("a reply").text, "Oslo. friday");
    }
}
