//! What an utterance does to a conversation.
//!
//! Read against what was asked, if anything was: first as a move of the whole conversation (cancel, start over), then as
//! a yes or a choice where one is waited for, then as values of the form that is being filled, then as a request of its
//! own. A model server is asked where that leaves doubt and the strategy lets it.

use crate::{
    call::{Origin, ViolationKind},
    conversation::{Act, Aside, Expects, Filled, Form, Said, State, Who},
    llm,
    module::{FunctionId, SlotPath},
    recognize::{
        Mention,
        acts::{self as moves, Kind, Moves, Pick},
        reply::{self as yes_no, YesNo},
    },
    snapshot::Snapshot,
    text::Span,
    understand::{DecidedBy, Demand, Frame, Trace, Turn, TurnError, TurnRequest, Understander},
};

/// How sure it must be that another function is meant where the words could also belong to what was asked.
pub(crate) const OTHERWISE: f32 = 0.6;
/// How sure a value is that answers what was asked, all words accounted for.
pub(crate) const ANSWERED: f32 = 0.95;

/// What an utterance does, and how that was found out.
pub(crate) struct Taken {
    pub acts: Vec<Act>,
    /// The functions of which one is meant, if nothing says which.
    pub tie: Option<Vec<FunctionId>>,
    pub trace: Trace,
    /// Probability that the acts are right, 0 to 1.
    pub confidence: f32,
    pub decided_by: DecidedBy,
    pub usage: llm::Usage,
}

impl Taken {
    /// Found by the words alone, without a look at functions.
    pub(crate) fn heard(acts: Vec<Act>, confidence: f32) -> Self {
        Self {
            acts,
            tie: None,
            trace: Trace::default(),
            confidence,
            decided_by: DecidedBy::Local,
            usage: llm::Usage::default(),
        }
    }

    pub(crate) fn of_turn(turn: Turn, acts: Vec<Act>) -> Self {
        let Turn { trace, confidence, decided_by, usage, .. } = turn;
        Self { acts, tie: None, trace, confidence, decided_by, usage }
    }

    /// Spans of a part of the utterance, as those of the whole.
    pub(crate) fn shift(&mut self, by: usize) {
        let moved = |span: &mut Span| *span = Span::new(span.start + by, span.end + by);
        for act in &mut self.acts {
            if let Act::Inform { said, .. } = act {
                said.values
                    .iter_mut()
                    .chain(&mut said.excluded)
                    .filter_map(|value| value.span.as_mut())
                    .for_each(moved);
            }
        }
        self.trace.mentions.iter_mut().for_each(|mention: &mut Mention| moved(&mut mention.span));
        self.trace.segments.iter_mut().chain(&mut self.trace.clauses).for_each(|segment| moved(&mut segment.span));
        for negation in &mut self.trace.negations {
            moved(&mut negation.cue);
            moved(&mut negation.scope);
        }
    }
}

impl Understander {
    /// See [the module](self). `state` counts this turn already.
    pub(crate) async fn take_up(
        &self,
        snapshot: &Snapshot,
        state: &State,
        request: &TurnRequest,
    ) -> Result<Taken, TurnError> {
        let module = &snapshot.module;
        self.recognize(snapshot, request)?;
        let language = module.language();
        let moves = moves::read(language, &request.utterance);
        let active = state.active(module).filter(|(function, _)| may_be(request, *function));
        if let Some(taken) = self.whole(snapshot, state, request, &moves).await? {
            return Ok(taken);
        }
        match (&state.expects, active) {
            (Some(Expects::Choice { functions, utterance, .. }), _) => {
                self.choice(snapshot, state, request, (functions, utterance), &moves).await
            }
            (_, None) => self.afresh(snapshot, state, request).await,
            (Some(Expects::Change { .. }), Some(_)) if changes_nothing(language, &request.utterance, &moves) => {
                Ok(Taken::heard(vec![Act::Cancel], moves::ACTS))
            }
            (Some(Expects::Yes { .. }), Some((function, form))) => {
                self.confirmation(snapshot, state, request, (function, form), &moves).await
            }
            (_, Some((function, form))) => self.within(snapshot, state, request, (function, form), &moves, false).await,
        }
    }

