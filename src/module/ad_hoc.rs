//! Makes a module from the functions that a request contains, with what another module knows about functions of the
//! same name.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    Diagnostics, Exemplar, Function, FunctionId, Limits, Module, ModuleName, Recognizer, RecognizerId, RecognizerKind,
    Settings, Slot, TemplatePiece, files::SCHEMA_FILES, findings::Findings, load::assemble, source::SourceFile,
};

/// Limits for the functions of one request: they come from a stranger and are compiled while a client waits.
#[must_use]
pub fn ad_hoc_limits(limits: &Limits) -> Limits {
    Limits {
        // The `OpenAI` API takes as many tools.
        functions: limits.functions.min(128),
        slots: limits.slots.min(200),
        schema_nodes: limits.schema_nodes.min(2_000),
        module_schema_nodes: limits.module_schema_nodes.min(20_000),
        pattern_bytes: limits.pattern_bytes.min(1 << 20),
        module_pattern_bytes: limits.module_pattern_bytes.min(8 << 20),
        ..limits.clone()
    }
}

/// The function of `known` that a client's tool stands for: the one with its name, or the one whose name it contains
/// between parts that a library adds (`mcp__bank__transfer`, `bank_transfer_money`, `functions.transfer`). A tool with
/// additional parameters is another function of that name.
#[must_use]
pub fn own_function(known: &Module, name: &str, parameters: Option<&Value>) -> Option<FunctionId> {
    let takes: Vec<&str> = properties(parameters).collect();
    let is_own = |id: &FunctionId| {
        let own: Vec<&str> = properties(Some(&known.function(*id).parameters)).collect();
        takes.iter().all(|property| own.contains(property))
    };
    if let Some(id) = known.function_named(name) {
        return Some(id).filter(is_own);
    }
    let within = known.function_ids().filter(|id| {
        let function = known.function(*id);
        [&function.name, &function.wire_name].into_iter().any(|own| stands_within(name, own))
    });
    // Prefers the longest name: "get_forecast" over "get".
    within.filter(is_own).max_by_key(|id| known.function(*id).name.len())
}

fn properties(parameters: Option<&Value>) -> impl Iterator<Item = &str> {
    let properties = parameters.and_then(|parameters| parameters.get("properties")).and_then(Value::as_object);
    properties.into_iter().flat_map(|properties| properties.keys().map(String::as_str))
}

/// True if `name` is `own` with something before or after it. A single word is part of many names, so it counts only
/// next to a separator that names themselves do not have.
fn stands_within(name: &str, own: &str) -> bool {
    let has_several_words = own.contains(['_', '-', '.']) || own.chars().skip(1).any(char::is_uppercase);
    let parts = |edge: &str, is_before: bool| {
        let strong = if is_before { edge.ends_with("__") } else { edge.starts_with("__") };
        let mark = if is_before { edge.chars().next_back() } else { edge.chars().next() };
        match mark {
            None | Some('.' | '/' | ':') => true,
            Some('_' | '-') => strong || has_several_words,
            Some(_) => false,
        }
    };
    !own.is_empty()
        && name.len() > own.len()
        && name.match_indices(own).any(|(at, own)| parts(&name[..at], true) && parts(&name[at + own.len()..], false))
}

/// Makes a module of `functions`, each in the format of the `OpenAI` API (`name`, `description`, `parameters`).
///
/// If `known` has a function of the same name, or one that is its [own](own_function), the new function takes over its
/// exemplars, the recognizers and questions of slots at the same path, and the descriptions, formats and bounds that it
/// lacks. Settings and prompts come from `known`. The module has no other functions of `known`.
///
/// # Errors
/// All findings, if one of them is an error; pointers start with the position in `functions`.
pub fn ad_hoc(
    name: ModuleName,
    functions: &[Value],
    known: Option<&Module>,
    language: Option<&str>,
    limits: &Limits,
) -> Result<Module, Diagnostics> {
    if functions.is_empty() {
        return Ok(nothing(name));
    }
    let completed: Vec<Value> = functions.iter().map(|function| completed(function, known)).collect();
    let bytes = serde_json::to_vec(&completed).expect("JSON values are JSON");
    let files = [SourceFile { name: SCHEMA_FILES[0].to_owned(), bytes }];
    let (module, diagnostics) = assemble(name, &files, &ad_hoc_limits(limits), Findings::new());
    let mut module = module.ok_or(diagnostics)?;
    match known {
        Some(known) => graft(&mut module, known),
        None => module.settings.language = language.map(str::to_owned),
    }
    Ok(module)
}

