//! The words of moves, as data: one table per language, read by one grammar.
//!
//! To add a language: a file with one [`Table`], and a line in [`Lexicon::of`].

use std::{collections::HashMap, sync::LazyLock};

use crate::recognize::acts::{
    Pick,
    pattern::{Class, Element, parse, phrase_words},
    words::Word,
};

mod de;
mod en;
mod es;
mod fr;
mod ja;

/// What a pattern stands for; its holes and numbers complete it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Makes {
    Cancel,
    Keep,
    Restart,
    Unknown,
    Skip,
    Correct,
    Change,
    Replace,
    Remove,
    Add,
    /// The choice that its number says.
    Nth,
    The(Pick),
    Portion,
    Resume,
    Recall,
    /// No move, although it looks like one: "don't cancel".
    Nothing,
}

/// Where a pattern must stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is a clause, and no content is beside it in the whole reply.
    Alone,
    /// It is a clause of its own.
    Clause,
    /// A clause of its own, with content somewhere behind it.
    Aside,
    /// A clause begins with it.
    Start,
    /// The same, with content somewhere behind it.
    Before,
    /// A clause ends with it, and content is before it.
    End,
    Anywhere,
    /// Right behind a change with a value: "and the size to 9".
    Further,
}

/// Patterns, apart by `|`, with what they stand for, where, and how sure that is.
pub(crate) type Line = (&'static str, Makes, Place, f32);

/// What a word or phrase is beside moves. Phrases stand apart by `|`.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Says nothing anywhere: "please".
    pub(crate) fillers: &'static str,
    /// Says nothing before a move: "can you".
    pub(crate) leads: &'static str,
    /// Yes and no.
    pub(crate) answers: &'static str,
    /// Joins what belongs together, or two clauses.
    pub(crate) and: &'static str,
    /// Begins another clause.
    pub(crate) but: &'static str,
    /// Before what is named, and no part of it.
    pub(crate) articles: &'static str,
    /// Names of 1, 2, 3 ...; several for one number apart by `/`.
    pub(crate) numbers: &'static [&'static str],
    pub(crate) ordinals: &'static [&'static str],
    /// What follows digits to make them an ordinal: "nd".
    pub(crate) ordinal_endings: &'static [&'static str],
    pub(crate) classes: &'static [Class],
    pub(crate) lines: &'static [Line],
    /// Words run into the next one with an apostrophe: "l'adresse".
    pub(crate) elides: bool,
}

/// What a word or phrase is beside moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Filler,
    Lead,
    Answer,
    And,
    But,
    Article,
}

/// A pattern, ready to be matched.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) elements: Vec<Element>,
    pub(crate) makes: Makes,
    pub(crate) place: Place,
    pub(crate) sure: f32,
}

/// The table of one language, by first words.
#[derive(Debug, Default)]
pub(crate) struct Lexicon {
    phrases: HashMap<String, Vec<(Vec<String>, Role)>>,
    rules: Vec<Rule>,
    /// The rules whose first words begin with a word.
    by_word: HashMap<String, Vec<usize>>,
    /// The rules that begin with a number.
    by_number: Vec<usize>,
    numbers: HashMap<String, usize>,
    ordinals: HashMap<String, usize>,
    ordinal_endings: &'static [&'static str],
    elides: bool,
}

/// The most choices that anybody counts; what is more is a value.
const MOST_CHOICES: usize = 20;

impl Lexicon {
    /// Of a BCP 47 tag; English for a language without a table.
    pub(crate) fn of(tag: &str) -> &'static Self {
        static TABLES: LazyLock<HashMap<&'static str, Lexicon>> = LazyLock::new(|| {
            [
                ("en", Lexicon::new(&en::TABLE)),
                ("de", Lexicon::new(&de::TABLE)),
                ("es", Lexicon::new(&es::TABLE)),
                ("fr", Lexicon::new(&fr::TABLE)),
                ("ja", Lexicon::new(&ja::TABLE)),
            ]
            .into()
        });
        let language = tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        TABLES.get(language.as_str()).unwrap_or_else(|| &TABLES["en"])
    }

    fn new(table: &Table) -> Self {
        let mut lexicon = Self { elides: table.elides, ordinal_endings: table.ordinal_endings, ..Self::default() };
        for (phrases, role) in [
            (table.fillers, Role::Filler),
            (table.leads, Role::Lead),
            (table.answers, Role::Answer),
            (table.and, Role::And),
            (table.but, Role::But),
            (table.articles, Role::Article),
        ] {
            for phrase in phrases.split('|') {
                let mut words = phrase_words(phrase, table.elides).into_iter();
                let Some(first) = words.next() else { continue };
                lexicon.phrases.entry(first).or_default().push((words.collect(), role));
            }
        }
        lexicon.phrases.values_mut().for_each(|all| all.sort_by_key(|(rest, _)| std::cmp::Reverse(rest.len())));
        lexicon.numbers = numbered(table.numbers, table.elides);
        lexicon.ordinals = numbered(table.ordinals, table.elides);
        for (patterns, makes, place, sure) in table.lines {
            for pattern in patterns.split('|') {
                let elements = parse(pattern, table.classes, table.elides);
                lexicon.add(Rule { elements, makes: *makes, place: *place, sure: *sure });
            }
        }
        lexicon
    }

    fn add(&mut self, rule: Rule) {
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

    pub(crate) const fn elides(&self) -> bool {
        self.elides
    }

    /// The rules whose first words may begin at this word.
    pub(crate) fn rules(&self, word: &Word) -> impl Iterator<Item = &Rule> {
        let is_number = self.number(word).is_some() || self.ordinal(word).is_some();
        let counted = if is_number { self.by_number.as_slice() } else { &[] };
        let worded = self.by_word.get(&word.text).map_or(&[][..], Vec::as_slice);
        worded.iter().chain(counted).map(|index| &self.rules[*index])
    }

    /// The words of the longest phrase with one of these roles that begins at `at`.
    pub(crate) fn phrase(&self, words: &[Word], at: usize, roles: &[Role]) -> Option<usize> {
        let all = self.phrases.get(&words.get(at)?.text)?;
        let behind = &words[at + 1..];
        let fits = |rest: &[String]| {
            rest.len() <= behind.len()
                && rest.iter().zip(behind).all(|(word, said)| *word == said.text && !said.is_apart)
        };
        all.iter().find(|(rest, role)| roles.contains(role) && fits(rest)).map(|(rest, _)| rest.len() + 1)
    }

    /// What a number that may count choices says, from 1.
    pub(crate) fn number(&self, word: &Word) -> Option<usize> {
        let counted = word.text.parse().ok().filter(|number| (1..=MOST_CHOICES).contains(number));
        counted.or_else(|| self.numbers.get(&word.text).copied())
    }

    /// What an ordinal says, from 1.
    pub(crate) fn ordinal(&self, word: &Word) -> Option<usize> {
        if let Some(number) = self.ordinals.get(&word.text) {
            return Some(*number);
        }
        let digits = self.ordinal_endings.iter().find_map(|ending| word.text.strip_suffix(ending))?;
        digits.parse().ok().filter(|number| (1..=MOST_CHOICES).contains(number))
    }
}

fn numbered(names: &[&str], elides: bool) -> HashMap<String, usize> {
    let all = names.iter().enumerate().flat_map(|(index, names)| names.split('/').map(move |name| (name, index + 1)));
    all.filter_map(|(name, number)| Some((phrase_words(name, elides).into_iter().next()?, number))).collect()
}
