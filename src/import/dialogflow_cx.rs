//! Dialogflow CX agents, exported as JSON package: `intents/NAME/NAME.json` with `trainingPhrases/LANGUAGE.json`,
//! `entityTypes/NAME/NAME.json` with `entities/LANGUAGE.json`, and the parameters that the flows' pages ask for.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    dialogflow::{is_language, kind, raw},
    names::answers_a_question,
    project::{Entity, Example, Function, Labelled, Place, Project, ProjectSlot, TemplatePart},
    reader::{ProjectReader, flag, scalar, text},
};
use crate::text::tag;

/// A parameter that a page asks for.
#[derive(Debug, Clone)]
struct PageParameter {
    name: String,
    kind: String,
    required: bool,
    repeated: bool,
    question: Option<String>,
    place: Place,
}

pub(super) fn read(reader: &mut ProjectReader, wanted: Option<&str>) -> Project {
    let mut project = Project::default();
    let mut language = wanted.map(str::to_owned);
    if let Some(agent) = reader.document("agent.json") {
        text(&agent, "description").clone_into(&mut project.description);
        let zone = text(&agent, "timeZone");
        if jiff::tz::TimeZone::get(zone).is_ok() {
            project.time_zone = Some(zone.to_owned());
        }
        let own = text(&agent, "defaultLanguageCode");
        language = language.or_else(|| Some(own.to_owned()).filter(|own| !own.is_empty()));
        if agent.get("supportedLanguageCodes").and_then(Value::as_array).is_some_and(|all| !all.is_empty()) {
            let place = Place::new("agent.json", "/supportedLanguageCodes");
            reader.dropped(&place, "other languages", "a module has one language; import again with --language");
        }
    }
    let language = language.unwrap_or_else(|| "en".to_owned());
    project.language = Some(language.clone());
    for path in own_files(reader, "entityTypes/") {
        entity(&path, &language, &mut project, reader);
    }
    let asked = pages(&language, reader);
    for path in own_files(reader, "intents/") {
        intent(&path, &language, &asked, &mut project, reader);
    }
    tests(&mut project, reader);
    project
}

/// What a person says in the agent's test cases, and the intent that it means.
fn tests(project: &mut Project, reader: &mut ProjectReader) {
    for path in reader.paths(|path| path.starts_with("testCases/") && path.ends_with(".json")) {
        let Some(document) = reader.document(&path) else { continue };
        let place = Place::new(&path, "");
        for (index, turn) in reader.list(&document, "testCaseConversationTurns", &place).iter().enumerate() {
            let said = turn.pointer("/userInput/input/text/text").and_then(Value::as_str);
            let intent = turn.pointer("/virtualAgentOutput/triggeredIntent/displayName").and_then(Value::as_str);
            let (Some(said), Some(intent)) = (said, intent) else { continue };
            if project.functions.iter().any(|function| function.name == intent) {
                let at = place.key("testCaseConversationTurns").index(index);
                let example = Example { parts: vec![TemplatePart::Text(said.to_owned())], answers: None, place: at };
                project.tests.push(Labelled { example, function: Some(intent.to_owned()) });
            }
        }
    }
}

/// `DIRECTORY/NAME/NAME.json`.
fn own_files(reader: &ProjectReader, directory: &str) -> Vec<String> {
    reader.paths(|path| {
        path.strip_prefix(directory).is_some_and(|rest| {
            let mut parts = rest.split('/');
            let (folder, file, more) = (parts.next(), parts.next(), parts.next());
            more.is_none() && folder.is_some() && file.is_some_and(|file| file.ends_with(".json"))
        })
    })
}

fn in_language(path: &str, below: &str, language: &str, reader: &ProjectReader) -> Option<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let languages = [language, &tag::language(language)];
    languages.into_iter().map(|tag| format!("{folder}/{below}/{tag}.json")).find(|path| reader.has(path))
}

