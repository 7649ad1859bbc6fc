//! The templates of one function, with the data that is derived from them.

use std::collections::HashMap;

use super::{
    frames::Frames,
    template::{Template, TemplateItem},
};
use crate::{
    decide::{filling::is_open, limits},
    exemplars::ShownValues,
    language::units::Unit,
    module::{Function, Module, Slot, SlotKind, squeeze},
};

/// The templates of one function.
#[derive(Debug)]
pub(super) struct Compiled {
    pub templates: Vec<Template>,
    /// How templates add another slot behind a slot: "on <date>".
    pub additions: Vec<Vec<TemplateItem>>,
    pub frames: Frames,
    /// By slot.
    pub places: Vec<SlotTraits>,
}

/// What a slot takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlotTraits {
    /// It may take free text.
    pub is_open: bool,
    /// It takes a number, or a yes or no, which many longer texts contain.
    pub is_common: bool,
    pub is_repeated: bool,
    /// It takes an upper or a lower limit.
    pub is_limit: bool,
    /// The unit that it counts in, if it is a number with a unit.
    pub unit: Option<Unit>,
}

/// The most additions that are tried.
const MOST_ADDITIONS: usize = 16;

impl Compiled {
    /// `values` are the values that the module's exemplars show, by the slots' names.
    pub(super) fn new(module: &Module, function: &Function, values: &HashMap<String, ShownValues>) -> Self {
        let mut templates: Vec<Template> = function.exemplars.iter().filter_map(Template::new).collect();
        let mut additions: Vec<Vec<TemplateItem>> = Vec::new();
        for addition in templates.iter().filter(|one| one.speaks()).flat_map(Template::additions) {
            if additions.len() < MOST_ADDITIONS && !additions.contains(&addition) {
                additions.push(addition);
            }
        }
        let place = |slot: &Slot| SlotTraits {
            is_open: is_open(module, slot),
            is_common: matches!(slot.kind, SlotKind::Integer | SlotKind::Number | SlotKind::Boolean),
            is_repeated: slot.path.is_repeated(),
            is_limit: limits::is_limit(module.language(), slot),
            unit: slot.recognizers.iter().find_map(|id| module.recognizer(*id).reading.unit),
        };
        let values: Vec<Option<&ShownValues>> =
            function.slots.iter().map(|slot| values.get(&squeeze(slot.label()))).collect();
        let frames = Frames::new(templates.iter().filter(|one| !one.is_negative), &values);
        let places: Vec<SlotTraits> = function.slots.iter().map(place).collect();
        let is_open = |kept: &Template| kept.is_value_of.is_some_and(|slot| places[slot.index()].is_open);
        templates.extend(function.exemplars.iter().filter_map(Template::kept).filter(is_open));
        Self { frames, places, templates, additions }
    }
}
