//! Modules by API: files, changes, versions, measurements; and what is refused.

use axum::{
    body::Body,
    http::{Method, Request},
};
use serde_json::{Value, json};
use uptake::{
    http::{
        HttpOptions,
        keys::{self, Key, Scope},
    },
    module::ModuleName,
};

use crate::support::{Answer, Service};

const FILES: &str = "/v1/modules/weather/files";

async fn ask(service: &Service, method: &str, path: &str, tag: Option<&str>, body: &Value) -> Answer {
    let mut request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    if let Some(tag) = tag {
        request = request.header("if-match", tag);
    }
    service.send(request.body(Body::from(body.to_string())).expect("a request")).await
}

async fn tag(service: &Service) -> String {
    let answer = service.get(FILES).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let tag = answer.headers["etag"].to_str().expect("a tag").to_owned();
    assert_eq!(tag.trim_matches('"'), answer.json()["tag"]);
    tag
}

fn exemplar(template: &str) -> Value {
    json!({"op": "add_exemplar", "function": "get_current_weather", "template": template})
}

fn on_disk(service: &Service, file: &str) -> String {
    std::fs::read_to_string(service.root().join("weather").join(file)).unwrap_or_default()
}

#[tokio::test]
async fn files_are_told_as_their_author_wrote_them() {
    let service = Service::new(&["weather"]);
    let list = service.get(FILES).await.json();
    let names: Vec<&str> = list["files"].as_array().unwrap().iter().filter_map(|file| file["name"].as_str()).collect();
    assert_eq!(names, ["exemplars.json", "module.toml", "recognizers.json", "schema.json"]);
    assert_eq!(list["writable"], true);
    let read = service.get(&format!("{FILES}/exemplars.json")).await;
    assert_eq!(read.json()["text"], on_disk(&service, "exemplars.json"));
    assert_eq!(read.headers["etag"].to_str().unwrap(), tag(&service).await);
    assert_eq!(service.get(&format!("{FILES}/cases.jsonl")).await.error().2, "file_not_found");
    assert_eq!(service.get("/v1/modules/nowhere/files").await.error().2, "module_not_found");
}

