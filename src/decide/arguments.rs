//! From slot values in the order in which they were said to the nested arguments of a call.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

use crate::{
    decide::{filling::SpannedValue, totals},
    module::{Function, PathStep, SlotId, SlotPath, TemplatePiece},
    text::{Span, fuel},
};

/// The arguments, and for each of `said` the JSON pointer at which its value went (`None` if it found no place).
pub(crate) fn arguments(function: &Function, said: &[SpannedValue]) -> (Map<String, Value>, Vec<Option<String>>) {
    let mut root = Value::Object(Map::new());
    let mut items = item_numbers(function, said);
    let split = totals::split(function, said);
    if let Some(split) = &split {
        items[split.total] = None;
        split
            .parts
            .iter()
            .enumerate()
            .flat_map(|(item, part)| part.iter().map(move |one| (item, *one)))
            .for_each(|(item, one)| items[one] = Some(item));
    }
    // Members stand in the order of the schema; the values of one slot stay in the order in which they were said.
    let mut order: Vec<usize> = (0..said.len()).collect();
    order.sort_by_key(|index| said[*index].slot);
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    for index in order {
        let path = &function.slot(said[index].slot).path;
        let Some(item) = items[index] else { continue };
        if let Some(pointer) = put(&mut root, path, item, said[index].value.clone()) {
            // Of several values in one place, the last one stands.
            places.insert(pointer, index);
        }
    }
    // Each part is an item with the same head, which was named once.
    if let Some(split) = split {
        let head = &said[split.head];
        for item in 1..split.parts.len() {
            put(&mut root, &function.slot(head.slot).path, item, head.value.clone());
        }
    }
    let mut pointers = vec![None; said.len()];
    for (pointer, index) in places {
        pointers[index] = Some(pointer);
    }
    match root {
        Value::Object(arguments) => (arguments, pointers),
        _ => unreachable!("`put` only fills the object that the root is"),
    }
}

/// Which item of its array each value belongs to; 0 for values outside arrays, `None` for a number that counts no known
/// item.
///
/// In an array of scalars every value is an item. In an array of objects one slot is the head (the first required one:
/// a dish's name, rather than its quantity): each of its values is an item, and every other value joins the head on the
/// side on which the exemplars show it ("<quantity> <name>"). Where they show none, it joins the head that is nearest in
/// the utterance, the following one if two are as near ("two pizzas and three cokes"); but where the first number stands
/// before the first of several heads, each number counts the head behind it: "60 litres of diesel and 20 litres of
/// petrol".
fn item_numbers(function: &Function, said: &[SpannedValue]) -> Vec<Option<usize>> {
    let mut numbers = vec![Some(0); said.len()];
    let mut arrays: BTreeMap<&[PathStep], BTreeMap<SlotId, Vec<usize>>> = BTreeMap::new();
    for (index, one) in said.iter().enumerate() {
        if let Some(array) = array_of(&function.slot(one.slot).path) {
            arrays.entry(array).or_default().entry(one.slot).or_default().push(index);
        }
    }
    for slots in arrays.values() {
        let required = slots.keys().find(|slot| function.slot(**slot).required);
        let Some(head) = required.or_else(|| slots.keys().next()) else { continue };
        let heads = Heads::new(slots[head].iter().map(|index| said[*index].span));
        for (slot, indices) in slots {
            let spans: Vec<Span> = indices.iter().map(|index| said[*index].span).collect();
            let items: Vec<Option<usize>> = match slot == head {
                true => (0..indices.len()).map(Some).collect(),
                false => heads.items_of(function, (*head, *slot), &spans),
            };
            indices.iter().zip(items).for_each(|(index, item)| numbers[*index] = item);
        }
    }
    numbers
}

/// Where the heads of an array's items stand, in the order of the utterance, each with its item's number.
struct Heads(Vec<(Span, usize)>);

impl Heads {
    fn new(spans: impl Iterator<Item = Span>) -> Self {
        let mut heads: Vec<(Span, usize)> = spans.enumerate().map(|(number, span)| (span, number)).collect();
        heads.sort();
        Self(heads)
    }

