//! The best set of candidates: no two share a word, and only a list has more than one.

use super::{Candidate, SlotModel};
use crate::{
    decide::filling::Filling,
    module::{Function, PathStep, SlotId},
    probability::log_odds,
};

/// The most sets that are looked at. Beyond that the best so far stands; it is a good one, because the likeliest come
/// first.
const SETS: usize = 4_000;
/// The most characters between a count that is only an article and its item: "a big old duvet".
const NEAR: usize = 16;

/// A candidate with its probability and what it adds to a set.
struct WeighedCandidate<'a> {
    candidate: &'a Candidate,
    probability: f32,
    /// Its log-odds minus those of the least probability that fills a slot.
    gain: f32,
}

/// The fillings of the set with the highest sum of log-odds above the bar, in the order of the utterance.
///
/// Words that recognizers read for other slots fill a slot that takes anything only if no other slot needs them.
pub(super) fn best(function: &Function, candidates: &[Candidate], model: &SlotModel) -> Vec<Filling> {
    let weighed = candidates.iter().map(|candidate| {
        let probability = model.probability(&candidate.evidence);
        WeighedCandidate {
            candidate,
            probability,
            gain: log_odds(probability) - log_odds(model.least(&candidate.evidence)),
        }
    });
    let mut weighed: Vec<WeighedCandidate<'_>> = weighed.filter(|one| one.gain > 0.0).collect();
    weighed.sort_by(|a, b| b.gain.total_cmp(&a.gain).then_with(|| a.candidate.span.cmp(&b.candidate.span)));
    let (typed, foreign): (Vec<_>, Vec<_>) = weighed.into_iter().partition(|one| one.candidate.evidence.foreign < 1.0);
    let mut search = Search { function, weighed: &typed, best: (0.0, Vec::new()), left: SETS };
    search.extend(0, 0.0, &mut Vec::new());
    let mut chosen: Vec<&WeighedCandidate<'_>> = search.best.1.iter().map(|index| &typed[*index]).collect();
    for one in &foreign {
        if chosen.iter().all(|other| are_compatible(function, one.candidate, other.candidate)) {
            chosen.push(one);
        }
    }
    let filling = |one: &WeighedCandidate<'_>| Filling {
        slot: one.candidate.slot,
        span: one.candidate.span,
        anchor: one.candidate.anchor,
        rule: None,
        confidence: one.probability,
    };
    let mut fillings: Vec<Filling> = chosen.into_iter().map(filling).collect();
    fillings.sort_by_key(|one| one.span);
    count_alike(function, candidates, &mut fillings);
    fillings
}

/// "Two pies and a coffee": if one item of a list has its number before it, a recognized number before another item
/// counts that item, with the same confidence. An article alone is too seldom a count.
fn count_alike(function: &Function, candidates: &[Candidate], fillings: &mut Vec<Filling>) {
    let list = |slot: SlotId| {
        let steps = &function.slot(slot).path.0;
        steps.iter().rposition(|step| *step == PathStep::Each).filter(|at| at + 1 < steps.len()).map(|at| &steps[..at])
    };
    let is_count = |slot: SlotId| function.slot(slot).kind.is_number();
    let counted = fillings.windows(2).find_map(|pair| {
        let [count, item] = pair else { return None };
        let is_pair = is_count(count.slot) && !is_count(item.slot) && list(item.slot).is_some();
        (is_pair && list(count.slot) == list(item.slot)).then_some((*count, item.slot))
    });
    let Some((count, item)) = counted else { return };
    let mut more: Vec<Filling> = Vec::new();
    for (at, own) in fillings.iter().enumerate().filter(|(_, own)| own.slot == item) {
        let from = at.checked_sub(1).map_or(0, |before| fillings[before].span.end);
        let is_before = |one: &&Candidate| {
            one.slot == count.slot
                && one.anchor.is_some()
                && one.span.start >= from
                && (one.span.end..=one.span.end + NEAR).contains(&own.span.start)
        };
        if at.checked_sub(1).is_some_and(|before| fillings[before].slot == count.slot) {
            continue;
        }
        let last = candidates.iter().filter(is_before).max_by_key(|one| one.span.end);
        more.extend(last.map(|one| Filling { span: one.span, anchor: one.anchor, ..count }));
    }
    more.extend(counted_parts(candidates, fillings, (count, item)));
    fillings.extend(more);
    fillings.sort_by_key(|one| one.span);
}

/// "Zwei Decken, eine groß und eine klein": behind the only item, the number right before each of several values of one
/// slot counts them.
fn counted_parts(candidates: &[Candidate], fillings: &[Filling], (count, item): (Filling, SlotId)) -> Vec<Filling> {
    let mut items = fillings.iter().filter(|one| one.slot == item);
    let Some(head) = items.next().filter(|_| items.next().is_none()) else { return Vec::new() };
    let behind = fillings.iter().filter(|one| one.span.start >= head.span.end && one.slot != count.slot);
    let counted = behind.filter_map(|one| {
        let is_before = |other: &&Candidate| {
            other.slot == count.slot && other.anchor.is_some() && other.span.end + 1 == one.span.start
        };
        let own = candidates.iter().find(is_before)?;
        let is_new = fillings.iter().all(|known| known.span != own.span);
        Some((one.slot, is_new.then_some(Filling { span: own.span, anchor: own.anchor, ..count })))
    });
    let counted: Vec<(SlotId, Option<Filling>)> = counted.collect();
    let is_one_slot = counted.len() > 1 && counted.iter().all(|(slot, _)| *slot == counted[0].0);
    if is_one_slot { counted.into_iter().filter_map(|(_, filling)| filling).collect() } else { Vec::new() }
}

fn are_compatible(function: &Function, one: &Candidate, other: &Candidate) -> bool {
    !one.span.overlaps(other.span) && (one.slot != other.slot || function.slot(one.slot).path.is_repeated())
}

/// Takes or leaves each candidate in turn, and gives up a branch that can no longer beat the best.
struct Search<'a> {
    function: &'a Function,
    weighed: &'a [WeighedCandidate<'a>],
    best: (f32, Vec<usize>),
    left: usize,
}

impl Search<'_> {
    fn extend(&mut self, from: usize, gain: f32, taken: &mut Vec<usize>) {
        if gain > self.best.0 {
            self.best = (gain, taken.clone());
        }
        let rest: f32 = self.weighed[from..].iter().map(|one| one.gain).sum();
        if from == self.weighed.len() || gain + rest <= self.best.0 || self.left == 0 {
            return;
        }
        self.left -= 1;
        let next = &self.weighed[from];
        let fits = |index: &usize| are_compatible(self.function, next.candidate, self.weighed[*index].candidate);
        if taken.iter().all(fits) {
            taken.push(from);
            self.extend(from + 1, gain + next.gain, taken);
            taken.pop();
        }
        self.extend(from + 1, gain, taken);
    }
}
