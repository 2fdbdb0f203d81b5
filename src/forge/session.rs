//! The verbs on one repository.

use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;

use super::answer::{Answer, Repeat, class_of};
use super::failure::Unanswered;
use super::repository::{RepositorySession, percent_encode};
use super::{CheckRunLookup, CheckRunUpdate, Dispatch, NewCheckRun, Session, lookups};
use crate::domain::dead_letter::ErrorClass;
use crate::domain::id::{AppId, AttemptId, CheckRunId, WorkflowRunId};
use crate::domain::outbox::{CheckRunStatus, SendResult};
use crate::domain::reconcile::{self, task, uncertain, workflow};
use crate::domain::release::UNCONFIRMED_DISPATCH;

/// The field of a dispatch that asks for the number of the run. A server that does not know it
/// refuses the whole dispatch.
const RUN_DETAILS: &str = "return_run_details";
/// Check runs on one page, the most the forge gives.
const PAGE: usize = 100;

impl RepositorySession<'_> {
    /// Makes a write, and judges its answer: `hoped` returns the success it stands for, if any.
    fn write(
        &self,
        name: &str,
        repeat: Repeat,
        call: Result<Answer, Unanswered>,
        hoped: impl FnOnce(&Answer) -> Option<SendResult>,
    ) -> SendResult {
        let (answered, result) = match call {
            Err(Unanswered { result, cause }) => (Err(cause), result),
            Ok(answer) => {
                let failure = || answer.failure(repeat, self.client.clock.now());
                (Ok(answer.status), hoped(&answer).unwrap_or_else(failure))
            }
        };
        self.client.call_failed(self.gate, name, answered, class_of(result));
        result
    }

    fn send_dispatch(
        &self,
        dispatch: &Dispatch<'_>,
        with_details: bool,
    ) -> Result<Answer, Unanswered> {
        let mut body = json!({
            // A bare name is that of a branch, too.
            "ref": format!("refs/tags/{}", dispatch.tag),
            "inputs": {
                "release_run_id": dispatch.release_run.to_string(),
                "attempt_id": dispatch.attempt.to_string(),
                "nonce": dispatch.nonce,
            },
        });
        if with_details && let Some(body) = body.as_object_mut() {
            body.insert(RUN_DETAILS.to_owned(), true.into());
        }
        let workflow = percent_encode(dispatch.workflow);
        let rest = format!("/actions/workflows/{workflow}/dispatches");
        self.call(Method::POST, &rest, Some(body.to_string()))
    }

    /// Reads the number of a run that was started in this repository.
    fn started(&self, answer: &Answer) -> Option<WorkflowRunId> {
        let run: StartedRun = answer.object()?;
        let id = WorkflowRunId::try_from(run.workflow_run_id).ok()?;
        // The forge treats names without regard to case and may answer in another one.
        let url = run.run_url.or(run.url)?.to_ascii_lowercase();
        // The answer does not name its repository anywhere else.
        let (repository, number) = url.rsplit_once("/actions/runs/")?;
        let name = self.repository.full_name.as_str().to_ascii_lowercase();
        // A moved repository has another name, and was addressed by its number.
        let is_ours = answer.moved
            || repository.ends_with(&format!("/repos/{name}"))
            || repository.ends_with(&format!("/repositories/{}", self.repository.id));
        (is_ours && number == id.to_string()).then_some(id)
    }

    fn found(
        &self,
        wanted: &NewCheckRun<'_>,
        answer: &Answer,
    ) -> Result<Option<CheckRunId>, reconcile::Unavailable> {
        let unclear = reconcile::Unavailable { class: ErrorClass::Protocol, wait_until: None };
        let body = answer.object::<CheckRunPage>();
        let Some(page) = body.filter(|_| answer.status == StatusCode::OK) else {
            return Err(answer.unavailable(self.client.clock.now()));
        };
        let ours = |run: &&CheckRun| {
            // Any app can create a check run with the same external id; only ours counts.
            run.is(wanted) && run.app.as_ref().is_some_and(|app| app.id == self.client.app.get())
        };
        let lowest = page.check_runs.iter().filter(ours).map(|run| run.id).min();
        match lowest.map(CheckRunId::try_from) {
            Some(id) => id.map(Some).map_err(|_| unclear),
            // It may stand on a page that was not read.
            None if page.total_count > page.check_runs.len() => Err(unclear),
            None => Ok(None),
        }
    }
}

