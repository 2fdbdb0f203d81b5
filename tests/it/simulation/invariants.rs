//! What must hold after every step, whatever failed; and what must have happened once nothing fails.

use svc::domain::outbox::CheckRunStatus;

use super::world::World;

/// The quick ones, after every step; the others now and then.
pub(super) fn check(world: &World) {
    let forge = world.forge.lock().unwrap();
    for ((effect, attempt), count) in &forge.effects {
        // A dispatch happens once whatever the clock does. A check run may be made twice when the
        // clock steps over the lease in the middle of the call that makes it.
        let may_repeat = match *effect {
            "update" => true,
            "create" => forge.outlasted.contains(attempt),
            _ => false,
        };
        assert!(may_repeat || *count <= 1, "{effect} of attempt {attempt} happened {count} times");
    }
    drop(forge);
    if world.chance.one_in(25) {
        look_at_everything(world);
    }
}

/// Every row.
pub(super) fn look_at_everything(world: &World) {
    for (what, sql) in MUST_BE_ZERO {
        let count: i64 = world.ask(sql);
        assert_eq!(count, 0, "{what}");
    }
    let operations = i64::try_from(world.known.lock().unwrap().operations.len()).unwrap();
    let audited = "SELECT count(*) FROM audit_events WHERE event IN \
        ('control_plane.dead_letter_replayed', 'control_plane.dead_letter_closed')";
    assert_eq!(world.ask::<i64>(audited), operations, "audit events");
    closed_for_ever(world);
    for attempt in
        world.rows("SELECT current_attempt_id FROM release_runs WHERE status = 'succeeded'")
    {
        let decided = world.known.lock().unwrap().decided.contains(&attempt[0].parse().unwrap());
        assert!(decided, "attempt {} succeeded without a verified result", attempt[0]);
    }
    if !world.is_damaged_now_and_then() {
        inbox_and_jobs_agree(world);
    }
}

/// What was closed is never sent, and never open again.
fn closed_for_ever(world: &World) {
    let closed = &world.known.lock().unwrap().closed;
    let going = "SELECT d.item_id FROM dead_letters d LEFT JOIN outbox o ON o.outbox_id = d.item_id \
        LEFT JOIN control_plane_jobs j ON j.job_id = d.item_id \
        WHERE d.resolution IS NULL OR coalesce(o.status, j.status) IN ('available', 'leased')";
    for item in world.rows(going) {
        assert!(!closed.contains(&item[0]), "{} goes on after it was closed", item[0]);
    }
}

/// Damage aside, they agree after every step; and damage is repaired.
fn inbox_and_jobs_agree(world: &World) {
    let drifted = "SELECT count(*) FROM webhook_inbox i JOIN control_plane_jobs j USING (inbox_id) \
         WHERE i.state <> CASE j.status WHEN 'available' THEN 'accepted' \
            WHEN 'leased' THEN 'processing' WHEN 'completed' THEN 'processed' ELSE j.status END";
    assert_eq!(world.ask::<i64>(drifted), 0, "an inbox row that does not follow its job");
    let acknowledged = i64::try_from(world.known.lock().unwrap().acknowledged.len()).unwrap();
    let kept = "SELECT count(*) FROM control_plane_jobs";
    assert_eq!(world.ask::<i64>(kept), acknowledged, "acknowledged deliveries and jobs");
}

