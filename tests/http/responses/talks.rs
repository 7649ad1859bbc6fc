//! The results of texts, items, and calls.

use serde_json::{Value, json};

use super::{SEATTLE, after, asking, calls, forecast, lights, output, read, respond, said, with};
use crate::support::Service;

#[tokio::test]
async fn a_text_is_answered_with_a_call() {
    let service = Service::new(&["weather"]);
    let response = read(&respond(&service, &asking(&json!(SEATTLE))).await);
    assert_eq!(calls(&response), forecast());
    let call = &response["output"][0];
    let digits = response["id"].as_str().expect("an id").trim_start_matches("resp_").to_owned();
    assert_eq!((&call["type"], &call["status"]), (&json!("function_call"), &json!("completed")));
    assert!(call["id"].as_str().is_some_and(|id| id.starts_with(&format!("fc_{digits}"))), "{call}");
    assert!(call["call_id"].as_str().is_some_and(|id| id.starts_with("call_")), "{call}");
    assert_eq!((&response["uptake"]["outcome"], &response["model"]), (&json!("call"), &json!("weather")));
    for member in ["error", "incomplete_details", "instructions", "previous_response_id", "max_output_tokens"] {
        assert!(response[member].is_null() && response.get(member).is_some(), "{member}: {response}");
    }
    assert_eq!(
        response["usage"],
        json!({"input_tokens": 0, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 0,
               "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 0})
    );
    assert_eq!((&response["text"]["format"]["type"], &response["tool_choice"]), (&json!("text"), &json!("auto")));
}

#[tokio::test]
async fn a_question_is_a_message() {
    let service = Service::new(&["weather"]);
    let response = read(&respond(&service, &asking(&json!("what is the weather like right now"))).await);
    assert_eq!(said(&response), "Where?");
    let message = &response["output"][0];
    assert_eq!(
        (&message["type"], &message["role"], &message["content"][0]["type"], &message["content"][0]["annotations"]),
        (&json!("message"), &json!("assistant"), &json!("output_text"), &json!([]))
    );
    assert_eq!((&response["uptake"]["outcome"], calls(&response).len()), (&json!("ask"), 0));
}

/// Everything that a client may send for one conversation.
#[tokio::test]
async fn items_are_the_conversation() {
    let service = Service::new(&["weather"]);
    let whole = json!([
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "what is the weather like right now"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed",
         "content": [{"type": "output_text", "text": "Where?", "annotations": []}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Seattle"}]},
    ]);
    let response = read(&respond(&service, &asking(&whole)).await);
    assert_eq!(
        calls(&response),
        [("get_current_weather".to_owned(), json!({"location": "Seattle, WA"}))],
        "{response}"
    );
    let odd = json!([
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "item_reference", "id": "msg_1"},
        {"role": "user", "content": [{"type": "input_text", "text": SEATTLE}, {"type": "input_image", "image_url": "x"}]},
    ]);
    let response = read(&respond(&service, &asking(&odd)).await);
    assert_eq!(calls(&response), forecast());
    let notes = response["uptake"]["notes"].to_string();
    for note in ["`input[0]` is left out", "`input[1]` is left out: what it refers to is not kept", "`input_image`"] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
}

/// A call, its result, and the text about it: with the items sent back, and with the response named.
#[tokio::test]
async fn a_call_is_told_in_words_when_its_output_is_there() {
    let service = Service::new(&["weather"]);
    let first = read(&respond(&service, &asking(&json!(SEATTLE))).await);
    let told = output(&first, "{\"temperature\": 3, \"sky\": \"clear\"}");
    let by_id = read(&respond(&service, &after(&first, &told)).await);
    assert_eq!((said(&by_id), &by_id["previous_response_id"]), ("Temperature 3, sky clear", &first["id"]));
    let items = json!([{"role": "user", "content": SEATTLE}, first["output"][0], told[0]]);
    let stateless = read(&respond(&service, &asking(&items)).await);
    assert_eq!(said(&stateless), "Temperature 3, sky clear");
    let parts = json!([{"type": "function_call_output", "call_id": told[0]["call_id"],
        "output": [{"type": "input_text", "text": "Cold: 3 degrees."}]}]);
    assert_eq!(said(&read(&respond(&service, &after(&first, &parts)).await)), "Cold: 3 degrees.");
    // The next utterance is understood in its context.
    let next = read(&respond(&service, &after(&by_id, &json!("and in San Francisco?"))).await);
    let (name, arguments) = calls(&next).remove(0);
    assert_eq!((name.as_str(), &arguments["location"]), ("get_n_day_forecast", &json!("San Francisco, CA")), "{next}");
}

#[tokio::test]
async fn tools_of_the_request_are_called() {
    let service = Service::new(&["weather"]);
    let both = "switch the lights in the kitchen off and switch the lights in the bedroom on";
    let own = json!({"model": "uptake", "input": both, "tools": [{"type": "web_search"}, lights()]});
    let response = read(&respond(&service, &own).await);
    let light = |room: &str, state: &str| ("set_lights".to_owned(), json!({"room": room, "state": state}));
    assert_eq!(calls(&response), [light("kitchen", "off"), light("bedroom", "on")], "{response}");
    assert!(response["uptake"]["notes"].to_string().contains("`tools[0]` is left out: tools of type `web_search`"));
    assert_eq!(response["tools"], json!([lights()]));
    let one = read(&respond(&service, &with(&own, &json!({"parallel_tool_calls": false}))).await);
    assert_eq!((calls(&one), &one["parallel_tool_calls"]), (vec![light("kitchen", "off")], &json!(false)));
    // A pending call comes after the result of the previous one.
    let rest = with(
        &own,
        &json!({"parallel_tool_calls": false, "previous_response_id": one["id"],
        "input": output(&one, "done")}),
    );
    assert_eq!(calls(&read(&respond(&service, &rest).await)), [light("bedroom", "on")]);
    let none = read(&respond(&service, &with(&own, &json!({"tool_choice": "none"}))).await);
    assert_eq!(calls(&none), []);
    let named = json!({"tool_choice": {"type": "function", "name": "set_lights"}});
    let response = read(&respond(&service, &with(&own, &named)).await);
    assert_eq!((calls(&response).len(), &response["tool_choice"]), (2, &named["tool_choice"]));
    let allowed = json!({"tool_choice": {"type": "allowed_tools", "mode": "required",
        "tools": [{"type": "function", "name": "set_lights"}]}});
    assert_eq!(calls(&read(&respond(&service, &with(&own, &allowed)).await)).len(), 2);
}

#[tokio::test]
async fn an_object_is_a_text_or_a_refusal() {
    let service = Service::new(&["weather"]);
    let format = json!({"format": {"type": "json_schema", "name": "lights", "strict": true,
        "schema": lights()["parameters"]}});
    let asked = json!({"model": "uptake", "text": format, "input": "switch the lights in the kitchen off"});
    let response = read(&respond(&service, &asked).await);
    let object: Value = serde_json::from_str(said(&response)).expect("JSON");
    assert_eq!((object, &response["text"]), (json!({"room": "kitchen", "state": "off"}), &format));
    let response = read(&respond(&service, &with(&asked, &json!({"input": "switch it off"}))).await);
    let part = &response["output"][0]["content"][0];
    assert!(part["type"] == "refusal" && part["refusal"].as_str().is_some_and(|text| text.contains("room")), "{part}");
    let plain = json!({"text": {"format": {"type": "json_object"}, "verbosity": "low"}});
    let response = read(&respond(&service, &with(&asking(&json!("hello")), &plain)).await);
    assert!(said(&response).starts_with("{\"reply\":\"Hello!"), "{response}");
}

#[tokio::test]
async fn what_is_only_to_be_echoed_comes_back() {
    let service = Service::new(&["weather"]);
    let members = json!({
        "instructions": "Be brief.", "metadata": {"order": "7"}, "temperature": 0.2, "top_p": 1, "user": "ann",
        "max_output_tokens": 50, "reasoning": {"effort": "low"}, "include": ["reasoning.encrypted_content"],
        "truncation": "auto", "service_tier": "auto", "stream_options": {"include_obfuscation": false},
        "prompt_cache_key": "k", "safety_identifier": "s", "max_tool_calls": 3, "something": "new",
    });
    let response = read(&respond(&service, &with(&asking(&json!(SEATTLE)), &members)).await);
    assert_eq!(calls(&response), forecast());
    assert_eq!((&response["instructions"], &response["metadata"]), (&json!("Be brief."), &json!({"order": "7"})));
}

/// A call whose tool is not offered is told in words, as in chat completions.
#[tokio::test]
async fn a_call_that_nobody_makes_is_told() {
    let service = Service::new(&["weather"]);
    let offered = json!({"uptake": {"calls": "offered"}});
    let response = read(&respond(&service, &with(&asking(&json!(SEATTLE)), &offered)).await);
    assert!(said(&response).starts_with("I understood: "), "{response}");
}
