//! The results of deciding, as data: nothing here is put into words yet.

use serde_json::{Map, Value};

use crate::{
    call::{Call, SlotValue, Violation},
    conversation::{InvalidValue, Pending},
    decide::features::Features,
    module::{Function, FunctionId, SlotPath},
    probability::EVEN,
    text::Span,
};

/// What was decided, by whatever means.
#[derive(Debug, Clone)]
pub(crate) struct Decision {
    pub outcome: Outcome,
    /// Probability that the outcome is right, 0 to 1.
    pub confidence: f32,
    /// What is understood so far, complete or not: one frame per function that was asked for, in the order of the
    /// utterance.
    pub frames: Vec<Frame>,
    /// The reasons, in words, and notes on what was dropped or repaired.
    pub notes: Vec<String>,
    /// The alternatives that were compared, likeliest first.
    pub alternatives: Vec<Alternative>,
}

impl Decision {
    /// Turns a call into a question, since part of the utterance was not read.
    pub(crate) fn doubt(&mut self) {
        self.confidence = self.confidence.min(EVEN);
        if let (Outcome::Call(_), Some(frame)) = (&self.outcome, self.frames.first()) {
            self.outcome = Outcome::Ask(Pending::Confirm { function: frame.function });
        }
    }
}

/// The utterance read as a request for one function, with its evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    pub function: FunctionId,
    /// Probability that this function, and no other, is meant, 0 to 1.
    pub meant: f32,
    /// Probability that the whole answer is right: the function, and every value.
    pub right: f32,
    pub features: Features,
    pub frame: Frame,
}

/// See [the module](self).
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// Valid and complete; never empty.
    Call(Vec<Call>),
    Ask(Pending),
    /// Out of scope.
    NoMatch,
}

impl Outcome {
    /// True if the person is to be asked which of several functions is meant.
    pub(crate) const fn is_tie(&self) -> bool {
        matches!(self, Self::Ask(Pending::Tie { .. }))
    }
}

/// One function with what is known of its slots.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    pub function: FunctionId,
    /// Probability that this function was meant, 0 to 1.
    pub confidence: f32,
    /// The part of the utterance that asks for it.
    pub segment: Span,
    pub slots: Vec<SlotValue>,
    /// Values that were said only to be ruled out ("no onions"): never part of a call.
    pub excluded: Vec<SlotValue>,
    /// Required slots without a value, in the schema's order.
    pub missing: Vec<SlotPath>,
    pub invalid: Vec<Violation>,
}

impl Frame {
    /// The values that may be only a part of what was said. The person is asked before a call with one of them.
    pub(crate) fn in_doubt(&self) -> impl Iterator<Item = &SlotValue> {
        self.slots.iter().filter(|slot| slot.unread.is_some())
    }

    /// The next thing to ask of an incomplete frame: an invalid value comes first, because the person believes that it
    /// is settled. `None` if nothing is missing or invalid.
    pub(crate) fn asks(&self) -> Option<Pending> {
        let function = self.function;
        if let Some(violation) = self.invalid.first() {
            return Some(Pending::Invalid { function, aside: InvalidValue::new(violation, 0) });
        }
        self.missing.first().map(|slot| Pending::Missing { function, pointers: vec![slot.pointer()] })
    }

    /// The known values, as the arguments of a call.
    pub(crate) fn arguments(&self) -> Map<String, Value> {
        let mut root = Value::Object(Map::new());
        for slot in &self.slots {
            let keys: Vec<&str> = slot.pointer.split('/').skip(1).collect();
            put(&mut root, &keys, &slot.value);
        }
        if let Value::Object(arguments) = root { arguments } else { Map::new() }
    }
}

/// Puts a value at a place that may not exist yet. If two values claim one place, the first one keeps it.
fn put(place: &mut Value, keys: &[&str], value: &Value) {
    let Some((key, rest)) = keys.split_first() else {
        if place.is_null() {
            *place = value.clone();
        }
        return;
    };
    match (key.parse::<usize>(), place.is_null()) {
        (Ok(_), true) => *place = Value::Array(Vec::new()),
        (Err(_), true) => *place = Value::Object(Map::new()),
        _ => {}
    }
    match (place, key.parse::<usize>()) {
        (Value::Array(items), Ok(index)) => {
            items.resize(items.len().max(index + 1), Value::Null);
            put(&mut items[index], rest, value);
        }
        (Value::Object(members), _) => {
            let member = members.entry(key.replace("~1", "/").replace("~0", "~")).or_insert(Value::Null);
            put(member, rest, value);
        }
        _ => {}
    }
}

/// The slots that these violations report as missing, in the order of the schema, which is the order of asking.
pub(crate) fn missing<'a>(function: &Function, lacking: impl Iterator<Item = &'a Violation>) -> Vec<SlotPath> {
    let mut paths: Vec<SlotPath> = lacking.map(|violation| SlotPath::of_pointer(&violation.path)).collect();
    let place = |path: &SlotPath| function.slots.iter().position(|slot| slot.path == *path);
    paths.sort_by_key(|path| place(path).unwrap_or(function.slots.len()));
    paths
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{call::Source, decide::outcome::*};

    #[test]
    fn known_values_are_arguments() {
        let slot = |pointer: &str, value: Value| SlotValue::unsaid(pointer.to_owned(), value, Source::Default, 1.0);
        let frame = Frame {
            function: FunctionId::from_index(0),
            confidence: 1.0,
            segment: Span::new(0, 0),
            slots: vec![
                slot("/dishes/1/name", json!("coke")),
                slot("/dishes/0/name", json!("pizza")),
                slot("/a~1b", json!(2)),
                slot("/dishes/name", json!("lost")),
            ],
            excluded: Vec::new(),
            missing: Vec::new(),
            invalid: Vec::new(),
        };
        let known = json!({"dishes": [{"name": "pizza"}, {"name": "coke"}], "a/b": 2});
        assert_eq!(Value::Object(frame.arguments()), known);
    }
}
