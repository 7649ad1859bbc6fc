//! Compares expected with actual arguments, value by value. Pure.
//!
//! Both are walked as trees. An expected value is a scalar, a list of accepted ones (`""` or `null` in it means that
//! the slot may be omitted), or, where the schema has an array, the array; a list nested deeper than the schema's array
//! is a list of accepted arrays. Array items are paired by what they share, in any order.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value};

use self::nested::{ArrayNesting, Nested, nest};
use crate::module::{Function, PathStep};

mod nested;

/// With more items than this on either side, array items are paired in order.
const PAIRED_ITEMS: usize = 64;

/// The arguments of one function, as a turn understood them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Understood {
    pub arguments: Map<String, Value>,
    /// The words under each value, by JSON pointer.
    pub texts: BTreeMap<String, String>,
    /// JSON pointers of values that are the schema's defaults, which need not have been said.
    pub defaults: BTreeSet<String>,
}

/// The verdict on one value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Without item numbers: `dishes[].name`.
    pub slot: String,
    pub verdict: MatchOutcome,
    /// All accepted values; empty for [`MatchOutcome::Extra`] of an unexpected slot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub got: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchOutcome {
    /// A true positive.
    Right,
    /// A different value than expected: a false positive and a false negative.
    Wrong,
    /// Expected but absent: a false negative.
    Missing,
    /// Present but not expected, or wrong where it could be omitted: a false positive.
    Extra,
}

/// Counts of findings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct MatchCounts {
    pub true_positives: usize,
    pub false_positives: usize,
    pub false_negatives: usize,
}

impl std::ops::AddAssign for MatchCounts {
    fn add_assign(&mut self, other: Self) {
        self.true_positives += other.true_positives;
        self.false_positives += other.false_positives;
        self.false_negatives += other.false_negatives;
    }
}

impl MatchCounts {
    pub fn add(&mut self, verdict: MatchOutcome) {
        let (right, positive, negative) = match verdict {
            MatchOutcome::Right => (1, 0, 0),
            MatchOutcome::Wrong => (0, 1, 1),
            MatchOutcome::Missing => (0, 0, 1),
            MatchOutcome::Extra => (0, 1, 0),
        };
        self.true_positives += right;
        self.false_positives += positive;
        self.false_negatives += negative;
    }

    #[must_use]
    pub fn of(findings: &[Finding]) -> Self {
        let mut counts = Self::default();
        for finding in findings {
            counts.add(finding.verdict);
        }
        counts
    }

    #[must_use]
    pub const fn errors(self) -> usize {
        self.false_positives + self.false_negatives
    }
}

/// Compares the arguments of one function. The second result lists expected slots that the function does not have.
///
/// Members of `expected` are nested as in the call, or flat: a slot's path, or its last key. A flat one for a slot
/// within an array is compared with all values of that slot, in any item.
#[must_use]
pub fn compare(function: &Function, expected: &Map<String, Value>, got: &Understood) -> (Vec<Finding>, Vec<String>) {
    let shape = ArrayNesting::of(function);
    let Nested { arguments, scattered, unknown } = nest(function, expected);
    let mut walk = ArgumentMatcher { shape, got, consumed: BTreeSet::new() };
    let mut findings = Vec::new();
    for (path, value) in scattered {
        let mut found = Vec::new();
        scatter(&got.arguments, &path.0, &mut String::new(), &mut found);
        let slot = path.to_string();
        walk.array(value, &found, &slot, 1, &mut findings);
        walk.consumed.extend(found.into_iter().map(|(_, pointer)| pointer));
    }
    walk.object(&arguments, Some(&got.arguments), "", "", &mut findings);
    (findings, unknown)
}

/// Findings for `got` if nothing of it was expected.
#[must_use]
pub fn all_extra(got: &Understood) -> Vec<Finding> {
    let walk = ArgumentMatcher { shape: ArrayNesting::default(), got, consumed: BTreeSet::new() };
    let mut findings = Vec::new();
    walk.object(&Map::new(), Some(&got.arguments), "", "", &mut findings);
    findings
}

