//! Sessions: their rows and their allowances.

use crate::domain::digest::Digest;
use crate::domain::id::{DeviceId, PageInstanceId, RelayProcessId, RelaySessionId};
use crate::domain::relay::allowance;
use crate::domain::relay::{DesignTool, session};
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sql::{Db, Row, Tx, params};
use crate::store::types::relay::{NewAllowance, SessionSocket};

/// A session with what the rules need to know about it.
#[derive(Clone, Debug)]
pub(in crate::store) struct Session {
    pub(in crate::store) id: RelaySessionId,
    pub(in crate::store) device: DeviceId,
    pub(in crate::store) subject: String,
    pub(in crate::store) tool: DesignTool,
    pub(in crate::store) lane: Digest,
    pub(in crate::store) state: session::State,
    pub(in crate::store) epoch: u32,
    /// The page whose socket was accepted last.
    pub(in crate::store) page: PageInstanceId,
    /// The process that accepted that socket; `None` for one of an earlier version.
    pub(in crate::store) process: Option<RelayProcessId>,
    pub(in crate::store) allowance: Option<allowance::Allowance>,
}

impl Session {
    /// Returns what names the socket that holds it, or held it last.
    pub(in crate::store) const fn held(&self) -> SessionSocket {
        SessionSocket { session: self.id, epoch: self.epoch }
    }

    /// Says whether it is over.
    pub(in crate::store) const fn has_ended(&self) -> bool {
        matches!(self.state, session::State::Ended)
    }

    /// Says whether it has a socket.
    pub(in crate::store) const fn has_socket(&self) -> bool {
        matches!(self.state, session::State::Connected | session::State::Suspended)
    }
}

/// Sessions: columns and tables.
const SESSIONS: &str = "s.session_id, s.device_id, s.subject, s.tool, s.lane, s.state, s.epoch, s.page, s.process_id, \
        a.page AS allowance_page, a.expires_at AS allowance_until \
    FROM relay_sessions s LEFT JOIN relay_allowances a ON a.session_id = s.session_id";

/// Returns a session.
pub(in crate::store) fn find(db: &Db<'_>, id: RelaySessionId) -> Result<Option<Session>, Error> {
    let sql = format!("SELECT {SESSIONS} WHERE s.session_id = :id");
    db.query_one(&sql, params! { ":id": id }, read)
}

/// Returns the session that a socket holds; `None` once another socket was accepted, or none is left.
pub(in crate::store) fn held(db: &Db<'_>, held: SessionSocket) -> Result<Option<Session>, Error> {
    Ok(find(db, held.session)?
        .filter(|session| session.epoch == held.epoch && session.has_socket()))
}

/// Returns the newest session of a device and lane that has not ended.
pub(in crate::store) fn of_lane(
    db: &Db<'_>,
    device: DeviceId,
    lane: Digest,
) -> Result<Option<Session>, Error> {
    let sql = format!(
        "SELECT {SESSIONS} WHERE s.device_id = :device AND s.lane = :lane AND s.state <> 'ended' \
         ORDER BY s.id DESC LIMIT 1"
    );
    db.query_one(&sql, params! { ":device": device, ":lane": lane }, read)
}

/// Returns the sessions of a device that have not ended.
pub(in crate::store) fn of_device(db: &Db<'_>, device: DeviceId) -> Result<Vec<Session>, Error> {
    let sql = format!("SELECT {SESSIONS} WHERE s.device_id = :device AND s.state <> 'ended'");
    db.query(&sql, params! { ":device": device }, read)
}

/// Returns up to `limit` sessions that were last used before an instant and have not ended.
pub(in crate::store) fn unused(
    db: &Db<'_>,
    before: Timestamp,
    limit: u32,
) -> Result<Vec<Session>, Error> {
    let sql = format!(
        "SELECT {SESSIONS} WHERE s.last_seen_at < :before AND s.state <> 'ended' \
         ORDER BY s.last_seen_at LIMIT +:limit"
    );
    db.query(&sql, params! { ":before": before, ":limit": limit }, read)
}

/// Returns up to so many sessions that a socket held before an instant.
pub(in crate::store) fn left(
    db: &Db<'_>,
    before: Timestamp,
    limit: u32,
) -> Result<Vec<Session>, Error> {
    let sql = format!(
        "SELECT {SESSIONS} WHERE s.state IN ('connected', 'suspended') \
            AND s.last_seen_at < :before ORDER BY s.session_id LIMIT +:limit"
    );
    db.query(&sql, params! { ":before": before, ":limit": limit }, read)
}

/// Returns up to so many sessions that a socket of a process holds.
pub(in crate::store) fn of_process(
    db: &Db<'_>,
    process: RelayProcessId,
    limit: u32,
) -> Result<Vec<Session>, Error> {
    let sql = format!(
        "SELECT {SESSIONS} WHERE s.state IN ('connected', 'suspended') \
            AND s.process_id = :process ORDER BY s.session_id LIMIT +:limit"
    );
    db.query(&sql, params! { ":process": process, ":limit": limit }, read)
}

