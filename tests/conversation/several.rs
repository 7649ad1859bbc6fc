//! Forms that wait for a yes: each form is called by a yes of its own, and a refused one is not called by a later yes.

use std::sync::Arc;

use serde_json::{Value, json};
use uptake::{
    conversation::{
        ConversationOptions, Expects, OwnTokens, State, Tenant, Tokens,
        store::{SessionOptions, Sessions, StoreUrl},
    },
    llm::Secret,
    snapshot::Snapshot,
    understand::{Conversed, Outcome, UnderstandOptions, Understander},
};

use super::{said, written};
use crate::support::embedder;

/// More than the number of forms in any of these conversations.
const MANY: usize = 5;

/// Where the state is kept between two turns.
#[derive(Debug, Clone, Copy)]
enum Kept {
    /// In memory.
    Here,
    /// The client echoes it.
    Echoed,
    /// The client echoes it with a signature.
    Signed,
}

/// The utterances in one language. Services have the same names in all languages.
struct Speech {
    language: &'static str,
    /// Templates of the three functions.
    templates: [&'static str; 3],
    restart: &'static str,
    /// Refuse the form, and ask for something else: the same service with 3 replicas.
    instead: &'static [&'static str],
    /// The new request alone.
    scale: &'static str,
    yes: &'static str,
    no: &'static str,
}

const ENGLISH: &Speech = &SPEECHES[0];

const SPEECHES: [Speech; 5] = [
    Speech {
        language: "en",
        templates: ["restart <service>", "scale <service> to <replicas>", "purge the cache of <service>"],
        restart: "restart checkout",
        instead: &[
            "don't restart it, scale it to 3",
            "no, scale it to 3 instead",
            "no, scale checkout to 3",
            "no, don't restart it, scale checkout to 3",
            "don't restart checkout, scale it to 3 instead",
            "scale it to 3, but don't restart it",
            "no, leave it, scale checkout to 3",
        ],
        scale: "scale checkout to 3",
        yes: "yes",
        no: "no",
    },
    Speech {
        language: "de",
        templates: ["starte <service> neu", "skaliere <service> auf <replicas>", "leere den Cache von <service>"],
        restart: "starte checkout neu",
        instead: &["nein, skaliere checkout auf 3", "nicht starten, skaliere checkout auf 3"],
        scale: "skaliere checkout auf 3",
        yes: "ja",
        no: "nein",
    },
    Speech {
        language: "es",
        templates: ["reinicia <service>", "escala <service> a <replicas>", "vacía la caché de <service>"],
        restart: "reinicia checkout",
        instead: &["no, escala checkout a 3", "no reinicies checkout, escala checkout a 3"],
        scale: "escala checkout a 3",
        yes: "sí",
        no: "no",
    },
    Speech {
        language: "fr",
        templates: ["redémarre <service>", "étends <service> à <replicas>", "vide le cache de <service>"],
        restart: "redémarre checkout",
        instead: &["non, étends checkout à 3", "ne redémarre pas checkout, étends checkout à 3"],
        scale: "étends checkout à 3",
        yes: "oui",
        no: "non",
    },
    Speech {
        language: "ja",
        templates: ["<service>を再起動して", "<service>を<replicas>台に増やして", "<service>のキャッシュを消して"],
        restart: "checkoutを再起動して",
        instead: &["いいえ、checkoutを3台に増やして"],
        scale: "checkoutを3台に増やして",
        yes: "はい",
        no: "いいえ",
    },
];

/// A conversation with a person who runs services.
struct Talk {
    understander: Understander,
    snapshot: Arc<Snapshot>,
    tokens: Option<OwnTokens>,
    state: State,
    _files: tempfile::TempDir,
}

