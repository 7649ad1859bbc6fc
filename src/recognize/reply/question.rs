//! The properties of a yes-or-no question.

use crate::{language::replies::Replies, text::words::words};

/// What is known about the question. Without a question nothing is known, and only yes and no are answers.
#[derive(Debug, Default)]
pub(crate) struct Question {
    /// The words for its subject.
    content: Vec<String>,
    /// It offers a choice: "delivery or pickup?"
    pub(crate) is_choice: bool,
    /// It offers something: "anything else?"
    pub(crate) offers: bool,
    /// A yes to it refuses: "do you mind?"
    pub(crate) minds: bool,
    /// It states a negation: "you don't want cheese?"
    pub(crate) is_negative_statement: bool,
}

/// With this many letters, the beginning of a word is enough: "pizzas" for "pizza".
const STEM: usize = 4;

impl Question {
    pub(crate) fn new(replies: &Replies, text: &str) -> Self {
        let words = words(text, false);
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let spaced = format!(" {} ", texts.join(" "));
        let has = |phrases: &[String]| phrases.iter().any(|phrase| spaced.contains(&format!(" {phrase} ")));
        // Only a tag stands behind the last comma: "you like it, don't you?"
        let tag = words.iter().rposition(|word| word.is_apart).filter(|at| *at > 0).unwrap_or(words.len());
        let is_short_tag = words.len() - tag <= 3;
        let stated = if is_short_tag { &words[..tag] } else { &words[..] };
        let denies = stated.iter().any(|word| replies.denies(&word.text));
        let starts = |phrases: &[String]| phrases.iter().any(|phrase| spaced.starts_with(&format!(" {phrase} ")));
        Self {
            is_choice: has(&replies.question.or),
            offers: has(&replies.question.offers),
            minds: has(&replies.question.minds),
            is_negative_statement: denies && !starts(&replies.question.inverted),
            content: words.into_iter().map(|word| word.text).filter(|word| !replies.is_common(word)).collect(),
        }
    }

    /// An offer, in whatever words.
    pub(crate) fn offer(replies: &Replies) -> Self {
        Self { offers: true, ..Self::new(replies, "") }
    }

    /// True if the question says this word, or one of the same stem.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.content.iter().any(|said| {
            let (short, long) = if said.len() < word.len() { (said.as_str(), word) } else { (word, said.as_str()) };
            short == long || short.chars().count() >= STEM && long.starts_with(short)
        })
    }
}
