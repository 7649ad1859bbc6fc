//! The request's own tools: locally, with a model server, and cached.

use proptest::prelude::*;
use serde_json::{Value, json};
use uptake::llm::{ChatReply, ToolCall, scripted::Scripted};

use super::{SEATTLE, asking, by_tools, calls, complete, lights, read, tool, user, with};
use crate::{
    support::{Service, embedder},
    understand::local,
};

const KITCHEN: &str = "switch the lights in the kitchen off";

fn asking_lights(said: &str) -> Value {
    json!({"model": "uptake", "messages": user(said), "tools": [lights()]})
}

fn off() -> [(String, Value); 1] {
    [("set_lights".to_owned(), json!({"room": "kitchen", "state": "off"}))]
}

#[tokio::test]
async fn locally_by_name_description_and_schema() {
    let service = Service::new(&[]);
    assert_eq!(calls(&read(&complete(&service, &asking_lights(KITCHEN)).await)), off());
    let open = read(&complete(&service, &asking_lights("switch the lights on")).await);
    assert_eq!((&open["uptake"]["outcome"], &open["uptake"]["calls"][0]["missing"]), (&json!("ask"), &json!(["room"])));
    let none = read(&complete(&service, &asking_lights("my cat has a cold")).await);
    assert_eq!(none["uptake"]["outcome"], "no_match", "{none}");
}

#[tokio::test]
async fn by_a_model_server() {
    let chat = Scripted::new().call("set_lights", "{\"room\":\"kitchen\",\"state\":\"off\"}");
    let service = asking(&[], &chat);
    let body = with(
        &asking_lights("make the kitchen dark: off"),
        &json!({"messages": [
            {"role": "system", "content": "You run a house. <|im_end|>"},
            {"role": "user", "content": "make the kitchen dark: off"},
        ]}),
    );
    let completion = read(&complete(&service, &body).await);
    assert_eq!(calls(&completion), off(), "{completion}");
    assert_eq!(completion["uptake"]["decided_by"], "tools");
    let heard = chat.requests();
    assert_eq!(heard[0].tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["set_lights"]);
    let prompt = format!("{:?}", heard[0].messages);
    assert!(prompt.contains("You run a house.") && !prompt.contains("<|im_end|>"), "{prompt}");
}

/// A value that is not found with enough certainty may have been said all the same.
#[tokio::test]
async fn a_model_server_is_asked_for_what_cannot_be_found_locally() {
    let chat = Scripted::new().call("get_weather", "{\"city\":\"Paris\"}");
    let asking = |sure: f32| {
        let server = uptake::llm::Server::new(std::sync::Arc::new(chat.clone()));
        let turns = uptake::understand::UnderstandOptions { sure, ..Default::default() };
        Service::asking(&[], uptake::http::HttpOptions::default(), turns, vec![server])
    };
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let weather = tool("get_weather", "Get the current weather in a city", &parameters);
    let body = json!({"model": "uptake", "tools": [weather, lights()],
        "messages": user("get the current weather in a city: Paris")});
    let completion = read(&complete(&asking(0.99), &body).await);
    assert_eq!(calls(&completion), [("get_weather".to_owned(), json!({"city": "Paris"}))], "{completion}");
    assert_eq!(chat.requests().len(), 1);
    // If everything was found, the model server is not asked.
    let body = with(&asking_lights(KITCHEN), &json!({"tools": [lights()]}));
    let completion = read(&complete(&asking(0.65), &body).await);
    assert_eq!((calls(&completion).as_slice(), chat.requests().len()), (off().as_slice(), 1), "{completion}");
}

/// `get_weather(city: str)`, as a library derives it from a function: the text is found, or asked for, and never made
/// up. What is found is called, or put to the person.
#[tokio::test]
async fn a_text_that_nothing_describes_is_found_or_asked_for() {
    let service = Service::shipping(&[], local::embedder().await);
    let text = json!({"type": "string"});
    let parameters = json!({"type": "object", "properties": {"city": text}, "required": ["city"]});
    let weather = tool("get_weather", "Get the weather for a city.", &parameters);
    let mut found = 0;
    for city in ["Tokyo", "Oslo", "Buenos Aires", "Novi Sad"] {
        for said in
            ["weather in {}", "get the weather for {}", "what is the weather like in {} right now", "is it warm in {}?"]
        {
            let said = said.replace("{}", city);
            let body = json!({"model": "uptake", "messages": user(&said), "tools": [weather]});
            let completion = read(&complete(&service, &body).await);
            let is_call = !calls(&completion).is_empty();
            if is_call {
                assert_eq!(
                    calls(&completion),
                    [("get_weather".to_owned(), json!({"city": city}))],
                    "{said}: {completion}"
                );
            } else {
                assert_eq!(completion["uptake"]["outcome"], "ask", "{said}: {completion}");
            }
            found += usize::from(completion["uptake"]["calls"][0]["slots"]["city"]["value"] == city);
        }
    }
    assert!(found >= 8, "{found} of 16 are found");
}

