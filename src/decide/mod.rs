//! Weighs the evidence: what an utterance asks for, and with which values.

pub mod align;
pub(crate) mod arguments;
pub(crate) mod calibration;
pub(crate) mod carrier;
pub(crate) mod clauses;
pub(crate) mod expected;
pub(crate) mod local;
pub(crate) mod near_duplicates;
pub(crate) mod reading;
pub(crate) mod ruled_out;
pub(crate) mod segments;
