//! Adapts every format's project: valid names, lists that include the values of examples, slots that may have several
//! values, searchable patterns, no duplicate examples.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{
    names::Names,
    project::{Entity, Example, Function, Place, Project, ProjectSlot, Spans, TemplatePart},
    reader::ProjectReader,
};
use crate::text::{fold, name_words};

pub(super) fn settle(mut project: Project, reader: &mut ProjectReader) -> Project {
    learn(&mut project, reader);
    patterns(&mut project, reader);
    name_entities(&mut project, reader);
    name_functions(&mut project, reader);
    for function in &mut project.functions {
        several(function, reader);
        name_slots(function, &mut project.tests, reader);
        examples(function, reader);
    }
    for example in project.out_of_scope.iter_mut().chain(project.tests.iter_mut().map(|test| &mut test.example)) {
        tidy(&mut example.parts);
    }
    project.out_of_scope.retain(|example| !example.parts.is_empty());
    project.tests.retain(|test| !test.example.parts.is_empty());
    if project.functions.is_empty() {
        reader.refuse_as_empty("no-functions", "the project has no intents", "is this the right format and path?");
    }
    project
}

/// Adds values that occur only in examples to the lists.
fn learn(project: &mut Project, reader: &mut ProjectReader) {
    let Project { functions, entities, .. } = project;
    let position: HashMap<String, usize> =
        entities.iter().enumerate().map(|(index, entity)| (entity.name.clone(), index)).collect();
    let mut synonyms: BTreeMap<usize, usize> = BTreeMap::new();
    let mut values: BTreeMap<usize, usize> = BTreeMap::new();
    // Explicit values in examples come first: they may turn an entity without values into a list.
    for (index, text, value) in said(functions, &position) {
        if let Some(value) = value.filter(|value| *value != text)
            && entities[index].add(value, text)
        {
            *synonyms.entry(index).or_default() += 1;
        }
    }
    let mut known: HashMap<usize, HashSet<String>> = HashMap::new();
    for (index, text, value) in said(functions, &position) {
        let entity = &mut entities[index];
        if entity.values.is_empty() || !entity.patterns.is_empty() {
            continue;
        }
        let known = known.entry(index).or_insert_with(|| expressions(entity));
        let spaced = |text: &str| fold(text).replace(['_', '-'], " ");
        if value.is_none() && known.insert(spaced(text)) && entity.add_value(text) {
            *values.entry(index).or_default() += 1;
        }
    }
    for (counted, kind) in [(synonyms, "synonyms"), (values, "values")] {
        for (index, count) in counted {
            let entity = &entities[index];
            let what = format!("entity `{}`: {count} more {kind}", entity.name);
            reader.changed(&entity.place, what, "a list knows only what is in it: what stands in examples was added");
        }
    }
}

fn expressions(entity: &Entity) -> HashSet<String> {
    let all = entity.values.iter().flat_map(|listed| std::iter::once(&listed.value).chain(&listed.expressions));
    all.map(|text| fold(text).replace(['_', '-'], " ")).collect()
}

impl Entity {
    fn add_value(&mut self, text: &str) -> bool {
        let before = self.values.len();
        self.add(text, "");
        self.values.len() > before
    }
}

/// All annotated words, with the index of their entity and the value that the source gives them.
fn said<'f>(
    functions: &'f [Function],
    position: &'f HashMap<String, usize>,
) -> impl Iterator<Item = (usize, &'f str, Option<&'f str>)> {
    functions.iter().flat_map(move |function| {
        function.examples.iter().flat_map(|example| &example.parts).filter_map(move |part| match part {
            TemplatePart::Slot { slot, text: Some(text), value } => {
                let entity = function.slot(slot)?.entity.as_ref()?;
                Some((*position.get(entity)?, text.trim(), value.as_deref()))
            }
            _ => None,
        })
    })
}

/// Source patterns match a whole value; ours are searched in an utterance.
fn patterns(project: &mut Project, reader: &mut ProjectReader) {
    for entity in &mut project.entities {
        let place = entity.place.clone();
        let mut kept = Vec::with_capacity(entity.patterns.len());
        for pattern in std::mem::take(&mut entity.patterns) {
            let what = format!("pattern `{pattern}` of `{}`", entity.name);
            let inner = pattern.trim().trim_start_matches('^').trim_start_matches("\\A");
            let inner = inner.strip_suffix("\\Z").or_else(|| inner.strip_suffix("\\z")).unwrap_or(inner);
            let inner = if inner.ends_with("\\$") { inner } else { inner.trim_end_matches('$') };
            let was_anchored = inner != pattern.trim();
            let searched = if was_anchored { format!("\\b(?:{inner})\\b") } else { inner.to_owned() };
            match regex::Regex::new(&searched) {
                Err(_) => reader.dropped(
                    &place,
                    what,
                    "such a pattern has no form that takes linear time (it may look around or refer back)",
                ),
                Ok(compiled) if compiled.is_match("") => {
                    reader.dropped(&place, what, "it also matches nothing at all");
                }
                Ok(_) => {
                    if was_anchored {
                        reader.changed(
                            &place,
                            what,
                            "it is searched for in the utterance, so its anchors became word boundaries",
                        );
                    }
                    kept.push(searched);
                }
            }
        }
        entity.patterns = kept;
        for listed in &mut entity.values {
            let value = fold(&listed.value);
            let mut seen = HashSet::new();
            listed.expressions.retain(|text| !text.trim().is_empty() && fold(text) != value && seen.insert(fold(text)));
        }
        entity.retain(|listed| !listed.value.trim().is_empty());
    }
}

