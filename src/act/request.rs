//! A call as an HTTP request. Pure. The value of an argument never changes the server that a request goes to, nor a header.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::module::endpoint::{BodyKind, Method, Operation, ParameterStyle, PartPlace, RequestPart};

/// A request, without the headers that its author adds to every call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EndpointRequest {
    pub method: Method,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Content,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    None,
    Json(Value),
    /// Encoded as an HTML form.
    Form(String),
}

/// # Errors
/// With the reason if an argument does not fit its place.
pub(super) fn request(operation: &Operation, arguments: &Map<String, Value>) -> Result<EndpointRequest, String> {
    let mut query: Vec<String> = Vec::new();
    let (mut members, mut whole) = (Map::new(), None);
    for part in &operation.parts {
        let Some(value) = arguments.get(&part.argument).filter(|value| !value.is_null()) else { continue };
        match part.place {
            PartPlace::Path => {}
            PartPlace::Query => query.extend(pairs(part, value)),
            PartPlace::Body => {
                members.insert(part.name.clone(), value.clone());
            }
            PartPlace::Whole => whole = Some(value.clone()),
        }
    }
    let mut url = operation.server.clone().unwrap_or_default();
    url.push_str(&filled(operation, arguments)?);
    if !query.is_empty() {
        url.push(if url.contains('?') { '&' } else { '?' });
        url.push_str(&query.join("&"));
    }
    let body = match (operation.body, whole) {
        (BodyKind::None | BodyKind::Other, _) => Content::None,
        (BodyKind::Json, Some(whole)) => Content::Json(whole),
        (BodyKind::Json, None) => Content::Json(Value::Object(members)),
        (BodyKind::Form, whole) => {
            let members = whole.and_then(|whole| whole.as_object().cloned()).unwrap_or(members);
            Content::Form(members.iter().flat_map(|(name, value)| exploded(name, value)).collect::<Vec<_>>().join("&"))
        }
    };
    Ok(EndpointRequest { method: operation.method, url, headers: operation.headers.clone(), body })
}

/// The path with its arguments filled in.
fn filled(operation: &Operation, arguments: &Map<String, Value>) -> Result<String, String> {
    let mut url = String::with_capacity(operation.path.len());
    let mut rest = operation.path.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        let (hole, behind) = after.split_once('}').unwrap_or((after, ""));
        let part = operation.parts.iter().find(|part| part.place == PartPlace::Path && part.name == hole);
        let argument = part.map_or(hole, |part| part.argument.as_str());
        let value = arguments.get(argument).filter(|value| !value.is_null());
        let text = value.map(joined).unwrap_or_default();
        let is_query = url.contains('?') || before.contains('?');
        // An empty segment makes another address, and so does `.` or `..`.
        if !is_query && (text.is_empty() || text == "." || text == "..") {
            return Err(format!("the argument `{argument}` cannot be a part of the address"));
        }
        url.push_str(before);
        url.push_str(&encoded(&text));
        rest = behind;
    }
    url.push_str(rest);
    Ok(url)
}

fn pairs(part: &RequestPart, value: &Value) -> Vec<String> {
    match (part.style, value) {
        (ParameterStyle::Exploded, _) => exploded(&part.name, value),
        (ParameterStyle::Joined, _) => vec![pair(&part.name, &joined(value))],
        (ParameterStyle::Deep, Value::Object(members)) => {
            members.iter().map(|(key, value)| pair(&format!("{}[{key}]", part.name), &text(value))).collect()
        }
        (ParameterStyle::Deep, _) => exploded(&part.name, value),
    }
}

fn exploded(name: &str, value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().map(|item| pair(name, &text(item))).collect(),
        Value::Object(members) => members.iter().map(|(key, value)| pair(key, &text(value))).collect(),
        value => vec![pair(name, &text(value))],
    }
}

fn pair(name: &str, value: &str) -> String {
    format!("{}={}", encoded(name), encoded(value))
}

