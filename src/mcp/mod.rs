//! Modules as tools of the Model Context Protocol, for agents and editors. No tool understands anything by itself.
//!
//! | file | holds |
//! |---|---|
//! | `server` | the protocol's requests: what there is, calls, cancellation, how many at once |
//! | `offer` | which modules there are, and the one that a call is about |
//! | `arguments` | a tool's arguments out of untrusted JSON |
//! | `find_functions`, `understand`, `list_modules` | one tool each: how it is described, arguments, answer, words |
//! | `shared` | what those work on, how a tool is described, and how it answers |
//! | `resources` | each module's functions as a resource |
//! | `refusal` | the one table from what went wrong to words for the model that called |
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
