//! Uptake turns what a person says into a validated, OpenAI-compatible function call.

pub mod act;
pub mod answer;
pub mod assist;
pub mod call;
pub mod cli;
pub mod config;
pub mod conversation;
pub mod decide;
pub mod dialogue;
pub mod embed;
pub mod eval;
pub mod exemplars;
pub mod export;
pub mod http;
pub mod import;
pub mod language;
mod linear;
pub mod llm;
pub mod mcp;
pub mod module;
pub mod recognize;
pub mod retrieve;
pub mod sample;
pub mod snapshot;
pub mod telemetry;
pub mod text;
pub mod understand;
