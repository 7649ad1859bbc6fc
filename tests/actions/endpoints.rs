//! Endpoints as authors write them: in `module.toml`, in an `OpenAPI` document, as a tool.

use serde_json::json;
use uptake::{
    act::ActionOptions,
    http::{HttpOptions, Mock, Mounted, serve_alone},
    module::{self, Limits, ModuleName},
};

use super::shop::{Shop, options, reply, say, service, told};
use crate::support::Service;

const DOCUMENT: &str = r##"{"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"},
    "servers": [{"url": "SERVER/v1"}],
    "paths": {
        "/orders": {"post": {"operationId": "order_shoes", "summary": "Order a pair of shoes",
            "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}},
            "responses": {"201": {"description": "Placed", "content": {"application/json": {
                "schema": {"$ref": "#/components/schemas/Placed"}}}}}}},
        "/orders/{number}": {"get": {"operationId": "track_order", "summary": "Tell where an order is",
            "parameters": [{"name": "number", "in": "path", "required": true, "schema": {"type": "integer"}},
                {"name": "lang", "in": "query", "schema": {"enum": ["en", "de"]}}],
            "responses": {"200": {"description": "Found", "content": {"application/json": {
                "example": {"state": "on the lorry"}}}}}}}},
    "components": {"schemas": {
        "Order": {"type": "object", "required": ["size", "color"], "properties": {
            "size": {"type": "integer"}, "color": {"enum": ["red", "black"]}}},
        "Placed": {"type": "object", "required": ["id", "size"], "properties": {
            "id": {"type": "string", "pattern": "^S-[0-9]{2}$"}, "size": {"type": "integer"}}}}}}"##;

const OPENAPI: &str = "[functions.order_shoes]\nconfirm = true\nresult = ['id', 'size']\n\
    endpoint = { openapi = true, answer = 'openapi', secrets = { Authorization = 'shop' } }\n\
    [functions.track_order]\nendpoint = 'openapi'\n";

#[tokio::test]
async fn a_document_knows_its_servers_and_operations() {
    let shop =
        Shop::replying(vec![reply(201, &json!({"id": "S-17", "size": 42})), reply(201, &json!({"id": 17}))]).await;
    let secrets = tempfile::tempdir().expect("a directory");
    std::fs::write(secrets.path().join("shop"), "Bearer t0ken\n").expect("a file");
    let options = ActionOptions { secrets: Some(secrets.path().to_owned()), ..options() };
    let service = service(&shop, "", &options);
    service.write("shop", "schema.json", &DOCUMENT.replace("SERVER", &shop.url));
    service.write("shop", "module.toml", OPENAPI);
    say(&service, "s", "order red shoes in size 42").await;
    let done = say(&service, "s", "yes").await;
    assert_eq!(told(&done).2, ["done"], "{done}");
    assert!(told(&done).1.contains("S-17") && told(&done).1.contains("42"), "{done}");
    let asked = &shop.asked()[0];
    assert_eq!((asked.line.as_str(), asked.token.as_deref()), ("POST /v1/orders", Some("Bearer t0ken")));
    assert!(!done.to_string().contains("t0ken"));
    // An answer that the document does not allow cannot be reported.
    say(&service, "t", "order red shoes in size 42").await;
    assert_eq!(told(&say(&service, "t", "yes").await).2, ["unknown"]);
    say(&service, "u", "track order 71").await;
    assert_eq!(shop.asked()[2].line, "GET /v1/orders/71");
}

#[tokio::test]
async fn a_missing_secret_keeps_the_call_from_being_made() {
    let shop = Shop::good().await;
    let service = service(&shop, ", secrets = { Authorization = 'shop' }", &options());
    say(&service, "s", "order red shoes in size 42").await;
    let failed = say(&service, "s", "yes").await;
    assert_eq!(told(&failed).2, ["failed"], "{failed}");
    assert!(shop.asked().is_empty());
}

#[tokio::test]
async fn a_stand_in_answers_as_the_document_says() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("schema.json"), DOCUMENT.replace("SERVER", "https://shop.example.com"))
        .unwrap();
    let name = ModuleName::new("shop").expect("a name");
    let module = module::load(directory.path(), name, &Limits::default()).expect("a module");
    let answers = module::service_answers(directory.path(), &Limits::default()).expect("answers");
    let mock = Mock::new(&module, answers, 1 << 20);
    assert_eq!(mock.routes(), ["POST /orders  order_shoes", "GET /orders/{number}  track_order"]);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("a bound port"));
    let router = mock.router();
    tokio::spawn(async move { axum::serve(listener, router).await });

    let shop = Shop::good().await;
    let service = service(&shop, "", &options());
    service.write("shop", "schema.json", &DOCUMENT.replace("SERVER", &url));
    service.write("shop", "module.toml", &OPENAPI.replace(", secrets = { Authorization = 'shop' }", ""));
    say(&service, "s", "order red shoes in size 42").await;
    let done = say(&service, "s", "yes").await;
    assert_eq!(told(&done).2, ["done"], "{done}");
    assert_eq!(done["uptake"]["actions"][0]["result"]["size"], 42, "what was ordered comes back: {done}");
    let tracked = say(&service, "t", "track order 71").await;
    assert!(told(&tracked).1.contains("on the lorry"), "{tracked}");
}

