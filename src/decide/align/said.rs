//! Utterances that say a template of the author's, word for word, with values in its slots.
//!
//! A template is compared with what its slots may hold, never with the text of its marks: a slot that recognizers read
//! holds what one of them found there, any other slot holds a few words. Around it may stand what says nothing
//! ("hi, could you ... please"), and behind it a slot that another template of the function adds in just these words.

use std::collections::BTreeSet;

use crate::{
    decide::{
        align::{
            Anchor, Filling,
            model::{Aligner, SlotModel, Token},
            template::{Item, Template, Templates, parts},
            words::Shape,
        },
        carrier::{self, Around},
    },
    language::negation::Role,
    module::{FunctionId, SlotId},
    text::{Span, Utterance},
};

/// How an utterance says a template.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    pub fillings: Vec<Filling>,
    /// Words of the template itself, those of them that mean something, values that recognizers found, words of free text.
    pub own_words: usize,
    telling_words: usize,
    found: usize,
    pub free_words: usize,
    /// It begins with a word of its own.
    is_opened: bool,
    /// Nothing of its own stands behind the last slot.
    pub ends_in_slot: bool,
    /// Something that a recognizer found for another slot, or the end of a sentence, lies within free text.
    pub is_doubtful: bool,
    pub is_contextual: bool,
    pub is_negative: bool,
    score: f32,
}

impl Said {
    /// The values are where the template has its slots: enough of it is the template's own, or was found.
    pub(crate) fn is_certain(&self) -> bool {
        let is_told = self.telling_words > 0 || self.found > 0 || self.is_opened;
        !self.is_doubtful && !self.is_negative && is_told && self.free() <= MOST_FREE_OF_SLOTS
    }

    /// How sure it is that the template's function is meant, 0 to 1: the less, the more of it could be any words. `None`
    /// if that is too little to go by.
    pub(crate) fn sureness(&self) -> Option<f32> {
        let is_known = self.telling_words > 0 || self.found > 1 || self.own_words > 2;
        let sure = VERBATIM - FREE * self.free() * self.free();
        (is_known && self.is_certain() && !self.is_contextual && self.free() <= MOST_FREE).then_some(sure)
    }

    /// The share of it that could be any words.
    fn free(&self) -> f32 {
        words(self.free_words) / words(self.own_words + self.found + self.free_words).max(1.0)
    }
}

/// Words of an utterance that may say a template, at most.
const MOST_WORDS: usize = 64;

/// Nats for a value that a recognizer found, for a mark where the template has one, for a mark within free text, for what
/// a recognizer found for another slot within free text, and for each word around the template.
const FOUND: f32 = 8.5;
const MARKED: f32 = 3.0;
const BROKEN: f32 = -4.0;
const CLAIMED: f32 = -8.0;
const AROUND: f32 = 4.0;

/// Nats for an article before a value that a recognizer found: "a hundred".
const ARTICLE: f32 = -2.0;

/// What a recognizer found with less says nothing against free text.
const DOUBTED: f32 = 0.5;

/// How sure a function is whose template is said word for word, what free words take from that, and their share at most;
/// where only the slots are in question, more of it may be free.
const VERBATIM: f32 = 0.97;
const FREE: f32 = 0.3;
const MOST_FREE: f32 = 0.75;
const MOST_FREE_OF_SLOTS: f32 = 0.85;

/// How sure a value of free text is: with words of the template beside it, and beside another one.
const PARTED: f32 = 0.92;
const SIDE_BY_SIDE: f32 = 0.8;

/// An utterance, as templates are compared with it.
pub(crate) struct Compared<'a> {
    utterance: &'a Utterance,
    words: &'a [Token],
    anchors: &'a [Anchor],
    /// The words of each anchor.
    places: Vec<(usize, usize)>,
    /// What stands before each word, and behind the last.
    gaps: Vec<Gap>,
    around: Around,
}

#[derive(Debug, Clone, Copy, Default)]
struct Gap {
    /// A comma or its like.
    has_mark: bool,
    /// The end of a sentence.
    has_stop: bool,
    /// The word before and the one behind are written as one: "Mary-Ann".
    joins: bool,
}