/// What a schema says about a value besides its type. None of it allows values that the type does not.
const TOLD: [&str; 14] = [
    "description",
    "format",
    "pattern",
    "enum",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
];
/// Depth of objects and lists down to which schemas are completed.
const DEEPEST: usize = 16;

/// The function, completed by what the other module's function of its name says about the same properties.
fn completed(function: &Value, known: Option<&Module>) -> Value {
    let mut function = function.clone();
    let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
    let same = known.and_then(|known| {
        let own = || own_function(known, name, function.get("parameters"));
        Some(known.function(known.function_named(name).or_else(own)?))
    });
    if let (Some(same), Some(parameters)) = (same, function.get_mut("parameters")) {
        complete(parameters, &same.parameters, DEEPEST);
    }
    function
}

/// The types that a schema has beside null; none if it names none.
fn types(schema: &Map<String, Value>) -> Vec<&str> {
    let named = match schema.get("type") {
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
        own => own.and_then(Value::as_str).into_iter().collect::<Vec<_>>(),
    };
    named.into_iter().filter(|name| *name != "null").collect()
}

/// The only alternative beside null, as libraries write what may be left out.
fn only_alternative(schema: &mut Map<String, Value>) -> Option<&mut Value> {
    let key = ["anyOf", "oneOf"].into_iter().find(|key| schema.contains_key(*key))?;
    let alternatives = schema.get_mut(key)?.as_array_mut()?;
    let is_null = |one: &Value| one.get("type").and_then(Value::as_str) == Some("null");
    let mut others = alternatives.iter_mut().filter(|one| !is_null(one));
    others.next().filter(|_| others.next().is_none())
}

fn complete(schema: &mut Value, from: &Value, depth: usize) {
    let (Value::Object(schema), Value::Object(known)) = (schema, from) else { return };
    if depth > 0
        && let Some(only) = only_alternative(schema)
    {
        complete(only, from, depth - 1);
    }
    let from = known;
    let own = types(schema);
    if depth == 0
        || !own.is_empty() && own != types(from)
        || ["$ref", "anyOf", "oneOf", "allOf", "const"].iter().any(|key| schema.contains_key(*key))
    {
        return;
    }
    let has_choices = schema.contains_key("enum");
    for key in TOLD {
        // If the client lists its own choices, only their description may be missing.
        if (key == "description" || !has_choices)
            && schema.get(key).is_none_or(|own| own.as_str() == Some(""))
            && let Some(told) = from.get(key)
        {
            schema.insert(key.to_owned(), told.clone());
        }
    }
    if let (Some(Value::Object(own)), Some(Value::Object(from))) =
        (schema.get_mut("properties"), from.get("properties"))
    {
        for (name, property) in own {
            if let Some(same) = from.get(name) {
                complete(property, same, depth - 1);
            }
        }
    }
    if let (Some(items), Some(same)) = (schema.get_mut("items"), from.get("items")) {
        complete(items, same, depth - 1);
    }
}

/// A module without functions: for clients that only talk.
fn nothing(name: ModuleName) -> Module {
    Module {
        version: blake3::hash(name.as_str().as_bytes()).to_hex().to_string(),
        name,
        functions: Vec::new(),
        recognizers: Vec::new(),
        settings: Settings::default(),
        prompts: BTreeMap::new(),
        warnings: Vec::new(),
    }
}

