//! Strategies x server formats, as the table of `docs/model-servers.md`. `UPTAKE_BLESS=1 cargo test matrix` rewrites
//! it.

use std::fmt::Write as _;

use serde_json::{Value, json};
use uptake::{
    llm,
    snapshot::Snapshot,
    understand::{Outcome, Turn, TurnError},
};

use super::{
    adversary::{UTTERANCE, bad_answers, bad_replies, weather},
    ways::{WAYS, Way},
};
use crate::support::{
    golden_block,
    model_server::{Meant, ModelServer, Reply, Right, completion, message, said},
};

/// How a server formats its model's answer.
pub(super) struct Shape {
    name: &'static str,
    pub(super) write: fn(Meant, &Value) -> Reply,
}

fn call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn text(arguments: &Value) -> Value {
    arguments.to_string().into()
}

fn refused(about: &str) -> Reply {
    let body = json!({"error": {"message": format!("{about} is not supported"), "type": "invalid_request_error", "code": 400}});
    (400, "application/json", body.to_string().into_bytes())
}

/// Formats that were observed: in answers of the servers, in their documentation, or in what models write.
pub(super) const SHAPES: [Shape; 13] = [
    Shape {
        name: "OpenAI",
        write: |meant, _| match meant {
            Meant::Call(name, arguments) => completion(
                &json!({"role": "assistant", "content": null, "refusal": null, "annotations": [],
                    "tool_calls": [call("call_abc123", name, &text(&arguments))]}),
                "tool_calls",
            ),
            Meant::Json(answer) => {
                message(json!({"role": "assistant", "content": answer.to_string(), "refusal": null}))
            }
        },
    },
    Shape {
        name: "vLLM: many calls at once, finished by `stop`",
        write: |meant, _| match meant {
            Meant::Call(name, arguments) => {
                let one = call("chatcmpl-tool-1f0e", name, &text(&arguments));
                message(json!({"role": "assistant", "content": "", "reasoning_content": null,
                    "tool_calls": [one.clone(), one.clone(), one]}))
            }
            Meant::Json(answer) => message(json!({"role": "assistant", "content": answer.to_string()})),
        },
    },
    Shape {
        name: "llama-server: bare ids, empty content",
        write: |meant, _| match meant {
            Meant::Call(name, arguments) => completion(
                &json!({"role": "assistant", "content": "",
                    "tool_calls": [call("Zq3kP0aLw8Ty5uBn1vCx7eRs2dFg4hJm", name, &text(&arguments))]}),
                "tool_calls",
            ),
            Meant::Json(answer) => message(json!({"role": "assistant", "content": answer.to_string()})),
        },
    },
    Shape {
        name: "Ollama: arguments as an object",
        write: |meant, _| match meant {
            Meant::Call(name, arguments) => message(json!({"role": "assistant", "content": "",
                "tool_calls": [{"function": {"index": 0, "name": name, "arguments": arguments}}]})),
            Meant::Json(answer) => message(json!({"role": "assistant", "content": answer.to_string()})),
        },
    },
    Shape {
        name: "the older `function_call`",
        write: |meant, _| match meant {
            Meant::Call(name, arguments) => completion(
                &json!({"role": "assistant", "content": null,
                    "function_call": {"name": name, "arguments": arguments.to_string()}}),
                "function_call",
            ),
            Meant::Json(answer) => message(json!({"role": "assistant", "content": answer.to_string()})),
        },
    },
    Shape {
        name: "a call as `<tool_call>` text",
        write: |meant, _| match meant {
            Meant::Call(name, arguments) => {
                said(&format!("<tool_call>\n{}\n</tool_call>", json!({"name": name, "arguments": arguments})))
            }
            Meant::Json(answer) => said(&answer.to_string()),
        },
    },
    Shape {
        name: "content in parts, after thinking aloud",
        write: |meant, _| {
            let answer = match meant {
                Meant::Call(name, arguments) => json!({"name": name, "arguments": arguments}),
                Meant::Json(answer) => answer,
            };
            message(json!({"role": "assistant", "content": [
                {"type": "text", "text": "<think>They ask for {something}.</think>\n"},
                {"type": "text", "text": answer.to_string()}]}))
        },
    },
    Shape {
        name: "fenced JSON in prose (nothing is forced)",
        write: |meant, _| {
            let answer = match meant {
                Meant::Call(name, arguments) => json!({"name": name, "arguments": arguments}),
                Meant::Json(answer) => answer,
            };
            said(&format!("Sure! Here you go:\n```json\n{answer:#}\n```\nAnything else?"))
        },
    },
    Shape {
        name: "Python literals, single quotes, trailing commas",
        write: |meant, _| {
            let answer = match meant {
                Meant::Call(name, arguments) => json!({"name": name, "arguments": arguments}),
                Meant::Json(answer) => answer,
            };
            let text = answer.to_string().replace('"', "'").replace("true", "True").replace("false", "False");
            said(&text.replace("'}", "',}").replace("null", "None"))
        },
    },
    Shape {
        name: "names with a prefix, numbers as strings",
        write: |meant, _| match meant {
            Meant::Call(name, arguments) => {
                let arguments = arguments.to_string().replace(":3", ":\"3\"");
                message(json!({"role": "assistant", "content": null,
                    "tool_calls": [call("1", &format!("functions.{name}"), &arguments.into())]}))
            }
            Meant::Json(answer) => said(&answer.to_string().replace(":3", ":\"3\"")),
        },
    },
    Shape {
        name: "a stream, though none was asked for",
        write: |meant, _| {
            let delta = match meant {
                Meant::Call(name, arguments) => json!({"role": "assistant", "tool_calls": [
                    {"index": 0, "id": "c1", "type": "function", "function": {"name": name, "arguments": arguments.to_string()}}]}),
                Meant::Json(answer) => json!({"role": "assistant", "content": answer.to_string()}),
            };
            let chunk = |delta: Value, finish: Value| {
                let choices = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
                format!("data: {}\n\n", json!({"object": "chat.completion.chunk", "model": "m", "choices": choices}))
            };
            let body = [chunk(delta, Value::Null), chunk(json!({}), "stop".into()), "data: [DONE]\n\n".into()].concat();
            (200, "text/event-stream", body.into_bytes())
        },
    },
    Shape {
        name: "refuses `tools`",
        write: |meant, body| match meant {
            _ if body.get("tools").is_some() => refused("tools"),
            Meant::Call(..) => refused("tools"),
            Meant::Json(answer) => said(&answer.to_string()),
        },
    },
    Shape {
        name: "refuses `response_format`",
        write: |meant, body| match meant {
            _ if body.get("response_format").is_some() => refused("response_format"),
            Meant::Call(name, arguments) => {
                message(json!({"role": "assistant", "tool_calls": [call("1", name, &text(&arguments))]}))
            }
            Meant::Json(_) => refused("response_format"),
        },
    },
];

