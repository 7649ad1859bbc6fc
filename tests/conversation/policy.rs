//! Calls are not repeated by accident: after a call, an acting function is called again only for a new request or a
//! yes.

use std::sync::Arc;

use serde_json::{Value, json};
use uptake::{
    conversation::State,
    snapshot::Snapshot,
    understand::{Outcome, Turn, UnderstandOptions, Understander},
};

use super::{said, written};
use crate::support::embedder;

/// A conversation with a bank that sends money and tells balances.
struct Talk {
    understander: Understander,
    snapshot: Arc<Snapshot>,
    state: State,
    _files: tempfile::TempDir,
}

/// The utterances in one language.
struct Speech {
    language: &'static str,
    /// Templates of both functions.
    send: &'static str,
    balance: &'static str,
    request: &'static str,
    /// Repeats the last call with its own values.
    same: [&'static str; 2],
    asks: [&'static str; 2],
    corrects: &'static str,
    /// To another recipient.
    follows: &'static str,
    balance_of: &'static str,
    balance_of_other: &'static str,
    yes: &'static str,
    no: &'static str,
}

const SPEECHES: [Speech; 5] = [
    Speech {
        language: "en",
        send: "send <amount> to <recipient>",
        balance: "what is the balance of <recipient>",
        request: "send 30 to Anna",
        same: ["30?", "and to Anna?"],
        asks: ["hm, was that 30?", "have you sent it?"],
        corrects: "no wait, 40",
        follows: "and to Bob?",
        balance_of: "what is the balance of Anna",
        balance_of_other: "and of Bob?",
        yes: "yes",
        no: "no",
    },
    Speech {
        language: "de",
        send: "überweise <amount> an <recipient>",
        balance: "wie ist der Kontostand von <recipient>",
        request: "überweise 30 an Anna",
        same: ["30?", "und an Anna?"],
        asks: ["hm, waren das 30?", "haben Sie das schon überwiesen?"],
        corrects: "nein, ich meinte 40",
        follows: "und an Bob?",
        balance_of: "wie ist der Kontostand von Anna",
        balance_of_other: "und von Bob?",
        yes: "ja",
        no: "nein",
    },
    Speech {
        language: "es",
        send: "envía <amount> a <recipient>",
        balance: "cuál es el saldo de <recipient>",
        request: "envía 30 a Anna",
        same: ["¿30?", "¿y a Anna?"],
        asks: ["¿eran 30?", "¿has enviado el dinero?"],
        corrects: "no, quería decir 40",
        follows: "¿y a Bob?",
        balance_of: "cuál es el saldo de Anna",
        balance_of_other: "¿y de Bob?",
        yes: "sí",
        no: "no",
    },
    Speech {
        language: "fr",
        send: "envoie <amount> à <recipient>",
        balance: "quel est le solde de <recipient>",
        request: "envoie 30 à Anna",
        same: ["30 ?", "et à Anna ?"],
        asks: ["c'était 30 ?", "avez-vous envoyé l'argent ?"],
        corrects: "non, je voulais dire 40",
        follows: "et à Bob ?",
        balance_of: "quel est le solde de Anna",
        balance_of_other: "et de Bob ?",
        yes: "oui",
        no: "non",
    },
    Speech {
        language: "ja",
        send: "<recipient>に<amount>送って",
        balance: "<recipient>の残高は",
        request: "アンナに30送って",
        same: ["30?", "アンナに?"],
        asks: ["30でしたか?", "もう送りましたか?"],
        corrects: "いや、40でお願いします",
        follows: "ボブに?",
        balance_of: "アンナの残高は",
        balance_of_other: "ボブは?",
        yes: "はい",
        no: "いいえ",
    },
];

impl Talk {
    async fn new(speech: &Speech, settings: &str) -> Self {
        let recipient = json!({"type": "string", "description": "Who"});
        let schema = json!([
            {"name": "send_money", "description": "Send money", "parameters": {"type": "object",
             "required": ["amount", "recipient"], "properties": {"amount": {"type": "number"}, "recipient": recipient,
             "note": {"type": "string", "enum": ["gift", "rent"]}}}},
            {"name": "change_payment", "description": "Change a payment", "parameters": {"type": "object",
             "required": ["amount", "recipient"], "properties": {"amount": {"type": "number"}, "recipient": recipient}}},
            {"name": "get_balance", "description": "Get a balance", "parameters": {"type": "object",
             "required": ["recipient"], "properties": {"recipient": recipient}}},
        ]);
        let exemplars =
            json!({"send_money": [{"template": speech.send}], "get_balance": [{"template": speech.balance}]});
        let recognizers = json!({
            "recognizers": {"person": {"rec_type": "list", "instances": [
                {"label": "Anna", "expressions": ["アンナ"]}, {"label": "Bob", "expressions": ["ボブ"]}]}},
            "slots": {"send_money.recipient": "person", "change_payment.recipient": "person",
                      "get_balance.recipient": "person"}
        });
        let settings = format!("language = \"{}\"\n{settings}", speech.language);
        let (snapshot, files) = written("bank", [schema, exemplars, recognizers], &settings).await;
        let understander = Understander::new(UnderstandOptions::default(), embedder(), Vec::new());
        let state = State::new(&snapshot.module.name);
        Self { understander, snapshot, state, _files: files }
    }

    async fn say(&mut self, text: &str) -> Turn {
        let after = self.understander.converse(&self.snapshot, &self.state, &said(text)).await.expect("an answer");
        self.state = after.state;
        after.turn
    }

    /// Says something that leads to one call, and confirms it if asked.
    async fn calls(&mut self, text: &str, yes: &str) -> Value {
        let mut turn = self.say(text).await;
        if matches!(turn.outcome, Outcome::Ask(_)) {
            turn = self.say(yes).await;
        }
        self.called(&turn).unwrap_or_else(|| panic!("{text:?}: {:?}", turn.outcome))
    }

    fn called(&self, turn: &Turn) -> Option<Value> {
        let Outcome::Call(calls) = &turn.outcome else { return None };
        let [call] = &calls[..] else { return None };
        Some(json!({self.snapshot.module.function(call.function()).name.clone(): call.arguments()}))
    }
}

fn sent(amount: f64, recipient: &str) -> Value {
    let mut amount = json!(amount);
    if amount.as_f64().is_some_and(|number| number.fract() == 0.0) {
        amount = json!(amount.as_f64().unwrap_or_default() as i64);
    }
    json!({"send_money": {"amount": amount, "recipient": recipient}})
}

#[tokio::test]
async fn what_was_done_is_told_and_not_done_again() {
    for speech in &SPEECHES {
        for text in speech.same.iter().chain(&speech.asks) {
            let mut talk = Talk::new(speech, "").await;
            assert_eq!(talk.calls(speech.request, speech.yes).await, sent(30.0, "Anna"), "{}", speech.language);
            let turn = talk.say(text).await;
            let reply = turn.reply().unwrap_or_default().to_owned();
            assert_eq!(turn.outcome, Outcome::NoMatch, "{text:?}: {:?}", turn.outcome);
            assert!(turn.is_answered && reply.contains("30") && reply.contains("Anna"), "{text:?}: {reply}");
            assert!(talk.state.is_idle(), "{text:?}: {:?}", talk.state.forms);
        }
    }
}

#[tokio::test]
async fn a_change_of_what_was_done_is_put_to_the_person() {
    for speech in &SPEECHES {
        for (text, expected) in [(speech.corrects, sent(40.0, "Anna")), (speech.follows, sent(30.0, "Bob"))] {
            for agrees in [true, false] {
                let mut talk = Talk::new(speech, "").await;
                talk.calls(speech.request, speech.yes).await;
                let turn = talk.say(text).await;
                let reply = turn.reply().unwrap_or_default().to_owned();
                assert!(matches!(turn.outcome, Outcome::Ask(_)), "{text:?}: {:?}", turn.outcome);
                assert!(reply.contains("30") && reply.contains("Anna"), "{text:?} is told what was done: {reply}");
                let turn = talk.say(if agrees { speech.yes } else { speech.no }).await;
                if agrees {
                    assert_eq!(talk.called(&turn), Some(expected.clone()), "{text:?}: {:?}", turn.outcome);
                } else {
                    assert!(matches!(turn.outcome, Outcome::Cancelled { .. }), "{text:?}: {:?}", turn.outcome);
                    let last = talk.state.last_call.as_ref().map(|last| last.slots.len());
                    assert_eq!(last, Some(2), "what was called stays the last call");
                }
                assert!(talk.state.is_idle(), "{text:?}: {:?}", talk.state.forms);
            }
        }
    }
}

#[tokio::test]
async fn what_reads_and_what_may_repeat_is_called_at_once() {
    for speech in &SPEECHES {
        let mut talk = Talk::new(speech, "").await;
        talk.calls(speech.balance_of, speech.yes).await;
        let turn = talk.say(speech.balance_of_other).await;
        assert_eq!(talk.called(&turn), Some(json!({"get_balance": {"recipient": "Bob"}})), "{:?}", turn.outcome);

        let mut talk = Talk::new(speech, "[functions.send_money]\nrepeats = true\n").await;
        talk.calls(speech.request, speech.yes).await;
        let turn = talk.say(speech.same[0]).await;
        assert_eq!(turn.outcome, Outcome::NoMatch, "{:?}", turn.outcome);
        let turn = talk.say(speech.follows).await;
        assert_eq!(talk.called(&turn), Some(sent(30.0, "Bob")), "{:?}", turn.outcome);
    }
}

#[tokio::test]
async fn a_new_request_is_made_again() {
    for speech in &SPEECHES {
        let mut talk = Talk::new(speech, "").await;
        for _ in 0..2 {
            assert_eq!(talk.calls(speech.request, speech.yes).await, sent(30.0, "Anna"));
        }
    }
}

#[tokio::test]
async fn a_correction_opens_the_function_that_changes_what_was_done() {
    for speech in &SPEECHES {
        let mut talk = Talk::new(speech, "[functions.change_payment]\nchanges = \"send_money\"\n").await;
        talk.calls(speech.request, speech.yes).await;
        let turn = talk.say(speech.corrects).await;
        assert!(matches!(turn.outcome, Outcome::Ask(_)), "{}: {:?}", speech.language, turn.outcome);
        let turn = talk.say(speech.yes).await;
        let changed = json!({"change_payment": {"amount": 40, "recipient": "Anna"}});
        assert_eq!(talk.called(&turn), Some(changed), "{}: {:?}", speech.language, turn.outcome);
    }
}

#[tokio::test]
async fn a_question_is_no_call_of_what_acts() {
    let english = &SPEECHES[0];
    for (text, is_question) in [
        ("did you send 30 to Anna?", true),
        ("was it 30 to Anna?", true),
        ("can you send 30 to Anna?", false),
        ("could you please send 30 to Anna", false),
    ] {
        let mut talk = Talk::new(english, "").await;
        let turn = talk.say(text).await;
        let is_called = talk.called(&turn).is_some();
        assert!(!is_question || !is_called, "{text:?}: {:?}", turn.outcome);
        assert!(is_question || turn.frames.len() == 1, "{text:?}: {:?}", turn.outcome);
    }
}