    /// The items to which the values of a slot, at these places, belong.
    fn items_of(&self, function: &Function, (head, slot): (SlotId, SlotId), spans: &[Span]) -> Vec<Option<usize>> {
        let definition = function.slot(slot);
        let is_list = is_list_of_item(&definition.path);
        let by_distance = match definition.kind.is_number() {
            false => spans.iter().map(|span| Some(self.nearest(*span, is_list).0)).collect(),
            true if self.are_led_by(spans) => self.counted(spans),
            true => self.counted_nearby(spans, is_list),
        };
        let by_side = match shown_side(function, slot, head).filter(|_| !is_list) {
            None => return by_distance,
            Some(HeadSide::Before) => self.counted(spans),
            Some(HeadSide::Behind) => spans.iter().map(|span| self.before(*span)).collect(),
        };
        let taken: FxHashSet<usize> = by_side.iter().flatten().copied().collect();
        let both = by_side.into_iter().zip(by_distance);
        both.map(|(own, other)| own.or(other.filter(|item| !taken.contains(item)))).collect()
    }

    /// The item whose head is the last one before a value.
    fn before(&self, own: Span) -> Option<usize> {
        let behind = self.0.partition_point(|(head, _)| head.start < own.start);
        behind.checked_sub(1).map(|at| self.0[at].1)
    }

    /// The item whose head is nearest, and its distance. Entries of a list within an item follow the item's head:
    /// "pizza with cheese and olives and three cokes".
    fn nearest(&self, own: Span, is_list: bool) -> (usize, usize) {
        fuel::spend(1);
        let behind = self.0.partition_point(|(head, _)| head.start < own.start);
        let before = behind.checked_sub(1).map(|at| self.0[at]);
        let before = before.map(|(head, number)| (number, own.start.saturating_sub(head.end)));
        let behind = self.0.get(behind).map(|(head, number)| (*number, head.start.saturating_sub(own.end)));
        match (before, behind) {
            (Some(one), Some(other)) if is_list || one.1 < other.1 => one,
            (_, Some(one)) | (Some(one), None) => one,
            (None, None) => (0, 0),
        }
    }

    /// True if the first of these values stands before the first of several heads.
    fn are_led_by(&self, values: &[Span]) -> bool {
        let first = values.iter().map(|value| value.start).min();
        self.0.len() > 1 && first < self.0.first().map(|(head, _)| head.start)
    }

    /// For each number, the item whose head follows it with no other number between.
    fn counted(&self, numbers: &[Span]) -> Vec<Option<usize>> {
        let mut sorted = numbers.to_vec();
        sorted.sort();
        let behind = |number: &Span| {
            fuel::spend(1);
            let (head, item) = self.0.get(self.0.partition_point(|(head, _)| head.start < number.end))?;
            let next = sorted.get(sorted.partition_point(|other| other.start < number.end));
            next.is_none_or(|next| next.end > head.start).then_some(*item)
        };
        numbers.iter().map(behind).collect()
    }

    /// For each number, the nearest item. If several numbers are nearest to one item, the nearest of them counts it.
    fn counted_nearby(&self, numbers: &[Span], is_list: bool) -> Vec<Option<usize>> {
        let found: Vec<(usize, usize)> = numbers.iter().map(|number| self.nearest(*number, is_list)).collect();
        let mut nearest: FxHashMap<usize, usize> = FxHashMap::default();
        for (item, gap) in &found {
            let least = nearest.entry(*item).or_insert(*gap);
            *least = (*least).min(*gap);
        }
        found.into_iter().map(|(item, gap)| (nearest[&item] == gap).then_some(item)).collect()
    }
}

/// On which side of an item's head a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeadSide {
    Before,
    Behind,
}

/// The side on which the exemplars show a slot beside the head of its items; `None` if on both, or on none.
fn shown_side(function: &Function, slot: SlotId, head: SlotId) -> Option<HeadSide> {
    let mut sides = function.exemplars.iter().filter_map(|exemplar| {
        let place = |wanted: SlotId| {
            exemplar
                .pieces
                .iter()
                .position(|piece| matches!(piece, TemplatePiece::Slot { slot: Some(own), .. } if *own == wanted))
        };
        Some(if place(slot)? < place(head)? { HeadSide::Before } else { HeadSide::Behind })
    });
    let first = sides.next()?;
    sides.all(|side| side == first).then_some(first)
}

