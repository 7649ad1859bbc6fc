//! `OpenCUI`'s own schema: `{"skills": {name: {description, slots: [label]}}, "slots": {label: {description, type}}}`.
//!
//! A slot is looked up by the skill's name and its label (`me.test.Order.size`), then by the label alone; its property
//! is the last segment of the label. `type` is a Kotlin or Java name, an entity, or another skill (a frame): entities
//! are strings, frames nested objects, `List<T>` and `T[]` arrays. No slot is required, because the format has no word
//! for it beyond `"required": true`, which is read. A skill of `"type": "frame"` is only a part of others, not a
//! function.

use serde_json::{Map, Value, json};

use super::{
    super::schema::Normaliser, Diagnostic, Findings, Limits, PointerChain, SourceFunction, as_parameters, kind_of,
    text_member,
};

pub(in crate::module) fn functions(
    file: &str,
    document: &Value,
    limits: &Limits,
    findings: &mut Findings,
) -> Vec<SourceFunction> {
    let Some(Value::Object(skills)) = document.get("skills") else { return Vec::new() };
    if skills.len() > limits.functions {
        let message = format!("{} skills are more than the limit `functions` = {}", skills.len(), limits.functions);
        findings.push(Diagnostic::error("over-limit", file, PointerChain::ROOT.key("skills"), message));
        return Vec::new();
    }
    let empty = Map::new();
    let slots = match document.get("slots") {
        Some(Value::Object(slots)) => slots,
        None | Some(Value::Null) => &empty,
        Some(other) => {
            let message = format!("`slots` is an object of slots by label, found {}", kind_of(other));
            findings.push(Diagnostic::error("bad-member", file, PointerChain::ROOT.key("slots"), message));
            &empty
        }
    };
    // Each frame becomes a definition, so that the general code inlines it, limits it and finds recursion.
    let skills_at = PointerChain::ROOT.key("skills");
    let mut frames = Map::new();
    let mut reader = SkillReader { file, skills, slots, findings };
    for (name, skill) in skills {
        frames.insert(name.clone(), reader.frame(name, skill, &skills_at.key(name)));
    }
    let translated = json!({"skills": frames});
    let mut normaliser = Normaliser::new(file, &translated, limits);
    let mut functions = Vec::with_capacity(skills.len());
    for (name, skill) in skills {
        let is_frame = skill.get("type").and_then(Value::as_str).is_some_and(|kind| kind.eq_ignore_ascii_case("frame"));
        if is_frame || !skill.is_object() {
            continue;
        }
        let at = skills_at.key(name);
        if name.trim().is_empty() {
            findings.push(Diagnostic::error("empty-name", file, at, "the skill's name is empty"));
            continue;
        }
        let Some(frame) = translated["skills"].get(name) else { continue };
        normaliser.begin(at.to_string());
        let normalised = normaliser.normalised(frame, &at, 0, findings);
        let definitions = normaliser.definitions(findings);
        let description = normalised.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        let Some(mut parameters) = as_parameters(normalised, definitions, file, &at, findings) else { continue };
        if let Value::Object(map) = &mut parameters {
            map.remove("description");
            map.remove("title");
        }
        functions.push(SourceFunction {
            name: name.clone(),
            description,
            parameters,
            operation: None,
            request: None,
            read_only: None,
            pointer: at.to_string(),
        });
    }
    functions
}

struct SkillReader<'a> {
    file: &'a str,
    skills: &'a Map<String, Value>,
    slots: &'a Map<String, Value>,
    findings: &'a mut Findings,
}

