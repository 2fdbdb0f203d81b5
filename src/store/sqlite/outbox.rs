//! The outbox: side effects at the forge, each stored with its key before it is sent. Within an
//! attempt they go one after another; an unfinished one, a dead one too, holds those behind it, unless it
//! is a dead dispatch.

use std::time::Duration;

use rusqlite::{OptionalExtension as _, Row, named_params};

use crate::domain::event::CommitSha;
use crate::domain::id::{AttemptId, InstallationId, OutboxId};
use crate::domain::lease::{Claim, Fence};
use crate::domain::outbox::{self, Effect, EffectKind, Message, SendResult, Settlement, Tries};
use crate::domain::pace::Pace;
use crate::domain::retry::RetryPolicy;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sqlite::command::Tx;
use crate::store::sqlite::releases::Target;
use crate::store::sqlite::{
    LeasePolicy, Store, effect, forge_limits, lease, releases, row, settlement, turns,
};

/// A message that is due, with its row and its fencing token.
type Due = (Message, (i64, i64));

/// Expired leases that one claim takes back, at most, so that it does not hold up its group.
const EXPIRED_MAX: u32 = 128;

impl Store {
    /// Claims the message whose turn it is: claims go round the installations that have something due, may
    /// write at that pace, are not paused, and are not among the `full` ones. One whose holder
    /// vanished is due again, or given up.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was claimed.
    pub fn claim_message(
        &self,
        owner: &str,
        policy: LeasePolicy,
        pace: Pace,
        full: Vec<InstallationId>,
    ) -> Result<Option<Box<Claim<Message>>>, Error> {
        let owner = owner.to_owned();
        let (claim, expired) = self.write(move |tx| {
            let expired = take_back_expired(tx, &policy.retry)?;
            let Some((mut message, row)) = next_due(tx, pace, &full)? else {
                return Ok((None, expired));
            };
            let fence = lease::take(tx, ("outbox", "available"), row, &owner, policy.lease)?;
            message.try_count = message.try_count.saturating_add(1);
            Ok((Some(Box::new(Claim { item: message, fence })), expired))
        })?;
        self.count_lease_expiries(expired);
        Ok(claim)
    }

    /// Notes that the effect is about to leave. Whoever finds this mark later knows that it may have
    /// happened. Or returns when it may be claimed again, because the installation is paused or has used up
    /// its writes, or its check run has turned out not to be ours; then nothing is noted.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when less than `needed` of the lease is left: nothing may be sent.
    pub fn begin_send(
        &self,
        claim: &Claim<Message>,
        needed: Duration,
        pace: Pace,
    ) -> Result<Option<Timestamp>, Error> {
        let (fence, installation) = (claim.fence, claim.item.installation);
        let (kind, attempt) = (claim.item.kind, claim.item.attempt);
        self.write(move |tx| {
            if kind == EffectKind::CheckRunUpdate && releases::is_check_run_foreign(tx, attempt)? {
                return Ok(Some(tx.now));
            }
            match forge_limits::book_write(tx, installation, pace)? {
                Some(until) => Ok(Some(until)),
                None => begin_send(tx, fence, needed).map(|()| None),
            }
        })
    }

    /// Finishes a claimed message by what came of sending it. `in_doubt` says that an effect may have
    /// happened and nothing has disproved it.
    ///
    /// An answer that names the workflow run counts after the lease was lost, too: it proves a
    /// dispatch that was given up as uncertain meanwhile.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when the claim is no longer ours: nothing was recorded.
    pub fn settle_message(
        &self,
        claim: &Claim<Message>,
        result: SendResult,
        in_doubt: bool,
        policy: RetryPolicy,
    ) -> Result<Settlement, Error> {
        let (fence, kind) = (claim.fence, claim.item.kind);
        let (count, lag_count) = (claim.item.try_count, claim.item.lag_count);
        self.write(move |tx| {
            let target = match held(tx, fence) {
                Err(Error::LeaseLost) => return settlement::prove_late(tx, fence, result),
                held => held?,
            };
            let jitter = tx.ids.fraction();
            let tries = Tries { count, lag_count, in_doubt, policy: &policy, jitter };
            let settlement = settlement::disown_taken_number(
                tx,
                target.1,
                outbox::settle(kind, result, tries, tx.now),
            )?;
            if let Some(until) = result.pause_until() {
                forge_limits::pause(tx, target.0.installation, until)?;
            }
            settlement::apply(tx, fence, target, settlement, in_doubt)
        })
    }
}

