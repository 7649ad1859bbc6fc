use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    decide::filling::Filling,
    module::{Limits, ModuleName, SlotId, load},
    text::Span,
};

/// A module of these two files.
fn module(name: &str, schema: &Value, exemplars: &Value) -> Module {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("schema.json"), schema.to_string()).expect("a file");
    std::fs::write(directory.path().join("exemplars.json"), exemplars.to_string()).expect("a file");
    load(directory.path(), ModuleName::new(name).expect("a name"), &Limits::default()).expect("it loads")
}

/// One function that plays music, with three free slots.
fn music() -> Module {
    let schema = json!([{"name": "play", "description": "Play music", "parameters": {"type": "object", "properties": {
        "artist": {"type": "string"}, "album": {"type": "string"}, "year": {"type": "string"}}}}]);
    let exemplars = json!({"play": [
        {"template": "play something by <artist>", "utterance": "play something by Nina Simone"},
        {"template": "play <album> by <artist>", "utterance": "play Blue Train by John Coltrane"},
        {"template": "put on music by <artist> from <year>", "utterance": "put on music by Miles Davis from 1959"},
        {"template": "I want to hear <album>", "utterance": "I want to hear Kind of Blue"},
        {"template": "songs from <year> please", "utterance": "songs from 1984 please"}]});
    module("music", &schema, &exemplars)
}

/// A function for the receiver and the place of a parcel, in a language without spaces.
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

fn function() -> FunctionId {
    FunctionId::from_index(0)
}

/// The values of the template that the utterance matches.
fn said_in(module: &Module, utterance: &str) -> Vec<(String, String)> {
    let utterance = Utterance::new(utterance);
    let said = Templates::compile(module).said(function(), &utterance, &[]).filter(|said| !said.is_doubtful);
    let filling = |filling: Filling| {
        let label = module.functions[0].slot(filling.slot).label().to_owned();
        (label, utterance.slice(filling.span).to_owned())
    };
    said.map(|said| said.fillings.into_iter().map(filling).collect()).unwrap_or_default()
}

/// How `part` of the utterance fits the places of the slot.
fn framing(module: &Module, label: &str, utterance: &str, part: &str) -> Framing {
    let utterance = Utterance::new(utterance);
    let templates = Templates::compile(module);
    templates.framed(function(), &utterance, &[]).framing(slot(module, label), span_of(&utterance, part))
}

fn span_of(utterance: &Utterance, part: &str) -> Span {
    let start = utterance.text().find(part).expect("a part of it");
    utterance.span_of_bytes(start..start + part.len())
}

fn proposed(module: &Module, utterance: &str) -> Vec<(String, String)> {
    let utterance = Utterance::new(utterance);
    let templates = Templates::compile(module);
    let mut proposed = templates.framed(function(), &utterance, &[]).proposed(|_| true);
    proposed.sort_by(|one, other| other.2.total_cmp(&one.2));
    let read = |(slot, span, _): &(SlotId, Span, f32)| {
        (module.functions[0].slot(*slot).label().to_owned(), utterance.slice(*span).to_owned())
    };
    proposed.iter().map(read).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(label, text)| ((*label).to_owned(), (*text).to_owned())).collect()
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
        // An addition from another template behind the same slot.
        ("play Dune by Toto from 1984", &[("album", "Dune"), ("artist", "Toto"), ("year", "1984")]),
        ("I want to hear because the stairs are too steep", &[("album", "because the stairs are too steep")]),
        // These words say that there is a value, but not which.
        ("I want to hear something", &[]),
    ] {
        assert_eq!(said_in(&music(), said), pairs(expected), "{said}");
    }
}

#[test]
fn a_possessive_behind_a_mark_is_no_part_of_the_value() {
    let schema = json!([{"name": "groom", "description": "Groom a pet", "parameters": {"type": "object", "properties": {
        "pet": {"type": "string"}}}}]);
    let exemplars = json!({"groom": ["trim <pet>'s claws", "tell me of <pet>"]});
    let module = module("pets", &schema, &exemplars);
    for (utterance, pet) in [
        ("trim Luna's claws", "Luna"),
        ("please trim Old Tom’s claws", "Old Tom"),
        // This template has no possessive.
        ("tell me of Luna's", "Luna's"),
    ] {
        assert_eq!(said_in(&module, utterance), pairs(&[("pet", pet)]), "{utterance}");
    }
}

#[test]
fn a_sentence_that_its_author_kept_is_the_value_of_a_bare_mark() {
    let schema = json!([{"name": "complain", "description": "Complain", "parameters": {"type": "object", "properties": {
        "problem": {"type": "string"}}}}]);
    let exemplars = json!({"complain": [{"template": "<problem>", "utterance": "the handle came off"}]});
    let module = module("shop", &schema, &exemplars);
    let is_telling = |utterance: &str| {
        let said = Templates::compile(&module).said(function(), &Utterance::new(utterance), &[]);
        said.is_some_and(|said| said.is_telling())
    };
    let kept = "hi, the handle came off, thanks";
    assert_eq!(said_in(&module, kept), pairs(&[("problem", "the handle came off")]));
    assert_eq!([kept, "blue kettle"].map(is_telling), [true, false]);
}

