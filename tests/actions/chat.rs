//! The same over the chat completions that a frontend uses.

use serde_json::{Value, json};

use super::shop::{Shop, options, reply, service};
use crate::support::{Answer, Service, json_request};

/// A chat as a frontend keeps it: only texts.
struct Chat<'a> {
    service: &'a Service,
    messages: Vec<Value>,
    headers: Vec<(&'static str, &'static str)>,
    more: Value,
}

impl Chat<'_> {
    async fn post(&self) -> Answer {
        let mut body = json!({"model": "shop", "messages": self.messages});
        for (key, value) in self.more.as_object().into_iter().flatten() {
            body[key] = value.clone();
        }
        let mut request = json_request("/v1/chat/completions");
        for (name, value) in &self.headers {
            request = request.header(*name, *value);
        }
        self.service.send(request.body(body.to_string().into()).expect("a request")).await
    }

    async fn say(&mut self, text: &str) -> Value {
        self.messages.push(json!({"role": "user", "content": text}));
        let answer = self.post().await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let answer = answer.json();
        let message = &answer["choices"][0]["message"];
        self.messages.push(json!({"role": "assistant", "content": message["content"]}));
        answer
    }
}

fn chat(service: &Service) -> Chat<'_> {
    Chat { service, messages: Vec::new(), headers: Vec::new(), more: json!({}) }
}

fn text(answer: &Value) -> &str {
    answer["choices"][0]["message"]["content"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn the_words_of_the_result_are_the_answer() {
    let shop = Shop::good().await;
    let service = service(&shop, "", &options());
    let mut chat = chat(&service);
    chat.say("I want to order shoes").await;
    chat.say("size 42").await;
    let asked = chat.say("red").await;
    assert_eq!(asked["uptake"]["question"]["about"]["kind"], "confirm", "{asked}");
    let done = chat.say("yes").await;
    assert_eq!(text(&done), "Order S-17 is on its way.");
    assert_eq!(done["choices"][0]["finish_reason"], "stop");
    assert!(done["choices"][0]["message"].get("tool_calls").is_none());
    assert_eq!(shop.asked().len(), 1);
    // The chat continues, and the call is not repeated.
    let after = chat.say("thanks").await;
    assert_eq!(after["uptake"]["outcome"], "no_match", "{after}");
    assert_eq!(shop.asked().len(), 1);
}

#[tokio::test]
async fn after_a_failure_a_yes_tries_again() {
    let shop =
        Shop::replying(vec![reply(409, &json!({"detail": "closed until noon"})), reply(201, &json!({"id": "S-2"}))])
            .await;
    let service = service(&shop, "", &options());
    let mut chat = chat(&service);
    chat.say("order red shoes in size 42").await;
    let failed = chat.say("yes").await;
    assert!(text(&failed).contains("closed until noon"), "{failed}");
    assert_eq!(failed["uptake"]["outcome"], "ask");
    let done = chat.say("yes").await;
    assert_eq!(text(&done), "Order S-2 is on its way.");
    assert_eq!(shop.asked().len(), 2);
}

#[tokio::test]
async fn a_request_that_is_sent_again_is_done_once() {
    let shop = Shop::good().await;
    let service = service(&shop, "", &options());
    for headers in
        [vec![("x-stainless-retry-count", "1")], vec![("idempotency-key", "a")], vec![("x-openwebui-chat-id", "b")]]
    {
        let before = shop.asked().len();
        let mut chat = chat(&service);
        chat.headers = headers.clone();
        chat.say("order red shoes in size 42").await;
        chat.messages.push(json!({"role": "user", "content": "yes"}));
        if headers[0].0 == "x-stainless-retry-count" {
            chat.headers = vec![("x-stainless-retry-count", "0")];
        }
        let first = chat.post().await.json();
        chat.headers = headers.clone();
        let again = chat.post().await.json();
        assert_eq!((text(&first), text(&again)), ("Order S-17 is on its way.", "Order S-17 is on its way."));
        assert_eq!(shop.asked().len(), before + 1, "{headers:?}");
    }
    // A person who says the same in another chat wants it done again.
    let before = shop.asked().len();
    for _ in 0..2 {
        let mut chat = chat(&service);
        chat.say("order black shoes in size 43").await;
        chat.say("yes").await;
    }
    assert_eq!(shop.asked().len(), before + 2);
}

#[tokio::test]
async fn a_client_with_a_tool_of_its_own_calls_it() {
    let shop = Shop::good().await;
    let service = service(&shop, "", &options());
    let schema: Value = serde_json::from_str(super::shop::SCHEMA).expect("JSON");
    for mode in ["ignore", "add"] {
        let mut chat = chat(&service);
        chat.more = json!({"tools": [{"type": "function", "function": schema[0]}], "uptake": {"tools": mode}});
        chat.say("order red shoes in size 42").await;
        let called = chat.say("yes").await;
        let name = &called["choices"][0]["message"]["tool_calls"][0]["function"]["name"];
        assert_eq!(name, "order_shoes", "{mode}: {called}");
        assert!(shop.asked().is_empty());
    }
    // A function that the request did not offer is called by the service.
    let mut chat = chat(&service);
    chat.more = json!({"tools": [{"type": "function", "function": schema[0]}], "uptake": {"tools": "add"}});
    let done = chat.say("track order 71").await;
    assert_eq!((done["uptake"]["outcome"].as_str(), shop.asked().len()), (Some("done"), 1), "{done}");
}

#[tokio::test]
async fn nothing_is_called_where_no_call_is_wanted() {
    let shop = Shop::good().await;
    let service = service(&shop, "", &options());
    let mut chat = chat(&service);
    chat.more = json!({"tool_choice": "none"});
    let told = chat.say("track order 71").await;
    assert_eq!(told["uptake"]["outcome"], "call", "{told}");
    assert!(shop.asked().is_empty());
}

#[tokio::test]
async fn a_streamed_answer_has_the_words() {
    let shop = Shop::good().await;
    let service = service(&shop, "", &options());
    let mut chat = chat(&service);
    chat.say("order red shoes in size 42").await;
    chat.messages.push(json!({"role": "user", "content": "yes"}));
    chat.more = json!({"stream": true});
    let stream = chat.post().await.text;
    assert!(stream.contains("S-17 is on its way") && stream.trim_end().ends_with("[DONE]"), "{stream}");
    assert!(!stream.contains("tool_calls"), "{stream}");
    assert_eq!(shop.asked().len(), 1);
}
