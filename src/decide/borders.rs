//! Where one value ends and the next begins, if a template has only a comma or nothing at all between their slots, so
//! no word of the author separates them. The evidence of each value decides which division is meant (`candidates`). The
//! confidence is the share of that division among all.

use super::{
    candidates::Weighing,
    filling::Filling,
    situation::Situation,
    templates::{
        TemplateMatch,
        words::{Gap, gaps},
    },
};
use crate::{
    ablation,
    language::Language,
    module::SlotId,
    probability::EVEN,
    text::{Span, Utterance},
};

/// The most places where one value may end. With more, no division is chosen.
const MOST_PLACES: usize = 32;

/// The values of the template with the best supported borders; of several readings of the template, the likeliest.
pub(super) fn settle(situation: &Situation<'_>, weighing: &Weighing<'_>, said: &mut TemplateMatch) {
    let language = Language::or_english(situation.knowledge.module.language());
    let utterance = situation.utterance();
    let borders = Borders { weighing, utterance, language, gaps: gaps(utterance, language) };
    borders.part(&mut said.fillings);
    let others = std::mem::take(&mut said.others);
    let first = std::mem::take(&mut said.fillings);
    let ways: Vec<Vec<Filling>> = std::iter::once(first)
        .chain(others.into_iter().map(|mut other| {
            borders.part(&mut other);
            other
        }))
        .collect();
    let free = |fillings: &[Filling]| fillings.iter().filter(|one| one.anchor.is_none()).count();
    let most = ways.iter().map(|way| free(way)).max().unwrap_or_default();
    // Each value counts for more in a way with few values. Otherwise a way would be less likely the more values it has.
    let odds = |way: &[Filling]| borders.odds(way) * share(most, free(way));
    let mut ways: Vec<(f32, Vec<Filling>)> = ways.into_iter().map(|way| (odds(&way), way)).collect();
    let odds: Vec<f32> = ways.iter().map(|(odds, _)| *odds).collect();
    let best = (0..ways.len()).max_by(|one, other| odds[*one].total_cmp(&odds[*other]).then(other.cmp(one)));
    let Some(best) = best.map(|best| ablation::made("borders.likelier_way", 0, best)) else { return };
    let (_, mut fillings) = ways.swap_remove(best);
    let likely = 1.0 / odds.iter().map(|other| (other - odds[best]).exp()).sum::<f32>();
    let is_in_all = |own: &Filling| {
        ways.iter().all(|(_, other)| other.iter().any(|one| (one.slot, one.span) == (own.slot, own.span))) //
    };
    for own in fillings.iter_mut().filter(|own| own.anchor.is_none()) {
        own.confidence *= if is_in_all(own) { 1.0 } else { likely };
    }
    said.fillings = fillings;
}

#[expect(clippy::cast_precision_loss, reason = "a template has a few slots")]
fn share(most: usize, own: usize) -> f32 {
    most as f32 / own.max(1) as f32
}

struct Borders<'a> {
    weighing: &'a Weighing<'a>,
    utterance: &'a Utterance,
    language: &'static Language,
    /// The gap before each word, and the gap behind the last.
    gaps: Vec<Gap>,
}

/// The best way to divide the words before a place.
#[derive(Debug, Clone, Copy)]
struct Way {
    odds: f32,
    /// The logarithm of the odds of all ways together.
    all: f32,
    /// Where the last value begins.
    from: usize,
}

