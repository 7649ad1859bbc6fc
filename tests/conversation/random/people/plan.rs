//! A person's wishes and what they say on the way: the plan of a dialogue.
//!
//! Every event is tied to a moment of the talk, not to a turn number, so that a dialogue continues as before if
//! something is left out.

use std::collections::BTreeMap;

use fastrand::Rng;

use super::{
    domain::{Domain, Function},
    language::{PersonValue, any, any_of, filled},
};

/// Per thousand: how often a moment has each of these.
const COURTESY: u16 = 220;
const ASIDE: u16 = 120;
const ATTACHED: u16 = 180;
const REPEAT: u16 = 50;
const CORRECT: u16 = 130;
const BESIDE: u16 = 70;
const CANCEL: u16 = 25;
const LOST: u16 = 30;
const INTERLUDE: u16 = 50;
const HEDGED: u16 = 300;
const YES_BUT: u16 = 300;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Moment {
    /// The person is about to make a request.
    Opening,
    /// This slot is asked for.
    Slot(&'static str),
    /// A yes is asked for.
    Confirm,
    /// The call was made.
    After,
}

#[derive(Debug, Clone)]
pub(super) struct Wish {
    pub(super) function: &'static str,
    pub(super) values: BTreeMap<&'static str, PersonValue>,
    pub(super) opening: String,
    /// The request with all its values, which the person says when they are not understood.
    pub(super) whole: String,
    /// Whether the person agrees to a question of the service after the call.
    pub(super) agrees_after: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Happening {
    /// Said alone.
    Courtesy,
    Aside,
    /// Said together with the main utterance.
    Before,
    Behind,
    /// One of several utterances in a row without effect.
    Lost,
    /// The person repeats their last utterance.
    Repeat,
    Correct {
        slot: &'static str,
        value: PersonValue,
    },
    /// The person gives another value than the one asked for.
    Beside {
        slot: &'static str,
    },
    Cancel,
    /// A request for a reading function.
    Interlude {
        function: &'static str,
    },
    Hedged,
    YesBut {
        slot: &'static str,
        value: PersonValue,
    },
    /// A question about what was done that contains the value of this slot.
    AsksAfter {
        slot: &'static str,
    },
    /// A different value for what was done.
    ChangesAfter,
    /// A value for an optional slot, after the call.
    AddsAfter,
}

impl Happening {
    /// Leaving it out does not change the calls.
    pub(super) const fn is_removable(&self) -> bool {
        matches!(self, Self::Courtesy | Self::Aside | Self::Before | Self::Behind | Self::AsksAfter { .. })
    }

    pub(super) const fn is_attached(&self) -> bool {
        matches!(self, Self::Before | Self::Behind)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Event {
    /// The index of the wish.
    pub(super) wish: usize,
    pub(super) moment: Moment,
    pub(super) happens: Happening,
    pub(super) text: String,
}

#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) wishes: Vec<Wish>,
    pub(super) events: Vec<Event>,
}

impl Plan {
    pub(super) fn new(domain: &Domain<'_>, rng: &mut Rng) -> Self {
        let mut planner = Planner { domain, rng, events: Vec::new() };
        let count = planner.rng.usize(1..=2);
        let wishes = (0..count).map(|place| planner.wish(place)).collect();
        Self { wishes, events: planner.events }
    }

    /// The same without courtesies and asides.
    pub(super) fn plain(&self) -> Self {
        let events = self.events.iter().filter(|event| !event.happens.is_removable()).cloned().collect();
        Self { wishes: self.wishes.clone(), events }
    }

    /// Every plan with one thing left out, the largest things first.
    pub(super) fn smaller(&self) -> Vec<Self> {
        let mut all = Vec::new();
        for place in (0..self.wishes.len()).filter(|_| self.wishes.len() > 1) {
            let mut plan = self.clone();
            plan.wishes.remove(place);
            plan.events.retain(|event| event.wish != place);
            plan.events.iter_mut().filter(|event| event.wish > place).for_each(|event| event.wish -= 1);
            all.push(plan);
        }
        for place in 0..self.events.len() {
            let mut plan = self.clone();
            plan.events.remove(place);
            all.push(plan);
        }
        all
    }
}

struct Planner<'a> {
    domain: &'a Domain<'a>,
    rng: &'a mut Rng,
    events: Vec<Event>,
}

impl Planner<'_> {
    fn happens(&mut self, often: u16) -> bool {
        self.rng.u16(..1000) < often
    }

    fn wish(&mut self, place: usize) -> Wish {
        let domain = self.domain;
        // Two of three wishes are for acting functions.
        let acts = self.rng.u8(..3) > 0;
        let among: Vec<&Function> = domain.functions.iter().filter(|function| function.acts == acts).collect();
        let function = among[self.rng.usize(..among.len())];
        let required = function.slots.iter().filter(|(_, needed)| *needed);
        let values: BTreeMap<&'static str, PersonValue> =
            required.map(|(slot, _)| (*slot, domain.any_value(slot, self.rng))).collect();
        let with_values = |text: &str| filled(text, &|slot| values[slot].words());
        let words = domain.spoken(function);
        let whole = with_values(any(&words.whole, self.rng));
        let opening = match self.rng.u8(..10) {
            0..=4 => any(&words.open, self.rng).to_owned(),
            5..=7 if !words.part.is_empty() => with_values(any(&words.part, self.rng)),
            _ => whole.clone(),
        };
        self.moment(place, Moment::Opening, true);
        for (slot, _) in function.slots.iter().filter(|(_, needed)| *needed) {
            self.moment(place, Moment::Slot(slot), true);
            self.moves(place, function, slot, &values);
        }
        self.moment(place, Moment::Confirm, false);
        self.confirmation(place, function);
        self.after(place, function, &values);
        Wish { function: function.name, values, opening, whole, agrees_after: self.rng.bool() }
    }

    fn event(&mut self, wish: usize, moment: Moment, happens: Happening, text: String) {
        self.events.push(Event { wish, moment, happens, text });
    }

    /// Courtesies and asides around one moment.
    fn moment(&mut self, wish: usize, moment: Moment, may_repeat: bool) {
        let words = self.domain.words;
        let often = if moment == Moment::Opening { COURTESY / 3 } else { COURTESY };
        if self.happens(often) {
            let kinds = ["thanks", "greeting", "waiting", "farewell", "thinking"];
            let text = any_of(&words.courtesies, &kinds, self.rng).to_owned();
            self.event(wish, moment.clone(), Happening::Courtesy, text);
        }
        if moment != Moment::Opening && self.happens(ASIDE) {
            let text = any_of(&words.asides, &["talk", "clarify", "talk", "help"], self.rng).to_owned();
            self.event(wish, moment.clone(), Happening::Aside, text);
        }
        if self.happens(ATTACHED) {
            let is_before = self.rng.bool();
            // Nothing that makes a yes less certain.
            let kinds: &[&str] = match (is_before, &moment) {
                (true, Moment::Confirm) => &["thanks", "greeting"],
                (true, _) => &["thanks", "greeting", "thinking"],
                (false, _) => &["thanks"],
            };
            let text = any_of(&words.courtesies, kinds, self.rng).to_owned();
            let happens = if is_before { Happening::Before } else { Happening::Behind };
            self.event(wish, moment.clone(), happens, text);
        }
        if moment != Moment::Opening && self.happens(LOST) {
            let kind = ["thanks", "waiting", "thinking", "talk", "clarify"][self.rng.usize(..5)];
            let texts = words.courtesies.get(kind).or_else(|| words.asides.get(kind)).expect("texts of this kind");
            for _ in 0..3 {
                let text = any(texts, self.rng).to_owned();
                self.event(wish, moment.clone(), Happening::Lost, text);
            }
        }
        if may_repeat && moment != Moment::Opening && self.happens(REPEAT) {
            self.event(wish, moment, Happening::Repeat, String::new());
        }
    }

    /// Events that change the course while a slot is asked for.
    fn moves(
        &mut self,
        wish: usize,
        function: &Function,
        asked: &'static str,
        values: &BTreeMap<&'static str, PersonValue>,
    ) {
        let words = self.domain.words;
        let others: Vec<&'static str> =
            function.slots.iter().filter(|(slot, needed)| *needed && *slot != asked).map(|(slot, _)| *slot).collect();
        if let Some(slot) = others.get(self.rng.usize(..others.len().max(1))).copied() {
            if self.happens(CORRECT) {
                let value = self.other_value(slot, &values[slot]);
                let text = with(any(&words.replies.correct, self.rng), &value.words(), "");
                self.event(wish, Moment::Slot(asked), Happening::Correct { slot, value }, text);
            } else if self.happens(BESIDE) {
                let name = &self.domain.slot(slot).name;
                let text = with(&words.replies.set[1], &values[slot].words(), name);
                self.event(wish, Moment::Slot(asked), Happening::Beside { slot }, text);
            }
        }
        if self.happens(INTERLUDE) {
            let among: Vec<&Function> = self.domain.functions.iter().filter(|function| !function.acts).collect();
            let function = among[self.rng.usize(..among.len())];
            let template = any(&self.domain.spoken(function).whole, self.rng);
            let place = self.rng.usize(..8);
            let value = |slot: &str| {
                let values = &self.domain.slot(slot).values;
                values[place % values.len()].words()
            };
            let happens = Happening::Interlude { function: function.name };
            self.event(wish, Moment::Slot(asked), happens, filled(template, &value));
        }
        if self.happens(CANCEL) {
            let text = any(&words.replies.cancel, self.rng).to_owned();
            self.event(wish, Moment::Slot(asked), Happening::Cancel, text);
        }
    }

    fn confirmation(&mut self, wish: usize, function: &Function) {
        let words = self.domain.words;
        if self.happens(HEDGED) {
            let text = any(&words.replies.hedged, self.rng).to_owned();
            self.event(wish, Moment::Confirm, Happening::Hedged, text);
        }
        if self.happens(YES_BUT) {
            let slot = self.required(function);
            let value = self.domain.any_value(slot, self.rng);
            let text = with(any(&words.replies.yes_but, self.rng), &value.words(), "");
            self.event(wish, Moment::Confirm, Happening::YesBut { slot, value }, text);
        }
    }

    /// Up to three events after the call.
    fn after(&mut self, wish: usize, function: &Function, values: &BTreeMap<&'static str, PersonValue>) {
        let words = self.domain.words;
        for _ in 0..self.rng.usize(..=3) {
            let slot = self.required(function);
            let (happens, text) = match self.rng.u8(..16) {
                0..=3 => {
                    let kinds = ["thanks", "farewell", "waiting", "greeting"];
                    (Happening::Courtesy, any_of(&words.courtesies, &kinds, self.rng).to_owned())
                }
                4..=6 => (Happening::AsksAfter { slot }, any(&words.after.done, self.rng).to_owned()),
                7..=8 => (Happening::AsksAfter { slot }, any(&words.after.doubt, self.rng).to_owned()),
                9..=10 => (Happening::AsksAfter { slot }, any(&words.after.bare, self.rng).to_owned()),
                11..=13 => {
                    let other = self.other_value(slot, &values[slot]);
                    (Happening::ChangesAfter, with(any(&words.after.change, self.rng), &other.words(), ""))
                }
                14 => {
                    let Some((slot, _)) = function.slots.iter().find(|(_, needed)| !needed) else { continue };
                    (Happening::AddsAfter, self.domain.any_value(slot, self.rng).words())
                }
                _ => (Happening::Repeat, String::new()),
            };
            self.event(wish, Moment::After, happens, text);
        }
    }

    fn required(&mut self, function: &Function) -> &'static str {
        let slots: Vec<&'static str> =
            function.slots.iter().filter(|(_, needed)| *needed).map(|(slot, _)| *slot).collect();
        slots[self.rng.usize(..slots.len())]
    }

    fn other_value(&mut self, slot: &str, not: &PersonValue) -> PersonValue {
        let others: Vec<&PersonValue> =
            self.domain.slot(slot).values.iter().filter(|value| value.value() != not.value()).collect();
        others[self.rng.usize(..others.len())].clone()
    }
}

/// The text with a value and the name of its slot filled in.
pub(super) fn with(text: &str, value: &str, slot: &str) -> String {
    filled(text, &|mark| if mark == "value" { value.to_owned() } else { slot.to_owned() })
}
