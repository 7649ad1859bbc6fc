//! One table from errors to what the calling model reads.
//!
//! Errors that the caller can fix are explained in full; of our own failures it only learns that they happened, so that
//! no answer can reveal a path or a model server's text. Both are results of the call (`isError`), which a model sees
//! and can act on; it usually does not see protocol errors.

use std::fmt::{self, Display};

use rmcp::model::{CallToolResult, ContentBlock};

use crate::{
    embed::EmbedError,
    llm::LlmError,
    module::{Diagnostics, LoadError},
    snapshot::PrepareError,
    understand::{TurnError, request::RequestError},
};

/// Longest text, in characters: some texts quote the caller's own words.
const LONGEST: usize = 500;

const INTERNAL: &str = "the service failed; its log tells why";
const BUSY: &str = "as many calls as the server allows are running; try again shortly";

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal(String);

impl Refusal {
    pub(super) fn new(text: impl Into<String>) -> Self {
        let mut text: String = text.into();
        if let Some((cut, _)) = text.char_indices().nth(LONGEST) {
            text.truncate(cut);
            text.push('…');
        }
        Self(text)
    }

    /// A failure of ours, whose cause is only logged.
    pub(super) fn failure(text: &'static str, cause: &dyn Display) -> Self {
        tracing::error!(cause = %cause, "a call failed");
        Self(text.to_owned())
    }

    pub(super) fn panicked() -> Self {
        // The panic hook has already logged the place.
        Self::failure(INTERNAL, &"a tool panicked")
    }

    pub(super) fn busy() -> Self {
        Self(BUSY.to_owned())
    }

    pub(super) fn of_prepare(error: &PrepareError) -> Self {
        match error {
            PrepareError::Unknown(name) => Self::new(format!("there is no module `{name}`")),
            PrepareError::Refused { name, diagnostics }
            | PrepareError::Load { name, source: LoadError::Refused(diagnostics) } => Self::refused(name, diagnostics),
            PrepareError::Compile { .. } => Self::failure("the module could not be loaded; the log tells why", error),
            PrepareError::Load { source: LoadError::Io { .. }, .. }
            | PrepareError::Embed { .. }
            | PrepareError::Index { .. }
            | PrepareError::Interrupted(_)
            | PrepareError::Stopped(_)
            | PrepareError::Slow { .. }
            | PrepareError::Unavailable { .. } => {
                Self::failure("the module cannot be built at the moment; try again shortly", error)
            }
        }
    }

    fn refused(name: &impl Display, diagnostics: &Diagnostics) -> Self {
        let errors = diagnostics.errors().count();
        let first = diagnostics.errors().next().map(|found| format!("; the first: {found}")).unwrap_or_default();
        Self::new(format!(
            "module `{name}` has {errors} error(s) and cannot be used until its author mends them{first}"
        ))
    }

    /// `speech` is the name of the argument with the utterance.
    pub(super) fn of_turn(error: &TurnError, speech: &str) -> Self {
        match error {
            TurnError::EmptyUtterance => Self::new(format!("`{speech}` is empty: send what the person said")),
            TurnError::LongUtterance { length, limit } => {
                Self::new(format!("`{speech}` has {length} characters; the limit is {limit}: send less of it"))
            }
            TurnError::NoModelServer(strategy) => Self::new(format!(
                "strategy `{strategy}` needs a model server, and none is configured: leave `strategy` out, or say `local`"
            )),
            TurnError::OverBudget { .. } => Self::new(format!("{error}; use strategy `auto` or `local`")),
            TurnError::Embed(source) => Self::of_embed(source),
            TurnError::Prompt(_) => Self::failure(INTERNAL, error),
            TurnError::Llm(LlmError::Overloaded) => Self::busy(),
            TurnError::Llm(LlmError::Timeout) => {
                Self::failure("the model server did not answer in time; try strategy `local`", error)
            }
            TurnError::Llm(_) => Self::failure("the model server failed; try strategy `local`", error),
            TurnError::Left => Self::new("the call was cancelled"),
        }
    }

    fn of_embed(error: &EmbedError) -> Self {
        match error {
            EmbedError::Busy => Self::busy(),
            EmbedError::Remote(_) => Self::failure("the embedding server failed", error),
            EmbedError::Load(_) | EmbedError::Runtime(_) | EmbedError::Inference(_) => Self::failure(INTERNAL, error),
        }
    }
}

impl Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<RequestError> for Refusal {
    fn from(error: RequestError) -> Self {
        Self::new(match &error {
            RequestError::UnknownFunction { .. } => format!("`{}`: {error}", error.member()),
            RequestError::Moment(_) | RequestError::NoFunctions => error.to_string(),
        })
    }
}

impl From<Refusal> for CallToolResult {
    fn from(refusal: Refusal) -> Self {
        Self::error(vec![ContentBlock::text(refusal.0)])
    }
}

#[cfg(test)]
mod tests {
    use std::{io, path::PathBuf};

    use super::*;
    use crate::module::ModuleName;

    #[test]
    fn what_others_said_stays_here() {
        let said = || LlmError::Status { status: 500, message: "/opt/secret.py".into(), retry_after: None };
        let name = || ModuleName::new("weather").unwrap();
        let source = || LoadError::Io { path: PathBuf::from("/opt/secret"), source: io::Error::other("secret") };
        let refusals = [
            Refusal::of_turn(&TurnError::Llm(said()), "utterance"),
            Refusal::of_turn(&TurnError::Prompt("/opt/secret.jinja".into()), "utterance"),
            Refusal::of_turn(&TurnError::Embed(EmbedError::Inference("/opt/secret".into())), "utterance"),
            Refusal::of_prepare(&PrepareError::Load { name: name(), source: source() }),
            Refusal::of_prepare(&PrepareError::Compile { name: name(), reason: "/opt/secret".into() }),
        ];
        for refusal in refusals {
            assert!(!refusal.to_string().contains("secret"), "{refusal:?}");
        }
    }

    #[test]
    fn texts_are_cut() {
        assert_eq!(Refusal::new("ä".repeat(10_000)).to_string().chars().count(), LONGEST + 1);
    }
}
