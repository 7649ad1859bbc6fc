//! Japanese: no spaces, full-width forms, kanji numerals. The reference moment is Wednesday, 4 March 2026, 10:00 UTC.

use super::*;

#[test]
fn numbers_are_read_with_their_counters() {
    check(
        Builtin::Integer,
        "ja",
        0.5,
        &[
            ("二個ください", &[("二", json!(2))]),
            ("3枚と2人", &[("3", json!(3)), ("2", json!(2))]),
            ("神南三丁目", &[("三", json!(3))]),
            ("十二番地", &[("十二", json!(12))]),
            ("二千五百円", &[("二千五百", json!(2_500))]),
            ("二千五百", &[("二千五百", json!(2_500))]),
            ("3万5千人", &[("3万5千", json!(35_000))]),
            ("１２個", &[("１２", json!(12))]),
            ("ふたつお願いします", &[("ふたつ", json!(2))]),
            ("全部で三つです", &[("三", json!(3))]),
            ("一番高い山", &[]),
            ("一般の人と三菱", &[]),
        ],
    );
}

#[test]
fn dates_are_read() {
    check(
        Builtin::Date,
        "ja",
        0.5,
        &[
            ("明日届けてください", &[("明日", json!("2026-03-05"))]),
            ("しあさってに", &[("しあさって", json!("2026-03-07"))]),
            ("来週の金曜日に", &[("来週の金曜日", json!("2026-03-13"))]),
            ("再来週の月曜に", &[("再来週の月曜", json!("2026-03-16"))]),
            ("今週の土曜日", &[("今週の土曜日", json!("2026-03-07"))]),
            ("今度の日曜日", &[("今度の日曜日", json!("2026-03-08"))]),
            ("来週末は", &[("来週末", json!("2026-03-14"))]),
            ("来週でもいい", &[("来週", json!("2026-03-09"))]),
            ("3月5日でお願いします", &[("3月5日", json!("2026-03-05"))]),
            ("１２月２４日", &[("１２月２４日", json!("2026-12-24"))]),
            ("十二月二十四日", &[("十二月二十四日", json!("2026-12-24"))]),
            ("令和8年4月1日から", &[("令和8年4月1日", json!("2026-04-01"))]),
            ("平成元年1月8日生まれ", &[("平成元年1月8日", json!("1989-01-08"))]),
            ("来月5日", &[("来月5日", json!("2026-04-05"))]),
            ("来月の10日", &[("来月の10日", json!("2026-04-10"))]),
            ("来年2月3日", &[("来年2月3日", json!("2027-02-03"))]),
            ("15日に届けて", &[("15日", json!("2026-03-15"))]),
            ("3日に", &[("3日", json!("2026-04-03"))]),
            ("3日間の旅行", &[]),
            ("2日前", &[("2日前", json!("2026-03-02"))]),
            ("三日月", &[]),
        ],
    );
}

#[test]
fn times_are_read() {
    check(
        Builtin::Time,
        "ja",
        0.5,
        &[
            ("午後3時半に", &[("午後3時半", json!("15:30:00"))]),
            ("午前十時", &[("午前十時", json!("10:00:00"))]),
            ("１５時３０分", &[("１５時３０分", json!("15:30:00"))]),
            ("夜9時まで", &[("9時", json!("21:00:00"))]),
            ("夜の9時", &[("9時", json!("21:00:00"))]),
            ("昼の1時", &[("1時", json!("13:00:00"))]),
            ("朝7時に", &[("7時", json!("07:00:00"))]),
            ("14時から16時", &[("14時", json!("14:00:00")), ("16時", json!("16:00:00"))]),
            ("3時間", &[]),
        ],
    );
    check(
        Builtin::DateTime,
        "ja",
        0.65,
        &[
            ("来週の金曜日の午後3時半", &[("来週の金曜日の午後3時半", json!("2026-03-13T15:30:00"))]),
            ("3月5日15時", &[("3月5日15時", json!("2026-03-05T15:00:00"))]),
            ("明日の夜8時", &[("明日の夜8時", json!("2026-03-05T20:00:00"))]),
        ],
    );
}

