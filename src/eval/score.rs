//! Metrics over the results of the cases. Pure and deterministic.
//!
//! - **Function accuracy**: in-scope cases whose functions are exactly the expected ones, in any order. A rejection, a
//!   tie and a failure are wrong. **Best guess**: the same, counting the best candidate if nothing was decided.
//! - **Recall@k**: in-scope cases all of whose expected functions are among the first k candidates.
//! - **Slots**: micro-averaged over (function, slot, value) of the cases that give `arguments`; with a wrong function
//!   every expected value is a false negative and every understood one a false positive. Defaults do not count as
//!   positives.
//! - **Scope**: out of scope is the positive class; rejecting means answering `no_match`.
//! - **AUROC**: the probability that a random in-scope case gets a higher belief to be in scope than a random
//!   out-of-scope one, ties counting half.
//! - **Wrong calls** and coverage at a given risk: see [`super::risk`].
//! - **Expected calibration error**: ten bins of equal width over the confidence; right means the whole answer
//!   (function and every checked slot, or a rejection if none fits, and the outcome if the case names it).

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    Observation, OutcomeKind,
    compare::MatchCounts,
    risk::{self, Bin, CallScores, RiskCoverage},
    share::share,
};
use crate::{module::SlotGroup, understand::Timings};

/// The k of recall@k.
pub const RECALLS: [usize; 4] = [1, 3, 5, 10];

/// Shares are 0 to 1, and `None` if there is nothing to divide by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scores {
    pub cases: usize,
    pub in_scope: usize,
    pub out_of_scope: usize,
    /// Cases whose whole answer is right.
    pub right: Option<f64>,
    pub calls: CallScores,
    /// `None` without in-scope cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk_coverage: Option<RiskCoverage>,
    pub function: FunctionScores,
    pub slots: SlotScores,
    pub scope: ScopeScores,
    pub expected_calibration_error: Option<f64>,
    pub calibration: Vec<Bin>,
    /// By the kind that cases name; empty if none does.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub by_kind: BTreeMap<String, KindScores>,
    pub outcomes: BTreeMap<&'static str, usize>,
    /// Number of cases that name their outcome.
    pub outcome_checked: usize,
    pub outcome_right: Option<f64>,
    /// Tokens of model servers, for all cases.
    pub tokens: u64,
    /// Milliseconds by phase, over the turns that did not fail.
    pub latency_ms: Vec<PhaseLatency>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionScores {
    pub accuracy: Option<f64>,
    pub best_guess: Option<f64>,
    /// By k: see [`RECALLS`].
    pub recall: BTreeMap<usize, Option<f64>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlotScores {
    /// Cases with arguments.
    pub cases: usize,
    pub counts: MatchCounts,
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    pub f1: Option<f64>,
    /// Cases with arguments all of which are right.
    pub all_right: Option<f64>,
    pub by_group: BTreeMap<SlotGroup, GroupScores>,
}

/// The values of the slots of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupScores {
    #[serde(flatten)]
    pub counts: MatchCounts,
    pub f1: Option<f64>,
}

