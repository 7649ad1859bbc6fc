//! Japanese with the module `delivery`: no spaces, full-width forms, and polite answers.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use uptake::{
    eval::{self, EvalOptions, cases::Cases},
    snapshot::Snapshot,
    understand::{AskedItem, Expected, Outcome, Turn, TurnRequest, UnderstandOptions, Understander},
};

use super::local::embedder;
use crate::support;

async fn delivery() -> Arc<Snapshot> {
    support::snapshot(support::shipped(), "delivery", embedder().await).await
}

async fn understand(snapshot: &Snapshot, request: TurnRequest) -> Turn {
    let understander = Understander::new(UnderstandOptions::default(), embedder().await, Vec::new());
    let now = "2026-11-20T09:00:00[Asia/Tokyo]".parse().expect("a moment");
    understander.turn(snapshot, &TurnRequest { now: Some(now), ..request }).await.expect("an answer")
}

/// The arguments of the first frame, by slot.
fn arguments(turn: &Turn) -> Value {
    let frame = turn.frames.first();
    let slots = frame.into_iter().flat_map(|frame| &frame.slots);
    Value::Object(slots.map(|slot| (slot.path().to_string(), slot.value.clone())).collect::<Map<_, _>>())
}

#[tokio::test]
async fn answers_are_read_without_what_is_said_around_them() {
    let snapshot = delivery().await;
    let mut wrong = String::new();
    for (function, slot, said, value) in [
        ("register_address", "recipient", "田中太郎です", json!("田中太郎")),
        ("register_address", "recipient", "田中太郎と申します", json!("田中太郎")),
        ("register_address", "recipient", "あ、田中太郎でお願いします。", json!("田中太郎")),
        ("register_address", "recipient", "名前は山本さくらです", json!("山本さくら")),
        ("register_address", "recipient", "佐々木", json!("佐々木")),
        ("register_address", "recipient", "ジョン・スミスです", json!("ジョン・スミス")),
        ("register_address", "recipient", "John Smithです", json!("John Smith")),
        ("register_address", "postal_code", "えっと、150-0002です", json!("150-0002")),
        ("register_address", "postal_code", "１５０ー０００２", json!("150-0002")),
        ("register_address", "postal_code", "〒1500002", json!("1500002")),
        ("register_address", "prefecture", "東京です", json!("東京都")),
        ("register_address", "city", "渋谷区です", json!("渋谷区")),
        ("register_address", "city", "横浜市の西区です", json!("横浜市西区")),
        ("register_address", "city", "軽井沢町です", json!("軽井沢町")),
        ("register_address", "town", "神南です", json!("神南")),
        ("register_address", "town", "みなとみらいです", json!("みなとみらい")),
        ("register_address", "block", "1-2-3です", json!("1-2-3")),
        ("register_address", "block", "一丁目2番3号になります", json!("一丁目2番3号")),
        ("register_address", "building", "グリーンハイツ101号室です", json!("グリーンハイツ101号室")),
        ("register_address", "phone", "０９０−１２３４−５６７８です", json!("+819012345678")),
        ("request_redelivery", "date", "明日でお願いします", json!("2026-11-21")),
        ("request_redelivery", "date", "来週の金曜日に", json!("2026-11-27")),
        ("request_redelivery", "time_window", "午前中で", json!("午前中")),
        ("request_redelivery", "time_window", "１８時から２０時でお願いします", json!("18-20")),
        ("find_office", "area", "えーと、札幌です", json!("札幌市")),
    ] {
        let asked = AskedItem { frame: function.to_owned(), slot: Some(slot.to_owned()) };
        let expected = Expected::named(&snapshot.module, vec![asked]);
        for given in [None, snapshot.module.function_alike(function)] {
            let request =
                TurnRequest { utterance: said.to_owned(), expected: expected.clone(), given, ..TurnRequest::default() };
            let turn = understand(&snapshot, request).await;
            let got = arguments(&turn);
            if got != json!({ (slot): value }) {
                wrong += &format!("{slot} {said} given={}: {got} conf {:.2}\n", given.is_some(), turn.confidence);
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// The module's cases with the bundled model, which knows no Japanese, and no model server.
#[tokio::test]
async fn the_cases_of_the_module_are_understood() {
    let snapshot = delivery().await;
    let text = std::fs::read_to_string(support::shipped().join("delivery/cases.jsonl")).expect("cases");
    let understander = Understander::new(UnderstandOptions::default(), embedder().await, Vec::new());
    let now = "2026-11-20T09:00:00[Asia/Tokyo]".parse().expect("a moment");
    let options = EvalOptions { now: Some(now), ..EvalOptions::default() };
    let found = eval::evaluate(&understander, &snapshot, Cases::parse("cases.jsonl", &text), &options, &|_, _| {})
        .await
        .expect("evaluated");
    let (scores, wrong) = (&found.scores, &found.wrong);
    assert!(scores.function.accuracy.is_some_and(|accuracy| accuracy >= 0.9), "{wrong:#?}");
    assert!(scores.slots.f1.is_some_and(|f1| f1 >= 0.9), "{wrong:#?}");
    assert!(scores.scope.out_of_scope_recall.is_some_and(|recall| recall >= 0.85), "{wrong:#?}");
}

#[tokio::test]
async fn spans_are_those_of_what_was_said() {
    let snapshot = delivery().await;
    let said = "　送り先は東京都渋谷区神南１−２−３です";
    let turn = understand(&snapshot, TurnRequest { utterance: said.to_owned(), ..TurnRequest::default() }).await;
    let spans: Vec<(String, Value, Value, Value)> = turn.frames[0]
        .slots
        .iter()
        .map(|slot| (slot.path().to_string(), slot.value.clone(), json!(slot.span), json!(slot.text)))
        .collect();
    let slot = |path: &str, value: &str, span: [usize; 2], text: &str| {
        (path.to_owned(), json!(value), json!(span), json!(text))
    };
    assert_eq!(
        spans,
        [
            slot("prefecture", "東京都", [5, 8], "東京都"),
            slot("city", "渋谷区", [8, 11], "渋谷区"),
            slot("town", "神南", [11, 13], "神南"),
            slot("block", "1-2-3", [13, 18], "１−２−３"),
        ]
    );
}

#[tokio::test]
async fn what_has_nothing_to_do_with_parcels_is_out_of_scope() {
    let snapshot = delivery().await;
    let mut asked = 0;
    for said in [
        "東京の人口は何人ですか",
        "ピザを二枚注文したい",
        "日本で一番高い山はどれですか",
        "明日は雨が降りますか",
        "面白い本を教えて",
        "how tall is the highest mountain in africa",
    ] {
        let turn = understand(&snapshot, TurnRequest { utterance: said.to_owned(), ..TurnRequest::default() }).await;
        assert!(!matches!(turn.outcome, Outcome::Call(_)), "{said}: {:?}", turn.outcome);
        asked += usize::from(!matches!(turn.outcome, Outcome::NoMatch));
    }
    assert!(asked <= 1, "{asked} questions");
}
