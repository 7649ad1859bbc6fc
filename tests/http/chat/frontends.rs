//! Chat frontends: their own tools beside a module's functions, and their own requests.

use serde_json::{Value, json};
use uptake::http::HttpOptions;

use super::{asking_weather, bank, calls, complete, lights, read, tool, user, with};
use crate::support::{Service, json_request};

/// Tools that a frontend sends with every message, whatever the model.
fn builtin() -> Vec<Value> {
    let text = |names: &[&str]| {
        let properties: Value = names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        json!({"type": "object", "properties": properties, "required": names})
    };
    vec![
        tool("search_web", "Search the public web for information", &text(&["query"])),
        tool("fetch_url", "Fetch and extract the main text of a web page", &text(&["url"])),
        tool("create_calendar_event", "Create a new event in the user's calendar", &text(&["title", "start"])),
        tool("search_calendar_events", "Search calendar events by text", &text(&["query"])),
        tool("add_memory", "Store a fact about the user, such as money that was sent", &text(&["content"])),
        tool("send_money", "Send money to somebody", &text(&["amount", "recipient"])),
        tool("get_current_timestamp", "Get the current time", &json!({"type": "object", "properties": {}})),
    ]
}

fn transfer(members: &Value) -> Value {
    let body = json!({"model": "bank", "messages": user("send 50 dollars to mum"), "tools": builtin()});
    with(&body, members)
}

