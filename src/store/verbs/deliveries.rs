//! Recording deliveries: inbox row and job in one transaction, once per delivery id.

use crate::domain::delivery::{self, InboxState, NewDelivery};
use crate::domain::digest::Digest;
use crate::store::error::Error;
use crate::store::rows::{action, inbox, installations};
use crate::store::sql::{Tx, params};
use crate::store::{Lane, Pending, Store};

impl Store {
    /// Records a delivery: its inbox row and, when it asks something of us, its job. The same id
    /// again adds nothing, whatever its body.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when it is not on disk; the peer must not be told that it is.
    pub fn record_delivery(&self, delivery: NewDelivery) -> Result<delivery::Recorded, Error> {
        self.submit_delivery(delivery).wait()
    }

    /// Hands a delivery to the writer without waiting.
    pub fn submit_delivery(&self, delivery: NewDelivery) -> Pending<delivery::Recorded> {
        self.submit(Lane::Urgent, move |tx| record(tx, &delivery))
    }
}

fn record(tx: &mut Tx<'_>, delivery: &NewDelivery) -> Result<delivery::Recorded, Error> {
    let key = delivery.id.idempotency_key();
    let state = match delivery.action {
        Some(_) => InboxState::Accepted,
        None => InboxState::Ignored,
    };
    let repository = delivery.repository.as_ref();
    let added = tx.execute(
        "INSERT INTO webhook_inbox (idempotency_key, event, installation_id, repository_id, \
            repository, body_sha256, normalized_actions, state, received_at, updated_at) \
         VALUES (:key, :event, :installation, :repository_id, :repository, :digest, :actions, \
            :state, :now, :now) \
         ON CONFLICT (idempotency_key) DO NOTHING",
        params! {
            ":key": key,
            ":event": delivery.event,
            ":installation": delivery.installation,
            ":repository_id": repository.map(|repository| repository.id),
            ":repository": repository.map(|repository| &repository.full_name),
            ":digest": delivery.body_sha256,
            ":actions": delivery.action.as_ref().map(action::encode),
            ":state": state,
            ":now": tx.now,
        },
    )?;
    // Not read before the insert: the conflict decides in one statement, and a repeated delivery is rare.
    if added == 0 {
        return again(tx, &key, delivery.body_sha256);
    }
    // A delivery that asks for something names its tenant; without one there is no tenant to do it for.
    let (Some(_), Some(installation)) = (&delivery.action, delivery.installation) else {
        return Ok(delivery::Recorded::Ignored);
    };
    let inbox = tx.inserted_row();
    installations::ensure_installation(tx, installation)?;
    let repository = repository.map(|repository| repository.full_name.as_str());
    Ok(delivery::Recorded::Accepted(inbox::add_job(tx, inbox, &key, installation, repository)?))
}

/// The id is known: the first delivery stands, this one is counted.
fn again(tx: &Tx<'_>, key: &str, digest: Digest) -> Result<delivery::Recorded, Error> {
    let same: Option<bool> = tx.query_one(
        "UPDATE webhook_inbox SET \
            redelivery_count = redelivery_count + (body_sha256 = :digest), \
            conflict_count = conflict_count + (body_sha256 <> :digest) \
         WHERE idempotency_key = :key RETURNING body_sha256 = :digest AS same",
        params! { ":key": key, ":digest": digest },
        |row| row.get("same"),
    )?;
    let same = same.ok_or(Error::Row("idempotency_key"))?;
    Ok(if same { delivery::Recorded::Duplicate } else { delivery::Recorded::Conflict })
}
