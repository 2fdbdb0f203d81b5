//! The small texts of frames: closed sets of words, keys, nonces, signatures, and lines for people.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Number;

use crate::crypto::jose;
use crate::crypto::jose::key::PublicKey;
use crate::domain::relay::invocation::{self, Withdrawal};
use crate::domain::relay::{CardDecision, DesignTool};
use crate::json::Object;

pub(super) const NONCE_BYTES: usize = 16;
/// Longest line, in characters.
const LINE_MAX: usize = 200;

words! {
    /// How an action ended.
    Outcome {
        /// It was done.
        Succeeded => "succeeded",
        /// It was not done.
        Failed => "failed",
        /// It was not done, because its targets had changed since they were shown.
        Stale => "stale",
    }
}

words! {
    /// Who decided.
    DecidedInPlugin {
        /// A person, by a click.
        Person => "person",
        /// A person's leave to read, given before.
        Allowance => "allowance",
        /// The plugin, which could not show the proposal.
        Plugin => "plugin",
    }
}

words! {
    /// Why a plugin leaves.
    ByeReason {
        /// A person ended the session.
        Person => "person",
        /// The page is being closed.
        Closing => "closing",
        /// A person revokes the device.
        Forget => "forget",
    }
}

word_as_text! { DesignTool invocation::Entry Outcome CardDecision DecidedInPlugin Withdrawal ByeReason }

/// Declares texts of frames that only this protocol has.
macro_rules! texts {
    ($(#[$doc:meta] $name:ident;)*) => {$(
        #[$doc]
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub struct $name(pub(super) String);

        impl $name {
            /// Returns the text, as it is sent and signed.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    )*};
}

texts! {
    /// A random number used once. Shape: 16 bytes in base64url without padding, 22 characters.
    Nonce;
    /// An ES256 signature. Shape: 64 bytes in base64url without padding, 86 characters.
    Signature;
}

/// Text for a person, on one line. Shape: at most 200 characters, none of them a control. It has no `Debug`, because it
/// holds names of accounts and clients.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct Line(String);

impl Nonce {
    /// Returns the nonce of these bytes, which must be random.
    #[must_use]
    pub fn new(bytes: &[u8; NONCE_BYTES]) -> Self {
        Self(jose::encode(bytes))
    }

    /// Reads the text of a nonce; `None` if it is none.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let bytes: [u8; NONCE_BYTES] = jose::decode(text)?.try_into().ok()?;
        Some(Self::new(&bytes))
    }
}

impl Signature {
    /// Returns the text of a signature.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        Self(jose::encode(bytes))
    }

    /// Returns the bytes; `None` when the text is not the one spelling of any.
    #[must_use]
    pub fn bytes(&self) -> Option<Vec<u8>> {
        jose::decode(&self.0)
    }
}

impl Line {
    /// Returns the text, as it is sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns a line of a text. Control characters, and those that change the direction of what follows, are replaced:
    /// an account or client could otherwise make a question read as another one.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self::limited(text, LINE_MAX)
    }

    /// Returns a line of at most `max` characters.
    pub(super) fn limited(text: &str, max: usize) -> Self {
        let plain = |c: char| {
            let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            let breaks = matches!(c, '\u{2028}' | '\u{2029}');
            if c.is_control() || turns || breaks { char::REPLACEMENT_CHARACTER } else { c }
        };
        Self(text.chars().take(max).map(plain).collect())
    }
}

/// A public key of P-256, as a JSON Web Key. Its coordinates are base64url without padding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicJwk {
    kty: String,
    crv: String,
    x: String,
    y: String,
}

impl PublicJwk {
    /// Returns the key of a point: 4, then 32 bytes for each coordinate. `None` for another form.
    #[must_use]
    pub fn of_point(point: &[u8]) -> Option<Self> {
        let (form, coordinates) = point.split_first()?;
        let (x, y) = coordinates.split_at_checked(32)?;
        (*form == 4 && y.len() == 32).then(|| Self {
            kty: "EC".to_owned(),
            crv: "P-256".to_owned(),
            x: jose::encode(x),
            y: jose::encode(y),
        })
    }

    /// Returns the point; `None` when a coordinate is not in its one spelling, or not of its length.
    #[must_use]
    pub fn point(&self) -> Option<[u8; 65]> {
        let (x, y) = (jose::decode(&self.x)?, jose::decode(&self.y)?);
        // 4 marks an uncompressed point (SEC 1, section 2.3.3).
        [&[4][..], &x, &y].concat().try_into().ok()
    }

    /// Returns the key for checking signatures; `None` when a coordinate is not in its one spelling. Whether the point
    /// is on the curve is seen when a signature is checked.
    #[must_use]
    pub fn public(&self) -> Option<PublicKey> {
        let jwk = serde_json::to_vec(self).ok()?;
        PublicKey::read(&Object::read(&jwk).ok()?).ok()
    }
}

/// Reads a whole number. A schema calls `5.0` an integer too; what is larger than any count is the largest one.
pub(super) fn whole<'de, D: Deserializer<'de>>(number: D) -> Result<u64, D::Error> {
    let number = Number::deserialize(number)?;
    if let Some(whole) = number.as_u64() {
        return Ok(whole);
    }
    let written = number.as_f64().filter(|number| *number >= 0.0 && number.fract() == 0.0);
    let written = written.ok_or_else(|| D::Error::custom("no count"))?;
    Ok(format!("{written:.0}").parse().unwrap_or(u64::MAX))
}