pub(super) fn right() -> Right {
    Right {
        function: "get_n_day_weather_forecast",
        arguments: json!({"location": "Seattle", "format": "celsius", "num_days": 3}),
    }
}

/// One cell: the result, and the number of requests.
fn cell(snapshot: &Snapshot, turn: &Result<Turn, TurnError>, requests: usize) -> String {
    match turn {
        Ok(Turn { outcome: Outcome::Call(calls), .. }) => {
            let is_right = calls.len() == 1
                && snapshot.module.function(calls[0].function()).name == right().function
                && Value::Object(calls[0].arguments().clone()) == right().arguments;
            assert!(is_right, "a wrong call: {calls:?}");
            format!("call, {requests}")
        }
        Ok(turn) => format!("{}, {requests}", turn.outcome.name()),
        Err(TurnError::Llm(error)) => format!("error ({})", error.kind()),
        Err(other) => panic!("{other}"),
    }
}

fn head() -> String {
    let names: Vec<&str> = WAYS.iter().map(|way| way.name).collect();
    format!("| {} |\n|---|{}\n", names.join(" | "), "---|".repeat(WAYS.len()))
}

async fn understood(snapshot: &Snapshot, way: &Way, server: &ModelServer) -> (Result<Turn, TurnError>, usize) {
    let before = server.served();
    let understander = way.understander(llm::connect(&server.options()).expect("valid options"));
    let turn = understander.turn(snapshot, &way.request(UTTERANCE)).await;
    (turn, server.served() - before)
}

#[tokio::test]
async fn right_answers_in_every_shape() {
    let snapshot = weather().await;
    let mut table = format!("| shape of the server {}", head());
    for shape in &SHAPES {
        write!(table, "| {} |", shape.name).expect("a string takes everything");
        let write = shape.write;
        let server = ModelServer::answering(move |_, body| write(right().answer(body), body)).await;
        for way in &WAYS {
            let (turn, requests) = understood(&snapshot, way, &server).await;
            write!(table, " {} |", cell(&snapshot, &turn, requests)).expect("a string takes everything");
        }
        table.push('\n');
    }
    golden_block("docs/model-servers.md", "shapes", &table);
}

/// The results of replies that are wrong in every way we could think of. [`super::adversary`] tests that no wrong call
/// results; here the other results are counted.
#[tokio::test]
async fn wrong_answers_of_every_kind() {
    let snapshot = weather().await;
    let replies: Vec<Reply> = bad_replies().into_iter().chain(bad_answers()).map(|(_, reply)| reply).collect();
    let mut counts = vec![[0_usize; 5]; WAYS.len()];
    for reply in &replies {
        let server = ModelServer::replying(vec![reply.clone()]).await;
        for (way, count) in WAYS.iter().zip(&mut counts) {
            let (turn, _) = understood(&snapshot, way, &server).await;
            let index = match &turn {
                Ok(Turn { outcome: Outcome::Call(calls), .. }) => {
                    super::adversary::assert_right(&snapshot, &Outcome::Call(calls.clone()), way.name);
                    0
                }
                Ok(Turn { outcome: Outcome::Ask(_), .. }) => 1,
                Ok(Turn { outcome: Outcome::NoMatch, .. }) => 2,
                Ok(other) => panic!("{:?} of one turn", other.outcome),
                Err(TurnError::Llm(_)) => 3,
                Err(_) => 4,
            };
            count[index] += 1;
        }
    }
    let kinds = [
        "a call, of what is right in the reply",
        "a question",
        "\"nothing fits\"",
        "a typed error (under `auto`: the local answer)",
    ];
    let mut table = format!("| {} kinds of bad reply, each for ever {}", replies.len(), head());
    for (index, kind) in kinds.into_iter().enumerate() {
        let cells: Vec<String> = counts.iter().map(|count| count[index].to_string()).collect();
        writeln!(table, "| {kind} | {} |", cells.join(" | ")).expect("a string takes everything");
    }
    writeln!(table, "| a wrong or invented call |{}", " 0 |".repeat(WAYS.len())).expect("a string takes everything");
    assert!(counts.iter().all(|count| count[4] == 0), "another error than the model server's");
    golden_block("docs/model-servers.md", "adversary", &table);
}
