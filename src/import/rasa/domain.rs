//! The domain: entities, slots with their mappings, forms, and the responses that ask for a slot.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::{
    project::{Entity, Function, Place, ProjectSlot},
    reader::{ProjectReader, scalar, text},
};
use crate::module::{Builtin, squeeze};

#[derive(Debug, Default)]
pub(super) struct Domain {
    /// Declared entities.
    pub(super) entities: Vec<(String, Place)>,
    slots: Vec<DomainSlot>,
    forms: Vec<RasaForm>,
    /// Pairs of action and intent, where the action follows the intent in a rule or story.
    begun: Vec<(String, String)>,
    /// The first text by slot, or by form and slot.
    questions: BTreeMap<String, String>,
}

/// Entity, role, and the intents that it is limited to.
type Mapping = (String, Option<String>, Vec<String>);

/// The mapping of a slot from an entity; `None` for other kinds.
fn mapping(mapping: &Value) -> Option<Mapping> {
    let entity = text(mapping, "entity");
    let intents = match mapping.get("intent") {
        Some(Value::Array(names)) => names.iter().filter_map(scalar).collect(),
        Some(one) => scalar(one).into_iter().collect(),
        None => Vec::new(),
    };
    let is_entity = text(mapping, "type") == "from_entity" && !entity.is_empty();
    is_entity.then(|| (entity.to_owned(), mapping.get("role").and_then(scalar), intents))
}

#[derive(Debug)]
struct DomainSlot {
    name: String,
    kind: String,
    values: Vec<String>,
    from: Vec<Mapping>,
    /// What a person says may fill it: not only an intent or an action.
    is_said: bool,
    place: Place,
}

#[derive(Debug)]
struct RasaForm {
    name: String,
    required: Vec<String>,
    place: Place,
}

impl Domain {
    pub(super) fn read(&mut self, document: &Value, root: &Place, reader: &mut ProjectReader) {
        self.declared(document, root, reader);
        self.read_slots(document, root, reader);
        self.read_forms(document, root, reader);
        self.responses(document, root, reader);
        for (key, why) in [
            ("actions", "actions run elsewhere: a module says what was meant, not what is done"),
            ("session_config", "conversations are not part of a module"),
            ("policies", "how a dialogue goes on is not part of a module"),
        ] {
            if document.get(key).is_some_and(|value| !value.is_null()) {
                reader.dropped(&root.key(key), key, why);
            }
        }
        if document.get("pipeline").is_some() {
            reader.dropped(&root.key("pipeline"), "pipeline", "Uptake finds functions and slots in its own way");
        }
    }

    fn declared(&mut self, document: &Value, root: &Place, reader: &mut ProjectReader) {
        let at = root.key("entities");
        for (index, entity) in reader.list(document, "entities", root).iter().enumerate() {
            let place = at.index(index);
            // `- city`, or `- city: {roles: [from, to]}`.
            let name = scalar(entity).or_else(|| entity.as_object()?.keys().next().cloned());
            match name {
                Some(name) if !self.entities.iter().any(|(known, _)| *known == name) => {
                    self.entities.push((name, place));
                }
                Some(_) => {}
                None => reader.fault(&place, "bad-member", "an entity is a name", ""),
            }
        }
        let at = root.key("intents");
        for (index, intent) in reader.list(document, "intents", root).iter().enumerate() {
            if intent.is_object() {
                let why = "which entities an intent uses is read from its examples";
                reader.dropped(&at.index(index), "settings of an intent", why);
            }
        }
    }

    fn read_slots(&mut self, document: &Value, root: &Place, reader: &mut ProjectReader) {
        let at = root.key("slots");
        let Some(slots) = reader.object(document, "slots", root) else { return };
        for (name, slot) in slots {
            let place = at.key(name);
            let mut from = Vec::new();
            let mut is_said = slot.get("mappings").and_then(Value::as_array).is_none_or(Vec::is_empty);
            for mapping in slot.get("mappings").and_then(Value::as_array).into_iter().flatten() {
                let kind = text(mapping, "type");
                is_said |= matches!(kind, "from_entity" | "from_text" | "");
                match kind {
                    "from_entity" => from.extend(self::mapping(mapping)),
                    "from_text" => {}
                    kind => {
                        let what = format!("mapping `{kind}` of slot `{name}`");
                        reader.dropped(&place, what, "a slot takes what is said for it");
                    }
                }
            }
            if slot.get("initial_value").is_some_and(|value| !value.is_null()) {
                let what = format!("initial value of slot `{name}`");
                reader.dropped(&place, what, "values come from what is said");
            }
            let values = slot.get("values").and_then(Value::as_array).into_iter().flatten().filter_map(scalar);
            let kind = text(slot, "type").to_owned();
            self.slots.push(DomainSlot { name: name.clone(), kind, values: values.collect(), from, is_said, place });
        }
    }

