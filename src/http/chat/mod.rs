//! `POST /v1/chat/completions`: the conversation in, a message or calls out, as clients of the `OpenAI` API have it.
//!
//! | file | holds |
//! |---|---|
//! | `request` | the members of a request, and those that are refused |
//! | `conversation` | the messages |
//! | `tools` | what may be called and how it is to be answered |
//! | `stream` | the answer in pieces |
//! | `models` | modules under the name that such clients know |

mod conversation;
pub(super) mod models;
mod request;
mod stream;
mod tools;

use std::sync::Arc;

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use tokio::time::Instant;

use super::{
    ApiError, AppState, Fault,
    caller::Caller,
    conversations::{Keeping, language},
    extract::{Admitted, Permit},
    json::Json,
};
use crate::{
    answer::{ChatCompletion, Delivery, Kept, Stamp, chunk::Chunks},
    module::ModuleName,
    snapshot::{PrepareError, Snapshot},
    understand::{DecidedBy, Demand, Outcome, Said, Trace, Turn, TurnRequest, request as read},
};
use conversation::{Conversation, Utterance};
use models::OWN;
use request::{ChatRequest, UptakeOptions};
use tools::{Choice, Origin, Task};

/// Answer the last message of a conversation
///
/// Speaks the `OpenAI` API: calls come back as `tool_calls`; a question about what is missing, and what no function fits,
/// as a message. All three are answers (200). With `stream`, the same comes in chunks.
///
/// The conversation is what the messages say: what was asked before is answered by the last one. `uptake.state` or
/// `uptake.session_id` in the request keep it in other ways.
#[utoipa::path(
    post, path = "/v1/chat/completions", tag = "understand",
    request_body = ChatRequest,
    responses((
        status = 200, description = "What was understood",
        content((ChatCompletion = "application/json"), (stream::ChatEvent = "text/event-stream")),
    )),
)]
pub(super) async fn complete(
    State(app): State<AppState>,
    caller: Caller,
    Admitted { permit, body: request }: Admitted<ChatRequest>,
) -> Result<Response, ApiError> {
    let deadline = Instant::now() + app.options.timeout();
    let streamed = (request.stream == Some(true))
        .then(|| request.stream_options.as_ref().and_then(|options| options.include_usage).unwrap_or(false));
    let job = Job::prepare(&app, &caller, request, permit).await?;
    match streamed {
        None => Ok(Json(job.run(&app).await?).into_response()),
        Some(with_usage) => {
            let chunks = Chunks::new(&job.snapshot.module, &job.stamp, with_usage);
            let turn = {
                let app = app.clone();
                async move { job.run(&app).await }
            };
            stream::respond(app, chunks, turn, deadline).await
        }
    }
}

/// A request that nothing is wrong with.
struct Job {
    snapshot: Arc<Snapshot>,
    /// `None` where nothing new was said.
    request: Option<TurnRequest>,
    keeping: Keeping,
    /// Calls of the request that were made before, one in each answer.
    made: usize,
    /// What errors call the utterance.
    param: String,
    /// The request itself named the strategy.
    named_strategy: bool,
    delivery: Delivery,
    stamp: Stamp,
    _permit: Permit,
}

impl Job {
    async fn prepare(
        app: &AppState,
        caller: &Caller,
        mut request: ChatRequest,
        permit: Permit,
    ) -> Result<Self, ApiError> {
        request.check()?;
        let mut conversation = Conversation::read(request.messages.take(), app.turns.max_utterance)?;
        let task = Task::read(&mut request)?;
        let mut options = request.uptake.take().unwrap_or_default();
        let keeping = keeping(&mut options, caller)?;
        let snapshot = snapshot(app, request.model.as_deref(), &task).await?;
        caller.may_use(&snapshot.module.name).map_err(|error| error.renamed(|_| "model".to_owned()))?;
        let demand = demand(&task, &snapshot)?;
        let delivery = delivery(&task, request.parallel_tool_calls);
        let mut made = 0;
        // Whoever takes one call at a time gets the next one after the result of the one before.
        if is_one_at_a_time(delivery)
            && let Some((utterance, calls)) = conversation.done.take()
        {
            conversation.utterance = Some(utterance);
            made = calls;
        }
        let param = conversation.utterance.as_ref().map(Utterance::param).unwrap_or_default();
        let named_strategy = options.strategy.is_some();
        let request = turn_request(app, &snapshot, conversation, &task, demand, options)?;
        let stamp = Stamp::now();
        Ok(Self { snapshot, request, keeping, made, param, named_strategy, delivery, stamp, _permit: permit })
    }

