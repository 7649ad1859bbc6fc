//! What a pack must contain.

use std::{collections::BTreeSet, fs, path::Path};

use super::*;
use crate::text::{fold, tokens::folded_tokens, words::phrase_words};

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/language")
}

fn table(code: &str, file: &str) -> toml::Table {
    let path = root().join(code).join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every list of texts of a file, with the path to it.
fn lists(value: &toml::Value, path: &str, found: &mut Vec<(String, Vec<String>)>) {
    match value {
        toml::Value::Table(table) => {
            table.iter().for_each(|(key, value)| lists(value, &format!("{path}.{key}"), found));
        }
        toml::Value::Array(items) => match items.iter().map(|item| item.as_str().map(str::to_owned)).collect() {
            Some(texts) => found.push((path.to_owned(), texts)),
            None => {
                items.iter().enumerate().for_each(|(at, item)| lists(item, &format!("{path}[{at}]"), found));
            }
        },
        _ => {}
    }
}

const FILES: [&str; 8] = [
    "acts.toml",
    "courtesy.toml",
    "effects.toml",
    "negation.toml",
    "replies.toml",
    "sentences.toml",
    "values.toml",
    "words.toml",
];

#[test]
fn every_folder_is_a_pack() {
    let folders = fs::read_dir(root()).expect("a directory").map(|entry| entry.expect("an entry").path());
    let folders: BTreeSet<String> =
        folders.filter(|path| path.is_dir()).filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect();
    let packs: BTreeSet<String> = Language::all().map(|language| language.code.to_owned()).collect();
    assert_eq!(folders, packs, "add the folder to PACKS");
    for code in &packs {
        let files = fs::read_dir(root().join(code)).expect("a directory").map(|entry| entry.expect("an entry"));
        let mut files: Vec<String> = files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        let all: Vec<&str> = FILES.into_iter().chain(["common.txt"]).collect();
        files.sort_by_key(|file| all.iter().position(|one| one == file));
        assert_eq!(files, all, "{code}");
    }
}

#[test]
fn every_language_is_found_by_its_tag() {
    for language in Language::all() {
        for tag in [language.code.to_owned(), language.code.to_uppercase(), format!("{}_XX", language.code)] {
            assert_eq!(Language::of(&tag).map(|found| found.code), Some(language.code), "{tag}");
        }
    }
    assert!(Language::of("fi").is_none() && Language::of("").is_none());
    assert_eq!(Language::or_english("fi").code, "en");
}

/// Every file of every pack, and the files beside the packs, as folder and name.
fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_packs = Language::all().flat_map(|language| FILES.map(|file| (language.code, file)));
    of_packs.chain([("", "values.toml"), ("", "signs.toml")])
}

