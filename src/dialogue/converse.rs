//! One turn of a conversation: what the utterance does to the forms that are open, and what is to be done next.
//!
//! | file | holds |
//! |---|---|
//! | `acts` | what an utterance does: a move of the whole conversation, or one of the two below |
//! | `afresh` | the utterance by itself: what it asks for is opened |
//! | `within` | the utterance beside a form: a yes, an answer, a correction, a request of its own |
//! | `read` | what an utterance says of a form |
//! | `parts` | which slots the parts of an answer fill, where alignment alone does not say so |
//! | `place` | which slot or value somebody means by some words |
//! | `conclude` | the answer that the state after it calls for |
//! | `wording` | the same question in a model's words, where the module wants them |

use crate::{
    conversation::{Manners, State, Who, apply},
    snapshot::Snapshot,
    understand::{Said, Turn, TurnError, TurnRequest, Understander},
};

/// A turn, and the conversation after it.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversed {
    /// Its frames are the forms as they are now, values of earlier turns included: those that are called first.
    pub turn: Turn,
    pub state: State,
}

impl Understander {
    /// Understands one utterance of a conversation. `state` is the one before it, [`State::new`] at the beginning; it is
    /// of this module ([`State::adopted`]). The same state and request give the same answer, as far as no model server is
    /// asked.
    ///
    /// # Errors
    /// As [`Self::turn`]; then the conversation is as it was.
    pub async fn converse(
        &self,
        snapshot: &Snapshot,
        state: &State,
        request: &TurnRequest,
    ) -> Result<Conversed, TurnError> {
        let module = &snapshot.module;
        let mut state = state.clone();
        state.turn += 1;
        let taken = self.take_up(snapshot, &state, request).await?;
        let before = state.clone();
        state.expects = None;
        let carry = module.settings.conversation.carry.unwrap_or(true);
        let applied = apply(&mut state, module, &snapshot.validator, &taken.acts, carry);
        let mut conversed = self.conclude(snapshot, request, taken, &before, state, applied);
        self.word(snapshot, request, &mut conversed).await;
        Ok(conversed)
    }

    /// How questions are asked where a module does not say otherwise.
    #[must_use]
    pub fn manners(&self) -> Manners {
        Manners { ask: self.options.ask, tries: self.options.tries }
    }
}

/// The messages of a conversation, as a turn takes them.
pub(crate) fn history(state: &State) -> Vec<Said> {
    let said = |line: &crate::conversation::Line| {
        let text = line.text.clone();
        match line.who {
            Who::Person => Said::Person(text),
            Who::Assistant => Said::Assistant(text),
            Who::Called => Said::Called(text),
            Who::Tool => Said::Tool(text),
        }
    };
    state.lines.iter().map(said).collect()
}
