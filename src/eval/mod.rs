//! How well a module is understood: labelled cases through the same turn that serves, and what came of them.
//!
//! Cases run one after the other, so that the latencies are those of a turn that has the machine to itself.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

pub mod cases;
pub mod compare;
pub mod curve;
pub mod dialogue;
pub mod features;
pub mod oracle;
pub mod report;
pub mod score;
#[cfg(test)]
mod testing;

pub use cases::{Case, Cases, ExpectedFunction, Place, Problem};
pub use compare::{Counts, Finding, Understood, Verdict};
pub use curve::Curve;
pub use dialogue::{Dialogue, Dialogues};
pub use score::{Observation, Scores};

use crate::{
    call::{Grounded, Origin},
    module::{FunctionId, Module, Step, settings::StrategyName, squeeze},
    snapshot::Snapshot,
    understand::{About, Outcome, Turn, TurnError, TurnRequest, Understander},
};

/// Candidates that recall looks at.
const CANDIDATES: usize = 10;

/// Items of an array that understood slots may name; far more than a call has.
const MOST_ITEMS: usize = 4_096;

/// How a turn ended, as cases and reports name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    Call,
    Ask,
    NoMatch,
    Cancelled,
    Handoff,
    /// Neither: the turn ended in an error.
    Failed,
}

impl OutcomeKind {
    pub const ALL: [Self; 6] = [Self::Call, Self::Ask, Self::NoMatch, Self::Cancelled, Self::Handoff, Self::Failed];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Ask => "ask",
            Self::NoMatch => "no_match",
            Self::Cancelled => "cancelled",
            Self::Handoff => "handoff",
            Self::Failed => "failed",
        }
    }

    /// What a case may expect.
    fn expected(value: &Value) -> Option<Self> {
        [Self::Call, Self::Ask, Self::NoMatch, Self::Cancelled, Self::Handoff]
            .into_iter()
            .find(|outcome| value.as_str() == Some(outcome.name()))
    }

    const fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Call(_) => Self::Call,
            Outcome::Ask(_) => Self::Ask,
            Outcome::NoMatch => Self::NoMatch,
            Outcome::Cancelled { .. } => Self::Cancelled,
            Outcome::Handoff { .. } => Self::Handoff,
        }
    }
}

/// How the cases are run.
#[derive(Debug, Clone, Default)]
pub struct EvalOptions {
    /// Instead of what the module and the server say.
    pub strategy: Option<StrategyName>,
    /// The moment in which "tomorrow" is read; now if absent.
    pub now: Option<jiff::Zoned>,
    /// Choose among all functions, also where a case names those that are `given`: harder, and what retrieval is for.
    pub pooled: bool,
    /// Note what each decision rested on: [`Evaluation::features`].
    pub features: bool,
}

/// Everything that an evaluation found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    pub module: String,
    pub module_version: String,
    /// The one that was asked for; `None`: the module's or the server's.
    pub strategy: Option<StrategyName>,
    pub scores: Scores,
    /// Most frequent first.
    pub confusions: Vec<Confusion>,
    /// Most errors first.
    pub slots: Vec<SlotCounts>,
    /// In the order of the files.
    pub wrong: Vec<WrongCase>,
    /// Cases of several turns.
    pub dialogues: Dialogues,
    /// Cases of several turns that were not run: a curve has no use for them.
    pub skipped_dialogues: usize,
    pub problems: Vec<Problem>,
    /// A line of JSON for each case, where asked for; see [`features`].
    #[serde(skip)]
    pub features: Vec<String>,
}

/// Cases that meant one thing and were taken for another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Confusion {
    /// Function names joined by ` + `, or [`NONE`].
    pub expected: String,
    pub got: String,
    pub count: usize,
}

/// How confusions name "no function", a question which of several was meant, and a failed turn.
pub const NONE: &str = "(none)";
pub const TIE: &str = "(tie)";
pub const FAILED: &str = "(failed)";

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlotCounts {
    pub function: String,
    pub slot: String,
    #[serde(flatten)]
    pub counts: Counts,
}

