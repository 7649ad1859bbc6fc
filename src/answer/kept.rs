//! How a conversation continues, and the content of a session. Pure.

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{SessionBody, Understood, Uptake, understood};
use crate::{
    conversation::{End, Expects, State},
    module::{FunctionId, Module},
    snapshot::Snapshot,
    understand,
};

/// Replaces a value that must not be shown.
const MASK: &str = "***";

/// The state of a conversation after a turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StateAfterTurn {
    /// For the client to echo, if the state is kept nowhere else.
    pub state: Option<String>,
    pub session: Option<SessionBody>,
    pub turn: u32,
    /// Empty if nothing is open.
    pub summary: String,
}

impl Uptake {
    /// Adds how the conversation continues.
    pub fn keep(&mut self, kept: StateAfterTurn) {
        let StateAfterTurn { state, session, turn, summary } = kept;
        self.state = state;
        self.session = session;
        self.turn = Some(turn);
        self.summary = (!summary.is_empty()).then_some(summary);
    }
}

/// What is known of a session. Values of sensitive slots are masked, except in `calls`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SessionView {
    pub id: String,
    /// The module's name.
    pub module: String,
    /// Null as long as nothing was understood.
    #[schema(required = true)]
    pub revision: Option<u64>,
    /// Turns so far.
    pub turn: u32,
    /// Seconds since 1970; null as long as nothing was understood.
    #[schema(required = true)]
    pub expires_at: Option<i64>,
    /// Observed utterances that this process has still to read.
    pub pending: usize,
    /// What is known of each function that is open, as in `uptake.calls`; the one that is being filled first.
    pub forms: Vec<Understood>,
    /// What was just asked.
    #[schema(required = true)]
    pub expects: Option<ExpectsBody>,
    /// What is known, missing and invalid, in words that a chat prompt can embed.
    pub summary: String,
    /// What was called, cancelled or handed off, the latest last.
    pub finished: Vec<FinishedBody>,
    /// The latest calls that observed utterances came to, the latest last: nobody else was told of them.
    pub calls: Vec<ObservedCall>,
}

/// What was just asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ExpectsBody {
    /// Values of these places: JSON pointers into the arguments; `-` stands for a new item.
    Slots { function: String, pointers: Vec<String> },
    /// Which of these functions is meant.
    Choice { functions: Vec<String> },
    /// A yes to what will be done.
    Yes { function: String },
    /// What is to be changed.
    Change { function: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FinishedBody {
    pub function: String,
    /// `called`, `cancelled` or `handed_off`.
    #[schema(value_type = String, example = "called")]
    pub end: &'static str,
    /// The turn that asked for it.
    pub opened: u32,
    /// The turn that ended it.
    pub turn: u32,
}

/// A call that an observed utterance came to.
#[derive(Debug, Clone, PartialEq, Serialize, serde::Deserialize, ToSchema)]
pub struct ObservedCall {
    /// The turn that it came up in.
    pub turn: u32,
    pub name: String,
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    pub arguments: Map<String, Value>,
}

impl SessionView {
    /// The view of `state`, under an id that the caller fills in.
    #[must_use]
    pub fn of(snapshot: &Snapshot, state: &State) -> Self {
        let module = &snapshot.module;
        let frames = understand::open_frames(snapshot, state);
        Self {
            id: String::new(),
            module: module.name.to_string(),
            revision: None,
            turn: state.turn,
            expires_at: None,
            pending: 0,
            forms: frames.iter().map(|frame| masked(module, frame.function, understood(module, frame))).collect(),
            expects: state.expects.as_ref().map(expects),
            summary: understand::summary(snapshot, None, state),
            finished: state
                .finished
                .iter()
                .map(|finished| FinishedBody {
                    function: finished.function.clone(),
                    end: match finished.end {
                        End::Called => "called",
                        End::Cancelled => "cancelled",
                        End::HandedOff => "handed_off",
                    },
                    opened: finished.opened,
                    turn: finished.turn,
                })
                .collect(),
            calls: Vec::new(),
        }
    }
}

fn expects(expects: &Expects) -> ExpectsBody {
    match expects {
        Expects::Slots { function, pointers } => {
            ExpectsBody::Slots { function: function.clone(), pointers: pointers.clone() }
        }
        Expects::Choice { functions, .. } => ExpectsBody::Choice { functions: functions.clone() },
        Expects::Yes { function } => ExpectsBody::Yes { function: function.clone() },
        Expects::Change { function } => ExpectsBody::Change { function: function.clone() },
    }
}

fn masked(module: &Module, function: FunctionId, mut form: Understood) -> Understood {
    let name = &module.function(function).name;
    for (path, slot) in &mut form.slots {
        if understand::is_sensitive(module, name, path) {
            for value in slot.values_mut() {
                value.value = MASK.into();
                (value.text, value.unread) = (None, None);
            }
        }
    }
    for violation in &mut form.invalid {
        let path = crate::module::SlotPath::of_pointer(&violation.path).to_string();
        if understand::is_sensitive(module, name, &path) && violation.found.is_some() {
            violation.found = Some(MASK.into());
        }
    }
    form
}
