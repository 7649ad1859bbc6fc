//! A text as words, with the marks between them, as input for the grammars of replies and dialogue acts.

use super::{Span, Utterance, fold};

/// A word, or a sign used like one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Folded, without apostrophes, which people leave out.
    pub text: String,
    pub span: Span,
    /// A mark separates this word from the previous one. A mark that joins two words ("e-mail", "10:30") does not.
    pub is_apart: bool,
    /// End of a question mark that follows before any other word.
    pub asked: Option<usize>,
    /// Digits directly followed by a full stop: "2."
    pub is_dotted: bool,
    /// Begins with a capital letter, as names do.
    pub is_capital: bool,
}

/// Longest article or pronoun that an apostrophe joins to the next word, in letters: "qu'".
const LONGEST_ELIDED: usize = 2;

/// The words of `text`; with `elides`, "l'adresse" is two words.
#[must_use]
pub fn words(text: &str, elides: bool) -> Vec<Word> {
    words_of(text, elides, |_| false)
}

/// The same, but a full stop after an abbreviation does not separate words: "Dr. Weiß".
#[must_use]
pub fn words_of(text: &str, elides: bool, is_abbreviation: impl Fn(&str) -> bool) -> Vec<Word> {
    let utterance = Utterance::new(text);
    let mut words: Vec<Word> = Vec::with_capacity(utterance.words().len());
    let (mut before, mut end) = (Span::new(0, 0), 0);
    let stop = Span::new(utterance.len(), utterance.len());
    for word in utterance.words().iter().copied().chain([stop]) {
        let gap = utterance.slice(Span::new(end, word.start));
        let is_last = word.is_empty();
        let is_short = gap.trim_end() == "." && is_abbreviation(utterance.slice(before));
        let is_apart = read_gap(gap, end, &mut words) && (is_last || !is_short);
        (before, end) = (word, word.end);
        if is_last {
            break;
        }
        match elision(utterance.slice(word)).filter(|_| elides) {
            None => words.push(Word::new(&utterance, word, is_apart)),
            Some(length) => {
                let behind = Span::new(word.start + length + 1, word.end);
                words.push(Word::new(&utterance, Span::new(word.start, word.start + length), is_apart));
                words.push(Word::new(&utterance, behind, false));
            }
        }
    }
    words
}

/// The words of a phrase, without the marks between them.
#[must_use]
pub fn phrase_words(phrase: &str, elides: bool) -> Vec<String> {
    words(phrase, elides).into_iter().map(|word| word.text).collect()
}

impl Word {
    fn new(utterance: &Utterance, span: Span, is_apart: bool) -> Self {
        let written = utterance.slice(span);
        let is_capital = written.chars().next().is_some_and(char::is_uppercase);
        let text = fold(written).replace('\'', "");
        Self { text, span, is_apart, asked: None, is_dotted: false, is_capital }
    }
}

/// Records the marks after the last word, and adds signs among them as words. True if they separate the next word from
/// it.
fn read_gap(gap: &str, start: usize, words: &mut Vec<Word>) -> bool {
    let is_first = words.is_empty();
    if let Some(last) = words.last_mut() {
        last.is_dotted = gap.starts_with('.') && last.text.bytes().all(|digit| digit.is_ascii_digit());
    }
    let mut is_apart = false;
    for (at, mark) in (start..).zip(gap.chars()) {
        match mark {
            '?' | '？' => {
                if let Some(before) = words.last_mut() {
                    before.asked = before.asked.or(Some(at + 1));
                }
                is_apart = true;
            }
            '.' | '!' | ';' | '…' | '。' | '！' | '\n' => is_apart = true,
            ',' | '、' | '，' | ':' | '-' | '–' | '—' | '(' | ')' => is_apart = true,
            sign if is_sign(sign) => {
                let span = Span::new(at, at + 1);
                let text = sign.to_string();
                words.push(Word { text, span, is_apart: true, asked: None, is_dotted: false, is_capital: false });
                is_apart = true;
            }
            _ => {}
        }
    }
    is_apart && (is_first || !joins(gap))
}

/// True for a single mark that joins two words into one.
fn joins(gap: &str) -> bool {
    matches!(gap, "-" | "\u{2010}" | "\u{2011}" | ":" | "." | "/")
}

/// A symbol that can be an answer by itself.
const fn is_sign(character: char) -> bool {
    matches!(character, '\u{2600}'..='\u{27BF}' | '\u{1F170}'..='\u{1F19A}' | '\u{1F300}'..='\u{1FAFF}')
        && !matches!(character, '\u{1F3FB}'..='\u{1F3FF}')
}

/// Number of letters before the apostrophe of an elided word.
fn elision(word: &str) -> Option<usize> {
    let at = word.chars().position(|letter| matches!(letter, '\'' | '\u{2019}' | '\u{02BC}'))?;
    (1..=LONGEST_ELIDED).contains(&at).then_some(at).filter(|at| word.chars().count() > at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_part_words_or_join_them() {
        let shown = |text: &str, elides| -> Vec<String> {
            let mark = |word: &Word| match (word.is_apart, word.asked, word.is_dotted) {
                (true, ..) => format!(", {}", word.text),
                (_, Some(end), _) => format!("{}?{end}", word.text),
                (.., true) => format!("{}.", word.text),
                _ => word.text.clone(),
            };
            words(text, elides).iter().map(mark).collect()
        };
        assert_eq!(shown("No, I don’t at 10:30", false), ["no", ", i", "dont", "at", "10", "30"]);
        assert_eq!(shown("e-mail? 👍 2.", false), ["e", "mail?7", ", 👍", ", 2"]);
        assert_eq!(shown("2. please", false), ["2.", ", please"]);
        assert_eq!(shown("l’adresse d'ici", true), ["l", "adresse", "d", "ici"]);
        assert_eq!(shown("l'adresse", false), ["ladresse"]);
    }

    #[test]
    fn a_full_stop_behind_an_abbreviation_parts_nothing() {
        let apart = |text: &str| -> Vec<String> {
            let words = words_of(text, false, |word| word == "Dr");
            words.into_iter().filter(|word| word.is_apart).map(|word| word.text).collect()
        };
        assert_eq!(apart("for Dr. Weiß. Thanks"), ["thanks"]);
        assert_eq!(apart("no, Dr, Weiß"), ["dr", "weiss"]);
        assert!(words("Dr. Weiß", false)[1].is_apart);
    }
}
