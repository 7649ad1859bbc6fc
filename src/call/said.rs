//! A text of the person, with search for the places of values.

use std::{borrow::Cow, cell::OnceCell};

use jiff::civil::{Date, Time};
use serde_json::Value;

use super::{
    in_digits::InDigits,
    words::{Languages, is_bound, is_empty, is_filler, kin, negates, split_words},
    written::read_number,
};
use crate::{
    recognize::{Moments, Quantity, ValueReader},
    text::{Span, Utterance, fold},
};

/// Longer values, in words, are only searched verbatim.
const MAX_WORDS: usize = 200;
/// Share of a value's letters that must have been said if its words are found in another order or with gaps.
const OVERLAP: f32 = 0.7;
/// Longest word, in letters, that may be unsaid among others that were said: the "CA" of "San Francisco, CA". A longer
/// word has a meaning of its own.
const UNSAID: usize = 2;

/// Marks that are rare in speech, and common where a reply was cut or misread.
const SYNTAX: [char; 6] = ['"', '\\', '{', '}', '[', ']'];

/// A text with its lookup tables, which are made on first use.
pub(super) struct SaidText<'a> {
    pub(super) text: Cow<'a, Utterance>,
    reader: &'a ValueReader,
    quantities: OnceCell<Vec<Quantity>>,
    moments: OnceCell<Moments>,
    in_digits: OnceCell<InDigits>,
    words: OnceCell<Vec<SaidWord>>,
}

/// A word, with numbers in digits.
#[derive(Debug)]
pub(super) struct SaidWord {
    pub(super) folded: String,
    pub(super) span: Span,
}

impl<'a> SaidText<'a> {
    pub(super) fn new(text: Cow<'a, Utterance>, reader: &'a ValueReader) -> Self {
        let (quantities, moments) = (OnceCell::new(), OnceCell::new());
        Self { text, reader, quantities, moments, in_digits: OnceCell::new(), words: OnceCell::new() }
    }

    fn languages(&self) -> Languages {
        self.reader.languages()
    }

    pub(super) fn words(&self) -> &[SaidWord] {
        self.words.get_or_init(|| {
            let text = self.in_digits();
            let word = |(start, word): (usize, &str)| SaidWord {
                folded: word.to_owned(),
                span: text.span(start..start + word.len()),
            };
            split_words(text.text()).map(word).collect()
        })
    }

    fn in_digits(&self) -> &InDigits {
        self.in_digits.get_or_init(|| InDigits::new(&self.text, self.quantities()))
    }

    fn quantities(&self) -> &[Quantity] {
        self.quantities.get_or_init(|| self.reader.quantities(&self.text))
    }

    fn moments(&self) -> &Moments {
        self.moments.get_or_init(|| self.reader.moments(&self.text))
    }

    /// A value in the form of [`Self::words`].
    fn written(&self, value: &str) -> InDigits {
        let value = Utterance::new(value.trim());
        InDigits::new(&value, &self.reader.quantities(&value))
    }

