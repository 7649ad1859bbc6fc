use crate::{
    dialogue::question::words::{Line, Relation, Wanted, Words, joined},
    module::rule::{Comparison, Shift, Unit},
};

pub(crate) struct Spanish;

impl Words for Spanish {
    fn and(&self, of: &[String]) -> String {
        // "y" before the sound of an i is "e": "agujas e hilo".
        joined(of, ", ", if of.last().is_some_and(|last| sounds_like(last, 'i')) { " e " } else { " y " })
    }

    fn or(&self, of: &[String]) -> String {
        // "o" before the sound of an o is "u": "plata u oro".
        joined(of, ", ", if of.last().is_some_and(|last| sounds_like(last, 'o')) { " u " } else { " o " })
    }

    fn facts(&self, of: &[String]) -> String {
        of.join(", ")
    }

    fn truth(&self, truth: bool) -> &'static str {
        if truth { "sí" } else { "no" }
    }

    fn ask(&self, name: &str, description: &str, choices: &str) -> String {
        let choices = if choices.is_empty() { String::new() } else { format!(" ({choices})") };
        if description.is_empty() {
            format!("¿Qué debo indicar en «{name}»?{choices}")
        } else {
            format!("¿Qué debo indicar en «{name}»? {description}{choices}.")
        }
    }

    fn ask_all(&self, names: &str, object: Option<&str>) -> String {
        match object {
            None => format!("Indíqueme, por favor: {names}."),
            Some(object) => format!("Indíqueme, por favor, para «{object}»: {names}."),
        }
    }

    fn with_choices(&self, name: &str, choices: &str) -> String {
        format!("{name} ({choices})")
    }

    fn numbered(&self, name: &str, number: usize) -> String {
        format!("{name} n.º {number}")
    }

    fn about(&self, thing: &str, question: &str) -> String {
        format!("Para «{thing}»: {question}")
    }

    fn again(&self, question: &str, repeated: u32) -> String {
        match repeated {
            0 => question.to_owned(),
            1 => format!("Disculpe, todavía me falta este dato. {question}"),
            _ => format!("Lo siento, sin este dato no puedo continuar. {question}"),
        }
    }

    fn needed(&self, name: &str, question: &str) -> String {
        format!("El dato «{name}» es imprescindible. {question}")
    }

    fn refused(&self, found: Option<&str>, name: &str, wanted: &str) -> String {
        match found {
            Some(found) => format!("«{found}» no sirve para «{name}»: necesito {wanted}."),
            None => format!("Para «{name}» necesito {wanted}."),
        }
    }

    fn wanted(&self, wanted: &Wanted<'_>) -> String {
        match wanted {
            Wanted::Choice(choices) => choices.clone(),
            Wanted::WholeNumber => "un número entero".to_owned(),
            Wanted::Number => "un número".to_owned(),
            Wanted::YesOrNo => "un sí o un no".to_owned(),
            Wanted::Text => "un texto".to_owned(),
            Wanted::Format(format) => self::format(format).to_owned(),
            Wanted::AtLeast(limit) => format!("{limit} como mínimo"),
            Wanted::AtMost(limit) => format!("{limit} como máximo"),
            Wanted::Between(least, most) => format!("un valor de {least} a {most}"),
            Wanted::MoreThan(limit) => format!("más de {limit}"),
            Wanted::LessThan(limit) => format!("menos de {limit}"),
            Wanted::MultipleOf(number) => format!("un múltiplo de {number}"),
            Wanted::NotShorter(count) => format!("al menos {count} caracteres"),
            Wanted::NotLonger(count) => format!("{count} caracteres como máximo"),
            Wanted::OtherForm => "otro formato".to_owned(),
            Wanted::Other(_) => "otro valor".to_owned(),
        }
    }

    fn slot(&self, name: &str) -> String {
        format!("«{name}»")
    }

    fn rule(&self, left: &str, relation: Relation, right: &str, values: &str) -> String {
        let must = match (relation.comparison, relation.is_time) {
            (Comparison::Less, true) => format!("debe ser anterior a {right}"),
            (Comparison::AtMost, true) => format!("no puede ser posterior a {right}"),
            (Comparison::AtLeast, true) => format!("no puede ser anterior a {right}"),
            (Comparison::Greater, true) => format!("debe ser posterior a {right}"),
            (Comparison::Less, false) => format!("debe ser menor que {right}"),
            (Comparison::AtMost, false) => format!("no puede ser mayor que {right}"),
            (Comparison::AtLeast, false) => format!("no puede ser menor que {right}"),
            (Comparison::Greater, false) => format!("debe ser mayor que {right}"),
            (Comparison::Equal, _) => format!("debe coincidir con {right}"),
            (Comparison::NotEqual, _) => format!("no puede coincidir con {right}"),
        };
        format!("{left} {must}. He anotado: {values}. ¿Qué debo cambiar?")
    }

    fn today(&self) -> &'static str {
        "hoy"
    }

    fn now(&self) -> &'static str {
        "ahora"
    }

    fn moved(&self, moment: &str, shift: Shift) -> String {
        let amount = shift.amount.unsigned_abs();
        let (one, several) = match shift.unit {
            Unit::Minute => ("minuto", "minutos"),
            Unit::Hour => ("hora", "horas"),
            Unit::Day => ("día", "días"),
            Unit::Week => ("semana", "semanas"),
            Unit::Month => ("mes", "meses"),
            Unit::Year => ("año", "años"),
        };
        let sign = if shift.amount < 0 { "menos" } else { "más" };
        format!("{moment} {sign} {amount} {}", if amount == 1 { one } else { several })
    }

    fn confirm(&self, what: &str, details: &str) -> String {
        if details.is_empty() {
            format!("{what}. ¿Es correcto?")
        } else {
            format!("{what}: {details}. ¿Es correcto?")
        }
    }

    fn fact(&self, name: &str, value: &str) -> String {
        format!("{name} {value}")
    }

    fn thing(&self, name: &str, facts: &str) -> String {
        format!("{name} ({facts})")
    }

    fn which(&self, options: &[String]) -> String {
        format!("¿Quiere decir {}?", self.or(options))
    }

    fn which_half(&self, clock: &str, is_evening: bool) -> String {
        let half = if is_evening { "noche" } else { "tarde" };
        format!("¿Quiere decir {clock} de la mañana o de la {half}?")
    }

    fn change(&self) -> &'static str {
        "¿Qué debo cambiar?"
    }

    fn tie(&self, options: &[String]) -> String {
        format!("¿Se refiere a: {}?", options.join("; o a: "))
    }

    fn with(&self, option: &str, names: &str) -> String {
        format!("{option}, con {names}")
    }

    fn without(&self, option: &str, names: &str) -> String {
        format!("{option}, sin {names}")
    }

    fn cancelled(&self, what: &str) -> String {
        format!("De acuerdo, queda cancelado: {what}.")
    }

    fn hand_off(&self) -> &'static str {
        "Lo siento, no puedo resolverlo aquí. Alguien del equipo se encargará."
    }

    fn restarted(&self) -> &'static str {
        "De acuerdo, empecemos de nuevo."
    }

    fn not_understood(&self) -> &'static str {
        "Disculpe, no le he entendido."
    }

    fn line(&self, line: Line, content: &str) -> String {
        match line {
            Line::Known => format!("conocido: {content}"),
            Line::Missing => format!("falta: {content}"),
            Line::NotValid => format!("no válido: {content}"),
            Line::Unconfirmed => "completo, pendiente de confirmar".to_owned(),
        }
    }

    fn given(&self) -> &'static str {
        "(indicado)"
    }
}