/// Questions whose answer must be nothing.
const MUST_BE_ZERO: &[(&str, &str)] = &[
    (
        "a job of another tenant than its delivery",
        "SELECT count(*) FROM webhook_inbox i JOIN control_plane_jobs j USING (inbox_id) \
         WHERE i.installation_id <> j.installation_id",
    ),
    (
        "a dead item without an open dead letter that was not closed",
        "SELECT (SELECT count(*) FROM control_plane_jobs WHERE status = 'dead_letter') \
            + (SELECT count(*) FROM outbox WHERE status = 'dead_letter') \
            - (SELECT count(*) FROM dead_letters WHERE resolution IS NULL) \
            - (SELECT count(*) FROM dead_letters d WHERE resolution = 'closed' AND (EXISTS \
                (SELECT 1 FROM outbox o WHERE o.outbox_id = d.item_id AND o.status = 'dead_letter') \
                OR EXISTS (SELECT 1 FROM control_plane_jobs j WHERE j.job_id = d.item_id)))",
    ),
    (
        "content of what was closed",
        "SELECT (SELECT count(*) FROM dead_letters d JOIN outbox o ON o.outbox_id = d.item_id \
                WHERE d.resolution = 'closed' AND o.payload <> '') \
            + (SELECT count(*) FROM dead_letters d JOIN control_plane_jobs j ON j.job_id = d.item_id \
                JOIN webhook_inbox i USING (inbox_id) \
                WHERE d.resolution = 'closed' AND i.normalized_actions IS NOT NULL)",
    ),
    (
        "a dead letter of another tenant than its item",
        "SELECT count(*) FROM dead_letters d JOIN outbox o ON o.outbox_id = d.item_id \
         WHERE d.installation_id <> o.installation_id",
    ),
    (
        "an attempt with two messages under way",
        "SELECT count(*) FROM (SELECT attempt_id FROM outbox \
         WHERE status IN ('available', 'leased') GROUP BY attempt_id HAVING count(*) > 1)",
    ),
    (
        "a message under way behind an unfinished one",
        "SELECT count(*) FROM outbox later JOIN outbox earlier USING (attempt_id) \
         WHERE earlier.id < later.id AND earlier.status IN ('available', 'leased', 'dead_letter') \
            AND NOT (earlier.kind = 'workflow_dispatch' AND earlier.status = 'dead_letter') \
            AND later.status IN ('available', 'leased', 'completed')",
    ),
    (
        "something to send for an attempt that is not the current one",
        "SELECT count(*) FROM outbox o JOIN release_runs r USING (release_run_id) \
         WHERE o.attempt_id <> r.current_attempt_id \
            AND o.status IN ('held', 'available', 'leased', 'dead_letter')",
    ),
    (
        "a dispatch that waits to be sent though it may have been",
        "SELECT count(*) FROM outbox WHERE kind = 'workflow_dispatch' AND status = 'available' \
            AND send_began_at IS NOT NULL",
    ),
    (
        "a dispatch in doubt that is safe to replay",
        "SELECT count(*) FROM dead_letters d JOIN outbox o ON o.outbox_id = d.item_id \
         WHERE d.resolution IS NULL AND d.replay_safe AND o.kind = 'workflow_dispatch' \
            AND o.send_began_at IS NOT NULL",
    ),
    (
        "a release that succeeded without a result of its current attempt that says so",
        "SELECT count(*) FROM release_runs r WHERE status = 'succeeded' AND NOT EXISTS \
            (SELECT 1 FROM release_run_results s WHERE s.release_run_id = r.release_run_id \
                AND s.attempt_id = r.current_attempt_id \
                AND s.decision IN ('accepted', 'accepted_at_risk'))",
    ),
    (
        "a release whose end is not its attempt's",
        "SELECT count(*) FROM release_runs r JOIN release_run_attempts a \
            ON a.attempt_id = r.current_attempt_id WHERE r.status <> a.status",
    ),
    (
        "an end without the conclusion the forge is told, or such a conclusion without an end",
        "SELECT count(*) FROM release_runs \
         WHERE (finished_at IS NULL) <> (forge_conclusion IS NULL)",
    ),
    (
        "two items at work on one thing",
        "SELECT count(*) FROM (SELECT subject_id FROM reconciliation_items \
         WHERE status IN ('open', 'leased') GROUP BY subject_id, reason HAVING count(*) > 1)",
    ),
    (
        "a stable failure that was recorded twice for one attempt",
        "SELECT count(*) FROM (SELECT subject_id FROM reconciliation_items \
         WHERE reason = 'reporting_stale' AND status = 'completed' \
            AND outcome_code LIKE 'forge_check_run_%' \
         GROUP BY subject_id, attempt_id HAVING count(*) > 1)",
    ),
    (
        "content of a job that is done",
        "SELECT count(*) FROM webhook_inbox WHERE state = 'processed' \
            AND normalized_actions IS NOT NULL",
    ),
    (
        "a number of the forge with two owners",
        "SELECT count(*) - count(DISTINCT workflow_run_id) FROM release_run_attempts \
         WHERE workflow_run_id IS NOT NULL",
    ),
];

