//! Templates with values, in the ways people say them: plain, in carrier phrases, in lower case without punctuation,
//! with an extra slot from another template.

use std::cmp::Ordering;

use jiff::civil::Date;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::values::{SlotPhrase, Stock, ValueContext, Values};
use crate::{
    decide::ranges,
    module::{Exemplar, Function, FunctionId, Module, OwnerMode, SlotId, TemplatePiece},
    text::Span,
};

/// How a template is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SentenceForm {
    Plain,
    /// In a phrase that does not affect the request: "hi, ... please".
    Carried,
    /// In lower case and without punctuation.
    Lower,
    /// With an extra slot, worded as in another template.
    Combined,
}

impl SentenceForm {
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

/// A sentence that must be understood like its template.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::eval) struct Filled {
    pub text: String,
    pub arguments: Map<String, Value>,
}

/// True for an exemplar that is a request by itself.
pub(super) fn speaks(exemplar: &Exemplar) -> bool {
    exemplar.mode == OwnerMode::Normal
        && exemplar.context_frame.is_none()
        && exemplar.context_slot.is_none()
        && exemplar.pieces.iter().all(|piece| !matches!(piece, TemplatePiece::Slot { slot: None, .. }))
}

/// How often other values are tried if two could not be told apart.
const TRIES: usize = 8;

/// The template in this form. `None` if it has no such form, or no value is known for one of its slots.
pub(super) fn fill(
    module: &Module,
    values: &Values<'_>,
    id: FunctionId,
    exemplar: &Exemplar,
    form: SentenceForm,
    random: &mut fastrand::Rng,
) -> Option<Filled> {
    let sentence = (0..TRIES).find_map(|_| {
        let sentence = say(module, values, id, exemplar, form, random)?;
        let spans: Vec<Span> = sentence.said.iter().map(|(_, span)| *span).collect();
        (!sentence.runs_back(module, module.function(id)) && !values.is_blurred(id, &sentence.text, &spans))
            .then_some(sentence)
    })?;
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

/// The slot of a template that consists only of free text: then only its author's own words tell what is wanted. "The
/// handle came off" is a complaint, "first aid" is not.
fn any_words(function: &Function, exemplar: &Exemplar) -> Option<SlotId> {
    let [TemplatePiece::Slot { slot, .. }] = exemplar.pieces[..] else { return None };
    slot.filter(|slot| function.slot(*slot).takes_any_words())
}

fn as_written(slot: SlotId, exemplar: &Exemplar) -> Option<SlotPhrase> {
    let text = exemplar.utterance.as_deref()?.trim().trim_end_matches(['.', '!', '?', '。']);
    Some(SlotPhrase { slot, text: text.to_owned(), value: text.into(), keeps_case: false })
}

fn say(
    module: &Module,
    values: &Values<'_>,
    id: FunctionId,
    exemplar: &Exemplar,
    form: SentenceForm,
    random: &mut fastrand::Rng,
) -> Option<FilledSentence> {
    let stock = Stock::of(module.language());
    let pieces: Vec<TemplatePiece> = match form {
        SentenceForm::Combined => combined(module.function(id), id, values, exemplar, random)?,
        SentenceForm::Plain | SentenceForm::Carried | SentenceForm::Lower => exemplar.pieces.clone(),
    };
    let mut sentence = FilledSentence::default();
    if form == SentenceForm::Carried {
        sentence.text.push_str(&before(stock, &exemplar.template, random));
    }
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            TemplatePiece::Text(text) if form == SentenceForm::Lower => sentence.text.push_str(&plain(text)),
            TemplatePiece::Text(text) => sentence.text.push_str(text),
            TemplatePiece::Slot { slot, .. } => {
                let slot = (*slot)?;
                let mut words = if any_words(module.function(id), exemplar) == Some(slot) {
                    as_written(slot, exemplar)?
                } else {
                    values.pick(id, slot, place(&pieces, index, &sentence.text), random)?
                };
                if form == SentenceForm::Lower && !words.keeps_case {
                    words.text = words.text.to_lowercase();
                }
                sentence.say(words);
            }
        }
    }
    if form == SentenceForm::Carried && random.bool() && sentence.text.ends_with(char::is_alphanumeric) {
        sentence.text.push_str(stock.after.get(random.usize(..stock.after.len().max(1)))?);
    }
    Some(sentence)
}

