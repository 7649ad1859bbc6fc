//! What a model server's word adds to a probability.

use crate::recognize::certainty::Certainty;

/// How sure a model server's answer is where nothing else is known.
const WITNESS: Certainty = Certainty::Sure;

/// The probability after a model server, too, said so: it counts as one more independent witness.
pub(crate) fn confirmed(local: f32) -> f32 {
    let local = local.clamp(0.01, 0.99);
    let odds = local / (1.0 - local) * WITNESS.score() / (1.0 - WITNESS.score());
    odds / (1.0 + odds)
}

/// How many times likelier a model server is to choose a function that is meant than one that is not, and how much
/// likelier it is still for each value of the function that was said. Chosen so that a proposal which the local reading
/// gives one chance in seven reaches 0.9 by itself.
const PROPOSED: f32 = 60.0;
const WITH_VALUE: f32 = 3.0;
/// Values that count.
const MOST_VALUES: usize = 2;

/// The probability that a function is meant which a model server chose, with so many values that were said.
pub(crate) fn proposed(local: f32, values: usize) -> f32 {
    let local = local.clamp(0.001, 0.99);
    let values = (0..values.min(MOST_VALUES)).fold(1.0, |odds, _| odds * WITH_VALUE);
    let odds = local / (1.0 - local) * PROPOSED * values;
    odds / (1.0 + odds)
}

/// From this confidence on a proposal of a model server is called without a question, where neither module nor request
/// wants less. Who wants more wants a model server to be asked, and its answer to count.
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
            prop_assert!(confirmed(local) >= local.min(0.99) && confirmed(local) < 1.0);
            prop_assert!(proposed(local, 0) >= confirmed(local) - 0.05 && proposed(local, 2) >= proposed(local, 0));
        }
    }
}
