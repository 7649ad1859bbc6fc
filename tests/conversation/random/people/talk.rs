//! Carries out a dialogue: the person of a plan, and the service as its clients meet it.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering},
};

use serde_json::{Value, json};

use super::{
    domain::Domain,
    language::{PersonValue, any},
    plan::{Event, Happening, Moment, Plan, Wish, with},
};
use crate::support::Service;

/// Most turns of a dialogue.
const TURNS: usize = 60;

/// The meaning of an utterance, as its speaker intends it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Means {
    Request {
        function: &'static str,
    },
    Answer,
    Correct,
    Yes,
    /// A yes with another value for a slot.
    YesBut {
        slot: &'static str,
        old: Value,
        new: Value,
    },
    /// A yes with words that take it back or set a condition.
    Hedged,
    No,
    Cancel,
    Courtesy,
    Aside,
    AsksAfter,
    ChangesAfter,
    AddsAfter,
}

#[derive(Debug, Clone)]
pub(super) struct Utterance {
    pub(super) text: String,
    pub(super) means: Means,
    /// The part that says what the person wants; `None` for courtesies and asides.
    pub(super) matter: Option<String>,
    /// Courtesies and asides in it.
    pub(super) beside: Vec<String>,
}

/// A value that the service understood.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) function: String,
    pub(super) slot: String,
    pub(super) value: Value,
    /// The words for it.
    pub(super) text: Option<String>,
}

/// A question of the service.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Question {
    /// `missing`, `confirm` and so on.
    pub(super) kind: String,
    pub(super) function: String,
    /// The missing or invalid slot.
    pub(super) slot: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Called {
    pub(super) function: String,
    pub(super) arguments: Value,
}

#[derive(Debug, Clone)]
pub(super) struct Exchange {
    /// The wish that the person is talking about.
    pub(super) wish: usize,
    /// The question before.
    pub(super) asked: Option<Question>,
    pub(super) said: Utterance,
    pub(super) outcome: String,
    pub(super) reply: Option<String>,
    pub(super) question: Option<Question>,
    pub(super) calls: Vec<Called>,
    pub(super) known: Vec<Known>,
}

#[derive(Debug, Default, Clone)]
pub(super) struct Talk {
    pub(super) exchanges: Vec<Exchange>,
    /// Why the dialogue did not come to an end.
    pub(super) endless: Option<String>,
}

impl Talk {
    pub(super) fn calls(&self) -> Vec<&Called> {
        self.exchanges.iter().flat_map(|exchange| &exchange.calls).collect()
    }

    /// For people who look for an error.
    pub(super) fn transcript(&self) -> String {
        let mut text = String::new();
        for Exchange { said, outcome, reply, calls, .. } in &self.exchanges {
            _ = writeln!(text, "> {}   ({:?})", said.text, said.means);
            let reply = reply.as_deref().unwrap_or_default().replace('\n', " / ");
            let calls = calls.iter().map(|call| format!("  CALL {} {}", call.function, call.arguments));
            _ = writeln!(text, "  [{outcome}] {reply}{}", calls.collect::<String>());
        }
        text
    }
}

/// Where the conversation is kept.
#[derive(Debug, Clone)]
enum Keeper {
    Client(Option<String>),
    Session(String),
}

/// Carries out the dialogue of a plan.
pub(super) async fn talk(service: &Service, domain: &Domain<'_>, plan: &Plan, by_session: bool) -> Talk {
    static SESSIONS: AtomicU64 = AtomicU64::new(0);
    let keeper = if by_session || domain.is_acting {
        Keeper::Session(format!("talk-{}", SESSIONS.fetch_add(1, Ordering::Relaxed)))
    } else {
        Keeper::Client(None)
    };
    let person = Person {
        domain,
        plan: plan.clone(),
        place: 0,
        is_made: false,
        is_opened: false,
        last: None,
        helpful: 0,
        corrections: 0,
        replies: BTreeMap::new(),
    };
    Held { service, keeper, person, talk: Talk::default() }.hold().await
}

struct Held<'a> {
    service: &'a Service,
    keeper: Keeper,
    person: Person<'a>,
    talk: Talk,
}

