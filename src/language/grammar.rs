//! How an author's descriptions become parts of sentences.
//!
//! Descriptions are written for programs: "Send money to somebody", "Die Stadt", "Who gets it". The rules of a language
//! say which of them can follow "shall I" or "please tell me". If none fits, a sentence quotes the description.

use serde::Deserialize;

use super::Language;
use crate::text::fold;

/// The most characters of a description that a question is made of.
const LONGEST_THING: usize = 90;
/// The most letters of a word that may stand before a question word: "until when".
const PREPOSITION: usize = 5;
/// The fewest letters of a word that its ending may mark as an infinitive.
const SHORTEST_VERB: usize = 4;
/// The marks that separate a name from its description.
const SEPARATORS: &[char] = &[',', ':', ';', '-', '–', '—', '(', '（', '、', '：'];

/// The rules of one language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grammar {
    /// Words before a noun that are not part of a name.
    articles: Vec<String>,
    /// Those articles with which a description names the wanted thing.
    definite: Vec<String>,
    /// The article before a name in a question: "the ".
    article: String,
    /// Further words that are written small within a sentence, in a language where nouns keep their capital.
    small: Vec<String>,
    /// Words that begin an indirect question: "who", "whether".
    asking: Vec<String>,
    /// Words that end a noun phrase: "of".
    ends_noun: Vec<String>,
    /// Words for several things, and the endings of such words, except those in the third list.
    plurals: Vec<String>,
    plural_endings: Vec<String>,
    no_plurals: Vec<String>,
    /// Words in a name that only say that it is a number: "number of".
    counts: Vec<String>,
    deed: Deeds,
}

/// How the description of a function is read as an action.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Deeds {
    /// Verbs at its beginning.
    verbs: Vec<String>,
    /// The endings of a verb in the third person, each with the ending behind "shall I".
    third_person: Vec<(String, String)>,
    /// The endings of an infinitive at its beginning.
    first_endings: Vec<String>,
    /// The endings of an infinitive at its end.
    last_endings: Vec<String>,
    /// Words with such an ending that are not verbs.
    no_verbs: Vec<String>,
    /// If one of these words follows, the first word is a noun and not a verb.
    nouns_before: Vec<String>,
}

/// What the description of a slot gives for a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OfSlot {
    /// Nothing beyond the name.
    Nothing,
    /// It is a question.
    Question(String),
    /// It can follow "please tell me".
    Indirect(String),
    /// It names the wanted thing, with an article if the language has one.
    Thing(String),
    /// It says more about the thing that the name names.
    More(String),
}

impl Grammar {
    /// The description of a function in the form that follows "shall I"; `None` if it does not describe an action.
    #[must_use]
    pub fn deed(&self, text: &str) -> Option<String> {
        let (first, rest) = first_word(text);
        let word = first.to_lowercase();
        let next = first_word(rest.trim_start()).0.to_lowercase();
        let deeds = &self.deed;
        if deeds.nouns_before.contains(&next) {
            return None;
        }
        // "Order" ends like an infinitive of some other languages.
        let is_infinitive = deeds.is_infinitive(&word) && !english().deed.verbs.contains(&word);
        if deeds.verbs.contains(&word) || is_infinitive {
            return Some(format!("{word}{rest}"));
        }
        if let Some(base) = deeds.base(&word) {
            return Some(format!("{base}{}", deeds.same_person(rest)));
        }
        (deeds.ends_in_infinitive(text) && !self.is_english(text)).then(|| self.small(text))
    }

    /// True of a text with an English function word that does not exist in this language: "Find shops that are open".
    fn is_english(&self, text: &str) -> bool {
        let has = |lists: [&Vec<String>; 2], word: &String| lists.iter().any(|list| list.contains(word));
        let (english, own) = (english(), [&self.articles, &self.small]);
        let mut words = text.split_whitespace().map(str::to_lowercase);
        words.any(|word| has([&english.articles, &english.ends_noun], &word) && !has(own, &word))
    }

    /// The text with a small first letter, unless its first word keeps its capital.
    #[must_use]
    pub fn small(&self, text: &str) -> String {
        let first = first_word(text).0.to_lowercase();
        let is_small = [&self.articles, &self.small, &self.asking].iter().any(|words| words.contains(&first));
        if is_small { lower_first(text) } else { text.to_owned() }
    }

    /// True for an article in small letters.
    #[must_use]
    pub fn is_article(&self, word: &str) -> bool {
        self.articles.iter().any(|article| article == word)
    }

