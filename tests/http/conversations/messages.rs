//! Chat completion conversations: from an echoed state, a session, or the messages alone.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use uptake::{
    conversation::ConversationOptions,
    embed::{EmbedError, Embedder, Purpose, SharedEmbedder},
};

use super::{SHOES, calls, chat, is_the_order, keeping, read, shop};
use crate::{support::Service, understand::local::embedder};

fn person(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

/// What the client adds to its messages: the answer, and a result for each call.
fn answered(completion: &Value) -> Vec<Value> {
    let message = completion["choices"][0]["message"].clone();
    let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
    let results = calls.iter().map(|call| json!({"role": "tool", "tool_call_id": call["id"], "content": "done"}));
    std::iter::once(message.clone()).chain(results).collect()
}

/// The whole dialogue, with all messages each time, or only the last one.
async fn talk(service: &Service, is_whole: bool, members: impl Fn(&Value) -> Value) -> Vec<(String, Value)> {
    let (mut messages, mut last, mut made) = (Vec::new(), Value::Null, Vec::new());
    for said in SHOES {
        messages.push(person(said));
        let sent = if is_whole { &messages[..] } else { &messages[messages.len() - 1..] };
        last = read(&chat(service, sent, &members(&last)).await);
        made.extend(calls(&last));
        messages.extend(answered(&last));
    }
    made
}

#[tokio::test]
async fn every_way_of_keeping_carries_an_order_to_its_call() {
    let service = shop(keeping("memory:", &ConversationOptions::default())).await;
    is_the_order(&talk(&service, true, |_| json!({})).await);
    is_the_order(&talk(&service, false, |_| json!({"session_id": "order-1"})).await);
    is_the_order(&talk(&service, true, |_| json!({"session_id": "order-2"})).await);
    is_the_order(&talk(&service, false, |last| json!({"state": last["uptake"]["state"]})).await);
}

#[tokio::test]
async fn a_service_without_memory_reads_the_messages_anew() {
    let forgetful = ConversationOptions { replay_entries: 0, ..ConversationOptions::default() };
    is_the_order(&talk(&shop(keeping("memory:", &forgetful)).await, true, |_| json!({})).await);
}

/// Counts the embedder calls.
pub(super) struct Counting {
    inner: SharedEmbedder,
    pub(super) count: AtomicUsize,
}

impl Counting {
    pub(super) fn new(inner: SharedEmbedder) -> Self {
        Self { inner, count: AtomicUsize::new(0) }
    }
}

impl Embedder for Counting {
    fn identity(&self) -> &str {
        self.inner.identity()
    }
    fn dimensions(&self) -> usize {
        self.inner.dimensions()
    }
    fn is_symmetric(&self) -> bool {
        self.inner.is_symmetric()
    }
    fn embed(&self, texts: Vec<String>, purpose: Purpose) -> BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedError>> {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.inner.embed(texts, purpose)
    }
}

/// A request costs only its own turn if the previous one was answered here, and the whole conversation if not.
#[tokio::test]
async fn only_what_is_new_is_understood() {
    let counting = Arc::new(Counting::new(embedder().await));
    let service = |options: &ConversationOptions| {
        Service::keeping(&["shoes"], Arc::<Counting>::clone(&counting), keeping("memory:", options))
    };
    let (warm, cold) = (
        service(&ConversationOptions::default()),
        service(&ConversationOptions { replay_entries: 0, ..ConversationOptions::default() }),
    );
    let (mut messages, mut costs) = (Vec::new(), Vec::new());
    for said in &SHOES[..8] {
        messages.push(person(said));
        let mut cost = Vec::new();
        let mut last = Value::Null;
        for service in [&warm, &cold] {
            let before = counting.count.load(Ordering::Relaxed);
            let mut completion = read(&chat(service, &messages, &json!({})).await);
            cost.push(counting.count.load(Ordering::Relaxed) - before);
            completion["uptake"]["timings_ms"] = Value::Null;
            let same = last.is_null() || (calls(&last), &last["uptake"]) == (calls(&completion), &completion["uptake"]);
            assert!(same, "{said}: {last} {completion}");
            last = completion;
        }
        messages.extend(answered(&last));
        costs.push((cost[0], cost[1]));
    }
    // The first request also builds the module's index. From then on the cold service pays for all earlier turns.
    let (warm, cold): (Vec<usize>, Vec<usize>) = costs[1..].iter().copied().unzip();
    assert!(cold.windows(2).all(|pair| pair[0] < pair[1]), "{costs:?}");
    let mut before = 0;
    for (turn, (own, all)) in warm.iter().zip(&cold).enumerate() {
        if turn > 0 {
            assert!(*own <= all - before, "turn {turn}: {costs:?}");
        }
        before = *all;
    }
}

#[tokio::test]
async fn an_assistant_in_its_own_words_does_not_end_a_form() {
    let service = shop(keeping("memory:", &ConversationOptions::default())).await;
    let messages = [
        person("I'd like to buy some black sneakers in size 9"),
        json!({"role": "assistant", "content": "Lovely! Who are they for, if I may ask?"}),
        person("my email is jane@example.com"),
    ];
    let completion = read(&chat(&service, &messages, &json!({})).await);
    let slots = &completion["uptake"]["calls"][0]["slots"];
    assert_eq!(slots["person.email"]["value"], "jane@example.com", "{completion}");
    assert_eq!(slots["item.color"]["from"], "earlier", "{completion}");
}

#[tokio::test]
async fn a_call_that_somebody_else_made_ends_its_form() {
    let service = shop(keeping("memory:", &ConversationOptions::default())).await;
    let arguments = "{\"item\":{\"style\":\"sneakers\"}}";
    let messages = [
        person("I'd like to buy some black sneakers"),
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "order_shoes", "arguments": arguments}}]}),
        json!({"role": "tool", "tool_call_id": "call_1", "content": "ordered"}),
        person("thank you so much"),
    ];
    let completion = read(&chat(&service, &messages, &json!({})).await);
    assert_eq!((calls(&completion).len(), &completion["uptake"]["calls"]), (0, &json!([])), "{completion}");
}

