//! A text with its kanji numerals in digits, so that "三丁目" and "3丁目" are the same; every place leads back.

use crate::text::{Span, Utterance, fold, numeral};

/// A number in kanji, perhaps with digits among them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Counted {
    pub(super) value: i64,
    pub(super) span: Span,
}

/// Every number in kanji. A part of one is none.
pub(super) fn counted(utterance: &Utterance) -> Vec<Counted> {
    let words = utterance.words();
    let folded: Vec<String> = words.iter().map(|word| fold(utterance.slice(*word))).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let touches = |next: &usize| *next == at || words[*next - 1].end == words[*next].start;
        let glued = || (at..words.len()).take_while(touches).map(|next| folded[next].as_str());
        match numeral::counted(glued).filter(|numeral| numeral.has_kanji) {
            Some(numeral) => {
                let span = Span::new(words[at].start, words[at + numeral.pieces - 1].end);
                found.push(Counted { value: numeral.value, span });
                at += numeral.pieces;
            }
            None => at += 1,
        }
    }
    found
}

/// Where `value` stands in the utterance if both write their numbers in digits; `None` if neither has one in kanji.
pub(super) fn find(utterance: &Utterance, value: &str) -> Option<Span> {
    let said = InDigits::new(utterance);
    let wanted = InDigits::new(&Utterance::new(value.trim()));
    if wanted.text.is_empty() || !(said.has_kanji || wanted.has_kanji) {
        return None;
    }
    let is_digit = |at: Option<char>| at.is_some_and(|c| c.is_ascii_digit());
    said.text.match_indices(&wanted.text).find_map(|(at, found)| {
        let end = at + found.len();
        // "12" is not in "112".
        let cuts_before = is_digit(found.chars().next()) && is_digit(said.text[..at].chars().next_back());
        let cuts_behind = is_digit(found.chars().next_back()) && is_digit(said.text[end..].chars().next());
        let (first, last) = (said.place(at)?, said.place(end - 1)?);
        (!cuts_before && !cuts_behind).then(|| Span::new(first.start, last.end))
    })
}

struct InDigits {
    /// Folded.
    text: String,
    /// Where each piece begins in `text`, and what it stands for, in order.
    places: Vec<(usize, Span)>,
    has_kanji: bool,
}

impl InDigits {
    fn new(utterance: &Utterance) -> Self {
        let numbers = counted(utterance);
        let mut written = Self { text: String::new(), places: Vec::new(), has_kanji: !numbers.is_empty() };
        let mut numbers = numbers.into_iter().peekable();
        let mut at = 0;
        while at < utterance.len() {
            let number = numbers.next_if(|number| number.span.start == at);
            let span = number.map_or(Span::new(at, at + 1), |number| number.span);
            written.places.push((written.text.len(), span));
            match number {
                Some(number) => written.text.push_str(&number.value.to_string()),
                None => written.text.push_str(&fold(utterance.slice(span))),
            }
            at = span.end;
        }
        written
    }

    /// What the piece at this byte stands for.
    fn place(&self, byte: usize) -> Option<Span> {
        let after = self.places.partition_point(|(start, _)| *start <= byte);
        self.places.get(after.checked_sub(1)?).map(|(_, span)| *span)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(said: &str, value: &str) -> Option<String> {
        let utterance = Utterance::new(said);
        find(&utterance, value).map(|span| utterance.slice(span).to_owned())
    }

    #[test]
    fn numbers_are_the_same_in_either_writing() {
        for (said, value, expected) in [
            ("神南一丁目2番3号です", "1丁目2番3号", Some("一丁目2番3号")),
            ("神南1丁目です", "神南一丁目", Some("神南1丁目")),
            ("１２階の部屋", "十二階", Some("１２階")),
            ("二十一階", "一階", None),
            ("一般の部屋", "1般", None),
            ("神南1-2-3", "神南1-2-3", None),
            ("十二階", "", None),
        ] {
            assert_eq!(found(said, value).as_deref(), expected, "{value} in {said}");
        }
    }

    proptest! {
        #[test]
        fn every_place_lies_within(said in "[一二十百0-9丁目番がア ]{0,20}|\\PC{0,20}", value in "[一二十0-9丁が]{0,6}") {
            let utterance = Utterance::new(&said);
            if let Some(span) = find(&utterance, &value) {
                prop_assert!(span.start < span.end && span.end <= utterance.len());
            }
        }
    }
}
