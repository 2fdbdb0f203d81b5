//! Upkeep: what a sweep deleted, when workers last looked, and what waits.

use crate::domain::lease::RowHandle;
use crate::domain::time::Timestamp;

/// Rows of one kind that one sweep deletes at most.
pub(in crate::store) const SWEEP_MAX: u32 = 100;

/// Release runs that one sweep looks at: each has some ten rows, and what is needed is looked at again and again.
pub(in crate::store) const RELEASES_SWEEP_MAX: u32 = 100;

/// Rows a count looks at before it gives up and says "at least so many".
pub(in crate::store) const COUNT_MAX: i64 = 10_000;

/// How many rows a sweep deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Completed jobs.
    pub jobs: usize,
    /// Inbox rows without a job.
    pub deliveries: usize,
    /// Finished outbox messages.
    pub messages: usize,
    /// Finished reconciliation items.
    pub items: usize,
    /// Finished release runs, each with what belongs to it.
    pub releases: usize,
    /// Used request states that have expired.
    pub request_states: usize,
    /// Finished proposals of the relay, each with what hangs on it.
    pub relay_proposals: usize,
    /// Sessions of the relay that have ended, without proposals.
    pub relay_sessions: usize,
    /// Finished pairings of the relay.
    pub relay_pairings: usize,
}

impl Swept {
    /// Returns the count of each kind, with the word that names it.
    #[must_use]
    pub const fn kinds(&self) -> [(&'static str, usize); 9] {
        [
            ("job", self.jobs),
            ("delivery", self.deliveries),
            ("outbox", self.messages),
            ("reconciliation", self.items),
            ("release", self.releases),
            ("request_state", self.request_states),
            ("relay_proposal", self.relay_proposals),
            ("relay_session", self.relay_sessions),
            ("relay_pairing", self.relay_pairings),
        ]
    }

    /// Says whether another sweep would find more.
    #[must_use]
    pub fn may_have_more(&self) -> bool {
        let max = usize::try_from(SWEEP_MAX).unwrap_or(usize::MAX);
        // A kind that used up its limit may have more rows; one that did not is done.
        self.kinds().into_iter().any(|(_, count)| count >= max)
    }
}

/// Where the last sweep of release runs ended: at one that finished then, in this row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReleasesSwept {
    pub(in crate::store) finished_at: Timestamp,
    pub(in crate::store) row: RowHandle,
}

/// What the database file and its log take up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreSize {
    /// Pages of the database, those included that are only in the log until now.
    pub bytes: u64,
    /// Those of them that hold nothing: new rows use them first.
    pub free_bytes: u64,
}

/// When a worker last looked, and last succeeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    /// Nothing until the first.
    pub last_poll_at: Option<Timestamp>,
    /// Nothing until the first.
    pub last_success_at: Option<Timestamp>,
}

/// What waits, counted up to ten thousand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Jobs that are available.
    pub jobs_available: i64,
    /// When the oldest available job became due.
    pub oldest_job_at: Option<Timestamp>,
    /// Messages that are available.
    pub messages_available: i64,
    /// When the oldest available message became due.
    pub oldest_message_at: Option<Timestamp>,
    /// Dead letters that are open.
    pub dead_letters_open: i64,
}

impl Backlog {
    /// Returns how many jobs and messages wait, and whether both were counted to their end.
    #[must_use]
    pub fn waiting(&self) -> (u64, bool) {
        // A count that reached the bound stopped there, so the true number is unknown.
        let whole = self.jobs_available < COUNT_MAX && self.messages_available < COUNT_MAX;
        let waiting = self.jobs_available.saturating_add(self.messages_available);
        (u64::try_from(waiting).unwrap_or(0), whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_batch_of_any_kind_may_have_more_behind_it() {
        let max = usize::try_from(SWEEP_MAX).expect("a small number");
        let swept = |[jobs, deliveries, messages, items, releases, rest @ ..]: [usize; 9]| {
            let [request_states, relay_proposals, relay_sessions, relay_pairings] = rest;
            Swept {
                jobs,
                deliveries,
                messages,
                items,
                releases,
                request_states,
                relay_proposals,
                relay_sessions,
                relay_pairings,
            }
        };
        assert!(!swept([0; 9]).may_have_more());
        assert!(!swept([max - 1; 9]).may_have_more());
        for kind in 0..9 {
            let mut counts = [0; 9];
            counts[kind] = max;
            assert!(swept(counts).may_have_more(), "{kind}");
        }
    }
    #[test]
    fn what_was_counted_to_the_bound_may_be_more() {
        let backlog = |jobs_available, messages_available| {
            let (oldest_job_at, oldest_message_at) = (None, None);
            let dead_letters_open = 0;
            let backlog = Backlog {
                jobs_available,
                oldest_job_at,
                messages_available,
                oldest_message_at,
                dead_letters_open,
            };
            backlog.waiting()
        };
        assert_eq!(backlog(2, 3), (5, true));
        assert!(backlog(COUNT_MAX - 1, COUNT_MAX - 1).1);
        assert!(!backlog(COUNT_MAX, 0).1 && !backlog(0, COUNT_MAX).1);
    }
}
