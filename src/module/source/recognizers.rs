//! `recognizers.json`, in both layouts.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{
    super::{
        Builtin, Instance, ListSpec, PatternSpec, Recognizer, RecognizerKind, SlotReading,
        pattern::{PatternBudget, PatternError, bad_pattern, compile, large_pattern},
        squeeze,
    },
    Diagnostic, Findings, Limits, PointerChain, kind_of,
};
use crate::text::fold;

/// The recognizers that the file defines, and the slots that it binds.
#[derive(Debug, Default)]
pub(in crate::module) struct SourceRecognizers {
    pub(in crate::module) defined: Vec<Defined>,
    /// From a slot (by name, path, or `function.slot`) to the names of its recognizers, best first, with the pointer.
    pub(in crate::module) slots: Vec<(String, Vec<String>, String)>,
}

#[derive(Debug)]
pub(in crate::module) struct Defined {
    pub(in crate::module) recognizer: Recognizer,
    pub(in crate::module) pointer: String,
}

pub(in crate::module) fn read(
    file: &str,
    document: &Value,
    limits: &Limits,
    findings: &mut Findings,
) -> SourceRecognizers {
    let Value::Object(map) = document else {
        let message = format!("expected an object of recognizers by name, found {}", kind_of(document));
        findings.push(Diagnostic::error("bad-recognizer", file, "", message));
        return SourceRecognizers::default();
    };
    // `$schema` tells editors what is allowed here.
    let without = map.get("$schema").filter(|named| named.is_string()).map(|_| {
        let mut map = map.clone();
        map.shift_remove("$schema");
        map
    });
    let map = without.as_ref().unwrap_or(map);
    let is_wrapper = |key: &str| map.get(key).is_some_and(|value| value.is_object() && value.get("rec_type").is_none());
    let (patterns, read) = (PatternBudget::new(limits), SourceRecognizers::default());
    let mut reader = RecognizerReader { file, limits, findings, entries: 0, over: false, patterns, read };
    if is_wrapper("recognizers") || (is_wrapper("slots") && map.len() == 1) {
        for member in
            map.keys().filter(|key| !matches!(key.as_str(), "recognizers" | "slots") && !key.starts_with("x-"))
        {
            let message = format!("`{member}` is neither `recognizers` nor `slots`; it has no effect");
            let hint = "recognizers are defined inside `recognizers`";
            let found = Diagnostic::warning("unknown-member", file, PointerChain::ROOT.key(member), message);
            reader.findings.push(found.hint(hint));
        }
        if let Some(Value::Object(defined)) = map.get("recognizers") {
            reader.recognizers(defined, &PointerChain::ROOT.key("recognizers"));
        }
        if let Some(slots) = map.get("slots") {
            reader.slots(slots, &PointerChain::ROOT.key("slots"));
        }
    } else {
        let is_binding = |value: &Value| value.is_string() || value.is_array();
        match map.get("slots") {
            Some(Value::Object(slots)) if slots.values().all(is_binding) => {
                reader.slots(&map["slots"], &PointerChain::ROOT.key("slots"));
                let defined: Map<String, Value> = map
                    .iter()
                    .filter(|(key, _)| *key != "slots")
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect();
                reader.recognizers(&defined, &PointerChain::ROOT);
            }
            _ => reader.recognizers(map, &PointerChain::ROOT),
        }
    }
    reader.read
}

struct RecognizerReader<'a> {
    file: &'a str,
    limits: &'a Limits,
    findings: &'a mut Findings,
    entries: usize,
    over: bool,
    patterns: PatternBudget,
    read: SourceRecognizers,
}

