//! Which words fill which slots. All evidence is weighed together.
//!
//! A candidate is a slot with a span: one that a recognizer found, that the reader proposes, or that stands where the
//! function's templates have the slot. Each candidate has the same few named numbers ([`Evidence`]), from which a
//! logistic regression makes a probability (`SlotModel`). The fillings are the best set of candidates of which no two
//! overlap.

mod answer;
mod evidence;
mod model;
mod proposal;
mod select;
mod surface;

pub(crate) use answer::FreeAnswer;
pub use answer::{AnswerCandidate, AnswerEvidence};
pub use evidence::Evidence;
pub(crate) use model::SlotModel;
pub use proposal::SlotProposal;
pub(crate) use surface::quotations;
use surface::{Enumerated, SpanShape, Surface};

use std::collections::HashSet;

use crate::{
    ablation,
    decide::{
        asked,
        bars::bars,
        features::flag,
        filling::{Anchor, Filling, FillingRule, is_open},
        limits,
        reader::SpanScores,
        situation::Situation,
        spelling::MISSPELT,
        tagger::Tagged,
        templates::FramedUtterance,
    },
    module::{Function, FunctionId, RecognizerKind, Slot, SlotId},
    probability::{MOST_ODDS, log_odds},
    recognize::Mention,
    text::Span,
};

/// The most candidates that are looked at: what recognizers found, then the reader's best, then those that fit frames
/// best.
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

/// A span that a recognizer found for a slot, with its mention; `None` where another source found it.
pub(crate) type FoundSpan<'a> = (Anchor, Option<&'a Mention>);

/// The share of a rule's fillings that are right.
pub(crate) fn share_right(rule: FillingRule) -> f32 {
    SlotModel::bundled().share_right(rule)
}

/// The probability that exactly this span fills the slot, where a template that matches word for word has the slot
/// there.
pub(crate) fn probability_as_said(evidence: &Evidence) -> f32 {
    SlotModel::bundled().probability_as_said(evidence)
}

/// Without a reader: what recognizers found for several slots fills the only slot to which the words before it lead.
fn keep_led(candidates: &mut Vec<Candidate>) {
    let found: Vec<(SlotId, Span, f32)> = candidates
        .iter()
        .filter(|one| one.anchor.is_some())
        .map(|one| (one.slot, one.span, one.evidence.left))
        .collect();
    let rivals = |one: &Candidate| {
        let (slot, span) = (one.slot, one.span);
        found.iter().filter(move |(other, at, _)| *other != slot && *at == span).map(|(.., left)| *left)
    };
    let is_outled = |one: &Candidate| one.evidence.left < 1.0 && rivals(one).any(|left| left >= bars().leads);
    let outled: Vec<bool> = candidates.iter().map(|one| one.anchor.is_some() && is_outled(one)).collect();
    let mut outled = outled.into_iter();
    candidates.retain(|_| !outled.next().unwrap_or_default());
}

/// All that was said, if a recognizer reads it for the slot that was asked for, fills no other slot: "11" behind "On which
/// day?" is no number of people.
fn keep_answers(candidates: &mut Vec<Candidate>) {
    let is_answer = |one: &&Candidate| one.anchor.is_some() && one.evidence.answers > 0.0;
    let answers: Vec<Span> = candidates.iter().filter(is_answer).map(|one| one.span).collect();
    candidates.retain(|one| one.evidence.asked > 0.0 || !answers.contains(&one.span));
}

/// Most of the span is one of these codes, which are in order: "BK2718, right" is no city.
fn is_code(codes: &[Span], span: Span) -> bool {
    let inside = codes[codes.partition_point(|code| code.start < span.start)..].iter();
    inside.take_while(|code| code.start < span.end).any(|code| span.contains(*code) && code.len() * 2 > span.len())
}

/// True of a span that begins or ends inside a hyphenated word or the like: "Ann" of "Mary-Ann".
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

/// True of a span with a comma that only recognized values follow: "i20, 2018".
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

/// An utterance as a request for one function. Candidates are weighed against it.
pub(crate) struct Weighing<'a> {
    situation: &'a Situation<'a>,
    function: FunctionId,
    definition: &'a Function,
    found: &'a [FoundSpan<'a>],
    anchors: Vec<Anchor>,
    asked: &'a [SlotId],
    /// `None` without a reader.
    scores: Option<&'a SpanScores>,
    tagged: Option<Tagged<'a>>,
    frames: FramedUtterance<'a>,
    surface: Surface,
}

