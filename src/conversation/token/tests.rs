use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use jiff::SignedDuration;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    call::{SlotValue, Source},
    conversation::{
        Clock, Expects, Form, Who,
        store::{Memory, SessionId, SessionOptions, StoreUrl},
    },
    llm::Secret,
    module::fixture,
};

const SECRET: &str = "a secret that is long enough";

fn tokens(options: &ConversationOptions) -> OwnTokens {
    all(options).of(&Tenant::everybody())
}

fn all(options: &ConversationOptions) -> Tokens {
    let memory = SessionOptions { url: StoreUrl::new("memory:"), ..SessionOptions::default() };
    Tokens::open(options, Sessions::open(&memory).expect("good options")).expect("good options")
}

fn plain() -> OwnTokens {
    tokens(&ConversationOptions::default())
}

fn signed(key: &str, previous: &[&str]) -> OwnTokens {
    let previous_keys = previous.iter().copied().map(Secret::new).collect();
    tokens(&ConversationOptions { key: Some(Secret::new(key)), previous_keys, ..ConversationOptions::default() })
}

/// With one form whose city is known.
fn state() -> State {
    let mut state = State::new(&fixture::module().name);
    state.turn = 3;
    let mut form = Form::new("get_current_weather", 2);
    form.slots.push(filled("/location", json!("Seattle, WA")));
    state.forms.push(form);
    state.note(Who::Person, "how warm is it in Seattle?");
    state
}

fn filled(pointer: &str, value: Value) -> SlotValue {
    SlotValue {
        pointer: pointer.into(),
        value,
        text: None,
        span: None,
        recognizer: None,
        from: Source::Said,
        turn: 2,
        confidence: 0.75,
        unread: None,
    }
}

fn encoded(json: &Value) -> String {
    format!("p1.{}", BASE64.encode(json.to_string()))
}

/// A client could write it, or send it again after the call was made.
#[test]
fn no_echoed_state_carries_a_consent() {
    let module = fixture::module();
    for tokens in [plain(), signed(SECRET, &[])] {
        for (written, expected) in [
            (Confirmation::Given, Confirmation::Open),
            (Confirmation::Asked, Confirmation::Asked),
            (Confirmation::Open, Confirmation::Open),
        ] {
            let mut state = state();
            state.forms[0].confirmation = written;
            let read = tokens.read(&tokens.write(&state).unwrap(), &module).unwrap();
            assert_eq!(read.forms[0].confirmation, expected);
        }
    }
}

/// With a yes awaited.
fn asking() -> State {
    let mut state = state();
    state.forms[0].confirmation = Confirmation::Asked;
    state.expects = Some(Expects::Yes { function: "get_current_weather".into() });
    state
}

#[tokio::test]
async fn a_consent_is_taken_once() {
    let tokens = signed(SECRET, &[]);
    let text = tokens.write(&asking()).unwrap();
    // The same state of another conversation.
    let other = tokens.write(&asking()).unwrap();
    assert_eq!(tokens.take_consent(&text).await, Ok(()));
    assert_eq!(tokens.take_consent(&text).await, Err(ConsentError::Taken));
    assert_eq!(tokens.clone().take_consent(&text).await, Err(ConsentError::Taken));
    assert_eq!(tokens.take_consent(&other).await, Ok(()));
}

#[test]
fn a_consent_that_comes_late_is_none() {
    let module = fixture::module();
    let tokens = signed(SECRET, &[]);
    let key = tokens.writes_with.expect("a key");
    let written = |seconds: i64| {
        let body = BASE64.encode(serde_json::to_vec(&asking()).unwrap());
        let stamp = TokenStamp { written: Timestamp::now().as_second() - seconds, number: Uuid::new_v4() };
        let signed = format!("s1.{body}.{}", stamp.text());
        let signature = BASE64.encode(blake3::keyed_hash(&key, signed.as_bytes()).as_bytes());
        tokens.read(&format!("{signed}.{signature}"), &module).unwrap()
    };
    let (soon, late) = (written(890), written(910));
    assert!(soon.awaits_consent());
    assert!(!late.awaits_consent() && late.forms[0].confirmation == Confirmation::Open);
    assert_eq!(late.forms[0].slots, soon.forms[0].slots);
}

