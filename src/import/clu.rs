//! Conversational Language Understanding: one JSON file, also of its previews, and of LUIS, its predecessor. Offsets count
//! UTF-16 units unless the project says otherwise.

use std::{collections::BTreeMap, ops::Range};

use serde_json::{Value, json};
use unicode_segmentation::UnicodeSegmentation as _;

use super::{
    builtins,
    project::{Entity, Example, Function, Labelled, Place, Project, ProjectSlot, TemplatePart},
    reader::{ProjectReader, flag, scalar, text},
};
use crate::text::tag;

/// The unit of offsets and lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OffsetUnit {
    Utf16,
    CodePoint,
    Grapheme,
}

pub(super) fn read(reader: &mut ProjectReader, language: Option<&str>) -> Project {
    let mut project = Project::default();
    let paths = reader.paths(|path| path.ends_with(".json"));
    for path in &paths {
        let Some(document) = reader.document(path) else { continue };
        let version = document.get("luis_schema_version").map(|version| scalar(version).unwrap_or_default());
        if document.get("assets").is_none() && version.is_none() && paths.len() > 1 {
            continue;
        }
        let root = Place::new(path, "");
        if let Some(version) = version.as_ref().filter(|version| version.starts_with("1.")) {
            let message = format!("a LUIS app of schema version {version} counts words, not characters");
            reader.fault(&root, "unknown-format", message, "export it again from a later LUIS");
        } else if let Some(version) = version {
            let parts = luis(&document, &root, reader);
            if parts.intents.is_empty() {
                let message = format!("a LUIS app of schema version {version} with no `intents`");
                reader.fault(&root, "unknown-format", message, "export it in JSON, or migrate it to CLU");
            }
            project.description = text(&document, "desc").to_owned();
            let language = language.unwrap_or_else(|| text(&document, "culture"));
            read_parts(parts, language, OffsetUnit::Utf16, &mut project, reader);
        } else if let Some(assets) = reader.object(&document, "assets", &root) {
            let assets = Value::Object(assets.clone());
            one(&document, &assets, &root, language, &mut project, reader);
        } else {
            let hint = "export a CLU project or a LUIS app in JSON";
            reader.fault(&root, "unknown-format", "a CLU project has `assets`, a LUIS app `luis_schema_version`", hint);
        }
    }
    project
}

/// The parts of a project in the form of CLU, each with its place in the file.
struct Parts {
    intents: Vec<(Value, Place)>,
    entities: Vec<(Value, Place)>,
    utterances: Vec<(Value, Place)>,
}

/// The items of a list, with their places.
fn items(value: &Value, key: &str, at: &Place, reader: &mut ProjectReader) -> Vec<(Value, Place)> {
    let list = reader.list(value, key, at).iter().cloned().enumerate();
    list.map(|(index, item)| (item, at.key(key).index(index))).collect()
}

