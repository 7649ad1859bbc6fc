//! A refusal of the open form with a request beside it: "don't restart it, scale it to 3".
//!
//! The refusal and the request that stands beside it are read apart. The form is ended for good,
//! so that no later yes calls it.

use crate::{
    conversation::{Act, Expects},
    decide::{analysis::Part, expected::Expected, situation::Situation},
    dialogue::{
        interpretation::{Dialogue, Interpretation, Task},
        new_request::new_request,
        open_form::OpenForm,
    },
    recognize::{Negation, NegationKind, reply::YesNo},
};

/// The end of the form and what is asked for instead; `None` where the utterance does not say both. Where something was
/// put to the person, whatever they do not want done is that.
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

/// What a part asks for by itself. The open form is none of those that stay open.
pub(crate) fn asked_in(dialogue: &Dialogue<'_>, part: &Part) -> Interpretation {
    let Dialogue { situation, state, .. } = dialogue;
    let nothing = Expected::default();
    let alone = situation.analysis.within(part).among(situation.knowledge, dialogue.pool(None, &nothing));
    let beside = Situation { expected: &nothing, ..situation.within(&alone) };
    let left = &state.forms[..state.forms.len().saturating_sub(1)];
    let mut found = new_request(dialogue, &beside, left);
    if let Some(Task::Requests { part, .. }) = &mut found.task {
        *part = Some(Box::new(alone));
    }
    found
}

impl Interpretation {
    /// It asks for something else than the open form.
    pub(crate) fn asks_beside(&self, open: &OpenForm<'_>) -> bool {
        self.acts.iter().any(|act| matches!(act, Act::Inform { function, .. } if *function != open.id))
    }

    /// It says something of the open form that is not known of it.
    pub(crate) fn changes(&self, open: &OpenForm<'_>) -> bool {
        self.acts.iter().any(|act| match act {
            Act::Inform { function, said, .. } => *function == open.id && open.is_changed_by(said),
            _ => false,
        })
    }

    /// The form is refused: what else is asked for ends it for good, and goes its own way.
    pub(crate) fn in_place_of(mut self, open: &OpenForm<'_>) -> Self {
        if self.asks_beside(open) {
            self.acts.retain(|act| !matches!(act, Act::Inform { function, .. } if *function == open.id));
            self.acts.insert(0, Act::Cancel);
        }
        self
    }

    /// The same, unless something of the form is to be another way: then that was refused, and not the form.
    pub(crate) fn instead_of(self, open: &OpenForm<'_>) -> Self {
        if self.changes(open) { self } else { self.in_place_of(open) }
    }
}
