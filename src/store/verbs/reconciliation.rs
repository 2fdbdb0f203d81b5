//! Reconciliation items: opened once for what is amiss with a subject, claimed with a lease, looked at,
//! and put off or finished. A finished item keeps its subject from being found again.

mod acknowledge;
mod apply;
mod claim;
mod closed;
mod detect;
mod given_up;

use std::time::Duration;

use crate::domain::lease::Claim;
use crate::domain::pace::Pace;
use crate::domain::reconcile::task::ReconcileTask;
use crate::domain::time::Timestamp;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::items::Back;
use crate::store::rows::{forge_limits, items};
use crate::store::sql::params;

impl Store {
    /// Gives a claimed item back as if it had not been claimed, to be looked at from then on: nothing was
    /// learned about it.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when the claim is no longer ours.
    pub fn postpone_reconcile(
        &self,
        claim: &Claim<ReconcileTask>,
        until: Timestamp,
    ) -> Result<(), Error> {
        let fence = claim.fence;
        self.write(move |tx| {
            // A pause that is over already must not put the item before those that have waited longer.
            let back = Back { uncounted: 1, ..Back::at(until.max(tx.now)) };
            items::give_back(tx, fence, &back)
        })
    }

    /// Books the write that an observation leads to; or returns when it may leave, because the installation is paused
    /// or has used up its writes.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when less than `needed` of the lease is left: nothing may be written at the
    /// forge.
    pub fn begin_write(
        &self,
        claim: &Claim<ReconcileTask>,
        needed: Duration,
        pace: Pace,
    ) -> Result<Option<Timestamp>, Error> {
        let (fence, installation) = (claim.fence, claim.item.installation);
        self.write(move |tx| {
            let holds: bool = tx.value(
                "SELECT EXISTS (SELECT 1 FROM reconciliation_items \
                 WHERE id = :id AND claim_id = :claim AND lease_expires_at >= :needed_until)",
                params! {
                    ":id": fence.row,
                    ":claim": fence.claim_id,
                    ":needed_until": tx.now.plus(needed),
                },
            )?;
            if !holds {
                // Two holders could otherwise write to the same check run one after the other.
                return Err(Error::LeaseLost);
            }
            forge_limits::book_write(tx, installation, pace)
        })
    }
}
