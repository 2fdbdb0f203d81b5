//! The stop of a server, as those learn of it who have to end by themselves, and what is waited for then.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::watch::{Receiver, Sender, channel};
use tokio::time::{sleep, timeout};

use super::limits::TcpLimits;
use super::pending_heads::PendingHead;

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

    /// Says whether the stop has begun.
    pub(super) fn has_begun(&self) -> bool {
        // It has, too, once the server was dropped.
        self.0.borrow().is_some() || self.0.has_changed().is_err()
    }

    /// Waits for the stop, and for so much longer.
    pub(super) async fn wait_past(&self, time: Duration) {
        self.wait().await;
        sleep(time).await;
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

/// Waits at the stop until the head that is due has come, as long as that may take
/// (docs/decisions/96-requests-at-a-stop.md). Returns whether there is a request to answer.
pub(super) async fn last_head(
    mut served: Pin<&mut impl Future>,
    pending_head: &PendingHead,
    limits: &TcpLimits,
) -> bool {
    let number = pending_head.number();
    let has_come = || number == 0 || pending_head.number() != number;
    let has_begun = || has_come() || !pending_head.is_silent();
    timeout(limits.silent_at_stop, serve_until(served.as_mut(), has_begun)).await == Ok(true)
        && timeout(limits.rest_at_stop, serve_until(served, has_come)).await == Ok(true)
}

/// Serves a connection until the condition holds; returns false if it has ended by then.
async fn serve_until(mut served: Pin<&mut impl Future>, condition: impl Fn() -> bool) -> bool {
    poll_fn(|cx| match served.as_mut().poll(cx) {
        Poll::Ready(_) => Poll::Ready(false),
        Poll::Pending if condition() => Poll::Ready(true),
        Poll::Pending => Poll::Pending,
    })
    .await
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
