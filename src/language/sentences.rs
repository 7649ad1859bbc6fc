//! All sentences that Uptake says itself, with places to fill in.
//!
//! Sentences are written for each language and not translated word for word. Names of slots and functions come from
//! schemas: they stand in quotes, or in a place that needs neither an article nor an ending.

use serde::Deserialize;

use super::{PackError, grammar::Grammar};

/// A text with places like `{name}`.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct SentenceTemplate(String);

impl SentenceTemplate {
    /// The text with `values` in its places. Places within a value are not filled.
    #[must_use]
    pub fn fill(&self, values: &[(&str, &str)]) -> String {
        let mut filled = String::with_capacity(self.0.len() + 32);
        let mut rest = self.0.as_str();
        while let Some((before, place, behind)) = split_place(rest) {
            filled.push_str(before);
            match values.iter().find(|(name, _)| *name == place) {
                Some((_, value)) => filled.push_str(value),
                None => filled.extend(["{", place, "}"]),
            }
            rest = behind;
        }
        filled.push_str(rest);
        filled
    }

    /// The names of its places, in order.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        let mut rest = self.0.as_str();
        std::iter::from_fn(move || {
            let (_, place, behind) = split_place(rest)?;
            rest = behind;
            Some(place)
        })
    }
}

/// The text before the next place, its name, and the text behind it.
fn split_place(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (place, behind) = rest.split_once('}')?;
    Some((before, place, behind))
}

/// The sentences of one language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sentences {
    /// The text between two sentences.
    pub gap: String,
    /// Whether a summary keeps its capital within a sentence, as in languages that capitalize nouns.
    pub keeps_capitals: bool,
    pub yes: String,
    pub no: String,
    /// The word for an empty list.
    pub none: String,
    pub today: String,
    pub now: String,
    /// A slot in a sentence: "the size".
    pub slot: SentenceTemplate,
    /// A value with its name: "size 9".
    pub fact: SentenceTemplate,
    /// A thing with its known values: "margherita (size large)".
    pub thing: SentenceTemplate,
    /// One of several things with the same name.
    pub numbered: SentenceTemplate,
    pub list: ListSeparators,
    pub ask: Ask,
    pub refused: Refused,
    pub wanted: RequirementSentences,
    pub format: Formats,
    pub rule: RuleSentences,
    pub moved: ShiftedMoment,
    pub confirm: Confirm,
    pub repeat: Repeat,
    pub tie: Tie,
    pub news: News,
    pub remark: Remarks,
    pub summary: Summary,
    pub grammar: Grammar,
}

/// The text between the items of a list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListSeparators {
    pub between: String,
    pub facts: String,
    pub and: Join,
    pub or: Join,
}

/// The text before the last item of a list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Join {
    pub last: String,
    /// Another text before certain sounds: "e" for "y" in "agujas e hilo".
    pub variant: Option<Variant>,
}

/// Another form of a word that depends on how the next word begins.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    pub last: String,
    /// Beginnings of the next word, in lower case.
    pub before: Vec<String>,
    /// Exceptions among these beginnings.
    #[serde(default)]
    pub unless: Vec<String>,
    /// Whole words that also have the sound.
    #[serde(default)]
    pub before_whole: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// The question for one value; `choices` may be empty.
    pub plain: SentenceTemplate,
    /// The same if the name is a plural, and if it is a count.
    pub plural: SentenceTemplate,
    pub how_many: SentenceTemplate,
    /// The question whether something is so.
    pub truth: SentenceTemplate,
    /// The question if the description names the wanted thing, and if it is an indirect question.
    pub thing: SentenceTemplate,
    pub indirect: SentenceTemplate,
    /// A question with a description of the name.
    pub described: SentenceTemplate,
    /// The same if the name says nothing by itself: "to".
    pub bare: SentenceTemplate,
    pub bare_described: SentenceTemplate,
    /// The choices that a question lists.
    pub choices: SentenceTemplate,
    /// The question for several values.
    pub several: SentenceTemplate,
    /// The same for parts of one thing.
    pub several_of: SentenceTemplate,
    /// A name with its choices.
    pub with_choices: SentenceTemplate,
    /// A question about this thing.
    pub about: SentenceTemplate,
    /// A question that was asked once before, and more than once.
    pub again: SentenceTemplate,
    pub once_more: SentenceTemplate,
    /// A question for a value that the person wanted to leave out.
    pub needed: SentenceTemplate,
    /// Says what a value is needed for.
    pub why: SentenceTemplate,
    pub why_described: SentenceTemplate,
    /// The corrected values, before the next question.
    pub corrected: SentenceTemplate,
    /// Says why a yes is needed.
    pub yes_needed: String,
    /// Asks which of several values was meant.
    pub which: SentenceTemplate,
    /// Asks which half of the day a time lies in.
    pub morning_or_afternoon: SentenceTemplate,
    pub morning_or_evening: SentenceTemplate,
}

