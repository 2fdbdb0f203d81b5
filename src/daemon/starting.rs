//! The start, on a thread of its own, so that a signal ends it while it waits for a disk or for the lock of another process.

use std::panic::resume_unwind;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::signals::Signals;
use super::{Error, Running, tell_supervisor};
use crate::runtime::thread;

/// How long a start may still take after a signal. One that ends by then is followed by a stop in order; any other is
/// cut off like a killed process (docs/decisions/96-requests-at-a-stop.md).
const REST: Duration = Duration::from_secs(1);

/// Starts the daemon. Returns it, unless a signal cut off the start, and the signal that came meanwhile.
pub(super) fn start(
    runtime: &Runtime,
    signals: &mut Signals,
    start: impl FnOnce() -> Result<Running, Error> + Send + 'static,
) -> Result<(Option<Running>, Option<&'static str>), Error> {
    let (tell, mut ended) = oneshot::channel::<()>();
    let starting = thread::spawn("start", move || {
        let started = start();
        drop(tell);
        started
    });
    let starting =
        starting.map_err(|error| Error::Start("as many threads as it may need", error))?;
    let signal = runtime.block_on(async {
        tokio::select! {
            // In this order: a signal that came during a start that has ended is for the daemon.
            biased;
            _ = &mut ended => None,
            signal = signals.stop_requested() => Some(signal),
        }
    });
    if let Some(signal) = signal {
        tell_supervisor(&[sd_notify::NotifyState::Stopping]);
        log::info!(event = "daemon.stopping", signal; "the daemon is stopping before it is ready");
        if runtime.block_on(async { timeout(REST, ended).await }).is_err() {
            return Ok((None, Some(signal)));
        }
    }
    match starting.join() {
        Ok(started) => Ok((Some(started?), signal)),
        Err(panic) => resume_unwind(panic),
    }
}
