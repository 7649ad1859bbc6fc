//! What a slot wants if words are ambiguous; the reference moment is Wednesday, 4 March 2026, 10:00 UTC.

use super::*;
use crate::{
    language::units::Unit,
    module::settings::{Direction, PartOfDay},
};

/// Language, utterance, and the results; the values of one mention are separated by `|`.
pub(super) type SlotCase = (&'static str, &'static str, &'static [&'static str]);

pub(super) fn check_read(builtin: Builtin, reading: SlotReading, cases: &[SlotCase]) {
    let mut wrong = String::new();
    for (language, text, expected) in cases {
        let mut module = module(language, vec![(builtin.name(), RecognizerKind::Builtin(builtin))]);
        module.recognizers[0].reading = reading;
        let recognizers = Recognizers::compile(&module).expect("it compiles");
        let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let got: Vec<String> = recognizers
            .recognize(&Utterance::new(text), &context())
            .iter()
            .filter(|mention| mention.score >= WITHIN_ANOTHER.score())
            .map(|mention| {
                std::iter::once(&mention.value).chain(&mention.others).map(plain).collect::<Vec<_>>().join("|")
            })
            .collect();
        if got != *expected {
            writeln!(wrong, "{language} {text:?}\n  expected {expected:?}\n  got      {got:?}").expect("a string");
        }
    }
    assert!(wrong.is_empty(), "{}:\n{wrong}", builtin.name());
}

fn part_of_day(part_of_day: PartOfDay) -> SlotReading {
    SlotReading { part_of_day, ..SlotReading::default() }
}

fn direction(direction: Direction) -> SlotReading {
    SlotReading { direction, ..SlotReading::default() }
}

fn unit(unit: Unit) -> SlotReading {
    SlotReading { unit: Some(unit), ..SlotReading::default() }
}

#[test]
fn an_hour_of_either_half_of_the_day_keeps_both() {
    check_read(
        Builtin::Time,
        SlotReading::default(),
        &[
            ("en", "move it to half past four", &["16:30:00|04:30:00"]),
            ("en", "see you at 9", &["09:00:00|21:00:00"]),
            ("en", "quarter to six works", &["17:45:00|05:45:00"]),
            ("en-GB", "let's say half eight", &["08:30:00|20:30:00"]),
            ("en-GB", "around 8.15", &["08:15:00|20:15:00"]),
            ("en", "at 11:20", &["11:20:00|23:20:00"]),
            ("de", "um halb neun", &["08:30:00|20:30:00"]),
            ("de", "gegen sieben", &["07:00:00|19:00:00"]),
            ("es", "a las cinco y media", &["05:30:00|17:30:00"]),
            ("es", "a las diez menos cuarto", &["09:45:00|21:45:00"]),
            ("es", "a las diez y cuarto", &["10:15:00|22:15:00"]),
            ("fr", "à sept heures moins le quart", &["06:45:00|18:45:00"]),
            ("fr", "à sept heures moins dix", &["06:50:00|18:50:00"]),
            ("fr", "à sept heures et quart", &["07:15:00|19:15:00"]),
            // Nothing else is said: it may answer a question.
            ("en", "11", &["11:00:00|23:00:00"]),
            ("en", "10.15", &["10:15:00|22:15:00"]),
            ("en", "11 people", &[]),
            // Words that name the half of the day leave no ambiguity.
            ("en", "at 6 in the evening", &["18:00:00"]),
            ("en", "at 06:00", &["06:00:00"]),
            ("en", "by noon", &["12:00:00"]),
            ("en", "before noon", &["12:00:00"]),
            ("de", "um 7:15 Uhr", &["07:15:00"]),
            ("de", "um 10.15", &["10:15:00"]),
            ("de", "um 21h", &["21:00:00"]),
            ("de", "ab 14 h", &["14:00:00"]),
            ("fr", "vers 14:00h", &["14:00:00"]),
            ("fr", "à 21h", &["21:00:00"]),
            ("es", "a las 21h", &["21:00:00"]),
            ("ja", "7時15分に", &["07:15:00"]),
        ],
    );
}

#[test]
fn words_of_the_utterance_say_which_half() {
    check_read(
        Builtin::Time,
        SlotReading::default(),
        &[
            ("en", "dinner at 8 for the two of us", &["20:00:00"]),
            ("en", "wake me at 6", &["06:00:00"]),
            ("en", "lunch at 1", &["13:00:00"]),
            ("en", "we come tonight, say at half past seven", &["19:30:00"]),
            ("de", "Abendessen um sieben", &["19:00:00"]),
            ("de", "weck mich um halb sechs", &["05:30:00"]),
            ("es", "una cena a las nueve", &["21:00:00"]),
            ("es", "despiértame a las seis", &["06:00:00"]),
            ("fr", "petit déjeuner à 7", &["07:00:00"]),
            ("fr", "un dîner à huit", &["20:00:00"]),
        ],
    );
}

