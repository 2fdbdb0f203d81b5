//! A short life of one delivery: a webhook, its job, a dispatch that is refused, its replay, and the
//! effects that follow. It can be gone on with after the process died anywhere in it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use svc::api::{DeadLetter, PageBody};
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::notify::Notify;
use svc::simulator::{Call, Fault};

use super::check::{Told, check};
use crate::daemon::ask::{Answer, Ask};
use crate::daemon::letters::{list_path, replay};
use crate::daemon::process::{Daemon, delivery};
use crate::daemon::site::Site;
use crate::daemon::{INSTALLATION, PATIENCE, commit, database};

const KEY: &str = "the-key";
const UNFINISHED: &str = "SELECT (SELECT count(*) FROM control_plane_jobs WHERE status IN ('available', 'leased')) \
     + (SELECT count(*) FROM outbox WHERE status IN ('available', 'leased'))";

pub(super) struct Script {
    id: String,
    number: usize,
    /// The item whose replay was asked for, until it is answered.
    asked: Option<(String, String)>,
    pub(super) told: Told,
    /// Answers that were neither a success nor that it cannot be done now.
    pub(super) odd: Vec<Answer>,
    /// Answers that it cannot be done now.
    pub(super) later: usize,
}

impl Script {
    pub(super) fn new(site: &Site, number: usize) -> Self {
        site.forge.plan(Call::Dispatch, Fault::Validation422);
        let (told, odd) = (Told::default(), Vec::new());
        Self { id: format!("push-{number}"), number, asked: None, told, odd, later: 0 }
    }

    /// Goes on until nothing is left to do; returns false when the process ended before.
    pub(super) fn go_on(&mut self, site: &Site, daemon: &mut Daemon) -> bool {
        let clock = SystemClock::new();
        while daemon.is_running() {
            if self.step(site, daemon).is_some() {
                return true;
            }
            let patient = clock.monotonic() < PATIENCE;
            assert!(patient, "{} does not end: {}", self.id, daemon.log());
            assert!(Notify::new().pause(Duration::from_millis(5)));
        }
        false
    }

    /// Does what there is to do; returns something when there is nothing.
    fn step(&mut self, site: &Site, daemon: &Daemon) -> Option<()> {
        if self.told.deliveries.is_empty() {
            let push = site.webhooks.push_tag(&format!("v{}", self.number), &commit(self.number));
            let answer = daemon.public.try_ask(&delivery(&self.id, &push)).ok()?;
            if self.succeeded(&answer) {
                self.told.deliveries.push(self.id.clone());
            }
            return None;
        }
        if unfinished(&site.database()) != Some(0) {
            return None;
        }
        if self.asked.is_none() && self.told.replays.is_empty() {
            let list = Ask::get(&list_path(INSTALLATION)).bearer();
            let answer = daemon.control.try_ask(&list).ok()?;
            if !self.succeeded(&answer) {
                return None;
            }
            let page: PageBody<DeadLetter> = serde_json::from_slice(&answer.body).unwrap();
            let item = page.items.into_iter().find(|item| item.replay_safe);
            self.asked = item.map(|item| (item.item_type.into_owned(), item.item_id));
            return self.asked.is_none().then_some(());
        }
        if let Some((kind, item)) = self.asked.clone() {
            let ask = replay(INSTALLATION, &kind, &item, KEY);
            let answer = daemon.control.try_ask(&ask).ok()?;
            if self.succeeded(&answer) {
                let event = answer.member("auditEventId");
                self.told.replays.push((KEY.to_owned(), event));
                self.asked = None;
            }
            return None;
        }
        Some(())
    }

    fn succeeded(&mut self, answer: &Answer) -> bool {
        match answer.status {
            200 | 202 => return true,
            503 => self.later += 1,
            _ => self.odd.push(answer.clone()),
        }
        false
    }

    /// Says what is wrong at the end.
    pub(super) fn evaluate(&self, site: &Site) -> Result<(), String> {
        if !self.odd.is_empty() {
            return Err(format!("odd answers: {:?}", self.odd));
        }
        check(&site.database(), &self.told)?;
        let mut effects = BTreeSet::new();
        for effect in site.forge.ledger() {
            if !effects.insert(effect.key.clone()) && effect.call != Call::CheckRunUpdate {
                return Err(format!("twice: {}", effect.key));
            }
        }
        let database = database::open(&site.database());
        let query =
            "SELECT count(*) FROM webhook_inbox WHERE state NOT IN ('processed', 'dead_letter')";
        let open = database::number(&database, query, &[]);
        let query = "SELECT count(*) FROM control_plane_jobs WHERE status = 'completed' \
                     AND NOT EXISTS (SELECT 1 FROM outbox)";
        let without_effect = database::number(&database, query, &[]);
        if (open, without_effect) == (0, 0) {
            Ok(())
        } else {
            Err(format!("{open} deliveries are open, {without_effect} jobs left nothing behind"))
        }
    }
}

/// Returns how much work there is; nothing while it cannot be seen.
fn unfinished(path: &Path) -> Option<i64> {
    database::open(path).query_row(UNFINISHED, [], |row| row.get(0)).ok()
}

/// Checks the file as a dead process left it, in a copy; returns the owners of the leases in it.
pub(super) fn examine(site: &Site, told: &Told) -> Result<Vec<String>, String> {
    let copy: PathBuf = site.path("left.db");
    for suffix in ["", "-wal", "-journal", "-shm"] {
        let to = format!("{}{suffix}", copy.display());
        drop(std::fs::remove_file(&to));
        let from = format!("{}{suffix}", site.database().display());
        if suffix != "-shm" && Path::new(&from).exists() {
            std::fs::copy(from, to).unwrap();
        }
    }
    check(&copy, told)?;
    let database = database::open(&copy);
    let query = "SELECT lease_owner FROM control_plane_jobs WHERE lease_owner IS NOT NULL \
                 UNION SELECT lease_owner FROM outbox WHERE lease_owner IS NOT NULL";
    // Before the tables are there no worker has a lease.
    let Ok(mut statement) = database.prepare(query) else { return Ok(Vec::new()) };
    let owners = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    Ok(owners)
}

/// Lets the leases of dead processes run out, as waiting for some minutes would.
pub(super) fn age(site: &Site, owners: &[String]) {
    let database = database::open(&site.database());
    for owner in owners {
        for table in ["control_plane_jobs", "outbox"] {
            let age = format!(
                "UPDATE {table} SET lease_expires_at = 1 WHERE lease_owner = ?1 AND status = 'leased'"
            );
            database.execute(&age, [owner]).unwrap();
        }
    }
}
