//! Finding what is amiss, and opening an item for it. Looking is done on a reader; opening checks again
//! in its transaction, so that two replicas that found the same open it once.

use std::ops::ControlFlow;

use crate::domain::id::{InstallationId, ReconciliationId};
use crate::domain::lease::RowHandle;
use crate::domain::reconcile::lifecycle;
use crate::domain::reconcile::{ReconcileKind, ReconcileReason, Rules};
use crate::domain::time::Timestamp;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::inbox;
use crate::store::sql::{Tx, params};
use crate::store::types::Detected;

/// Most candidates of one range of a query, or of one stretch of the inbox.
const DETECT_MAX: u16 = 500;
/// Inbox rows that one detection reads.
/// Why there is no index for this: `docs/decisions/16-inbox-comparison.md`.
const INBOX_ROWS_MAX: u32 = 20_000;

/// Before every inbox row.
const FIRST: RowHandle = RowHandle::new(0);

/// What is amiss with a subject.
struct Candidate {
    reason: ReconcileReason,
    /// An attempt, release run or inbox row.
    subject: String,
    /// The attempt it is about; nothing for an inbox row.
    attempt: Option<String>,
    installation: InstallationId,
}

impl Store {
    /// Opens items for what is wrong. `inbox_after` is where the last scan of the inbox ended, and is
    /// moved on.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was opened.
    pub fn detect(
        &self,
        kind: ReconcileKind,
        rules: Rules,
        now: Timestamp,
        inbox_after: &mut Option<RowHandle>,
    ) -> Result<Detected, Error> {
        let candidates = match kind {
            ReconcileKind::WorkflowAttempt => {
                let mut found = self.candidates(RUNNING, now, &rules)?;
                // Reads of their own, not one snapshot: `open` checks every candidate again.
                found.extend(self.candidates(UNKNOWN_RUN, now, &rules)?);
                found.extend(self.candidates(UNCERTAIN, now, &rules)?);
                found
            }
            ReconcileKind::ReleaseRun => self.candidates(UNPUBLISHED, now, &rules)?,
            ReconcileKind::WebhookInbox => self.drifted(now, &rules, inbox_after)?,
        };
        // The usual case, and it costs the writer nothing.
        if candidates.is_empty() {
            return Ok(Detected::default());
        }
        let full = candidates.len() >= usize::from(DETECT_MAX);
        let items: Vec<_> = self.write(move |tx| {
            candidates.iter().filter_map(|it| open(tx, it, &rules).transpose()).collect()
        })?;
        // Where all of them have an item already, there is no hurry.
        let more = full && !items.is_empty();
        Ok(Detected { items, more })
    }

    /// Candidates older than the observation window. What is newer than now was written by a clock that
    /// was ahead, and is as good as old.
    fn candidates(
        &self,
        sql: &str,
        now: Timestamp,
        rules: &Rules,
    ) -> Result<Vec<Candidate>, Error> {
        let ranges = [(Timestamp::MIN, now.minus(rules.observation)), (now, Timestamp::MAX)];
        self.read(|db| {
            let mut candidates = Vec::new();
            for (after, until) in ranges {
                candidates.extend(db.query(
                    sql,
                    params! { ":after": after, ":until": until, ":limit": DETECT_MAX },
                    |row| {
                        Ok(Candidate {
                            reason: row.get("reason")?,
                            subject: row.get("subject_id")?,
                            attempt: row.get("attempt_id")?,
                            installation: row.get("installation_id")?,
                        })
                    },
                )?);
            }
            Ok(candidates)
        })
    }

