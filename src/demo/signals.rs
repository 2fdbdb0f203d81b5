//! What the person in front of the demonstration asks for, by a signal or a line, wherever it is waiting.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1};
use signal_hook::flag::register;

use crate::runtime::thread;

/// Between two looks at what was asked for.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A line of standard input; none at its end.
pub(super) type InputLine = io::Result<Option<String>>;

/// The signals that were sent. While this is there, none of them ends the process.
pub(super) struct Signals {
    stop: Arc<AtomicBool>,
    more: Arc<AtomicBool>,
}

impl Signals {
    pub(super) fn install() -> io::Result<Self> {
        let signals = Self { stop: Arc::default(), more: Arc::default() };
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            register(signal, Arc::clone(&signals.stop))?;
        }
        register(SIGUSR1, Arc::clone(&signals.more))?;
        Ok(signals)
    }

    /// Says whether the demonstration has to end.
    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Says whether one more dead letter was asked for since the last time.
    pub(super) fn take_more(&self) -> bool {
        self.more.swap(false, Ordering::Relaxed)
    }

    /// Fails once the demonstration has to end.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.stopped() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }

    /// Waits for a line, or for the end of the demonstration.
    pub(super) fn line(&self) -> InputLine {
        let line = next_line()?;
        loop {
            self.check()?;
            match line.recv_timeout(POLL_INTERVAL) {
                Ok(line) => return line,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }
}

/// Returns where the next line of standard input will arrive. A signal does not interrupt a read, so it is another thread
/// that reads.
pub(super) fn next_line() -> io::Result<Receiver<InputLine>> {
    let (sender, line) = channel();
    thread::spawn("demo-input", move || {
        let mut text = String::new();
        let read = io::stdin().read_line(&mut text);
        drop(sender.send(read.map(|bytes| (bytes > 0).then_some(text))));
    })?;
    Ok(line)
}
