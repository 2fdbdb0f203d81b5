//! The outcome tables: every combination of a decision's facts, as files a person reads, so that a
//! change of policy is a diff. `UPDATE=1 cargo test --test it outcomes` writes them anew.
//!
//! The rows of the specification stand in `tests/data/specification`, typed by hand; no command writes
//! there. Each must be a row of the generated table, unless it is marked as one that is not followed.

mod agent_cards;
pub(crate) mod mcp_era;
mod reconcile;
mod redelivery;
mod relay;
mod slo;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use svc::domain::dead_letter::{DeadLetterReason, ErrorClass, ItemFacts, ReplayClass};
use svc::domain::delivery::InboxState;
use svc::domain::event::{Action, CommitSha, GitRef, InstallationState, RepositoryState};
use svc::domain::id::AuditEventId;
use svc::domain::job::{self, Change, Job, JobOutcome, JobStatus};
use svc::domain::operation::{self, Decision, Outcome, SameRequest};
use svc::domain::outbox::{EffectKind, SendResult, Settlement, Tries, after_vanished, settle};
use svc::domain::release::next_step::{self, Message, NextStep, Publication, Reconciliation};
use svc::domain::release::{ReleaseFacts, ReleaseStatus};
use svc::domain::repository::RepositoryRef;
use svc::domain::retry::RetryPolicy;
use svc::domain::time::Timestamp;

const NOW: Timestamp = Timestamp::from_micros(1_795_251_600_000_000);
const POLICY: RetryPolicy = RetryPolicy {
    attempts_max: 3,
    delay_base: Duration::from_secs(5),
    delay_max: Duration::from_secs(60),
};

#[test]
fn inbox_projection() {
    let mut table = String::new();
    for status in JobStatus::ALL.iter().copied() {
        let state = InboxState::of_job(status).as_str();
        writeln!(table, "job {} -> inbox {state}", status.as_str()).unwrap();
    }
    check("inbox_projection", &table);
}

/// What an operator's request comes to, by how its key was used before and how its item is.
fn requests<R>(item_allows: fn(ItemFacts) -> Result<(), R>, done: &str, refused: &str) -> String {
    let audit = AuditEventId::from(uuid::Uuid::nil());
    let keys = [
        ("new", None),
        ("same request", Some((SameRequest::Yes, audit))),
        ("other request", Some((SameRequest::No, audit))),
    ];
    let mut items = vec![("absent or foreign".to_owned(), None)];
    items.push(("not dead".to_owned(), Some(ItemFacts::NotDead)));
    for class in ReplayClass::ALL {
        items.push((format!("dead, {class}"), Some(ItemFacts::Dead(Some(*class)))));
    }
    items.push(("dead, class of a newer version".to_owned(), Some(ItemFacts::Dead(None))));
    items.push(("dead, closed".to_owned(), Some(ItemFacts::Closed)));
    items.push(("dead, not since the instant named".to_owned(), Some(ItemFacts::DiedAgain)));
    let mut table = String::new();
    for (key, known) in keys {
        for (what, item) in &items {
            let outcome = match operation::decide(known, item.map(item_allows)) {
                Decision::Apply => done,
                Decision::Answer(Outcome::Applied(_)) => "unreachable",
                Decision::Answer(Outcome::AlreadyApplied(_)) => "already_applied, same audit event",
                Decision::Answer(Outcome::OperationConflict) => "operation_conflict",
                Decision::Answer(Outcome::NotFound) => "not_found",
                Decision::Answer(Outcome::Refused(_)) => refused,
            };
            writeln!(table, "key {key}; item {what} -> {outcome}").unwrap();
        }
    }
    table
}

#[test]
fn replay() {
    check("replay", &requests(ItemFacts::replayable, "replayed, audited", "not_replayable"));
}

#[test]
fn close() {
    check("close", &requests(ItemFacts::closable, "closed, audited", "not_open"));
}

#[test]
fn outbox_settlement() {
    let until = NOW.plus(Duration::from_secs(90));
    let class = ErrorClass::Unavailable;
    let run = 1.try_into().unwrap();
    let results = [
        ("dispatched", SendResult::Dispatched(Some(run))),
        ("dispatched, run unknown", SendResult::Dispatched(None)),
        ("check run exists", SendResult::CheckRunExists(1.try_into().unwrap())),
        ("check run updated", SendResult::CheckRunUpdated),
        ("impossible", SendResult::Impossible(DeadLetterReason::RepositoryUnknown)),
        ("token refused", SendResult::TokenRefused(class)),
        ("check run mismatch", SendResult::CheckRunMismatch),
        ("unreadable", SendResult::Impossible(DeadLetterReason::ActionsUnreadable)),
        ("not sent", SendResult::NotSent(class, None)),
        ("not sent, asked to wait", SendResult::NotSent(class, Some(until))),
        ("deferred", SendResult::Deferred(until)),
        ("postponed", SendResult::Postponed),
        ("refused", SendResult::Refused(class)),
        ("rate limited", SendResult::RateLimited(until)),
        ("uncertain", SendResult::Uncertain(class, None)),
        ("uncertain, asked to wait", SendResult::Uncertain(class, Some(until))),
        ("uncertain, rate limited", SendResult::Uncertain(ErrorClass::RateLimited, Some(until))),
    ];
    let mut table = String::new();
    for kind in EffectKind::ALL.iter().copied() {
        for (what, result) in results {
            for (certainty, uncertain) in [("no doubt", false), ("in doubt", true)] {
                for (which, count) in [("first", 1), ("last", 3)] {
                    let tries = tries(count, 0, uncertain);
                    let settled = shown(settle(kind, result, tries, NOW));
                    let kind = kind.as_str();
                    writeln!(table, "{kind}; {what}; {certainty}; {which} try -> {settled}")
                        .unwrap();
                }
            }
        }
    }
    check("outbox_settlement", &table);
}

