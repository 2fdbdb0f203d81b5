//! Peers of all kinds at once, what they were told, and what must hold of it whatever happened to the
//! process meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use svc::api::{DeadLetter, PageBody};
use svc::runtime::thread;
use svc::simulator::{Call, Fault, Webhooks};

use super::ask::{Ask, Endpoint};
use super::letters::{list_path, replay};
use super::process::{Daemon, delivery};
use super::site::Site;
use super::{INSTALLATION, commit, database, wait_for};

/// Work that is not at its end.
const UNFINISHED: &str = "SELECT (SELECT count(*) FROM control_plane_jobs WHERE status IN ('available', 'leased')) \
     + (SELECT count(*) FROM outbox WHERE status IN ('available', 'leased'))";

/// What peers were told, over all lives of the process.
#[derive(Default)]
pub(super) struct Told {
    next: AtomicUsize,
    /// Deliveries that were answered with success, by number.
    acknowledged: Mutex<BTreeSet<usize>>,
    /// Deliveries that were cut or refused, to be sent again as the forge would.
    undelivered: Mutex<Vec<usize>>,
    /// Audit events by the key they were answered for.
    replayed: Mutex<BTreeMap<String, String>>,
    /// Deliveries and replays whose answer never came.
    pub(super) deliveries_cut: AtomicUsize,
    pub(super) replays_cut: AtomicUsize,
}

impl Told {
    /// Delivers until told to stop: what is owed first, then something new.
    fn deliver(&self, endpoint: &Endpoint, webhooks: &Webhooks, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let undelivered = self.undelivered.lock().unwrap().pop();
            let number = undelivered.unwrap_or_else(|| self.next.fetch_add(1, Ordering::Relaxed));
            let webhook = webhooks.push_tag(&format!("v{number}"), &commit(number));
            let answer = endpoint.try_ask(&delivery(&format!("load-{number}"), &webhook));
            note_cut(&answer, &self.deliveries_cut);
            if answer.is_ok_and(|answer| [200, 202].contains(&answer.status)) {
                self.acknowledged.lock().unwrap().insert(number);
            } else {
                self.undelivered.lock().unwrap().push(number);
            }
        }
    }

    /// Replays whatever is safe, each item under a key of its own.
    fn replay(&self, endpoint: &Endpoint, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let Ok(answer) = endpoint.try_ask(&Ask::get(&list_path(INSTALLATION)).bearer()) else {
                continue;
            };
            if answer.status == 503 {
                continue;
            }
            assert_eq!(answer.status, 200, "{answer:?}");
            let page: PageBody<DeadLetter> = serde_json::from_slice(&answer.body).unwrap();
            for item in page.items.iter().filter(|item| item.replay_safe) {
                let key = format!("key-{}-{}", item.item_id, item.failed_at);
                let ask = replay(INSTALLATION, &item.item_type, &item.item_id, &key);
                let answer = endpoint.try_ask(&ask);
                note_cut(&answer, &self.replays_cut);
                let Ok(answer) = answer else { continue };
                assert!([200, 503].contains(&answer.status), "{answer:?}");
                if answer.status == 200 {
                    let event = answer.member("auditEventId");
                    let before = self.replayed.lock().unwrap().insert(key, event.clone());
                    assert!(before.is_none_or(|before| before == event));
                }
            }
        }
    }

    /// Returns how many deliveries were acknowledged so far.
    pub(super) fn acknowledged(&self) -> usize {
        self.acknowledged.lock().unwrap().len()
    }
}

/// Counts a question that was put and never answered; one that was not received is none.
fn note_cut<T>(answer: &io::Result<T>, cut: &AtomicUsize) {
    let unheard = [io::ErrorKind::ConnectionRefused, io::ErrorKind::NotFound];
    if answer.as_ref().is_err_and(|error| !unheard.contains(&error.kind())) {
        cut.fetch_add(1, Ordering::Relaxed);
    }
}

/// Peers against a daemon, until told to stop.
pub(super) struct Load {
    stop: Arc<AtomicBool>,
    peers: Vec<JoinHandle<()>>,
}

