//! The texts of Uptake itself, from the sentences of a language's pack.

use crate::{
    language::{
        Language,
        grammar::{Grammar, OfSlot, lower_first, upper_first},
        sentences::{Remarks, SentenceTemplate, Sentences},
    },
    module::rule::{Comparison, Shift, ShiftUnit},
};

/// The words of one language.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LanguageWords {
    language: &'static Language,
    sentences: &'static Sentences,
}

/// A line of a summary about an open function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SummaryLine {
    Known,
    Missing,
    NotValid,
    /// Everything is known, and the person has to say yes.
    Unconfirmed,
}

/// The kind of value that a question asks for, as far as its words depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskedKind {
    /// A yes or no.
    Truth,
    Number,
    Other,
}

/// What a value would have to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ValueRequirement<'a> {
    /// One of a few, listed with "or".
    Choice(String),
    WholeNumber,
    Number,
    YesOrNo,
    Text,
    /// The name of the format in JSON Schema.
    Format(&'a str),
    AtLeast(String),
    AtMost(String),
    Between(String, String),
    MoreThan(String),
    LessThan(String),
    MultipleOf(String),
    /// The length in characters.
    NotShorter(u64),
    NotLonger(u64),
    /// A text of another form, which is only described by a pattern.
    OtherForm,
    /// The validator's words, which are English.
    Other(&'a str),
}

/// The required relation of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Relation {
    pub comparison: Comparison,
    /// They are moments: the words are "after" and "before", not "more" and "less".
    pub is_time: bool,
}

impl LanguageWords {
    /// `None` for the BCP 47 tag of a language that Uptake has no pack for.
    pub(crate) fn of(tag: &str) -> Option<Self> {
        Language::of(tag).map(Self::new)
    }

    /// The words that are used if the language is not known.
    pub(crate) fn fallback() -> Self {
        Self::new(Language::english())
    }

    fn new(language: &'static Language) -> Self {
        Self { language, sentences: &language.sentences }
    }

    /// English is the language of most names in schemas, and of the validator's reasons.
    pub(crate) fn is_english(self) -> bool {
        self.language.code == "en"
    }

    /// Two sentences, one after the other.
    pub(crate) fn then(self, first: &str, second: &str) -> String {
        self.sentences.then(first, second)
    }

    /// What a function is for, within a sentence.
    pub(crate) fn within(self, summary: &str) -> String {
        if self.sentences.keeps_capitals { self.grammar().small(summary) } else { lower_first(summary) }
    }

