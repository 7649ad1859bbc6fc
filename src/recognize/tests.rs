//! What recognizers find in whole utterances; the reference moment is Wednesday, 4 March 2026, 10:00 UTC.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::module::{Instance, ListSpec, ModuleName, PatternSpec, Recognizer, Settings, SlotReading};

mod borders;
mod by_slot;
mod everyday;
mod exact;
mod japanese;

fn module(language: &str, recognizers: Vec<(&str, RecognizerKind)>) -> Module {
    Module {
        name: ModuleName::new("test").expect("a name"),
        version: String::new(),
        functions: Vec::new(),
        recognizers: recognizers
            .into_iter()
            .map(|(name, kind)| Recognizer { name: name.into(), kind, reading: SlotReading::default() })
            .collect(),
        settings: Settings { language: Some(language.to_owned()), ..Settings::default() },
        prompts: std::collections::BTreeMap::default(),
        warnings: Vec::new(),
    }
}

fn context() -> Context {
    Context { now: "2026-03-04T10:00:00[UTC]".parse().expect("a moment") }
}

fn all_builtins(language: &str) -> Recognizers {
    let kinds = Builtin::ALL.into_iter().map(|builtin| (builtin.name(), RecognizerKind::Builtin(builtin))).collect();
    Recognizers::compile(&module(language, kinds)).expect("built-ins compile")
}

fn only(builtin: Builtin, language: &str) -> Recognizers {
    Recognizers::compile(&module(language, vec![(builtin.name(), RecognizerKind::Builtin(builtin))])).expect("compiles")
}

fn list(instances: &[(&str, &[&str])], fuzzy: bool) -> RecognizerKind {
    let instances = instances
        .iter()
        .map(|(label, expressions)| Instance {
            label: json!(label),
            expressions: expressions.iter().map(|e| (*e).to_owned()).collect(),
        })
        .collect();
    RecognizerKind::List(ListSpec { instances, fuzzy })
}

fn found(recognizers: &Recognizers, text: &str) -> Vec<(String, Value, f32)> {
    let mentions = recognizers.recognize(&Utterance::new(text), &context());
    mentions.into_iter().map(|mention| (mention.text, mention.value, mention.score)).collect()
}

/// Each case is an utterance with the texts and values that are found; weak readings (below `least`) are left out.
fn check(builtin: Builtin, language: &str, least: f32, cases: &[(&str, &[(&str, Value)])]) {
    let recognizers = only(builtin, language);
    let mut wrong = String::new();
    for (text, expected) in cases {
        let got: Vec<_> = found(&recognizers, text);
        let strong: Vec<_> = got
            .iter()
            .filter(|(_, _, score)| *score >= least)
            .map(|(text, value, _)| (text.as_str(), value.clone()))
            .collect();
        if strong != *expected {
            writeln!(wrong, "{text:?}\n  expected {expected:?}\n  got      {got:?}").expect("writing to a string");
        }
    }
    assert!(wrong.is_empty(), "{language} {}:\n{wrong}", builtin.name());
}

#[test]
fn a_code_that_is_a_common_word_counts_in_capitals_and_alone() {
    let instances = ["IL", "IN", "WI"].map(|label| Instance { label: label.into(), expressions: Vec::new() });
    let list = RecognizerKind::List(ListSpec { instances: instances.to_vec(), fuzzy: true });
    let recognizers = Recognizers::compile(&module("en", vec![("state", list)])).expect("it compiles");
    for (text, expected) in [
        ("I am in Illinois", None),
        ("I AM IN ILLINOIS", None),
        ("a dealer in IN", Some("IN")),
        ("in", Some("IN")),
        ("in, please", Some("IN")),
        ("a dealer in wi", Some("WI")),
    ] {
        let found = recognizers.recognize(&Utterance::new(text), &context());
        assert_eq!(found.first().and_then(|one| one.value.as_str()), expected, "{text}");
        assert!(found.len() < 2, "{text}");
    }
}

