//! Each tool, and each wrong way to call it.

use rmcp::{
    model::{ErrorCode, ReadResourceRequestParams},
    service::ServiceError,
};
use serde_json::{Value, json};
use uptake::{http::HttpOptions, llm, mcp::McpOptions};

use super::{Silent, asking, call, calling, client, forecast, options, refusal, server, soon, words};
use crate::support::{Service, golden, model_server::ModelServer};

#[tokio::test]
async fn it_says_what_it_is() {
    let service = Service::new(&["weather"]);
    let client = client(server(&service, options(&[]))).await;
    let about = client.peer_info().expect("the handshake told");
    let implementation = about.server_info.as_ref().expect("a name");
    assert_eq!((implementation.name.as_str(), implementation.version.as_str()), ("uptake", env!("CARGO_PKG_VERSION")));
    assert!(about.instructions.as_deref().is_some_and(|text| text.contains("`understand`")));
    assert!(about.capabilities.tools.is_some() && about.capabilities.resources.is_some());
}

#[tokio::test]
async fn the_tools_are_as_committed() {
    let service = Service::new(&["weather"]);
    let all = client(server(&service, options(&[]))).await.list_tools(None).await.unwrap();
    assert_eq!(all.next_cursor, None);
    let text = serde_json::to_string_pretty(&all.tools).unwrap() + "\n";
    golden("tests/fixtures/mcp-tools.json", &text);
    for tool in &all.tools {
        let annotations = tool.annotations.as_ref().expect("annotations");
        assert_eq!((annotations.read_only_hint, annotations.open_world_hint), (Some(true), Some(false)));
        for schema in [&tool.input_schema, tool.output_schema.as_ref().expect("an output schema")] {
            jsonschema::meta::validate(&Value::Object((**schema).clone())).expect("a JSON Schema");
        }
    }
}

#[tokio::test]
async fn one_module_need_not_be_named() {
    let service = Service::new(&["weather", "openai"]);
    let tools = client(server(&service, options(&["weather"]))).await.list_tools(None).await.unwrap().tools;
    let understand = tools.iter().find(|tool| tool.name == "understand").expect("it is there");
    assert_eq!(understand.input_schema["required"], json!(["utterance"]));
    assert_eq!(understand.input_schema["properties"]["module"]["enum"], json!(["weather"]));
    let local = McpOptions { local: true, ..options(&["weather", "openai"]) };
    let tools = client(server(&service, local)).await.list_tools(None).await.unwrap().tools;
    let understand = tools.iter().find(|tool| tool.name == "understand").expect("it is there");
    assert_eq!(understand.input_schema["required"], json!(["module", "utterance"]));
    assert!(understand.input_schema["properties"].get("strategy").is_none());
}

/// Every answer matches the schema that its tool declares, which clients check.
#[tokio::test]
async fn answers_fit_their_schemas() {
    let service = Service::new(&["weather", "openai"]);
    service.write("broken", "schema.json", "{ this is not JSON");
    let client = client(server(&service, options(&[]))).await;
    let tools = client.list_tools(None).await.unwrap().tools;
    let say = |utterance: &str| json!({"module": "weather", "utterance": utterance, "strategy": "local"});
    for (tool, arguments) in [
        ("understand", say("how cold will it be in seattle in the next 3 days, in celsius?")),
        ("understand", say("what is the weather like right now")),
        ("understand", say("how warm is it in san francisco, not in celsius")),
        ("understand", say("what is the weather in seattle for the next 99 days")),
        ("understand", say("zorgle the blarf")),
        ("find_functions", json!({"module": "weather", "request": "is it warm outside", "limit": 1})),
        ("find_functions", json!({"module": "weather", "request": "zorgle"})),
        ("list_modules", json!({})),
    ] {
        let result = call(&client, tool, arguments.clone()).await;
        let answer = result.structured_content.as_ref().unwrap_or_else(|| panic!("{arguments}: {result:?}"));
        let definition = tools.iter().find(|known| known.name == tool).expect("it is there");
        let schema = Value::Object((**definition.output_schema.as_ref().expect("an output schema")).clone());
        let validator = jsonschema::validator_for(&schema).expect("a JSON Schema");
        let wrong: Vec<String> = validator.iter_errors(answer).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{tool} {arguments}: {wrong:?} in {answer}");
        let input = jsonschema::validator_for(&Value::Object((*definition.input_schema).clone())).expect("a schema");
        assert!(input.is_valid(&arguments), "{tool} {arguments}");
        assert!(!words(&result).is_empty());
    }
}

