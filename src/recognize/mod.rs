//! Finds the entities in an utterance: lists, patterns, and the built-ins. Pure: the time of the turn comes as a value.
//!
//! One file per kind. The built-ins share one `Scan` of the utterance, with a lexicon of the module's language,
//! which is compiled once. Only what the module uses is computed.
//!
//! Scores are comparable within one recognizer: 1 is certain. A number inside a phone number, an email, a URL or an
//! account number is not a separate mention. Inside another longer mention it stays but loses score: at most 0.4 in a
//! date or time ("3" of "March 3rd"), at most 0.7 in an amount of money or a percentage (a slot may well want the bare
//! amount), and it loses nothing in a duration ("three days").
//!
//! A slot may want a built-in read in a special way ([`SlotReading`]): that is a separate recognizer.

use std::{collections::BTreeSet, ops::Range};

use jiff::Zoned;
use serde::Serialize;
use serde_json::Value;

use self::{
    certainty::Certainty,
    contact::{Contact, Contacts},
    lexicon::{Lexicon, Sense},
    list::{ListMatch, Lists},
    pattern::{Haystack, Patterns},
    reckoning::Reckoning,
    scan::Scan,
    senses::TokenReading,
    telling::TellingWords,
    unread::Borders,
};
use crate::{
    module::{Builtin, Module, PathStep, RecognizerId, RecognizerKind, Slot, SlotReading},
    probability::EVEN,
    text::{Span, Utterance},
};

pub mod acts;
mod alternatives;
mod boolean;
pub(crate) mod certainty;
mod codes;
mod contact;
mod date;
mod duration;
mod fuzzy;
mod identifier;
mod lexicon;
mod list;
mod measure;
mod moment;
mod money;
mod negation;
mod number;
pub(crate) mod pattern;
mod pieces;
mod reckoning;
pub mod reply;
mod scan;
mod senses;
mod telling;
mod time;
mod unread;
mod value_reader;
pub(crate) use measure::ARTICLE;
pub use negation::{Negation, NegationKind};
pub use unread::Unread;
pub use value_reader::{Moments, Quantity, ValueReader};

/// A span that a recognizer found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mention {
    pub recognizer: RecognizerId,
    pub span: Span,
    /// The utterance under `span`, verbatim.
    pub text: String,
    /// The canonical value: a list's label, or what [`crate::module::Builtin`] documents.
    pub value: Value,
    /// Other values that the same words may mean: "at 6" is in the morning or in the evening, "tea or coffee" is
    /// either. Empty if the words are not ambiguous. Only the person can say which value is meant; `value` is the
    /// likeliest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Value>,
    /// Words beside the value that belong to the same kind of value, but to no reading: the value may be only a part of
    /// what was said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
    /// 0 to 1: 1 for an exact match, less for inflected and fuzzy ones and for ambiguous readings.
    pub score: f32,
}

impl Mention {
    /// Words that mean only this value.
    fn at(utterance: &Utterance, recognizer: RecognizerId, span: Span, value: Value, score: f32) -> Self {
        let text = utterance.slice(span).to_owned();
        Self { recognizer, span, text, value, others: Vec::new(), unread: Vec::new(), score }
    }

    /// False for a mere guess.
    pub(crate) fn is_likely(&self) -> bool {
        self.score >= EVEN
    }

    /// True of a phone number that cannot exist: a digit is wrong, missing or superfluous.
    #[must_use]
    pub fn is_impossible(&self) -> bool {
        let digits = self.value.as_str().map(|value| value.strip_prefix('+').unwrap_or(value));
        let is_phone = digits.is_some_and(|digits| {
            digits.len() >= contact::FEWEST_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit())
        });
        is_phone && self.score <= contact::IMPOSSIBLE.score()
    }
}

/// What a recognizer may know besides the utterance.
#[derive(Debug, Clone)]
pub struct Context {
    /// The moment and time zone from which "tomorrow" is computed.
    pub now: Zoned,
}

#[derive(Debug, thiserror::Error)]
pub enum RecognizeError {
    #[error("recognizer `{recognizer}`: pattern {index} does not compile: {source}")]
    Pattern { recognizer: String, index: usize, source: Box<regex::Error> },
    #[error("the lists of this module do not compile: {0}")]
    List(String),
}

/// The highest certainty of a number within a date or time.
const WITHIN_ANOTHER: Certainty = Certainty::Doubtful;
/// The certainty of text that only has the form of a pattern's value: `pattern`'s bare forms.
pub(crate) const BARE: Certainty = Certainty::Possible;
/// The highest certainty of a number within an amount of money or a percentage.
const WITHIN_AMOUNT: Certainty = Certainty::Likely;