    /// The text without the article at its beginning.
    #[must_use]
    pub fn without_article<'t>(&self, text: &'t str) -> &'t str {
        match first_word(text) {
            (first, rest) if self.articles.contains(&first.to_lowercase()) => {
                let noun = rest.trim_start_matches([' ', '\'', '’']);
                if noun.is_empty() || noun.len() == rest.len() { text } else { noun }
            }
            _ => text,
        }
    }

    /// True of "who gets it", which is a question and not a name.
    #[must_use]
    pub fn is_asking(&self, text: &str) -> bool {
        self.asking.contains(&first_word(text).0.to_lowercase())
    }

    /// True of a name for several things.
    #[must_use]
    pub fn is_plural(&self, name: &str) -> bool {
        let last = name.rsplit(' ').next().unwrap_or_default().to_lowercase();
        let ends = |endings: &[String]| endings.iter().any(|ending| last.ends_with(ending.as_str()));
        self.plurals.contains(&last) || ends(&self.plural_endings) && !ends(&self.no_plurals)
    }

    /// The name without the words that say it is a number.
    #[must_use]
    pub fn counted<'n>(&self, name: &'n str) -> &'n str {
        let behind = |count: &String| name.strip_prefix(count.as_str())?.strip_prefix(' ');
        self.counts.iter().find_map(behind).unwrap_or(name)
    }

    /// What the first sentence of a description says about the slot with this name.
    #[must_use]
    pub fn of_slot(&self, name: &str, description: &str) -> OfSlot {
        let text = description.trim_end_matches(['.', '。', ' ']);
        let first = first_word(text).0.to_lowercase();
        let is_short = text.chars().count() <= LONGEST_THING;
        if text.ends_with(['?', '？']) {
            return OfSlot::Question(text.to_owned());
        }
        if self.asking.contains(&first) || self.asks_behind(&first, text) {
            return OfSlot::Indirect(lower_first(text));
        }
        let behind = self.behind_name(name, text);
        if let Some(more) = behind.and_then(set_apart) {
            return OfSlot::More(upper_first(more));
        }
        if is_short && self.definite.contains(&first) {
            let thing = lower_first(text);
            return if self.is_of_several(text) { OfSlot::Indirect(thing) } else { OfSlot::Thing(thing) };
        }
        if text.is_empty() || self.says_only(name, text) {
            return OfSlot::Nothing;
        }
        if is_short && self.articles.contains(&first) {
            return OfSlot::Indirect(lower_first(text));
        }
        match behind {
            Some(_) if is_short => OfSlot::Thing(format!("{}{}", self.article, self.within(text))),
            _ => OfSlot::More(text.to_owned()),
        }
    }

    /// Like [`Self::small`] in a language where only nouns keep their capital; else with a small first letter.
    fn within(&self, text: &str) -> String {
        if self.article.is_empty() { text.to_owned() } else { lower_first(text) }
    }

    /// The text behind the name at the beginning of a description; an article may stand before the name.
    fn behind_name<'t>(&self, name: &str, text: &'t str) -> Option<&'t str> {
        let bare = self.without_article(text);
        let length = name.chars().count();
        let (end, next) = bare.char_indices().nth(length)?;
        let is_name = length > 0 && fold(&bare[..end]) == fold(name);
        (is_name && !next.is_alphanumeric()).then(|| &bare[end..])
    }

    /// True of "for how many days": a short word before a question word.
    fn asks_behind(&self, first: &str, text: &str) -> bool {
        let second = text.split_whitespace().nth(1).unwrap_or_default().to_lowercase();
        first.chars().count() <= PREPOSITION
            && !self.articles.iter().any(|article| article == first)
            && self.asking.contains(&second)
    }

    fn says_only(&self, name: &str, text: &str) -> bool {
        let name = fold(name);
        let known: Vec<&str> = name.split(' ').collect();
        let bare = fold(self.without_article(text));
        bare == name || bare.split(' ').all(|word| known.contains(&word))
    }

    /// True if the noun behind the first article of a text is a plural.
    fn is_of_several(&self, text: &str) -> bool {
        let words = text.split(' ').skip(1).take_while(|word| !self.ends_noun.contains(&word.to_lowercase()));
        let mut noun = "";
        for word in words {
            noun = word.trim_end_matches(SEPARATORS);
            if noun.len() < word.len() {
                break;
            }
        }
        self.is_plural(noun)
    }
}

impl Deeds {
    /// The base form of a verb in the third person.
    fn base(&self, word: &str) -> Option<String> {
        let base = |(ending, other): &(String, String)| Some(format!("{}{other}", word.strip_suffix(ending.as_str())?));
        self.third_person.iter().filter_map(base).find(|base| self.verbs.contains(base))
    }

