//! Words of answers to yes-or-no questions.

use std::{
    collections::{BTreeMap, HashSet},
    fmt::Debug,
};

use serde::Deserialize;

use super::{PackError, phrases::Phrases};
use crate::{
    ablation,
    text::words::{Word, phrase_words},
};

/// The role of a word or phrase in an answer. A phrase has one role; of several phrases that begin alike, the longest
/// counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyRole {
    /// Says yes, whatever follows.
    Yes,
    /// Says yes if the answer ends there or continues as answers do: "fine", but not "fine dining".
    WeakYes,
    /// Says yes with a doubt: "probably".
    HedgedYes,
    No,
    WeakNo,
    /// Declines an offer ("I'm good"); otherwise says that everything is fine.
    Enough,
    /// Says that either is fine.
    Either,
    /// Leaves the question open: "I don't know".
    Unsure,
    /// Turns a yes behind it around, and refuses a thing that is named behind it: "not".
    Not,
    /// Makes the answer less certain: "I guess".
    Hedge,
    /// Takes back what was said before: "wait, no".
    Correction,
    /// Empty by itself: "well", "please", "that is".
    Filler,
    /// "I" of "I do".
    Subject,
    /// "do" of "I do".
    Does,
    /// "don't" of "I don't".
    DoesNot,
    /// Wants the thing that is named behind it: "I'd like".
    Wants,
    /// Refuses the thing that is named behind it: "I don't want".
    Refuses,
    /// Something else may begin here, and an answer before it stays an answer: "but", "and", "make".
    Joint,
    /// The same, but the word belongs to the text that begins.
    Opening,
    /// Asks something: "where".
    Asks,
    /// Wants something other than the subject of the question: "instead".
    Other,
    /// Says nothing about the subject of a question: "the".
    Common,
}

/// Words that distinguish kinds of questions; all folded.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionWords {
    /// Between the two choices of a question.
    pub or: Vec<String>,
    /// In a question that offers something.
    pub offers: Vec<String>,
    /// In a question whose yes refuses: "do you mind".
    pub minds: Vec<String>,
    /// At the beginning of a question that is negative in form only: "don't you".
    pub inverted: Vec<String>,
    /// Words that make a statement negative, besides those that turn a yes around.
    pub denials: Vec<String>,
}

/// The words of answers in one language.
#[derive(Debug, Default)]
pub struct Replies {
    phrases: Phrases<ReplyRole>,
    /// The words of answers, with which misspelt ones are compared.
    answers: Vec<String>,
    words: HashSet<String>,
    /// Words that say nothing about the subject.
    common: HashSet<String>,
    /// Function words and politeness, which say nothing more beside a yes.
    glue: Phrases<()>,
    /// Phrases that say yes if they stand alone: "please".
    pub pleas: Vec<String>,
    pub question: QuestionWords,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RepliesToml {
    words: BTreeMap<ReplyRole, Vec<String>>,
    glue: Vec<String>,
    pleas: Vec<String>,
    question: QuestionWords,
}

impl Replies {
    /// `signs` are answers in every language.
    pub(super) fn parse(text: &str, signs: &str) -> Result<Self, PackError> {
        let signs: BTreeMap<ReplyRole, Vec<String>> = toml::from_str(signs)?;
        let RepliesToml { words, glue, pleas, question } = toml::from_str(text)?;
        let mut replies = Self { pleas, question, ..Self::default() };
        for (role, phrases) in signs.iter().chain(&words) {
            phrases.iter().for_each(|phrase| replies.insert(phrase, *role));
        }
        glue.iter().for_each(|phrase| replies.glue.insert(phrase_words(phrase, false), ()));
        // A sign that is empty in answers of any language says nothing more beside a yes.
        let smiles = signs.get(&ReplyRole::Filler).into_iter().flatten();
        smiles.for_each(|sign| replies.glue.insert(phrase_words(sign, false), ()));
        replies.glue.sort_longest_first();
        replies.answers.sort_unstable();
        replies.answers.dedup();
        replies.phrases.sort_longest_first();
        Ok(replies)
    }

