//! Sums, lengths of time, times and ranges in the words of every day; the reference moment is Wednesday, 4 March 2026,
//! 10:00 UTC.

use super::{
    by_slot::{SlotCase, check_read},
    *,
};

/// Language, utterance, and the amounts that are found, each as "5 USD".
type Sum = (&'static str, &'static str, &'static [&'static str]);

fn check_sums(cases: &[Sum]) {
    let mut wrong = String::new();
    for (language, text, expected) in cases {
        let told = |(_, value, score): (String, Value, f32)| {
            let currency = value["currency"].as_str().unwrap_or("?").to_owned();
            (score >= Certainty::Guessed.score()).then(|| format!("{} {currency}", value["amount"]))
        };
        let got: Vec<String> = found(&only(Builtin::Money, language), text).into_iter().filter_map(told).collect();
        if got != *expected {
            writeln!(wrong, "{language} {text:?}\n  expected {expected:?}\n  got      {got:?}").expect("a string");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn check_lengths(cases: &[SlotCase]) {
    check_read(Builtin::Duration, SlotReading::default(), cases);
}

fn check_times(cases: &[SlotCase]) {
    check_read(Builtin::Time, SlotReading::default(), cases);
}

fn check_dates(cases: &[SlotCase]) {
    check_read(Builtin::Date, SlotReading::default(), cases);
}

#[test]
fn coins_and_notes_are_sums() {
    check_sums(&[
        ("en-GB", "that's 50p each", &["0.5 GBP"]),
        ("en-GB", "ninety-nine pence", &["0.99 GBP"]),
        ("en-GB", "a fiver for the driver", &["5 GBP"]),
        ("en-AU", "a fiver", &["5 AUD"]),
        ("en-GB", "lend me a tenner", &["10 GBP"]),
        ("en-GB", "three tenners", &["30 GBP"]),
        ("en-GB", "two quid", &["2 GBP"]),
        ("en-GB", "two quid fifty", &["2.5 GBP"]),
        ("en-GB", "a couple of quid", &["2 GBP"]),
        ("en-GB", "a quid", &["1 GBP"]),
        ("en-GB", "it was £3.20", &["3.2 GBP"]),
        ("en-GB", "a pound fifty", &["1.5 GBP"]),
        ("en-GB", "half a million pounds", &["500000 GBP"]),
        ("en-US", "twenty bucks", &["20 USD"]),
        ("en-US", "fifty cents", &["0.5 USD"]),
        ("en-US", "a buck fifty", &["1.5 USD"]),
        ("en-US", "a dollar and a half", &["1.5 USD"]),
        ("en-US", "two and a half dollars", &["2.5 USD"]),
        ("en-US", "a dime", &["0.1 USD"]),
        ("en-US", "a hundred dollars", &["100 USD"]),
        ("en-AU", "ten bucks", &["10 AUD"]),
        ("en-US", "five grand", &["5000 ?"]),
        ("en-GB", "ten grand", &["10000 ?"]),
        ("de", "fünfzig Cent", &["0.5 EUR"]),
        ("de", "ein Euro fünfzig", &["1.5 EUR"]),
        ("de", "zwei Euro und zwanzig Cent", &["2.2 EUR"]),
        ("de", "anderthalb Euro", &["1.5 EUR"]),
        ("de", "einen Euro", &["1 EUR"]),
        ("de", "einen Zwanziger", &["20 EUR"]),
        ("de", "zwei Fünfziger", &["100 EUR"]),
        ("de-CH", "fünfzig Rappen", &["0.5 CHF"]),
        ("de-CH", "zwei Franken fünfzig", &["2.5 CHF"]),
        ("de", "zwei Dollar fünfzig", &["2.5 USD"]),
        ("es", "un euro cincuenta", &["1.5 EUR"]),
        ("es", "cincuenta céntimos", &["0.5 EUR"]),
        ("es", "dos euros con veinte", &["2.2 EUR"]),
        ("es", "euro y medio", &["1.5 EUR"]),
        ("es", "un euro y medio", &["1.5 EUR"]),
        ("es", "veinte pavos", &["20 EUR"]),
        ("es-MX", "cincuenta centavos", &["0.5 MXN"]),
        ("es-MX", "mil pesos", &["1000 MXN"]),
        ("fr", "un euro cinquante", &["1.5 EUR"]),
        ("fr", "50 centimes", &["0.5 EUR"]),
        ("fr", "deux euros vingt", &["2.2 EUR"]),
        ("fr", "vingt balles", &["20 EUR"]),
        ("fr", "un euro et demi", &["1.5 EUR"]),
        ("fr-CH", "cinquante centimes", &["0.5 CHF"]),
        ("fr", "cent euros", &["100 EUR"]),
        ("ja", "五百円", &["500 JPY"]),
        ("ja", "1万円お願いします", &["10000 JPY"]),
        ("ja", "千円札", &["1000 JPY"]),
        ("ja", "50セント", &["0.5 USD"]),
        ("ja", "2ドル50セント", &["2.5 USD"]),
        ("ja", "五百円玉", &["500 JPY"]),
    ]);
}

#[test]
fn what_only_sounds_like_money_is_none() {
    check_sums(&[
        ("en-GB", "a grand piano", &[]),
        ("en-GB", "two grand pianos", &[]),
        ("en-GB", "page 50 please", &[]),
        ("en-GB", "in the fifties", &[]),
        ("de", "die zwanziger Jahre", &[]),
        ("es", "un pavo relleno", &[]),
        ("fr", "cinq balles de tennis", &[]),
        ("fr", "cinq pour cent", &[]),
        ("en-US", "a quarter past", &[]),
    ]);
}

#[test]
fn lengths_of_time_are_said_without_a_number() {
    check_lengths(&[
        ("en", "for an hour", &["PT1H"]),
        ("en", "half an hour", &["PT30M"]),
        ("en", "for a fortnight", &["P2W"]),
        ("en", "two fortnights", &["P4W"]),
        ("en", "a couple of days", &["P2D"]),
        ("en", "a couple hours", &["PT2H"]),
        ("en", "a quarter of an hour", &["PT15M"]),
        ("en", "three quarters of an hour", &["PT45M"]),
        ("en", "an hour and a quarter", &["PT1H15M"]),
        ("en", "an hour and three quarters", &["PT1H45M"]),
        ("en", "one and a half hours", &["PT1H30M"]),
        ("en", "half a year", &["P6M"]),
        ("en", "a week and a half", &["P10DT12H"]),
        ("en", "the next hour", &[]),
        ("en", "a decade", &["P10Y"]),
        ("de", "eine halbe Stunde", &["PT30M"]),
        ("de", "anderthalb Stunden", &["PT1H30M"]),
        ("de", "eineinhalb Stunden", &["PT1H30M"]),
        ("de", "eine Viertelstunde", &["PT15M"]),
        ("de", "eine Dreiviertelstunde", &["PT45M"]),
        ("de", "eine viertel Stunde", &["PT15M"]),
        ("de", "zweieinhalb Tage", &["P2DT12H"]),
        ("de", "ein halbes Jahr", &["P6M"]),
        ("de", "für vierzehn Tage", &["P14D"]),
        ("de", "eine Stunde", &["PT1H"]),
        ("de", "ein paar Tage", &[]),
        ("es", "media hora", &["PT30M"]),
        ("es", "hora y media", &["PT1H30M"]),
        ("es", "una hora y media", &["PT1H30M"]),
        ("es", "un cuarto de hora", &["PT15M"]),
        ("es", "tres cuartos de hora", &["PT45M"]),
        ("es", "una hora y cuarto", &["PT1H15M"]),
        ("es", "un par de días", &["P2D"]),
        ("es", "un año y medio", &["P1Y6M"]),
        ("es", "una quincena", &["P15D"]),
        ("es", "medio año", &["P6M"]),
        ("fr", "une demi-heure", &["PT30M"]),
        ("fr", "une heure et demie", &["PT1H30M"]),
        ("fr", "un quart d'heure", &["PT15M"]),
        ("fr", "trois quarts d'heure", &["PT45M"]),
        ("fr", "une heure et quart", &["PT1H15M"]),
        ("fr", "une quinzaine", &["P2W"]),
        ("fr", "une quinzaine de jours", &["P2W"]),
        ("fr", "une semaine et demie", &["P10DT12H"]),
        ("fr", "un an et demi", &["P1Y6M"]),
        ("fr", "une douzaine de jours", &["P12D"]),
        ("ja", "1時間半", &["PT1H30M"]),
        ("ja", "二時間半", &["PT2H30M"]),
        ("ja", "半年", &["P6M"]),
        ("ja", "半日", &["PT12H"]),
        ("ja", "一年半", &["P1Y6M"]),
        ("ja", "30分間", &["PT30M"]),
        ("ja", "一週間", &["P1W"]),
        ("ja", "1ヶ月半", &[]),
    ]);
}

#[test]
fn days_are_counted_from_today_in_everyday_words() {
    check_dates(&[
        ("en", "in a fortnight", &["2026-03-18"]),
        ("en", "in a fortnight's time", &["2026-03-18"]),
        ("en", "a fortnight from today", &["2026-03-18"]),
        ("en", "in a week", &["2026-03-11"]),
        ("en", "a fortnight ago", &["2026-02-18"]),
        ("en", "in a couple of days", &["2026-03-06"]),
        ("en", "in a month", &["2026-04-04"]),
        ("en", "in a week's time", &["2026-03-11"]),
        ("en", "in half a year", &["2026-09-04"]),
        ("de", "in vierzehn Tagen", &["2026-03-18"]),
        ("de", "in acht Tagen", &["2026-03-11|2026-03-12"]),
        ("de", "heute in acht Tagen", &["2026-03-11"]),
        ("de", "Freitag in acht Tagen", &["2026-03-13"]),
        ("de", "in einer Woche", &["2026-03-11"]),
        ("de", "vor einer Woche", &["2026-02-25"]),
        ("de", "heute in einer Woche", &["2026-03-11"]),
        ("de", "in einem Monat", &["2026-04-04"]),
        ("de", "in zwei Wochen", &["2026-03-18"]),
        ("de", "in drei Tagen", &["2026-03-07"]),
        ("es", "en quince días", &["2026-03-18|2026-03-19"]),
        ("es", "dentro de ocho días", &["2026-03-11|2026-03-12"]),
        ("es", "dentro de una semana", &["2026-03-11"]),
        ("es", "de hoy en ocho", &["2026-03-11"]),
        ("es", "en un par de días", &["2026-03-06"]),
        ("es", "hace dos semanas", &["2026-02-18"]),
        ("es", "hace una semana", &["2026-02-25"]),
        ("fr", "dans une quinzaine", &["2026-03-18"]),
        ("fr", "dans quinze jours", &["2026-03-18|2026-03-19"]),
        ("fr", "dans huit jours", &["2026-03-11|2026-03-12"]),
        ("fr", "d'ici une semaine", &["2026-03-11"]),
        ("fr", "dans un mois", &["2026-04-04"]),
        ("fr", "il y a trois jours", &["2026-03-01"]),
        ("ja", "一週間後", &["2026-03-11"]),
        ("ja", "二週間後に", &["2026-03-18"]),
        ("ja", "半年後", &["2026-09-04"]),
        ("ja", "10日後", &["2026-03-14"]),
    ]);
}

#[test]
fn minutes_are_counted_from_the_half_hour() {
    check_times(&[
        ("de", "um fünf vor halb acht", &["07:25:00|19:25:00"]),
        ("de", "fünf nach halb acht", &["07:35:00|19:35:00"]),
        ("de", "um zehn vor halb neun abends", &["20:20:00"]),
        ("de", "5 Minuten vor halb sechs", &["05:25:00|17:25:00"]),
        ("de", "um Viertel acht", &["07:15:00|19:15:00"]),
        ("de", "um drei viertel acht abends", &["19:45:00"]),
        ("de", "um drei viertel acht", &["07:45:00|19:45:00"]),
        ("de", "um dreiviertel acht", &["07:45:00|19:45:00"]),
        ("de", "Viertel nach acht", &["08:15:00|20:15:00"]),
        ("de", "viertel vor acht", &["07:45:00|19:45:00"]),
        ("de", "zwanzig nach sieben", &["07:20:00|19:20:00"]),
        ("de", "fünf vor zwölf", &["11:55:00"]),
        ("de", "halb eins", &["12:30:00"]),
        ("de", "fünf vor halb eins", &["12:25:00"]),
        ("de", "kurz vor acht Uhr", &["08:00:00"]),
        ("es", "a las ocho menos veinte", &["07:40:00|19:40:00"]),
        ("es", "las ocho menos veinte", &["07:40:00|19:40:00"]),
        ("es", "a las ocho y veinte", &["08:20:00|20:20:00"]),
        ("es", "a las ocho y veinticinco de la tarde", &["20:25:00"]),
        ("es", "las siete y media", &["07:30:00|19:30:00"]),
        ("es", "un cuarto para las nueve", &["08:45:00|20:45:00"]),
        ("es", "a la una y media", &["01:30:00|13:30:00"]),
        ("fr", "huit heures moins le quart", &["07:45:00|19:45:00"]),
        ("fr", "à huit heures moins vingt", &["07:40:00|19:40:00"]),
        ("fr", "huit heures et quart", &["08:15:00|20:15:00"]),
        ("fr", "à huit heures vingt", &["08:20:00"]),
        ("fr", "midi et demi", &["12:30:00"]),
        ("fr", "midi et quart", &["12:15:00"]),
        ("fr", "midi moins le quart", &["11:45:00"]),
        ("fr", "minuit et demi", &["00:30:00"]),
        ("ja", "7時半", &["07:30:00"]),
        ("ja", "8時5分前", &["07:55:00"]),
        ("ja", "午後8時10分前に", &["19:50:00"]),
        ("ja", "8時15分過ぎ", &["08:15:00"]),
        ("ja", "8時ちょうどに", &["08:00:00"]),
        ("ja", "夜の8時半", &["20:30:00"]),
        ("en", "ten to eight", &["07:50:00|19:50:00"]),
        ("en", "twenty-five past seven", &["07:25:00|19:25:00"]),
        ("en-US", "at quarter of eight", &["07:45:00|19:45:00"]),
        ("en", "half past noon", &["12:30:00"]),
        ("en-GB", "half seven in the evening", &["19:30:00"]),
    ]);
}

#[test]
fn days_of_a_range_follow_each_other() {
    check_dates(&[
        ("en", "from the 28th to the 3rd", &["2026-03-28", "2026-04-03"]),
        ("en", "from 28 December to 3 January", &["2026-12-28", "2027-01-03"]),
        ("en", "the 28th to 3 April", &["2026-03-28", "2026-04-03"]),
        ("de", "vom 28. bis zum 3.", &["2026-03-28", "2026-04-03"]),
        ("de", "vom 28. bis 3. April", &["2026-03-28", "2026-04-03"]),
        ("de", "vom 28. bis zum 3. einlagern", &["2026-03-28", "2026-04-03"]),
        ("de", "vom 2. bis zum 3. Stock", &[]),
        ("de", "vom 9. bis 12.", &["2026-03-09", "2026-03-12"]),
        ("es", "del 28 al 3", &["2026-03-28", "2026-04-03"]),
        ("es", "del 28 de marzo al 3 de abril", &["2026-03-28", "2026-04-03"]),
        ("fr", "du 28 au 3", &["2026-03-28", "2026-04-03"]),
        ("fr", "du 28 mars au 3 avril", &["2026-03-28", "2026-04-03"]),
        ("ja", "28日から3日まで", &["2026-03-28", "2026-04-03"]),
        // Streets and pages are not days.
        ("fr", "du 5 au 7 rue Haute", &[]),
        ("es", "del 5 al 7 páginas", &[]),
    ]);
}

#[test]
fn a_range_of_times_ends_behind_its_beginning() {
    check_read(
        Builtin::DateTime,
        SlotReading::default(),
        &[
            ("en", "tomorrow from 10pm to 2am", &["2026-03-05T22:00:00", "2026-03-06T02:00:00"]),
            ("en", "from 10pm to 2am", &["2026-03-04T22:00:00", "2026-03-05T02:00:00"]),
            ("en", "on Friday from 9am to 5pm", &["2026-03-06T09:00:00", "2026-03-06T17:00:00"]),
            ("en", "on Friday 9am, and on Saturday 5pm", &["2026-03-06T09:00:00", "2026-03-07T17:00:00"]),
            ("de", "morgen von 22 Uhr bis 2 Uhr", &["2026-03-05T22:00:00", "2026-03-06T02:00:00"]),
            ("fr", "demain 22h jusqu'à 2h", &["2026-03-05T22:00:00", "2026-03-06T02:00:00"]),
            ("es", "mañana a las 22:00 hasta las 2:00", &["2026-03-05T22:00:00", "2026-03-06T02:00:00"]),
        ],
    );
}
