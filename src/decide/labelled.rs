//! "Title: login fails, body: it says 500": the name of a slot before a colon begins its value, and ends the one before.

use crate::{
    ablation,
    decide::{
        filling::{self, Filling, FillingRule},
        situation::Situation,
        written,
    },
    language::Language,
    module::{Function, SlotId},
    text::{Span, Utterance},
};

/// A slot's name with a colon behind it, as word indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SlotHeading {
    from: usize,
    to: usize,
    slot: SlotId,
}

/// Fills free-text slots with the text behind their names and a colon, up to the next such name.
pub(super) fn settle(situation: &Situation<'_>, function: &Function, fillings: &mut Vec<Filling>) {
    let utterance = situation.utterance();
    if !utterance.text().contains([':', '：']) {
        return;
    }
    let labels = labels(utterance, function);
    let words = utterance.words();
    for (at, label) in labels.iter().enumerate() {
        let end = labels.get(at + 1).map_or(words.len(), |next| next.from);
        let slot = function.slot(label.slot);
        if !filling::is_open(&situation.knowledge.module, slot) || slot.path.is_repeated() {
            continue;
        }
        let Some(span) = value(situation, label.to, end, at + 1 < labels.len()) else { continue };
        let is_named = labels.iter().any(|other| other.slot == label.slot && other != label);
        if !is_named && ablation::holds("labelled.settle", true) {
            fillings.retain(|one| one.slot != label.slot && !one.span.overlaps(span));
            fillings.push(Filling::by(FillingRule::Quoted, label.slot, span));
        }
    }
    // A text must not reach over the name of another slot.
    fillings.retain(|one| {
        let reaches = |label: &SlotHeading| one.anchor.is_none() && one.span.overlaps(words[label.from]);
        one.rule == Some(FillingRule::Quoted) || !labels.iter().any(reaches)
    });
    fillings.sort_by_key(|one| one.span);
}

/// The words between the two indices, without the words that join them to the next name.
fn value(situation: &Situation<'_>, from: usize, to: usize, is_followed: bool) -> Option<Span> {
    let (utterance, code) = situation.said();
    let joints = &Language::or_english(code).words.joints;
    let words = utterance.words().get(from..to)?;
    let joins = |word: &&Span| is_followed && joints.conjunctions.contains(&utterance.folded_in(**word));
    let last = words.iter().rfind(|word| !joins(word))?;
    Some(Span::new(words.first()?.start, last.end))
}

/// Where names of slots stand with a colon behind them, in order.
fn labels(utterance: &Utterance, function: &Function) -> Vec<SlotHeading> {
    let words = utterance.words();
    let said: Vec<&str> = utterance.folded_words().collect();
    let has_colon = |to: usize| {
        let Some(last) = to.checked_sub(1).and_then(|last| words.get(last)) else { return false };
        let end = words.get(to).map_or(utterance.len(), |next| next.start);
        let gap = utterance.slice(Span::new(last.end, end));
        // The colon must not belong to a time or an address: "10:30", "mailto:a".
        gap.starts_with([':', '：']) && (gap.chars().count() > 1 || gap.starts_with('：'))
    };
    let of_slot = |slot: SlotId| {
        let found = written::places(function, slot, &said);
        found.into_iter().map(move |(from, to)| SlotHeading { from, to, slot })
    };
    let mut labels: Vec<SlotHeading> =
        function.slot_ids().flat_map(of_slot).filter(|label| has_colon(label.to)).collect();
    // The longest name counts: "last name" wins over "name".
    labels.sort_unstable();
    labels.dedup_by_key(|label| label.to);
    labels
}
