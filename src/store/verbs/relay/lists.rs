//! The lists and items that operators see: metadata, the newest row first.

use crate::api::relay::{RelayAuditEvent, RelayDevice, RelayInvocation, RelaySession};
use crate::api::{ListRequest, ListRow as _};
use crate::domain::id::{DeviceId, InvocationId, RelaySessionId};
use crate::domain::lease::RowHandle;
use crate::domain::page::Page;
use crate::domain::time::Timestamp;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::relay::audit;
use crate::store::sql::value::Bind;
use crate::store::sql::{Db, Row, params};

/// Sessions: columns and tables. An allowance is that of the page in which it was given.
const SESSIONS: &str = "s.session_id, s.device_id, s.subject, s.tool, s.state, s.epoch, s.created_at, \
        s.last_seen_at, s.ended_at, a.expires_at AS allowance_until \
    FROM relay_sessions s LEFT JOIN relay_allowances a \
        ON a.session_id = s.session_id AND a.page = s.page";

/// Devices: columns and tables.
const DEVICES: &str = "device_id, subject, tool, state, created_at, last_seen_at, revoked_at \
    FROM relay_devices";

/// Invocations: columns and tables.
const INVOCATIONS: &str = "i.invocation_id, i.proposal_id, i.position, i.session_id, p.subject, p.client, \
        i.action, i.effect, i.arguments_sha256, i.state, i.reason, i.is_late, d.decided_by, \
        p.expires_at, i.created_at, i.updated_at \
    FROM relay_invocations i JOIN relay_proposals p ON p.proposal_id = i.proposal_id \
        LEFT JOIN relay_approvals d ON d.proposal_id = i.proposal_id";

/// Reads a page of a list; `None` if its cursor names no row. `find` looks the cursor up, `list` reads what is below.
fn page<R: crate::api::ListRow<Cursor: Bind>>(
    db: &Db<'_>,
    wanted: &ListRequest<R>,
    (find, list): (&str, &str),
    read: impl Fn(&Row<'_>) -> Result<R, Error>,
) -> Result<Option<Page<R, R::Cursor>>, Error> {
    let below = match wanted.before {
        None => Some(RowHandle::new(i64::MAX)),
        Some(before) => db.query_one(find, params! { ":before": before }, |row| row.get("id"))?,
    };
    let Some(below) = below else { return Ok(None) };
    // One row more than the page shows whether there is another page.
    let limit = i64::from(wanted.limit) + 1;
    let rows = db.query(list, params! { ":below": below, ":limit": limit }, read)?;
    Ok(Some(Page::cut(rows, wanted.limit, R::cursor)))
}

impl Store {
    /// Returns a page of the sessions, including those that have ended, the newest first; `None` if the cursor names
    /// none.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_sessions(
        &self,
        wanted: &ListRequest<RelaySession>,
    ) -> Result<Option<Page<RelaySession, RelaySessionId>>, Error> {
        let find = "SELECT id FROM relay_sessions WHERE session_id = :before";
        let list =
            format!("SELECT {SESSIONS} WHERE s.id < :below ORDER BY s.id DESC LIMIT +:limit");
        let now = self.clock.now();
        self.read(|db| page(db, wanted, (find, &list), |row| session(row, now)))
    }

    /// Returns a session.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_show_session(&self, id: RelaySessionId) -> Result<Option<RelaySession>, Error> {
        let sql = format!("SELECT {SESSIONS} WHERE s.session_id = :id");
        let now = self.clock.now();
        self.read(|db| db.query_one(&sql, params! { ":id": id }, |row| session(row, now)))
    }

    /// Returns a page of the devices, the newest first; `None` if the cursor names none.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_devices(
        &self,
        wanted: &ListRequest<RelayDevice>,
    ) -> Result<Option<Page<RelayDevice, DeviceId>>, Error> {
        let find = "SELECT id FROM relay_devices WHERE device_id = :before";
        let list = format!("SELECT {DEVICES} WHERE id < :below ORDER BY id DESC LIMIT +:limit");
        self.read(|db| page(db, wanted, (find, &list), device))
    }

    /// Returns a device.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_show_device(&self, id: DeviceId) -> Result<Option<RelayDevice>, Error> {
        let sql = format!("SELECT {DEVICES} WHERE device_id = :id");
        self.read(|db| db.query_one(&sql, params! { ":id": id }, device))
    }

    /// Returns a page of the invocations, the newest first; `None` if the cursor names none.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_invocations(
        &self,
        wanted: &ListRequest<RelayInvocation>,
    ) -> Result<Option<Page<RelayInvocation, InvocationId>>, Error> {
        let find = "SELECT id FROM relay_invocations WHERE invocation_id = :before";
        let list =
            format!("SELECT {INVOCATIONS} WHERE i.id < :below ORDER BY i.id DESC LIMIT +:limit");
        self.read(|db| page(db, wanted, (find, &list), invocation))
    }

    /// Returns an invocation.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_show_invocation(
        &self,
        id: InvocationId,
    ) -> Result<Option<RelayInvocation>, Error> {
        let sql = format!("SELECT {INVOCATIONS} WHERE i.invocation_id = :id");
        self.read(|db| db.query_one(&sql, params! { ":id": id }, invocation))
    }

    /// Returns a page of the audit events, the newest first; `None` if the cursor names none.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_audit_events(
        &self,
        wanted: &ListRequest<RelayAuditEvent>,
    ) -> Result<Option<Page<RelayAuditEvent, i64>>, Error> {
        self.read(|db| {
            let before = match wanted.before {
                None => i64::MAX,
                Some(before) if audit::find(db, before)?.is_some() => before,
                Some(_) => return Ok(None),
            };
            let events = audit::before(db, before, i64::from(wanted.limit) + 1)?;
            Ok(Some(Page::cut(events, wanted.limit, RelayAuditEvent::cursor)))
        })
    }

    /// Returns an audit event by its number.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_show_audit_event(&self, seq: i64) -> Result<Option<RelayAuditEvent>, Error> {
        self.read(|db| audit::find(db, seq))
    }
}

