//! A turn as the chat completion or response that clients of the `OpenAI` API read; our additions are in `uptake`.
//! Pure.

mod action;
mod alternative;
mod body;
pub mod chunk;
pub mod event;
mod explanation;
mod kept;
pub mod response;
mod retrieved;
mod schema;
mod understanding;

pub use action::ActionBody;
pub use alternative::AlternativeBody;
pub use body::{
    AboutBody, AttemptBody, CandidateBody, ChatCompletion, Choice, EvidenceBody, ExchangeBody, FunctionCall,
    HandoffBody, MentionBody, Message, QuestionBody, SessionBody, SlotBody, SlotValueBody, TimingsBody, ToolCall,
    Understood, Uptake, Usage, ViolationBody,
};
pub use explanation::{ExplanationBody, LeftOverBody, PartBody, ProposalBody};
pub use kept::{ExpectsBody, FinishedBody, ObservedCall, SessionView, StateAfterTurn};
pub use retrieved::{Retrieved, RetrievedDetails, ToolBody, ToolFunction};
pub use schema::json_schema;
pub use understanding::{CallBody, Understanding};

use std::time::{SystemTime, UNIX_EPOCH};

use uuid::Uuid;

use crate::{
    call::{self, Call, SlotValue, Violation},
    conversation::Pending,
    module::{FunctionId, Module, OwnerMode, SlotId, SlotPath},
    recognize::Mention,
    retrieve::{Candidate, DocumentSource, Evidence},
    text::Span,
    understand::{Attempt, Frame, Outcome, Question, Turn},
};

/// Returned in place of an object if the text does not contain one.
const NOTHING_FITS: &str = "Nothing in the text gives the object that was asked for.";

/// What differs between two answers to the same turn: ids and the time.
#[derive(Debug, Clone)]
pub struct Stamp {
    pub id: String,
    /// Seconds since 1970.
    pub created: u64,
    /// Makes the id of a further tool call.
    pub call_id: fn() -> String,
}

impl Stamp {
    #[must_use]
    pub fn now() -> Self {
        Self {
            id: format!("chatcmpl-{}", Uuid::new_v4().simple()),
            created: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            call_id: || format!("call_{}", Uuid::new_v4().simple()),
        }
    }
}

/// How a client wants to receive calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Delivery {
    /// As `tool_calls`, at most `most` if given. `named`: the client chose the function.
    Tools { named: bool, most: Option<usize> },
    /// As `function_call`, at most one.
    Function { named: bool },
    /// Its arguments as the text of the message.
    Object,
    /// Not at all.
    Withheld,
    /// In words: the client offers no tool for it.
    Told,
    /// As `tool_calls`; a message without calls may have no text.
    #[default]
    Plain,
}

impl ChatCompletion {
    /// `module` must be the one that `turn` came from, since the turn's ids point into it.
    #[must_use]
    pub fn new(module: &Module, turn: &Turn, stamp: Stamp) -> Self {
        Self::delivered(module, turn, stamp, Delivery::Plain)
    }

    /// [`Self::new`], with the call in the form that the client wants.
    #[must_use]
    pub fn delivered(module: &Module, turn: &Turn, stamp: Stamp, delivery: Delivery) -> Self {
        let (message, finish_reason) = message(module, turn, stamp.call_id, delivery);
        let mut uptake = uptake(module, turn);
        let left_out = match (&turn.outcome, delivery) {
            (Outcome::Call(calls), Delivery::Tools { most: Some(most), .. }) => calls.len().saturating_sub(most),
            (Outcome::Call(calls), Delivery::Function { .. } | Delivery::Object) => calls.len() - 1,
            (Outcome::Call(calls), Delivery::Withheld) => calls.len(),
            _ => 0,
        };
        if left_out > 0 {
            uptake.notes.push(format!("the request allows fewer calls: {left_out} that were understood are left out"));
        }
        Self {
            id: stamp.id,
            object: "chat.completion",
            created: stamp.created,
            model: module.name.to_string(),
            choices: vec![Choice { index: 0, finish_reason, message, logprobs: () }],
            usage: turn.usage.into(),
            system_fingerprint: fingerprint(module),
            uptake,
        }
    }
}

fn fingerprint(module: &Module) -> String {
    format!("fp_{}", module.version.chars().take(12).collect::<String>())
}