    async fn run(self, app: &AppState) -> Result<ChatCompletion, ApiError> {
        let module = &self.snapshot.module;
        let (turn, kept) = match &self.request {
            Some(request) => {
                let (turn, kept) = self.understood(app, request).await.map_err(|error| {
                    error.renamed(|param| match param {
                        "utterance" => self.param.clone(),
                        other => format!("uptake.{other}"),
                    })
                })?;
                app.record(&module.name, &turn);
                (without(turn, self.made), kept)
            }
            None => (nothing_new(), None),
        };
        let mut completion = ChatCompletion::delivered(module, &turn, self.stamp, self.delivery);
        if let Some(kept) = kept {
            completion.uptake.keep(kept);
        }
        Ok(completion)
    }

    /// The turn, and where the conversation is after it, if it is one.
    async fn understood(&self, app: &AppState, request: &TurnRequest) -> Result<(Turn, Option<Kept>), ApiError> {
        // An object is what one text says, and not a form that several messages fill; and of an utterance whose first calls
        // were made already, a kept state has counted the turn.
        let is_kept = !matches!(self.keeping, Keeping::Messages);
        if request.single || (self.made > 0 && is_kept) {
            let turn = app.understander.turn(&self.snapshot, request).await;
            return turn.map(|turn| (turn, None)).map_err(|error| ApiError::of_turn(&error, self.named_strategy));
        }
        let meanwhile = if is_kept { meanwhile(&request.history) } else { &[] };
        let told = app.converse(&self.snapshot, &self.keeping, request, meanwhile, self.named_strategy).await?;
        Ok((told.turn, Some(told.kept)))
    }
}

/// Who keeps the conversation.
fn keeping(options: &mut UptakeOptions, caller: &Caller) -> Result<Keeping, ApiError> {
    let (state, id) = (options.state.take(), options.session_id.take());
    Keeping::read(state, id, options.revision, caller, Keeping::Messages)
        .map_err(|error| error.renamed(|param| format!("uptake.{param}")))
}

/// What came after the message of the person before this one.
fn meanwhile(history: &[Said]) -> &[Said] {
    let person = history.iter().rposition(|said| matches!(said, Said::Person(_)));
    &history[person.map_or(0, |person| person + 1)..]
}

/// The module that the request is understood against.
async fn snapshot(app: &AppState, model: Option<&str>, task: &Task) -> Result<Arc<Snapshot>, ApiError> {
    let Some(model) = model else {
        let message = "`model` is required: the name of a module, or `uptake` for the request's own tools";
        return Err(ApiError::fault(Fault::MissingParameter, message).about("model"));
    };
    let name = ModuleName::new(model).map_err(|_| models::unknown(app, model))?;
    let known = if model == OWN { None } else { Some(named(app, &name).await?) };
    let Some(functions) = &task.functions else {
        return known.ok_or_else(|| {
            let message = format!("`{OWN}` understands the request's own `tools`: send some, or name a module");
            ApiError::fault(Fault::MissingParameter, message).about("tools")
        });
    };
    app.snapshots.ad_hoc(&name, functions, known.as_ref()).await.map_err(|error| match &error {
        PrepareError::Refused { diagnostics, .. } => task.refused(diagnostics),
        PrepareError::Compile { reason, .. } => task.uncompilable(reason),
        // Nobody tries again but the client.
        PrepareError::Embed { source, .. } => ApiError::of_embed(source),
        _ => ApiError::of_prepare(&error, &app.snapshots),
    })
}

