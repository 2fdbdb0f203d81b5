//! Work for several threads, answered in the order it was given, with a bounded number of pieces under way.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use crate::thread;

/// Pieces under way for each worker: one in its hands, and some for when it is done.
const AHEAD: usize = 4;

/// Returns how many threads keep every core busy.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Gives `work` to every piece that `feed` sends, on so many threads, and what comes of it to `take`,
/// in order, until that wants no more or fails. A panic in `feed` or `work` ends the run with an error:
/// a result is never left out.
pub(super) fn in_order<T: Send + 'static, U: Send + 'static, E: From<io::Error>>(
    workers: usize,
    feed: impl FnOnce(&mut Feeder<T>) + Send + 'static,
    work: impl Fn(T) -> U + Send + Sync + 'static,
    mut take: impl FnMut(U) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    let (pieces, shared) = channel();
    let (results, finished) = channel();
    let (permits, returned) = sync_channel(workers * AHEAD);
    let (shared, work) = (Arc::new(Mutex::new(shared)), Arc::new(work));
    for _ in 0..workers {
        let (shared, work, results) = (Arc::clone(&shared), Arc::clone(&work), results.clone());
        thread::spawn("cards-check", move || {
            while let Some((number, piece)) = next(&shared) {
                let result = catch_unwind(AssertUnwindSafe(|| work(piece))).ok();
                if results.send((number, result)).is_err() {
                    return;
                }
            }
        })?;
    }
    drop(results);
    let mut feeder = Feeder { pieces, permits, number: 0, is_over: false };
    let reader = thread::spawn("cards-read", move || feed(&mut feeder))?;
    let mut waiting = BTreeMap::new();
    let mut number = 0_u64;
    for (place, result) in finished {
        waiting.insert(place, result);
        while let Some(result) = waiting.remove(&number) {
            number += 1;
            if take(result.ok_or_else(|| panicked("checking"))?)?.is_break() {
                return Ok(());
            }
            // Nobody holds the other end when everything was read.
            returned.recv().unwrap_or_default();
        }
    }
    Ok(reader.join().or(Err(panicked("reading")))?)
}

fn panicked(doing: &str) -> io::Error {
    io::Error::other(format!("{doing} the cards ended unexpectedly"))
}

fn next<T>(shared: &Mutex<Receiver<T>>) -> Option<T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

/// Takes pieces in; waits when too many are under way.
pub(super) struct Feeder<T> {
    pieces: std::sync::mpsc::Sender<(u64, T)>,
    permits: SyncSender<()>,
    number: u64,
    is_over: bool,
}

impl<T> Feeder<T> {
    /// Gives the next piece away. When nobody takes results any more, it is dropped.
    pub(super) fn send(&mut self, piece: T) {
        if self.permits.send(()).is_ok() && self.pieces.send((self.number, piece)).is_ok() {
            self.number += 1;
        } else {
            self.is_over = true;
        }
    }

    /// Says whether nobody takes results any more: reading on is in vain.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        let mut taken = Vec::new();
        let feed = |feeder: &mut Feeder<u64>| (0..1_000).for_each(|number| feeder.send(number));
        let work = |number: u64| (0..number % 7 * 1_000).fold(number, |sum, _| sum);
        let took: io::Result<()> = in_order(3, feed, work, |number| {
            taken.push(number);
            Ok(ControlFlow::Continue(()))
        });
        took.unwrap();
        assert!(taken.len() == 1_000 && taken.is_sorted());
    }

    #[test]
    fn whoever_takes_results_may_stop() {
        let mut taken = 0;
        let feed = |feeder: &mut Feeder<u64>| {
            while !feeder.is_over() {
                feeder.send(0);
            }
        };
        let took: io::Result<()> = in_order(
            3,
            feed,
            |number| number,
            |_| {
                taken += 1;
                Ok(if taken == 100 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            },
        );
        took.unwrap();
        assert_eq!(taken, 100);
    }

    #[test]
    fn a_panic_ends_the_run_and_does_not_stall_it() {
        let all = |feeder: &mut Feeder<u64>| (0..1_000).for_each(|number| feeder.send(number));
        let some = |feeder: &mut Feeder<u64>| {
            feeder.send(1);
            panic!("on purpose");
        };
        let work = |number| if number == 500 { panic!("on purpose") } else { number };
        let ended: [io::Result<()>; 2] = [
            in_order(3, all, work, |_| Ok(ControlFlow::Continue(()))),
            in_order(3, some, work, |_| Ok(ControlFlow::Continue(()))),
        ];
        for ended in ended {
            assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::Other);
        }
    }
}
