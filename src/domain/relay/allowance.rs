//! Allowances: a person's leave, given in the plugin, to read a session for a while.
//!
//! What consent covers, and when it ends: `docs/decisions/69-relay-consent.md`.

use std::time::Duration;

use crate::domain::id::PageInstanceId;
use crate::domain::relay::{ActionEffect, RelayEventName};
use crate::domain::time::Timestamp;

/// An allowance of a session. It is that of the page in which it was given: no other page shows its end and the
/// button that ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The page in which it was given.
    pub page: PageInstanceId,
    /// Its end.
    pub until: Timestamp,
}

/// Whether an allowance covers an invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// It does.
    Yes,
    /// It would have, but has run out.
    Ended,
    /// There is none for this page and effect.
    No,
}

/// Says whether an allowance covers an effect at `now`, decided by a page.
#[must_use]
pub fn covers(
    allowance: Option<Allowance>,
    effect: ActionEffect,
    page: PageInstanceId,
    now: Timestamp,
) -> Cover {
    match allowance.filter(|allowance| allowance.page == page && effect == ActionEffect::Read) {
        None => Cover::No,
        Some(allowance) if now >= allowance.until => Cover::Ended,
        Some(_) => Cover::Yes,
    }
}

/// What a person asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// To end it.
    Ended,
    /// A quarter of an hour from now.
    Quarter,
    /// An hour from now.
    Hour,
}

impl Length {
    /// Every length.
    pub const ALL: [Self; 3] = [Self::Ended, Self::Quarter, Self::Hour];

    /// Returns the length of so many minutes; there are only those of 0, 15 and 60.
    #[must_use]
    pub fn from_minutes(minutes: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|length| u64::from(length.minutes()) == minutes)
    }

    /// Returns it in minutes.
    #[must_use]
    pub const fn minutes(self) -> u32 {
        match self {
            Self::Ended => 0,
            Self::Quarter => 15,
            Self::Hour => 60,
        }
    }
}

/// What becomes of a session's allowance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It lasts until then, whatever there was before.
    Give(Timestamp),
    /// It ends now.
    End,
    /// There is none to end.
    Unchanged,
}

impl Outcome {
    /// Returns what is audited.
    #[must_use]
    pub const fn audit(self) -> Option<RelayEventName> {
        match self {
            Self::Give(_) => Some(RelayEventName::AllowanceGiven),
            Self::End => Some(RelayEventName::AllowanceEnded),
            Self::Unchanged => None,
        }
    }
}

/// Decides at `now` what a person who asks for that length gets; `has_one` says whether there is one that lasts.
#[must_use]
pub fn decide(has_one: bool, length: Length, now: Timestamp) -> Outcome {
    match length {
        Length::Quarter | Length::Hour => {
            Outcome::Give(now.plus(Duration::from_mins(length.minutes().into())))
        }
        // Only what exists is ended, so that the audit log has no end without a beginning.
        Length::Ended if has_one => Outcome::End,
        Length::Ended => Outcome::Unchanged,
    }
}
