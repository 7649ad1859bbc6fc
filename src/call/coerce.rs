//! Turns a value into what its schema wants, if there is exactly one way to read it. Pure and idempotent.
//!
//! A value that its schema accepts stays unchanged, with four exceptions that make it canonical: a whole number written
//! `3.0` in an integer slot becomes `3`, a synonym from the slot's list becomes its label, `null` or `""` in an
//! optional place, which models write for "nothing", is removed, and an undeclared key that is another spelling of a
//! declared one (`numDays`) gets its name. An ambiguous value ("three or four", "1,5", 2.5 for an integer,
//! "03/04/2026") stays as it is.

use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    schema::{
        MAX_DEPTH, accepts, accepts_type, choices, decided, has_type, is_choice, is_nothing, only_type, push_pointer,
        resolve, same, text_of,
    },
    synonyms::Synonyms,
    written::{formatted, number_value, read_boolean, read_number, whole},
};
use crate::{
    module::{Function, PathStep, SlotId, SlotPath, squeeze},
    recognize::ValueReader,
    text::fold,
};

/// One value that was coerced.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coercion {
    /// JSON pointer into the arguments.
    pub path: String,
    /// Kebab-case, for programs: `number-word`, `choice`, `synonym`, `null-dropped`, `default` ...
    pub name: &'static str,
    pub from: Value,
    /// `null` if the value was removed.
    pub to: Value,
}

/// What coercion needs besides the schema.
pub struct CoercionContext<'a> {
    pub reader: &'a ValueReader,
    /// The zone of a date-time without one.
    pub zone: &'a TimeZone,
    /// The slot at a path, if there is one.
    pub slot_at: &'a dyn Fn(&SlotPath) -> Option<SlotId>,
    /// The lists of a slot's values.
    pub synonyms_of: &'a dyn Fn(SlotId) -> &'a [std::sync::Arc<Synonyms>],
}

/// Coerces `arguments` to the parameters of `function` and adds values that the schema determines (defaults and
/// constants of required members, and null where allowed).
#[must_use]
pub fn coerce(
    function: &Function,
    arguments: Map<String, Value>,
    knowledge: &CoercionContext<'_>,
) -> (Map<String, Value>, Vec<Coercion>) {
    let mut walk =
        Coercer { root: &function.parameters, knowledge, pointer: String::new(), steps: Vec::new(), done: Vec::new() };
    match walk.value(Value::Object(arguments), &function.parameters, 0) {
        Value::Object(arguments) => (arguments, walk.done),
        _ => (Map::new(), walk.done),
    }
}

struct Coercer<'a, 'k> {
    root: &'a Value,
    knowledge: &'a CoercionContext<'k>,
    pointer: String,
    steps: Vec<PathStep>,
    done: Vec<Coercion>,
}

impl<'a, 'k> Coercer<'a, 'k> {
    fn note(&mut self, name: &'static str, from: &Value, to: &Value) {
        self.done.push(Coercion { path: self.pointer.clone(), name, from: from.clone(), to: to.clone() });
    }

    fn within<T>(&mut self, key: &str, step: PathStep, act: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.pointer.len();
        push_pointer(&mut self.pointer, key);
        self.steps.push(step);
        let result = act(self);
        self.steps.pop();
        self.pointer.truncate(length);
        result
    }

    fn value(&mut self, value: Value, schema: &'a Value, depth: usize) -> Value {
        if depth > MAX_DEPTH {
            return value;
        }
        let schema = resolve(self.root, schema);
        let value = self.branches(value, schema, depth);
        let value = self.shape(value, schema);
        match value {
            Value::Object(object) if accepts_type(schema, "object") => {
                Value::Object(self.object(object, schema, depth))
            }
            Value::Array(items) if accepts_type(schema, "array") => Value::Array(self.items(items, schema, depth)),
            scalar => self.scalar(scalar, schema),
        }
    }

