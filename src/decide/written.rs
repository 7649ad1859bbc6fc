//! Where the author's words locate values: templates that match word for word, the slots' own names before a value, and
//! words of the templates that belong to no value.

use crate::{
    ablation,
    decide::{
        bars::bars,
        candidates::Weighing,
        carrier,
        filling::{Filling, FillingRule},
        situation::Situation,
        templates::TemplateMatch,
        vocabulary::words_of,
    },
    language::Language,
    module::{Function, OwnerMode, RecognizerId, RecognizerKind, Slot, SlotId, TemplatePiece},
    probability::EVEN,
    recognize::reply,
    text::{Span, fold},
};

/// The values of a template that matches word for word. The template decides where its values begin, and where they end
/// too, unless it ends with a value. There, a reading that ends before a comma or before a word such as "for" is kept.
/// `None` if something else was found in the place of a value.
pub(super) fn settle(
    situation: &Situation<'_>,
    weighing: &Weighing<'_>,
    said: &TemplateMatch,
    fillings: &mut Vec<Filling>,
) -> Option<Vec<Filling>> {
    if said.fillings.is_empty() {
        // If something was asked, the words may be the answer to that.
        let is_alone = situation.expected.is_empty() && said.own_words > 0;
        fillings.retain(|one| !is_alone || one.anchor.is_some_and(|at| weighing.anchor(at).score >= EVEN));
        return is_alone.then(Vec::new);
    }
    let last = said.fillings.len().wrapping_sub(1);
    let settled = said.fillings.iter().enumerate().map(|(at, own)| {
        let is_open = at == last && said.ends_in_slot && own.anchor.is_none();
        let is_its = |other: &&Filling| {
            other.slot == own.slot
                && other.span.start == own.span.start
                && other.span.end < own.span.end
                && may_end(situation, weighing, (own, other), fillings)
        };
        fillings
            .iter()
            .find(|other| is_open && ablation::holds("written.ends_early", is_its(other)))
            .copied()
            .unwrap_or(*own)
    });
    let settled: Vec<Filling> = settled.collect();
    let takes = |own: &Filling, one: &Filling| {
        own.anchor.is_none()
            && own.slot != one.slot
            && own.span.overlaps(one.span)
            && !may_hold(situation, weighing, own, one)
    };
    if fillings.iter().any(|one| one.anchor.is_some() && settled.iter().any(|own| takes(own, one))) {
        return None;
    }
    // All words before the template's last value belong to the template: "one of them with olives" after "three
    // lasagne".
    let end = settled.last().map_or(0, |last| last.span.end);
    fillings.retain(|one| one.span.start >= end && settled.iter().all(|own| own.slot != one.slot));
    fillings.extend_from_slice(&settled);
    fillings.sort_by_key(|filling| filling.span);
    Some(settled)
}

/// Free text may contain what a recognizer found for another slot if it is a choice within a sentence.
fn may_hold(situation: &Situation<'_>, weighing: &Weighing<'_>, own: &Filling, one: &Filling) -> bool {
    ablation::holds("written.choice_within", is_choice_within(situation, weighing.definition(), own, one))
}

/// "Note that the family is coming": a choice for an optional slot stands within the sentence that the function is
/// meant to take.
fn is_choice_within(situation: &Situation<'_>, function: &Function, own: &Filling, one: &Filling) -> bool {
    let module = &situation.knowledge.module;
    let slot = function.slot(one.slot);
    let is_list = |id: &RecognizerId| matches!(module.recognizer(*id).kind, RecognizerKind::List(_));
    let says = |span: Span| {
        let mut words = situation.utterance().words().iter();
        words.any(|word| span.contains(*word)) && !situation.utterance().slice(span).contains([',', ';', ':'])
    };
    let (before, behind) = (Span::new(own.span.start, one.span.start), Span::new(one.span.end, own.span.end));
    function.slot(own.slot).required
        && !slot.required
        && slot.recognizers.iter().all(is_list)
        && own.span.contains(one.span)
        && says(before)
        && says(behind)
        && !is_led(situation, function, one.slot, one.span, 2)
}

