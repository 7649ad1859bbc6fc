//! Encryption at rest, above the stores.
//!
//! Stored bytes begin with one that tells how to read the rest:
//!
//! - `0`: plain.
//! - `1`: four bytes that identify the key, a nonce of 24 bytes, then the data under XChaCha20-Poly1305 with the
//!   session's id as associated data, so that the data of one session cannot be used for another.

use chacha20poly1305::{
    KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Generate as _, Payload},
};
use uuid::Uuid;

use super::{SessionId, StoreError};

const PLAIN: u8 = 0;
const XCHACHA20_POLY1305: u8 = 1;

const MARK_BYTES: usize = 4;
const NONCE_BYTES: usize = 24;

/// A key, ready for use; its bytes are wiped when it is dropped.
struct CipherKey {
    /// Distinguishes a wrong key from damaged data. A derived hash, which reveals nothing of the key.
    mark: [u8; MARK_BYTES],
    cipher: XChaCha20Poly1305,
}

impl CipherKey {
    fn new(bytes: &[u8; 32]) -> Self {
        let hash = blake3::derive_key("uptake 2026 mark of an encryption key of sessions", bytes);
        let mut mark = [0; MARK_BYTES];
        mark.copy_from_slice(&hash[..MARK_BYTES]);
        Self { mark, cipher: XChaCha20Poly1305::new(&(*bytes).into()) }
    }
}

/// Encrypts with one key or none, and decrypts with several.
pub(super) struct Cipher {
    writes_with: Option<CipherKey>,
    reads_too: Vec<CipherKey>,
    reads_plain: bool,
}

impl Cipher {
    /// Without a current key, data is stored plain. With one, plain data is read only if `plain` says so: anyone who
    /// can write to the store could otherwise insert forged sessions.
    pub(super) fn new(current: Option<&[u8; 32]>, previous: &[[u8; 32]], plain: bool) -> Self {
        let reads_too = previous.iter().map(CipherKey::new).collect();
        Self { writes_with: current.map(CipherKey::new), reads_too, reads_plain: plain || current.is_none() }
    }

    /// A key that stays in this process.
    pub(super) fn random_key() -> [u8; 32] {
        let random = [*Uuid::new_v4().as_bytes(), *Uuid::new_v4().as_bytes()];
        // Some bits of each UUID are constant.
        blake3::derive_key("uptake 2026 key of one process", random.as_flattened())
    }

    /// The bytes to store for this data.
    pub(super) fn seal(&self, id: &SessionId, data: &[u8]) -> Result<Vec<u8>, StoreError> {
        let Some(key) = &self.writes_with else {
            return Ok([&[PLAIN], data].concat());
        };
        let nonce = XNonce::try_generate()
            .map_err(|_| StoreError::Unavailable("the system gives no random bytes for encryption".to_owned()))?;
        let text = Payload { msg: data, aad: id.as_str().as_bytes() };
        let sealed = key
            .cipher
            .encrypt(&nonce, text)
            .map_err(|_| StoreError::Unavailable("the state is too large to be encrypted".to_owned()))?;
        Ok([&[XCHACHA20_POLY1305], key.mark.as_slice(), &nonce, &sealed].concat())
    }

    /// The data in these stored bytes.
    pub(super) fn open(&self, id: &SessionId, stored: &[u8]) -> Result<Vec<u8>, StoreError> {
        match stored.split_first() {
            Some((&PLAIN, data)) if self.reads_plain => Ok(data.to_vec()),
            Some((&PLAIN, _)) => Err(StoreError::Plain),
            Some((&XCHACHA20_POLY1305, rest)) => self.decrypt(id, rest),
            _ => Err(StoreError::Damaged),
        }
    }

    fn decrypt(&self, id: &SessionId, rest: &[u8]) -> Result<Vec<u8>, StoreError> {
        let (mark, rest) = rest.split_first_chunk::<MARK_BYTES>().ok_or(StoreError::Damaged)?;
        let (nonce, sealed) = rest.split_first_chunk::<NONCE_BYTES>().ok_or(StoreError::Damaged)?;
        let keys = || self.writes_with.iter().chain(&self.reads_too).filter(|key| key.mark == *mark);
        if keys().next().is_none() {
            return Err(StoreError::UnknownKey);
        }
        let nonce = XNonce::from(*nonce);
        keys()
            .find_map(|key| key.cipher.decrypt(&nonce, Payload { msg: sealed, aad: id.as_str().as_bytes() }).ok())
            .ok_or(StoreError::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: [u8; 32] = [1; 32];
    const NEW: [u8; 32] = [2; 32];

    fn id(text: &str) -> SessionId {
        SessionId::new(text).unwrap()
    }

    #[test]
    fn what_is_sealed_opens_and_shows_nothing() {
        let cipher = Cipher::new(Some(&NEW), &[], false);
        for data in [&b""[..], b"Jane Austin", &[7; 70_000]] {
            let stored = cipher.seal(&id("a"), data).unwrap();
            assert_eq!(cipher.open(&id("a"), &stored).unwrap(), data);
            assert!(data.is_empty() || !stored.windows(data.len()).any(|part| part == data));
            assert_ne!(cipher.seal(&id("a"), data).unwrap(), stored, "a nonce was used twice");
        }
    }

    #[test]
    fn keys_rotate_and_plain_data_is_read_where_that_is_said() {
        let (plain, old) = (Cipher::new(None, &[], false), Cipher::new(Some(&OLD), &[], false));
        let rotated = Cipher::new(Some(&NEW), &[OLD], true);
        for before in [&plain, &old] {
            let stored = before.seal(&id("a"), b"x").unwrap();
            assert_eq!(rotated.open(&id("a"), &stored).unwrap(), b"x");
        }
        let written_by_a_stranger = plain.seal(&id("a"), b"x").unwrap();
        assert_eq!(old.open(&id("a"), &written_by_a_stranger), Err(StoreError::Plain));
        let stored = rotated.seal(&id("a"), b"x").unwrap();
        assert_eq!(old.open(&id("a"), &stored), Err(StoreError::UnknownKey));
        assert_eq!(plain.open(&id("a"), &stored), Err(StoreError::UnknownKey));
        assert_eq!(Cipher::new(None, &[NEW], false).open(&id("a"), &stored).unwrap(), b"x");
    }

    #[test]
    fn a_changed_byte_or_another_session_is_damage() {
        let cipher = Cipher::new(Some(&NEW), &[OLD], false);
        let stored = cipher.seal(&id("a"), b"size 9").unwrap();
        assert_eq!(cipher.open(&id("b"), &stored), Err(StoreError::Damaged));
        for at in 0..stored.len() {
            let mut changed = stored.clone();
            changed[at] ^= 0x80;
            let error = cipher.open(&id("a"), &changed).unwrap_err();
            let is_mark = (1..=MARK_BYTES).contains(&at);
            assert_eq!(error, if is_mark { StoreError::UnknownKey } else { StoreError::Damaged }, "byte {at}");
        }
        for length in 0..stored.len() {
            assert!(cipher.open(&id("a"), &stored[..length]).is_err(), "{length} bytes");
        }
    }
}
