//! The patterns of dialogue acts, as packs write them.
//!
//! Elements are separated by spaces: words (`take/leave off`: either of the first two), classes of words (`@the`),
//! optional words (`it?`), words that a comma may precede (`,but`), holes (`{what}`, `{to}`), numbers (`#number`,
//! `#ordinal`, `#dotted`, `#letter`), and `&`. Words must follow the `&`, but they are not part of the act. An
//! underscore joins the words of one alternative: `id_like/i_want`.

use std::collections::BTreeMap;

use super::PackError;
use crate::text::words::phrase_words;

/// One part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Element {
    Words {
        any: Vec<Vec<String>>,
        is_optional: bool,
        may_be_apart: bool,
    },
    Number,
    Ordinal,
    /// "2."
    Dotted,
    /// "b" of "option b".
    Letter,
    Hole {
        hole: Hole,
        may_be_apart: bool,
    },
    /// The following elements are only looked at.
    Ahead,
}

/// The purpose of a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hole {
    /// The thing that is named: the slot, the old value, the count.
    Named,
    /// What is given for it: the new value.
    Given,
    /// Words that are not needed.
    Passed,
}

/// Words that a language's patterns refer to with `@`.
pub(super) type Classes = BTreeMap<String, Vec<String>>;

pub(super) fn parse(pattern: &str, classes: &Classes, elides: bool) -> Result<Vec<Element>, PackError> {
    let element = |piece| element(piece, classes, elides);
    let elements: Option<Vec<Element>> = pattern.split_whitespace().map(element).collect();
    elements.filter(|elements| !elements.is_empty()).ok_or_else(|| PackError::Pattern(pattern.to_owned()))
}

/// `None` if there is no such class, hole or number, or if the piece contains no word.
fn element(piece: &str, classes: &Classes, elides: bool) -> Option<Element> {
    match piece {
        "&" => return Some(Element::Ahead),
        "#number" => return Some(Element::Number),
        "#ordinal" => return Some(Element::Ordinal),
        "#dotted" => return Some(Element::Dotted),
        "#letter" => return Some(Element::Letter),
        _ => {}
    }
    let (piece, may_be_apart) = piece.strip_prefix(',').map_or((piece, false), |piece| (piece, true));
    if piece.starts_with('#') {
        return None;
    }
    if piece.starts_with('{') {
        return hole(piece).map(|hole| Element::Hole { hole, may_be_apart });
    }
    let (piece, is_optional) = piece.strip_suffix('?').map_or((piece, false), |piece| (piece, true));
    let mut any: Vec<Vec<String>> = Vec::new();
    for one in piece.split('/') {
        let words = |phrase: &str| phrase_words(&phrase.replace('_', " "), elides);
        match one.strip_prefix('@') {
            Some(class) => any.extend(classes.get(class)?.iter().map(|phrase| words(phrase))),
            None => any.push(words(one)),
        }
    }
    any.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
    let is_whole = !any.is_empty() && any.iter().all(|phrase| !phrase.is_empty());
    is_whole.then_some(Element::Words { any, is_optional, may_be_apart })
}

fn hole(name: &str) -> Option<Hole> {
    match name {
        "{what}" | "{old}" | "{count}" => Some(Hole::Named),
        "{to}" | "{new}" | "{rest}" => Some(Hole::Given),
        "{from}" => Some(Hole::Passed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_pattern_is_refused() {
        let classes = Classes::from([("the".to_owned(), vec!["the".to_owned(), "all the".to_owned()])]);
        for pattern in ["", "@a", "change/@a", "#nth", "{it}", "change//put", "?", ","] {
            assert!(parse(pattern, &classes, false).is_err(), "{pattern}");
        }
        let elements = parse("change @the? {what} ,to_the & #number", &classes, false).expect("a pattern");
        let words = |phrase: &str| phrase.split(' ').map(str::to_owned).collect();
        assert_eq!(
            elements,
            [
                Element::Words { any: vec![words("change")], is_optional: false, may_be_apart: false },
                Element::Words { any: vec![words("all the"), words("the")], is_optional: true, may_be_apart: false },
                Element::Hole { hole: Hole::Named, may_be_apart: false },
                Element::Words { any: vec![words("to the")], is_optional: false, may_be_apart: true },
                Element::Ahead,
                Element::Number,
            ]
        );
    }
}
