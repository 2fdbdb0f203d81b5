//! The signals that matter: two end the daemon, and one makes it read its secrets again.

use std::io;

use sd_notify::NotifyState;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::tell_supervisor;
use crate::app::App;

/// Signals that came since they were installed, each kind once.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
    /// A file that grew too large is an error of that write; the system would end the process.
    _file_size: Signal,
}

impl Signals {
    pub(super) fn install() -> io::Result<Self> {
        const SIGXFSZ: i32 = 25;
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
            _file_size: signal(SignalKind::from_raw(SIGXFSZ))?,
        })
    }

    /// Waits for a signal that ends the daemon. A reload that is requested meanwhile is done by [`Self::until_stop`].
    pub(super) async fn stop_requested(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }

    /// Reloads whenever it is asked for, until the end is; returns the signal that asked for it.
    pub(super) async fn until_stop(&mut self, app: &App) -> &'static str {
        loop {
            tokio::select! {
                // An end that was asked for waits for no reload.
                biased;
                _ = self.terminate.recv() => return "SIGTERM",
                _ = self.interrupt.recv() => return "SIGINT",
                _ = self.hangup.recv() => reload(app),
            }
        }
    }
}

/// The outcome goes to the log: a signal has no other answer.
fn reload(app: &App) {
    let mut began = vec![NotifyState::Reloading];
    // A service of type notify-reload must say when it began.
    began.extend(NotifyState::monotonic_usec_now());
    tell_supervisor(&began);
    drop(app.reload());
    tell_supervisor(&[NotifyState::Ready]);
}
