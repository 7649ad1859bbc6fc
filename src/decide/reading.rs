//! An utterance read, without a model server, as a request for one particular function.

use std::borrow::Cow;

use serde_json::Value;

use crate::{
    ablation,
    call::{Call, Evidence, Proposal, RuledOut, SlotValue, Source, Verdict, ViolationKind, flag_said, flag_within},
    decide::{
        arguments, asked,
        bars::bars,
        borders,
        candidates::{self, AnswerCandidate, Candidate, FoundSpan, FreeAnswer, SlotProposal, Weighing},
        courtesy, described, extent,
        filling::{self, Anchor, Filling, FillingRule},
        forms, labelled, limits,
        outcome::{self, Frame},
        postal, quotation, ranges, remark, repair,
        situation::Situation,
        templates::TemplateMatch,
        texts, vocabulary, written,
    },
    language::Language,
    module::{Builtin, Function, FunctionId, Module, RecognizerKind, Slot, SlotId, SlotKind, SlotPath},
    probability::EVEN,
    recognize::{BARE, Mention, certainty::Certainty},
    text::{Span, fuel},
};

/// A value with no more certainty than this is dropped: "one" of "the one at the top". In a list it is kept: "a" may
/// count beside "two".
const NO_VALUE: Certainty = Certainty::Possible;
/// How sure an hour without minutes is behind "at".
const HOUR: Certainty = Certainty::Guessed;
/// The certainty of a list entry that is said letter for letter.
const EXACT: Certainty = Certainty::WrittenOut;
/// What a caller's recognizer found counts slightly less than what one of ours found.
const HINTED: Certainty = Certainty::Usual;

/// See [the module](self).
pub(crate) struct Reading<'a> {
    pub function: FunctionId,
    definition: &'a Function,
    values: Vec<Filled<'a>>,
    /// Values that were said only to be ruled out.
    excluded: Vec<Filled<'a>>,
    ruled_out: Vec<RuledOut>,
    /// The share of free words in a template that matches word for word.
    pub free: Option<f32>,
    /// The slot that was asked for, if it takes any words.
    free_answer: Option<FreeAnswer>,
    /// The probability that all values are right, where the function's own tagger reads by itself.
    pub told: Option<f32>,
}

/// A slot with the words that fill it, and their value.
#[derive(Debug, Clone)]
struct Filled<'a> {
    slot: SlotId,
    span: Span,
    value: Value,
    /// `None` for free text.
    mention: Option<&'a Mention>,
    rule: Option<FillingRule>,
    /// The evidence of free text in a template that matches word for word.
    evidence: Option<candidates::Evidence>,
    confidence: f32,
    /// Where the beginning of the range is said, if this end follows it only after a long time.
    far_from: Option<Span>,
}

