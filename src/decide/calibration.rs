//! What a model server's answer adds to a probability.

use crate::recognize::certainty::Certainty;

/// How sure a model server's answer is where nothing else is known.
const WITNESS: Certainty = Certainty::Sure;

/// The odds that a model server without a known record answers from what was said, rather than guesses.
const INFORMED: f32 = 9.0;

/// How many times likelier it becomes that no function is meant if a model server says so. `standing` is how much its
/// answer counts, relative to a server without a known record. The answer of a server that guesses has standing 0 and
/// leaves every probability as it was. `habit` is the share of its answers that say so: an answer that it gives anyway
/// tells little.
pub(crate) fn by_nothing(habit: f32, standing: f32) -> f32 {
    1.0 + INFORMED * standing / habit
}

/// The same if it chose a function, and `values` of that function's values were said.
pub(crate) fn by_choice(values: usize, standing: f32) -> f32 {
    let of_values = (0..values.min(MOST_VALUES)).fold(1.0, |odds, _| odds * (1.0 + (WITH_VALUE - 1.0) * standing));
    (1.0 + (PROPOSED - 1.0) * standing) * of_values
}

/// The probability after a model server said the same: it counts as one more independent witness.
pub(crate) fn confirmed(local: f32, standing: f32) -> f32 {
    let local = local.clamp(0.01, 0.99);
    let witness = WITNESS.score() / (1.0 - WITNESS.score());
    let odds = local / (1.0 - local) * (1.0 + (witness - 1.0) * standing);
    odds / (1.0 + odds)
}

/// How many times likelier a model server is to choose a function that is meant than one that is not, and how much
/// likelier again for each value of the function that was said. Chosen so that a proposal which the local reading gives
/// one chance in seven reaches 0.9 by itself.
const PROPOSED: f32 = 60.0;
const WITH_VALUE: f32 = 3.0;
/// The most values that count.
const MOST_VALUES: usize = 2;

/// The probability that a function is meant, given that a model server chose it and that this many of its values were
/// said.
pub(crate) fn proposed(local: f32, values: usize, standing: f32) -> f32 {
    let local = local.clamp(0.001, 0.99);
    let odds = local / (1.0 - local) * by_choice(values, standing);
    odds / (1.0 + odds)
}

/// From this confidence on, a model server's proposal is called without a question, unless module and request set a
/// lower bar. A higher bar than this asks for a model server's opinion, and then that opinion must count.
const CALLED: f32 = 0.9;

/// True of a proposal that is called without a question; `sure` is what a local answer needs.
pub(crate) fn is_called(confidence: f32, sure: f32) -> bool {
    confidence >= sure.min(CALLED)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::decide::calibration::*;

    proptest! {
        #[test]
        fn a_witness_raises_belief(local in 0.0_f32..1.0) {
            prop_assert!(confirmed(local, 1.0) >= local.min(0.99) && confirmed(local, 1.0) < 1.0);
            prop_assert!(proposed(local, 0, 1.0) >= confirmed(local, 1.0) - 0.05);
            prop_assert!(proposed(local, 2, 1.0) >= proposed(local, 0, 1.0));
        }

        #[test]
        fn a_witness_who_guesses_says_nothing(local in 0.01_f32..0.99, values in 0_usize..4) {
            prop_assert!((confirmed(local, 0.0) - local).abs() < 1e-5);
            prop_assert!((proposed(local, values, 0.0) - local).abs() < 1e-5);
        }
    }
}
