//! The page for people: what it loads, which servers it contacts, what it stores, and who can open it.

use std::collections::BTreeSet;

use axum::http::Request;
use uptake::http::{
    HttpOptions,
    keys::{self, Key, Scope},
};

use crate::support::{Answer, Service};

/// Its own files by name, without libraries.
async fn own_files(service: &Service) -> Vec<(String, Answer)> {
    let mut files = Vec::new();
    for name in [
        "",
        "app.css",
        "icon.svg",
        "app.js",
        "api.js",
        "lib.js",
        "try.js",
        "why.js",
        "mend.js",
        "module.js",
        "words.js",
    ] {
        let answer = service.get(&format!("/inspector/{name}")).await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.text);
        files.push((name.to_owned(), answer));
    }
    files
}

/// The text after each `before` up to the next `end`.
fn behind<'a>(text: &'a str, before: &'a str, end: char) -> impl Iterator<Item = &'a str> {
    text.split(before).skip(1).filter_map(move |rest| rest.split(end).next())
}

#[tokio::test]
async fn the_inspector_loads_nothing_but_its_own_and_nobody_frames_it() {
    let service = Service::new(&[]);
    let entered = service.get("/inspector").await;
    assert_eq!((entered.status, &entered.headers["location"]), (308, &"inspector/".parse().unwrap()));
    for (name, answer) in own_files(&service).await {
        let policy = answer.headers["content-security-policy"].to_str().expect("text");
        let parts: BTreeSet<&str> = policy.split("; ").collect();
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "connect-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ] {
            assert!(parts.contains(part), "{name}: {part} in {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        assert_eq!(answer.headers["x-frame-options"], "DENY");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        assert_eq!(answer.headers["referrer-policy"], "no-referrer");
        assert!(!answer.headers.contains_key("set-cookie"));
        // The name of an XML namespace is not an address.
        let text = answer.text.replace("http://www.w3.org/2000/svg", "");
        assert!(!text.contains("http://") && !text.contains("https://"), "{name} names an address");
        let named =
            behind(&text, "from \"./", '"').chain(behind(&text, "src=\"", '"')).chain(behind(&text, "href=\"", '"'));
        for file in named.filter(|file| !file.starts_with('#')) {
            let found = service.get(&format!("/inspector/{file}")).await;
            assert_eq!(found.status, 200, "{name} names {file}");
        }
    }
    for library in ["preact.js", "hooks.js", "htm.js"] {
        let text = service.get(&format!("/inspector/{library}")).await.text;
        assert!(!text.contains("sourceMappingURL") && !text.contains("from\"preact\""), "{library}");
    }
    let page = service.get("/inspector/").await.text;
    assert!(behind(&page, "<script", '<').all(|script| script.contains("src=") && script.ends_with('>')), "{page}");
    assert!(!page.contains("<style") && !page.contains(" style=") && !page.contains(" on"), "{page}");
}

#[tokio::test]
async fn no_text_becomes_markup_in_the_inspector() {
    let service = Service::new(&[]);
    for (name, answer) in own_files(&service).await {
        for way in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "setHTML",
            "srcdoc",
            "createContextualFragment",
            "DOMParser",
            "javascript:",
        ] {
            assert!(!answer.text.contains(way), "{name} has {way}");
        }
    }
}

#[tokio::test]
async fn the_inspector_keeps_its_key_out_of_addresses_and_cookies() {
    let service = Service::new(&[]);
    for (name, answer) in own_files(&service)
        .await
        .into_iter()
        .filter(|(name, _)| std::path::Path::new(name).extension().is_some_and(|extension| extension == "js"))
    {
        assert!(!answer.text.contains("document.cookie") && !answer.text.contains("indexedDB"), "{name}");
        let asks = ["fetch(", "XMLHttpRequest", "EventSource", "WebSocket", "sendBeacon"];
        let asked = asks.iter().filter(|way| answer.text.contains(**way)).count();
        assert_eq!(asked, usize::from(name == "api.js"), "{name}");
        let kept: Vec<&str> = behind(&answer.text, "localStorage.setItem(\"", '"').collect();
        assert!(kept.iter().all(|what| *what == "uptake.language"), "{name}: {kept:?}");
    }
    let api = service.get("/inspector/api.js").await.text;
    assert!(api.contains("all.authorization = `Bearer ${key.get()}`") && api.contains("credentials: \"omit\""));
    assert!(api.contains("redirect: \"error\""), "a key does not follow to another address");
    // A key in the address does not grant access.
    let (service, text, _directory) = guarded(&[Scope::Admin]);
    for path in
        [format!("/v1/modules?key={text}"), format!("/v1/modules?access_token={text}&authorization=Bearer%20{text}")]
    {
        assert_eq!(service.get(&path).await.status, 401, "{path}");
    }
}

