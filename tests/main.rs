//! All integration tests, in one binary: it links once.

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
