//! The recipe over the shipped modules and over scripted model servers.

mod adversary;
mod doubtful;
mod fuzz;
mod injection;
mod llama;
pub(crate) mod local;
mod matrix;
mod negation;
mod probe;
mod prompts;
mod recorded;
mod several;
mod strategies;
mod tools;
mod ways;
