//! With a model server: asked only in case of doubt, with one small question, and trusted only where the answer can be
//! checked.

use serde_json::{Value, json};
use uptake::{http::HttpOptions, llm, understand::UnderstandOptions};

use crate::support::{
    Service,
    model_server::{ModelServer, Reply, raw, said},
};

async fn over(replies: Vec<Reply>) -> (Service, ModelServer) {
    let server = ModelServer::replying(replies).await;
    let servers = llm::connect(&server.options()).expect("usable options");
    let turns = UnderstandOptions { retries: 0, ..UnderstandOptions::default() };
    let service = Service::asking(&["weather"], HttpOptions::default(), turns, servers);
    // The fixture itself never asks a server.
    service.write("weather", "module.toml", "");
    (service, server)
}

async fn ask(service: &Service, body: Value) -> Value {
    let answer = service.post("/v1/predict/weather", body.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

fn reply(utterance: &str) -> Value {
    json!({"mode": "BINARY", "utterance": utterance, "question": "Shall I look it up for you?"})
}

#[tokio::test]
async fn a_doubtful_reply_is_asked_about() {
    let (service, server) = over(vec![said("{\"answer\": \"Affirmative\"}")]).await;
    assert_eq!(ask(&service, reply("it would make my day")).await, "Affirmative");
    let heard = &server.heard()[0];
    let schema = heard["response_format"]["json_schema"]["schema"]["properties"]["answer"].clone();
    assert_eq!(schema["enum"], json!(["Affirmative", "Negative", "Indifferent", "Irrelevant"]));
    assert!(heard["messages"].to_string().contains("Shall I look it up for you?"), "{heard}");
    assert_eq!(ask(&service, reply("yes please")).await, "Affirmative");
    assert_eq!(ask(&service, reply("no thanks")).await, "Negative");
    assert_eq!(server.served(), 1, "what is clear is not asked about");
}

#[tokio::test]
async fn the_local_reading_stands_where_the_server_is_no_help() {
    for broken in [said("perhaps"), raw("{"), (500, "application/json", b"{}".to_vec())] {
        let (service, server) = over(vec![broken]).await;
        assert_eq!(ask(&service, reply("it would make my day")).await, "Irrelevant");
        assert_eq!(server.served(), 1);
    }
}

#[tokio::test]
async fn slots_are_asked_for_in_one_question_and_grounded() {
    let slots = json!({"mode": "SLOT", "utterance": "make that gotham for a fortnight or so",
        "targetFrame": "get_n_day_forecast", "slots": ["location", "num_days"], "expectedSlots": ["num_days"]});
    let (service, server) = over(vec![said("{\"location\": \"gotham\", \"format\": null, \"num_days\": null}")]).await;
    let found = ask(&service, slots.clone()).await;
    assert_eq!(server.served(), 1);
    let asked = server.heard()[0]["messages"].to_string();
    assert!(asked.contains("just asked for: num_days (For how many days)"), "{asked}");
    assert_eq!(found["location"], json!({"values": ["gotham"], "operator": "=="}), "{found}");
    let (service, _server) = over(vec![said("{\"location\": \"Metropolis\", \"num_days\": 14}")]).await;
    let found = ask(&service, slots).await;
    assert!(!found.to_string().contains("Metropolis"), "{found}");
}
