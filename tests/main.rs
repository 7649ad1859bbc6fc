//! All integration tests, in one binary, which links only once.

mod actions;
mod cli;
mod conversation;
mod fuzz;
mod http;
mod import;
mod layers;
mod mcp;
mod opendu;
mod sessions;
mod support;
mod threats;
mod understand;
