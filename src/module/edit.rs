//! Changes to an author's files that leave everything else in a file as it is: order, spaces and comments. Functions
//! take and return text; no file is read or written here.

use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};
use toml_edit::{DocumentMut, Item, Table, TableLike};

use super::squeeze;

/// Why a file cannot be changed in this way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("`{file}` is not {format}, so nothing can be put into it: {problem}")]
    Unreadable { file: &'static str, format: &'static str, problem: String },
    #[error("{0}")]
    Impossible(String),
}

type Edited = Result<String, EditError>;

fn impossible<T>(message: impl Into<String>) -> Result<T, EditError> {
    Err(EditError::Impossible(message.into()))
}

/// Adds an exemplar after those of its function. `members` stand besides its template: `owner_mode`, `label` and
/// others.
///
/// # Errors
/// If `text` is not a file of exemplars.
pub fn add_exemplar(text: Option<&str>, function: &str, template: &str, members: &Map<String, Value>) -> Edited {
    let mut whole = Map::from_iter([("template".to_owned(), json!(template))]);
    whole.extend(members.iter().map(|(name, value)| (name.clone(), value.clone())));
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
        let value = if members.is_empty() { json!(template) } else { Value::Object(whole) };
        return Ok(format!("{{\n  {}: [\n    {}\n  ]\n}}\n", json!(function), spaced(&value)));
    };
    let root = read("exemplars.json", text)?;
    match &root.kind {
        // A flat list, in which each exemplar names its owner.
        NodeKind::List(_) => {
            let mut owned = Map::from_iter([("owner".to_owned(), json!(function))]);
            owned.extend(whole);
            Ok(appended(text, &root, &spaced(&Value::Object(owned))))
        }
        NodeKind::Object(_) => match root.member_like(function) {
            Some(list) => {
                let NodeKind::List(items) = &list.kind else {
                    return impossible(format!("what `exemplars.json` says of `{function}` is not a list"));
                };
                let is_plain = items.last().is_none_or(|last| last.is_string(text)) && members.is_empty();
                let value = if is_plain { json!(template) } else { Value::Object(whole) };
                Ok(appended(text, list, &spaced(&value)))
            }
            None => {
                let value = if members.is_empty() { json!(template) } else { Value::Object(whole) };
                let inner = root.indent(text);
                let piece = format!("{}: [\n{inner}{inner}{}\n{inner}]", json!(function), spaced(&value));
                Ok(appended(text, &root, &piece))
            }
        },
        NodeKind::Leaf => impossible("`exemplars.json` is neither an object nor a list"),
    }
}

/// Removes an exemplar.
///
/// # Errors
/// If `text` is not a file of exemplars, or has no such exemplar.
pub fn remove_exemplar(text: &str, function: &str, template: &str) -> Edited {
    let root = read("exemplars.json", text)?;
    let is_it = |item: &Node| {
        let value: Value = serde_json::from_str(&text[item.from..item.to]).unwrap_or_default();
        let said = value.as_str().or_else(|| value.get("template").and_then(Value::as_str));
        let owner = value.get("owner").and_then(Value::as_str);
        said.is_some_and(|said| said.trim() == template.trim()) && owner.is_none_or(|owner| owner == function)
    };
    let list = match &root.kind {
        NodeKind::List(_) => Some(&root),
        _ => root.member_like(function),
    };
    let found = list.and_then(|list| Some((list, list.items().iter().position(is_it)?)));
    match found {
        Some((list, at)) => Ok(without(text, list, at)),
        None => impossible(format!("`{function}` has no exemplar `{template}`")),
    }
}

