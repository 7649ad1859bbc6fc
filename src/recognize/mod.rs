//! Finds the entities in an utterance: lists, patterns, and the built-ins. Pure: the time of the turn comes as a value.
//!
//! One file per kind. The built-ins share one `Scan` of the utterance, with a lexicon of the module's language,
//! which is compiled once. Only what the module uses is computed.
//!
//! Scores are comparable within one recognizer: 1 is certain. A number that lies within a longer mention keeps its place
//! and loses score: at most 0.4 in a date, time, phone number, email or URL ("3" of "March 3rd"), at most 0.7 in an
//! amount of money or a percentage (a slot may well want the bare amount), nothing in a duration ("three days").

use jiff::Zoned;
use serde::Serialize;
use serde_json::Value;

use self::{
    contact::{Contact, Contacts},
    lexicon::{Lexicon, Negating, Sense},
    list::Lists,
    pattern::{Haystack, Patterns},
    scan::{Found, Scan},
};
use crate::{
    module::{Builtin, Module, RecognizerId, RecognizerKind},
    text::{Span, Utterance},
};

pub mod acts;
mod boolean;
mod contact;
mod date;
mod duration;
mod fuzzy;
mod lexicon;
mod list;
mod money;
mod negation;
mod number;
mod pattern;
pub mod reply;
mod scan;
mod time;
pub(crate) mod tokens;

pub use negation::{Negation, NegationKind};

/// A span that a recognizer found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mention {
    pub recognizer: RecognizerId,
    pub span: Span,
    /// The utterance under `span`, verbatim.
    pub text: String,
    /// The canonical value: a list's label, or what [`crate::module::Builtin`] documents.
    pub value: Value,
    /// 0 to 1: 1 for an exact match, less for inflected and fuzzy ones and for readings that could be another.
    pub score: f32,
}

/// What a recognizer may know beside the utterance.
#[derive(Debug, Clone)]
pub struct Context {
    /// The moment and time zone in which "tomorrow" is read.
    pub now: Zoned,
}

#[derive(Debug, thiserror::Error)]
pub enum RecognizeError {
    #[error("recognizer `{recognizer}`: pattern {index} does not compile: {source}")]
    Pattern { recognizer: String, index: usize, source: Box<regex::Error> },
    #[error("the lists of this module do not compile: {0}")]
    List(String),
}

/// Most that a number scores within a date, time, phone number, email or URL.
const WITHIN_ANOTHER: f32 = 0.4;
/// Most that a number scores within an amount of money or a percentage.
const WITHIN_AMOUNT: f32 = 0.7;

/// All recognizers of a module, compiled once.
#[derive(Debug)]
pub struct Recognizers {
    lists: Lists,
    patterns: Vec<(RecognizerId, Patterns)>,
    builtins: Option<Builtins>,
    negating: Negating,
}

#[derive(Debug)]
struct Builtins {
    lexicon: Lexicon,
    contacts: Contacts,
    /// The recognizers of each built-in, in the order of [`Builtin::ALL`].
    used: Vec<(Builtin, Vec<RecognizerId>)>,
}

impl Recognizers {
    /// Reads the module's language (`en` if it has none) for numbers, dates and the country of phone numbers.
    ///
    /// # Errors
    /// If a pattern or a list does not compile (the module's checks refuse these before).
    pub fn compile(module: &Module) -> Result<Self, RecognizeError> {
        let recognizers =
            || module.recognizers.iter().enumerate().map(|(index, one)| (RecognizerId::from_index(index), one));
        let lists = Lists::compile(recognizers().filter_map(|(id, recognizer)| match &recognizer.kind {
            RecognizerKind::List(spec) => Some((id, spec)),
            RecognizerKind::Pattern(_) | RecognizerKind::Builtin(_) => None,
        }))?;
        let mut patterns = Vec::new();
        for (id, recognizer) in recognizers() {
            if let RecognizerKind::Pattern(spec) = &recognizer.kind {
                patterns.push((id, Patterns::compile(&recognizer.name, spec)?));
            }
        }
        let used: Vec<(Builtin, Vec<RecognizerId>)> = Builtin::ALL
            .into_iter()
            .map(|builtin| {
                let ids = recognizers()
                    .filter(|(_, one)| matches!(one.kind, RecognizerKind::Builtin(kind) if kind == builtin));
                (builtin, ids.map(|(id, _)| id).collect::<Vec<_>>())
            })
            .filter(|(_, ids)| !ids.is_empty())
            .collect();
        let language = module.settings.language.as_deref().unwrap_or("en");
        let builtins = (!used.is_empty()).then(|| {
            let lexicon = Lexicon::for_language(language);
            let contacts = Contacts::new(&lexicon.region);
            Builtins { lexicon, contacts, used }
        });
        Ok(Self { lists, patterns, builtins, negating: Negating::for_language(language) })
    }

