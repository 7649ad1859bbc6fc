//! The patterns of moves, as tables write them.
//!
//! Elements stand apart by spaces: words (`take/leave off`: either of the first two), classes of words (`@the`), what may
//! be missing (`it?`), what a comma may come before (`,but`), holes (`{what}`, `{to}`), numbers (`#number`, `#ordinal`, `#dotted`,
//! `#letter`), and `&`, behind which words must follow without being part of the move. An underscore joins the words of
//! one alternative: `id_like/i_want`.

use crate::recognize::acts::words::words;

/// One part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Element {
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
    /// What follows is looked at only.
    Ahead,
}

/// What a hole is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hole {
    /// What is spoken of: the slot, the old value, the count.
    Named,
    /// What is said of it: the new value.
    Given,
    /// Nothing that anybody needs.
    Passed,
}

/// Words that a language's patterns name by `@`.
pub(crate) type Class = (&'static str, &'static str);

/// Reads one pattern. Tables are ours: what does not parse is a word.
pub(crate) fn parse(pattern: &str, classes: &[Class], elides: bool) -> Vec<Element> {
    pattern.split_whitespace().map(|piece| element(piece, classes, elides)).collect()
}

fn element(piece: &str, classes: &[Class], elides: bool) -> Element {
    match piece {
        "&" => return Element::Ahead,
        "#number" => return Element::Number,
        "#ordinal" => return Element::Ordinal,
        "#dotted" => return Element::Dotted,
        "#letter" => return Element::Letter,
        _ => {}
    }
    let (piece, may_be_apart) = piece.strip_prefix(',').map_or((piece, false), |piece| (piece, true));
    if let Some(hole) = hole(piece) {
        return Element::Hole { hole, may_be_apart };
    }
    let (piece, is_optional) = piece.strip_suffix('?').map_or((piece, false), |piece| (piece, true));
    let class = |name: &str| classes.iter().find(|(class, _)| *class == name).map(|(_, words)| *words);
    let mut any: Vec<Vec<String>> = piece
        .split('/')
        .flat_map(|one| class(one).unwrap_or(one).split('/'))
        .map(|phrase| phrase_words(phrase, elides))
        .filter(|phrase| !phrase.is_empty())
        .collect();
    any.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
    Element::Words { any, is_optional, may_be_apart }
}

fn hole(name: &str) -> Option<Hole> {
    match name {
        "{what}" | "{old}" | "{count}" => Some(Hole::Named),
        "{to}" | "{new}" | "{rest}" => Some(Hole::Given),
        "{from}" => Some(Hole::Passed),
        _ => None,
    }
}

/// The words of a phrase whose words an underscore may join.
pub(crate) fn phrase_words(phrase: &str, elides: bool) -> Vec<String> {
    words(&phrase.replace('_', " "), elides).into_iter().map(|word| word.text).collect()
}
