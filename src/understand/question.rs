//! What to ask, in words.

use serde_json::Value;

use super::outcome::{About, Frame, Question};
use crate::{
    call::Violation,
    module::{Function, FunctionId, Module, Slot, SlotPath},
};

/// Choices that a question lists at most.
const LISTED: usize = 7;

/// The next thing to ask of an incomplete frame: an invalid value first, since the person believes it is settled.
/// `None` if nothing is missing or invalid.
pub(super) fn about_frame(module: &Module, frame: &Frame) -> Option<Question> {
    let function = module.function(frame.function);
    if let Some(violation) = frame.invalid.first() {
        return Some(about_invalid(frame.function, function, violation));
    }
    let path = frame.missing.first()?;
    let text = match function.slots.iter().find(|slot| slot.path == *path) {
        Some(slot) => slot.question.clone().unwrap_or_else(|| wording(slot)),
        None => format!("Please tell me: {}.", spoken(&path.to_string())),
    };
    Some(Question { text, about: About::Missing { function: frame.function, slot: path.clone() } })
}

fn about_invalid(id: FunctionId, function: &Function, violation: &Violation) -> Question {
    let slot = function.slots.iter().find(|slot| points_to(&slot.path, &violation.path));
    let name = slot.map_or_else(|| violation.path.clone(), |slot| spoken(slot.label()));
    let found = violation.found.as_ref().map_or_else(String::new, |found| format!(" \"{}\"", plain(found)));
    let again =
        slot.map_or_else(String::new, |slot| format!(" {}", slot.question.clone().unwrap_or_else(|| wording(slot))));
    let text = format!("I can't use{found} for {name}: expected {}.{again}", violation.expected.trim_end_matches('.'));
    Question { text, about: About::Invalid { function: id, path: violation.path.clone() } }
}

/// Which of several functions is meant.
pub(super) fn about_tie(module: &Module, functions: &[FunctionId]) -> Question {
    let options: Vec<String> = functions
        .iter()
        .map(|id| {
            let function = module.function(*id);
            let first = function.description.split(['.', '\n']).next().unwrap_or_default().trim();
            if first.is_empty() { spoken(&function.name) } else { lower_first(first) }
        })
        .collect();
    Question {
        text: format!("Did you mean: {}?", options.join("; or: ")),
        about: About::Tie { functions: functions.to_vec() },
    }
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

    #[test]
    fn names_are_spoken_as_words() {
        assert_eq!(spoken("num_days"), "num days");
        assert_eq!(spoken("shippingAddress.zipCode"), "shipping address zip code");
    }

    #[test]
    fn pointers_and_paths_meet() {
        assert_eq!(path_of("/dishes/1/name").to_string(), "dishes[].name");
        assert_eq!(path_of("").to_string(), "");
    }
}
