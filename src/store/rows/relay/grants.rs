//! Grants: how the right to carry out a step is made, claimed once, and ended.

use std::time::Duration;

use crate::domain::digest::Digest;
use crate::domain::id::{GrantId, InvocationId, ProposalId, RelaySessionId};
use crate::domain::relay::grant;
use crate::store::error::Error;
use crate::store::rows::relay::sessions::Session;
use crate::store::rows::relay::steps::{Grant, Step};
use crate::store::sql::{Tx, params};
use crate::store::types::relay::SessionSocket;

/// Most sessions that are told that a lane is free.
const FREE_FOR_MAX: u32 = 16;

/// Makes the grant of a step that was approved; it can be claimed for `lasts` once its turn has come.
pub(in crate::store) fn mint(
    tx: &mut Tx<'_>,
    session: &Session,
    step: &Step,
    lasts: Duration,
) -> Result<Grant, Error> {
    let state = next(None, grant::Change::Mint)?;
    let id = GrantId::from(tx.ids.uuid(tx.now));
    let position = usize::try_from(step.position).unwrap_or(usize::MAX);
    let expires_at = grant::expires_at(position, tx.now, lasts);
    tx.execute(
        "INSERT INTO relay_grants (grant_id, invocation_id, session_id, lane, state, lasts, \
            expires_at, created_at) \
         VALUES (:id, :invocation, :session, :lane, :state, :lasts, :expires_at, :now)",
        params! {
            ":id": id,
            ":invocation": step.id,
            ":session": session.id,
            ":lane": session.lane,
            ":state": state,
            ":lasts": i64::try_from(lasts.as_micros()).unwrap_or(i64::MAX),
            ":expires_at": expires_at,
            ":now": tx.now,
        },
    )?;
    Ok(Grant { id, state, lane: session.lane, expires_at, claimed_for: None })
}

/// Claims a grant for the page that holds the session's socket. Returns `false` and changes nothing unless the grant is
/// unused and its time not over, the session is connected in the epoch that the caller holds, and nothing else of
/// session and lane is in flight. The rules have checked this before; this statement does not rely on them, and the two
/// unique indexes do not rely on it.
pub(in crate::store) fn claim(
    tx: &Tx<'_>,
    held: SessionSocket,
    grant: GrantId,
    step: &Step,
) -> Result<bool, Error> {
    let taken = tx.execute(
        "UPDATE relay_grants SET state = 'claimed', claimed_at = :now, deadline_at = :deadline, \
            claimed_for = (SELECT page FROM relay_sessions WHERE session_id = :session) \
         WHERE grant_id = :grant AND state = 'unused' AND expires_at > :now \
            AND EXISTS (SELECT 1 FROM relay_sessions s WHERE s.session_id = :session \
                AND s.session_id = relay_grants.session_id \
                AND s.state = 'connected' AND s.epoch = :epoch) \
            AND NOT EXISTS (SELECT 1 FROM relay_grants o \
                WHERE o.session_id = relay_grants.session_id AND o.state = 'claimed') \
            AND NOT EXISTS (SELECT 1 FROM relay_grants o \
                WHERE o.lane = relay_grants.lane AND o.state = 'claimed')",
        params! {
            ":grant": grant,
            ":session": held.session,
            ":epoch": held.epoch,
            ":deadline": tx.now.plus(step.effect.deadline()),
            ":now": tx.now,
        },
    )?;
    Ok(taken == 1)
}

/// Ends a grant, claimed or not.
pub(in crate::store) fn end(
    tx: &Tx<'_>,
    grant: &Grant,
    change: grant::Change,
) -> Result<(), Error> {
    let changed = tx.execute(
        "UPDATE relay_grants SET state = :to WHERE grant_id = :grant AND state = :from",
        params! {
            ":grant": grant.id,
            ":from": grant.state,
            ":to": next(Some(grant.state), change)?,
        },
    )?;
    // The state that was read is compared: ending a grant that was claimed meanwhile would free its lane too early.
    if changed == 1 { Ok(()) } else { Err(Error::Row("relay grant")) }
}

/// Begins the turn of a step: the time in which its grant can be claimed starts.
pub(in crate::store) fn begin_turn(
    tx: &Tx<'_>,
    proposal: ProposalId,
    position: u32,
) -> Result<(), Error> {
    tx.execute(
        "UPDATE relay_grants SET expires_at = :now + lasts \
         WHERE state = 'unused' AND expires_at IS NULL AND invocation_id = \
            (SELECT invocation_id FROM relay_invocations \
             WHERE proposal_id = :proposal AND position = :position)",
        params! { ":proposal": proposal, ":position": position, ":now": tx.now },
    )?;
    Ok(())
}

/// Returns the sessions with a grant that can be claimed once this lane is free.
pub(in crate::store) fn waiting_for(
    tx: &Tx<'_>,
    lane: Digest,
) -> Result<Vec<RelaySessionId>, Error> {
    tx.query(
        "SELECT DISTINCT session_id FROM relay_grants \
         WHERE lane = :lane AND state = 'unused' AND expires_at IS NOT NULL LIMIT +:limit",
        params! { ":lane": lane, ":limit": FREE_FOR_MAX },
        |row| row.get("session_id"),
    )
}

/// Says of a session, and of a lane, whether nothing is in flight.
pub(in crate::store) fn are_free(
    tx: &Tx<'_>,
    session: RelaySessionId,
    lane: Digest,
) -> Result<(bool, bool), Error> {
    let of_session = tx.value(
        "SELECT NOT EXISTS (SELECT 1 FROM relay_grants \
         WHERE session_id = :session AND state = 'claimed')",
        params! { ":session": session },
    )?;
    let of_lane = tx.value(
        "SELECT NOT EXISTS (SELECT 1 FROM relay_grants WHERE lane = :lane AND state = 'claimed')",
        params! { ":lane": lane },
    )?;
    Ok((of_session, of_lane))
}

/// Returns up to `limit` steps whose grants were not claimed in time.
pub(in crate::store) fn expired(tx: &Tx<'_>, limit: u32) -> Result<Vec<InvocationId>, Error> {
    tx.query(
        "SELECT invocation_id FROM relay_grants \
         WHERE state = 'unused' AND expires_at IS NOT NULL AND expires_at <= :now \
         ORDER BY expires_at LIMIT +:limit",
        params! { ":now": tx.now, ":limit": limit },
        |row| row.get("invocation_id"),
    )
}

/// Returns up to `limit` running steps whose results did not come in time.
pub(in crate::store) fn overdue(tx: &Tx<'_>, limit: u32) -> Result<Vec<InvocationId>, Error> {
    tx.query(
        "SELECT invocation_id FROM relay_grants \
         WHERE state = 'claimed' AND deadline_at <= :now ORDER BY deadline_at LIMIT +:limit",
        params! { ":now": tx.now, ":limit": limit },
        |row| row.get("invocation_id"),
    )
}

fn next(state: Option<grant::State>, change: grant::Change) -> Result<grant::State, Error> {
    grant::apply(state, change).ok_or(Error::Row("relay grant"))
}