impl RecognizerReader<'_> {
    fn error(&mut self, place: &PointerChain<'_>, message: String) {
        self.findings.push(Diagnostic::error("bad-recognizer", self.file, place, message));
    }

    fn slots(&mut self, slots: &Value, place: &PointerChain<'_>) {
        let Value::Object(slots) = slots else {
            return self.error(place, format!("`slots` is an object of recognizers by slot, found {}", kind_of(slots)));
        };
        for (slot, bound) in slots {
            let at = place.key(slot);
            let names = match bound {
                Value::String(name) => vec![name.clone()],
                Value::Array(names) if names.iter().all(Value::is_string) => {
                    names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
                }
                other => {
                    self.error(&at, format!("a slot is bound to the name of a recognizer, found {}", kind_of(other)));
                    continue;
                }
            };
            self.read.slots.push((slot.clone(), names, at.to_string()));
        }
    }

    fn recognizers(&mut self, defined: &Map<String, Value>, place: &PointerChain<'_>) {
        let mut squeezed: HashMap<String, &str> = HashMap::new();
        for (name, value) in defined {
            let at = place.key(name);
            if name.trim().is_empty() {
                self.findings.push(Diagnostic::error("empty-name", self.file, at, "the recognizer's name is empty"));
                continue;
            }
            if let Some(other) = squeezed.insert(squeeze(name), name) {
                let message = format!("`{name}` and `{other}` differ only in case and separators");
                self.findings.push(Diagnostic::warning("duplicate-name", self.file, at, message));
            }
            if Builtin::named(name).is_some() {
                let message = format!("`{name}` is defined here and hides the built-in recognizer of this name");
                self.findings.push(Diagnostic::warning("hides-builtin", self.file, at, message));
            }
            let Value::Object(value) = value else {
                self.error(&at, format!("a recognizer is an object, found {}", kind_of(value)));
                continue;
            };
            if let Some(kind) = self.kind(value, &at) {
                let recognizer = Recognizer { name: name.clone(), kind, reading: SlotReading::default() };
                self.read.defined.push(Defined { recognizer, pointer: at.to_string() });
            }
        }
    }

    fn kind(&mut self, map: &Map<String, Value>, place: &PointerChain<'_>) -> Option<RecognizerKind> {
        const MEMBERS: [&str; 10] = [
            "rec_type",
            "recType",
            "type",
            "name",
            "description",
            "instances",
            "patterns",
            "pattern",
            "fuzzy",
            "label",
        ];
        for member in map.keys().filter(|key| !MEMBERS.contains(&key.as_str()) && !key.starts_with("x-")) {
            let hint = self.findings.near(member, MEMBERS);
            let message = format!("a recognizer has no member `{member}`; it has no effect");
            let found = Diagnostic::warning("unknown-member", self.file, place.key(member), message);
            self.findings.push(found.hint_if(hint));
        }
        let written = ["rec_type", "recType", "type"].into_iter().find_map(|key| map.get_key_value(key));
        let kind = match written {
            Some((_, Value::String(kind))) => kind.to_ascii_lowercase(),
            // Its members tell its type.
            None if map.contains_key("instances") => "list".to_owned(),
            None if map.contains_key("patterns") || map.contains_key("pattern") => "pattern".to_owned(),
            None => {
                let message = "the recognizer does not say its `rec_type`".to_owned();
                self.findings
                    .push(Diagnostic::error("bad-recognizer", self.file, place, message).hint("`list` or `pattern`"));
                return None;
            }
            Some((key, other)) => {
                self.error(&place.key(key), format!("`{key}` is a string, found {}", kind_of(other)));
                return None;
            }
        };
        match kind.as_str() {
            "list" => self.list(map, place).map(RecognizerKind::List),
            "pattern" | "regex" => self.patterns(map, place).map(RecognizerKind::Pattern),
            other => {
                let message = format!("`{other}` is not a type of recognizer");
                let hint = match Builtin::named(other) {
                    Some(builtin) => {
                        format!("bind the slot to `{}` in `slots`: built-in ones are not defined", builtin.name())
                    }
                    None => {
                        let near = self.findings.near(other, ["list", "pattern", "regex"]);
                        let known = "`list` or `pattern`; built-in ones are named in `slots`, not defined";
                        near.unwrap_or_else(|| known.to_owned())
                    }
                };
                let key = written.map_or("rec_type", |(key, _)| key.as_str());
                self.findings.push(Diagnostic::error("bad-recognizer", self.file, place.key(key), message).hint(hint));
                None
            }
        }
    }

    fn list(&mut self, map: &Map<String, Value>, place: &PointerChain<'_>) -> Option<ListSpec> {
        let at = place.key("instances");
        let instances = match map.get("instances") {
            Some(Value::Array(instances)) => instances,
            None => {
                self.error(place, "a list has no `instances`".to_owned());
                return None;
            }
            Some(other) => {
                self.error(&at, format!("`instances` is a list, found {}", kind_of(other)));
                return None;
            }
        };
        if instances.is_empty() {
            let found = Diagnostic::error("empty-list", self.file, at, "the list is empty: it never finds anything");
            self.findings.push(found.hint("add instances, or remove the recognizer"));
            return None;
        }
        let fuzzy = match map.get("fuzzy") {
            None | Some(Value::Bool(true) | Value::Null) => true,
            Some(Value::Bool(false)) => false,
            Some(other) => {
                self.error(&place.key("fuzzy"), format!("`fuzzy` is true or false, found {}", kind_of(other)));
                true
            }
        };
        let mut spec = ListSpec { instances: Vec::with_capacity(instances.len()), fuzzy };
        // From a folded expression (labels are expressions too) to the position of its instance.
        let mut owners: HashMap<String, usize> = HashMap::with_capacity(instances.len() * 2);
        for (index, instance) in instances.iter().enumerate() {
            let Some(read) = self.instance(instance, &at.index(index)) else { continue };
            self.entries += 1 + read.expressions.len();
            if self.entries > self.limits.list_entries {
                if !self.over {
                    self.over = true;
                    let limit = self.limits.list_entries;
                    let message = format!("the lists have more entries than the limit `list_entries` = {limit}");
                    self.findings.push(Diagnostic::error("over-limit", self.file, place, message));
                }
                return None;
            }
            self.check_owners(&read, spec.instances.len(), &spec, &mut owners, &at.index(index));
            spec.instances.push(read);
        }
        (!spec.instances.is_empty()).then_some(spec)
    }

    fn check_owners(
        &mut self,
        instance: &Instance,
        position: usize,
        spec: &ListSpec,
        owners: &mut HashMap<String, usize>,
        place: &PointerChain<'_>,
    ) {
        let label = label_text(&instance.label);
        let own = std::iter::once((None, label.as_str()))
            .chain(instance.expressions.iter().enumerate().map(|(index, text)| (Some(index), text.as_str())));
        for (index, text) in own {
            let Some(owner) = owners.insert(fold(text), position) else { continue };
            if owner == position {
                continue;
            }
            let other = spec.instances.get(owner).map(|other| label_text(&other.label)).unwrap_or_default();
            let found = match index {
                None if other == label => {
                    let message = format!("the label `{label}` is listed twice");
                    Diagnostic::warning("duplicate-label", self.file, place, message).hint("join their expressions")
                }
                _ => {
                    let message = format!("`{text}` stands for both `{other}` and `{label}`");
                    let expressions = place.key("expressions");
                    let at = match index {
                        Some(index) => expressions.index(index),
                        None => place.key("label"),
                    };
                    Diagnostic::warning("shared-expression", self.file, at, message)
                        .hint("it will be found as either; remove it from one of them")
                }
            };
            self.findings.push(found);
        }
    }

    fn instance(&mut self, instance: &Value, place: &PointerChain<'_>) -> Option<Instance> {
        let scalar = |value: &Value| !matches!(value, Value::Null | Value::Array(_) | Value::Object(_));
        match instance {
            Value::Object(map) => {
                for member in
                    map.keys().filter(|key| !matches!(key.as_str(), "label" | "expressions" | "description" | "name"))
                {
                    let hint = self.findings.near(member, ["label", "expressions"]);
                    let message = format!("an instance has no member `{member}`; it has no effect");
                    let found = Diagnostic::warning("unknown-member", self.file, place.key(member), message);
                    self.findings.push(found.hint_if(hint));
                }
                let label = match map.get("label") {
                    Some(label) if scalar(label) && !label_text(label).trim().is_empty() => label.clone(),
                    Some(other) => {
                        let message = format!("a label is a text, a number or a boolean, found {}", label_kind(other));
                        self.error(&place.key("label"), message);
                        return None;
                    }
                    None => {
                        self.error(place, "the instance has no `label`".to_owned());
                        return None;
                    }
                };
                let at = place.key("expressions");
                let expressions = match map.get("expressions") {
                    None | Some(Value::Null) => Vec::new(),
                    Some(Value::Array(expressions)) => {
                        let mut read = Vec::with_capacity(expressions.len());
                        for (index, expression) in expressions.iter().enumerate() {
                            read.extend(self.expression(expression, &at.index(index)));
                        }
                        read
                    }
                    Some(Value::String(expression)) => vec![expression.trim().to_owned()],
                    Some(other) => {
                        self.error(&at, format!("`expressions` is a list of texts, found {}", kind_of(other)));
                        return None;
                    }
                };
                Some(Instance { label, expressions })
            }
            label if scalar(label) && !label_text(label).trim().is_empty() => {
                Some(Instance { label: label.clone(), expressions: Vec::new() })
            }
            other => {
                self.error(place, format!("an instance is an object with a `label`, found {}", label_kind(other)));
                None
            }
        }
    }

    fn expression(&mut self, expression: &Value, place: &PointerChain<'_>) -> Option<String> {
        let text = match expression {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            other => {
                self.error(place, format!("an expression is a text, found {}", kind_of(other)));
                return None;
            }
        };
        if text.is_empty() {
            let message = "the expression is empty and has no effect";
            self.findings.push(Diagnostic::warning("empty-expression", self.file, place, message));
            return None;
        }
        Some(text)
    }

    fn patterns(&mut self, map: &Map<String, Value>, place: &PointerChain<'_>) -> Option<PatternSpec> {
        let (key, written) = ["patterns", "pattern"].into_iter().find_map(|key| Some((key, map.get(key)?))).unzip();
        let at = place.key(key.unwrap_or("patterns"));
        let written = match written {
            Some(Value::Array(patterns)) => patterns.as_slice(),
            Some(one @ Value::String(_)) => std::slice::from_ref(one),
            Some(other) => {
                self.error(&at, format!("`patterns` is a list of texts, found {}", kind_of(other)));
                return None;
            }
            None => &[],
        };
        if written.is_empty() {
            let found = Diagnostic::error("empty-list", self.file, at, "the recognizer has no patterns");
            self.findings.push(found.hint("add `patterns`, or remove the recognizer"));
            return None;
        }
        let mut patterns = Vec::with_capacity(written.len());
        for (index, pattern) in written.iter().enumerate() {
            let at = if key == Some("pattern") { at } else { at.index(index) };
            let Value::String(pattern) = pattern else {
                self.error(&at, format!("a pattern is a text, found {}", kind_of(pattern)));
                continue;
            };
            if self.patterns.is_over() {
                return None;
            }
            match compile(pattern, self.limits.pattern_bytes) {
                Ok(compiled) => {
                    if let Err(told) = self.patterns.take(compiled.bytes, self.limits) {
                        if let Some(message) = told {
                            self.findings.push(Diagnostic::error("over-limit", self.file, at, message));
                        }
                        return None;
                    }
                    if compiled.is_match("") {
                        let message = format!("the pattern `{pattern}` also matches nothing at all");
                        let found = Diagnostic::warning("empty-match", self.file, at, message);
                        self.findings.push(found.hint("empty matches are passed over; say what must be there"));
                    }
                    patterns.push(pattern.clone());
                }
                Err(PatternError::Large) => {
                    self.findings.push(large_pattern(self.file, &at, pattern, self.limits));
                }
                Err(PatternError::Syntax(reason)) => {
                    self.findings.push(bad_pattern(self.file, &at, pattern, &reason));
                }
            }
        }
        (!patterns.is_empty()).then_some(PatternSpec { patterns })
    }
}

