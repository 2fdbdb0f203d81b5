//! Workflow runs of the simulated forge: they are dispatched, stand as they are told to, are run again,
//! and are read.

use serde_json::{Value, json};

use super::message::{Reply, Request};
use super::state::{State, tag_of, text};
use super::{Call, WorkflowRun, shape};
use crate::domain::id::RepositoryId;
use crate::domain::time::Timestamp;

/// Number of every workflow.
const WORKFLOW: i64 = 1;
/// Title of a run, as the workflow's `run-name` makes it of its input.
const TITLE: &str = "release ";

/// How one try of a workflow run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// It waits.
    Queued,
    InProgress,
    /// It has ended, as this word says.
    Completed(&'static str),
    /// The run is not known any more.
    Vanished,
}

impl RunState {
    const fn words(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Queued => ("queued", None),
            Self::InProgress => ("in_progress", None),
            Self::Completed(conclusion) => ("completed", Some(conclusion)),
            Self::Vanished => ("vanished", None),
        }
    }
}

/// How the whole name of a branch begins.
pub(super) const BRANCHES: &str = "refs/heads/";

impl State {
    pub(super) fn run_mut(&mut self, id: i64) -> Option<&mut WorkflowRun> {
        self.workflow_runs.iter_mut().find(|run| run.id == id)
    }

    pub(super) fn dispatch(
        &mut self,
        request: &Request,
        repository: RepositoryId,
        rest: &str,
        body: &Value,
    ) -> Result<Reply, Reply> {
        // From this version on, the details are always returned, and asking for them is an error.
        let new = request.header("x-github-api-version") == "2026-03-10";
        let asks = body["return_run_details"] == true;
        if text(body, "ref").is_empty() || (new && asks) {
            return Err(Reply::error(422));
        }
        let id = self.next_number();
        let git_ref = self.resolve(repository, text(body, "ref"));
        let attempt = text(&body["inputs"], "attempt_id").to_owned();
        self.record(Call::Dispatch, request, format!("workflow_dispatch:{attempt}"));
        self.workflow_runs.push(WorkflowRun {
            id,
            repository,
            workflow: rest.split('/').nth(3).map(decoded).unwrap_or_default(),
            head_sha: self.commit_of(repository, &git_ref, &attempt),
            git_ref,
            release_run: text(&body["inputs"], "release_run_id").to_owned(),
            attempt,
            nonce: text(&body["inputs"], "nonce").to_owned(),
            created_at: self.now(),
            tries: vec![RunState::Queued],
        });
        if !new && !asks {
            return Ok(Reply::json(204, &Value::Null));
        }
        let url = format!("{}/repos/{}/actions/runs/{id}", self.base_url, self.name_of(repository));
        Ok(Reply::json(200, &json!({"workflow_run_id": id, "run_url": url, "html_url": url})))
    }

    /// Returns what a dispatch runs on: the name of a tag, or the whole name of a branch. A bare name is
    /// that of a branch, if there is one.
    fn resolve(&self, repository: RepositoryId, text: &str) -> String {
        let branch = format!("{BRANCHES}{text}");
        if self.refs.contains_key(&(repository, branch.clone())) {
            return branch;
        }
        tag_of(text).to_owned()
    }

    /// Returns the commit a tag or branch names: what was told, else that of the attempt's check run.
    fn commit_of(&self, repository: RepositoryId, git_ref: &str, attempt: &str) -> String {
        let told = self.refs.get(&(repository, git_ref.to_owned())).cloned();
        let of_attempt = self.check_runs.iter().find(|run| run.external_id == attempt);
        told.or_else(|| of_attempt.map(|run| run.head_sha.clone()))
            .unwrap_or_else(|| "0".repeat(40))
    }

