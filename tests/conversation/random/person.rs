//! A person who wants something, says it in pieces, changes their mind, and is not always clear.

use fastrand::Rng;
use serde_json::Value;
use uptake::{
    conversation::{Pending, State},
    module::{Module, SlotPath},
    understand::{Outcome, Question, Turn},
};

use super::{
    words::NOISE,
    world::{Function, Slot, Spoken, World, date},
};

/// What a person says, and what they mean by it.
#[derive(Debug, Clone)]
pub(super) struct Utterance {
    pub(super) text: String,
    pub(super) means: Means,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// A request, possibly for something new.
    Request,
    Values,
    /// Nothing.
    Noise,
    /// An invalid value.
    Mistake,
    Correction,
    Removal,
    Cancel,
    /// "I don't know".
    Unknown,
    Yes,
    YesBut,
    No,
    /// Rejects this, and asks for something else.
    NoBut,
}

pub(super) struct Person<'w> {
    world: &'w World,
    rng: Rng,
    wants: &'w Function,
}

impl<'w> Person<'w> {
    pub(super) fn new(world: &'w World, mut rng: Rng) -> Self {
        let wants = &world.functions[rng.usize(..world.functions.len())];
        Self { world, rng, wants }
    }

    pub(super) fn opens(&mut self) -> Utterance {
        let text = match self.rng.u8(..10) {
            0 => return self.noise(),
            1..=4 => self.request(self.wants, 0),
            _ => {
                let most = self.rng.usize(1..=3);
                self.request(self.wants, most)
            }
        };
        Utterance { text, means: Means::Request }
    }

    /// Replies to an answer.
    pub(super) fn replies(&mut self, turn: &Turn, state: &State, module: &Module) -> Utterance {
        let asked = match &turn.outcome {
            Outcome::Ask(question) => Some(question),
            _ => turn.pending.as_ref(),
        };
        let Some(Question { about, .. }) = asked else { return self.opens() };
        match self.rng.u8(..100) {
            0..=6 => return self.noise(),
            7..=10 if self.world.functions.len() > 1 => return self.digresses(),
            11 => return self.says(Means::Cancel, &["cancel", "never mind", "forget it", "cancel that please"]),
            12..=18 => {
                if let Some(said) = self.corrects(state) {
                    return said;
                }
            }
            19..=20 => {
                if let Some(said) = self.removes(state) {
                    return said;
                }
            }
            _ => {}
        }
        let function = |id| self.world.function(&module.function(id).name);
        match about {
            Pending::Missing { function: id, .. } | Pending::Invalid { function: id, .. } => {
                let first = about.slots().first().map(ToString::to_string).unwrap_or_default();
                self.answers(function(*id), &first)
            }
            Pending::Rule { .. } => self.mends(),
            Pending::Tie { .. } => {
                let text = format!("I want to {}", self.wants.wish);
                Utterance { text, means: Means::Request }
            }
            Pending::Confirm { function: id } => self.confirms(function(*id)),
            Pending::Change { function: id } => self.changes(function(*id)),
        }
    }

    fn says(&mut self, means: Means, texts: &[&str]) -> Utterance {
        Utterance { text: texts[self.rng.usize(..texts.len())].to_owned(), means }
    }

    fn noise(&mut self) -> Utterance {
        self.says(Means::Noise, NOISE)
    }

    /// The wish with up to `most` values.
    fn request(&mut self, function: &Function, most: usize) -> String {
        let wish = function.wish;
        let opening = match self.rng.u8(..3) {
            0 => format!("I want to {wish}"),
            1 => format!("can you {wish}"),
            _ => wish.to_owned(),
        };
        let mut slots: Vec<&Slot> = function.slots.iter().filter(|slot| slot.label != "insurance").collect();
        self.rng.shuffle(&mut slots);
        let parts: Vec<String> = slots
            .into_iter()
            .take(most)
            .map(|slot| {
                let spoken = slot.any_value(&mut self.rng);
                slot.told(&spoken.words)
            })
            .collect();
        if parts.is_empty() { opening } else { format!("{opening} with {}", parts.join(" and ")) }
    }

