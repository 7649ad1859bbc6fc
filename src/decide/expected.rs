//! What the utterance may be an answer to: what was just asked for, and what somebody else's recognizers found in it.
//!
//! Three things follow from an expectation. An exemplar with a context speaks only where that is expected. An expected
//! function is preferred where the words alone leave little between it and another. And a short utterance that says
//! nothing but a value of an expected slot ("two", "the margherita please") is an answer, whatever else its words
//! resemble.

use crate::{
    decide::{align::Filling, carrier as around, reading::Reading, situation::Situation},
    language::{Language, facts::is_unspaced_language},
    module::{
        Exemplar, ExemplarId, Function, FunctionId, Module, RecognizerId, RecognizerKind, Slot, SlotId, SlotKind,
        alike, squeeze,
    },
    recognize::{
        Mention,
        reply::{self as yes_no, YesNo},
    },
    retrieve::{Candidate, Source},
    text::{Span, Utterance, fold},
};

/// Score that a function gains for being expected, and for an exemplar that speaks in just this context. The odds of two
/// functions double with every 0.03.
const PREFERRED: f32 = 0.04;
const IN_CONTEXT: f32 = 0.06;
/// Words of an answer that is free text, at most.
const SHORT: usize = 5;
/// Words of a whole utterance that is one value, at most, and how sure it is.
const LONG: usize = 12;
const WHOLE: f32 = 0.6;
/// The same of a number where one was asked for.
const NUMBER: f32 = 0.95;
/// Words that an answer may have beside its values ("make it five"), and how much higher another function must score to
/// be clearly meant.
const BESIDE: usize = 1;
const CLEARLY: f32 = 0.1;
/// A slot whose values could be any words is answered by words that any function is meant by with less than this.
const OTHERWISE: f32 = 0.6;

/// One thing that was asked for, as whoever asked calls it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// A function's name, or one of a frame that the module does not have.
    pub frame: String,
    /// A slot's label; `None` if anything of the frame may be answered.
    pub slot: Option<String>,
}

/// Everything that was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    asked: Vec<Asked>,
    functions: Vec<FunctionId>,
    slots: Vec<(FunctionId, SlotId)>,
}

/// What somebody else's recognizer found; it need not be right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hint {
    /// Of the slot that it may be a value of.
    pub label: String,
    /// Words of the utterance; without effect if they do not stand there.
    pub text: String,
}

