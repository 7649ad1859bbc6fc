//! Utterances that match one of the author's templates word for word, with values in its slots.
//!
//! A template is compared with what its slots may hold, never with the example values in it. A slot with recognizers
//! holds what one of them found there; any other slot holds a few words. Empty words may stand around the template
//! ("hi, could you ... please"). Behind it may stand a slot that another template of the function adds in exactly these
//! words.

use std::{cmp::Ordering, collections::BTreeSet};

use super::{
    Templates,
    compiled::Compiled,
    template::{POSSESSIVES, Template, TemplateItem},
    words::{Gap, TemplateWord, gaps, tokens},
};
use crate::{
    ablation,
    decide::{
        bars::bars,
        carrier::{self, Around},
        filling::{Anchor, Filling, FillingRule},
        limits,
    },
    language::negation::NegationRole,
    module::SlotId,
    probability::EVEN,
    text::{Span, Utterance},
};

/// How an utterance matches a template.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TemplateMatch {
    pub fillings: Vec<Filling>,
    /// The fillings of other templates with equally good evidence.
    pub others: Vec<Vec<Filling>>,
    /// The number of words of the template itself, of those among them that mean something, of values that recognizers
    /// found, and of words of free text.
    pub own_words: usize,
    telling_words: usize,
    found: usize,
    pub free_words: usize,
    /// Commas and the like that the template has between two slots and that were said.
    marks: usize,
    /// It begins with a word of its own.
    is_opened: bool,
    /// No word of the template stands behind the last slot.
    pub ends_in_slot: bool,
    /// Free text contains the end of a sentence, or something that a recognizer found for another slot.
    pub is_doubtful: bool,
    pub is_contextual: bool,
    pub is_negative: bool,
    cost: Cost,
}

/// The evidence against this match, the most important first.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
struct Cost {
    /// See [`TemplateMatch::is_doubtful`].
    is_doubtful: bool,
    /// Punctuation marks within free text, and marks of the template that were not said.
    marks: usize,
    /// Words of free text, and those at its ends that are words like "the" or "for".
    free_words: usize,
    small_ends: usize,
    /// Articles before what a recognizer found: "a hundred".
    articles: usize,
    /// How far the recognizers are from being certain.
    doubt: f32,
}

impl TemplateMatch {
    /// The match is specific enough: it means its function, and most of it is not free text.
    pub(crate) fn is_telling(&self) -> bool {
        let is_told = self.telling_words > 0 || self.found > 0 || self.is_opened;
        let is_known = self.telling_words > 0 || self.found > 1 || self.own_words > 2;
        let is_meant = !self.is_doubtful && !self.is_negative && !self.is_contextual;
        let told = words(self.own_words + self.found + self.marks);
        let free = words(self.free_words) / (told + words(self.free_words)).max(1.0);
        is_told && is_known && is_meant && free <= bars().most_free
    }

    /// `Less` if the evidence for this one is better.
    fn order(&self, other: &Self) -> Option<Ordering> {
        (self.is_doubtful, other.own_words, self.cost).partial_cmp(&(other.is_doubtful, self.own_words, other.cost))
    }

    /// It gives other values than a match with equally good evidence: "to <name>" and "to <street>".
    fn rivals(&self, other: &Self) -> bool {
        let is_alike = (self.is_contextual, self.is_negative) == (other.is_contextual, other.is_negative);
        is_alike
            && self.extent() == other.extent()
            && other.others.len() < MOST_OTHERS
            && self.fillings != other.fillings
            && !other.others.contains(&self.fillings)
            && ablation::holds("said.rivals", true)
    }

    /// The span from the first value to the last.
    fn extent(&self) -> Option<Span> {
        Some(Span::new(self.fillings.first()?.span.start, self.fillings.last()?.span.end))
    }

    /// The share of free text.
    pub(crate) fn free(&self) -> f32 {
        words(self.free_words) / words(self.own_words + self.found + self.free_words).max(1.0)
    }
}

/// The most words of an utterance that may match a template.
const MOST_WORDS: usize = 64;