/// The machine's clock is set forward until what was taken is forgotten, and back again.
#[tokio::test]
async fn a_clock_that_goes_back_brings_no_consent_back() {
    let ahead = Arc::new(AtomicI64::new(0));
    let of_machine = Arc::clone(&ahead);
    let clock = Clock::new(move || Timestamp::now() + SignedDuration::from_secs(of_machine.load(Ordering::Relaxed)));
    let sessions = Sessions::by(clock, Arc::new(Memory::default()), &SessionOptions::default()).expect("good options");
    let options = ConversationOptions { key: Some(Secret::new(SECRET)), ..ConversationOptions::default() };
    let tokens = Tokens::open(&options, sessions.clone()).expect("good options").of(&Tenant::everybody());
    let (module, id) = (fixture::module(), SessionId::new("a").unwrap());
    sessions.begin(&id).await.unwrap().commit("x").await.unwrap();
    let text = tokens.write(&asking()).unwrap();
    assert!(tokens.read(&text, &module).unwrap().awaits_consent());
    assert_eq!(tokens.take_consent(&text).await, Ok(()));
    ahead.store(3_600, Ordering::Relaxed);
    assert_eq!(sessions.sweep().await, Ok(1));
    ahead.store(0, Ordering::Relaxed);
    assert!(!tokens.read(&text, &module).unwrap().awaits_consent(), "it is not young again");
    assert!(sessions.begin(&id).await.unwrap().age.as_secs() >= 3_600);
}

#[test]
fn what_is_written_is_read_again() {
    let module = fixture::module();
    for tokens in [plain(), signed(SECRET, &[])] {
        assert_eq!(tokens.read(&tokens.write(&state()).unwrap(), &module), Ok(state()));
    }
}

#[tokio::test]
async fn a_state_is_its_owners_alone() {
    let module = fixture::module();
    let all = all(&ConversationOptions { key: Some(Secret::new(SECRET)), ..ConversationOptions::default() });
    let owners = [Tenant::everybody(), Tenant::of_key("a"), Tenant::of_key("b")].map(|owner| all.of(&owner));
    for (at, own) in owners.iter().enumerate() {
        let text = own.write(&asking()).unwrap();
        for (other, tokens) in owners.iter().enumerate() {
            let read = tokens.read(&text, &module).map(|_| ());
            assert_eq!(read, if at == other { Ok(()) } else { Err(TokenError::Signature) }, "{at} {other}");
            assert_eq!(tokens.number(&text).is_some(), at == other);
        }
    }
}

#[test]
fn with_a_key_only_what_we_said_counts() {
    let module = fixture::module();
    let ours = signed(SECRET, &[]);
    let token = ours.write(&state()).unwrap();
    assert_eq!(ours.read(&plain().write(&state()).unwrap(), &module), Err(TokenError::Unsigned));
    assert_eq!(plain().read(&token, &module), Err(TokenError::Signature));
    let other = signed("another secret, just as long", &[]);
    assert_eq!(other.read(&token, &module), Err(TokenError::Signature));
    let rotated = signed("another secret, just as long", &[SECRET]);
    assert_eq!(rotated.read(&token, &module), Ok(state()));
    for at in 0..token.len() {
        let mut changed = token.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        // The last digit of a base64 text has unused bits; a strict reader refuses changes in those too.
        assert!(ours.read(&changed, &module).is_err(), "byte {at}");
        assert!(ours.read(&token[..at], &module).is_err(), "{at} bytes");
    }
}

#[test]
fn other_versions_and_modules_are_named() {
    let module = fixture::module();
    let read = |text: &str| plain().read(text, &module);
    for later in ["p2.e30", "s9.e30.e30", "p17."] {
        assert_eq!(read(later), Err(TokenError::Version), "{later}");
    }
    assert_eq!(read(&encoded(&json!({"format": 2, "new": true}))), Err(StateError::Format(2).into()));
    let mut other = state();
    other.module = crate::module::ModuleName::new("shoes").unwrap();
    let error = read(&plain().write(&other).unwrap()).unwrap_err();
    assert!(matches!(error, TokenError::State(StateError::OtherModule { .. })), "{error}");
}

#[test]
fn what_would_be_too_long_loses_its_oldest_messages_first() {
    let options = ConversationOptions { max_state_bytes: 2_000, ..ConversationOptions::default() };
    let (tokens, module) = (tokens(&options), fixture::module());
    let mut long = state();
    for number in 0..20 {
        long.note(Who::Person, format!("{number} {}", "x".repeat(150)));
    }
    let token = tokens.write(&long).unwrap();
    assert!(token.len() <= 2_000);
    let read = tokens.read(&token, &module).unwrap();
    assert!(read.lines.len() > 1 && read.lines.last() == long.lines.last());
    assert_eq!(read.forms, long.forms);

    long.forms[0].slots[0].value = json!("x".repeat(3_000));
    assert_eq!(tokens.write(&long), Err(StateTooLarge { limit: 2_000 }));
    let token = plain().write(&long).unwrap();
    let error = tokens.read(&token, &module);
    assert_eq!(error, Err(TokenError::TooLong { length: token.len(), limit: 2_000 }));
}

