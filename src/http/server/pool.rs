//! The threads that may block: a bounded queue of whole requests, and a few threads that answer
//! them. The queue refuses when it is full, because a later answer would come too late anyway.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::oneshot;

use super::handle;
use crate::http::message::{Request, Response, Service};
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
    request: Request,
    reply: oneshot::Sender<Response>,
}

impl Pool {
    /// Starts the threads. The seats are free once all of them have ended.
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
        let seats = Semaphore::new(threads);
        for number in 0..threads {
            let (works, service) = (Arc::clone(&works), Arc::clone(service));
            let seat = seats.take(Duration::ZERO);
            thread::spawn(&format!("http-{number}"), move || {
                work(&works, &*service);
                drop((works, service));
                drop(seat);
            })?;
        }
        Ok((Self { queue }, seats))
    }

    /// Hands a request over; the answer comes by the receiver. Nothing when the queue is full.
    pub(super) fn submit(&self, request: Request) -> Option<oneshot::Receiver<Response>> {
        let (reply, answer) = oneshot::channel();
        self.queue.try_send(Work { request, reply }).ok().map(|()| answer)
    }
}

fn work(works: &Mutex<Receiver<Work>>, service: &dyn Service) {
    loop {
        // One idle thread waits for the queue, the others for the lock.
        let next = lock(works).recv();
        let Ok(Work { request, reply }) = next else { return };
        // Nobody waits for a request that stood in the queue for too long: leave it undone.
        if !reply.is_closed() {
            // The peer may have gone meanwhile; then nobody wants the answer.
            drop(reply.send(handle(service, &request)));
        }
    }
}
