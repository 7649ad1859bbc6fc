//! Which of the languages with a pack a text is in, by the commonest words of each. This is used for functions that
//! come without a language, such as the tools of a request.

use std::{collections::HashMap, sync::LazyLock};

use super::Language;
use crate::text::{fold, is_unspaced};

/// Words that occur in most sentences of one language and in few sentences of the others.
const WORDS: [(&str, &str); 4] = [
    (
        "en",
        "the and of to is are was were be been have has had do does did it its this that these those you your we our they \
         them their what which who how where when why for with from at by on in my i i'm it's don't can could would should \
         will not please there here a an as some any if about",
    ),
    (
        "de",
        "der die das den dem des ein eine einen einem einer und ist sind war waren sein hat haben habe ich du er sie es wir \
         ihr mir mich dir dich uns euch mein meine meinen meinem deine ihre nicht kein keine auch noch schon nur für mit von \
         vom zum zur bei nach aus auf über wie wo wann was wer welche warum bitte kann könnte möchte hätte würde soll muss \
         gern gerne doch mal dann wenn dass oder aber heute morgen uhr ja nein",
    ),
    (
        "es",
        "el la los las un una unos unas y es son era fue ser está están estoy hay que de del al en por para con sin mi mis tu \
         tus su sus me te se lo yo usted nosotros qué cuál quién cómo cuándo dónde cuánto cuánta cuántos quiero \
         quisiera puedo puedes puede necesito tengo tiene también pero muy más hoy mañana esta este eso esa hola gracias sí \
         favor a",
    ),
    (
        "fr",
        "le la les un une des du de et est sont était être suis ai as avez a ont je tu il elle nous vous ils on me te se mon \
         ma mes ton ta tes son sa ses notre votre vos leur ce cet cette ces que qui quoi quel quelle où quand comment \
         pourquoi combien pour avec sans dans sur chez par pas ne plus très aussi mais voudrais veux peux pouvez peut \
         aimerais faut aujourd'hui demain c'est j'ai s'il merci bonjour oui non au aux l d qu n y en",
    ),
];
/// Letters and marks that only one language has.
const LETTERS: [(&str, &str); 4] = [("es", "ñ¿¡"), ("de", "ßäüö"), ("fr", "èêçœùîïë"), ("es", "áíóú")];

/// The languages of each word.
static KNOWN: LazyLock<HashMap<String, Vec<&'static str>>> = LazyLock::new(|| {
    let mut known: HashMap<String, Vec<&'static str>> = HashMap::new();
    for (code, words) in WORDS {
        for word in words.split_whitespace() {
            known.entry(fold(word)).or_default().push(code);
        }
    }
    known
});

/// The language of the texts, if their words show it. Reads each text once.
#[must_use]
pub fn spoken<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<&'static Language> {
    let mut scores: HashMap<&'static str, f32> = HashMap::new();
    for text in texts {
        if text.chars().any(is_unspaced) {
            *scores.entry("ja").or_default() += 1.0;
        }
        for letter in text.to_lowercase().chars() {
            for (code, _) in LETTERS.iter().filter(|(_, letters)| letters.contains(letter)) {
                *scores.entry(code).or_default() += 1.0;
            }
        }
        for word in text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()) {
            let codes = KNOWN.get(&fold(word)).map(Vec::as_slice).unwrap_or_default();
            for code in codes {
                // A word of several languages counts a little for each of them.
                *scores.entry(code).or_default() += 1.0 / codes.len() as f32;
            }
        }
    }
    let mut ranked: Vec<(&'static str, f32)> = scores.into_iter().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    let (code, best) = *ranked.first()?;
    let next = ranked.get(1).map_or(0.0, |(_, score)| *score);
    (best > next).then(|| Language::of(code)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Option<&'static str> {
        spoken([text]).map(|language| language.code)
    }

    #[test]
    fn a_few_words_tell() {
        for (text, wanted) in [
            ("what's the weather in Ghent?", "en"),
            ("weather in Ghent?", "en"),
            ("quiero bloquear la sim", "es"),
            ("reservar yoga el 3/12/2026", "es"),
            ("¿eran 30 euros?", "es"),
            ("le 3/12/2026", "fr"),
            ("enregistrer un chien, il s'appelle Rex", "fr"),
            ("Termin am Freitag um 10 Uhr, bitte", "de"),
            ("Star a repository, as a member of a team", "en"),
            ("ich hätt gern zwei mal die lasagne", "de"),
            ("明日の午前中にもう一回来てほしいです", "ja"),
        ] {
            assert_eq!(code(text), Some(wanted), "{text}");
        }
    }

    #[test]
    fn what_any_language_says_tells_nothing() {
        for text in ["", "Wetter in Köln", "Rex", "12/03/2026", "pilates", "ok"] {
            assert_eq!(code(text), None, "{text}");
        }
    }
}
