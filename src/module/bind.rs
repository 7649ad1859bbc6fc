//! Decides which recognizers may find a slot's values.
//!
//! The author's choice comes first: `module.toml` alone decides if it names a recognizer, then `recognizers.json`.
//! Without either, all that apply are bound, in this order: the recognizer that `format` means; the defined recognizers
//! with the slot's name; those of its type (integer; number, money and percent; boolean); and for a text whose name or
//! description says so without doubt, date, time, date and time, duration, email, phone or URL. The choices of the
//! schema are always a recognizer too, `enum`, and make the guesses by name unnecessary.
//!
//! **By name** means: the words of the recognizer's name are the last words of the slot's path, where singular and
//! plural are the same: `city` finds `city`, `cities[]`, `departure_city` and `address.city`, and `DishName` finds
//! `dishes[].name`. The longest such name comes first. `city` does not find `location`: bind that in
//! `recognizers.json`.

use std::collections::HashMap;

use serde_json::Value;

use super::{
    Builtin, Instance, ListSpec, PathStep, Recognizer, RecognizerId, RecognizerKind, Slot, SlotKind, SlotReading,
    pattern::compile_of_schema, schema::type_names, squeeze,
};
use crate::{
    language::units::{Dimension, Unit},
    text::{
        name_words,
        names::{is_camel_case, singular},
    },
};

/// The recognizers of a module while its slots are bound: defined ones first, then implicit ones as they are needed.
pub(super) struct Binder {
    recognizers: Vec<Recognizer>,
    used: Vec<bool>,
    by_name: HashMap<String, RecognizerId>,
    by_squeezed: HashMap<String, RecognizerId>,
    /// By the singular words of a defined recognizer's name, joined; of two equal names the first counts.
    by_words: HashMap<String, RecognizerId>,
    builtins: HashMap<(Builtin, SlotReading), RecognizerId>,
    /// By their sorted choices.
    enums: HashMap<String, RecognizerId>,
}

impl Binder {
    pub(super) fn new(defined: Vec<Recognizer>) -> Self {
        let mut binder = Self {
            used: vec![false; defined.len()],
            by_name: HashMap::new(),
            by_squeezed: HashMap::new(),
            by_words: HashMap::new(),
            builtins: HashMap::new(),
            enums: HashMap::new(),
            recognizers: Vec::new(),
        };
        for (index, recognizer) in defined.iter().enumerate() {
            let id = RecognizerId::from_index(index);
            binder.by_name.insert(recognizer.name.clone(), id);
            binder.by_squeezed.entry(squeeze(&recognizer.name)).or_insert(id);
            let joined: String = name_words(&recognizer.name).iter().map(|word| singular(word)).collect();
            if !joined.is_empty() {
                binder.by_words.entry(joined).or_insert(id);
            }
        }
        binder.recognizers = defined;
        binder
    }

    /// The recognizer that an author means by `name`: a defined one with exactly this name, else one whose name differs
    /// only in case and separators, else a built-in one.
    pub(super) fn named(&mut self, name: &str) -> Option<RecognizerId> {
        let defined = self.by_name.get(name).or_else(|| self.by_squeezed.get(&squeeze(name))).copied();
        defined.or_else(|| Builtin::named(name).map(|builtin| self.builtin(builtin)))
    }

