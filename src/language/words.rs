//! Function words of sentences, and words that names in schemas are made of.

use serde::Deserialize;

use super::{PackError, limits::Limit, slots::OfSlots};
use crate::text::{fold, words::phrase_words};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// Function words that seldom begin a name: probably plain words even if no exemplar has them.
    pub carriers: Vec<String>,
    /// Words of at least four letters that say too little about what is asked for.
    pub said_of_anything: Vec<String>,
    /// Number words, as far as they show what a value looks like.
    pub numbers: Vec<String>,
    /// Words that refer to a value without stating it: "something", "all".
    pub indefinite: Vec<String>,
    /// Words that leave a value open: "something", "somebody".
    pub unsaid: Vec<String>,
    /// Words that lead to a name but are not part of it: "called".
    pub naming: Vec<String>,
    /// Words, without their full stop, behind which a full stop does not end a sentence: "Dr".
    pub abbreviations: Vec<String>,
    /// Words before a name that are not part of it: "Mrs".
    pub titles: Vec<String>,
    /// Endings of a question that needs no question mark.
    pub question_endings: Vec<String>,
    /// Words that only say that the last call is meant: "the same", "what about".
    pub follow_ups: Vec<String>,
    pub around: CarrierPhrases,
    pub joints: Joints,
    pub answers: Answers,
    pub values: OfValues,
    pub names: Names,
    pub slots: OfSlots,
    pub limits: Vec<Limit>,
}

/// Phrases around a request that say nothing about it, each as its words.
#[derive(Debug, Deserialize)]
#[serde(from = "Sides")]
pub struct CarrierPhrases {
    /// Phrases before a request, including those that lead to it.
    pub before: Vec<Vec<String>>,
    pub behind: Vec<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sides {
    before: Vec<String>,
    requests: Vec<String>,
    behind: Vec<String>,
}

impl From<Sides> for CarrierPhrases {
    fn from(Sides { before, requests, behind }: Sides) -> Self {
        let words = |phrases: &[String]| phrases.iter().map(|phrase| phrase_words(phrase, false)).collect();
        Self { before: words(&[before, requests].concat()), behind: words(&behind) }
    }
}

/// The words that join requests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joints {
    /// Words that join anything: items as well as requests.
    pub conjunctions: Vec<String>,
    /// Words between two choices.
    pub alternatives: Vec<String>,
    /// Words that join actions in sequence; also behind a conjunction.
    pub sequences: Vec<String>,
    /// Words that do so behind a conjunction, a comma or the end of a sentence; elsewhere they belong to a request.
    pub followers: Vec<String>,
    /// Words that lead to a reason, a clause that contains everything that follows; the last word of each phrase.
    pub reasons: Vec<String>,
    /// Words between two requests in a script without spaces.
    pub unspaced: Vec<String>,
    /// Endings of a request in such a script. Their last character does not belong to the request.
    pub unspaced_endings: Vec<String>,
}

/// Phrases around a value in an answer. A phrase is only removed as a whole.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    /// Phrases before the value. Without spaces, those of one or two characters count only if a mark or a space
    /// follows.
    pub before: Vec<String>,
    /// Phrases behind the value.
    pub behind: Vec<String>,
    /// Characters between the name of the slot that was asked for and the value, in languages without spaces.
    pub topics: Vec<char>,
    /// Words with which a new sentence begins behind a comma: "she's".
    pub subjects: Vec<String>,
    /// Words between the name of a slot and its value: "is".
    pub copulas: Vec<String>,
}

/// Words in the values of slots.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfValues {
    /// Words that do not count among the words of a value: "of".
    pub fillers: Vec<String>,
    /// Words that are not a value by themselves: "the".
    pub empty: Vec<String>,
    /// Words that negate a value: a value with one was not said without it.
    pub negations: Vec<String>,
}

/// Words in names and descriptions of functions and slots.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Names {
    /// Words, and beginnings of words, in the name of a slot for things that are left out.
    pub left_out: Vec<String>,
    pub left_out_beginnings: Vec<String>,
    /// The same in descriptions, where "without" and "except" may be about anything.
    pub left_out_in_descriptions: Vec<String>,
    /// Words in a flag's name that do not name its subject: "with".
    pub flags: Vec<String>,
    /// Words that say nothing without their context: people do not ask for "the to".
    pub bare: Vec<String>,
    /// Beginnings of words in functions that make things go away.
    pub going_beginnings: Vec<String>,
}

impl Words {
    /// All words except those for descriptions are folded, as are the texts they are compared with.
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

    /// True for a folded function word.
    #[must_use]
    pub fn is_carrier(&self, word: &str) -> bool {
        self.carriers.iter().any(|carrier| carrier == word)
    }

    /// True for a folded word that refers to a value without stating it.
    #[must_use]
    pub fn is_indefinite(&self, word: &str) -> bool {
        self.indefinite.iter().any(|other| other == word)
    }

    /// True for a folded word that leaves a value open.
    #[must_use]
    pub fn is_unsaid(&self, word: &str) -> bool {
        self.unsaid.iter().any(|other| other == word)
    }

    /// True for a folded word before a name that is not part of it.
    #[must_use]
    pub fn is_title(&self, word: &str) -> bool {
        self.titles.iter().any(|other| other == word)
    }

    /// True for a folded word which says that the last call is meant.
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
