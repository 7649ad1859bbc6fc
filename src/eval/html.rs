//! An evaluation as one self-contained page with its plots.

use std::fmt::Write as _;

use super::{
    Evaluation, Finding, WrongCase,
    report::describe_finding,
    risk::{Bin, RiskPoint},
    share::percent,
};

/// Side of a plot, and the margin around it, in pixels.
const SIDE: f64 = 260.0;
const MARGIN: f64 = 44.0;

const STYLE: &str = include_str!("page.css");

/// The whole page.
#[must_use]
pub fn page(evaluation: &Evaluation) -> String {
    let scores = &evaluation.scores;
    let title = format!("{}: {} cases", escaped(&evaluation.module), scores.cases);
    let mut body = String::new();
    let version: String = evaluation.module_version.chars().take(8).collect();
    let _ = write!(
        body,
        "<header><h1>{title}</h1><p>version {}, {} in scope, {} out of scope</p></header>",
        escaped(&version),
        scores.in_scope,
        scores.out_of_scope
    );
    body.push_str(&figures(evaluation));
    body.push_str("<section class=\"plots\">");
    if let Some(curve) = &scores.risk_coverage {
        body.push_str(&figure("Wrong calls by how many are made", &risk_coverage(&curve.points)));
    }
    body.push_str(&figure("What was said, and what came true", &calibration(&scores.calibration)));
    body.push_str("</section>");
    body.push_str(&groups(evaluation));
    body.push_str(&kinds(evaluation));
    body.push_str(&confusions(evaluation));
    body.push_str(&wrong(&evaluation.wrong));
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body>{body}</body></html>\n"
    )
}

/// The main figures, the most harmful first.
fn figures(evaluation: &Evaluation) -> String {
    let (scores, dialogues) = (&evaluation.scores, &evaluation.dialogues);
    let right = dialogues.plain.right + dialogues.scripted.right;
    let calls = &scores.calls;
    let tiles = [
        ("wrong calls", format!("{} of {}", calls.wrong, calls.made), percent(calls.wrong_of_calls)),
        ("wrong at 0.75 or surer", calls.surely_wrong.to_string(), String::new()),
        ("called or offered rightly", percent(calls.covered_of_in_scope), String::new()),
        ("wholly right", percent(scores.right), String::new()),
        ("function, best guess", percent(scores.function.best_guess), String::new()),
        ("slots, F1", percent(scores.slots.f1), String::new()),
        ("out-of-scope recall", percent(scores.scope.out_of_scope_recall), String::new()),
        ("AUROC", percent(scores.scope.auroc), String::new()),
        ("calibration error", percent(scores.expected_calibration_error), String::new()),
        ("dialogues right", format!("{right} of {}", dialogues.all()), String::new()),
    ];
    let mut text = "<section class=\"tiles\">".to_owned();
    for (name, value, more) in tiles {
        let _ = write!(text, "<div><b>{value}</b> <small>{more}</small><span>{name}</span></div>");
    }
    text + "</section>"
}

fn figure(caption: &str, svg: &str) -> String {
    format!("<figure>{svg}<figcaption>{caption}</figcaption></figure>")
}

/// Axes from 0 to 1, vertically to `highest`, with the drawing inside.
fn plot((across, upwards): (&str, &str), highest: f64, drawn: &str) -> String {
    let whole = SIDE + 2.0 * MARGIN;
    let mut svg = format!("<svg viewBox=\"0 0 {whole} {whole}\" role=\"img\">");
    for step in 0..=4 {
        let share = f64::from(step) / 4.0;
        let (x, y) = (MARGIN + share * SIDE, MARGIN + SIDE - share * SIDE);
        let (right, bottom) = (MARGIN + SIDE, MARGIN + SIDE);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{x} {MARGIN}V{bottom}M{MARGIN} {y}H{right}\"/>\
             <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{:.0}</text>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.0}</text>",
            bottom + 16.0,
            share * 100.0,
            MARGIN - 6.0,
            y + 4.0,
            share * highest * 100.0
        );
    }
    let middle = MARGIN + SIDE / 2.0;
    let _ = write!(
        svg,
        "{drawn}<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{across}</text>\
         <text transform=\"translate(12 {middle}) rotate(-90)\" text-anchor=\"middle\">{upwards}</text></svg>",
        whole - 8.0
    );
    svg
}

fn place(across: f64, upwards: f64) -> (f64, f64) {
    (MARGIN + across.clamp(0.0, 1.0) * SIDE, MARGIN + SIDE - upwards.clamp(0.0, 1.0) * SIDE)
}

