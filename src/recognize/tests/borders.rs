//! Words beside a value are read with it, or reported as unread.

use super::*;

/// What people say in one language: values of one kind, and words of that kind that may stand before or behind one.
struct BorderWords {
    language: &'static str,
    builtin: Builtin,
    values: &'static [&'static str],
    before: &'static [&'static str],
    behind: &'static [&'static str],
}

const fn said(
    language: &'static str,
    builtin: Builtin,
    values: &'static [&'static str],
    before: &'static [&'static str],
    behind: &'static [&'static str],
) -> BorderWords {
    BorderWords { language, builtin, values, before, behind }
}

const SAID: [BorderWords; 25] = [
    said(
        "en",
        Builtin::Date,
        &["Friday", "May 5", "June 3rd"],
        &["3 weeks before ", "31/", "2 of "],
        &[" 32", "/99", " and 45", " July", " and a half"],
    ),
    said("de", Builtin::Date, &["Freitag", "5. Mai"], &["3 Wochen vor ", "40/"], &[" 32", "/99", " und 45", " Juli"]),
    said(
        "es",
        Builtin::Date,
        &["el viernes", "el 5 de mayo"],
        &["3 semanas antes de ", "40/"],
        &[" 32", "/99", " y 45", " julio"],
    ),
    said(
        "fr",
        Builtin::Date,
        &["vendredi", "le 5 mai"],
        &["3 semaines avant ", "40/"],
        &[" 32", "/99", " et 45", " juillet"],
    ),
    said("ja", Builtin::Date, &["金曜日", "5月5日"], &["40/"], &["の32", "/99"]),
    said("en", Builtin::Time, &["7:30", "3pm"], &["2-", "2/"], &[" 75", "-88", " and a half", " seconds"]),
    said("de", Builtin::Time, &["7:30", "15 Uhr"], &["2-", "2/"], &[" 75", "-88", " Sekunden"]),
    said("es", Builtin::Time, &["7:30"], &["2-", "2/"], &[" 75", "-88", " segundos"]),
    said("fr", Builtin::Time, &["7:30", "15 h"], &["2-", "2/"], &[" 75", "-88", " secondes"]),
    said("ja", Builtin::Time, &["7:30", "午後3時"], &["2-", "2/"], &["-88", "/88"]),
    said(
        "en",
        Builtin::Duration,
        &["5 hours", "two weeks"],
        &["3 and ", "-", "7 to ", "point "],
        &[" hours", " 88", " and three eighths", "/2"],
    ),
    said(
        "de",
        Builtin::Duration,
        &["5 Stunden", "zwei Wochen"],
        &["3 und ", "-", "Komma "],
        &[" Stunden", " 88", "/2"],
    ),
    said("es", Builtin::Duration, &["5 horas", "dos semanas"], &["3 y ", "-", "coma "], &[" horas", " 88", "/2"]),
    said(
        "fr",
        Builtin::Duration,
        &["5 heures", "deux semaines"],
        &["3 et ", "-", "virgule "],
        &[" heures", " 88", "/2"],
    ),
    said("ja", Builtin::Duration, &["5時間", "2週間"], &["/", "3-"], &["/2", "の88"]),
    said(
        "en",
        Builtin::Money,
        &["5 dollars", "$20"],
        &["3/", "7 to "],
        &[" million", " 88 77", " and three eighths", "/2"],
    ),
    said("de", Builtin::Money, &["5 Euro"], &["3/", "3 und "], &[" Millionen", "/2"]),
    said("es", Builtin::Money, &["5 euros"], &["3/", "3 y "], &[" millones", "/2"]),
    said("fr", Builtin::Money, &["5 euros"], &["3/", "3 et "], &[" millions", "/2"]),
    said("ja", Builtin::Money, &["500円"], &["3/", "3-"], &["/2", "の88"]),
    said(
        "en",
        Builtin::Number,
        &["5", "twelve"],
        &["3/", "7 of ", "<"],
        &[" half", " quarters", "/97", " kilos", " hours", " and 3"],
    ),
    said(
        "de",
        Builtin::Number,
        &["5", "zwölf"],
        &["3/", "7 und "],
        &[" Viertel", "/97", " Kilo", " Stunden", " und 300"],
    ),
    said("es", Builtin::Number, &["5", "doce"], &["3/", "7 y "], &[" media", "/97", " kilos", " horas", " y 300"]),
    said("fr", Builtin::Number, &["5", "douze"], &["3/", "7 et "], &[" quart", "/97", " kilos", " heures", " et 300"]),
    said("ja", Builtin::Number, &["5", "十二"], &["3/", "3-"], &["/97", "キロ", "時間"]),
];