fn name_entities(project: &mut Project, reader: &mut ProjectReader) {
    let mut names = Names::default();
    let mut given: HashMap<String, String> = HashMap::new();
    for entity in &mut project.entities {
        let name = names.give(&entity.name, "list");
        // A list with a recognizer's name would hide the recognizer that others are bound to.
        let name = if crate::module::Builtin::named(&name).is_some() {
            names.give(&format!("{name}_list"), "list")
        } else {
            name
        };
        if name != entity.name && !(entity.values.is_empty() && entity.patterns.is_empty()) {
            let what = format!("entity `{}`, now `{name}`", entity.name);
            reader.changed(&entity.place, what, "names are letters, digits, `_` and `-`, and each is there once");
        }
        given.insert(std::mem::replace(&mut entity.name, name.clone()), name);
    }
    for slot in project.functions.iter_mut().flat_map(|function| &mut function.slots) {
        slot.entity = slot.entity.as_ref().and_then(|entity| given.get(entity).cloned());
    }
}

fn name_functions(project: &mut Project, reader: &mut ProjectReader) {
    let mut names = Names::default();
    let mut given: HashMap<String, String> = HashMap::new();
    for function in &mut project.functions {
        if function.description.trim().is_empty() {
            function.description = readable(&function.name);
            let what = format!("function `{}`", function.name);
            reader.changed(&function.place, what, "the source has no description: its name, spelt out, is one");
        }
        let name = names.give(&function.name, "fn");
        if name != function.name {
            let what = format!("function `{}`, now `{name}`", function.name);
            reader.changed(&function.place, what, "names are letters, digits, `_` and `-`, and each is there once");
        }
        given.insert(std::mem::replace(&mut function.name, name.clone()), name);
    }
    for test in &mut project.tests {
        test.function = test.function.as_ref().and_then(|name| given.get(name).cloned());
    }
}

/// A slot that occurs twice in one example has several values.
fn several(function: &mut Function, reader: &mut ProjectReader) {
    let mut found: Vec<(String, Place)> = Vec::new();
    for example in &function.examples {
        let mut seen = HashSet::new();
        for part in &example.parts {
            if let TemplatePart::Slot { slot, .. } = part
                && !seen.insert(slot.as_str())
                && function.slot(slot).is_some_and(|slot| !slot.repeated)
                && !found.iter().any(|(name, _)| name == slot)
            {
                found.push((slot.clone(), example.place.clone()));
            }
        }
    }
    for (name, place) in found {
        if let Some(slot) = function.slot_mut(&name) {
            slot.repeated = true;
            let what = format!("slot `{name}` of `{}`", function.name);
            reader.changed(&place, what, "it stands twice in an example: it takes a list of values");
        }
    }
}

fn name_slots(function: &mut Function, tests: &mut [super::project::Labelled], reader: &mut ProjectReader) {
    let mut names = Names::default();
    let mut given: HashMap<String, String> = HashMap::new();
    for ProjectSlot { name, place, .. } in &mut function.slots {
        let new = names.give(name, "slot");
        if new != *name {
            let what = format!("slot `{name}` of `{}`, now `{new}`", function.name);
            reader.changed(place, what, "names are letters, digits, `_` and `-`, and each is there once");
        }
        given.insert(std::mem::replace(name, new.clone()), new);
    }
    let own_tests = tests.iter_mut().filter(|test| test.function.as_deref() == Some(&function.name));
    let examples = function.examples.iter_mut().chain(own_tests.map(|test| &mut test.example));
    for example in examples {
        example.answers = example.answers.as_ref().and_then(|slot| given.get(slot).cloned());
        for part in &mut example.parts {
            if let TemplatePart::Slot { slot, .. } = part
                && let Some(new) = given.get(slot)
            {
                slot.clone_from(new);
            }
        }
    }
}

fn examples(function: &mut Function, reader: &mut ProjectReader) {
    let mut seen = HashSet::new();
    let mut kept = Vec::with_capacity(function.examples.len());
    for mut example in std::mem::take(&mut function.examples) {
        if tidy(&mut example.parts) {
            let what = format!("example `{}`", template(&example.parts));
            reader.changed(&example.place, what, "a `<` in its text is set apart, since `<name>` is a slot here");
        }
        if example.parts.is_empty() {
            reader.dropped(&example.place, format!("an example of `{}`", function.name), "it is empty");
            continue;
        }
        let text = template(&example.parts);
        if seen.insert((text.to_lowercase(), example.answers.clone())) {
            kept.push(example);
        } else {
            let what = format!("example `{text}` of `{}`", function.name);
            reader.dropped(&example.place, what, "another example has the same words around the same slots");
        }
    }
    function.examples = kept;
}