fn risk_coverage(points: &[RiskPoint]) -> String {
    let most = points.iter().map(|point| point.risk).fold(0.0, f64::max);
    let highest = [0.04, 0.08, 0.2, 0.4, 0.6, 0.8].into_iter().find(|highest| most <= *highest).unwrap_or(1.0);
    let mut drawn = String::new();
    let mut path = String::new();
    for (index, point) in points.iter().enumerate() {
        let (x, y) = place(point.coverage, point.risk / highest);
        let _ = write!(path, "{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' });
        let _ = write!(
            drawn,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\"><title>from {:.2} on: {} called, {} wrong</title></circle>",
            point.confidence, point.answers, point.wrong
        );
    }
    let drawn = format!("<path class=\"line\" d=\"{path}\"/>{drawn}");
    plot(("% of the requests called", "% of the calls wrong"), highest, &drawn)
}

/// A bar for each bin, as high as its share of right answers; ideal bars end on the diagonal. Wide bins hold many
/// cases.
fn calibration(bins: &[Bin]) -> String {
    let most = bins.iter().map(|bin| bin.cases).max().unwrap_or(1).max(1);
    let mut drawn = String::new();
    for bin in bins {
        let (Some(said), Some(right)) = (bin.confidence, bin.right) else { continue };
        let (x, y) = place(said, right);
        #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
        let radius = 3.0 + 9.0 * (bin.cases as f64 / most as f64).sqrt();
        let _ = write!(
            drawn,
            "<circle class=\"bin\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"><title>{} cases: said {}, true {}</title></circle>",
            bin.cases,
            percent(Some(said)),
            percent(Some(right))
        );
    }
    let ((left, bottom), (right, top)) = (place(0.0, 0.0), place(1.0, 1.0));
    let drawn = format!("<path class=\"ideal\" d=\"M{left} {bottom}L{right} {top}\"/>{drawn}");
    plot(("% sure", "% right"), 1.0, &drawn)
}

fn table(caption: &str, head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = format!("<section><h2>{caption}</h2><table><tr>");
    for name in head {
        let _ = write!(text, "<th>{name}</th>");
    }
    text.push_str("</tr>");
    let mut is_empty = true;
    for row in rows {
        is_empty = false;
        text.push_str("<tr>");
        for cell in row {
            let _ = write!(text, "<td>{}</td>", escaped(&cell));
        }
        text.push_str("</tr>");
    }
    if is_empty { String::new() } else { text + "</table></section>" }
}

fn groups(evaluation: &Evaluation) -> String {
    let rows = evaluation.scores.slots.by_group.iter().map(|(group, found)| {
        let counts = found.counts;
        let numbers = [counts.true_positives, counts.false_positives, counts.false_negatives].map(|n| n.to_string());
        [vec![group.name().to_owned()], numbers.to_vec(), vec![percent(found.f1)]].concat()
    });
    table("Slots", &["of", "right", "extra", "missed", "F1"], rows)
}

fn kinds(evaluation: &Evaluation) -> String {
    let rows = evaluation.scores.by_kind.iter().map(|(kind, found)| {
        let calls = &found.calls;
        vec![
            kind.clone(),
            found.cases.to_string(),
            percent(found.right),
            percent(found.function),
            format!("{} of {}", calls.wrong, calls.made),
        ]
    });
    table("Kinds of cases", &["kind", "cases", "wholly right", "function", "wrong calls"], rows)
}

fn confusions(evaluation: &Evaluation) -> String {
    let rows =
        evaluation.confusions.iter().map(|one| vec![one.count.to_string(), one.expected.clone(), one.got.clone()]);
    table("Confusions", &["cases", "expected", "got"], rows)
}

/// Wrong calls first, the surest at the top.
fn wrong(cases: &[WrongCase]) -> String {
    let mut sorted: Vec<&WrongCase> = cases.iter().collect();
    let is_call = |case: &WrongCase| case.outcome == super::OutcomeKind::Call;
    sorted.sort_by(|one, other| {
        let sure = |case: &WrongCase| case.confidence.unwrap_or_default();
        is_call(other).cmp(&is_call(one)).then(sure(other).total_cmp(&sure(one)))
    });
    let rows = sorted.into_iter().map(|case| {
        let said: Vec<String> = case.findings.iter().map(|finding: &Finding| describe_finding(finding)).collect();
        vec![
            case.outcome.name().to_owned(),
            case.confidence.map_or_else(String::new, |confidence| format!("{confidence:.2}")),
            case.utterance.clone(),
            case.expected.clone(),
            if case.got == case.expected { String::new() } else { case.got.clone() },
            said.join("; "),
        ]
    });
    table("Not wholly right", &["outcome", "sure", "utterance", "expected", "got", "values"], rows)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::report::tests::evaluation;

    #[test]
    fn the_page_has_plots_and_runs_nothing_that_was_said() {
        let mut evaluation = evaluation();
        "<script>alert(1)</script>".clone_into(&mut evaluation.wrong[0].utterance);
        let page = page(&evaluation);
        assert!(page.starts_with("<!doctype html>") && page.matches("<svg").count() == 2);
        assert!(!page.contains("<script") && page.contains("&lt;script&gt;alert(1)"));
        assert!(!page.contains("http"), "it needs nothing but itself");
        for part in ["Confusions", "Not wholly right", "class=\"bin\"", "class=\"line\""] {
            assert!(page.contains(part), "{part}");
        }
        assert_eq!(page.matches("<td>").count(), page.matches("</td>").count());
    }
}