impl Session for RepositorySession<'_> {
    fn workflow_run(&mut self, wanted: &task::WorkflowRun) -> workflow::Lookup {
        lookups::workflow_run(self, wanted)
    }

    fn find_workflow_run(&mut self, wanted: &task::Dispatch) -> uncertain::Observation {
        lookups::find_workflow_run(self, wanted)
    }

    fn check_run(&mut self, wanted: &task::CheckRun) -> CheckRunLookup {
        lookups::check_run(self, wanted)
    }

    fn dispatch_workflow(&mut self, dispatch: &Dispatch<'_>) -> SendResult {
        let with_details = self.client.asks_for_run_details();
        let call = self.send_dispatch(dispatch, with_details);
        if with_details && call.as_ref().is_ok_and(refuses_run_details) {
            self.client.ask_for_no_run_details();
            // It had no effect; the next try is without the field.
            return SendResult::Postponed;
        }
        self.write("dispatch_workflow", Repeat::Harms, call, |answer| {
            match answer.status.as_u16() {
                204 => Some(SendResult::Dispatched(None)),
                // If the run cannot be verified the dispatch is uncertain: some run was started.
                200 => self.started(answer).map(|run| SendResult::Dispatched(Some(run))),
                _ => None,
            }
        })
    }

    fn find_check_run(
        &mut self,
        wanted: &NewCheckRun<'_>,
    ) -> Result<Option<CheckRunId>, reconcile::Unavailable> {
        let rest = format!(
            "/commits/{}/check-runs?check_name={}&filter=all&app_id={}&per_page={PAGE}",
            percent_encode(wanted.head_sha),
            percent_encode(wanted.name),
            self.client.app,
        );
        let (answered, found) = match self.call(Method::GET, &rest, None) {
            Ok(answer) => (Ok(answer.status), self.found(wanted, &answer)),
            // One that the gate stopped was not made, so it is no failed call.
            Err(Unanswered { result, .. }) if class_of(result).is_none() => {
                return Err(super::unavailable(result));
            }
            Err(Unanswered { result, cause }) => (Err(cause), Err(super::unavailable(result))),
        };
        if let Err(why) = found {
            self.client.call_failed(self.gate, "find_check_run", answered, Some(why.class));
        }
        found
    }

    fn create_check_run(&mut self, check_run: &NewCheckRun<'_>) -> SendResult {
        let body = json!({
            "name": check_run.name,
            "head_sha": check_run.head_sha,
            "external_id": check_run.attempt.to_string(),
            "status": "queued",
        });
        let call = self.call(Method::POST, "/check-runs", Some(body.to_string()));
        self.write("create_check_run", Repeat::Harms, call, |answer| {
            let run: CheckRun =
                // A 201 about something else is uncertain, not a failure: a check run may exist.
                (answer.status == StatusCode::CREATED).then(|| answer.object())??;
            let id = CheckRunId::try_from(run.id).ok()?;
            run.is(check_run).then_some(SendResult::CheckRunExists(id))
        })
    }

    fn update_check_run(&mut self, update: &CheckRunUpdate<'_>) -> SendResult {
        let body = update_body(update.status).to_string();
        let path = format!("/check-runs/{}", update.check_run);
        let call = self.call(Method::PATCH, &path, Some(body));
        self.write("update_check_run", Repeat::Harmless, call, |answer| {
            let run: CheckRun = (answer.status == StatusCode::OK).then(|| answer.object())??;
            let confirms = run.confirms(update, self.client.app);
            // Any difference (docs/decisions/20-check-run-ownership.md).
            Some(if confirms { SendResult::CheckRunUpdated } else { SendResult::CheckRunMismatch })
        })
    }
}

/// A dispatch that was accepted, with details.
#[derive(Deserialize)]
struct StartedRun {
    workflow_run_id: i64,
    run_url: Option<String>,
    url: Option<String>,
}

#[derive(Deserialize)]
struct CheckRunPage {
    total_count: usize,
    check_runs: Vec<CheckRun>,
}

#[derive(Deserialize)]
struct CheckRun {
    id: i64,
    name: Option<String>,
    head_sha: Option<String>,
    external_id: Option<String>,
    status: Option<String>,
    conclusion: Option<String>,
    app: Option<App>,
}

#[derive(Deserialize)]
struct App {
    id: i64,
}

impl CheckRun {
    fn is(&self, wanted: &NewCheckRun<'_>) -> bool {
        self.is_of(wanted.attempt, wanted.head_sha)
    }

    fn is_of(&self, attempt: AttemptId, head_sha: &str) -> bool {
        self.external_id.as_deref() == Some(&attempt.to_string())
            && self.head_sha.as_deref() == Some(head_sha)
    }

    /// Says whether it is the one that was updated, in the state it was set to.
    fn confirms(&self, update: &CheckRunUpdate<'_>, app: AppId) -> bool {
        let conclusion = match update.status {
            // A check run that shows a conclusion is not in progress, whatever its status says.
            CheckRunStatus::InProgress => None,
            CheckRunStatus::Completed { conclusion, .. } => Some(conclusion.as_str()),
        };
        self.id == update.check_run.get()
            && self.is_of(update.attempt, update.head_sha)
            && update.name.is_none_or(|name| self.name.as_deref() == Some(name))
            && self.status.as_deref() == Some(update.status.as_str())
            && self.conclusion.as_deref() == conclusion
            && self.app.as_ref().is_none_or(|shown| shown.id == app.get())
    }
}

fn update_body(status: CheckRunStatus) -> serde_json::Value {
    match status {
        CheckRunStatus::InProgress => json!({"status": status.as_str()}),
        CheckRunStatus::Completed { conclusion, completed_at, unconfirmed } => {
            let (title, summary) =
                if unconfirmed { UNCONFIRMED_DISPATCH } else { conclusion.text() };
            json!({
                "status": status.as_str(),
                "conclusion": conclusion.as_str(),
                "completed_at": completed_at.to_string(),
                "output": {"title": title, "summary": summary},
            })
        }
    }
}

/// Says whether a dispatch was refused, without effect, because of the field that asks for details.
fn refuses_run_details(answer: &Answer) -> bool {
    matches!(answer.status.as_u16(), 400 | 422) && answer.mentions(RUN_DETAILS)
}

#[cfg(test)]
mod tests;
