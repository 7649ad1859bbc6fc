//! Separates a reply's answer from what its model thought aloud before it.
//!
//! A call that was only considered must not be made, so thoughts are removed first, before anything else reads the
//! reply. In doubt, text counts as a thought: the model is then asked again, and nothing is called by mistake.

use std::borrow::Cow;

/// Marks around thoughts, from the templates of models.
const THOUGHTS: [(&str, &str); 13] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|channel>thought", "<channel|>"),
    ("◁think▷", "◁/think▷"),
];

/// Most objects that are skipped as a whole; the rest is read character by character. Bounds the work on garbage full
/// of braces.
const MOST_OBJECTS: usize = 32;

/// Marks of harmony, the format of gpt-oss: `<|channel|>NAME<|message|>TEXT` and one of the ends.
pub(super) const CHANNEL: &str = "<|channel|>";
pub(super) const MESSAGE: &str = "<|message|>";
pub(super) const CALL: &str = "<|call|>";
const START: &str = "<|start|>";
const ENDS: [&str; 5] = ["<|end|>", CALL, "<|return|>", START, CHANNEL];

/// The reply without thoughts. A thought without an end removes everything after its start; an end without a start,
/// which is then in the prompt, removes everything before it.
pub(crate) fn answer(text: &str) -> Cow<'_, str> {
    if text.contains(CHANNEL) || text.contains(MESSAGE) {
        return Cow::Owned(of_channels(text));
    }
    match text.strip_prefix("analysis") {
        // The same if a server has removed the marks.
        Some(rest) if rest.starts_with(|c: char| c.is_uppercase()) => {
            Cow::Borrowed(rest.rsplit_once("assistantfinal").map_or("", |(_, answer)| answer))
        }
        _ if has_mark(text) => Cow::Owned(without_thoughts(text)),
        _ => Cow::Borrowed(text),
    }
}

fn has_mark(text: &str) -> bool {
    THOUGHTS.iter().any(|(open, close)| text.contains(open) || text.contains(close))
}

fn without_thoughts(text: &str) -> String {
    let mut answer = String::with_capacity(text.len());
    // The end marks of the open thoughts, innermost last.
    let mut open: Vec<&str> = Vec::new();
    let (mut at, mut objects) = (0, 0);
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        if let Some((mark, close)) = THOUGHTS.iter().find(|(mark, _)| rest.starts_with(mark)) {
            open.push(close);
            at += mark.len();
        } else if let Some((_, mark)) = THOUGHTS.iter().find(|(_, mark)| rest.starts_with(mark)) {
            match open.iter().rposition(|close| close == mark) {
                Some(place) => open.truncate(place),
                None if open.is_empty() => answer.clear(),
                None => {}
            }
            at += mark.len();
        } else if open.is_empty()
            && next == '{'
            && objects < MOST_OBJECTS
            && let Some(end) = end_of_object(rest)
        {
            // A mark within a JSON string belongs to that string.
            objects += 1;
            answer.push_str(&rest[..end]);
            at += end;
        } else {
            if open.is_empty() {
                answer.push(next);
            }
            objects += usize::from(open.is_empty() && next == '{');
            at += next.len_utf8();
        }
    }
    answer
}

