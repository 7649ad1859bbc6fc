//! Decides in two stages, each with questions small enough for a small model: first which function is meant, then what
//! its arguments are. Settings choose how each stage asks; independent questions are sent at the same time.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::{
    assist::{
        brief::Brief,
        error::AskError,
        exchange::Exchange,
        judge::{self, Judged, Spoken},
        prompt, repair_loop, schema,
        strategy::{DecidedBy, Strategy, tools::read_calls},
        task::{ModelTask, Parsed},
        verdict,
    },
    call::{Violation, ViolationKind, repair},
    conversation::Pending,
    decide::{
        calibration as belief,
        outcome::{Decision, Frame, Outcome},
    },
    llm::{
        ChatReply, ChatRequest, LlmError, Message, standing,
        written::{self, AnswerContent},
    },
    module::{
        Function, FunctionId, PathStep, Slot,
        settings::{Detect, Fill},
    },
    text::Span,
};

/// Of several functions that got a yes, the best is chosen if every other weight is less than this share of its own.
const TIE: f32 = 0.8;

const DETECT: &str = "detect";
const FILL: &str = "fill";

/// See [the module](self).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Staged;

/// Result of the first stage.
enum Detected {
    /// In the order of the utterance; empty if nothing fits.
    Functions(Vec<FunctionId>),
    /// All about equally likely.
    Tied(Vec<FunctionId>),
}

impl Strategy for Staged {
    fn decided_by(&self) -> DecidedBy {
        DecidedBy::Staged
    }

    fn decide<'a>(&'a self, exchange: &'a mut Exchange<'_>) -> BoxFuture<'a, Result<Decision, AskError>> {
        Box::pin(decide(exchange))
    }
}

async fn decide(exchange: &mut Exchange<'_>) -> Result<Decision, AskError> {
    let brief = exchange.brief;
    if let Some(function) = brief.given {
        let judged = repair_loop::run(exchange, &Whole { function }).await?;
        return Ok(verdict::decision(exchange, judged));
    }
    let detected = match brief.extent.detect {
        Detect::Choice => Detected::Functions(repair_loop::run(exchange, &FunctionChoice).await?),
        Detect::Each => by_each(exchange).await?,
        Detect::Vote => by_vote(exchange).await?,
    };
    let functions = match detected {
        Detected::Functions(functions) => functions,
        Detected::Tied(functions) => return Ok(tie(brief, &functions)),
    };
    let mut judged = Vec::with_capacity(functions.len());
    // One after the other: what the first one spends is no longer there for the next.
    for function in functions {
        let definition = brief.snapshot.module.function(function);
        judged.extend(match brief.extent.fill {
            _ if definition.slots.is_empty() => judge::all(brief, vec![empty(function)]).answer.unwrap_or_default(),
            Fill::Slots if is_flat(definition) => by_slot(exchange, function).await?,
            Fill::Whole | Fill::Slots => repair_loop::run(exchange, &Whole { function }).await?,
        });
    }
    Ok(verdict::decision(exchange, judged))
}

fn empty(function: FunctionId) -> Spoken {
    Spoken { function, arguments: Map::new(), repairs: Vec::new() }
}

/// A question which of these functions the person means.
fn tie(brief: &Brief<'_>, functions: &[FunctionId]) -> Decision {
    let frames: Vec<Frame> = functions
        .iter()
        .map(|function| Frame {
            function: *function,
            confidence: belief::confirmed(brief.retrieved(*function), standing::USUAL),
            segment: Span::new(0, brief.utterance().len()),
            slots: Vec::new(),
            excluded: Vec::new(),
            missing: Vec::new(),
            invalid: Vec::new(),
        })
        .collect();
    let confidence = frames.iter().map(|frame| frame.confidence).fold(0.0, f32::max);
    let outcome = Outcome::Ask(Pending::Tie { functions: functions.to_vec() });
    Decision { outcome, confidence, frames, notes: Vec::new(), alternatives: Vec::new() }
}

/// One multi-class question.
struct FunctionChoice;

impl ModelTask for FunctionChoice {
    type Answer = Vec<FunctionId>;
    const STAGE: &'static str = DETECT;

    fn request(&self, exchange: &Exchange<'_>) -> Result<ChatRequest, AskError> {
        let brief = exchange.brief;
        let shape = schema::choice(brief, &brief.shown(), brief.may_be_several());
        Ok(asking(exchange, prompt::choice(brief)?, "choice", shape))
    }

