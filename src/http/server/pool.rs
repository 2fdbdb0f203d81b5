//! The threads that may block: a bounded queue of work, and a few threads that do it. The queue refuses
//! when it is full, because a later answer would come too late anyway.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::runtime::mutex::lock;
use crate::runtime::semaphore::Semaphore;
use crate::runtime::thread;

/// How long to wait for room in a full queue.
const QUEUE_REST: Duration = Duration::from_millis(20);

/// Work, which never panics.
type Work = Box<dyn FnOnce() + Send>;

/// The way to the threads. They end when it is dropped and the queue is empty.
#[derive(Debug)]
pub(super) struct Pool {
    queue: SyncSender<Work>,
}

impl Pool {
    /// Starts the threads. The permits are free once all of them have ended.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(super) fn start(threads: usize, queue_max: usize) -> io::Result<(Self, Semaphore)> {
        let (queue, works) = sync_channel(queue_max);
        let works = Arc::new(Mutex::new(works));
        let permits = Semaphore::new(threads);
        for number in 0..threads {
            let works = Arc::clone(&works);
            let permit = permits.take(Duration::ZERO);
            thread::spawn(&format!("http-{number}"), move || {
                work(&works);
                drop(works);
                drop(permit);
            })?;
        }
        Ok((Self { queue }, permits))
    }

    /// Hands work over; what it comes to is sent to the receiver. Returns `None` when the queue is full.
    pub(super) fn submit<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<oneshot::Receiver<T>> {
        let (work, answer) = replying(work);
        self.queue.try_send(work).ok().map(|()| answer)
    }

    /// Hands over work that cannot be refused, as soon as there is room for it; the caller makes sure that
    /// there is little of it at once. Returns `None` when the threads have ended.
    pub(super) async fn submit_soon<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (mut work, answer) = replying(work);
        // A `SyncSender` has no asynchronous wait, and a blocking one would stop the runtime's only thread.
        while let Err(TrySendError::Full(again)) = self.queue.try_send(work) {
            work = again;
            sleep(QUEUE_REST).await;
        }
        // When the threads have ended, the work was dropped, and the sender of `answer` with it.
        answer.await.ok()
    }
}

/// Returns work that sends what it comes to.
fn replying<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> (Work, oneshot::Receiver<T>) {
    let (reply, answer) = oneshot::channel();
    let work = move || {
        // The caller has given up on what waited in the queue for too long: leave it undone.
        if !reply.is_closed() {
            // The peer may have gone meanwhile; then the answer is dropped.
            drop(reply.send(work()));
        }
    };
    (Box::new(work), answer)
}

fn work(works: &Mutex<Receiver<Work>>) {
    loop {
        // One idle thread waits for the queue, the others for the lock.
        // A statement of its own: in a `match` the guard would live, and the lock be held, while the work runs.
        let next = lock(works).recv();
        let Ok(work) = next else { return };
        work();
    }
}
