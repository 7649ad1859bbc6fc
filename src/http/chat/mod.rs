//! `POST /v1/chat/completions`: takes a conversation, returns a message or calls, in the form of the `OpenAI` API.
//!
//! | file | holds |
//! |---|---|
//! | `request` | the members of a request, and those that are refused |
//! | `conversation` | the messages |
//! | `framework` | what agent libraries write into messages |
//! | `tools` | which functions the request lets us call, and in which form to answer |
//! | `offer` | the functions that may be called, and what is known of them |
//! | `chore` | what frontends ask for themselves |
//! | `form` | the answer's words, in the form that the request wants |
//! | `stream` | the answer in pieces |
//! | `models` | modules under the name that such clients know |

mod chore;
pub(super) mod conversation;
mod form;
mod framework;
pub(super) mod models;
mod offer;
mod options;
pub(super) mod request;
pub(super) mod stream;
mod tools;

use std::sync::Arc;

use axum::{
    extract::State,
    http::HeaderMap,
    response::{IntoResponse as _, Response},
};
use tokio::{sync::mpsc::UnboundedReceiver, time::Instant};

use super::{
    ApiError, AppState, Fault,
    caller::Caller,
    conversations::{Keeping, Repeat, Spoken, language},
    extract::{Admitted, Permit},
    json::Json,
};
use crate::{
    answer::{ChatCompletion, Delivery, Stamp, StateAfterTurn, chunk::Chunks},
    call::Call,
    language::{Language, spoken},
    llm::Listener,
    module::{
        FunctionId,
        settings::{ChatCalls, ForeignTools, StrategyName},
    },
    shares::Owner,
    snapshot::Snapshot,
    understand::{
        CallResult, Demand, Front, HistoryMessage, Outcome, Turn, TurnRequest, request as read, told, understood,
    },
};
use conversation::{Conversation, Utterance};
use form::MessageForm;
use offer::Offer;
pub use options::ChatOptions;
use request::{ChatRequest, UptakeOptions};
use stream::Completing;
use tools::{ChatTask, Choice, FunctionsField};

/// What becomes of tools that are not the module's own, where the body does not say it.
const TOOLS: &str = "x-uptake-tools";

/// Answer the last message of a conversation
///
/// Speaks the `OpenAI` API: calls come back as `tool_calls`; a question about what is missing, and what no function
/// fits, as a message. All three are answers (200). With `stream`, the same comes in chunks.
///
/// The conversation is what the messages say: what was asked before is answered by the last one. `uptake.state` or
/// `uptake.session_id` in the request keep it in other ways.
#[utoipa::path(
    post, path = "/v1/chat/completions", tag = "understand",
    params((
        "x-uptake-tools" = Option<String>, Header,
        description = "`ignore`, `add` or `replace`: the same as `uptake.tools`, for clients that cannot send members of ours",
    )),
    request_body = ChatRequest,
    responses((
        status = 200, description = "What was understood",
        content((ChatCompletion = "application/json"), (stream::ChatEvent = "text/event-stream")),
    )),
)]
pub(super) async fn complete(
    State(app): State<AppState>,
    caller: Caller,
    headers: HeaderMap,
    Admitted { permit, body: request }: Admitted<ChatRequest>,
) -> Result<Response, ApiError> {
    let deadline = Instant::now() + app.options.timeout();
    let streamed = (request.stream == Some(true))
        .then(|| request.stream_options.as_ref().and_then(|options| options.include_usage).unwrap_or(false));
    let mut job = Job::prepare(&app, &caller, &headers, request, permit).await?;
    match streamed {
        None => Ok(Json(job.run(&app).await?).into_response()),
        Some(with_usage) => {
            let chunks = Chunks::new(&job.snapshot.module, &job.stamp, with_usage);
            let words = job.listened();
            let turn = {
                let app = app.clone();
                async move { job.run(&app).await }
            };
            stream::respond(app, Completing::new(chunks), turn, words, deadline).await
        }
    }
}

