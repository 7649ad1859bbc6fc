//! Decides through one answer that must fit a JSON Schema: a union of the candidates' calls and "none". For servers
//! that force a grammar; what others make of it is read as leniently as anything else.

use futures::future::BoxFuture;
use serde_json::{Map, Value};

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
    llm::{ChatReply, ChatRequest},
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
            Ok(verdict::decision(exchange.brief, judged))
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
        let Ok(answer) = repair::object(content) else { return read_calls(brief, &among, reply) };
        let mut written: Vec<&Map<String, Value>> = match (answer.arguments.get("calls"), answer.arguments.get("call"))
        {
            (Some(Value::Array(calls)), _) => calls.iter().filter_map(Value::as_object).collect(),
            (_, Some(Value::Object(call))) => vec![call],
            (_, Some(Value::Null)) => Vec::new(),
            _ if answer.arguments.contains_key(schema::FUNCTION) => vec![&answer.arguments],
            _ if reply.cut => return Parsed::unreadable("a complete JSON object"),
            // Some servers turn what looks like a call into one, and some models write one in their own form.
            _ => return read_calls(brief, &among, reply),
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

/// A call of the union; `None` where it says that no function fits.
fn read_one(brief: &Brief<'_>, among: &[FunctionId], call: &Map<String, Value>) -> Option<Result<Spoken, String>> {
    let name = call.get(schema::FUNCTION).and_then(Value::as_str).unwrap_or_default();
    if schema::is_none(name) {
        return None;
    }
    let arguments = match call.get(schema::ARGUMENTS) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    Some(speak(brief, among, name, &arguments))
}