#[test]
fn a_slot_says_which_half() {
    check_read(
        Builtin::Time,
        part_of_day(PartOfDay::Morning),
        &[("en", "at 6", &["06:00:00"]), ("en", "half past four", &["04:30:00"]), ("de", "um sechs", &["06:00:00"])],
    );
    check_read(
        Builtin::Time,
        part_of_day(PartOfDay::Afternoon),
        &[("en", "at 9", &["21:00:00"]), ("en", "at 9am", &["09:00:00"]), ("es", "a las ocho", &["20:00:00"])],
    );
    check_read(
        Builtin::Time,
        part_of_day(PartOfDay::Day),
        &[("en", "at 9", &["09:00:00"]), ("en", "at 3", &["15:00:00"]), ("en", "at 7", &["07:00:00|19:00:00"])],
    );
    check_read(
        Builtin::Time,
        part_of_day(PartOfDay::Nearest),
        &[("en", "at 9", &["21:00:00"]), ("en", "at 11", &["11:00:00"]), ("en", "at 3", &["15:00:00"])],
    );
}

#[test]
fn numbers_that_are_no_times_stay_so() {
    check_read(
        Builtin::Time,
        SlotReading::default(),
        &[
            ("en", "a table for two this evening", &[]),
            ("en", "it costs 4.30", &[]),
            ("en", "at 4.30 euros", &[]),
            ("en", "half eight ounces of it", &[]),
            ("en", "cook it for 2h", &[]),
            ("de", "Version 10.15.2", &[]),
        ],
    );
}

#[test]
fn dates_lie_where_the_slot_looks() {
    let past = direction(Direction::Past);
    check_read(
        Builtin::Date,
        past,
        &[
            ("en", "it happened on 3 November", &["2025-11-03"]),
            ("en", "on Monday", &["2026-03-02"]),
            ("en", "last Thursday", &["2026-02-26"]),
            ("en", "on the 2nd", &["2026-03-02"]),
            ("en", "on the 20th", &["2026-02-20"]),
            ("en", "in April", &["2025-04-01"]),
            ("en", "born on 3 May 1981", &["1981-05-03"]),
            ("de", "am 12. Dezember", &["2025-12-12"]),
            ("de", "am Freitag", &["2026-02-27"]),
            ("es", "el 3 de noviembre", &["2025-11-03"]),
            ("fr", "le 3 novembre", &["2025-11-03"]),
            ("ja", "11月3日に", &["2025-11-03"]),
        ],
    );
    check_read(
        Builtin::Date,
        SlotReading::default(),
        &[
            ("en", "on 3 November", &["2026-11-03"]),
            ("en", "I have had it since Monday", &["2026-03-02"]),
            ("en", "since the 20th", &["2026-02-20"]),
            ("de", "seit Freitag", &["2026-02-27"]),
            ("de", "seit dem 3. November", &["2025-11-03"]),
            ("fr", "depuis lundi", &["2026-03-02"]),
        ],
    );
    check_read(
        Builtin::Date,
        direction(Direction::Any),
        &[
            ("en", "on 3 November", &["2026-11-03|2025-11-03"]),
            ("en", "on 3 November 2024", &["2024-11-03"]),
            ("en", "tomorrow", &["2026-03-05"]),
        ],
    );
}

