//! Reads a tool's arguments from untrusted JSON, and finds the module that they name.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{offer::Offer, refusal::Refusal};
use crate::snapshot::{Snapshot, Snapshots};

/// Absent arguments count as an empty object.
///
/// # Errors
/// If a member has the wrong type or is unknown: with its path and what would be right.
pub(super) fn read<T: DeserializeOwned>(arguments: Option<Map<String, Value>>) -> Result<T, Refusal> {
    let arguments = Value::Object(arguments.unwrap_or_default());
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let what = error.into_inner();
        // The error itself names an unknown member.
        let at = if path == "." || what.to_string().starts_with("unknown field") {
            String::new()
        } else {
            format!("`{path}`: ")
        };
        Refusal::new(format!("{at}{what}; the tool's input schema says what it takes"))
    })
}

/// The argument schema of a tool that takes a module, followed by the tool's own arguments.
pub(super) fn schema_with_module(offer: &Offer, own: Value, required: &[&str]) -> Map<String, Value> {
    let mut properties = Map::from_iter([("module".to_owned(), offer.schema())]);
    if let Value::Object(own) = own {
        properties.extend(own);
    }
    let module = (!offer.is_one()).then_some("module");
    schema(properties, module.into_iter().chain(required.iter().copied()))
}

/// The argument schema of a tool.
pub(super) fn schema<'a>(
    properties: Map<String, Value>,
    required: impl Iterator<Item = &'a str>,
) -> Map<String, Value> {
    Map::from_iter([
        ("type".to_owned(), "object".into()),
        ("properties".to_owned(), properties.into()),
        ("required".to_owned(), required.collect()),
        ("additionalProperties".to_owned(), false.into()),
    ])
}

/// What a person said; only its presence is checked here.
pub(super) fn required(text: Option<String>, name: &str) -> Result<String, Refusal> {
    text.ok_or_else(|| Refusal::new(format!("`{name}` is required: what the person said, in their own words")))
}

/// The module as it serves now, for the whole of one call; edits take effect with the next call.
pub(super) async fn module(
    offer: &Offer,
    snapshots: &Snapshots,
    asked: Option<&str>,
) -> Result<Arc<Snapshot>, Refusal> {
    let name = offer.choose(asked, snapshots)?;
    snapshots.fresh(&name).await.map_err(|error| Refusal::of_prepare(&error))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        limit: Option<usize>,
        #[serde(default)]
        functions: Vec<String>,
    }

    fn refused(arguments: Value) -> String {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        read::<Sample>(Some(arguments)).unwrap_err().to_string()
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        assert!(refused(json!({"limit": "3"})).starts_with("`limit`: invalid type: string \"3\", expected usize"));
        assert!(refused(json!({"functions": ["a", 5]})).starts_with("`functions[1]`: invalid type: integer `5`"));
        let unknown = refused(json!({"query": "x"}));
        assert!(unknown.starts_with("unknown field `query`, expected `limit` or `functions`"), "{unknown}");
        assert!(read::<Sample>(None).is_ok_and(|sample| sample.limit.is_none() && sample.functions.is_empty()));
    }

    proptest! {
        #[test]
        fn no_arguments_panic(key in "\\PC{0,12}", text in "\\PC{0,12}", number in any::<i64>()) {
            for value in [json!(text), json!(number), json!([text]), json!({"a": number})] {
                drop(read::<Sample>(Some(Map::from_iter([(key.clone(), value.clone())]))));
                drop(read::<Sample>(Some(Map::from_iter([("functions".to_owned(), value)]))));
            }
        }
    }
}
