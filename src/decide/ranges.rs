//! The days of a range follow each other. In "from Friday to Thursday", said on a Wednesday, the second day is the
//! first Thursday after the Friday.
//!
//! Two slots are the ends of a range if a rule of the module or their names say so. The words of an utterance do not:
//! "move it from Friday to Thursday" goes back. But "until Friday" fills no beginning.

use jiff::{Span as Length, ToSpan as _, civil::Date};
use serde_json::Value;

use crate::{
    ablation,
    decide::{
        candidates::{FoundSpan, Weighing},
        filling::{Anchor, Filling},
        limits,
        situation::Situation,
    },
    language::{Language, limits::Limit, slots::OfSlots},
    module::{
        Builtin, Function, Module, RecognizerKind, SlotId, SlotPath,
        rule::{Base, Comparison, Rule},
    },
    probability::EVEN,
    recognize::{self, Mention},
    text::{Span, Utterance, fold, name_words},
};

/// Characters of a date without a time.
const DAY: usize = "2026-01-01".len();
/// The starting points, after the beginning, from which the end of a range is read again. For a slot that looks back,
/// the later ones find the first such day after the beginning by week, month or year.
const AHEAD: [fn() -> Length; 4] = [Length::new, || 8.days(), || 1.month(), || 1.year()];
/// By how many days a beginning that names no month may move.
const NEAR: i64 = 31;
/// If moving the end behind its beginning makes the range this many days long, the end is rather a slip: "from 10 May
/// to 8 May".
const FAR: i64 = 183;
/// The fewest letters of a word that others may be joined to: "Anreise" of "Anreisedatum".
const JOINED: usize = 5;

/// The value that replaces the one that was found for an end of a range by itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MovedEnd {
    /// Its index among what was found.
    pub at: usize,
    pub value: Value,
    /// The index of the beginning, if it lies so far before this end that another range may be meant.
    pub far_from: Option<usize>,
}

/// The ends of ranges that are in order only if one of them is read again.
pub(super) fn in_order(
    situation: &Situation<'_>,
    function: &Function,
    found: &[(SlotId, Option<&Mention>)],
) -> Vec<MovedEnd> {
    let days: Vec<(usize, SlotId, &Mention, Date)> = found
        .iter()
        .enumerate()
        .filter_map(|(at, (slot, mention))| {
            let mention = mention.filter(|mention| mention.others.is_empty())?;
            Some((at, *slot, mention, day_of(&mention.value)?))
        })
        .collect();
    let today = situation.analysis.now.date();
    let mut moved = Vec::new();
    for (first_at, first, begin, begins) in &days {
        for (last_at, last, end, ends) in &days {
            let is_backwards = ends < begins || ends == begins && begin.span != end.span;
            if !is_backwards || !is_range(&situation.knowledge.module, function, (*first, *last)) {
                continue;
            }
            let later = AHEAD.iter().find_map(|ahead| {
                let from = begins.checked_add(ahead()).ok()?;
                reckoned(situation, end, from).filter(|(day, _)| day > begins)
            });
            // For a slot that looks back, "from Monday to Friday" was before today; but a month does not lie a year
            // earlier.
            let looks_back = *ends < today;
            let earlier = || {
                let (day, value) = reckoned(situation, begin, *ends)?;
                (day < *ends && begins.checked_sub(NEAR.days()).is_ok_and(|nearest| day >= nearest)).then_some(value)
            };
            let is_ahead = later.as_ref().is_some_and(|(day, _)| looks_back && *day > today);
            let sooner = if is_ahead || later.is_none() { earlier() } else { None };
            if let Some(value) = sooner {
                moved.push(MovedEnd { at: *first_at, value, far_from: None });
            } else if let Some((day, value)) = later {
                let is_far = begins.checked_add(FAR.days()).is_ok_and(|far| day >= far);
                let far_from = ablation::found("ranges.far", is_far.then_some(*first_at));
                moved.push(MovedEnd { at: *last_at, value, far_from });
            }
        }
    }
    moved
}

