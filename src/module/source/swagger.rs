//! Rewrites Swagger 2.0 as `OpenAPI` 3: bodies, types of parameters and servers have other places.

use serde_json::{Map, Value, json};

/// Members that belong to the schema of a parameter that states its type itself.
const OF_SCHEMA: [&str; 17] = [
    "type",
    "format",
    "items",
    "default",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "enum",
    "multipleOf",
    "example",
];
const METHODS: [&str; 7] = ["get", "put", "post", "delete", "options", "head", "patch"];

/// The document as `OpenAPI` 3. Places in it stay the same, except for bodies. Definitions stay where references find
/// them.
pub(super) fn modernised(document: &Value) -> Value {
    let mut modern = document.clone();
    let Value::Object(members) = &mut modern else { return modern };
    members.shift_remove("swagger");
    members.insert("openapi".to_owned(), json!("3.0.3"));
    if let Some(servers) = servers(document) {
        members.insert("servers".to_owned(), servers);
    }
    let Some(Value::Object(paths)) = members.get_mut("paths") else { return modern };
    for item in paths.values_mut().filter_map(Value::as_object_mut) {
        let shared = take_parameters(item, document);
        for method in METHODS {
            let Some(Value::Object(operation)) = item.get_mut(method) else { continue };
            let own = take_parameters(operation, document);
            let is_again =
                |shared: &&Value| own.iter().any(|own| own["name"] == shared["name"] && own["in"] == shared["in"]);
            let all: Vec<Value> = shared.iter().filter(|shared| !is_again(shared)).chain(&own).cloned().collect();
            rewrite(operation, &all, document);
        }
    }
    modern
}

fn servers(document: &Value) -> Option<Value> {
    let host = document.get("host")?.as_str()?;
    let base = document.get("basePath").and_then(Value::as_str).unwrap_or_default();
    let schemes: Vec<&str> =
        document.get("schemes").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let scheme = if schemes.contains(&"https") { "https" } else { schemes.first().unwrap_or(&"https") };
    Some(json!([{ "url": format!("{scheme}://{host}{base}") }]))
}

/// The parameters; references are replaced by their targets.
fn take_parameters(from: &mut Map<String, Value>, document: &Value) -> Vec<Value> {
    let Some(Value::Array(parameters)) = from.shift_remove("parameters") else { return Vec::new() };
    let full = |parameter: Value| {
        let reference = parameter.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        reference.and_then(|pointer| document.pointer(pointer)).cloned().unwrap_or(parameter)
    };
    parameters.into_iter().map(full).collect()
}

fn rewrite(operation: &mut Map<String, Value>, parameters: &[Value], document: &Value) {
    let media = |key: &str, usual: &'static str| {
        let own = operation.get(key).or_else(|| document.get(key)).and_then(Value::as_array);
        own.and_then(|media| media.first()?.as_str()).unwrap_or(usual).to_owned()
    };
    let (consumes, produces) = (media("consumes", "application/json"), media("produces", "application/json"));
    let (mut modern, mut form, mut needed) = (Vec::new(), Map::new(), Vec::new());
    let mut has_file = false;
    for parameter in parameters {
        let name = parameter.get("name").and_then(Value::as_str).unwrap_or_default();
        let is_required = parameter.get("required") == Some(&Value::Bool(true));
        match parameter.get("in").and_then(Value::as_str) {
            Some("body") => {
                let schema = parameter.get("schema").cloned().unwrap_or_default();
                let description = parameter.get("description").cloned().unwrap_or_default();
                let kind = if consumes.contains("json") { consumes.clone() } else { "application/json".to_owned() };
                let content = json!({ kind: {"schema": schema} });
                let body = json!({"required": is_required, "description": description, "content": content});
                operation.insert("requestBody".to_owned(), body);
            }
            Some("formData") => {
                has_file |= parameter["type"] == "file";
                form.insert(name.to_owned(), schema_of(parameter));
                if is_required {
                    needed.push(Value::from(name));
                }
            }
            _ => modern.push(described(parameter)),
        }
    }
    if !form.is_empty() {
        let kind = if has_file { "multipart/form-data" } else { "application/x-www-form-urlencoded" };
        let schema = json!({"type": "object", "properties": form, "required": needed});
        operation.insert("requestBody".to_owned(), json!({"content": {kind: {"schema": schema}}}));
    }
    if !modern.is_empty() {
        operation.insert("parameters".to_owned(), Value::Array(modern));
    }
    for response in operation.get_mut("responses").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut)
    {
        let Value::Object(response) = response else { continue };
        let example = response.get("examples").and_then(|examples| examples.as_object()?.values().next().cloned());
        if let Some(schema) = response.shift_remove("schema") {
            let mut content = json!({ "schema": schema });
            if let Some(example) = example {
                content["example"] = example;
            }
            response.insert("content".to_owned(), json!({ &produces: content }));
        }
    }
}

/// A parameter with its type in a schema.
fn described(parameter: &Value) -> Value {
    let mut modern = parameter.clone();
    let Value::Object(members) = &mut modern else { return modern };
    if !members.contains_key("schema") && members.contains_key("type") {
        let schema = schema_of(parameter);
        members.retain(|name, _| !OF_SCHEMA.contains(&name.as_str()));
        members.insert("schema".to_owned(), schema);
    }
    let collected = members.shift_remove("collectionFormat");
    if parameter["type"] == "array" {
        members.insert("explode".to_owned(), (collected == Some(json!("multi"))).into());
    }
    modern
}

fn schema_of(parameter: &Value) -> Value {
    let members = parameter.as_object().into_iter().flatten();
    let own = members.filter(|(name, _)| OF_SCHEMA.contains(&name.as_str()) || *name == "description");
    let mut schema: Map<String, Value> = own.map(|(name, value)| (name.clone(), value.clone())).collect();
    if schema.get("type") == Some(&json!("file")) {
        schema.insert("type".to_owned(), json!("string"));
    }
    Value::Object(schema)
}