/// Reads the header that says what to do with tools that are not the module's own.
fn header(headers: &HeaderMap) -> Result<Option<ForeignTools>, ApiError> {
    let Some(value) = headers.get(TOOLS) else { return Ok(None) };
    let read = value.to_str().ok().and_then(ForeignTools::named);
    read.map(Some).ok_or_else(|| {
        let message = format!("the header `{TOOLS}` is `ignore`, `add` or `replace`");
        ApiError::fault(Fault::InvalidValue, message).about(TOOLS)
    })
}

/// Bytes counted for each message and each result in addition to its text: there may be many small ones.
const EACH: usize = 64;

/// A validated request.
pub(super) struct Job {
    snapshot: Arc<Snapshot>,
    task: ChatTask,
    /// `None` if the request has no new utterance.
    request: Option<TurnRequest>,
    /// The answer to a frontend's own request.
    chore: Option<String>,
    /// What another agent said, which has given the conversation back: nothing is added to it.
    handed_back: Option<String>,
    notes: Vec<String>,
    /// The previous utterance if there is no new one, including the message that the calls answered.
    before: Option<TurnRequest>,
    /// Results of the calls since the person last spoke.
    results: Vec<CallResult>,
    /// Language of the answers.
    language: Option<String>,
    keeping: Keeping,
    /// Functions that the client calls itself.
    theirs: Vec<String>,
    /// Which calls the answer contains.
    calls: ChatCalls,
    repeat: Repeat,
    /// The owner whose share the answer uses.
    owner: Owner,
    /// How many of the utterance's calls were made in earlier answers, one in each.
    made: usize,
    /// The name of the utterance in error messages.
    param: String,
    /// Whether the request itself named the strategy.
    named_strategy: bool,
    delivery: Delivery,
    /// Receives words while they are being written.
    listener: Option<Listener>,
    stamp: Stamp,
    _permit: Permit,
}

impl Job {
    /// # Errors
    /// With the wrong member.
    pub(super) async fn prepare(
        app: &AppState,
        caller: &Caller,
        headers: &HeaderMap,
        mut request: ChatRequest,
        permit: Permit,
    ) -> Result<Self, ApiError> {
        let own = &mut request.uptake.get_or_insert_default().tools;
        if own.is_none() {
            *own = header(headers)?;
        }
        request.check()?;
        let (messages, limit) = (request.messages.take(), app.turns.max_utterance);
        let bytes = messages.as_ref().map_or(0, Vec::len) * EACH;
        let owner = caller.as_owner();
        let read = app.understander.working(&owner, bytes, || Conversation::read(messages, limit)).await;
        let mut conversation = read?;
        let task = ChatTask::read(&mut request)?;
        let mut options = request.uptake.take().unwrap_or_default();
        let keeping = keeping(&mut options, caller)?;
        let named = options.language.as_deref().and_then(Language::of);
        let spoken = || named.or_else(|| spoken::spoken(conversation.said_by_person()));
        let Offer { snapshot, first, theirs, mut notes } =
            offer::offer(app, caller, request.model.as_deref(), &task, options.tools, spoken).await?;
        let calls = options.calls.or(snapshot.module.settings.chat.calls).unwrap_or(app.options.chat.calls);
        let demand = demand(&task, &snapshot)?;
        let delivery = delivery(&task, request.parallel_tool_calls);
        let results = std::mem::take(&mut conversation.results);
        notes.append(&mut conversation.notes);
        let chore = chore::answer(&conversation);
        let handed_back = conversation.handed_back.take();
        let mut made = 0;
        // A client that takes one call at a time gets the next call after the result of the one before.
        if is_one_at_a_time(delivery)
            && let Some((utterance, calls)) = conversation.done.take()
        {
            conversation.utterance = Some(utterance);
            made = calls;
        }
        let param = conversation.utterance.as_ref().map(Utterance::param).unwrap_or_default();
        let named_strategy = options.strategy.is_some();
        let is_new = conversation.utterance.is_some() && chore.is_none();
        if let Some((utterance, _)) = conversation.done.take() {
            conversation.utterance = Some(utterance);
        }
        let mut request = turn_request(app, &snapshot, conversation, &task, demand, options)?;
        request.first = first;
        request.owner = owner.clone();
        let language = request.language.clone();
        let before = (!is_new).then(|| std::mem::take(&mut request));
        let request = is_new.then_some(request);
        let stamp = Stamp::now();
        Ok(Self {
            snapshot,
            task,
            request,
            chore,
            handed_back,
            notes,
            before,
            results,
            language,
            keeping,
            theirs,
            calls,
            repeat: Repeat::of(headers, caller),
            owner,
            made,
            param,
            named_strategy,
            delivery,
            listener: None,
            stamp,
            _permit: permit,
        })
    }

