//! An utterance while a form is open: an answer, a correction, a separate request, or nothing that is understood.
//!
//! The form has the first claim on an utterance. Another function is opened only by words that the form cannot explain.

use crate::{
    ablation,
    conversation::{Act, FormUpdate, merge::CERTAIN},
    decide::{
        bars::bars,
        calibration,
        outcome::Frame,
        situation::{Requests, Situation},
    },
    dialogue::{
        beside::{Effect, Elsewhere, WeighedEffects},
        form_reading::FormReading,
        interpretation::{Dialogue, Interpretation, ServerQuestion},
        open_form::{ANSWERED, OpenForm, said as said_by},
    },
    recognize::{acts::ACTS, certainty::Certainty},
    text::Span,
};

/// How sure it is that nothing was understood.
const NOTHING: Certainty = Certainty::Even;

/// What is said about the form, and what else is asked for.
struct ReplyReading {
    reading: FormReading,
    others: Vec<Frame>,
    /// What else is asked for is put to the person before it is called.
    is_doubtful: bool,
    effect: Effect,
    /// The confidence of that and of the reading, 0 to 1.
    confidence: f32,
    /// What is done to the form if no value was said.
    silent: Option<Act>,
    weighed: Option<WeighedEffects>,
}

/// See [the module](self).
pub(crate) fn form_reply(dialogue: &Dialogue<'_>, open: &OpenForm<'_>) -> Interpretation {
    let requests = Requests::find(&dialogue.situation);
    let heard = heard(&dialogue.situation.with(&requests), open);
    if let Some(decision) = &dialogue.told.decision {
        let mut acts = open.acts_of(decision);
        for (act, frame) in acts.iter_mut().zip(&decision.frames) {
            // If a model server proposes a call that the words hardly support, the person is asked before it is made.
            if let Act::Inform { function, said, .. } = act
                && *function != open.id
            {
                said.is_doubtful |= !calibration::is_called(frame.confidence, dialogue.situation.sure(*function));
            }
        }
        if acts.is_empty() && heard.reading.said.brings_something() {
            // Nothing usable came back, but the words do say something.
            acts.push(inform(open, heard.reading.said));
        }
        let notes = decision.notes.clone();
        return Interpretation { requests: Some(requests), notes, ..Interpretation::of(acts, decision.confidence) };
    }
    let is_asked = !open.is_settled_by_acts() && dialogue.asks_at(heard.confidence(open));
    let task = is_asked.then(|| ServerQuestion::Requests { part: None, requests: requests.clone() });
    let local = heard.interpretation(dialogue, open);
    Interpretation { task, requests: Some(requests), ..local }
}