fn entity(path: &str, language: &str, project: &mut Project, reader: &mut ProjectReader) {
    let Some(document) = reader.document(path) else { return };
    let place = Place::new(path, "");
    let Some(name) = reader.name(&document, "displayName", &place) else { return };
    let mut entity = Entity { name: name.to_owned(), place: place.clone(), ..Entity::default() };
    let is_pattern = text(&document, "kind") == "KIND_REGEXP";
    entity.closed = text(&document, "autoExpansionMode") != "AUTO_EXPANSION_MODE_DEFAULT";
    entity.fuzzy = flag(&document, "enableFuzzyExtraction") == Some(true) && !is_pattern;
    if !entity.closed && !is_pattern {
        let why = "only values that are listed or stand in an example are found without a model server";
        reader.changed(&place.key("autoExpansionMode"), format!("automatic expansion of `{name}`"), why);
    }
    if flag(&document, "redact") == Some(true) {
        reader.dropped(
            &place.key("redact"),
            format!("redaction of `{name}`"),
            "what is logged is set for the whole service",
        );
    }
    if in_language(path, "excludedPhrases", language, reader).is_some() {
        reader.dropped(&place, format!("excluded phrases of `{name}`"), "a list has no exceptions");
    }
    if let Some(entries_path) = in_language(path, "entities", language, reader)
        && let Some(entries) = reader.document(&entries_path)
    {
        let root = Place::new(&entries_path, "");
        let mut composite = 0;
        for (index, entry) in reader.list(&entries, "entities", &root).iter().enumerate() {
            let Some(value) = reader.name(entry, "value", &root.key("entities").index(index)) else { continue };
            if is_pattern {
                entity.patterns.push(value.to_owned());
                continue;
            }
            let synonyms = entry.get("synonyms").and_then(Value::as_array).into_iter().flatten().filter_map(scalar);
            for synonym in std::iter::once(value.to_owned()).chain(synonyms) {
                if synonym.contains('@') && synonym.contains(':') {
                    composite += 1;
                } else {
                    entity.add(value, &synonym);
                }
            }
        }
        if composite > 0 {
            let what = format!("{composite} entries of the composite `{name}`");
            reader.dropped(&root, what, "a slot has one value: composite entities are not taken apart, their parts are slots where examples mark them");
            entity.retain(|listed| !listed.value.contains('@'));
        }
    } else {
        reader.changed(
            &place,
            format!("entity `{name}`"),
            "it has no entries in the language: its values are free text",
        );
    }
    // A built-in one has a file, too, where the agent has changed something about it.
    if !name.starts_with("sys.") || !entity.values.is_empty() {
        project.entities.push(entity);
    }
}

/// A page or flow: what it asks for, and where its conditions lead without a word of the person.
#[derive(Debug, Clone, Default)]
struct Page {
    asked: Vec<PageParameter>,
    /// Each with whether the dialogue goes there in any case.
    next: Vec<(String, bool)>,
}

/// True of a condition that holds in any case, or once the page has all that it asks for.
fn is_certain(condition: &str) -> bool {
    condition == "true" || condition.replace(' ', "") == "$page.params.status=\"FINAL\""
}

/// For each intent, the parameters of the pages that its routes lead to, and of those that follow by conditions alone.
fn pages(language: &str, reader: &mut ProjectReader) -> BTreeMap<String, Vec<PageParameter>> {
    let mut pages: BTreeMap<String, Page> = BTreeMap::new();
    let mut routes: Vec<(String, String)> = Vec::new();
    let mut told = false;
    for path in reader.paths(|path| {
        path.starts_with("flows/") && path.ends_with(".json") && !path.contains("/transitionRouteGroups/")
    }) {
        let Some(document) = reader.document(&path) else { continue };
        let place = Place::new(&path, "");
        // Pages of two flows may have the same name.
        let flow = path.split('/').nth(1).unwrap_or_default();
        let key = |name: &str, kind: &str| format!("{}/{name}", if kind == "targetFlow" { name } else { flow });
        let mut page = Page::default();
        for route in reader.list(&document, "transitionRoutes", &place) {
            let intent = text(route, "intent");
            for kind in ["targetPage", "targetFlow"] {
                let name = text(route, kind);
                if name.is_empty() || answers_a_question(intent) {
                    continue;
                }
                if intent.is_empty() {
                    page.next.push((key(name, kind), is_certain(text(route, "condition"))));
                } else {
                    routes.push((intent.to_owned(), key(name, kind)));
                }
            }
        }
        if !told {
            told = true;
            reader.dropped(
                &place,
                "flows and pages",
                "dialogue is not part of a module; of pages, what they ask for is read",
            );
        }
        let form = document.get("form").unwrap_or(&Value::Null);
        let at = place.key("form");
        for (index, parameter) in reader.list(form, "parameters", &at).iter().enumerate() {
            let at = at.key("parameters").index(index);
            let Some(name) = reader.name(parameter, "displayName", &at) else { continue };
            page.asked.push(PageParameter {
                name: name.to_owned(),
                kind: text(parameter, "entityType").to_owned(),
                required: flag(parameter, "required") == Some(true),
                repeated: flag(parameter, "isList") == Some(true),
                question: question(parameter, language),
                place: at,
            });
        }
        for name in
            ["displayName", "name"].map(|member| text(&document, member)).into_iter().filter(|it| !it.is_empty())
        {
            let kind = if path.contains("/pages/") { "targetPage" } else { "targetFlow" };
            pages.insert(key(name, kind), page.clone());
        }
    }
    let mut by_intent: BTreeMap<String, Vec<PageParameter>> = BTreeMap::new();
    for (intent, page) in routes {
        let known = by_intent.entry(intent).or_default();
        for (page, is_certain) in reached(&page, &pages) {
            for one in &page.asked {
                if !known.iter().any(|other| other.name == one.name) {
                    known.push(PageParameter { required: one.required && is_certain, ..one.clone() });
                }
            }
        }
    }
    by_intent.retain(|_, asked| !asked.is_empty());
    by_intent
}