#[test]
fn which_one_of_the_periods_is_meant_is_said_before_or_behind_it() {
    check_read(
        Builtin::Date,
        SlotReading::default(),
        &[
            ("en", "the month before last", &["2026-01-01"]),
            ("en", "the week after next", &["2026-03-16"]),
            ("en", "on the Friday after next", &["2026-03-20"]),
            ("en", "the Friday before last", &["2026-02-20"]),
            ("en", "Friday of the week after next", &["2026-03-20"]),
            ("en", "the weekend after next", &["2026-03-21"]),
            ("en", "the weekend before last", &["2026-02-21"]),
            ("en", "last weekend", &["2026-02-28"]),
            ("en", "the coming week", &["2026-03-09"]),
            ("en", "the coming Friday", &["2026-03-06"]),
            ("en", "the year after next", &["2028-01-01"]),
            ("de", "letzten Monat", &["2026-02-01"]),
            ("de", "vorigen Monat", &["2026-02-01"]),
            ("de", "vergangene Woche", &["2026-02-23"]),
            ("de", "vorletzte Woche", &["2026-02-16"]),
            ("de", "kommende Woche", &["2026-03-09"]),
            ("de", "in der kommenden Woche", &["2026-03-09"]),
            ("de", "im kommenden Monat", &["2026-04-01"]),
            ("de", "kommendes Jahr", &["2027-01-01"]),
            ("de", "kommendes Wochenende", &["2026-03-07"]),
            ("de", "übernächsten Freitag", &["2026-03-20"]),
            ("de", "übernächste Woche", &["2026-03-16"]),
            ("de", "am Freitag der übernächsten Woche", &["2026-03-20"]),
            ("de", "Freitag kommender Woche", &["2026-03-13"]),
            ("de", "übernächstes Wochenende", &["2026-03-21"]),
            ("de", "vorletzten Freitag", &["2026-02-20"]),
            ("de", "am vergangenen Dienstag", &["2026-03-03"]),
            ("de", "kommenden Mittwoch", &["2026-03-11"]),
            ("es", "el mes pasado", &["2026-02-01"]),
            ("es", "la semana pasada", &["2026-02-23"]),
            ("es", "el año pasado", &["2025-01-01"]),
            ("es", "el año que viene", &["2027-01-01"]),
            ("es", "el mes próximo", &["2026-04-01"]),
            ("es", "la semana que viene", &["2026-03-09"]),
            ("es", "el viernes que viene", &["2026-03-06"]),
            ("es", "el martes de la semana pasada", &["2026-02-24"]),
            ("es", "el viernes de la semana que viene", &["2026-03-13"]),
            ("es", "el fin de semana pasado", &["2026-02-28"]),
            ("es", "el fin de semana que viene", &["2026-03-07"]),
            ("es", "el próximo fin de semana", &["2026-03-14"]),
            ("es", "el mes antepasado", &["2026-01-01"]),
            ("es", "la semana después de la próxima", &["2026-03-16"]),
            ("es", "a finales del mes pasado", &["2026-02-28"]),
            ("fr", "le mois dernier", &["2026-02-01"]),
            ("fr", "la semaine dernière", &["2026-02-23"]),
            ("fr", "la semaine passée", &["2026-02-23"]),
            ("fr", "l'année dernière", &["2025-01-01"]),
            ("fr", "l'an dernier", &["2025-01-01"]),
            ("fr", "l'année prochaine", &["2027-01-01"]),
            ("fr", "le mois qui vient", &["2026-04-01"]),
            ("fr", "vendredi qui vient", &["2026-03-06"]),
            ("fr", "le mardi de la semaine dernière", &["2026-02-24"]),
            ("fr", "le week-end dernier", &["2026-02-28"]),
            ("fr", "le week-end prochain", &["2026-03-14"]),
            ("fr", "l'avant-dernière semaine", &["2026-02-16"]),
            ("fr", "la semaine après la prochaine", &["2026-03-16"]),
            ("fr", "le 3 du mois dernier", &["2026-02-03"]),
            ("fr", "à la fin du mois dernier", &["2026-02-28"]),
            ("fr", "un mois passé à Paris", &[]),
            ("ja", "先月", &["2026-02-01"]),
            ("ja", "先々月", &["2026-01-01"]),
            ("ja", "先週末に", &["2026-02-28"]),
            ("ja", "再来週末", &["2026-03-21"]),
            ("ja", "先週の火曜日に", &["2026-02-24"]),
            ("ja", "今週の月曜日", &["2026-03-02"]),
            ("ja", "次の金曜日", &["2026-03-06"]),
            ("ja", "この前の金曜日", &["2026-02-27"]),
            ("ja", "来月末", &["2026-04-30"]),
            ("ja", "去年", &["2025-01-01"]),
        ],
    );
}

#[test]
fn the_last_or_next_of_a_month_or_a_feast_is_meant() {
    check_read(
        Builtin::Date,
        SlotReading::default(),
        &[
            ("en", "last May", &["2025-05-01"]),
            ("en", "last March", &["2025-03-01"]),
            ("en", "next March", &["2027-03-01"]),
            ("en", "last Christmas", &["2025-12-25"]),
            ("de", "letzten August", &["2025-08-01"]),
            ("de", "letzte Weihnachten", &["2025-12-25"]),
            ("es", "en mayo pasado", &["2025-05-01"]),
            ("es", "el 3 de marzo pasado", &["2026-03-03"]),
            ("es", "la Navidad pasada", &["2025-12-25"]),
            ("fr", "Noël dernier", &["2025-12-25"]),
            ("fr", "le 12 mai dernier", &["2025-05-12"]),
            ("fr", "en mars prochain", &["2027-03-01"]),
            ("ja", "去年の3月5日", &["2025-03-05"]),
        ],
    );
}

