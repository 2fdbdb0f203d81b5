//! The simulated app as its settings have it: what it may do, where its webhook goes, who has installed it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::credentials::{self, Grant};
use super::message::{Reply, Request};
use super::state::State;
use super::{Call, shape};
use crate::domain::id::InstallationId;
use crate::domain::time::Timestamp;

/// The settings of the app. At first they are as svcd needs them, and no account has installed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedApp {
    /// What it asks of those who install it: levels by name.
    pub permissions: BTreeMap<String, String>,
    /// Events it is sent.
    pub events: Vec<String>,
    /// Its webhook; `None` if it has none.
    pub webhook: Option<SimulatedWebhook>,
    /// Who has installed it. While it is empty, every installation that is named exists and may do everything.
    pub installations: Vec<SimulatedInstallation>,
    /// By how much the clock of the forge is ahead.
    pub clock_ahead: Duration,
    /// By how much it is behind.
    pub clock_behind: Duration,
}

/// Where the webhook of the app goes, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedWebhook {
    /// Its address.
    pub url: String,
    /// `json` or `form`.
    pub content_type: String,
    /// Deliveries are signed.
    pub has_secret: bool,
    /// Certificates are not checked.
    pub is_insecure: bool,
}

/// An account that has installed the app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedInstallation {
    /// Its number.
    pub id: InstallationId,
    /// Name of the account.
    pub account: String,
    /// Its owner suspended it.
    pub is_suspended: bool,
    /// What its owner accepted: levels by name.
    pub permissions: BTreeMap<String, String>,
}

impl SimulatedApp {
    pub(super) fn new() -> Self {
        let level = |(name, level): (&str, &str)| (name.to_owned(), level.to_owned());
        let permissions =
            [("actions", "write"), ("checks", "write"), ("contents", "read"), ("metadata", "read")];
        Self {
            permissions: permissions.map(level).into(),
            events: ["check_run", "push", "repository", "workflow_run"].map(str::to_owned).into(),
            webhook: Some(SimulatedWebhook {
                url: "https://svc.example/webhooks/forge".to_owned(),
                content_type: "json".to_owned(),
                has_secret: true,
                is_insecure: false,
            }),
            installations: Vec::new(),
            clock_ahead: Duration::ZERO,
            clock_behind: Duration::ZERO,
        }
    }

    /// Adds an installation whose owner accepted everything.
    pub fn install(&mut self, id: InstallationId, account: &str) {
        let (account, permissions) = (account.to_owned(), self.permissions.clone());
        let installation = SimulatedInstallation { id, account, is_suspended: false, permissions };
        self.installations.push(installation);
    }

    pub(super) fn now(&self, now: Timestamp) -> Timestamp {
        now.plus(self.clock_ahead).minus(self.clock_behind)
    }

    /// Says why an installation gets no token.
    fn refusal(&self, installation: Option<i64>, asked: &Grant) -> Option<Reply> {
        if self.installations.is_empty() {
            return None;
        }
        let found = self.installations.iter().find(|it| Some(it.id.get()) == installation);
        let Some(found) = found else { return Some(Reply::error(404)) };
        if found.is_suspended {
            return Some(Reply::error(403));
        }
        // A token can do no more than the installation.
        let granted = Grant { repositories: None, permissions: json!(found.permissions) };
        let permissions = asked.permissions.as_object();
        let mut asked = permissions.into_iter().flatten();
        let is_granted =
            asked.all(|(name, level)| granted.allows(name, level.as_str().unwrap_or_default()));
        (!is_granted).then(|| Reply::error(422))
    }
}

impl State {
    /// Answers about the app itself.
    pub(super) fn as_app(
        &mut self,
        call: Call,
        bearer: &str,
        request: &Request,
        body: &Value,
    ) -> Result<Reply, Reply> {
        credentials::check_app(bearer, self.now()).map_err(Reply::error)?;
        match call {
            Call::DeliveryFind => Ok(self.find_deliveries(request)),
            Call::DeliveryRepeat => self.repeat_delivery(request),
            Call::AppRead => Ok(Reply::json(200, &shape::app(&self.base_url, &self.app))),
            Call::WebhookRead => self.read_webhook(),
            Call::InstallationFind => Ok(self.find_installations(request)),
            _ => self.mint(request, body),
        }
    }

    fn read_webhook(&self) -> Result<Reply, Reply> {
        let webhook = self.app.webhook.as_ref().ok_or(Reply::error(404))?;
        let mut config = Map::new();
        config.insert("url".to_owned(), json!(webhook.url));
        config.insert("content_type".to_owned(), json!(webhook.content_type));
        config
            .insert("insecure_ssl".to_owned(), json!(if webhook.is_insecure { "1" } else { "0" }));
        if webhook.has_secret {
            config.insert("secret".to_owned(), json!("********"));
        }
        Ok(Reply::json(200, &config.into()))
    }

    fn find_installations(&self, request: &Request) -> Reply {
        let number = |name, usual| {
            request.asks(name).and_then(|text| text.parse::<usize>().ok()).unwrap_or(usual)
        };
        let (size, page) = (number("per_page", 30).clamp(1, 100), number("page", 1).max(1));
        let all = self.app.installations.iter().skip((page - 1).saturating_mul(size)).take(size);
        let events = &self.app.events;
        let listed = all.map(|it| shape::installation(&self.base_url, it, events));
        Reply::json(200, &listed.collect())
    }

    fn mint(&mut self, request: &Request, body: &Value) -> Result<Reply, Reply> {
        let (grant, number) = (Grant::read(body), self.next_number());
        let installation = request.path.split('/').nth(3).and_then(|id| id.parse().ok());
        if let Some(refusal) = self.app.refusal(installation, &grant) {
            return Err(refusal);
        }
        let is_known =
            |ids: &Vec<i64>| !ids.is_empty() && ids.iter().all(|id| self.has_repository(*id));
        if !grant.repositories.as_ref().is_none_or(is_known) {
            return Err(Reply::error(422));
        }
        let mut permissions = grant.permissions.clone();
        if let Some(granted) = permissions.as_object_mut() {
            // The forge adds this to every token.
            granted.insert("metadata".to_owned(), "read".into());
        }
        // As long, and with the same odd characters, as the real ones.
        let token = format!("ghs_{number}_{}", "simulated.to-ken_".repeat(30));
        let reply = json!({
            "token": token,
            "expires_at": "2099-01-01T00:00:00Z",
            "permissions": permissions,
            "repository_selection": if grant.repositories.is_some() { "selected" } else { "all" },
        });
        self.tokens.insert(token, grant);
        Ok(Reply::json(201, &reply))
    }
}
