//! The protocol of `OpenDU` clients, old and new: `POST /v1/predict/{module}` with a `mode`.
//!
//! The shape of the fields shows which one is asking: `expectedFrames`, slots as labels and one `question` are the
//! newer client's; `expectations`, slots as objects and `questions` the older's. Unknown fields are ignored; absent and
//! null lists and maps count as empty.
//!
//! | mode | question | answer |
//! |---|---|---|
//! | [`skill`] | which functions the utterance triggers | a list of at least one element |
//! | [`slot`] | the values of slots | an object by slot label, verbatim |
//! | [`binary`] | what a reply says to a yes-or-no question | one of four words |

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    ApiError, AppState, Fault,
    extract::{self, parse_object},
};
use crate::{module::ModuleName, shares::Owner};

mod binary;
mod limits;
mod skill;
mod slot;

use binary::{BinaryAnswer, BinaryRequest};
use skill::{SkillAnswer, SkillRequest};
use slot::{SlotAnswer, SlotRequest};

/// The mode of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Skill,
    Slot,
    Binary,
}

impl Mode {
    const ALL: [Self; 3] = [Self::Skill, Self::Slot, Self::Binary];

    const fn name(self) -> &'static str {
        match self {
            Self::Skill => "SKILL",
            Self::Slot => "SLOT",
            Self::Binary => "BINARY",
        }
    }
}

// Only for the `OpenAPI` document.
/// A request in one of the modes of `OpenDU`.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes the bodies, each of which is read by its own mode")]
pub(super) enum OpenDuRequest {
    Skill(SkillRequest),
    Slot(SlotRequest),
    Binary(BinaryRequest),
}

/// An answer of any mode.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum OpenDuAnswer {
    /// Of `SKILL`.
    Skill(SkillAnswer),
    /// Of `SLOT`.
    Slot(SlotAnswer),
    /// Of `BINARY`.
    Binary(BinaryAnswer),
}

/// The mode of a body; `None` if it has none.
///
/// # Errors
/// If the body is not a JSON object, or names an unknown mode.
pub(super) fn mode(body: &[u8]) -> Result<Option<Mode>, ApiError> {
    /// Only the member that decides how to read the others.
    #[derive(Deserialize)]
    struct Peek {
        #[serde(default)]
        mode: Option<Value>,
    }
    match parse_object::<Peek>(body)?.mode {
        None => Ok(None),
        Some(Value::String(name)) => {
            let found = Mode::ALL.into_iter().find(|mode| mode.name() == name);
            found.map(Some).ok_or_else(|| {
                let message = format!(
                    "there is no mode `{name}`: write SKILL, SLOT or BINARY, or leave `mode` out to get a function call"
                );
                ApiError::fault(Fault::InvalidValue, message).about("mode")
            })
        }
        Some(_) => Err(ApiError::fault(Fault::InvalidType, "`mode` is a string: SKILL, SLOT or BINARY").about("mode")),
    }
}

/// Answers a request of this mode.
pub(super) async fn answer(
    mode: Mode,
    app: &AppState,
    name: &ModuleName,
    body: &[u8],
    owner: Owner,
) -> Result<OpenDuAnswer, ApiError> {
    let answer = match mode {
        Mode::Skill => OpenDuAnswer::Skill(skill::answer(app, name, parse_object(body)?, owner).await?),
        Mode::Slot => OpenDuAnswer::Slot(slot::answer(app, name, parse_object(body)?, owner).await?),
        Mode::Binary => OpenDuAnswer::Binary(binary::answer(app, name, parse_object(body)?, owner).await?),
    };
    app.metrics.mode(name, mode.name());
    Ok(answer)
}

/// The utterance; not every client limits its length itself.
fn utterance(said: Option<String>, app: &AppState) -> Result<String, ApiError> {
    extract::utterance(said, app.turns.max_utterance)
}
