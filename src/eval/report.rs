//! An evaluation as a table for people and as JSON for programs. Prints nothing.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{
    Evaluation, Finding, MatchCounts, MatchOutcome, WrongCase, dialogue,
    risk::{AtRisk, CallScores, SURE},
    score::Scores,
    share::{percent, plural},
};
use crate::decide::confidence::Calibration;

/// What a report shows besides the scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportOptions {
    /// Most confusions, slots and problems to list.
    pub top: usize,
    /// Also list every case whose answer is not wholly right.
    pub errors: bool,
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self { top: 10, errors: false }
    }
}

/// The report for a terminal, at most 120 columns wide if names and utterances allow; without a final newline.
#[must_use]
pub fn text(evaluation: &Evaluation, options: ReportOptions) -> String {
    let mut lines = Vec::new();
    let scores = &evaluation.scores;
    let version: String = evaluation.module_version.chars().take(8).collect();
    let (name, dialogues) = (&evaluation.module, &evaluation.dialogues);
    if scores.cases > 0 || dialogues.is_empty() {
        let scopes = format!("{} in scope, {} out of scope", scores.in_scope, scores.out_of_scope);
        lines.push(format!("{name} (version {version}): {} cases, {scopes}", scores.cases));
        summary(scores, &mut lines);
    } else {
        lines.push(format!("{name} (version {version}): {}", plural(dialogues.all(), "dialogue")));
    }
    lines.extend(own(&evaluation.calibration).map(|text| row("exemplars", &text)));
    lines.extend(dialogue::report::summary(dialogues).into_iter().map(|(name, text)| row(name, &text)));
    kinds(scores, &mut lines);
    calibration(scores, &mut lines);
    latency(scores, &mut lines);
    if !evaluation.confusions.is_empty() && options.top > 0 {
        lines.push(String::new());
        lines.push("confusions".to_owned());
        for confusion in evaluation.confusions.iter().take(options.top) {
            lines.push(format!("{:>5} x  {} -> {}", confusion.count, confusion.expected, confusion.got));
        }
        more(evaluation.confusions.len(), options.top, &mut lines);
    }
    let slots: Vec<_> = evaluation.slots.iter().filter(|slot| slot.counts.errors() > 0).collect();
    if !slots.is_empty() && options.top > 0 {
        lines.push(String::new());
        lines.push("slots with errors".to_owned());
        lines.push(format!("{:>8}{:>8}{:>8}  slot", "right", "extra", "missed"));
        for slot in slots.iter().take(options.top) {
            let counts = slot.counts;
            lines.push(format!(
                "{:>8}{:>8}{:>8}  {}: {}",
                counts.true_positives, counts.false_positives, counts.false_negatives, slot.function, slot.slot
            ));
        }
        more(slots.len(), options.top, &mut lines);
    }
    if options.errors && !evaluation.wrong.is_empty() {
        lines.push(String::new());
        lines.push(format!("{} of {} not wholly right", evaluation.wrong.len(), plural(scores.cases, "answer")));
        for wrong in &evaluation.wrong {
            describe(wrong, &mut lines);
        }
    }
    if options.errors && !dialogues.wrong.is_empty() {
        lines.push(String::new());
        lines.push(format!("{} of {} not right", dialogues.wrong.len(), plural(dialogues.all(), "dialogue")));
        for wrong in &dialogues.wrong {
            dialogue::report::describe(wrong, &mut lines);
        }
    }
    if evaluation.skipped_dialogues > 0 {
        lines.push(String::new());
        lines.push(format!(
            "{} with several turns not run: a curve is over single utterances",
            plural(evaluation.skipped_dialogues, "case")
        ));
    }
    if !evaluation.problems.is_empty() {
        lines.push(String::new());
        lines.push(format!("{} in the cases", plural(evaluation.problems.len(), "problem")));
        lines.extend(evaluation.problems.iter().take(options.top.max(1)).map(|problem| format!("  {problem}")));
        more(evaluation.problems.len(), options.top.max(1), &mut lines);
    }
    lines.join("\n")
}

/// One object: all scores, the `top` of each list, and the wrong cases and dialogues if requested.
#[must_use]
pub fn json(evaluation: &Evaluation, options: ReportOptions) -> Value {
    let mut value = json!({
        "module": evaluation.module,
        "module_version": evaluation.module_version,
        "strategy": evaluation.strategy,
        "scores": evaluation.scores,
        "calibration": evaluation.calibration,
        "confusions": &evaluation.confusions[..evaluation.confusions.len().min(options.top)],
        "slots": &evaluation.slots[..evaluation.slots.len().min(options.top)],
        "dialogues": evaluation.dialogues,
        "skipped_dialogues": evaluation.skipped_dialogues,
        "problems": evaluation.problems,
        "answers": evaluation.answers,
    });
    if options.errors
        && let Some(members) = value.as_object_mut()
    {
        members.insert("wrong".to_owned(), json!(evaluation.wrong));
        members.insert("wrong_dialogues".to_owned(), json!(evaluation.dialogues.wrong));
    }
    value
}

