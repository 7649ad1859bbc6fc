//! Replies about calls: about their results, and about calls that no one makes.

use crate::{
    call::Call,
    dialogue::{question::Voice, result::CallResult},
    llm::Usage,
    module::Module,
    understand::{DecidedBy, Outcome, Trace, Turn},
};

/// The reply to these results, in this BCP 47 language, or else the module's. There is no new utterance to understand;
/// `pending` is the question that is still open.
#[must_use]
pub fn told(module: &Module, language: Option<&str>, results: &[CallResult], pending: Option<&str>) -> Turn {
    let voice = Voice::new(module, language);
    let note = "the last message is not the person's: nothing new was said";
    let said = if results.is_empty() { voice.heard() } else { voice.results(results) };
    let remark = match pending {
        Some(question) if results.is_empty() => question.to_owned(),
        Some(question) => format!("{said}\n{question}"),
        None => said,
    };
    Turn {
        outcome: Outcome::NoMatch,
        confidence: 1.0,
        decided_by: DecidedBy::Local,
        frames: Vec::new(),
        trace: Trace { notes: vec![note.to_owned()], ..Trace::default() },
        usage: Usage::default(),
        pending: None,
        remark: Some(remark),
        is_answered: false,
        deeds: Vec::new(),
    }
}

/// Calls that were understood but are made by no one, in words.
#[must_use]
pub fn understood(module: &Module, language: Option<&str>, calls: &[Call]) -> String {
    Voice::new(module, language).understood(calls)
}
