//! Everything that Uptake itself says, as sentences with places to fill in.
//!
//! Sentences are written for their language and not translated word for word. Names of slots and functions come from
//! schemas: they stand in quotes, or where a sentence needs neither an article nor an ending for them.

use serde::Deserialize;

use super::{PackError, grammar::Grammar};

/// A text with places like `{name}`.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct Template(String);

impl Template {
    /// The text with `values` in their places. A value is never read for places itself.
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
    /// Between two sentences.
    pub gap: String,
    /// Whether a summary keeps its capital within a sentence, as nouns do.
    pub keeps_capitals: bool,
    pub yes: String,
    pub no: String,
    /// How many there are of something, where there is nothing.
    pub none: String,
    pub today: String,
    pub now: String,
    /// A slot in a sentence: "the size".
    pub slot: Template,
    /// A value with its name: "size 9".
    pub fact: Template,
    /// A thing with what is known of it: "margherita (size large)".
    pub thing: Template,
    /// One of several things that have the same name.
    pub numbered: Template,
    pub list: Lists,
    pub ask: Ask,
    pub refused: Refused,
    pub wanted: Wanted,
    pub format: Formats,
    pub rule: Rule,
    pub moved: Moved,
    pub confirm: Confirm,
    pub repeat: Repeat,
    pub tie: Tie,
    pub news: News,
    pub remark: Remarks,
    pub summary: Summary,
    pub grammar: Grammar,
}

/// What stands between the items of a list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lists {
    pub between: String,
    pub facts: String,
    pub and: Join,
    pub or: Join,
}

/// What stands before the last item of a list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Join {
    pub last: String,
    /// Said instead where the last item sounds so: "e" for "y" in "agujas e hilo".
    pub variant: Option<Variant>,
}

/// Another form of a word, by how the next one begins.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    pub last: String,
    /// Beginnings of the next word, in lower case.
    pub before: Vec<String>,
    /// Beginnings that only look like one of those.
    #[serde(default)]
    pub unless: Vec<String>,
    /// Whole words that sound so.
    #[serde(default)]
    pub before_whole: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// The question for one value; `choices` may be empty.
    pub plain: Template,
    /// The same where the name stands for several things, and where it counts them.
    pub plural: Template,
    pub how_many: Template,
    /// Whether something holds.
    pub truth: Template,
    /// Where the description names what is wanted, and where it is an indirect question.
    pub thing: Template,
    pub indirect: Template,
    /// A question with what is said of its name.
    pub described: Template,
    /// The same where the name says nothing by itself: "to".
    pub bare: Template,
    pub bare_described: Template,
    /// Those that a question lists.
    pub choices: Template,
    /// The question for several values.
    pub several: Template,
    /// The same for parts of one thing.
    pub several_of: Template,
    /// A name with the choices that there are for it.
    pub with_choices: Template,
    /// A question that is about this thing.
    pub about: Template,
    /// A question that was asked once before, and more than once.
    pub again: Template,
    pub once_more: Template,
    /// A question for what the person would rather leave out.
    pub needed: Template,
    /// What a value is needed for.
    pub why: Template,
    pub why_described: Template,
    /// What is known otherwise now, before the next question.
    pub corrected: Template,
    /// Why a yes is waited for.
    pub yes_needed: String,
    /// Which of several values was meant.
    pub which: Template,
    /// In which half of the day a time lies.
    pub morning_or_afternoon: Template,
    pub morning_or_evening: Template,
}

/// Why a value is not taken.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    pub value: Template,
    /// Where the value must not be repeated.
    pub hidden: Template,
}

/// What a value would have to be.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    pub choice: Template,
    pub whole_number: String,
    pub number: String,
    pub yes_or_no: String,
    pub text: String,
    pub at_least: Template,
    pub at_most: Template,
    pub between: Template,
    pub more_than: Template,
    pub less_than: Template,
    pub multiple_of: Template,
    pub not_shorter: Template,
    pub not_longer: Template,
    pub other_form: String,
    /// The validator's reason, which is English; other languages say something general.
    pub other: Template,
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

