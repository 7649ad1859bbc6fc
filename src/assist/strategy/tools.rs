//! Decides through a model server's native function calling: the few candidates are tools, the nearest exemplars are
//! few-shot turns, the mentions are hints.

use futures::future::BoxFuture;

use crate::{
    assist::{
        brief::Brief,
        error::AskError,
        exchange::Exchange,
        guard,
        judge::{self, Judged, Spoken},
        prompt, repair_loop, schema,
        strategy::{DecidedBy, Strategy},
        task::{ModelTask, Parsed},
        verdict,
    },
    call::repair,
    decide::outcome::Decision,
    llm::{
        ChatReply, ChatRequest, Support,
        written::{self, AnswerContent},
    },
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
            Ok(verdict::decision(exchange, judged))
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
        read_calls(brief, &brief.shown(), reply, true)
    }

    fn worth(judged: &Vec<Judged>) -> (usize, usize) {
        judge::worth(judged)
    }
}

/// What the model should have written where its reply has no call.
const EXPECTED: &str = "a call of one of the functions, or the word NONE";

/// Finds the calls in a reply, as tool calls or as text, and judges them. If one call was asked for, the first usable
/// one counts. NONE says that no function fits; so do plain words, if `may_be_words`.
pub(super) fn read_calls(
    brief: &Brief<'_>,
    among: &[FunctionId],
    reply: &ChatReply,
    may_be_words: bool,
) -> Parsed<Vec<Judged>> {
    if !reply.tool_calls.is_empty() {
        let written = reply.tool_calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str()));
        return judged(brief, among, written, reply.cut, None);
    }
    let content = reply.content.as_deref().unwrap_or_default();
    match written::read(content) {
        AnswerContent::Calls(calls) => {
            let written = calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str()));
            judged(brief, among, written, false, Some("call-in-text"))
        }
        AnswerContent::Words if schema::says_none(content) => Parsed::settled(Vec::new(), Vec::new()),
        // A reply that was cut may have been about to call. An empty reply is not an answer, and neither are words about a
        // function.
        AnswerContent::Words
            if may_be_words && !reply.cut && !content.trim().is_empty() && !names_any(brief, among, content) =>
        {
            Parsed::settled(Vec::new(), Vec::new())
        }
        AnswerContent::Words | AnswerContent::Unreadable => Parsed::unreadable(EXPECTED),
    }
}

/// True if the words contain a function's name as programs write it.
fn names_any(brief: &Brief<'_>, among: &[FunctionId], words: &str) -> bool {
    let functions = among.iter().map(|id| brief.snapshot.module.function(*id));
    functions.into_iter().any(|function| guard::names(words, function))
}

/// Judges the calls; if `is_cut`, the last one may be incomplete.
fn judged<'r>(
    brief: &Brief<'_>,
    among: &[FunctionId],
    written: impl Iterator<Item = (&'r str, &'r str)>,
    is_cut: bool,
    how: Option<&'static str>,
) -> Parsed<Vec<Judged>> {
    let (mut wrong, mut is_none) = (None, false);
    let mut spoken = Vec::new();
    for (name, arguments) in written {
        if schema::says_none(name) {
            is_none = true;
            continue;
        }
        match speak(brief, among, name, arguments) {
            Ok(one) if is_cut && one.repairs.contains(&repair::MISSING_BRACKET) => {
                wrong.get_or_insert_with(|| "complete arguments".to_owned());
            }
            Ok(mut one) => {
                one.repairs.extend(how);
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
        None if spoken.is_empty() && !is_none => Parsed::unreadable(EXPECTED),
        _ => judge::all(brief, spoken),
    }
}

/// One call, from its written name and arguments.
///
/// # Errors
/// What was expected, if the call cannot be read.
pub(super) fn speak(brief: &Brief<'_>, among: &[FunctionId], name: &str, arguments: &str) -> Result<Spoken, String> {
    let module = &brief.snapshot.module;
    let Some(name) = repair::read_name(name, module, among) else {
        let names: Vec<&str> = among.iter().map(|id| module.function(*id).wire_name.as_str()).collect();
        return Err(format!("one of the functions {}", names.join(", ")));
    };
    let read = repair::arguments(arguments, module.function(name.function))
        .map_err(|error| format!("arguments as a JSON object ({error})"))?;
    if read.repairs.contains(&repair::TRUNCATED) {
        return Err("complete arguments as a JSON object".to_owned());
    }
    let mut repairs: Vec<&'static str> = name.repair.into_iter().collect();
    repairs.extend(read.repairs);
    Ok(Spoken { function: name.function, arguments: read.arguments, repairs })
}
