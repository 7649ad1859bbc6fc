//! Rasa 3 projects (and the Markdown of older ones): intents, annotated examples, synonyms, lookups, patterns, slots,
//! forms and their questions. As in Rasa itself, parts may be in any file.

use serde_json::Value;

use self::annotated::{AnnotatedPiece, Annotation};
use super::{
    names::answers_a_question,
    project::{Example, Function, Labelled, Place, Project, ProjectSlot, TemplatePart},
    reader::{ProjectReader, scalar, text},
};

mod annotated;
mod domain;
mod entities;
mod markdown;

use domain::Domain;
use entities::entities;

/// Names of intents that mean "none of the others".
const OUT_OF_SCOPE: [&str; 3] = ["out_of_scope", "nlu_fallback", "outofscope"];
/// An annotated example, before slots are known.
struct Annotated {
    pieces: Vec<AnnotatedPiece>,
    place: Place,
}

#[derive(Default)]
struct Training {
    /// In the order of the files.
    intents: Vec<(String, Vec<Annotated>, Place)>,
    /// A value and its synonyms.
    synonyms: Vec<(String, Vec<String>, Place)>,
    lookups: Vec<(String, Vec<String>, Place)>,
    patterns: Vec<(String, Vec<String>, Place)>,
    tests: Vec<(String, Annotated)>,
}

impl Training {
    fn intent(&mut self, name: &str, place: &Place) -> &mut Vec<Annotated> {
        let position = match self.intents.iter().position(|(known, _, _)| known == name) {
            Some(position) => position,
            None => {
                self.intents.push((name.to_owned(), Vec::new(), place.clone()));
                self.intents.len() - 1
            }
        };
        &mut self.intents[position].1
    }
}

pub(super) fn read(reader: &mut ProjectReader) -> Project {
    let mut training = Training::default();
    let mut domain = Domain::default();
    let mut dimensions: Vec<String> = Vec::new();
    let mut language = None;
    let mut documents = Vec::new();
    let paths = reader.paths(|path| path.ends_with(".yml") || path.ends_with(".yaml"));
    for path in paths.iter().filter(|path| !is_about_the_server(path)) {
        let Some(document) = reader.document(path) else { continue };
        let root = Place::new(path, "");
        training_data(&document, &root, &mut training, reader);
        domain.read(&document, &root, reader);
        if let Some(pipeline) = document.get("pipeline").and_then(Value::as_array) {
            language = scalar(document.get("language").unwrap_or(&Value::Null)).or(language);
            duckling(pipeline, &mut dimensions);
        }
        documents.push((document, root));
    }
    // Only after all files are read is it known which names are forms.
    for (document, root) in &documents {
        flows(document, root, &mut domain, &mut training, reader);
    }
    for path in reader.paths(|path| path.ends_with(".md") && !path.to_ascii_lowercase().ends_with("readme.md")) {
        if let Some(text) = reader.text(&path) {
            markdown::read(&text, &path, &mut training, reader);
        }
    }
    // Other JSON files of a project are not Rasa's, so none is parsed.
    for path in reader.paths(|path| path.ends_with(".json")) {
        if reader.contains(&path, "\"rasa_nlu_data\"") {
            let hint = "convert it with `rasa data convert nlu -f yaml`";
            reader.fault(&Place::new(&path, ""), "unknown-format", "training data of an early Rasa, in JSON", hint);
        }
    }
    let mut project = Project { language, ..Project::default() };
    project.entities = entities(&training, &domain, &dimensions, reader);
    functions(training, &domain, &mut project, reader);
    domain.tell(reader);
    project
}

fn is_about_the_server(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with("endpoints.") || name.starts_with("credentials.") || name.starts_with("docker-compose")
}

/// True for a file in a directory for tests: `tests/test_nlu.yml`.
fn is_test(path: &str) -> bool {
    path.rsplit('/').skip(1).any(|folder| matches!(folder, "test" | "tests"))
}

