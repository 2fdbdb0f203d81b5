//! Killed at any instant, under load, again and again: what was acknowledged is there, and nothing
//! has happened twice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::Signal;
use svc::api::DeadLetterPage;
use svc::clock::{Clock as _, SystemClock};
use svc::simulator::{Call, Fault, Webhooks};
use svc::thread;
use svc::wake::Wake;

use super::ask::{Ask, Door};
use super::letters::{list_path, replay};
use super::process::{Daemon, delivery};
use super::site::Site;
use super::{INSTALLATION, commit, database};

const ROUNDS: usize = 15;
const SEED: u64 = 0x5EED_0001;

/// What peers were told, over all rounds.
#[derive(Default)]
struct Told {
    next: AtomicUsize,
    /// Deliveries that were answered with success, by number.
    acknowledged: Mutex<BTreeSet<usize>>,
    /// Deliveries that were cut or refused, to be sent again as the forge would.
    owed: Mutex<Vec<usize>>,
    /// Audit events by the key they were answered for.
    replayed: Mutex<BTreeMap<String, String>>,
}

impl Told {
    /// Delivers until told to stop: what is owed first, then something new.
    fn deliver(&self, door: &Door, webhooks: &Webhooks, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let owed = self.owed.lock().unwrap().pop();
            let number = owed.unwrap_or_else(|| self.next.fetch_add(1, Ordering::Relaxed));
            let webhook = webhooks.push_tag(&format!("v{number}"), &commit(number));
            match door.try_ask(&delivery(&format!("load-{number}"), &webhook)) {
                Ok(answer) if [200, 202].contains(&answer.status) => {
                    self.acknowledged.lock().unwrap().insert(number);
                }
                Ok(_) | Err(_) => self.owed.lock().unwrap().push(number),
            }
        }
    }

    /// Replays whatever is safe, each item under a key of its own.
    fn replay(&self, door: &Door, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let Ok(answer) = door.try_ask(&Ask::get(&list_path(INSTALLATION)).bearer()) else {
                continue;
            };
            let page: DeadLetterPage = serde_json::from_slice(&answer.body).unwrap();
            for item in page.items.iter().filter(|item| item.replay_safe) {
                let key = format!("key-{}-{}", item.item_id, item.failed_at);
                let ask = replay(INSTALLATION, &item.item_type, &item.item_id, &key);
                let Ok(answer) = door.try_ask(&ask) else { continue };
                assert!([200, 503].contains(&answer.status), "{answer:?}");
                if answer.status == 200 {
                    let event = answer.member("auditEventId");
                    let before = self.replayed.lock().unwrap().insert(key, event.clone());
                    assert!(before.is_none_or(|before| before == event));
                }
            }
        }
    }
}

/// Runs peers of all kinds against a daemon, until told to stop.
fn load(
    daemon: &Daemon,
    site: &Site,
    told: &Arc<Told>,
    stop: &Arc<AtomicBool>,
) -> Vec<JoinHandle<()>> {
    let mut peers = Vec::new();
    for _ in 0..3 {
        let (told, stop) = (Arc::clone(told), Arc::clone(stop));
        let (door, webhooks) = (daemon.public.clone(), site.webhooks.clone());
        let peer = move || told.deliver(&door, &webhooks, &stop);
        peers.push(thread::spawn("test-forge", peer).unwrap());
    }
    let (told, stop, door) = (Arc::clone(told), Arc::clone(stop), daemon.control.clone());
    peers.push(thread::spawn("test-operator", move || told.replay(&door, &stop)).unwrap());
    peers
}

/// A small generator: the same numbers from the same seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn plan(site: &Site, numbers: &mut Numbers) {
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

#[test]
fn nothing_is_lost_and_nothing_is_doubled() {
    let site = Site::new();
    let told = Arc::new(Told::default());
    let mut numbers = Numbers(SEED);
    for round in 0..ROUNDS {
        if round % 3 == 2 {
            // In the middle of starting, too.
            let mut boot = site.command(super::site::svcd());
            let mut boot = boot.stderr(std::process::Stdio::null()).spawn().unwrap();
            assert!(Wake::new().pause(Duration::from_millis(numbers.below(60))));
            boot.kill().unwrap();
            boot.wait().unwrap();
        }
        plan(&site, &mut numbers);
        let clock = SystemClock::new();
        let mut daemon = site.start();
        assert!(clock.monotonic() < Duration::from_secs(3), "{:?}", clock.monotonic());
        let stop = Arc::new(AtomicBool::new(false));
        let peers = load(&daemon, &site, &told, &stop);
        assert!(Wake::new().pause(Duration::from_millis(20 + numbers.below(230))));
        if round % 5 == 4 {
            assert_eq!(daemon.end(Signal::TERM).code(), Some(0), "{}", daemon.log());
        } else {
            daemon.kill();
        }
        stop.store(true, Ordering::Relaxed);
        peers.into_iter().for_each(|peer| peer.join().unwrap());
        assert!(!daemon.log().contains("panicked"), "{}", daemon.log());
    }
    check(&site, &told);
}

#[test]
fn two_replicas_on_one_file_do_not_get_in_each_other_s_way() {
    let mut sites = [Site::new(), Site::new()];
    let database = sites[0].database();
    let forge = sites[0].forge.base_url();
    sites[1].set("SVC_DATABASE", database.to_str().unwrap());
    sites[1].set("SVC_FORGE_API_URL", &forge);
    let told = Arc::new(Told::default());
    let mut numbers = Numbers(SEED + 1);
    let mut daemons = [sites[0].start(), sites[1].start()];
    let stop = Arc::new(AtomicBool::new(false));
    let peers = load(&daemons[0], &sites[0], &told, &stop);
    let others = load(&daemons[1], &sites[0], &told, &stop);
    for round in 0..8 {
        plan(&sites[0], &mut numbers);
        assert!(Wake::new().pause(Duration::from_millis(20 + numbers.below(100))));
        // The second comes and goes; the first stays, and answers.
        daemons[1].kill();
        assert!(daemons[0].is_running(), "{round}: {}", daemons[0].log());
        daemons[1] = sites[1].start();
    }
    daemons.iter_mut().for_each(Daemon::kill);
    stop.store(true, Ordering::Relaxed);
    peers.into_iter().chain(others).for_each(|peer| peer.join().unwrap());
    for daemon in &daemons {
        assert!(!daemon.log().contains("panicked"), "{}", daemon.log());
        assert!(!daemon.log().contains("statement_failed"), "{}", daemon.log());
    }
    check(&sites[0], &told);
}

fn check(site: &Site, told: &Told) {
    let database = database::open(&site.database());
    database::assert_sound(&database);
    let acknowledged = told.acknowledged.lock().unwrap();
    assert!(acknowledged.len() > ROUNDS, "{} deliveries are no load", acknowledged.len());
    for number in acknowledged.iter() {
        let key = format!("forge:load-{number}");
        let query = "SELECT count(*) FROM webhook_inbox JOIN control_plane_jobs USING (inbox_id) \
                     WHERE webhook_inbox.idempotency_key = ?1";
        assert_eq!(database::number(&database, query, &[&key]), 1, "{key}");
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
        let repeatable = effect.call == Call::CheckRunUpdate;
        assert!(effects.insert(effect.key.clone()) || repeatable, "twice: {}", effect.key);
    }
    assert!(!effects.is_empty(), "the load brought nothing about");
}