fn message(module: &Module, turn: &Turn, call_id: fn() -> String, delivery: Delivery) -> (Message, &'static str) {
    let mut message =
        Message { role: "assistant", content: None, refusal: None, tool_calls: None, function_call: None };
    let mut finish_reason = "stop";
    let said = || turn.reply().map(str::to_owned);
    match (&turn.outcome, delivery) {
        (Outcome::Call(calls), Delivery::Plain | Delivery::Tools { .. }) => {
            let (named, most) = match delivery {
                Delivery::Tools { named, most } => (named, most.unwrap_or(usize::MAX)),
                _ => (false, usize::MAX),
            };
            let calls = calls.iter().take(most.max(1)).map(|call| tool_call(module, call, call_id()));
            message.tool_calls = Some(calls.collect());
            if !named {
                finish_reason = "tool_calls";
            }
        }
        (Outcome::Call(calls), Delivery::Function { named }) => {
            message.function_call = calls.first().map(|call| function_call(module, call));
            if !named {
                finish_reason = "function_call";
            }
        }
        (Outcome::Call(calls), Delivery::Object) => message.content = calls.first().map(arguments),
        (Outcome::NoMatch, Delivery::Object) => message.refusal = Some(NOTHING_FITS.to_owned()),
        (_, Delivery::Object) => message.refusal = said(),
        // For no match there is no text here; it is in `uptake.reply`.
        (Outcome::NoMatch, Delivery::Plain) => {}
        // Clients of the chat API expect text in a message without calls.
        _ => message.content = Some(said().unwrap_or_default()),
    }
    (message, finish_reason)
}

fn uptake(module: &Module, turn: &Turn) -> Uptake {
    Uptake {
        outcome: turn.outcome.name(),
        confidence: probability(turn.confidence),
        decided_by: turn.decided_by.name(),
        module_version: module.version.clone(),
        question: match &turn.outcome {
            Outcome::Ask(question) => Some(asked(module, question)),
            _ => turn.pending.as_ref().map(|question| asked(module, question)),
        },
        handoff: match &turn.outcome {
            Outcome::Handoff { reason, function, .. } => {
                let function = function.map(|id| name_of(module, id));
                Some(HandoffBody { reason: reason.name(), function })
            }
            _ => None,
        },
        reply: turn.reply().map(str::to_owned),
        calls: turn.frames.iter().map(|frame| understood(module, frame)).collect(),
        candidates: turn.trace.candidates.iter().map(|found| candidate(module, found)).collect(),
        alternatives: turn.trace.alternatives.iter().map(|one| alternative::alternative(module, one)).collect(),
        explanations: turn.trace.explanations.iter().map(|one| explanation::explanation(module, one)).collect(),
        mentions: turn.trace.mentions.iter().map(|found| mention(module, found)).collect(),
        actions: turn.deeds.iter().map(action::action).collect(),
        attempts: turn.trace.attempts.iter().map(attempt).collect(),
        notes: turn.trace.notes.clone(),
        state: None,
        session: None,
        turn: None,
        summary: None,
        timings_ms: turn.trace.timings.into(),
    }
}

fn tool_call(module: &Module, call: &Call, id: String) -> ToolCall {
    ToolCall { id, kind: "function", function: function_call(module, call) }
}

fn function_call(module: &Module, call: &Call) -> FunctionCall {
    FunctionCall { name: name_of(module, call.function()), arguments: arguments(call) }
}

/// An empty map is written as `{}`, which is what clients expect of a call without arguments.
fn arguments(call: &Call) -> String {
    serde_json::to_string(call.arguments()).expect("a map of JSON values is JSON")
}

fn name_of(module: &Module, function: FunctionId) -> String {
    module.function(function).name.clone()
}

fn asked(module: &Module, question: &Question) -> QuestionBody {
    let about = match &question.about {
        Pending::Missing { function, .. } => {
            let (function, mut slots) = (name_of(module, *function), paths(&question.about.slots()));
            match slots.pop() {
                Some(slot) if slots.is_empty() => AboutBody::Missing { function, slot },
                last => AboutBody::Group { function, slots: slots.into_iter().chain(last).collect() },
            }
        }
        Pending::Invalid { function, aside } => {
            AboutBody::Invalid { function: name_of(module, *function), path: aside.pointer.clone() }
        }
        Pending::Rule { function, broken } => {
            let rule = broken.check.clone();
            AboutBody::Rule { function: name_of(module, *function), rule, slots: paths(&broken.slots) }
        }
        Pending::Confirm { function } => AboutBody::Confirm { function: name_of(module, *function) },
        Pending::Change { function } => AboutBody::Change { function: name_of(module, *function) },
        Pending::Tie { functions } => {
            AboutBody::Tie { functions: functions.iter().map(|function| name_of(module, *function)).collect() }
        }
    };
    QuestionBody { text: question.text.clone(), about }
}