#[test]
fn integers() {
    check(
        Builtin::Integer,
        "en",
        0.5,
        &[
            ("two pizzas please", &[("two", json!(2))]),
            ("a table for four", &[("four", json!(4))]),
            ("in the next three days", &[("three", json!(3))]),
            ("1,000 units and 12", &[("1,000", json!(1000)), ("12", json!(12))]),
            ("twenty-five or one hundred and six", &[("twenty-five", json!(25)), ("one hundred and six", json!(106))]),
            ("one hundred and a beer", &[("one hundred", json!(100))]),
            ("set it to -5", &[("-5", json!(-5))]),
            ("b=-3 or (-4)", &[("-3", json!(-3)), ("-4", json!(-4))]),
            ("minus ten degrees", &[("minus ten", json!(-10))]),
            ("pages 3-5", &[("3", json!(3)), ("5", json!(5))]),
            ("a dozen eggs and half a dozen buns", &[("a dozen", json!(12)), ("half a dozen", json!(6))]),
            ("two dozen roses", &[("two dozen", json!(24))]),
            ("a couple of tickets", &[("a couple", json!(2))]),
            ("5 million people", &[("5 million", json!(5_000_000))]),
            ("10k followers", &[("10k", json!(10_000))]),
            ("2.5 liters", &[]),
            ("３ 個", &[("３", json!(3))]),
            ("the white one", &[]),
            ("which one of them", &[]),
            ("one pizza", &[("one", json!(1))]),
            ("one", &[("one", json!(1))]),
            ("the second door", &[]),
            ("gate B12 of flight A320X", &[]),
            ("5kg of rice", &[("5", json!(5))]),
            ("send 5 dollars to mum", &[("5", json!(5))]),
            ("on March 3rd at 5pm", &[]),
            ("call 212-555-2368 now", &[]),
            ("mail bob99@example.com", &[]),
            ("hundreds of ones", &[]),
            ("99999999999999999999999", &[]),
            ("version 1.2.3", &[]),
            ("9 o'clock", &[]),
            ("calculate the factorial of 5 using 3 functions.", &[("5", json!(5)), ("3", json!(3))]),
            ("order 5 at 3pm", &[("5", json!(5))]),
        ],
    );
    check(
        Builtin::Integer,
        "de",
        0.5,
        &[
            ("zwölf Brötchen und fünfundzwanzig Eier", &[("zwölf", json!(12)), ("fünfundzwanzig", json!(25))]),
            ("1.000 Stück", &[("1.000", json!(1000))]),
            ("eine Pizza", &[]),
        ],
    );
    check(Builtin::Integer, "es", 0.5, &[("treinta y cinco personas", &[("treinta y cinco", json!(35))])]);
    check(Builtin::Integer, "fr", 0.5, &[("quatre-vingt-dix personnes", &[("quatre-vingt-dix", json!(90))])]);
    check(
        Builtin::Integer,
        "ja",
        0.5,
        &[("3人です", &[("3", json!(3))]), ("三人", &[("三", json!(3))]), ("二十五", &[("二十五", json!(25))])],
    );
    check(Builtin::Integer, "sw", 0.5, &[("nataka 3", &[("3", json!(3))])]);
}

#[test]
fn numbers() {
    check(
        Builtin::Number,
        "en",
        0.5,
        &[
            ("2.5 liters", &[("2.5", json!(2.5))]),
            ("three point one five", &[("three point one five", json!(3.15))]),
            ("two and a half cups", &[("two and a half", json!(2.5))]),
            ("1½ cups", &[("1½", json!(1.5))]),
            ("½ cup", &[("½", json!(0.5))]),
            ("3/4 cup", &[("3/4", json!(0.75))]),
            ("half a cup", &[("half", json!(0.5))]),
            ("1,234.5 and 7", &[("1,234.5", json!(1234.5)), ("7", json!(7))]),
            ("1.000.000", &[("1.000.000", json!(1_000_000))]),
            ("2.5 million", &[("2.5 million", json!(2_500_000))]),
            ("I paid 3.", &[("3", json!(3))]),
        ],
    );
    check(
        Builtin::Number,
        "de",
        0.5,
        &[("1.000,5 Meter", &[("1.000,5", json!(1000.5))]), ("2,5", &[("2,5", json!(2.5))])],
    );
}

#[test]
fn ordinals() {
    check(
        Builtin::Ordinal,
        "en",
        0.5,
        &[
            ("the second one", &[("second", json!(2))]),
            ("the 2nd and the twenty-first", &[("2nd", json!(2)), ("twenty-first", json!(21))]),
            ("the last one", &[("last", json!(-1))]),
            ("last week", &[]),
            ("a 30 second timer", &[]),
            ("two thirds", &[]),
        ],
    );
}

#[test]
fn money() {
    let usd = |amount: Value| json!({"amount": amount, "currency": "USD"});
    check(
        Builtin::Money,
        "en",
        0.6,
        &[
            ("send 5 dollars to mum", &[("5 dollars", usd(json!(5)))]),
            ("$5.50 please", &[("$5.50", usd(json!(5.5)))]),
            ("twenty bucks", &[("twenty bucks", usd(json!(20)))]),
            ("five dollars and fifty cents", &[("five dollars and fifty cents", usd(json!(5.5)))]),
            ("50 cents", &[("50 cents", usd(json!(0.5)))]),
            ("$1.2m", &[("$1.2m", usd(json!(1_200_000)))]),
            (
                "€20 or 20€ or 20 EUR",
                &[
                    ("€20", json!({"amount": 20, "currency": "EUR"})),
                    ("20€", json!({"amount": 20, "currency": "EUR"})),
                    ("20 EUR", json!({"amount": 20, "currency": "EUR"})),
                ],
            ),
            ("USD 1,000", &[("USD 1,000", usd(json!(1000)))]),
            ("I won 5 times", &[]),
        ],
    );
    check(Builtin::Money, "en-CA", 0.6, &[("$5", &[("$5", json!({"amount": 5, "currency": "CAD"}))])]);
    check(Builtin::Money, "en", 0.0, &[("transfer 500", &[("500", json!({"amount": 500, "currency": null}))])]);
    check(
        Builtin::Percent,
        "en",
        0.0,
        &[
            ("a 5% tip", &[("5%", json!(5))]),
            ("twelve point five percent", &[("twelve point five percent", json!(12.5))]),
        ],
    );
}

