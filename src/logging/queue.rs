//! The lines that wait to be written, in bounded memory. One thread writes them, so that only this thread waits
//! for whatever reads standard error (docs/decisions/91-log-queue.md).

use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use crate::runtime::mutex::lock;
use crate::runtime::notify::Notify;

/// Most bytes that wait, about a thousand lines. As many may be in the hands of the thread.
const BYTES_MAX: usize = 256 * 1024;
/// Wait before writing again to what takes no more and is not to be waited for, such as a terminal
/// that another process made so.
const WRITE_AGAIN: Duration = Duration::from_millis(20);

/// A queue of lines.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    dropped: AtomicU64,
}

#[derive(Default)]
struct State {
    /// Whole lines.
    waiting: Vec<u8>,
    is_writing: bool,
    /// Dropped lines that no written line has reported.
    unreported: u64,
    /// Whether what was written last ended inside a line.
    is_cut: bool,
}

impl Queue {
    pub(super) const fn new() -> Self {
        let state = State { waiting: Vec::new(), is_writing: false, unreported: 0, is_cut: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), dropped: AtomicU64::new(0) }
    }

    /// Adds a line, or counts it as dropped when there is no space for it. Never waits.
    pub(super) fn push(&self, line: &str) {
        let mut state = lock(&self.state);
        if state.waiting.len() + line.len() >= BYTES_MAX {
            state.unreported += 1;
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        state.waiting.extend_from_slice(line.as_bytes());
        state.waiting.push(b'\n');
        drop(state);
        self.changed.notify_all();
    }

    /// Waits until everything is written, for at most `timeout`.
    pub(super) fn flush(&self, timeout: Duration) {
        let state = lock(&self.state);
        let busy = |state: &mut State| state.is_writing || !state.waiting.is_empty();
        // Poisoning and a timeout are the same to the caller: there is nothing more to wait for.
        drop(self.changed.wait_timeout_while(state, timeout, busy));
    }

    /// Returns how many lines were dropped since the start.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Writes the next lines to `out`, once there are some, and after them the line that `report` makes of
    /// the number of lines dropped.
    pub(super) fn write(&self, out: &mut impl Write, report: impl Fn(u64) -> String) {
        let (lines, unreported, mut is_cut) = self.take();
        let mut lost = write_all(out, &lines, &mut is_cut);
        self.dropped.fetch_add(lost, Ordering::Relaxed);
        // Dropped because these lines filled the queue, so this is their place.
        let mut say = |line: String| write_all(out, line.as_bytes(), &mut is_cut);
        if unreported > 0 && (lost > 0 || say(report(unreported)) > 0) {
            lost += unreported;
        }
        let mut state = lock(&self.state);
        state.is_cut = is_cut;
        state.unreported += lost;
        state.is_writing = false;
        drop(state);
        self.changed.notify_all();
    }

    fn take(&self) -> (Vec<u8>, u64, bool) {
        let state = lock(&self.state);
        let waited = self.changed.wait_while(state, |state| state.waiting.is_empty());
        let mut state = waited.unwrap_or_else(std::sync::PoisonError::into_inner);
        state.is_writing = true;
        let unreported = std::mem::take(&mut state.unreported);
        (std::mem::take(&mut state.waiting), unreported, state.is_cut)
    }
}

/// Writes whole lines; returns how many of them were not, or not to their end. `is_cut` says whether what was written
/// last ended inside a line: such a line gets its end first, so that the next one is not part of it.
fn write_all(out: &mut impl Write, lines: &[u8], is_cut: &mut bool) -> u64 {
    let ends = |bytes: &[u8]| bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum();
    if *is_cut && !lines.is_empty() {
        if !write_bytes(out, b"\n").is_empty() {
            return ends(lines);
        }
        *is_cut = false;
    }
    let rest = write_bytes(out, lines);
    let written = lines.strip_suffix(rest).unwrap_or_default();
    *is_cut |= written.last().is_some_and(|byte| *byte != b'\n');
    ends(rest)
}

/// Writes bytes; returns those that were not written.
fn write_bytes<'a>(out: &mut impl Write, mut bytes: &'a [u8]) -> &'a [u8] {
    while !bytes.is_empty() {
        match out.write(bytes) {
            Ok(0) => break,
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                Notify::new().wait(0, WRITE_AGAIN);
            }
            // It has no reader any more, or its disk is full.
            Err(_) => break,
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    /// Takes a few bytes at a time, and nothing every other time.
    #[derive(Default)]
    struct Slow {
        taken: Vec<u8>,
        is_due: bool,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.is_due = !self.is_due;
            if !self.is_due {
                return Err(ErrorKind::WouldBlock.into());
            }
            let count = bytes.len().min(7);
            self.taken.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Takes nothing at all.
    struct Broken;

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A disk with so many free bytes.
    struct Small {
        taken: Vec<u8>,
        free: usize,
    }

    impl Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.free);
            if count == 0 {
                return Err(ErrorKind::StorageFull.into());
            }
            self.free -= count;
            self.taken.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_that_was_cut_is_ended_before_the_next() {
        let queue = Queue::default();
        let mut out = Small { taken: Vec::new(), free: 10 };
        let report = |lines| format!("dropped {lines}\n");
        queue.push("one");
        queue.push("two two two");
        queue.write(&mut out, report);
        queue.push("three");
        queue.write(&mut out, report);
        out.free = 100;
        queue.push("four");
        queue.write(&mut out, report);
        assert_eq!(String::from_utf8(out.taken).unwrap(), "one\ntwo tw\nfour\ndropped 2\n");
        assert_eq!(queue.dropped(), 2);
    }

    fn written(queue: &Queue) -> String {
        let mut out = Vec::new();
        queue.write(&mut out, |lines| format!("dropped {lines}\n"));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_are_written_whole_and_in_order() {
        let (queue, mut out) = (Queue::new(), Slow::default());
        queue.push("the first line");
        queue.push("the second line");
        queue.write(&mut out, |_| panic!("no line was dropped"));
        assert_eq!(out.taken, b"the first line\nthe second line\n");
        assert_eq!(queue.dropped(), 0);
    }

    #[test]
    fn what_has_no_space_is_dropped_and_reported_after_what_had() {
        let queue = Queue::new();
        let line = "x".repeat(BYTES_MAX / 2);
        (0..3).for_each(|_| queue.push(&line));
        assert_eq!(queue.dropped(), 2);
        assert_eq!(written(&queue), format!("{line}\ndropped 2\n"));
        queue.push("later");
        assert_eq!(written(&queue), "later\n");
        queue.push(&"x".repeat(BYTES_MAX));
        queue.push("after a line that never fits");
        assert_eq!(written(&queue), "after a line that never fits\ndropped 1\n");
        assert_eq!(queue.dropped(), 3);
    }

    #[test]
    fn what_cannot_be_written_is_reported_when_it_can_again() {
        let queue = Queue::new();
        for line in ["one", "two\nthree"] {
            queue.push(line);
            queue.write(&mut Broken, |lines| format!("dropped {lines}\n"));
        }
        assert_eq!(queue.dropped(), 3);
        queue.push("four");
        assert_eq!(written(&queue), "four\ndropped 3\n");
    }

    #[test]
    fn a_flush_does_not_wait_for_ever() {
        let queue = Queue::new();
        queue.flush(Duration::from_secs(3_600));
        queue.push("a line that is never written");
        queue.flush(Duration::ZERO);
    }
}
