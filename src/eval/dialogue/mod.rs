//! Conversations as cases: what a person says turn by turn, and the expected result of each turn.
//!
//! | file | holds |
//! |---|---|
//! | `read` | reads a dialogue from its JSON |
//! | `check` | compares a turn with its expectation: pure |
//! | `run` | runs a dialogue through [`converse`](crate::understand::Understander::converse), turn by turn |
//! | `report` | the results in lines |

use serde::Serialize;
use serde_json::{Map, Value};

use super::{CaseLocation, ExpectedFunction, OutcomeKind};

mod check;
mod read;
pub(super) mod report;
mod run;

pub use check::Difference;
pub(super) use read::dialogue;
pub(super) use run::{known, run};

/// A conversation and the expected result of each turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Dialogue {
    pub place: CaseLocation,
    pub id: Option<String>,
    /// Never empty.
    pub turns: Vec<DialogueTurn>,
    /// The reference moment for words like "tomorrow", as written.
    pub now: Option<String>,
    /// BCP 47 language in which questions are worded.
    pub language: Option<String>,
}

impl Dialogue {
    /// It needs a model server, and contains that server's answers.
    #[must_use]
    pub fn is_scripted(&self) -> bool {
        self.turns.iter().any(|turn| !turn.replies.is_empty())
    }
}

/// What a person says, and the expected result.
#[derive(Debug, Clone, PartialEq)]
pub struct DialogueTurn {
    pub user: String,
    pub expect: Expect,
    /// `expect` as its author wrote it, for reports.
    pub written: Value,
    /// The model server's answers in this turn, one for each request; empty if it is not asked.
    pub replies: Vec<ScriptedReply>,
}

/// One answer of a model server.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptedReply {
    Call {
        /// A function's name in the module, or an unknown one.
        name: String,
        arguments: Map<String, Value>,
    },
    Text(String),
}

/// The expected result of a turn. Only given members are checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expect {
    pub outcome: Option<OutcomeKind>,
    /// The only function that is called, asked about, cancelled or handed off.
    pub function: Option<String>,
    /// The functions of a tie, of several calls or of a cancellation, in any order.
    pub functions: Option<Vec<ExpectedFunction>>,
    /// All arguments of a call; otherwise some of what is known so far.
    pub arguments: Option<Map<String, Value>>,
    /// Slots that are empty now, with or without an item number: `dishes[1]`, `dishes[].extras`.
    pub absent: Vec<String>,
    pub asked: ExpectedQuestion,
    /// The question beside a call or a cancellation.
    pub pending: Option<ExpectedQuestion>,
}

/// What a question is about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExpectedQuestion {
    pub slot: Option<AskedSlot>,
    pub about: Option<Topic>,
    /// A part of its text, ignoring case.
    pub question: Option<String>,
}

/// The slots that a question asks for: paths, with or without an item number.
#[derive(Debug, Clone, PartialEq)]
pub enum AskedSlot {
    /// This one, possibly among others.
    Among(String),
    /// Exactly these, in any order.
    Exactly(Vec<String>),
}

/// The kind of question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    Missing,
    Group,
    Invalid,
    Rule,
    Tie,
    Confirm,
    Change,
}

impl Topic {
    pub const ALL: [Self; 7] =
        [Self::Missing, Self::Group, Self::Invalid, Self::Rule, Self::Tie, Self::Confirm, Self::Change];

    /// The name in cases and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Group => "group",
            Self::Invalid => "invalid",
            Self::Rule => "rule",
            Self::Tie => "tie",
            Self::Confirm => "confirm",
            Self::Change => "change",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|topic| topic.name() == name)
    }
}

/// The results of the dialogues.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Dialogues {
    /// Dialogues that ran as the module is served.
    pub plain: DialogueCounts,
    /// Dialogues that contain the answers of a model server.
    pub scripted: DialogueCounts,
    /// In the order of the files.
    #[serde(skip)]
    pub wrong: Vec<WrongDialogue>,
}

impl Dialogues {
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.plain.dialogues == 0 && self.scripted.dialogues == 0
    }

    /// Number of both kinds.
    #[must_use]
    pub const fn all(&self) -> usize {
        self.plain.dialogues + self.scripted.dialogues
    }
}

/// A dialogue is right if each of its turns is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct DialogueCounts {
    pub dialogues: usize,
    pub right: usize,
    pub turns: usize,
    pub turns_right: usize,
}

/// A dialogue up to its first wrong turn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WrongDialogue {
    pub place: CaseLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub is_scripted: bool,
    /// The number of the turn, from 1.
    pub turn: usize,
    /// As its author wrote it.
    pub expected: Value,
    /// Never empty.
    pub differences: Vec<Difference>,
    /// Everything that was said, ending with this turn.
    pub so_far: Vec<TranscriptTurn>,
}

/// What a person said and the answer, in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TranscriptTurn {
    pub user: String,
    pub answer: String,
}
