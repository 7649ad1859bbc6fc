//! Small modules for the tests of this layer.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    language::Language,
    module::{
        Counting, Function, Instance, ListSpec, Module, ModuleName, PathStep, Recognizer, RecognizerId, RecognizerKind,
        Settings, Slot, SlotKind, SlotPath, SlotReading,
    },
};

/// A function whose slots are the leaves of `parameters`. `x-list: N` in a leaf binds recognizer N.
pub(crate) fn function(name: &str, parameters: Value) -> Function {
    let mut slots = Vec::new();
    leaves(&parameters, &mut Vec::new(), true, &mut slots);
    let wire_name = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    Function {
        name: name.to_owned(),
        wire_name,
        description: String::new(),
        parameters,
        slots,
        exemplars: Vec::new(),
        operation: None,
        request: None,
        endpoint: None,
        effect: crate::module::KnownEffect::default(),
    }
}

fn leaves(schema: &Value, steps: &mut Vec<PathStep>, required: bool, slots: &mut Vec<Slot>) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let needed: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        for (key, of) in properties {
            steps.push(PathStep::Key(key.as_str().into()));
            leaves(of, steps, required && needed.contains(&key.as_str()), slots);
            steps.pop();
        }
        return;
    }
    if let Some(items) = schema.get("items") {
        steps.push(PathStep::Each);
        leaves(items, steps, required, slots);
        steps.pop();
        return;
    }
    if steps.is_empty() {
        return;
    }
    let kind = match schema["type"].as_str().or_else(|| schema["type"][0].as_str()) {
        Some("string") => SlotKind::String,
        Some("integer") => SlotKind::Integer,
        Some("number") => SlotKind::Number,
        Some("boolean") => SlotKind::Boolean,
        _ => SlotKind::Any,
    };
    let choices = match (schema.get("const"), schema["enum"].as_array()) {
        (Some(only), _) => vec![only.clone()],
        (None, several) => several.cloned().unwrap_or_default(),
    };
    let recognizers = schema["x-list"]
        .as_u64()
        .map(|at| RecognizerId::from_index(usize::try_from(at).expect("small")))
        .into_iter()
        .collect();
    let mut slot = Slot {
        path: SlotPath(steps.clone()),
        description: schema["description"].as_str().unwrap_or_default().to_owned(),
        kind,
        schema: schema.clone(),
        required,
        default: schema.get("default").cloned(),
        choices,
        recognizers,
        question: None,
        counting: Counting::No,
    };
    slot.counting = Counting::new(slot.label(), &slot.description, Language::and_english("en"));
    slots.push(slot);
}

pub(crate) fn module(functions: Vec<Function>) -> Module {
    let cities = ListSpec {
        instances: vec![
            Instance { label: json!("New York, NY"), expressions: vec!["the big apple".into(), "nyc".into()] },
            Instance { label: json!("Seattle, WA"), expressions: vec!["evergreen".into(), "the city".into()] },
            Instance { label: json!("Boston, MA"), expressions: vec!["the city".into()] },
        ],
        fuzzy: false,
    };
    Module {
        name: ModuleName::new("test").expect("valid"),
        version: "0".into(),
        functions,
        recognizers: vec![Recognizer {
            name: "city".into(),
            kind: RecognizerKind::List(cities),
            reading: SlotReading::default(),
        }],
        settings: Settings::default(),
        prompts: std::collections::BTreeMap::default(),
        warnings: Vec::new(),
    }
}

/// Any JSON value, at most `depth` levels deep.
pub(crate) fn json_value(depth: u32) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9_f64).prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        "[a-c\"'\\\\{},: ]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(depth, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::hash_map("[a-e]{1,2}|\\PC{1,4}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}
