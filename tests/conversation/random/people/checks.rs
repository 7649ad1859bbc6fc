//! What must hold for a dialogue, by name. Each check returns what is wrong, or `None`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    domain::Domain,
    talk::{Called, Exchange, Known, Means, Talk, is_same},
};

/// A dialogue, and the same without courtesies and asides.
pub(super) struct Trial {
    pub(super) talk: Talk,
    pub(super) plain: Talk,
}

pub(super) type Check = fn(&Trial, &Domain<'_>) -> Option<String>;

pub(super) const CHECKS: [(&str, Check); 7] = [
    ("what acts is done once", acts_once),
    ("no courtesy is a value", no_courtesy_is_a_value),
    ("courtesies change no call", courtesies_change_no_call),
    ("a yes with a change calls nothing old", yes_but_calls_nothing_old),
    ("no question three times in the same words", not_three_times),
    ("every dialogue ends", ends),
    ("only a plain yes is consent", only_a_plain_yes),
];

/// A call of an acting function needs a request of its own, or a yes to a question about it.
fn acts_once(Trial { talk, .. }: &Trial, domain: &Domain<'_>) -> Option<String> {
    let mut may: BTreeMap<&str, bool> = BTreeMap::new();
    for exchange in &talk.exchanges {
        match &exchange.said.means {
            Means::Request { function } => _ = may.insert(function, true),
            Means::Yes => {
                if let Some(asked) = exchange.asked.as_ref().filter(|asked| asked.kind == "confirm") {
                    may.insert(&asked.function, true);
                }
            }
            _ => {}
        }
        for call in &exchange.calls {
            let acts = domain.acts(&call.function);
            if acts && may.insert(&call.function, false) != Some(true) {
                let said = &exchange.said.text;
                return Some(format!("{said:?} has {} called with {}", call.function, call.arguments));
            }
        }
    }
    None
}

/// No words of a courtesy become a value, called or not. Words of an aside, which only their meaning distinguishes from
/// an answer, are in no call that was not read out and confirmed.
fn no_courtesy_is_a_value(Trial { talk, .. }: &Trial, _: &Domain<'_>) -> Option<String> {
    let (mut matters, mut courtesies, mut asides) = (Vec::new(), Vec::new(), Vec::new());
    for Exchange { said, known, calls, .. } in &talk.exchanges {
        matters.extend(said.matter.as_deref().map(folded));
        let is_aside = matches!(said.means, Means::Aside | Means::AsksAfter);
        let beside = if is_aside { &mut asides } else { &mut courtesies };
        beside.extend(said.beside.iter().map(|text| folded(text)));
        let is_of = |texts: &[String], text: &str| {
            let is_said = matters.iter().any(|matter| matter.contains(text));
            let is_part = texts.iter().any(|beside| holds(beside, text) || holds(text, beside));
            !text.is_empty() && !is_said && is_part
        };
        let words = |one: &Known| folded(&one.text.clone().unwrap_or_else(|| plain(&one.value)));
        let found = known.iter().find(|one| is_of(&courtesies, &words(one)));
        if let Some(Known { function, slot, value, .. }) = found {
            return Some(format!("{:?} gives {slot} of {function} the value {value}", said.text));
        }
        let values =
            calls.iter().filter_map(|call| call.arguments.as_object()).flat_map(|arguments| arguments.values());
        let called = values.map(plain).find(|value| is_of(&asides, &folded(value)));
        if let Some(value) = called.filter(|_| said.means != Means::Yes) {
            return Some(format!("{:?} has a call made with {value:?}", said.text));
        }
    }
    None
}

fn courtesies_change_no_call(Trial { talk, plain }: &Trial, domain: &Domain<'_>) -> Option<String> {
    let (with, without) = (changing(talk, domain), changing(plain, domain));
    let same =
        |(one, other): (&&Called, &&Called)| one.function == other.function && alike(&one.arguments, &other.arguments);
    let is_alike = with.len() == without.len() && with.iter().zip(&without).all(same);
    let told = |calls: &[&Called]| -> String {
        calls.iter().map(|call| format!(" {}{}", call.function, call.arguments)).collect()
    };
    let (with, without) = (told(&with), told(&without));
    (!is_alike).then(|| format!("with courtesies{with}; without{without}; without:\n{}\nwith:", plain.transcript()))
}

/// The calls, except those that repeat the last reading call, and those that look up the answer to a question about
/// what was done.
fn changing<'t>(talk: &'t Talk, domain: &Domain<'_>) -> Vec<&'t Called> {
    let mut changing: Vec<&Called> = Vec::new();
    for Exchange { said, calls, .. } in &talk.exchanges {
        for call in calls {
            let reads = !domain.acts(&call.function);
            if !(reads && (said.means == Means::AsksAfter || changing.last() == Some(&call))) {
                changing.push(call);
            }
        }
    }
    changing
}

fn alike(one: &Value, other: &Value) -> bool {
    match (one.as_object(), other.as_object()) {
        (Some(one), Some(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| other.get(name).is_some_and(|other| is_same(value, other)))
        }
        _ => one == other,
    }
}

fn yes_but_calls_nothing_old(Trial { talk, .. }: &Trial, _: &Domain<'_>) -> Option<String> {
    let mut changed: Option<(usize, &Exchange)> = None;
    for exchange in &talk.exchanges {
        if matches!(exchange.said.means, Means::YesBut { .. }) {
            changed = Some((exchange.wish, exchange));
        }
        let Some((wish, by)) = changed.filter(|(wish, _)| *wish == exchange.wish) else { continue };
        let (Means::YesBut { slot, old, .. }, Some(asked)) = (&by.said.means, &by.asked) else { continue };
        let is_old = |call: &&Called| call.function == asked.function && is_same(&call.arguments[slot], old);
        if let Some(call) = exchange.calls.iter().find(is_old) {
            let said = &by.said.text;
            return Some(format!("after {said:?} {} of wish {wish} is called with {}", call.function, call.arguments));
        }
        if !exchange.calls.is_empty() {
            changed = None;
        }
    }
    None
}

fn not_three_times(Trial { talk, .. }: &Trial, _: &Domain<'_>) -> Option<String> {
    // The reply to a courtesy is not a question; a reply to something that was not understood must be reworded too.
    let is_asked = |exchange: &Exchange| exchange.question.is_some();
    let is_lost = |exchange: &Exchange| exchange.outcome == "no_match" && exchange.said.matter.is_some();
    let asks = |exchange: &Exchange| exchange.reply.clone().filter(|_| is_asked(exchange) || is_lost(exchange));
    talk.exchanges.windows(3).find_map(|three| {
        let first = asks(&three[0])?;
        three[1..].iter().all(|exchange| asks(exchange).as_ref() == Some(&first)).then_some(first)
    })
}

fn ends(Trial { talk, .. }: &Trial, _: &Domain<'_>) -> Option<String> {
    talk.endless.clone()
}

fn only_a_plain_yes(Trial { talk, .. }: &Trial, _: &Domain<'_>) -> Option<String> {
    let hedged = |exchange: &&Exchange| exchange.said.means == Means::Hedged && !exchange.calls.is_empty();
    let exchange = talk.exchanges.iter().find(hedged)?;
    Some(format!("{:?} has {} called", exchange.said.text, exchange.calls[0].function))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Without case and signs, with each word between spaces.
fn folded(text: &str) -> String {
    let words: String = text.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// True if `text` contains `part`, as whole words in languages with spaces.
fn holds(text: &str, part: &str) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && c < '\u{3000}');
    text.match_indices(part)
        .any(|(at, _)| !is_letter(text[..at].chars().next_back()) && !is_letter(text[at + part.len()..].chars().next()))
}