#[test]
fn dates() {
    check(
        Builtin::Date,
        "en",
        0.5,
        &[
            ("2026-03-01", &[("2026-03-01", json!("2026-03-01"))]),
            ("on March 3rd, 2027", &[("March 3rd, 2027", json!("2027-03-03"))]),
            ("March 3rd", &[("March 3rd", json!("2027-03-03"))]),
            ("march 4", &[("march 4", json!("2026-03-04"))]),
            ("3 April 2026", &[("3 April 2026", json!("2026-04-03"))]),
            ("the third of April", &[("the third of April", json!("2026-04-03"))]),
            ("3/4/2026", &[("3/4/2026", json!("2026-03-04"))]),
            ("13/4/2026", &[("13/4/2026", json!("2026-04-13"))]),
            ("12/25", &[("12/25", json!("2026-12-25"))]),
            ("30/02/2026", &[]),
            ("Tuesday", &[("Tuesday", json!("2026-03-10"))]),
            ("on Wednesday", &[("Wednesday", json!("2026-03-11"))]),
            ("this wednesday", &[("this wednesday", json!("2026-03-04"))]),
            ("next friday", &[("next friday", json!("2026-03-13"))]),
            ("last tuesday", &[("last tuesday", json!("2026-03-03"))]),
            ("friday next week", &[("friday next week", json!("2026-03-13"))]),
            ("next week friday", &[("next week friday", json!("2026-03-13"))]),
            ("next week, on Friday", &[("next week, on Friday", json!("2026-03-13"))]),
            ("Tuesday, March 10", &[("Tuesday, March 10", json!("2026-03-10"))]),
            ("today and tomorrow", &[("today", json!("2026-03-04")), ("tomorrow", json!("2026-03-05"))]),
            ("the day after tomorrow", &[("the day after tomorrow", json!("2026-03-06"))]),
            ("tonight", &[("tonight", json!("2026-03-04"))]),
            ("in three days", &[("in three days", json!("2026-03-07"))]),
            ("two weeks ago", &[("two weeks ago", json!("2026-02-18"))]),
            ("a week from now", &[("a week from now", json!("2026-03-11"))]),
            ("three days from tomorrow", &[("three days from tomorrow", json!("2026-03-08"))]),
            ("next week", &[("next week", json!("2026-03-09"))]),
            ("next month", &[("next month", json!("2026-04-01"))]),
            ("this weekend", &[("this weekend", json!("2026-03-07"))]),
            ("next weekend", &[("next weekend", json!("2026-03-14"))]),
            ("on the 7th", &[("the 7th", json!("2026-03-07"))]),
            ("the 3rd", &[("the 3rd", json!("2026-04-03"))]),
            ("the 3rd of next month", &[("the 3rd of next month", json!("2026-04-03"))]),
            ("in August", &[("August", json!("2026-08-01"))]),
            ("in March", &[("March", json!("2026-03-01"))]),
            ("feb 29", &[("feb 29", json!("2028-02-29"))]),
            ("christmas eve", &[("christmas eve", json!("2026-12-24"))]),
            ("may I sit here", &[]),
            ("I may have 2", &[]),
            ("you may 2", &[]),
            ("the second one", &[]),
            ("the cat sat on the mat in the sun", &[]),
            (
                "from the 5th to the 9th of april",
                &[("the 5th", json!("2026-04-05")), ("the 9th of april", json!("2026-04-09"))],
            ),
            ("saturday the 14th", &[("saturday the 14th", json!("2026-03-14"))]),
            ("the apr of my card", &[]),
            ("the next three days", &[]),
            ("in two hours", &[]),
            ("march 3 at 5pm", &[("march 3", json!("2027-03-03"))]),
            ("10.0.0.1", &[]),
        ],
    );
    check(Builtin::Date, "en-GB", 0.5, &[("3/4/2026", &[("3/4/2026", json!("2026-04-03"))])]);
    check(
        Builtin::Date,
        "de",
        0.5,
        &[
            ("am 3. März 2027", &[("3. März 2027", json!("2027-03-03"))]),
            ("übermorgen", &[("übermorgen", json!("2026-03-06"))]),
            ("nächsten Freitag", &[("nächsten Freitag", json!("2026-03-13"))]),
            ("am 4.5.2026", &[("4.5.2026", json!("2026-05-04"))]),
            ("in drei Tagen", &[("in drei Tagen", json!("2026-03-07"))]),
            ("nächste Woche Donnerstag", &[("nächste Woche Donnerstag", json!("2026-03-12"))]),
            ("am 25.", &[("25.", json!("2026-03-25"))]),
            ("können wir den 25. nehmen?", &[("den 25.", json!("2026-03-25"))]),
            ("am Freitag, den 13.", &[("Freitag, den 13.", json!("2026-03-13"))]),
            ("am 3. Stock", &[]),
            ("am 25", &[]),
        ],
    );
    check(
        Builtin::Date,
        "es",
        0.5,
        &[
            ("el 3 de abril de 2026", &[("el 3 de abril de 2026", json!("2026-04-03"))]),
            ("pasado mañana", &[("pasado mañana", json!("2026-03-06"))]),
            ("el viernes", &[("viernes", json!("2026-03-06"))]),
            ("¿y el 14?", &[("el 14", json!("2026-03-14"))]),
            ("el 14 a las cinco", &[("el 14", json!("2026-03-14"))]),
            ("el 14 pisos", &[]),
        ],
    );
    check(
        Builtin::Date,
        "fr",
        0.5,
        &[
            ("le 1er avril", &[("le 1er avril", json!("2026-04-01"))]),
            ("après-demain", &[("après-demain", json!("2026-03-06"))]),
            ("dans trois jours", &[("dans trois jours", json!("2026-03-07"))]),
            ("et le 21 ?", &[("le 21", json!("2026-03-21"))]),
            ("le 21 rue Haute", &[]),
            ("le 21h30", &[]),
        ],
    );
    check(
        Builtin::Date,
        "ja",
        0.5,
        &[
            ("2026年3月1日に", &[("2026年3月1日", json!("2026-03-01"))]),
            ("明日の朝", &[("明日", json!("2026-03-05"))]),
            ("五月三日", &[("五月三日", json!("2026-05-03"))]),
            ("3日後", &[("3日後", json!("2026-03-07"))]),
            ("金曜日", &[("金曜日", json!("2026-03-06"))]),
        ],
    );
}

