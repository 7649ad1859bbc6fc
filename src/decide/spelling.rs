//! Finds misspelt words and replaces them by words of the module or its language.
//!
//! A word is strange if neither the module nor the language has it in any form. Stems are compared, so that an
//! inflected word is not strange. A strange word is replaced by the nearest word of the module's own texts, or by a
//! common word. Values keep their spelling: lists forgive misspellings themselves, and text that is copied from the
//! utterance stays as it was said.

use std::{
    cmp::Reverse,
    sync::{LazyLock, OnceLock},
};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    ablation,
    decide::vocabulary,
    language::{Language, common::Common},
    module::Module,
    recognize::{Mention, certainty::Certainty},
    retrieve::Analyzer,
    text::{Respelt, Span, Utterance, fold},
};

/// The highest certainty of a value that is read from a misspelt word; also of a list entry that is only near to what
/// was said.
pub(crate) const MISSPELT: Certainty = Certainty::Usual;
/// The fewest letters of a word that may be misspelt; of one that may stand for a merely common word; and of one with
/// two edits (otherwise one edit, as in languages of which not nearly all words are known).
const SHORTEST: usize = 4;
const SHORTEST_COMMON: usize = 5;
const TWO_EDITS: usize = 8;
/// Longer words are not looked at.
const LONGEST: usize = 24;
/// The most strange words of an utterance that are looked at. A text with more is in another language, or is not a
/// text.
const MOST_STRANGE: usize = 16;
/// The most words of one module with the same first letter and length. With more, some misspellings are not found.
const MOST_ALIKE: usize = 512;
/// The marks that may stand beside a word. With any other beside it, the word is part of something: "tom@exmaple",
/// "cart-v2".
const MARKS: &[char] = &['.', ',', ';', ':', '!', '?', '(', ')', '"', '“', '”', '„', '«', '»', '¿', '¡', '…', '–', '—'];
/// The marks behind which a sentence begins.
const STOPS: &[char] = &['.', '!', '?', ':', '¿', '¡', '…', '"', '“', '„', '«'];

/// The words by which misspelt words of one module are found. Immutable.
#[derive(Debug)]
pub struct Spelling {
    language: Option<&'static OfLanguage>,
    own: SpellingIndex,
    stems: FxHashSet<String>,
}

struct OfLanguage {
    analyzer: Analyzer,
    stems: FxHashSet<String>,
    often: SpellingIndex,
}

impl std::fmt::Debug for OfLanguage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("OfLanguage").field("stems", &self.stems.len()).finish_non_exhaustive()
    }
}

/// Words by their first letter and their length: the first letter of a misspelt word must be right.
#[derive(Debug, Default)]
struct SpellingIndex(FxHashMap<(char, usize), FxHashMap<String, SpelledWord>>);

#[derive(Debug, Default)]
struct SpelledWord {
    written: String,
    /// It is written with a capital letter within a sentence.
    is_capital: bool,
    count: usize,
}

/// The word tables by language code; each is made when a module in that language is loaded.
static LANGUAGES: LazyLock<FxHashMap<&'static str, OnceLock<OfLanguage>>> =
    LazyLock::new(|| Language::all().map(|language| (language.code, OnceLock::new())).collect());

/// A word that is neither the module's nor the language's.
struct Strange<'u> {
    span: Span,
    word: &'u str,
    folded: &'u str,
    /// It is written with a capital letter within a sentence: a name, in most languages.
    is_capital: bool,
}

impl Spelling {
    pub(crate) fn new(module: &Module) -> Self {
        let (mut own, mut stems) = (SpellingIndex::default(), FxHashSet::default());
        let language = Language::of(module.language()).and_then(OfLanguage::of);
        let Some(language) = language else { return Self { language, own, stems } };
        for text in module.functions.iter().flat_map(vocabulary::texts) {
            let characters: Vec<char> = text.chars().collect();
            let text = Utterance::new(&text);
            for span in text.words() {
                let word = text.slice(*span);
                stems.extend(language.stem(word));
                let is_capital = word.starts_with(char::is_uppercase) && !begins_sentence(&characters, span.start);
                own.add(word, is_capital);
            }
        }
        Self { language: Some(language), own, stems }
    }

