//! The recipe over the shipped modules and over scripted model servers.

mod adversary;
mod local;
mod tools;