#[test]
fn times() {
    check(
        Builtin::Time,
        "en",
        0.5,
        &[
            ("3pm", &[("3pm", json!("15:00:00"))]),
            ("at 3:30 pm", &[("3:30 pm", json!("15:30:00"))]),
            ("3 p.m. please", &[("3 p.m.", json!("15:00:00"))]),
            ("15:30", &[("15:30", json!("15:30:00"))]),
            ("07:30:15", &[("07:30:15", json!("07:30:15"))]),
            ("3:30", &[("3:30", json!("15:30:00"))]),
            ("10:15", &[("10:15", json!("10:15:00"))]),
            ("noon or midnight", &[("noon", json!("12:00:00")), ("midnight", json!("00:00:00"))]),
            ("half past three", &[("half past three", json!("15:30:00"))]),
            ("a quarter to five", &[("a quarter to five", json!("16:45:00"))]),
            ("ten past 9 in the evening", &[("ten past 9 in the evening", json!("21:10:00"))]),
            ("quarter to one", &[("quarter to one", json!("12:45:00"))]),
            ("8 o'clock", &[("8 o'clock", json!("08:00:00"))]),
            ("eight o'clock in the evening", &[("eight o'clock in the evening", json!("20:00:00"))]),
            ("at 5", &[("5", json!("17:00:00"))]),
            ("at seven thirty", &[("seven thirty", json!("07:30:00"))]),
            ("seven thirty pm", &[("seven thirty pm", json!("19:30:00"))]),
            ("tonight at 8", &[("8", json!("20:00:00"))]),
            ("tomorrow morning at 9", &[("9", json!("09:00:00"))]),
            ("12am", &[("12am", json!("00:00:00"))]),
            ("12 pm", &[("12 pm", json!("12:00:00"))]),
            ("13pm", &[]),
            ("25:00", &[]),
            ("2 to 3 people", &[]),
            ("at 5 dollars", &[]),
            ("48 divided by 2", &[]),
            ("a table for 5", &[]),
            ("3 days", &[]),
        ],
    );
    check(
        Builtin::Time,
        "de",
        0.5,
        &[
            ("um 15.30 Uhr", &[("15.30 Uhr", json!("15:30:00"))]),
            ("8 Uhr", &[("8 Uhr", json!("08:00:00"))]),
            ("halb drei", &[("halb drei", json!("02:30:00"))]),
            ("viertel nach acht", &[("viertel nach acht", json!("08:15:00"))]),
            ("8 Uhr abends", &[("8 Uhr abends", json!("20:00:00"))]),
            ("um halb acht abends, bitte", &[("halb acht abends", json!("19:30:00"))]),
        ],
    );
    check(
        Builtin::Time,
        "es",
        0.5,
        &[("a las tres y media de la tarde", &[("tres y media de la tarde", json!("15:30:00"))])],
    );
    check(
        Builtin::Time,
        "fr",
        0.5,
        &[
            ("à 15h30", &[("15h30", json!("15:30:00"))]),
            ("trois heures et demie", &[("trois heures et demie", json!("03:30:00"))]),
        ],
    );
    check(
        Builtin::Time,
        "ja",
        0.5,
        &[("午後3時", &[("午後3時", json!("15:00:00"))]), ("9時半", &[("9時半", json!("09:30:00"))])],
    );
}

#[test]
fn datetimes() {
    check(
        Builtin::DateTime,
        "en",
        0.5,
        &[
            ("2026-03-01T15:30:00", &[("2026-03-01T15:30:00", json!("2026-03-01T15:30:00"))]),
            ("2026-03-01T15:30:00+02:00.", &[("2026-03-01T15:30:00+02:00", json!("2026-03-01T13:30:00"))]),
            ("2026-03-01 15:30", &[("2026-03-01 15:30", json!("2026-03-01T15:30:00"))]),
            ("tomorrow at 3pm", &[("tomorrow at 3pm", json!("2026-03-05T15:00:00"))]),
            ("3pm on Friday", &[("3pm on Friday", json!("2026-03-06T15:00:00"))]),
            ("3pm tomorrow", &[("3pm tomorrow", json!("2026-03-05T15:00:00"))]),
            ("tomorrow morning at 9", &[("tomorrow morning at 9", json!("2026-03-05T09:00:00"))]),
            ("tonight at 8", &[("tonight at 8", json!("2026-03-04T20:00:00"))]),
            ("in two hours", &[("in two hours", json!("2026-03-04T12:00:00"))]),
            ("march 10th, 5:15 pm", &[("march 10th, 5:15 pm", json!("2026-03-10T17:15:00"))]),
            ("now", &[("now", json!("2026-03-04T10:00:00"))]),
            ("9am", &[("9am", json!("2026-03-05T09:00:00"))]),
            ("tomorrow", &[]),
        ],
    );
    check(Builtin::DateTime, "ja", 0.5, &[("明日の午後3時", &[("明日の午後3時", json!("2026-03-05T15:00:00"))])]);
}

