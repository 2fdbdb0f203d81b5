//! A webhook delivery: who sent what, once. It owns the idempotency key and the projection of a
//! job's status onto its inbox row; it does not look into payloads.

use std::fmt;
use std::str::FromStr;

use crate::domain::digest::Digest;
use crate::domain::event::Action;
use crate::domain::id::{InstallationId, InvalidId, JobId};
use crate::domain::job::JobStatus;
use crate::domain::repository::RepositoryRef;

/// The one provider that is implemented; first half of every idempotency key.
pub const PROVIDER: &str = "forge";

/// The forge's id of a delivery. Shape: 1 to 64 letters, digits and hyphens, kept in lower case, so
/// that another spelling of the same id is the same delivery. Source: an unsigned header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryId(String);

impl DeliveryId {
    /// Returns `<provider>:<delivery_id>`.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        format!("{PROVIDER}:{}", self.0)
    }
}

impl FromStr for DeliveryId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
        if text.is_empty() || text.len() > 64 || !text.bytes().all(allowed) {
            return Err(InvalidId);
        }
        // The header is not signed, so another spelling must not pass as another delivery of the same body.
        Ok(Self(text.to_ascii_lowercase()))
    }
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A delivery whose signature held, ready to be recorded.
#[derive(Clone, Debug)]
pub struct NewDelivery {
    /// The forge's id of it.
    pub id: DeliveryId,
    /// Event name as recorded: one we know, else `unknown`.
    pub event: &'static str,
    /// The tenant, when the payload names one.
    pub installation: Option<InstallationId>,
    /// The repository, when the payload names one.
    pub repository: Option<RepositoryRef>,
    /// SHA-256 of the raw body.
    pub body_sha256: Digest,
    /// What it asks of us; nothing means it is recorded and ignored.
    pub action: Option<Action>,
}

/// What recording a delivery came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// New: inbox row and job are on disk.
    Accepted(JobId),
    /// New, asks nothing of us: the inbox row is on disk.
    Ignored,
    /// Seen before with the same body; nothing was added.
    Duplicate,
    /// Seen before with another body; the first was kept and this one counted.
    Conflict,
}

words! {
    /// State of an inbox row.
    InboxState {
        /// A job waits for it.
        Accepted => "accepted",
        /// Its job is leased.
        Processing => "processing",
        /// Its job is completed.
        Processed => "processed",
        /// Its job is a dead letter.
        DeadLetter => "dead_letter",
        /// It asks nothing of us and has no job.
        Ignored => "ignored",
    }
}

impl InboxState {
    /// Returns the state an inbox row has because its job has `status`.
    #[must_use]
    pub const fn of_job(status: JobStatus) -> Self {
        match status {
            JobStatus::Available => Self::Accepted,
            JobStatus::Leased => Self::Processing,
            JobStatus::Completed => Self::Processed,
            JobStatus::DeadLetter => Self::DeadLetter,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_id_has_one_spelling() {
        let id = "72D3162E-cc78-11e3-81ab-4c9367dc0958".parse::<DeliveryId>();
        assert_eq!(
            id.map(|id| id.idempotency_key()),
            Ok("forge:72d3162e-cc78-11e3-81ab-4c9367dc0958".to_owned())
        );
        let longest = "a".repeat(64);
        assert_eq!(longest.parse::<DeliveryId>().map(|id| id.to_string()), Ok(longest));
        for other in ["", "a b", "a\nb", "a:b", &"a".repeat(65)] {
            assert_eq!(other.parse::<DeliveryId>(), Err(InvalidId), "{other}");
        }
    }
}
