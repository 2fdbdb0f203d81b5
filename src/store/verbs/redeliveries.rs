//! Deliveries the forge was asked to send again: what is known of one, and the count of requests, which
//! is on disk before a request leaves.

use std::time::Duration;

use crate::domain::redelivery::{self, FailedDelivery, WINDOW};
use crate::domain::time::Timestamp;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::sql::{Db, Tx, params};

/// Beyond the window in which a count is needed.
const KEPT: Duration = Duration::from_hours(24);
/// Rows that one request deletes at most.
const FORGET_MAX: u32 = 100;

impl Store {
    /// Decides about a delivery that failed, and changes nothing.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn look_at_failed(
        &self,
        failed: &FailedDelivery,
        now: Timestamp,
    ) -> Result<redelivery::Decision, Error> {
        // On a reader: most failed deliveries need nothing, and the writer is not asked for them.
        self.read(|db| Ok(redelivery::decide(&facts(db, failed)?, now)))
    }

    /// Decides about a delivery that failed; when the forge is to be asked for it, the request is
    /// counted. An `Ok(redelivery::Decision::Ask)` is on disk, and only one caller gets it.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was counted; nothing may be asked for.
    pub fn begin_redelivery(&self, failed: &FailedDelivery) -> Result<redelivery::Decision, Error> {
        // Decided again under the write lock: two processes see the same list, and one of them may ask.
        let failed = failed.clone();
        self.write(move |tx| {
            let decision = redelivery::decide(&facts(tx, &failed)?, tx.now);
            if decision == redelivery::Decision::Ask {
                count(tx, &failed)?;
                forget(tx)?;
            }
            Ok(decision)
        })
    }
}

fn facts(db: &Db<'_>, failed: &FailedDelivery) -> Result<redelivery::Facts, Error> {
    let key = failed.delivery.idempotency_key();
    // The inbox decides, not the forge's list, where a delivery that was repeated still appears as failed.
    let is_recorded = db.value(
        "SELECT EXISTS (SELECT 1 FROM webhook_inbox WHERE idempotency_key = :key)",
        params! { ":key": key },
    )?;
    let requests: Option<(u32, Timestamp)> = db.query_one(
        "SELECT request_count, requested_at FROM webhook_redeliveries \
         WHERE idempotency_key = :key",
        params! { ":key": key },
        |row| Ok((row.get("request_count")?, row.get("requested_at")?)),
    )?;
    Ok(redelivery::Facts {
        is_ours: failed.is_ours,
        delivered_at: failed.delivered_at,
        is_recorded,
        request_count: requests.map_or(0, |(count, _)| count),
        requested_at: requests.map(|(_, at)| at),
    })
}

fn count(tx: &Tx<'_>, failed: &FailedDelivery) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO webhook_redeliveries (idempotency_key, request_count, requested_at) \
         VALUES (:key, 1, :now) ON CONFLICT (idempotency_key) DO UPDATE SET \
            request_count = request_count + 1, requested_at = :now",
        params! {
            ":key": failed.delivery.idempotency_key(),
            ":now": tx.now,
        },
    )?;
    Ok(())
}

/// Deletes counts of deliveries that the forge lists no more.
fn forget(tx: &Tx<'_>) -> Result<(), Error> {
    tx.execute(
        "DELETE FROM webhook_redeliveries WHERE idempotency_key IN (\
         SELECT idempotency_key FROM webhook_redeliveries WHERE requested_at < :before \
         ORDER BY requested_at LIMIT +:limit)",
        params! {
            ":before": tx.now.minus(WINDOW).minus(KEPT),
            ":limit": FORGET_MAX,
        },
    )?;
    Ok(())
}