/// First wrong, then fixed, then right; files keep the author's formatting; and changes can be taken back.
#[tokio::test]
async fn what_is_changed_is_known_at_once_and_can_be_taken_back() {
    let service = Service::new(&["weather"]);
    let said = "any need of an umbrella around evergreen";
    let before = service.say("weather", said).await.json();
    assert_ne!(before["uptake"]["candidates"][0]["evidence"][0]["text"], "any need of an umbrella around <location>");
    let (file, first) = (on_disk(&service, "exemplars.json"), tag(&service).await);
    let body = json!({"changes": [exemplar("any need of an umbrella around <location>")], "reason": "people say so"});
    let answer = ask(&service, "PATCH", "/v1/modules/weather", Some(&first), &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let changed = answer.json();
    let expected = file.replace(
        "<format>\" }\n  ],",
        "<format>\" },\n    {\"template\": \"any need of an umbrella around <location>\"}\n  ],",
    );
    assert_ne!(expected, file);
    assert_eq!(on_disk(&service, "exemplars.json"), expected);
    assert_eq!(changed["build"]["changed"], json!(["get_current_weather"]));
    assert_eq!(changed["version"]["changed"], json!(["exemplars.json"]));
    let diff = changed["diff"][0]["text"].as_str().unwrap();
    assert!(diff.contains("+    {\"template\": \"any need of an umbrella around <location>\"}"), "{diff}");

    let after = service.say("weather", said).await.json();
    let call = &after["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(
        (call["name"].as_str(), call["arguments"].as_str()),
        (Some("get_current_weather"), Some(r#"{"location":"Seattle, WA"}"#))
    );

    let versions = service.get("/v1/modules/weather/versions").await.json();
    let told: Vec<(u64, &str)> = versions["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["id"].as_u64().unwrap(), one["reason"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [(2, "people say so"), (1, "as it was found")]);
    let one = service.get("/v1/modules/weather/versions/2").await.json();
    assert_eq!((&one["diff"], one["since"].as_array().unwrap().len()), (&changed["diff"], 0));
    let back = ask(&service, "POST", "/v1/modules/weather/versions/1/restore", Some(&first), &json!({})).await;
    assert_eq!(back.error().2, "module_changed", "the way back is for the state that was seen, too");
    let back =
        ask(&service, "POST", "/v1/modules/weather/versions/1/restore", Some(&tag(&service).await), &json!({})).await;
    assert_eq!(back.status, 200, "{}", back.text);
    assert_eq!(on_disk(&service, "exemplars.json"), file);
    assert_eq!(tag(&service).await, first);
    assert_eq!(service.say("weather", said).await.json()["uptake"]["outcome"], before["uptake"]["outcome"]);
    assert_eq!(service.get("/v1/modules/weather/versions/9").await.error().2, "version_not_found");
}

#[tokio::test]
async fn a_change_names_the_state_that_it_was_made_for() {
    let service = Service::new(&["weather"]);
    let (file, first) = (on_disk(&service, "exemplars.json"), tag(&service).await);
    let body = json!({"changes": [exemplar("is it mild in <location>")]});
    assert_eq!(ask(&service, "PATCH", "/v1/modules/weather", None, &body).await.error().0, 428);
    assert_eq!(ask(&service, "PATCH", "/v1/modules/weather", Some("\"other\""), &body).await.error().0, 412);
    assert_eq!(on_disk(&service, "exemplars.json"), file);
    // Of two concurrent changes to the same state, one is carried out.
    let wet = json!({"changes": [exemplar("is it wet in <location>")]});
    let both = futures::future::join(
        ask(&service, "PATCH", "/v1/modules/weather", Some(&first), &body),
        ask(&service, "PATCH", "/v1/modules/weather", Some(&first), &wet),
    );
    let (one, other) = both.await;
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412], "{} {}", one.text, other.text);
    let put = json!({"text": "{}"});
    assert_eq!(ask(&service, "PUT", &format!("{FILES}/exemplars.json"), None, &put).await.error().0, 428);
    assert_eq!(ask(&service, "PUT", &format!("{FILES}/exemplars.json"), Some("*"), &put).await.status, 200);
    assert_eq!(on_disk(&service, "exemplars.json"), "{}");
}

#[tokio::test]
async fn what_would_be_refused_changes_nothing() {
    let service = Service::new(&["weather"]);
    let first = tag(&service).await;
    let unknown = json!({"op": "add_exemplar", "function": "sing", "template": "la la"});
    let refused = ask(
        &service,
        "PATCH",
        "/v1/modules/weather",
        Some(&first),
        &json!({"changes": [exemplar("is it <location>"), unknown]}),
    )
    .await;
    assert_eq!(refused.error().2, "module_refused");
    assert!(!refused.json()["uptake"]["diagnostics"].as_array().unwrap().is_empty());
    let tried = ask(&service, "PATCH", "/v1/modules/weather", None, &json!({"changes": [unknown], "dry_run": true}))
        .await
        .json();
    assert_eq!((&tried["refused"], &tried["dry_run"]), (&json!(true), &json!(true)));
    for change in [
        json!({"op": "set", "path": ["language"], "value": 5}),
        json!({"op": "put", "file": "schema.json", "text": "[]"}),
        json!({"op": "delete", "file": "schema.json"}),
        json!({"op": "put", "file": "module.toml", "text": "= ="}),
    ] {
        let answer = ask(&service, "PATCH", "/v1/modules/weather", Some("*"), &json!({"changes": [change]})).await;
        assert_eq!(answer.error().2, "module_refused", "{change}");
    }
    let good = json!({"changes": [exemplar("is it fine in <location>")], "dry_run": true});
    let tried = ask(&service, "PATCH", "/v1/modules/weather", None, &good).await.json();
    assert_eq!((&tried["refused"], &tried["version"]), (&json!(false), &json!(null)));
    assert_ne!(tried["tag"], first.trim_matches('"'));
    assert_eq!(tag(&service).await, first);
    assert!(service.get("/v1/modules/weather/versions").await.json()["data"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn no_change_leads_out_of_the_modules_directory() {
    let service = Service::new(&["weather"]);
    let outside = service.root().parent().unwrap().join("keys.json");
    for file in [
        "../keys.json",
        "../../keys.json",
        "/etc/passwd",
        "prompts/../../keys.json",
        "a.json",
        ".git/config",
        "",
        "exemplars.json\u{0}",
    ] {
        for change in [json!({"op": "put", "file": file, "text": "x"}), json!({"op": "delete", "file": file})] {
            let answer = ask(&service, "PATCH", "/v1/modules/weather", Some("*"), &json!({"changes": [change]})).await;
            let (status, _, code, param) = answer.error();
            assert_eq!(
                (status, code.as_str(), param.as_deref()),
                (400, "invalid_value", Some("changes[0]")),
                "{file:?}"
            );
        }
    }
    for file in [
        "..%2Fkeys.json",
        "..%2F..%2Fkeys.json",
        "%2Fetc%2Fpasswd",
        "prompts%2F..%2F..%2Fkeys.json",
        "..",
        "keys.json",
        "%00",
    ] {
        let path = format!("{FILES}/{file}");
        for answer in [service.get(&path).await, ask(&service, "PUT", &path, Some("*"), &json!({"text": "x"})).await] {
            assert_eq!(answer.error().0, 404, "{file}: {}", answer.text);
        }
    }
    for name in ["..", "..%2F..", "a%2Fb", ".hidden", "%00"] {
        let path = format!("/v1/modules/{name}/files/schema.json");
        assert_eq!(service.get(&path).await.error().2, "invalid_module_name", "{name}");
        assert_eq!(
            ask(&service, "PUT", &path, Some("*"), &json!({"text": "x"})).await.error().2,
            "invalid_module_name"
        );
    }
    assert!(!outside.exists());
}

#[tokio::test]
#[cfg(unix)]
async fn a_directory_that_cannot_be_written_says_so() {
    let service = Service::new(&["weather"]);
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), service.root().join("weather/prompts")).unwrap();
    let put = json!({"text": "Be brief.", "reason": "shorter"});
    let answer = ask(&service, "PUT", &format!("{FILES}/prompts%2Fsystem.jinja"), Some("*"), &put).await;
    assert_eq!((answer.error().0, answer.error().2.as_str()), (409, "module_read_only"));
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    let versions = service.get("/v1/modules/weather/versions").await.json();
    let reasons: Vec<&Value> = versions["data"].as_array().unwrap().iter().map(|one| &one["reason"]).collect();
    assert_eq!(reasons, ["as it was found"], "what did not come to be is no version");
}

/// A foreign page can neither send these requests nor read the answers.
#[tokio::test]
async fn a_page_of_another_origin_changes_no_module() {
    let service = Service::new(&["weather"]);
    let first = tag(&service).await;
    let body = json!({"changes": [exemplar("evil <location>")]}).to_string();
    let request = |method: Method, path: &str| {
        Request::builder().method(method).uri(path).header("host", "localhost:3001").header("if-match", "*")
    };
    let ways = [
        (Method::PATCH, "/v1/modules/weather"),
        (Method::PUT, "/v1/modules/weather/files/exemplars.json"),
        (Method::POST, "/v1/modules/weather/versions/1/restore"),
        (Method::POST, "/v1/modules/weather/measure"),
    ];
    for (method, path) in ways {
        for origin in ["https://evil.example", "null", "http://localhost:3000"] {
            let request =
                request(method.clone(), path).header("origin", origin).header("content-type", "application/json");
            let answer = service.send(request.body(Body::from(body.clone())).unwrap()).await;
            assert_eq!(answer.error().2, "origin_not_allowed", "{method} {path}");
        }
        // Content types that a form can send.
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
            let request = request(method.clone(), path).header("content-type", kind);
            let answer = service.send(request.body(Body::from(body.clone())).unwrap()).await;
            assert_eq!(answer.error().0, 415, "{method} {path}");
        }
    }
    assert_eq!(tag(&service).await, first);
}

fn guarded(scopes: &[Scope], modules: &[&str]) -> (Service, String, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("keys.json");
    let modules = modules.iter().map(|name| ModuleName::new(name).expect("a name")).collect();
    let (key, text) = Key::make("ann", scopes.to_vec(), modules);
    keys::write(&path, vec![key]).expect("a file of keys");
    (Service::with(&["weather", "tools"], HttpOptions { keys: path, ..HttpOptions::default() }), text, directory)
}

async fn with_key(service: &Service, key: &str, method: &str, path: &str, body: &Value) -> Answer {
    let request = Request::builder().method(method).uri(path).header("authorization", format!("Bearer {key}"));
    let request = request.header("content-type", "application/json").header("if-match", "*");
    service.send(request.body(Body::from(body.to_string())).expect("a request")).await
}

#[tokio::test]
async fn a_change_is_its_authors_and_of_its_modules_alone() {
    let (service, key, _directory) = guarded(&[Scope::Edit, Scope::Inspect], &["weather"]);
    let body = json!({"changes": [exemplar("is it icy in <location>")]});
    let answer = with_key(&service, &key, "PATCH", "/v1/modules/weather", &body).await;
    assert_eq!((answer.status, &answer.json()["version"]["author"]), (200, &json!("ann")));
    for (method, path) in [
        ("GET", "/v1/modules/tools/files"),
        ("GET", "/v1/modules/tools/files/schema.json"),
        ("PUT", "/v1/modules/tools/files/schema.json"),
        ("PATCH", "/v1/modules/tools"),
        ("GET", "/v1/modules/tools/versions"),
        ("GET", "/v1/modules/tools/versions/1"),
        ("POST", "/v1/modules/tools/versions/1/restore"),
        ("POST", "/v1/modules/tools/measure"),
    ] {
        let body = match method {
            "PUT" => json!({"text": "x"}),
            "PATCH" => body.clone(),
            _ => json!({}),
        };
        let answer = with_key(&service, &key, method, path, &body).await;
        assert_eq!(answer.error().2, "not_allowed", "{method} {path}");
    }
}

#[tokio::test]
async fn how_a_module_works_is_told_to_who_may_inspect() {
    let said = json!({"utterance": "how warm is it in Seattle", "explain": true});
    let (service, key, _directory) = guarded(&[Scope::Predict], &[]);
    let (status, _, code, param) = with_key(&service, &key, "POST", "/v1/predict/weather", &said).await.error();
    assert_eq!((status, code.as_str(), param.as_deref()), (403, "not_allowed", Some("explain")));
    let (service, key, _directory) = guarded(&[Scope::Predict, Scope::Inspect], &[]);
    let answer = with_key(&service, &key, "POST", "/v1/predict/weather", &said).await.json();
    let explained = &answer["uptake"]["explanations"][0];
    assert_eq!(explained["function"], "get_current_weather");
    let proposal = &explained["proposals"][0];
    assert_eq!(
        (&proposal["slot"], &proposal["span"], &proposal["recognizer"]),
        (&json!("location"), &json!([18, 25]), &json!("city"))
    );
    let parts: f64 = explained["parts"].as_array().unwrap().iter().map(|part| part["adds"].as_f64().unwrap()).sum();
    let right = answer["uptake"]["alternatives"][0]["right"].as_f64().unwrap();
    assert!((1.0 / (1.0 + (-parts).exp()) - right).abs() < 0.02, "{parts} {right}");
    let plain = json!({"utterance": "how warm is it in Seattle"});
    let answer = with_key(&service, &key, "POST", "/v1/predict/weather", &plain).await.json();
    assert!(answer["uptake"].get("explanations").is_none());
}

fn events(text: &str) -> Vec<(String, Value)> {
    let member = |event: &str, name: &str| {
        event.lines().find_map(|line| line.strip_prefix(name).map(str::trim_start).map(str::to_owned))
    };
    let read = |event: &str| Some((member(event, "event:")?, serde_json::from_str(&member(event, "data:")?).ok()?));
    text.split("\n\n").filter_map(read).collect()
}

/// The effect of a change on other functions is reported before it is made.
#[tokio::test]
async fn a_measurement_tells_what_is_newly_right_and_what_no_longer_is() {
    let service = Service::new(&["weather"]);
    let none = service.post("/v1/modules/weather/measure", "{}").await;
    assert_eq!(events(&none.text).last().unwrap().0, "error", "{}", none.text);
    let cases = [
        json!({"utterance": "any need of an umbrella around evergreen", "function": "get_current_weather", "arguments": {"location": "Seattle, WA"}}),
        json!({"utterance": "how warm is it in sf in celsius", "function": "get_current_weather", "arguments": {"location": "San Francisco, CA", "format": "celsius"}}),
    ];
    service.write("weather", "cases.jsonl", &cases.map(|case| format!("{case}\n")).concat());
    let first = tag(&service).await;
    let change = exemplar("any need of an umbrella around <location>");
    let answer = service.post("/v1/modules/weather/measure", json!({"changes": [change]}).to_string()).await;
    assert_eq!((answer.status, &answer.headers["content-type"]), (200, &"text/event-stream".parse().unwrap()));
    let told = events(&answer.text);
    assert!(told.iter().any(|(event, data)| event == "progress" && data["part"] == "before"), "{told:?}");
    let (event, report) = told.last().unwrap();
    assert_eq!(event, "report");
    assert_eq!(report["newly_right"][0]["place"], "cases.jsonl:1", "{report}");
    assert_eq!(
        (&report["no_longer_right"], &report["still_right"], &report["still_wrong"]),
        (&json!([]), &json!(1), &json!(0))
    );
    assert_eq!((&report["before"]["scores"]["cases"], &report["after"]["scores"]["cases"]), (&json!(2), &json!(2)));
    assert_eq!(tag(&service).await, first, "nothing was written");
    let gone = json!({"op": "put", "file": "exemplars.json", "text": "{\"get_current_weather\": [\"<location>\"]}"});
    let harm = json!({"op": "add_expression", "recognizer": "city", "label": "Seattle, WA", "expression": "sf"});
    let answer = service.post("/v1/modules/weather/measure", json!({"changes": [gone, harm]}).to_string()).await;
    let told = events(&answer.text);
    let report = &told.last().unwrap().1;
    assert_eq!(report["no_longer_right"][0]["place"], "cases.jsonl:2", "{report}");
    assert!(report["no_longer_right"][0]["expected"].is_string());

    // Compares one version with another.
    let kept = ask(&service, "PATCH", "/v1/modules/weather", Some("*"), &json!({"changes": [change]})).await.json();
    let since = kept["version"]["id"].as_u64().unwrap() - 1;
    let answer = service.post("/v1/modules/weather/measure", json!({"since": since}).to_string()).await;
    assert_eq!(events(&answer.text).last().unwrap().1["newly_right"][0]["place"], "cases.jsonl:1");
    assert_eq!(
        service.post("/v1/modules/weather/measure", json!({"since": 99}).to_string()).await.error().2,
        "version_not_found"
    );
}

#[tokio::test]
async fn changes_are_bounded_and_typed() {
    let service = Service::new(&["weather"]);
    let many: Vec<Value> = (0..1_001).map(|_| exemplar("x")).collect();
    assert_eq!(
        ask(&service, "PATCH", "/v1/modules/weather", Some("*"), &json!({"changes": many})).await.error().3.as_deref(),
        Some("changes")
    );
    let long = json!({"changes": [], "reason": "x".repeat(501)});
    assert_eq!(
        ask(&service, "PATCH", "/v1/modules/weather", Some("*"), &long).await.error().3.as_deref(),
        Some("reason")
    );
    for change in [json!({"op": "rm -rf"}), json!({"op": "put", "file": 5}), json!({"file": "x"}), json!(null)] {
        let answer = ask(&service, "PATCH", "/v1/modules/weather", Some("*"), &json!({"changes": [change]})).await;
        assert_eq!(answer.error().0, 400, "{change}");
    }
    let nothing = ask(&service, "PATCH", "/v1/modules/weather", Some("*"), &json!({"changes": []})).await.json();
    assert_eq!(nothing["version"], json!(null));
}

/// A synonym, a setting and a case, each in the file where its author would write it.
#[tokio::test]
async fn each_kind_of_change_has_its_place() {
    let service = Service::new(&["weather"]);
    let changes = json!([
        {"op": "add_expression", "recognizer": "city", "label": "San Francisco, CA", "expression": "frisco"},
        {"op": "set", "path": ["functions", "get_current_weather", "slots", "location", "question"], "value": "In which city?"},
        {"op": "add_case", "case": {"utterance": "weather in frisco", "function": "get_current_weather"}},
        {"op": "add_exemplar", "function": "get_current_weather", "template": "do you like <location>", "mode": "negative"}
    ]);
    let answer = ask(&service, "PATCH", "/v1/modules/weather", Some("*"), &json!({"changes": changes})).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(on_disk(&service, "recognizers.json").contains("[\"san francisco\", \"sf\", \"frisco\"]"));
    assert_eq!(
        on_disk(&service, "cases.jsonl"),
        "{\"utterance\": \"weather in frisco\", \"function\": \"get_current_weather\"}\n"
    );
    assert!(on_disk(&service, "module.toml").contains("question = \"In which city?\""));
    assert!(
        on_disk(&service, "exemplars.json")
            .contains("{\"template\": \"do you like <location>\", \"owner_mode\": \"negative\"}")
    );
    let asked = service.say("weather", "what is the weather like right now").await.json();
    assert_eq!(asked["uptake"]["reply"], "In which city?");
    let found = service.say("weather", "how warm is it in frisco in celsius").await.json();
    assert_eq!(found["uptake"]["mentions"][0]["value"], "San Francisco, CA");
    let gone = json!([{"op": "remove_exemplar", "function": "get_current_weather", "template": "do you like <location>"}, {"op": "delete", "file": "cases.jsonl"}]);
    assert_eq!(ask(&service, "PATCH", "/v1/modules/weather", Some("*"), &json!({"changes": gone})).await.status, 200);
    assert!(!on_disk(&service, "exemplars.json").contains("negative") && on_disk(&service, "cases.jsonl").is_empty());
}
