//! Common words of a language, by which misspelt words are recognized.
//!
//! `scripts/common-words.py` counts them in `models/reader/data`.

use std::collections::BTreeSet;

/// The words of a `common.txt`, each in its usual form within a sentence.
#[derive(Debug)]
pub struct Common {
    /// Words that are so common that a misspelt word may stand for one.
    pub often: Vec<&'static str>,
    /// Other known words.
    pub seldom: Vec<&'static str>,
    /// The words in the other files of the pack: none of them is a typo.
    pub of_pack: Vec<&'static str>,
}

impl Common {
    /// `others` are the other files of the pack.
    pub(super) fn parse(file: &'static str, others: &[&'static str]) -> Self {
        let (often, seldom) = file.split_once("\n\n").unwrap_or(("", file));
        let words = |part: &'static str| part.split_whitespace().collect();
        let letters = |file: &&'static str| file.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
        let of_pack: BTreeSet<&str> = others.iter().flat_map(letters).collect();
        Self { often: words(often), seldom: words(seldom), of_pack: of_pack.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::language::Language;

    #[test]
    fn words_stand_once_and_a_typo_of_a_common_one_is_none() {
        for language in Language::all() {
            let words: Vec<&str> = language.common.often.iter().chain(&language.common.seldom).copied().collect();
            let once: BTreeSet<String> = words.iter().map(|word| word.to_lowercase()).collect();
            assert_eq!(once.len(), words.len(), "{}", language.code);
            assert_eq!(words.is_empty(), language.code == "ja", "{}", language.code);
            assert!(!language.common.of_pack.is_empty());
        }
        let english = &Language::english().common;
        assert!(english.often.contains(&"please") && english.often.contains(&"Tuesday"));
        assert!(!english.seldom.contains(&"adress") && english.seldom.contains(&"adopt"));
    }
}
