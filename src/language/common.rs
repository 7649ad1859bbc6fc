//! Words that people say in a language, by which misspelt ones are told.
//!
//! `scripts/common-words.py` counts them in `models/reader/data`.

/// The words of a `common.txt`, each as it is mostly written within a sentence.
#[derive(Debug)]
pub struct Common {
    /// Said so often that a misspelt word may stand for one.
    pub often: Vec<&'static str>,
    /// The others that are known to be words.
    pub seldom: Vec<&'static str>,
}

impl Common {
    pub(super) fn parse(file: &'static str) -> Self {
        let (often, seldom) = file.split_once("\n\n").unwrap_or((file, ""));
        let words = |part: &'static str| part.split_whitespace().collect();
        Self { often: words(often), seldom: words(seldom) }
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
        }
        let english = &Language::english().common;
        assert!(english.often.contains(&"please") && english.often.contains(&"Tuesday"));
        assert!(!english.seldom.contains(&"adress") && english.seldom.contains(&"adopt"));
    }
}
