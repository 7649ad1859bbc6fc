//! Detects when a server does not know a field, and which of our fields can then be left out.
//!
//! Servers of one protocol accept different fields: newer models want `max_completion_tokens` in place of `max_tokens`
//! and no temperature; strict gateways refuse every unknown field. The functions are pure; [`super::wording`] remembers
//! what was learned.

/// A field that a request can do without. A response format is not one: without it the answer would be different.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// If left out, `max_completion_tokens` is sent instead.
    MaxTokens,
    MaxCompletionTokens,
    Temperature,
    ParallelToolCalls,
    /// Of a function.
    Strict,
    StreamOptions,
    Stream,
}

impl Field {
    const ALL: [Self; 7] = [
        Self::MaxTokens,
        Self::MaxCompletionTokens,
        Self::Temperature,
        Self::ParallelToolCalls,
        Self::Strict,
        Self::StreamOptions,
        Self::Stream,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
            Self::Temperature => "temperature",
            Self::ParallelToolCalls => "parallel_tool_calls",
            Self::Strict => "strict",
            Self::StreamOptions => "stream_options",
            Self::Stream => "stream",
        }
    }
}

/// A set of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Fields(u8);

impl Fields {
    pub(super) const fn has(self, field: Field) -> bool {
        self.0 & (1 << field as u8) != 0
    }

    #[must_use]
    pub(super) const fn with(self, field: Field) -> Self {
        Self(self.0 | (1 << field as u8))
    }
}

/// One problem that a server reports about a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Complaint {
    /// The field, as a path with dots or brackets, if the server names it separately.
    pub field: Option<String>,
    /// The server's text, including its codes.
    pub words: String,
}

/// Words that say that a field is not accepted at all. Errors about a value's range use other words.
const REFUSALS: [&str; 22] = [
    "unsupported",
    "not supported",
    "isn't supported",
    "not support ",
    "n't support ",
    "unknown parameter",
    "unknown_parameter",
    "unknown field",
    "unknown name",
    "unknown argument",
    "unrecognized",
    "unrecognised",
    "unexpected keyword",
    "unexpected field",
    "not permitted",
    "not allowed",
    "only 1 is allowed",
    "extra inputs",
    "extra_forbidden",
    "extraneous",
    "additional properties",
    "is deprecated",
];

/// Words about a function's schema, which may contain names of ours.
const ABOUT_SCHEMAS: [&str; 3] = ["invalid schema", "in context=", ".properties"];

/// The field among `sent` that the server clearly does not accept, if it names one.
pub(super) fn refused(status: u16, complaints: &[Complaint], sent: Fields) -> Option<Field> {
    if !matches!(status, 400 | 422) {
        return None;
    }
    complaints.iter().find_map(|complaint| {
        let words = complaint.words.to_lowercase();
        let says = |phrases: &[&str]| phrases.iter().any(|phrase| words.contains(phrase));
        if !says(&REFUSALS) || says(&ABOUT_SCHEMAS) {
            return None;
        }
        let mut candidates = Field::ALL.into_iter().filter(|field| sent.has(*field));
        let Some(path) = &complaint.field else {
            return candidates
                .filter_map(|field| Some((named(&words, field)?, field)))
                .min_by_key(|(at, _)| *at)
                .map(|(_, field)| field);
        };
        let last = path.split(['.', '[', ']', '/']).rfind(|part| !part.is_empty())?;
        candidates.find(|field| field.name() == last)
    })
}

