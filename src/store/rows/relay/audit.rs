//! The relay's audit log: a chain in which each event holds the hash of the one before it.

use serde_json::Value;

use crate::api::relay::RelayAuditEvent;
use crate::crypto::sha256;
use crate::domain::digest::Digest;
use crate::domain::id::PairingId;
use crate::domain::relay::allowance::Length;
use crate::domain::relay::{DecidedBy, RelayEventName, RelayReason};
use crate::json;
use crate::store::error::Error;
use crate::store::rows::relay::sessions::Session;
use crate::store::rows::relay::steps::Step;
use crate::store::sql::{Db, Row, Tx, params};
use crate::store::types::relay::{Device, KeyPoint, Proof};

/// What the first event has instead of the hash of an event before it.
pub(in crate::store) const BEGINNING: [u8; 32] = [0; 32];

const COLUMNS: &str = "seq, event, subject, client, device_id, session_id, pairing_id, proposal_id, invocation_id, \
    action, arguments_sha256, card_sha256, preview_sha256, decided_by, reason, epoch, minutes, nonce, public_key, \
    signature, actor, created_at, prev_hash, hash";

/// What a device signed, as far as the other members of an event do not say it.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) enum Signed<'a> {
    /// The person's answer to a pairing.
    Confirm(PairingId, &'a Proof),
    /// A decision about the card of these steps.
    Decision(&'a [Digest], [u8; 64]),
    Allowance(Length, &'a Proof),
}

impl Signed<'_> {
    const fn signature(&self) -> [u8; 64] {
        match self {
            Self::Decision(_, signature) => *signature,
            Self::Confirm(_, proof) | Self::Allowance(_, proof) => proof.signature,
        }
    }
}

/// The account that did something, and what proves it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::store) struct Account<'a> {
    pub(in crate::store) by: Option<DecidedBy>,
    pub(in crate::store) preview: Option<Digest>,
    pub(in crate::store) signed: Option<Signed<'a>>,
    /// The configured actor, where an operator did it.
    pub(in crate::store) actor: Option<&'a str>,
}

impl<'a> Account<'a> {
    pub(in crate::store) const fn operator(actor: &'a str) -> Self {
        let by = Some(DecidedBy::Operator);
        Self { by, preview: None, signed: None, actor: Some(actor) }
    }

    /// Of the person, the plugin or the caller.
    pub(in crate::store) fn of(by: DecidedBy) -> Self {
        Self { by: Some(by), ..Self::default() }
    }
}

/// Records what happened to a device; of one that was paired, also its key and through which client.
pub(in crate::store) fn device(
    tx: &Tx<'_>,
    event: RelayEventName,
    device: &Device,
    paired: Option<(&KeyPoint, Option<&str>)>,
    account: &Account<'_>,
) -> Result<(), Error> {
    let event = RelayAuditEvent {
        client: paired.and_then(|(_, client)| client).map(str::to_owned),
        device: Some(device.id),
        public_key: paired.map(|(key, _)| hex(key)),
        ..blank(tx, event, &device.subject, account)?
    };
    add(tx, &event, account, paired.map(|(key, _)| key))
}

/// Records what happened to a session.
pub(in crate::store) fn session(
    tx: &Tx<'_>,
    event: RelayEventName,
    session: &Session,
    account: &Account<'_>,
) -> Result<(), Error> {
    let blank = blank(tx, event, &session.subject, account)?;
    let (device, epoch) = (Some(session.device), Some(session.epoch));
    let event = RelayAuditEvent { device, session: Some(session.id), epoch, ..blank };
    add(tx, &event, account, None)
}

/// Records what happened to a step of a proposal.
pub(in crate::store) fn step(
    tx: &Tx<'_>,
    event: RelayEventName,
    (session, step): (&Session, &Step),
    reason: Option<RelayReason>,
    account: &Account<'_>,
) -> Result<(), Error> {
    let event = RelayAuditEvent {
        client: Some(step.client.clone()),
        device: Some(session.device),
        session: Some(session.id),
        proposal: Some(step.proposal),
        invocation: Some(step.id),
        action: Some(step.action.clone()),
        arguments_sha256: Some(step.arguments_sha256),
        reason: reason.map(|reason| reason.as_str().to_owned()),
        epoch: Some(session.epoch),
        ..blank(tx, event, &session.subject, account)?
    };
    add(tx, &event, account, None)
}