impl SkillReader<'_> {
    fn frame(&mut self, name: &str, skill: &Value, place: &PointerChain<'_>) -> Value {
        let Value::Object(skill) = skill else {
            let message = format!("a skill is an object, found {}", kind_of(skill));
            self.findings.push(Diagnostic::error("bad-function", self.file, place, message));
            return json!({});
        };
        let mut description = text_member(skill, "description", self.file, place, self.findings);
        if description.is_empty() {
            // Some exports put the description into the name.
            description = text_member(skill, "name", self.file, place, self.findings);
            if description == name || description == last_segment(name) {
                description.clear();
            }
        }
        let slots_at = place.key("slots");
        let empty = Vec::new();
        let labels = match skill.get("slots") {
            Some(Value::Array(labels)) => labels,
            None | Some(Value::Null) => &empty,
            Some(other) => {
                let message = format!("`slots` is a list of labels, found {}", kind_of(other));
                self.findings.push(Diagnostic::error("bad-function", self.file, slots_at, message));
                &empty
            }
        };
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for (index, label) in labels.iter().enumerate() {
            let at = slots_at.index(index);
            let Some((property, mut schema, is_required)) = self.slot(name, label, &at) else { continue };
            if let Value::Object(schema) = &mut schema {
                schema.retain(|_, value| value.as_str() != Some(""));
            }
            if is_required {
                required.push(Value::String(property.clone()));
            }
            if properties.insert(property.clone(), schema).is_some() {
                let message = format!("the slot `{property}` is listed twice");
                self.findings.push(Diagnostic::warning("duplicate-name", self.file, at, message));
            }
        }
        let mut frame = json!({"type": "object", "description": description, "properties": properties});
        if let Value::Object(frame) = &mut frame
            && !required.is_empty()
        {
            frame.insert("required".to_owned(), Value::Array(required));
        }
        frame
    }

    /// The property, its schema, and whether it is required.
    fn slot(&mut self, skill: &str, label: &Value, place: &PointerChain<'_>) -> Option<(String, Value, bool)> {
        // Newer exports have the slot itself in the list.
        if let Value::Object(slot) = label {
            let key = ["label", "name"].into_iter().find_map(|key| slot.get(key)?.as_str()).unwrap_or_default();
            if key.is_empty() {
                self.findings.push(Diagnostic::error("empty-name", self.file, place, "the slot has no name"));
                return None;
            }
            return Some(self.described(last_segment(key), slot, place));
        }
        let Value::String(label) = label else {
            let message = format!("a slot is named by a string, found {}", kind_of(label));
            self.findings.push(Diagnostic::error("bad-function", self.file, place, message));
            return None;
        };
        let qualified = format!("{skill}.{label}");
        let (key, slot) = match self.slots.get_key_value(&qualified).or_else(|| self.slots.get_key_value(label)) {
            Some((key, Value::Object(slot))) => (key, slot),
            Some((key, other)) => {
                let message = format!("a slot is an object, found {}", kind_of(other));
                let slots_at = PointerChain::ROOT.key("slots");
                self.findings.push(Diagnostic::error("bad-member", self.file, slots_at.key(key), message));
                return None;
            }
            None => {
                let hint = self.findings.near(label, self.slots.keys().map(String::as_str));
                let message = format!("the slot `{label}` is not defined in `slots`");
                self.findings.push(Diagnostic::error("unknown-slot", self.file, place, message).hint_if(hint));
                return None;
            }
        };
        let slots_at = PointerChain::ROOT.key("slots");
        let at = slots_at.key(key);
        Some(self.described(last_segment(label), slot, &at))
    }

    fn described(
        &mut self,
        property: &str,
        slot: &Map<String, Value>,
        place: &PointerChain<'_>,
    ) -> (String, Value, bool) {
        let mut description = text_member(slot, "description", self.file, place, self.findings);
        if description.is_empty() {
            description = text_member(slot, "name", self.file, place, self.findings);
        }
        let written = text_member(slot, "type", self.file, place, self.findings);
        let mut schema = self.type_of(&written, 0);
        let many = ["isMultiValue", "multi_value", "multiValue"].iter().any(|key| slot.get(*key) == Some(&json!(true)));
        if many && schema.get("items").is_none() {
            schema = json!({"type": "array", "items": schema});
        }
        if let Value::Object(schema) = &mut schema
            && !description.is_empty()
        {
            schema.insert("description".to_owned(), Value::String(description));
        }
        (property.to_owned(), schema, slot.get("required") == Some(&json!(true)))
    }

    fn type_of(&self, written: &str, depth: usize) -> Value {
        let written = written.trim().trim_end_matches('?');
        let item = written
            .strip_suffix("[]")
            .or_else(|| written.strip_suffix('>').and_then(|inner| inner.split_once("List<")).map(|(_, item)| item));
        if let Some(item) = item
            && depth < 8
        {
            return json!({"type": "array", "items": self.type_of(item, depth + 1)});
        }
        if self.skills.contains_key(written) {
            let skills_at = PointerChain::Start("#/skills");
            return json!({"$ref": skills_at.key(written).to_string()});
        }
        match last_segment(written).to_ascii_lowercase().as_str() {
            "int" | "integer" | "long" | "short" => json!({"type": "integer"}),
            "float" | "double" | "number" | "bigdecimal" => json!({"type": "number"}),
            "boolean" | "bool" => json!({"type": "boolean"}),
            "localdate" | "date" => json!({"type": "string", "format": "date"}),
            "localtime" | "time" => json!({"type": "string", "format": "time"}),
            "localdatetime" | "datetime" => json!({"type": "string", "format": "date-time"}),
            "duration" | "period" => json!({"type": "string", "format": "duration"}),
            "email" => json!({"type": "string", "format": "email"}),
            "phonenumber" | "phone" => json!({"type": "string", "format": "phone"}),
            "any" | "object" => json!({}),
            // An entity: its values are labels.
            _ => json!({"type": "string"}),
        }
    }
}

