//! What a yes-or-no question is like.

use crate::recognize::reply::{lexicon::Lexicon, tokens};

/// What is known of the question. Of no question, nothing: it is then answered by yes and no alone.
#[derive(Debug, Default)]
pub(crate) struct Question {
    /// The words that say what it is about.
    content: Vec<String>,
    /// It lets one choose: "delivery or pickup?"
    pub(crate) is_choice: bool,
    /// It offers something: "anything else?"
    pub(crate) offers: bool,
    /// Its yes refuses: "do you mind?"
    pub(crate) minds: bool,
    /// It states that something is not so: "you don't want cheese?"
    pub(crate) is_negative_statement: bool,
}

/// Letters from which a beginning is enough: "pizzas" for "pizza".
const STEM: usize = 4;

impl Question {
    pub(crate) fn new(lexicon: &Lexicon, text: &str) -> Self {
        let tokens = tokens(text);
        let words: Vec<&str> = tokens.iter().map(|token| token.word.as_str()).collect();
        let spaced = format!(" {} ", words.join(" "));
        let has = |phrases: &[&str]| phrases.iter().any(|phrase| spaced.contains(&format!(" {} ", phrase.trim())));
        // Behind the last comma stands but a tag: "you like it, don't you?"
        let tag = tokens.iter().rposition(|token| token.is_apart).filter(|at| *at > 0).unwrap_or(tokens.len());
        let is_short_tag = tokens.len() - tag <= 3;
        let stated = if is_short_tag { &tokens[..tag] } else { &tokens[..] };
        let denies = stated.iter().any(|token| lexicon.denies(&token.word));
        let starts = |phrases: &[&str]| phrases.iter().any(|phrase| spaced.starts_with(&format!(" {phrase} ")));
        Self {
            is_choice: has(lexicon.manner.or),
            offers: has(lexicon.manner.offers),
            minds: has(lexicon.manner.minds),
            is_negative_statement: denies && !starts(lexicon.manner.inverted),
            content: tokens.iter().filter(|token| !lexicon.is_common(&token.word)).map(|t| t.word.clone()).collect(),
        }
    }

    /// True if the question says this word, or one of the same stem.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.content.iter().any(|said| {
            let (short, long) = if said.len() < word.len() { (said.as_str(), word) } else { (word, said.as_str()) };
            short == long || short.chars().count() >= STEM && long.starts_with(short)
        })
    }
}
