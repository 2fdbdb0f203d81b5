//! Whether a webhook body was sent by the forge: HMAC-SHA256 over the raw bytes, before anything
//! looks into them. Only the body is covered; delivery id and event name are not signed.

use ring::hmac;
use secrecy::{ExposeSecret as _, SecretString};

use crate::domain::digest::Digest;
use crate::runtime::current::Current;

/// What stands before the digits in the signature header.
const PREFIX: &str = "sha256=";

/// The secrets a signature may be made with; several while one is being replaced. Shape: at least
/// one, none empty. Source: the operator.
#[derive(Debug)]
pub struct Secrets(Current<Vec<SecretString>>);

/// There is no secret, or one is empty: anyone could sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a webhook secret is empty or missing")]
pub struct EmptySecret;

/// Why a signature does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// There is no signature.
    #[error("no signature")]
    Missing,
    /// It is not `sha256=` and 64 lower-case hex digits.
    #[error("malformed signature")]
    Malformed,
    /// No secret makes this signature of this body.
    #[error("wrong signature")]
    Wrong,
}

impl Secrets {
    /// Returns the secrets.
    ///
    /// # Errors
    /// When there is none, or one is empty.
    pub fn new(secrets: Vec<SecretString>) -> Result<Self, EmptySecret> {
        Ok(Self(Current::new(none_empty(secrets)?)))
    }

    /// Puts other secrets in the place of those before.
    ///
    /// # Errors
    /// When there is none, or one is empty; then those before stay.
    pub fn replace(&self, secrets: Vec<SecretString>) -> Result<(), EmptySecret> {
        self.0.set(none_empty(secrets)?);
        Ok(())
    }

    /// Checks the signature header of a body, as it came over the wire.
    ///
    /// # Errors
    /// When the header is missing, malformed, or made with none of the secrets over another body.
    pub fn verify(&self, header: Option<&str>, body: &[u8]) -> Result<(), SignatureError> {
        let digits = header.ok_or(SignatureError::Missing)?.strip_prefix(PREFIX);
        // Upper case is refused too: the forge never sends it.
        let tag: Digest = digits.and_then(|it| it.parse().ok()).ok_or(SignatureError::Malformed)?;
        // Every secret is tried, so that the time taken does not tell which one held.
        let holds = |secret: &&SecretString| {
            let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose_secret().as_bytes());
            // Takes the same time wherever the first difference is.
            hmac::verify(&key, body, tag.as_bytes()).is_ok()
        };
        let count = self.0.get().iter().filter(holds).count();
        if count > 0 { Ok(()) } else { Err(SignatureError::Wrong) }
    }
}

fn none_empty(secrets: Vec<SecretString>) -> Result<Vec<SecretString>, EmptySecret> {
    let empty = |secret: &SecretString| secret.expose_secret().is_empty();
    if secrets.is_empty() || secrets.iter().any(empty) { Err(EmptySecret) } else { Ok(secrets) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "It's a Secret to Everybody";
    const BODY: &[u8] = b"Hello, World!";
    const DIGITS: &str = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

    fn secrets(texts: &[&str]) -> Result<Secrets, EmptySecret> {
        Secrets::new(texts.iter().map(|text| SecretString::from(*text)).collect())
    }

    #[test]
    fn the_published_vector_holds_with_either_secret_of_a_rotation() {
        let header = format!("sha256={DIGITS}");
        for texts in [&[SECRET][..], &["other", SECRET], &[SECRET, "other"], &[SECRET, SECRET]] {
            let secrets = secrets(texts).expect("no secret is empty");
            assert_eq!(secrets.verify(Some(&header), BODY), Ok(()), "{}", texts.len());
            assert_eq!(secrets.verify(Some(&header), b"Hello, World"), Err(SignatureError::Wrong));
        }
        let other = secrets(&["other"]).expect("no secret is empty");
        assert_eq!(other.verify(Some(&header), BODY), Err(SignatureError::Wrong));
    }

    #[test]
    fn only_the_exact_form_is_read() {
        let secrets = secrets(&[SECRET]).expect("no secret is empty");
        assert_eq!(secrets.verify(None, BODY), Err(SignatureError::Missing));
        for header in [
            String::new(),
            DIGITS.to_owned(),
            "sha256=".to_owned(),
            format!("sha1={DIGITS}"),
            format!("SHA256={DIGITS}"),
            format!("sha256={}", DIGITS.to_uppercase()),
            format!("sha256={DIGITS}0"),
            format!("sha256={DIGITS}00"),
            format!("sha256={}", DIGITS.trim_end_matches('7')),
            format!("sha256= {DIGITS}"),
            format!("sha256={DIGITS}, sha256={DIGITS}"),
            format!("sha256={}", "\u{e9}".repeat(32)),
        ] {
            assert_eq!(
                secrets.verify(Some(&header), BODY),
                Err(SignatureError::Malformed),
                "{header}"
            );
        }
    }

    #[test]
    fn an_empty_secret_is_refused_and_none_is_shown() {
        assert_eq!(secrets(&[]).err(), Some(EmptySecret));
        assert_eq!(secrets(&[SECRET, ""]).err(), Some(EmptySecret));
        let shown = format!("{:?}", secrets(&[SECRET]));
        assert!(!shown.contains(SECRET), "{shown}");
    }
}
