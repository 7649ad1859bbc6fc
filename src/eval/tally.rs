//! Collects the results of the cases, one after the other.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    Case, CaseResult, Confusion, Dialogue, Dialogues, EvalOptions, Evaluation, FAILED, Finding, MatchCounts,
    MatchOutcome, NONE, Observation, OutcomeKind, Problem, SlotCounts, TIE, Understood, WrongCase, answer::Prediction,
    cases::ResolvedCase, compare, dialogue, features, score,
};
use crate::{
    conversation::State,
    decide::confidence::Calibration,
    module::{FunctionId, Module, SlotGroup, settings::StrategyName, squeeze},
    snapshot::Snapshot,
    understand::{Turn, TurnError, TurnRequest, Understander, request},
};

/// Number of candidates that recall needs.
const CANDIDATES: usize = 10;

/// The results of the cases so far.
pub(super) struct Tally<'a> {
    module: &'a Module,
    pub observations: Vec<Observation>,
    confusions: BTreeMap<(String, String), usize>,
    slots: BTreeMap<(String, String), MatchCounts>,
    pub answers: Vec<CaseResult>,
    pub wrong: Vec<WrongCase>,
    pub problems: Vec<Problem>,
    features: Vec<String>,
}

impl<'a> Tally<'a> {
    pub(super) fn new(module: &'a Module) -> Self {
        Self {
            module,
            observations: Vec::new(),
            confusions: BTreeMap::new(),
            slots: BTreeMap::new(),
            answers: Vec::new(),
            wrong: Vec::new(),
            problems: Vec::new(),
            features: Vec::new(),
        }
    }

    fn problem(&mut self, case: &Case, message: String) {
        self.problems.push(Problem { place: case.place.clone(), message });
    }

