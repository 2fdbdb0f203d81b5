//! Proposals: their rows.

use crate::domain::digest::Digest;
use crate::domain::id::ProposalId;
use crate::store::error::Error;
use crate::store::sql::{Tx, params};
use crate::store::types::relay::{NewInvocation, NewProposal};

/// Adds a proposal, which waits for a decision.
pub(in crate::store) fn insert(tx: &Tx<'_>, proposal: &NewProposal) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO relay_proposals (proposal_id, session_id, subject, client, digest, is_waiting, \
            expires_at, created_at) \
         VALUES (:id, :session, :subject, :client, :digest, 1, :expires_at, :now)",
        params! {
            ":id": proposal.id,
            ":session": proposal.session,
            ":subject": proposal.subject,
            ":client": proposal.client,
            ":digest": proposal.digest,
            ":expires_at": proposal.expires_at,
            ":now": tx.now,
        },
    )?;
    for (position, step) in (0_u32..).zip(&proposal.steps) {
        insert_step(tx, proposal, position, step)?;
    }
    refresh(tx, proposal.id).map(drop)
}

fn insert_step(
    tx: &Tx<'_>,
    proposal: &NewProposal,
    position: u32,
    step: &NewInvocation,
) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO relay_invocations (invocation_id, proposal_id, session_id, position, action, \
            effect, arguments, arguments_sha256, state, created_at, updated_at) \
         VALUES (:id, :proposal, :session, :position, :action, :effect, :arguments, :sha256, \
            'proposed', :now, :now)",
        params! {
            ":id": step.id,
            ":proposal": proposal.id,
            ":session": proposal.session,
            ":position": position,
            ":action": step.action,
            ":effect": step.effect,
            ":arguments": step.arguments,
            ":sha256": step.arguments_sha256,
            ":now": tx.now,
        },
    )?;
    Ok(())
}

/// Notes that one call more stands for a proposal.
pub(in crate::store) fn join(tx: &Tx<'_>, proposal: ProposalId) -> Result<(), Error> {
    tx.execute(
        "UPDATE relay_proposals SET calls = calls + 1 WHERE proposal_id = :id",
        params! { ":id": proposal },
    )?;
    Ok(())
}

/// Notes that one call less stands for a subject's proposal. Returns how many are left; `None` if the subject has no
/// such proposal, or none was left before.
pub(in crate::store) fn leave(
    tx: &Tx<'_>,
    subject: &str,
    proposal: ProposalId,
) -> Result<Option<u32>, Error> {
    tx.query_one(
        "UPDATE relay_proposals SET calls = calls - 1 \
         WHERE proposal_id = :id AND subject = :subject AND calls > 0 RETURNING calls",
        params! { ":id": proposal, ":subject": subject },
        |row| row.get("calls"),
    )
}

/// Notes what the card of a proposal shows; `None` when it is no longer shown.
pub(in crate::store) fn note_preview(
    tx: &Tx<'_>,
    proposal: ProposalId,
    preview: Option<Digest>,
) -> Result<(), Error> {
    tx.execute(
        "UPDATE relay_proposals SET preview_sha256 = :preview WHERE proposal_id = :id",
        params! { ":id": proposal, ":preview": preview },
    )?;
    Ok(())
}

/// Notes whether a proposal waits, and when it has finished, by the states that its steps have now. Returns whether it has
/// finished.
pub(in crate::store) fn refresh(tx: &Tx<'_>, proposal: ProposalId) -> Result<bool, Error> {
    let is_finished = tx.query_one(
        "UPDATE relay_proposals SET \
            is_waiting = EXISTS (SELECT 1 FROM relay_invocations i \
                WHERE i.proposal_id = :id AND i.state IN ('proposed', 'shown')), \
            finished_at = CASE WHEN EXISTS (SELECT 1 FROM relay_invocations i \
                WHERE i.proposal_id = :id \
                    AND i.state IN ('proposed', 'shown', 'approved', 'running')) \
                THEN NULL ELSE coalesce(finished_at, :now) END \
         WHERE proposal_id = :id RETURNING finished_at IS NOT NULL AS is_finished",
        params! { ":id": proposal, ":now": tx.now },
        |row| row.get("is_finished"),
    )?;
    is_finished.ok_or(Error::Row("relay proposal"))
}

/// Returns up to `limit` proposals that were not decided in time.
pub(in crate::store) fn expired(tx: &Tx<'_>, limit: u32) -> Result<Vec<ProposalId>, Error> {
    tx.query(
        "SELECT proposal_id FROM relay_proposals WHERE is_waiting = 1 AND expires_at <= :now \
         ORDER BY expires_at LIMIT +:limit",
        params! { ":now": tx.now, ":limit": limit },
        |row| row.get("proposal_id"),
    )
}