    /// Moves of the whole conversation. What is said beside them is read without the form that they end.
    async fn whole(
        &self,
        snapshot: &Snapshot,
        state: &State,
        request: &TurnRequest,
        moves: &Moves,
    ) -> Result<Option<Taken>, TurnError> {
        // What a choice is cancelled of is no form.
        if state.is_idle() || matches!(state.expects, Some(Expects::Choice { .. })) {
            return Ok(None);
        }
        let language = snapshot.module.language();
        let agrees = |cue: Span| {
            let before: String = request.utterance.chars().take(cue.start).collect();
            matches!(state.expects, Some(Expects::Yes { .. }))
                && yes_no::read(language, None, &before).answer == YesNo::Affirmative
        };
        let found = moves.moves.iter().find_map(|one| {
            let act = match one.kind {
                // "Yes, cancel it", where just that was asked.
                Kind::Cancel if agrees(one.cue) => Act::Yes,
                Kind::Cancel => Act::Cancel,
                Kind::Restart => Act::Restart,
                Kind::Recall => Act::Recall,
                Kind::Resume => Act::Resume,
                _ => return None,
            };
            (one.confidence >= moves::ACTS).then_some((act, one.confidence))
        });
        let Some((act, confidence)) = found else { return Ok(None) };
        let Some(rest) = moves.rest else { return Ok(Some(Taken::heard(vec![act], confidence))) };
        match act {
            Act::Cancel => {
                let mut left = state.clone();
                left.forms.pop();
                left.expects = None;
                let text: String = request.utterance.chars().skip(rest.start).take(rest.len()).collect();
                let beside = TurnRequest { utterance: text, ..request.clone() };
                let mut taken = self.afresh(snapshot, &left, &beside).await?;
                taken.shift(rest.start);
                taken.acts.insert(0, act);
                taken.confidence = taken.confidence.max(confidence);
                Ok(Some(taken))
            }
            // With values beside it, the values count.
            _ => Ok(None),
        }
    }
}

impl Said {
    pub(crate) fn brings_something(&self) -> bool {
        !(self.values.is_empty() && self.invalid.is_empty() && self.excluded.is_empty() && self.removed.is_empty())
    }
}

/// What a frame of this turn says. Of a value that was said in an earlier turn the form knows better, if it has one.
pub(crate) fn said(frame: &Frame, turn: u32, form: Option<&Form>) -> Said {
    let is_known = |path: &SlotPath| form.is_some_and(|form| form.has(path));
    let is_new = |origin: &Origin, path: &SlotPath| match origin {
        Origin::Utterance { .. } => true,
        Origin::Earlier { .. } | Origin::Choice | Origin::Generated => !is_known(path),
        Origin::Default => false,
    };
    let values = frame.slots.iter().filter(|value| is_new(&value.origin, &value.path));
    let is_fault = |kind: ViolationKind| {
        !matches!(
            kind,
            ViolationKind::Missing | ViolationKind::Unknown | ViolationKind::Ungrounded | ViolationKind::Negated
        )
    };
    let faults = frame.invalid.iter().filter(|violation| is_fault(violation.kind) && violation.found.is_some());
    let excluded = frame.excluded.iter().filter(|value| matches!(value.origin, Origin::Utterance { .. }));
    Said {
        turn,
        confidence: frame.confidence,
        values: values.map(|value| Filled::new(value, turn)).collect(),
        invalid: faults.map(|violation| Aside::new(violation, turn)).collect(),
        excluded: excluded.map(|value| Filled::new(value, turn)).collect(),
        ..Said::default()
    }
}

/// What was asked last, as it was worded.
pub(crate) fn last_question(state: &State) -> Option<&str> {
    state.lines.iter().rev().find(|line| line.who == Who::Assistant).map(|line| line.text.as_str())
}

fn may_be(request: &TurnRequest, function: FunctionId) -> bool {
    match request.demand {
        Demand::Function(named) => named == function,
        Demand::Auto | Demand::Required => request.among.as_ref().is_none_or(|among| among.contains(&function)),
    }
}

/// No, nothing is to be changed after all.
fn changes_nothing(language: &str, reply: &str, moves: &Moves) -> bool {
    let read = yes_no::read(language, None, reply);
    let is_no = read.answer == YesNo::Negative && read.rest.is_none();
    is_no
        || moves.rest.is_none() && moves.moves.iter().any(|one| matches!(one.kind, Kind::Pick(Pick::None) | Kind::Skip))
}
