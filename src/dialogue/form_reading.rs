//! What an utterance says about a form, by dialogue acts, recognizers and exemplars.

use jiff::civil::{Date, Time};
use serde_json::Value;

use crate::{
    ablation,
    call::{SlotValue, Source},
    conversation::{Act, FormUpdate, InvalidValue, UpdateMode, merge::CERTAIN},
    decide::{
        analysis::UtterancePart,
        answered, asked,
        expected::Expected,
        outcome::{Decision, Frame, Outcome},
        ranges::{self, is_range},
        reading::Reading,
        situation::Situation,
        vocabulary::words_of,
    },
    dialogue::{
        open_form::{ANSWERED, KNOWN, OpenForm, PLAIN, WORTH_KEEPING, said},
        slot_reference::{SlotReference, count_of},
    },
    language::{Language, facts::is_unspaced_language},
    module::{SlotId, SlotPath},
    probability::EVEN,
    recognize::{
        self, Mention, Negation,
        acts::{ACTS, MoveKind, Pick},
        reply::{self, YesNo},
    },
    text::{Span, Utterance, fuel},
};

/// The factor for the confidence in an answer if not all words are accounted for.
const LEAVES_WORDS: f32 = 0.75;
/// The first hour of the second half of the day.
const NOON: i8 = 12;
/// The most known values that are ruled out and for which another value is looked for in the rest of the text.
const MOST_REPLACED: usize = 4;
/// Characters of a date without a time.
const DAY: usize = "2026-01-01".len();

/// What an utterance says about a form.
pub(crate) struct FormReading {
    pub said: FormUpdate,
    /// 0 to 1.
    pub confidence: f32,
    /// Words are left that say something and are not part of a value.
    pub leaves_words: bool,
}

impl FormReading {
    /// A reading in which nothing is said yet.
    pub(crate) fn empty(confidence: f32) -> Self {
        Self { said: FormUpdate::default(), confidence, leaves_words: false }
    }
}

