//! The utterance as every layer sees it, and the spans that point into it.
//!
//! Spans count Unicode scalar values (`char`s), end exclusive, because clients in every language can count those; byte
//! offsets stay inside this file.

pub mod foreign;
pub mod fuel;
pub mod names;
pub mod numeral;
pub mod plain;
pub mod script;
pub mod tag;
pub mod tokens;
pub mod words;

use std::{borrow::Cow, ops::Range};

use serde::{Deserialize, Serialize};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

pub use names::{in_words, name_words};
pub use script::is_unspaced;

/// A half-open range of `char`s of an utterance. Serialized as `[start, end]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(usize, usize)", into = "(usize, usize)")]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    #[must_use]
    pub const fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// True if the two share at least one `char`.
    #[must_use]
    pub const fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// True if `other` lies wholly within this span.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

impl From<(usize, usize)> for Span {
    fn from((start, end): (usize, usize)) -> Self {
        Self { start, end }
    }
}

impl From<Span> for (usize, usize) {
    fn from(span: Span) -> Self {
        (span.start, span.end)
    }
}

/// A misspelt word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Respelt {
    pub span: Span,
    /// The word that was meant.
    pub word: String,
}

/// What a person said, with the tables that recognizers and templates need, built once per turn.
///
/// Spans and slices refer to the text exactly as said. Text for comparison ([`Self::folded`], [`Self::meant`]) has
/// misspelt words corrected.
#[derive(Debug, Clone, Default)]
pub struct Utterance {
    text: String,
    /// Sorted by position.
    respelt: Vec<Respelt>,
    /// Byte offset of each `char` of `text`, and `text.len()` as the last entry.
    byte_of_char: Vec<usize>,
    folded: String,
    /// For each byte of `folded`, the index of its source `char` in `text`; one extra entry for the end.
    char_of_folded_byte: Vec<u32>,
    words: Vec<Span>,
    /// Byte range of each word in `folded`.
    folded_words: Vec<Range<usize>>,
}

