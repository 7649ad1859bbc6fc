//! Finds the source of each value of a call. A value that was not said is invented: it is dropped and reported.
//!
//! Words that only rule something out ("no onions", "anything but large") are not evidence: such a value is removed,
//! even if the schema offers it as a default or a choice, and reported as excluded. A flag that is named there is
//! false.
//!
//! Evidence is searched strongest first: a recognizer's mention of the same value; the value's own words in the
//! utterance (folded; then with numbers as words or digits and with other endings; then in another order); its number,
//! date or digits; the same in earlier texts of the conversation; the schema's default; its choices.
//!
//! A text that was said with other signs, with shorter words, or in another order, is replaced by the words as they
//! were said, and reported.

use std::{borrow::Cow, cell::OnceCell, collections::HashSet};

use jiff::civil::Date;
use serde_json::{Map, Value};

use super::{
    Coercion, POSSIBLE_PHONE, SlotValue, Source, Violation, ViolationKind,
    ruled_out::{RuledOut, flag_within},
    said::SaidText,
    schema::{accepts_type, choices, push_pointer, same, schemas_at, text_of},
    signs::as_said,
    words::split_words,
};
use crate::{
    module::{Function, PathStep, Slot, SlotId, SlotKind, SlotPath},
    recognize::{Mention, ValueReader},
    text::{Span, Utterance, fold, fuel},
};

/// Least digits of a code whose groups do not matter, and the characters among which one may be miswritten.
const CODE: usize = 8;
const LONGEST_CODE: usize = 64;

/// What was said.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    pub utterance: &'a Utterance,
    /// Earlier texts of the conversation, in any order.
    pub earlier: &'a [&'a str],
    /// Mentions that recognizers found in the utterance.
    pub mentions: &'a [Mention],
    /// Parts of the utterance that rule out what they name ("no onions").
    pub negated: &'a [RuledOut],
}

/// What grounding needs of the function besides its slots.
pub struct Rules<'a> {
    /// Slots whose values a model may write itself.
    pub free: &'a dyn Fn(SlotId) -> bool,
    /// The slot at a path, if there is one.
    pub slot_at: &'a dyn Fn(&SlotPath) -> Option<SlotId>,
    pub reader: &'a ValueReader,
    /// The names of the recognizers, by their ids.
    pub recognizers: &'a [Box<str>],
    /// The coercions: the values before them are evidence too.
    pub coercions: &'a [Coercion],
    /// JSON pointers of values that the schema refuses: removed without a report.
    pub offending: &'a HashSet<&'a str>,
}

/// The result of grounding a proposal.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Grounding {
    /// Without ungrounded values, and without objects and arrays that became empty by that.
    pub arguments: Map<String, Value>,
    /// One for each scalar of `arguments`, in its order.
    pub grounded: Vec<SlotValue>,
    /// One [`ViolationKind::Ungrounded`] or [`ViolationKind::Negated`] for each value that was removed or inverted.
    pub violations: Vec<Violation>,
    /// Values that occur only where they are ruled out; removed too. Their pointers are those of the proposal.
    pub excluded: Vec<SlotValue>,
}

