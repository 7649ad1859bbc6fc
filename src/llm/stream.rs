//! Assembles a reply from the pieces of a stream, into the JSON that a reply in one piece would have.

use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::{
    ChatReply, LlmError,
    sse::{Event, EventReader},
    wire,
};
use crate::text::foreign::Foreign;

/// What the first bytes of a body show. The content type is ignored: gateways get it wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyKind {
    Stream,
    Whole,
    /// Too short to tell.
    Unknown,
}

/// Whether a body with this beginning is a stream of events.
pub(super) fn kind(beginning: &[u8]) -> BodyKind {
    const BEGINNINGS: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    let text = beginning.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(beginning).trim_ascii_start();
    if BEGINNINGS.iter().any(|field| text.starts_with(field)) {
        BodyKind::Stream
    } else if b"\xEF\xBB\xBF".starts_with(text) || BEGINNINGS.iter().any(|field| field.starts_with(text)) {
        BodyKind::Unknown
    } else {
        BodyKind::Whole
    }
}

/// Whether to continue reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// More must follow.
    More,
    /// The reply is complete; token counts may follow.
    Whole,
    /// Nothing that follows matters.
    Stop,
}

/// A reply that arrives in pieces.
#[derive(Debug)]
pub(super) struct Gathering {
    reader: EventReader,
    /// Only one call is wanted: the reply ends where a second begins.
    single: bool,
    /// Limit for text and arguments, in bytes.
    limit: usize,
    content: String,
    refusal: String,
    calls: Vec<PartialCall>,
    /// A call in the older form.
    function: Option<PartialCall>,
    finish: Option<String>,
    usage: Value,
    model: Option<String>,
    fingerprint: Option<String>,
    /// The server said that nothing follows.
    done: bool,
}

/// The part of a call that has arrived.
#[derive(Debug, Default)]
struct PartialCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl PartialCall {
    /// Adds `{"name", "arguments"}`, each complete or partial.
    fn add(&mut self, function: &Value) {
        let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
        // Some servers repeat the name in every piece.
        if name != self.name {
            self.name.push_str(name);
        }
        match function.get("arguments").or_else(|| function.get("parameters")) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => self.arguments.push_str(text),
            Some(other) => self.arguments.push_str(&other.to_string()),
        }
    }

    fn len(&self) -> usize {
        self.id.len() + self.name.len() + self.arguments.len()
    }

    fn value(&self) -> Value {
        json!({"id": self.id, "function": self.function()})
    }

    fn function(&self) -> Value {
        json!({"name": self.name, "arguments": self.arguments})
    }
}

impl Gathering {
    /// `single`: only one call is wanted. `limit`: most bytes of text and arguments together, and of one event.
    pub(super) fn new(single: bool, limit: usize) -> Self {
        Self {
            reader: EventReader::default(),
            single,
            limit,
            content: String::new(),
            refusal: String::new(),
            calls: Vec::new(),
            function: None,
            finish: None,
            usage: Value::Null,
            model: None,
            fingerprint: None,
            done: false,
        }
    }