impl<'a> Reading<'a> {
    /// Fills the slots by what recognizers found, by what the reader reads, and by the function's templates.
    pub(crate) fn new(situation: &Situation<'a>, function: FunctionId) -> Self {
        let definition = situation.knowledge.module.function(function);
        if fuel::is_out() {
            return Self::nothing(function, definition);
        }
        let expected = asked::awaited(situation, function);
        let found = found(situation, definition, &expected);
        let scores = situation.span_scores(function, &expected);
        let weighing = Weighing::new(situation, function, &found, &expected, scores.as_deref());
        let mut fillings = weighing.fillings();
        let is_read = scores.is_some() && asked::is_answered_by(situation, function, &expected, &fillings);
        let asks_for_number = match expected[..] {
            [slot] => definition.slot(slot).kind.is_number(),
            _ => false,
        };
        if !expected.is_empty() {
            let led = asked::led(situation, definition, &expected, &fillings);
            ablation::pass("asked.led", &mut fillings, |fillings| replace(fillings, led));
        }
        // A function with many exemplars needs none of the rules, if nothing was asked.
        let is_taught = expected.is_empty() && weighing.is_taught();
        if !is_taught {
            let named = written::named(situation, definition, &fillings);
            ablation::pass("written.named", &mut fillings, |fillings| replace(fillings, named));
        }
        let said = situation.knowledge.templates.said(function, situation.utterance(), &anchors_of(&found));
        let mut said = said.filter(|said| !is_taught && said.is_telling());
        if let Some(said) = &mut said {
            borders::settle(situation, &weighing, said);
        }
        let settled = said.as_ref().and_then(|said| written::settle(situation, &weighing, said, &mut fillings));
        // A text that matches a template without slots has no free-text value.
        let is_settled = settled.is_some();
        let settled = settled.unwrap_or_default();
        let is_of_template =
            |one: &Filling| settled.iter().any(|own| own.slot == one.slot && own.span.overlaps(one.span));
        let is_known = |slot: SlotId| found.iter().any(|(anchor, _)| anchor.slot == slot);
        if !is_settled
            && (found.is_empty() || asks_for_number && !is_known(expected[0]))
            && !is_read
            && let Some(whole) = asked::whole_answer(situation, function, &expected, &fillings)
            && ablation::holds("asked.whole_answer", true)
        {
            fillings.retain(|filling| !filling.span.overlaps(whole.span) && filling.slot != whole.slot);
            fillings.extend(asked::items(situation, definition, whole));
        }
        if !is_taught {
            extent::settle(situation, &weighing, &mut fillings);
            ablation::pass("postal", &mut fillings, |fillings| {
                postal::settle(situation, &weighing, &found, is_settled, fillings);
            });
            ablation::pass("quotation", &mut fillings, |fillings| {
                quotation::settle(situation, &weighing, is_settled, fillings);
            });
        }
        let is_own = |cue: &str| vocabulary::says(&situation.knowledge.module, cue);
        for free in fillings.iter_mut().filter(|one| one.anchor.is_none() && one.rule != Some(FillingRule::Quoted)) {
            free.span = repair::last_word(situation.utterance(), &situation.analysis.acts, &is_own, free.span);
        }
        let free_answer = free_answer(situation, function, &expected, &fillings);
        if let Some(asked) = &free_answer
            && let Some((span, confidence)) = weighing.answer(asked)
            && (asked.ruled.is_some() || confidence >= EVEN)
            && ablation::holds("reading.chosen_answer", true)
            && !fillings.iter().any(|one| one.slot != asked.slot && one.is_exact() && one.span.overlaps(span))
        {
            fillings.retain(|one| one.slot != asked.slot && !one.span.overlaps(span));
            let span = repair::last_word(situation.utterance(), &situation.analysis.acts, &is_own, span);
            fillings.push(Filling { confidence, ..Filling::by(FillingRule::Chosen, asked.slot, span) });
            fillings.sort_by_key(|one| one.span);
        }
        fillings.retain(|one| {
            is_taught
                || expected.contains(&one.slot)
                || is_of_template(one)
                || !ablation::holds("written.is_of_templates", written::is_of_templates(situation, definition, one))
        });
        let remarked = remark::within(situation, function, &mut fillings);
        let courtesy = situation.analysis.acts.courtesy;
        fillings.retain(|filling| {
            let mention = filling.anchor.and_then(|at| found[at].1);
            weighing.is_shown(filling.slot, filling.span)
                || !ablation::holds("courtesy.is_no_value", courtesy::is_no_value(courtesy, mention))
        });
        fillings.retain(|filling| {
            let mention = filling.anchor.and_then(|at| found[at].1).filter(|_| !expected.contains(&filling.slot));
            let slot = definition.slot(filling.slot);
            let is_name = mention.is_some_and(|mention| asked::is_article_of_name(situation, slot, mention));
            is_taught || !ablation::holds("asked.article_of_name", is_name)
        });
        fillings.retain(|filling| {
            let is_unsaid = || {
                let is_unsaid = asked::is_unsaid(situation, definition, filling.slot, filling.span);
                ablation::holds("asked.is_unsaid", is_unsaid)
            };
            let is_empty_talk = || asked::is_empty_talk(situation, filling, expected.contains(&filling.slot));
            is_taught
                || filling.anchor.is_some()
                || filling.rule == Some(FillingRule::Quoted)
                || is_of_template(filling)
                || remarked == Some(*filling)
                || weighing.is_shown(filling.slot, filling.span)
                || !ablation::holds("asked.is_empty_talk", is_empty_talk()) && !is_unsaid()
        });
        if !is_taught && !is_settled {
            labelled::settle(situation, definition, &mut fillings);
        }
        if definition.exemplars.is_empty() {
            if expected.is_empty() {
                described::settle(situation, definition, &found, scores.as_deref(), &mut fillings);
            }
            forms::settle(situation, definition, &expected, &mut fillings);
            described::add_led(situation, function, &expected, &mut fillings);
        }
        if expected.is_empty() {
            ranges::settle_lone_day(situation, definition, &weighing, &found, &mut fillings);
        }
        let mut values: Vec<Filled<'a>> =
            fillings.iter().map(|filling| Filled::new(situation, filling, &found, weighing.as_said(filling))).collect();
        for moved in ranges::in_order(situation, definition, &mentioned(&values)) {
            let before = moved.far_from.map(|first| values[first].span);
            let own = &mut values[moved.at];
            own.value = ablation::made("ranges.in_order", own.value.clone(), moved.value);
            own.far_from = before;
        }
        add_currency(situation, definition, &mut values);
        let mut ruled_out = situation.ruled_out(function);
        // A template that looks like a refusal is not one. A negation inside a longer value is part of the value: "the
        // piano goes in the den, not the hall".
        if ablation::holds("reading.template_denies_nothing", is_settled && !ruled_out.is_empty()) {
            ruled_out.clear();
        }
        let is_within = |one: &RuledOut, filled: &Filled<'_>| {
            filled.mention.is_none() && filled.span.start < one.cue.start && filled.span.contains(one.cue)
        };
        ruled_out.retain(|one| {
            !ablation::holds("reading.denied_within_text", values.iter().any(|filled| is_within(one, filled)))
        });
        let is_excluded = |filled: &Filled<'a>| {
            definition.slot(filled.slot).kind != SlotKind::Boolean
                && ruled_out.iter().any(|one| one.scope.overlaps(filled.span) && !one.said_for.contains(&filled.slot))
                && ablation::holds("reading.excluded", true)
        };
        let (excluded, mut values): (Vec<Filled<'a>>, Vec<Filled<'a>>) = values.into_iter().partition(is_excluded);
        add_flags(situation, definition, &ruled_out, &mut values);
        let free = said.map(|said| said.free());
        let told =
            is_taught.then(|| weighing.of_values(values.iter().map(|one| (one.slot, one.span, one.mention.is_some()))));
        let told = told.flatten();
        Self { function, definition, values, excluded, ruled_out, free, free_answer, told }
    }

    /// A reading without any values.
    const fn nothing(function: FunctionId, definition: &'a Function) -> Self {
        Self {
            function,
            definition,
            values: Vec::new(),
            excluded: Vec::new(),
            ruled_out: Vec::new(),
            free: None,
            free_answer: None,
            told: None,
        }
    }

    /// The function with a template that the utterance matches word for word. `None` if two functions have it, or if
    /// most of the template is free text.
    pub(crate) fn as_written(situation: &Situation<'a>) -> Option<FunctionId> {
        if !situation.expected.is_empty() || situation.given.is_some() {
            return None;
        }
        let knowledge = situation.knowledge;
        let mut said: Vec<(FunctionId, TemplateMatch)> = Vec::new();
        for candidate in situation.candidates().iter().take_while(|_| !fuel::is_out()) {
            let function = candidate.function;
            let found = anchors_of(&found(situation, knowledge.module.function(function), &[]));
            said.extend(knowledge.templates.said(function, situation.utterance(), &found).map(|one| (function, one)));
        }
        said.sort_by_key(|(_, one)| std::cmp::Reverse(one.own_words));
        let (function, best) = said.first()?;
        let is_rivalled = said.get(1).is_some_and(|(_, other)| other.own_words == best.own_words);
        let begins_within = |span: Span| {
            situation
                .analysis
                .clauses
                .iter()
                .any(|clause| span.start < clause.span.start && clause.span.start < span.end)
        };
        let mut free = best.fillings.iter().filter(|filling| filling.anchor.is_none());
        let runs_on = situation.may_be_several() && free.any(|filling| begins_within(filling.span));
        let runs_on = ablation::holds("reading.runs_on", runs_on);
        ablation::found("reading.as_written", (best.is_telling() && !is_rivalled && !runs_on).then_some(*function))
    }

    /// How much the slots support the function, 0 to 1: the share of the required slots that are filled. For a function
    /// without required slots, 1 if any slot is filled.
    #[expect(clippy::cast_precision_loss, reason = "a function has a few slots")]
    pub(crate) fn support(&self) -> f32 {
        let is_filled = |id: &SlotId| self.values.iter().any(|filled| filled.slot == *id);
        let required: Vec<SlotId> =
            self.definition.slot_ids().filter(|id| self.definition.slot(*id).required).collect();
        if required.is_empty() {
            return if self.values.is_empty() { 0.0 } else { 1.0 };
        }
        required.iter().filter(|id| is_filled(id)).count() as f32 / required.len() as f32
    }

    /// True if something may have been said that nothing here could find: an empty slot has neither a recognizer nor an
    /// exemplar. If the function has exemplars, a slot that none of them has counts only if the call lacks it.
    pub(crate) fn may_lack(&self, frame: &Frame) -> bool {
        self.definition.slot_ids().any(|id| {
            let slot = self.definition.slot(id);
            let is_filled = frame.slots.iter().any(|said| self.definition.slot_of(&said.pointer) == Some(id));
            let is_expected = self.definition.exemplars.is_empty() || frame.missing.contains(&slot.path);
            slot.recognizers.is_empty() && !is_filled && is_expected && !self.definition.shows(id)
        })
    }

    /// The spans that fill these slots, or that rule out a value of them; those of all slots if `slots` is empty.
    pub(crate) fn spans_of(&self, slots: &[SlotId]) -> Vec<Span> {
        let filled = self.values.iter().chain(&self.excluded);
        filled.filter(|filled| slots.is_empty() || slots.contains(&filled.slot)).map(|filled| filled.span).collect()
    }

    /// The spans that fill any slot or rule out a value, with the words that make a number a limit: "at most 300".
    pub(crate) fn account(&self, situation: &Situation<'_>) -> Vec<Span> {
        let limits = |filled: &Filled<'_>| {
            let slot = Some(self.definition.slot(filled.slot)).filter(|slot| slot.kind.is_number())?;
            limits::of_slot(situation.said(), slot, filled.span)
        };
        let mut spans = self.spans_of(&[]);
        spans.extend(self.values.iter().flat_map(limits));
        spans
    }

    fn is_required(&self, pointer: &str) -> bool {
        let path = SlotPath::of_pointer(pointer);
        self.definition.slots.iter().any(|slot| slot.path == path && slot.required)
    }

    /// What recognizers found, with the ends of ranges read relative to each other.
    fn mentions<'b>(&self, situation: &Situation<'b>) -> Cow<'b, [Mention]> {
        let mut mentions = Cow::Borrowed(situation.mentions());
        let moved = |filled: &&Filled<'_>| filled.mention.is_some_and(|mention| mention.value != filled.value);
        for filled in self.values.iter().filter(moved) {
            let is_its = |one: &&mut Mention| {
                filled.mention.is_some_and(|own| own.recognizer == one.recognizer && own.span == one.span)
            };
            // Only the value of a day was read again. A currency that an amount said also differs from the value of its
            // mention.
            let is_day = filled.mention.is_some_and(|own| own.value.is_string());
            if let Some(own) = mentions.to_mut().iter_mut().filter(|_| is_day).find(is_its) {
                own.value = filled.value.clone();
            }
        }
        mentions
    }

    /// Words beside a value that belong to the same kind of value but were not read, unless another value has them or
    /// the function itself names that unit.
    fn unread(&self, situation: &Situation<'_>, filled: &Filled<'_>) -> Option<String> {
        let (utterance, vocabulary) = (situation.utterance(), &situation.knowledge.vocabulary);
        let is_taken = |span: Span| {
            let others = self.values.iter().chain(&self.excluded).filter(|other| other.span != filled.span);
            others.into_iter().any(|other| other.span.overlaps(span))
        };
        let is_named = |span: Span| {
            let words = utterance.words().iter().filter(|word| word.overlaps(span));
            words.into_iter().all(|word| vocabulary.has(self.function, &utterance.folded_in(*word)))
        };
        // "At least 20": the "menos" of "al menos" is not a minus sign.
        let (said, code) = situation.said();
        let limit = limits::words_beside(said, code, filled.span);
        let is_of_limit = |span: Span| limit.is_some_and(|limit| limit.contains(span));
        if let Some(first) = filled.far_from {
            return Some(utterance.slice(first).to_owned());
        }
        // Words of another request are blank here.
        let is_blank = |span: Span| utterance.slice(span).trim().is_empty();
        let mention = filled.mention.filter(|mention| mention.others.is_empty())?;
        let unread = mention.unread.iter().find(|one| {
            let is_said_otherwise = is_blank(one.span) || is_taken(one.span) || is_of_limit(one.span);
            !(is_said_otherwise || one.is_unit && is_named(one.span))
        })?;
        ablation::found("reading.unread", Some(utterance.slice(unread.span).to_owned()))
    }

    /// The validator's result: the frame, and the call if it is valid and complete.
    pub(crate) fn judged(&self, situation: &Situation<'_>) -> (Frame, Option<Call>) {
        let said: Vec<filling::SpannedValue> = self
            .values
            .iter()
            .map(|filled| filling::SpannedValue { slot: filled.slot, span: filled.span, value: filled.value.clone() })
            .collect();
        let (arguments, pointers) = arguments::arguments(self.definition, &said);
        let proposal = Proposal { function: self.function, arguments };
        let validator = &situation.knowledge.validator;
        let mentions = self.mentions(situation);
        let evidence = Evidence { mentions: &mentions, ..situation.evidence(&self.ruled_out) };
        let (call, grounded, mut excluded, violations) = match validator.validate(self.definition, proposal, &evidence)
        {
            Verdict::Valid { call, grounded, excluded, .. } => (Some(call), grounded, excluded, Vec::new()),
            Verdict::Invalid { grounded, violations, excluded, .. } => (None, grounded, excluded, violations),
        };
        let slots: Vec<SlotValue> = grounded
            .into_iter()
            .map(|grounded| {
                let filled = pointers.iter().position(|pointer| pointer.as_deref() == Some(grounded.pointer.as_str()));
                match filled {
                    Some(index) => {
                        let unread = self.unread(situation, &self.values[index]);
                        SlotValue { unread, ..self.values[index].located(situation, grounded) }
                    }
                    None => grounded,
                }
            })
            .collect();
        for filled in &self.excluded {
            let excluding = filled.excluded(situation, self.definition);
            let is_same = |one: &SlotValue| one.path() == excluding.path() && one.value == excluding.value;
            if !slots.iter().chain(&excluded).any(is_same) {
                excluded.push(excluding);
            }
        }
        situation.add_excluded(self.function, &slots, &mut excluded);
        // Values that are ruled out cannot be invalid: such a slot is empty, and missing if it is required.
        let (invalid, missing): (Vec<_>, Vec<_>) = violations
            .into_iter()
            .partition(|violation| !matches!(violation.kind, ViolationKind::Missing | ViolationKind::Negated));
        let lacking = missing
            .iter()
            .filter(|violation| violation.kind == ViolationKind::Missing || self.is_required(&violation.path));
        let missing = outcome::missing(self.definition, lacking);
        let segment = Span::new(0, situation.utterance().len());
        (Frame { function: self.function, confidence: 1.0, segment, slots, excluded, missing, invalid }, call)
    }
}