const fn tries(count: u32, lag_count: u32, uncertain: bool) -> Tries<'static> {
    Tries { count, lag_count, uncertain, policy: &POLICY, jitter: 0.0 }
}

/// Refusals that may come from the lag of a fresh token, and one that cannot.
#[test]
fn outbox_lag() {
    let classes = [
        ErrorClass::Authentication,
        ErrorClass::Permission,
        ErrorClass::NotFound,
        ErrorClass::Validation,
    ];
    let mut table = String::new();
    for kind in EffectKind::ALL.iter().copied() {
        for class in classes {
            for lag_count in 0..4 {
                let refused = SendResult::Refused(class);
                let settled = shown(settle(kind, refused, tries(1, lag_count, false), NOW));
                let kind = kind.as_str();
                writeln!(
                    table,
                    "{kind}; refused, {class}; {lag_count} returns before -> {settled}"
                )
                .unwrap();
            }
        }
    }
    check("outbox_lag", &table);
}

#[test]
fn outbox_holder_vanished() {
    let mut table = String::new();
    for kind in EffectKind::ALL.iter().copied() {
        for (sent, uncertain) in [("nothing had left", false), ("it may have left", true)] {
            for (which, count) in [("first", 1), ("last", 3)] {
                let then = after_vanished(kind, uncertain, count, &POLICY)
                    .map_or_else(|| "claimed again".to_owned(), shown);
                let kind = kind.as_str();
                writeln!(table, "{kind}; {sent}; {which} try -> {then}").unwrap();
            }
        }
    }
    check("outbox_holder_vanished", &table);
}

fn shown(settlement: Settlement) -> String {
    match settlement {
        Settlement::Complete(_) => "complete".to_owned(),
        Settlement::RetryAt(at) => format!("try again in {} s", at.since(NOW).as_secs()),
        Settlement::WaitUntil(at) => format!("wait {} s, not counted", at.since(NOW).as_secs()),
        Settlement::WaitForLag(at) => {
            format!("wait {} s for lag, counted apart", at.since(NOW).as_secs())
        }
        Settlement::DeadLetter(reason, _, replay) => {
            let safe = if replay.is_safe() { "safe" } else { "NOT safe" };
            format!("dead letter {reason}, {replay}: {safe} to replay")
        }
        Settlement::Superseded => "superseded".to_owned(),
    }
}

#[test]
fn jobs() {
    let head_sha = CommitSha::new(&"a".repeat(40)).unwrap();
    let git_ref = GitRef::new("refs/tags/v1").unwrap();
    let (own, other) = (7.try_into().unwrap(), 8.try_into().unwrap());
    let check_run = 3.try_into().unwrap();
    let rerequest = |app| Action::Rerequest { check_run, app, head_sha: head_sha.clone() };
    let actions = [
        ("unreadable", None),
        ("release", Some(Action::Release { git_ref, head_sha: head_sha.clone(), owner: None })),
        ("rerequest of our app", Some(rerequest(own))),
        ("rerequest of another app", Some(rerequest(other))),
        ("look at a run", Some(Action::LookAtWorkflowRun { workflow_run: 5.try_into().unwrap() })),
        ("installation", Some(installation_action())),
        ("repository", Some(Action::Repository { state: RepositoryState::Deleted })),
    ];
    let mut table = String::new();
    for (what, action) in &actions {
        for repository in [true, false] {
            for installation in
                [None].into_iter().chain(InstallationState::ALL.iter().copied().map(Some))
            {
                for (known, same_release, clicked_release) in releases() {
                    let job = job(action.clone(), repository);
                    let facts =
                        job::Facts { installation, same_release, clicked_release, own_app: own };
                    let with = if repository { "with" } else { "without" };
                    let tenant = installation.map_or("unknown", InstallationState::as_str);
                    let then = outcome(&job::decide(&job, &facts));
                    writeln!(
                        table,
                        "{what}; {with} repository; tenant {tenant}; {known} -> {then}"
                    )
                    .unwrap();
                }
            }
        }
    }
    check("jobs", &table);
}

fn installation_action() -> Action {
    Action::Installation {
        state: Some(InstallationState::Active),
        account: None,
        added: Vec::new(),
        removed: Vec::new(),
    }
}

type Known = (String, Option<svc::domain::id::ReleaseRunId>, Option<ReleaseFacts>);

