//! What the simulated forge knows, and what each call does to it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::credentials::Grant;
use super::message::{Reply, Request};
use super::{Call, CheckRun, DeliveryAttempt, Fault, RecordedEffect, SimulatedApp, WorkflowRun};
use crate::domain::id::RepositoryId;
use crate::domain::time::Timestamp;
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::notify::Notify;

pub(super) struct State {
    pub(super) base_url: String,
    clock: SystemClock,
    /// Every name a repository ever had; the last one added is its name.
    names: Vec<(String, RepositoryId)>,
    /// The commits that tags, by their names, and branches, by their whole names, stand for.
    pub(super) refs: BTreeMap<(RepositoryId, String), String>,
    pub(super) tokens: BTreeMap<String, Grant>,
    pub(super) app: SimulatedApp,
    faults: Vec<PlannedFault>,
    /// Calls that are held, each until the stop.
    pub(super) holds: Vec<(Call, Notify)>,
    calls: Vec<Call>,
    last_number: i64,
    pub(super) ledger: Vec<RecordedEffect>,
    pub(super) workflow_runs: Vec<WorkflowRun>,
    pub(super) check_runs: Vec<CheckRun>,
    pub(super) deliveries: Vec<DeliveryAttempt>,
}

/// A fault that one call is going to meet.
struct PlannedFault {
    call: Call,
    /// The tag that a dispatch has to name to meet it; `None` for whatever comes first.
    tag: Option<String>,
    fault: Fault,
}

impl PlannedFault {
    fn is_for(&self, call: Call, request: &Request) -> bool {
        let names = |tag: &str| {
            let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
            tag_of(text(&body, "ref")) == tag
        };
        call == self.call && self.tag.as_deref().is_none_or(names)
    }
}

impl State {
    pub(super) fn new(base_url: String) -> Self {
        Self {
            base_url,
            clock: SystemClock::new(),
            names: Vec::new(),
            refs: BTreeMap::new(),
            tokens: BTreeMap::new(),
            app: SimulatedApp::new(),
            faults: Vec::new(),
            holds: Vec::new(),
            calls: Vec::new(),
            last_number: 1_000,
            ledger: Vec::new(),
            workflow_runs: Vec::new(),
            check_runs: Vec::new(),
            deliveries: Vec::new(),
        }
    }

    pub(super) fn add_repository(&mut self, id: RepositoryId, name: &str) {
        self.names.push((name.to_owned(), id));
    }

    pub(super) fn now(&self) -> Timestamp {
        self.app.now(self.clock.now())
    }

    pub(super) fn plan(&mut self, call: Call, tag: Option<String>, fault: Fault) {
        self.faults.push(PlannedFault { call, tag, fault });
    }

    pub(super) fn requests(&self, call: Call) -> usize {
        self.calls.iter().filter(|made| **made == call).count()
    }

    /// Counts a request, and returns the fault planned for it.
    pub(super) fn begin(&mut self, request: &Request) -> Option<Fault> {
        let call = call_of(request)?;
        self.calls.push(call);
        let position = self.faults.iter().position(|planned| planned.is_for(call, request))?;
        Some(self.faults.remove(position).fault)
    }

    /// Returns what ends the wait of a request that is held.
    pub(super) fn held(&self, request: &Request) -> Option<Notify> {
        let call = call_of(request)?;
        let holds = self.holds.iter().find(|(held, until)| *held == call && !until.is_stopped());
        holds.map(|(_, until)| until.clone())
    }

    /// Answers a request, with its effect.
    pub(super) fn apply(&mut self, request: &Request) -> Reply {
        self.try_apply(request).unwrap_or_else(|refusal| refusal)
    }

