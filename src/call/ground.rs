//! Where each value of a call comes from. A value that nobody said is invented: it is dropped and reported.
//!
//! What was said only to be ruled out ("no onions", "anything but large") is no evidence: such a value is taken out, even
//! where the schema offers it as a default or a choice, and reported as excluded. A flag that is named there is false.
//!
//! Evidence is looked for from the strongest on: a recognizer's mention of the same value; the value's own words in
//! the utterance (folded; then with numbers spelt out or not and with inflected endings; then in another order);
//! its number, date or digits; the same in earlier texts of the conversation; the schema's default; its choices.

use std::{borrow::Cow, cell::OnceCell, collections::HashSet};

use jiff::civil::Date;
use serde_json::{Map, Value};
use text2num::Language;

use super::{
    Coercion, Grounded, Origin, Violation, ViolationKind,
    coerce::{MONTHS, WEEKDAYS, accepts_type, choices, push_pointer, read_number, same, schemas_at, text_of},
    in_digits,
};
use crate::{
    module::{Function, RecognizerId, Slot, SlotId, SlotKind, SlotPath, Step},
    text::{Span, Utterance, fold, is_unspaced, script::is_katakana},
};

/// Values of more words than this are only looked for as they stand.
const MAX_WORDS: usize = 200;
/// How much of a value's letters must have been said, where its words are found in another order or with gaps.
const OVERLAP: f32 = 0.7;
/// Letters of a word that may stand unsaid among others that were: the "CA" of "San Francisco, CA". What is longer says
/// something of its own.
const UNSAID: usize = 2;

/// What was said.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    pub utterance: &'a Utterance,
    /// Earlier texts of the conversation, in any order.
    pub earlier: &'a [&'a str],
    /// What recognizers found in the utterance.
    pub sightings: &'a [Sighting],
    /// Parts of the utterance that rule out what they name ("no onions").
    pub negated: &'a [RuledOut],
}

/// A part of the utterance that rules out what it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuledOut {
    /// The words that say so: "no".
    pub cue: Span,
    /// What they rule out: "onions".
    pub scope: Span,
    /// Slots that hold what is left out: for them it is said like anything else.
    pub said_for: Vec<SlotId>,
}

/// A recognizer's find, in neutral terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Sighting {
    pub span: Span,
    /// The utterance under `span`.
    pub text: String,
    /// Canonical.
    pub value: Value,
    /// Other values that the same words may mean.
    pub others: Vec<Value>,
    pub id: RecognizerId,
    /// The recognizer's name.
    pub recognizer: String,
    /// 0 to 1.
    pub score: f32,
}

/// What grounding knows of the function beside its slots.
pub struct Rules<'a> {
    /// Slots whose values a model may write itself.
    pub free: &'a dyn Fn(SlotId) -> bool,
    /// The slot at a path, if it is one.
    pub slot_at: &'a dyn Fn(&SlotPath) -> Option<SlotId>,
    /// The language in which numbers are spelt.
    pub language: &'a Language,
    /// What coercion did: the values before it are evidence too.
    pub coercions: &'a [Coercion],
    /// JSON pointers of values that the schema refuses: left out without a word.
    pub offending: &'a HashSet<&'a str>,
}

/// What became of a proposal's values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Grounding {
    /// Without the ungrounded values, and without the objects and arrays that were left empty by that.
    pub arguments: Map<String, Value>,
    /// One for each scalar of `arguments`, in its order.
    pub grounded: Vec<Grounded>,
    /// One [`ViolationKind::Ungrounded`] or [`ViolationKind::Negated`] for each value that was taken out or turned round.
    pub violations: Vec<Violation>,
    /// Values that occur only where they are ruled out; taken out too. Their pointers are those of the proposal.
    pub excluded: Vec<Grounded>,
}

/// Grounds every scalar of `arguments`. What comes out contains no value without an [`Origin`].
#[must_use]
pub fn ground(
    function: &Function,
    arguments: Map<String, Value>,
    evidence: &Evidence<'_>,
    rules: &Rules<'_>,
) -> Grounding {
    let mut walk = Walk {
        function,
        rules,
        evidence,
        said: Source::new(Cow::Borrowed(evidence.utterance)),
        wanted: OnceCell::new(),
        earlier: OnceCell::new(),
        used: Vec::new(),
        pointer: String::new(),
        place: String::new(),
        steps: Vec::new(),
        grounding: Grounding::default(),
    };
    let kept = walk.object(arguments);
    walk.grounding.arguments = kept;
    walk.grounding
}

struct Walk<'a> {
    function: &'a Function,
    rules: &'a Rules<'a>,
    evidence: &'a Evidence<'a>,
    said: Source<'a>,
    /// The utterance without what it rules out.
    wanted: OnceCell<Source<'a>>,
    earlier: OnceCell<Vec<Source<'a>>>,
    /// Spans that already stand for a value: two equal values are two spans where there are two.
    used: Vec<Span>,
    /// Where the walk is in the proposal, and where that lies in what is kept of it: items move up.
    pointer: String,
    place: String,
    steps: Vec<Step>,
    grounding: Grounding,
}

impl<'a> Walk<'a> {
    fn object(&mut self, object: Map<String, Value>) -> Map<String, Value> {
        object
            .into_iter()
            .filter_map(|(key, value)| {
                let kept = self.within(&key, &key, Step::Key(key.as_str().into()), |walk| walk.value(value))?;
                Some((key, kept))
            })
            .collect()
    }

    fn within<T>(&mut self, key: &str, place: &str, step: Step, act: impl FnOnce(&mut Self) -> T) -> T {
        let (pointer_length, place_length) = (self.pointer.len(), self.place.len());
        push_pointer(&mut self.pointer, key);
        push_pointer(&mut self.place, place);
        self.steps.push(step);
        let result = act(self);
        self.steps.pop();
        self.pointer.truncate(pointer_length);
        self.place.truncate(place_length);
        result
    }

    fn value(&mut self, value: Value) -> Option<Value> {
        if self.rules.offending.contains(self.pointer.as_str()) {
            return None;
        }
        match value {
            Value::Object(members) if members.is_empty() => Some(Value::Object(members)),
            Value::Array(items) if items.is_empty() => Some(Value::Array(items)),
            Value::Object(members) => Some(self.object(members)).filter(|kept| !kept.is_empty()).map(Value::Object),
            Value::Array(items) => {
                let mut kept = Vec::with_capacity(items.len());
                for (index, item) in items.into_iter().enumerate() {
                    let place = kept.len().to_string();
                    kept.extend(self.within(&index.to_string(), &place, Step::Each, |walk| walk.value(item)));
                }
                Some(kept).filter(|kept| !kept.is_empty()).map(Value::Array)
            }
            scalar => self.scalar(scalar),
        }
    }

    fn scalar(&mut self, value: Value) -> Option<Value> {
        let slot = self.slot();
        let negated = self.negated_for(slot.map(|(id, _)| id));
        if let Some(span) = value.as_bool().and_then(|_| self.denied_flag(slot?.1, &negated)) {
            return Some(self.denied(&value, slot, span));
        }
        let standing =
            if is_garbled(&value, self.evidence) { Standing::Nowhere } else { self.standing(&value, slot, &negated) };
        let origin = match standing {
            Standing::Grounded(origin, confidence) => Some((origin, confidence)),
            Standing::Nowhere => None,
            Standing::Excluded(origin, confidence) => {
                self.violate(ViolationKind::Negated, &value, "a value that was not ruled out; leave it out");
                let path = self.path(slot);
                let pointer = self.pointer.clone();
                self.grounding.excluded.push(Grounded { path, pointer, value, origin, confidence });
                return None;
            }
        };
        let Some((origin, confidence)) = origin else {
            self.violate(ViolationKind::Ungrounded, &value, "a value that was said; leave it out if it was not");
            return None;
        };
        if let Origin::Utterance { span, .. } = &origin {
            self.used.push(*span);
            if let Some(sighting) = self.ambiguous(&value, slot, *span) {
                self.leave_open(sighting);
                return None;
            }
        }
        Some(self.keep(value, slot, origin, confidence))
    }

