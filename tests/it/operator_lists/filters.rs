//! Filters of the lists: whatever is asked for, the pages hold what is left of the whole list, in its order.

use std::time::Duration;

use http::Method;
use serde_json::Value;
use svc::domain::outbox::EffectKind;

use super::{ABSENT, add_row, get, ids, path};
use crate::support::World;
use crate::support::forge::Plan;
use crate::support::reconciliation::{self, Item};
use crate::support::world::{commit, json as body, outcome, webhooks};

/// Returns all rows of a list, page by page.
fn pages(world: &World, list: &str, query: &str, limit: usize) -> Vec<Value> {
    let (mut rows, mut before) = (Vec::new(), String::new());
    loop {
        let page = get(world, 1, &format!("{list}?limit={limit}{query}{before}"));
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= limit && rows.len() < 500, "{list}?{query}");
        rows.extend(items.iter().cloned());
        let Some(next) = page["nextBefore"].as_str() else { return rows };
        assert_eq!(items.len(), limit, "only the last page is short: {list}?{query}");
        before = format!("&before={next}");
    }
}

/// Compares what a filter leaves with what is to be left.
fn check(world: &World, list: &str, query: &str, is_wanted: impl Fn(&Value) -> bool) -> usize {
    let mut left = pages(world, list, "", 100);
    left.retain(is_wanted);
    for limit in [1, 3, 100] {
        assert_eq!(pages(world, list, query, limit), left, "{list}?{query}, limit {limit}");
    }
    left.len()
}

/// Twelve dead letters of two types, three reasons and two repositories; of another installation as well.
fn with_dead_letters() -> World {
    let mut world = World::new();
    for installation in [1, 2] {
        world.deliver(&webhooks(installation).installation("suspend"));
        for number in 1..=12 {
            let tag = format!("v{number}");
            world.deliver(&webhooks(installation).push_tag(&tag, &commit(number)));
            world.settle();
            world.clock.advance(Duration::from_secs(60));
        }
    }
    world.tamper(
        "UPDATE dead_letters SET item_type = 'outbox', reason_code = 'forge_unavailable', \
            replay_class = 'not_sent' WHERE id % 2 = 0;
         UPDATE dead_letters SET reason_code = 'forge_dispatch_uncertain', \
            replay_class = 'dispatch_uncertain', replay_safe = 0 WHERE id % 4 = 0;
         UPDATE dead_letters SET repository = 'Acme/Other' WHERE id % 3 = 0;
         UPDATE dead_letters SET replay_class = 'of_tomorrow', replay_safe = 0 WHERE id % 5 = 0;
         UPDATE dead_letters SET resolution = 'replayed', resolved_at = 1 WHERE id = 7;",
    );
    world
}

#[test]
fn dead_letters_are_found_by_what_they_are() {
    let world = with_dead_letters();
    let all = pages(&world, "dead-letters", "", 100);
    assert_eq!(all.len(), 11);
    let middle = all[5]["failedAt"].as_str().unwrap().to_owned();
    let is = |row: &Value, name: &str, value: &str| row[name] == value;
    let found = [
        check(&world, "dead-letters", "&type=job", |row| is(row, "itemType", "job")),
        check(&world, "dead-letters", "&type=outbox", |row| is(row, "itemType", "outbox")),
        check(&world, "dead-letters", "&reason=forge_unavailable", |row| {
            is(row, "reasonCode", "forge_unavailable")
        }),
        check(&world, "dead-letters", "&repository=acme/other", |row| {
            is(row, "repository", "Acme/Other")
        }),
        check(&world, "dead-letters", "&replaySafe=true", |row| row["replaySafe"] == true),
        check(&world, "dead-letters", "&replaySafe=false", |row| row["replaySafe"] == false),
        check(&world, "dead-letters", &format!("&since={middle}"), |row| {
            row["failedAt"].as_str().unwrap() >= middle.as_str()
        }),
        check(&world, "dead-letters", &format!("&until={middle}"), |row| {
            row["failedAt"].as_str().unwrap() < middle.as_str()
        }),
        check(
            &world,
            "dead-letters",
            &format!("&until={middle}&type=job&replaySafe=true"),
            |row| {
                row["failedAt"].as_str().unwrap() < middle.as_str()
                    && is(row, "itemType", "job")
                    && row["replaySafe"] == true
            },
        ),
    ];
    assert!(found.iter().all(|count| (1..11).contains(count)), "each leaves some: {found:?}");
    assert_eq!(check(&world, "dead-letters", "&reason=crash_loop", |_| false), 0);
}