    /// The same text without some parts. Positions stay valid.
    pub(super) fn without(&self, parts: &[Span]) -> SaidText<'a> {
        let is_out = |index: usize| parts.iter().any(|part| part.contains(Span::new(index, index + 1)));
        let text: String =
            self.text.text().chars().enumerate().map(|(index, c)| if is_out(index) { '|' } else { c }).collect();
        SaidText::new(Cow::Owned(Utterance::new(&text)), self.reader)
    }

    /// True if a significant word of `value` is in `whole`, but not here.
    pub(super) fn lacks_what_is_in(&self, value: &str, whole: &SaidText<'_>) -> bool {
        let folded = fold(value);
        let is_in = |source: &SaidText<'_>, wanted: &str| source.words().iter().any(|said| kin(&said.folded, wanted));
        split_words(&folded)
            .any(|(_, word)| !is_filler(word, self.languages()) && !is_in(self, word) && is_in(whole, word))
    }

    /// The place of `value`, and a score. `is_open`: the schema does not offer it, and it may be any text.
    pub(super) fn find(&self, value: &Value, used: &[Span], is_open: bool) -> Option<(Span, f32)> {
        match value {
            // "a" is in most sentences, so it is not evidence.
            Value::String(text) if is_open && (is_empty(text, self.languages()) || self.lacks_syntax_of(text)) => None,
            Value::String(text) => self
                .verbatim(text, used)
                .or_else(|| self.in_words(text, used, kin))
                .or_else(|| self.number(read_number(text, self.reader)?.1, used))
                .or_else(|| self.digits(text))
                .or_else(|| self.in_digits().find(&self.written(text)).map(|span| (span, 0.9)))
                .or_else(|| self.date(text))
                .or_else(|| Some((self.reader.find_duration(self.moments(), text)?, 0.7)))
                .or_else(|| self.overlap(text)),
            Value::Number(number) => self.number(number.as_f64()?, used),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// True for a value with JSON syntax that was not said: the remains of a malformed reply. Folding would not see it.
    fn lacks_syntax_of(&self, value: &str) -> bool {
        value.chars().any(|c| SYNTAX.contains(&c) && !self.text.text().contains(c))
    }

    /// The folded value verbatim, at word boundaries.
    fn verbatim(&self, value: &str, used: &[Span]) -> Option<(Span, f32)> {
        let folded = fold(value.trim());
        if !folded.chars().any(char::is_alphanumeric) {
            return None;
        }
        let text = self.text.folded();
        let mut best: Option<Span> = None;
        for (at, _) in text.match_indices(folded.as_str()) {
            let end = at + folded.len();
            let span = self.text.span_of_folded(at..end);
            if !((is_bound(text, at) && is_bound(text, end)) || self.is_words(span)) {
                continue;
            }
            if !used.iter().any(|taken| taken.overlaps(span)) {
                best = Some(span);
                break;
            }
            best = best.or(Some(span));
        }
        // Combining marks that fold away may make letters end before their word does.
        let same_word = || self.text.words().iter().copied().find(|word| self.text.slice(*word) == value.trim());
        let span = best.or_else(same_word)?;
        Some((span, if self.text.slice(span) == value { 1.0 } else { 0.98 }))
    }

    /// True if `span` begins and ends with words of the utterance, whatever letters touch it.
    fn is_words(&self, span: Span) -> bool {
        let words = self.text.words();
        words.binary_search_by_key(&span.start, |word| word.start).is_ok()
            && words.binary_search_by_key(&span.end, |word| word.end).is_ok()
    }

    /// The value's words in a row, where `is_form` tells whether a word that was said and one of the value are the same.
    fn in_words(&self, value: &str, used: &[Span], is_form: fn(&str, &str) -> bool) -> Option<(Span, f32)> {
        let value = self.written(value);
        let wanted: Vec<&str> = split_words(value.text()).map(|(_, word)| word).collect();
        if wanted.is_empty() || wanted.len() > MAX_WORDS {
            return None;
        }
        let words = self.words();
        let mut best: Option<Span> = None;
        for window in words.windows(wanted.len()) {
            if window.iter().zip(&wanted).all(|(said, wanted)| is_form(&said.folded, wanted)) {
                let span = Span::new(window[0].span.start, window[window.len() - 1].span.end);
                if !used.iter().any(|taken| taken.overlaps(span)) {
                    best = Some(span);
                    break;
                }
                best = best.or(Some(span));
            }
        }
        best.map(|span| (span, 0.9))
    }

    /// The value's words in any places, except a few short ones. Words with digits and negations must be there.
    fn overlap(&self, value: &str) -> Option<(Span, f32)> {
        let folded = fold(value);
        let wanted: Vec<&str> = split_words(&folded).map(|(_, word)| word).collect();
        if wanted.len() < 2 || wanted.len() > MAX_WORDS {
            return None;
        }
        let languages = self.languages();
        let weigh = |word: &str| if is_filler(word, languages) { 0 } else { word.chars().count() };
        let (mut letters, mut heard, mut found) = (0, 0, Vec::new());
        for (place, word) in wanted.iter().enumerate() {
            let weight = weigh(word);
            letters += weight;
            let times = self.words().iter().filter(|said| kin(&said.folded, word)).count();
            let is_said = times > 0;
            // A word said once is not evidence for a value that contains it twice.
            if is_said && wanted[..place].iter().filter(|before| kin(before, word)).count() >= times {
                return None;
            }
            if is_said && weight > 0 {
                heard += weight;
                if !found.contains(word) {
                    found.push(*word);
                }
            } else if !is_said
                && (weight > UNSAID || negates(word, languages) || word.bytes().any(|byte| byte.is_ascii_digit()))
            {
                return None;
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "counts of letters")]
        let share = heard as f32 / letters.max(1) as f32;
        if letters == 0 || share < OVERLAP {
            return None;
        }
        let span = self.together(&found)?;
        Some((span, 0.5 + 0.3 * (share - OVERLAP) / (1.0 - OVERLAP)))
    }

    /// The shortest span that contains all of these words, with few others among them: words scattered over a sentence
    /// do not mean what they would mean together.
    fn together(&self, wanted: &[&str]) -> Option<Span> {
        let words = self.words();
        let among = if wanted.len() < 3 { 0 } else { wanted.len() / 2 };
        let mut best: Option<Span> = None;
        for (start, first) in
            words.iter().enumerate().filter(|(_, word)| wanted.iter().any(|one| kin(&word.folded, one)))
        {
            let mut left = wanted.to_vec();
            let mut others = 0;
            for word in &words[start..] {
                match left.iter().position(|one| kin(&word.folded, one)) {
                    Some(index) => _ = left.swap_remove(index),
                    None if is_filler(&word.folded, self.languages()) => {}
                    None => others += 1,
                }
                if left.is_empty() {
                    let span = Span::new(first.span.start, word.span.end);
                    best = Some(best.filter(|best| best.len() <= span.len()).unwrap_or(span));
                }
                if left.is_empty() || others > among {
                    break;
                }
            }
        }
        best
    }

    /// True if the value's words were said in a row, perhaps with shorter endings or with numbers in another notation:
    /// "pizza" for "pizzas", "cherry" for "cherries". No ending is added: "Seattlee" is no form of a name.
    pub(super) fn says_in_a_row(&self, value: &str) -> bool {
        let is_form = |said: &str, wanted: &str| said == wanted || wanted.len() < said.len() && kin(said, wanted);
        self.in_words(value, &[], is_form).is_some()
    }

    fn number(&self, wanted: f64, used: &[Span]) -> Option<(Span, f32)> {
        // Equal up to rounding errors.
        let equal = |left: f64, right: f64| (left - right).abs() <= 4.0 * f64::EPSILON * right.abs();
        let fits = |quantity: &&Quantity| {
            equal(quantity.value, wanted) || quantity.is_percent && equal(quantity.value / 100.0, wanted)
        };
        let is_used = |quantity: &Quantity| used.iter().any(|span| span.overlaps(quantity.span));
        let found = self.quantities().iter().filter(fits);
        let best = found.min_by_key(|quantity| (is_used(quantity), quantity.is_rank))?;
        Some((best.span, if best.is_rank { 0.85 } else { 0.95 }))
    }

    /// A number of six digits or more, written in groups or with a prefix (phones, cards, account numbers).
    fn digits(&self, value: &str) -> Option<(Span, f32)> {
        let wanted: String = value.chars().filter(char::is_ascii_digit).collect();
        if wanted.len() < 6 || value.chars().any(char::is_alphabetic) {
            return None;
        }
        // People leave out the country code if it is obvious.
        let unsaid = if value.trim_start().starts_with('+') { 4 } else { 0 };
        // A run of digits with the usual separators between them.
        let text = self.text.folded();
        let (mut run, mut start, mut end) = (String::new(), 0, 0);
        for (at, character) in text.char_indices().chain(std::iter::once((text.len(), '\0'))) {
            if character.is_ascii_digit() {
                if run.is_empty() {
                    start = at;
                }
                run.push(character);
                end = at + 1;
            } else if !run.is_empty() && !matches!(character, ' ' | '-' | '.' | '(' | ')' | '/' | '+') {
                let national = run.trim_start_matches('0');
                if run == wanted
                    || (national.len() >= 6
                        && wanted.len() - national.len().min(wanted.len()) <= unsaid
                        && wanted.ends_with(national))
                {
                    return Some((self.text.span_of_folded(start..end), 0.9));
                }
                run.clear();
            }
        }
        None
    }

    /// An ISO date (or date-time) that was said: its day with its month, or its weekday.
    fn date(&self, value: &str) -> Option<(Span, f32)> {
        let date: Date = value.get(..10)?.parse().ok()?;
        let clock = value.get(11..16).filter(|clock| *clock != "00:00");
        let is_said = clock.is_none_or(|clock| self.says_time(clock));
        is_said.then(|| self.moments().find_day(date)).flatten().map(|span| (span, 0.7))
    }

    /// True if this time of day (`17:45`) was said, in 12 or 24 hours.
    pub(super) fn says_time(&self, clock: &str) -> bool {
        clock.parse::<Time>().is_ok_and(|time| self.moments().says_time(time))
    }
}
