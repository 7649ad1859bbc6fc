//! What the service behind an operation answers on success, as its `OpenAPI` document describes it.

use serde_json::Value;

use super::{super::schema::Normaliser, Findings, Limits, PointerChain, openapi::preference};

/// The JSON Schema of the answer that the operation at `pointer` gives on success; `None` if the document has none that
/// can be read.
pub(in crate::module) fn answer(document: &Value, pointer: &str, limits: &Limits) -> Option<Value> {
    let mut found = Findings::new();
    let mut normaliser = Normaliser::new("", document, limits);
    normaliser.begin(String::new());
    let described = described(document, pointer)?;
    let normalised = normaliser.normalised(described.get("schema")?, &PointerChain::ROOT, 0, &mut found);
    let definitions = normaliser.definitions(&mut found);
    let Value::Object(mut schema) = normalised else { return None };
    if !definitions.is_empty() {
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
    (found.errors() == 0).then_some(Value::Object(schema))
}

/// The example of that answer, if the document has one.
pub(in crate::module) fn example(document: &Value, pointer: &str) -> Option<Value> {
    let described = described(document, pointer)?;
    let first = || described.get("examples")?.as_object()?.values().next();
    let named = || {
        let example = first()?;
        let example = example.get("$ref").and_then(|reference| within(document, reference)).unwrap_or(example);
        example.get("value").cloned()
    };
    described.get("example").cloned().or_else(named)
}

/// What the document says about a successful answer, in the content type that is easiest to read.
fn described<'d>(document: &'d Value, pointer: &str) -> Option<&'d Value> {
    let responses = document.pointer(pointer)?.get("responses")?.as_object()?;
    let good = responses.keys().filter(|status| status.starts_with('2')).min()?;
    let response = responses.get(good)?;
    let response = response.get("$ref").and_then(|reference| within(document, reference)).unwrap_or(response);
    let content = response.get("content")?.as_object()?;
    content.iter().min_by_key(|(media, _)| preference(media)).map(|(_, described)| described)
}

fn within<'d>(document: &'d Value, reference: &Value) -> Option<&'d Value> {
    document.pointer(reference.as_str()?.strip_prefix('#')?)
}