/// The cases of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindScores {
    pub cases: usize,
    pub right: Option<f64>,
    /// With the right functions, or rightly none.
    pub function: Option<f64>,
    pub calls: CallScores,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScopeScores {
    /// Cases that were rightly rejected or rightly accepted.
    pub accuracy: Option<f64>,
    /// Out-of-scope cases that were rejected.
    pub out_of_scope_recall: Option<f64>,
    /// Rejected cases that were out of scope.
    pub out_of_scope_precision: Option<f64>,
    pub auroc: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PhaseLatency {
    pub phase: &'static str,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
}

/// Computes every metric.
#[must_use]
pub fn score(observations: &[Observation]) -> Scores {
    let in_scope: Vec<&Observation> = observations.iter().filter(|one| one.is_in_scope()).collect();
    let out_of_scope = observations.len() - in_scope.len();
    let count = |test: &dyn Fn(&Observation) -> bool| observations.iter().filter(|one| test(one)).count();
    let count_in = |test: &dyn Fn(&Observation) -> bool| in_scope.iter().filter(|one| test(one)).count();

    let recall_at = |k: usize| {
        let found = count_in(&|one| {
            let head = &one.candidates[..one.candidates.len().min(k)];
            one.expected.iter().all(|function| head.contains(function))
        });
        (k, share(found, in_scope.len()))
    };
    let function = FunctionScores {
        accuracy: share(count_in(&Observation::is_function_right), in_scope.len()),
        best_guess: share(
            count_in(&|one| match (&one.decided[..], one.best_guess) {
                ([], Some(best)) => one.expected == [best],
                _ => one.is_function_right(),
            }),
            in_scope.len(),
        ),
        recall: RECALLS.into_iter().map(recall_at).collect(),
    };

    let rejected = count(&Observation::is_rejected);
    let rightly_rejected = count(&|one| one.is_rejected() && !one.is_in_scope());
    let rightly_taken = count_in(&|one| !one.is_rejected() && one.outcome != OutcomeKind::Failed);
    let belief = |inside: bool| -> Vec<f64> {
        observations.iter().filter(|one| one.is_in_scope() == inside).filter_map(|one| one.in_scope_belief).collect()
    };
    let scope = ScopeScores {
        accuracy: share(rightly_rejected + rightly_taken, observations.len()),
        out_of_scope_recall: share(rightly_rejected, out_of_scope),
        out_of_scope_precision: share(rightly_rejected, rejected),
        auroc: auroc(&belief(true), &belief(false)),
    };

    let judged: Vec<(f64, bool)> =
        observations.iter().filter_map(|one| Some((one.confidence?, one.is_right()))).collect();
    let named: Vec<&Observation> = observations.iter().filter(|one| one.expected_outcome.is_some()).collect();
    let calibration = risk::calibration(&judged);
    let mut outcomes: BTreeMap<&'static str, usize> =
        OutcomeKind::ALL.into_iter().map(|outcome| (outcome.name(), 0)).collect();
    for one in observations {
        *outcomes.entry(one.outcome.name()).or_default() += 1;
    }
    Scores {
        cases: observations.len(),
        in_scope: in_scope.len(),
        out_of_scope,
        right: share(count(&Observation::is_right), observations.len()),
        calls: risk::calls(observations),
        risk_coverage: risk::risk_coverage(observations),
        function,
        slots: slots(observations),
        scope,
        expected_calibration_error: risk::calibration_error(&calibration),
        calibration,
        by_kind: by_kind(observations),
        outcomes,
        outcome_checked: named.len(),
        outcome_right: share(named.iter().filter(|one| one.expected_outcome == Some(one.outcome)).count(), named.len()),
        tokens: observations.iter().map(|one| one.tokens).sum(),
        latency_ms: latency(observations),
    }
}

fn by_kind(observations: &[Observation]) -> BTreeMap<String, KindScores> {
    let mut kinds: BTreeMap<&str, Vec<Observation>> = BTreeMap::new();
    for one in observations {
        if let Some(kind) = &one.kind {
            kinds.entry(kind).or_default().push(one.clone());
        }
    }
    let scores = |cases: &[Observation]| KindScores {
        cases: cases.len(),
        right: share(cases.iter().filter(|one| one.is_right()).count(), cases.len()),
        function: share(cases.iter().filter(|one| one.is_function_right()).count(), cases.len()),
        calls: risk::calls(cases),
    };
    kinds.into_iter().map(|(kind, cases)| (kind.to_owned(), scores(&cases))).collect()
}

fn slots(observations: &[Observation]) -> SlotScores {
    let checked: Vec<MatchCounts> = observations.iter().filter_map(|one| one.slots).collect();
    let mut counts = MatchCounts::default();
    for one in &checked {
        counts += *one;
    }
    let mut groups: BTreeMap<SlotGroup, MatchCounts> = BTreeMap::new();
    for (group, found) in observations.iter().flat_map(|one| &one.slots_by_group) {
        *groups.entry(*group).or_default() += *found;
    }
    let by_group = groups.into_iter().map(|(group, counts)| (group, GroupScores { counts, f1: rates(counts).f1 }));
    let Rates { precision, recall, f1 } = rates(counts);
    let all_right = checked.iter().filter(|counts| counts.errors() == 0).count();
    SlotScores {
        cases: checked.len(),
        counts,
        precision,
        recall,
        f1,
        all_right: share(all_right, checked.len()),
        by_group: by_group.collect(),
    }
}

/// Precision, recall and their harmonic mean; `None` if nothing was found, expected, or both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    pub f1: Option<f64>,
}

#[must_use]
pub fn rates(counts: MatchCounts) -> Rates {
    let MatchCounts { true_positives, false_positives, false_negatives } = counts;
    Rates {
        precision: share(true_positives, true_positives + false_positives),
        recall: share(true_positives, true_positives + false_negatives),
        f1: share(2 * true_positives, 2 * true_positives + false_positives + false_negatives),
    }
}