#[test]
fn phone_numbers_may_be_full_width() {
    check(
        Builtin::Phone,
        "ja",
        0.5,
        &[
            ("電話番号は090-1234-5678です", &[("090-1234-5678", json!("+819012345678"))]),
            ("０３−３２１４−５６７８です", &[("０３−３２１４−５６７８", json!("+81332145678"))]),
            ("０９０ー１２３４ー５６７８", &[("０９０ー１２３４ー５６７８", json!("+819012345678"))]),
            ("郵便番号は150-0002です", &[]),
        ],
    );
}

#[test]
fn money_may_have_kanji() {
    check(
        Builtin::Money,
        "ja",
        0.6,
        &[
            ("二千五百円です", &[("二千五百円", json!({"amount": 2500, "currency": "JPY"}))]),
            ("3万円送って", &[("3万円", json!({"amount": 30_000, "currency": "JPY"}))]),
            ("1.5万円", &[("1.5万円", json!({"amount": 15_000, "currency": "JPY"}))]),
            ("20ドルフィン", &[]),
        ],
    );
}

#[test]
fn a_list_matches_in_running_text_but_not_within_a_word_of_katakana() {
    let kinds = vec![
        ("place", list(&[("アメリカ", &[]), ("東京都", &["東京"]), ("渋谷区", &["渋谷"])], false)),
        ("dish", list(&[("トマト", &[]), ("ピザ", &[]), ("T-shirt", &["Tシャツ"])], false)),
    ];
    let recognizers = Recognizers::compile(&module("ja", kinds)).expect("compiles");
    for (text, expected) in [
        ("東京都渋谷区に送って", &["東京都", "渋谷区"][..]),
        ("アメリカに住んでいます", &["アメリカ"]),
        ("北アメリカの地図", &["アメリカ"]),
        ("ｱﾒﾘｶ製", &["ｱﾒﾘｶ"]),
        ("ラテンアメリカ音楽", &[]),
        ("アメリカンコーヒー", &[]),
        ("ラテン・アメリカ", &["アメリカ"]),
        ("トマトピザを二枚", &["トマト", "ピザ"]),
        ("トマトソースとピザ", &["ピザ"]),
        ("白いTシャツを3枚", &["Tシャツ"]),
    ] {
        let texts: Vec<String> = found(&recognizers, text).into_iter().map(|(text, ..)| text).collect();
        assert_eq!(texts, expected, "{text}");
    }
}

#[test]
fn patterns_see_the_usual_width_and_bounds_between_scripts() {
    let pattern = |text: &str| RecognizerKind::Pattern(PatternSpec { patterns: vec![text.to_owned()] });
    let kinds = vec![("postal", pattern(r"\d{3}-\d{4}")), ("order", pattern(r"\b(?P<value>[A-Z]{2}\d{6})\b"))];
    let recognizers = Recognizers::compile(&module("ja", kinds)).expect("compiles");
    for (text, expected) in [
        ("〒１５０−０００２です", &[("１５０−０００２", "150-0002")][..]),
        ("えっと、150-0002です", &[("150-0002", "150-0002")]),
        ("注文番号はAB123456です", &[("AB123456", "AB123456")]),
        ("番号ＡＢ１２３４５６の荷物", &[("ＡＢ１２３４５６", "AB123456")]),
        ("AB123456 を", &[("AB123456", "AB123456")]),
        ("XAB123456です", &[]),
    ] {
        let values: Vec<(String, Value)> =
            found(&recognizers, text).into_iter().map(|(text, value, _)| (text, value)).collect();
        let expected: Vec<(String, Value)> =
            expected.iter().map(|(text, value)| ((*text).to_owned(), json!(value))).collect();
        assert_eq!(values, expected, "{text}");
    }
}
