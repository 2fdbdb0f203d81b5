//! What is the same for whatever can be claimed: taking a lease, and reading the claim on a row.

use std::time::Duration;

use crate::domain::lease::{Fence, RowHandle};
use crate::store::error::Error;
use crate::store::sql::{Row, Tx, params};

/// What can be claimed.
#[derive(Clone, Copy)]
pub(in crate::store) enum LeaseQueue {
    Jobs,
    Outbox,
    Reconciliation,
}

impl LeaseQueue {
    /// The statement that leases a row which waits, and no other.
    const fn take(self) -> &'static str {
        match self {
            Self::Jobs => {
                "UPDATE control_plane_jobs SET status = 'leased', \
                    attempt_count = attempt_count + 1, lease_owner = :owner, claim_id = :claim, \
                    fencing_token = :token, lease_expires_at = :expires, updated_at = :now \
                 WHERE id = :id AND status = 'available'"
            }
            Self::Outbox => {
                "UPDATE outbox SET status = 'leased', \
                    attempt_count = attempt_count + 1, lease_owner = :owner, claim_id = :claim, \
                    fencing_token = :token, lease_expires_at = :expires, updated_at = :now \
                 WHERE id = :id AND status = 'available'"
            }
            Self::Reconciliation => {
                "UPDATE reconciliation_items SET status = 'leased', \
                    attempt_count = attempt_count + 1, lease_owner = :owner, claim_id = :claim, \
                    fencing_token = :token, lease_expires_at = :expires, updated_at = :now \
                 WHERE id = :id AND status = 'open'"
            }
        }
    }
}

/// A row that waits, as it was read in this transaction.
#[derive(Clone, Copy)]
pub(in crate::store) struct Waiting {
    pub(in crate::store) row: RowHandle,
    token: i64,
}

/// Reads `id` and `fencing_token` of a row that waits.
pub(in crate::store) fn waiting(row: &Row<'_>) -> Result<Waiting, Error> {
    Ok(Waiting { row: row.get("id")?, token: row.get("fencing_token")? })
}

/// Takes the lease of a row that waits. Its try is counted here, so that a crash counts too.
pub(in crate::store) fn take(
    tx: &mut Tx<'_>,
    queue: LeaseQueue,
    waiting: Waiting,
    owner: &str,
    lease: Duration,
) -> Result<Fence, Error> {
    let Waiting { row, token } = waiting;
    // Random, not counted: two processes on a restored file could otherwise hold the same claim.
    let claim_id: [u8; 16] = tx.ids.bytes();
    let token = token.saturating_add(1);
    let taken = tx.execute(
        queue.take(),
        params! {
            ":id": row,
            ":owner": owner,
            ":claim": claim_id,
            ":token": token,
            ":expires": tx.now.plus(lease),
            ":now": tx.now,
        },
    )?;
    // Cannot happen while the row was read in this transaction; if it does, no lease is handed out.
    if taken == 0 { Err(Error::Row("status")) } else { Ok(Fence { row, claim_id, token }) }
}

/// Reads the claim that is on a row.
pub(in crate::store) fn fence(row: &Row<'_>) -> Result<Fence, Error> {
    Ok(Fence {
        row: row.get("id")?,
        claim_id: row.get("claim_id")?,
        token: row.get("fencing_token")?,
    })
}