/// All recognizers of a module, compiled once.
#[derive(Debug)]
pub struct Recognizers {
    lists: Lists,
    telling: TellingWords,
    patterns: Vec<(RecognizerId, Patterns)>,
    builtins: Option<Builtins>,
    language: Box<str>,
    /// Recognizers with values of which some slot takes any number.
    several: BTreeSet<RecognizerId>,
}

#[derive(Debug)]
struct Builtins {
    lexicon: Lexicon,
    contacts: Contacts,
    /// The recognizers of each built-in in each way of reading it, in the order of [`Builtin::ALL`].
    used: Vec<(Builtin, SlotReading, Vec<RecognizerId>)>,
}

impl Recognizers {
    /// Reads the module's language (`en` if it has none) for numbers, dates and the country of phone numbers.
    ///
    /// # Errors
    /// If a pattern or a list does not compile (the module's checks refuse these before).
    pub fn compile(module: &Module) -> Result<Self, RecognizeError> {
        let recognizers =
            || module.recognizers.iter().enumerate().map(|(index, one)| (RecognizerId::from_index(index), one));
        let all = || {
            recognizers().filter_map(|(id, recognizer)| match &recognizer.kind {
                RecognizerKind::List(spec) => Some((id, spec)),
                RecognizerKind::Pattern(_) | RecognizerKind::Builtin(_) => None,
            })
        };
        let (lists, telling) = (Lists::compile(all())?, TellingWords::of(all()));
        let mut patterns = Vec::new();
        for (id, recognizer) in recognizers() {
            if let RecognizerKind::Pattern(spec) = &recognizer.kind {
                patterns.push((id, Patterns::compile(&recognizer.name, spec)?));
            }
        }
        // An author may bind a slot to a built-in that the slot needs in a special reading.
        let slots = || module.functions.iter().flat_map(|function| &function.slots);
        let is_bound =
            |id: RecognizerId| slots().next().is_none() || slots().any(|slot| slot.recognizers.contains(&id));
        let mut used: Vec<(Builtin, SlotReading, Vec<RecognizerId>)> = Vec::new();
        for (id, recognizer) in recognizers() {
            let RecognizerKind::Builtin(builtin) = recognizer.kind else { continue };
            match used.iter_mut().find(|(known, reading, _)| (*known, *reading) == (builtin, recognizer.reading)) {
                Some((.., ids)) => ids.push(id),
                None if is_bound(id) => used.push((builtin, recognizer.reading, vec![id])),
                None => {}
            }
        }
        used.sort_by_key(|(builtin, ..)| Builtin::ALL.iter().position(|one| one == builtin));
        let language = module.language();
        let builtins = (!used.is_empty()).then(|| {
            let lexicon = Lexicon::for_language(&module.settings.locale(), module.settings.date_order);
            let contacts = Contacts::new(&lexicon.region);
            Builtins { lexicon, contacts, used }
        });
        let lists_of_scalars = slots().filter(|slot| slot.path.0.last() == Some(&PathStep::Each));
        let several = lists_of_scalars.flat_map(|slot| slot.recognizers.iter().copied()).collect();
        Ok(Self { lists, telling, patterns, builtins, language: language.into(), several })
    }

