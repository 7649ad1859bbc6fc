//! Conversations from the first word to the call.

mod random;