    fn parse(&self, brief: &Brief<'_>, reply: &ChatReply) -> Parsed<Vec<FunctionId>> {
        let (module, among) = (&brief.snapshot.module, brief.shown());
        let content = reply.content.as_deref().unwrap_or_default();
        let answer = repair::object(content).unwrap_or_default();
        let mut names: Vec<&str> = match (answer.arguments.get("functions"), answer.arguments.get(schema::FUNCTION)) {
            (Some(Value::Array(names)), _) => names.iter().filter_map(Value::as_str).collect(),
            (_, Some(Value::String(name))) => vec![name],
            // The bare name, as models write it that are not forced to write JSON.
            _ if content.len() < 200 && !content.trim().is_empty() => vec![content],
            _ => return Parsed::unreadable("the name of one of the functions, or NONE"),
        };
        if !brief.may_be_several() {
            names.truncate(1);
        }
        let mut functions = Vec::new();
        let mut repairs = answer.repairs;
        for name in names.into_iter().filter(|name| !schema::says_none(name)) {
            let Some(read) = repair::read_name(name, module, &among) else {
                let names: Vec<&str> = among.iter().map(|id| module.function(*id).wire_name.as_str()).collect();
                return Parsed::unreadable(format!("one of the functions {}, or NONE", names.join(", ")));
            };
            repairs.extend(read.repair);
            if !functions.contains(&read.function) {
                functions.push(read.function);
            }
        }
        functions.truncate(brief.most_calls());
        Parsed::settled(functions, repairs)
    }
}

/// Asks a yes-or-no question for each candidate.
async fn by_each(exchange: &mut Exchange<'_>) -> Result<Detected, AskError> {
    let brief = exchange.brief;
    let shown = brief.shown();
    let prompts = shown.iter().map(|function| prompt::each(brief, *function)).collect::<Result<Vec<_>, _>>()?;
    let answers = yes_or_no(exchange, prompts).await?;
    let meant: Vec<(FunctionId, f32)> = shown
        .into_iter()
        .zip(answers)
        .filter(|(_, answer)| *answer == Some(true))
        .map(|(function, _)| (function, brief.retrieved(function)))
        .collect();
    Ok(elect(brief, meant))
}

/// Asks a yes-or-no question for each of the nearest exemplars; each yes counts as much as its exemplar is near.
async fn by_vote(exchange: &mut Exchange<'_>) -> Result<Detected, AskError> {
    let brief = exchange.brief;
    let module = &brief.snapshot.module;
    let shown = brief.shown();
    let mut voters = prompt::nearest(brief);
    voters.retain(|(_, function, _)| shown.contains(function));
    voters.truncate(brief.extent.shots.max(1));
    if voters.is_empty() {
        // Functions that have only descriptions have no exemplars to vote for them.
        return by_each(exchange).await;
    }
    let prompts = voters
        .iter()
        .map(|(_, function, exemplar)| prompt::vote(brief, &module.function(*function).exemplars[exemplar.index()]))
        .collect::<Result<Vec<_>, _>>()?;
    let answers = yes_or_no(exchange, prompts).await?;
    let mut votes: BTreeMap<FunctionId, f32> = BTreeMap::new();
    for ((score, function, _), answer) in voters.into_iter().zip(answers) {
        if answer == Some(true) {
            *votes.entry(function).or_default() += score;
        }
    }
    Ok(elect(brief, votes.into_iter().collect()))
}

/// Chooses among the functions that got a yes, each with its weight.
fn elect(brief: &Brief<'_>, mut meant: Vec<(FunctionId, f32)>) -> Detected {
    if brief.may_be_several() {
        // Each part elects its own function; parts stay in the order in which they were said.
        let mut functions = Vec::new();
        for part in brief.parts() {
            let rank = |function: FunctionId| {
                part.candidates.iter().find(|candidate| candidate.function == function).map_or(0.0, |found| found.score)
            };
            let best = meant.iter().map(|(function, _)| *function).max_by(|a, b| rank(*a).total_cmp(&rank(*b)));
            functions.extend(best.filter(|best| rank(*best) > 0.0 && !functions.contains(best)));
        }
        return Detected::Functions(functions);
    }
    meant.sort_by(|a, b| b.1.total_cmp(&a.1));
    let highest = meant.first().map_or(0.0, |(_, weight)| *weight);
    meant.retain(|(_, weight)| *weight >= TIE * highest);
    let functions: Vec<FunctionId> = meant.into_iter().map(|(function, _)| function).collect();
    if functions.len() > 1 { Detected::Tied(functions) } else { Detected::Functions(functions) }
}

