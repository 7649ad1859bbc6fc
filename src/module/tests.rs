//! Tests of whole modules: fixtures with their expected results, and properties of everything that an author may write.

use std::{fmt::Write as _, fs, path::PathBuf};

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{load::from_texts, *};

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/modules")
}

fn fixture(name: &str) -> Module {
    let directory = fixtures().join(name);
    load(&directory, ModuleName::new(name).expect("a good name"), &Limits::default()).unwrap_or_else(|error| {
        let LoadError::Refused(found) = error else { panic!("{name}: {error}") };
        panic!("{name}:\n{found}")
    })
}

/// Functions, slots and their recognizers, one line each.
fn outline(module: &Module) -> String {
    let mut text = String::new();
    for function in &module.functions {
        let operation = function.operation.as_deref().map(|operation| format!(" [{operation}]")).unwrap_or_default();
        writeln!(text, "{} ({}){operation}: {} exemplars", function.name, function.wire_name, function.exemplars.len())
            .expect("a string");
        for slot in &function.slots {
            let recognizers: Vec<&str> =
                slot.recognizers.iter().map(|id| module.recognizer(*id).name.as_str()).collect();
            let required = if slot.required { "!" } else { "" };
            writeln!(text, "  {}{required} {:?} <- {}", slot.path, slot.kind, recognizers.join(", "))
                .expect("a string");
        }
    }
    text
}

/// Compares with a committed file; `UPDATE_FIXTURES=1` rewrites it.
fn assert_is(actual: &str, path: &str) {
    let path = fixtures().join(path);
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        fs::write(&path, actual).expect("the fixture can be written");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == actual, "{} differs; it is now:\n{actual}", path.display());
}

#[test]
fn good_modules_load() {
    for name in ["openai", "tools", "mcp", "mcp-result", "openapi-json", "openapi-yaml", "opencui"] {
        let module = fixture(name);
        let mut text = outline(&module);
        for warning in &module.warnings {
            writeln!(text, "{warning}").expect("a string");
        }
        assert_is(&text, &format!("{name}/expected.txt"));
    }
}

#[test]
fn every_planted_fault_is_found_where_it_is() {
    for name in ["broken", "broken-openapi"] {
        let (module, found) =
            check(&fixtures().join(name), ModuleName::new(name).expect("a good name"), &Limits::default());
        assert!(module.is_none(), "{name}");
        assert_is(&format!("{found}\n"), &format!("{name}/expected.txt"));
    }
}

#[test]
fn the_version_is_that_of_the_content() {
    let (directory, name) = (fixtures().join("openai"), ModuleName::new("m").expect("a good name"));
    let module = load(&directory, name, &Limits::default()).expect("loads");
    assert_eq!(module.version, content_version(&directory).expect("read"));
    assert_eq!(stamp(&directory).expect("read"), stamp(&directory).expect("read"));
    assert_ne!(stamp(&directory).expect("read"), stamp(&fixtures().join("tools")).expect("read"));
}

#[test]
fn settings_reach_the_slots() {
    let module = fixture("openai");
    let function = module.function(module.function_named("get_weather").expect("there"));
    let location = function.slot(function.slot_labelled("location").expect("there"));
    assert_eq!(location.question, Some(Wording::One("For which city?".into())));
    assert_eq!(module.recognizer(location.recognizers[0]).name, "city");
    // Found under another spelling, stored under its own.
    assert!(module.settings.functions["get_weather"].slots.contains_key("location"));
}

const SCHEMA: &str =
    r#"[{"name": "f", "description": "d", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]"#;

fn codes(files: &[(&str, &str)], limits: &Limits) -> Vec<String> {
    let (_, found) = from_texts(files, limits);
    found.0.iter().map(|found| format!("{} {}{}", found.code, found.file, found.pointer)).collect()
}

