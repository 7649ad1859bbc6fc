//! A key is sent to the model server and nowhere else: not into an answer, an error, a log, or what a debugger prints.

use serde_json::json;
use uptake::{
    http::HttpOptions,
    llm::{self, LlmOptions, Secret},
    understand::UnderstandOptions,
};

use crate::support::{Service, log::Log, model_server::ModelServer};

const KEY: &str = "sk-live-4f9a8b7c6d5e";
const HEADER: &str = "tenant-token-99881";

#[tokio::test]
async fn a_key_goes_to_the_model_server_and_nowhere_else() {
    let log = Log::default();
    let _logged = log.listen(tracing::Level::TRACE);

    let told = format!("the key {KEY} with {HEADER} is not allowed");
    for (status, body) in [
        (401, json!({"error": {"message": told, "code": "invalid_api_key"}}).to_string()),
        (500, told.clone()),
        (200, json!({"error": {"message": told, "code": 503}}).to_string()),
        (200, json!({"choices": [{"message": {"content": told}}]}).to_string()),
        (200, told.clone()),
    ] {
        let server = ModelServer::replying(vec![(status, "application/json", body.into_bytes())]).await;
        let options = LlmOptions {
            api_key: Some(Secret::new(KEY)),
            headers: [("x-tenant".to_owned(), Secret::new(HEADER))].into(),
            ..server.options()
        };
        assert!(!format!("{options:?}").contains(KEY));
        let servers = llm::connect(&options).expect("valid options");
        let service = Service::asking(&["weather"], HttpOptions::default(), UnderstandOptions::default(), servers);
        for strategy in ["tools", "structured", "staged", "auto"] {
            let body = json!({ "utterance": "how cold will it be?", "strategy": strategy });
            let answer = service.post("/v1/predict/weather", body.to_string()).await;
            for secret in [KEY, HEADER] {
                assert!(!answer.text.contains(secret), "{strategy}: {}", answer.text);
                assert!(
                    answer
                        .headers
                        .values()
                        .all(|value| !value.as_bytes().windows(secret.len()).any(|at| at == secret.as_bytes()))
                );
            }
        }
        assert!(server.served() > 0, "the key was sent along with something");
    }
    let log = log.text();
    assert!(log.contains("model server"), "the failures are in the log");
    for secret in [KEY, HEADER] {
        assert!(!log.contains(secret), "{log}");
    }
}

/// A server that repeats its prompt in an error message.
#[tokio::test]
async fn what_was_said_is_not_in_the_log() {
    let log = Log::default();
    let _logged = log.listen(tracing::Level::INFO);
    let said = "Springfieldia forecast for Zürich-Enge";
    for (status, body) in [
        (400, json!({"error": {"message": format!("cannot read: {said}")}}).to_string()),
        (500, said.to_owned()),
        (200, json!({"error": {"message": said}}).to_string()),
        (200, format!("{{\"choices\": \"{said}\"}}")),
        (200, said.to_owned()),
    ] {
        let server = ModelServer::replying(vec![(status, "application/json", body.into_bytes())]).await;
        let servers = llm::connect(&server.options()).expect("valid options");
        let service = Service::asking(&["weather"], HttpOptions::default(), UnderstandOptions::default(), servers);
        for strategy in ["tools", "structured", "staged", "auto"] {
            let body = json!({ "utterance": said, "strategy": strategy });
            service.post("/v1/predict/weather", body.to_string()).await;
        }
        assert!(server.served() > 0, "it was told");
    }
    let log = log.text();
    assert!(log.contains("model server"), "the failures are in the log");
    for word in ["Springfieldia", "Zürich", "Enge"] {
        assert!(!log.contains(word), "{log}");
    }
}

#[tokio::test]
async fn a_module_cannot_hold_a_key() {
    let service = Service::new(&["weather"]);
    service.write("weather", "module.toml", "[llm]\napi_key = \"sk-in-a-module\"\nbase_url = \"http://elsewhere\"\n");
    let answer = service.get("/v1/index/weather").await;
    assert_eq!(answer.status, 422, "{}", answer.text);
    assert!(answer.text.contains("keys and addresses belong to who runs the service"), "{}", answer.text);
    assert!(!answer.text.contains("sk-in-a-module"), "{}", answer.text);
}
