//! Words that hold sentences together, and words that names in schemas are made of.

use serde::Deserialize;

use super::{PackError, slots::OfSlots};
use crate::text::{Utterance, fold, words::phrase_words};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// Words that carry a sentence and seldom begin a name: likely plain even if no exemplar has them.
    pub carriers: Vec<String>,
    /// Words of at least four letters that say too little of what is asked for.
    pub said_of_anything: Vec<String>,
    /// Number words, as far as they tell what a value looks like.
    pub numbers: Vec<String>,
    /// Words that stand for a value without saying it: "something", "all".
    pub indefinite: Vec<String>,
    /// Words that put off a value: "something", "somebody".
    pub unsaid: Vec<String>,
    /// Words that lead to a name and are no part of it: "called".
    pub naming: Vec<String>,
    /// Words behind which a full stop ends no sentence, without it: "Dr".
    pub abbreviations: Vec<String>,
    /// Stand before a name and are none: "Mrs".
    pub titles: Vec<String>,
    /// What a question ends in that needs no question mark.
    pub question_endings: Vec<String>,
    /// Say nothing but that the last call is meant: "the same", "what about".
    pub follow_ups: Vec<String>,
    pub around: Phrases,
    pub joints: Joints,
    pub answers: Answers,
    pub values: OfValues,
    pub names: Names,
    pub slots: OfSlots,
    pub limits: Vec<Limit>,
}

/// What people say around a request that says nothing of it, each phrase as its words.
#[derive(Debug, Deserialize)]
#[serde(from = "Sides")]
pub struct Phrases {
    /// Those that lead a request among them.
    pub before: Vec<Vec<String>>,
    /// What leads a request: "could you".
    pub requests: Vec<Vec<String>>,
    pub behind: Vec<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sides {
    before: Vec<String>,
    requests: Vec<String>,
    behind: Vec<String>,
}

impl From<Sides> for Phrases {
    fn from(Sides { before, requests, behind }: Sides) -> Self {
        let words = |phrases: &[String]| phrases.iter().map(|phrase| phrase_words(phrase, false)).collect();
        let all = [before, requests.clone()].concat();
        Self { before: words(&all), requests: words(&requests), behind: words(&behind) }
    }
}

/// What makes a number a limit of one kind: the highest that is meant, or the lowest.
#[derive(Debug, Deserialize)]
#[serde(from = "Bounds")]
pub struct Limit {
    /// Words in names of slots that take this limit: "max".
    pub names: Vec<String>,
    /// What people say right before the number, each phrase as its words: "at most".
    pub before: Vec<Vec<String>>,
    /// What they say right behind it: "or less".
    pub behind: Vec<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bounds {
    names: Vec<String>,
    before: Vec<String>,
    behind: Vec<String>,
}

impl From<Bounds> for Limit {
    fn from(Bounds { names, before, behind }: Bounds) -> Self {
        let words = |phrase: &String| Utterance::new(phrase).folded_words().map(str::to_owned).collect();
        let phrases = |all: &[String]| all.iter().map(words).collect();
        Self {
            names: names.iter().map(|name| fold(name)).collect(),
            before: phrases(&before),
            behind: phrases(&behind),
        }
    }
}

/// The words that join requests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joints {
    /// Join anything: items as well as requests.
    pub conjunctions: Vec<String>,
    /// Stand between two of which one is meant.
    pub alternatives: Vec<String>,
    /// Join what is done one after the other; also behind a conjunction.
    pub sequences: Vec<String>,
    /// Do so behind a conjunction, a comma or the end of a sentence; elsewhere they stand within a request.
    pub followers: Vec<String>,
    /// Lead to a reason, a clause to which all that follows belongs; the last word of a phrase.
    pub reasons: Vec<String>,
    /// Stand between two requests in a script without spaces.
    pub unspaced: Vec<String>,
    /// End a request in such a script. Their last character does not belong to it.
    pub unspaced_endings: Vec<String>,
}

/// What people say around a value in an answer. It is only taken away whole.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    /// Before the value; without spaces, those of one or two characters only where a mark or a space follows.
    pub before: Vec<String>,
    /// Behind the value.
    pub behind: Vec<String>,
    /// What stands between the name of what was asked for and the value, in languages without spaces.
    pub topics: Vec<char>,
    /// Words with which a sentence of its own goes on behind a comma: "she's".
    pub subjects: Vec<String>,
    /// Stand between the name of a slot and its value: "is".
    pub copulas: Vec<String>,
}