    /// Adds these notes to the answer.
    pub(super) fn note(&mut self, notes: Vec<String>) {
        self.notes.extend(notes);
    }

    /// The name of the module that answers.
    pub(super) fn model(&self) -> String {
        self.snapshot.module.name.to_string()
    }

    /// Whether the module has slots whose values must not be stored.
    pub(super) fn may_be_sensitive(&self) -> bool {
        let mut functions = self.snapshot.module.settings.functions.values();
        functions.any(|function| function.slots.values().any(|slot| slot.sensitive))
    }

    /// Seconds since 1970.
    pub(super) const fn created(&self) -> u64 {
        self.stamp.created
    }

    /// Sends the text while it is being written, if the answer passes it on unchanged.
    pub(super) fn listened(&mut self) -> UnboundedReceiver<String> {
        let (listener, words) = Listener::new();
        self.listener = Some(listener).filter(|_| self.says_text());
        words
    }

    pub(super) async fn run(self, app: &AppState) -> Result<ChatCompletion, ApiError> {
        let module = &self.snapshot.module;
        let mut delivery = self.delivery;
        let (mut turn, kept, pending) = match &self.request {
            Some(request) => {
                let (turn, kept) = self.understood(app, request).await.map_err(|error| {
                    error.renamed(|param| match param {
                        "utterance" => self.param.clone(),
                        other => format!("uptake.{other}"),
                    })
                })?;
                app.record(&module.name, &turn);
                let turn = self.worded(turn);
                delivery = self.delivery_of(&turn);
                (self.told_in_words(turn), kept, None)
            }
            None => {
                let pending = self.pending(app).await?;
                let told = || self.told(pending.as_deref());
                let turn = app.understander.working(&self.owner, self.results.len() * EACH, told).await;
                (turn, None, pending)
            }
        };
        let summary = kept.as_ref().map_or("", |kept: &StateAfterTurn| kept.summary.as_str());
        self.front(app, (summary, pending.as_deref()), &mut turn).await?;
        turn.trace.notes.extend(self.notes.iter().cloned());
        let id = (self.stamp.call_id)();
        let mut completion = ChatCompletion::delivered(module, &turn, self.stamp, delivery);
        if let Some(kept) = kept {
            completion.uptake.keep(kept);
        }
        let at = (app, &self.owner);
        form::shape(at, &self.task.words, &self.results, &mut completion).await;
        if let (Some(ending), Choice::Required) = (&self.task.ending, &self.task.choice) {
            ending.call(at, &self.results, &mut completion, id).await;
        }
        Ok(completion)
    }

    /// Whether the answer passes its text on unchanged, so that it can be streamed while it is being written.
    fn says_text(&self) -> bool {
        let is_call = self.task.ending.is_some() && self.task.choice == Choice::Required;
        self.task.words == MessageForm::Text && self.delivery != Delivery::Object && !is_call
    }

    /// Lets the model server answer an utterance that means no function, where that is wanted; passes the open request
    /// and the pending question along.
    async fn front(
        &self,
        app: &AppState,
        (summary, then): (&str, Option<&str>),
        turn: &mut Turn,
    ) -> Result<(), ApiError> {
        let wanted = self.snapshot.module.settings.chat.front.unwrap_or(app.options.chat.front);
        let is_local = self.strategy() == Some(StrategyName::Local);
        let is_final = self.delivery == Delivery::Object || turn.is_answered;
        if !wanted || is_local || is_final || turn.outcome != Outcome::NoMatch || app.understander.servers.is_empty() {
            return Ok(());
        }
        let Some(request) = self.request.as_ref().or(self.before.as_ref()) else { return Ok(()) };
        let listener = self.listener.clone();
        let is_chore = self.chore.is_some();
        let front = Front { request, results: &self.results, summary, then, is_chore, listener };
        let answered = app.understander.front(&self.snapshot, &front, turn).await;
        answered.map_err(|error| ApiError::of_turn(&error, false))
    }

