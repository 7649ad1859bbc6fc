//! The schemas that a model sees: for a function as a tool, and for answers that name a function or give arguments.
//!
//! They differ from the function's own schema where that helps a model; the validator checks its answer against the
//! full schema. Too much text is cut ([`fitted`]); anything may be null, since a model must be able to say that
//! something was not said ([`answerable`]); and a slot of a list is an enum of the labels that were said ([`labels`]).

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::{
    assist::{
        brief::Brief,
        control_tokens::{neutral, neutralise},
    },
    llm::{Tool, strict},
    module::{Function, FunctionId, PathStep, Slot},
};

mod fitted;
mod labels;

pub(crate) use fitted::{description, fitted};
use labels::Narrowed;

/// Members of a call in an answer.
pub(crate) const FUNCTION: &str = "function";
pub(crate) const ARGUMENTS: &str = "arguments";
/// Stands in place of a function's name if no function fits.
pub(crate) const NONE: &str = "NONE";

/// True if a text is that word, whatever punctuation the model puts around it.
pub(crate) fn says_none(text: &str) -> bool {
    text.trim_matches(|c: char| !c.is_alphanumeric()).eq_ignore_ascii_case(NONE)
}

/// The function as a tool; `strict` applies if the server supports it and the schema allows it.
pub(crate) fn tool(brief: &Brief<'_>, function: FunctionId, strict: bool) -> Tool {
    let snapshot = brief.snapshot;
    let kept = &snapshot.shown[function.index()].tools[usize::from(strict)];
    let mut tool = kept.get_or_init(|| whole(snapshot.module.function(function), strict)).clone();
    for (path, labels) in labels::in_play(brief, function) {
        let labels = labels.iter().map(|label| neutral(label).into_owned()).collect();
        labels::narrow(Arc::make_mut(&mut tool.parameters), tool.strict, &path, labels);
    }
    tool
}

/// The function as a tool, independent of the utterance.
fn whole(function: &Function, strict: bool) -> Tool {
    let plain = fitted(&function.parameters);
    let made = if strict { answerable(&plain) } else { None };
    let strict = made.is_some();
    let mut parameters = made.unwrap_or_else(|| plain.into_owned());
    neutralise(&mut parameters);
    let description = neutral(&description(&function.description)).into_owned();
    Tool { name: function.wire_name.clone(), description, parameters: parameters.into(), strict }
}

/// `{"call": ...}` with one call of a candidate, or none; with `several`, `{"calls": [...]}`.
pub(crate) fn calls(brief: &Brief<'_>, among: &[FunctionId], several: bool) -> Value {
    let functions: Vec<(&str, Value)> = among
        .iter()
        .map(|id| (brief.snapshot.module.function(*id).wire_name.as_str(), arguments(brief, *id)))
        .collect();
    union(functions, several)
}

/// `{"function": ...}` with the name of one candidate, or none; with `several`, `{"functions": [...]}`.
pub(crate) fn choice(brief: &Brief<'_>, among: &[FunctionId], several: bool) -> Value {
    let module = &brief.snapshot.module;
    let mut names: Vec<&str> = among.iter().map(|id| module.function(*id).wire_name.as_str()).collect();
    if several {
        return closed([("functions", json!({"type": "array", "items": {"type": "string", "enum": names}}))]);
    }
    names.push(NONE);
    closed([(FUNCTION, json!({"type": "string", "enum": names}))])
}

/// `{"answer": true}`.
pub(crate) fn answer() -> Value {
    closed([("answer", json!({"type": "boolean"}))])
}

/// `{"answer": ...}` with one of these words.
pub(crate) fn one_of(words: &[&str]) -> Value {
    closed([("answer", json!({"type": "string", "enum": words}))])
}

/// The schema of the arguments themselves.
pub(crate) fn arguments(brief: &Brief<'_>, function: FunctionId) -> Value {
    Arc::unwrap_or_clone(tool(brief, function, true).parameters)
}

