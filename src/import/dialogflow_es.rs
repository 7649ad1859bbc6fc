//! Dialogflow ES agents: `agent.json`, `intents/*.json` with `*_usersays_LANGUAGE.json`, `entities/*.json` with
//! `*_entries_LANGUAGE.json`. Older exports have phrases and entries in the intents and entities themselves.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    dialogflow::{is_language, kind, raw},
    project::{Entity, Example, Function, Place, Project, ProjectSlot, TemplatePart},
    reader::{ProjectReader, flag, scalar, text},
};
use crate::text::tag;

pub(super) fn read(reader: &mut ProjectReader, wanted: Option<&str>) -> Project {
    let mut project = Project::default();
    let mut language = wanted.map(str::to_owned);
    if reader.has("agent.json")
        && let Some(agent) = reader.document("agent.json")
    {
        text(&agent, "description").clone_into(&mut project.description);
        let zone = text(&agent, "defaultTimezone");
        if jiff::tz::TimeZone::get(zone).is_ok() {
            project.time_zone = Some(zone.to_owned());
        }
        let own = text(&agent, "language");
        language = language.or_else(|| Some(own.to_owned()).filter(|own| !own.is_empty()));
        let others = agent.get("supportedLanguages").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
        if others {
            let place = Place::new("agent.json", "/supportedLanguages");
            reader.dropped(&place, "other languages", "a module has one language; import again with --language");
        }
    }
    let language = language.unwrap_or_else(|| "en".to_owned());
    project.language = Some(language.clone());
    let mut composites = Composites::new();
    for path in
        reader.paths(|path| path.starts_with("entities/") && path.ends_with(".json") && !path.contains("_entries_"))
    {
        entity(&path, &language, &mut project, &mut composites, reader);
    }
    for path in
        reader.paths(|path| path.starts_with("intents/") && path.ends_with(".json") && !path.contains("_usersays_"))
    {
        intent(&path, &language, &mut project, &composites, reader);
    }
    project
}

/// The file in the wanted language, or else in its base language: `x_usersays_pt-br.json`, `x_usersays_pt.json`.
fn in_language(stem: &str, kind: &str, language: &str, reader: &ProjectReader) -> Option<String> {
    [language, &tag::language(language)]
        .into_iter()
        .map(|tag| format!("{stem}_{kind}_{}.json", tag.to_ascii_lowercase()))
        .find(|path| reader.has(path))
}

/// The items in a separate file for the wanted language, or, in older exports, in a member of the document at `path`.
fn listed(
    document: &Value,
    member: &str,
    (path, stem, kind): (&str, &str, &str),
    language: &str,
    reader: &mut ProjectReader,
) -> Option<(Vec<Value>, Place)> {
    if let Some(own) = in_language(stem, kind, language, reader) {
        let Some(Value::Array(list)) = reader.document(&own) else { return Some((Vec::new(), Place::new(&own, ""))) };
        return Some((list, Place::new(&own, "")));
    }
    let list = document.get(member)?.as_array()?.clone();
    Some((list, Place::new(path, "").key(member)))
}

fn entity(path: &str, language: &str, project: &mut Project, composites: &mut Composites, reader: &mut ProjectReader) {
    let Some(document) = reader.document(path) else { return };
    let place = Place::new(path, "");
    let Some(name) = reader.name(&document, "name", &place) else { return };
    let mut entity = Entity { name: name.to_owned(), place: place.clone(), ..Entity::default() };
    let is_pattern = flag(&document, "isRegexp") == Some(true);
    entity.closed = flag(&document, "automatedExpansion") != Some(true);
    entity.fuzzy = flag(&document, "allowFuzzyExtraction") == Some(true) && !is_pattern;
    if !entity.closed && !is_pattern {
        let why = "only values that are listed or stand in an example are found without a model server";
        reader.changed(&place.key("automatedExpansion"), format!("automated expansion of `{name}`"), why);
    }
    let stem = path.trim_end_matches(".json");
    let Some((entries, root)) = listed(&document, "entries", (path, stem, "entries"), language, reader) else {
        reader.changed(
            &place,
            format!("entity `{name}`"),
            "it has no entries in the language: its values are free text",
        );
        project.entities.push(entity);
        return;
    };
    let mut composite: Vec<String> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let Some(value) = reader.name(entry, "value", &root.index(index)) else { continue };
        if is_pattern {
            entity.patterns.push(value.to_owned());
            continue;
        }
        let synonyms = entry.get("synonyms").and_then(Value::as_array).into_iter().flatten().filter_map(scalar);
        let mut plain: Vec<String> = Vec::new();
        for synonym in std::iter::once(value.to_owned()).chain(synonyms) {
            if synonym.contains('@') && synonym.contains(':') {
                if !composite.contains(&synonym) {
                    composite.push(synonym);
                }
            } else {
                plain.push(synonym);
            }
        }
        for synonym in plain {
            entity.add(value, &synonym);
        }
    }
    if !composite.is_empty() {
        let what = format!("{} entries of the composite `{name}`", composite.len());
        reader.changed(&root, what, "a slot has one value: the parts of a composite are slots of their own");
        entity.retain(|listed| !listed.value.contains('@'));
        composites.insert(format!("@{name}"), composite);
    }
    project.entities.push(entity);
}