#[tokio::test]
async fn an_utterance_becomes_a_call() {
    let service = Service::new(&["weather"]);
    let client = client(server(&service, options(&["weather"]))).await;
    let result = call(&client, "understand", forecast()).await;
    assert_eq!(result.is_error, Some(false));
    let answer = result.structured_content.as_ref().expect("an answer");
    assert_eq!(answer["module"], "weather");
    assert_eq!(
        answer["calls"],
        json!([{"name": "get_n_day_forecast",
                "arguments": {"location": "Seattle, WA", "format": "celsius", "num_days": 3}}])
    );
    assert_eq!(answer["uptake"]["outcome"], "call");
    assert_eq!(answer["uptake"]["calls"][0]["slots"]["location"]["text"], "seattle");
    let text = words(&result);
    assert!(text.starts_with("call (confidence ") && text.contains("\nget_n_day_forecast {\"location\":"), "{text}");

    let result = call(&client, "understand", json!({"utterance": "what is the weather like right now"})).await;
    let answer = result.structured_content.as_ref().expect("an answer");
    assert_eq!((&answer["uptake"]["outcome"], &answer["calls"]), (&json!("ask"), &json!([])));
    let text = words(&result);
    assert!(text.contains("Where?") && text.contains("get_current_weather still needs location"), "{text}");

    let result = call(&client, "understand", json!({"utterance": "zorgle the blarf"})).await;
    assert!(words(&result).starts_with("no_match ("), "{}", words(&result));

    let among = json!({"utterance": "how cold will it be in seattle", "functions": ["get_current_weather"]});
    let answer = call(&client, "understand", among).await.structured_content.expect("an answer");
    let candidates = answer["uptake"]["candidates"].as_array().expect("a list");
    assert!(candidates.iter().all(|found| found["function"] == "get_current_weather"), "{answer}");
}

/// The same answer as over HTTP, so that one description serves both.
#[tokio::test]
async fn a_reply_goes_on_with_the_state_of_the_answer_before() {
    let service = Service::new(&["weather", "openai"]);
    let client = client(server(&service, options(&[]))).await;
    let say = |module: &str, utterance: &str, state: &Value| {
        let mut arguments = json!({"module": module, "utterance": utterance, "strategy": "local"});
        if !state.is_null() {
            arguments["state"] = state.clone();
        }
        arguments
    };
    let asked = call(&client, "understand", say("weather", "what is the weather like right now", &Value::Null)).await;
    let asked = asked.structured_content.expect("an answer");
    assert_eq!((&asked["uptake"]["outcome"], &asked["uptake"]["turn"]), (&json!("ask"), &json!(1)));
    assert!(asked["uptake"]["summary"].is_string(), "{asked}");
    let state = &asked["uptake"]["state"];
    let answered = call(&client, "understand", say("weather", "Seattle", state)).await;
    let answered = answered.structured_content.expect("an answer");
    let expected = json!([{"name": "get_current_weather", "arguments": {"location": "Seattle, WA"}}]);
    assert_eq!(answered["calls"], expected, "{answered}");
    for (module, state) in [("openai", state.clone()), ("weather", json!("p1.x")), ("weather", json!(""))] {
        let refused = call(&client, "understand", say(module, "Seattle", &state)).await;
        assert_eq!(refused.is_error, Some(true), "{refused:?}");
    }
}

/// The state that the text of an answer ends with.
fn short_state(text: &str) -> String {
    let (_, state) = text.rsplit_once("state for what is said next: ").unwrap_or_else(|| panic!("{text}"));
    state.to_owned()
}

