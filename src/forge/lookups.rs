//! Lookups at the forge. Only an answer about exactly the object that was asked for counts; any other answer is
//! "the forge did not tell", never a conclusion.

use std::time::Duration;

use http::{Method, StatusCode};
use serde::Deserialize;

use super::CheckRunLookup;
use super::answer::class_of;
use super::failure::Unanswered;
use super::repository::{RepositorySession, percent_encode};
use crate::crypto::sha256;
use crate::domain::dead_letter::ErrorClass;
use crate::domain::digest::Digest;
use crate::domain::id::{RepositoryId, WorkflowRunId};
use crate::domain::reconcile::workflow::{Lookup, RunConclusion};
use crate::domain::reconcile::{self, task, uncertain};
use crate::domain::time::Timestamp;

/// How a run begins that was dispatched: its title is this and the attempt's id.
pub const RUN_TITLE: &str = "release ";
/// Runs on one page, the most the forge gives.
const PAGE: usize = 100;
/// How much earlier than our clock says a run may have been created.
const CLOCK_SKEW: Duration = Duration::from_secs(120);

/// Looks at a run; at the try the attempt is bound to, when there was another since.
pub(super) fn workflow_run(session: &RepositorySession<'_>, wanted: &task::WorkflowRun) -> Lookup {
    let path = format!("/actions/runs/{}", wanted.run);
    // Pull requests can make the answer larger than what is read.
    let query = "?exclude_pull_requests=true";
    let name = "workflow_run";
    match read::<Run>(session, name, &format!("{path}{query}")) {
        Ok(Read::Found(run)) if run.is_later_than(wanted) => {
            let bound = format!("{path}/attempts/{}{query}", wanted.run_attempt);
            match read::<Run>(session, name, &bound) {
                Ok(Read::Found(run)) => classify(session, &run, wanted),
                // The run is there, so the one it was must be, too.
                Ok(Read::NotFound) => unavailable(session, ErrorClass::NotFound),
                Err(why) => Lookup::Unavailable(why),
            }
        }
        Ok(Read::Found(run)) => classify(session, &run, wanted),
        Ok(Read::NotFound) => Lookup::NotFound,
        Err(why) => Lookup::Unavailable(why),
    }
}

fn classify(session: &RepositorySession<'_>, run: &Run, wanted: &task::WorkflowRun) -> Lookup {
    // An earlier try than the bound one cannot be, so the answer is about something else.
    if !run.is(wanted) || run.run_attempt != i64::from(wanted.run_attempt) {
        return unavailable(session, ErrorClass::Identity);
    }
    match (run.status.as_deref(), run.conclusion.as_deref()) {
        (None, _) | (Some("completed"), None) => unavailable(session, ErrorClass::Protocol),
        (Some("completed"), Some(word)) => {
            Lookup::Completed(RunConclusion::from_word(word).unwrap_or(RunConclusion::Unknown))
        }
        // A word that is not known is not an end.
        (Some(_), _) => Lookup::Pending,
    }
}

fn unavailable(session: &RepositorySession<'_>, class: ErrorClass) -> Lookup {
    contradicted(session, "workflow_run", class);
    Lookup::Unavailable(reconcile::Unavailable { class, wait_until: None })
}

/// Looks for the run a dispatch started, by its title.
pub(super) fn find_workflow_run(
    session: &RepositorySession<'_>,
    wanted: &task::Dispatch,
) -> uncertain::Observation {
    let path = format!(
        "/actions/workflows/{}/runs?event=workflow_dispatch&head_sha={}&created={}&per_page={PAGE}",
        percent_encode(&wanted.workflow),
        percent_encode(wanted.head_sha.as_str()),
        // The lower bound keeps old runs of the same commit off the one page that is read.
        percent_encode(&format!(">={}", whole_seconds(wanted.began_at.minus(CLOCK_SKEW)))),
    );
    let page = match read::<RunPage>(session, "find_workflow_run", &path) {
        Ok(Read::Found(page)) => page,
        // If the workflow is not found, its list of runs proves nothing.
        Ok(Read::NotFound) => {
            let class = ErrorClass::NotFound;
            return uncertain::Observation::Unavailable(reconcile::Unavailable {
                class,
                wait_until: None,
            });
        }
        Err(why) => return uncertain::Observation::Unavailable(why),
    };
    let title = format!("{RUN_TITLE}{}", wanted.attempt);
    // Titles are compared first: a run of another attempt is expected here, and is no contradiction.
    let is_titled = |run: &&TitledRun| run.display_title.as_deref() == Some(&title);
    let named: Vec<_> = page.workflow_runs.iter().filter(is_titled).collect();
    let is_it = |run: &&TitledRun| run.is(wanted, session.repository.id);
    let id = match named.as_slice() {
        // A forge that lists runs that were not asked for may leave out others.
        named if !named.iter().all(is_it) => Err(ErrorClass::Identity),
        // A page that was not read may name it once more.
        [run] if page.total_count <= page.workflow_runs.len() => {
            WorkflowRunId::try_from(run.id).map_err(|_| ErrorClass::Protocol)
        }
        _ => return uncertain::Observation::NoProof,
    };
    id.map_or_else(
        |class| {
            contradicted(session, "find_workflow_run", class);
            uncertain::Observation::Unavailable(reconcile::Unavailable { class, wait_until: None })
        },
        uncertain::Observation::WorkflowRun,
    )
}

/// Returns an instant in the form the forge's filters are documented with, rounded down.
fn whole_seconds(at: Timestamp) -> String {
    let text = at.to_string();
    text.split_once('.').map_or_else(|| text.clone(), |(seconds, _)| format!("{seconds}Z"))
}