#[test]
fn durations() {
    check(
        Builtin::Duration,
        "en",
        0.5,
        &[
            ("for three days", &[("three days", json!("P3D"))]),
            ("the next three days", &[("three days", json!("P3D"))]),
            ("90 minutes", &[("90 minutes", json!("PT1H30M"))]),
            ("an hour and a half", &[("an hour and a half", json!("PT1H30M"))]),
            ("two and a half hours", &[("two and a half hours", json!("PT2H30M"))]),
            ("half an hour", &[("half an hour", json!("PT30M"))]),
            ("2h30m", &[("2h30m", json!("PT2H30M"))]),
            ("2h30", &[("2h30", json!("PT2H30M"))]),
            ("2 hours and 15 minutes", &[("2 hours and 15 minutes", json!("PT2H15M"))]),
            ("a couple of weeks", &[("a couple of weeks", json!("P2W"))]),
            ("a three-day trip", &[("three-day", json!("P3D"))]),
            ("a year and a half", &[("a year and a half", json!("P1Y6M"))]),
            ("PT30M", &[("PT30M", json!("PT30M"))]),
            ("10 days and 2 days", &[("10 days", json!("P10D")), ("2 days", json!("P2D"))]),
            ("1.5 seconds", &[("1.5 seconds", json!("PT1.5S"))]),
            ("5mg of salt", &[]),
            ("wait a second", &[]),
        ],
    );
    check(
        Builtin::Duration,
        "ja",
        0.5,
        &[("3時間", &[("3時間", json!("PT3H"))]), ("30分", &[("30分", json!("PT30M"))])],
    );
    check(
        Builtin::Duration,
        "es",
        0.5,
        &[
            ("25 invitados, hora y media", &[("hora y media", json!("PT1H30M"))]),
            ("dos horas y media", &[("dos horas y media", json!("PT2H30M"))]),
            ("a esa hora y en casa", &[]),
        ],
    );
    check(Builtin::Duration, "de", 0.5, &[("zwei Stunden", &[("zwei Stunden", json!("PT2H"))])]);
}

#[test]
fn contacts_are_read() {
    check(
        Builtin::Email,
        "en",
        0.0,
        &[(
            "mail jane.doe+x@example.co.uk, please",
            &[("jane.doe+x@example.co.uk", json!("jane.doe+x@example.co.uk"))],
        )],
    );
    check(
        Builtin::Url,
        "en",
        0.0,
        &[
            ("see https://example.com/a?b=c.", &[("https://example.com/a?b=c", json!("https://example.com/a?b=c"))]),
            ("go to www.example.com", &[("www.example.com", json!("www.example.com"))]),
            ("go to example.com now", &[("example.com", json!("example.com"))]),
            ("wait.what e.g. this a.b", &[]),
            ("jane@example.com", &[]),
        ],
    );
    check(
        Builtin::Phone,
        "en",
        0.0,
        &[
            ("call (212) 555-2368", &[("(212) 555-2368", json!("+12125552368"))]),
            ("+44 20 7946 0958", &[("+44 20 7946 0958", json!("+442079460958"))]),
            ("dial 2125552368", &[("2125552368", json!("+12125552368"))]),
            ("order 12345", &[]),
            ("on 2026-03-04", &[]),
            ("1234567 units", &[]),
        ],
    );
    check(Builtin::Phone, "de", 0.0, &[("030 901820", &[("030 901820", json!("+4930901820"))])]);
}

#[test]
fn booleans() {
    check(
        Builtin::Boolean,
        "en",
        0.8,
        &[
            ("yes", &[("yes", json!(true))]),
            ("Yeah, please!", &[("Yeah", json!(true))]),
            ("no thanks", &[("no thanks", json!(false))]),
            ("no, I want two", &[("no", json!(false))]),
            ("no sugar in it for the lady today thank you", &[]),
            ("turn it on", &[]),
            ("set it to false", &[("false", json!(false))]),
            ("without, please", &[("without", json!(false))]),
            ("a tea without milk", &[]),
        ],
    );
    check(
        Builtin::Boolean,
        "ja",
        0.8,
        &[("なしで", &[("なしで", json!(false))]), ("ありで", &[("ありで", json!(true))])],
    );
    check(Builtin::Boolean, "en", 0.0, &[("with onions", &[("with", json!(true))])]);
}

#[test]
fn a_number_keeps_its_place_within_other_mentions() {
    let recognizers = all_builtins("en");
    let score = |text: &str, value: Value| {
        let mentions = recognizers.recognize(&Utterance::new(text), &context());
        let integer = mentions.iter().find(|m| m.recognizer.index() == 0 && m.value == value);
        integer.map(|mention| mention.score)
    };
    assert_eq!(score("in celsius for the next three days", json!(3)), Some(1.0));
    assert_eq!(score("on March 3", json!(3)), Some(0.4));
    assert_eq!(score("send 5 dollars", json!(5)), Some(0.7));
    // "First" says when, "5th" may be what is counted.
    assert_eq!(score("first tell me the price", json!(1)), Some(0.3));
    assert_eq!(score("the 5th please", json!(5)), Some(0.4));
}

