//! Lost webhooks: which of the deliveries that failed the forge is asked to send again. The forge does
//! not send one again by itself; it does when asked, under the same delivery id, for some days.

use std::time::Duration;

use crate::domain::delivery::DeliveryId;
use crate::domain::id::HookDeliveryId;
use crate::domain::time::Timestamp;

/// How far back the forge sends again.
pub const WINDOW: Duration = Duration::from_hours(3 * 24);
/// Requests for one delivery. With the waits between them they reach beyond the window.
pub const REQUESTS_MAX: u32 = 8;
/// Wait after the first request; each further one is three times as long.
/// Why our own count decides: `docs/decisions/12-lost-webhooks.md`.
const WAIT: Duration = Duration::from_mins(5);

/// A delivery that failed. Source: the forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedDelivery {
    /// The forge's number of this try to deliver it.
    pub id: HookDeliveryId,
    /// What names it in our inbox, whatever the try.
    pub delivery: DeliveryId,
    /// When the try was made, by the forge's clock.
    pub delivered_at: Timestamp,
    /// Its event can ask something of us.
    pub is_ours: bool,
}

/// What is known of a delivery that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Its event can ask something of us.
    pub is_ours: bool,
    /// When the forge tried to deliver it.
    pub delivered_at: Timestamp,
    /// It stands in the inbox: it arrived after all, or another time.
    pub is_recorded: bool,
    /// Requests so far.
    pub request_count: u32,
    /// When the last one was made.
    pub requested_at: Option<Timestamp>,
}

words! {
    /// Why a delivery is not asked for.
    Why {
        /// Its event asks nothing of us.
        NotOurs => "not_ours",
        /// It stands in the inbox.
        Recorded => "recorded",
        /// The forge does not send it again any more.
        TooOld => "too_old",
        /// It was asked for as often as it is.
        GivenUp => "given_up",
        /// It was asked for only lately.
        AskedLately => "asked_lately",
    }
}

/// What is done about a delivery that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The forge is asked to send it again.
    Ask,
    /// Nothing.
    Leave(Why),
}

/// Decides about a delivery that failed, at `now`.
#[must_use]
pub fn decide(facts: &Facts, now: Timestamp) -> Decision {
    if !facts.is_ours {
        return Decision::Leave(Why::NotOurs);
    }
    if facts.is_recorded {
        return Decision::Leave(Why::Recorded);
    }
    if is_too_old(facts.delivered_at, now) {
        return Decision::Leave(Why::TooOld);
    }
    if facts.request_count >= REQUESTS_MAX {
        return Decision::Leave(Why::GivenUp);
    }
    // A request that lies ahead was noted by a clock that was.
    let waits = |at: Timestamp| at <= now && now < at.plus(wait_after(facts.request_count));
    if facts.requested_at.is_some_and(waits) {
        return Decision::Leave(Why::AskedLately);
    }
    Decision::Ask
}

/// Says whether the forge does not send again any more what it tried to deliver then.
#[must_use]
pub fn is_too_old(delivered_at: Timestamp, now: Timestamp) -> bool {
    delivered_at < now.minus(WINDOW)
}

fn wait_after(requests: u32) -> Duration {
    // 5 min, 15 min, 45 min, 2 h, 7 h, 20 h, 61 h: the sum is beyond the three days.
    WAIT.saturating_mul(3_u32.saturating_pow(requests.saturating_sub(1)))
}
