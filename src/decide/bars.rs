//! The thresholds of the decision. `models/decision/README.md` says where each was chosen.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::learned;

/// The bundled bars.
fn file() -> &'static str {
    learned::text!("decision/bars.json")
}

static BUNDLED: LazyLock<Bars> = LazyLock::new(|| serde_json::from_str(file()).expect("a test reads the bundled bars"));

/// The bars that are part of the program.
pub(crate) fn bars() -> &'static Bars {
    &BUNDLED
}

/// Scores are retrieval scores from 0 to 1; "a point of score" is a difference of 1.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bars {
    /// The share of the total that a candidate must have for its slots to be filled before one candidate is chosen.
    pub(crate) worth_reading: f32,
    /// Of two alternatives, one is asked for if it is this many times as likely as the other.
    pub(crate) likelier: f32,
    /// Words that are left over mean something from this weight on: the weight of one word that is not common
    /// everywhere.
    pub(crate) left_over: f32,
    /// Log-odds for each point of score between near-duplicate functions.
    pub(crate) levelled: f32,
    /// How sure it is, from 0 to 1, that an utterance with only a value that was asked for is the answer.
    pub(crate) answered: f32,
    /// Log-odds from which a reply is heard as consent, if none of its words says otherwise.
    pub(crate) consents: f32,
    /// How much higher another function must score than the function that asked, to be clearly meant.
    pub(crate) clearly: f32,
    /// The probability from which on another function is meant, where the words could also belong to what was asked.
    pub(crate) otherwise: f32,
    /// Score differences of near-duplicate functions up to this size say nothing. The same words find both functions,
    /// and only the wording of their own names and placeholders differs. An exemplar that only one of them has, said
    /// word for word, makes a larger difference.
    pub(crate) blur: f32,
    /// Score that such a function loses if it does not fit at all while the other one fits perfectly.
    pub(crate) misfit: f32,
    /// Score that a function gains for being expected. The odds of two functions double with every 0.03.
    pub(crate) expected: f32,
    /// Score that a function gains for an exemplar whose context is the present one.
    pub(crate) in_context: f32,
    /// Below this probability by score, a candidate is not meant while something else was asked.
    pub(crate) in_scope_beside: f32,
    /// How far the parts' best scores, on average, must lie above the best score of the whole.
    ///
    /// Half of two requests looks more like its function than both together do; half of one request looks less like it.
    pub(crate) above_whole: f32,
    /// The same for parts that "and then" or a similar phrase joins.
    pub(crate) above_whole_in_sequence: f32,
    /// Two neighbours ask for different things if each scores its own function this much higher than the other's. Below
    /// it, they speak of one thing in two sentences ("I'd like to see a film. Find me one").
    pub(crate) apart: f32,
    /// A clause that scores a function of its own this much higher than the one that the whole utterance means may be a
    /// separate request that was missed.
    pub(crate) doubtful: f32,
    /// The reader does not propose spans with lower log-odds than this.
    pub(crate) proposed: f32,
    /// How many matching words before a value lead to its slot and to no other, where they rule the others out.
    pub(crate) leads: f32,
    /// How sure a reading must be, from 0 to 1, to end a value before a template does.
    pub(crate) ends_value: f32,
    /// The largest share of free words among the words of a template that identify its function.
    pub(crate) most_free: f32,
    /// The most words that are compared on each side of a template's mark where both sides are to match.
    pub(crate) reach_of_both: f32,
    /// The highest probability that an answer is right if it leaves a separate clause unread.
    pub(crate) unread_clause: f32,
    /// The confidence below which the person is asked about a value before the call.
    pub(crate) doubtful_value: f32,
    /// The reader's log-odds below which words are not part of an address, however plausible their place is.
    pub(crate) part_of_address: f32,
    /// A factor for what a recognizer finds if the slot prefers another recognizer.
    pub(crate) next_recognizer: f32,
    /// The share of `in_scope` below which it is sure that nothing is meant.
    pub(crate) surely_nothing: f32,
    /// The probability from which on an unread clause asks for another function.
    pub(crate) other_request: f32,
    /// How many words another slot's mark counts for: a value stands there, but it is not known which.
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
