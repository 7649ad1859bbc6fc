//! Weighs the evidence: what an utterance asks for, and with which values. Pure: an `analysis::Analysis` goes in, an
//! `outcome::Decision` comes out.

pub(crate) mod analysis;
pub(crate) mod answered;
pub(crate) mod arguments;
pub(crate) mod asked;
pub(crate) mod bars;
mod borders;
pub(crate) mod calibration;
pub mod candidates;
pub(crate) mod carrier;
pub(crate) mod clauses;
pub(crate) mod expected;
pub(crate) mod extent;
pub(crate) mod features;
pub mod filling;
pub mod head;
pub mod knowledge;
pub(crate) mod local;
pub mod model;
pub(crate) mod near_duplicates;
pub mod outcome;
mod postal;
mod quotation;
mod ranges;
pub(crate) mod ranking;
pub mod reader;
pub(crate) mod reading;
mod remark;
pub(crate) mod repair;
pub(crate) mod ruled_out;
pub(crate) mod scope;
pub(crate) mod segments;
pub(crate) mod situation;
pub mod templates;
mod totals;
pub mod vocabulary;
pub(crate) mod written;
