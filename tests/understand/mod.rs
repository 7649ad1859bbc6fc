//! The recipe of a turn with the shipped modules and with scripted model servers.

mod adversary;
mod answers;
mod consent;
mod courtesy;
mod dialogues;
mod doubtful;
mod fuzz;
mod injection;
mod japanese;
mod ledger;
mod llama;
pub(crate) mod local;
mod matrix;
mod negation;
mod probe;
mod prompts;
mod proposals;
mod recorded;
mod round_trip;
mod several;
mod strangers;
mod strategies;
mod tools;
mod values;
mod ways;
mod weighed;
mod wording;
