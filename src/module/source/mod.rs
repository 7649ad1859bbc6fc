//! The files as their authors write them: found by name, parsed, and read by shape into what [`super::load`] assembles.

use std::{fmt, panic, thread};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, DeserializeSeed, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

use super::{
    Diagnostic, Limits,
    endpoint::Operation,
    findings::{Findings, PointerChain, kind_of},
};

pub(super) mod answers;
pub(super) mod exemplars;
pub(super) mod locate;
pub(super) mod openai;
pub(super) mod openapi;
pub(super) mod opencui;
pub(super) mod recognizers;
pub(super) mod settings;
mod swagger;

/// One file of a module as it was read.
#[derive(Debug, Clone)]
pub(super) struct SourceFile {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

impl SourceFile {
    /// The text without a byte order mark; a diagnostic if it isn't UTF-8.
    pub(super) fn text(&self, findings: &mut Findings) -> Option<&str> {
        let bytes = self.bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&self.bytes);
        match std::str::from_utf8(bytes) {
            Ok(text) => Some(text),
            Err(error) => {
                let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                let (line, column) = locate::line_and_column(&before, before.len());
                findings.push(
                    Diagnostic::error("not-utf-8", &self.name, "", "the file is not UTF-8")
                        .at(line, column)
                        .hint("save it as UTF-8"),
                );
                None
            }
        }
    }

    pub(super) fn is_yaml(&self) -> bool {
        self.name.ends_with(".yaml") || self.name.ends_with(".yml")
    }
}

/// A function as read from one of the formats, its parameters already normalised.
#[derive(Debug, Clone)]
pub(super) struct SourceFunction {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) parameters: Value,
    pub(super) operation: Option<String>,
    /// How an operation is called.
    pub(super) request: Option<Operation>,
    /// Whether the tool says that it only reads; `None` if it says nothing.
    pub(super) read_only: Option<bool>,
    /// Where it was written.
    pub(super) pointer: String,
}

/// Reads a JSON or YAML file; duplicate keys and syntax errors become findings.
pub(super) fn parse(file: &SourceFile, findings: &mut Findings) -> Option<Value> {
    let text = file.text(findings)?;
    if file.is_yaml() { parse_yaml(&file.name, text, findings) } else { parse_json(&file.name, text, findings) }
}

fn parse_json(name: &str, text: &str, findings: &mut Findings) -> Option<Value> {
    let mut duplicates = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let parsed = WatchKeys { duplicates: &mut duplicates }.deserialize(&mut deserializer).and_then(|value| {
        deserializer.end()?;
        Ok(value)
    });
    for pointer in duplicates {
        findings.push(
            Diagnostic::warning("duplicate-key", name, pointer, "this key is written twice in its object")
                .hint("the last one counts; remove the others"),
        );
    }
    match parsed {
        Ok(value) => Some(value),
        Err(error) => {
            findings.push(syntax_error(name, &error));
            None
        }
    }
}

fn syntax_error(name: &str, error: &serde_json::Error) -> Diagnostic {
    // The error has separate members for the position.
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
    let found = Diagnostic::error("syntax", name, "", format!("this is not JSON: {message}"));
    let found = if error.line() > 0 { found.at(error.line(), error.column()) } else { found };
    match message {
        "trailing comma" => found.hint("remove the comma before the closing bracket"),
        "recursion limit exceeded" => found.hint("objects and lists may nest 127 deep"),
        _ => found,
    }
}

/// YAML 1.2: only `true` and `false` are booleans, so that `no` and `on` keep the meaning that their author intends.
fn yaml_options(length: usize, depth: usize) -> serde_saphyr::Options {
    // Every node takes at least one byte, so the size of the file (already limited) bounds these; nodes that aliases
    // add have limits of their own.
    let nodes = length.saturating_add(1_000);
    serde_saphyr::options! {
        strict_booleans: true,
        with_snippet: false,
        budget: serde_saphyr::budget! {
            max_depth: depth,
            max_nodes: nodes,
            max_events: nodes.saturating_mul(2),
            max_total_scalar_bytes: nodes.saturating_mul(2),
        },
    }
}

/// Greatest nesting of maps and lists, the same as for JSON.
const YAML_DEPTH: usize = 120;
/// The reader needs up to 35 KB of stack for each level, without optimisation. A thread of the service has 2 MB.
const YAML_STACK: usize = 16 << 20;
/// Nesting for which a thread of the service has room.
const SHALLOW: usize = 30;

/// Reads on a thread with room for the greatest nesting; if none can be started, reads less deep nesting.
fn read_yaml<T: DeserializeOwned + Send>(text: &str) -> Result<T, serde_saphyr::Error> {
    let read = |depth| serde_saphyr::from_str_with_options(text, yaml_options(text.len(), depth));
    thread::scope(|scope| {
        match thread::Builder::new().stack_size(YAML_STACK).spawn_scoped(scope, || read(YAML_DEPTH)) {
            Ok(reader) => reader.join().unwrap_or_else(|panic| panic::resume_unwind(panic)),
            Err(_) => read(SHALLOW),
        }
    })
}

