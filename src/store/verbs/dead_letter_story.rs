//! The story of one item that died: what it is, every death and how it ended, and what may be done now.
//!
//! See `docs/decisions/120-stories-and-ids.md`.

use crate::api::{DeadLetterDetail, DeadLetterEvent};
use crate::domain::dead_letter::ItemId;
use crate::domain::id::{AttemptId, InstallationId};
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::dead_letters;
use crate::store::sql::{Db, Row, params};

/// Most deaths of one item that are shown.
const DEATHS_MAX: u32 = 100;

impl Store {
    /// Returns the story of one item of an installation that has died, whatever became of it since.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn dead_letter(
        &self,
        installation: InstallationId,
        item: ItemId,
    ) -> Result<Option<DeadLetterDetail>, Error> {
        // Several statements see one state of the file.
        self.read(|db| db.snapshot(|db| story(db, installation, item)))
    }
}

/// A death and how it ended.
struct Death {
    detail: DeadLetterDetail,
    died: DeadLetterEvent,
    end: Option<DeadLetterEvent>,
}

fn story(
    db: &Db<'_>,
    installation: InstallationId,
    item: ItemId,
) -> Result<Option<DeadLetterDetail>, Error> {
    // A replay or a close ends a dead letter in the transaction, and so at the instant, of its audit event.
    let mut deaths = db.query(
        "SELECT d.failed_at, d.item_type, d.item_id, d.repository, d.reason_code, d.error_class, \
            d.cause, d.attempt_count, d.replay_class, d.job_action, d.effect_kind, \
            d.release_run_id, d.attempt_id, d.resolution, d.resolved_at, \
            e.audit_event_id, e.actor, e.reason \
         FROM dead_letters d INDEXED BY dead_letters_of_item \
         LEFT JOIN audit_events e ON d.resolution IN ('replayed', 'closed') \
            AND e.installation_id = d.installation_id AND e.item_type = d.item_type \
            AND e.item_id = d.item_id AND e.created_at = d.resolved_at \
         WHERE d.installation_id = :installation AND d.item_type = :item_type \
            AND d.item_id = :item ORDER BY d.failed_at DESC LIMIT +:limit",
        params! {
            ":installation": installation,
            ":item_type": item.item_type(),
            ":item": item,
            ":limit": DEATHS_MAX,
        },
        death,
    )?;
    deaths.reverse();
    let Some(newest) = deaths.last() else { return Ok(None) };
    let mut detail = newest.detail.clone();
    // The class says what may be done about an open one.
    detail.dead_letter.replay_safe &= newest.end.is_none();
    detail.history = deaths.into_iter().flat_map(|it| [Some(it.died), it.end]).flatten().collect();
    if let Some((status, facts)) = dead_letters::facts(db, installation, item, None)? {
        detail.allowed = facts.allowed().map(Into::into).collect();
        detail.status = Some(status);
    }
    if let Some(attempt) = detail.attempt_id {
        (detail.attempt_number, detail.git_ref) = attempt_of(db, attempt)?.unzip();
    }
    Ok(Some(detail))
}

fn death(row: &Row<'_>) -> Result<Death, Error> {
    let dead_letter = dead_letters::listed(row)?;
    let died = DeadLetterEvent {
        event: "died".into(),
        at: dead_letter.failed_at,
        reason_code: Some(dead_letter.reason_code.to_string()),
        attempt_count: Some(dead_letter.attempt_count),
        actor: None,
        reason: None,
        audit_event_id: None,
    };
    let end = match row.get::<Option<String>>("resolution")? {
        None => None,
        Some(resolution) => Some(DeadLetterEvent {
            event: resolution.into(),
            at: row.get("resolved_at")?,
            reason_code: None,
            attempt_count: None,
            actor: row.get("actor")?,
            reason: row.get("reason")?,
            audit_event_id: row.get("audit_event_id")?,
        }),
    };
    let detail = DeadLetterDetail {
        dead_letter,
        job_action: row.get("job_action")?,
        attempt_id: row.get("attempt_id")?,
        attempt_number: None,
        git_ref: None,
        status: None,
        allowed: Vec::new(),
        history: Vec::new(),
    };
    Ok(Death { detail, died, end })
}

/// Reads the number and the tag of an attempt; returns `None` once its release run was deleted.
fn attempt_of(db: &Db<'_>, attempt: AttemptId) -> Result<Option<(u32, String)>, Error> {
    db.query_one(
        "SELECT a.attempt_number, r.git_ref FROM release_run_attempts a \
         JOIN release_runs r USING (release_run_id) WHERE a.attempt_id = :attempt",
        params! { ":attempt": attempt },
        |row| Ok((row.get("attempt_number")?, row.get("git_ref")?)),
    )
}
