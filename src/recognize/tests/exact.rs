//! Values that are read exactly as they are written, beside other scripts and with spaces and marks within.

use super::*;

fn amount(amount: &Value, currency: &str) -> Value {
    json!({"amount": amount, "currency": currency})
}

#[test]
fn contacts_end_where_a_script_without_spaces_begins() {
    let check_ja = |builtin, cases: &[(&str, &[(&str, Value)])]| check(builtin, "ja", 0.0, cases);
    check_ja(
        Builtin::Email,
        &[
            ("メールアドレスをkim@example.orgに変更", &[("kim@example.org", json!("kim@example.org"))]),
            ("連絡先は「lea_m@example.net」です", &[("lea_m@example.net", json!("lea_m@example.net"))]),
            (
                "新しいのはjo.van-dijk+home@mail.example.com。",
                &[("jo.van-dijk+home@mail.example.com", json!("jo.van-dijk+home@mail.example.com"))],
            ),
            (
                "a@example.comとb@example.com",
                &[("a@example.com", json!("a@example.com")), ("b@example.com", json!("b@example.com"))],
            ),
            ("アットマーク@だけ", &[]),
        ],
    );
    check_ja(
        Builtin::Url,
        &[
            ("ページhttps://example.org/aを開いて", &[("https://example.org/a", json!("https://example.org/a"))]),
            ("example.comで見て", &[("example.com", json!("example.com"))]),
            (
                "https://example.org/東京を見て",
                &[("https://example.org/東京を見て", json!("https://example.org/東京を見て"))],
            ),
        ],
    );
    check_ja(Builtin::Phone, &[("電話を+49 151 12345678とメールに", &[("+49 151 12345678", json!("+4915112345678"))])]);
    check(Builtin::Email, "zh", 0.0, &[("发到kim@example.org吧", &[("kim@example.org", json!("kim@example.org"))])]);
    check(
        Builtin::Email,
        "de",
        0.0,
        &[("an jörg@example.de senden", &[("jörg@example.de", json!("jörg@example.de"))])],
    );
}

#[test]
fn two_digits_behind_a_comma_are_no_thousands() {
    check(
        Builtin::Number,
        "en",
        0.5,
        &[
            ("reimburse 17,80 for the train", &[("17,80", json!(17.8))]),
            ("1,250 of them", &[("1,250", json!(1250))]),
            ("rooms 12,17,80", &[("12", json!(12)), ("17", json!(17)), ("80", json!(80))]),
            ("rooms 17, 80", &[("17", json!(17)), ("80", json!(80))]),
        ],
    );
}

#[test]
fn spaces_part_the_digits_of_a_number_in_groups() {
    check(
        Builtin::Money,
        "fr",
        0.6,
        &[
            ("un bon de 1 250 euros", &[("1 250 euros", amount(&json!(1250), "EUR"))]),
            ("1 250,50 €", &[("1 250,50 €", amount(&json!(1250.5), "EUR"))]),
            ("1\u{202F}250\u{A0}€", &[("1\u{202F}250\u{A0}€", amount(&json!(1250), "EUR"))]),
            ("12 345 678 euros", &[("12 345 678 euros", amount(&json!(12_345_678), "EUR"))]),
        ],
    );
    check(Builtin::Money, "es", 0.6, &[("1 250 €, por favor", &[("1 250 €", amount(&json!(1250), "EUR"))])]);
    check(Builtin::Money, "de", 0.6, &[("über 1 250,00 Euro", &[("1 250,00 Euro", amount(&json!(1250), "EUR"))])]);
    check(
        Builtin::Integer,
        "fr",
        0.5,
        &[
            ("2 250g de farine", &[("2", json!(2)), ("250", json!(250))]),
            ("2 250-grammes", &[("2", json!(2)), ("250", json!(250))]),
            ("12 34 ou 1234 567", &[("12", json!(12)), ("34", json!(34)), ("1234", json!(1234)), ("567", json!(567))]),
            ("06 123 456", &[("06", json!(6)), ("123", json!(123)), ("456", json!(456))]),
            ("1 250 12", &[("1", json!(1)), ("250", json!(250)), ("12", json!(12))]),
        ],
    );
    check(
        Builtin::Integer,
        "en",
        0.5,
        &[
            ("2 250 g packs", &[("2", json!(2)), ("250", json!(250))]),
            ("1\u{A0}250 people", &[("1\u{A0}250", json!(1250))]),
        ],
    );
    check(Builtin::Time, "fr", 0.3, &[("à 1 250 euros", &[])]);
}