impl Held<'_> {
    async fn hold(mut self) -> Talk {
        for _ in 0..TURNS {
            let last = self.talk.exchanges.last().cloned();
            match self.person.says(last.as_ref()) {
                Ok(Some((wish, said))) => {
                    let asked = last.and_then(|last| last.question);
                    let exchange = self.exchange(wish, asked, said).await;
                    self.person.hears(&exchange);
                    self.talk.exchanges.push(exchange);
                }
                Ok(None) => return self.talk,
                Err(why) => {
                    self.talk.endless = Some(why);
                    return self.talk;
                }
            }
        }
        self.talk.endless = Some(format!("no end in {TURNS} turns"));
        self.talk
    }

    async fn exchange(&mut self, wish: usize, asked: Option<Question>, said: Utterance) -> Exchange {
        let mut body = json!({"utterance": said.text, "now": "2026-03-04T09:00:00+00:00[UTC]"});
        match &self.keeper {
            Keeper::Client(Some(state)) => body["state"] = state.as_str().into(),
            Keeper::Client(None) => {}
            Keeper::Session(id) => body["session_id"] = id.as_str().into(),
        }
        let path = format!("/v1/predict/{}", self.person.domain.module);
        let answer = self.service.post(&path, body.to_string()).await;
        assert_eq!(answer.status, 200, "{:?}: {}", said.text, answer.text);
        let answer = answer.json();
        let uptake = &answer["uptake"];
        if let Keeper::Client(state) = &mut self.keeper {
            *state = uptake["state"].as_str().map(str::to_owned);
        }
        Exchange {
            wish,
            asked,
            said,
            outcome: text(&uptake["outcome"]),
            reply: uptake["reply"].as_str().map(str::to_owned),
            question: question(&uptake["question"]),
            calls: calls(&answer),
            known: known(&uptake["calls"]),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn question(question: &Value) -> Option<Question> {
    let about = question.get("about")?;
    let slot = about["slot"].as_str().or_else(|| about["slots"][0].as_str()).or_else(|| about["path"].as_str());
    let function = about["function"].as_str().or_else(|| about["functions"][0].as_str());
    Some(Question {
        kind: text(&about["kind"]),
        function: function.unwrap_or_default().to_owned(),
        slot: slot.unwrap_or_default().trim_start_matches('/').to_owned(),
    })
}

/// The calls for the client, and those that the service made.
fn calls(answer: &Value) -> Vec<Called> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let offered = list(&answer["choices"][0]["message"]["tool_calls"]).into_iter().map(|call| {
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        Called {
            function: text(&call["function"]["name"]),
            arguments: serde_json::from_str(arguments).unwrap_or_default(),
        }
    });
    let made = list(&answer["uptake"]["actions"])
        .into_iter()
        .map(|action| Called { function: text(&action["function"]), arguments: action["arguments"].clone() });
    offered.chain(made).collect()
}

fn known(calls: &Value) -> Vec<Known> {
    let mut all = Vec::new();
    for call in calls.as_array().into_iter().flatten() {
        for (slot, value) in call["slots"].as_object().into_iter().flatten() {
            let values = value.as_array().map_or_else(|| vec![value], |values| values.iter().collect());
            all.extend(values.into_iter().filter(|value| value["operator"] == "==").map(|value| Known {
                function: text(&call["function"]),
                slot: slot.clone(),
                value: value["value"].clone(),
                text: value["text"].as_str().map(str::to_owned),
            }));
        }
    }
    all
}

/// The person of a plan, who answers questions.
struct Person<'a> {
    domain: &'a Domain<'a>,
    plan: Plan,
    /// The index of the current wish.
    place: usize,
    /// It was called.
    is_made: bool,
    /// It was requested.
    is_opened: bool,
    /// The person's last utterance about the matter.
    last: Option<(String, Means)>,
    /// Helpful turns for this wish since other things were said.
    helpful: usize,
    corrections: usize,
    /// How often the person answered a question, by its subject.
    replies: BTreeMap<String, usize>,
}

