//! Makes control tokens in data harmless.
//!
//! Chat templates of model servers write roles, tool calls and ends of turns as tokens that have a spelling,
//! `<|im_end|>` or `[INST]`, and many servers read that spelling as the token wherever it stands. But what a person
//! says and what authors write about their functions is data: a space after the bracket turns the spelling into plain
//! text. People, models and grounding (which compares words) read it as before.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Names in angle brackets, with or without a slash before them and attributes behind them.
const TAGS: [&str; 24] = [
    "unk",
    "pad",
    "bos",
    "eos",
    "mask",
    "sep",
    "cls",
    "sys",
    "system",
    "user",
    "assistant",
    "think",
    "tool",
    "tools",
    "tool_call",
    "tool_calls",
    "tool_response",
    "tool_result",
    "function",
    "function_call",
    "function_calls",
    "function_response",
    "escape",
    "endoftext",
];
/// Prefixes of such names.
const FAMILIES: [&str; 8] =
    ["start_of_", "end_of_", "start_function_", "end_function_", "begin_of_", "reserved_", "unused", "0x"];
/// Names in square brackets. Case matters: "[1]" and "[sic]" are ordinary text.
const MARKERS: [&str; 22] = [
    "INST",
    "TOOL_CALLS",
    "AVAILABLE_TOOLS",
    "TOOL_RESULTS",
    "TOOL_CONTENT",
    "SYSTEM_PROMPT",
    "MODEL_SETTINGS",
    "ARGS",
    "CALL_ID",
    "THINK",
    "IMG",
    "PREFIX",
    "MIDDLE",
    "SUFFIX",
    "BOS",
    "EOS",
    "UNK",
    "PAD",
    "CLS",
    "SEP",
    "MASK",
    "gMASK",
];
/// Greatest number of characters of a token, brackets included.
const LONGEST: usize = 64;

/// Breaks every control token of a text and leaves ordinary text unchanged. Idempotent.
pub(crate) fn neutral(text: &str) -> Cow<'_, str> {
    let mut broken = String::new();
    let mut copied = 0;
    for (at, token) in tokens(text) {
        // The bracket, and the space that breaks it.
        broken.push_str(&text[copied..=at]);
        broken.push(' ');
        broken.push_str(&token[1..]);
        copied = at + token.len();
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    broken.push_str(&text[copied..]);
    Cow::Owned(broken)
}

/// Breaks the control tokens in every string of `value`; names of members stay.
pub(crate) fn neutralise(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(broken) = neutral(text) {
                *text = broken;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(neutralise),
        Value::Object(members) => members.values_mut().for_each(neutralise),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Restores the control tokens of `said` where a model repeats them in broken form, so that values are what the person
/// said.
pub(crate) fn restore(said: &str, arguments: &mut Map<String, Value>) {
    let tokens: Vec<(String, &str)> = tokens(said).map(|(_, token)| (neutral(token).into_owned(), token)).collect();
    if !tokens.is_empty() {
        arguments.values_mut().for_each(|value| put_back(&tokens, value));
    }
}

fn put_back(tokens: &[(String, &str)], value: &mut Value) {
    match value {
        Value::String(text) => {
            for (broken, token) in tokens {
                if text.contains(broken.as_str()) {
                    *text = text.replace(broken.as_str(), token);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| put_back(tokens, item)),
        Value::Object(members) => members.values_mut().for_each(|member| put_back(tokens, member)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// True if a text contains a control token.
pub(crate) fn has_tokens(text: &str) -> bool {
    tokens(text).next().is_some()
}

/// The control tokens in a text, each with the byte at which it begins.
fn tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices(['<', '[']).filter_map(|(at, _)| Some((at, token(&text[at..])?)))
}

/// The control token that the text begins with. A token contains no bracket, so no two overlap.
fn token(text: &str) -> Option<&str> {
    let close = if text.starts_with('<') { '>' } else { ']' };
    let is_bracket = |character: &char| matches!(character, '<' | '[' | '>' | ']');
    let (end, bracket) = text.char_indices().take(LONGEST).skip(1).find(|(_, character)| is_bracket(character))?;
    let inside = &text[1..end];
    let is_token = bracket == close && if close == '>' { is_tag(inside) } else { is_marker(inside) };
    is_token.then(|| &text[..=end])
}

fn is_tag(inside: &str) -> bool {
    // DeepSeek's tokens use the full-width bar.
    let bar = ['|', '\u{FF5C}'];
    if inside.starts_with(bar) || inside.ends_with(bar) {
        return inside.chars().any(char::is_alphanumeric) && !inside.contains(char::is_whitespace);
    }
    let name = inside.strip_prefix('/').unwrap_or(inside);
    if name.eq_ignore_ascii_case("s") {
        return true;
    }
    let name = name.split(['=', ' ']).next().unwrap_or_default().to_ascii_lowercase();
    TAGS.contains(&name.as_str()) || FAMILIES.iter().any(|family| name.starts_with(family))
}

fn is_marker(inside: &str) -> bool {
    MARKERS.contains(&inside.strip_prefix('/').unwrap_or(inside))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use crate::assist::control_tokens::*;

    #[test]
    fn control_tokens_are_broken_and_ordinary_text_is_not() {
        for (text, expected) in [
            ("hi<|im_end|>\n<|im_start|>system", "hi< |im_end|>\n< |im_start|>system"),
            ("<｜tool▁calls▁begin｜>", "< ｜tool▁calls▁begin｜>"),
            ("<s>[INST] x [/INST]</s>", "< s>[ INST] x [ /INST]< /s>"),
            ("<<SYS>>a<</SYS>>", "<< SYS>>a<< /SYS>>"),
            ("<tool_call>{}</tool_call>", "< tool_call>{}< /tool_call>"),
            ("<function=delete_all>", "< function=delete_all>"),
            ("<tool_response id=\"1\">", "< tool_response id=\"1\">"),
            ("<start_of_turn>model", "< start_of_turn>model"),
            ("<0x0A>[TOOL_CALLS]", "< 0x0A>[ TOOL_CALLS]"),
            ("<|eot_id|><|eot_id|>", "< |eot_id|>< |eot_id|>"),
            ("<<|a|>", "<< |a|>"),
        ] {
            assert_eq!(neutral(text), expected);
        }
        for text in [
            "a < b and c > d",
            "[1] and [sic]",
            "<3",
            "x <| f |> y",
            "<location> in <num_days> days",
            "if a<s and b>c",
            "<",
            "[inst]",
            "<b>bold</b>",
            "<||>",
        ] {
            assert_eq!(neutral(text), text);
        }
    }

    #[test]
    fn what_a_model_repeats_is_what_was_said() {
        let said = "note <|im_end|> down";
        let mut arguments = Map::new();
        arguments.insert("text".to_owned(), json!({"lines": [neutral(said)]}));
        restore(said, &mut arguments);
        assert_eq!(arguments["text"], json!({"lines": [said]}));
    }

    proptest! {
        #[test]
        fn neutral_is_idempotent_and_adds_nothing_but_spaces(
            text in "([<\\[][/<]?(\\||｜)?(s|INST|im_end|tool_call|x y|)(\\||｜)?[>\\]]?|[a-z<>\\[\\]| ]){0,8}"
        ) {
            let once = neutral(&text).into_owned();
            prop_assert_eq!(neutral(&once), once.as_str());
            prop_assert_eq!(tokens(&once).next(), None);
            prop_assert_eq!(once.replace(' ', ""), text.replace(' ', ""));
        }
    }
}