/// The filled slots, each with the mention that fills it.
fn mentioned<'a>(values: &[Filled<'a>]) -> Vec<(SlotId, Option<&'a Mention>)> {
    values.iter().map(|filled| (filled.slot, filled.mention)).collect()
}

/// Replaces the fillings that overlap these or have the same slot.
fn replace(fillings: &mut Vec<Filling>, by: Vec<Filling>) {
    fillings.retain(|one| by.iter().all(|new| !new.span.overlaps(one.span) && new.slot != one.slot));
    fillings.extend(by);
}

fn anchors_of(found: &[FoundSpan<'_>]) -> Vec<Anchor> {
    found.iter().map(|(anchor, _)| *anchor).collect()
}

/// The slot that was asked for, if it takes any words, and neither an exact filling nor a word of the author's
/// templates fills it yet.
fn free_answer(
    situation: &Situation<'_>,
    function: FunctionId,
    asked: &[SlotId],
    fillings: &[Filling],
) -> Option<FreeAnswer> {
    let &[slot] = asked else { return None };
    let own = situation.knowledge.module.function(function).slot(slot);
    let filled = fillings.iter().find(|one| one.slot == slot);
    let is_told = |one: &Filling| one.is_exact() || matches!(one.rule, Some(FillingRule::Led | FillingRule::Named));
    // If one answer has two texts, rules know best where one ends: "from 12 Abbey Road, London to 3 Mill Lane, Bath".
    let is_shared = filled.is_some() && fillings.iter().any(|one| one.slot != slot && one.anchor.is_none());
    if filled.is_some_and(is_told)
        || is_shared
        || own.path.is_repeated()
        || !filling::is_open(&situation.knowledge.module, own)
    {
        return None;
    }
    let others = fillings.iter().filter(|one| one.slot != slot);
    Some(FreeAnswer {
        slot,
        core: asked::core(situation, function, asked),
        ruled: filled.map(|one| one.span),
        taken: others.map(|one| one.span).collect(),
    })
}

/// Everything that may be the answer, if one free-text slot was asked for.
pub(crate) fn answers(situation: &Situation<'_>, function: FunctionId) -> Option<(SlotId, Vec<AnswerCandidate>)> {
    let answer = Reading::new(situation, function).free_answer?;
    Some((answer.slot, weighed(situation, function, |weighing| weighing.answer_candidates(&answer))))
}

/// Everything that may fill a slot of the function, with its evidence.
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method is of one lifetime only")]
pub(crate) fn candidates(situation: &Situation<'_>, function: FunctionId) -> Vec<Candidate> {
    weighed(situation, function, |weighing| weighing.candidates())
}

/// Everything that may fill a slot of the function, with its probability.
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method is of one lifetime only")]
pub(crate) fn proposals(situation: &Situation<'_>, function: FunctionId) -> Vec<SlotProposal> {
    weighed(situation, function, |weighing| weighing.proposals())
}

/// The words that the function's values cover.
pub(crate) fn covered(situation: &Situation<'_>, function: FunctionId) -> Vec<Span> {
    Reading::new(situation, function).account(situation)
}

fn weighed<T>(situation: &Situation<'_>, function: FunctionId, ask: impl FnOnce(&Weighing<'_>) -> T) -> T {
    let asked = asked::awaited(situation, function);
    let found = found(situation, situation.knowledge.module.function(function), &asked);
    let scores = situation.span_scores(function, &asked);
    ask(&Weighing::new(situation, function, &found, &asked, scores.as_deref()))
}

