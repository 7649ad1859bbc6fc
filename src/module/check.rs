//! The rules across files: which function, slot and recognizer a name in another file means.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use super::{
    Diagnostic, Exemplar, Function, FunctionId, OwnerMode, RecognizerId, Settings, SlotId, TemplatePiece,
    bind::Binder,
    declared,
    files::{EXEMPLARS_FILE, RECOGNIZERS_FILE, SETTINGS_FILE},
    findings::{Findings, PointerChain},
    label::{find_slot, is_label, keys, last_segment},
    settings::{FunctionSettings, SlotSettings},
    source::{SourceFunction, exemplars::Group},
    squeeze,
};
use crate::text::fold;

/// Checks the names of the functions and gives each function its wire name.
pub(super) fn wire_names(file: &str, functions: &[SourceFunction], findings: &mut Findings) -> Vec<String> {
    let mut first: HashMap<&str, &str> = HashMap::with_capacity(functions.len());
    for function in functions {
        if let Some(other) = first.insert(&function.name, &function.pointer) {
            let message = format!("the function `{}` is defined twice", function.name);
            let found = Diagnostic::error("duplicate-name", file, &function.pointer, message);
            findings.push(found.hint(format!("the other one is at `{other}`; rename one of them")));
        }
    }
    // Names that fit stay unchanged; the others must differ from them.
    let mut taken: HashSet<String> =
        functions.iter().filter(|function| fits_wire(&function.name)).map(|function| function.name.clone()).collect();
    let mut wire = Vec::with_capacity(functions.len());
    for function in functions {
        if fits_wire(&function.name) {
            wire.push(function.name.clone());
            continue;
        }
        let (readable, lossless) = readable(&function.name);
        let name = if lossless && readable.len() <= 64 && !taken.contains(&readable) {
            readable
        } else {
            if lossless && taken.contains(&readable) {
                let message = format!(
                    "as `{readable}`, which model servers would see, `{}` clashes with another function",
                    function.name
                );
                let found = Diagnostic::warning("name-clash", file, &function.pointer, message);
                findings.push(found.hint("it gets a suffix there; rename it to keep it readable"));
            }
            hashed(&readable, &function.name)
        };
        taken.insert(name.clone());
        wire.push(name);
    }
    wire
}

