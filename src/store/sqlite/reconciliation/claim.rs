//! Claiming an item: whose turn it is, what it is about now, or that there is nothing left to look at.

use std::time::Duration;

use rusqlite::{OptionalExtension as _, named_params};

use super::{Closed, apply, reason, subject};
use crate::domain::digest::Digest;
use crate::domain::id::{InstallationId, ReconciliationId};
use crate::domain::lease::Claim;
use crate::domain::reconcile::look::{Look, Subject};
use crate::domain::reconcile::{Code, Kind, Reason};
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sqlite::command::Tx;
use crate::store::sqlite::{forge_limits, lease, row, turns};

/// Items that one claim closes before it lets others have the writer.
const CLAIM_LOOKS_MAX: u32 = 64;
/// Holders of one item that may vanish before it is given up.
const VANISHED_MAX: u32 = 8;

pub(super) enum Next {
    Claimed(Box<Claim<Look>>),
    LookAgain,
    NothingDue,
}

/// Columns of an item that is not claimed yet.
pub(super) struct Due {
    row: i64,
    token: i64,
    id: ReconciliationId,
    pub(super) reason: Reason,
    pub(super) subject: String,
    /// The attempt it was opened about; nothing for an inbox row.
    pub(super) attempt: Option<String>,
    installation: InstallationId,
    deadline: Timestamp,
    /// What its check run showed when the forge refused to set it.
    pub(super) refused_state: Option<Digest>,
}

pub(super) fn claim(
    tx: &mut Tx<'_>,
    kind: Kind,
    (owner, lease, full): (&str, Duration, &[InstallationId]),
    closed: &mut Vec<Closed>,
) -> Result<Next, Error> {
    for _ in 0..CLAIM_LOOKS_MAX {
        let Some(due) = next_due(tx, kind, full)? else {
            return Ok(Next::NothingDue);
        };
        let loaded = match subject::load(tx, &due) {
            // One that cannot be read ends here, so that it does not keep others from being looked at.
            Err(Error::Row(_)) => Err(Code::SubjectUnreadable),
            loaded => loaded?,
        };
        let subject = match loaded {
            Ok(subject) => subject,
            Err(code) => {
                if code == Code::ForgeCheckRunBindingMismatch {
                    let release_run = due.subject.parse().map_err(|_| Error::Row("subject_id"))?;
                    apply::record_failure(tx, due.installation, release_run, code)?;
                }
                close_unclaimed(tx, due.row, code)?;
                closed.push(Closed { id: due.id, reason: due.reason, code });
                continue;
            }
        };
        if kind.asks_the_forge() {
            forge_limits::take_look(tx, due.installation)?;
        }
        let fence =
            lease::take(tx, ("reconciliation_items", "open"), (due.row, due.token), owner, lease)?;
        let look = look(tx, &due, subject)?;
        return Ok(Next::Claimed(Box::new(Claim { item: look, fence })));
    }
    Ok(Next::LookAgain)
}

/// Finds the next item that is due of the installation whose turn it is.
fn next_due(tx: &Tx<'_>, kind: Kind, full: &[InstallationId]) -> Result<Option<Due>, Error> {
    let now_of_kind = named_params! { ":kind": kind.as_str(), ":now": tx.now.micros() };
    let any_due: bool = tx
        .connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM reconciliation_items \
             WHERE status = 'open' AND kind = :kind AND next_check_at <= :now)",
        )?
        .query_row(now_of_kind, |row| row.get(0))?;
    if !any_due {
        return Ok(None);
    }
    let admits = |installation| {
        Ok(!kind.asks_the_forge()
            || (!full.contains(&installation) && forge_limits::may_look(tx, installation)?))
    };
    let behind = |after| waiting_behind(tx, kind, after);
    let turn = turns::next(tx, (kind.as_str(), 1), behind, admits)?;
    let Some(installation) = turn.first().copied() else { return Ok(None) };
    let mut statement = tx.connection.prepare_cached(
        "SELECT id, fencing_token, reconciliation_id, reason, subject_id, attempt_id, \
            installation_id, deadline_at, refused_state \
         FROM reconciliation_items \
         WHERE status = 'open' AND kind = :kind AND installation_id = :installation \
            AND next_check_at <= :now \
         ORDER BY next_check_at, id LIMIT 1",
    )?;
    let mut rows = statement.query(named_params! {
        ":kind": kind.as_str(),
        ":installation": installation.get(),
        ":now": tx.now.micros(),
    })?;
    rows.next()?
        .map(|row| {
            Ok(Due {
                row: row.get("id")?,
                token: row.get("fencing_token")?,
                id: row::id(row, "reconciliation_id")?,
                reason: reason(row)?,
                subject: row.get("subject_id")?,
                attempt: row.get("attempt_id")?,
                installation,
                deadline: row::instant(row, "deadline_at")?,
                refused_state: row.get::<_, Option<[u8; 32]>>("refused_state")?.map(Digest::from),
            })
        })
        .transpose()
}