/// Adds an effect of an attempt. It is held while one before it is unfinished, a dead one too. A dead
/// dispatch holds none: only the final check run update can follow it, and that must still be sent.
pub(super) fn add(
    tx: &mut Tx<'_>,
    target: Target,
    attempt: AttemptId,
    effect: &Effect,
) -> Result<(), Error> {
    let id = OutboxId::from(tx.ids.uuid(tx.now));
    tx.connection
        .prepare_cached(
            "INSERT INTO outbox (outbox_id, effect_key, installation_id, repository_id, \
                release_run_id, attempt_id, kind, payload, status, available_at, created_at, \
                updated_at) \
             VALUES (:id, :key, :installation, :repository, :release, :attempt, :kind, :payload, \
                iif(EXISTS (SELECT 1 FROM outbox WHERE attempt_id = :attempt \
                    AND status IN ('held', 'available', 'leased', 'dead_letter') \
                    AND NOT (kind = 'workflow_dispatch' AND status = 'dead_letter')), \
                    'held', 'available'), \
                :now, :now, :now)",
        )?
        .execute(named_params! {
            ":id": id.to_string(),
            ":key": effect.key(attempt),
            ":installation": target.installation.get(),
            ":repository": target.repository.get(),
            ":release": target.release_run.to_string(),
            ":attempt": attempt.to_string(),
            ":kind": effect.kind().as_str(),
            ":payload": effect::encode(effect),
            ":now": tx.now.micros(),
        })?;
    Ok(())
}

/// Lets the first unfinished message of an attempt go, when it is held.
pub(super) fn advance(tx: &Tx<'_>, attempt: AttemptId) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "UPDATE outbox SET status = 'available', available_at = :now, updated_at = :now \
             WHERE status = 'held' AND id = (SELECT min(id) FROM outbox WHERE attempt_id = :attempt \
                AND status IN ('held', 'available', 'leased', 'dead_letter') \
                AND NOT (kind = 'workflow_dispatch' AND status = 'dead_letter'))",
        )?
        .execute(named_params! { ":attempt": attempt.to_string(), ":now": tx.now.micros() })?;
    Ok(())
}

/// Takes what an old attempt still had to send out of circulation, whoever holds it.
pub(super) fn supersede(tx: &Tx<'_>, attempt: AttemptId) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "UPDATE outbox SET status = 'superseded', payload = '', lease_owner = NULL, \
                claim_id = NULL, lease_expires_at = NULL, finished_at = :now, updated_at = :now \
             WHERE attempt_id = :attempt AND status IN ('held', 'available', 'leased', 'dead_letter')",
        )?
        .execute(named_params! { ":attempt": attempt.to_string(), ":now": tx.now.micros() })?;
    Ok(())
}

/// Takes what waits behind a dead message of an attempt out of circulation: nothing is started any more.
pub(super) fn supersede_held(tx: &Tx<'_>, attempt: AttemptId) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "UPDATE outbox SET status = 'superseded', payload = '', finished_at = :now, \
                updated_at = :now \
             WHERE attempt_id = :attempt \
                AND status IN ('held', 'available', 'leased', 'dead_letter') AND status = 'held'",
        )?
        .execute(named_params! { ":attempt": attempt.to_string(), ":now": tx.now.micros() })?;
    Ok(())
}

