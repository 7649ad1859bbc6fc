//! Uptake turns what a person says into a validated, OpenAI-compatible function call.

pub mod align;
pub mod call;
pub mod cli;
pub mod config;
pub mod embed;
pub mod eval;
pub mod http;
pub mod llm;
pub mod module;
pub mod recognize;
pub mod retrieve;
pub mod snapshot;
pub mod telemetry;
pub mod text;
pub mod understand;