/// The fillings by rules for the slots of the function, with their evidence if a template says so.
pub(crate) fn by_rules(
    situation: &Situation<'_>,
    function: FunctionId,
) -> Vec<(Filling, Option<candidates::Evidence>)> {
    let values = Reading::new(situation, function).values;
    let by_rule = |one: &Filled<'_>| {
        let (slot, span, confidence) = (one.slot, one.span, one.confidence);
        one.rule.map(|rule| (Filling { confidence, ..Filling::by(rule, slot, span) }, one.evidence))
    };
    values.iter().filter_map(by_rule).collect()
}

/// Every mention that could fill a slot of the function. If two recognizers of a slot found the same span, the slot's
/// preferred recognizer counts.
fn found<'a>(situation: &Situation<'a>, function: &Function, awaited: &[SlotId]) -> Vec<FoundSpan<'a>> {
    let module = &situation.knowledge.module;
    let mut anchors: Vec<FoundSpan<'a>> = Vec::new();
    for id in function.slot_ids() {
        for (rank, recognizer) in function.slot(id).recognizers.iter().enumerate() {
            let in_list = function.slot(id).path.is_repeated();
            let is_value = |score: f32| score > NO_VALUE.score() || in_list && score >= NO_VALUE.score();
            let is_pattern = matches!(module.recognizer(*recognizer).kind, RecognizerKind::Pattern(_));
            let is_bare = |mention: &Mention| is_pattern && mention.score <= BARE.score();
            // A mention that only matches the form of an author's pattern is a value only where the slot is asked for,
            // or where an exemplar shows it.
            let is_meant = |mention: &Mention| {
                let is_expected = awaited.contains(&id)
                    || written::is_led(situation, function, id, mention.span, 1)
                    || written::is_apart(situation, function, id, mention.span);
                is_expected && !ablation::holds("reading.bare_of_others", is_of_others(situation, function, mention))
            };
            let own = |mention: &&Mention| {
                let is_own = mention.recognizer == *recognizer;
                is_own
                    && match is_bare(mention) {
                        true => ablation::holds("reading.bare_pattern", is_meant(mention)),
                        false => !ablation::holds("reading.no_value", !is_value(mention.score)),
                    }
            };
            for mention in situation.mentions().iter().filter(own).take_while(|_| !fuel::is_out()) {
                // Comparing spans is far cheaper than comparing words.
                fuel::spend(1 + anchors.len() / 16);
                if anchors.iter().any(|(anchor, _)| anchor.slot == id && anchor.span == mention.span) {
                    continue;
                }
                let sure = if is_bare(mention) { HINTED.score() } else { mention.score };
                #[expect(clippy::cast_precision_loss, reason = "a slot has a few recognizers")]
                let score = sure * bars().next_recognizer.powf(rank as f32);
                anchors.push((Anchor { slot: id, span: mention.span, score }, Some(mention)));
            }
        }
    }
    let told = awaited.iter().filter_map(|id| Some((*id, asked::told_apart(situation, function, *id)?)));
    let told =
        told.filter(|(id, told)| !anchors.iter().any(|(one, _)| one.slot == *id || one.span.overlaps(told.span)));
    let told: Vec<FoundSpan<'a>> = told
        .map(|(slot, mention)| (Anchor { slot, span: mention.span, score: mention.score }, Some(mention)))
        .collect();
    anchors.extend(told);
    // Digits inside a longer mention are not separate numbers: 2026-04-07 contains no 7.
    let is_whole = |mention: &&Mention| {
        use Builtin::{Date, DateTime, Email, Phone, Time, Url};
        matches!(builtin(module, mention), Some(Date | DateTime | Email | Phone | Time | Url))
    };
    let others: Vec<Span> = situation.mentions().iter().filter(is_whole).map(|one| one.span).collect();
    let is_joined = |at: usize| !situation.utterance().slice(Span::new(at, at + 1)).trim().is_empty();
    let is_part = |span: Span| {
        others.iter().any(|other| {
            let before = span.start > other.start && is_joined(span.start - 1);
            other.contains(span) && (before || span.end < other.end && is_joined(span.end))
        })
    };
    // Nor is the hour behind "at" a number, if the function takes a time.
    let is_hour = |found: &FoundSpan<'a>| {
        found.1.is_some_and(|mention| builtin(module, mention) == Some(Builtin::Time) && mention.score >= HOUR.score())
    };
    let hours: Vec<Span> = anchors.iter().filter(|one| is_hour(one)).map(|(anchor, _)| anchor.span).collect();
    let is_none = |span: Span| {
        ablation::holds("reading.digits_within", is_part(span))
            || ablation::holds("reading.hour_is_no_number", hours.contains(&span))
    };
    // A number with its unit is not a bare number: "2 hours" are 120 minutes.
    let has_unit = |mention: &Mention| {
        let is_measured = situation.knowledge.module.recognizer(mention.recognizer).reading.unit.is_some();
        let has_unit = is_measured && situation.utterance().slice(mention.span).split_whitespace().nth(1).is_some();
        ablation::holds("reading.number_has_unit", has_unit)
    };
    anchors.retain(|(anchor, mention)| {
        !mention.is_some_and(|mention| is_number(module, mention) && !has_unit(mention)) || !is_none(anchor.span) //
    });
    for hint in situation.hints {
        let Some(slot) = function.slot_labelled(&hint.label) else { continue };
        for span in hint.spans(situation.utterance()) {
            match anchors.iter_mut().find(|(anchor, _)| anchor.slot == slot && anchor.span == span) {
                Some((anchor, _)) => anchor.score = anchor.score.max(HINTED.score()),
                None => anchors.push((Anchor { slot, span, score: HINTED.score() }, None)),
            }
        }
    }
    drop_misspelt(&situation.knowledge.module, &mut anchors);
    drop_other_edges(situation, function, &mut anchors);
    keep_named(situation, function, &mut anchors);
    drop_out_of_bounds(function, &mut anchors);
    texts::keep_whole(situation, function, awaited, &mut anchors);
    anchors
}

