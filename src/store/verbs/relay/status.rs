//! Counts of what is open in the relay.

use crate::api::relay::RelayCounts;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::sql::params;

impl Store {
    /// Counts what is open now, each kind up to 10,000; of the sessions, those that were used last.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_counts(&self) -> Result<RelayCounts, Error> {
        self.read(|db| {
            let counts = db.query_one(
                "SELECT COALESCE(SUM(state = 'connected'), 0) AS connected, \
                        COALESCE(SUM(state = 'suspended'), 0) AS suspended, \
                        COALESCE(SUM(state = 'away'), 0) AS away, \
                        (SELECT COUNT(*) FROM (SELECT 1 FROM relay_proposals WHERE is_waiting = 1 LIMIT 10000)) \
                            AS waiting, \
                        (SELECT COUNT(*) FROM (SELECT 1 FROM relay_grants WHERE state = 'claimed' LIMIT 10000)) \
                            AS running \
                 FROM (SELECT state FROM relay_sessions WHERE state <> 'ended' \
                       ORDER BY last_seen_at DESC LIMIT 10000)",
                params! {},
                |row| {
                    Ok(RelayCounts {
                        sessions_connected: row.get("connected")?,
                        sessions_suspended: row.get("suspended")?,
                        sessions_away: row.get("away")?,
                        proposals_waiting: row.get("waiting")?,
                        invocations_running: row.get("running")?,
                    })
                },
            )?;
            counts.ok_or(Error::Row("counts of the relay"))
        })
    }
}
