//! `BINARY`: what a reply says to a yes-or-no question. For the meaning of each answer see [`yes_no`].

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    super::{ApiError, AppState, error::long_utterance},
    limits,
};
use crate::{module::ModuleName, recognize::reply as yes_no, shares::Owner, understand::BudgetOverrides};

/// The mode of these requests.
#[derive(Debug, Default, Deserialize, ToSchema)]
enum BinaryMode {
    #[default]
    #[serde(rename = "BINARY")]
    Binary,
}

/// What does the utterance say to a question? Members that are not listed here are ignored.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(in crate::http) struct BinaryRequest {
    #[serde(rename = "mode")]
    _mode: BinaryMode,
    #[schema(required = true, value_type = String, min_length = 1, example = "yes, absolutely.")]
    utterance: Option<String>,
    /// The question that it may answer; without one, it is read as a reply to any.
    #[schema(example = "Are you sure you want the white one?")]
    question: Option<String>,
    /// The same of the older client, which reads a list of answers.
    questions: Option<Vec<String>>,
}

/// A bare string for one question, a list for a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(in crate::http) enum BinaryAnswer {
    One(YesNo),
    Each(Vec<YesNo>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub(in crate::http) enum YesNo {
    Affirmative,
    Negative,
    /// The person does not care.
    Indifferent,
    /// The reply settles nothing, or is about something else.
    Irrelevant,
}

impl From<yes_no::YesNo> for YesNo {
    fn from(answer: yes_no::YesNo) -> Self {
        match answer {
            yes_no::YesNo::Affirmative => Self::Affirmative,
            yes_no::YesNo::Negative => Self::Negative,
            yes_no::YesNo::Indifferent => Self::Indifferent,
            yes_no::YesNo::Irrelevant => Self::Irrelevant,
        }
    }
}

pub(super) async fn answer(
    app: &AppState,
    name: &ModuleName,
    request: BinaryRequest,
    owner: Owner,
) -> Result<BinaryAnswer, ApiError> {
    let utterance = super::utterance(request.utterance, app)?;
    limits::count("questions", request.questions.as_ref().map_or(0, Vec::len))?;
    let all = request.questions.iter().flatten().chain(&request.question);
    for question in all {
        let length = question.chars().count();
        if length > app.turns.max_utterance {
            let field = if request.questions.is_some() { "questions" } else { "question" };
            return Err(long_utterance(length, app.turns.max_utterance).about(field));
        }
    }
    let snapshot = app.module(name).await?;
    let read = async |question: Option<&str>| -> Result<YesNo, ApiError> {
        let question = question.filter(|question| !crate::text::is_blank(question));
        let answered = app
            .understander
            .yes_no(&snapshot, question, &utterance, None, BudgetOverrides::default(), owner.clone())
            .await
            .map_err(|error| ApiError::of_turn(&error, false))?;
        app.metrics.spent(&snapshot.module.name, &answered.attempts, answered.usage);
        Ok(answered.reply.answer.into())
    };
    let Some(questions) = &request.questions else {
        return read(request.question.as_deref()).await.map(BinaryAnswer::One);
    };
    let mut answers = Vec::with_capacity(questions.len());
    // One after the other: there are few, and only doubtful ones go to a model server.
    for question in questions {
        answers.push(read(Some(question)).await?);
    }
    Ok(BinaryAnswer::Each(answers))
}
