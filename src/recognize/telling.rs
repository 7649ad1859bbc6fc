//! Words that tell the entries of a list apart: "the night one" is "night saver", if no other entry has a "night". They
//! count only where the list was asked for, since by themselves they may mean anything.

use std::collections::HashMap;

use serde_json::Value;

use super::{list::stem, pieces::pieces};
use crate::{
    module::{ListSpec, RecognizerId},
    text::{Span, Utterance, fold, tokens::whole_span},
};

/// The largest list of which a person knows the entries.
const MOST_ENTRIES: usize = 50;
/// The least letters of a word that tells entries apart.
const LEAST_LETTERS: usize = 3;

/// The words of the entries of each list.
#[derive(Debug)]
pub(super) struct TellingWords {
    lists: Vec<(RecognizerId, HashMap<String, Entries>)>,
}

/// The entries with a word.
#[derive(Debug)]
enum Entries {
    One(Value),
    Several,
}

impl TellingWords {
    pub(super) fn of<'m>(lists: impl Iterator<Item = (RecognizerId, &'m ListSpec)>) -> Self {
        let lists = lists.filter(|(_, list)| list.instances.len() <= MOST_ENTRIES).map(|(id, list)| {
            let mut words: HashMap<String, Entries> = HashMap::new();
            for instance in &list.instances {
                let expressions = instance.expressions.iter().map(String::as_str).chain(instance.label.as_str());
                for folded in expressions.map(fold) {
                    for piece in pieces(&folded).into_iter().filter(|piece| piece.is_word && is_word(piece.text)) {
                        words
                            .entry(stem(piece.text).to_owned())
                            .and_modify(|of| {
                                if !matches!(of, Entries::One(value) if *value == instance.label) {
                                    *of = Entries::Several;
                                }
                            })
                            .or_insert_with(|| Entries::One(instance.label.clone()));
                    }
                }
            }
            (id, words)
        });
        Self { lists: lists.collect() }
    }

    /// Of each list, the entry that the utterance's words tell from all others, with the first such word.
    pub(super) fn told<'t>(
        &'t self,
        utterance: &Utterance,
        says_nothing: &dyn Fn(Span) -> bool,
    ) -> impl Iterator<Item = (RecognizerId, Span, &'t Value)> {
        let said = pieces(utterance.folded());
        let said: Vec<(&str, Span)> = said
            .iter()
            .filter(|piece| piece.is_word && is_word(piece.text))
            .filter_map(|piece| {
                Some((piece.text, whole_span(utterance, &(piece.start..piece.start + piece.text.len()))?))
            })
            .filter(|(_, span)| !says_nothing(*span))
            .collect();
        let told = move |(id, words): &'t (RecognizerId, HashMap<String, Entries>)| {
            let mut found = said.iter().filter_map(|(word, span)| match words.get(stem(word))? {
                Entries::One(value) => Some((*span, value)),
                Entries::Several => None,
            });
            let (span, value) = found.next()?;
            found.all(|(_, other)| other == value).then_some((*id, span, value))
        };
        self.lists.iter().filter_map(told)
    }
}

fn is_word(text: &str) -> bool {
    text.chars().count() >= LEAST_LETTERS && text.chars().all(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::module::Instance;

    #[test]
    fn one_word_is_enough_where_no_other_entry_has_it() {
        let entry = |label: &str, expressions: &[&str]| Instance {
            label: json!(label),
            expressions: expressions.iter().map(|one| (*one).to_owned()).collect(),
        };
        let list = ListSpec {
            instances: vec![
                entry("night_saver", &["economy tariff"]),
                entry("fixed_12", &["twelve month fix", "fixed for a year"]),
                entry("fixed_24", &["two year fix"]),
            ],
            fuzzy: false,
        };
        let words = TellingWords::of([(RecognizerId::from_index(0), &list)].into_iter());
        let told = |text: &str| {
            let utterance = Utterance::new(text);
            let says_nothing = |span: Span| ["the", "for"].contains(&utterance.slice(span));
            words
                .told(&utterance, &says_nothing)
                .next()
                .map(|(_, span, value)| (utterance.slice(span).to_owned(), value))
        };
        assert_eq!(told("the night one then"), Some(("night".to_owned(), &json!("night_saver"))));
        assert_eq!(told("the one for twelve months"), Some(("twelve".to_owned(), &json!("fixed_12"))));
        // Two entries have it, two entries are named, or only an empty word.
        assert_eq!(told("a year, fixed"), None);
        assert_eq!(told("night or twelve"), None);
        assert_eq!(told("the one for 12"), None);
    }
}
