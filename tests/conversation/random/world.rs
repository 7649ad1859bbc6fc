//! A random module: its functions, their slots, and the words for their values.

use std::fs;

use fastrand::Rng;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::words::{COLORS, ITEMS, MATERIALS, MONTHS, STYLES, TOPPINGS, TOWNS, WISHES, number_word};

/// A value and its other names.
pub(super) type Entry = (&'static str, &'static [&'static str]);

#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// With the name of its recognizer.
    List(&'static str, &'static [Entry]),
    Integer(i64, i64),
    Date,
    Boolean,
    Choice(&'static [&'static str]),
}

#[derive(Debug, Clone)]
pub(super) struct Slot {
    /// `size`, `details.size`, `toppings[]`, `items[].quantity`.
    pub(super) path: String,
    pub(super) label: &'static str,
    pub(super) kind: Kind,
    /// Within an array: required per item.
    pub(super) required: bool,
}

#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: &'static str,
    /// "order shoes"
    pub(super) wish: &'static str,
    pub(super) confirm: bool,
    /// `start_date` before `end_date`.
    pub(super) ordered: bool,
    pub(super) slots: Vec<Slot>,
    pub(super) parameters: Value,
}

pub(super) struct World {
    pub(super) functions: Vec<Function>,
    /// Holds the module `random`.
    pub(super) root: TempDir,
}

/// A value in the words of a person.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spoken {
    pub(super) value: Value,
    pub(super) words: String,
}

impl World {
    pub(super) fn new(rng: &mut Rng) -> Self {
        let mut wishes = WISHES.to_vec();
        rng.shuffle(&mut wishes);
        let functions: Vec<Function> =
            wishes.into_iter().take(rng.usize(1..=4)).map(|(name, wish)| Function::new(name, wish, rng)).collect();
        let root = tempfile::tempdir().expect("a directory");
        let world = Self { functions, root };
        world.write(rng);
        world
    }

    pub(super) fn function(&self, name: &str) -> &Function {
        self.functions.iter().find(|function| function.name == name).expect("a function of this module")
    }

    fn write(&self, rng: &mut Rng) {
        let directory = self.root.path().join("random");
        fs::create_dir(&directory).expect("an empty directory");
        let schema = self.functions.iter().map(Function::schema).collect();
        let exemplars: Map<String, Value> =
            self.functions.iter().map(|function| (function.name.to_owned(), function.exemplars(rng))).collect();
        let files = [
            ("schema.json", Value::Array(schema).to_string()),
            ("exemplars.json", Value::Object(exemplars).to_string()),
            ("recognizers.json", self.recognizers().to_string()),
            ("module.toml", self.settings()),
        ];
        for (name, text) in files {
            fs::write(directory.join(name), text).expect("a file of the module");
        }
    }

    fn recognizers(&self) -> Value {
        let (mut recognizers, mut slots) = (Map::new(), Map::new());
        for slot in self.functions.iter().flat_map(|function| &function.slots) {
            if let Kind::List(name, entries) = slot.kind {
                let instances: Vec<Value> =
                    entries.iter().map(|(label, others)| json!({"label": label, "expressions": others})).collect();
                recognizers.insert(name.to_owned(), json!({"rec_type": "list", "instances": instances}));
                slots.insert(slot.path.clone(), name.into());
            }
        }
        json!({"recognizers": recognizers, "slots": slots})
    }

    fn settings(&self) -> String {
        let mut text = "language = \"en\"\n".to_owned();
        for function in &self.functions {
            text += &format!("[functions.{}]\nconfirm = {}\n", function.name, function.confirm);
            if function.ordered {
                text += &format!("[[functions.{}.rules]]\ncheck = \"start_date < end_date\"\n", function.name);
            }
        }
        text
    }
}

