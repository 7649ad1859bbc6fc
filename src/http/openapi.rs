//! What `/openapi.json` says beside the routes: the service itself, and the errors that each route can return.

use utoipa::{
    OpenApi,
    openapi::{ContentBuilder, Ref, RefOr, ResponseBuilder, path::Operation},
};

use super::error::ErrorEnvelope;
use crate::answer::{chunk::ChatChunk, event::ResponseEvent};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Uptake",
        description = "Turns what a person says into a validated, OpenAI-compatible function call.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    tags(
        (name = "understand", description = "From an utterance to a call"),
        (name = "sessions", description = "Conversations that the service keeps"),
        (name = "modules", description = "What can be understood"),
        (name = "health", description = "For orchestrators"),
    ),
    components(schemas(ErrorEnvelope, ChatChunk, ResponseEvent)),
)]
pub(super) struct ApiDocument;

/// Adds the errors that each route can return; all use the same envelope.
fn add_all_errors(document: &mut utoipa::openapi::OpenApi) {
    for (path, item) in &mut document.paths.paths {
        for operation in
            [item.get.as_mut(), item.post.as_mut(), item.put.as_mut(), item.patch.as_mut(), item.delete.as_mut()]
                .into_iter()
                .flatten()
        {
            add_errors(path, operation);
        }
    }
}

fn add_errors(path: &str, operation: &mut Operation) {
    let takes_body = operation.request_body.is_some();
    let completes = matches!(path, "/v1/chat/completions" | "/v1/responses");
    let understands = completes || path == "/v1/predict/{module}";
    let names_session = path.starts_with("/v1/sessions/");
    let names_response = path.starts_with("/v1/responses/");
    let keeps = understands || names_session || names_response;
    let names_module = path.contains("{module}") || completes || names_session;
    let is_public = matches!(path, "/hello" | "/healthz" | "/readyz");
    let errors = [
        (names_module || names_response || takes_body, "400", "The request is wrong; `error.param` names the member"),
        (!is_public, "401", "There are keys, and the request brings none that is known"),
        (true, "403", "The host or the web page that asks is not configured, or the caller may not do this"),
        (names_session, "404", "There is no such session, or no such module"),
        (!names_session && (names_module || path.contains("{model}")), "404", "There is no such module"),
        (names_response, "404", "There is no such response"),
        (takes_body, "408", "The body took too long"),
        (keeps, "409", "Another turn of the session came between; `retry-after` says when to try again"),
        (takes_body, "413", "The body is too long, or what is open in the conversation"),
        (takes_body, "415", "The body is not JSON"),
        (names_module, "422", "The module has errors, listed in `uptake.diagnostics`"),
        (
            takes_body || names_session || names_response,
            "429",
            "Too many turns are running; `retry-after` says when to try again",
        ),
        (names_module || names_response, "500", "The service failed"),
        (names_module, "502", "A model or embedding server failed and nothing local could answer"),
        (
            names_module || names_response || path == "/readyz",
            "503",
            "Not ready, stopping, out of time, or the module cannot be built at the moment",
        ),
        (takes_body, "504", "The model server did not answer in time and nothing local could answer"),
    ];
    for (_, status, description) in errors.into_iter().filter(|(applies, ..)| *applies) {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("ErrorEnvelope"))).build();
        let response = ResponseBuilder::new().description(description).content("application/json", content).build();
        operation.responses.responses.insert(status.to_owned(), RefOr::T(response));
    }
}

/// The document of these routes, as pretty JSON with a final newline.
pub(super) fn text(mut document: utoipa::openapi::OpenApi) -> String {
    add_all_errors(&mut document);
    let mut text = document.to_pretty_json().expect("the document is made of strings, maps and lists");
    text.push('\n');
    text
}
