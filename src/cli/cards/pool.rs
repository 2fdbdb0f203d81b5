//! Work for several threads, answered in the order it was given, with a bounded number of pieces under way.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use crate::runtime::mutex::lock;
use crate::runtime::thread;

/// Pieces under way for each worker: one in its hands, and some for when it is done.
const AHEAD: usize = 4;

/// Returns how many threads keep every core busy.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Gives `work` every one of the pieces, on so many threads, which read them in turn, and `take` what
/// comes of them, in order, until that wants no more or fails: then no piece is begun any more, and `take` is given
/// what comes of those under way. A panic while reading or in `work` ends the run with an error: a result is never
/// left out.
/// See `docs/decisions/66-card-runs.md`.
pub(super) fn in_order<T: 'static, U: Send + 'static, E: From<io::Error>>(
    workers: usize,
    pieces: impl Iterator<Item = T> + Send + 'static,
    work: impl Fn(T) -> U + Send + Sync + 'static,
    mut take: impl FnMut(U) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    let (results, finished) = channel();
    let (permit, permits) = channel();
    // Permits limit how many results can wait behind a slow piece.
    for _ in 0..workers * AHEAD {
        // The other end is in this function.
        permit.send(()).unwrap_or_default();
    }
    let begun = Arc::<Mutex<Begun>>::default();
    let source = Source { pieces: pieces.fuse(), permits, begun: Arc::clone(&begun) };
    let source = Arc::new(Mutex::new(source));
    let work = Arc::new(work);
    let threads = (0..workers)
        .map(|_| {
            let (source, work, results) = (Arc::clone(&source), Arc::clone(&work), results.clone());
            thread::spawn("cards", move || {
                while let Some((number, piece)) = next(&source) {
                    // A panic travels as a result, because a number that never comes would hold back all that follow.
                    let result = catch_unwind(AssertUnwindSafe(|| work(piece))).ok();
                    if results.send((number, result)).is_err() {
                        return;
                    }
                }
            })
        })
        .collect::<io::Result<Vec<_>>>()?;
    // `finished` ends with its last sender, and this one belongs to no thread.
    drop(results);
    let mut waiting = BTreeMap::new();
    let mut number = 0_u64;
    // How the run ends, and with which piece, once it is to end early.
    let mut end = None;
    for (place, result) in finished {
        waiting.insert(place, result);
        while let Some(result) = waiting.remove(&number) {
            number += 1;
            let taken = result.ok_or_else(|| panicked("checking").into()).and_then(&mut take);
            match taken {
                // It is not received when everything was read.
                Ok(ControlFlow::Continue(())) => permit.send(()).unwrap_or_default(),
                taken if end.is_none() => end = Some((taken.map(drop), lock(&begun).end())),
                _ => {}
            }
        }
        // Reading is not waited for, because it may take for ever. The threads end by themselves: without this function,
        // neither permits nor results go through.
        if let Some((ended, _)) = end.take_if(|(_, last)| number >= *last) {
            return ended;
        }
    }
    // A panic while reading poisons `source` and so ends all threads; only the join shows it.
    threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| panicked("reading")))?;
    Ok(())
}

fn panicked(doing: &str) -> io::Error {
    io::Error::other(format!("{doing} the cards ended unexpectedly"))
}

/// Where pieces come from, one with each permit.
struct Source<I> {
    pieces: I,
    permits: Receiver<()>,
    begun: Arc<Mutex<Begun>>,
}

/// The pieces that were read so far. Not a part of the source, which is locked while reading.
#[derive(Default)]
struct Begun {
    number: u64,
    is_end: bool,
}

impl Begun {
    /// Returns the number of the next piece, if one is to be begun.
    fn next(&mut self) -> Option<u64> {
        let number = self.number;
        self.number += 1;
        (!self.is_end).then_some(number)
    }

    /// Lets no further piece begin, and returns how many did.
    fn end(&mut self) -> u64 {
        self.is_end = true;
        self.number
    }
}

/// Reads the next piece; returns `None` after the last one, when no piece is to be begun any more, or when another
/// thread panicked while it was reading.
fn next<I: Iterator>(source: &Mutex<Source<I>>) -> Option<(u64, I::Item)> {
    // Held while waiting and while reading, because pieces have one order.
    let mut source = source.lock().ok()?;
    source.permits.recv().ok()?;
    // Any free thread reads, because all would wait for one that only reads.
    let piece = source.pieces.next()?;
    let number = lock(&source.begun).next()?;
    Some((number, piece))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        let mut taken = Vec::new();
        let work = |number: u64| (0..number % 7 * 1_000).fold(number, |sum, _| sum);
        let took: io::Result<()> = in_order(3, 0..1_000, work, |number| {
            taken.push(number);
            Ok(ControlFlow::Continue(()))
        });
        took.unwrap();
        assert!(taken.len() == 1_000 && taken.is_sorted());
    }

    #[test]
    fn what_is_under_way_is_taken_when_the_run_is_to_end() {
        let begun = Arc::new(Mutex::new(Vec::new()));
        let (mut taken, work) = (Vec::new(), Arc::clone(&begun));
        let failed: io::Result<()> = in_order(
            3,
            0..,
            move |number: u64| {
                lock(&work).push(number);
                number
            },
            |number| {
                taken.push(number);
                if number < 100 { Ok(ControlFlow::Continue(())) } else { Err(panicked("testing")) }
            },
        );
        assert!(failed.unwrap_err().to_string().starts_with("testing"));
        let mut begun = lock(&begun).clone();
        begun.sort_unstable();
        assert_eq!(taken, begun);
    }

    #[test]
    fn a_caller_may_stop_taking_results() {
        let mut taken = 0;
        let took: io::Result<()> = in_order(
            3,
            std::iter::repeat(0),
            |number| number,
            |_| {
                taken += 1;
                Ok(if taken >= 100 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            },
        );
        took.unwrap();
        // Those under way when it stopped were taken, too.
        assert!((100..=100 + 3 * AHEAD).contains(&taken), "{taken}");
    }

    #[test]
    fn a_panic_ends_the_run_and_does_not_stall_it() {
        let some = (0..).map(|number| if number == 100 { panic!("on purpose") } else { number });
        let work = |number| if number == 500 { panic!("on purpose") } else { number };
        let ended: [io::Result<()>; 2] = [
            in_order(3, 0..1_000, work, |_| Ok(ControlFlow::Continue(()))),
            in_order(3, some, work, |_| Ok(ControlFlow::Continue(()))),
        ];
        for ended in ended {
            assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::Other);
        }
    }
}