/// A label as text, for comparison.
pub(in crate::module) fn label_text(label: &Value) -> String {
    match label {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn label_kind(value: &Value) -> &'static str {
    if value.as_str().is_some_and(|text| text.trim().is_empty()) { "an empty text" } else { kind_of(value) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_all(document: &Value) -> (SourceRecognizers, Vec<Diagnostic>) {
        let mut findings = Findings::new();
        let out = read("recognizers.json", document, &Limits::default(), &mut findings);
        (out, findings.finish(&[]).0)
    }

    #[test]
    fn both_layouts() {
        let list =
            json!({"rec_type": "list", "instances": [{"label": "Seattle", "expressions": ["emerald city"]}, "Rome"]});
        let pattern = json!({"rec_type": "pattern", "patterns": ["A(?P<value>\\d+)"]});
        for document in [
            json!({"recognizers": {"city": list, "code": pattern}, "slots": {"location": "city", "day": ["date", "code"]}}),
            json!({"city": list, "code": pattern, "slots": {"location": "city", "day": ["date", "code"]}}),
        ] {
            let (read, found) = read_all(&document);
            assert_eq!(found, []);
            assert_eq!(read.defined.len(), 2);
            assert_eq!(read.slots[1].1, ["date", "code"]);
            let RecognizerKind::List(list) = &read.defined[0].recognizer.kind else { panic!("a list") };
            assert_eq!((list.instances.len(), list.instances[1].label.clone()), (2, json!("Rome")));
        }
    }

    #[test]
    fn faults_are_named() {
        let (read, found) = read_all(&json!({
            "a": {"rec_type": "list", "instances": []},
            "b": {"rec_type": "list", "instances": [
                {"label": "X", "expressions": ["one", ""]}, {"label": "Y", "expressions": ["ONE"]}, {"label": "X"}, {"label": null}]},
            "c": {"rec_type": "pattern", "patterns": ["(", "x*"]},
            "d": {"rec_type": "date"},
            "date": {"rec_type": "list", "instances": ["today"]},
            "e": {"instances": 3},
            "f": {"rec_type": "list", "instances": ["z"], "fuzy": true}
        }));
        let codes: Vec<(&str, &str)> = found.iter().map(|found| (found.code, found.pointer.as_str())).collect();
        assert_eq!(
            codes,
            [
                ("empty-list", "/a/instances"),
                ("empty-expression", "/b/instances/0/expressions/1"),
                ("shared-expression", "/b/instances/1/expressions/0"),
                ("duplicate-label", "/b/instances/2"),
                ("bad-recognizer", "/b/instances/3/label"),
                ("bad-pattern", "/c/patterns/0"),
                ("empty-match", "/c/patterns/1"),
                ("bad-recognizer", "/d/rec_type"),
                ("hides-builtin", "/date"),
                ("bad-recognizer", "/e/instances"),
                ("unknown-member", "/f/fuzy")
            ]
        );
        assert_eq!(read.defined.len(), 4);
    }
}