/// Every value at `steps`, with its pointer.
fn scatter<'a>(
    members: &'a Map<String, Value>,
    steps: &[PathStep],
    pointer: &mut String,
    found: &mut Vec<(&'a Value, String)>,
) {
    let Some((PathStep::Key(key), rest)) = steps.split_first() else { return };
    let Some(value) = members.get(&**key) else { return };
    let length = pointer.len();
    push_token(pointer, key);
    scatter_value(value, rest, pointer, found);
    pointer.truncate(length);
}

fn scatter_value<'a>(value: &'a Value, steps: &[PathStep], pointer: &mut String, found: &mut Vec<(&'a Value, String)>) {
    match (steps.first(), value) {
        (None, Value::Null) => {}
        (None, value) => found.push((value, pointer.clone())),
        (Some(PathStep::Key(_)), Value::Object(members)) => scatter(members, steps, pointer, found),
        (Some(PathStep::Each), Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                let length = pointer.len();
                push_token(pointer, &index.to_string());
                scatter_value(item, &steps[1..], pointer, found);
                pointer.truncate(length);
            }
        }
        (Some(_), _) => {}
    }
}

fn push_token(pointer: &mut String, key: &str) {
    pointer.push('/');
    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
}

fn below(pointer: &str, key: &str) -> String {
    let mut pointer = pointer.to_owned();
    push_token(&mut pointer, key);
    pointer
}

fn member(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

struct ArgumentMatcher<'a> {
    shape: ArrayNesting,
    got: &'a Understood,
    /// Pointers that flat members have already covered.
    consumed: BTreeSet<String>,
}