/// Adds a text, to the one before if there is one.
fn push_text(parts: &mut Vec<TemplatePart>, text: &str) {
    match parts.last_mut() {
        Some(TemplatePart::Text(before)) => before.push_str(text),
        _ => parts.push(TemplatePart::Text(text.to_owned())),
    }
}

/// Joins neighbouring texts, normalises white space, and separates `<`. True if there was one.
fn tidy(parts: &mut Vec<TemplatePart>) -> bool {
    let mut had_mark = false;
    let mut tidied: Vec<TemplatePart> = Vec::with_capacity(parts.len());
    for part in parts.drain(..) {
        match part {
            TemplatePart::Text(text) => {
                had_mark |= text.contains('<') && text.contains('>');
                push_text(&mut tidied, &text);
            }
            TemplatePart::Slot { slot, text, value } => {
                // White space at the ends of the words belongs to the text around them.
                let words = text.as_deref().unwrap_or_default();
                if words.starts_with(char::is_whitespace) {
                    push_text(&mut tidied, " ");
                }
                let said = Some(words.trim()).filter(|said| !said.is_empty()).map(str::to_owned);
                tidied.push(TemplatePart::Slot { slot, text: said, value });
                if words.ends_with(char::is_whitespace) {
                    push_text(&mut tidied, " ");
                }
            }
        }
    }
    let last = tidied.len().saturating_sub(1);
    for (index, part) in tidied.iter_mut().enumerate() {
        if let TemplatePart::Text(text) = part {
            let mut spaced = String::with_capacity(text.len());
            for character in text.chars() {
                if !character.is_whitespace() {
                    spaced.push(character);
                } else if !spaced.ends_with(' ') {
                    spaced.push(' ');
                }
            }
            let trimmed = if index == 0 { spaced.trim_start() } else { &spaced };
            let trimmed = if index == last { trimmed.trim_end() } else { trimmed };
            *text = if had_mark { trimmed.replace('<', "< ") } else { trimmed.to_owned() };
        }
    }
    tidied.retain(|part| !matches!(part, TemplatePart::Text(text) if text.is_empty()));
    *parts = tidied;
    had_mark
}

/// The template as `exemplars.json` writes it.
pub(super) fn template(parts: &[TemplatePart]) -> String {
    parts
        .iter()
        .map(|part| match part {
            TemplatePart::Text(text) => text.clone(),
            TemplatePart::Slot { slot, .. } => format!("<{slot}>"),
        })
        .collect()
}

impl Example {
    /// The sentence and the byte range of each slot in it; `None` if the words of a slot are not known.
    pub(super) fn spoken(&self) -> Option<(String, Spans)> {
        let mut text = String::new();
        let mut spans = Vec::new();
        for part in &self.parts {
            match part {
                TemplatePart::Text(literal) => text.push_str(literal),
                TemplatePart::Slot { slot, text: said, .. } => {
                    let said = said.as_deref()?;
                    spans.push((slot.clone(), text.len()..text.len() + said.len()));
                    text.push_str(said);
                }
            }
        }
        Some((text, spans))
    }
}

/// Turns `bookFlight_now` into "Book flight now".
fn readable(name: &str) -> String {
    let words = name_words(name).join(" ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_spelt_out() {
        for (name, words) in [("bookFlight_now", "Book flight now"), ("FAQ_hours", "Faq hours"), ("a", "A"), ("__", "")]
        {
            assert_eq!(readable(name), words, "{name}");
        }
    }

    #[test]
    fn texts_are_joined_and_marks_set_apart() {
        let mut parts = vec![
            TemplatePart::Text("  to ".into()),
            TemplatePart::Text("\n <b> ".into()),
            TemplatePart::said("city", " Rome "),
            TemplatePart::Text("  ".into()),
        ];
        assert!(tidy(&mut parts));
        assert_eq!(template(&parts), "to < b> <city>");
        let mut parts = vec![
            TemplatePart::Text("to".into()),
            TemplatePart::said("city", " Rome "),
            TemplatePart::Text("now".into()),
        ];
        tidy(&mut parts);
        assert_eq!(template(&parts), "to <city> now");
    }

    proptest! {
        #[test]
        fn a_sentence_has_its_slots_where_its_spans_say(words in proptest::collection::vec("\\PC{0,8}", 0..8)) {
            let mut parts: Vec<TemplatePart> = words.iter().enumerate().map(|(index, word)| {
                if index % 2 == 0 { TemplatePart::Text(word.clone()) } else { TemplatePart::said("s", word.clone()) }
            }).collect();
            tidy(&mut parts);
            let example = Example { parts, ..Example::default() };
            if let Some((text, spans)) = example.spoken() {
                for (_, span) in spans {
                    prop_assert!(!text[span].trim().is_empty());
                }
            }
        }
    }
}