impl Function {
    fn new(name: &'static str, wish: &'static str, rng: &mut Rng) -> Self {
        let mut slots = plain_slots(rng);
        let ordered = ["start_date", "end_date"].iter().all(|date| slots.iter().any(|slot| slot.path == *date));
        if rng.u8(..100) < 40 {
            let required = rng.bool();
            slots.push(Slot {
                path: "toppings[]".to_owned(),
                label: "toppings",
                kind: Kind::List("topping", TOPPINGS),
                required,
            });
        }
        if rng.u8(..100) < 40 {
            slots.extend(item_slots(rng));
        }
        if !slots.iter().any(|slot| slot.required) {
            slots[0].required = true;
        }
        let parameters = parameters(&slots);
        Self { name, wish, confirm: rng.u8(..100) < 35, ordered: ordered && rng.bool(), slots, parameters }
    }

    fn schema(&self) -> Value {
        json!({"name": self.name, "description": self.wish, "parameters": self.parameters})
    }

    pub(super) fn slot(&self, path: &str) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.path == path)
    }

    /// The wish alone and with some slots, and the slots alone.
    fn exemplars(&self, rng: &mut Rng) -> Value {
        let wish = self.wish;
        let mut templates = vec![format!("I want to {wish}"), format!("can you {wish}"), format!("{wish} please")];
        for _ in 0..4 {
            let mut some: Vec<&Slot> = self.slots.iter().filter(|slot| !matches!(slot.kind, Kind::Boolean)).collect();
            rng.shuffle(&mut some);
            some.truncate(rng.usize(1..=3));
            let parts: Vec<String> = some.iter().map(|slot| slot.told(&format!("<{}>", slot.label))).collect();
            templates.push(format!("{wish} with {}", parts.join(" and ")));
            templates.push(format!("I want to {wish}, {}", parts.join(", ")));
        }
        templates.sort();
        templates.dedup();
        templates.into()
    }
}

impl Slot {
    /// "size 9", "red": as part of a longer sentence.
    pub(super) fn told(&self, value: &str) -> String {
        match self.kind {
            Kind::List(..) | Kind::Choice(_) => value.to_owned(),
            Kind::Integer(..) | Kind::Date | Kind::Boolean => format!("{} {value}", self.words()),
        }
    }

    /// Its label in words.
    pub(super) fn words(&self) -> String {
        self.label.replace('_', " ")
    }

    pub(super) fn any_value(&self, rng: &mut Rng) -> Spoken {
        match self.kind {
            Kind::List(_, entries) => {
                let (label, others) = entries[rng.usize(..entries.len())];
                let words = if rng.u8(..3) == 0 { others.first().copied().unwrap_or(label) } else { label };
                Spoken { value: label.into(), words: words.to_owned() }
            }
            Kind::Integer(least, most) => spoken_number(rng.i64(least..=most), rng),
            Kind::Date => date(rng, 4..=11),
            Kind::Boolean => {
                let value = rng.bool();
                Spoken { value: value.into(), words: if value { "yes" } else { "no" }.to_owned() }
            }
            Kind::Choice(choices) => {
                let choice = choices[rng.usize(..choices.len())];
                Spoken { value: choice.into(), words: choice.to_owned() }
            }
        }
    }

    /// A value that the schema refuses, if there is one that a person could say.
    pub(super) fn wrong_value(&self, rng: &mut Rng) -> Option<Spoken> {
        match self.kind {
            Kind::Integer(_, most) => Some(spoken_number(most + rng.i64(1..=60), rng)),
            Kind::List(..) | Kind::Date | Kind::Boolean | Kind::Choice(_) => None,
        }
    }
}

pub(super) fn date(rng: &mut Rng, months: std::ops::RangeInclusive<u8>) -> Spoken {
    let (month, day) = (rng.u8(months), rng.u8(1..=28));
    let value = format!("2026-{month:02}-{day:02}");
    let words = if rng.bool() { format!("{} {day}", MONTHS[usize::from(month) - 1]) } else { value.clone() };
    Spoken { value: value.into(), words }
}