#[test]
fn a_module_may_be_a_schema_alone() {
    let (module, found) = from_texts(&[("schema.json", SCHEMA)], &Limits::default());
    assert_eq!((module.map(|module| module.functions.len()), found.0), (Some(1), vec![]));
    let bare = r#"[{"name": "f"}]"#;
    assert_eq!(codes(&[("schema.json", bare)], &Limits::default()), ["empty-description schema.json/0"]);
}

/// The answer to `tools/list`, in any wrapping.
#[test]
fn a_tool_list_may_be_wrapped() {
    let list = json!([
        {"name": "a", "description": "d", "inputSchema": {"type": "object", "properties": {"x": {"type": "integer"}}},
         "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}, "execution": {"taskSupport": "forbidden"}},
        {"name": "b", "title": "B", "inputSchema": {"type": "object"}},
    ]);
    let outlined = |schema: &Value| {
        let (module, found) = from_texts(&[("schema.json", &schema.to_string())], &Limits::default());
        let found: Vec<String> = found.0.iter().map(|found| format!("{}{}", found.code, found.pointer)).collect();
        let module = module.unwrap_or_else(|| panic!("{schema}: {found:?}"));
        assert_eq!(module.functions[1].description, "B");
        (outline(&module), found)
    };
    let (bare, found) = outlined(&list);
    assert!(found.is_empty(), "{found:?}");
    for (schema, warnings) in [
        (json!({"tools": list}), vec![]),
        (json!({"tools": list, "nextCursor": null, "_meta": {}, "ttlMs": 5, "cacheScope": "private"}), vec![]),
        (json!({"tools": list, "nextCursor": "x"}), vec!["incomplete-list/nextCursor"]),
        (json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": list}}), vec![]),
        (
            json!({"jsonrpc": "2.0", "id": "a", "result": {"tools": list, "nextCursor": "x"}}),
            vec!["incomplete-list/result/nextCursor"],
        ),
    ] {
        let (outline, found) = outlined(&schema);
        assert_eq!(outline, bare, "{schema}");
        assert_eq!(found, warnings, "{schema}");
    }
    let error = r#"{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found"}}"#;
    assert_eq!(codes(&[("schema.json", error)], &Limits::default()), ["unknown-format schema.json"]);
}

#[test]
fn schema_files_are_one() {
    assert_eq!(codes(&[], &Limits::default()), ["no-schema-file schema.json"]);
    let two = codes(&[("schema.json", SCHEMA), ("schema.yaml", SCHEMA)], &Limits::default());
    assert_eq!(two, ["two-schema-files schema.yaml"]);
    assert_eq!(codes(&[("schema.json", "[]")], &Limits::default()), ["no-functions schema.json"]);
    assert_eq!(codes(&[("schema.json", "{\"a\": 1}")], &Limits::default()), ["unknown-format schema.json"]);
}

/// Runs on a thread with as little stack as those of the service. A stack overflow would end the process.
#[test]
fn files_that_nest_as_deep_as_may_be_are_read() {
    type Nest = fn(usize) -> String;
    let nests: [(&str, Nest); 6] = [
        ("schema.yaml", |depth| "- ".repeat(depth) + "x"),
        ("schema.yaml", |depth| "-   ".repeat(depth) + "\n"),
        ("schema.yaml", |depth| "[".repeat(depth) + &"]".repeat(depth)),
        ("schema.yaml", |depth| (0..depth).fold(String::new(), |text, level| text + &" ".repeat(level) + "a:\n")),
        ("schema.json", |depth| "[".repeat(depth) + &"]".repeat(depth)),
        ("schema.json", |depth| r#"{"a":"#.repeat(depth) + "1" + &"}".repeat(depth)),
    ];
    let read = move || {
        for (name, nested) in nests {
            for (depth, is_syntax) in [(60, false), (118, false), (130, true), (5_000, true)] {
                let (module, found) = from_texts(&[(name, &nested(depth))], &Limits::default());
                assert!(module.is_none());
                assert_eq!(found.0[0].code == "syntax", is_syntax, "{name}, {depth}: {found}");
            }
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(read).expect("a thread").join().expect("no assertion fails");
}

#[test]
fn limits_have_names() {
    let over = |limits: Limits, files: &[(&str, &str)], name: &str| {
        let (module, found) = from_texts(files, &limits);
        assert!(module.is_none());
        let over: Vec<&Diagnostic> = found.0.iter().filter(|found| found.code == "over-limit").collect();
        assert!(over.len() == 1 && over[0].message.contains(&format!("`{name}`")), "{name}: {found}");
    };
    let two = r#"[{"name": "f", "description": "d"}, {"name": "g", "description": "d"}]"#;
    over(Limits { functions: 1, ..Limits::default() }, &[("schema.json", two)], "functions");
    let exemplars = r#"{"f": ["a", "b"]}"#;
    over(
        Limits { exemplars: 1, ..Limits::default() },
        &[("schema.json", SCHEMA), ("exemplars.json", exemplars)],
        "exemplars",
    );
    let list = r#"{"a": {"rec_type": "list", "instances": ["x", {"label": "y", "expressions": ["z"]}]}}"#;
    over(
        Limits { list_entries: 2, ..Limits::default() },
        &[("schema.json", SCHEMA), ("recognizers.json", list)],
        "list_entries",
    );
    let deep = r#"[{"name": "f", "description": "d", "parameters": {"properties": {"a": {"properties": {"b": {}}}}}}]"#;
    over(Limits { depth: 1, ..Limits::default() }, &[("schema.json", deep)], "depth");
    over(Limits { schema_nodes: 2, ..Limits::default() }, &[("schema.json", deep)], "schema_nodes");
    let pattern = r#"[{"name": "f", "description": "d", "parameters": {"properties":
        {"a": {"pattern": "[a-z]{40}"}, "b": {"pattern": "[a-z]{40}"}, "c": {"pattern": "[a-z]{41}"}}}}]"#;
    over(
        Limits { module_pattern_bytes: 30_000, ..Limits::default() },
        &[("schema.json", pattern)],
        "module_pattern_bytes",
    );
    let keys = pattern.replace(r#""b": {"pattern": "[a-z]{40}"}"#, r#""b": {"patternProperties": {"[a-z]{99}": {}}}"#);
    over(Limits { pattern_bytes: 13_000, ..Limits::default() }, &[("schema.json", &keys)], "pattern_bytes");
    let own = r#"{"a": {"rec_type": "pattern", "patterns": ["\\p{L}{9}", "\\p{L}{8}"]}}"#;
    let own = [("schema.json", SCHEMA), ("recognizers.json", own)];
    over(Limits { pattern_bytes: 420_000, ..Limits::default() }, &own, "pattern_bytes");
    over(Limits { module_pattern_bytes: 500_000, ..Limits::default() }, &own, "module_pattern_bytes");
    over(Limits { module_schema_nodes: 2, ..Limits::default() }, &[("schema.json", deep)], "module_schema_nodes");
}

#[test]
fn files_are_read_with_care() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    let found = |limits: &Limits| {
        let (_, found) = check(directory.path(), ModuleName::new("m").expect("a good name"), limits);
        found.0.iter().map(|found| format!("{} {}", found.code, found.file)).collect::<Vec<_>>()
    };
    fs::write(at("schema.json"), SCHEMA).expect("written");
    fs::write(at("exemplar.json"), "{}").expect("written");
    fs::write(at("notes.txt"), "x").expect("written");
    assert_eq!(found(&Limits::default()), ["ignored-file exemplar.json"]);
    fs::remove_file(at("exemplar.json")).expect("removed");

    assert_eq!(found(&Limits { file_bytes: 10, ..Limits::default() }), ["over-limit schema.json"]);
    fs::write(at("exemplars.json"), b"{\"f\": [\"\xff\"]}").expect("written");
    assert_eq!(found(&Limits::default()), ["not-utf-8 exemplars.json"]);
    fs::remove_file(at("exemplars.json")).expect("removed");
    fs::create_dir(at("module.toml")).expect("made");
    assert_eq!(found(&Limits::default()), ["not-a-file module.toml"]);
    fs::remove_dir(at("module.toml")).expect("removed");

    #[cfg(unix)]
    {
        let elsewhere = tempfile::NamedTempFile::new().expect("a file");
        std::os::unix::fs::symlink(elsewhere.path(), at("exemplars.json")).expect("linked");
        assert_eq!(found(&Limits::default()), ["outside exemplars.json"]);
        fs::remove_file(at("exemplars.json")).expect("removed");
        // A link inside the directory, as mounted configuration has it.
        fs::create_dir(at("data")).expect("made");
        fs::write(at("data/exemplars.json"), r#"{"f": ["hello"]}"#).expect("written");
        std::os::unix::fs::symlink(at("data/exemplars.json"), at("exemplars.json")).expect("linked");
        assert_eq!(found(&Limits::default()), ["few-frames exemplars.json"]);
    }
    let nowhere = directory.path().join("nowhere");
    assert!(matches!(
        load(&nowhere, ModuleName::new("m").expect("good"), &Limits::default()),
        Err(LoadError::Io { .. })
    ));
    assert!(stamp(&nowhere).is_err());
}

/// `cp -p` and unpacking archives give such files.
#[test]
#[cfg(unix)]
fn a_file_that_looks_the_same_changes_the_stamp() {
    let directory = tempfile::tempdir().expect("a directory");
    let (file, next) = (directory.path().join("schema.json"), directory.path().join("next"));
    fs::write(&file, SCHEMA).expect("written");
    let before = stamp(directory.path()).expect("read");
    fs::write(&next, SCHEMA.replace('a', "b")).expect("written");
    let modified = fs::metadata(&file).and_then(|file| file.modified()).expect("a time");
    fs::File::options().write(true).open(&next).and_then(|next| next.set_modified(modified)).expect("dated");
    fs::rename(&next, &file).expect("replaced");
    assert_ne!(stamp(directory.path()).expect("read"), before);
}

#[test]
fn a_change_of_a_file_changes_the_stamp() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("schema.json"), SCHEMA).expect("written");
    let (stamp_before, version_before) =
        (stamp(directory.path()).expect("read"), content_version(directory.path()).expect("read"));
    fs::write(directory.path().join("exemplars.json"), "{}").expect("written");
    let stamp_then = stamp(directory.path()).expect("read");
    assert_ne!(stamp_then, stamp_before);
    assert_ne!(content_version(directory.path()).expect("read"), version_before);
    fs::create_dir(directory.path().join("prompts")).expect("made");
    assert_eq!(stamp(directory.path()).expect("read"), stamp_then);
    fs::write(directory.path().join("prompts/retry.jinja"), "Again.").expect("written");
    assert_ne!(stamp(directory.path()).expect("read"), stamp_then);
}

#[test]
fn large_modules_load() {
    let functions: Vec<Value> = (0..10_000)
        .map(|at| {
            json!({"name": format!("function_{at}"), "description": format!("Does thing number {at}"), "parameters": {
            "type": "object", "required": ["city"], "properties": {
                "city": {"type": "string", "description": "Where"}, "unit": {"type": "string", "enum": ["a", "b"], "default": "a"},
                "count": {"type": "integer", "minimum": 1, "default": 3}}}})
        })
        .collect();
    let exemplars: Map<String, Value> = (0..10_000)
        .map(|at| (format!("Function{at}"), json!([format!("do {at} in <city>"), format!("{at} now")])))
        .collect();
    let instances: Vec<Value> =
        (0..100_000).map(|at| json!({"label": format!("City {at}"), "expressions": [format!("town {at}")]})).collect();
    let recognizers = json!({"city": {"rec_type": "list", "instances": instances}});
    let texts = [json!(functions).to_string(), json!(exemplars).to_string(), recognizers.to_string()];
    let (module, found) = from_texts(
        &[("schema.json", &texts[0]), ("exemplars.json", &texts[1]), ("recognizers.json", &texts[2])],
        &Limits::default(),
    );
    assert_eq!(found.0, []);
    assert_eq!(module.expect("loads").functions.len(), 10_000);
}

/// Any JSON, with a preference for words that schemas and module files use.
pub(super) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-3_i64..20).prop_map(|number| json!(number)),
        Just(json!(1.5)),
        word().prop_map(Value::String),
        "\\PC{0,6}".prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((word(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Values for schemas of [`any_schema`].
pub(super) fn any_instance() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![
        json!(null),
        json!("a"),
        json!("b"),
        json!("ab"),
        json!(""),
        json!(1),
        json!(2.5),
        json!(4),
        json!(7),
        json!(true),
    ]);
    leaf.prop_recursive(3, 12, 3, |inner| {
        let members = prop::collection::vec((prop::sample::select(vec!["a", "b", "type"]), inner.clone()), 0..3);
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(Value::Array),
            members.prop_map(|members| members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

fn word() -> impl Strategy<Value = String> {
    const WORDS: &[&str] = &[
        "type",
        "object",
        "string",
        "integer",
        "array",
        "properties",
        "required",
        "items",
        "enum",
        "const",
        "default",
        "$ref",
        "#",
        "#/$defs/a",
        "$defs",
        "a",
        "b",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "nullable",
        "description",
        "pattern",
        "^a+$",
        "minimum",
        "additionalProperties",
        "name",
        "parameters",
        "function",
        "openapi",
        "3.1.0",
        "paths",
        "/a/{b}",
        "get",
        "in",
        "query",
        "schema",
        "requestBody",
        "content",
        "application/json",
        "skills",
        "slots",
        "template",
        "<a>",
        "label",
        "owner_mode",
        "rec_type",
        "list",
        "instances",
        "expressions",
        "patterns",
        "recognizers",
        "tools",
        "f",
        "",
        "~/",
    ];
    prop::sample::select(WORDS).prop_map(str::to_owned)
}

/// A well-formed schema of the keywords that are merged and moved.
pub(super) fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["string", "integer", "number", "boolean", "null"])
            .prop_map(|name| json!({"type": name})),
        prop::collection::vec(
            prop::sample::select(vec![json!("a"), json!("b"), json!(1), json!(2.5), json!(true)]),
            1..3
        )
        .prop_map(|choices| json!({"enum": choices})),
        (0_i64..5, 3_i64..9).prop_map(|(low, high)| json!({"type": "integer", "minimum": low, "maximum": high})),
        (0_i64..3).prop_map(|low| json!({"type": "string", "minLength": low, "nullable": true})),
        prop::sample::select(vec!["a", "^b", "[ab]$"])
            .prop_map(|pattern| json!({"type": "string", "pattern": pattern})),
        Just(json!({})),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let properties = prop::collection::vec((prop::sample::select(vec!["a", "b", "type"]), inner.clone()), 1..3);
        prop_oneof![
            (properties, any::<bool>(), any::<bool>()).prop_map(|(members, required, nullable)| {
                let names: Vec<&str> = members.iter().map(|(name, _)| *name).take(usize::from(required)).collect();
                let properties: Map<String, Value> =
                    members.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
                json!({"type": "object", "properties": properties, "required": names, "nullable": nullable})
            }),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|branches| json!({"anyOf": branches})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|branches| json!({"oneOf": branches})),
            prop::collection::vec(inner, 1..3).prop_map(|branches| json!({"allOf": branches})),
        ]
    })
}