#[test]
fn since_looks_back_at_a_time_of_day() {
    check_read(
        Builtin::DateTime,
        SlotReading::default(),
        &[
            ("en", "it has been down since 8am", &["2026-03-04T08:00:00"]),
            ("en", "since about 11pm", &["2026-03-03T23:00:00"]),
            ("en", "from 11am", &["2026-03-04T11:00:00"]),
            ("en", "from 8am", &["2026-03-05T08:00:00"]),
            ("de", "seit 8 Uhr geht nichts", &["2026-03-04T08:00:00"]),
            ("de", "ab 8 Uhr", &["2026-03-05T08:00:00"]),
            ("fr", "depuis 8h", &["2026-03-04T08:00:00"]),
            ("fr", "depuis 23h", &["2026-03-03T23:00:00"]),
            // The words are used for the past and for the future.
            ("es", "desde las 8 de la mañana", &["2026-03-05T08:00:00|2026-03-04T08:00:00"]),
            ("es", "desde las 11 de la mañana", &["2026-03-04T11:00:00"]),
            (
                "es",
                "desde las 8 de la mañana hasta las 9 de la mañana",
                &["2026-03-05T08:00:00", "2026-03-05T09:00:00"],
            ),
            ("ja", "朝8時から動きません", &["2026-03-05T08:00:00|2026-03-04T08:00:00"]),
            ("ja", "午前11時から", &["2026-03-04T11:00:00"]),
            ("ja", "午前8時から午前9時まで", &["2026-03-05T08:00:00", "2026-03-05T09:00:00"]),
            ("ja", "朝8時以来", &["2026-03-04T08:00:00"]),
        ],
    );
    check_read(
        Builtin::Date,
        SlotReading::default(),
        &[("ja", "月曜日以来", &["2026-03-02"]), ("ja", "金曜日からずっと", &["2026-02-27"])],
    );
}

#[test]
fn parts_of_months_and_ranges_are_read() {
    check_read(
        Builtin::Date,
        SlotReading::default(),
        &[
            ("en", "at the end of April", &["2026-04-30"]),
            ("en", "by the end of the month", &["2026-03-31"]),
            ("en", "in the middle of next month", &["2026-04-15"]),
            ("de", "bis Ende Juni", &["2026-06-30"]),
            ("de", "Anfang Mai", &["2026-05-01"]),
            ("es", "a finales de abril", &["2026-04-30"]),
            ("fr", "fin avril", &["2026-04-30"]),
            ("en", "covering 3 to 7 May", &["2026-05-03", "2026-05-07"]),
            ("en", "from the 1st to the 5th", &["2026-04-01", "2026-04-05"]),
            ("de", "vom 3. bis 7. Mai", &["2026-05-03", "2026-05-07"]),
            ("es", "del 3 al 7 de mayo", &["2026-05-03", "2026-05-07"]),
            ("fr", "du 3 au 7 mai", &["2026-05-03", "2026-05-07"]),
            ("en", "from the 4th, that is the Saturday", &["2026-04-04"]),
            ("en-GB", "on 12/3/2026", &["2026-03-12"]),
            ("en-AU", "on 12/3/2026", &["2026-03-12"]),
            ("en-US", "on 12/3/2026", &["2026-12-03"]),
        ],
    );
}

#[test]
fn the_order_of_dates_is_a_setting() {
    use crate::module::settings::DateOrder;
    let mut module = module("en", vec![("date", RecognizerKind::Builtin(Builtin::Date))]);
    module.settings.date_order = Some(DateOrder::DayFirst);
    let recognizers = Recognizers::compile(&module).expect("it compiles");
    assert_eq!(found(&recognizers, "on 12/3/2026")[0].1, json!("2026-03-12"));
}

#[test]
fn lengths_of_time_are_counted_in_the_slots_unit() {
    check_read(
        Builtin::Integer,
        unit(Unit::Months),
        &[
            ("en", "over three years", &["36"]),
            ("en", "half a year", &["6"]),
            ("en", "for 18 months", &["18"]),
            ("en", "make it 24", &["24"]),
            ("en", "two weeks", &[]),
            ("de", "anderthalb Jahre", &["18"]),
            ("es", "dos años", &["24"]),
            ("fr", "un an et demi", &["18"]),
            ("ja", "2年間", &["24"]),
        ],
    );
    check_read(
        Builtin::Integer,
        unit(Unit::Days),
        &[
            ("en", "the coming three weeks", &["21"]),
            ("en", "two months", &[]),
            ("de", "zwei Wochen", &["14"]),
            ("fr", "pour trois semaines", &["21"]),
            ("ja", "3週間", &["21"]),
        ],
    );
    check_read(
        Builtin::Integer,
        unit(Unit::Minutes),
        &[
            ("en", "an hour forty", &["100"]),
            ("en", "an hour and a half", &["90"]),
            ("en", "45 minutes", &["45"]),
            ("de", "anderthalb Stunden", &["90"]),
            ("es", "dos horas", &["120"]),
            ("fr", "une heure", &["60"]),
        ],
    );
}