/// True if a word begins with the sound of this vowel, "ocho" written as a number included; an h is silent, and "hie-" is
/// not an i.
fn sounds_like(word: &str, vowel: char) -> bool {
    let word = word.to_lowercase();
    if vowel == 'o' && (word.starts_with('8') || word == "11") {
        return true;
    }
    let sound = word.strip_prefix('h').unwrap_or(&word);
    let accented = if vowel == 'i' { 'í' } else { 'ó' };
    sound.starts_with([vowel, accented]) && !sound.starts_with("ie") && !sound.starts_with("io")
}

fn format(name: &str) -> &'static str {
    match name {
        "date" => "una fecha",
        "time" => "una hora",
        "date-time" => "una fecha y una hora",
        "duration" => "una duración",
        "email" | "idn-email" => "una dirección de correo electrónico",
        "phone" => "un número de teléfono",
        "uri" | "iri" | "url" => "una dirección web",
        _ => "otro formato",
    }
}

#[cfg(test)]
mod tests {
    use crate::dialogue::question::words::es::*;

    #[test]
    fn conjunctions_follow_the_sound_of_the_next_word() {
        let of = |last: &str| ["plata".to_owned(), last.to_owned()];
        for (last, and, or) in [
            ("oro", "plata y oro", "plata u oro"),
            ("hilo", "plata e hilo", "plata o hilo"),
            ("hielo", "plata y hielo", "plata o hielo"),
            ("8", "plata y 8", "plata u 8"),
            ("1", "plata y 1", "plata o 1"),
        ] {
            assert_eq!((Spanish.and(&of(last)).as_str(), Spanish.or(&of(last)).as_str()), (and, or));
        }
    }
}
