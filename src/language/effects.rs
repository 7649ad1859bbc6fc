//! Words that show what a function does, and questions about what was done.

use serde::Deserialize;

use super::{Language, PackError, replies::ReplyRole};
use crate::text::{
    fold,
    words::{Word, phrase_words, words},
};

/// The most empty words before a question: "well, and did it arrive?"
const LEAD: usize = 4;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effects {
    /// Verbs at the beginning of the name or description of a function that only reads: "get", "find".
    pub reads: Vec<String>,
    /// The same verbs in last place: `wetter_abfragen`.
    pub reads_last: Vec<String>,
    /// The forms of questions about what was done, or about the present state.
    past: Past,
}

#[derive(Debug, Deserialize)]
#[serde(from = "PastSource")]
struct Past {
    /// A clause that begins with these words is a question, with or without a question mark: "did", "have you".
    inverted: Vec<Vec<String>>,
    /// A clause that begins with these words is a question if it has a question mark: "tu as".
    marked: Vec<Vec<String>>,
    /// Endings of its first word that do the same: "enviaste".
    first_word_ends: Vec<String>,
    /// Endings of the whole utterance: "ましたか".
    ends: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PastSource {
    inverted: Vec<String>,
    marked: Vec<String>,
    first_word_ends: Vec<String>,
    ends: Vec<String>,
}

impl From<PastSource> for Past {
    fn from(source: PastSource) -> Self {
        let phrases = |all: &[String]| all.iter().map(|phrase| phrase_words(phrase, false)).collect();
        let folded = |all: &[String]| all.iter().map(|text| fold(text)).collect();
        Self {
            inverted: phrases(&source.inverted),
            marked: phrases(&source.marked),
            first_word_ends: folded(&source.first_word_ends),
            ends: folded(&source.ends),
        }
    }
}

impl Effects {
    pub(super) fn parse(text: &str) -> Result<Self, PackError> {
        let mut effects: Self = toml::from_str(text)?;
        effects.reads.iter_mut().chain(&mut effects.reads_last).for_each(|verb| *verb = fold(verb));
        Ok(effects)
    }
}

impl Language {
    /// True of a question about what was done, or about what has become of something: "hm, was that 30?", "have you
    /// sent it?" A question that is a request ("can you send it?") does not count.
    #[must_use]
    pub fn asks_what_was_done(&self, text: &str) -> bool {
        let past = &self.effects.past;
        let folded = fold(text);
        let bare = folded.trim_end_matches(|last: char| !last.is_alphanumeric());
        if past.ends.iter().any(|end| bare.ends_with(end.as_str())) {
            return true;
        }
        let is_marked = text.trim_end().ends_with(['?', '？']);
        let words = words(text, false);
        let begins = |at: usize, phrases: &[Vec<String>]| {
            phrases.iter().any(|phrase| {
                let said = words[at..].iter().map(|word| word.text.as_str());
                !phrase.is_empty() && said.take(phrase.len()).eq(phrase.iter().map(String::as_str))
            })
        };
        let is_question = |at: usize| {
            let ends = |end: &String| words[at].text.ends_with(end.as_str()) && words[at].text.len() > end.len();
            begins(at, &past.inverted)
                || is_marked && (begins(at, &past.marked) || past.first_word_ends.iter().any(ends))
        };
        (0..words.len()).filter(|at| *at == 0 || words[*at].is_apart).any(|start| {
            let mut at = start;
            while at < words.len() && at - start <= LEAD {
                if is_question(at) {
                    return true;
                }
                match self.lead(&words, at) {
                    Some(length) => at += length,
                    None => return false,
                }
            }
            false
        })
    }

    /// The length of an empty phrase that may stand before a question: "ok", "but", "well".
    fn lead(&self, words: &[Word], at: usize) -> Option<usize> {
        let (role, length) = self.replies.phrase(words, at)?;
        let leads = matches!(
            role,
            ReplyRole::Yes
                | ReplyRole::WeakYes
                | ReplyRole::No
                | ReplyRole::WeakNo
                | ReplyRole::Filler
                | ReplyRole::Joint
                | ReplyRole::Opening
                | ReplyRole::Correction
                | ReplyRole::Hedge
        );
        leads.then_some(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_about_what_was_done_are_told_from_requests() {
        for (language, questions, requests) in [
            (
                "en",
                &["hm, was that 30 euros?", "did that go through", "ok, and have you sent it?", "has it arrived yet?"]
                    [..],
                &["can you send 30 to Anna?", "send 30 to Anna", "could you have it sent?", "I did it, now send 5"][..],
            ),
            (
                "de",
                &[
                    "Haben Sie das schon überwiesen?",
                    "hm, waren das 30 Euro?",
                    "ist das durchgegangen",
                    "Wurde es gebucht?",
                ],
                &["Können Sie 30 Euro überweisen?", "Überweise 30 an Anna", "Ich habe es eilig, buche den Tisch"],
            ),
            (
                "es",
                &["¿has enviado el dinero?", "¿enviaste 30 a Ana?", "¿ya llegó?", "oye, ¿eran 30 euros?"],
                &["¿puedes enviar 30 a Ana?", "envía 30 a Ana", "¿me reservas una mesa?"],
            ),
            (
                "fr",
                &["as-tu envoyé l'argent ?", "c'était 30 euros ?", "avez-vous réservé", "tu as envoyé 30 à Anne ?"],
                &["peux-tu envoyer 30 à Anne ?", "envoie 30 à Anne", "vous pouvez réserver ?"],
            ),
            (
                "ja",
                &["もう送りましたか？", "30ユーロでしたか", "予約してありますか"],
                &["アンナに30ユーロ送ってもらえますか？", "30ユーロ送って"],
            ),
        ] {
            let own = Language::of(language).expect("a pack");
            let wrong: Vec<&&str> = questions.iter().filter(|text| !own.asks_what_was_done(text)).collect();
            assert!(wrong.is_empty(), "{language}: {wrong:?} ask what was done");
            let wrong: Vec<&&str> = requests.iter().filter(|text| own.asks_what_was_done(text)).collect();
            assert!(wrong.is_empty(), "{language}: {wrong:?} ask for something");
        }
    }
}
