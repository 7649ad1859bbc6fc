//! What an utterance does to a conversation, and what is asked next. Pure: an analysed utterance and a state go in,
//! acts and a question come out. Where a model server could say more, that is a `interpretation::Task`, as data.
//!
//! | file | holds |
//! |---|---|
//! | `interpret` | what an utterance does: an act of the whole conversation, or one of the next six |
//! | `interpretation` | what it does, as a value, and what that is found from |
//! | `choice_reply` | the reply to "did you mean this or that?" |
//! | `confirmation_reply` | the reply to "is that right?" |
//! | `refusal` | a refusal of the open form with a request beside it |
//! | `form_reply` | an utterance beside an open form: an answer, a correction, or a request of its own |
//! | `beside` | what an utterance does to an open form, weighed by the decision model |
//! | `follow_up` | an utterance after a call that only says what is to be another way: "and in Bergen?" |
//! | `new_request` | an utterance that opens what it asks for |
//! | `open_form` | the form that an utterance is read against |
//! | `form_reading` | what an utterance says of a form |
//! | `form_parts` | which slots the parts of an answer fill, where alignment alone does not say so |
//! | `form_meaning` | what the words of an answer mean by what is known already |
//! | `form_correction` | which slot is corrected, where the words do not say so |
//! | `form_decline` | what an answer without a value does to a form |
//! | `slot_reference` | which slot or value somebody means by some words |
//! | `next_step` | the answer that the state after the acts calls for |
//! | `outcome` | what a turn comes to, in words |
//! | `result` | what a call came to, as whoever made it tells |
//! | `question` | the words |

pub(crate) mod beside;
pub(crate) mod choice_reply;
pub(crate) mod confirmation_reply;
pub(crate) mod follow_up;
pub(crate) mod form_correction;
pub(crate) mod form_decline;
pub(crate) mod form_meaning;
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
