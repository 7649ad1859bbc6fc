//! A text with its numbers in digits, so that "三丁目" and "3丁目", "two pizzas" and "2 pizzas" are equal; every position
//! maps back.

use std::ops::Range;

use super::words::is_bound;
use crate::{
    recognize::Quantity,
    text::{Span, Utterance},
};

/// See [the module](self). The text is folded.
pub(super) struct InDigits {
    text: String,
    /// Start of each piece in `text`, and the span that it stands for, in order.
    places: Vec<(usize, Span)>,
}

impl InDigits {
    /// `quantities` are those of the utterance, in order.
    pub(super) fn new(utterance: &Utterance, quantities: &[Quantity]) -> Self {
        let mut written = Self { text: String::with_capacity(utterance.folded().len()), places: Vec::new() };
        let mut numbers = quantities.iter().filter(|quantity| quantity.is_number).peekable();
        for (byte, character) in utterance.folded().char_indices() {
            let at = utterance.span_of_folded(byte..byte + character.len_utf8());
            while numbers.next_if(|number| number.span.end <= at.start).is_some() {}
            match numbers.peek().filter(|number| number.span.contains(at)) {
                Some(number) if written.places.last().is_some_and(|(_, span)| *span == number.span) => {}
                Some(number) => {
                    written.places.push((written.text.len(), number.span));
                    written.text.push_str(&number.value.to_string());
                }
                None => {
                    written.places.push((written.text.len(), at));
                    written.text.push(character);
                }
            }
        }
        written
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The span of these bytes in the utterance.
    pub(super) fn span(&self, bytes: Range<usize>) -> Span {
        let place = |byte: usize| {
            let after = self.places.partition_point(|(start, _)| *start <= byte);
            after.checked_sub(1).map_or(Span::new(0, 0), |index| self.places[index].1)
        };
        Span::new(place(bytes.start).start, place(bytes.end.saturating_sub(1)).end)
    }

    /// The place of `value`, at word boundaries.
    pub(super) fn find(&self, value: &Self) -> Option<Span> {
        if !value.text.contains(char::is_alphanumeric) {
            return None;
        }
        let is_whole =
            |(at, found): &(usize, &str)| is_bound(&self.text, *at) && is_bound(&self.text, *at + found.len());
        let (at, found) = self.text.match_indices(&value.text).find(is_whole)?;
        Some(self.span(at..at + found.len()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::recognize::ValueReader;

    fn found(said: &str, value: &str) -> Option<String> {
        let reader = ValueReader::new("en", None);
        let written = |text: &str| {
            let utterance = Utterance::new(text);
            InDigits::new(&utterance, &reader.quantities(&utterance))
        };
        written(said).find(&written(value)).map(|span| Utterance::new(said).slice(span).to_owned())
    }

    #[test]
    fn numbers_are_the_same_in_either_writing() {
        for (said, value, expected) in [
            ("神南一丁目2番3号です", "1丁目2番3号", Some("一丁目2番3号")),
            ("神南1丁目です", "神南一丁目", Some("神南1丁目")),
            ("１２階の部屋", "十二階", Some("１２階")),
            ("二十一階", "一階", None),
            ("一般の部屋", "1般", None),
            ("神南1-2-3", "神南1-2-3", Some("神南1-2-3")),
            ("十二階", "", None),
            ("at twenty-one Jump Street", "21 jump street", Some("twenty-one Jump Street")),
            ("a dozen roses", "12 roses", Some("a dozen roses")),
            ("room 112", "12", None),
        ] {
            assert_eq!(found(said, value).as_deref(), expected, "{value} in {said}");
        }
    }

    proptest! {
        #[test]
        fn every_place_lies_within(said in "[一二十百0-9丁目番がア ]{0,20}|(two |1,|dozen|half ){0,5}|\\PC{0,20}", value in "[一二十0-9丁が]{0,6}") {
            if let Some(found) = found(&said, &value) {
                prop_assert!(!found.is_empty() && said.contains(&found));
            }
        }
    }
}
