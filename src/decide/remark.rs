//! A remark behind everything else, in a clause of its own: "collect three bags at 12 Mill Lane, the bell does not
//! work". It fills an empty slot for remarks if the function has one. Otherwise it stays unread, and the person should
//! be told.

use crate::{
    ablation,
    decide::{
        bars::bars,
        carrier,
        filling::{Filling, FillingRule},
        situation::Situation,
    },
    language::{Language, facts::is_unspaced_language},
    module::{Function, FunctionId, SlotId},
    recognize::{
        Mention,
        acts::{self, ACTS},
        reply,
    },
    text::{Span, fold, name_words, names::singular},
};

/// The fewest words of a clause.
const CLAUSE: usize = 3;
/// How many of its words must say something.
const TELLING: usize = 2;

/// Fills the slot for remarks with the clause behind everything else, and returns it.
pub(super) fn within(situation: &Situation<'_>, id: FunctionId, fillings: &mut Vec<Filling>) -> Option<Filling> {
    let function = situation.knowledge.module.function(id);
    let slot = slot_for_remarks(situation, function)?;
    let is_guessed = |one: &Filling| one.slot == slot && one.rule.is_none();
    if fillings.iter().all(is_guessed) || fillings.iter().any(|one| one.slot == slot && !is_guessed(one)) {
        return None;
    }
    // If the reader guessed a remark outside of this clause, that guess may be right, and stays.
    let (guessed, mut others): (Vec<Filling>, Vec<Filling>) = fillings.iter().partition(|one| one.slot == slot);
    let taken: Vec<Span> = others.iter().map(|one| one.span).collect();
    let span = clause(situation, id, &taken)?;
    if guessed.iter().any(|one| !span.contains(one.span)) || !ablation::holds("remark.within", true) {
        return None;
    }
    let remark = Filling::by(FillingRule::Beside, slot, span);
    others.push(remark);
    others.sort_by_key(|one| one.span);
    *fillings = others;
    Some(remark)
}

/// True if a clause behind everything that was read says something of its own, which the function's own words do not
/// say either.
pub(super) fn is_left(situation: &Situation<'_>, taken: &[Span], function: FunctionId) -> bool {
    let module = &situation.knowledge.module;
    if is_unspaced_language(module.language()) || taken.is_empty() {
        return false;
    }
    let vocabulary = &situation.knowledge.vocabulary;
    let is_new = |word: &&Span| {
        let said = situation.utterance().folded_in(**word);
        !vocabulary.has(function, &said) && !reply::says_nothing(module.language(), &said)
    };
    let words = situation.utterance().words().iter();
    clause(situation, function, taken).is_some_and(|span| {
        words.filter(|word| span.contains(**word)).filter(is_new).count() >= TELLING //
    })
}

/// The only optional free-text slot that takes remarks by its name.
fn slot_for_remarks(situation: &Situation<'_>, function: &Function) -> Option<SlotId> {
    let languages = Language::and_english(situation.knowledge.module.language());
    let known = || languages.iter().flat_map(|language| &language.words.slots.remarks);
    let takes = |id: &SlotId| {
        let slot = function.slot(*id);
        let label: Vec<String> =
            name_words(slot.label()).iter().map(|word| singular(&fold(word)).into_owned()).collect();
        let label = label.join(" ");
        slot.takes_any_words()
            && !slot.required
            && !slot.path.is_repeated()
            && known().any(|name| label == *name || label.ends_with(&format!(" {name}")))
    };
    let mut slots = function.slot_ids().filter(takes);
    slots.next().filter(|_| slots.next().is_none())
}

/// The clause from the first mark behind `taken` on, if it says something. It must not be a courtesy, a question, a
/// dialogue act or a separate request, and no recognizer may have found a value in it.
fn clause(situation: &Situation<'_>, function: FunctionId, taken: &[Span]) -> Option<Span> {
    let utterance = situation.utterance();
    let language = situation.knowledge.module.language();
    let words = utterance.words();
    let from = words.partition_point(|word| word.start < taken.iter().map(|span| span.end).max().unwrap_or_default());
    let is_parted = |at: &usize| {
        let before = at.checked_sub(1).map_or(0, |before| words[before].end);
        utterance.slice(Span::new(before, words[*at].start)).contains([',', ';', '.', '–', '—', '、', '。'])
    };
    let first = words[(from..words.len()).find(is_parted)?];
    let all = Span::new(first.start, words.last()?.end);
    let core = carrier::core(language, &utterance.only(all));
    let span = Span::new(core.start.max(all.start), core.end.min(all.end));
    let inside: Vec<&Span> = words.iter().filter(|word| span.contains(**word)).collect();
    let telling = inside.iter().filter(|word| !reply::says_nothing(language, &utterance.meant(***word))).count();
    let slots = &situation.knowledge.module.function(function).slots;
    let takes = |one: &&Mention| slots.iter().any(|slot| slot.recognizers.contains(&one.recognizer));
    let known = || situation.mentions().iter().filter(takes);
    let is_known = || known().any(|one| one.is_likely() && one.span.overlaps(span));
    let is_act = || situation.analysis.acts.moves.iter().any(|one| one.confidence >= ACTS && one.cue.overlaps(span));
    let is_filler = || acts::is_filler(language, utterance.slice(span));
    let is_request = || {
        let clauses = situation.analysis.clauses.iter().filter(|clause| clause.span.overlaps(span));
        let best =
            clauses.filter(|clause| clause.span.start >= all.start).filter_map(|clause| clause.candidates.first());
        let best = best.filter(|best| best.function != function);
        best.map(|best| best.share * best.score).fold(0.0, f32::max) >= bars().other_request
    };
    let is_said = inside.len() >= CLAUSE && telling >= TELLING;
    let asks = utterance.ends_as_question();
    (is_said && !asks && !is_filler() && !is_known() && !is_act() && !is_request()).then_some(span)
}
