//! Which calls are returned: those of functions that the request offers.

use serde_json::{Value, json};
use uptake::{http::ChatOptions, module::settings::ChatCalls};

use super::{SEATTLE, asking_weather, calls, complete, read, tool, with};
use crate::support::Service;

fn offered(body: &Value) -> Value {
    with(body, &json!({"uptake": {"calls": "offered"}}))
}

#[tokio::test]
async fn without_a_tool_a_call_is_told_in_words() {
    assert_eq!(ChatOptions::default().calls, ChatCalls::Offered);
    let service = Service::new(&["weather"]);
    let body = asking_weather(SEATTLE);
    let always = read(&complete(&service, &with(&body, &json!({"uptake": {"calls": "always"}}))).await);
    assert_eq!(calls(&always).len(), 1, "{always}");
    let told = read(&complete(&service, &offered(&body)).await);
    let choice = &told["choices"][0];
    assert_eq!((&choice["finish_reason"], &choice["message"]["tool_calls"]), (&json!("stop"), &Value::Null), "{told}");
    let words = choice["message"]["content"].as_str().expect("words");
    assert!(words.contains("Seattle") && words.contains("celsius"), "{words}");
    assert_eq!((&told["uptake"]["outcome"], &told["uptake"]["reply"]), (&json!("call"), &json!(words)));
    assert_eq!(told["uptake"]["calls"].as_array().map(Vec::len), Some(1), "{told}");
}

#[tokio::test]
async fn with_its_tool_a_call_comes_back_and_of_another_function_none() {
    let service = Service::new(&["weather"]);
    let names = |name: &str, properties: Value| {
        let parameters = json!({"type": "object", "properties": properties});
        offered(&with(&asking_weather(SEATTLE), &json!({"tools": [tool(name, "", &parameters)]})))
    };
    let properties =
        json!({"location": {"type": "string"}, "format": {"type": "string"}, "num_days": {"type": "integer"}});
    // A call is required, however certain the reading is without exemplars for the tool.
    let wanted = json!({"tool_choice": "required"});
    let own = with(&names("get_n_day_forecast", properties.clone()), &wanted);
    let own = read(&complete(&service, &own).await);
    assert_eq!(calls(&own).len(), 1, "{own}");
    // Another function of that name: no call of the module's function is returned under it.
    let other = json!({"location": {"type": "string"}, "station": {"type": "string"}});
    for body in [names("get_n_day_forecast", other), names("search_the_web", properties)] {
        let told = read(&complete(&service, &body).await);
        assert_eq!(calls(&told), [], "{told}");
        assert_eq!(told["choices"][0]["finish_reason"], "stop");
        assert!(told["choices"][0]["message"]["content"].is_string(), "{told}");
    }
}