impl Expected {
    /// Names that the module does not have still hold as contexts of its exemplars.
    #[must_use]
    pub fn new(module: &Module, asked: Vec<Asked>) -> Self {
        let mut expected = Self::default();
        for one in &asked {
            let Some(function) = module.function_alike(&one.frame) else { continue };
            if !expected.functions.contains(&function) {
                expected.functions.push(function);
            }
            let slot = one.slot.as_deref().and_then(|label| module.function(function).slot_labelled(label));
            expected.slots.extend(slot.map(|slot| (function, slot)));
        }
        Self { asked, ..expected }
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    #[must_use]
    pub fn functions(&self) -> &[FunctionId] {
        &self.functions
    }

    pub(crate) fn slots_of(&self, function: FunctionId) -> Vec<SlotId> {
        self.slots.iter().filter(|(of, _)| *of == function).map(|(_, slot)| *slot).collect()
    }

    /// The slots that were asked for, as their authors describe them; `None` if none was.
    pub(crate) fn in_words(&self, module: &Module) -> Option<String> {
        let described = self.slots.iter().map(|(function, slot)| {
            let slot = module.function(*function).slot(*slot);
            let description = slot.description.trim();
            let path = slot.path.to_string();
            if description.is_empty() { path } else { format!("{path} ({description})") }
        });
        let described: Vec<String> = described.collect();
        (!described.is_empty()).then(|| described.join(", "))
    }

    /// The exemplars whose context does not hold.
    pub(crate) fn silent(&self, module: &Module) -> Vec<(FunctionId, ExemplarId)> {
        let silent = module.contextual().filter(|(.., exemplar)| !self.holds(exemplar));
        silent.map(|(function, id, _)| (function, id)).collect()
    }

    /// Whether the context of an exemplar holds; true of one without a context.
    fn holds(&self, exemplar: &Exemplar) -> bool {
        if exemplar.context_frame.is_none() && exemplar.context_slot.is_none() {
            return true;
        }
        let is_frame = |asked: &Asked| exemplar.context_frame.as_deref().is_none_or(|frame| alike(frame, &asked.frame));
        let is_slot = |asked: &Asked| match (&exemplar.context_slot, &asked.slot) {
            (None, _) => true,
            (Some(context), Some(slot)) => squeeze(context) == squeeze(slot),
            // Anything of the frame may be answered.
            (Some(_), None) => exemplar.context_frame.is_some(),
        };
        self.asked.iter().any(|asked| is_frame(asked) && is_slot(asked))
    }

    /// Expected functions that are not among the candidates and may be chosen.
    pub(crate) fn unseen(&self, candidates: &[Candidate], among: Option<&[FunctionId]>) -> Vec<FunctionId> {
        let is_seen = |function: &FunctionId| candidates.iter().any(|candidate| candidate.function == *function);
        let may_be = |function: &FunctionId| among.is_none_or(|among| among.contains(function));
        self.functions.iter().filter(|function| !is_seen(function) && may_be(function)).copied().collect()
    }

    /// Gives the candidates the scores and the order that they have where this is expected.
    pub(crate) fn prefer(&self, module: &Module, candidates: &mut [Candidate]) {
        if self.is_empty() {
            return;
        }
        for candidate in candidates.iter_mut().filter(|candidate| candidate.score > 0.0) {
            let speaks_here = candidate.evidence.first().filter(|best| match best.source {
                Source::Exemplar { id, .. } => {
                    let exemplar = &module.function(candidate.function).exemplars[id.index()];
                    exemplar.context_frame.is_some() || exemplar.context_slot.is_some()
                }
                Source::Description => false,
            });
            // As much as it is like what was said.
            candidate.score += speaks_here.map_or(0.0, |best| IN_CONTEXT * best.score);
            if self.functions.contains(&candidate.function) {
                candidate.score += PREFERRED;
            }
            candidate.score = candidate.score.min(1.0);
        }
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.function.cmp(&b.function)));
    }
}

impl Hint {
    /// Where its words stand in the utterance, as whole words; case and accents do not count.
    #[must_use]
    pub fn spans(&self, utterance: &Utterance) -> Vec<Span> {
        let wanted = fold(self.text.trim());
        if wanted.is_empty() {
            return Vec::new();
        }
        let words = utterance.words();
        let found = utterance.folded().match_indices(&wanted).map(|(at, _)| {
            let span = utterance.span_of_folded(at..at + wanted.len());
            let cuts = words.iter().any(|word| word.overlaps(span) && !span.contains(*word));
            (!cuts).then_some(span)
        });
        found.flatten().collect()
    }
}

/// The expected function that the whole utterance answers for, read as such; `None` if it says anything else.
///
/// It must give a value of an expected slot (of any slot, if only a function is expected) that a recognizer knows, and
/// beside values nothing but words of the function's own exemplars and slots, or such as say nothing. A slot that may be
/// any words is answered by a few words that no function is likely meant by.
pub(crate) fn answered<'a>(situation: &Situation<'a>) -> Option<Reading<'a>> {
    let module = &situation.knowledge.module;
    situation.expected.functions.iter().find_map(|function| {
        let own = situation.candidates().iter().find(|candidate| candidate.function == *function)?;
        let slots = situation.expected.slots_of(*function);
        let reading = Reading::new(situation, *function);
        let answers = reading.spans_of(&slots);
        let knows = |span: &Span| {
            let is_hint = |label: &str| module.function(*function).slot_labelled(label).is_some();
            situation.mentions().iter().any(|mention: &Mention| span.contains(mention.span))
                || situation
                    .hints
                    .iter()
                    .any(|hint| is_hint(&hint.label) && hint.spans(situation.utterance()).contains(span))
        };
        let is_known = answers.iter().any(knows);
        let is_free = || {
            !slots.is_empty()
                && !answers.is_empty()
                && is_short(situation, *function, &slots)
                && (is_new(situation) || names(situation, *function, &slots))
        };
        if !is_known && !is_free() || asks_otherwise(situation, own, &reading) {
            return None;
        }
        (!leaves_words(situation, &reading)).then_some(reading)
    })
}

