//! Clients of `OpenDU`, of both generations: every rule of their protocol, and a whole dialogue.

mod client;
mod contexts;
mod document;
mod replay;
mod rules;
mod server;
