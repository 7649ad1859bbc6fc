//! Templates with values in them, as people say them: as they are, in carrier phrases, in lower case without
//! punctuation, with one more slot that another template shows.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::values::{Place, Stock, Values, Words};
use crate::{
    module::{Exemplar, Function, FunctionId, Module, OwnerMode, Piece, SlotId},
    text::Span,
};

/// How a template is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    Plain,
    /// In a phrase that says nothing of the request: "hi, ... please".
    Carried,
    /// In lower case and without punctuation.
    Lower,
    /// With one more slot, as another template says it.
    Combined,
}

impl Form {
    pub const ALL: [Self; 4] = [Self::Plain, Self::Carried, Self::Lower, Self::Combined];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Carried => "carried",
            Self::Lower => "lower",
            Self::Combined => "combined",
        }
    }
}

/// A sentence that must be understood as its template.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::eval) struct Filled {
    pub text: String,
    pub arguments: Map<String, Value>,
}

/// True for an exemplar that says by itself what is wanted.
pub(super) fn speaks(exemplar: &Exemplar) -> bool {
    exemplar.mode == OwnerMode::Normal
        && exemplar.context_frame.is_none()
        && exemplar.context_slot.is_none()
        && exemplar.pieces.iter().all(|piece| !matches!(piece, Piece::Slot { slot: None, .. }))
}

/// The template in this form. `None` if it has no such form, or no value is known for one of its slots.
pub(super) fn fill(
    module: &Module,
    values: &Values<'_>,
    id: FunctionId,
    exemplar: &Exemplar,
    form: Form,
    random: &mut fastrand::Rng,
) -> Option<Filled> {
    let stock = Stock::of(module.language());
    let pieces: Vec<Piece> = match form {
        Form::Combined => combined(module.function(id), exemplar, random)?,
        Form::Plain | Form::Carried | Form::Lower => exemplar.pieces.clone(),
    };
    let mut sentence = Sentence::default();
    if form == Form::Carried {
        sentence.text.push_str(&before(stock, &exemplar.template, random));
    }
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text(text) if form == Form::Lower => sentence.text.push_str(&plain(text)),
            Piece::Text(text) => sentence.text.push_str(text),
            Piece::Slot { slot, .. } => {
                let mut words = values.pick(id, (*slot)?, place(&pieces, index, &sentence.text), random)?;
                if form == Form::Lower && !words.keeps_case {
                    words.text = words.text.to_lowercase();
                }
                sentence.say(words);
            }
        }
    }
    if form == Form::Carried && random.bool() && sentence.text.ends_with(char::is_alphanumeric) {
        sentence.text.push_str(stock.after.get(random.usize(..stock.after.len().max(1)))?);
    }
    let mut arguments = values.arguments(id, &sentence.said);
    let spans: Vec<Span> = sentence.said.iter().map(|(_, span)| *span).collect();
    for (path, value) in values.unmarked(id, &sentence.text, &spans) {
        let slot = module.function(id).slot_labelled(&path).map(|slot| module.function(id).slot(slot));
        let is_said =
            sentence.said.iter().any(|(words, _)| module.function(id).slot(words.slot).path.to_string() == path);
        if slot.is_some_and(|slot| !slot.path.is_repeated()) && !is_said {
            arguments.insert(path, json!([value, ""]));
        }
    }
    Some(Filled { text: sentence.text, arguments })
}

/// Where the slot at `index` stands, behind the words `before`.
fn place<'a>(pieces: &'a [Piece], index: usize, before: &'a str) -> Place<'a> {
    let behind = match pieces.get(index + 1) {
        Some(Piece::Text(text)) => text.as_str(),
        _ => "",
    };
    let follows_value = matches!(
        &pieces[..index],
        [.., Piece::Slot { .. }, Piece::Text(gap)] if gap.trim().is_empty()
    );
    Place { before, behind, follows_value }
}

#[derive(Default)]
struct Sentence {
    text: String,
    said: Vec<(Words, Span)>,
}

impl Sentence {
    fn say(&mut self, words: Words) {
        let start = self.text.chars().count();
        self.text.push_str(&words.text);
        let span = Span::new(start, self.text.chars().count());
        self.said.push((words, span));
    }
}

/// A greeting, or what leads a request in the imperative.
fn before(stock: &Stock, template: &str, random: &mut fastrand::Rng) -> String {
    let first = template.split_whitespace().next().unwrap_or_default().to_lowercase();
    let is_request = !first.starts_with('<') && !stock.no_request.contains(&first);
    let mut phrases: Vec<&String> = stock.before.iter().collect();
    if is_request {
        phrases.extend(&stock.before_request);
    }
    phrases.get(random.usize(..phrases.len().max(1))).map(|phrase| (*phrase).clone()).unwrap_or_default()
}

/// In lower case, without the signs that only writing has. A comma between two values is all that parts them.
fn plain(text: &str) -> String {
    let has_words = text.chars().any(char::is_alphanumeric);
    let is_sign =
        |c: char| matches!(c, '.' | '?' | '!' | '¿' | '¡' | ';' | ':' | '。' | '？') || (c == ',' && has_words);
    text.chars().filter(|c| !is_sign(*c)).flat_map(char::to_lowercase).collect()
}

/// The template and behind it one more slot, with the words that part it from the slot before it in another template of
/// the function.
fn combined(function: &Function, exemplar: &Exemplar, random: &mut fastrand::Rng) -> Option<Vec<Piece>> {
    let last_is_slot = matches!(exemplar.pieces.last(), Some(Piece::Slot { .. }));
    if !last_is_slot {
        return None;
    }
    let marked = |piece: &Piece| match piece {
        Piece::Slot { slot, .. } => *slot,
        Piece::Text(_) => None,
    };
    let own: Vec<SlotId> = exemplar.pieces.iter().filter_map(marked).collect();
    let mut continuations: Vec<[Piece; 2]> = Vec::new();
    for other in function.exemplars.iter().filter(|other| speaks(other)) {
        for three in other.pieces.windows(3) {
            if let [Piece::Slot { .. }, text @ Piece::Text(words), more @ Piece::Slot { slot: Some(slot), .. }] = three
                && !own.contains(slot)
                && words.chars().any(char::is_alphabetic)
                && words.split_whitespace().count() <= 3
            {
                continuations.push([text.clone(), more.clone()]);
            }
        }
    }
    let chosen = continuations.get(random.usize(..continuations.len().max(1)))?;
    Some(exemplar.pieces.iter().chain(chosen).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_without_signs_keeps_what_parts_two_values() {
        assert_eq!(plain(", "), ", ");
        assert_eq!(plain("Hello, is it? "), "hello is it ");
        assert_eq!(plain("¿Dónde está "), "dónde está ");
    }

    #[test]
    fn only_a_request_is_led_by_could_you() {
        let stock = Stock::of("en");
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..50 {
            let phrase = before(stock, "What's the weather", &mut random);
            assert!(!phrase.contains("could you") && !phrase.contains("please"), "{phrase}");
        }
    }
}
