//! A refusal of the open form with a request beside it: "don't restart it, scale it to 3".
//!
//! The refusal and the request beside it are read separately. The form is ended for good, so that a later yes cannot
//! call it.

use crate::{
    conversation::{Act, Expects},
    decide::{analysis::UtterancePart, expected::Expected, situation::Situation},
    dialogue::{
        interpretation::{Dialogue, Interpretation, ServerQuestion},
        new_request::new_request,
        open_form::OpenForm,
    },
    recognize::{Negation, NegationKind, reply::YesNo},
};

/// The end of the form and the other request; `None` if the utterance does not contain both. If the person was asked
/// about something, the refusal is about that.
pub(crate) fn refused_for(dialogue: &Dialogue<'_>, open: &OpenForm<'_>) -> Option<Interpretation> {
    let Dialogue { situation, state, .. } = dialogue;
    let is_put = matches!(state.expects, Some(Expects::Yes { .. } | Expects::Change { .. }));
    let rest = situation.analysis.rest.as_ref()?;
    let denies = |one: &Negation| matches!(one.kind, NegationKind::Refusal | NegationKind::Retention);
    let is_beside = |one: &&Negation| !one.cue.overlaps(rest.span) && !one.scope.overlaps(rest.span);
    let mut beside = situation.negations().iter().filter(is_beside).peekable();
    beside.peek()?;
    if situation.analysis.reply.answer == YesNo::Affirmative
        || !(is_put && beside.any(denies) || situation.refusal(open.id).is_some())
    {
        return None;
    }
    let found = asked_in(dialogue, rest);
    found.asks_beside(open).then(|| found.in_place_of(open))
}

/// What a part asks for by itself. The open form is not among the forms that stay open.
pub(crate) fn asked_in(dialogue: &Dialogue<'_>, part: &UtterancePart) -> Interpretation {
    let Dialogue { situation, state, .. } = dialogue;
    let nothing = Expected::default();
    let alone = situation.analysis.within(part).among(situation.knowledge, dialogue.pool(None, &nothing));
    let beside = Situation { expected: &nothing, ..situation.within(&alone) };
    let left = &state.forms[..state.forms.len().saturating_sub(1)];
    let mut found = new_request(dialogue, &beside, left);
    if let Some(ServerQuestion::Requests { part, .. }) = &mut found.task {
        *part = Some(Box::new(alone));
    }
    found
}

impl Interpretation {
    /// True if it asks for something other than the open form.
    pub(crate) fn asks_beside(&self, open: &OpenForm<'_>) -> bool {
        self.acts.iter().any(|act| matches!(act, Act::Inform { function, .. } if *function != open.id))
    }

    /// True if it says something about the open form that is not known yet.
    pub(crate) fn changes(&self, open: &OpenForm<'_>) -> bool {
        self.acts.iter().any(|act| match act {
            Act::Inform { function, said, .. } => *function == open.id && open.is_changed_by(said),
            _ => false,
        })
    }

    /// The form is refused: another request ends it for good and is handled by itself.
    pub(crate) fn in_place_of(mut self, open: &OpenForm<'_>) -> Self {
        if self.asks_beside(open) {
            self.acts.retain(|act| !matches!(act, Act::Inform { function, .. } if *function == open.id));
            self.acts.insert(0, Act::Cancel);
        }
        self
    }

    /// The same, unless a value of the form is to be changed: then that value was refused, and not the form.
    pub(crate) fn instead_of(self, open: &OpenForm<'_>) -> Self {
        if self.changes(open) { self } else { self.in_place_of(open) }
    }
}
