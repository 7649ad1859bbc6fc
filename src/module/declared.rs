//! What an author declares for conversations: wordings, rules, and what slots share.

use std::collections::{HashMap, HashSet};

use super::{
    Diagnostic, Function, Settings, Slot,
    files::SETTINGS_FILE,
    findings::{Findings, PointerChain},
    label::{find_slot, is_label},
    marks::{Run, runs},
    rule::{Rule, RuleError},
    settings::{FunctionSettings, RuleSettings, SlotSettings, Wording},
};

/// Reads the rules of a function, and replaces the marks in its confirmation by the paths of their slots.
pub(super) fn function(
    own: &mut FunctionSettings,
    function: &Function,
    place: &PointerChain<'_>,
    findings: &mut Findings,
) {
    let rules_at = place.key("rules");
    for (index, rule) in own.rules.iter_mut().enumerate() {
        self::rule(rule, function, &rules_at.index(index), findings);
    }
    let at = place.key("confirmation");
    if own.confirmation.is_some() && !own.confirm {
        let message = "`confirmation` has no effect: the function is not marked `confirm`";
        findings.push(Diagnostic::warning("no-effect", SETTINGS_FILE, at, message).hint("add `confirm = true`"));
    }
    let marked = own.confirmation.take().and_then(|wording| {
        let by_language = matches!(wording, Wording::ByLanguage(_));
        let languages: Vec<String> = wording.texts().map(|(tag, _)| tag.unwrap_or_default().to_owned()).collect();
        let mut languages = languages.iter();
        wording.mapped(|text| {
            let language = languages.next().map_or("", String::as_str);
            let inner = at.key(language);
            marked(text, function, if by_language { &inner } else { &at }, findings)
        })
    });
    own.confirmation = marked;
}

fn rule(own: &mut RuleSettings, function: &Function, place: &PointerChain<'_>, findings: &mut Findings) {
    own.message = own.message.take().and_then(|message| message.mapped(str::to_owned));
    match Rule::parse(&own.check, function, &|name| find_slot(function, name)) {
        Ok(rule) => own.rule = Some(rule),
        Err(RuleError::UnknownSlot(name)) => {
            let hint = findings.near(&name, function.slots.iter().map(Slot::label));
            let message = format!("`{}` has no slot `{name}`, which the rule `{}` names", function.name, own.check);
            findings.push(Diagnostic::error("unknown-slot", SETTINGS_FILE, place, message).hint_if(hint));
        }
        Err(reason) => {
            let message = format!("`{}` is not a rule: {reason}", own.check);
            let found = Diagnostic::error("bad-rule", SETTINGS_FILE, place, message);
            findings.push(found.hint("for example `end_date > start_date` or `people <= 12`"));
        }
    }
}

/// The text with each mark replaced by the path of its slot.
fn marked(text: &str, function: &Function, place: &PointerChain<'_>, findings: &mut Findings) -> String {
    let mut written = String::with_capacity(text.len());
    for run in runs(text) {
        match run {
            Run::Text(text) => written.push_str(text),
            Run::Mark(mark) => {
                let slot = find_slot(function, mark).filter(|_| is_label(mark));
                if slot.is_none() && is_label(mark) {
                    let hint = findings.near(mark, function.slots.iter().map(Slot::label));
                    let message = format!("`{}` has no slot `{mark}`", function.name);
                    findings.push(Diagnostic::error("unknown-slot", SETTINGS_FILE, place, message).hint_if(hint));
                }
                let path = slot.map(|slot| function.slot(slot).path.to_string());
                written.extend(["<", path.as_deref().unwrap_or(mark), ">"]);
            }
        }
    }
    written
}

/// Drops blank wordings, and reports declarations that have no effect.
pub(super) fn slot(own: &mut SlotSettings, slot: &Slot, place: &PointerChain<'_>, findings: &mut Findings) {
    for wording in [&mut own.question, &mut own.invalid] {
        *wording = wording.take().and_then(|wording| wording.mapped(str::to_owned));
    }
    own.shared = own.shared.take().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    if own.ask {
        let reason = if slot.path.is_repeated() {
            "slots in lists are asked for only where they are required"
        } else if slot.required && slot.default.is_none() {
            "the slot is required, and asked for in any case"
        } else {
            return;
        };
        let message = format!("`ask` has no effect: {reason}");
        findings.push(Diagnostic::warning("no-effect", SETTINGS_FILE, place.key("ask"), message));
    }
}

/// Reports slots that are declared to hold the same thing but cannot.
pub(super) fn shared(settings: &Settings, functions: &[Function], findings: &mut Findings) {
    let mut first: HashMap<&str, (&Function, &Slot)> = HashMap::new();
    let functions_at = PointerChain::ROOT.key("functions");
    for (name, own) in &settings.functions {
        let Some(function) = functions.iter().find(|function| function.name == *name) else { continue };
        for (path, slot_settings) in &own.slots {
            let slot = function.slots.iter().find(|slot| slot.path.to_string() == *path);
            let (Some(slot), Some(shared)) = (slot, &slot_settings.shared) else { continue };
            let (other_function, other) = *first.entry(shared).or_insert((function, slot));
            if other.kind == slot.kind && format(other) == format(slot) {
                continue;
            }
            let message = format!(
                "`{path}` is shared as `{shared}` with `{}` of `{}`, which is of another type",
                other.path, other_function.name
            );
            let (at, below) = (functions_at.key(name), "slots");
            let (at, below) = (at.key(below), path.as_str());
            let at = at.key(below);
            findings.push(Diagnostic::error("conflicting-slots", SETTINGS_FILE, at.key("shared"), message));
        }
    }
}

/// Reports results that no slot takes over.
pub(super) fn shares(settings: &Settings, findings: &mut Findings) {
    let taken =
        settings.functions.values().flat_map(|own| own.slots.values()).filter_map(|slot| slot.shared.as_deref());
    let taken: HashSet<&str> = taken.collect();
    let functions_at = PointerChain::ROOT.key("functions");
    for (name, own) in &settings.functions {
        for (member, shared) in own.shares.iter().filter(|(_, shared)| !taken.contains(shared.as_str())) {
            let message = format!("`{member}` has no effect: no slot has `shared = \"{shared}\"`");
            let hint = findings.near(shared, taken.iter().copied());
            let (at, below) = (functions_at.key(name), "shares");
            let at = at.key(below);
            findings.push(Diagnostic::warning("no-effect", SETTINGS_FILE, at.key(member), message).hint_if(hint));
        }
    }
}

fn format(slot: &Slot) -> Option<&str> {
    slot.schema.get("format").and_then(serde_json::Value::as_str)
}
