//! The operator's lists in process: audit events, release runs, reconciliation items. Their pages, their
//! scope, their words, and what is said of a release that waits.

mod filters;
mod next_step;
mod status;

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use svc::domain::outbox::EffectKind;
use svc::domain::repository::RepositoryRef;
use svc::http::message::Surface;

use crate::support::World;
use crate::support::forge::Plan;
use crate::support::reconciliation::{self, Item};
use crate::support::world::{
    ACTOR, TOKEN, bytes, commit, json as body, open_raw, outcome, webhooks,
};

const ABSENT: &str = "0199f3a0-0000-7000-8000-00000000000a";
const LISTS: [(&str, &str); 3] = [
    ("audit-events", "auditEventId"),
    ("releases", "releaseRunId"),
    ("reconciliation-items", "reconciliationId"),
];

fn path(installation: i64, rest: &str) -> String {
    format!("/api/v1/operator/installations/{installation}/{rest}")
}

fn get(world: &World, installation: i64, rest: &str) -> Value {
    let answer = world.operate(Method::GET, &path(installation, rest), &[]);
    assert_eq!(answer.status, 200, "{rest}: {:?}", body(&answer));
    body(&answer)
}

fn ids(page: &Value, name: &str) -> Vec<String> {
    let items = page["items"].as_array().unwrap();
    items.iter().map(|item| item[name].as_str().unwrap().to_owned()).collect()
}

/// Gives an installation one more row in each list: a release whose refused dispatch is replayed, and
/// an open reconciliation item of its attempt.
fn add_row(world: &mut World, installation: i64, number: u32) {
    world.forge.plan(EffectKind::WorkflowDispatch, Plan::Refused);
    let commit = commit(number + u32::try_from(installation).unwrap() * 1_000);
    world.deliver(&webhooks(installation).push_tag(&format!("v{number}"), &commit));
    world.settle();
    let letters = world.dead_letters(installation);
    let id = letters[0]["itemId"].as_str().unwrap();
    let key = format!("key-{installation}-{number}");
    assert_eq!(world.replay(installation, ("outbox", id), &key).0, 200);
    world.settle();
    let attempt: String =
        world.ask("SELECT attempt_id FROM release_run_attempts ORDER BY id DESC LIMIT 1");
    reconciliation::add(world, installation, &Item::of_attempt("running_stale", &attempt));
}

fn with_rows(count: u32) -> World {
    let mut world = World::new();
    for number in 1..=count {
        add_row(&mut world, 1, number);
        add_row(&mut world, 2, number);
    }
    world
}

#[test]
fn pages_neither_skip_nor_repeat_while_rows_are_added_and_the_clock_steps_back() {
    let mut world = with_rows(12);
    let mut number = 100;
    for (list, name) in LISTS {
        let whole = ids(&get(&world, 1, &format!("{list}?limit=100")), name);
        assert!(whole.len() >= 12, "{list}");
        for limit in [1, 5, 11, 12, 13] {
            let whole = ids(&get(&world, 1, &format!("{list}?limit=100")), name);
            let (mut seen, mut before) = (Vec::new(), String::new());
            loop {
                let page = get(&world, 1, &format!("{list}?limit={limit}{before}"));
                let found = ids(&page, name);
                assert!(found.len() <= limit);
                seen.extend(found);
                assert!(seen.len() <= whole.len(), "{list}: a page comes again");
                let Some(next) = page["nextBefore"].as_str() else { break };
                assert_eq!(Some(next), seen.last().map(String::as_str));
                before = format!("&before={next}");
                if seen.len() <= 2 * limit {
                    number += 1;
                    world.clock.step_back(Duration::from_secs(10));
                    add_row(&mut world, 1, number);
                }
            }
            assert_eq!(seen, whole, "{list}, limit {limit}: what was there first, in its order");
        }
        let newer = ids(&get(&world, 1, &format!("{list}?limit=100")), name);
        assert!(newer.len() > whole.len() && newer.ends_with(&whole), "{list}: newest first");
    }
}

#[test]
fn a_list_shows_its_own_installation_only() {
    let world = with_rows(3);
    for (list, name) in LISTS {
        let (own, other) = (ids(&get(&world, 1, list), name), ids(&get(&world, 2, list), name));
        assert_eq!((own.len(), other.len()), (3, 3), "{list}");
        assert!(own.iter().all(|id| !other.contains(id)), "{list}");
        let unknown = get(&world, 999, list);
        assert_eq!(unknown, json!({ "items": [], "nextBefore": null }), "{list}");
    }
}

