//! How sure a module's answers are. The worth of evidence was learned over many modules. The module's own exemplars
//! show where the module is harder or easier than those: each is left out of the module and then understood.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::probability::{log_odds, logistic};

/// The weight of the general probability against a module's own exemplars: it counts as much as this many exemplars do
/// for the offset, and as this many for the slope.
const OF_OFFSET: f64 = 8.0;
const OF_SLOPE: f64 = 100.0;
/// Leaving an exemplar out lowers its probability by this much, in log-odds, compared with real requests: no other
/// exemplar may be like it. Measured on SNIPS with ten exemplars for each function, and on two modules written by
/// strangers.
const HARDER: f64 = 0.3;
/// Steps of Newton's method, of which a few suffice. A step is halved at most this often.
const STEPS: usize = 50;
const HALVES: i32 = 30;
const NEARLY_NOTHING: f64 = 1e-9;

/// Turns the general probability that a whole answer is right into the module's own: log-odds times a slope, plus an
/// offset.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    pub slope: f32,
    pub offset: f32,
    /// How many exemplars were looked at, and how many of them were understood rightly.
    pub judged: usize,
    pub right: usize,
}

impl Calibration {
    /// For a module of which nothing is known.
    pub const GENERAL: Self = Self { slope: 1.0, offset: 0.0, judged: 0, right: 0 };

    /// Fits to the general probability of each answer, and whether it was right. With few answers, the result stays
    /// near the general one. It makes no answer surer than the general one: exemplars are only what an author thought
    /// of, and a wrong call is worse than a question.
    #[must_use]
    pub fn fit(judged: &[(f32, bool)]) -> Self {
        let cases: Vec<(f64, f64)> = judged
            .iter()
            .map(|(general, right)| (f64::from(log_odds(*general)), f64::from(u8::from(*right))))
            .collect();
        let (mut slope, mut offset) = (1.0_f64, 0.0_f64);
        for _ in 0..STEPS {
            let step = newton(&cases, slope, offset);
            // A whole step may go too far where the curve is flat.
            let parts = (0..HALVES).map(|halved| 0.5_f64.powi(halved));
            let now = surprise(&cases, slope, offset);
            let better = parts
                .map(|part| (slope + part * step[0], offset + part * step[1]))
                .find(|(slope, offset)| surprise(&cases, *slope, *offset) < now);
            let Some(better) = better else { break };
            (slope, offset) = better;
            if step[0].abs() + step[1].abs() < NEARLY_NOTHING {
                break;
            }
        }
        let right = judged.iter().filter(|(_, right)| *right).count();
        #[expect(clippy::cast_possible_truncation, reason = "a few digits are kept")]
        let rounded = |value: f64| ((value * 1e4).round() / 1e4) as f32;
        // Surer evidence never makes an answer less sure.
        let (slope, offset) = (slope.clamp(0.0, 1.0), (offset + HARDER).min(0.0));
        Self { slope: rounded(slope), offset: rounded(offset), judged: judged.len(), right }
    }

    /// The module's own probability.
    #[must_use]
    pub fn of(&self, general: f32) -> f32 {
        if self.judged == 0 {
            return general;
        }
        logistic(self.slope * log_odds(general) + self.offset).min(general)
    }
}

/// The negative log-likelihood of the cases, of this slope and of this offset.
fn surprise(cases: &[(f64, f64)], slope: f64, offset: f64) -> f64 {
    let before = OF_SLOPE * (slope - 1.0).powi(2) / 2.0 + OF_OFFSET * offset.powi(2) / 2.0;
    let of = |(odds, right): &(f64, f64)| {
        let own = slope * odds + offset;
        // The logarithm of 1 + e^own, for any `own`.
        own.max(0.0) + (-own.abs()).exp().ln_1p() - right * own
    };
    before + cases.iter().map(of).sum::<f64>()
}

