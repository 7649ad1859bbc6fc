//! The HTTP service: JSON in, one core call, JSON out. No route understands anything by itself.
//!
//! | file | holds |
//! |---|---|
//! | `router` | every route in one list, and the OpenAPI document |
//! | `middleware` | the layers around the routes, one file each |
//! | `caller`, `keys` | the caller, and what it may do |
//! | `serve`, `connections` | the listener, from start to stop; the number of connections, and how they end |
//! | `state` | what handlers share, and the permit that a turn needs |
//! | `error` | the one table from faults and failures to status, type and code |
//! | `extract` | module names, bodies and permits from requests, with our own refusals |
//! | `conversations` | conversations over several requests, and sessions |
//! | `chat` | the chat completions of the `OpenAI` API, with modules as models |
//! | `responses` | the same in the form of the Responses API |
//! | `authoring` | modules by API: files, changes, versions, measurements |
//! | `predict`, `retrieve`, `modules`, `health` | one resource each: request, response, handlers |
//! | `json` | serialises long answers in one piece |
//! | `opendu` | the modes of `OpenDU` clients: skill, slot, binary |
//! | `builds` | index builds off the request path, one at a time per module |
//! | `metrics` | the service's metrics |
//! | `mock` | a stand-in for the services that a module calls |
//! | `mount` | a service with its own protocol, beside the routes or instead of them |
//! | `inspector` | a page that shows what answers are based on, and edits modules |
//! | `openapi` | the parts of the OpenAPI document beside the routes |

mod authoring;
mod builds;
mod caller;
mod chat;
mod connections;
mod conversations;
mod error;
mod extract;
mod health;
mod inspector;
mod json;
pub mod keys;
mod metrics;
mod middleware;
mod mock;
mod modules;
mod mount;
mod openapi;
mod opendu;
mod options;
mod predict;
mod responses;
mod retrieve;
mod router;
mod serve;
mod state;

pub use caller::Peer;
pub use chat::ChatOptions;
pub use connections::listener;
pub use conversations::{Conversations, ConversationsError};
pub use error::{ApiError, Failure, Fault};
pub use mock::Mock;
pub use mount::Mounted;
pub use options::{HttpOptions, IndexByGet};
pub use router::{admin_router, document as openapi_document, router};
pub use serve::{serve, serve_alone};
pub use state::{AppState, Leave, Phase};
