//! Repositories as the forge names them.

use std::fmt;
use std::str::FromStr;

use crate::domain::id::{InvalidId, RepositoryId};

/// A repository as a delivery names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryRef {
    /// The forge's number.
    pub id: RepositoryId,
    /// `owner/name` at the time.
    pub full_name: RepositoryName,
}

/// A repository's name. Shape: `owner/name`, at most 200 characters of letters, digits, `.`, `_`
/// and `-` on each side, so that it is safe in a path and in a log line. Source: the forge.
#[derive(Clone, PartialEq, Eq)]
pub struct RepositoryName(String);

/// Shown without the name.
impl fmt::Debug for RepositoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RepositoryName(..)")
    }
}

impl RepositoryName {
    /// Returns `owner/name`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RepositoryName {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let (owner, name) = text.split_once('/').ok_or(InvalidId)?;
        let plain = |part: &str| {
            // The name becomes part of a path; a client or a proxy would resolve these.
            !matches!(part, "" | "." | "..")
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
        };
        if text.len() <= 200 && plain(owner) && plain(name) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidId)
        }
    }
}

impl fmt::Display for RepositoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_name_is_safe_in_a_path() {
        let name = "octo-org/Hello.World_1".parse::<RepositoryName>();
        assert_eq!(format!("{name:?}"), "Ok(RepositoryName(..))");
        for other in ["", "a", "a/", "/b", "a/b/c", "../b", "a/..", "a/b?c", "a/b c", "a/\u{e9}"] {
            assert_eq!(other.parse::<RepositoryName>(), Err(InvalidId), "{other}");
        }
    }
}