/// Grounds every scalar of `arguments`. Every remaining value has a [`Source`].
#[must_use]
pub fn ground(
    function: &Function,
    arguments: Map<String, Value>,
    evidence: &Evidence<'_>,
    rules: &Rules<'_>,
) -> Grounding {
    let mut walk = Grounder {
        function,
        rules,
        evidence,
        said: SaidText::new(evidence.utterance.to_the_letter(), rules.reader),
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

struct Grounder<'a> {
    function: &'a Function,
    rules: &'a Rules<'a>,
    evidence: &'a Evidence<'a>,
    said: SaidText<'a>,
    /// The utterance without the parts that it rules out.
    wanted: OnceCell<SaidText<'a>>,
    earlier: OnceCell<Vec<SaidText<'a>>>,
    /// Spans that are already used for a value: two equal values need two spans if there are two.
    used: Vec<Span>,
    /// The current place in the proposal, and its place in the result, where items move up.
    pointer: String,
    place: String,
    steps: Vec<PathStep>,
    grounding: Grounding,
}

impl<'a> Grounder<'a> {
    fn object(&mut self, object: Map<String, Value>) -> Map<String, Value> {
        object
            .into_iter()
            .filter_map(|(key, value)| {
                let kept = self.within(&key, &key, PathStep::Key(key.as_str().into()), |walk| walk.value(value))?;
                Some((key, kept))
            })
            .collect()
    }

    fn within<T>(&mut self, key: &str, place: &str, step: PathStep, act: impl FnOnce(&mut Self) -> T) -> T {
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
                    kept.extend(self.within(&index.to_string(), &place, PathStep::Each, |walk| walk.value(item)));
                }
                Some(kept).filter(|kept| !kept.is_empty()).map(Value::Array)
            }
            scalar => self.scalar(&scalar),
        }
    }

    fn scalar(&mut self, value: &Value) -> Option<Value> {
        fuel::spend(1 + self.evidence.negated.len() + self.evidence.mentions.len());
        if fuel::is_out() {
            return None;
        }
        let slot = self.slot();
        let negated = self.negated_for(slot.map(|(id, _)| id));
        if let Some(span) = value.as_bool().and_then(|_| self.denied_flag(slot?.1, &negated)) {
            return Some(self.denied(value, span));
        }
        let standing =
            if is_garbled(value, self.evidence) { Standing::Nowhere } else { self.standing(value, slot, &negated) };
        let grounded = match standing {
            Standing::Grounded(grounded) => grounded,
            Standing::Nowhere => {
                let said = slot.and_then(|(_, slot)| self.code_said(value, slot, &negated));
                let expected = match said {
                    Some(_) => "the code that was said",
                    None => "a value that was said; leave it out if it was not",
                };
                self.violate(ViolationKind::Ungrounded, value, expected);
                said?
            }
            Standing::Excluded(excluded) => {
                self.violate(ViolationKind::Negated, value, "a value that was not ruled out; leave it out");
                self.grounding.excluded.push(SlotValue { pointer: self.pointer.clone(), ..excluded });
                return None;
            }
        };
        let grounded = self.cut_back(grounded, slot, value);
        let value = grounded.value.clone();
        if let Some(span) = grounded.span {
            self.used.push(span);
            if let Some(mention) = self.ambiguous(&value, slot, span) {
                self.leave_open(mention);
                return None;
            }
            if self.is_impossible(slot, span) {
                self.violate(ViolationKind::Format, &value, POSSIBLE_PHONE);
                return None;
            }
        }
        self.grounding.grounded.push(grounded);
        Some(value)
    }

    /// The code that was said for the slot, where another one is proposed that was not: without it, a call would lose what
    /// the person said. Only if the slot's recognizers found one, and it cannot be another slot's.
    fn code_said(&self, proposed: &Value, slot: &Slot, negated: &[&RuledOut]) -> Option<SlotValue> {
        let proposed = proposed.as_str()?;
        let is_own = |mention: &Mention, code: &str| {
            let reads = |other: &&Slot| other.recognizers.contains(&mention.recognizer);
            self.function.slots.iter().filter(reads).count() == 1
                || strsim::levenshtein(code, &bare(proposed)) <= code.len() / CODE
        };
        let is_meant = |mention: &&Mention| {
            slot.recognizers.contains(&mention.recognizer)
                && mention.value.is_string()
                && mention.others.is_empty()
                && code(&mention.text).is_some_and(|said| is_own(mention, &said))
                && !self.used.iter().any(|used| used.overlaps(mention.span))
                && !negated.iter().any(|ruled_out| ruled_out.scope.overlaps(mention.span))
        };
        let mut found = self.evidence.mentions.iter().filter(is_meant);
        let mention = found.next().filter(|_| found.next().is_none())?;
        Some(self.of_mention(&mention.value, mention))
    }

    /// Replaces the value by the words that were said, if it has signs or letters that were not said. Values that follow a pattern
    /// or the choices of the schema stay.
    fn cut_back(&mut self, grounded: SlotValue, slot: Option<(SlotId, &'a Slot)>, value: &Value) -> SlotValue {
        let is_written_by_rule = slot.is_some_and(|(_, slot)| {
            ["pattern", "format", "enum", "const"].iter().any(|keyword| slot.schema.get(keyword).is_some())
        });
        let is_open_text = grounded.from == Source::Said && grounded.recognizer.is_none() && is_open(slot);
        let (Some(text), Some(words)) = (value.as_str(), &grounded.text) else { return grounded };
        if !is_open_text || is_written_by_rule || self.is_choice(text) {
            return grounded;
        }
        let all = match grounded.span {
            Some(_) => self.evidence.utterance.text(),
            // From an earlier text: only these words of it are known here.
            None => words.as_str(),
        };
        let in_a_row = || match grounded.span {
            Some(_) => self.said.says_in_a_row(text),
            None => SaidText::new(Cow::Owned(Utterance::new(words)), self.rules.reader).says_in_a_row(text),
        };
        let Some(said) = as_said(text, words, all, in_a_row).map(str::to_owned) else { return grounded };
        self.violate(ViolationKind::Ungrounded, value, "the words as they were said, without other signs or letters");
        SlotValue { value: said.into(), ..grounded }
    }

    /// True for one of the schema's choices at this place.
    fn is_choice(&self, text: &str) -> bool {
        let schemas = schemas_at(&self.function.parameters, &self.pointer);
        schemas.iter().filter_map(|of| choices(of)).flatten().any(|choice| choice == text)
    }

    /// A mention by a recognizer of the slot at `span`, if it may mean other values besides this one.
    fn ambiguous(&self, value: &Value, slot: Option<(SlotId, &'a Slot)>, span: Span) -> Option<&'a Mention> {
        let (_, slot) = slot?;
        let may_mean = |mention: &&Mention| {
            !mention.others.is_empty()
                && slot.recognizers.contains(&mention.recognizer)
                && mention.span.overlaps(span)
                && std::iter::once(&mention.value).chain(&mention.others).any(|one| means(one, &mention.text, value))
        };
        self.evidence.mentions.iter().find(may_mean)
    }

    /// True if a recognizer of the slot found an impossible value at `span`.
    fn is_impossible(&self, slot: Option<(SlotId, &'a Slot)>, span: Span) -> bool {
        let is_its = |mention: &&Mention| slot.is_some_and(|(_, slot)| slot.recognizers.contains(&mention.recognizer));
        self.evidence.mentions.iter().filter(is_its).any(|mention| mention.span == span && mention.is_impossible())
    }

    /// Reports an ambiguity that only the person can resolve.
    fn leave_open(&mut self, mention: &Mention) {
        let readings: Vec<Value> = std::iter::once(&mention.value).chain(&mention.others).cloned().collect();
        let named: Vec<String> = readings.iter().filter_map(text_of).collect();
        self.grounding.violations.push(Violation {
            kind: ViolationKind::Ambiguous,
            path: self.pointer.clone(),
            found: Some(mention.text.as_str().into()),
            expected: format!("one of {}, as the person says which", named.join(" and ")),
            readings,
        });
    }

    fn violate(&mut self, kind: ViolationKind, value: &Value, expected: &str) {
        let violation = Violation::new(kind, self.pointer.clone(), Some(value), expected.to_owned());
        self.grounding.violations.push(violation);
    }

    /// The ruled-out parts that apply to this slot.
    fn negated_for(&self, slot: Option<SlotId>) -> Vec<&'a RuledOut> {
        let concerns = |ruled_out: &&RuledOut| slot.is_none_or(|slot| !ruled_out.said_for.contains(&slot));
        self.evidence.negated.iter().filter(concerns).collect()
    }

    /// The place of a flag's name, if it is ruled out and not said elsewhere: "no sauce" for a slot `sauce`.
    fn denied_flag(&self, slot: &Slot, negated: &[&RuledOut]) -> Option<Span> {
        let is_flag = slot.kind == SlotKind::Boolean;
        (is_flag && !negated.is_empty())
            .then(|| flag_within(self.evidence.utterance, slot.label(), negated, self.rules.reader.languages()))?
    }

    /// The flag's value as it was said. A different proposed value is reported.
    fn denied(&mut self, proposed: &Value, span: Span) -> Value {
        if *proposed == Value::Bool(true) {
            self.violate(ViolationKind::Negated, proposed, "false, as it was ruled out");
        }
        let value = Value::Bool(false);
        self.grounding.grounded.push(self.said_at(&value, span, 0.9));
        value
    }

    /// The source of the value, apart from ruled-out parts.
    fn standing(&self, value: &Value, slot: Option<(SlotId, &'a Slot)>, negated: &[&RuledOut]) -> Standing {
        if !negated.is_empty() && !value.is_null() && !value.is_boolean() {
            match self.ruled_out(value, slot, negated) {
                Some(Ok(grounded)) => return Standing::Grounded(grounded),
                Some(Err(excluded)) => return Standing::Excluded(excluded),
                None => {}
            }
        }
        match self.origin(value, slot) {
            Some(grounded) => Standing::Grounded(grounded),
            None => Standing::Nowhere,
        }
    }

    /// The source of the value outside the ruled-out parts, or else its place within them; `None` if neither.
    fn ruled_out(
        &self,
        value: &Value,
        slot: Option<(SlotId, &'a Slot)>,
        negated: &[&RuledOut],
    ) -> Option<Result<SlotValue, SlotValue>> {
        let is_within = |span: Span| negated.iter().any(|ruled_out| ruled_out.scope.overlaps(span));
        if let Some(found) = self.mentioned(value, &|mention| !is_within(mention.span)) {
            return Some(Ok(found));
        }
        let without = || {
            let scopes: Vec<Span> = negated.iter().map(|ruled_out| ruled_out.scope).collect();
            self.said.without(&scopes)
        };
        let whole;
        let wanted = if negated.len() == self.evidence.negated.len() {
            self.wanted.get_or_init(without)
        } else {
            whole = without();
            &whole
        };
        let readings = self.readings(value);
        let in_text = |text: &SaidText<'a>| readings.iter().find_map(|one| text.find(one, &self.used, is_open(slot)));
        let tainted = |text: &str| wanted.lacks_what_is_in(text, &self.said);
        let is_tainted = value.as_str().is_some_and(tainted);
        if let Some((span, confidence)) =
            in_text(wanted).filter(|(span, _)| !is_tainted && !self.is_another_day(value, *span))
        {
            return Some(Ok(self.said_at(value, span, confidence)));
        }
        if let Some(found) = self.mentioned(value, &|_| true) {
            return Some(Err(found));
        }
        let (span, confidence) = in_text(&self.said)?;
        let over = negated.iter().find(|ruled_out| ruled_out.scope.overlaps(span))?;
        let found = self.said_at(value, span, confidence);
        // A value "no onions" in the person's words contains the negation itself.
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
        // In digits alone, day and month may be swapped.
        let named = self.evidence.utterance.slice(span).chars().any(char::is_alphabetic);
        let Some(wanted) = day(value).filter(|_| named) else { return false };
        let days: Vec<Date> = self
            .evidence
            .mentions
            .iter()
            .filter(|mention| mention.score >= 0.5 && mention.span.overlaps(span))
            .filter_map(|mention| day(&mention.value))
            .collect();
        !days.is_empty() && !days.contains(&wanted)
    }

    fn unsaid(&self, value: &Value, from: Source, confidence: f32) -> SlotValue {
        SlotValue::unsaid(self.place.clone(), value.clone(), from, confidence)
    }

    fn said_at(&self, value: &Value, span: Span, confidence: f32) -> SlotValue {
        let text = Some(self.evidence.utterance.slice(span).to_owned());
        SlotValue { text, span: Some(span), ..self.unsaid(value, Source::Said, confidence) }
    }

    /// The value, and its form before coercion, which is nearer to the words.
    fn readings<'v>(&self, value: &'v Value) -> Vec<&'v Value>
    where
        'a: 'v,
    {
        let before = self.rules.coercions.iter().filter(|coercion| coercion.path == self.pointer);
        let before = before.map(|coercion| &coercion.from).filter(|from| !from.is_null());
        before.filter(|from| !from.is_object() && !from.is_array()).chain(std::iter::once(value)).collect()
    }

    /// The slot of exactly this place, or else the open slot ([`SlotKind::Any`]) that contains it.
    fn slot(&self) -> Option<(SlotId, &'a Slot)> {
        let at = |steps: &[PathStep]| {
            let id = (self.rules.slot_at)(&SlotPath(steps.to_vec()))?;
            Some((id, self.function.slot(id)))
        };
        at(&self.steps).or_else(|| {
            let shorter = (1..self.steps.len()).rev();
            shorter.filter_map(|length| at(&self.steps[..length])).find(|(_, slot)| slot.kind == SlotKind::Any)
        })
    }

    fn origin(&self, value: &Value, slot: Option<(SlotId, &'a Slot)>) -> Option<SlotValue> {
        let filled = |coercion: &Coercion| {
            coercion.name == "default"
                && self
                    .pointer
                    .strip_prefix(coercion.path.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if value.is_null() || self.rules.coercions.iter().any(filled) {
            return Some(self.unsaid(value, Source::Default, 1.0));
        }
        if let Some(found) = self.mentioned(value, &|_| true) {
            return Some(found);
        }
        let readings = self.readings(value);
        let in_text =
            |text: &SaidText<'a>, used: &[Span]| readings.iter().find_map(|one| text.find(one, used, is_open(slot)));
        if let Some((span, confidence)) =
            in_text(&self.said, &self.used).filter(|(span, _)| !self.is_another_day(value, *span))
        {
            return Some(self.said_at(value, span, confidence));
        }
        if let Some(slot) = slot
            && (self.rules.free)(slot.0)
        {
            return Some(self.unsaid(value, Source::Generated, 0.5));
        }
        let earlier = self.earlier.get_or_init(|| {
            let earlier = self.evidence.earlier.iter();
            earlier.map(|text| SaidText::new(Cow::Owned(Utterance::new(text)), self.rules.reader)).collect()
        });
        for said in earlier {
            if let Some((span, confidence)) = in_text(said, &[]) {
                let text = Some(said.text.slice(span).to_owned());
                return Some(SlotValue { text, ..self.unsaid(value, Source::Said, confidence * 0.9) });
            }
        }
        self.decided(value, slot.map(|(_, slot)| slot))
    }

    /// A value that was not said, but that the schema offers.
    fn decided(&self, value: &Value, slot: Option<&Slot>) -> Option<SlotValue> {
        // The slot of an open value says nothing about its content; the schema may.
        let inside = match slot {
            Some(slot) if slot.kind != SlotKind::Any => Vec::new(),
            _ => schemas_at(&self.function.parameters, &self.pointer),
        };
        let mut defaults = slot
            .and_then(|slot| slot.default.as_ref())
            .into_iter()
            .chain(inside.iter().filter_map(|of| of.get("default")));
        if defaults.any(|default| same(default, value)) {
            return Some(self.unsaid(value, Source::Default, 1.0));
        }
        let declared = slot
            .map(|slot| slot.choices.iter().collect())
            .into_iter()
            .chain(inside.iter().filter_map(|of| choices(of)));
        for choices in declared {
            if choices.iter().any(|choice| same(choice, value)) {
                let (from, confidence) =
                    if choices.len() == 1 { (Source::Default, 1.0) } else { (Source::Choice, 0.5) };
                return Some(self.unsaid(value, from, confidence));
            }
        }
        let is_flag = value.is_boolean()
            && (slot.is_some_and(|slot| slot.kind == SlotKind::Boolean)
                || inside.iter().any(|of| accepts_type(of, "boolean")));
        is_flag.then(|| self.unsaid(value, Source::Choice, 0.5))
    }

    fn mentioned(&self, value: &Value, counts: &dyn Fn(&Mention) -> bool) -> Option<SlotValue> {
        let rank = |mention: &&Mention| {
            let free = !self.used.iter().any(|used| used.overlaps(mention.span));
            (free, mention.score, mention.span.len())
        };
        let mentions = || self.evidence.mentions.iter().filter(|mention| counts(mention));
        let best = mentions().filter(|mention| means(&mention.value, &mention.text, value)).max_by(|left, right| {
            let ((free, score, length), (other_free, other_score, other_length)) = (rank(left), rank(right));
            free.cmp(&other_free).then(score.total_cmp(&other_score)).then(length.cmp(&other_length))
        });
        let best = best.or_else(|| {
            // A date and a time that were found separately.
            let text = value.as_str().filter(|text| text.len() >= 16)?;
            let found = |part: &str| mentions().find(|mention| mention.value == *part);
            let has_clock = found(text.get(11..19).unwrap_or_default()).is_some()
                || self.said.says_time(text.get(11..16).unwrap_or_default());
            found(text.get(..10)?).filter(|_| has_clock)
        })?;
        Some(self.of_mention(value, best))
    }

    /// A value that stands where the mention does.
    fn of_mention(&self, value: &Value, mention: &Mention) -> SlotValue {
        let recognizer = self.rules.recognizers.get(mention.recognizer.index()).map(|name| name.clone().into_string());
        let (text, span) = (Some(mention.text.clone()), Some(mention.span));
        let unsaid = self.unsaid(value, Source::Said, mention.score.clamp(0.0, 1.0));
        SlotValue { text, span, recognizer, ..unsaid }
    }
}

/// True for a slot that takes any text, and if there is no slot.
fn is_open(slot: Option<(SlotId, &Slot)>) -> bool {
    slot.is_none_or(|(_, slot)| slot.choices.is_empty())
}

/// The result for one value.
enum Standing {
    Grounded(SlotValue),
    /// Said only where it is ruled out.
    Excluded(SlotValue),
    Nowhere,
}

/// True for a text with characters that stand for lost data and that people do not type. Folding would not see them.
fn is_garbled(value: &Value, evidence: &Evidence<'_>) -> bool {
    let is_lost = |c: char| c == char::REPLACEMENT_CHARACTER || c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    value.as_str().is_some_and(|text| text.contains(is_lost) && !evidence.utterance.text().contains(text))
}

/// Whether a recognizer's value (or its text) is `value`, or contains it.
fn means(mentioned: &Value, text: &str, value: &Value) -> bool {
    if same(mentioned, value) {
        return true;
    }
    match (mentioned, value) {
        // `{"amount": 5, "currency": "USD"}` has a 5 and a "USD".
        (Value::Object(members), scalar) => members.values().any(|member| !member.is_null() && same(member, scalar)),
        (Value::String(mentioned), Value::String(value)) => {
            let is_date = |text: &str| text.len() >= 10 && text.is_ascii() && text[..10].parse::<Date>().is_ok();
            fold(mentioned) == fold(value)
                || fold(text) == fold(value)
                || is_same_code(text, value)
                || (is_date(mentioned) && mentioned.starts_with(value.as_str()) && is_date(value))
                // A day does not imply an hour, except midnight.
                || (is_date(mentioned)
                    && value.strip_prefix(mentioned.as_str()).is_some_and(|rest| mentioned.len() > 10 || rest.starts_with("T00:00")))
                || (is_date(mentioned) && value.len() >= 5 && mentioned.get(11..).is_some_and(|time| time == value))
        }
        // A number that a text slot holds as text, and the other way round.
        (_, Value::String(value)) => {
            text_of(mentioned).is_some_and(|mentioned| mentioned == *value) || fold(text) == fold(value)
        }
        _ => false,
    }
}

/// A code without the signs between its groups, which people write and models do not: `DE89 3704 0044` is `de8937040044`.
fn code(text: &str) -> Option<String> {
    let is_joint = |c: char| matches!(c, ' ' | '-' | '.' | '/');
    let is_written_so = text.len() <= LONGEST_CODE && text.chars().all(|c| c.is_ascii_alphanumeric() || is_joint(c));
    let digits = text.chars().filter(char::is_ascii_digit).count();
    (is_written_so && digits >= CODE).then(|| bare(text))
}

/// Letters and digits alone, in small letters.
fn bare(text: &str) -> String {
    let kept = text.chars().take(LONGEST_CODE).filter(char::is_ascii_alphanumeric);
    kept.map(|c| c.to_ascii_lowercase()).collect()
}

/// True for two writings of one code.
fn is_same_code(said: &str, value: &str) -> bool {
    code(said).is_some_and(|said| code(value) == Some(said))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::{
        call::{testing::function, words::is_empty},
        language::Language,
        module::RecognizerId,
    };

    fn order() -> Function {
        let mut order = function(
            "order",
            json!({"type": "object", "properties": {
                "code": {"type": "string"}, "dish": {"type": "string"}, "count": {"type": "integer"}, "price": {"type": "number"},
                "size": {"enum": ["small", "extra_large"]}, "gift": {"type": "boolean"},
                "day": {"type": "string", "format": "date"}, "phone": {"type": "string"},
                "page": {"type": "integer", "default": 1}, "note": {"type": "string"},
                "toppings": {"type": "array", "items": {"type": "string"}}, "extra": {}}}),
        );
        order
            .slots
            .iter_mut()
            .filter(|slot| slot.label() == "code")
            .for_each(|slot| slot.recognizers = vec![RecognizerId::from_index(0)]);
        order
    }

    fn grounding(arguments: Value, text: &str, earlier: &[&str], mentions: &[Mention]) -> Grounding {
        let function = order();
        let Value::Object(arguments) = arguments else { unreachable!("an object") };
        let utterance = Utterance::new(text);
        let slot_at = |path: &SlotPath| function.slot_ids().find(|id| function.slot(*id).path == *path);
        let note = function.slot_labelled("note");
        let rules = Rules {
            free: &|slot| Some(slot) == note,
            slot_at: &slot_at,
            reader: &ValueReader::new("en", None),
            recognizers: &["city".into(), "date".into(), "time".into(), "money".into()],
            coercions: &[],
            offending: &HashSet::new(),
        };
        ground(&function, arguments, &Evidence { utterance: &utterance, earlier, mentions, negated: &[] }, &rules)
    }

    /// The kind and text of the single value's source.
    fn origin(key: &str, value: &Value, text: &str) -> Option<String> {
        let found = grounding(json!({ (key): value }), text, &["earlier I said blue cheese"], &[]);
        found.grounded.first().map(|grounded| match (&grounded.text, grounded.span) {
            (Some(text), Some(_)) => text.clone(),
            (Some(text), None) => format!("earlier: {text}"),
            (None, _) => format!("{:?}", grounded.from),
        })
    }

    #[test]
    fn an_ending_may_be_left_out_and_none_is_added() {
        for (value, text, expected) in [
            ("pizza", "two pizzas", "pizza"),
            ("cherry pie", "the cherries pie", "cherry pie"),
            ("lasagnas", "one lasagna", "lasagna"),
            ("margheritae", "a margherita", "margherita"),
        ] {
            let found = grounding(json!({"dish": value}), text, &[], &[]);
            assert_eq!(found.grounded.first().map(|one| &one.value), Some(&json!(expected)), "{value}");
        }
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
            ("count", json!(12), "a dozen eggs", "a dozen"),
            ("count", json!(6), "half a dozen eggs", "half a dozen"),
            ("count", json!(3), "the 3rd one", "3rd"),
            ("count", json!(3), "the 3rd of three", "three"),
            ("count", json!(-5), "minus five degrees", "minus five"),
            ("count", json!(2), "both of them", "both"),
            ("price", json!(2.5), "two and a half", "two and a half"),
            ("price", json!(0.05), "5% off", "5"),
            ("price", json!(5000), "5k a year", "5k"),
            ("size", json!("extra_large"), "an extra large one", "extra large"),
            ("size", json!("small"), "one pizza", "Choice"),
            ("gift", json!(true), "wrap it", "Choice"),
            ("day", json!("2026-03-01"), "on march 1st", "march 1st"),
            ("day", json!("2026-03-01"), "this sunday", "this sunday"),
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
    fn a_code_may_be_grouped_and_is_as_it_was_said() {
        let said = "save Anna with DE89 3704 0044 0532 0130 00";
        let mention = Mention {
            recognizer: RecognizerId::from_index(0),
            span: Span::new(15, 42),
            text: said[15..].to_owned(),
            value: said[15..].into(),
            others: Vec::new(),
            unread: Vec::new(),
            score: 1.0,
        };
        let mentions = [mention];
        for (slot, proposed, expected, reported) in [
            ("code", "DE89370400440532013000", Some("DE89370400440532013000"), 0),
            ("dish", "DE89370400440532013000", Some("DE89370400440532013000"), 0),
            ("code", "DE89370400440532013001", Some("DE89 3704 0044 0532 0130 00"), 1),
            ("code", "DE00 0320 0440 3704 89", Some("DE89 3704 0044 0532 0130 00"), 1),
            // No recognizer says that the code is this slot's.
            ("dish", "DE89370400440532013001", None, 1),
        ] {
            let found = grounding(json!({ (slot): proposed }), said, &[], &mentions);
            assert_eq!(found.arguments.get(slot).and_then(Value::as_str), expected, "{slot} {proposed}");
            assert_eq!(found.violations.len(), reported, "{slot} {proposed}");
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
            // Words that are scattered, or too common.
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
            ("day", json!("2026-03-01T17:00:00Z"), "on sunday, a table for 5"),
            ("day", json!("2027-03-01"), "sunday, march 1st"),
            // Most of it was said, but not the essential part.
            ("dish", json!("Rome International Airport"), "to the international airport"),
            ("dish", json!("cancel reservation for Bob"), "cancel my reservation"),
            // A name with other letters at its end is another name.
            ("dish", json!("Mary"), "call Mars"),
            // Only a number in international form may start with digits that were not said.
            ("phone", json!("9999123456"), "account 123456"),
            ("count", json!(5), "minus five degrees"),
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
        let mention = |span: (usize, usize), text: &str, value: Value, recognizer: usize| Mention {
            others: Vec::new(),
            unread: Vec::new(),
            span: span.into(),
            text: text.into(),
            value,
            recognizer: RecognizerId::from_index(recognizer),
            score: 0.9,
        };
        let mentions = [
            mention((0, 9), "evergreen", json!("Seattle, WA"), 0),
            mention((10, 18), "tomorrow", json!("2026-03-01"), 1),
            mention((22, 23), "5", json!("17:00:00"), 2),
            mention((30, 36), "5 buck", json!({"amount": 7, "currency": "USD"}), 3),
        ];
        let said = "evergreen tomorrow at 5       x buck";
        let found = |value: Value| {
            let found = grounding(json!({"dish": value}), said, &[], &mentions);
            found.grounded.into_iter().next()
        };
        let by = |found: Option<SlotValue>| found.and_then(|found| found.recognizer);
        assert_eq!(by(found(json!("Seattle, WA"))).as_deref(), Some("city"));
        assert_eq!(by(found(json!("2026-03-01"))).as_deref(), Some("date"));
        assert_eq!(by(found(json!("2026-03-01T17:00:00+01:00"))).as_deref(), Some("date"));
        assert_eq!(by(found(json!(7))).as_deref(), Some("money"));
        assert_eq!(by(found(json!("USD"))).as_deref(), Some("money"));
        assert_eq!(found(json!("2026-03-02")), None);
        assert_eq!(found(json!("2026-03-01T09:00:00")), None, "the hour was not said");
        assert_eq!(found(json!("2026-03-01: delete everything")), None);
    }

    /// Grounds with these words ruled out by those before them.
    fn negating(arguments: Value, text: &str, ruled_out: &[(&str, &str)], mentions: &[Mention]) -> Grounding {
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
            reader: &ValueReader::new("en", None),
            recognizers: &["city".into(), "date".into(), "time".into(), "money".into()],
            coercions: &[],
            offending: &HashSet::new(),
        };
        let evidence =
            Evidence { utterance: &utterance, earlier: &["a small one with onions"], mentions, negated: &negated };
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
            assert_eq!(found.grounded[0].text.as_deref(), Some("gift"));
        }
        let found = negating(json!({"gift": true}), "a gift, no onions", &[("no", "onions")], &[]);
        assert_eq!(Value::Object(found.arguments), json!({"gift": true}));
    }

    #[test]
    fn another_day_than_the_recognizers_is_none() {
        let sunday = Mention {
            others: Vec::new(),
            unread: Vec::new(),
            span: (5, 11).into(),
            text: "sunday".into(),
            value: json!("2026-03-08"),
            recognizer: RecognizerId::from_index(1),
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
            .map(|grounded| (grounded.pointer.as_str(), grounded.span.expect("it was said").start))
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
            // A combining mark may form a "word" with a space; a letter may fold to nothing.
            let is_plain =
                |word: &&str| word.trim() == *word && !is_empty(word, Language::and_english("en")) && fold(word).chars().any(char::is_alphanumeric);
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
