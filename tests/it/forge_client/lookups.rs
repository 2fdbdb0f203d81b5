//! Looks at what stands at the simulated forge: what each tells, and how many calls it takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use svc::domain::dead_letter::ErrorClass;
use svc::domain::event::CommitSha;
use svc::domain::id::{CheckRunId, WorkflowRunId};
use svc::domain::outbox::{CheckRunStatus, SendResult};
use svc::domain::reconcile::workflow::{Lookup, RunConclusion};
use svc::domain::reconcile::{Unavailable, task, uncertain};
use svc::domain::release::Conclusion;
use svc::domain::time::Timestamp;
use svc::forge::client::ForgeClient;
use svc::forge::{CheckRunLookup, Dispatch, Permission};
use svc::runtime::clock::{Clock, SystemClock};
use svc::runtime::notify::Notify;
use svc::simulator::{Call, Fault, RunState, Simulator};

use super::{SHA, attempt, check_run, open, repository, start, update};

const WORKFLOW: &str = "release it.yml";

fn dispatched(simulator: &Simulator, client: &ForgeClient) -> WorkflowRunId {
    simulator.add_tag(repository().id, "v1.2.3", SHA);
    let mut session = open(client, Permission::ActionsWrite);
    match session.dispatch_workflow(&super::dispatch()) {
        SendResult::Dispatched(Some(run)) => run,
        other => panic!("{other:?}"),
    }
}

fn wanted_run(run: WorkflowRunId) -> task::WorkflowRun {
    task::WorkflowRun {
        attempt: attempt(),
        run,
        run_attempt: 1,
        repository: repository().id,
        head_sha: CommitSha::new(SHA).unwrap(),
        workflow: Some(WORKFLOW.to_owned()),
    }
}

fn wanted_dispatch(began_at: Timestamp) -> task::Dispatch {
    let (workflow, head_sha) = (WORKFLOW.to_owned(), CommitSha::new(SHA).unwrap());
    task::Dispatch { attempt: attempt(), workflow, head_sha, began_at }
}

fn wanted_check_run(check_run: CheckRunId) -> task::CheckRun {
    task::CheckRun {
        release_run: "0199f3a0-0000-7000-8000-00000000000c".parse().unwrap(),
        attempt: attempt(),
        check_run,
        name: Some("svc release".to_owned()),
        head_sha: CommitSha::new(SHA).unwrap(),
        conclusion: Conclusion::Failure,
        completed_at: Timestamp::from_micros(1_795_251_600_000_000),
        unconfirmed: false,
        refused_state: None,
    }
}

#[test]
fn a_workflow_run_is_seen_as_it_stands() {
    let (simulator, client) = start();
    let run = dispatched(&simulator, &client);
    let mut session = open(&client, Permission::ActionsRead);
    let wanted = wanted_run(run);
    for (state, told) in [
        (RunState::Queued, Lookup::Pending),
        (RunState::InProgress, Lookup::Pending),
        (RunState::Completed("success"), Lookup::Completed(RunConclusion::Success)),
        (RunState::Completed("startup_failure"), Lookup::Completed(RunConclusion::StartupFailure)),
        (RunState::Completed("something new"), Lookup::Completed(RunConclusion::Unknown)),
    ] {
        simulator.set_run(run.get(), state);
        let before = simulator.requests(Call::WorkflowRunRead);
        assert_eq!(session.workflow_run(&wanted), told, "{state:?}");
        assert_eq!(simulator.requests(Call::WorkflowRunRead) - before, 1, "{state:?}");
    }
    simulator.set_run(run.get(), RunState::Vanished);
    assert_eq!(session.workflow_run(&wanted), Lookup::NotFound);
    assert_eq!(simulator.requests(Call::WorkflowRunTryRead), 0);
}

#[test]
fn a_run_that_was_run_again_is_seen_at_the_try_the_attempt_is_bound_to() {
    let (simulator, client) = start();
    let run = dispatched(&simulator, &client);
    simulator.set_run(run.get(), RunState::Completed("failure"));
    simulator.run_again(run.get());
    simulator.set_run(run.get(), RunState::Completed("success"));
    let mut session = open(&client, Permission::ActionsRead);
    let failed = Lookup::Completed(RunConclusion::Failure);
    assert_eq!(session.workflow_run(&wanted_run(run)), failed);
    assert_eq!(simulator.requests(Call::WorkflowRunRead), 1);
    assert_eq!(simulator.requests(Call::WorkflowRunTryRead), 1);
}