    /// Every mention, by start, then longest first. Overlapping mentions of *different* recognizers are all kept;
    /// of one recognizer only the longest, leftmost. The exception: an expression that several labels of one list share
    /// gives one mention for each label, at the same span.
    #[must_use]
    pub fn recognize(&self, utterance: &Utterance, context: &Context) -> Vec<Mention> {
        let mut mentions = Vec::new();
        let mention = |recognizer, span, value, score| Mention::at(utterance, recognizer, span, value, score);
        let is_word = |found: &ListMatch<'_>| codes::is_common_word(&self.language, utterance, found.span, found.value);
        for found in self.lists.matches(utterance).into_iter().filter(|found| !is_word(found)) {
            mentions.push(mention(found.recognizer, found.span, found.value.clone(), found.score));
        }
        // The positions are the same: the value is in the usual width, and the text stays as it was said.
        let plain = utterance.half_width();
        if !self.patterns.is_empty() {
            let haystack = Haystack::new(&plain);
            for (recognizer, patterns) in &self.patterns {
                let matched = patterns.matches(&haystack);
                let bare = patterns.bare(&haystack, &matched).into_iter().map(|range| (range, BARE));
                let matched = matched.into_iter().map(|range| (range, Certainty::WrittenOut));
                for (bytes, certainty) in matched.chain(bare) {
                    let value = Value::from(&plain.text()[bytes.clone()]);
                    mentions.push(mention(*recognizer, plain.span_of_bytes(bytes), value, certainty.score()));
                }
            }
        }
        if let Some(builtins) = &self.builtins {
            for (builtin, reading, found) in builtins.read(&plain, context) {
                let uses = |(used, own, _): &&(Builtin, SlotReading, _)| (*used, *own) == (builtin, reading);
                let Some((.., recognizers)) = builtins.used.iter().find(uses) else { continue };
                for one in found {
                    mentions.extend(recognizers.iter().map(|id| Mention {
                        others: one.other.iter().cloned().collect(),
                        unread: one.unread.clone(),
                        ..mention(*id, one.span, one.value.clone(), one.score)
                    }));
                }
            }
        }
        leftmost_longest(&mut mentions);
        mentions
    }

    /// The entries of lists that the utterance names by a word that no other entry has, for a list that was asked for.
    #[must_use]
    pub fn told_apart(&self, utterance: &Utterance) -> Vec<Mention> {
        let says_nothing = |word: Span| reply::says_nothing(&self.language, utterance.slice(word));
        let told = self.telling.told(utterance, &says_nothing);
        let score = Certainty::Usual.score();
        told.map(|(id, span, value)| Mention::at(utterance, id, span, value.clone(), score)).collect()
    }

    /// Which of several `readings` of the words `said` an answer means: "in the evening", to "6 in the morning or in
    /// the evening?". `None` if it does not say.
    #[must_use]
    pub fn settle(
        &self,
        slot: &Slot,
        (said, answer): (&str, &Utterance),
        readings: &[Value],
        context: &Context,
    ) -> Option<Value> {
        let only = |fits: &dyn Fn(&&Value) -> bool| {
            let mut fitting = readings.iter().filter(fits);
            fitting.next().filter(|_| fitting.next().is_none()).cloned()
        };
        let half = self.builtins.as_ref().and_then(|builtins| {
            let plain = answer.half_width();
            time::half_of_day(&Scan::new(&plain, &builtins.lexicon))
        });
        let is_of_half = |value: &&Value| {
            let hour = value.as_str().and_then(|text| text.rsplit(['T', ' ']).next()?.get(..2)?.parse::<i32>().ok());
            hour.is_some_and(|hour| Some(hour >= 12) == half)
        };
        // Together, both texts may give one value: "6", "pm"; "morgens um", "6".
        let read = |text: &str, is_within: &dyn Fn(Span) -> bool| {
            let mentions = self.recognize(&Utterance::new(text), context);
            let mut own = mentions.into_iter().filter(|one| slot.recognizers.contains(&one.recognizer));
            let is_one = |one: &Mention| one.others.is_empty() && readings.contains(&one.value) && is_within(one.span);
            own.find(is_one).map(|one| one.value)
        };
        let (asked, length) = (said.chars().count(), answer.len());
        only(&is_of_half)
            .or_else(|| read(answer.text(), &|_| true))
            .or_else(|| read(&format!("{said} {}", answer.text()), &|span| span.end > asked))
            .or_else(|| read(&format!("{} {said}", answer.text()), &|span| span.start < length))
    }

    /// The mentions, with values to choose from joined into one: "tea or coffee".
    #[must_use]
    pub fn alternatives(&self, utterance: &Utterance, mentions: Vec<Mention>, negations: &[Negation]) -> Vec<Mention> {
        alternatives::joined(&self.language, utterance, mentions, negations, &self.several)
    }

    /// What the utterance rules out, in order; scopes do not overlap. `mentions` are the results of
    /// [`Self::recognize`]: a cue within a longer mention is part of its name.
    #[must_use]
    pub fn negations(&self, utterance: &Utterance, mentions: &[Mention]) -> Vec<Negation> {
        negation::find(utterance, &self.language, mentions)
    }
}

/// Sorts the mentions, and drops those that overlap an earlier or longer mention of the same recognizer.
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

/// A reading of a built-in.
#[derive(Debug, Clone)]
struct BuiltinReading {
    span: Span,
    /// Empty if the words were not read as tokens.
    tokens: Range<usize>,
    value: Value,
    /// The other value that the words may mean.
    other: Option<Value>,
    unread: Vec<Unread>,
    score: f32,
}

