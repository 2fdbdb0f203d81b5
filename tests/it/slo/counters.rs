//! Every signal, from the rows of the store and the counters of the workers, read by the real evaluator.
//! Each fires once, with the value that was brought about, and recovers once.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use log::Level;
use svc::domain::dead_letter::ErrorClass;
use svc::domain::outbox::EffectKind;
use svc::domain::reconcile::workflow::{Lookup, RunConclusion};
use svc::domain::reconcile::{ReconcileKind, Unavailable};
use svc::domain::slo::{Severity, Signal};
use svc::forge::CheckRunLookup;
use svc::http::message::Surface;
use svc::runtime::random::{Ids, Random};
use svc::simulator::sign;
use svc::store::{LeasePolicy, LogRules, NEWEST_STEP, Options, Store};
use svc::workers::driver::{Next, Worker as _};
use svc::workers::slo::SloWorker;

use super::{POLL, reject, worker};
use crate::support::forge::Plan;
use crate::support::log::{Line, lines_of};
use crate::support::world::{LONG, RETRY, RULES, SECRET, commit, open_raw, pace, plan, webhooks};
use crate::support::{ManualClock, SeededRandom, World};

const UNAVAILABLE: Unavailable = Unavailable { class: ErrorClass::Unavailable, wait_until: None };

/// How a signal is made to fire and to recover.
enum Case {
    /// In this process: the value it fires with, other signals that fire for the same reason, and what
    /// happens.
    InProcess(u64, &'static [Signal], fn(&mut Fixture)),
    /// By a test of the real daemon: its file and its name.
    Daemon(&'static str, &'static str),
}

/// At least one case for every signal.
const CASES: &[(Signal, Case)] = &[
    (Signal::OldestJob, Case::InProcess(360, &[], a_job_that_is_not_claimed)),
    (Signal::OldestInbox, Case::InProcess(960, &[], a_job_that_takes_long)),
    (Signal::DeadLetters, Case::InProcess(1, &[], a_job_that_is_given_up)),
    (Signal::LeaseExpiries, Case::InProcess(5, &[], holders_that_vanish)),
    (Signal::ReconciliationOverdue, Case::InProcess(330, &[], an_item_that_is_not_looked_at)),
    (
        Signal::PublicationFailures,
        Case::InProcess(3, &[Signal::DeadLetters], check_runs_that_cannot_be_written),
    ),
    (
        Signal::PublicationFailures,
        Case::InProcess(3, &[], check_runs_that_are_given_up_at_the_deadline),
    ),
    (Signal::LookupFailures, Case::InProcess(10, &[], a_forge_that_does_not_answer)),
    (Signal::WebhookRejections, Case::InProcess(20, &[], webhooks_that_are_not_taken_in)),
    (Signal::DatabaseBusy, Case::InProcess(250, &[], a_transaction_that_takes_long)),
    (Signal::OpenDeadLetters, Case::InProcess(86_460, &[], a_dead_letter_that_is_not_handled)),
    (Signal::GivenUp, Case::InProcess(1, &[], an_item_that_no_holder_survives)),
    // Space gets scarce only by the file system, or by a limit that holds for a whole process.
    (
        Signal::DiskFree,
        Case::Daemon(
            include_str!("../daemon/slo.rs"),
            "a_limit_on_the_size_of_files_is_space_that_is_not_there",
        ),
    ),
    (
        Signal::BacklogGrowth,
        Case::InProcess(520, &[], messages_that_wait_for_a_paused_installation),
    ),
];

/// A service, its evaluator, and every transition that was logged.
struct Fixture {
    world: World,
    slo: SloWorker,
    transitions: Vec<Line>,
}

impl Fixture {
    fn new() -> Self {
        let world = World::new();
        let slo = worker(&world);
        Self { world, slo, transitions: Vec::new() }
    }

    /// Evaluates now.
    fn evaluate(&mut self) {
        let lines = lines_of(|| assert_eq!(self.slo.step(), Next::Wait));
        let is_turn =
            |line: &Line| line.event().ends_with("_firing") || line.event().ends_with("_recovered");
        self.transitions.extend(lines.into_iter().filter(is_turn));
    }

