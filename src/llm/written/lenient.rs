//! Reads text that was meant to be JSON, as models write it.
//!
//! The crates that do this were tried first: the two maintained ones overflow the stack on deep input, invent keys out
//! of stray words, or print invalid JSON. This reader is small, linear, bounded in depth, and fails rather than
//! guesses: an incomplete member is dropped, never completed.

use std::ops::Range;

use serde_json::{Map, Number, Value};

/// Deeper nesting is refused; more than any loadable schema needs, less than overflows a stack.
const MAX_DEPTH: usize = 64;
/// Most object starts that are tried in one text. Bounds the work on garbage full of braces.
const MAX_STARTS: usize = 24;

/// Names of the repairs, as they appear in traces.
pub(crate) mod name {
    pub(crate) const COMMENT: &str = "comment";
    pub(crate) const CONTROL: &str = "control-character";
    pub(crate) const ESCAPE: &str = "escape";
    pub(crate) const FENCE: &str = "code-fence";
    pub(crate) const INNER_QUOTE: &str = "inner-quote";
    pub(crate) const LITERAL: &str = "literal";
    pub(crate) const MISSING_BRACKET: &str = "missing-bracket";
    pub(crate) const MISSING_COMMA: &str = "missing-comma";
    pub(crate) const NUMBER: &str = "number";
    pub(crate) const QUOTES: &str = "quotes";
    pub(crate) const SURROUNDING_TEXT: &str = "surrounding-text";
    pub(crate) const TRAILING_COMMA: &str = "trailing-comma";
    pub(crate) const TRUNCATED: &str = "truncated";
    pub(crate) const UNQUOTED_KEY: &str = "unquoted-key";
    pub(crate) const UNQUOTED_VALUE: &str = "unquoted-value";
}

/// Repairs by name in the order of their first use, without repetition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Repairs(pub(crate) Vec<&'static str>);

impl Repairs {
    pub(crate) fn note(&mut self, repair: &'static str) {
        if !self.0.contains(&repair) {
            self.0.push(repair);
        }
    }
}

/// The first object in `text`, and the repairs it took to read it.
pub(crate) fn first_object(text: &str) -> Option<(Map<String, Value>, Repairs)> {
    let mut found = None;
    scan(text, "{", |reader, value, start| {
        let Value::Object(object) = value else { return true };
        let mut repairs = reader.repairs.clone();
        let outside = [&text[..start], &text[reader.at..]];
        if outside.iter().any(|part| part.contains("```")) {
            repairs.note(name::FENCE);
        } else if outside.iter().any(|part| !part.trim().is_empty()) {
            repairs.note(name::SURROUNDING_TEXT);
        }
        found = Some((object, repairs));
        false
    });
    found
}

/// The value of `text`, if all of it is one in Python's notation: JSON except for quotes and the names of constants.
pub(crate) fn python(text: &str) -> Option<Value> {
    match text {
        "None" => return Some(Value::Null),
        "True" | "False" => return Some(Value::Bool(text == "True")),
        _ if !text.starts_with(['{', '[']) => return None,
        _ => {}
    }
    let mut reader = LenientParser::new(text, 0);
    let value = reader.value().ok()?;
    let is_whole = reader.at == text.len() && !reader.is_open && !reader.is_cut;
    let allowed = [name::QUOTES, name::LITERAL, name::TRAILING_COMMA];
    (is_whole && reader.repairs.0.iter().all(|repair| allowed.contains(repair))).then_some(value)
}

/// A value in a text, and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ParsedValue {
    pub(super) value: Value,
    /// Byte range.
    pub(super) place: Range<usize>,
    /// The text ended before the value did.
    pub(super) is_open: bool,
    /// A part was dropped because the text ended in the middle of it.
    pub(super) is_cut: bool,
}

/// Every outermost object and array in `text`, in order, at most `limit`.
pub(super) fn values_in(text: &str, limit: usize) -> Vec<ParsedValue> {
    let mut values = Vec::new();
    scan(text, "{[", |reader, value, start| {
        values.push(reader.found(value, start));
        values.len() < limit
    });
    values
}

/// The value at byte `at` of `text`; `in_call` means inside a call in Python's form.
pub(super) fn value_at(text: &str, at: usize, in_call: bool) -> Option<ParsedValue> {
    let mut reader = LenientParser { in_call, ..LenientParser::new(text, at) };
    let value = reader.value().ok()?;
    Some(reader.found(value, at))
}