/// The tools of another service of ours, called over streamable HTTP.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_of_another_server_is_called() {
    let weather = Service::new(&["weather"]);
    let server = crate::mcp::server(&weather, crate::mcp::options(&["weather"]));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("a bound port"));
    let limits = HttpOptions::default();
    let mounted = Mounted::at(uptake::mcp::PATH, uptake::mcp::http_service(server, limits.body_bytes));
    tokio::spawn(async move { serve_alone(listener, mounted, &limits, std::future::pending::<()>()).await });

    let shop = Shop::good().await;
    let service = service(&shop, "", &options());
    service.write(
        "shop",
        "schema.json",
        r#"[{"name": "ask_weather", "description": "Ask for the weather", "parameters": {"type": "object", "required": ["utterance"],
            "properties": {"utterance": {"enum": ["how warm is it in Seattle"]}}}},
            {"name": "break_it", "description": "Break the weather", "parameters": {"type": "object"}}]"#,
    );
    service.write(
        "shop",
        "exemplars.json",
        r#"{"ask_weather": ["tell me <utterance>"], "break_it": ["break the weather"]}"#,
    );
    service.write(
        "shop",
        "module.toml",
        &format!(
            "[functions.ask_weather]\nendpoint = {{ mcp = '{url}', tool = 'understand' }}\n\
             [functions.break_it]\nendpoint = {{ mcp = '{url}', tool = 'no_such_tool' }}\n"
        ),
    );
    let done = say(&service, "s", "tell me how warm is it in Seattle").await;
    assert_eq!(told(&done).2, ["done"], "{done}");
    assert_eq!(done["uptake"]["actions"][0]["result"]["module"], "weather", "the structured answer alone: {done}");
    let failed = say(&service, "t", "break the weather").await;
    assert_eq!(told(&failed).2, ["failed"], "{failed}");
}

#[test]
fn faults_of_endpoints_are_named() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("schema.json"), super::shop::SCHEMA).unwrap();
    let found = |endpoint: &str| -> Vec<(String, String)> {
        let settings = format!("[functions.order_shoes]\nendpoint = {endpoint}\n");
        std::fs::write(directory.path().join("module.toml"), settings).unwrap();
        let name = ModuleName::new("shop").expect("a name");
        let (_, found) = module::check(directory.path(), name, &Limits::default());
        let errors = found.errors().map(|found| (found.pointer.clone(), found.message.clone()));
        errors.map(|(pointer, message)| (pointer.replace("/functions/order_shoes/endpoint", ""), message)).collect()
    };
    for (endpoint, pointer, message) in [
        ("'openapi'", "", "not an operation of an OpenAPI document"),
        ("'swagger'", "", "`openapi` or a table"),
        ("{ method = 'POST' }", "", "none of an operation, an address, and a tool"),
        ("{ url = 'http://a.example/{siz}' }", "/url", "has no argument `siz`"),
        ("{ url = 'http://{color}.example/' }", "/url", "cannot say which server"),
        ("{ url = 'ftp://a.example/' }", "/url", "no address of a service"),
        ("{ url = 'http://me:secret@a.example/' }", "/url", "no name and password"),
        ("{ url = 'http://a.example/', method = 'FETCH' }", "/method", "expected one of"),
        ("{ url = 'http://a.example/', headers = { Host = 'b' } }", "/headers/Host", "no header"),
        (
            "{ url = 'http://a.example/', secrets = { Authorization = '../key' } }",
            "/secrets/Authorization",
            "name of a file",
        ),
        ("{ url = 'http://a.example/', answer = { type = 'objekt' } }", "/answer", "no JSON Schema"),
        ("{ url = 'http://a.example/', timeout = 5 }", "/timeout", "not a setting"),
        ("{ mcp = 'a.example/mcp' }", "/mcp", "no address of a service"),
    ] {
        let found = found(endpoint);
        let is_told = found.iter().any(|(at, text)| at == pointer && text.contains(message));
        assert!(is_told, "{endpoint}: {found:?}");
    }
    assert_eq!(found("{ url = 'http://a.example/orders/{size}?c={color}', headers = { X-Shop = 'uptake' } }"), []);
}