    /// Lets time pass, and evaluates as often as the daemon would.
    fn pass(&mut self, time: Duration) {
        for _ in 0..time.as_secs() / POLL.as_secs() {
            self.world.clock.advance(POLL);
            self.evaluate();
        }
    }

    /// Starts releases number `numbers` of installation 1.
    fn push(&mut self, numbers: std::ops::Range<u32>) {
        for number in numbers {
            let webhook = webhooks(1).push_tag(&format!("v{number}"), &commit(number));
            assert_eq!(self.world.deliver(&webhook).0, 202);
        }
    }

    fn reconcile(&self) {
        let mut worker = self.world.reconcile();
        while worker.step() == Next::Now {}
    }

    /// Starts `count` releases that fail, and whose end the forge refuses to show.
    fn unpublished(&mut self, count: u32) {
        self.push(0..count);
        self.world.settle();
        self.world.forge.workflow_run_is(Lookup::Completed(RunConclusion::Failure));
        self.world.reconcile_after(RULES.observation);
        for _ in 0..count {
            self.world.forge.plan(EffectKind::CheckRunUpdate, Plan::Refused);
        }
        self.world.settle();
        self.world.clock.advance(RULES.observation);
        self.world.detect().step();
        assert_eq!(self.world.ask::<u32>(OPEN_PUBLICATIONS), count);
    }
}

const OPEN_PUBLICATIONS: &str =
    "SELECT count(*) FROM reconciliation_items WHERE kind = 'release_run' AND status = 'open'";

/// Longer than every window of the policy.
const WINDOW: Duration = Duration::from_secs(960);

fn lease(lease: Duration) -> LeasePolicy {
    LeasePolicy { lease, retry: RETRY }
}

fn a_job_that_is_not_claimed(fixture: &mut Fixture) {
    fixture.evaluate();
    fixture.push(1..2);
    fixture.pass(Duration::from_secs(450));
    fixture.world.settle();
    fixture.evaluate();
}

fn a_job_that_takes_long(fixture: &mut Fixture) {
    fixture.evaluate();
    fixture.push(1..2);
    let claims = fixture.world.store.claim_jobs(9, "slow", lease(LONG)).unwrap();
    fixture.pass(Duration::from_secs(1_050));
    fixture.world.store.run_job(&claims[0], &plan()).wait().unwrap();
    fixture.evaluate();
}

fn a_job_that_is_given_up(fixture: &mut Fixture) {
    fixture.world.deliver(&webhooks(1).installation("suspend"));
    fixture.world.settle();
    fixture.evaluate();
    fixture.push(1..2);
    fixture.world.settle();
    fixture.pass(WINDOW);
}

/// One that died before this process started, so that only its age counts.
fn a_dead_letter_that_is_not_handled(fixture: &mut Fixture) {
    fixture.world.deliver(&webhooks(1).installation("suspend"));
    fixture.push(1..2);
    fixture.world.settle();
    fixture.world.clock.advance(Duration::from_secs(86_385));
    fixture.pass(Duration::from_secs(120));
    let (kind, id) = fixture.world.only_dead_letter(1);
    assert_eq!(fixture.world.close(1, (&kind, &id), "k", "not needed").0, 200);
    fixture.evaluate();
}

fn an_item_that_no_holder_survives(fixture: &mut Fixture) {
    fixture.push(1..2);
    fixture.world.settle();
    fixture.world.clock.advance(RULES.observation);
    fixture.world.detect().step();
    fixture.evaluate();
    fixture.world.tamper(
        "UPDATE reconciliation_items SET status = 'dead_letter', outcome_code = 'crash_loop', \
            finished_at = created_at",
    );
    fixture.pass(Duration::from_secs(60 + 2 * 15));
    let id: String = fixture.world.ask("SELECT reconciliation_id FROM reconciliation_items");
    assert_eq!(fixture.world.close_reconciliation(1, &id, "k", "the release was repeated").0, 200);
    fixture.evaluate();
}

/// Three holders of jobs, one of a message, one of a reconciliation.
fn holders_that_vanish(fixture: &mut Fixture) {
    fixture.push(1..2);
    fixture.world.settle();
    fixture.world.clock.advance(RULES.observation);
    fixture.world.detect().step();
    fixture.push(2..3);
    fixture.world.jobs().step();
    fixture.push(3..6);
    fixture.evaluate();
    let (store, minute) = (fixture.world.store.clone(), Duration::from_secs(60));
    let claim = |owner: &str, lease_for: Duration| {
        let jobs = store.claim_jobs(9, owner, lease(lease_for)).unwrap();
        store.claim_message(owner, lease(lease_for), pace(), Vec::new()).unwrap();
        let kind = ReconcileKind::WorkflowAttempt;
        let lookup = store.claim_reconcile(kind, owner, lease_for, Vec::new()).unwrap().claim;
        assert_eq!((jobs.len(), lookup.is_some()), (3, true));
        jobs
    };
    claim("vanished", minute);
    fixture.pass(minute);
    for job in claim("next", LONG) {
        store.run_job(&job, &plan()).wait().unwrap();
    }
    fixture.pass(WINDOW);
}

fn an_item_that_is_not_looked_at(fixture: &mut Fixture) {
    fixture.push(1..2);
    fixture.world.settle();
    fixture.world.clock.advance(RULES.observation);
    fixture.world.detect().step();
    fixture.evaluate();
    fixture.pass(RULES.deadline + Duration::from_secs(450));
    fixture.reconcile();
    fixture.evaluate();
}

/// A creation and an update that the outbox gives up, and a check run that is not ours: the signal needs each.
fn check_runs_that_cannot_be_written(fixture: &mut Fixture) {
    fixture.unpublished(1);
    fixture.evaluate();
    fixture.world.forge.next_check_run_lookup(CheckRunLookup::BindingMismatch);
    fixture.reconcile();
    for kind in [EffectKind::CheckRunCreate, EffectKind::CheckRunUpdate] {
        fixture.world.forge.plan(kind, Plan::Refused);
    }
    fixture.push(1..3);
    fixture.world.settle();
    assert_eq!(fixture.world.dead_letters(1).len(), 3);
    fixture.pass(WINDOW);
}

/// One the forge does not know, one it gives no answer about, and one whose update it does not confirm.
fn check_runs_that_are_given_up_at_the_deadline(fixture: &mut Fixture) {
    fixture.unpublished(3);
    fixture.evaluate();
    fixture.world.clock.advance(RULES.deadline);
    let different = CheckRunLookup::Different([7; 32].into());
    for lookup in [CheckRunLookup::NotFound, CheckRunLookup::Unavailable(UNAVAILABLE), different] {
        fixture.world.forge.next_check_run_lookup(lookup);
    }
    fixture.world.forge.plan(EffectKind::CheckRunUpdate, Plan::LostBefore);
    fixture.reconcile();
    // The forge may not know a fresh token everywhere yet, until it has been asked four times.
    for delay in [1, 3, 8] {
        fixture.world.clock.advance(Duration::from_secs(delay));
        fixture.world.forge.next_check_run_lookup(CheckRunLookup::NotFound);
        fixture.reconcile();
    }
    fixture.pass(WINDOW);
}

fn a_forge_that_does_not_answer(fixture: &mut Fixture) {
    fixture.push(1..11);
    fixture.world.settle();
    fixture.evaluate();
    fixture.pass(RULES.observation);
    fixture.world.detect().step();
    fixture.world.forge.workflow_run_is(Lookup::Unavailable(UNAVAILABLE));
    fixture.reconcile();
    fixture.evaluate();
    // An answer is no failure, whether the forge knows the run or not.
    for answer in [Lookup::Pending, Lookup::NotFound] {
        fixture.world.forge.workflow_run_is(answer);
        fixture.pass(RULES.next_check);
        fixture.reconcile();
    }
    fixture.pass(WINDOW);
}

/// Eighteen without a signature, one that is signed and not JSON, and one that the store cannot record.
fn webhooks_that_are_not_taken_in(fixture: &mut Fixture) {
    fixture.evaluate();
    reject(&fixture.world, 18);
    let body = b"not JSON".to_vec();
    let signature = sign(SECRET, &body);
    let headers = [
        ("host", "localhost"),
        ("content-type", "application/json"),
        ("x-github-event", "push"),
        ("x-github-delivery", "00000000-0000-4000-8000-000000000000"),
        ("x-hub-signature-256", signature.as_str()),
    ];
    let target = "/webhooks/forge";
    let answer = fixture.world.send(Surface::Public, Method::POST, target, &headers, body);
    assert_eq!(answer.status, 400);
    let admit = |world: &World, step: i64| {
        open_raw(&world.database())
            .execute("UPDATE schema_compatibility SET oldest_writer_step = ?1", [step])
            .unwrap();
    };
    admit(&fixture.world, NEWEST_STEP + 1);
    assert_eq!(fixture.world.deliver(&webhooks(1).push_tag("v1", &commit(1))).0, 503);
    admit(&fixture.world, NEWEST_STEP);
    fixture.pass(WINDOW);
}

/// A source of chance that lets time pass on its first use, inside the transaction that uses it.
struct SlowRandom {
    clock: Arc<ManualClock>,
    takes: Duration,
}

impl Random for SlowRandom {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.clock.advance(std::mem::take(&mut self.takes));
        SeededRandom(3).fill(bytes);
    }
}

