//! `exemplars.json`: how people ask for each function.

use serde_json::{Map, Value};

use super::{
    super::{OwnerMode, squeeze},
    Diagnostic, Findings, Limits, PointerChain, kind_of,
};

/// The exemplars under one key of the file.
#[derive(Debug)]
pub(in crate::module) struct Group {
    /// The author's name for the function.
    pub(in crate::module) key: String,
    pub(in crate::module) pointer: String,
    pub(in crate::module) exemplars: Vec<SourceExemplar>,
}

#[derive(Debug)]
pub(in crate::module) struct SourceExemplar {
    /// Trimmed, not empty.
    pub(in crate::module) template: String,
    pub(in crate::module) mode: OwnerMode,
    pub(in crate::module) label: Option<String>,
    pub(in crate::module) context_frame: Option<String>,
    pub(in crate::module) context_slot: Option<String>,
    pub(in crate::module) utterance: Option<String>,
    pub(in crate::module) arguments: Option<Value>,
    /// Position in its list.
    pub(in crate::module) index: usize,
}

/// Member names. They are compared squeezed, so that either spelling is accepted.
const MEMBERS: [&str; 8] =
    ["template", "owner_mode", "label", "context_frame", "context_slot", "utterance", "arguments", "owner"];

pub(in crate::module) fn read(file: &str, document: &Value, limits: &Limits, findings: &mut Findings) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut count = 0_usize;
    match document {
        Value::Object(map) => {
            // `$schema` tells editors what is allowed here.
            for (key, list) in map.iter().filter(|(key, list)| *key != "$schema" || list.is_array()) {
                let at = PointerChain::ROOT.key(key);
                let Value::Array(list) = list else {
                    let message = format!("the exemplars of a function are a list, found {}", kind_of(list));
                    findings.push(Diagnostic::error("bad-exemplar", file, at, message));
                    continue;
                };
                let mut exemplars = Vec::with_capacity(list.len());
                for (index, item) in list.iter().enumerate() {
                    count += 1;
                    exemplars.extend(exemplar(file, index, item, &at.index(index), findings));
                }
                groups.push(Group { key: key.clone(), pointer: at.to_string(), exemplars });
            }
        }
        // A flat list, each with its `owner`.
        Value::Array(list) => {
            for (index, item) in list.iter().enumerate() {
                let at = PointerChain::ROOT.index(index);
                let Some(owner) = item.get("owner").and_then(Value::as_str) else {
                    findings.push(
                        Diagnostic::error("bad-exemplar", file, at, "the exemplar does not say its function")
                            .hint("write {\"function\": [\"template\", ...]}, or give each exemplar an `owner`"),
                    );
                    continue;
                };
                count += 1;
                let Some(read) = exemplar(file, index, item, &at, findings) else { continue };
                // Neighbours usually have one owner; a separate group for each of the rest is fine.
                match groups.last_mut().filter(|group| group.key == owner) {
                    Some(group) => group.exemplars.push(read),
                    None => groups.push(Group { key: owner.to_owned(), pointer: String::new(), exemplars: vec![read] }),
                }
            }
        }
        other => {
            let message = format!("expected an object of lists by function, found {}", kind_of(other));
            findings.push(Diagnostic::error("bad-exemplar", file, "", message));
        }
    }
    if count > limits.exemplars {
        let message = format!("{count} exemplars are more than the limit `exemplars` = {}", limits.exemplars);
        findings.push(Diagnostic::error("over-limit", file, "", message));
        return Vec::new();
    }
    groups
}

fn owner_mode(written: &str, file: &str, place: &PointerChain<'_>, findings: &mut Findings) -> Option<OwnerMode> {
    let written = written.to_ascii_lowercase();
    match written.as_str() {
        "normal" => Some(OwnerMode::Normal),
        "extended" => Some(OwnerMode::Extended),
        "negative" => Some(OwnerMode::Negative),
        other => {
            let hint = findings.near(other, ["normal", "extended", "negative"]);
            let found = Diagnostic::error("bad-exemplar", file, place, format!("`{other}` is not an owner mode"));
            findings.push(found.hint(hint.unwrap_or_else(|| "modes are normal, extended, negative".to_owned())));
            None
        }
    }
}

fn exemplar(
    file: &str,
    index: usize,
    item: &Value,
    place: &PointerChain<'_>,
    findings: &mut Findings,
) -> Option<SourceExemplar> {
    let map = match item {
        Value::String(template) => &Map::from_iter([("template".to_owned(), Value::String(template.clone()))]),
        Value::Object(map) => map,
        other => {
            let message = format!("an exemplar is a template or an object, found {}", kind_of(other));
            findings.push(Diagnostic::error("bad-exemplar", file, place, message));
            return None;
        }
    };
    for member in map.keys() {
        let squeezed = squeeze(member);
        if !MEMBERS.iter().any(|known| squeeze(known) == squeezed) && !member.starts_with("x-") && squeezed != "id" {
            let hint = findings.near(member, MEMBERS);
            let message = format!("an exemplar has no member `{member}`; it has no effect");
            findings.push(Diagnostic::warning("unknown-member", file, place.key(member), message).hint_if(hint));
        }
    }
    let mut text = |keys: [&str; 2]| -> Option<String> {
        let (key, value) = keys.into_iter().find_map(|key| map.get_key_value(key))?;
        match value {
            Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Value::Null => None,
            other => {
                let message = format!("`{key}` is a string, found {}", kind_of(other));
                findings.push(Diagnostic::error("bad-exemplar", file, place.key(key), message));
                None
            }
        }
    };
    let template = text(["template", "template"]);
    let utterance = text(["utterance", "utterance"]);
    let label = text(["label", "label"]);
    let context_frame = text(["context_frame", "contextFrame"]);
    let context_slot = text(["context_slot", "contextSlot"]);
    let written = text(["owner_mode", "ownerMode"]);
    let key = if map.contains_key("owner_mode") { "owner_mode" } else { "ownerMode" };
    let mode = match written {
        Some(written) => owner_mode(&written, file, &place.key(key), findings)?,
        None if label.as_deref().is_some_and(|label| label.eq_ignore_ascii_case("negative")) => OwnerMode::Negative,
        None => OwnerMode::Normal,
    };
    let label = label.or_else(|| (mode == OwnerMode::Negative).then(|| "Negative".to_owned()));
    let arguments = match map.get("arguments") {
        None | Some(Value::Null) => None,
        Some(arguments @ Value::Object(_)) => Some(arguments.clone()),
        Some(other) => {
            let message = format!("`arguments` is an object, found {}", kind_of(other));
            findings.push(Diagnostic::error("bad-exemplar", file, place.key("arguments"), message));
            None
        }
    };
    // An exemplar that has only an utterance uses it as its template.
    let Some(template) = template.or_else(|| utterance.clone()) else {
        let at = place.key("template");
        findings.push(
            Diagnostic::error("empty-template", file, at, "the exemplar's template is empty")
                .hint("write what people say, or remove it"),
        );
        return None;
    };
    Some(SourceExemplar { template, mode, label, context_frame, context_slot, utterance, arguments, index })
}