/// Reads a value at each of the first occurrences of one of `starts` outside earlier values. `found` gets the reader
/// after the value, the value, and its start; it returns whether to continue.
fn scan<'t>(text: &'t str, starts: &str, mut found: impl FnMut(&LenientParser<'t>, Value, usize) -> bool) {
    let mut from = 0;
    for _ in 0..MAX_STARTS {
        let Some(offset) = text[from..].find(|c| starts.contains(c)) else { return };
        let start = from + offset;
        let mut reader = LenientParser::new(text, start);
        match reader.value() {
            Ok(value) => {
                from = reader.at;
                if !found(&reader, value, start) {
                    return;
                }
            }
            Err(_) => from = start + 1,
        }
    }
}

/// Why reading stopped.
enum Stop {
    /// The text ended inside a value: the incomplete part is dropped.
    Cut,
    /// This is not JSON, even when read leniently.
    Garbage,
}

struct LenientParser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    /// Number of open arrays, so that a stray `]` is attributed to them.
    arrays: usize,
    /// Whether a `)` also ends a value.
    in_call: bool,
    /// The text ended before the value did; `is_cut`: in the middle of something.
    is_open: bool,
    is_cut: bool,
    repairs: Repairs,
}

impl<'t> LenientParser<'t> {
    fn new(text: &'t str, at: usize) -> Self {
        let repairs = Repairs::default();
        Self { text, at, depth: 0, arrays: 0, in_call: false, is_open: false, is_cut: false, repairs }
    }

    fn found(&self, value: Value, start: usize) -> ParsedValue {
        ParsedValue { value, place: start..self.at, is_open: self.is_open, is_cut: self.is_cut }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn eat(&mut self, wanted: char) -> bool {
        let is = self.peek() == Some(wanted);
        if is {
            self.at += wanted.len_utf8();
        }
        is
    }

    /// Skips whitespace and comments.
    fn skip(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            self.at += rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}').len();
            let rest = &self.text[self.at..];
            let comment = if rest.starts_with("//") || rest.starts_with('#') {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else {
                return;
            };
            self.repairs.note(name::COMMENT);
            self.at += comment;
        }
    }

