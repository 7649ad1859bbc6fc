//! A hand-made module for tests that are about answers, not about loading.

use serde_json::json;

use super::{
    Counting, Exemplar, Function, Instance, ListSpec, Module, ModuleName, OwnerMode, PathStep, Recognizer,
    RecognizerId, RecognizerKind, Settings, Slot, SlotId, SlotKind, SlotPath, SlotReading, TemplatePiece,
};

pub(crate) fn module() -> Module {
    let city = RecognizerId::from_index(0);
    Module {
        name: ModuleName::new("weather").expect("a good name"),
        version: "b3f1b3f1b3f1b3f1".into(),
        functions: vec![Function {
            name: "get_current_weather".into(),
            wire_name: "get_current_weather".into(),
            description: "The weather now".into(),
            parameters: json!({"type": "object", "properties": {"location": {"type": "string"}}}),
            slots: vec![
                slot(&["location"], vec![city]),
                slot(&["format"], Vec::new()),
                slot(&["dishes", "[]", "name"], Vec::new()),
            ],
            exemplars: vec![Exemplar {
                template: "how warm is it in <location>".into(),
                pieces: vec![
                    TemplatePiece::Text("how warm is it in ".into()),
                    TemplatePiece::Slot { label: "location".into(), slot: Some(SlotId::from_index(0)) },
                ],
                mode: OwnerMode::Normal,
                label: None,
                context_frame: None,
                context_slot: None,
                utterance: None,
                arguments: None,
            }],
            operation: None,
            request: None,
            endpoint: None,
            effect: crate::module::KnownEffect::default(),
        }],
        recognizers: vec![Recognizer {
            name: "city".into(),
            kind: RecognizerKind::List(ListSpec {
                instances: vec![Instance { label: json!("Seattle, WA"), expressions: vec!["evergreen".into()] }],
                fuzzy: false,
            }),
            reading: SlotReading::default(),
        }],
        settings: Settings::default(),
        prompts: std::collections::BTreeMap::default(),
        warnings: Vec::new(),
    }
}

fn slot(path: &[&str], recognizers: Vec<RecognizerId>) -> Slot {
    let steps = path.iter().map(|step| if *step == "[]" { PathStep::Each } else { PathStep::Key((*step).into()) });
    Slot {
        path: SlotPath(steps.collect()),
        description: String::new(),
        kind: SlotKind::String,
        schema: json!({"type": "string"}),
        required: path == ["location"],
        default: None,
        choices: Vec::new(),
        recognizers,
        question: None,
        counting: Counting::No,
    }
}