    fn read_forms(&mut self, document: &Value, root: &Place, reader: &mut ProjectReader) {
        let at = root.key("forms");
        // Older projects only list the names of forms: their questions are in code.
        if let Some(names) = document.get("forms").and_then(Value::as_array) {
            for (index, name) in names.iter().enumerate() {
                let place = at.index(index);
                match (scalar(name), name.as_object().and_then(|form| form.iter().next())) {
                    (Some(name), _) => {
                        let why = "what it asks for is not written in the project: its slots are those of the examples";
                        reader.changed(&place, format!("form `{name}`"), why);
                        self.forms.push(RasaForm { name, required: Vec::new(), place });
                    }
                    (None, Some((name, form))) => self.form(name, form, place, reader),
                    (None, None) => reader.fault(&place, "bad-member", "a form is a name", ""),
                }
            }
            return;
        }
        let Some(forms) = reader.object(document, "forms", root) else { return };
        for (name, form) in forms {
            self.form(name, form, at.key(name), reader);
        }
    }

    fn form(&mut self, name: &str, form: &Value, place: Place, reader: &mut ProjectReader) {
        let required = match form.get("required_slots") {
            Some(Value::Array(names)) => names.iter().filter_map(scalar).collect(),
            Some(Value::Object(slots)) => self.mapped_slots(slots, &place.key("required_slots")),
            _ => form.as_object().map(|slots| self.mapped_slots(slots, &place)).unwrap_or_default(),
        };
        if form.get("ignored_intents").is_some() {
            reader.dropped(&place.key("ignored_intents"), "ignored intents", "a turn is understood by itself");
        }
        self.forms.push(RasaForm { name: name.to_owned(), required, place });
    }

    /// The slots of a Rasa 2 form, which contains their mappings.
    fn mapped_slots(&mut self, slots: &Map<String, Value>, place: &Place) -> Vec<String> {
        let mut required = Vec::new();
        for (name, mappings) in slots.iter().filter(|(_, mappings)| mappings.is_array() || mappings.is_null()) {
            if name == "ignored_intents" {
                continue;
            }
            required.push(name.clone());
            let from: Vec<Mapping> = mappings.as_array().into_iter().flatten().filter_map(mapping).collect();
            match self.slots.iter_mut().find(|slot| slot.name == *name) {
                Some(slot) if slot.from.is_empty() => slot.from = from,
                Some(_) => {}
                None => self.slots.push(DomainSlot {
                    name: name.clone(),
                    kind: String::new(),
                    values: Vec::new(),
                    from,
                    is_said: true,
                    place: place.key(name),
                }),
            }
        }
        required
    }

    fn responses(&mut self, document: &Value, root: &Place, reader: &mut ProjectReader) {
        let at = root.key("responses");
        let Some(responses) = reader.object(document, "responses", root) else { return };
        let mut others = 0;
        for (name, variations) in responses {
            let place = at.key(name);
            let Some(slot) = name.strip_prefix("utter_ask_") else {
                others += 1;
                continue;
            };
            let texts: Vec<&str> = variations
                .as_array()
                .into_iter()
                .flatten()
                .map(|variation| text(variation, "text"))
                .filter(|text| !text.is_empty())
                .collect();
            match texts.first() {
                Some(question) if !question.contains('{') => {
                    let words: Vec<&str> = question.split_whitespace().collect();
                    self.questions.insert(slot.to_owned(), words.join(" "));
                }
                Some(_) => reader.dropped(&place, format!("question `{name}`"), "a question here has no placeholders"),
                None => reader.dropped(&place, format!("question `{name}`"), "it has no text"),
            }
            if texts.len() > 1 {
                let what = format!("{} more ways to ask `{slot}`", texts.len() - 1);
                reader.dropped(&place, what, "a slot has one question, the first");
            }
        }
        if others > 0 {
            reader.dropped(&at, format!("{others} other responses"), "a module asks for slots; it says nothing else");
        }
    }