#[test]
fn a_summary_counts_what_the_list_has() {
    let world = with_dead_letters();
    let all = pages(&world, "dead-letters", "", 100);
    let summary = get(&world, 1, "dead-letters/summary");
    let safe = all.iter().filter(|row| row["replaySafe"] == true).count();
    assert_eq!((&summary["count"], &summary["truncated"]), (&all.len().into(), &false.into()));
    assert_eq!(summary["replaySafeCount"], safe);
    assert_eq!(summary["oldestFailedAt"], all[10]["failedAt"]);
    assert_eq!(summary["repositoryCount"], 2);
    for (counts, column) in [("reasons", "reasonCode"), ("repositories", "repository")] {
        let counts = summary[counts].as_array().unwrap();
        let mut sum = 0;
        for count in counts {
            let of = || all.iter().filter(|row| row[column] == count["name"]);
            assert_eq!(count["count"], of().count(), "{count}");
            assert_eq!(
                count["replaySafeCount"],
                of().filter(|row| row["replaySafe"] == true).count()
            );
            assert_eq!(count["oldestFailedAt"], of().next_back().unwrap()["failedAt"], "{count}");
            sum += of().count();
        }
        assert_eq!(sum, all.len(), "{column}");
        assert!(counts.is_sorted_by_key(|count| std::cmp::Reverse(count["count"].as_u64())));
    }
    let classes = ids(&serde_json::json!({ "items": summary["replayClasses"] }), "name");
    assert!(classes.contains(&"of_tomorrow".to_owned()) && classes.len() == 4, "{classes:?}");
    let empty = get(&world, 999, "dead-letters/summary");
    assert_eq!((&empty["count"], &empty["oldestFailedAt"]), (&0.into(), &Value::Null));
    let answer = world.operate(Method::GET, &path(1, "dead-letters/summary?type=job"), &[]);
    assert_eq!(outcome(&answer), (400, "invalid_request".to_owned()));
}

/// Says whether a row of an instant is wanted, by the beginning and the end.
type IsWanted = fn(&str, &str, &str) -> bool;

/// The clock is set back between the rows, so that their times are not in the order of the list.
#[test]
fn a_time_finds_every_row_of_it_though_the_clock_was_set_back() {
    let mut world = World::new();
    for number in 1..=9 {
        add_row(&mut world, 1, number);
        add_row(&mut world, 2, number);
        if number % 4 == 0 {
            world.clock.step_back(Duration::from_secs(1_000));
        }
        world.clock.advance(Duration::from_secs(170));
    }
    for list in ["audit-events", "releases", "reconciliation-items"] {
        let mut left = pages(&world, list, "", 100);
        let at = |row: &Value| row["createdAt"].as_str().unwrap().to_owned();
        assert!(!left.is_sorted_by_key(|row| std::cmp::Reverse(at(row))), "{list}: set back");
        let mut instants: Vec<_> = left.iter().map(at).collect();
        instants.sort();
        // Items that are being repaired are few, and stay in the order of their list.
        if list != "reconciliation-items" {
            left.sort_by_key(|row| std::cmp::Reverse(at(row)));
        }
        for (since, until) in [(0, 8), (0, 3), (3, 6), (8, 8), (2, 7)] {
            let (since, until) = (&instants[since], &instants[until]);
            let cases: [(String, IsWanted); 3] = [
                (format!("&since={since}"), |at, since, _| at >= since),
                (format!("&until={until}"), |at, _, until| at < until),
                (format!("&since={since}&until={until}"), |at, since, until| {
                    since <= at && at < until
                }),
            ];
            for (query, is_wanted) in cases {
                if since >= until && query.contains("until") && query.contains("since") {
                    continue;
                }
                let mut wanted = left.clone();
                wanted.retain(|row| is_wanted(&at(row), since, until));
                for limit in [1, 4, 100] {
                    let found = pages(&world, list, &query, limit);
                    assert_eq!(found, wanted, "{list}?{query}, limit {limit}");
                }
            }
        }
    }
}

#[test]
fn releases_are_found_by_their_tag() {
    let mut world = World::new();
    for number in 1..=3 {
        for tag in ["v1", "v2"] {
            let commit = commit(number * 10 + u32::from(tag == "v2"));
            world.deliver(&webhooks(1).push_tag(tag, &commit));
            world.deliver(&webhooks(2).push_tag(tag, &commit));
        }
    }
    world.settle();
    let has = |tag: &'static str| move |row: &Value| row["gitRef"] == format!("refs/tags/{tag}");
    assert_eq!(check(&world, "releases", "&tag=v1", has("v1")), 3);
    assert_eq!(check(&world, "releases", "&tag=refs/tags/v2", has("v2")), 3);
    assert_eq!(check(&world, "releases", "&tag=v3", has("v3")), 0);
    assert_eq!(check(&world, "releases", "&tag=v1&status=running", has("v1")), 3);
    assert_eq!(check(&world, "releases", "&tag=v1&status=failed", |_| false), 0);
}