#[test]
fn what_is_another_installations_is_as_absent_as_what_does_not_exist() {
    let world = with_rows(2);
    let ask = |installation, rest: &str| {
        let answer = world.operate(Method::GET, &path(installation, rest), &[]);
        (answer.status.as_u16(), format!("{:?}", answer.headers), bytes(&answer).to_vec())
    };
    for (list, name) in LISTS {
        let own = ids(&get(&world, 1, list), name).remove(0);
        let before = |id: &str| format!("{list}?before={id}");
        assert_eq!(ask(1, &before(&own)).0, 200, "{list}");
        assert_eq!(ask(2, &before(&own)), ask(2, &before(ABSENT)), "{list}");
        assert_eq!(ask(2, &before(&own)).0, 400, "{list}");
    }
    let release = ids(&get(&world, 1, "releases"), "releaseRunId").remove(0);
    let one = |id: &str| format!("releases/{id}");
    assert_eq!(ask(1, &one(&release)).0, 200);
    for absent in [ABSENT, "1", "x", &release.to_uppercase()] {
        assert_eq!(ask(2, &one(&release)), ask(1, &one(absent)), "{absent}");
    }
    assert_eq!(ask(2, &one(&release)).0, 404);
    assert_eq!(ask(0, &one(&release)), ask(2, &one(&release)), "no installation has this number");
}

#[test]
fn a_query_is_understood_or_refused() {
    let world = with_rows(1);
    for (list, name) in LISTS {
        let id = ids(&get(&world, 1, list), name).remove(0);
        for query in ["limit=1", "limit=100", &format!("before={id}&limit=7")] {
            get(&world, 1, &format!("{list}?{query}"));
        }
        for query in [
            "limit=0",
            "limit=101",
            "limit=01",
            "limit=1&limit=1",
            "before=",
            "before=1",
            "before=2026-11-21T09:00:00Z",
            &format!("before={}", id.to_uppercase()),
            &format!("before={id}&before={id}"),
            "after=1",
            "status=marked",
            "status=",
            "kind=release_run",
        ] {
            let answer = world.operate(Method::GET, &path(1, &format!("{list}?{query}")), &[]);
            assert_eq!(outcome(&answer), (400, "invalid_request".to_owned()), "{list}?{query}");
            assert!(!String::from_utf8_lossy(bytes(&answer)).contains("marked"), "{list}?{query}");
        }
    }
    let answer = world.operate(Method::GET, &path(1, &format!("releases/{ABSENT}?limit=1")), &[]);
    assert_eq!(answer.status, 400);
}

#[test]
fn the_token_is_asked_for_before_anything_else_and_both_surfaces_say_the_same() {
    let world = with_rows(1);
    let bearer = format!("Bearer {TOKEN}");
    let release = ids(&get(&world, 1, "releases"), "releaseRunId").remove(0);
    let one = format!("releases/{release}");
    for rest in LISTS.map(|(list, _)| list).iter().chain([&one.as_str()]) {
        let ask = |surface, authorization: &str, method| {
            let headers = [("host", "localhost"), ("authorization", authorization)];
            world.send(surface, method, &path(1, rest), &headers, Vec::new())
        };
        let control = ask(Surface::Control, &bearer, Method::GET);
        let operator = ask(Surface::Operator, &bearer, Method::GET);
        assert_eq!(control.status.as_u16(), 200, "{rest}");
        assert_eq!(bytes(&control), bytes(&operator), "{rest}");
        for method in [Method::GET, Method::POST] {
            let refused = ask(Surface::Operator, "Bearer wrong", method);
            assert_eq!(outcome(&refused), (401, "unauthenticated".to_owned()), "{rest}");
        }
        assert_eq!(ask(Surface::Operator, &bearer, Method::POST).status, 405, "{rest}");
        assert_eq!(ask(Surface::Public, &bearer, Method::GET).status, 404, "{rest}");
    }
}

#[test]
fn an_audit_event_has_these_fields_and_no_others() {
    let mut world = World::new();
    add_row(&mut world, 1, 1);
    let letter: String = world.ask("SELECT item_id FROM dead_letters");
    let event: String = world.ask("SELECT audit_event_id FROM audit_events");
    let mut page = get(&world, 1, "audit-events");
    assert!(page["items"][0]["createdAt"].take().as_str().unwrap().ends_with('Z'));
    let expected = json!({ "items": [{
        "auditEventId": event,
        "event": "control_plane.dead_letter_replayed",
        "actor": ACTOR,
        "operationId": "key-1-1",
        "itemType": "outbox",
        "itemId": letter,
        "reasonCode": null,
        "reason": null,
        "createdAt": null,
    }], "nextBefore": null });
    assert_eq!(page, expected);
}

