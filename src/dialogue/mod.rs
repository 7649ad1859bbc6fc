//! What an utterance does to a conversation, and what is asked next.

pub(crate) mod acts;
pub(crate) mod afresh;
pub(crate) mod conclude;
pub mod converse;
pub(crate) mod parts;
pub(crate) mod place;
pub(crate) mod question;
pub(crate) mod read;
pub(crate) mod within;
pub(crate) mod wording;
