//! When a WebSocket is pinged, and when its peer has gone.

use std::time::Duration;

use tokio::time::{Interval, MissedTickBehavior, interval};

/// How many pings in a row may go unanswered.
const UNANSWERED_MAX: u32 = 2;

/// The pings of one socket.
pub(super) struct Pings {
    ticks: Interval,
    unanswered: u32,
    /// A message was sent, and nothing was heard since.
    has_sent: bool,
}

impl Pings {
    /// Returns pings that are `every` apart, the first of which is due after that time.
    pub(super) fn new(every: Duration) -> Self {
        let mut ticks = interval(every);
        // After the machine has slept, one ping is due and not one for each interval that was missed.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick of an interval would be due at once.
        ticks.reset();
        Self { ticks, unanswered: 0, has_sent: false }
    }

    /// Notes that a message was sent.
    pub(super) const fn note_sent(&mut self) {
        self.has_sent = true;
    }

    /// Notes that something was received. After a message of ours it says what the answer to a ping would: the next ping
    /// is due a whole interval later.
    pub(super) fn note_heard(&mut self) {
        self.unanswered = 0;
        if std::mem::take(&mut self.has_sent) {
            self.ticks.reset();
        }
    }

    /// Waits until a ping is due.
    pub(super) async fn due(&mut self) {
        self.ticks.tick().await;
    }

    /// Counts a ping, if its answer will be read. Returns `false` when too many went unanswered: the peer has gone.
    pub(super) fn begin(&mut self, is_answer_read: bool) -> bool {
        if self.unanswered == UNANSWERED_MAX {
            return false;
        }
        // What is not read cannot be missed: the peer's answer may be waiting behind its message.
        self.unanswered += u32::from(is_answer_read);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_has_gone_after_two_pings_without_a_word() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _inside = runtime.enter();
        let mut pings = Pings::new(Duration::from_secs(3_600));
        assert!(pings.begin(true) && pings.begin(false) && pings.begin(true));
        assert!(!pings.begin(true));
        pings.note_heard();
        assert!(pings.begin(true));
    }
}
