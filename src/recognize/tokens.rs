//! A text as the words of a reply.

use crate::text::{Span, Utterance};

/// A word, or a sign that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// Folded, without apostrophes: people leave them out.
    pub(crate) word: String,
    pub(crate) span: Span,
    /// A mark stands between this and the word before: a comma, a full stop.
    pub(crate) is_apart: bool,
    /// A question mark follows, before any other word.
    pub(crate) asks: bool,
}

pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let utterance = Utterance::new(text);
    let mut tokens: Vec<Token> = Vec::new();
    let mut end = 0;
    let stops = std::iter::once(Span::new(utterance.len(), utterance.len()));
    for word in utterance.words().iter().copied().chain(stops) {
        let mut is_apart = false;
        for (index, mark) in utterance.slice(Span::new(end, word.start)).chars().enumerate() {
            let at = end + index;
            match mark {
                '?' | '？' => {
                    if let Some(before) = tokens.last_mut() {
                        before.asks = true;
                    }
                    is_apart = true;
                }
                '.' | '!' | ';' | '…' | '。' | '！' | '\n' => is_apart = true,
                ',' | '、' | '，' | ':' | '-' | '–' | '—' | '(' | ')' => is_apart = true,
                sign if is_sign(sign) => {
                    let span = Span::new(at, at + 1);
                    tokens.push(Token { word: sign.to_string(), span, is_apart: true, asks: false });
                    is_apart = true;
                }
                _ => {}
            }
        }
        end = word.end;
        if word.is_empty() {
            break;
        }
        let folded = crate::text::fold(utterance.slice(word));
        let spoken: String = folded.chars().filter(|character| *character != '\'').collect();
        tokens.push(Token { word: spoken, span: word, is_apart, asks: false });
    }
    tokens
}

/// A symbol that may answer by itself.
const fn is_sign(character: char) -> bool {
    matches!(character, '\u{2600}'..='\u{27BF}' | '\u{1F170}'..='\u{1F19A}' | '\u{1F300}'..='\u{1FAFF}')
        && !matches!(character, '\u{1F3FB}'..='\u{1F3FF}')
}
