//! Names of things: ours are UUIDv7 text, the forge's are positive numbers. Each is its own type,
//! so that one cannot stand where another is meant. Making them is not done here.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

words! {
    /// What an id can be looked up of by its beginning.
    IdKind {
        /// A job that has died.
        Job => "job",
        /// An outbox message that has died.
        Outbox => "outbox",
        /// A release run; also by its tag.
        ReleaseRun => "release_run",
        /// A reconciliation item that was given up and not closed.
        ReconciliationItem => "reconciliation_item",
    }
}

/// The beginning of an id of ours. Shape: 1 to 36 lower-case hexadecimal digits and hyphens. Source: the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdPrefix(String);

impl IdPrefix {
    /// Returns the beginning when it has the shape.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let is_of_id = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-');
        let accepts = (1..=36).contains(&text.len()) && text.bytes().all(is_of_id);
        accepts.then(|| Self(text.to_owned()))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns a text above all ids with this beginning, and below all others that are above it.
    #[must_use]
    pub fn end(&self) -> String {
        // The character after the last digit.
        format!("{}g", self.0)
    }
}

/// The text is not an identifier of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a valid identifier")]
pub struct InvalidId;

macro_rules! uuid_id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        /// Shape: UUID text, 36 lower-case characters. Source: us, unless it says otherwise.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl From<$name> for Uuid {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.as_hyphenated().fmt(f)
            }
        }

        /// Reads the one canonical form; any other spelling of the same UUID is refused.
        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                let id = Uuid::try_parse(text).map_err(|_| InvalidId)?;
                // `try_parse` also reads braces, upper case and `urn:uuid:`; ids are compared as text.
                let canonical = id.as_hyphenated().encode_lower(&mut Uuid::encode_buffer()) == text;
                if canonical { Ok(Self(id)) } else { Err(InvalidId) }
            }
        }
    )*};
}

uuid_id! {
    /// A lifecycle job.
    JobId;
    /// An outbox message.
    OutboxId;
    /// A release run.
    ReleaseRunId;
    /// One attempt of a release run.
    AttemptId;
    /// An audit event.
    AuditEventId;
    /// A reconciliation item.
    ReconciliationId;
    /// A device of the relay: one installation of the plugin in one person's browser profile.
    DeviceId;
    /// A pairing of the relay: one offer of a code.
    PairingId;
    /// A session of the relay: one device with one open file.
    RelaySessionId;
    /// A process that has the relay on, from one start to the next.
    RelayProcessId;
    /// A proposal: invocations that are shown and decided together.
    ProposalId;
    /// An invocation: one action with its exact arguments.
    InvocationId;
    /// A grant: the right to carry out one invocation once.
    GrantId;
    /// One load of a plugin's page. Source: the page, so that two equal ones prove only that the same device
    /// says so.
    PageInstanceId;
}

macro_rules! forge_id {
    ($(#[$doc:meta] $name:ident;)*) => {$(
        #[$doc]
        /// Shape: a positive number, at most 2^63 - 1. Source: the forge.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(i64);

        impl $name {
            /// Returns the number.
            #[must_use]
            pub const fn get(self) -> i64 {
                self.0
            }
        }

        impl TryFrom<i64> for $name {
            type Error = InvalidId;

            fn try_from(number: i64) -> Result<Self, InvalidId> {
                if number > 0 { Ok(Self(number)) } else { Err(InvalidId) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        /// Reads plain decimals: no sign, no leading zero.
        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                let id = Self::try_from(text.parse::<i64>().map_err(|_| InvalidId)?)?;
                // `parse` accepts a plus sign and leading zeros.
                if id.to_string() == text { Ok(id) } else { Err(InvalidId) }
            }
        }
    )*};
}

forge_id! {
    /// An installation of our app at the forge: the tenant.
    InstallationId;
    /// A repository, by number: its name may change.
    RepositoryId;
    /// An account that owns repositories, by number: its name may change.
    OwnerId;
    /// A workflow run.
    WorkflowRunId;
    /// A check run.
    CheckRunId;
    /// An app registered at the forge.
    AppId;
    /// One try of the forge to deliver a webhook.
    HookDeliveryId;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_ids_have_one_spelling() {
        let text = "0199f3a0-0000-7000-8000-00000000000a";
        assert_eq!(text.parse::<JobId>().map(|id| id.to_string()), Ok(text.to_owned()));
        for other in
            ["", "x", "0199F3A0-0000-7000-8000-00000000000A", "0199f3a000007000800000000000000a"]
        {
            assert_eq!(other.parse::<JobId>(), Err(InvalidId), "{other}");
        }
    }

    #[test]
    fn forge_ids_are_plain_positive_decimals() {
        assert_eq!("42".parse::<InstallationId>().map(InstallationId::get), Ok(42));
        for other in ["", "0", "-1", "+1", "042", "1.0", "9223372036854775808", " 1", "x"] {
            assert_eq!(other.parse::<InstallationId>(), Err(InvalidId), "{other}");
        }
    }
}
