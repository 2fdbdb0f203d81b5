//! The code of a pairing: what a plugin shows and a person types.

use std::fmt;
use std::str::FromStr;

use crate::crypto::sha256;
use crate::domain::digest::Digest;

/// Crockford's base 32: no I, L, O and U.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Characters of a code.
const CHARACTERS: usize = 8;
/// Longest text that is read as a code, in bytes: it may have blanks and hyphens.
const TEXT_BYTES_MAX: usize = 64;
/// Random bytes of a code.
pub const BYTES: usize = 5;

/// A code: 40 bits. Shown as `7K2M-9QXV`. Equal codes are found by their digest, so it cannot be compared, and it has no
/// `Debug`, so that nothing prints it by accident.
#[derive(Clone, Copy)]
pub struct PairingCode([u8; BYTES]);

/// The text is no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a code has 8 letters and digits, such as 7K2M-9QXV; read it again from the plugin")]
pub struct NotACode;

impl PairingCode {
    /// Returns the code of these bytes, which must be random.
    #[must_use]
    pub const fn new(bytes: [u8; BYTES]) -> Self {
        Self(bytes)
    }

    /// Returns what is stored instead of the code.
    #[must_use]
    pub fn digest(&self) -> Digest {
        sha256::of(format!("svc.relay.v1 code\n{self}").as_bytes())
    }
}

impl fmt::Display for PairingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.0.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        for place in 0..CHARACTERS {
            if place == CHARACTERS / 2 {
                f.write_str("-")?;
            }
            let shift = 5 * (CHARACTERS - 1 - place);
            let symbol = usize::try_from(bits >> shift & 31).unwrap_or_default();
            let symbol = ALPHABET.get(symbol).copied().unwrap_or_default();
            write!(f, "{}", char::from(symbol))?;
        }
        Ok(())
    }
}

/// Reads a code as people type it: in any case, with blanks and hyphens anywhere, I and L for 1, O for 0.
impl FromStr for PairingCode {
    type Err = NotACode;

    fn from_str(text: &str) -> Result<Self, NotACode> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(NotACode);
        }
        let (mut bits, mut count) = (0_u64, 0);
        for byte in text.bytes().filter(|byte| !matches!(byte, b' ' | b'-')) {
            let symbol = match byte.to_ascii_uppercase() {
                b'I' | b'L' => b'1',
                b'O' => b'0',
                other => other,
            };
            let value = ALPHABET.iter().position(|known| *known == symbol).ok_or(NotACode)?;
            count += 1;
            // Before the next shift, which would push the first characters out of the 64 bits.
            if count > CHARACTERS {
                return Err(NotACode);
            }
            bits = bits << 5 | u64::try_from(value).unwrap_or_default();
        }
        // 40 bits are the last five of eight bytes.
        let [_, _, _, bytes @ ..] = bits.to_be_bytes();
        if count == CHARACTERS { Ok(Self(bytes)) } else { Err(NotACode) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(text: &str) -> Option<[u8; BYTES]> {
        text.parse::<PairingCode>().ok().map(|code| code.0)
    }

    #[test]
    fn a_code_is_read_as_people_type_it() {
        let code = bytes("7K2M-9QXV").unwrap();
        assert_eq!(PairingCode::new(code).to_string(), "7K2M-9QXV");
        for text in ["7k2m9qxv", " 7K2M 9QXV ", "7-K-2-M-9-Q-X-V", "7K2M--9QXV"] {
            assert_eq!(bytes(text), Some(code), "{text}");
        }
        assert_eq!(bytes("IiLl-OoO0"), bytes("1111-0000"));
        assert_eq!(bytes("0000-0000"), Some([0; BYTES]));
        assert_eq!(bytes("ZZZZ-ZZZZ"), Some([0xff; BYTES]));
    }

    #[test]
    fn anything_else_is_no_code() {
        let long = format!("7K2M{}9QXV", "-".repeat(100));
        for text in [
            "",
            "7K2M-9QX",
            "7K2M-9QXVV",
            "7K2M-9QXU",
            "7K2M_9QXV",
            "7K2M\n9QXV",
            "７K2M9QXV",
            &long,
        ] {
            assert_eq!(bytes(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_digest_is_that_of_the_code_and_not_of_its_spelling() {
        let digest = |text: &str| text.parse::<PairingCode>().unwrap().digest();
        assert_eq!(digest("7K2M-9QXV"), digest("7k2m 9qxv"));
        assert_ne!(digest("7K2M-9QXV"), digest("7K2M-9QXW"));
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(code in any::<[u8; BYTES]>()) {
            let shown = PairingCode::new(code).to_string();
            prop_assert_eq!(bytes(&shown), Some(code));
            prop_assert_eq!(bytes(&shown.to_lowercase().replace('-', "  ")), Some(code));
        }

        #[test]
        fn a_text_is_a_code_or_refused(text in "[ -~é]{0,12}") {
            let symbols = text.chars().filter(|c| !matches!(c, ' ' | '-'));
            let known = |c: char| c.is_ascii_alphanumeric() && !matches!(c, 'u' | 'U');
            let is_code = symbols.clone().count() == CHARACTERS && symbols.clone().all(known);
            prop_assert_eq!(bytes(&text).is_some(), is_code);
        }
    }
}