    fn digresses(&mut self) -> Utterance {
        let other = &self.world.functions[self.rng.usize(..self.world.functions.len())];
        let most = self.rng.usize(..=2);
        Utterance { text: self.request(other, most), means: Means::Request }
    }

    fn answers(&mut self, function: &Function, path: &str) -> Utterance {
        // A whole object or array is missing.
        let within = |slot: &&Slot| slot.path == path || slot.path.starts_with(path);
        let Some(slot) = function.slots.iter().find(within) else { return self.noise() };
        if self.rng.u8(..100) < 6
            && let Some(wrong) = slot.wrong_value(&mut self.rng)
        {
            return Utterance { text: self.told(slot, &wrong), means: Means::Mistake };
        }
        if self.rng.u8(..100) < 4 {
            let declined =
                ["I don't know", "skip", "no idea", "nope", "nah", "no thanks", "I'd rather not say", "dunno"];
            return self.says(Means::Unknown, &declined);
        }
        if self.rng.u8(..100) < 10
            && let Some(said) = self.tells_another(function, path)
        {
            return said;
        }
        let spoken = slot.any_value(&mut self.rng);
        let mut text = self.told(slot, &spoken);
        if self.rng.u8(..100) < 20 {
            let other = &function.slots[self.rng.usize(..function.slots.len())];
            if other.path != slot.path && other.label != "insurance" && slot.label != "insurance" {
                let more = other.any_value(&mut self.rng);
                text = format!("{text} and the {} is {}", other.words(), more.words);
            }
        }
        Utterance { text, means: Means::Values }
    }

    /// Gives another value than the one asked for.
    fn tells_another(&mut self, function: &Function, asked: &str) -> Option<Utterance> {
        let others: Vec<&Slot> =
            function.slots.iter().filter(|slot| slot.path != asked && slot.label != "insurance").collect();
        let other = *others.get(self.rng.usize(..others.len().max(1)))?;
        let words = other.any_value(&mut self.rng).words;
        let text = match self.rng.u8(..3) {
            0 => format!("the {} is {words}", other.words()),
            1 => format!("I'd prefer {}", other.told(&words)),
            _ => format!("yes. {}", other.told(&words)),
        };
        Some(Utterance { text, means: Means::Values })
    }

    /// Repeats a call with one different value.
    pub(super) fn follows_up(&mut self, function: &str) -> Option<Utterance> {
        let function = self.world.function(function);
        let slots: Vec<&Slot> = function.slots.iter().filter(|slot| slot.label != "insurance").collect();
        let slot = *slots.get(self.rng.usize(..slots.len().max(1)))?;
        let words = slot.any_value(&mut self.rng).words;
        let text = match self.rng.u8(..4) {
            0 => format!("and {}?", slot.told(&words)),
            1 => format!("what about {}?", slot.told(&words)),
            2 => format!("the same with {} please", slot.told(&words)),
            _ => format!("sorry, I meant {}", slot.told(&words)),
        };
        Some(Utterance { text, means: Means::Values })
    }

    fn told(&mut self, slot: &Slot, spoken: &Spoken) -> String {
        let words = &spoken.words;
        match self.rng.u8(..8) {
            0..=3 => words.clone(),
            4 => format!("{words} please"),
            5 if slot.label != "insurance" => format!("{} {words}", slot.words()),
            6 if slot.label != "insurance" => format!("the {} is {words}", slot.words()),
            _ => format!("{words}, thanks"),
        }
    }