fn read(row: &Row<'_>) -> Result<Session, Error> {
    let page: Option<PageInstanceId> = row.get("allowance_page")?;
    let until: Option<Timestamp> = row.get("allowance_until")?;
    Ok(Session {
        id: row.get("session_id")?,
        device: row.get("device_id")?,
        subject: row.get("subject")?,
        tool: row.get("tool")?,
        lane: row.get("lane")?,
        state: row.get("state")?,
        epoch: row.get("epoch")?,
        page: row.get("page")?,
        process: row.get("process_id")?,
        allowance: page.zip(until).map(|(page, until)| allowance::Allowance { page, until }),
    })
}

/// Adds a session.
pub(in crate::store) fn insert(tx: &Tx<'_>, session: &Session) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO relay_sessions (session_id, device_id, subject, tool, lane, state, epoch, \
            page, process_id, created_at, last_seen_at) \
         VALUES (:id, :device, :subject, :tool, :lane, :state, :epoch, :page, :process, :now, :now)",
        params! {
            ":id": session.id,
            ":device": session.device,
            ":subject": session.subject,
            ":tool": session.tool,
            ":lane": session.lane,
            ":state": session.state,
            ":epoch": session.epoch,
            ":page": session.page,
            ":process": session.process,
            ":now": tx.now,
        },
    )?;
    Ok(())
}

/// Writes the changes of a session, unless another epoch has begun.
pub(in crate::store) fn update(
    tx: &Tx<'_>,
    session: &Session,
    before: SessionSocket,
) -> Result<(), Error> {
    // `ended` is final: no event may reopen a session, whatever was read before.
    let changed = tx.execute(
        "UPDATE relay_sessions SET state = :state, epoch = :epoch, page = :page, lane = :lane, \
            process_id = :process, last_seen_at = :now, ended_at = CASE WHEN :state = 'ended' THEN :now END \
         WHERE session_id = :id AND epoch = :before AND state <> 'ended'",
        params! {
            ":id": session.id,
            ":before": before.epoch,
            ":state": session.state,
            ":epoch": session.epoch,
            ":page": session.page,
            ":lane": session.lane,
            ":process": session.process,
            ":now": tx.now,
        },
    )?;
    if changed == 1 { Ok(()) } else { Err(Error::Row("relay session")) }
}

/// Notes that a session was used.
pub(in crate::store) fn note_used(tx: &Tx<'_>, id: RelaySessionId) -> Result<(), Error> {
    tx.execute(
        "UPDATE relay_sessions SET last_seen_at = :now WHERE session_id = :id",
        params! { ":id": id, ":now": tx.now },
    )?;
    Ok(())
}

/// Gives a session an allowance, which replaces any that it has.
pub(in crate::store) fn give_allowance(
    tx: &Tx<'_>,
    id: RelaySessionId,
    given: &NewAllowance,
    until: Timestamp,
) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO relay_allowances (session_id, page, expires_at, signature, created_at) \
         VALUES (:id, :page, :until, :signature, :now) \
         ON CONFLICT (session_id) DO UPDATE SET page = excluded.page, \
            expires_at = excluded.expires_at, signature = excluded.signature, \
            created_at = excluded.created_at, ended_at = NULL",
        params! {
            ":id": id,
            ":page": given.page,
            ":until": until,
            ":signature": given.proof.signature,
            ":now": tx.now,
        },
    )?;
    Ok(())
}

/// Deletes a session's allowance. Returns whether its end is still to be audited.
pub(in crate::store) fn end_allowance(tx: &Tx<'_>, id: RelaySessionId) -> Result<bool, Error> {
    let is_news = tx.query_one(
        "DELETE FROM relay_allowances WHERE session_id = :id RETURNING ended_at IS NULL AS is_news",
        params! { ":id": id },
        |row| row.get("is_news"),
    )?;
    Ok(is_news.unwrap_or(false))
}

/// Returns up to `limit` sessions whose allowance has run out, which is not audited yet.
pub(in crate::store) fn with_allowance_over(
    tx: &Tx<'_>,
    limit: u32,
) -> Result<Vec<Session>, Error> {
    let sql = format!(
        "SELECT {SESSIONS} WHERE a.ended_at IS NULL AND a.expires_at <= :now \
         ORDER BY a.expires_at LIMIT +:limit"
    );
    tx.query(&sql, params! { ":now": tx.now, ":limit": limit }, read)
}

/// Notes that it was audited that a session's allowance has run out.
pub(in crate::store) fn note_allowance_over(tx: &Tx<'_>, id: RelaySessionId) -> Result<(), Error> {
    tx.execute(
        "UPDATE relay_allowances SET ended_at = :now WHERE session_id = :id",
        params! { ":id": id, ":now": tx.now },
    )?;
    Ok(())
}
