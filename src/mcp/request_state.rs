//! What a request of the modern era keeps from one round to the next, sealed in its `requestState`.
//!
//! The state travels with the client. It is encrypted, and bound to the caller, the request and an expiry, so that a
//! client can neither read nor change it, nor use it for anything else. A seal does not keep a state from being used
//! twice: for that, the store marks the nonce of each state that is used. Pure: key, nonce and time are arguments.
//!
//! Why it travels with the client: `docs/decisions/54-mcp-request-states.md`.

#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::crypto::aead::{self, KEY_BYTES, NONCE_BYTES};
use crate::crypto::{jose, sha256};
use crate::domain::digest::Digest;
use crate::domain::time::Timestamp;
use crate::json;

/// Longest text of a sealed state, in bytes.
pub const TEXT_BYTES_MAX: usize = 8 << 10;
/// Deepest nesting of a state. JSON readers end at 128.
pub const DEPTH_MAX: usize = 64;
/// What a text begins with. Another layout gets another version.
const VERSION: &str = "v1.";

words! {
    /// Why a sealed state is refused, for counters and the log; its sender hears one answer for all of them.
    Fault {
        /// It is no text that a sealer makes.
        Malformed => "malformed",
        /// It was altered, sealed with another key, or sealed for another caller or request.
        NotOurs => "not_ours",
        /// It is ours, and came too late.
        Expired => "expired",
    }
}

/// The state does not fit: its text would be longer than [`TEXT_BYTES_MAX`], or it is nested deeper than [`DEPTH_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot seal the request state: it is larger than 8 KiB or nested too deeply; keep less in it"
)]
pub struct TooLarge;

/// Who may use a state, and for which request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The owner of the token; empty where no token is asked for.
    pub subject: String,
    /// The client that the token was given to.
    pub client: String,
    /// The method of the request.
    pub method: String,
    /// Of the parameters that the client repeats in each round, by [`params_digest`].
    pub params_digest: Digest,
}

/// A state that came back as it was sealed.
pub struct Opened {
    /// The nonce it was sealed with: by it the store knows whether it was used.
    pub nonce: [u8; NONCE_BYTES],
    /// The first instant at which it is refused.
    pub expires_at: Timestamp,
    /// What was sealed.
    pub state: Value,
}

/// Seals and opens states. All processes with the same key open each other's states.
pub struct Sealer {
    key: aead::Key,
}

impl Sealer {
    /// Returns the sealer with this key, 32 random bytes.
    #[must_use]
    pub fn new(key: [u8; KEY_BYTES]) -> Self {
        Self { key: aead::Key::new(&key) }
    }

    /// Seals a state until `expires_at`. Returns `v1.` and the base64url of nonce, expiry and ciphertext, at most
    /// [`TEXT_BYTES_MAX`] bytes. `nonce` is random and never used again; 2^32 states are safe with one key.
    ///
    /// # Errors
    /// [`TooLarge`] when the state does not fit.
    pub fn seal(
        &self,
        nonce: [u8; NONCE_BYTES],
        binding: &Binding,
        expires_at: Timestamp,
        state: &Value,
    ) -> Result<String, TooLarge> {
        let state = state.to_string().into_bytes();
        if json::depth(&state) > DEPTH_MAX {
            return Err(TooLarge);
        }
        let ciphertext = self.key.seal(nonce, &binding.context(expires_at), state);
        // The expiry travels in clear, and is authenticated as a part of the context.
        let sealed = [&nonce[..], &expires_at.micros().to_be_bytes(), &ciphertext].concat();
        let text = format!("{VERSION}{}", jose::encode(&sealed));
        if text.len() > TEXT_BYTES_MAX { Err(TooLarge) } else { Ok(text) }
    }

    /// Opens what came back with a request.
    ///
    /// # Errors
    /// By what is wrong with it. [`Fault::Expired`] is only said of what was sealed for this caller and request.
    pub fn open(&self, text: &str, binding: &Binding, now: Timestamp) -> Result<Opened, Fault> {
        let (nonce, expires_at, ciphertext) = split(text).ok_or(Fault::Malformed)?;
        let context = binding.context(expires_at);
        let state = self.key.open(nonce, &context, ciphertext).ok_or(Fault::NotOurs)?;
        if now >= expires_at {
            return Err(Fault::Expired);
        }
        let state = serde_json::from_slice(&state).map_err(|_| Fault::Malformed)?;
        Ok(Opened { nonce, expires_at, state })
    }
}

impl Binding {
    /// Returns what is authenticated with a state. Each part has its length before it, so that no two bindings are
    /// the same bytes.
    fn context(&self, expires_at: Timestamp) -> Vec<u8> {
        let parts: [&[u8]; 6] = [
            VERSION.as_bytes(),
            self.subject.as_bytes(),
            self.client.as_bytes(),
            self.method.as_bytes(),
            self.params_digest.as_bytes(),
            &expires_at.micros().to_be_bytes(),
        ];
        let mut context = Vec::new();
        for part in parts {
            let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
            context.extend_from_slice(&length.to_be_bytes());
            context.extend_from_slice(part);
        }
        context
    }
}

/// Returns the digest of parameters in a canonical form: no space, and the members of objects by name.
///
/// The form of RFC 8785 is not taken, because it takes integers beyond 2^53 for their neighbours. Here each number keeps
/// its own spelling, so `1` and `1.0` differ, which only matters to a client that does not repeat what it sent.
#[must_use]
pub fn params_digest(params: &Value) -> Digest {
    sha256::of(params.to_string().as_bytes())
}

/// Takes a text apart: nonce, expiry, and ciphertext with its tag. Only the one spelling of each is taken.
fn split(text: &str) -> Option<([u8; NONCE_BYTES], Timestamp, Vec<u8>)> {
    let encoded = text.strip_prefix(VERSION).filter(|_| text.len() <= TEXT_BYTES_MAX)?;
    let sealed = jose::decode(encoded)?;
    let (nonce, rest) = sealed.split_first_chunk()?;
    let (expiry, ciphertext) = rest.split_first_chunk()?;
    let micros = i64::from_be_bytes(*expiry);
    let expires_at = Timestamp::from_micros(micros);
    // `from_micros` clamps, and one instant must not have two spellings.
    (expires_at.micros() == micros).then(|| (*nonce, expires_at, ciphertext.to_vec()))
}
