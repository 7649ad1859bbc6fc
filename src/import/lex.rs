//! Lex V2 exports: `BOT/BotLocales/LOCALE/Intents/NAME/Intent.json` with `Slots/NAME/Slot.json`, and
//! `SlotTypes/NAME/SlotType.json`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    builtins,
    project::{Entity, Example, Function, Place, Project, ProjectSlot, TemplatePart},
    reader::{ProjectReader, flag, text},
};

pub(super) fn read(reader: &mut ProjectReader, wanted: Option<&str>) -> Project {
    let mut project = Project::default();
    for path in reader.paths(|path| path == "Bot.json" || path.ends_with("/Bot.json")) {
        if let Some(bot) = reader.document(&path) {
            text(&bot, "description").clone_into(&mut project.description);
        }
    }
    let mut intents: BTreeMap<String, usize> = BTreeMap::new();
    for path in reader.paths(|path| path.ends_with("/Intent.json")) {
        if let Some((locale, _)) = path.split_once("/Intents/").or_else(|| path.split_once("Intents/")) {
            *intents.entry(locale.to_owned()).or_default() += 1;
        }
    }
    // The locale with the most intents first: an export does not name the main one.
    let mut locales: Vec<String> = intents.keys().cloned().collect();
    locales.sort_by_key(|locale| std::cmp::Reverse(intents[locale]));
    let tag = |locale: &str| locale.rsplit('/').next().unwrap_or_default().replace('_', "-");
    let chosen = match wanted {
        Some(wanted) => locales.iter().find(|locale| {
            let tag = tag(locale).to_ascii_lowercase();
            let wanted = wanted.replace('_', "-").to_ascii_lowercase();
            tag == wanted || tag.split('-').next() == Some(&wanted)
        }),
        None => locales.first(),
    };
    let Some(locale) = chosen.cloned() else {
        let hint = if locales.is_empty() {
            "export the bot, or a locale of it".to_owned()
        } else {
            format!("it has {}", locales.join(", "))
        };
        reader.refuse_as_empty("unknown-format", "there is no locale with intents", &hint);
        return project;
    };
    for other in locales.iter().filter(|other| **other != locale) {
        let place = Place::new(other, "");
        reader.dropped(
            &place,
            format!("locale `{}`", tag(other)),
            "a module has one language; import again with --language",
        );
    }
    project.language = Some(tag(&locale)).filter(|tag| !tag.is_empty() && tag.len() < 12);
    let below = |kind: &str| if locale.is_empty() { format!("{kind}/") } else { format!("{locale}/{kind}/") };
    let types = below("SlotTypes");
    for path in reader.paths(|path| path.starts_with(&types) && path.ends_with("/SlotType.json")) {
        slot_type(&path, &mut project, reader);
    }
    let intents = below("Intents");
    for path in reader.paths(|path| path.starts_with(&intents) && path.ends_with("/Intent.json")) {
        intent(&path, &mut project, reader);
    }
    project
}

fn slot_type(path: &str, project: &mut Project, reader: &mut ProjectReader) {
    let Some(document) = reader.document(path) else { return };
    let place = Place::new(path, "");
    let Some(name) = reader.name(&document, "name", &place) else { return };
    let mut entity = Entity { name: name.to_owned(), place: place.clone(), ..Entity::default() };
    let at = place.key("slotTypeValues");
    for (index, value) in reader.list(&document, "slotTypeValues", &place).iter().enumerate() {
        let sample = value.pointer("/sampleValue/value").and_then(Value::as_str).unwrap_or_default();
        if sample.trim().is_empty() {
            reader.dropped(&at.index(index), format!("a value of `{name}`"), "it is empty");
            continue;
        }
        entity.add(sample, "");
        for synonym in value.get("synonyms").and_then(Value::as_array).into_iter().flatten() {
            entity.add(sample, text(synonym, "value"));
        }
    }
    let selection = document.get("valueSelectionSetting").unwrap_or(&Value::Null);
    entity.closed = matches!(text(selection, "resolutionStrategy"), "TOP_RESOLUTION" | "TopResolution");
    if !entity.closed && !entity.values.is_empty() {
        let what = format!("slot type `{name}` with original values");
        let why = "only values that are listed are found without a model server, and a synonym gives its value";
        reader.changed(&place.key("valueSelectionSetting"), what, why);
    }
    if let Some(pattern) = selection.pointer("/regexFilter/pattern").and_then(Value::as_str) {
        entity.patterns.push(pattern.to_owned());
    }
    let parent = text(&document, "parentSlotTypeSignature");
    if !parent.is_empty() {
        let mapped = builtins::find(parent);
        let why = if entity.patterns.is_empty() {
            entity.builtins = mapped.builtins.to_vec();
            mapped.note.unwrap_or("found by our own recognizer")
        } else {
            "its own pattern finds it"
        };
        reader.changed(&place.key("parentSlotTypeSignature"), format!("`{name}` extends `{parent}`"), why);
    }
    if document
        .pointer("/compositeSlotTypeSetting/subSlots")
        .and_then(Value::as_array)
        .is_some_and(|all| !all.is_empty())
    {
        let what = format!("sub-slots of the composite `{name}`");
        reader.dropped(
            &place.key("compositeSlotTypeSetting"),
            what,
            "a slot has one value: composite slots are not taken apart",
        );
    }
    if document.get("externalSourceSetting").is_some_and(|value| !value.is_null()) {
        let what = format!("grammar of `{name}`");
        reader.dropped(&place.key("externalSourceSetting"), what, "grammars outside the export are not read");
    }
    project.entities.push(entity);
}