impl<'a> Compared<'a> {
    /// `None` if it is too long to be a template.
    pub(super) fn new(
        aligner: &Aligner,
        utterance: &'a Utterance,
        words: &'a [Token],
        anchors: &'a [Anchor],
    ) -> Option<Self> {
        if words.len() > MOST_WORDS {
            return None;
        }
        let spans = utterance.words();
        let places = anchors.iter().map(|anchor| {
            let from = spans.partition_point(|word| word.end <= anchor.span.start);
            (from, spans.partition_point(|word| word.start < anchor.span.end))
        });
        let gap = |at: usize| {
            let before = at.checked_sub(1).map(|before| spans[before]);
            let (start, end) =
                (before.map_or(0, |word| word.end), spans.get(at).map_or(utterance.len(), |word| word.start));
            let word = before.map_or("", |word| utterance.slice(word));
            Gap::new(utterance.slice(Span::new(start, end)), word, at > 0 && at < spans.len())
        };
        let around = carrier::around(aligner.language, utterance);
        let (places, gaps) = (places.collect(), (0..=spans.len()).map(gap).collect());
        Some(Self { utterance, words, anchors, places, gaps, around })
    }
}

impl Gap {
    /// `before` is the word before it.
    fn new(text: &str, before: &str, is_inside: bool) -> Self {
        let is_written_apart = text.chars().any(char::is_whitespace);
        let ends = |mark: char| {
            matches!(mark, '?' | '!' | '。' | '？' | '！') || (mark == '.' && !is_short_for_something(before))
        };
        let is_unspaced = text.contains(['。', '？', '！']);
        Self {
            has_mark: text.chars().any(parts),
            has_stop: is_inside && (is_written_apart || is_unspaced) && text.chars().any(ends),
            joins: is_inside && !text.is_empty() && !is_written_apart && !is_unspaced && !text.chars().any(parts),
        }
    }
}