/// The step of slope and offset to the minimum, if the curve were a parabola.
fn newton(cases: &[(f64, f64)], slope: f64, offset: f64) -> [f64; 2] {
    let mut gradient = [OF_SLOPE * (1.0 - slope), -OF_OFFSET * offset];
    let mut curvature = [OF_SLOPE, 0.0, OF_OFFSET];
    for (odds, right) in cases {
        let probability = 1.0 / (1.0 + (-(slope * odds + offset)).exp());
        let (gap, spread) = (right - probability, probability * (1.0 - probability));
        gradient[0] += gap * odds;
        gradient[1] += gap;
        curvature[0] += spread * odds * odds;
        curvature[1] += spread * odds;
        curvature[2] += spread;
    }
    let [of_slope, both, of_offset] = curvature;
    let determinant = of_slope * of_offset - both * both;
    [
        (of_offset * gradient[0] - both * gradient[1]) / determinant,
        (of_slope * gradient[1] - both * gradient[0]) / determinant,
    ]
}

/// The calibration of a version of a module: its own as soon as it is known, until then that of the version before.
#[derive(Debug)]
pub struct Calibrated {
    before: Calibration,
    own: OnceLock<Calibration>,
}

impl Calibrated {
    #[must_use]
    pub const fn after(before: Calibration) -> Self {
        Self { before, own: OnceLock::new() }
    }

    #[must_use]
    pub fn get(&self) -> Calibration {
        self.own.get().copied().unwrap_or(self.before)
    }

    /// `None` until it is known.
    #[must_use]
    pub fn own(&self) -> Option<Calibration> {
        self.own.get().copied()
    }

    /// Sets it once; a later call changes nothing.
    pub fn set(&self, own: Calibration) {
        // A value that is set already is the same: it depends only on the module.
        let _ = self.own.set(own);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn of_nothing_it_is_the_general_one() {
        assert_eq!(Calibration::fit(&[]), Calibration::GENERAL);
        assert!((Calibration::GENERAL.of(0.7) - 0.7).abs() < 1e-6);
    }

    #[test]
    fn what_is_wrong_too_often_is_less_sure_and_the_more_the_more_there_is() {
        let judged = |count: usize| -> Vec<(f32, bool)> { (0..count).map(|at| (0.95, at % 2 == 0)).collect() };
        let [few, many] = [10, 400].map(|count| Calibration::fit(&judged(count)).of(0.95));
        assert!(few < 0.95 && few > 0.75, "{few}");
        assert!(many < 0.65, "{many}");
    }

    #[test]
    fn exemplars_make_no_answer_surer() {
        let judged: Vec<(f32, bool)> = (0..100).map(|at| (0.7, at % 20 != 0)).collect();
        let own = Calibration::fit(&judged);
        assert_eq!((own.judged, own.right), (100, 95));
        assert!((own.of(0.7) - 0.7).abs() < 1e-6 && own.of(0.95) <= 0.95 && own.of(0.2) <= 0.2);
    }

    #[test]
    fn its_own_takes_the_place_of_the_one_before() {
        let [before, own] = [0.5, 0.9].map(|slope| Calibration { slope, ..Calibration::GENERAL });
        let known = Calibrated::after(before);
        assert_eq!((known.get(), known.own()), (before, None));
        known.set(own);
        assert_eq!((known.get(), known.own()), (own, Some(own)));
    }

    proptest! {
        #[test]
        fn the_order_stays(judged in prop::collection::vec((0.0_f32..=1.0, any::<bool>()), 0..200), low in 0.0_f32..1.0, high in 0.0_f32..1.0) {
            let fitted = Calibration::fit(&judged);
            prop_assert!(fitted.slope.is_finite() && fitted.offset.is_finite());
            let (low, high) = (low.min(high), low.max(high));
            prop_assert!(fitted.of(low) <= fitted.of(high) + 1e-5);
            prop_assert!((0.0..=1.0).contains(&fitted.of(low)));
        }
    }
}
