//! The words around the marks of each slot in a function's templates, and how a span of an utterance fits them.
//!
//! A template `play <album> by <artist>` frames an album by "play" and "by". Nothing is weighed here: the weight of
//! such a frame is fitted over many modules (`candidates`).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rustc_hash::FxHashMap;

use super::{
    template::{Template, TemplateItem},
    words::{Gap, gaps},
};
use crate::{
    decide::{
        bars::bars,
        carrier::{self, Around},
        features::flag,
        filling::Anchor,
    },
    exemplars::ShownValues,
    language::Language,
    module::SlotId,
    text::{Span, Utterance},
};

/// The most words that are compared on each side of a mark; the edge of a sentence counts as one.
const REACH: usize = 3;
/// The most words of a span that frames propose.
const LONGEST: usize = 24;

/// How a span fits the places of a slot in the templates.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Framing {
    /// The number of words before it, and behind it, that stand in the same way beside a mark of the slot.
    pub left: f32,
    pub right: f32,
    /// The sum of both at the mark with the highest sum; 0 if no mark matches on both sides.
    pub both: f32,
    /// The highest such sum for any other slot, and its most matching words before the span.
    pub other_both: f32,
    pub other_left: f32,
    /// For the word before it: the share of its places in the templates at which the slot follows, and another slot.
    pub follows: f32,
    pub other_follows: f32,
    /// For the word behind it: the share of its places in the templates at which the slot precedes.
    pub precedes: f32,
    /// The highest share at which another slot follows a word inside the span: "Hove from 9 Church Row".
    pub leads_on: f32,
    /// 1 if a template has the slot.
    pub shown: f32,
    /// 1 if exemplars show these words as a value of the slot.
    pub known: f32,
    /// The share of the slot's values in exemplars that contain a word of the span: the mean over its words.
    pub own_words: f32,
    /// How much higher that share is for another slot, at the word where the difference is largest: "my" of "my running
    /// mix".
    pub other_words: f32,
}

/// What stands beside a mark or a word of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Neighbour {
    /// The sentence begins or ends here.
    Edge,
    Slot(SlotId),
    /// A word of the templates, by its number.
    Word(usize),
}

/// One side of a mark, read away from it.
type MarkSide = Vec<Neighbour>;

/// How often something stands in templates, and how often beside each slot.
type NeighbourCounts = FxHashMap<Neighbour, (f32, FxHashMap<SlotId, f32>)>;

/// The frames of a function's templates. Immutable.
#[derive(Debug, Default)]
pub(super) struct Frames {
    words: FxHashMap<Box<str>, usize>,
    /// The sides before marks, and those behind them: each once, sorted.
    before: Vec<MarkSide>,
    behind: Vec<MarkSide>,
    /// For each side in `before`, the slots whose marks follow it, each with the index in `behind` of the side that
    /// follows the mark.
    marks: Vec<Vec<(SlotId, usize)>>,
    /// For each side in `behind`, the slots whose marks it follows.
    ended: Vec<Vec<SlotId>>,
    followers: NeighbourCounts,
    preceders: NeighbourCounts,
    /// By slot.
    shown: Vec<bool>,
    /// Values that exemplars show, as folded words, by their first word.
    values: HashMap<String, Vec<(SlotId, Vec<String>)>>,
    /// For each word of those values, the share of a slot's values that contain it.
    shares: HashMap<String, Vec<(SlotId, f32)>>,
}

