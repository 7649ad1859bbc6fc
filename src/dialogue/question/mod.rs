//! What to ask and to say, in words.
//!
//! | file | holds |
//! |---|---|
//! | `mod` | the questions of a turn that stands alone |
//! | `voice` | the questions of a conversation, and what else it says |
//! | `confirmation` | what will be done, for a yes |
//! | `naming` | what functions, slots and items are called |
//! | `summary` | what is known, in words that a prompt can embed |
//! | `shown` | names and values as people read them |
//! | `words` | the sentences, in each language |

mod confirmation;
mod naming;
mod shown;
mod summary;
mod voice;
mod words;

pub(crate) use voice::Voice;

use crate::{
    assist::situation::Situation,
    call::Violation,
    conversation::Aside,
    decide::near_duplicates as overloads,
    module::{Function, FunctionId, Module, Slot, SlotPath},
    text::fold,
    understand::outcome::{About, Frame, Outcome, Question},
};
use naming::description;
use shown::{plain, spoken};
use words::Wanted;

/// Choices that a question lists at most.
const LISTED: usize = 7;
/// Functions that are offered to choose from where nothing speaks for any.
const OFFERED: usize = 3;

/// The next thing to ask of an incomplete frame: an invalid value first, since the person believes it is settled.
/// `None` if nothing is missing or invalid. `language` is the BCP 47 tag that the request wants.
pub(crate) fn about_frame(module: &Module, language: Option<&str>, frame: &Frame) -> Option<Question> {
    let voice = Voice::new(module, language);
    let function = module.function(frame.function);
    if let Some(violation) = frame.invalid.first() {
        return Some(about_invalid(&voice, frame.function, violation));
    }
    let path = frame.missing.first()?;
    let text = match function.slots.iter().find(|slot| slot.path == *path) {
        Some(slot) => of(&voice, slot),
        None => voice.words.ask_all(&spoken(&path.to_string()), None),
    };
    Some(Question { text, about: About::Missing { function: frame.function, slot: path.clone() } })
}

/// Which of the functions is meant, where nothing says so: of a few, the likeliest.
pub(crate) fn about_any(situation: &Situation<'_>) -> Outcome {
    let likely: Vec<FunctionId> =
        situation.candidates.iter().take(OFFERED).map(|candidate| candidate.function).collect();
    match likely.as_slice() {
        [] => Outcome::NoMatch,
        likely => Outcome::Ask(about_tie(&situation.snapshot.module, situation.language(), likely)),
    }
}

fn about_invalid(voice: &Voice<'_>, id: FunctionId, violation: &Violation) -> Question {
    let function = voice.module.function(id);
    let slot = function.slots.iter().find(|slot| points_to(&slot.path, &violation.path));
    let name = slot.map_or_else(|| violation.path.clone(), |slot| spoken(slot.label()));
    let aside = Aside::new(violation, 0);
    let wanted = if voice.words.is_english() {
        Wanted::Other(violation.expected.trim_end_matches('.'))
    } else {
        voice.wanted(slot, &aside)
    };
    let found = voice.found(function, &aside);
    let reason = voice.words.refused(found.as_deref(), &name, &voice.words.wanted(&wanted));
    let text = slot.map_or(reason.clone(), |slot| voice.words.then(&reason, &of(voice, slot)));
    Question { text, about: About::Invalid { function: id, path: violation.path.clone() } }
}

/// Which of several functions is meant. `language` is the BCP 47 tag that the request wants.
pub(crate) fn about_tie(module: &Module, language: Option<&str>, functions: &[FunctionId]) -> Question {
    let voice = Voice::new(module, language);
    let options: Vec<String> = functions.iter().map(|id| option(&voice, functions, *id)).collect();
    Question { text: voice.words.tie(&options), about: About::Tie { functions: functions.to_vec() } }
}

/// One function of a tie, in words that none of the others has.
fn option(voice: &Voice<'_>, tied: &[FunctionId], id: FunctionId) -> String {
    let (module, words) = (voice.module, voice.words);
    let function = module.function(id);
    let called = |function: &Function| {
        let summary = overloads::summary(function);
        if summary.is_empty() { spoken(&function.name) } else { words.within(summary) }
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
        return words.with(&own, &words.and(&names(more)));
    }
    let less = alike.iter().flat_map(|other| other.slots.iter()).filter(|slot| lacks(function, slot)).collect();
    let mut less = names(less);
    less.dedup();
    if !less.is_empty() {
        return words.without(&own, &words.and(&less));
    }
    // Nothing but its name sets it apart.
    let name = spoken(&function.name);
    if name == own { function.wire_name.clone() } else { words.thing(&own, &name) }
}

fn starts_alike(one: &str, other: &str) -> bool {
    let (one, other) = (fold(one), fold(other));
    one.starts_with(&other) || other.starts_with(&one)
}

/// What to ask for a slot: in its author's words where there are any.
fn of(voice: &Voice<'_>, slot: &Slot) -> String {
    if let Some(own) = voice.author(slot.question.as_ref()) {
        return own.to_owned();
    }
    let name = spoken(slot.label());
    let choices = if slot.choices.len() > LISTED { &[][..] } else { slot.choices.as_slice() };
    let choices: Vec<String> = choices.iter().map(plain).collect();
    voice.words.ask(&name, description(slot, &name), &voice.words.facts(&choices))
}

/// True if `pointer` (`/dishes/0/name`) is an occurrence of `path` (`dishes[].name`).
pub(crate) fn points_to(path: &SlotPath, pointer: &str) -> bool {
    SlotPath::of_pointer(pointer) == *path
}

/// The slots without a value that these say, in the order of the schema, which is the order of asking.
pub(crate) fn missing<'a>(function: &Function, lacking: impl Iterator<Item = &'a Violation>) -> Vec<SlotPath> {
    let mut paths: Vec<SlotPath> = lacking.map(|violation| SlotPath::of_pointer(&violation.path)).collect();
    let place = |path: &SlotPath| function.slots.iter().position(|slot| slot.path == *path);
    paths.sort_by_key(|path| place(path).unwrap_or(function.slots.len()));
    paths
}

#[cfg(test)]
mod tests;