/// Area under the ROC curve by ranks, ties at their mean rank; `None` if either side is empty.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub fn auroc(positives: &[f64], negatives: &[f64]) -> Option<f64> {
    if positives.is_empty() || negatives.is_empty() {
        return None;
    }
    let mut all: Vec<(f64, bool)> =
        positives.iter().map(|score| (*score, true)).chain(negatives.iter().map(|score| (*score, false))).collect();
    all.sort_by(|left, right| left.0.total_cmp(&right.0));
    let mut rank_sum = 0.0;
    let mut before = 0;
    for tied in all.chunk_by(|left, right| left.0 == right.0) {
        // Ranks start at 1; equal values share their mean rank.
        let mean_rank = before as f64 + (tied.len() as f64 + 1.0) / 2.0;
        rank_sum += mean_rank * tied.iter().filter(|(_, positive)| *positive).count() as f64;
        before += tied.len();
    }
    let (positives, negatives) = (positives.len() as f64, negatives.len() as f64);
    Some((rank_sum - positives * (positives + 1.0) / 2.0) / (positives * negatives))
}

fn latency(observations: &[Observation]) -> Vec<PhaseLatency> {
    type PhaseTime = (&'static str, fn(&Timings) -> f64);
    const PHASES: [PhaseTime; 6] = [
        ("recognize", |timings| timings.recognize),
        ("embed", |timings| timings.embed),
        ("retrieve", |timings| timings.retrieve),
        ("decide", |timings| timings.decide),
        ("llm", |timings| timings.llm),
        ("total", |timings| timings.total),
    ];
    let timings: Vec<Timings> = observations.iter().filter_map(|one| one.timings).collect();
    if timings.is_empty() {
        return Vec::new();
    }
    PHASES
        .into_iter()
        .map(|(phase, of)| {
            let mut values: Vec<f64> = timings.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            PhaseLatency {
                phase,
                p50: percentile(&values, 50),
                p90: percentile(&values, 90),
                p99: percentile(&values, 99),
            }
        })
        .collect()
}

/// Nearest rank: the smallest value that at least `percent` of all values do not exceed. 0 without values.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::module::FunctionId;

    const A: usize = 0;
    const B: usize = 1;

    fn ids(functions: &[usize]) -> Vec<FunctionId> {
        functions.iter().copied().map(FunctionId::from_index).collect()
    }

    fn observed(expected: &[usize], decided: &[usize], candidates: &[usize], confidence: f64) -> Observation {
        let outcome = if decided.is_empty() { OutcomeKind::NoMatch } else { OutcomeKind::Call };
        Observation {
            expected: ids(expected),
            is_proposed: !decided.is_empty(),
            decided: ids(decided),
            best_guess: ids(candidates).first().copied(),
            candidates: ids(candidates),
            outcome,
            confidence: Some(confidence),
            in_scope_belief: Some(if decided.is_empty() { 1.0 - confidence } else { confidence }),
            ..Observation::call()
        }
    }

    fn near(left: Option<f64>, right: f64) -> bool {
        left.is_some_and(|left| (left - right).abs() < 1e-9)
    }

    #[test]
    fn metrics_by_hand() {
        let counted = |mut one: Observation, (tp, fp, fneg): (usize, usize, usize)| {
            one.slots = Some(MatchCounts { true_positives: tp, false_positives: fp, false_negatives: fneg });
            one
        };
        let mut asked = observed(&[B], &[B], &[A, B], 0.6);
        (asked.outcome, asked.expected_outcome) = (OutcomeKind::Ask, Some(OutcomeKind::Ask));
        let observations = [
            counted(observed(&[A], &[A], &[A, B], 0.9), (3, 0, 0)),
            counted(observed(&[A], &[B], &[B, A], 0.8), (0, 1, 2)),
            asked,
            observed(&[A], &[], &[A], 0.7), // wrongly rejected, belief to be in scope 0.3
            observed(&[], &[], &[B], 0.8),  // rightly rejected, belief 0.2
            observed(&[], &[A], &[A], 0.6), // wrongly taken, belief 0.6
        ];
        let scores = score(&observations);
        assert_eq!((scores.cases, scores.in_scope, scores.out_of_scope), (6, 4, 2));
        assert!(near(scores.right, 3.0 / 6.0));
        assert!(near(scores.function.accuracy, 2.0 / 4.0));
        assert!(near(scores.function.best_guess, 3.0 / 4.0));
        assert!(near(scores.function.recall[&1], 2.0 / 4.0));
        assert!(near(scores.function.recall[&3], 1.0));
        assert!(near(scores.slots.precision, 3.0 / 4.0));
        assert!(near(scores.slots.recall, 3.0 / 5.0));
        assert!(near(scores.slots.f1, 6.0 / 9.0));
        assert!(near(scores.slots.all_right, 0.5));
        assert!(near(scores.scope.accuracy, 4.0 / 6.0));
        assert!(near(scores.scope.out_of_scope_recall, 0.5));
        assert!(near(scores.scope.out_of_scope_precision, 0.5));
        // In scope .9 .8 .6 .3 against .2 .6: 4 wins over .2; over .6 two wins and one tie.
        assert!(near(scores.scope.auroc, 6.5 / 8.0));
        // Bins: .6 (right, wrong): |1.2 - 1| ; .7 (wrong): .7 ; .8 (wrong, right): |1.6 - 1| ; .9 (right): .1
        assert!(near(scores.expected_calibration_error, (0.2 + 0.7 + 0.6 + 0.1) / 6.0));
        let some = BTreeMap::from([("ask", 1), ("call", 3), ("no_match", 2)]);
        assert_eq!(
            scores.outcomes.iter().filter(|(_, count)| **count > 0).map(|(k, v)| (*k, *v)).collect::<BTreeMap<_, _>>(),
            some
        );
        assert_eq!(scores.outcomes.len(), OutcomeKind::ALL.len());
        assert!(scores.outcome_checked == 1 && near(scores.outcome_right, 1.0));
        assert_eq!(scores.latency_ms, []);
    }

    #[test]
    fn all_of_several_functions_count_in_any_order() {
        assert!(observed(&[A, B], &[A, B], &[], 1.0).is_function_right());
        assert!(observed(&[A, B, A], &[B, A, A], &[], 1.0).is_function_right());
        assert!(!observed(&[A, B, A], &[A, B, B], &[], 1.0).is_function_right());
        assert!(!observed(&[A, B], &[A], &[], 1.0).is_function_right());
        assert!(near(score(&[observed(&[A, B], &[A, B], &[A, 7, B], 1.0)]).function.recall[&1], 0.0));
    }

    #[test]
    fn a_failure_is_wrong_and_has_no_confidence() {
        let mut failed = observed(&[A], &[], &[], 0.0);
        (failed.outcome, failed.confidence, failed.in_scope_belief) = (OutcomeKind::Failed, None, None);
        let mut nothing = failed.clone();
        nothing.expected.clear();
        let scores = score(&[failed, nothing]);
        assert_eq!((scores.right, scores.scope.accuracy), (Some(0.0), Some(0.0)));
        assert_eq!((scores.expected_calibration_error, scores.scope.auroc), (None, None));
    }

    #[test]
    fn nothing_has_no_scores() {
        let scores = score(&[]);
        assert_eq!((scores.right, scores.function.accuracy, scores.slots.f1), (None, None, None));
    }

    #[test]
    fn the_area_under_the_curve_by_hand() {
        assert_eq!(auroc(&[0.9, 0.8], &[0.1, 0.2]), Some(1.0));
        assert_eq!(auroc(&[0.1], &[0.9]), Some(0.0));
        assert_eq!(auroc(&[0.5, 0.5], &[0.5]), Some(0.5));
        assert_eq!(auroc(&[0.5, 0.7, 0.5], &[0.5, 0.3]), Some(5.0 / 6.0));
        assert_eq!(auroc(&[], &[0.5]), None);
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        assert_eq!([50, 90, 99].map(|percent| percentile(&values, percent)), [5.0, 9.0, 10.0]);
        assert_eq!(percentile(&[7.0], 50), 7.0);
    }

    #[test]
    fn the_latency_is_over_turns_that_did_not_fail() {
        let mut one = observed(&[A], &[A], &[], 1.0);
        one.timings = Some(Timings { embed: 2.0, total: 3.0, ..Timings::default() });
        let scores = score(&[one, observed(&[A], &[A], &[], 1.0)]);
        let total = scores.latency_ms.iter().find(|phase| phase.phase == "total").unwrap();
        assert_eq!((total.p50, total.p99), (3.0, 3.0));
    }

    proptest! {
        #[test]
        fn the_area_is_the_share_of_ordered_pairs(
            positives in prop::collection::vec(0_u8..6, 1..12),
            negatives in prop::collection::vec(0_u8..6, 1..12),
        ) {
            let wins: f64 = positives
                .iter()
                .flat_map(|p| negatives.iter().map(move |n| match p.cmp(n) {
                    std::cmp::Ordering::Greater => 1.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Less => 0.0,
                }))
                .sum();
            let floats = |values: &[u8]| values.iter().map(|value| f64::from(*value) / 5.0).collect::<Vec<_>>();
            let area = auroc(&floats(&positives), &floats(&negatives)).unwrap();
            prop_assert!((area - wins / (positives.len() * negatives.len()) as f64).abs() < 1e-9);
        }
    }
}