    /// Records that an action, which may be a form, follows the intent in a rule or story.
    pub(super) fn begin(&mut self, action: &str, intent: &str) {
        self.begun.push((action.to_owned(), intent.to_owned()));
    }

    /// Whether the domain has a form of this name.
    pub(super) fn is_form(&self, name: &str) -> bool {
        self.forms.iter().any(|form| form.name == name)
    }

    /// The entities that slots are filled from.
    pub(super) fn mapped(&self) -> impl Iterator<Item = (&str, &Place)> {
        self.slots.iter().flat_map(|slot| slot.from.iter().map(|(entity, _, _)| (entity.as_str(), &slot.place)))
    }

    fn is_begun(&self, form: &RasaForm) -> bool {
        self.begun.iter().any(|(action, _)| *action == form.name)
    }

    /// The forms that the intent begins; a form that no intent begins belongs to the intent with its name.
    fn forms_of(&self, intent: &str) -> impl Iterator<Item = &RasaForm> {
        self.forms.iter().filter(move |form| {
            let base = squeeze(form.name.trim_end_matches("_form").trim_start_matches("form_"));
            let is_begun = self.begun.iter().any(|(action, name)| *action == form.name && name == intent);
            is_begun || (!self.is_begun(form) && base == squeeze(intent))
        })
    }

    /// Adds the slots of the intent's forms, as required ones.
    pub(super) fn form_slots(&self, function: &mut Function) {
        let forms: Vec<&RasaForm> = self.forms_of(&function.name).collect();
        for form in forms {
            for name in &form.required {
                let question =
                    self.questions.get(&format!("{}_{name}", form.name)).or_else(|| self.questions.get(name));
                let declared = self.slots.iter().find(|slot| slot.name == *name);
                if function.slot(name).is_some() {
                    continue;
                }
                function.slots.push(ProjectSlot {
                    name: name.clone(),
                    entity: declared.and_then(DomainSlot::entity),
                    required: declared.is_none_or(|slot| slot.is_said),
                    repeated: declared.is_some_and(|slot| slot.kind == "list"),
                    question: question.cloned(),
                    place: form.place.key("required_slots"),
                    ..ProjectSlot::default()
                });
            }
        }
    }

    /// The slot that the domain fills from an entity with this role, and for this intent if the mapping is limited.
    pub(super) fn slot_of(&self, entity: &str, role: Option<&str>, intent: &str) -> Option<String> {
        let mut fitting = self.slots.iter().filter(|slot| {
            slot.from.iter().any(|(name, wanted, intents)| {
                name == entity
                    && wanted.as_deref() == role
                    && (intents.is_empty() || intents.iter().any(|known| known == intent))
            })
        });
        let first = fitting.next()?;
        // Two slots filled from one entity are ambiguous, unless one has the entity's name.
        match fitting.next() {
            None => Some(first.name.clone()),
            Some(_) => None,
        }
    }

    /// Entities that slots define themselves.
    pub(super) fn own_entities(&self) -> Vec<Entity> {
        self.slots.iter().filter_map(DomainSlot::own_entity).collect()
    }

    pub(super) fn tell(&self, reader: &mut ProjectReader) {
        for form in self.forms.iter().filter(|form| !self.is_begun(form)) {
            let why =
                "no rule or story goes from an intent to it; a form named like an intent is taken as that intent's";
            reader.changed(&form.place, format!("form `{}`", form.name), why);
        }
    }
}

impl DomainSlot {
    /// The entity of its values: an annotated one, or else its own.
    fn entity(&self) -> Option<String> {
        let annotated = self.from.first().map(|(entity, _, _)| entity.clone());
        annotated.or_else(|| self.own_entity().map(|entity| entity.name))
    }

    fn own_entity(&self) -> Option<Entity> {
        if !self.from.is_empty() {
            return None;
        }
        let mut entity = Entity { name: format!("{}_slot", self.name), place: self.place.clone(), ..Entity::default() };
        match self.kind.as_str() {
            "bool" => entity.builtins = vec![Builtin::Boolean],
            "float" => entity.builtins = vec![Builtin::Number],
            "categorical" if !self.values.is_empty() => {
                entity.closed = true;
                for value in &self.values {
                    entity.add(value, "");
                }
            }
            _ => return None,
        }
        Some(entity)
    }
}
