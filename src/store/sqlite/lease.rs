//! What is the same for whatever can be claimed: taking a lease, and reading the claim on a row.

use std::time::Duration;

use rusqlite::{Row, named_params};

use crate::domain::lease::Fence;
use crate::store::error::Error;
use crate::store::sqlite::command::Tx;

/// Takes the lease of a row that waits in that status, as it was read in this transaction: its number and
/// its fencing token. Its try is counted here, so that a crash counts too.
pub(super) fn take(
    tx: &mut Tx<'_>,
    (table, waiting): (&'static str, &'static str),
    (row, token): (i64, i64),
    owner: &str,
    lease: Duration,
) -> Result<Fence, Error> {
    let claim_id: [u8; 16] = tx.ids.bytes();
    let token = token.saturating_add(1);
    let taken = tx
        .connection
        .prepare_cached(&format!(
            "UPDATE {table} SET status = 'leased', attempt_count = attempt_count + 1, \
                lease_owner = :owner, claim_id = :claim, fencing_token = :token, \
                lease_expires_at = :expires, updated_at = :now \
             WHERE id = :id AND status = '{waiting}'"
        ))?
        .execute(named_params! {
            ":id": row,
            ":owner": owner,
            ":claim": claim_id,
            ":token": token,
            ":expires": tx.now.plus(lease).micros(),
            ":now": tx.now.micros(),
        })?;
    if taken == 0 { Err(Error::Row("status")) } else { Ok(Fence { row, claim_id, token }) }
}

/// Reads the claim that is on a row.
pub(super) fn fence(row: &Row<'_>) -> Result<Fence, Error> {
    Ok(Fence {
        row: row.get("id")?,
        claim_id: row.get("claim_id")?,
        token: row.get("fencing_token")?,
    })
}
