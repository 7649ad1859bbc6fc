//! JSON Schemas of an author's files, for editors: they complete and check while the author types. [`super::load()`] is
//! authoritative.

use serde_json::{Value, json};

use super::source::settings;

/// Each schema with the name of its file.
///
/// # Panics
/// Never: a test reads the files.
#[must_use]
pub fn all() -> [(&'static str, Value); 4] {
    let read = |text: &str| serde_json::from_str(text).expect("a test reads it");
    [
        ("exemplars.schema.json", read(include_str!("schemas/exemplars.schema.json"))),
        ("recognizers.schema.json", read(include_str!("schemas/recognizers.schema.json"))),
        ("cases.schema.json", read(include_str!("schemas/cases.schema.json"))),
        ("module.schema.json", of_settings()),
    ]
}

/// The schema of `module.toml`, made from the table by which it is read.
fn of_settings() -> Value {
    let mut schema = settings::json_schema();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["$id"] = json!("module.schema.json");
    schema["title"] = json!("module.toml: the settings of a module");
    schema
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    fn schema(name: &str) -> jsonschema::Validator {
        let (_, schema) = all().into_iter().find(|(own, _)| *own == name).unwrap();
        jsonschema::validator_for(&schema).unwrap()
    }

    /// The modules that are shipped fit, and so do the fixtures that load.
    #[test]
    fn files_of_modules_fit_their_schemas() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let [exemplars, recognizers, cases, settings] =
            ["exemplars.schema.json", "recognizers.schema.json", "cases.schema.json", "module.schema.json"].map(schema);
        let mut seen = 0;
        for directory in fs::read_dir(root.join("modules")).unwrap().map(|entry| entry.unwrap().path()) {
            let text = |file: &str| fs::read_to_string(directory.join(file)).ok();
            let fits = |schema: &jsonschema::Validator, value: &Value, what: &str| {
                let errors: Vec<String> =
                    schema.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
                assert!(errors.is_empty(), "{}: {what}: {errors:?}", directory.display());
            };
            for (file, schema) in [("exemplars.json", &exemplars), ("recognizers.json", &recognizers)] {
                if let Some(text) = text(file) {
                    fits(schema, &serde_json::from_str(&text).unwrap(), file);
                    seen += 1;
                }
            }
            if let Some(text) = text("module.toml") {
                let value = toml::from_str::<toml::Table>(&text).unwrap();
                fits(&settings, &serde_json::to_value(value).unwrap(), "module.toml");
                seen += 1;
            }
            for line in ["cases.jsonl", "dialogues.jsonl"]
                .iter()
                .filter_map(|file| text(file))
                .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
            {
                fits(&cases, &serde_json::from_str(&line).unwrap(), &line);
                seen += 1;
            }
        }
        assert!(seen > 100, "{seen}");
    }

    #[test]
    fn slips_are_found() {
        for (name, value) in [
            ("exemplars.schema.json", json!({"order": [{"template": "x", "owner_mod": "negative"}]})),
            ("exemplars.schema.json", json!({"order": "x"})),
            ("exemplars.schema.json", json!([{"template": "no owner"}])),
            ("recognizers.schema.json", json!({"recognizers": {"room": {"rec_type": "list"}}})),
            ("recognizers.schema.json", json!({"recognizers": {"room": {"rec_type": "lst", "instances": ["a"]}}})),
            ("recognizers.schema.json", json!({"recognizers": {}, "slot": {}})),
            ("cases.schema.json", json!({"utterance": "x"})),
            ("cases.schema.json", json!({"utterance": "x", "function": "f", "outcome": "cal"})),
            ("cases.schema.json", json!({"turns": []})),
            ("module.schema.json", json!({"languge": "en"})),
            ("module.schema.json", json!({"functions": {"f": {"confirm": "yes"}}})),
            ("module.schema.json", json!({"thresholds": {"sure": 90}})),
            ("module.schema.json", json!({"functions": {"f": {"endpoint": "opnapi"}}})),
        ] {
            assert!(!schema(name).is_valid(&value), "{name} takes {value}");
        }
        let good = json!({"functions": {"f": {"endpoint": {"url": "http://x"}, "rules": ["a < b", {"check": "c", "message": {"en": "no"}}], "slots": {"s": {"question": {"de": "Was?"}}}}}});
        assert!(schema("module.schema.json").is_valid(&good));
        assert!(
            schema("recognizers.schema.json")
                .is_valid(&json!({"room": {"rec_type": "list", "instances": ["a", 1]}, "slots": {"a": "room"}}))
        );
    }
}
