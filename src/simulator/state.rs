//! What the simulated forge knows, and what each call does to it.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use super::credentials::{self, Grant};
use super::server::{Reply, Request};
use super::{APP, Call, CheckRun, Effect, Fault, WorkflowRun};
use crate::clock::{Clock as _, SystemClock};
use crate::domain::id::RepositoryId;

pub(super) struct State {
    base_url: String,
    clock: SystemClock,
    /// Every name a repository ever had; the last one added is its name.
    names: Vec<(String, RepositoryId)>,
    tokens: BTreeMap<String, Grant>,
    faults: BTreeMap<Call, VecDeque<Fault>>,
    calls: Vec<Call>,
    last_number: i64,
    pub(super) ledger: Vec<Effect>,
    pub(super) workflow_runs: Vec<WorkflowRun>,
    pub(super) check_runs: Vec<CheckRun>,
}

impl State {
    pub(super) fn new(base_url: String) -> Self {
        Self {
            base_url,
            clock: SystemClock::new(),
            names: Vec::new(),
            tokens: BTreeMap::new(),
            faults: BTreeMap::new(),
            calls: Vec::new(),
            last_number: 1_000,
            ledger: Vec::new(),
            workflow_runs: Vec::new(),
            check_runs: Vec::new(),
        }
    }

    pub(super) fn add_repository(&mut self, id: RepositoryId, name: &str) {
        self.names.push((name.to_owned(), id));
    }

    pub(super) fn plan(&mut self, call: Call, fault: Fault) {
        self.faults.entry(call).or_default().push_back(fault);
    }

    pub(super) fn requests(&self, call: Call) -> usize {
        self.calls.iter().filter(|made| **made == call).count()
    }

    /// Counts a request, and returns the fault planned for it.
    pub(super) fn begin(&mut self, request: &Request) -> Option<Fault> {
        let call = call_of(request)?;
        self.calls.push(call);
        self.faults.get_mut(&call)?.pop_front()
    }

    /// Answers a request, with its effect.
    pub(super) fn apply(&mut self, request: &Request) -> Reply {
        self.try_apply(request).unwrap_or_else(|refusal| refusal)
    }

    fn try_apply(&mut self, request: &Request) -> Result<Reply, Reply> {
        let Some(call) = call_of(request) else { return Err(Reply::error(404)) };
        if !request.header("user-agent").starts_with("svcd/") {
            return Err(Reply::error(403));
        }
        let bearer = request.header("authorization").strip_prefix("Bearer ");
        let bearer = bearer.ok_or(Reply::error(401))?;
        let body = if request.method == "GET" {
            Value::Null
        } else {
            serde_json::from_slice(&request.body).or(Err(Reply::error(400)))?
        };
        if call == Call::Mint {
            return self.mint(bearer, &body);
        }
        let grant = self.tokens.get(bearer).cloned().ok_or(Reply::error(401))?;
        let (repository, rest) = self.locate(request)?;
        if !grant.repositories.contains(&repository.get()) {
            return Err(Reply::error(404));
        }
        let permission = if call == Call::Dispatch { "actions" } else { "checks" };
        if !grant.allows(permission) {
            return Err(Reply::error(403));
        }
        match call {
            Call::Dispatch => self.dispatch(request, repository, &rest, &body),
            Call::CheckRunCreate => self.create_check_run(request, repository, &body),
            Call::CheckRunUpdate => self.update_check_run(request, repository, &rest, &body),
            Call::CheckRunFind => Ok(self.find_check_runs(request, repository, &rest)),
            Call::Mint => Err(Reply::error(500)),
        }
    }

    fn mint(&mut self, bearer: &str, body: &Value) -> Result<Reply, Reply> {
        if !credentials::is_app(bearer, self.clock.now()) {
            return Err(Reply::error(401));
        }
        let (grant, number) = (Grant::read(body), self.next_number());
        let known = |id: &i64| self.names.iter().any(|(_, known)| known.get() == *id);
        if grant.repositories.is_empty() || !grant.repositories.iter().all(known) {
            return Err(Reply::error(422));
        }
        // As long, and with the same odd characters, as the real ones.
        let token = format!("ghs_{number}_{}", "simulated.to-ken_".repeat(30));
        let reply = json!({
            "token": token,
            "expires_at": "2099-01-01T00:00:00Z",
            "permissions": grant.permissions,
            "repository_selection": "selected",
        });
        self.tokens.insert(token, grant);
        Ok(Reply::json(201, &reply))
    }

    /// Returns the repository a path names, and the rest of the path.
    fn locate(&self, request: &Request) -> Result<(RepositoryId, String), Reply> {
        let mut parts = request.path.splitn(4, '/').skip(1);
        if parts.next() == Some("repositories") {
            let id = parts.next().and_then(|id| id.parse().ok()).ok_or(Reply::error(404))?;
            return Ok((id, format!("/{}", parts.next().unwrap_or_default())));
        }
        let (owner, rest) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let (name, rest) = rest.split_once('/').unwrap_or((rest, ""));
        let full_name = format!("{owner}/{name}");
        let (_, id) = self
            .names
            .iter()
            .rfind(|(known, _)| known.eq_ignore_ascii_case(&full_name))
            .ok_or(Reply::error(404))?;
        if self.name_of(*id).eq_ignore_ascii_case(&full_name) {
            return Ok((*id, format!("/{rest}")));
        }
        let query = if request.query.is_empty() { "" } else { "?" };
        let location =
            format!("{}/repositories/{id}/{rest}{query}{}", self.base_url, request.query);
        let status = if request.method == "GET" { 301 } else { 307 };
        Err(Reply { location: Some(location), ..Reply::error(status) })
    }

