//! A token as it comes over the wire, read strictly before anything of it is used.

use std::num::NonZeroU32;

use super::{ALGORITHMS, Claims, Verified};
use crate::crypto::jose::key_set::{KEY_ID_BYTES_MAX, KeySet};
use crate::crypto::jose::{Algorithm, Compact, decode};
use crate::domain::result::Fault;
use crate::json::{self, Object};

/// Largest token, in bytes.
const TOKEN_BYTES_MAX: usize = 16 * 1024;
/// Longest text of a claim, in bytes.
const CLAIM_BYTES_MAX: usize = 1024;
/// Longest number, in bytes: the forge writes its numbers as text.
const NUMBER_BYTES_MAX: usize = 32;
/// How deep header and claims may be nested; real ones have three levels.
const DEPTH_MAX: usize = 8;
/// What a header may not have: each asks to trust or to do something else.
const REFUSED: [&str; 8] = ["crit", "b64", "jku", "jwk", "x5u", "x5c", "zip", "enc"];

/// A token that has the right shape. Nothing of it is trusted.
pub struct Token<'a> {
    /// Header and claims as they were signed.
    signed: &'a str,
    signature: Vec<u8>,
    key_id: String,
    claims: Claims,
}

impl<'a> Token<'a> {
    /// Reads the whole value of an `Authorization` header.
    ///
    /// # Errors
    /// By what is wrong with its shape.
    pub fn read(authorization: &'a str) -> Result<Self, Fault> {
        let (scheme, token) = authorization.split_once(' ').ok_or(Fault::Missing)?;
        if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() {
            return Err(Fault::Missing);
        }
        if token.len() > TOKEN_BYTES_MAX {
            return Err(Fault::TooLarge);
        }
        let parts = Compact::split(token).ok_or(Fault::Malformed)?;
        let decoded = |part| decode(part).ok_or(Fault::Malformed);
        let signature = decoded(parts.signature)?;
        if signature.is_empty() {
            return Err(Fault::Malformed);
        }
        let key_id = read_header(&decoded(parts.header)?)?;
        let claims = read_claims(&decoded(parts.payload)?).ok_or(Fault::Malformed)?;
        Ok(Self { signed: parts.signed, signature, key_id, claims })
    }

    /// Returns who claims to have signed it.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.claims.issuer
    }

    /// Returns which key it claims to be signed with.
    #[must_use]
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// Checks the signature with the keys of its issuer.
    ///
    /// # Errors
    /// When there is no such key, or it did not make the signature.
    pub fn verify(self, keys: &KeySet) -> Result<Verified, Fault> {
        let key = keys.get(&self.key_id).ok_or(Fault::Key)?;
        key.verify(self.signed.as_bytes(), &self.signature).map_err(|_| Fault::Signature)?;
        Ok(Verified(self.claims))
    }
}

/// Reads one part of a token.
fn read_object(json: &[u8]) -> Option<Object<'_>> {
    if json::depth(json) > DEPTH_MAX { None } else { Object::read(json).ok() }
}

/// Returns the id of the key.
fn read_header(json: &[u8]) -> Result<String, Fault> {
    let header = read_object(json).ok_or(Fault::Malformed)?;
    let algorithm = header.member::<String>("alg").as_deref().and_then(Algorithm::from_word);
    let is_wanted = algorithm.is_some_and(|algorithm| ALGORITHMS.contains(&algorithm));
    if !is_wanted || REFUSED.iter().any(|name| header.has(name)) {
        return Err(Fault::Algorithm);
    }
    if header.has("typ") && !header.is("typ", "JWT") {
        return Err(Fault::Malformed);
    }
    let key_id = header.text("kid", KEY_ID_BYTES_MAX).ok_or(Fault::Malformed)?;
    let plain = key_id.bytes().all(|byte| byte.is_ascii_graphic());
    if plain { Ok(key_id) } else { Err(Fault::Malformed) }
}

/// Reads what is compared; nothing when a part is missing or is not of its type.
fn read_claims(json: &[u8]) -> Option<Claims> {
    let claims = read_object(json)?;
    let text = |name| claims.text(name, CLAIM_BYTES_MAX);
    let not_before = if claims.has("nbf") { Some(claims.member("nbf")?) } else { None };
    Some(Claims {
        issuer: text("iss")?,
        audience: text("aud")?,
        token_id: text("jti")?,
        issued_at: claims.member("iat")?,
        not_before,
        expires_at: claims.member("exp")?,
        repository: claims.parsed("repository_id", NUMBER_BYTES_MAX)?,
        owner: claims.parsed("repository_owner_id", NUMBER_BYTES_MAX)?,
        repository_name: text("repository")?,
        workflow_run: claims.parsed("run_id", NUMBER_BYTES_MAX)?,
        run_attempt: claims.parsed::<RunAttempt>("run_attempt", NUMBER_BYTES_MAX)?.0,
        event: text("event_name")?,
        workflow_ref: text("workflow_ref")?,
        git_ref: text("ref")?,
        sha: text("sha")?,
    })
}

/// A counter from 1, in plain decimals.
struct RunAttempt(u32);

impl std::str::FromStr for RunAttempt {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let number: NonZeroU32 = text.parse().map_err(|_| ())?;
        if number.to_string() == text { Ok(Self(number.get())) } else { Err(()) }
    }
}