/// The last `words` words before the span also stand before the slot in an exemplar: "in the" of "in the <room>".
pub(super) fn is_led(situation: &Situation<'_>, function: &Function, slot: SlotId, span: Span, words: usize) -> bool {
    let utterance = situation.utterance();
    let before = utterance.words().iter().rev().filter(|word| word.end <= span.start);
    let mut said: Vec<String> = before.take(words).map(|word| utterance.folded_in(*word)).collect();
    said.reverse();
    let mut pairs = function.exemplars.iter().flat_map(|exemplar| exemplar.pieces.windows(2));
    !said.is_empty()
        && pairs.any(|pair| match pair {
            [TemplatePiece::Text(text), TemplatePiece::Slot { slot: Some(own), .. }] => {
                *own == slot && words_of(text).ends_with(&said)
            }
            _ => false,
        })
}

/// The span begins the utterance or follows a comma, and an exemplar has the slot in such a place. A greeting may stand
/// before it.
pub(super) fn is_apart(situation: &Situation<'_>, function: &Function, slot: SlotId, span: Span) -> bool {
    let utterance = situation.utterance();
    let before = utterance.words().iter().rfind(|word| word.end <= span.start);
    let gap = before.map(|word| utterance.slice(Span::new(word.end, span.start)));
    let is_own = |piece: &TemplatePiece| matches!(piece, TemplatePiece::Slot { slot: Some(own), .. } if *own == slot);
    let parts = |text: &str| text.trim_end().ends_with([',', '、', '.', '。', '!', '！']);
    let is_parted = gap.is_none_or(parts);
    function.exemplars.iter().any(|exemplar| {
        is_parted && exemplar.pieces.first().is_some_and(is_own)
            || exemplar.pieces.windows(2).any(|pair| match pair {
                [TemplatePiece::Text(text), own] => is_own(own) && parts(text) && gap.is_some_and(parts),
                _ => false,
            })
    })
}

/// The words before it lead to a reason: "because".
fn is_reason(situation: &Situation<'_>, span: Span) -> bool {
    let utterance = situation.utterance();
    let before = utterance.words().iter().rfind(|word| word.end <= span.start);
    let reasons = &Language::or_english(language_of(situation)).words.joints.reasons;
    before.is_some_and(|word| reasons.contains(&utterance.folded_in(*word)))
}

/// True if a reading may end before the template does. The following words must begin something else: they stand behind
/// a comma, fill another slot, or say something behind a word like "for". If the reading is sure, they may follow any
/// word that is not written like a name.
fn may_end(
    situation: &Situation<'_>,
    weighing: &Weighing<'_>,
    (own, filling): (&Filling, &Filling),
    fillings: &[Filling],
) -> bool {
    let (utterance, end) = (situation.utterance(), filling.span.end);
    let rest = Span::new(end, own.span.end);
    let is_part = |one: &Filling| one.anchor.is_some() && may_hold(situation, weighing, own, one);
    let is_claimed = fillings.iter().any(|one| one.slot != own.slot && one.span.overlaps(rest) && !is_part(one));
    let words = utterance.words();
    let Some(next) = words.get(words.partition_point(|word| word.start < end)) else { return true };
    let gap = utterance.slice(Span::new(end, next.start));
    let word = utterance.slice(*next);
    let language = Language::or_english(situation.knowledge.module.language());
    let is_joint = language.words.joints.conjunctions.contains(&fold(word));
    let is_within = fillings.iter().any(|one| one.span.overlaps(*next) && is_part(one));
    gap.contains([',', ';'])
        || is_claimed && !is_reason(situation, own.span)
        || gap.chars().all(char::is_whitespace)
            && says_something(situation, rest)
            && !is_joint
            && !is_within
            && (language.words.is_carrier(&fold(word))
                || filling.confidence >= bars().ends_value && !word.starts_with(char::is_uppercase))
}

