//! Verbs of the store at 16 callers, each beside a raw loop that does the same writes.

use svc::domain::id::{CheckRunId, WorkflowRunId};
use svc::domain::outbox::{EffectKind, SendResult};
use svc::store::Store;

use crate::raw::{self, Raw};
use crate::support::{Folder, Run, callers, heading, line, median, open_store, ratio};
use crate::{raw_release, work};

pub(crate) const CALLERS: usize = 16;
const ROUNDS: usize = 5;
/// What each round of each verb does.
const RECORDS: usize = 8_000;
pub(crate) const JOBS: usize = 5_000;
const DELIVERIES: usize = 2_000;

/// A store and the raw limit, each on a file of its own with the same tables.
struct Pair {
    _folder: Folder,
    store: Store,
    raw: Raw,
}

impl Pair {
    fn new() -> Self {
        let folder = Folder::new();
        let (ours, limit) = (folder.path("store.db"), folder.path("raw.db"));
        drop(open_store(&limit));
        Self { store: open_store(&ours), raw: Raw::open(&limit), _folder: folder }
    }
}

pub(crate) fn run() {
    heading(
        &format!("verbs: at {CALLERS} callers, a second, median of {ROUNDS} interleaved pairs"),
        ["svc", "raw limit", "ratio", "aim"],
    );
    let pair = Pair::new();
    compare(
        "record_delivery",
        0.85,
        |round| {
            let first = round * RECORDS;
            callers(CALLERS, RECORDS, |number| record(&pair.store, first + number))
        },
        |round| {
            let first = round * RECORDS;
            callers(CALLERS, RECORDS, |number| record_raw(&pair.raw, first + number))
        },
    );
    let pair = Pair::new();
    compare(
        "claim_jobs + run_job",
        0.70,
        |round| {
            fill(&pair.store, round * JOBS);
            callers(CALLERS, JOBS, |_| claim_and_run(&pair.store))
        },
        |round| {
            fill_raw(&pair.raw, round * JOBS);
            callers(CALLERS, JOBS, |_| claim_and_finish(&pair.raw))
        },
    );
    let pair = Pair::new();
    compare(
        "delivery in five durable steps",
        0.75,
        |round| {
            let first = round * DELIVERIES;
            callers(CALLERS, DELIVERIES, |number| deliver(&pair.store, first + number))
        },
        |round| {
            let first = round * DELIVERIES;
            callers(CALLERS, DELIVERIES, |number| deliver_raw(&pair.raw, first + number))
        },
    );
}

fn compare(name: &str, aim: f64, ours: impl Fn(usize) -> Run, limit: impl Fn(usize) -> Run) {
    let (mut own, mut raw) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        raw.push(limit(round).per_second());
        own.push(ours(round).per_second());
    }
    let ratio = format!("{:.2}", ratio(&own, &raw));
    let shown = |values| format!("{:.0}", median(values));
    line(name, [shown(own), shown(raw), ratio, format!(">= {aim:.2}")]);
}

pub(crate) fn record(store: &Store, number: usize) {
    store.record_delivery(work::release(number)).unwrap();
}

pub(crate) fn record_raw(raw: &Raw, number: usize) {
    let head_sha = work::commit(number);
    let actions =
        format!(r#"[{{"action":"release","git_ref":"refs/tags/v1.2.3","head_sha":"{head_sha}"}}]"#);
    raw.call(move |connection, now| raw::record(connection, now, number, &actions));
}

/// Records jobs that end without touching anything else, numbered from `first`.
pub(crate) fn fill(store: &Store, first: usize) {
    let numbers: Vec<usize> = (first..first + JOBS).collect();
    for batch in numbers.chunks(1_000) {
        let batch: Vec<_> =
            batch.iter().map(|number| store.submit_delivery(work::hint(*number))).collect();
        for pending in batch {
            pending.wait().unwrap();
        }
    }
}

fn fill_raw(raw: &Raw, first: usize) {
    let actions = r#"[{"action":"look_at_workflow_run","workflow_run_id":7}]"#;
    raw.call(move |connection, now| {
        (first..first + JOBS).for_each(|number| raw::record(connection, now, number, actions));
    });
}

pub(crate) fn claim_and_run(store: &Store) {
    for claim in store.claim_jobs(1, "bench", work::POLICY).unwrap() {
        store.run_job(&claim, &work::plan()).wait().unwrap();
    }
}

pub(crate) fn claim_and_finish(raw: &Raw) {
    let claim = raw.call(raw::claim_job);
    raw.call(move |connection, now| raw::finish_job(connection, now, claim));
}

fn deliver(store: &Store, number: usize) {
    record(store, number);
    claim_and_run(store);
    let claim = store.claim_message("bench", work::POLICY, work::pace(), Vec::new()).unwrap();
    let claim = claim.expect("every job leaves a message");
    let known = i64::try_from(number + 1).unwrap();
    let result = match claim.item.kind {
        EffectKind::CheckRunCreate => {
            SendResult::CheckRunExists(CheckRunId::try_from(known).unwrap())
        }
        EffectKind::WorkflowDispatch => {
            SendResult::Dispatched(Some(WorkflowRunId::try_from(known).unwrap()))
        }
        EffectKind::CheckRunUpdate => SendResult::CheckRunUpdated,
    };
    store.settle_message(&claim, result, false, None, work::RETRY).unwrap();
}

fn deliver_raw(raw: &Raw, number: usize) {
    record_raw(raw, number);
    let claim = raw.call(raw::claim_job);
    raw.call(move |connection, now| {
        raw_release::start(connection, now, number);
        raw::finish_job(connection, now, claim);
    });
    let message = raw.call(raw_release::claim);
    raw.call(move |connection, now| raw_release::settle(connection, now, number, &message));
}
