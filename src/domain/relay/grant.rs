//! Grants: the right to carry out one invocation once, and who may take it.

use std::time::Duration;

use crate::domain::relay::{RelayReason, session};
use crate::domain::time::Timestamp;

words! {
    /// The state of a grant.
    State {
        /// It can be claimed, once its turn has come.
        Unused => "unused",
        /// Its invocation is being carried out.
        Claimed => "claimed",
        /// It was claimed and is over: its invocation is settled or UNKNOWN.
        Spent => "spent",
        /// It was never claimed and never will be.
        Dead => "dead",
    }
}

words! {
    /// What happens to a grant with a change of its invocation.
    Change {
        /// It comes into being, unused.
        Mint => "minted",
        /// It is claimed.
        Claim => "claimed",
        /// It is over after its claim.
        Spend => "spent",
        /// It is over without a claim.
        Kill => "dead",
    }
}

/// Returns the state after a change; `None` where the change is not possible.
#[must_use]
pub const fn apply(state: Option<State>, change: Change) -> Option<State> {
    match (state, change) {
        (None, Change::Mint) => Some(State::Unused),
        (Some(State::Unused), Change::Claim) => Some(State::Claimed),
        (Some(State::Claimed), Change::Spend) => Some(State::Spent),
        (Some(State::Unused), Change::Kill) => Some(State::Dead),
        _ => None,
    }
}

/// Returns until when a grant that is minted at `now` can be claimed, which is for `time`. Only that of the first
/// step has its turn at once; the others have no end yet.
#[must_use]
pub fn expires_at(position: usize, now: Timestamp, time: Duration) -> Option<Timestamp> {
    (position == 0).then(|| now.plus(time))
}

/// What is known when a process wants to claim a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantClaim {
    /// The state of the grant.
    pub grant: State,
    /// Until when it can be claimed; `None` before its turn.
    pub expires_at: Option<Timestamp>,
    /// The state of its session.
    pub session: session::State,
    /// The epoch of its session.
    pub epoch: u32,
    /// The epoch of the socket that the claiming process holds.
    pub held_epoch: u32,
    /// No grant of the session is claimed.
    pub is_session_free: bool,
    /// No grant of the lane is claimed: of the same subject, tool and file.
    pub is_lane_free: bool,
}

/// Returns why a grant cannot be claimed at `now`; `None` when it can. The store says the same in one
/// conditional update with two unique indexes.
#[must_use]
pub fn refusal(claim: &GrantClaim, now: Timestamp) -> Option<RelayReason> {
    if claim.grant != State::Unused {
        return Some(RelayReason::GrantGone);
    }
    let Some(expires_at) = claim.expires_at else {
        return Some(RelayReason::NotItsTurn);
    };
    if now >= expires_at {
        Some(RelayReason::GrantExpired)
    } else if claim.session != session::State::Connected {
        Some(RelayReason::NotConnected)
    } else if claim.held_epoch != claim.epoch {
        Some(RelayReason::EpochChanged)
    } else if !claim.is_session_free {
        Some(RelayReason::SessionBusy)
    } else if !claim.is_lane_free {
        Some(RelayReason::LaneBusy)
    } else {
        None
    }
}
