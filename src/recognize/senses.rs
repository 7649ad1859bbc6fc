//! The utterance cut into tokens, with the meanings that the [`Lexicon`] knows for each.

use std::ops::Range;

use super::{
    certainty::Certainty,
    lexicon::{Lexicon, Sense},
};
use crate::text::{
    Span, Utterance,
    script::is_katakana,
    tokens::{Token, TokenKind, whole_span},
};

/// A reading of a run of tokens.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TokenReading<T> {
    /// Index of its first token; this may be later than the token at which reading began ("at" of "at 5" is not part of
    /// it).
    pub(super) start: usize,
    /// Index after its last token.
    pub(super) end: usize,
    pub(super) value: T,
    /// The other value that the words may mean.
    pub(super) other: Option<T>,
    pub(super) certainty: Certainty,
}

impl<T> TokenReading<T> {
    pub(super) const fn new(start: usize, end: usize, value: T, certainty: Certainty) -> Self {
        Self { start, end, value, other: None, certainty }
    }

    pub(super) fn or(mut self, other: Option<T>) -> Self {
        self.other = other;
        self
    }
}

#[derive(Debug)]
pub(super) struct Senses<'a> {
    pub(super) utterance: &'a Utterance,
    pub(super) lexicon: &'a Lexicon,
    pub(super) tokens: Vec<Token>,
    /// The possible meanings of the words at each token, with the token after them.
    senses: Vec<(u32, Sense)>,
    /// For each token, where its senses begin in `senses`; one more for the end.
    senses_of: Vec<u32>,
}

impl<'a> Senses<'a> {
    pub(super) fn new(utterance: &'a Utterance, lexicon: &'a Lexicon) -> Self {
        let folded = utterance.folded();
        let tokens = utterance.tokens();
        let mut senses = Vec::new();
        let mut senses_of = Vec::with_capacity(tokens.len() + 1);
        for start in 0..tokens.len() {
            senses_of.push(index(senses.len()));
            if tokens[start].kind == TokenKind::Digits {
                continue;
            }
            let word = &folded[tokens[start].bytes.clone()];
            let misspelt = if lexicon.phrases(word).next().is_none() { lexicon.misspelt(word) } else { None };
            for phrase in lexicon.phrases(word).chain(misspelt) {
                let end = start + 1 + phrase.rest.len();
                let fits = end <= tokens.len()
                    && phrase
                        .rest
                        .iter()
                        .zip(&tokens[start + 1..end])
                        .all(|(word, token)| folded[token.bytes.clone()] == **word);
                if fits && !cuts_katakana(folded, &tokens, start, end) {
                    senses.push((index(end), lexicon.localized(phrase.meaning)));
                }
            }
        }
        senses_of.push(index(senses.len()));
        Self { utterance, lexicon, tokens, senses, senses_of }
    }

    pub(super) const fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The folded text of a token; empty beyond the end.
    pub(super) fn text(&self, token: usize) -> &str {
        self.tokens.get(token).map_or("", |token| &self.utterance.folded()[token.bytes.clone()])
    }

    pub(super) fn is_symbol(&self, token: usize, symbol: &str) -> bool {
        self.text(token) == symbol
    }

    pub(super) fn kind(&self, token: usize) -> Option<TokenKind> {
        self.tokens.get(token).map(|token| token.kind)
    }

    /// True if nothing lies between this token and the one before it.
    pub(super) fn is_glued(&self, token: usize) -> bool {
        self.tokens.get(token).is_some_and(|token| token.glued)
    }