/// The parts of a LUIS app, as CLU has them.
fn luis(document: &Value, root: &Place, reader: &mut ProjectReader) -> Parts {
    let mut of = |key: &str, form: &dyn Fn(&Value) -> Value| -> Vec<(Value, Place)> {
        items(document, key, root, reader).into_iter().map(|(item, place)| (form(&item), place)).collect()
    };
    let named = |item: &Value| json!({"category": item["name"]});
    let intents = of("intents", &named);
    let mut entities = of("closedLists", &|item| {
        let sublists = item["subLists"].as_array().into_iter().flatten();
        let sublists: Vec<Value> = sublists
            .map(|one| json!({"listKey": one["canonicalForm"], "synonyms": [{"values": one["list"]}]}))
            .collect();
        json!({"category": item["name"], "list": {"sublists": sublists}})
    });
    entities.extend(of(
        "regex_entities",
        &|item| json!({"category": item["name"], "regex": {"expressions": [{"regexPattern": item["regexPattern"]}]}}),
    ));
    entities.extend(of(
        "prebuiltEntities",
        &|item| json!({"category": item["name"], "prebuilts": [{"category": item["name"]}]}),
    ));
    for key in ["entities", "patternAnyEntities", "hierarchicals", "composites"] {
        entities.extend(of(key, &named));
    }
    let utterances = of("utterances", &|item| {
        let labels = item["entities"].as_array().into_iter().flatten().map(|label| {
            // The last character belongs to the label.
            let length = label["endPos"].as_u64().zip(label["startPos"].as_u64());
            let length = length.and_then(|(end, start)| end.checked_add(1)?.checked_sub(start));
            // "Location::From" was a role before there were roles.
            let entity = text(label, "entity");
            let (entity, child) =
                entity.split_once("::").map_or((entity, None), |(entity, child)| (entity, Some(child)));
            let role = Some(text(label, "role")).filter(|role| !role.is_empty()).or(child);
            json!({"category": entity, "role": role, "offset": label["startPos"], "length": length})
        });
        json!({"text": item["text"], "intent": item["intent"], "entities": labels.collect::<Vec<_>>()})
    });
    let is_there = |list: Option<&Value>| list.and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    const FEATURES: &str = "features of its model mean nothing to another";
    for (key, why) in [
        ("patterns", "sentences with optional and nested parts are not read"),
        ("bing_entities", "which of them a label means is not written"),
        ("phraselists", FEATURES),
        ("model_features", FEATURES),
        ("regex_features", FEATURES),
    ] {
        if is_there(document.get(key)) {
            reader.dropped(&root.key(key), key, why);
        }
    }
    let labels = document["utterances"].as_array().into_iter().flatten();
    let mut labels = labels.flat_map(|one| one["entities"].as_array().into_iter().flatten());
    if labels.any(|label| is_there(label.get("children"))) {
        reader.dropped(&root.key("utterances"), "children of labels", "words stand for one slot: the whole label");
    }
    Parts { intents, entities, utterances }
}

fn one(
    document: &Value,
    assets: &Value,
    root: &Place,
    wanted: Option<&str>,
    project: &mut Project,
    reader: &mut ProjectReader,
) {
    let metadata = document.get("metadata").unwrap_or(&Value::Null);
    let kind = text(metadata, "projectKind");
    if !kind.is_empty() && kind != "Conversation" {
        let message = format!("a project of kind `{kind}` has no intents");
        reader.fault(
            &root.key("metadata").key("projectKind"),
            "unknown-format",
            message,
            "projects of kind Conversation are read",
        );
        return;
    }
    let language = wanted.unwrap_or_else(|| text(metadata, "language")).to_owned();
    project.description = text(metadata, "description").to_owned();
    let unit = match text(document, "stringIndexType") {
        "" | "Utf16CodeUnit" => OffsetUnit::Utf16,
        "UnicodeCodePoint" => OffsetUnit::CodePoint,
        "TextElements_v8" | "TextElement_V8" => OffsetUnit::Grapheme,
        other => {
            let message = format!("`{other}` is no way to count that is known");
            let hint = "Utf16CodeUnit, UnicodeCodePoint or TextElements_v8";
            reader.refuse(&root.key("stringIndexType"), "bad-member", message, hint);
            return;
        }
    };
    if metadata.pointer("/settings/confidenceThreshold").is_some_and(|value| value.as_f64() != Some(0.0)) {
        let what = "the confidence threshold";
        reader.dropped(
            &root.key("metadata").key("settings"),
            what,
            "confidence is another number here; see `thresholds` of module.toml",
        );
    }
    let at = root.key("assets");
    let mut of = |key: &str| items(assets, key, &at, reader);
    let (intents, entities, mut utterances) = (of("intents"), of("entities"), of("utterances"));
    // So called in the previews.
    utterances.extend(of("examples"));
    read_parts(Parts { intents, entities, utterances }, &language, unit, project, reader);
}