/// The whole utterance, but for empty talk around it, as the value of the only slot that was asked for: where that may be
/// any words, no recognizer found anything, and what alignment makes of the words leaves some unaccounted for.
pub(crate) fn whole_answer(
    situation: &Situation<'_>,
    function: FunctionId,
    awaited: &[SlotId],
    fillings: &[Filling],
) -> Option<Filling> {
    let module = &situation.knowledge.module;
    let &[slot] = awaited else { return None };
    let definition = module.function(function).slot(slot);
    let is_list = |id: &RecognizerId| matches!(module.recognizer(*id).kind, RecognizerKind::List(_));
    let core = core(situation, function, awaited);
    // A number alone is said of a slot of numbers, whatever its recognizers want around it.
    let is_number = || situation.utterance().slice(core).trim().parse::<f64>().is_ok();
    let is_open = match definition.kind {
        SlotKind::String | SlotKind::Any => definition.choices.is_empty() && definition.recognizers.iter().all(is_list),
        SlotKind::Integer | SlotKind::Number => is_number(),
        SlotKind::Boolean => false,
    };
    let words = situation.utterance().words();
    let says_nothing = |word: &Span| yes_no::says_nothing(language(module), situation.utterance().slice(*word));
    let own = own_words(module, function);
    let words: Vec<Span> = words.iter().filter(|word| core.overlaps(**word)).copied().collect();
    // Without spaces, what any slot could be is taken for one that nobody asked for all too easily.
    let is_other = |filling: &Filling| is_unspaced_language(language(module)) && filling.slot != slot;
    let is_unaccounted = |word: &&Span| {
        let is_filled = fillings.iter().any(|filling| filling.span.overlaps(**word) && !is_other(filling));
        !is_filled && !says_nothing(word) && !own.contains(&fold(situation.utterance().slice(**word)))
    };
    if matches!(definition.kind, SlotKind::Integer | SlotKind::Number) && is_number() {
        return Some(Filling { slot, span: core, anchor: None, confidence: NUMBER });
    }
    if !is_open
        || around::words_in(situation.utterance(), core) > LONG
        || !words.iter().any(|word| is_unaccounted(&word))
    {
        return None;
    }
    let first = words.iter().find(|word| !says_nothing(word))?;
    let last = words.iter().rev().find(|word| !says_nothing(word))?;
    Some(Filling { slot, span: Span::new(first.start, last.end), anchor: None, confidence: WHOLE })
}

/// True of words that fill a slot which was asked for and say nothing: "uh".
pub(crate) fn is_empty_talk(situation: &Situation<'_>, awaited: &[SlotId], filling: &Filling) -> bool {
    let says_nothing =
        |word: &Span| yes_no::says_nothing(language(&situation.knowledge.module), situation.utterance().slice(*word));
    awaited.contains(&filling.slot)
        && situation.utterance().words().iter().filter(|word| filling.span.contains(**word)).all(says_nothing)
}

/// True if a word belongs to no value and could: it is none of the function's own, and no empty one.
pub(crate) fn leaves_words(situation: &Situation<'_>, reading: &Reading<'_>) -> bool {
    let module = &situation.knowledge.module;
    let covered = reading.spans_of(&[]);
    let own = own_words(module, reading.function);
    let core = core(situation, reading.function, &situation.expected.slots_of(reading.function));
    let is_plain = |word: &Span| {
        let folded = fold(situation.utterance().slice(*word));
        !core.overlaps(*word)
            || is_answer_word(situation, *word)
            || covered.iter().any(|span| span.overlaps(*word))
            || situation.negations().iter().any(|one| one.cue.overlaps(*word))
            || yes_no::says_nothing(language(module), &folded)
            || own.contains(&folded)
    };
    !situation.utterance().words().iter().all(is_plain)
}