/// `[a-zA-Z0-9_-]{1,64}`.
fn fits_wire(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// The name with `_` for characters that do not fit, and whether all letters were kept.
fn readable(name: &str) -> (String, bool) {
    let mut lossless = true;
    let mapped = name
        .chars()
        .map(|character| match character {
            fitting if fitting.is_ascii_alphanumeric() || "_-".contains(fitting) => fitting,
            other => {
                lossless &= !other.is_alphanumeric();
                '_'
            }
        })
        .collect();
    (mapped, lossless)
}

/// A name of at most 64 bytes that only this function gets.
fn hashed(readable: &str, name: &str) -> String {
    let hash = blake3::hash(name.as_bytes()).to_hex();
    let kept: String = readable.trim_matches('_').chars().take(50).collect();
    let kept = kept.trim_end_matches('_');
    let hash = &hash.as_str()[..12];
    if kept.is_empty() { format!("fn_{hash}") } else { format!("{kept}_{hash}") }
}

/// Finds functions by the names that other files use for them.
pub(super) struct FunctionNames {
    by_name: HashMap<String, FunctionId>,
    by_wire: HashMap<String, FunctionId>,
    by_squeezed: HashMap<String, Vec<FunctionId>>,
    by_last_segment: HashMap<String, Vec<FunctionId>>,
}

/// The functions that a name may mean.
pub(super) enum NameMatch {
    One(FunctionId),
    Several(Vec<FunctionId>),
    None,
}

impl FunctionNames {
    pub(super) fn new(functions: &[Function]) -> Self {
        let mut names = Self {
            by_name: HashMap::with_capacity(functions.len()),
            by_wire: HashMap::with_capacity(functions.len()),
            by_squeezed: HashMap::with_capacity(functions.len()),
            by_last_segment: HashMap::new(),
        };
        for (index, function) in functions.iter().enumerate() {
            let id = FunctionId::from_index(index);
            names.by_name.entry(function.name.clone()).or_insert(id);
            names.by_wire.entry(function.wire_name.clone()).or_insert(id);
            names.by_squeezed.entry(squeeze(&function.name)).or_default().push(id);
            names.by_last_segment.entry(squeeze(last_segment(&function.name))).or_default().push(id);
        }
        names
    }

    /// Looks for the exact name, the wire name, the name without case and separators, and the last dotted segment of
    /// either side, in this order.
    pub(super) fn find(&self, name: &str) -> NameMatch {
        if let Some(&id) = self.by_name.get(name).or_else(|| self.by_wire.get(name)) {
            return NameMatch::One(id);
        }
        let last = squeeze(last_segment(name));
        let ids = self
            .by_squeezed
            .get(&squeeze(name))
            .or_else(|| self.by_squeezed.get(&last))
            .or_else(|| self.by_last_segment.get(&last));
        match ids.map(Vec::as_slice) {
            Some([id]) => NameMatch::One(*id),
            Some(several) => NameMatch::Several(several.to_vec()),
            None => NameMatch::None,
        }
    }

    /// Like [`Self::find`]; a name that does not mean exactly one function becomes a finding.
    fn find_or_report(
        &self,
        name: &str,
        functions: &[Function],
        file: &str,
        place: &PointerChain<'_>,
        findings: &mut Findings,
    ) -> Option<FunctionId> {
        match self.find(name) {
            NameMatch::One(id) => Some(id),
            NameMatch::Several(ids) => {
                let names: Vec<&str> = ids.iter().take(5).map(|id| functions[id.index()].name.as_str()).collect();
                let message = format!("`{name}` may mean `{}`", names.join("` or `"));
                findings
                    .push(Diagnostic::error("ambiguous-function", file, place, message).hint("write the name exactly"));
                None
            }
            NameMatch::None => {
                let hint = findings.near(name, functions.iter().map(|function| function.name.as_str()));
                let message = format!("the schema has no function `{name}`");
                findings.push(Diagnostic::error("unknown-function", file, place, message).hint_if(hint));
                None
            }
        }
    }
}

/// Adds their exemplars to the functions.
pub(super) fn exemplars(
    groups: Vec<Group>,
    functions: &mut [Function],
    names: &FunctionNames,
    findings: &mut Findings,
) {
    // From the folded template of a normal exemplar to the first function that has it.
    let mut owners: HashMap<String, FunctionId> = HashMap::new();
    let mut own: HashSet<(FunctionId, String)> = HashSet::new();
    for group in groups {
        let group_at = PointerChain::Start(&group.pointer);
        let Some(id) = names.find_or_report(&group.key, functions, EXEMPLARS_FILE, &group_at, findings) else {
            continue;
        };
        let mut labels: HashMap<String, Option<SlotId>> = HashMap::new();
        for source in group.exemplars {
            let exemplar_at = group_at.index(source.index);
            let template_at = exemplar_at.key("template");
            let pieces = pieces(&source.template, &functions[id.index()], &mut labels, &template_at, findings);
            if let Some(Value::Object(arguments)) = &source.arguments {
                check_arguments(&functions[id.index()], arguments, &exemplar_at.key("arguments"), findings);
            }
            let text = folded(&source.template);
            let context = source.context_frame.as_deref().unwrap_or_default();
            let slot = source.context_slot.as_deref().unwrap_or_default();
            // Several examples of one template all teach something.
            let said = source.utterance.as_deref().map(folded).unwrap_or_default();
            let key = format!("{:?} {context} {slot} {text} {said}", source.mode);
            if !own.insert((id, key)) {
                let message =
                    format!("`{}` is already an exemplar of `{}`", source.template, functions[id.index()].name);
                findings.push(Diagnostic::warning("duplicate-exemplar", EXEMPLARS_FILE, template_at, message));
            } else if source.mode != OwnerMode::Negative && context.is_empty() {
                let owner = *owners.entry(text).or_insert(id);
                if owner != id {
                    let other = &functions[owner.index()].name;
                    let message = format!("`{}` is an exemplar of `{other}` too", source.template);
                    let found = Diagnostic::warning("conflicting-exemplar", EXEMPLARS_FILE, template_at, message);
                    findings.push(found.hint("keep it where it belongs, or make the two differ"));
                }
            }
            functions[id.index()].exemplars.push(Exemplar {
                template: source.template,
                pieces,
                mode: source.mode,
                label: source.label,
                context_frame: source.context_frame,
                context_slot: source.context_slot,
                utterance: source.utterance,
                arguments: source.arguments,
            });
        }
    }
}

/// A template in the form in which templates are compared: folded, white space collapsed.
fn folded(template: &str) -> String {
    fold(template).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn check_arguments(
    function: &Function,
    arguments: &serde_json::Map<String, Value>,
    place: &PointerChain<'_>,
    findings: &mut Findings,
) {
    let Some(Value::Object(properties)) = function.parameters.get("properties") else { return };
    for name in arguments.keys().filter(|name| !properties.contains_key(*name)) {
        let hint = findings.near(name, properties.keys().map(String::as_str));
        let message = format!("`{}` has no parameter `{name}`", function.name);
        let found = Diagnostic::warning("unknown-argument", EXEMPLARS_FILE, place.key(name), message);
        findings.push(found.hint_if(hint));
    }
}

/// Splits a template into pieces. Only `<name>` is a slot; any other `<` or `>` is text.
fn pieces(
    template: &str,
    function: &Function,
    labels: &mut HashMap<String, Option<SlotId>>,
    place: &PointerChain<'_>,
    findings: &mut Findings,
) -> Vec<TemplatePiece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = template;
    while let Some(open) = rest.find('<') {
        text.push_str(&rest[..open]);
        let after = &rest[open + 1..];
        let marked = after.find(['<', '>']).filter(|&end| after.as_bytes()[end] == b'>').map(|end| &after[..end]);
        let slot = marked.and_then(|label| {
            if !is_label(label) {
                return None;
            }
            let known = match labels.get(label) {
                Some(known) => *known,
                None => {
                    let known = find_slot(function, label);
                    labels.insert(label.to_owned(), known);
                    // A label with spaces is a slot only if the function has it; `<` in prose stays prose.
                    if !label.contains(' ') || known.is_some() {
                        check_label(label, known, function, place, findings);
                    }
                    known
                }
            };
            (!label.contains(' ') || known.is_some()).then(|| (label.to_owned(), known))
        });
        match slot {
            Some((label, slot)) => {
                rest = &after[label.len() + 1..];
                if !text.is_empty() {
                    pieces.push(TemplatePiece::Text(std::mem::take(&mut text)));
                }
                pieces.push(TemplatePiece::Slot { label, slot });
            }
            None => {
                text.push('<');
                rest = after;
            }
        }
    }
    text.push_str(rest);
    if !text.is_empty() {
        pieces.push(TemplatePiece::Text(text));
    }
    pieces
}

fn check_label(
    label: &str,
    slot: Option<SlotId>,
    function: &Function,
    place: &PointerChain<'_>,
    findings: &mut Findings,
) {
    let Some(slot) = slot else {
        let squeezed = squeeze(last_segment(label));
        let parts: Vec<String> = function
            .slots
            .iter()
            .filter(|part| keys(part).any(|key| squeeze(key) == squeezed))
            .take(5)
            .map(|part| format!("`<{}>`", part.path))
            .collect();
        if !parts.is_empty() {
            let message = format!("`{label}` of `{}` is an object, not a slot", function.name);
            let found = Diagnostic::warning("not-a-slot", EXEMPLARS_FILE, place, message);
            findings.push(found.hint(format!("name a part of it: {}", parts.join(", "))));
            return;
        }
        let hint = findings.near(label, function.slots.iter().map(super::Slot::label));
        let message = format!("`{}` has no slot `{label}`", function.name);
        findings.push(Diagnostic::warning("unknown-slot", EXEMPLARS_FILE, place, message).hint_if(hint));
        return;
    };
    let squeezed = squeeze(label);
    let path = &function.slot(slot).path;
    let same: Vec<String> = function
        .slots
        .iter()
        .filter(|other| squeeze(other.label()) == squeezed)
        .map(|other| format!("`<{}>`", other.path))
        .collect();
    if same.len() > 1 && path.to_string() != label && squeeze(&path.to_string()) != squeezed {
        let message = format!("`<{label}>` is taken as `{path}`, but {} slots are called so", same.len());
        let found = Diagnostic::warning("ambiguous-slot", EXEMPLARS_FILE, place, message);
        findings.push(found.hint(format!("write {}", same.join(" or "))));
    }
}

/// The slots that `recognizers.json` binds to recognizers.
#[derive(Default)]
pub(super) struct Bindings {
    /// By squeezed label or path.
    plain: HashMap<String, usize>,
    /// By function and squeezed label or path.
    scoped: HashMap<(FunctionId, String), usize>,
    entries: Vec<Binding>,
}

struct Binding {
    key: String,
    /// Names, best first.
    recognizers: Vec<String>,
    pointer: String,
    used: bool,
}

impl Bindings {
    pub(super) fn new(
        slots: Vec<(String, Vec<String>, String)>,
        binder: &Binder,
        names: &FunctionNames,
        findings: &mut Findings,
    ) -> Self {
        let mut bindings = Self::default();
        for (key, recognizers, pointer) in slots {
            for name in recognizers.iter().filter(|name| !binder.knows(name)) {
                let known = binder.names();
                let hint = findings.near(name, known.iter().map(String::as_str));
                let message = format!("the recognizer `{name}` is neither defined nor built in");
                let found = Diagnostic::error("unknown-recognizer", RECOGNIZERS_FILE, &pointer, message);
                findings.push(found.hint_if(hint));
            }
            let entry = bindings.entries.len();
            bindings.plain.entry(squeeze(&key)).or_insert(entry);
            for (at, _) in key.match_indices('.') {
                let (function, slot) = (&key[..at], &key[at + 1..]);
                match names.find(function) {
                    NameMatch::One(id) => {
                        bindings.scoped.entry((id, squeeze(slot))).or_insert(entry);
                    }
                    // A slot of a frame (`me.test.Dish.name`): a frame is a part of functions, not a function.
                    NameMatch::None if function.contains('.') && !slot.contains('.') => {
                        bindings.plain.entry(squeeze(slot)).or_insert(entry);
                    }
                    NameMatch::Several(_) | NameMatch::None => {}
                }
            }
            bindings.entries.push(Binding { key, recognizers, pointer, used: false });
        }
        bindings
    }

    /// The recognizers that the slot is bound to; empty if there are none.
    pub(super) fn of(&mut self, function: FunctionId, slot: &super::Slot, binder: &mut Binder) -> Vec<RecognizerId> {
        if self.entries.is_empty() {
            return Vec::new();
        }
        let (path, label) = (squeeze(&slot.path.to_string()), squeeze(slot.label()));
        let entry = self
            .scoped
            .get(&(function, path.clone()))
            .or_else(|| self.scoped.get(&(function, label.clone())))
            .or_else(|| self.plain.get(&path))
            .or_else(|| self.plain.get(&label));
        match entry {
            Some(&entry) => {
                let entry = &mut self.entries[entry];
                entry.used = true;
                entry.recognizers.iter().filter_map(|name| binder.named(name)).collect()
            }
            None => Vec::new(),
        }
    }

    pub(super) fn report_unused(&self, functions: &[Function], findings: &mut Findings) {
        for binding in self.entries.iter().filter(|binding| !binding.used) {
            let labels = functions.iter().flat_map(|function| &function.slots).map(super::Slot::label);
            let hint = findings.near(&binding.key, labels);
            let message = format!("no function has a slot `{}`", binding.key);
            let found = Diagnostic::warning("unknown-slot", RECOGNIZERS_FILE, &binding.pointer, message);
            findings.push(found.hint_if(hint));
        }
    }
}

/// Looks up the names in `module.toml`. Functions and slots are then keyed by their own names (a slot by its path),
/// slots get their questions, and rules are read. Returns the recognizers that it binds slots to.
pub(super) fn settings(
    settings: &mut Settings,
    functions: &mut [Function],
    names: &FunctionNames,
    binder: &mut Binder,
    findings: &mut Findings,
) -> HashMap<(FunctionId, SlotId), RecognizerId> {
    let mut overrides = HashMap::new();
    let functions_at = PointerChain::ROOT.key("functions");
    let mut resolved: BTreeMap<String, FunctionSettings> = BTreeMap::new();
    for (key, mut own) in std::mem::take(&mut settings.functions) {
        let at = functions_at.key(&key);
        let Some(id) = names.find_or_report(&key, functions, SETTINGS_FILE, &at, findings) else { continue };
        let function = &mut functions[id.index()];
        let slots_at = at.key("slots");
        let mut slots: BTreeMap<String, SlotSettings> = BTreeMap::new();
        for (label, mut slot_settings) in std::mem::take(&mut own.slots) {
            let at = slots_at.key(&label);
            let Some(slot) = find_slot(function, &label) else {
                let hint = findings.near(&label, function.slots.iter().map(super::Slot::label));
                let message = format!("`{}` has no slot `{label}`", function.name);
                findings.push(Diagnostic::error("unknown-slot", SETTINGS_FILE, at, message).hint_if(hint));
                continue;
            };
            declared::slot(&mut slot_settings, function.slot(slot), &at, findings);
            function.slots[slot.index()].question.clone_from(&slot_settings.question);
            if let Some(name) = &slot_settings.recognizer {
                match binder.named(name) {
                    Some(recognizer) => {
                        overrides.insert((id, slot), recognizer);
                    }
                    None => {
                        let known = binder.names();
                        let hint = findings.near(name, known.iter().map(String::as_str));
                        let message = format!("the recognizer `{name}` is neither defined nor built in");
                        let at = at.key("recognizer");
                        findings
                            .push(Diagnostic::error("unknown-recognizer", SETTINGS_FILE, at, message).hint_if(hint));
                    }
                }
            }
            let path = function.slot(slot).path.to_string();
            if slots.insert(path.clone(), slot_settings).is_some() {
                let message = format!("the slot `{path}` is set twice, under two spellings");
                findings.push(Diagnostic::error("duplicate-name", SETTINGS_FILE, at, message));
            }
        }
        declared::function(&mut own, function, &at, findings);
        let name = function.name.clone();
        if resolved.insert(name.clone(), FunctionSettings { slots, ..own }).is_some() {
            let message = format!("the function `{name}` is set twice, under two spellings");
            findings.push(Diagnostic::error("duplicate-name", SETTINGS_FILE, at, message));
        }
    }
    settings.functions = resolved;
    changed(settings, functions, names, findings);
    declared::shared(settings, functions, findings);
    declared::shares(settings, findings);
    overrides
}

/// Resolves for each function the function whose calls it changes.
fn changed(settings: &mut Settings, functions: &[Function], names: &FunctionNames, findings: &mut Findings) {
    let functions_at = PointerChain::ROOT.key("functions");
    for (name, own) in &mut settings.functions {
        let Some(other) = own.changes.take() else { continue };
        let at = functions_at.key(name);
        let at = at.key("changes");
        let Some(id) = names.find_or_report(&other, functions, SETTINGS_FILE, &at, findings) else { continue };
        let other = &functions[id.index()].name;
        if other == name {
            let message = format!("`{name}` changes its own calls");
            let hint = "name the function whose calls it changes, or write `repeats = true`";
            findings.push(Diagnostic::error("bad-setting", SETTINGS_FILE, at, message).hint(hint));
        }
        own.changes = Some(other.clone());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::module::{Limits, slots};

    fn function(name: &str, properties: &Value) -> Function {
        let parameters = json!({"type": "object", "properties": properties});
        let slots = slots::flatten(&parameters, "", (name, ""), &Limits::default(), &mut Findings::new());
        Function {
            name: name.to_owned(),
            wire_name: name.to_owned(),
            description: String::new(),
            parameters,
            slots,
            exemplars: Vec::new(),
            operation: None,
            request: None,
            endpoint: None,
            effect: crate::module::KnownEffect::default(),
        }
    }

    fn parts(template: &str, function: &Function) -> (Vec<String>, Vec<&'static str>) {
        let mut findings = Findings::new();
        let pieces = pieces(template, function, &mut HashMap::new(), &PointerChain::ROOT, &mut findings);
        let shown = pieces
            .iter()
            .map(|piece| match piece {
                TemplatePiece::Text(text) => text.clone(),
                TemplatePiece::Slot { slot: Some(slot), .. } => format!("={}", function.slot(*slot).path),
                TemplatePiece::Slot { label, slot: None } => format!("?{label}"),
            })
            .collect();
        (shown, findings.finish(&[]).0.iter().map(|found| found.code).collect())
    }

    #[test]
    fn templates_come_apart() {
        let text = json!({"type": "string"});
        let order = function(
            "order",
            &json!({
            "dishName": text, "toppings": {"type": "array", "items": text},
            "address": {"type": "object", "properties": {"city": text}}, "origin": {"type": "object", "properties": {"city": text}}}),
        );
        assert_eq!(
            parts("a <dish_name> with <topping>", &order),
            (vec!["a ".into(), "=dishName".into(), " with ".into(), "=toppings[]".into()], vec![])
        );
        assert_eq!(parts("<dish name>", &order).0, ["=dishName"]);
        assert_eq!(
            parts("to <origin.city><address_city>", &order),
            (vec!["to ".into(), "=origin.city".into(), "=address.city".into()], vec![])
        );
        assert_eq!(parts("to <city>", &order), (vec!["to ".into(), "=address.city".into()], vec!["ambiguous-slot"]));
        assert_eq!(parts("<me.test.Order.dishName>", &order).0, ["=dishName"]);
        assert_eq!(parts("<dishnam>", &order), (vec!["?dishnam".into()], vec!["unknown-slot"]));
        assert_eq!(
            parts("1 < 2 > 0 <3 a<<dishName>", &order),
            (vec!["1 < 2 > 0 <3 a<".into(), "=dishName".into()], vec![])
        );
        assert_eq!(parts("if <x y z> then", &order), (vec!["if <x y z> then".into()], vec![]));
    }

    #[test]
    fn wire_names_fit_and_are_unique() {
        let names = [
            "get_weather",
            "me.test.Order",
            "me_test_Order",
            "me/test/Order",
            "天気",
            "气象",
            &"long.".repeat(30),
            "a b",
        ];
        let functions: Vec<SourceFunction> = names
            .iter()
            .map(|name| SourceFunction {
                name: (*name).to_owned(),
                description: String::new(),
                parameters: json!({}),
                operation: None,
                request: None,
                read_only: None,
                pointer: String::new(),
            })
            .collect();
        let mut findings = Findings::new();
        let wire = wire_names("schema.json", &functions, &mut findings);
        assert!(wire.iter().all(|name| fits_wire(name)), "{wire:?}");
        assert_eq!(wire.iter().collect::<HashSet<_>>().len(), names.len(), "{wire:?}");
        assert_eq!((wire[0].as_str(), wire[2].as_str(), wire[7].as_str()), ("get_weather", "me_test_Order", "a_b"));
    }

    #[test]
    fn functions_are_found_by_other_spellings() {
        let functions = [
            function("order_food", &json!({})),
            function("me.test.BookTable", &json!({})),
            function("bookroom", &json!({})),
            function("book_room", &json!({})),
        ];
        let names = FunctionNames::new(&functions);
        let index = |name: &str| match names.find(name) {
            NameMatch::One(id) => Some(id.index()),
            NameMatch::Several(_) => Some(usize::MAX),
            NameMatch::None => None,
        };
        assert_eq!(index("OrderFood"), Some(0));
        assert_eq!(index("x.y.OrderFood"), Some(0));
        assert_eq!(index("book_table"), Some(1));
        assert_eq!(index("bookroom"), Some(2));
        assert_eq!(index("BookRoom"), Some(usize::MAX));
        assert_eq!(index("nothing"), None);
    }

    proptest! {
        #[test]
        fn pieces_render_back_to_the_template(template in "[a-z<> _.]{0,30}") {
            let function = function("f", &json!({"a": {"type": "string"}, "b c": {"type": "string"}}));
            let pieces = pieces(&template, &function, &mut HashMap::new(), &PointerChain::ROOT, &mut Findings::new());
            let back: String = pieces.iter().map(|piece| match piece {
                TemplatePiece::Text(text) => text.clone(),
                TemplatePiece::Slot { label, .. } => format!("<{label}>"),
            }).collect();
            prop_assert_eq!(back, template);
        }
    }
}
