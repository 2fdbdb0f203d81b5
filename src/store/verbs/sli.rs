//! What the store knows of the service as a whole: the oldest of what waits, and counts. Each is one
//! look into an index, or a number kept in memory, so asking often costs nothing.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::runtime::histogram::Histogram;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::backlog;
use crate::store::sql::params;
use crate::store::types::Sli;
use crate::store::types::upkeep::COUNT_MAX;

impl Store {
    /// Returns what the store knows of the service as a whole.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn sli_snapshot(&self) -> Result<Sli, Error> {
        self.read(|db| {
            // Rows are never deleted there, so the greatest number is also how many there were.
            let dead_letters: Option<i64> = db.value("SELECT max(id) FROM dead_letters", &[])?;
            Ok(Sli {
                backlog: backlog::read(db)?,
                oldest_unprocessed_at: backlog::oldest_unprocessed_at(db)?,
                first_deadline_at: db.value(
                    "SELECT min(deadline_at) FROM reconciliation_items \
                     WHERE status IN ('open', 'leased')",
                    &[],
                )?,
                oldest_dead_letter_at: db.value(
                    "SELECT min(failed_at) FROM dead_letters INDEXED BY dead_letters_open_age \
                     WHERE resolution IS NULL",
                    &[],
                )?,
                given_up: u64::from(db.value::<u32>(
                    "SELECT count(*) FROM (SELECT 1 FROM reconciliation_items \
                     INDEXED BY reconciliation_items_not_closed \
                     WHERE status = 'dead_letter' AND closed_at IS NULL LIMIT +:max)",
                    params! { ":max": COUNT_MAX },
                )?),
                dead_letters: dead_letters.and_then(|id| u64::try_from(id).ok()).unwrap_or(0),
                lease_expiries: self.lease_expiries(),
                busy: self.busy(),
                disk_free_bytes: self.disk_free_bytes(),
            })
        })
    }

    /// Returns how many leases ran out and were taken back by this process.
    #[must_use]
    pub fn lease_expiries(&self) -> u64 {
        self.lease_expiries.load(Ordering::Relaxed)
    }

    /// Returns how long the writer of this process has spent on transactions, waiting for the lock of
    /// the file and for the disk included.
    #[must_use]
    pub fn busy(&self) -> Duration {
        self.writer.took().sum()
    }

    /// Returns how long each group of transactions of this process took, waiting for the lock of the file and for the
    /// disk included.
    #[must_use]
    pub fn group_times(&self) -> &Histogram {
        self.writer.took()
    }

    /// Returns how long each job that this process claimed had been due.
    #[must_use]
    pub fn job_waits(&self) -> &Histogram {
        &self.job_waits
    }

    /// Counts leases that were taken back.
    pub(in crate::store) fn count_lease_expiries(&self, count: usize) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        // Relaxed: it is only shown, and orders nothing.
        self.lease_expiries.fetch_add(count, Ordering::Relaxed);
    }
}
