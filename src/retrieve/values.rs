//! Replaces values by placeholders in languages without spaces, for BM25.
//!
//! In such a language a value has as many terms as characters and pairs of them, nearly none of which occur in a
//! template: an address would drown the few words around it. So a placeholder for the kind of value replaces it on both
//! sides: where a recognizer found it in the utterance, and where a template has a slot of that recognizer.

use std::borrow::Cow;

use crate::{
    language::facts::is_unspaced_language,
    module::{Exemplar, Function, RecognizerId, TemplatePiece},
    recognize::Mention,
    text::{Span, Utterance},
};

/// The first of the private-use characters that serve as placeholders, and their number.
const FIRST: u32 = 0xF_0000;
const MOST: u32 = 0xFFFE;

/// The placeholder for values of this recognizer.
fn placeholder(recognizer: RecognizerId) -> Option<char> {
    let index = u32::try_from(recognizer.index()).ok().filter(|index| *index < MOST)?;
    char::from_u32(FIRST + index)
}

pub(super) fn is_placeholder(character: char) -> bool {
    (FIRST..FIRST + MOST).contains(&u32::from(character))
}

/// A template with placeholders for its slots; a slot without a recognizer becomes a gap.
pub(super) fn of_template(function: &Function, exemplar: &Exemplar) -> String {
    let mut text = String::new();
    for piece in &exemplar.pieces {
        match piece {
            TemplatePiece::Text(words) => text.push_str(words),
            TemplatePiece::Slot { slot, .. } => {
                text.push(' ');
                let recognizers = slot.map_or(&[][..], |slot| &function.slot(slot).recognizers);
                text.extend(recognizers.iter().filter_map(|recognizer| placeholder(*recognizer)));
            }
        }
    }
    text
}

/// The words in `span`, with placeholders for recognized values in a language without spaces; with corrected spelling
/// in others. Of overlapping mentions the leftmost, longest counts. `mentions` are sorted by start, then longest first.
#[must_use]
pub fn of_utterance<'u>(language: &str, utterance: &'u Utterance, span: Span, mentions: &[Mention]) -> Cow<'u, str> {
    if !is_unspaced_language(language) {
        return utterance.meant(span);
    }
    let mut found: Vec<&Mention> = Vec::new();
    // By start, then longest first. Unlikely mentions stay words.
    for mention in mentions.iter().filter(|mention| mention.is_likely() && span.contains(mention.span)) {
        if found.last().is_none_or(|last| last.span == mention.span || last.span.end <= mention.span.start) {
            found.push(mention);
        }
    }
    let mut said: Vec<char> = utterance.slice(span).chars().collect();
    for mention in &found {
        said[mention.span.start - span.start..mention.span.end - span.start].fill(' ');
    }
    Cow::Owned(said.into_iter().chain(found.iter().filter_map(|mention| placeholder(mention.recognizer))).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn mention(recognizer: usize, span: Span, score: f32) -> Mention {
        let recognizer = RecognizerId::from_index(recognizer);
        Mention {
            recognizer,
            span,
            text: String::new(),
            value: Value::Null,
            others: Vec::new(),
            unread: Vec::new(),
            score,
        }
    }

    #[test]
    fn kinds_stand_for_values_in_languages_without_spaces_only() {
        let utterance = Utterance::new("東京都渋谷区に送って");
        let mentions = [
            mention(0, Span::new(0, 3), 1.0),
            mention(2, Span::new(1, 2), 1.0),
            mention(1, Span::new(3, 6), 1.0),
            mention(3, Span::new(7, 8), 0.3),
        ];
        let whole = Span::new(0, utterance.len());
        let of = |language: &str, span| of_utterance(language, &utterance, span, &mentions).into_owned();
        assert_eq!(of("ja", whole), "      に送って\u{F0000}\u{F0001}");
        assert_eq!(of("ja", Span::new(3, 7)), "   に\u{F0001}");
        assert_eq!(of("en", whole), utterance.text());
    }
}