#[test]
fn a_template_tells_less_the_more_of_it_could_be_any_words() {
    let module = music();
    let templates = Templates::compile(&module);
    let free = |said: &str| {
        let utterance = Utterance::new(said);
        templates.said(function(), &utterance, &[]).filter(TemplateMatch::is_telling).map(|said| said.free())
    };
    let [little, much] = ["put on music by Toto from 1984", "I want to hear the rain on the old roof"].map(free);
    assert!(little < much && little.is_some(), "{little:?} {much:?}");
    assert_eq!(free("play the first thing that you find there by me or you"), None);
    assert_eq!(free("play it. Then stop by Toto"), None, "a value does not run on into the next sentence");
    assert_eq!(free("play chess with Toto"), None);
}

#[test]
fn a_span_stands_in_the_frames_of_its_slot() {
    let module = music();
    let said = "please put on music by Bill Evans from 1961";
    let artist = framing(&module, "artist", said, "Bill Evans");
    assert_eq!((artist.left, artist.right, artist.both), (3.0, 1.5, 3.5), "{artist:?}");
    assert!(artist.both > artist.other_both && artist.follows > 0.0 && artist.precedes > 0.0, "{artist:?}");
    let year = framing(&module, "year", said, "1961");
    // "from 1959" also ends a sentence.
    assert_eq!((year.left, year.right, year.both), (1.5, 1.0, 2.5), "{year:?}");
    let cut = framing(&module, "artist", said, "Bill");
    assert_eq!((cut.left, cut.right, cut.both), (3.0, 0.0, 0.0), "{cut:?}");
    let other = framing(&module, "album", said, "Bill Evans");
    assert_eq!((other.left, other.both, other.other_both), (0.0, 0.0, artist.both), "{other:?}");
}

#[test]
fn the_edge_of_a_request_is_behind_a_greeting_and_before_thanks() {
    let album = framing(&music(), "album", "hello, I want to hear Dune, please", "Dune");
    assert_eq!((album.left, album.right), (3.0, 1.0), "{album:?}");
    let module = parcels();
    let name = framing(&module, "name", "すみません、高橋と申します", "高橋");
    assert!(name.left >= 1.0 && name.right == 3.0, "{name:?}");
}

#[test]
fn another_mark_counts_more_where_a_recognizer_found_its_value() {
    let module = music();
    let utterance = Utterance::new("play Dune by The Who");
    let templates = Templates::compile(&module);
    let (album, artist) = (slot(&module, "album"), slot(&module, "artist"));
    let span = span_of(&utterance, "Dune");
    let right = |anchors: &[Anchor]| templates.framed(function(), &utterance, anchors).framing(album, span).right;
    let found = Anchor { slot: artist, span: span_of(&utterance, "The Who"), score: 1.0 };
    assert_eq!((right(&[]), right(&[found])), (1.5, 2.0));
}

#[test]
fn spans_are_proposed_between_frames() {
    let module = music();
    for (said, expected) in [
        ("play something by Ella Fitzgerald", ("artist", "Ella Fitzgerald")),
        ("any tunes by Bill Evans, thanks a lot", ("artist", "Bill Evans")),
        ("could I hear Kind of Blue now and then", ("album", "Kind of Blue")),
    ] {
        let expected = (expected.0.to_owned(), expected.1.to_owned());
        assert!(proposed(&module, said).contains(&expected), "{said}: {:?}", proposed(&module, said));
    }
    let name = ("name".to_owned(), "山本健太".to_owned());
    assert!(proposed(&parcels(), "えっと受取人は山本健太です").contains(&name));
}

#[test]
fn words_of_shown_values_speak_for_their_slot_and_against_others() {
    let module = music();
    let framing = |label: &str, part: &str| framing(&module, label, "add Blue Skies by Nina Hagen", part);
    // One of two shown albums contains "Blue", one of three shown artists "Nina"; one is added to the number of values.
    let own = framing("album", "Blue Skies");
    assert!((own.own_words - 0.5 * 2.0 / 3.0).abs() < 1e-6 && own.other_words == 0.0, "{own:?}");
    let other = framing("artist", "Blue Skies");
    assert!(other.own_words == 0.0 && (other.other_words - 2.0 / 3.0).abs() < 1e-6, "{other:?}");
}

#[test]
fn values_of_the_exemplars_are_known_again() {
    let module = music();
    let known = |part: &str| framing(&module, "album", "could I hear Kind of Blue", part).known;
    assert_eq!([known("Kind of Blue"), known("Blue")], [1.0, 0.0]);
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
        assert_eq!(said_in(&module, said), pairs(expected), "{said}");
    }
}

