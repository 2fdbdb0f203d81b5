//! The stop of a server, as those learn of it who have to end by themselves.

use std::pin::Pin;
use std::time::Duration;

use tokio::sync::watch::{Receiver, Sender, channel};

/// Completes once the stop has begun.
pub(super) type Stopped = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Begins the stop, by being sent the time that running exchanges have, or by being dropped.
pub(super) type Stop = Sender<Option<Duration>>;

/// Tells of the stop.
#[derive(Clone, Debug)]
pub(super) struct Stopping(Receiver<Option<Duration>>);

impl Stopping {
    /// Returns both ends.
    pub(super) fn channel() -> (Stop, Self) {
        let (stop, stopping) = channel(None);
        (stop, Self(stopping))
    }

    /// Waits for the stop; returns the time that running exchanges have, which is none when the server was
    /// dropped.
    pub(super) async fn wait(&self) -> Duration {
        let mut stopping = self.0.clone();
        stopping.wait_for(Option::is_some).await.ok().and_then(|grace| *grace).unwrap_or_default()
    }

    /// Returns what completes once the stop has begun.
    pub(super) fn stopped(&self) -> Stopped {
        let stopping = self.clone();
        Box::pin(async move {
            stopping.wait().await;
        })
    }
}
