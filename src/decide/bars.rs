//! The bars of the decision: from where on something is so. `models/decision/README.md` says where each was chosen.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::learned;

/// The bundled ones.
fn file() -> &'static str {
    learned::text!("decision/bars.json")
}

static BUNDLED: LazyLock<Bars> = LazyLock::new(|| serde_json::from_str(file()).expect("a test reads the bundled bars"));

/// The bars that are part of the program.
pub(crate) fn bars() -> &'static Bars {
    &BUNDLED
}

/// Scores are those of retrieval, 0 to 1; a point of score is 1.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bars {
    /// The share of all that a candidate must have, for its slots to be filled before one is chosen.
    pub(crate) worth_reading: f32,
    /// Of two alternatives, one is asked for if it is this many times as likely as the other.
    pub(crate) likelier: f32,
    /// Words that are left mean something from this weight on: that of one that is not said of everything.
    pub(crate) left_over: f32,
    /// Log-odds for each point of score between near-duplicate functions.
    pub(crate) levelled: f32,
    /// The probability, by score, from which on words are surely about the module's business.
    pub(crate) about_module: f32,
    /// How near the scores of functions must be that are asked about then.
    pub(crate) close: f32,
    /// How sure it is that what says nothing but a value that was asked for is the answer, 0 to 1.
    pub(crate) answered: f32,
    /// How much higher another function must score than the one that asked, to be clearly meant.
    pub(crate) clearly: f32,
    /// The probability from which on another function is meant, where the words could also belong to what was asked.
    pub(crate) otherwise: f32,
    /// Scores of near-duplicate functions say nothing if they are no further apart: the same words find both, and what
    /// is left is how their own names and placeholders read. An exemplar that only one of them has, said word for word,
    /// is further.
    pub(crate) blur: f32,
    /// Score that such a function loses against another one that fits perfectly where this one does not fit at all.
    pub(crate) misfit: f32,
    /// Score that a function gains for being expected. The odds of two functions double with every 0.03.
    pub(crate) expected: f32,
    /// Score that a function gains for an exemplar that speaks in just this context.
    pub(crate) in_context: f32,
    /// A lower probability by score says that a candidate is not meant beside what was asked.
    pub(crate) in_scope_beside: f32,
    /// How far the parts' best scores, on average, must lie above the best score of the whole.
    ///
    /// Half of two requests looks more like its function than both together do; half of one request looks less like it.
    pub(crate) above_whole: f32,
    /// The same for parts that "and then" or its like joins.
    pub(crate) above_whole_in_sequence: f32,
    /// Two neighbours ask for different things if each scores its own function this much higher than the other's. Below
    /// it, they speak of one thing in two sentences ("I'd like to see a film. Find me one").
    pub(crate) apart: f32,
    /// A clause that scores a function of its own this much higher than the one that the whole utterance means may be a
    /// request that was not told apart.
    pub(crate) doubtful: f32,
    /// How far a clause's best score must lie above what sentences get that are none of the module's business, for it
    /// to mean something by itself.
    pub(crate) above_usual: f32,
    /// Spans that the reader gives less log-odds it does not propose.
    pub(crate) proposed: f32,
    /// How many words before a value lead to its slot and to no other's, where they rule the others out.
    pub(crate) leads: f32,
    /// Log-odds of the reader below which one word beside a slot's name is none of the slot's: "the address is wrong".
    pub(crate) unlikely_word: f32,
    /// How sure a reading is that may end a value before a template does, 0 to 1.
    pub(crate) ends_value: f32,
    /// Free words of what tells its function in a template, as a share, at most.
    pub(crate) most_free: f32,
    /// Words that are compared on each side of a template's mark, at most, where both sides are to match.
    pub(crate) reach_of_both: f32,
    /// How right an answer is at most that leaves a clause of its own unread, as a probability.
    pub(crate) unread_clause: f32,
    /// The confidence below which a value is put to the person before it is called with.
    pub(crate) doubtful_value: f32,
    /// The reader's log-odds below which words are no part of an address, however well they stand.
    pub(crate) part_of_address: f32,
    /// What a recognizer's finds are worth behind those of the one that the slot prefers, as a factor.
    pub(crate) next_recognizer: f32,
    /// The share of `in_scope` below which it is sure that nothing is meant.
    pub(crate) surely_nothing: f32,
    /// The probability from which on such a clause asks for another function.
    pub(crate) other_request: f32,
    /// What another slot's mark counts, in words: something stands there, and nobody knows what.
    pub(crate) other_mark: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_file_has_every_bar_and_no_other() {
        let read: Result<Bars, _> = serde_json::from_str(file());
        assert!(read.is_ok(), "{read:?}");
        let odd = file().replacen("\"apart\"", "\"a_part\"", 1);
        assert!(serde_json::from_str::<Bars>(&odd).unwrap_err().to_string().contains("`a_part`"));
    }
}