fn spoken_number(number: i64, rng: &mut Rng) -> Spoken {
    let word = number_word(number).filter(|_| rng.u8(..3) == 0);
    Spoken { value: number.into(), words: word.map_or_else(|| number.to_string(), str::to_owned) }
}

fn plain_slots(rng: &mut Rng) -> Vec<Slot> {
    let mut all = [
        ("color", Kind::List("color", COLORS)),
        ("style", Kind::List("style", STYLES)),
        ("material", Kind::List("material", MATERIALS)),
        ("town", Kind::List("town", TOWNS)),
        ("size", Kind::Integer(1, 20)),
        ("nights", Kind::Integer(1, 30)),
        ("floor", Kind::Integer(1, 9)),
        ("start_date", Kind::Date),
        ("end_date", Kind::Date),
        ("insurance", Kind::Boolean),
        ("speed", Kind::Choice(&["slow", "regular", "express"])),
        ("level", Kind::Choice(&["basic", "premium"])),
    ];
    rng.shuffle(&mut all);
    let count = rng.usize(1..=6);
    let nests = rng.u8(..100) < 35;
    all.into_iter()
        .take(count)
        .map(|(label, kind)| {
            let is_nested = nests && !matches!(kind, Kind::Date) && rng.bool();
            let path = if is_nested { format!("details.{label}") } else { label.to_owned() };
            Slot { path, label, kind, required: rng.u8(..100) < 65 }
        })
        .collect()
}

fn item_slots(rng: &mut Rng) -> Vec<Slot> {
    let slot = |path: &str, label: &'static str, kind: Kind, required: bool| Slot {
        path: path.to_owned(),
        label,
        kind,
        required,
    };
    let mut slots = vec![
        slot("items[].name", "name", Kind::List("item", ITEMS), true),
        slot("items[].quantity", "quantity", Kind::Integer(1, 9), rng.bool()),
    ];
    if rng.bool() {
        slots.push(slot("items[].finish", "finish", Kind::Choice(&["glossy", "matte"]), rng.bool()));
    }
    slots
}

/// The JSON Schema whose leaves are the slots.
fn parameters(slots: &[Slot]) -> Value {
    let mut root = object();
    for slot in slots {
        let leaf = leaf(slot);
        if let Some(label) = slot.path.strip_prefix("details.") {
            insert(&mut root, "details", object(), slot.required);
            insert(&mut root["properties"]["details"], label, leaf, slot.required);
        } else if let Some(label) = slot.path.strip_prefix("items[].") {
            insert(
                &mut root,
                "items",
                json!({"type": "array", "minItems": 1, "items": object()}),
                slot.label == "name",
            );
            insert(&mut root["properties"]["items"]["items"], label, leaf, slot.required);
        } else if let Some(label) = slot.path.strip_suffix("[]") {
            insert(&mut root, label, json!({"type": "array", "minItems": 1, "items": leaf}), slot.required);
        } else {
            insert(&mut root, &slot.path, leaf, slot.required);
        }
    }
    root
}

fn object() -> Value {
    json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false})
}

/// Adds a member unless it exists; a member that is ever required stays required.
fn insert(object: &mut Value, name: &str, of: Value, required: bool) {
    let members = object["properties"].as_object_mut().expect("an object's schema");
    members.entry(name.to_owned()).or_insert(of);
    let names = object["required"].as_array_mut().expect("a list");
    if required && !names.iter().any(|known| known == name) {
        names.push(name.into());
    }
}

fn leaf(slot: &Slot) -> Value {
    let description = slot.words();
    match slot.kind {
        Kind::List(..) => json!({"type": "string", "description": description}),
        Kind::Integer(least, most) => {
            json!({"type": "integer", "minimum": least, "maximum": most, "description": description})
        }
        Kind::Date => json!({"type": "string", "format": "date", "description": description}),
        Kind::Boolean => json!({"type": "boolean", "description": description}),
        Kind::Choice(choices) => json!({"type": "string", "enum": choices, "description": description}),
    }
}
