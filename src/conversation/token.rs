//! A state as the text that a client echoes: `s1.STATE.STAMP.SIGNATURE`, or `p1.STATE` without a key.
//!
//! `STATE` is JSON in URL-safe base64; the stamp holds the time of writing and a unique number; the signature is a
//! keyed BLAKE3 hash of everything before its dot and of the owner. A signed state was written by us. A plain one,
//! which our services never write, is the client's word: it cannot cause a call that the validator would refuse, but it
//! can claim what was never said. Both are treated as untrusted input, and no consent is taken from them. A yes to a
//! signed state counts only once, and only for a limited time.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use jiff::Timestamp;
use serde::Deserialize;
use uuid::Uuid;

use super::{
    options::{ConversationOptions, KeyError},
    state::{Confirmation, FORMAT, State, StateError},
    store::{Sessions, StoreError},
    tenant::Tenant,
};
use crate::{call::SlotValue, module::Module};

const PLAIN: &str = "p1";
const SIGNED: &str = "s1";

/// Most open forms, items of a list, steps of a pointer, and turns of a conversation: far more than people reach, and
/// few enough that no echoed state is costly to process.
const MOST_FORMS: usize = 64;
const MOST_ITEMS: usize = 256;
const DEEPEST: usize = 32;
const MOST_TURNS: u32 = 1_000_000;

/// Writes and reads echoed states, separately for each owner. Cheap to clone.
#[derive(Clone)]
pub struct Tokens(OwnTokens);

/// The tokens of one owner. Cheap to clone.
#[derive(Clone)]
pub struct OwnTokens {
    owner: Tenant,
    writes_with: Option<[u8; blake3::KEY_LEN]>,
    reads_too: Vec<[u8; blake3::KEY_LEN]>,
    max_bytes: usize,
    /// How long a yes is accepted.
    confirm: Duration,
    /// Remember which consents were taken.
    sessions: Sessions,
}

/// When a state was written, in seconds since 1970, and a unique number.
#[derive(Debug, Clone, Copy)]
struct TokenStamp {
    written: i64,
    number: Uuid,
}

/// Why a consent does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConsentError {
    #[error("the yes that the state waits for was said already")]
    Taken,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ConsentError {
    /// The store's error, if it is one.
    #[must_use]
    pub const fn of_store(&self) -> Option<&StoreError> {
        match self {
            Self::Taken => None,
            Self::Store(error) => Some(error),
        }
    }
}

/// Why an echoed state cannot be used. The remedy is always to begin a new conversation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("the state has {length} bytes; the limit (conversation.max_state_bytes) is {limit}")]
    TooLong { length: usize, limit: usize },
    #[error("this is no state that the service has answered with")]
    Malformed,
    #[error("the state is not signed, and this service takes none that is not")]
    Unsigned,
    #[error("the state was changed, is another key's, or was signed with a key that is not configured")]
    Signature,
    #[error("the state is of a version that this service does not read")]
    Version,
    #[error(transparent)]
    State(#[from] StateError),
}

/// The open forms do not fit into `conversation.max_state_bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("what is open in this conversation takes more than {limit} bytes (conversation.max_state_bytes)")]
pub struct StateTooLarge {
    pub limit: usize,
}

impl Tokens {
    /// Reads the key file, if one is configured.
    ///
    /// # Errors
    /// If it cannot be read, or a value is invalid.
    pub fn open(options: &ConversationOptions, sessions: Sessions) -> Result<Self, KeyError> {
        if let Some((key, problem)) = options.problem() {
            return Err(KeyError::Setting { key, problem });
        }
        let derived =
            |secret: &str| blake3::derive_key("uptake 2026 signature of echoed conversation states", secret.as_bytes());
        Ok(Self(OwnTokens {
            owner: Tenant::everybody(),
            writes_with: options.current_key()?.map(|key| derived(key.expose())),
            reads_too: options.previous_keys.iter().map(|key| derived(key.expose())).collect(),
            max_bytes: options.max_state_bytes,
            confirm: options.confirm(),
            sessions,
        }))
    }

    /// The tokens of this owner: states of other owners are refused.
    #[must_use]
    pub fn of(&self, owner: &Tenant) -> OwnTokens {
        OwnTokens { owner: owner.clone(), ..self.0.clone() }
    }

    /// How long a yes is accepted.
    #[must_use]
    pub const fn confirm(&self) -> Duration {
        self.0.confirm
    }
}

