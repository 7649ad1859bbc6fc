//! An utterance is analysed once, whatever happens in the conversation.

use std::{
    fs,
    sync::{Arc, atomic::Ordering},
};

use serde_json::json;
use uptake::{conversation::ConversationOptions, eval::Cases};

use super::{keeping, messages::Counting};
use crate::{
    support::{Service, shipped},
    understand::local::embedder,
};

/// Every dialogue of a shipped module, over HTTP with a session: one embedder call for each utterance.
#[tokio::test]
async fn each_utterance_is_embedded_once() {
    for module in ["shoes", "restaurant", "banking", "weather", "petstore", "delivery"] {
        let counting = Arc::new(Counting::new(embedder().await));
        let conversations = keeping("memory:", &ConversationOptions::default());
        let service = Service::keeping(&[module], Arc::<Counting>::clone(&counting), conversations);
        // The first request builds the index.
        assert_eq!(service.say(module, "hello").await.status, 200);
        let mut cases = Cases::default();
        for file in ["cases.jsonl", "dialogues.jsonl"] {
            if let Ok(text) = fs::read_to_string(shipped().join(module).join(file)) {
                cases.extend(Cases::parse(file, &text));
            }
        }
        let (mut calls, mut utterances) = (Vec::new(), 0);
        for (number, dialogue) in cases.dialogues.iter().enumerate() {
            for turn in &dialogue.turns {
                let mut body = json!({"utterance": turn.user, "strategy": "local",
                    "session_id": format!("dialogue-{number:05}"), "now": "2026-03-02T09:00:00Z"});
                if let Some(language) = &dialogue.language {
                    body["language"] = json!(language);
                }
                let before = counting.count.load(Ordering::Relaxed);
                let answer = service.post(&format!("/v1/predict/{module}"), body.to_string()).await;
                assert_eq!(answer.status, 200, "{module}: {}: {}", turn.user, answer.text);
                utterances += 1;
                let spent = counting.count.load(Ordering::Relaxed) - before;
                if spent != 1 {
                    calls.push(format!("{} ({spent})", turn.user));
                }
            }
        }
        assert!(utterances > 20 && calls.is_empty(), "{module}: {} of {utterances}: {calls:#?}", calls.len());
    }
}
