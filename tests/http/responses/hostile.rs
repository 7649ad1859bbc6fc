//! Hostile bodies.

use proptest::prelude::*;
use serde_json::{Value, json};
use uptake::http::HttpOptions;

use super::{SEATTLE, asking, read, respond, with};
use crate::support::Service;

#[tokio::test]
async fn bodies_that_are_none_are_refused() {
    let service = Service::with(&["weather"], HttpOptions { body_bytes: 100_000, ..HttpOptions::default() });
    for (body, status) in [("", 400), ("[]", 400), ("null", 400), ("{", 400), ("{}{}", 400), ("\u{feff}{}", 400)] {
        assert_eq!(service.post("/v1/responses", body.to_owned()).await.error().0, status, "{body:?}");
    }
    let long = asking(&json!("x".repeat(100_001)));
    assert_eq!((respond(&service, &long).await.error().0), 413);
    let plain = axum::http::Request::post("/v1/responses").header("content-type", "text/plain");
    assert_eq!(service.send(plain.body("{}".into()).expect("a request")).await.error().0, 415);
    let deep = format!("{{\"model\": \"weather\", \"input\": {}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(service.post("/v1/responses", deep).await.error().0, 400);
}

/// Thousands of items, references and tools cost in proportion to their size.
#[tokio::test]
async fn much_of_one_kind_is_answered_or_refused() {
    let service = Service::new(&["weather"]);
    let user = json!({"role": "user", "content": SEATTLE});
    let digits = |number: usize| format!("{number:032x}");
    let references: Vec<Value> =
        (0..2_000).map(|number| json!({"type": "item_reference", "id": format!("msg_{}00", digits(number))})).collect();
    let answer = respond(&service, &asking(&json!(references))).await;
    assert_eq!((answer.error().0, answer.error().2.as_str()), (400, "invalid_value"), "{}", answer.text);
    let same: Vec<Value> = vec![json!({"type": "item_reference", "id": format!("msg_{}00", digits(1))}); 2_000];
    let same = with(&asking(&json!(same)), &json!({"store": false}));
    assert_eq!(respond(&service, &same).await.error().0, 400, "nothing was said");
    let unknown: Vec<Value> = vec![json!({"type": "banana"}); 5_000].into_iter().chain([user.clone()]).collect();
    let response = read(&respond(&service, &with(&asking(&json!(unknown)), &json!({"store": false}))).await);
    assert!(response["uptake"]["notes"].as_array().is_some_and(|notes| notes.len() < 100), "{response}");
    let outputs = vec![json!({"type": "function_call_output", "call_id": "c", "output": "x"}); 2_000];
    let outputs: Vec<Value> = [user].into_iter().chain(outputs).collect();
    assert_eq!(respond(&service, &asking(&json!(outputs))).await.status, 200);
    let tools = vec![json!({"type": "web_search"}); 5_000];
    let response = read(&respond(&service, &with(&asking(&json!(SEATTLE)), &json!({"tools": tools}))).await);
    assert!(response["uptake"]["notes"].as_array().is_some_and(|notes| notes.len() < 100), "{response}");
}

/// A few bytes that refer to many count as many.
#[tokio::test]
async fn references_bring_no_more_than_a_body_may() {
    let service = Service::with(&["weather"], HttpOptions { body_bytes: 100_000, ..HttpOptions::default() });
    let long = json!({"type": "message", "id": "long", "role": "assistant", "content": "x".repeat(40_000)});
    let first = read(&respond(&service, &asking(&json!([long, {"role": "user", "content": SEATTLE}]))).await);
    let digits = first["id"].as_str().and_then(|id| id.strip_prefix("resp_")).expect("an id");
    let referring = |times: usize| {
        let one = json!({"type": "item_reference", "id": "long"});
        // The last one determines which response has them.
        let last = json!({"type": "item_reference", "id": format!("msg_{digits}00")});
        let said = json!({"role": "user", "content": SEATTLE});
        let items: Vec<Value> = vec![one; times].into_iter().chain([last, said]).collect();
        with(&asking(&json!(items)), &json!({"store": false}))
    };
    let answer = respond(&service, &referring(2)).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let answer = respond(&service, &referring(1_000)).await;
    assert_eq!((answer.error().0, answer.error().2.as_str()), (413, "body_too_large"), "{}", answer.text);
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z_ ]{0,12}".prop_map(Value::from),
        prop::sample::select(vec![
            "message",
            "function_call",
            "function_call_output",
            "item_reference",
            "user",
            "auto"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = prop::sample::select(vec![
            "type",
            "role",
            "content",
            "text",
            "id",
            "call_id",
            "name",
            "arguments",
            "output",
            "format",
            "mode",
            "tools",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..5).prop_map(|members| json!(members)),
        ]
    })
}

/// Whatever a member contains, the request is answered, or the member is named.
#[test]
fn no_member_breaks_it() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let service = Service::new(&["weather"]);
    let member =
        prop::sample::select(vec!["input", "tools", "tool_choice", "text", "previous_response_id", "metadata"]);
    proptest!(ProptestConfig::with_cases(200), |(member in member, value in values())| {
        let body = with(&asking(&json!(SEATTLE)), &json!({member: value}));
        let answer = runtime.block_on(respond(&service, &body));
        prop_assert!(matches!(answer.status, 200 | 400 | 404), "{}: {}", body, answer.text);
        if answer.status != 200 {
            let (_, _, code, param) = answer.error();
            prop_assert!(param.is_some_and(|param| param.starts_with(member)), "{code}: {body}: {}", answer.text);
        }
    });
}
