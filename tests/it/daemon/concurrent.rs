//! Many at once: one key, one delivery, one item, and what happens exactly once.

use rustix::process::Signal;
use svc::simulator::Webhook;

use super::ask::{Answer, Ask, Endpoint};
use super::letters::{self, replay};
use super::process::delivery;
use super::site::Site;
use super::{INSTALLATION, commit, database, wait_for};

/// Sends all requests at once, each over a connection of its own.
fn at_once(asks: Vec<(Endpoint, Ask)>) -> Vec<Answer> {
    let threads: Vec<_> = asks
        .into_iter()
        .map(|(endpoint, ask)| {
            svc::runtime::thread::spawn("asker", move || endpoint.ask(&ask)).unwrap()
        })
        .collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

#[test]
fn sixteen_requests_with_one_key_are_one_replay() {
    let site = Site::new();
    let mut daemon = site.start();
    for number in 0..3 {
        let item = letters::refused(&site, &daemon, number);
        let endpoints = daemon.operator_endpoints();
        let key = format!("key-{number}");
        let asks = (0..16).map(|asker| {
            (endpoints[asker % 2].clone(), replay(INSTALLATION, "outbox", &item, &key))
        });
        let answers = at_once(asks.collect());
        let event = answers[0].member("auditEventId");
        assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
        assert!(answers.iter().all(|answer| answer.member("auditEventId") == event));
        let now = answers.iter().filter(|answer| answer.member("outcome") == "replayed").count();
        assert_eq!(now, 1, "{answers:?}");
    }
    wait_for("three dispatches", || (site.forge.workflow_runs().len() == 3).then_some(()));
    daemon.kill();
    let database = database::open(&site.database());
    assert_eq!(database::number(&database, "SELECT count(*) FROM audit_events", &[]), 3);
    assert_eq!(database::number(&database, "SELECT count(*) FROM operator_operations", &[]), 3);
}

#[test]
fn sixteen_keys_for_one_item_are_one_replay() {
    let site = Site::new();
    let mut daemon = site.start();
    let item = letters::refused(&site, &daemon, 1);
    let endpoints = daemon.operator_endpoints();
    let asks = (0..16).map(|asker| {
        let key = format!("key-{asker}");
        (endpoints[asker % 2].clone(), replay(INSTALLATION, "outbox", &item, &key))
    });
    let mut statuses: Vec<u16> =
        at_once(asks.collect()).iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses[0], 200);
    assert!(statuses[1..].iter().all(|status| *status == 409), "{statuses:?}");
    wait_for("the dispatch", || site.forge.workflow_runs().pop());
    assert_eq!(daemon.end(Signal::TERM).code(), Some(0));
    let database = database::open(&site.database());
    assert_eq!(database::number(&database, "SELECT count(*) FROM audit_events", &[]), 1);
    assert_eq!(database::number(&database, "SELECT count(*) FROM operator_operations", &[]), 1);
    assert_eq!(site.forge.workflow_runs().len(), 1);
}

#[test]
fn a_race_of_one_delivery_is_one_job_and_one_dispatch() {
    let site = Site::new();
    let mut daemon = site.start();
    for round in 0..10 {
        let webhook: Webhook = site.webhooks.push_tag(&format!("v{round}"), &commit(round));
        let ask = |asker: usize| {
            // The same id, whatever its case.
            let id = format!("Race-{round}");
            let id = if asker.is_multiple_of(2) { id } else { id.to_uppercase() };
            (daemon.public.clone(), delivery(&id, &webhook))
        };
        let answers = at_once((0..16).map(ask).collect());
        let accepted = answers.iter().filter(|answer| answer.status == 202).count();
        assert_eq!(accepted, 1, "{answers:?}");
        let again =
            |answer: &&Answer| answer.status == 200 && answer.member("outcome") == "duplicate";
        assert_eq!(answers.iter().filter(again).count(), 15, "{answers:?}");
    }
    wait_for("ten dispatches", || (site.forge.workflow_runs().len() >= 10).then_some(()));
    wait_for("ten check runs in progress", || {
        let runs = site.forge.check_runs();
        (runs.iter().filter(|run| run.status == "in_progress").count() == 10).then_some(())
    });
    assert_eq!(daemon.end(Signal::TERM).code(), Some(0));
    let mut tags: Vec<String> =
        site.forge.workflow_runs().into_iter().map(|run| run.git_ref).collect();
    tags.sort();
    assert_eq!(tags, (0..10).map(|round| format!("v{round}")).collect::<Vec<_>>());
    let database = database::open(&site.database());
    assert_eq!(database::number(&database, "SELECT count(*) FROM control_plane_jobs", &[]), 10);
    let seen = "SELECT sum(redelivery_count) FROM webhook_inbox";
    assert_eq!(database::number(&database, seen, &[]), 150);
}
