//! Texts cut into *pieces*, the units in which list expressions are compared: words of letters and digits, single
//! characters of scripts without spaces (and of Korean, whose particles are glued on), and single symbols.
//!
//! Spaces, hyphens, underscores, apostrophes and dots only separate pieces, so that "New-York", "new  york" and "New
//! York" are one.

use crate::text::{
    is_unspaced,
    tokens::{continues_character, is_invisible},
};

/// A word, character or symbol of an utterance or expression.
#[derive(Debug, Clone)]
pub(super) struct Piece<'t> {
    /// Folded.
    pub(super) text: &'t str,
    /// Where it begins in the folded text.
    pub(super) start: usize,
    /// True for words of scripts with spaces.
    pub(super) is_word: bool,
    /// The "s" of "what's": no expression begins with it.
    pub(super) is_clitic: bool,
}

/// Cuts folded text into pieces.
pub(super) fn pieces<'t>(folded: &'t str) -> Vec<Piece<'t>> {
    #[derive(PartialEq)]
    enum Open {
        Nothing,
        Word,
        Character,
    }
    let mut pieces: Vec<Piece<'t>> = Vec::new();
    let mut open = Open::Nothing;
    let mut apostrophe = false;
    let bytes = folded.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    for (start, character) in folded.char_indices() {
        let end = start + character.len_utf8();
        let extend = |pieces: &mut Vec<Piece<'t>>| {
            if let Some(last) = pieces.last_mut() {
                last.text = &folded[last.start..end];
            }
        };
        if open != Open::Nothing && continues_character(character) {
            extend(&mut pieces);
            continue;
        }
        let piece = |is_word, is_clitic| Piece { text: &folded[start..end], start, is_word, is_clitic };
        if is_unspaced(character) {
            pieces.push(piece(false, false));
            open = Open::Character;
        } else if character.is_alphanumeric() {
            if open == Open::Word {
                extend(&mut pieces);
            } else {
                pieces.push(piece(true, apostrophe));
                open = Open::Word;
            }
        } else {
            // A dot or comma between digits is part of the number.
            let in_number = matches!(character, '.' | ',') && start > 0 && is_digit(start - 1) && is_digit(end);
            let separates = character.is_whitespace()
                || character.is_control()
                || is_invisible(character)
                || (matches!(character, '.' | '-' | '_' | '\'') && !in_number);
            if !separates {
                pieces.push(piece(false, false));
            }
            apostrophe = character == '\'' && open == Open::Word;
            open = Open::Nothing;
            continue;
        }
        apostrophe = false;
    }
    for piece in &mut pieces {
        piece.is_clitic &= matches!(piece.text, "s" | "t" | "d" | "m" | "ll" | "re" | "ve");
    }
    pieces
}
