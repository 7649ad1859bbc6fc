//! The form of an answer: finish reasons, ids, usage.

use serde_json::{Value, json};

use super::{SEATTLE, asking_weather, calls, complete, lights, read, tool, user, with};
use crate::support::Service;

fn finish(completion: &Value) -> &str {
    completion["choices"][0]["finish_reason"].as_str().expect("a reason")
}

#[tokio::test]
async fn a_module_is_a_model() {
    let service = Service::new(&["weather"]);
    let completion = read(&complete(&service, &asking_weather(SEATTLE)).await);
    let members: Vec<&String> = completion.as_object().expect("an object").keys().collect();
    let expected = ["id", "object", "created", "model", "choices", "usage", "system_fingerprint", "uptake"];
    assert_eq!(members, expected);
    assert!(completion["id"].as_str().is_some_and(|id| id.starts_with("chatcmpl-")));
    assert!(completion["created"].as_u64().is_some_and(|created| created > 1_700_000_000));
    assert_eq!((&completion["object"], &completion["model"]), (&json!("chat.completion"), &json!("weather")));
    assert_eq!(completion["usage"], json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}));
    let choice = &completion["choices"][0];
    assert_eq!((&choice["index"], &choice["logprobs"]), (&json!(0), &json!(null)));
    let message = choice["message"].as_object().expect("a message");
    assert_eq!(message.keys().collect::<Vec<_>>(), ["role", "content", "refusal", "tool_calls"]);
    assert_eq!((&message["content"], &message["refusal"]), (&json!(null), &json!(null)));
    let call = &message["tool_calls"][0];
    assert!(call["id"].as_str().is_some_and(|id| id.starts_with("call_")));
    assert_eq!(call["type"], "function");
    let arguments = json!({"location": "Seattle, WA", "format": "celsius", "num_days": 3});
    assert_eq!(calls(&completion), [("get_n_day_forecast".to_owned(), arguments)]);
}

#[tokio::test]
async fn who_finishes_why() {
    let service = Service::new(&["weather"]);
    let named = json!({"type": "function", "function": {"name": "get_n_day_forecast"}});
    let tools = |choice: Value| json!({ "tool_choice": choice });
    let parameters = json!({"type": "object", "properties": {
        "location": {"type": "string"}, "num_days": {"type": "integer"}}, "required": ["location"]});
    let functions = json!([{"name": "get_n_day_forecast", "parameters": parameters}]);
    let older = |choice: Value| json!({"functions": functions, "function_call": choice});
    let unfit = "colourless green ideas sleep furiously";
    let open = "what will the weather be for the next 3 days";
    for (said, members, reason, member) in [
        (SEATTLE, json!({}), "tool_calls", "tool_calls"),
        (SEATTLE, tools(json!("auto")), "tool_calls", "tool_calls"),
        (SEATTLE, tools(json!("required")), "tool_calls", "tool_calls"),
        (SEATTLE, tools(named.clone()), "stop", "tool_calls"),
        (SEATTLE, tools(json!("none")), "stop", ""),
        (SEATTLE, older(json!("auto")), "function_call", "function_call"),
        (SEATTLE, older(json!({"name": "get_n_day_forecast"})), "stop", "function_call"),
        (SEATTLE, older(json!("none")), "stop", ""),
        // Missing values are asked for, whatever the client requires.
        (open, json!({}), "stop", ""),
        (open, tools(json!("required")), "stop", ""),
        (unfit, tools(named), "stop", ""),
        (unfit, tools(json!("required")), "stop", ""),
        (unfit, json!({}), "stop", ""),
        (unfit, older(json!("auto")), "stop", ""),
    ] {
        let completion = read(&complete(&service, &with(&asking_weather(said), &members)).await);
        assert_eq!(finish(&completion), reason, "{said} {members}: {completion}");
        let message = completion["choices"][0]["message"].as_object().expect("a message");
        let calling: Vec<&str> =
            message.keys().map(String::as_str).filter(|key| ["tool_calls", "function_call"].contains(key)).collect();
        assert_eq!(calling.first().copied().unwrap_or_default(), member, "{said} {members}: {completion}");
        assert_eq!(message["content"].is_null(), !member.is_empty(), "{said} {members}: {completion}");
    }
}