    /// Takes bytes, split anywhere.
    ///
    /// # Errors
    /// If the stream reports a server failure, is not a stream of answers, or is too long.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Next, LlmError> {
        for event in self.reader.push(bytes) {
            if self.event(&event)? == Next::Stop {
                return Ok(Next::Stop);
            }
        }
        if self.reader.held() > self.limit {
            return Err(self.too_long());
        }
        Ok(if self.finish.is_some() { Next::Whole } else { Next::More })
    }

    /// The text so far.
    pub(super) fn text(&self) -> &str {
        &self.content
    }

    /// Whether the server itself said that nothing follows.
    pub(super) const fn is_done(&self) -> bool {
        self.done
    }

    /// The reply, once there is nothing more to read.
    ///
    /// # Errors
    /// If the stream ended before the reply did: half a call can look like a whole one.
    pub(super) fn end(mut self) -> Result<ChatReply, LlmError> {
        if let Some(event) = std::mem::take(&mut self.reader).finish() {
            match self.event(&event) {
                Ok(_) => {}
                // The last event was itself cut.
                Err(LlmError::Malformed(_)) => {}
                Err(error) => return Err(error),
            }
        }
        if self.finish.is_none() && !self.done && !self.is_enough() {
            return Err(LlmError::Connect("the answer's stream ended in the middle".into()));
        }
        wire::whole(&self.answer())
    }

    fn event(&mut self, event: &Event) -> Result<Next, LlmError> {
        let data = event.data.trim();
        if data.is_empty() {
            return Ok(Next::More);
        }
        if data == "[DONE]" {
            self.done = true;
            return Ok(Next::Stop);
        }
        match serde_json::from_str::<Value>(data) {
            Ok(Value::Object(piece)) if event.name == "error" => {
                let piece = if piece.contains_key("error") {
                    piece
                } else {
                    Map::from_iter([("error".to_owned(), piece.into())])
                };
                Err(wire::failure(&piece).unwrap_or(LlmError::Malformed("it is an error without words".into())))
            }
            Ok(Value::Object(piece)) => self.piece(&piece),
            // Some servers put no empty line between events.
            Err(_) if data.contains('\n') => {
                for line in data.lines() {
                    let event = Event { name: event.name.clone(), data: line.to_owned() };
                    if self.event(&event)? == Next::Stop {
                        return Ok(Next::Stop);
                    }
                }
                Ok(Next::More)
            }
            Ok(_) => Err(LlmError::Malformed("a piece of its stream is not a JSON object".into())),
            Err(error) => {
                Err(LlmError::Malformed(Foreign::new(&format!("a piece of its stream is not JSON: {error}"))))
            }
        }
    }

    fn piece(&mut self, piece: &Map<String, Value>) -> Result<Next, LlmError> {
        if let Some(error) = wire::failure(piece) {
            return Err(error);
        }
        let text = |key: &str| piece.get(key).and_then(Value::as_str).map(str::to_owned);
        self.model = self.model.take().or_else(|| text("model"));
        self.fingerprint = self.fingerprint.take().or_else(|| text("system_fingerprint"));
        if let Some(usage @ Value::Object(_)) = piece.get("usage") {
            self.usage = usage.clone();
        }
        let choices = piece.get("choices").and_then(Value::as_array);
        // Only one choice was requested; others are ignored.
        let is_first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        let Some(choice) = choices.and_then(|choices| choices.iter().find(is_first)) else { return Ok(Next::More) };
        if let Some(message) = choice.get("message").filter(|message| message.is_object()) {
            // The whole message at the end replaces the pieces.
            self.content.clear();
            self.refusal.clear();
            self.calls.clear();
            self.function = None;
            self.delta(message);
        }
        if let Some(delta) = choice.get("delta") {
            self.delta(delta);
        }
        if let Some(text) = choice.get("text").and_then(Value::as_str) {
            self.content.push_str(text);
        }
        let finish = choice.get("finish_reason").and_then(Value::as_str).filter(|finish| !finish.is_empty());
        self.finish = finish.map(str::to_owned).or_else(|| self.finish.take());
        let calls = self.calls.iter().chain(&self.function).map(PartialCall::len).sum::<usize>();
        if self.content.len() + self.refusal.len() + calls > self.limit {
            return Err(self.too_long());
        }
        Ok(if self.is_enough() { Next::Stop } else { Next::More })
    }

    fn delta(&mut self, delta: &Value) {
        if let Some(text) = wire::content(delta.get("content")) {
            self.content.push_str(&text);
        }
        if let Some(text) = delta.get("refusal").and_then(Value::as_str) {
            self.refusal.push_str(text);
        }
        match delta.get("tool_calls") {
            Some(Value::Array(calls)) => calls.iter().for_each(|call| self.call(call)),
            Some(call @ Value::Object(_)) => self.call(call),
            _ => {}
        }
        if let Some(function @ Value::Object(_)) = delta.get("function_call") {
            self.function.get_or_insert_default().add(function);
        }
    }

    fn call(&mut self, call: &Value) {
        if !call.is_object() {
            return;
        }
        let function = call.get("function").filter(|function| function.is_object()).unwrap_or(call);
        let index = call.get("index").and_then(Value::as_u64);
        let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
        let is_named = function.get("name").and_then(Value::as_str).is_some_and(|name| !name.is_empty());
        let known = match index {
            Some(_) => self.calls.iter().rposition(|piece| piece.index == index),
            None => self.calls.len().checked_sub(1),
        };
        // Some servers give all calls the same index, others give every piece another id: only both together begin a
        // new call.
        let known = known.filter(|at| {
            let piece = &self.calls[*at];
            !(is_named && !piece.name.is_empty() && !id.is_empty() && !piece.id.is_empty() && id != piece.id)
        });
        let at = known.unwrap_or_else(|| {
            self.calls.push(PartialCall { index, ..PartialCall::default() });
            self.calls.len() - 1
        });
        // Keeps one more than will be read, to detect that a further call began.
        self.calls.truncate(wire::MAX_CALLS + 1);
        if let Some(piece) = self.calls.get_mut(at) {
            if piece.id.is_empty() {
                id.clone_into(&mut piece.id);
            }
            piece.add(function);
        }
    }

    /// Whether only one call was wanted, it is complete, and another one has begun.
    fn is_enough(&self) -> bool {
        self.single
            && self.calls.len() > 1
            && serde_json::from_str::<IgnoredAny>(&self.calls[0].arguments).is_ok()
            && !self.calls[0].name.is_empty()
    }

    fn too_long(&self) -> LlmError {
        LlmError::Malformed(Foreign::new(&format!("it is longer than {} bytes", self.limit)))
    }

    /// The answer as it would have come in one piece.
    fn answer(mut self) -> Map<String, Value> {
        if self.is_enough() {
            self.calls.truncate(1);
        }
        let optional = |text: String| Some(text).filter(|text| !text.is_empty());
        let message = json!({
            "content": optional(self.content),
            "refusal": optional(self.refusal),
            "tool_calls": self.calls.iter().map(PartialCall::value).collect::<Vec<_>>(),
            "function_call": self.function.as_ref().map(PartialCall::function),
        });
        let answer = json!({
            "model": self.model,
            "system_fingerprint": self.fingerprint,
            "choices": [{"message": message, "finish_reason": self.finish}],
            "usage": self.usage,
        });
        match answer {
            Value::Object(answer) => answer,
            _ => Map::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::llm::{ToolCall, Usage};

    const LIMIT: usize = 10_000;

    fn gather(stream: &str, single: bool) -> Result<ChatReply, LlmError> {
        let mut gathering = Gathering::new(single, LIMIT);
        gathering.push(stream.as_bytes())?;
        gathering.end()
    }

    fn stream(pieces: &[Value], done: bool) -> String {
        let done = if done { "data: [DONE]\n\n" } else { "" };
        pieces.iter().map(|piece| format!("data: {piece}\n\n")).chain([done.to_owned()]).collect()
    }

    #[expect(clippy::needless_pass_by_value, reason = "made on the spot")]
    fn delta(delta: Value) -> Value {
        json!({"id": "x", "object": "chat.completion.chunk", "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
    }

    fn finish(reason: &str) -> Value {
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    }

    fn called(index: u64, id: &str, name: &str, arguments: &str) -> Value {
        delta(json!({"tool_calls": [{"index": index, "id": id, "type": "function",
            "function": {"name": name, "arguments": arguments}}]}))
    }

    fn more(index: u64, arguments: &str) -> Value {
        delta(json!({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}))
    }

    fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() }
    }

    #[test]
    fn every_way_of_streaming_a_call_is_read() {
        let whole = [call("c", "f", "{\"a\": \"b\"}")];
        let role = delta(json!({"role": "assistant", "content": null}));
        for pieces in [
            // An opening brace comes with the name.
            vec![role.clone(), called(0, "c", "f", "{"), more(0, "\"a\": "), more(0, "\"b\"}"), finish("tool_calls")],
            // The name comes alone, and the finish reason is different.
            vec![
                delta(json!({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": "f"}}]})),
                more(0, "{\"a\": \"b\"}"),
                finish("stop"),
            ],
            // Name and id come with every piece.
            vec![called(0, "c", "f", "{\"a\": "), called(0, "c", "f", "\"b\"}"), finish("tool_calls")],
            // Every piece has another id.
            vec![
                called(0, "c", "f", ""),
                delta(json!({"tool_calls": [{"index": 0, "id": "d", "function": {"arguments": "{\"a\": \"b\"}"}}]})),
                finish("tool_calls"),
            ],
            // No index at all.
            vec![
                delta(json!({"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{\"a\": "}}]})),
                delta(json!({"tool_calls": {"function": {"arguments": "\"b\"}"}}})),
                finish("tool_calls"),
            ],
            // The whole message again at the end.
            vec![
                called(0, "c", "f", "{\"a\":"),
                json!({"choices": [{"message": {"tool_calls": [
                    {"id": "c", "function": {"name": "f", "arguments": "{\"a\": \"b\"}"}}]}, "finish_reason": "stop"}]}),
            ],
        ] {
            let text = stream(&pieces, true);
            assert_eq!(gather(&text, false).expect(&text).tool_calls, whole, "{text}");
            assert_eq!(gather(&text, true).expect(&text).tool_calls, whole, "{text}");
        }
        let legacy = stream(
            &[
                delta(json!({"function_call": {"name": "f", "arguments": "{"}})),
                delta(json!({"function_call": {"arguments": "}"}})),
                finish("function_call"),
            ],
            true,
        );
        assert_eq!(gather(&legacy, true).expect("a reply").tool_calls, [call("call_0", "f", "{}")]);
        let tagged = stream(
            &[
                delta(json!({"content": "<tool_"})),
                delta(json!({"content": "call>{\"name\": \"f\"}</tool_call>"})),
                finish("stop"),
            ],
            true,
        );
        let tagged = gather(&tagged, true).expect("a reply");
        assert_eq!(tagged.content.as_deref(), Some("<tool_call>{\"name\": \"f\"}</tool_call>"));
    }

    #[test]
    fn several_calls_are_kept_apart() {
        for pieces in [
            vec![called(0, "c", "f", "{}"), called(1, "d", "g", "{"), more(1, "}"), finish("tool_calls")],
            // All with the same index.
            vec![called(0, "c", "f", "{}"), called(0, "d", "g", "{}"), finish("tool_calls")],
        ] {
            let text = stream(&pieces, true);
            let both = gather(&text, false).expect("a reply");
            assert_eq!(both.tool_calls, [call("c", "f", "{}"), call("d", "g", "{}")], "{text}");
            // If only one is wanted, the reply ends where the second begins.
            let mut gathering = Gathering::new(true, LIMIT);
            let next: Vec<Next> = pieces[..2]
                .iter()
                .map(|piece| gathering.push(stream(std::slice::from_ref(piece), false).as_bytes()).expect("pieces"))
                .collect();
            assert_eq!(next, [Next::More, Next::Stop], "{text}");
            assert_eq!(gathering.end().expect("a reply").tool_calls, [call("c", "f", "{}")], "{text}");
        }
        // The first call is incomplete: half a call is not a reply.
        let text = stream(&[called(0, "c", "f", "{"), called(1, "d", "g", "{")], false);
        assert!(matches!(gather(&text, true), Err(LlmError::Connect(_))));
    }

    #[test]
    fn the_rest_of_a_reply_is_read() {
        let text = stream(
            &[
                json!({"choices": [], "prompt_filter_results": []}),
                json!({"model": "m", "system_fingerprint": "p", "choices": [{"index": 1, "delta": {"content": "other"}}]}),
                json!({"model": "n", "choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": ""}]}),
                delta(json!({"content": [{"type": "text", "text": "b"}], "reasoning_content": "hm"})),
                json!({"choices": [{"text": "c"}]}),
                finish("length"),
                json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}}),
            ],
            true,
        );
        let reply = gather(&format!(": ping\n\n{text}"), true).expect("a reply");
        let usage = Usage { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
        let expected = ChatReply {
            content: Some("abc".into()),
            cut: true,
            usage,
            model: Some("m".into()),
            fingerprint: Some("p".into()),
            ..ChatReply::default()
        };
        assert_eq!(reply, expected);
        assert_eq!(gather("data: [DONE]", false), Ok(ChatReply::default()));
        // Without empty lines, and without `[DONE]`.
        let text = format!("data: {}\ndata: {}\n", delta(json!({"content": "a"})), finish("stop"));
        assert_eq!(gather(&text, false).expect("a reply").content.as_deref(), Some("a"));
    }

    #[test]
    fn a_stream_that_is_cut_is_no_reply() {
        let text = stream(&[called(0, "c", "f", "{\"room\": \"kit"), more(0, "chen\"}")], false);
        for end in 0..=text.len() {
            let cut = gather(&text[..end], true);
            assert!(matches!(cut, Err(LlmError::Connect(_))), "{end}: {cut:?}");
        }
    }

    #[test]
    fn what_fails_on_the_way_is_a_failure() {
        let begun = stream(&[called(0, "c", "f", "{}")], false);
        for (text, kind) in [
            ("data: {\"error\": {\"message\": \"boom\", \"code\": 500}}\n\n", "status"),
            ("event: error\ndata: {\"message\": \"boom\"}\n\n", "status"),
            ("data: {\"error\": \"boom\"}\n\ndata: [DONE]\n\n", "status"),
            ("data: boom\n\n", "malformed"),
            ("data: 42\n\n", "malformed"),
            ("data: {\"choices\": [{\"delta\": 42}]}\n\n", "connect"),
        ] {
            assert_eq!(gather(&format!("{begun}{text}"), false).map_err(|error| error.kind()), Err(kind), "{text}");
        }
        let long = "x".repeat(LIMIT / 2 + 1);
        let text = stream(&[delta(json!({"content": long})), delta(json!({"content": long})), finish("stop")], true);
        assert_eq!(gather(&text, false).map_err(|error| error.kind()), Err("malformed"));
        let mut endless = Gathering::new(false, LIMIT);
        assert!((0..3).any(|_| endless.push(format!("data: {long}").as_bytes()).is_err()));
    }

    #[test]
    fn a_stream_is_told_by_its_beginning() {
        for (text, expected) in [
            ("data: {}", BodyKind::Stream),
            ("\u{FEFF}\n data:", BodyKind::Stream),
            (": ping", BodyKind::Stream),
            ("event: x", BodyKind::Stream),
            ("", BodyKind::Unknown),
            (" \r\n", BodyKind::Unknown),
            ("da", BodyKind::Unknown),
            ("{\"choices\"", BodyKind::Whole),
            ("<html>", BodyKind::Whole),
            ("datum", BodyKind::Whole),
        ] {
            assert_eq!(kind(text.as_bytes()), expected, "{text:?}");
        }
        assert_eq!(kind(b"\xEF\xBB"), BodyKind::Unknown);
        assert_eq!(kind(b"\xFF"), BodyKind::Whole);
    }

    proptest! {
        /// However arguments are split into pieces, and pieces into bytes, the reply is the same.
        #[test]
        fn cuts_change_nothing(
            arguments in "\\PC{0,30}",
            content in "\\PC{0,10}",
            places in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
            size in 1_usize..40,
            line_end in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
        ) {
            let whole = stream(&[called(0, "c", "f", &arguments), delta(json!({"content": content})), finish("stop")], true);
            let boundaries: Vec<usize> = arguments.char_indices().map(|(at, _)| at).chain([arguments.len()]).collect();
            let mut cuts: Vec<usize> = places.iter().map(|place| boundaries[place.index(boundaries.len())]).collect();
            cuts.extend([0, arguments.len()]);
            cuts.sort_unstable();
            let mut pieces = vec![called(0, "c", "f", "")];
            pieces.extend(cuts.windows(2).map(|pair| more(0, &arguments[pair[0]..pair[1]])));
            pieces.extend(content.chars().map(|character| delta(json!({"content": character.to_string()}))));
            pieces.push(finish("stop"));
            let text = stream(&pieces, true).replace('\n', line_end);
            let mut gathering = Gathering::new(false, LIMIT);
            for bytes in text.as_bytes().chunks(size) {
                gathering.push(bytes).expect("pieces");
            }
            prop_assert_eq!(gathering.end(), gather(&whole, false));
        }

        #[test]
        fn no_bytes_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..80),
            member in "(choices|delta|message|tool_calls|function|index|id|content|error|usage|finish_reason)",
            text in "\\PC{0,20}",
        ) {
            let mut gathering = Gathering::new(true, 100);
            let _ = gathering.push(&bytes);
            let _ = gathering.end();
            for value in [json!(text), json!([text]), json!({ (member.as_str()): text }), json!(-7), json!(null)] {
                let piece = json!({"choices": [{ (member.as_str()): value, "delta": { (member.as_str()): value,
                    "tool_calls": [{ (member.as_str()): value }, value] } }], (member.as_str()): value});
                let _ = gather(&stream(&[piece.clone(), piece], true), true);
            }
        }
    }
}