fn graft(module: &mut Module, known: &Module) {
    let mut settings = Settings { functions: BTreeMap::new(), ..known.settings.clone() };
    let mut brought = Brought { known, ids: BTreeMap::new() };
    let Module { functions, recognizers, .. } = module;
    for function in functions.iter_mut() {
        let own = || own_function(known, &function.name, Some(&function.parameters));
        let Some(id) = known.function_named(&function.name).or_else(own) else { continue };
        let from = known.function(id);
        if function.description.is_empty() {
            function.description.clone_from(&from.description);
        }
        for slot in &mut function.slots {
            if let Some(same) = from.slots.iter().find(|same| same.path == slot.path) {
                brought.bind(slot, same, recognizers);
            }
        }
        // The service calls the function only if `known` gives it an endpoint.
        function.endpoint.clone_from(&from.endpoint);
        if from.effect.from <= function.effect.from {
            function.effect = from.effect;
        }
        function.exemplars = from.exemplars.iter().map(|exemplar| moved(exemplar, from, function)).collect();
        if let Some(own) = known.settings.functions.get(&from.name) {
            settings.functions.insert(function.name.clone(), own.clone());
        }
    }
    for own in settings.functions.values_mut() {
        own.changes = own.changes.take().and_then(|other| renamed(&other, known, functions));
    }
    module.settings = settings;
    module.prompts.clone_from(&known.prompts);
    let mut hasher = blake3::Hasher::new();
    hasher.update(module.version.as_bytes()).update(known.version.as_bytes());
    module.version = hasher.finalize().to_hex().to_string();
}

/// The new name of a function of `known`, if the request contains it.
fn renamed(name: &str, known: &Module, brought: &[Function]) -> Option<String> {
    let id = known.function_named(name)?;
    let is_it = |function: &&Function| {
        function.name == name || own_function(known, &function.name, Some(&function.parameters)) == Some(id)
    };
    brought.iter().find(is_it).map(|function| function.name.clone())
}

/// Recognizers that are taken over from another module.
struct Brought<'a> {
    known: &'a Module,
    /// From identifiers of the other module to those of the new one.
    ids: BTreeMap<RecognizerId, RecognizerId>,
}

impl Brought<'_> {
    /// Recognizers that the other module's authors chose for the slot come first; those of the slot's own schema
    /// follow.
    fn bind(&mut self, slot: &mut Slot, same: &Slot, recognizers: &mut Vec<Recognizer>) {
        let mut bound: Vec<RecognizerId> = same.recognizers.iter().map(|id| self.take(*id, recognizers)).collect();
        let implied = std::mem::take(&mut slot.recognizers);
        bound.extend(implied.into_iter().filter(|id| !same.recognizers.iter().any(|known| self.is_same(*known, *id))));
        bound.dedup();
        slot.recognizers = bound;
        slot.question.clone_from(&same.question);
    }

    fn is_same(&self, known: RecognizerId, new: RecognizerId) -> bool {
        self.ids.get(&known) == Some(&new)
    }

    fn take(&mut self, id: RecognizerId, recognizers: &mut Vec<Recognizer>) -> RecognizerId {
        let recognizer = self.known.recognizer(id);
        *self.ids.entry(id).or_insert_with(|| {
            let place = recognizers.iter().position(|own| own.name == recognizer.name && are_alike(own, recognizer));
            RecognizerId::from_index(place.unwrap_or_else(|| {
                recognizers.push(recognizer.clone());
                recognizers.len() - 1
            }))
        })
    }
}

fn are_alike(one: &Recognizer, other: &Recognizer) -> bool {
    one.reading == other.reading
        && match (&one.kind, &other.kind) {
            (RecognizerKind::List(one), RecognizerKind::List(other)) => one == other,
            (RecognizerKind::Pattern(one), RecognizerKind::Pattern(other)) => one == other,
            (RecognizerKind::Builtin(one), RecognizerKind::Builtin(other)) => one == other,
            _ => false,
        }
}