impl Person<'_> {
    /// Takes in the result of an utterance.
    fn hears(&mut self, exchange: &Exchange) {
        let Some(wish) = self.plan.wishes.get(self.place) else { return };
        let is_called = exchange.calls.iter().any(|call| call.function == wish.function);
        let is_over = matches!(exchange.outcome.as_str(), "cancelled" | "handoff") && self.is_opened;
        if is_called && !self.is_made {
            self.is_made = true;
            self.helpful = 0;
        } else if is_over && !self.is_made {
            self.leaves();
        }
    }

    /// Moves on to the next wish.
    fn leaves(&mut self) {
        self.place += 1;
        (self.is_made, self.is_opened, self.helpful, self.corrections) = (false, false, 0, 0);
        self.replies.clear();
    }

    /// The person's next utterance, and its wish; `None` if nothing is left to say, an error if the dialogue leads
    /// nowhere.
    fn says(&mut self, last: Option<&Exchange>) -> Result<Option<(usize, Utterance)>, String> {
        let question = last.and_then(|last| last.question.as_ref());
        loop {
            let Some(wish) = self.plan.wishes.get(self.place).cloned() else { return Ok(None) };
            let place = self.place;
            let moment = self.moment(&wish, question);
            if let Some(said) = moment.as_ref().and_then(|moment| self.event(&wish, moment, last)) {
                self.helpful = 0;
                return Ok(Some((place, said)));
            }
            if self.is_made && question.is_none() {
                self.leaves();
                continue;
            }
            self.helpful += 1;
            let most = 2 * wish.values.len() + 6;
            if self.helpful > most {
                return Err(format!("{most} helpful turns did not bring {}", wish.function));
            }
            let (text, means) = self.helps(&wish, question, last);
            self.last = Some((text.clone(), means.clone()));
            return Ok(Some((place, self.attached(moment.as_ref(), text, means))));
        }
    }

    fn moment(&self, wish: &Wish, question: Option<&Question>) -> Option<Moment> {
        if self.is_made {
            return Some(Moment::After);
        }
        let Some(question) = question else { return (!self.is_opened).then_some(Moment::Opening) };
        if question.function != wish.function {
            return (!self.is_opened).then_some(Moment::Opening);
        }
        match question.kind.as_str() {
            "missing" | "group" | "invalid" => {
                wish.values.keys().copied().find(|slot| *slot == question.slot).map(Moment::Slot)
            }
            "confirm" => Some(Moment::Confirm),
            _ => None,
        }
    }

    /// The event of this moment beside the matter; each happens once.
    fn event(&mut self, wish: &Wish, moment: &Moment, last: Option<&Exchange>) -> Option<Utterance> {
        let is_now =
            |event: &Event| event.wish == self.place && event.moment == *moment && !event.happens.is_attached();
        let found = self.plan.events.iter().position(is_now)?;
        let Event { happens, text, .. } = self.plan.events[found].clone();
        // Each happens once; if it is impossible now, the next one may happen.
        self.plan.events[found].moment = Moment::Slot("");
        let value_of = |slot: &str| wish.values.get(slot);
        let is_known = |slot: &str| {
            last.is_some_and(|last| last.known.iter().any(|one| one.function == wish.function && one.slot == slot))
        };
        let said = match happens {
            Happening::Courtesy => beside(text, Means::Courtesy),
            Happening::Aside | Happening::Lost => beside(text, Means::Aside),
            Happening::AsksAfter { slot } => beside(with(&text, &value_of(slot)?.words(), ""), Means::AsksAfter),
            Happening::ChangesAfter => matter(text, Means::ChangesAfter),
            Happening::AddsAfter => matter(text, Means::AddsAfter),
            Happening::Hedged => matter(text, Means::Hedged),
            Happening::Cancel => matter(text, Means::Cancel),
            Happening::Interlude { function } if function != wish.function => matter(text, Means::Request { function }),
            Happening::Repeat => {
                let (text, means) = self.last.clone()?;
                matter(text, means)
            }
            Happening::Correct { slot, value } if is_known(slot) => {
                self.wants(slot, value);
                matter(text, Means::Correct)
            }
            Happening::Beside { slot } if !is_known(slot) => matter(text, Means::Answer),
            Happening::YesBut { slot, value } if value_of(slot)?.value() != value.value() => {
                let (old, new) = (value_of(slot)?.value().clone(), value.value().clone());
                self.wants(slot, value);
                matter(text, Means::YesBut { slot, old, new })
            }
            _ => return self.event(wish, moment, last),
        };
        Some(said)
    }

    fn wants(&mut self, slot: &'static str, value: PersonValue) {
        if let Some(wish) = self.plan.wishes.get_mut(self.place) {
            wish.values.insert(slot, value);
        }
    }

    /// An utterance that helps the matter forward.
    fn helps(&mut self, wish: &Wish, question: Option<&Question>, last: Option<&Exchange>) -> (String, Means) {
        let replies = &self.domain.words.replies;
        // Depends on how often the question was asked, not on the turn, so that dialogues with and without courtesies
        // use the same words.
        let asked = question.map(|question| format!("{} {}", question.kind, question.slot)).unwrap_or_default();
        let times = self.replies.entry(asked).or_default();
        *times += 1;
        let at = *times + wish.whole.len();
        let pick = |texts: &[String]| texts[at % texts.len()].clone();
        let request = Means::Request { function: wish.function };
        let Some(question) = question else {
            let is_first = !std::mem::replace(&mut self.is_opened, true);
            let opening = if is_first { &wish.opening } else { &wish.whole };
            return (opening.clone(), request);
        };
        if !self.is_opened {
            self.is_opened = true;
            return (wish.opening.clone(), request);
        }
        let is_confirmation = question.kind == "confirm";
        if self.is_made || question.function != wish.function {
            let agrees = self.is_made && question.function == wish.function && wish.agrees_after;
            return match (is_confirmation, agrees) {
                (true, true) => (replies.yes[0].clone(), Means::Yes),
                (true, false) => (pick(&replies.no), Means::No),
                (false, _) if question.kind == "tie" && !self.is_made => (wish.whole.clone(), request),
                (false, _) => (pick(&replies.cancel), Means::Cancel),
            };
        }
        let wrong = last.and_then(|last| mismatch(wish, last));
        match question.kind.as_str() {
            "missing" | "group" | "invalid" => match wish.values.get(question.slot.as_str()) {
                Some(value) => {
                    let answers = &self.domain.slot(&question.slot).answers;
                    let all: Vec<String> = replies.value.iter().chain(answers).cloned().collect();
                    (with(&pick(&all), &value.words(), ""), Means::Answer)
                }
                None => (pick(&replies.no), Means::No),
            },
            "confirm" | "change" if wrong.is_some() => {
                let slot = wrong.unwrap_or_default();
                self.corrections += 1;
                let templates = if self.corrections % 2 == 1 { &replies.correct } else { &replies.set };
                let template = any(templates, &mut fastrand::Rng::with_seed(self.corrections as u64));
                let value = wish.values[slot].words();
                (with(template, &value, &self.domain.slot(slot).name), Means::Correct)
            }
            "confirm" => (pick(&replies.yes), Means::Yes),
            _ => (wish.whole.clone(), request),
        }
    }

    /// Adds the courtesies that belong to this moment.
    fn attached(&mut self, moment: Option<&Moment>, matter: String, means: Means) -> Utterance {
        let joint = &self.domain.words.joint;
        let mut said = Utterance { text: matter.clone(), means, matter: Some(matter), beside: Vec::new() };
        for event in &mut self.plan.events {
            if event.wish != self.place || Some(&event.moment) != moment || !event.happens.is_attached() {
                continue;
            }
            let text = std::mem::take(&mut event.text);
            event.moment = Moment::Slot("");
            said.text = match event.happens {
                Happening::Before => format!("{text}{joint}{}", said.text),
                _ => format!("{}{joint}{text}", said.text),
            };
            said.beside.push(text);
        }
        said
    }
}

fn beside(text: String, means: Means) -> Utterance {
    Utterance { text: text.clone(), means, matter: None, beside: vec![text] }
}

fn matter(text: String, means: Means) -> Utterance {
    Utterance { text: text.clone(), means, matter: Some(text), beside: Vec::new() }
}

/// A slot whose value the service misunderstood.
fn mismatch(wish: &Wish, last: &Exchange) -> Option<&'static str> {
    let known: BTreeMap<&str, &Value> = last
        .known
        .iter()
        .filter(|one| one.function == wish.function)
        .map(|one| (one.slot.as_str(), &one.value))
        .collect();
    let differs =
        |slot: &&&'static str| known.get(**slot).is_some_and(|value| !is_same(value, wish.values[**slot].value()));
    wish.values.keys().find(differs).copied()
}

pub(super) fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::String(one), Value::String(other)) => one.to_lowercase() == other.to_lowercase(),
        _ => one == other,
    }
}