    /// Answers about one run: at its newest try, or at the one that is named.
    pub(super) fn read_run(&self, repository: RepositoryId, rest: &str) -> Result<Reply, Reply> {
        let number = |place| rest.split('/').nth(place)?.parse::<i64>().ok();
        let is_it = |run: &&WorkflowRun| Some(run.id) == number(3) && run.repository == repository;
        let run = self.workflow_runs.iter().find(is_it).ok_or(Reply::error(404))?;
        let named = number(5).map_or(run.tries.len(), |n| usize::try_from(n).unwrap_or(0));
        let state = named.checked_sub(1).and_then(|place| run.tries.get(place));
        match state {
            Some(state) if !run.is_gone() => Ok(Reply::json(200, &self.run(run, named, *state))),
            _ => Err(Reply::error(404)),
        }
    }

    pub(super) fn find_runs(
        &self,
        request: &Request,
        repository: RepositoryId,
        rest: &str,
    ) -> Reply {
        let workflow = rest.split('/').nth(3).map(decoded).unwrap_or_default();
        let asked = |name: &str| request.asks(name);
        let since = asked("created").and_then(|range| {
            Timestamp::parse_rounding_up(range.strip_prefix(">=").unwrap_or(&range))
        });
        let matches = |run: &&WorkflowRun| {
            run.repository == repository
                && run.workflow == workflow
                && !run.is_gone()
                && asked("event").is_none_or(|event| event == "workflow_dispatch")
                && asked("head_sha").is_none_or(|sha| sha == run.head_sha)
                && since.is_none_or(|since| run.created_at >= since)
        };
        // Newest first, as the forge lists them.
        let found: Vec<&WorkflowRun> = self.workflow_runs.iter().rev().filter(matches).collect();
        // The forge's default.
        let page = asked("per_page").and_then(|count| count.parse().ok()).unwrap_or(30);
        let newest = |run: &WorkflowRun| {
            let state = run.tries.last().copied().unwrap_or(RunState::Queued);
            self.run(run, run.tries.len(), state)
        };
        let runs: Vec<Value> = found.iter().take(page).map(|run| newest(run)).collect();
        Reply::json(200, &json!({"total_count": found.len(), "workflow_runs": runs}))
    }

    /// Returns a run at one of its tries, as whole as the API describes it.
    fn run(&self, run: &WorkflowRun, number: usize, state: RunState) -> Value {
        let (status, conclusion) = state.words();
        let name = self.name_of(run.repository);
        let repository = shape::repository(&self.base_url, run.repository, name);
        let url = format!("{}/repos/{name}/actions/runs/{}", self.base_url, run.id);
        let at = shape::instant(run.created_at);
        let mut answer = json!({
            "id": run.id,
            "name": "Release",
            "node_id": "simulated",
            "head_branch": run.git_ref,
            "head_sha": run.head_sha,
            "path": format!(".github/workflows/{}", run.workflow),
            "display_title": format!("{TITLE}{}", run.attempt),
            "run_number": run.id,
            "run_attempt": number,
            "event": "workflow_dispatch",
            "status": status,
            "conclusion": conclusion,
            "workflow_id": WORKFLOW,
            "check_suite_id": run.id,
            "url": url,
            "html_url": url,
            "workflow_url": format!("{}/repos/{name}/actions/workflows/{WORKFLOW}", self.base_url),
            "pull_requests": [],
            "head_commit": null,
            "created_at": at,
            "run_started_at": at,
            "updated_at": shape::instant(self.now()),
            "repository": repository,
            "head_repository": repository,
        });
        if let Some(answer) = answer.as_object_mut() {
            for link in ["jobs", "logs", "check_suite", "artifacts", "cancel", "rerun"] {
                answer.insert(format!("{link}_url"), format!("{url}/{link}").into());
            }
        }
        answer
    }
}

impl WorkflowRun {
    fn is_gone(&self) -> bool {
        self.tries.last() == Some(&RunState::Vanished)
    }
}

/// Returns what a segment of a path stands for.
fn decoded(segment: &str) -> String {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(value) if *byte == b'%' => {
                bytes.push(value);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