    /// Applies `allOf`, and unions if it is clear which branch is meant.
    fn branches(&mut self, mut value: Value, schema: &'a Value, depth: usize) -> Value {
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            value = self.value(value, part, depth + 1);
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(branches) = schema.get(keyword).and_then(Value::as_array) else { continue };
            let accepting: Vec<_> = branches.iter().filter(|branch| self.takes(&value, branch)).collect();
            match accepting.as_slice() {
                [one] if value.is_object() || value.is_array() => value = self.value(value, one, depth + 1),
                [] => {
                    // No branch accepts the value as it is: coerce it if exactly one branch can.
                    let mark = self.done.len();
                    let mut results = Vec::new();
                    for branch in branches {
                        let made = self.value(value.clone(), branch, depth + 1);
                        let steps = self.done.split_off(mark);
                        if made != value
                            && self.takes(&made, branch)
                            && !results.iter().any(|(other, _)| *other == made)
                        {
                            results.push((made, steps));
                        }
                    }
                    if results.len() == 1
                        && let Some((made, steps)) = results.pop()
                    {
                        value = made;
                        self.done.extend(steps);
                    }
                }
                _ => {}
            }
        }
        value
    }

    /// Whether a value has a branch's type, is one of its choices and, if an object, has its required members.
    fn takes(&self, value: &Value, branch: &Value) -> bool {
        let branch = resolve(self.root, branch);
        accepts(branch, value)
            && choices(branch).is_none_or(|choices| choices.iter().any(|choice| same(choice, value)))
            && value.as_object().is_none_or(|object| {
                let required = branch.get("required").and_then(Value::as_array).into_iter().flatten();
                required.filter_map(Value::as_str).all(|key| object.contains_key(key))
            })
    }

    /// Converts between scalars, arrays and objects.
    fn shape(&mut self, value: Value, schema: &'a Value) -> Value {
        if !has_type(schema) || accepts(schema, &value) {
            return value;
        }
        if let Value::String(text) = &value
            && (accepts_type(schema, "object") || accepts_type(schema, "array"))
            && text.trim_start().starts_with(['{', '['])
            && let Ok(read) = serde_json::from_str::<Value>(text)
            && accepts(schema, &read)
        {
            self.note("json-text", &value, &read);
            return read;
        }
        let is_money = |object: &Map<String, Value>| {
            object.len() <= 2 && object.keys().all(|key| key == "amount" || key == "currency")
        };
        match value {
            Value::Object(object)
                if (accepts_type(schema, "number") || accepts_type(schema, "integer")) && is_money(&object) =>
            {
                match object.get("amount").filter(|amount| accepts(schema, amount)).cloned() {
                    Some(amount) => {
                        self.note("money-amount", &Value::Object(object), &amount);
                        amount
                    }
                    None => Value::Object(object),
                }
            }
            Value::Array(mut items) if items.len() == 1 && !items[0].is_array() && !is_nothing(&items[0]) => {
                let item = items[0].clone();
                self.note("array-of-one", &Value::Array(std::mem::take(&mut items)), &item);
                item
            }
            Value::Null | Value::Array(_) => value,
            single if only_type(schema) == Some("array") && !is_nothing(&single) => {
                let list = Value::Array(vec![single.clone()]);
                self.note("to-array", &single, &list);
                list
            }
            other => other,
        }
    }

    fn items(&mut self, items: Vec<Value>, schema: &'a Value, depth: usize) -> Vec<Value> {
        let prefix = schema.get("prefixItems").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let rest = schema.get("items").filter(|of| of.is_object());
        items
            .into_iter()
            .enumerate()
            .map(|(index, item)| match prefix.get(index).or(rest) {
                Some(of) => self.within(&index.to_string(), PathStep::Each, |walk| walk.value(item, of, depth + 1)),
                None => item,
            })
            .collect()
    }

    fn object(&mut self, object: Map<String, Value>, schema: &'a Value, depth: usize) -> Map<String, Value> {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return object };
        let required = |key: &str| {
            schema.get("required").and_then(Value::as_array).is_some_and(|keys| keys.iter().any(|known| known == key))
        };
        let given: Vec<String> = object.keys().cloned().collect();
        let mut result = Map::new();
        for (key, value) in object {
            let Some(of) = properties.get(&key) else {
                let (key, value) = self.spelt_otherwise(key, value, properties, &given, &result, depth);
                result.insert(key, value);
                continue;
            };
            let of = resolve(self.root, of);
            let nothing = match &value {
                Value::Null => Some("null-dropped"),
                Value::String(text) if text.is_empty() && !is_choice(of, &value) => Some("empty-dropped"),
                _ => None,
            };
            if let Some(name) = nothing
                && (!required(&key) || !accepts(of, &value))
            {
                let mut path = self.pointer.clone();
                push_pointer(&mut path, &key);
                self.done.push(Coercion { path, name, from: value, to: Value::Null });
                continue;
            }
            let step = PathStep::Key(key.as_str().into());
            let value = self.within(&key, step, |walk| walk.value(value, of, depth + 1));
            result.insert(key, value);
        }
        for (key, of) in properties {
            if required(key)
                && !result.contains_key(key)
                && let Some(decided) = decided(self.root, of, depth + 1)
            {
                let mut path = self.pointer.clone();
                push_pointer(&mut path, key);
                self.done.push(Coercion { path, name: "default", from: Value::Null, to: decided.clone() });
                result.insert(key.clone(), decided);
            }
        }
        result
    }

    /// Moves a member to the declared name that its key misspells, if only one name fits, that name is free, and the
    /// value has its type.
    fn spelt_otherwise(
        &mut self,
        key: String,
        value: Value,
        properties: &'a Map<String, Value>,
        given: &[String],
        taken: &Map<String, Value>,
        depth: usize,
    ) -> (String, Value) {
        let squeezed = squeeze(&key);
        let mut fitting = properties.iter().filter(|(known, _)| squeeze(known) == squeezed);
        let (Some((known, of)), None) = (fitting.next(), fitting.next()) else { return (key, value) };
        if squeezed.is_empty() || given.contains(known) || taken.contains_key(known) || is_nothing(&value) {
            return (key, value);
        }
        let mark = self.done.len();
        let mut path = self.pointer.clone();
        push_pointer(&mut path, known);
        let to = Value::String(known.clone());
        self.done.push(Coercion { path, name: "key", from: Value::String(key.clone()), to });
        let made =
            self.within(known, PathStep::Key(known.as_str().into()), |walk| walk.value(value.clone(), of, depth + 1));
        if self.takes(&made, of) {
            return (known.clone(), made);
        }
        self.done.truncate(mark);
        (key, value)
    }

    fn scalar(&mut self, value: Value, schema: &'a Value) -> Value {
        if value.is_object() || value.is_array() {
            return value;
        }
        let made = self.canonical(&value, schema);
        match made {
            Some((name, made)) if made != value => {
                self.note(name, &value, &made);
                made
            }
            _ => value,
        }
    }

    fn canonical(&self, value: &Value, schema: &Value) -> Option<(&'static str, Value)> {
        if let Some(choices) = choices(schema) {
            if let Some(choice) = choices.iter().find(|choice| same(choice, value)) {
                return Some(("choice", (*choice).clone()));
            }
            return self.choice(value, &choices).map(|made| ("choice", made)).or_else(|| {
                let label = self.synonym(value)?;
                let made = choices.iter().find(|choice| same(choice, label)).map(|choice| (*choice).clone());
                made.or_else(|| self.choice(label, &choices)).map(|made| ("synonym", made))
            });
        }
        if let Some(label) = self.synonym(value) {
            let fit = if accepts(schema, label) {
                Some(label.clone())
            } else {
                self.typed(label, schema).map(|(_, made)| made)
            };
            if let Some(made) = fit {
                return Some(("synonym", made));
            }
        }
        if accepts(schema, value) {
            return match value {
                Value::String(text) => {
                    let format = schema.get("format").and_then(Value::as_str)?;
                    formatted(text, format, self.knowledge.reader, self.knowledge.zone)
                        .map(|(name, made)| (name, Value::String(made)))
                }
                Value::Number(number) if accepts_type(schema, "integer") && !accepts_type(schema, "number") => {
                    whole(number.as_f64()?)
                        .filter(|_| !number.is_i64() && !number.is_u64())
                        .map(|made| ("whole-number", made))
                }
                _ => None,
            };
        }
        self.typed(value, schema)
    }

    /// The same value with another type.
    fn typed(&self, value: &Value, schema: &Value) -> Option<(&'static str, Value)> {
        match value {
            Value::String(text) => {
                if accepts_type(schema, "number") || accepts_type(schema, "integer") {
                    let integer = !accepts_type(schema, "number");
                    if let Some((name, number)) = read_number(text, self.knowledge.reader)
                        && let Some(made) = if integer { whole(number) } else { number_value(number) }
                    {
                        return Some((name, made));
                    }
                }
                if accepts_type(schema, "boolean") {
                    return read_boolean(text).map(|made| ("boolean-word", Value::Bool(made)));
                }
                None
            }
            Value::Number(number) => {
                if accepts_type(schema, "boolean") && !accepts_type(schema, "string") {
                    return match number.as_i64() {
                        Some(0) => Some(("boolean-number", Value::Bool(false))),
                        Some(1) => Some(("boolean-number", Value::Bool(true))),
                        _ => None,
                    };
                }
                accepts_type(schema, "string").then(|| ("to-text", Value::String(number.to_string())))
            }
            Value::Bool(flag) if only_type(schema) == Some("string") => {
                Some(("to-text", Value::String(flag.to_string())))
            }
            _ => None,
        }
    }

    fn choice(&self, value: &Value, choices: &[&Value]) -> Option<Value> {
        let only = |fits: &dyn Fn(&Value) -> bool| {
            let mut fitting = choices.iter().filter(|choice| fits(choice));
            match (fitting.next(), fitting.next()) {
                (Some(one), None) => Some((*one).clone()),
                _ => None,
            }
        };
        let text = text_of(value)?;
        let squeezed = squeeze(&fold(&text));
        if !squeezed.is_empty() {
            let spelt = only(&|choice| text_of(choice).is_some_and(|known| known == text))
                .or_else(|| only(&|choice| text_of(choice).is_some_and(|known| squeeze(&fold(&known)) == squeezed)));
            if spelt.is_some() {
                return spelt;
            }
        }
        if choices.iter().any(|choice| choice.is_number())
            && let Some((_, number)) = read_number(&text, self.knowledge.reader)
        {
            return only(&|choice| choice.as_f64() == Some(number));
        }
        if choices.iter().all(|choice| choice.is_boolean()) {
            return read_boolean(&text).and_then(|flag| only(&|choice| choice.as_bool() == Some(flag)));
        }
        None
    }

    /// The label in the slot's lists that `value` is a synonym of; `None` for a label itself.
    fn synonym(&self, value: &Value) -> Option<&'k Value> {
        let text = value.as_str()?;
        let slot = (self.knowledge.slot_at)(&SlotPath(self.steps.clone()))?;
        let lists = (self.knowledge.synonyms_of)(slot);
        if lists.iter().any(|list| list.is_label(value)) {
            return None;
        }
        lists.iter().find_map(|list| list.label(text))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::{
        call::{
            Validator,
            testing::{function, json_value, module},
        },
        module::FunctionId,
    };

    /// What `value` becomes in a slot with this schema, and by which coercion.
    fn coerced(schema: &Value, value: Value) -> (Value, Option<&'static str>) {
        let parameters = json!({"type": "object", "properties": {"x": schema}, "required": ["x"]});
        let function = function("f", parameters);
        let module = module(vec![function]);
        let validator = Validator::compile(&module).expect("compiles");
        let arguments = Map::from_iter([("x".to_owned(), value)]);
        let (arguments, coercions) = validator.coerced(&module.functions[0], FunctionId::from_index(0), arguments);
        let (again, more) = validator.coerced(&module.functions[0], FunctionId::from_index(0), arguments.clone());
        assert_eq!((&again, more), (&arguments, Vec::new()), "idempotent");
        (arguments.get("x").cloned().unwrap_or(Value::Null), coercions.first().map(|done| done.name))
    }

    #[test]
    fn what_reads_in_one_way_is_coerced() {
        let text = json!({"type": "string"});
        let int = json!({"type": "integer"});
        let num = json!({"type": "number"});
        let flag = json!({"type": "boolean"});
        let unit = json!({"type": "string", "enum": ["celsius", "fahrenheit", "extra_large"]});
        let date = json!({"type": "string", "format": "date"});
        let time = json!({"type": "string", "format": "time"});
        let moment = json!({"type": "string", "format": "date-time"});
        let list = json!({"type": "array", "items": {"type": "integer"}});
        let maybe = json!({"type": ["integer", "null"]});
        let union = json!({"anyOf": [{"type": "integer"}, {"type": "null"}]});
        for (schema, from, to, name) in [
            (&int, json!("two"), json!(2), "number-word"),
            (&int, json!("Twenty-one"), json!(21), "number-word"),
            (&int, json!("two hundred and five"), json!(205), "number-word"),
            (&int, json!("3"), json!(3), "number-text"),
            (&int, json!("-3.0"), json!(-3), "number-text"),
            (&int, json!(3.0), json!(3), "whole-number"),
            (&int, json!({"amount": 5, "currency": "USD"}), json!(5), "money-amount"),
            (&int, json!([5]), json!(5), "array-of-one"),
            (&num, json!("$5.50"), json!(5.5), "number-unit"),
            (&num, json!("5%"), json!(5), "number-unit"),
            (&num, json!("1,234,567.5"), json!(1_234_567.5), "number-text"),
            (&num, json!("1,000"), json!(1000), "number-text"),
            (&flag, json!("Yes"), json!(true), "boolean-word"),
            (&flag, json!("false"), json!(false), "boolean-word"),
            (&flag, json!(1), json!(true), "boolean-number"),
            (&text, json!(98101), json!("98101"), "to-text"),
            (&text, json!(true), json!("true"), "to-text"),
            (&unit, json!("Celsius"), json!("celsius"), "choice"),
            (&unit, json!(" Extra-Large"), json!("extra_large"), "choice"),
            (&json!({"enum": [1, 2]}), json!("two"), json!(2), "choice"),
            (&json!({"enum": ["1", "2"]}), json!(2), json!("2"), "choice"),
            (&date, json!("March 1st, 2026"), json!("2026-03-01"), "date"),
            (&date, json!("Sunday, 1 Mar 2026"), json!("2026-03-01"), "date"),
            (&date, json!("2026/3/1"), json!("2026-03-01"), "date"),
            (&date, json!("25/12/2026"), json!("2026-12-25"), "date"),
            (&date, json!("2026-03-01T00:00:00Z"), json!("2026-03-01"), "date"),
            (&date, json!("20260301"), json!("2026-03-01"), "date"),
            (&time, json!("3:30 PM"), json!("15:30:00"), "time"),
            (&time, json!("12am"), json!("00:00:00"), "time"),
            (&moment, json!("2026-03-01T15:30:00"), json!("2026-03-01T15:30:00+00:00"), "date-time"),
            (&moment, json!("2026-03-01 15:30"), json!("2026-03-01T15:30:00+00:00"), "date-time"),
            (&list, json!("two"), json!([2]), "to-array"),
            (&list, json!("[1, 2]"), json!([1, 2]), "json-text"),
            (&maybe, json!("two"), json!(2), "number-word"),
            (&union, json!("two"), json!(2), "number-word"),
            (&json!({"type": "string", "x-list": 0}), json!("The Big Apple"), json!("New York, NY"), "synonym"),
            (&json!({"type": "string", "x-list": 0}), json!("new york ny"), json!("New York, NY"), "synonym"),
        ] {
            assert_eq!(coerced(schema, from.clone()), (to, Some(name)), "{schema} {from}");
        }
    }

    #[test]
    fn what_reads_in_two_ways_is_left_alone() {
        let int = json!({"type": "integer"});
        let num = json!({"type": "number"});
        let unit = json!({"type": "string", "enum": ["celsius", "Cel-sius", "f"]});
        let date = json!({"type": "string", "format": "date"});
        for (schema, value) in [
            (&int, json!("three or four")),
            (&int, json!("one two")),
            (&int, json!(2.5)),
            (&int, json!("2.5")),
            (&int, json!("2 or 3")),
            (&int, json!("second")),
            (&int, json!("3kg")),
            (&int, json!([1, 2])),
            (&num, json!("1,5")),
            (&num, json!("abc")),
            (&num, json!("NaN")),
            (&num, json!("infinity")),
            (&num, json!("1e999")),
            (&num, json!({"amount": 5, "unit": "kg"})),
            (&json!({"type": "boolean"}), json!("maybe")),
            (&json!({"type": "boolean"}), json!(2)),
            (&unit, json!("CELSIUS")),
            (&date, json!("03/04/2026")),
            (&date, json!("2026-02-30")),
            (&date, json!("Monday, March 1, 2026")),
            (&date, json!("tomorrow")),
            (&date, json!("2026-03-01T15:30:00")),
            (&json!({"type": "string", "format": "time"}), json!("3")),
            (&json!({"type": "string", "x-list": 0}), json!("the city")),
            (&json!({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}), json!("no two")),
        ] {
            assert_eq!(coerced(schema, value.clone()), (value.clone(), None), "{schema} {value}");
        }
    }

    #[test]
    fn what_is_required_and_may_be_null_is_null_where_nothing_was_given() {
        let parameters = json!({"type": "object", "required": ["a", "b", "c", "d", "e", "f"], "properties": {
            "a": {"type": ["string", "null"]}, "b": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "c": {"enum": ["x", null]}, "d": {"type": ["string", "null"], "enum": ["x", "y"]}, "e": {},
            "f": {"type": "string"}, "g": {"type": ["string", "null"]}}});
        let module = module(vec![function("f", parameters)]);
        let validator = Validator::compile(&module).expect("compiles");
        let (arguments, _) = validator.coerced(&module.functions[0], FunctionId::from_index(0), Map::new());
        assert_eq!(Value::Object(arguments), json!({"a": null, "b": null, "c": null}));
    }

    #[test]
    fn nothing_is_left_out_and_keys_are_found() {
        let parameters = json!({"type": "object", "required": ["num_days", "kind"], "properties": {
            "num_days": {"type": "integer"}, "note": {"type": "string"}, "unit": {"type": ["string", "null"]},
            "kind": {"const": "daily"}, "page": {"type": "integer", "default": 1}}});
        let module = module(vec![function("f", parameters)]);
        let validator = Validator::compile(&module).expect("compiles");
        let given = json!({"numDays": "3", "note": "", "unit": null, "other": 1});
        let Value::Object(given) = given else { unreachable!("an object") };
        let (arguments, coercions) = validator.coerced(&module.functions[0], FunctionId::from_index(0), given);
        assert_eq!(Value::Object(arguments), json!({"num_days": 3, "other": 1, "kind": "daily"}));
        let done: Vec<_> = coercions.iter().map(|done| (done.path.as_str(), done.name)).collect();
        let expected = [
            ("/num_days", "key"),
            ("/num_days", "number-text"),
            ("/note", "empty-dropped"),
            ("/unit", "null-dropped"),
            ("/kind", "default"),
        ];
        assert_eq!(done, expected);
    }

    fn any_schema() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(json!({"type": "string"})),
            Just(json!({"type": "string", "format": "date"})),
            Just(json!({"type": "string", "format": "time"})),
            Just(json!({"type": "string", "format": "date-time"})),
            Just(json!({"type": "integer", "minimum": 0})),
            Just(json!({"type": "number"})),
            Just(json!({"type": "boolean"})),
            Just(json!({"type": ["integer", "string"]})),
            Just(json!({"enum": ["a", "A", "b", 1, true]})),
            Just(json!({"type": "array", "items": {"type": "number"}})),
            Just(json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}})),
            Just(
                json!({"anyOf": [{"type": "integer"}, {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}]})
            ),
            Just(json!({})),
        ]
    }

    fn any_value() -> impl Strategy<Value = Value> {
        prop_oneof![
            json_value(2),
            "(two|yes|3|3\\.0|2026-03-01|15:30|15:30:00|1,000|true|[0-9]{1,4}[/-][0-9]{1,2}[/-][0-9]{1,4})"
                .prop_map(Value::from),
            (-5..5_i64).prop_map(Value::from),
            Just(json!(3.0)),
        ]
    }

    proptest! {
        #[test]
        fn a_valid_value_keeps_its_meaning(schema in any_schema(), value in any_value()) {
            let parameters = json!({"type": "object", "properties": {"x": schema}, "required": ["x"]});
            let module = module(vec![function("f", parameters.clone())]);
            let validator = Validator::compile(&module).expect("compiles");
            let plain = jsonschema::options().should_validate_formats(true).with_format("time", crate::call::written::is_time).build(&parameters).expect("compiles");
            let given = json!({"x": value});
            let was_valid = plain.is_valid(&given);
            let Value::Object(arguments) = given.clone() else { unreachable!("an object") };
            let (made, _) = validator.coerced(&module.functions[0], FunctionId::from_index(0), arguments);
            if was_valid {
                prop_assert!(equal(&Value::Object(made.clone()), &given) || has_nothing(&given), "{:?} from {}", made, given);
                prop_assert!(plain.is_valid(&Value::Object(made)));
            }
        }

        #[test]
        fn coercion_is_idempotent_and_never_panics(schema in any_schema(), value in any_value()) {
            coerced(&schema, value);
        }
    }

    fn equal(left: &Value, right: &Value) -> bool {
        match (left, right) {
            (Value::Array(left), Value::Array(right)) => {
                left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
            }
            (Value::Object(left), Value::Object(right)) => {
                left.len() == right.len()
                    && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| equal(value, other)))
            }
            _ => same(left, right),
        }
    }

    /// `null` and `""` in optional places, and misspelt keys, are the documented exceptions.
    fn has_nothing(value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.iter().any(has_nothing),
            Value::Object(members) => members.iter().any(|(key, value)| has_nothing(value) || squeeze(key) != *key),
            _ => false,
        }
    }
}