fn row(name: &str, text: &str) -> String {
    format!("  {name:<11}{text}")
}

fn summary(scores: &Scores, lines: &mut Vec<String>) {
    let mut row = |name: &str, text: String| lines.push(row(name, &text));
    row("answers", format!("{} wholly right", percent(scores.right)));
    row("calls", calls(&scores.calls));
    if scores.in_scope > 0 {
        let covered = percent(scores.calls.covered_of_in_scope);
        row(
            "covered",
            format!("{covered} of what is in scope is called rightly, or put as the right yes-or-no question"),
        );
    }
    if let Some(curve) = &scores.risk_coverage {
        let at = |at: &AtRisk| format!("{} at {:.0} % wrong", percent(Some(at.coverage)), at.risk * 100.0);
        row("answerable", curve.at_risk.iter().map(at).collect::<Vec<_>>().join(", "));
    }
    if scores.in_scope > 0 {
        let mut function = format!(
            "accuracy {}, best guess {}, recall",
            percent(scores.function.accuracy),
            percent(scores.function.best_guess)
        );
        for (k, share) in &scores.function.recall {
            let _ = write!(function, " @{k} {}", percent(*share));
        }
        row("function", function);
    }
    if scores.slots.cases > 0 {
        let slots = &scores.slots;
        row(
            "slots",
            format!(
                "precision {}, recall {}, F1 {}; all right in {} of {}",
                percent(slots.precision),
                percent(slots.recall),
                percent(slots.f1),
                percent(slots.all_right),
                plural(slots.cases, "case")
            ),
        );
    }
    if scores.out_of_scope > 0 {
        let scope = &scores.scope;
        row(
            "scope",
            format!(
                "accuracy {}, out-of-scope recall {}, precision {}, AUROC {}",
                percent(scope.accuracy),
                percent(scope.out_of_scope_recall),
                percent(scope.out_of_scope_precision),
                percent(scope.auroc)
            ),
        );
    }
    row("confidence", format!("expected calibration error {}", percent(scores.expected_calibration_error)));
    let outcomes: Vec<String> = scores
        .outcomes
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(name, count)| format!("{name} {count} ({})", percent(Some(ratio(*count, scores.cases)))))
        .collect();
    let mut outcomes = outcomes.join(", ");
    if scores.outcome_checked > 0 {
        let _ = write!(outcomes, "; as expected in {} of {}", percent(scores.outcome_right), scores.outcome_checked);
    }
    row("outcomes", outcomes);
    if scores.tokens > 0 {
        row("tokens", scores.tokens.to_string());
    }
}

/// What the module's own exemplars say of how sure its answers are.
fn own(calibration: &Calibration) -> Option<String> {
    let Calibration { judged, right, .. } = *calibration;
    let own = |general: f32| percent(Some(f64::from(calibration.of(general))));
    (judged > 0).then(|| {
        format!(
            "{right} of {judged} understood when they are left out: 70.0 and 90.0 % are {} and {} here",
            own(0.7),
            own(0.9)
        )
    })
}

pub(super) fn calls(calls: &CallScores) -> String {
    format!(
        "{} wrong of {} ({}), {} of all cases; {} of them at {SURE} or surer",
        calls.wrong,
        plural(calls.made, "call"),
        percent(calls.wrong_of_calls),
        percent(calls.wrong_of_cases),
        calls.surely_wrong
    )
}

/// Slots and cases by kind, if there are several kinds.
fn kinds(scores: &Scores, lines: &mut Vec<String>) {
    if scores.slots.by_group.len() > 1 {
        lines.push(String::new());
        lines.push(format!("  {:<18}{:>8}{:>8}{:>8}{:>9}", "slots of", "right", "extra", "missed", "F1"));
        for (group, found) in &scores.slots.by_group {
            let MatchCounts { true_positives, false_positives, false_negatives } = found.counts;
            let f1 = percent(found.f1);
            let counts = format!("{true_positives:>8}{false_positives:>8}{false_negatives:>8}");
            lines.push(format!("  {:<18}{counts}{f1:>9}", group.name()));
        }
    }
    if scores.by_kind.len() > 1 {
        lines.push(String::new());
        lines.push(format!("  {:<18}{:>8}{:>9}{:>10}{:>8}{:>8}", "cases", "", "right", "function", "calls", "wrong"));
        for (kind, found) in &scores.by_kind {
            lines.push(format!(
                "  {kind:<18}{:>8}{:>9}{:>10}{:>8}{:>8}",
                found.cases,
                percent(found.right),
                percent(found.function),
                found.calls.made,
                found.calls.wrong
            ));
        }
    }
}