/// "J.", "St.", "dr."
fn is_short_for_something(word: &str) -> bool {
    let is_vowel = |letter: char| matches!(letter.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u');
    let letters = word.chars().count();
    letters == 1 || (letters <= 3 && (!word.chars().any(is_vowel) || word.starts_with(char::is_uppercase)))
}

/// The best way to some place in the utterance.
#[derive(Debug, Clone, Copy)]
struct Step {
    score: f32,
    /// Where the item before ended.
    from: usize,
    anchor: Option<usize>,
    is_doubtful: bool,
}

impl Aligner {
    /// The template of the function that the utterance says; of several the one with most words of its own.
    pub(crate) fn said(&self, function: FunctionId, compared: &Compared<'_>) -> Option<Said> {
        let templates = &self.templates[function.index()];
        let mut best: Option<Said> = None;
        let mut consider = |items: &[Item], template: &Template| {
            if let Some(found) = self.compare(function, items, template, compared) {
                let is_better = |known: &Said| {
                    (!found.is_doubtful, found.own_words, found.score)
                        > (!known.is_doubtful, known.own_words, known.score)
                };
                if best.as_ref().is_none_or(is_better) {
                    best = Some(found);
                }
            }
        };
        for template in templates.all.iter().filter(|template| compared.has_words(&template.items)) {
            consider(&template.items, template);
            for addition in templates.additions.iter().filter(|addition| compared.has_words(addition)) {
                let ends_in_slot = matches!(template.items.last(), Some(Item::Slot(_)));
                let is_new = addition.last().is_some_and(|slot| !template.items.contains(slot));
                if ends_in_slot && is_new && !template.is_negative {
                    consider(&[&template.items[..], addition].concat(), template);
                }
            }
        }
        best
    }

    fn compare(
        &self,
        function: FunctionId,
        items: &[Item],
        template: &Template,
        compared: &Compared<'_>,
    ) -> Option<Said> {
        let (slots, templates) = (&self.model(function).slots[..], &self.templates[function.index()]);
        let length = compared.words.len();
        let mut columns: Vec<Vec<Option<Step>>> = Vec::with_capacity(items.len() + 1);
        let mut first = vec![None; length + 1];
        for start in compared.around.starts.iter().filter(|start| **start <= length) {
            let score = AROUND * words(*start);
            first[*start] = Some(Step { score, from: *start, anchor: None, is_doubtful: false });
        }
        columns.push(first);
        for item in items {
            let before = columns.last()?;
            let column = match item {
                Item::Word(word) => compared.word(before, word),
                Item::Mark => compared.mark(before),
                Item::Slot(slot) => self.value(*slot, (slots, templates), before, compared),
            };
            if column.iter().all(Option::is_none) {
                return None;
            }
            columns.push(column);
        }
        let last = columns.last()?;
        let ends = compared.around.ends.iter().filter_map(|end| {
            let step = (*last.get(*end)?)?;
            Some((*end, step.score + AROUND * words(length - end)))
        });
        let (end, score) = ends.max_by(|one, other| one.1.total_cmp(&other.1))?;
        Some(read_back(items, &columns, end, score, template, compared))
    }

    /// The slot filled from each place that is reached: with what a recognizer found, or with a few words.
    fn value(
        &self,
        slot: SlotId,
        (slots, templates): (&[SlotModel], &Templates),
        before: &[Option<Step>],
        compared: &Compared<'_>,
    ) -> Vec<Option<Step>> {
        let mut column = vec![None; before.len()];
        for (index, (from, to)) in compared.places.iter().copied().enumerate() {
            let anchor = &compared.anchors[index];
            // A sign is no word: "£".
            let is_sign = from == to && !compared.utterance.slice(anchor.span).trim().is_empty();
            if from == to && !is_sign {
                continue;
            }
            let article = from.checked_sub(1).filter(|before| compared.words[*before].carrier);
            for (start, penalty) in [(Some(from), 0.0), (article, ARTICLE)] {
                let Some((start, step)) = start.and_then(|start| Some((start, before[start]?))) else { continue };
                let is_taken = is_sign && step.anchor.is_some_and(|other| compared.places[other] == (from, to));
                if anchor.slot == slot && !is_taken {
                    let score = step.score + FOUND * anchor.score + penalty;
                    reach(&mut column, to, Step { score, from: start, anchor: Some(index), ..step });
                }
            }
        }
        let model = &slots[slot.index()];
        if model.open {
            self.free(model, compared.words, |from, to, fit| {
                let Some(step) = before[from] else { return };
                let said = &compared.words[from..to];
                let says_nothing = said.iter().all(|word| self.says_nothing(word)) && !self.may_be_name(said)
                    || self.is_polite(compared.text(from, to));
                if compared.gaps[from].joins || compared.gaps[to].joins || says_nothing {
                    return;
                }
                let several = model.repeated && compared.words[from..to].iter().any(|word| self.joins(word));
                let (penalty, is_claimed) = compared.within(slot, (slots, templates), (from, to));
                let is_doubtful = is_claimed || several;
                let score = step.score + fit + penalty;
                reach(
                    &mut column,
                    to,
                    Step { score, from, anchor: None, is_doubtful: step.is_doubtful || is_doubtful },
                );
            });
        }
        column
    }
}

impl Aligner {
    /// True for a word that is no value: "the", "something"; written as a name it may be one: "Will".
    fn says_nothing(&self, word: &Token) -> bool {
        let is_subject = self.language.words.answers.subjects.contains(&word.folded);
        let is_name = word.shape == Shape::Capitalized && !is_subject && !word.folded.contains(['\'', '’']);
        !is_name && (word.carrier || self.language.words.is_indefinite(&word.folded))
    }

    /// Several small words may be a name where a template wants one, in lower case too ("will may"), unless one of them leads
    /// to something, or stands for it.
    fn may_be_name(&self, words: &[Token]) -> bool {
        let is_small = |word: &Token| {
            let phrases = self.language.negation.beginning_with(&word.folded);
            let mut roles = phrases.iter().filter(|phrase| phrase.rest.is_empty()).map(|phrase| phrase.meaning);
            roles.any(|role| matches!(role, Role::Article | Role::Lead))
                || self.language.words.is_indefinite(&word.folded)
                || self.language.words.answers.subjects.contains(&word.folded)
        };
        words.len() > 1 && !words.iter().any(is_small)
    }

    /// True for what stands behind an answer where a word is a character: です.
    fn is_polite(&self, text: &str) -> bool {
        self.language.words.answers.behind.iter().any(|phrase| phrase == text)
    }

    /// True for a word that joins two values: "and".
    fn joins(&self, word: &Token) -> bool {
        self.language.words.joints.conjunctions.contains(&word.folded)
    }
}

impl Compared<'_> {
    /// What these words are as they were said.
    fn text(&self, from: usize, to: usize) -> &str {
        let spans = self.utterance.words();
        self.utterance.slice(Span::new(spans[from].start, spans[to - 1].end))
    }

    /// Every word of the template is said somewhere.
    fn has_words(&self, items: &[Item]) -> bool {
        items.iter().all(|item| match item {
            Item::Word(word) => self.words.iter().any(|said| *said.folded == **word),
            Item::Slot(_) | Item::Mark => true,
        })
    }

    fn word(&self, before: &[Option<Step>], word: &str) -> Vec<Option<Step>> {
        let mut column = vec![None; before.len()];
        for (from, _) in self.words.iter().enumerate().filter(|(_, said)| said.folded == word) {
            if let Some(step) = before[from] {
                column[from + 1] = Some(Step { from, anchor: None, ..step });
            }
        }
        column
    }

    fn mark(&self, before: &[Option<Step>]) -> Vec<Option<Step>> {
        let marked = |(at, step): (usize, &Option<Step>)| {
            let score = if self.gaps[at].has_mark { MARKED } else { 0.0 };
            step.map(|step| Step { score: step.score + score, from: at, anchor: None, ..step })
        };
        before.iter().enumerate().map(marked).collect()
    }

    /// What speaks against these words as free text: marks, the end of a sentence, and what recognizers found for other
    /// slots. What nothing leads to is a part of a longer text, and so is a number.
    fn within(
        &self,
        slot: SlotId,
        (slots, templates): (&[SlotModel], &Templates),
        (from, to): (usize, usize),
    ) -> (f32, bool) {
        let inside = &self.gaps[from + 1..to];
        let marks = inside.iter().filter(|gap| gap.has_mark).count();
        let has_stop = inside.iter().any(|gap| gap.has_stop);
        let found =
            self.anchors.iter().zip(&self.places).filter(|(anchor, (start, end))| {
                from <= *start && *end <= to && start < end && anchor.score >= DOUBTED
            });
        let (mut claimed, mut others) = (false, BTreeSet::new());
        for (anchor, (start, end)) in found {
            let is_all = end - start == to - from;
            if anchor.slot == slot {
                // What was found for this very slot is all of its value.
                claimed |= !is_all;
                continue;
            }
            let is_led = *start == from || templates.leads(&self.words[start - 1].folded, anchor.slot);
            let is_common = slots[anchor.slot.index()].is_common;
            // "i20, 2018"
            let is_behind_mark = *end == to && *start > from && self.gaps[*start].has_mark;
            claimed |= is_all || is_behind_mark || (is_led && !is_common);
            if !is_common {
                others.insert(anchor.slot);
            }
        }
        // Values of several slots are a request of their own.
        claimed |= others.len() > 1;
        let claim = if claimed { CLAIMED } else { 0.0 };
        (BROKEN * words(marks) + claim, claimed || has_stop)
    }
}