/// Takes updates of an attempt's check run out of circulation that nobody is sending: a later one says
/// all there is to say.
pub(super) fn supersede_idle_updates(tx: &Tx<'_>, attempt: AttemptId) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "UPDATE outbox SET status = 'superseded', payload = '', finished_at = :now, \
                updated_at = :now \
             WHERE attempt_id = :attempt AND kind = 'check_run_update' \
                AND status IN ('held', 'available', 'leased', 'dead_letter') AND status <> 'leased'",
        )?
        .execute(named_params! { ":attempt": attempt.to_string(), ":now": tx.now.micros() })?;
    Ok(())
}

/// Says whether this would open the check run of a release run that has ended: the end says all there is
/// to say, and has perhaps been told already.
pub(super) fn is_overtaken(tx: &Tx<'_>, fence: Fence) -> Result<bool, Error> {
    Ok(tx
        .connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM outbox m \
                JOIN release_runs r ON r.current_attempt_id = m.attempt_id \
             WHERE m.id = :id AND m.kind = 'check_run_update' AND r.finished_at IS NOT NULL \
                AND m.effect_key <> 'check_run_update.completed:' || m.attempt_id)",
        )?
        .query_row(named_params! { ":id": fence.row }, |row| row.get(0))?)
}

/// Settles messages whose holder vanished. Returns how many leases that were.
fn take_back_expired(tx: &mut Tx<'_>, policy: &RetryPolicy) -> Result<usize, Error> {
    let mut expired = Vec::new();
    {
        let mut statement = tx.connection.prepare_cached(
            "SELECT id, claim_id, fencing_token, kind, attempt_count, send_began_at FROM outbox \
             WHERE status = 'leased' AND lease_expires_at <= :now \
             ORDER BY lease_expires_at, id LIMIT +:limit",
        )?;
        let mut rows =
            statement.query(named_params! { ":now": tx.now.micros(), ":limit": EXPIRED_MAX })?;
        while let Some(row) = rows.next()? {
            let in_doubt = row.get::<_, Option<i64>>("send_began_at")?.is_some();
            let tries = row.get::<_, u32>("attempt_count")?;
            expired.push((lease::fence(row)?, row::effect_kind(row)?, tries, in_doubt));
        }
    }
    let count = expired.len();
    for (fence, kind, tries, in_doubt) in expired {
        let target = held(tx, fence)?;
        let settlement = outbox::after_vanished(kind, in_doubt, tries, policy)
            .unwrap_or(Settlement::RetryAt(tx.now));
        settlement::apply(tx, fence, target, settlement, in_doubt)?;
    }
    Ok(count)
}

/// Finds the next message that is due of the installation whose turn it is.
fn next_due(tx: &Tx<'_>, pace: Pace, full: &[InstallationId]) -> Result<Option<Due>, Error> {
    let any_due: bool = tx
        .connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM outbox WHERE status = 'available' AND available_at <= :now)",
        )?
        .query_row(named_params! { ":now": tx.now.micros() }, |row| row.get(0))?;
    if !any_due {
        return Ok(None);
    }
    let turn = turns::next(
        tx,
        ("outbox", 1),
        |after| waiting_behind(tx, after),
        |installation| {
            Ok(!full.contains(&installation)
                && forge_limits::write_not_before(tx, installation, pace)?.is_none())
        },
    )?;
    let Some(installation) = turn.first() else { return Ok(None) };
    let mut statement = tx.connection.prepare_cached(
        "SELECT o.id, o.fencing_token, o.outbox_id, o.attempt_count, o.lag_count, \
            o.installation_id, o.release_run_id, o.attempt_id, o.kind, o.payload, o.send_began_at, \
            a.check_run_id, a.check_run_name, a.check_run_mismatch_at, r.head_sha, \
            p.repository_id, p.full_name AS repository \
         FROM outbox o JOIN release_run_attempts a USING (attempt_id) \
         JOIN release_runs r ON r.release_run_id = o.release_run_id \
         LEFT JOIN repositories p ON p.repository_id = o.repository_id \
            AND p.installation_id = o.installation_id AND p.state = 'active' \
         WHERE o.status = 'available' AND o.installation_id = :installation \
            AND o.available_at <= :now \
         ORDER BY o.available_at, o.id LIMIT 1",
    )?;
    let mut rows = statement.query(named_params! {
        ":installation": installation.get(),
        ":now": tx.now.micros(),
    })?;
    let row = rows.next()?.ok_or(Error::Row("available_at"))?;
    Ok(Some((message(row)?, (row.get("id")?, row.get("fencing_token")?))))
}

