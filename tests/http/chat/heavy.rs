//! Tools that are small to send but expensive to compile.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::Service;

fn tool(index: usize, properties: &Value) -> Value {
    json!({"type": "function", "function": {"name": format!("f{index}"), "description": "Does something",
        "parameters": {"type": "object", "properties": properties}}})
}

fn asking(tools: &[Value]) -> String {
    json!({"model": "uptake", "tools": tools, "messages": [{"role": "user", "content": "do something"}]}).to_string()
}

/// Each is a few bytes long and compiles to megabytes.
#[tokio::test]
async fn patterns_that_compile_to_much_are_refused_with_the_limit() {
    let service = Service::new(&[]);
    let one = [tool(0, &json!({"a": {"type": "string", "pattern": r"^[\p{L}' -]{1,48}$"}}))];
    let answer = service.post("/v1/chat/completions", asking(&one)).await;
    let (status, _, _, param) = answer.error();
    assert_eq!((status, param.as_deref()), (400, Some("tools[0].function.parameters")));
    assert!(answer.text.contains("`pattern_bytes` = 1048576"), "{}", answer.text);

    let many: Vec<Value> = (0..100)
        .map(|index| tool(index, &json!({"a": {"type": "string", "pattern": format!(r"^[\p{{L}}]{{1,9}}{index}$")}})))
        .collect();
    let answer = service.post("/v1/chat/completions", asking(&many)).await;
    assert_eq!(answer.error().0, 400);
    assert!(answer.text.contains("`module_pattern_bytes` = 8388608"), "{}", answer.text);

    // Ordinary patterns are not affected.
    let usual = json!({
        "code": {"type": "string", "pattern": r"^[A-Z]{3}-\d{4}$"},
        "user": {"type": "string", "pattern": r"^\w{1,64}$"},
        "mail": {"type": "string", "pattern": r"^[^@\s]{1,64}@[^@\s]{1,255}\.[a-z]{2,}$"},
        "text": {"type": "string", "pattern": r"^.{1,256}$"},
    });
    let answer = service.post("/v1/chat/completions", asking(&[tool(0, &usual)])).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
}

/// The largest accepted tools, several times over, from clients that leave.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn abandoned_compilations_do_not_keep_others_waiting() {
    let service = std::sync::Arc::new(Service::new(&[]));
    let heavy = |seed: usize| {
        let properties: serde_json::Map<String, Value> = (0..38)
            .map(|index| {
                let choices: Vec<String> = (0..8).map(|choice| format!("v{seed}-{index}-{choice}")).collect();
                (format!("p{index}"), json!({"type": "string", "description": "Something", "enum": choices}))
            })
            .collect();
        let tools: Vec<Value> = (0..50).map(|index| tool(index, &Value::Object(properties.clone()))).collect();
        asking(&tools)
    };
    // A machine with other load may be slow in any one round, but not in each.
    let mut rounds = Vec::new();
    for round in 0..10 {
        let clock = Instant::now();
        let whole = service.post("/v1/chat/completions", heavy(round * 10)).await;
        assert_eq!(whole.status, 200, "{}", whole.text);
        let alone = clock.elapsed();
        for client in 1..9 {
            let (service, body) = (std::sync::Arc::clone(&service), heavy(round * 10 + client));
            let client = tokio::spawn(async move { service.post("/v1/chat/completions", body).await });
            tokio::time::sleep(Duration::from_millis(30)).await;
            client.abort();
        }
        let clock = Instant::now();
        let answer = service.post("/v1/chat/completions", asking(&[tool(round, &json!({}))])).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        rounds.push((clock.elapsed(), alone));
        if clock.elapsed() < alone * 4 {
            return;
        }
    }
    panic!("(time after those who left, time of one that stays): {rounds:?}");
}