fn training_data(document: &Value, root: &Place, training: &mut Training, reader: &mut ProjectReader) {
    let (at, is_test) = (root.key("nlu"), is_test(&root.file));
    for (index, item) in reader.list(document, "nlu", root).iter().enumerate() {
        let place = at.index(index);
        let kind = ["intent", "synonym", "lookup", "regex"].into_iter().find(|kind| item.get(*kind).is_some());
        let Some(kind) = kind else {
            reader.dropped(&place, "an item of `nlu`", "it is neither intent, synonym, lookup nor regex");
            continue;
        };
        let Some(name) = reader.name(item, kind, &place.key(kind)) else { continue };
        let name = name.to_owned();
        let lines = lines(item, &place, reader);
        match kind {
            "intent" => {
                for (line, at) in lines {
                    annotate(&line, &at, reader, |annotated| match is_test {
                        true => training.tests.push((name.clone(), annotated)),
                        false => training.intent(&name, &place).push(annotated),
                    });
                }
                if !is_test {
                    training.intent(&name, &place);
                }
            }
            // Only sentences are tested.
            _ if is_test => {}
            "synonym" => training.synonyms.push((name, texts(lines), place)),
            "lookup" => training.lookups.push((name, texts(lines), place)),
            _ => training.patterns.push((name, texts(lines), place)),
        }
    }
}

fn texts(lines: Vec<(String, Place)>) -> Vec<String> {
    lines.into_iter().map(|(text, _)| text).collect()
}

fn annotate(line: &str, place: &Place, reader: &mut ProjectReader, keep: impl FnOnce(Annotated)) {
    match annotated::parse(line) {
        Ok(pieces) => keep(Annotated { pieces, place: place.clone() }),
        Err(reason) => {
            let hint = "write [words](entity) or [words]{\"entity\": \"...\", \"role\": \"...\"}";
            reader.fault(place, "bad-annotation", format!("in `{line}`, {reason}"), hint);
        }
    }
}

/// The examples of an item: text lines that begin with a dash, or a list of texts or of objects with `text`.
fn lines(item: &Value, place: &Place, reader: &mut ProjectReader) -> Vec<(String, Place)> {
    let at = place.key("examples");
    match item.get("examples") {
        Some(Value::String(block)) => {
            let mut found: Vec<(String, Place)> = Vec::new();
            for (index, line) in block.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                let place = Place { below: index, ..at.clone() };
                match (line.trim().strip_prefix('-'), found.last_mut()) {
                    (Some(text), _) => found.push((one_line(text), place)),
                    // A continued line.
                    (None, Some((before, _))) => {
                        before.push(' ');
                        before.push_str(&one_line(line));
                    }
                    (None, None) => {
                        reader.dropped(&place, "a line of examples", "no line before it begins with a dash");
                    }
                }
            }
            found.retain(|(text, _)| !text.is_empty());
            found
        }
        Some(Value::Array(list)) => {
            let mut found = Vec::with_capacity(list.len());
            for (index, one) in list.iter().enumerate() {
                let line = scalar(one).or_else(|| scalar(one.get("text")?));
                let line = line.map(|text| one_line(text.trim().trim_start_matches("- ")));
                match line.filter(|text| !text.is_empty()) {
                    Some(text) => found.push((text, at.index(index))),
                    None => reader.dropped(&at.index(index), "an example", "it is empty"),
                }
                if one.get("metadata").is_some() {
                    reader.dropped(&at.index(index).key("metadata"), "metadata of an example", "nothing here reads it");
                }
            }
            found
        }
        _ => Vec::new(),
    }
}

/// Joins a multi-line text into one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The intents of a step: its own, or its alternatives.
fn intents_of(step: &Value) -> Vec<String> {
    let named = |step: &Value| step.get("intent").and_then(Value::as_str).map(str::to_owned);
    match step.get("or").and_then(Value::as_array) {
        Some(branches) => branches.iter().filter_map(named).collect(),
        None => named(step).into_iter().collect(),
    }
}