fn parse_yaml(name: &str, text: &str, findings: &mut Findings) -> Option<Value> {
    match read_yaml::<Watched>(text) {
        Ok(Watched(value)) => Some(value),
        Err(error) => {
            let located = error.location();
            let message = error.without_snippet().to_string();
            let found = Diagnostic::error("syntax", name, "", format!("this is not YAML: {message}"));
            let at = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
            findings.push(match located {
                Some(place) if place.line() > 0 => found.at(at(place.line()), at(place.column())),
                _ => found,
            });
            None
        }
    }
}

/// A JSON value; duplicate keys (which YAML itself refuses) are not recorded.
struct Watched(Value);

impl<'de> Deserialize<'de> for Watched {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        WatchKeys { duplicates: &mut Vec::new() }.deserialize(deserializer).map(Self)
    }
}

/// Builds a [`Value`] and records the pointers of duplicate keys.
struct WatchKeys<'a> {
    duplicates: &'a mut Vec<String>,
}

impl WatchKeys<'_> {
    fn again(&mut self) -> WatchKeys<'_> {
        WatchKeys { duplicates: self.duplicates }
    }

    /// Prepends `key` to the pointers that were recorded since `before`; a file without duplicates pays nothing.
    fn prefix(&mut self, before: usize, key: &str) {
        for pointer in &mut self.duplicates[before..] {
            pointer.insert_str(0, &PointerChain::ROOT.key(key).to_string());
        }
    }
}