    fn try_apply(&mut self, request: &Request) -> Result<Reply, Reply> {
        let Some(call) = call_of(request) else { return Err(Reply::error(404)) };
        if !request.header("user-agent").starts_with("svcd/") {
            // The forge refuses a request that does not name its program.
            return Err(Reply::error(403));
        }
        let bearer = request.header("authorization").strip_prefix("Bearer ");
        let bearer = bearer.ok_or(Reply::error(401))?;
        // Those that ask for nothing have no body; asking for a delivery again has none either.
        let body = if matches!(request.method.as_str(), "GET" | "DELETE") || request.body.is_empty()
        {
            Value::Null
        } else {
            serde_json::from_slice(&request.body).map_err(|_| Reply::error(400))?
        };
        if call.is_of_app() {
            return self.as_app(call, bearer, request, &body);
        }
        if call == Call::TokenRevoke {
            let revoked = self.tokens.remove(bearer);
            return revoked.map(|_| Reply::json(204, &Value::Null)).ok_or(Reply::error(401));
        }
        let grant = self.tokens.get(bearer).cloned().ok_or(Reply::error(401))?;
        let (repository, rest) = self.locate(request)?;
        if !grant.sees(repository.get()) {
            // As at the forge: what a token may not see does not exist.
            return Err(Reply::error(404));
        }
        let (permission, level) = permission(call);
        if !grant.allows(permission, level) {
            return Err(Reply::error(403));
        }
        match call {
            Call::Dispatch => self.dispatch(request, repository, &rest, &body),
            Call::WorkflowRunRead | Call::WorkflowRunTryRead => self.read_run(repository, &rest),
            Call::WorkflowRunFind => Ok(self.find_runs(request, repository, &rest)),
            Call::CheckRunCreate => self.create_check_run(request, repository, &body),
            Call::CheckRunUpdate => self.update_check_run(request, repository, &rest, &body),
            Call::CheckRunRead => self.read_check_run(repository, &rest),
            Call::CheckRunFind => Ok(self.find_check_runs(request, repository, &rest)),
            _ => Err(Reply::error(500)),
        }
    }

    pub(super) fn has_repository(&self, id: i64) -> bool {
        self.names.iter().any(|(_, known)| known.get() == id)
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
            // The last one: another repository may have taken the name of a renamed one.
            .rfind(|(known, _)| known.eq_ignore_ascii_case(&full_name))
            .ok_or(Reply::error(404))?;
        if self.name_of(*id).eq_ignore_ascii_case(&full_name) {
            return Ok((*id, format!("/{rest}")));
        }
        let query = if request.query.is_empty() { "" } else { "?" };
        let location =
            format!("{}/repositories/{id}/{rest}{query}{}", self.base_url, request.query);
        // 307 keeps the method and the body.
        let status = if request.method == "GET" { 301 } else { 307 };
        Err(Reply { location: Some(location), ..Reply::error(status) })
    }

    pub(super) fn name_of(&self, id: RepositoryId) -> &str {
        self.names.iter().rfind(|(_, known)| *known == id).map_or("", |(name, _)| name)
    }

    pub(super) fn record(&mut self, call: Call, request: &Request, key: String) {
        let (method, path) = (request.method.clone(), request.path.clone());
        self.ledger.push(RecordedEffect { call, method, path, key });
    }

    pub(super) const fn next_number(&mut self) -> i64 {
        self.last_number += 1;
        self.last_number
    }
}

fn call_of(request: &Request) -> Option<Call> {
    let path = request.path.as_str();
    match request.method.as_str() {
        "GET" if path == "/app" => Some(Call::AppRead),
        "GET" if path == "/app/hook/config" => Some(Call::WebhookRead),
        "GET" if path == "/app/installations" => Some(Call::InstallationFind),
        "DELETE" if path == "/installation/token" => Some(Call::TokenRevoke),
        "GET" if path == "/app/hook/deliveries" => Some(Call::DeliveryFind),
        "POST" if path.starts_with("/app/hook/deliveries/") => Some(Call::DeliveryRepeat),
        "POST" if path.ends_with("/access_tokens") => Some(Call::Mint),
        "POST" if path.ends_with("/dispatches") => Some(Call::Dispatch),
        "POST" if path.ends_with("/check-runs") => Some(Call::CheckRunCreate),
        "PATCH" if path.contains("/check-runs/") => Some(Call::CheckRunUpdate),
        "GET" if path.ends_with("/check-runs") => Some(Call::CheckRunFind),
        "GET" if path.contains("/check-runs/") => Some(Call::CheckRunRead),
        "GET" if path.contains("/actions/workflows/") => Some(Call::WorkflowRunFind),
        // Before the next arm, whose pattern fits its path as well.
        "GET" if path.contains("/attempts/") => Some(Call::WorkflowRunTryRead),
        "GET" if path.contains("/actions/runs/") => Some(Call::WorkflowRunRead),
        _ => None,
    }
}

/// Returns the permission a call takes, and its level.
const fn permission(call: Call) -> (&'static str, &'static str) {
    match call {
        Call::Dispatch => ("actions", "write"),
        Call::WorkflowRunRead | Call::WorkflowRunTryRead | Call::WorkflowRunFind => {
            ("actions", "read")
        }
        _ => ("checks", "write"),
    }
}

/// Returns a text field, empty when there is none.
pub(super) fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the name of the tag that a ref stands for, where it is no branch.
pub(super) fn tag_of(text: &str) -> &str {
    text.strip_prefix("refs/tags/").unwrap_or(text)
}