/// The exemplar with its slots pointing into the new function; a slot that the function lacks stays a label.
fn moved(exemplar: &Exemplar, from: &Function, to: &Function) -> Exemplar {
    let pieces = exemplar.pieces.iter().map(|piece| match piece {
        TemplatePiece::Text(text) => TemplatePiece::Text(text.clone()),
        TemplatePiece::Slot { label, slot } => {
            let path = slot.map(|slot| &from.slot(slot).path);
            let slot = to.slot_ids().find(|id| Some(&to.slot(*id).path) == path);
            TemplatePiece::Slot { label: label.clone(), slot }
        }
    });
    Exemplar { pieces: pieces.collect(), ..exemplar.clone() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::module::load::from_texts;

    fn name() -> ModuleName {
        ModuleName::new("uptake").expect("a good name")
    }

    #[test]
    fn a_tool_that_says_less_keeps_what_the_module_says() {
        let schema = json!([{"name": "book", "description": "Book a table", "parameters": {"type": "object",
            "required": ["seats"], "properties": {
                "seats": {"type": "integer", "minimum": 1, "maximum": 8, "description": "How many people come"},
                "day": {"type": "string", "format": "date"},
                "area": {"type": "string", "enum": ["inside", "outside"]}}}}]);
        let known = from_texts(&[("schema.json", &schema.to_string())], &Limits::default()).0.expect("a module");
        let tool = json!({"name": "book", "description": "Books", "parameters": {"type": "object", "properties": {
            "seats": {"type": "integer", "maximum": 4}, "day": {"type": "string"}, "area": {"type": "string", "enum": ["inside"]},
            "note": {"type": "string"}}}});
        let completed = completed(&tool, Some(&known));
        let of =
            |name: &str| completed.pointer(&format!("/parameters/properties/{name}")).cloned().expect("a property");
        assert_eq!(
            of("seats"),
            json!({"type": "integer", "maximum": 4, "description": "How many people come", "minimum": 1})
        );
        assert_eq!(of("day"), json!({"type": "string", "format": "date"}));
        assert_eq!(of("area")["enum"], json!(["inside"]), "what the client lists is the client's");
        assert_eq!(of("note"), json!({"type": "string"}));
        let module = ad_hoc(name(), &[tool], Some(&known), None, &Limits::default()).expect("a module");
        let function = &module.functions[0];
        assert!(
            function.slots.iter().all(|slot| slot.label() != "seats" || !slot.required),
            "the client asks for less"
        );
    }

    #[test]
    fn what_may_be_left_out_keeps_what_the_module_says_of_it() {
        let schema = json!([{"name": "book", "description": "Book a table", "parameters": {"type": "object",
            "required": ["seats", "day"], "properties": {
                "seats": {"type": "integer", "maximum": 8}, "day": {"type": "string", "format": "date"}}}}]);
        let known = from_texts(&[("schema.json", &schema.to_string())], &Limits::default()).0.expect("a module");
        let tool = json!({"name": "book", "parameters": {"type": "object", "properties": {
            "seats": {"type": ["integer", "null"]}, "day": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}});
        let completed = completed(&tool, Some(&known));
        let of = |path: &str| completed.pointer(&format!("/parameters/properties/{path}")).cloned();
        assert_eq!(of("seats/maximum"), Some(json!(8)));
        assert_eq!(of("day/anyOf/0/format"), Some(json!("date")));
    }

    fn known() -> Module {
        let schema = json!([
            {"name": "weather", "description": "The weather", "parameters": {"type": "object", "required": ["city"],
             "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["c", "f"]}}}},
            {"name": "delete_all", "description": "Deletes everything"}
        ]);
        let exemplars =
            json!({"weather": [{"template": "how warm is it in <city> in <unit>"}], "delete_all": ["wipe it"]});
        let recognizers = json!({
            "recognizers": {"town": {"rec_type": "list", "instances": [{"label": "Oslo", "expressions": ["kristiania"]}]}},
            "slots": {"city": "town"}
        });
        let settings = "language = \"en\"\n[functions.weather.slots.city]\nquestion = \"Where?\"\n";
        let texts = [
            ("schema.json", schema.to_string()),
            ("exemplars.json", exemplars.to_string()),
            ("recognizers.json", recognizers.to_string()),
            ("module.toml", settings.to_owned()),
        ];
        let texts: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let (module, found) = from_texts(&texts, &Limits::default());
        module.unwrap_or_else(|| panic!("{found}"))
    }

    #[test]
    fn a_known_function_brings_what_is_known_of_it_and_nothing_else_comes_along() {
        let known = known();
        let functions = [
            json!({"name": "weather", "parameters": {"type": "object", "properties": {
                "day": {"type": "string", "format": "date"}, "city": {"type": "string"}}}}),
            json!({"name": "sing", "description": "Sings"}),
        ];
        let module = ad_hoc(name(), &functions, Some(&known), None, &Limits::default()).expect("it loads");
        let names: Vec<&str> = module.functions.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(names, ["weather", "sing"]);
        let weather = &module.functions[0];
        assert_eq!(weather.description, "The weather");
        let city = weather.slots.iter().find(|slot| slot.label() == "city").expect("a slot");
        assert_eq!(city.question, Some(crate::module::Wording::One("Where?".into())));
        assert_eq!(module.recognizer(city.recognizers[0]).name, "town");
        let slots: Vec<_> = weather.exemplars[0]
            .pieces
            .iter()
            .filter_map(|piece| match piece {
                TemplatePiece::Slot { label, slot } => Some((label.as_str(), slot.map(|id| weather.slot(id).label()))),
                TemplatePiece::Text(_) => None,
            })
            .collect();
        assert_eq!(slots, [("city", Some("city")), ("unit", None)]);
        assert_eq!(module.settings.functions.keys().collect::<Vec<_>>(), ["weather"]);
        let alone = ad_hoc(name(), &functions, None, None, &Limits::default()).expect("it loads");
        assert_ne!(alone.version, module.version);
        assert!(alone.functions[0].exemplars.is_empty());
    }

    #[test]
    fn a_tool_is_our_own_whatever_a_library_puts_around_its_name() {
        let known = known();
        let found = |name: &str, parameters: &Value| {
            own_function(&known, name, Some(parameters)).map(|id| known.function(id).name.as_str())
        };
        let city = json!({"properties": {"city": {}}});
        for (name, expected) in [
            ("weather", Some("weather")),
            ("mcp__home__weather", Some("weather")),
            ("functions.weather", Some("weather")),
            ("weather____home____builtin", Some("weather")),
            ("home_weather", None),
            ("weathers", None),
            ("weathercock", None),
        ] {
            assert_eq!(found(name, &city), expected, "{name}");
        }
        for name in ["delete_all", "mcp_delete_all", "home_delete_all", "delete_all_mcp_home", "home-delete_all"] {
            assert_eq!(found(name, &json!({})), Some("delete_all"), "{name}");
        }
        // Another function of this name.
        assert_eq!(found("weather", &json!({"properties": {"planet": {}}})), None);
        assert_eq!(found("mcp__x__delete_all", &city), None);
    }

    #[test]
    fn without_functions_there_is_a_module_that_can_do_nothing() {
        let module = ad_hoc(name(), &[], None, None, &Limits::default()).expect("it loads");
        assert!(module.functions.is_empty());
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let functions = [json!({"name": "a"}), json!({"name": "b", "parameters": {"type": "array"}})];
        let found = ad_hoc(name(), &functions, None, None, &Limits::default()).expect_err("parameters are objects");
        assert_eq!(found.errors().next().map(|found| found.pointer.as_str()), Some("/1/parameters"));
    }

    #[test]
    fn a_dialect_is_no_fault() {
        let parameters = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "properties": {"room": {"type": "string"}}, "additionalProperties": false});
        let functions = [json!({"name": "a", "description": "b", "parameters": parameters, "strict": true})];
        let module = ad_hoc(name(), &functions, None, None, &Limits::default()).expect("it loads");
        assert_eq!(module.warnings, []);
        assert_eq!(module.functions[0].slots.len(), 1);
    }
}
