//! Folded text as tokens: runs of letters and of digits, single symbols, and single characters of scripts without
//! spaces.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use super::{Span, Utterance, fold, is_unspaced};

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// Letters of one script; one character in scripts that don't put spaces between words.
    Word,
    /// ASCII digits (folding has mapped full-width and other forms).
    Digits,
    /// Any other character except a space.
    Symbol,
}

#[derive(Debug, Clone)]
pub struct Token {
    pub kind: TokenKind,
    /// Byte range in the folded text.
    pub bytes: Range<usize>,
    /// True if nothing separates it from the previous token.
    pub glued: bool,
}

/// True for characters that only make sense after another one: marks, and the vowels and finals of a Korean syllable.
#[must_use]
pub fn continues_character(character: char) -> bool {
    !character.is_ascii() && (is_combining_mark(character) || matches!(character, '\u{1160}'..='\u{11FF}'))
}

/// The span of a byte range of the folded text, with the marks that belong to its last character.
///
/// `None` if the range begins or ends within a character of the utterance (`ß` folds to `ss`).
#[must_use]
pub fn whole_span(utterance: &Utterance, bytes: &Range<usize>) -> Option<Span> {
    let character_at = |byte: usize| utterance.span_of_folded(byte..byte).start;
    if bytes.is_empty() {
        return None;
    }
    let (start, end) = (character_at(bytes.start), character_at(bytes.end));
    let starts_inside = bytes.start > 0 && character_at(bytes.start - 1) == start;
    let ends_inside = character_at(bytes.end - 1) == end;
    (!starts_inside && !ends_inside).then(|| Span::new(start, end))
}

/// True for a digit that does not stand on the line: the second one of `5²` makes no 52.
const fn is_raised(character: char) -> bool {
    matches!(character, '²' | '³' | '¹' | '\u{2070}'..='\u{2079}' | '\u{2080}'..='\u{2089}')
}

/// Splits folded text into tokens. `at_character` says whether a character of the utterance begins at this byte, and
/// `stands_apart` whether that character joins no digit before it.
fn tokenize(folded: &str, at_character: impl Fn(usize) -> bool, stands_apart: impl Fn(usize) -> bool) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    // The kind of the run that the next character may continue; a character of an unspaced script ends its run.
    let mut open: Option<TokenKind> = None;
    let mut glued = false;
    for (byte, character) in folded.char_indices() {
        let end = byte + character.len_utf8();
        if continues_character(character) && glued {
            if let Some(last) = tokens.last_mut() {
                last.bytes.end = end;
            }
            continue;
        }
        let kind = if character.is_ascii_digit() {
            TokenKind::Digits
        } else if character.is_alphabetic() || is_unspaced(character) {
            TokenKind::Word
        } else if character.is_whitespace() || character.is_control() || is_invisible(character) {
            (open, glued) = (None, false);
            continue;
        } else {
            TokenKind::Symbol
        };
        // `1½` folds to `11⁄2`: a character that folds to several must not join the one before it.
        let joins = open == Some(kind)
            && !is_unspaced(character)
            && (kind != TokenKind::Digits || at_character(byte) == at_character(byte + 1) && !stands_apart(byte));
        match tokens.last_mut() {
            Some(last) if joins => last.bytes.end = end,
            _ => tokens.push(Token { kind, bytes: byte..end, glued }),
        }
        glued = true;
        open = (kind != TokenKind::Symbol && !is_unspaced(character)).then_some(kind);
        if kind == TokenKind::Word && is_unspaced(character) {
            open = None;
        }
    }
    tokens
}

/// Invisible characters: zero-width spaces and joiners, direction marks, the soft hyphen.
#[must_use]
pub const fn is_invisible(character: char) -> bool {
    matches!(character, '\u{00AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}')
}

impl Utterance {
    /// The tokens of the folded text.
    #[must_use]
    pub fn tokens(&self) -> Vec<Token> {
        let folded = self.folded();
        let character_at = |byte: usize| self.span_of_folded(byte..byte).start;
        let begins = |byte| byte == 0 || byte >= folded.len() || character_at(byte - 1) != character_at(byte);
        let stands_apart = |byte: usize| {
            let own = Span::new(character_at(byte), character_at(byte) + 1);
            self.slice(own).chars().next().is_some_and(is_raised)
        };
        tokenize(folded, begins, stands_apart)
    }
}

/// The tokens of a text, folded.
#[must_use]
pub fn folded_tokens(text: &str) -> Vec<Box<str>> {
    let folded = fold(text);
    tokenize(&folded, |_| true, |_| false).into_iter().map(|token| folded[token.bytes].into()).collect()
}