fn read_parts(parts: Parts, language: &str, unit: OffsetUnit, project: &mut Project, reader: &mut ProjectReader) {
    project.language = Some(language.to_owned()).filter(|tag| !tag.is_empty());
    let prebuilt = entities(&parts.entities, language, project, reader);
    for (intent, place) in parts.intents {
        let Some(name) = reader.name(&intent, "category", &place) else { continue };
        if name != "None" {
            let description = text(&intent, "description").to_owned();
            project.functions.push(Function { name: name.to_owned(), description, place, ..Function::default() });
        }
    }
    let mut others: BTreeMap<String, (usize, Place)> = BTreeMap::new();
    for (utterance, place) in parts.utterances {
        let own = text(&utterance, "language");
        if !own.is_empty() && !language.is_empty() && !is_same(own, language) {
            others.entry(own.to_owned()).or_insert((0, place)).0 += 1;
            continue;
        }
        self::utterance(&utterance, &place, unit, project, reader);
    }
    for (name, place, what, note) in prebuilt {
        if project.entity(&name).is_some_and(|entity| project.uses(entity)) {
            reader.changed(&place, what, note);
        } else {
            reader.dropped(&place, what, "no utterance marks it");
        }
    }
    for (tag, (count, place)) in others {
        let what = format!("{count} utterances in `{tag}`");
        reader.dropped(&place, what, "a module has one language; import again with --language");
    }
    reader_none(project, reader);
}

fn reader_none(project: &Project, reader: &mut ProjectReader) {
    if let Some(first) = project.out_of_scope.first() {
        let what = format!("{} utterances of `None`", project.out_of_scope.len());
        reader.changed(&first.place.clone(), what, "what no function fits needs no examples here: they are cases");
    }
}

/// `en` and `en-us` count as the same.
fn is_same(a: &str, b: &str) -> bool {
    tag::language(a) == tag::language(b)
}

/// Reads the entities; returns what is to be told of prebuilt ones, each with its entity's name.
fn entities(
    entities: &[(Value, Place)],
    language: &str,
    project: &mut Project,
    reader: &mut ProjectReader,
) -> Vec<(String, Place, String, &'static str)> {
    let mut notes = Vec::new();
    for (entity, place) in entities {
        let Some(name) = reader.name(entity, "category", place) else { continue };
        let mut read = Entity { name: name.to_owned(), place: place.clone(), ..Entity::default() };
        let what = format!("entity `{name}`");
        let list = entity.get("list").unwrap_or(&Value::Null);
        let list_at = place.key("list").key("sublists");
        for (index, sublist) in reader.list(list, "sublists", &place.key("list")).iter().enumerate() {
            let Some(key) = reader.name(sublist, "listKey", &list_at.index(index)) else { continue };
            read.add(key, "");
            for synonyms in sublist.get("synonyms").and_then(Value::as_array).into_iter().flatten() {
                let own = text(synonyms, "language");
                if !own.is_empty() && !language.is_empty() && !is_same(own, language) {
                    let what = format!("synonyms of `{key}` in `{own}`");
                    reader.dropped(
                        &list_at.index(index),
                        what,
                        "a module has one language; import again with --language",
                    );
                    continue;
                }
                for value in synonyms.get("values").and_then(Value::as_array).into_iter().flatten().filter_map(scalar) {
                    read.add(key, &value);
                }
            }
        }
        for prebuilt in entity.get("prebuilts").and_then(Value::as_array).into_iter().flatten() {
            let category = text(prebuilt, "category");
            let mapped = builtins::find(category);
            read.builtins
                .extend(mapped.builtins.iter().filter(|one| !read.builtins.contains(one)).copied().collect::<Vec<_>>());
            let note = mapped.note.unwrap_or("found by our own recognizers");
            notes.push((name.to_owned(), place.key("prebuilts"), format!("prebuilt `{category}` of `{name}`"), note));
        }
        for expression in entity.pointer("/regex/expressions").and_then(Value::as_array).into_iter().flatten() {
            let own = text(expression, "language");
            if own.is_empty() || language.is_empty() || is_same(own, language) {
                read.patterns
                    .extend(Some(text(expression, "regexPattern").to_owned()).filter(|pattern| !pattern.is_empty()));
            }
        }
        let parts = [!read.values.is_empty(), !read.builtins.is_empty(), !read.patterns.is_empty()];
        let composition = text(entity, "compositionSetting");
        if parts.iter().filter(|part| **part).count() > 1 {
            let why =
                "its components are recognizers of one slot, the best first, whatever the composition setting says";
            reader.changed(place, format!("{what}, `{composition}`"), why);
        }
        if flag(entity, "isRequired") == Some(true)
            || entity.get("requiredComponents").and_then(Value::as_array).is_some_and(|all| !all.is_empty())
        {
            reader.dropped(
                &place.key("requiredComponents"),
                what,
                "each recognizer finds values by itself: none is required",
            );
        }
        project.entities.push(read);
    }
    notes
}

