//! Kept responses: the conversation up to them, and the answer.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::items::ConversationItem;
use crate::{
    answer::response::{ResponseBody, ResponseId},
    conversation::store::StoreError,
    http::{ApiError, AppState, Failure, Fault, caller::Caller},
    shares::Share,
};

/// Most responses that the references of one request may load. A kept response includes the items of all responses that
/// it continued.
const MOST_REFERRED: usize = 16;

/// What is stored of a response.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredResponse {
    /// The conversation before it, including its own input.
    items: Vec<Value>,
    /// As it was answered, without `uptake`.
    pub response: Value,
    /// The conversation may hold values of sensitive slots: it and its continuations must be stored encrypted.
    is_hidden: bool,
}

impl StoredResponse {
    /// `response`, with the items that it answers.
    pub(super) fn new(
        items: Vec<ConversationItem>,
        response: &ResponseBody,
        is_hidden: bool,
    ) -> Result<Self, ApiError> {
        let response = ResponseBody { uptake: None, ..response.clone() };
        let response = serde_json::to_value(response).map_err(|error| ApiError::logged(Failure::Internal, &error))?;
        Ok(Self { items: items.into_iter().map(|item| item.value).collect(), response, is_hidden })
    }

    /// # Errors
    /// If it is unreadable, or the store fails.
    ///
    /// Also returns the memory share that its bytes take, as if the request had sent them.
    pub(super) async fn read(
        app: &AppState,
        caller: &Caller,
        id: &ResponseId,
    ) -> Result<Option<(Self, Share)>, ApiError> {
        let Some(place) = caller.answer(id) else { return Ok(None) };
        let Some(data) = app.kept_answer(&place).await? else { return Ok(None) };
        let room = app.room(caller, data.len())?;
        let kept = serde_json::from_slice(&data);
        // The parser's message would reveal a position and a word of the stored data.
        kept.map(|kept| Some((kept, room))).map_err(|error| {
            ApiError::logged(Failure::SessionUnreadable, &format!("{:?} at {}", error.classify(), error.column()))
        })
    }

    /// Stores it. Returns the reason if that fails.
    pub(super) async fn write(&self, app: &AppState, caller: &Caller, id: &ResponseId) -> Option<String> {
        let place = caller.answer(id)?;
        let data = match serde_json::to_vec(self) {
            Ok(data) => data,
            Err(error) => return Some(error.to_string()),
        };
        match app.keep_answer(&place, &data, self.is_hidden).await {
            Ok(()) => None,
            // The client must not learn where the store is.
            Err(error @ (StoreError::Unavailable(_) | StoreError::Newer { .. })) => {
                tracing::warn!(%error, "a response is not kept");
                Some("sessions cannot be kept at the moment".to_owned())
            }
            Err(error) => Some(error.to_string()),
        }
    }

    /// The conversation, including the answer.
    fn conversation(self) -> impl Iterator<Item = Value> {
        let answered = self.response.get("output").and_then(Value::as_array).cloned();
        self.items.into_iter().chain(answered.into_iter().flatten())
    }
}

/// The conversation as far as it is known.
#[derive(Debug, Default)]
pub(super) struct KnownConversation {
    pub items: Vec<ConversationItem>,
    /// As for the response that it continues.
    pub is_hidden: bool,
    /// The memory share of the kept part, until the request is answered.
    _room: Option<Share>,
}

/// The conversation before the request, from the response that it continues.
///
/// # Errors
/// 400 if that response is not kept.
pub(super) async fn before(
    app: &AppState,
    caller: &Caller,
    previous: Option<&str>,
) -> Result<KnownConversation, ApiError> {
    let Some(previous) = previous else { return Ok(KnownConversation::default()) };
    let kept: Option<(StoredResponse, Share)> = match ResponseId::of(previous) {
        Some(id) => StoredResponse::read(app, caller, &id).await?,
        None => None,
    };
    let Some((kept, room)) = kept else {
        let shown: String = previous.chars().take(80).collect();
        let message = format!(
            "Previous response with id '{shown}' not found: it was not kept (`store`), it expired, or it was deleted"
        );
        return Err(ApiError::fault(Fault::PreviousResponseNotFound, message).about("previous_response_id"));
    };
    let (place, is_hidden) = ("previous_response_id".to_owned(), kept.is_hidden);
    let items = kept.conversation().map(|value| ConversationItem { value, place: place.clone() }).collect();
    Ok(KnownConversation { items, is_hidden, _room: Some(room) })
}

/// Replaces each reference by what it refers to, as far as that is kept. Each replacement counts as if it had been
/// sent: a few bytes can refer to many.
///
/// # Errors
/// 400 for references to too many responses, 413 for more bytes than a body may have, and the store's errors.
pub(super) async fn resolve(
    app: &AppState,
    caller: &Caller,
    conversation: &mut KnownConversation,
) -> Result<(), ApiError> {
    let KnownConversation { items, is_hidden, .. } = conversation;
    let wanted: HashSet<String> = items.iter().filter_map(ConversationItem::reference).map(str::to_owned).collect();
    let mut known: HashMap<String, (Value, usize)> = HashMap::new();
    let mut left = app.options.body_bytes;
    let mut read: HashSet<ResponseId> = HashSet::new();
    // Starts with the last reference, because its response includes the earlier ones.
    for item in items.iter_mut().rev() {
        let Some(id) = item.reference().map(str::to_owned) else { continue };
        if !known.contains_key(&id)
            && let Some(response) = ResponseId::of_item(&id)
            && read.insert(response.clone())
        {
            if read.len() > MOST_REFERRED {
                let message = format!("items of more than {MOST_REFERRED} responses are referred to: send the items");
                return Err(ApiError::fault(Fault::InvalidValue, message).about(item.place.clone()));
            }
            let Some((kept, _room)) = StoredResponse::read(app, caller, &response).await? else { continue };
            *is_hidden |= kept.is_hidden;
            let named = kept.conversation().filter_map(|value| {
                let id = value.get("id")?.as_str().filter(|id| wanted.contains(*id))?.to_owned();
                let bytes = value.to_string().len();
                Some((id, (value, bytes)))
            });
            known.extend(named);
        }
        if let Some((found, bytes)) = known.get(&id) {
            left = left.checked_sub(*bytes).ok_or_else(|| {
                let message = "what is referred to has more bytes than a body may have (http.body_bytes)";
                ApiError::fault(Fault::BodyTooLarge, message).about(item.place.clone())
            })?;
            item.value = found.clone();
        }
    }
    Ok(())
}