/// A state as only an attacker would write it.
#[test]
fn what_no_turn_leaves_is_refused() {
    let module = fixture::module();
    let whole = serde_json::to_value(state()).unwrap();
    assert!(plain().read(&encoded(&whole), &module).is_ok());
    let slot = |pointer: &str, member: &str, value: Value| {
        let mut slot = serde_json::to_value(filled(pointer, json!("x"))).unwrap();
        slot[member] = value;
        json!([slot])
    };
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    let two = [slot("/location", "turn", json!(1)), slot("/location", "turn", json!(2))];
    for (pointer, value) in [
        ("/turn", json!(u32::MAX)),
        ("/turn", json!(1e300)),
        ("/turn", json!(1)),
        ("/forms/0/opened", json!(4)),
        ("/forms/0/confidence", json!(1e38)),
        ("/forms/0/slots", slot("/location", "turn", json!(4))),
        ("/forms/0/slots", slot("/location", "confidence", json!(-1))),
        ("/forms/0/slots", slot("/location", "value", json!(null))),
        ("/forms/0/slots", slot("/location", "span", json!({"start": 5, "end": 1}))),
        ("/forms/0/slots", slot("location", "turn", json!(1))),
        ("/forms/0/slots", slot(&"/a".repeat(20_000), "turn", json!(1))),
        ("/forms/0/slots", slot("/items/4095/items/4095", "turn", json!(1))),
        ("/forms/0/slots", json!([two[0][0], two[1][0]])),
        ("/forms", Value::Array(vec![whole["forms"][0].clone(); MOST_FORMS + 1])),
        ("/expects", json!({"kind": "slots", "function": "f", "pointers": ["/x/99999999"]})),
        ("/lines", json!([{"who": "robot", "text": ""}])),
        ("/module", json!("../etc")),
    ] {
        let mut changed = whole.clone();
        *changed.pointer_mut(pointer).unwrap_or(&mut Value::Null) = value.clone();
        if changed.pointer(pointer).is_none() {
            changed[pointer.trim_start_matches('/')] = value;
        }
        let read = plain().read(&encoded(&changed), &module);
        assert_eq!(
            read,
            Err(TokenError::Malformed),
            "{pointer}: {}",
            changed.to_string().chars().take(300).collect::<String>()
        );
    }
    for text in ["", ".", "p1", "p1.", "p1.e30", "p1.W10", "x1.e30", "P1.e30", "p1.é", "p1. ", "s1.e30", "s1.e30.e30"]
    {
        assert!(plain().read(text, &module).is_err(), "{text:?}");
    }
    assert!(plain().read(&format!("p1.{}", BASE64.encode(deep)), &module).is_err());
}

#[test]
fn many_items_are_no_work() {
    let module = fixture::module();
    let items = vec![json!(1); 1_000_000];
    let tokens = tokens(&ConversationOptions { max_state_bytes: 8 << 20, ..ConversationOptions::default() });
    let mut whole = serde_json::to_value(state()).unwrap();
    whole["forms"][0]["skipped"] = Value::Array(items);
    assert_eq!(tokens.read(&encoded(&whole), &module), Err(TokenError::Malformed));
    assert!(matches!(plain().read(&encoded(&whole), &module), Err(TokenError::TooLong { .. })));
}

#[test]
fn places_that_no_slot_has_are_left_out() {
    let mut state = state();
    state.forms[0].slots.push(filled("/nowhere", json!(1)));
    let read = plain().read(&plain().write(&state).unwrap(), &fixture::module()).unwrap();
    assert_eq!(read.forms[0].slots.len(), 1);
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,80}", bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let module = fixture::module();
        for tokens in [plain(), signed(SECRET, &[])] {
            for kind in ["", "p1.", "s1.", "p2."] {
                let (written, encoded) = (format!("{kind}{text}"), format!("{kind}{}", BASE64.encode(&bytes)));
                prop_assert!(tokens.read(&written, &module).is_err());
                prop_assert!(tokens.read(&encoded, &module).is_err());
            }
        }
    }

    /// Any change to a plain state is refused, or gives a state that can be written again.
    #[test]
    fn no_changed_state_panics(at in 0_usize..1_000, byte in any::<u8>(), cut in 0_usize..1_000) {
        let module = fixture::module();
        let mut json = serde_json::to_vec(&state()).unwrap();
        let at = at % json.len();
        json[at] = byte;
        json.truncate(json.len() - if cut < 100 { cut % json.len() } else { 0 });
        if let Ok(read) = plain().read(&format!("p1.{}", BASE64.encode(&json)), &module) {
            prop_assert!(plain().write(&read).is_ok());
        }
    }
}