#[test]
fn lists_match_as_people_write() {
    let recognizers = Recognizers::compile(&module(
        "en",
        vec![
            (
                "city",
                list(
                    &[
                        ("New York", &["big apple", "nyc"]),
                        ("Zürich", &[]),
                        ("Seattle, WA", &["seattle"]),
                        ("São Paulo", &[]),
                        ("東京", &["とうきょう"]),
                        ("서울", &[]),
                        ("กรุงเทพ", &[]),
                    ],
                    false,
                ),
            ),
            (
                "dish",
                list(
                    &[
                        ("pizza", &[]),
                        ("cherry", &[]),
                        ("box", &[]),
                        ("ice_cream", &[]),
                        ("t-shirt", &[]),
                        ("glass", &[]),
                        ("mcdonald's", &[]),
                        ("C++", &[]),
                        ("at&t", &[]),
                        ("bus", &[]),
                    ],
                    false,
                ),
            ),
            ("size", list(&[("S", &["small"]), ("M", &["medium"])], false)),
        ],
    ))
    .expect("compiles");
    let cases: &[(&str, &[(&str, Value)])] = &[
        ("weather in NEW  york", &[("NEW  york", json!("New York"))]),
        ("new-york!", &[("new-york", json!("New York"))]),
        ("zurich", &[("zurich", json!("Zürich"))]),
        ("Seattle's weather", &[("Seattle", json!("Seattle, WA"))]),
        ("seattle wa", &[("seattle wa", json!("Seattle, WA"))]),
        ("Seattle, WA", &[("Seattle, WA", json!("Seattle, WA"))]),
        ("sao paulo", &[("sao paulo", json!("São Paulo"))]),
        ("Sa\u{303}o Paulo", &[("Sa\u{303}o Paulo", json!("São Paulo"))]),
        ("明日の東京の天気", &[("東京", json!("東京"))]),
        ("서울에서", &[("서울", json!("서울"))]),
        ("ไปกรุงเทพครับ", &[("กรุงเทพ", json!("กรุงเทพ"))]),
        ("two pizzas and cherries", &[("pizzas", json!("pizza")), ("cherries", json!("cherry"))]),
        ("boxes of glasses on buses", &[("boxes", json!("box")), ("glasses", json!("glass")), ("buses", json!("bus"))]),
        ("ice cream", &[("ice cream", json!("ice_cream"))]),
        ("tshirt and t shirts", &[("tshirt", json!("t-shirt")), ("t shirts", json!("t-shirt"))]),
        ("mcdonalds or McDonald’s", &[("mcdonalds", json!("mcdonald's")), ("McDonald’s", json!("mcdonald's"))]),
        ("c++ not c", &[("c++", json!("C++"))]),
        ("AT and T", &[("AT and T", json!("at&t"))]),
        ("what's it's", &[]),
        ("pizzeria newyorker boxing", &[]),
        ("size s", &[("s", json!("S"))]),
    ];
    for (text, expected) in cases {
        let got = found(&recognizers, text);
        assert_eq!(
            got.iter().map(|(text, value, _)| (text.as_str(), value.clone())).collect::<Vec<_>>(),
            *expected,
            "{text}"
        );
    }
    assert_eq!(found(&recognizers, "pizza")[0].2, 1.0);
    assert_eq!(found(&recognizers, "pizzas")[0].2, 0.9);
}

#[test]
fn a_list_takes_the_longest_and_two_lists_overlap() {
    let recognizers = Recognizers::compile(&module(
        "en",
        vec![
            ("city", list(&[("york", &[]), ("new york", &[]), ("new york city", &[])], false)),
            ("team", list(&[("york city", &[])], false)),
        ],
    ))
    .expect("compiles");
    let got = found(&recognizers, "in new york city");
    assert_eq!(got.iter().map(|(text, ..)| text.as_str()).collect::<Vec<_>>(), ["new york city", "york city"]);
}

#[test]
fn a_shared_expression_gives_every_label() {
    let recognizers = Recognizers::compile(&module(
        "en",
        vec![("account", list(&[("checking", &["main account"]), ("savings", &["main account"])], false))],
    ))
    .expect("compiles");
    let got = found(&recognizers, "the main account");
    assert_eq!(
        got.iter().map(|(_, value, score)| (value.clone(), *score)).collect::<Vec<_>>(),
        [(json!("checking"), 0.8), (json!("savings"), 0.8)]
    );
}

#[test]
fn labels_that_are_no_strings_match_their_text() {
    let instances = vec![
        Instance { label: json!(42), expressions: vec![] },
        Instance { label: json!(true), expressions: vec!["yes".into()] },
        Instance { label: json!(null), expressions: vec!["-".into()] },
    ];
    let recognizers =
        Recognizers::compile(&module("en", vec![("size", RecognizerKind::List(ListSpec { instances, fuzzy: false }))]))
            .expect("compiles");
    let values: Vec<_> = found(&recognizers, "42 - true or yes").into_iter().map(|(_, value, _)| value).collect();
    assert_eq!(values, [json!(42), json!(true), json!(true)]);
}

#[test]
fn fuzzy_lists_forgive() {
    let recognizers = Recognizers::compile(&module(
        "en",
        vec![(
            "city",
            list(
                &[
                    ("Seattle", &[]),
                    ("San Francisco", &[]),
                    ("Paris", &[]),
                    ("Parys", &[]),
                    ("Rome", &[]),
                    ("Route 12345", &[]),
                ],
                true,
            ),
        )],
    ))
    .expect("compiles");
    let value = |text: &str| found(&recognizers, text);
    assert_eq!(value("weather in Seatle"), [("Seatle".to_owned(), json!("Seattle"), 0.8)]);
    assert_eq!(value("Saettle"), [("Saettle".to_owned(), json!("Seattle"), 0.8)]);
    assert_eq!(value("san fransisko today"), [("san fransisko".to_owned(), json!("San Francisco"), 0.7)]);
    assert_eq!(value("sanfrancisco"), [("sanfrancisco".to_owned(), json!("San Francisco"), 0.8)]);
    assert_eq!(value("Paris"), [("Paris".to_owned(), json!("Paris"), 1.0)]);
    assert_eq!(value("rime"), []);
    assert_eq!(value("route 12346"), []);
    assert_eq!(value("sittle"), []);
}