/// Returns the next event, without what it is about.
fn blank(
    tx: &Tx<'_>,
    event: RelayEventName,
    subject: &str,
    account: &Account<'_>,
) -> Result<RelayAuditEvent, Error> {
    let (last, prev_hash) = head(tx)?;
    let (mut pairing, mut card_sha256, mut minutes, mut nonce) = (None, None, None, None);
    match account.signed {
        None => {}
        Some(Signed::Confirm(id, proof)) => {
            (pairing, nonce) = (Some(id), Some(proof.nonce.clone()));
        }
        Some(Signed::Decision(card, _)) => card_sha256 = Some(card.to_vec()),
        Some(Signed::Allowance(length, proof)) => {
            (minutes, nonce) = (Some(length.minutes()), Some(proof.nonce.clone()));
        }
    }
    Ok(RelayAuditEvent {
        // Counted here instead of by the database: a gap in the numbers then shows that an event was removed.
        seq: last.checked_add(1).ok_or(Error::Row("seq"))?,
        event: event.as_str().to_owned(),
        subject: subject.to_owned(),
        client: None,
        device: None,
        session: None,
        pairing,
        proposal: None,
        invocation: None,
        action: None,
        arguments_sha256: None,
        card_sha256,
        preview_sha256: account.preview,
        decided_by: account.by.map(|by| by.as_str().to_owned()),
        reason: None,
        epoch: None,
        minutes,
        nonce,
        public_key: None,
        signature: account.signed.map(|signed| hex(&signed.signature())),
        actor: account.actor.map(str::to_owned),
        created_at: tx.now,
        prev_hash,
        // Replaced when the row is written: the hash covers the other members.
        hash: prev_hash,
    })
}

/// Returns the number and the hash of the last event.
fn head(db: &Db<'_>) -> Result<(i64, Digest), Error> {
    let last = db.query_one(
        "SELECT seq, hash FROM relay_audit_events \
         WHERE seq = (SELECT max(seq) FROM relay_audit_events)",
        params! {},
        |row| Ok((row.get("seq")?, row.get("hash")?)),
    )?;
    Ok(last.unwrap_or((0, BEGINNING.into())))
}

fn add(
    tx: &Tx<'_>,
    event: &RelayAuditEvent,
    account: &Account<'_>,
    key: Option<&KeyPoint>,
) -> Result<(), Error> {
    let card = event.card_sha256.as_ref();
    let card: Option<Vec<u8>> =
        card.map(|digests| digests.iter().flat_map(|it| *it.as_bytes()).collect());
    tx.execute(
        "INSERT INTO relay_audit_events (seq, event, subject, client, device_id, session_id, \
            pairing_id, proposal_id, invocation_id, action, arguments_sha256, card_sha256, \
            preview_sha256, decided_by, reason, epoch, minutes, nonce, public_key, signature, \
            actor, created_at, prev_hash, hash) \
         VALUES (:seq, :event, :subject, :client, :device, :session, :pairing, :proposal, \
            :invocation, :action, :arguments, :card, :preview, :by, :reason, :epoch, :minutes, \
            :nonce, :key, :signature, :actor, :now, :prev_hash, :hash)",
        params! {
            ":seq": event.seq,
            ":event": event.event,
            ":subject": event.subject,
            ":client": event.client,
            ":device": event.device,
            ":session": event.session,
            ":pairing": event.pairing,
            ":proposal": event.proposal,
            ":invocation": event.invocation,
            ":action": event.action,
            ":arguments": event.arguments_sha256,
            ":card": card,
            ":preview": event.preview_sha256,
            ":by": event.decided_by,
            ":reason": event.reason,
            ":epoch": event.epoch,
            ":minutes": event.minutes,
            ":nonce": event.nonce,
            ":key": key,
            ":signature": account.signed.map(|signed| signed.signature()),
            ":actor": event.actor,
            ":now": event.created_at,
            ":prev_hash": event.prev_hash,
            ":hash": hash(event)?,
        },
    )?;
    Ok(())
}