#[tokio::test]
async fn what_is_demanded_and_not_said_is_asked_for() {
    let service = Service::new(&["weather"]);
    let named = json!({"tool_choice": {"type": "function", "function": {"name": "get_current_weather"}}});
    let completion = read(&complete(&service, &with(&asking_weather("good morning to you"), &named)).await);
    assert_eq!(completion["choices"][0]["message"]["content"], "Where?");
    assert_eq!(completion["uptake"]["outcome"], "ask");
    let required = json!({"tool_choice": "required"});
    let completion = read(&complete(&service, &with(&asking_weather("good morning to you"), &required)).await);
    let asked = completion["choices"][0]["message"]["content"].as_str().unwrap_or_default();
    assert!(asked.starts_with("Did you mean: "), "{completion}");
    assert_eq!(completion["uptake"]["question"]["about"]["kind"], "tie");
}

#[tokio::test]
async fn no_call_where_none_is_wanted_and_still_it_is_told() {
    let service = Service::new(&["weather"]);
    let completion = read(&complete(&service, &with(&asking_weather(SEATTLE), &json!({"tool_choice": "none"}))).await);
    assert!(completion["choices"][0]["message"]["content"].is_string(), "{completion}");
    let uptake = &completion["uptake"];
    assert_eq!((&uptake["outcome"], &uptake["calls"][0]["function"]), (&json!("call"), &json!("get_n_day_forecast")));
    assert!(uptake["notes"].to_string().contains("left out"), "{uptake}");
}

#[tokio::test]
async fn a_call_without_arguments_has_an_empty_object() {
    let service = Service::new(&[]);
    let ping = tool("play_jingle", "Play the jingle of the station", &json!({"type": "object", "properties": {}}));
    let body = json!({"model": "uptake", "messages": user("play the jingle of the station"), "tools": [ping]});
    let completion = read(&complete(&service, &body).await);
    assert_eq!(completion["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"], "{}", "{completion}");
}

#[tokio::test]
async fn several_calls_have_ids_of_their_own_and_one_is_one() {
    let service = Service::new(&[]);
    let said = "switch the lights in the kitchen off and switch the lights in the bedroom on";
    let body = json!({"model": "uptake", "messages": user(said), "tools": [lights()]});
    let completion = read(&complete(&service, &body).await);
    let expected = [
        ("set_lights".to_owned(), json!({"room": "kitchen", "state": "off"})),
        ("set_lights".to_owned(), json!({"room": "bedroom", "state": "on"})),
    ];
    assert_eq!(calls(&completion), expected, "{completion}");
    let ids: Vec<&Value> =
        completion["choices"][0]["message"]["tool_calls"].as_array().unwrap().iter().map(|call| &call["id"]).collect();
    assert_ne!(ids[0], ids[1]);

    // One at a time: each call comes once, after the result of the previous one.
    let mut body = with(&body, &json!({"parallel_tool_calls": false}));
    for one in &expected {
        let completion = read(&complete(&service, &body).await);
        assert_eq!(calls(&completion), std::slice::from_ref(one), "{completion}");
        let message = completion["choices"][0]["message"].clone();
        let id = message["tool_calls"][0]["id"].clone();
        let messages = body["messages"].as_array_mut().expect("messages");
        messages.push(message);
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": "done"}));
    }
    let completion = read(&complete(&service, &body).await);
    assert_eq!((finish(&completion), calls(&completion).len()), ("stop", 0));
}

#[tokio::test]
async fn after_the_result_of_a_call_nothing_is_called() {
    let service = Service::new(&["weather"]);
    let mut body = asking_weather(SEATTLE);
    let message = read(&complete(&service, &body).await)["choices"][0]["message"].clone();
    let id = message["tool_calls"][0]["id"].clone();
    let messages = body["messages"].as_array_mut().expect("messages");
    messages.push(message);
    messages.push(json!({"role": "tool", "tool_call_id": id, "content": "cold"}));
    let completion = read(&complete(&service, &body).await);
    let message = &completion["choices"][0]["message"];
    assert_eq!(message, &json!({"role": "assistant", "content": "cold", "refusal": null}));
    assert_eq!((finish(&completion), &completion["uptake"]["outcome"]), ("stop", &json!("no_match")));
}
