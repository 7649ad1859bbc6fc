//! An answer without a call has a text.

use serde_json::{Value, json};

use super::{SEATTLE, asking_weather, bank, calls, complete, read, user, with};
use crate::support::Service;

fn content(completion: &Value) -> &str {
    completion["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("no words: {completion}"))
}

/// The answer after these results of the calls for `body`, in order.
async fn after(service: &Service, body: &Value, results: &[&str]) -> Value {
    let message = read(&complete(service, body).await)["choices"][0]["message"].clone();
    let ids: Vec<Value> =
        message["tool_calls"].as_array().expect("calls").iter().map(|call| call["id"].clone()).collect();
    let mut body = body.clone();
    let messages = body["messages"].as_array_mut().expect("messages");
    messages.push(message);
    for (id, result) in ids.into_iter().zip(results) {
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
    }
    read(&complete(service, &body).await)
}

#[tokio::test]
async fn small_talk_is_answered_and_nothing_is_called() {
    let service = bank();
    for model in ["bank", "uptake"] {
        for (said, expected) in [
            ("hello", "Hello! What can I do for you?"),
            ("Thanks a lot!", "You're welcome."),
            ("bye", "Goodbye!"),
            ("sing me an aria", "I'm sorry, I can't help with that."),
            ("cancel that", "All right, there is nothing left to cancel."),
        ] {
            let completion = read(&complete(&service, &json!({"model": model, "messages": user(said)})).await);
            assert!(content(&completion).starts_with(expected), "{model} {said}: {completion}");
            assert_eq!(completion["uptake"]["reply"], content(&completion), "{completion}");
            assert_eq!(completion["uptake"]["outcome"], "no_match", "{completion}");
        }
    }
    let able = read(&complete(&service, &json!({"model": "bank", "messages": user("sing me an aria")})).await);
    assert!(
        content(&able).ends_with("What I can do: send money to another person; tell how much money is in the account."),
        "{able}"
    );
    let service = Service::new(&["weather"]);
    let german = json!({"uptake": {"language": "de"}});
    let completion = read(&complete(&service, &with(&asking_weather("hello"), &german)).await);
    assert_eq!(content(&completion), "Hallo! Was kann ich für Sie tun?");
}

#[tokio::test]
async fn a_result_is_told() {
    let service = Service::new(&["weather"]);
    let asking = asking_weather(SEATTLE);
    for (result, expected) in [
        ("Cold: 3 degrees.", "Cold: 3 degrees."),
        ("{\"temperature\": 3, \"sky\": \"clear\"}", "Temperature 3, sky clear"),
        ("{\"result\": \"{\\\"temperature\\\": 3}\"}", "Temperature 3"),
        ("{\"result\": \"Cold: 3 degrees.\"}", "Cold: 3 degrees."),
        ("{\"result\": \"Error: no such city\"}", "I'm sorry, that didn't work: no such city."),
        ("", "Nothing was found."),
        ("[]", "Nothing was found."),
        ("User rejected the tool call.", "All right, I won't."),
        ("Error: no such city", "I'm sorry, that didn't work: no such city."),
        ("{\"error\": {\"message\": \"no such city\"}}", "I'm sorry, that didn't work: no such city."),
    ] {
        let completion = after(&service, &asking, &[result]).await;
        assert_eq!(content(&completion), expected, "{result}");
        assert_eq!(calls(&completion), [], "{completion}");
    }
    let answered = json!({"role": "assistant", "content": "Cold."});
    let mut body = asking.clone();
    body["messages"].as_array_mut().expect("messages").push(answered);
    assert!(!content(&read(&complete(&service, &body).await)).is_empty());
}

#[tokio::test]
async fn what_is_still_open_is_asked_after_a_result() {
    let service = bank();
    let mut body = json!({"model": "bank", "messages": user("send money to mum")});
    let asked = read(&complete(&service, &body).await)["choices"][0]["message"].clone();
    let messages = body["messages"].as_array_mut().expect("messages");
    messages.extend([asked, json!({"role": "user", "content": "what is my balance"})]);
    let completion = read(&complete(&service, &body).await);
    let question = completion["uptake"]["reply"].as_str().unwrap_or_default().to_owned();
    assert!(question.ends_with("How much?"), "{completion}");
    assert_eq!(calls(&completion).len(), 1, "{completion}");
    let completion = after(&service, &body, &["{\"balance\": 1200}"]).await;
    assert_eq!(content(&completion), format!("Balance 1200\n{question}"));
}

#[tokio::test]
async fn what_is_not_to_be_called_is_told() {
    let service = Service::new(&["weather"]);
    let completion = read(&complete(&service, &with(&asking_weather(SEATTLE), &json!({"tool_choice": "none"}))).await);
    assert!(
        content(&completion).starts_with("I understood: get the weather forecast for the next days in a place ("),
        "{completion}"
    );
}

#[tokio::test]
async fn a_stream_has_the_words() {
    let service = Service::new(&["weather"]);
    let body = with(&asking_weather("hello"), &json!({"stream": true}));
    let answer = complete(&service, &body).await;
    assert!(answer.text.contains("\"content\":\"Hello! What can I do for you?\""), "{}", answer.text);
}

#[tokio::test]
async fn a_prediction_has_the_same_sentence_beside_its_answer() {
    let service = Service::new(&["weather"]);
    let completion = read(&service.post("/v1/predict/weather", json!({"utterance": "hello"}).to_string()).await);
    assert_eq!(completion["choices"][0]["message"]["content"], json!(null));
    assert_eq!(completion["uptake"]["reply"], "Hello! What can I do for you?");
    let asked = json!({"utterance": "what is the weather like right now"}).to_string();
    let completion = read(&service.post("/v1/predict/weather", asked).await);
    assert_eq!(completion["uptake"]["reply"], completion["choices"][0]["message"]["content"], "{completion}");
    let called = read(&service.post("/v1/predict/weather", json!({"utterance": SEATTLE}).to_string()).await);
    assert_eq!(called["uptake"].get("reply"), None);
}