/// The answers to yes-or-no questions that are asked at the same time; `None` for an answer that could not be read.
///
/// # Errors
/// If one reply is missing, since its question may be about just what is meant; or if no reply could be read.
async fn yes_or_no(exchange: &mut Exchange<'_>, prompts: Vec<Vec<Message>>) -> Result<Vec<Option<bool>>, AskError> {
    let requests: Vec<ChatRequest> =
        prompts.into_iter().map(|messages| asking(exchange, messages, "answer", schema::answer())).collect();
    exchange.ledger.afford(&requests)?;
    let mut answers = Vec::with_capacity(requests.len());
    for reply in exchange.ask_all(DETECT, requests).await {
        let (index, reply) = reply?;
        let answer = yes(reply.content.as_deref().unwrap_or_default());
        if answer.is_none() {
            exchange.ledger.note(index, Vec::new(), Parsed::<bool>::unreadable("true or false").found);
        }
        answers.push(answer);
    }
    if answers.iter().all(Option::is_none) {
        return Err(LlmError::Malformed("no reply said yes or no".into()).into());
    }
    Ok(answers)
}

/// Yes or no, also in the words of a model that is not forced to write JSON.
fn yes(content: &str) -> Option<bool> {
    let object = repair::object(content).unwrap_or_default().arguments;
    let said = match object.get("answer") {
        Some(Value::Bool(answer)) => return Some(*answer),
        Some(Value::String(text)) => text.as_str(),
        _ => content,
    };
    let first: String =
        said.trim_start().chars().take_while(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    match first.as_str() {
        "true" | "yes" => Some(true),
        "false" | "no" => Some(false),
        _ => None,
    }
}

/// All arguments of a function in one answer.
struct Whole {
    function: FunctionId,
}

impl ModelTask for Whole {
    type Answer = Vec<Judged>;
    const STAGE: &'static str = FILL;

    fn request(&self, exchange: &Exchange<'_>) -> Result<ChatRequest, AskError> {
        let brief = exchange.brief;
        let shape = schema::arguments(brief, self.function);
        Ok(asking(exchange, prompt::fill(brief, self.function)?, "arguments", shape))
    }

    fn parse(&self, brief: &Brief<'_>, reply: &ChatReply) -> Parsed<Vec<Judged>> {
        let function = brief.snapshot.module.function(self.function);
        let content = reply.content.as_deref().unwrap_or_default();
        if !reply.tool_calls.is_empty() {
            return read_calls(brief, &[self.function], reply, false);
        }
        match repair::arguments(content, function) {
            Ok(_) if content.trim().is_empty() => Parsed::unreadable("the arguments as a JSON object"),
            Ok(read) if read.repairs.contains(&repair::TRUNCATED) || !written::is_one_answer(content) => {
                Parsed::unreadable("complete arguments as one JSON object")
            }
            Ok(read) => {
                let spoken = Spoken { function: self.function, arguments: read.arguments, repairs: read.repairs };
                judge::all(brief, vec![spoken])
            }
            // Also accepts a call that is written in another form than JSON.
            Err(_) if matches!(written::read(content), AnswerContent::Calls(_)) => {
                read_calls(brief, &[self.function], reply, false)
            }
            Err(error) => Parsed::unreadable(error.to_string()),
        }
    }

    fn worth(judged: &Vec<Judged>) -> (usize, usize) {
        judge::worth(judged)
    }
}

/// True if each slot can be asked for by itself: values of a list of objects belong together.
fn is_flat(function: &Function) -> bool {
    function.slots.iter().all(|slot| {
        let each = slot.path.0.iter().position(|step| *step == PathStep::Each);
        each.is_none_or(|at| at + 1 == slot.path.0.len())
    })
}

/// Asks a question for each slot, all at the same time. Slots whose values are not valid are asked again, together.
async fn by_slot(exchange: &mut Exchange<'_>, id: FunctionId) -> Result<Vec<Judged>, AskError> {
    let brief = exchange.brief;
    let function = brief.snapshot.module.function(id);
    let mut requests = function
        .slots
        .iter()
        .map(|slot| Ok(asking(exchange, prompt::slot(brief, id, slot)?, "value", schema::value(brief, id, slot))))
        .collect::<Result<Vec<ChatRequest>, AskError>>()?;
    exchange.ledger.afford(&requests)?;
    let mut values: Vec<Option<Value>> = vec![None; function.slots.len()];
    let mut asked: Vec<usize> = (0..function.slots.len()).collect();
    let mut is_first = true;
    loop {
        let round: Vec<ChatRequest> = asked.iter().map(|slot| requests[*slot].clone()).collect();
        let replies = exchange.ask_all(FILL, round).await;
        let mut heard: BTreeMap<usize, (usize, ChatReply)> = BTreeMap::new();
        let mut unread = Vec::new();
        let mut repairs = Vec::new();
        for (slot, reply) in asked.iter().zip(replies) {
            match reply {
                Ok((attempt, reply)) => {
                    match value_in(reply.content.as_deref().unwrap_or_default()) {
                        Some((value, repaired)) => {
                            values[*slot] = Some(value);
                            repairs.extend(repaired);
                        }
                        None => unread.push(*slot),
                    }
                    heard.insert(*slot, (attempt, reply));
                }
                // A slot whose first question failed must not pass for one that was not said.
                Err(error) if is_first => return Err(error.into()),
                Err(_) => {}
            }
        }
        is_first = false;
        let arguments = assemble(&function.slots, &values);
        let read = judge::all(brief, vec![Spoken { function: id, arguments, repairs }]);
        // The whole call is judged at once; each finding is attributed to the answer that it is about.
        let about = |slot: usize, all: &[Violation]| -> Vec<Violation> {
            let of_slot = |violation: &&Violation| function.slots[slot].path.holds(&violation.path);
            all.iter().filter(of_slot).cloned().collect()
        };
        asked.clear();
        for (slot, (attempt, reply)) in heard {
            exchange.ledger.note(attempt, Vec::new(), about(slot, &read.found));
            let mut wrong = about(slot, &read.complaints);
            wrong.retain(|violation| violation.kind != ViolationKind::Missing);
            if unread.contains(&slot) {
                let unreadable = Parsed::<Value>::unreadable("a JSON object with the member `value`");
                exchange.ledger.note(attempt, Vec::new(), unreadable.found);
                wrong = unreadable.complaints;
            }
            if wrong.is_empty() {
                continue;
            }
            repair_loop::send_back(&brief.snapshot.module, &mut requests[slot], reply, &wrong)?;
            asked.push(slot);
        }
        if asked.is_empty() || !exchange.ledger.may_retry(&requests[asked[0]]) {
            if values.iter().all(Option::is_none) {
                return Err(LlmError::Malformed("no reply held a value".into()).into());
            }
            return Ok(read.answer.unwrap_or_default());
        }
    }
}

/// The value in an answer, with the repairs that reading it needed; `None` if there is none, null if the person said
/// none.
fn value_in(content: &str) -> Option<(Value, Vec<&'static str>)> {
    let mut read = repair::object(content).ok().filter(|_| written::is_one_answer(content))?;
    let value = read.arguments.shift_remove("value")?;
    Some((value, read.repairs))
}

/// Puts the values of flat slots at their paths; what was not said is left out.
fn assemble(slots: &[Slot], values: &[Option<Value>]) -> Map<String, Value> {
    let mut arguments = Map::new();
    for (slot, value) in slots.iter().zip(values) {
        let Some(value) = value.as_ref().filter(|value| !value.is_null()) else { continue };
        let mut steps = slot.path.0.as_slice();
        let mut value = value.clone();
        if let [rest @ .., PathStep::Each] = steps {
            steps = rest;
            if !value.is_array() {
                value = Value::Array(vec![value]);
            }
        }
        put(&mut arguments, steps, value);
    }
    arguments
}

fn put(object: &mut Map<String, Value>, steps: &[PathStep], value: Value) {
    match steps {
        [PathStep::Key(last)] => {
            object.insert(last.to_string(), value);
        }
        [PathStep::Key(first), rest @ ..] => {
            let inner = object.entry(first.to_string()).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
        _ => {}
    }
}

fn asking(exchange: &Exchange<'_>, messages: Vec<Message>, name: &str, shape: Value) -> ChatRequest {
    ChatRequest { response_schema: Some((name.to_owned(), shape.into())), ..exchange.request(messages) }
}

#[cfg(test)]
mod tests {
    use crate::assist::strategy::staged::*;

    #[test]
    fn yes_and_no_are_read_from_json_and_from_words() {
        for (content, answer) in [
            ("{\"answer\": true}", Some(true)),
            ("{\"answer\": false}", Some(false)),
            ("{'answer': 'Yes'}", Some(true)),
            ("No, it does not.", Some(false)),
            ("true", Some(true)),
            ("", None),
            ("perhaps", None),
            ("{\"answer\": 1}", None),
        ] {
            assert_eq!(yes(content), answer, "{content}");
        }
    }
}