/// A case whose answer is not wholly right, with what came instead.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WrongCase {
    pub place: Place,
    pub utterance: String,
    pub expected: String,
    pub got: String,
    pub outcome: OutcomeKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_outcome: Option<OutcomeKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// What was understood, by function.
    pub arguments: Vec<Map<String, Value>>,
    /// Values that are not right.
    pub findings: Vec<Finding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Told how far it is: cases done, and in all.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Send + Sync);

/// Runs every case through [`Understander::turn`], one after the other, then every dialogue through
/// [`Understander::converse`].
///
/// A case that names an unknown function is a problem and is not run. A turn that the model server fails is a wrong
/// answer.
///
/// # Errors
/// Where no case could do better: no model server for the strategy, or the embedding fails.
pub async fn evaluate(
    understander: &Understander,
    snapshot: &Snapshot,
    cases: Cases,
    options: &EvalOptions,
    progress: Progress<'_>,
) -> Result<Evaluation, TurnError> {
    let mut tally = Tally::new(&snapshot.module);
    tally.problems = cases.problems;
    let all = cases.cases.len() + cases.dialogues.len();
    if let Some(first) = cases.cases.first() {
        warm_up(understander, snapshot, first).await;
    }
    for (index, case) in cases.cases.iter().enumerate() {
        progress(index, all);
        if let Some(task) = tally.resolve(case) {
            tally.run(understander, snapshot, case, &task, options).await?;
        }
    }
    let mut dialogues = Dialogues::default();
    for (index, dialogue) in cases.dialogues.iter().enumerate() {
        progress(cases.cases.len() + index, all);
        let (hindrance, odd) = dialogue::known(&snapshot.module, dialogue);
        let is_run = hindrance.is_none();
        let problem = |message| Problem { place: dialogue.place.clone(), message };
        tally.problems.extend(odd.into_iter().chain(hindrance).map(problem));
        if is_run {
            dialogue::run(understander, snapshot, dialogue, options, &mut dialogues).await?;
        }
    }
    progress(all, all);
    Ok(tally.finish(options.strategy, 0, dialogues))
}

/// Lazy parts of the process are no part of a turn.
async fn warm_up(understander: &Understander, snapshot: &Snapshot, case: &Case) {
    let request = TurnRequest { utterance: case.utterance.clone(), ..TurnRequest::default() };
    let _ = understander.retrieve(snapshot, &request, 1).await;
}

/// A case in the terms of the module.
struct Task<'a> {
    functions: Vec<(FunctionId, Option<&'a Map<String, Value>>)>,
    given: Option<Vec<FunctionId>>,
}

/// What is known of the cases so far.
struct Tally<'a> {
    module: &'a Module,
    observations: Vec<Observation>,
    confusions: BTreeMap<(String, String), usize>,
    slots: BTreeMap<(String, String), Counts>,
    wrong: Vec<WrongCase>,
    problems: Vec<Problem>,
    features: Vec<String>,
}

impl<'a> Tally<'a> {
    fn new(module: &'a Module) -> Self {
        Self {
            module,
            observations: Vec::new(),
            confusions: BTreeMap::new(),
            slots: BTreeMap::new(),
            wrong: Vec::new(),
            problems: Vec::new(),
            features: Vec::new(),
        }
    }

    fn problem(&mut self, case: &Case, message: String) {
        self.problems.push(Problem { place: case.place.clone(), message });
    }

