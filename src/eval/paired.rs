//! Compares two evaluations of the same cases: is the difference more than chance? Pure and deterministic.
//!
//! A paired bootstrap: the cases are redrawn many times, with replacement, and the difference is computed for each
//! draw. The interval holds the middle 95 %; if it does not contain 0, the difference is hardly chance.

use std::{collections::HashMap, fmt::Write as _};

use serde::Serialize;
use serde_json::Value;

use super::{
    CaseResult,
    share::{percent, plural, share},
};

/// Number of draws.
const DRAWS: usize = 2_000;
const SEED: u64 = 1;
/// Most changed cases that are listed.
const LISTED: usize = 20;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Cases in both evaluations.
    pub cases: usize,
    /// Cases in only one of them.
    pub unpaired: usize,
    pub metrics: Vec<Metric>,
    /// Right in the first and wrong in the second, and the other way round.
    pub lost: Vec<String>,
    pub won: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Metric {
    pub name: &'static str,
    pub first: f64,
    pub second: f64,
    /// Second minus first: the interval of 95 % of the draws.
    pub interval: [f64; 2],
}

/// The cases of a report printed by `uptake eval --json`; `None` if it has none.
#[must_use]
pub fn answers(report: &Value) -> Option<Vec<CaseResult>> {
    serde_json::from_value(report.get("answers")?.clone()).ok()
}

/// Cases are paired by utterance; several with the same utterance by their order.
#[must_use]
pub fn compare(first: &[CaseResult], second: &[CaseResult]) -> Comparison {
    let mut waiting: HashMap<&str, Vec<&CaseResult>> = HashMap::new();
    for one in second.iter().rev() {
        waiting.entry(&one.utterance).or_default().push(one);
    }
    let pairs: Vec<(&CaseResult, &CaseResult)> =
        first.iter().filter_map(|one| Some((one, waiting.get_mut(one.utterance.as_str())?.pop()?))).collect();
    let metrics = vec![
        metric("wholly right", |one| one.right, &pairs),
        metric("function", |one| one.function_right, &pairs),
        metric("wrong calls", |one| one.wrong_call, &pairs),
    ];
    let named = |test: fn(bool, bool) -> bool| -> Vec<String> {
        let changed = pairs.iter().filter(|(one, other)| test(one.right, other.right));
        changed.map(|(one, _)| one.utterance.clone()).collect()
    };
    Comparison {
        cases: pairs.len(),
        unpaired: first.len() + second.len() - 2 * pairs.len(),
        metrics,
        lost: named(|before, after| before && !after),
        won: named(|before, after| !before && after),
    }
}

fn metric(name: &'static str, of: fn(&CaseResult) -> bool, pairs: &[(&CaseResult, &CaseResult)]) -> Metric {
    let changes: Vec<f64> =
        pairs.iter().map(|(one, other)| f64::from(i8::from(of(other)) - i8::from(of(one)))).collect();
    let all = |count: usize| share(count, pairs.len()).unwrap_or_default();
    let first = all(pairs.iter().filter(|(one, _)| of(one)).count());
    let second = all(pairs.iter().filter(|(_, other)| of(other)).count());
    let mut random = fastrand::Rng::with_seed(SEED);
    #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
    let mut draws: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let drawn = (0..changes.len()).map(|_| changes[random.usize(..changes.len())]);
            drawn.sum::<f64>() / changes.len().max(1) as f64
        })
        .collect();
    draws.sort_by(f64::total_cmp);
    let at = |permille: usize| draws[(DRAWS * permille / 1_000).min(DRAWS - 1)];
    Metric { name, first, second, interval: [at(25), at(975)] }
}

/// The comparison for a terminal, without a final newline.
#[must_use]
pub fn text(comparison: &Comparison) -> String {
    let mut text = format!("{} in both", plural(comparison.cases, "case"));
    if comparison.unpaired > 0 {
        let _ = write!(text, ", {} in one of them only", comparison.unpaired);
    }
    let _ = write!(text, "\n  {:<14}{:>9}{:>9}{:>12}   95 % of draws", "", "first", "second", "difference");
    for metric in &comparison.metrics {
        let [low, high] = metric.interval;
        let points = |share: f64| format!("{:+.1}", share * 100.0);
        let is_chance = low <= 0.0 && 0.0 <= high;
        let _ = write!(
            text,
            "\n  {:<14}{:>9}{:>9}{:>12}   {} to {}{}",
            metric.name,
            percent(Some(metric.first)),
            percent(Some(metric.second)),
            points(metric.second - metric.first),
            points(low),
            points(high),
            if is_chance { ", may be chance" } else { "" }
        );
    }
    for (what, cases) in [("no longer right", &comparison.lost), ("now right", &comparison.won)] {
        let _ = write!(text, "\n\n{} {what}", cases.len());
        for case in cases.iter().take(LISTED) {
            let _ = write!(text, "\n  {case}");
        }
        if cases.len() > LISTED {
            let _ = write!(text, "\n  and {} more", cases.len() - LISTED);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(utterance: &str, right: bool) -> CaseResult {
        CaseResult {
            utterance: utterance.to_owned(),
            right,
            function_right: right,
            wrong_call: !right,
            confidence: Some(0.5),
        }
    }

    #[test]
    fn a_clear_difference_is_told_from_chance() {
        let of = |right: fn(usize) -> bool| -> Vec<CaseResult> {
            (0..100).map(|index| result(&format!("case {index}"), right(index))).collect()
        };
        let clear = compare(&of(|index| index < 40), &of(|index| index < 70));
        assert_eq!((clear.cases, clear.unpaired, clear.won.len(), clear.lost.len()), (100, 0, 30, 0));
        assert!(clear.metrics[0].interval[0] > 0.15 && clear.metrics[0].interval[1] < 0.45);
        assert!(clear.metrics[2].interval[1] < 0.0);
        let chance = compare(&of(|index| index.is_multiple_of(2)), &of(|index| index % 2 == 1 || index < 4));
        assert!(chance.metrics[0].interval[0] < 0.0 && chance.metrics[0].interval[1] > 0.0);
        assert!(text(&chance).contains("may be chance"));
        assert_eq!(chance, compare(&of(|index| index.is_multiple_of(2)), &of(|index| index % 2 == 1 || index < 4)));
    }

    #[test]
    fn only_what_both_have_is_compared() {
        let first = [result("a", true), result("a", false), result("b", true)];
        let second = [result("a", true), result("a", true), result("c", false)];
        let found = compare(&first, &second);
        assert_eq!((found.cases, found.unpaired, &found.won[..]), (2, 2, &["a".to_owned()][..]));
        assert_eq!(compare(&[], &second).cases, 0);
        assert_eq!(answers(&serde_json::json!({"answers": [result("a", true)]})), Some(vec![result("a", true)]));
        assert_eq!(answers(&serde_json::json!({})), None);
    }
}
