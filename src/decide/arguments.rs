//! From slot values in the order in which they were said to the nested arguments of a call.

use serde_json::{Map, Value};

use crate::{
    module::{Function, SlotId, SlotKind, SlotPath, Step},
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
        let Some(item) = items[index] else { continue };
        let pointer = put(&mut root, path, item, said[index].value.clone());
        // Of several values in one place, the last one stands.
        pointers.iter_mut().filter(|known| pointer.is_some() && **known == pointer).for_each(|known| *known = None);
        pointers[index] = pointer;
    }
    match root {
        Value::Object(arguments) => (arguments, pointers),
        _ => unreachable!("`put` only fills the object that the root is"),
    }
}

/// Which item of its array each value belongs to; 0 for values outside arrays, `None` for a number that counts nothing
/// known.
///
/// In an array of scalars every value is an item. In an array of objects one slot is the head (the first required one:
/// a dish's name, rather than its quantity): each of its values is an item, and every other value joins the head that
/// is nearest in the utterance, the following one if two are as near ("two pizzas and three cokes"). Where the first
/// number stands before the first of several heads, each number counts the head behind it: "60 litres of diesel and 20
/// litres of petrol".
fn item_numbers(function: &Function, said: &[Said]) -> Vec<Option<usize>> {
    let mut numbers = vec![Some(0); said.len()];
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
        for index in &inside {
            let slot = said[*index].slot;
            let same: Vec<Span> =
                inside.iter().map(|one| &said[*one]).filter(|one| one.slot == slot).map(|one| one.span).collect();
            let spans: Vec<Span> = heads.iter().map(|head| said[*head].span).collect();
            let is_list = is_list_of_item(&function.slot(slot).path);
            numbers[*index] = if heads.contains(index) {
                heads.iter().position(|head| head == index)
            } else if !is_number(function, slot) {
                nearest(said[*index].span, &spans, is_list).0
            } else if spans.len() > 1 && leads(&same, &spans) {
                counted(said[*index].span, &same, &spans)
            } else {
                // Of several numbers for one item, the nearest one counts it.
                let (own, gap) = nearest(said[*index].span, &spans, is_list);
                let is_nearer = |other: &Span| {
                    let (item, other_gap) = nearest(*other, &spans, is_list);
                    *other != said[*index].span && item == own && other_gap < gap
                };
                own.filter(|_| !same.iter().any(is_nearer))
            };
        }
    }
    numbers
}

fn is_number(function: &Function, slot: SlotId) -> bool {
    matches!(function.slot(slot).kind, SlotKind::Integer | SlotKind::Number)
}

/// True if the first of the values stands before the first head.
fn leads(values: &[Span], heads: &[Span]) -> bool {
    let first = |spans: &[Span]| spans.iter().map(|span| span.start).min();
    first(values).zip(first(heads)).is_some_and(|(value, head)| value < head)
}

/// The head behind a number, with no other number between.
fn counted(own: Span, values: &[Span], heads: &[Span]) -> Option<usize> {
    let behind = heads.iter().enumerate().filter(|(_, head)| head.start >= own.end);
    let (number, head) = behind.min_by_key(|(_, head)| head.start)?;
    let is_between = |value: &Span| value.start >= own.end && value.end <= head.start;
    (!values.iter().any(is_between)).then_some(number)
}

/// The head that is nearest, 0 where there is none, and how far it is.
fn nearest(own: Span, heads: &[Span], is_list: bool) -> (Option<usize>, usize) {
    let distance = |head: &Span| {
        let before = head.start < own.start;
        let gap = if before { own.start.saturating_sub(head.end) } else { head.start.saturating_sub(own.end) };
        // "pizza with cheese and olives and three cokes": what an item has several of follows it.
        let follows = before || !is_list;
        (gap + if follows { 0 } else { usize::MAX / 2 }, before)
    };
    let nearest = heads.iter().enumerate().min_by_key(|(_, head)| distance(head));
    nearest.map_or((Some(0), 0), |(number, head)| (Some(number), distance(head).0))
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
    fn numbers_count_what_follows_them() {
        let sentence = "60 slices of pizza and 20 bottles of coke";
        let values = [
            ("dishes[].quantity", "60", json!(60)),
            ("dishes[].name", "pizza", json!("pizza")),
            ("dishes[].quantity", "20", json!(20)),
            ("dishes[].name", "coke", json!("coke")),
        ];
        let expected = json!({"dishes": [{"name": "pizza", "quantity": 60}, {"name": "coke", "quantity": 20}]});
        assert_eq!(nested(sentence, &values), expected);
    }

    #[test]
    fn of_several_numbers_the_nearest_one_counts() {
        let (module, id) = order_food();
        let function = module.function(id);
        let said = |path: &str, (start, end): (usize, usize), value: Value| Said {
            slot: function.slot_labelled(path).expect("a slot"),
            span: Span::new(start, end),
            value,
        };
        // "room 12, soup, 2": 12 counts nothing.
        let values = [
            said("dishes[].quantity", (5, 7), json!(12)),
            said("dishes[].name", (12, 16), json!("soup")),
            said("dishes[].quantity", (18, 19), json!(2)),
        ];
        let (found, pointers) = arguments(function, &values);
        assert_eq!(Value::Object(found), json!({"dishes": [{"name": "soup", "quantity": 2}]}));
        assert_eq!(pointers[0], None);
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