    /// The rules by which descriptions become parts of sentences.
    pub(crate) fn grammar(self) -> &'static Grammar {
        &self.sentences.grammar
    }

    pub(crate) fn and(self, of: &[String]) -> String {
        self.sentences.and(of)
    }

    pub(crate) fn or(self, of: &[String]) -> String {
        self.sentences.or(of)
    }

    /// Several facts after one another: "size 9, color black".
    pub(crate) fn facts(self, of: &[String]) -> String {
        of.join(&self.sentences.list.facts)
    }

    pub(crate) fn truth(self, truth: bool) -> &'static str {
        if truth { &self.sentences.yes } else { &self.sentences.no }
    }

    /// The question for one value without a useful description. `choices` ("a, b") may be empty.
    pub(crate) fn ask(self, name: &str, kind: AskedKind, choices: &str) -> String {
        let (ask, grammar) = (&self.sentences.ask, self.grammar());
        let counted = grammar.counted(name);
        let (question, name) = match kind {
            AskedKind::Truth => return upper_first(&ask.truth.fill(&[("name", name)])),
            AskedKind::Number if grammar.is_plural(counted) => (&ask.how_many, counted),
            AskedKind::Number | AskedKind::Other if grammar.is_plural(name) => (&ask.plural, name),
            AskedKind::Number | AskedKind::Other => (&ask.plain, name),
        };
        question.fill(&[("name", name), ("choices", &self.choices(choices))])
    }

    /// The question for one value, with its description.
    pub(crate) fn ask_described(self, name: &str, kind: AskedKind, said: &OfSlot, listed: &str) -> String {
        let (ask, choices) = (&self.sentences.ask, self.choices(listed));
        match said {
            OfSlot::Question(question) => format!("{question}{choices}"),
            OfSlot::Indirect(text) => ask.indirect.fill(&[("description", text), ("choices", &choices)]),
            OfSlot::Thing(text) => upper_first(&ask.thing.fill(&[("description", text), ("choices", &choices)])),
            OfSlot::More(text) => {
                let question = self.ask(name, kind, "");
                ask.described.fill(&[("question", &question), ("description", text), ("choices", &choices)])
            }
            OfSlot::Nothing => self.ask(name, kind, listed),
        }
    }

    fn choices(self, choices: &str) -> String {
        if choices.is_empty() { String::new() } else { self.sentences.ask.choices.fill(&[("choices", choices)]) }
    }

    /// The same for a name that says nothing by itself; `what` is what the value is needed for.
    pub(crate) fn ask_bare(self, name: &str, what: &str, description: &str, choices: &str) -> String {
        let (ask, choices) = (&self.sentences.ask, self.choices(choices));
        let question = if description.is_empty() { &ask.bare } else { &ask.bare_described };
        question.fill(&[("name", name), ("what", what), ("description", description), ("choices", &choices)])
    }

    /// The question for several values; `names` is a list of them, and `object` is the thing that they belong to.
    pub(crate) fn ask_all(self, names: &str, object: Option<&str>) -> String {
        let ask = &self.sentences.ask;
        match object {
            None => ask.several.fill(&[("names", names)]),
            Some(object) => ask.several_of.fill(&[("names", names), ("object", object)]),
        }
    }

    pub(crate) fn with_choices(self, name: &str, choices: &str) -> String {
        self.sentences.ask.with_choices.fill(&[("name", name), ("choices", choices)])
    }

    /// One of several things with the same name; counted from 1.
    pub(crate) fn numbered(self, name: &str, number: usize) -> String {
        self.sentences.numbered.fill(&[("name", name), ("number", &number.to_string())])
    }

    /// A question about this thing.
    pub(crate) fn about(self, thing: &str, question: &str) -> String {
        self.sentences.ask.about.fill(&[("thing", thing), ("question", question)])
    }

    /// A question that was asked before, `repeated` times (from 1).
    pub(crate) fn again(self, question: &str, repeated: u32) -> String {
        let again = match repeated {
            0 => return question.to_owned(),
            1 => &self.sentences.ask.again,
            _ => &self.sentences.ask.once_more,
        };
        again.fill(&[("question", question)])
    }

    /// The question for a value that the person wanted to leave out.
    pub(crate) fn needed(self, name: &str, question: &str) -> String {
        self.sentences.ask.needed.fill(&[("name", name), ("question", question)])
    }

    /// Asks which of several values was meant.
    pub(crate) fn which(self, options: &[String]) -> String {
        self.sentences.ask.which.fill(&[("options", &self.or(options))])
    }

    /// Asks which half of the day a time lies in; the later half is the evening or the afternoon.
    pub(crate) fn which_half(self, clock: &str, is_evening: bool) -> String {
        let ask = &self.sentences.ask;
        let question = if is_evening { &ask.morning_or_evening } else { &ask.morning_or_afternoon };
        question.fill(&[("clock", clock)])
    }

    /// Says why a value is not accepted; `found` is missing if it must not be repeated. `wanted` is a result of
    /// [`Self::wanted`].
    pub(crate) fn refused(self, found: Option<&str>, name: &str, wanted: &str) -> String {
        let refused = &self.sentences.refused;
        match found {
            Some(found) => refused.value.fill(&[("found", found), ("name", name), ("wanted", wanted)]),
            None => refused.hidden.fill(&[("name", name), ("wanted", wanted)]),
        }
    }

    pub(crate) fn wanted(self, wanted: &ValueRequirement<'_>) -> String {
        let words = &self.sentences.wanted;
        let with = |template: &SentenceTemplate, place, value: &str| template.fill(&[(place, value)]);
        match wanted {
            ValueRequirement::Choice(choices) => with(&words.choice, "choices", choices),
            ValueRequirement::WholeNumber => words.whole_number.clone(),
            ValueRequirement::Number => words.number.clone(),
            ValueRequirement::YesOrNo => words.yes_or_no.clone(),
            ValueRequirement::Text => words.text.clone(),
            ValueRequirement::Format(format) => self.format(format).to_owned(),
            ValueRequirement::AtLeast(limit) => with(&words.at_least, "limit", limit),
            ValueRequirement::AtMost(limit) => with(&words.at_most, "limit", limit),
            ValueRequirement::Between(least, most) => words.between.fill(&[("least", least), ("most", most)]),
            ValueRequirement::MoreThan(limit) => with(&words.more_than, "limit", limit),
            ValueRequirement::LessThan(limit) => with(&words.less_than, "limit", limit),
            ValueRequirement::MultipleOf(number) => with(&words.multiple_of, "number", number),
            ValueRequirement::NotShorter(count) => with(&words.not_shorter, "count", &count.to_string()),
            ValueRequirement::NotLonger(count) => with(&words.not_longer, "count", &count.to_string()),
            ValueRequirement::OtherForm => words.other_form.clone(),
            ValueRequirement::Other(reason) => with(&words.other, "reason", reason),
        }
    }

    fn format(self, name: &str) -> &'static str {
        let formats = &self.sentences.format;
        match name {
            "date" => &formats.date,
            "time" => &formats.time,
            "date-time" => &formats.date_time,
            "duration" => &formats.duration,
            "email" | "idn-email" => &formats.email,
            "phone" => &formats.phone,
            "uri" | "iri" | "url" => &formats.url,
            _ => &self.sentences.wanted.other_form,
        }
    }

    /// A slot in a sentence: "the size".
    pub(crate) fn slot(self, name: &str) -> String {
        self.sentences.slot.fill(&[("name", name)])
    }

    /// The required relation of two [`Self::slot`]s or values, and the values that break it: "size 9, color black".
    pub(crate) fn rule(self, left: &str, relation: Relation, right: &str, values: &str) -> String {
        let rule = &self.sentences.rule;
        let order = if relation.is_time { &rule.time } else { &rule.amount };
        let relation = match relation.comparison {
            Comparison::Less => &order.less,
            Comparison::AtMost => &order.at_most,
            Comparison::AtLeast => &order.at_least,
            Comparison::Greater => &order.greater,
            Comparison::Equal => &rule.equal,
            Comparison::NotEqual => &rule.not_equal,
        };
        let relation = relation.fill(&[("right", right)]);
        let left = upper_first(left);
        rule.sentence.fill(&[("left", &left), ("relation", &relation), ("values", values)])
    }

    pub(crate) fn today(self) -> &'static str {
        &self.sentences.today
    }

    pub(crate) fn now(self) -> &'static str {
        &self.sentences.now
    }

    /// A moment plus or minus a length of time.
    pub(crate) fn moved(self, moment: &str, shift: Shift) -> String {
        let moved = &self.sentences.moved;
        let amount = shift.amount.unsigned_abs();
        let [one, several] = match shift.unit {
            ShiftUnit::Minute => &moved.minute,
            ShiftUnit::Hour => &moved.hour,
            ShiftUnit::Day => &moved.day,
            ShiftUnit::Week => &moved.week,
            ShiftUnit::Month => &moved.month,
            ShiftUnit::Year => &moved.year,
        };
        let unit = if moved.singular.contains(&amount) { one } else { several };
        let direction = if shift.amount < 0 { &moved.back } else { &moved.forth };
        let amount = amount.to_string();
        moved.text.fill(&[("moment", moment), ("direction", direction), ("amount", &amount), ("unit", unit)])
    }

    /// Asks for a yes to what will be done; `details` may be empty. `is_deed` means that `what` can follow "shall I".
    pub(crate) fn confirm(self, what: &str, is_deed: bool, details: &str) -> String {
        let confirm = &self.sentences.confirm;
        let question = match (is_deed, details.is_empty()) {
            (true, true) => &confirm.deed,
            (true, false) => &confirm.deed_details,
            (false, true) => &confirm.plain,
            (false, false) => &confirm.details,
        };
        question.fill(&[("what", what), ("details", details)])
    }

    /// The corrected values: "size 8".
    pub(crate) fn corrected(self, facts: &str) -> String {
        self.sentences.ask.corrected.fill(&[("facts", facts)])
    }

    /// The word for an empty list.
    pub(crate) fn none(self) -> &'static str {
        &self.sentences.none
    }

    /// A value with its name: "size 9".
    pub(crate) fn fact(self, name: &str, value: &str) -> String {
        self.sentences.fact.fill(&[("name", name), ("value", value)])
    }

    /// A thing with its known values: "margherita (size large)".
    pub(crate) fn thing(self, name: &str, facts: &str) -> String {
        self.sentences.thing.fill(&[("name", name), ("facts", facts)])
    }

    /// Asks what is to be changed, after a no.
    pub(crate) fn change(self) -> &'static str {
        &self.sentences.confirm.change
    }

    /// Says that this was done already.
    pub(crate) fn done_already(self, what: &str) -> String {
        self.sentences.repeat.done.fill(&[("what", what)])
    }

    /// Asks whether to do this as well.
    pub(crate) fn also(self, what: &str) -> String {
        self.sentences.repeat.also.fill(&[("what", what)])
    }

    /// Asks whether to do exactly the same again.
    pub(crate) fn once_more(self) -> &'static str {
        &self.sentences.repeat.once_more
    }

    /// Says that nothing more is done.
    pub(crate) fn left_as_done(self) -> &'static str {
        &self.sentences.repeat.left
    }

    /// Asks which of several functions is meant.
    pub(crate) fn tie(self, options: &[String]) -> String {
        let tie = &self.sentences.tie;
        tie.text.fill(&[("options", &options.join(&tie.between))])
    }

    pub(crate) fn with(self, option: &str, names: &str) -> String {
        self.sentences.tie.with.fill(&[("option", option), ("names", names)])
    }

    pub(crate) fn without(self, option: &str, names: &str) -> String {
        self.sentences.tie.without.fill(&[("option", option), ("names", names)])
    }

    /// Says what was given up, by name.
    pub(crate) fn cancelled(self, what: &str) -> String {
        self.sentences.news.cancelled.fill(&[("what", what)])
    }

    /// The texts for turns without a question.
    pub(crate) fn remarks(self) -> &'static Remarks {
        &self.sentences.remark
    }

    /// The separator between things that contain commas.
    pub(crate) fn apart(self) -> &'static str {
        if self.sentences.gap.is_empty() { "；" } else { "; " }
    }

    /// The mark at the end of a sentence.
    pub(crate) fn stop(self) -> &'static str {
        if self.sentences.gap.is_empty() { "。" } else { "." }
    }

    pub(crate) fn hand_off(self) -> &'static str {
        &self.sentences.news.hand_off
    }

    pub(crate) fn restarted(self) -> &'static str {
        &self.sentences.news.restarted
    }

    pub(crate) fn not_done(self) -> &'static str {
        &self.sentences.news.not_done
    }

    /// Says that nothing was understood. `times` counts from 1; after the last wording the first comes again.
    pub(crate) fn not_understood(self, times: u32) -> &'static str {
        in_turn(&self.sentences.news.not_understood, times)
    }

    /// Says that no function does this, in the same way.
    pub(crate) fn out_of_scope(self, times: u32) -> &'static str {
        in_turn(&self.sentences.remark.out_of_scope, times)
    }

    /// Says that a human takes over, because the person asked for one.
    pub(crate) fn hand_over(self) -> &'static str {
        &self.sentences.news.hand_over
    }

    /// Asks whether a human is to take over.
    pub(crate) fn offer(self) -> &'static str {
        &self.sentences.news.offer
    }

    /// The text with words that say it is repeated.
    pub(crate) fn once_again(self, text: &str) -> String {
        self.sentences.news.again.fill(&[("text", text)])
    }

    /// A long question that was just asked: only its last sentence.
    pub(crate) fn still_asked(self, question: &str) -> String {
        self.sentences.news.still_asked.fill(&[("question", question)])
    }

    /// The same for a question whose last sentence is long or does not ask.
    pub(crate) fn answer_needed(self) -> &'static str {
        &self.sentences.news.answer_needed
    }

    /// Replaces any other long text that was just said.
    pub(crate) fn told_before(self) -> &'static str {
        &self.sentences.news.told_before
    }

    /// Says what a value is needed for; `description` may be empty.
    pub(crate) fn why(self, name: &str, description: &str, what: &str) -> String {
        let ask = &self.sentences.ask;
        let why = if description.is_empty() { &ask.why } else { &ask.why_described };
        why.fill(&[("name", name), ("description", description), ("what", what)])
    }

    /// Says why a yes is needed.
    pub(crate) fn yes_needed(self) -> &'static str {
        &self.sentences.ask.yes_needed
    }

    /// One line of a summary.
    pub(crate) fn line(self, line: SummaryLine, content: &str) -> String {
        let summary = &self.sentences.summary;
        let text = match line {
            SummaryLine::Known => &summary.known,
            SummaryLine::Missing => &summary.missing,
            SummaryLine::NotValid => &summary.not_valid,
            SummaryLine::Unconfirmed => return summary.unconfirmed.clone(),
        };
        text.fill(&[("content", content)])
    }

    /// Replaces a value that is not shown.
    pub(crate) fn given(self) -> &'static str {
        &self.sentences.summary.given
    }
}

/// One of several wordings, by how often the same has to be said, counted from 1.
fn in_turn(wordings: &'static [String], times: u32) -> &'static str {
    let place = usize::try_from(times.max(1) - 1).unwrap_or_default();
    wordings.get(place % wordings.len().max(1)).map_or("", String::as_str)
}