/// The most fillings with equally good evidence that are kept.
const MOST_OTHERS: usize = 4;

/// The most words of free text; in languages without spaces most of these are characters.
const LONGEST: usize = 24;

/// The template of the function that the utterance matches; of several, the one with most words of its own. `None` also
/// for an utterance that is too long for a template.
pub(super) fn said(
    templates: &Templates,
    function: &Compiled,
    utterance: &Utterance,
    anchors: &[Anchor],
) -> Option<TemplateMatch> {
    if utterance.words().len() > MOST_WORDS {
        return None;
    }
    let compared = Compared::new(templates, function, utterance, anchors);
    let mut best: Option<TemplateMatch> = None;
    let mut consider = |items: &[TemplateItem], template: &Template| {
        // "At 45 Castle Street and take it" goes on with words of its own; no author put these before the addition.
        let is_added = items.len() > template.items.len();
        let found = compared.compare(items, template);
        if let Some(found) = found.filter(|found| !is_added || !compared.goes_on(&found.fillings)) {
            match best.as_mut().map(|known| (found.order(known), known)) {
                Some((Some(Ordering::Equal), known)) if found.rivals(known) => known.others.push(found.fillings),
                None | Some((Some(Ordering::Less), _)) => best = Some(found),
                Some(_) => {}
            }
        }
    };
    for template in function.templates.iter().filter(|template| compared.has_words(&template.items)) {
        consider(&template.items, template);
        for addition in function.additions.iter().filter(|addition| compared.has_words(addition)) {
            let ends_in_slot = matches!(template.items.last(), Some(TemplateItem::Slot(_)));
            let is_new = addition.last().is_some_and(|slot| !template.items.contains(slot));
            if ends_in_slot && is_new && !template.is_negative {
                consider(&[&template.items[..], addition].concat(), template);
            }
        }
    }
    best
}

/// An utterance, as the templates of one function are compared with it.
struct Compared<'a> {
    templates: &'a Templates,
    function: &'a Compiled,
    utterance: &'a Utterance,
    words: Vec<TemplateWord>,
    anchors: &'a [Anchor],
    /// The words of each anchor, as indices.
    places: Vec<(usize, usize)>,
    /// The gap before each word, and the gap behind the last.
    gaps: Vec<Gap>,
    around: Around,
}

/// The best way to some place in the utterance.
#[derive(Debug, Clone, Copy)]
struct BestPath {
    cost: Cost,
    /// The place where the item before ended.
    from: usize,
    anchor: Option<usize>,
}

impl<'a> Compared<'a> {
    fn new(templates: &'a Templates, function: &'a Compiled, utterance: &'a Utterance, anchors: &'a [Anchor]) -> Self {
        let spans = utterance.words();
        let place = |anchor: &Anchor| {
            let from = spans.partition_point(|word| word.end <= anchor.span.start);
            (from, spans.partition_point(|word| word.start < anchor.span.end))
        };
        let places: Vec<(usize, usize)> = anchors.iter().map(place).collect();
        let mut gaps = gaps(utterance, templates.language);
        // Within what a recognizer found, no sentence ends: "17. Juni".
        for (_, (from, to)) in anchors.iter().zip(&places).filter(|(anchor, _)| anchor.score >= EVEN) {
            gaps[(from + 1).min(*to)..*to].iter_mut().for_each(|gap| gap.has_stop = false);
        }
        Self {
            templates,
            function,
            utterance,
            words: tokens(utterance, &templates.code),
            anchors,
            places,
            gaps,
            around: carrier::around(templates.language, utterance),
        }
    }