/// "The reason is that it leaks": words behind the name of a slot, if no other filling covers them and the slot is
/// empty.
pub(super) fn named(situation: &Situation<'_>, function: &Function, fillings: &[Filling]) -> Vec<Filling> {
    let utterance = situation.utterance();
    let language = Language::or_english(situation.knowledge.module.language());
    let spans = utterance.words();
    if utterance.ends_as_question() || language.words.answers.copulas.is_empty() {
        return Vec::new();
    }
    let words: Vec<&str> = utterance.folded_words().collect();
    let is_copula =
        |at: usize| words.get(at).is_some_and(|word| language.words.answers.copulas.iter().any(|one| one == word));
    let mut named: Vec<Filling> = Vec::new();
    for slot in function.slot_ids() {
        // A reading of free text gives way to a slot's own name.
        let is_free = |span: Span, named: &[Filling]| {
            let known = fillings.iter().filter(|one| one.anchor.is_some()).chain(named);
            known.into_iter().all(|one| !one.span.overlaps(span))
        };
        if !takes_words(function.slot(slot)) || fillings.iter().any(|one| one.slot == slot && one.anchor.is_some()) {
            continue;
        }
        for (_, to) in places(function, slot, &words) {
            let colon = spans
                .get(to)
                .is_some_and(|next| utterance.slice(Span::new(spans[to - 1].end, next.start)).trim() == ":");
            let first = if is_copula(to) { to + 1 } else { to };
            let is_led = is_copula(to) || colon || words[to - 1].ends_with("'s");
            let value = || value_from(situation, first, fillings);
            let span = ablation::found("written.named_ahead", is_led.then(value).flatten());
            if let Some(span) = span.filter(|span| is_free(*span, &named)) {
                named.push(Filling::by(FillingRule::Named, slot, span));
                break;
            }
        }
    }
    named
}

fn language_of<'a>(situation: &Situation<'a>) -> &'a str {
    situation.knowledge.module.language()
}

/// Where the words name the slot: by all words of its label, or by the last one if no other slot has that word.
pub(super) fn places(function: &Function, slot: SlotId, words: &[&str]) -> Vec<(usize, usize)> {
    let label = words_of(function.slot(slot).label());
    let Some(last) = label.last().cloned() else { return Vec::new() };
    let is_own = function
        .slot_ids()
        .filter(|other| *other != slot)
        .all(|other| !words_of(function.slot(other).label()).contains(&last));
    let plain = |word: &str| word.strip_suffix("'s").unwrap_or(word).to_owned();
    let says = |at: usize, name: &[String]| {
        words.get(at..at + name.len()).is_some_and(|said| said.iter().map(|word| plain(word)).eq(name.iter().cloned()))
    };
    let whole = (0..words.len()).filter(|at| says(*at, &label)).map(|at| (at, at + label.len()));
    let by_last = (0..words.len()).filter(|at| is_own && says(*at, std::slice::from_ref(&last))).map(|at| (at, at + 1));
    whole.chain(by_last).collect()
}

/// The words from `first` on, up to where something else begins.
fn value_from(situation: &Situation<'_>, first: usize, fillings: &[Filling]) -> Option<Span> {
    let utterance = situation.utterance();
    let first = *utterance.words().get(first)?;
    let starts = fillings.iter().filter(|one| one.anchor.is_some()).map(|one| one.span.start);
    let end = starts.filter(|start| *start >= first.start).min().unwrap_or(utterance.len());
    let mut inside = utterance.words().iter().filter(|word| word.start >= first.start && word.end <= end);
    let span = Span::new(first.start, inside.next_back()?.end);
    let core = carrier::core(language_of(situation), &utterance.only(span));
    let span = Span::new(core.start.max(span.start), core.end.min(span.end));
    (span.start < span.end && says_something(situation, span)).then_some(span)
}

fn says_something(situation: &Situation<'_>, span: Span) -> bool {
    let utterance = situation.utterance();
    let mut words = utterance.words().iter().filter(|word| span.contains(**word));
    words.any(|word| !reply::says_nothing(language_of(situation), &utterance.meant(*word)))
}

/// True of free text that consists only of words in the function's templates: "merge" of "merge 1502" is not a merge
/// method.
pub(super) fn is_of_templates(situation: &Situation<'_>, function: &Function, filling: &Filling) -> bool {
    if filling.anchor.is_some() {
        return false;
    }
    let utterance = situation.utterance();
    let language = Language::or_english(language_of(situation));
    let words: Vec<String> = utterance
        .words()
        .iter()
        .filter(|word| filling.span.overlaps(**word))
        .map(|word| utterance.folded_in(*word))
        .collect();
    let shown = function.exemplars.iter().filter(|exemplar| exemplar.mode != OwnerMode::Negative);
    let literals: Vec<String> = shown
        .flat_map(|exemplar| &exemplar.pieces)
        .filter_map(|piece| if let TemplatePiece::Text(text) = piece { Some(words_of(text)) } else { None })
        .flatten()
        .collect();
    words.iter().any(|word| !language.words.is_carrier(word))
        && words.iter().all(|word| language.words.is_carrier(word) || literals.contains(word))
}

/// True of a slot for one free text.
fn takes_words(slot: &Slot) -> bool {
    slot.takes_any_words() && !slot.path.is_repeated()
}