/// The kind of the built-in recognizer that found it.
fn builtin(module: &Module, mention: &Mention) -> Option<Builtin> {
    match module.recognizer(mention.recognizer).kind {
        RecognizerKind::Builtin(builtin) => Some(builtin),
        RecognizerKind::List(_) | RecognizerKind::Pattern(_) => None,
    }
}

fn is_number(module: &Module, mention: &Mention) -> bool {
    matches!(builtin(module, mention), Some(Builtin::Integer | Builtin::Number))
}

/// True if something other than a number was surely read there for the function.
fn is_of_others(situation: &Situation<'_>, function: &Function, bare: &Mention) -> bool {
    let module = &situation.knowledge.module;
    let is_count = |mention: &Mention| {
        is_number(module, mention) || builtin(module, mention) == Some(Builtin::Ordinal) //
    };
    let is_taken = |one: &&Mention| function.slots.iter().any(|slot| slot.recognizers.contains(&one.recognizer));
    let mut others = situation.mentions().iter().filter(|one| one.recognizer != bare.recognizer).filter(is_taken);
    others.any(|one| one.span.overlaps(bare.span) && one.score > EVEN && !is_count(one))
}

/// An exact entry of one slot's list is not a misspelt entry of another list: "basil" is not "basic".
fn drop_misspelt(module: &Module, anchors: &mut Vec<FoundSpan<'_>>) {
    let listed = |found: &FoundSpan<'_>| {
        let is_list =
            |mention: &&Mention| matches!(module.recognizer(mention.recognizer).kind, RecognizerKind::List(_));
        found.1.filter(is_list).map(|mention| mention.score)
    };
    let is_exact = |found: &FoundSpan<'_>| listed(found).is_some_and(|score| score >= EXACT.score());
    let exact: Vec<Span> = anchors.iter().filter(|one| is_exact(one)).map(|(anchor, _)| anchor.span).collect();
    anchors.retain(|one| {
        let is_misspelt = listed(one).is_some() && !is_exact(one) && exact.contains(&one.0.span);
        !ablation::holds("reading.drop_misspelt", is_misspelt)
    });
}

