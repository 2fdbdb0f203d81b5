//! Claims: a process takes the grant whose turn has come, for the page whose socket it holds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::domain::relay::RelayReason;
use crate::domain::relay::grant::GrantClaim;
use crate::domain::relay::invocation;
use crate::store::error::Error;
use crate::store::rows::relay::audit::Account;
use crate::store::rows::relay::invocations::{self, Scene};
use crate::store::rows::relay::sessions::Session;
use crate::store::rows::relay::{grants, steps};
use crate::store::sql::Tx;
use crate::store::types::relay::{Effects, SessionSocket};

/// Whether this process still claims. Checked within the transaction, so that no transaction that begins after the stop
/// claims anything, whichever verb it belongs to.
#[derive(Clone, Default)]
pub(in crate::store) struct Claims {
    are_stopped: Arc<AtomicBool>,
}

impl Claims {
    pub(in crate::store) fn stop(&self) {
        self.are_stopped.store(true, Ordering::Relaxed);
    }

    /// Claims the grant of a session whose turn came first, if it can be claimed. One is enough: a session has at most one
    /// in flight. Returns the reason if the rules refuse.
    pub(in crate::store) fn claim_due(
        &self,
        tx: &mut Tx<'_>,
        session: &Session,
        held: SessionSocket,
        effects: &mut Effects,
    ) -> Result<Option<RelayReason>, Error> {
        // Relaxed: the flag guards no other memory, and the writer's queue orders it before verbs that come later.
        if self.are_stopped.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let Some(mut step) = steps::due(tx, session.id, tx.now)? else { return Ok(None) };
        let Some(grant) = step.grant else { return Ok(None) };
        let (is_session_free, is_lane_free) = grants::are_free(tx, session.id, grant.lane)?;
        let claim = GrantClaim {
            grant: grant.state,
            expires_at: grant.expires_at,
            session: session.state,
            epoch: session.epoch,
            held_epoch: held.epoch,
            is_session_free,
            is_lane_free,
        };
        let outcome =
            invocation::decide(&step.facts(session), &invocation::Event::Claim(claim), tx.now);
        if outcome.to.is_none() {
            return Ok(outcome.reason);
        }
        // `false` is no error: the statement is the second of three guards (docs/decisions/70-relay-store.md).
        if grants::claim(tx, held, grant.id, &step)? {
            let scene = Scene::new(session, Account::default());
            invocations::apply(tx, &scene, &mut step, &outcome, effects)?;
        }
        Ok(None)
    }
}