fn intent(path: &str, language: &str, project: &mut Project, composites: &Composites, reader: &mut ProjectReader) {
    let Some(document) = reader.document(path) else { return };
    let place = Place::new(path, "");
    let Some(name) = reader.name(&document, "name", &place) else { return };
    let stem = path.trim_end_matches(".json");
    let found = listed(&document, "userSays", (path, stem, "usersays"), language, reader);
    let is_silent = found.is_none();
    let (says, root) = found.unwrap_or_else(|| (Vec::new(), place.clone()));
    if flag(&document, "fallbackIntent") == Some(true) {
        fallback(name, &place, &says, &root, project, reader);
        return;
    }
    let mut function = Function { name: name.to_owned(), place: place.clone(), ..Function::default() };
    responses(&document, language, &mut function, project, composites, reader);
    for (key, what) in [("contexts", "input contexts"), ("events", "events")] {
        dialogue(&document, key, what, &place, &function, reader);
    }
    if is_silent {
        let why = "it has no examples in the language: only its name finds it";
        reader.changed(&place, format!("intent `{name}`"), why);
    }
    for (index, one) in says.iter().enumerate() {
        let place = root.index(index);
        let parts = phrase(one, &place, &mut function, project, composites, reader);
        function.examples.push(Example { parts, answers: None, place });
    }
    project.functions.push(function);
}

/// The examples of a fallback intent: no function is meant.
fn fallback(
    name: &str,
    place: &Place,
    says: &[Value],
    root: &Place,
    project: &mut Project,
    reader: &mut ProjectReader,
) {
    for (index, one) in says.iter().enumerate() {
        let data = one.get("data").and_then(Value::as_array);
        let words: String = data.into_iter().flatten().map(|part| raw(part, "text")).collect();
        let example = Example { parts: vec![TemplatePart::Text(words)], answers: None, place: root.index(index) };
        project.out_of_scope.push(example);
    }
    let what = format!("fallback `{name}`, {} examples", says.len());
    reader.changed(place, what, "what no function fits needs no function here: its examples are cases");
}

/// Reads the parameters, which stand beside the responses.
fn responses(
    document: &Value,
    language: &str,
    function: &mut Function,
    project: &mut Project,
    composites: &Composites,
    reader: &mut ProjectReader,
) {
    let place = function.place.clone();
    let all = place.key("responses");
    for (index, response) in reader.list(document, "responses", &place).iter().enumerate() {
        let at = all.index(index);
        for (index, parameter) in reader.list(response, "parameters", &at).iter().enumerate() {
            let at = at.key("parameters").index(index);
            match composites.get(text(parameter, "dataType")) {
                Some(entries) => parts_of(parameter, entries, &at, function, project, reader),
                None => parameter_slot(parameter, &at, language, function, project, reader),
            }
        }
        if has_items(response, "messages") {
            let why = "a module says what was meant, not what is answered";
            reader.dropped(&at.key("messages"), format!("responses of `{}`", function.name), why);
        }
        dialogue(response, "affectedContexts", "output contexts", &at, function, reader);
    }
}

fn has_items(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_array).is_some_and(|all| !all.is_empty())
}

/// Reports that a member was dropped that ties an intent to a point in a dialogue.
fn dialogue(value: &Value, key: &str, what: &str, place: &Place, function: &Function, reader: &mut ProjectReader) {
    if has_items(value, key) {
        let what = format!("{what} of `{}`", function.name);
        reader.dropped(&place.key(key), what, "dialogue is not part of a module");
    }
}

/// Reads the parts of an example.
fn phrase(
    example: &Value,
    place: &Place,
    function: &mut Function,
    project: &mut Project,
    composites: &Composites,
    reader: &mut ProjectReader,
) -> Vec<TemplatePart> {
    let is_template = flag(example, "isTemplate") == Some(true);
    let mut parts = Vec::new();
    for (index, part) in reader.list(example, "data", place).iter().enumerate() {
        let at = place.key("data").index(index);
        let words = raw(part, "text");
        if is_template {
            template(words, &at, function, project, reader, &mut parts);
            continue;
        }
        let (meta, alias) = (text(part, "meta"), text(part, "alias"));
        // The export does not show which words belong to which part: use the entity's own wording.
        if let Some(entry) = composites.get(meta).and_then(|entries| entries.iter().max_by_key(|one| marks(one))) {
            template(entry, &at, function, project, reader, &mut parts);
            continue;
        }
        // `@sys.ignore` marks words without meaning.
        if meta.is_empty() || alias.is_empty() || meta == "@sys.ignore" {
            parts.push(TemplatePart::Text(words.to_owned()));
            continue;
        }
        alias_slot(alias, meta, &at, function, project, reader);
        parts.push(TemplatePart::said(alias, words));
    }
    parts
}