/// "Until 22 May" fills no slot for the first day of a range, even if that was asked for.
fn drop_other_edges(situation: &Situation<'_>, function: &Function, anchors: &mut Vec<FoundSpan<'_>>) {
    anchors.retain(|(anchor, mention)| {
        let is_other =
            mention.is_some_and(|mention| ranges::is_of_other_edge(situation, function, anchor.slot, mention));
        !ablation::holds("ranges.other_edge", is_other)
    });
}

/// A number that is out of bounds for one slot fills another slot that may hold it: 250000 is not a count of bedrooms.
fn drop_out_of_bounds(function: &Function, anchors: &mut Vec<FoundSpan<'_>>) {
    let is_within = |slot: SlotId, mention: &Mention| {
        let (schema, value) = (&function.slot(slot).schema, mention.value.as_f64());
        let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
        value.is_none_or(|value| {
            bound("minimum").is_none_or(|least| value >= least) && bound("maximum").is_none_or(|most| value <= most)
        })
    };
    let fitting: Vec<Span> = anchors
        .iter()
        .filter(|(anchor, mention)| mention.is_some_and(|mention| is_within(anchor.slot, mention)))
        .map(|(anchor, _)| anchor.span)
        .collect();
    anchors.retain(|(anchor, mention)| {
        mention.is_none_or(|mention| is_within(anchor.slot, mention))
            || !ablation::holds("reading.drop_out_of_bounds", fitting.contains(&anchor.span))
    });
}

