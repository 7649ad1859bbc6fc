use proptest::prelude::*;
use serde_json::json;

use crate::{
    decide::align::*,
    module::{Limits, ModuleName, load},
};

/// One function that plays music, with three free slots.
fn music() -> Module {
    let directory = tempfile::tempdir().expect("a directory");
    let schema = json!([{"name": "play", "description": "Play music", "parameters": {"type": "object", "properties": {
        "artist": {"type": "string"}, "album": {"type": "string"}, "year": {"type": "string"}}}}]);
    let exemplars = json!({"play": [
        {"template": "play something by <artist>", "utterance": "play something by Nina Simone"},
        {"template": "play <album> by <artist>", "utterance": "play Blue Train by John Coltrane"},
        {"template": "put on music by <artist> from <year>", "utterance": "put on music by Miles Davis from 1959"},
        {"template": "I want to hear <album>", "utterance": "I want to hear Kind of Blue"},
        {"template": "songs from <year> please", "utterance": "songs from 1984 please"}]});
    std::fs::write(directory.path().join("schema.json"), schema.to_string()).expect("a file");
    std::fs::write(directory.path().join("exemplars.json"), exemplars.to_string()).expect("a file");
    load(directory.path(), ModuleName::new("music").expect("a name"), &Limits::default()).expect("it loads")
}

/// Who gets a parcel, and where, in a language without spaces.
fn parcels() -> Module {
    let directory = tempfile::tempdir().expect("a directory");
    let schema = json!([{"name": "send", "description": "荷物を送る", "parameters": {"type": "object", "properties": {
        "name": {"type": "string"}, "town": {"type": "string"}, "count": {"type": "string"}}}}]);
    let exemplars = json!({"send": [
        {"template": "<name>と申します", "utterance": "田中太郎と申します"},
        {"template": "受取人は<name>です", "utterance": "受取人は佐藤花子です"},
        {"template": "<town>まで届けてください", "utterance": "三軒茶屋まで届けてください"},
        {"template": "<town>の<name>に<count>個送りたい", "utterance": "赤坂の鈴木に3個送りたい"}]});
    for (file, text) in [
        ("schema.json", schema.to_string()),
        ("exemplars.json", exemplars.to_string()),
        ("module.toml", "language = 'ja'".to_owned()),
    ] {
        std::fs::write(directory.path().join(file), text).expect("a file");
    }
    load(directory.path(), ModuleName::new("parcels").expect("a name"), &Limits::default()).expect("it loads")
}

fn slot(module: &Module, label: &str) -> SlotId {
    module.functions[0].slot_labelled(label).expect("a slot")
}

fn read(utterance: &str) -> Vec<(String, String)> {
    read_in(&music(), utterance)
}