fn session(row: &Row<'_>, now: Timestamp) -> Result<RelaySession, Error> {
    let until: Option<Timestamp> = row.get("allowance_until")?;
    Ok(RelaySession {
        session: row.get("session_id")?,
        device: row.get("device_id")?,
        subject: row.get("subject")?,
        tool: row.get("tool")?,
        state: row.get("state")?,
        epoch: row.get("epoch")?,
        // The row stays after its end (docs/decisions/87-relay-audit-signatures.md).
        allowance_until: until.filter(|until| now < *until),
        created_at: row.get("created_at")?,
        last_seen_at: row.get("last_seen_at")?,
        ended_at: row.get("ended_at")?,
    })
}

fn device(row: &Row<'_>) -> Result<RelayDevice, Error> {
    Ok(RelayDevice {
        device: row.get("device_id")?,
        subject: row.get("subject")?,
        tool: row.get("tool")?,
        state: row.get("state")?,
        created_at: row.get("created_at")?,
        last_seen_at: row.get("last_seen_at")?,
        revoked_at: row.get("revoked_at")?,
    })
}

fn invocation(row: &Row<'_>) -> Result<RelayInvocation, Error> {
    Ok(RelayInvocation {
        invocation: row.get("invocation_id")?,
        proposal: row.get("proposal_id")?,
        step: row.get("position")?,
        session: row.get("session_id")?,
        subject: row.get("subject")?,
        client: row.get("client")?,
        action: row.get("action")?,
        effect: row.get("effect")?,
        arguments_sha256: row.get("arguments_sha256")?,
        state: row.get("state")?,
        reason: row.get("reason")?,
        settled_late: row.get("is_late")?,
        decided_by: row.get("decided_by")?,
        expires_at: row.get("expires_at")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}
