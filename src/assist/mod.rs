//! Asks a model server: what it is told, the strategies by which it decides, smaller tasks, and the loop that judges an
//! answer and sends it back with what was wrong.
//!
//! | file | holds |
//! |---|---|
//! | `ask` | the servers in turn: to decide, or for one task |
//! | `strategy` | ways to let a model server decide, behind one trait |
//! | `repair_loop` | one `task::ModelTask`: ask, read, judge, and ask again with what was wrong |
//! | `task` | what a task is: what is asked, and how the answer is read |
//! | `exchange` | how one server is asked |
//! | `yes_no`, `wording` | tasks other than deciding |
//! | `front` | the text that a server writes where no function is meant |
//! | `judge`, `verdict`, `support`, `guard`, `weigh` | what an answer is worth: each call, all calls together, the evidence besides the model, whether to trust it, and whether it is likelier than the local reading |
//! | `brief`, `history`, `prompt`, `schema`, `template`, `control_tokens` | what a model server is told |
//! | `ledger` | what a request may spend, and has spent |

pub mod ask;
pub(crate) mod brief;
pub(crate) mod control_tokens;
pub mod error;
pub(crate) mod exchange;
pub(crate) mod front;
pub(crate) mod guard;
pub mod history;
pub(crate) mod judge;
pub mod ledger;
pub(crate) mod prompt;
pub(crate) mod repair_loop;
pub(crate) mod schema;
pub mod strategy;
pub(crate) mod support;
pub(crate) mod task;
pub(crate) mod template;
pub(crate) mod verdict;
pub(crate) mod weigh;
pub(crate) mod wording;
pub(crate) mod yes_no;