/// True of the yes or no before what else is said: "Yes. I wear a nine".
pub(crate) fn is_answer_word(situation: &Situation<'_>, word: Span) -> bool {
    let reply = situation.analysis.reply;
    matches!(reply.answer, YesNo::Affirmative | YesNo::Negative)
        && reply.rest.is_some_and(|rest| word.end <= rest.start)
}

/// True if a slot that was asked for has no value; of no such slot, if a required one has none.
pub(crate) fn lacks_values(situation: &Situation<'_>, reading: &Reading<'_>) -> bool {
    let definition = situation.knowledge.module.function(reading.function);
    let expected = situation.expected.slots_of(reading.function);
    let is_empty = |slot: &SlotId| reading.spans_of(&[*slot]).is_empty();
    if expected.is_empty() {
        return definition.slot_ids().any(|slot| definition.slot(slot).required && is_empty(&slot));
    }
    expected.iter().any(is_empty)
}

/// Another function is clearly meant, by more than one word beside the values.
fn asks_otherwise(situation: &Situation<'_>, own: &Candidate, reading: &Reading<'_>) -> bool {
    let covered = reading.spans_of(&[]);
    let core = core(situation, reading.function, &situation.expected.slots_of(reading.function));
    let says = |word: &&Span| {
        let text = situation.utterance().slice(**word);
        core.overlaps(**word)
            && !covered.iter().any(|span| span.overlaps(**word))
            && !yes_no::says_nothing(language(&situation.knowledge.module), text)
    };
    let leads = situation.candidates().first().is_some_and(|best| best.score - own.score >= CLEARLY);
    leads && situation.scope() >= OTHERWISE && situation.utterance().words().iter().filter(says).count() > BESIDE
}

fn is_short(situation: &Situation<'_>, function: FunctionId, slots: &[SlotId]) -> bool {
    around::words_in(situation.utterance(), core(situation, function, slots)) <= SHORT
}

/// The part of the utterance that is not only said around an answer for these slots.
fn core(situation: &Situation<'_>, function: FunctionId, slots: &[SlotId]) -> Span {
    core_of(situation.utterance(), situation, function, slots)
}

fn core_of(utterance: &Utterance, situation: &Situation<'_>, function: FunctionId, slots: &[SlotId]) -> Span {
    let module = &situation.knowledge.module;
    let definition = module.function(function);
    let names = slots.iter().flat_map(|slot| {
        let slot = definition.slot(*slot);
        std::iter::once(slot.description.as_str())
            .chain(slot.question.as_ref().and_then(|own| own.in_language(language(module))))
    });
    around::core(language(module), utterance, &names.collect::<Vec<_>>())
}

/// No function is likely meant.
fn is_new(situation: &Situation<'_>) -> bool {
    situation.scope() < OTHERWISE
}

/// One of the slots is named: "the name is Rossi".
fn names(situation: &Situation<'_>, function: FunctionId, slots: &[SlotId]) -> bool {
    let definition = situation.knowledge.module.function(function);
    let said: Vec<String> =
        situation.utterance().words().iter().map(|word| fold(situation.utterance().slice(*word))).collect();
    slots.iter().any(|slot| words_of(definition.slot(*slot).label()).iter().any(|word| said.contains(word)))
}

/// The slots of the function that were asked for; none if the utterance is a yes, a no or a question in return, which
/// are no values.
pub(crate) fn awaited(situation: &Situation<'_>, function: FunctionId) -> Vec<SlotId> {
    let slots = situation.expected.slots_of(function);
    if slots.is_empty() {
        return slots;
    }
    let reply = yes_no::read(language(&situation.knowledge.module), None, situation.utterance().text());
    let is_value = reply.answer == YesNo::Irrelevant && reply.confidence < yes_no::QUITE_SURE;
    if !is_value || is_polite_question(language(&situation.knowledge.module), situation.utterance().text()) {
        return Vec::new();
    }
    slots.into_iter().filter(|slot| !is_said_of_others(situation, function, *slot)).collect()
}