impl Utterance {
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self::spelt(text, Vec::new())
    }

    /// The same text with these misspelt words, in order, corrected.
    #[must_use]
    pub fn respelt(&self, words: Vec<Respelt>) -> Self {
        Self::spelt(&self.text, words)
    }

    fn spelt(text: &str, respelt: Vec<Respelt>) -> Self {
        fuel::spend(text.len());
        let mut byte_of_char = Vec::with_capacity(text.len() + 1);
        let mut folded = String::with_capacity(text.len());
        let mut char_of_folded_byte = Vec::with_capacity(text.len() + 1);
        let mut misspelt =
            respelt.iter().map(|one| (one.span, fold(&one.word).chars().collect::<Vec<char>>())).peekable();
        for (index, (byte, character)) in text.char_indices().enumerate() {
            byte_of_char.push(byte);
            while misspelt.next_if(|(span, _)| span.end <= index).is_some() {}
            match misspelt.peek() {
                Some((span, letters)) if span.start <= index => {
                    folded.extend(laid_on(letters, span.len(), index - span.start));
                }
                _ => fold_char(character, |piece| folded.push(piece)),
            }
            char_of_folded_byte.resize(folded.len(), u32::try_from(index).unwrap_or(u32::MAX));
        }
        let chars = byte_of_char.len();
        byte_of_char.push(text.len());
        char_of_folded_byte.push(u32::try_from(chars).unwrap_or(u32::MAX));
        let mut utterance =
            Self { text: text.to_owned(), respelt, byte_of_char, folded, char_of_folded_byte, ..Self::default() };
        utterance.words = utterance.find_words();
        utterance.folded_words = utterance.words.iter().map(|word| utterance.folded_bytes(*word)).collect();
        utterance
    }

    fn find_words(&self) -> Vec<Span> {
        use unicode_segmentation::UnicodeSegmentation as _;
        let mut words = Vec::new();
        let mut char_index = 0;
        for piece in self.text.split_word_bounds() {
            let length = piece.chars().count();
            if piece.chars().any(char::is_alphanumeric) {
                words.push(Span::new(char_index, char_index + length));
            }
            char_index += length;
        }
        words
    }

    fn folded_bytes(&self, word: Span) -> Range<usize> {
        let byte_at = |place: usize| self.char_of_folded_byte.partition_point(|&index| (index as usize) < place);
        byte_at(word.start)..byte_at(word.end)
    }

    /// The text exactly as it was received.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Length in `char`s.
    #[must_use]
    pub fn len(&self) -> usize {
        self.byte_of_char.len() - 1
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Case- and accent-folded text ([`fold`]), for matching; its byte ranges map back with [`Self::span_of_folded`].
    #[must_use]
    pub fn folded(&self) -> &str {
        &self.folded
    }

    /// Words (UAX 29 segments with a letter or a digit), in order. In scripts without spaces a word may be a single
    /// character.
    #[must_use]
    pub fn words(&self) -> &[Span] {
        &self.words
    }

    /// Each of [`Self::words`], folded.
    #[must_use]
    pub fn folded_words(&self) -> impl ExactSizeIterator<Item = &str> {
        self.folded_words.iter().map(|bytes| &self.folded[bytes.clone()])
    }

    /// One of [`Self::folded_words`].
    #[must_use]
    pub fn folded_word(&self, at: usize) -> Option<&str> {
        fuel::spend(1);
        self.folded_words.get(at).map(|bytes| &self.folded[bytes.clone()])
    }

    /// The text under `span`; clamped to the utterance.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        fuel::spend(1 + span.len());
        let last = self.len();
        let (start, end) = (span.start.min(last), span.end.min(last));
        if start >= end { "" } else { &self.text[self.byte_of_char[start]..self.byte_of_char[end]] }
    }

    /// The text under `span`, folded.
    #[must_use]
    pub fn folded_in(&self, span: Span) -> String {
        fuel::spend(1 + span.len());
        let Range { start, end } = self.folded_bytes(span);
        self.folded.get(start..end.min(self.folded.len())).unwrap_or_default().to_owned()
    }

    /// The utterance without spelling corrections, for checks of values against the exact words.
    #[must_use]
    pub fn to_the_letter(&self) -> Cow<'_, Self> {
        if self.respelt.is_empty() { Cow::Borrowed(self) } else { Cow::Owned(Self::new(&self.text)) }
    }

    /// Whether it ends with a question mark.
    #[must_use]
    pub fn ends_as_question(&self) -> bool {
        self.text.trim_end().ends_with(['?', '？'])
    }

    /// The misspelt words and their corrections.
    #[must_use]
    pub fn misspelt(&self) -> &[Respelt] {
        &self.respelt
    }

    /// The text under `span`, with misspelt words corrected.
    #[must_use]
    pub fn meant(&self, span: Span) -> Cow<'_, str> {
        let mut inside = self.misspelt_in(span).peekable();
        if inside.peek().is_none() {
            return Cow::Borrowed(self.slice(span));
        }
        let (mut text, mut said) = (String::new(), span.start);
        for one in inside {
            text.push_str(self.slice(Span::new(said, one.span.start)));
            text.push_str(&one.word);
            said = one.span.end;
        }
        text.push_str(self.slice(Span::new(said, span.end)));
        Cow::Owned(text)
    }

    /// The place in the text of `part`, a span within what is [meant](Self::meant) by `span`. Words stay whole.
    #[must_use]
    pub fn span_of_meant(&self, span: Span, part: Span) -> Span {
        Span::new(self.place_of_meant(span, part.start, false), self.place_of_meant(span, part.end, true))
    }

    fn place_of_meant(&self, span: Span, place: usize, is_end: bool) -> usize {
        let (mut meant, mut said) = (0, span.start);
        for one in self.misspelt_in(span) {
            let begins = meant + one.span.start - said;
            if place < begins || (place == begins && is_end) {
                break;
            }
            let ends = begins + one.word.chars().count();
            if place < ends || (place == ends && is_end) {
                return if is_end { one.span.end } else { one.span.start };
            }
            (meant, said) = (ends, one.span.end);
        }
        said + place - meant
    }

    fn misspelt_in(&self, span: Span) -> impl Iterator<Item = &Respelt> {
        self.respelt.iter().filter(move |one| span.contains(one.span))
    }

    /// `span` extended by signs attached to it without a space: `/srv/data`, `C++`, `*.rs`, `f(x)`, `<div>`. Enclosing
    /// quotes and brackets are not included, except `<` and `>`; nor are marks that end a sentence, nor signs attached
    /// to another word.
    #[must_use]
    pub fn with_signs(&self, span: Span) -> Span {
        if let Some(whole) = self.with_brackets(span) {
            return whole;
        }
        let ends_word = |character: char| character.is_whitespace() || script::is_unspaced(character);
        let before = Span::new(span.start.saturating_sub(MOST_SIGNS + 1), span.start);
        let before: Vec<char> = self.slice(before).chars().rev().collect();
        let behind: Vec<char> = self.slice(Span::new(span.end, span.end + MOST_SIGNS + 1)).chars().collect();
        let signs = |around: &[char]| {
            let count = around.iter().take_while(|c| !c.is_alphanumeric() && !ends_word(**c) && !encloses(**c)).count();
            let is_of_another = around.get(count).is_some_and(|c| c.is_alphanumeric() && !ends_word(*c));
            if is_of_another || count > MOST_SIGNS { 0 } else { count }
        };
        let leading = signs(&before);
        // A sentence does not begin with a mark that ends one: `!important`.
        let parts = |c: &&char| parts_sentence(**c) && !matches!(**c, '!' | '?');
        let leading = leading - before[..leading].iter().rev().take_while(parts).count();
        let trailing = signs(&behind);
        let trailing = trailing - behind[..trailing].iter().rev().take_while(|c| ends_sentence(**c)).count();
        Span::new(span.start - leading, span.end + trailing)
    }

    /// `span` extended by attached signs, if these include brackets that belong to it: each bracket is closed, and they
    /// do not just enclose all of it.
    fn with_brackets(&self, span: Span) -> Option<Span> {
        let is_written =
            |c: &char| !c.is_whitespace() && !c.is_alphanumeric() && !script::is_unspaced(*c) && !quotes(*c);
        let before = Span::new(span.start.saturating_sub(MOST_SIGNS + 1), span.start);
        let behind = Span::new(span.end, span.end + MOST_SIGNS + 1);
        let leading: Vec<char> = self.slice(before).chars().rev().take_while(is_written).collect();
        let trailing: Vec<char> = self.slice(behind).chars().take_while(is_written).collect();
        let is_bracket = |c: &char| BRACKETS.iter().any(|(open, close)| c == open || c == close);
        if !leading.iter().chain(&trailing).any(is_bracket) || leading.len().max(trailing.len()) > MOST_SIGNS {
            return None;
        }
        let is_of_another = |at: Option<usize>| {
            at.and_then(|at| self.slice(Span::new(at, at + 1)).chars().next()).is_some_and(char::is_alphanumeric)
        };
        let (mut start, mut end) = (span.start - leading.len(), span.end + trailing.len());
        if is_of_another(start.checked_sub(1)) || is_of_another(Some(end)) {
            return None;
        }
        let text: Vec<char> = self.slice(Span::new(start, end)).chars().collect();
        let at = |place: usize| text[place - (span.start - leading.len())];
        while end > span.end && ends_sentence(at(end - 1)) {
            end -= 1;
        }
        while start < span.start && parts_sentence(at(start)) {
            start += 1;
        }
        // "(Anna)" is Anna; `<div>` is a tag.
        let stands_around = |open: char, close: char| BRACKETS.contains(&(open, close)) && open != '<';
        while start < span.start && end > span.end && stands_around(at(start), at(end - 1)) {
            (start, end) = (start + 1, end - 1);
        }
        let mut open = Vec::new();
        for place in start..end {
            let sign = at(place);
            if let Some((_, close)) = BRACKETS.iter().find(|(open, _)| *open == sign) {
                open.push(*close);
            } else if BRACKETS.iter().any(|(_, close)| *close == sign) && open.pop() != Some(sign) {
                return None;
            }
        }
        open.is_empty().then_some(Span::new(start, end))
    }

    /// The part of `span` that begins and ends with a character that is not `outside`; empty if all are.
    #[must_use]
    pub fn trimmed(&self, span: Span, outside: impl Fn(char) -> bool) -> Span {
        let text = self.slice(span);
        let inner = text.trim_matches(&outside);
        let before = text.chars().take_while(|character| outside(*character)).count();
        if inner.is_empty() {
            return Span::new(span.start, span.start);
        }
        let start = span.start.min(self.len()) + before;
        Span::new(start, start + inner.chars().count())
    }

    /// The utterance with full-width letters, digits and marks in normal width, and one kind of hyphen, which also
    /// replaces the long-vowel mark that Japanese keyboards put between digits. Works character by character, so that
    /// spans stay valid.
    #[must_use]
    pub fn half_width(&self) -> Cow<'_, Self> {
        if self.text.is_ascii() {
            return Cow::Borrowed(self);
        }
        let mut said: Vec<char> = self.text.chars().map(script::half_width).collect();
        for at in 1..said.len().saturating_sub(1) {
            let is_between_digits = said[at - 1].is_ascii_digit() && said[at + 1].is_ascii_digit();
            if said[at] == 'ー' && is_between_digits {
                said[at] = '-';
            }
        }
        if said.iter().copied().eq(self.text.chars()) {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self::spelt(&said.into_iter().collect::<String>(), self.respelt.clone()))
    }

    /// The utterance as if only `span` had been said.
    #[must_use]
    pub fn only(&self, span: Span) -> Self {
        self.keeping(|index| span.start <= index && index < span.end)
    }

    /// The utterance with only the `char`s at these places; each other one becomes a space, so that spans stay valid.
    pub(crate) fn keeping(&self, is_kept: impl Fn(usize) -> bool) -> Self {
        let text = self.text.chars().enumerate().map(|(index, c)| if is_kept(index) { c } else { ' ' });
        let whole = self.respelt.iter().filter(|one| (one.span.start..one.span.end).all(&is_kept));
        Self::spelt(&text.collect::<String>(), whole.cloned().collect())
    }

    /// The span of a byte range of [`Self::text`]. Both ends must be character boundaries.
    #[must_use]
    pub fn span_of_bytes(&self, bytes: Range<usize>) -> Span {
        let char_at = |byte: usize| self.byte_of_char.partition_point(|&offset| offset < byte);
        Span::new(char_at(bytes.start), char_at(bytes.end))
    }

    /// The span of a byte range of [`Self::folded`].
    #[must_use]
    pub fn span_of_folded(&self, bytes: Range<usize>) -> Span {
        if bytes.is_empty() {
            let at = self.char_of_folded_byte[bytes.start.min(self.folded.len())] as usize;
            return Span::new(at, at);
        }
        let start = self.char_of_folded_byte[bytes.start] as usize;
        let end = self.char_of_folded_byte[bytes.end - 1] as usize + 1;
        Span::new(start, end)
    }
}

