//! What `svcd check-forge` prints: facts and findings for people, or one JSON document. Never a secret.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write as _};

use serde::Serialize;

use super::diagnosis::webhook::{arrived, shown};
use super::diagnosis::{Observations, TriedInstallation};
use super::finding::{Finding, FindingSeverity};
use crate::domain::event::AccountName;
use crate::runtime::stdout;

/// The report as a document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    settings: &'a str,
    api_url: &'a str,
    app_id: i64,
    /// Seconds by which the forge's clock is ahead of this machine's; null if it did not say.
    clock_skew_seconds: Option<i64>,
    /// Null if the forge did not tell; so are the others.
    permissions: Option<&'a BTreeMap<String, String>>,
    events: Option<&'a BTreeSet<String>>,
    webhook_url: Option<String>,
    deliveries: Option<Deliveries>,
    installations: Option<Vec<Installation<'a>>>,
    findings: &'a [Finding],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Deliveries {
    /// The last tries, at most 100.
    tries: usize,
    arrived: usize,
    /// When the newest was tried.
    newest_at: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Installation<'a> {
    installation_id: i64,
    account: Option<&'a str>,
    suspended: bool,
    /// Whether there is a token for it; null if none was asked for.
    token: Option<bool>,
}

impl<'a> Report<'a> {
    fn of(place: &'a str, seen: &'a Observations, findings: &'a [Finding]) -> Self {
        let rights = seen.app.as_ref().ok().map(|app| &app.rights);
        let webhook = seen.webhook.as_ref().and_then(|it| it.as_ref().ok());
        let tries = seen.deliveries.as_ref().and_then(|it| it.as_ref().ok());
        let found = seen.installations.as_ref().and_then(|it| it.as_ref().ok());
        Self {
            settings: place,
            api_url: &seen.api_url,
            app_id: seen.app_id,
            clock_skew_seconds: seen.ahead_seconds,
            permissions: rights.map(|rights| &rights.permissions),
            events: rights.map(|rights| &rights.events),
            webhook_url: webhook.and_then(|webhook| shown(&webhook.url)),
            deliveries: tries.map(|tries| Deliveries {
                tries: tries.len(),
                arrived: tries.iter().filter(|it| arrived(it)).count(),
                newest_at: tries.first().map(|it| it.at.to_string()),
            }),
            installations: found.map(|it| it.tried.iter().map(Installation::of).collect()),
            findings,
        }
    }
}

impl<'a> Installation<'a> {
    fn of(tried: &'a TriedInstallation) -> Self {
        Self {
            installation_id: tried.settings.id.get(),
            account: tried.settings.account.as_ref().map(AccountName::as_str),
            suspended: tried.settings.is_suspended,
            token: tried.token.map(|token| token.is_ok()),
        }
    }
}

/// Prints the report as a document.
pub(super) fn document(place: &str, seen: &Observations, findings: &[Finding]) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(&Report::of(place, seen, findings))?;
    text.push(b'\n');
    stdout::flushed(io::stdout().write_all(&text))
}

/// Prints the report for people.
pub(super) fn show(place: &str, seen: &Observations, findings: &[Finding]) -> io::Result<()> {
    let report = Report::of(place, seen, findings);
    let mut text = format!("settings of {place}:\n");
    for (name, value) in facts(&report) {
        writeln!(text, "{name:<14}{value}").map_err(io::Error::other)?;
    }
    for finding in findings {
        let severity = match finding.severity {
            FindingSeverity::Error => "problem",
            FindingSeverity::Warning => "warning",
        };
        let Finding { message, next, .. } = finding;
        writeln!(text, "\n{severity:<14}{message}\n{:<14}{next}", "next")
            .map_err(io::Error::other)?;
    }
    if findings.is_empty() {
        text.push_str("\nnothing is wrong\n");
    }
    stdout::flushed(io::stdout().write_all(text.as_bytes()))
}

fn facts(report: &Report<'_>) -> Vec<(&'static str, String)> {
    let mut facts = vec![("forge", report.api_url.to_owned()), ("app", report.app_id.to_string())];
    let mut add = |name, value: Option<String>| facts.extend(value.map(|value| (name, value)));
    add("clocks", report.clock_skew_seconds.map(|it| format!("{} s apart", it.unsigned_abs())));
    let pairs = |it: &BTreeMap<String, String>| {
        it.iter().map(|(name, level)| format!("{name}: {level}")).collect::<Vec<_>>().join(", ")
    };
    add("permissions", report.permissions.map(pairs));
    let joined = |it: &BTreeSet<String>| it.iter().cloned().collect::<Vec<_>>().join(", ");
    add("events", report.events.map(joined));
    add("webhook", report.webhook_url.clone());
    add(
        "deliveries",
        report.deliveries.as_ref().map(|it| match &it.newest_at {
            Some(at) => format!("{} of the last {} arrived; newest {at}", it.arrived, it.tries),
            None => "none yet".to_owned(),
        }),
    );
    for installation in report.installations.iter().flatten() {
        let account = installation.account.unwrap_or("-");
        let state = match (installation.suspended, installation.token) {
            (true, _) => "suspended",
            (false, Some(true)) => "token received",
            (false, Some(false)) => "no token",
            (false, None) => "not tried",
        };
        add("installation", Some(format!("{} {account}: {state}", installation.installation_id)));
    }
    facts
}
