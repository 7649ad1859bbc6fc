//! Wrong calls, and the cost of making fewer of them. Pure and deterministic.
//!
//! - A **call** counts as wrong if any part of it is: the function, a value that is wrong, made up or missing, or if a
//!   question was expected. A request for confirmation is not a call.
//! - **Coverage** at a confidence: the share of in-scope cases with a call, or a request for confirmation, of at least
//!   that confidence. **Risk**: the share of those calls, including out-of-scope cases, that are wrong.

use serde::Serialize;

use super::{Observation, OutcomeKind, share::share};

/// From this confidence on, a call counts as sure.
pub const SURE: f64 = 0.75;

/// The risks in reports.
const RISKS: [f64; 3] = [0.01, 0.02, 0.05];

/// Most points of a curve that are kept.
const MOST_POINTS: usize = 100;

/// Bins of the calibration diagram.
pub const BINS: usize = 10;

/// Shares are 0 to 1, and `None` if there is nothing to divide by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallScores {
    pub made: usize,
    pub wrong: usize,
    /// Wrong calls with a confidence of [`SURE`] or more.
    pub surely_wrong: usize,
    pub wrong_of_calls: Option<f64>,
    pub wrong_of_cases: Option<f64>,
    /// In-scope cases that are called rightly, or where the right call is put to the person as a yes-or-no question.
    pub covered: usize,
    pub covered_of_in_scope: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RiskCoverage {
    /// Falling confidence, rising coverage.
    pub points: Vec<RiskPoint>,
    /// Coverage at a risk of 1, 2 and 5 %.
    pub at_risk: Vec<AtRisk>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RiskPoint {
    pub confidence: f64,
    /// Answers of at least this confidence, and how many of them are wrong.
    pub answers: usize,
    pub wrong: usize,
    pub coverage: f64,
    pub risk: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AtRisk {
    pub risk: f64,
    /// 0 if even the surest answers have a greater risk.
    pub coverage: f64,
    /// The confidence from which calls are made at that risk; `None` if no call is.
    pub confidence: Option<f64>,
}

/// One bar of a calibration diagram.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bin {
    pub from: f64,
    pub to: f64,
    pub cases: usize,
    /// Mean confidence.
    pub confidence: Option<f64>,
    /// Share of right answers.
    pub right: Option<f64>,
}

#[must_use]
pub fn calls(observations: &[Observation]) -> CallScores {
    let made: Vec<&Observation> = observations.iter().filter(|one| one.outcome == OutcomeKind::Call).collect();
    let wrong: Vec<&&Observation> = made.iter().filter(|one| !one.is_right()).collect();
    let in_scope = observations.iter().filter(|one| one.is_in_scope());
    let covered = in_scope.clone().filter(|one| one.is_proposed && one.is_proposal_right()).count();
    CallScores {
        covered,
        covered_of_in_scope: share(covered, in_scope.count()),
        made: made.len(),
        wrong: wrong.len(),
        surely_wrong: wrong.iter().filter(|one| one.confidence.is_some_and(|confidence| confidence >= SURE)).count(),
        wrong_of_calls: share(wrong.len(), made.len()),
        wrong_of_cases: share(wrong.len(), observations.len()),
    }
}

/// `None` without in-scope cases.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn risk_coverage(observations: &[Observation]) -> Option<RiskCoverage> {
    let in_scope = observations.iter().filter(|one| one.is_in_scope()).count();
    if in_scope == 0 {
        return None;
    }
    let mut proposed: Vec<(f64, &Observation)> =
        observations.iter().filter(|one| one.is_proposed).filter_map(|one| Some((one.confidence?, one))).collect();
    proposed.sort_by(|left, right| right.0.total_cmp(&left.0));
    let (mut points, mut seen, mut covered, mut wrong) = (Vec::new(), 0_usize, 0_usize, 0_usize);
    // Equally sure answers are made together or not at all.
    for tied in proposed.chunk_by(|left, right| left.0 == right.0) {
        seen += tied.len();
        covered += tied.iter().filter(|(_, one)| one.is_in_scope()).count();
        wrong += tied.iter().filter(|(_, one)| !one.is_proposal_right()).count();
        points.push(RiskPoint {
            confidence: tied[0].0,
            answers: seen,
            wrong,
            coverage: covered as f64 / in_scope as f64,
            risk: wrong as f64 / seen as f64,
        });
    }
    let at_risk = RISKS.map(|risk| {
        let last = points.iter().rfind(|point| point.risk <= risk);
        AtRisk {
            risk,
            coverage: last.map_or(0.0, |point| point.coverage),
            confidence: last.map(|point| point.confidence),
        }
    });
    Some(RiskCoverage { points: thinned(points), at_risk: at_risk.to_vec() })
}

/// Keeps points at even distances, including the last one.
fn thinned(points: Vec<RiskPoint>) -> Vec<RiskPoint> {
    let step = points.len().div_ceil(MOST_POINTS).max(1);
    let last = points.len().saturating_sub(1);
    points.into_iter().enumerate().filter(|(at, _)| (last - at).is_multiple_of(step)).map(|(_, point)| point).collect()
}

/// The bins of pairs (confidence, was right), in order, including empty ones.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the bins first")]
pub fn calibration(judged: &[(f64, bool)]) -> Vec<Bin> {
    let mut sums = [(0.0, 0_usize, 0_usize); BINS];
    for (confidence, right) in judged {
        let bin = (confidence * BINS as f64).clamp(0.0, (BINS - 1) as f64) as usize;
        sums[bin].0 += confidence;
        sums[bin].1 += 1;
        sums[bin].2 += usize::from(*right);
    }
    let bin = |(at, (sum, cases, right)): (usize, (f64, usize, usize))| Bin {
        from: at as f64 / BINS as f64,
        to: (at + 1) as f64 / BINS as f64,
        cases,
        confidence: (cases > 0).then(|| sum / cases as f64),
        right: share(right, cases),
    };
    sums.into_iter().enumerate().map(bin).collect()
}

