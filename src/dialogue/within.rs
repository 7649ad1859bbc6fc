//! An utterance beside a form: an answer, a correction, a request of its own, or nothing that is understood.

use std::time::Instant;

use crate::{
    assist::{exchange::Decided, history::Heard},
    conversation::{Act, Form, Said, State, merge::CERTAIN},
    decide::{segments::Requests, situation::Situation},
    dialogue::{
        acts::{self, ANSWERED, OTHERWISE, Taken, last_question},
        converse::history,
        read::{Context, Read},
    },
    llm,
    module::{FunctionId, SlotPath, settings::StrategyName},
    recognize::{
        acts::{self as moves, Kind, Moves},
        reply::{self as yes_no, YesNo},
    },
    snapshot::Snapshot,
    text::Span,
    understand::{
        Answered, Asked, DecidedBy, Expected, Frame, Trace, TurnError, TurnRequest, Understander, analysis::Analysed,
        ledger::Budget, milliseconds,
    },
};

/// How sure another function must be where a recognizer knows the answer to what was asked among the words, or where they
/// answer whether all is right; and how sure it must be where nothing in them could belong to the form.
const SURELY_OTHER: f32 = 0.9;
const LIKELY: f32 = 0.45;
/// Words of a text that is a value rather than a request.
const FEW: usize = 3;
/// A reply is a yes from here on; to say again what was asked for is none.
const YES: f32 = 0.82;

impl Understander {
    /// The reply to "is that right?".
    pub(crate) async fn confirmation(
        &self,
        snapshot: &Snapshot,
        state: &State,
        request: &TurnRequest,
        (function, form): (FunctionId, &Form),
        moves: &Moves,
    ) -> Result<Taken, TurnError> {
        let language = snapshot.module.language();
        // A word of the confirmation, which names every value, is no yes to it: only words of agreement are.
        let read = yes_no::read(language, None, &request.utterance);
        let mut answered = Answered::local(read);
        if matches!(read.answer, YesNo::Irrelevant | YesNo::Indifferent) {
            let question = last_question(state);
            let other = self.yes_no(snapshot, question, &request.utterance, request.strategy, request.budget).await?;
            if !other.is_local {
                answered = other;
            }
        }
        let reply = answered.reply;
        let settled = |act: Act| {
            let mut taken = Taken::heard(vec![act], reply.confidence);
            taken.trace.attempts.clone_from(&answered.attempts);
            taken.usage = answered.usage;
            if !answered.is_local {
                taken.decided_by = DecidedBy::Staged;
            }
            taken
        };
        match (reply.answer, reply.rest) {
            (YesNo::Affirmative, None) if reply.confidence >= YES => Ok(settled(Act::Yes)),
            (YesNo::Negative, None) => Ok(settled(Act::No)),
            (answer, _) => {
                let corrects = matches!(answer, YesNo::Affirmative | YesNo::Negative);
                let all = moves.clone();
                // What stands beside the yes or no is what is to be another way.
                let beside = moves.rest.is_none() || !moves.moves.is_empty();
                let rest = Moves { rest: reply.rest, moves: Vec::new() };
                let moves = if corrects && !beside { &rest } else { moves };
                let taken = self.within(snapshot, state, request, (function, form), moves, corrects).await?;
                let says_something = !taken.acts.is_empty();
                let wants_change = changes(&all);
                match answer {
                    // A yes with a change is no yes to what was asked, but what it changes is.
                    // Of a change that is not understood, there is none.
                    YesNo::Affirmative if !says_something && reply.confidence >= YES && !wants_change => {
                        Ok(settled(Act::Yes))
                    }
                    YesNo::Affirmative if !says_something => Ok(taken),
                    YesNo::Negative if !says_something => Ok(settled(Act::No)),
                    _ => Ok(taken),
                }
            }
        }
    }