impl Builtins {
    fn uses(&self, builtin: Builtin) -> bool {
        self.used.iter().any(|(used, ..)| *used == builtin)
    }

    /// The ways in which a built-in is to be read; the default way if no slot uses it.
    fn ways(&self, builtin: Builtin) -> Vec<SlotReading> {
        let ways = self.used.iter().filter(|(used, ..)| *used == builtin).map(|(_, reading, _)| *reading);
        let ways: Vec<SlotReading> = ways.collect();
        if ways.is_empty() { vec![SlotReading::default()] } else { ways }
    }

    /// The readings of every built-in that is used, and of those that decide whether a number is separate.
    fn read(&self, utterance: &Utterance, context: &Context) -> Vec<(Builtin, SlotReading, Vec<BuiltinReading>)> {
        let scan = Scan::new(utterance, &self.lexicon);
        let numeric = [Builtin::Integer, Builtin::Number, Builtin::Ordinal, Builtin::Money, Builtin::Percent];
        // "half a cup" and "a dollar" also have an amount.
        let has_amount = || {
            scan.numbers.iter().any(Option::is_some)
                || scan.mentions(|sense| {
                    matches!(sense, Sense::Half | Sense::Currency { .. } | Sense::Coin { .. } | Sense::Final)
                })
        };
        let judges_numbers = numeric.into_iter().any(|builtin| self.uses(builtin)) && has_amount();
        let mut read = Vec::with_capacity(Builtin::ALL.len());
        for builtin in Builtin::ALL.into_iter().filter(|builtin| !numeric.contains(builtin)) {
            let says_of_numbers = !matches!(builtin, Builtin::Duration | Builtin::Boolean);
            if self.uses(builtin) || judges_numbers && says_of_numbers {
                for reading in self.ways(builtin) {
                    let found = self.read_one(&scan, builtin, Reckoning::new(&context.now, reading));
                    read.push((builtin, reading, found));
                }
            }
        }
        if judges_numbers {
            self.read_numbers(&scan, &mut read);
        }
        let borders = Borders::new(&scan, &context.now);
        for (builtin, reading, found) in &mut read {
            for one in found.iter_mut().filter(|_| self.uses(*builtin)) {
                let (tokens, canonical) = (one.tokens.clone(), &one.value);
                one.unread = borders.unread(&unread::RecognizedValue {
                    builtin: *builtin,
                    tokens,
                    reading: *reading,
                    canonical,
                });
            }
        }
        read
    }

    /// The readings of a built-in other than numbers.
    fn read_one(&self, scan: &Scan<'_>, builtin: Builtin, reckoning: Reckoning<'_>) -> Vec<BuiltinReading> {
        let utterance = scan.utterance;
        match builtin {
            Builtin::Date => {
                let mut dates = date::dates(scan, &reckoning);
                if dates.is_empty() {
                    dates.extend(date::all_of_it(scan, &reckoning));
                }
                readings(scan, dates, |date| Some(date.to_string().into()))
            }
            Builtin::Time => {
                readings(scan, time::times(scan, &reckoning), |time| Some(time.strftime("%H:%M:%S").to_string().into()))
            }
            Builtin::DateTime => readings(scan, moment::datetimes(scan, &reckoning), |moment| {
                Some(moment.strftime("%Y-%m-%dT%H:%M:%S").to_string().into())
            }),
            Builtin::Email => contacts(utterance, self.contacts.emails(utterance)),
            Builtin::Url => contacts(utterance, self.contacts.urls(utterance)),
            Builtin::Phone => contacts(utterance, self.contacts.phones(utterance)),
            Builtin::Duration => readings(scan, duration::durations(scan), |length| Some(length.canonical().into())),
            Builtin::Boolean => readings(scan, boolean::booleans(scan), |value| Some(value.into())),
            Builtin::Integer | Builtin::Number | Builtin::Ordinal | Builtin::Money | Builtin::Percent => Vec::new(),
        }
    }