fn waiting_behind(tx: &Tx<'_>, after: i64) -> Result<Option<turns::Waiting>, Error> {
    Ok(tx
        .connection
        .prepare_cached(
            "SELECT installation_id, available_at FROM outbox \
             WHERE status = 'available' AND installation_id > :after \
             ORDER BY installation_id, available_at LIMIT 1",
        )?
        .query_row(named_params! { ":after": after }, turns::waiting)
        .optional()?)
}

fn message(row: &Row<'_>) -> Result<Message, Error> {
    let payload: String = row.get("payload")?;
    Ok(Message {
        id: row::id(row, "outbox_id")?,
        installation: row::number(row, "installation_id")?,
        // One that does not read is as good as none: this message ends, the others go on.
        repository: row::repository(row).unwrap_or_default(),
        release_run: row::id(row, "release_run_id")?,
        attempt: row::id(row, "attempt_id")?,
        head_sha: CommitSha::new(&row.get::<_, String>("head_sha")?),
        check_run: row::number_or_null(row, "check_run_id")?,
        check_run_name: row.get("check_run_name")?,
        check_run_is_ours: row.get::<_, Option<i64>>("check_run_mismatch_at")?.is_none(),
        effect: effect::decode(&payload),
        kind: row::effect_kind(row)?,
        try_count: row.get("attempt_count")?,
        lag_count: row.get("lag_count")?,
        sent_before: row.get::<_, Option<i64>>("send_began_at")?.is_some(),
    })
}

fn begin_send(tx: &Tx<'_>, fence: Fence, needed: Duration) -> Result<(), Error> {
    let marked: Option<(String, String)> = tx
        .connection
        .prepare_cached(
            "UPDATE outbox SET send_began_at = :now, updated_at = :now \
             WHERE id = :id AND claim_id = :claim AND status = 'leased' \
                AND lease_expires_at >= :needed_until RETURNING kind, attempt_id",
        )?
        .query_row(
            named_params! {
                ":id": fence.row,
                ":claim": fence.claim_id,
                ":needed_until": tx.now.plus(needed).micros(),
                ":now": tx.now.micros(),
            },
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    let (kind, attempt) = marked.ok_or(Error::LeaseLost)?;
    if kind == EffectKind::WorkflowDispatch.as_str() {
        releases::dispatching(tx, attempt.parse().map_err(|_| Error::Row("attempt_id"))?)?;
    }
    Ok(())
}

/// Checks that the claim is still ours; returns whose it is.
fn held(tx: &Tx<'_>, fence: Fence) -> Result<(Target, AttemptId), Error> {
    let mut statement = tx.connection.prepare_cached(
        "SELECT installation_id, repository_id, release_run_id, attempt_id FROM outbox \
         WHERE id = :id AND claim_id = :claim AND status = 'leased'",
    )?;
    let mut rows = statement.query(named_params! { ":id": fence.row, ":claim": fence.claim_id })?;
    target(rows.next()?.ok_or(Error::LeaseLost)?)
}

/// Reads whose message a row is.
pub(super) fn target(row: &Row<'_>) -> Result<(Target, AttemptId), Error> {
    let target = Target {
        installation: row::number(row, "installation_id")?,
        repository: row::number(row, "repository_id")?,
        release_run: row::id(row, "release_run_id")?,
    };
    Ok((target, row::id(row, "attempt_id")?))
}
