//! What a call of a function does: it only reads, or it acts. Determined once, when the module is loaded, from the most
//! reliable source: the author's setting, the endpoint's method, the schema, the name and the description.

use serde::{Deserialize, Serialize};

use super::{
    Function,
    endpoint::{CallTarget, Method},
};
use crate::{
    language::Language,
    text::{fold, name_words, names::singular, plain::first_sentence},
};

/// The effect of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FunctionEffect {
    /// The call only reads: it may be repeated at any time.
    Reads,
    /// The call acts: made twice, it has its effect twice.
    #[default]
    Acts,
}

impl FunctionEffect {
    /// The names that files and reports use.
    pub const NAMES: [&'static str; 2] = [Self::Reads.name(), Self::Acts.name()];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Acts => "acts",
        }
    }

    const fn of(reads: bool) -> Self {
        if reads { Self::Reads } else { Self::Acts }
    }
}

/// The source of an effect, the most reliable first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EffectSource {
    /// `effect` in `module.toml`.
    Author,
    /// The method of its endpoint.
    Endpoint,
    /// `readOnlyHint` of a tool, or the method of an operation.
    Schema,
    /// The verb of its name or description.
    #[default]
    Name,
}

impl EffectSource {
    pub const ALL: [Self; 4] = [Self::Author, Self::Endpoint, Self::Schema, Self::Name];

    /// The wording for use within a sentence.
    #[must_use]
    pub const fn described(self) -> &'static str {
        match self {
            Self::Author => "module.toml",
            Self::Endpoint => "the method of the endpoint",
            Self::Schema => "the schema",
            Self::Name => "name and description",
        }
    }
}

/// An effect and its source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KnownEffect {
    pub effect: FunctionEffect,
    pub from: EffectSource,
}

impl KnownEffect {
    /// What the schema says about a function, else its name and description. `hint` is the tool's `readOnlyHint`.
    pub(super) fn of_schema(name: &str, description: &str, method: Option<Method>, hint: Option<bool>) -> Self {
        let by_schema = hint.or_else(|| method.map(reads));
        let effect = FunctionEffect::of(by_schema.unwrap_or_else(|| sounds_like_reading(name, description)));
        let from = if by_schema.is_some() { EffectSource::Schema } else { EffectSource::Name };
        Self { effect, from }
    }

    /// The same, but the author's setting and the endpoint take precedence.
    pub(super) fn settled(function: &Function, own: Option<FunctionEffect>) -> Self {
        if let Some(effect) = own {
            return Self { effect, from: EffectSource::Author };
        }
        match function.endpoint.as_ref().map(|endpoint| &endpoint.target) {
            Some(CallTarget::Http(operation)) => {
                Self { effect: FunctionEffect::of(reads(operation.method)), from: EffectSource::Endpoint }
            }
            Some(CallTarget::Mcp { .. }) | None => function.effect,
        }
    }
}

/// True if HTTP defines the method as one that only reads.
const fn reads(method: Method) -> bool {
    matches!(method, Method::Get | Method::Head | Method::Options)
}

/// True if the name begins with a verb of reading, or ends with one in languages where verbs come last. If the name has
/// no verb ("the order status"), the description may begin or end with it, if it contains all words of the name.
fn sounds_like_reading(name: &str, description: &str) -> bool {
    let name = name.rsplit(['.', '/', ':']).next().unwrap_or(name);
    let name: Vec<String> = name_words(name).iter().map(|word| fold(word)).collect();
    if let Some(is_reading) = reads_by_name(&name) {
        return is_reading;
    }
    let sentence = first_sentence(description);
    let written = sentence.split(|part: char| !part.is_alphanumeric()).filter(|word| !word.is_empty());
    let said: Vec<String> = written.map(fold).collect();
    let is_said = |word: &String| said.iter().any(|other| singular(other) == singular(word));
    let is_begun = || said.first().is_some_and(|first| begins_as_reading(first));
    let is_told = !name.is_empty() && name.iter().all(is_said);
    is_told && (is_begun() || ends_as_reading(&said)) || ends_unspaced(&sentence)
}

