//! Labelled utterances, as authors write them and as the evaluation uses them.
//!
//! A file is JSON Lines or one JSON list. Unusable parts are collected with their places and never stop the rest.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{
    CaseLocation, Dialogue, ExpectedFunction, OutcomeKind, Problem, dialogue,
    parts::{arguments, expected_function},
};
use crate::module::{FunctionId, kind_of};

/// One utterance and its expected result.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    pub place: CaseLocation,
    pub utterance: String,
    /// In the order of the utterance. Empty means out of scope: no function fits.
    pub functions: Vec<ExpectedFunction>,
    /// Only these functions may be chosen; all if `None`.
    pub given: Option<Vec<String>>,
    /// The expected end of the turn, if the author gives it.
    pub outcome: Option<OutcomeKind>,
    /// The kind of utterance, in the author's words: scores are also given per kind.
    pub kind: Option<String>,
    /// The moment of the utterance, RFC 3339 or RFC 9557; overrides the one in the options.
    pub now: Option<String>,
    /// The conversation in which it is said, as the service echoes it; as a request of its own if `None`.
    pub state: Option<Value>,
}

/// A case in the terms of the module.
pub(super) struct ResolvedCase<'a> {
    pub functions: Vec<(FunctionId, Option<&'a Map<String, Value>>)>,
    pub given: Option<Vec<FunctionId>>,
}

/// The contents of one file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cases {
    pub cases: Vec<Case>,
    /// Cases of several turns.
    pub dialogues: Vec<Dialogue>,
    pub problems: Vec<Problem>,
}

impl Cases {
    /// Reads the text of a file; `file` is its name in places. Takes linear time.
    #[must_use]
    pub fn parse(file: &str, text: &str) -> Self {
        let mut reader = CaseReader { file: file.into(), cases: Self::default() };
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        if text.trim_start().starts_with('[') {
            reader.list(text);
        } else {
            for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                match serde_json::from_str(line) {
                    Ok(value) => reader.case(index + 1, value),
                    Err(error) => reader.problem(index + 1, format!("not JSON: {error}")),
                }
            }
        }
        reader.cases
    }

    /// Adds the contents of another file.
    pub fn extend(&mut self, other: Self) {
        self.cases.extend(other.cases);
        self.dialogues.extend(other.dialogues);
        self.problems.extend(other.problems);
    }
}

struct CaseReader {
    file: Arc<str>,
    cases: Cases,
}

impl CaseReader {
    fn problem(&mut self, line: usize, message: impl Into<String>) {
        let place = CaseLocation { file: Arc::clone(&self.file), line };
        self.cases.problems.push(Problem { place, message: message.into() });
    }

    /// Reads element by element, so that each has its line and a bad element does not hide those before it.
    fn list(&mut self, text: &str) {
        let start = text.find('[').map_or(0, |at| at + 1);
        let (mut at, mut line, mut counted) = (start, 1, 0);
        let mut first = true;
        loop {
            at += text[at..].len() - text[at..].trim_start().len();
            line += newlines(&text[counted..at]);
            counted = at;
            let rest = &text[at..];
            if let Some(after) = rest.strip_prefix(']') {
                if !after.trim().is_empty() {
                    self.problem(line, "something follows the end of the list");
                }
                return;
            }
            if !first {
                if !rest.starts_with(',') {
                    return self.problem(line, "expected `,` or `]` here; nothing after this place was read");
                }
                at += 1;
                at += text[at..].len() - text[at..].trim_start().len();
                line += newlines(&text[counted..at]);
                counted = at;
            }
            first = false;
            let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
            match values.next() {
                Some(Ok(value)) => {
                    at += values.byte_offset();
                    self.case(line, value);
                }
                Some(Err(error)) => {
                    return self
                        .problem(line, format!("not a JSON object: {error}; nothing after this place was read"));
                }
                None => return self.problem(line, "the list has no end"),
            }
        }
    }

    fn case(&mut self, line: usize, value: Value) {
        let Value::Object(members) = value else {
            return self
                .problem(line, "a case is a JSON object such as {\"utterance\": \"...\", \"function\": \"...\"}");
        };
        if members.contains_key("turns") {
            let place = CaseLocation { file: Arc::clone(&self.file), line };
            match dialogue::dialogue(place, members) {
                Ok(dialogue) => self.cases.dialogues.push(dialogue),
                Err(message) => self.problem(line, message),
            }
            return;
        }
        match self.read(line, members) {
            Ok(case) => self.cases.cases.push(case),
            Err(message) => self.problem(line, message),
        }
    }