/// Confidence compared with the share of right answers: a row for each non-empty bin.
fn calibration(scores: &Scores, lines: &mut Vec<String>) {
    const WIDTH: f64 = 40.0;
    if scores.cases == 0 {
        return;
    }
    lines.push(String::new());
    lines.push(format!("  {:<11}{:>6}{:>9}{:>9}", "confidence", "cases", "said", "true"));
    for bin in scores.calibration.iter().filter(|bin| bin.cases > 0) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of forty characters")]
        let bar = "#".repeat((bin.right.unwrap_or_default() * WIDTH).round() as usize);
        let range = format!("{:.1} to {:.1}", bin.from, bin.to);
        let (said, came_true) = (percent(bin.confidence), percent(bin.right));
        lines.push(format!("  {range:<11}{:>6}{said:>9}{came_true:>9}  {bar}", bin.cases).trim_end().to_owned());
    }
}

fn latency(scores: &Scores, lines: &mut Vec<String>) {
    if scores.latency_ms.is_empty() {
        return;
    }
    lines.push(String::new());
    lines.push(format!("  {:<11}{:>9}{:>9}{:>9}", "ms", "p50", "p90", "p99"));
    // A phase without any time did not take place.
    for phase in scores.latency_ms.iter().filter(|phase| phase.p99 > 0.0) {
        lines.push(format!("  {:<11}{:>9.3}{:>9.3}{:>9.3}", phase.phase, phase.p50, phase.p90, phase.p99));
    }
}

pub(super) fn describe(wrong: &WrongCase, lines: &mut Vec<String>) {
    lines.push(String::new());
    lines.push(format!("{}  {}", wrong.place, wrong.utterance));
    if wrong.expected == wrong.got {
        lines.push(format!("  {}", wrong.got));
    } else {
        lines.push(format!("  expected {}, got {}", wrong.expected, wrong.got));
    }
    let confidence = wrong.confidence.map(|confidence| format!(", confidence {confidence:.2}")).unwrap_or_default();
    match wrong.expected_outcome {
        Some(expected) if expected != wrong.outcome => {
            lines.push(format!("  outcome {}{confidence}, expected {}", wrong.outcome.name(), expected.name()));
        }
        _ => lines.push(format!("  outcome {}{confidence}", wrong.outcome.name())),
    }
    lines.extend(wrong.findings.iter().map(|finding| format!("  {}", describe_finding(finding))));
    lines.extend(wrong.error.iter().map(|error| format!("  {error}")));
}

pub(super) fn describe_finding(finding: &Finding) -> String {
    let expected = || finding.expected.iter().map(Value::to_string).collect::<Vec<_>>().join(" or ");
    let got = finding.got.as_ref().map(Value::to_string).unwrap_or_default();
    let slot = &finding.slot;
    match finding.verdict {
        MatchOutcome::Right => format!("{slot}: {got}"),
        MatchOutcome::Wrong => format!("{slot}: {got} instead of {}", expected()),
        MatchOutcome::Missing => format!("{slot}: nothing instead of {}", expected()),
        MatchOutcome::Extra if finding.expected.is_empty() => format!("{slot}: {got} instead of nothing"),
        MatchOutcome::Extra => format!("{slot}: {got} instead of nothing or {}", expected()),
    }
}

