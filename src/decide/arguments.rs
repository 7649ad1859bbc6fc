//! From slot values in the order in which they were said to the nested arguments of a call.

use serde_json::{Map, Value};

use crate::{
    module::{Function, SlotId, SlotPath, Step},
    text::Span,
};

/// A value for a slot, and where it was said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    pub slot: SlotId,
    pub span: Span,
    pub value: Value,
}

/// The arguments, and for each of `said` the JSON pointer at which its value went (`None` if it found no place).
pub(crate) fn arguments(function: &Function, said: &[Said]) -> (Map<String, Value>, Vec<Option<String>>) {
    let mut root = Value::Object(Map::new());
    let items = item_numbers(function, said);
    // Members stand in the order of the schema; the values of one slot stay in the order in which they were said.
    let mut order: Vec<usize> = (0..said.len()).collect();
    order.sort_by_key(|index| said[*index].slot);
    let mut pointers = vec![None; said.len()];
    for index in order {
        let path = &function.slot(said[index].slot).path;
        pointers[index] = put(&mut root, path, items[index], said[index].value.clone());
    }
    match root {
        Value::Object(arguments) => (arguments, pointers),
        _ => unreachable!("`put` only fills the object that the root is"),
    }
}

/// Which item of its array each value belongs to; 0 for values outside arrays.
///
/// In an array of scalars every value is an item. In an array of objects one slot is the head (the first required one:
/// a dish's name, rather than its quantity): each of its values is an item, and every other value joins the head that
/// is nearest in the utterance, the following one if two are as near ("two pizzas and three cokes").
fn item_numbers(function: &Function, said: &[Said]) -> Vec<usize> {
    let mut numbers = vec![0; said.len()];
    let mut arrays: Vec<&[Step]> = Vec::new();
    for one in said {
        if let Some(array) = array_of(&function.slot(one.slot).path)
            && !arrays.contains(&array)
        {
            arrays.push(array);
        }
    }
    for array in arrays {
        let inside: Vec<usize> =
            (0..said.len()).filter(|index| array_of(&function.slot(said[*index].slot).path) == Some(array)).collect();
        let present = |slot: SlotId| inside.iter().any(|index| said[*index].slot == slot);
        let in_array = |slot: &SlotId| array_of(&function.slot(*slot).path) == Some(array);
        let head = function
            .slot_ids()
            .filter(in_array)
            .find(|slot| function.slot(*slot).required && present(*slot))
            .or_else(|| function.slot_ids().filter(in_array).find(|slot| present(*slot)));
        let heads: Vec<usize> = inside.iter().copied().filter(|index| Some(said[*index].slot) == head).collect();
        for index in inside {
            numbers[index] = heads
                .iter()
                .enumerate()
                .min_by_key(|(_, head)| {
                    let (own, other) = (said[index].span, said[**head].span);
                    let before = other.start < own.start;
                    let gap =
                        if before { own.start.saturating_sub(other.end) } else { other.start.saturating_sub(own.end) };
                    // "pizza with cheese and olives and three cokes": what an item has several of follows it.
                    let follows = before || !is_list_of_item(&function.slot(said[index].slot).path);
                    (if index == **head { 0 } else { gap + 1 } + if follows { 0 } else { usize::MAX / 2 }, before)
                })
                .map_or(0, |(number, _)| number);
        }
    }
    numbers
}

/// The steps up to and with the first array of a path.
fn array_of(path: &SlotPath) -> Option<&[Step]> {
    path.0.iter().position(|step| *step == Step::Each).map(|at| &path.0[..=at])
}

/// True for a list within each item of an array.
fn is_list_of_item(path: &SlotPath) -> bool {
    path.0.iter().filter(|step| **step == Step::Each).count() > 1
}

