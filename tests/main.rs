//! All integration tests, in one binary: it links once.

mod cli;
mod http;
mod import;
mod layers;
mod mcp;
mod opendu;
mod support;
mod understand;
