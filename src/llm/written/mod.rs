//! What models write: answers, thoughts, and calls in the syntax of each model family.
//!
//! Servers parse the calls of models they know, and pass on others as text. Calls are taken from the answer alone:
//! never from thoughts, nor from examples. A call that does not end is ignored, and text that looks like a call but
//! cannot be read is [unreadable](AnswerContent::Unreadable), which says nothing about whether a function fits.
//!
//! | file | reads |
//! |---|---|
//! | `thoughts` | the answer after the thoughts, in tags or in the channels of harmony |
//! | `json` | objects with a name and arguments |
//! | `markup` | `<function=NAME>`, `<invoke name="NAME">`, `<arg_key>` |
//! | `python` | `[f(a="x")]` |
//! | `named` | a name, a mark, and an object |
//! | `shown` | whether a call is meant, or shown as an example |
//! | `lenient` | JSON with the usual faults |

use std::{borrow::Cow, ops::Range};

use serde_json::{Map, Value};

mod json;
pub(crate) mod lenient;
mod markup;
mod named;
mod python;
mod shown;
mod thoughts;

pub(crate) use thoughts::answer;

/// Longer text is not read.
const MAX_TEXT: usize = 1 << 20;
/// Most calls that are read from one text.
const MAX_CALLS: usize = 32;
/// Most call marks, and most lines that may begin a call, that are examined in one text. Bounds the work on garbage.
const MAX_MARKS: usize = 96;

/// Opening and closing marks of calls, by model family. The start of the text between them tells its syntax. Without a
/// closing mark, the call's own brackets end it.
const MARKS: [(&str, &str); 16] = [
    // Hermes, Qwen (JSON and XML), GLM, Granite 4.
    ("<tool_call>", "</tool_call>"),
    // Hunyuan, Jamba, MiniMax M1.
    ("<tool_calls>", "</tool_calls>"),
    // Granite, Phi.
    ("<|tool_call|>", "<|/tool_call|>"),
    // Gemma.
    ("<|tool_call>", "<tool_call|>"),
    ("<start_function_call>", "<end_function_call>"),
    // LFM.
    ("<|tool_call_start|>", "<|tool_call_end|>"),
    // Kimi.
    ("<|tool_call_begin|>", "<|tool_call_end|>"),
    // DeepSeek.
    ("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
    // Llama 3 and 4.
    ("<|python_tag|>", "<|eom_id|>"),
    ("<|python_start|>", "<|python_end|>"),
    // Olmo.
    ("<function_calls>", "</function_calls>"),
    // Nemotron.
    ("<TOOLCALL>", "</TOOLCALL>"),
    // Command.
    ("<|START_ACTION|>", "<|END_ACTION|>"),
    // InternLM.
    ("<|plugin|>", "<|action_end|>"),
    // Mistral.
    ("[TOOL_CALLS]", ""),
    // Harmony (gpt-oss).
    (thoughts::CHANNEL, thoughts::CALL),
];

/// End-of-reply marks, which some servers leave in.
const ENDS: [&str; 9] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|end|>",
    "<|return|>",
    "<|endoftext|>",
    "<end_of_turn>",
    "</s>",
];

/// A call that a model wrote as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenCall {
    pub name: String,
    /// Should be a JSON object.
    pub arguments: String,
}

impl WrittenCall {
    fn new(name: &str, arguments: Map<String, Value>) -> Self {
        Self { name: name.to_owned(), arguments: Value::Object(arguments).to_string() }
    }
}

/// What an answer contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerContent {
    /// In order; never empty.
    Calls(Vec<WrittenCall>),
    /// Plain words, without anything that looks like a call.
    Words,
    /// It looks like a call but is not usable: it has no end, an unknown syntax, or is an example.
    Unreadable,
}

/// Reads an answer without its thoughts, in linear time.
#[must_use]
pub fn read(answer: &str) -> AnswerContent {
    if answer.len() > MAX_TEXT || answer.trim().is_empty() {
        return AnswerContent::Unreadable;
    }
    let text = with_plain_quotes(without_ends(answer));
    let mut reading = AnswerParser { text: &text, calls: Vec::new(), places: Vec::new(), is_shown: false };
    let is_whole = reading.marked() && (!reading.calls.is_empty() || reading.unmarked());
    let is_doubted = || reading.is_shown && shown::is_doubted(&text, &reading.places);
    if !is_whole || !reading.calls.is_empty() && is_doubted() {
        return AnswerContent::Unreadable;
    }
    match reading.calls {
        calls if !calls.is_empty() => AnswerContent::Calls(calls),
        _ if looks_written(&text) => AnswerContent::Unreadable,
        _ => AnswerContent::Words,
    }
}

/// True for an answer with at most one object, and without words around it that put it in doubt.
pub(crate) fn is_one_answer(answer: &str) -> bool {
    let found = lenient::values_in(answer, 2);
    let places: Vec<Range<usize>> = found.into_iter().map(|found| found.place).collect();
    match places.as_slice() {
        [] => true,
        [one] => shown::stands_alone(answer, one) && !shown::is_doubted(answer, &places),
        _ => false,
    }
}

/// The answer without end-of-reply marks.
pub(crate) fn without_ends(answer: &str) -> &str {
    let mut text = answer.trim();
    while let Some(rest) = ENDS.iter().find_map(|end| text.strip_suffix(end)) {
        text = rest.trim_end();
    }
    text
}

