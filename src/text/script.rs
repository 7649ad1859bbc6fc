//! Properties of scripts that do not separate words by spaces.

/// True for letters of scripts that are written without spaces between words (or, as Korean, with suffixes glued on).
#[must_use]
pub const fn is_unspaced(character: char) -> bool {
    matches!(character,
        '\u{0E00}'..='\u{0EFF}' // Thai, Lao
        | '\u{1000}'..='\u{109F}' // Myanmar
        | '\u{1100}'..='\u{11FF}' // Hangul letters
        | '\u{1780}'..='\u{17FF}' // Khmer
        | '\u{3005}'..='\u{3007}' // 々〆〇
        | '\u{3040}'..='\u{30FA}' // kana, without the dot between words
        | '\u{30FC}'..='\u{30FF}'
        | '\u{3130}'..='\u{318F}' // Hangul letters that stand alone
        | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}' // Han
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7FF}' // Hangul syllables
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}')
}

/// True for katakana and the marks within its words. A run of katakana is one word, unlike other runs without spaces.
#[must_use]
pub const fn is_katakana(character: char) -> bool {
    matches!(character, '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}')
}

/// True for Han characters, each of which means something by itself.
#[must_use]
pub const fn is_han(character: char) -> bool {
    matches!(character, '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// The normal-width form of a full-width character, and `-` for any hyphen or minus; other characters unchanged.
#[must_use]
pub fn half_width(character: char) -> char {
    match character {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(character) - 0xFEE0).unwrap_or(character),
        '\u{3000}' => ' ',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        _ => character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_told_apart() {
        assert!("東京へ行くガム々〆ไทย".chars().all(is_unspaced));
        assert!(!"Köln, 12 Привет ・、。".chars().any(is_unspaced));
        assert!("ラーメンヴ".chars().all(is_katakana) && !"らめん・拉麺".chars().any(is_katakana));
    }
}
