//! Which words fill which slots, all evidence weighed together.
//!
//! A candidate is a slot with a span: one that a recognizer found, that alignment with the function's templates reads, or
//! that the reader proposes. Each has the same few named numbers ([`Evidence`]), from which a logistic regression makes
//! a probability (`SlotModel`). The fillings are the best set of candidates of which no two overlap.

mod evidence;
mod model;
mod select;
mod surface;

pub use evidence::Evidence;
pub(crate) use model::SlotModel;
use surface::{Shape, Surface};

use std::collections::HashMap;

use crate::{
    decide::{
        align::{Anchor, Filling},
        asked,
        features::flag,
        reader::SpanScores,
        situation::Situation,
    },
    module::{Function, FunctionId, RecognizerKind, Slot, SlotId, SlotKind},
    recognize::Mention,
    text::{Span, fold},
};

/// Spans that the reader gives less log-odds are not looked at, and readings of the templates that are less likely.
const PROPOSED: f32 = -3.0;
const READ: f32 = 0.05;
/// What the templates read this surely the reader does not cut otherwise.
const TRUSTED: f32 = 0.3;
/// Candidates that are looked at, the reader's best first.
const MOST: usize = 48;

/// A slot with a span that may fill it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    pub slot: SlotId,
    pub span: Span,
    /// Which of the anchors it is; `None` for free text.
    pub anchor: Option<usize>,
    pub evidence: Evidence,
}

/// A span that a recognizer found for a slot, with what it found; nothing where somebody else's did.
pub(crate) type Found<'a> = (Anchor, Option<&'a Mention>);

/// The slots of a function with the words that fill them, in the order of the utterance.
pub(crate) fn fillings(
    situation: &Situation<'_>,
    function: FunctionId,
    found: &[Found<'_>],
    asked: &[SlotId],
    scores: &SpanScores,
) -> Vec<Filling> {
    let candidates = candidates(situation, function, found, asked, scores);
    select::best(situation.knowledge.module.function(function), &candidates, SlotModel::bundled())
}

/// Every candidate with its evidence.
pub(crate) fn candidates(
    situation: &Situation<'_>,
    function: FunctionId,
    found: &[Found<'_>],
    asked: &[SlotId],
    scores: &SpanScores,
) -> Vec<Candidate> {
    let module = &situation.knowledge.module;
    let definition = module.function(function);
    let anchors: Vec<Anchor> = found.iter().map(|(anchor, _)| *anchor).collect();
    let read = situation.knowledge.aligner.posteriors(function, situation.utterance(), &anchors, asked, READ);
    let is_open = |slot: SlotId| is_open(situation, definition.slot(slot));

    let mut spans: Vec<(SlotId, Span, Option<usize>)> =
        anchors.iter().enumerate().map(|(index, anchor)| (anchor.slot, anchor.span, Some(index))).collect();
    let proposed = scores.above(PROPOSED).map(|proposed| (proposed.slot, proposed.span));
    let trusted: Vec<&Filling> = read.iter().filter(|filling| filling.confidence >= TRUSTED).collect();
    let is_cut_otherwise = |slot: SlotId, span: Span| {
        trusted.iter().any(|known| known.span.overlaps(span) && (known.slot, known.span) != (slot, span))
    };
    let proposed = proposed.filter(|(slot, span)| !is_cut_otherwise(*slot, *span));
    let free = read.iter().filter(|filling| filling.anchor.is_none()).map(|filling| (filling.slot, filling.span));
    let is_whole = |span: Span| !is_cut(situation, span) && !runs_into(situation, span, &anchors);
    for (slot, span) in free.chain(proposed).filter(|(slot, span)| is_open(*slot) && is_whole(*span)) {
        if !spans.iter().any(|(other, same, _)| *other == slot && *same == span) {
            spans.push((slot, span, None));
        }
    }
    let best_first = |slot: SlotId, span: Span| scores.score(slot, span).unwrap_or(f32::NEG_INFINITY);
    spans[anchors.len()..].sort_by(|a, b| best_first(b.0, b.1).total_cmp(&best_first(a.0, a.1)));
    spans.truncate(anchors.len().max(MOST));

    let mut templates: HashMap<(SlotId, Span, Option<usize>), f32> = HashMap::new();
    for filling in &read {
        *templates.entry((filling.slot, filling.span, filling.anchor)).or_default() += filling.confidence;
    }
    let surface = Surface::new(situation.utterance(), module.language());
    let context = Context { situation, function, definition, found, asked, scores, surface };
    let candidate = |(slot, span, anchor): (SlotId, Span, Option<usize>)| {
        let template = templates.get(&(slot, span, anchor)).copied().unwrap_or_default();
        Candidate { slot, span, anchor, evidence: context.evidence(slot, span, anchor, template) }
    };
    spans.into_iter().map(candidate).collect()
}

/// True of a slot that may be any words: of no kind that a recognizer alone can read.
fn is_open(situation: &Situation<'_>, slot: &Slot) -> bool {
    let is_list = |id| matches!(situation.knowledge.module.recognizer(id).kind, RecognizerKind::List(_));
    matches!(slot.kind, SlotKind::String | SlotKind::Any)
        && slot.choices.is_empty()
        && slot.recognizers.iter().all(|id| is_list(*id))
}

/// True of a span that begins or ends within words that are written as one: "Ann" of "Mary-Ann".
fn is_cut(situation: &Situation<'_>, span: Span) -> bool {
    let utterance = situation.utterance();
    let words = utterance.words();
    let joins = |from: usize, to: usize| {
        let gap = utterance.slice(Span::new(from, to));
        !gap.is_empty() && gap.chars().all(|mark| matches!(mark, '-' | '/' | '\'' | '’' | '_' | '@'))
    };
    let first = words.partition_point(|word| word.end <= span.start);
    let behind = words.partition_point(|word| word.start < span.end);
    let begins = first > 0 && first < words.len() && joins(words[first - 1].end, words[first].start);
    let ends = behind > 0 && behind < words.len() && joins(words[behind - 1].end, words[behind].start);
    begins || ends
}

/// True of a span with a comma behind which there is nothing but what a recognizer found: "i20, 2018".
fn runs_into(situation: &Situation<'_>, span: Span, anchors: &[Anchor]) -> bool {
    let text = situation.utterance().slice(span);
    let Some(comma) = text.rfind([',', ';']) else { return false };
    let at = span.start + text[..=comma].chars().count();
    anchors.iter().any(|anchor| {
        let rest = Span::new(at, span.end);
        rest.contains(anchor.span)
            && situation.utterance().slice(rest).trim() == situation.utterance().slice(anchor.span).trim()
    })
}

/// What candidates are weighed against.
struct Context<'a> {
    situation: &'a Situation<'a>,
    function: FunctionId,
    definition: &'a Function,
    found: &'a [Found<'a>],
    asked: &'a [SlotId],
    scores: &'a SpanScores,
    surface: Surface,
}