async fn named(app: &AppState, name: &ModuleName) -> Result<Arc<Snapshot>, ApiError> {
    app.snapshots.fresh(name).await.map_err(|error| match &error {
        PrepareError::Unknown(name) => models::unknown(app, name.as_str()),
        _ => ApiError::of_prepare(&error, &app.snapshots),
    })
}

fn demand(task: &Task, snapshot: &Snapshot) -> Result<Demand, ApiError> {
    Ok(match &task.choice {
        Choice::Auto | Choice::None | Choice::Allowed { required: false, .. } => Demand::Auto,
        Choice::Required | Choice::Allowed { required: true, .. } => Demand::Required,
        Choice::Named { name, param } => Demand::Function(task.named(&snapshot.module, name, param)?),
    })
}

fn delivery(task: &Task, parallel: Option<bool>) -> Delivery {
    let named = matches!(task.choice, Choice::Named { .. });
    match task.origin {
        Origin::ResponseFormat => Delivery::Object,
        _ if task.choice == Choice::None => Delivery::Withheld,
        Origin::Functions => Delivery::Function { named },
        Origin::Tools => Delivery::Tools { named, most: (parallel == Some(false)).then_some(1) },
    }
}

fn turn_request(
    app: &AppState,
    snapshot: &Snapshot,
    conversation: Conversation,
    task: &Task,
    demand: Demand,
    options: UptakeOptions,
) -> Result<Option<TurnRequest>, ApiError> {
    let module = &snapshot.module;
    let within = |error| ApiError::from(error).renamed(|param| format!("uptake.{param}"));
    let home = read::time_zone(module, &app.turns.time_zone);
    let UptakeOptions { strategy, now, functions, budget, language: tag, .. } = options;
    let language = language(tag).map_err(|error| error.renamed(|param| format!("uptake.{param}")))?;
    let now = now.map(|now| read::moment(&now, &home).map_err(within)).transpose()?;
    let mut among = functions.map(|names| read::functions(module, &names).map_err(within)).transpose()?;
    if let Choice::Allowed { names, .. } = &task.choice {
        let allowed = names
            .iter()
            .map(|name| task.named(module, name, "tool_choice.allowed_tools.tools"))
            .collect::<Result<Vec<_>, _>>()?;
        among = Some(match among {
            None => allowed,
            Some(among) => allowed.into_iter().filter(|function| among.contains(function)).collect(),
        });
    }
    let Conversation { instructions, history, utterance, .. } = conversation;
    Ok(utterance.map(|utterance| TurnRequest {
        utterance: utterance.text,
        strategy,
        now,
        among,
        budget: budget.map(Into::into).unwrap_or_default(),
        history,
        instructions,
        demand,
        language,
        single: task.origin == Origin::ResponseFormat,
        ..TurnRequest::default()
    }))
}

const fn is_one_at_a_time(delivery: Delivery) -> bool {
    matches!(delivery, Delivery::Tools { named: false, most: Some(1) } | Delivery::Function { named: false })
}

/// What is left of a turn of which so many calls were made already: there are never more calls than were understood.
fn without(mut turn: Turn, made: usize) -> Turn {
    match &mut turn.outcome {
        _ if made == 0 => turn,
        Outcome::Call(calls) if calls.len() > made => {
            calls.drain(..made);
            turn
        }
        _ => Turn { usage: turn.usage, ..nothing_new() },
    }
}

/// After the result of a call there is nothing to understand; agents take a message without calls for the end.
fn nothing_new() -> Turn {
    let note = "the last message is not the person's: nothing new was said";
    Turn {
        outcome: Outcome::NoMatch,
        confidence: 1.0,
        decided_by: DecidedBy::Local,
        frames: Vec::new(),
        trace: Trace { notes: vec![note.to_owned()], ..Trace::default() },
        usage: crate::llm::Usage::default(),
        pending: None,
    }
}