    fn strategy(&self) -> Option<StrategyName> {
        self.request.as_ref().or(self.before.as_ref()).and_then(|request| request.strategy)
    }

    /// The turn without the calls that were already made (`made`), or with a text if none are left.
    fn worded(&self, mut turn: Turn) -> Turn {
        let module = &self.snapshot.module;
        match &mut turn.outcome {
            Outcome::Call(calls) if self.made > 0 && calls.len() > self.made => {
                calls.drain(..self.made);
            }
            _ if self.made > 0 => {
                let usage = turn.usage;
                return Turn { usage, ..told(module, self.language.as_deref(), &self.results, None) };
            }
            Outcome::Call(calls) if self.delivery == Delivery::Withheld => {
                turn.remark = Some(understood(module, self.language.as_deref(), calls));
            }
            _ => {}
        }
        turn
    }

    /// True for a call that the client will not make: it does not offer the function, and did not ask for other calls.
    fn is_unoffered(&self, call: &Call) -> bool {
        let name = &self.snapshot.module.function(call.function()).name;
        let is_told = matches!(self.delivery, Delivery::Tools { .. } | Delivery::Function { .. });
        is_told && self.calls == ChatCalls::Offered && !self.theirs.contains(name)
    }

    /// If the client makes none of the calls, the answer tells them in words.
    fn delivery_of(&self, turn: &Turn) -> Delivery {
        match &turn.outcome {
            Outcome::Call(calls) if calls.iter().all(|call| self.is_unoffered(call)) => Delivery::Told,
            _ => self.delivery,
        }
    }

    /// The turn with the calls that the client will not make put into words, before the next question.
    fn told_in_words(&self, mut turn: Turn) -> Turn {
        let Outcome::Call(calls) = &mut turn.outcome else { return turn };
        let told: Vec<Call> = calls.iter().filter(|call| self.is_unoffered(call)).cloned().collect();
        if told.is_empty() {
            return turn;
        }
        if told.len() < calls.len() {
            calls.retain(|call| !self.is_unoffered(call));
        }
        turn.preface(&understood(&self.snapshot.module, self.language.as_deref(), &told));
        turn.trace
            .notes
            .push("the request offers no tool for what is called: it is told in words (`calls`)".to_owned());
        turn
    }

    /// The answer if there is no new utterance: the results of the calls, and the pending question.
    fn told(&self, pending: Option<&str>) -> Turn {
        let module = &self.snapshot.module;
        if let Some(words) = &self.handed_back {
            let turn = told(module, self.language.as_deref(), &self.results, pending);
            let remark = if self.results.is_empty() { Some(words.clone()) } else { turn.remark.clone() };
            return Turn { remark, is_answered: true, ..turn };
        }
        let Some(text) = &self.chore else { return told(module, self.language.as_deref(), &self.results, pending) };
        let mut turn = told(module, self.language.as_deref(), &[], None);
        turn.trace.notes = vec!["the frontend asks for itself: this is answered from the person's words".to_owned()];
        Turn { remark: Some(text.clone()), ..turn }
    }

    /// The question that is still open, if there is no new utterance.
    async fn pending(&self, app: &AppState) -> Result<Option<String>, ApiError> {
        let Some(before) = self.before.as_ref().filter(|_| self.chore.is_none()) else { return Ok(None) };
        if self.keeping != Keeping::Messages {
            return Ok(None);
        }
        let replays = &app.conversations.replays;
        let called = self.results.iter().filter_map(|result| result.function.as_deref());
        let pending = replays.pending(&self.repeat.owner, &app.understander, &self.snapshot, before, called).await;
        pending.map_err(|error| ApiError::of_turn(&error, self.named_strategy))
    }