fn put(root: &mut Value, path: &SlotPath, item: usize, value: Value) -> Option<String> {
    let mut pointer = String::new();
    let mut place = root;
    let mut outermost = true;
    for (index, step) in path.0.iter().enumerate() {
        let last = index + 1 == path.0.len();
        match step {
            Step::Key(key) => {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                place = place.as_object_mut()?.entry(key.to_string()).or_insert(Value::Null);
            }
            Step::Each => {
                if place.is_null() {
                    *place = Value::Array(Vec::new());
                }
                let items = place.as_array_mut()?;
                // Values of an inner array all go on, one after the other.
                let number = if outermost {
                    item
                } else if last {
                    items.len()
                } else {
                    0
                };
                outermost = false;
                while items.len() <= number {
                    items.push(Value::Null);
                }
                pointer.push('/');
                pointer.push_str(&number.to_string());
                place = &mut items[number];
            }
        }
        if !last && place.is_null() && !matches!(path.0[index + 1], Step::Each) {
            *place = Value::Object(Map::new());
        }
    }
    *place = value;
    Some(pointer)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{
        decide::arguments::*,
        module::{Limits, ModuleName, load},
    };

    fn order_food() -> (crate::module::Module, crate::module::FunctionId) {
        let directory = tempfile::tempdir().expect("a directory");
        let schema = json!([{"name": "order_food", "description": "Order food", "parameters": {
            "type": "object", "required": ["dishes"], "properties": {
                "service": {"type": "string"},
                "dishes": {"type": "array", "items": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string"}, "quantity": {"type": "integer"},
                    "extras": {"type": "array", "items": {"type": "string"}}}}}}}}]);
        std::fs::write(directory.path().join("schema.json"), schema.to_string()).expect("a file");
        let name = ModuleName::new("food").expect("a name");
        let module = load(directory.path(), name, &Limits::default()).expect("it loads");
        let id = module.function_named("order_food").expect("the function");
        (module, id)
    }

    /// Each value is said where its words stand in the sentence.
    fn nested(sentence: &str, values: &[(&str, &str, Value)]) -> Value {
        let (module, id) = order_food();
        let function = module.function(id);
        let said: Vec<Said> = values
            .iter()
            .map(|(path, words, value)| {
                let start = sentence.find(words).expect("the words are in the sentence");
                Said {
                    slot: function.slot_labelled(path).expect("a slot"),
                    span: Span::new(start, start + words.len()),
                    value: value.clone(),
                }
            })
            .collect();
        let (arguments, pointers) = arguments(function, &said);
        let arguments = Value::Object(arguments);
        for (pointer, said) in pointers.iter().zip(&said) {
            let pointer = pointer.as_deref().expect("every value has a place");
            assert_eq!(arguments.pointer(pointer), Some(&said.value), "{pointer}");
        }
        arguments
    }

    #[test]
    fn quantities_and_extras_join_the_nearest_dish() {
        let sentence = "two pizzas with cheese and olives and three cokes to go";
        let values = [
            ("dishes[].quantity", "two", json!(2)),
            ("dishes[].name", "pizzas", json!("pizza")),
            ("dishes[].extras[]", "cheese", json!("cheese")),
            ("dishes[].extras[]", "olives", json!("olives")),
            ("dishes[].quantity", "three", json!(3)),
            ("dishes[].name", "cokes", json!("coke")),
            ("service", "to go", json!("pickup")),
        ];
        let expected = json!({"service": "pickup", "dishes": [
            {"name": "pizza", "quantity": 2, "extras": ["cheese", "olives"]}, {"name": "coke", "quantity": 3}]});
        assert_eq!(nested(sentence, &values), expected);
        assert_eq!(nested(sentence, &values).to_string(), expected.to_string(), "in the order of the schema");
    }

    #[test]
    fn a_quantity_alone_makes_one_item() {
        let values = [("dishes[].quantity", "four", json!(4))];
        assert_eq!(nested("make it four", &values), json!({"dishes": [{"quantity": 4}]}));
    }
}
