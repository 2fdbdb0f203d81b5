//! An absolute deadline over several blocking reads or writes of one socket. A timeout of the
//! socket alone starts anew with every byte, so that a slow peer would never be cut.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::runtime::clock::{Clock as _, SystemClock};

/// A point in the future.
#[derive(Debug)]
pub(super) struct Deadline {
    clock: SystemClock,
    budget: Duration,
}

impl Deadline {
    /// Returns the point `budget` from now.
    pub(super) fn after(budget: Duration) -> Self {
        Self { clock: SystemClock::new(), budget }
    }

    /// Returns the time left; zero when it is over.
    pub(super) fn left(&self) -> Duration {
        self.budget.saturating_sub(self.clock.monotonic())
    }

    fn timeout(&self) -> io::Result<Option<Duration>> {
        let left = self.left();
        // A socket takes a timeout of zero for an error of ours.
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

/// A socket whose every operation ends by the deadline, with an error of any kind.
#[derive(Debug)]
pub(super) struct Timed<'a> {
    stream: &'a UnixStream,
    deadline: Deadline,
}

impl<'a> Timed<'a> {
    /// Returns the socket with `budget` left from now.
    pub(super) fn new(stream: &'a UnixStream, budget: Duration) -> Self {
        Self { stream, deadline: Deadline::after(budget) }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.stream.set_read_timeout(self.deadline.timeout()?)?;
            match self.stream.read(buffer) {
                // A signal; with a timeout set, the system does not resume the call by itself.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        // No loop for signals as in `read`: `write_all` repeats what was interrupted.
        self.stream.set_write_timeout(self.deadline.timeout()?)?;
        self.stream.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_peer_costs_the_budget_once() {
        let (stream, _silent) = UnixStream::pair().unwrap();
        let mut timed = Timed::new(&stream, Duration::from_millis(20));
        timed.read_exact(&mut [0; 1]).unwrap_err();
        let again = timed.read(&mut [0; 1]).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::TimedOut);
    }
}