impl Frames {
    /// `values` are the values that exemplars show, by slot.
    pub(super) fn new<'t>(templates: impl Iterator<Item = &'t Template>, values: &[Option<&ShownValues>]) -> Self {
        let mut frames = Self { shown: vec![false; values.len()], ..Self::default() };
        let mut marks: BTreeMap<MarkSide, BTreeSet<(SlotId, MarkSide)>> = BTreeMap::new();
        for template in templates {
            let sentence = frames.sentence(template);
            for (at, beside) in sentence.iter().enumerate() {
                if let Neighbour::Slot(slot) = *beside {
                    frames.shown[slot.index()] = true;
                    let before = sentence[..at].iter().rev().take(REACH).copied().collect();
                    let behind = sentence[at + 1..].iter().take(REACH).copied().collect();
                    marks.entry(before).or_default().insert((slot, behind));
                }
            }
            for pair in sentence.windows(2) {
                count(&mut frames.followers, pair[0], pair[1]);
                count(&mut frames.preceders, pair[1], pair[0]);
            }
        }
        let mut behind: BTreeMap<&MarkSide, BTreeSet<SlotId>> = BTreeMap::new();
        for (slot, side) in marks.values().flatten() {
            behind.entry(side).or_default().insert(*slot);
        }
        let places: BTreeMap<&MarkSide, usize> = behind.keys().enumerate().map(|(at, side)| (*side, at)).collect();
        let of_side =
            |marks: &BTreeSet<(SlotId, MarkSide)>| marks.iter().map(|(slot, side)| (*slot, places[side])).collect();
        frames.marks = marks.values().map(of_side).collect();
        frames.ended = behind.values().map(|slots| slots.iter().copied().collect()).collect();
        frames.behind = behind.into_keys().cloned().collect();
        frames.before = marks.into_keys().collect();
        for (slot, shown) in values.iter().enumerate() {
            if let Some(shown) = shown {
                frames.add_values(SlotId::from_index(slot), shown);
            }
        }
        frames
    }

    /// A template with its two edges, without the punctuation between slots.
    fn sentence(&mut self, template: &Template) -> Vec<Neighbour> {
        let beside = |item: &TemplateItem| match item {
            TemplateItem::Word(word) => {
                let next = self.words.len();
                Some(Neighbour::Word(*self.words.entry(word.clone()).or_insert(next)))
            }
            TemplateItem::Slot(slot) => Some(Neighbour::Slot(*slot)),
            TemplateItem::Mark => None,
        };
        let items: Vec<Neighbour> = template.items.iter().filter_map(beside).collect();
        std::iter::once(Neighbour::Edge).chain(items).chain([Neighbour::Edge]).collect()
    }

    fn add_values(&mut self, slot: SlotId, shown: &ShownValues) {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for (value, count) in shown.values() {
            let value = Utterance::new(value);
            let words: Vec<String> = value.folded_words().map(str::to_owned).collect();
            for word in words.iter().collect::<BTreeSet<_>>() {
                *counts.entry(word.clone()).or_default() += count;
            }
            if let Some(first) = words.first() {
                self.values.entry(first.clone()).or_default().push((slot, words));
            }
        }
        // One is added to the number of values, so that a word seen once counts less than a word seen often.
        let all = words(shown.values().map(|(_, count)| count).sum::<usize>() + 1);
        for (word, count) in counts {
            self.shares.entry(word).or_default().push((slot, words(count) / all));
        }
    }

    /// The word leads to the slot in some template.
    pub(super) fn leads(&self, word: &str, slot: SlotId) -> bool {
        let followers = self.words.get(word).and_then(|word| self.followers.get(&Neighbour::Word(*word)));
        followers.is_some_and(|(_, slots)| slots.contains_key(&slot))
    }

    /// The word follows the slot in some template.
    pub(super) fn follows(&self, word: &str, slot: SlotId) -> bool {
        let preceders = self.words.get(word).and_then(|word| self.preceders.get(&Neighbour::Word(*word)));
        preceders.is_some_and(|(_, slots)| slots.contains_key(&slot))
    }
}

fn count(counts: &mut NeighbourCounts, one: Neighbour, beside: Neighbour) {
    let (all, slots) = counts.entry(one).or_default();
    *all += 1.0;
    if let Neighbour::Slot(slot) = beside {
        *slots.entry(slot).or_default() += 1.0;
    }
}