/// Says why a value is not accepted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    pub value: SentenceTemplate,
    /// The same if the value must not be repeated.
    pub hidden: SentenceTemplate,
}

/// What a value would have to be.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequirementSentences {
    pub choice: SentenceTemplate,
    pub whole_number: String,
    pub number: String,
    pub yes_or_no: String,
    pub text: String,
    pub at_least: SentenceTemplate,
    pub at_most: SentenceTemplate,
    pub between: SentenceTemplate,
    pub more_than: SentenceTemplate,
    pub less_than: SentenceTemplate,
    pub multiple_of: SentenceTemplate,
    pub not_shorter: SentenceTemplate,
    pub not_longer: SentenceTemplate,
    pub other_form: String,
    /// The validator's reason, which is English; other languages use a general phrase.
    pub other: SentenceTemplate,
}

/// Values of the formats of JSON Schema.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Formats {
    pub date: String,
    pub time: String,
    pub date_time: String,
    pub duration: String,
    pub email: String,
    pub phone: String,
    pub url: String,
}

/// The required relation of two values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSentences {
    pub sentence: SentenceTemplate,
    pub equal: SentenceTemplate,
    pub not_equal: SentenceTemplate,
    pub time: Order,
    pub amount: Order,
}

/// The relation of one value to another.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    pub less: SentenceTemplate,
    pub at_most: SentenceTemplate,
    pub at_least: SentenceTemplate,
    pub greater: SentenceTemplate,
}

/// A moment plus or minus a length of time.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShiftedMoment {
    pub text: SentenceTemplate,
    pub back: String,
    pub forth: String,
    /// The amounts that take the singular.
    pub singular: Vec<u64>,
    /// The singular and the plural of each unit.
    pub minute: [String; 2],
    pub hour: [String; 2],
    pub day: [String; 2],
    pub week: [String; 2],
    pub month: [String; 2],
    pub year: [String; 2],
}

/// Asks for a yes to what will be done.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confirm {
    /// With the name of the function.
    pub plain: SentenceTemplate,
    pub details: SentenceTemplate,
    /// With its action, in words that can follow "shall I".
    pub deed: SentenceTemplate,
    pub deed_details: SentenceTemplate,
    /// Asks what is to be changed, after a no.
    pub change: String,
}

/// Says what was done already, and asks whether to do more.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    pub done: SentenceTemplate,
    /// Asks whether to do this as well.
    pub also: SentenceTemplate,
    /// Asks whether to do exactly the same again.
    pub once_more: String,
    /// Says that nothing more is done, after a no.
    pub left: String,
}

/// Asks which of several functions is meant.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tie {
    pub text: SentenceTemplate,
    pub between: String,
    pub with: SentenceTemplate,
    pub without: SentenceTemplate,
}

/// Reports what happened.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct News {
    pub cancelled: SentenceTemplate,
    pub restarted: String,
    /// Says that a human takes over: after too many tries, and because the person asked for one.
    pub hand_off: String,
    pub hand_over: String,
    /// Asks whether a human is to take over.
    pub offer: String,
    /// To a request that is repeated although only a yes is missing.
    pub not_done: String,
    /// For the first, the second and the third time.
    pub not_understood: [String; 3],
    /// A text that is repeated for the third time in a row.
    pub again: SentenceTemplate,
    /// Replaces a long text that was just said: by its last sentence, which asks; else by a text for questions, or by
    /// one for all other texts.
    pub still_asked: SentenceTemplate,
    pub answer_needed: String,
    pub told_before: String,
}

