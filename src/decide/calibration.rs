//! From scores to probabilities.

/// How scores translate into odds.
///
/// First: is anything meant at all? The odds are even where the best score lies [`ABOVE`] what the module's best function
/// gets for sentences that are none of its business. Then: which function? A softmax over the scores. Both constants were
/// fitted on CLINC150's validation split with its out-of-scope part, on SNIPS, on SGD and on the shipped modules: the slope
/// of right against wrong by the gap between the first two scores is 23 to 31 there (1 / 0.04 is 25), and the even odds of
/// in and out of scope lie 0.14 to 0.16 above the usual score.
const TEMPERATURE: f32 = 0.04;
const ABOVE: f32 = 0.14;

/// Share of a model server's answers that are right where nothing else is known.
const WITNESS: f32 = 0.85;

/// The probability that one of the functions was meant, by the best of their scores.
pub(crate) fn in_scope(best: f32, usual: f32) -> f32 {
    1.0 / (1.0 + ((usual + ABOVE - best) / TEMPERATURE).exp())
}

/// The probability of each function, in the order of `scores`, if one of them was meant.
pub(crate) fn shares(scores: &[f32]) -> Vec<f32> {
    let highest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights: Vec<f32> = scores.iter().map(|score| ((score - highest) / TEMPERATURE).exp()).collect();
    let total: f32 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

/// The probability after a model server, too, said so: it counts as one more independent witness.
pub(crate) fn confirmed(local: f32) -> f32 {
    let local = local.clamp(0.01, 0.99);
    let odds = local / (1.0 - local) * WITNESS / (1.0 - WITNESS);
    odds / (1.0 + odds)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::decide::calibration::*;

    proptest! {
        #[test]
        fn shares_sum_to_one_in_the_order_of_the_scores(scores in prop::collection::vec(-1.0_f32..2.0, 1..20)) {
            let shares = shares(&scores);
            prop_assert!((shares.iter().sum::<f32>() - 1.0).abs() < 1e-4);
            for (a, p) in scores.iter().zip(&shares) {
                for (b, q) in scores.iter().zip(&shares) {
                    prop_assert!(a < b || p >= q);
                }
            }
        }

        #[test]
        fn a_better_score_is_likelier_in_scope(a in -1.0_f32..2.0, b in -1.0_f32..2.0, usual in 0.0_f32..0.5) {
            prop_assert!(a < b || in_scope(a, usual) >= in_scope(b, usual));
        }

        #[test]
        fn a_witness_raises_belief(local in 0.0_f32..1.0) {
            prop_assert!(confirmed(local) >= local.min(0.99) && confirmed(local) < 1.0);
        }
    }
}
