//! What Uptake itself says, in the sentences of a language's pack.

use crate::{
    language::{
        Language,
        grammar::{Grammar, OfSlot, lower_first, upper_first},
        sentences::{Remarks, Sentences, Template},
    },
    module::rule::{Comparison, Shift, Unit},
};

/// The words of one language.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words {
    language: &'static Language,
    sentences: &'static Sentences,
}

/// What a summary tells of a function that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    Known,
    Missing,
    NotValid,
    /// Everything is known, and a yes is waited for.
    Unconfirmed,
}

/// What a question asks for, as far as its words depend on that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Yes or no.
    Truth,
    Number,
    Other,
}

/// What a value would have to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted<'a> {
    /// One of a few, listed with "or".
    Choice(String),
    WholeNumber,
    Number,
    YesOrNo,
    Text,
    /// As JSON Schema names it.
    Format(&'a str),
    AtLeast(String),
    AtMost(String),
    Between(String, String),
    MoreThan(String),
    LessThan(String),
    MultipleOf(String),
    /// Characters.
    NotShorter(u64),
    NotLonger(u64),
    /// A text of another form, which only a pattern describes.
    OtherForm,
    /// Words of the validator, which are English.
    Other(&'a str),
}

/// How two values have to lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Relation {
    pub comparison: Comparison,
    /// They are moments: after, not more.
    pub is_time: bool,
}

impl Words {
    /// `None` for a BCP 47 tag of a language that Uptake does not speak.
    pub(crate) fn of(tag: &str) -> Option<Self> {
        Language::of(tag).map(Self::new)
    }

    /// Where nothing better is known.
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

    /// One sentence after another.
    pub(crate) fn then(self, first: &str, second: &str) -> String {
        self.sentences.then(first, second)
    }

    /// What a function is for, within a sentence.
    pub(crate) fn within(self, summary: &str) -> String {
        if self.sentences.keeps_capitals { self.grammar().small(summary) } else { lower_first(summary) }
    }

    /// How descriptions become parts of sentences.
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

    /// The question for one value, of which the description says nothing. `choices` ("a, b") may be empty.
    pub(crate) fn ask(self, name: &str, kind: Asked, choices: &str) -> String {
        let (ask, grammar) = (&self.sentences.ask, self.grammar());
        let counted = grammar.counted(name);
        let (question, name) = match kind {
            Asked::Truth => return upper_first(&ask.truth.fill(&[("name", name)])),
            Asked::Number if grammar.is_plural(counted) => (&ask.how_many, counted),
            Asked::Number | Asked::Other if grammar.is_plural(name) => (&ask.plural, name),
            Asked::Number | Asked::Other => (&ask.plain, name),
        };
        question.fill(&[("name", name), ("choices", &self.choices(choices))])
    }

