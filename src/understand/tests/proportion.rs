//! Whatever is said, in every state of a conversation, work grows linearly with the text. Work is counted in steps, the
//! same on every machine.

use super::*;
use crate::{
    assist::history::HistoryMessage,
    conversation::{Expects, Tenant},
    understand::replay::UNDERSTOOD,
};

/// Texts that are repeated up to the required length.
const KINDS: [&str; 38] = [
    "x;",
    "a. ",
    "one ",
    "1 ",
    "1/2/",
    "a@",
    "pizza ",
    "2 pizza and ",
    "pizza 2 ",
    "not pizza but ",
    "no ",
    "yes, ",
    "at 5 ",
    "the second one ",
    "from monday to ",
    "+1 555 123 ",
    "hundred ",
    "I mean ",
    "cancel ",
    "a table for 4 ",
    "て、",
    "電気それから",
    "じゃなくて",
    "not pizza ",
    "no 4 and ",
    "without Anna ",
    "remove pizza ",
    "don't cancel ",
    "everything except curry ",
    "Anna isn't pizza. ",
    "large pizzas with cheese and no onions ",
    "add 2 curry with pizza and ",
    "one of them large and the other ",
    "change pizza to curry ",
    "Anna, pizza, 4, ",
    "rather pizza than curry ",
    "not on monday, on friday ",
    "\"pizza\" ",
];

/// Negations in the other languages.
const NEGATIONS: [(&str, &[&str]); 4] = [
    ("de", &["nicht Anna ", "ohne pizza und ", "kein curry ", "storniere 4 nicht, ", "alles außer pizza "]),
    ("es", &["no Anna ", "sin pizza y ", "no canceles 4, ", "todo excepto curry ", "quita pizza "]),
    ("fr", &["pas Anna ", "sans pizza et ", "n'annule pas 4, ", "tout sauf curry ", "enlève pizza "]),
    ("ja", &["アンナじゃなくて", "pizza抜きで", "キャンセルしないで", "curry以外、", "4はいらない、"]),
];

/// Length of the short text in characters, and the factor of the longer one. Already in the short one everything that
/// is bounded in number (places of recognized values, ruled-out things) is near its bound.
const SHORT: usize = 1_000;
const LONGER: usize = 4;
/// How much more work the longer text may take. A quadratic algorithm takes sixteen times as much.
const MOST_GROWTH: u64 = 7;
/// Steps of a turn with a text of that length in which nothing is found: a hundred per character, and the fixed work of
/// a turn.
const ALWAYS: u64 = 500_000;

fn text(kind: &str, length: usize) -> String {
    kind.chars().cycle().take(length).collect()
}

async fn said(snapshot: &Snapshot, understander: &Understander, state: &State, utterance: &str) -> Conversed {
    let request = TurnRequest { utterance: utterance.to_owned(), ..TurnRequest::default() };
    understander.converse(snapshot, state, &request).await.unwrap()
}

/// A conversation in every possible state, by what it waits for.
async fn states(snapshot: &Snapshot, understander: &Understander) -> Vec<(&'static str, State)> {
    let begun = State::new(&snapshot.module.name);
    let after = async |state: &State, utterance: &str| said(snapshot, understander, state, utterance).await.state;
    let mut order = begun.clone();
    order.forms.push(crate::conversation::Form::new("order", 0));
    order.expects = Some(Expects::Slots { function: "order".into(), pointers: vec!["/items/0/dish".into()] });
    let items = after(&order, "2 pizza and 1 curry").await;
    let confirm = after(&begun, "book a table for 4 on monday").await;
    assert!(matches!(confirm.expects, Some(Expects::Yes { .. })), "{:?}", confirm.expects);
    assert!(!items.forms[0].slots.is_empty(), "{:?}", items.forms);
    let called = said(snapshot, understander, &confirm, "yes").await;
    assert!(matches!(called.turn.outcome, Outcome::Call(_)), "{:?}", called.turn.outcome);
    let mut change = confirm.clone();
    change.expects = Some(Expects::Change { function: "book".into() });
    let mut choice = begun.clone();
    let functions = vec!["order".into(), "note".into(), "book".into()];
    choice.expects = Some(Expects::Choice { functions, utterance: "2 pizza not 4 ".repeat(9), tries: 0 });
    let mut several = items.clone();
    several.forms.extend(confirm.forms.clone());
    several.expects = Some(Expects::Slots { function: "book".into(), pointers: vec!["/hour".into()] });
    let long = after(&items, &"2 large pizza and ".repeat(10)).await;
    let phrase = after(&begun, "order large pizzas with cheese and no onions").await;
    let open = |state: &State, pointer: &str| {
        let expects = Some(Expects::Slots { function: "order".into(), pointers: vec![pointer.into()] });
        State { expects, ..state.clone() }
    };
    vec![
        ("nothing", begun),
        ("slots", order),
        ("an item", open(&items, "/items/1/dish")),
        ("any words", open(&items, "/name")),
        ("items", items),
        ("many items", long),
        ("an item of many words", phrase),
        ("a yes", confirm),
        ("a change", change),
        ("a choice", choice),
        ("several forms", several),
        ("after a call", called.state),
    ]
}