    fn compare(&self, items: &[TemplateItem], template: &Template) -> Option<TemplateMatch> {
        let length = self.words.len();
        let mut columns: Vec<Vec<Option<BestPath>>> = Vec::with_capacity(items.len() + 1);
        let mut first = vec![None; length + 1];
        for start in self.around.starts.iter().filter(|start| **start <= length) {
            first[*start] = Some(BestPath { cost: Cost::default(), from: *start, anchor: None });
        }
        columns.push(first);
        for (at, item) in items.iter().enumerate() {
            let before = columns.last()?;
            let column = match item {
                TemplateItem::Word(word) => self.word(before, word),
                TemplateItem::Mark => self.mark(before),
                TemplateItem::Slot(slot) => self.value(*slot, (items, at), before),
            };
            if column.iter().all(Option::is_none) {
                return None;
            }
            columns.push(column);
        }
        let last = columns.last()?;
        let ends = self.around.ends.iter().filter_map(|end| Some((*end, (*last.get(*end)?)?.cost)));
        let (end, cost) = ends.min_by(|one, other| one.1.partial_cmp(&other.1).unwrap_or(Ordering::Equal))?;
        Some(self.read_back(items, &columns, (end, cost), template))
    }

    /// Fills the slot, which is item `at` of these, from each place that is reached: with what a recognizer found, or
    /// with a few words.
    fn value(
        &self,
        slot: SlotId,
        (items, at): (&[TemplateItem], usize),
        before: &[Option<BestPath>],
    ) -> Vec<Option<BestPath>> {
        let mut column = vec![None; before.len()];
        let is_led = at > 0 && matches!(items[at - 1], TemplateItem::Word(_));
        for (index, (from, to)) in self.places.iter().copied().enumerate() {
            let anchor = &self.anchors[index];
            // A sign without letters is not a word: "£".
            let is_sign = from == to && !self.utterance.slice(anchor.span).trim().is_empty();
            if anchor.slot != slot || from == to && !is_sign {
                continue;
            }
            let article = from.checked_sub(1).filter(|before| self.words[*before].is_carrier);
            // The template may already contain the first word of what was found: "el" of "el 14 de marzo".
            let within = (is_led && from + 1 < to).then_some(from + 1);
            for (start, articles) in [(Some(from), 0), (within, 0), (article, 1)] {
                let Some((start, step)) = start.and_then(|start| Some((start, before[start]?))) else { continue };
                let is_taken = is_sign && step.anchor.is_some_and(|other| self.places[other] == (from, to));
                if !is_taken {
                    let (articles, doubt) = (step.cost.articles + articles, step.cost.doubt + 1.0 - anchor.score);
                    let cost = Cost { articles, doubt, ..step.cost };
                    reach(&mut column, to, BestPath { cost, from: start, anchor: Some(index) });
                    if self.says_unit(slot, to) {
                        reach(&mut column, to + 1, BestPath { cost, from: start, anchor: Some(index) });
                    }
                }
            }
        }
        if self.function.places[slot.index()].is_open {
            self.free(slot, (items, at), before, &mut column);
        }
        column
    }

    /// The unit of the slot stands at this word, behind its number, and is not part of the number: "90 minutes".
    fn says_unit(&self, slot: SlotId, word: usize) -> bool {
        let (unit, word) = (self.function.places[slot.index()].unit, self.words.get(word));
        let mut units = word.into_iter().flat_map(|word| self.templates.language.units(&word.folded));
        ablation::holds("said.unit", unit.is_some_and(|own| units.any(|unit| unit == own)))
    }

