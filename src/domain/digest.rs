//! SHA-256 digests as values, in their one spelling. They are computed elsewhere.

use std::fmt;
use std::str::FromStr;

/// A SHA-256 digest, or a MAC of that size. Shape: 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// The text is no digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a digest is 64 lower-case hexadecimal digits")]
pub struct NotADigest;

impl Digest {
    /// Returns the bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for Digest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let mut bytes = [0; 32];
        for (place, byte) in bytes.iter_mut().enumerate() {
            // `get` also refuses to cut a character of several bytes in two.
            let digits = text.get(2 * place..2 * place + 2).ok_or(NotADigest)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| NotADigest)?;
        }
        let digest = Self(bytes);
        // One spelling: no upper case, no sign, nothing behind.
        if digest.to_string() == text { Ok(digest) } else { Err(NotADigest) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_have_one_spelling() {
        let text = "00ff".repeat(16);
        assert_eq!(text.parse::<Digest>().unwrap().to_string(), text);
        for text in ["", "00", &text.to_uppercase(), &format!("{text}0"), &"+f".repeat(32)] {
            assert!(text.parse::<Digest>().is_err(), "{text}");
        }
    }
}