#[test]
fn measures_are_counted_in_the_slots_unit() {
    check_read(
        Builtin::Number,
        unit(Unit::Grams),
        &[
            ("en", "1.5kg of it", &["1500"]),
            ("en", "750 g", &["750"]),
            ("de", "1,5 Kilo", &["1500"]),
            ("ja", "2kgの荷物", &["2000"]),
            ("en", "two weeks", &[]),
        ],
    );
    check_read(
        Builtin::Number,
        unit(Unit::Kilograms),
        &[("en", "750 g", &["0.75"]), ("fr", "2 kilos", &["2"]), ("es", "500 gramos", &["0.5"])],
    );
    check_read(
        Builtin::Number,
        unit(Unit::Centimetres),
        &[
            ("en", "60 by 40 by 15 cm", &["60", "40", "15"]),
            ("en", "1.2 m wide", &["120"]),
            ("de", "60 mal 40 cm", &["60", "40"]),
            ("fr", "60 sur 40 cm", &["60", "40"]),
            ("de", "ein Meter zwanzig lang, 60 breit", &["120", "60"]),
            ("fr", "2 mètres 40 de haut", &["240"]),
            ("en", "2 metres 40 cm and 3 metres", &["200", "40", "300"]),
        ],
    );
    check_read(
        Builtin::Integer,
        unit(Unit::Cents),
        &[
            ("en", "64 euros 90", &["6490"]),
            ("en", "£12.50", &["1250"]),
            ("de", "vier Euro neunzig", &["490"]),
            ("fr", "64 euros 90", &["6490"]),
        ],
    );
}

#[test]
fn a_count_is_no_measure() {
    let counts = SlotReading { counts_things: true, ..SlotReading::default() };
    check_read(
        Builtin::Integer,
        counts,
        &[
            ("en", "two weeks for three people", &["3"]),
            ("en", "a dozen eggs", &["12"]),
            ("en", "ten crates", &["10"]),
            ("en", "two packs of screws and three tubes of glue", &["2", "3"]),
            ("en", "a 5 kg bag", &[]),
            ("en", "a 2 bedroom flat at Flat 3, 7 Mill Lane, York", &["2", "3"]),
            ("en", "two boxes, 12 old oak road please", &["2"]),
            ("en", "3 boxes, 2 large street maps", &["3", "2"]),
            ("en", "3 people at 12 High Street, Leeds LS1 4AP", &["3", "12"]),
            ("en", "2 boxes to 555 main st, san francisco, ca 94555", &["2", "555"]),
            ("de", "Am Alten Markt 7a mit 3 Personen", &["3"]),
            ("fr", "4 cartons au 12 rue de la Paix", &["4"]),
            ("fr", "7 bis avenue Jean-Jaurès, 3 places", &["3"]),
            ("de", "zwei Wochen zu viert mit drei Kindern", &["3"]),
            ("es", "dos semanas para cinco personas", &["5"]),
            ("fr", "deux semaines pour quatre", &["4"]),
        ],
    );
}

#[test]
fn a_rank_is_a_number_where_one_is_asked_for() {
    let rank = SlotReading { is_rank: true, ..SlotReading::default() };
    check_read(
        Builtin::Integer,
        rank,
        &[
            ("en", "on the 20th", &["20"]),
            ("en", "the third floor", &["3"]),
            ("de", "im dritten Stock", &["3"]),
            ("es", "en el tercer piso", &["3"]),
            ("fr", "au troisième étage", &["3"]),
        ],
    );
}

#[test]
fn digits_of_a_code_count_nothing() {
    check_read(
        Builtin::Integer,
        SlotReading::default(),
        &[
            ("de", "von DE02 1203 0000 0000 2020 51 bitte", &[]),
            ("en", "call me on +44 7700 900461", &[]),
            ("en", "section 3b, 2x and 5kg", &["2", "5"]),
            ("en", "gate x2, model ax3", &["2"]),
            ("en", "write to desk7@example.com about 3 chairs", &["3"]),
        ],
    );
}