impl Context<'_> {
    fn evidence(&self, slot: SlotId, span: Span, anchor: Option<usize>, template: f32) -> Evidence {
        let mention = anchor.map(|index| self.found[index].0.score);
        let module = &self.situation.knowledge.module;
        let kind =
            anchor.and_then(|index| self.found[index].1).map(|mention| &module.recognizer(mention.recognizer).kind);
        let of_kind = |is_kind: bool| if is_kind { mention.unwrap_or_default() } else { 0.0 };
        let reader = self.scores.score(slot, span).unwrap_or(evidence::LEAST);
        let (nearest, mass) = self.scores.around(slot, span).unwrap_or((evidence::LEAST, evidence::LEAST));
        let rivals: Vec<SlotId> = self.rivals(span).collect();
        let other = self.definition.slot_ids().filter(|other| *other != slot);
        let other = other.filter_map(|other| self.scores.score(other, span)).fold(evidence::LEAST, f32::max);
        let own = self.definition.slot(slot);
        let Shape { cut, quoted, capitals, broken, empty, led } = self.surface.shape(span);
        Evidence {
            reader,
            nearest,
            mass,
            lead: reader - other,
            template,
            is_mention: flag(anchor.is_some()),
            list: of_kind(matches!(kind, Some(RecognizerKind::List(_)))),
            pattern: of_kind(matches!(kind, Some(RecognizerKind::Pattern(_)))),
            builtin: of_kind(matches!(kind, Some(RecognizerKind::Builtin(_)))),
            hint: of_kind(kind.is_none()),
            off_list: flag(anchor.is_none() && !own.recognizers.is_empty()),
            foreign: if anchor.is_none() { self.foreign(slot, span) } else { 0.0 },
            rivals: rivals.len().saturating_sub(1) as f32,
            named: flag(asked::is_named_before(self.situation, self.definition, slot, &rivals, span)),
            literal: self.literal(span),
            words: (self.words(span) as f32).max(1.0).ln(),
            cut,
            quoted,
            capitals,
            broken,
            empty,
            led,
            asked: flag(self.asked.contains(&slot)),
            required: flag(own.required),
        }
        .bounded()
    }

    /// The slots for which a recognizer found just this span.
    fn rivals(&self, span: Span) -> impl Iterator<Item = SlotId> + '_ {
        self.found.iter().filter(move |(anchor, _)| anchor.span == span).map(|(anchor, _)| anchor.slot)
    }

    fn words(&self, span: Span) -> usize {
        self.situation.utterance().words().iter().filter(|word| word.overlaps(span)).count()
    }

    /// The lowest share of exemplars, over its words, in which a word stands beside the slots.
    fn literal(&self, span: Span) -> f32 {
        let (utterance, vocabulary) = (self.situation.utterance(), &self.situation.knowledge.vocabulary);
        let words = utterance.words().iter().filter(|word| word.overlaps(span));
        let shares = words.map(|word| vocabulary.literal(self.function, &fold(utterance.slice(*word))));
        shares.reduce(f32::min).unwrap_or_default()
    }

    /// The share of the words that recognizers read for other slots.
    fn foreign(&self, slot: SlotId, span: Span) -> f32 {
        let words = || self.situation.utterance().words().iter().filter(|word| word.overlaps(span));
        let others = || self.found.iter().filter(|(anchor, _)| anchor.slot != slot && span.contains(anchor.span));
        let taken = words().filter(|word| others().any(|(anchor, _)| anchor.span.overlaps(**word))).count();
        taken as f32 / (words().count().max(1)) as f32
    }
}

#[cfg(test)]
mod tests;