/// Most signs before or after a word that may belong to it.
const MOST_SIGNS: usize = 8;

/// Brackets in code and paths, with their closing ones.
const BRACKETS: [(char, char); 4] = [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')];

/// Quotes, and brackets that serve as quotes in their language.
const fn quotes(character: char) -> bool {
    encloses(character) && !matches!(character, '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>')
}

/// Quotes and brackets.
const fn encloses(character: char) -> bool {
    matches!(
        character,
        '"' | '\''
            | '`'
            | '('
            | ')'
            | '['
            | ']'
            | '{'
            | '}'
            | '<'
            | '>'
            | '«'
            | '»'
            | '‹'
            | '›'
            | '“'
            | '”'
            | '„'
            | '‘'
            | '’'
            | '‚'
            | '「'
            | '」'
            | '『'
            | '』'
            | '（'
            | '）'
            | '【'
            | '】'
            | '〈'
            | '〉'
            | '《'
            | '》'
    )
}

/// Marks at the end of a sentence or of a part of it.
const fn ends_sentence(character: char) -> bool {
    matches!(character, '.' | '…') || parts_sentence(character)
}

/// The same without the full stop, which can begin names: `.config`.
const fn parts_sentence(character: char) -> bool {
    matches!(
        character,
        ',' | ';' | ':' | '!' | '?' | '¿' | '¡' | '–' | '—' | '…' | '。' | '、' | '，' | '！' | '？' | '；' | '：'
    )
}

/// The letters of the corrected word that belong to one of the misspelt characters: one for each, and the rest for the
/// last.
fn laid_on(letters: &[char], characters: usize, at: usize) -> &[char] {
    let last = letters.len().saturating_sub(1);
    if at + 1 == characters {
        &letters[at.min(last)..]
    } else if at < last {
        &letters[at..=at]
    } else {
        &[]
    }
}

/// True of two texts that differ at most in case, accents and the white space around them.
#[must_use]
pub fn is_same_text(left: &str, right: &str) -> bool {
    fold(left.trim()) == fold(right.trim())
}

/// True if a text shows nothing: only white space, control characters and zero-width ones.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|character| {
        character.is_whitespace()
            || character.is_control()
            || matches!(character, '\u{200B}'..='\u{200F}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}' | '\u{00AD}')
    })
}

