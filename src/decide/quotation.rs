//! Words between quotation marks are a value as it stands: all of it, and nothing but it.

use crate::{
    ablation,
    decide::{
        bars::bars,
        candidates::Weighing,
        filling::{Filling, Rule},
        situation::Situation,
    },
    module::SlotId,
    text::Span,
};

/// Gives values of any words the whole quotation of which they have a part, without its marks. What is quoted and fills
/// nothing fills the slot of any words for which most speaks, unless a template says otherwise.
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
            // Nobody's value has one mark of a pair.
            let is_cut = (span.start < quotation.start) != (span.end > quotation.end);
            marked.contains(utterance.trimmed(span, is_outside)) || is_cut
        };
        match touching[..] {
            [at] if fillings[at].anchor.is_none() && is_of_it(fillings[at].span) => fillings[at].span = quotation,
            [] if !is_settled => {
                fillings.extend(ablation::found("quotation.unclaimed", unclaimed(weighing, quotation, fillings)));
            }
            _ => {}
        }
    }
    fillings.sort_by_key(|filling| filling.span);
}

fn is_outside(mark: char) -> bool {
    mark.is_whitespace() || mark.is_ascii_punctuation()
}

/// The quotation as the value of an empty slot: of one that is required, or that it is not too unlikely to fill.
fn unclaimed(weighing: &Weighing<'_>, quotation: Span, fillings: &[Filling]) -> Option<Filling> {
    let function = weighing.definition();
    let is_empty = |id: &SlotId| function.slot(*id).takes_any_words() && fillings.iter().all(|one| one.slot != *id);
    let slots = function.slot_ids().filter(is_empty).map(|slot| (weighing.log_odds(slot, quotation), slot));
    let (odds, slot) = slots.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (function.slot(slot).required || odds > bars().proposed).then(|| Filling::by(Rule::Quoted, slot, quotation))
}