/// The page, and those that follow by conditions alone, with whether each is reached in any case.
fn reached<'p>(first: &'p str, pages: &'p BTreeMap<String, Page>) -> Vec<(&'p Page, bool)> {
    let mut names = vec![(first, true)];
    let mut found = Vec::new();
    let mut at = 0;
    while let Some((name, is_sure)) = names.get(at).copied() {
        at += 1;
        let Some(page) = pages.get(name) else { continue };
        found.push((page, is_sure));
        for (next, surely) in &page.next {
            if !names.iter().any(|(known, _)| known == next) {
                names.push((next, is_sure && *surely));
            }
        }
    }
    found
}

fn question(parameter: &Value, language: &str) -> Option<String> {
    let messages = parameter.pointer("/fillBehavior/initialPromptFulfillment/messages")?.as_array()?;
    messages
        .iter()
        .filter(|message| is_language(text(message, "languageCode"), language))
        .filter_map(|message| scalar(message.pointer("/text/text/0")?))
        .find(|question| !question.is_empty() && !question.contains("$session"))
}

/// Training phrases as the function's examples.
fn examples(function: &mut Function, phrases: &[Value], place: &Place, reader: &mut ProjectReader) {
    'phrases: for (index, phrase) in phrases.iter().enumerate() {
        let at = place.index(index);
        let mut parts = Vec::new();
        for (index, part) in reader.list(phrase, "parts", &at).iter().enumerate() {
            let words = raw(part, "text").to_owned();
            match text(part, "parameterId") {
                "" => parts.push(TemplatePart::Text(words)),
                id if function.slot(id).is_some() => parts.push(TemplatePart::said(id, words)),
                id => {
                    let message = format!("`{}` has no parameter `{id}`", function.name);
                    let hint = "parameters are listed in the intent's own file";
                    reader.fault(&at.key("parts").index(index), "unknown-entity", message, hint);
                    continue 'phrases;
                }
            }
        }
        function.examples.push(Example { parts, answers: None, place: at });
    }
}

fn intent(
    path: &str,
    language: &str,
    asked: &BTreeMap<String, Vec<PageParameter>>,
    project: &mut Project,
    reader: &mut ProjectReader,
) {
    let Some(document) = reader.document(path) else { return };
    let place = Place::new(path, "");
    let Some(name) = reader.name(&document, "displayName", &place) else { return };
    let phrases_path = in_language(path, "trainingPhrases", language, reader);
    let phrases = phrases_path.as_ref().and_then(|path| reader.document(path)).unwrap_or(Value::Null);
    let root = Place::new(phrases_path.as_deref().unwrap_or(path), "");
    let at = root.key("trainingPhrases");
    let list = reader.list(&phrases, "trainingPhrases", &root);
    if flag(&document, "isFallback") == Some(true) || name == "Default Negative Intent" {
        for (index, phrase) in list.iter().enumerate() {
            let words: String = phrase
                .get("parts")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .map(|part| raw(part, "text"))
                .collect();
            let example = Example { parts: vec![TemplatePart::Text(words)], answers: None, place: at.index(index) };
            project.out_of_scope.push(example);
        }
        let what = format!("fallback `{name}`, {} examples", list.len());
        reader.changed(&place, what, "what no function fits needs no function here: its examples are cases");
        return;
    }
    let description = text(&document, "description").to_owned();
    let mut function = Function { name: name.to_owned(), description, place: place.clone(), ..Function::default() };
    for (index, parameter) in reader.list(&document, "parameters", &place).iter().enumerate() {
        let at = place.key("parameters").index(index);
        let Some(id) = reader.name(parameter, "id", &at) else { continue };
        let entity = kind(text(parameter, "entityType"), id, &at, project, reader);
        if flag(parameter, "redact") == Some(true) {
            reader.dropped(
                &at.key("redact"),
                format!("redaction of `{id}` of `{name}`"),
                "what is logged is set for the whole service",
            );
        }
        let repeated = flag(parameter, "isList") == Some(true);
        function.slots.push(ProjectSlot { name: id.to_owned(), entity, repeated, place: at, ..ProjectSlot::default() });
    }
    let by_id = text(&document, "name");
    for one in asked.get(name).or_else(|| asked.get(by_id)).into_iter().flatten() {
        let entity = kind(&one.kind, &one.name, &one.place, project, reader);
        if function.slot(&one.name).is_none() {
            let slot =
                ProjectSlot { name: one.name.clone(), entity, place: one.place.clone(), ..ProjectSlot::default() };
            function.slots.push(slot);
        }
        if let Some(slot) = function.slot_mut(&one.name) {
            slot.required |= one.required;
            slot.repeated |= one.repeated;
            slot.question = slot.question.take().or_else(|| one.question.clone());
        }
    }
    if list.is_empty() {
        reader.changed(
            &place,
            format!("intent `{name}`"),
            "it has no examples in the language: only its name and description find it",
        );
    }
    examples(&mut function, list, &at, reader);
    project.functions.push(function);
}
