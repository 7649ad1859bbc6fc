//! Modules as models.

use serde_json::json;

use crate::support::Service;

#[tokio::test]
async fn each_module_is_a_model() {
    let service = Service::new(&["weather"]);
    service.write("broken", "schema.json", "{ this is not JSON");
    service.app.warm_up().await;
    let list = service.get("/v1/models").await.json();
    assert_eq!(list["object"], "list");
    let ids: Vec<_> = list["data"].as_array().expect("models").iter().map(|model| &model["id"]).collect();
    assert_eq!(ids, [&json!("uptake"), &json!("weather")]);
    for id in ["weather", "uptake"] {
        let model = service.get(&format!("/v1/models/{id}")).await;
        let model = model.json();
        assert_eq!(
            (&model["id"], &model["object"], &model["owned_by"]),
            (&json!(id), &json!("model"), &json!("uptake"))
        );
        assert!(model["created"].is_u64(), "{model}");
    }
    for id in ["broken", "wether", "%FF", "a%2Fb"] {
        let answer = service.get(&format!("/v1/models/{id}")).await;
        let expected = (404, "not_found_error".to_owned(), "model_not_found".to_owned(), Some("model".to_owned()));
        assert_eq!(answer.error(), expected, "{id}");
    }
}
