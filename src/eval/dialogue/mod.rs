//! Conversations as cases: what a person says turn by turn, and what each turn should come to.
//!
//! | file | holds |
//! |---|---|
//! | `read` | a dialogue out of its JSON |
//! | `check` | what a turn came to against what was expected: pure |
//! | `run` | a dialogue through [`converse`](crate::understand::Understander::converse), turn by turn |
//! | `report` | what came of them, in lines |

use serde::Serialize;
use serde_json::{Map, Value};

use super::{ExpectedFunction, OutcomeKind, Place};

mod check;
mod read;
pub(super) mod report;
mod run;

pub use check::Difference;
pub(super) use read::dialogue;
pub(super) use run::{known, run};

/// A conversation and what each of its turns should come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Dialogue {
    pub place: Place,
    pub id: Option<String>,
    /// Never empty.
    pub turns: Vec<DialogueTurn>,
    /// The moment in which "tomorrow" is read, as it is written.
    pub now: Option<String>,
    /// BCP 47 language in which questions are worded.
    pub language: Option<String>,
}

impl Dialogue {
    /// It needs a model server, and says what that one answers.
    #[must_use]
    pub fn is_scripted(&self) -> bool {
        self.turns.iter().any(|turn| !turn.replies.is_empty())
    }
}

/// What a person says, and what should come of it.
#[derive(Debug, Clone, PartialEq)]
pub struct DialogueTurn {
    pub user: String,
    pub expect: Expect,
    /// `expect` as its author wrote it, for reports.
    pub written: Value,
    /// What a model server answers in this turn, one for each time that it is asked; empty: it is not asked.
    pub replies: Vec<Reply>,
}

/// What a model server answers once.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    Call {
        /// The function's name as the module has it, or one that it does not have.
        name: String,
        arguments: Map<String, Value>,
    },
    Text(String),
}

/// What a turn should come to. Only what is given is checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expect {
    pub outcome: Option<OutcomeKind>,
    /// The function that is called, asked about, cancelled or handed off; and it alone.
    pub function: Option<String>,
    /// The functions of a tie, of several calls or of a cancellation, in any order.
    pub functions: Option<Vec<ExpectedFunction>>,
    /// All arguments of a call; else some of what is known so far.
    pub arguments: Option<Map<String, Value>>,
    /// Slots that hold nothing now, with or without the number of an item: `dishes[1]`, `dishes[].extras`.
    pub absent: Vec<String>,
    pub asked: Asked,
    /// What is asked beside a call or a cancellation.
    pub pending: Option<Asked>,
}

/// What a question is about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Asked {
    pub slot: Option<AskedSlot>,
    pub about: Option<Topic>,
    /// A part of its text, whatever its case.
    pub question: Option<String>,
}

/// The slots that a question asks for: paths, with or without the number of an item.
#[derive(Debug, Clone, PartialEq)]
pub enum AskedSlot {
    /// This one, maybe among others.
    Among(String),
    /// These and no others, in any order.
    Exactly(Vec<String>),
}

/// What kind of question it is.
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

    /// As cases and reports spell it.
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

/// What the dialogues came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Dialogues {
    /// Those that ran as the module is served.
    pub plain: Counted,
    /// Those that bring the answers of a model server with them.
    pub scripted: Counted,
    /// In the order of the files.
    #[serde(skip)]
    pub wrong: Vec<WrongDialogue>,
}

impl Dialogues {
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.plain.dialogues == 0 && self.scripted.dialogues == 0
    }

    /// Of both kinds.
    #[must_use]
    pub const fn all(&self) -> usize {
        self.plain.dialogues + self.scripted.dialogues
    }
}

/// A dialogue is right if each of its turns is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counted {
    pub dialogues: usize,
    pub right: usize,
    pub turns: usize,
    pub turns_right: usize,
}

/// A dialogue up to the first turn that is not right.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WrongDialogue {
    pub place: Place,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub is_scripted: bool,
    /// The number of the turn, from 1.
    pub turn: usize,
    /// As its author wrote it.
    pub expected: Value,
    /// Never empty.
    pub differences: Vec<Difference>,
    /// Everything that was said, this turn included: it is the last.
    pub so_far: Vec<Exchange>,
}

/// What a person said and what came back, in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exchange {
    pub user: String,
    pub answer: String,
}