impl OwnTokens {
    /// The text for this state. If it would be too long, it loses what it can do without: first the oldest messages,
    /// then values that might be carried over, then how functions ended.
    ///
    /// # Errors
    /// If the open forms alone are too long.
    pub fn write(&self, state: &State) -> Result<String, StateTooLarge> {
        let text = self.written(state);
        if text.len() <= self.max_bytes && state.forms.len() <= MOST_FORMS {
            return Ok(text);
        }
        let mut state = state.clone();
        while state.forms.len() <= MOST_FORMS && shed(&mut state) {
            let text = self.written(&state);
            if text.len() <= self.max_bytes {
                return Ok(text);
            }
        }
        Err(StateTooLarge { limit: self.max_bytes })
    }

    fn written(&self, state: &State) -> String {
        let json = serde_json::to_vec(state).expect("a state is strings, numbers, lists and maps with text as keys");
        let body = BASE64.encode(json);
        match &self.writes_with {
            None => format!("{PLAIN}.{body}"),
            Some(key) => {
                let stamp = TokenStamp { written: self.sessions.now().as_second(), number: Uuid::new_v4() };
                let signed = format!("{SIGNED}.{body}.{}", stamp.text());
                let signature = BASE64.encode(self.signature(key, signed.as_bytes()).as_bytes());
                format!("{signed}.{signature}")
            }
        }
    }

    /// The state that a client echoes, adapted to this module.
    ///
    /// # Errors
    /// See [`TokenError`].
    pub fn read(&self, text: &str, module: &Module) -> Result<State, TokenError> {
        if text.len() > self.max_bytes {
            return Err(TokenError::TooLong { length: text.len(), limit: self.max_bytes });
        }
        let (body, stamp) = self.checked(text)?;
        let json = BASE64.decode(body).map_err(|_| TokenError::Malformed)?;
        // Another format may have other members, so its number is read first.
        let FormatNumber { format } = serde_json::from_slice(&json).map_err(|_| TokenError::Malformed)?;
        if format != FORMAT {
            return Err(StateError::Format(format).into());
        }
        let state: State = serde_json::from_slice(&json).map_err(|_| TokenError::Malformed)?;
        if !is_sound(&state) {
            return Err(TokenError::Malformed);
        }
        let mut state = state.adopted(module)?;
        if stamp.is_some_and(|stamp| stamp.age(self.sessions.now()) > self.confirm) {
            state.withdraw_consent();
        }
        // A place that no slot has would make a form that can never be completed.
        for form in &mut state.forms {
            // A consent is the person's word in this turn. One that a client could write or repeat does not count.
            if form.confirmation == Confirmation::Given {
                form.confirmation = Confirmation::Open;
            }
            let function = module.function_named(&form.function).map(|id| module.function(id));
            form.slots.retain(|filled| {
                let path = crate::module::SlotPath::of_pointer(&filled.pointer);
                function.is_some_and(|function| function.slots.iter().any(|slot| slot.path == path))
            });
        }
        Ok(state)
    }

    /// Takes the consent that this state waited for: afterwards it cannot be taken again, even if the state is echoed.
    /// Call this with a state that was read, before the resulting call is returned.
    ///
    /// # Errors
    /// If it was taken before, or the store cannot tell.
    pub async fn take_consent(&self, text: &str) -> Result<(), ConsentError> {
        let Ok((_, Some(stamp))) = self.checked(text) else { return Ok(()) };
        // Another replica's clock may be ahead of ours.
        let first = self.sessions.take_once(&self.owner, &stamp.number.simple().to_string(), self.confirm * 2).await?;
        if first { Ok(()) } else { Err(ConsentError::Taken) }
    }

    /// The unique number of a state that we wrote; `None` for any other.
    #[must_use]
    pub fn number(&self, text: &str) -> Option<String> {
        let (_, stamp) = self.checked(text).ok()?;
        Some(stamp?.number.simple().to_string())
    }

    /// The signature with a key and for the owner: a state of one owner is not valid for another.
    fn signature(&self, key: &[u8; blake3::KEY_LEN], signed: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(key);
        hasher.update(signed);
        if !self.owner.id().is_empty() {
            // States never contain this character.
            hasher.update(b"/").update(self.owner.id().as_bytes());
        }
        hasher.finalize()
    }