    /// True if [`Self::named`] finds one.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
            || self.by_squeezed.contains_key(&squeeze(name))
            || Builtin::named(name).is_some()
    }

    /// All names that [`Self::named`] knows, for hints.
    pub(super) fn names(&self) -> Vec<String> {
        let defined = self.by_name.keys().cloned();
        defined.chain(Builtin::ALL.iter().map(|builtin| builtin.name().to_owned())).collect()
    }

    /// Fills `slot.recognizers`. `said` holds the recognizers that the author bound to it, if any; `reading` is how the
    /// slot wants built-in ones to read.
    pub(super) fn bind(&mut self, slot: &mut Slot, said: &[RecognizerId], reading: SlotReading) {
        let mut bound: Vec<RecognizerId> = said.to_vec();
        let choices = self.choices(slot);
        let has_choices = choices.is_some();
        bound.extend(choices);
        if said.is_empty() {
            if has_choices {
                bound.extend(self.by_type(slot, &[Builtin::Integer, Builtin::Number, Builtin::Boolean]));
            } else {
                bound.extend(self.by_format(slot));
                bound.extend(self.by_label(slot));
                bound.extend(self.by_type(slot, allowed(reading)));
                if bound.is_empty() && slot.kind == SlotKind::String {
                    bound.extend(guess(slot).map(|builtin| self.builtin(builtin)));
                }
            }
        }
        if slot.kind == SlotKind::Boolean && !said.is_empty() {
            // The author's own phrases are added to yes and no.
            bound.push(self.builtin(Builtin::Boolean));
        }
        if slot.kind == SlotKind::Boolean {
            bound.iter().for_each(|id| self.make_boolean(*id));
        }
        let mut unique = Vec::with_capacity(bound.len());
        for id in bound {
            let id = self.read_as(id, reading);
            if !unique.contains(&id) {
                self.used[id.index()] = true;
                unique.push(id);
            }
        }
        slot.recognizers = unique;
    }

    /// All recognizers, and for each whether a slot uses it.
    pub(super) fn finish(self) -> (Vec<Recognizer>, Vec<bool>) {
        (self.recognizers, self.used)
    }

    fn add(&mut self, name: &str, kind: RecognizerKind) -> RecognizerId {
        let id = RecognizerId::from_index(self.recognizers.len());
        self.recognizers.push(Recognizer { name: name.to_owned(), kind, reading: SlotReading::default() });
        self.used.push(false);
        id
    }

    fn builtin(&mut self, builtin: Builtin) -> RecognizerId {
        self.builtin_read_as(builtin, SlotReading::default())
    }

    fn builtin_read_as(&mut self, builtin: Builtin, reading: SlotReading) -> RecognizerId {
        if let Some(&id) = self.builtins.get(&(builtin, reading)) {
            return id;
        }
        let id = self.add(builtin.name(), RecognizerKind::Builtin(builtin));
        self.recognizers[id.index()].reading = reading;
        self.builtins.insert((builtin, reading), id);
        id
    }

    /// Turns the labels `"true"` and `"false"` of a list into booleans, if it has no others.
    fn make_boolean(&mut self, id: RecognizerId) {
        let RecognizerKind::List(list) = &mut self.recognizers[id.index()].kind else { return };
        let read: Option<Vec<bool>> = list.instances.iter().map(|instance| truth(&instance.label)).collect();
        for (instance, label) in list.instances.iter_mut().zip(read.unwrap_or_default()) {
            instance.label = label.into();
        }
    }

    /// The recognizer that reads as the slot wants; recognizers that are not built in stay the same.
    fn read_as(&mut self, id: RecognizerId, reading: SlotReading) -> RecognizerId {
        match self.recognizers[id.index()].kind {
            RecognizerKind::Builtin(builtin) => self.builtin_read_as(builtin, reading.of(builtin)),
            RecognizerKind::List(_) | RecognizerKind::Pattern(_) => id,
        }
    }

    /// The recognizer of the schema's choices; equal choices share one.
    fn choices(&mut self, slot: &Slot) -> Option<RecognizerId> {
        let is_label = |choice: &&Value| match choice {
            Value::String(text) => !text.trim().is_empty(),
            Value::Number(_) => true,
            // The built-in recognizer knows more words for booleans.
            Value::Bool(_) => slot.kind != SlotKind::Boolean,
            _ => false,
        };
        let labels: Vec<&Value> = slot.choices.iter().filter(is_label).collect();
        if labels.is_empty() {
            return None;
        }
        let mut key: Vec<String> = labels.iter().map(ToString::to_string).collect();
        key.sort_unstable();
        let key = key.join("\n");
        if let Some(&id) = self.enums.get(&key) {
            return Some(id);
        }
        let instances = labels
            .into_iter()
            .map(|label| Instance {
                label: label.clone(),
                expressions: label.as_str().and_then(spelt_out).into_iter().collect(),
            })
            .collect();
        let id = self.add("enum", RecognizerKind::List(ListSpec { instances, fuzzy: true }));
        self.enums.insert(key, id);
        Some(id)
    }

    fn by_format(&mut self, slot: &Slot) -> Option<RecognizerId> {
        let format = slot.schema.get("format")?.as_str()?;
        let builtin = match squeeze(format).as_str() {
            "date" | "fulldate" => Builtin::Date,
            "time" | "partialtime" | "fulltime" => Builtin::Time,
            "datetime" | "timestamp" => Builtin::DateTime,
            "duration" => Builtin::Duration,
            "email" | "idnemail" => Builtin::Email,
            "uri" | "url" | "iri" | "urireference" | "irireference" => Builtin::Url,
            "phone" | "tel" | "telephone" | "phonenumber" | "e164" => Builtin::Phone,
            "percent" | "percentage" => Builtin::Percent,
            "money" | "currency" if slot.kind != SlotKind::String => Builtin::Money,
            _ => return None,
        };
        let of_numbers = matches!(builtin, Builtin::Percent | Builtin::Money);
        let fits = match slot.kind {
            SlotKind::String => !of_numbers,
            SlotKind::Integer | SlotKind::Number => of_numbers,
            SlotKind::Boolean => false,
            SlotKind::Any => true,
        };
        fits.then(|| self.builtin(builtin))
    }

    /// Defined recognizers whose name matches the end of the slot's path, the longest first.
    fn by_label(&self, slot: &Slot) -> Vec<RecognizerId> {
        if self.by_words.is_empty() {
            return Vec::new();
        }
        let path: Vec<String> = slot
            .path
            .0
            .iter()
            .filter_map(|step| match step {
                PathStep::Key(key) => Some(name_words(key)),
                PathStep::Each => None,
            })
            .flatten()
            .map(|word| singular(&word).into_owned())
            .collect();
        // Longer names are sentences.
        let from = path.len().saturating_sub(6);
        (from..path.len())
            .filter_map(|start| self.by_words.get(&path[start..].concat()).copied())
            .filter(|id| self.fits(*id, slot.kind))
            .collect()
    }

    /// True if the recognizer can give a value of this kind.
    fn fits(&self, id: RecognizerId, kind: SlotKind) -> bool {
        match (&self.recognizers[id.index()].kind, kind) {
            (_, SlotKind::Any) => true,
            (RecognizerKind::List(list), SlotKind::String) => {
                list.instances.iter().any(|instance| instance.label.is_string())
            }
            (RecognizerKind::List(list), SlotKind::Integer | SlotKind::Number) => {
                list.instances.iter().any(|instance| instance.label.is_number())
            }
            (RecognizerKind::List(list), SlotKind::Boolean) => {
                list.instances.iter().all(|instance| truth(&instance.label).is_some())
            }
            (RecognizerKind::Pattern(_), SlotKind::String | SlotKind::Integer | SlotKind::Number) => true,
            (RecognizerKind::Builtin(_), _) => true,
            (RecognizerKind::Pattern(_), SlotKind::Boolean) => false,
        }
    }

    fn by_type(&mut self, slot: &Slot, allowed: &[Builtin]) -> Vec<RecognizerId> {
        let mut builtins: Vec<Builtin> = Vec::new();
        match slot.kind {
            SlotKind::Integer => builtins.push(Builtin::Integer),
            SlotKind::Number => builtins.extend([Builtin::Number, Builtin::Money, Builtin::Percent]),
            SlotKind::Boolean => builtins.push(Builtin::Boolean),
            SlotKind::String => {}
            // A value of several types is looked for as each of them.
            SlotKind::Any => {
                for name in type_names(slot.schema.get("type")) {
                    builtins.extend(match name {
                        "integer" => Some(Builtin::Integer),
                        "number" => Some(Builtin::Number),
                        "boolean" => Some(Builtin::Boolean),
                        _ => None,
                    });
                }
            }
        }
        builtins.retain(|builtin| allowed.contains(builtin));
        builtins.into_iter().map(|builtin| self.builtin(builtin)).collect()
    }
}

