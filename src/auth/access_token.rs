//! Access tokens of OAuth 2.0 in the profile of RFC 9068: a token that an issuer signed for this service, and whom
//! it speaks for. Pure: rules, keys and the time are arguments, and nothing is fetched.
//!
//! The configuration says which algorithms, issuer, audience and type are taken; the token chooses nothing. Its
//! claims are checked before its signature, so that keys are only asked for on behalf of a token that could hold.
//! Instants are whole seconds, as issuers write them.
//!
//! See `docs/decisions/38-access-tokens.md`.

use std::time::Duration;

use crate::auth::jwt::{Parts, asks_for_more, key_id, read_object};
use crate::crypto::jose::Algorithm;
use crate::crypto::jose::key_set::KeySet;
use crate::domain::time::Timestamp;
use crate::json::Object;

/// Largest token, in bytes.
pub const TOKEN_BYTES_MAX: usize = 8 << 10;
/// Clocks of the issuer and ours may differ by so much.
const LEEWAY: Duration = Duration::from_mins(1);
/// Longest name of a subject or a client, in bytes.
const NAME_BYTES_MAX: usize = 512;

words! {
    /// What a token may allow, as far as this service knows it.
    Scope {
        /// To call at all.
        Read => "mcp:read",
        /// To call what changes something.
        Invoke => "mcp:invoke",
        /// To pair with a design tool.
        Pair => "mcp:pair",
    }
}

words! {
    /// Why a token is refused, for counters and the log; its sender hears one answer for all of them.
    Fault {
        /// It is too long, is no JSON Web Token, or lacks a part that every token has.
        Malformed => "malformed",
        /// It is not signed with one of the configured algorithms, or with another than that of its key.
        Algorithm => "algorithm",
        /// Its header asks for another key, or for processing that is not known.
        Header => "header",
        /// It is of another type: an identity token, for instance.
        Type => "type",
        /// It is of another issuer.
        Issuer => "issuer",
        /// It is for another service.
        Audience => "audience",
        /// It has expired.
        Expired => "expired",
        /// It is of the future.
        NotYetValid => "not_yet_valid",
        /// It does not say whom it speaks for, or what it allows, in the way it must.
        Claims => "claims",
        /// Its issuer has no such key.
        Key => "key",
        /// Its signature does not hold.
        Signature => "signature",
    }
}

/// Which tokens are taken.
#[derive(Clone, Debug)]
pub struct AccessTokenRules {
    /// The issuer, as tokens name it.
    pub issuer: String,
    /// What they must be made for.
    pub audience: String,
    /// What they may be signed with.
    pub algorithms: Vec<Algorithm>,
    /// Their type, in lower case and without `application/`.
    pub token_type: String,
}

/// Whom a token speaks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The issuer, a space, and the subject there: one name for one subject. An issuer has no spaces.
    pub subject: String,
    /// The client that the token was given to.
    pub client: String,
    /// What the token allows; scopes of other services are left out.
    pub scopes: Vec<Scope>,
}

/// A token that could hold: everything but its signature was checked.
pub struct Token<'a> {
    signed: &'a str,
    signature: Vec<u8>,
    algorithm: Algorithm,
    key_id: String,
    verified: Verified,
}

/// What a token proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Whom it speaks for.
    pub caller: Caller,
    /// The first instant at which it does not hold any more; clocks may differ until then.
    pub expires_at: Timestamp,
}

impl<'a> Token<'a> {
    /// Reads a token and checks it as far as that needs no key.
    ///
    /// # Errors
    /// The first thing that is not as it must be.
    pub fn read(token: &'a str, rules: &AccessTokenRules, now: Timestamp) -> Result<Self, Fault> {
        // Before anything is decoded, because the time of all the rest grows with the length.
        if token.len() > TOKEN_BYTES_MAX {
            return Err(Fault::Malformed);
        }
        let Parts { signed, header, claims, signature } =
            Parts::of(token).ok_or(Fault::Malformed)?;
        let (algorithm, key_id) = read_header(&header, rules)?;
        let verified = read_claims(&claims, rules, now)?;
        Ok(Self { signed, signature, algorithm, key_id, verified })
    }