/// FNV-1a, which is the same on each machine and in each version.
pub(crate) fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Folds for comparison: compatibility decomposition, no combining marks, lower case, one kind of apostrophe and
/// hyphen.
///
/// `fold("Zürich") == "zurich"`; idempotent. Whitespace is kept as it is.
#[must_use]
pub fn fold(text: &str) -> String {
    fuel::spend(1 + text.len());
    let mut folded = String::with_capacity(text.len());
    for character in text.chars() {
        fold_char(character, |piece| folded.push(piece));
    }
    folded
}

fn fold_char(character: char, mut push: impl FnMut(char)) {
    if character.is_ascii() {
        push(character.to_ascii_lowercase());
        return;
    }
    for decomposed in std::iter::once(character).nfkd() {
        match decomposed {
            '\u{2018}' | '\u{2019}' | '\u{02BC}' => {
                push('\'');
                continue;
            }
            '\u{2010}'..='\u{2014}' | '\u{2212}' => {
                push('-');
                continue;
            }
            'ß' | 'ẞ' => {
                push('s');
                push('s');
                continue;
            }
            _ => {}
        }
        // Marks that belong to letters in their script (Japanese voicing, Indic vowels) carry meaning: keep those.
        if is_combining_mark(decomposed) && ('\u{0300}'..='\u{036F}').contains(&decomposed) {
            continue;
        }
        for lower in decomposed.to_lowercase() {
            if !('\u{0300}'..='\u{036F}').contains(&lower) {
                push(lower);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_misspelt_word_is_compared_as_it_was_meant_and_stays_as_it_was_said() {
        let said = "pls chnage my tarif, to day";
        let respelt = |start, end, word: &str| Respelt { span: Span::new(start, end), word: word.to_owned() };
        let words = vec![respelt(4, 10, "change"), respelt(14, 19, "Tariff"), respelt(24, 27, "today")];
        let utterance = Utterance::new(said).respelt(words);
        assert_eq!(utterance.text(), said);
        assert_eq!(utterance.folded(), "pls change my tariff, to today");
        assert_eq!(utterance.folded_words().collect::<Vec<_>>(), ["pls", "change", "my", "tariff", "to", "today"]);
        let all = Span::new(0, utterance.len());
        let meant = utterance.meant(all);
        assert_eq!(meant, "pls change my Tariff, to today");
        for (word, span) in Utterance::new(&meant).words().iter().zip(utterance.words()) {
            assert_eq!(utterance.span_of_meant(all, *word), *span);
        }
        for word in utterance.words() {
            let bytes = utterance.folded_bytes(*word);
            assert_eq!(utterance.span_of_folded(bytes), *word);
        }
        let part = utterance.only(Span::new(0, 13));
        assert_eq!(part.folded().trim(), "pls change my");
        assert_eq!(utterance.only(Span::new(0, 16)).folded().trim(), "pls change my ta");
        assert_eq!(utterance.folded_in(Span::new(14, 19)), "tariff");
        assert_eq!(utterance.folded_in(Span::new(24, 99)), "today");
        assert_eq!(utterance.folded_in(Span::new(40, 99)), "");
        assert_eq!(utterance.to_the_letter().folded(), said);
    }

    #[test]
    fn folding_drops_case_and_accents() {
        assert_eq!(fold("Zürich Straße İstanbul"), "zurich strasse istanbul");
        assert_eq!(fold("that’s ﬁne"), "that's fine");
    }

    #[test]
    fn spans_count_scalar_values() {
        let utterance = Utterance::new("née 🎵 Köln");
        let at = utterance.folded().find("koln").expect("folded");
        let span = utterance.span_of_folded(at..at + 4);
        assert_eq!((span, utterance.slice(span)), (Span::new(6, 10), "Köln"));
    }

    #[test]
    fn signs_that_are_written_to_a_word_are_of_it() {
        for (text, word, with_signs) in [
            ("list /srv/data", "srv/data", "/srv/data"),
            ("look into ~/notes.", "notes", "~/notes"),
            ("open .env, please", "env", ".env"),
            ("is it C++?", "C", "C++"),
            ("all *.rs", "rs", "*.rs"),
            ("to @ann!", "ann", "@ann"),
            ("the file (notes)", "notes", "notes"),
            ("say \"hello\".", "hello", "hello"),
            ("¿Ana?", "Ana", "Ana"),
            ("Mary-Ann", "Mary", "Mary"),
            ("「東京」へ", "東京", "東京"),
            ("C#、お願い", "C", "C#"),
            ("search for f(x)", "f(x", "f(x)"),
            ("the word <div>.", "div", "<div>"),
            ("grep [0-9]+", "0-9", "[0-9]+"),
            ("search for !important", "important", "!important"),
            ("see (page 5).", "page 5", "page 5"),
            ("call Bob (urgent)", "call Bob (urgent", "call Bob (urgent)"),
            ("call (Bob or Ann", "Bob or Ann", "Bob or Ann"),
        ] {
            let utterance = Utterance::new(text);
            let at = text.find(word).map(|at| text[..at].chars().count()).expect("it is there");
            let span = utterance.with_signs(Span::new(at, at + word.chars().count()));
            assert_eq!(utterance.slice(span), with_signs, "{text}");
        }
    }

    #[test]
    fn full_width_is_made_half_width() {
        let plain = |text: &str| Utterance::new(text).half_width().into_owned().text().to_owned();
        assert_eq!(plain("〒１５０−０００２　Ａｂｃ！"), "〒150-0002 Abc!");
        assert_eq!(plain("０３ー１２３４ー５６７８、タワー１"), "03-1234-5678、タワー1");
        assert!(matches!(Utterance::new("東京 1-2-3").half_width(), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn folding_is_idempotent(text in "\\PC{0,40}") {
            prop_assert_eq!(fold(&fold(&text)), fold(&text));
        }

        #[test]
        fn every_word_slices_to_itself(text in "\\PC{0,60}") {
            let utterance = Utterance::new(&text);
            let chars: Vec<char> = text.chars().collect();
            for word in utterance.words() {
                let expected: String = chars[word.start..word.end].iter().collect();
                prop_assert_eq!(utterance.slice(*word), expected);
            }
        }

        #[test]
        fn what_alone_was_said_stays_where_it_was(text in "\\PC{0,40}", start in 0_usize..40, length in 0_usize..40) {
            let utterance = Utterance::new(&text);
            let span = Span::new(start, start + length);
            let only = utterance.only(span);
            prop_assert_eq!(only.len(), utterance.len());
            prop_assert_eq!(only.slice(span), utterance.slice(span));
            prop_assert_eq!(only.text().trim(), utterance.slice(span).trim());
        }

        #[test]
        fn half_width_keeps_every_character_in_its_place(text in "[０-９ー−Ａ-ｚa-z0-9　、。東京]{0,30}|\\PC{0,30}") {
            let utterance = Utterance::new(&text);
            let plain = utterance.half_width();
            prop_assert_eq!(plain.len(), utterance.len());
            prop_assert!(matches!(plain.half_width(), Cow::Borrowed(_)));
        }

        #[test]
        fn folded_ranges_map_into_the_text(text in "\\PC{0,40}") {
            let utterance = Utterance::new(&text);
            for (at, piece) in utterance.folded().char_indices() {
                let span = utterance.span_of_folded(at..at + piece.len_utf8());
                prop_assert!(span.len() == 1 && span.end <= utterance.len());
            }
        }
    }
}