fn function(completion: &Value) -> &str {
    completion["uptake"]["calls"][0]["function"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn tools_of_a_frontend_take_no_functions_place() {
    let service = bank();
    for members in [json!({}), json!({"uptake": {"tools": "ignore"}}), json!({"uptake": {"tools": "add"}})] {
        let completion = read(&complete(&service, &transfer(&members)).await);
        assert_eq!(function(&completion), "transfer_money", "{members}: {completion}");
        assert_eq!(completion["uptake"]["question"]["about"]["kind"], "confirm", "{members}");
    }
    let completion = read(&complete(&service, &transfer(&json!({}))).await);
    assert!(completion["uptake"]["notes"].to_string().contains("7 tools of the request"), "{completion}");
    let replaced = read(&complete(&service, &transfer(&json!({"uptake": {"tools": "replace"}}))).await);
    assert_ne!(function(&replaced), "transfer_money");
}

#[tokio::test]
async fn a_function_cannot_be_defined_anew() {
    let service = bank();
    let parameters = json!({"type": "object", "properties": {"note": {"type": "string"}}});
    let again = tool("transfer_money", "Make a note", &parameters);
    for policy in ["ignore", "add"] {
        let members = json!({"tools": [again], "uptake": {"tools": policy}});
        let completion = read(&complete(&service, &transfer(&members)).await);
        assert_eq!(completion["uptake"]["question"]["about"]["kind"], "confirm", "{policy}: {completion}");
        assert_eq!(completion["uptake"]["calls"][0]["slots"]["recipient"]["value"], "mum", "{policy}: {completion}");
    }
}

#[tokio::test]
async fn a_tool_that_is_demanded_is_meant() {
    let service = bank();
    let choice = json!({"type": "function", "function": {"name": "set_lights"}});
    let body = json!({"model": "bank", "messages": user("switch the lights in the kitchen off"), "tools": [lights()],
        "tool_choice": choice});
    let completion = read(&complete(&service, &body).await);
    assert_eq!(
        calls(&completion),
        [("set_lights".to_owned(), json!({"room": "kitchen", "state": "off"}))],
        "{completion}"
    );
}

#[tokio::test]
async fn added_tools_are_called_where_no_function_is_meant() {
    let service = bank();
    let body = json!({"model": "bank", "messages": user("switch the lights in the kitchen off"), "tools": [lights()],
        "uptake": {"tools": "add"}});
    let completion = read(&complete(&service, &body).await);
    assert_eq!(
        calls(&completion),
        [("set_lights".to_owned(), json!({"room": "kitchen", "state": "off"}))],
        "{completion}"
    );
    // An open form takes precedence, and continues over the messages.
    let mut body = with(&body, &json!({"messages": user("send 50 dollars to mum")}));
    let asked = read(&complete(&service, &body).await)["choices"][0]["message"].clone();
    let messages = body["messages"].as_array_mut().expect("messages");
    messages.extend([asked, json!({"role": "user", "content": "yes"})]);
    let completion = read(&complete(&service, &body).await);
    assert_eq!(calls(&completion)[0].0, "transfer_money", "{completion}");
    // A form of an added tool is filled in the same way.
    let mut body = with(&body, &json!({"messages": user("switch the lights on")}));
    let asked = read(&complete(&service, &body).await)["choices"][0]["message"].clone();
    let messages = body["messages"].as_array_mut().expect("messages");
    messages.extend([asked, json!({"role": "user", "content": "kitchen"})]);
    let completion = read(&complete(&service, &body).await);
    assert_eq!(
        calls(&completion),
        [("set_lights".to_owned(), json!({"room": "kitchen", "state": "on"}))],
        "{completion}"
    );
}

#[tokio::test]
async fn module_configuration_header_and_member_choose() {
    let mut options = HttpOptions::default();
    options.chat.tools = uptake::module::settings::ForeignTools::Replace;
    let service = Service::with(&["weather"], options);
    let body = with(&asking_weather("switch the lights in the kitchen off"), &json!({"tools": [lights()]}));
    assert_eq!(calls(&read(&complete(&service, &body).await)).len(), 1, "the configuration");
    service.write("weather", "module.toml", "[chat]\ntools = \"ignore\"\n");
    assert_eq!(calls(&read(&complete(&service, &body).await)).len(), 0, "the module");
    let by_header = |value: &'static str| {
        let request = json_request("/v1/chat/completions").header("x-uptake-tools", value);
        let request = request.body(body.to_string().into()).expect("a request");
        let service = &service;
        async move { service.send(request).await }
    };
    assert_eq!(calls(&read(&by_header("replace").await)).len(), 1, "the header");
    assert_eq!(by_header("steal").await.error().0, 400);
}

#[tokio::test]
async fn names_within_what_a_library_puts_around_them_are_our_own() {
    let service = Service::new(&["weather"]);
    let parameters = json!({"type": "object", "properties": {
        "location": {"type": "string"}, "num_days": {"type": "integer"}}, "required": ["location", "num_days"]});
    for name in [
        "mcp__weather__get_n_day_forecast",
        "weather_get_n_day_forecast",
        "functions.get_n_day_forecast",
        "get_n_day_forecast_mcp_weather",
        "weather____get_n_day_forecast____builtin",
    ] {
        let body =
            json!({"model": "weather", "messages": user(super::SEATTLE), "tools": [tool(name, "", &parameters)]});
        let completion = read(&complete(&service, &body).await);
        assert_eq!(
            calls(&completion),
            [(name.to_owned(), json!({"location": "Seattle, WA", "num_days": 3}))],
            "{completion}"
        );
        assert_eq!(completion["uptake"]["calls"][0]["slots"]["location"]["recognizer"], "city", "{name}");
    }
}

#[tokio::test]
async fn titles_and_tags_come_from_the_persons_words() {
    let service = Service::new(&["weather"]);
    let task = "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n\
                ### Output:\nJSON format: { \"title\": \"your concise title here\" }\n### Chat History:\n\
                <chat_history>\nUSER: how cold is it in Seattle\nASSISTANT: 3 degrees\n</chat_history>";
    for model in ["uptake", "weather"] {
        let completion = read(&complete(&service, &json!({"model": model, "messages": user(task)})).await);
        let content = completion["choices"][0]["message"]["content"].as_str().expect("text");
        assert_eq!(content, "{\"title\":\"How cold is it in Seattle\"}", "{completion}");
        assert_eq!(calls(&completion), []);
    }
}

#[tokio::test]
async fn without_tools_the_model_of_a_requests_own_tools_talks() {
    let service = Service::new(&[]);
    for (said, expected) in [("hello", "Hello! What can I do for you?"), ("sing", "I'm sorry, I can't help with that.")]
    {
        for tools in [json!(null), json!([])] {
            let body = json!({"model": "uptake", "messages": user(said), "tools": tools});
            let completion = read(&complete(&service, &body).await);
            assert_eq!(completion["choices"][0]["message"]["content"], expected, "{completion}");
            let streamed = complete(&service, &with(&body, &json!({"stream": true}))).await;
            assert!(
                streamed.text.contains(expected) && streamed.text.ends_with("data: [DONE]\n\n"),
                "{}",
                streamed.text
            );
        }
    }
}

#[tokio::test]
async fn an_empty_list_of_tools_is_none() {
    let service = Service::new(&["weather"]);
    for members in [json!({"tools": []}), json!({"functions": []}), json!({"tools": [], "tool_choice": "auto"})] {
        let completion = read(&complete(&service, &with(&asking_weather(super::SEATTLE), &members)).await);
        let message = &completion["choices"][0]["message"];
        assert!(
            message.get("tool_calls").or_else(|| message.get("function_call")).is_some(),
            "{members}: {completion}"
        );
    }
}
