//! The modules that people talk to: acting and reading functions, in each language.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::language::{FunctionWords, PersonValue, SlotWords, Words, filled};
use crate::support::Service;

/// Modules for each language.
pub(super) const VARIANTS: u64 = 6;

/// A function: its name, whether it acts, and its slots, where a question mark means optional.
const FUNCTIONS: [(&str, bool, &[&str]); 9] = [
    ("transfer_money", true, &["amount", "recipient"]),
    ("order_item", true, &["item", "quantity", "customer"]),
    ("cancel_booking", true, &["booking"]),
    ("return_order", true, &["code", "reason", "refund?"]),
    ("book_visit", true, &["city", "date", "people"]),
    ("get_weather", false, &["city"]),
    ("find_shop", false, &["city"]),
    ("get_balance", false, &["account"]),
    ("track_parcel", false, &["code"]),
];

pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) acts: bool,
    pub(super) confirm: bool,
    /// Each with whether it is required.
    pub(super) slots: Vec<(&'static str, bool)>,
}

/// A module in one language.
pub(super) struct Domain<'w> {
    pub(super) module: String,
    pub(super) words: &'w Words,
    pub(super) functions: Vec<Function>,
    /// The service makes the calls itself.
    pub(super) is_acting: bool,
}

impl<'w> Domain<'w> {
    pub(super) fn new(words: &'w Words, variant: u64) -> Self {
        let mut rng = Rng::with_seed(variant);
        let functions = FUNCTIONS
            .into_iter()
            .map(|(name, acts, slots)| Function {
                name,
                acts,
                confirm: acts && rng.u8(..100) < 50,
                slots: slots.iter().map(|slot| (slot.trim_end_matches('?'), !slot.ends_with('?'))).collect(),
            })
            .collect();
        let module = format!("talk_{}_{variant}", words.tag);
        Self { module, words, functions, is_acting: variant % 3 == 2 }
    }

    fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    pub(super) fn acts(&self, name: &str) -> bool {
        self.function(name).is_some_and(|function| function.acts)
    }

    pub(super) fn spoken(&self, function: &Function) -> &FunctionWords {
        &self.words.functions[function.name]
    }

    pub(super) fn slot(&self, name: &str) -> &SlotWords {
        &self.words.slots[name]
    }

    pub(super) fn any_value(&self, slot: &str, rng: &mut Rng) -> PersonValue {
        let values = &self.slot(slot).values;
        values[rng.usize(..values.len())].clone()
    }

    /// Writes the module where the service finds it. If the service is to make the calls, they go to `url`.
    pub(super) fn write(&self, service: &Service, url: &str) {
        let schema = self.functions.iter().map(|function| self.schema(function)).collect();
        let exemplars: Map<String, Value> =
            self.functions.iter().map(|function| (function.name.to_owned(), self.exemplars(function))).collect();
        let files = [
            ("schema.json", Value::Array(schema).to_string()),
            ("exemplars.json", Value::Object(exemplars).to_string()),
            ("recognizers.json", self.recognizers().to_string()),
            ("module.toml", self.settings(url)),
        ];
        for (file, text) in files {
            service.write(&self.module, file, &text);
        }
    }

    fn schema(&self, function: &Function) -> Value {
        let properties: Map<String, Value> =
            function.slots.iter().map(|(slot, _)| ((*slot).to_owned(), self.leaf(slot))).collect();
        let required: Vec<&str> = function.slots.iter().filter(|(_, needed)| *needed).map(|(slot, _)| *slot).collect();
        let description = &self.spoken(function).description;
        json!({"name": function.name, "description": description,
            "parameters": {"type": "object", "properties": properties, "required": required}})
    }

    fn leaf(&self, slot: &str) -> Value {
        let SlotWords { name, values, .. } = self.slot(slot);
        let mut leaf = match slot {
            "amount" => json!({"type": "number", "minimum": 1}),
            "quantity" | "people" => json!({"type": "integer", "minimum": 1, "maximum": 99}),
            "date" => json!({"type": "string", "format": "date"}),
            "refund" => json!({"type": "string", "enum": values.iter().map(PersonValue::value).collect::<Vec<_>>()}),
            _ => json!({"type": "string"}),
        };
        leaf["description"] = name.as_str().into();
        leaf
    }

    fn exemplars(&self, function: &Function) -> Value {
        let FunctionWords { open, part, whole, more, .. } = self.spoken(function);
        let templates = open.iter().chain(part).chain(whole).chain(more);
        templates.map(|text| Value::String(filled(text, &|slot| format!("<{slot}>")))).collect()
    }

    fn recognizers(&self) -> Value {
        let list = |slot: &str| {
            let labels = self.slot(slot).values.iter().map(|value| json!({"label": value.value(), "expressions": []}));
            json!({"rec_type": "list", "instances": labels.collect::<Vec<_>>()})
        };
        let pattern = |pattern: &str| json!({"rec_type": "pattern", "patterns": [pattern]});
        json!({
            "recognizers": {"item": list("item"), "account": list("account"), "booking": pattern("(?i)BK[0-9]{4}"),
                "code": pattern("(?i)[A-Z]{2}[0-9]{6}")},
            "slots": {"item": "item", "account": "account", "booking": "booking", "code": "code"}})
    }

    fn settings(&self, url: &str) -> String {
        let mut text = format!("language = \"{}\"\ntime_zone = \"UTC\"\n", self.words.tag);
        for Function { name, acts, confirm, slots } in &self.functions {
            text += &format!("[functions.{name}]\nconfirm = {confirm}\n");
            if self.is_acting {
                let method = if *acts { "POST" } else { "GET" };
                text += &format!("endpoint = {{ method = \"{method}\", url = \"{url}/{name}\" }}\n");
            }
            text += &format!("[functions.{name}.slots]\n");
            for (slot, _) in slots {
                text += &format!("{slot} = {{ question = {} }}\n", Value::from(self.slot(slot).question.as_str()));
            }
        }
        text
    }
}
