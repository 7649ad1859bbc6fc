//! Warnings about what will go wrong in conversations, although every file is correct by itself.

use std::collections::{HashMap, HashSet};

use super::{
    Diagnostic, Function, ListSpec, Recognizer, RecognizerKind, Settings, Slot, SlotId, SlotKind, TemplatePiece,
    files::{EXEMPLARS_FILE, RECOGNIZERS_FILE},
    findings::{Findings, PointerChain},
};
use crate::text::fold;

/// Number of exemplars with a free-text slot from which on its place in a sentence counts as known.
const ENOUGH_FRAMES: usize = 2;
/// Greatest number of expressions that are compared with one another, over all functions.
const MOST_EXPRESSIONS: usize = 50_000;
/// Greatest number of words of an expression in which other expressions are looked for.
const MOST_WORDS: usize = 8;

/// Checks every function as a whole. `schema_file` is the name of the schema; `pointers` give each function's place in
/// it.
pub(super) fn give(
    (schema_file, pointers): (&str, &[String]),
    functions: &[Function],
    recognizers: &[Recognizer],
    settings: &Settings,
    findings: &mut Findings,
) {
    let sizes: Vec<usize> = recognizers.iter().map(size).collect();
    let mut expressions_left = MOST_EXPRESSIONS;
    for (function, pointer) in functions.iter().zip(pointers) {
        let confirms = settings.functions.get(&function.name).is_some_and(|own| own.confirm);
        if !confirms {
            calls_unasked(schema_file, pointer, function, findings);
        }
        few_frames(function, findings);
        for id in function.slot_ids() {
            for recognizer in function.slot(id).recognizers.iter().map(|id| &recognizers[id.index()]) {
                if let RecognizerKind::List(list) = &recognizer.kind {
                    list_of_another_kind(function, function.slot(id), (&recognizer.name, list), findings);
                }
            }
        }
        let bound = function.slots.iter().flat_map(|slot| &slot.recognizers);
        if let Some(left) = expressions_left.checked_sub(bound.map(|id| sizes[id.index()]).sum()) {
            expressions_left = left;
            swallowed_phrases(function, recognizers, findings);
        }
    }
}

/// Number of expressions of a list, labels included.
fn size(recognizer: &Recognizer) -> usize {
    match &recognizer.kind {
        RecognizerKind::List(list) => list.instances.iter().map(|instance| 1 + instance.expressions.len()).sum(),
        RecognizerKind::Pattern(_) | RecognizerKind::Builtin(_) => 0,
    }
}

/// Warns of a free-text slot that hardly any exemplar shows: where its value begins and ends is a guess.
fn few_frames(function: &Function, findings: &mut Findings) {
    if function.exemplars.is_empty() {
        return;
    }
    let mut frames = vec![0; function.slots.len()];
    for piece in function.exemplars.iter().flat_map(|exemplar| &exemplar.pieces) {
        if let TemplatePiece::Slot { slot: Some(slot), .. } = piece {
            frames[slot.index()] += 1;
        }
    }
    let is_free = |slot: &Slot| slot.kind == SlotKind::String && slot.recognizers.is_empty();
    for (slot, frames) in function.slots.iter().zip(frames).filter(|(slot, _)| is_free(slot)) {
        if frames >= ENOUGH_FRAMES {
            continue;
        }
        let message = format!(
            "`{}` of `{}` may be any words, and {} of its exemplars: where its value ends is a guess",
            slot.path,
            function.name,
            if frames == 0 { "stands in none" } else { "stands in only one" },
        );
        let place = PointerChain::ROOT.key(&function.name);
        let found = Diagnostic::warning("few-frames", EXEMPLARS_FILE, place, message);
        findings.push(found.hint(format!("write more templates with `<{}>`, or give it a recognizer", slot.label())));
    }
}