/// Looks at exactly the persisted check run.
pub(super) fn check_run(
    session: &RepositorySession<'_>,
    wanted: &task::CheckRun,
) -> CheckRunLookup {
    let path = format!("/check-runs/{}", wanted.check_run);
    match read::<CheckRun>(session, "check_run", &path) {
        Ok(Read::Found(run)) if !run.is(wanted, session.client.app.get()) => {
            contradicted(session, "check_run", ErrorClass::Identity);
            CheckRunLookup::BindingMismatch
        }
        Ok(Read::Found(run)) => {
            let expected = run.status == "completed"
                && run.conclusion.as_deref() == Some(wanted.conclusion.as_str());
            if expected { CheckRunLookup::Expected } else { CheckRunLookup::Different(run.state()) }
        }
        Ok(Read::NotFound) => CheckRunLookup::NotFound,
        Err(why) => CheckRunLookup::Unavailable(why),
    }
}

/// An answer that tells something.
enum Read<T> {
    Found(T),
    NotFound,
}

/// Reads an object.
fn read<T: serde::de::DeserializeOwned>(
    session: &RepositorySession<'_>,
    name: &str,
    path: &str,
) -> Result<Read<T>, reconcile::Unavailable> {
    let (answered, failure) = match session.call(Method::GET, path, None) {
        // One that the gate stopped was not made, so it is no failed call.
        Err(Unanswered { result, .. }) if class_of(result).is_none() => {
            return Err(super::unavailable(result));
        }
        Err(Unanswered { result, cause }) => (Err(cause), super::unavailable(result)),
        Ok(answer) => match (answer.status, answer.object()) {
            (StatusCode::OK, Some(object)) => return Ok(Read::Found(object)),
            // Whatever the body: the status alone answers.
            (StatusCode::NOT_FOUND, _) => return Ok(Read::NotFound),
            (status, _) => (Ok(status), answer.unavailable(session.client.clock.now())),
        },
    };
    session.client.call_failed(session.gate, name, answered, Some(failure.class));
    Err(failure)
}

/// Notes an answer that is about something else, or contradicts itself.
fn contradicted(session: &RepositorySession<'_>, name: &str, class: ErrorClass) {
    session.client.call_failed(session.gate, name, Ok(StatusCode::OK), Some(class));
}

#[derive(Deserialize)]
struct RunPage {
    total_count: usize,
    workflow_runs: Vec<TitledRun>,
}

#[derive(Deserialize)]
struct TitledRun {
    id: i64,
    event: Option<String>,
    path: Option<String>,
    head_sha: Option<String>,
    display_title: Option<String>,
    repository: Option<Repository>,
}

impl TitledRun {
    fn is(&self, wanted: &task::Dispatch, repository: RepositoryId) -> bool {
        self.event.as_deref() == Some("workflow_dispatch")
            && self.head_sha.as_deref() == Some(wanted.head_sha.as_str())
            && self.repository.as_ref().map(|it| it.id) == Some(repository.get())
            && is_of(self.path.as_deref(), &wanted.workflow)
    }
}

#[derive(Deserialize)]
struct Run {
    id: i64,
    run_attempt: i64,
    event: Option<String>,
    path: Option<String>,
    head_sha: Option<String>,
    status: Option<String>,
    conclusion: Option<String>,
    repository: Option<Repository>,
}

#[derive(Deserialize)]
struct Repository {
    id: i64,
}

impl Run {
    /// Says whether it is the run, at whatever try.
    fn is(&self, wanted: &task::WorkflowRun) -> bool {
        self.id == wanted.run.get()
            && self.event.as_deref() == Some("workflow_dispatch")
            && self.head_sha.as_deref() == Some(wanted.head_sha.as_str())
            && self.repository.as_ref().map(|it| it.id) == Some(wanted.repository.get())
            // Attempts of an older version did not store their workflow.
            && wanted.workflow.as_ref().is_none_or(|file| is_of(self.path.as_deref(), file))
    }

    /// Says whether it is the run, at a later try than the one the attempt is bound to.
    fn is_later_than(&self, wanted: &task::WorkflowRun) -> bool {
        self.is(wanted) && self.run_attempt > i64::from(wanted.run_attempt)
    }
}

/// Says whether a path is that of a workflow. It may carry the ref behind an `@`.
fn is_of(path: Option<&str>, workflow: &str) -> bool {
    let path = path.unwrap_or_default();
    let file = path.split_once('@').map_or(path, |(file, _)| file);
    file.strip_prefix(".github/workflows/") == Some(workflow)
}

#[derive(Deserialize)]
struct CheckRun {
    id: i64,
    name: Option<String>,
    head_sha: Option<String>,
    external_id: Option<String>,
    /// Without one it is no check run.
    status: String,
    conclusion: Option<String>,
    completed_at: Option<String>,
    app: Option<App>,
}

#[derive(Deserialize)]
struct App {
    id: i64,
}

impl CheckRun {
    /// Returns the digest of what an update sets.
    fn state(&self) -> Digest {
        // `Debug` quotes each part, so no two states have the same text.
        sha256::of(format!("{:?}", (&self.status, &self.conclusion, &self.completed_at)).as_bytes())
    }

    fn is(&self, wanted: &task::CheckRun, app: i64) -> bool {
        self.id == wanted.check_run.get()
            && self.external_id.as_deref() == Some(&wanted.attempt.to_string())
            && self.head_sha.as_deref() == Some(wanted.head_sha.as_str())
            && self.app.as_ref().map(|it| it.id) == Some(app)
            && wanted.name.as_ref().is_none_or(|name| self.name.as_ref() == Some(name))
    }
}
