//! The templates of a function as sequences of words and slots.

use crate::{
    module::{Exemplar, Function, OwnerMode, Piece, SlotId},
    text::{Utterance, fold},
};

/// A template, its words folded.
#[derive(Debug)]
pub(super) struct Template {
    pub items: Vec<Item>,
    /// It speaks only where something of it was asked for.
    pub is_contextual: bool,
    /// It looks like the function and is none of it.
    pub is_negative: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    Word(Box<str>),
    Slot(SlotId),
    /// A comma or its like between two slots.
    Mark,
}

/// The templates of a function, and how they add one more slot behind another.
#[derive(Debug, Default)]
pub(super) struct Templates {
    pub all: Vec<Template>,
    pub additions: Vec<Vec<Item>>,
    /// Words right before a slot: "on" before a date.
    frames: Vec<(Box<str>, SlotId)>,
}

/// Words of an addition, at most, and additions that are tried.
const ADDED: usize = 3;
const MOST_ADDITIONS: usize = 16;

impl Templates {
    pub(super) fn new(function: &Function) -> Self {
        let all: Vec<Template> = function.exemplars.iter().filter_map(Template::new).collect();
        let mut additions: Vec<Vec<Item>> = Vec::new();
        for addition in all.iter().filter(|one| !one.is_negative && !one.is_contextual).flat_map(Template::additions) {
            if additions.len() < MOST_ADDITIONS && !additions.contains(&addition) {
                additions.push(addition);
            }
        }
        let mut frames: Vec<(Box<str>, SlotId)> = Vec::new();
        for two in all.iter().flat_map(|template| template.items.windows(2)) {
            if let [Item::Word(word), Item::Slot(slot)] = two {
                frames.push((word.clone(), *slot));
            }
        }
        frames.sort();
        frames.dedup();
        Self { all, additions, frames }
    }

    /// The word leads to the slot in some template.
    pub(super) fn leads(&self, word: &str, slot: SlotId) -> bool {
        self.frames.binary_search_by(|(known, to)| (**known).cmp(word).then(to.cmp(&slot))).is_ok()
    }
}

impl Template {
    /// `None` if it has a slot that the function has not.
    fn new(exemplar: &Exemplar) -> Option<Self> {
        let mut items: Vec<Item> = Vec::new();
        for piece in &exemplar.pieces {
            match piece {
                Piece::Slot { slot, .. } => items.push(Item::Slot((*slot)?)),
                Piece::Text(text) => {
                    let utterance = Utterance::new(text);
                    let words = utterance.words().iter().map(|word| Item::Word(fold(utterance.slice(*word)).into()));
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
        })
    }

    /// What stands between two slots, with the second one: "<city> on <date>" adds "on <date>".
    fn additions(&self) -> impl Iterator<Item = Vec<Item>> + '_ {
        let is_slot = |at: usize| matches!(self.items[at], Item::Slot(_));
        let slots: Vec<usize> = (0..self.items.len()).filter(|at| is_slot(*at)).collect();
        let between: Vec<(usize, usize)> = slots.windows(2).map(|two| (two[0] + 1, two[1])).collect();
        let has_words = |from: usize, to: usize| self.items[from..to].iter().any(|item| matches!(item, Item::Word(_)));
        between
            .into_iter()
            .filter(move |(from, to)| to - from <= ADDED && has_words(*from, *to))
            .map(|(from, to)| self.items[from..=to].to_vec())
    }
}

/// True for a mark that parts what stands before it from what follows.
pub(super) const fn parts(mark: char) -> bool {
    matches!(mark, ',' | ';' | ':' | '、' | '，' | '\n')
}
