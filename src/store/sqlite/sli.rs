//! What the store knows of the service as a whole: the oldest of what waits, and counts. Each is one
//! look into an index, or a number kept in memory, so asking often costs nothing.

use std::sync::atomic::Ordering;
use std::time::Duration;

use rusqlite::Connection;

use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sqlite::{Backlog, Store, connection, retention};

/// The store's part of a snapshot. Nothing of it belongs to one tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sli {
    /// What waits.
    pub backlog: Backlog,
    /// When the oldest webhook came that is not processed.
    pub oldest_unprocessed_at: Option<Timestamp>,
    /// The earliest deadline of a reconciliation that is not finished.
    pub first_deadline_at: Option<Timestamp>,
    /// Dead letters ever added to this file.
    pub dead_letters: u64,
    /// Leases that ran out and were taken back by this process.
    pub lease_expiries: u64,
    /// Time the writer of this process spent on transactions.
    pub busy: Duration,
    /// Bytes left for us where the database is; nothing when the system does not say.
    pub disk_free_bytes: Option<u64>,
}

/// Through the jobs, whose indexes are there anyway: one on the inbox would be paid for by every webhook.
const OLDEST_UNPROCESSED: &str = "SELECT min(received_at) FROM webhook_inbox WHERE inbox_id IN \
    (SELECT inbox_id FROM (SELECT inbox_id FROM control_plane_jobs \
        WHERE status = 'available' ORDER BY available_at, id LIMIT 10000) \
     UNION ALL SELECT inbox_id FROM (SELECT inbox_id FROM control_plane_jobs \
        WHERE status = 'leased' ORDER BY lease_expires_at, id LIMIT 10000))";

impl Store {
    /// Returns what the store knows of the service as a whole.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn sli_snapshot(&self) -> Result<Sli, Error> {
        self.read(|connection| {
            let first = |sql| -> Result<Option<Timestamp>, Error> {
                Ok(number(connection, sql)?.map(Timestamp::from_micros))
            };
            // Rows are never deleted there, so the greatest number is also how many there were.
            let dead_letters = number(connection, "SELECT max(id) FROM dead_letters")?;
            Ok(Sli {
                backlog: retention::backlog(connection)?,
                oldest_unprocessed_at: first(OLDEST_UNPROCESSED)?,
                first_deadline_at: first(
                    "SELECT min(deadline_at) FROM reconciliation_items \
                     WHERE status IN ('open', 'leased')",
                )?,
                dead_letters: dead_letters.and_then(|id| u64::try_from(id).ok()).unwrap_or(0),
                lease_expiries: self.lease_expiries(),
                busy: self.busy(),
                disk_free_bytes: connection::disk_free_bytes(&self.path),
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
        self.writer.busy()
    }

    /// Counts leases that were taken back.
    pub(super) fn count_lease_expiries(&self, count: usize) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        self.lease_expiries.fetch_add(count, Ordering::Relaxed);
    }
}

fn number(connection: &Connection, sql: &str) -> Result<Option<i64>, Error> {
    Ok(connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}