    /// The text behind a verb, with the verbs that "and" joins to it changed to the same form.
    fn same_person(&self, rest: &str) -> String {
        let mut before = "";
        let words = rest.split(' ').map(|word| {
            let is_joined = matches!(before, "and" | "then");
            before = word;
            is_joined.then(|| self.base(word)).flatten().unwrap_or_else(|| word.to_owned())
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn is_infinitive(&self, word: &str) -> bool {
        self.is_formed(word, &self.first_endings)
    }

    fn is_formed(&self, word: &str, endings: &[String]) -> bool {
        word.chars().count() >= SHORTEST_VERB
            && endings.iter().any(|ending| word.ends_with(ending.as_str()))
            && !self.no_verbs.iter().any(|other| other == word)
    }

    /// True of several words of which the last before a comma is an infinitive, and not a noun.
    fn ends_in_infinitive(&self, text: &str) -> bool {
        let clause = text.split(',').next().unwrap_or_default().trim_end();
        let last = clause.rsplit(' ').next().filter(|last| last.len() < clause.len());
        last.is_some_and(|last| {
            last.chars().next().is_some_and(char::is_lowercase) && self.is_formed(last, &self.last_endings)
        })
    }
}

fn english() -> &'static Grammar {
    &Language::english().sentences.grammar
}

/// The first word of a text, and the rest.
fn first_word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    text.split_at(end)
}

/// The text behind a comma or a bracket at the beginning of a text.
fn set_apart(text: &str) -> Option<&str> {
    let more = text.trim_start().strip_prefix(SEPARATORS)?.trim();
    let is_in_brackets = text.trim_start().starts_with(['(', '（']);
    let more = if is_in_brackets { more.trim_end_matches([')', '）']) } else { more };
    (!more.is_empty()).then_some(more)
}

/// The text with a small first letter; "API usage" keeps its capitals.
#[must_use]
pub fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if first.is_uppercase() && (second.is_lowercase() || !second.is_alphabetic()) => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

/// The text with a capital first letter.
#[must_use]
pub fn upper_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grammar(language: &str) -> &'static Grammar {
        &Language::or_english(language).sentences.grammar
    }

    #[test]
    fn descriptions_become_deeds() {
        for (language, text, expected) in [
            ("en", "Send money to another person", Some("send money to another person")),
            ("en", "Sends money and returns a receipt", Some("send money and return a receipt")),
            ("en", "Fetches the news", Some("fetch the news")),
            ("en", "Weather for a city", None),
            ("en", "Lists of orders", None),
            ("en", "A tool to send mail", None),
            ("de", "Das Wetter in einer Stadt abfragen", Some("das Wetter in einer Stadt abfragen")),
            ("de", "Schuhe bestellen", Some("Schuhe bestellen")),
            ("de", "Eine Karte sperren, ohne sie zu ersetzen", Some("eine Karte sperren, ohne sie zu ersetzen")),
            ("de", "Zeigt, wann Läden öffnen", None),
            ("de", "Wetter für morgen", None),
            ("de", "Find shops that are open", None),
            ("es", "Order food", None),
            ("de", "Alle Filialen", None),
            ("es", "Reservar una mesa", Some("reservar una mesa")),
            ("es", "Lugar de entrega", None),
            ("fr", "Réserver une table", Some("réserver une table")),
            ("fr", "Météo d'une ville", None),
            ("ja", "靴を注文する", None),
        ] {
            assert_eq!(grammar(language).deed(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn descriptions_become_questions() {
        use OfSlot::{Indirect, More, Nothing, Question, Thing};
        for (language, name, text, expected) in [
            ("en", "location", "The location.", Thing("the location".into())),
            ("en", "location", "Location", Nothing),
            ("en", "to", "Who gets it", Indirect("who gets it".into())),
            ("en", "guests", "The guests of the party", Indirect("the guests of the party".into())),
            ("en", "title", "A short title", Indirect("a short title".into())),
            ("en", "order number", "Order number, two letters", More("Two letters".into())),
            ("en", "order number", "The order number (two letters)", More("Two letters".into())),
            ("en", "order number", "Order number of the parcel", Thing("the order number of the parcel".into())),
            ("en", "style", "Kind of shoe", More("Kind of shoe".into())),
            ("en", "guests", "How many?", Question("How many?".into())),
            ("en", "num days", "For how many days", Indirect("for how many days".into())),
            ("de", "tag", "Ab wann", Indirect("ab wann".into())),
            ("de", "stadt", "Die Stadt", Thing("die Stadt".into())),
            ("de", "empfaenger", "Wer das Geld bekommt", Indirect("wer das Geld bekommt".into())),
            ("fr", "adresse", "L'adresse du client", Thing("l'adresse du client".into())),
            ("es", "ciudad", "La ciudad", Thing("la ciudad".into())),
            ("ja", "色", "色", Nothing),
        ] {
            assert_eq!(grammar(language).of_slot(name, text), expected, "{text}");
        }
    }

    #[test]
    fn names_lose_what_is_no_part_of_them() {
        assert_eq!(grammar("de").without_article("Die Stadt"), "Stadt");
        assert_eq!(grammar("fr").without_article("L'adresse"), "adresse");
        assert_eq!(grammar("en").without_article("the"), "the");
        assert_eq!(grammar("en").counted("num days"), "days");
        assert!(grammar("en").is_plural("num days") && !grammar("en").is_plural("address"));
        assert!(!grammar("de").is_plural("guests"));
    }
}