/// The built-in recognizers that a slot's type allows. A measured quantity is neither a sum nor a share.
fn allowed(reading: SlotReading) -> &'static [Builtin] {
    match reading.unit.map(Unit::dimension) {
        None | Some(Dimension::Money) => &Builtin::ALL,
        Some(_) => &[Builtin::Integer, Builtin::Number, Builtin::Boolean],
    }
}

/// The boolean that a label is or names.
fn truth(label: &Value) -> Option<bool> {
    label.as_bool().or_else(|| match label.as_str()? {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    })
}

/// What the name or the description of a text says without doubt; `None` if the schema's own `pattern` would refuse the
/// recognizer's values.
fn guess(slot: &Slot) -> Option<Builtin> {
    let builtin = guess_by_name(slot.label()).or_else(|| guess_by_description(&slot.description))?;
    let Some(sample) = builtin.sample() else { return Some(builtin) };
    let fits = match slot.schema.get("pattern").and_then(Value::as_str) {
        Some(pattern) => compile_of_schema(pattern, usize::MAX).is_ok_and(|pattern| pattern.is_match(sample)),
        None => true,
    };
    fits.then_some(builtin)
}

fn guess_by_name(label: &str) -> Option<Builtin> {
    let words = name_words(label);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["date", "of", ..] => Some(Builtin::Date),
        [.., "date", "time"] | [.., "datetime" | "timestamp"] => Some(Builtin::DateTime),
        [.., "date" | "dates" | "birthday" | "dob"] => Some(Builtin::Date),
        [.., "time"] => Some(Builtin::Time),
        [.., "duration"] => Some(Builtin::Duration),
        [.., "email" | "emails"] | [.., "email", "address"] | [.., "e", "mail"] => Some(Builtin::Email),
        [.., "phone" | "telephone" | "phones" | "tel" | "fax"] => Some(Builtin::Phone),
        [.., "phone" | "telephone" | "mobile", "number"] => Some(Builtin::Phone),
        [.., "url" | "urls" | "uri" | "website" | "homepage"] => Some(Builtin::Url),
        _ => None,
    }
}

