//! An utterance after a call that only changes values: "and in Bergen?", "the same for Tulsa", "sorry, Maple Street 4".
//! It means the last call once more, with the values that it names.

use crate::{
    ablation,
    call::{SlotValue, kin},
    conversation::{Act, End, Form, FormUpdate, Origin, UpdateMode, merge::CERTAIN, policy::changing},
    decide::{
        bars::bars,
        carrier,
        reading::Reading,
        situation::Situation,
        vocabulary::{own_words, words_of},
    },
    dialogue::{
        form_reading::FormReading,
        interpretation::{Dialogue, Interpretation},
        open_form::{self, OpenForm, PLAIN, said},
    },
    language::Language,
    module::SlotPath,
    probability::EVEN,
    recognize::{
        acts::{ACTS, MoveKind},
        certainty::Certainty,
        reply::{self, YesNo, says_nothing},
    },
    text::Span,
};

/// For how many turns a call may be followed up.
const RECENT: u32 = 3;
/// How sure it is that an utterance of values alone follows up a call.
const KNOWN: Certainty = Certainty::Clear;

/// `request` is the utterance read by itself; it is returned unless there is evidence that the last call is meant.
pub(crate) fn follow_up(dialogue: &Dialogue<'_>, request: Interpretation) -> Interpretation {
    let Some(called) = last_call(dialogue) else { return request };
    if ablation::holds("follow_up.asked_about", called.is_asked_about(dialogue, &request)) {
        let notes = vec!["it asks about the last call, which is told".to_owned()];
        return Interpretation { notes, ..Interpretation::of(vec![Act::Recount], KNOWN.score()) };
    }
    let ellipsis = Ellipsis::new(dialogue, called);
    let with =
        |origin: Origin| move |(said, confidence): (FormUpdate, f32)| (FormUpdate { origin, ..said }, confidence);
    let is_request = called.function.acts() && !called.is_corrected(dialogue) && ellipsis.is_request(&request);
    if ablation::holds("follow_up.request", is_request) {
        return ellipsis.of_last_call(request);
    }
    let first = if called.is_corrected(dialogue) { Origin::Correction } else { Origin::FollowUp };
    let found = ablation::found("follow_up.values", ellipsis.values(&request))
        .map(with(first))
        .or_else(|| {
            let corrected = corrected(dialogue, &called, &request);
            ablation::found("follow_up.corrected", corrected).map(with(Origin::Correction))
        })
        .or_else(|| {
            let supplement = ellipsis.supplement(dialogue, &request);
            ablation::found("follow_up.supplement", supplement).map(with(Origin::Addition))
        });
    let Some((said, confidence)) = found else { return ellipsis.of_last_call(request) };
    let (act, note) = match called.changed(dialogue, &said) {
        Some(change) => (change, "what was called last is changed by another function"),
        None => (Act::Again { said }, "it is the last call once more, but for what is said"),
    };
    Interpretation {
        requests: request.requests,
        alternatives: request.alternatives,
        notes: vec![note.to_owned()],
        ..Interpretation::of(vec![act], confidence)
    }
}

