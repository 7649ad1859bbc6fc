//! A conversation: forms that are filled over several turns, until each is one complete, valid and confirmed call.
//!
//! | file | holds |
//! |---|---|
//! | `state` | everything that is known between two turns: typed, versioned, bounded |
//! | `merge` | merges what one turn says of a function into its form |
//! | `apply` | applies a turn's acts to the state |
//! | `rules` | conditions between the values of a form |
//! | `next` | the next step: call, ask, confirm, hand off, or nothing |
//! | `pending` | the pending question |
//! | `clock` | the time, which never goes back |
//! | `tenant` | the key that a conversation belongs to |
//! | `token` | a state as the text that a client echoes |
//! | `options` | how it is signed and how long it may be |
//! | `store` | where a service keeps states between turns |
//!
//! All but `store` and `clock` are pure. Nothing here reads text: `understand` does that, and passes what a turn did as
//! values.

pub mod apply;
pub mod clock;
pub mod merge;
pub mod next;
pub mod options;
pub mod pending;
pub mod policy;
pub mod rules;
pub mod state;
pub mod store;
pub mod tenant;
pub mod token;

pub use apply::{Act, Applied, apply};
pub use clock::Clock;
pub use merge::{FormUpdate, Removal, UpdateMode};
pub use next::{Manners, Next, next};
pub use options::{ConversationOptions, KeyError};
pub use pending::Pending;
pub use policy::FormDecision;
pub use state::{
    Carried, Confirmation, End, Expects, Finished, Form, InvalidValue, Origin, Replied, State, TranscriptLine, Who,
};
pub use tenant::Tenant;
pub use token::{ConsentError, OwnTokens, StateTooLarge, TokenError, Tokens};