impl<'a> Weighing<'a> {
    pub(crate) fn new(
        situation: &'a Situation<'a>,
        function: FunctionId,
        found: &'a [FoundSpan<'a>],
        asked: &'a [SlotId],
        scores: Option<&'a SpanScores>,
    ) -> Self {
        let module = &situation.knowledge.module;
        let anchors: Vec<Anchor> = found.iter().map(|(anchor, _)| *anchor).collect();
        let frames = situation.knowledge.templates.framed(function, situation.utterance(), &anchors);
        let surface = Surface::new(situation.utterance(), module.language());
        let tagger = situation.knowledge.taggers.get(function.index()).and_then(Option::as_ref);
        let tagged = tagger.map(|tagger| tagger.tag(situation.utterance()));
        let definition = module.function(function);
        Self { situation, function, definition, found, anchors, asked, scores, tagged, frames, surface }
    }

    /// The slots of the function with the words that fill them, in the order of the utterance.
    pub(crate) fn fillings(&self) -> Vec<Filling> {
        select::best(self.definition, &self.candidates(), SlotModel::bundled())
    }

    /// Every candidate with its evidence.
    pub(crate) fn candidates(&self) -> Vec<Candidate> {
        let module = &self.situation.knowledge.module;
        let is_open = |slot: SlotId| is_open(module, self.definition.slot(slot));
        let score = |slot: SlotId, span: Span| {
            self.scores.and_then(|scores| scores.score(slot, span)).unwrap_or(f32::NEG_INFINITY) //
        };
        let read = self.scores.into_iter().flat_map(|scores| scores.above(bars().proposed));
        let read = read.map(|read| (read.slot, read.span, 0.0));
        let tagged = self.tagged.iter().flat_map(Tagged::spans).map(|(slot, span)| (slot, span, 0.0));
        let tagged: Vec<(SlotId, Span, f32)> = tagged.filter(|(slot, ..)| is_open(*slot)).collect();
        let proposed = read.filter(|(slot, ..)| is_open(*slot)).chain(self.frames.proposed(is_open));
        let limit = |one: &Anchor| limits::of_slot(self.situation.said(), self.definition.slot(one.slot), one.span);
        let limits: Vec<Span> = self.anchors.iter().filter_map(limit).collect();
        let codes = self.codes();
        let is_whole = |span: Span| {
            !is_cut(self.situation, span)
                && !ablation::holds("candidates.code", is_code(&codes, span))
                && !limits.iter().any(|limit| limit.overlaps(span))
                && !runs_into(self.situation, span, &self.anchors)
                && !self.frames.is_around(span)
        };
        let mut free: Vec<(SlotId, Span, f32)> = proposed.filter(|(_, span, _)| is_whole(*span)).collect();
        free.sort_by(|a, b| score(b.0, b.1).total_cmp(&score(a.0, a.1)).then(b.2.total_cmp(&a.2)));
        let taught = tagged.into_iter().filter(|(_, span, _)| self.is_taught() || is_whole(*span));
        let free = taught.chain(free);
        let mut known: HashSet<(SlotId, Span)> = self.anchors.iter().map(|anchor| (anchor.slot, anchor.span)).collect();
        let free = free.filter(|(slot, span, _)| known.insert((*slot, *span)));
        let spans = self.anchors.iter().enumerate().map(|(index, anchor)| (anchor.slot, anchor.span, Some(index)));
        let spans = spans.chain(free.map(|(slot, span, _)| (slot, span, None)));
        let candidate = |(slot, span, anchor): (SlotId, Span, Option<usize>)| {
            Candidate { slot, span, anchor, evidence: self.evidence(slot, span, anchor) } //
        };
        let mut candidates: Vec<Candidate> = spans.take(self.anchors.len().max(MOST)).map(candidate).collect();
        if self.scores.is_none() {
            keep_led(&mut candidates);
        }
        ablation::pass("candidates.answers", &mut candidates, keep_answers);
        candidates
    }

    /// The codes that patterns of the module read, and that no slot of the function takes, in the order of the
    /// utterance. Of what was asked for, none: that may be anything.
    fn codes(&self) -> Vec<Span> {
        if !self.asked.is_empty() {
            return Vec::new();
        }
        let module = &self.situation.knowledge.module;
        let is_foreign = |mention: &&Mention| {
            let takes = |slot: &Slot| slot.recognizers.contains(&mention.recognizer);
            matches!(module.recognizer(mention.recognizer).kind, RecognizerKind::Pattern(_))
                && !self.definition.slots.iter().any(takes)
        };
        let mentions = self.situation.mentions().iter().filter(is_foreign);
        let mut codes: Vec<Span> = mentions.map(|mention| mention.span).collect();
        codes.sort_unstable();
        codes
    }

    /// Every candidate with its probability, and what found it.
    pub(crate) fn proposals(&self) -> Vec<SlotProposal> {
        let model = SlotModel::bundled();
        let recognizer = |one: &Candidate| one.anchor.and_then(|at| self.found[at].1).map(|mention| mention.recognizer);
        let proposal = |one: &Candidate| SlotProposal {
            slot: one.slot,
            span: one.span,
            recognizer: recognizer(one),
            probability: model.probability(&one.evidence),
            least: model.least(&one.evidence),
            evidence: one.evidence,
        };
        self.candidates().iter().map(proposal).collect()
    }

    /// True if the function's own tagger reads better than any rule.
    pub(crate) fn is_taught(&self) -> bool {
        self.tagged.as_ref().is_some_and(|tagged| tagged.reads_by_itself)
    }

    /// The probability, by the function's own tagger, that these values and no others were said.
    pub(crate) fn of_values(&self, values: impl Iterator<Item = (SlotId, Span, bool)>) -> Option<f32> {
        self.tagged.as_ref().map(|tagged| tagged.of_values(values))
    }

    pub(crate) const fn definition(&self) -> &'a Function {
        self.definition
    }

    /// The spans between quotation marks, without the marks.
    pub(crate) fn quotations(&self) -> &[Span] {
        self.surface.quotations()
    }

    /// What a recognizer found.
    pub(crate) fn anchor(&self, at: usize) -> &Anchor {
        &self.anchors[at]
    }

    /// The log-odds that exactly this free text fills the slot.
    pub(crate) fn log_odds(&self, slot: SlotId, span: Span) -> f32 {
        log_odds(SlotModel::bundled().probability(&self.evidence(slot, span, None)))
    }

    /// The probability that what a recognizer found fills its slot.
    pub(crate) fn anchor_likelihood(&self, at: usize) -> f32 {
        let Anchor { slot, span, .. } = self.anchors[at];
        SlotModel::bundled().probability(&self.evidence(slot, span, Some(at)))
    }

    /// The evidence for the free text of a template that matches word for word; `None` for other fillings.
    pub(crate) fn as_said(&self, filling: &Filling) -> Option<Evidence> {
        (filling.rule == Some(FillingRule::Template)).then(|| self.evidence(filling.slot, filling.span, None))
    }

    /// An exemplar shows exactly these words as a value of the slot: "my" of "add it to my list" is an empty word
    /// elsewhere.
    pub(crate) fn is_shown(&self, slot: SlotId, span: Span) -> bool {
        self.frames.framing(slot, span).known > 0.0
    }

    /// How many words before it lead to the slot in templates; the beginning of the sentence is one.
    pub(crate) fn lead(&self, slot: SlotId, span: Span) -> f32 {
        self.frames.framing(slot, span).left
    }

    fn evidence(&self, slot: SlotId, span: Span, anchor: Option<usize>) -> Evidence {
        let mention = anchor.map(|index| self.found[index].0.score);
        let module = &self.situation.knowledge.module;
        let kind =
            anchor.and_then(|index| self.found[index].1).map(|mention| &module.recognizer(mention.recognizer).kind);
        let of_kind = |is_kind: bool| if is_kind { mention.unwrap_or_default() } else { 0.0 };
        let read = |slot: SlotId| self.scores.and_then(|scores| scores.score(slot, span)).unwrap_or(-MOST_ODDS);
        let around = self.scores.and_then(|scores| scores.around(slot, span));
        let (nearest, mass) = around.unwrap_or((-MOST_ODDS, -MOST_ODDS));
        let frame = self.frames.framing(slot, span);
        let rivals: Vec<SlotId> = self.rivals(span).collect();
        let other = self.definition.slot_ids().filter(|other| *other != slot);
        let other = other.map(read).fold(-MOST_ODDS, f32::max);
        let own = self.definition.slot(slot);
        let SpanShape { cut, quoted, capitals, broken, empty, led } = self.surface.shape(span);
        let Enumerated { listed, joined } =
            if own.path.is_repeated() { self.surface.enumerated(span) } else { Enumerated::default() };
        Evidence {
            is_read: flag(self.scores.is_some()),
            reader: read(slot),
            nearest,
            mass,
            lead: read(slot) - other,
            tagged: self.tagged.as_ref().map_or(0.0, |tagged| tagged.odds(slot, span)),
            tagged_share: self.tagged.as_ref().map_or(0.0, |tagged| tagged.share),
            left: frame.left,
            right: frame.right,
            both: frame.both,
            other_both: frame.other_both,
            other_left: frame.other_left,
            follows: frame.follows,
            other_follows: frame.other_follows,
            precedes: frame.precedes,
            leads_on: frame.leads_on,
            shown: frame.shown,
            known: frame.known,
            own_words: frame.own_words,
            other_words: frame.other_words,
            is_mention: flag(anchor.is_some()),
            list: of_kind(matches!(kind, Some(RecognizerKind::List(_)))),
            pattern: of_kind(matches!(kind, Some(RecognizerKind::Pattern(_)))),
            builtin: of_kind(matches!(kind, Some(RecognizerKind::Builtin(_)))),
            hint: of_kind(kind.is_none()),
            alone: flag(rivals.len() == 1 && anchor.is_some_and(|anchor| self.is_alone(anchor))),
            off_list: flag(anchor.is_none() && !own.recognizers.is_empty()),
            foreign: if anchor.is_none() { self.foreign(slot, span) } else { 0.0 },
            rivals: rivals.len().saturating_sub(1) as f32,
            outscored: mention.map_or(0.0, |own| (self.best_score(span) - own).max(0.0)),
            named: flag(
                asked::is_named_before(self.situation, self.definition, slot, &rivals, span)
                    || anchor.is_some() && asked::is_told_beside(self.situation, self.definition, slot, span),
            ),
            named_behind: flag(asked::is_named_behind(self.situation, self.definition, slot, &rivals, span)),
            literal: self.literal(span),
            words: (self.words(span) as f32).max(1.0).ln(),
            cut,
            quoted,
            capitals,
            broken,
            empty,
            led,
            listed,
            joined,
            asked: flag(self.asked.contains(&slot)),
            answers: flag(self.asked.contains(&slot) && self.frames.is_whole(span)),
            required: flag(own.required),
        }
        .bounded()
    }

    /// Recognizers found nothing elsewhere for the slot. A misspelt entry of a list may be another word: "the weather
    /// is nice" does not name "leather".
    fn is_alone(&self, anchor: usize) -> bool {
        let (own, mention) = &self.found[anchor];
        let module = &self.situation.knowledge.module;
        let is_list = |mention: &Mention| {
            matches!(module.recognizer(mention.recognizer).kind, RecognizerKind::List(_)) //
        };
        let is_misspelt = mention.is_some_and(|mention| is_list(mention) && mention.score <= MISSPELT.score());
        let is_elsewhere = |other: &Anchor| other.slot == own.slot && !other.span.overlaps(own.span);
        !is_misspelt && !self.found.iter().any(|(other, _)| is_elsewhere(other))
    }

    /// The slots for which a recognizer found exactly this span.
    fn rivals(&self, span: Span) -> impl Iterator<Item = SlotId> + '_ {
        self.found.iter().filter(move |(anchor, _)| anchor.span == span).map(|(anchor, _)| anchor.slot)
    }

    /// The highest score that a recognizer gives exactly this span.
    fn best_score(&self, span: Span) -> f32 {
        let own = self.found.iter().filter(|(anchor, _)| anchor.span == span);
        own.map(|(anchor, _)| anchor.score).fold(0.0, f32::max)
    }

    fn words(&self, span: Span) -> usize {
        self.situation.utterance().words().iter().filter(|word| word.overlaps(span)).count()
    }

    /// For each word, the share of exemplars that have it outside their slots; the lowest of these shares.
    fn literal(&self, span: Span) -> f32 {
        let (utterance, vocabulary) = (self.situation.utterance(), &self.situation.knowledge.vocabulary);
        let words = utterance.words().iter().filter(|word| word.overlaps(span));
        let shares = words.map(|word| vocabulary.literal(self.function, &utterance.folded_in(*word)));
        shares.reduce(f32::min).unwrap_or_default()
    }

    /// The share of words that recognizers read for other slots.
    fn foreign(&self, slot: SlotId, span: Span) -> f32 {
        let words = || self.situation.utterance().words().iter().filter(|word| word.overlaps(span));
        let others = || self.found.iter().filter(|(anchor, _)| anchor.slot != slot && span.contains(anchor.span));
        let taken = words().filter(|word| others().any(|(anchor, _)| anchor.span.overlaps(**word))).count();
        taken as f32 / (words().count().max(1)) as f32
    }
}

#[cfg(test)]
mod tests;