    /// Returns which key of the issuer it claims to be signed with.
    #[must_use]
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// Checks the signature with the keys of the issuer.
    ///
    /// # Errors
    /// [`Fault::Key`], [`Fault::Algorithm`] or [`Fault::Signature`].
    pub fn verify(self, keys: &KeySet) -> Result<Verified, Fault> {
        let key = keys.get(&self.key_id).ok_or(Fault::Key)?;
        // RFC 8725, section 3.1: a public key could otherwise be taken for the secret of a MAC.
        if key.algorithm() != self.algorithm {
            return Err(Fault::Algorithm);
        }
        key.verify(self.signed.as_bytes(), &self.signature).map_err(|_| Fault::Signature)?;
        Ok(self.verified)
    }
}

/// Returns the algorithm and the id of the key.
fn read_header(json: &[u8], rules: &AccessTokenRules) -> Result<(Algorithm, String), Fault> {
    let header = read_object(json).ok_or(Fault::Malformed)?;
    let algorithm = header.member::<String>("alg").as_deref().and_then(Algorithm::from_word);
    // The list is that of the configuration, so a token cannot ask for `none`.
    let algorithm = algorithm.filter(|it| rules.algorithms.contains(it)).ok_or(Fault::Algorithm)?;
    if asks_for_more(&header) {
        return Err(Fault::Header);
    }
    // RFC 7515, section 4.1.9: types have no case, and `application/` may be left out.
    let token_type = header.member::<String>("typ").unwrap_or_default().to_ascii_lowercase();
    if token_type.strip_prefix("application/").unwrap_or(&token_type) != rules.token_type {
        return Err(Fault::Type);
    }
    Ok((algorithm, key_id(&header).ok_or(Fault::Malformed)?))
}

fn read_claims(json: &[u8], rules: &AccessTokenRules, now: Timestamp) -> Result<Verified, Fault> {
    let claims = read_object(json).ok_or(Fault::Malformed)?;
    if !claims.is("iss", &rules.issuer) {
        return Err(Fault::Issuer);
    }
    let audience = one_or_many(&claims, "aud").ok_or(Fault::Audience)?;
    if !audience.contains(&rules.audience) {
        return Err(Fault::Audience);
    }
    let expires_at = instant(&claims, "exp")?.ok_or(Fault::Malformed)?.plus(LEEWAY);
    if expires_at <= now {
        return Err(Fault::Expired);
    }
    let begins = [instant(&claims, "nbf")?, instant(&claims, "iat")?];
    if begins.into_iter().flatten().any(|begin| begin > now.plus(LEEWAY)) {
        return Err(Fault::NotYetValid);
    }
    let name = |name| claims.text(name, NAME_BYTES_MAX).ok_or(Fault::Claims);
    let caller = Caller {
        subject: format!("{} {}", rules.issuer, name("sub")?),
        // `azp` is what issuers say that are older than the profile.
        client: name(if claims.has("client_id") { "client_id" } else { "azp" })?,
        scopes: scopes(&claims).ok_or(Fault::Claims)?,
    };
    Ok(Verified { caller, expires_at })
}

/// Returns an instant, if the claim is there.
fn instant(claims: &Object<'_>, name: &str) -> Result<Option<Timestamp>, Fault> {
    if !claims.has(name) {
        return Ok(None);
    }
    let seconds: i64 = claims.member(name).ok_or(Fault::Malformed)?;
    // A huge number stays far in the future instead of wrapping around into the past.
    Ok(Some(Timestamp::from_micros(seconds.saturating_mul(1_000_000))))
}

/// Returns a claim that is one text or an array of texts.
fn one_or_many(claims: &Object<'_>, name: &str) -> Option<Vec<String>> {
    claims.member::<String>(name).map(|text| vec![text]).or_else(|| claims.member(name))
}

/// Returns the scopes that are known, from `scope` or, as some issuers have it, `scp`; none when there is neither.
/// Each text may hold several, with spaces between them.
fn scopes(claims: &Object<'_>) -> Option<Vec<Scope>> {
    let name = if claims.has("scope") { "scope" } else { "scp" };
    if !claims.has(name) {
        return Some(Vec::new());
    }
    let granted = one_or_many(claims, name)?;
    let is_granted = |scope: &Scope| {
        granted.iter().flat_map(|text| text.split(' ')).any(|word| word == scope.as_str())
    };
    Some(Scope::ALL.iter().copied().filter(is_granted).collect())
}

#[cfg(test)]
mod tests;