fn paths(slots: &[SlotPath]) -> Vec<String> {
    slots.iter().map(ToString::to_string).collect()
}

fn understood(module: &Module, frame: &Frame) -> Understood {
    Understood {
        function: name_of(module, frame.function),
        confidence: probability(frame.confidence),
        segment: pair(frame.segment),
        slots: slots(module, frame),
        missing: frame.missing.iter().map(ToString::to_string).collect(),
        invalid: frame.invalid.iter().map(violation).collect(),
    }
}

fn slots(module: &Module, frame: &Frame) -> Vec<(String, SlotBody)> {
    let function = module.function(frame.function);
    let is = frame.slots.iter().map(|value| (value, true));
    let all = is.chain(frame.excluded.iter().map(|value| (value, false)));
    let mut placed: Vec<(Option<SlotId>, &SlotValue, bool)> =
        all.map(|(value, is)| (function.slot_of(&value.pointer), value, is)).collect();
    placed.sort_by_key(|(slot, ..)| slot.map_or(usize::MAX, SlotId::index));
    let mut slots: Vec<(String, SlotBody)> = Vec::with_capacity(placed.len());
    for (slot, value, is) in placed {
        let place = slot.map_or_else(|| value.path(), |slot| function.slot(slot).path.clone());
        let path = place.to_string();
        let known = slots.iter_mut().find(|(known, _)| *known == path);
        let value = slot_value(value, is, place.is_repeated());
        match known {
            Some((_, SlotBody::Many(values))) => values.push(value),
            // "on Friday, not on Tuesday"
            Some((_, one @ SlotBody::One(_))) => {
                let SlotBody::One(first) = std::mem::replace(one, SlotBody::Many(Vec::new())) else { continue };
                *one = SlotBody::Many(vec![*first, value]);
            }
            None if place.is_repeated() => slots.push((path, SlotBody::Many(vec![value]))),
            None => slots.push((path, SlotBody::One(Box::new(value)))),
        }
    }
    slots
}

/// `is` unless the value is ruled out.
fn slot_value(known: &SlotValue, is: bool, is_repeated: bool) -> SlotValueBody {
    let from = match known.from {
        call::Source::Said if known.span.is_some() => "utterance",
        call::Source::Said | call::Source::Carried | call::Source::Withdrawn => "earlier",
        call::Source::Choice => "choice",
        call::Source::Default => "default",
        call::Source::Generated => "generated",
    };
    SlotValueBody {
        operator: if is { "==" } else { "!=" },
        value: known.value.clone(),
        text: known.text.clone(),
        span: known.span.map(pair),
        recognizer: known.recognizer.clone(),
        confidence: probability(known.confidence),
        from,
        pointer: (is && is_repeated).then(|| known.pointer.clone()),
        unread: known.unread.clone(),
    }
}

fn violation(violation: &Violation) -> ViolationBody {
    ViolationBody {
        kind: serde_json::to_value(violation.kind).expect("a unit variant is a string"),
        path: violation.path.clone(),
        found: violation.found.clone(),
        expected: violation.expected.clone(),
    }
}

fn candidate(module: &Module, candidate: &Candidate) -> CandidateBody {
    CandidateBody {
        function: name_of(module, candidate.function),
        score: probability(candidate.score),
        negative: candidate.negative.map(probability),
        evidence: candidate.evidence.iter().map(|found| evidence(module, candidate.function, found)).collect(),
    }
}

fn evidence(module: &Module, function: FunctionId, evidence: &Evidence) -> EvidenceBody {
    let function = module.function(function);
    let (source, text, mode) = match evidence.source {
        DocumentSource::Description => ("description", function.description.clone(), None),
        DocumentSource::Exemplar { id, mode } => {
            let mode = match mode {
                OwnerMode::Normal => "normal",
                OwnerMode::Extended => "extended",
                OwnerMode::Negative => "negative",
            };
            ("exemplar", function.exemplars[id.index()].template.clone(), Some(mode))
        }
    };
    EvidenceBody {
        source,
        text,
        mode,
        dense: probability(evidence.dense),
        lexical: probability(evidence.lexical),
        score: probability(evidence.score),
    }
}

