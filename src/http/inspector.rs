//! `/inspector`: a page that shows what answers are based on, and edits modules. It is part of the executable and only
//! uses the routes beside it, with the key that its user types in.

use axum::{
    extract::{Path, State},
    http::{HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
};

use super::{ApiError, AppState, Fault};

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const IMAGE: &str = "image/svg+xml";

/// Name, media type, content.
const FILES: [(&str, &str, &str); 14] = [
    ("", HTML, include_str!("inspector/index.html")),
    ("app.css", STYLE, include_str!("inspector/app.css")),
    ("icon.svg", IMAGE, include_str!("inspector/icon.svg")),
    ("app.js", SCRIPT, include_str!("inspector/app.js")),
    ("api.js", SCRIPT, include_str!("inspector/api.js")),
    ("lib.js", SCRIPT, include_str!("inspector/lib.js")),
    ("try.js", SCRIPT, include_str!("inspector/try.js")),
    ("why.js", SCRIPT, include_str!("inspector/why.js")),
    ("mend.js", SCRIPT, include_str!("inspector/mend.js")),
    ("module.js", SCRIPT, include_str!("inspector/module.js")),
    ("words.js", SCRIPT, include_str!("inspector/words.js")),
    ("preact.js", SCRIPT, include_str!("inspector/vendor/preact.js")),
    ("hooks.js", SCRIPT, include_str!("inspector/vendor/hooks.js")),
    ("htm.js", SCRIPT, include_str!("inspector/vendor/htm.js")),
];

/// Loads only our own files, runs no inline code, contacts no other server, and forbids framing.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const GUARDS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The page refers to its files by relative names, so that it works below a path of a proxy.
pub(super) async fn enter() -> Response {
    (axum::http::StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, "inspector/")]).into_response()
}

pub(super) async fn page(State(app): State<AppState>) -> Result<Response, ApiError> {
    give(&app, "")
}

pub(super) async fn file(State(app): State<AppState>, Path(name): Path<String>) -> Result<Response, ApiError> {
    give(&app, &name)
}

fn give(app: &AppState, name: &str) -> Result<Response, ApiError> {
    if !app.is_guarded() {
        let message = "others reach this address and nobody is asked for a key, so there is no inspector here: \
            `uptake key add NAME --scope inspect --scope predict` makes a key";
        return Err(ApiError::fault(Fault::NotAllowed, message));
    }
    let Some((_, kind, text)) = FILES.iter().find(|(known, ..)| *known == name) else {
        return Err(ApiError::fault(Fault::UnknownRoute, "the inspector has no file of this name"));
    };
    let mut response = ([(header::CONTENT_TYPE, *kind)], *text).into_response();
    for (name, value) in GUARDS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}