/// If the words beside a number tell which of the slots that it may fill is meant, it fills no other slot: "45 cm
/// wide". The same holds for the word right behind a number: "6 children".
fn keep_named(situation: &Situation<'_>, function: &Function, anchors: &mut Vec<FoundSpan<'_>>) {
    let module = &situation.knowledge.module;
    let is_count = |mention: Option<&Mention>| mention.is_some_and(|mention| is_number(module, mention));
    let found: Vec<(Span, bool)> = anchors.iter().map(|(anchor, mention)| (anchor.span, is_count(*mention))).collect();
    for (span, is_count) in found {
        let rivals: Vec<SlotId> =
            anchors.iter().filter(|(anchor, _)| anchor.span == span).map(|(anchor, _)| anchor.slot).collect();
        let named_by = |is_named: &dyn Fn(SlotId) -> bool| -> Vec<SlotId> {
            rivals.iter().copied().filter(|slot| is_named(*slot)).collect()
        };
        let mut named = named_by(&|slot| {
            ablation::holds("asked.is_told_beside", asked::is_told_beside(situation, function, slot, span))
        });
        if named.is_empty() && is_count {
            named = named_by(&|slot| {
                ablation::holds(
                    "asked.is_named_behind",
                    asked::is_named_behind(situation, function, slot, &rivals, span),
                )
            });
        }
        if let [slot] = named[..]
            && rivals.len() > 1
        {
            anchors.retain(|(anchor, _)| anchor.span != span || anchor.slot == slot);
        }
    }
}

