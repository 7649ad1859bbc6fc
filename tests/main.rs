//! All integration tests, in one binary: it links once.

mod cli;
mod http;
mod layers;
mod support;
mod understand;