fn reach(column: &mut [Option<Step>], at: usize, step: Step) {
    if column[at].is_none_or(|known| step.score > known.score) {
        column[at] = Some(step);
    }
}

#[expect(clippy::cast_precision_loss, reason = "words of an utterance")]
const fn words(number: usize) -> f32 {
    number as f32
}

/// The way to `end`, from its end to its start.
fn read_back(
    items: &[Item],
    columns: &[Vec<Option<Step>>],
    end: usize,
    score: f32,
    template: &Template,
    compared: &Compared<'_>,
) -> Said {
    let mut said = Said {
        fillings: Vec::new(),
        own_words: 0,
        telling_words: 0,
        found: 0,
        free_words: 0,
        is_opened: matches!(items.first(), Some(Item::Word(_))),
        ends_in_slot: matches!(items.last(), Some(Item::Slot(_))),
        is_doubtful: columns[items.len()][end].is_some_and(|step| step.is_doubtful),
        is_contextual: template.is_contextual,
        is_negative: template.is_negative,
        score,
    };
    let spans = compared.utterance.words();
    let mut to = end;
    for (at, item) in items.iter().enumerate().rev() {
        let Some(step) = columns[at + 1][to] else { break };
        match item {
            Item::Word(_) => {
                said.own_words += 1;
                said.telling_words += usize::from(!compared.words[step.from].carrier);
            }
            Item::Mark => {}
            Item::Slot(slot) => {
                let is_beside = |other: Option<usize>| {
                    other.and_then(|other| items.get(other)).is_some_and(|other| matches!(other, Item::Slot(_)))
                };
                let confidence = match step.anchor {
                    Some(anchor) => compared.anchors[anchor].score,
                    None if is_beside(at.checked_sub(1)) || is_beside(Some(at + 1)) => SIDE_BY_SIDE,
                    None => PARTED,
                };
                let span = match step.anchor {
                    Some(anchor) => compared.anchors[anchor].span,
                    None => Span::new(spans[step.from].start, spans[to - 1].end),
                };
                said.found += usize::from(step.anchor.is_some());
                said.free_words += if step.anchor.is_none() { to - step.from } else { 0 };
                said.fillings.push(Filling { slot: *slot, span, anchor: step.anchor, confidence });
            }
        }
        to = step.from;
    }
    said.fillings.reverse();
    keep_names_whole(&mut said.fillings, compared);
    said
}

/// Of two values side by side, the first does not end in a small word if it begins with a capital: Jane is the first name
/// of "Jane van der Berg".
fn keep_names_whole(fillings: &mut [Filling], compared: &Compared<'_>) {
    let spans = compared.utterance.words();
    let is_capital = |word: &Span| compared.utterance.slice(*word).chars().next().is_some_and(char::is_uppercase);
    for at in 1..fillings.len() {
        let (first, second) = (fillings[at - 1], fillings[at]);
        let is_beside = first.anchor.is_none()
            && second.anchor.is_none()
            && compared.utterance.slice(Span::new(first.span.end, second.span.start)).trim().is_empty();
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