fn intent(path: &str, project: &mut Project, reader: &mut ProjectReader) {
    let Some(document) = reader.document(path) else { return };
    let place = Place::new(path, "");
    let Some(name) = reader.name(&document, "name", &place) else { return };
    let signature = text(&document, "parentIntentSignature");
    if signature.contains("FallbackIntent") {
        reader.dropped(&place, format!("fallback `{name}`"), "what no function fits needs no function here");
        return;
    }
    if !signature.is_empty() {
        reader.changed(&place, format!("`{name}` extends `{signature}`"), "only its own examples are here");
    }
    let description = text(&document, "description").to_owned();
    let mut function = Function { name: name.to_owned(), description, place: place.clone(), ..Function::default() };
    let folder = path.trim_end_matches("Intent.json");
    let slots = format!("{folder}Slots/");
    let mut answers: Vec<(String, String, Place)> = Vec::new();
    for path in reader.paths(|path| path.starts_with(&slots) && path.ends_with("/Slot.json")) {
        slot(&path, &mut function, project, &mut answers, reader);
    }
    // Slots are asked for by priority, and otherwise in the order of the schema.
    let priorities = document.get("slotPriorities").and_then(Value::as_array).cloned().unwrap_or_default();
    let priority = |slot: &ProjectSlot| {
        let own = priorities.iter().find(|one| text(one, "slotName") == slot.name);
        own.and_then(|one| one.get("priority")?.as_u64()).unwrap_or(u64::MAX)
    };
    function.slots.sort_by_key(priority);
    let at = place.key("sampleUtterances");
    for (index, sample) in reader.list(&document, "sampleUtterances", &place).iter().enumerate() {
        let at = at.index(index);
        if let Some(parts) = parts(raw(sample), &at, &function, reader) {
            function.examples.push(Example { parts, answers: None, place: at });
        }
    }
    for (slot, words, at) in answers {
        if let Some(parts) = parts(&words, &at, &function, reader) {
            function.examples.push(Example { parts, answers: Some(slot), place: at });
        }
    }
    for (key, what) in [
        ("intentConfirmationSetting", "confirmation"),
        ("intentClosingSetting", "closing response"),
        ("fulfillmentCodeHook", "fulfilment"),
        ("inputContexts", "input contexts"),
        ("outputContexts", "output contexts"),
        ("kendraConfiguration", "search configuration"),
    ] {
        if document.get(key).is_some_and(|value| !value.is_null() && value.as_array().is_none_or(|all| !all.is_empty()))
        {
            reader.dropped(&place.key(key), format!("{what} of `{name}`"), "dialogue is not part of a module");
        }
    }
    project.functions.push(function);
}

fn raw(sample: &Value) -> &str {
    sample.get("utterance").and_then(Value::as_str).unwrap_or_default()
}

