use crate::{
    dialogue::question::{
        shown::upper_first,
        words::{Line, Relation, Wanted, Words, joined},
    },
    module::rule::{Comparison, Shift, Unit},
};

pub(crate) struct English;

impl Words for English {
    fn is_english(&self) -> bool {
        true
    }

    fn and(&self, of: &[String]) -> String {
        joined(of, ", ", " and ")
    }

    fn or(&self, of: &[String]) -> String {
        joined(of, ", ", " or ")
    }

    fn facts(&self, of: &[String]) -> String {
        of.join(", ")
    }

    fn truth(&self, truth: bool) -> &'static str {
        if truth { "yes" } else { "no" }
    }

    fn ask(&self, name: &str, description: &str, choices: &str) -> String {
        let choices = if choices.is_empty() { String::new() } else { format!(" ({choices})") };
        if description.is_empty() {
            format!("What is the {name}?{choices}")
        } else {
            format!("What is the {name}? {description}{choices}.")
        }
    }

    fn ask_all(&self, names: &str, object: Option<&str>) -> String {
        match object {
            None => format!("Please tell me: {names}."),
            Some(object) => format!("Please tell me for the {object}: {names}."),
        }
    }

    fn with_choices(&self, name: &str, choices: &str) -> String {
        format!("{name} ({choices})")
    }

    fn numbered(&self, name: &str, number: usize) -> String {
        format!("{name} no. {number}")
    }

    fn about(&self, thing: &str, question: &str) -> String {
        format!("For {thing}: {question}")
    }

    fn again(&self, question: &str, repeated: u32) -> String {
        match repeated {
            0 => question.to_owned(),
            1 => format!("Sorry, I still need this. {question}"),
            _ => format!("I'm afraid I can't go on without this. {question}"),
        }
    }

    fn needed(&self, name: &str, question: &str) -> String {
        format!("I can't do this without the {name}. {question}")
    }

    fn refused(&self, found: Option<&str>, name: &str, wanted: &str) -> String {
        match found {
            Some(found) => format!("I can't use \"{found}\" for {name}: expected {wanted}."),
            None => format!("For {name} I need {wanted}."),
        }
    }

    fn wanted(&self, wanted: &Wanted<'_>) -> String {
        match wanted {
            Wanted::Choice(choices) => choices.clone(),
            Wanted::WholeNumber => "a whole number".to_owned(),
            Wanted::Number => "a number".to_owned(),
            Wanted::YesOrNo => "yes or no".to_owned(),
            Wanted::Text => "text".to_owned(),
            Wanted::Format(format) => self::format(format),
            Wanted::AtLeast(limit) => format!("at least {limit}"),
            Wanted::AtMost(limit) => format!("at most {limit}"),
            Wanted::Between(least, most) => format!("{least} to {most}"),
            Wanted::MoreThan(limit) => format!("more than {limit}"),
            Wanted::LessThan(limit) => format!("less than {limit}"),
            Wanted::MultipleOf(number) => format!("a multiple of {number}"),
            Wanted::NotShorter(count) => format!("at least {count} characters"),
            Wanted::NotLonger(count) => format!("at most {count} characters"),
            Wanted::OtherForm => "a value in another form".to_owned(),
            Wanted::Other(words) => (*words).to_owned(),
        }
    }

    fn slot(&self, name: &str) -> String {
        format!("the {name}")
    }

    fn rule(&self, left: &str, relation: Relation, right: &str, values: &str) -> String {
        let lies = match (relation.comparison, relation.is_time) {
            (Comparison::Less, true) => "before",
            (Comparison::AtMost, true) => "no later than",
            (Comparison::AtLeast, true) => "no earlier than",
            (Comparison::Greater, true) => "after",
            (Comparison::Less, false) => "less than",
            (Comparison::AtMost, false) => "at most",
            (Comparison::AtLeast, false) => "at least",
            (Comparison::Greater, false) => "more than",
            (Comparison::Equal, _) => "the same as",
            (Comparison::NotEqual, _) => "other than",
        };
        format!("{} must be {lies} {right}. I have: {values}. What should I change?", upper_first(left))
    }

    fn today(&self) -> &'static str {
        "today"
    }

    fn now(&self) -> &'static str {
        "now"
    }

    fn moved(&self, moment: &str, shift: Shift) -> String {
        let amount = shift.amount.unsigned_abs();
        let unit = match shift.unit {
            Unit::Minute => "minute",
            Unit::Hour => "hour",
            Unit::Day => "day",
            Unit::Week => "week",
            Unit::Month => "month",
            Unit::Year => "year",
        };
        let sign = if shift.amount < 0 { "minus" } else { "plus" };
        let plural = if amount == 1 { "" } else { "s" };
        format!("{moment} {sign} {amount} {unit}{plural}")
    }

    fn confirm(&self, what: &str, details: &str) -> String {
        if details.is_empty() {
            format!("{what}. Is that right?")
        } else {
            format!("{what}: {details}. Is that right?")
        }
    }

    fn fact(&self, name: &str, value: &str) -> String {
        format!("{name} {value}")
    }

    fn thing(&self, name: &str, facts: &str) -> String {
        format!("{name} ({facts})")
    }

    fn which(&self, options: &[String]) -> String {
        format!("Do you mean {}?", self.or(options))
    }

    fn which_half(&self, clock: &str, is_evening: bool) -> String {
        let half = if is_evening { "evening" } else { "afternoon" };
        format!("Do you mean {clock} in the morning or in the {half}?")
    }

    fn change(&self) -> &'static str {
        "What should I change?"
    }

    fn tie(&self, options: &[String]) -> String {
        format!("Did you mean: {}?", options.join("; or: "))
    }

    fn with(&self, option: &str, names: &str) -> String {
        format!("{option}, with {names}")
    }

    fn without(&self, option: &str, names: &str) -> String {
        format!("{option}, without {names}")
    }

    fn cancelled(&self, what: &str) -> String {
        format!("All right, that is cancelled: {what}.")
    }

    fn hand_off(&self) -> &'static str {
        "I'm sorry, I can't settle this here. Somebody from the team will take over."
    }

    fn restarted(&self) -> &'static str {
        "All right, let's start over."
    }

    fn not_understood(&self) -> &'static str {
        "Sorry, I didn't understand that."
    }

    fn line(&self, line: Line, content: &str) -> String {
        match line {
            Line::Known => format!("known: {content}"),
            Line::Missing => format!("missing: {content}"),
            Line::NotValid => format!("not valid: {content}"),
            Line::Unconfirmed => "complete, to be confirmed".to_owned(),
        }
    }

    fn given(&self) -> &'static str {
        "(given)"
    }
}

fn format(name: &str) -> String {
    match name {
        "date" => "a date",
        "time" => "a time",
        "date-time" => "a date and a time",
        "duration" => "a length of time",
        "email" | "idn-email" => "an email address",
        "phone" => "a phone number",
        "uri" | "iri" | "url" => "a web address",
        _ => "a value in another form",
    }
    .to_owned()
}