    /// Every mention, by start, then longest first. Overlapping mentions of *different* recognizers are all kept;
    /// of one recognizer only the longest, leftmost. The exception: an expression that several labels of one list share
    /// gives one mention for each label, at the same span.
    #[must_use]
    pub fn recognize(&self, utterance: &Utterance, context: &Context) -> Vec<Mention> {
        let mut mentions = Vec::new();
        let mention = |recognizer, span, value, score| Mention {
            recognizer,
            span,
            text: utterance.slice(span).to_owned(),
            value,
            score,
        };
        for found in self.lists.matches(utterance) {
            mentions.push(mention(found.recognizer, found.span, found.value.clone(), found.score));
        }
        // The same places: a value is written in the usual width, what was said stays as it is.
        let plain = utterance.half_width();
        if !self.patterns.is_empty() {
            let haystack = Haystack::new(&plain);
            for (recognizer, patterns) in &self.patterns {
                for bytes in patterns.matches(&haystack) {
                    let value = Value::from(&plain.text()[bytes.clone()]);
                    mentions.push(mention(*recognizer, plain.span_of_bytes(bytes), value, 1.0));
                }
            }
        }
        if let Some(builtins) = &self.builtins {
            for (builtin, readings) in builtins.read(&plain, context) {
                let Some((_, recognizers)) = builtins.used.iter().find(|(used, _)| *used == builtin) else { continue };
                for reading in readings {
                    mentions.extend(
                        recognizers.iter().map(|id| mention(*id, reading.span, reading.value.clone(), reading.score)),
                    );
                }
            }
        }
        leftmost_longest(&mut mentions);
        mentions
    }

    /// What the utterance rules out, in order; scopes do not overlap. `mentions` are what [`Self::recognize`] found: a
    /// cue within a longer one is a part of its name.
    #[must_use]
    pub fn negations(&self, utterance: &Utterance, mentions: &[Mention]) -> Vec<Negation> {
        negation::find(utterance, &self.negating, mentions)
    }
}

/// Sorts, and drops of each recognizer what overlaps an earlier or longer mention of it.
fn leftmost_longest(mentions: &mut Vec<Mention>) {
    mentions.sort_by(|a, b| {
        (a.span.start, b.span.end, a.recognizer)
            .cmp(&(b.span.start, a.span.end, b.recognizer))
            .then(b.score.total_cmp(&a.score))
    });
    let mut covered: Vec<Span> = Vec::new();
    mentions.retain(|mention| {
        let index = mention.recognizer.index();
        if covered.len() <= index {
            covered.resize(index + 1, Span::new(0, 0));
        }
        let keep = mention.span.start >= covered[index].end || mention.span == covered[index];
        if keep {
            covered[index] = mention.span;
        }
        keep
    });
}

/// What a built-in read.
#[derive(Debug)]
struct Reading {
    span: Span,
    value: Value,
    score: f32,
}

impl Builtins {
    fn uses(&self, builtin: Builtin) -> bool {
        self.used.iter().any(|(used, _)| *used == builtin)
    }