/// Labelled words of an utterance.
struct EntityLabel {
    range: Range<usize>,
    entity: String,
    /// The entity's name, or the label's role.
    slot: String,
}

/// The labelled words, in order and without overlaps. `None` if a label cannot be read: without it the utterance would say
/// something else.
fn labels(
    utterance: &Value,
    said: &str,
    place: &Place,
    unit: OffsetUnit,
    project: &Project,
    reader: &mut ProjectReader,
) -> Option<Vec<EntityLabel>> {
    let mut spans: Vec<(EntityLabel, Place)> = Vec::new();
    for (index, label) in reader.list(utterance, "entities", place).iter().enumerate() {
        let at = place.key("entities").index(index);
        let category = reader.name(label, "category", &at)?;
        if project.entity(category).is_none() {
            let message = format!("the project has no entity `{category}`");
            reader.fault(&at.key("category"), "unknown-entity", message, "each entity is listed by its name");
            return None;
        }
        let number = |key: &str| label.get(key).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
        let range = match (number("offset"), number("length")) {
            (Some(offset), Some(length)) if length > 0 => bytes(said, offset, length, unit),
            _ => None,
        };
        let Some(range) = range.filter(|range| !said[range.clone()].trim().is_empty()) else {
            let (offset, length) =
                (label.get("offset").unwrap_or(&Value::Null), label.get("length").unwrap_or(&Value::Null));
            let message = format!("offset {offset} and length {length} are no part of `{said}`");
            reader.fault(
                &at,
                "bad-offset",
                message,
                "offsets count UTF-16 units, unless `stringIndexType` says otherwise",
            );
            return None;
        };
        let slot = Some(text(label, "role")).filter(|role| !role.is_empty()).unwrap_or(category).to_owned();
        spans.push((EntityLabel { range, entity: category.to_owned(), slot }, at));
    }
    // Labels may be nested; here a word belongs to one slot, and the longer label is kept.
    spans.sort_by_key(|(label, _)| (std::cmp::Reverse(label.range.len()), label.range.start));
    let mut kept: Vec<EntityLabel> = Vec::new();
    for (label, at) in spans {
        let EntityLabel { range, entity, .. } = &label;
        if kept.iter().any(|other| range.start < other.range.end && other.range.start < range.end) {
            let what = format!("label `{entity}` of `{}`", &said[range.clone()]);
            reader.dropped(&at, what, "it overlaps a longer label: words stand for one slot");
        } else {
            kept.push(label);
        }
    }
    kept.sort_by_key(|label| label.range.start);
    Some(kept)
}

