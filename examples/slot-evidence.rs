//! Prints what may fill the slots of marked utterances, with its evidence, for `scripts/fit-slots.py`.
//!
//! `slot-evidence [--unread] [--answers] DIR...`: each DIR is a module with `marks.jsonl`, one `{"utterance", "function",
//! "asked", "spans": {slot: [[start, end]]}}` a line. A line of JSON comes out for each candidate, and one for each mark without
//! a candidate, and one for each slot that a rule fills. The option leaves the reader out.
//!
//! With `--answers`, for `scripts/fit-answers.py`: a line with the names of the evidence, then one for each run of words
//! that may be the answer, where one slot of any words was asked for.

use std::{collections::HashMap, error::Error, io::Write as _, path::PathBuf};

use serde::Deserialize;
use serde_json::json;
use uptake::{
    decide::{
        candidates::{AnswerCandidate, AnswerEvidence, Candidate, Evidence},
        filling::Filling,
    },
    embed::{EmbedOptions, open},
    module::{Function, ModuleName},
    retrieve::RetrieveOptions,
    snapshot::{ModulesOptions, Snapshots},
    text::Span,
    understand::{AskedItem, Expected, TurnRequest, UnderstandOptions, Understander},
};

#[derive(Deserialize)]
struct Marked {
    utterance: String,
    function: String,
    #[serde(default)]
    asked: Vec<String>,
    spans: HashMap<String, Vec<Span>>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let is_flag = |one: &std::ffi::OsString| one == "--unread" || one == "--answers";
    let (flags, directories): (Vec<_>, Vec<_>) = std::env::args_os().skip(1).partition(is_flag);
    let mut options = EmbedOptions::default();
    let answers = flags.iter().any(|one| one == "--answers");
    options.reader.enabled &= !flags.iter().any(|one| one == "--unread");
    let embedder = open(&options).await?;
    let understander = Understander::new(UnderstandOptions::default(), embedder.clone(), Vec::new());
    let mut out = std::io::stdout().lock();
    if answers {
        let names: Vec<&str> = Evidence::NAMES.into_iter().chain(AnswerEvidence::NAMES).collect();
        writeln!(out, "{}", json!({ "names": names }))?;
    }
    for directory in directories.into_iter().map(PathBuf::from) {
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let root = directory.parent().unwrap_or(&directory).to_owned();
        let options = ModulesOptions { index: root.join("index"), root, ..ModulesOptions::default() };
        let snapshots = Snapshots::new(options, RetrieveOptions::default(), embedder.clone());
        let snapshot = snapshots.fresh(&ModuleName::new(&name)?).await?;
        for (case, line) in std::fs::read_to_string(directory.join("marks.jsonl"))?.lines().enumerate() {
            let marked: Marked = serde_json::from_str(line)?;
            let Some(function) = snapshot.module.function_named(&marked.function) else { continue };
            let asked = |slot: &String| AskedItem { frame: marked.function.clone(), slot: Some(slot.clone()) };
            let request = TurnRequest {
                utterance: marked.utterance.clone(),
                given: Some(function),
                expected: Expected::named(&snapshot.module, marked.asked.iter().map(asked).collect()),
                ..TurnRequest::default()
            };
            if answers {
                if let Some((slot, candidates)) = understander.answer_candidates(&snapshot, &request).await? {
                    let slot = snapshot.module.function(function).slot(slot).label();
                    for AnswerCandidate { span, evidence, answer } in candidates {
                        let (evidence, answer) = (evidence.values(), answer.values());
                        let line = json!({"module": name, "case": case, "slot": slot, "span": span,
                            "values": evidence.into_iter().chain(answer).collect::<Vec<f32>>()});
                        writeln!(out, "{line}")?;
                    }
                }
                continue;
            }
            let (found, by_rules) = understander.slot_candidates(&snapshot, &request).await?;
            for line in lines(&name, case, &marked, snapshot.module.function(function), (&found, &by_rules)) {
                writeln!(out, "{line}")?;
            }
        }
    }
    Ok(())
}

fn lines(
    module: &str,
    case: usize,
    marked: &Marked,
    function: &Function,
    (found, by_rules): (&[Candidate], &[(Filling, Option<Evidence>)]),
) -> Vec<serde_json::Value> {
    let marks = |candidate: &Candidate| marked.spans.get(function.slot(candidate.slot).label());
    let is_right = |candidate: &Candidate| {
        marks(candidate).is_some_and(|marks| marks.iter().any(|mark| are_same(candidate, *mark)))
    };
    let mut lines: Vec<serde_json::Value> = found
        .iter()
        .map(|candidate| {
            let slot = function.slot(candidate.slot);
            json!({"module": module, "case": case, "slot": slot.label(), "repeated": slot.path.is_repeated(),
                "span": candidate.span, "right": is_right(candidate), "evidence": candidate.evidence})
        })
        .collect();
    lines.extend(by_rules.iter().map(|(filling, evidence)| {
        let slot = function.slot(filling.slot).label();
        let is_right = marked.spans.get(slot).is_some_and(|marks| marks.contains(&filling.span));
        json!({"module": module, "case": case, "slot": slot, "span": filling.span, "rule": filling.rule,
            "filled": is_right, "said": evidence})
    }));
    for (slot, marks) in &marked.spans {
        for mark in marks {
            let is_it = |one: &Candidate| function.slot(one.slot).label() == slot && are_same(one, *mark);
            if !found.iter().any(is_it) {
                lines.push(json!({"module": module, "case": case, "slot": slot, "missed": mark}));
            }
        }
    }
    lines
}

/// Free text is right to the letter; what a recognizer reads is right where it stands.
fn are_same(candidate: &Candidate, mark: Span) -> bool {
    let both = candidate.span.end.min(mark.end).saturating_sub(candidate.span.start.max(mark.start));
    let either = candidate.span.len() + mark.len() - both;
    candidate.span == mark || candidate.anchor.is_some() && 2 * both > either
}