    fn name_of(&self, id: RepositoryId) -> &str {
        self.names.iter().rfind(|(_, known)| *known == id).map_or("", |(name, _)| name)
    }

    fn dispatch(
        &mut self,
        request: &Request,
        repository: RepositoryId,
        rest: &str,
        body: &Value,
    ) -> Result<Reply, Reply> {
        let new = request.header("x-github-api-version") == "2026-03-10";
        let asks = body["return_run_details"] == true;
        if text(body, "ref").is_empty() || (new && asks) {
            return Err(Reply::error(422));
        }
        let id = self.next_number();
        let attempt = text(&body["inputs"], "attempt_id").to_owned();
        self.record(Call::Dispatch, request, format!("workflow_dispatch:{attempt}"));
        self.workflow_runs.push(WorkflowRun {
            id,
            repository,
            workflow: rest.split('/').nth(3).unwrap_or_default().to_owned(),
            git_ref: text(body, "ref").to_owned(),
            release_run: text(&body["inputs"], "release_run_id").to_owned(),
            attempt,
            nonce: text(&body["inputs"], "nonce").to_owned(),
        });
        if !new && !asks {
            return Ok(Reply::json(204, &Value::Null));
        }
        let url = format!("{}/repos/{}/actions/runs/{id}", self.base_url, self.name_of(repository));
        Ok(Reply::json(200, &json!({"workflow_run_id": id, "run_url": url, "html_url": url})))
    }

    fn create_check_run(
        &mut self,
        request: &Request,
        repository: RepositoryId,
        body: &Value,
    ) -> Result<Reply, Reply> {
        if text(body, "name").is_empty() || text(body, "head_sha").is_empty() {
            return Err(Reply::error(422));
        }
        let check_run = CheckRun {
            id: self.next_number(),
            repository,
            name: text(body, "name").to_owned(),
            head_sha: text(body, "head_sha").to_owned(),
            external_id: text(body, "external_id").to_owned(),
            status: text(body, "status").to_owned(),
            conclusion: String::new(),
        };
        let key = format!("check_run_create:{}", check_run.external_id);
        self.record(Call::CheckRunCreate, request, key);
        let reply = Reply::json(201, &check_run.to_json());
        self.check_runs.push(check_run);
        Ok(reply)
    }

    fn update_check_run(
        &mut self,
        request: &Request,
        repository: RepositoryId,
        rest: &str,
        body: &Value,
    ) -> Result<Reply, Reply> {
        let id = rest.rsplit('/').next().and_then(|id| id.parse::<i64>().ok());
        let is_it = |run: &&mut CheckRun| Some(run.id) == id && run.repository == repository;
        let run = self.check_runs.iter_mut().find(is_it).ok_or(Reply::error(404))?;
        text(body, "status").clone_into(&mut run.status);
        text(body, "conclusion").clone_into(&mut run.conclusion);
        let key = format!("check_run_update.{}:{}", run.status, run.external_id);
        let reply = Reply::json(200, &run.to_json());
        self.record(Call::CheckRunUpdate, request, key);
        Ok(reply)
    }

    fn find_check_runs(&self, request: &Request, repository: RepositoryId, rest: &str) -> Reply {
        let sha = rest.split('/').nth(2).unwrap_or_default();
        let asked = |name: &str| {
            let pairs = request.query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.filter(|(known, _)| *known == name).map(|(_, value)| value).next()
        };
        let matches = |run: &&CheckRun| {
            // Names of tests and demonstrations need no encoding but for the blank.
            run.repository == repository
                && run.head_sha == sha
                && asked("check_name").is_none_or(|name| name.replace("%20", " ") == run.name)
                && asked("app_id").is_none_or(|app| app == APP.to_string())
        };
        let runs: Vec<Value> =
            self.check_runs.iter().filter(matches).map(CheckRun::to_json).collect();
        Reply::json(200, &json!({"total_count": runs.len(), "check_runs": runs}))
    }

    fn record(&mut self, call: Call, request: &Request, key: String) {
        let (method, path) = (request.method.clone(), request.path.clone());
        self.ledger.push(Effect { call, method, path, key });
    }

    const fn next_number(&mut self) -> i64 {
        self.last_number += 1;
        self.last_number
    }
}

impl CheckRun {
    fn to_json(&self) -> Value {
        json!({
            "id": self.id,
            "name": self.name,
            "head_sha": self.head_sha,
            "external_id": self.external_id,
            "status": self.status,
            "conclusion": (!self.conclusion.is_empty()).then_some(&self.conclusion),
            "app": {"id": APP, "slug": "simulated"},
        })
    }
}

fn call_of(request: &Request) -> Option<Call> {
    let path = request.path.as_str();
    match request.method.as_str() {
        "POST" if path.ends_with("/access_tokens") => Some(Call::Mint),
        "POST" if path.ends_with("/dispatches") => Some(Call::Dispatch),
        "POST" if path.ends_with("/check-runs") => Some(Call::CheckRunCreate),
        "PATCH" if path.contains("/check-runs/") => Some(Call::CheckRunUpdate),
        "GET" if path.ends_with("/check-runs") => Some(Call::CheckRunFind),
        _ => None,
    }
}

/// Returns a text field, empty when there is none.
fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}
