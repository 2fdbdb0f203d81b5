//! The steps of proposals with what the rules need to know about them, and how they are found.

use crate::domain::digest::Digest;
use crate::domain::id::{GrantId, InvocationId, PageInstanceId, ProposalId, RelaySessionId};
use crate::domain::relay::invocation;
use crate::domain::relay::{ActionEffect, grant};
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::rows::relay::sessions::Session;
use crate::store::sql::{Db, Row, params};

/// Most UNKNOWN steps of a session that a returning page is asked about, the newest first. An older one stays UNKNOWN
/// unless the journal names it.
const UNKNOWN_MAX: u32 = 100;

/// A step of a proposal, its proposal, and its grant.
#[derive(Clone, Debug)]
pub(in crate::store) struct Step {
    pub(in crate::store) id: InvocationId,
    pub(in crate::store) proposal: ProposalId,
    pub(in crate::store) session: RelaySessionId,
    pub(in crate::store) position: u32,
    pub(in crate::store) subject: String,
    pub(in crate::store) client: String,
    pub(in crate::store) action: String,
    pub(in crate::store) effect: ActionEffect,
    pub(in crate::store) arguments_sha256: Digest,
    pub(in crate::store) state: invocation::State,
    /// Until when a decision about it is possible.
    pub(in crate::store) expires_at: Timestamp,
    /// The digest of its proposal's card.
    pub(in crate::store) preview: Option<Digest>,
    pub(in crate::store) grant: Option<Grant>,
}

/// The grant of a step.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) struct Grant {
    pub(in crate::store) id: GrantId,
    pub(in crate::store) state: grant::State,
    pub(in crate::store) lane: Digest,
    pub(in crate::store) expires_at: Option<Timestamp>,
    pub(in crate::store) claimed_for: Option<PageInstanceId>,
}

impl Step {
    /// Returns what the rules need to know.
    pub(in crate::store) const fn facts(&self, session: &Session) -> invocation::Facts {
        invocation::Facts {
            state: self.state,
            effect: self.effect,
            expires_at: self.expires_at,
            preview: self.preview,
            session: session.id,
            device: session.device,
            epoch: session.epoch,
            page: session.page,
            allowance: session.allowance,
        }
    }
}

/// Steps: columns and tables.
const STEPS: &str = "i.invocation_id, i.proposal_id, i.session_id, i.position, i.action, i.effect, \
        i.arguments_sha256, i.state, p.subject, p.client, p.expires_at, p.preview_sha256, g.grant_id, \
        g.state AS grant_state, g.lane, g.expires_at AS grant_expires_at, g.claimed_for \
    FROM relay_invocations i JOIN relay_proposals p ON p.proposal_id = i.proposal_id \
        LEFT JOIN relay_grants g ON g.invocation_id = i.invocation_id";

/// Returns the steps of a proposal, in order.
pub(in crate::store) fn of_proposal(db: &Db<'_>, proposal: ProposalId) -> Result<Vec<Step>, Error> {
    let sql = format!("SELECT {STEPS} WHERE i.proposal_id = :proposal ORDER BY i.position");
    db.query(&sql, params! { ":proposal": proposal }, read)
}

/// Returns a step.
pub(in crate::store) fn find(db: &Db<'_>, id: InvocationId) -> Result<Option<Step>, Error> {
    let sql = format!("SELECT {STEPS} WHERE i.invocation_id = :id");
    db.query_one(&sql, params! { ":id": id }, read)
}

/// Returns the step that a grant is for.
pub(in crate::store) fn of_grant(db: &Db<'_>, grant: GrantId) -> Result<Option<Step>, Error> {
    let sql = format!(
        "SELECT {STEPS} WHERE i.invocation_id = \
            (SELECT invocation_id FROM relay_grants WHERE grant_id = :grant)"
    );
    db.query_one(&sql, params! { ":grant": grant }, read)
}

/// Returns the steps of a session that have not ended, the oldest first.
pub(in crate::store) fn open(db: &Db<'_>, session: RelaySessionId) -> Result<Vec<Step>, Error> {
    let sql = format!(
        "SELECT {STEPS} WHERE i.session_id = :session \
            AND i.state IN ('proposed', 'shown', 'approved', 'running') ORDER BY i.id"
    );
    db.query(&sql, params! { ":session": session }, read)
}

/// Returns the newest UNKNOWN steps of a session.
pub(in crate::store) fn unknown(db: &Db<'_>, session: RelaySessionId) -> Result<Vec<Step>, Error> {
    let sql = format!(
        "SELECT {STEPS} WHERE i.session_id = :session AND i.state = 'unknown' \
            ORDER BY i.id DESC LIMIT +:limit"
    );
    db.query(&sql, params! { ":session": session, ":limit": UNKNOWN_MAX }, read)
}

/// Returns the step of a session whose turn came first and is not over.
pub(in crate::store) fn due(
    db: &Db<'_>,
    session: RelaySessionId,
    now: Timestamp,
) -> Result<Option<Step>, Error> {
    let sql = format!(
        "SELECT {STEPS} WHERE i.invocation_id = (SELECT invocation_id FROM relay_grants \
            WHERE session_id = :session AND state = 'unused' AND expires_at IS NOT NULL \
                AND expires_at > :now \
            ORDER BY id LIMIT 1)"
    );
    db.query_one(&sql, params! { ":session": session, ":now": now }, read)
}

fn read(row: &Row<'_>) -> Result<Step, Error> {
    // From a LEFT JOIN: before its approval a step has no grant, and these columns are NULL together.
    let grant: Option<GrantId> = row.get("grant_id")?;
    let grant = match grant {
        None => None,
        Some(id) => Some(Grant {
            id,
            state: row.get("grant_state")?,
            lane: row.get("lane")?,
            expires_at: row.get("grant_expires_at")?,
            claimed_for: row.get("claimed_for")?,
        }),
    };
    Ok(Step {
        id: row.get("invocation_id")?,
        proposal: row.get("proposal_id")?,
        session: row.get("session_id")?,
        position: row.get("position")?,
        subject: row.get("subject")?,
        client: row.get("client")?,
        action: row.get("action")?,
        effect: row.get("effect")?,
        arguments_sha256: row.get("arguments_sha256")?,
        state: row.get("state")?,
        expires_at: row.get("expires_at")?,
        preview: row.get("preview_sha256")?,
        grant,
    })
}
