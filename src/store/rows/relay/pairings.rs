//! Pairings: their rows.

use crate::domain::digest::Digest;
use crate::domain::id::{PairingId, RelaySessionId};
use crate::domain::relay::DesignTool;
use crate::domain::relay::pairing;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sql::{Db, Row, Tx, params};
use crate::store::types::relay::{KeyPoint, NewPairing, SessionSocket};

pub(in crate::store) struct Pairing {
    pub(in crate::store) id: PairingId,
    pub(in crate::store) key: KeyPoint,
    pub(in crate::store) tool: DesignTool,
    /// The session that gets another file, and the socket that asks for it.
    pub(in crate::store) session: Option<SessionSocket>,
    pub(in crate::store) state: pairing::State,
    /// The subject who typed the code, or to whom the device belongs.
    pub(in crate::store) subject: Option<String>,
    pub(in crate::store) client: Option<String>,
    /// The end of its present state.
    pub(in crate::store) expires_at: Timestamp,
}

/// How a pairing begins: with a code, or claimed by a subject for an existing or a new session.
#[derive(Clone, Copy)]
pub(in crate::store) enum Beginning<'a> {
    Code(Digest),
    Subject(&'a str, Option<SessionSocket>),
}

/// Pairings: columns and tables.
const PAIRINGS: &str = "pairing_id, public_key, tool, session_id, session_epoch, state, subject, client, expires_at \
    FROM relay_pairings";

/// Returns a pairing.
pub(in crate::store) fn find(db: &Db<'_>, id: PairingId) -> Result<Option<Pairing>, Error> {
    let sql = format!("SELECT {PAIRINGS} WHERE pairing_id = :id");
    db.query_one(&sql, params! { ":id": id }, read)
}

/// Returns the pairing that offers a code.
pub(in crate::store) fn offering(db: &Db<'_>, code: Digest) -> Result<Option<Pairing>, Error> {
    let sql = format!("SELECT {PAIRINGS} WHERE code_sha256 = :code AND state = 'offered'");
    db.query_one(&sql, params! { ":code": code }, read)
}

/// Returns up to `limit` open pairings whose time is over.
pub(in crate::store) fn expired(tx: &Tx<'_>, limit: u32) -> Result<Vec<Pairing>, Error> {
    let sql = format!(
        "SELECT {PAIRINGS} WHERE finished_at IS NULL AND expires_at <= :now \
         ORDER BY expires_at LIMIT +:limit"
    );
    tx.query(&sql, params! { ":now": tx.now, ":limit": limit }, read)
}

fn read(row: &Row<'_>) -> Result<Pairing, Error> {
    let session: Option<RelaySessionId> = row.get("session_id")?;
    let epoch: Option<u32> = row.get("session_epoch")?;
    Ok(Pairing {
        id: row.get("pairing_id")?,
        key: row.get("public_key")?,
        tool: row.get("tool")?,
        session: session.zip(epoch).map(|(session, epoch)| SessionSocket { session, epoch }),
        state: row.get("state")?,
        subject: row.get("subject")?,
        client: row.get("client")?,
        expires_at: row.get("expires_at")?,
    })
}

/// Counts the pairings whose time is not over.
pub(in crate::store) fn open(tx: &Tx<'_>) -> Result<u32, Error> {
    tx.value(
        "SELECT count(*) FROM relay_pairings WHERE finished_at IS NULL AND expires_at > :now",
        params! { ":now": tx.now },
    )
}

/// Says whether a person is asked whether the session that a socket holds may have another file.
pub(in crate::store) fn is_asked_about(tx: &Tx<'_>, held: SessionSocket) -> Result<bool, Error> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM relay_pairings INDEXED BY relay_pairings_open \
            WHERE finished_at IS NULL AND session_id = :session AND session_epoch = :epoch)",
        params! { ":session": held.session, ":epoch": held.epoch },
    )
}

/// Adds a pairing. Returns `false` if another one offers the same code.
pub(in crate::store) fn insert(
    tx: &Tx<'_>,
    pairing: &NewPairing,
    beginning: Beginning<'_>,
) -> Result<bool, Error> {
    let (code, subject, session, state) = match beginning {
        Beginning::Code(code) => (Some(code), None, None, pairing::State::Offered),
        Beginning::Subject(subject, session) => {
            (None, Some(subject), session, pairing::State::Claimed)
        }
    };
    // Codes are unique only while they are offered, so a finished pairing does not block a code for ever.
    let inserted = tx.execute(
        "INSERT INTO relay_pairings (pairing_id, code_sha256, public_key, tool, session_id, \
            session_epoch, state, subject, client, expires_at, created_at) \
         VALUES (:id, :code, :key, :tool, :session, :epoch, :state, :subject, :client, :expires_at, :now) \
         ON CONFLICT (code_sha256) WHERE state = 'offered' DO NOTHING",
        params! {
            ":id": pairing.id,
            ":code": code,
            ":key": pairing.key,
            ":tool": pairing.tool,
            ":session": session.map(|held| held.session),
            ":epoch": session.map(|held| held.epoch),
            ":state": state,
            ":subject": subject,
            // A known device types no code, so there is no client; the column is set as soon as there is a subject.
            ":client": subject.map(|_| ""),
            ":expires_at": pairing.expires_at,
            ":now": tx.now,
        },
    )?;
    Ok(inserted == 1)
}

/// Notes the subject who typed the code, and until when the person can confirm.
pub(in crate::store) fn claim(
    tx: &Tx<'_>,
    pairing: &Pairing,
    (subject, client): (&str, &str),
    until: Timestamp,
) -> Result<(), Error> {
    let changed = tx.execute(
        "UPDATE relay_pairings SET state = 'claimed', subject = :subject, client = :client, \
            expires_at = :until \
         WHERE pairing_id = :id AND state = 'offered'",
        params! {
            ":id": pairing.id,
            ":subject": subject,
            ":client": client,
            ":until": until,
        },
    )?;
    if changed == 1 { Ok(()) } else { Err(Error::Row("relay pairing")) }
}

/// Ends a pairing.
pub(in crate::store) fn finish(
    tx: &Tx<'_>,
    pairing: &Pairing,
    to: pairing::State,
) -> Result<(), Error> {
    let changed = tx.execute(
        "UPDATE relay_pairings SET state = :to, finished_at = :now \
         WHERE pairing_id = :id AND state = :from",
        params! { ":id": pairing.id, ":from": pairing.state, ":to": to, ":now": tx.now },
    )?;
    if changed == 1 { Ok(()) } else { Err(Error::Row("relay pairing")) }
}