    /// The misspelt words of the utterance, except in the values that `mentions` finds.
    pub(crate) fn misspelt<'m>(
        &self,
        utterance: &Utterance,
        mentions: impl FnOnce() -> &'m Vec<Mention>,
    ) -> Vec<Respelt> {
        let Some(language) = self.language else { return Vec::new() };
        let strange = self.strange(language, utterance);
        if strange.is_empty() || strange.len() > MOST_STRANGE {
            return Vec::new();
        }
        let mentions = mentions();
        let is_value = |span: Span| mentions.iter().any(|mention| mention.span.overlaps(span));
        let words = strange.iter().filter(|strange| !is_value(strange.span));
        let meant = |strange: &Strange<'_>| ablation::found("spelling", self.meant(language, strange));
        words.filter_map(|strange| Some(Respelt { span: strange.span, word: meant(strange)? })).collect()
    }

    fn strange<'u>(&self, language: &OfLanguage, utterance: &'u Utterance) -> Vec<Strange<'u>> {
        let characters: Vec<char> = utterance.text().chars().collect();
        let is_small = characters.iter().any(|character| character.is_lowercase());
        let is_apart = |at: Option<usize>| {
            let character = at.and_then(|at| characters.get(at));
            character.is_none_or(|character| character.is_whitespace() || MARKS.contains(character))
        };
        let words = utterance.words().iter().zip(utterance.folded_words()).filter_map(|(span, folded)| {
            let word = utterance.slice(*span);
            let is_plain =
                (SHORTEST..=LONGEST).contains(&folded.chars().count()) && word.chars().all(char::is_alphabetic);
            let is_acronym = is_small && !word.contains(char::is_lowercase);
            let is_alone = is_apart(span.start.checked_sub(1)) && is_apart(Some(span.end));
            if !is_plain || is_acronym || !is_alone || self.knows(language, word) {
                return None;
            }
            let is_capital =
                is_small && word.starts_with(char::is_uppercase) && !begins_sentence(&characters, span.start);
            Some(Strange { span: *span, word, folded, is_capital })
        });
        words.take(MOST_STRANGE + 1).collect()
    }

    fn knows(&self, language: &OfLanguage, word: &str) -> bool {
        let stem = language.stem(word);
        stem.is_none_or(|stem| language.stems.contains(&stem) || self.stems.contains(&stem))
    }

    /// The word that replaces a strange one. Of equally near words, one of the module's own comes first, then one with
    /// the same letters, then the most common.
    fn meant(&self, language: &OfLanguage, strange: &Strange<'_>) -> Option<String> {
        let length = strange.folded.chars().count();
        let most = if length >= TWO_EDITS && language.is_well_known() { 2 } else { 1 };
        let own = self.own.near(strange.folded, most).map(|(edits, folded, word)| (edits, false, folded, word));
        let often = language.often.near(strange.folded, most).map(|(edits, folded, word)| (edits, true, folded, word));
        let near = own.chain(often.filter(|_| length >= SHORTEST_COMMON));
        let best = near.filter(|(.., word)| word.is_capital || !strange.is_capital).min_by_key(
            |(edits, is_common, folded, word)| {
                (*edits, *is_common, letters(folded) != letters(strange.folded), Reverse(word.count), *folded)
            },
        );
        best.map(|(.., word)| word.as_in(strange.word))
    }
}

impl OfLanguage {
    /// `None` if the words of the language are not known.
    fn of(language: &'static Language) -> Option<&'static Self> {
        let known = LANGUAGES.get(language.code)?.get_or_init(|| Self::new(language));
        (!language.common.seldom.is_empty()).then_some(known)
    }

    fn new(language: &Language) -> Self {
        let Common { often, seldom, of_pack } = &language.common;
        let mut known = Self {
            analyzer: Analyzer::new(language.code),
            stems: FxHashSet::default(),
            often: SpellingIndex::default(),
        };
        known.stems = often.iter().chain(seldom).chain(of_pack).filter_map(|word| known.stem(word)).collect();
        often.iter().for_each(|word| known.often.add(word, word.starts_with(char::is_uppercase)));
        known
    }

    /// Nearly all words of the language are known: a strange word is a typo, and may stand for any common word.
    fn is_well_known(&self) -> bool {
        !self.often.0.is_empty()
    }

    fn stem(&self, word: &str) -> Option<String> {
        let mut stem = None;
        self.analyzer.terms(word, |term| stem = Some(term));
        stem
    }
}

impl SpellingIndex {
    fn add(&mut self, word: &str, is_capital: bool) {
        let folded = fold(word);
        let Some(key) = key(&folded) else { return };
        let alike = self.0.entry(key).or_default();
        if alike.len() < MOST_ALIKE || alike.contains_key(&folded) {
            let known = alike
                .entry(folded)
                .or_insert_with(|| SpelledWord { written: word.to_lowercase(), ..SpelledWord::default() });
            known.count += 1;
            known.is_capital |= is_capital;
        }
    }