#[test]
fn misspelt_days_are_days() {
    let date = |text: &str, day: &str| (text.to_owned(), json!(day));
    for (language, text, misspelt, day) in [
        ("en", "see you on thrusday", "thrusday", "2026-03-05"),
        ("en", "tomorow please", "tomorow", "2026-03-05"),
        ("fr", "pour dimache", "dimache", "2026-03-08"),
        ("de", "am Donerstag", "Donerstag", "2026-03-05"),
        ("es", "para el sabdao", "sabdao", "2026-03-07"),
    ] {
        let got: Vec<_> =
            found(&only(Builtin::Date, language), text).into_iter().map(|(text, value, _)| (text, value)).collect();
        assert!(got.iter().any(|one| one.0.ends_with(misspelt) && one.1 == date(misspelt, day).1), "{text}: {got:?}");
    }
    for text in ["the light is right", "a monthly fee", "my friend Marty", "match point"] {
        assert_eq!(found(&only(Builtin::Date, "en"), text), [], "{text}");
    }
}

#[test]
fn patterns_match_as_written() {
    let pattern = |pattern: &str| RecognizerKind::Pattern(PatternSpec { patterns: vec![pattern.to_owned()] });
    let recognizers = Recognizers::compile(&module(
        "en",
        vec![("order", pattern(r"\b[A-Z]{2}\d{4}\b")), ("room", pattern(r"(?i)room (?<value>\d+)"))],
    ))
    .expect("compiles");
    assert_eq!(
        found(&recognizers, "é AB1234 ab1234 Room 12"),
        [("AB1234".to_owned(), json!("AB1234"), 1.0), ("12".to_owned(), json!("12"), 1.0)]
    );
    let error = Recognizers::compile(&module("en", vec![("bad", pattern("("))])).expect_err("does not compile");
    assert!(error.to_string().contains("`bad`: pattern 0"));
    assert!(Recognizers::compile(&module("en", vec![("huge", pattern(r"(\w{1000}){1000}"))])).is_err());
}

#[test]
fn only_the_modules_recognizers_run() {
    assert_eq!(
        found(&Recognizers::compile(&module("en", vec![])).expect("compiles"), "tomorrow at 3pm for 5 dollars"),
        []
    );
}

#[test]
fn a_list_of_a_hundred_thousand() {
    let instances = (0..100_000)
        .map(|n| Instance {
            label: json!(format!("product {n} {}", n * 7919 % 100_003)),
            expressions: vec![format!("item-{n}")],
        })
        .collect();
    let recognizers = Recognizers::compile(&module(
        "en",
        vec![("product", RecognizerKind::List(ListSpec { instances, fuzzy: false }))],
    ))
    .expect("compiles");
    let got = found(&recognizers, "an item 99999 and a product 5 39595");
    assert_eq!(got.len(), 2);
    assert_eq!(got[1].1, json!("product 5 39595"));
}

/// Checks that every mention slices to its text, and that those of one recognizer do not overlap.
fn assert_sound(recognizers: &Recognizers, text: &str) -> Result<(), TestCaseError> {
    let utterance = Utterance::new(text);
    let mentions = recognizers.recognize(&utterance, &context());
    for (index, mention) in mentions.iter().enumerate() {
        prop_assert!(!mention.span.is_empty() && mention.span.end <= utterance.len());
        prop_assert_eq!(&mention.text, utterance.slice(mention.span));
        prop_assert!((0.0..=1.0).contains(&mention.score), "{:?}", mention);
        for other in mentions[index + 1..].iter().take(20) {
            let same = other.recognizer == mention.recognizer && other.span != mention.span;
            prop_assert!(!same || !other.span.overlaps(mention.span), "{:?} {:?}", mention, other);
            prop_assert!(
                mention.span.start < other.span.start
                    || (mention.span.start == other.span.start && mention.span.end >= other.span.end)
            );
        }
    }
    Ok(())
}

const WORDS: [&str; 78] = [
    "one",
    "two",
    "twenty",
    "hundred",
    "thousand",
    "billion",
    "and",
    "a",
    "half",
    "quarter",
    "past",
    "to",
    "the",
    "of",
    "second",
    "third",
    "st",
    "th",
    "march",
    "may",
    "monday",
    "next",
    "last",
    "this",
    "week",
    "days",
    "hours",
    "in",
    "ago",
    "from",
    "now",
    "tomorrow",
    "tonight",
    "at",
    "pm",
    "o'clock",
    "noon",
    "$",
    "€",
    "dollars",
    "cents",
    "%",
    "percent",
    "point",
    "minus",
    "dozen",
    "couple",
    "1",
    "12",
    "2026",
    "000",
    "1,000",
    "3.5",
    "3/4",
    "-",
    ":",
    ".",
    ",",
    "/",
    "30",
    "½",
    "T",
    "Z",
    "P3D",
    "+1",
    "a@b.co",
    "http://x.y",
    "年",
    "月",
    "日",
    "三",
    "午後",
    "yes",
    "no",
    "ß",
    "\u{301}",
    "\u{200b}",
    "ﬁ",
];

const LANGUAGES: [&str; 9] = ["en", "de", "es", "fr", "it", "nl", "pt", "da", "ja"];

