//! What one seed plays with. Everything is shared, because steps nest: a call to the forge lets other
//! replicas go on before it returns.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use svc::domain::delivery::NewDelivery;
use svc::domain::id::AttemptId;
use svc::domain::reconcile::ReconcileCode;
use svc::domain::result::NewResult;
use svc::domain::time::Timestamp;
use svc::forge::reach::Reach;
use svc::metrics::Metrics;
use svc::runtime::clock::Clock as _;
use svc::runtime::notify::Notify;
use svc::store::{NEWEST_STEP, Store};

use super::Report;
use super::chance::Chance;
use super::disk::{Disk, DiskFault};
use super::forge::{Fault, ForgeState, SICKNESSES};
use crate::support::ManualClock;
use crate::support::world::{open_raw, open_store_on_a_disk_that_fails};

/// Processes on one file.
pub(super) const REPLICAS: u64 = 3;
/// Tenants.
pub(super) const TENANTS: i64 = 3;

pub(super) struct World {
    pub(super) chance: Chance,
    pub(super) clock: Arc<ManualClock>,
    pub(super) forge: Mutex<ForgeState>,
    /// The network is that of all replicas.
    pub(super) reach: Reach,
    pub(super) faults_on: Mutex<bool>,
    pub(super) known: Mutex<Known>,
    pub(super) metrics: Arc<Metrics>,
    damaged: bool,
    /// How every call of the last tenant fails.
    sickness: Option<Fault>,
    disk: Option<Disk>,
    disk_fails: AtomicBool,
    notifies: Notifies,
    replicas: Mutex<Vec<Replica>>,
    raw: Mutex<rusqlite::Connection>,
    began: Timestamp,
    log: Mutex<Log>,
    folder: tempfile::TempDir,
}

/// Of the workers of one step.
type Notifies = Arc<Mutex<Vec<Notify>>>;

/// A process.
struct Replica {
    store: Store,
    /// Its disk failed: it takes nothing more.
    ended: Arc<AtomicBool>,
}

impl Replica {
    fn start(path: &Path, clock: &Arc<ManualClock>, seed: u64, notifies: &Notifies) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let (end, notifies) = (Arc::clone(&ended), Arc::clone(notifies));
        let on_fatal = Box::new(move |_: &_| {
            end.store(true, Ordering::SeqCst);
            // Its worker would wait for the store, in real time.
            notifies.lock().unwrap().iter().for_each(Notify::stop);
        });
        Self { store: open_store_on_a_disk_that_fails(path, clock, seed, on_fatal), ended }
    }
}

/// What the outside knows: what it was told.
#[derive(Default)]
pub(super) struct Known {
    /// Every delivery that was sent, to be sent again.
    pub(super) deliveries: Vec<NewDelivery>,
    /// Delivery keys that were answered as accepted.
    pub(super) acknowledged: Vec<String>,
    /// Every result that was sent, to be sent again.
    pub(super) results: Vec<NewResult>,
    /// Attempts whose result was answered as recorded.
    pub(super) decided: BTreeSet<AttemptId>,
    /// Credentials and bodies that were answered as recorded.
    pub(super) credentials: BTreeSet<(String, svc::domain::digest::Digest)>,
    /// Operators' keys that were answered, and with which audit event.
    pub(super) operations: BTreeMap<String, String>,
    /// Items that were closed.
    pub(super) closed: BTreeSet<String>,
}

#[derive(Default)]
struct Log {
    hash: u64,
    steps: u64,
    lines: Vec<String>,
    counters: BTreeMap<(&'static str, &'static str), u64>,
    longest: Duration,
}

