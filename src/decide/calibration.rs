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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::decide::calibration::*;

    proptest! {
        #[test]
        fn a_witness_raises_belief(local in 0.0_f32..1.0) {
            prop_assert!(confirmed(local) >= local.min(0.99) && confirmed(local) < 1.0);
        }
    }
}
