//! Asking a model server: the strategies, what they ask, and the loop that judges an answer and sends it back with what
//! was wrong.

pub(crate) mod brief;
pub(crate) mod control_tokens;
pub(crate) mod exchange;
pub(crate) mod guard;
pub(crate) mod history;
pub(crate) mod judge;
pub(crate) mod prompt;
pub(crate) mod schema;
pub(crate) mod staged;
pub(crate) mod structured;
pub(crate) mod template;
pub(crate) mod tools;
pub(crate) mod wording;
pub(crate) mod yes_no;
