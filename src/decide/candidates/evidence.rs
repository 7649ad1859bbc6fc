//! The numbers that speak for or against a slot's being filled by a span.

use serde::Serialize;

/// Log-odds of the reader beyond which there is nothing to tell apart.
pub(super) const LEAST: f32 = -8.0;
const MOST: f32 = 8.0;

/// One value for fitting, deciding and explaining; the names are those of the model's file.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Evidence {
    /// The reader's log-odds that exactly this span fills the slot.
    pub reader: f32,
    /// Its best for any span that shares a word with this one.
    pub nearest: f32,
    /// The logarithm of the odds of all those spans together: how surely something here fills the slot, however it is cut.
    pub mass: f32,
    /// By how much the slot leads the function's next one for this span, in the reader's log-odds.
    pub lead: f32,
    /// The probability that alignment with the function's templates gives it.
    pub template: f32,
    /// 1 if a recognizer found the span for the slot; 0 for free text.
    pub is_mention: f32,
    /// The recognizer's score, by the kind of recognizer; a hint is somebody else's.
    pub list: f32,
    pub pattern: f32,
    pub builtin: f32,
    pub hint: f32,
    /// 1 for free text where the slot has a list.
    pub off_list: f32,
    /// Of free text, the share of words that recognizers read for other slots.
    pub foreign: f32,
    /// Other slots for which recognizers found the same span.
    pub rivals: f32,
    /// 1 if the words right before name the slot.
    pub named: f32,
    /// The share of the function's exemplars in which each of the words stands beside the slots.
    pub literal: f32,
    /// Logarithm of the number of words.
    pub words: f32,
    /// How it lies in the sentence as it is written; see `Shape`.
    pub cut: f32,
    pub quoted: f32,
    pub capitals: f32,
    pub broken: f32,
    pub empty: f32,
    pub led: f32,
    /// 1 if the slot was just asked for.
    pub asked: f32,
    /// 1 if the slot is required.
    pub required: f32,
}

impl Evidence {
    pub(crate) const NAMES: [&'static str; 24] = [
        "reader",
        "nearest",
        "mass",
        "lead",
        "template",
        "is_mention",
        "list",
        "pattern",
        "builtin",
        "hint",
        "off_list",
        "foreign",
        "rivals",
        "named",
        "literal",
        "words",
        "cut",
        "quoted",
        "capitals",
        "broken",
        "empty",
        "led",
        "asked",
        "required",
    ];

    /// In the order of [`Self::NAMES`].
    pub(crate) const fn values(&self) -> [f32; Self::NAMES.len()] {
        [
            self.reader,
            self.nearest,
            self.mass,
            self.lead,
            self.template,
            self.is_mention,
            self.list,
            self.pattern,
            self.builtin,
            self.hint,
            self.off_list,
            self.foreign,
            self.rivals,
            self.named,
            self.literal,
            self.words,
            self.cut,
            self.quoted,
            self.capitals,
            self.broken,
            self.empty,
            self.led,
            self.asked,
            self.required,
        ]
    }

    pub(super) const fn is_free(&self) -> bool {
        self.is_mention == 0.0
    }

    pub(super) fn bounded(mut self) -> Self {
        for value in [&mut self.reader, &mut self.nearest, &mut self.mass, &mut self.lead] {
            *value = value.clamp(LEAST, MOST);
        }
        self
    }
}