/// Adds an expression for an entry of a list. The entry, the list and its binding are created if they do not exist.
///
/// # Errors
/// If `text` is not a file of recognizers, or the recognizer is not a list.
pub fn add_expression(
    text: Option<&str>,
    recognizer: &str,
    slot: Option<&str>,
    label: &Value,
    expression: &str,
) -> Edited {
    let entry = json!({"label": label, "expressions": [expression]});
    let list = json!({"rec_type": "list", "instances": [entry.clone()]});
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
        let mut made = format!("{{\n  \"recognizers\": {{\n    {}: {}\n  }}", json!(recognizer), spaced(&list));
        if let Some(slot) = slot {
            made += &format!(",\n  \"slots\": {{\n    {}: {}\n  }}", json!(slot), json!(recognizer));
        }
        return Ok(made + "\n}\n");
    };
    let root = read("recognizers.json", text)?;
    let is_flat =
        root.member("recognizers").is_none_or(|own| own.member("rec_type").is_some()) && root.member("slots").is_none();
    let lists = if is_flat { Some(&root) } else { root.member("recognizers") };
    let own = lists.and_then(|lists| lists.member(recognizer));
    let Some(own) = own else {
        let piece = format!("{}: {}", json!(recognizer), spaced(&list));
        let added = match lists {
            Some(lists) => appended(text, lists, &piece),
            None => appended(text, &root, &format!("\"recognizers\": {{{piece}}}")),
        };
        return match slot.filter(|_| !is_flat) {
            Some(slot) => bound(&added, slot, recognizer),
            None => Ok(added),
        };
    };
    let Some(instances) = own.member("instances").filter(|instances| matches!(instances.kind, NodeKind::List(_)))
    else {
        return impossible(format!("the recognizer `{recognizer}` is not a list"));
    };
    let is_labelled = |entry: &&Node| {
        entry.member("label").is_some_and(|own| {
            let own: Value = serde_json::from_str(&text[own.from..own.to]).unwrap_or_default();
            let shown = own.to_string();
            own == *label || label.as_str() == Some(shown.as_str())
        })
    };
    let Some(entry_node) = instances.items().iter().find(is_labelled) else {
        return Ok(appended(text, instances, &spaced(&entry)));
    };
    match entry_node.member("expressions") {
        Some(said) if matches!(said.kind, NodeKind::List(_)) => {
            Ok(appended(text, said, &json!(expression).to_string()))
        }
        Some(_) => impossible(format!("the expressions of {label} in `{recognizer}` are not a list")),
        None => Ok(appended(text, entry_node, &format!("\"expressions\": [{}]", json!(expression)))),
    }
}

fn bound(text: &str, slot: &str, recognizer: &str) -> Edited {
    let root = read("recognizers.json", text)?;
    let piece = format!("{}: {}", json!(slot), json!(recognizer));
    Ok(match root.member("slots") {
        Some(slots) if slots.member(slot).is_some() => text.to_owned(),
        Some(slots) => appended(text, slots, &piece),
        None => appended(text, &root, &format!("\"slots\": {{{piece}}}")),
    })
}

/// Appends a case or a dialogue on a line of its own.
#[must_use]
pub fn add_line(text: Option<&str>, case: &Value) -> String {
    let mut text = text.unwrap_or_default().to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text + &spaced(case) + "\n"
}

/// Sets a value in `module.toml`, creating the tables that lead there; `None` removes it.
///
/// # Errors
/// If `text` is not TOML, something on the way is not a table, or TOML cannot hold the value (null).
pub fn set(text: Option<&str>, path: &[String], value: Option<&Value>) -> Edited {
    let mut document: DocumentMut = text.unwrap_or_default().parse().map_err(|error: toml_edit::TomlError| {
        EditError::Unreadable { file: "module.toml", format: "TOML", problem: error.message().to_owned() }
    })?;
    let Some((last, way)) = path.split_last() else { return impossible("a setting has a name") };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for key in way {
        let item = table.entry(key).or_insert_with(|| {
            let mut made = Table::new();
            made.set_implicit(true);
            Item::Table(made)
        });
        let Some(next) = item.as_table_like_mut() else { return impossible(format!("`{key}` is not a table")) };
        table = next;
    }
    let Some(value) = value else {
        table.remove(last);
        return Ok(document.to_string());
    };
    let Some(mut value) = toml_value(value) else { return impossible(format!("`{last}` cannot be null")) };
    match table.get_mut(last) {
        Some(Item::Value(before)) => {
            *value.decor_mut() = before.decor().clone();
            *before = value;
        }
        Some(_) => return impossible(format!("`{last}` is a table: say which of its settings")),
        None => drop(table.insert(last, Item::Value(value))),
    }
    Ok(document.to_string())
}

fn toml_value(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64()?.into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().map(toml_value).collect::<Option<toml_edit::Array>>()?.into(),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| Some((name.as_str(), toml_value(value)?)));
            members.collect::<Option<toml_edit::InlineTable>>()?.into()
        }
    })
}