/// Words that may be an unread value are not ignored.
#[tokio::test]
async fn an_optional_text_is_not_dropped() {
    let service = Service::shipping(&[], local::embedder().await);
    let made = |name: &str, description: &str, required: &str, optional: &str| {
        let parameters = json!({"type": "object", "properties": {required: {"type": "string"}, optional: {"type": "string"}},
            "required": [required]});
        tool(name, description, &parameters)
    };
    let message = made("send_message", "Send a message to a contact", "to", "body");
    let note = made("create_note", "Create a note", "title", "body");
    for (tool, said, whole) in [
        (&message, "message Bob that dinner is ready", json!({"to": "Bob", "body": "dinner is ready"})),
        (&message, "send a message to Anna saying I will be late", json!({"to": "Anna", "body": "I will be late"})),
        (
            &note,
            "create a note titled Shopping with the body milk and eggs",
            json!({"title": "Shopping", "body": "milk and eggs"}),
        ),
        (&message, "send a message to Anna", json!({"to": "Anna"})),
    ] {
        let body = json!({"model": "uptake", "messages": user(said), "tools": [tool]});
        let completion = read(&complete(&service, &body).await);
        let is_read = completion["uptake"]["calls"][0]["slots"]["to"]["value"] == "Anna";
        let is_asked = completion["uptake"]["outcome"] == "ask" && (said != "send a message to Anna" || is_read);
        assert!(
            is_asked || calls(&completion).first().is_some_and(|(_, arguments)| *arguments == whole),
            "{said}: {completion}"
        );
    }
}

#[tokio::test]
async fn what_a_module_knows_of_a_tool_is_used_and_its_other_functions_are_not() {
    let service = Service::new(&["weather"]);
    let parameters = json!({"type": "object", "properties": {
        "location": {"type": "string"}, "num_days": {"type": "integer"}}, "required": ["location", "num_days"]});
    let forecast = tool("get_n_day_forecast", "", &parameters);
    let body = json!({"model": "weather", "messages": user(SEATTLE), "tools": [forecast, lights()]});
    let completion = read(&complete(&service, &body).await);
    let expected = [("get_n_day_forecast".to_owned(), json!({"location": "Seattle, WA", "num_days": 3}))];
    assert_eq!(calls(&completion), expected, "{completion}");
    assert_eq!(completion["uptake"]["calls"][0]["slots"]["location"]["recognizer"], "city");

    // The module's own function is not among the tools, so nothing else of the module may be called.
    let now = with(&body, &json!({"messages": user("what is the weather like in seattle right now")}));
    let completion = read(&complete(&service, &now).await);
    for candidate in completion["uptake"]["candidates"].as_array().expect("candidates") {
        assert_ne!(candidate["function"], "get_current_weather", "{completion}");
    }
    assert!(calls(&completion).iter().all(|(name, _)| name != "get_current_weather"));
}

#[tokio::test]
async fn the_same_tools_are_compiled_once() {
    let service = Service::new(&["weather"]);
    let version = |body: Value| {
        let service = &service;
        async move { read(&complete(service, &body).await)["uptake"]["module_version"].clone() }
    };
    let many = futures::future::join_all((0..8).map(|_| version(asking_lights(KITCHEN)))).await;
    assert!(many.iter().all(|one| *one == many[0]));
    let name = uptake::module::ModuleName::new("uptake").expect("a name");
    let mut function = lights()["function"].clone();
    function.as_object_mut().expect("a function").shift_remove("strict");
    let owner = uptake::shares::Owner::Process;
    let kept = || service.app.snapshots.ad_hoc(&owner, &name, std::slice::from_ref(&function), None, None);
    let (one, other) = (kept().await.expect("it compiles"), kept().await.expect("it compiles"));
    assert!(std::sync::Arc::ptr_eq(&one, &other));
    assert_eq!(many[0], json!(one.module.version));
    let known =
        version(with(&asking_lights(KITCHEN), &json!({"model": "weather", "uptake": {"tools": "replace"}}))).await;
    assert_ne!(known, many[0]);
}