/// Some models have a token for a quote.
fn with_plain_quotes(text: &str) -> Cow<'_, str> {
    let mut plain = Cow::Borrowed(text);
    for token in ["<|\"|>", "<escape>"] {
        if plain.contains(token) {
            plain = Cow::Owned(plain.replace(token, "\""));
        }
    }
    plain
}

/// True if the text contains marks of any call syntax.
fn looks_written(text: &str) -> bool {
    const PARTS: [&str; 9] = ["<|", "|>", "<｜", "</", "{", "}", "[TOOL", "[ARGS]", "_call"];
    let is_tag = |(at, _): (usize, &str)| text[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic());
    PARTS.iter().any(|part| text.contains(part))
        || text.match_indices('<').any(is_tag)
        || text.lines().any(python::looks_like_call)
}

/// An answer, as far as it is read.
struct AnswerParser<'t> {
    text: &'t str,
    calls: Vec<WrittenCall>,
    /// Places of the calls, in order.
    places: Vec<Range<usize>>,
    /// The calls are unmarked or in a code block: the words around them tell whether they are meant.
    is_shown: bool,
}

impl AnswerParser<'_> {
    /// Reads the calls that have marks; false if one cannot be read.
    fn marked(&mut self) -> bool {
        let (mut at, mut marks) = (0, 0);
        while let Some(offset) = self.text[at..].find(['<', '[']) {
            let start = at + offset;
            at = start + 1;
            let rest = &self.text[start..];
            let (from, close) = match MARKS.iter().find(|(open, _)| rest.starts_with(open)) {
                Some((open, close)) => (start + open.len(), *close),
                None if markup::tag(rest).is_some_and(|tag| tag.begins_call()) => (start, ""),
                None => continue,
            };
            marks += 1;
            if marks > MAX_MARKS || self.calls.len() >= MAX_CALLS {
                return false;
            }
            if is_wrapper(self.text, from) {
                at = from;
                continue;
            }
            let Some((calls, end)) = between(self.text, from, close) else { return false };
            if shown::is_in_a_sentence(self.text, &(start..end)) {
                return false;
            }
            if shown::is_marked_as_code(self.text, start) {
                if !shown::stands_alone(self.text, &(start..end)) {
                    return false;
                }
                self.is_shown = true;
            }
            self.calls.extend(calls);
            self.places.push(start..end);
            at = end;
        }
        true
    }

    /// Reads calls without marks: objects, or else lines in Python's form; false if one cannot be read.
    fn unmarked(&mut self) -> bool {
        self.is_shown = true;
        for found in lenient::values_in(self.text, MAX_CALLS) {
            let calls = json::calls_of(&found.value);
            if calls.is_empty() {
                continue;
            }
            if found.is_open || !shown::stands_alone(self.text, &found.place) {
                return false;
            }
            self.calls.extend(calls);
            self.places.push(found.place);
        }
        if self.calls.is_empty() {
            self.lines();
        }
        self.calls.len() <= MAX_CALLS
    }

    /// Reads lines that consist only of calls in Python's form.
    fn lines(&mut self) {
        let mut at = 0;
        let mut tries = 0;
        for line in self.text.split_inclusive('\n') {
            let start = at + line.len() - line.trim_start().len();
            let next = at + line.len();
            let is_behind = self.places.last().is_none_or(|last| last.end <= at);
            at = next;
            if !is_behind || !line.contains('(') || tries == MAX_MARKS {
                continue;
            }
            tries += 1;
            let Some((calls, end)) = python::calls(self.text, start) else { continue };
            let has_arguments = calls.iter().any(|call| call.arguments != "{}" || call.name.contains(['_', '.']));
            let is_list = self.text[start..].starts_with('[');
            if (has_arguments || is_list) && shown::stands_alone(self.text, &(start..end)) {
                self.calls.extend(calls);
                self.places.push(start..end);
            }
        }
    }
}

/// True if another mark follows, so that this one is only a wrapper.
fn is_wrapper(text: &str, from: usize) -> bool {
    let rest = text[from..].trim_start();
    MARKS.iter().any(|(open, _)| rest.starts_with(open))
}

/// The calls that begin at `from`, after a mark or with one, and the index of the byte after them.
fn between(text: &str, from: usize, close: &str) -> Option<(Vec<WrittenCall>, usize)> {
    let mut calls = Vec::new();
    let mut at = from;
    loop {
        let rest = text[at..].trim_start();
        let start = text.len() - rest.len();
        let (more, end) = match rest.chars().next() {
            _ if !calls.is_empty() && !begins_another(rest) => return Some((calls, at)),
            Some('{') => json::calls_at(text, start, close)?,
            Some('[') => python::calls(text, start).or_else(|| json::calls_at(text, start, close))?,
            Some('<') => markup::call(text, start).map(|(call, end)| (vec![call], end))?,
            Some(_) => named::calls_at(text, start, close)?,
            None => return None,
        };
        calls.extend(more);
        at = behind(text, end, close);
        at += usize::from(text[at..].starts_with([',', ';']));
        if calls.len() > MAX_CALLS {
            return None;
        }
    }
}

/// The index of the byte after the end mark of a call, if there is one at `at`.
fn behind(text: &str, at: usize, close: &str) -> usize {
    let blank = text[at..].len() - text[at..].trim_start().len();
    let is_there = !close.is_empty() && text[at + blank..].starts_with(close);
    if is_there { at + blank + close.len() } else { at }
}

/// True if another call follows between the same marks.
fn begins_another(rest: &str) -> bool {
    rest.starts_with('{') || markup::tag(rest).is_some_and(|tag| tag.begins_call())
}

#[cfg(test)]
mod tests;
