//! Check runs of the simulated forge, held to its contract: what has no conclusion is not completed.

use serde_json::{Value, json};

use super::message::{Reply, Request};
use super::state::{State, text};
use super::{APP, Call, CheckRun, shape};
use crate::domain::id::RepositoryId;
use crate::domain::time::Timestamp;

/// What an app may set a check run to.
const STATUSES: [&str; 3] = ["queued", "in_progress", "completed"];
/// How an app may end one. Only the forge calls one stale.
const CONCLUSIONS: [&str; 7] =
    ["action_required", "cancelled", "failure", "neutral", "skipped", "success", "timed_out"];
/// Longest summary, in characters.
const SUMMARY_MAX: usize = 65_535;

impl State {
    pub(super) fn create_check_run(
        &mut self,
        request: &Request,
        repository: RepositoryId,
        body: &Value,
    ) -> Result<Reply, Reply> {
        if text(body, "name").is_empty() || text(body, "head_sha").is_empty() {
            return Err(Reply::error(422));
        }
        let mut check_run = CheckRun {
            id: self.next_number(),
            repository,
            name: text(body, "name").to_owned(),
            head_sha: text(body, "head_sha").to_owned(),
            external_id: text(body, "external_id").to_owned(),
            status: "queued".to_owned(),
            conclusion: None,
            completed_at: None,
            title: None,
            summary: None,
        };
        // Before it is recorded: a refused request has no effect.
        check_run.set(body).ok_or(Reply::error(422))?;
        let key = format!("check_run_create:{}", check_run.external_id);
        self.record(Call::CheckRunCreate, request, key);
        let reply = Reply::json(201, &self.check_run(&check_run));
        self.check_runs.push(check_run);
        Ok(reply)
    }

    pub(super) fn update_check_run(
        &mut self,
        request: &Request,
        repository: RepositoryId,
        rest: &str,
        body: &Value,
    ) -> Result<Reply, Reply> {
        let place = self.place(repository, rest).ok_or(Reply::error(404))?;
        let run = self.check_runs.get_mut(place).ok_or(Reply::error(404))?;
        run.set(body).ok_or(Reply::error(422))?;
        let key = format!("check_run_update.{}:{}", run.status, run.external_id);
        let run = run.clone();
        self.record(Call::CheckRunUpdate, request, key);
        Ok(Reply::json(200, &self.check_run(&run)))
    }

    pub(super) fn read_check_run(
        &self,
        repository: RepositoryId,
        rest: &str,
    ) -> Result<Reply, Reply> {
        let place = self.place(repository, rest).ok_or(Reply::error(404))?;
        let run = self.check_runs.get(place).ok_or(Reply::error(404))?;
        Ok(Reply::json(200, &self.check_run(run)))
    }

    fn place(&self, repository: RepositoryId, rest: &str) -> Option<usize> {
        let id = rest.rsplit('/').next().and_then(|id| id.parse::<i64>().ok());
        self.check_runs.iter().position(|run| Some(run.id) == id && run.repository == repository)
    }

    pub(super) fn find_check_runs(
        &self,
        request: &Request,
        repository: RepositoryId,
        rest: &str,
    ) -> Reply {
        let sha = rest.split('/').nth(2).unwrap_or_default();
        let matches = |run: &&CheckRun| {
            run.repository == repository
                && run.head_sha == sha
                && request.asks("check_name").is_none_or(|name| name == run.name)
                && request.asks("app_id").is_none_or(|app| app == APP.to_string())
        };
        let runs: Vec<Value> =
            self.check_runs.iter().filter(matches).map(|run| self.check_run(run)).collect();
        Reply::json(200, &json!({"total_count": runs.len(), "check_runs": runs}))
    }

    /// Returns a check run, as whole as the API describes it.
    fn check_run(&self, run: &CheckRun) -> Value {
        let name = self.name_of(run.repository);
        let url = format!("{}/repos/{name}/check-runs/{}", self.base_url, run.id);
        json!({
            "id": run.id,
            "node_id": "simulated",
            "name": run.name,
            "head_sha": run.head_sha,
            "external_id": run.external_id,
            "status": run.status,
            "conclusion": run.conclusion,
            "started_at": null,
            "completed_at": run.completed_at,
            "url": url,
            "html_url": url,
            "details_url": null,
            "check_suite": {"id": 1},
            "output": {
                "title": run.title,
                "summary": run.summary,
                "text": null,
                "annotations_count": 0,
                "annotations_url": format!("{url}/annotations"),
            },
            "app": shape::app(&self.base_url, &self.app),
            "pull_requests": [],
        })
    }
}

impl CheckRun {
    /// Sets what a request asks for; `None` when the contract does not allow it.
    fn set(&mut self, body: &Value) -> Option<()> {
        let word = |name: &str| match body.get(name) {
            None => Some(None),
            Some(value) => value.as_str().map(Some),
        };
        let (status, conclusion) = (word("status")?, word("conclusion")?);
        let completed_at = word("completed_at")?;
        let output = Output::read(body)?;
        let is_completed = conclusion.is_some() || status == Some("completed");
        let is_whole = !is_completed && completed_at.is_none()
            || conclusion.is_some_and(|word| CONCLUSIONS.contains(&word));
        let is_instant = |text| Timestamp::parse_rounding_up(text).is_some();
        if !is_whole
            || !status.is_none_or(|word| STATUSES.contains(&word))
            || !completed_at.is_none_or(is_instant)
        {
            return None;
        }
        // At the forge, a conclusion completes a check run whatever its status says.
        if is_completed {
            "completed".clone_into(&mut self.status);
        } else if let Some(word) = status {
            word.clone_into(&mut self.status);
        }
        self.conclusion = conclusion.map(str::to_owned);
        self.completed_at = completed_at.map(str::to_owned);
        if let Some(Output { title, summary }) = output {
            (self.title, self.summary) = (Some(title), Some(summary));
        }
        Some(())
    }
}

struct Output {
    title: String,
    summary: String,
}

impl Output {
    /// Reads what is to be shown, if anything; `None` when it is not whole.
    fn read(body: &Value) -> Option<Option<Self>> {
        let Some(output) = body.get("output") else { return Some(None) };
        let (title, summary) = (text(output, "title"), text(output, "summary"));
        let is_whole = !title.is_empty() && !summary.is_empty();
        let fits = summary.chars().count() <= SUMMARY_MAX;
        (is_whole && fits)
            .then(|| Some(Self { title: title.to_owned(), summary: summary.to_owned() }))
    }
}
