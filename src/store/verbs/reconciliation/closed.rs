//! Ends the releases whose effect an operator has closed, a deadline after that: nothing else would.
//!
//! See `docs/decisions/118-closed-dead-letters.md`.

use crate::domain::id::AttemptId;
use crate::domain::lease::RowHandle;
use crate::domain::outbox::EffectKind;
use crate::domain::reconcile::{AttemptStanding, ReconcileCode, Rules, uncertain};
use crate::domain::release::Ending;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::{attempts, release_end};
use crate::store::sql::{Tx, params};

/// Effects that one call reads at most.
const ENDED_MAX: u32 = 64;

/// An effect whose dead letter was closed.
struct ClosedEffect {
    attempt: AttemptId,
    kind: EffectKind,
    is_uncertain: bool,
}

impl Store {
    /// Applies the deadlines of closed effects that have passed, each in a transaction of its own. Returns the attempts
    /// whose release has ended by it, and how.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the rest was not applied.
    pub fn end_closed(&self, rules: Rules) -> Result<Vec<(AttemptId, ReconcileCode)>, Error> {
        let now = self.clock.now();
        let due: Vec<RowHandle> = self.read(|db| {
            db.query(
                // What is newer than now was closed by a clock that was ahead.
                "SELECT id FROM outbox INDEXED BY outbox_closed \
                 WHERE closed_at IS NOT NULL AND (closed_at <= :until OR closed_at > :now) \
                 LIMIT +:limit",
                params! { ":until": now.minus(rules.deadline), ":now": now, ":limit": ENDED_MAX },
                |row| row.get("id"),
            )
        })?;
        let mut ended = Vec::new();
        for row in due {
            match self.write(move |tx| end(tx, row)) {
                Ok(end) => ended.extend(end),
                // What does not read cannot be ended, now or later.
                Err(Error::Row(_)) => self.write(move |tx| mark(tx, row))?,
                Err(error) => return Err(error),
            }
        }
        Ok(ended)
    }
}

fn mark(tx: &Tx<'_>, row: RowHandle) -> Result<(), Error> {
    tx.execute(
        "UPDATE outbox SET closed_at = NULL, updated_at = :now WHERE id = :id",
        params! { ":id": row, ":now": tx.now },
    )?;
    Ok(())
}

/// Ends the release of a closed effect, unless a result, a rerequest or another process came first.
fn end(tx: &mut Tx<'_>, row: RowHandle) -> Result<Option<(AttemptId, ReconcileCode)>, Error> {
    let effect = tx.query_one(
        "SELECT attempt_id, kind, send_began_at IS NOT NULL AS is_uncertain FROM outbox \
         WHERE id = :id AND status = 'dead_letter' AND closed_at IS NOT NULL",
        params! { ":id": row },
        |row| {
            Ok(ClosedEffect {
                attempt: row.get("attempt_id")?,
                kind: row.get("kind")?,
                is_uncertain: row.get("is_uncertain")?,
            })
        },
    )?;
    mark(tx, row)?;
    let Some(effect) = effect else { return Ok(None) };
    if attempts::standing_of(tx, effect.attempt)? != AttemptStanding::Current {
        return Ok(None);
    }
    let code = uncertain::closed(effect.kind, effect.is_uncertain);
    release_end::end_release(tx, effect.attempt, Ending::Failed(code))?;
    Ok(Some((effect.attempt, code)))
}
