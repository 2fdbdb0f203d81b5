//! The app as the forge has it: its settings, its webhook, and who has installed it.
//!
//! For `svcd check-forge`; the daemon itself does not ask. Each call is made once, and of an answer only ids, times,
//! statuses, the address of the webhook and the names of accounts, permissions and events are taken.

use std::collections::{BTreeMap, BTreeSet};

use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use super::answer::Answer;
use super::client::ForgeClient;
use super::token;
use super::wire::{Request, SendFailure};
use crate::domain::dead_letter::{ErrorClass, FailureCause};
use crate::domain::event::AccountName;
use crate::domain::id::InstallationId;
use crate::domain::outbox::SendResult;
use crate::domain::time::Timestamp;

/// Entries on one page, the most the forge gives.
pub const PAGE: usize = 100;
/// Longest name of a permission or an event that is taken.
const NAME_BYTES_MAX: usize = 64;

/// Why the forge did not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untold {
    /// There was no answer; `None` if the call could not be made at all.
    NoAnswer(Option<FailureCause>),
    /// It answered with another status than the one hoped for.
    Status(u16),
    /// It asked to wait.
    RateLimited,
    /// It answered something that cannot be read.
    Unreadable,
}

/// What an app or an installation has: permissions with their levels, and events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    /// Levels by name, such as `write` by `actions`.
    pub permissions: BTreeMap<String, String>,
    /// Events that are sent.
    pub events: BTreeSet<String>,
}

/// The app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppSettings {
    /// Its number.
    pub id: i64,
    /// What its settings ask for.
    pub rights: Rights,
}

/// The webhook of the app.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSettings {
    /// Where it goes; empty when it goes nowhere.
    pub url: String,
    /// `json` or `form`.
    pub content_type: String,
    /// Deliveries are signed.
    pub has_secret: bool,
    /// The certificate of the receiver is not checked.
    pub is_insecure: bool,
}

/// One try to deliver a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryTry {
    /// Names the delivery, whatever the try.
    pub guid: String,
    /// When it was tried.
    pub at: Timestamp,
    /// Status that the receiver answered with, or one that the forge says instead.
    pub status: u16,
}

/// One installation.
#[derive(Clone, PartialEq, Eq)]
pub struct InstallationSettings {
    /// Its number.
    pub id: InstallationId,
    /// The account that installed the app, if its name can be read.
    pub account: Option<AccountName>,
    /// Its owner suspended it.
    pub is_suspended: bool,
    /// What its owner accepted.
    pub rights: Rights,
}

impl ForgeClient {
    /// Asks which app our key belongs to. Returns with it by how many seconds the forge's clock is ahead of ours, if it
    /// says its time.
    pub fn app_settings(&self) -> (Option<i64>, Result<AppSettings, Untold>) {
        let answer = self.ask_as_app(Method::GET, "/app".to_owned(), None);
        let date = answer.as_ref().ok().and_then(|answer| answer.header("date"));
        let ahead = date.and_then(|date| self.clock.now().seconds_behind(date));
        (ahead, answer.and_then(|answer| self.read(&answer, StatusCode::OK, app)))
    }

    /// Asks where the webhook of the app goes.
    ///
    /// # Errors
    /// The forge did not tell.
    pub fn webhook_settings(&self) -> Result<WebhookSettings, Untold> {
        let answer = self.ask_as_app(Method::GET, "/app/hook/config".to_owned(), None)?;
        self.read(&answer, StatusCode::OK, webhook)
    }

    /// Asks for the last tries to deliver a webhook, the newest first; at most [`PAGE`].
    ///
    /// # Errors
    /// The forge did not tell.
    pub fn delivery_tries(&self) -> Result<Vec<DeliveryTry>, Untold> {
        let path = format!("/app/hook/deliveries?per_page={PAGE}");
        let answer = self.ask_as_app(Method::GET, path, None)?;
        self.read(&answer, StatusCode::OK, |answer| list(answer, delivery))
    }

    /// Asks for a page of the installations, from 1 on. One that is not full is the last one.
    ///
    /// # Errors
    /// The forge did not tell.
    pub fn installations(&self, page: usize) -> Result<Vec<InstallationSettings>, Untold> {
        let path = format!("/app/installations?per_page={PAGE}&page={page}");
        let answer = self.ask_as_app(Method::GET, path, None)?;
        self.read(&answer, StatusCode::OK, |answer| list(answer, installation))
    }

