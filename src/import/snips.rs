//! Snips NLU datasets: YAML documents of `type: intent` and `type: entity`, or the JSON made from them.

use serde_json::Value;

use super::{
    builtins,
    project::{Entity, Example, Function, Place, Project, ProjectSlot, TemplatePart},
    reader::{PART, ProjectReader, flag, scalar, text},
};

pub(super) fn read(reader: &mut ProjectReader) -> Project {
    let mut project = Project::default();
    let mut intents: Vec<(Value, Place)> = Vec::new();
    for path in reader.paths(|path| path.ends_with(".yaml") || path.ends_with(".yml")) {
        let Some(text) = reader.text(&path) else { continue };
        for (number, part) in documents(&text).into_iter().enumerate() {
            if part.trim().is_empty() {
                continue;
            }
            let name = if number == 0 { path.clone() } else { format!("{path}{PART}{number}.yaml") };
            let Some(document) = reader.parse(&name, part.into_bytes()) else { continue };
            let place = Place::new(&name, "");
            match self::text(&document, "type") {
                "intent" => intents.push((document, place)),
                "entity" => entity_document(&document, &place, &mut project, reader),
                other => {
                    let message = format!("a document of type `{other}`");
                    reader.fault(&place, "unknown-format", message, "types are `intent` and `entity`");
                }
            }
        }
    }
    for (document, place) in intents {
        intent_document(&document, &place, &mut project, reader);
    }
    for path in reader.paths(|path| path.ends_with(".json")) {
        if let Some(document) = reader.document(&path) {
            dataset(&document, &Place::new(&path, ""), &mut project, reader);
        }
    }
    project
}

/// The documents of a YAML stream, each preceded by empty lines in place of the earlier text.
fn documents(stream: &str) -> Vec<String> {
    let mut documents = vec![String::new()];
    for (index, line) in stream.lines().enumerate() {
        let begins = line.trim_end() == "---" || line.starts_with("--- ");
        let says_something = |text: &String| text.lines().any(|line| !line.trim().is_empty() && !line.starts_with('#'));
        if begins && documents.last().is_some_and(says_something) {
            documents.push("\n".repeat(index));
        }
        if let Some(last) = documents.last_mut() {
            // The marker itself would end a document after the empty lines.
            last.push_str(if begins { "" } else { line });
            last.push('\n');
        }
    }
    documents
}

fn new_entity(value: &Value, name: &str, place: &Place, reader: &mut ProjectReader) -> Entity {
    let mut entity = Entity { name: name.to_owned(), place: place.clone(), ..Entity::default() };
    entity.closed = flag(value, "automatically_extensible") == Some(false);
    let strictness = value.get("matching_strictness").or_else(|| value.get("parser_threshold")).and_then(Value::as_f64);
    entity.fuzzy = strictness.is_some_and(|strictness| strictness < 1.0);
    if !entity.closed {
        let what = format!("extension of `{name}`");
        reader.changed(
            place,
            what,
            "only values that are listed or stand in an example are found without a model server",
        );
    }
    if entity.fuzzy {
        let what = format!("matching strictness of `{name}`");
        reader.changed(place, what, "expressions may be misspelt a little, by rules that are not theirs");
    }
    entity
}

fn entity_document(document: &Value, place: &Place, project: &mut Project, reader: &mut ProjectReader) {
    let Some(name) = reader.name(document, "name", place) else { return };
    let with_synonyms = flag(document, "use_synonyms") != Some(false);
    let mut entity = new_entity(document, name, place, reader);
    let at = place.key("values");
    for (index, value) in reader.list(document, "values", place).iter().enumerate() {
        match value {
            Value::Array(all) => {
                let mut all = all.iter().filter_map(scalar);
                let Some(first) = all.next() else { continue };
                entity.add(&first, "");
                for synonym in all {
                    if with_synonyms {
                        entity.add(&first, &synonym)
                    } else {
                        entity.add(&synonym, "")
                    };
                }
            }
            one => match scalar(one) {
                Some(value) => {
                    entity.add(&value, "");
                }
                None => reader.fault(&at.index(index), "bad-member", "a value is a text, or a list of texts", ""),
            },
        }
    }
    project.entities.push(entity);
}