impl OpenForm<'_> {
    /// True if the person takes back what was called: "no wait, 40".
    fn is_corrected(&self, dialogue: &Dialogue<'_>) -> bool {
        let corrects = |kind: MoveKind| {
            matches!(kind, MoveKind::Correct | MoveKind::Change { to: Some(_), .. } | MoveKind::Replace { .. })
        };
        let is_denied = dialogue.situation.analysis.reply.answer == YesNo::Negative;
        is_denied || self.acts().any(|one| corrects(one.kind))
    }

    /// True if the utterance asks what was done by a function that acts. A request for another function takes
    /// precedence.
    fn is_asked_about(&self, dialogue: &Dialogue<'_>, request: &Interpretation) -> bool {
        let is_same = |act: &Act| matches!(act, Act::Inform { function, .. } if *function == self.id);
        let situation = &dialogue.situation;
        if !self.function.acts() {
            return false;
        }
        if self.names_what_was_called(situation) {
            return true;
        }
        if !request.acts.iter().all(is_same) || !request.tied.is_empty() {
            return false;
        }
        let recalls = self.acts().any(|one| one.kind == MoveKind::Recall);
        recalls || situation.asks_what_was_done() || !request.acts.is_empty() && situation.asks_about_state()
    }

    /// "75, right?": a question that only repeats values of the last call.
    fn names_what_was_called(&self, situation: &Situation<'_>) -> bool {
        let (utterance, language) = (situation.utterance(), self.module.language());
        let known: Vec<String> =
            self.form.slots.iter().filter_map(|slot| slot.text.as_deref()).flat_map(words_of).collect();
        let is_tag = |word: &str| {
            says_nothing(language, word)
                || matches!(reply::read(language, None, word).answer, YesNo::Affirmative | YesNo::Negative)
        };
        let said: Vec<String> = utterance.words().iter().map(|word| utterance.folded_in(*word)).collect();
        let mut content = said.iter().filter(|word| !is_tag(word.as_str())).peekable();
        utterance.ends_as_question() && content.peek().is_some() && content.all(|word| known.contains(word))
    }

    /// The utterance as a change of the last call, if an author declared which function makes changes.
    fn changed(&self, dialogue: &Dialogue<'_>, said: &FormUpdate) -> Option<Act> {
        if !matches!(said.origin, Origin::Correction | Origin::Addition) {
            return None;
        }
        let module = dialogue.module();
        let id = module.function_named(changing(self.function, module)?)?;
        let is_allowed = dialogue.among.is_none_or(|among| among.contains(&id));
        let own = Situation { given: Some(id), is_meant: true, ..dialogue.situation };
        let (frame, _) = Reading::new(&own, id).judged(&own);
        let mut change = open_form::said(&frame, self.state.turn, None);
        let function = module.function(id);
        // A slot with the same name in both functions keeps its known value, if nothing else is said about it.
        for value in said.values.iter().chain(&self.form.slots) {
            let is_known = change.values.iter().any(|known| known.pointer == value.pointer);
            let is_slot = function.slots.iter().any(|slot| slot.path.holds(&value.pointer));
            if is_slot && !is_known {
                change.values.push(value.clone());
            }
        }
        change.origin = Origin::Change;
        change.invalid.clear();
        is_allowed.then_some(Act::Inform { function: id, said: change, another: true })
    }
}

/// What was called just before, if it may be chosen and nothing was asked since.
fn last_call<'a>(dialogue: &Dialogue<'a>) -> Option<OpenForm<'a>> {
    let state = dialogue.state;
    let form: &Form = state.last_call.as_ref().filter(|_| state.is_idle())?;
    let is_recent = state.finished.last().is_some_and(|last| {
        last.function == form.function && last.end == End::Called && last.turn + RECENT >= state.turn
    });
    let id = dialogue.module().function_named(&form.function).filter(|_| is_recent)?;
    let may_be = dialogue.among.is_none_or(|among| among.contains(&id));
    may_be.then(|| OpenForm { asked: &[], corrects: true, ..dialogue.reading(id, form) })
}

/// An utterance that gives only values and leaves out the rest, which was said before.
struct Ellipsis<'a> {
    situation: Situation<'a>,
    called: OpenForm<'a>,
}

impl<'a> Ellipsis<'a> {
    fn new(dialogue: &Dialogue<'a>, called: OpenForm<'a>) -> Self {
        let situation = Situation { given: Some(called.id), is_meant: true, ..dialogue.situation };
        Self { situation, called }
    }

    fn is_cue(&self, word: Span) -> bool {
        let word = self.situation.utterance().folded_in(word);
        Language::of(self.called.module.language()).is_some_and(|language| language.words.is_follow_up(&word))
    }

    /// The words that say something, except those that refer to the last call.
    fn content(&self) -> Vec<Span> {
        let utterance = self.situation.utterance();
        let language = self.called.module.language();
        let says = |word: &&Span| !says_nothing(language, &utterance.meant(**word)) && !self.is_cue(**word);
        utterance.words().iter().filter(says).copied().collect()
    }

    /// True if the same function is asked for again: all required values are said, and more than values.
    fn is_request(&self, request: &Interpretation) -> bool {
        let mut values: Vec<&SlotValue> = Vec::new();
        for act in &request.acts {
            match act {
                Act::Inform { function, said, .. } if *function == self.called.id => values.extend(&said.values),
                _ => return false,
            }
        }
        let is_value = |word: &Span| values.iter().filter_map(|value| value.span).any(|span| span.overlaps(*word));
        let is_said = |path: &SlotPath| values.iter().any(|value| path.holds(&value.pointer));
        let mut required = self.called.function.slots.iter().filter(|slot| slot.required);
        !request.acts.is_empty()
            && request.meant >= bars().otherwise
            && required.all(|slot| is_said(&slot.path))
            && self.content().iter().any(|word| !is_value(word))
    }

