//! The lists that go by ids, held to the document: audit events, release runs, reconciliation items.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;
use svc::api;
use svc::domain::audit;
use svc::domain::dead_letter::{DeadLetterReason, ItemType};
use svc::domain::reconcile;
use svc::domain::release::ReleaseStatus;
use svc::domain::release::next_step::NextStep;

use super::time;
use super::{Fields, document, strings};

const ID: &str = "0198c0de-0000-7000-8000-000000000001";

/// Says whether what may be null is set.
type IsFull = bool;

fn text(full: IsFull, text: &str) -> Option<String> {
    full.then(|| text.to_owned())
}

fn page<T>(full: IsFull, item: T) -> api::PageBody<T> {
    api::PageBody { items: vec![item], next_before: text(full, ID) }
}

fn audit_event(full: IsFull) -> api::AuditEvent {
    api::AuditEvent {
        audit_event_id: ID.parse().unwrap(),
        event: audit::DEAD_LETTER_REPLAYED.to_owned(),
        actor: "svcd".to_owned(),
        operation_id: text(full, "key"),
        item_type: "job".to_owned(),
        item_id: ID.to_owned(),
        reason_code: text(full, "job_failed"),
        reason: text(full, "not needed"),
        created_at: time(),
    }
}

fn release_run(full: IsFull) -> api::ReleaseRun {
    api::ReleaseRun {
        release_run_id: ID.parse().unwrap(),
        repository: text(full, "acme/site"),
        git_ref: "refs/tags/v1".to_owned(),
        head_sha: "a".repeat(40),
        status: Cow::Borrowed("succeeded"),
        decision: text(full, "accepted_at_risk"),
        conclusion: text(full, "neutral"),
        failure_reason: text(full, "forge_workflow_timed_out"),
        attempt_number: 1,
        attempt_failure_reason: text(full, "forge_workflow_timed_out"),
        workflow_run_id: full.then(|| 1.try_into().unwrap()),
        check_run_id: full.then(|| 2.try_into().unwrap()),
        forge_check_published_at: full.then(time),
        last_publication_error: text(full, "forge_check_run_not_found"),
        created_at: time(),
        updated_at: time(),
        finished_at: full.then(time),
    }
}

fn attempt(full: IsFull) -> api::Attempt {
    api::Attempt {
        attempt_id: ID.parse().unwrap(),
        number: 1,
        status: "superseded".to_owned(),
        failure_reason: text(full, "forge_workflow_timed_out"),
        workflow_run_id: full.then(|| 1.try_into().unwrap()),
        check_run_id: full.then(|| 2.try_into().unwrap()),
        hinted_at: full.then(time),
    }
}

fn next_step(full: IsFull) -> api::Outlook {
    api::Outlook {
        code: Cow::Borrowed("recheck"),
        at: full.then(time),
        deadline_at: full.then(time),
        dead_letter_id: full.then(|| ID.parse().unwrap()),
        reason_code: text(full, "forge_dispatch_uncertain"),
        failed_tries: 2,
    }
}

fn step(full: IsFull) -> api::ReleaseStep {
    api::ReleaseStep {
        at: time(),
        step: Cow::Borrowed("died"),
        attempt_number: full.then_some(1),
        code: text(full, "job_failed"),
        outbox_id: full.then(|| ID.parse().unwrap()),
        reconciliation_id: full.then(|| ID.parse().unwrap()),
    }
}

fn detail(full: IsFull) -> api::ReleaseRunDetail {
    api::ReleaseRunDetail {
        steps: vec![step(full)],
        release_run: release_run(full),
        attempts: vec![attempt(full)],
        next: next_step(full),
    }
}

fn item(full: IsFull) -> api::ReconciliationItem {
    api::ReconciliationItem {
        reconciliation_id: ID.parse().unwrap(),
        kind: "release_run".to_owned(),
        reason: "reporting_stale".to_owned(),
        subject_id: ID.to_owned(),
        status: "leased".to_owned(),
        outcome_code: text(full, "forge_check_run_not_found"),
        attempt_count: 1,
        next_check_at: time(),
        deadline_at: time(),
        lease_expires_at: full.then(time),
        created_at: time(),
        closed_at: full.then(time),
        finished_at: full.then(time),
    }
}