fn intent_document(document: &Value, place: &Place, project: &mut Project, reader: &mut ProjectReader) {
    let Some(name) = reader.name(document, "name", place) else { return };
    let mut function = Function { name: name.to_owned(), place: place.clone(), ..Function::default() };
    for (index, slot) in reader.list(document, "slots", place).iter().enumerate() {
        let at = place.key("slots").index(index);
        let Some(name) = reader.name(slot, "name", &at) else { continue };
        let entity = text(slot, "entity").to_owned();
        add_slot(&mut function, name, &entity, &at, project, reader);
    }
    let at = place.key("utterances");
    for (index, utterance) in reader.list(document, "utterances", place).iter().enumerate() {
        let at = at.index(index);
        let Some(words) = scalar(utterance) else {
            reader.fault(&at, "bad-member", "an utterance is a text", "put it between quotes");
            continue;
        };
        match marked(&words) {
            Err(reason) => {
                reader.fault(&at, "bad-annotation", format!("in `{words}`, {reason}"), "write [slot:entity](words)");
            }
            Ok(pieces) => {
                let mut parts = Vec::with_capacity(pieces.len());
                for piece in pieces {
                    match piece {
                        Marked::Text(text) => parts.push(TemplatePart::Text(text)),
                        Marked::Slot { slot, entity, text } => {
                            let entity = entity.unwrap_or_else(|| slot.clone());
                            add_slot(&mut function, &slot, &entity, &at, project, reader);
                            parts.push(TemplatePart::Slot { slot, text, value: None });
                        }
                    }
                }
                function.examples.push(Example { parts, answers: None, place: at });
            }
        }
    }
    project.functions.push(function);
}

fn add_slot(
    function: &mut Function,
    name: &str,
    kind: &str,
    place: &Place,
    project: &mut Project,
    reader: &mut ProjectReader,
) {
    if function.slot(name).is_some() {
        return;
    }
    let entity = if project.entity(kind).is_some() {
        Some(kind.to_owned())
    } else if kind.starts_with("snips/") {
        let mapped = builtins::find(kind);
        if let Some(note) = mapped.note {
            reader.changed(place, format!("`{kind}` of `{name}`"), note);
        }
        if !mapped.builtins.is_empty() {
            let builtins = if kind == "snips/datetime" { builtins::find("datetime").builtins } else { mapped.builtins };
            let entity = Entity {
                name: kind.to_owned(),
                builtins: builtins.to_vec(),
                place: place.clone(),
                ..Entity::default()
            };
            project.entities.push(entity);
        }
        (!mapped.builtins.is_empty()).then(|| kind.to_owned())
    } else {
        // An entity that occurs only in examples.
        project.entities.push(Entity { name: kind.to_owned(), place: place.clone(), ..Entity::default() });
        Some(kind.to_owned())
    };
    function.slots.push(ProjectSlot { name: name.to_owned(), entity, place: place.clone(), ..ProjectSlot::default() });
}

#[derive(Debug, PartialEq)]
enum Marked {
    Text(String),
    Slot { slot: String, entity: Option<String>, text: Option<String> },
}

/// `[slot:entity](words)`, `[slot](words)`, `[slot]`.
fn marked(words: &str) -> Result<Vec<Marked>, String> {
    let mut pieces = Vec::new();
    let mut rest = words;
    while let Some(open) = rest.find('[') {
        if open > 0 {
            pieces.push(Marked::Text(rest[..open].to_owned()));
        }
        let after = &rest[open + 1..];
        let close = after.find(']').ok_or("a bracket does not close")?;
        let (slot, entity) = match after[..close].split_once(':') {
            Some((slot, entity)) => (slot.trim(), Some(entity.trim().to_owned())),
            None => (after[..close].trim(), None),
        };
        if slot.is_empty() || entity.as_deref() == Some("") {
            return Err("a mark names no slot or no entity".to_owned());
        }
        rest = &after[close + 1..];
        let mut text = None;
        if let Some(inner) = rest.strip_prefix('(') {
            let end = inner.find(')').ok_or_else(|| format!("the words of `{slot}` have no end"))?;
            text = Some(inner[..end].to_owned());
            rest = &inner[end + 1..];
        }
        pieces.push(Marked::Slot { slot: slot.to_owned(), entity, text });
    }
    if !rest.is_empty() {
        pieces.push(Marked::Text(rest.to_owned()));
    }
    Ok(pieces)
}