/// The meaning of a day's words on another day, if they only give a day of the week or of the month.
fn reckoned(situation: &Situation<'_>, mention: &Mention, today: Date) -> Option<(Date, Value)> {
    let now = today.to_zoned(situation.analysis.now.time_zone().clone()).ok()?;
    let said = Utterance::new(&mention.text);
    let again = situation.knowledge.recognizers.recognize(&said, &recognize::Context { now });
    let own = again.iter().find(|one| one.recognizer == mention.recognizer)?;
    let (day, before) = (day_of(&own.value)?, day_of(&mention.value)?);
    // "Tomorrow" would then be another day of the month and another day of the week.
    let is_same = day.day() == before.day() || day.weekday() == before.weekday();
    is_same.then(|| (day, own.value.clone()))
}

fn day_of(value: &Value) -> Option<Date> {
    let text = value.as_str().filter(|text| text.len() == DAY)?;
    text.parse().ok()
}

/// True if the first slot is the beginning and the second slot the end of one range.
pub(crate) fn is_range(module: &Module, function: &Function, (first, last): (SlotId, SlotId)) -> bool {
    let (begin, end) = (&function.slot(first).path, &function.slot(last).path);
    let own = module.settings.functions.get(&function.name);
    let mut rules = own.into_iter().flat_map(|own| &own.rules).filter_map(|own| own.rule.as_ref());
    if rules.any(|rule| orders(rule, begin, end)) {
        return true;
    }
    first.index() < last.index()
        && RangeEdge::Begin.is_named(module, function, first)
        && RangeEdge::End.is_named(module, function, last)
}

/// True of a day or a time that is said as one edge of a range, where the slot is the other: "until 22 May" is no
/// arrival.
pub(crate) fn is_of_other_edge(
    situation: &Situation<'_>,
    function: &Function,
    slot: SlotId,
    mention: &Mention,
) -> bool {
    let module = &situation.knowledge.module;
    let kind = &module.recognizer(mention.recognizer).kind;
    matches!(kind, RecognizerKind::Builtin(Builtin::Date | Builtin::DateTime | Builtin::Time))
        && RangeEdge::said(situation.said(), mention.span)
            .is_some_and(|said| RangeEdge::of_slot(module, function, slot) == Some(said.other()))
}

/// The only day that is said fills the beginning of a range, unless it is likelier than not, or said, that it is the
/// end: "book a pitch for 19 June".
pub(super) fn settle_lone_day(
    situation: &Situation<'_>,
    function: &Function,
    weighing: &Weighing<'_>,
    found: &[FoundSpan<'_>],
    fillings: &mut Vec<Filling>,
) {
    let module = &situation.knowledge.module;
    let is_day = |mention: &Mention| {
        let kind = &module.recognizer(mention.recognizer).kind;
        matches!(kind, RecognizerKind::Builtin(Builtin::Date | Builtin::DateTime)) && mention.is_likely()
    };
    let days: Vec<(usize, &Anchor)> = found
        .iter()
        .enumerate()
        .filter(|(_, (_, mention))| mention.is_some_and(is_day))
        .map(|(at, (anchor, _))| (at, anchor))
        .collect();
    let Some(span) = days.first().map(|(_, day)| day.span) else { return };
    let pairs = days.iter().flat_map(|first| days.iter().map(move |last| (*first, *last)));
    let mut ranges = pairs.filter(|((_, first), (_, last))| is_range(module, function, (first.slot, last.slot)));
    let (Some(((begin, first), (end, last))), None) = (ranges.next(), ranges.next()) else { return };
    let is_of_range = |one: &Filling| [first.slot, last.slot].contains(&one.slot);
    let is_doubtful = |one: &Filling| is_of_range(one) && one.span == span && one.confidence < EVEN;
    let is_beside = |one: &&Filling| is_of_range(one) || one.span.overlaps(span);
    let is_alone = days.iter().all(|(_, day)| day.span == span) && fillings.iter().filter(is_beside).all(is_doubtful);
    let is_end = RangeEdge::said(situation.said(), span) == Some(RangeEdge::End);
    if !is_alone || is_end || !ablation::holds("ranges.lone_day", true) {
        return;
    }
    // It is one of the two.
    let confidence = (weighing.anchor_likelihood(begin) + weighing.anchor_likelihood(end)).min(1.0);
    fillings.retain(|one| !is_of_range(one));
    fillings.push(Filling { slot: first.slot, span, anchor: Some(begin), rule: None, confidence });
    fillings.sort_by_key(|one| one.span);
}

/// One of the two edges of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RangeEdge {
    Begin,
    End,
}