    /// Asks for a token of an installation with everything that our tokens may do, and gives it back.
    ///
    /// # Errors
    /// There is none.
    pub fn try_token(&self, installation: InstallationId) -> Result<(), Untold> {
        let path = format!("/app/installations/{installation}/access_tokens");
        let answer = self.ask_as_app(Method::POST, path, Some(token::trial_request()))?;
        let token = self.read(&answer, StatusCode::CREATED, token::read_trial)?;
        let revocation = Request {
            method: Method::DELETE,
            path: "/installation/token".to_owned(),
            moved_path: None,
            bearer: &token,
            body: None,
        };
        // One that cannot be given back is over within the hour.
        drop(self.send(&revocation, &|| Ok(())));
        Ok(())
    }

    fn ask_as_app(
        &self,
        method: Method,
        path: String,
        body: Option<String>,
    ) -> Result<Answer, Untold> {
        let gate = || Ok::<(), SendResult>(());
        let sent = self.send_as_app(&self.credentials.get(), (method, path, body), &gate);
        sent.map_err(|failure| match failure {
            SendFailure::Stopped(_) => Untold::NoAnswer(None),
            SendFailure::NotSent(cause) => Untold::NoAnswer(cause),
            SendFailure::Lost(cause) => Untold::NoAnswer(Some(cause)),
        })
    }

    fn read<T>(
        &self,
        answer: &Answer,
        hoped: StatusCode,
        read: impl FnOnce(&Answer) -> Option<T>,
    ) -> Result<T, Untold> {
        match answer.class(self.clock.now()) {
            _ if answer.status == hoped => read(answer).ok_or(Untold::Unreadable),
            ErrorClass::RateLimited => Err(Untold::RateLimited),
            _ => Err(Untold::Status(answer.status.as_u16())),
        }
    }
}

#[derive(Deserialize)]
struct ListedRights {
    permissions: BTreeMap<String, Value>,
    events: Vec<String>,
}

impl ListedRights {
    /// Takes what has the shape of a name.
    fn rights(self) -> Rights {
        let is_name = |text: &str| {
            let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
            (1..=NAME_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_plain)
        };
        let level = |level: &Value| level.as_str().filter(|text| is_name(text)).map(str::to_owned);
        let permissions = self.permissions.into_iter().filter(|(name, _)| is_name(name));
        Rights {
            permissions: permissions.filter_map(|(name, it)| Some((name, level(&it)?))).collect(),
            events: self.events.into_iter().filter(|event| is_name(event)).collect(),
        }
    }
}

fn app(answer: &Answer) -> Option<AppSettings> {
    #[derive(Deserialize)]
    struct Listed {
        id: i64,
        #[serde(flatten)]
        rights: ListedRights,
    }
    let listed: Listed = answer.object()?;
    Some(AppSettings { id: listed.id, rights: listed.rights.rights() })
}

fn webhook(answer: &Answer) -> Option<WebhookSettings> {
    #[derive(Deserialize)]
    struct Listed {
        url: Option<String>,
        content_type: Option<String>,
        /// Asterisks.
        secret: Option<String>,
        /// A number or a text.
        insecure_ssl: Option<Value>,
    }
    let listed: Listed = answer.object()?;
    let is_insecure = listed.insecure_ssl.is_some_and(|it| it == "1" || it == 1);
    Some(WebhookSettings {
        url: listed.url.unwrap_or_default(),
        content_type: listed.content_type.unwrap_or_default(),
        has_secret: listed.secret.is_some_and(|secret| !secret.is_empty()),
        is_insecure,
    })
}

fn delivery(element: Value) -> Option<DeliveryTry> {
    #[derive(Deserialize)]
    struct Listed {
        guid: String,
        delivered_at: String,
        status_code: u16,
    }
    let listed: Listed = serde_json::from_value(element).ok()?;
    let at = Timestamp::parse_rounding_up(&listed.delivered_at)?;
    Some(DeliveryTry { guid: listed.guid, at, status: listed.status_code })
}

fn installation(element: Value) -> Option<InstallationSettings> {
    #[derive(Deserialize)]
    struct Listed {
        id: i64,
        account: Option<Account>,
        suspended_at: Option<String>,
        #[serde(flatten)]
        rights: ListedRights,
    }
    #[derive(Deserialize)]
    struct Account {
        login: Option<String>,
    }
    let listed: Listed = serde_json::from_value(element).ok()?;
    let login = listed.account.and_then(|account| account.login);
    Some(InstallationSettings {
        id: listed.id.try_into().ok()?,
        account: login.as_deref().and_then(AccountName::new),
        is_suspended: listed.suspended_at.is_some(),
        rights: listed.rights.rights(),
    })
}

/// Reads a list. One element that cannot be read makes all of it unreadable: what is passed over may be what is wrong.
fn list<T>(answer: &Answer, read: impl Fn(Value) -> Option<T>) -> Option<Vec<T>> {
    answer.array::<Value>()?.into_iter().map(read).collect()
}
