//! Another process at the same file: it may hold the write lock, or bring a newer schema. The daemon
//! answers that it cannot write now, goes on reading, and recovers by itself.

use svc::store::NEWEST_STEP;

use super::ask::Ask;
use super::letters::{self, list_path, replay};
use super::process::Daemon;
use super::site::Site;
use super::{INSTALLATION, commit, database, wait_for};

fn assert_only_readable(site: &Site, daemon: &mut Daemon, letter: &str, word: &str) {
    let push = site.webhooks.push_tag("v2", &commit(2));
    let refused = daemon.deliver("during", &push);
    refused.assert_problem(503, "unavailable", word);
    assert_eq!(refused.header("retry-after"), "5");
    let ready = daemon.control.ask(&Ask::get("/health/ready"));
    assert_eq!((ready.status, ready.member("store")), (503, word.to_owned()));
    let listed = daemon.control.ask(&Ask::get(&list_path(INSTALLATION)).bearer());
    assert!(listed.text().contains(letter), "{}", listed.text());
    assert!(daemon.is_running());
}

fn assert_recovered(site: &Site, daemon: &Daemon, letter: &str) {
    let push = site.webhooks.push_tag("v2", &commit(2));
    wait_for("the store", || (daemon.deliver("during", &push).status == 202).then_some(()));
    let replayed = daemon.control.ask(&replay(INSTALLATION, "outbox", letter, "the-key"));
    assert_eq!(replayed.member("outcome"), "replayed");
    assert_eq!(daemon.control.ask(&Ask::get("/health/ready")).status, 200);
    wait_for("both dispatches", || (site.forge.workflow_runs().len() == 2).then_some(()));
}

#[test]
fn a_lock_that_is_held_too_long_is_an_answer() {
    let site = Site::new();
    let mut daemon = site.start();
    let letter = letters::refused(&site, &daemon, 1);
    let other = database::open(&site.database());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_only_readable(&site, &mut daemon, &letter, "busy");
    other.execute_batch("ROLLBACK").unwrap();
    assert_recovered(&site, &daemon, &letter);
}

#[test]
fn a_newer_schema_shuts_an_older_writer_out() {
    let site = Site::new();
    let mut daemon = site.start();
    let letter = letters::refused(&site, &daemon, 1);
    let other = database::open(&site.database());
    database::admit_writers_from(&other, NEWEST_STEP + 1);
    let replay = replay(INSTALLATION, "outbox", &letter, "the-key");
    daemon.control.ask(&replay).assert_problem(503, "unavailable", "outdated");
    assert_only_readable(&site, &mut daemon, &letter, "outdated");
    database::admit_writers_from(&other, NEWEST_STEP);
    assert_recovered(&site, &daemon, &letter);
}