/// What may be known of release runs.
fn releases() -> Vec<Known> {
    let release_run = svc::domain::id::ReleaseRunId::from(uuid::Uuid::nil());
    let mut known = vec![("nothing released".to_owned(), None, None)];
    known.push(("released before".to_owned(), Some(release_run), None));
    for status in ReleaseStatus::ALL.iter().copied() {
        for (certainty, dispatch_dead) in [("", false), (", dispatch dead", true)] {
            let facts = ReleaseFacts {
                release_run,
                status,
                current_attempt: uuid::Uuid::nil().into(),
                attempt_number: 1,
                dispatch_dead,
            };
            known.push((format!("release {}{certainty}", status.as_str()), None, Some(facts)));
        }
    }
    known
}

fn job(action: Option<Action>, repository: bool) -> Job {
    Job {
        id: uuid::Uuid::nil().into(),
        installation: 1.try_into().unwrap(),
        repository: repository.then(|| RepositoryRef {
            id: 1.try_into().unwrap(),
            full_name: "o/r".parse().unwrap(),
        }),
        action,
        attempt: 1,
    }
}

fn outcome(outcome: &JobOutcome) -> String {
    match outcome {
        JobOutcome::Apply(Change::StartRelease { .. }) => "start a release".to_owned(),
        JobOutcome::Apply(Change::StartAttempt { .. }) => "start the next attempt".to_owned(),
        JobOutcome::Apply(Change::HintWorkflowRun(_)) => "note a hint".to_owned(),
        JobOutcome::Apply(Change::RecordInstallation { .. }) => "record the tenant".to_owned(),
        JobOutcome::Apply(Change::RecordRepository { .. }) => "record the repository".to_owned(),
        JobOutcome::Nothing(why) => format!("nothing to do: {}", why.as_str()),
        JobOutcome::DeadLetter(reason, class) => format!("dead letter {reason}, {class}"),
    }
}

#[test]
fn release_outlook() {
    let id = uuid::Uuid::nil().into();
    let seconds = |seconds| NOW.plus(Duration::from_secs(seconds));
    let mut messages = vec![("no message".to_owned(), None)];
    for kind in EffectKind::ALL.iter().copied() {
        let waiting = Message::Waiting { kind, at: seconds(5) };
        messages.push((format!("{} waits", kind.as_str()), Some(waiting)));
    }
    let leased = Message::Leased { until: seconds(30) };
    messages.push(("a message is held by a worker".to_owned(), Some(leased)));
    for class in ReplayClass::ALL {
        let dead = Message::Dead { id, class: Some(*class) };
        messages.push((format!("dead, {class}"), Some(dead)));
    }
    let newer = Message::Dead { id, class: None };
    messages.push(("dead, class of a newer version".to_owned(), Some(newer)));
    messages.push(("dead, closed".to_owned(), Some(Message::Closed { id })));
    let item = Reconciliation { next_check_at: seconds(60), deadline_at: seconds(1_800) };
    let mut table = String::new();
    for status in ReleaseStatus::ALL.iter().copied() {
        for (message_is, message) in &messages {
            for (item_is, reconciliation) in [("no item", None), ("item open", Some(item))] {
                for (published, publication) in publications() {
                    let message = *message;
                    let facts = next_step::Facts { status, message, reconciliation, publication };
                    let then = derived(next_step::derive(&facts));
                    let status = status.as_str();
                    writeln!(table, "{status}; {message_is}; {item_is}; {published} -> {then}")
                        .unwrap();
                }
            }
        }
    }
    check("release_outlook", &table);
}

fn publications() -> [(&'static str, Publication); 4] {
    [
        ("no check run", Publication::NoCheckRun),
        ("not published", Publication::Unconfirmed),
        ("publication failed", Publication::Failed),
        ("published", Publication::Confirmed),
    ]
}

fn derived(next_step: NextStep) -> String {
    let code = next_step.code();
    assert!(NextStep::CODES.contains(&code), "{code}");
    let mut text = code.to_owned();
    if let Some(at) = next_step.at() {
        write!(text, " in {} s", at.since(NOW).as_secs()).unwrap();
    }
    if let Some(deadline) = next_step.deadline_at() {
        write!(text, ", at most {} s", deadline.since(NOW).as_secs()).unwrap();
    }
    if next_step.dead_letter().is_some() {
        text.push_str(", names the dead letter");
    }
    text
}

/// Compares a generated table with its file, and with the rows of the specification when it has some.
pub(crate) fn check(name: &str, table: &str) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let path = data.join(format!("outcomes/{name}.txt"));
    if crate::generated::is_update() {
        fs::write(&path, table).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == table, "{name}: the outcomes changed; look at the diff after UPDATE=1");
    let specified = fs::read_to_string(data.join(format!("specification/{name}.txt")));
    for row in specified.unwrap_or_default().lines().filter(|row| !row.starts_with('#')) {
        let has = |row: &str| table.lines().any(|line| line == row);
        // A row that is deliberately not followed, as the file explains.
        if let Some(other) = row.strip_prefix("! ") {
            assert!(!has(other), "{name}: this is no difference from the specification: {other}");
        } else {
            assert!(has(row), "{name}: the specification says: {row}");
        }
    }
}