    /// The slot filled with free text.
    fn free(
        &self,
        slot: SlotId,
        (items, at): (&[TemplateItem], usize),
        before: &[Option<BestPath>],
        column: &mut [Option<BestPath>],
    ) {
        // The next value begins right behind it.
        let is_joined = matches!(items.get(at + 1), Some(TemplateItem::Slot(_)));
        let is_title = |word: &TemplateWord| self.templates.language.words.is_title(&word.folded);
        let is_repeated = self.function.places[slot.index()].is_repeated;
        let reached = before.iter().enumerate().filter_map(|(from, step)| step.map(|step| (from, step)));
        for (from, step) in reached {
            for to in from + 1..=self.words.len().min(from + LONGEST) {
                let said = &self.words[from..to];
                let says_nothing = said.iter().all(|word| self.says_nothing(word)) && !self.may_be_name(said)
                    || ablation::holds("said.title", is_joined && !self.gaps[to].has_mark && said.iter().all(is_title))
                    || self.is_polite(self.text(from, to));
                if self.gaps[from].joins || self.gaps[to].joins || says_nothing {
                    continue;
                }
                let several = is_repeated && said.iter().any(|word| self.joins(word));
                let (marks, is_claimed) = self.within(slot, items, (from, to));
                let cost = Cost {
                    is_doubtful: step.cost.is_doubtful || is_claimed || several,
                    marks: step.cost.marks + marks,
                    free_words: step.cost.free_words + said.len(),
                    small_ends: step.cost.small_ends
                        + [from, to - 1].iter().filter(|end| self.words[**end].is_carrier).count(),
                    ..step.cost
                };
                reach(column, to, BestPath { cost, from, anchor: None });
            }
        }
    }

    /// True for a word that is not a value: "the", "something". If it is written like a name it may be a value: "Will".
    fn says_nothing(&self, word: &TemplateWord) -> bool {
        let words = &self.templates.language.words;
        let is_subject = words.answers.subjects.contains(&word.folded);
        let is_name = word.is_name && !is_subject && !word.folded.contains(['\'', '’']);
        !is_name && (word.is_carrier || words.is_indefinite(&word.folded))
    }

    fn is_article(&self, word: &TemplateWord) -> bool {
        let phrases = self.templates.language.negation.beginning_with(&word.folded);
        phrases.iter().any(|phrase| phrase.rest.is_empty() && phrase.meaning == NegationRole::Article)
    }

    /// Several small words may be a name where a template wants one, also in lower case ("will may"), unless one of
    /// them leads to a value or stands for one.
    fn may_be_name(&self, words: &[TemplateWord]) -> bool {
        let is_small = |word: &TemplateWord| {
            let phrases = self.templates.language.negation.beginning_with(&word.folded);
            let mut roles = phrases.iter().filter(|phrase| phrase.rest.is_empty()).map(|phrase| phrase.meaning);
            roles.any(|role| matches!(role, NegationRole::Article | NegationRole::Lead))
                || self.templates.language.words.is_indefinite(&word.folded)
                || self.templates.language.words.answers.subjects.contains(&word.folded)
        };
        ablation::holds("said.small_name", words.len() > 1 && !words.iter().any(is_small))
    }

    /// True for a phrase behind an answer in a language where each character is a word: です.
    fn is_polite(&self, text: &str) -> bool {
        self.templates.language.words.answers.behind.iter().any(|phrase| phrase == text)
    }

    /// A word that joins two sentences stands within free text, and other free text follows.
    fn goes_on(&self, fillings: &[Filling]) -> bool {
        let followed = fillings.iter().rev().skip(1).filter(|one| one.anchor.is_none());
        followed.map(|one| one.span).any(|span| {
            let mut inside = self.utterance.words().iter().zip(&self.words).filter(|(word, _)| span.contains(**word));
            ablation::holds("said.addition_goes_on", inside.any(|(_, word)| self.joins(word)))
        })
    }

    /// True for a word that joins two values: "and".
    fn joins(&self, word: &TemplateWord) -> bool {
        self.templates.language.words.joints.conjunctions.contains(&word.folded)
    }

    /// These words as they were said.
    fn text(&self, from: usize, to: usize) -> &str {
        let spans = self.utterance.words();
        self.utterance.slice(Span::new(spans[from].start, spans[to - 1].end))
    }

    /// Every word of the template occurs in the utterance.
    fn has_words(&self, items: &[TemplateItem]) -> bool {
        items.iter().all(|item| match item {
            TemplateItem::Word(word) => self.words.iter().any(|said| *said.folded == **word),
            TemplateItem::Slot(_) | TemplateItem::Mark => true,
        })
    }

    fn word(&self, before: &[Option<BestPath>], word: &str) -> Vec<Option<BestPath>> {
        let mut column = vec![None; before.len()];
        for (from, _) in self.words.iter().enumerate().filter(|(_, said)| said.folded == word) {
            if let Some(step) = before[from] {
                column[from + 1] = Some(BestPath { from, anchor: None, ..step });
            }
        }
        column
    }

