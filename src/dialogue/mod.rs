//! The effect of an utterance on a conversation, and what is asked next. Pure: an analysed utterance and a state go in,
//! acts and a question come out. If a model server could say more, the result has an `interpretation::ServerQuestion`,
//! as data.
//!
//! | file | holds |
//! |---|---|
//! | `interpret` | the effect of an utterance: an act on the whole conversation, or one of the next six |
//! | `interpretation` | that effect as a value, and the input from which it is found |
//! | `choice_reply` | the reply to "did you mean this or that?" |
//! | `confirmation_reply` | the reply to "is that right?" |
//! | `refusal` | a refusal of the open form with a request beside it |
//! | `form_reply` | an utterance while a form is open: an answer, a correction, or a separate request |
//! | `beside` | the effect of an utterance on an open form, weighed by the decision model |
//! | `follow_up` | an utterance after a call that only changes values: "and in Bergen?" |
//! | `new_request` | an utterance that opens the functions that it asks for |
//! | `open_form` | the form that an utterance is read against |
//! | `form_reading` | what an utterance says about a form |
//! | `form_parts` | which slots the parts of an answer fill, if alignment alone does not show it |
//! | `form_correction` | which slot is corrected, if the words do not name it |
//! | `form_decline` | what an answer without a value does to a form |
//! | `slot_reference` | which slot or value some words refer to |
//! | `next_step` | the answer to a turn, by the state after its acts |
//! | `outcome` | the result of a turn, in words |
//! | `result` | the result of a call, as the caller reports it |
//! | `question` | the words |

pub(crate) mod beside;
pub(crate) mod choice_reply;
pub(crate) mod confirmation_reply;
pub(crate) mod follow_up;
pub(crate) mod form_correction;
pub(crate) mod form_decline;
pub(crate) mod form_parts;
pub(crate) mod form_reading;
pub(crate) mod form_reply;
pub(crate) mod interpret;
pub(crate) mod interpretation;
pub(crate) mod new_request;
pub(crate) mod next_step;
pub(crate) mod open_form;
pub mod outcome;
pub(crate) mod question;
pub(crate) mod refusal;
pub mod result;
pub(crate) mod slot_reference;