impl World {
    pub(super) fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir_in(memory()).unwrap();
        let clock = Arc::new(ManualClock::new());
        let path = folder.path().join("svc.db");
        let notifies = Notifies::default();
        let replicas = (0..REPLICAS)
            .map(|n| Replica::start(&path, &clock, seed ^ (n << 32), &notifies))
            .collect();
        Self {
            chance: Chance::new(seed),
            damaged: seed.is_multiple_of(4),
            sickness: sickness(seed),
            disk: Disk::that_fails(),
            disk_fails: AtomicBool::new(false),
            notifies,
            began: clock.now(),
            reach: Reach::new(Arc::<ManualClock>::clone(&clock), Arc::default(), Notify::new()),
            clock,
            forge: Mutex::default(),
            faults_on: Mutex::new(true),
            known: Mutex::default(),
            metrics: Arc::default(),
            replicas: Mutex::new(replicas),
            raw: Mutex::new(open_raw(&path)),
            log: Mutex::default(),
            folder,
        }
    }

    /// How every call of an installation fails, while faults are on.
    pub(super) fn sickness_of(&self, installation: i64) -> Option<Fault> {
        self.sickness.filter(|_| installation == TENANTS)
    }

    /// One of the replicas' stores.
    pub(super) fn replica(&self) -> (u64, Store) {
        let place = self.chance.below(REPLICAS);
        (place, self.store_of(place))
    }

    /// The store of a replica.
    pub(super) fn store_of(&self, place: u64) -> Store {
        self.replicas.lock().unwrap()[usize::try_from(place).unwrap()].store.clone()
    }

    /// Ends a replica and starts it anew on the same file.
    pub(super) fn restart(&self, place: u64) {
        let seed = self.chance.below(u64::MAX);
        let fresh = Replica::start(&self.database(), &self.clock, seed, &self.notifies);
        self.replicas.lock().unwrap()[usize::try_from(place).unwrap()] = fresh;
    }

    /// Lets the disk fail for a step, where it can. Nothing is drawn where it cannot.
    pub(super) fn break_disk_now_and_then(&self) -> bool {
        let Some(disk) = &self.disk else { return false };
        if !self.chance.one_in(8) {
            return false;
        }
        let fault = *self.chance.pick(&DiskFault::ALL).unwrap();
        let below = |bound| u32::try_from(self.chance.below(bound)).unwrap();
        let calls = (below(16), 1 + below(3));
        self.note(0, &format!("the disk is {}: {calls:?}", fault.name()));
        self.disk_fails.store(true, Ordering::SeqCst);
        self.notifies.lock().unwrap().clear();
        disk.fail(&self.database(), fault, calls);
        true
    }

    /// Ends a worker of this step when the disk ends its process.
    pub(super) fn stop_on_disk_failure(&self, notify: &Notify) {
        if self.does_disk_fail() {
            self.notifies.lock().unwrap().push(notify.clone());
        }
    }

    pub(super) fn does_disk_fail(&self) -> bool {
        self.disk_fails.load(Ordering::SeqCst)
    }

    /// The disk is well again; who ended is started anew.
    pub(super) fn mend_disk(&self) {
        let Some(disk) = &self.disk else { return };
        let (fault, failed) = disk.mend();
        self.disk_fails.store(false, Ordering::SeqCst);
        if let Some(fault) = fault.filter(|_| failed > 0) {
            self.count("disk", fault.name());
        }
        for place in 0..REPLICAS {
            let index = usize::try_from(place).unwrap();
            if self.replicas.lock().unwrap()[index].ended.load(Ordering::SeqCst) {
                self.note(0, &format!("replica {place} ended, and starts anew"));
                self.count("disk", "replica ended");
                self.restart(place);
                self.hear_what_is_there();
            }
        }
    }

    /// A caller that got no answer asks again: what was acknowledged is there, and perhaps more.
    fn hear_what_is_there(&self) {
        let mut known = self.known.lock().unwrap();
        if !self.damaged {
            let jobs = self.rows("SELECT idempotency_key FROM control_plane_jobs").concat();
            let lost = known.acknowledged.iter().find(|key| !jobs.contains(key));
            assert_eq!(lost, None, "an acknowledged delivery is not there");
            known.acknowledged = jobs;
        }
        let operations: BTreeMap<_, _> = self
            .rows("SELECT operation_id, audit_event_id FROM operator_operations")
            .into_iter()
            .map(|row| (row[0].clone(), row[1].clone()))
            .collect();
        let lost = known.operations.iter().find(|(key, event)| operations.get(*key) != Some(event));
        assert_eq!(lost, None, "an acknowledged replay or close is not there");
        known.operations = operations;
        let closed = "SELECT item_id FROM audit_events \
            WHERE event = 'control_plane.dead_letter_closed'";
        known.closed.extend(self.rows(closed).concat());
        let mut credentials = BTreeSet::new();
        for row in
            self.rows("SELECT token_id, hex(payload_sha256), attempt_id FROM result_callbacks")
        {
            let byte = u8::from_str_radix(row[1].get(..2).unwrap(), 16).unwrap();
            credentials.insert((row[0].clone(), [byte; 32].into()));
            known.decided.insert(row[2].parse().unwrap());
        }
        let lost = known.credentials.iter().find(|known| !credentials.contains(known));
        assert_eq!(lost, None, "an acknowledged result is not there");
        known.credentials = credentials;
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("svc.db")
    }

    pub(super) fn are_faults_on(&self) -> bool {
        *self.faults_on.lock().unwrap()
    }

    pub(super) fn stop_faults(&self) {
        *self.faults_on.lock().unwrap() = false;
        self.admit_writers_from(NEWEST_STEP);
    }

    /// A newer schema shuts every replica out, or lets it in again: the store is unavailable for a
    /// while.
    pub(super) fn admit_writers_from(&self, step: i64) {
        let sql = "UPDATE schema_compatibility SET oldest_writer_step = ?1";
        self.raw.lock().unwrap().execute(sql, [step]).unwrap();
    }

    /// Says whether this run has a stranger who changes the file.
    pub(super) fn is_damaged_now_and_then(&self) -> bool {
        self.damaged
    }

    /// Changes the file behind every replica's back.
    pub(super) fn damage(&self, sql: &str) {
        self.raw.lock().unwrap().execute(sql, []).unwrap();
    }

    pub(super) fn is_shut(&self) -> bool {
        self.ask(&format!("SELECT oldest_writer_step > {NEWEST_STEP} FROM schema_compatibility"))
    }

    /// Answers a question to the file.
    pub(super) fn ask<T: rusqlite::types::FromSql>(&self, sql: &str) -> T {
        let raw = self.raw.lock().unwrap();
        let mut statement = raw.prepare_cached(sql).unwrap();
        statement.query_row([], |row| row.get(0)).unwrap()
    }

    /// Returns the release run of an attempt, and its commit; nothing when no store knows the attempt.
    pub(super) fn release_of(&self, attempt: AttemptId) -> Option<[String; 2]> {
        let rows = self.rows(&format!(
            "SELECT release_run_id, head_sha FROM release_runs JOIN release_run_attempts \
                USING (release_run_id) WHERE attempt_id = '{attempt}'"
        ));
        rows.into_iter().next()?.try_into().ok()
    }

    /// Returns the rows of an answer, as text.
    pub(super) fn rows(&self, sql: &str) -> Vec<Vec<String>> {
        let raw = self.raw.lock().unwrap();
        let mut statement = raw.prepare(sql).unwrap();
        let columns = statement.column_count();
        let text = |row: &rusqlite::Row<'_>, place| match row.get_ref(place).unwrap() {
            rusqlite::types::ValueRef::Integer(number) => number.to_string(),
            other => other.as_str().unwrap_or_default().to_owned(),
        };
        statement
            .query_map([], |row| Ok((0..columns).map(|place| text(row, place)).collect()))
            .unwrap()
            .map(Result::unwrap)
            .collect()
    }

    /// Notes what happened: it is part of the trace, and of its hash.
    pub(super) fn note(&self, depth: u32, line: &str) {
        let mut log = self.log.lock().unwrap();
        log.steps += 1;
        for byte in line.bytes() {
            // FNV-1a.
            log.hash = (log.hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
        log.longest = log.longest.max(self.clock.monotonic());
        let indent = usize::try_from(depth).unwrap() * 2;
        let now = self.clock.now();
        log.lines.push(format!("{now} {:indent$}{line}", ""));
        if log.lines.len() > 400 {
            log.lines.drain(..200);
        }
    }

    /// Counts a fault at a cut.
    pub(super) fn count(&self, cut: &'static str, fault: &'static str) {
        *self.log.lock().unwrap().counters.entry((cut, fault)).or_default() += 1;
    }

    pub(super) fn print_trace(&self) {
        let log = self.log.lock().unwrap();
        let from = log.lines.len().saturating_sub(60);
        super::say(&log.lines[from..].join("\n"));
    }

    pub(super) fn report(&self) -> Report {
        let releases_run =
            self.ask("SELECT count(*) FROM release_run_attempts WHERE workflow_run_id IS NOT NULL");
        self.count_reconciliations();
        let succeeded = self.ask("SELECT count(*) FROM release_runs WHERE status = 'succeeded'");
        let log = self.log.lock().unwrap();
        Report {
            succeeded,
            hash: log.hash,
            steps: log.steps,
            simulated: self.clock.monotonic(),
            counters: log.counters.clone(),
            releases_run,
        }
    }

    /// Counts what looks came to: each code, put off and finished.
    fn count_reconciliations(&self) {
        let text = self.metrics.render();
        // A closed effect ends its release without an item.
        let code = ReconcileCode::DeadLetterClosed.as_str();
        let sql = format!("SELECT count(*) FROM release_runs WHERE failure_reason = '{code}'");
        let ended_closed = u64::try_from(self.ask::<i64>(&sql)).unwrap();
        let mut log = self.log.lock().unwrap();
        if ended_closed > 0 {
            *log.counters.entry(("end", code)).or_default() += ended_closed;
        }
        for code in ReconcileCode::ALL {
            for then in ["recheck", "end"] {
                let labels = format!("outcome=\"{code}\",then=\"{then}\"}} ");
                let counts = text.lines().filter_map(|line| line.split_once(&labels));
                let sum: u64 = counts.map(|(_, count)| count.parse::<u64>().unwrap()).sum();
                if sum > 0 {
                    *log.counters.entry((then, code.as_str())).or_default() += sum;
                }
            }
        }
    }

    pub(super) fn began(&self) -> Timestamp {
        self.began
    }
}

/// In a third of the seeds the last tenant is sick, each in its way.
fn sickness(seed: u64) -> Option<Fault> {
    let place = usize::try_from(seed / 3).unwrap() % SICKNESSES.len();
    seed.is_multiple_of(3).then(|| SICKNESSES[place])
}

/// Where files are quick to sync: the simulation is about order, not about disks.
pub(crate) fn memory() -> PathBuf {
    let shared = PathBuf::from("/dev/shm");
    if shared.is_dir() { shared } else { std::env::temp_dir() }
}
