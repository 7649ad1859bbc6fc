//! How every route handles wrong requests: a typed answer, without side effects.

use axum::{body::Body, http::Request};
use serde_json::json;
use uptake::http::{HttpOptions, Phase};

use crate::support::{Service, json_request};

#[tokio::test]
async fn it_says_hello() {
    let service = Service::new(&[]);
    let hello = service.get("/hello").await;
    assert_eq!((hello.status, hello.text.as_str()), (200, "Ok"));
    assert_eq!(service.get("/healthz").await.json(), json!({"status": "ok"}));
}

#[tokio::test]
async fn it_is_ready_after_each_module_was_tried() {
    let service = Service::new(&[]);
    let (status, kind, code, _) = service.get("/readyz").await.error();
    assert_eq!((status, kind.as_str(), code.as_str()), (503, "server_error", "not_ready"));
    service.app.warm_up().await;
    assert_eq!(service.get("/readyz").await.json(), json!({"status": "ready", "modules": 0, "failed": []}));
    service.app.enter(Phase::Stopping);
    assert_eq!(service.get("/readyz").await.error().2, "stopping");
}

#[tokio::test]
async fn unknown_routes_and_methods_have_the_envelope() {
    let service = Service::new(&[]);
    for path in ["/", "/v1", "/v1/predict", "/v1/predict/", "/v1/predict/a/b", "/v1/predict/../../etc/passwd"] {
        let (status, kind, code, _) = service.get(path).await.error();
        assert_eq!((status, kind.as_str(), code.as_str()), (404, "not_found_error", "route_not_found"), "{path}");
    }
    let answer = service.get("/v1/predict/weather").await;
    assert_eq!((answer.error().0, &answer.headers["allow"]), (405, &"POST".parse().unwrap()));
}