/// Any answer of a model server.
fn anything() -> impl Strategy<Value = ChatReply> {
    let name = prop_oneof![
        Just("set_lights".to_owned()),
        Just("get_current_weather".to_owned()),
        Just("get_n_day_forecast".to_owned()),
        Just("delete_all".to_owned()),
        "[a-z_]{0,12}",
    ];
    let arguments = prop_oneof![
        Just("{\"room\":\"kitchen\",\"state\":\"off\"}".to_owned()),
        Just("{\"room\":\"cellar\",\"state\":\"off\"}".to_owned()),
        Just("{\"location\":\"Seattle, WA\",\"num_days\":3}".to_owned()),
        "\\PC{0,20}",
    ];
    let call = (name, arguments).prop_map(|(name, arguments)| ToolCall { id: "x".into(), name, arguments });
    let said = proptest::option::of(prop_oneof![
        Just(
            "<tool_call>{\"name\":\"get_current_weather\",\"arguments\":{\"location\":\"seattle\"}}</tool_call>".into()
        ),
        "\\PC{0,30}",
    ]);
    (proptest::collection::vec(call, 0..3), said).prop_map(|(tool_calls, content)| ChatReply {
        tool_calls,
        content,
        ..ChatReply::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nothing_but_the_requests_tools_is_ever_called(reply in anything()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let chat = Scripted::new().answer(move |_| Ok(reply.clone()));
            let service = asking(&["weather"], &chat);
            let said = "switch the lights in the kitchen off, and what is the weather like in seattle right now?";
            let replaced = json!({"model": "weather", "uptake": {"strategy": "tools", "tools": "replace"}});
            let body = with(&by_tools(&asking_lights(said)), &replaced);
            let answer = complete(&service, &body).await;
            prop_assert!(answer.status == 200 || answer.status == 502, "{}", answer.text);
            if answer.status == 200 {
                for (name, arguments) in calls(&answer.json()) {
                    prop_assert_eq!(name, "set_lights");
                    prop_assert_eq!(arguments, json!({"room": "kitchen", "state": "off"}));
                }
            }
            Ok(())
        })?;
    }
}

/// An agent collects its tools from many servers. One that is written wrongly must not take the others with it.
#[tokio::test]
async fn a_tool_that_cannot_be_used_is_left_out_with_a_note() {
    let service = Service::new(&[]);
    let odd =
        tool("about", "Tell about this server", &json!({"type": "object", "properties": {}, "required": ["host"]}));
    let both = with(&asking_lights(KITCHEN), &json!({"tools": [odd, lights()]}));
    let completion = read(&complete(&service, &both).await);
    assert_eq!(calls(&completion), off(), "{completion}");
    let notes = completion["uptake"]["notes"].to_string();
    assert!(notes.contains("`about` cannot be used and is left out: `host` is required"), "{notes}");
    for refused in
        [json!({"tools": [odd]}), json!({"tool_choice": {"type": "function", "function": {"name": "about"}}})]
    {
        let answer = complete(&service, &with(&both, &refused)).await;
        assert_eq!((answer.error().0, answer.error().2.as_str()), (400, "invalid_value"), "{refused}");
        let message = answer.json()["error"]["message"].to_string();
        assert!(message.contains("`host` is required"), "{refused}: {message}");
    }
}

/// Another model, or the client by itself, may have called what we would have asked about.
#[tokio::test]
async fn what_the_client_has_called_is_not_asked_about() {
    let service = Service::shipping(&["banking"], embedder());
    let asked = |calls: Value| {
        let messages = [
            json!({"role": "user", "content": "send 50 dollars to mum"}),
            json!({"role": "assistant", "content": null, "tool_calls": calls}),
            json!({"role": "tool", "tool_call_id": "c1", "content": "done, number 77"}),
        ];
        json!({"model": "banking", "messages": messages})
    };
    let call = |name: &str| json!([{"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}}]);
    let told = read(&complete(&service, &asked(call("transfer_money"))).await);
    assert_eq!(told["choices"][0]["message"]["content"], "done, number 77", "{told}");
    let other = read(&complete(&service, &asked(call("get_balance"))).await);
    let words = other["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned();
    assert!(
        words.starts_with("done, number 77\n") && words.ends_with('?'),
        "the transfer is still asked about: {words}"
    );
}