proptest! {
    #[test]
    fn loading_any_json_never_panics(schema in any_json(), exemplars in any_json(), recognizers in any_json()) {
        let (schema, exemplars, recognizers) = (schema.to_string(), exemplars.to_string(), recognizers.to_string());
        from_texts(&[("schema.json", &schema)], &Limits::default());
        let files = [("schema.json", SCHEMA), ("exemplars.json", &exemplars), ("recognizers.json", &recognizers)];
        let (module, found) = from_texts(&files, &Limits::default());
        prop_assert_eq!(module.is_none(), found.has_errors());
    }

    #[test]
    fn loading_any_function_never_panics(parameters in any_json(), item in any_json()) {
        let list = json!([{"name": "f", "description": "d", "parameters": parameters}, item]).to_string();
        let (module, found) = from_texts(&[("schema.json", &list), ("exemplars.json", r#"{"f": ["a <a>"]}"#)], &Limits::default());
        prop_assert_eq!(module.is_none(), found.has_errors());
        for function in module.iter().flat_map(|module| &module.functions) {
            prop_assert!(schema::validator(&function.parameters).is_ok());
        }
        let paths = json!({"openapi": "3.1.0", "paths": {"/a/{b}": {"get": parameters, "post": {
            "parameters": [item], "requestBody": {"content": {"application/json": {"schema": parameters}}}}}}}).to_string();
        from_texts(&[("schema.json", &paths)], &Limits::default());
        let skills = json!({"skills": {"a.b": parameters, "f": {"slots": ["a", item]}}, "slots": {"a": item}}).to_string();
        from_texts(&[("schema.json", &skills)], &Limits::default());
    }

    #[test]
    fn any_yaml_and_toml_never_panic(text in "[a-c:\\[\\]{}\n \"'&*#=\\-.0-9]{0,60}") {
        from_texts(&[("schema.yaml", &text)], &Limits::default());
        from_texts(&[("schema.json", SCHEMA), ("module.toml", &text), ("exemplars.json", &text)], &Limits::default());
    }

    #[test]
    fn yaml_reads_what_json_says(value in any_json()) {
        // JSON is YAML except for a few control characters and the rule on duplicate keys.
        prop_assume!(value.is_object() || value.is_array());
        let text = value.to_string();
        let (json_found, yaml_found) = (
            from_texts(&[("schema.json", &text)], &Limits::default()).1,
            from_texts(&[("schema.yaml", &text)], &Limits::default()).1,
        );
        prop_assert_eq!(json_found.has_errors(), yaml_found.has_errors());
    }
}

#[test]
fn names_that_clients_write_find_their_function() {
    for (one, other, expected) in [
        ("me.test.OrderFood", "order_food", true),
        ("order_food", "me.test.OrderFood", true),
        ("OrderFood", "order-food", true),
        ("me.test.OrderFood", "you.test.OrderFood", false),
        ("order_food", "order", false),
        ("", "", false),
        ("me.test.", "", false),
    ] {
        assert_eq!(alike(one, other), expected, "{one} {other}");
    }
}

const RENTAL: &str = r#"[
    {"name": "rent", "description": "d", "parameters": {"type": "object", "required": ["start"], "properties": {
        "start": {"type": "string", "format": "date"}, "end": {"type": "string", "format": "date"},
        "people": {"type": "integer"}, "note": {"type": "string"},
        "cars": {"type": "array", "items": {"type": "object", "properties": {"seats": {"type": "integer"}, "doors": {"type": "integer"}}}}}}},
    {"name": "return", "description": "d", "parameters": {"type": "object", "properties": {
        "day": {"type": "string", "format": "date"}, "count": {"type": "integer"}}}}]"#;

/// What is found in a `module.toml` of the rental module, as code, pointer and line.
fn found_in(settings: &str) -> Vec<String> {
    let (_, found) = from_texts(&[("schema.json", RENTAL), ("module.toml", settings)], &Limits::default());
    let line = |found: &crate::module::Diagnostic| found.line.map_or_else(String::new, |line| format!(":{line}"));
    found.0.iter().map(|found| format!("{} {}{}", found.code, found.pointer, line(found))).collect()
}

#[test]
fn what_is_declared_for_conversations_is_resolved() {
    let settings = r#"
[conversation]
ask = "group"
tries = 2

[functions.Rent]
confirm = true
confirmation = { en = "From <Start> to < end >, 1 < 2 <3>?", de = " " }
rules = ["End > start", { check = "cars.seats <= people", message = "  Too many seats.  " }]

[functions.Rent.slots]
start = { question = { en = "When?", ja = "いつですか。", de = "" }, shared = "day" }
note = { ask = true, sensitive = true, priority = -3, question = "  " }

[functions.return.slots]
day = { shared = "day" }
"#;
    let (module, found) = from_texts(&[("schema.json", RENTAL), ("module.toml", settings)], &Limits::default());
    assert_eq!(found.0, []);
    let module = module.expect("it loads");
    let rent = &module.settings.functions["rent"];
    let confirmation = rent.confirmation.as_ref().and_then(|own| own.in_language("de"));
    assert_eq!(confirmation, Some("From <start> to < end >, 1 < 2 <3>?"));
    let slots: Vec<String> =
        rent.rules.iter().flat_map(|own| own.rule.as_ref().expect("read").slots()).map(ToString::to_string).collect();
    assert_eq!(slots, ["end", "start", "cars[].seats", "people"]);
    assert_eq!(rent.rules[1].message, Some(Wording::One("Too many seats.".into())));
    let start = &module.functions[0].slots[0];
    assert_eq!(start.question.as_ref().map(|own| own.texts().count()), Some(2));
    assert_eq!(start.question.as_ref().and_then(|own| own.in_first(&["fr", "ja-JP", "en"])), Some("いつですか。"));
    assert_eq!(rent.slots["note"].question, None);
    assert_eq!((rent.slots["note"].priority, module.settings.conversation.tries), (-3, Some(2)));
}

#[test]
fn what_is_declared_wrong_is_found() {
    for (settings, expected) in [
        ("[functions.rent]\nrules = [\"end > start\",\n \"ende > start\"]", "unknown-slot /functions/rent/rules/1:3"),
        ("[[functions.rent.rules]]\ncheck = \"end > 3\"", "bad-rule /functions/rent/rules/0:1"),
        ("[[functions.rent.rules]]\ncheck = \"cars.seats > 3 people\"", "bad-rule /functions/rent/rules/0:1"),
        (
            "[functions.rent]\nconfirm = true\nconfirmation = \"From <begin>?\"",
            "unknown-slot /functions/rent/confirmation:3",
        ),
        (
            "[functions.rent]\nconfirm = true\n[functions.rent.confirmation]\nen = \"?\"\nde = \"Ab <beginn>?\"",
            "unknown-slot /functions/rent/confirmation/de:5",
        ),
        ("[functions.rent]\nconfirmation = \"Sure?\"", "no-effect /functions/rent/confirmation:2"),
        ("[functions.rent.slots.start]\nask = true", "no-effect /functions/rent/slots/start/ask:2"),
        ("[functions.rent.slots.\"cars[].seats\"]\nask = true", "no-effect /functions/rent/slots/cars[].seats/ask:2"),
        (
            "[functions.rent.slots]\nstart = { shared = \"x\" }\n[functions.return.slots]\ncount = { shared = \"x\" }",
            "conflicting-slots /functions/return/slots/count/shared:4",
        ),
        (
            "[functions.rent.slots.start]\nquestion = { english = \"When?\" }",
            "bad-setting /functions/rent/slots/start/question/english:2",
        ),
        (
            "[functions.rent]\nreplies.done = \"Number {{ result.id }}.\"\nendpoint.url = \"http://localhost:1/a\"\n\
             endpoint.answer.properties.number.type = \"string\"",
            "unknown-result /functions/rent/replies/done:2",
        ),
        ("[conversation]\ntries = 0", "bad-setting /conversation/tries:2"),
        ("[conversation]\nasks = \"one\"", "unknown-setting /conversation/asks:2"),
    ] {
        assert_eq!(found_in(settings), [expected], "{settings}");
    }
}