/// The place of the slot at `index`, after the words `before`.
fn place<'a>(pieces: &'a [TemplatePiece], index: usize, before: &'a str) -> ValueContext<'a> {
    let behind = match pieces.get(index + 1) {
        Some(TemplatePiece::Text(text)) => text.as_str(),
        _ => "",
    };
    let follows = match &pieces[..index] {
        [.., TemplatePiece::Slot { slot, .. }, TemplatePiece::Text(gap)] if gap.trim().is_empty() => *slot,
        _ => None,
    };
    let precedes_value = matches!(
        &pieces[index + 1..],
        [TemplatePiece::Text(gap), TemplatePiece::Slot { .. }, ..] if gap.trim().is_empty()
    );
    ValueContext { before, behind, follows, precedes_value }
}

#[derive(Default)]
struct FilledSentence {
    text: String,
    said: Vec<(SlotPhrase, Span)>,
}

impl FilledSentence {
    fn say(&mut self, words: SlotPhrase) {
        let start = self.text.chars().count();
        self.text.push_str(&words.text);
        let span = Span::new(start, self.text.chars().count());
        self.said.push((words, span));
    }

    /// True if a later day comes first, or a range does not end after the day on which it begins. A reader takes "from
    /// 5 December to 14 March" as the next March, and "from Friday to Friday" as the Friday a week later.
    fn runs_back(&self, module: &Module, function: &Function) -> bool {
        let day = |(words, _): &(SlotPhrase, Span)| Some((words.slot, words.value.as_str()?.parse::<Date>().ok()?));
        let days: Vec<(SlotId, Date)> = self.said.iter().filter_map(day).collect();
        let is_range = |one: SlotId, other: SlotId| ranges::is_range(module, function, (one, other));
        let mut pairs =
            days.iter().enumerate().flat_map(|(at, one)| days[at + 1..].iter().map(move |other| (one, other)));
        pairs.any(|((one, first), (other, second))| match second.cmp(first) {
            Ordering::Less => true,
            Ordering::Equal => is_range(*one, *other),
            Ordering::Greater => is_range(*other, *one),
        })
    }
}

/// A greeting, or the lead-in to an imperative.
fn before(stock: &Stock, template: &str, random: &mut fastrand::Rng) -> String {
    let first = template.split_whitespace().next().unwrap_or_default().to_lowercase();
    let is_request = !first.starts_with('<') && !stock.no_request.contains(&first);
    let mut phrases: Vec<&String> = stock.before.iter().collect();
    if is_request {
        phrases.extend(&stock.before_request);
    }
    phrases.get(random.usize(..phrases.len().max(1))).map(|phrase| (*phrase).clone()).unwrap_or_default()
}

/// In lower case, without marks that exist only in writing. Keeps a comma that alone separates two values.
fn plain(text: &str) -> String {
    let has_words = text.chars().any(char::is_alphanumeric);
    let is_sign =
        |c: char| matches!(c, '.' | '?' | '!' | '¿' | '¡' | ';' | ':' | '。' | '？') || (c == ',' && has_words);
    text.chars().filter(|c| !is_sign(*c)).flat_map(char::to_lowercase).collect()
}

