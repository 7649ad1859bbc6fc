//! A template as a sequence of words and slots.

use super::words::parts;
use crate::{
    module::{Exemplar, OwnerMode, Piece, SlotId},
    text::{Utterance, is_unspaced},
};

/// A template, its words folded.
#[derive(Debug)]
pub(super) struct Template {
    pub items: Vec<Item>,
    /// It speaks only where something of it was asked for.
    pub is_contextual: bool,
    /// It looks like the function and is none of it.
    pub is_negative: bool,
    /// The slots behind which it has a possessive: "<pet>'s collar".
    pub possessives: Vec<SlotId>,
    /// All of it is a value of this slot.
    pub is_value_of: Option<SlotId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    Word(Box<str>),
    Slot(SlotId),
    /// A comma or its like between two slots.
    Mark,
}

/// How people write that something is somebody's.
pub(super) const POSSESSIVES: [&str; 2] = ["'s", "’s"];

/// Words of an addition, at most, and characters where these are words.
const ADDED: usize = 4;
const ADDED_UNSPACED: usize = 9;

/// What follows a possessive; `None` of a text that begins with none.
fn without_possessive(text: &str) -> Option<&str> {
    let rest = POSSESSIVES.iter().find_map(|possessive| text.strip_prefix(possessive))?;
    (!rest.starts_with(char::is_alphanumeric)).then_some(rest)
}

impl Template {
    /// `None` if it has a slot that the function has not.
    pub(super) fn new(exemplar: &Exemplar) -> Option<Self> {
        let mut items: Vec<Item> = Vec::new();
        let mut possessives = Vec::new();
        for piece in &exemplar.pieces {
            match piece {
                Piece::Slot { slot, .. } => items.push(Item::Slot((*slot)?)),
                Piece::Text(text) => {
                    // A possessive is part of the word before it, which is the last one of a value.
                    let owner = match items.last() {
                        Some(Item::Slot(slot)) => without_possessive(text).map(|rest| (*slot, rest)),
                        _ => None,
                    };
                    possessives.extend(owner.map(|(slot, _)| slot));
                    let utterance = Utterance::new(owner.map_or(text.as_str(), |(_, rest)| rest));
                    let words = utterance.folded_words().map(|word| Item::Word(word.into()));
                    let before = items.len();
                    items.extend(words);
                    if items.len() == before && before > 0 && text.chars().any(parts) {
                        items.push(Item::Mark);
                    }
                }
            }
        }
        Some(Self {
            items,
            is_contextual: exemplar.context_frame.is_some() || exemplar.context_slot.is_some(),
            is_negative: exemplar.mode == OwnerMode::Negative,
            possessives,
            is_value_of: None,
        })
    }

    /// The sentence that the author kept of an exemplar which is nothing but a slot: what its words say is all that tells
    /// what is wanted.
    pub(super) fn kept(exemplar: &Exemplar) -> Option<Self> {
        let [Piece::Slot { slot: Some(slot), .. }] = exemplar.pieces[..] else { return None };
        let sentence = Utterance::new(exemplar.utterance.as_deref()?);
        let items: Vec<Item> = sentence.folded_words().map(|word| Item::Word(word.into())).collect();
        let own = Self::new(exemplar).filter(|_| !items.is_empty())?;
        Some(Self { items, is_value_of: Some(slot), ..own })
    }

    pub(super) const fn speaks(&self) -> bool {
        !self.is_negative && !self.is_contextual
    }

    /// What stands between two slots, with the second one: "<city> on <date>" adds "on <date>".
    pub(super) fn additions(&self) -> impl Iterator<Item = Vec<Item>> + '_ {
        let is_slot = |at: usize| matches!(self.items[at], Item::Slot(_));
        let slots: Vec<usize> = (0..self.items.len()).filter(|at| is_slot(*at)).collect();
        let between: Vec<(usize, usize)> = slots.windows(2).map(|two| (two[0] + 1, two[1])).collect();
        let is_short = |from: usize, to: usize| {
            let mut words = self.items[from..to].iter().filter_map(|item| match item {
                Item::Word(word) => Some(word),
                Item::Slot(_) | Item::Mark => None,
            });
            let first = words.next();
            let most = if first.is_some_and(|word| word.contains(is_unspaced)) { ADDED_UNSPACED } else { ADDED };
            first.is_some() && to - from <= most
        };
        between
            .into_iter()
            .filter(move |(from, to)| is_short(*from, *to))
            .map(|(from, to)| self.items[from..=to].to_vec())
    }
}