#[test]
fn what_stands_beside_a_value_is_read_with_it_or_unread() {
    let mut wrong = String::new();
    for BorderWords { language, builtin, values, before, behind } in SAID {
        let recognizers = only(builtin, language);
        let read = |text: &str| recognizers.recognize(&Utterance::new(text), &context());
        for value in values {
            let alone: Vec<Value> = read(value).into_iter().map(|one| one.value).collect();
            assert!(!alone.is_empty(), "{language} {builtin:?}: {value} is read alone");
            let texts = before.iter().map(|one| format!("{one}{value}"));
            for text in texts.chain(behind.iter().map(|one| format!("{value}{one}"))) {
                let all = text.chars().count();
                let is_mistaken = |one: &&Mention| {
                    one.is_likely() && alone.contains(&one.value) && one.span.len() < all && one.unread.is_empty()
                };
                if let Some(one) = read(&text).iter().find(is_mistaken) {
                    writeln!(wrong, "{language} {builtin:?} {text:?}: {:?} is {}", one.text, one.value)
                        .expect("a string");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn words_that_make_another_value_of_it_leave_it_in_doubt() {
    let mut wrong = String::new();
    for (language, builtin, texts) in [
        ("en", Builtin::Date, &["every Friday", "each Monday", "the week of May 3", "May 5 to 9"][..]),
        ("de", Builtin::Date, &["jeden Freitag", "alle Freitage"]),
        ("es", Builtin::Date, &["cada viernes", "todos los viernes"]),
        ("fr", Builtin::Date, &["chaque vendredi", "tous les vendredis"]),
        ("en", Builtin::DateTime, &["Tuesday or Wednesday at 3pm", "every Tuesday at 3pm"]),
        ("fr", Builtin::DateTime, &["lundi ou mardi à 15 h", "chaque mardi à 15 h"]),
        ("en", Builtin::Number, &["twice 4", "4 less", "two and a bit", "9-"]),
        ("en", Builtin::Number, &["5²", "10₂", "1_000", "0x10", "5٠", "5٠0", "3'50"]),
        ("de", Builtin::Number, &["5²", "1_000", "0x10"]),
        ("de", Builtin::Number, &["das Doppelte von 4", "die Hälfte von 9", "5 weniger", "5 und ein bisschen"]),
        ("es", Builtin::Number, &["el doble de 4", "la mitad de 9", "5 y pico"]),
        ("fr", Builtin::Number, &["le double de 4", "la moitié de 9", "5 de moins", "5 et quelques"]),
        ("en", Builtin::Duration, &["twice 20 minutes", "20 or 25 minutes", "15 minutes less"]),
        ("de", Builtin::Duration, &["zweimal 20 Minuten", "45 bis 50 Minuten", "20 oder 25 Minuten"]),
        ("es", Builtin::Duration, &["de 20 a 25 minutos"]),
        ("fr", Builtin::Duration, &["la moitié de 30 minutes"]),
        ("en", Builtin::Money, &["twice 20 dollars", "half of 50 dollars", "20 dollars and some", "20 dollars less"]),
        ("de", Builtin::Money, &["das Doppelte von 20 Euro"]),
        ("es", Builtin::Money, &["el doble de 20 euros"]),
        ("fr", Builtin::Money, &["20 euros de moins"]),
    ] {
        for text in texts {
            let found = only(builtin, language).recognize(&Utterance::new(text), &context());
            let is_sure =
                |one: &&Mention| one.is_likely() && one.unread.is_empty() && one.span.len() < text.chars().count();
            if let Some(one) = found.iter().find(is_sure) {
                writeln!(wrong, "{language} {builtin:?} {text:?}: {:?} is {}", one.text, one.value).expect("a string");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_another_reading_has_is_no_part_of_a_value() {
    for (language, builtin, text) in [
        ("en", Builtin::Date, "on Friday at 3pm"),
        ("en", Builtin::Date, "on Friday 3pm"),
        ("en", Builtin::Date, "2 tickets for 5 May, please"),
        ("en", Builtin::Date, "Friday 2 tickets"),
        ("en", Builtin::Date, "a table for 4 tomorrow"),
        ("en", Builtin::Time, "at 7pm on Friday"),
        ("en", Builtin::Time, "on 5 May at 7pm"),
        ("en", Builtin::DateTime, "on 5 May at 7pm"),
        ("en", Builtin::Duration, "for two hours on Friday"),
        ("en", Builtin::Money, "send 20 dollars to Anna on Friday"),
        ("en", Builtin::Number, "5% of them"),
        ("en", Builtin::Number, "5 people on Friday"),
        ("de", Builtin::Date, "am Freitag um 15 Uhr"),
        ("de", Builtin::Date, "Freitag morgen"),
        ("es", Builtin::Date, "el viernes a las 7 de la tarde"),
        ("fr", Builtin::Date, "vendredi à 15 h"),
        ("ja", Builtin::Date, "5月5日に2人で"),
        ("ja", Builtin::Date, "5月5日午後3時に"),
    ] {
        for one in only(builtin, language).recognize(&Utterance::new(text), &context()) {
            assert!(one.unread.is_empty(), "{language} {text}: {one:?}");
        }
    }
}

#[test]
fn common_ways_to_say_a_day_are_read() {
    for (language, cases) in [
        (
            "en",
            &[
                ("on Friday 6", "2026-03-06"),
                ("Monday the 16th", "2026-03-16"),
                ("7-Aug-29", "2029-08-07"),
                ("12 may in 2027", "2027-05-12"),
                ("the last day of April", "2026-04-30"),
                ("the 9th day of next month", "2026-04-09"),
                ("the first Monday in May", "2026-05-04"),
                ("three days after Christmas", "2026-12-28"),
                ("the day before 1 May", "2026-04-30"),
            ][..],
        ),
        (
            "de",
            &[
                ("am Dienstag den zehnten", "2026-03-10"),
                ("7.Aug.29", "2029-08-07"),
                ("am letzten Tag im April", "2026-04-30"),
                ("zwei Tage nach Weihnachten", "2026-12-27"),
            ],
        ),
        (
            "es",
            &[
                ("el lunes 16", "2026-03-16"),
                ("el último día de abril", "2026-04-30"),
                ("el 9 de este mes", "2026-03-09"),
                ("dos días antes de Navidad", "2026-12-23"),
            ],
        ),
        (
            "fr",
            &[
                ("lundi 16", "2026-03-16"),
                ("le dernier jour d'avril", "2026-04-30"),
                ("le 9 de ce mois", "2026-03-09"),
                ("le lendemain de Noël", "2026-12-26"),
            ],
        ),
        ("ja", &[("クリスマスの3日後", "2026-12-28"), ("3月10日(火)", "2026-03-10"), ("4月末", "2026-04-30")]),
    ] {
        for (text, day) in cases {
            let found = only(Builtin::Date, language).recognize(&Utterance::new(text), &context());
            let read: Vec<_> = found.iter().map(|one| (&one.value, one.unread.len())).collect();
            assert_eq!(read, [(&json!(day), 0)], "{language} {text}");
        }
    }
    for (language, text) in
        [("en", "the 30th of February"), ("es", "el 31 de abril"), ("de", "am 31. Juni"), ("fr", "le 30 février")]
    {
        let found = only(Builtin::Date, language).recognize(&Utterance::new(text), &context());
        assert!(found.iter().all(|one| !one.unread.is_empty()), "{language} {text}: {found:?}");
    }
}

#[test]
fn common_ways_to_say_an_amount_are_read() {
    for (language, builtin, cases) in [
        (
            "en",
            Builtin::Number,
            &[
                (".25", json!(0.25)),
                ("point seven", json!(0.7)),
                ("three quarters", json!(0.75)),
                ("2.5M", json!(2_500_000)),
                ("4 million and a half", json!(4_500_000)),
                ("2 hundred and 14", json!(214)),
                ("2 dozens", json!(24)),
                ("7 lakh", json!(700_000)),
                ("2 and a 1/4", json!(2.25)),
            ][..],
        ),
        ("de", Builtin::Number, &[(",25", json!(0.25)), ("sechseinhalb", json!(6.5)), ("drei Viertel", json!(0.75))]),
        ("es", Builtin::Number, &[("veintidos", json!(22)), ("3 millones y medio", json!(3_500_000))]),
        ("fr", Builtin::Number, &[("trois quarts", json!(0.75)), ("deux douzaines", json!(24))]),
        ("ja", Builtin::Number, &[("温度を-7", json!(-7)), ("マイナス7", json!(-7))]),
        ("en", Builtin::Duration, &[(".25 hours", json!("PT15M")), ("2:15 hours", json!("PT2H15M"))]),
        ("fr", Builtin::Duration, &[("3 h et 20 min", json!("PT3H20M")), ("une heure et quart", json!("PT1H15M"))]),
        ("de", Builtin::Duration, &[("sechseinhalb Stunden", json!("PT6H30M"))]),
        ("en", Builtin::Money, &[("$.75", json!({"amount": 0.75, "currency": "USD"}))]),
        ("fr", Builtin::DateTime, &[("vendredi à midi", json!("2026-03-06T12:00:00"))]),
        ("es", Builtin::DateTime, &[("el lunes 16 a las seis de la tarde", json!("2026-03-16T18:00:00"))]),
        ("es", Builtin::Time, &[("por la tarde a las ocho", json!("20:00:00"))]),
    ] {
        for (text, value) in cases {
            let found = only(builtin, language).recognize(&Utterance::new(text), &context());
            let read: Vec<_> = found.iter().map(|one| (&one.value, one.unread.len())).collect();
            assert_eq!(read, [(value, 0)], "{language} {text}");
        }
    }
    for (language, text) in
        [("en", "a few hours"), ("de", "ein paar Stunden"), ("es", "unas horas"), ("fr", "quelques heures")]
    {
        let found = only(Builtin::Duration, language).recognize(&Utterance::new(text), &context());
        assert_eq!(found, [], "{language} {text}");
    }
}

#[test]
fn a_common_word_is_no_misspelt_entry() {
    let recognizers = Recognizers::compile(&module(
        "en",
        vec![("flour", list(&[("wheat", &[]), ("allée", &[]), ("bitten", &[]), ("quando", &[])], true))],
    ));
    let recognizers = recognizers.expect("a list compiles");
    for text in ["what is that", "allez", "bitte", "cuando"] {
        assert_eq!(found(&recognizers, text), [], "{text}");
    }
    assert_eq!(found(&recognizers, "whaet flour").len(), 1);
}