    fn mark(&self, before: &[Option<BestPath>]) -> Vec<Option<BestPath>> {
        let marked = |(at, step): (usize, &Option<BestPath>)| {
            let missing = usize::from(!self.gaps[at].has_mark);
            let cost = |cost: Cost| Cost { marks: cost.marks + missing, ..cost };
            step.map(|step| BestPath { cost: cost(step.cost), from: at, anchor: None })
        };
        before.iter().enumerate().map(marked).collect()
    }

    /// The evidence against these words as free text: the number of their punctuation marks, and whether they contain
    /// the end of a sentence or what recognizers found for other slots. A recognized value that no word leads to is
    /// part of a longer text, and so is a number.
    fn within(&self, slot: SlotId, items: &[TemplateItem], (from, to): (usize, usize)) -> (usize, bool) {
        let inside = &self.gaps[from + 1..to];
        let marks = inside.iter().filter(|gap| gap.has_mark).count();
        let has_stop = inside.iter().any(|gap| gap.has_stop);
        // A recognized value with a lower score is not evidence against free text.
        let found = self
            .anchors
            .iter()
            .zip(&self.places)
            .filter(|(anchor, (start, end))| from <= *start && *end <= to && start < end && anchor.score >= EVEN);
        let (mut claimed, mut others) = (false, BTreeSet::new());
        for (anchor, (start, end)) in found {
            let is_all = end - start == to - from;
            if anchor.slot == slot {
                // What was found for this very slot must be its whole value.
                claimed |= !is_all;
                continue;
            }
            // An article may lead to anything.
            let is_led = *start == from
                || !self.is_article(&self.words[start - 1])
                    && self.function.frames.leads(&self.words[start - 1].folded, anchor.slot);
            let is_common = self.function.places[anchor.slot.index()].is_common;
            // "Two seats for 1984": the template has a separate slot for the number.
            let is_elsewhere = is_common && items.contains(&TemplateItem::Slot(anchor.slot));
            // "i20, 2018"
            let is_behind_mark = *end == to && *start > from && self.gaps[*start].has_mark;
            // "Play 1984": the templates have the neighbouring word beside this slot, and never beside a number.
            let is_beside = |slot: SlotId| {
                let frames = &self.function.frames;
                from > 0 && frames.leads(&self.words[from - 1].folded, slot)
                    || self.words.get(to).is_some_and(|word| frames.follows(&word.folded, slot))
            };
            let is_only_led = is_common && is_beside(slot) && !is_beside(anchor.slot);
            // "Chairs for at most 60"
            let is_limit = self.function.places[anchor.slot.index()].is_limit
                && limits::words_beside(self.utterance, &self.templates.code, anchor.span).is_some();
            claimed |= ablation::holds("said.limit", is_limit && !is_elsewhere && !is_all);
            claimed |= is_all && !is_elsewhere && !ablation::holds("said.only_led", is_only_led)
                || ablation::holds("said.behind_mark", is_behind_mark)
                || (is_led && !is_common);
            if !is_common {
                others.insert(anchor.slot);
            }
        }
        // Values of several slots form a request of their own.
        claimed |= ablation::holds("said.several_values", others.len() > 1);
        (marks, claimed || has_stop)
    }