impl RangeEdge {
    const BOTH: [Self; 2] = [Self::Begin, Self::End];

    /// The edge that the words beside a moment make it. The longer phrase counts: "not until" contains "until".
    fn said((utterance, code): (&Utterance, &str), span: Span) -> Option<Self> {
        let longest = |edge: Self| {
            let languages = Language::and_english(code).into_iter();
            let phrases =
                languages.flat_map(|language| limits::phrases_of(edge.of(&language.words.slots), utterance, span));
            phrases.map(Span::len).max()
        };
        match (longest(Self::Begin), longest(Self::End)) {
            (begin, end) if begin > end => Some(Self::Begin),
            (begin, end) if end > begin => Some(Self::End),
            _ => None,
        }
    }

    /// The edge that only this slot of the function can be: another slot is the other edge, or its whole name is a word
    /// that makes a moment that edge ("since"). "Cancel it from 1 May" may fill an `end_date` that stands alone.
    fn of_slot(module: &Module, function: &Function, slot: SlotId) -> Option<Self> {
        let languages = Language::and_english(module.language());
        let name: Vec<String> = name_words(function.slot(slot).label()).iter().map(|word| fold(word)).collect();
        let is_edge = |edge: &Self| {
            let mut limits = languages.iter().map(|language| edge.of(&language.words.slots));
            let is_end_of = |other: SlotId| match edge {
                Self::Begin => is_range(module, function, (slot, other)),
                Self::End => is_range(module, function, (other, slot)),
            };
            limits.any(|limit| limit.before.contains(&name)) || function.slot_ids().any(is_end_of)
        };
        match Self::BOTH.map(|edge| is_edge(&edge)) {
            [true, false] => Some(Self::Begin),
            [false, true] => Some(Self::End),
            _ => None,
        }
    }

    const fn other(self) -> Self {
        match self {
            Self::Begin => Self::End,
            Self::End => Self::Begin,
        }
    }

    const fn of(self, slots: &OfSlots) -> &Limit {
        match self {
            Self::Begin => &slots.begins,
            Self::End => &slots.ends,
        }
    }

    /// True if the slot's name says that it is this edge.
    fn is_named(self, module: &Module, function: &Function, slot: SlotId) -> bool {
        let languages = Language::and_english(module.language());
        let words = name_words(function.slot(slot).label());
        words.iter().any(|word| {
            let word = fold(word);
            let mut known = languages.iter().flat_map(|language| &self.of(&language.words.slots).names);
            known.any(|known| word == *known || known.chars().count() >= JOINED && word.starts_with(known.as_str()))
        })
    }
}

/// True of "begin < end", however it is written.
fn orders(rule: &Rule, begin: &SlotPath, end: &SlotPath) -> bool {
    let (Base::Slot(left), Base::Slot(right)) = (&rule.left.base, &rule.right.base) else { return false };
    match rule.comparison {
        Comparison::Less | Comparison::AtMost => left == begin && right == end,
        Comparison::Greater | Comparison::AtLeast => left == end && right == begin,
        _ => false,
    }
}