impl ArgumentMatcher<'_> {
    fn object(
        &self,
        expected: &Map<String, Value>,
        got: Option<&Map<String, Value>>,
        path: &str,
        pointer: &str,
        findings: &mut Vec<Finding>,
    ) {
        for (key, value) in expected {
            let there = got.and_then(|got| got.get(key)).filter(|there| !there.is_null());
            self.value(value, there, &member(path, key), &below(pointer, key), findings);
        }
        for (key, value) in got.into_iter().flatten().filter(|(key, _)| !expected.contains_key(*key)) {
            self.extra(value, &member(path, key), &below(pointer, key), findings);
        }
    }

    fn value(&self, expected: &Value, got: Option<&Value>, path: &str, pointer: &str, findings: &mut Vec<Finding>) {
        if let Some(depth) = self.shape.arrays.get(path) {
            let items: Vec<(&Value, String)> = match got {
                None => Vec::new(),
                Some(Value::Array(items)) => items
                    .iter()
                    .enumerate()
                    .filter(|(_, item)| !item.is_null())
                    .map(|(index, item)| (item, below(pointer, &index.to_string())))
                    .collect(),
                Some(single) => vec![(single, pointer.to_owned())],
            };
            return self.array(expected, &items, &format!("{path}[]"), *depth, findings);
        }
        let (accepted, may_be_absent) = alternatives(expected);
        let Some(got) = got else {
            match accepted.first() {
                Some(first) if !may_be_absent => self.missing(first, &accepted, path, findings),
                _ => {}
            }
            return;
        };
        // Objects are compared by their members, so that larger ones count more.
        if accepted.iter().any(|accepted| !accepted.is_object() && self.is_match(accepted, got, pointer)) {
            return findings.push(finding(path, MatchOutcome::Right, &accepted, Some(got)));
        }
        let readings = accepted.iter().filter_map(|accepted| accepted.as_object()).map(|members| {
            let mut findings = Vec::new();
            if let Value::Object(got) = got {
                self.object(members, Some(got), path, pointer, &mut findings);
            } else {
                self.object(members, None, path, pointer, &mut findings);
                self.extra(got, path, pointer, &mut findings);
            }
            findings
        });
        if let Some(best) = best_of(readings) {
            findings.extend(best);
        } else if got.is_object() || got.is_array() {
            if let (Some(first), false) = (accepted.first(), may_be_absent) {
                self.missing(first, &accepted, path, findings);
            }
            self.extra(got, path, pointer, findings);
        } else if may_be_absent || accepted.is_empty() {
            findings.push(finding(path, MatchOutcome::Extra, &accepted, Some(got)));
        } else {
            findings.push(finding(path, MatchOutcome::Wrong, &accepted, Some(got)));
        }
    }

    /// `depth` is the schema's nesting of arrays here; `path` is that of the items.
    fn array(&self, expected: &Value, got: &[(&Value, String)], path: &str, depth: usize, findings: &mut Vec<Finding>) {
        let is_absence = |value: &Value| value.is_null() || value.as_str() == Some("");
        let (accepted, may_be_absent): (Vec<Vec<&Value>>, bool) = match expected {
            Value::Array(items) if nesting(expected) > depth => (
                items
                    .iter()
                    .filter(|item| !is_absence(item))
                    .map(|item| item.as_array().map_or_else(|| vec![item], |items| items.iter().collect()))
                    .collect(),
                items.iter().any(is_absence),
            ),
            Value::Array(items) => {
                let values: Vec<&Value> = items.iter().filter(|item| !is_absence(item)).collect();
                let absent = values.len() < items.len();
                (if values.is_empty() { Vec::new() } else { vec![values] }, absent)
            }
            single if is_absence(single) => (Vec::new(), true),
            single => (vec![vec![single]], false),
        };
        if got.is_empty() && may_be_absent {
            return;
        }
        match best_of(accepted.iter().map(|accepted| self.items(accepted, got, path))) {
            Some(best) => findings.extend(best),
            None => {
                for (value, pointer) in got {
                    self.extra(value, path, pointer, findings);
                }
            }
        }
    }

    /// Pairs the items that share most, then counts the rest on either side.
    fn items(&self, expected: &[&Value], got: &[(&Value, String)], path: &str) -> Vec<Finding> {
        let one = |expected: &Value, got: Option<&(&Value, String)>| {
            let mut findings = Vec::new();
            let (value, pointer) = got.map_or((None, ""), |(value, pointer)| (Some(*value), pointer.as_str()));
            self.value(expected, value, path, pointer, &mut findings);
            findings
        };
        if expected.len() > PAIRED_ITEMS || got.len() > PAIRED_ITEMS {
            let mut findings: Vec<Finding> =
                expected.iter().enumerate().flat_map(|(index, expected)| one(expected, got.get(index))).collect();
            for (value, pointer) in got.iter().skip(expected.len()) {
                self.extra(value, path, pointer, &mut findings);
            }
            return findings;
        }
        let mut pairs: Vec<(usize, usize, MatchCounts, Vec<Finding>)> = Vec::new();
        for (left, expected) in expected.iter().enumerate() {
            for (right, got) in got.iter().enumerate() {
                let findings = one(expected, Some(got));
                let counts = MatchCounts::of(&findings);
                if counts.true_positives > 0 {
                    pairs.push((left, right, counts, findings));
                }
            }
        }
        // The sort is stable: of equals the earlier items go first.
        pairs.sort_by_key(|(.., counts, _)| (std::cmp::Reverse(counts.true_positives), counts.errors()));
        let (mut lefts, mut rights) = (BTreeSet::new(), BTreeSet::new());
        let mut findings = Vec::new();
        for (left, right, _, found) in pairs {
            if !lefts.contains(&left) && !rights.contains(&right) {
                lefts.insert(left);
                rights.insert(right);
                findings.extend(found);
            }
        }
        for (_, expected) in expected.iter().enumerate().filter(|(index, _)| !lefts.contains(index)) {
            findings.extend(one(expected, None));
        }
        for (_, (value, pointer)) in got.iter().enumerate().filter(|(index, _)| !rights.contains(index)) {
            self.extra(value, path, pointer, &mut findings);
        }
        findings
    }

    fn missing(&self, first: &Value, accepted: &[&Value], path: &str, findings: &mut Vec<Finding>) {
        match first {
            Value::Object(members) => self.object(members, None, path, "", findings),
            _ => findings.push(finding(path, MatchOutcome::Missing, accepted, None)),
        }
    }

    fn extra(&self, got: &Value, path: &str, pointer: &str, findings: &mut Vec<Finding>) {
        match got {
            Value::Null => {}
            Value::Object(members) => {
                for (key, value) in members {
                    self.extra(value, &member(path, key), &below(pointer, key), findings);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.extra(item, &format!("{path}[]"), &below(pointer, &index.to_string()), findings);
                }
            }
            scalar => {
                if !self.consumed.contains(pointer) && !self.got.defaults.contains(pointer) {
                    findings.push(finding(path, MatchOutcome::Extra, &[], Some(scalar)));
                }
            }
        }
    }

    fn is_match(&self, accepted: &Value, got: &Value, pointer: &str) -> bool {
        if equal(accepted, got) {
            return true;
        }
        let (Some(accepted), Some(value)) = (surface(accepted), surface(got)) else { return false };
        accepted == value || self.got.texts.get(pointer).is_some_and(|text| trimmed(text) == accepted)
    }
}