#[test]
fn nothing_stands_twice_in_a_list() {
    let mut wrong = Vec::new();
    // "mois" is its own plural.
    for (folder, file) in files().filter(|(_, file)| *file != "sentences.toml") {
        let mut all = Vec::new();
        lists(&toml::Value::Table(table(folder, file)), "", &mut all);
        for (path, texts) in all {
            let mut seen = BTreeSet::new();
            for text in texts.into_iter().filter(|text| !seen.insert(fold(text))) {
                wrong.push(format!("{folder}/{file}{path}: {text:?} stands there twice"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_phrase_has_words_and_every_line_fits() {
    let mut wrong = Vec::new();
    for (folder, file) in files() {
        let text = fs::read_to_string(root().join(folder).join(file)).expect("a file");
        let long = text.lines().enumerate().filter(|(_, line)| line.chars().count() > 120);
        wrong.extend(long.map(|(at, _)| format!("{folder}/{file}:{}: longer than 120 characters", at + 1)));
        let mut all = Vec::new();
        lists(&toml::Value::Table(table(folder, file)), "", &mut all);
        let is_empty = |text: &&String| match file {
            "negation.toml" | "values.toml" => folded_tokens(text).is_empty(),
            "sentences.toml" => false,
            _ => phrase_words(text, false).is_empty() && !text.contains(['#', '&']),
        };
        for (path, texts) in all {
            let empty = texts.iter().filter(is_empty);
            wrong.extend(empty.map(|text| format!("{folder}/{file}{path}: {text:?} has no word")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every text of a file, with the path to it.
fn texts(value: &toml::Value, path: &str, found: &mut Vec<(String, String)>) {
    match value {
        toml::Value::Table(table) => {
            table.iter().for_each(|(key, value)| texts(value, &format!("{path}.{key}"), found));
        }
        toml::Value::String(text) => found.push((path.to_owned(), text.clone())),
        _ => {}
    }
}

/// A sentence has the same places in every language as in English, except the validator's reason, which is English.
#[test]
fn every_sentence_has_the_places_of_the_english_one() {
    let places = |code: &str| {
        let mut found = Vec::new();
        texts(&toml::Value::Table(table(code, "sentences.toml")), "", &mut found);
        let places = |text: String| -> BTreeSet<String> {
            let template: sentences::SentenceTemplate = toml::Value::String(text).try_into().expect("a text");
            template.places().filter(|place| *place != "reason").map(str::to_owned).collect()
        };
        found.into_iter().map(|(path, text)| (path, places(text))).collect::<std::collections::BTreeMap<_, _>>()
    };
    let english = places("en");
    for language in Language::all() {
        for (path, places) in places(language.code) {
            let expected = english.get(&path).cloned().unwrap_or_default();
            assert_eq!(places, expected, "{}/sentences.toml{path}", language.code);
        }
    }
}

/// The roles without which a grammar does nothing in a language.
#[test]
fn every_role_that_matters_has_words() {
    let needed = [
        ("values.toml", "", &["now", "weekend", "percent", "yes", "no", "please", "on"][..]),
        ("values.toml", "weekday", &["1", "2", "3", "4", "5", "6", "7"]),
        ("values.toml", "day", &["-1", "0", "1", "2"]),
        ("values.toml", "part", &["morning", "afternoon"]),
        ("values.toml", "unit", &["second", "minute", "hour", "day", "week", "month", "year"]),
        ("values.toml", "measure", &["grams", "kilograms", "centimetres", "metres", "kilometres", "litres"]),
        ("negation.toml", "", &["idiom", "stop", "join", "either"]),
        (
            "replies.toml",
            "words",
            &["yes", "weak_yes", "no", "enough", "either", "unsure", "correction", "filler", "joint", "asks", "common"],
        ),
        ("acts.toml", "words", &["filler", "lead", "answer", "and", "but", "article"]),
    ];
    for language in Language::all() {
        let negation = table(language.code, "negation.toml");
        assert!(["absence", "absence_behind"].iter().any(|role| negation.contains_key(*role)), "{}", language.code);
        for (file, at, roles) in needed {
            let table = table(language.code, file);
            let words = if at.is_empty() { &table } else { table[at].as_table().expect("a table") };
            for role in roles {
                let is_filled = words.get(*role).and_then(toml::Value::as_array).is_some_and(|list| !list.is_empty());
                assert!(is_filled, "{}/{file}: `{role}` has no words", language.code);
            }
        }
    }
}

#[test]
fn every_act_can_be_said_and_is_likely() {
    use acts::Makes;
    let needed = [
        Makes::Cancel,
        Makes::Restart,
        Makes::Unknown,
        Makes::Skip,
        Makes::Correct,
        Makes::Change,
        Makes::Replace,
        Makes::Remove,
        Makes::Add,
        Makes::PickNumbered,
        Makes::PickLast,
        Makes::PickAll,
        Makes::PickBoth,
        Makes::PickNone,
        Makes::PickEither,
        Makes::PickOther,
        Makes::Portion,
        Makes::Resume,
        Makes::Recall,
        Makes::Keep,
        Makes::Nothing,
    ];
    for language in Language::all() {
        for makes in needed {
            assert!(
                language.acts.rules.iter().any(|rule| rule.makes == makes),
                "{}: nothing says {makes:?}",
                language.code
            );
        }
        for rule in language.acts.rules.iter().filter(|rule| rule.makes != Makes::Nothing) {
            assert!((0.5..1.0).contains(&rule.sure), "{}: {rule:?}", language.code);
        }
    }
}

#[test]
fn what_is_wrong_with_a_pack_is_said() {
    let error = |result: Result<(), PackError>| result.expect_err("a broken pack").to_string();
    assert!(error(negation::parse("absense = []").map(drop)).contains("absense"));
    assert!(error(values::parse("tonite = []").map(drop)).contains("tonite"));
    assert!(error(values::parse("[unit]\nfortnight = []").map(drop)).contains("unit fortnight"));
    assert!(values::common().beginning_with("kg").len() == 1);
    let acts = fs::read_to_string(root().join("en/acts.toml")).expect("a file").replacen("@thing", "@thong", 1);
    assert!(error(Acts::parse(&acts).map(drop)).contains("@thong"));
}

#[test]
fn a_full_stop_belongs_to_an_abbreviation() {
    for (code, words, others) in [
        ("en", ["Dr", "st", "p.m"], ["doctor", "example.com", "done"]),
        ("de", ["Prof", "Hr", "z.B"], ["Haus", "ja", "5"]),
        ("es", ["Sra", "núm", "a.m"], ["y", "señora", "no"]),
        ("fr", ["Mme", "bd", "p.ex"], ["sept", "madame", "y"]),
        ("ja", ["Dr", "Mr", "p.m"], ["花", "はい", "5"]),
    ] {
        let language = Language::of(code).expect("a pack");
        assert!(words.iter().all(|word| language.is_abbreviation(word)), "{code}");
        assert!(!others.iter().any(|word| language.is_abbreviation(word)), "{code}");
    }
}