    /// The question for one value, by what is said of it.
    pub(crate) fn ask_described(self, name: &str, kind: Asked, said: &OfSlot, listed: &str) -> String {
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

    /// The same for a name that says nothing by itself; `what` is what it is needed for.
    pub(crate) fn ask_bare(self, name: &str, what: &str, description: &str, choices: &str) -> String {
        let (ask, choices) = (&self.sentences.ask, self.choices(choices));
        let question = if description.is_empty() { &ask.bare } else { &ask.bare_described };
        question.fill(&[("name", name), ("what", what), ("description", description), ("choices", &choices)])
    }

    /// The question for several values, `names` being a list of them; `object` is what they are parts of.
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

    /// One of several things that have the same name; counted from 1.
    pub(crate) fn numbered(self, name: &str, number: usize) -> String {
        self.sentences.numbered.fill(&[("name", name), ("number", &number.to_string())])
    }

    /// A question that is about this thing.
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

    /// A question for what the person would rather leave out.
    pub(crate) fn needed(self, name: &str, question: &str) -> String {
        self.sentences.ask.needed.fill(&[("name", name), ("question", question)])
    }

    /// Which of several values was meant.
    pub(crate) fn which(self, options: &[String]) -> String {
        self.sentences.ask.which.fill(&[("options", &self.or(options))])
    }

    /// In which half of the day a time lies: the later one is of the evening, or of the afternoon.
    pub(crate) fn which_half(self, clock: &str, is_evening: bool) -> String {
        let ask = &self.sentences.ask;
        let question = if is_evening { &ask.morning_or_evening } else { &ask.morning_or_afternoon };
        question.fill(&[("clock", clock)])
    }

    /// Why a value is not taken; `found` is missing where it must not be repeated. `wanted` is one of [`Self::wanted`].
    pub(crate) fn refused(self, found: Option<&str>, name: &str, wanted: &str) -> String {
        let refused = &self.sentences.refused;
        match found {
            Some(found) => refused.value.fill(&[("found", found), ("name", name), ("wanted", wanted)]),
            None => refused.hidden.fill(&[("name", name), ("wanted", wanted)]),
        }
    }

    pub(crate) fn wanted(self, wanted: &Wanted<'_>) -> String {
        let words = &self.sentences.wanted;
        let with = |template: &Template, place, value: &str| template.fill(&[(place, value)]);
        match wanted {
            Wanted::Choice(choices) => with(&words.choice, "choices", choices),
            Wanted::WholeNumber => words.whole_number.clone(),
            Wanted::Number => words.number.clone(),
            Wanted::YesOrNo => words.yes_or_no.clone(),
            Wanted::Text => words.text.clone(),
            Wanted::Format(format) => self.format(format).to_owned(),
            Wanted::AtLeast(limit) => with(&words.at_least, "limit", limit),
            Wanted::AtMost(limit) => with(&words.at_most, "limit", limit),
            Wanted::Between(least, most) => words.between.fill(&[("least", least), ("most", most)]),
            Wanted::MoreThan(limit) => with(&words.more_than, "limit", limit),
            Wanted::LessThan(limit) => with(&words.less_than, "limit", limit),
            Wanted::MultipleOf(number) => with(&words.multiple_of, "number", number),
            Wanted::NotShorter(count) => with(&words.not_shorter, "count", &count.to_string()),
            Wanted::NotLonger(count) => with(&words.not_longer, "count", &count.to_string()),
            Wanted::OtherForm => words.other_form.clone(),
            Wanted::Other(reason) => with(&words.other, "reason", reason),
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

    /// What has to hold between two [`Self::slot`]s or values, and what is there instead: "size 9, color black".
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

    /// A moment moved by a length of time.
    pub(crate) fn moved(self, moment: &str, shift: Shift) -> String {
        let moved = &self.sentences.moved;
        let amount = shift.amount.unsigned_abs();
        let [one, several] = match shift.unit {
            Unit::Minute => &moved.minute,
            Unit::Hour => &moved.hour,
            Unit::Day => &moved.day,
            Unit::Week => &moved.week,
            Unit::Month => &moved.month,
            Unit::Year => &moved.year,
        };
        let unit = if moved.singular.contains(&amount) { one } else { several };
        let direction = if shift.amount < 0 { &moved.back } else { &moved.forth };
        let amount = amount.to_string();
        moved.text.fill(&[("moment", moment), ("direction", direction), ("amount", &amount), ("unit", unit)])
    }

    /// What will be done, for a yes; `details` may be empty. `is_deed`: `what` can stand behind "shall I".
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

    /// What is known otherwise now: "size 8".
    pub(crate) fn corrected(self, facts: &str) -> String {
        self.sentences.ask.corrected.fill(&[("facts", facts)])
    }

    /// How many there are of something, where there is nothing.
    pub(crate) fn none(self) -> &'static str {
        &self.sentences.none
    }

    /// A value with its name: "size 9".
    pub(crate) fn fact(self, name: &str, value: &str) -> String {
        self.sentences.fact.fill(&[("name", name), ("value", value)])
    }

    /// A thing with what is known of it: "margherita (size large)".
    pub(crate) fn thing(self, name: &str, facts: &str) -> String {
        self.sentences.thing.fill(&[("name", name), ("facts", facts)])
    }

    /// What is to be changed, after a no.
    pub(crate) fn change(self) -> &'static str {
        &self.sentences.confirm.change
    }

    /// What was done already.
    pub(crate) fn done_already(self, what: &str) -> String {
        self.sentences.repeat.done.fill(&[("what", what)])
    }

    /// Whether to do this as well.
    pub(crate) fn also(self, what: &str) -> String {
        self.sentences.repeat.also.fill(&[("what", what)])
    }

    /// Whether to do the very same again.
    pub(crate) fn once_more(self) -> &'static str {
        &self.sentences.repeat.once_more
    }