    /// The readings of numbers, in view of the other readings: a number inside a code is not separate.
    fn read_numbers(&self, scan: &Scan<'_>, read: &mut Vec<(Builtin, SlotReading, Vec<BuiltinReading>)>) {
        let among = |builtins: &[Builtin]| {
            Cover::new(read.iter().filter(|(one, ..)| builtins.contains(one)).flat_map(|(.., found)| found))
        };
        let moments = among(&[Builtin::Date, Builtin::Time, Builtin::DateTime]);
        let codes = among(&[Builtin::Email, Builtin::Url, Builtin::Phone]).and(codes::codes(scan));
        // "The 2nd" may be a date, but rarely is if ranks are asked for.
        let days = Cover::new(
            read.iter()
                .filter(|(builtin, ..)| *builtin == Builtin::Date)
                .flat_map(|(.., dates)| dates)
                .filter(|date| date.score > Certainty::Usual.score()),
        );
        let mut amounts = readings(scan, money::amounts(scan), money::Money::to_json);
        amounts.retain(|amount| !codes.has_longer(amount.span));
        let percentages = readings(scan, number::percentages(scan, &scan.numbers), Some);
        let quantities = Cover::new(amounts.iter().chain(&percentages));
        let own = |mut readings: Vec<BuiltinReading>, is_rank: bool| {
            readings.retain_mut(|reading| {
                if moments.has_longer(reading.span) && !is_rank {
                    reading.score = reading.score.min(WITHIN_ANOTHER.score());
                } else if quantities.has_longer(reading.span) {
                    reading.score = reading.score.min(WITHIN_AMOUNT.score());
                }
                !codes.has_longer(reading.span)
            });
            readings
        };
        let mut numbers = Vec::new();
        for reading in self.ways(Builtin::Integer) {
            let found = readings(scan, measure::integers(scan, reading), |value| Some(value.into()));
            numbers.push((Builtin::Integer, reading, own(found, reading.is_rank)));
        }
        for reading in self.ways(Builtin::Number) {
            let mut found = measure::numbers(scan, reading);
            found.extend(number::halves(scan, &found));
            numbers.push((Builtin::Number, reading, own(readings(scan, found, number::json), reading.is_rank)));
        }
        for reading in self.ways(Builtin::Money) {
            let mut money = readings(scan, money::bare(scan), money::Money::to_json);
            money.retain(|bare| {
                let is_part = moments.has_longer(bare.span) || codes.has_longer(bare.span);
                !is_part && !quantities.covers(bare.span)
            });
            money.iter_mut().for_each(|bare| bare.score *= money::BARE.score());
            money.extend(amounts.iter().cloned());
            numbers.push((Builtin::Money, reading, money));
        }
        let mut ordinals = readings(scan, number::ordinals(scan, &scan.numbers), |rank| Some(rank.into()));
        for ordinal in ordinals.iter_mut().filter(|ordinal| days.has_longer(ordinal.span)) {
            ordinal.score = ordinal.score.min(WITHIN_ANOTHER.score());
        }
        let none = SlotReading::default();
        numbers.extend([(Builtin::Percent, none, percentages), (Builtin::Ordinal, none, ordinals)]);
        read.append(&mut numbers);
    }
}

fn readings<T>(
    scan: &Scan<'_>,
    found: Vec<TokenReading<T>>,
    canonical: impl Fn(T) -> Option<Value>,
) -> Vec<BuiltinReading> {
    found
        .into_iter()
        .filter_map(|found| {
            let span = scan.span(found.start, found.end)?;
            let other = found.other.and_then(&canonical);
            let (tokens, unread) = (found.start..found.end, Vec::new());
            Some(BuiltinReading {
                span,
                tokens,
                value: canonical(found.value)?,
                other,
                unread,
                score: found.certainty.score(),
            })
        })
        .collect()
}

fn contacts(utterance: &Utterance, found: Vec<Contact>) -> Vec<BuiltinReading> {
    found
        .into_iter()
        .map(|contact| BuiltinReading {
            span: utterance.span_of_bytes(contact.bytes),
            tokens: 0..0,
            value: contact.value.into(),
            other: None,
            unread: Vec::new(),
            score: contact.certainty.score(),
        })
        .collect()
}

/// Spans inside which a number is part of something else.
struct Cover {
    /// The spans by start, each with the furthest end of all spans up to it.
    reach: Vec<(Span, usize)>,
}

impl Cover {
    /// Ignores readings that are mere guesses.
    fn new<'r>(readings: impl Iterator<Item = &'r BuiltinReading>) -> Self {
        Self::of(
            readings.filter(|reading| reading.score >= Certainty::Even.score()).map(|reading| reading.span).collect(),
        )
    }

    fn of(mut spans: Vec<Span>) -> Self {
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

    /// The same with more spans.
    fn and(self, more: Vec<Span>) -> Self {
        Self::of(self.reach.into_iter().map(|(span, _)| span).chain(more).collect())
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