impl<'a> Filled<'a> {
    fn new(
        situation: &Situation<'a>,
        filling: &Filling,
        found: &[FoundSpan<'a>],
        evidence: Option<candidates::Evidence>,
    ) -> Self {
        let mention = filling.anchor.and_then(|index| found[index].1);
        let utterance = situation.utterance();
        // Free text keeps every punctuation mark that was said.
        let said = utterance.with_signs(utterance.trimmed(filling.span, char::is_whitespace));
        Self {
            slot: filling.slot,
            span: mention.map_or(said, |mention| mention.span),
            value: mention.map_or_else(|| utterance.slice(said).into(), |mention| mention.value.clone()),
            mention,
            rule: filling.rule,
            evidence,
            far_from: None,
            confidence: filling.confidence
                * match (&evidence, filling.rule) {
                    (Some(evidence), _) => candidates::probability_as_said(evidence),
                    // A chosen answer has its own probability.
                    (None, None | Some(FillingRule::Chosen)) => 1.0,
                    (None, Some(rule)) => candidates::share_right(rule),
                },
        }
    }

    /// The value as one that is ruled out.
    fn excluded(&self, situation: &Situation<'_>, function: &Function) -> SlotValue {
        let pointer = function.slot(self.slot).path.pointer();
        self.located(situation, SlotValue::unsaid(pointer, self.value.clone(), Source::Said, self.confidence))
    }

    /// If the span of a value is known, it is given here: the same words may also stand elsewhere in the utterance.
    fn located(&self, situation: &Situation<'_>, grounded: SlotValue) -> SlotValue {
        let recognizer =
            self.mention.map(|mention| situation.knowledge.module.recognizer(mention.recognizer).name.clone());
        let text = Some(situation.utterance().slice(self.span).to_owned());
        let (span, from, confidence) = (Some(self.span), Source::Said, self.confidence);
        SlotValue { text, span, recognizer, from, confidence, ..grounded }
    }
}

/// Flags by their own names: "no sauce" makes `sauce` false, "including human impact" makes `include_human_impact` true.
/// What is negated is never taken for said, whether it rules something out or belongs to a template.
fn add_flags<'a>(situation: &Situation<'a>, function: &Function, ruled_out: &[RuledOut], values: &mut Vec<Filled<'a>>) {
    let (utterance, languages) = (situation.utterance(), Language::and_english(situation.knowledge.module.language()));
    for id in function.slot_ids().filter(|id| function.slot(*id).kind == SlotKind::Boolean) {
        let label = function.slot(id).label();
        let negated: Vec<&RuledOut> = ruled_out.iter().filter(|one| !one.said_for.contains(&id)).collect();
        let denied = if negated.is_empty() { None } else { flag_within(utterance, label, &negated, languages) };
        let (span, value, rule) = if let Some(span) = ablation::found("reading.denied_flag", denied) {
            values.retain(|filled| filled.slot != id);
            (span, false, FillingRule::Denied)
        } else if values.iter().any(|filled| filled.slot == id) {
            continue;
        } else {
            let filled = values.iter().map(|filled| filled.span);
            let taken: Vec<Span> = filled.chain(situation.negations().iter().map(|one| one.scope)).collect();
            let said = flag_said(utterance, (label, &function.name), &taken, languages);
            let Some(span) = ablation::found("reading.said_flag", said) else { continue };
            (span, true, FillingRule::Named)
        };
        values.push(Filled {
            slot: id,
            span,
            value: Value::Bool(value),
            mention: None,
            rule: Some(rule),
            evidence: None,
            far_from: None,
            confidence: candidates::share_right(rule),
        });
    }
}

/// "20 pounds" gives an amount and a currency. If it fills an amount and a slot for the currency is still empty, it
/// fills that too.
fn add_currency<'a>(situation: &Situation<'a>, function: &Function, values: &mut Vec<Filled<'a>>) {
    let module = &situation.knowledge.module;
    let takes = |slot: &Slot, currency: &Value| {
        slot.choices.contains(currency)
            || slot.recognizers.iter().any(|id| match &module.recognizer(*id).kind {
                RecognizerKind::List(list) => list.instances.iter().any(|instance| instance.label == *currency),
                RecognizerKind::Pattern(_) | RecognizerKind::Builtin(_) => false,
            })
    };
    let said: Vec<(Filled<'a>, Value)> = values
        .iter()
        .filter_map(|filled| {
            let mention = filled.mention?;
            let is_money = builtin(module, mention) == Some(Builtin::Money);
            let currency = mention.value.get("currency").filter(|currency| is_money && currency.is_string())?;
            Some((filled.clone(), currency.clone()))
        })
        .collect();
    for (filled, currency) in said {
        let empty = |id: &SlotId| !values.iter().any(|other| other.slot == *id);
        let slots: Vec<SlotId> =
            function.slot_ids().filter(|id| empty(id) && takes(function.slot(*id), &currency)).collect();
        // If there are two currency slots, the amount does not say which one is meant.
        if let [slot] = slots[..]
            && ablation::holds("reading.add_currency", true)
        {
            values.push(Filled { slot, value: currency, ..filled });
        }
    }
}
