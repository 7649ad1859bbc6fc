//! How much `auto` gains by asking: for each threshold of `sure`, the share of cases that ask a model server and the
//! accuracy, if that server were always right.
//!
//! `auto` takes the local answer if its confidence reaches the threshold, and otherwise the model server's (or again
//! the local one if the server failed). So each case is run once locally and once with the [`Oracle`], both through the
//! turn used in production, and every threshold follows from that.

use std::{fmt::Write as _, sync::Arc};

use serde::Serialize;

use super::{
    CaseProgress, Cases, Dialogues, EvalOptions, Evaluation, Observation, OutcomeKind, ResolvedCase, Tally, WrongCase,
    oracle::{self, Oracle, RightCall},
    report,
    share::share,
    warm_up,
};
use crate::{
    embed::SharedEmbedder,
    llm::{Capabilities, Server, Support},
    module::{Module, settings::StrategyName},
    snapshot::Snapshot,
    understand::{TurnError, UnderstandOptions, Understander},
};

/// Steps from never asking to asking nearly always.
const STEPS: u8 = 10;

/// One point per threshold, ascending.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    pub cases: usize,
    pub points: Vec<Point>,
    /// Cases that were not wholly right even with the right model answers: this is our ceiling, not the model's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<WrongCase>,
}

/// The result of `auto` at one threshold. Shares are 0 to 1, and `None` if there is nothing to divide by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// From this local confidence on, no model server is asked.
    pub sure: f64,
    /// True for the threshold that the module is served with.
    pub own: bool,
    /// Share of cases that ask the model server.
    pub asked: Option<f64>,
    /// Share of cases with the right functions, or rightly none.
    pub function: Option<f64>,
    /// Share of cases whose whole answer is right.
    pub right: Option<f64>,
    /// Model calls per case that asks.
    pub calls: Option<f64>,
    /// Model calls per case that the model server gets wholly right: anything over 1 was wasted.
    pub calls_if_right: Option<f64>,
}