/// Expected calibration error: the mean distance between confidence and share of right answers; `None` without cases.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn calibration_error(bins: &[Bin]) -> Option<f64> {
    let cases: usize = bins.iter().map(|bin| bin.cases).sum();
    let gap = |bin: &Bin| Some((bin.confidence? - bin.right?).abs() * bin.cases as f64);
    (cases > 0).then(|| bins.iter().filter_map(gap).sum::<f64>() / cases as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{eval::MatchCounts, module::FunctionId};

    fn observed(expected: bool, right: bool, confidence: f64) -> Observation {
        let (this, other) = (FunctionId::from_index(0), FunctionId::from_index(1));
        Observation {
            expected: if expected { vec![this] } else { Vec::new() },
            decided: vec![if right { this } else { other }],
            confidence: Some(confidence),
            is_proposed: true,
            ..Observation::call()
        }
    }

    #[test]
    fn wrong_calls_are_counted_by_calls_and_by_cases() {
        let mut incomplete = observed(true, true, 0.9);
        incomplete.slots = Some(MatchCounts { true_positives: 1, false_positives: 0, false_negatives: 1 });
        let mut question = observed(true, false, 0.9);
        question.outcome = OutcomeKind::Ask;
        let scores = calls(&[
            observed(true, true, 0.8),
            incomplete,
            question,
            observed(false, false, 0.4),
            observed(true, true, 0.3),
        ]);
        assert_eq!((scores.made, scores.wrong, scores.surely_wrong), (4, 2, 1));
        assert_eq!((scores.wrong_of_calls, scores.wrong_of_cases), (Some(0.5), Some(0.4)));
        assert_eq!(calls(&[]).wrong_of_calls, None);
    }

    #[test]
    fn what_is_called_rightly_or_rightly_offered_is_covered() {
        let offered = |right: bool| Observation { outcome: OutcomeKind::Ask, ..observed(true, right, 0.5) };
        let open = Observation { is_proposed: false, ..offered(true) };
        let scores = calls(&[
            observed(true, true, 0.9),
            observed(true, false, 0.9),
            offered(true),
            offered(false),
            open,
            observed(false, false, 0.9),
        ]);
        assert_eq!((scores.covered, scores.covered_of_in_scope), (2, Some(0.4)));
        assert_eq!(calls(&[]).covered_of_in_scope, None);
    }

    #[test]
    fn the_curve_by_hand() {
        let mut silent = observed(true, true, 0.99);
        (silent.outcome, silent.is_proposed) = (OutcomeKind::Ask, false);
        let observations = [
            observed(true, true, 0.9),
            observed(true, true, 0.8),
            observed(false, false, 0.8),
            observed(true, true, 0.5),
            silent,
        ];
        let found = risk_coverage(&observations).unwrap();
        let points: Vec<(f64, f64)> = found.points.iter().map(|point| (point.confidence, point.coverage)).collect();
        assert_eq!(points, [(0.9, 0.25), (0.8, 0.5), (0.5, 0.75)]);
        assert!((found.points[1].risk - 1.0 / 3.0).abs() < 1e-9);
        assert_eq!((found.at_risk[0].coverage, found.at_risk[0].confidence), (0.25, Some(0.9)));
        assert_eq!(risk_coverage(&[observed(false, false, 0.8)]), None);
        assert_eq!(risk_coverage(&[observed(true, false, 0.8)]).unwrap().at_risk[2].confidence, None);
    }

    #[test]
    fn bins_say_what_came_true() {
        let bins = calibration(&[(0.81, true), (0.89, false), (1.0, true)]);
        assert_eq!((bins.len(), bins[8].cases, bins[8].right, bins[9].right), (10, 2, Some(0.5), Some(1.0)));
        assert!(bins[8].confidence.is_some_and(|mean| (mean - 0.85).abs() < 1e-9));
        assert!(calibration_error(&bins).is_some_and(|error| (error - 0.7 / 3.0).abs() < 1e-9));
        assert_eq!(calibration_error(&calibration(&[])), None);
    }

    proptest! {
        #[test]
        fn a_greater_risk_covers_as_much(cases in prop::collection::vec((any::<bool>(), any::<bool>(), 0_u8..20), 1..300)) {
            let observations: Vec<Observation> = cases
                .into_iter()
                .map(|(expected, right, confidence)| observed(expected, right, f64::from(confidence) / 20.0))
                .collect();
            if let Some(found) = risk_coverage(&observations) {
                prop_assert!(found.points.len() <= MOST_POINTS + 1);
                prop_assert!(found.points.windows(2).all(|two| two[0].coverage <= two[1].coverage));
                prop_assert!(found.at_risk.windows(2).all(|two| two[0].coverage <= two[1].coverage));
            }
        }

        #[test]
        fn the_calibration_error_is_a_share(judged in prop::collection::vec((-0.5_f64..1.5, any::<bool>()), 1..40)) {
            let clamped: Vec<(f64, bool)> = judged.iter().map(|(c, right)| (c.clamp(0.0, 1.0), *right)).collect();
            prop_assert!((0.0..=1.0).contains(&calibration_error(&calibration(&clamped)).unwrap()));
            let _ = calibration(&[(f64::NAN, true)]);
        }
    }
}