/// True of a yes or a no alone, and of a question in return: no words of it are a value.
pub(crate) fn is_no_value(situation: &Situation<'_>) -> bool {
    let text = situation.utterance().text();
    let reply = yes_no::read(language(&situation.knowledge.module), None, text);
    let is_reply = match reply.answer {
        YesNo::Irrelevant => reply.confidence >= yes_no::QUITE_SURE,
        YesNo::Affirmative | YesNo::Negative | YesNo::Indifferent => reply.rest.is_none(),
    };
    is_reply || is_polite_question(language(&situation.knowledge.module), text)
}

/// True of a question whose words say that it is one, with or without a question mark.
pub(crate) fn is_polite_question(language: &str, text: &str) -> bool {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '。' | '？' | '?'));
    let endings = Language::of(language).map_or(&[][..], |language| &language.words.question_endings);
    endings.iter().any(|ending| text.ends_with(ending))
}

/// True of a slot whose recognizers found nothing, where all that was said was found by those of other slots: "42" is no
/// kind of shoe.
fn is_said_of_others(situation: &Situation<'_>, function: FunctionId, slot: SlotId) -> bool {
    let definition = situation.knowledge.module.function(function);
    let finds = |slot: &Slot, mention: &Mention| slot.recognizers.contains(&mention.recognizer);
    let own = definition.slot(slot);
    let is_number = || {
        matches!(own.kind, SlotKind::Integer | SlotKind::Number)
            && situation.utterance().slice(core(situation, function, &[slot])).trim().parse::<f64>().is_ok()
    };
    if own.recognizers.is_empty() || is_number() || situation.mentions().iter().any(|mention| finds(own, mention)) {
        return false;
    }
    let language = language(&situation.knowledge.module);
    let is_other = |word: &Span| {
        let mut mentions = situation.mentions().iter().filter(|mention| mention.span.contains(*word));
        mentions.any(|mention| definition.slots.iter().any(|slot| finds(slot, mention)))
    };
    let mut words = situation
        .utterance()
        .words()
        .iter()
        .filter(|word| !yes_no::says_nothing(language, situation.utterance().slice(**word)));
    words.all(is_other)
}

fn language(module: &Module) -> &str {
    module.settings.language.as_deref().unwrap_or("en")
}

/// The words of the function's exemplars and of its slots' names.
pub(crate) fn own_words(module: &Module, function: FunctionId) -> Vec<String> {
    use crate::module::Piece;
    let definition = module.function(function);
    let literals = definition.exemplars.iter().flat_map(|exemplar| &exemplar.pieces).filter_map(|piece| match piece {
        Piece::Text(text) => Some(text.as_str()),
        Piece::Slot { .. } => None,
    });
    let names = definition.slots.iter().map(crate::module::Slot::label);
    literals.chain(names).flat_map(words_of).collect()
}

/// True if the words right before `span` are the slot's name, or the part of it that tells it from its rivals, with
/// nothing but empty words between: "the size is 9", "from the joint account".
pub(crate) fn is_named_before(
    situation: &Situation<'_>,
    function: &Function,
    slot: SlotId,
    rivals: &[SlotId],
    span: Span,
) -> bool {
    let name = words_of(function.slot(slot).label());
    let others: Vec<String> = rivals
        .iter()
        .filter(|rival| **rival != slot)
        .flat_map(|rival| words_of(function.slot(*rival).label()))
        .collect();
    let own: Vec<String> = name.iter().filter(|word| !others.contains(word)).cloned().collect();
    let language = language(&situation.knowledge.module);
    let mut before: Vec<String> = situation
        .utterance()
        .words()
        .iter()
        .take_while(|word| word.end <= span.start)
        .map(|word| fold(situation.utterance().slice(*word)))
        .collect();
    while before.last().is_some_and(|word| !name.contains(word) && yes_no::says_nothing(language, word)) {
        before.pop();
    }
    !name.is_empty() && (before.ends_with(&name) || !own.is_empty() && before.ends_with(&own))
}

/// The words of a text or of a name, folded.
pub(crate) fn words_of(text: &str) -> Vec<String> {
    let text = Utterance::new(&fold(text).replace(['_', '-'], " "));
    text.words().iter().map(|word| text.slice(*word).to_owned()).collect()
}