/// An utterance, as the frames of one function see it.
pub(crate) struct FramedUtterance<'a> {
    frames: &'a Frames,
    spans: &'a [Span],
    folded: Vec<&'a str>,
    /// `None` for a word that no template contains.
    words: Vec<Option<usize>>,
    /// The place before each word, and the place behind the last.
    places: Vec<WordGap>,
    around: Around,
}

/// What is known of a place between two words.
#[derive(Debug, Clone, Default)]
struct WordGap {
    /// A request may begin here; a request may end here.
    starts: bool,
    ends: bool,
    has_mark: bool,
    /// The slots for which a recognizer found words that end here, and words that begin here.
    found_before: Vec<SlotId>,
    found_behind: Vec<SlotId>,
}

/// On which side of a place templates are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Before,
    Behind,
}

impl<'a> FramedUtterance<'a> {
    pub(super) fn new(frames: &'a Frames, utterance: &'a Utterance, language: &Language, anchors: &[Anchor]) -> Self {
        let spans = utterance.words();
        let folded: Vec<&str> = utterance.folded_words().collect();
        let words = folded.iter().map(|word| frames.words.get(*word).copied()).collect();
        let around = carrier::around(language, utterance);
        let place = |(at, gap): (usize, Gap)| WordGap {
            starts: gap.has_stop || around.starts.contains(&at),
            ends: gap.has_stop || around.ends.contains(&at),
            has_mark: gap.has_mark,
            ..WordGap::default()
        };
        let mut places: Vec<WordGap> = gaps(utterance, language).into_iter().enumerate().map(place).collect();
        for anchor in anchors {
            let (from, to) = touched(spans, anchor.span);
            places[from].found_behind.push(anchor.slot);
            places[to].found_before.push(anchor.slot);
        }
        Self { frames, spans, folded, words, places, around }
    }

    /// How the span fits the places of the slot.
    pub(crate) fn framing(&self, slot: SlotId, span: Span) -> Framing {
        let (from, to) = touched(self.spans, span);
        let frames = self.frames;
        let mut all = vec![Framing::default(); frames.shown.len()];
        let behind: FxHashMap<usize, f32> = self.matching(Way::Behind, to).collect();
        for (side, right) in &behind {
            for slot in &frames.ended[*side] {
                let one = &mut all[slot.index()];
                one.right = one.right.max(*right);
            }
        }
        for (side, left) in self.matching(Way::Before, from) {
            for (slot, side) in &frames.marks[side] {
                let one = &mut all[slot.index()];
                one.left = one.left.max(left);
                let right = behind.get(side).copied().unwrap_or_default();
                if right > 0.0 {
                    let most = bars().reach_of_both;
                    one.both = one.both.max(left.min(most) + right.min(most));
                }
            }
        }
        let others = || all.iter().enumerate().filter(|(other, _)| *other != slot.index()).map(|(_, one)| one);
        let (follows, other_follows) = share(&frames.followers, &self.beside(Way::Before, from), slot);
        let (precedes, _) = share(&frames.preceders, &self.beside(Way::Behind, to), slot);
        let within = (from + 1..to).filter_map(|place| self.word(Way::Before, place).map(Neighbour::Word));
        let leads_on = within.map(|word| share(&frames.followers, &[word], slot).1).fold(0.0, f32::max);
        Framing {
            other_both: others().map(|one| one.both).fold(0.0, f32::max),
            other_left: others().map(|one| one.left).fold(0.0, f32::max),
            follows,
            other_follows,
            precedes,
            leads_on,
            shown: flag(frames.shown[slot.index()]),
            known: flag(self.values(from).any(|(own, length)| own == slot && from + length == to)),
            own_words: self.of_values(slot, from, to).map(|(own, _)| own).sum::<f32>() / words(to - from).max(1.0),
            other_words: self.of_values(slot, from, to).map(|(own, other)| other - own).fold(0.0, f32::max),
            ..all[slot.index()]
        }
    }