fn a_transaction_that_takes_long(fixture: &mut Fixture) {
    let world = &fixture.world;
    let clock = Arc::clone(&world.clock);
    let slow = SlowRandom { clock: Arc::clone(&clock), takes: Duration::from_secs(250) };
    let store = Store::open(Options {
        path: world.database(),
        clock: Arc::<ManualClock>::clone(&clock),
        ids: Ids::new(Box::new(slow)),
        on_fatal: Box::new(|error| panic!("the disk failed: {error:?}")),
        on_opening: Arc::new(|_| {}),
        log: LogRules::default(),
    })
    .unwrap();
    let (metrics, latest) = (Arc::clone(&world.app.metrics), world.app.slo.clone());
    fixture.slo = SloWorker::new(store.clone(), clock, metrics, latest);
    fixture.evaluate();
    fixture.push(1..2);
    let claims = store.claim_jobs(9, "it", lease(LONG)).unwrap();
    store.run_job(&claims[0], &plan()).wait().unwrap();
    fixture.pass(WINDOW);
}

fn messages_that_wait_for_a_paused_installation(fixture: &mut Fixture) {
    let until = svc::runtime::clock::Clock::now(fixture.world.clock.as_ref()).plus(LONG);
    fixture.world.forge.plan(EffectKind::CheckRunCreate, Plan::RateLimited(until));
    fixture.push(0..1);
    fixture.world.settle();
    fixture.evaluate();
    for round in 0..41 {
        let first = 1 + round * 13;
        fixture.push(first..first + 13);
        fixture.world.settle();
        fixture.pass(POLL);
    }
    fixture.pass(WINDOW);
}