/// Holds their schemas to the shapes of the code.
pub(super) fn hold(checks: Fields) -> Fields {
    let pages = |full| (page(full, audit_event(full)), page(full, release_run(full)));
    let (full, bare) = (pages(true), pages(false));
    checks
        .hold("AuditEvent", &audit_event(true), &audit_event(false))
        .hold("AuditEventPage", &full.0, &bare.0)
        .hold("ReleaseRun", &release_run(true), &release_run(false))
        .hold("ReleaseRunPage", &full.1, &bare.1)
        .hold("ReleaseRunDetail", &detail(true), &detail(false))
        .hold("ReleaseStep", &step(true), &step(false))
        .hold("Attempt", &attempt(true), &attempt(false))
        .hold("Outlook", &next_step(true), &next_step(false))
        .hold("ReconciliationItem", &item(true), &item(false))
        .hold("ReconciliationPage", &page(true, item(true)), &page(false, item(false)))
}

#[test]
fn their_stable_words_are_those_of_the_code() {
    let document = document();
    let words = |pointer: &str| -> BTreeSet<String> {
        let list = document.pointer(pointer).unwrap_or(&Value::Null);
        strings(list).into_iter().map(str::to_owned).collect()
    };
    let set = |words: &[&'static str]| words.iter().map(|word| (*word).to_owned()).collect();
    let schema = |path: &str| words(&format!("/components/schemas/{path}"));
    let parameter = |list: &str, number: u8| {
        let path = format!("~1api~1v1~1operator~1installations~1{{installationId}}~1{list}");
        words(&format!("/paths/{path}/get/parameters/{number}/schema/enum"))
    };
    assert_eq!(schema("Outlook/properties/code/x-extensible-enum"), set(&NextStep::CODES));
    let events = schema("AuditEvent/properties/event/x-extensible-enum");
    let all = [
        audit::DEAD_LETTER_REPLAYED,
        audit::DEAD_LETTER_CLOSED,
        audit::RECONCILIATION_CLOSED,
        audit::FORGE_CHECK_RUN_RECONCILIATION_FAILED,
    ];
    assert_eq!(events, set(&all));
    let kinds: Vec<_> = reconcile::ReconcileKind::ALL.iter().map(|word| word.as_str()).collect();
    assert_eq!(schema("ReconciliationItem/properties/kind/enum"), set(&kinds));
    let reasons: Vec<_> =
        reconcile::ReconcileReason::ALL.iter().map(|word| word.as_str()).collect();
    let written = schema("ReconciliationItem/properties/reason/x-extensible-enum");
    assert_eq!(written, set(&reasons));
    let mut releases = ReleaseStatus::ALL.iter().map(|status| status.as_str()).collect::<Vec<_>>();
    assert_eq!(schema("ReleaseRun/properties/status/enum"), set(&releases));
    let occurring: Vec<_> = ReleaseStatus::OCCURRING.iter().map(|word| word.as_str()).collect();
    assert_eq!(parameter("releases", 3), set(&occurring));
    releases.push("superseded");
    assert_eq!(schema("Attempt/properties/status/enum"), set(&releases));
    let items: Vec<_> = reconcile::ReconcileStatus::ALL.iter().map(|word| word.as_str()).collect();
    assert_eq!(schema("ReconciliationItem/properties/status/enum"), set(&items));
    assert_eq!(parameter("reconciliation-items", 3), set(&items));
    assert_eq!(parameter("reconciliation-items", 4), set(&reasons));
    let types: Vec<_> = ItemType::ALL.iter().map(|word| word.as_str()).collect();
    assert_eq!(parameter("dead-letters", 3), set(&types));
    let reasons: Vec<_> = DeadLetterReason::ALL.iter().map(|word| word.as_str()).collect();
    assert_eq!(parameter("dead-letters", 4), set(&reasons));
}

#[test]
fn their_filters_are_those_of_the_code() {
    fn check<R: api::ListRow>() {
        let path = format!("/api/v1/operator/installations/{{installationId}}/{}", R::LIST);
        let document = document();
        let parameters = document["paths"][&path]["get"]["parameters"].as_array().unwrap();
        let named = parameters.iter().filter_map(|parameter| parameter["name"].as_str());
        let written: Vec<_> = named.filter(|name| *name != "before").collect();
        assert_eq!(written, <R::Filter as api::Filter>::NAMES, "{path}");
    }
    check::<api::DeadLetter>();
    check::<api::AuditEvent>();
    check::<api::ReleaseRun>();
    check::<api::ReconciliationItem>();
}
