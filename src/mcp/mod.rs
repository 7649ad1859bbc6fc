//! Modules as tools of the Model Context Protocol, for agents and editors. No tool understands anything by itself.
//!
//! | file | holds |
//! |---|---|
//! | `server` | the protocol's requests: capabilities, calls, cancellation, concurrency |
//! | `offer` | which modules there are, and the one that a call is about |
//! | `arguments` | reads a tool's arguments from untrusted JSON |
//! | `find_functions`, `understand`, `list_modules` | one tool each: description, arguments, answer, text |
//! | `shared` | state of the tools, their descriptions and answers |
//! | `resources` | each module's functions as a resource |
//! | `refusal` | one table from errors to texts for the calling model |
//! | `transport` | stdio, and the service that an HTTP server mounts |

mod arguments;
mod find_functions;
mod handles;
mod list_modules;
mod offer;
mod refusal;
mod resources;
mod server;
mod shared;
mod transport;
mod understand;

pub use offer::Offer;
pub use server::{Admission, McpServer};
pub use shared::McpOptions;
pub use transport::{HttpService, PATH, ServeError, http_service, serve, serve_stdio};
