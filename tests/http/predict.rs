//! From HTTP to a call and back, with modules on disk.

use serde_json::json;

use crate::support::Service;

#[tokio::test]
async fn a_whole_request_is_a_valid_call() {
    let service = Service::new(&["weather"]);
    let answer = service.say("weather", "how cold will it be in seattle in the next 3 days, in celsius?").await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let completion = answer.json();
    assert_eq!((&completion["object"], &completion["model"]), (&json!("chat.completion"), &json!("weather")));
    let choice = &completion["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(choice["message"]["content"], json!(null));
    let call = &choice["message"]["tool_calls"][0];
    assert!(call["id"].as_str().is_some_and(|id| id.starts_with("call_")));
    assert_eq!((&call["type"], &call["function"]["name"]), (&json!("function"), &json!("get_n_day_forecast")));
    let arguments: serde_json::Value = serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(arguments, json!({"location": "Seattle, WA", "format": "celsius", "num_days": 3}));

    let uptake = &completion["uptake"];
    assert_eq!((&uptake["outcome"], &uptake["decided_by"]), (&json!("call"), &json!("local")));
    let slots = &uptake["calls"][0]["slots"];
    assert_eq!((&slots["location"]["text"], &slots["location"]["span"]), (&json!("seattle"), &json!([23, 30])));
    assert_eq!(slots["location"]["recognizer"], "city");
    assert!(uptake["candidates"][0]["evidence"][0]["text"].is_string());
    assert!(uptake["timings_ms"]["total"].as_f64().is_some_and(|total| total > 0.0));
}

/// The weights behind a request are numbers, likeliest reading first.
#[tokio::test]
async fn an_answer_says_what_it_rests_on() {
    let service = Service::new(&["weather"]);
    let answer = service.say("weather", "could you tell me how warm it will be in seattle this week").await.json();
    let readings = answer["uptake"]["alternatives"].as_array().expect("alternatives");
    assert!(readings[0]["function"].is_string(), "{answer}");
    let meant: Vec<f64> = readings.iter().filter_map(|reading| reading["meant"].as_f64()).collect();
    assert!(meant.len() == readings.len() && meant.is_sorted_by(|one, other| one >= other), "{answer}");
    let features = readings[0]["features"].as_object().expect("features");
    assert!(features.contains_key("explained") && features.values().all(serde_json::Value::is_number), "{answer}");
}

#[tokio::test]
async fn a_call_without_a_required_slot_is_a_question() {
    let service = Service::new(&["weather"]);
    let completion = service.say("weather", "what is the weather like right now").await.json();
    assert_eq!(completion["uptake"]["outcome"], "ask", "{completion}");
    assert_eq!(completion["choices"][0]["finish_reason"], "stop");
    assert_eq!(completion["choices"][0]["message"]["content"], "Where?");
    assert!(completion["choices"][0]["message"].get("tool_calls").is_none());
    assert_eq!(completion["uptake"]["calls"][0]["missing"], json!(["location"]));
    assert_eq!(
        completion["uptake"]["question"]["about"],
        json!({"kind": "missing", "function": "get_current_weather", "slot": "location"})
    );
}

#[tokio::test]
async fn only_the_named_functions_are_chosen_among() {
    let service = Service::new(&["weather"]);
    let body = json!({"utterance": "how cold will it be in seattle", "functions": ["get_current_weather"], "more": 1});
    let completion = service.post("/v1/predict/weather", body.to_string()).await.json();
    for candidate in completion["uptake"]["candidates"].as_array().unwrap() {
        assert_eq!(candidate["function"], "get_current_weather");
    }
    let body = json!({"utterance": "hi", "functions": ["get_current_weather", "sing"]});
    let answer = service.post("/v1/predict/weather", body.to_string()).await;
    assert_eq!(answer.error().3.as_deref(), Some("functions[1]"));
    let body = json!({"utterance": "hi", "strategy": "tools"});
    let answer = service.post("/v1/predict/weather", body.to_string()).await;
    assert_eq!((answer.error().0, answer.error().3.as_deref()), (400, Some("strategy")));
    let body = json!({"utterance": "hi", "now": "yesterday"});
    let answer = service.post("/v1/predict/weather", body.to_string()).await;
    assert_eq!((answer.error().0, answer.error().3.as_deref()), (400, Some("now")));
}

#[tokio::test]
async fn retrieval_gives_tools_best_first() {
    let service = Service::new(&["weather"]);
    let body = json!({"utterance": "how cold will it be in seattle in the next three days", "limit": 1});
    let answer = service.post("/v1/retrieve/weather", body.to_string()).await.json();
    assert_eq!(answer["object"], "list");
    assert_eq!(answer["tools"].as_array().map(Vec::len), Some(1), "{answer}");
    assert_eq!(answer["tools"][0]["type"], "function");
    assert_eq!(answer["tools"][0]["function"]["name"], answer["uptake"]["candidates"][0]["function"]);
    assert_eq!(answer["tools"][0]["function"]["parameters"]["type"], "object");
}

#[tokio::test]
async fn a_build_reports_and_a_failed_one_keeps_what_served() {
    let service = Service::new(&["weather"]);
    let first = service.get("/v1/index/weather").await;
    assert_eq!(first.status, 200, "{}", first.text);
    let first = first.json();
    assert_eq!((&first["module"], &first["functions"]), (&json!("weather"), &json!(2)));
    assert_eq!(first["previous"], json!(null));
    let second = service.post("/v1/index/weather", "").await.json();
    assert_eq!((&second["previous"], &second["embedded"]), (&first["version"], &json!(0)));

    service.write("weather", "schema.json", "[{\"name\": 5}]");
    let refused = service.get("/v1/index/weather").await;
    assert_eq!((refused.error().0, refused.error().2.as_str()), (422, "module_refused"));
    let found = refused.json()["uptake"]["diagnostics"].as_array().cloned().unwrap_or_default();
    assert!(found.iter().any(|found| found["file"] == "schema.json" && found["severity"] == "error"), "{found:?}");

    assert_eq!(service.say("weather", "how cold will it be in seattle").await.status, 200);
    let described = service.get("/v1/modules/weather").await.json();
    assert_eq!((&described["state"], &described["version"]), (&json!("stale"), &first["version"]));
    assert!(described["failure"].as_array().is_some_and(|found| !found.is_empty()));
}

#[tokio::test]
async fn a_broken_module_does_not_keep_others_from_serving() {
    let service = Service::new(&["weather"]);
    service.write("broken", "schema.json", "{ this is not JSON");
    service.app.warm_up().await;
    let ready = service.get("/readyz").await.json();
    assert_eq!(ready, json!({"status": "ready", "modules": 1, "failed": ["broken"]}));
    let list = service.get("/v1/modules").await.json();
    let states: Vec<_> = list["data"].as_array().unwrap().iter().map(|one| (&one["name"], &one["state"])).collect();
    assert_eq!(states, [(&json!("broken"), &json!("refused")), (&json!("weather"), &json!("serving"))]);
    assert_eq!(service.say("broken", "hello").await.error().0, 422);
    assert_eq!(service.say("weather", "how cold will it be in seattle").await.status, 200);
    let near = service.say("wether", "hello").await;
    assert!(near.error().0 == 404 && near.text.contains("`weather`"), "{}", near.text);
}

#[tokio::test]
async fn a_module_is_described_with_its_slots() {
    let service = Service::new(&["weather"]);
    assert_eq!(service.get("/v1/load/weather").await.json()["state"], "serving");
    let described = service.get("/v1/modules/weather").await.json();
    assert_eq!(described["functions"][0]["name"], "get_current_weather");
    let slot = &described["functions"][0]["slots"][0];
    assert_eq!((&slot["path"], &slot["required"]), (&json!("location"), &json!(true)));
    assert_eq!(slot["recognizers"][0], "city");
}

#[tokio::test]
async fn builds_of_one_module_at_once_all_answer() {
    let service = Service::new(&["weather"]);
    let answers = futures::future::join_all((0..8).map(|_| service.get("/v1/index/weather"))).await;
    assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
}

#[tokio::test]
async fn whatever_is_said_is_answered() {
    let service = Service::new(&["weather"]);
    let long = "weather ".repeat(900);
    for said in
        ["???", "ما هو الطقس في Seattle", "天気はどう", "\u{0}weather\u{7}in\nseattle", "<location>", "🎵", &long]
    {
        let answer = service.say("weather", said).await;
        assert_eq!(answer.status, 200, "{said:?}: {}", answer.text);
    }
}

#[tokio::test]
async fn an_edit_is_known_to_the_next_request() {
    let service = Service::new(&["weather"]);
    let before = service.say("weather", "zorgle the blarf").await;
    assert_eq!(before.json()["uptake"]["outcome"], "no_match");

    let edited = r#"{"get_current_weather": ["zorgle the blarf"]}"#;
    service.write("weather", "exemplars.json", edited);
    let after = service.say("weather", "zorgle the blarf").await.json();
    assert_ne!(after["uptake"]["outcome"], "no_match", "{after}");
    assert_ne!(after["uptake"]["module_version"], before.json()["uptake"]["module_version"]);

    // A half-written file changes nothing; the served version stays.
    service.write("weather", "exemplars.json", r#"{"get_current_weather": ["zorg"#);
    let broken = service.say("weather", "zorgle the blarf").await.json();
    assert_eq!(broken["uptake"]["module_version"], after["uptake"]["module_version"]);
}