/// One case, run both ways.
#[derive(Debug, Clone, PartialEq)]
struct Pair {
    confidence: f64,
    local: Judged,
    /// `None` if the server failed.
    asked: Option<Judged>,
    calls: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Judged {
    function: bool,
    right: bool,
}

impl Judged {
    fn of(observation: &Observation) -> Self {
        Self { function: observation.is_function_right(), right: observation.is_right() }
    }
}

/// The evaluation of the strategy `local`, and the curve. Ignores `options.strategy`; no real server is asked.
///
/// # Errors
/// As [`super::evaluate`].
pub async fn curve(
    embedder: SharedEmbedder,
    turns: &UnderstandOptions,
    snapshot: &Snapshot,
    cases: Cases,
    options: &EvalOptions,
    progress: CaseProgress<'_>,
) -> Result<(Evaluation, Curve), TurnError> {
    let module = &snapshot.module;
    let oracle = Oracle::default();
    let understander = Understander::new(turns.clone(), embedder, vec![server(&oracle)]);
    let by = |strategy| EvalOptions { strategy: Some(strategy), ..options.clone() };
    let (alone, asking) = (by(StrategyName::Local), by(StrategyName::Tools));
    let (mut local, mut asked) = (Tally::new(module), Tally::new(module));
    local.problems = cases.problems;
    let mut calls = Vec::with_capacity(cases.cases.len());
    let all = cases.cases.len();
    if let Some(first) = cases.cases.first() {
        warm_up(&understander, snapshot, first).await;
    }
    for (index, case) in cases.cases.iter().enumerate() {
        progress(index, all);
        let Some(task) = local.resolve(case) else { continue };
        if local.run(&understander, snapshot, case, &task, &alone).await? {
            oracle.expect(right_calls(module, &task));
            asked.run(&understander, snapshot, case, &task, &asking).await?;
            calls.push(oracle.asked());
        }
    }
    progress(all, all);
    let in_scope = module.settings.thresholds.in_scope.unwrap_or(turns.in_scope);
    let nothing = f64::from(1.0 - in_scope / 8.0);
    let pairs: Vec<Pair> = local
        .observations
        .iter()
        .zip(&asked.observations)
        .zip(calls)
        .map(|((local, asked), calls)| Pair {
            // "No function is meant" has a threshold of its own, independent of `sure`.
            confidence: match local.confidence.unwrap_or_default() {
                confidence if local.outcome == OutcomeKind::NoMatch && confidence < nothing => 0.0,
                confidence => confidence,
            },
            local: Judged::of(local),
            asked: (asked.outcome != OutcomeKind::Failed).then(|| Judged::of(asked)),
            calls,
        })
        .collect();
    let own = module.settings.thresholds.sure.unwrap_or(turns.sure);
    let evaluation = local.finish(alone.strategy, cases.dialogues.len(), Dialogues::default());
    Ok((evaluation, Curve { cases: pairs.len(), points: points(&pairs, own), wrong: asked.wrong }))
}

/// Its abilities are given, so that it is not probed.
fn server(oracle: &Oracle) -> Server {
    let kept = Support::Kept;
    let capabilities = Capabilities { tools: kept, strict: kept, named_choice: kept, json_schema: Support::Refused };
    Server::known(Arc::new(oracle.clone()), capabilities)
}

fn right_calls(module: &Module, task: &ResolvedCase<'_>) -> Vec<RightCall> {
    let calls = task.functions.iter().map(|(id, expected)| {
        let function = module.function(*id);
        let arguments = expected.map(|expected| oracle::arguments(function, expected)).unwrap_or_default();
        RightCall { name: function.wire_name.clone(), arguments }
    });
    calls.collect()
}

fn points(pairs: &[Pair], own: f32) -> Vec<Point> {
    let mut thresholds: Vec<f32> = (0..=STEPS).map(|step| f32::from(step) / f32::from(STEPS)).collect();
    if !thresholds.contains(&own) {
        thresholds.push(own);
        thresholds.sort_by(f32::total_cmp);
    }
    thresholds.into_iter().map(|sure| point(pairs, sure, sure.total_cmp(&own).is_eq())).collect()
}

fn point(pairs: &[Pair], sure: f32, own: bool) -> Point {
    let asks = |pair: &Pair| pair.confidence < f64::from(sure);
    let answer = |pair: &Pair| pair.asked.filter(|_| asks(pair)).unwrap_or(pair.local);
    let count = |test: &dyn Fn(&Pair) -> bool| pairs.iter().filter(|pair| test(pair)).count();
    let calls = |test: &dyn Fn(&Pair) -> bool| {
        let asking: Vec<usize> = pairs.iter().filter(|pair| asks(pair) && test(pair)).map(|pair| pair.calls).collect();
        share(asking.iter().sum(), asking.len())
    };
    Point {
        // As written, not as the nearest binary fraction.
        sure: (f64::from(sure) * 1e6).round() / 1e6,
        own,
        asked: share(count(&asks), pairs.len()),
        function: share(count(&|pair| answer(pair).function), pairs.len()),
        right: share(count(&|pair| answer(pair).right), pairs.len()),
        calls: calls(&|_| true),
        calls_if_right: calls(&|pair| pair.asked.is_some_and(|asked| asked.right)),
    }
}

/// A table for a terminal, and every case of `wrong`; without a final newline.
#[must_use]
pub fn text(curve: &Curve) -> String {
    let mut text = format!(
        "auto against a model server that is always right, {} cases\n{:>6}{:>10}{:>12}{:>10}{:>15}{:>12}",
        curve.cases, "sure", "asks", "function", "right", "calls per ask", "if right"
    );
    let percent = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0));
    let number = |number: Option<f64>| number.map_or_else(|| "-".to_owned(), |number| format!("{number:.2}"));
    for point in &curve.points {
        let _ = write!(
            text,
            "\n{:>6}{:>10}{:>12}{:>10}{:>15}{:>12}{}",
            point.sure,
            percent(point.asked),
            percent(point.function),
            percent(point.right),
            number(point.calls),
            number(point.calls_if_right),
            if point.own { "  <- the module's" } else { "" },
        );
    }
    if !curve.wrong.is_empty() {
        let _ = write!(text, "\n\n{} of {} not wholly right, always asked", curve.wrong.len(), curve.cases);
        let mut lines = Vec::new();
        for wrong in &curve.wrong {
            report::describe(wrong, &mut lines);
        }
        for line in lines {
            let _ = write!(text, "\n{line}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        embed::{Hashed, HashedOptions},
        module::ModuleName,
        retrieve::RetrieveOptions,
        snapshot::{ModulesOptions, Snapshots},
        understand::{Outcome, TurnRequest},
    };

    const CASES: &str = include_str!("../../modules/restaurant/cases.jsonl");

    async fn restaurant(embedder: &SharedEmbedder) -> Arc<Snapshot> {
        let index = tempfile::tempdir().unwrap();
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("modules");
        let options = ModulesOptions { root, index: index.path().to_owned(), ..ModulesOptions::default() };
        let snapshots = Snapshots::new(options, RetrieveOptions::default(), Arc::clone(embedder));
        snapshots.fresh(&ModuleName::new("restaurant").unwrap()).await.unwrap()
    }

    /// The curve is computed and `auto` decides: both must give the same shares at each threshold.
    #[tokio::test]
    async fn auto_does_what_the_curve_says() {
        let embedder: SharedEmbedder = Arc::new(Hashed::new(&HashedOptions::default()));
        let snapshot = restaurant(&embedder).await;
        let now: jiff::Zoned = "2026-03-01T09:00:00[UTC]".parse().unwrap();
        let options = EvalOptions { now: Some(now.clone()), ..EvalOptions::default() };
        let cases = Cases::parse("cases.jsonl", CASES);
        let own = UnderstandOptions { sure: 0.55, ..UnderstandOptions::default() };
        let (evaluation, curve) =
            curve(Arc::clone(&embedder), &own, &snapshot, cases.clone(), &options, &|_, _| {}).await.unwrap();
        assert_eq!((evaluation.strategy, curve.cases), (Some(StrategyName::Local), cases.cases.len()));
        assert_eq!(evaluation.problems, []);
        let sures: Vec<f64> = curve.points.iter().map(|point| point.sure).collect();
        assert_eq!(sures, [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 1.0]);
        assert_eq!(curve.points[0].right, evaluation.scores.right, "nobody is asked");

        for (sure, place) in [(0.3, 3), (0.55, 6), (0.9, 10)] {
            let turns = UnderstandOptions { sure, ..UnderstandOptions::default() };
            let oracle = Oracle::default();
            let understander = Understander::new(turns, Arc::clone(&embedder), vec![server(&oracle)]);
            let auto = EvalOptions { strategy: Some(StrategyName::Auto), ..options.clone() };
            let mut tally = Tally::new(&snapshot.module);
            let (mut asked, mut calls) = (0, 0);
            for case in &cases.cases {
                let task = tally.resolve(case).unwrap();
                oracle.expect(right_calls(&snapshot.module, &task));
                assert!(tally.run(&understander, &snapshot, case, &task, &auto).await.unwrap());
                asked += usize::from(oracle.asked() > 0);
                calls += oracle.asked();
            }
            let point = &curve.points[place];
            let of = |test: fn(&Observation) -> bool| {
                share(tally.observations.iter().filter(|one| test(one)).count(), cases.cases.len())
            };
            assert!(asked > 0 && asked < cases.cases.len(), "{sure}: a threshold that tells cases apart");
            assert_eq!(point.own, place == 6);
            assert_eq!(point.asked, share(asked, cases.cases.len()), "{sure}");
            assert_eq!(point.function, of(Observation::is_function_right), "{sure}");
            assert_eq!(point.right, of(Observation::is_right), "{sure}");
            assert_eq!(point.calls, share(calls, asked), "{sure}");
        }
    }

    /// Exactly one model call for an utterance that the model gets right.
    #[tokio::test]
    async fn what_the_model_gets_right_is_asked_once() {
        let embedder: SharedEmbedder = Arc::new(Hashed::new(&HashedOptions::default()));
        let snapshot = restaurant(&embedder).await;
        let oracle = Oracle::default();
        let understander = Understander::new(UnderstandOptions::default(), embedder, vec![server(&oracle)]);
        let mut tally = Tally::new(&snapshot.module);
        let mut called = 0;
        for case in &Cases::parse("cases.jsonl", CASES).cases {
            let task = tally.resolve(case).unwrap();
            oracle.expect(right_calls(&snapshot.module, &task));
            let request = TurnRequest {
                utterance: case.utterance.clone(),
                strategy: Some(StrategyName::Tools),
                now: Some("2026-03-01T09:00:00[UTC]".parse().unwrap()),
                ..TurnRequest::default()
            };
            let turn = understander.turn(&snapshot, &request).await.unwrap();
            if let Outcome::Call(_) = turn.outcome {
                called += 1;
                assert_eq!((oracle.asked(), turn.trace.attempts.len()), (1, 1), "{}", case.utterance);
            }
        }
        assert!(called > 10, "{called}");
    }

    fn pair() -> impl Strategy<Value = Pair> {
        let judged = || (any::<bool>(), any::<bool>()).prop_map(|(a, b)| Judged { function: a || b, right: b });
        (0.0..=1.0_f64, judged(), proptest::option::of(judged()), 1..4_usize)
            .prop_map(|(confidence, local, asked, calls)| Pair { confidence, local, asked, calls })
    }

    proptest! {
        #[test]
        fn who_is_surer_asks_less(pairs in proptest::collection::vec(pair(), 1..40), own in 0.0..=1.0_f32) {
            let points = points(&pairs, own);
            prop_assert_eq!(points.iter().filter(|point| point.own).count(), 1);
            prop_assert!(points.windows(2).all(|two| two[0].sure <= two[1].sure && two[0].asked <= two[1].asked));
            prop_assert_eq!(points[0].asked, Some(0.0));
            prop_assert_eq!(points[0].calls, None);
            for point in &points {
                prop_assert!(point.right <= point.function);
                prop_assert!(point.calls.is_none_or(|calls| calls >= 1.0));
            }
        }
    }

    #[test]
    fn the_table_marks_the_modules_own() {
        let right = Judged { function: true, right: true };
        let wrong = Judged { function: true, right: false };
        let pairs = [
            Pair { confidence: 0.9, local: right, asked: Some(right), calls: 1 },
            Pair { confidence: 0.3, local: wrong, asked: Some(right), calls: 1 },
            Pair { confidence: 0.2, local: wrong, asked: Some(wrong), calls: 3 },
            Pair { confidence: 0.1, local: right, asked: None, calls: 3 },
        ];
        let points = [0.0, 0.25, 0.75].map(|sure| point(&pairs, sure, sure > 0.5)).to_vec();
        insta::assert_snapshot!(text(&Curve { cases: 4, points, wrong: Vec::new() }), @r"
        auto against a model server that is always right, 4 cases
          sure      asks    function     right  calls per ask    if right
             0     0.0 %     100.0 %    50.0 %              -           -
          0.25    50.0 %     100.0 %    50.0 %           3.00           -
          0.75    75.0 %     100.0 %    75.0 %           2.33        1.00  <- the module's
        ");
    }
}