    /// `None`, and a problem noted, if the case names a function that the module lacks.
    fn resolve<'c>(&mut self, case: &'c Case) -> Option<Task<'c>> {
        let mut functions = Vec::with_capacity(case.functions.len());
        for expected in &case.functions {
            let Some(id) = function_named(self.module, &expected.name) else {
                self.problem(case, format!("the module has no function `{}`; the case is not run", expected.name));
                return None;
            };
            functions.push((id, expected.arguments.as_ref()));
        }
        let mut given = None;
        if let Some(names) = &case.given {
            let mut known = Vec::with_capacity(names.len());
            for name in names {
                match function_named(self.module, name) {
                    Some(id) => known.push(id),
                    None => self.problem(case, format!("`given` names `{name}`, which the module does not have")),
                }
            }
            if known.is_empty() && !names.is_empty() {
                return None;
            }
            given = Some(known);
        }
        Some(Task { functions, given })
    }

    /// Takes the case through a turn, and counts what came of it. False, and a problem noted, if it cannot be run.
    ///
    /// # Errors
    /// As [`evaluate`].
    async fn run(
        &mut self,
        understander: &Understander,
        snapshot: &Snapshot,
        case: &Case,
        task: &Task<'_>,
        options: &EvalOptions,
    ) -> Result<bool, TurnError> {
        let given = task.given.as_ref().filter(|_| !options.pooled);
        let request = TurnRequest {
            utterance: case.utterance.clone(),
            strategy: options.strategy,
            now: options.now.clone(),
            among: given.cloned(),
            ..TurnRequest::default()
        };
        let turn = match understander.turn(snapshot, &request).await {
            Ok(turn) => Ok(turn),
            Err(error @ (TurnError::EmptyUtterance | TurnError::LongUtterance { .. })) => {
                self.problem(case, error.to_string());
                return Ok(false);
            }
            Err(error @ (TurnError::Llm(_) | TurnError::OverBudget { .. })) => Err(error),
            Err(error @ (TurnError::NoModelServer(_) | TurnError::Embed(_) | TurnError::Prompt(_))) => {
                return Err(error);
            }
        };
        let mut candidates = turn.as_ref().map(candidates).unwrap_or_default();
        let most = given.map_or(self.module.functions.len(), Vec::len);
        if candidates.len() < CANDIDATES.min(most) {
            // A turn considers fewer than recall looks at; its latency must not pay for more.
            candidates = understander
                .retrieve(snapshot, &request, CANDIDATES)
                .await?
                .candidates
                .iter()
                .map(|candidate| candidate.function)
                .collect();
        }
        if let (true, Ok(turn)) = (options.features, &turn) {
            self.features.push(features::line(snapshot, case, task, turn));
        }
        self.count(case, task, turn, candidates);
        Ok(true)
    }

    fn count(&mut self, case: &Case, task: &Task<'_>, turn: Result<Turn, TurnError>, candidates: Vec<FunctionId>) {
        let answer = match &turn {
            Ok(turn) => Answer::of(turn),
            Err(_) => Answer::default(),
        };
        let expected: Vec<FunctionId> = task.functions.iter().map(|(id, _)| *id).collect();
        let (findings, checked) = self.findings(case, task, &answer);
        let mut counts = Counts::default();
        for (function, finding) in &findings {
            counts.add(finding.verdict);
            let key = (self.module.function(*function).name.clone(), finding.slot.clone());
            self.slots.entry(key).or_default().add(finding.verdict);
        }
        let decided: Vec<FunctionId> = answer.functions.iter().map(|(id, _)| *id).collect();
        let observation = Observation {
            best_guess: answer.leader.or_else(|| candidates.first().copied()),
            expected,
            decided,
            candidates,
            outcome: answer.outcome,
            expected_outcome: case.outcome,
            confidence: answer.confidence,
            in_scope_belief: answer.in_scope_belief,
            slots: checked.then_some(counts),
            timings: turn.as_ref().ok().map(|turn| turn.trace.timings),
        };
        let (expected, got) = (self.names(&observation.expected), self.answered(&observation));
        if !observation.is_function_right() {
            *self.confusions.entry((expected.clone(), got.clone())).or_default() += 1;
        }
        if !observation.is_right() {
            self.wrong.push(WrongCase {
                place: case.place.clone(),
                utterance: case.utterance.clone(),
                expected,
                got,
                outcome: answer.outcome,
                expected_outcome: case.outcome,
                confidence: answer.confidence,
                arguments: answer.functions.into_iter().map(|(_, understood)| understood.arguments).collect(),
                findings: findings
                    .into_iter()
                    .map(|(_, finding)| finding)
                    .filter(|finding| finding.verdict != Verdict::Right)
                    .collect(),
                error: turn.err().map(|error| error.to_string()),
            });
        }
        self.observations.push(observation);
    }

    /// The values of every function whose arguments the case gives, and whether it gives any.
    ///
    /// Functions are paired by their ids; of several calls of one function, each is paired with the one that differs least.
    /// What was understood for a function that nobody expected counts
    /// against the answer only if the case gives arguments for all of its own.
    fn findings(&mut self, case: &Case, task: &Task<'_>, answer: &Answer) -> (Vec<(FunctionId, Finding)>, bool) {
        let checked = task.functions.iter().any(|(_, arguments)| arguments.is_some());
        let wholly = checked && task.functions.iter().all(|(_, arguments)| arguments.is_some());
        let mut left: Vec<&(FunctionId, Understood)> = answer.functions.iter().collect();
        let mut findings = Vec::new();
        let nothing = Understood::default();
        for (id, arguments) in &task.functions {
            let function = self.module.function(*id);
            let errors = |understood: &Understood| {
                let (found, _) = compare::compare(function, (*arguments)?, understood);
                Some(found.iter().filter(|finding| finding.verdict != Verdict::Right).count())
            };
            let pair = (0..left.len())
                .filter(|at| left[*at].0 == *id)
                .min_by_key(|at| errors(&left[*at].1))
                .map(|at| left.remove(at));
            let Some(arguments) = arguments else { continue };
            let understood = pair.map_or(&nothing, |(_, understood)| understood);
            let (found, unknown) = compare::compare(function, arguments, understood);
            for slot in unknown {
                self.problem(case, format!("`{}` has no slot `{slot}`", function.name));
            }
            findings.extend(found.into_iter().map(|finding| (*id, finding)));
        }
        if wholly {
            for (id, understood) in left {
                findings.extend(compare::all_extra(understood).into_iter().map(|finding| (*id, finding)));
            }
        }
        (findings, checked)
    }

    fn names(&self, functions: &[FunctionId]) -> String {
        if functions.is_empty() {
            return NONE.to_owned();
        }
        functions.iter().map(|id| self.module.function(*id).name.as_str()).collect::<Vec<_>>().join(" + ")
    }

    fn answered(&self, observation: &Observation) -> String {
        match observation.outcome {
            OutcomeKind::Failed => FAILED.to_owned(),
            OutcomeKind::Ask if observation.decided.is_empty() => TIE.to_owned(),
            _ => self.names(&observation.decided),
        }
    }

    fn finish(self, strategy: Option<StrategyName>, skipped_dialogues: usize, dialogues: Dialogues) -> Evaluation {
        let mut confusions: Vec<Confusion> =
            self.confusions.into_iter().map(|((expected, got), count)| Confusion { expected, got, count }).collect();
        // Stable over the names' order.
        confusions.sort_by_key(|confusion| std::cmp::Reverse(confusion.count));
        let mut slots: Vec<SlotCounts> =
            self.slots.into_iter().map(|((function, slot), counts)| SlotCounts { function, slot, counts }).collect();
        slots.sort_by_key(|slot| std::cmp::Reverse(slot.counts.errors()));
        Evaluation {
            module: self.module.name.to_string(),
            module_version: self.module.version.clone(),
            strategy,
            scores: score::score(&self.observations),
            confusions,
            slots,
            wrong: self.wrong,
            dialogues,
            skipped_dialogues,
            problems: self.problems,
            features: self.features,
        }
    }
}