/// As one text, `a,b`.
fn joined(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
        Value::Object(members) => {
            members.iter().map(|(key, value)| format!("{key},{}", text(value))).collect::<Vec<_>>().join(",")
        }
        value => text(value),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Percent-encodes everything except letters, digits and `-._~`.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn part(name: &str, place: PartPlace) -> RequestPart {
        RequestPart { argument: name.to_owned(), name: name.to_owned(), place, style: ParameterStyle::Exploded }
    }

    fn operation(path: &str, parts: Vec<RequestPart>, body: BodyKind) -> Operation {
        let server = Some("http://shop.example".to_owned());
        Operation { method: Method::Post, server, path: path.to_owned(), headers: Vec::new(), parts, body }
    }

    fn sent(operation: &Operation, arguments: &Value) -> Result<EndpointRequest, String> {
        request(operation, arguments.as_object().expect("an object"))
    }

    #[test]
    fn arguments_go_where_they_belong() {
        let parts = vec![
            part("id", PartPlace::Path),
            part("tag", PartPlace::Query),
            RequestPart { name: "size".to_owned(), ..part("body_size", PartPlace::Body) },
        ];
        let headers = vec![("x-version".to_owned(), "2".to_owned())];
        let operation = Operation { headers, ..operation("/orders/{id}/lines?view=full", parts, BodyKind::Json) };
        let request =
            sent(&operation, &json!({"id": "a b/c", "tag": ["x", "ü&"], "body_size": 42, "unknown": 1})).unwrap();
        assert_eq!(request.url, "http://shop.example/orders/a%20b%2Fc/lines?view=full&tag=x&tag=%C3%BC%26");
        assert_eq!(request.headers, [("x-version".into(), "2".into())]);
        assert_eq!(request.body, Content::Json(json!({"size": 42})));
    }

    #[test]
    fn lists_and_objects_have_their_style() {
        let styled = |style| {
            let part = RequestPart { style, ..part("f", PartPlace::Query) };
            let operation = operation("/", vec![part], BodyKind::None);
            [json!({"f": ["a", "b"]}), json!({"f": {"k": "v"}})].map(|value| {
                let url = sent(&operation, &value).unwrap().url;
                url.trim_start_matches("http://shop.example/").to_owned()
            })
        };
        assert_eq!(styled(ParameterStyle::Exploded), ["?f=a&f=b", "?k=v"]);
        assert_eq!(styled(ParameterStyle::Joined), ["?f=a%2Cb", "?f=k%2Cv"]);
        assert_eq!(styled(ParameterStyle::Deep), ["?f=a&f=b", "?f%5Bk%5D=v"]);
        let form = operation("/", vec![part("a", PartPlace::Body), part("b", PartPlace::Body)], BodyKind::Form);
        assert_eq!(sent(&form, &json!({"a": "x y", "b": 2})).unwrap().body, Content::Form("a=x%20y&b=2".into()));
        let whole = operation("/", vec![part("body", PartPlace::Whole)], BodyKind::Json);
        assert_eq!(sent(&whole, &json!({"body": [1, 2]})).unwrap().body, Content::Json(json!([1, 2])));
    }

    #[test]
    fn no_argument_leads_elsewhere() {
        let operation = operation("/orders/{id}", vec![part("id", PartPlace::Path)], BodyKind::None);
        for value in [json!("."), json!(".."), json!(""), Value::Null, json!([])] {
            assert!(sent(&operation, &json!({"id": value})).is_err(), "{value}");
        }
        for (value, url) in [
            ("../admin", "http://shop.example/orders/..%2Fadmin"),
            ("1?admin=1#x", "http://shop.example/orders/1%3Fadmin%3D1%23x"),
            ("%2e%2e", "http://shop.example/orders/%252e%252e"),
            ("@evil.example", "http://shop.example/orders/%40evil.example"),
        ] {
            assert_eq!(sent(&operation, &json!({"id": value})).unwrap().url, url);
            assert_eq!(reqwest::Url::parse(url).unwrap().path().matches('/').count(), 2, "{url}");
        }
    }
}
