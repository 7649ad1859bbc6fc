//! Utterances that give no value and ask for no function: thanks, greetings, waiting, cries for help, a request for a
//! human.
//!
//! People mix languages, especially in such words, so one table contains those of all packs.

use std::{
    collections::{BTreeMap, HashMap},
    sync::LazyLock,
};

use serde::Deserialize;

use super::{
    PackError,
    pattern::{self, Classes, Element},
};
use crate::{ablation, text::words::Word};

/// A courtesy. Of several in one utterance, the one that comes last in this order counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Courtesy {
    /// Only empty words: "ok", "no", "please". It may still answer a question.
    Acknowledgement,
    /// "Great", "got it".
    Praise,
    /// "Hmm", "oh".
    Interjection,
    Apology,
    Greeting,
    /// A greeting with a name: "hello, I'm Jane". The name may have been asked for, or may be a value of a function.
    Introduction,
    Farewell,
    Thanks,
    /// "Hurry up", "you are useless".
    Complaint,
    /// "Let me think".
    Thinking,
    /// "One moment", "hold on".
    Waiting,
    /// "I don't understand", "what?"
    Puzzled,
    /// "Why do you need that?"
    Purpose,
    /// "What can you do?"
    Help,
    /// "Can I talk to a human?"
    Person,
}

impl Courtesy {
    /// Its words are never a free-text value. Those of an acknowledgement may be one: "right now".
    #[must_use]
    pub const fn is_no_value(self) -> bool {
        !matches!(self, Self::Acknowledgement | Self::Introduction)
    }

    /// Whatever was put to the person, it is no consent. Praise may be: "great".
    #[must_use]
    pub const fn agrees_to_nothing(self) -> bool {
        self.is_no_value() && !matches!(self, Self::Praise)
    }

    /// It needs an answer of its own, whatever was asked: nothing else is read from its words.
    #[must_use]
    pub const fn wants_answer(self) -> bool {
        matches!(self, Self::Thinking | Self::Waiting | Self::Puzzled | Self::Purpose | Self::Help | Self::Person)
    }

    /// The person needs help with what was asked.
    #[must_use]
    pub const fn is_helpless(self) -> bool {
        matches!(self, Self::Puzzled | Self::Purpose | Self::Help)
    }

    /// It says nothing about the words before it: "Anna Meyer, thanks". A person who agrees and then thinks ("yes,
    /// hmm") may not agree.
    #[must_use]
    pub const fn is_said_behind(self) -> bool {
        matches!(self, Self::Greeting | Self::Farewell | Self::Thanks)
    }

    /// It says nothing about the words behind it: "let me see, Anna Meyer".
    #[must_use]
    pub const fn is_said_before(self) -> bool {
        matches!(self, Self::Interjection | Self::Thinking) || self.is_said_behind()
    }
}

/// The meaning of a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Empty by itself; it may stand beside a courtesy: "please".
    Filler,
    /// Yes or no.
    Answer,
    Says(Courtesy),
}