    /// For each of these words, the share of the slot's values that contain it, and the highest such share of another
    /// slot.
    fn of_values(&self, slot: SlotId, from: usize, to: usize) -> impl Iterator<Item = (f32, f32)> + '_ {
        self.folded[from..to].iter().map(move |word| {
            let shares = self.frames.shares.get(*word).map_or(&[][..], Vec::as_slice);
            shares.iter().fold(
                (0.0, 0.0),
                |(own, other): (f32, f32), (of, share)| {
                    if *of == slot { (*share, other) } else { (own, other.max(*share)) }
                },
            )
        })
    }

    /// The span is everything that was said, except greetings and politeness.
    pub(crate) fn is_whole(&self, span: Span) -> bool {
        let (from, to) = touched(self.spans, span);
        from < to && self.around.starts.contains(&from) && self.around.ends.contains(&to)
    }

    /// The span is only a greeting or politeness around the rest.
    pub(crate) fn is_around(&self, span: Span) -> bool {
        let (from, to) = touched(self.spans, span);
        let is_before = || self.around.starts.iter().any(|start| to <= *start);
        let is_behind = || self.around.ends.iter().any(|end| *end <= from && *end < self.spans.len());
        is_before() || is_behind()
    }

    /// Spans that may be free text of a slot, with the number of words that support them. They lie between the end of a
    /// frame of the slot, or a separator, and the start of one. Values that exemplars show are added.
    pub(crate) fn proposed(&self, is_open: impl Fn(SlotId) -> bool) -> Vec<(SlotId, Span, f32)> {
        let shown: Vec<SlotId> =
            (0..self.frames.shown.len()).filter(|slot| self.frames.shown[*slot]).map(SlotId::from_index).collect();
        let open: Vec<SlotId> = shown.into_iter().filter(|slot| is_open(*slot)).collect();
        let framed = |way: Way| {
            (0..self.places.len()).map(|place| self.framed(way, place, &open)).collect::<Vec<BTreeMap<SlotId, f32>>>()
        };
        let (opened, closed) = (framed(Way::Before), framed(Way::Behind));
        let mut proposed = Vec::new();
        for (from, opened) in opened.iter().enumerate().take(self.spans.len()) {
            let span = |to: usize| Span::new(self.spans[from].start, self.spans[to - 1].end);
            for (to, closed) in closed.iter().enumerate().skip(from + 1).take(LONGEST) {
                for (slot, left) in opened {
                    let speaking = closed.get(slot).map(|right| left + right).filter(|both| *both > 0.0);
                    proposed.extend(speaking.map(|both| (*slot, span(to), both)));
                }
            }
            for (slot, length) in self.values(from).filter(|(slot, _)| is_open(*slot)) {
                proposed.push((slot, span(from + length), words(length)));
            }
        }
        proposed
    }

    /// Those of the slots with a frame that matches at the place, with the number of matching words; all of them at a
    /// separator.
    fn framed(&self, way: Way, place: usize, slots: &[SlotId]) -> BTreeMap<SlotId, f32> {
        let parted = if self.is_parted(way, place) { slots } else { &[] };
        let mut framed: BTreeMap<SlotId, f32> = parted.iter().map(|slot| (*slot, 0.0)).collect();
        for (side, length) in self.matching(way, place).filter(|(_, length)| *length >= 1.0) {
            let of_side: Vec<SlotId> = match way {
                Way::Before => self.frames.marks[side].iter().map(|(slot, _)| *slot).collect(),
                Way::Behind => self.frames.ended[side].clone(),
            };
            for slot in of_side.into_iter().filter(|slot| slots.contains(slot)) {
                let known = framed.entry(slot).or_default();
                *known = known.max(length);
            }
        }
        framed
    }

    /// A value may begin behind the place (or end before it), whatever the templates say.
    fn is_parted(&self, way: Way, place: usize) -> bool {
        let place = &self.places[place];
        place.has_mark
            || match way {
                Way::Before => place.starts || !place.found_before.is_empty(),
                Way::Behind => place.ends || !place.found_behind.is_empty(),
            }
    }

    /// The sides that match at the place, with the number of matching words.
    fn matching(&self, way: Way, place: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let sides = match way {
            Way::Before => &self.frames.before,
            Way::Behind => &self.frames.behind,
        };
        let beginning_with = |one: Neighbour| {
            sides.partition_point(|side| side[0] < one)..sides.partition_point(|side| side[0] <= one) //
        };
        let slots =
            beginning_with(Neighbour::Edge).end..sides.partition_point(|side| !matches!(side[0], Neighbour::Word(_)));
        let beside = self.beside(way, place).into_iter().map(beginning_with).collect::<Vec<_>>();
        beside.into_iter().chain([slots]).flatten().map(move |side| (side, self.length(&sides[side], way, place)))
    }

    /// What may match a template beside the place: the edge of the sentence, a word.
    fn beside(&self, way: Way, place: usize) -> Vec<Neighbour> {
        let edge = self.is_edge(way, place).then_some(Neighbour::Edge);
        edge.into_iter().chain(self.word(way, place).map(Neighbour::Word)).collect()
    }

    fn is_edge(&self, way: Way, place: usize) -> bool {
        match way {
            Way::Before => self.places[place].starts,
            Way::Behind => self.places[place].ends,
        }
    }

    fn word(&self, way: Way, place: usize) -> Option<usize> {
        let at = match way {
            Way::Before => place.checked_sub(1)?,
            Way::Behind => place,
        };
        self.words.get(at).copied().flatten()
    }

    /// How many words of the side match beside the place.
    fn length(&self, side: &[Neighbour], way: Way, mut place: usize) -> f32 {
        let mut length = 0.0;
        for beside in side {
            match *beside {
                Neighbour::Edge => return length + flag(self.is_edge(way, place)),
                Neighbour::Slot(slot) => {
                    let found = match way {
                        Way::Before => &self.places[place].found_before,
                        Way::Behind => &self.places[place].found_behind,
                    };
                    return length + if found.contains(&slot) { 1.0 } else { bars().other_mark };
                }
                Neighbour::Word(word) if self.word(way, place) == Some(word) => {
                    length += 1.0;
                    place = if way == Way::Before { place - 1 } else { place + 1 };
                }
                Neighbour::Word(_) => return length,
            }
        }
        length
    }

    /// The values that exemplars show and that begin at the word, with their lengths in words.
    fn values(&self, from: usize) -> impl Iterator<Item = (SlotId, usize)> + '_ {
        let rest = &self.folded[from.min(self.folded.len())..];
        let known = rest.first().and_then(|first| self.frames.values.get(*first)).into_iter().flatten();
        let is_said = move |words: &[String]| {
            words.len() <= rest.len() && words.iter().zip(rest).all(|(word, said)| word == said)
        };
        known.filter(move |(_, words)| is_said(words)).map(|(slot, words)| (*slot, words.len()))
    }
}

/// For each of these, the share of its places in the templates at which the slot stands beside it, and at which another
/// slot does; the highest of each.
fn share(counts: &NeighbourCounts, beside: &[Neighbour], slot: SlotId) -> (f32, f32) {
    let shares = beside.iter().filter_map(|beside| counts.get(beside)).map(|(all, slots)| {
        let own = slots.get(&slot).copied().unwrap_or_default();
        let every: f32 = slots.values().sum();
        // One is added to the number of places, so that a word seen once counts less than a word seen often.
        (own / (all + 1.0), (every - own) / (all + 1.0))
    });
    shares.fold((0.0, 0.0), |most: (f32, f32), one| (most.0.max(one.0), most.1.max(one.1)))
}

/// The words that a span touches: the index of the first, and the index behind the last.
fn touched(words: &[Span], span: Span) -> (usize, usize) {
    let from = words.partition_point(|word| word.end <= span.start);
    (from, words.partition_point(|word| word.start < span.end).max(from))
}

#[expect(clippy::cast_precision_loss, reason = "words of a value")]
const fn words(number: usize) -> f32 {
    number as f32
}
