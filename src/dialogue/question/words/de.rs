use crate::{
    dialogue::question::words::{Line, Relation, Wanted, Words, joined},
    module::rule::{Comparison, Shift, Unit},
};

pub(crate) struct German;

impl Words for German {
    /// Nouns keep their capitals.
    fn within(&self, summary: &str) -> String {
        summary.to_owned()
    }

    fn and(&self, of: &[String]) -> String {
        joined(of, ", ", " und ")
    }

    fn or(&self, of: &[String]) -> String {
        joined(of, ", ", " oder ")
    }

    fn facts(&self, of: &[String]) -> String {
        of.join(", ")
    }

    fn truth(&self, truth: bool) -> &'static str {
        if truth { "ja" } else { "nein" }
    }

    fn ask(&self, name: &str, description: &str, choices: &str) -> String {
        let choices = if choices.is_empty() { String::new() } else { format!(" ({choices})") };
        if description.is_empty() {
            format!("Was soll ich für „{name}“ eintragen?{choices}")
        } else {
            format!("Was soll ich für „{name}“ eintragen? {description}{choices}.")
        }
    }

    fn ask_all(&self, names: &str, object: Option<&str>) -> String {
        match object {
            None => format!("Bitte nennen Sie mir: {names}."),
            Some(object) => format!("Bitte nennen Sie mir für „{object}“: {names}."),
        }
    }

    fn with_choices(&self, name: &str, choices: &str) -> String {
        format!("{name} ({choices})")
    }

    fn numbered(&self, name: &str, number: usize) -> String {
        format!("{name} Nr. {number}")
    }

    fn about(&self, thing: &str, question: &str) -> String {
        format!("Zu „{thing}“: {question}")
    }

    fn again(&self, question: &str, repeated: u32) -> String {
        match repeated {
            0 => question.to_owned(),
            1 => format!("Entschuldigung, das fehlt mir noch. {question}"),
            _ => format!("Ohne diese Angabe komme ich leider nicht weiter. {question}"),
        }
    }

    fn needed(&self, name: &str, question: &str) -> String {
        format!("Ohne „{name}“ geht es leider nicht. {question}")
    }

    fn refused(&self, found: Option<&str>, name: &str, wanted: &str) -> String {
        match found {
            Some(found) => format!("„{found}“ passt nicht für „{name}“: Ich brauche {wanted}."),
            None => format!("Für „{name}“ brauche ich {wanted}."),
        }
    }

    fn wanted(&self, wanted: &Wanted<'_>) -> String {
        match wanted {
            Wanted::Choice(choices) => choices.clone(),
            Wanted::WholeNumber => "eine ganze Zahl".to_owned(),
            Wanted::Number => "eine Zahl".to_owned(),
            Wanted::YesOrNo => "ein Ja oder ein Nein".to_owned(),
            Wanted::Text => "einen Text".to_owned(),
            Wanted::Format(format) => self::format(format).to_owned(),
            Wanted::AtLeast(limit) => format!("mindestens {limit}"),
            Wanted::AtMost(limit) => format!("höchstens {limit}"),
            Wanted::Between(least, most) => format!("einen Wert von {least} bis {most}"),
            Wanted::MoreThan(limit) => format!("mehr als {limit}"),
            Wanted::LessThan(limit) => format!("weniger als {limit}"),
            Wanted::MultipleOf(number) => format!("ein Vielfaches von {number}"),
            Wanted::NotShorter(count) => format!("mindestens {count} Zeichen"),
            Wanted::NotLonger(count) => format!("höchstens {count} Zeichen"),
            Wanted::OtherForm => "eine andere Schreibweise".to_owned(),
            Wanted::Other(_) => "eine andere Angabe".to_owned(),
        }
    }

    fn slot(&self, name: &str) -> String {
        format!("„{name}“")
    }

    fn rule(&self, left: &str, relation: Relation, right: &str, values: &str) -> String {
        let must = match (relation.comparison, relation.is_time) {
            (Comparison::Less, true) => format!("muss vor {right} liegen"),
            (Comparison::AtMost, true) => format!("darf nicht nach {right} liegen"),
            (Comparison::AtLeast, true) => format!("darf nicht vor {right} liegen"),
            (Comparison::Greater, true) => format!("muss nach {right} liegen"),
            (Comparison::Less, false) => format!("muss kleiner sein als {right}"),
            (Comparison::AtMost, false) => format!("darf nicht größer sein als {right}"),
            (Comparison::AtLeast, false) => format!("darf nicht kleiner sein als {right}"),
            (Comparison::Greater, false) => format!("muss größer sein als {right}"),
            (Comparison::Equal, _) => format!("muss mit {right} übereinstimmen"),
            (Comparison::NotEqual, _) => format!("muss sich von {right} unterscheiden"),
        };
        format!("{left} {must}. Notiert habe ich: {values}. Was soll ich ändern?")
    }

    fn today(&self) -> &'static str {
        "heute"
    }

    fn now(&self) -> &'static str {
        "jetzt"
    }

    fn moved(&self, moment: &str, shift: Shift) -> String {
        let amount = shift.amount.unsigned_abs();
        let (one, several) = match shift.unit {
            Unit::Minute => ("Minute", "Minuten"),
            Unit::Hour => ("Stunde", "Stunden"),
            Unit::Day => ("Tag", "Tage"),
            Unit::Week => ("Woche", "Wochen"),
            Unit::Month => ("Monat", "Monate"),
            Unit::Year => ("Jahr", "Jahre"),
        };
        let sign = if shift.amount < 0 { "minus" } else { "plus" };
        format!("{moment} {sign} {amount} {}", if amount == 1 { one } else { several })
    }

    fn confirm(&self, what: &str, details: &str) -> String {
        if details.is_empty() {
            format!("{what}. Ist das richtig?")
        } else {
            format!("{what}: {details}. Ist das richtig?")
        }
    }

    fn fact(&self, name: &str, value: &str) -> String {
        format!("{name} {value}")
    }

    fn thing(&self, name: &str, facts: &str) -> String {
        format!("{name} ({facts})")
    }

    fn which(&self, options: &[String]) -> String {
        format!("Meinen Sie {}?", self.or(options))
    }

    fn which_half(&self, clock: &str, is_evening: bool) -> String {
        let half = if is_evening { "abends" } else { "nachmittags" };
        format!("Meinen Sie {clock} Uhr morgens oder {half}?")
    }

    fn change(&self) -> &'static str {
        "Was soll ich ändern?"
    }

    fn tie(&self, options: &[String]) -> String {
        format!("Meinen Sie: {}?", options.join("; oder: "))
    }

    fn with(&self, option: &str, names: &str) -> String {
        format!("{option}, mit {names}")
    }

    fn without(&self, option: &str, names: &str) -> String {
        format!("{option}, ohne {names}")
    }

    fn cancelled(&self, what: &str) -> String {
        format!("In Ordnung, das ist abgebrochen: {what}.")
    }

    fn hand_off(&self) -> &'static str {
        "Das kann ich hier leider nicht klären. Jemand aus dem Team übernimmt."
    }

    fn restarted(&self) -> &'static str {
        "In Ordnung, fangen wir von vorn an."
    }

    fn not_understood(&self) -> &'static str {
        "Entschuldigung, das habe ich nicht verstanden."
    }

    fn line(&self, line: Line, content: &str) -> String {
        match line {
            Line::Known => format!("bekannt: {content}"),
            Line::Missing => format!("fehlt noch: {content}"),
            Line::NotValid => format!("ungültig: {content}"),
            Line::Unconfirmed => "vollständig, noch zu bestätigen".to_owned(),
        }
    }

    fn given(&self) -> &'static str {
        "(angegeben)"
    }
}

fn format(name: &str) -> &'static str {
    match name {
        "date" => "ein Datum",
        "time" => "eine Uhrzeit",
        "date-time" => "ein Datum mit Uhrzeit",
        "duration" => "eine Dauer",
        "email" | "idn-email" => "eine E-Mail-Adresse",
        "phone" => "eine Telefonnummer",
        "uri" | "iri" | "url" => "eine Internetadresse",
        _ => "eine andere Schreibweise",
    }
}