#[test]
fn a_dispatch_is_proved_by_the_one_run_that_names_its_attempt() {
    let (simulator, client) = start();
    let run = dispatched(&simulator, &client);
    let created_at = simulator.workflow_runs()[0].created_at;
    let mut session = open(&client, Permission::ActionsRead);
    let mut find = |wanted: &task::Dispatch| session.find_workflow_run(wanted);
    let wanted = wanted_dispatch(created_at);
    assert_eq!(find(&wanted), uncertain::Observation::WorkflowRun(run));
    // Our clock may be ahead of the forge's, a little.
    let ahead = |seconds| wanted_dispatch(created_at.plus(Duration::from_secs(seconds)));
    assert_eq!(find(&ahead(110)), uncertain::Observation::WorkflowRun(run));
    assert_eq!(find(&ahead(130)), uncertain::Observation::NoProof);
    let other = "0199f3a0-0000-7000-8000-00000000000b".parse().unwrap();
    let unknown = task::Dispatch { attempt: other, ..wanted.clone() };
    assert_eq!(find(&unknown), uncertain::Observation::NoProof);
    // Two name it: neither is believed.
    let dispatch = Dispatch { nonce: "another", ..super::dispatch() };
    let second = open(&client, Permission::ActionsWrite).dispatch_workflow(&dispatch);
    assert!(matches!(second, SendResult::Dispatched(Some(_))));
    assert_eq!(find(&wanted), uncertain::Observation::NoProof);
    assert_eq!(simulator.requests(Call::WorkflowRunFind), 5);
}

#[test]
fn a_check_run_is_seen_as_what_it_must_show_or_not() {
    let (simulator, client) = start();
    let mut session = open(&client, Permission::ChecksWrite);
    let SendResult::CheckRunExists(id) = session.create_check_run(&check_run()) else {
        panic!("the check run was created")
    };
    let wanted = wanted_check_run(id);
    assert!(matches!(session.check_run(&wanted), CheckRunLookup::Different(_)));
    let status = CheckRunStatus::Completed {
        conclusion: wanted.conclusion,
        completed_at: wanted.completed_at,
        unconfirmed: false,
    };
    assert_eq!(session.update_check_run(&update(id, status)), SendResult::CheckRunUpdated);
    assert_eq!(session.check_run(&wanted), CheckRunLookup::Expected);
    let shown = simulator.check_runs()[0].clone();
    assert_eq!(
        (shown.status.as_str(), shown.conclusion.as_deref()),
        ("completed", Some("failure"))
    );
    assert_eq!(shown.completed_at, Some(wanted.completed_at.to_string()));
    assert!(shown.title.is_some() && shown.summary.is_some());
    let success = task::CheckRun { conclusion: Conclusion::Success, ..wanted.clone() };
    assert!(matches!(session.check_run(&success), CheckRunLookup::Different(_)));
    simulator.change_check_run(id.get(), |run| run.external_id = "another's".to_owned());
    assert_eq!(session.check_run(&wanted), CheckRunLookup::BindingMismatch);
    simulator.remove_check_run(id.get());
    assert_eq!(session.check_run(&wanted), CheckRunLookup::NotFound);
    assert_eq!(simulator.requests(Call::CheckRunUpdate), 1);
}

#[test]
fn a_permission_that_is_not_the_one_tells_nothing() {
    let (simulator, client) = start();
    let run = dispatched(&simulator, &client);
    let mut session = open(&client, Permission::ChecksWrite);
    let told = session.workflow_run(&wanted_run(run));
    assert!(matches!(told, Lookup::Unavailable(why) if why.class == ErrorClass::Permission));
    let unknown = wanted_check_run(1.try_into().unwrap());
    let told = open(&client, Permission::ActionsRead).check_run(&unknown);
    assert!(
        matches!(told, CheckRunLookup::Unavailable(why) if why.class == ErrorClass::Permission)
    );
}

#[test]
fn a_renamed_repository_is_followed_when_it_is_looked_at() {
    let (simulator, client) = start();
    let run = dispatched(&simulator, &client);
    let created_at = simulator.workflow_runs()[0].created_at;
    let name = "octo-org/renamed".parse().unwrap();
    simulator.rename_repository(repository().id, &name);
    let mut session = open(&client, Permission::ActionsRead);
    assert_eq!(session.workflow_run(&wanted_run(run)), Lookup::Pending);
    let found = session.find_workflow_run(&wanted_dispatch(created_at));
    assert_eq!(found, uncertain::Observation::WorkflowRun(run));
}

/// Ten seconds later each time it is read.
struct SteppingClock(Timestamp, AtomicU32);

const STEP: Duration = Duration::from_secs(10);

impl Clock for SteppingClock {
    fn now(&self) -> Timestamp {
        self.0.plus(STEP * self.1.fetch_add(1, Ordering::Relaxed))
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

#[test]
fn a_limit_counts_from_the_answer_and_not_from_before_the_call() {
    let simulator = Simulator::start().unwrap();
    simulator.add_repository(&repository());
    let clock = Arc::new(SteppingClock(SystemClock::new().now(), AtomicU32::new(0)));
    let settings = super::settings(simulator.base_url());
    let shared = Arc::<SteppingClock>::clone(&clock);
    let client = ForgeClient::new(settings, shared, Arc::default(), Notify::new()).unwrap();
    let mut session = open(&client, Permission::ActionsRead);
    simulator.plan(Call::WorkflowRunRead, Fault::RateLimited { retry_after: 90 });
    let told = session.workflow_run(&wanted_run(7.try_into().unwrap()));
    let Lookup::Unavailable(Unavailable { wait_until: Some(until), .. }) = told else {
        panic!("{told:?}")
    };
    // The clock was read once more, for the time of the failure.
    let answered_at = clock.now().minus(STEP * 2);
    assert_eq!(until, answered_at.plus(Duration::from_secs(90)));
}