/// Everything that was acknowledged has come to an end, or waits for an operator.
pub(super) fn at_rest(world: &World) {
    let moving = "SELECT count(*) FROM control_plane_jobs WHERE status IN ('available', 'leased')";
    assert_eq!(world.ask::<i64>(moving), 0, "jobs that never end");
    let moving = "SELECT count(*) FROM outbox WHERE status IN ('available', 'leased')";
    assert_eq!(world.ask::<i64>(moving), 0, "messages that never end");
    let stuck = "SELECT count(*) FROM outbox h WHERE h.status = 'held' AND NOT EXISTS \
        (SELECT 1 FROM outbox d WHERE d.attempt_id = h.attempt_id AND d.status = 'dead_letter')";
    assert_eq!(world.ask::<i64>(stuck), 0, "messages held behind nothing");
    inbox_and_jobs_agree(world);
    for (what, sql) in ZERO_AT_REST {
        assert_eq!(world.ask::<i64>(sql), 0, "{what}");
    }
    ends_are_shown(world);
    assert!(svc::runtime::clock::Clock::now(world.clock.as_ref()) > world.began());
}

/// Questions whose answer must be nothing once nothing fails any more.
const ZERO_AT_REST: &[(&str, &str)] = &[
    (
        "an item that is never finished",
        "SELECT count(*) FROM reconciliation_items WHERE status IN ('open', 'leased')",
    ),
    (
        "an attempt with a workflow run that never ends",
        "SELECT count(*) FROM release_run_attempts a WHERE status IN ('running', 'reporting') \
            AND workflow_run_id IS NOT NULL",
    ),
    (
        "a release whose effect was never confirmed and that never ends",
        "SELECT count(*) FROM dead_letters d JOIN outbox o ON o.outbox_id = d.item_id \
         JOIN release_runs r ON r.current_attempt_id = o.attempt_id \
         WHERE d.resolution IS NULL AND r.finished_at IS NULL \
            AND d.replay_class IN ('dispatch_uncertain', 'create_uncertain')",
    ),
    (
        "a release whose effect was closed and that never ends",
        "SELECT count(*) FROM dead_letters d JOIN outbox o ON o.outbox_id = d.item_id \
         JOIN release_runs r ON r.current_attempt_id = o.attempt_id \
         WHERE d.resolution = 'closed' AND o.status = 'dead_letter' AND r.finished_at IS NULL \
            AND o.kind <> 'check_run_update'",
    ),
    (
        "an end that the forge was not told and that is not recorded as a failure",
        "SELECT count(*) FROM release_runs r WHERE finished_at IS NOT NULL \
            AND check_run_id IS NOT NULL AND forge_check_published_at IS NULL \
            AND NOT EXISTS (SELECT 1 FROM reconciliation_items i \
                WHERE i.subject_id = r.release_run_id AND i.attempt_id = r.current_attempt_id \
                    AND (i.status = 'dead_letter' OR i.outcome_code LIKE 'forge_check_run_%'))",
    ),
];

/// What was confirmed stands at the forge. A call that outlasts its lease, because the clock stepped,
/// may put an older state in its place.
fn ends_are_shown(world: &World) {
    let forge = world.forge.lock().unwrap();
    for row in world.rows(
        "SELECT current_attempt_id, check_run_id, forge_conclusion FROM release_runs \
         WHERE forge_check_published_at IS NOT NULL",
    ) {
        let [attempt, check_run, conclusion] = row.as_slice() else { panic!("{row:?}") };
        let shown = forge.shown.get(&check_run.parse().unwrap());
        let is_shown = matches!(shown, Some(CheckRunStatus::Completed { conclusion: told, .. })
            if told.as_str() == conclusion);
        let excused = forge.outlasted.contains(&attempt.parse().unwrap());
        assert!(is_shown || excused, "attempt {attempt}: {conclusion} is told, {shown:?} is shown");
    }
}
