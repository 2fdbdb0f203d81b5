//! Polling: asking the service again and again, for the end of something or for what has changed.
//!
//! When to ask next and when to stop is decided by [`Poll`], a value without clock or network; [`until`] carries that
//! out through [`Edge`], so that tests do not wait.
//!
//! The intervals, and what an interrupted connection means: `docs/decisions/126-watching.md`.

mod notes;

use std::ops::ControlFlow;
use std::time::Duration;

pub(crate) use notes::Notes;

use crate::cli::error::Error;
use crate::cli::exit::Exit;

/// First wait while the service does not answer; doubles with each failure, up to [`RECONNECT_MAX`].
const RECONNECT_FIRST: Duration = Duration::from_millis(250);
const RECONNECT_MAX: Duration = Duration::from_secs(10);
/// A service that has not answered for this long is not waited for any more: longer than a start with a long
/// check of the file.
const UNANSWERED_MAX: Duration = Duration::from_secs(600);
/// A request is followed by a wait of at least so many times its own length.
const REST: u32 = 4;

/// How often to ask, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    /// Wait after the first answer; grows by half with each one.
    pub(crate) shortest: Duration,
    /// What it grows to.
    pub(crate) longest: Duration,
    /// When to stop, from the beginning; `None` for never.
    pub(crate) timeout: Option<Duration>,
    /// The service answered another request just before.
    pub(crate) has_answered: bool,
}

impl Schedule {
    /// For the end of something that may come at once or much later.
    pub(crate) const fn wait(timeout: Option<Duration>, has_answered: bool) -> Self {
        let (shortest, longest) = (Duration::from_millis(100), Duration::from_secs(2));
        Self { shortest, longest, timeout, has_answered }
    }

    /// At equal intervals, without end.
    pub(crate) const fn every(interval: Duration) -> Self {
        Self { shortest: interval, longest: interval, timeout: None, has_answered: false }
    }
}

/// What comes after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// Ask again after this wait.
    Ask(Duration),
    /// The time is over.
    TimedOut,
    /// The service has not answered for too long.
    GiveUp,
}

/// A series of requests. Times are since an arbitrary start.
#[derive(Debug)]
struct Poll {
    schedule: Schedule,
    began: Duration,
    answered: Option<Duration>,
    wait: Duration,
    failures: u32,
}

impl Poll {
    fn new(schedule: Schedule, now: Duration) -> Self {
        let answered = schedule.has_answered.then_some(now);
        Self { schedule, began: now, answered, wait: schedule.shortest, failures: 0 }
    }

    /// Decides after an answer that was not the end; `took` is how long it took.
    fn answered(&mut self, now: Duration, took: Duration) -> Then {
        self.answered = Some(now);
        self.failures = 0;
        let wait = self.wait.max(took.saturating_mul(REST));
        self.wait = (self.wait + self.wait / 2).min(self.schedule.longest);
        self.ask(now, wait)
    }

    /// Decides after a request without an answer. A service is waited for only if it has answered before, because
    /// then it restarts.
    fn unanswered(&mut self, now: Duration) -> Then {
        let Some(answered) = self.answered else { return Then::GiveUp };
        if now.saturating_sub(answered) >= UNANSWERED_MAX {
            return Then::GiveUp;
        }
        let wait = RECONNECT_FIRST.saturating_mul(2_u32.saturating_pow(self.failures));
        self.failures = self.failures.saturating_add(1);
        self.ask(now, wait.min(RECONNECT_MAX))
    }

    /// Cuts a wait at the end, where one more request is made.
    fn ask(&self, now: Duration, wait: Duration) -> Then {
        let Some(timeout) = self.schedule.timeout else { return Then::Ask(wait) };
        let rest = (self.began + timeout).saturating_sub(now);
        if rest.is_zero() { Then::TimedOut } else { Then::Ask(wait.min(rest)) }
    }
}

/// What polling does besides asking.
pub(crate) trait Edge {
    /// Returns time since an arbitrary start.
    fn now(&self) -> Duration;

    /// Waits; may return earlier, if there is a reason to ask now.
    fn pause(&mut self, wait: Duration);

    /// Is told once that the service does not answer and is waited for.
    fn lost(&mut self, error: &Error);

    /// Is told that it answers again.
    fn regained(&mut self);
}

/// How polling ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Polled<T> {
    /// With the end that was waited for.
    End(T),
    /// The time was over before.
    TimedOut,
}

/// Asks until a request breaks off with an end, the time is over, or it fails for another reason than that the service
/// does not answer now.
pub(crate) fn until<T, E: Edge>(
    schedule: Schedule,
    edge: &mut E,
    mut ask: impl FnMut(&mut E) -> Result<ControlFlow<T>, Error>,
) -> Result<Polled<T>, Error> {
    let mut poll = Poll::new(schedule, edge.now());
    let mut is_lost = false;
    loop {
        let began = edge.now();
        let answer = ask(edge);
        let now = edge.now();
        let failed = match answer {
            Ok(ControlFlow::Break(end)) => return Ok(Polled::End(end)),
            Ok(ControlFlow::Continue(())) => None,
            Err(error) if is_passing(&error) => Some(error),
            Err(error) => return Err(error),
        };
        let then = match &failed {
            None => poll.answered(now, now.saturating_sub(began)),
            Some(_) => poll.unanswered(now),
        };
        match (&failed, is_lost) {
            (None, true) => edge.regained(),
            (Some(error), false) if then != Then::GiveUp => edge.lost(error),
            _ => {}
        }
        is_lost = failed.is_some();
        match (then, failed) {
            (Then::Ask(wait), _) => edge.pause(wait),
            (Then::TimedOut, _) => return Ok(Polled::TimedOut),
            (Then::GiveUp, failed) => return failed.map_or(Ok(Polled::TimedOut), Err),
        }
    }
}

/// Says whether a failure may be over soon.
pub(crate) fn is_passing(error: &Error) -> bool {
    matches!(error.exit(), Exit::Unreachable | Exit::Temporary)
}

#[cfg(test)]
mod tests;
