//! Conversations from the first word to the call.

mod policy;
mod random;
mod several;