impl Talk {
    /// `confirmed` are the functions that need confirmation.
    async fn new(speech: &Speech, confirmed: &[&str], kept: Kept) -> Self {
        let service = json!({"type": "string", "description": "Which service"});
        let replicas = json!({"type": "integer", "description": "How many"});
        let function = |name: &str, description: &str, properties: Value| {
            let required: Vec<String> = properties.as_object().expect("an object").keys().cloned().collect();
            let parameters = json!({"type": "object", "required": required, "properties": properties});
            json!({"name": name, "description": description, "parameters": parameters})
        };
        let schema = json!([
            function("restart_service", "Restart a service", json!({"service": service})),
            function("scale_service", "Scale a service", json!({"service": service, "replicas": replicas})),
            function("purge_cache", "Purge a cache", json!({"service": service})),
        ]);
        let [restart, scale, purge] = speech.templates.map(|template| json!([{"template": template}]));
        let exemplars = json!({"restart_service": restart, "scale_service": scale, "purge_cache": purge});
        let instances = ["checkout", "queue", "mailer"].map(|label| json!({"label": label}));
        let functions = ["restart_service", "scale_service", "purge_cache"];
        let slots: serde_json::Map<String, Value> =
            functions.iter().map(|function| (format!("{function}.service"), "service".into())).collect();
        let recognizers =
            json!({"recognizers": {"service": {"rec_type": "list", "instances": instances}}, "slots": slots});
        let mut settings = format!("language = \"{}\"\n", speech.language);
        for function in confirmed {
            settings += &format!("[functions.{function}]\nconfirm = true\n");
        }
        let (snapshot, files) = written("services", [schema, exemplars, recognizers], &settings).await;
        let understander = Understander::new(UnderstandOptions::default(), embedder(), Vec::new());
        let state = State::new(&snapshot.module.name);
        Self { understander, snapshot, tokens: tokens(kept), state, _files: files }
    }

    /// Starts again from the beginning.
    fn begins(&mut self) {
        self.state = State::new(&self.snapshot.module.name);
    }

    /// The calls of the turn, each as its name and its service.
    async fn say(&mut self, text: &str) -> Vec<String> {
        let after = self.understander.converse(&self.snapshot, &self.state, &said(text)).await.expect("an answer");
        let Conversed { turn, state, .. } = after;
        self.state = match &self.tokens {
            Some(tokens) => {
                let text = tokens.write(&state).expect("it is short");
                tokens.read(&text, &self.snapshot.module).expect("it is ours")
            }
            None => state,
        };
        let Outcome::Call(calls) = &turn.outcome else { return Vec::new() };
        let named = |call: &uptake::call::Call| {
            let function = &self.snapshot.module.function(call.function()).name;
            format!("{function} {}", call.arguments()["service"].as_str().unwrap_or_default())
        };
        calls.iter().map(named).collect()
    }

    fn expects_yes(&self) -> bool {
        matches!(self.state.expects, Some(Expects::Yes { .. }))
    }

    fn is_open(&self, function: &str) -> bool {
        self.state.form(function).is_some()
    }
}

fn tokens(kept: Kept) -> Option<OwnTokens> {
    let key = match kept {
        Kept::Here => return None,
        Kept::Echoed => None,
        Kept::Signed => Some(Secret::new("a secret that is long enough")),
    };
    let memory = SessionOptions { url: StoreUrl::new("memory:"), ..SessionOptions::default() };
    let options = ConversationOptions { key, ..ConversationOptions::default() };
    let tokens = Tokens::open(&options, Sessions::open(&memory).expect("good options")).expect("good options");
    Some(tokens.of(&Tenant::everybody()))
}

const ALL: [&str; 3] = ["restart_service", "scale_service", "purge_cache"];

/// Requests, and the calls that they ask for, in order.
const REQUESTS: [(&str, &[&str]); 5] = [
    ("restart checkout and queue", &["restart_service checkout", "restart_service queue"]),
    ("restart checkout and restart mailer", &["restart_service checkout", "restart_service mailer"]),
    (
        "restart mailer, checkout and queue",
        &["restart_service mailer", "restart_service checkout", "restart_service queue"],
    ),
    ("restart checkout and purge the cache of queue", &["restart_service checkout", "purge_cache queue"]),
    (
        "restart checkout and purge the cache of queue and scale mailer to 3",
        &["restart_service checkout", "purge_cache queue", "scale_service mailer"],
    ),
];

