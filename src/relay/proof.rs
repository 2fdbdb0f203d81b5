//! What is signed, by whom, and how it is checked. Signatures are ES256 (P-256, SHA-256), 64 bytes raw, in base64url.
//!
//! Every text begins with the protocol and its purpose, so that a signature made for one is worth nothing for another,
//! and holds the daemon's nonce or the session's epoch, so that one of an earlier socket is worth nothing either.
//! Lines are separated by one line feed; there is none at the end. None of the parts can contain one.

#[cfg(test)]
mod tests;

use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use zeroize::Zeroizing;

use crate::domain::digest::Digest;
use crate::domain::id::{PairingId, ProposalId, RelaySessionId};
use crate::domain::relay::CardDecision;
use crate::relay::frame::{DecidedInPlugin, Nonce, PublicJwk, Signature};

/// Why the daemon's key cannot be used. Never holds a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceKeyError {
    /// The stored bytes are no such key.
    #[error("the stored relay key is no P-256 key in PKCS #8; restore the database from a backup")]
    Unusable,
    /// The library failed, which it does only when there is no randomness.
    #[error("the relay key cannot be made or used: the system gave no random bytes")]
    Failed,
}

/// The daemon's key pair. It has no `Debug`, so that nothing prints it.
pub struct DaemonKey {
    pair: EcdsaKeyPair,
    public: PublicJwk,
}

impl DaemonKey {
    /// Makes a key pair, as PKCS #8: what is stored.
    ///
    /// # Errors
    /// [`DeviceKeyError::Failed`].
    pub fn generate() -> Result<Zeroizing<Vec<u8>>, DeviceKeyError> {
        let chance = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &chance);
        // The private key: wiped from memory when it is dropped.
        Ok(Zeroizing::new(made.map_err(|_| DeviceKeyError::Failed)?.as_ref().to_vec()))
    }

    /// Reads a key pair.
    ///
    /// # Errors
    /// [`DeviceKeyError::Unusable`].
    pub fn read(pkcs8: &[u8]) -> Result<Self, DeviceKeyError> {
        let chance = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &chance);
        let pair = pair.map_err(|_| DeviceKeyError::Unusable)?;
        let public =
            PublicJwk::of_point(pair.public_key().as_ref()).ok_or(DeviceKeyError::Unusable)?;
        Ok(Self { pair, public })
    }

    /// Returns the public half.
    #[must_use]
    pub const fn public(&self) -> &PublicJwk {
        &self.public
    }

    /// Signs a text.
    ///
    /// # Errors
    /// [`DeviceKeyError::Failed`].
    pub fn sign(&self, text: &str) -> Result<Signature, DeviceKeyError> {
        let signature = self.pair.sign(&SystemRandom::new(), text.as_bytes());
        Ok(Signature::new(signature.map_err(|_| DeviceKeyError::Failed)?.as_ref()))
    }
}

/// Says whether the private half of a key signed a text. A key or signature in another spelling than its one is not
/// taken.
#[must_use]
pub fn is_signed(key: &PublicJwk, text: &str, signature: &Signature) -> bool {
    let checked = key.public().zip(signature.bytes());
    checked.is_some_and(|(key, signature)| key.verify(text.as_bytes(), &signature).is_ok())
}

/// Returns what the daemon signs in `challenge`: purpose, the nonce of `hello`, that of `challenge`, the digest of
/// `hello`.
#[must_use]
pub fn challenge_text(hello_nonce: &Nonce, nonce: &Nonce, hello: Digest) -> String {
    format!("svc.relay.v1 daemon\n{}\n{}\n{hello}", hello_nonce.as_str(), nonce.as_str())
}

/// Returns what the device signs in `proof`: purpose, the nonce of `challenge`, the digests of `hello` and journal.
#[must_use]
pub fn proof_text(nonce: &Nonce, hello: Digest, journal: Digest) -> String {
    format!("svc.relay.v1 device\n{}\n{hello}\n{journal}", nonce.as_str())
}

/// Returns what the device signs in `confirm`: purpose, the nonce of this socket's `challenge`, the pairing, and
/// `accept` or `refuse`.
///
/// There is no session yet; the nonce is new with each socket, and a pairing is answered once.
#[must_use]
pub fn confirm_text(nonce: &Nonce, pairing: PairingId, accept: bool) -> String {
    let answer = if accept { "accept" } else { "refuse" };
    format!("svc.relay.v1 confirm\n{}\n{pairing}\n{answer}", nonce.as_str())
}

/// Returns what the device signs in `allowance`: purpose, the nonce of this socket's `challenge`, session, epoch, and
/// the minutes.
#[must_use]
pub fn allowance_text(nonce: &Nonce, session: RelaySessionId, epoch: u64, minutes: u64) -> String {
    format!("svc.relay.v1 allowance\n{}\n{session}\n{epoch}\n{minutes}", nonce.as_str())
}

/// What the device signs in `decision`. Everything but the preview is what the daemon knows, and not what the frame
/// says.
#[derive(Clone, Copy)]
pub struct DecisionText<'a> {
    pub session: RelaySessionId,
    pub epoch: u64,
    pub proposal: ProposalId,
    /// `argumentsSha256` of each step, in order.
    pub arguments: &'a [Digest],
    /// Of what the card showed.
    pub preview: Digest,
    /// What was decided.
    pub decision: CardDecision,
    /// By whom.
    pub by: DecidedInPlugin,
}

impl DecisionText<'_> {
    /// Returns the text: purpose, session, epoch, proposal, each step's digest, the preview's, the decision, and who
    /// made it.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { session, epoch, proposal, arguments, preview, decision, by } = self;
        let arguments: String = arguments.iter().map(|digest| format!("{digest}\n")).collect();
        format!(
            "svc.relay.v1 decision\n{session}\n{epoch}\n{proposal}\n{arguments}{preview}\n{decision}\n{by}"
        )
    }
}