fn last_segment(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(document: &Value) -> (Vec<SourceFunction>, Vec<Diagnostic>) {
        let mut findings = Findings::new();
        let functions = functions("schema.json", document, &Limits::default(), &mut findings);
        (functions, findings.finish(&[]).0)
    }

    #[test]
    fn skills_have_typed_slots_and_frames() {
        let (functions, found) = read(&json!({
            "skills": {
                "me.test.Order": {"name": "order food", "description": "Order food", "slots": ["dishes", "me.test.Order.day", "size"]},
                "me.test.Dish": {"name": "dish", "description": "", "type": "frame", "slots": ["name", "quantity"]}
            },
            "slots": {
                "me.test.Order.dishes": {"name": "dishes", "description": "What", "type": "kotlin.collections.List<me.test.Dish>"},
                "me.test.Order.day": {"name": "day", "description": "", "type": "java.time.LocalDate", "required": true},
                "size": {"name": "size", "description": "How big", "type": "me.test.Size"},
                "name": {"description": "Dish"},
                "me.test.Dish.quantity": {"type": "kotlin.Int?"}
            }
        }));
        assert_eq!(found, []);
        assert_eq!(functions.len(), 1);
        assert_eq!((functions[0].name.as_str(), functions[0].description.as_str()), ("me.test.Order", "Order food"));
        assert_eq!(
            functions[0].parameters,
            json!({"type": "object", "required": ["day"], "properties": {
                "dishes": {"type": "array", "description": "What", "items": {"type": "object", "description": "dish", "properties": {
                    "name": {"type": "string", "description": "Dish"}, "quantity": {"type": "integer"}}}},
                "day": {"type": "string", "format": "date", "description": "day"},
                "size": {"type": "string", "description": "How big"}}})
        );
    }

    #[test]
    fn frames_may_be_recursive() {
        let (functions, found) = read(&json!({
            "skills": {"a.Tree": {"description": "t", "slots": ["left"]}},
            "slots": {"left": {"type": "a.Tree"}}
        }));
        assert_eq!(found, []);
        assert_eq!(functions[0].parameters.pointer("/properties/left/$ref"), Some(&json!("#/$defs/root")));
    }

    #[test]
    fn an_undefined_slot_is_named() {
        let (_, found) =
            read(&json!({"skills": {"a": {"description": "x", "slots": ["szie"]}}, "slots": {"size": {}}}));
        assert_eq!((found[0].code, found[0].pointer.as_str()), ("unknown-slot", "/skills/a/slots/0"));
        assert_eq!(found[0].hint.as_deref(), Some("did you mean `size`?"));
    }
}