impl OpenForm<'_> {
    /// True if the utterance has a value for the form that a recognizer knows.
    pub(crate) fn is_told_values(&self, situation: &Situation<'_>) -> bool {
        let own = Situation { given: Some(self.id), is_meant: true, ..*situation };
        self.read(&own).said.values.iter().any(|value| value.recognizer.is_some())
    }

    /// Reads what the utterance says about the form.
    pub(crate) fn read(&self, own: &Situation<'_>) -> FormReading {
        let mut read = self.read_values(own);
        self.keep_agreed(own, &mut read.said);
        self.answered_before(own, &mut read);
        self.relate_days(own, &mut read.said);
        self.relate_hours(own, &mut read.said);
        read
    }

    fn read_values(&self, own: &Situation<'_>) -> FormReading {
        let mut read = FormReading {
            said: FormUpdate {
                turn: self.state.turn,
                manner: self.manner(),
                asked: self.asked.to_vec(),
                ..FormUpdate::default()
            },
            confidence: 1.0,
            leaves_words: false,
        };
        if let Some(value) = self.settled(own) {
            read.confidence = ANSWERED.score();
            read.said.values.push(value);
            return read;
        }
        if self.read_acts(own, &mut read)
            || ablation::holds("form.replaced", !own.negations().is_empty()) && self.replaced(own, &mut read)
        {
            return read;
        }
        // Words of dialogue acts are not values: "actually" is not a name.
        let part = self.part().or_else(|| ablation::found("form.unpicked", self.unpicked(own)));
        if part.is_none() && self.is_settled_by_acts() {
            read.confidence = ACTS;
            return read;
        }
        let part = part.unwrap_or(Span::new(0, own.utterance().len()));
        let part = ablation::made("form.widened", part, self.widened(own, part));
        let view = own.analysis.within(&UtterancePart { span: part, ..own.analysis.whole.clone() });
        let mut found = self.aligned(&own.within(&view), &mut read);
        if ablation::holds("form.adds_to_known", self.adds_to_known(&found)) {
            read.said.manner = UpdateMode::Fill;
        }
        let changes_nothing = self.asked.is_empty() && !found.values.iter().any(|value| self.has_other(value));
        if changes_nothing && self.replaces_named(own, &mut read) || self.corrects_one(own, part, &found, &mut read) {
            return read;
        }
        let values = found.values.len();
        ablation::pass("form.keep_sure", &mut found, |found| self.keep_sure(own, found));
        let between = self.between(&own.within(&view), &found.values);
        ablation::pass("form.between", &mut found.values, |values| values.extend(between));
        // Words of values that are not sure enough are left over.
        read.leaves_words |= found.values.len() < values;
        if let Some(all) = ablation::found("form.completes", self.completes(own, part)) {
            found.values = all;
            read.leaves_words = false;
        }
        let sequence = self.in_sequence(&own.within(&view), part, &found.values);
        if let Some(all) = ablation::found("form.in_sequence", sequence) {
            found.values = all;
            read.leaves_words = false;
        }
        ablation::pass("form.keep_to_asked", &mut found.values, |values| self.keep_to_asked(own, values));
        let replaces =
            |value: &SlotValue| self.has_other(value) && (value.recognizer.is_some() || self.is_called(own, value));
        let is_correction = self.may_correct(own) && !found.values.is_empty() && found.values.iter().all(replaces);
        if ablation::holds("form.corrects_known", is_correction) {
            // "The 20th", if the question only asks whether everything is right.
            read.said.manner = UpdateMode::Correct;
        }
        // The confidence is that of the least sure value.
        let certain = found.values.iter().map(|value| value.confidence).fold(1.0, f32::min);
        read.confidence = certain * if read.leaves_words { LEAVES_WORDS } else { ANSWERED.score() };
        read.said.values.extend(found.values);
        read.said.invalid.extend(found.invalid);
        read.said.excluded.extend(found.excluded);
        self.put_where_asked(&mut read.said);
        read
    }

    /// The values by alignment with the exemplars and by the recognizers. `situation` is the part that may hold values.
    fn aligned(&self, situation: &Situation<'_>, read: &mut FormReading) -> FormUpdate {
        // A correction is about what was said before, not about what is asked.
        let nothing = Expected::default();
        let is_correction = read.said.manner == UpdateMode::Correct;
        let expected = if is_correction { &nothing } else { situation.expected };
        let mut situation = Situation { expected, ..*situation };
        let reading = Reading::new(&situation, self.id);
        read.leaves_words = answered::leaves_words(&situation, &reading);
        let mut found = said(&reading.judged(&situation).0, self.state.turn, Some(self.form));
        // The slot that was asked for may be one of many values in an answer that matches exemplars.
        let is_unspaced = is_unspaced_language(self.module.language());
        if (read.leaves_words || is_unspaced) && !is_correction && ablation::holds("form.read_unasked", true) {
            situation.expected = &nothing;
            let reading = Reading::new(&situation, self.id);
            let other = said(&reading.judged(&situation).0, self.state.turn, Some(self.form));
            let has_asked = self.asked.iter().all(|asked| other.values.iter().any(|value| value.pointer == *asked));
            if has_asked && other.values.len() > found.values.len() {
                read.leaves_words = answered::leaves_words(&situation, &reading);
                found = other;
            }
        }
        found
    }

    /// "Yup, fire away": in an answer that agrees to what was read out, free text changes a value only after its slot's
    /// name, or behind a "but".
    fn keep_agreed(&self, own: &Situation<'_>, found: &mut FormUpdate) {
        let agrees = self.corrects && own.analysis.reply.answer == YesNo::Affirmative;
        if agrees && own.analysis.acts.change().is_none() {
            found.values.retain(|value| !ablation::holds("form.keep_agreed", self.is_loose(own, value)));
        }
    }

    /// Free text in place of a known value, without words that lead to it.
    fn is_loose(&self, own: &Situation<'_>, value: &SlotValue) -> bool {
        let language = Language::or_english(self.module.language());
        let utterance = own.utterance();
        let mut before = utterance.words().iter().filter(|word| value.span.is_some_and(|span| word.end <= span.start));
        let is_contrast = |word: &Span| {
            let said = utterance.folded_in(*word);
            language.replies.joins(&said) && !language.words.joints.conjunctions.contains(&said)
        };
        let mut is_led = || before.any(is_contrast) || self.is_called(own, value);
        value.recognizer.is_none() && self.has_other(value) && !is_led()
    }

    /// "Add rice to the curry", where a curry is known: the value before the item is added to that item, and the item
    /// is not a new one.
    fn adds_to_known(&self, found: &FormUpdate) -> bool {
        let Some(head) = self.head().filter(|_| self.manner() == UpdateMode::Add) else { return false };
        let path = &self.function.slot(head).path;
        let is_head = |value: &&SlotValue| SlotPath::of_pointer(&value.pointer) == *path;
        let mut heads = found.values.iter().filter(is_head);
        let Some(named) = heads.next().filter(|_| heads.next().is_none()) else { return false };
        let is_known = self.form.of_slot(path).any(|known| known.value == named.value);
        is_known
            && found.values.iter().filter(|value| !is_head(value)).any(|value| {
                let is_text = value.value.is_string();
                is_text && value.span.zip(named.span).is_some_and(|(span, item)| span.end <= item.start)
            })
    }

    /// True if one slot is corrected, or one more item is named, by words that say which.
    fn corrects_one(&self, own: &Situation<'_>, part: Span, found: &FormUpdate, read: &mut FormReading) -> bool {
        let is_guess = |value: &SlotValue| value.recognizer.is_none() && value.confidence < EVEN;
        match read.said.manner {
            UpdateMode::Correct => {
                if let Some(count) = ablation::found("form.counted", self.counted(own, part))
                    && self.fill(own, count, part, read)
                {
                    return true;
                }
                if self.replaces(found) {
                    return false;
                }
                if let Some(slot) = ablation::found("form.corrected", self.corrected(own, part))
                    && self.fill(own, slot, part, read)
                {
                    return true;
                }
                if found.values.is_empty() && self.corrects_by_kind(own, part, read) {
                    return true;
                }
                let is_plain = found.values.iter().all(|value| value.recognizer.is_none());
                self.asked_slot().filter(|_| is_plain).is_some_and(|slot| self.fill(own, slot, part, read))
            }
            // "And a coke" names one more item, even if no recognizer knows it.
            UpdateMode::Add if found.values.iter().all(is_guess) => {
                let list = self.head().or_else(|| self.only_texts());
                list.is_some_and(|list| self.fill(own, list, part, read))
            }
            UpdateMode::Fill if self.asked.is_empty() && found.values.is_empty() => {
                self.corrects_by_kind(own, part, read)
            }
            UpdateMode::Add | UpdateMode::Fill => false,
        }
    }

    /// True if its slot was asked for, also as part of an item of a list.
    pub(crate) fn is_asked(&self, value: &SlotValue) -> bool {
        let path = SlotPath::of_pointer(&value.pointer);
        self.asked.iter().any(|asked| SlotPath::of_pointer(asked) == path)
    }

    /// True if its slot takes one value and has a different one.
    pub(crate) fn has_other(&self, value: &SlotValue) -> bool {
        let takes_one = !SlotPath::of_pointer(&value.pointer).is_repeated();
        takes_one && self.form.at(&value.pointer).is_some_and(|known| known.value != value.value)
    }

    /// True if another value of a slot corrects the known one: the question only asks whether everything is right, or
    /// the answer denies something first ("no, the 20th").
    fn may_correct(&self, own: &Situation<'_>) -> bool {
        let reply = own.analysis.reply;
        self.asked.is_empty() || reply.answer == YesNo::Negative && reply.rest.is_some()
    }

    /// "The address is 21 Elm Court": the words before the value name its slot, and no other filled slot.
    fn is_called(&self, own: &Situation<'_>, value: &SlotValue) -> bool {
        let path = value.path();
        let names = |filled: &SlotValue, word: &str| {
            let slot = self.function.slot_at(&filled.path()).map(|slot| self.function.slot(slot));
            slot.is_some_and(|slot| words_of(slot.label()).iter().any(|own| own == word))
        };
        let (own_slots, others): (Vec<&SlotValue>, Vec<&SlotValue>) =
            self.form.slots.iter().partition(|filled| filled.path() == path);
        let utterance = own.utterance();
        let before = utterance.words().iter().zip(utterance.folded_words());
        let mut before = before.filter(|(word, _)| value.span.is_some_and(|span| word.end <= span.start));
        before.any(|(_, word)| {
            own_slots.iter().any(|filled| names(filled, word)) && !others.iter().any(|filled| names(filled, word))
        })
    }

    /// Keeps values that are sure enough. Any words fill the slot that was asked for. For another slot they must be
    /// sure.
    fn keep_sure(&self, own: &Situation<'_>, found: &mut FormUpdate) {
        let is_answer = !asked::is_no_value(own);
        let is_question = asked::is_polite_question(self.module.language(), own.utterance().text());
        let is_correction = self.manner() == UpdateMode::Correct;
        let may_correct = self.may_correct(own);
        found.invalid.retain(|aside| {
            is_correction || self.asked.contains(&aside.pointer) || self.form.at(&aside.pointer).is_none()
        });
        let bar = if is_unspaced_language(self.module.language()) { PLAIN.score() } else { EVEN };
        found.values.retain(|value| {
            if is_answer && self.is_asked(value) {
                return true;
            }
            match value.recognizer {
                // A sure value replaces a known one; so does a correction.
                Some(_) => is_correction || may_correct || value.confidence >= KNOWN.score() || !self.has_other(value),
                None if (is_correction || may_correct && self.is_called(own, value)) && self.has_other(value) => {
                    value.confidence >= WORTH_KEEPING.score()
                }
                None => value.confidence >= bar && !is_question,
            }
        });
    }

    /// The value of the slot that was asked for again because its words were ambiguous, if the answer decides which is
    /// meant.
    fn settled(&self, own: &Situation<'_>) -> Option<SlotValue> {
        let is_asked = |aside: &&InvalidValue| !aside.readings.is_empty() && self.asked.contains(&aside.pointer);
        let aside = self.form.aside.iter().find(is_asked)?;
        let slot = self.function.slot(self.asked_slot()?);
        let said = aside.found.as_ref()?.as_str()?;
        let context = recognize::Context { now: own.analysis.now.clone() };
        let value = match &aside.readings[..] {
            // "Boston?" - "yes"
            [offered] if own.analysis.reply.is_bare_yes() => offered.clone(),
            readings => own.knowledge.recognizers.settle(slot, (said, own.utterance()), readings, &context)?,
        };
        Some(SlotValue {
            pointer: aside.pointer.clone(),
            value,
            text: Some(format!("{said} {}", own.utterance().text())),
            span: Some(Span::new(0, own.utterance().len())),
            recognizer: slot.recognizers.first().map(|id| self.module.recognizer(*id).name.clone()),
            from: Source::Said,
            turn: self.state.turn,
            confidence: 1.0,
            unread: None,
        })
    }

    /// Dialogue acts that say themselves which value is meant. True if there is one.
    fn read_acts(&self, own: &Situation<'_>, read: &mut FormReading) -> bool {
        let mut is_read = false;
        for one in self.acts() {
            match one.kind {
                MoveKind::Change { what, to: Some(to) } => {
                    if let Some(slot) = self.place(own, what) {
                        is_read |= self.fill(own, slot, to, read);
                    }
                }
                MoveKind::Replace { old, new } => {
                    if let Some(slot) = self.place(own, old).or_else(|| self.asked_slot()) {
                        is_read |= self.fill(own, slot, new, read);
                    }
                }
                MoveKind::Remove { what } => {
                    let removed = self.removed(own, what);
                    is_read |= !removed.is_empty();
                    read.said.removed.extend(removed);
                }
                MoveKind::Pick(pick) => {
                    if let Some(value) = self.picked(pick, one.cue, own.utterance()) {
                        read.said.values.push(value);
                        is_read = true;
                    }
                }
                MoveKind::Portion { count, .. } => read.said.portion = count_of(own, count),
                _ => {}
            }
        }
        is_read
    }

    /// "Morgan Rhys, and actually make it three": the words before a change answer the question, if the slot is still
    /// empty.
    fn answered_before(&self, own: &Situation<'_>, read: &mut FormReading) {
        let cue = own.analysis.acts.change().map(|one| one.cue.start);
        let Some(cue) = ablation::found("form.answered_before", cue) else { return };
        let Some(asked) = self.asked_slot().filter(|_| !read.said.values.iter().any(|value| self.is_asked(value)))
        else {
            return;
        };
        let utterance = own.utterance();
        let parts = utterance.slice(Span::new(0, cue));
        let Some(end) = parts.rfind([',', ';', '.', '、', '。']).map(|at| parts[..at].chars().count()) else {
            return;
        };
        let mut answer = FormReading::empty(1.0);
        if self.fill(own, asked, Span::new(0, end), &mut answer) {
            let is_likely = |value: &SlotValue| value.recognizer.is_some() || value.confidence >= EVEN;
            read.said.values.extend(answer.said.values.into_iter().filter(is_likely));
        }
    }

    /// "Not Rome, Lima": a known value is ruled out, and the other value replaces it. True if so.
    fn replaced(&self, own: &Situation<'_>, read: &mut FormReading) -> bool {
        let utterance = own.utterance();
        let says = |word: &&Span| !reply::says_nothing(self.module.language(), &utterance.meant(**word));
        let of_known = |negation: &Negation| {
            let named = SlotReference { utterance, mentions: own.mentions(), span: negation.scope };
            let [pointer] = &named.values(self.form)[..] else { return None };
            Some((*negation, self.function.slot_at(&SlotPath::of_pointer(pointer))?))
        };
        let negations = own.negations().iter().take_while(|_| !fuel::is_out());
        negations.filter_map(of_known).take(MOST_REPLACED).any(|(negation, slot)| {
            let content = |within: Span| {
                let words: Vec<Span> =
                    utterance.words().iter().filter(|word| within.contains(**word)).filter(says).copied().collect();
                Some(Span::new(words.first()?.start, words.last()?.end))
            };
            let behind = content(Span::new(negation.scope.end, utterance.len()));
            let Some(new) = behind.or_else(|| content(Span::new(0, negation.cue.start))) else { return false };
            let is_read = self.fill(own, slot, new, read);
            if is_read {
                read.said.manner = UpdateMode::Correct;
            }
            is_read
        })
    }

    /// The part of the utterance that may hold values, if dialogue acts exclude another part; `None` if all of it may,
    /// or none.
    fn part(&self) -> Option<Span> {
        let portion = self.acts().find_map(|one| match one.kind {
            MoveKind::Portion { rest, .. } => Some(rest),
            _ => None,
        });
        let is_led = self.acts().any(|one| !matches!(one.kind, MoveKind::Pick(_) | MoveKind::Portion { .. }));
        portion.or(self.acts.rest.filter(|_| is_led || self.corrects))
    }

    /// A part, extended by the rest of a recognized value if that rest is an empty word: "the" of "the 20th".
    fn widened(&self, own: &Situation<'_>, part: Span) -> Span {
        let utterance = own.utterance();
        let sticks_out = |mention: &&Mention| {
            let mut outside =
                utterance.words().iter().filter(|word| mention.span.contains(**word) && !part.overlaps(**word));
            mention.span.overlaps(part)
                && outside.all(|word| reply::says_nothing(self.module.language(), &utterance.meant(*word)))
        };
        let all = own.mentions().iter().filter(sticks_out).map(|mention| mention.span);
        all.fold(part, |part, span| Span::new(part.start.min(span.start), part.end.max(span.end)))
    }

    /// Words that would pick one of several choices, although none are offered: "the 20th" is a day.
    fn unpicked(&self, own: &Situation<'_>) -> Option<Span> {
        if self.acts.rest.is_some() {
            return None;
        }
        self.acts().find_map(|one| match one.kind {
            MoveKind::Pick(pick @ Pick::Nth(_)) if self.picked(pick, one.cue, own.utterance()).is_none() => {
                Some(one.cue)
            }
            _ => None,
        })
    }

    /// True if a recognizer knows every value and its slot has a different one.
    fn replaces(&self, found: &FormUpdate) -> bool {
        let is_filled = |value: &SlotValue| self.form.has(&SlotPath::of_pointer(&value.pointer));
        !found.values.is_empty() && found.values.iter().all(|value| value.recognizer.is_some() && is_filled(value))
    }

    /// An answer fills the slot that was asked for, before it replaces a known value ("31" to "and the other page?").
    /// The same holds for an answer that says nothing else.
    fn keep_to_asked(&self, situation: &Situation<'_>, values: &mut [SlotValue]) {
        let Some(asked) = self.asked_slot().filter(|_| !self.has_acts()) else { return };
        let slot_of = |value: &SlotValue| self.function.slot_at(&SlotPath::of_pointer(&value.pointer));
        let [pointer] = self.asked else { return };
        if values.iter().any(|value| slot_of(value) == Some(asked)) {
            return;
        }
        let utterance = situation.utterance();
        let is_bare = |value: &SlotValue| {
            let is_inside = |word: &Span| value.span.is_some_and(|span| span.overlaps(*word));
            let says_nothing = |word: &Span| reply::says_nothing(self.module.language(), &utterance.meant(*word));
            utterance.words().iter().all(|word| is_inside(word) || says_nothing(word))
        };
        let may_be_asked = |value: &&mut SlotValue| {
            let own = self.function.slot(asked);
            let is_known = slot_of(value).is_some_and(|slot| self.form.has(&self.function.slot(slot).path));
            let takes = |name: &str| own.recognizers.iter().any(|id| self.module.recognizer(*id).name == name);
            let is_other = |mention: &Mention| {
                value.span == Some(mention.span) && ranges::is_of_other_edge(situation, self.function, asked, mention)
            };
            (is_known || is_bare(value))
                && value.recognizer.as_deref().map_or(own.takes_any_words(), takes)
                && !ablation::holds("ranges.other_edge", situation.mentions().iter().any(is_other))
        };
        if let Some(value) = values.iter_mut().find(may_be_asked) {
            value.pointer.clone_from(pointer);
        }
    }

    /// Values and invalid values in an array are put into the item that was asked about.
    fn put_where_asked(&self, said: &mut FormUpdate) {
        for aside in &mut said.invalid {
            let path = SlotPath::of_pointer(&aside.pointer);
            if let Some(asked) =
                self.asked.iter().find(|asked| SlotPath::of_pointer(asked) == path && !asked.contains("/-"))
            {
                aside.pointer.clone_from(asked);
            }
        }
    }

    /// "Until the 9th", where it begins on 3 May: a day without its month, or a day of the week, is the first one after
    /// the day of an earlier slot. If another day of the slot is known already, or the end of a range that begins on
    /// the day, a day without its month is in that month.
    fn relate_days(&self, own: &Situation<'_>, said: &mut FormUpdate) {
        let slot_of = |pointer: &str| self.function.slot_at(&SlotPath::of_pointer(pointer));
        let known: Vec<(SlotId, Date)> = self
            .form
            .slots
            .iter()
            .filter_map(|filled| Some((slot_of(&filled.pointer)?, day_of(&filled.value)?)))
            .collect();
        for value in said.values.iter_mut().filter(|value| value.recognizer.is_some()) {
            let (Some(slot), Some(day)) = (slot_of(&value.pointer), day_of(&value.value)) else { continue };
            let Some(text) = value.text.as_deref() else { continue };
            let from = |today: Date| {
                let now = today.to_zoned(own.analysis.now.time_zone().clone()).ok()?;
                let mentions = own.knowledge.recognizers.recognize(&Utterance::new(text), &recognize::Context { now });
                let takes = |one: &&Mention| self.function.slot(slot).recognizers.contains(&one.recognizer);
                mentions.iter().filter(takes).find_map(|one| day_of(&one.value))
            };
            let after = |before: Date| {
                // "Tomorrow" would then be another day of the month and another day of the week.
                let is_same = |later: &Date| later.day() == day.day() || later.weekday() == day.weekday();
                from(before).filter(|later| *later > before && is_same(later))
            };
            let before = known.iter().filter(|(other, _)| other.index() < slot.index()).map(|(_, day)| *day).max();
            let follows = before.filter(|before| day < *before).and_then(after);
            let today = own.analysis.now.date();
            let is_on_its_side = |one: &Date| if day < today { *one <= today } else { *one >= today };
            let of_known = || {
                let (_, replaced) = known.iter().find(|(known, _)| *known == slot)?;
                of_month(*replaced, day, from).filter(is_on_its_side)
            };
            let of_known_year = || {
                let (_, replaced) = known.iter().find(|(known, _)| *known == slot)?;
                let is_before = |one: &Date| *one < today;
                of_year(*replaced, day, from).filter(|one| is_before(one) == is_before(replaced))
            };
            let until_known = || {
                let is_end = |end: SlotId| is_range(self.module, self.function, (slot, end));
                let (_, end) = known.iter().find(|(known, _)| *known != slot && is_end(*known))?;
                let months = [*end, end.first_of_month().yesterday().ok()?];
                months
                    .into_iter()
                    .find_map(|month| of_month(month, day, from).filter(|one| one < end))
                    .filter(is_on_its_side)
            };
            let of_known = || ablation::found("form.day_of_known_month", of_known());
            let until_known = || ablation::found("form.day_until_known", until_known());
            let of_known_year = || ablation::found("form.day_of_known_year", of_known_year());
            let follows = ablation::found("form.day_follows", follows);
            let related = follows.or_else(of_known).or_else(of_known_year).or_else(until_known);
            if let Some(related) = related {
                value.value = related.to_string().into();
            }
        }
    }

    /// "At 9 instead", where 8 in the morning is known: an hour that may be in either half of the day is in the same
    /// half as the hour that it replaces.
    fn relate_hours(&self, own: &Situation<'_>, said: &mut FormUpdate) {
        let is_late = |value: &Value| Some(value.as_str()?.parse::<Time>().ok()?.hour() >= NOON);
        said.invalid.retain(|aside| {
            let known = self.form.at(&aside.pointer).and_then(|known| is_late(&known.value));
            let mut fitting = aside.readings.iter().filter(|reading| known.is_some() && is_late(reading) == known);
            let (Some(value), None) = (fitting.next(), fitting.next()) else { return true };
            let slot =
                self.function.slot_at(&SlotPath::of_pointer(&aside.pointer)).map(|slot| self.function.slot(slot));
            let is_its = |mention: &&Mention| {
                let takes = slot.is_some_and(|slot| slot.recognizers.contains(&mention.recognizer));
                takes && (mention.value == *value || mention.others.contains(value))
            };
            let mention = own.mentions().iter().find(is_its);
            let Some(mention) = ablation::found("form.relate_hours", mention) else { return true };
            said.values.push(SlotValue {
                pointer: aside.pointer.clone(),
                value: value.clone(),
                text: Some(mention.text.clone()),
                span: Some(mention.span),
                recognizer: Some(self.module.recognizer(mention.recognizer).name.clone()),
                from: Source::Said,
                turn: self.state.turn,
                confidence: CERTAIN.score(),
                unread: None,
            });
            false
        });
    }

    /// Fills one slot with what the words at `span` say about it.
    pub(crate) fn fill(&self, own: &Situation<'_>, slot: SlotId, span: Span, read: &mut FormReading) -> bool {
        let path = self.function.slot(slot).path.clone();
        let expected = Expected::of(self.id, &[slot]);
        let mut view = own.analysis.within(&UtterancePart { span, ..own.analysis.whole.clone() });
        let takes = |mention: &Mention| self.function.slot(slot).recognizers.contains(&mention.recognizer);
        if !view.mentions.iter().any(takes) {
            // By themselves, words may have another meaning: the hour of "make it 11".
            let context = recognize::Context { now: own.analysis.now.clone() };
            view.mentions = own.knowledge.recognizers.recognize(&view.utterance, &context);
        }
        let mut situation = own.within(&view);
        situation.expected = &expected;
        let (frame, _) = Reading::new(&situation, self.id).judged(&situation);
        let mut found = said(&frame, self.state.turn, Some(self.form));
        found.values.retain(|value| SlotPath::of_pointer(&value.pointer) == path);
        found.invalid.retain(|aside| SlotPath::of_pointer(&aside.pointer) == path);
        read.confidence *= found.values.iter().map(|value| value.confidence.max(CERTAIN.score())).product::<f32>();
        let is_found = !found.values.is_empty() || !found.invalid.is_empty();
        read.said.values.append(&mut found.values);
        read.said.invalid.append(&mut found.invalid);
        is_found
    }

    /// The acts of a model server's decision. A tie of several functions is not an act: the person says it again.
    pub(crate) fn acts_of(&self, decision: &Decision) -> Vec<Act> {
        if matches!(decision.outcome, Outcome::NoMatch) || decision.outcome.is_tie() {
            return Vec::new();
        }
        let act = |frame: &Frame| {
            let mut said = said(frame, self.state.turn, (frame.function == self.id).then_some(self.form));
            if frame.function == self.id {
                said.manner = self.manner();
                said.asked = self.asked.to_vec();
            }
            Act::Inform { function: frame.function, said, another: false }
        };
        decision.frames.iter().map(act).collect()
    }
}

