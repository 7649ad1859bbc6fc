//! Keys: what the holder of each can do, and what a stranger cannot.

use axum::{
    body::Body,
    http::{Method, Request},
};
use serde_json::{Value, json};
use tower::ServiceExt as _;
use uptake::{
    http::{
        HttpOptions, Mounted,
        keys::{self, Key, Scope},
        router,
    },
    llm::{Server, scripted::Scripted},
    mcp::{self, McpOptions, McpServer, Offer},
    module::ModuleName,
    shares::Owner,
    understand::UnderstandOptions,
};

use crate::support::{Answer, Service, in_memory, json_request, log::Log};

/// A service with these keys, and the texts that their holders send.
fn guarded<const N: usize>(keys: [Key; N], texts: [String; N]) -> (Service, [String; N], tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("keys.json");
    keys::write(&path, keys.into()).expect("a file of keys");
    let options = HttpOptions { keys: path, queue_ms: 50, max_in_flight: 4, ..HttpOptions::default() };
    (Service::with(&["weather", "tools"], options), texts, directory)
}

fn one(scopes: &[Scope], modules: &[&str]) -> (Key, String) {
    let modules = modules.iter().map(|name| ModuleName::new(name).expect("a name")).collect();
    Key::make("somebody", scopes.to_vec(), modules)
}

async fn ask(service: &Service, method: Method, path: &str, key: &str, body: &str) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    if !body.is_empty() {
        request = request.header("content-type", "application/json");
    }
    if !key.is_empty() {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    service.send(request.body(Body::from(body.to_owned())).expect("a request")).await
}

const SAID: &str = r#"{"utterance": "how cold is it in Seattle?"}"#;