/// `{"value": ...}`, with null for a value that was not said.
pub(crate) fn value(brief: &Brief<'_>, function: FunctionId, slot: &Slot) -> Value {
    let mut of = slot.schema.clone();
    if let Some(labels) = labels::in_play(brief, function).remove(&slot.path)
        && let Value::Object(members) = &mut of
    {
        Narrowed { labels, nullable: false }.apply(members);
    }
    if slot.path.0.last() == Some(&PathStep::Each) {
        of = json!({"type": "array", "items": of});
    }
    let mut wrapped = json!({"type": "object", "properties": {"value": of}});
    // A recursive schema refers to the definitions of the whole schema.
    if let Some(definitions) = brief.snapshot.module.function(function).parameters.get(DEFINITIONS)
        && refers(&slot.schema)
    {
        wrapped[DEFINITIONS] = definitions.clone();
    }
    let plain = fitted(&wrapped).into_owned();
    let mut schema = answerable(&plain).unwrap_or(plain);
    neutralise(&mut schema);
    schema
}

const DEFINITIONS: &str = "$defs";

/// The strict form, in which everything except items of lists may be null; `None` if the schema has no strict form.
fn answerable(plain: &Value) -> Option<Value> {
    let mut optional = plain.clone();
    make_optional(&mut optional);
    strict::strict(&optional).ok()
}

fn make_optional(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    // A schema with a required but undeclared member has no strict form, and this change must not give it one.
    let declared = |key: &Value| members.get("properties").and_then(|of| of.get(key.as_str()?)).is_some();
    if members.get("required").and_then(Value::as_array).is_none_or(|required| required.iter().all(declared)) {
        members.shift_remove("required");
    }
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        properties.values_mut().for_each(make_optional);
    }
}

/// One answer schema for all functions, each with the schema of its arguments.
fn union(functions: Vec<(&str, Value)>, several: bool) -> Value {
    let mut definitions = Map::new();
    let mut union: Vec<Value> = functions
        .into_iter()
        .map(|(name, mut arguments)| {
            hoist(name, &mut arguments, &mut definitions);
            closed([(FUNCTION, json!({"type": "string", "enum": [name]})), (ARGUMENTS, arguments)])
        })
        .collect();
    let mut whole = if several {
        let mut list = json!({"type": "array", "items": null});
        list["items"] = any_of(union);
        closed([("calls", list)])
    } else {
        union.push(closed([(FUNCTION, json!({"type": "string", "enum": [NONE]}))]));
        closed([("call", any_of(union))])
    };
    if !definitions.is_empty() {
        whole[DEFINITIONS] = definitions.into();
    }
    whole
}

/// Moves the definitions of a schema that becomes part of another one to where references find them. Their new names, a
/// function's wire name and a number, are unique among all functions.
fn hoist(name: &str, schema: &mut Value, definitions: &mut Map<String, Value>) {
    let Some(Value::Object(own)) = schema.as_object_mut().and_then(|of| of.shift_remove(DEFINITIONS)) else { return };
    let renamed: Vec<(String, String)> =
        own.keys().enumerate().map(|(index, key)| (reference(key), format!("{name}-{index}"))).collect();
    let rename = |schema: &mut Value| {
        each_schema(schema, &mut |members| {
            if let Some(Value::String(target)) = members.get_mut("$ref")
                && let Some((_, new)) = renamed.iter().find(|(old, _)| old == target)
            {
                *target = reference(new);
            }
        });
    };
    rename(schema);
    for ((_, new), (_, mut of)) in renamed.iter().zip(own) {
        rename(&mut of);
        definitions.insert(new.clone(), of);
    }
}

fn reference(definition: &str) -> String {
    format!("#/{DEFINITIONS}/{}", definition.replace('~', "~0").replace('/', "~1"))
}

fn refers(schema: &Value) -> bool {
    let mut found = false;
    // Copying is acceptable: references are rare, and so are slots that are asked for one by one.
    each_schema(&mut schema.clone(), &mut |members| found |= members.contains_key("$ref"));
    found
}