#[test]
fn every_signal_has_a_case() {
    for signal in Signal::ALL {
        assert!(CASES.iter().any(|(of, _)| of == signal), "{} has no case", signal.as_str());
    }
}

#[test]
fn each_signal_fires_once_and_recovers_once() {
    for (signal, case) in CASES {
        let (value, others, run) = match case {
            Case::InProcess(value, others, run) => (*value, *others, *run),
            Case::Daemon(source, test) => {
                assert!(source.contains(&format!("#[test]\nfn {test}() {{")), "{test} is gone");
                continue;
            }
        };
        let mut fixture = Fixture::new();
        run(&mut fixture);
        let name = signal.as_str();
        let of = |line: &&Line| line.field("signal") == Some(name);
        let own: Vec<&Line> = fixture.transitions.iter().filter(of).collect();
        let [fired, recovered] = own.as_slice() else {
            panic!("{name}: {:?}", fixture.transitions)
        };
        assert_eq!(fired.event(), "worker.control_plane_slo_firing", "{name}");
        assert_eq!(fired.field("value"), Some(value.to_string().as_str()), "{name}");
        let level = match super::status(&fixture.world, *signal).rule.severity {
            Severity::Critical => Level::Error,
            Severity::Warning => Level::Warn,
        };
        assert_eq!(fired.level, level, "{name}");
        assert_eq!(recovered.event(), "worker.control_plane_slo_recovered", "{name}");
        assert_eq!(recovered.level, Level::Info, "{name}");
        let known = |line: &&Line| {
            of(line) || others.iter().any(|other| line.field("signal") == Some(other.as_str()))
        };
        let foreign: Vec<&Line> = fixture.transitions.iter().filter(|line| !known(line)).collect();
        assert!(foreign.is_empty(), "{name}: {foreign:?}");
    }
}