/// Every route of the document, for a stranger and for holders of each single scope.
#[tokio::test]
async fn each_scope_opens_its_routes_and_no_other() {
    let made: Vec<_> = Scope::ALL.iter().map(|scope| one(&[*scope], &[])).collect();
    let (keys, texts): (Vec<_>, Vec<_>) = made.into_iter().unzip();
    let keys: [Key; 5] = keys.try_into().expect("five");
    let (service, texts, _directory) = guarded(keys, texts.try_into().expect("five"));
    let document = Service::new(&[]).get("/openapi.json").await.json();
    for (path, operations) in document["paths"].as_object().expect("paths") {
        let concrete = path.replace("{module}", "weather").replace("{model}", "weather");
        let concrete = concrete.replace("{file}", "exemplars.json").replace("{version}", "1");
        let concrete = concrete.replace("{id}", "order-5f0c1e9a7d3b2c4e");
        for method in operations.as_object().expect("operations").keys() {
            let method: Method = method.to_uppercase().parse().expect("a method");
            if path.ends_with("/events") {
                continue;
            }
            let public = ["/hello", "/healthz", "/readyz"].contains(&path.as_str());
            let stranger = ask(&service, method.clone(), &concrete, "", "").await;
            assert_eq!(stranger.status == 401, !public, "{method} {path}: {}", stranger.text);
            if !public {
                let (_, kind, code, _) = stranger.error();
                assert_eq!((kind.as_str(), code.as_str()), ("authentication_error", "invalid_api_key"));
                assert_eq!(stranger.headers["www-authenticate"], "Bearer");
            }
            let opens: Vec<&str> = {
                let mut opens = Vec::new();
                for (scope, key) in Scope::ALL.iter().zip(&texts) {
                    let answer = ask(&service, method.clone(), &concrete, key, "").await;
                    let refused = answer.status == 403 && answer.text.contains("scope");
                    if !refused {
                        opens.push(scope.name());
                    }
                }
                opens
            };
            let expected = match path.as_str() {
                _ if public => vec!["predict", "sessions", "inspect", "edit", "admin"],
                path if path.starts_with("/v1/sessions/") || path.starts_with("/v1/responses/") => {
                    vec!["sessions", "admin"]
                }
                path if path.starts_with("/v1/index/") || path.starts_with("/v1/load/") => vec!["edit", "admin"],
                "/v1/modules/{module}" | "/v1/modules/{module}/files/{file}" if method != Method::GET => {
                    vec!["edit", "admin"]
                }
                path if path.ends_with("/restore") => vec!["edit", "admin"],
                path if path.starts_with("/v1/modules") => vec!["inspect", "admin"],
                "/openapi.json" | "/metrics" => vec!["inspect", "admin"],
                _ => vec!["predict", "admin"],
            };
            assert_eq!(opens, expected, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn a_key_for_one_module_opens_no_other() {
    let ((key, text), (all, other)) = (one(&[Scope::Admin], &["weather"]), one(&[Scope::Admin], &[]));
    let (service, [text, other], _directory) = guarded([key, all], [text, other]);
    // Another key's turns are counted, too.
    let told = ask(&service, Method::POST, "/v1/predict/tools", &other, SAID).await;
    assert_eq!(told.status, 200, "{}", told.text);
    let chat = |model: &str| json!({"model": model, "messages": [{"role": "user", "content": "hello"}]}).to_string();
    assert_eq!(ask(&service, Method::POST, "/v1/predict/weather", &text, SAID).await.status, 200);
    assert_eq!(ask(&service, Method::POST, "/v1/chat/completions", &text, &chat("weather")).await.status, 200);
    let observed = json!({"module": "tools", "utterance": "hello"}).to_string();
    for (method, path, body) in [
        (Method::POST, "/v1/predict/tools", SAID),
        (Method::POST, "/v1/retrieve/tools", SAID),
        (Method::POST, "/v1/index/tools", ""),
        (Method::GET, "/v1/load/tools", ""),
        (Method::GET, "/v1/modules/tools", ""),
        (Method::POST, "/v1/chat/completions", chat("tools").as_str()),
        (Method::POST, "/v1/sessions/order-5f0c1e9a7d3b2c4e/observe", observed.as_str()),
    ] {
        let (status, _, code, _) = ask(&service, method.clone(), path, &text, body).await.error();
        assert_eq!((status, code.as_str()), (403, "not_allowed"), "{method} {path}");
    }
    // It does not learn which other modules exist, neither by codes, nor by hints or numbers.
    for model in ["tools", "toolz", "nowhere"] {
        let refused = ask(&service, Method::POST, "/v1/chat/completions", &text, &chat(model)).await;
        let (status, _, code, _) = refused.error();
        assert_eq!((status, code.as_str()), (403, "not_allowed"), "{model}");
        let answer = ask(&service, Method::GET, &format!("/v1/models/{model}"), &text, "").await;
        assert!(!answer.text.contains("did you mean `tools`"), "{}", answer.text);
        assert_eq!(answer.error().0, 404, "{model}");
    }
    assert_eq!(ask(&service, Method::GET, "/v1/models/weather", &text, "").await.status, 200);
    let numbers = ask(&service, Method::GET, "/metrics", &text, "").await.text;
    assert!(numbers.contains("module=\"weather\"") && !numbers.contains("module=\"tools\""), "{numbers}");
    assert!(numbers.ends_with("# EOF\n"));
    let listed = ask(&service, Method::GET, "/v1/modules", &text, "").await;
    assert!(listed.text.contains("weather") && !listed.text.contains("\"tools\""), "{}", listed.text);
    let listed = ask(&service, Method::GET, "/v1/models", &text, "").await;
    assert!(listed.text.contains("weather") && !listed.text.contains("\"tools\""), "{}", listed.text);
}

/// Knowing the name of another key's session gives no access to it.
#[tokio::test]
async fn a_session_is_its_keys_alone() {
    let ((ours, our), (others, other)) = (one(&[Scope::Predict, Scope::Sessions], &[]), one(&[Scope::Admin], &[]));
    let (plain, without) = one(&[Scope::Predict], &[]);
    let (service, [our, other, without], _directory) = guarded([ours, others, plain], [our, other, without]);
    let id = "order-5f0c1e9a7d3b2c4e";
    let turn = |id: &str| json!({"utterance": "how cold is it in Seattle?", "session_id": id}).to_string();
    let path = format!("/v1/sessions/{id}");
    let begun = ask(&service, Method::POST, "/v1/predict/weather", &our, &turn(id)).await;
    assert_eq!(begun.json()["uptake"]["session"]["id"], id, "{}", begun.text);
    assert_eq!(ask(&service, Method::GET, &path, &our, "").await.json()["id"], id);
    assert_eq!(ask(&service, Method::GET, &path, &other, "").await.error().0, 404);
    assert_eq!(ask(&service, Method::DELETE, &path, &other, "").await.error().0, 404);
    let elsewhere = ask(&service, Method::POST, "/v1/predict/weather", &other, &turn(id)).await;
    assert_eq!(elsewhere.json()["uptake"]["turn"], 1, "{}", elsewhere.text);
    assert_eq!(ask(&service, Method::POST, "/v1/predict/weather", &our, &turn(id)).await.json()["uptake"]["turn"], 2);
    // Without the scope a member of the body gives no access either, nor does a guessable name.
    let (status, _, _, param) = ask(&service, Method::POST, "/v1/predict/weather", &without, &turn(id)).await.error();
    assert_eq!((status, param.as_deref()), (403, Some("session_id")));
    let (status, _, _, param) =
        ask(&service, Method::POST, "/v1/predict/weather", &our, &turn("order-1")).await.error();
    assert_eq!((status, param.as_deref()), (400, Some("session_id")));
    assert_eq!(ask(&service, Method::DELETE, &path, &our, "").await.status, 204);
}

/// The same for responses; and a key that may not keep anything is answered without keeping.
#[tokio::test]
async fn a_response_is_its_keys_alone() {
    let ((mut ours, our), (others, other)) = (one(&[Scope::Predict, Scope::Sessions], &[]), one(&[Scope::Admin], &[]));
    ours.sessions = Some(2);
    let (plain, without) = one(&[Scope::Predict], &["weather"]);
    let (service, [our, other, without], _directory) = guarded([ours, others, plain], [our, other, without]);
    let respond = async |key: &str, members: Value| {
        let mut body = json!({"model": "weather", "input": "how cold is it in Seattle?"});
        body.as_object_mut().expect("an object").extend(members.as_object().cloned().unwrap_or_default());
        ask(&service, Method::POST, "/v1/responses", key, &body.to_string()).await
    };
    let first = respond(&our, json!({})).await.json();
    let previous = json!({"previous_response_id": first["id"]});
    let path = format!("/v1/responses/{}", first["id"].as_str().expect("an id"));
    assert_eq!(respond(&our, previous.clone()).await.json()["store"], true);
    assert_eq!(respond(&other, previous.clone()).await.error().2, "previous_response_not_found");
    let item = json!({"input": [{"type": "item_reference", "id": first["output"][0]["id"]}]});
    assert_eq!(respond(&other, item).await.error().0, 400, "what it refers to is not its own");
    assert_eq!(ask(&service, Method::GET, &path, &other, "").await.error().0, 404);
    assert_eq!(ask(&service, Method::DELETE, &path, &other, "").await.error().0, 404);
    // At the key's limit: a third response is answered, but not kept.
    let third = respond(&our, json!({})).await.json();
    assert_eq!((&third["store"], &third["status"]), (&json!(false), &json!("completed")), "{third}");
    assert_eq!(ask(&service, Method::DELETE, &path, &our, "").await.status, 200);
    assert_eq!(respond(&our, json!({})).await.json()["store"], true);

    let answered = respond(&without, json!({})).await.json();
    assert_eq!((&answered["store"], &answered["object"]), (&json!(false), &json!("response")), "{answered}");
    assert!(answered["uptake"]["notes"].to_string().contains("scope `sessions`"), "{answered}");
    for (members, param) in [(json!({"store": true}), "store"), (previous, "previous_response_id")] {
        let (status, _, _, named) = respond(&without, members).await.error();
        assert_eq!((status, named.as_deref()), (403, Some(param)));
    }
    assert_eq!(respond(&without, json!({"model": "tools"})).await.error().0, 403);
}

#[tokio::test]
async fn a_key_has_its_quota_and_leaves_room_for_others() {
    let ((mut few, first), (busy, second)) = (one(&[Scope::Predict], &[]), one(&[Scope::Predict], &[]));
    few.per_minute = Some(2);
    let (service, [first, second], _directory) = guarded([few, busy], [first, second]);
    let status = async |key: &str| ask(&service, Method::POST, "/v1/predict/weather", key, SAID).await.status;
    // The module is loaded before anything is counted per minute.
    assert_eq!(status(&second).await, 200);
    assert_eq!([status(&first).await, status(&first).await, status(&first).await], [200, 200, 429]);
    // Of four concurrent turns one key may have three: if another key has the fourth, it waits and is refused.
    assert_eq!(status(&second).await, 200);
    let _all = service.app.running().try_take(&Owner::Process, 4).expect("four");
    let (code, _, kind, _) = ask(&service, Method::POST, "/v1/predict/weather", &second, SAID).await.error();
    assert_eq!((code, kind.as_str()), (429, "too_many_requests"));
}

/// Limits on what it may send per minute, and on what is kept for it.
#[tokio::test]
async fn a_key_fills_no_disk_and_no_line() {
    let ((mut short, first), (mut small, second)) = (one(&[Scope::Predict], &[]), one(&[Scope::Admin], &[]));
    short.bytes_per_minute = Some(10);
    small.sessions = Some(2);
    let (service, [first, second], _directory) = guarded([short, small], [first, second]);
    let turn = |id: &str| json!({"utterance": "how cold is it in Seattle?", "session_id": id}).to_string();
    let say = async |id: &str| ask(&service, Method::POST, "/v1/predict/weather", &second, &turn(id)).await;
    let [one, two, three] = ["order-5f0c1e9a7d3b2c41", "order-5f0c1e9a7d3b2c42", "order-5f0c1e9a7d3b2c43"];
    assert_eq!([say(one).await.status, say(two).await.status, say(one).await.status], [200, 200, 200]);
    let (status, _, code, param) = say(three).await.error();
    assert_eq!((status, code.as_str(), param.as_deref()), (429, "too_many_requests", Some("session_id")));
    let observed = json!({"module": "weather", "utterance": "hello"}).to_string();
    let observe = async |id: &str| {
        ask(&service, Method::POST, &format!("/v1/sessions/{id}/observe"), &second, &observed).await.status
    };
    assert_eq!([observe(three).await, observe(two).await], [429, 202]);
    service.app.observed().await;
    assert_eq!(ask(&service, Method::DELETE, &format!("/v1/sessions/{one}"), &second, "").await.status, 204);
    assert_eq!(say(three).await.status, 200, "there is room again");

    assert_eq!(ask(&service, Method::POST, "/v1/predict/weather", &first, SAID).await.status, 200);
    let (status, _, _, _) = ask(&service, Method::POST, "/v1/predict/weather", &first, SAID).await.error();
    assert_eq!(status, 429, "its bytes are used up");
}

/// A turn that waits gets a place that becomes free in time.
#[tokio::test]
async fn whoever_comes_at_a_bad_moment_waits_a_little() {
    let options = HttpOptions { max_in_flight: 1, queue_ms: 20_000, max_queued: 1, ..HttpOptions::default() };
    let service = std::sync::Arc::new(Service::with(&["weather"], options));
    let held = service.app.running().try_take(&Owner::Process, 1).expect("the only one");
    let waiting = {
        let service = std::sync::Arc::clone(&service);
        tokio::spawn(async move { service.post("/v1/predict/weather", SAID).await.status })
    };
    tokio::task::yield_now().await;
    assert_eq!(service.post("/v1/predict/weather", SAID).await.status, 429, "one waits already");
    drop(held);
    assert_eq!(waiting.await.expect("no panic"), 200);
}

#[tokio::test]
async fn what_is_changed_and_read_is_in_the_audit_log() {
    let (key, text) = one(&[Scope::Admin], &[]);
    let id = key.id.clone();
    let (service, [text], _directory) = guarded([key], [text]);
    let log = Log::default();
    let _logged = log.listen(tracing::Level::INFO);
    ask(&service, Method::POST, "/v1/index/weather", &text, "").await;
    ask(&service, Method::DELETE, "/v1/sessions/order-5f0c1e9a7d3b2c4e", &text, "").await;
    let log = log.text();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("uptake::audit") && line.contains(&id)).collect();
    assert_eq!(lines.len(), 2, "{log}");
    assert!(lines[0].contains("/v1/index/{module}") && lines[1].contains("DELETE"), "{lines:?}");
    assert!(!log.contains(&text) && !log.contains("5f0c1e9a7d3b2c4e"), "{log}");
}

#[tokio::test]
async fn answers_are_kept_by_nobody_and_are_what_they_say() {
    let service = Service::new(&["weather"]);
    for path in ["/hello", "/v1/modules", "/no/such/route", "/metrics"] {
        let answer = service.get(path).await;
        assert_eq!(answer.headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(answer.headers["cache-control"], "no-store", "{path}");
    }
    let refused = service.send(json_request("/v1/predict/weather").body(Body::from("{")).expect("a request")).await;
    assert_eq!(refused.headers["cache-control"], "no-store");
    assert_ne!(refused.json()["error"], Value::Null);
}

/// Agents need the same keys.
#[tokio::test]
async fn tools_for_agents_need_a_key_too() {
    let ((all, whole), (some, part)) = (one(&[Scope::Predict], &[]), one(&[Scope::Admin], &["weather"]));
    let (edits, other) = one(&[Scope::Edit], &[]);
    let (service, keys, _directory) = guarded([all, some, edits], [whole, part, other]);
    let app = &service.app;
    let options = McpOptions { offer: Offer::All, local: true };
    let tokens = in_memory().tokens();
    let (snapshots, understander) = (app.snapshots.clone(), app.understander.clone());
    let server =
        McpServer::new(snapshots, understander, app.turns.clone(), tokens, options, std::sync::Arc::new(app.clone()));
    let mounted = Mounted::at(mcp::PATH, mcp::http_service(server, 1 << 20));
    let router = router(app.clone(), Some(mounted));
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let mut statuses = Vec::new();
    for key in ["", "uk_x_y"].into_iter().chain(keys.iter().map(String::as_str)) {
        let request = json_request(mcp::PATH)
            .header("accept", "application/json, text/event-stream")
            .header("authorization", format!("Bearer {key}"))
            .body(Body::from(initialize.to_string()))
            .expect("a request");
        statuses.push(router.clone().oneshot(request).await.expect("infallible").status().as_u16());
    }
    let [nobody, stranger, whole, part, other] = statuses[..] else { panic!("{statuses:?}") };
    assert_eq!([nobody, stranger, part, other], [401, 401, 403, 403]);
    assert!(![401, 403].contains(&whole), "the key is for all modules: {whole}");
}

/// A tool call counts as a turn of the key, and waits in the same queue.
#[tokio::test]
async fn agents_have_no_more_at_once_than_their_key() {
    let ((mut few, first), (other, second)) = (one(&[Scope::Predict], &[]), one(&[Scope::Predict], &[]));
    few.turns = Some(1);
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("keys.json");
    keys::write(&path, vec![few, other]).expect("a file of keys");
    let chat = Scripted::new().hang();
    let options = HttpOptions { keys: path, queue_ms: 50, max_in_flight: 4, ..HttpOptions::default() };
    let servers = vec![Server::new(std::sync::Arc::new(chat.clone()))];
    let service = Service::asking(&["weather"], options, UnderstandOptions::default(), servers);
    let app = &service.app;
    let (snapshots, understander) = (app.snapshots.clone(), app.understander.clone());
    let options = McpOptions { offer: Offer::All, local: false };
    let admission = std::sync::Arc::new(app.clone());
    let server = McpServer::new(snapshots, understander, app.turns.clone(), in_memory().tokens(), options, admission);
    let router = router(app.clone(), Some(Mounted::at(mcp::PATH, mcp::http_service(server, 1 << 20))));
    let call = |key: &str, strategy: &str| {
        let arguments = json!({"module": "weather", "utterance": "how cold will it be in Seattle in 3 days?", "strategy": strategy});
        let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
            "params": {"name": "understand", "arguments": arguments}});
        let request = json_request(mcp::PATH)
            .header("host", "localhost")
            .header("accept", "application/json, text/event-stream")
            .header("authorization", format!("Bearer {key}"))
            .body(Body::from(call.to_string()))
            .expect("a request");
        let answer = router.clone().oneshot(request);
        async move {
            let body = answer.await.expect("infallible").into_body();
            let body = axum::body::to_bytes(body, 1 << 20).await.expect("a body");
            String::from_utf8(body.to_vec()).expect("UTF-8")
        }
    };
    let hangs = tokio::spawn(call(&first, "tools"));
    while chat.requests().is_empty() {
        assert!(!hangs.is_finished(), "{:?}", hangs.await);
        tokio::task::yield_now().await;
    }
    let busy = call(&first, "local").await;
    assert!(busy.contains("as many calls as the server allows are running"), "{busy}");
    let answered = call(&second, "local").await;
    assert!(answered.contains("get_n_day_forecast"), "{answered}");
    hangs.abort();
}
