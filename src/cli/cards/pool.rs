//! Work for several threads, answered in the order it was given, with a bounded number of pieces under way.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZero;
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
/// in order. The first failure of `take` ends it.
pub(super) fn in_order<T: Send + 'static, U: Send + 'static, E: From<io::Error>>(
    workers: usize,
    feed: impl FnOnce(&mut Feeder<T>) + Send + 'static,
    work: impl Fn(T) -> U + Send + Sync + 'static,
    mut take: impl FnMut(U) -> Result<(), E>,
) -> Result<(), E> {
    let (pieces, shared) = channel();
    let (results, finished) = channel();
    let (permits, returned) = sync_channel(workers * AHEAD);
    let (shared, work) = (Arc::new(Mutex::new(shared)), Arc::new(work));
    for _ in 0..workers {
        let (shared, work, results) = (Arc::clone(&shared), Arc::clone(&work), results.clone());
        thread::spawn("cards-check", move || {
            while let Some((number, piece)) = next(&shared) {
                if results.send((number, work(piece))).is_err() {
                    return;
                }
            }
        })?;
    }
    drop(results);
    let mut feeder = Feeder { pieces, permits, number: 0 };
    thread::spawn("cards-read", move || feed(&mut feeder))?;
    let mut waiting = BTreeMap::new();
    let mut number = 0_u64;
    for (place, result) in finished {
        waiting.insert(place, result);
        while let Some(result) = waiting.remove(&number) {
            number += 1;
            take(result)?;
            // Nobody holds the other end when everything was read.
            returned.recv().unwrap_or_default();
        }
    }
    Ok(())
}

fn next<T>(shared: &Mutex<Receiver<T>>) -> Option<T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

/// Takes pieces in; waits when too many are under way.
pub(super) struct Feeder<T> {
    pieces: std::sync::mpsc::Sender<(u64, T)>,
    permits: SyncSender<()>,
    number: u64,
}

impl<T> Feeder<T> {
    /// Gives the next piece away. When nobody takes results any more, it is dropped.
    pub(super) fn send(&mut self, piece: T) {
        if self.permits.send(()).is_ok() && self.pieces.send((self.number, piece)).is_ok() {
            self.number += 1;
        }
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
            Ok(())
        });
        took.unwrap();
        assert!(taken.len() == 1_000 && taken.is_sorted());
    }
}
