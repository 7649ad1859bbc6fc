//! Combines the scores of documents into one score per function. Pure.
//!
//! The fusion uses the scores themselves: reciprocal rank fusion discards their differences and was worse than the
//! embedding alone wherever it was measured.

use std::cmp::Ordering;

use serde::Serialize;

use super::weights::weights;

/// How many exemplars are pooled per function: the nearest alone is noisy, all of them blur what a function means.
pub(super) const POOLED: usize = 3;

/// The weights of words relative to vectors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shares {
    exemplar: f32,
    description: f32,
    /// How much further background scores reach above their median.
    pub(super) reach: f32,
}

impl Default for Shares {
    fn default() -> Self {
        let weights = weights();
        Self { exemplar: weights.lexical_of_exemplar, description: weights.lexical_of_description, reach: 0.0 }
    }
}

impl Shares {
    /// For an embedder with this clarity, 0 to 1.
    #[must_use]
    pub(super) fn with_clarity(clarity: f32) -> Self {
        let weights = weights();
        let unseen = ((weights.clear - clarity) / (weights.clear - weights.blind)).clamp(0.0, 1.0);
        let usual = Self::default();
        Self {
            exemplar: mix(usual.exemplar, weights.lexical_where_blind, unseen),
            description: mix(usual.description, weights.lexical_where_blind, unseen),
            reach: weights.reach_where_blind * unseen,
        }
    }

    /// The score of one exemplar; may be slightly negative.
    #[must_use]
    pub(super) fn exemplar_score(self, dense: f32, lexical: f32) -> f32 {
        mix(dense, lexical, self.exemplar)
    }

    /// The score of one description; may be slightly negative.
    #[must_use]
    pub(super) fn description_score(self, dense: f32, lexical: f32) -> f32 {
        mix(dense, lexical, self.description)
    }
}

/// The signals of one function's exemplars, without negative ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ExemplarSignals {
    /// Mean cosine of the best three.
    pub dense: f32,
    /// Cosine of their centroid.
    pub centroid: f32,
    /// Mean normalised BM25 of the best three.
    pub lexical: f32,
}

/// The signals of one function's description.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DescriptionSignals {
    /// Best cosine over its forms (short and full).
    pub dense: f32,
    /// Normalised BM25 of the full form.
    pub lexical: f32,
}

/// All signals of one function for one query.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Signals {
    pub(super) exemplars: Option<ExemplarSignals>,
    pub(super) description: Option<DescriptionSignals>,
    /// Score of its nearest positive exemplar; only used beside a negative one.
    pub(super) nearest_positive: Option<f32>,
    /// Score of its nearest negative exemplar.
    pub(super) nearest_negative: Option<f32>,
}

impl Signals {
    /// The score of the function, 0 to 1, comparable between functions and between queries.
    ///
    /// 0 if a negative exemplar is at least as near as every positive one.
    #[must_use]
    pub(super) fn score(&self, shares: Shares) -> f32 {
        let description = self.description.map(|found| shares.description_score(found.dense, found.lexical));
        let score = match (self.exemplars, description) {
            (Some(found), described) => {
                let dense = f32::midpoint(found.dense, found.centroid);
                let shown = shares.exemplar_score(dense, found.lexical);
                described.map_or(shown, |described| mix(shown, described, weights().description))
            }
            (None, Some(described)) => lifted(described),
            (None, None) => 0.0,
        };
        let nearest_positive = self.nearest_positive.or(description.map(lifted));
        let kept = match (nearest_positive, self.nearest_negative) {
            (Some(positive), Some(negative)) => ((positive - negative) / weights().clearance).clamp(0.0, 1.0),
            (None, Some(_)) => 0.0,
            (_, None) => 1.0,
        };
        (score * kept).clamp(0.0, 1.0)
    }
}

fn mix(one: f32, other: f32, share_of_other: f32) -> f32 {
    one + (other - one) * share_of_other
}

fn lifted(description: f32) -> f32 {
    description + (weights().lift * (1.0 - description)).min(description.max(0.0))
}

/// Scales BM25 to 0 to 1 by the geometric mean of two measures of the query: the best score that any document got, and
/// the score that the query would have if it were itself a document (unknown words at full weight).
///
/// With the best score alone, a query about nothing in the module still has a document at 1, so scores of two queries
/// are not comparable (out-of-scope AUROC falls by half a point); with the query's own score alone, templates suffer
/// for every value in the utterance that they cannot know (accuracy falls by 3 to 5 points on templates with slots).
#[must_use]
pub(super) fn lexical_scale(best: f32, of_itself: f32) -> f32 {
    let square = best * of_itself;
    if square > 0.0 && square.is_finite() { square.sqrt().recip() } else { 0.0 }
}

/// The mean of the best [`POOLED`] pushed values, in any order.
#[derive(Debug, Clone, Copy)]
pub(super) struct BestMean {
    /// Descending; minus infinity for missing values.
    best: [f32; POOLED],
    count: usize,
}

impl Default for BestMean {
    fn default() -> Self {
        Self { best: [f32::NEG_INFINITY; POOLED], count: 0 }
    }
}

impl BestMean {
    #[inline]
    pub(super) fn push(&mut self, value: f32) {
        self.count += 1;
        // Without branches: which of the first exemplars are best is unpredictable.
        let mut falling = value;
        for kept in &mut self.best {
            let holds = *kept > falling;
            (*kept, falling) = if holds { (*kept, falling) } else { (falling, *kept) };
        }
    }