fn mention(module: &Module, mention: &Mention) -> MentionBody {
    MentionBody {
        recognizer: module.recognizer(mention.recognizer).name.clone(),
        text: mention.text.clone(),
        span: pair(mention.span),
        value: mention.value.clone(),
        score: probability(mention.score),
    }
}

fn attempt(attempt: &Attempt) -> AttemptBody {
    AttemptBody {
        server: attempt.server.clone(),
        stage: attempt.stage,
        usage: attempt.usage.into(),
        cached: attempt.cached,
        repairs: attempt.repairs.clone(),
        violations: attempt.violations.iter().map(violation).collect(),
        failure: attempt.failure,
        exchange: attempt
            .exchange
            .as_deref()
            .map(|exchange| ExchangeBody { request: exchange.request.clone(), reply: exchange.reply.clone() }),
    }
}

const fn pair(span: Span) -> [usize; 2] {
    [span.start, span.end]
}

/// Rounds to four digits: `0.94`, where the `f32` would be written `0.9399999976158142`.
fn probability(value: f32) -> f64 {
    rounded(f64::from(value), 1e4)
}

fn milliseconds(value: f64) -> f64 {
    rounded(value, 1e3)
}

fn rounded(value: f64, scale: f64) -> f64 {
    let rounded = (value * scale).round() / scale;
    if rounded.is_finite() { rounded } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        call::{Proposal, Validator, Verdict, ViolationKind},
        llm,
        module::fixture,
        module::{ExemplarId, PathStep, RecognizerId, SlotPath},
        text::Utterance,
        understand::{DecidedBy, Timings, Trace},
    };

    fn stamp() -> Stamp {
        Stamp { id: "chatcmpl-1".into(), created: 1_790_000_000, call_id: || "call_1".into() }
    }

    fn key(key: &str) -> PathStep {
        PathStep::Key(key.into())
    }

    fn said(pointer: &str, value: Value, at: (usize, usize), text: &str) -> SlotValue {
        let (text, span, recognizer) = (Some(text.into()), Some(at.into()), Some("city".into()));
        SlotValue { text, span, recognizer, ..SlotValue::unsaid(pointer.into(), value, call::Source::Said, 0.98) }
    }

    fn turn(outcome: Outcome, frames: Vec<Frame>) -> Turn {
        Turn {
            outcome,
            confidence: 0.94,
            decided_by: DecidedBy::Local,
            frames,
            trace: Trace {
                timings: Timings { embed: 2.123_456, total: 2.9, ..Timings::default() },
                ..Trace::default()
            },
            usage: llm::Usage::default(),
            pending: None,
            remark: None,
            is_answered: false,
            deeds: Vec::new(),
        }
    }

    fn frame(slots: Vec<SlotValue>) -> Frame {
        Frame {
            function: FunctionId::from_index(0),
            confidence: 0.9,
            segment: Span::new(0, 27),
            slots,
            excluded: Vec::new(),
            missing: Vec::new(),
            invalid: Vec::new(),
        }
    }

    fn answered(turn: &Turn) -> Value {
        serde_json::to_value(ChatCompletion::new(&fixture::module(), turn, stamp())).unwrap()
    }

    #[test]
    fn an_ask_has_a_question_and_no_tool_calls() {
        let about = Pending::Missing { function: FunctionId::from_index(0), pointers: vec!["/location".to_owned()] };
        let mut frame = frame(vec![said("/format", json!("celsius"), (31, 38), "celsius")]);
        frame.missing.push(SlotPath(vec![key("location")]));
        frame.invalid.push(Violation {
            kind: ViolationKind::NotAChoice,
            path: "/format".into(),
            found: Some(json!("kelvin")),
            expected: "celsius or fahrenheit".into(),
            readings: Vec::new(),
        });
        let turn = turn(Outcome::Ask(Question { text: "Where?".into(), about }), vec![frame]);
        assert_eq!(
            answered(&turn),
            json!({
                "id": "chatcmpl-1", "object": "chat.completion", "created": 1_790_000_000, "model": "weather",
                "choices": [{
                    "index": 0,
                    "message": {"role": "assistant", "content": "Where?", "refusal": null},
                    "logprobs": null,
                    "finish_reason": "stop",
                }],
                "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
                "system_fingerprint": "fp_b3f1b3f1b3f1",
                "uptake": {
                    "outcome": "ask", "confidence": 0.94, "decided_by": "local", "module_version": "b3f1b3f1b3f1b3f1",
                    "question": {
                        "text": "Where?",
                        "about": {"kind": "missing", "function": "get_current_weather", "slot": "location"},
                    },
                    "reply": "Where?",
                    "calls": [{
                        "function": "get_current_weather", "confidence": 0.9, "segment": [0, 27],
                        "slots": {"format": {
                            "operator": "==", "value": "celsius", "text": "celsius", "span": [31, 38], "recognizer": "city",
                            "confidence": 0.98, "from": "utterance",
                        }},
                        "missing": ["location"],
                        "invalid": [{
                            "kind": "not_a_choice", "path": "/format", "found": "kelvin",
                            "expected": "celsius or fahrenheit",
                        }],
                    }],
                    "candidates": [], "mentions": [],
                    "timings_ms": {
                        "recognize": 0.0, "embed": 2.123, "retrieve": 0.0, "decide": 0.0, "llm": 0.0, "total": 2.9,
                    },
                },
            })
        );
    }

    /// A call, which only the validator can make.
    fn call(utterance: &str, seen: &str, location: &str) -> Call {
        let module = fixture::module();
        let utterance = Utterance::new(utterance);
        let at = utterance.text().find(seen).expect("said");
        let mention = Mention {
            others: Vec::new(),
            unread: Vec::new(),
            recognizer: RecognizerId::from_index(0),
            span: utterance.span_of_bytes(at..at + seen.len()),
            text: seen.into(),
            value: location.into(),
            score: 1.0,
        };
        let proposal = Proposal {
            function: FunctionId::from_index(0),
            arguments: json!({"location": location}).as_object().expect("an object").clone(),
        };
        let evidence =
            crate::call::Evidence { utterance: &utterance, earlier: &[], mentions: &[mention], negated: &[] };
        let validator = Validator::compile(&module).expect("a good schema");
        match validator.validate(&module.functions[0], proposal, &evidence) {
            Verdict::Valid { call, .. } => call,
            Verdict::Invalid { violations, .. } => panic!("{violations:?}"),
        }
    }

    #[test]
    fn a_call_is_what_clients_of_the_api_read() {
        let calls = vec![call("weather in evergreen", "evergreen", "Seattle, WA")];
        let answer = answered(&turn(Outcome::Call(calls), vec![frame(Vec::new())]));
        assert_eq!(
            answer["choices"],
            json!([{
                "index": 0,
                "message": {"role": "assistant", "content": null, "refusal": null, "tool_calls": [{
                    "id": "call_1", "type": "function",
                    "function": {"name": "get_current_weather", "arguments": "{\"location\":\"Seattle, WA\"}"},
                }]},
                "logprobs": null,
                "finish_reason": "tool_calls",
            }])
        );
        assert_eq!(answer["uptake"]["outcome"], "call");
    }

    #[test]
    fn stamps_are_of_their_kind_and_differ() {
        let (first, second) = (Stamp::now(), Stamp::now());
        assert!(first.id.starts_with("chatcmpl-") && first.id != second.id);
        assert!((first.call_id)().starts_with("call_") && (first.call_id)() != (first.call_id)());
    }

    #[test]
    fn no_match_is_an_answer_without_words() {
        let answer = answered(&turn(Outcome::NoMatch, Vec::new()));
        assert_eq!(answer["choices"][0]["message"], json!({"role": "assistant", "content": null, "refusal": null}));
        assert_eq!(answer["choices"][0]["finish_reason"], "stop");
        assert_eq!(answer["uptake"]["calls"], json!([]));
        assert!(answer["uptake"].get("question").is_none());
    }

    #[test]
    fn slots_keep_the_schemas_order_and_arrays_give_lists() {
        let default = SlotValue::unsaid("/format".into(), json!("celsius"), call::Source::Default, 1.0);
        let frame = frame(vec![
            said("/dishes/0/name", json!("pizza"), (0, 5), "pizza"),
            default,
            said("/dishes/1/name", json!("cola"), (10, 14), "cola"),
            said("/location", json!("Seattle, WA"), (18, 27), "evergreen"),
        ]);
        let slots = answered(&turn(Outcome::NoMatch, vec![frame]))["uptake"]["calls"][0]["slots"].clone();
        let paths: Vec<&String> = slots.as_object().unwrap().keys().collect();
        assert_eq!(paths, ["location", "format", "dishes[].name"]);
        assert_eq!(
            slots["format"],
            json!({
                "operator": "==", "value": "celsius", "text": null, "span": null, "recognizer": null, "confidence": 1.0,
                "from": "default",
            })
        );
        assert_eq!(slots["dishes[].name"][1]["pointer"], "/dishes/1/name");
        assert_eq!(slots["dishes[].name"][0]["value"], "pizza");
    }

    #[test]
    fn what_is_ruled_out_has_an_operator_of_its_own() {
        let mut frame = frame(vec![
            said("/location", json!("Rome"), (0, 4), "rome"),
            said("/dishes/0/name", json!("pizza"), (5, 10), "pizza"),
        ]);
        frame.excluded = vec![
            said("/dishes/-/name", json!("fries"), (14, 19), "fries"),
            said("/location", json!("Oslo"), (24, 28), "oslo"),
            said("/format", json!("kelvin"), (30, 36), "kelvin"),
        ];
        let slots = answered(&turn(Outcome::NoMatch, vec![frame]))["uptake"]["calls"][0]["slots"].clone();
        let brief = |value: &Value| (value["operator"].clone(), value["value"].clone(), value["pointer"].clone());
        let list = |path: &str| slots[path].as_array().expect("a list").iter().map(brief).collect::<Vec<_>>();
        assert_eq!(
            list("location"),
            [(json!("=="), json!("Rome"), json!(null)), (json!("!="), json!("Oslo"), json!(null))]
        );
        assert_eq!(
            list("dishes[].name"),
            [(json!("=="), json!("pizza"), json!("/dishes/0/name")), (json!("!="), json!("fries"), json!(null))]
        );
        assert_eq!(brief(&slots["format"]), (json!("!="), json!("kelvin"), json!(null)));
    }

    #[test]
    fn evidence_is_shown_in_the_authors_words() {
        let mut turn = turn(Outcome::NoMatch, Vec::new());
        let scored = |source| Evidence { source, dense: 0.5, lexical: 0.25, score: 0.4 };
        turn.trace.candidates.push(Candidate {
            function: FunctionId::from_index(0),
            score: 0.94,
            exemplars: None,
            description: None,
            learned: None,
            share: 0.0,
            negative: Some(0.25),
            evidence: vec![
                scored(DocumentSource::Exemplar { id: ExemplarId::from_index(0), mode: OwnerMode::Normal }),
                scored(DocumentSource::Description),
            ],
        });
        turn.trace.mentions.push(Mention {
            recognizer: RecognizerId::from_index(0),
            span: Span::new(18, 27),
            text: "evergreen".into(),
            value: json!("Seattle, WA"),
            others: Vec::new(),
            unread: Vec::new(),
            score: 1.0,
        });
        turn.trace.notes.push("sure enough".into());
        let uptake = answered(&turn)["uptake"].clone();
        assert_eq!(
            uptake["candidates"],
            json!([{"function": "get_current_weather", "score": 0.94, "negative": 0.25, "evidence": [
                {"source": "exemplar", "text": "how warm is it in <location>", "mode": "normal",
                 "dense": 0.5, "lexical": 0.25, "score": 0.4},
                {"source": "description", "text": "The weather now",
                 "dense": 0.5, "lexical": 0.25, "score": 0.4},
            ]}])
        );
        assert_eq!(
            uptake["mentions"],
            json!([{"recognizer": "city", "text": "evergreen", "span": [18, 27], "value": "Seattle, WA", "score": 1.0}])
        );
        assert_eq!(uptake["notes"], json!(["sure enough"]));
    }

    #[test]
    fn numbers_that_are_none_do_not_break_the_answer() {
        let mut turn = turn(Outcome::NoMatch, Vec::new());
        turn.confidence = f32::NAN;
        turn.trace.timings.total = f64::INFINITY;
        let uptake = answered(&turn)["uptake"].clone();
        assert_eq!((&uptake["confidence"], &uptake["timings_ms"]["total"]), (&json!(0.0), &json!(0.0)));
    }
}