    /// The text between this token and the one before it.
    pub(super) fn gap(&self, token: usize) -> &'a str {
        let before = token.checked_sub(1).and_then(|before| self.tokens.get(before));
        let (Some(before), Some(own)) = (before, self.tokens.get(token)) else { return "" };
        let characters = self.utterance.span_of_folded(before.bytes.end..own.bytes.start);
        if before.bytes.end == own.bytes.start { "" } else { self.utterance.slice(characters) }
    }

    /// The symbol at `token`, written without a space on either side: the `:` of `3:30`.
    pub(super) fn joins(&self, token: usize, symbol: &str) -> bool {
        self.is_symbol(token, symbol) && self.is_glued(token) && self.is_glued(token + 1)
    }

    /// The longest reading at `token` that `pick` accepts, and the token after it.
    pub(super) fn pick<T>(&self, token: usize, pick: impl Fn(Sense) -> Option<T>) -> Option<(T, usize)> {
        let (from, to) = (*self.senses_of.get(token)?, *self.senses_of.get(token + 1)?);
        let mut best: Option<(T, usize)> = None;
        for &(end, sense) in &self.senses[from as usize..to as usize] {
            if best.as_ref().is_none_or(|(_, longest)| end as usize > *longest)
                && let Some(value) = pick(sense)
            {
                best = Some((value, end as usize));
            }
        }
        best
    }

    /// The token after `sense`, if it stands at `token`.
    pub(super) fn after(&self, token: usize, sense: Sense) -> Option<usize> {
        self.pick(token, |found| (found == sense).then_some(())).map(|((), end)| end)
    }

    /// `token`, or the token after `sense` if it stands there.
    pub(super) fn skip(&self, token: usize, sense: Sense) -> usize {
        self.after(token, sense).unwrap_or(token)
    }

    pub(super) fn has(&self, token: usize, sense: Sense) -> bool {
        self.after(token, sense).is_some()
    }

    /// True if any word has a meaning that `test` accepts.
    pub(super) fn mentions(&self, test: impl Fn(Sense) -> bool) -> bool {
        self.senses.iter().any(|&(_, sense)| test(sense))
    }

    /// The digits of a token, if there are at most `most` of them.
    pub(super) fn digits(&self, token: usize, most: usize) -> Option<i32> {
        let text = self.text(token);
        (self.kind(token) == Some(TokenKind::Digits) && text.len() <= most.min(9)).then(|| text.parse().ok()).flatten()
    }

    /// The span of the tokens `start..end`; `None` if it would cut a character of the utterance.
    pub(super) fn span(&self, start: usize, end: usize) -> Option<Span> {
        let (first, last) = (self.tokens.get(start)?, self.tokens.get(end.checked_sub(1)?)?);
        whole_span(self.utterance, &(first.bytes.start..last.bytes.end))
    }

    /// The text from `token` to the next space, at most `most` bytes, without closing punctuation.
    pub(super) fn chunk(&self, token: usize, most: usize) -> Option<(&'a str, Range<usize>)> {
        let mut end = token + 1;
        let begin = self.tokens.get(token)?.bytes.start;
        while self.is_glued(end) && self.tokens[end].bytes.end - begin <= most {
            end += 1;
        }
        while end > token + 1 && matches!(self.text(end - 1), "." | "," | ";" | "!" | "?" | ")" | "\"" | "'") {
            end -= 1;
        }
        Some((self.utterance.slice(self.span(token, end)?), token..end))
    }

    /// Every reading that `read` finds, leftmost first, without overlaps.
    pub(super) fn find<T>(&self, read: impl Fn(usize) -> Option<TokenReading<T>>) -> Vec<TokenReading<T>> {
        let mut found = Vec::new();
        let mut token = 0;
        while token < self.len() {
            match read(token) {
                Some(reading) => {
                    token = reading.end.max(token + 1);
                    found.push(reading);
                }
                None => token += 1,
            }
        }
        found
    }
}

/// True if the katakana word of these tokens goes on before or behind them: ドル of ドルフィン.
fn cuts_katakana(folded: &str, tokens: &[Token], start: usize, end: usize) -> bool {
    let is = |token: &Token| folded[token.bytes.clone()].chars().next().is_some_and(is_katakana);
    let goes_on =
        |at: usize| at > 0 && tokens.get(at).is_some_and(|token| token.glued && is(token)) && is(&tokens[at - 1]);
    goes_on(start) || goes_on(end)
}

fn index(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
