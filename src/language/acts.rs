//! Words and patterns of dialogue acts: cancelling, correcting, changing, picking.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use super::{
    PackError,
    pattern::{self, Classes, Element},
    phrases::Phrases,
};
use crate::{
    ablation,
    text::words::{Word, phrase_words},
};

/// The act that a pattern makes; its holes and numbers complete the act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Makes {
    Cancel,
    Restart,
    Unknown,
    Skip,
    Correct,
    Change,
    Replace,
    Remove,
    Add,
    /// The choice that its number names.
    PickNumbered,
    PickFirst,
    PickLast,
    PickAll,
    PickBoth,
    PickNone,
    /// Any of the choices.
    PickEither,
    /// Of two choices, the one that was not mentioned.
    PickOther,
    Portion,
    Resume,
    Recall,
    /// Nothing is done, or changed.
    Keep,
    /// Not an act, although it looks like one: "don't cancel".
    Nothing,
}

/// Where a pattern must stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternPlace {
    /// It is a clause, and the whole reply has no other content.
    Alone,
    /// It is a clause of its own.
    Clause,
    /// It is a clause of its own, and content follows somewhere.
    Aside,
    /// A clause begins with it.
    Start,
    /// A clause begins with it, and content follows somewhere.
    Before,
    /// A clause ends with it, and content is before it.
    End,
    Anywhere,
    /// Right behind a change with a value: "and the size to 9".
    Further,
}

/// The role of a word or phrase outside the patterns of acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhraseRole {
    /// Empty anywhere: "please".
    Filler,
    /// Empty before an act: "can you".
    Lead,
    /// Yes and no.
    Answer,
    /// Joins items, or two clauses.
    And,
    /// Begins another clause.
    But,
    /// Stands before a named thing, and is not part of its name.
    Article,
    /// A name follows: "my name is".
    Naming,
    /// A name follows if it is written as one: "I'm".
    Presenting,
}

/// A pattern that is ready to be matched.
#[derive(Debug)]
pub struct ActRule {
    pub elements: Vec<Element>,
    pub makes: Makes,
    pub place: PatternPlace,
    /// How sure it is that the act is meant, 0 to 1.
    pub sure: f32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ActsToml {
    elides: bool,
    numbers: Vec<Vec<String>>,
    ordinals: Vec<Vec<String>>,
    ordinal_endings: Vec<String>,
    words: BTreeMap<PhraseRole, Vec<String>>,
    classes: Classes,
    rules: Vec<PatternGroup>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PatternGroup {
    act: Makes,
    place: PatternPlace,
    /// Missing for a pattern that makes no act.
    #[serde(default)]
    confidence: f32,
    patterns: Vec<String>,
}

/// The words of acts in one language.
#[derive(Debug, Default)]
pub struct Acts {
    /// True if words run into the next one with an apostrophe: "l'adresse".
    pub elides: bool,
    phrases: Phrases<PhraseRole>,
    pub rules: Vec<ActRule>,
    /// The rules that may begin with a word, by that word.
    by_word: HashMap<String, Vec<usize>>,
    /// The rules that begin with a number.
    by_number: Vec<usize>,
    /// Names of 1, 2, 3 ...
    numbers: HashMap<String, usize>,
    ordinals: HashMap<String, usize>,
    /// The endings that make digits an ordinal: "nd".
    ordinal_endings: Vec<String>,
}

/// The most choices that people count; a larger number is a value.
const MOST_CHOICES: usize = 20;

impl Acts {
    pub(super) fn parse(text: &str) -> Result<Self, PackError> {
        let ActsToml { elides, numbers, ordinals, ordinal_endings, words, classes, rules } = toml::from_str(text)?;
        let mut acts = Self { elides, ordinal_endings, ..Self::default() };
        for (role, phrases) in &words {
            phrases.iter().for_each(|phrase| acts.phrases.insert(phrase_words(phrase, elides), *role));
        }
        acts.phrases.sort_longest_first();
        acts.numbers = numbered(&numbers, elides);
        acts.ordinals = numbered(&ordinals, elides);
        for line in &rules {
            for pattern in &line.patterns {
                let elements = pattern::parse(pattern, &classes, elides)?;
                acts.add(ActRule { elements, makes: line.act, place: line.place, sure: line.confidence });
            }
        }
        Ok(acts)
    }

    fn add(&mut self, rule: ActRule) {
        let index = self.rules.len();
        let anchors = rule.elements.iter().skip_while(|element| matches!(element, Element::Hole { .. }));
        for element in anchors {
            let Element::Words { any, is_optional, .. } = element else {
                self.by_number.push(index);
                break;
            };
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
        self.rules.push(rule);
    }

    /// The rules that may begin with this word.
    pub fn rules_at(&self, word: &Word) -> impl Iterator<Item = &ActRule> {
        let is_number = self.number(word).is_some() || self.ordinal(word).is_some();
        let counted = if is_number { self.by_number.as_slice() } else { &[] };
        let worded = self.by_word.get(&word.text).map_or(&[][..], Vec::as_slice);
        worded.iter().chain(counted).map(|index| &self.rules[*index])
    }

    /// The length, in words, of the longest phrase with one of these roles that begins at `at`.
    #[must_use]
    pub fn phrase(&self, words: &[Word], at: usize, roles: &[PhraseRole]) -> Option<usize> {
        let behind = words.get(at + 1..)?;
        let fits = |rest: &[Box<str>]| {
            let says = |(word, said): (&str, &Word)| *word == *said.text && !said.is_apart;
            rest.len() <= behind.len() && rest.iter().map(AsRef::as_ref).zip(behind).all(says)
        };
        let mut all = self.phrases.beginning_with(&words[at].text).iter();
        let is_meant = |meaning: &PhraseRole| roles.contains(meaning) && ablation::admits("acts.words", meaning);
        all.find(|phrase| fits(&phrase.rest) && is_meant(&phrase.meaning)).map(|phrase| phrase.rest.len() + 1)
    }

    /// The number that a word says, from 1, if it may count choices.
    #[must_use]
    pub fn number(&self, word: &Word) -> Option<usize> {
        let counted = word.text.parse().ok().filter(|number| (1..=MOST_CHOICES).contains(number));
        counted.or_else(|| self.numbers.get(&word.text).copied())
    }

    /// The number that an ordinal says, from 1.
    #[must_use]
    pub fn ordinal(&self, word: &Word) -> Option<usize> {
        if let Some(number) = self.ordinals.get(&word.text) {
            return Some(*number);
        }
        let digits = self.ordinal_endings.iter().find_map(|ending| word.text.strip_suffix(ending.as_str()))?;
        digits.parse().ok().filter(|number| (1..=MOST_CHOICES).contains(number))
    }
}

fn numbered(names: &[Vec<String>], elides: bool) -> HashMap<String, usize> {
    let all = (1..).zip(names).flat_map(|(number, names)| names.iter().map(move |name| (name, number)));
    all.filter_map(|(name, number)| Some((phrase_words(name, elides).into_iter().next()?, number))).collect()
}
