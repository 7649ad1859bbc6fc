//! A form that an utterance is read against, and what a decision says about it.

use crate::{
    call::{SlotValue, Source, ViolationKind},
    conversation::{Form, FormUpdate, InvalidValue, State, UpdateMode},
    decide::outcome::Frame,
    module::{Function, FunctionId, Module, Slot, SlotId, SlotPath},
    recognize::{
        Mention,
        acts::{ACTS, Move, MoveKind, Moves},
        certainty::Certainty,
    },
    text::{Span, Utterance},
};

/// How sure a value is if it answers the question and all words are accounted for.
pub(crate) const ANSWERED: Certainty = Certainty::Evident;
/// How sure words must be to fill a slot that was not asked for, if the reader does not know the language.
pub(crate) const PLAIN: Certainty = Certainty::Usual;
/// How sure they must be if the person is asked about them anyway: a form opens with a question, or they correct a
/// known value. A wrong value stays, so a less sure one is dropped.
pub(crate) const WORTH_KEEPING: Certainty = Certainty::Possible;
/// How sure a recognizer must be of a value that replaces a known one, or that cannot be free text.
pub(crate) const KNOWN: Certainty = Certainty::Sure;

/// The form that an utterance is read against.
#[derive(Clone, Copy)]
pub(crate) struct OpenForm<'a> {
    pub module: &'a Module,
    pub function: &'a Function,
    pub id: FunctionId,
    pub form: &'a Form,
    /// Pointers of the places that were asked for.
    pub asked: &'a [String],
    pub state: &'a State,
    pub acts: &'a Moves,
    /// It answers a question whether everything is right: values in the answer are corrections.
    pub corrects: bool,
}

impl OpenForm<'_> {
    pub(crate) fn acts(&self) -> impl Iterator<Item = &Move> {
        self.acts.moves.iter().filter(|one| one.confidence >= ACTS)
    }

    pub(crate) fn name(&self, function: FunctionId) -> &str {
        &self.module.function(function).name
    }

    pub(crate) fn has_acts(&self) -> bool {
        self.acts().next().is_some()
    }

    /// True if the effect of the words is plain without their values: "skip that".
    pub(crate) fn is_settled_by_acts(&self) -> bool {
        self.acts.rest.is_none() && self.has_acts()
    }

    pub(crate) fn manner(&self) -> UpdateMode {
        let mut manner = if self.corrects { UpdateMode::Correct } else { UpdateMode::Fill };
        for one in self.acts() {
            match one.kind {
                MoveKind::Correct | MoveKind::Change { .. } | MoveKind::Replace { .. } => return UpdateMode::Correct,
                MoveKind::Add => manner = UpdateMode::Add,
                _ => {}
            }
        }
        manner
    }

    /// The value that these words give for a slot: the one that a recognizer found, else the words themselves.
    pub(crate) fn value_of(
        &self,
        slot: &Slot,
        (utterance, span): (&Utterance, Span),
        mention: Option<&Mention>,
        confidence: f32,
    ) -> SlotValue {
        let text = utterance.slice(span);
        SlotValue {
            pointer: slot.path.pointer(),
            value: mention.map_or_else(|| text.into(), |mention| mention.value.clone()),
            text: Some(text.to_owned()),
            span: Some(span),
            recognizer: mention.map(|mention| self.module.recognizer(mention.recognizer).name.clone()),
            from: Source::Said,
            turn: self.state.turn,
            confidence,
            unread: mention
                .and_then(|mention| mention.unread.first())
                .map(|unread| utterance.slice(unread.span).to_owned()),
        }
    }

    /// True if it says something about the form that is not known yet.
    pub(crate) fn is_changed_by(&self, said: &FormUpdate) -> bool {
        let is_known = |value: &SlotValue| self.form.of_slot(&value.path()).any(|known| known.value == value.value);
        let is_other = !said.invalid.is_empty() || !said.excluded.is_empty() || !said.removed.is_empty();
        is_other || !said.values.iter().all(is_known)
    }

    /// The only slot that was asked for.
    pub(crate) fn asked_slot(&self) -> Option<SlotId> {
        if let [slot] = self.asked_slots()[..] { Some(slot) } else { None }
    }

    pub(crate) fn asked_slots(&self) -> Vec<SlotId> {
        let slot = |asked: &String| {
            let path = SlotPath::of_pointer(asked);
            self.function.slot_at(&path)
        };
        self.asked.iter().filter_map(slot).collect()
    }
}

/// What a frame of this turn says. A value from an earlier turn is left out if the form has one for the same slot.
pub(crate) fn said(frame: &Frame, turn: u32, form: Option<&Form>) -> FormUpdate {
    let is_known = |path: &SlotPath| form.is_some_and(|form| form.has(path));
    let is_new = |value: &&SlotValue| match value.from {
        Source::Said if value.span.is_some() => true,
        Source::Said | Source::Choice | Source::Generated | Source::Carried | Source::Withdrawn => {
            !is_known(&value.path())
        }
        Source::Default => false,
    };
    let values = frame.slots.iter().filter(is_new);
    let is_fault = |kind: ViolationKind| {
        !matches!(
            kind,
            ViolationKind::Missing | ViolationKind::Unknown | ViolationKind::Ungrounded | ViolationKind::Negated
        )
    };
    let faults = frame.invalid.iter().filter(|violation| is_fault(violation.kind) && violation.found.is_some());
    let excluded = frame.excluded.iter().filter(|value| value.span.is_some());
    let of_turn = |value: &SlotValue| SlotValue { turn, ..value.clone() };
    FormUpdate {
        turn,
        confidence: frame.confidence,
        values: values.map(of_turn).collect(),
        invalid: faults.map(|violation| InvalidValue::new(violation, turn)).collect(),
        excluded: excluded.map(of_turn).collect(),
        ..FormUpdate::default()
    }
}
