//! The words of a text, and the model's state for each.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::Span;

/// A word is a character of Chinese or Japanese script, or letters and digits that marks may join ("AB-1093/2",
/// "mara@kauri.nz"), or any other character. The reader was trained with these words: `models/reader/README.md`.
static WORD: LazyLock<Regex> = LazyLock::new(|| {
    let han = r"\p{Han}\p{Hiragana}\p{Katakana}ーｰ";
    let letters = format!(r"[[\p{{L}}\p{{M}}\p{{N}}_]--[{han}]]+");
    let pattern = format!(r"[{han}]|{letters}(?:[./\\\-@:+\#&%=?~*]+{letters})*|\P{{White_Space}}");
    Regex::new(&pattern).expect("the pattern is a constant, and a test reads it")
});

/// Most words of a text that are used: the reader takes time and memory that grow with their square.
const MOST_WORDS: usize = 256;

/// The words of a text, with one model state for each.
#[derive(Debug, Clone, PartialEq)]
pub struct WordStates {
    spans: Vec<Span>,
    dimensions: usize,
    /// One row of `dimensions` per word.
    values: Vec<f32>,
}

/// The tokens of a text: the position of each in the text, in `char`s (an empty range if it has none), and its state, a
/// row of `dimensions`.
pub(super) struct Tokens<'a> {
    pub(super) places: &'a [(usize, usize)],
    pub(super) states: &'a [f32],
    pub(super) dimensions: usize,
    /// The text is longer than the model reads.
    pub(super) is_cut: bool,
}

impl WordStates {
    /// The state of a word is the mean of the tokens that overlap it; zeros if none does. Words that the model did not
    /// read are left out.
    pub(super) fn pool(text: &str, tokens: &Tokens<'_>) -> Self {
        let dimensions = tokens.dimensions;
        let mut spans = words(text);
        if tokens.is_cut {
            let read = tokens.places.iter().map(|place| place.1).max().unwrap_or_default();
            spans.retain(|span| span.end <= read);
        }
        let mut values = vec![0.0; spans.len() * dimensions];
        let mut counts = vec![0.0_f32; spans.len()];
        for (&(start, end), state) in tokens.places.iter().zip(tokens.states.chunks_exact(dimensions.max(1))) {
            let first = spans.partition_point(|span| span.end <= start);
            for word in (first..spans.len()).take_while(|word| start < end && spans[*word].start < end) {
                counts[word] += 1.0;
                let row = &mut values[word * dimensions..(word + 1) * dimensions];
                row.iter_mut().zip(state).for_each(|(sum, value)| *sum += value);
            }
        }
        for (row, count) in values.chunks_exact_mut(dimensions.max(1)).zip(counts) {
            row.iter_mut().for_each(|value| *value /= count.max(1.0));
        }
        Self { spans, dimensions, values }
    }

    /// The same words at other positions.
    #[must_use]
    pub fn at(mut self, place: impl Fn(Span) -> Span) -> Self {
        self.spans.iter_mut().for_each(|span| *span = place(*span));
        self
    }

    /// The positions of the words, in order.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    #[must_use]
    pub const fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The states, row by row.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

/// The first words of a text.
#[must_use]
pub fn words(text: &str) -> Vec<Span> {
    let (mut chars, mut byte) = (0, 0);
    let found = WORD.find_iter(text).take(MOST_WORDS).map(|word| {
        let start = chars + text[byte..word.start()].chars().count();
        chars = start + word.as_str().chars().count();
        byte = word.end();
        Span::new(start, chars)
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(text: &str) -> Vec<String> {
        words(text).iter().map(|span| text.chars().skip(span.start).take(span.len()).collect()).collect()
    }

    #[test]
    fn identifiers_stay_whole_and_characters_stand_alone() {
        assert_eq!(cut("release/2.8 of AB-1093/2, now!"), ["release/2.8", "of", "AB-1093/2", ",", "now", "!"]);
        assert_eq!(cut("明日3名で"), ["明", "日", "3", "名", "で"]);
        assert_eq!(cut("  "), [""; 0]);
    }

    #[test]
    fn a_word_is_the_mean_of_its_tokens() {
        let tokens = Tokens {
            places: &[(0, 0), (0, 2), (2, 4), (5, 6), (0, 0)],
            states: &[9.0, 1.0, 3.0, 5.0, 9.0],
            dimensions: 1,
            is_cut: false,
        };
        let read = WordStates::pool("abcd e !", &tokens);
        assert_eq!(read.spans(), [Span::new(0, 4), Span::new(5, 6), Span::new(7, 8)]);
        assert_eq!(read.values(), [2.0, 5.0, 0.0]);
        let read = WordStates::pool("abcd e !", &Tokens { is_cut: true, ..tokens });
        assert_eq!(read.spans(), [Span::new(0, 4), Span::new(5, 6)], "what was not read is no word");
    }

    proptest! {
        #[test]
        fn words_are_in_order_few_and_within(text in "\\PC{0,300}") {
            let words = words(&text);
            prop_assert!(words.len() <= MOST_WORDS);
            prop_assert!(words.iter().all(|word| !word.is_empty() && word.end <= text.chars().count()));
            prop_assert!(words.windows(2).all(|pair| pair[0].end <= pair[1].start));
        }
    }
}