/// The steps up to and with the first array of a path.
fn array_of(path: &SlotPath) -> Option<&[PathStep]> {
    path.0.iter().position(|step| *step == PathStep::Each).map(|at| &path.0[..=at])
}

/// True for a list within an item of an array.
fn is_list_of_item(path: &SlotPath) -> bool {
    path.0.iter().filter(|step| **step == PathStep::Each).count() > 1
}

fn put(root: &mut Value, path: &SlotPath, item: usize, value: Value) -> Option<String> {
    let mut pointer = String::new();
    let mut place = root;
    let mut outermost = true;
    for (index, step) in path.0.iter().enumerate() {
        let last = index + 1 == path.0.len();
        match step {
            PathStep::Key(key) => {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                place = place.as_object_mut()?.entry(key.to_string()).or_insert(Value::Null);
            }
            PathStep::Each => {
                if place.is_null() {
                    *place = Value::Array(Vec::new());
                }
                let items = place.as_array_mut()?;
                // The values of an inner array are appended one after the other.
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
        if !last && place.is_null() && !matches!(path.0[index + 1], PathStep::Each) {
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

    fn order_food(exemplars: &Value) -> (crate::module::Module, crate::module::FunctionId) {
        let directory = tempfile::tempdir().expect("a directory");
        let schema = json!([{"name": "order_food", "description": "Order food", "parameters": {
            "type": "object", "required": ["dishes"], "properties": {
                "service": {"type": "string"},
                "dishes": {"type": "array", "items": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string"}, "quantity": {"type": "integer"}, "bread": {"type": "string"},
                    "extras": {"type": "array", "items": {"type": "string"}}}}}}}}]);
        std::fs::write(directory.path().join("schema.json"), schema.to_string()).expect("a file");
        std::fs::write(directory.path().join("exemplars.json"), exemplars.to_string()).expect("a file");
        let name = ModuleName::new("food").expect("a name");
        let module = load(directory.path(), name, &Limits::default()).expect("it loads");
        let id = module.function_named("order_food").expect("the function");
        (module, id)
    }

    /// The span of each value is where its words stand in the sentence.
    fn nested(sentence: &str, values: &[(&str, &str, Value)]) -> Value {
        let (module, id) = order_food(&json!({}));
        let function = module.function(id);
        let said: Vec<SpannedValue> = values
            .iter()
            .map(|(path, words, value)| {
                let start = sentence.find(words).expect("the words are in the sentence");
                SpannedValue {
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
        let (module, id) = order_food(&json!({}));
        let function = module.function(id);
        let said = |path: &str, (start, end): (usize, usize), value: Value| SpannedValue {
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
    fn what_exemplars_show_before_an_item_is_of_the_item_behind_it() {
        let (module, id) = order_food(&json!({"order_food": [
            {"template": "<quantity> <name> on <bread>"}, {"template": "I'd like <quantity> <name>"}]}));
        let function = module.function(id);
        let sentence = "a ham on rye, two large tunas, and one more soup";
        let said: Vec<SpannedValue> = [
            ("dishes[].name", "ham"),
            ("dishes[].bread", "rye"),
            ("dishes[].quantity", "two"),
            ("dishes[].name", "tunas"),
            ("dishes[].quantity", "one"),
            ("dishes[].name", "soup"),
        ]
        .map(|(path, words)| {
            let start = sentence.find(words).expect("the words are in the sentence");
            let (slot, span) = (function.slot_labelled(path).expect("a slot"), Span::new(start, start + words.len()));
            SpannedValue { slot, span, value: json!(words) }
        })
        .into();
        let expected = json!({"dishes": [{"name": "ham", "bread": "rye"}, {"name": "tunas", "quantity": "two"},
            {"name": "soup", "quantity": "one"}]});
        assert_eq!(Value::Object(arguments(function, &said).0), expected);
    }

    #[test]
    fn a_quantity_alone_makes_one_item() {
        let values = [("dishes[].quantity", "four", json!(4))];
        assert_eq!(nested("make it four", &values), json!({"dishes": [{"quantity": 4}]}));
    }
}
