//! The evaluator: snapshots in, transitions out. What it remembers is of this process; what passes
//! between two snapshots is measured by monotonic time, so a clock that is set cannot fire anything.

use std::time::Duration;

use crate::domain::slo::history::History;
use crate::domain::slo::{Gate, Health, POLICY, Reading, Rule, Side, Snapshot};
use crate::domain::time::Timestamp;

/// When a snapshot was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// What is shown.
    pub wall: Timestamp,
    /// What is measured by.
    pub monotonic: Duration,
}

words! {
    /// State of a signal.
    SignalState {
        /// Its value is not bad.
        Inactive => "inactive",
        /// Its value is bad, and its gate is not satisfied yet.
        Pending => "pending",
        /// Its gate was satisfied, and its value has not been healthy since.
        Firing => "firing",
    }
}

/// Which way a signal went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It satisfied its gate for the first time.
    Firing,
    /// It was active, and its value is healthy again.
    Recovered,
}

/// A signal began or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// Whose transition it is.
    pub rule: &'static Rule,
    /// Which way it went.
    pub turn: Turn,
    /// The value that decided.
    pub value: u64,
}

/// One signal as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalStatus {
    /// Its row of the policy.
    pub rule: &'static Rule,
    pub state: SignalState,
    /// Since when it is in that state; nothing before the first snapshot.
    pub since: Option<Timestamp>,
    /// Its last value; nothing until one could be read.
    pub value: Option<u64>,
}

/// All signals as they stood after one snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SloReport {
    /// When the snapshot was taken.
    pub evaluated_at: Option<Timestamp>,
    /// One for each row of the policy, in its order.
    pub signals: Vec<SignalStatus>,
}

impl SloReport {
    /// Returns the health of the service.
    #[must_use]
    pub fn health(&self) -> Health {
        Health::of(self.firing().map(|status| status.rule.severity))
    }

    /// Returns the signals that fire.
    pub fn firing(&self) -> impl Iterator<Item = &SignalStatus> {
        self.signals.iter().filter(|status| status.state == SignalState::Firing)
    }
}

/// What the gates remember, and what they came to.
#[derive(Clone, Debug)]
pub struct Evaluator {
    tracks: Vec<Track>,
    evaluated_at: Option<Timestamp>,
}

impl Default for Evaluator {
    fn default() -> Self {
        Self { tracks: POLICY.iter().map(Track::new).collect(), evaluated_at: None }
    }
}

impl Evaluator {
    /// Takes in a snapshot; returns what began and what ended.
    pub fn evaluate(&mut self, snapshot: &Snapshot, now: Now) -> Vec<Transition> {
        self.evaluated_at = Some(now.wall);
        let observe = |track: &mut Track| {
            let reading = snapshot.reading(track.status.rule.signal);
            track.observe(reading, now)
        };
        self.tracks.iter_mut().filter_map(observe).collect()
    }

    /// Returns how everything stands.
    #[must_use]
    pub fn report(&self) -> SloReport {
        let signals = self.tracks.iter().map(|track| track.status).collect();
        SloReport { evaluated_at: self.evaluated_at, signals }
    }
}

/// What one gate remembers.
#[derive(Clone, Debug)]
struct Track {
    status: SignalStatus,
    /// Levels, for the gates that use a window.
    history: Option<History>,
    /// Since when the value is bad.
    bad_since: Option<Duration>,
    /// In how many snapshots in a row the value was bad.
    bad_count: u32,
}

/// A value as its gate compares it.
struct Seen {
    value: u64,
    bad: bool,
    healthy: bool,
}

impl Track {
    fn new(rule: &'static Rule) -> Self {
        let history = match rule.gate {
            Gate::Trend(window) | Gate::Volume(window) => Some(History::new(window)),
            Gate::Duration(_) | Gate::Consecutive(_) => None,
        };
        let status = SignalStatus { rule, state: SignalState::Inactive, since: None, value: None };
        Self { status, history, bad_since: None, bad_count: 0 }
    }

    /// Looks at one reading. A missing one leaves everything as it was.
    fn observe(&mut self, reading: Reading, now: Now) -> Option<Transition> {
        if self.status.since.is_none() {
            self.status.since = Some(now.wall);
        }
        // Before the return below, so that the history also grows while the signal fires.
        let Seen { value, bad, healthy } = self.see(reading, now.monotonic)?;
        self.status.value = Some(value);
        if self.status.state == SignalState::Firing {
            return healthy.then(|| {
                (self.bad_since, self.bad_count) = (None, 0);
                self.enter(SignalState::Inactive, now);
                self.transition(Turn::Recovered, value)
            });
        }
        self.remember(bad, now.monotonic);
        let state = match (bad, self.is_satisfied(now.monotonic)) {
            (false, _) => SignalState::Inactive,
            (true, false) => SignalState::Pending,
            (true, true) => SignalState::Firing,
        };
        self.enter(state, now);
        (state == SignalState::Firing).then(|| self.transition(Turn::Firing, value))
    }

    /// Turns a reading into the value the gate is about.
    fn see(&mut self, reading: Reading, now: Duration) -> Option<Seen> {
        let rule = self.status.rule;
        let (level, exact) = match reading {
            Reading::Missing => return None,
            Reading::Exact(level) => (level, true),
            Reading::AtLeast(level) => (level, false),
        };
        let (value, grows) = match &mut self.history {
            None => (level, true),
            Some(history) => {
                history.note(now, level);
                let first = history.first().unwrap_or(level);
                // A history shorter than half a window has no middle, and no trend is seen in it.
                let middle = history.middle(now).unwrap_or(first);
                let trend = matches!(rule.gate, Gate::Trend(_));
                (level.saturating_sub(first), !trend || (first < middle && middle < level))
            }
        };
        // Of a count that was cut short only "so much or more" is known.
        let bad = rule.is_bad(value) && grows && (exact || rule.side == Side::High);
        let healthy = rule.is_healthy(value) && (exact || rule.side == Side::Low);
        Some(Seen { value, bad, healthy })
    }

    fn remember(&mut self, bad: bool, now: Duration) {
        if bad {
            self.bad_since.get_or_insert(now);
            self.bad_count = self.bad_count.saturating_add(1);
        } else {
            (self.bad_since, self.bad_count) = (None, 0);
        }
    }

    fn is_satisfied(&self, now: Duration) -> bool {
        match self.status.rule.gate {
            Gate::Duration(time) => {
                self.bad_since.is_some_and(|since| now.saturating_sub(since) >= time)
            }
            Gate::Consecutive(count) => self.bad_count >= count,
            Gate::Trend(_) => self.history.as_ref().is_some_and(|history| history.is_whole(now)),
            Gate::Volume(_) => true,
        }
    }

    fn enter(&mut self, state: SignalState, now: Now) {
        if self.status.state != state {
            self.status.state = state;
            self.status.since = Some(now.wall);
        }
    }

    const fn transition(&self, turn: Turn, value: u64) -> Transition {
        Transition { rule: self.status.rule, turn, value }
    }
}

#[cfg(test)]
mod tests;
