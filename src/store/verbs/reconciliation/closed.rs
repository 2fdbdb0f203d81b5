//! Ends the releases whose effect an operator has closed, a deadline after that: nothing else would.
//!
//! See `docs/decisions/118-closed-dead-letters.md`.

use crate::domain::id::AttemptId;
use crate::domain::lease::RowHandle;
use crate::domain::outbox::EffectKind;
use crate::domain::reconcile::{AttemptStanding, ReconcileCode, Rules, uncertain};
use crate::domain::release::Ending;
use crate::domain::time::Timestamp;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::{attempts, release_end};
use crate::store::sql::{Tx, params};

/// Effects that are read at once.
const READ_MAX: u32 = 64;
/// Readings of one call, at most.
const READINGS_MAX: usize = 16;

/// An effect whose dead letter was closed.
struct ClosedEffect {
    attempt: AttemptId,
    kind: EffectKind,
    is_uncertain: bool,
    closed_at: Timestamp,
    /// It is still the dead effect that was closed.
    is_dead: bool,
}

impl Store {
    /// Applies the deadlines of closed effects that have passed, each in a transaction of its own. Returns the attempts
    /// whose release has ended by it, and how. What it leaves, because there is much or the store cannot be written, is
    /// found by the next call.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was applied.
    pub fn end_closed(&self, rules: Rules) -> Result<Vec<(AttemptId, ReconcileCode)>, Error> {
        let mut ended = Vec::new();
        for _ in 0..READINGS_MAX {
            let due = self.closed_due(rules)?;
            let is_last = due.len() < usize::try_from(READ_MAX).unwrap_or(usize::MAX);
            for row in due {
                match self.write(move |tx| end(tx, row, rules)) {
                    Ok(end) => ended.extend(end),
                    // What does not read cannot be ended, now or later.
                    Err(Error::Row(_)) => self.write(move |tx| mark(tx, row))?,
                    // Those that have ended are told.
                    Err(_) if !ended.is_empty() => return Ok(ended),
                    Err(error) => return Err(error),
                }
            }
            if is_last {
                break;
            }
        }
        Ok(ended)
    }

    fn closed_due(&self, rules: Rules) -> Result<Vec<RowHandle>, Error> {
        let now = self.clock.now();
        self.read(|db| {
            db.query(
                // What is newer than now was closed by a clock that was ahead.
                "SELECT id FROM outbox INDEXED BY outbox_closed \
                 WHERE closed_at IS NOT NULL AND (closed_at <= :until OR closed_at > :now) \
                 LIMIT +:limit",
                params! { ":until": now.minus(rules.deadline), ":now": now, ":limit": READ_MAX },
                |row| row.get("id"),
            )
        })
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
fn end(
    tx: &mut Tx<'_>,
    row: RowHandle,
    rules: Rules,
) -> Result<Option<(AttemptId, ReconcileCode)>, Error> {
    let effect = tx.query_one(
        "SELECT attempt_id, kind, send_began_at IS NOT NULL AS is_uncertain, closed_at, \
            status = 'dead_letter' AS is_dead \
         FROM outbox WHERE id = :id AND closed_at IS NOT NULL",
        params! { ":id": row },
        |row| {
            Ok(ClosedEffect {
                attempt: row.get("attempt_id")?,
                kind: row.get("kind")?,
                is_uncertain: row.get("is_uncertain")?,
                closed_at: row.get("closed_at")?,
                is_dead: row.get("is_dead")?,
            })
        },
    )?;
    let Some(effect) = effect else { return Ok(None) };
    if effect.closed_at > tx.now {
        // Closed by a clock that was ahead: the time for a rerequest begins now.
        tx.execute(
            "UPDATE outbox SET closed_at = :now WHERE id = :id",
            params! { ":id": row, ":now": tx.now },
        )?;
        return Ok(None);
    }
    // Asked again: what was read may be older than the close.
    if effect.closed_at.plus(rules.deadline) > tx.now {
        return Ok(None);
    }
    mark(tx, row)?;
    if !effect.is_dead || attempts::standing_of(tx, effect.attempt)? != AttemptStanding::Current {
        return Ok(None);
    }
    let code = uncertain::closed(effect.kind, effect.is_uncertain);
    release_end::end_release(tx, effect.attempt, Ending::Failed(code))?;
    Ok(Some((effect.attempt, code)))
}