fn waiting_behind(tx: &Tx<'_>, kind: Kind, after: i64) -> Result<Option<turns::Waiting>, Error> {
    Ok(tx
        .connection
        .prepare_cached(
            "SELECT installation_id, next_check_at FROM reconciliation_items \
             WHERE status = 'open' AND kind = :kind AND installation_id > :after \
             ORDER BY installation_id, next_check_at LIMIT 1",
        )?
        .query_row(named_params! { ":kind": kind.as_str(), ":after": after }, turns::waiting)
        .optional()?)
}

fn look(tx: &Tx<'_>, due: &Due, subject: Subject) -> Result<Look, Error> {
    Ok(Look {
        id: due.id,
        reason: due.reason,
        deadline: due.deadline,
        installation: due.installation,
        repository: subject::repository(tx, due.installation, &subject)?,
        subject,
    })
}

/// Opens items again whose holder vanished; gives up items whose holders keep vanishing. Returns these, and how
/// many leases ran out.
pub(super) fn take_back_expired(tx: &Tx<'_>, kind: Kind) -> Result<(Vec<Closed>, usize), Error> {
    let mut statement = tx.connection.prepare_cached(
        "UPDATE reconciliation_items SET vanished_count = vanished_count + 1, \
            status = iif(vanished_count + 1 >= :vanished_max, 'dead_letter', 'open'), \
            outcome_code = iif(vanished_count + 1 >= :vanished_max, :crash_loop, outcome_code), \
            finished_at = iif(vanished_count + 1 >= :vanished_max, :now, NULL), \
            next_check_at = :now, lease_owner = NULL, claim_id = NULL, lease_expires_at = NULL, \
            updated_at = :now \
         WHERE id IN (SELECT id FROM reconciliation_items WHERE status = 'leased' \
            AND lease_expires_at <= :now AND kind = :kind ORDER BY lease_expires_at LIMIT +:limit) \
         RETURNING status, reconciliation_id, reason",
    )?;
    let mut rows = statement.query(named_params! {
        ":kind": kind.as_str(),
        ":vanished_max": VANISHED_MAX,
        ":crash_loop": Code::CrashLoop.as_str(),
        ":limit": CLAIM_LOOKS_MAX,
        ":now": tx.now.micros(),
    })?;
    let (mut closed, mut expired) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        expired += 1;
        if row.get::<_, String>("status")? == "dead_letter" {
            let id = row::id(row, "reconciliation_id")?;
            closed.push(Closed { id, reason: reason(row)?, code: Code::CrashLoop });
        }
    }
    Ok((closed, expired))
}

fn close_unclaimed(tx: &Tx<'_>, row: i64, code: Code) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "UPDATE reconciliation_items SET status = :status, outcome_code = :code, \
                finished_at = :now, updated_at = :now WHERE id = :id",
        )?
        .execute(named_params! {
            ":id": row,
            ":status": if code.is_dead() { "dead_letter" } else { "completed" },
            ":code": code.as_str(),
            ":now": tx.now.micros(),
        })?;
    Ok(())
}