impl Meaning {
    fn is_admitted(self) -> bool {
        match self {
            Self::Says(courtesy) => ablation::admits("courtesy", &courtesy),
            Self::Filler | Self::Answer => ablation::admits("courtesy", &self),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CourtesyToml {
    #[serde(default)]
    classes: Classes,
    phrases: CourtesyPhrases,
}

#[derive(Deserialize)]
struct CourtesyPhrases {
    filler: Vec<String>,
    answer: Vec<String>,
    #[serde(flatten)]
    courtesies: BTreeMap<Courtesy, Vec<String>>,
}

/// The courtesies of all languages.
#[derive(Debug, Default)]
pub struct Courtesies {
    rules: Vec<(Vec<Element>, Meaning)>,
    /// The rules that may begin with a word.
    by_word: HashMap<String, Vec<usize>>,
}

/// One file for each pack.
const FILES: [&str; 5] = [
    include_str!("en/courtesy.toml"),
    include_str!("de/courtesy.toml"),
    include_str!("es/courtesy.toml"),
    include_str!("fr/courtesy.toml"),
    include_str!("ja/courtesy.toml"),
];

static ALL: LazyLock<Courtesies> = LazyLock::new(|| {
    let mut all = Courtesies::default();
    FILES.iter().for_each(|file| all.add(file).expect("the tests read every pack"));
    all
});

impl Courtesies {
    #[must_use]
    pub fn all() -> &'static Self {
        &ALL
    }

    fn add(&mut self, text: &str) -> Result<(), PackError> {
        let CourtesyToml { classes, phrases: CourtesyPhrases { filler, answer, courtesies } } = toml::from_str(text)?;
        let courtesies = courtesies.iter().map(|(courtesy, patterns)| (Meaning::Says(*courtesy), patterns));
        for (meaning, patterns) in courtesies.chain([(Meaning::Filler, &filler), (Meaning::Answer, &answer)]) {
            for pattern in patterns {
                // The words may come from a reader that divides them at an apostrophe, or from one that does not.
                let whole = pattern::parse(pattern, &classes, false)?;
                let parted = pattern::parse(pattern, &classes, true)?;
                if parted != whole {
                    self.insert(parted, meaning);
                }
                self.insert(whole, meaning);
            }
        }
        Ok(())
    }

    fn insert(&mut self, elements: Vec<Element>, meaning: Meaning) {
        let index = self.rules.len();
        for element in &elements {
            let Element::Words { any, is_optional, .. } = element else { break };
            for first in any.iter().filter_map(|phrase| phrase.first()) {
                let rules = self.by_word.entry(first.clone()).or_default();
                if rules.last() != Some(&index) {
                    rules.push(index);
                }
            }
            if !is_optional {
                break;
            }
        }
        self.rules.push((elements, meaning));
    }

    /// True of a word with which a phrase begins.
    #[must_use]
    pub fn begins_with(&self, word: &str) -> bool {
        self.by_word.contains_key(word)
    }

    /// The end and the meaning of each phrase that begins at `at`.
    #[must_use]
    pub fn ends(&self, words: &[Word], at: usize) -> Vec<(usize, Meaning)> {
        let mut ends = Vec::new();
        let rules = words.get(at).and_then(|word| self.by_word.get(&word.text));
        for index in rules.into_iter().flatten() {
            let (elements, meaning) = &self.rules[*index];
            let mut of_rule = Vec::new();
            match_on(elements, words, (at, at), &mut of_rule);
            of_rule.retain(|end| *end > at && meaning.is_admitted());
            ends.extend(of_rule.into_iter().map(|end| (end, *meaning)));
        }
        ends
    }
}

/// Adds the ends of `elements` that continue at `at`, within a phrase from `start` on.
fn match_on(elements: &[Element], words: &[Word], (start, at): (usize, usize), ends: &mut Vec<usize>) {
    let Some((element, behind)) = elements.split_first() else {
        if !ends.contains(&at) {
            ends.push(at);
        }
        return;
    };
    // In these files, packs write only words; a test checks that.
    let Element::Words { any, is_optional, may_be_apart } = element else { return };
    if *is_optional {
        match_on(behind, words, (start, at), ends);
    }
    let is_joined = |index: usize| {
        let is_first = index == 0 && (at == start || *may_be_apart);
        is_first || words.get(at + index).is_some_and(|word| !word.is_apart)
    };
    for phrase in any {
        let said = words.get(at..at + phrase.len()).unwrap_or_default();
        let is_said = said.len() == phrase.len() && said.iter().zip(phrase).all(|(said, word)| said.text == *word);
        if is_said && (0..phrase.len()).all(is_joined) {
            match_on(behind, words, (start, at + phrase.len()), ends);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;

    #[test]
    fn every_language_says_every_courtesy() {
        for (file, language) in FILES.iter().zip(Language::all()) {
            let CourtesyToml { phrases, .. } = toml::from_str(file).expect(language.code);
            let kinds: Vec<Courtesy> = phrases.courtesies.keys().copied().collect();
            let all = [
                Courtesy::Praise,
                Courtesy::Interjection,
                Courtesy::Apology,
                Courtesy::Greeting,
                Courtesy::Farewell,
                Courtesy::Thanks,
                Courtesy::Complaint,
                Courtesy::Thinking,
                Courtesy::Waiting,
                Courtesy::Puzzled,
                Courtesy::Purpose,
                Courtesy::Help,
                Courtesy::Person,
            ];
            assert_eq!(kinds, all, "{}", language.code);
            assert!(phrases.courtesies.values().all(|patterns| !patterns.is_empty()), "{}", language.code);
        }
    }

    #[test]
    fn phrases_have_words_alone() {
        for (elements, _) in &Courtesies::all().rules {
            assert!(elements.iter().all(|element| matches!(element, Element::Words { .. })), "{elements:?}");
            let is_optional = |element: &Element| matches!(element, Element::Words { is_optional: true, .. });
            assert!(!elements.iter().all(is_optional), "{elements:?} may say nothing");
        }
        let wrong = "[phrases]\nfiller = []\nanswer = []\nthanks = [\"thanks @you\"]\n";
        assert!(Courtesies::default().add(wrong).is_err());
    }
}
