//! Words between quotation marks are a complete value: all of them, and nothing else.

use crate::{
    ablation,
    decide::{
        bars::bars,
        candidates::Weighing,
        filling::{Filling, FillingRule},
        situation::Situation,
        vocabulary::words_of,
    },
    module::{Function, SlotId},
    probability::EVEN,
    text::Span,
};

/// The fewest letters of a name from which other words are derived.
const NAME: usize = 4;

/// Gives a free-text value that covers part of a quotation the whole quotation, without its marks. A quotation that
/// fills nothing fills the free-text slot with the best evidence, unless a template says otherwise.
pub(super) fn settle(
    situation: &Situation<'_>,
    weighing: &Weighing<'_>,
    is_settled: bool,
    fillings: &mut Vec<Filling>,
) {
    let utterance = situation.utterance();
    for &quotation in weighing.quotations() {
        let marked = Span::new(quotation.start - 1, quotation.end + 1);
        let touching: Vec<usize> = (0..fillings.len()).filter(|at| fillings[*at].span.overlaps(marked)).collect();
        let is_of_it = |span: Span| {
            // No value contains only one mark of a pair.
            let is_cut = (span.start < quotation.start) != (span.end > quotation.end);
            marked.contains(utterance.trimmed(span, is_outside)) || is_cut
        };
        match touching[..] {
            [at] if fillings[at].anchor.is_none() && is_of_it(fillings[at].span) => {
                let slot = fillings[at].slot;
                fillings[at].span = quotation;
                // The slot's name before it is surer than a reader that doubts.
                if fillings[at].confidence < EVEN && is_named(situation, weighing.definition(), slot, quotation) {
                    fillings[at] = Filling::by(FillingRule::Quoted, slot, quotation);
                }
            }
            [] if !is_settled => {
                fillings.extend(ablation::found(
                    "quotation.unclaimed",
                    unclaimed((situation, weighing), quotation, fillings),
                ));
            }
            _ => {}
        }
    }
    fillings.sort_by_key(|filling| filling.span);
}

fn is_outside(mark: char) -> bool {
    mark.is_whitespace() || mark.is_ascii_punctuation()
}

/// The quotation as the value of the empty slot with the best evidence. The slot must not be named before another
/// quotation, and must be required or not too unlikely.
fn unclaimed(
    (situation, weighing): (&Situation<'_>, &Weighing<'_>),
    quotation: Span,
    fillings: &[Filling],
) -> Option<Filling> {
    let function = weighing.definition();
    let is_empty = |id: &SlotId| function.slot(*id).takes_any_words() && fillings.iter().all(|one| one.slot != *id);
    let empty: Vec<SlotId> = function.slot_ids().filter(is_empty).collect();
    let named = |quotation: Span| empty.iter().copied().find(|slot| is_named(situation, function, *slot, quotation));
    let of_others: Vec<SlotId> =
        weighing.quotations().iter().filter(|other| **other != quotation).filter_map(|other| named(*other)).collect();
    let free = empty.iter().filter(|slot| !of_others.contains(slot));
    let slots = free.map(|slot| (weighing.log_odds(*slot, quotation), *slot));
    let (odds, slot) = slots.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (function.slot(slot).required || odds > bars().proposed).then(|| Filling::by(FillingRule::Quoted, slot, quotation))
}

/// True if the word right before the quotation is the slot's name, or is derived from it: "titled" for a slot `title`.
fn is_named(situation: &Situation<'_>, function: &Function, slot: SlotId, quotation: Span) -> bool {
    let utterance = situation.utterance();
    let before = utterance.words().iter().rfind(|word| word.end <= quotation.start);
    let Some(said) = before.map(|word| utterance.folded_in(*word)) else { return false };
    let last = words_of(function.slot(slot).label()).pop();
    last.is_some_and(|name| said == name || name.chars().count() >= NAME && said.starts_with(name.as_str()))
}
