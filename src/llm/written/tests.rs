use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Two calls, `book(at="Elm 4", seats=2)` and `opening_hours()`, in each supported syntax.
const SAMPLES: [(&str, &str); 24] = [
    (
        "JSON",
        r#"[{"name": "book", "arguments": {"at": "Elm 4", "seats": 2}}, {"name": "opening_hours", "arguments": {}}]"#,
    ),
    (
        "a message",
        r#"{"tool_calls": [{"type": "function", "function": {"name": "book", "arguments": "{\"at\": \"Elm 4\", \"seats\": 2}"}}, {"function": {"name": "opening_hours"}}]}"#,
    ),
    (
        "JSON in a block of code",
        "Here you go:\n```json\n[{\"name\": \"book\", \"parameters\": {\"at\": \"Elm 4\", \"seats\": 2}},\n {'name': 'opening_hours'}]\n```\nAnything else?",
    ),
    (
        "Hermes, Qwen",
        "<tool_call>\n{\"name\": \"book\", \"arguments\": {\"at\": \"Elm 4\", \"seats\": 2}}\n</tool_call>\n<tool_call>\n{\"name\": \"opening_hours\", \"arguments\": {}}\n</tool_call>",
    ),
    (
        "two in one tag",
        "<tool_call>{\"name\": \"book\", \"arguments\": {\"at\": \"Elm 4\", \"seats\": 2}}\n{\"name\": \"opening_hours\"}</tool_call>",
    ),
    (
        "single quotes, and a bracket too few",
        "<tool_call>{'name': 'book', 'arguments': {'at': 'Elm 4', 'seats': 2,}</tool_call><tool_call>{'name': 'opening_hours'</tool_call>",
    ),
    (
        "Qwen coder",
        "<tool_call>\n<function=book>\n<parameter=at>\nElm 4\n</parameter>\n<parameter=seats>\n2\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=opening_hours>\n</function>\n</tool_call>",
    ),
    (
        "GLM",
        "<tool_call>book\n<arg_key>at</arg_key>\n<arg_value>Elm 4</arg_value>\n<arg_key>seats</arg_key>\n<arg_value>2</arg_value>\n</tool_call><tool_call>opening_hours</tool_call>",
    ),
    ("Python", "[book(at=\"Elm 4\", seats=2), opening_hours()]"),
    ("Python in a block of code", "```tool_code\nbook(at='Elm 4', seats=2)\nprint(opening_hours())\n```"),
    ("LFM", "<|tool_call_start|>[book(at=\"Elm 4\", seats=2), opening_hours()]<|tool_call_end|>"),
    (
        "Llama",
        "<|python_tag|>{\"name\": \"book\", \"parameters\": {\"at\": \"Elm 4\", \"seats\": 2}}; {\"name\": \"opening_hours\", \"parameters\": {}}<|eom_id|>",
    ),
    (
        "Llama, in tags",
        "<function=book>{\"at\": \"Elm 4\", \"seats\": 2}</function><function=opening_hours>{}</function>",
    ),
    ("Llama, tools of its own", "<|python_tag|>book.call(at=\"Elm 4\", seats=2)\nopening_hours.call()"),
    ("Llama 4", "<|python_start|>[book(at=\"Elm 4\", seats=2), opening_hours()]<|python_end|>"),
    (
        "Mistral",
        "[TOOL_CALLS] [{\"name\": \"book\", \"arguments\": {\"at\": \"Elm 4\", \"seats\": 2}}, {\"name\": \"opening_hours\", \"arguments\": {}}]",
    ),
    (
        "Mistral, later",
        "[TOOL_CALLS]book[CALL_ID]1a[ARGS]{\"at\": \"Elm 4\", \"seats\": 2}[TOOL_CALLS]opening_hours[ARGS]{}",
    ),
    (
        "Kimi",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.book:0<|tool_call_argument_begin|>{\"at\": \"Elm 4\", \"seats\": 2}<|tool_call_end|><|tool_call_begin|>functions.opening_hours:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
    ),
    (
        "DeepSeek",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>book\n```json\n{\"at\": \"Elm 4\", \"seats\": 2}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>opening_hours\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    (
        "DeepSeek 3.1",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>book<｜tool▁sep｜>{\"at\": \"Elm 4\", \"seats\": 2}<｜tool▁call▁end｜><｜tool▁call▁begin｜>opening_hours<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    (
        "DeepSeek 3.2",
        "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"book\">\n<｜DSML｜parameter name=\"at\" string=\"true\">Elm 4</｜DSML｜parameter>\n<｜DSML｜parameter name=\"seats\" string=\"false\">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name=\"opening_hours\">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
    ),
    (
        "MiniMax",
        "<minimax:tool_call>\n<invoke name=\"book\">\n<parameter name=\"at\">Elm 4</parameter>\n<parameter name=\"seats\">2</parameter>\n</invoke>\n<invoke name=\"opening_hours\">\n</invoke>\n</minimax:tool_call>",
    ),
    (
        "harmony",
        "<|channel|>analysis<|message|>Both.<|end|><|start|>assistant<|channel|>commentary to=functions.book <|constrain|>json<|message|>{\"at\": \"Elm 4\", \"seats\": 2}<|call|><|start|>assistant<|channel|>commentary to=functions.opening_hours <|constrain|>json<|message|>{}<|call|>",
    ),
    (
        "Gemma",
        "<|tool_call>call:book{at:<|\"|>Elm 4<|\"|>,seats:2}<tool_call|><|tool_call>call:opening_hours{}<tool_call|>",
    ),
];

/// The calls of a whole reply, with function names without their prefix and numbers as texts.
fn calls(reply: &str) -> Option<Vec<(String, Value)>> {
    let AnswerContent::Calls(calls) = read(&answer(reply)) else { return None };
    let plain = |call: WrittenCall| {
        let name = call.name.trim_start_matches("functions.").to_owned();
        let mut arguments: Value = serde_json::from_str(&call.arguments).ok()?;
        for value in arguments.as_object_mut()?.values_mut() {
            if value.is_number() {
                *value = value.to_string().into();
            }
        }
        Some((name, arguments))
    };
    calls.into_iter().map(plain).collect()
}

fn expected() -> Vec<(String, Value)> {
    vec![("book".to_owned(), json!({"at": "Elm 4", "seats": "2"})), ("opening_hours".to_owned(), json!({}))]
}

#[test]
fn every_syntax_is_read_with_all_its_calls() {
    for (syntax, reply) in SAMPLES {
        assert_eq!(calls(reply), Some(expected()), "{syntax}");
        let thinking = format!("<think>Perhaps {{\"name\": \"cancel\", \"arguments\": {{}}}}?</think>\n{reply}");
        if syntax != "harmony" {
            assert_eq!(calls(&thinking), Some(expected()), "{syntax}, behind a thought");
        }
    }
}

/// Wherever a reply is cut, only complete calls are read.
#[test]
fn a_call_that_was_not_closed_is_none() {
    for (syntax, reply) in SAMPLES {
        for (end, _) in reply.char_indices() {
            let cut = &reply[..end];
            for (place, call) in calls(cut).unwrap_or_default().iter().enumerate() {
                assert_eq!(Some(call), expected().get(place), "{syntax}: {cut}");
            }
            let begins = end > reply.find("book").unwrap_or_default() + "book(at=".len();
            assert!(!begins || read(&answer(cut)) != AnswerContent::Words, "{syntax}: {cut}");
        }
    }
}

#[test]
fn what_is_shown_is_not_called() {
    for reply in [
        "It may be {\"name\": \"cancel\", \"arguments\": {\"order\": 1}}, but it has arrived.",
        "For example:\n```json\n{\"name\": \"cancel\", \"arguments\": {\"order\": 1}}\n```",
        "Zum Beispiel:\n{\"name\": \"cancel\", \"arguments\": {\"order\": 1}}",
        "I would not call this:\n<function=cancel>{}</function> ```\n<tool_call>{\"name\": \"cancel\"}</tool_call>\n```",
        "> {\"name\": \"cancel\", \"arguments\": {\"order\": 1}}",
        "They wrote \"<tool_call>{\"name\": \"cancel\"}</tool_call>\".",
        "One writes <tool_call>{\"name\": \"cancel\"}</tool_call> in such a case.",
        "You could write `cancel_order(order=1)` here",
        "{\"name\": \"cancel\", \"arguments\": {\"order\": 1}}\nNONE",
        "<tool_call>\ncancel the order\n</tool_call>",
        "<|some_token|>cancel",
        "{\"order\": 1}",
    ] {
        assert_eq!(
            read(&answer(reply)),
            if reply.starts_with("You") { AnswerContent::Words } else { AnswerContent::Unreadable },
            "{reply}"
        );
    }
    for reply in ["NONE", "No function fits.", "I am sorry, Dave (really).", "a < b, and 3 [4]"] {
        assert_eq!(read(&answer(reply)), AnswerContent::Words, "{reply}");
    }
}

#[test]
fn a_mark_within_a_text_closes_nothing() {
    for (reply, text) in [
        (
            "<tool_call>\n{\"name\": \"note\", \"arguments\": {\"text\": \"see </tool_call> there\"}}\n</tool_call>",
            "see </tool_call> there",
        ),
        ("<tool_call>{'name': 'note', 'arguments': {'text': 'a </tool_call> b'}}</tool_call>", "a </tool_call> b"),
        ("[TOOL_CALLS]note[ARGS]{\"text\": \"[TOOL_CALLS]x[ARGS]{}\"}", "[TOOL_CALLS]x[ARGS]{}"),
        ("<|channel|>commentary to=functions.note<|message|>{\"text\": \"a <|call|> b\"}<|call|>", "a <|call|> b"),
        ("{\"name\": \"note\", \"arguments\": {\"text\": \"<think> and </think>\"}}", "<think> and </think>"),
        ("[note(text=\"a) and ]\")]", "a) and ]"),
        (
            "<tool_call>{\"name\": \"note\", \"arguments\": {\"text\": \\\"under the mat\\\"}}</tool_call>",
            "under the mat",
        ),
    ] {
        assert_eq!(calls(reply), Some(vec![("note".to_owned(), json!({ "text": text }))]), "{reply}");
    }
}

#[test]
fn garbage_is_read_in_linear_time() {
    for part in [
        "<tool_call>",
        "<tool_calls>",
        "<tool_call>{\"a\":",
        "<function=a>",
        "<parameter=a>",
        "[TOOL_CALLS]",
        "[TOOL_CALLS]a[ARGS]{",
        "<|channel|>",
        "<|message|>",
        "<|channel|>x<|message|>{",
        "<think>",
        "</think>",
        "{",
        "[",
        "<",
        "f(a=",
        "f(a=1)\n",
        "```",
        "{\"name\":\"f\"}\n",
        "\\\"",
        "<tool_call>f<arg_key>",
        "<arg_key>a</arg_key><arg_value>b</arg_value>",
        "'",
        "<｜DSML｜invoke name=\"f\">",
        "print(",
        "{\"a\": \\\"",
        "<|\"|>",
    ] {
        let text = part.repeat((1 << 19) / part.len());
        let started = std::time::Instant::now();
        let _ = read(&answer(&text));
        // A hundred times what it needs; a quadratic algorithm would take minutes.
        assert!(started.elapsed().as_secs() < 20, "{part}: {:?}", started.elapsed());
    }
}

proptest! {
    #[test]
    fn no_text_panics(
        parts in prop::collection::vec(prop_oneof![
            prop::sample::select(&MARKS[..]).prop_map(|(open, _)| open.to_owned()),
            prop::sample::select(&MARKS[..]).prop_map(|(_, close)| close.to_owned()),
            prop::sample::select(&SAMPLES[..]).prop_map(|(_, sample)| sample.to_owned()),
            "(<function=f>|</function>|<parameter=a>|<arg_key>|f\\(a=|\\)|\\]|\\[|[{}]|\"|'|\\\\|\n|name|: |, |<think>|</think>|é|```){1,4}",
        ], 0..12),
        cut in 0_usize..400,
    ) {
        let text: String = parts.concat().chars().take(cut).collect();
        let _ = read(&answer(&text));
        let _ = is_one_answer(&text);
    }
}
