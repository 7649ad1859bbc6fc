//! Utterances that mean no function go to a model server, where that is wanted.

use std::{sync::Arc, time::Duration};

use axum::{body::Body, response::Response};
use futures::StreamExt as _;
use serde_json::{Value, json};
use uptake::{
    http::HttpOptions,
    llm::{LlmError, LlmOptions, Message, Server, scripted::Scripted},
    understand::UnderstandOptions,
};

use super::{SEATTLE, asking_weather, calls, complete, read, user, with, write_bank};
use crate::support::Service;

fn fronting(modules: &[&str], chat: &Scripted) -> Service {
    let mut options = HttpOptions::default();
    options.chat.front = true;
    let turns = UnderstandOptions { sure: 0.0, ..UnderstandOptions::default() };
    Service::asking(modules, options, turns, vec![Server::new(Arc::new(chat.clone()))])
}

fn content(completion: &Value) -> &str {
    completion["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("no words: {completion}"))
}

fn told(messages: &[Message]) -> String {
    format!("{messages:?}")
}

#[tokio::test]
async fn small_talk_goes_on_and_calls_do_not() {
    let chat = Scripted::new().say("Hello, nice to see you.");
    let service = fronting(&["weather"], &chat);
    let completion = read(&complete(&service, &asking_weather("hello")).await);
    assert_eq!(content(&completion), "Hello, nice to see you.");
    let uptake = &completion["uptake"];
    assert_eq!((&uptake["decided_by"], &uptake["reply"]), (&json!("front"), &json!("Hello, nice to see you.")));
    assert_eq!(uptake["attempts"][0]["stage"], "front");
    let completion = read(&complete(&service, &asking_weather(SEATTLE)).await);
    assert_eq!((calls(&completion).len(), chat.requests().len()), (1, 1), "{completion}");
}

#[tokio::test]
async fn a_result_is_told_by_the_model_server() {
    let chat = Scripted::new().say("It is 3 degrees there.").say("As I said: 3.");
    let service = fronting(&["weather"], &chat);
    let mut body = asking_weather(SEATTLE);
    let message = read(&complete(&service, &body).await)["choices"][0]["message"].clone();
    let id = message["tool_calls"][0]["id"].clone();
    let result = json!({"role": "tool", "tool_call_id": id, "content": "{\"temperature\": 3} <|im_end|>"});
    let messages = body["messages"].as_array_mut().expect("messages");
    messages.extend([message, result]);
    let completion = read(&complete(&service, &body).await);
    assert_eq!(content(&completion), "It is 3 degrees there.");
    let heard = told(&chat.requests()[0].messages);
    assert!(heard.contains("get_n_day_forecast, just now") && heard.contains("temperature"), "{heard}");
    assert!(heard.contains("in seattle") && !heard.contains("<|im_end|>"), "{heard}");
    // Later it counts as something that was found out.
    let messages = body["messages"].as_array_mut().expect("messages");
    messages.extend([json!({"role": "assistant", "content": "It is 3 degrees there."}), user("thanks")[0].clone()]);
    let completion = read(&complete(&service, &body).await);
    assert_eq!(content(&completion), "As I said: 3.");
    let heard = told(&chat.requests()[1].messages);
    assert!(heard.contains("get_n_day_forecast, earlier"), "{heard}");
}

#[tokio::test]
async fn what_is_still_asked_comes_behind_the_words_of_the_model_server() {
    let chat = Scripted::new().say("You have 1200.").say("You have 1200.");
    let service = fronting(&[], &chat);
    write_bank(&service);
    let mut body = json!({"model": "bank", "messages": user("send money to mum")});
    let asked = read(&complete(&service, &body).await)["choices"][0]["message"].clone();
    let messages = body["messages"].as_array_mut().expect("messages");
    messages.extend([asked, json!({"role": "user", "content": "what is my balance"})]);
    let called = read(&complete(&service, &body).await)["choices"][0]["message"].clone();
    let result = json!({"role": "tool", "tool_call_id": called["tool_calls"][0]["id"], "content": "1200"});
    body["messages"].as_array_mut().expect("messages").extend([called, result]);
    let completion = read(&complete(&service, &body).await);
    let words = content(&completion);
    assert!(words.starts_with("You have 1200.\n") && words.ends_with("How much?"), "{words}");
    let streamed = complete(&service, &with(&body, &json!({"stream": true}))).await;
    assert!(
        streamed.text.contains("\"content\":\"You have 1200.\"") && streamed.text.contains("How much?\""),
        "{}",
        streamed.text
    );
}

#[tokio::test]
async fn without_a_server_that_answers_the_sentences_stay() {
    let chat = Scripted::new().fail(LlmError::Connect("gone".into())).say("");
    let service = fronting(&["weather"], &chat);
    for _ in 0..2 {
        let completion = read(&complete(&service, &asking_weather("hello")).await);
        assert_eq!(content(&completion), "Hello! What can I do for you?");
        assert_eq!(completion["uptake"]["decided_by"], "local");
        assert!(completion["uptake"]["notes"].to_string().contains("worded here"), "{completion}");
    }
    let local = json!({"uptake": {"strategy": "local"}});
    read(&complete(&service, &with(&asking_weather("hello"), &local)).await);
    assert_eq!(chat.requests().len(), 2, "`local` asks nobody");
}

#[tokio::test]
async fn the_model_without_tools_and_titles_are_the_model_servers() {
    let chat = Scripted::new().say("I am a helper.").say("{\"title\": \"Cold\"}");
    let service = fronting(&[], &chat);
    let messages = json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "who are you"}]);
    let completion = read(&complete(&service, &json!({"model": "uptake", "messages": messages})).await);
    assert_eq!(content(&completion), "I am a helper.");
    let expected = [Message::System("Be brief.".into()), Message::User("who are you".into())];
    assert_eq!(chat.requests()[0].messages.as_ref(), expected);
    let task = "### Task:\nGenerate a title. JSON format: { \"title\": \"...\" }\n<chat_history>\nUSER: cold?\n</chat_history>";
    let completion = read(&complete(&service, &json!({"model": "uptake", "messages": user(task)})).await);
    assert_eq!(content(&completion), "{\"title\": \"Cold\"}");
}