/// By its name, else without case and separators.
fn function_named(module: &Module, name: &str) -> Option<FunctionId> {
    module.function_named(name).or_else(|| {
        let squeezed = squeeze(name);
        module.function_ids().find(|id| squeeze(&module.function(*id).name) == squeezed)
    })
}

fn candidates(turn: &Turn) -> Vec<FunctionId> {
    turn.trace.candidates.iter().map(|candidate| candidate.function).collect()
}

/// What a turn says, in the terms of the metrics.
#[derive(Debug)]
struct Answer {
    outcome: OutcomeKind,
    /// What was decided, with what is understood of it; empty for no match, a tie, a failure.
    functions: Vec<(FunctionId, Understood)>,
    /// The most likely function, decided or not.
    leader: Option<FunctionId>,
    confidence: Option<f64>,
    in_scope_belief: Option<f64>,
}

impl Default for Answer {
    /// A turn that failed.
    fn default() -> Self {
        Self {
            outcome: OutcomeKind::Failed,
            functions: Vec::new(),
            leader: None,
            confidence: None,
            in_scope_belief: None,
        }
    }
}

impl Answer {
    fn of(turn: &Turn) -> Self {
        let functions = match &turn.outcome {
            Outcome::Call(calls) => calls
                .iter()
                .enumerate()
                .map(|(index, call)| {
                    let slots = turn
                        .frames
                        .get(index)
                        .filter(|frame| frame.function == call.function())
                        .map_or(&[][..], |frame| &frame.slots);
                    let mut understood = understood(slots);
                    understood.arguments = call.arguments().clone();
                    (call.function(), understood)
                })
                .collect(),
            Outcome::Ask(question) => match &question.about {
                About::Tie { .. } => Vec::new(),
                _ => turn.frames.iter().map(|frame| (frame.function, understood(&frame.slots))).collect(),
            },
            Outcome::NoMatch | Outcome::Cancelled { .. } | Outcome::Handoff { .. } => Vec::new(),
        };
        let confidence = f64::from(turn.confidence).clamp(0.0, 1.0);
        // An answer's confidence falls with each doubtful slot, a frame's is that of the function alone. In a tie each
        // frame's is low while the sum of them, the confidence, is not.
        let in_scope_belief = match &turn.outcome {
            Outcome::NoMatch => 1.0 - confidence,
            Outcome::Call(_) | Outcome::Ask(_) | Outcome::Cancelled { .. } | Outcome::Handoff { .. } => {
                turn.frames.iter().map(|frame| f64::from(frame.confidence)).fold(confidence, f64::max)
            }
        };
        Self {
            outcome: OutcomeKind::of(&turn.outcome),
            leader: turn.frames.first().map(|frame| frame.function),
            functions,
            confidence: Some(confidence),
            in_scope_belief: Some(in_scope_belief),
        }
    }
}

