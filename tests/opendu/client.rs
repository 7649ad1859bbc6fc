//! A small client of either generation, which sends requests in the order of the real ones and accepts only values that
//! it finds in what it sent: utterances lower-cased and trimmed, SKILL first, then SLOT for each decision with the
//! decision's own utterance, BINARY while a yes-or-no question is open; any status but 200 counts as an empty answer.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::Service;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Generation {
    Newer,
    Older,
}

/// The bot's last utterance.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Prompt {
    pub(super) text: &'static str,
    /// The frame that it is busy with, and the slot that it asks for.
    pub(super) expects: Option<(&'static str, Option<&'static str>)>,
    /// Whether it is a yes-or-no question.
    pub(super) is_question: bool,
}

pub(super) struct Client<'a> {
    pub(super) service: &'a Service,
    pub(super) module: &'static str,
    pub(super) generation: Generation,
    /// The slots of each frame, from the client's own definition of the bot.
    pub(super) frames: &'static [(&'static str, &'static [&'static str])],
}

impl Client<'_> {
    /// The client's understanding of a reply to `prompt`, for people to read.
    pub(super) async fn hear(&self, prompt: Prompt, said: &str) -> String {
        let utterance = said.to_lowercase().trim().to_owned();
        let mut told = format!("bot: {}\nperson: {said}\n", prompt.text);
        if prompt.is_question {
            let answer = self.binary(&utterance, prompt.text).await;
            writeln!(told, "  says {answer}").expect("a string");
            if answer != "Irrelevant" {
                return told;
            }
        }
        let decisions = self.skill(&utterance, prompt).await;
        let mut understood = false;
        for decision in &decisions {
            let is_dropped =
                decision["evidence"].as_array().into_iter().flatten().any(|one| one["label"] == "Negative");
            let Some(owner) = decision["owner"].as_str().filter(|_| !is_dropped) else { continue };
            let segment = decision["utterance"].as_str().expect("the utterance of a decision");
            writeln!(told, "  wants {owner}, by {segment:?}").expect("a string");
            self.fill(&mut told, owner, segment, prompt).await;
            understood = true;
        }
        if !understood && let Some((frame, _)) = prompt.expects.filter(|_| !decisions.is_empty()) {
            understood = self.fill(&mut told, frame, &utterance, prompt).await;
        }
        if !understood {
            told.push_str("  is not understood\n");
        }
        told
    }

    /// Asks for the slots of a frame; true if any has a value.
    async fn fill(&self, told: &mut String, frame: &str, utterance: &str, prompt: Prompt) -> bool {
        let slots = self.frames.iter().find(|(name, _)| *name == frame).map_or(&[][..], |(_, slots)| *slots);
        let expected: Vec<&str> =
            prompt.expects.filter(|(of, _)| *of == frame).and_then(|(_, slot)| slot).into_iter().collect();
        let body = match self.generation {
            Generation::Newer => json!({
                "mode": "SLOT", "utterance": utterance, "targetFrame": frame, "slots": slots, "candidates": {},
                "expectedSlots": expected}),
            Generation::Older => json!({
                "mode": "SLOT", "utterance": utterance, "targetFrame": frame,
                "slots": slots.iter().map(|slot| json!({"name": slot, "description": slot})).collect::<Vec<_>>()}),
        };
        let answer = self.ask(&body).await;
        let mut any = false;
        for slot in slots {
            let values = answer[slot]["values"].as_array().cloned().unwrap_or_default();
            let found: Vec<&str> =
                values.iter().filter_map(Value::as_str).filter(|value| utterance.contains(value)).collect();
            if found.is_empty() {
                continue;
            }
            any = true;
            let operator = answer[slot]["operator"].as_str().unwrap_or("==");
            writeln!(told, "    {frame}.{slot} {operator} {}", found.join(", ")).expect("a string");
        }
        any
    }

    async fn skill(&self, utterance: &str, prompt: Prompt) -> Vec<Value> {
        let body = match self.generation {
            Generation::Newer => json!({
                "mode": "SKILL", "utterance": utterance, "candidates": {},
                "expectedFrames": prompt.expects.map(|(frame, _)| frame).into_iter().collect::<Vec<_>>()}),
            Generation::Older => json!({
                "mode": "SKILL", "utterance": utterance,
                "expectations": prompt.expects
                    .map(|(frame, slot)| json!({"frame": frame, "slot": slot, "slotType": "java.lang.String"}))
                    .into_iter().collect::<Vec<_>>()}),
        };
        self.ask(&body).await.as_array().cloned().unwrap_or_default()
    }

    async fn binary(&self, utterance: &str, question: &str) -> String {
        let body = match self.generation {
            Generation::Newer => json!({"mode": "BINARY", "utterance": utterance, "question": question}),
            Generation::Older => json!({"mode": "BINARY", "utterance": utterance, "questions": [question]}),
        };
        let answer = self.ask(&body).await;
        let answer = match self.generation {
            Generation::Newer => answer,
            Generation::Older => answer[0].clone(),
        };
        answer.as_str().unwrap_or("nothing").to_owned()
    }

    async fn ask(&self, body: &Value) -> Value {
        let answer = self.service.post(&format!("/v1/predict/{}", self.module), body.to_string()).await;
        if answer.status == 200 { answer.json() } else { Value::Null }
    }
}
