//! Phrases and their meanings, by their first word.

use std::{cmp::Reverse, collections::HashMap};

/// The words after the first, and the meaning of the whole phrase.
#[derive(Debug)]
pub struct Phrase<M> {
    pub rest: Box<[Box<str>]>,
    pub meaning: M,
}

#[derive(Debug)]
pub struct Phrases<M>(HashMap<Box<str>, Vec<Phrase<M>>>);

impl<M> Phrases<M> {
    /// A phrase without a word is left out.
    pub(super) fn insert<W: Into<Box<str>>>(&mut self, words: impl IntoIterator<Item = W>, meaning: M) {
        let mut words = words.into_iter().map(Into::into);
        if let Some(first) = words.next() {
            self.0.entry(first).or_default().push(Phrase { rest: words.collect(), meaning });
        }
    }

    /// The phrases of a single word, with that word.
    pub fn of_one_word(&self) -> impl Iterator<Item = (&str, &Phrase<M>)> {
        self.0.iter().filter_map(|(word, all)| Some((&**word, all.iter().find(|phrase| phrase.rest.is_empty())?)))
    }

    /// Sorts phrases that begin alike so that the longest comes first.
    pub(super) fn sort_longest_first(&mut self) {
        self.0.values_mut().for_each(|all| all.sort_by_key(|phrase| Reverse(phrase.rest.len())));
    }

    /// True if the word alone is a phrase with this meaning.
    #[must_use]
    pub fn is(&self, word: &str, meaning: M) -> bool
    where
        M: Copy + PartialEq,
    {
        self.beginning_with(word).iter().any(|phrase| phrase.rest.is_empty() && phrase.meaning == meaning)
    }

    /// The phrases that begin with a word.
    #[must_use]
    pub fn beginning_with(&self, first: &str) -> &[Phrase<M>] {
        self.0.get(first).map_or(&[], Vec::as_slice)
    }
}

impl<M> Default for Phrases<M> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}