    /// The readings of every built-in that is used, and of those that say whether a number is one.
    fn read(&self, utterance: &Utterance, context: &Context) -> Vec<(Builtin, Vec<Reading>)> {
        let scan = Scan::new(utterance, &self.lexicon);
        let numeric = [Builtin::Integer, Builtin::Number, Builtin::Ordinal, Builtin::Money, Builtin::Percent];
        // "half a cup" and "a dollar" have an amount, too.
        let has_amount = || {
            scan.numbers.iter().any(Option::is_some)
                || scan.mentions(|sense| matches!(sense, Sense::Half | Sense::Currency { .. } | Sense::Final))
        };
        let judges_numbers = numeric.into_iter().any(|builtin| self.uses(builtin)) && has_amount();
        let wants = |builtin: Builtin| self.uses(builtin) || judges_numbers;
        let now = &context.now;
        let mut read: Vec<(Builtin, Vec<Reading>)> = Vec::with_capacity(Builtin::ALL.len());
        let mut add = |builtin, readings: Vec<Reading>| read.push((builtin, readings));
        if wants(Builtin::Date) {
            add(Builtin::Date, readings(&scan, date::dates(&scan, now), |date| Some(date.to_string().into())));
        }
        if wants(Builtin::Time) {
            add(
                Builtin::Time,
                readings(&scan, time::times(&scan), |time| Some(time.strftime("%H:%M:%S").to_string().into())),
            );
        }
        if wants(Builtin::DateTime) {
            let iso = |moment: jiff::civil::DateTime| Some(moment.strftime("%Y-%m-%dT%H:%M:%S").to_string().into());
            add(Builtin::DateTime, readings(&scan, date::datetimes(&scan, now), iso));
        }
        if wants(Builtin::Email) {
            add(Builtin::Email, contacts(utterance, self.contacts.emails(utterance)));
        }
        if wants(Builtin::Url) {
            add(Builtin::Url, contacts(utterance, self.contacts.urls(utterance)));
        }
        if wants(Builtin::Phone) {
            add(Builtin::Phone, contacts(utterance, self.contacts.phones(utterance)));
        }
        if self.uses(Builtin::Duration) {
            add(
                Builtin::Duration,
                readings(&scan, duration::durations(&scan), |length| Some(length.canonical().into())),
            );
        }
        if self.uses(Builtin::Boolean) {
            add(Builtin::Boolean, readings(&scan, boolean::booleans(&scan), |value| Some(value.into())));
        }
        if judges_numbers {
            let is_another = |builtin: Builtin| !matches!(builtin, Builtin::Duration | Builtin::Boolean);
            let elsewhere =
                Cover::new(read.iter().filter(|(builtin, _)| is_another(*builtin)).flat_map(|(_, found)| found));
            let amounts = readings(&scan, money::amounts(&scan), money::Money::to_json);
            let percentages = readings(&scan, number::percentages(&scan), Some);
            let quantities = Cover::new(amounts.iter().chain(&percentages));
            let damped = |mut readings: Vec<Reading>| {
                for reading in &mut readings {
                    if elsewhere.has_longer(reading.span) {
                        reading.score = reading.score.min(WITHIN_ANOTHER);
                    } else if quantities.has_longer(reading.span) {
                        reading.score = reading.score.min(WITHIN_AMOUNT);
                    }
                }
                readings
            };
            let mut money = readings(&scan, money::bare(&scan), money::Money::to_json);
            money.retain(|bare| !elsewhere.has_longer(bare.span) && !quantities.covers(bare.span));
            money.extend(amounts);
            read.push((Builtin::Integer, damped(readings(&scan, number::integers(&scan), |value| Some(value.into())))));
            read.push((Builtin::Number, damped(readings(&scan, number::decimals_and_integers(&scan), Some))));
            read.push((Builtin::Money, money));
            read.push((Builtin::Percent, percentages));
        }
        if self.uses(Builtin::Ordinal) {
            // "the 2nd" may be a date, but rarely is where ranks are asked for.
            let dates = read.iter().filter(|(builtin, _)| *builtin == Builtin::Date).flat_map(|(_, dates)| dates);
            let elsewhere = Cover::new(dates.filter(|date| date.score >= 0.8));
            let mut ordinals = readings(&scan, number::ordinals(&scan), |rank| Some(rank.into()));
            for ordinal in &mut ordinals {
                if elsewhere.has_longer(ordinal.span) {
                    ordinal.score = ordinal.score.min(WITHIN_ANOTHER);
                }
            }
            read.push((Builtin::Ordinal, ordinals));
        }
        read
    }
}

fn readings<T>(scan: &Scan<'_>, found: Vec<Found<T>>, canonical: impl Fn(T) -> Option<Value>) -> Vec<Reading> {
    found
        .into_iter()
        .filter_map(|found| {
            let span = scan.span(found.start, found.end)?;
            Some(Reading { span, value: canonical(found.value)?, score: found.score })
        })
        .collect()
}

fn contacts(utterance: &Utterance, found: Vec<Contact>) -> Vec<Reading> {
    found
        .into_iter()
        .map(|contact| Reading {
            span: utterance.span_of_bytes(contact.bytes),
            value: contact.value.into(),
            score: contact.score,
        })
        .collect()
}

/// Spans that say of a number within them that it is part of something else.
struct Cover {
    /// By start, each with the furthest end of all up to it.
    reach: Vec<(Span, usize)>,
}

impl Cover {
    /// A mere guess says nothing.
    fn new<'r>(readings: impl Iterator<Item = &'r Reading>) -> Self {
        let mut spans: Vec<Span> =
            readings.filter(|reading| reading.score >= 0.5).map(|reading| reading.span).collect();
        spans.sort_unstable();
        let mut furthest = 0;
        let reach = spans
            .into_iter()
            .map(|span| {
                furthest = furthest.max(span.end);
                (span, furthest)
            })
            .collect();
        Self { reach }
    }

    /// True if `span` lies within one of the spans.
    fn covers(&self, span: Span) -> bool {
        let upto = self.reach.partition_point(|(other, _)| other.start <= span.start);
        upto > 0 && self.reach[upto - 1].1 >= span.end
    }

    /// True if `span` lies within a span that is longer.
    fn has_longer(&self, span: Span) -> bool {
        let before = self.reach.partition_point(|(other, _)| other.start < span.start);
        let upto = self.reach.partition_point(|(other, _)| other.start <= span.start);
        (before > 0 && self.reach[before - 1].1 >= span.end)
            || self.reach[before..upto].iter().any(|(other, _)| other.end > span.end)
    }
}

#[cfg(test)]
mod tests;