    /// Reads a stretch of the inbox, no longer than what one detection opens, and begins anew at its end.
    fn drifted(
        &self,
        now: Timestamp,
        rules: &Rules,
        inbox_after: &mut Option<RowHandle>,
    ) -> Result<Vec<Candidate>, Error> {
        self.read(|db| {
            let (mut candidates, mut count) = (Vec::new(), 0);
            db.each(
                "SELECT i.inbox_id, i.state, i.received_at, i.installation_id, j.status \
                 FROM webhook_inbox i LEFT JOIN control_plane_jobs j ON j.inbox_id = i.inbox_id \
                 WHERE i.inbox_id > :after ORDER BY i.inbox_id LIMIT +:limit",
                params! { ":after": inbox_after.unwrap_or(FIRST), ":limit": INBOX_ROWS_MAX },
                |row| {
                    count += 1;
                    let inbox = row.get("inbox_id")?;
                    // Moved on before the items are opened: what a failed write leaves out is found in the next round.
                    *inbox_after = Some(inbox);
                    // A delivery of no installation never had a job.
                    let Some(installation) = row.get("installation_id")? else {
                        return Ok(ControlFlow::Continue(()));
                    };
                    if let Some(reason) =
                        lifecycle::decide(&inbox::facts(row, rules)?, now).reason()
                    {
                        let subject = inbox.row_number().to_string();
                        candidates.push(Candidate { reason, subject, attempt: None, installation });
                    }
                    let is_full = candidates.len() == usize::from(DETECT_MAX);
                    Ok(if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
                },
            )?;
            let is_full = candidates.len() == usize::from(DETECT_MAX);
            if !is_full && count < INBOX_ROWS_MAX {
                *inbox_after = None;
            }
            Ok(candidates)
        })
    }
}

/// Attempts that have a workflow run and do not end.
const RUNNING: &str = "SELECT 'running_stale' AS reason, a.attempt_id AS subject_id, a.attempt_id, \
        r.forge_installation_id AS installation_id \
    FROM release_run_attempts a JOIN release_runs r \
        ON r.release_run_id = a.release_run_id AND r.current_attempt_id = a.attempt_id \
    WHERE a.status IN ('running', 'reporting') AND a.workflow_run_id IS NOT NULL \
        AND a.updated_at > :after AND a.updated_at <= :until \
        AND NOT EXISTS (SELECT 1 FROM reconciliation_items i \
            WHERE i.subject_id = a.attempt_id AND i.reason = 'running_stale') \
    ORDER BY a.updated_at, a.id LIMIT +:limit";

/// Attempts that were dispatched, without an answer that named the run.
const UNKNOWN_RUN: &str = "SELECT 'run_unknown' AS reason, a.attempt_id AS subject_id, a.attempt_id, \
        r.forge_installation_id AS installation_id \
    FROM release_run_attempts a JOIN release_runs r \
        ON r.release_run_id = a.release_run_id AND r.current_attempt_id = a.attempt_id \
    WHERE a.status IN ('running', 'reporting') AND a.workflow_run_id IS NULL \
        AND a.updated_at > :after AND a.updated_at <= :until \
        AND NOT EXISTS (SELECT 1 FROM reconciliation_items i \
            WHERE i.subject_id = a.attempt_id AND i.reason = 'run_unknown') \
    ORDER BY a.updated_at, a.id LIMIT +:limit";

/// Effects that may have happened and were given up. Where an older version left it at that, and the
/// release has not ended, it is looked for again.
const UNCERTAIN: &str = "SELECT iif(o.kind = 'workflow_dispatch', 'dispatch_uncertain', \
            'check_run_create_uncertain') AS reason, \
        o.attempt_id AS subject_id, o.attempt_id, o.installation_id \
    FROM outbox o WHERE o.status = 'dead_letter' AND o.send_began_at IS NOT NULL \
        AND o.finished_at > :after AND o.finished_at <= :until \
        AND o.kind IN ('workflow_dispatch', 'check_run_create') AND o.payload <> '' \
        AND NOT EXISTS (SELECT 1 FROM reconciliation_items i WHERE i.subject_id = o.attempt_id \
            AND i.reason = iif(o.kind = 'workflow_dispatch', 'dispatch_uncertain', \
                'check_run_create_uncertain') \
            AND (i.finished_at IS NULL OR i.created_at >= o.finished_at) \
            AND NOT (i.outcome_code = 'effect_unproved' AND i.finished_at IS NOT NULL \
                AND EXISTS (SELECT 1 FROM release_runs r \
                    WHERE r.current_attempt_id = o.attempt_id AND r.finished_at IS NULL))) \
    ORDER BY o.finished_at, o.id LIMIT +:limit";

/// Release runs that have ended and whose check run was not confirmed.
const UNPUBLISHED: &str = "SELECT 'reporting_stale' AS reason, r.release_run_id AS subject_id, \
        r.current_attempt_id AS attempt_id, r.forge_installation_id AS installation_id \
    FROM release_runs r WHERE r.forge_check_published_at IS NULL AND r.check_run_id IS NOT NULL \
        AND r.finished_at IS NOT NULL AND r.finished_at > :after AND r.finished_at <= :until \
        AND NOT EXISTS (SELECT 1 FROM reconciliation_items i WHERE i.subject_id = r.release_run_id \
            AND i.reason = 'reporting_stale' AND i.attempt_id = r.current_attempt_id) \
    ORDER BY r.finished_at, r.id LIMIT +:limit";

/// Opens an item, unless there is one: an unfinished one, or one that has told all there is to tell
/// about this attempt.
fn open(
    tx: &mut Tx<'_>,
    candidate: &Candidate,
    rules: &Rules,
) -> Result<Option<(ReconciliationId, ReconcileReason)>, Error> {
    let id = ReconciliationId::from(tx.ids.uuid(tx.now));
    let reason = candidate.reason;
    // An uncertain effect may be replayed and become uncertain again; the others happen once in each attempt.
    let once = matches!(
        reason,
        ReconcileReason::RunningStale
            | ReconcileReason::RunUnknown
            | ReconcileReason::ReportingStale
    );
    let opened = tx.execute(
        "INSERT INTO reconciliation_items (reconciliation_id, kind, reason, subject_id, \
            attempt_id, installation_id, status, next_check_at, deadline_at, created_at, \
            updated_at) \
         SELECT :id, :kind, :reason, :subject, :attempt, :installation, 'open', :now, :deadline, \
            :now, :now \
         WHERE NOT EXISTS (SELECT 1 FROM reconciliation_items \
            WHERE subject_id = :subject AND reason = :reason AND attempt_id IS :attempt \
                AND (:once OR finished_at IS NULL)) \
         ON CONFLICT DO NOTHING",
        params! {
            ":id": id,
            ":kind": reason.kind(),
            ":reason": reason,
            ":subject": candidate.subject,
            ":attempt": candidate.attempt,
            ":installation": candidate.installation,
            ":deadline": tx.now.plus(rules.deadline),
            ":once": once,
            ":now": tx.now,
        },
    )?;
    Ok((opened == 1).then_some((id, reason)))
}
