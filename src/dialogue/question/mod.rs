//! What to ask and to say, in words.
//!
//! | file | holds |
//! |---|---|
//! | `mod` | the questions of a turn that stands alone |
//! | `voice` | the questions of a conversation |
//! | `remark` | what is said when nothing is asked |
//! | `confirmation` | the question for a yes before a call |
//! | `naming` | what functions, slots and items are called |
//! | `summary` | what is known, in words that a prompt can embed |
//! | `shown` | names and values as people read them |
//! | `words` | the sentences, in each language |

mod confirmation;
mod naming;
mod remark;
mod shown;
mod summary;
mod voice;
mod words;

pub(crate) use voice::{LONG, Voice};

use crate::{
    conversation::{InvalidValue, Pending},
    decide::outcome::Frame,
    dialogue::outcome::Question,
    module::{Function, FunctionId, Module, Slot, SlotPath},
    text::fold,
};
use shown::{plain, spoken};
use words::ValueRequirement;

/// The most choices that a question lists.
const LISTED: usize = 7;

/// The question about this, with what is known in `frames`. `language` is the BCP 47 tag that the request wants.
pub(crate) fn worded(module: &Module, language: Option<&str>, about: Pending, frames: &[Frame]) -> Question {
    let voice = Voice::new(module, language);
    let all = |slots: &[SlotPath]| {
        let names: Vec<String> = slots.iter().map(|slot| spoken(&slot.to_string())).collect();
        voice.words.ask_all(&voice.words.and(&names), None)
    };
    let text = match &about {
        Pending::Missing { function, .. } => match &about.slots()[..] {
            [path] => {
                let known = module.function(*function).slots.iter().find(|known| known.path == *path);
                known.map_or_else(|| all(std::slice::from_ref(path)), |slot| of(&voice, *function, slot))
            }
            slots => all(slots),
        },
        Pending::Rule { broken, .. } => all(&broken.slots),
        Pending::Invalid { function, aside } => invalid(&voice, *function, aside),
        Pending::Tie { functions } => voice.tie(functions),
        Pending::Confirm { function } => {
            let known = frames.iter().find(|frame| frame.function == *function).map(Frame::arguments);
            voice.confirmation(*function, &known.unwrap_or_default())
        }
        Pending::Change { .. } => voice.words.change().to_owned(),
    };
    Question { text, about }
}

fn invalid(voice: &Voice<'_>, id: FunctionId, aside: &InvalidValue) -> String {
    let function = voice.module.function(id);
    let slot = function.slots.iter().find(|slot| slot.path.holds(&aside.pointer));
    let name = slot.map_or_else(|| aside.pointer.clone(), |slot| spoken(slot.label()));
    let wanted = if voice.words.is_english() {
        ValueRequirement::Other(aside.expected.trim_end_matches('.'))
    } else {
        voice.wanted(slot, aside)
    };
    let found = voice.found(function, aside);
    let reason = voice.words.refused(found.as_deref(), &name, &voice.words.wanted(&wanted));
    let which = voice.which(&aside.readings);
    which.unwrap_or_else(|| slot.map_or(reason.clone(), |slot| voice.words.then(&reason, &of(voice, id, slot))))
}

impl Voice<'_> {
    /// Asks which of several functions is meant.
    fn tie(&self, functions: &[FunctionId]) -> String {
        let options: Vec<String> = functions.iter().map(|id| option(self, functions, *id)).collect();
        self.words.tie(&options)
    }
}

/// One function of a tie, in words that none of the others has.
fn option(voice: &Voice<'_>, tied: &[FunctionId], id: FunctionId) -> String {
    let (module, words) = (voice.module, voice.words);
    let function = module.function(id);
    let called = |function: &Function| {
        let deed = voice.deed(function);
        if deed.is_described { deed.text } else { spoken(&function.name) }
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
    // The slots that only this function takes; required ones say more than optional ones.
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
    // Only its name distinguishes it.
    let name = spoken(&function.name);
    if name == own { function.wire_name.clone() } else { words.thing(&own, &name) }
}

fn starts_alike(one: &str, other: &str) -> bool {
    let (one, other) = (fold(one), fold(other));
    one.starts_with(&other) || other.starts_with(&one)
}

/// The question for a slot: in its author's words if there are any.
fn of(voice: &Voice<'_>, function: FunctionId, slot: &Slot) -> String {
    if let Some(own) = voice.author(slot.question.as_ref()) {
        return own.to_owned();
    }
    let name = spoken(slot.label());
    let choices = if slot.choices.len() > LISTED { &[][..] } else { slot.choices.as_slice() };
    let choices: Vec<String> = choices.iter().map(plain).collect();
    voice.asked(voice.module.function(function), slot, &name, &voice.words.facts(&choices))
}

#[cfg(test)]
mod tests;
