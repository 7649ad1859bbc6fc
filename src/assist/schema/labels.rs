//! The labels that a slot can mean, where that is certain.
//!
//! If a slot is open text and its values are a list's labels, the model need not spell them: it may choose from the
//! labels that were said. That helps only if nothing else can be meant, since a choice among wrong labels is a wrong
//! call. So a slot is narrowed only if
//!
//! - the list alone finds its values, all labels are texts, and the model may not write them itself (`grounding =
//!   "free"`);
//! - no other slot of the function takes values of the same list: "from here to Paris" says nothing about where "here"
//!   is;
//! - every mention of the list is exact, none is ruled out ("not Paris"), and none shares its words with a mention for
//!   another slot ("May");
//! - no word is left over that could be a value unknown to the list: every word of the utterance is part of a mention,
//!   or   occurs in an exemplar of one of the candidates.
//!
//! Null stays possible: what was said may belong to no slot at all.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};

use crate::{
    assist::brief::Brief,
    module::{
        Function, FunctionId, Module, PathStep, RecognizerId, RecognizerKind, Slot, SlotKind, SlotPath, TemplatePiece,
        settings::Grounding,
    },
    recognize::{Mention, certainty::Certainty},
    text::fold,
};

/// The certainty of a mention that equals its label or one of its expressions, apart from hyphens.
const EXACT: Certainty = Certainty::Evident;

/// The labels that were said, for each slot that can mean nothing else.
pub(crate) fn in_play(brief: &Brief<'_>, id: FunctionId) -> BTreeMap<SlotPath, Vec<String>> {
    let module = &brief.snapshot.module;
    let function = module.function(id);
    let mut found = BTreeMap::new();
    for slot in &function.slots {
        let Some(list) = list_of(module, function, slot) else { continue };
        let Some(labels) = labels(brief, function, list) else { continue };
        if *brief.is_explained.get_or_init(|| is_explained(brief)) {
            found.insert(slot.path.clone(), labels);
        }
    }
    found
}

/// Replaces the open text at `path` by a choice of labels.
pub(crate) fn narrow(schema: &mut Value, strict: bool, path: &SlotPath, labels: Vec<String>) {
    let Some(leaf) = leaf(schema, path) else { return };
    // In strict form nothing may stand beside a union or a reference.
    if !strict || leaf.contains_key("type") {
        // An item of a list that was not said is absent, so it needs no null.
        Narrowed { labels, nullable: !path.is_repeated() }.apply(leaf);
    }
}

/// The members of the schema at `path`.
fn leaf<'s>(schema: &'s mut Value, path: &SlotPath) -> Option<&'s mut Map<String, Value>> {
    let mut at = schema;
    for step in &path.0 {
        at = match step {
            PathStep::Key(key) => at.get_mut("properties")?.get_mut(&**key)?,
            PathStep::Each => at.get_mut("items")?,
        };
    }
    at.as_object_mut()
}

/// What a leaf is narrowed to.
pub(crate) struct Narrowed {
    pub labels: Vec<String>,
    pub nullable: bool,
}

impl Narrowed {
    pub(crate) fn apply(self, members: &mut Map<String, Value>) {
        let mut choices: Vec<Value> = self.labels.into_iter().map(Value::from).collect();
        if self.nullable || is_nullable(members) {
            members.insert("type".to_owned(), Value::from(vec!["string", "null"]));
            choices.push(Value::Null);
        }
        members.insert("enum".to_owned(), choices.into());
    }
}

fn is_nullable(members: &Map<String, Value>) -> bool {
    members.get("type").and_then(Value::as_array).is_some_and(|types| types.iter().any(|one| one == "null"))
}

/// The list that alone finds the slot's values, and finds those of no other slot.
fn list_of(module: &Module, function: &Function, slot: &Slot) -> Option<RecognizerId> {
    let [list] = slot.recognizers.as_slice() else { return None };
    let RecognizerKind::List(spec) = &module.recognizer(*list).kind else { return None };
    let is_open = slot.kind == SlotKind::String && slot.choices.is_empty();
    let is_free = module
        .settings
        .functions
        .get(&function.name)
        .and_then(|of| of.slots.get(&slot.path.to_string()))
        .is_some_and(|settings| settings.grounding == Grounding::Free);
    let is_shared = function.slots.iter().any(|other| other.path != slot.path && other.recognizers.contains(list));
    let fits = is_open && !is_free && !is_shared && spec.instances.iter().all(|one| one.label.is_string());
    fits.then_some(*list)
}

/// The labels of a list that were said, in order; `None` if there are none, or if one is doubtful.
fn labels(brief: &Brief<'_>, function: &Function, list: RecognizerId) -> Option<Vec<String>> {
    let mut labels: Vec<String> = Vec::new();
    for mention in brief.mentions().iter().filter(|mention| mention.recognizer == list) {
        let is_for_another = |other: &Mention| {
            other.recognizer != list
                && other.is_likely()
                && other.span.overlaps(mention.span)
                && function.slots.iter().any(|slot| slot.recognizers.contains(&other.recognizer))
        };
        let is_sure = mention.score >= EXACT.score()
            && !brief.negations().iter().any(|negation| negation.scope.overlaps(mention.span))
            && !brief.mentions().iter().any(is_for_another);
        let label = mention.value.as_str().filter(|_| is_sure)?;
        if !labels.iter().any(|known| known == label) {
            labels.push(label.to_owned());
        }
    }
    (!labels.is_empty()).then_some(labels)
}

/// True if no word of the utterance could name something that the lists do not know.
fn is_explained(brief: &Brief<'_>) -> bool {
    let mentioned = |span| brief.mentions().iter().any(|mention| mention.is_likely() && mention.span.contains(span));
    let mut left: HashSet<String> = brief
        .utterance()
        .words()
        .iter()
        .filter(|span| !mentioned(**span))
        .map(|span| fold(brief.utterance().slice(*span)))
        .collect();
    let snapshot = brief.snapshot;
    for id in brief.shown() {
        let known = snapshot.shown[id.index()].words.get_or_init(|| words(snapshot.module.function(id)));
        left.retain(|word| !known.contains(word));
    }
    left.is_empty()
}

/// The words of a function's exemplars, folded.
fn words(function: &Function) -> HashSet<String> {
    let mut words = HashSet::new();
    for piece in function.exemplars.iter().flat_map(|exemplar| &exemplar.pieces) {
        if let TemplatePiece::Text(text) = piece {
            words.extend(fold(text).split(|c: char| !c.is_alphanumeric() && c != '\'').map(str::to_owned));
        }
    }
    words
}