/// Reads rules and stories: which intent begins which form, and test conversations. A form belongs to the intent before it,
/// whatever the bot does in between; not to one that only answers, or that occurs while the form is being filled or after it
/// was begun.
fn flows(document: &Value, root: &Place, domain: &mut Domain, training: &mut Training, reader: &mut ProjectReader) {
    for (key, kind) in [("rules", "rule"), ("stories", "story")] {
        let at = root.key(key);
        let mut labelled = 0;
        let list = reader.list(document, key, root);
        for (index, flow) in list.iter().enumerate() {
            let steps_at = at.index(index).key("steps");
            let mut before: Vec<String> = Vec::new();
            let mut begun_here: Vec<String> = Vec::new();
            let mut is_filling = is_conditional(flow);
            for (step_index, step) in reader.list(flow, "steps", &at.index(index)).iter().enumerate() {
                let place = steps_at.index(step_index);
                let intents = intents_of(step);
                if let ([name], Some(said)) = (&intents[..], step.get("user").and_then(Value::as_str)) {
                    if said.trim_start().starts_with('/') {
                        reader.dropped(
                            &place,
                            format!("`{}`", one_line(said)),
                            "a button sends it, people do not say it",
                        );
                    } else {
                        labelled += 1;
                        annotate(&one_line(said), &place, reader, |one| training.tests.push((name.clone(), one)));
                    }
                }
                let (action, active) = (step.get("action"), step.get("active_loop"));
                let begun = action.or(active).and_then(Value::as_str).filter(|name| domain.is_form(name));
                if let Some(form) = begun.filter(|_| !is_filling) {
                    if !begun_here.iter().any(|name| name == form) {
                        before.iter().for_each(|intent| domain.begin(form, intent));
                        begun_here.push(form.to_owned());
                    }
                    before.clear();
                }
                is_filling = active.map_or(is_filling || begun.is_some(), Value::is_string);
                if !intents.is_empty() && !is_filling {
                    before = intents;
                    before.retain(|intent| !answers_a_question(intent));
                }
            }
        }
        if !list.is_empty() {
            let what = format!("{} {key}", list.len());
            if labelled > 0 {
                reader.changed(
                    &at,
                    what,
                    "their labelled utterances are cases; how the conversation went on is not kept",
                );
            } else {
                let why = format!("dialogue is not part of a module; which form a {kind} begins is read");
                reader.dropped(&at, what, why);
            }
        }
    }
}

/// True for a rule that applies while a form is being filled.
fn is_conditional(flow: &Value) -> bool {
    let conditions = flow.get("condition").and_then(Value::as_array);
    conditions.into_iter().flatten().any(|condition| condition.get("active_loop").is_some_and(Value::is_string))
}

/// The dimensions that a project uses from Duckling.
fn duckling(pipeline: &[Value], dimensions: &mut Vec<String>) {
    let is_duckling = |component: &&Value| text(component, "name").to_ascii_lowercase().contains("duckling");
    for component in pipeline.iter().filter(is_duckling) {
        match component.get("dimensions").and_then(Value::as_array) {
            Some(named) => dimensions.extend(named.iter().filter_map(scalar)),
            None => dimensions.extend(
                ["time", "number", "amount-of-money", "duration", "email", "phone-number", "url", "ordinal"]
                    .map(str::to_owned),
            ),
        }
    }
}