fn guess_by_description(description: &str) -> Option<Builtin> {
    let text = description.to_ascii_lowercase();
    let (day, clock) = (text.contains("yyyy-mm-dd"), text.contains("hh:mm"));
    match (day, clock) {
        (true, true) => return Some(Builtin::DateTime),
        (true, false) => return Some(Builtin::Date),
        (false, true) => return Some(Builtin::Time),
        (false, false) => {}
    }
    let text = text.trim_start_matches("the ").trim_start_matches("an ").trim_start_matches("a ");
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| text.starts_with(prefix));
    if text.contains("iso 8601 duration") {
        Some(Builtin::Duration)
    } else if ["iso 8601", "iso-8601", "iso8601", "rfc 3339", "rfc3339"].iter().any(|name| text.contains(name)) {
        // A moment, unless nothing but a day is asked for.
        let is_moment = ["time", "moment", "instant"].iter().any(|word| text.contains(word));
        Some(if text.contains("date") && !is_moment { Builtin::Date } else { Builtin::DateTime })
    } else if starts(&["email address", "e-mail address", "email of"]) {
        Some(Builtin::Email)
    } else if starts(&["phone number", "telephone number"]) {
        Some(Builtin::Phone)
    } else if starts(&["url of", "url to", "website of"]) {
        Some(Builtin::Url)
    } else {
        None
    }
}