/// Returns the hash that an event must have. Members that are null are left out, so that an event keeps its hash when
/// a later version adds members.
pub(in crate::store) fn hash(event: &RelayAuditEvent) -> Result<Digest, Error> {
    let Ok(Value::Object(mut members)) = serde_json::to_value(event) else {
        return Err(Error::Row("relay audit event"));
    };
    members.retain(|name, value| !value.is_null() && name != "hash" && name != "prevHash");
    let mut hashed = event.prev_hash.as_bytes().to_vec();
    hashed.extend(json::canonical(&Value::Object(members)));
    Ok(sha256::of(&hashed))
}

/// An event, and the key of its device when it happened.
pub(in crate::store) type Keyed = (RelayAuditEvent, Option<KeyPoint>);

/// Returns at most `limit` events after the one of that number, the oldest first; for one that cannot be read, only its
/// number. The key is that of the event in which the device was paired, which no later change of its row can replace;
/// events of earlier steps have none, and leave it to the row.
pub(in crate::store) fn after(
    db: &Db<'_>,
    seq: i64,
    limit: u32,
) -> Result<Vec<(i64, Option<Keyed>)>, Error> {
    let sql = format!(
        "SELECT {COLUMNS}, coalesce( \
            (SELECT p.public_key FROM relay_audit_events p WHERE p.device_id = e.device_id \
                AND p.public_key IS NOT NULL AND p.seq <= e.seq ORDER BY p.seq LIMIT 1), \
            (SELECT d.public_key FROM relay_devices d WHERE d.device_id = e.device_id) \
         ) AS device_key \
         FROM relay_audit_events e WHERE seq > :seq ORDER BY seq LIMIT +:limit"
    );
    db.query(&sql, params! { ":seq": seq, ":limit": limit }, |row| {
        // One damaged event must not hide those after it, so its error becomes a value.
        let keyed = read(row).and_then(|event| Ok((event, row.get("device_key")?)));
        Ok((row.get("seq")?, keyed.ok()))
    })
}

/// Returns at most `limit` events before the one of that number, the newest first.
pub(in crate::store) fn before(
    db: &Db<'_>,
    seq: i64,
    limit: i64,
) -> Result<Vec<RelayAuditEvent>, Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM relay_audit_events WHERE seq < :seq ORDER BY seq DESC LIMIT +:limit"
    );
    db.query(&sql, params! { ":seq": seq, ":limit": limit }, read)
}

/// Returns the event of that number.
pub(in crate::store) fn find(db: &Db<'_>, seq: i64) -> Result<Option<RelayAuditEvent>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM relay_audit_events WHERE seq = :seq");
    db.query_one(&sql, params! { ":seq": seq }, read)
}

fn read(row: &Row<'_>) -> Result<RelayAuditEvent, Error> {
    let signature: Option<[u8; 64]> = row.get("signature")?;
    let public_key: Option<KeyPoint> = row.get("public_key")?;
    Ok(RelayAuditEvent {
        seq: row.get("seq")?,
        event: row.get("event")?,
        subject: row.get("subject")?,
        client: row.get("client")?,
        device: row.get("device_id")?,
        session: row.get("session_id")?,
        pairing: row.get("pairing_id")?,
        proposal: row.get("proposal_id")?,
        invocation: row.get("invocation_id")?,
        action: row.get("action")?,
        arguments_sha256: row.get("arguments_sha256")?,
        card_sha256: card(row)?,
        preview_sha256: row.get("preview_sha256")?,
        decided_by: row.get("decided_by")?,
        reason: row.get("reason")?,
        epoch: row.get("epoch")?,
        minutes: row.get("minutes")?,
        nonce: row.get("nonce")?,
        public_key: public_key.as_ref().map(|key| hex(key)),
        signature: signature.as_ref().map(|signature| hex(signature)),
        actor: row.get("actor")?,
        created_at: row.get("created_at")?,
        prev_hash: row.get("prev_hash")?,
        hash: row.get("hash")?,
    })
}

fn card(row: &Row<'_>) -> Result<Option<Vec<Digest>>, Error> {
    let bytes: Option<Vec<u8>> = row.get("card_sha256")?;
    let (digests, rest) = bytes.as_deref().map(<[u8]>::as_chunks::<32>).unzip();
    match rest {
        // Digests are stored one behind the other, 32 bytes each; a remainder is damage.
        Some([_, ..]) => Err(Error::Row("card_sha256")),
        _ => Ok(digests.map(|digests| digests.iter().map(|it| Digest::from(*it)).collect())),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