fn more(all: usize, shown: usize, lines: &mut Vec<String>) {
    if all > shown {
        lines.push(format!("        and {} more", all - shown));
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{
        eval::{CaseLocation, Confusion, Dialogues, Observation, OutcomeKind, Problem, SlotCounts, score},
        module::{FunctionId, SlotGroup},
        understand::Timings,
    };

    pub(in crate::eval) fn evaluation() -> Evaluation {
        let function = FunctionId::from_index(0);
        let right = Observation {
            expected: vec![function],
            decided: vec![function],
            best_guess: Some(function),
            candidates: vec![function],
            confidence: Some(0.9),
            in_scope_belief: Some(0.9),
            slots: Some(MatchCounts { true_positives: 1, ..MatchCounts::default() }),
            slots_by_group: [(SlotGroup::List, MatchCounts { true_positives: 1, ..MatchCounts::default() })].into(),
            is_proposed: true,
            kind: Some("plain".to_owned()),
            timings: Some(Timings { embed: 1.5, total: 2.0, ..Timings::default() }),
            ..Observation::call()
        };
        let taken = Observation { expected: Vec::new(), slots: None, confidence: Some(0.4), ..right.clone() };
        let place = CaseLocation { file: "cases.jsonl".into(), line: 2 };
        Evaluation {
            module: "weather".to_owned(),
            module_version: "b3f1c0de5eed".to_owned(),
            strategy: None,
            scores: score::score(&[right, taken]),
            calibration: Calibration { slope: 0.8, offset: -0.5, judged: 40, right: 22 },
            confusions: vec![
                Confusion { expected: "(none)".to_owned(), got: "order".to_owned(), count: 1 },
                Confusion { expected: "a".to_owned(), got: "b".to_owned(), count: 1 },
            ],
            slots: vec![SlotCounts {
                function: "order".to_owned(),
                slot: "dishes[].name".to_owned(),
                counts: MatchCounts { true_positives: 1, false_positives: 1, false_negatives: 0 },
            }],
            answers: Vec::new(),
            wrong: vec![WrongCase {
                place: place.clone(),
                utterance: "what is soup".to_owned(),
                expected: "(none)".to_owned(),
                got: "order".to_owned(),
                outcome: OutcomeKind::Call,
                expected_outcome: Some(OutcomeKind::NoMatch),
                confidence: Some(0.4),
                arguments: Vec::new(),
                findings: vec![Finding {
                    slot: "dishes[].name".to_owned(),
                    verdict: MatchOutcome::Wrong,
                    expected: vec![Value::from("pie"), Value::from(2)],
                    got: Some(Value::from("soup")),
                }],
                error: None,
            }],
            dialogues: Dialogues::default(),
            skipped_dialogues: 1,
            problems: vec![Problem { place, message: "`utterance` is missing".to_owned() }],
            features: Vec::new(),
        }
    }

    #[test]
    fn the_table_says_everything() {
        insta::assert_snapshot!(text(&evaluation(), ReportOptions { top: 1, errors: true }), @r#"
        weather (version b3f1c0de): 2 cases, 1 in scope, 1 out of scope
          answers    50.0 % wholly right
          calls      1 wrong of 2 calls (50.0 %), 50.0 % of all cases; 0 of them at 0.75 or surer
          covered    100.0 % of what is in scope is called rightly, or put as the right yes-or-no question
          answerable 100.0 % at 1 % wrong, 100.0 % at 2 % wrong, 100.0 % at 5 % wrong
          function   accuracy 100.0 %, best guess 100.0 %, recall @1 100.0 % @3 100.0 % @5 100.0 % @10 100.0 %
          slots      precision 100.0 %, recall 100.0 %, F1 100.0 %; all right in 100.0 % of 1 case
          scope      accuracy 50.0 %, out-of-scope recall 0.0 %, precision -, AUROC 50.0 %
          confidence expected calibration error 25.0 %
          outcomes   call 2 (100.0 %)
          exemplars  22 of 40 understood when they are left out: 70.0 and 90.0 % are 54.4 % and 77.9 % here

          confidence  cases     said     true
          0.4 to 0.5      1   40.0 %    0.0 %
          0.9 to 1.0      1   90.0 %  100.0 %  ########################################

          ms               p50      p90      p99
          embed          1.500    1.500    1.500
          total          2.000    2.000    2.000

        confusions
            1 x  (none) -> order
                and 1 more

        slots with errors
           right   extra  missed  slot
               1       1       0  order: dishes[].name

        1 of 2 answers not wholly right

        cases.jsonl:2  what is soup
          expected (none), got order
          outcome call, confidence 0.40, expected no_match
          dishes[].name: "soup" instead of "pie" or 2

        1 case with several turns not run: a curve is over single utterances

        1 problem in the cases
          cases.jsonl:2: `utterance` is missing
        "#);
    }

    #[test]
    fn the_json_is_for_programs() {
        let value = json(&evaluation(), ReportOptions::default());
        assert_eq!(value["scores"]["function"]["recall"]["10"], 1.0);
        assert_eq!(value["problems"][0]["place"], "cases.jsonl:2");
        assert!(value.get("wrong").is_none());
        let value = json(&evaluation(), ReportOptions { top: 0, errors: true });
        assert_eq!(value["wrong"][0]["findings"][0]["verdict"], "wrong");
        assert_eq!(value["confusions"], json!([]));
    }
}
