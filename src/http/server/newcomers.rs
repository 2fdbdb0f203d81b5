//! Connections that owe their first head. When a door is full, the one that has owed it longest makes
//! room, so that silent connections keep no request out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::oneshot::{Receiver, Sender, channel};

use crate::runtime::mutex::lock;

/// Those of one door.
#[derive(Clone, Debug, Default)]
pub(super) struct Newcomers(Arc<Mutex<Line>>);

/// In the order in which they came.
#[derive(Debug, Default)]
struct Line {
    last: u64,
    waiting: BTreeMap<u64, Sender<()>>,
}

/// One that came. Dropping it takes it out of the line.
#[derive(Debug)]
pub(super) struct Newcomer {
    newcomers: Newcomers,
    number: u64,
}

/// Tells a newcomer that it has to go.
#[derive(Debug)]
pub(super) struct Notice(Receiver<()>);

impl Newcomers {
    /// Takes one more into the line.
    pub(super) fn enter(&self) -> (Newcomer, Notice) {
        let (sender, receiver) = channel();
        let mut line = self.lock();
        line.last += 1;
        let number = line.last;
        line.waiting.insert(number, sender);
        drop(line);
        (Newcomer { newcomers: self.clone(), number }, Notice(receiver))
    }

    /// Tells the first in the line to go; returns whether there is one.
    pub(super) fn send_one_away(&self) -> bool {
        // One that has just ended has left its place as well.
        self.lock().waiting.pop_first().map(|(_, sender)| sender.send(())).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Line> {
        lock(&self.0)
    }
}

impl Newcomer {
    /// Says that a whole head has come: it is sent away no more.
    pub(super) fn settle(&self) {
        self.newcomers.lock().waiting.remove(&self.number);
    }
}

impl Drop for Newcomer {
    fn drop(&mut self) {
        self.settle();
    }
}

impl Notice {
    /// Waits until it has to go; for ever, once it has settled.
    pub(super) async fn comes(self) {
        if self.0.await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_has_not_settled_goes() {
        let newcomers = Newcomers::default();
        assert!(!newcomers.send_one_away());
        let [mut a, mut b, mut c] = [0; 3].map(|_| newcomers.enter());
        a.0.settle();
        assert!(newcomers.send_one_away());
        assert!(a.1.0.try_recv().is_err());
        assert_eq!(b.1.0.try_recv(), Ok(()));
        drop(c.0);
        assert!(c.1.0.try_recv().is_err());
        assert!(!newcomers.send_one_away());
    }
}
