//! What to ask, in words.

use serde_json::Value;

use super::{
    outcome::{About, Frame, Outcome, Question},
    overloads,
    strategy::Situation,
};
use crate::{
    call::Violation,
    module::{Function, FunctionId, Module, Slot, SlotId, SlotPath},
    text::fold,
};

/// Choices that a question lists at most.
const LISTED: usize = 7;
/// Functions that are offered to choose from where nothing speaks for any.
const OFFERED: usize = 3;

/// The next thing to ask of an incomplete frame: an invalid value first, since the person believes it is settled.
/// `None` if nothing is missing or invalid.
pub(super) fn about_frame(module: &Module, frame: &Frame) -> Option<Question> {
    let function = module.function(frame.function);
    if let Some(violation) = frame.invalid.first() {
        return Some(about_invalid(frame.function, function, violation));
    }
    let path = frame.missing.first()?;
    let text = match function.slots.iter().find(|slot| slot.path == *path) {
        Some(slot) => of(slot),
        None => format!("Please tell me: {}.", spoken(&path.to_string())),
    };
    Some(Question { text, about: About::Missing { function: frame.function, slot: path.clone() } })
}

/// The slots that a text asks for, if it is a question of ours about one.
pub(super) fn asked(module: &Module, text: &str) -> Vec<(FunctionId, SlotId)> {
    let text = text.trim();
    let is_about = |slot: &Slot| {
        let question = of(slot);
        let question = question.trim();
        // What was wrong with a value stands before the question.
        !question.is_empty() && text.ends_with(question)
    };
    let slots = |id: FunctionId| {
        let function = module.function(id);
        function
            .slot_ids()
            .filter(|slot| is_about(function.slot(*slot)))
            .map(move |slot| (id, slot))
            .collect::<Vec<_>>()
    };
    module.function_ids().flat_map(slots).collect()
}

/// Which of the functions is meant, where nothing says so: of a few, the likeliest.
pub(super) fn about_any(situation: &Situation<'_>) -> Outcome {
    let likely: Vec<FunctionId> =
        situation.candidates.iter().take(OFFERED).map(|candidate| candidate.function).collect();
    match likely.as_slice() {
        [] => Outcome::NoMatch,
        likely => Outcome::Ask(about_tie(&situation.snapshot.module, likely)),
    }
}

fn about_invalid(id: FunctionId, function: &Function, violation: &Violation) -> Question {
    let slot = function.slots.iter().find(|slot| points_to(&slot.path, &violation.path));
    let name = slot.map_or_else(|| violation.path.clone(), |slot| spoken(slot.label()));
    let again = slot.map_or_else(String::new, |slot| format!(" {}", of(slot)));
    let expected = violation.expected.trim_end_matches('.');
    let text = match &violation.found {
        Some(found) => format!("I can't use \"{}\" for {name}: expected {expected}.{again}", plain(found)),
        None => format!("For {name} I need {expected}.{again}"),
    };
    Question { text, about: About::Invalid { function: id, path: violation.path.clone() } }
}

/// Which of several functions is meant.
pub(super) fn about_tie(module: &Module, functions: &[FunctionId]) -> Question {
    let options: Vec<String> = functions.iter().map(|id| option(module, functions, *id)).collect();
    Question {
        text: format!("Did you mean: {}?", options.join("; or: ")),
        about: About::Tie { functions: functions.to_vec() },
    }
}

/// One function of a tie, in words that none of the others has.
fn option(module: &Module, tied: &[FunctionId], id: FunctionId) -> String {
    let function = module.function(id);
    let called = |function: &Function| {
        let summary = overloads::summary(function);
        if summary.is_empty() { spoken(&function.name) } else { lower_first(summary) }
    };
    let own = called(function);
    let alike: Vec<&Function> = tied
        .iter()
        .filter(|other| **other != id)
        .map(|other| module.function(*other))
        .filter(|other| starts_alike(&own, &called(other)))
        .collect();
    if alike.is_empty() {
        return own;
    }
    let lacks = |function: &Function, slot: &Slot| !function.slots.iter().any(|other| other.path == slot.path);
    let names = |slots: Vec<&Slot>| slots.iter().map(|slot| spoken(slot.label())).collect::<Vec<_>>();
    // What it takes and they do not; what it needs says more than what it may be told.
    let mut more: Vec<&Slot> =
        function.slots.iter().filter(|slot| alike.iter().any(|other| lacks(other, slot))).collect();
    if more.iter().any(|slot| slot.required) {
        more.retain(|slot| slot.required);
    }
    if !more.is_empty() {
        return format!("{own}, with {}", listed(&names(more)));
    }
    let less = alike.iter().flat_map(|other| other.slots.iter()).filter(|slot| lacks(function, slot)).collect();
    let mut less = names(less);
    less.dedup();
    if !less.is_empty() {
        return format!("{own}, without {}", listed(&less));
    }
    // Nothing but its name sets it apart.
    let name = spoken(&function.name);
    if name == own { function.wire_name.clone() } else { format!("{own} ({name})") }
}