    /// "I thought 25 dollars": values, with words that neither the author nor the schema uses, do not ask for a new
    /// call of a function that acts. They are about the last call.
    fn of_last_call(&self, mut request: Interpretation) -> Interpretation {
        let own = own_words(self.called.module, self.called.id);
        let utterance = self.situation.utterance();
        let is_of_it = |said: &FormUpdate| {
            let spans: Vec<Span> = said.values.iter().filter_map(|value| value.span).collect();
            let is_value = |word: &Span| spans.iter().any(|span| span.overlaps(*word));
            let is_own = |word: &Span| {
                let word = utterance.folded_in(*word);
                own.iter().any(|known| kin(known, &word))
            };
            !self.content().iter().any(|word| !is_value(word) && is_own(word))
        };
        for act in &mut request.acts {
            if let Act::Inform { function, said, .. } = act
                && *function == self.called.id
                && self.called.function.acts()
                && is_of_it(&*said)
            {
                said.origin = Origin::FollowUp;
            }
        }
        request
    }

    /// Reads the utterance if it has only values of that function, each for a slot that had a value or may have one.
    fn values(&self, request: &Interpretation) -> Option<(FormUpdate, f32)> {
        let reading = Reading::new(&self.situation, self.called.id);
        let mut found = said(&reading.judged(&self.situation).0, self.called.state.turn, None);
        let had = |pointer: &str| self.called.form.has(&SlotPath::of_pointer(pointer));
        let is_meant = self.refers() && !self.is_other(request);
        let least = if ablation::holds("follow_up.refers", is_meant) { EVEN } else { CERTAIN.score() };
        let is_plain =
            |value: &SlotValue| value.recognizer.is_some() || had(&value.pointer) && value.confidence >= least;
        if found.values.is_empty() || !found.invalid.is_empty() || !found.values.iter().all(is_plain) {
            return None;
        }
        let values = reading.account(&self.situation);
        // "What about seven days?" may contain the function's own words if it asks for nothing else and lacks values
        // that a new request needs. In that case it may also contain words of slot descriptions: "to the same day". Any
        // follow-up may have the function's own words right before a value: "und am 21.?"
        let own = own_words(self.called.module, self.called.id);
        let had_slots = self.called.function.slots.iter().filter(|slot| self.called.form.has(&slot.path));
        let described: Vec<String> = had_slots.flat_map(|slot| words_of(&slot.description)).collect();
        let lacks_the_rest = self.lacks_the_rest(request, &found);
        let words = self.situation.utterance().words();
        let leads = |word: &Span| {
            let next = words.iter().find(|next| next.start >= word.end);
            next.is_some_and(|next| values.iter().any(|span| span.overlaps(*next)))
        };
        let is_value = |word: &Span| {
            let said = self.situation.utterance().folded_in(*word);
            let is_joined = || values.iter().any(|span| self.is_written_to(*span, *word));
            values.iter().any(|span| span.overlaps(*word))
                || ablation::holds("follow_up.written_to", is_joined())
                || ablation::holds("follow_up.own_word", lacks_the_rest && own.contains(&said))
                || ablation::holds("follow_up.leading_word", leads(word) && own.contains(&said))
                || ablation::holds("follow_up.described", lacks_the_rest && described.contains(&said))
        };
        let confidence = found.values.iter().map(|value| value.confidence).fold(KNOWN.score(), f32::min);
        found.manner = UpdateMode::Correct;
        // If only one of a title and an author is replaced, the other may have to change as well.
        let keeps_text = self.called.texts().any(|slot| {
            let path = &self.called.function.slot(slot).path;
            found.values.iter().all(|value| SlotPath::of_pointer(&value.pointer) != *path)
        });
        let is_doubtful =
            |value: &SlotValue| value.recognizer.is_none() && (keeps_text || value.confidence < CERTAIN.score());
        found.is_doubtful = found.values.iter().any(is_doubtful);
        self.content().iter().all(is_value).then_some((found, confidence))
    }

