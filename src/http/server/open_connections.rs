//! The connections to the control socket: how many there may be, and how a stop ends those that wait for their peers.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use super::deadline::Deadline;
use super::limits::ControlLimits;
use crate::runtime::mutex::lock;
use crate::runtime::semaphore::{Permit, Semaphore};

/// A bounded number of connections.
#[derive(Debug)]
pub(super) struct OpenConnections {
    permits: Semaphore,
    rest_at_stop: Duration,
    streams: Mutex<Vec<Weak<UnixStream>>>,
}

/// A connection; its place is free once it is dropped.
#[derive(Debug)]
pub(super) struct OpenConnection {
    pub(super) stream: Arc<UnixStream>,
    _permit: Permit,
}

impl OpenConnections {
    /// Returns room for as many connections as there may be.
    pub(super) fn new(limits: &ControlLimits) -> Self {
        let permits = Semaphore::new(limits.connections_max);
        Self { permits, rest_at_stop: limits.rest_at_stop, streams: Mutex::default() }
    }

    /// Adds a connection, or closes it when there are too many.
    pub(super) fn add(&self, stream: UnixStream) -> Option<OpenConnection> {
        let permit = self.permits.take(Duration::ZERO)?;
        let stream = Arc::new(stream);
        let mut streams = lock(&self.streams);
        streams.retain(|stream| stream.strong_count() > 0);
        streams.push(Arc::downgrade(&stream));
        Some(OpenConnection { stream, _permit: permit })
    }

    /// Waits at the stop until all have ended. Nothing more is read of any after a while. Returns whether they have
    /// ended.
    pub(super) fn join(&self, deadline: &Deadline) -> bool {
        if !self.permits.wait_free(deadline.left().min(self.rest_at_stop)) {
            // Only reading ends, so that answers that are still due are sent.
            for stream in lock(&self.streams).iter().filter_map(Weak::upgrade) {
                drop(stream.shutdown(Shutdown::Read));
            }
        }
        self.permits.wait_free(deadline.left())
    }
}