#[tokio::test]
async fn module_names_cannot_leave_their_place() {
    let service = Service::new(&[]);
    let names = ["..", "..%2F..%2Fetc", "a%2Fb", "a%5Cb", "%00", "a%00b", ".hidden", "%2E%2E", "a%20b", "%FF", "%0A"];
    for name in names {
        for route in ["/v1/index", "/v1/load", "/v1/modules"] {
            let (status, kind, code, param) = service.get(&format!("{route}/{name}")).await.error();
            assert_eq!((status, kind.as_str()), (400, "invalid_request_error"), "{route}/{name}");
            assert_eq!((code.as_str(), param.as_deref()), ("invalid_module_name", Some("module")), "{route}/{name}");
        }
        let (status, ..) = service.post(&format!("/v1/predict/{name}"), r#"{"utterance":"hi"}"#).await.error();
        assert_eq!(status, 400, "{name}");
    }
    let (status, ..) = service.get(&format!("/v1/load/{}", "x".repeat(5_000))).await.error();
    assert_eq!(status, 400);
}

#[tokio::test]
async fn unknown_modules_are_not_found() {
    let service = Service::new(&[]);
    for path in ["/v1/index/nowhere", "/v1/load/nowhere", "/v1/modules/nowhere"] {
        let (status, kind, code, param) = service.get(path).await.error();
        assert_eq!((status, kind.as_str(), code.as_str()), (404, "not_found_error", "module_not_found"), "{path}");
        assert_eq!(param.as_deref(), Some("module"));
    }
    for path in ["/v1/predict/nowhere", "/v1/retrieve/nowhere"] {
        assert_eq!(service.post(path, r#"{"utterance":"hi"}"#).await.error().2, "module_not_found", "{path}");
    }
    // A name that anyone may choose does not become a label.
    let metrics = service.get("/metrics").await;
    assert!(metrics.status == 200 && !metrics.text.contains("nowhere"), "{}", metrics.text);
}

#[tokio::test]
async fn bodies_that_are_not_right_are_refused_with_the_member() {
    let service = Service::new(&[]);
    let cases: [(&str, &str, Option<&str>); 16] = [
        ("", "invalid_json", None),
        ("{", "invalid_json", None),
        ("[]", "invalid_json", None),
        ("\"hi\"", "invalid_json", None),
        ("{\"utterance\": \"\\ud800\"}", "invalid_json", None),
        ("{}", "missing_required_parameter", Some("utterance")),
        ("{\"utterance\": null}", "missing_required_parameter", Some("utterance")),
        ("{\"utterance\": 5}", "invalid_type", Some("utterance")),
        ("{\"utterance\": [\"hi\"]}", "invalid_type", Some("utterance")),
        ("{\"utterance\": \"\"}", "invalid_value", Some("utterance")),
        ("{\"utterance\": \" \\n\\u0000 \"}", "invalid_value", Some("utterance")),
        ("{\"utterance\": \"hi\", \"strategy\": \"magic\"}", "invalid_type", Some("strategy")),
        ("{\"utterance\": \"hi\", \"functions\": \"x\"}", "invalid_type", Some("functions")),
        ("{\"utterance\": \"hi\", \"functions\": [1]}", "invalid_type", Some("functions[0]")),
        ("{\"utterance\": \"hi\", \"now\": 5}", "invalid_type", Some("now")),
        ("{\"utterance\": \"hi\", \"mode\": \"SING\"}", "invalid_value", Some("mode")),
    ];
    for (body, expected, member) in cases {
        let (status, kind, code, param) = service.post("/v1/predict/weather", body.to_owned()).await.error();
        assert_eq!((status, kind.as_str()), (400, "invalid_request_error"), "{body}");
        assert_eq!((code.as_str(), param.as_deref()), (expected, member), "{body}");
    }
    let invalid_utf8 = service.post("/v1/predict/weather", b"{\"utterance\": \"\xff\"}".to_vec()).await;
    assert_eq!(invalid_utf8.error().2, "invalid_json");
    let long = json!({ "utterance": "a".repeat(8_001) }).to_string();
    let answer = service.post("/v1/predict/weather", long).await;
    assert_eq!((answer.error().0, answer.error().2.as_str()), (400, "string_above_max_length"));
    assert!(answer.text.contains("8000"), "{}", answer.text);
    for limit in ["0", "129"] {
        let body = format!("{{\"utterance\": \"hi\", \"limit\": {limit}}}");
        assert_eq!(service.post("/v1/retrieve/weather", body).await.error().3.as_deref(), Some("limit"));
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_with_the_limit() {
    let service = Service::with(&[], HttpOptions { body_bytes: 100, ..HttpOptions::default() });
    let body = |bytes: usize| json!({ "utterance": "a".repeat(bytes) }).to_string();
    for bytes in [101, 500, 5_000] {
        let answer = service.post("/v1/predict/weather", body(bytes)).await;
        assert_eq!((answer.error().0, answer.error().2.as_str()), (413, "body_too_large"), "{bytes}");
        assert!(answer.text.contains("100 bytes"));
    }
    assert_eq!(service.post("/v1/predict/weather", body(50)).await.status, 404);

    // Without a declared length.
    let chunks = futures::stream::iter((0..50).map(|_| Ok::<_, std::io::Error>("0123456789")));
    let answer = service.post("/v1/predict/weather", Body::from_stream(chunks)).await;
    assert_eq!(answer.error().0, 413);
}

#[tokio::test]
async fn content_types_other_than_json_are_refused() {
    let service = Service::new(&[]);
    let with = |kind: Option<&str>| {
        let mut request = Request::post("/v1/predict/nowhere");
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        request.body(Body::from(r#"{"utterance":"hi"}"#)).unwrap()
    };
    for fine in [Some("application/json; charset=utf-8"), Some("Application/JSON"), Some("application/ld+json")] {
        assert_eq!(service.send(with(fine)).await.status, 404, "{fine:?}");
    }
    let form = "application/x-www-form-urlencoded";
    for other in [Some(form), Some("text/plain"), Some("multipart/form-data; boundary=x"), Some(""), None] {
        let (status, _, code, _) = service.send(with(other)).await.error();
        assert_eq!((status, code.as_str()), (415, "unsupported_media_type"), "{other:?}");
    }
}

#[tokio::test]
async fn request_ids_are_kept_if_harmless() {
    let service = Service::new(&[]);
    let longest = "x".repeat(128);
    for kept in ["abc-123", "~!", &longest] {
        let request = Request::get("/hello").header("x-request-id", kept).body(Body::empty()).unwrap();
        assert_eq!(service.send(request).await.headers["x-request-id"], kept);
    }
    let too_long = "x".repeat(129);
    for replaced in ["", "a b", "a\tb", "é", &too_long] {
        let request = Request::get("/hello").header("x-request-id", replaced.as_bytes()).body(Body::empty()).unwrap();
        let id = service.send(request).await.headers["x-request-id"].clone();
        assert!(id.to_str().is_ok_and(|id| id.starts_with("req_") && id.len() == 36), "{id:?}");
    }
}

#[tokio::test]
async fn no_foreign_page_may_call_unless_it_is_told_so() {
    let preflight = || {
        Request::builder()
            .method("OPTIONS")
            .uri("/v1/predict/weather")
            .header("origin", "https://chat.example.com")
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "content-type")
            .body(Body::empty())
            .unwrap()
    };
    let closed = Service::new(&[]).send(preflight()).await;
    assert!(!closed.headers.contains_key("access-control-allow-origin"));
    let origins = vec!["https://chat.example.com".to_owned()];
    let open = Service::with(&[], HttpOptions { cors_origins: origins, ..HttpOptions::default() });
    let answer = open.send(preflight()).await;
    assert_eq!(answer.headers["access-control-allow-origin"], "https://chat.example.com");
    let other = Request::get("/hello").header("origin", "https://evil.example.com").body(Body::empty()).unwrap();
    assert!(!open.send(other).await.headers.contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn no_modules_is_an_empty_list() {
    assert_eq!(Service::new(&[]).get("/v1/modules").await.json(), json!({"object": "list", "data": []}));
}

/// The parser's own limit applies where a value is kept; an ignored member is skipped without recursion.
#[tokio::test]
async fn deep_json_is_never_followed_down() {
    let service = Service::new(&[]);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (member, expected) in [("mode", 400), ("utterance", 400), ("functions", 400), ("unknown", 404)] {
        let other = if member == "utterance" { "more" } else { "utterance" };
        let body = format!("{{\"{other}\": \"hi\", \"{member}\": {deep}}}");
        let answer = service.send(json_request("/v1/predict/weather").body(body.into()).unwrap()).await;
        assert_eq!(answer.error().0, expected, "{member}");
    }
}