impl<'de> DeserializeSeed<'de> for WatchKeys<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for WatchKeys<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        let mut before = self.duplicates.len();
        while let Some(item) = items.next_element_seed(self.again())? {
            if self.duplicates.len() > before {
                self.prefix(before, &list.len().to_string());
                before = self.duplicates.len();
            }
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let before = self.duplicates.len();
            let value = members.next_value_seed(self.again())?;
            if self.duplicates.len() > before {
                self.prefix(before, &key);
            }
            if map.contains_key(&key) && self.duplicates.len() < 100 {
                self.duplicates.push(PointerChain::ROOT.key(&key).to_string());
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

/// The schema file in the newest form of its format.
pub(super) fn modernised(document: Value) -> Value {
    let is_swagger = document.get("swagger").and_then(Value::as_str).is_some_and(|version| version.starts_with("2."));
    if is_swagger { swagger::modernised(&document) } else { document }
}

/// Reads the schema file by its shape.
pub(super) fn functions(file: &str, document: &Value, limits: &Limits, findings: &mut Findings) -> Vec<SourceFunction> {
    match document {
        Value::Array(list) => openai::functions(file, document, list, PointerChain::ROOT, limits, findings),
        Value::Object(map) => {
            let list_under = |key: &str| map.get(key).and_then(Value::as_array);
            if map.contains_key("openapi") || map.contains_key("paths") || map.contains_key("swagger") {
                return openapi::functions(file, document, limits, findings);
            }
            if map.get("skills").is_some_and(Value::is_object) {
                return opencui::functions(file, document, limits, findings);
            }
            for wrapper in ["tools", "functions"] {
                if let Some(list) = list_under(wrapper) {
                    let place = PointerChain::ROOT.key(wrapper);
                    note_further_pages(file, map, &PointerChain::ROOT, findings);
                    return openai::functions(file, document, list, place, limits, findings);
                }
            }
            // The answer of an MCP server with its envelope.
            if let Some(result) = map.get("result").and_then(Value::as_object)
                && let Some(list) = result.get("tools").and_then(Value::as_array)
            {
                note_further_pages(file, result, &PointerChain::ROOT.key("result"), findings);
                let place = PointerChain::Start("/result/tools");
                return openai::functions(file, document, list, place, limits, findings);
            }
            if map.contains_key("name") && (map.contains_key("parameters") || map.contains_key("description")) {
                findings.push(
                    Diagnostic::error("unknown-format", file, "", "the file is one function, not a list of functions")
                        .hint("put it between `[` and `]`"),
                );
                return Vec::new();
            }
            let members: Vec<&str> = map.keys().take(5).map(String::as_str).collect();
            findings.push(
                Diagnostic::error(
                    "unknown-format",
                    file,
                    "",
                    format!("no known format has the members `{}` at the top", members.join("`, `")),
                )
                .hint(FORMATS),
            );
            Vec::new()
        }
        other => {
            let message = format!("expected a list or an object, found {}", kind_of(other));
            findings.push(Diagnostic::error("unknown-format", file, "", message).hint(FORMATS));
            Vec::new()
        }
    }
}

/// Warns of an incomplete list: an MCP server lists its tools page by page, and this page is not the last one.
fn note_further_pages(file: &str, page: &Map<String, Value>, place: &PointerChain<'_>, findings: &mut Findings) {
    if page.get("nextCursor").and_then(Value::as_str).is_some_and(|cursor| !cursor.is_empty()) {
        let message = "this is one page of a tool list: there are more tools behind `nextCursor`";
        findings.push(
            Diagnostic::warning("incomplete-list", file, place.key("nextCursor"), message)
                .hint("ask for the other pages, put their tools into this list, and remove `nextCursor`"),
        );
    }
}

/// A text member, trimmed; empty if absent or null.
fn text_member(
    map: &Map<String, Value>,
    key: &str,
    file: &str,
    place: &PointerChain<'_>,
    findings: &mut Findings,
) -> String {
    match map.get(key) {
        Some(Value::String(text)) => text.trim().to_owned(),
        None | Some(Value::Null) => String::new(),
        Some(other) => {
            let message = format!("`{key}` is a string, found {}", kind_of(other));
            findings.push(Diagnostic::error("bad-member", file, place.key(key), message));
            String::new()
        }
    }
}

/// Makes a normalised schema into one of arguments: always an object that says so, with its definitions.
fn as_parameters(
    schema: Value,
    definitions: Map<String, Value>,
    file: &str,
    place: &PointerChain<'_>,
    findings: &mut Findings,
) -> Option<Value> {
    let Value::Object(map) = schema else {
        findings.push(Diagnostic::error("bad-parameters", file, place, "`false` as parameters allows no call at all"));
        return None;
    };
    let types = super::schema::type_names(map.get("type"));
    if !types.is_empty() && !types.contains(&"object") {
        let message = format!("parameters are of type `object`, not `{}`", types.join("`, `"));
        findings.push(
            Diagnostic::error("bad-parameters", file, place, message)
                .hint("wrap them: {\"type\": \"object\", \"properties\": {...}}"),
        );
        return None;
    }
    // `type` and `properties` come first, whatever the author's order, since people read these.
    let mut parameters = Map::new();
    parameters.insert("type".to_owned(), Value::from("object"));
    parameters.insert("properties".to_owned(), Value::Object(Map::new()));
    for (key, value) in map {
        if key != "type" {
            parameters.insert(key, value);
        }
    }
    if !definitions.is_empty() {
        parameters.insert("$defs".to_owned(), Value::Object(definitions));
    }
    Some(Value::Object(parameters))
}

const FORMATS: &str = "a list of OpenAI functions or tools, an OpenAPI 3 document (`openapi`, `paths`), \
     an OpenCUI schema (`skills`, `slots`) or an MCP tool list (`tools`)";

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> SourceFile {
        SourceFile { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
    }

    fn parsed(name: &str, text: &str) -> (Option<Value>, Vec<Diagnostic>) {
        let mut findings = Findings::new();
        let value = parse(&file(name, text), &mut findings);
        (value, findings.finish(&[name]).0)
    }

    #[test]
    fn duplicate_keys_are_found_where_they_are() {
        let (value, found) = parsed("a.json", r#"{"a": [1, {"b/c": 1, "d": 2, "b/c": 3}], "a2": 0}"#);
        assert_eq!(value, Some(serde_json::json!({"a": [1, {"b/c": 3, "d": 2}], "a2": 0})));
        let pointers: Vec<&str> = found.iter().map(|found| found.pointer.as_str()).collect();
        assert_eq!(pointers, ["/a/1/b~1c"]);
    }

    #[test]
    fn a_byte_order_mark_is_tolerated_and_syntax_errors_have_a_place() {
        assert_eq!(parsed("a.json", "\u{feff}[1]").0, Some(serde_json::json!([1])));
        let (value, found) = parsed("a.json", "[1,\n 2,]");
        assert_eq!((value, found[0].line, found[0].code), (None, Some(2), "syntax"));
        let (value, found) = parsed("a.yaml", "a: 1\nb: [1\n");
        assert_eq!((value, found[0].code), (None, "syntax"));
        assert!(found[0].line.is_some(), "{found:?}");
    }

    #[test]
    fn yaml_scalars_are_those_of_json() {
        let (value, found) = parsed("a.yaml", "a: no\n200: x\nb: 1.5\nc: ~\nd: 'true'\ne: true\nf: 2020-01-01\ng: 3\n");
        assert_eq!(found, []);
        let expected = serde_json::json!(
            {"a": "no", "200": "x", "b": 1.5, "c": null, "d": "true", "e": true, "f": "2020-01-01", "g": 3});
        assert_eq!(value, Some(expected));
    }

    #[test]
    fn yaml_bombs_are_refused() {
        let mut text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for level in 1..12 {
            let before = level - 1;
            let items = vec![format!("*a{before}"); 10].join(",");
            text.push_str(&format!("a{level}: &a{level} [{items}]\n"));
        }
        let (value, found) = parsed("a.yaml", &text);
        assert_eq!((value, found[0].code), (None, "syntax"));
    }
}