/// Words that the values of slots are made of.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfValues {
    /// Weigh nothing among the words of a value: "of".
    pub fillers: Vec<String>,
    /// Are no value by themselves: "the".
    pub empty: Vec<String>,
    /// Turn a value around: it was not said without them.
    pub negations: Vec<String>,
}

/// Words that names and descriptions of functions and slots are made of.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Names {
    /// Words, and beginnings of words, that make of a slot one for what is left out.
    pub left_out: Vec<String>,
    pub left_out_beginnings: Vec<String>,
    /// The same in its description, where "without" and "except" are said of anything.
    pub left_out_in_descriptions: Vec<String>,
    /// Words of a flag's name that say nothing of what it is about: "with".
    pub flags: Vec<String>,
    /// Say nothing without what they stand beside: "the to" is nobody's word.
    pub bare: Vec<String>,
    /// Beginnings of words of a function that makes things go away.
    pub going_beginnings: Vec<String>,
}

impl Words {
    /// All but the descriptions' words is folded, as what it is compared with is.
    pub(super) fn parse(text: &str) -> Result<Self, PackError> {
        let mut words: Self = toml::from_str(text)?;
        let joints = &mut words.joints;
        let lists = [
            &mut words.carriers,
            &mut words.said_of_anything,
            &mut words.numbers,
            &mut words.indefinite,
            &mut words.unsaid,
            &mut words.naming,
            &mut words.abbreviations,
            &mut words.titles,
            &mut words.follow_ups,
        ];
        let joined = [
            &mut joints.conjunctions,
            &mut joints.alternatives,
            &mut joints.sequences,
            &mut joints.followers,
            &mut joints.reasons,
        ];
        let (answers, values, names) = (&mut words.answers, &mut words.values, &mut words.names);
        let of_values =
            [&mut values.fillers, &mut values.empty, &mut values.negations, &mut names.flags, &mut names.bare];
        // Without spaces, phrases are compared as they are written.
        let said = if answers.topics.is_empty() { vec![&mut answers.before, &mut answers.behind] } else { Vec::new() };
        for word in lists
            .into_iter()
            .chain(joined)
            .chain(said)
            .chain(of_values)
            .chain([&mut answers.subjects, &mut answers.copulas])
            .flatten()
        {
            *word = fold(word);
        }
        words.slots.fold();
        Ok(words)
    }

    /// True for a folded word that carries a sentence.
    #[must_use]
    pub fn is_carrier(&self, word: &str) -> bool {
        self.carriers.iter().any(|carrier| carrier == word)
    }

    /// True for a folded word that stands for a value without saying it.
    #[must_use]
    pub fn is_indefinite(&self, word: &str) -> bool {
        self.indefinite.iter().any(|other| other == word)
    }

    /// True for a folded word that puts off a value.
    #[must_use]
    pub fn is_unsaid(&self, word: &str) -> bool {
        self.unsaid.iter().any(|other| other == word)
    }

    /// True for a folded word that stands before a name and is none.
    #[must_use]
    pub fn is_title(&self, word: &str) -> bool {
        self.titles.iter().any(|other| other == word)
    }

    /// True for a folded word that says that what was done last is meant.
    #[must_use]
    pub fn is_follow_up(&self, word: &str) -> bool {
        self.follow_ups.iter().any(|other| other == word)
    }

    /// True for a folded number word.
    #[must_use]
    pub fn is_number(&self, word: &str) -> bool {
        self.numbers.iter().any(|number| number == word)
    }
}