/// Warns of a function that requires no value, though every exemplar contains one.
fn calls_unasked(file: &str, pointer: &str, function: &Function, findings: &mut Findings) {
    let says_something =
        |pieces: &[TemplatePiece]| pieces.iter().any(|piece| matches!(piece, TemplatePiece::Slot { .. }));
    let is_optional = !function.slots.is_empty() && !function.slots.iter().any(|slot| slot.required);
    let is_shown_with_values =
        !function.exemplars.is_empty() && function.exemplars.iter().all(|exemplar| says_something(&exemplar.pieces));
    if is_optional && is_shown_with_values {
        let message = format!("`{}` requires nothing, so it may be called with nothing said", function.name);
        let found = Diagnostic::warning("calls-unasked", file, pointer, message);
        findings.push(found.hint("make required what a call needs, or set `confirm = true`"));
    }
}

/// Warns of a list whose labels the slot does not accept: on a boolean, or outside its choices.
fn list_of_another_kind(function: &Function, slot: &Slot, (name, list): (&str, &ListSpec), findings: &mut Findings) {
    let place = PointerChain::ROOT.key("recognizers");
    let place = place.key(name);
    if slot.kind == SlotKind::Boolean {
        if !list.instances.iter().all(|instance| instance.label.is_boolean()) {
            let message = format!(
                "`{}` of `{}` is true or false, and the list `{name}` has other labels: it never fills the slot",
                slot.path, function.name
            );
            let found = Diagnostic::warning("list-on-boolean", RECOGNIZERS_FILE, place, message);
            findings.push(found.hint("give it the labels true and false, each with the phrases that say so"));
        }
        return;
    }
    if slot.choices.is_empty() {
        return;
    }
    let choices: HashSet<String> = slot.choices.iter().map(squeezed).collect();
    let labels = list.instances.iter().map(|instance| &instance.label);
    if let Some(label) = labels.into_iter().find(|label| !choices.contains(&squeezed(label))) {
        let message = format!(
            "the label {label} of `{name}` is none of the choices of `{}` of `{}`: it is refused when it is said",
            slot.path, function.name
        );
        let found = Diagnostic::warning("label-outside-enum", RECOGNIZERS_FILE, place, message);
        findings.push(found.hint("use the values of the schema's `enum` as labels"));
    }
}

/// The form in which a label and a choice are compared, as when a call is made.
fn squeezed(value: &serde_json::Value) -> String {
    super::squeeze(&value.as_str().map_or_else(|| value.to_string(), fold))
}

