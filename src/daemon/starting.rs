//! The start, on a thread of its own, so that a signal ends it while it waits for a disk or for the lock of another process.
//! As long as the thread works, the supervisor is asked for more time.

use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sd_notify::NotifyState;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::time::{interval, timeout};

use super::signals::Signals;
use super::{Error, Running, tell_supervisor};
use crate::runtime::thread;

/// How long a start may still take after a signal. One that ends by then is followed by a stop in order; any other is
/// cut off like a killed process (docs/decisions/96-requests-at-a-stop.md).
const REST: Duration = Duration::from_secs(1);
/// How often we look whether the start has got on.
const LOOK_EVERY: Duration = Duration::from_secs(3);
/// What a start that has got on asks for, in microseconds from then: a sync of all that the system keeps in memory takes
/// less, on a slow disk too. The unit's `TimeoutStartSec=` is the same.
pub(super) const EXTENSION_US: u32 = 120_000_000;

/// Starts the daemon. Returns it, unless a signal cut off the start, and the signal that came meanwhile.
pub(super) fn start(
    runtime: &Runtime,
    signals: &mut Signals,
    start: impl FnOnce() -> Result<Running, Error> + Send + 'static,
) -> Result<(Option<Running>, Option<&'static str>), Error> {
    let (tell, mut ended) = oneshot::channel::<()>();
    let (tell_work, work) = oneshot::channel();
    let starting = thread::spawn("start", move || {
        drop(tell_work.send(Work::of_this_thread()));
        let started = start();
        drop(tell);
        started
    });
    let starting =
        starting.map_err(|error| Error::Start("as many threads as it may need", error))?;
    let signal = runtime.block_on(async {
        let mut work = work.await.ok();
        let mut looks = interval(LOOK_EVERY);
        loop {
            tokio::select! {
                // In this order: a signal that came during a start that has ended is for the daemon.
                biased;
                _ = &mut ended => break None,
                signal = signals.stop_requested() => break Some(signal),
                _ = looks.tick() => {
                    if work.as_mut().is_some_and(Work::has_got_on) {
                        tell_supervisor(&[NotifyState::ExtendTimeoutUsec(EXTENSION_US)]);
                    }
                }
            }
        }
    });
    if let Some(signal) = signal {
        tell_supervisor(&[NotifyState::Stopping]);
        log::info!(event = "daemon.stopping", signal; "svcd is stopping before it is ready");
        if runtime.block_on(async { timeout(REST, ended).await }).is_err() {
            return Ok((None, Some(signal)));
        }
    }
    match starting.join() {
        Ok(started) => Ok((Some(started?), signal)),
        Err(panic) => resume_unwind(panic),
    }
}

/// The work of a thread, by the processor time it uses: that grows with each page it reads, writes or syncs, and not while
/// it waits for a disk that hangs. Reasons: `docs/decisions/115-starts-that-take-long.md`.
struct Work {
    /// Its file in `/proc`.
    stat: Option<PathBuf>,
    seen: Option<u64>,
}

impl Work {
    fn of_this_thread() -> Self {
        let task = fs::read_link("/proc/thread-self").ok();
        let stat = task.map(|task| Path::new("/proc").join(task).join("stat"));
        let mut work = Self { stat, seen: None };
        work.seen = work.ticks();
        work
    }

    /// Says whether there was any since the last look. Also where the system does not tell: a start that is ended again
    /// and again is worse than one that is not ended.
    fn has_got_on(&mut self) -> bool {
        let now = self.ticks();
        let has_got_on = now.is_none() || now != self.seen;
        self.seen = now;
        has_got_on
    }

    /// Returns the time it has worked, for itself and in the kernel, in hundredths of a second.
    fn ticks(&self) -> Option<u64> {
        let stat = fs::read_to_string(self.stat.as_ref()?).ok()?;
        // The name, in brackets, may hold anything.
        let (_, behind_name) = stat.rsplit_once(')')?;
        let mut times = behind_name.split_ascii_whitespace().skip(11);
        let (user, system): (u64, u64) = (times.next()?.parse().ok()?, times.next()?.parse().ok()?);
        Some(user.saturating_add(system))
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_thread_gets_on_while_it_works_and_not_while_it_waits() {
        let (tell, told) = channel();
        let (go, wait) = channel::<()>();
        let thread = thread::spawn("test-work", move || {
            tell.send(Work::of_this_thread()).unwrap();
            while wait.recv().is_ok() {
                (0..100_000).map(black_box).for_each(|_: u64| {});
                tell.send(Work { stat: None, seen: None }).unwrap();
            }
        })
        .unwrap();
        let mut work = told.recv().unwrap();
        assert!(work.stat.is_some());
        // One step may take less than what is counted.
        loop {
            go.send(()).unwrap();
            told.recv().unwrap();
            if work.has_got_on() {
                break;
            }
        }
        while work.has_got_on() {}
        assert!(!work.has_got_on(), "it waits");
        drop(go);
        thread.join().unwrap();
        assert!(work.has_got_on(), "what is not known is taken for work");
    }
}