/// The texts for turns without a question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remarks {
    pub greeting: String,
    pub thanks: String,
    pub farewell: String,
    /// The reply to "ok" or "great" alone.
    pub acknowledged: String,
    /// The reply to a person who needs time.
    pub waiting: String,
    pub apology: String,
    pub complaint: String,
    /// Before a list of what can be asked for.
    pub abilities: String,
    /// The reply to a cancellation when nothing is open.
    pub nothing_open: String,
    /// For the first time, and for the second.
    pub out_of_scope: [String; 2],
    /// The list of what can be asked for, if it is short.
    pub able: SentenceTemplate,
    /// Says what was understood but is not called.
    pub understood: SentenceTemplate,
    /// A call without a result to report; the second text is for a function without a usable description.
    pub done: SentenceTemplate,
    pub done_plain: String,
    /// A call that found nothing.
    pub nothing_found: String,
    /// The person, or the client for them, did not allow the call.
    pub declined: String,
    /// A call that failed; `reason` ends like a sentence.
    pub failed: SentenceTemplate,
    /// A reason: the service did not answer, or its answer cannot be shown to a person.
    pub unavailable: String,
    /// A call that may or may not have been carried out.
    pub uncertain: SentenceTemplate,
}

/// The lines of a summary about an open function.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    pub known: SentenceTemplate,
    pub missing: SentenceTemplate,
    pub not_valid: SentenceTemplate,
    /// Everything is known, and the person has to say yes.
    pub unconfirmed: String,
    /// Replaces a value that is not shown.
    pub given: String,
}

impl Sentences {
    pub(super) fn parse(text: &str) -> Result<Self, PackError> {
        Ok(toml::from_str(text)?)
    }

    /// Two sentences, one after the other.
    #[must_use]
    pub fn then(&self, first: &str, second: &str) -> String {
        // Latin text is followed by a space in any language.
        let gap = if first.ends_with(|last: char| last.is_ascii()) { " " } else { self.gap.as_str() };
        format!("{first}{gap}{second}")
    }

    /// "a", "a and b", "a, b and c".
    #[must_use]
    pub fn and(&self, of: &[String]) -> String {
        self.list.and.joined(of, &self.list.between)
    }

    /// "a", "a or b", "a, b or c".
    #[must_use]
    pub fn or(&self, of: &[String]) -> String {
        self.list.or.joined(of, &self.list.between)
    }
}

impl Join {
    fn joined(&self, of: &[String], between: &str) -> String {
        match of {
            [] => String::new(),
            [one] => one.clone(),
            [most @ .., end] => format!("{}{}{end}", most.join(between), self.before(end)),
        }
    }

    fn before(&self, next: &str) -> &str {
        let variant = self.variant.as_ref().filter(|variant| variant.fits(&next.to_lowercase()));
        variant.map_or(&self.last, |variant| &variant.last)
    }
}

impl Variant {
    fn fits(&self, next: &str) -> bool {
        let begins = |beginnings: &[String]| beginnings.iter().any(|beginning| next.starts_with(beginning.as_str()));
        begins(&self.before) && !begins(&self.unless) || self.before_whole.iter().any(|whole| whole == next)
    }
}

#[cfg(test)]
mod tests {
    use crate::language::{Language, sentences::*};

    #[test]
    fn places_are_filled_once() {
        let template = SentenceTemplate("{a} and {b}, {a}; {c} {".to_owned());
        assert_eq!(template.fill(&[("a", "{b}"), ("b", "2")]), "{b} and 2, {b}; {c} {");
        assert_eq!(template.places().collect::<Vec<_>>(), ["a", "b", "a", "c"]);
    }

    #[test]
    fn conjunctions_follow_the_sound_of_the_next_word() {
        let spanish = &Language::of("es").expect("a pack").sentences;
        let of = |last: &str| ["plata".to_owned(), last.to_owned()];
        for (last, and, or) in [
            ("oro", "plata y oro", "plata u oro"),
            ("hilo", "plata e hilo", "plata o hilo"),
            ("hielo", "plata y hielo", "plata o hielo"),
            ("8", "plata y 8", "plata u 8"),
            ("11", "plata y 11", "plata u 11"),
            ("1", "plata y 1", "plata o 1"),
        ] {
            assert_eq!((spanish.and(&of(last)).as_str(), spanish.or(&of(last)).as_str()), (and, or));
        }
    }
}