/// `None` if the name does not say.
fn reads_by_name(name: &[String]) -> Option<bool> {
    let [first, rest @ ..] = name else { return None };
    // "check_in" is another verb, and "find_and_book" does more than its first word says.
    let is_other = rest.first().is_some_and(|next| matches!(next.as_str(), "in" | "out"));
    let joined = rest.iter().zip(rest.iter().skip(1)).find(|(word, _)| matches!(word.as_str(), "and" | "or"));
    let does_more = joined.is_some_and(|(_, next)| !begins_as_reading(next));
    if begins_as_reading(first) {
        return Some(!is_other && !does_more);
    }
    (ends_as_reading(rest) || ends_unspaced(name.last()?)).then_some(true)
}

fn begins_as_reading(word: &str) -> bool {
    let is_verb = |verb: &String| word == verb || word.strip_suffix('s') == Some(verb.as_str());
    Language::all().any(|language| language.effects.reads.iter().any(is_verb))
}

fn ends_as_reading(words: &[String]) -> bool {
    let is_last = |last: &String| Language::all().any(|language| language.effects.reads_last.contains(last));
    words.last().is_some_and(is_last)
}

/// True if a text in a script without spaces ends with such a verb, in any inflection: "調べる", "検索します".
fn ends_unspaced(text: &str) -> bool {
    /// Greatest number of characters of a verb's ending.
    const ENDING: usize = 3;
    let folded = fold(text);
    let bare = folded.trim_end_matches(|last: char| !last.is_alphanumeric());
    let is_near_end = |verb: &String| {
        let at = bare.rfind(verb.as_str()).filter(|_| !verb.is_ascii());
        at.is_some_and(|at| bare[at + verb.len()..].chars().count() <= ENDING)
    };
    Language::all().any(|language| language.effects.reads_last.iter().any(is_near_end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_reads_is_known_by_its_verb() {
        for (name, description) in [
            ("get_weather", ""),
            ("ListPets", ""),
            ("shop.findStore", "Find a shop"),
            ("order_status", "Tells the status of an order"),
            ("weather", "What the weather is like"),
            ("wetter_abfragen", ""),
            ("kontostand", "Den Kontostand abfragen"),
            ("consultar_saldo", ""),
            ("afficher_meteo", ""),
            ("天気検索", ""),
            ("parcel", "荷物がどこにあるかを調べる"),
        ] {
            assert!(sounds_like_reading(name, description), "{name}: {description}");
        }
        for (name, description) in [
            ("transfer_money", "Send money to another person"),
            ("set_travel_notice", "Tell the bank about a trip abroad"),
            ("recover_pin", "Get a forgotten PIN sent again"),
            ("check_in", "Check in for a flight"),
            ("find_and_book", "Find a flight and book it"),
            ("geld_senden", "Geld an jemanden überweisen"),
            ("reservar_mesa", "Reserva una mesa"),
            ("commander", "Commande un plat"),
            ("request_redelivery", "再配達を依頼する"),
            ("comment_on_issue", "Comment on an issue"),
            ("", ""),
        ] {
            assert!(!sounds_like_reading(name, description), "{name}: {description}");
        }
    }

    #[test]
    fn a_hint_of_the_schema_counts_more_than_a_name() {
        let known = |method, hint| KnownEffect::of_schema("get_it", "", method, hint);
        let schema = |effect| KnownEffect { effect, from: EffectSource::Schema };
        assert_eq!(known(None, None), KnownEffect { effect: FunctionEffect::Reads, from: EffectSource::Name });
        assert_eq!(known(None, Some(false)), schema(FunctionEffect::Acts));
        assert_eq!(known(Some(Method::Post), None), schema(FunctionEffect::Acts));
        assert_eq!(known(Some(Method::Get), Some(true)), schema(FunctionEffect::Reads));
    }
}