/// The template followed by an extra slot, with the words that separate it from the previous slot in another template
/// of the function. `None` if these words could belong to the last value, or lead to another slot.
fn combined(
    function: &Function,
    id: FunctionId,
    values: &Values<'_>,
    exemplar: &Exemplar,
    random: &mut fastrand::Rng,
) -> Option<Vec<TemplatePiece>> {
    let before = match &exemplar.pieces[..] {
        [.., TemplatePiece::Text(text), TemplatePiece::Slot { .. }] => text.as_str(),
        _ => "",
    };
    let Some(TemplatePiece::Slot { slot: Some(last), .. }) = exemplar.pieces.last() else { return None };
    if values.is_sentence(id, *last, before) {
        return None;
    }
    let marked = |piece: &TemplatePiece| match piece {
        TemplatePiece::Slot { slot, .. } => *slot,
        TemplatePiece::Text(_) => None,
    };
    let own: Vec<SlotId> = exemplar.pieces.iter().filter_map(marked).collect();
    // Words before a comma belong to the preceding value: "<people> guests, <duration>".
    let adds = |words: &str| {
        let is_part = words.split_once(',').is_some_and(|(part, _)| part.contains(char::is_alphabetic));
        words.contains(char::is_alphabetic) && words.split_whitespace().count() <= 3 && !is_part
    };
    let mut continuations: Vec<(&str, SlotId, [TemplatePiece; 2])> = Vec::new();
    for other in function.exemplars.iter().filter(|other| speaks(other)) {
        for three in other.pieces.windows(3) {
            if let [
                TemplatePiece::Slot { .. },
                text @ TemplatePiece::Text(words),
                more @ TemplatePiece::Slot { slot: Some(slot), .. },
            ] = three
                && !own.contains(slot)
                && adds(words)
            {
                continuations.push((words, *slot, [text.clone(), more.clone()]));
            }
        }
    }
    let is_clear = |(words, slot, _): &&(&str, SlotId, [TemplatePiece; 2])| {
        let is_other = |(said, other, _): &(&str, SlotId, [TemplatePiece; 2])| {
            said.trim() == words.trim() && other != slot && values.are_alike(id, *slot, *other) //
        };
        !continuations.iter().any(is_other)
    };
    let clear: Vec<&(&str, SlotId, [TemplatePiece; 2])> = continuations.iter().filter(is_clear).collect();
    let (_, _, chosen) = clear.get(random.usize(..clear.len().max(1)))?;
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

    /// A module of one function with these text slots and exemplars.
    fn module_of(slots: &Value, exemplars: &Value) -> Module {
        let directory = tempfile::tempdir().expect("a directory");
        let parameters = json!({"type": "object", "properties": slots});
        let schema = json!([{"name": "f", "description": "Do it", "parameters": parameters}]);
        std::fs::write(directory.path().join("schema.json"), schema.to_string()).expect("written");
        std::fs::write(directory.path().join("exemplars.json"), json!({"f": exemplars}).to_string()).expect("written");
        let name = crate::module::ModuleName::new("test").expect("a name");
        crate::module::load(directory.path(), name, &crate::module::Limits::default()).expect("it loads")
    }

    #[test]
    fn days_are_said_in_their_order() {
        let day = json!({"type": "string", "format": "date"});
        let module = module_of(&json!({"start": day, "end": day, "seen": day}), &json!(["from <start> to <end>"]));
        let runs_back = |days: [(usize, &str); 2]| {
            let mut sentence = FilledSentence::default();
            for (slot, day) in days {
                let slot = SlotId::from_index(slot);
                sentence.say(SlotPhrase { slot, text: day.to_owned(), value: json!(day), keeps_case: false });
            }
            sentence.runs_back(&module, module.function(FunctionId::from_index(0)))
        };
        let (start, end, seen) = (0, 1, 2);
        assert!(runs_back([(start, "2026-12-05"), (end, "2026-03-14")]));
        assert!(!runs_back([(start, "2026-03-14"), (end, "2026-12-05")]));
        assert!(!runs_back([(start, "two"), (end, "one")]));
        // "From Friday to Friday" is a week; "until March from December" ends a year later.
        assert!(runs_back([(start, "2026-03-06"), (end, "2026-03-06")]));
        assert!(!runs_back([(start, "2026-03-06"), (seen, "2026-03-06")]));
        assert!(runs_back([(end, "2026-03-14"), (start, "2026-12-05")]));
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

    #[test]
    fn a_slot_is_added_only_where_its_words_add_it() {
        let text = json!({"type": "string"});
        let slots = json!({
            "guests": {"type": "integer"}, "hours": {"type": "integer"}, "note": text, "old_city": text,
            "new_city": text, "street": text, "thing": text});
        let exemplars = json!([
            "food for <guests> guests, <hours> hours",
            "from <street> in <old_city>",
            "to <street> in <new_city>",
            "take <thing> to <street>",
            "the <thing>",
            "note: <note>"
        ]);
        let module = module_of(&slots, &exemplars);
        let now = "2026-03-02T09:00:00[UTC]".parse().expect("a moment");
        let values = Values::new(&module, crate::recognize::Context { now }).expect("it compiles");
        let id = FunctionId::from_index(0);
        let function = module.function(id);
        let mut random = fastrand::Rng::with_seed(1);
        let mut added = |template: usize| -> std::collections::BTreeSet<String> {
            let exemplar = &function.exemplars[template];
            let pieces = (0..40).filter_map(|_| combined(function, id, &values, exemplar, &mut random));
            let words = pieces.map(|pieces| match &pieces[pieces.len() - 2] {
                TemplatePiece::Text(words) => words.clone(),
                TemplatePiece::Slot { .. } => String::new(),
            });
            words.collect()
        };
        // "In" leads to either city, "guests," belongs to their number.
        assert_eq!(added(4), [" to ".to_owned()].into());
        // Words after a sentence would belong to it.
        assert_eq!(added(5), [].into());
    }
}