    fn insert(&mut self, phrase: &str, role: ReplyRole) {
        let words = phrase_words(phrase, false);
        match role {
            ReplyRole::Yes
            | ReplyRole::No
            | ReplyRole::WeakYes
            | ReplyRole::HedgedYes
            | ReplyRole::WeakNo
            | ReplyRole::Either => {
                self.answers.extend(words.clone());
            }
            ReplyRole::Opening
            | ReplyRole::Other
            | ReplyRole::Asks
            | ReplyRole::Unsure
            | ReplyRole::Correction
            | ReplyRole::Enough => {}
            _ if words.len() == 1 => self.common.extend(words.clone()),
            _ => {}
        }
        self.words.extend(words.clone());
        self.phrases.insert(words, role);
    }

    /// True for a folded word behind which something other than the answer may begin: "but".
    #[must_use]
    pub fn joins(&self, word: &str) -> bool {
        self.is_alone(word, ReplyRole::Joint)
    }

    /// True if the word alone has this role in an answer.
    fn is_alone(&self, word: &str, role: ReplyRole) -> bool {
        self.phrases.beginning_with(word).iter().any(|phrase| phrase.rest.is_empty() && phrase.meaning == role)
    }

    /// The longest phrase that begins at `at`, and its length in words.
    #[must_use]
    pub fn phrase(&self, words: &[Word], at: usize) -> Option<(ReplyRole, usize)> {
        longest("replies", &self.phrases, words, at)
    }

    /// How many words at `at` are function words or politeness: the longest such phrase.
    #[must_use]
    pub fn glue(&self, words: &[Word], at: usize) -> usize {
        longest("replies.glue", &self.glue, words, at).map_or(0, |((), length)| length)
    }

    /// True of a function word.
    #[must_use]
    pub fn is_glue(&self, word: &str) -> bool {
        self.glue.beginning_with(word).iter().any(|phrase| phrase.rest.is_empty())
    }

    /// True for a word that says nothing about the subject.
    #[must_use]
    pub fn is_common(&self, word: &str) -> bool {
        self.common.contains(word)
    }

    /// True for a word that makes a statement negative.
    #[must_use]
    pub fn denies(&self, word: &str) -> bool {
        let mut alone = self.phrases.beginning_with(word).iter().filter(|phrase| phrase.rest.is_empty());
        self.question.denials.iter().any(|denial| denial == word)
            || alone.any(|phrase| matches!(phrase.meaning, ReplyRole::Not | ReplyRole::DoesNot))
    }

    /// The word of an answer that this one may be a misspelling of: letters drawn out ("yesss"), or one edit from 6
    /// letters on, two from 9. Shorter words are too similar to each other ("gold" and "good").
    #[must_use]
    pub fn meant_by(&self, word: &str) -> Option<&str> {
        if self.words.contains(word) {
            return None;
        }
        let (drawn, letters) = (squashed(word), word.chars().count());
        if drawn.len() < word.len()
            && let Some(answer) = self.answers.iter().find(|answer| squashed(answer) == drawn)
        {
            return Some(answer);
        }
        let near = |answer: &&String| {
            let length = answer.chars().count();
            let edits = usize::from(length >= 6) + usize::from(length >= 9);
            edits > 0
                && length.abs_diff(letters) <= edits
                && answer.chars().next() == word.chars().next()
                && strsim::damerau_levenshtein(answer, word) <= edits
        };
        self.answers.iter().find(near).map(String::as_str)
    }
}

/// The meaning of the longest phrase that begins at `at`, and its length in words.
fn longest<M: Copy + Debug>(list: &'static str, phrases: &Phrases<M>, words: &[Word], at: usize) -> Option<(M, usize)> {
    let behind = words.get(at + 1..)?;
    let fits = |rest: &[Box<str>]| {
        // "No, wait" is not "no wait".
        let says = |(word, said): (&str, &Word)| *word == *said.text && !said.is_apart;
        rest.len() <= behind.len() && rest.iter().map(AsRef::as_ref).zip(behind).all(says)
    };
    let mut all = phrases.beginning_with(&words[at].text).iter();
    let found = all.find(|phrase| fits(&phrase.rest) && ablation::admits(list, &phrase.meaning));
    found.map(|phrase| (phrase.meaning, phrase.rest.len() + 1))
}

/// The word with each run of one letter reduced to a single letter.
fn squashed(word: &str) -> String {
    let mut squashed = String::with_capacity(word.len());
    for character in word.chars() {
        if !squashed.ends_with(character) {
            squashed.push(character);
        }
    }
    squashed
}