#[tokio::test]
async fn a_module_says_whether_it_is_in_front() {
    let chat = Scripted::new();
    let service = fronting(&["weather"], &chat);
    service.write("weather", "module.toml", "[chat]\nfront = false\n");
    let completion = read(&complete(&service, &asking_weather("hello")).await);
    assert_eq!((content(&completion), chat.requests().len()), ("Hello! What can I do for you?", 0));
}

/// A model server that writes these pieces one after the other, and then closes the connection.
async fn writing(pieces: &'static [&'static str]) -> LlmOptions {
    let answer = move || async move {
        let pieces = futures::stream::iter(pieces).then(|piece| async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            Ok::<_, std::convert::Infallible>(*piece)
        });
        Response::builder()
            .header("content-type", "text/event-stream")
            .body(Body::from_stream(pieces))
            .expect("a response")
    };
    let router = axum::Router::new().route("/v1/chat/completions", axum::routing::post(answer));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base_url = format!("http://{}", listener.local_addr().expect("a bound port"));
    tokio::spawn(async move { axum::serve(listener, router).await });
    LlmOptions { base_url: Some(base_url), retries: 2, probe: false, ..LlmOptions::default() }
}

/// "Hello." in two pieces.
pub(crate) const HELLO: [&str; 2] = [
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Hel\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo.\"},\"finish_reason\":\"stop\"}]}\n\n\
                         data: [DONE]\n\n",
];

/// A service that passes on the text of a model server, which writes these pieces.
pub(crate) async fn written_by(pieces: &'static [&'static str]) -> Service {
    let mut options = HttpOptions::default();
    options.chat.front = true;
    let turns = UnderstandOptions { sure: 0.0, ..UnderstandOptions::default() };
    let servers = uptake::llm::connect(&writing(pieces).await).expect("good options");
    Service::asking(&["weather"], options, turns, servers)
}

/// If a server stops in the middle, the client gets the words so far and an error; the words are not repeated.
#[tokio::test]
async fn words_are_told_while_they_are_written() {
    for (pieces, is_whole) in [(&HELLO[..], true), (&HELLO[..1], false)] {
        let service = written_by(pieces).await;
        let text = complete(&service, &with(&asking_weather("hello"), &json!({"stream": true}))).await.text;
        assert_eq!(text.matches("\"content\":\"Hel\"").count(), 1, "{text}");
        assert_eq!(text.contains("\"content\":\"lo.\"") && text.contains("\"reply\":\"Hello.\""), is_whole, "{text}");
        assert_eq!(text.ends_with("data: [DONE]\n\n"), is_whole, "{text}");
        assert_eq!(text.contains("\"error\":{"), !is_whole, "{text}");
    }
}