    /// Some words refer to what was said before: "and Quito?", "the same for Tulsa".
    fn refers(&self) -> bool {
        let words = self.situation.utterance().words();
        let first = words.first().map(|word| self.situation.utterance().folded_in(*word));
        let joints = Language::of(self.called.module.language()).map(|language| &language.words.joints.conjunctions);
        let is_joined = first.is_some_and(|first| joints.is_some_and(|joints| joints.contains(&first)));
        is_joined || words.iter().any(|word| self.is_cue(*word))
    }

    /// By itself, the utterance asks for another function.
    fn is_other(&self, request: &Interpretation) -> bool {
        let is_same = |act: &Act| matches!(act, Act::Inform { function, .. } if *function == self.called.id);
        request.meant >= EVEN && !request.acts.iter().all(is_same)
    }

    /// The word and the value are written as one: the "WL" of "WL-20418".
    fn is_written_to(&self, value: Span, word: Span) -> bool {
        let utterance = self.situation.utterance();
        let (from, to) = if word.end <= value.start { (word.end, value.start) } else { (value.end, word.start) };
        from <= to && !utterance.slice(Span::new(from, to)).contains(|c: char| c.is_whitespace() || c.is_alphanumeric())
    }

    /// By itself, the utterance asks only for the same function, and lacks a value that the function requires.
    fn lacks_the_rest(&self, request: &Interpretation, found: &FormUpdate) -> bool {
        let is_same = |act: &Act| matches!(act, Act::Inform { function, .. } if *function == self.called.id);
        let is_said = |path: &SlotPath| found.values.iter().any(|value| SlotPath::of_pointer(&value.pointer) == *path);
        let mut required = self.called.function.slots.iter().filter(|slot| slot.required);
        request.acts.iter().all(is_same) && required.any(|slot| !is_said(&slot.path))
    }

    /// The utterance adds a value to what was called, or replaces one: "the depth is two metres", "it's for Lena".
    fn supplement(&self, dialogue: &Dialogue<'_>, request: &Interpretation) -> Option<(FormUpdate, f32)> {
        let analysis = self.situation.analysis;
        // "It's the joint account" tells something, whatever function it may resemble.
        let core = carrier::core(self.called.module.language(), self.situation.utterance());
        let is_told = self.situation.utterance().words().first().is_some_and(|first| first.start < core.start);
        let is_tied = !request.tied.is_empty() && !is_told;
        if self.is_other(request) || is_tied || analysis.reply.leaves_open() || analysis.acts.courtesy.is_some() {
            return None;
        }
        let called = OpenForm { corrects: false, ..self.called };
        let FormReading { mut said, leaves_words, .. } = called.read(&self.situation);
        let is_sure = |value: &SlotValue| value.recognizer.is_some() || value.confidence >= PLAIN.score();
        let is_whole = !leaves_words && said.invalid.is_empty() && said.removed.is_empty();
        if said.values.is_empty() || !is_whole || !said.values.iter().all(is_sure) {
            return None;
        }
        // By itself it is a request, and all required values are said.
        if !request.acts.is_empty() && !self.lacks_the_rest(request, &said) {
            return None;
        }
        if said.manner == UpdateMode::Fill {
            said.manner = UpdateMode::Correct;
        }
        said.turn = dialogue.state.turn;
        let confidence = said.values.iter().map(|value| value.confidence).fold(KNOWN.score(), f32::min);
        Some((said, confidence))
    }
}

/// The person takes back a value of the call: "sorry, Maple Street 4, I mistyped".
fn corrected(dialogue: &Dialogue<'_>, called: &OpenForm<'_>, request: &Interpretation) -> Option<(FormUpdate, f32)> {
    let corrects = |kind: MoveKind| {
        matches!(kind, MoveKind::Correct | MoveKind::Change { to: Some(_), .. } | MoveKind::Replace { .. })
    };
    let is_correction = called.acts().any(|one| corrects(one.kind));
    // Words that correct a function that acts do not ask for a new call: "no wait, send 40".
    let is_same = |act: &Act| matches!(act, Act::Inform { function, .. } if *function == called.id);
    let is_other = !called.function.acts() || !request.acts.iter().all(is_same);
    let is_request = !request.acts.is_empty() && request.meant >= bars().otherwise && is_other;
    if !is_correction || is_request {
        return None;
    }
    let own = Situation { given: Some(called.id), is_meant: true, ..dialogue.situation };
    let read = called.read(&own);
    let is_valid = read.said.invalid.is_empty() && !read.said.values.is_empty();
    is_valid.then_some((FormUpdate { manner: UpdateMode::Correct, ..read.said }, ACTS))
}