fn dataset(document: &Value, place: &Place, project: &mut Project, reader: &mut ProjectReader) {
    let Some(intents) = reader.object(document, "intents", place) else {
        reader.fault(place, "unknown-format", "a dataset has `intents` and `entities`", "");
        return;
    };
    project.language = Some(text(document, "language").to_owned()).filter(|tag| !tag.is_empty());
    let entities_at = place.key("entities");
    for (name, entity) in reader.object(document, "entities", place).into_iter().flatten() {
        // The YAML files that the dataset may be made from have been read.
        if name.starts_with("snips/") || project.entity(name).is_some() {
            continue;
        }
        let at = entities_at.key(name);
        let with_synonyms = flag(entity, "use_synonyms") != Some(false);
        let mut read = new_entity(entity, name, &at, reader);
        for (index, value) in reader.list(entity, "data", &at).iter().enumerate() {
            let Some(label) = reader.name(value, "value", &at.key("data").index(index)) else { continue };
            read.add(label, "");
            for synonym in value.get("synonyms").and_then(Value::as_array).into_iter().flatten().filter_map(scalar) {
                if with_synonyms {
                    read.add(label, &synonym)
                } else {
                    read.add(&synonym, "")
                };
            }
        }
        project.entities.push(read);
    }
    let intents_at = place.key("intents");
    for (name, intent) in intents {
        let at = intents_at.key(name);
        if project.functions.iter().any(|function| function.name == *name) {
            reader.dropped(&at, format!("intent `{name}`"), "another file has an intent of this name");
            continue;
        }
        let mut function = Function { name: name.clone(), place: at.clone(), ..Function::default() };
        'utterances: for (index, utterance) in reader.list(intent, "utterances", &at).iter().enumerate() {
            let at = at.key("utterances").index(index);
            let mut parts = Vec::new();
            for part in reader.list(utterance, "data", &at) {
                let words = part.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
                let (entity, slot) = (text(part, "entity"), text(part, "slot_name"));
                if entity.is_empty() {
                    parts.push(TemplatePart::Text(words));
                    continue;
                }
                let is_unknown = !entity.starts_with("snips/") && project.entity(entity).is_none();
                if is_unknown {
                    let message = format!("the dataset has no entity `{entity}`");
                    reader.fault(&at, "unknown-entity", message, "entities are listed in `entities`");
                    continue 'utterances;
                }
                let slot = if slot.is_empty() { entity.rsplit('/').next().unwrap_or(entity) } else { slot };
                add_slot(&mut function, slot, entity, &at, project, reader);
                parts.push(TemplatePart::said(slot, words));
            }
            function.examples.push(Example { parts, answers: None, place: at });
        }
        project.functions.push(function);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_keep_their_lines() {
        let parts = documents("# head\n---\na: 1\n---\nb: 2\n");
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[1].lines().position(|line| line == "b: 2"), Some(4));
    }

    #[test]
    fn every_way_to_mark_is_read() {
        let slot = |slot: &str, entity: Option<&str>, text: Option<&str>| Marked::Slot {
            slot: slot.into(),
            entity: entity.map(Into::into),
            text: text.map(Into::into),
        };
        assert_eq!(
            marked("a [r:room](kitchen) [t] [n](x)").unwrap(),
            [
                Marked::Text("a ".into()),
                slot("r", Some("room"), Some("kitchen")),
                Marked::Text(" ".into()),
                slot("t", None, None),
                Marked::Text(" ".into()),
                slot("n", None, Some("x"))
            ]
        );
        for bad in ["a [b", "[](x)", "[a:](x)", "[a](x"] {
            assert!(marked(bad).is_err(), "{bad}");
        }
    }
}
