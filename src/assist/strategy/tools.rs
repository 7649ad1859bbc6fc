//! Decides through a model server's native function calling: the few candidates as tools, the nearest exemplars as
//! few-shot turns, the mentions as hints.

use futures::future::BoxFuture;

use crate::{
    assist::{
        brief::Brief,
        error::AskError,
        exchange::Exchange,
        judge::{self, Judged, Spoken},
        prompt, repair_loop, schema,
        strategy::{DecidedBy, Strategy},
        task::{ModelTask, Parsed},
        verdict,
    },
    call::repair,
    decide::outcome::Decision,
    llm::{ChatReply, ChatRequest, Support, ToolCall},
    module::FunctionId,
};

/// See [the module](self).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tools;

impl Strategy for Tools {
    fn decided_by(&self) -> DecidedBy {
        DecidedBy::Tools
    }

    fn decide<'a>(&'a self, exchange: &'a mut Exchange<'_>) -> BoxFuture<'a, Result<Decision, AskError>> {
        Box::pin(async move {
            let judged = repair_loop::run(exchange, self).await?;
            Ok(verdict::decision(exchange.brief, judged))
        })
    }
}

impl ModelTask for Tools {
    type Answer = Vec<Judged>;
    const STAGE: &'static str = "call";

    fn request(&self, exchange: &Exchange<'_>) -> Result<ChatRequest, AskError> {
        let brief = exchange.brief;
        let refuses_strict = exchange.capabilities().is_some_and(|found| found.strict == Support::Refused);
        let tools = brief.shown().into_iter().map(|function| schema::tool(brief, function, !refuses_strict)).collect();
        let messages = prompt::calling(brief)?;
        Ok(ChatRequest { tools, parallel: brief.may_be_several(), ..exchange.request(messages) })
    }

    fn parse(&self, brief: &Brief<'_>, reply: &ChatReply) -> Parsed<Vec<Judged>> {
        read_calls(brief, &brief.shown(), reply)
    }

    fn worth(judged: &Vec<Judged>) -> (usize, usize) {
        judge::worth(judged)
    }
}

/// Finds the calls in a reply, as tool calls or as text, and judges them. Where one was asked for, the first usable one
/// counts. Words without a call say that no function fits.
pub(super) fn read_calls(brief: &Brief<'_>, among: &[FunctionId], reply: &ChatReply) -> Parsed<Vec<Judged>> {
    let mut in_text: Option<&'static str> = None;
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
                Parsed::unreadable("a call of one of the functions, or the word NONE")
            } else {
                Parsed::settled(Vec::new(), Vec::new())
            };
        }
        in_text = Some("call-in-text");
    }
    let mut wrong = None;
    let mut spoken = Vec::new();
    for said in calls {
        match speak(brief, among, &said.name, &said.arguments) {
            Ok(mut one) => {
                one.repairs.extend(in_text);
                spoken.push(one);
                if !brief.may_be_several() {
                    break;
                }
            }
            Err(expected) => {
                wrong.get_or_insert(expected);
            }
        }
    }
    match wrong {
        Some(expected) if spoken.is_empty() => Parsed::unreadable(expected),
        _ => judge::all(brief, spoken),
    }
}

/// One call by its written name and arguments.
///
/// # Errors
/// What was expected where it cannot be read.
pub(super) fn speak(brief: &Brief<'_>, among: &[FunctionId], name: &str, arguments: &str) -> Result<Spoken, String> {
    let module = &brief.snapshot.module;
    let Some(name) = repair::read_name(name, module, among) else {
        let names: Vec<&str> = among.iter().map(|id| module.function(*id).wire_name.as_str()).collect();
        return Err(format!("one of the functions {}", names.join(", ")));
    };
    let read = repair::arguments(arguments, module.function(name.function))
        .map_err(|error| format!("arguments as a JSON object ({error})"))?;
    let mut repairs: Vec<&'static str> = name.repair.into_iter().collect();
    repairs.extend(read.repairs);
    Ok(Spoken { function: name.function, arguments: read.arguments, repairs })
}