fn finding(path: &str, verdict: MatchOutcome, expected: &[&Value], got: Option<&Value>) -> Finding {
    Finding {
        slot: path.to_owned(),
        verdict,
        expected: expected.iter().map(|value| (*value).clone()).collect(),
        got: got.cloned(),
    }
}

/// The accepted values outside an array, and whether the value may be omitted.
fn alternatives(expected: &Value) -> (Vec<&Value>, bool) {
    let all: Vec<&Value> = match expected {
        Value::Array(items) => items.iter().collect(),
        single => vec![single],
    };
    let count = all.len();
    let accepted: Vec<&Value> =
        all.into_iter().filter(|value| !value.is_null() && value.as_str() != Some("")).collect();
    let may_be_absent = accepted.len() < count;
    (accepted, may_be_absent)
}

/// Depth of nested lists: 0 for other values, 1 for a list of those.
fn nesting(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(nesting).max().unwrap_or(0),
        _ => 0,
    }
}

/// The reading with the fewest errors, then with the most right values, then the first.
fn best_of(readings: impl Iterator<Item = Vec<Finding>>) -> Option<Vec<Finding>> {
    readings.min_by_key(|findings| {
        let counts = MatchCounts::of(findings);
        (counts.errors(), std::cmp::Reverse(counts.true_positives))
    })
}

/// Equal as JSON, with 5 and 5.0 as the same number.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| equal(value, other)))
        }
        _ => left == right,
    }
}

/// A scalar as people write it, without case and outer punctuation; `None` for lists and objects.
fn surface(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(trimmed(text)),
        Value::Number(number) => Some(match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() < 1e15 => format!("{float:.0}"),
            _ => number.to_string(),
        }),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Lower case, with single spaces, and only letters and digits (and signs of numbers) at the ends.
