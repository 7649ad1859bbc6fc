//! The weighed effect of an utterance on an open form: it gives values for the form, declines to, asks for something
//! else, or leaves the form unchanged.

use crate::{
    ablation,
    call::SlotValue,
    conversation::{Form, Pending},
    decide::{
        answered, asked,
        bars::bars,
        carrier,
        expected::Expected,
        features::{BesideInput, Features, flag, logarithm, measure},
        local,
        model::{DecisionModel, FormEffects},
        outcome::{Frame, Outcome},
        scope::by_score,
        situation::Situation,
        vocabulary::own_words,
    },
    dialogue::{form_reading::FormReading, open_form::OpenForm},
    module::FunctionId,
    probability::{EVEN, MOST_ODDS, log_odds},
    recognize::reply::{self, YesNo},
    text::{Span, fold},
};

/// The most words of a text that is a value rather than a request.
const FEW: usize = 3;

/// What an utterance asks for by itself, other than the open form.
#[derive(Default)]
pub(crate) struct Elsewhere {
    pub frames: Vec<Frame>,
    /// By itself it would mean nothing, or be an action that is put to the person.
    pub is_doubtful: bool,
    /// Probability that any function is meant by itself, 0 to 1.
    pub anything: f32,
    /// The probability that the likeliest of the frames is meant, by all evidence, and by its score alone.
    meant: f32,
    score: f32,
    /// How much higher than the open form retrieval scores that frame.
    lead: f32,
    /// A recognizer found a value for it that is of a kind the form does not take.
    is_other_kind: bool,
    /// It says more than what might as well be said to the form.
    pub is_unexplained: bool,
    /// The features of that frame.
    known: Features,
}

/// The evidence that was weighed, and the result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeighedEffects {
    pub input: BesideInput,
    pub possible: FormEffects<bool>,
    pub odds: FormEffects<f32>,
}

/// The effect of an utterance on an open form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Tells,
    Declines,
    Elsewhere,
    Nothing,
}

impl WeighedEffects {
    /// The likeliest effect, and its probability. Something else is opened only if that is likelier than not: one more
    /// question costs less.
    pub(crate) fn likeliest(&self) -> (Effect, f32) {
        let FormEffects { tells, declines, elsewhere, nothing } = self.odds;
        if elsewhere >= EVEN {
            return (Effect::Elsewhere, elsewhere);
        }
        let rest = [(Effect::Tells, tells), (Effect::Declines, declines), (Effect::Nothing, nothing)];
        rest.into_iter().max_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or((Effect::Nothing, 0.0))
    }

    /// The weighing in words, for people who want to know why.
    pub(crate) fn note(&self) -> String {
        let FormEffects { tells, declines, elsewhere, nothing } = self.odds;
        format!(
            "beside the open form: tells something of it {tells:.2}, declines {declines:.2}, asks for something else \
             {elsewhere:.2}, does nothing to it {nothing:.2}"
        )
    }
}

impl Elsewhere {
    /// How surely something else is asked for, 0 to 1.
    pub(crate) fn sure(&self) -> f32 {
        (self.meant + self.score) / 2.0
    }
}