    /// Gives another value for a known slot.
    fn corrects(&mut self, state: &State) -> Option<Utterance> {
        let form = state.forms.last()?;
        let function = self.world.function(&form.function);
        let known: Vec<&Slot> = form
            .slots
            .iter()
            .filter_map(|filled| function.slot(&SlotPath::of_pointer(&filled.pointer).to_string()))
            .filter(|slot| slot.label != "insurance")
            .collect();
        let slot = *known.get(self.rng.usize(..known.len().max(1)))?;
        let words = slot.any_value(&mut self.rng).words;
        let text = match self.rng.u8(..4) {
            0 => format!("no, {}", slot.told(&words)),
            1 => format!("actually make it {}", slot.told(&words)),
            2 => format!("change the {} to {words}", slot.words()),
            _ => format!("sorry, I meant {}", slot.told(&words)),
        };
        Some(Utterance { text, means: Means::Correction })
    }

    /// Takes back an element of a list, or an item.
    fn removes(&mut self, state: &State) -> Option<Utterance> {
        let form = state.forms.last()?;
        let filled = form.slots.iter().find(|filled| {
            let path = SlotPath::of_pointer(&filled.pointer).to_string();
            path == "toppings[]" || path == "items[].name"
        })?;
        let words = filled.value.as_str()?;
        let text = if self.rng.bool() { format!("remove the {words}") } else { format!("no {words}") };
        Some(Utterance { text, means: Means::Removal })
    }

    /// Corrects two dates in the wrong order.
    fn mends(&mut self) -> Utterance {
        let last = if self.rng.u8(..4) == 0 { date(&mut self.rng, 4..=11) } else { date(&mut self.rng, 12..=12) };
        let text = match self.rng.u8(..3) {
            0 => format!("the end date is {}", last.words),
            1 => format!("change the end date to {}", last.words),
            _ => format!("end date {}", last.words),
        };
        Utterance { text, means: Means::Correction }
    }

    fn confirms(&mut self, function: &Function) -> Utterance {
        match self.rng.u8(..10) {
            0 if self.rng.bool() => {
                self.says(Means::Cancel, &["no, leave it as it is", "better not after all", "actually no, keep it"])
            }
            0 => self.says(Means::No, &["no", "nope", "no thanks"]),
            1 | 2 => {
                let slots: Vec<&Slot> = function.slots.iter().filter(|slot| slot.label != "insurance").collect();
                let Some(slot) = slots.get(self.rng.usize(..slots.len().max(1))) else {
                    return self.says(Means::Yes, &["yes"]);
                };
                let words = slot.any_value(&mut self.rng).words;
                let text = match self.rng.u8(..2) {
                    0 => format!("yes, but make it {}", slot.told(&words)),
                    _ => format!("yes but change the {} to {words}", slot.words()),
                };
                Utterance { text, means: Means::YesBut }
            }
            3 if self.world.functions.len() > 1 => self.refuses(function),
            _ => self.says(Means::Yes, &["yes", "yes please", "sure", "ok", "that's right", "go ahead"]),
        }
    }

    /// Asks for something else instead of this function.
    fn refuses(&mut self, function: &Function) -> Utterance {
        let others: Vec<&Function> = self.world.functions.iter().filter(|other| other.name != function.name).collect();
        let other = others[self.rng.usize(..others.len())];
        let request = self.request(other, 1);
        let text = match self.rng.u8(..3) {
            0 => format!("no, {request} instead"),
            1 => format!("don't {}, {request}", function.wish),
            _ => format!("no, {request}"),
        };
        Utterance { text, means: Means::NoBut }
    }

    /// Says what is to be changed.
    fn changes(&mut self, function: &Function) -> Utterance {
        let slot = &function.slots[self.rng.usize(..function.slots.len())];
        let words = slot.any_value(&mut self.rng).words;
        let text = match self.rng.u8(..4) {
            0 => return self.says(Means::Cancel, &["nothing, cancel", "cancel"]),
            1 => format!("the {}", slot.words()),
            _ => format!("change the {} to {words}", slot.words()),
        };
        Utterance { text, means: Means::Correction }
    }
}

/// A value as people write it.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
