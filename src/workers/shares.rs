//! How many threads of a pool work for one installation at once, so that calls that hang for one leave
//! threads to the others.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::domain::id::InstallationId;
use crate::runtime::mutex::lock;

/// The shares of the threads of one pool. Clones share them.
#[derive(Clone, Debug)]
pub struct Shares {
    threads: Arc<Mutex<BTreeMap<InstallationId, u32>>>,
    max: u32,
}

impl Shares {
    /// Returns the shares of a pool of so many threads: one installation has half of them, and at least one.
    #[must_use]
    pub fn of_pool(threads: u64) -> Self {
        // Threads, not leases, are counted: `docs/decisions/09-tenant-fairness.md`.
        let max = u32::try_from(threads / 2).unwrap_or(u32::MAX).max(1);
        Self { threads: Arc::default(), max }
    }

    /// Claims something that a thread is going to work on: `claim` gets the installations that have their
    /// whole share, and returns whose it claimed. One thread claims at a time.
    pub(super) fn claim<T, E>(
        &self,
        claim: impl FnOnce(Vec<InstallationId>) -> Result<(Option<InstallationId>, T), E>,
    ) -> Result<(Option<Share>, T), E> {
        // Held during the claim: two threads could otherwise both claim for an installation that has room for one.
        let mut threads = self.lock();
        let full = threads.iter().filter(|(_, count)| **count >= self.max);
        let (installation, claimed) = claim(full.map(|(installation, _)| *installation).collect())?;
        let share = installation.map(|installation| {
            *threads.entry(installation).or_default() += 1;
            // Counted until it is dropped, also by a panic that unwinds.
            Share { shares: self.clone(), installation }
        });
        Ok((share, claimed))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<InstallationId, u32>> {
        lock(&self.threads)
    }
}

/// A thread that works for an installation, until it is dropped.
#[must_use]
pub(super) struct Share {
    shares: Shares,
    installation: InstallationId,
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut threads = self.shares.lock();
        if let Some(count) = threads.get_mut(&self.installation) {
            *count -= 1;
        }
        // Installations without a thread are forgotten, or the map would grow with every tenant.
        threads.retain(|_, count| *count > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(number: i64) -> InstallationId {
        number.try_into().expect("the number is positive")
    }

    /// Claims for an installation unless it has its whole share.
    fn claim(shares: &Shares, installation: i64) -> Option<Share> {
        let claimed = shares.claim(|full| {
            let installation = Some(number(installation)).filter(|it| !full.contains(it));
            Ok::<_, ()>((installation, ()))
        });
        claimed.expect("it does not fail").0
    }

    #[test]
    fn one_installation_has_half_of_the_threads_and_what_it_gives_back_is_free() {
        for (threads, most) in [(1, 1), (2, 1), (3, 1), (4, 2), (16, 8)] {
            let shares = Shares::of_pool(threads);
            let mut held: Vec<_> = (0..most).map(|_| claim(&shares, 1)).collect();
            assert!(held.iter().all(Option::is_some), "{threads}");
            assert!(claim(&shares, 1).is_none(), "{threads}");
            assert!(claim(&shares, 2).is_some(), "{threads}");
            held.pop();
            assert!(claim(&shares, 1).is_some(), "{threads}");
        }
    }

    #[test]
    fn a_thread_that_panics_gives_its_share_back() {
        let shares = Shares::of_pool(2);
        let held = shares.clone();
        let work = std::panic::AssertUnwindSafe(move || {
            let _share = claim(&held, 1);
            std::panic::resume_unwind(Box::new("at work"));
        });
        assert!(std::panic::catch_unwind(work).is_err());
        assert!(claim(&shares, 1).is_some());
    }
}
