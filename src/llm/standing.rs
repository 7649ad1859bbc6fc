//! How much a model server's answers count, judged by its answers so far.
//!
//! Whether an answer is right cannot be seen from it. But the local reading gives the probability of each answer
//! beforehand, and the likelier it was, the likelier it is based on what the person said: a server that guesses, or
//! always says the same, often gives answers that are nearly ruled out. What counts is the share of informed answers
//! among the latest ones. A good server that the local reading contradicts now and then loses little; one with no
//! usable answers loses most.

use std::sync::{Mutex, PoisonError};

/// The standing of an unknown server.
pub const USUAL: f32 = 1.0;

/// The expected share of informed answers, and the number of answers that this expectation weighs as much as.
const EXPECTED: f32 = 0.9;
const AS_ANSWERS: f32 = 4.0;
/// Decay of an answer's weight with each later answer: about the last twenty count.
const KEPT: f32 = 0.95;

/// See [the module](self). Shared by all users of one model on one server.
#[derive(Debug, Default)]
pub struct Standing {
    seen: Mutex<Seen>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    informed: f32,
    nothing: f32,
    answers: f32,
}

impl Standing {
    /// The odds that an answer is informed, relative to the expected odds: 1 for an unknown server, near 0 for one that
    /// guesses.
    #[must_use]
    pub fn standing(&self) -> f32 {
        let Seen { informed, answers, .. } = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let share = (EXPECTED * AS_ANSWERS + informed) / (AS_ANSWERS + answers);
        share / (1.0 - share) * (1.0 - EXPECTED) / EXPECTED
    }

    /// The share of answers that say that nothing is meant; 1 until others are seen.
    #[must_use]
    pub fn habit(&self) -> f32 {
        let Seen { nothing, answers, .. } = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        (AS_ANSWERS + nothing) / (AS_ANSWERS + answers)
    }

    /// Records an answer; `informed` is the probability that it is informed.
    pub fn learn(&self, informed: f32, is_nothing: bool) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.informed = seen.informed * KEPT + informed.clamp(0.0, 1.0);
        seen.nothing = seen.nothing * KEPT + f32::from(u8::from(is_nothing));
        seen.answers = seen.answers * KEPT + 1.0;
    }
}

/// True for a server that is likelier to be informed than to guess.
#[must_use]
pub fn is_trusted(standing: f32) -> bool {
    standing * EXPECTED / (1.0 - EXPECTED) >= 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(answers: &[f32]) -> f32 {
        let standing = Standing::default();
        answers.iter().for_each(|informed| standing.learn(*informed, false));
        standing.standing()
    }

    #[test]
    fn a_server_that_guesses_is_not_trusted_for_long() {
        assert!((after(&[]) - USUAL).abs() < 1e-4 && is_trusted(USUAL));
        assert!(is_trusted(after(&[0.05])), "once is nothing");
        assert!(!is_trusted(after(&[0.05; 6])));
        assert!(after(&[0.05; 100]) < 0.03);
    }

    #[test]
    fn who_is_mostly_informed_keeps_its_standing() {
        let answers: Vec<f32> = (0..100).map(|turn| if turn % 10 == 0 { 0.05 } else { 0.97 }).collect();
        assert!(after(&answers) > 0.6, "{}", after(&answers));
        assert!(after(&[0.97; 100]) > USUAL);
    }

    #[test]
    fn who_seldom_says_nothing_means_it() {
        let standing = Standing::default();
        assert!((standing.habit() - 1.0).abs() < 1e-6);
        (0..100).for_each(|turn| standing.learn(0.97, turn % 10 == 0));
        assert!(standing.habit() < 0.3, "{}", standing.habit());
    }

    #[test]
    fn what_is_long_ago_is_forgotten() {
        assert!(after(&[[0.0; 50], [0.97; 50]].concat()) > 0.6);
        assert!(!is_trusted(after(&[[0.97; 50], [0.0; 50]].concat())));
    }
}