/// JSON on one line, as people write it.
fn spaced(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| format!("{}: {}", json!(name), spaced(value));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A value with its byte range in the text.
#[derive(Debug)]
struct Node {
    from: usize,
    to: usize,
    kind: NodeKind,
}

#[derive(Debug)]
enum NodeKind {
    /// Names with their places, and values.
    Object(Vec<(String, usize, Node)>),
    List(Vec<Node>),
    Leaf,
}

impl Node {
    fn member(&self, name: &str) -> Option<&Node> {
        match &self.kind {
            // Of two members with the same name, the last counts.
            NodeKind::Object(members) => members.iter().rev().find(|(own, ..)| own == name).map(|(.., node)| node),
            _ => None,
        }
    }

    /// The member of this name, in any spelling that the author may have used.
    fn member_like(&self, name: &str) -> Option<&Node> {
        self.member(name).or_else(|| match &self.kind {
            NodeKind::Object(members) => {
                members.iter().find(|(own, ..)| squeeze(own) == squeeze(name)).map(|(.., node)| node)
            }
            _ => None,
        })
    }

    fn items(&self) -> &[Node] {
        match &self.kind {
            NodeKind::List(items) => items,
            _ => &[],
        }
    }

    fn is_string(&self, text: &str) -> bool {
        text[self.from..self.to].starts_with('"')
    }

    /// Where each member or item begins and ends, in order.
    fn places(&self) -> Vec<(usize, usize)> {
        match &self.kind {
            NodeKind::Object(members) => members.iter().map(|(_, from, node)| (*from, node.to)).collect(),
            NodeKind::List(items) => items.iter().map(|item| (item.from, item.to)).collect(),
            NodeKind::Leaf => Vec::new(),
        }
    }

    /// The indentation of its first member.
    fn indent(&self, text: &str) -> String {
        let first = self.places().first().map(|(from, _)| &text[self.from + 1..*from]);
        let indent = first.and_then(|space| space.rsplit_once('\n')).map(|(_, indent)| indent);
        indent.filter(|indent| indent.chars().all(char::is_whitespace)).unwrap_or("  ").to_owned()
    }
}

/// The text with one more element at the end of a list or an object, separated like those before it.
fn appended(text: &str, into: &Node, piece: &str) -> String {
    let places = into.places();
    let (at, apart) = match places[..] {
        [] => (into.from + 1, String::new()),
        [(from, to)] => {
            let space = &text[into.from + 1..from];
            (to, if space.contains('\n') { format!(",{space}") } else { ", ".to_owned() })
        }
        [.., (_, before), (from, to)] => (to, text[before..from].to_owned()),
    };
    format!("{}{apart}{piece}{}", &text[..at], &text[at..])
}

/// The text without one element of a list.
fn without(text: &str, list: &Node, at: usize) -> String {
    let places = list.places();
    let (from, to) = places[at];
    let (from, to) = match (at.checked_sub(1), places.get(at + 1)) {
        (_, Some((next, _))) => (from, *next),
        (Some(before), None) => (places[before].1, to),
        (None, None) => (list.from + 1, list.to - 1),
    };
    format!("{}{}", &text[..from], &text[to..])
}

fn read(file: &'static str, text: &str) -> Result<Node, EditError> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str::<IgnoredAny>(body).map_err(|error| EditError::Unreadable {
        file,
        format: "JSON",
        problem: error.to_string(),
    })?;
    let mut scanner = Scanner { text: text.as_bytes(), at: text.len() - body.len() };
    Ok(scanner.value())
}

