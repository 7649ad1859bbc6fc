//! Training records of the shipped modules: each is valid for its own tools, and the same for the same seed.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use serde_json::{Map, Value};
use uptake::{
    export::{ExportKind, ExportOptions, Exported, export},
    module::{Limits, Module, ModuleName, load},
};

use crate::support::{embedder, shipped};

const MODULES: [&str; 6] = ["weather", "banking", "restaurant", "shoes", "petstore", "delivery"];

fn module(name: &str) -> Module {
    load(&shipped().join(name), ModuleName::new(name).expect("a name"), &Limits::default()).expect("it loads")
}

fn exported(module: &Module, kind: ExportKind, seed: u64, negatives: usize) -> Exported {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let options = ExportOptions { kind, seed, negatives };
    runtime.block_on(export(module, embedder().as_ref(), &options)).expect("it is exported")
}

/// What is wrong with a conversation.
fn fault(record: &Value) -> Option<String> {
    let messages = record["messages"].as_array()?;
    let roles: Vec<&str> = messages.iter().filter_map(|message| message["role"].as_str()).collect();
    if roles != ["system", "user", "assistant"] || messages[1]["content"].as_str().is_none_or(str::is_empty) {
        return Some(format!("messages: {roles:?}"));
    }
    let tools: HashMap<&str, &Value> = record["tools"]
        .as_array()?
        .iter()
        .filter_map(|tool| Some((tool["function"]["name"].as_str()?, &tool["function"]["parameters"])))
        .collect();
    if tools.len() != record["tools"].as_array()?.len() {
        return Some("two tools have one name".to_owned());
    }
    let Some(calls) = messages[2]["tool_calls"].as_array() else {
        return messages[2]["content"].as_str().is_none_or(str::is_empty).then(|| "no call and no words".to_owned());
    };
    for call in calls {
        let name = call["function"]["name"].as_str()?;
        let Some(parameters) = tools.get(name) else { return Some(format!("{name} is not offered")) };
        let Ok(arguments) = serde_json::from_str::<Map<String, Value>>(call["function"]["arguments"].as_str()?) else {
            return Some("the arguments are no object".to_owned());
        };
        let validator = jsonschema::validator_for(parameters).expect("a schema");
        if let Err(error) = validator.validate(&Value::Object(arguments)) {
            return Some(format!("{name}: {error}"));
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn every_call_fits_its_own_schema(which in 0..MODULES.len(), seed: u64, negatives in 0_usize..6) {
        let module = module(MODULES[which]);
        let Exported { records, .. } = exported(&module, ExportKind::Calls, seed, negatives);
        prop_assert!(!records.is_empty());
        for record in &records {
            prop_assert_eq!(fault(record), None, "{}", record);
            prop_assert!(record["tools"].as_array().is_some_and(|tools| tools.len() <= negatives + 1));
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_records(which in 0..MODULES.len(), seed: u64) {
        let module = module(MODULES[which]);
        for kind in [ExportKind::Calls, ExportKind::Pairs] {
            prop_assert_eq!(exported(&module, kind, seed, 2), exported(&module, kind, seed, 2));
        }
    }
}

#[test]
fn there_are_calls_questions_and_refusals() {
    let Exported { records, .. } = exported(&module("weather"), ExportKind::Calls, 0, 4);
    let answer = |record: &Value| record["messages"][2].clone();
    let calls = records.iter().filter(|record| answer(record).get("tool_calls").is_some()).count();
    let refusals = records
        .iter()
        .filter(|record| answer(record)["content"].as_str().is_some_and(|text| text.starts_with("None of")))
        .count();
    assert!(calls > records.len() / 2 && refusals > 5, "{calls} {refusals}");
    assert!(records.len() > calls + refusals, "there are no questions");
}

#[test]
fn a_negative_never_means_the_anchors_function() {
    for name in MODULES {
        let module = module(name);
        let Exported { records, .. } = exported(&module, ExportKind::Pairs, 3, 3);
        let mut own: HashMap<&str, HashSet<&str>> = HashMap::new();
        for record in &records {
            let said = own.entry(record["function"].as_str().expect("a function")).or_default();
            said.extend(["anchor", "positive"].iter().filter_map(|key| record[*key].as_str()));
        }
        for record in &records {
            let Some(negative) = record["negative"].as_str() else { continue };
            assert!(!own[record["function"].as_str().expect("a function")].contains(negative), "{record}");
            assert_ne!(record["function"], record["negative_function"], "{record}");
            assert_ne!(record["anchor"], record["positive"], "{record}");
        }
    }
}
