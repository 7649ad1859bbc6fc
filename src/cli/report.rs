//! Everything that is printed: answers to stdout, failures and progress to stderr.
//!
//! Colours on a terminal only, and never with `NO_COLOR`. A closed pipe ends the process quietly, as it does for others.

use std::{
    fmt::Write as _,
    io::{self, ErrorKind, IsTerminal, Write as _},
};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::CliError;
use crate::{
    http::{
        ChatCompletion,
        completion::{SlotBody, SlotValue, Understood},
    },
    module::{Diagnostics, Severity},
    snapshot::BuildReport,
};

/// Colours, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Style {
    colours: bool,
}

impl Style {
    fn of(stream: &impl IsTerminal) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Self { colours: stream.is_terminal() && !refused && !dumb }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colours { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }
}

pub(super) fn line(text: &str) {
    finish(writeln!(io::stdout().lock(), "{text}"));
}

/// One pretty document.
pub(super) fn json(value: &impl Serialize) {
    line(&serde_json::to_string_pretty(value).expect("answers are structs, lists and maps with string keys"));
}

/// One line of many.
pub(super) fn json_line(value: &impl Serialize) {
    line(&serde_json::to_string(value).expect("answers are structs, lists and maps with string keys"));
}

pub(super) fn failure(error: &CliError) {
    let style = Style::of(&io::stderr());
    let mut text = format!("{}: {error}", style.red("error"));
    if let CliError::Refused { diagnostics, .. } = error {
        text.push('\n');
        text.push_str(&render_diagnostics(diagnostics, style));
    }
    finish(writeln!(io::stderr().lock(), "{text}"));
}

/// Whoever read us has left: there is nobody to tell.
fn finish(written: io::Result<()>) {
    if written.is_err_and(|error| error.kind() == ErrorKind::BrokenPipe) {
        std::process::exit(0);
    }
}

pub(super) fn diagnostics(module: &str, found: &Diagnostics) {
    let style = Style::of(&io::stdout());
    let (errors, warnings) = (found.errors().count(), found.warnings().count());
    let verdict = if errors > 0 { style.red("refused") } else { style.green("ok") };
    let mut text = render_diagnostics(found, style);
    if !text.is_empty() {
        text.push('\n');
    }
    let _ =
        write!(text, "{}: {verdict}, {}, {}", style.bold(module), count(errors, "error"), count(warnings, "warning"));
    line(&text);
}