    /// The path to `end`, read from its end to its start.
    fn read_back(
        &self,
        items: &[TemplateItem],
        columns: &[Vec<Option<BestPath>>],
        (end, cost): (usize, Cost),
        template: &Template,
    ) -> TemplateMatch {
        let mut said = TemplateMatch {
            fillings: Vec::new(),
            others: Vec::new(),
            own_words: 0,
            telling_words: 0,
            found: 0,
            free_words: 0,
            marks: 0,
            is_opened: matches!(items.first(), Some(TemplateItem::Word(_))),
            ends_in_slot: matches!(items.last(), Some(TemplateItem::Slot(_))),
            is_doubtful: cost.is_doubtful,
            is_contextual: template.is_contextual,
            is_negative: template.is_negative,
            cost,
        };
        let spans = self.utterance.words();
        let mut to = end;
        for (at, item) in items.iter().enumerate().rev() {
            let Some(step) = columns[at + 1][to] else { break };
            match item {
                TemplateItem::Word(_) => {
                    said.own_words += 1;
                    said.telling_words += usize::from(!self.words[step.from].is_carrier);
                }
                TemplateItem::Mark => said.marks += usize::from(self.gaps[step.from].has_mark),
                TemplateItem::Slot(slot) => {
                    let is_beside = |other: Option<usize>| {
                        other
                            .and_then(|other| items.get(other))
                            .is_some_and(|other| matches!(other, TemplateItem::Slot(_)))
                    };
                    // A sign that a recognizer found has no words.
                    let free = |rule: FillingRule| {
                        let whole = Span::new(spans[step.from].start, spans[to - 1].end);
                        let is_owner = template.possessives.contains(slot);
                        let owner = is_owner.then(|| without_ending(self.utterance, whole)).flatten();
                        Filling::by(rule, *slot, owner.unwrap_or(whole))
                    };
                    let filling = match step.anchor {
                        Some(index) => {
                            let Anchor { slot, span, score } = self.anchors[index];
                            Filling { slot, span, anchor: Some(index), rule: None, confidence: score }
                        }
                        None if is_beside(at.checked_sub(1)) || is_beside(Some(at + 1)) => free(FillingRule::Beside),
                        None => free(FillingRule::Template),
                    };
                    said.found += usize::from(step.anchor.is_some());
                    if step.anchor.is_none() {
                        said.free_words += to - step.from;
                    }
                    said.fillings.push(filling);
                }
            }
            to = step.from;
        }
        if let (Some(slot), Some(last)) = (template.is_value_of, end.checked_sub(1)) {
            said.fillings.push(Filling::by(FillingRule::Template, slot, Span::new(spans[to].start, spans[last].end)));
        }
        said.fillings.reverse();
        keep_names_whole(&mut said.fillings, self.utterance);
        said
    }
}

/// A value without the possessive that a template has behind it.
fn without_ending(utterance: &Utterance, value: Span) -> Option<Span> {
    let text = utterance.slice(value);
    let ending = POSSESSIVES.iter().find(|possessive| text.ends_with(**possessive))?;
    let end = value.end - ending.chars().count();
    (end > value.start).then(|| Span::new(value.start, end))
}

fn reach(column: &mut [Option<BestPath>], at: usize, step: BestPath) {
    if column[at].is_none_or(|known| step.cost < known.cost) {
        column[at] = Some(step);
    }
}

#[expect(clippy::cast_precision_loss, reason = "words of an utterance")]
const fn words(number: usize) -> f32 {
    number as f32
}

/// In two values side by side, the first does not end in a lower-case word if it begins with a capital: Jane is the
/// first name of "Jane van der Berg".
fn keep_names_whole(fillings: &mut [Filling], utterance: &Utterance) {
    let spans = utterance.words();
    let is_capital = |word: &Span| utterance.slice(*word).chars().next().is_some_and(char::is_uppercase);
    for at in 1..fillings.len() {
        let (first, second) = (fillings[at - 1], fillings[at]);
        let is_beside = first.anchor.is_none()
            && second.anchor.is_none()
            && utterance.slice(Span::new(first.span.end, second.span.start)).trim().is_empty();
        let words: Vec<&Span> = spans.iter().filter(|word| first.span.contains(**word)).collect();
        let [name, rest @ ..] = &words[..] else { continue };
        let small = rest.iter().rev().take_while(|word| !is_capital(word)).count();
        if is_beside && is_capital(name) && small > 0 {
            let cut = words.len() - small;
            fillings[at - 1].span.end = words[cut - 1].end;
            fillings[at].span.start = words[cut].start;
        }
    }
}
