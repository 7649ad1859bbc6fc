//! Decides through a model server's native function calling: the few candidates as tools, the nearest exemplars as
//! few-shot turns, the mentions as hints. What comes back is repaired, validated, and sent back with what was wrong.

use std::time::Instant;

use futures::future::BoxFuture;

use super::{Decision, Situation, Strategy};
use crate::{
    call::{Call, Evidence, Proposal, Verdict, Violation, ViolationKind, repair},
    llm::{ChatReply, ChatRequest, LlmError, Message, SharedChatModel, ToolCall, ToolChoice, Usage, strict},
    module::{FunctionId, SlotPath},
    text::Span,
    understand::{Attempt, DecidedBy, Frame, Outcome, TurnError, belief, milliseconds, prompt, question},
};

/// See [the module](self).
#[derive(Clone)]
pub(in crate::understand) struct Tools {
    chat: SharedChatModel,
}

impl Tools {
    pub(in crate::understand) const fn new(chat: SharedChatModel) -> Self {
        Self { chat }
    }
}

impl Strategy for Tools {
    fn decide<'a>(&'a self, situation: &'a Situation<'a>) -> BoxFuture<'a, Result<Decision, TurnError>> {
        Box::pin(self.converse(situation))
    }
}

/// One reply, read and judged.
enum Reading {
    /// The model says that no function fits.
    Nothing,
    Valid(Box<(Frame, Call)>),
    /// What is right of the call, and what was wrong with it. `said` is the call in the model's own words.
    Partial {
        frame: Box<Frame>,
        violations: Vec<Violation>,
        said: ToolCall,
    },
    /// No call of any candidate could be made out.
    Unreadable {
        violations: Vec<Violation>,
        said: ChatReply,
    },
}