fn starts_alike(one: &str, other: &str) -> bool {
    let (one, other) = (fold(one), fold(other));
    one.starts_with(&other) || other.starts_with(&one)
}

/// "a", "a and b", "a, b and c".
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// What to ask for a slot: in its author's words where there are any.
fn of(slot: &Slot) -> String {
    slot.question.clone().unwrap_or_else(|| wording(slot))
}

fn wording(slot: &Slot) -> String {
    let name = spoken(slot.label());
    let choices = if slot.choices.is_empty() || slot.choices.len() > LISTED {
        String::new()
    } else {
        format!(" ({})", slot.choices.iter().map(plain).collect::<Vec<_>>().join(", "))
    };
    let description = slot.description.trim().trim_end_matches('.');
    if description.is_empty() || description.eq_ignore_ascii_case(&name) {
        format!("What is the {name}?{choices}")
    } else {
        format!("What is the {name}? {description}{choices}.")
    }
}

/// `num_days` and `numDays` as people say them: "num days".
fn spoken(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_uppercase() && words.ends_with(char::is_lowercase) {
            words.push(' ');
        }
        if character.is_alphanumeric() {
            words.extend(character.to_lowercase());
        } else if !words.ends_with(' ') && !words.is_empty() {
            words.push(' ');
        }
    }
    words.trim_end().to_owned()
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.clone().next()) {
        // "API usage" keeps its capitals.
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

/// True if `pointer` (`/dishes/0/name`) is an occurrence of `path` (`dishes[].name`).
pub(super) fn points_to(path: &SlotPath, pointer: &str) -> bool {
    path_of(pointer) == *path
}

/// The slots without a value that these say, in the order of the schema, which is the order of asking.
pub(super) fn missing<'a>(function: &Function, lacking: impl Iterator<Item = &'a Violation>) -> Vec<SlotPath> {
    let mut paths: Vec<SlotPath> = lacking.map(|violation| path_of(&violation.path)).collect();
    let place = |path: &SlotPath| function.slots.iter().position(|slot| slot.path == *path);
    paths.sort_by_key(|path| place(path).unwrap_or(function.slots.len()));
    paths
}

/// The slot path of a JSON pointer into arguments: indices stand for every item.
pub(super) fn path_of(pointer: &str) -> SlotPath {
    use crate::module::Step;
    SlotPath(
        pointer
            .split('/')
            .skip(1)
            .map(|step| {
                if !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()) || step == "-" {
                    Step::Each
                } else {
                    Step::Key(step.replace("~1", "/").replace("~0", "~").into())
                }
            })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{call::ViolationKind, module::fixture};

    #[test]
    fn names_are_spoken_as_words() {
        assert_eq!(spoken("num_days"), "num days");
        assert_eq!(spoken("shippingAddress.zipCode"), "shipping address zip code");
    }

    #[test]
    fn what_is_missing_is_asked_for_in_the_order_of_the_schema() {
        let module = fixture::module();
        let lacking = |path: &str| Violation {
            kind: ViolationKind::Missing,
            path: path.into(),
            found: None,
            expected: "text".into(),
        };
        let found = [lacking("/elsewhere"), lacking("/dishes/0/name"), lacking("/location")];
        let paths: Vec<String> = missing(&module.functions[0], found.iter()).iter().map(ToString::to_string).collect();
        assert_eq!(paths, ["location", "dishes[].name", "elsewhere"]);
    }

    #[test]
    fn pointers_and_paths_meet() {
        assert_eq!(path_of("/dishes/1/name").to_string(), "dishes[].name");
        assert_eq!(path_of("").to_string(), "");
    }
}
