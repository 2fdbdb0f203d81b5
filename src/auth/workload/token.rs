//! A token as it comes over the wire, read strictly before anything of it is used.

use std::num::NonZeroU32;

use super::{ALGORITHMS, Claims, Verified};
use crate::auth::jwt::{Parts, asks_for_more, key_id, read_object};
use crate::crypto::jose::Algorithm;
use crate::crypto::jose::key_set::KeySet;
use crate::domain::result::ResultProblem;

/// Largest token, in bytes.
const TOKEN_BYTES_MAX: usize = 16 * 1024;
/// Longest text of a claim, in bytes.
const CLAIM_BYTES_MAX: usize = 1024;
/// Longest number, in bytes: the forge writes its numbers as text.
const NUMBER_BYTES_MAX: usize = 32;

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
    pub fn read(authorization: &'a str) -> Result<Self, ResultProblem> {
        let (scheme, token) = authorization.split_once(' ').ok_or(ResultProblem::Missing)?;
        if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() {
            return Err(ResultProblem::Missing);
        }
        if token.len() > TOKEN_BYTES_MAX {
            return Err(ResultProblem::TooLarge);
        }
        let parts = Parts::of(token).ok_or(ResultProblem::Malformed)?;
        let key_id = read_header(&parts.header)?;
        let claims = read_claims(&parts.claims).ok_or(ResultProblem::Malformed)?;
        Ok(Self { signed: parts.signed, signature: parts.signature, key_id, claims })
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
    pub fn verify(self, keys: &KeySet) -> Result<Verified, ResultProblem> {
        let key = keys.get(&self.key_id).ok_or(ResultProblem::Key)?;
        key.verify(self.signed.as_bytes(), &self.signature)
            .map_err(|_| ResultProblem::Signature)?;
        Ok(Verified(self.claims))
    }
}

/// Returns the id of the key.
fn read_header(json: &[u8]) -> Result<String, ResultProblem> {
    let header = read_object(json).ok_or(ResultProblem::Malformed)?;
    let algorithm = header.member::<String>("alg").as_deref().and_then(Algorithm::from_word);
    let is_wanted = algorithm.is_some_and(|algorithm| ALGORITHMS.contains(&algorithm));
    if !is_wanted || asks_for_more(&header) {
        return Err(ResultProblem::Algorithm);
    }
    // Optional (RFC 7519, section 5.1), but any other type is another kind of token.
    if header.has("typ") && !header.is("typ", "JWT") {
        return Err(ResultProblem::Malformed);
    }
    key_id(&header).ok_or(ResultProblem::Malformed)
}

/// Reads what is compared; `None` when a part is missing or is not of its type.
fn read_claims(json: &[u8]) -> Option<Claims> {
    let claims = read_object(json)?;
    let text = |name| claims.text(name, CLAIM_BYTES_MAX);
    // An `nbf` that cannot be read is a fault: taken as absent, the token would hold too early.
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