    /// What a recognizer of the slot found at `span`, if that may mean other values as well as this one.
    fn ambiguous(&self, value: &Value, slot: Option<(SlotId, &'a Slot)>, span: Span) -> Option<&'a Sighting> {
        let (_, slot) = slot?;
        let may_mean = |sighting: &&Sighting| {
            !sighting.others.is_empty()
                && slot.recognizers.contains(&sighting.id)
                && sighting.span.overlaps(span)
                && std::iter::once(&sighting.value).chain(&sighting.others).any(|one| means(one, &sighting.text, value))
        };
        self.evidence.sightings.iter().find(may_mean)
    }

    /// Reports that only who said it can say which value is meant.
    fn leave_open(&mut self, sighting: &Sighting) {
        let readings: Vec<Value> = std::iter::once(&sighting.value).chain(&sighting.others).cloned().collect();
        let named: Vec<String> = readings.iter().filter_map(text_of).collect();
        self.grounding.violations.push(Violation {
            kind: ViolationKind::Ambiguous,
            path: self.pointer.clone(),
            found: Some(sighting.text.as_str().into()),
            expected: format!("one of {}, as the person says which", named.join(" and ")),
            readings,
        });
    }

    fn keep(&mut self, value: Value, slot: Option<(SlotId, &'a Slot)>, origin: Origin, confidence: f32) -> Value {
        let (path, pointer) = (self.path(slot), self.place.clone());
        self.grounding.grounded.push(Grounded { path, pointer, value: value.clone(), origin, confidence });
        value
    }

    fn path(&self, slot: Option<(SlotId, &'a Slot)>) -> SlotPath {
        slot.map_or_else(|| SlotPath(self.steps.clone()), |(_, slot)| slot.path.clone())
    }

    fn violate(&mut self, kind: ViolationKind, value: &Value, expected: &str) {
        self.grounding.violations.push(Violation {
            kind,
            path: self.pointer.clone(),
            found: Some(super::validate::brief(value)),
            expected: expected.to_owned(),
            readings: Vec::new(),
        });
    }

    /// What is ruled out, as far as this slot is concerned.
    fn negated_for(&self, slot: Option<SlotId>) -> Vec<&'a RuledOut> {
        let concerns = |ruled_out: &&RuledOut| slot.is_none_or(|slot| !ruled_out.said_for.contains(&slot));
        self.evidence.negated.iter().filter(concerns).collect()
    }

    /// Where a flag's own name is ruled out and said nowhere else: "no sauce" of a slot `sauce`.
    fn denied_flag(&self, slot: &Slot, negated: &[&RuledOut]) -> Option<Span> {
        let is_flag = slot.kind == SlotKind::Boolean;
        (is_flag && !negated.is_empty()).then(|| flag_within(self.evidence.utterance, slot.label(), negated))?
    }

    /// The flag as it was said. Another value is reported.
    fn denied(&mut self, proposed: &Value, slot: Option<(SlotId, &'a Slot)>, span: Span) -> Value {
        if *proposed == Value::Bool(true) {
            self.violate(ViolationKind::Negated, proposed, "false, as it was ruled out");
        }
        let text = self.evidence.utterance.slice(span).to_owned();
        self.keep(Value::Bool(false), slot, Origin::Utterance { span, text, recognizer: None }, 0.9)
    }

    /// Where the value comes from, what is ruled out apart.
    fn standing(&self, value: &Value, slot: Option<(SlotId, &'a Slot)>, negated: &[&RuledOut]) -> Standing {
        if !negated.is_empty() && !value.is_null() && !value.is_boolean() {
            match self.ruled_out(value, slot, negated) {
                Some(Ok((origin, confidence))) => return Standing::Grounded(origin, confidence),
                Some(Err((origin, confidence))) => return Standing::Excluded(origin, confidence),
                None => {}
            }
        }
        match self.origin(value, slot) {
            Some((origin, confidence)) => Standing::Grounded(origin, confidence),
            None => Standing::Nowhere,
        }
    }

    /// Where the value is said apart from what is ruled out, or else where it is ruled out; `None` if neither.
    fn ruled_out(
        &self,
        value: &Value,
        slot: Option<(SlotId, &'a Slot)>,
        negated: &[&RuledOut],
    ) -> Option<Result<(Origin, f32), (Origin, f32)>> {
        let is_within = |span: Span| negated.iter().any(|ruled_out| ruled_out.scope.overlaps(span));
        if let Some(found) = self.sighted(value, &|sighting| !is_within(sighting.span)) {
            return Some(Ok(found));
        }
        let whole;
        let wanted = if negated.len() == self.evidence.negated.len() {
            self.wanted.get_or_init(|| self.said.without(negated))
        } else {
            whole = self.said.without(negated);
            &whole
        };
        let language = self.rules.language;
        let readings = self.readings(value);
        let in_text =
            |source: &Source<'a>| readings.iter().find_map(|one| source.find(one, &self.used, language, slot));
        let tainted = |text: &str| wanted.lacks_what_is_in(text, &self.said);
        let is_tainted = value.as_str().is_some_and(tainted);
        if let Some((span, confidence)) =
            in_text(wanted).filter(|(span, _)| !is_tainted && !self.is_another_day(value, *span))
        {
            return Some(Ok((self.said_at(span), confidence)));
        }
        if let Some(found) = self.sighted(value, &|_| true) {
            return Some(Err(found));
        }
        let (span, confidence) = in_text(&self.said)?;
        let over = negated.iter().find(|ruled_out| ruled_out.scope.overlaps(span))?;
        let found = (self.said_at(span), confidence);
        // "no onions", in the words of the person, says itself what is ruled out.
        let says_so = |text: &str| {
            let folded = fold(text);
            let mut cue = self.said.words().iter().filter(|word| over.cue.contains(word.span)).peekable();
            cue.peek().is_some() && cue.all(|word| split_words(&folded).any(|(_, other)| other == word.folded))
        };
        Some(if value.as_str().is_some_and(says_so) { Ok(found) } else { Err(found) })
    }

    /// True if a recognizer read the words at `span` as another day.
    fn is_another_day(&self, value: &Value, span: Span) -> bool {
        let day = |value: &Value| value.as_str().and_then(|text| text.get(..10)?.parse::<Date>().ok());
        // In digits alone, day and month may change places.
        let named = self.evidence.utterance.slice(span).chars().any(char::is_alphabetic);
        let Some(wanted) = day(value).filter(|_| named) else { return false };
        let days: Vec<Date> = self
            .evidence
            .sightings
            .iter()
            .filter(|sighting| sighting.score >= 0.5 && sighting.span.overlaps(span))
            .filter_map(|sighting| day(&sighting.value))
            .collect();
        !days.is_empty() && !days.contains(&wanted)
    }

    fn said_at(&self, span: Span) -> Origin {
        Origin::Utterance { span, text: self.evidence.utterance.slice(span).to_owned(), recognizer: None }
    }

    /// The value, and before it what was proposed before it was made fit: that is nearer to what was said.
    fn readings<'v>(&self, value: &'v Value) -> Vec<&'v Value>
    where
        'a: 'v,
    {
        let before = self.rules.coercions.iter().filter(|coercion| coercion.path == self.pointer);
        let before = before.map(|coercion| &coercion.from).filter(|from| !from.is_null());
        before.filter(|from| !from.is_object() && !from.is_array()).chain(std::iter::once(value)).collect()
    }

    /// The slot of this very place, else the open slot ([`SlotKind::Any`]) that it lies in.
    fn slot(&self) -> Option<(SlotId, &'a Slot)> {
        let at = |steps: &[Step]| {
            let id = (self.rules.slot_at)(&SlotPath(steps.to_vec()))?;
            Some((id, self.function.slot(id)))
        };
        at(&self.steps).or_else(|| {
            let shorter = (1..self.steps.len()).rev();
            shorter.filter_map(|length| at(&self.steps[..length])).find(|(_, slot)| slot.kind == SlotKind::Any)
        })
    }

    fn origin(&self, value: &Value, slot: Option<(SlotId, &'a Slot)>) -> Option<(Origin, f32)> {
        let filled = |coercion: &Coercion| {
            coercion.name == "default"
                && self
                    .pointer
                    .strip_prefix(coercion.path.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if value.is_null() || self.rules.coercions.iter().any(filled) {
            return Some((Origin::Default, 1.0));
        }
        if let Some(found) = self.sighted(value, &|_| true) {
            return Some(found);
        }
        let readings = self.readings(value);
        let language = self.rules.language;
        let in_text =
            |source: &Source<'a>, used: &[Span]| readings.iter().find_map(|one| source.find(one, used, language, slot));
        if let Some((span, confidence)) =
            in_text(&self.said, &self.used).filter(|(span, _)| !self.is_another_day(value, *span))
        {
            return Some((self.said_at(span), confidence));
        }
        if let Some(slot) = slot
            && (self.rules.free)(slot.0)
        {
            return Some((Origin::Generated, 0.5));
        }
        let earlier = self.earlier.get_or_init(|| {
            self.evidence.earlier.iter().map(|text| Source::new(Cow::Owned(Utterance::new(text)))).collect()
        });
        for source in earlier {
            if let Some((span, confidence)) = in_text(source, &[]) {
                return Some((Origin::Earlier { text: source.text.slice(span).to_owned() }, confidence * 0.9));
            }
        }
        self.decided(value, slot.map(|(_, slot)| slot))
    }

    /// A value that nobody said, but that the schema offers.
    fn decided(&self, value: &Value, slot: Option<&Slot>) -> Option<(Origin, f32)> {
        // The slot of an open value knows nothing of what lies in it; the schema may.
        let inside = match slot {
            Some(slot) if slot.kind != SlotKind::Any => Vec::new(),
            _ => schemas_at(&self.function.parameters, &self.pointer),
        };
        let mut defaults = slot
            .and_then(|slot| slot.default.as_ref())
            .into_iter()
            .chain(inside.iter().filter_map(|of| of.get("default")));
        if defaults.any(|default| same(default, value)) {
            return Some((Origin::Default, 1.0));
        }
        let declared = slot
            .map(|slot| slot.choices.iter().collect())
            .into_iter()
            .chain(inside.iter().filter_map(|of| choices(of)));
        for choices in declared {
            if choices.iter().any(|choice| same(choice, value)) {
                return Some(if choices.len() == 1 { (Origin::Default, 1.0) } else { (Origin::Choice, 0.5) });
            }
        }
        let is_flag = value.is_boolean()
            && (slot.is_some_and(|slot| slot.kind == SlotKind::Boolean)
                || inside.iter().any(|of| accepts_type(of, "boolean")));
        is_flag.then_some((Origin::Choice, 0.5))
    }

    fn sighted(&self, value: &Value, counts: &dyn Fn(&Sighting) -> bool) -> Option<(Origin, f32)> {
        let rank = |sighting: &&Sighting| {
            let free = !self.used.iter().any(|used| used.overlaps(sighting.span));
            (free, sighting.score, sighting.span.len())
        };
        let best = self
            .evidence
            .sightings
            .iter()
            .filter(|sighting| counts(sighting) && means(&sighting.value, &sighting.text, value))
            .max_by(|left, right| {
                let ((free, score, length), (other_free, other_score, other_length)) = (rank(left), rank(right));
                free.cmp(&other_free).then(score.total_cmp(&other_score)).then(length.cmp(&other_length))
            });
        let best = best.or_else(|| {
            // A date and a time that were found apart.
            let text = value.as_str().filter(|text| text.len() >= 16)?;
            let found = |part: &str| {
                self.evidence.sightings.iter().find(|sighting| counts(sighting) && sighting.value == *part)
            };
            let is_said = || self.said.says_clock(text.get(11..16).unwrap_or_default(), self.rules.language);
            let clock = found(text.get(11..19).unwrap_or_default()).is_some() || is_said();
            found(text.get(..10)?).filter(|_| clock)
        })?;
        let origin =
            Origin::Utterance { span: best.span, text: best.text.clone(), recognizer: Some(best.recognizer.clone()) };
        Some((origin, best.score.clamp(0.0, 1.0)))
    }
}

/// What became of one value.
enum Standing {
    Grounded(Origin, f32),
    /// Said only where it is ruled out.
    Excluded(Origin, f32),
    Nowhere,
}

/// Words of a flag's name that say nothing of what it is about.
const FLAG_WORDS: [&str; 18] = [
    "with",
    "include",
    "includes",
    "including",
    "has",
    "have",
    "is",
    "add",
    "adds",
    "want",
    "wants",
    "need",
    "needs",
    "use",
    "extra",
    "the",
    "a",
    "some",
];

/// Where all words of a flag's name are ruled out, unless they are said elsewhere too.
#[must_use]
pub fn flag_within(utterance: &Utterance, label: &str, negated: &[&RuledOut]) -> Option<Span> {
    let mut spaced = String::with_capacity(label.len() + 4);
    for character in label.chars() {
        if character.is_uppercase() && spaced.ends_with(char::is_lowercase) {
            spaced.push(' ');
        }
        spaced.push(character);
    }
    let folded = fold(&spaced);
    let mut name: Vec<&str> = split_words(&folded).map(|(_, word)| word).collect();
    if name.iter().any(|word| !FLAG_WORDS.contains(word)) {
        name.retain(|word| !FLAG_WORDS.contains(word));
    }
    let said = Source::new(Cow::Borrowed(utterance));
    let wanted = said.without(negated);
    let heard = |source: &Source<'_>, within: Option<Span>| {
        name.iter().all(|part| {
            source
                .words()
                .iter()
                .any(|word| within.is_none_or(|within| within.contains(word.span)) && kin(&word.folded, part))
        })
    };
    if name.is_empty() || heard(&wanted, None) {
        return None;
    }
    negated.iter().map(|ruled_out| ruled_out.scope).find(|scope| heard(&said, Some(*scope)))
}

/// True of a text with characters that nobody writes and that stand for what was lost on the way. Folding would not see
/// them.
fn is_garbled(value: &Value, evidence: &Evidence<'_>) -> bool {
    let is_lost = |c: char| c == char::REPLACEMENT_CHARACTER || c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    value.as_str().is_some_and(|text| text.contains(is_lost) && !evidence.utterance.text().contains(text))
}

/// Whether a recognizer's value (or its text) is `value`, or has it as a part.
fn means(sighted: &Value, text: &str, value: &Value) -> bool {
    if same(sighted, value) {
        return true;
    }
    match (sighted, value) {
        // `{"amount": 5, "currency": "USD"}` has a 5 and a "USD".
        (Value::Object(members), scalar) => members.values().any(|member| !member.is_null() && same(member, scalar)),
        (Value::String(sighted), Value::String(value)) => {
            let is_date = |text: &str| text.len() >= 10 && text.is_ascii() && text[..10].parse::<Date>().is_ok();
            fold(sighted) == fold(value)
                || fold(text) == fold(value)
                || (is_date(sighted) && sighted.starts_with(value.as_str()) && is_date(value))
                // A day says nothing of an hour, but for the first.
                || (is_date(sighted)
                    && value.strip_prefix(sighted.as_str()).is_some_and(|rest| sighted.len() > 10 || rest.starts_with("T00:00")))
                || (is_date(sighted) && value.len() >= 5 && sighted.get(11..).is_some_and(|time| time == value))
        }
        // A number that a text slot holds as text, and the other way round.
        (_, Value::String(value)) => {
            text_of(sighted).is_some_and(|sighted| sighted == *value) || fold(text) == fold(value)
        }
        _ => false,
    }
}

/// A text with what is looked up in it, made when it is first needed.
struct Source<'a> {
    text: Cow<'a, Utterance>,
    words: OnceCell<Vec<Word>>,
    numbers: OnceCell<Vec<Quantity>>,
}

#[derive(Debug)]
struct Word {
    folded: String,
    span: Span,
}

#[derive(Debug)]
struct Quantity {
    value: f64,
    span: Span,
    percent: bool,
    /// "3rd": a count only where no other word says it.
    ordinal: bool,
}

impl<'a> Source<'a> {
    fn new(text: Cow<'a, Utterance>) -> Self {
        Self { text, words: OnceCell::new(), numbers: OnceCell::new() }
    }

    fn words(&self) -> &[Word] {
        self.words.get_or_init(|| {
            let folded = self.text.folded();
            split_words(folded)
                .map(|(start, word)| Word {
                    folded: word.to_owned(),
                    span: self.text.span_of_folded(start..start + word.len()),
                })
                .collect()
        })
    }

    /// The same text with what is ruled out blotted, so that places stay.
    fn without(&self, negated: &[&RuledOut]) -> Source<'a> {
        let blot = |(index, character): (usize, char)| {
            if negated.iter().any(|ruled_out| ruled_out.scope.contains(Span::new(index, index + 1))) {
                '|'
            } else {
                character
            }
        };
        let text: String = self.text.text().chars().enumerate().map(blot).collect();
        Source::new(Cow::Owned(Utterance::new(&text)))
    }

    /// True if a word of `value` that weighs anything is in `whole`, and no longer here.
    fn lacks_what_is_in(&self, value: &str, whole: &Source<'_>) -> bool {
        let folded = fold(value);
        let is_in = |source: &Source<'_>, wanted: &str| source.words().iter().any(|said| kin(&said.folded, wanted));
        split_words(&folded).any(|(_, word)| !FILLERS.contains(&word) && !is_in(self, word) && is_in(whole, word))
    }

    /// Where `value` was said, and how surely.
    fn find(
        &self,
        value: &Value,
        used: &[Span],
        language: &Language,
        slot: Option<(SlotId, &Slot)>,
    ) -> Option<(Span, f32)> {
        match value {
            // "a" is in most sentences, and says nothing.
            Value::String(text) if is_filler(text) && slot.is_some_and(|(_, slot)| slot.choices.is_empty()) => None,
            Value::String(text)
                if self.lacks_syntax_of(text) && slot.is_none_or(|(_, slot)| slot.choices.is_empty()) =>
            {
                None
            }
            Value::String(text) => self
                .verbatim(text, used)
                .or_else(|| self.in_words(text, used, language))
                .or_else(|| {
                    let (_, number) = read_number(text, language, true)?;
                    self.number(number, used, language)
                })
                .or_else(|| self.digits(text))
                .or_else(|| in_digits::find(&self.text, text).map(|span| (span, 0.9)))
                .or_else(|| self.date(text, language))
                .or_else(|| self.duration(text, language))
                .or_else(|| self.overlap(text)),
            Value::Number(number) => self.number(number.as_f64()?, used, language),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// True of a value with marks that JSON is written with and that were not said: what is left of a reply that was not
    /// well-formed. Folding would not see them.
    fn lacks_syntax_of(&self, value: &str) -> bool {
        value.chars().any(|c| SYNTAX.contains(&c) && !self.text.text().contains(c))
    }

    /// The folded value as it stands, at the bounds of words.
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
        // Letters whose marks fold away may end before their word does.
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

    /// The value's words in a row, with numbers spelt either way and other endings.
    fn in_words(&self, value: &str, used: &[Span], language: &Language) -> Option<(Span, f32)> {
        let folded = fold(value);
        let wanted: Vec<&str> = split_words(&folded).map(|(_, word)| word).collect();
        if wanted.is_empty() || wanted.len() > MAX_WORDS {
            return None;
        }
        let words = self.words();
        let alike =
            |said: &Word, wanted: &str| kin(&said.folded, wanted) || same_number(&said.folded, wanted, language);
        let mut best: Option<Span> = None;
        for window in words.windows(wanted.len()) {
            if window.iter().zip(&wanted).all(|(said, wanted)| alike(said, wanted)) {
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

    /// The value's words, anywhere, but for a few short ones. One with a digit, or one that negates, must be there.
    fn overlap(&self, value: &str) -> Option<(Span, f32)> {
        let folded = fold(value);
        let wanted: Vec<&str> = split_words(&folded).map(|(_, word)| word).collect();
        if wanted.len() < 2 || wanted.len() > MAX_WORDS {
            return None;
        }
        let weigh = |word: &str| if FILLERS.contains(&word) { 0 } else { word.chars().count() };
        let (mut letters, mut heard, mut found) = (0, 0, Vec::new());
        for word in &wanted {
            let weight = weigh(word);
            letters += weight;
            let is_said = self.words().iter().any(|said| kin(&said.folded, word));
            if is_said && weight > 0 {
                heard += weight;
                if !found.contains(word) {
                    found.push(*word);
                }
            } else if !is_said
                && (weight > UNSAID || NEGATIONS.contains(word) || word.bytes().any(|byte| byte.is_ascii_digit()))
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

    /// The shortest place that has all of these words, with few others among them: words that are scattered over a
    /// sentence do not say what they would say together.
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
                    None if FILLERS.contains(&word.folded.as_str()) => {}
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

    fn number(&self, wanted: f64, used: &[Span], language: &Language) -> Option<(Span, f32)> {
        let equal = |left: f64, right: f64| (left - right).abs() <= 1e-9 * right.abs().max(1.0);
        let fits = |quantity: &&Quantity| {
            equal(quantity.value, wanted)
                || (quantity.percent && equal(quantity.value / 100.0, wanted))
                || (wanted < 0.0 && equal(quantity.value, -wanted) && self.is_negated(quantity.span))
        };
        let is_used = |quantity: &Quantity| used.iter().any(|span| span.overlaps(quantity.span));
        let best =
            self.numbers(language).iter().filter(fits).min_by_key(|quantity| (is_used(quantity), quantity.ordinal))?;
        Some((best.span, if best.ordinal { 0.85 } else { 0.95 }))
    }

    fn is_negated(&self, span: Span) -> bool {
        let before = fold(self.text.slice(Span::new(span.start.saturating_sub(12), span.start)));
        let before = before.trim_end();
        // "3-5" is from three to five.
        let is_minus = |rest: &str| !rest.ends_with(char::is_alphanumeric);
        before.strip_suffix('-').is_some_and(is_minus)
            || ["minus", "negative"].iter().any(|word| before.ends_with(word))
    }

    /// Every number in the text: in digits, spelt, or by a word for a count.
    fn numbers(&self, language: &Language) -> &[Quantity] {
        self.numbers.get_or_init(|| {
            let mut numbers = Vec::new();
            let words = self.text.words();
            for (index, span) in words.iter().enumerate() {
                let word = fold(self.text.slice(*span));
                let mut push = |value: f64, span: Span| {
                    let after = fold(self.text.slice(Span::new(span.end, span.end + 9)));
                    let percent = after.trim_start().starts_with('%') || after.trim_start().starts_with("percent");
                    let ordinal = ["st", "nd", "rd", "th"].iter().any(|ending| word.ends_with(ending))
                        && word.starts_with(|c: char| c.is_ascii_digit());
                    numbers.push(Quantity { value, span, percent, ordinal });
                };
                for value in digits_of(&word, language) {
                    push(value, *span);
                }
                if let Some((_, value)) = COUNTS.iter().find(|(name, _)| *name == word) {
                    push(*value, *span);
                    if word == "dozen" && index > 0 {
                        let before = fold(self.text.slice(words[index - 1]));
                        let both = Span::new(words[index - 1].start, span.end);
                        if before == "a" && index > 1 && fold(self.text.slice(words[index - 2])) == "half" {
                            push(6.0, Span::new(words[index - 2].start, span.end));
                        } else if before == "half" {
                            push(6.0, both);
                        } else if let Some((_, count)) = read_number(&before, language, true) {
                            push(count * 12.0, both);
                        }
                    }
                }
            }
            self.spelt(language, &mut numbers);
            self.kanji(&mut numbers);
            numbers
        })
    }

    /// Numbers in kanji, also with digits among them: "十二", "3万5千". In part of one, nothing is said.
    fn kanji(&self, numbers: &mut Vec<Quantity>) {
        for found in in_digits::counted(&self.text) {
            numbers.retain(|other| !found.span.contains(other.span));
            #[expect(clippy::cast_precision_loss, reason = "counts that people say")]
            let value = found.value as f64;
            numbers.push(Quantity { value, span: found.span, percent: false, ordinal: false });
        }
    }

    /// Numbers in words, "two hundred and five", and such a number "and a half".
    fn spelt(&self, language: &Language, numbers: &mut Vec<Quantity>) {
        let words = self.text.words();
        let spoken: Vec<Spoken> = words
            .iter()
            .enumerate()
            .map(|(index, span)| {
                let gap =
                    index.checked_sub(1).map_or("", |before| self.text.slice(Span::new(words[before].end, span.start)));
                Spoken {
                    word: self.text.slice(*span).to_lowercase(),
                    apart: gap.chars().any(|c| !c.is_whitespace() && c != '-'),
                }
            })
            .collect();
        for found in text2num::find_numbers(spoken.iter(), language, 0.0) {
            let (Some(first), Some(last)) = (words.get(found.start), words.get(found.end.saturating_sub(1))) else {
                continue;
            };
            let span = Span::new(first.start, last.end);
            let after = fold(self.text.slice(Span::new(span.end, span.end + 11)));
            if let Some(rest) = after.strip_prefix(" and a ")
                && rest.starts_with("half")
            {
                numbers.push(Quantity {
                    value: found.value + 0.5,
                    span: Span::new(span.start, span.end + 11),
                    percent: false,
                    ordinal: false,
                });
            }
            let percent = after.trim_start().starts_with('%') || after.trim_start().starts_with("percent");
            numbers.push(Quantity { value: found.value, span, percent, ordinal: found.is_ordinal });
        }
    }

    /// A number of six digits or more, written in groups or with a prefix (phones, cards, account numbers).
    fn digits(&self, value: &str) -> Option<(Span, f32)> {
        let wanted: String = value.chars().filter(char::is_ascii_digit).collect();
        if wanted.len() < 6 || value.chars().any(char::is_alphabetic) {
            return None;
        }
        // A country's code is not said where it goes without saying.
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

    /// An ISO date (or date-time) whose parts were said: its day with its month, or its weekday.
    fn date(&self, value: &str, language: &Language) -> Option<(Span, f32)> {
        let date: Date = value.get(..10).filter(|day| day.len() == 10)?.parse().ok()?;
        if let Some(clock) = value.get(11..16)
            && clock != "00:00"
            && !self.says_clock(clock, language)
        {
            return None;
        }
        let numbers = |wanted: i16| {
            let equal = move |quantity: &&Quantity| (quantity.value - f64::from(wanted)).abs() < 1e-9;
            self.numbers(language).iter().filter(equal).map(|quantity| quantity.span)
        };
        let hull = |spans: &[Span]| {
            let start = spans.iter().map(|span| span.start).min()?;
            Some(Span::new(start, spans.iter().map(|span| span.end).max()?))
        };
        // "three seats in March" has a three and a March, and no third of March.
        let beside = |left: Span, right: Span| {
            let between = Span::new(left.end.min(right.end), left.start.max(right.start));
            let gap = fold(self.text.slice(between));
            !left.overlaps(right) && split_words(&gap).all(|(_, word)| DAY_WORDS.contains(&word))
        };
        let month = usize::try_from(date.month()).ok().and_then(|month| MONTHS.get(month.checked_sub(1)?))?;
        if let Some(month) = self.name(month)
            && let Some(day) = numbers(date.day().into()).find(|day| beside(*day, month.span))
        {
            return Some((hull(&[day, month.span])?, 0.8));
        }
        if let Some(year) = numbers(date.year()).next() {
            let all = numbers(date.day().into()).flat_map(|day| {
                numbers(date.month().into()).filter(move |month| *month != day).map(move |month| [day, month, year])
            });
            let close = all.filter_map(|spans| hull(&spans)).find(|hull| hull.len() <= WRITTEN_DATE);
            if let Some(hull) = close {
                return Some((hull, 0.7));
            }
        }
        let weekday = usize::try_from(date.weekday().to_monday_zero_offset()).ok().and_then(|at| WEEKDAYS.get(at))?;
        self.name(weekday).map(|found| (found.span, 0.6))
    }

    /// A month or weekday, or its usual short form.
    fn name(&self, name: &str) -> Option<&Word> {
        self.words().iter().find(|word| {
            word.folded == name || (word.folded.len() >= 3 && word.folded.len() <= 4 && name.starts_with(&word.folded))
        })
    }

    /// True if this time of day (`17:45`) was said, in either way of counting the hours.
    fn says_clock(&self, clock: &str, language: &Language) -> bool {
        let part = |range: std::ops::Range<usize>| clock.get(range).and_then(|part| part.parse::<i16>().ok());
        let (Some(hour), Some(minute)) = (part(0..2), part(3..5)) else { return false };
        let says = |wanted: i16| self.number(f64::from(wanted), &[], language).is_some();
        let has = |name: &str| self.words().iter().any(|word| word.folded == name);
        let says_hour = |hour: i16| {
            let half_day = if hour % 12 == 0 { 12 } else { hour % 12 };
            says(hour)
                || says(half_day)
                || (hour == 12 && (has("noon") || has("midday")))
                || (hour % 24 == 0 && has("midnight"))
        };
        // "quarter to five"
        let to_next = minute > 30 && says_hour((hour + 1) % 24);
        let says_minute = match minute {
            0 => true,
            30 if has("half") => true,
            15 | 45 if has("quarter") => true,
            _ => says(minute) || (to_next && says(60 - minute)),
        };
        says_minute && (says_hour(hour) || to_next)
    }

    /// An ISO duration all of whose numbers were said.
    fn duration(&self, value: &str, language: &Language) -> Option<(Span, f32)> {
        let body = value.strip_prefix('P')?;
        if !body.bytes().all(|byte| byte.is_ascii_digit() || b"YMWDTHS.".contains(&byte)) {
            return None;
        }
        let mut spans = Vec::new();
        for part in body.split(|c: char| c.is_ascii_uppercase()).filter(|part| !part.is_empty()) {
            spans.push(self.number(part.parse().ok()?, &[], language)?.0);
        }
        spans.first().map(|first| (*first, 0.7))
    }
}

struct Spoken {
    word: String,
    apart: bool,
}

impl text2num::Token for &Spoken {
    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.word)
    }

    fn text_lowercase(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.word)
    }

    fn nt_separated(&self, _: &Self) -> bool {
        self.apart
    }
}

/// Words for counts. "A" is none: people say it of everything.
const COUNTS: [(&str, f64); 11] = [
    ("couple", 2.0),
    ("pair", 2.0),
    ("both", 2.0),
    ("double", 2.0),
    ("twice", 2.0),
    ("once", 1.0),
    ("single", 1.0),
    ("triple", 3.0),
    ("dozen", 12.0),
    ("half", 0.5),
    ("quarter", 0.25),
];

/// Marks that are rare where people talk, and common where a reply was cut or misread.
const SYNTAX: [char; 6] = ['"', '\\', '{', '}', '[', ']'];

/// Words between a day and its month.
const DAY_WORDS: [&str; 6] = ["the", "of", "day", "de", "st", "th"];
/// Longest date in digits, in characters.
const WRITTEN_DATE: usize = 16;

const NEGATIONS: [&str; 8] = ["no", "not", "without", "never", "none", "except", "non", "dont"];

/// Words that weigh nothing in an overlap.
const FILLERS: [&str; 18] = [
    "the", "a", "an", "of", "to", "for", "in", "on", "at", "and", "with", "my", "your", "is", "by", "from", "de", "la",
];

/// True for a text of nothing but words that weigh nothing.
fn is_filler(text: &str) -> bool {
    let folded = fold(text);
    let mut words = split_words(&folded).peekable();
    // "LA" and "IN" are places.
    words.peek().is_some() && words.all(|(_, word)| ARTICLES.contains(&word))
}

/// Words that are no value by themselves. "My" is one: it says whose.
const ARTICLES: [&str; 10] = ["the", "a", "an", "of", "to", "for", "and", "with", "is", "from"];

/// Words of letters and digits, with the byte where each begins.
fn split_words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split(|c: char| !c.is_alphanumeric()).filter_map(move |word| {
        // The separator after a word is one character; its length is found where the text goes on.
        let start = at;
        at += word.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
        (!word.is_empty()).then_some((start, word))
    })
}

/// True unless a word would be cut at byte `at`. Scripts without spaces have no such bounds, nor do words whose
/// endings are written onto them.
fn is_bound(text: &str, at: usize) -> bool {
    let (Some(before), Some(after)) = (text[..at].chars().next_back(), text[at..].chars().next()) else { return true };
    // A run of katakana is one word: "アメリカ" is not said by "ラテンアメリカ".
    let is_one_word = is_katakana(before) && is_katakana(after);
    !(before.is_alphanumeric() && after.is_alphanumeric())
        || !is_one_word && (is_unspaced(before) || is_unspaced(after))
}

/// The same word, or the same with another of the common endings. Both folded.
#[must_use]
pub fn kin(left: &str, right: &str) -> bool {
    if left == right {
        return true;
    }
    let common: usize =
        left.chars().zip(right.chars()).take_while(|(left, right)| left == right).map(|(c, _)| c.len_utf8()).sum();
    let endings = [&left[common..], &right[common..]];
    // `city`/`cities`, `dress`/`dresses`: what is left on either side must be an ending. "Mars" is no form of "Mary".
    common >= 3
        && (!endings.contains(&"y") || endings.contains(&"ies") || endings.contains(&""))
        && endings.iter().all(|ending| {
            matches!(
                *ending,
                "" | "s"
                    | "es"
                    | "y"
                    | "ies"
                    | "ed"
                    | "d"
                    | "ing"
                    | "e"
                    | "er"
                    | "r"
                    | "n"
                    | "en"
                    | "ly"
                    | "led"
                    | "ling"
            )
        })
        && (common >= 4 || endings.iter().all(|ending| matches!(*ending, "" | "s" | "es" | "y" | "ies")))
}

fn same_number(left: &str, right: &str, language: &Language) -> bool {
    let digits = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    // One in digits and one spelt: otherwise they are the same words or other numbers.
    if digits(left) == digits(right) {
        return false;
    }
    let read = |word: &str| read_number(word, language, true).map(|(_, number)| number);
    matches!((read(left), read(right)), (Some(left), Some(right)) if left == right)
}

/// What a word that begins with digits may count: `3`, `2.5`, `1,000`, `3rd`, `10km`, `5k`.
fn digits_of(word: &str, language: &Language) -> Vec<f64> {
    let length = word.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(word.len());
    let (digits, unit) = word.split_at(length);
    let digits = digits.trim_end_matches(['.', ',']);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || digits.len() > 40 {
        return Vec::new();
    }
    // "1,000" is a thousand in English, and elsewhere to some and one to others; "2.5" is 25 to nobody.
    let other = grouped(digits, '.', ',').filter(|_| !matches!(language, Language::English(_)));
    let mut values: Vec<f64> = [grouped(digits, ',', '.'), other, digits.parse().ok()]
        .into_iter()
        .flatten()
        .filter(|value| value.is_finite())
        .collect();
    if !digits.contains([',', '.']) {
        values.truncate(1);
    }
    let scale = match unit {
        "k" => 1e3,
        "m" => 1e6,
        _ => return values,
    };
    let scaled: Vec<f64> = values.iter().map(|value| value * scale).collect();
    values.extend(scaled);
    values
}

/// Digits in groups, and after the point a fraction.
fn grouped(digits: &str, group: char, point: char) -> Option<f64> {
    let (whole, fraction) = digits.split_once(point).unwrap_or((digits, "0"));
    let mut groups = whole.split(group);
    // Groups may be of two digits, but for the last: "1,00,000".
    let is_first = groups.next().is_some_and(|first| first.len() <= 3 || !whole.contains(group));
    let rest: Vec<usize> = groups.map(str::len).collect();
    let is_grouped = rest.iter().all(|length| matches!(length, 2 | 3)) && rest.last().is_none_or(|last| *last == 3);
    (is_first && is_grouped).then(|| format!("{}.{fraction}", whole.replace(group, "")).parse().ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::call::testing::function;

    fn order() -> Function {
        function(
            "order",
            json!({"type": "object", "properties": {
                "dish": {"type": "string"}, "count": {"type": "integer"}, "price": {"type": "number"},
                "size": {"enum": ["small", "extra_large"]}, "gift": {"type": "boolean"},
                "day": {"type": "string", "format": "date"}, "phone": {"type": "string"},
                "page": {"type": "integer", "default": 1}, "note": {"type": "string"},
                "toppings": {"type": "array", "items": {"type": "string"}}, "extra": {}}}),
        )
    }

    fn grounding(arguments: Value, text: &str, earlier: &[&str], sightings: &[Sighting]) -> Grounding {
        let function = order();
        let Value::Object(arguments) = arguments else { unreachable!("an object") };
        let utterance = Utterance::new(text);
        let slot_at = |path: &SlotPath| function.slot_ids().find(|id| function.slot(*id).path == *path);
        let note = function.slot_labelled("note");
        let rules = Rules {
            free: &|slot| Some(slot) == note,
            slot_at: &slot_at,
            language: &Language::english(),
            coercions: &[],
            offending: &HashSet::new(),
        };
        ground(&function, arguments, &Evidence { utterance: &utterance, earlier, sightings, negated: &[] }, &rules)
    }

    /// The origin's kind and text of the one value.
    fn origin(key: &str, value: &Value, text: &str) -> Option<String> {
        let found = grounding(json!({ (key): value }), text, &["earlier I said blue cheese"], &[]);
        found.grounded.first().map(|grounded| match &grounded.origin {
            Origin::Utterance { text, .. } => text.clone(),
            Origin::Earlier { text } => format!("earlier: {text}"),
            other => format!("{other:?}"),
        })
    }

    #[test]
    fn what_was_said_is_grounded() {
        for (key, value, text, expected) in [
            ("dish", json!("pepperoni pizza"), "Two Pepperoni Pizzas please", "Pepperoni Pizzas"),
            ("dish", json!("Crème Brûlée"), "one creme brulee", "creme brulee"),
            ("dish", json!("2 pizzas"), "two pizzas", "two pizzas"),
            ("dish", json!("the cities"), "the city", "the city"),
            ("dish", json!("Smith, John"), "for john smith", "john smith"),
            ("dish", json!("my"), "add it to my list", "my"),
            ("dish", json!("San Francisco, CA"), "in san francisco", "san francisco"),
            ("dish", json!("寿司"), "寿司を二つください", "寿司"),
            ("dish", json!("アメリカ"), "北アメリカの地図", "アメリカ"),
            ("dish", json!("神南3丁目"), "東京都渋谷区神南三丁目です", "神南三丁目"),
            ("dish", json!("150-0002"), "〒１５０−０００２です", "１５０−０００２"),
            ("count", json!(12), "十二個ください", "十二"),
            ("count", json!(2500), "二千五百円です", "二千五百"),
            ("count", json!(35000), "3万5千人", "3万5千"),
            ("count", json!(2), "２枚です", "２"),
            ("dish", json!("blue cheese"), "make it two", "earlier: blue cheese"),
            ("dish", json!("3"), "three of them", "three"),
            ("count", json!(2), "two pizzas", "two"),
            ("count", json!(205), "two hundred and five", "two hundred and five"),
            ("count", json!(21), "twenty-one days", "twenty-one"),
            ("count", json!(1000), "1,000 of them", "1,000"),
            ("count", json!(12), "a dozen eggs", "dozen"),
            ("count", json!(6), "half a dozen eggs", "half a dozen"),
            ("count", json!(3), "the 3rd one", "3rd"),
            ("count", json!(3), "the 3rd of three", "three"),
            ("count", json!(-5), "minus five degrees", "five"),
            ("price", json!(2.5), "two and a half", "two and a half"),
            ("price", json!(0.05), "5% off", "5"),
            ("price", json!(5000), "5k a year", "5k"),
            ("size", json!("extra_large"), "an extra large one", "extra large"),
            ("size", json!("small"), "one pizza", "Choice"),
            ("gift", json!(true), "wrap it", "Choice"),
            ("day", json!("2026-03-01"), "on march 1st", "march 1st"),
            ("day", json!("2026-03-01"), "this sunday", "sunday"),
            ("day", json!("2026-03-01T17:00:00Z"), "sunday at 5", "sunday"),
            ("phone", json!("+15551234567"), "call (555) 123-4567", "555) 123-4567"),
            ("page", json!(1), "next", "Default"),
            ("note", json!("Dear John"), "write to him", "Generated"),
            ("note", json!("ok"), "say ok", "ok"),
            ("extra", json!({"a": "pizza"}), "pizza", "pizza"),
        ] {
            assert_eq!(origin(key, &value, text).as_deref(), Some(expected), "{key} {value} {text}");
        }
    }

    #[test]
    fn what_nobody_said_is_not() {
        for (key, value, text) in [
            ("dish", json!("sushi"), "a pizza"),
            ("dish", json!("art"), "the party starts"),
            ("dish", json!("no onions"), "with onions"),
            ("dish", json!("S:\"sushi"), "some sushi"),
            ("dish", json!("sushi\"}"), "some sushi"),
            ("dish", json!("room 12"), "the conference room"),
            ("dish", json!("Paris, Texas, United States"), "in paris"),
            ("dish", json!("!?"), "what !?"),
            ("dish", json!("アメリカ"), "ラテンアメリカの音楽"),
            ("dish", json!("神南3丁目"), "神南四丁目"),
            ("count", json!(1), "一般の人"),
            ("count", json!(2), "十二個"),
            ("count", json!(3), "3万円"),
            ("count", json!(1), "a table please"),
            ("count", json!(3), "two or four"),
            ("count", json!(-5), "five degrees"),
            ("count", json!(2), "room 12"),
            ("price", json!(0.05), "5 dollars"),
            ("size", json!("huge"), "a pizza"),
            ("day", json!("2026-03-02"), "this sunday"),
            ("day", json!("2026-03-01T17:00:00Z"), "on sunday"),
            ("phone", json!("+15551234567"), "call me"),
            ("page", json!(2), "next"),
            ("extra", json!({"a": "sushi"}), "pizza"),
            // Words that are scattered, or are said by everyone.
            ("dish", json!("new york"), "a new ticket to york"),
            ("dish", json!("cheese burger"), "a burger and a coke, and cheese"),
            ("dish", json!("a"), "a pizza"),
            ("dish", json!("the"), "the pizza"),
            // Numbers within numbers.
            ("count", json!(55), "5.5 miles"),
            ("count", json!(250), "2.50 please"),
            ("count", json!(5), "the 15th of them"),
            ("count", json!(1), "a pizza"),
            ("dish", json!("12"), "room 3124"),
            ("phone", json!("123456"), "call 91234567"),
            // Parts of dates that belong to something else.
            ("day", json!("2026-03-03"), "3 seats in march"),
            ("day", json!("2026-05-05"), "may I have a table for 5"),
            ("day", json!("2026-03-04"), "3 adults, 4 rooms and a bill of 2026 euros"),
            ("day", json!("2026-03-01T17:00:00Z"), "this sunday, four of us"),
            // Most of it was said, and what matters was not.
            ("dish", json!("Rome International Airport"), "to the international airport"),
            ("dish", json!("cancel reservation for Bob"), "cancel my reservation"),
            // A name is not another name with other letters at its end.
            ("dish", json!("Mary"), "call Mars"),
            // Only a number in international form has digits before it that nobody says.
            ("phone", json!("9999123456"), "account 123456"),
            ("count", json!(-5), "a table for 3-5"),
            ("count", json!(-5), "below 5 degrees"),
            ("count", json!(1), "1,000 of them"),
            ("price", json!(1500), "1.500 kg"),
        ] {
            let found = grounding(json!({ (key): value }), text, &[], &[]);
            assert!(found.arguments.is_empty() && found.grounded.is_empty(), "{key} {value} {text} {found:?}");
            assert_eq!(found.violations[0].kind, ViolationKind::Ungrounded);
        }
    }

    #[test]
    fn mentions_ground_what_words_do_not() {
        let sighting = |span: (usize, usize), text: &str, value: Value, recognizer: &str| Sighting {
            others: Vec::new(),
            id: RecognizerId::from_index(0),
            span: span.into(),
            text: text.into(),
            value,
            recognizer: recognizer.into(),
            score: 0.9,
        };
        let sightings = [
            sighting((0, 9), "evergreen", json!("Seattle, WA"), "city"),
            sighting((10, 18), "tomorrow", json!("2026-03-01"), "date"),
            sighting((22, 23), "5", json!("17:00:00"), "time"),
            sighting((30, 36), "5 buck", json!({"amount": 7, "currency": "USD"}), "money"),
        ];
        let said = "evergreen tomorrow at 5       x buck";
        let found = |value: Value| {
            let found = grounding(json!({"dish": value}), said, &[], &sightings);
            found.grounded.into_iter().next().map(|grounded| grounded.origin)
        };
        let by = |origin: Option<Origin>| match origin {
            Some(Origin::Utterance { recognizer, .. }) => recognizer,
            _ => None,
        };
        assert_eq!(by(found(json!("Seattle, WA"))).as_deref(), Some("city"));
        assert_eq!(by(found(json!("2026-03-01"))).as_deref(), Some("date"));
        assert_eq!(by(found(json!("2026-03-01T17:00:00+01:00"))).as_deref(), Some("date"));
        assert_eq!(by(found(json!(7))).as_deref(), Some("money"));
        assert_eq!(by(found(json!("USD"))).as_deref(), Some("money"));
        assert_eq!(found(json!("2026-03-02")), None);
        assert_eq!(found(json!("2026-03-01T09:00:00")), None, "the hour was not said");
        assert_eq!(found(json!("2026-03-01: delete everything")), None);
    }

    /// Judged with these words ruled out by those before them.
    fn negating(arguments: Value, text: &str, ruled_out: &[(&str, &str)], sightings: &[Sighting]) -> Grounding {
        let function = order();
        let Value::Object(arguments) = arguments else { unreachable!("an object") };
        let utterance = Utterance::new(text);
        let span = |words: &str| {
            let at = text.find(words).expect("the words are said");
            utterance.span_of_bytes(at..at + words.len())
        };
        let made = |(cue, scope): &(&str, &str)| RuledOut { cue: span(cue), scope: span(scope), said_for: Vec::new() };
        let negated: Vec<RuledOut> = ruled_out.iter().map(made).collect();
        let slot_at = |path: &SlotPath| function.slot_ids().find(|id| function.slot(*id).path == *path);
        let rules = Rules {
            free: &|_| false,
            slot_at: &slot_at,
            language: &Language::english(),
            coercions: &[],
            offending: &HashSet::new(),
        };
        let evidence =
            Evidence { utterance: &utterance, earlier: &["a small one with onions"], sightings, negated: &negated };
        ground(&function, arguments, &evidence, &rules)
    }

    #[test]
    fn what_is_ruled_out_is_excluded() {
        for (key, value, text, ruled_out) in [
            ("dish", json!("onions"), "a pizza with no onions", &[("no", "onions")][..]),
            ("dish", json!("onion"), "a pizza with no onions", &[("no", "onions")]),
            ("size", json!("small"), "any size but small", &[("but", "small")]),
            ("size", json!("extra_large"), "not extra large", &[("not", "extra large")]),
            ("count", json!(5), "not five", &[("not", "five")]),
            ("page", json!(1), "not page 1", &[("not", "page 1")]),
            ("day", json!("2026-03-01"), "anything but sunday", &[("anything but", "sunday")]),
            ("dish", json!("pepperoni pizza onions"), "a pepperoni pizza without onions", &[("without", "onions")]),
            ("phone", json!("123456"), "don't call 123456", &[("don't", "call 123456")]),
        ] {
            let found = negating(json!({ (key): value }), text, ruled_out, &[]);
            assert!(found.arguments.is_empty(), "{key} {value} {text}: {found:?}");
            assert_eq!(found.violations[0].kind, ViolationKind::Negated, "{key} {value} {text}");
            assert_eq!(found.excluded.iter().map(|one| &one.value).collect::<Vec<_>>(), [&value], "{text}");
        }
    }

    #[test]
    fn what_is_said_elsewhere_or_as_ruled_out_stays() {
        for (key, value, text, ruled_out) in [
            ("dish", json!("onions"), "onions for me, no onions for her", &[("no", "onions for her")][..]),
            ("dish", json!("no onions"), "a pizza with no onions", &[("no", "onions")]),
            ("dish", json!("pizza without onions"), "a pizza without onions", &[("without", "onions")]),
            ("size", json!("extra_large"), "extra large, not small", &[("not", "small")]),
            ("count", json!(5), "five, not six", &[("not", "six")]),
            ("dish", json!("pizza"), "a pizza with no onions", &[("no", "onions")]),
        ] {
            let text_at = text.rfind(ruled_out[0].0).expect("said");
            assert!(text_at > 0);
            let found = negating(json!({ (key): value }), text, ruled_out, &[]);
            assert_eq!(found.arguments.get(key), Some(&value), "{key} {text}: {found:?}");
            assert!(found.excluded.is_empty() && found.violations.is_empty(), "{text}");
        }
    }

    #[test]
    fn a_flag_that_is_ruled_out_is_false() {
        for (proposed, reported) in [(true, 1), (false, 0)] {
            let found = negating(json!({"gift": proposed}), "not as a gift", &[("not", "gift")], &[]);
            assert_eq!(Value::Object(found.arguments), json!({"gift": false}));
            assert_eq!((found.violations.len(), found.excluded.len()), (reported, 0));
            assert!(matches!(&found.grounded[0].origin, Origin::Utterance { text, .. } if text == "gift"));
        }
        let found = negating(json!({"gift": true}), "a gift, no onions", &[("no", "onions")], &[]);
        assert_eq!(Value::Object(found.arguments), json!({"gift": true}));
    }

    #[test]
    fn another_day_than_the_recognizers_is_none() {
        let sunday = Sighting {
            others: Vec::new(),
            id: RecognizerId::from_index(0),
            span: (5, 11).into(),
            text: "sunday".into(),
            value: json!("2026-03-08"),
            recognizer: "date".into(),
            score: 0.9,
        };
        let found =
            |day: &str| grounding(json!({"day": day}), "this sunday", &[], std::slice::from_ref(&sunday)).arguments;
        assert_eq!(found("2026-03-08").len(), 1);
        assert_eq!(found("2031-03-02").len(), 0);
    }

    #[test]
    fn equal_values_take_their_own_spans_and_items_move_up() {
        let found = grounding(json!({"toppings": ["basil", "ham", "ham"], "count": 2}), "ham, ham and two", &[], &[]);
        assert_eq!(Value::Object(found.arguments), json!({"toppings": ["ham", "ham"], "count": 2}));
        let spans: Vec<_> = found
            .grounded
            .iter()
            .map(|grounded| match &grounded.origin {
                Origin::Utterance { span, .. } => (grounded.pointer.as_str(), span.start),
                other => unreachable!("{other:?}"),
            })
            .collect();
        assert_eq!(spans, [("/toppings/0", 0), ("/toppings/1", 5), ("/count", 13)]);
        assert_eq!(found.violations[0].path, "/toppings/0");
    }

    proptest! {
        #[test]
        fn nothing_that_was_not_said_comes_out(value in "[a-m]{1,8}( [a-m]{1,8}){0,2}", text in "[n-z]{1,8}( [n-z]{1,8}){0,6}") {
            let found = grounding(json!({"dish": value, "toppings": [value]}), &text, &[], &[]);
            prop_assert!(found.arguments.is_empty());
        }

        #[test]
        fn whatever_was_said_comes_out(text in "\\PC{1,60}") {
            let utterance = Utterance::new(&text);
            // A mark may sit on a space and make a "word" with it; a letter may fold to nothing.
            let is_plain =
                |word: &&str| word.trim() == *word && !is_filler(word) && fold(word).chars().any(char::is_alphanumeric);
            for value in utterance.words().iter().map(|word| utterance.slice(*word)).filter(is_plain) {
                prop_assert!(!grounding(json!({"dish": value}), &text, &[], &[]).arguments.is_empty(), "{} in {}", value, text);
            }
        }

        #[test]
        fn every_scalar_that_is_kept_has_an_origin(value in crate::call::testing::json_value(3), text in "\\PC{0,40}") {
            let found = grounding(json!({"extra": value, "dish": text}), &text, &[], &[]);
            let mut scalars = 0;
            let mut stack: Vec<&Value> = found.arguments.values().collect();
            while let Some(value) = stack.pop() {
                match value {
                    Value::Array(items) => stack.extend(items),
                    Value::Object(members) => stack.extend(members.values()),
                    _ => scalars += 1,
                }
            }
            prop_assert_eq!(scalars, found.grounded.len());
            let whole = Value::Object(found.arguments);
            for grounded in &found.grounded {
                prop_assert_eq!(whole.pointer(&grounded.pointer), Some(&grounded.value));
            }
        }
    }
}