#[tokio::test]
async fn each_form_is_called_by_a_yes_of_its_own() {
    for kept in [Kept::Here, Kept::Echoed, Kept::Signed] {
        let mut talk = Talk::new(ENGLISH, &ALL, kept).await;
        for (text, wanted) in REQUESTS {
            // Each bit is the answer to one form.
            for answers in 0..1_u32 << wanted.len() {
                let case = format!("{text:?}, {answers:b}, {kept:?}");
                talk.begins();
                assert_eq!(talk.say(text).await, Vec::<String>::new(), "{case}");
                for (place, one) in wanted.iter().enumerate() {
                    assert!(talk.expects_yes(), "{case}: {one} is not put: {:?}", talk.state);
                    if answers & (1 << place) != 0 {
                        assert_eq!(talk.say("yes").await, [*one], "{case}");
                    } else {
                        assert_eq!(talk.say("no").await, Vec::<String>::new(), "{case}");
                        assert!(matches!(talk.state.expects, Some(Expects::Change { .. })), "{case}");
                        // Declines the question what else to change.
                        assert_eq!(talk.say("no").await, Vec::<String>::new(), "{case}");
                    }
                }
                assert!(talk.state.is_idle(), "{case}: {:?}", talk.state.forms);
                assert_eq!(talk.say("yes").await, Vec::<String>::new(), "{case}");
            }
        }
    }
}

#[tokio::test]
async fn what_needs_no_yes_is_called_with_the_first_that_does() {
    for kept in [Kept::Here, Kept::Echoed] {
        for (confirmed, called) in [
            (&["restart_service"][..], &["restart_service checkout", "purge_cache queue"][..]),
            (&["purge_cache"], &["restart_service checkout", "purge_cache queue"]),
        ] {
            let mut talk = Talk::new(ENGLISH, confirmed, kept).await;
            assert_eq!(talk.say("restart checkout and purge the cache of queue").await, Vec::<String>::new());
            assert_eq!(talk.say("yes").await, called, "{confirmed:?}, {kept:?}");
            assert!(talk.state.is_idle());
        }
    }
}

#[tokio::test]
async fn what_is_refused_for_something_else_is_never_called_by_a_later_yes() {
    let mut wrong = Vec::new();
    for speech in &SPEECHES {
        for confirmed in [&["restart_service"][..], &["restart_service", "scale_service"]] {
            for kept in [Kept::Here, Kept::Echoed] {
                let mut talk = Talk::new(speech, confirmed, kept).await;
                let at_once = speech.instead.iter().map(|text| vec![*text]);
                let apart = [vec![speech.no, speech.scale]];
                for texts in at_once.chain(apart) {
                    talk.begins();
                    assert_eq!(talk.say(speech.restart).await, Vec::<String>::new());
                    let mut called = Vec::new();
                    for text in &texts {
                        called.extend(talk.say(text).await);
                    }
                    let is_open = talk.is_open("restart_service");
                    for _ in 0..MANY {
                        called.extend(talk.say(speech.yes).await);
                    }
                    if is_open || called != ["scale_service checkout"] {
                        wrong.push(format!("{texts:?}, {confirmed:?}, {kept:?}: {called:?}, still open: {is_open}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Of several forms, a no refuses the one that was proposed.
#[tokio::test]
async fn what_waits_beside_a_refused_form_is_put_next() {
    let mut talk = Talk::new(ENGLISH, &ALL, Kept::Echoed).await;
    talk.say("restart checkout and queue").await;
    let mut called = talk.say("no, scale checkout to 3").await;
    for _ in 0..MANY {
        called.extend(talk.say("yes").await);
    }
    assert_eq!(called, ["scale_service checkout", "restart_service queue"]);
}

#[tokio::test]
async fn a_refused_form_is_put_again_only_after_something_is_said_of_it() {
    for kept in [Kept::Here, Kept::Echoed] {
        let mut talk = Talk::new(ENGLISH, &ALL, kept).await;
        talk.say("restart checkout").await;
        for text in ["no", "hmm", "yes"] {
            assert_eq!(talk.say(text).await, Vec::<String>::new());
            assert!(matches!(talk.state.expects, Some(Expects::Change { .. })), "{text:?}: {:?}", talk.state);
        }
        talk.begins();
        talk.say("restart checkout").await;
        talk.say("no").await;
        assert_eq!(talk.say("queue").await, Vec::<String>::new());
        assert!(talk.expects_yes(), "{:?}", talk.state);
        assert_eq!(talk.say("yes").await, ["restart_service queue"]);
    }
}
