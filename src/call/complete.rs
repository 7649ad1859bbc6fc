//! Makes a call from values that were grounded when they were said: they are assembled and validated as a whole.

use serde_json::{Map, Value};

use super::{Call, Checked, Coercion, Validator, Violation};
use crate::module::{Function, FunctionId, SlotPath};

/// The known values, assembled.
#[derive(Debug, Clone, PartialEq)]
pub struct Completed {
    /// The call, or else what it lacks (never empty).
    pub call: Result<Call, Vec<Violation>>,
    /// Without invalid values, in the order of the schema.
    pub arguments: Map<String, Value>,
    pub coercions: Vec<Coercion>,
}

impl Validator {
    /// Assembles values that were grounded in this turn or before, each with its JSON pointer (`/dishes/1/name`), adds
    /// values that the schema determines (defaults, constants), and validates the result. Nothing else gets into the
    /// call.
    #[must_use]
    pub fn complete<'a>(
        &self,
        function: &Function,
        id: FunctionId,
        known: impl IntoIterator<Item = (&'a str, &'a Value)>,
    ) -> Completed {
        let Checked { arguments, violations, coercions } = self.check(function, id, assembled(function, known));
        let call = if violations.is_empty() {
            Ok(Call { function: id, arguments: arguments.clone() })
        } else {
            Err(violations)
        };
        Completed { call, arguments, coercions }
    }
}

/// Nested by the pointers, members in the order of the schema. A value whose place conflicts with another one is left
/// out.
#[must_use]
pub fn assembled<'a>(function: &Function, known: impl IntoIterator<Item = (&'a str, &'a Value)>) -> Map<String, Value> {
    let mut order: Vec<(&str, &Value)> = known.into_iter().collect();
    order.sort_by_cached_key(|(pointer, _)| {
        let path = SlotPath::of_pointer(pointer);
        let slot = function.slots.iter().position(|slot| slot.path == path).unwrap_or(function.slots.len());
        let items: Vec<usize> = pointer.split('/').filter_map(|step| step.parse().ok()).collect();
        (slot, items)
    });
    let mut root = Value::Object(Map::new());
    for (pointer, value) in order {
        put(&mut root, pointer, value);
    }
    match root {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    }
}

/// Most items that a pointer may skip; forms number theirs without gaps.
const MOST_ITEMS: usize = 4_096;

fn put(root: &mut Value, pointer: &str, value: &Value) {
    let mut place = root;
    for step in pointer.split('/').skip(1) {
        let index = step.parse::<usize>().ok().filter(|index| *index < MOST_ITEMS);
        // The next step of a new place tells its type.
        if place.is_null() {
            *place = if index.is_some() { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
        }
        place = match (place, index) {
            (Value::Array(items), Some(index)) => {
                while items.len() <= index {
                    items.push(Value::Null);
                }
                &mut items[index]
            }
            (Value::Object(members), _) => {
                members.entry(step.replace("~1", "/").replace("~0", "~")).or_insert(Value::Null)
            }
            _ => return,
        };
    }
    if place.is_null() {
        place.clone_from(value);
    }
}
