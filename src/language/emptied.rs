//! Packs with one of their lists left out, to measure the effect of that list: see [`crate::ablation`].

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, PoisonError},
};

use toml::{Table, Value};

use super::{Language, PACKS, Pack, PackTexts};
use crate::{
    ablation,
    text::{Utterance, is_unspaced},
};

/// The prefix of switches that empty a list.
const PACK: &str = "pack.";
/// The lists that are left out as a whole, by file. In all other files, entries are left out by their role.
const FILES: [(&str, fn(&PackTexts) -> &'static str); 3] =
    [("words", |files| files.words), ("effects", |files| files.effects), ("replies", |files| files.replies)];
/// Tables of these files whose entries are read by role, or when a module is loaded.
const OTHERS: [&str; 4] = ["replies.words", "words.slots", "words.names", "words.numbers"];

/// The pack without the list that is switched off; `None` if no list is.
pub(super) fn language(pack: &'static Pack) -> Option<&'static Language> {
    static MADE: LazyLock<Mutex<HashMap<(String, &'static str), &'static Language>>> = LazyLock::new(Mutex::default);
    let list = ablation::off()?.strip_prefix(PACK)?.to_owned();
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    Some(*made.entry((list, pack.code)).or_insert_with_key(|(list, _)| &*Box::leak(Box::new(without(pack, list)))))
}

fn without(pack: &Pack, list: &str) -> Language {
    let [words, effects, replies] = FILES.map(|(name, text)| {
        let text = text(&pack.files);
        let path = list.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
        let emptied = path.and_then(|path| {
            let mut table: Table = text.parse().ok()?;
            empty(&mut table, &path.split('.').collect::<Vec<_>>())?;
            toml::to_string(&table).ok()
        });
        emptied.map_or(text, |emptied| &*emptied.leak())
    });
    let files = PackTexts { words, effects, replies, ..pack.files };
    Language::parse(pack.code, &files).expect("a pack with a list without entries")
}

fn empty(table: &mut Table, path: &[&str]) -> Option<()> {
    match (path, table.get_mut(*path.first()?)?) {
        ([_], Value::Array(entries)) => entries.clear(),
        ([_, rest @ ..], Value::Table(inner)) => return empty(inner, rest),
        _ => return None,
    }
    Some(())
}

/// The switches of lists with an entry that occurs in one of these texts, in the language of this code or in English.
pub(crate) fn said(code: &str, texts: &[&str]) -> Vec<String> {
    let codes = [Language::or_english(code).code, Language::english().code];
    let spaced: Vec<String> = texts.iter().map(|text| spaced(text)).collect();
    let is_said = |entry: &str| match entry.contains(is_unspaced) {
        true => texts.iter().any(|text| text.contains(entry)),
        false => spaced.iter().any(|text| text.contains(&self::spaced(entry))),
    };
    let mut found: Vec<String> = Vec::new();
    for pack in PACKS.iter().filter(|pack| codes.contains(&pack.code)) {
        for (name, text) in FILES {
            let table: Table = text(&pack.files).parse().unwrap_or_default();
            lists(name, &table, &mut |path, entries| {
                if entries.iter().filter_map(Value::as_str).any(is_said) {
                    found.push(format!("{PACK}{path}"));
                }
            });
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn lists(path: &str, table: &Table, found: &mut dyn FnMut(&str, &[Value])) {
    for (key, value) in table {
        let path = format!("{path}.{key}");
        match value {
            _ if OTHERS.contains(&&*path) => {}
            Value::Array(entries) => found(&path, entries),
            Value::Table(inner) => lists(&path, inner, found),
            _ => {}
        }
    }
}

fn spaced(text: &str) -> String {
    let words: Vec<String> = Utterance::new(text).folded_words().map(str::to_owned).collect();
    format!(" {} ", words.join(" "))
}