/// The entity of a slot's type. `None` is free text, also where there is no type of that name, which is told.
fn entity_of(
    kind: &str,
    slot: &str,
    place: &Place,
    project: &mut Project,
    reader: &mut ProjectReader,
) -> Option<String> {
    if kind.is_empty() {
        return None;
    }
    if project.entity(kind).is_some() {
        return Some(kind.to_owned());
    }
    if !kind.starts_with("AMAZON.") {
        let why = "the locale has no such slot type, or its file cannot be read: the values are free text";
        reader.changed(&place.key("slotTypeName"), format!("`{kind}` of `{slot}`"), why);
        return None;
    }
    let mapped = builtins::find(kind);
    if let Some(note) = mapped.note {
        reader.changed(&place.key("slotTypeName"), format!("`{kind}` of `{slot}`"), note);
    }
    if mapped.builtins.is_empty() {
        return None;
    }
    let (name, builtins) = (kind.to_owned(), mapped.builtins.to_vec());
    project.entities.push(Entity { name, builtins, place: place.clone(), ..Entity::default() });
    Some(kind.to_owned())
}

fn slot(
    path: &str,
    function: &mut Function,
    project: &mut Project,
    answers: &mut Vec<(String, String, Place)>,
    reader: &mut ProjectReader,
) {
    let Some(document) = reader.document(path) else { return };
    let place = Place::new(path, "");
    let Some(name) = reader.name(&document, "name", &place) else { return };
    let entity = entity_of(text(&document, "slotTypeName"), name, &place, project, reader);
    let elicitation = document.get("slotValueElicitationSetting").or_else(|| document.get("valueElicitationSetting"));
    let elicitation = elicitation.unwrap_or(&Value::Null);
    let constraint = [text(&document, "slotConstraint"), text(elicitation, "slotConstraint")];
    let groups = elicitation
        .pointer("/promptSpecification/messageGroupsList")
        .or_else(|| elicitation.pointer("/promptSpecification/messageGroups"));
    let mut questions = groups
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|group| group.pointer("/message/plainTextMessage/value").and_then(Value::as_str))
        .map(str::trim)
        .filter(|question| !question.is_empty() && !question.contains('{'));
    let question = questions.next().map(str::to_owned);
    let default = ["defaultValueSpecification", "defaultValueSpec"]
        .into_iter()
        .filter_map(|key| {
            elicitation.get(key).or_else(|| document.get(key))?.pointer("/defaultValueList/0/defaultValue")?.as_str()
        })
        .find(|value| !value.starts_with(['#', '[', '{']));
    for (index, sample) in
        elicitation.get("sampleUtterances").and_then(Value::as_array).into_iter().flatten().enumerate()
    {
        let at = place.key("slotValueElicitationSetting").key("sampleUtterances").index(index);
        answers.push((name.to_owned(), raw(sample).to_owned(), at));
    }
    if document
        .get("obfuscationSetting")
        .is_some_and(|value| text(value, "obfuscationSettingType").contains("Obfuscation"))
    {
        reader.dropped(
            &place.key("obfuscationSetting"),
            format!("obfuscation of `{name}`"),
            "what is logged is set for the whole service",
        );
    }
    function.slots.push(ProjectSlot {
        name: name.to_owned(),
        description: text(&document, "description").to_owned(),
        entity,
        required: constraint.iter().any(|one| one.eq_ignore_ascii_case("required")),
        repeated: document.get("multipleValuesSetting").and_then(|value| flag(value, "allowMultipleValues"))
            == Some(true),
        question,
        default: default.map(str::to_owned),
        place,
    });
}

/// Parses `from {City} on {Date}`.
fn parts(words: &str, place: &Place, function: &Function, reader: &mut ProjectReader) -> Option<Vec<TemplatePart>> {
    let mut parts = Vec::new();
    let mut rest = words;
    while let Some(open) = rest.find('{') {
        let close = rest[open..].find('}').map(|close| open + close);
        let slot = close.map(|close| rest[open + 1..close].trim());
        let Some((close, slot)) = close.zip(slot.filter(|slot| function.slot(slot).is_some())) else {
            let named = slot.map_or_else(|| "a slot that does not end".to_owned(), |slot| format!("the slot `{slot}`"));
            let message = format!("`{words}` has {named}, which `{}` does not have", function.name);
            reader.fault(place, "unknown-entity", message, "slots are listed in the intent's `Slots/`");
            return None;
        };
        parts.push(TemplatePart::Text(rest[..open].to_owned()));
        parts.push(TemplatePart::Slot { slot: slot.to_owned(), text: None, value: None });
        rest = &rest[close + 1..];
    }
    parts.push(TemplatePart::Text(rest.to_owned()));
    Some(parts)
}
