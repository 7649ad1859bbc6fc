//! Everything that is printed: answers to stdout, failures and progress to stderr.
//!
//! Colours are used on a terminal only, and never with `NO_COLOR`. A closed pipe ends the process quietly, as is usual.

use std::{
    fmt::Write as _,
    io::{self, ErrorKind, IsTerminal, Write as _},
};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::CliError;
use crate::{
    answer::{ChatCompletion, Choice, SlotBody, SlotValueBody, Understood},
    eval::Usable,
    import::{self, report::Fate},
    llm::{
        Support,
        probe::{Finding, Identity, ProbeReport},
    },
    module::{Diagnostics, EffectSource, FunctionEffect, Severity},
    snapshot::BuildReport,
};

/// Whether to print colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Colouring {
    colours: bool,
}

impl Colouring {
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

/// Prints one pretty document.
pub(super) fn json(value: &impl Serialize) {
    line(&serde_json::to_string_pretty(value).expect("answers are structs, lists and maps with string keys"));
}

/// Prints one line of JSON.
pub(super) fn json_line(value: &impl Serialize) {
    line(&serde_json::to_string(value).expect("answers are structs, lists and maps with string keys"));
}

pub(super) fn failure(error: &CliError) {
    let style = Colouring::of(&io::stderr());
    let mut text = format!("{}: {error}", style.red("error"));
    if let CliError::Refused { diagnostics, .. } | CliError::Faults { diagnostics, .. } = error {
        text.push('\n');
        text.push_str(&render_diagnostics(diagnostics, style));
    }
    finish(writeln!(io::stderr().lock(), "{text}"));
}

/// The reader of our output has left.
fn finish(written: io::Result<()>) {
    if written.is_err_and(|error| error.kind() == ErrorKind::BrokenPipe) {
        std::process::exit(0);
    }
}

pub(super) fn diagnostics(module: &str, found: &Diagnostics) {
    let style = Colouring::of(&io::stdout());
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

/// Readings of a slot that are derived from the schema's texts: settings that an author may write down, or change.
#[derive(Debug, Serialize)]
pub(super) struct Guessed {
    pub(super) slot: String,
    pub(super) settings: Vec<String>,
}

/// The effect of a function, and how it is known.
#[derive(Debug, Serialize)]
pub(super) struct EffectReport {
    pub function: String,
    pub effect: FunctionEffect,
    pub from: EffectSource,
}

/// Prints one line for each effect and source.
pub(super) fn effects(all: &[EffectReport]) {
    for effect in [FunctionEffect::Reads, FunctionEffect::Acts] {
        for from in EffectSource::ALL {
            let same = all.iter().filter(|one| one.effect == effect && one.from == from);
            let names: Vec<&str> = same.map(|one| one.function.as_str()).collect();
            if !names.is_empty() {
                line(&format!("  {}, by {}: {}", effect.name(), from.described(), names.join(", ")));
            }
        }
    }
}

pub(super) fn guessed(all: &[Guessed]) {
    for one in all {
        line(&format!("  {} is read with {}, by its words", one.slot, one.settings.join(", ")));
    }
}

/// The most problems of cases that are listed.
const MOST_PROBLEMS: usize = 10;

pub(super) fn usable(found: &Usable) {
    let Usable { cases, dialogues, problems } = found;
    let kinds = [(*cases, "case"), (*dialogues, "dialogue")];
    let some = kinds.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| count(number, what));
    let some = some.collect::<Vec<_>>().join(" and ");
    line(&format!(
        "  {} can be used by `uptake eval`",
        if some.is_empty() { "no case and no dialogue" } else { &some }
    ));
    problems.iter().take(MOST_PROBLEMS).for_each(|problem| line(&format!("    {problem}")));
    if problems.len() > MOST_PROBLEMS {
        line(&format!("    ... and {} more", problems.len() - MOST_PROBLEMS));
    }
}

fn render_diagnostics(found: &Diagnostics, style: Colouring) -> String {
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
    line(&render_built(report, Colouring::of(&io::stdout())));
}

fn render_built(report: &BuildReport, style: Colouring) -> String {
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
    line(&render_answer(answer, Colouring::of(&io::stdout())));
}

fn render_answer(answer: &ChatCompletion, style: Colouring) -> String {
    let uptake = &answer.uptake;
    let outcome = match uptake.outcome {
        "call" => style.green("call"),
        "done" => style.green("done"),
        "ask" => style.yellow("ask"),
        "cancelled" => style.yellow("cancelled"),
        "handoff" => style.red("handoff"),
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
    // A reply without a question is shown beside the answer.
    let says = |choice: &Choice| choice.message.content.is_some() || choice.message.tool_calls.is_some();
    if let Some(reply) = uptake.reply.as_deref().filter(|_| !answer.choices.iter().any(says)) {
        let _ = write!(text, "\n{}", style.bold(reply));
    }
    for understood in &uptake.calls {
        render_understood(&mut text, understood, uptake.outcome != "call" || uptake.calls.len() > 1, style);
    }
    for action in &uptake.actions {
        let cause = action.cause.as_deref().map(|cause| format!(", {cause}")).unwrap_or_default();
        let took = format!("{} in {:.1} ms{cause}", action.status, action.took_ms);
        let _ = write!(text, "\n  {} {}", action.function, style.dim(&took));
    }
    for note in &uptake.notes {
        let _ = write!(text, "\n  {}", style.dim(note));
    }
    text
}

fn render_understood(text: &mut String, understood: &Understood, named: bool, style: Colouring) {
    if named {
        let _ = write!(text, "\n  {} {}", understood.function, style.dim(&understood.confidence.to_string()));
    }
    let width = understood.slots.iter().map(|(path, _)| path.chars().count()).max().unwrap_or_default();
    for (path, slot) in &understood.slots {
        let values = match slot {
            SlotBody::One(value) => std::slice::from_ref(&**value),
            SlotBody::Many(values) => values,
        };
        for value in values {
            let _ = write!(
                text,
                "\n  {path:width$} {} {} {}",
                if value.operator == "==" { "=" } else { "≠" },
                value.value,
                style.dim(&origin(value))
            );
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

fn origin(value: &SlotValueBody) -> String {
    match (&value.text, value.span) {
        (Some(said), Some([start, end])) => {
            let finder = value.recognizer.as_deref().unwrap_or("free text");
            // Debug format, so that control characters in an utterance do not affect the terminal.
            format!("{said:?} at {start}..{end}, {finder}, {}", value.confidence)
        }
        _ => format!("{}, {}", value.from, value.confidence),
    }
}

/// The result of an import; only the number of kept parts, unless `all`.
pub(super) fn imported(report: &import::ImportReport, all: bool) {
    line(&render_imported(report, all, Colouring::of(&io::stdout())));
}

/// Entries with the same reason that are listed one by one.
const LISTED: usize = 3;

fn render_imported(report: &import::ImportReport, all: bool, style: Colouring) -> String {
    let written = report.written;
    let mut text = format!(
        "{}: {}, {}, {}, {}, {}",
        style.bold(&printable(&report.module)),
        count(written.functions, "function"),
        count(written.slots, "slot"),
        count(written.exemplars, "exemplar"),
        count(written.recognizers, "recognizer"),
        count(written.cases, "case"),
    );
    if report.warnings > 0 {
        let _ = write!(text, "\n{} by `uptake check`", style.yellow(&count(report.warnings, "warning")));
    }
    for fate in Fate::ALL {
        let entries: Vec<&import::ReportEntry> = report.with(fate).collect();
        let name = match fate {
            Fate::Kept => style.green(fate.name()),
            Fate::Changed => style.yellow(fate.name()),
            Fate::Dropped => style.red(fate.name()),
        };
        let _ = write!(text, "\n{name} {}", entries.len());
        if fate == Fate::Kept && !all {
            continue;
        }
        // One reason often applies to many places.
        let mut reasons: Vec<(&str, Vec<&import::ReportEntry>)> = Vec::new();
        for entry in entries {
            match reasons.iter_mut().find(|(why, _)| *why == entry.why) {
                Some((_, same)) => same.push(entry),
                None => reasons.push((&entry.why, vec![entry])),
            }
        }
        for (why, same) in reasons {
            let _ = write!(text, "\n  {}", printable(why));
            let shown = if all { same.len() } else { LISTED };
            for entry in same.iter().take(shown) {
                let at = if entry.file.is_empty() {
                    String::new()
                } else {
                    let line = entry.line.map(|line| format!(":{line}")).unwrap_or_default();
                    format!("{}{line}: ", entry.file)
                };
                let _ = write!(text, "\n    {}{}", style.dim(&printable(&at)), printable(&entry.what));
            }
            if same.len() > shown {
                let _ =
                    write!(text, "\n    {}", style.dim(&format!("and {} more (--all or --json)", same.len() - shown)));
            }
        }
    }
    text
}

/// Printed to stderr, because the records may go to stdout.
pub(super) fn exported(records: usize, unsaid: usize) {
    let mut text = count(records, "record");
    if unsaid > 0 {
        let _ = write!(text, "; {} left out: no words are known for a slot of it", count(unsaid, "exemplar"));
    }
    finish(writeln!(io::stderr().lock(), "{text}"));
}

pub(super) fn why(answer: &ChatCompletion) {
    line(&render_why(answer, Colouring::of(&io::stdout())));
}

fn render_why(answer: &ChatCompletion, style: Colouring) -> String {
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
    line(&render_mentions(answer, Colouring::of(&io::stdout())));
}

fn render_mentions(answer: &ChatCompletion, style: Colouring) -> String {
    let lines = answer.uptake.mentions.iter().map(|mention| {
        let [start, end] = mention.span;
        let place = format!("{start}..{end}, {}", mention.score);
        format!("{:?} -> {} {} {}", mention.text, mention.value, style.bold(&mention.recognizer), style.dim(&place))
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    if text.is_empty() { "the recognizers found nothing".to_owned() } else { text }
}

/// The result for one server, as it is printed.
#[derive(Debug, Serialize)]
pub(super) struct Probed {
    /// The name of its model, and its host.
    pub(super) server: String,
    /// The value of `--model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) asked_for: Option<String>,
    pub(super) ok: bool,
    #[serde(flatten)]
    pub(super) found: ProbeOutcome,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum ProbeOutcome {
    /// `strategy` is the one that `auto` uses with this server.
    Report {
        strategy: &'static str,
        report: Box<ProbeReport>,
    },
    Failure {
        error: String,
        hint: &'static str,
    },
}

/// Prints one of several servers, separated by an empty line.
pub(super) fn probed(probed: &Probed, is_first: bool) {
    let text = render_probed(probed, Colouring::of(&io::stdout()));
    line(&if is_first { text } else { format!("\n{text}") });
}

fn render_probed(probed: &Probed, style: Colouring) -> String {
    let mut text = style.bold(&printable(&probed.server));
    if let Some(model) = &probed.asked_for {
        let _ = write!(text, " (asked for {})", printable(model));
    }
    match &probed.found {
        ProbeOutcome::Failure { error, hint } => {
            let _ = write!(text, ": {}: {}; {hint}", style.red("could not be probed"), printable(error));
        }
        ProbeOutcome::Report { strategy, report } => {
            render_abilities(&mut text, report, style);
            for (name, value) in properties(report, strategy) {
                let _ = write!(text, "\n  {name:18} {value}");
            }
        }
    }
    text
}

fn render_abilities(text: &mut String, report: &ProbeReport, style: Colouring) {
    let abilities: [(&str, &Finding); 4] = [
        ("tools", &report.tools),
        ("strict", &report.strict),
        ("named tool_choice", &report.named_choice),
        ("json_schema", &report.json_schema),
    ];
    for (name, finding) in abilities {
        let padded = format!("{:7}", finding.support.name());
        let support = match finding.support {
            Support::Kept => style.green(&padded),
            Support::Ignored => style.yellow(&padded),
            Support::Refused => style.red(&padded),
        };
        let _ = write!(text, "\n  {name:18} {support}  {}", style.dim(&printable(&finding.seen)));
    }
}

fn properties(report: &ProbeReport, strategy: &str) -> [(&'static str, String); 8] {
    let yes_or_no = |is: bool| if is { "yes" } else { "no" }.to_owned();
    let maybe = |is: Option<bool>| is.map_or_else(|| "not known".to_owned(), yes_or_no);
    let told = |part: fn(&Identity) -> Option<&String>| {
        let mut names: Vec<String> = report.identities.iter().filter_map(part).map(|name| printable(name)).collect();
        names.dedup();
        if names.is_empty() { "not told".to_owned() } else { names.join(", ") }
    };
    [
        ("counts tokens", yes_or_no(report.counts_tokens)),
        ("tells what is cut", maybe(report.tells_cut)),
        ("unwanted calls", maybe(report.extra_calls)),
        ("plain completion", format!("{} ms", report.plain_ms)),
        ("model", told(|identity| identity.model.as_ref())),
        ("fingerprint", told(|identity| identity.fingerprint.as_ref())),
        ("probed by", format!("{}, {} tokens", count(report.requests, "request"), report.usage.total_tokens)),
        ("auto uses", strategy.to_owned()),
    ]
}

/// A server's text must not affect the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// A progress bar on stderr while texts are embedded; nothing if stderr is not a terminal.
pub(super) struct EmbeddingProgress {
    bar: ProgressBar,
}

impl EmbeddingProgress {
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
        answer::{
            CandidateBody, Choice, EvidenceBody, FunctionCall, MentionBody, Message, TimingsBody, ToolCall, Uptake,
            Usage, ViolationBody,
        },
        module::Diagnostic,
    };

    const PLAIN: Colouring = Colouring { colours: false };

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
                    refusal: None,
                    tool_calls: (outcome == "call").then_some(tool_calls),
                    function_call: None,
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
                state: None,
                session: None,
                turn: None,
                summary: None,
                handoff: None,
                question: None,
                reply: None,
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
                alternatives: Vec::new(),
                explanations: Vec::new(),
                mentions: vec![MentionBody {
                    recognizer: "city".into(),
                    text: "seattle\u{1b}".into(),
                    span: [3, 10],
                    value: "Seattle, WA".into(),
                    score: 1.0,
                }],
                actions: Vec::new(),
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
        let value = SlotValueBody {
            unread: None,
            operator: "==",
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
            slots: vec![("location".into(), SlotBody::One(Box::new(value)))],
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
    fn a_probe_is_a_table() {
        let finding = |support, seen: &str| Finding { support, seen: seen.into() };
        let identity = |name: &str| Identity { model: Some("tiny".into()), fingerprint: Some(name.into()) };
        let report = ProbeReport {
            tools: finding(Support::Kept, "called"),
            strict: finding(Support::Refused, "400: no\u{1b}[31m"),
            named_choice: finding(Support::Ignored, "another"),
            json_schema: finding(Support::Kept, "fits"),
            plain_ms: 12.3,
            counts_tokens: true,
            tells_cut: Some(false),
            extra_calls: None,
            identities: vec![identity("b1"), identity("b2")],
            requests: 9,
            usage: crate::llm::Usage { total_tokens: 500, ..crate::llm::Usage::default() },
        };
        let found = ProbeOutcome::Report { strategy: "structured", report: Box::new(report) };
        let server = || "tiny at localhost:8080".to_owned();
        let probed = Probed { server: server(), asked_for: Some("big".into()), ok: true, found };
        assert_eq!(
            render_probed(&probed, PLAIN),
            "tiny at localhost:8080 (asked for big)\n  \
             tools              kept     called\n  \
             strict             refused  400: no [31m\n  \
             named tool_choice  ignored  another\n  \
             json_schema        kept     fits\n  \
             counts tokens      yes\n  \
             tells what is cut  no\n  \
             unwanted calls     not known\n  \
             plain completion   12.3 ms\n  \
             model              tiny\n  \
             fingerprint        b1, b2\n  \
             probed by          9 requests, 500 tokens\n  \
             auto uses          structured"
        );
        let found = ProbeOutcome::Failure { error: "it is down".into(), hint: "is it up?" };
        let probed = Probed { server: server(), asked_for: None, ok: false, found };
        assert_eq!(render_probed(&probed, PLAIN), "tiny at localhost:8080: could not be probed: it is down; is it up?");
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
        let painted = render_diagnostics(&Diagnostics(vec![diagnostic]), Colouring { colours: true });
        assert_eq!(painted, "schema.json:3 /0: \x1b[31merror\x1b[0m[duplicate-name]: x: error[y]");
    }

    #[test]
    fn an_import_lists_what_changed_by_its_reason() {
        let entry = |fate, line, what: &str| import::ReportEntry {
            fate,
            file: "nlu.yml".into(),
            pointer: String::new(),
            line,
            what: what.into(),
            why: "because\u{1b}".into(),
        };
        let mut entries = vec![entry(Fate::Kept, None, "f")];
        entries.extend((1..=5).map(|line| entry(Fate::Dropped, Some(line), "x")));
        let written = import::report::ImportCounts { functions: 1, slots: 2, ..Default::default() };
        let report = import::ImportReport { format: "rasa", module: "m".into(), written, entries, warnings: 1 };
        assert_eq!(
            render_imported(&report, false, PLAIN),
            "m: 1 function, 2 slots, 0 exemplars, 0 recognizers, 0 cases\n1 warning by `uptake check`\n\
             kept 1\nchanged 0\ndropped 5\n  because \n    nlu.yml:1: x\n    nlu.yml:2: x\n    nlu.yml:3: x\n    \
             and 2 more (--all or --json)"
        );
        assert!(render_imported(&report, true, PLAIN).contains("nlu.yml: f"));
    }

    #[test]
    fn progress_works_without_a_terminal() {
        let progress = EmbeddingProgress::start("weather");
        progress.at(1, 2);
        progress.end();
    }
}