    fn read(&self, line: usize, mut members: Map<String, Value>) -> Result<Case, String> {
        let utterance = match members.shift_remove("utterance") {
            Some(Value::String(text)) if !text.trim().is_empty() => text,
            Some(Value::String(_)) => return Err("`utterance` is empty".to_owned()),
            Some(other) => return Err(format!("`utterance` is a string, found {}", kind_of(&other))),
            None => return Err("`utterance` is missing".to_owned()),
        };
        let arguments = arguments(members.shift_remove("arguments"))?;
        let functions = match (members.shift_remove("function"), members.shift_remove("functions")) {
            (Some(_), Some(_)) => return Err("`function` and `functions` exclude each other".to_owned()),
            (None, None) => {
                return Err("`function` is missing: the name of the right one, or null if none is right".to_owned());
            }
            (Some(Value::Null), None) => Vec::new(),
            (Some(Value::String(name)), None) => vec![ExpectedFunction { name, arguments }],
            (Some(other), None) => return Err(format!("`function` is a string or null, found {}", kind_of(&other))),
            (None, Some(Value::Array(items))) if !items.is_empty() => {
                items.into_iter().map(expected_function).collect::<Result<_, _>>()?
            }
            (None, Some(_)) => {
                return Err("`functions` is a list of {\"name\": ..., \"arguments\": ...} with at least one".to_owned());
            }
        };
        let given = match members.shift_remove("given") {
            None | Some(Value::Null) => None,
            Some(Value::Array(names)) => Some(names.into_iter().map(name_of).collect::<Result<_, _>>()?),
            Some(other) => return Err(format!("`given` is a list of function names, found {}", kind_of(&other))),
        };
        let outcome = match members.shift_remove("outcome") {
            None | Some(Value::Null) => None,
            Some(named) => Some(
                OutcomeKind::expected(&named)
                    .ok_or_else(|| format!("`outcome` is \"call\", \"ask\" or \"no_match\", found {named}"))?,
            ),
        };
        let kind = match members.shift_remove("kind") {
            Some(Value::String(kind)) if !kind.trim().is_empty() => Some(kind.trim().to_owned()),
            _ => None,
        };
        let now = match members.shift_remove("now") {
            None | Some(Value::Null) => None,
            Some(Value::String(now)) => Some(now),
            Some(other) => return Err(format!("`now` is a moment in a string, found {}", kind_of(&other))),
        };
        let state = match members.shift_remove("state") {
            None | Some(Value::Null) => None,
            Some(state @ Value::Object(_)) => Some(state),
            Some(other) => return Err(format!("`state` is a conversation's state, found {}", kind_of(&other))),
        };
        let place = CaseLocation { file: Arc::clone(&self.file), line };
        Ok(Case { place, utterance, functions, given, outcome, kind, now, state })
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

fn name_of(value: Value) -> Result<String, String> {
    match value {
        Value::String(name) => Ok(name),
        other => Err(format!("`given` is a list of function names, found {} in it", kind_of(&other))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn messages(cases: &Cases) -> Vec<String> {
        cases.problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_case_has_a_moment_of_its_own() {
        let said = |now: &str| format!(r#"{{"utterance": "rain tomorrow?", "function": "forecast", "now": {now}}}"#);
        let cases = Cases::parse("cases.jsonl", &said(r#""2026-03-04T10:00:00Z""#));
        assert_eq!(cases.cases[0].now.as_deref(), Some("2026-03-04T10:00:00Z"));
        assert_eq!(messages(&Cases::parse("cases.jsonl", &said("3"))).len(), 1);
    }

    #[test]
    fn a_case_may_stand_in_a_conversation() {
        let said = |state: &str| format!(r#"{{"utterance": "at nine", "function": "book", "state": {state}}}"#);
        assert!(Cases::parse("cases.jsonl", &said(r#"{"format": 1}"#)).cases[0].state.is_some());
        assert!(Cases::parse("cases.jsonl", &said("null")).cases[0].state.is_none());
        assert_eq!(
            messages(&Cases::parse("cases.jsonl", &said("\"open\""))),
            ["cases.jsonl:1: `state` is a conversation's state, found a string"]
        );
    }

    #[test]
    fn every_variant_is_read() {
        let cases = Cases::parse(
            "cases.jsonl",
            r#"
{"utterance": "send 5 dollars to mum", "function": "transfer", "arguments": {"amount": 5, "to": ["mum", "mom"]}, "id": 7}
{"utterance": "what is the meaning of life", "function": null}

{"utterance": "lights off and jazz", "functions": [{"name": "lights_off"}, {"name": "play", "arguments": {"genre": "jazz"}}, "stop"]}
{"turns": [{"user": "book a table", "expect": {"outcome": "ask"}}]}
{"utterance": "a table", "function": "book", "given": ["book", "play"], "outcome": "ask", "service": "x", "expected_slots": []}
"#,
        );
        assert_eq!(messages(&cases), Vec::<String>::new());
        assert_eq!(cases.dialogues.len(), 1);
        let lines: Vec<usize> = cases.cases.iter().map(|case| case.place.line).collect();
        assert_eq!(lines, [2, 3, 5, 7]);
        let names: Vec<Vec<&str>> = cases
            .cases
            .iter()
            .map(|case| case.functions.iter().map(|function| function.name.as_str()).collect())
            .collect();
        assert_eq!(names, [vec!["transfer"], vec![], vec!["lights_off", "play", "stop"], vec!["book"]]);
        assert_eq!(cases.cases[2].functions[0].arguments, None);
        assert_eq!(cases.cases[3].given.as_deref(), Some(&["book".to_owned(), "play".to_owned()][..]));
        assert_eq!(cases.cases[3].outcome, Some(OutcomeKind::Ask));
    }

    #[test]
    fn a_list_is_the_same_and_keeps_its_lines() {
        let text = "[\n  {\"utterance\": \"a\",\n   \"function\": null},\n\n  {\"utterance\": \"b\"},\n  \
             {\"turns\": [{\"user\": \"x\"}]}\n]\n";
        let cases = Cases::parse("cases.json", text);
        assert_eq!((cases.cases.len(), cases.cases[0].place.line), (1, 2));
        assert_eq!(cases.dialogues.iter().map(|dialogue| dialogue.place.line).collect::<Vec<_>>(), [6]);
        assert_eq!(
            messages(&cases),
            ["cases.json:5: `function` is missing: the name of the right one, or null if none is right"]
        );
    }

    #[test]
    fn bad_lines_are_collected_and_the_good_ones_kept() {
        let text = "{\"utterance\": \"a\", \"function\": \"f\"}\nnonsense\n[1]\n{\"utterance\": 3, \"function\": null}\n\
                    {\"utterance\": \" \", \"function\": null}\n{\"utterance\": \"x\", \"function\": 1}\n\
                    {\"utterance\": \"x\", \"function\": \"f\", \"functions\": []}\n{\"utterance\": \"x\", \"functions\": []}\n\
                    {\"utterance\": \"x\", \"function\": \"f\", \"arguments\": []}\n\
                    {\"utterance\": \"x\", \"function\": \"f\", \"outcome\": \"maybe\"}\n\
                    {\"utterance\": \"x\", \"function\": \"f\", \"given\": [1]}";
        let cases = Cases::parse("c", text);
        let lines: Vec<usize> = cases.problems.iter().map(|problem| problem.place.line).collect();
        assert_eq!((cases.cases.len(), lines), (1, (2..=11).collect()));
    }

    #[test]
    fn a_broken_list_keeps_what_came_before() {
        for text in [
            "[{\"utterance\":\"a\",\"function\":null}",
            "[{\"utterance\":\"a\",\"function\":null} x]",
            "[{\"utterance\":\"a\",\"function\":null}, {]",
            "[{\"utterance\":\"a\",\"function\":null}, 1]",
            "[{\"utterance\":\"a\",\"function\":null}] x",
            "[{\"utterance\":\"a\",\"function\":null},",
        ] {
            let cases = Cases::parse("c", text);
            assert_eq!((cases.cases.len(), cases.problems.len()), (1, 1), "{text}");
        }
        assert_eq!(Cases::parse("c", "[]"), Cases::default());
        assert_eq!(Cases::parse("c", ""), Cases::default());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,80}", json in "[\\[\\]{}\",:a0 \n]{0,60}") {
            let _ = Cases::parse("c", &text);
            let _ = Cases::parse("c", &json);
            let _ = Cases::parse("c", &format!("[{json}"));
        }
    }
}