fn utterance(utterance: &Value, place: &Place, unit: OffsetUnit, project: &mut Project, reader: &mut ProjectReader) {
    let Some(said) = utterance.get("text").and_then(Value::as_str).filter(|text| !text.trim().is_empty()) else {
        reader.fault(place, "bad-member", "an utterance has a `text`", "");
        return;
    };
    let intent = text(utterance, "intent");
    let Some(kept) = labels(utterance, said, place, unit, project, reader) else { return };
    let is_test = text(utterance, "dataset").eq_ignore_ascii_case("test");
    if intent == "None" {
        let example = Example { parts: vec![TemplatePart::Text(said.to_owned())], answers: None, place: place.clone() };
        if is_test {
            project.tests.push(Labelled { example, function: None });
        } else {
            project.out_of_scope.push(example);
        }
        return;
    }
    let Some(function) = project.functions.iter_mut().find(|function| function.name == intent) else {
        let message = format!("the project has no intent `{intent}`");
        reader.fault(&place.key("intent"), "unknown-intent", message, "each intent is listed by its name");
        return;
    };
    let mut parts = Vec::new();
    let mut at = 0;
    for EntityLabel { range, entity, slot } in kept {
        parts.push(TemplatePart::Text(said[at..range.start].to_owned()));
        if function.slot(&slot).is_none() {
            let (name, entity) = (slot.clone(), Some(entity));
            function.slots.push(ProjectSlot { name, entity, place: place.clone(), ..ProjectSlot::default() });
        }
        parts.push(TemplatePart::said(slot, &said[range.clone()]));
        at = range.end;
    }
    parts.push(TemplatePart::Text(said[at..].to_owned()));
    let example = Example { parts, answers: None, place: place.clone() };
    if is_test {
        project.tests.push(Labelled { example, function: Some(intent.to_owned()) });
    } else {
        function.examples.push(example);
    }
}

/// The byte range of a range counted in `unit`; `None` if it ends outside the text or within a character.
fn bytes(text: &str, offset: usize, length: usize, unit: OffsetUnit) -> Option<Range<usize>> {
    let end = offset.checked_add(length)?;
    let place = |wanted: usize| -> Option<usize> {
        let mut count = 0;
        let mut steps: Box<dyn Iterator<Item = (usize, usize)>> = match unit {
            OffsetUnit::Utf16 => Box::new(text.char_indices().map(|(at, one)| (at, one.len_utf16()))),
            OffsetUnit::CodePoint => Box::new(text.char_indices().map(|(at, _)| (at, 1))),
            OffsetUnit::Grapheme => Box::new(text.grapheme_indices(true).map(|(at, _)| (at, 1))),
        };
        for (at, units) in steps.by_ref() {
            if count == wanted {
                return Some(at);
            }
            count += units;
            if count > wanted {
                return None;
            }
        }
        (count == wanted).then_some(text.len())
    };
    Some(place(offset)?..place(end)?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn offsets_count_what_the_project_says() {
        let text = "👩‍🍳 to Zürich";
        let part = |offset, length, unit| bytes(text, offset, length, unit).map(|range| &text[range]);
        assert_eq!(part(9, 6, OffsetUnit::Utf16), Some("Zürich"));
        assert_eq!(part(7, 6, OffsetUnit::CodePoint), Some("Zürich"));
        assert_eq!(part(5, 6, OffsetUnit::Grapheme), Some("Zürich"));
        assert_eq!(part(1, 2, OffsetUnit::Utf16), None, "half a character");
        assert_eq!(part(9, 7, OffsetUnit::Utf16), None, "past the end");
        assert_eq!(part(usize::MAX, 1, OffsetUnit::Utf16), None);
    }

    proptest! {
        #[test]
        fn every_part_of_a_text_is_found_by_its_utf16_offset(before in "\\PC{0,12}", part in "\\PC{1,12}", after in "\\PC{0,12}") {
            let text = format!("{before}{part}{after}");
            let count = |text: &str| text.encode_utf16().count();
            let range = bytes(&text, count(&before), count(&part), OffsetUnit::Utf16);
            prop_assert_eq!(range.map(|range| &text[range]), Some(part.as_str()));
        }
    }
}