impl Borders<'_> {
    /// The log-odds of all free text.
    fn odds(&self, fillings: &[Filling]) -> f32 {
        let free = fillings.iter().filter(|one| one.anchor.is_none());
        free.map(|one| self.weighing.log_odds(one.slot, one.span)).sum()
    }

    /// Divides each run of values that stand side by side.
    fn part(&self, fillings: &mut [Filling]) {
        let mut first = 0;
        while first < fillings.len() {
            let next = |at: &usize| self.are_beside(&fillings[*at - 1], &fillings[*at]);
            let count = (first + 1..fillings.len()).take_while(next).count() + 1;
            if ablation::holds("borders.part", count > 1) {
                self.part_run(&mut fillings[first..first + count]);
            }
            first += count;
        }
    }

    /// No word stands between two values of free text.
    fn are_beside(&self, one: &Filling, other: &Filling) -> bool {
        let gap = Span::new(one.span.end, other.span.start.max(one.span.end));
        let is_free = one.anchor.is_none() && other.anchor.is_none() && one.span.end <= other.span.start;
        is_free && !self.utterance.slice(gap).contains(char::is_alphanumeric)
    }

    fn part_run(&self, run: &mut [Filling]) {
        let words = self.utterance.words();
        let end = words.partition_point(|word| word.start < run[run.len() - 1].span.end);
        let first = words.partition_point(|word| word.end <= run[0].span.start);
        // A title belongs to no part of a divided name: "Dr. Ann", "Lee".
        let titles = words[first..end].iter().take_while(|word| self.is_title(word)).count();
        let start = first + titles;
        // If the utterance has commas, a comma of the template must match one of them.
        let places: Vec<Vec<usize>> = run[1..].iter().map(|one| self.places(one.span, (start, end))).collect();
        if places.iter().any(|places| places.len() > MOST_PLACES) {
            run.iter_mut().for_each(|one| one.confidence *= EVEN);
            return;
        }
        let mut ways = vec![vec![(start, Way { odds: 0.0, all: 0.0, from: start })]];
        for (at, own) in run.iter().enumerate() {
            let ends = places.get(at).cloned().unwrap_or_else(|| vec![end]);
            let reached = ends.into_iter().filter_map(|to| Some((to, self.reached(own.slot, ways.last()?, to)?)));
            ways.push(reached.collect());
        }
        let Some((_, last)) = ways.last().and_then(|last| last.first()) else { return };
        let share = (last.odds - last.all).exp().min(1.0);
        let mut to = end;
        for (own, ways) in run.iter_mut().zip(&ways[1..]).rev() {
            let Some((_, way)) = ways.iter().find(|(end, _)| *end == to) else { return };
            own.span = Span::new(words[way.from].start, words[to - 1].end);
            own.confidence *= share;
            to = way.from;
        }
    }

    /// The best way to a value of the slot that ends at `to`, with the odds of all ways.
    fn reached(&self, slot: SlotId, before: &[(usize, Way)], to: usize) -> Option<Way> {
        let words = self.utterance.words();
        let ways = before.iter().filter(|(from, _)| *from < to).map(|(from, way)| {
            let odds = self.weighing.log_odds(slot, Span::new(words[*from].start, words[to - 1].end));
            Way { odds: way.odds + odds, all: way.all + odds, from: *from }
        });
        ways.reduce(|one, other| {
            let most = one.all.max(other.all);
            let all = most + ((one.all - most).exp() + (other.all - most).exp()).ln();
            let Way { odds, from, .. } = if other.odds > one.odds { other } else { one };
            Way { odds, all, from }
        })
    }

    /// Where a value may begin that follows another value: behind a comma if this one does, else at any word.
    fn places(&self, span: Span, (start, end): (usize, usize)) -> Vec<usize> {
        let own = self.utterance.words().partition_point(|word| word.end <= span.start);
        let is_marked = self.gaps[own].has_mark;
        let may_begin = |at: &usize| {
            let gap = self.gaps[*at];
            !gap.joins && (gap.has_mark || !is_marked) && (is_marked || !self.cuts_name(start, *at, end))
        };
        (start + 1..end).filter(may_begin).collect()
    }

    /// In a name that ends with a capitalized word, the first part does not end in a lower-case word: Jane is the first
    /// name of "Jane van der Berg".
    fn cuts_name(&self, start: usize, at: usize, end: usize) -> bool {
        let words = self.utterance.words();
        let is_capital = |at: usize| self.utterance.slice(words[at]).starts_with(char::is_uppercase);
        ablation::holds("borders.cuts_name", is_capital(start) && is_capital(end - 1) && !is_capital(at - 1))
    }

    fn is_title(&self, word: &Span) -> bool {
        ablation::holds("borders.title", self.language.words.is_title(&self.utterance.folded_in(*word)))
    }
}
