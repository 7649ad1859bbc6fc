//! "Two duvets, one king and one single": a number of things that the words behind it divide into separate items.

use crate::{
    ablation,
    decide::filling::SpannedValue,
    module::{Function, PathStep, SlotId},
};

/// A number that is divided.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Split {
    /// The total, and the name of the things: indices of what was said.
    pub total: usize,
    pub head: usize,
    /// The numbers that add up to it, each with the other values of its things.
    pub parts: Vec<Vec<usize>>,
}

/// How `said` divides a number. Behind the only named thing stand at least two numbers that add up to its own, each
/// with a value of its own.
pub(super) fn split(function: &Function, said: &[SpannedValue]) -> Option<Split> {
    let array = |slot: SlotId| {
        let steps = &function.slot(slot).path.0;
        let at = steps.iter().position(|step| *step == PathStep::Each)?;
        (at + 1 < steps.len()).then(|| &steps[..=at])
    };
    let of_lists: Vec<usize> = (0..said.len()).filter(|at| array(said[*at].slot).is_some()).collect();
    let is_number = |at: &usize| function.slot(said[*at].slot).kind.is_number();
    let is_head = |at: &usize| function.slot(said[*at].slot).required && !is_number(at);
    let mut heads = of_lists.iter().copied().filter(is_head);
    let head = heads.next().filter(|_| heads.next().is_none())?;
    let own = array(said[head].slot);
    let mut order: Vec<usize> = of_lists.into_iter().filter(|at| array(said[*at].slot) == own && *at != head).collect();
    order.sort_by_key(|at| said[*at].span);
    let total = *order.first().filter(|at| is_number(at) && said[**at].span.end <= said[head].span.start)?;
    let behind = &order[1..];
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for at in behind {
        match parts.last_mut() {
            _ if said[*at].slot == said[total].slot => parts.push(vec![*at]),
            Some(part) => part.push(*at),
            None => return None,
        }
    }
    let counts = |part: &Vec<usize>| said[part[0]].value.as_u64();
    let sum: u64 = parts.iter().map(counts).sum::<Option<u64>>()?;
    let is_split = parts.len() > 1
        && parts.iter().all(|part| part.len() > 1)
        && said[behind[0]].span.start >= said[head].span.end
        && said[total].value.as_u64() == Some(sum);
    ablation::holds("totals.split", is_split).then_some(Split { total, head, parts })
}