#[tokio::test]
async fn a_model_copies_a_short_state_and_reads_every_question() {
    let service = Service::new(&[]);
    let schema = json!([
        {"name": "pay", "description": "Pay somebody", "parameters": {"type": "object", "required": ["who", "amount"],
            "properties": {"who": {"type": "string", "enum": ["mum", "Ann"]}, "amount": {"type": "integer"}}}},
        {"name": "show_balance", "description": "Tell how much money is there", "parameters": {"type": "object",
            "properties": {}}},
    ]);
    let exemplars = json!({"pay": ["pay <who> <amount> dollars", "pay <who>"], "show_balance": ["what is my balance"]});
    service.write("bank", "schema.json", &schema.to_string());
    service.write("bank", "exemplars.json", &exemplars.to_string());
    let client = client(server(&service, options(&["bank"]))).await;
    let asked = call(&client, "understand", json!({"utterance": "pay mum"})).await;
    let state = short_state(words(&asked));
    assert!(words(&asked).contains("What is the amount?") && state.len() < 20, "{}", words(&asked));
    let beside = call(&client, "understand", json!({"utterance": "what is my balance", "state": state})).await;
    let text = words(&beside);
    assert!(text.starts_with("call (") && text.contains("\nask: ") && text.contains("amount"), "{text}");
    let answered = call(&client, "understand", json!({"utterance": "30", "state": short_state(text)})).await;
    assert!(words(&answered).contains(r#"pay {"who":"mum","amount":30}"#), "{}", words(&answered));
    let unknown = call(&client, "understand", json!({"utterance": "30", "state": "c1.nothing"})).await;
    assert!(refusal(&unknown).contains("pass the whole `uptake.state`"), "{unknown:?}");
}

#[tokio::test]
async fn functions_are_found_as_by_http() {
    let service = Service::new(&["weather"]);
    let client = client(server(&service, options(&[]))).await;
    let request = "how cold will it be in seattle in the next three days";
    let result = call(&client, "find_functions", json!({"module": "weather", "request": request, "limit": 1})).await;
    let mut found = result.structured_content.clone().expect("an answer");
    let body = json!({"utterance": request, "limit": 1});
    let mut expected = service.post("/v1/retrieve/weather", body.to_string()).await.json();
    for answer in [&mut found, &mut expected] {
        answer["uptake"]["timings_ms"] = Value::Null;
    }
    assert_eq!(found, expected);
    assert_eq!(found["tools"][0]["function"]["name"], "get_n_day_forecast");
    let text = words(&result);
    assert!(text.starts_with("1. get_n_day_forecast (score ") && text.contains("\n   parameters: {"), "{text}");
}

#[tokio::test]
async fn modules_are_listed_with_what_keeps_them_from_use() {
    let service = Service::new(&["weather"]);
    service.write("broken", "schema.json", "{ this is not JSON");
    let client = client(server(&service, options(&[]))).await;
    let result = call(&client, "list_modules", json!({})).await;
    let modules = result.structured_content.as_ref().expect("an answer")["modules"].clone();
    assert_eq!(
        modules[1],
        json!({"name": "weather", "description": "Weather now and in the next days", "functions": 2})
    );
    assert_eq!((&modules[0]["name"], &modules[0]["functions"]), (&json!("broken"), &json!(0)));
    assert!(modules[0]["problem"].as_str().is_some_and(|problem| problem.contains("schema.json")), "{modules}");
    assert!(words(&result).ends_with("weather (2 functions): Weather now and in the next days"));
    let broken = call(&client, "understand", json!({"module": "broken", "utterance": "hi"})).await;
    assert!(refusal(&broken).starts_with("module `broken` has 1 error(s)"), "{}", refusal(&broken));
}

#[tokio::test]
async fn what_is_wrong_with_a_call_is_a_result_that_says_so() {
    let service = Service::new(&["weather", "openai"]);
    let client = client(server(&service, options(&[]))).await;
    let weather = |extra: Value| {
        let mut arguments = json!({"module": "weather", "utterance": "how cold will it be in seattle"});
        arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        arguments
    };
    let find = |extra: Value| {
        let mut arguments = json!({"module": "weather", "request": "weather"});
        arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        arguments
    };
    for (tool, arguments, expected) in [
        ("understand", json!({}), "`utterance` is required"),
        ("understand", json!({"utterance": "hi"}), "`module` is required: `openai` or `weather`"),
        ("understand", weather(json!({"module": "wether"})), "there is no module `wether`; did you mean `weather`?"),
        ("understand", weather(json!({"module": "../weather"})), "there is no module `../weather`"),
        ("understand", weather(json!({"module": 5})), "`module`: invalid type: integer `5`, expected a string"),
        ("understand", weather(json!({"utterance": " \u{200B}\n"})), "`utterance` is empty"),
        ("understand", weather(json!({"utterance": "a".repeat(8_001)})), "has 8001 characters; the limit is 8000"),
        ("understand", weather(json!({"utterance": ["hi"]})), "`utterance`: invalid type: sequence"),
        ("understand", weather(json!({"now": "yesterday"})), "`now` is no moment in time"),
        ("understand", weather(json!({"functions": []})), "`functions` is empty"),
        ("understand", weather(json!({"functions": ["get_current_weather", "sing"]})), "`functions[1]`: module"),
        ("understand", weather(json!({"functions": "sing"})), "`functions`: invalid type"),
        ("understand", weather(json!({"strategy": "magic"})), "`strategy`: unknown variant `magic`, expected one of"),
        ("understand", weather(json!({"strategy": "tools"})), "needs a model server, and none is configured"),
        ("understand", weather(json!({"text": "hi"})), "unknown field `text`, expected one of `module`"),
        ("find_functions", find(json!({"request": ""})), "`request` is empty"),
        ("find_functions", find(json!({"request": null})), "`request` is required"),
        ("find_functions", find(json!({"limit": 0})), "`limit` is 0; it must be 1 to 128"),
        ("find_functions", find(json!({"limit": 129})), "`limit` is 129; it must be 1 to 128"),
        ("find_functions", find(json!({"limit": -1})), "`limit`: invalid value: integer `-1`"),
        ("find_functions", find(json!({"limit": "3"})), "`limit`: invalid type: string \"3\""),
        ("list_modules", json!({"module": "weather"}), "unknown field `module`"),
    ] {
        let result = call(&client, tool, arguments.clone()).await;
        let text = refusal(&result);
        assert!(text.contains(expected), "{tool} {arguments}: {text}");
        assert!(text.chars().count() <= 501, "{text}");
    }
    // Null counts as absent, since many models write it.
    let result = call(&client, "understand", weather(json!({"now": null, "functions": null, "strategy": null}))).await;
    assert_eq!(result.is_error, Some(false));
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_of_the_protocol() {
    let service = Service::new(&["weather"]);
    let client = client(server(&service, options(&[]))).await;
    let error = client.call_tool(calling("sing", json!({}))).await.unwrap_err();
    let ServiceError::McpError(error) = error else { panic!("{error}") };
    assert_eq!((error.code, error.message.as_ref()), (ErrorCode::INVALID_PARAMS, "Unknown tool: sing"));
}

#[tokio::test]
async fn what_a_model_server_says_when_it_fails_stays_here() {
    let failing = ModelServer::replying(vec![(500, "text/plain", b"/opt/secret.py line 3".to_vec())]).await;
    let service = asking(&["weather"], llm::connect(&failing.options()).unwrap());
    let client = client(server(&service, options(&["weather"]))).await;
    let asked = json!({"utterance": "how cold will it be in seattle", "strategy": "tools"});
    let result = call(&client, "understand", asked.clone()).await;
    assert_eq!(refusal(&result), "the model server failed; try strategy `local`");
    assert_eq!(failing.served(), 1);

    // A server that was started to ask no model server asks none.
    let local = McpOptions { local: true, ..options(&["weather"]) };
    let client = super::client(server(&service, local)).await;
    let result = call(&client, "understand", asked).await;
    assert!(refusal(&result).starts_with("strategy `tools` asks a model server, and this server asks none"));
    assert_eq!(call(&client, "understand", forecast()).await.is_error, Some(false));
    assert_eq!(failing.served(), 1);
}

#[tokio::test]
async fn one_call_too_many_is_refused() {
    let service = Service::with(&["weather"], HttpOptions { max_in_flight: 0, ..HttpOptions::default() });
    let client = client(server(&service, options(&["weather"]))).await;
    let result = call(&client, "understand", forecast()).await;
    assert_eq!(refusal(&result), "as many calls as the server allows are running; try again shortly");
}

#[tokio::test]
async fn an_edit_is_known_to_the_next_call() {
    let service = Service::new(&["weather"]);
    let client = client(server(&service, options(&["weather"]))).await;
    let say = json!({"utterance": "zorgle the blarf"});
    let before = call(&client, "understand", say.clone()).await.structured_content.expect("an answer");
    assert_eq!(before["uptake"]["outcome"], "no_match");
    service.write("weather", "exemplars.json", r#"{"get_current_weather": ["zorgle the blarf"]}"#);
    let after = call(&client, "understand", say).await.structured_content.expect("an answer");
    assert_ne!(after["uptake"]["outcome"], "no_match", "{after}");
}

#[tokio::test]
async fn a_cancelled_call_asks_on_no_more() {
    let Silent { servers, heard, left } = Silent::start().await;
    let service = asking(&["weather"], servers);
    let client = client(server(&service, options(&["weather"]))).await;
    let asked = json!({"utterance": "how cold will it be in seattle", "strategy": "tools"});
    let peer = client.peer().clone();
    // A caller that gives up tells the server.
    let calling = tokio::spawn(async move { peer.call_tool_once(calling("understand", asked)).await });
    soon(heard).await.unwrap();
    calling.abort();
    soon(left).await.unwrap();
    // The conversation continues.
    assert_eq!(call(&client, "understand", forecast()).await.is_error, Some(false));
}

#[tokio::test]
async fn a_client_that_leaves_ends_its_calls_and_nobody_elses() {
    let Silent { servers, heard, left } = Silent::start().await;
    let service = asking(&["weather"], servers);
    let tools = server(&service, options(&["weather"]));
    let (leaving, staying) = (client(tools.clone()).await, client(tools).await);
    let asked = json!({"utterance": "how cold will it be in seattle", "strategy": "tools"});
    let peer = leaving.peer().clone();
    tokio::spawn(async move { peer.call_tool_once(calling("understand", asked)).await });
    soon(heard).await.unwrap();
    leaving.cancel().await.unwrap();
    soon(left).await.unwrap();
    let (one, other) =
        tokio::join!(call(&staying, "understand", forecast()), call(&staying, "list_modules", json!({})));
    assert_eq!((one.is_error, other.is_error), (Some(false), Some(false)));
}

#[tokio::test]
async fn a_modules_functions_are_a_resource() {
    let service = Service::new(&["weather", "openai"]);
    let client = client(server(&service, options(&["weather"]))).await;
    let resources = client.list_resources(None).await.unwrap().resources;
    let uris: Vec<&str> = resources.iter().map(|resource| resource.uri.as_str()).collect();
    assert_eq!(uris, ["uptake://modules/weather"]);
    let templates = client.list_resource_templates(None).await.unwrap().resource_templates;
    assert_eq!(templates[0].uri_template, "uptake://modules/{name}");
    let read = client.read_resource(ReadResourceRequestParams::new(uris[0])).await.unwrap();
    let read = serde_json::to_value(&read.contents[0]).unwrap();
    let tools: Value = serde_json::from_str(read["text"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&read["mimeType"], &tools[1]["function"]["name"]),
        (&json!("application/json"), &json!("get_n_day_forecast"))
    );
    for uri in ["uptake://modules/openai", "uptake://modules/", "uptake://modules/../weather", "file:///etc/passwd", ""]
    {
        let error = client.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap_err();
        let ServiceError::McpError(error) = error else { panic!("{error}") };
        assert_eq!(error.code, ErrorCode::RESOURCE_NOT_FOUND, "{uri}");
    }
}