    fn value(&mut self) -> Result<Value, Stop> {
        self.skip();
        match self.peek() {
            None => Err(Stop::Cut),
            Some('{') => self.nested(Self::object),
            Some('[') => self.nested(Self::array),
            Some(quote) if closing_quote(quote).is_some() => self.string(false).map(Value::String),
            Some('\\') => self.escaped_string(false).map(Value::String),
            Some(_) => self.bare(),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, Stop>) -> Result<Value, Stop> {
        if self.depth >= MAX_DEPTH {
            return Err(Stop::Garbage);
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Result<Value, Stop> {
        self.bump();
        let mut members = Map::new();
        let mut goes_on = true;
        loop {
            self.skip();
            match self.peek() {
                None => return self.cut(members.is_empty(), goes_on, Value::Object(members)),
                Some('}') => {
                    self.bump();
                    return Ok(Value::Object(members));
                }
                Some(']') if self.arrays > 0 => {
                    self.repairs.note(name::MISSING_BRACKET);
                    return Ok(Value::Object(members));
                }
                Some(_) => {}
            }
            match self.member() {
                Ok((key, value)) => {
                    members.insert(key, value);
                }
                Err(Stop::Cut) => return self.cut(members.is_empty(), true, Value::Object(members)),
                Err(Stop::Garbage) => return Err(Stop::Garbage),
            }
            goes_on = self.separator('}')?;
        }
    }

    fn member(&mut self) -> Result<(String, Value), Stop> {
        let key = match self.peek() {
            Some(quote) if closing_quote(quote).is_some() => self.string(true)?,
            Some('\\') => self.escaped_string(true)?,
            _ => {
                let rest = &self.text[self.at..];
                let length = rest
                    .find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '$' | '.'))
                    .unwrap_or(rest.len());
                if length == 0 {
                    return Err(Stop::Garbage);
                }
                self.repairs.note(name::UNQUOTED_KEY);
                self.at += length;
                rest[..length].to_owned()
            }
        };
        self.skip();
        match self.peek() {
            None => return Err(Stop::Cut),
            Some(':') => self.bump(),
            Some(_) => return Err(Stop::Garbage),
        };
        Ok((key, self.value()?))
    }

    fn array(&mut self) -> Result<Value, Stop> {
        self.bump();
        self.arrays += 1;
        let read = self.items();
        self.arrays -= 1;
        read
    }

    fn items(&mut self) -> Result<Value, Stop> {
        let mut items = Vec::new();
        let mut goes_on = true;
        loop {
            self.skip();
            match self.peek() {
                None => return self.cut(items.is_empty(), goes_on, Value::Array(items)),
                Some(']') => {
                    self.bump();
                    return Ok(Value::Array(items));
                }
                Some('}') => {
                    self.repairs.note(name::MISSING_BRACKET);
                    return Ok(Value::Array(items));
                }
                Some(_) => {}
            }
            match self.value() {
                Ok(value) => items.push(value),
                Err(Stop::Cut) => return self.cut(items.is_empty(), true, Value::Array(items)),
                Err(Stop::Garbage) => return Err(Stop::Garbage),
            }
            goes_on = self.separator(']')?;
        }
    }

    /// The complete part of a container that the text ends in; below the top level, an error if that part is empty. If
    /// the text ends after a whole member (not `goes_on`), only brackets are missing.
    fn cut(&mut self, empty: bool, goes_on: bool, read: Value) -> Result<Value, Stop> {
        self.is_open = true;
        self.is_cut |= goes_on;
        self.repairs.note(if self.is_cut { name::TRUNCATED } else { name::MISSING_BRACKET });
        self.at = self.text.len();
        if empty && self.depth > 1 { Err(Stop::Cut) } else { Ok(read) }
    }

    /// Reads the comma after a member or item; says whether another one follows. A closing bracket is left for the
    /// caller.
    fn separator(&mut self, close: char) -> Result<bool, Stop> {
        self.skip();
        if !self.eat(',') {
            match self.peek() {
                None | Some('}' | ']') => return Ok(false),
                Some(next)
                    if closing_quote(next).is_some() || next.is_alphabetic() || matches!(next, '{' | '[' | '_') =>
                {
                    self.repairs.note(name::MISSING_COMMA);
                    return Ok(true);
                }
                Some(_) => return Err(Stop::Garbage),
            }
        }
        self.skip();
        if self.peek() == Some(close) {
            self.repairs.note(name::TRAILING_COMMA);
        }
        Ok(true)
    }

    /// A literal, a number, or an unquoted word.
    fn bare(&mut self) -> Result<Value, Stop> {
        let rest = &self.text[self.at..];
        let ends =
            |c: char| matches!(c, ',' | '}' | ']' | '\n' | '\r' | '{' | '[' | ':' | '"') || self.in_call && c == ')';
        let length = rest.find(ends).unwrap_or(rest.len());
        let cut = length == rest.len();
        let comment = ["//", "/*", " #"].iter().filter_map(|mark| rest[..length].find(mark)).min();
        let raw = comment.unwrap_or(length);
        let token = rest[..raw].trim_end();
        if token.is_empty() {
            return Err(Stop::Garbage);
        }
        let literal = match token {
            "true" | "false" | "null" => Some((token.parse().unwrap_or(Value::Null), false)),
            "True" | "TRUE" => Some((Value::Bool(true), true)),
            "False" | "FALSE" => Some((Value::Bool(false), true)),
            "None" | "NULL" | "Null" | "nil" | "undefined" | "NaN" => Some((Value::Null, true)),
            _ => None,
        };
        if let Some((value, repaired)) = literal {
            if repaired {
                self.repairs.note(name::LITERAL);
            }
            self.at += token.len();
            return Ok(value);
        }
        // A number or word at the end of the text may be incomplete.
        if cut {
            return Err(Stop::Cut);
        }
        self.at += token.len();
        if let Ok(number) = serde_json::from_str::<Number>(token) {
            return Ok(Value::Number(number));
        }
        let plain = token.strip_prefix('+').unwrap_or(token);
        let padded = if plain.starts_with('.') { format!("0{plain}") } else { plain.trim_end_matches('.').to_owned() };
        if let Ok(number) = serde_json::from_str::<Number>(&padded) {
            self.repairs.note(name::NUMBER);
            return Ok(Value::Number(number));
        }
        if matches!(rest[length..].chars().next(), Some('{' | '[' | ':' | '"')) {
            return Err(Stop::Garbage);
        }
        self.repairs.note(name::UNQUOTED_VALUE);
        Ok(Value::String(token.to_owned()))
    }

    /// A string in any quotes. An unescaped quote inside it is recognised by what follows it.
    fn string(&mut self, key: bool) -> Result<String, Stop> {
        let open = self.bump().ok_or(Stop::Cut)?;
        let close = closing_quote(open).ok_or(Stop::Garbage)?;
        if open != '"' {
            self.repairs.note(name::QUOTES);
        }
        let mut text = String::new();
        loop {
            let next = self.bump().ok_or(Stop::Cut)?;
            if next == close {
                if self.closes(key) {
                    return Ok(text);
                }
                self.repairs.note(name::INNER_QUOTE);
                text.push(next);
            } else if next == '\\' {
                self.escape(&mut text)?;
            } else {
                if u32::from(next) < 0x20 {
                    self.repairs.note(name::CONTROL);
                }
                text.push(next);
            }
        }
    }

    /// Whether the quote just read ends its string.
    fn closes(&self, key: bool) -> bool {
        let rest = &self.text[self.at..];
        let after = rest.trim_start();
        match after.chars().next() {
            None | Some('/' | '#') => true,
            Some(':') => key,
            Some(',' | '}' | ']') => !key,
            Some(')') => self.in_call,
            // Two strings in a row lack a comma; of two quotes in a row, one belongs to the text.
            Some(next) => !key && closing_quote(next).is_some() && after.len() < rest.len(),
        }
    }

    /// A string with escaped quotes, which occur when JSON was embedded in JSON and only partly unescaped. As many
    /// backslashes as opened it close it.
    fn escaped_string(&mut self, key: bool) -> Result<String, Stop> {
        let marks = self.backslashes();
        self.at += marks;
        let open = self.bump().filter(|open| matches!(open, '"' | '\'')).ok_or(Stop::Garbage)?;
        self.repairs.note(name::ESCAPE);
        let mut text = String::new();
        loop {
            let run = self.backslashes();
            if run == 0 {
                text.push(self.bump().ok_or(Stop::Cut)?);
                continue;
            }
            let rest = &self.text[self.at + run..];
            if rest.starts_with(open) {
                let is_end = run == marks;
                self.at += run + open.len_utf8();
                if is_end && self.closes(key) {
                    return Ok(text);
                }
                text.push(open);
            } else {
                // Every backslash except the last was escaped like the quotes.
                self.at += run - 1;
                self.bump();
                self.escape(&mut text)?;
            }
        }
    }

    /// The number of consecutive backslashes here.
    fn backslashes(&self) -> usize {
        let rest = &self.text[self.at..];
        rest.len() - rest.trim_start_matches('\\').len()
    }

    fn escape(&mut self, text: &mut String) -> Result<(), Stop> {
        let escaped = self.bump().ok_or(Stop::Cut)?;
        match escaped {
            '"' | '\\' | '/' => text.push(escaped),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{C}'),
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            'u' => text.push(self.unicode()?),
            '\'' | '\u{2018}' | '\u{2019}' | '\u{201C}' | '\u{201D}' | '`' => {
                self.repairs.note(name::ESCAPE);
                text.push(escaped);
            }
            other => {
                self.repairs.note(name::ESCAPE);
                text.push('\\');
                text.push(other);
            }
        }
        Ok(())
    }

    /// The character of a `\uXXXX`, or of a surrogate pair.
    fn unicode(&mut self) -> Result<char, Stop> {
        let high = self.hex()?;
        if !(0xD800..0xDC00).contains(&high) {
            return Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        if !self.text[self.at..].starts_with("\\u") {
            self.repairs.note(name::ESCAPE);
            return Ok(char::REPLACEMENT_CHARACTER);
        }
        self.at += 2;
        let low = self.hex()?;
        let point = 0x10000 + ((high - 0xD800) << 10) + low.wrapping_sub(0xDC00) % 0x400;
        Ok(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Result<u32, Stop> {
        let digits = self.text.get(self.at..self.at + 4).ok_or(Stop::Cut)?;
        let code = u32::from_str_radix(digits, 16).map_err(|_| Stop::Garbage)?;
        self.at += 4;
        Ok(code)
    }
}

fn closing_quote(open: char) -> Option<char> {
    match open {
        '"' | '\'' | '`' => Some(open),
        '\u{201C}' | '\u{201E}' => Some('\u{201D}'),
        '\u{2018}' => Some('\u{2019}'),
        _ => None,
    }
}