    /// The content of the text if its signature is valid, and its stamp if it has one.
    fn checked<'a>(&self, text: &'a str) -> Result<(&'a str, Option<TokenStamp>), TokenError> {
        let (kind, rest) = text.split_once('.').ok_or(TokenError::Malformed)?;
        match (kind, &self.writes_with) {
            (PLAIN, None) => Ok((rest, None)),
            (PLAIN, Some(_)) => Err(TokenError::Unsigned),
            (SIGNED, _) => {
                let (stamped, signature) = rest.rsplit_once('.').ok_or(TokenError::Malformed)?;
                let (body, stamp) = stamped.split_once('.').ok_or(TokenError::Malformed)?;
                let stamp = TokenStamp::read(stamp).ok_or(TokenError::Malformed)?;
                let signature: [u8; blake3::OUT_LEN] = BASE64
                    .decode(signature)
                    .ok()
                    .and_then(|bytes| bytes.try_into().ok())
                    .ok_or(TokenError::Malformed)?;
                let signature = blake3::Hash::from_bytes(signature);
                let signed = &text.as_bytes()[..kind.len() + 1 + stamped.len()];
                // Hashes compare in constant time.
                let is_ours = |key: &[u8; blake3::KEY_LEN]| self.signature(key, signed) == signature;
                let ours = self.writes_with.iter().chain(&self.reads_too).any(is_ours);
                if ours { Ok((body, Some(stamp))) } else { Err(TokenError::Signature) }
            }
            (other, _) if is_version(other) => Err(TokenError::Version),
            _ => Err(TokenError::Malformed),
        }
    }
}

impl TokenStamp {
    fn text(self) -> String {
        let mut bytes = self.written.to_be_bytes().to_vec();
        bytes.extend(self.number.as_bytes());
        BASE64.encode(bytes)
    }

    fn read(text: &str) -> Option<Self> {
        let bytes = BASE64.decode(text).ok()?;
        let (written, number) = bytes.split_first_chunk()?;
        Some(Self { written: i64::from_be_bytes(*written), number: Uuid::from_slice(number).ok()? })
    }

    fn age(self, now: Timestamp) -> Duration {
        let seconds = now.as_second().saturating_sub(self.written);
        Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
    }
}

#[derive(Deserialize)]
struct FormatNumber {
    format: u32,
}

fn is_version(kind: &str) -> bool {
    let digits = kind.strip_prefix(['p', 's']).unwrap_or_default();
    !digits.is_empty() && digits.len() <= 4 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Drops something that the conversation can do without; false if there is nothing left.
fn shed(state: &mut State) -> bool {
    if !state.lines.is_empty() {
        state.lines.remove(0);
    } else if !state.carried.is_empty() {
        state.carried.remove(0);
    } else if !state.finished.is_empty() {
        state.finished.remove(0);
    } else {
        return false;
    }
    true
}

/// Rejects states that no turn of ours could leave and that could be costly or contradictory.
fn is_sound(state: &State) -> bool {
    let is_place = |pointer: &str| {
        let mut steps = pointer.split('/');
        let items = |step: &str| step.parse::<usize>().map_or(true, |index| index < MOST_ITEMS);
        steps.next() == Some("") && pointer.split('/').count() <= DEEPEST + 1 && steps.all(items)
    };
    let is_filled = |filled: &SlotValue| {
        let spans = filled.span.is_none_or(|span| span.start <= span.end);
        let confident = (0.0..=1.0).contains(&filled.confidence);
        is_place(&filled.pointer) && filled.turn <= state.turn && spans && confident && !filled.value.is_null()
    };
    let forms = state.forms.iter().all(|form| {
        let mut places: Vec<&str> = form.slots.iter().map(|filled| filled.pointer.as_str()).collect();
        places.sort_unstable();
        let distinct = places.windows(2).all(|pair| pair[0] != pair[1]);
        let confident = (0.0..=1.0).contains(&form.confidence);
        let asides = form.aside.iter().all(|aside| is_place(&aside.pointer) && aside.turn <= state.turn);
        let filled = form.slots.iter().chain(&form.excluded).all(is_filled);
        distinct && confident && asides && filled && form.opened <= state.turn
    });
    let expected = match &state.expects {
        Some(super::Expects::Slots { pointers, .. }) => pointers.iter().all(|pointer| is_place(pointer)),
        _ => true,
    };
    let carried = state.carried.iter().all(|carried| is_filled(&carried.filled));
    state.turn <= MOST_TURNS && state.forms.len() <= MOST_FORMS && forms && expected && carried
}

#[cfg(test)]
mod tests;
