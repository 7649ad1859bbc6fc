//! Almost valid inputs.

use serde_json::{Map, Value, json};

/// Changes bytes and JSON at random, using pieces of such inputs.
pub(crate) struct Mutator {
    pub(crate) tokens: Vec<String>,
    /// Longest input, in bytes.
    pub(crate) longest: usize,
}

impl Mutator {
    pub(crate) fn new(tokens: &[&str], longest: usize) -> Self {
        Self { tokens: tokens.iter().map(|token| (*token).to_owned()).collect(), longest }
    }

    /// A seed, changed in some places.
    pub(crate) fn bytes(&self, random: &mut fastrand::Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut input = random.choice(seeds).cloned().unwrap_or_default();
        for _ in 0..random.usize(1..=6) {
            let at = random.usize(0..=input.len());
            match random.u8(0..8) {
                0 if at < input.len() => input[at] = random.u8(..),
                1 => input.truncate(at),
                2 => {
                    let other = random.choice(seeds).map_or(&[][..], Vec::as_slice);
                    input.truncate(at);
                    input.extend_from_slice(&other[random.usize(0..=other.len())..]);
                }
                3 if at < input.len() => {
                    let end = random.usize(at..input.len().min(at + 40));
                    input.drain(at..end);
                }
                4 => {
                    let piece: Vec<u8> = input[at..].iter().copied().take(random.usize(0..60)).collect();
                    input.splice(at..at, piece);
                }
                // Repetition shows the cost of each piece.
                5 if random.u8(0..8) == 0 => {
                    let piece: Vec<u8> = input[at..].iter().copied().take(random.usize(1..20)).collect();
                    let count = random.usize(1..400);
                    input.splice(at..at, piece.repeat(count));
                }
                _ => {
                    let token = random.choice(&self.tokens).map_or("", String::as_str);
                    input.splice(at..at, token.bytes());
                }
            }
        }
        input.truncate(self.longest);
        input
    }

    /// The same as text.
    pub(crate) fn text(&self, random: &mut fastrand::Rng, seeds: &[Vec<u8>]) -> String {
        String::from_utf8_lossy(&self.bytes(random, seeds)).into_owned()
    }

    /// Changes some members; the result stays JSON, which most readers require first.
    pub(crate) fn json(&self, random: &mut fastrand::Rng, value: &mut Value) {
        for _ in 0..random.usize(1..=3) {
            let donor = part(random, value).clone();
            let leaf = self.leaf(random);
            let at = part(random, value);
            match random.u8(0..6) {
                0 => *at = leaf,
                1 => *at = donor,
                2 => grow(random, at, donor, &leaf),
                3 => shrink(random, at),
                4 => *at = json!([at.clone(), donor]),
                _ => self.say(random, at),
            }
        }
    }

    fn leaf(&self, random: &mut fastrand::Rng) -> Value {
        let token = random.choice(&self.tokens).cloned().unwrap_or_default();
        let all = [
            Value::Null,
            json!(true),
            json!(0),
            json!(-1),
            json!(i64::MAX),
            json!(u64::MAX),
            json!(1e308),
            json!(0.1),
            json!(""),
            json!("\u{0}\u{202e}é日本"),
            json!([]),
            json!({}),
            json!("x".repeat(random.usize(0..2_000))),
            json!(token),
        ];
        random.choice(all).unwrap_or_default()
    }

    /// Replaces the words of a text.
    fn say(&self, random: &mut fastrand::Rng, at: &mut Value) {
        if let Value::String(text) = at {
            *text = self.text(random, &[text.clone().into_bytes()]);
        }
    }
}

/// A random part of the value.
fn part<'a>(random: &mut fastrand::Rng, value: &'a mut Value) -> &'a mut Value {
    let is_leaf = match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => true,
    };
    if is_leaf || random.u8(0..5) == 0 {
        return value;
    }
    match value {
        Value::Array(items) => {
            let at = random.usize(0..items.len());
            part(random, &mut items[at])
        }
        Value::Object(members) => {
            let at = random.usize(0..members.len());
            let (_, member) = members.iter_mut().nth(at).expect("it has so many");
            part(random, member)
        }
        leaf => leaf,
    }
}

fn grow(random: &mut fastrand::Rng, at: &mut Value, donor: Value, leaf: &Value) {
    match at {
        Value::Array(items) => items.insert(random.usize(0..=items.len()), donor),
        Value::Object(members) => {
            let name = leaf.as_str().map_or_else(|| leaf.to_string(), str::to_owned);
            members.insert(name, donor);
        }
        other => *other = Value::Object(Map::from_iter([("a".to_owned(), donor)])),
    }
}

fn shrink(random: &mut fastrand::Rng, at: &mut Value) {
    match at {
        Value::Array(items) if !items.is_empty() => drop(items.remove(random.usize(0..items.len()))),
        Value::Object(members) if !members.is_empty() => {
            let name = members.keys().nth(random.usize(0..members.len())).cloned().unwrap_or_default();
            members.shift_remove(&name);
        }
        other => *other = Value::Null,
    }
}
