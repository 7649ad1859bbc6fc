//! An utterance beside an open form: an answer, a correction, a request of its own, or nothing that is understood.
//!
//! The form has the first claim on an utterance. Another function is opened only by what the form cannot explain.

use crate::{
    call::SlotValue,
    conversation::{Act, Said, merge::CERTAIN},
    decide::{
        bars::bars,
        expected::Expected,
        outcome::Frame,
        reading::Reading,
        situation::{Requests, Situation},
    },
    dialogue::{
        form_reading::FormReading,
        interpretation::{Dialogue, Interpretation, Task},
        open_form::{ANSWERED, OpenForm, said as said_by},
    },
    probability::EVEN,
    recognize::{acts::ACTS, certainty::Certainty},
    text::Span,
};

/// How sure another function must be where a recognizer knows the answer to what was asked among the words, or where
/// they answer whether all is right; and how sure it must be where nothing in them could belong to the form.
const SURELY_OTHER: Certainty = Certainty::Clear;
const LIKELY: f32 = 0.45;
/// Words of a text that is a value rather than a request.
const FEW: usize = 3;
/// How sure it is that nothing was understood.
const NOTHING: Certainty = Certainty::Even;

/// What is said of the form, and what else is asked for.
struct Heard {
    reading: FormReading,
    others: Vec<Frame>,
    /// How surely the others are asked for.
    other_confidence: f32,
    is_other: bool,
    /// What is done to the form where no value was said.
    silent: Option<Act>,
}

/// See [the module](self).
pub(crate) fn form_reply(dialogue: &Dialogue<'_>, open: &OpenForm<'_>) -> Interpretation {
    let requests = Requests::find(&dialogue.situation);
    let heard = heard(&dialogue.situation.with(&requests), open);
    if let Some(decision) = &dialogue.told.decision {
        let mut acts = open.acts_of(decision);
        if acts.is_empty() && heard.reading.said.brings_something() {
            // Nothing usable came back, and the words do say something.
            acts.push(inform(open, heard.reading.said));
        }
        let notes = decision.notes.clone();
        return Interpretation { requests: Some(requests), notes, ..Interpretation::of(acts, decision.confidence) };
    }
    let is_asked = !open.is_settled_by_acts() && dialogue.asks_at(heard.confidence(open));
    let task = is_asked.then(|| Task::Requests { part: None, requests: requests.clone() });
    let local = heard.interpretation(dialogue, open);
    Interpretation { task, requests: Some(requests), ..local }
}

fn heard(free: &Situation<'_>, open: &OpenForm<'_>) -> Heard {
    let own = Situation { given: Some(open.id), is_meant: true, ..*free };
    let mut reading = open.read(&own);
    let is_answer = |value: &SlotValue| open.asked.contains(&value.pointer) && value.recognizer.is_none();
    if reading.said.values.iter().all(is_answer) && open.sounds_declined(free) {
        reading.said.values.clear();
    }
    let asks = free.analysis.reply.asks_back();
    if asks && reading.leaves_words && free.speech_act().is_some_and(|odds| odds.asks() > EVEN) {
        // "How long are you open today?" is no answer to "on which day?".
        reading.said.values.clear();
    }
    let is_elsewhere = is_written_elsewhere(free, open);
    if is_elsewhere && reading.said.values.iter().all(|value| value.recognizer.is_none()) {
        reading.said.values.clear();
    }
    let said = &reading.said;
    let has_values = said.brings_something();
    // Many words that no recognizer knows may as well be a request.
    let is_long = said.values.iter().any(|value| {
        let words = value.text.as_deref().map_or(0, |text| text.split_whitespace().count());
        value.recognizer.is_none() && words > FEW
    });
    let is_whole = has_values && (open.is_settled_by_acts() || !is_long && !reading.leaves_words);
    let is_known = said
        .values
        .iter()
        .any(|value| open.asked.contains(&value.pointer) && (value.recognizer.is_some() || open.is_led(free, value)));
    let (others, other_confidence) =
        if is_whole && !asks { (Vec::new(), 0.0) } else { open.others(free, is_elsewhere) };
    let otherwise = if is_known && !asks || open.corrects { SURELY_OTHER.score() } else { bars().otherwise };
    let is_other = !others.is_empty()
        && (has_values || !open.declines(free.analysis.reply))
        && (other_confidence >= otherwise || other_confidence >= LIKELY && !has_values && !open.has_acts());
    let silent = open.silent(free);
    Heard { reading, others, other_confidence, is_other, silent }
}

/// "Book a hotel" says a template of another function word for word, however well it would pass for a name.
fn is_written_elsewhere(free: &Situation<'_>, open: &OpenForm<'_>) -> bool {
    let nothing = Expected::default();
    let written = Reading::as_written(&Situation { expected: &nothing, ..*free });
    written.is_some_and(|function| function != open.id)
}

impl Heard {
    /// How sure the local reading is, 0 to 1.
    fn confidence(&self, open: &OpenForm<'_>) -> f32 {
        if self.is_other {
            self.other_confidence
        } else if self.reading.said.brings_something() || open.has_acts() {
            self.reading.confidence
        } else {
            0.0
        }
    }

    fn interpretation(self, dialogue: &Dialogue<'_>, open: &OpenForm<'_>) -> Interpretation {
        let Self { reading: FormReading { mut said, confidence, .. }, others, other_confidence, is_other, silent } =
            self;
        if is_other {
            // What the form is told stands apart from what asks for something else.
            let is_answer = said.brings_something() && confidence >= ANSWERED.score() * CERTAIN.score();
            keep_apart(&mut said, &others, dialogue.situation.utterance().len());
            let own = (is_answer && said.brings_something()).then(|| inform(open, said));
            let of = |frame: &Frame| Act::Inform {
                function: frame.function,
                said: said_by(frame, dialogue.state.turn, None),
                another: false,
            };
            return Interpretation::of(own.into_iter().chain(others.iter().map(of)).collect(), other_confidence);
        }
        let name =
            |frame: &Frame| format!("it may ask for `{}` too, which is not sure enough", open.name(frame.function));
        let notes = others.iter().map(name).collect();
        let (acts, confidence) = match silent {
            _ if said.brings_something() => (vec![inform(open, said)], confidence),
            Some(act) => (vec![act], ACTS),
            None => (Vec::new(), NOTHING.score()),
        };
        Interpretation { notes, ..Interpretation::of(acts, confidence) }
    }
}

fn inform(open: &OpenForm<'_>, said: Said) -> Act {
    Act::Inform { function: open.id, said, another: false }
}

/// Leaves the values that lie outside what asks for other functions; `length` is that of the utterance.
fn keep_apart(said: &mut Said, others: &[Frame], length: usize) {
    let is_apart = others.iter().all(|frame| frame.segment.len() < length);
    let is_beside = |span: Span| others.iter().all(|frame| !frame.segment.overlaps(span));
    said.values.retain(|value| is_apart && value.span.is_some_and(is_beside));
    said.invalid.clear();
    said.excluded.clear();
}