impl Load {
    /// Lets the forge deliver, and an operator replay, through the endpoints of `daemon`.
    pub(super) fn start(daemon: &Daemon, site: &Site, told: &Arc<Told>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let mut peers = Vec::new();
        for _ in 0..3 {
            let (told, stop) = (Arc::clone(told), Arc::clone(&stop));
            let (endpoint, webhooks) = (daemon.public.clone(), site.webhooks.clone());
            let peer = move || told.deliver(&endpoint, &webhooks, &stop);
            peers.push(thread::spawn("test-forge", peer).unwrap());
        }
        let (told, asked, endpoint) = (Arc::clone(told), Arc::clone(&stop), daemon.control.clone());
        peers.push(thread::spawn("test-operator", move || told.replay(&endpoint, &asked)).unwrap());
        Self { stop, peers }
    }

    pub(super) fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.peers.into_iter().for_each(|peer| peer.join().unwrap());
    }
}

/// A small generator: the same numbers from the same seed.
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) const fn new(seed: u64) -> Self {
        // Seeds that follow each other must not give numbers that do.
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % bound
    }
}

/// Lets some of the next calls to the forge fail.
pub(super) fn plan(site: &Site, numbers: &mut Numbers) {
    for call in [Call::Mint, Call::Dispatch, Call::CheckRunCreate, Call::CheckRunUpdate] {
        let fault = match numbers.below(6) {
            0 => Fault::Validation422,
            1 => Fault::CutBeforeEffect,
            2 => Fault::CutAfterEffect,
            3 => Fault::Status(503),
            _ => continue,
        };
        site.forge.plan(call, fault);
    }
}

/// Lets the leases of dead processes run out, as waiting for some minutes would.
pub(super) fn age_leases(site: &Site) {
    let database = database::open(&site.database());
    for table in ["control_plane_jobs", "outbox"] {
        let age = format!("UPDATE {table} SET lease_expires_at = 1 WHERE status = 'leased'");
        database.execute(&age, []).unwrap();
    }
}

/// Waits until nothing is left to do; as long as it becomes less, that may take its time.
pub(super) fn come_to_rest(site: &Site) {
    let database = database::open(&site.database());
    let mut left = i64::MAX;
    while left > 0 {
        left = wait_for("rest", || {
            Some(database::number(&database, UNFINISHED, &[])).filter(|now| *now < left)
        });
    }
}

/// Checks what peers were told against the file and the forge's own ledger. At rest every delivery has
/// been processed or is a dead letter; before that it may also wait.
pub(super) fn check(site: &Site, told: &Told, at_rest: bool) {
    check_but_for(site, told, at_rest, &[]);
}

/// Does the same, where calls of some kinds may have been made twice.
pub(super) fn check_but_for(site: &Site, told: &Told, at_rest: bool, doubles: &[Call]) {
    let database = database::open(&site.database());
    database::assert_sound(&database);
    let acknowledged = told.acknowledged.lock().unwrap();
    let ended = if at_rest { "AND status IN ('completed', 'dead_letter')" } else { "" };
    let query = format!(
        "SELECT count(*) FROM webhook_inbox JOIN control_plane_jobs USING (inbox_id) \
         WHERE webhook_inbox.idempotency_key = ?1 {ended}"
    );
    for number in acknowledged.iter() {
        let key = format!("forge:load-{number}");
        assert_eq!(database::number(&database, &query, &[&key]), 1, "{key}");
    }
    for (key, event) in told.replayed.lock().unwrap().iter() {
        let query = "SELECT count(*) FROM audit_events JOIN operator_operations \
                     USING (audit_event_id, operation_id) \
                     WHERE operation_id = ?1 AND audit_event_id = ?2";
        assert_eq!(database::number(&database, query, &[key, event]), 1, "{key}");
    }
    let query = "SELECT (SELECT count(*) FROM audit_events) - \
                 (SELECT count(*) FROM operator_operations)";
    assert_eq!(database::number(&database, query, &[]), 0, "an event without its operation");
    let mut effects = BTreeSet::new();
    for effect in site.forge.ledger() {
        let repeatable = effect.call == Call::CheckRunUpdate || doubles.contains(&effect.call);
        assert!(effects.insert(effect.key.clone()) || repeatable, "twice: {}", effect.key);
    }
    assert!(!at_rest || !effects.is_empty(), "the load brought nothing about");
}
