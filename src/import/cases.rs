//! Writes `cases.jsonl`, and finds the arguments of sentences.

use serde_json::{Map, Value, json};

use super::{
    project::{Example, Function, Labelled, Place, Project},
    reader::ProjectReader,
    settle,
};
use crate::{
    module::Module,
    sample::{self, Sampler},
};

/// The value of each slot in the example, if all are known with certainty.
pub(super) fn arguments(
    sampler: &Sampler<'_>,
    module: &Module,
    function: &Function,
    example: &Example,
) -> Option<Map<String, Value>> {
    let id = module.function_named(&function.name)?;
    let (text, spans) = example.spoken()?;
    let sentence = sample::sentence(module.function(id), text, &spans)?;
    sampler.arguments(id, &sentence)
}

/// Takes every n-th example out as a case, if the source has no test set.
pub(super) fn hold_out(project: &mut Project, percent: u8, reader: &mut ProjectReader) -> Vec<Labelled> {
    let mut held = Vec::new();
    if percent == 0 || !project.tests.is_empty() {
        return held;
    }
    let step = (100 / usize::from(percent.min(50))).max(2);
    for function in &mut project.functions {
        let examples = std::mem::take(&mut function.examples);
        for (index, example) in examples.into_iter().enumerate() {
            if index % step == step - 1 && example.answers.is_none() && example.spoken().is_some() {
                held.push(Labelled { example, function: Some(function.name.clone()) });
            } else {
                function.examples.push(example);
            }
        }
    }
    let what = format!("{} examples", held.len());
    reader.changed(&Place::default(), what, "they were held out (--hold-out) and are cases, no exemplars");
    held
}

/// The lines of `cases.jsonl`: the source's test set, or else the held-out examples, or else the examples themselves.
pub(super) fn cases(
    project: &Project,
    held_out: &[Labelled],
    module: &Module,
    sampler: &Sampler<'_>,
    reader: &mut ProjectReader,
) -> Vec<Value> {
    let mut cases = Vec::new();
    let function = |name: &str| project.functions.iter().find(|function| function.name == name);
    let (mut unchecked, mut first) = (0, None);
    let mut labelled = |example: &Example, name: Option<&str>, cases: &mut Vec<Value>| {
        let Some((utterance, spans)) = example.spoken() else { return };
        let mut case = json!({"utterance": utterance, "function": name});
        if let Some(function) = name.and_then(function) {
            match arguments(sampler, module, function, example) {
                Some(arguments) => case["arguments"] = Value::Object(arguments),
                None if !spans.is_empty() => {
                    unchecked += 1;
                    first.get_or_insert_with(|| example.place.clone());
                }
                None => {}
            }
        }
        cases.push(case);
    };
    if !project.tests.is_empty() || !held_out.is_empty() {
        for test in project.tests.iter().chain(held_out) {
            labelled(&test.example, test.function.as_deref(), &mut cases);
        }
    } else {
        let mut random = fastrand::Rng::with_seed(0);
        for function in &project.functions {
            let Some(id) = module.function_named(&function.name) else { continue };
            let examples = function.examples.iter().filter(|example| example.answers.is_none());
            for example in examples {
                if example.spoken().is_some() {
                    labelled(example, Some(&function.name), &mut cases);
                } else if let Some(exemplar) =
                    module.function(id).exemplars.iter().find(|one| one.template == settle::template(&example.parts))
                    && let Some((sentence, arguments)) = sampler.say(id, exemplar, 0, &mut random)
                {
                    cases.push(json!({"utterance": sentence.text, "function": function.name, "arguments": arguments}));
                }
            }
        }
        if !cases.is_empty() {
            let why = "the source has no test set: they show whether the module is consistent, not how good it is \
                       (--hold-out keeps some examples for cases)";
            reader.changed(&Place::default(), "the cases are the examples themselves", why);
        }
    }
    for example in &project.out_of_scope {
        labelled(example, None, &mut cases);
    }
    if let Some(place) = first {
        let why = "a value depends on the moment (\"tomorrow\"), or no recognizer finds its words: only the function is checked";
        reader.changed(&place, format!("{unchecked} cases without arguments"), why);
    }
    cases
}