#[test]
fn what_a_recognizer_found_is_no_free_text() {
    let module = parcels();
    let utterance = Utterance::new("受取人は03-1234-5678です");
    let anchor = Anchor { slot: slot(&module, "count"), span: Span::new(4, 16), score: 1.0 };
    let said = Templates::compile(&module).said(function(), &utterance, &[anchor]).expect("it says a template");
    assert!(said.is_doubtful && !said.is_telling(), "{said:?}");
}

proptest! {
    #[test]
    fn what_is_said_is_in_order_and_apart(
        words in prop::collection::vec(
            prop::sample::select(vec!["play", "by", "from", "1984", "Miles", "blue", "please", "the", "x", "…", "東京"]), 0..25),
        anchors in prop::collection::vec((0_usize..3, 0_usize..60, 1_usize..12, 0.0_f32..1.0), 0..6),
    ) {
        let module = music();
        let templates = Templates::compile(&module);
        let utterance = Utterance::new(&words.join(" "));
        let anchors: Vec<Anchor> = anchors
            .into_iter()
            .map(|(slot, start, length, score)| Anchor {
                slot: SlotId::from_index(slot),
                span: Span::new(start.min(utterance.len()), (start + length).min(utterance.len())),
                score,
            })
            .collect();
        for filling in templates.said(function(), &utterance, &anchors).map(|said| said.fillings).unwrap_or_default() {
            prop_assert!((0.0..=1.0).contains(&filling.confidence), "{:?}", filling);
            prop_assert!(filling.span.start < filling.span.end && filling.span.end <= utterance.len());
            if let Some(index) = filling.anchor {
                prop_assert_eq!((anchors[index].slot, anchors[index].span), (filling.slot, filling.span));
            }
        }
        let framed = templates.framed(function(), &utterance, &anchors);
        for (slot, span, words) in framed.proposed(|_| true) {
            prop_assert!(span.start < span.end && span.end <= utterance.len() && words > 0.0);
            let framing = framed.framing(slot, span);
            prop_assert!(framing.left.max(framing.right).max(framing.known) > 0.0, "{:?}", framing);
        }
    }
}

#[test]
fn a_long_utterance_is_compared_in_linear_time() {
    let module = music();
    let templates = Templates::compile(&module);
    let proposed = |times: usize| {
        let utterance = Utterance::new(&"play songs by me from 1984 ".repeat(times));
        templates.framed(function(), &utterance, &[]).proposed(|_| true).len()
    };
    assert!(proposed(200) < 3 * proposed(100));
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
    let templates = Templates::compile(&module);
    for (name, first, last) in [
        ("Jane van der Berg", "Jane", "van der Berg"),
        ("Will May", "Will", "May"),
        ("Ana de la Cruz", "Ana", "de la Cruz"),
    ] {
        let utterance = Utterance::new(&format!("my name is {name} and I want to join the rowers"));
        let said = templates.said(function(), &utterance, &[]).expect("it says the template");
        let values: Vec<&str> = said.fillings.iter().map(|filling| utterance.slice(filling.span)).collect();
        assert_eq!(values, [first, last, "the rowers"], "{name}");
    }
}

#[test]
fn templates_for_which_as_much_speaks_are_told_together() {
    let directory = tempfile::tempdir().expect("a directory");
    let text = json!({"type": "string"});
    let schema = json!([{"name": "send", "description": "Send", "parameters": {"type": "object", "properties": {
        "parcel": text, "name": text, "street": text, "date": {"type": "string", "format": "date"}}}}]);
    let exemplars =
        json!({"send": ["send <parcel> to <name>", "send <parcel> to <street>", "on the <date> send <parcel>"]});
    std::fs::write(directory.path().join("schema.json"), schema.to_string()).expect("a file");
    std::fs::write(directory.path().join("exemplars.json"), exemplars.to_string()).expect("a file");
    let module =
        load(directory.path(), ModuleName::new("parcels").expect("a name"), &Limits::default()).expect("it loads");
    let templates = Templates::compile(&module);
    let said = |text: &str, anchors: &[Anchor]| templates.said(function(), &Utterance::new(text), anchors);
    let both = said("send the blue box to Jo Hay", &[]).expect("it says two templates");
    let last = |fillings: &[Filling]| fillings.last().map(|filling| filling.slot);
    assert_eq!(last(&both.fillings), Some(slot(&module, "name")));
    assert_eq!(both.others.iter().map(|other| last(other)).collect::<Vec<_>>(), [Some(slot(&module, "street"))]);
    // The article belongs both to the template and to the date.
    let date = Anchor { slot: slot(&module, "date"), span: Span::new(3, 17), score: 1.0 };
    let dated = said("on the 9th of May send the blue box", &[date]).expect("it says a template");
    assert_eq!((dated.fillings.len(), dated.others.len()), (2, 0));
    // No sentence ends within what was found.
    let date = Anchor { span: Span::new(20, 29), ..date };
    let street = said("send the box to Rue Max. Maja Street", &[]).expect("it says a template");
    let dated = said("send the box to Rue Max. Maja Street", &[date]).expect("it says a template");
    assert!(street.is_doubtful && !dated.is_doubtful, "{street:?} {dated:?}");
}
