//! The threads that may block: a bounded queue of whole requests, and a few threads that answer
//! them. The queue refuses when it is full, because a later answer would come too late anyway.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::oneshot;

use super::answer;
use crate::http::message::{Admitted, Response, Service};
use crate::runtime::mutex::lock;
use crate::runtime::semaphore::Semaphore;
use crate::runtime::thread;

/// The way to the threads. They end when it is dropped and the queue is empty.
#[derive(Debug)]
pub(super) struct Pool {
    queue: SyncSender<Work>,
}

#[derive(Debug)]
struct Work {
    admitted: Admitted,
    body: Vec<u8>,
    reply: oneshot::Sender<Response>,
}

impl Pool {
    /// Starts the threads. The permits are free once all of them have ended.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(super) fn start(
        threads: usize,
        queue_max: usize,
        service: &Arc<dyn Service>,
    ) -> io::Result<(Self, Semaphore)> {
        let (queue, works) = sync_channel(queue_max);
        let works = Arc::new(Mutex::new(works));
        let permits = Semaphore::new(threads);
        for number in 0..threads {
            let (works, service) = (Arc::clone(&works), Arc::clone(service));
            let permit = permits.take(Duration::ZERO);
            thread::spawn(&format!("http-{number}"), move || {
                work(&works, &*service);
                drop((works, service));
                drop(permit);
            })?;
        }
        Ok((Self { queue }, permits))
    }

    /// Hands a request over; the answer comes by the receiver. Nothing when the queue is full.
    pub(super) fn submit(
        &self,
        admitted: Admitted,
        body: Vec<u8>,
    ) -> Option<oneshot::Receiver<Response>> {
        let (reply, answer) = oneshot::channel();
        self.queue.try_send(Work { admitted, body, reply }).ok().map(|()| answer)
    }
}

fn work(works: &Mutex<Receiver<Work>>, service: &dyn Service) {
    loop {
        // One idle thread waits for the queue, the others for the lock.
        let next = lock(works).recv();
        let Ok(Work { admitted, body, reply }) = next else { return };
        // Nobody waits for a request that stood in the queue for too long: leave it undone.
        if !reply.is_closed() {
            // The peer may have gone meanwhile; then nobody wants the answer.
            drop(reply.send(answer(service, admitted, body)));
        }
    }
}
