//! Recording deliveries: inbox row and job in one transaction, once per delivery id.

use rusqlite::{OptionalExtension as _, named_params};

use crate::domain::delivery::{InboxState, NewDelivery, Recorded};
use crate::domain::digest::Digest;
use crate::domain::id::{InstallationId, JobId};
use crate::store::error::Error;
use crate::store::sqlite::command::Tx;
use crate::store::sqlite::queue::Lane;
use crate::store::sqlite::{Pending, Store, action, installations};

impl Store {
    /// Records a delivery: its inbox row and, when it asks something of us, its job. The same id
    /// again adds nothing, whatever its body.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when it is not on disk; the peer must not be told that it is.
    pub fn record_delivery(&self, delivery: NewDelivery) -> Result<Recorded, Error> {
        self.submit_delivery(delivery).wait()
    }

    /// Hands a delivery to the writer without waiting.
    pub fn submit_delivery(&self, delivery: NewDelivery) -> Pending<Recorded> {
        self.submit(Lane::Urgent, move |tx| record(tx, &delivery))
    }
}

fn record(tx: &mut Tx<'_>, delivery: &NewDelivery) -> Result<Recorded, Error> {
    let key = delivery.id.idempotency_key();
    let state = match delivery.action {
        Some(_) => InboxState::Accepted,
        None => InboxState::Ignored,
    };
    let repository = delivery.repository.as_ref();
    let added = tx
        .connection
        .prepare_cached(
            "INSERT INTO webhook_inbox (idempotency_key, event, installation_id, repository_id, \
                repository, body_sha256, normalized_actions, state, received_at, updated_at) \
             VALUES (:key, :event, :installation, :repository_id, :repository, :digest, :actions, \
                :state, :now, :now) \
             ON CONFLICT (idempotency_key) DO NOTHING",
        )?
        .execute(named_params! {
            ":key": key,
            ":event": delivery.event,
            ":installation": delivery.installation.map(|id| id.get()),
            ":repository_id": repository.map(|repository| repository.id.get()),
            ":repository": repository.map(|repository| repository.full_name.as_str()),
            ":digest": delivery.body_sha256.as_bytes(),
            ":actions": delivery.action.as_ref().map(action::encode),
            ":state": state.as_str(),
            ":now": tx.now.micros(),
        })?;
    if added == 0 {
        return again(tx, &key, delivery.body_sha256);
    }
    // A delivery that asks for something names its tenant; without one there is nobody to do it for.
    let (Some(_), Some(installation)) = (&delivery.action, delivery.installation) else {
        return Ok(Recorded::Ignored);
    };
    let inbox_id = tx.connection.last_insert_rowid();
    installations::meet(tx, installation)?;
    let repository = repository.map(|repository| repository.full_name.as_str());
    Ok(Recorded::Accepted(add_job(tx, (inbox_id, &key), installation, repository)?))
}

/// Adds the job of an inbox row. Its key is that of the row, so there is never a second.
fn add_job(
    tx: &mut Tx<'_>,
    (inbox_id, key): (i64, &str),
    installation: InstallationId,
    repository: Option<&str>,
) -> Result<JobId, Error> {
    let job = JobId::from(tx.ids.uuid(tx.now));
    tx.connection
        .prepare_cached(
            "INSERT INTO control_plane_jobs (job_id, idempotency_key, inbox_id, installation_id, \
                repository, status, available_at, created_at, updated_at) \
             VALUES (:job, :key, :inbox, :installation, :repository, 'available', :now, :now, :now)",
        )?
        .execute(named_params! {
            ":job": job.to_string(),
            ":key": key,
            ":inbox": inbox_id,
            ":installation": installation.get(),
            ":repository": repository,
            ":now": tx.now.micros(),
        })?;
    Ok(job)
}

/// Makes the job of an inbox row again that has none.
pub(super) fn recreate_job(tx: &mut Tx<'_>, inbox_id: i64) -> Result<(), Error> {
    let (key, installation, repository): (String, i64, Option<String>) = tx
        .connection
        .prepare_cached(
            "SELECT idempotency_key, installation_id, repository FROM webhook_inbox \
             WHERE inbox_id = :id",
        )?
        .query_row(named_params! { ":id": inbox_id }, |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
    let installation = installation.try_into().map_err(|_| Error::Row("installation_id"))?;
    add_job(tx, (inbox_id, &key), installation, repository.as_deref())?;
    Ok(())
}

/// The id is known: the first delivery stands, this one is counted.
fn again(tx: &Tx<'_>, key: &str, digest: Digest) -> Result<Recorded, Error> {
    let same: bool = tx
        .connection
        .prepare_cached(
            "UPDATE webhook_inbox SET \
                redelivery_count = redelivery_count + (body_sha256 = :digest), \
                conflict_count = conflict_count + (body_sha256 <> :digest) \
             WHERE idempotency_key = :key RETURNING body_sha256 = :digest",
        )?
        .query_row(named_params! { ":key": key, ":digest": digest.as_bytes() }, |row| row.get(0))
        .optional()?
        .ok_or(Error::Row("idempotency_key"))?;
    Ok(if same { Recorded::Duplicate } else { Recorded::Conflict })
}