/// Where the words name the field itself, and not something of the same name.
fn named(words: &str, field: Field) -> Option<usize> {
    let name = field.name();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    words.match_indices(name).map(|(at, _)| at).find(|at| {
        let (before, after) = (words[..*at].chars().next_back(), words[at + name.len()..].chars().next());
        if before.is_some_and(is_word) || after.is_some_and(is_word) {
            return false;
        }
        // Names with underscores are not English words; other names must stand in quotes or a path.
        let set_off = before.is_some_and(|c| matches!(c, '\'' | '"' | '`' | '.' | '/'));
        let of_model = field == Field::Temperature && words.contains("this model");
        name.contains('_') || set_off || of_model || words[..*at].ends_with("supplied: ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::wire;

    fn everything() -> Fields {
        Field::ALL.into_iter().fold(Fields::default(), Fields::with)
    }

    fn first_of(status: u16, body: &str) -> Option<Field> {
        let sent = Field::ALL.into_iter().filter(|field| *field != Field::MaxCompletionTokens);
        refused(status, &wire::complaints(body.as_bytes()), sent.fold(Fields::default(), Fields::with))
    }

    /// Real messages of servers and gateways.
    #[test]
    fn a_field_that_is_plainly_refused_is_found() {
        for (status, body, field) in [
            (
                400,
                r#"{"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "type": "invalid_request_error", "param": "max_tokens", "code": "unsupported_parameter"}}"#,
                Field::MaxTokens,
            ),
            (
                400,
                r#"{"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "code": "invalid_request_body"}}"#,
                Field::MaxTokens,
            ),
            (
                400,
                r#"{"error": {"message": "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.", "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value"}}"#,
                Field::Temperature,
            ),
            (
                400,
                r#"{"error": {"message": "litellm.BadRequestError: OpenAIException - Unsupported value: 'temperature' does not support 0.0 with this model.", "type": null, "param": null, "code": "400"}}"#,
                Field::Temperature,
            ),
            (
                400,
                r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "`temperature` is deprecated for this model."}, "request_id": "r"}"#,
                Field::Temperature,
            ),
            (
                400,
                r#"{"message": "The model returned the following errors: temperature is deprecated for this model."}"#,
                Field::Temperature,
            ),
            (
                400,
                r#"{"message": "invalid temperature: only 1 is allowed for this model", "type": "invalid_request_error"}"#,
                Field::Temperature,
            ),
            (
                400,
                r#"{"error": {"message": "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.", "type": "invalid_request_error", "param": "parallel_tool_calls", "code": "unsupported_parameter"}}"#,
                Field::ParallelToolCalls,
            ),
            (
                400,
                r#"{"error": {"message": "Unrecognized request argument supplied: parallel_tool_calls. Please contact us.", "type": "invalid_request_error", "param": null, "code": null}}"#,
                Field::ParallelToolCalls,
            ),
            (
                400,
                r#"[{"error": {"code": 400, "message": "Invalid JSON payload received. Unknown name \"parallel_tool_calls\": Cannot find field.", "status": "INVALID_ARGUMENT"}}]"#,
                Field::ParallelToolCalls,
            ),
            (
                400,
                r#"{"error": {"message": "openai does not support parameters: ['parallel_tool_calls'], for model=m", "param": "None"}}"#,
                Field::ParallelToolCalls,
            ),
            (
                422,
                r#"{"detail": [{"type": "extra_forbidden", "loc": ["body", "parallel_tool_calls"], "msg": "Extra inputs are not permitted", "input": false}]}"#,
                Field::ParallelToolCalls,
            ),
            (400, r#"{"error": "Validation Error: \"strict\" - Extra inputs are not permitted"}"#, Field::Strict),
            (
                400,
                r#"{"error_code": "BAD_REQUEST", "message": "{\"message\":\"tools.0.custom.strict: Extra inputs are not permitted\"}"}"#,
                Field::Strict,
            ),
            (
                400,
                r#"{"error": {"message": "Invalid value: 'true'. The value 'true' isn't supported yet. For now, please use 'false' for this setting.", "param": "tools[0].function.strict"}}"#,
                Field::Strict,
            ),
            (
                422,
                r#"{"object": "error", "message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "tools", 0, "function", "strict"], "msg": "Extra inputs are not permitted", "input": true}]}, "type": "invalid_request_error", "param": null}"#,
                Field::Strict,
            ),
            (
                422,
                r#"{"object": "error", "message": "{\"detail\":[{\"type\":\"extra_forbidden\",\"loc\":[\"body\",\"stream_options\"],\"msg\":\"Extra inputs are not permitted\"}]}", "param": null}"#,
                Field::StreamOptions,
            ),
            (
                400,
                r#"{"error": {"message": "Unknown parameter: 'stream_options'. (request id: 2024)", "type": "invalid_request_error", "param": "stream_options", "code": "unknown_parameter"}}"#,
                Field::StreamOptions,
            ),
            (400, r#"{"detail": "\"stream_options\" is not allowed"}"#, Field::StreamOptions),
            (
                400,
                r#"{"error": {"message": "Unsupported value: 'stream' does not support true with this model. Only the default (false) value is supported.", "param": "stream", "code": "unsupported_value"}}"#,
                Field::Stream,
            ),
            (400, "Unsupported parameter: 'max_tokens' is not supported", Field::MaxTokens),
        ] {
            assert_eq!(first_of(status, body), Some(field), "{body}");
            assert_eq!(first_of(500, body), None, "{body}");
        }
        let renamed = r#"{"detail": [{"type": "extra_forbidden", "loc": ["body", "max_completion_tokens"], "msg": "Extra inputs are not permitted", "input": 9}]}"#;
        assert_eq!(refused(422, &wire::complaints(renamed.as_bytes()), everything()), Some(Field::MaxCompletionTokens));
        assert_eq!(first_of(422, renamed), None);
    }

    #[test]
    fn anything_else_is_left_as_it_is() {
        for body in [
            "",
            "{}",
            "not supported",
            r#"{"error": {"message": "Unsupported parameter: 'response_format'", "param": "response_format"}}"#,
            r#"{"error": {"message": "max_tokens is too large: 9000. This model supports at most 4096 completion tokens.", "param": "max_tokens", "code": null}}"#,
            r#"{"error": {"message": "Invalid value for 'temperature': must be at most 2.", "param": "temperature"}}"#,
            r#"{"error": {"message": "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.", "param": "parallel_tool_calls"}}"#,
            r#"{"error": {"message": "Invalid schema for function 'f': In context=('properties', 'temperature'), 'default' is not permitted.", "param": "tools[0].function.parameters"}}"#,
            r#"{"error": {"message": "Invalid schema for function 'f': In context=('properties', 'temperature'), 'default' is not permitted."}}"#,
            r#"{"error": {"message": "The capability 'tools' is not supported. Remove it and parallel_tool_calls.", "param": "tools"}}"#,
            r#"{"error": {"message": "'oneOf' is not supported in strict mode"}}"#,
            r#"{"error": {"message": "This stream is not supported"}}"#,
            r#"{"error": {"message": "Unknown name \"const\" at 'tools[0].parameters.properties[0].temperature': Cannot find field."}}"#,
            r#"{"detail": [{"type": "missing", "loc": ["body", "x"], "msg": "Field required", "input": {"messages": "'temperature' is not supported"}}]}"#,
            r#"{"error": {"message": "this model's maximum context length is 4096 tokens", "param": "messages"}}"#,
        ] {
            assert_eq!(first_of(400, body), None, "{body}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_complaint_panics(text in "\\PC{0,60}", name in "(strict|temperature|max_tokens)", status in 300_u16..600) {
            let words = format!("{text}{name}{text} not supported");
            let complaints = [Complaint { field: Some(text), words: words.clone() }, Complaint { field: None, words }];
            let _ = refused(status, &complaints, everything());
        }
    }
}