/// The end of the object at the start of `text`, found by its braces and strings; `None` if it does not end.
fn end_of_object(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// For harmony: the text of the final channel, and messages to functions unchanged. Analysis is thought, and commentary
/// without a recipient announces what is done.
fn of_channels(text: &str) -> String {
    let mut answer = String::new();
    let mut rest = text;
    let mut objects = 0;
    // Text before the first mark has no channel; it counts as an answer.
    if let Some(first) = [START, CHANNEL, MESSAGE].iter().filter_map(|mark| text.find(mark)).min() {
        answer.push_str(&text[..first]);
        rest = &text[first..];
    }
    while let Some((head, body)) = rest.split_once(MESSAGE) {
        // The head of this message; before it is the open end of an earlier one.
        let head = head.rsplit_once(START).map_or(head, |(_, head)| head);
        let inside = match body.trim_start().starts_with('{') && objects < MOST_OBJECTS {
            true => {
                objects += 1;
                let blank = body.len() - body.trim_start().len();
                end_of_object(&body[blank..]).map_or(0, |end| blank + end)
            }
            false => 0,
        };
        let is_end = |(at, _): &(usize, &str)| ENDS.iter().any(|mark| body[inside + at..].starts_with(mark));
        let end = body[inside..].match_indices("<|").find(is_end).map_or(body.len(), |(at, _)| inside + at);
        let channel = head.rsplit_once(CHANNEL).map_or("", |(_, named)| named).trim_start();
        match recipient(head) {
            _ if channel.starts_with("analysis") => {}
            Some(function) => {
                // A message without an end may be incomplete.
                let close = if end < body.len() { CALL } else { "" };
                answer.extend([CHANNEL, "to=", function, MESSAGE, &body[..end], close]);
            }
            None if channel.starts_with("commentary") => {}
            None => answer.push_str(&body[..end]),
        }
        rest = &body[end..];
    }
    answer
}

/// The recipient of a message: `to=functions.NAME` in its head.
fn recipient(head: &str) -> Option<&str> {
    let (_, behind) = head.rsplit_once("to=")?;
    let end = behind.find(|c: char| c.is_whitespace() || c == '<').unwrap_or(behind.len());
    Some(&behind[..end]).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn thoughts_are_no_answer() {
        for (text, left) in [
            ("just words", "just words"),
            ("<think>It may be {\"a\": 1}.</think>{\"b\": 2}", "{\"b\": 2}"),
            ("It may be {\"a\": 1}.</think>{\"b\": 2}", "{\"b\": 2}"),
            ("{\"a\": 1}\n</think>\n{\"b\": 2}", "\n{\"b\": 2}"),
            ("<think>It may be {\"a\": 1}", ""),
            ("<think>a <think>b</think> {\"a\": 1}</think>c", "c"),
            ("<think>a</think>b<think>c</think>d", "bd"),
            ("[THINK]a[/THINK]b", "b"),
            ("<|START_THINKING|>a<|END_THINKING|>b", "b"),
            ("{\"text\": \"about </think> and <think>\"}", "{\"text\": \"about </think> and <think>\"}"),
            ("{\"text\": \"a \\\" </think>\"} b", "{\"text\": \"a \\\" </think>\"} b"),
            ("analysisThey want {\"a\": 1}.assistantfinal{\"b\": 2}", "{\"b\": 2}"),
            ("analysis of the text", "analysis of the text"),
        ] {
            assert_eq!(answer(text), left, "{text}");
        }
    }

    #[test]
    fn of_channels_the_final_one_and_what_goes_to_a_function_are_the_answer() {
        for (text, left) in [
            (
                "<|channel|>analysis<|message|>Perhaps {\"a\": 1}<|end|><|start|>assistant<|channel|>final<|message|>NONE<|return|>",
                "NONE",
            ),
            (
                "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"a\": 1}<|call|>",
                "<|channel|>to=functions.f<|message|>{\"a\": 1}<|call|>",
            ),
            (
                "<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{\"a\": \"<|end|>\"}",
                "<|channel|>to=functions.f<|message|>{\"a\": \"<|end|>\"}",
            ),
            ("<|channel|>analysis to=functions.f<|message|>{\"a\": 1}<|call|>", ""),
            ("<|channel|>commentary<|message|>I call f now.<|end|>", ""),
            ("<|channel|>analysis<|message|>It may be to=functions.f", ""),
        ] {
            assert_eq!(answer(text), left, "{text}");
        }
    }

    proptest! {
        /// Wherever a thought stands and the reply is cut, nothing of the thought remains.
        #[test]
        fn nothing_of_a_thought_is_left(
            pair in prop::sample::select(&THOUGHTS[..]),
            before in "[a-m ]{0,10}", thought in "[n-z{}\" ]{1,20}", after in "[a-m{} ]{0,10}", cut in 0_usize..60,
        ) {
            let text = format!("{before}{}{thought}{}{after}", pair.0, pair.1);
            prop_assert_eq!(answer(&text), format!("{before}{after}"));
            let cut: String = text.chars().take(cut).collect();
            if cut.contains(pair.0) {
                let left = answer(&cut);
                prop_assert!(!left.contains(|c: char| ('n'..='z').contains(&c)), "{left}");
            }
        }

        #[test]
        fn no_text_panics(text in "(<think>|</think>|<\\|channel\\|>|<\\|message\\|>|<\\|end\\|>|to=|[{}\"\\\\a é]){0,30}") {
            prop_assert!(answer(&text).len() <= text.len() + CHANNEL.len() * 30);
        }
    }
}
