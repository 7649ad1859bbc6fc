//! A reply as words, with the marks between them as moves need them.

use crate::{
    recognize::acts::tokens,
    text::{Span, Utterance, fold},
};

/// A word, or a sign that stands for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// Folded, without apostrophes.
    pub(crate) text: String,
    pub(crate) span: Span,
    /// A mark parts this from the word before. One that joins two words ("e-mail", "10:30") does not.
    pub(crate) is_apart: bool,
    /// Where a question mark ends that follows before any other word.
    pub(crate) asked: Option<usize>,
    /// Digits with a full stop right behind them: "2."
    pub(crate) is_dotted: bool,
}

/// Longest article or pronoun that an apostrophe joins to the next word, in letters: "qu'".
const LONGEST_ELIDED: usize = 2;

/// The words of `text`; with `elides`, "l'adresse" is two.
pub(crate) fn words(text: &str, elides: bool) -> Vec<Word> {
    let utterance = Utterance::new(text);
    let tokens = tokens(text);
    let mut words: Vec<Word> = Vec::with_capacity(tokens.len());
    let mut end = 0;
    for (index, token) in tokens.iter().enumerate() {
        let before = utterance.slice(Span::new(end, token.span.start));
        let next = tokens.get(index + 1).map_or(utterance.len(), |next| next.span.start);
        let behind = utterance.slice(Span::new(token.span.end, next));
        let asked = behind.chars().position(|mark| matches!(mark, '?' | '？')).map(|at| token.span.end + at + 1);
        let is_dotted = behind.starts_with('.') && token.word.chars().all(|digit| digit.is_ascii_digit());
        let is_apart = token.is_apart && !(index > 0 && joins(before));
        end = token.span.end;
        let whole = Word { text: token.word.clone(), span: token.span, is_apart, asked, is_dotted };
        match elision(utterance.slice(token.span)).filter(|_| elides) {
            Some(length) => words.extend(parted(&whole, &utterance, length)),
            None => words.push(whole),
        }
    }
    words
}

/// True for a single mark between two words that makes them one.
fn joins(gap: &str) -> bool {
    matches!(gap, "-" | "\u{2010}" | "\u{2011}" | ":" | "." | "/")
}

/// Letters before the apostrophe of an elided word.
fn elision(word: &str) -> Option<usize> {
    let at = word.chars().position(|letter| matches!(letter, '\'' | '\u{2019}' | '\u{02BC}'))?;
    (1..=LONGEST_ELIDED).contains(&at).then_some(at).filter(|at| word.chars().count() > at + 1)
}

fn parted(whole: &Word, utterance: &Utterance, length: usize) -> [Word; 2] {
    let Span { start, end } = whole.span;
    let (first, second) = (Span::new(start, start + length), Span::new(start + length + 1, end));
    let text = |span| fold(utterance.slice(span)).replace('\'', "");
    let word = |span| Word { text: text(span), span, ..whole.clone() };
    [Word { asked: None, is_dotted: false, ..word(first) }, Word { is_apart: false, ..word(second) }]
}