/// What has to hold between two values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub sentence: Template,
    pub equal: Template,
    pub not_equal: Template,
    pub time: Order,
    pub amount: Order,
}

/// How one value lies to another.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    pub less: Template,
    pub at_most: Template,
    pub at_least: Template,
    pub greater: Template,
}

/// A moment moved by a length of time.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    pub text: Template,
    pub back: String,
    pub forth: String,
    /// The amounts that take the singular.
    pub singular: Vec<u64>,
    /// Its singular and its plural, and so on.
    pub minute: [String; 2],
    pub hour: [String; 2],
    pub day: [String; 2],
    pub week: [String; 2],
    pub month: [String; 2],
    pub year: [String; 2],
}

/// What will be done, for a yes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confirm {
    /// By what the function is called.
    pub plain: Template,
    pub details: Template,
    /// By what it does, in words that can stand behind "shall I".
    pub deed: Template,
    pub deed_details: Template,
    /// What is to be changed, after a no.
    pub change: String,
}

/// What was done already, and whether to do more.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    pub done: Template,
    /// Whether to do this as well.
    pub also: Template,
    /// Whether to do the very same again.
    pub once_more: String,
    /// After a no.
    pub left: String,
}

/// Which of several functions is meant.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tie {
    pub text: Template,
    pub between: String,
    pub with: Template,
    pub without: Template,
}

/// What happened.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct News {
    pub cancelled: Template,
    pub restarted: String,
    /// A person takes over after too many tries, and where the person asked for one.
    pub hand_off: String,
    pub hand_over: String,
    /// Whether a person is to take over.
    pub offer: String,
    /// The first time, the second, the third.
    pub not_understood: [String; 3],
    /// What was said twice in a row and is said once more.
    pub again: Template,
    /// In place of a long text that was just said: by its last sentence, which asks; else to a question, and to anything
    /// else.
    pub still_asked: Template,
    pub answer_needed: String,
    pub told_before: String,
}

/// What is said where nothing is asked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remarks {
    pub greeting: String,
    pub thanks: String,
    pub farewell: String,
    /// After "ok" and "great" alone.
    pub acknowledged: String,
    /// To somebody who needs time.
    pub waiting: String,
    pub apology: String,
    pub complaint: String,
    /// Before a list of what can be asked for.
    pub abilities: String,
    /// Somebody cancels where nothing is open.
    pub nothing_open: String,
    /// The first time, and the second.
    pub out_of_scope: [String; 2],
    /// What can be asked for, where that is little.
    pub able: Template,
    /// What was understood and is not called.
    pub understood: Template,
    /// A call that came to nothing which could be told; and of a function that no description tells of.
    pub done: Template,
    pub done_plain: String,
    /// A call that found nothing.
    pub nothing_found: String,
    /// The person, or the client for them, let nothing be done.
    pub declined: String,
    /// `reason` ends as a sentence does.
    pub failed: Template,
    /// A reason: the service that does it gives no answer, or none that a person could be told.
    pub unavailable: String,
    /// Of a call of which nobody knows whether it was carried out.
    pub uncertain: Template,
}

/// What is told of a function that is open.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    pub known: Template,
    pub missing: Template,
    pub not_valid: Template,
    /// Everything is known, and a yes is waited for.
    pub unconfirmed: String,
    /// In place of a value that is not shown.
    pub given: String,
}

impl Sentences {
    pub(super) fn parse(text: &str) -> Result<Self, PackError> {
        Ok(toml::from_str(text)?)
    }

    /// One sentence after another.
    #[must_use]
    pub fn then(&self, first: &str, second: &str) -> String {
        // Words of another script are followed by a space.
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
        let template = Template("{a} and {b}, {a}; {c} {".to_owned());
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