/// A release that is old but still moves is not stuck, and one that has ended never is.
#[test]
fn a_release_that_does_not_move_is_stuck() {
    let mut world = World::new();
    world.forge.plan(EffectKind::WorkflowDispatch, Plan::Refused);
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.deliver(&webhooks(1).push_tag("v2", &commit(2)));
    world.settle();
    let stuck = |world: &World| ids(&get(world, 1, "releases?stuck=true"), "gitRef");
    world.clock.advance(Duration::from_secs(2_099));
    assert!(stuck(&world).is_empty());
    world.tamper(
        "UPDATE release_runs SET updated_at = updated_at + 60000000 WHERE git_ref = 'refs/tags/v2'",
    );
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(stuck(&world), ["refs/tags/v1"]);
    world.clock.advance(Duration::from_secs(60));
    assert_eq!(stuck(&world), ["refs/tags/v2", "refs/tags/v1"]);
    world.tamper(
        "UPDATE release_runs SET status = 'failed', conclusion = 'failure', finished_at = 1 \
         WHERE git_ref = 'refs/tags/v1'",
    );
    assert_eq!(stuck(&world), ["refs/tags/v2"]);
}

#[test]
fn reconciliations_are_found_by_their_reason_and_when_they_are_overdue() {
    let mut world = World::new();
    add_row(&mut world, 1, 1);
    let item = Item::of_release(ABSENT);
    world.clock.advance(Duration::from_secs(60));
    reconciliation::add(&world, 1, &item);
    let reason = |reason: &'static str| move |row: &Value| row["reason"] == reason;
    let list = "reconciliation-items";
    assert_eq!(check(&world, list, "&reason=reporting_stale", reason("reporting_stale")), 1);
    assert_eq!(check(&world, list, "&reason=running_stale", reason("running_stale")), 1);
    assert_eq!(check(&world, list, "&stuck=true", |_| false), 0);
    world.clock.advance(Duration::from_secs(1_740));
    assert_eq!(check(&world, list, "&stuck=true", reason("running_stale")), 1);
    world.clock.advance(Duration::from_secs(60));
    assert_eq!(check(&world, list, "&stuck=true", |_| true), 2);
    world.tamper(
        "UPDATE reconciliation_items SET status = 'dead_letter', finished_at = created_at, \
            closed_at = iif(reason = 'running_stale', created_at, NULL)",
    );
    let closed = |query: &str| {
        let rows = pages(&world, list, query, 1);
        rows.iter().map(|row| !row["closedAt"].is_null()).collect::<Vec<_>>()
    };
    assert_eq!(closed("&status=dead_letter").len(), 2);
    assert_eq!(closed("&status=dead_letter&closed=true"), [true]);
    assert_eq!(closed("&status=dead_letter&closed=false"), [false]);
    assert_eq!(closed("&closed=false"), [false; 0]);
}

#[test]
fn filters_that_contradict_each_other_are_refused_with_what_to_change() {
    let world = World::new();
    let times = "since=2026-11-21T09:00:00Z&until=2026-11-21T09:00:00Z";
    for (query, detail) in [
        (format!("dead-letters?{times}"), "'since' must be earlier than 'until'"),
        (format!("audit-events?{times}"), "'since' must be earlier than 'until'"),
        (format!("releases?{times}"), "'since' must be earlier than 'until'"),
        (format!("reconciliation-items?{times}"), "'since' must be earlier than 'until'"),
        (
            "dead-letters?type=job&reason=forge_dispatch_uncertain".to_owned(),
            "an item of type job cannot have the reason forge_dispatch_uncertain; omit 'type' or 'reason'",
        ),
        (
            "dead-letters?type=outbox&reason=installation_suspended".to_owned(),
            "an item of type outbox cannot have the reason installation_suspended",
        ),
        ("releases?stuck=true&status=failed".to_owned(), "omit 'status' or 'stuck'"),
        ("reconciliation-items?stuck=true&status=completed".to_owned(), "omit 'status' or 'stuck'"),
        ("reconciliation-items?closed=true".to_owned(), "set 'status' to dead_letter"),
        ("reconciliation-items?closed=true&status=completed".to_owned(), "or omit 'closed'"),
    ] {
        let answer = world.operate(Method::GET, &path(1, &query), &[]);
        assert_eq!(outcome(&answer), (400, "invalid_request".to_owned()), "{query}");
        let problem = body(&answer);
        assert!(problem["detail"].as_str().unwrap().contains(detail), "{query}: {problem}");
    }
    for query in [
        "dead-letters?type=release",
        "dead-letters?reason=Marked",
        "dead-letters?replaySafe=1",
        "dead-letters?replaySafe=",
        "dead-letters?repository=Marked",
        "dead-letters?since=2h",
        "dead-letters?until=2026-11-21",
        "dead-letters?since=2026-11-21T09:00:00Z&since=2026-11-21T09:00:00Z",
        "releases?stuck=false",
        "releases?stuck=1",
        "releases?tag=",
        "releases?tag=Marked%0A",
        "audit-events?type=job",
        "reconciliation-items?reason=Marked",
    ] {
        let answer = world.operate(Method::GET, &path(1, query), &[]);
        assert_eq!(outcome(&answer), (400, "invalid_request".to_owned()), "{query}");
        assert!(!body(&answer).to_string().contains("Marked"), "{query}");
    }
}
