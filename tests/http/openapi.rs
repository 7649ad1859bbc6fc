//! The document describes what the service does.

use axum::{body::Body, http::Request};

use crate::support::{Service, golden};

#[tokio::test]
async fn the_committed_document_is_what_is_served() {
    let answer = Service::new(&[]).get("/openapi.json").await;
    assert_eq!((answer.status, &answer.headers["content-type"]), (200, &"application/json".parse().unwrap()));
    golden("openapi.json", &answer.text);
}

#[tokio::test]
async fn every_documented_operation_exists_and_no_other_method_does() {
    let service = Service::new(&[]);
    let document = service.get("/openapi.json").await.json();
    let paths = document["paths"].as_object().expect("paths");
    assert!(paths.len() >= 10, "{paths:?}");
    for (path, operations) in paths {
        let concrete = path.replace("{module}", "no-such-module");
        for method in ["get", "post", "put", "delete", "patch"] {
            let request = Request::builder().method(method.to_uppercase().as_str()).uri(&concrete);
            let answer = service.send(request.body(Body::empty()).unwrap()).await;
            if operations.get(method).is_some() {
                assert_ne!(answer.status, 405, "{method} {path}");
                assert!(!answer.text.contains("route_not_found"), "{method} {path}");
                let documented = operations[method]["responses"].as_object().expect("responses");
                assert!(documented.contains_key(&answer.status.to_string()), "{method} {path}: {answer:?}");
            } else {
                assert_eq!(answer.error().2, "method_not_allowed", "{method} {path}");
                assert!(answer.headers.contains_key("allow"), "{method} {path}");
            }
        }
    }
}

/// Each reference of the document resolves.
#[tokio::test]
async fn references_resolve() {
    let document = Service::new(&[]).get("/openapi.json").await.json();
    let text = document.to_string();
    for piece in text.split("\"$ref\":\"#").skip(1) {
        let pointer = piece.split('"').next().expect("an end");
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
}
