//! Runs each case again without each rule that affected it; `scripts/ablation` sums up the results.
//!
//! The variable `UPTAKE_ABLATION` names a file, which gets a line of JSON for each case and each dialogue.

use std::{
    collections::HashMap,
    env,
    ffi::OsStr,
    fs::OpenOptions,
    io::Write,
    sync::{LazyLock, Mutex, PoisonError},
};

use serde_json::json;

use super::{Case, CaseLocation, CaseResult, Dialogue, Dialogues, EvalOptions, ResolvedCase, Tally, dialogue};
use crate::{
    ablation,
    language::emptied,
    snapshot::Snapshot,
    understand::{TurnError, Understander},
};

/// The first `ALL` cases that a rule affects in a module are run without it, and after that one in `THEN`.
const ALL: usize = 10;
const THEN: usize = 10;

/// True if this case is to be run without the rule.
fn is_due(rule: &str) -> bool {
    static SEEN: LazyLock<Mutex<HashMap<String, usize>>> = LazyLock::new(Mutex::default);
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let count = seen.entry(rule.to_owned()).or_default();
    *count += 1;
    *count <= ALL || *count % THEN == 0
}

/// The result of a case or a dialogue: whether it is right, and the number of wrong calls or turns.
type CaseScore = (bool, usize);

/// The rules whose condition was true since the last case, and the lists with an entry in these texts.
fn fired(snapshot: &Snapshot, texts: &[&str]) -> Vec<String> {
    let rules = ablation::take_fired().into_iter().map(str::to_owned);
    rules.chain(emptied::said(snapshot.module.language(), texts)).collect()
}

/// Runs the last case again without each rule that fired in it.
pub(super) async fn case(
    (understander, snapshot): (&Understander, &Snapshot),
    (case, task): (&Case, &ResolvedCase<'_>),
    options: &EvalOptions,
    known: &Tally<'_>,
) -> Result<(), TurnError> {
    let Some(path) = env::var_os("UPTAKE_ABLATION") else { return Ok(()) };
    let Some(with) = known.answers.last().filter(|last| last.utterance == case.utterance) else { return Ok(()) };
    let came = |result: &CaseResult| (result.right, usize::from(result.wrong_call));
    let mut without = Vec::new();
    let fired = fired(snapshot, &[&case.utterance]);
    for rule in fired.iter().filter(|rule| is_due(rule)) {
        let mut tally = Tally::new(&snapshot.module);
        ablation::turn_off(Some(rule));
        let run = tally.run(understander, snapshot, case, task, options).await;
        ablation::turn_off(None);
        run?;
        without.extend(tally.answers.first().map(|result| (rule.clone(), came(result))));
    }
    ablation::take_fired();
    note(&path, &case.place, came(with), (&fired, &without));
    Ok(())
}

/// Runs the last dialogue again without each rule that fired in it.
pub(super) async fn dialogue(
    (understander, snapshot): (&Understander, &Snapshot),
    dialogue: &Dialogue,
    options: &EvalOptions,
) -> Result<(), TurnError> {
    let Some(path) = env::var_os("UPTAKE_ABLATION") else { return Ok(()) };
    let mut with = Dialogues::default();
    ablation::take_fired();
    dialogue::run(understander, snapshot, dialogue, options, &mut with).await?;
    let texts: Vec<&str> = dialogue.turns.iter().map(|turn| turn.user.as_str()).collect();
    let mut without = Vec::new();
    let fired = fired(snapshot, &texts);
    for rule in fired.iter().filter(|rule| is_due(rule)) {
        let mut dialogues = Dialogues::default();
        ablation::turn_off(Some(rule));
        let run = dialogue::run(understander, snapshot, dialogue, options, &mut dialogues).await;
        ablation::turn_off(None);
        run?;
        without.push((rule.clone(), of(&dialogues)));
    }
    ablation::take_fired();
    note(&path, &dialogue.place, of(&with), (&fired, &without));
    Ok(())
}

/// Whether all of these dialogues are right, and the number of their wrong turns.
fn of(dialogues: &Dialogues) -> CaseScore {
    let all = [&dialogues.plain, &dialogues.scripted];
    (dialogues.wrong.is_empty(), all.iter().map(|of| of.turns - of.turns_right).sum())
}

fn note(
    path: &OsStr,
    place: &CaseLocation,
    (right, wrong): CaseScore,
    (fired, without): (&[String], &[(String, CaseScore)]),
) {
    let rules: serde_json::Map<_, _> =
        without.iter().map(|(rule, (right, wrong))| (rule.clone(), json!([right, wrong]))).collect();
    let line = json!({"place": place.to_string(), "right": right, "wrong": wrong, "fired": fired, "without": rules});
    let mut file = OpenOptions::new().create(true).append(true).open(path).expect("a file that can be written");
    writeln!(file, "{line}").expect("room for one line more");
}
