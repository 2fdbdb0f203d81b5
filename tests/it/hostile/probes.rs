//! What a peer of good will sees meanwhile: how long its questions take on every surface, and what
//! the daemon holds.

use std::fs;
use std::time::Duration;

use svc::runtime::clock::{Clock as _, SystemClock};

use crate::daemon::ask::{Ask, Endpoint};
use crate::daemon::process::Daemon;

/// What half of the questions must keep. The machine that runs the tests is shared with all other
/// tests, so that the slowest few measure the machine; those have [`WORST`].
const BOUND: Duration = Duration::from_millis(100);
/// What 99 of 100 questions must keep.
const WORST: Duration = Duration::from_secs(2);

/// Times of answers.
#[derive(Default)]
pub(crate) struct Probes(Vec<Duration>);

impl Probes {
    /// Asks an endpoint whether the daemon lives; it must answer.
    pub(crate) fn ask(&mut self, endpoint: &Endpoint, after: &str) {
        self.ask_for("/health/live", endpoint, after);
    }

    /// Asks an endpoint a question that must be answered well.
    pub(super) fn ask_for(&mut self, path: &str, endpoint: &Endpoint, after: &str) {
        let clock = SystemClock::new();
        let answer = endpoint
            .try_ask(&Ask::get(path))
            .unwrap_or_else(|error| panic!("after {after}, {endpoint:?} is not served: {error}"));
        self.0.push(clock.monotonic());
        assert_eq!(answer.status, 200, "after {after}, on {endpoint:?}: {answer:?}");
    }

    /// Takes the time of something else that a peer of good will does.
    pub(crate) fn time(&mut self, act: impl FnOnce()) {
        let clock = SystemClock::new();
        act();
        self.0.push(clock.monotonic());
    }

    /// Asks every endpoint.
    pub(super) fn ask_all(&mut self, daemon: &Daemon, after: &str) {
        for endpoint in endpoints(daemon) {
            self.ask(&endpoint, after);
        }
    }

    /// Checks the bounds; returns a line for people.
    pub(crate) fn verdict(mut self) -> String {
        self.0.sort();
        let at = |percent: usize| self.0[(self.0.len() - 1) * percent / 100];
        let (median, p99, most) = (at(50), at(99), at(100));
        let line = format!("{} probes: median {median:?}, p99 {p99:?}, max {most:?}", self.0.len());
        assert!(median <= BOUND && p99 <= WORST, "{line}");
        line
    }
}

pub(super) fn endpoints(daemon: &Daemon) -> [Endpoint; 3] {
    let [control, operator] = daemon.operator_endpoints();
    [daemon.public.clone(), operator, control]
}

/// What the process holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) threads: usize,
    pub(crate) rss_kib: usize,
    pub(crate) descriptors: usize,
}

impl Held {
    pub(crate) fn of(daemon: &Daemon) -> Self {
        let folder = format!("/proc/{}/fd", daemon.pid().as_raw_nonzero());
        let descriptors = fs::read_dir(folder).unwrap().count();
        let number = |name| status(daemon, name);
        Self { threads: number("Threads:"), rss_kib: number("VmRSS:"), descriptors }
    }

    /// Returns the most memory that was resident, since the start or since the peak was forgotten.
    pub(super) fn peak_kib(daemon: &Daemon) -> usize {
        status(daemon, "VmHWM:")
    }

    /// Checks that what is held did not grow with what peers did: at most so many threads, and
    /// 64 MiB more than before.
    pub(super) fn assert_bounded(self, before: Self, threads_max: usize) {
        assert!(self.threads <= threads_max, "{self:?}, before {before:?}");
        assert!(self.rss_kib <= before.rss_kib + (64 << 10), "{self:?}, before {before:?}");
    }
}

/// Returns a number from what the system says of the process.
fn status(daemon: &Daemon, name: &str) -> usize {
    let path = format!("/proc/{}/status", daemon.pid().as_raw_nonzero());
    let status = fs::read_to_string(path).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// Checks that the daemon is the same process, and that none of its threads panicked.
pub(crate) fn assert_sound(daemon: &mut Daemon, after: &str) {
    assert!(daemon.is_running(), "after {after}: {}", daemon.log());
    assert!(!daemon.log().contains("panicked"), "after {after}: {}", daemon.log());
}
