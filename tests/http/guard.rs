//! What a web page, or a stranger, can make the service do: nothing.

use std::net::IpAddr;

use axum::{
    body::Body,
    http::{Request, request::Builder},
};
use uptake::http::{HttpOptions, IndexByGet, Peer};

use crate::support::{Answer, Service, json_request};

async fn ask(service: &Service, request: Builder, body: &'static str) -> Answer {
    service.send(request.body(Body::from(body)).expect("a request")).await
}

/// Requests that a page can make a browser send without a preflight.
#[tokio::test]
async fn a_page_of_another_origin_can_neither_write_nor_rebuild() {
    let service = Service::new(&["weather"]);
    let said = r#"{"utterance":"how cold is it in Seattle?"}"#;
    let plain = Request::post("/v1/predict/weather").header("content-type", "text/plain");
    assert_eq!(ask(&service, plain, said).await.error().0, 415);
    let untyped = Request::post("/v1/predict/weather");
    assert_eq!(ask(&service, untyped, said).await.error().0, 415);
    let form = Request::post("/v1/index/weather").header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(ask(&service, form, "").await.error().0, 415);
    for origin in ["https://evil.example", "null", "http://localhost:3000"] {
        for path in ["/v1/index/weather", "/v1/predict/weather"] {
            let request = json_request(path).header("host", "localhost:3001").header("origin", origin);
            let (status, kind, code, _) = ask(&service, request, said).await.error();
            assert_eq!((status, kind.as_str(), code.as_str()), (403, "permission_error", "origin_not_allowed"));
        }
    }
    // An image, a link or a redirect names no origin, but the browser tells whose page it is.
    for site in ["cross-site", "same-site"] {
        let image = Request::get("/v1/index/weather").header("sec-fetch-site", site);
        assert_eq!(ask(&service, image, "").await.error().2, "not_allowed");
    }
    assert_eq!(service.app.snapshots.all().len(), 0, "nothing was built");

    let own = json_request("/v1/predict/weather").header("host", "localhost:3001");
    assert_eq!(ask(&service, own.header("origin", "http://localhost:3001"), said).await.status, 200);
}

/// A name whose owner makes it resolve to this machine.
#[tokio::test]
async fn a_foreign_name_is_not_answered() {
    let service = Service::new(&["weather"]);
    for host in ["evil.example", "evil.example:3001", "localhost.evil.example"] {
        for path in ["/hello", "/v1/modules", "/v1/index/weather", "/no/such/route"] {
            let (status, _, code, _) = ask(&service, Request::get(path).header("host", host), "").await.error();
            assert_eq!((status, code.as_str()), (403, "host_not_allowed"), "{host} {path}");
        }
        let absolute = Request::get(format!("http://{host}/hello")).header("host", "localhost");
        assert_eq!(ask(&service, absolute, "").await.status, 403, "{host}");
    }
    for host in ["localhost:3001", "127.0.0.1", "[::1]:3001", "uptake:3001", "10.0.0.7"] {
        assert_eq!(ask(&service, Request::get("/hello").header("host", host), "").await.status, 200, "{host}");
    }
    let hosts = vec!["calls.example".to_owned()];
    let named = Service::with(&[], HttpOptions { allowed_hosts: hosts, ..HttpOptions::default() });
    assert_eq!(ask(&named, Request::get("/hello").header("host", "calls.example"), "").await.status, 200);
}

#[tokio::test]
async fn a_stranger_rebuilds_by_get_only_where_that_is_configured() {
    let from = |address: &str| {
        let peer = Peer(address.parse::<IpAddr>().expect("an address"));
        Request::get("/v1/index/weather").extension(peer)
    };
    let service = Service::new(&["weather"]);
    assert_eq!(ask(&service, from("192.0.2.1"), "").await.error().2, "not_allowed");
    assert_eq!(ask(&service, from("::1"), "").await.status, 200);
    let open = HttpOptions { index_by_get: IndexByGet::Anyone, ..HttpOptions::default() };
    assert_eq!(ask(&Service::with(&["weather"], open), from("192.0.2.1"), "").await.status, 200);
    let closed = HttpOptions { index_by_get: IndexByGet::Nobody, ..HttpOptions::default() };
    let closed = Service::with(&["weather"], closed);
    assert_eq!(ask(&closed, from("::1"), "").await.error().0, 403);
    assert_eq!(closed.post("/v1/index/weather", "").await.status, 200);
}