    /// Nothing is done after all.
    pub(crate) fn left_as_done(self) -> &'static str {
        &self.sentences.repeat.left
    }

    /// Which of several functions is meant.
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

    /// What was given up, by name.
    pub(crate) fn cancelled(self, what: &str) -> String {
        self.sentences.news.cancelled.fill(&[("what", what)])
    }

    /// What is said where nothing is asked.
    pub(crate) fn remarks(self) -> &'static Remarks {
        &self.sentences.remark
    }

    /// Between things that have commas of their own.
    pub(crate) fn apart(self) -> &'static str {
        if self.sentences.gap.is_empty() { "；" } else { "; " }
    }

    /// What ends a sentence.
    pub(crate) fn stop(self) -> &'static str {
        if self.sentences.gap.is_empty() { "。" } else { "." }
    }

    pub(crate) fn hand_off(self) -> &'static str {
        &self.sentences.news.hand_off
    }

    pub(crate) fn restarted(self) -> &'static str {
        &self.sentences.news.restarted
    }

    /// Counted from 1; behind the last wording comes the first again.
    pub(crate) fn not_understood(self, times: u32) -> &'static str {
        in_turn(&self.sentences.news.not_understood, times)
    }

    /// The same of what no function does.
    pub(crate) fn out_of_scope(self, times: u32) -> &'static str {
        in_turn(&self.sentences.remark.out_of_scope, times)
    }

    /// A person takes over whom somebody asked for.
    pub(crate) fn hand_over(self) -> &'static str {
        &self.sentences.news.hand_over
    }

    /// Whether a person is to take over.
    pub(crate) fn offer(self) -> &'static str {
        &self.sentences.news.offer
    }

    /// What was said twice in a row, in other words.
    pub(crate) fn once_again(self, text: &str) -> String {
        self.sentences.news.again.fill(&[("text", text)])
    }

    /// A long question that was just asked, by its last sentence alone.
    pub(crate) fn still_asked(self, question: &str) -> String {
        self.sentences.news.still_asked.fill(&[("question", question)])
    }

    /// The same of one whose last sentence is long, or asks nothing.
    pub(crate) fn answer_needed(self) -> &'static str {
        &self.sentences.news.answer_needed
    }

    /// In place of any other long text that was just said.
    pub(crate) fn told_before(self) -> &'static str {
        &self.sentences.news.told_before
    }

    /// What a value is needed for; `description` may be empty.
    pub(crate) fn why(self, name: &str, description: &str, what: &str) -> String {
        let ask = &self.sentences.ask;
        let why = if description.is_empty() { &ask.why } else { &ask.why_described };
        why.fill(&[("name", name), ("description", description), ("what", what)])
    }

    /// Why a yes is waited for.
    pub(crate) fn yes_needed(self) -> &'static str {
        &self.sentences.ask.yes_needed
    }

    /// One line of a summary.
    pub(crate) fn line(self, line: Line, content: &str) -> String {
        let summary = &self.sentences.summary;
        let text = match line {
            Line::Known => &summary.known,
            Line::Missing => &summary.missing,
            Line::NotValid => &summary.not_valid,
            Line::Unconfirmed => return summary.unconfirmed.clone(),
        };
        text.fill(&[("content", content)])
    }

    /// In place of a value that is not shown.
    pub(crate) fn given(self) -> &'static str {
        &self.sentences.summary.given
    }
}

/// One of several wordings, by how often the same was to be said, counted from 1.
fn in_turn(wordings: &'static [String], times: u32) -> &'static str {
    let place = usize::try_from(times.max(1) - 1).unwrap_or_default();
    wordings.get(place % wordings.len().max(1)).map_or("", String::as_str)
}