fn trimmed(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split_whitespace().collect::<Vec<_>>().join(" ");
    let core = words.trim_matches(|c: char| !c.is_alphanumeric());
    if core.is_empty() {
        return words;
    }
    // "-5" and "5" differ, and so do a number with "+" and one without.
    let start = words.len() - words.trim_start_matches(|c: char| !c.is_alphanumeric()).len();
    let signed = core.starts_with(|c: char| c.is_ascii_digit()) && words[..start].ends_with(['-', '+', '.']);
    if signed { format!("{}{core}", &words[start - 1..start]) } else { core.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::eval::testing::{function, map};

    fn order() -> Function {
        function(
            "order",
            &["dishes[].name", "dishes[].quantity", "dishes[].extras[]", "service", "address.city", "when"],
        )
    }

    fn got(arguments: Value) -> Understood {
        Understood { arguments: map(arguments), ..Understood::default() }
    }

    fn counts(expected: Value, arguments: Value) -> (usize, usize, usize) {
        let (findings, unknown) = compare(&order(), &map(expected), &got(arguments));
        assert_eq!(unknown, Vec::<String>::new());
        let counts = MatchCounts::of(&findings);
        (counts.true_positives, counts.false_positives, counts.false_negatives)
    }

    #[test]
    fn scalars_count_once() {
        assert_eq!(counts(json!({"service": "pickup"}), json!({"service": "Pickup."})), (1, 0, 0));
        assert_eq!(counts(json!({"service": "pickup"}), json!({"service": "delivery"})), (0, 1, 1));
        assert_eq!(counts(json!({"service": "pickup"}), json!({})), (0, 0, 1));
        assert_eq!(counts(json!({}), json!({"service": "delivery"})), (0, 1, 0));
        assert_eq!(counts(json!({}), json!({"service": null})), (0, 0, 0));
        assert_eq!(counts(json!({"when": 5}), json!({"when": 5.0})), (1, 0, 0));
        assert_eq!(counts(json!({"when": 5}), json!({"when": -5})), (0, 1, 1));
        assert_eq!(counts(json!({"when": "-5"}), json!({"when": "5"})), (0, 1, 1));
    }

    #[test]
    fn a_list_holds_the_accepted_values() {
        assert_eq!(counts(json!({"when": ["noon", "12:00"]}), json!({"when": "12:00"})), (1, 0, 0));
        assert_eq!(counts(json!({"when": ["noon", ""]}), json!({})), (0, 0, 0));
        assert_eq!(counts(json!({"when": ["noon", ""]}), json!({"when": "one"})), (0, 1, 0));
        assert_eq!(counts(json!({"when": ""}), json!({"when": "one"})), (0, 1, 0));
        assert_eq!(
            counts(json!({"address": [{"city": "Rome"}, {"city": "Bonn"}]}), json!({"address": {"city": "Bonn"}})),
            (1, 0, 0)
        );
        assert_eq!(counts(json!({"address": {"city": "Rome"}}), json!({"address": "Rome"})), (0, 1, 1));
        assert_eq!(counts(json!({"when": "noon"}), json!({"when": {"hour": 12, "minute": 0}})), (0, 2, 1));
    }

    #[test]
    fn the_words_count_as_well_as_the_value() {
        let mut understood = got(json!({"when": "2027-02-14"}));
        understood.texts.insert("/when".to_owned(), "Valentine's day".to_owned());
        let (findings, _) = compare(&order(), &map(json!({"when": "valentine's day"})), &understood);
        assert_eq!(findings[0].verdict, MatchOutcome::Right);
    }

    #[test]
    fn a_default_is_no_claim() {
        let mut understood = got(json!({"service": "pickup"}));
        understood.defaults.insert("/service".to_owned());
        assert!(compare(&order(), &Map::new(), &understood).0.is_empty());
        assert!(all_extra(&understood).is_empty());
    }

    #[test]
    fn items_are_paired_by_what_they_share() {
        let expected = json!({"dishes": [{"name": "soup", "quantity": 2}, {"name": "pie", "quantity": [1, ""]}]});
        let swapped = json!({"dishes": [{"name": "pie"}, {"name": "soup", "quantity": 2}]});
        assert_eq!(counts(expected.clone(), swapped), (3, 0, 0));
        // The quantity went to the wrong dish: both names are right, one quantity is missing, one is extra.
        let crossed = json!({"dishes": [{"name": "pie", "quantity": 2}, {"name": "soup"}]});
        assert_eq!(counts(expected.clone(), crossed), (2, 1, 1));
        assert_eq!(counts(expected.clone(), json!({"dishes": [{"name": "cake"}]})), (0, 1, 3));
        assert_eq!(counts(expected, json!({})), (0, 0, 3));
    }

    #[test]
    fn arrays_and_lists_of_arrays_are_told_apart_by_depth() {
        let extras = |value: Value| json!({"dishes": [{"name": "pie", "extras": value}]});
        assert_eq!(counts(extras(json!(["a", "b"])), extras(json!(["b", "a"]))), (3, 0, 0));
        assert_eq!(counts(extras(json!(["a", "b"])), extras(json!(["b", "c"]))), (2, 1, 1));
        assert_eq!(counts(extras(json!([["a"], ["b"]])), extras(json!(["b"]))), (2, 0, 0));
        assert_eq!(counts(extras(json!(["a", ""])), json!({"dishes": [{"name": "pie"}]})), (1, 0, 0));
        let matrix = function("invert", &["matrix[][]"]);
        for expected in [json!({"matrix": [[1, 2], [3, 4]]}), json!({"matrix": [[[1, 2], [3, 4]]]})] {
            let (findings, _) = compare(&matrix, &map(expected), &got(json!({"matrix": [[1, 2], [3, 4]]})));
            assert_eq!(MatchCounts::of(&findings).errors(), 0, "{findings:?}");
        }
    }

    #[test]
    fn flat_members_find_their_place() {
        let arguments = json!({"address": {"city": "Rome"}, "dishes": [{"name": "soup"}, {"name": "pie"}]});
        assert_eq!(counts(json!({"city": "Rome", "dishes[].name": ["pie", "soup"]}), arguments.clone()), (3, 0, 0));
        assert_eq!(counts(json!({"address.city": "Rome", "name": "pie"}), arguments), (2, 1, 0));
        let (findings, unknown) = compare(&order(), &map(json!({"colour": "red"})), &got(json!({})));
        assert_eq!((unknown, findings[0].verdict), (vec!["colour".to_owned()], MatchOutcome::Missing));
    }

    #[test]
    fn items_may_be_numbered() {
        let said = json!({"dishes": [{"name": "pie", "quantity": 2}, {"name": "soup", "extras": ["salt", "oil"]}]});
        let right = json!({"dishes[0].name": ["pie", "a pie"], "dishes[0].quantity": 2, "dishes[1].name": "soup",
            "dishes[1].extras[0]": ["salt", "some salt"], "dishes[1].extras[1]": "oil"});
        assert_eq!(counts(right, said.clone()), (5, 0, 0));
        let wrong = json!({"dishes[0].name": "soup", "dishes[0].quantity": 2, "dishes[1].name": "pie",
            "dishes[1].extras[0]": "salt", "dishes[1].extras[1]": "oil"});
        let (right, extra, missing) = counts(wrong, said);
        assert!(right < 5 && extra > 0 && missing > 0);
    }

    #[test]
    fn long_arrays_are_compared_in_order() {
        let long: Vec<usize> = (0..PAIRED_ITEMS + 1).collect();
        let function = function("sum", &["numbers[]"]);
        let (findings, _) = compare(&function, &map(json!({"numbers": long})), &got(json!({"numbers": long})));
        assert_eq!(MatchCounts::of(&findings).true_positives, PAIRED_ITEMS + 1);
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-3_i64..3).prop_map(Value::from),
            "[a-c.]{0,2}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("dishes|name|city|address|when|extras", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn nothing_panics(expected in any_value(), arguments in any_value()) {
            if let (Value::Object(expected), Value::Object(arguments)) = (expected, arguments) {
                let _ = compare(&order(), &expected, &Understood { arguments, ..Understood::default() });
            }
        }

        #[test]
        fn the_order_of_items_does_not_matter(mut names in prop::collection::vec("[a-d]", 0..5)) {
            let expected = json!({"dishes": names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>()});
            names.reverse();
            let arguments = json!({"dishes": names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>()});
            prop_assert_eq!(counts(expected, arguments), (names.len(), 0, 0));
        }
    }
}