#[test]
fn cents_stand_behind_their_currency_before_a_word_that_is_no_noun() {
    let cents = amount(&json!(8.5), "EUR");
    for (language, text, said) in [
        ("de", "über 8 euro 50 als gruß", "8 euro 50"),
        ("fr", "8 euros 50 pour Anne", "8 euros 50"),
        ("es", "8 euros 50 para Ana", "8 euros 50"),
    ] {
        check(Builtin::Money, language, 0.6, &[(text, &[(said, cents.clone())])]);
    }
    check(Builtin::Money, "de", 0.6, &[("8 euro 50 gäste", &[("8 euro", amount(&json!(8), "EUR"))])]);
}

#[test]
fn times_are_read_with_spaces_and_with_little_before_them() {
    check(
        Builtin::Time,
        "fr",
        0.6,
        &[
            ("à 19 h 30", &[("19 h 30", json!("19:30:00"))]),
            ("le 14 mars, 19 h 30 pour deux", &[("19 h 30", json!("19:30:00"))]),
            ("à 9 h 15 demain", &[("9 h 15", json!("09:15:00"))]),
            ("à 19 h 12 personnes", &[("19 h", json!("19:00:00"))]),
            ("à 19h30", &[("19h30", json!("19:30:00"))]),
            ("à 19 h", &[("19 h", json!("19:00:00"))]),
        ],
    );
    check(Builtin::Time, "de", 0.6, &[("um 19 h 30", &[("19 h 30", json!("19:30:00"))])]);
    check(
        Builtin::Time,
        "es",
        0.6,
        &[
            ("en terraza a 17.45", &[("17.45", json!("17:45:00"))]),
            ("a siete y media de la tarde", &[("siete y media de la tarde", json!("19:30:00"))]),
            ("a las seis menos diez de la tarde", &[("seis menos diez de la tarde", json!("17:50:00"))]),
            ("a las diez y veinte de la noche", &[("diez y veinte de la noche", json!("22:20:00"))]),
            ("voy a 3 tiendas", &[]),
            ("a 2 h de Madrid", &[]),
            ("a 2.50 euros", &[]),
        ],
    );
}

#[test]
fn digits_of_an_identifier_count_nothing() {
    check(
        Builtin::Integer,
        "en",
        0.0,
        &[
            ("run CI again for TR-2026-0193", &[]),
            ("is A-4471 still building", &[]),
            ("retry blue-kettle-17 and prod_eu_3", &[]),
            ("merge release/2", &[]),
            ("a 2-bedroom flat, 5-star", &[("2", json!(2)), ("5", json!(5))]),
            ("pages 10-12", &[("10", json!(10)), ("12", json!(12))]),
            ("10kg-15kg", &[("10", json!(10)), ("15", json!(15))]),
            ("tables w/2 kids", &[("2", json!(2))]),
        ],
    );
    check(Builtin::Integer, "de", 0.0, &[("Auftrag RE-2026-17 mit 3 Stück", &[("3", json!(3))])]);
    check(Builtin::Integer, "ja", 0.0, &[("会員番号M-38170で3人", &[("3", json!(3))])]);
    check(Builtin::Money, "en", 0.0, &[("pay TR-2026-0193", &[])]);
    check(
        Builtin::Date,
        "en",
        0.5,
        &[(
            "on 14-Mar-2025 or 3/Apr/2027",
            &[("14-Mar-2025", json!("2025-03-14")), ("3/Apr/2027", json!("2027-04-03"))],
        )],
    );
}

/// Now is Wednesday, 4 March 2026.
#[test]
fn weeks_are_counted_from_a_day_of_the_week() {
    for (language, text, said, date) in [
        ("en-GB", "book me for Friday week", "Friday week", "2026-03-13"),
        ("en-GB", "Friday fortnight, please", "Friday fortnight", "2026-03-20"),
        ("en-GB", "a week on Thursday", "a week on Thursday", "2026-03-12"),
        ("en-GB", "two weeks from Monday", "two weeks from Monday", "2026-03-23"),
        ("en-GB", "a fortnight today", "a fortnight today", "2026-03-18"),
        ("en-GB", "mid-August", "mid-August", "2026-08-16"),
        ("fr", "vendredi en huit", "vendredi en huit", "2026-03-13"),
        ("fr", "vendredi de la semaine prochaine", "vendredi de la semaine prochaine", "2026-03-13"),
        ("de", "am Freitag in einer Woche", "Freitag in einer Woche", "2026-03-13"),
        ("es", "el viernes de la semana que viene", "viernes de la semana que viene", "2026-03-13"),
    ] {
        check(Builtin::Date, language, 0.6, &[(text, &[(said, json!(date))])]);
    }
    check(Builtin::Date, "en-GB", 0.3, &[("on 31 February", &[])]);
}