/// `PepperoniPizza` as people say it: `pepperoni pizza`. `None` if the label has only one word.
fn spelt_out(label: &str) -> Option<String> {
    let is_camel = label.chars().all(char::is_alphabetic) && is_camel_case(label);
    let words = name_words(label);
    (is_camel && words.iter().all(|word| word.chars().count() > 1)).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::module::{Limits, findings::Findings, slots};

    fn defined(names: &[&str]) -> Vec<Recognizer> {
        let instances = vec![Instance { label: json!("x"), expressions: vec![] }];
        let kind = RecognizerKind::List(ListSpec { instances, fuzzy: false });
        let recognizer =
            |name: &&str| Recognizer { name: (*name).to_owned(), kind: kind.clone(), reading: SlotReading::default() };
        names.iter().map(recognizer).collect()
    }

    /// Binds the properties; returns `path: recognizers`.
    fn bound(names: &[&str], properties: &Value) -> Vec<String> {
        let parameters = json!({"type": "object", "properties": properties});
        let mut slots = slots::flatten(&parameters, "", ("f", ""), &Limits::default(), &mut Findings::new());
        let mut binder = Binder::new(defined(names));
        slots.iter_mut().for_each(|slot| binder.bind(slot, &[], SlotReading::default()));
        let (recognizers, _) = binder.finish();
        slots
            .iter()
            .map(|slot| {
                let names: Vec<&str> =
                    slot.recognizers.iter().map(|id| recognizers[id.index()].name.as_str()).collect();
                format!("{}: {}", slot.path, names.join(" "))
            })
            .collect()
    }

    #[test]
    fn names_bind_by_their_last_words() {
        let text = json!({"type": "string"});
        let names = ["city", "DishName", "Topping", "size", "Name"];
        let properties = json!({
            "city": text, "departureCity": text, "cities": {"type": "array", "items": text}, "location": text, "capacity": text,
            "dishes": {"type": "array", "items": {"type": "object", "properties": {"name": text}}},
            "toppings": text, "size": {"type": "boolean"}
        });
        assert_eq!(
            bound(&names, &properties),
            [
                "city: city",
                "departureCity: city",
                "cities[]: city",
                "location: ",
                "capacity: ",
                "dishes[].name: DishName Name",
                "toppings: Topping",
                "size: boolean"
            ]
        );
    }

    #[test]
    fn schemas_bind_by_choices_format_and_type() {
        let properties = json!({
            "unit": {"enum": ["celsius", "fahrenheit"]}, "unit2": {"type": "string", "enum": ["fahrenheit", "celsius"]},
            "level": {"type": "integer", "enum": [1, 2]}, "on": {"type": "boolean", "enum": [true, false]},
            "day": {"type": "string", "format": "date"}, "n": {"type": "integer"}, "x": {"type": "number"},
            "start_date": {"type": "string"}, "update": {"type": "string"}, "contactEmail": {"type": "string"},
            "us_date": {"type": "string", "pattern": "^\\d{2}/\\d{2}/\\d{4}$"}, "note": {"type": "string"},
            "begin": {"type": "string", "description": "Start as YYYY-MM-DD"},
            "until": {"type": "string", "description": "End of the event (ISO 8601 timestamp)"},
            "when": {"type": "string", "description": "RFC3339 moment"},
            "due": {"type": "string", "description": "The due date, ISO 8601"}
        });
        assert_eq!(
            bound(&[], &properties),
            [
                "unit: enum",
                "unit2: enum",
                "level: enum integer",
                "on: boolean",
                "day: date",
                "n: integer",
                "x: number money percent",
                "start_date: date",
                "update: ",
                "contactEmail: email",
                "us_date: ",
                "note: ",
                "begin: date",
                "until: datetime",
                "when: datetime",
                "due: date"
            ]
        );
    }

    #[test]
    fn equal_choices_share_a_recognizer() {
        let mut binder = Binder::new(Vec::new());
        let parameters = json!({"type": "object", "properties": {
            "a": {"enum": ["x", "PepperoniPizza"]}, "b": {"enum": ["PepperoniPizza", "x"]}}});
        let mut slots = slots::flatten(&parameters, "", ("f", ""), &Limits::default(), &mut Findings::new());
        slots.iter_mut().for_each(|slot| binder.bind(slot, &[], SlotReading::default()));
        assert_eq!(slots[0].recognizers, slots[1].recognizers);
        let RecognizerKind::List(list) = &binder.recognizers[0].kind else { panic!("a list") };
        assert_eq!(list.instances[1].expressions, ["pepperoni pizza"]);
    }
}
