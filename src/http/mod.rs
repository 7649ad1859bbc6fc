//! The HTTP service: JSON in, one core call, JSON out. No route understands anything by itself.
//!
//! | file | holds |
//! |---|---|
//! | `router` | every route and every layer around them |
//! | `state` | what handlers share, and the permit that a turn needs |
//! | `error` | the one table from faults and failures to status, type and code |
//! | `extract` | module names, bodies and permits out of requests, with our own refusals |
//! | `completion` | the answer: a [`crate::understand::Turn`] as a chat completion (pure) |
//! | `predict`, `retrieve`, `modules`, `health` | one resource each: request, response, handlers |
//! | `builds` | index builds off the request path, one at a time per module |
//! | `openapi` | the document that describes all of it |

mod builds;
pub mod completion;
mod error;
mod extract;
#[cfg(test)]
mod fixture;
mod health;
mod modules;
mod openapi;
mod options;
mod predict;
mod retrieve;
mod router;
mod serve;
mod state;

pub use completion::{ChatCompletion, Stamp};
pub use error::{ApiError, Failure, Fault};
pub use openapi::document as openapi_document;
pub use options::HttpOptions;
pub use retrieve::Retrieved;
pub use router::router;
pub use serve::serve;
pub use state::{AppState, Phase};