    /// The mean; of all values if there are fewer, `None` if there are none.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "at most POOLED")]
    pub(super) fn mean(&self) -> Option<f32> {
        let counted = self.count.min(POOLED);
        (counted > 0).then(|| self.best[..counted].iter().sum::<f32>() / counted as f32)
    }
}

/// Best first; ties are ordered by `key`.
pub(super) fn best_first<T, K: Ord>(score: impl Fn(&T) -> f32, key: impl Fn(&T) -> K) -> impl Fn(&T, &T) -> Ordering {
    move |one, other| score(other).total_cmp(&score(one)).then_with(|| key(one).cmp(&key(other)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exemplars(dense: f32, lexical: f32) -> Signals {
        Signals {
            exemplars: Some(ExemplarSignals { dense, centroid: dense, lexical }),
            nearest_positive: Some(Shares::default().exemplar_score(dense, lexical)),
            ..Signals::default()
        }
    }

    #[test]
    fn words_count_for_more_where_the_embedder_sees_less() {
        assert_eq!(Shares::with_clarity(1.0), Shares::default());
        assert_eq!(Shares::with_clarity(weights().clear), Shares::default());
        let [blind, half] = [0.3, 0.65].map(Shares::with_clarity);
        assert!(blind.exemplar_score(0.9, 0.1) < half.exemplar_score(0.9, 0.1));
        assert!(half.exemplar_score(0.9, 0.1) < Shares::default().exemplar_score(0.9, 0.1));
        assert!(blind.reach > half.reach && half.reach > 0.0);
    }

    #[test]
    fn a_nearer_negative_exemplar_wins() {
        let plain = exemplars(0.7, 0.5);
        let beside = |negative| Signals { nearest_negative: Some(negative), ..plain };
        assert!(plain.score(Shares::default()) > 0.6);
        assert!(
            (beside(0.2).score(Shares::default()) - plain.score(Shares::default())).abs() < 1e-6,
            "a far one changes nothing"
        );
        assert!(beside(0.66).score(Shares::default()) == 0.0);
        assert!(
            beside(0.6).score(Shares::default()) > 0.0
                && beside(0.6).score(Shares::default()) < plain.score(Shares::default())
        );
    }

    #[test]
    fn a_function_with_only_negative_exemplars_lives_by_its_description() {
        let described = |negative| Signals {
            description: Some(DescriptionSignals { dense: 0.5, lexical: 0.5 }),
            nearest_negative: negative,
            ..Signals::default()
        };
        assert!(described(Some(0.1)).score(Shares::default()) > 0.5);
        assert!(described(Some(0.9)).score(Shares::default()) == 0.0);
        assert!(Signals { nearest_negative: Some(0.1), ..Signals::default() }.score(Shares::default()) == 0.0);
    }

    #[test]
    fn an_equal_description_loses_to_exemplars_only_by_a_little() {
        let described =
            Signals { description: Some(DescriptionSignals { dense: 0.45, lexical: 0.4 }), ..Signals::default() };
        assert!(described.score(Shares::default()) > exemplars(0.45, 0.4).score(Shares::default()));
        assert!(described.score(Shares::default()) < exemplars(0.65, 0.5).score(Shares::default()));
    }

    proptest! {
        #[test]
        fn pooling_ignores_the_order(mut values in prop::collection::vec(-1.0_f32..1.0, 0..12), seed in any::<u64>()) {
            let pool = |values: &[f32]| {
                let mut pooled = BestMean::default();
                values.iter().for_each(|&value| pooled.push(value));
                pooled.mean()
            };
            let before = pool(&values);
            let length = values.len().max(1) as u64;
            for at in 0..values.len() {
                values.swap(at, ((seed.wrapping_mul(at as u64 + 1)) % length) as usize);
            }
            prop_assert_eq!(before, pool(&values));
            values.sort_by(f32::total_cmp);
            let best: Vec<f32> = values.iter().rev().take(POOLED).copied().collect();
            let expected = (!best.is_empty()).then(|| best.iter().sum::<f32>() / best.len() as f32);
            prop_assert_eq!(before, expected);
        }

        #[test]
        fn scores_stay_within_bounds_and_grow_with_their_parts(
            dense in -1.0_f32..1.0, centroid in -1.0_f32..1.0, lexical in 0.0_f32..1.0,
            described in prop::option::of((-1.0_f32..1.0, 0.0_f32..1.0)),
            negative in prop::option::of(-1.0_f32..1.0), more in 0.0_f32..0.5,
        ) {
            let signals = |dense: f32| Signals {
                exemplars: Some(ExemplarSignals { dense, centroid, lexical }),
                description: described.map(|(dense, lexical)| DescriptionSignals { dense, lexical }),
                nearest_positive: Some(Shares::default().exemplar_score(dense, lexical)),
                nearest_negative: negative,
            };
            let (less, more) = (signals(dense).score(Shares::default()), signals(dense + more).score(Shares::default()));
            prop_assert!((0.0..=1.0).contains(&less) && less <= more + 1e-6);
        }

        #[test]
        fn the_lexical_scale_is_finite(best in 0.0_f32..1e9, of_itself in 0.0_f32..1e9) {
            prop_assert!(lexical_scale(best, of_itself).is_finite());
        }
    }
}