/// For each `@name`, the wordings of a composite entity: texts with marks such as `@sys.date:date`.
type Composites = BTreeMap<String, Vec<String>>;

fn marks(entry: &str) -> usize {
    entry.matches('@').count()
}

/// The parts of a composite parameter as slots: required if the parameter is and each of its entries contains them.
fn parts_of(
    parameter: &Value,
    entries: &[String],
    place: &Place,
    function: &mut Function,
    project: &mut Project,
    reader: &mut ProjectReader,
) {
    let name = text(parameter, "name").to_owned();
    let (mut made, before) = (Vec::new(), function.slots.len());
    for entry in entries {
        template(entry, place, function, project, reader, &mut made);
    }
    let is_required = flag(parameter, "required") == Some(true);
    for slot in &mut function.slots[before..] {
        let mark = format!(":{}", slot.name);
        let has = |entry: &String| entry.split_whitespace().any(|word| word.ends_with(&mark));
        slot.required = is_required && entries.iter().all(has);
    }
    let what = format!("composite parameter `{name}` of `{}`", function.name);
    reader.changed(place, what, "its parts are slots");
}

fn parameter_slot(
    parameter: &Value,
    place: &Place,
    language: &str,
    function: &mut Function,
    project: &mut Project,
    reader: &mut ProjectReader,
) {
    let Some(name) = reader.name(parameter, "name", place) else { return };
    let name = name.to_owned();
    let value = text(parameter, "value");
    let written = text(parameter, "dataType");
    if written.is_empty() || value.starts_with('#') || (!value.is_empty() && !value.starts_with('$')) {
        let what = format!("parameter `{name}` = `{value}` of `{}`", function.name);
        reader.dropped(place, what, "its value is not said: it comes from a context, an event or is fixed");
        return;
    }
    if value.ends_with(".original") {
        let what = format!("parameter `{name}` = `{value}` of `{}`", function.name);
        reader.dropped(place, what, "the words of a slot are beside its value in every answer");
        return;
    }
    let entity = kind(written, &name, place, project, reader);
    let prompts = parameter.get("prompts").and_then(Value::as_array);
    let mut questions = prompts
        .into_iter()
        .flatten()
        .filter(|prompt| is_language(text(prompt, "lang"), language))
        .map(|prompt| text(prompt, "value"))
        .filter(|question| !question.is_empty());
    let question = questions.next().map(str::to_owned);
    let more = questions.count();
    if more > 0 {
        let what = format!("{more} more prompts for `{name}` of `{}`", function.name);
        reader.dropped(&place.key("prompts"), what, "a slot has one question, the first");
    }
    let default = Some(text(parameter, "defaultValue")).filter(|value| !value.is_empty());
    if default.is_some_and(|value| value.starts_with(['#', '$'])) {
        let what = format!("default of `{name}` of `{}`", function.name);
        reader.dropped(&place.key("defaultValue"), what, "it comes from a context");
    }
    function.slots.push(ProjectSlot {
        name,
        entity,
        required: flag(parameter, "required") == Some(true),
        repeated: flag(parameter, "isList") == Some(true),
        question,
        default: default.filter(|value| !value.starts_with(['#', '$'])).map(str::to_owned),
        place: place.clone(),
        ..ProjectSlot::default()
    });
}

/// Makes the slot of an alias that is not a parameter.
fn alias_slot(
    alias: &str,
    meta: &str,
    place: &Place,
    function: &mut Function,
    project: &mut Project,
    reader: &mut ProjectReader,
) {
    if function.slot(alias).is_none() {
        let entity = kind(meta, alias, place, project, reader);
        let what = format!("`{alias}` of `{}`", function.name);
        reader.changed(place, what, "an example marks it, though it is no parameter: it is an optional slot");
        function.slots.push(ProjectSlot {
            name: alias.to_owned(),
            entity,
            place: place.clone(),
            ..ProjectSlot::default()
        });
    }
}

/// Reads `weather in @sys.geo-city:city`, the older notation of examples.
fn template(
    words: &str,
    place: &Place,
    function: &mut Function,
    project: &mut Project,
    reader: &mut ProjectReader,
    parts: &mut Vec<TemplatePart>,
) {
    let mut rest = words;
    while let Some(at) = rest.find('@') {
        let is_mark = |c: char| c.is_alphanumeric() || "._-:".contains(c);
        let end = rest[at + 1..].find(|c| !is_mark(c)).map_or(rest.len(), |end| at + 1 + end);
        let Some((meta, alias)) = rest[at..end].split_once(':').filter(|(_, alias)| !alias.is_empty()) else {
            parts.push(TemplatePart::Text(rest[..end].to_owned()));
            rest = &rest[end..];
            continue;
        };
        parts.push(TemplatePart::Text(rest[..at].to_owned()));
        alias_slot(alias, meta, place, function, project, reader);
        parts.push(TemplatePart::Slot { slot: alias.to_owned(), text: None, value: None });
        rest = &rest[end..];
    }
    parts.push(TemplatePart::Text(rest.to_owned()));
}
