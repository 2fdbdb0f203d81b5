//! Registered agent cards: their names, and what a conditional write comes to. What is in
//! a card is not known here.
//!
//! See `docs/decisions/63-card-registry.md`.

use std::fmt;
use std::str::FromStr;

use crate::domain::digest::Digest;

/// Most bytes of a registered card.
pub const BYTES_MAX: usize = 1024 * 1024;
/// Most cards that are registered.
pub const CARDS_MAX: u32 = 10_000;
/// Most characters of a name.
const NAME_MAX: usize = 100;
/// What a name must not be: the API has that word.
const RESERVED: &str = "validate";

/// The text is no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the name must have 1 to {NAME_MAX} characters from a-z, 0-9, '.', '_' and '-', begin with a \
    letter or a digit, and must not be \"{RESERVED}\""
)]
pub struct NotAName;

/// Name of a registered card.
/// Shape: 1 to 100 of `a-z 0-9 . _ -`, the first a letter or a digit; not `validate`. Source: operators.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CardName(String);

impl CardName {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for CardName {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<Self, NotAName> {
        let begins = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_shaped = text.len() <= NAME_MAX
            && text.bytes().next().is_some_and(begins)
            && text.bytes().all(|byte| begins(byte) || b"._-".contains(&byte));
        if is_shaped && text != RESERVED { Ok(Self(text.to_owned())) } else { Err(NotAName) }
    }
}

impl fmt::Display for CardName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A valid card to be registered.
#[derive(Clone, Debug)]
pub struct NewAgentCard {
    /// Under which name.
    pub name: CardName,
    /// Exactly these bytes, at most [`BYTES_MAX`].
    pub bytes: Vec<u8>,
    /// Of the bytes.
    pub digest: Digest,
    pub variant: &'static str,
    /// The version it names.
    pub protocol_version: &'static str,
    /// Who registers it.
    pub actor: String,
}

/// What must be so for a write to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Nothing.
    Always,
    /// The name is free.
    Absent,
    /// The name is taken.
    Present,
    /// The card is one of these.
    OneOf(Vec<Digest>),
}

impl Condition {
    /// Says whether it holds for what was found under the name.
    #[must_use]
    pub fn holds(&self, found: Option<Digest>) -> bool {
        match self {
            Self::Always => true,
            Self::Absent => found.is_none(),
            Self::Present => found.is_some(),
            Self::OneOf(digests) => found.is_some_and(|found| digests.contains(&found)),
        }
    }
}

/// What a write comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// The name becomes the card's.
    Create,
    /// The card takes the place of another.
    Replace,
    /// These very bytes are there already.
    Keep,
    /// As many cards are registered as may be.
    Full,
    /// The condition does not hold.
    PreconditionFailed,
}

/// Decides about a write from what was found under the name. A condition is looked at last, as HTTP
/// wants it: only for a write that would happen without it.
#[must_use]
pub fn decide_write(
    found: Option<Digest>,
    new: Digest,
    condition: &Condition,
    is_full: bool,
) -> Write {
    // RFC 9110, 13.2.1: a condition is evaluated only for a request that would succeed without it.
    match found {
        None if is_full => Write::Full,
        _ if !condition.holds(found) => Write::PreconditionFailed,
        None => Write::Create,
        Some(found) if found == new => Write::Keep,
        Some(_) => Write::Replace,
    }
}

/// What a removal comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// The card that was found goes.
    Remove(Digest),
    /// There is none.
    NotFound,
    /// The condition does not hold.
    PreconditionFailed,
}

/// Decides about a removal from what was found under the name.
#[must_use]
pub fn decide_removal(found: Option<Digest>, condition: &Condition) -> Removal {
    match found {
        // 404 even with a condition, by the same rule.
        None => Removal::NotFound,
        Some(_) if !condition.holds(found) => Removal::PreconditionFailed,
        Some(digest) => Removal::Remove(digest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_bounded() {
        let longest = "x".repeat(100);
        for name in ["a", "7", "route-planner", "a.b_c-d", "validate2", longest.as_str()] {
            assert_eq!(name.parse::<CardName>().unwrap().as_str(), name);
        }
        let long = "x".repeat(101);
        for text in ["", "A", "a b", "a/b", "..", ".a", "-a", "_", "ä", "a%20", "validate", &long]
        {
            assert!(text.parse::<CardName>().is_err(), "{text}");
        }
    }
}
