//! Writes the files of a module, from a project with valid names.

use serde_json::{Map, Value, json};

use super::{
    project::{Entity, Example, Function, Project, ProjectSlot},
    settle::template,
};
use crate::module::Builtin;

/// Up to this many values of a closed list are named in the schema, so that a model server cannot choose another.
const MOST_CHOICES: usize = 200;

pub(super) fn schema(project: &Project) -> Value {
    let functions = project.functions.iter().map(|function| {
        let properties: Map<String, Value> = function
            .slots
            .iter()
            .map(|slot| (slot.name.clone(), property(slot, slot.entity.as_ref().and_then(|name| project.entity(name)))))
            .collect();
        let required: Vec<&str> =
            function.slots.iter().filter(|slot| slot.required).map(|slot| slot.name.as_str()).collect();
        let mut parameters = json!({"type": "object", "properties": properties});
        if !required.is_empty() {
            parameters["required"] = json!(required);
        }
        json!({"name": function.name, "description": function.description, "parameters": parameters})
    });
    functions.collect()
}

fn property(slot: &ProjectSlot, entity: Option<&Entity>) -> Value {
    let mut schema = entity.map_or_else(|| json!({"type": "string"}), kind);
    if slot.repeated {
        schema = json!({"type": "array", "items": schema});
    } else if let Some(default) = &slot.default {
        let fitting = match schema["type"].as_str() {
            Some("integer") => default.parse::<i64>().ok().map(Value::from),
            Some("number") => default.parse::<f64>().ok().map(Value::from),
            Some("boolean") => default.parse::<bool>().ok().map(Value::from),
            _ => Some(Value::from(default.as_str())),
        };
        let is_choice = |value: &Value| schema["enum"].as_array().is_none_or(|choices| choices.contains(value));
        if let Some(fitting) = fitting.filter(is_choice) {
            schema["default"] = fitting;
        }
    }
    if !slot.description.is_empty() {
        schema["description"] = json!(slot.description);
    }
    schema
}

fn kind(entity: &Entity) -> Value {
    if !entity.values.is_empty() {
        let choices: Vec<&str> = entity.values.iter().map(|listed| listed.value.as_str()).collect();
        let is_all = entity.closed && entity.patterns.is_empty() && entity.builtins.is_empty();
        let is_number = |one: &Builtin| {
            matches!(one, Builtin::Integer | Builtin::Ordinal | Builtin::Number | Builtin::Money | Builtin::Percent)
        };
        return if is_all && choices.len() <= MOST_CHOICES {
            json!({"type": "string", "enum": choices})
        } else if entity.builtins.iter().any(is_number) {
            json!({"type": ["string", "number"]})
        } else {
            json!({"type": "string"})
        };
    }
    match (entity.patterns.is_empty(), entity.builtins.as_slice()) {
        (true, [Builtin::Integer | Builtin::Ordinal]) => json!({"type": "integer"}),
        (true, [Builtin::Number | Builtin::Money | Builtin::Percent]) => json!({"type": "number"}),
        (true, [Builtin::Boolean]) => json!({"type": "boolean"}),
        (true, [Builtin::Date]) => json!({"type": "string", "format": "date"}),
        (true, [Builtin::Time]) => json!({"type": "string", "format": "time"}),
        (true, [Builtin::Duration]) => json!({"type": "string", "format": "duration"}),
        (true, [Builtin::Email]) => json!({"type": "string", "format": "email"}),
        (true, [Builtin::Url]) => json!({"type": "string", "format": "uri"}),
        _ => json!({"type": "string"}),
    }
}

/// The definitions and bindings; `None` if there are none.
pub(super) fn recognizers(project: &Project) -> Option<Value> {
    let mut defined = Map::new();
    for entity in project.entities.iter().filter(|entity| project.uses(entity)) {
        if !entity.values.is_empty() {
            let instances: Vec<Value> = entity
                .values
                .iter()
                .map(|listed| json!({"label": listed.value, "expressions": listed.expressions}))
                .collect();
            let mut list = json!({"rec_type": "list", "instances": instances});
            if entity.fuzzy {
                list["fuzzy"] = json!(true);
            }
            defined.insert(entity.name.clone(), list);
        }
        if !entity.patterns.is_empty() {
            defined.insert(pattern_name(entity), json!({"rec_type": "pattern", "patterns": entity.patterns}));
        }
    }
    let mut slots = Map::new();
    for function in &project.functions {
        for slot in &function.slots {
            let Some(entity) = slot.entity.as_ref().and_then(|name| project.entity(name)) else { continue };
            let mut names: Vec<String> = Vec::new();
            if !entity.values.is_empty() {
                names.push(entity.name.clone());
            }
            if !entity.patterns.is_empty() {
                names.push(pattern_name(entity));
            }
            names.extend(entity.builtins.iter().map(|builtin| builtin.name().to_owned()));
            if !names.is_empty() {
                slots.insert(format!("{}.{}", function.name, slot.name), json!(names));
            }
        }
    }
    (!defined.is_empty() || !slots.is_empty()).then(|| json!({"recognizers": defined, "slots": slots}))
}

fn pattern_name(entity: &Entity) -> String {
    if entity.values.is_empty() { entity.name.clone() } else { format!("{}_pattern", entity.name) }
}

/// `arguments` returns the arguments of an example if all of them are known.
pub(super) fn exemplars(
    project: &Project,
    mut arguments: impl FnMut(&Function, &Example) -> Option<Map<String, Value>>,
) -> Value {
    let lists = project.functions.iter().filter(|function| !function.examples.is_empty()).map(|function| {
        let list = function.examples.iter().map(|example| {
            let template = template(&example.parts);
            let mut written = json!({"template": template});
            if let Some((utterance, spans)) = example.spoken()
                && !spans.is_empty()
            {
                written["utterance"] = json!(utterance);
                if let Some(arguments) = arguments(function, example) {
                    written["arguments"] = Value::Object(arguments);
                }
            }
            if let Some(slot) = &example.answers {
                written["owner_mode"] = json!("extended");
                written["context_frame"] = json!(function.name);
                written["context_slot"] = json!(slot);
            }
            written
        });
        (function.name.clone(), Value::Array(list.collect()))
    });
    Value::Object(lists.collect())
}

/// The text of `module.toml`.
pub(super) fn settings(project: &Project) -> String {
    let mut table = toml::Table::new();
    if !project.description.trim().is_empty() {
        table.insert("description".into(), project.description.trim().into());
    }
    if let Some(language) = &project.language {
        table.insert("language".into(), language.as_str().into());
    }
    if let Some(zone) = &project.time_zone {
        table.insert("time_zone".into(), zone.as_str().into());
    }
    let mut functions = toml::Table::new();
    for function in &project.functions {
        let mut slots = toml::Table::new();
        for slot in &function.slots {
            if let Some(question) = &slot.question {
                let path = if slot.repeated { format!("{}[]", slot.name) } else { slot.name.clone() };
                slots.insert(path, toml::Table::from_iter([("question".to_owned(), question.as_str().into())]).into());
            }
        }
        if !slots.is_empty() {
            functions
                .insert(function.name.clone(), toml::Table::from_iter([("slots".to_owned(), slots.into())]).into());
        }
    }
    if !functions.is_empty() {
        table.insert("functions".into(), functions.into());
    }
    table.to_string()
}
