//! A template as a sequence of words and slots.

use super::words::parts;
use crate::{
    module::{Exemplar, OwnerMode, SlotId, TemplatePiece},
    text::{Utterance, is_unspaced},
};

/// A template, its words folded.
#[derive(Debug)]
pub(super) struct Template {
    pub items: Vec<TemplateItem>,
    /// It counts only after a question for it.
    pub is_contextual: bool,
    /// It is a negative example: it looks like the function but does not mean it.
    pub is_negative: bool,
    /// The slots that it has a possessive behind: "<pet>'s collar".
    pub possessives: Vec<SlotId>,
    /// The template is only a value of this slot.
    pub is_value_of: Option<SlotId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TemplateItem {
    Word(Box<str>),
    Slot(SlotId),
    /// A comma or the like between two slots.
    Mark,
}

/// How a possessive is written.
pub(super) const POSSESSIVES: [&str; 2] = ["'s", "’s"];

/// The most words of an addition; and the most characters, in languages where each character is a word.
const ADDED: usize = 4;
const ADDED_UNSPACED: usize = 9;

/// The text behind a possessive; `None` for a text that does not begin with one.
fn without_possessive(text: &str) -> Option<&str> {
    let rest = POSSESSIVES.iter().find_map(|possessive| text.strip_prefix(possessive))?;
    (!rest.starts_with(char::is_alphanumeric)).then_some(rest)
}

impl Template {
    /// `None` if it has a slot that the function does not have.
    pub(super) fn new(exemplar: &Exemplar) -> Option<Self> {
        let mut items: Vec<TemplateItem> = Vec::new();
        let mut possessives = Vec::new();
        for piece in &exemplar.pieces {
            match piece {
                TemplatePiece::Slot { slot, .. } => items.push(TemplateItem::Slot((*slot)?)),
                TemplatePiece::Text(text) => {
                    // A possessive is part of the word before it, the last word of a value.
                    let owner = match items.last() {
                        Some(TemplateItem::Slot(slot)) => without_possessive(text).map(|rest| (*slot, rest)),
                        _ => None,
                    };
                    possessives.extend(owner.map(|(slot, _)| slot));
                    let utterance = Utterance::new(owner.map_or(text.as_str(), |(_, rest)| rest));
                    let words = utterance.folded_words().map(|word| TemplateItem::Word(word.into()));
                    let before = items.len();
                    items.extend(words);
                    if items.len() == before && before > 0 && text.chars().any(parts) {
                        items.push(TemplateItem::Mark);
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

    /// The original sentence of an exemplar that is only a slot: only its words show what is wanted.
    pub(super) fn kept(exemplar: &Exemplar) -> Option<Self> {
        let [TemplatePiece::Slot { slot: Some(slot), .. }] = exemplar.pieces[..] else { return None };
        let sentence = Utterance::new(exemplar.utterance.as_deref()?);
        let items: Vec<TemplateItem> = sentence.folded_words().map(|word| TemplateItem::Word(word.into())).collect();
        let own = Self::new(exemplar).filter(|_| !items.is_empty())?;
        Some(Self { items, is_value_of: Some(slot), ..own })
    }

    pub(super) const fn speaks(&self) -> bool {
        !self.is_negative && !self.is_contextual
    }

    /// The words between two slots, with the second slot: "<city> on <date>" adds "on <date>".
    pub(super) fn additions(&self) -> impl Iterator<Item = Vec<TemplateItem>> + '_ {
        let is_slot = |at: usize| matches!(self.items[at], TemplateItem::Slot(_));
        let slots: Vec<usize> = (0..self.items.len()).filter(|at| is_slot(*at)).collect();
        let between: Vec<(usize, usize)> = slots.windows(2).map(|two| (two[0] + 1, two[1])).collect();
        let is_short = |from: usize, to: usize| {
            let mut words = self.items[from..to].iter().filter_map(|item| match item {
                TemplateItem::Word(word) => Some(word),
                TemplateItem::Slot(_) | TemplateItem::Mark => None,
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