/// The nested arguments that grounded values make up.
fn understood(slots: &[Grounded]) -> Understood {
    let mut root = Value::Object(Map::new());
    let mut result = Understood::default();
    for slot in slots {
        let mut place = Some(&mut root);
        for (step, token) in slot.path.0.iter().zip(slot.pointer.split('/').skip(1)) {
            place = place.and_then(|place| below(place, step, token));
        }
        if let Some(place) = place {
            *place = slot.value.clone();
        }
        match &slot.origin {
            Origin::Utterance { text, .. } | Origin::Earlier { text } => {
                result.texts.insert(slot.pointer.clone(), text.clone());
            }
            Origin::Default => {
                result.defaults.insert(slot.pointer.clone());
            }
            _ => {}
        }
    }
    if let Value::Object(arguments) = root {
        result.arguments = arguments;
    }
    result
}

fn below<'v>(place: &'v mut Value, step: &Step, token: &str) -> Option<&'v mut Value> {
    match step {
        Step::Key(key) => {
            if place.is_null() {
                *place = Value::Object(Map::new());
            }
            Some(place.as_object_mut()?.entry(&**key).or_insert(Value::Null))
        }
        Step::Each => {
            let index: usize = token.parse().ok().filter(|index| *index < MOST_ITEMS)?;
            if place.is_null() {
                *place = Value::Array(Vec::new());
            }
            let items = place.as_array_mut()?;
            if items.len() <= index {
                items.resize(index + 1, Value::Null);
            }
            items.get_mut(index)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        llm::Usage,
        module::{ModuleName, Settings, SlotPath},
        text::Span,
        understand::{DecidedBy, Frame, Question, Timings, Trace},
    };

    fn module() -> Module {
        Module {
            name: ModuleName::new("shop").unwrap(),
            version: "v1".to_owned(),
            functions: vec![
                testing::function("order", &["dishes[].name", "address.city"]),
                testing::function("cancel", &["number"]),
            ],
            recognizers: Vec::new(),
            settings: Settings::default(),
            prompts: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }

    fn grounded(path: &str, pointer: &str, value: Value) -> Grounded {
        let function = testing::function("f", &[path]);
        let path: SlotPath = function.slots[0].path.clone();
        let text = value.to_string();
        let origin = Origin::Utterance { span: Span::new(0, 1), text, recognizer: None };
        Grounded { path, pointer: pointer.to_owned(), value, origin, confidence: 1.0 }
    }

    fn turn(outcome: Outcome, frames: Vec<(usize, Vec<Grounded>)>) -> Turn {
        let frame = |(function, slots)| Frame {
            function: FunctionId::from_index(function),
            confidence: 0.8,
            segment: Span::new(0, 1),
            slots,
            excluded: Vec::new(),
            missing: Vec::new(),
            invalid: Vec::new(),
        };
        Turn {
            outcome,
            confidence: 0.6,
            decided_by: DecidedBy::Local,
            frames: frames.into_iter().map(frame).collect(),
            trace: Trace { timings: Timings { total: 2.0, ..Timings::default() }, ..Trace::default() },
            usage: Usage::default(),
            pending: None,
        }
    }

    fn ask(about: About) -> Outcome {
        Outcome::Ask(Question { text: "?".to_owned(), about })
    }

    fn missing() -> Outcome {
        ask(About::Missing { function: FunctionId::from_index(0), slot: SlotPath(Vec::new()) })
    }

    #[test]
    fn grounded_values_make_up_the_arguments() {
        let mut slots = vec![
            grounded("dishes[].name", "/dishes/1/name", json!("pie")),
            grounded("dishes[].name", "/dishes/0/name", json!("soup")),
            grounded("address.city", "/address/city", json!("Rome")),
            grounded("dishes[].name", "/dishes/999999999/name", json!("bomb")),
        ];
        slots[2].origin = Origin::Default;
        let understood = understood(&slots);
        assert_eq!(
            Value::Object(understood.arguments),
            json!({"dishes": [{"name": "soup"}, {"name": "pie"}], "address": {"city": "Rome"}})
        );
        assert_eq!(understood.texts["/dishes/1/name"], "\"pie\"");
        assert!(understood.defaults.contains("/address/city"));
    }

    #[test]
    fn a_tie_decides_nothing() {
        let tie = About::Tie { functions: vec![FunctionId::from_index(0), FunctionId::from_index(1)] };
        let answer = Answer::of(&turn(ask(tie), vec![(1, Vec::new()), (0, Vec::new())]));
        assert!(answer.functions.is_empty());
        assert_eq!(answer.leader, Some(FunctionId::from_index(1)));
        let rejected = Answer::of(&turn(Outcome::NoMatch, Vec::new()));
        assert!(rejected.in_scope_belief.is_some_and(|belief| (belief - 0.4).abs() < 1e-6));
    }

    #[test]
    fn cases_are_counted_from_turns() {
        let module = module();
        let mut tally = Tally::new(&module);
        let text = r#"
{"utterance": "soup to Rome", "function": "Order", "arguments": {"dishes": [{"name": "soup"}], "city": "Rome"}, "outcome": "ask"}
{"utterance": "never mind", "function": "cancel", "arguments": {"colour": "red"}}
{"utterance": "hello", "function": null}
{"utterance": "x", "function": "nope"}
{"utterance": "x", "function": "order", "given": ["nope"]}
{"utterance": "down", "function": "order"}"#;
        let cases = Cases::parse("cases.jsonl", text);
        assert_eq!(cases.problems, []);
        let slots = vec![
            grounded("dishes[].name", "/dishes/0/name", json!("soup")),
            grounded("address.city", "/address/city", json!("Rome")),
        ];
        let turns = [
            Some(Ok(turn(missing(), vec![(0, slots.clone())]))),
            Some(Ok(turn(missing(), vec![(0, slots)]))),
            Some(Ok(turn(Outcome::NoMatch, Vec::new()))),
            None,
            None,
            Some(Err(TurnError::Llm(crate::llm::LlmError::Timeout))),
        ];
        for (case, turn) in cases.cases.iter().zip(turns) {
            let task = tally.resolve(case);
            assert_eq!(task.is_some(), turn.is_some(), "{}", case.utterance);
            if let (Some(task), Some(turn)) = (task, turn) {
                tally.count(case, &task, turn, vec![FunctionId::from_index(0)]);
            }
        }
        let evaluation = tally.finish(None, 3, Dialogues::default());
        assert_eq!(
            evaluation.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                "cases.jsonl:3: `cancel` has no slot `colour`",
                "cases.jsonl:5: the module has no function `nope`; the case is not run",
                "cases.jsonl:6: `given` names `nope`, which the module does not have",
            ]
        );
        assert_eq!((evaluation.scores.cases, evaluation.skipped_dialogues), (4, 3));
        assert_eq!(evaluation.scores.right, Some(0.5));
        let confusion = |expected: &str, got: &str| Confusion { expected: expected.into(), got: got.into(), count: 1 };
        assert_eq!(evaluation.confusions, [confusion("cancel", "order"), confusion("order", FAILED)]);
        // The second case: its own value is missing, and both values of the wrong function are too many.
        assert_eq!(
            evaluation.scores.slots.counts,
            Counts { true_positives: 2, false_positives: 2, false_negatives: 1 }
        );
        assert_eq!(evaluation.wrong.iter().map(|wrong| wrong.place.line).collect::<Vec<_>>(), [3, 7]);
        assert_eq!(
            evaluation.wrong[1].error.as_deref(),
            Some("the model server failed and nothing local could answer: the model server did not answer in time")
        );
    }

    #[test]
    fn calls_of_one_function_are_paired_by_what_they_say() {
        let module = module();
        let mut tally = Tally::new(&module);
        let dish = |name: &str| json!({"name": "order", "arguments": {"dishes": [{"name": name}]}});
        let case = json!({"utterance": "x", "functions": [dish("soup"), {"name": "cancel"}, dish("pie")]});
        let cases = Cases::parse("cases.jsonl", &case.to_string()).cases;
        let said = |name: &str| vec![grounded("dishes[].name", "/dishes/0/name", json!(name))];
        let frames = vec![(0, said("pie")), (0, said("soup")), (1, Vec::new())];
        let task = tally.resolve(&cases[0]).unwrap();
        tally.count(&cases[0], &task, Ok(turn(missing(), frames)), Vec::new());
        let evaluation = tally.finish(None, 0, Dialogues::default());
        assert_eq!(evaluation.wrong, []);
        assert_eq!(evaluation.scores.slots.counts.true_positives, 2);
    }

    /// The modules that ship load without a warning, and their cases are about them and not about their exemplars.
    #[test]
    fn the_shipped_modules_and_their_cases_hold_together() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("modules");
        for (name, least) in
            [("weather", 25), ("restaurant", 25), ("shoes", 25), ("petstore", 25), ("banking", 100), ("delivery", 40)]
        {
            let directory = root.join(name);
            let limits = crate::module::Limits::default();
            let module = crate::module::load(&directory, ModuleName::new(name).unwrap(), &limits).unwrap();
            assert_eq!(module.warnings, [], "{name}");
            let mut cases = Cases::parse(name, &std::fs::read_to_string(directory.join("cases.jsonl")).unwrap());
            if let Ok(dialogues) = std::fs::read_to_string(directory.join("dialogues.jsonl")) {
                cases.extend(Cases::parse(name, &dialogues));
            }
            for dialogue in &cases.dialogues {
                assert_eq!(dialogue::known(&module, dialogue), (None, Vec::new()), "{}", dialogue.place);
            }
            let mut tally = Tally::new(&module);
            for case in &cases.cases {
                let task = tally.resolve(case).expect(&case.utterance);
                tally.findings(case, &task, &Answer::default());
                for function in &module.functions {
                    let same =
                        |exemplar: &crate::module::Exemplar| squeeze(&exemplar.template) == squeeze(&case.utterance);
                    assert!(!function.exemplars.iter().any(same), "{name}: `{}` is an exemplar", case.utterance);
                }
            }
            assert_eq!((cases.problems, tally.problems), (Vec::new(), Vec::new()), "{name}");
            let none = cases.cases.iter().filter(|case| case.functions.is_empty()).count();
            assert!(cases.cases.len() >= least && none * 100 / cases.cases.len() >= 15, "{name}");
        }
    }
}