    /// `None`, with a problem recorded, if the case names a function that the module does not have.
    pub(super) fn resolve<'c>(&mut self, case: &'c Case) -> Option<ResolvedCase<'c>> {
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
        Some(ResolvedCase { functions, given })
    }

    /// True if the dialogue can be run. Its problems are recorded.
    pub(super) fn knows(&mut self, dialogue: &Dialogue) -> bool {
        let (hindrance, odd) = dialogue::known(self.module, dialogue);
        let is_run = hindrance.is_none();
        let problem = |message| Problem { place: dialogue.place.clone(), message };
        self.problems.extend(odd.into_iter().chain(hindrance).map(problem));
        is_run
    }

    /// Runs the case through a turn, and counts the result. False, with a problem recorded, if it cannot be run.
    ///
    /// # Errors
    /// As [`evaluate`].
    pub(super) async fn run(
        &mut self,
        understander: &Understander,
        snapshot: &Snapshot,
        case: &Case,
        task: &ResolvedCase<'_>,
        options: &EvalOptions,
    ) -> Result<bool, TurnError> {
        let given = task.given.as_ref().filter(|_| !options.pooled);
        let home = request::time_zone(self.module, "UTC");
        let now = match case.now.as_deref().map(|now| request::moment(now, &home)).transpose() {
            Ok(now) => now.or_else(|| options.now.clone()),
            Err(error) => {
                self.problem(case, error.to_string());
                return Ok(false);
            }
        };
        let request = TurnRequest {
            utterance: case.utterance.clone(),
            strategy: options.strategy,
            now,
            among: given.cloned(),
            ..TurnRequest::default()
        };
        let state = match case.state.as_ref().map(|state| state_of(self.module, state)).transpose() {
            Ok(state) => state,
            Err(error) => {
                self.problem(case, error);
                return Ok(false);
            }
        };
        let turn = match &state {
            Some(state) => understander.converse(snapshot, state, &request).await.map(|conversed| conversed.turn),
            None => understander.turn(snapshot, &request).await,
        };
        let turn = match turn {
            Ok(turn) => Ok(turn),
            Err(error @ (TurnError::EmptyUtterance | TurnError::LongUtterance { .. })) => {
                self.problem(case, error.to_string());
                return Ok(false);
            }
            Err(error @ (TurnError::Llm(_) | TurnError::OverBudget { .. })) => Err(error),
            Err(
                error @ (TurnError::NoModelServer(_) | TurnError::Embed(_) | TurnError::Prompt(_) | TurnError::Left),
            ) => {
                return Err(error);
            }
        };
        let mut candidates = turn.as_ref().map(candidates).unwrap_or_default();
        let most = given.map_or(self.module.functions.len(), Vec::len);
        if candidates.len() < CANDIDATES.min(most) {
            // A turn considers fewer candidates than recall needs; its latency must not include more.
            candidates = understander
                .retrieve(snapshot, &request, CANDIDATES)
                .await?
                .candidates
                .iter()
                .map(|candidate| candidate.function)
                .collect();
        }
        if let (true, Ok(turn)) = (options.features, &turn) {
            self.features.extend(match &state {
                Some(state) => features::beside(snapshot, case, state, turn),
                None => Some(features::line(snapshot, case, task, turn)),
            });
        }
        self.count(case, task, turn, candidates);
        Ok(true)
    }

    fn count(
        &mut self,
        case: &Case,
        task: &ResolvedCase<'_>,
        turn: Result<Turn, TurnError>,
        candidates: Vec<FunctionId>,
    ) {
        let answer = match &turn {
            Ok(turn) => Prediction::of(turn),
            Err(_) => Prediction::default(),
        };
        let expected: Vec<FunctionId> = task.functions.iter().map(|(id, _)| *id).collect();
        let (findings, checked) = self.findings(case, task, &answer);
        let mut counts = MatchCounts::default();
        let mut slots_by_group: BTreeMap<SlotGroup, MatchCounts> = BTreeMap::new();
        for (function, finding) in &findings {
            counts.add(finding.verdict);
            slots_by_group.entry(self.group(*function, &finding.slot)).or_default().add(finding.verdict);
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
            slots_by_group,
            is_proposed: answer.is_proposed,
            kind: case.kind.clone(),
            tokens: turn.as_ref().map(|turn| turn.usage.total_tokens).unwrap_or_default(),
            timings: turn.as_ref().ok().map(|turn| turn.trace.timings),
        };
        let (expected, got) = (self.names(&observation.expected), self.answered(&observation));
        if !observation.is_function_right() {
            *self.confusions.entry((expected.clone(), got.clone())).or_default() += 1;
        }
        let right = observation.is_right();
        self.answers.push(CaseResult {
            utterance: case.utterance.clone(),
            right,
            function_right: observation.is_function_right(),
            wrong_call: observation.outcome == OutcomeKind::Call && !right,
            confidence: answer.confidence,
        });
        if !right {
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
                    .filter(|finding| finding.verdict != MatchOutcome::Right)
                    .collect(),
                error: turn.err().map(|error| error.to_string()),
            });
        }
        self.observations.push(observation);
    }

    /// Findings for every function whose arguments the case gives, and whether it gives any.
    ///
    /// Functions are paired by their ids; of several calls of one function, each is paired with the one that differs
    /// least. Values of an unexpected function count against the answer only if the case gives arguments for all of its
    /// own.
    fn findings(
        &mut self,
        case: &Case,
        task: &ResolvedCase<'_>,
        answer: &Prediction,
    ) -> (Vec<(FunctionId, Finding)>, bool) {
        let checked = task.functions.iter().any(|(_, arguments)| arguments.is_some());
        let wholly = checked && task.functions.iter().all(|(_, arguments)| arguments.is_some());
        let mut left: Vec<&(FunctionId, Understood)> = answer.functions.iter().collect();
        let mut findings = Vec::new();
        let nothing = Understood::default();
        for (id, arguments) in &task.functions {
            let function = self.module.function(*id);
            let errors = |understood: &Understood| {
                let (found, _) = compare::compare(function, (*arguments)?, understood);
                Some(found.iter().filter(|finding| finding.verdict != MatchOutcome::Right).count())
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

    fn group(&self, function: FunctionId, slot: &str) -> SlotGroup {
        let slots = &self.module.function(function).slots;
        let known = slots.iter().find(|known| known.path.to_string() == slot);
        known.map_or(SlotGroup::Text, |known| self.module.group_of(known))
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

    pub(super) fn finish(
        self,
        strategy: Option<StrategyName>,
        skipped_dialogues: usize,
        dialogues: Dialogues,
    ) -> Evaluation {
        let mut confusions: Vec<Confusion> =
            self.confusions.into_iter().map(|((expected, got), count)| Confusion { expected, got, count }).collect();
        // The sort keeps the order of names for equal counts.
        confusions.sort_by_key(|confusion| std::cmp::Reverse(confusion.count));
        let mut slots: Vec<SlotCounts> =
            self.slots.into_iter().map(|((function, slot), counts)| SlotCounts { function, slot, counts }).collect();
        slots.sort_by_key(|slot| std::cmp::Reverse(slot.counts.errors()));
        Evaluation {
            module: self.module.name.to_string(),
            module_version: self.module.version.clone(),
            strategy,
            scores: score::score(&self.observations),
            calibration: Calibration::GENERAL,
            confusions,
            slots,
            answers: self.answers,
            wrong: self.wrong,
            dialogues,
            skipped_dialogues,
            problems: self.problems,
            features: self.features,
        }
    }
}

/// By its name, or else ignoring case and separators.
pub(super) fn function_named(module: &Module, name: &str) -> Option<FunctionId> {
    module.function_named(name).or_else(|| {
        let squeezed = squeeze(name);
        module.function_ids().find(|id| squeeze(&module.function(*id).name) == squeezed)
    })
}

fn candidates(turn: &Turn) -> Vec<FunctionId> {
    turn.trace.candidates.iter().map(|candidate| candidate.function).collect()
}

/// The state that a case gives.
fn state_of(module: &Module, written: &Value) -> Result<State, String> {
    let state: State = serde_json::from_value(written.clone()).map_err(|error| format!("`state`: {error}"))?;
    state.adopted(module).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{
        super::{Cases, answer::understood, dialogue, testing},
        *,
    };
    use crate::{
        call::{SlotValue, Source},
        conversation::Pending,
        llm::Usage,
        module::{ModuleName, Settings},
        text::Span,
        understand::{DecidedBy, Frame, Outcome, Question, Timings, Trace},
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

    fn grounded(pointer: &str, value: Value) -> SlotValue {
        let (text, span) = (Some(value.to_string()), Some(Span::new(0, 1)));
        SlotValue { text, span, ..SlotValue::unsaid(pointer.to_owned(), value, Source::Said, 1.0) }
    }

    fn turn(outcome: Outcome, frames: Vec<(usize, Vec<SlotValue>)>) -> Turn {
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
            remark: None,
            is_answered: false,
            deeds: Vec::new(),
        }
    }

    fn ask(about: Pending) -> Outcome {
        Outcome::Ask(Question { text: "?".to_owned(), about })
    }

    fn missing() -> Outcome {
        ask(Pending::Missing { function: FunctionId::from_index(0), pointers: vec![String::new()] })
    }

    #[test]
    fn grounded_values_make_up_the_arguments() {
        let mut slots = vec![
            grounded("/dishes/1/name", json!("pie")),
            grounded("/dishes/0/name", json!("soup")),
            grounded("/address/city", json!("Rome")),
            grounded("/dishes/999999999/name", json!("bomb")),
        ];
        slots[2] = SlotValue::unsaid("/address/city".to_owned(), json!("Rome"), Source::Default, 1.0);
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
        let tie = Pending::Tie { functions: vec![FunctionId::from_index(0), FunctionId::from_index(1)] };
        let answer = Prediction::of(&turn(ask(tie), vec![(1, Vec::new()), (0, Vec::new())]));
        assert!(answer.functions.is_empty());
        assert_eq!(answer.leader, Some(FunctionId::from_index(1)));
        let rejected = Prediction::of(&turn(Outcome::NoMatch, Vec::new()));
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
        let slots = vec![grounded("/dishes/0/name", json!("soup")), grounded("/address/city", json!("Rome"))];
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
        // The second case: its own value is missing, and both values of the wrong function are extra.
        assert_eq!(
            evaluation.scores.slots.counts,
            MatchCounts { true_positives: 2, false_positives: 2, false_negatives: 1 }
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
        let said = |name: &str| vec![grounded("/dishes/0/name", json!(name))];
        let frames = vec![(0, said("pie")), (0, said("soup")), (1, Vec::new())];
        let task = tally.resolve(&cases[0]).unwrap();
        tally.count(&cases[0], &task, Ok(turn(missing(), frames)), Vec::new());
        let evaluation = tally.finish(None, 0, Dialogues::default());
        assert_eq!(evaluation.wrong, []);
        assert_eq!(evaluation.scores.slots.counts.true_positives, 2);
    }

    /// The shipped modules load without a warning, and their cases belong to them and do not repeat their exemplars.
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
                tally.findings(case, &task, &Prediction::default());
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
