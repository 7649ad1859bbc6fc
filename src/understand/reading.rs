//! An utterance read, without a model server, as a request for one particular function.

use serde_json::Value;

use super::{
    Frame,
    assemble::{self, Said},
    question,
    strategy::Situation,
};
use crate::{
    align::{Anchor, Filling},
    call::{Call, Grounded, Origin, Proposal, Verdict, ViolationKind},
    module::{Builtin, Function, FunctionId, RecognizerKind, Slot, SlotId},
    recognize::Mention,
    text::Span,
};

/// Fillings less likely than this are left out: a question is better than a guess.
const UNSURE: f32 = 0.4;

/// See [the module](self).
pub(super) struct Reading<'a> {
    pub function: FunctionId,
    definition: &'a Function,
    values: Vec<Filled<'a>>,
}

/// A slot with the words that fill it.
#[derive(Debug, Clone)]
struct Filled<'a> {
    slot: SlotId,
    span: Span,
    value: Value,
    /// `None` for free text.
    mention: Option<&'a Mention>,
    confidence: f32,
}

impl<'a> Reading<'a> {
    /// Fills the slots by what the recognizers found and by alignment with the function's exemplars.
    pub(super) fn new(situation: &Situation<'a>, function: FunctionId) -> Self {
        let definition = situation.snapshot.module.function(function);
        let (anchors, mentions): (Vec<Anchor>, Vec<&Mention>) = anchors(situation, definition).into_iter().unzip();
        let fillings = situation.snapshot.aligner.align(function, situation.utterance, &anchors);
        let mut values: Vec<Filled<'a>> = fillings
            .iter()
            .filter(|filling| filling.confidence >= UNSURE)
            .map(|filling| Filled::new(situation, filling, &mentions))
            .collect();
        add_currency(situation, definition, &mut values);
        Self { function, definition, values }
    }

    /// How much the slots speak for the function, 0 to 1: the share of the required ones that are filled; for a function
    /// that requires nothing, 1 if any is.
    #[expect(clippy::cast_precision_loss, reason = "a function has a few slots")]
    pub(super) fn support(&self) -> f32 {
        let is_filled = |id: &SlotId| self.values.iter().any(|filled| filled.slot == *id);
        let required: Vec<SlotId> =
            self.definition.slot_ids().filter(|id| self.definition.slot(*id).required).collect();
        if required.is_empty() {
            return if self.values.is_empty() { 0.0 } else { 1.0 };
        }
        required.iter().filter(|id| is_filled(id)).count() as f32 / required.len() as f32
    }

    /// What the validator makes of it: the frame, and the call if it is valid and complete.
    pub(super) fn judged(&self, situation: &Situation<'_>, confidence: f32) -> (Frame, Option<Call>) {
        let said: Vec<Said> = self
            .values
            .iter()
            .map(|filled| Said { slot: filled.slot, span: filled.span, value: filled.value.clone() })
            .collect();
        let (arguments, pointers) = assemble::arguments(self.definition, &said);
        let sightings = situation.sightings();
        let proposal = Proposal { function: self.function, arguments };
        let validator = &situation.snapshot.validator;
        let (call, grounded, violations) =
            match validator.validate(self.definition, proposal, &situation.evidence(&sightings)) {
                Verdict::Valid { call, grounded, .. } => (Some(call), grounded, Vec::new()),
                Verdict::Invalid { grounded, violations, .. } => (None, grounded, violations),
            };
        let slots = grounded
            .into_iter()
            .map(|grounded| {
                let filled = pointers.iter().position(|pointer| pointer.as_deref() == Some(grounded.pointer.as_str()));
                match filled {
                    Some(index) => self.values[index].located(situation, grounded),
                    None => grounded,
                }
            })
            .collect();
        let (missing, invalid): (Vec<_>, Vec<_>) =
            violations.into_iter().partition(|violation| violation.kind == ViolationKind::Missing);
        let missing = missing.iter().map(|violation| question::path_of(&violation.path)).collect();
        let segment = Span::new(0, situation.utterance.len());
        (Frame { function: self.function, confidence, segment, slots, missing, invalid }, call)
    }
}

/// Every mention that could fill a slot of the function. Where two recognizers of a slot found the same span, the
/// slot's preferred one counts.
fn anchors<'a>(situation: &Situation<'a>, function: &Function) -> Vec<(Anchor, &'a Mention)> {
    let mut anchors: Vec<(Anchor, &Mention)> = Vec::new();
    for id in function.slot_ids() {
        for (rank, recognizer) in function.slot(id).recognizers.iter().enumerate() {
            for mention in situation.mentions.iter().filter(|mention| mention.recognizer == *recognizer) {
                if anchors.iter().any(|(anchor, _)| anchor.slot == id && anchor.span == mention.span) {
                    continue;
                }
                #[expect(clippy::cast_precision_loss, reason = "a slot has a few recognizers")]
                let score = mention.score * 0.9_f32.powf(rank as f32);
                anchors.push((Anchor { slot: id, span: mention.span, score }, mention));
            }
        }
    }
    anchors
}

impl<'a> Filled<'a> {
    fn new(situation: &Situation<'a>, filling: &Filling, mentions: &[&'a Mention]) -> Self {
        let mention = filling.anchor.map(|index| mentions[index]);
        Self {
            slot: filling.slot,
            span: mention.map_or(filling.span, |mention| mention.span),
            value: mention
                .map_or_else(|| situation.utterance.slice(filling.span).into(), |mention| mention.value.clone()),
            mention,
            confidence: filling.confidence * mention.map_or(1.0, |mention| mention.score),
        }
    }

    /// Where we know the span of a value, say that one: the same words may stand elsewhere in the utterance too.
    fn located(&self, situation: &Situation<'_>, grounded: Grounded) -> Grounded {
        let recognizer =
            self.mention.map(|mention| situation.snapshot.module.recognizer(mention.recognizer).name.clone());
        let text = situation.utterance.slice(self.span).to_owned();
        let origin = Origin::Utterance { span: self.span, text, recognizer };
        Grounded { origin, confidence: self.confidence, ..grounded }
    }
}

/// "20 pounds" says two things. Where it fills an amount, and a slot for the currency is still empty, it fills that too.
fn add_currency<'a>(situation: &Situation<'a>, function: &Function, values: &mut Vec<Filled<'a>>) {
    let module = &situation.snapshot.module;
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
            let is_money =
                matches!(module.recognizer(mention.recognizer).kind, RecognizerKind::Builtin(Builtin::Money));
            let currency = mention.value.get("currency").filter(|currency| is_money && currency.is_string())?;
            Some((filled.clone(), currency.clone()))
        })
        .collect();
    for (filled, currency) in said {
        let empty = |id: &SlotId| !values.iter().any(|other| other.slot == *id);
        let slots: Vec<SlotId> =
            function.slot_ids().filter(|id| empty(id) && takes(function.slot(*id), &currency)).collect();
        // Of two currencies, which one is meant is not said by the amount.
        if let [slot] = slots[..] {
            values.push(Filled { slot, value: currency, ..filled });
        }
    }
}