/// Walks text that the parser has accepted, which limits how deep it nests.
struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// Skips the next character if it is `sign`; returns whether it was.
    fn eat(&mut self, sign: u8) -> bool {
        self.space();
        let is_it = self.text.get(self.at) == Some(&sign);
        self.at += usize::from(is_it);
        is_it
    }

    fn string(&mut self) -> String {
        self.space();
        let from = self.at;
        self.at += 1;
        while let Some(sign) = self.text.get(self.at).filter(|sign| **sign != b'"') {
            self.at += 1 + usize::from(*sign == b'\\');
        }
        self.at += 1;
        serde_json::from_slice(self.text.get(from..self.at).unwrap_or_default()).unwrap_or_default()
    }

    fn value(&mut self) -> Node {
        self.space();
        let from = self.at;
        let kind = match self.text.get(self.at) {
            Some(b'{') => {
                self.at += 1;
                let mut members = Vec::new();
                while !self.eat(b'}') && self.at < self.text.len() {
                    self.eat(b',');
                    self.space();
                    let at = self.at;
                    let name = self.string();
                    self.eat(b':');
                    members.push((name, at, self.value()));
                }
                NodeKind::Object(members)
            }
            Some(b'[') => {
                self.at += 1;
                let mut items = Vec::new();
                while !self.eat(b']') && self.at < self.text.len() {
                    self.eat(b',');
                    items.push(self.value());
                }
                NodeKind::List(items)
            }
            Some(b'"') => {
                self.string();
                NodeKind::Leaf
            }
            _ => {
                let ends = |sign: &u8| b",]}".contains(sign) || sign.is_ascii_whitespace();
                while self.text.get(self.at).is_some_and(|sign| !ends(sign)) {
                    self.at += 1;
                }
                NodeKind::Leaf
            }
        };
        Node { from, to: self.at, kind }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(text: Option<&str>, function: &str, template: &str) -> Edited {
        add_exemplar(text, function, template, &Map::new())
    }

    #[test]
    fn an_exemplar_is_written_as_those_beside_it() {
        let lines =
            "{\n  \"order\": [\n    {\"template\": \"buy <x>\"},\n    {\"template\": \"get \\\"<x>\\\"\"}\n  ]\n}\n";
        let expected = lines.replace("\"}\n  ]", "\"},\n    {\"template\": \"I want <x>\"}\n  ]");
        assert_eq!(plain(Some(lines), "order", "I want <x>").unwrap(), expected);
        let dense = r#"{"order":["a", "b"],  "track" : [ ]}"#;
        assert_eq!(plain(Some(dense), "order", "c").unwrap(), r#"{"order":["a", "b", "c"],  "track" : [ ]}"#);
        assert_eq!(plain(Some(dense), "track", "c").unwrap(), r#"{"order":["a", "b"],  "track" : ["c" ]}"#);
        let one = "{\"Place Order\": [\n\t\"a\"\n]}";
        assert_eq!(plain(Some(one), "place_order", "b").unwrap(), "{\"Place Order\": [\n\t\"a\",\n\t\"b\"\n]}");
        let negative = Map::from_iter([("owner_mode".to_owned(), json!("negative"))]);
        let added = add_exemplar(Some(one), "place_order", "who", &negative).unwrap();
        assert!(added.ends_with("\"a\",\n\t{\"template\": \"who\", \"owner_mode\": \"negative\"}\n]}"), "{added}");
        let flat = r#"[{"owner": "a", "template": "x"}]"#;
        let expected = r#"[{"owner": "a", "template": "x"}, {"owner": "b", "template": "y"}]"#;
        assert_eq!(plain(Some(flat), "b", "y").unwrap(), expected);
        let new = plain(Some("{\n    \"a\": [\"x\"]\n}"), "b", "y").unwrap();
        assert_eq!(new, "{\n    \"a\": [\"x\"],\n    \"b\": [\n        \"y\"\n    ]\n}");
        assert_eq!(plain(None, "a", "x").unwrap(), "{\n  \"a\": [\n    \"x\"\n  ]\n}\n");
        assert!(plain(Some("{\"a\": [}"), "a", "x").is_err());
    }

    #[test]
    fn what_is_taken_away_leaves_the_rest_as_it_was() {
        let text = "{\"a\": [\n  \"x\",\n  {\"template\": \"y\"},\n  \"z\"\n]}";
        assert_eq!(remove_exemplar(text, "a", "y").unwrap(), "{\"a\": [\n  \"x\",\n  \"z\"\n]}");
        assert_eq!(remove_exemplar(text, "a", "z").unwrap(), "{\"a\": [\n  \"x\",\n  {\"template\": \"y\"}\n]}");
        assert_eq!(remove_exemplar("{\"a\": [ \"x\" ]}", "a", "x").unwrap(), "{\"a\": []}");
        assert!(remove_exemplar(text, "a", "nothing").is_err());
    }

    #[test]
    fn an_expression_finds_its_entry() {
        let text = "{\"recognizers\": {\n  \"room\": {\"rec_type\": \"list\", \"instances\": [\n    {\"label\": \"living room\", \
                    \"expressions\": [\"lounge\"]},\n    {\"label\": \"kitchen\"}]}},\n \"slots\": {\"room\": \"room\"}}";
        let add = |label: Value, said: &str| add_expression(Some(text), "room", Some("room"), &label, said).unwrap();
        assert_eq!(add(json!("living room"), "den"), text.replace("[\"lounge\"]", "[\"lounge\", \"den\"]"));
        assert_eq!(
            add(json!("kitchen"), "galley"),
            text.replace("{\"label\": \"kitchen\"}", "{\"label\": \"kitchen\", \"expressions\": [\"galley\"]}")
        );
        assert!(add(json!("bath"), "tub").contains("\n    {\"label\": \"bath\", \"expressions\": [\"tub\"]}]}}"));
        let other = add_expression(Some(text), "state", Some("set.state"), &json!("on"), "alight").unwrap();
        let read: Value = serde_json::from_str(&other).unwrap();
        assert_eq!(read["slots"]["set.state"], "state");
        assert_eq!(read["recognizers"]["state"]["instances"][0]["expressions"], json!(["alight"]));
        let made = add_expression(None, "state", Some("state"), &json!("on"), "lit").unwrap();
        assert_eq!(serde_json::from_str::<Value>(&made).unwrap()["slots"]["state"], "state");
        let flat = r#"{"room": {"rec_type": "list", "instances": []}}"#;
        let expected = r#"{"room": {"rec_type": "list", "instances": [{"label": "hall", "expressions": ["lobby"]}]}}"#;
        assert_eq!(add_expression(Some(flat), "room", None, &json!("hall"), "lobby").unwrap(), expected);
        let pattern = r#"{"room": {"rec_type": "pattern", "pattern": "x"}}"#;
        assert!(add_expression(Some(pattern), "room", None, &json!("hall"), "lobby").is_err());
    }

    #[test]
    fn a_setting_keeps_the_comments_around_it() {
        let text = "# mine\nlanguage = \"en\" # of course\n\n[functions.order]\nconfirm = false # for now\n";
        let path = |path: &[&str]| path.iter().map(ToString::to_string).collect::<Vec<_>>();
        let set = |at: &[&str], value: Value| set(Some(text), &path(at), Some(&value)).unwrap();
        assert_eq!(set(&["functions", "order", "confirm"], json!(true)), text.replace("false", "true"));
        assert_eq!(set(&["language"], json!("de")), text.replace("\"en\"", "\"de\""));
        let asked = set(&["functions", "order", "slots", "size", "question"], json!("Which size?"));
        assert!(
            asked.starts_with(text) && asked.contains("[functions.order.slots.size]\nquestion = \"Which size?\""),
            "{asked}"
        );
        let gone = super::set(Some(text), &path(&["language"]), None).unwrap();
        assert!(!gone.contains("language ="), "{gone}");
        assert!(super::set(Some(text), &path(&["functions"]), Some(&json!(1))).is_err());
        assert!(super::set(Some(text), &path(&["language"]), Some(&json!(null))).is_err());
        assert!(super::set(Some("= 1"), &path(&["language"]), Some(&json!("de"))).is_err());
    }

    #[test]
    fn a_case_has_a_line() {
        let case = json!({"utterance": "hi", "function": null});
        let line = "{\"utterance\": \"hi\", \"function\": null}\n";
        assert_eq!(add_line(None, &case), line);
        assert_eq!(add_line(Some("{}"), &case), format!("{{}}\n{line}"));
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "\\PC{0,8}|[\"\\\\,\\[\\]{}:]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("\\PC{0,4}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// A change keeps everything else in a file.
        #[test]
        fn all_else_stays(
            others in proptest::collection::btree_map("[a-z\"\\\\]{1,4}", proptest::collection::vec(json_value(), 0..4), 0..4),
            template in "\\PC{1,12}",
            is_pretty in any::<bool>(),
        ) {
            let before = json!(others);
            let text = if is_pretty { serde_json::to_string_pretty(&before) } else { serde_json::to_string(&before) }.unwrap();
            let after: Value = serde_json::from_str(&plain(Some(&text), "order it", &template).unwrap()).unwrap();
            let mut rest = after.as_object().unwrap().clone();
            let list = rest.shift_remove("order it").unwrap();
            let added = list.as_array().unwrap().last().unwrap().clone();
            prop_assert!(added == json!(template) || added["template"] == json!(template));
            prop_assert_eq!(Value::Object(rest), before);
        }
    }
}