fn render_diagnostics(found: &Diagnostics, style: Style) -> String {
    let lines = found.0.iter().map(|diagnostic| {
        let text = diagnostic.to_string();
        let (word, painted) = match diagnostic.severity {
            Severity::Error => ("error", style.red("error")),
            Severity::Warning => ("warning", style.yellow("warning")),
        };
        text.replacen(&format!(": {word}["), &format!(": {painted}["), 1)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

pub(super) fn built(report: &BuildReport) {
    line(&render_built(report, Style::of(&io::stdout())));
}

fn render_built(report: &BuildReport, style: Style) -> String {
    let version: String = report.version.chars().take(12).collect();
    let mut text = format!(
        "{}: {}, {}, {}, {} embedded, {} reused, {:.0} ms {}",
        style.bold(&report.module),
        count(report.functions, "function"),
        count(report.exemplars, "exemplar"),
        count(report.recognizers, "recognizer"),
        report.embedded,
        report.reused,
        report.took_ms,
        style.dim(&version),
    );
    if report.previous.is_some() {
        for (sign, names) in [("+", &report.added), ("-", &report.removed), ("~", &report.changed)] {
            for name in names {
                let _ = write!(text, "\n  {sign} {name}");
            }
        }
    }
    if !report.warnings.0.is_empty() {
        let _ = write!(text, "\n{}", render_diagnostics(&report.warnings, style));
    }
    text
}

pub(super) fn answer(answer: &ChatCompletion) {
    line(&render_answer(answer, Style::of(&io::stdout())));
}

fn render_answer(answer: &ChatCompletion, style: Style) -> String {
    let uptake = &answer.uptake;
    let outcome = match uptake.outcome {
        "call" => style.green("call"),
        "ask" => style.yellow("ask"),
        _ => style.red("no match"),
    };
    let how = format!("{} by {} in {:.1} ms", uptake.confidence, uptake.decided_by, uptake.timings_ms.total);
    let mut text = format!("{outcome} {}", style.dim(&how));
    for choice in &answer.choices {
        if let Some(question) = &choice.message.content {
            let _ = write!(text, "\n{}", style.bold(question));
        }
        for call in choice.message.tool_calls.iter().flatten() {
            let _ = write!(text, "\n{}({})", style.bold(&call.function.name), call.function.arguments);
        }
    }
    for understood in &uptake.calls {
        render_understood(&mut text, understood, uptake.outcome != "call" || uptake.calls.len() > 1, style);
    }
    for note in &uptake.notes {
        let _ = write!(text, "\n  {}", style.dim(note));
    }
    text
}

fn render_understood(text: &mut String, understood: &Understood, named: bool, style: Style) {
    if named {
        let _ = write!(text, "\n  {} {}", understood.function, style.dim(&understood.confidence.to_string()));
    }
    let width = understood.slots.iter().map(|(path, _)| path.chars().count()).max().unwrap_or_default();
    for (path, slot) in &understood.slots {
        let values = match slot {
            SlotBody::One(value) => std::slice::from_ref(value),
            SlotBody::Many(values) => values,
        };
        for value in values {
            let _ = write!(text, "\n  {path:width$} = {} {}", value.value, style.dim(&origin(value)));
        }
    }
    for path in &understood.missing {
        let _ = write!(text, "\n  {path:width$} {}", style.yellow("is missing"));
    }
    for violation in &understood.invalid {
        let found = violation.found.as_ref().map(|found| format!("{found} is not valid; ")).unwrap_or_default();
        let _ = write!(text, "\n  {} {}", violation.path, style.yellow(&format!("{found}{}", violation.expected)));
    }
}

fn origin(value: &SlotValue) -> String {
    match (&value.text, value.span) {
        (Some(said), Some([start, end])) => {
            let finder = value.recognizer.as_deref().unwrap_or("free text");
            // Debug, so that a control character in what was said does nothing to the terminal.
            format!("{said:?} at {start}..{end}, {finder}, {}", value.confidence)
        }
        _ => format!("{}, {}", value.from, value.confidence),
    }
}

pub(super) fn why(answer: &ChatCompletion) {
    line(&render_why(answer, Style::of(&io::stdout())));
}

fn render_why(answer: &ChatCompletion, style: Style) -> String {
    let mut text = String::new();
    for candidate in &answer.uptake.candidates {
        let _ = writeln!(text, "{:.3} {}", candidate.score, style.bold(&candidate.function));
        for evidence in &candidate.evidence {
            let kind = evidence.mode.filter(|mode| *mode != "normal").unwrap_or(evidence.source);
            let scores = format!("dense {:.3}, lexical {:.3}", evidence.dense, evidence.lexical);
            let _ = writeln!(text, "  {:.3} {kind} {:?} {}", evidence.score, evidence.text, style.dim(&scores));
        }
    }
    if text.is_empty() {
        text.push_str("there were no candidates\n");
    }
    let timings = &answer.uptake.timings_ms;
    let _ = write!(
        text,
        "{}",
        style.dim(&format!(
            "recognize {}, embed {}, retrieve {}, decide {}, llm {}, total {} ms",
            timings.recognize, timings.embed, timings.retrieve, timings.decide, timings.llm, timings.total
        ))
    );
    text
}

pub(super) fn mentions(answer: &ChatCompletion) {
    line(&render_mentions(answer, Style::of(&io::stdout())));
}

fn render_mentions(answer: &ChatCompletion, style: Style) -> String {
    let lines = answer.uptake.mentions.iter().map(|mention| {
        let [start, end] = mention.span;
        let place = format!("{start}..{end}, {}", mention.score);
        format!("{:?} -> {} {} {}", mention.text, mention.value, style.bold(&mention.recognizer), style.dim(&place))
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    if text.is_empty() { "the recognizers found nothing".to_owned() } else { text }
}

/// A bar on stderr while texts are embedded; nothing where that is not a terminal.
pub(super) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub(super) fn start(module: &str) -> Self {
        let bar = if io::stderr().is_terminal() { ProgressBar::no_length() } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{prefix} {wide_bar} {pos}/{len} texts {eta}")
            .expect("the template is a constant and the tests start a bar with it");
        bar.set_style(style);
        bar.set_prefix(module.to_owned());
        Self { bar }
    }

    pub(super) fn at(&self, done: usize, all: usize) {
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
    }

    pub(super) fn end(self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        http::completion::{
            CandidateBody, Choice, EvidenceBody, FunctionCall, MentionBody, Message, TimingsBody, ToolCall, Uptake,
            Usage, ViolationBody,
        },
        module::Diagnostic,
    };

    const PLAIN: Style = Style { colours: false };

    fn answered(outcome: &'static str, content: Option<&str>, calls: Vec<Understood>) -> ChatCompletion {
        let call = FunctionCall { name: "forecast".into(), arguments: r#"{"location":"Seattle, WA"}"#.into() };
        let tool_calls = vec![ToolCall { id: "call_1".into(), kind: "function", function: call }];
        ChatCompletion {
            id: "chatcmpl-1".into(),
            object: "chat.completion",
            created: 1,
            model: "weather".into(),
            choices: vec![Choice {
                index: 0,
                message: Message {
                    role: "assistant",
                    content: content.map(Into::into),
                    refusal: (),
                    tool_calls: (outcome == "call").then_some(tool_calls),
                },
                logprobs: (),
                finish_reason: "stop",
            }],
            usage: Usage { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
            system_fingerprint: "fp_1".into(),
            uptake: Uptake {
                outcome,
                confidence: 0.94,
                decided_by: "local",
                module_version: "1".into(),
                question: None,
                calls,
                candidates: vec![CandidateBody {
                    function: "forecast".into(),
                    score: 0.5,
                    negative: None,
                    evidence: vec![EvidenceBody {
                        source: "exemplar",
                        text: "how cold is it in <location>".into(),
                        mode: Some("normal"),
                        dense: 0.9,
                        lexical: 0.1,
                        score: 0.7,
                    }],
                }],
                mentions: vec![MentionBody {
                    recognizer: "city".into(),
                    text: "seattle\u{1b}".into(),
                    span: [3, 10],
                    value: "Seattle, WA".into(),
                    score: 1.0,
                }],
                attempts: Vec::new(),
                notes: Vec::new(),
                timings_ms: TimingsBody {
                    recognize: 0.1,
                    embed: 2.0,
                    retrieve: 0.3,
                    decide: 0.2,
                    llm: 0.0,
                    total: 2.6,
                },
            },
        }
    }

    fn understood() -> Understood {
        let value = SlotValue {
            value: "Seattle, WA".into(),
            text: Some("seattle".into()),
            span: Some([3, 10]),
            recognizer: Some("city".into()),
            confidence: 0.98,
            from: "utterance",
            pointer: None,
        };
        Understood {
            function: "forecast".into(),
            confidence: 0.9,
            segment: [0, 10],
            slots: vec![("location".into(), SlotBody::One(value))],
            missing: Vec::new(),
            invalid: Vec::new(),
        }
    }

    #[test]
    fn a_call_is_shown_with_where_its_values_come_from() {
        assert_eq!(
            render_answer(&answered("call", None, vec![understood()]), PLAIN),
            "call 0.94 by local in 2.6 ms\n\
             forecast({\"location\":\"Seattle, WA\"})\n  \
             location = \"Seattle, WA\" \"seattle\" at 3..10, city, 0.98"
        );
    }

    #[test]
    fn a_question_is_shown_with_what_is_known() {
        let mut known = understood();
        known.missing.push("format".into());
        known.invalid.push(ViolationBody {
            kind: "range".into(),
            path: "/num_days".into(),
            found: Some(99.into()),
            expected: "1 to 14".into(),
        });
        assert_eq!(
            render_answer(&answered("ask", Some("In what unit?"), vec![known]), PLAIN),
            "ask 0.94 by local in 2.6 ms\n\
             In what unit?\n  \
             forecast 0.9\n  \
             location = \"Seattle, WA\" \"seattle\" at 3..10, city, 0.98\n  \
             format   is missing\n  \
             /num_days 99 is not valid; 1 to 14"
        );
        assert_eq!(render_answer(&answered("no_match", None, Vec::new()), PLAIN), "no match 0.94 by local in 2.6 ms");
    }

    #[test]
    fn why_and_mentions_explain() {
        let answer = answered("no_match", None, Vec::new());
        assert_eq!(
            render_why(&answer, PLAIN),
            "0.500 forecast\n  \
             0.700 exemplar \"how cold is it in <location>\" dense 0.900, lexical 0.100\n\
             recognize 0.1, embed 2, retrieve 0.3, decide 0.2, llm 0, total 2.6 ms"
        );
        assert_eq!(render_mentions(&answer, PLAIN), "\"seattle\\u{1b}\" -> \"Seattle, WA\" city 3..10, 1");
    }

    #[test]
    fn a_build_tells_what_changed() {
        let report = BuildReport {
            module: "weather".into(),
            version: "0123456789abcdef".into(),
            previous: Some("f".into()),
            functions: 2,
            exemplars: 1,
            embedded: 3,
            added: vec!["forecast".into()],
            removed: vec!["old".into()],
            took_ms: 12.4,
            ..BuildReport::default()
        };
        assert_eq!(
            render_built(&report, PLAIN),
            "weather: 2 functions, 1 exemplar, 0 recognizers, 3 embedded, 0 reused, 12 ms 0123456789ab\n  + forecast\n  - old"
        );
    }

    #[test]
    fn severities_are_coloured_once() {
        let diagnostic = Diagnostic {
            severity: Severity::Error,
            code: "duplicate-name",
            file: "schema.json".into(),
            pointer: "/0".into(),
            line: Some(3),
            column: None,
            message: "x: error[y]".into(),
            hint: None,
        };
        let painted = render_diagnostics(&Diagnostics(vec![diagnostic]), Style { colours: true });
        assert_eq!(painted, "schema.json:3 /0: \x1b[31merror\x1b[0m[duplicate-name]: x: error[y]");
    }

    #[test]
    fn progress_works_without_a_terminal() {
        let progress = Progress::start("weather");
        progress.at(1, 2);
        progress.end();
    }
}