fn guarded(scopes: &[Scope]) -> (Service, String, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("keys.json");
    let (key, text) = Key::make("somebody", scopes.to_vec(), Vec::new());
    keys::write(&path, vec![key]).expect("a file of keys");
    (
        Service::with(&["weather"], HttpOptions { keys: path, host: "0.0.0.0".to_owned(), ..HttpOptions::default() }),
        text,
        directory,
    )
}

/// The page shows nothing of the modules: routes that do need the key.
#[tokio::test]
async fn an_open_address_has_neither_inspector_nor_changes() {
    let options = HttpOptions { host: "0.0.0.0".to_owned(), open: true, ..HttpOptions::default() };
    let open = Service::with(&["weather"], options);
    for path in [
        "/inspector/",
        "/inspector/app.js",
        "/v1/modules/weather/files",
        "/v1/modules/weather/files/schema.json",
        "/v1/modules/weather/versions",
    ] {
        assert_eq!(open.get(path).await.error().2, "not_allowed", "{path}");
    }
    let change = r#"{"changes": [], "dry_run": true}"#;
    let patch =
        Request::patch("/v1/modules/weather").header("content-type", "application/json").body(change.into()).unwrap();
    assert_eq!(open.send(patch).await.error().2, "not_allowed");
    assert_eq!(open.post("/v1/modules/weather/measure", "{}").await.error().2, "not_allowed");
    assert_eq!(open.say("weather", "how warm is it in Seattle").await.status, 200, "what is for everybody still is");

    let (service, text, _directory) = guarded(&[Scope::Inspect]);
    assert_eq!(service.get("/inspector/").await.status, 200);
    assert_eq!(service.get("/v1/modules/weather/files").await.status, 401);
    let asked = Request::get("/v1/modules/weather/files").header("authorization", format!("Bearer {text}"));
    assert_eq!(service.send(asked.body(axum::body::Body::empty()).unwrap()).await.status, 200);
}

#[tokio::test]
async fn names_of_files_lead_nowhere_else() {
    let service = Service::new(&[]);
    for name in
        ["..", "..%2F..%2Fkeys.json", "vendor%2Fpreact.js", "LICENSE-htm", "%00", "app.js%2F", "index.html", "a/b"]
    {
        assert_eq!(service.get(&format!("/inspector/{name}")).await.error().2, "route_not_found", "{name}");
    }
}

/// Every text of the page exists in each language.
#[tokio::test]
async fn the_inspector_speaks_five_languages() {
    let service = Service::new(&[]);
    let words = service.get("/inspector/words.js").await.text;
    let table = words.split("const WORDS = {").nth(1).and_then(|rest| rest.split("\n};").next()).expect("a table");
    let mut known = BTreeSet::new();
    let mut entry = String::new();
    for line in table.lines().filter(|line| !line.trim().is_empty()) {
        entry += line.trim();
        if !entry.ends_with("],") {
            continue;
        }
        let (name, list) = entry.split_once(": [").expect("a name and its words");
        let list: Vec<String> =
            serde_json::from_str(&format!("[{}]", list.trim_end_matches("],").trim_end_matches(','))).expect(&entry);
        assert_eq!(list.len(), 5, "{name}");
        assert!(list.iter().all(|text| !text.trim().is_empty()), "{name}");
        assert!(known.insert(name.to_owned()), "{name} is there twice");
        entry.clear();
    }
    for (file, answer) in own_files(&service).await {
        for name in behind(&answer.text, "t(\"", '"')
            .filter(|name| !name.is_empty() && name.bytes().all(|sign| sign.is_ascii_lowercase() || sign == b'_'))
        {
            assert!(known.contains(name), "{file} says `{name}`");
        }
    }
    for name in [
        "outcome_call",
        "outcome_ask",
        "outcome_no_match",
        "outcome_cancelled",
        "outcome_handoff",
        "outcome_done",
        "asked_missing",
        "asked_group",
        "asked_invalid",
        "asked_rule",
        "asked_tie",
        "asked_confirm",
        "asked_change",
    ] {
        assert!(known.contains(name), "{name}");
    }
}