    /// The words within this many edits of the given one, with the number of edits.
    fn near(&self, folded: &str, most: usize) -> impl Iterator<Item = (usize, &String, &SpelledWord)> {
        let length = folded.chars().count();
        let lengths = length.saturating_sub(most)..=length + most;
        let first = folded.chars().next();
        let alike = lengths.filter_map(move |length| self.0.get(&(first?, length))).flatten();
        let measured = alike.map(move |(known, word)| (strsim::osa_distance(folded, known), known, word));
        measured.filter(move |(edits, ..)| *edits <= most)
    }
}

impl SpelledWord {
    /// The word in the capitalization of the one that it replaces.
    fn as_in(&self, strange: &str) -> String {
        if !strange.contains(char::is_lowercase) {
            return self.written.to_uppercase();
        }
        let mut letters = self.written.chars();
        match letters.next() {
            Some(first) if strange.starts_with(char::is_uppercase) => first.to_uppercase().chain(letters).collect(),
            _ => self.written.clone(),
        }
    }
}

/// Whether nothing but the end of a sentence stands before this place.
fn begins_sentence(characters: &[char], at: usize) -> bool {
    let before = characters[..at].iter().rfind(|character| !character.is_whitespace());
    before.is_none_or(|before| STOPS.contains(before))
}

/// The key under which a word is found; `None` for a word that no misspelt word can stand for.
fn key(folded: &str) -> Option<(char, usize)> {
    let length = folded.chars().count();
    let is_word = (SHORTEST - 1..=LONGEST).contains(&length) && folded.chars().all(char::is_alphabetic);
    folded.chars().next().filter(|_| is_word).map(|first| (first, length))
}

fn letters(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        module::{Limits, ModuleName, load},
        text::fuel,
    };

    fn spelling(language: &str, exemplars: &str) -> Spelling {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        write("schema.json", r#"[{"name": "f", "description": ""}]"#);
        write("module.toml", &format!("language = \"{language}\""));
        write("exemplars.json", &format!(r#"{{"f": [{exemplars}]}}"#));
        Spelling::new(&load(directory.path(), ModuleName::new("m").unwrap(), &Limits::default()).unwrap())
    }

    fn read(spelling: &Spelling, said: &str) -> String {
        let utterance = Utterance::new(said);
        let misspelt = spelling.misspelt(&utterance, || const { &Vec::new() });
        utterance.respelt(misspelt).meant(Span::new(0, said.chars().count())).into_owned()
    }

    #[test]
    fn strange_words_are_read_as_those_of_the_module_or_as_common_ones() {
        let english = spelling("en", r#""change my tariff", "renew my books", "unlock the gate""#);
        for (said, meant) in [
            ("pls chnage my tarif", "pls change my tariff"),
            ("RENW MY BOKS", "RENEW MY BOOKS"),
            ("can you chagne it on tusday", "can you change it on tuesday"),
            ("the tarif, on Tusday", "the tariff, on Tuesday"),
            ("Chnage it. Chnage it", "Change it. Change it"),
        ] {
            assert_eq!(read(&english, said), meant);
        }
        let german = spelling("de", r#""ich möchte meinen Reisepass verlängern""#);
        assert_eq!(read(&german, "mein Reisepas, bitte verlängren"), "mein Reisepass, bitte verlängern");
    }

    #[test]
    fn words_names_codes_and_inflected_forms_stay() {
        let english = spelling("en", r#""change my tariff", "assign it""#);
        for said in [
            "I delegate it to you, he didnt want it",
            "changing tariffs, changed twice",
            "for Chango and Tarik",
            "CHNG-77, tarif@exmaple.com, tarif-v2, x/tarif",
            "unassign them",
            "a tar, an arif",
        ] {
            assert_eq!(read(&english, said), said);
        }
        let spanish = spelling("es", r#""cancelar mi pedido""#);
        assert_eq!(read(&spanish, "no canceles mis pedidos"), "no canceles mis pedidos");
        let german = spelling("de", r#""ich will es wieder lesen", "jetzt schaden""#);
        assert_eq!(read(&german, "weder heute noch morgen, schlafen"), "weder heute noch morgen, schlafen");
        // The words of these languages are not known.
        for code in ["ja", "sv"] {
            assert_eq!(read(&spelling(code, r#""byt tariff""#), "byt tarif"), "byt tarif");
        }
    }

    #[test]
    fn values_stay_and_long_texts_cost_in_proportion() {
        let english = spelling("en", r#""change my tariff""#);
        let utterance = Utterance::new("chnage tarif");
        let mentions = vec![Mention {
            recognizer: crate::module::RecognizerId::from_index(0),
            span: Span::new(7, 12),
            text: "tarif".into(),
            value: "tarif".into(),
            others: Vec::new(),
            unread: Vec::new(),
            score: 1.0,
        }];
        let misspelt = english.misspelt(&utterance, || &mentions);
        assert_eq!(misspelt, [Respelt { span: Span::new(0, 6), word: "change".to_owned() }]);
        let cost = |times: usize| {
            let utterance = Utterance::new(&"chnage my tarif ".repeat(times));
            fuel::of(|| drop(english.misspelt(&utterance, || const { &Vec::new() })))
        };
        assert!(cost(500) < 12 * cost(50), "{} {}", cost(500), cost(50));
        assert_eq!(read(&english, &"chnage ".repeat(500)), "chnage ".repeat(500));
    }
}