fn heard(free: &Situation<'_>, open: &OpenForm<'_>) -> ReplyReading {
    let own = Situation { given: Some(open.id), is_meant: true, ..*free };
    let mut reading = open.read(&own);
    let settled = open.done_without_value(free);
    let is_enough = open.is_enough(free);
    if is_enough && reading.said.values.iter().all(|value| value.recognizer.is_none()) {
        reading.said.clear();
    }
    let is_told = reading.said.brings_something();
    // An utterance of dialogue acts alone, or a bare no, needs no weighing.
    if open.is_settled_by_acts() || (settled.is_some() || free.analysis.reply.is_bare_no() || is_enough) && !is_told {
        let effect = if is_told { Effect::Tells } else { Effect::Nothing };
        let silent = settled.or_else(|| (!open.asked.is_empty() && open.passes(free)).then(|| open.leave()));
        let (others, confidence) = (Vec::new(), reading.confidence);
        return ReplyReading { reading, others, is_doubtful: false, effect, confidence, silent, weighed: None };
    }
    let mut elsewhere = open.elsewhere(free);
    // Words that fit the form are about the form. Another request needs evidence of its own.
    if ablation::holds("reply.no_own_evidence", !elsewhere.frames.is_empty() && !elsewhere.is_unexplained) {
        elsewhere = Elsewhere::default();
    }
    let weighed = open.weigh(free, &reading, &elsewhere);
    let (mut effect, mut sure) = weighed.likeliest();
    // Free text is not an answer if it clearly asks for something else: a wrong value is worse than one more question.
    let is_plain = weighed.input.led == 0.0 && reading.said.values.iter().all(|value| value.recognizer.is_none());
    let is_request = elsewhere.anything >= free.thresholds.in_scope && elsewhere.sure() >= bars().otherwise;
    let is_other = effect == Effect::Tells && is_plain && is_request;
    if ablation::holds("reply.clearly_elsewhere", is_other) {
        (effect, sure) = (Effect::Elsewhere, elsewhere.sure());
    }
    if !matches!(effect, Effect::Tells | Effect::Elsewhere) {
        reading.said.clear();
    }
    // A free-text value is at most as sure as it is that the form is meant.
    if effect == Effect::Tells {
        let texts = reading.said.values.iter_mut().filter(|value| value.recognizer.is_none());
        texts.for_each(|value| value.confidence = value.confidence.min(sure));
    }
    let silent = settled.or_else(|| (effect == Effect::Declines).then(|| open.leave()));
    let confidence = if effect == Effect::Tells { sure.min(reading.confidence) } else { sure };
    let Elsewhere { frames: others, is_doubtful, .. } = elsewhere;
    ReplyReading { reading, others, is_doubtful, effect, confidence, silent, weighed: Some(weighed) }
}

impl ReplyReading {
    /// The confidence of the local reading, 0 to 1. It is 0 if nothing was understood.
    fn confidence(&self, open: &OpenForm<'_>) -> f32 {
        let is_nothing = self.effect == Effect::Nothing && !open.has_acts();
        if is_nothing { 0.0 } else { self.confidence }
    }

    fn interpretation(self, dialogue: &Dialogue<'_>, open: &OpenForm<'_>) -> Interpretation {
        let Self { reading, others, is_doubtful, effect, confidence, .. } = self;
        let FormReading { mut said, confidence: read, .. } = reading;
        let mut notes: Vec<String> = self.weighed.iter().map(WeighedEffects::note).collect();
        let beside = self.weighed;
        if effect == Effect::Elsewhere {
            // The values for the form are kept apart from the words that ask for something else.
            let is_answer = said.brings_something() && read >= ANSWERED.score() * CERTAIN.score();
            keep_apart(&mut said, &others, dialogue.situation.utterance().len());
            let own = (is_answer && said.brings_something()).then(|| inform(open, said));
            let of = |frame: &Frame| {
                let said = said_by(frame, dialogue.state.turn, None);
                Act::Inform { function: frame.function, said: FormUpdate { is_doubtful, ..said }, another: false }
            };
            let acts = own.into_iter().chain(others.iter().map(of)).collect();
            return Interpretation { notes, beside, ..Interpretation::of(acts, confidence) };
        }
        let name =
            |frame: &Frame| format!("it may ask for `{}` too, which is not sure enough", open.name(frame.function));
        notes.extend(others.iter().map(name));
        let (acts, confidence) = match self.silent {
            _ if said.brings_something() => (vec![inform(open, said)], confidence),
            Some(act) => (vec![act], ACTS),
            None => (Vec::new(), NOTHING.score()),
        };
        Interpretation { notes, beside, ..Interpretation::of(acts, confidence) }
    }
}

fn inform(open: &OpenForm<'_>, said: FormUpdate) -> Act {
    Act::Inform { function: open.id, said, another: false }
}

/// Keeps the values outside the words that ask for other functions; `length` is that of the utterance.
fn keep_apart(said: &mut FormUpdate, others: &[Frame], length: usize) {
    let is_apart = others.iter().all(|frame| frame.segment.len() < length);
    let is_beside = |span: Span| others.iter().all(|frame| !frame.segment.overlaps(span));
    said.values.retain(|value| is_apart && value.span.is_some_and(is_beside));
    said.invalid.clear();
    said.excluded.clear();
}
