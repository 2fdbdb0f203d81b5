//! What a peer of good will sees meanwhile: how long its questions take on every surface, and what
//! the daemon holds.

use std::fs;
use std::time::Duration;

use svc::runtime::clock::{Clock as _, SystemClock};
use svc::simulator::Webhooks;

use crate::daemon::ask::{Ask, Endpoint};
use crate::daemon::letters;
use crate::daemon::process::Daemon;
use crate::daemon::site::Site;

/// What half of the answers may take on any machine, and 99 of 100, however fast the idle daemon is.
const LEAST: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];
/// How many times longer they may take than those of the idle daemon.
const FACTOR: u32 = 5;

/// Times of answers. The machine is shared with all other tests, so every question also goes to a daemon that no peer
/// harms: what makes both slow is the machine.
pub(crate) struct Probes {
    times: Vec<Duration>,
    idle_times: Vec<Duration>,
    idle: Daemon,
    idle_site: Site,
}

impl Probes {
    pub(crate) fn new() -> Self {
        let mut idle_site = Site::new();
        idle_site.set("SVC_LOG_LEVEL", "info");
        let idle = idle_site.start();
        Self { times: Vec::new(), idle_times: Vec::new(), idle, idle_site }
    }

    /// Asks an endpoint whether the daemon lives; it must answer.
    pub(crate) fn ask(&mut self, endpoint: &Endpoint, after: &str) {
        self.ask_for("/health/live", endpoint, after);
    }

    /// Asks an endpoint a question that must be answered well.
    pub(super) fn ask_for(&mut self, path: &str, endpoint: &Endpoint, after: &str) {
        let idle = match endpoint {
            Endpoint::Tcp(_) => &self.idle.public,
            Endpoint::Unix(_) => &self.idle.control,
        };
        self.idle_times.push(time(|| asked(path, idle, "nothing")));
        self.times.push(time(|| asked(path, endpoint, after)));
    }

    /// Delivers the push of a tag, which must be taken in.
    pub(crate) fn push(&mut self, daemon: &Daemon, webhooks: &Webhooks, number: usize) {
        self.idle_times.push(time(|| letters::push(&self.idle, &self.idle_site.webhooks, number)));
        self.times.push(time(|| letters::push(daemon, webhooks, number)));
    }

    /// Asks every endpoint.
    pub(super) fn ask_all(&mut self, daemon: &Daemon, after: &str) {
        for endpoint in endpoints(daemon) {
            self.ask(&endpoint, after);
        }
    }

    /// Checks the bounds; returns a line for people.
    pub(crate) fn verdict(self) -> String {
        let (own, idle) = (percentiles(self.times), percentiles(self.idle_times));
        let line = format!("median and p99 of the answers {own:?}, of an idle daemon {idle:?}");
        for ((own, idle), least) in own.into_iter().zip(idle).zip(LEAST) {
            assert!(own <= least.max(FACTOR * idle), "{line}");
        }
        line
    }
}

fn asked(path: &str, endpoint: &Endpoint, after: &str) {
    let answer = endpoint
        .try_ask(&Ask::get(path))
        .unwrap_or_else(|error| panic!("after {after}, {endpoint:?} is not served: {error}"));
    assert_eq!(answer.status, 200, "after {after}, on {endpoint:?}: {answer:?}");
}

fn time(act: impl FnOnce()) -> Duration {
    let clock = SystemClock::new();
    act();
    clock.monotonic()
}

/// Returns the median, and what 99 of 100 keep.
fn percentiles(mut times: Vec<Duration>) -> [Duration; 2] {
    times.sort();
    [50, 99].map(|percent| times[(times.len() - 1) * percent / 100])
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