    /// The utterance beside a form: an answer, a correction, a request of its own, or nothing that is understood.
    pub(crate) async fn within(
        &self,
        snapshot: &Snapshot,
        state: &State,
        request: &TurnRequest,
        (active, form): (FunctionId, &Form),
        moves: &Moves,
        corrects: bool,
    ) -> Result<Taken, TurnError> {
        let module = &snapshot.module;
        let function = module.function(active);
        let asked = state.asked(&form.function);
        let request = TurnRequest {
            expected: Expected::new(module, awaited(&form.function, asked)),
            history: history(state),
            ..request.clone()
        };
        let heard = Heard::new(&request.history);
        let started = Instant::now();
        let Analysed { analysis, took } = self.analyse(snapshot, &request).await?;
        let whole = self.situation(snapshot, &request, &heard.earlier, &analysis);
        let requests = Requests::find(&whole);
        let free = whole.with(&requests);
        let own = Situation { given: Some(active), is_meant: true, ..free };
        let mut trace = Trace::new(&free, took);
        let context = Context { module, function, id: active, form, asked, state, moves, corrects };

        let Read { mut said, confidence, leaves_words } = context.read(&own);
        let has_values = said.brings_something();
        let is_answer = has_values && confidence >= ANSWERED * CERTAIN;
        // Many words that no recognizer knows may as well be a request.
        let is_long = said.values.iter().any(|value| {
            let words = value.text.as_deref().map_or(0, |text| text.split_whitespace().count());
            value.recognizer.is_none() && words > FEW
        });
        let is_whole = has_values && (context.is_settled_by_moves() || !is_long && !leaves_words);
        let is_known = said.values.iter().any(|value| value.recognizer.is_some() && asked.contains(&value.pointer));
        let strategy = self.strategy(snapshot, &request);
        let (others, other_confidence) = if is_whole { (Vec::new(), 0.0) } else { context.others(&free) };
        let declines = !has_values && context.declines();
        let is_other = !others.is_empty()
            && !declines
            && (other_confidence >= if is_known || corrects { SURELY_OTHER } else { OTHERWISE }
                || other_confidence >= LIKELY && !has_values && !context.has_moves());

        let doubt = if is_other {
            other_confidence
        } else if has_values || context.has_moves() {
            confidence
        } else {
            0.0
        };
        let asks_model = match strategy {
            StrategyName::Local => false,
            StrategyName::Auto => doubt < free.thresholds.sure && !self.servers.is_empty(),
            StrategyName::Tools | StrategyName::Structured | StrategyName::Staged => true,
        };
        let silent = context.silent(&free);
        if asks_model && !context.is_settled_by_moves() {
            let named = (strategy != StrategyName::Auto).then_some(strategy);
            let budget = Budget::new(&self.options, &module.settings.llm, request.budget, started.into());
            let brief = self.brief(snapshot, &request, free, &heard.before, budget);
            match self.ask(named, &brief).await {
                Ok(Decided { mut decision, decided_by, spent, decide_ms }) => {
                    let mut acts = context.acts_of(&decision);
                    if acts.is_empty() && has_values {
                        // Nothing usable came back, and the words do say something.
                        acts.push(Act::Inform { function: active, said, another: false });
                    }
                    decision.notes.insert(0, "asked the model server what the reply means".to_owned());
                    trace.attempts = spent.attempts;
                    trace.notes = decision.notes;
                    trace.timings.decide = decide_ms;
                    trace.timings.llm = spent.llm_ms;
                    trace.timings.total = milliseconds(started);
                    let (tie, confidence, usage) = (None, decision.confidence, spent.usage);
                    return Ok(Taken { acts, tie, trace, confidence, decided_by, usage });
                }
                Err((error, _)) if strategy != StrategyName::Auto => return Err(error),
                Err((error, spent)) => {
                    let Some(why) = error.why_not() else { return Err(error) };
                    trace.notes.push(format!("decided locally: {why}"));
                    trace.attempts = spent.attempts;
                    trace.timings.llm = spent.llm_ms;
                }
            }
        }
        let mut acts = Vec::new();
        let mut sure = confidence;
        if is_other {
            // What the form is told stands apart from what asks for something else.
            keep_apart(&mut said, &others, analysis.utterance.len());
            if said.brings_something() && is_answer {
                acts.push(Act::Inform { function: active, said, another: false });
            }
            acts.extend(others.iter().map(|frame| Act::Inform {
                function: frame.function,
                said: acts::said(frame, state.turn, None),
                another: false,
            }));
            sure = other_confidence;
        } else if has_values {
            acts.push(Act::Inform { function: active, said, another: false });
        } else if let Some(act) = silent {
            acts.push(act);
            sure = moves::ACTS;
        }
        if acts.is_empty() {
            sure = 0.5;
        }
        trace.timings.total = milliseconds(started);
        Ok(Taken {
            acts,
            tie: None,
            trace,
            confidence: sure,
            decided_by: DecidedBy::Local,
            usage: llm::Usage::default(),
        })
    }
}

/// The places that were asked for, or anything of the function.
fn awaited(function: &str, pointers: &[String]) -> Vec<Asked> {
    let ask = |slot: Option<String>| Asked { frame: function.to_owned(), slot };
    let slots: Vec<Asked> =
        pointers.iter().map(|pointer| ask(Some(SlotPath::of_pointer(pointer).to_string()))).collect();
    if slots.is_empty() { vec![ask(None)] } else { slots }
}

/// Leaves the values that lie outside what asks for other functions; `length` is that of the utterance.
fn keep_apart(said: &mut Said, others: &[Frame], length: usize) {
    let is_apart = others.iter().all(|frame| frame.segment.len() < length);
    let is_beside = |span: Span| others.iter().all(|frame| !frame.segment.overlaps(span));
    said.values.retain(|value| is_apart && value.span.is_some_and(is_beside));
    said.invalid.clear();
    said.excluded.clear();
}

/// True of words that ask for something to be another way.
fn changes(moves: &Moves) -> bool {
    moves.moves.iter().any(|one| {
        matches!(
            one.kind,
            Kind::Correct
                | Kind::Change { .. }
                | Kind::Replace { .. }
                | Kind::Remove { .. }
                | Kind::Add
                | Kind::Portion { .. }
        )
    })
}