impl OpenForm<'_> {
    /// Weighs the effect of the utterance on the form; `read` is what it says about the form.
    pub(crate) fn weigh(&self, free: &Situation<'_>, read: &FormReading, elsewhere: &Elsewhere) -> WeighedEffects {
        let input = self.evidence(free, read, elsewhere);
        let values = &read.said.values;
        let has_all = |form: &Form| {
            values.iter().all(|value| form.at(&value.pointer).is_some_and(|known| known.value == value.value)) //
        };
        // "That was BK2718, right?" asks about the call before. Where the form has other values, that must be clear.
        let called = self.state.last_call.as_ref().filter(|call| call.function == self.function.name);
        let may_change = values.iter().any(|value| self.has_other(value));
        let is_about_done = !may_change || self.function.acts() && free.asks_about_state();
        let asks_about_done =
            free.utterance().ends_as_question() && is_about_done && !values.is_empty() && called.is_some_and(&has_all);
        // "No, scale checkout to 3" tells nothing to a form that knows checkout.
        let is_repeated = read.said.tells_values_alone() && (has_all(self.form) || asks_about_done);
        let possible = FormEffects {
            tells: read.said.brings_something() && !ablation::holds("beside.is_repeated", is_repeated),
            declines: !self.asked.is_empty(),
            elsewhere: !elsewhere.frames.is_empty() && !asks_about_done,
            nothing: true,
        };
        WeighedEffects { input, possible, odds: DecisionModel::bundled().beside(&input, possible) }
    }

    fn evidence(&self, free: &Situation<'_>, read: &FormReading, elsewhere: &Elsewhere) -> BesideInput {
        let values = &read.said.values;
        let is_asked = |value: &&SlotValue| self.is_asked(value);
        let covered: Vec<Span> = values.iter().chain(&read.said.excluded).filter_map(|value| value.span).collect();
        let account = measure::account(free, self.id, &covered);
        let reply = free.analysis.reply;
        let words = |value: &SlotValue| value.text.as_deref().map_or(0, |text| text.split_whitespace().count());
        let odds = |probability: f32| log_odds(probability).clamp(-MOST_ODDS, MOST_ODDS);
        let act = free.speech_act();
        let turn = free.turn_act().unwrap_or_default();
        let recognized = flag(values.iter().any(|value| value.recognizer.is_some()));
        let least = values.iter().map(|value| value.confidence).reduce(f32::min);
        BesideInput {
            told: flag(read.said.brings_something()),
            asked_told: flag(values.iter().any(|value| is_asked(&value))),
            asked_recognized: flag(values.iter().filter(is_asked).any(|value| value.recognizer.is_some())),
            other_recognized: flag(values.iter().any(|value| !is_asked(&value) && value.recognizer.is_some())),
            replaces: flag(!values.is_empty() && values.iter().all(|value| self.has_other(value))),
            surest: least.map_or(0.0, odds),
            left: flag(read.leaves_words),
            explained: account.explained,
            left_over: account.left_over,
            long_text: flag(values.iter().any(|value| value.recognizer.is_none() && words(value) > FEW)),
            led: flag(values.iter().filter(is_asked).any(|value| self.is_led(free, value))),
            length: logarithm(free.utterance().words().len()),
            asks_back: flag(reply.asks_back()),
            question: flag(free.utterance().ends_as_question()),
            passes: flag(self.passes(free)),
            denies: flag(reply.answer == YesNo::Negative),
            affirms: flag(reply.answer == YesNo::Affirmative),
            moves: flag(self.has_acts()),
            act_question: act.map_or(0.0, |act| act.question),
            act_other: act.map_or(0.0, |act| act.other),
            act_reply: act.map_or(0.0, |act| act.reply),
            act_decline: act.map_or(0.0, |act| act.decline),
            turn_tells: turn.tells,
            turn_declines: turn.declines,
            turn_nothing: turn.nothing,
            other_meant: odds(elsewhere.meant),
            other_score: odds(elsewhere.score),
            other_lead: elsewhere.lead,
            other_kind: flag(elsewhere.is_other_kind),
            other_unexplained: flag(elsewhere.is_unexplained),
            other_explained: elsewhere.known.explained,
            other_left_over: elsewhere.known.left_over,
            other_values: elsewhere.known.recognized,
            anything: odds(elsewhere.anything),
            confirms: flag(self.corrects),
            optional: flag(self.is_optional()),
            free: flag(self.asks_for_any_words()),
            confirms_told: flag(self.corrects && read.said.brings_something()),
            recognized_turn_tells: recognized * turn.tells,
            recognized_turn_nothing: recognized * turn.nothing,
            recognized_other_meant: recognized * odds(elsewhere.meant),
        }
    }

    /// What the utterance asks for by itself, other than the form.
    pub(crate) fn elsewhere(&self, free: &Situation<'_>) -> Elsewhere {
        if ablation::holds("beside.answered", answered::answered(free).is_some()) {
            return Elsewhere::default();
        }
        // Without the form, it is judged like any utterance.
        let nothing = Expected::default();
        let decision = local::decide(&Situation { expected: &nothing, ..*free });
        let is_nothing = matches!(decision.outcome, Outcome::NoMatch);
        let anything = match is_nothing {
            true => 1.0 - decision.confidence,
            false => decision.frames.iter().map(|frame| frame.confidence).fold(decision.confidence, f32::max),
        };
        if decision.outcome.is_tie() {
            return Elsewhere { anything, ..Elsewhere::default() };
        }
        let acts = |frame: &Frame| self.module.function(frame.function).acts();
        let is_confirmed = matches!(decision.outcome, Outcome::Ask(Pending::Confirm { .. }));
        let is_doubtful = is_nothing || is_confirmed && decision.frames.iter().any(acts);
        // An utterance that is too weak to be a request by itself may still be one, if it has more words than values, no
        // value is in doubt, and the question cannot be answered in any words.
        let is_weak = is_nothing && !self.asks_for_any_words();
        let likeliest = decision.alternatives.first().filter(|_| is_weak).map(|one| one.frame.clone());
        let doubts = |frame: &Frame| frame.slots.iter().any(|value| value.confidence < bars().doubtful_value);
        let likeliest = likeliest.filter(|frame| !doubts(frame) && self.says_more(free, frame));
        let mut frames: Vec<Frame> = decision.frames.into_iter().chain(likeliest).collect();
        let is_several = frames.len() > 1;
        frames.retain(|frame| frame.function != self.id && (!is_several || self.is_unexplained(free, frame)));
        let Some(best) = frames.iter().max_by(|one, other| one.confidence.total_cmp(&other.confidence)) else {
            return Elsewhere { anything, ..Elsewhere::default() };
        };
        // The decision model does not know the open form, and the score does not know what is said beyond the function.
        let candidate = |function: FunctionId| free.candidates().iter().find(|one| one.function == function);
        let score = candidate(best.function).map_or(0.0, |candidate| by_score(free, candidate));
        let scored = |function: FunctionId| candidate(function).map_or(0.0, |candidate| candidate.score);
        let lead = scored(best.function) - scored(self.id);
        let is_other_kind = self.takes_no_such(best);
        let is_unexplained = self.is_unexplained(free, best);
        let weighed = decision.alternatives.iter().find(|one| one.function == best.function);
        let known = weighed.map(|one| one.features).unwrap_or_default();
        Elsewhere {
            is_doubtful,
            anything,
            meant: best.confidence,
            score,
            lead,
            is_other_kind,
            is_unexplained,
            known,
            frames,
        }
    }

    fn asks_for_any_words(&self) -> bool {
        self.asked_slots().iter().any(|slot| self.function.slot(*slot).takes_any_words())
    }

    /// A recognizer found a value for it that is of a kind the form does not take.
    fn takes_no_such(&self, frame: &Frame) -> bool {
        let takes = |name: &str| {
            let mut recognizers = self.function.slots.iter().flat_map(|slot| &slot.recognizers);
            recognizers.any(|id| self.module.recognizer(*id).name == name)
        };
        frame.slots.iter().filter_map(|slot| slot.recognizer.as_deref()).any(|name| !takes(name))
    }

    /// True if the words ask for another function by more than what might as well be said to the form. They ask a
    /// question, give a value of a kind that the form does not take, or have words beside the values that the form's
    /// exemplars do not have.
    fn is_unexplained(&self, free: &Situation<'_>, frame: &Frame) -> bool {
        free.analysis.reply.leaves_open() || self.takes_no_such(frame) || self.says_more(free, frame)
    }

    /// Beside the values, it has words that the form's exemplars do not have.
    fn says_more(&self, free: &Situation<'_>, frame: &Frame) -> bool {
        let values: Vec<Span> = frame.slots.iter().chain(&frame.excluded).filter_map(|slot| slot.span).collect();
        let own = own_words(self.module, self.id);
        let is_more = |word: &Span| {
            let text = free.utterance().slice(*word);
            !values.iter().any(|span| span.overlaps(*word))
                && !asked::is_answer_word(free, *word)
                && !reply::says_nothing(self.module.language(), text)
                && !own.contains(&fold(text))
        };
        let is_within = |word: &&Span| frame.segment.overlaps(**word);
        free.utterance().words().iter().filter(is_within).any(is_more)
    }

    /// "It's called The Long Road": only words that lead to an answer stand before the value.
    fn is_led(&self, free: &Situation<'_>, value: &SlotValue) -> bool {
        let first = free.utterance().words().first().map_or(0, |word| word.start);
        let core = carrier::core(self.module.language(), free.utterance());
        let lead = free.utterance().slice(Span::new(first, core.start.max(first))).trim();
        let is_phrase = lead.contains([' ', '\'', '’']);
        is_phrase && value.span.is_some_and(|span| core.overlaps(span))
    }
}
