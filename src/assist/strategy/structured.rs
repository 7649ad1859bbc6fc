//! Decides through one answer that must fit a JSON Schema: a union of the candidates' calls and "none". It is meant for
//! servers that force a grammar; replies of other servers are read as leniently as elsewhere.

use futures::future::BoxFuture;
use serde_json::Value;

use crate::{
    assist::{
        brief::Brief,
        error::AskError,
        exchange::Exchange,
        judge::{self, Judged, Spoken},
        prompt, repair_loop, schema,
        strategy::{
            DecidedBy, Strategy,
            tools::{read_calls, speak},
        },
        task::{ModelTask, Parsed},
        verdict,
    },
    call::repair,
    decide::outcome::Decision,
    llm::{ChatReply, ChatRequest, written},
    module::FunctionId,
};

/// See [the module](self).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Structured;

impl Strategy for Structured {
    fn decided_by(&self) -> DecidedBy {
        DecidedBy::Structured
    }

    fn decide<'a>(&'a self, exchange: &'a mut Exchange<'_>) -> BoxFuture<'a, Result<Decision, AskError>> {
        Box::pin(async move {
            let judged = repair_loop::run(exchange, self).await?;
            Ok(verdict::decision(exchange, judged))
        })
    }
}

impl ModelTask for Structured {
    type Answer = Vec<Judged>;
    const STAGE: &'static str = "call";

    fn request(&self, exchange: &Exchange<'_>) -> Result<ChatRequest, AskError> {
        let brief = exchange.brief;
        let shape = schema::calls(brief, &brief.shown(), brief.may_be_several());
        let messages = prompt::structured(brief)?;
        Ok(ChatRequest { response_schema: Some(("calls".to_owned(), shape.into())), ..exchange.request(messages) })
    }

    fn parse(&self, brief: &Brief<'_>, reply: &ChatReply) -> Parsed<Vec<Judged>> {
        let among = brief.shown();
        let content = reply.content.as_deref().unwrap_or_default();
        let object = written::is_one_answer(content).then(|| repair::object(content).ok()).flatten();
        // Some servers turn what looks like a call into a tool call, and some models write calls in their own form.
        let Some(answer) = object.filter(|_| reply.tool_calls.is_empty()) else {
            return read_calls(brief, &among, reply, false);
        };
        if answer.repairs.contains(&repair::TRUNCATED) || reply.cut && !answer.repairs.is_empty() {
            return Parsed::unreadable("a complete JSON object");
        }
        let whole = Value::Object(answer.arguments.clone());
        let mut written: Vec<&Value> = match (answer.arguments.get("calls"), answer.arguments.get("call")) {
            (Some(Value::Array(calls)), _) => calls.iter().collect(),
            (_, Some(Value::Null)) => Vec::new(),
            (_, Some(Value::String(name))) if schema::says_none(name) => Vec::new(),
            (_, Some(call @ Value::Object(_))) => vec![call],
            _ if answer.arguments.contains_key(schema::FUNCTION) => vec![&whole],
            _ => return read_calls(brief, &among, reply, false),
        };
        if !brief.may_be_several() {
            written.truncate(1);
        }
        let mut wrong = None;
        let mut calls: Vec<Spoken> = Vec::new();
        for read in written.into_iter().filter_map(|call| read_one(brief, &among, call)) {
            match read {
                Ok(mut call) => {
                    call.repairs.splice(0..0, answer.repairs.iter().copied());
                    calls.push(call);
                }
                Err(expected) => wrong = wrong.or(Some(expected)),
            }
        }
        match wrong {
            Some(expected) if calls.is_empty() => Parsed::unreadable(expected),
            _ => judge::all(brief, calls),
        }
    }

    fn worth(judged: &Vec<Judged>) -> (usize, usize) {
        judge::worth(judged)
    }
}

/// A call of the union; `None` if the answer says that no function fits.
fn read_one(brief: &Brief<'_>, among: &[FunctionId], call: &Value) -> Option<Result<Spoken, String>> {
    let name = [schema::FUNCTION, "name"].iter().find_map(|key| call.get(*key)?.as_str());
    let Some(name) = name else {
        return Some(Err(format!(
            "a call with the name of a function, or {}, in `{}`",
            schema::NONE,
            schema::FUNCTION
        )));
    };
    if schema::says_none(name) {
        return None;
    }
    let arguments = match call.get(schema::ARGUMENTS).or_else(|| call.get("parameters")) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    Some(speak(brief, among, name, &arguments))
}