#[test]
fn a_reconciliation_item_is_listed_until_it_ends_and_then_by_its_status() {
    let world = with_rows(1);
    let attempt: String = world.ask("SELECT attempt_id FROM release_run_attempts LIMIT 1");
    let raw = open_raw(&world.database());
    let mut page = get(&world, 1, "reconciliation-items");
    for time in ["nextCheckAt", "deadlineAt", "createdAt"] {
        assert!(page["items"][0][time].take().as_str().unwrap().ends_with('Z'));
    }
    let id = page["items"][0]["reconciliationId"].take();
    let expected = json!({ "items": [{
        "reconciliationId": null,
        "kind": "workflow_attempt",
        "reason": "running_stale",
        "subjectId": attempt,
        "status": "open",
        "outcomeCode": null,
        "attemptCount": 0,
        "nextCheckAt": null,
        "deadlineAt": null,
        "leaseExpiresAt": null,
        "createdAt": null,
        "finishedAt": null,
        "closedAt": null,
    }], "nextBefore": null });
    assert_eq!(page, expected);
    let shown = |status: &str| {
        let query = if status.is_empty() { String::new() } else { format!("?status={status}") };
        let page = get(&world, 1, &format!("reconciliation-items{query}"));
        let found = ids(&page, "reconciliationId");
        assert!(found.len() <= 1 && found.iter().all(|found| *found == id), "{status}");
        found.len() == 1
    };
    for (now, set) in [
        ("open", "status = 'open'"),
        ("leased", "status = 'leased', claim_id = x'01', lease_expires_at = 1"),
        (
            "completed",
            "status = 'completed', claim_id = NULL, lease_expires_at = NULL, finished_at = 2",
        ),
        ("dead_letter", "status = 'dead_letter'"),
    ] {
        let sql = format!("UPDATE reconciliation_items SET {set} WHERE installation_id = 1");
        raw.execute(&sql, []).unwrap();
        for status in ["open", "leased", "completed", "dead_letter"] {
            assert_eq!(shown(status), status == now, "{status} while {now}");
        }
        assert_eq!(shown(""), ["open", "leased"].contains(&now), "{now}");
    }
}

#[test]
fn releases_are_listed_by_their_status() {
    let mut world = World::new();
    add_row(&mut world, 1, 1);
    world.forge.plan(EffectKind::WorkflowDispatch, Plan::Refused);
    world.deliver(&webhooks(1).push_tag("v2", &commit(2)));
    world.settle();
    for (status, tags) in [
        ("running", vec!["refs/tags/v1"]),
        ("dispatching", vec!["refs/tags/v2"]),
        ("succeeded", vec![]),
    ] {
        let page = get(&world, 1, &format!("releases?status={status}"));
        let found = page["items"].as_array().unwrap();
        let found: Vec<_> = found.iter().map(|item| item["gitRef"].as_str().unwrap()).collect();
        assert_eq!(found, tags, "{status}");
    }
}

#[test]
fn releases_are_listed_by_their_repository() {
    let mut world = World::new();
    let mut other = webhooks(1);
    other.repository =
        RepositoryRef { id: 11.try_into().unwrap(), full_name: "org-1/site".parse().unwrap() };
    for number in 1..=3 {
        world.deliver(&webhooks(1).push_tag(&format!("v{number}"), &commit(number)));
        world.deliver(&other.push_tag(&format!("v{number}-site"), &commit(10 + number)));
        world.deliver(&webhooks(2).push_tag(&format!("v{number}-other"), &commit(20 + number)));
    }
    world.settle();
    let tags = |query: &str| -> (Vec<String>, Option<String>) {
        let page = get(&world, 1, &format!("releases?{query}"));
        (ids(&page, "gitRef"), page["nextBefore"].as_str().map(str::to_owned))
    };
    let site = |numbers: &[u32]| -> Vec<String> {
        numbers.iter().map(|number| format!("refs/tags/v{number}-site")).collect()
    };
    assert_eq!(tags("repository=org-1/site").0, site(&[3, 2, 1]));
    assert_eq!(tags("repository=Org-1%2FSITE").0, site(&[3, 2, 1]), "whatever its case");
    assert_eq!(tags("repository=org-1/site&status=running").0, site(&[3, 2, 1]));
    assert_eq!(tags("repository=org-1/site&status=failed").0, site(&[]));
    assert_eq!(tags("repository=org-2/app").0, site(&[]), "of another installation");
    assert_eq!(tags("repository=org-1/none").0, site(&[]));
    let (first, next) = tags("repository=org-1/site&limit=2");
    assert_eq!(first, site(&[3, 2]));
    let rest = tags(&format!("repository=org-1/site&limit=2&before={}", next.unwrap()));
    assert_eq!(rest, (site(&[1]), None));
    for bad in ["site", "", "a/b/c", "a%20b/c"] {
        let at = path(1, &format!("releases?repository={bad}"));
        let answer = world.operate(Method::GET, &at, &[]);
        assert_eq!(answer.status, 400, "{bad}");
        let detail = body(&answer)["detail"].as_str().unwrap().to_owned();
        assert_eq!(detail, "repository must be the name of a repository, owner/name", "{bad}");
    }
}