/// The day that words mean in the month of another day, if they only give a day of the month: `from` reads them
/// starting from a day. To check that they give only a day, they are read again from the day beside the result: they
/// must then mean the same day of another month.
fn of_month(month: Date, day: Date, from: impl Fn(Date) -> Option<Date>) -> Option<Date> {
    let is_within = |one: &Date| one.first_of_month() == month.first_of_month() && one.day() == day.day();
    let of_side = |edge: Date, beside: fn(Date) -> Result<Date, jiff::Error>| {
        let one = from(edge).filter(is_within)?;
        let other = from(beside(one).ok()?)?;
        (other.day() == one.day() && other.month() != one.month()).then_some(one)
    };
    of_side(month.first_of_month(), Date::tomorrow).or_else(|| of_side(month.last_of_month(), Date::yesterday))
}

/// The day that words mean in the year of another day, if they give a month and a day but no year: `from` reads them
/// starting from a day.
fn of_year(year: Date, day: Date, from: impl Fn(Date) -> Option<Date>) -> Option<Date> {
    let is_within = |one: &Date| one.year() == year.year() && (one.month(), one.day()) == (day.month(), day.day());
    let edges = [year.first_of_year(), year.last_of_year()];
    edges.into_iter().filter_map(from).find(is_within).filter(|one| *one != day)
}

/// A date without a time.
fn day_of(value: &Value) -> Option<Date> {
    value.as_str()?.parse().ok().filter(|_| value.as_str().is_some_and(|text| text.len() == DAY))
}