#[tokio::test]
async fn a_stream_tells_how_the_conversation_goes_on() {
    let service = shop(keeping("memory:", &ConversationOptions::default())).await;
    let body = json!({"model": "shoes", "stream": true, "messages": [person("I'd like to buy some shoes")],
        "uptake": {"session_id": "order-1", "strategy": "local"}});
    let answer = service.post("/v1/chat/completions", body.to_string()).await;
    assert!(answer.text.contains("\"session\":{\"id\":\"order-1\""), "{}", answer.text);
    assert_eq!(service.get("/v1/sessions/order-1").await.json()["turn"], 1);
}

/// Long messages are not understood again, and the cached state of the previous turn does not change that.
#[tokio::test]
async fn long_earlier_messages_are_only_heard() {
    let counting = Arc::new(Counting::new(embedder().await));
    let forgetful = ConversationOptions { replay_entries: 0, ..ConversationOptions::default() };
    for options in [ConversationOptions::default(), forgetful] {
        let service = Service::keeping(&["shoes"], Arc::<Counting>::clone(&counting), keeping("memory:", &options));
        let long = format!("I would like black sneakers. {}", "Well, you see, it rains. ".repeat(100));
        let mut messages = vec![person(&long)];
        read(&chat(&service, &messages, &json!({})).await);
        for _ in 0..10 {
            messages.extend([json!({"role": "assistant", "content": "Sure."}), person(&long)]);
        }
        messages.extend([json!({"role": "assistant", "content": "Sure."}), person("hello")]);
        let before = counting.count.load(Ordering::Relaxed);
        let completion = read(&chat(&service, &messages, &json!({})).await);
        assert_eq!(counting.count.load(Ordering::Relaxed) - before, 1, "{completion}");
    }
}