/// Visits the members of a schema and of all schemas in it, outer ones first.
fn each_schema(schema: &mut Value, visit: &mut dyn FnMut(&mut Map<String, Value>)) {
    let Value::Object(members) = schema else { return };
    visit(members);
    for (key, of) in members.iter_mut() {
        match (key.as_str(), of) {
            ("properties" | "patternProperties" | "dependentSchemas" | "$defs", Value::Object(named)) => {
                named.values_mut().for_each(|of| each_schema(of, visit));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(all)) => {
                all.iter_mut().for_each(|of| each_schema(of, visit));
            }
            (
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                of,
            ) => each_schema(of, visit),
            _ => {}
        }
    }
}

/// A schema for values that fit one of `branches`; `json!` would copy them.
fn any_of(branches: Vec<Value>) -> Value {
    Value::Object(Map::from_iter([("anyOf".to_owned(), branches.into())]))
}

/// A closed object schema with exactly these members, in this order.
fn closed<const COUNT: usize>(members: [(&str, Value); COUNT]) -> Value {
    let required: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> = members.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    let mut all = json!({"type": "object", "properties": null, "required": required, "additionalProperties": false});
    // Set outside `json!`, which would copy it.
    all["properties"] = properties.into();
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{
        assist::schema::*,
        module::{SlotPath, schema::validator},
    };

    fn node() -> Value {
        json!({"type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/node"}}})
    }

    /// A schema and a value that fits it.
    fn pair() -> impl Strategy<Value = (Value, Value)> {
        let leaf = prop_oneof![
            Just((json!({"type": "string", "minLength": 1, "description": "a text"}), json!("x"))),
            Just((json!({"type": ["string", "null"]}), Value::Null)),
            Just((json!({"type": "integer", "minimum": 1}), json!(3))),
            Just((json!({"type": "boolean"}), json!(true))),
            Just((json!({"enum": ["a", 1]}), json!(1))),
            Just((json!({"const": "only"}), json!("only"))),
            Just((json!({"$ref": "#/$defs/node"}), json!({"name": "a", "next": {"name": "b"}}))),
            // These have no strict form.
            Just((json!({}), json!([1]))),
            Just((json!({"type": "object"}), json!({"any": "thing"}))),
            Just((json!({"type": "string", "description": "x".repeat(9_000)}), json!("y"))),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                inner.clone().prop_map(|(of, value)| (json!({"type": "array", "items": of}), json!([value]))),
                (inner.clone(), any::<bool>()).prop_map(|((of, value), first)| {
                    let other = json!({"type": "object", "required": ["z"], "properties": {"z": {"type": "null"}}});
                    let both = if first { json!([of, other]) } else { json!([other, of]) };
                    (json!({ "anyOf": both }), value)
                }),
                object(inner),
            ]
        })
    }

    fn object(inner: impl Strategy<Value = (Value, Value)>) -> impl Strategy<Value = (Value, Value)> {
        proptest::collection::vec((inner, any::<bool>(), any::<bool>()), 0..4).prop_map(|members| {
            let (mut properties, mut object, mut required) = (Map::new(), Map::new(), Vec::new());
            for (index, ((of, value), is_required, is_there)) in members.into_iter().enumerate() {
                let name = ["properties", "$ref", "enum", "description"][index];
                properties.insert(name.to_owned(), of);
                if is_required {
                    required.push(name);
                }
                if is_required || is_there {
                    object.insert(name.to_owned(), value);
                }
            }
            (json!({"type": "object", "properties": properties, "required": required}), object.into())
        })
    }

    fn fits(root: &Value, schema: &Value, value: &Value) -> bool {
        let mut whole = schema.clone();
        if let (Value::Object(members), Some(definitions)) = (&mut whole, root.get(DEFINITIONS)) {
            members.entry(DEFINITIONS).or_insert_with(|| definitions.clone());
        }
        validator(&whole).expect("a schema").is_valid(value)
    }

    /// The value as a model must write it: null for every member that is left out.
    fn padded(root: &Value, schema: &Value, value: &Value) -> Value {
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            return padded(root, root.pointer(&target[1..]).expect("a definition"), value);
        }
        if let Some(Value::Array(branches)) = schema.get("anyOf") {
            let written = branches.iter().map(|branch| (branch, padded(root, branch, value)));
            let fitting = written.into_iter().find(|(branch, value)| fits(root, branch, value));
            return fitting.map_or_else(|| value.clone(), |(_, value)| value);
        }
        match (value, schema.get("properties").and_then(Value::as_object), schema.get("items")) {
            (Value::Object(object), Some(properties), _) => properties
                .iter()
                .map(|(key, of)| (key.clone(), object.get(key).map_or(Value::Null, |value| padded(root, of, value))))
                .collect::<Map<String, Value>>()
                .into(),
            (Value::Array(items), _, Some(of)) => items.iter().map(|item| padded(root, of, item)).collect(),
            _ => value.clone(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        /// For any module, arguments that fit the function also fit what the model sees, alone and in a union.
        #[test]
        fn whatever_is_valid_can_be_said((mut plain, mut value) in object(pair()), labels in 1_usize..4) {
            plain["properties"]["place"] = json!({"type": "string", "description": "where"});
            plain[DEFINITIONS] = json!({ "node": node() });
            let labels: Vec<String> = (0..labels).map(|index| format!("place {index}")).collect();
            value["place"] = labels[labels.len() - 1].as_str().into();
            prop_assert!(fits(&plain, &plain, &value));

            let place = SlotPath(vec![PathStep::Key("place".into())]);
            let mut seen = fitted(&plain).into_owned();
            let made = answerable(&seen);
            labels::narrow(&mut seen, false, &place, labels.clone());
            prop_assert!(fits(&seen, &seen, &value), "{seen}");
            let is_strict = made.is_some();
            let schema = made.map(|mut made| {
                labels::narrow(&mut made, true, &place, labels);
                made
            });
            let schema = schema.unwrap_or(seen);
            let said = if is_strict { padded(&schema, &schema, &value) } else { value };
            prop_assert!(fits(&schema, &schema, &said), "{said} {schema}");

            for several in [false, true] {
                let whole = union(vec![("f", schema.clone()), ("f-0", schema.clone())], several);
                for name in ["f", "f-0"] {
                    let call = json!({ (FUNCTION): name, (ARGUMENTS): said });
                    let answer = if several { json!({"calls": [call, call]}) } else { json!({ "call": call }) };
                    prop_assert!(fits(&whole, &whole, &answer), "{answer} {whole}");
                }
                let none = if several { json!({"calls": []}) } else { json!({"call": { (FUNCTION): NONE }}) };
                prop_assert!(fits(&whole, &whole, &none));
                if !is_strict {
                    prop_assert!(strict::strict(&whole).is_ok_and(|made| made == whole) == is_strict);
                }
            }
        }
    }

    #[test]
    fn definitions_move_to_the_root_under_names_of_their_own() {
        let recursive = |of: &str| {
            let plain = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}, "b": {"type": of}},
                "$defs": { "node": node() }});
            answerable(&plain).expect("a strict form")
        };
        let whole = union(vec![("f", recursive("string")), ("g", recursive("integer"))], false);
        let names: Vec<&String> = whole[DEFINITIONS].as_object().expect("definitions").keys().collect();
        assert_eq!(names, ["f-0", "g-0"]);
        assert!(whole.to_string().matches("$defs").count() > 1 && !whole.to_string().contains("#/$defs/node"));
        assert_eq!(strict::strict(&whole).as_ref(), Ok(&whole), "it is strict as a whole");
        let call = |name: &str, b: Value| {
            let a = json!({"name": "x", "next": {"name": "y", "next": null}});
            json!({"call": { (FUNCTION): name, (ARGUMENTS): {"a": a, "b": b} }})
        };
        assert!(fits(&whole, &whole, &call("g", json!(1))));
        assert!(!fits(&whole, &whole, &call("f", json!(1))));
    }

    #[test]
    fn what_was_not_said_may_be_null_but_in_lists() {
        let plain = json!({"type": "object", "required": ["size", "dishes"], "properties": {
            "size": {"type": "string", "enum": ["s", "l"]},
            "dishes": {"type": "array", "items": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"}}}}}});
        let made = answerable(&plain).expect("a strict form");
        assert!(fits(&made, &made, &json!({"size": null, "dishes": null})));
        assert!(!fits(&made, &made, &json!({"size": null, "dishes": [{"name": null}]})));
        assert!(!fits(&made, &made, &json!({"size": null})));
    }
}
