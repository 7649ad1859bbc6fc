use crate::{
    dialogue::question::words::{Line, Relation, Wanted, Words, joined},
    module::rule::{Comparison, Shift, Unit},
};

/// Spaces before `:`, `?` and `;` and within quotes do not break.
pub(crate) struct French;

impl Words for French {
    fn and(&self, of: &[String]) -> String {
        joined(of, ", ", " et ")
    }

    fn or(&self, of: &[String]) -> String {
        joined(of, ", ", " ou ")
    }

    fn facts(&self, of: &[String]) -> String {
        of.join(", ")
    }

    fn truth(&self, truth: bool) -> &'static str {
        if truth { "oui" } else { "non" }
    }

    fn ask(&self, name: &str, description: &str, choices: &str) -> String {
        let choices = if choices.is_empty() { String::new() } else { format!(" ({choices})") };
        if description.is_empty() {
            format!("Que dois-je indiquer pour «\u{a0}{name}\u{a0}»\u{a0}?{choices}")
        } else {
            format!("Que dois-je indiquer pour «\u{a0}{name}\u{a0}»\u{a0}? {description}{choices}.")
        }
    }

    fn ask_all(&self, names: &str, object: Option<&str>) -> String {
        match object {
            None => format!("Veuillez m'indiquer\u{a0}: {names}."),
            Some(object) => format!("Veuillez m'indiquer, pour «\u{a0}{object}\u{a0}»\u{a0}: {names}."),
        }
    }

    fn with_choices(&self, name: &str, choices: &str) -> String {
        format!("{name} ({choices})")
    }

    fn numbered(&self, name: &str, number: usize) -> String {
        format!("{name} n°\u{a0}{number}")
    }

    fn about(&self, thing: &str, question: &str) -> String {
        format!("Pour «\u{a0}{thing}\u{a0}»\u{a0}: {question}")
    }

    fn again(&self, question: &str, repeated: u32) -> String {
        match repeated {
            0 => question.to_owned(),
            1 => format!("Excusez-moi, il me manque encore cette information. {question}"),
            _ => format!("Sans cette information, je ne peux malheureusement pas continuer. {question}"),
        }
    }

    fn needed(&self, name: &str, question: &str) -> String {
        format!("L'information «\u{a0}{name}\u{a0}» est indispensable. {question}")
    }

    fn refused(&self, found: Option<&str>, name: &str, wanted: &str) -> String {
        match found {
            Some(found) => {
                format!("«\u{a0}{found}\u{a0}» ne convient pas pour «\u{a0}{name}\u{a0}»\u{a0}: il me faut {wanted}.")
            }
            None => format!("Pour «\u{a0}{name}\u{a0}», il me faut {wanted}."),
        }
    }

    fn wanted(&self, wanted: &Wanted<'_>) -> String {
        match wanted {
            Wanted::Choice(choices) => choices.clone(),
            Wanted::WholeNumber => "un nombre entier".to_owned(),
            Wanted::Number => "un nombre".to_owned(),
            Wanted::YesOrNo => "un oui ou un non".to_owned(),
            Wanted::Text => "un texte".to_owned(),
            Wanted::Format(format) => self::format(format).to_owned(),
            Wanted::AtLeast(limit) => format!("au moins {limit}"),
            Wanted::AtMost(limit) => format!("au plus {limit}"),
            Wanted::Between(least, most) => format!("une valeur de {least} à {most}"),
            Wanted::MoreThan(limit) => format!("plus de {limit}"),
            Wanted::LessThan(limit) => format!("moins de {limit}"),
            Wanted::MultipleOf(number) => format!("un multiple de {number}"),
            Wanted::NotShorter(count) => format!("au moins {count} caractères"),
            Wanted::NotLonger(count) => format!("au plus {count} caractères"),
            Wanted::OtherForm => "une autre forme".to_owned(),
            Wanted::Other(_) => "une autre valeur".to_owned(),
        }
    }

    fn slot(&self, name: &str) -> String {
        format!("«\u{a0}{name}\u{a0}»")
    }

    fn rule(&self, left: &str, relation: Relation, right: &str, values: &str) -> String {
        let must = match (relation.comparison, relation.is_time) {
            (Comparison::Less, true) => format!("doit être antérieur à {right}"),
            (Comparison::AtMost, true) => format!("ne doit pas être postérieur à {right}"),
            (Comparison::AtLeast, true) => format!("ne doit pas être antérieur à {right}"),
            (Comparison::Greater, true) => format!("doit être postérieur à {right}"),
            (Comparison::Less, false) => format!("doit être inférieur à {right}"),
            (Comparison::AtMost, false) => format!("ne doit pas dépasser {right}"),
            (Comparison::AtLeast, false) => format!("ne doit pas être inférieur à {right}"),
            (Comparison::Greater, false) => format!("doit être supérieur à {right}"),
            (Comparison::Equal, _) => format!("doit correspondre à {right}"),
            (Comparison::NotEqual, _) => format!("doit être différent de {right}"),
        };
        format!("{left} {must}. J'ai noté\u{a0}: {values}. Que dois-je modifier\u{a0}?")
    }

    fn today(&self) -> &'static str {
        "aujourd'hui"
    }

    fn now(&self) -> &'static str {
        "maintenant"
    }

    fn moved(&self, moment: &str, shift: Shift) -> String {
        let amount = shift.amount.unsigned_abs();
        let (one, several) = match shift.unit {
            Unit::Minute => ("minute", "minutes"),
            Unit::Hour => ("heure", "heures"),
            Unit::Day => ("jour", "jours"),
            Unit::Week => ("semaine", "semaines"),
            Unit::Month => ("mois", "mois"),
            Unit::Year => ("an", "ans"),
        };
        let sign = if shift.amount < 0 { "moins" } else { "plus" };
        // Zero is singular.
        format!("{moment} {sign} {amount} {}", if amount < 2 { one } else { several })
    }

    fn confirm(&self, what: &str, details: &str) -> String {
        if details.is_empty() {
            format!("{what}. Est-ce bien cela\u{a0}?")
        } else {
            format!("{what}\u{a0}: {details}. Est-ce bien cela\u{a0}?")
        }
    }

    fn fact(&self, name: &str, value: &str) -> String {
        format!("{name} {value}")
    }

    fn thing(&self, name: &str, facts: &str) -> String {
        format!("{name} ({facts})")
    }

    fn which(&self, options: &[String]) -> String {
        format!("Voulez-vous dire {}\u{a0}?", self.or(options))
    }

    fn which_half(&self, clock: &str, is_evening: bool) -> String {
        let half = if is_evening { "du soir" } else { "de l'après-midi" };
        format!("Voulez-vous dire {clock} du matin ou {half}\u{a0}?")
    }

    fn change(&self) -> &'static str {
        "Que dois-je modifier\u{a0}?"
    }

    fn tie(&self, options: &[String]) -> String {
        format!("Voulez-vous dire\u{a0}: {}\u{a0}?", options.join("\u{a0}; ou\u{a0}: "))
    }

    fn with(&self, option: &str, names: &str) -> String {
        format!("{option}, avec {names}")
    }

    fn without(&self, option: &str, names: &str) -> String {
        format!("{option}, sans {names}")
    }

    fn cancelled(&self, what: &str) -> String {
        format!("D'accord, c'est annulé\u{a0}: {what}.")
    }

    fn hand_off(&self) -> &'static str {
        "Je regrette, je ne peux pas régler cela ici. Un membre de l'équipe va prendre le relais."
    }

    fn restarted(&self) -> &'static str {
        "D'accord, recommençons depuis le début."
    }

    fn not_understood(&self) -> &'static str {
        "Excusez-moi, je n'ai pas compris."
    }

    fn line(&self, line: Line, content: &str) -> String {
        match line {
            Line::Known => format!("connu\u{a0}: {content}"),
            Line::Missing => format!("il manque\u{a0}: {content}"),
            Line::NotValid => format!("non valable\u{a0}: {content}"),
            Line::Unconfirmed => "complet, à confirmer".to_owned(),
        }
    }

    fn given(&self) -> &'static str {
        "(indiqué)"
    }
}

fn format(name: &str) -> &'static str {
    match name {
        "date" => "une date",
        "time" => "une heure",
        "date-time" => "une date et une heure",
        "duration" => "une durée",
        "email" | "idn-email" => "une adresse e-mail",
        "phone" => "un numéro de téléphone",
        "uri" | "iri" | "url" => "une adresse web",
        _ => "une autre forme",
    }
}