fn functions(training: Training, domain: &Domain, project: &mut Project, reader: &mut ProjectReader) {
    for (name, examples, place) in training.intents {
        if OUT_OF_SCOPE.contains(&name.to_ascii_lowercase().as_str()) {
            let what = format!("intent `{name}`, {} examples", examples.len());
            reader.changed(&place, what, "what no function fits needs no examples here: they are cases");
            for example in examples {
                let (parts, place) = (plain(&example.pieces), example.place);
                project.out_of_scope.push(Example { parts, answers: None, place });
            }
            continue;
        }
        let mut function = Function { name: name.clone(), place, ..Function::default() };
        domain.form_slots(&mut function);
        for example in examples {
            let parts = parts(example.pieces, &mut function, &example.place, domain, reader);
            function.examples.push(Example { parts, answers: None, place: example.place });
        }
        if function.examples.is_empty() {
            let what = format!("intent `{name}`");
            reader.changed(&function.place.clone(), what, "it has no examples: only its name and description find it");
        }
        project.functions.push(function);
    }
    for (intent, test) in training.tests {
        if OUT_OF_SCOPE.contains(&intent.to_ascii_lowercase().as_str()) {
            let example = Example { parts: plain(&test.pieces), answers: None, place: test.place };
            project.tests.push(Labelled { example, function: None });
            continue;
        }
        let Some(function) = project.functions.iter_mut().find(|function| function.name == intent) else {
            // A retrieval intent is several functions, and the test does not tell which.
            let below = format!("{intent}/");
            if project.functions.iter().any(|function| function.name.starts_with(&below)) {
                let what = format!("an utterance of `{intent}`");
                reader.dropped(&test.place, what, "it does not say which of its kinds is meant");
                continue;
            }
            let message = format!("the test says intent `{intent}`, which has no examples");
            reader.fault(&test.place, "unknown-intent", message, "is its training data in another directory?");
            continue;
        };
        // A test does not change what it tests.
        let known = function.slots.len();
        let mut parts = parts(test.pieces, function, &test.place, domain, reader);
        function.slots.truncate(known);
        for part in &mut parts {
            if let TemplatePart::Slot { slot, text, .. } = part
                && function.slot(slot).is_none()
            {
                *part = TemplatePart::Text(text.take().unwrap_or_default());
            }
        }
        let example = Example { parts, answers: None, place: test.place };
        project.tests.push(Labelled { example, function: Some(intent) });
    }
}

fn plain(pieces: &[AnnotatedPiece]) -> Vec<TemplatePart> {
    let texts = pieces.iter().map(|piece| match piece {
        AnnotatedPiece::Text(text) => text.clone(),
        AnnotatedPiece::Entity(annotation) => annotation.text.clone(),
    });
    vec![TemplatePart::Text(texts.collect())]
}

fn parts(
    pieces: Vec<AnnotatedPiece>,
    function: &mut Function,
    place: &Place,
    domain: &Domain,
    reader: &mut ProjectReader,
) -> Vec<TemplatePart> {
    let mut parts = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match piece {
            AnnotatedPiece::Text(text) => parts.push(TemplatePart::Text(text)),
            AnnotatedPiece::Entity(Annotation { text, entity, role, group, value, has_others }) => {
                let slot = slot(function, &entity, role.as_deref(), place, domain, reader);
                if group.is_some() {
                    let what = format!("group of `{entity}` in an example of `{}`", function.name);
                    reader.dropped(
                        place,
                        what,
                        "groups become lists of values, which do not say what belongs together",
                    );
                }
                if has_others {
                    let what = format!("more annotations of `{text}` in an example of `{}`", function.name);
                    reader.dropped(place, what, "words stand for one slot: the first annotation counts");
                }
                parts.push(TemplatePart::Slot { slot, text: Some(text), value });
            }
        }
    }
    parts
}

/// The slot that an annotation fills, made if it is new.
fn slot(
    function: &mut Function,
    entity: &str,
    role: Option<&str>,
    place: &Place,
    domain: &Domain,
    reader: &mut ProjectReader,
) -> String {
    let name = domain.slot_of(entity, role, &function.name).unwrap_or_else(|| match role {
        Some(role) => format!("{role}_{entity}"),
        None => entity.to_owned(),
    });
    if function.slot(&name).is_none() {
        if let Some(role) = role {
            let what = format!("role `{role}` of `{entity}` in `{}`, now slot `{name}`", function.name);
            reader.changed(place, what, "roles are slots of their own");
        }
        function.slots.push(ProjectSlot {
            name: name.clone(),
            entity: Some(entity.to_owned()),
            place: place.clone(),
            ..ProjectSlot::default()
        });
    }
    name
}