    /// The turn, and the state of the conversation after it, if it is one.
    async fn understood(
        &self,
        app: &AppState,
        request: &TurnRequest,
    ) -> Result<(Turn, Option<StateAfterTurn>), ApiError> {
        // Requests for an object take one text, not a form filled over several messages. And if the first calls of this
        // utterance were already made, a kept state has already counted the turn.
        let is_kept = !matches!(self.keeping, Keeping::Messages);
        if request.single || (self.made > 0 && is_kept) {
            let turn = app.understander.turn(&self.snapshot, request).await;
            return turn.map(|turn| (turn, None)).map_err(|error| ApiError::of_turn(&error, self.named_strategy));
        }
        let meanwhile = if is_kept { meanwhile(&request.history) } else { &[] };
        // If the answer may not contain calls, no call is made here either.
        let may_act = matches!(self.delivery, Delivery::Tools { .. } | Delivery::Function { .. });
        let spoken = Spoken {
            request,
            meanwhile,
            is_named: self.named_strategy,
            theirs: may_act.then_some(self.theirs.as_slice()),
            repeat: &self.repeat,
        };
        let told = app.converse(&self.snapshot, &self.keeping, &spoken).await?;
        Ok((told.turn, Some(told.kept)))
    }
}

/// Where the conversation is kept.
fn keeping(options: &mut UptakeOptions, caller: &Caller) -> Result<Keeping, ApiError> {
    let (state, id) = (options.state.take(), options.session_id.take());
    Keeping::read(state, id, options.revision, caller, Keeping::Messages)
        .map_err(|error| error.renamed(|param| format!("uptake.{param}")))
}

/// What followed the person's previous message.
fn meanwhile(history: &[HistoryMessage]) -> &[HistoryMessage] {
    let person = history.iter().rposition(|said| matches!(said, HistoryMessage::Person(_)));
    &history[person.map_or(0, |person| person + 1)..]
}

fn demand(task: &ChatTask, snapshot: &Snapshot) -> Result<Demand, ApiError> {
    Ok(match &task.choice {
        // A call is required, and the ending of a task is a call.
        Choice::Required if task.ending.is_some() => Demand::Auto,
        Choice::Auto | Choice::None | Choice::Allowed { required: false, .. } => Demand::Auto,
        Choice::Required | Choice::Allowed { required: true, .. } => Demand::Required,
        Choice::Named { name, param } => Demand::Function(task.named(&snapshot.module, name, param)?),
    })
}

fn delivery(task: &ChatTask, parallel: Option<bool>) -> Delivery {
    let named = matches!(task.choice, Choice::Named { .. });
    match task.origin {
        FunctionsField::ResponseFormat => Delivery::Object,
        _ if task.choice == Choice::None => Delivery::Withheld,
        FunctionsField::Functions => Delivery::Function { named },
        FunctionsField::Tools => Delivery::Tools { named, most: (parallel == Some(false)).then_some(1) },
    }
}

fn turn_request(
    app: &AppState,
    snapshot: &Snapshot,
    conversation: Conversation,
    task: &ChatTask,
    demand: Demand,
    options: UptakeOptions,
) -> Result<TurnRequest, ApiError> {
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
    let Conversation { instructions, history, utterance, handed_over, .. } = conversation;
    // An agent that has just handed over does not get the task back before something is done.
    if !handed_over.is_empty() {
        let is_left = |id: &FunctionId| !handed_over.contains(&module.function(*id).name);
        let left: Vec<FunctionId> =
            among.unwrap_or_else(|| module.function_ids().collect()).into_iter().filter(is_left).collect();
        among = Some(left);
    }
    Ok(TurnRequest {
        utterance: utterance.map(|utterance| utterance.text).unwrap_or_default(),
        strategy,
        now,
        among,
        budget: budget.map(Into::into).unwrap_or_default(),
        history,
        instructions,
        demand,
        language,
        single: task.origin == FunctionsField::ResponseFormat,
        ..TurnRequest::default()
    })
}

const fn is_one_at_a_time(delivery: Delivery) -> bool {
    matches!(delivery, Delivery::Tools { named: false, most: Some(1) } | Delivery::Function { named: false })
}