impl Tools {
    async fn converse(&self, situation: &Situation<'_>) -> Result<Decision, TurnError> {
        let clock = Instant::now();
        let mut state = Progress::default();
        let mut request = first_request(situation)?;
        let sightings = situation.sightings();
        let evidence = situation.evidence(&sightings);

        for attempt in 0..=situation.options.retries {
            let waited = Instant::now();
            let reply = self.chat.complete(request.clone()).await;
            state.llm_ms += milliseconds(waited);
            let reply = match reply {
                Ok(reply) => reply,
                // What was understood before the server failed is still worth a question.
                Err(error) if state.best.is_some() => {
                    state.fail(&error);
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            state.usage += reply.usage;
            let (mut repairs, mut violations) = (Vec::new(), Vec::new());
            let reading = read(situation, &evidence, &reply, &mut repairs, &mut violations);
            match &reading {
                Reading::Nothing | Reading::Valid(_) => {}
                Reading::Partial { violations: wrong, .. } | Reading::Unreadable { violations: wrong, .. } => {
                    violations.extend(wrong.iter().cloned());
                }
            }
            state.attempts.push(Attempt { usage: reply.usage, repairs, violations, failure: None });
            let last = attempt == situation.options.retries;
            match reading {
                Reading::Nothing => return Ok(state.nothing(situation, clock)),
                Reading::Valid(reading) => {
                    let (frame, call) = *reading;
                    return Ok(state.done(Outcome::Call(vec![call]), frame, clock));
                }
                Reading::Partial { frame, violations, said } => {
                    let worth_another = violations.iter().any(|violation| violation.kind != ViolationKind::Missing);
                    state.keep(*frame);
                    // What the person did not say, the model cannot know: that is for a question, not for a retry.
                    if !worth_another || last {
                        break;
                    }
                    feed_back(situation, &mut request, Some(said), None, &violations)?;
                }
                Reading::Unreadable { violations, said } => {
                    if last {
                        break;
                    }
                    feed_back(situation, &mut request, said.tool_calls.into_iter().next(), said.content, &violations)?;
                }
            }
        }
        match state.best.take() {
            Some(frame) => Ok(match question::about_frame(&situation.snapshot.module, &frame) {
                Some(question) => state.done(Outcome::Ask(question), frame, clock),
                None => state.nothing(situation, clock),
            }),
            None => Err(LlmError::Malformed("no reply held a usable call".to_owned()).into()),
        }
    }
}

/// What the attempts came to so far.
#[derive(Default)]
struct Progress {
    attempts: Vec<Attempt>,
    usage: Usage,
    llm_ms: f64,
    /// The fullest partial frame.
    best: Option<Frame>,
}

impl Progress {
    fn keep(&mut self, frame: Frame) {
        if self.best.as_ref().is_none_or(|best| frame.slots.len() >= best.slots.len()) {
            self.best = Some(frame);
        }
    }

    fn fail(&mut self, error: &LlmError) {
        tracing::warn!(%error, "the model server failed during a retry");
        self.attempts.push(Attempt {
            usage: Usage::default(),
            repairs: Vec::new(),
            violations: Vec::new(),
            failure: Some(error.kind()),
        });
    }

    fn decision(self, outcome: Outcome, confidence: f32, frames: Vec<Frame>, clock: Instant) -> Decision {
        Decision {
            outcome,
            confidence,
            decided_by: DecidedBy::Tools,
            frames,
            attempts: self.attempts,
            notes: Vec::new(),
            usage: self.usage,
            decide_ms: (milliseconds(clock) - self.llm_ms).max(0.0),
            llm_ms: self.llm_ms,
        }
    }

    fn done(self, outcome: Outcome, frame: Frame, clock: Instant) -> Decision {
        let confidence = frame.confidence;
        self.decision(outcome, confidence, vec![frame], clock)
    }

    fn nothing(self, situation: &Situation<'_>, clock: Instant) -> Decision {
        let confidence = belief::confirmed(1.0 - situation.scope());
        self.decision(Outcome::NoMatch, confidence, Vec::new(), clock)
    }
}

fn first_request(situation: &Situation<'_>) -> Result<ChatRequest, TurnError> {
    let module = &situation.snapshot.module;
    let overrides = &module.settings.llm;
    let shown = overrides.candidates.unwrap_or(situation.options.candidates);
    let shots = overrides.shots.unwrap_or(situation.options.shots);
    let in_prompt = |error: prompt::PromptError| TurnError::Prompt(error.to_string());
    let mut messages = vec![Message::System(prompt::system(situation).map_err(in_prompt)?)];
    messages.extend(prompt::shots(situation, shots));
    messages.push(Message::User(prompt::user(situation).map_err(in_prompt)?));
    let tools = situation
        .candidates
        .iter()
        .take(shown)
        .map(|candidate| {
            let function = module.function(candidate.function);
            strict::tool(&function.wire_name, &function.description, &function.parameters)
        })
        .collect();
    Ok(ChatRequest {
        model: overrides.model.clone(),
        messages,
        tools,
        tool_choice: ToolChoice::Auto,
        response_schema: None,
        temperature: overrides.temperature,
        max_tokens: overrides.max_tokens,
        deadline: situation.deadline,
    })
}

/// Adds the model's own answer and what was wrong with it, so that no request is ever sent twice.
fn feed_back(
    situation: &Situation<'_>,
    request: &mut ChatRequest,
    call: Option<ToolCall>,
    content: Option<String>,
    violations: &[Violation],
) -> Result<(), TurnError> {
    let complaint =
        prompt::retry(&situation.snapshot.module, violations).map_err(|error| TurnError::Prompt(error.to_string()))?;
    match call {
        Some(mut call) => {
            if call.id.is_empty() {
                call.id = format!("call_retry_{}", request.messages.len());
            }
            // A server that reads the arguments back must find JSON there, whatever the model wrote.
            if serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&call.arguments).is_err() {
                call.arguments = "{}".to_owned();
            }
            let id = call.id.clone();
            request.messages.push(Message::Assistant { content: None, tool_calls: vec![call] });
            request.messages.push(Message::Tool { id, content: complaint });
        }
        None => {
            let said = content.unwrap_or_default().chars().take(2_000).collect();
            request.messages.push(Message::Assistant { content: Some(said), tool_calls: Vec::new() });
            request.messages.push(Message::User(complaint));
        }
    }
    Ok(())
}

/// Finds the call in a reply, repairs it, and has it judged. Of several calls the first usable one counts.
fn read(
    situation: &Situation<'_>,
    evidence: &Evidence<'_>,
    reply: &ChatReply,
    repairs: &mut Vec<&'static str>,
    dropped: &mut Vec<Violation>,
) -> Reading {
    let mut calls = reply.tool_calls.clone();
    if calls.is_empty() {
        let content = reply.content.as_deref().unwrap_or_default();
        calls = repair::calls_in(content)
            .into_iter()
            .map(|written| ToolCall { id: String::new(), name: written.name, arguments: written.arguments })
            .collect();
        if calls.is_empty() {
            // Cut in the middle, it may have been about to call; an empty reply is no answer at all.
            return if reply.cut || content.trim().is_empty() {
                unreadable(reply, "", "a call of one of the functions, or the word NONE")
            } else {
                Reading::Nothing
            };
        }
        repairs.push("call_in_text");
    }
    let module = &situation.snapshot.module;
    let among: Vec<FunctionId> = situation.candidates.iter().map(|candidate| candidate.function).collect();
    let mut complaint = None;
    for said in calls {
        let Some(name) = repair::read_name(&said.name, module, &among) else {
            let names: Vec<&str> = among.iter().map(|id| module.function(*id).wire_name.as_str()).collect();
            complaint
                .get_or_insert_with(|| unreadable(reply, "", &format!("one of the functions {}", names.join(", "))));
            continue;
        };
        let function = module.function(name.function);
        match repair::arguments(&said.arguments, function) {
            Ok(repaired) => {
                repairs.extend(name.repair);
                repairs.extend(&repaired.repairs);
                let (reading, invented) = judge(situation, evidence, name.function, repaired.arguments, said);
                dropped.extend(invented);
                return reading;
            }
            Err(error) => {
                complaint
                    .get_or_insert_with(|| unreadable(reply, "", &format!("arguments as a JSON object ({error})")));
            }
        }
    }
    complaint.unwrap_or(Reading::Nothing)
}

fn unreadable(reply: &ChatReply, path: &str, expected: &str) -> Reading {
    let violation =
        Violation { kind: ViolationKind::Type, path: path.to_owned(), found: None, expected: expected.to_owned() };
    Reading::Unreadable { violations: vec![violation], said: reply.clone() }
}

/// The verdict on a call, and what was dropped from it.
fn judge(
    situation: &Situation<'_>,
    evidence: &Evidence<'_>,
    id: FunctionId,
    arguments: serde_json::Map<String, serde_json::Value>,
    said: ToolCall,
) -> (Reading, Vec<Violation>) {
    let function = situation.snapshot.module.function(id);
    let validator = &situation.snapshot.validator;
    let verdict = validator.validate(function, Proposal { function: id, arguments }, evidence);
    let local = situation.retrieved(id);
    let frame = |slots, missing, invalid| Frame {
        function: id,
        confidence: belief::confirmed(local),
        segment: Span::new(0, situation.utterance.len()),
        slots,
        missing,
        invalid,
    };
    let (arguments, violations) = match verdict {
        Verdict::Valid { call, grounded, .. } => {
            return (Reading::Valid(Box::new((frame(grounded, Vec::new(), Vec::new()), call))), Vec::new());
        }
        Verdict::Invalid { arguments, violations, .. } => (arguments, violations),
    };
    // What was invented, or is no argument at all, is dropped at once: no retry makes the person have said it.
    let (dropped, wrong): (Vec<Violation>, Vec<Violation>) = violations
        .into_iter()
        .filter(|violation| violation.kind != ViolationKind::Missing)
        .partition(|violation| matches!(violation.kind, ViolationKind::Ungrounded | ViolationKind::Unknown));
    // What is left of it is judged again: it may be a call by itself, or lack what was dropped.
    let reading = match validator.validate(function, Proposal { function: id, arguments }, evidence) {
        Verdict::Valid { call, grounded, .. } if wrong.is_empty() => {
            Reading::Valid(Box::new((frame(grounded, Vec::new(), Vec::new()), call)))
        }
        Verdict::Valid { grounded, .. } => {
            Reading::Partial { frame: Box::new(frame(grounded, Vec::new(), wrong.clone())), violations: wrong, said }
        }
        Verdict::Invalid { grounded, violations, .. } => {
            let missing: Vec<SlotPath> = violations
                .iter()
                .filter(|violation| violation.kind == ViolationKind::Missing)
                .filter(|violation| !wrong.iter().any(|other| other.path == violation.path))
                .map(|violation| question::path_of(&violation.path))
                .collect();
            let complaints = wrong.iter().cloned().chain(violations).collect();
            Reading::Partial { frame: Box::new(frame(grounded, missing, wrong)), violations: complaints, said }
        }
    };
    (reading, dropped)
}