/// The steps that a text takes in a state.
async fn steps(snapshot: &Snapshot, understander: &Understander, state: &State, utterance: &str) -> u64 {
    let counted = counting(understander);
    said(snapshot, &counted, state, utterance).await;
    counted.fuel.spent()
}

/// What is out of proportion, in words.
fn fault(what: &str, (short, long): (u64, u64)) -> Option<String> {
    // No text needs the step limit to end.
    let most = UnderstandOptions::default().max_steps;
    let is_fair = short >= SHORT as u64 / 2 && short.max(long) <= most && long <= ALWAYS + MOST_GROWTH * short;
    (!is_fair).then(|| format!("{what}: {short}, then {long} steps for {LONGER} times as much"))
}

#[tokio::test]
async fn hostile_texts_take_work_in_proportion() {
    let (snapshot, understander) = module().await;
    let mut faults = Vec::new();
    for (name, state) in states(&snapshot, &understander).await {
        for kind in KINDS {
            let short = steps(&snapshot, &understander, &state, &text(kind, SHORT)).await;
            let long = steps(&snapshot, &understander, &state, &text(kind, SHORT * LONGER)).await;
            faults.extend(fault(&format!("{name}, {kind:?}"), (short, long)));
        }
    }
    for (language, kinds) in NEGATIONS {
        let (snapshot, understander) = module_of(language, 0).await;
        let mut state = State::new(&snapshot.module.name);
        state.forms.push(crate::conversation::Form::new("order", 0));
        state.expects = Some(Expects::Slots { function: "order".into(), pointers: vec!["/name".into()] });
        for kind in kinds {
            let short = steps(&snapshot, &understander, &state, &text(kind, SHORT)).await;
            let long = steps(&snapshot, &understander, &state, &text(kind, SHORT * LONGER)).await;
            faults.extend(fault(&format!("{language}, {kind:?}"), (short, long)));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// A module with three times as many functions, and their texts about things to leave out, does not make any text three
/// times as much work, in any state.
#[tokio::test]
async fn hostile_texts_take_no_more_work_in_a_larger_module() {
    let (small, large) = (module_of("en", 12).await, module_of("en", 36).await);
    let (small_states, large_states) = (states(&small.0, &small.1).await, states(&large.0, &large.1).await);
    let mut faults = Vec::new();
    for ((name, small_state), (_, large_state)) in small_states.iter().zip(&large_states) {
        for kind in ["not pizza ", "no 4 and ", "remove pizza ", "don't cancel ", "2 pizza and ", "yes, ", "x;"] {
            let mut counts = Vec::new();
            for ((snapshot, understander), state) in [(&small, small_state), (&large, large_state)] {
                let utterance = text(kind, SHORT);
                // The first run fills caches.
                steps(snapshot, understander, state, &utterance).await;
                counts.push(steps(snapshot, understander, state, &utterance).await);
            }
            if 2 * counts[1] > 3 * counts[0] {
                faults.push(format!("{name}, {kind:?}: {counts:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// A conversation that exists only in its messages, in every state, followed by hostile messages, each of which is
/// understood again.
#[tokio::test]
async fn hostile_messages_of_a_conversation_take_work_in_proportion() {
    let (snapshot, understander) = module().await;
    let mut faults = Vec::new();
    for (name, state) in states(&snapshot, &understander).await {
        for kind in ["x;", "not Anna ", "2 pizza and ", "yes, ", "the second one ", "change pizza to curry ", "at 5 "] {
            let mut counts = Vec::new();
            for length in [UNDERSTOOD / LONGER, UNDERSTOOD] {
                let (said, counted) = (text(kind, length), counting(&understander));
                let mut history = crate::understand::converse::history(&state);
                history.extend([
                    HistoryMessage::Person(said.clone()),
                    HistoryMessage::Assistant(said.clone()),
                    HistoryMessage::Tool(said.clone()),
                ]);
                let request = TurnRequest { utterance: said, history, ..TurnRequest::default() };
                let replays = Replays::new(0, 0);
                replays.converse(&Tenant::everybody(), &counted, &snapshot, &request).await.unwrap();
                counts.push(counted.fuel.spent());
            }
            faults.extend(fault(&format!("{name}, {kind:?}"), (counts[0], counts[1])));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// The same for earlier messages: each message is long, and so are results of calls.
#[tokio::test]
async fn hostile_earlier_messages_take_work_in_proportion() {
    let (snapshot, understander) = module().await;
    let mut faults = Vec::new();
    for kind in KINDS {
        let mut counts = Vec::new();
        for length in [SHORT, SHORT * LONGER] {
            let (said, counted) = (text(kind, length), counting(&understander));
            let history = vec![
                HistoryMessage::Person(said.clone()),
                HistoryMessage::Assistant(said.clone()),
                HistoryMessage::Called(format!("order({{\"name\": {said:?}}})")),
                HistoryMessage::Tool(said.clone()),
                HistoryMessage::Person(said.clone()),
            ];
            let request = TurnRequest { utterance: said, history, ..TurnRequest::default() };
            counted.turn(&snapshot, &request).await.unwrap();
            let replays = Replays::new(0, 0);
            replays.converse(&Tenant::everybody(), &counted, &snapshot, &request).await.unwrap();
            counts.push(counted.fuel.spent() / 4);
        }
        faults.extend(fault(&format!("before, {kind:?}"), (counts[0], counts[1])));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// A text that is not read to its end is not a yes, changes nothing, and calls nothing; and the answer says so.
#[tokio::test]
async fn what_is_not_read_whole_calls_nothing() {
    let (snapshot, understander) = module().await;
    let begun = State::new(&snapshot.module.name);
    let told = "book a table for 4 on monday at 5";
    let confirm = said(&snapshot, &understander, &begun, told).await.state;
    for most in [1, 300, 1_000, 2_000, 3_000, 5_000, 10_000, 100_000] {
        for (state, utterance) in [(&begun, told), (&confirm, "yes, and not at 6 but at 5"), (&confirm, "yes")] {
            let short = Understander { fuel: Fuel::new(most, None), ..understander.clone() };
            let conversed = said(&snapshot, &short, state, utterance).await;
            if !short.fuel.is_out() {
                continue;
            }
            let turn = &conversed.turn;
            assert!(!matches!(turn.outcome, Outcome::Call(_)), "{most}, {utterance:?}: {:?}", turn.outcome);
            assert!(turn.trace.notes.iter().any(|note| note == CUT_SHORT), "{:?}", turn.trace.notes);
            if state.expects.is_some() {
                assert_eq!(conversed.state.forms[0].slots, state.forms[0].slots, "{most}, {utterance:?}");
            }
        }
        let short = Understander { fuel: Fuel::new(most, None), ..understander.clone() };
        let request = TurnRequest { utterance: "note that the bus is late".to_owned(), ..TurnRequest::default() };
        let turn = short.turn(&snapshot, &request).await.unwrap();
        assert!(!short.fuel.is_out() || !matches!(turn.outcome, Outcome::Call(_)), "{most}: {:?}", turn.outcome);
    }
    // An earlier message that is not read to its end opens nothing that a yes could answer.
    let history = vec![HistoryMessage::Person(told.to_owned()), HistoryMessage::Assistant("Is that right?".to_owned())];
    let request = TurnRequest { utterance: "yes".to_owned(), history, ..TurnRequest::default() };
    let short = Understander { fuel: Fuel::new(300, None), ..understander.clone() };
    let replays = Replays::new(9, 1 << 20);
    let conversed = replays.converse(&Tenant::everybody(), &short, &snapshot, &request).await.unwrap();
    assert!(short.fuel.is_out() && conversed.state.forms.is_empty(), "{:?}", conversed.state);
    assert!(!matches!(conversed.turn.outcome, Outcome::Call(_)));
}
