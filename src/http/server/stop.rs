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
        // Each receiver remembers which value it has seen, so every waiter needs its own.
        let mut stopping = self.0.clone();
        stopping.wait_for(Option::is_some).await.ok().and_then(|grace| *grace).unwrap_or_default()
    }

    /// Waits for `work`, or returns `None` once the stop has begun. What is complete by then is returned all the same.
    pub(super) async fn or_stopped<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            // In this order: of two that are complete, any would be taken.
            biased;
            done = work => Some(done),
            _grace = self.wait() => None,
        }
    }

    /// Returns what completes once the stop has begun.
    pub(super) fn stopped(&self) -> Stopped {
        let stopping = self.clone();
        Box::pin(async move {
            stopping.wait().await;
        })
    }
}

#[cfg(test)]
mod tests {
    use std::future;

    use super::*;

    #[test]
    fn what_is_complete_is_returned_although_the_stop_has_begun() {
        let (stop, stopping) = Stopping::channel();
        stop.send(Some(Duration::ZERO)).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for _ in 0..100 {
            let done = stopping.or_stopped(future::ready("answer"));
            assert_eq!(runtime.block_on(done), Some("answer"));
        }
        assert_eq!(runtime.block_on(stopping.or_stopped(future::pending::<()>())), None);
    }
}
