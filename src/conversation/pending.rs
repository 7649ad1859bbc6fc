//! A pending question.

use super::{
    rules::Broken,
    state::{Expects, InvalidValue},
};
use crate::module::{FunctionId, Module, SlotPath};

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Pending {
    /// Asks for values of these places, which are all required or asked for by the module; never empty. Pointers into
    /// an array without items have `-` for the item.
    Missing { function: FunctionId, pointers: Vec<String> },
    /// Asks for another value in place of an invalid one.
    Invalid { function: FunctionId, aside: InvalidValue },
    /// Asks which of some values to change, since they do not fit together.
    Rule { function: FunctionId, broken: Broken },
    /// Asks which of these functions is meant: they fit equally well.
    Tie { functions: Vec<FunctionId> },
    /// A yes to what will be done.
    Confirm { function: FunctionId },
    /// What is to be changed, after a no.
    Change { function: FunctionId },
}

impl Pending {
    /// The function that it is about; several in a tie.
    #[must_use]
    pub fn functions(&self) -> &[FunctionId] {
        match self {
            Self::Tie { functions } => functions,
            Self::Missing { function, .. }
            | Self::Invalid { function, .. }
            | Self::Rule { function, .. }
            | Self::Confirm { function }
            | Self::Change { function } => std::slice::from_ref(function),
        }
    }

    /// The slots that it asks for or is about.
    #[must_use]
    pub fn slots(&self) -> Vec<SlotPath> {
        match self {
            Self::Missing { pointers, .. } => {
                let mut slots: Vec<SlotPath> = pointers.iter().map(|pointer| SlotPath::of_pointer(pointer)).collect();
                slots.dedup();
                slots
            }
            Self::Invalid { aside, .. } => vec![SlotPath::of_pointer(&aside.pointer)],
            Self::Rule { broken, .. } => broken.slots.clone(),
            Self::Tie { .. } | Self::Confirm { .. } | Self::Change { .. } => Vec::new(),
        }
    }

    /// The places whose values would answer it, as JSON pointers.
    #[must_use]
    pub fn pointers(&self) -> Vec<String> {
        match self {
            Self::Missing { pointers, .. } => pointers.clone(),
            Self::Invalid { aside, .. } => vec![aside.pointer.clone()],
            Self::Rule { broken, .. } => broken.slots.iter().map(SlotPath::pointer).collect(),
            Self::Tie { .. } | Self::Confirm { .. } | Self::Change { .. } => Vec::new(),
        }
    }

    /// True if all places that it asks for are optional.
    #[must_use]
    pub fn is_optional(&self, module: &Module) -> bool {
        let Self::Missing { function, pointers } = self else { return false };
        let is_optional = |pointer: &String| {
            let path = SlotPath::of_pointer(pointer);
            let mut slots = module.function(*function).slots.iter();
            slots.any(|slot| slot.path == path && !slot.required && !path.is_repeated())
        };
        pointers.iter().all(is_optional)
    }

    /// The key under which tries are counted.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::Missing { pointers, .. } => pointers.first().cloned().unwrap_or_default(),
            Self::Invalid { aside, .. } => aside.pointer.clone(),
            Self::Rule { broken, .. } => broken.check.clone(),
            Self::Confirm { .. } | Self::Change { .. } => "yes".to_owned(),
            Self::Tie { .. } => String::new(),
        }
    }

    /// What the state keeps of it; `None` for a tie, which is kept with its utterance.
    #[must_use]
    pub fn expects(&self, module: &Module) -> Option<Expects> {
        let name = |function: &FunctionId| module.function(*function).name.clone();
        match self {
            Self::Missing { function, .. } | Self::Invalid { function, .. } | Self::Rule { function, .. } => {
                Some(Expects::Slots { function: name(function), pointers: self.pointers() })
            }
            Self::Confirm { function } => Some(Expects::Yes { function: name(function) }),
            Self::Change { function } => Some(Expects::Change { function: name(function) }),
            Self::Tie { .. } => None,
        }
    }
}
