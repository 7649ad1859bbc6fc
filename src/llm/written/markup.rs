//! Calls written with tags: `<function=NAME>`, `<invoke name="NAME">`, `<parameter=KEY>`, `<arg_key>`. Values are plain
//! text, which the schema types later.

use serde_json::{Map, Value};

use super::{WrittenCall, lenient};

/// Longest tag, in bytes.
const LONGEST_TAG: usize = 300;
/// Most arguments of a call.
const MOST_ARGUMENTS: usize = 200;

/// A tag and the name in it.
#[derive(Debug, PartialEq)]
pub(super) struct Tag<'t> {
    /// Without the prefix that some models use (`｜DSML｜`, `minimax:`).
    pub(super) label: &'t str,
    pub(super) is_end: bool,
    /// `NAME` of `<function=NAME>` and of `<invoke name="NAME">`.
    pub(super) names: Option<&'t str>,
    pub(super) len: usize,
}

impl Tag<'_> {
    pub(super) fn begins_call(&self) -> bool {
        !self.is_end && self.names.is_some() && matches!(self.label, "function" | "invoke")
    }
}

/// The tag at the start of `text`.
pub(super) fn tag(text: &str) -> Option<Tag<'_>> {
    let inner = text.strip_prefix('<')?;
    let mut limit = inner.len().min(LONGEST_TAG);
    while !inner.is_char_boundary(limit) {
        limit -= 1;
    }
    let inner = &inner[..inner[..limit].find('>')?];
    let len = inner.len() + 2;
    let (is_end, written) = inner.strip_prefix('/').map_or((false, inner), |rest| (true, rest));
    let length = written.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(written.len());
    let (label, rest) = written.split_at(length);
    let label = label.rsplit([':', '｜']).next().unwrap_or_default();
    if label.is_empty() || !label.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')) {
        return None;
    }
    let value = match rest.strip_prefix('=') {
        Some(value) => Some(value),
        None => rest.split_once("name=").map(|(_, value)| value),
    };
    let names = value.map(|value| {
        let value = value.trim();
        match value.chars().next().filter(|quote| matches!(quote, '"' | '\'')) {
            Some(quote) => value[1..].split(quote).next().unwrap_or_default(),
            None => value.split_whitespace().next().unwrap_or_default(),
        }
    });
    Some(Tag { label, is_end, names: names.filter(|name| !name.is_empty()), len })
}

/// The call whose tag is at `at`, and the index of the byte after it; `None` if it does not end or is not a call.
pub(super) fn call(text: &str, at: usize) -> Option<(WrittenCall, usize)> {
    let open = tag(&text[at..]).filter(Tag::begins_call)?;
    let mut at = at + open.len;
    let mut arguments = Map::new();
    let mut is_object = false;
    loop {
        at += blank(&text[at..]);
        let rest = &text[at..];
        if rest.starts_with('{') && arguments.is_empty() && !is_object {
            let found = lenient::value_at(text, at, false).filter(|found| !found.is_open)?;
            let Value::Object(object) = found.value else { return None };
            (arguments, is_object) = (object, true);
            at = found.place.end;
            continue;
        }
        match tag(rest) {
            Some(close) if close.is_end && close.label == open.label => {
                return Some((WrittenCall::new(open.names?, arguments), at + close.len));
            }
            // Tags around a list of parameters, and around the call.
            Some(list) if matches!(list.label, "parameters" | "arguments" | "args") => at += list.len,
            Some(close) if close.is_end && is_object => {
                return Some((WrittenCall::new(open.names?, arguments), at));
            }
            Some(parameter) if !parameter.is_end && matches!(parameter.label, "parameter" | "param" | "arg") => {
                let key = parameter.names?;
                let (value, end) = until_end(text, at + parameter.len, parameter.label)?;
                arguments.insert(key.to_owned(), value);
                at = end;
            }
            // The object's own brackets close it; the end tag is often missing at the end of a reply.
            None if is_object && rest.is_empty() => return Some((WrittenCall::new(open.names?, arguments), at)),
            _ => return None,
        }
        if arguments.len() > MOST_ARGUMENTS {
            return None;
        }
    }
}

/// A sequence of `<arg_key>KEY</arg_key><arg_value>VALUE</arg_value>` from `at` on, and the index of the byte after it.
pub(super) fn pairs(text: &str, mut at: usize) -> Option<(Map<String, Value>, usize)> {
    let mut arguments = Map::new();
    loop {
        at += blank(&text[at..]);
        let Some(key_tag) = tag(&text[at..]).filter(|tag| tag.label == "arg_key" && !tag.is_end) else {
            return Some((arguments, at));
        };
        let (key, end) = until_end(text, at + key_tag.len, "arg_key")?;
        at = end + blank(&text[end..]);
        let value_tag = tag(&text[at..]).filter(|tag| tag.label == "arg_value" && !tag.is_end)?;
        let (value, end) = until_end(text, at + value_tag.len, "arg_value")?;
        arguments.insert(key.as_str()?.trim().to_owned(), value);
        at = end;
        if arguments.len() > MOST_ARGUMENTS {
            return None;
        }
    }
}

/// The value up to its end tag, or up to a tag that shows that the end tag is missing; and the index of the byte after
/// it.
fn until_end(text: &str, from: usize, label: &str) -> Option<(Value, usize)> {
    for (offset, _) in text[from..].match_indices('<') {
        let Some(found) = tag(&text[from + offset..]) else { continue };
        let is_own = found.is_end && found.label == label;
        let is_next = !found.is_end && found.label == label && found.names.is_some();
        let is_outer = found.is_end && matches!(found.label, "function" | "invoke" | "tool_call");
        if is_own || is_next || is_outer {
            let end = from + offset + if is_own { found.len } else { 0 };
            return Some((value(&text[from..from + offset]), end));
        }
    }
    None
}

/// A list or object if the text is one in JSON, or else the text. One line break on either side belongs to the
/// template.
fn value(text: &str) -> Value {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let text = text.strip_suffix('\n').unwrap_or(text);
    let nested = text.trim_start().starts_with(['{', '[']).then(|| serde_json::from_str::<Value>(text).ok());
    nested.flatten().unwrap_or_else(|| Value::String(text.to_owned()))
}

fn blank(text: &str) -> usize {
    text.len() - text.trim_start().len()
}