/// Warns of an expression of a slot's list that consists of expressions of its own list and of another slot's list, as
/// "king size bed" does where "bed" and "king size" are known. It is found where both are said.
fn swallowed_phrases(function: &Function, recognizers: &[Recognizer], findings: &mut Findings) {
    let mut owners: HashMap<String, (&str, SlotId)> = HashMap::new();
    let mut all: Vec<(String, &str, SlotId)> = Vec::new();
    for id in function.slot_ids() {
        for recognizer in function.slot(id).recognizers.iter().map(|id| &recognizers[id.index()]) {
            let RecognizerKind::List(list) = &recognizer.kind else { continue };
            for instance in &list.instances {
                let label = instance.label.as_str().map(str::to_owned);
                let squeezed = label.as_deref().map(super::squeeze);
                let is_label = |expression: &str| squeezed.as_ref() == Some(&super::squeeze(expression));
                for expression in instance.expressions.iter().cloned().chain(label) {
                    let folded = fold(&expression.replace(['_', '-'], " "));
                    owners.entry(folded.clone()).or_insert((&recognizer.name, id));
                    // A label is intended by the author, whatever it contains.
                    if !is_label(&expression) {
                        all.push((folded, &recognizer.name, id));
                    }
                }
            }
        }
    }
    let mut told: HashSet<(&str, &str)> = HashSet::new();
    for (expression, name, slot) in &all {
        let words: Vec<&str> = expression.split_whitespace().collect();
        if words.len() < 2 || words.len() > MOST_WORDS {
            continue;
        }
        let parts = (0..words.len()).flat_map(|from| (from + 1..=words.len()).map(move |to| (from, to)));
        let within = parts.filter(|(from, to)| to - from < words.len()).map(|(from, to)| words[from..to].join(" "));
        for part in within {
            let Some((other, other_slot)) = owners.get(&part) else { continue };
            let rest = expression.replacen(&part, "", 1);
            let is_other_half = owners.get(rest.trim()).is_some_and(|(_, owner)| owner == slot);
            if other_slot == slot || other == name || !is_other_half || !told.insert((*name, *other)) {
                continue;
            }
            let message = format!(
                "`{expression}` of the list `{name}` has `{part}` of the list `{other}` in it: in `{}`, both cannot be found \
                 there",
                function.name
            );
            let place = PointerChain::ROOT.key("recognizers");
            let found = Diagnostic::warning("swallowed-phrase", RECOGNIZERS_FILE, place.key(name), message);
            findings.push(found.hint("leave the words of the other slot out of the longer expression"));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::module::{Limits, load::from_texts};

    /// The codes of the warnings of a module with one function.
    fn codes(
        parameters: &serde_json::Value,
        exemplars: &serde_json::Value,
        recognizers: &serde_json::Value,
    ) -> Vec<String> {
        let schema = json!([{"name": "f", "description": "Does something", "parameters": parameters}]).to_string();
        let (exemplars, recognizers) = (json!({"f": exemplars}).to_string(), recognizers.to_string());
        let files =
            [("schema.json", schema.as_str()), ("exemplars.json", &exemplars), ("recognizers.json", &recognizers)];
        let (_, found) = from_texts(&files, &Limits::default());
        found.0.iter().map(|one| one.code.to_owned()).collect()
    }

    #[test]
    fn a_slot_of_any_words_needs_frames() {
        let parameters = json!({"type": "object", "required": ["note"], "properties": {"note": {"type": "string"}}});
        assert_eq!(codes(&parameters, &json!(["write <note>"]), &json!({})), ["few-frames"]);
        assert!(codes(&parameters, &json!(["write <note>", "note down <note>"]), &json!({})).is_empty());
    }

    #[test]
    fn what_requires_nothing_may_be_called_with_nothing_said() {
        let parameters = json!({"type": "object", "properties": {"count": {"type": "integer"}}});
        assert_eq!(codes(&parameters, &json!(["take <count>"]), &json!({})), ["calls-unasked"]);
        assert!(codes(&parameters, &json!(["take <count>", "take some"]), &json!({})).is_empty());
    }

    #[test]
    fn lists_fit_their_slots() {
        let flag = json!({"type": "object", "required": ["car"], "properties": {"car": {"type": "boolean"}}});
        let list = |instances: serde_json::Value| json!({"recognizers": {"lent": {"rec_type": "list", "instances": instances}}, "slots": {"car": "lent"}});
        let wrong = list(json!([{"label": "courtesy car", "expressions": []}]));
        assert_eq!(codes(&flag, &json!(["with <car>"]), &wrong), ["list-on-boolean"]);
        for label in [json!(true), json!("true")] {
            let right = list(json!([{"label": label, "expressions": ["courtesy car"]}]));
            assert!(codes(&flag, &json!(["with <car>"]), &right).is_empty());
        }
        let choice =
            json!({"type": "object", "required": ["car"], "properties": {"car": {"enum": ["small", "large"]}}});
        let other = list(json!([{"label": "huge", "expressions": []}, {"label": "small", "expressions": ["mini"]}]));
        assert_eq!(codes(&choice, &json!(["a <car> car"]), &other), ["label-outside-enum"]);
    }

    #[test]
    fn a_list_may_swallow_a_phrase_of_another_slot() {
        let text = json!({"type": "string"});
        let parameters =
            json!({"type": "object", "required": ["bed", "size"], "properties": {"bed": text, "size": text}});
        let recognizers = json!({
            "bed": {"rec_type": "list", "instances": [{"label": "bed", "expressions": ["king size bed"]}, "bunk"]},
            "size": {"rec_type": "list", "instances": ["king size", "single"]}});
        assert_eq!(codes(&parameters, &json!(["a <size> <bed>"]), &recognizers), ["swallowed-phrase"]);
    }

    #[test]
    fn a_misspelt_type_of_recognizer_has_a_hint() {
        let parameters = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let schema = json!([{"name": "f", "description": "Does", "parameters": parameters}]).to_string();
        let recognizers = json!({"a": {"rec_type": "lsit", "instances": ["x"]}}).to_string();
        let files = [("schema.json", schema.as_str()), ("recognizers.json", &recognizers)];
        let (_, found) = from_texts(&files, &Limits::default());
        assert!(found.to_string().contains("did you mean `list`?"), "{found}");
    }
}