fn read_in(module: &Module, utterance: &str) -> Vec<(String, String)> {
    let utterance = Utterance::new(utterance);
    Aligner::compile(module)
        .align(FunctionId::from_index(0), &utterance, &[])
        .into_iter()
        .map(|filling| {
            let label = module.functions[0].slot(filling.slot).label().to_owned();
            (label, utterance.slice(filling.span).to_owned())
        })
        .collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(label, text)| ((*label).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn values_never_seen_are_found_by_their_neighbours() {
    assert_eq!(read("play something by Ella Fitzgerald"), pairs(&[("artist", "Ella Fitzgerald")]));
    assert_eq!(read("put on music by Bill Evans from 1961"), pairs(&[("artist", "Bill Evans"), ("year", "1961")]));
}

#[test]
fn a_template_is_said_with_whatever_its_slots_may_hold() {
    for (said, expected) in [
        ("play War and Peace by The Who", &[("album", "War and Peace"), ("artist", "The Who")][..]),
        (
            "play on the road to the sea by j. r. peters",
            &[("album", "on the road to the sea"), ("artist", "j. r. peters")],
        ),
        ("hi, could you play 1984 by Mary-Ann O'Brien, please?", &[("album", "1984"), ("artist", "Mary-Ann O'Brien")]),
        // What another template adds behind the same slot.
        ("play Dune by Toto from 1984", &[("album", "Dune"), ("artist", "Toto"), ("year", "1984")]),
        ("I want to hear because the stairs are too steep", &[("album", "because the stairs are too steep")]),
        // Says that there is a value, and not which.
        ("I want to hear something", &[]),
    ] {
        assert_eq!(read(said), pairs(expected), "{said}");
    }
}

#[test]
fn how_sure_a_template_is_depends_on_how_much_of_it_is_its_own() {
    let module = music();
    let aligner = Aligner::compile(&module);
    let sureness = |said: &str| {
        let utterance = Utterance::new(said);
        aligner.said_of(FunctionId::from_index(0), &utterance, &[]).and_then(|said| said.sureness())
    };
    let [own, free] = ["put on music by Toto from 1984", "I want to hear the rain on the old roof"].map(sureness);
    assert!(own > free && free.is_some(), "{own:?} {free:?}");
    assert_eq!(sureness("play the first thing that you find there by me or you"), None);
    assert_eq!(sureness("play it. Then stop by Toto"), None, "a value does not run on into the next sentence");
    assert_eq!(sureness("play chess with Toto"), None);
}

#[test]
fn a_value_of_the_exemplars_is_known_again() {
    assert_eq!(read("could I hear Kind of Blue"), pairs(&[("album", "Kind of Blue")]));
}

#[test]
fn values_are_found_between_literals_without_spaces() {
    let module = parcels();
    for (said, expected) in [
        ("高橋健一と申します", &[("name", "高橋健一")][..]),
        ("受取人は山本健太です", &[("name", "山本健太")]),
        ("受取人はジョン・スミスです", &[("name", "ジョン・スミス")]),
        ("永田町まで届けてください", &[("town", "永田町")]),
        ("梅田の田中に5個送りたい", &[("town", "梅田"), ("name", "田中"), ("count", "5")]),
    ] {
        assert_eq!(read_in(&module, said), pairs(expected), "{said}");
    }
}

#[test]
fn an_anchor_of_many_characters_outweighs_a_free_value() {
    let module = parcels();
    let utterance = Utterance::new("受取人は03-1234-5678です");
    let anchor = Anchor { slot: slot(&module, "count"), span: Span::new(4, 16), score: 1.0 };
    let fillings = Aligner::compile(&module).align(FunctionId::from_index(0), &utterance, &[anchor]);
    assert_eq!(fillings.iter().map(|one| (one.slot, one.span)).collect::<Vec<_>>(), [(anchor.slot, anchor.span)]);
}

#[test]
fn an_anchor_outweighs_the_words_that_it_is_made_of() {
    let module = music();
    let aligner = Aligner::compile(&module);
    let utterance = Utterance::new("play something by The Beatles please");
    let anchor = Anchor { slot: slot(&module, "artist"), span: Span::new(18, 29), score: 1.0 };
    let fillings = aligner.align(FunctionId::from_index(0), &utterance, &[anchor]);
    assert_eq!((fillings.len(), fillings[0].span, fillings[0].anchor), (1, anchor.span, Some(0)));
    assert!(fillings[0].confidence > 0.9, "{fillings:?}");
}

#[test]
fn what_a_recognizer_found_for_one_slot_is_no_free_text_of_another() {
    let module = music();
    let aligner = Aligner::compile(&module);
    for said in ["good morning I am at home and would hear 07700 900142", "would you say by the 07700 900142"] {
        let utterance = Utterance::new(said);
        let start = utterance.len() - 12;
        let anchor = Anchor { slot: slot(&module, "year"), span: Span::new(start, utterance.len()), score: 1.0 };
        let fillings = aligner.align(FunctionId::from_index(0), &utterance, &[anchor]);
        let other = fillings.iter().find(|one| one.slot != anchor.slot && one.span.overlaps(anchor.span));
        assert_eq!(other, None, "{said}");
    }
}

#[test]
fn free_text_begins_behind_what_leads_to_it_and_ends_before_thanks() {
    for said in ["I would like to hear something by one called Nina Simone", "any tunes by Nina Simone, thanks a lot"] {
        assert_eq!(read(said), pairs(&[("artist", "Nina Simone")]), "{said}");
    }
}

#[test]
fn a_slot_that_was_asked_for_takes_the_bare_answer() {
    let module = music();
    let aligner = Aligner::compile(&module);
    let artist = slot(&module, "artist");
    for (said, value) in [("Adele", Span::new(0, 5)), ("it is for Adele please", Span::new(10, 15))] {
        let utterance = Utterance::new(said);
        let read = |expected: &[SlotId]| aligner.align_answer(FunctionId::from_index(0), &utterance, &[], expected);
        let found: Vec<(SlotId, Span)> = read(&[artist]).iter().map(|one| (one.slot, one.span)).collect();
        assert_eq!(found, [(artist, value)], "{said}");
        let confidence = |fillings: &[Filling]| {
            fillings.iter().find(|one| one.slot == artist && one.span == value).map_or(0.0, |one| one.confidence)
        };
        assert!(confidence(&read(&[artist])) > confidence(&read(&[])), "{said}");
    }
}

#[test]
fn two_values_of_one_kind_go_to_two_slots_in_order() {
    let module = music();
    let aligner = Aligner::compile(&module);
    let utterance = Utterance::new("between 1959 and 1984");
    let anchors: Vec<Anchor> = [Span::new(8, 12), Span::new(17, 21)]
        .into_iter()
        .flat_map(|span| ["album", "year"].map(|label| Anchor { slot: slot(&module, label), span, score: 1.0 }))
        .collect();
    let fillings = aligner.align(FunctionId::from_index(0), &utterance, &anchors);
    let read: Vec<(SlotId, Span)> = fillings.iter().map(|filling| (filling.slot, filling.span)).collect();
    assert_eq!(read, [(slot(&module, "album"), Span::new(8, 12)), (slot(&module, "year"), Span::new(17, 21))]);
}

proptest! {
    #[test]
    fn a_reading_is_in_order_apart_and_probable(
        words in prop::collection::vec(
            prop::sample::select(vec!["play", "by", "from", "1984", "Miles", "blue", "please", "the", "x", "…", "東京"]), 0..25),
        anchors in prop::collection::vec((0_usize..3, 0_usize..60, 1_usize..12, 0.0_f32..1.0), 0..6),
    ) {
        let module = music();
        let aligner = Aligner::compile(&module);
        let utterance = Utterance::new(&words.join(" "));
        let anchors: Vec<Anchor> = anchors
            .into_iter()
            .map(|(slot, start, length, score)| Anchor {
                slot: SlotId::from_index(slot),
                span: Span::new(start.min(utterance.len()), (start + length).min(utterance.len())),
                score,
            })
            .collect();
        let fillings = aligner.align(FunctionId::from_index(0), &utterance, &anchors);
        for filling in &fillings {
            prop_assert!((0.0..=1.0).contains(&filling.confidence), "{:?}", filling);
            prop_assert!(filling.span.start < filling.span.end && filling.span.end <= utterance.len());
            if let Some(index) = filling.anchor {
                prop_assert_eq!((anchors[index].slot, anchors[index].span), (filling.slot, filling.span));
            }
        }
        for pair in fillings.windows(2) {
            prop_assert!(pair[0].span.start <= pair[1].span.start);
        }
        let mut slots: Vec<SlotId> = fillings.iter().map(|filling| filling.slot).collect();
        slots.sort_unstable();
        slots.dedup();
        prop_assert_eq!(slots.len(), fillings.len(), "each slot once");
    }
}

#[test]
fn a_name_beside_another_keeps_its_particles() {
    let directory = tempfile::tempdir().expect("a directory");
    let text = json!({"type": "string"});
    let schema = json!([{"name": "join", "description": "Join", "parameters": {"type": "object", "properties": {
        "first_name": text, "last_name": text, "club": text}}}]);
    let exemplars = json!({"join": ["my name is <first_name> <last_name> and I want to join <club>"]});
    std::fs::write(directory.path().join("schema.json"), schema.to_string()).expect("a file");
    std::fs::write(directory.path().join("exemplars.json"), exemplars.to_string()).expect("a file");
    let module =
        load(directory.path(), ModuleName::new("club").expect("a name"), &Limits::default()).expect("it loads");
    let aligner = Aligner::compile(&module);
    for (name, first, last) in [
        ("Jane van der Berg", "Jane", "van der Berg"),
        ("Will May", "Will", "May"),
        ("Ana de la Cruz", "Ana", "de la Cruz"),
    ] {
        let utterance = Utterance::new(&format!("my name is {name} and I want to join the rowers"));
        let said = aligner.said_of(FunctionId::from_index(0), &utterance, &[]).expect("it says the template");
        let values: Vec<&str> = said.fillings.iter().map(|filling| utterance.slice(filling.span)).collect();
        assert_eq!(values, [first, last, "the rowers"], "{name}");
    }
}