const FOREIGN: [&str; 40] = [
    "zwei",
    "drei",
    "hundert",
    "tausend",
    "million",
    "milliarden",
    "und",
    "zwanzig",
    "einundzwanzig",
    "komma",
    "erste",
    "uno",
    "dos",
    "mil",
    "millones",
    "billones",
    "y",
    "ciento",
    "coma",
    "primero",
    "quatre",
    "vingt",
    "quatre-vingt-dix",
    "cent",
    "mille",
    "milliard",
    "et",
    "virgule",
    "deuxième",
    "cento",
    "duemila",
    "virgola",
    "e",
    "mil",
    "milhões",
    "vírgula",
    "komma",
    "honderd",
    "duizend",
    "hundrede",
];

fn soup(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::collection::vec((prop::sample::select(words), prop::sample::select(&[" ", "", " ", " ", ", "][..])), 0..24)
        .prop_map(|words| words.into_iter().map(|(word, gap)| format!("{word}{gap}")).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_is_read_soundly(text in "\\PC{0,60}") {
        assert_sound(&all_builtins("en"), &text)?;
    }

    #[test]
    fn control_characters_are_read_soundly(text in any::<String>()) {
        assert_sound(&all_builtins("ja"), &text)?;
    }

    #[test]
    fn any_soup_of_words_is_read_soundly(text in soup(&WORDS)) {
        assert_sound(&all_builtins("en"), &text)?;
        assert_sound(&all_builtins("de"), &text)?;
    }

    #[test]
    fn number_words_of_any_language_are_read_soundly(text in soup(&FOREIGN), language in prop::sample::select(&LANGUAGES[..])) {
        assert_sound(&only(Builtin::Number, language), &text)?;
    }

    #[test]
    fn digits_mean_themselves(value in 0_i64..1_000_000_000) {
        let got = found(&only(Builtin::Integer, "en"), &format!("take {value} of them"));
        prop_assert_eq!(got.first().map(|(_, value, _)| value.clone()), Some(json!(value)));
    }

    #[test]
    fn iso_dates_mean_themselves(days in 0_i64..40_000) {
        let date = jiff::civil::date(1970, 1, 1).checked_add(jiff::Span::new().days(days)).expect("in range");
        let got = found(&only(Builtin::Date, "en"), &format!("on {date}, please"));
        prop_assert_eq!(got, [(date.to_string(), json!(date.to_string()), 1.0)]);
    }

    /// Compares the list matcher with a slow and obvious one: every run of words against every expression.
    #[test]
    fn lists_agree_with_brute_force(
        expressions in prop::collection::hash_set("[ab]( [abc]){0,2}", 1..8),
        words in prop::collection::vec("[abcd]", 0..12),
    ) {
        let spec: Vec<(&str, &[&str])> = expressions.iter().map(|expression| (expression.as_str(), &[][..])).collect();
        let recognizers = Recognizers::compile(&module("en", vec![("list", list(&spec, false))])).expect("compiles");
        let mut expected = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let longest = (at + 1..=words.len()).rev().map(|end| words[at..end].join(" ")).find(|run| expressions.contains(run));
            match longest {
                Some(run) => {
                    at += run.split(' ').count();
                    expected.push(run);
                }
                None => at += 1,
            }
        }
        let got: Vec<String> = found(&recognizers, &words.join("  ")).into_iter().map(|(text, ..)| text.replace("  ", " ")).collect();
        prop_assert_eq!(got, expected);
    }

    #[test]
    fn fuzzy_words_agree_with_brute_force(entries in prop::collection::hash_set("[abc]{5,11}", 1..6), word in "[abc]{4,12}") {
        let spec: Vec<(&str, &[&str])> = entries.iter().map(|entry| (entry.as_str(), &[][..])).collect();
        let recognizers = Recognizers::compile(&module("en", vec![("list", list(&spec, true))])).expect("compiles");
        let allowed = |entry: &str| if entry.len() >= 9 { 2 } else { 1 };
        let distances = entries.iter().map(|entry| (strsim::osa_distance(entry, &word), entry));
        let fewest = distances.filter(|(edits, entry)| *edits <= allowed(entry)).map(|(edits, _)| edits).min();
        let mut expected: Vec<&String> = entries.iter().filter(|entry| {
            let edits = strsim::osa_distance(entry, &word);
            Some(edits) == fewest && edits <= allowed(entry)
        }).collect();
        expected.sort();
        let mut got: Vec<String> = found(&recognizers, &word).into_iter().map(|(_, value, _)| value.as_str().unwrap_or_default().to_owned()).collect();
        got.sort();
        prop_assert_eq!(got.iter().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn long_and_monotonous_text_is_read() {
    let recognizers = {
        let mut kinds: Vec<_> =
            Builtin::ALL.into_iter().map(|builtin| (builtin.name(), RecognizerKind::Builtin(builtin))).collect();
        kinds.push(("list", list(&[("a a a a a a a b", &[]), ("new york", &[])], true)));
        Recognizers::compile(&module("en", kinds)).expect("compiles")
    };
    for piece in [
        "a ",
        "1",
        "1 ",
        "one hundred and ",
        "next ",
        "\u{301}",
        "a@",
        "://",
        "(1) ",
        "1.",
        "half ",
        "two and a half hours and ",
        "三",
        "at ",
    ] {
        let text = piece.repeat(100_000 / piece.len());
        let mentions = recognizers.recognize(&Utterance::new(&text), &context());
        assert!(mentions.iter().all(|mention| mention.span.end <= text.chars().count()), "{piece}");
    }
}
