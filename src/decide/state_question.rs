//! Questions about what was done, about a state or about a rule. Such a question never calls a function that acts: the
//! person is asked first.

use crate::{
    ablation,
    conversation::Pending,
    decide::{
        outcome::{Decision, Outcome},
        situation::Situation,
        vocabulary,
    },
    language::Language,
    module::FunctionId,
    probability::EVEN,
    recognize::acts::{Move, MoveKind},
    text::Span,
};

impl Situation<'_> {
    /// By its grammar, the utterance asks what was done, or what has become of something.
    pub(crate) fn asks_what_was_done(&self) -> bool {
        let language = Language::or_english(self.knowledge.module.language());
        ablation::holds("state.asks_what_was_done", language.asks_what_was_done(self.utterance().text()))
    }

    /// The same, or it asks about a state or a rule, by a learned model.
    pub(crate) fn asks_about_state(&self) -> bool {
        self.asks_what_was_done()
            || ablation::holds("state.learned", self.speech_act().is_some_and(|act| act.asks() >= EVEN))
    }

    /// "Book the ferry for Monday, forget it": the last words take back what was said before, and are not words that
    /// ask for a function.
    fn is_taken_back(&self) -> bool {
        let (acts, module) = (&self.analysis.acts, &self.knowledge.module);
        let takes_back = |one: &Move, rest: Span| {
            let is_last = one.kind == MoveKind::Cancel && one.cue.start >= rest.end;
            is_last && !vocabulary::says(module, self.utterance().slice(one.cue))
        };
        acts.rest.is_some_and(|rest| acts.moves.iter().any(|one| takes_back(one, rest)))
    }

    /// True if a call of this function would act, but the utterance only asks about something or takes back its
    /// request. A function that the client names is meant in any case.
    pub(crate) fn only_asks(&self, function: FunctionId) -> bool {
        let is_named = self.is_meant || self.is_demanded;
        let acts = self.knowledge.module.function(function).acts();
        acts && !is_named && (self.asks_about_state() || self.is_taken_back() || self.wants_none(function))
    }
}

/// Applies the same rule to a model server's decision: calls of functions that act become a question if the utterance
/// only asks about something.
pub(crate) fn put_if_asked(situation: &Situation<'_>, mut decision: Decision) -> Decision {
    let Outcome::Call(calls) = &decision.outcome else { return decision };
    if let Some(call) = calls.iter().find(|call| situation.only_asks(call.function())) {
        decision.outcome = Outcome::Ask(Pending::Confirm { function: call.function() });
        decision.notes.push(
            "it asks about something, or takes it back: what would be done is put to the person first".to_owned(),
        );
    }
    decision
}
