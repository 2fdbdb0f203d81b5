//! What the doctor prints: one JSON document, or tables for people.

use std::borrow::Cow;
use std::io;

use serde::Serialize;

use super::diagnosis::{self, Diagnosis, distinct};
use super::findings::Finding;
use super::probe::Exchange;
use crate::api::McpStatus;
use crate::cli::output::{Column, Output, or_dash};
use crate::mcp::description::without_query;

/// The report as a document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report<'a> {
    /// What this environment says; null when it cannot be used.
    environment: Option<&'a McpStatus>,
    /// What the running daemon says; null when it does not answer.
    daemon: Option<&'a McpStatus>,
    endpoint: Option<Reached<'a>>,
    metadata: Option<Reached<'a>>,
    /// The metadata of the issuer of tokens.
    issuer: Option<Reached<'a>>,
    keys: Option<Keys<'a>>,
    /// Seconds by which the clock that differs most is ahead of this one.
    clock_skew_seconds: Option<i64>,
    findings: &'a [Finding],
}

/// An address that was asked.
#[derive(Serialize)]
struct Reached<'a> {
    url: &'a str,
    /// The HTTP status; null when nothing answered.
    status: Option<u16>,
}

#[derive(Serialize)]
struct Keys<'a> {
    #[serde(flatten)]
    reached: Reached<'a>,
    /// How many tokens can be checked with.
    usable: usize,
    /// What they sign with, each once.
    algorithms: Vec<&'static str>,
}

fn reached(exchange: &Exchange) -> Reached<'_> {
    let status = exchange.outcome.as_ref().ok().map(|answer| answer.status);
    Reached { url: without_query(&exchange.url), status }
}

/// Returns the report as a document.
pub(super) fn of<'a>(facts: &'a diagnosis::Facts, diagnosis: &'a Diagnosis) -> Report<'a> {
    let usable = diagnosis.keys.as_deref().unwrap_or_default();
    Report {
        environment: facts.environment.status.as_ref(),
        daemon: facts.daemon.as_ref().ok(),
        endpoint: facts.endpoint.as_ref().map(reached),
        metadata: facts.metadata.as_ref().map(reached),
        issuer: facts.issuer.as_ref().map(reached),
        keys: facts.keys.as_ref().map(|exchange| Keys {
            reached: reached(exchange),
            usable: usable.len(),
            algorithms: distinct(usable).into_iter().collect(),
        }),
        clock_skew_seconds: diagnosis.ahead_seconds,
        findings: &diagnosis.findings,
    }
}

/// Prints the report for people.
pub(super) fn show(
    facts: &diagnosis::Facts,
    diagnosis: &Diagnosis,
    output: Output,
) -> io::Result<()> {
    let here = facts.environment.status.as_ref().map(settings);
    let there = facts.daemon.as_ref().ok().map(settings);
    let cell = |column: &Option<[String; 8]>, row: usize| {
        or_dash(column.as_ref().and_then(|column| column.get(row)))
    };
    let rows = SETTINGS.iter().enumerate();
    let rows = rows.map(|(row, name)| [(*name).to_owned(), cell(&here, row), cell(&there, row)]);
    output.table(SETTING_COLUMNS, &rows.collect::<Vec<_>>())?;
    let checks = checks(facts, diagnosis);
    if !checks.is_empty() {
        output.raw(b"\n")?;
        output.table(CHECK_COLUMNS, &checks)?;
    }
    for finding in &diagnosis.findings {
        output.raw(b"\n")?;
        output.facts(vec![("finding", finding.message.clone()), ("next", finding.next.clone())])?;
    }
    if diagnosis.findings.is_empty() {
        let is_off = matches!(&facts.daemon, Ok(daemon) if !daemon.enabled);
        output.raw(match is_off {
            true => b"\nno problem found; /mcp is off, so it was not tested\n",
            false => b"\nnothing is wrong\n",
        })?;
    }
    Ok(())
}

const SETTINGS: [&str; 8] = [
    "transports",
    "served by default",
    "legacy revisions",
    "default revision",
    "modern revisions",
    "modern revisions enabled",
    "endpoint",
    "token issuer",
];

/// Returns the settings in the order of [`SETTINGS`].
fn settings(status: &McpStatus) -> [String; 8] {
    let revisions = &status.supported_revisions;
    [
        status.transports.join(", "),
        format!("{} revisions", status.default_era),
        span(&revisions.legacy),
        status.default_revision.to_string(),
        span(&revisions.modern),
        if status.modern_routing { "yes" } else { "no" }.to_owned(),
        match &status.endpoint {
            None if !status.enabled => "off (SVC_MCP is not true)".to_owned(),
            endpoint => or_dash(endpoint.as_ref()),
        },
        or_dash(status.authorization.as_ref().map(|authorization| &authorization.issuer)),
    ]
}

/// Shows revisions, the newest first, in the width of a terminal; the document has them one by one.
fn span(revisions: &[Cow<'static, str>]) -> String {
    match revisions {
        [newest, .., oldest] => format!("{} from {oldest} to {newest}", revisions.len()),
        [only] => only.to_string(),
        [] => or_dash(None::<&str>),
    }
}

const SETTING_COLUMNS: &[Column<[String; 3]>] = &[
    Column::new(0, "SETTING", |[name, ..], _| name.clone()),
    Column::new(0, "THIS ENVIRONMENT", |[_, here, _], _| here.clone()),
    Column::new(0, "RUNNING SVCD", |[.., there], _| there.clone()),
];

const CHECK_COLUMNS: &[Column<[String; 3]>] = &[
    Column::new(0, "AS A CLIENT", |[name, ..], _| name.clone()),
    Column::new(0, "ANSWER", |[_, answer, _], _| answer.clone()),
    Column::new(0, "ADDRESS", |[.., address], _| address.clone()),
];

fn checks(facts: &diagnosis::Facts, diagnosis: &Diagnosis) -> Vec<[String; 3]> {
    let mut rows = Vec::new();
    let mut add = |what: &str, answer: String, place: &str| {
        rows.push([what.to_owned(), answer, place.to_owned()]);
    };
    for (what, exchange) in
        [("endpoint", &facts.endpoint), ("metadata", &facts.metadata), ("issuer", &facts.issuer)]
    {
        if let Some(exchange) = exchange {
            add(what, status_of(exchange), without_query(&exchange.url));
        }
    }
    if let Some(exchange) = &facts.keys {
        let answer = match &diagnosis.keys {
            Some(usable) => {
                let algorithms: Vec<&str> = distinct(usable).into_iter().collect();
                format!("{} usable: {}", usable.len(), algorithms.join(", "))
            }
            None => status_of(exchange),
        };
        add("keys", answer, without_query(&exchange.url));
    }
    if let Some(ahead) = diagnosis.ahead_seconds {
        add("clocks", format!("{} s apart", ahead.unsigned_abs()), "");
    }
    let daemon = facts.daemon.as_ref().ok();
    if let Some(names) = daemon.and_then(|daemon| daemon.forwarding_headers.as_ref()) {
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        add("proxy headers", names, "");
    }
    rows
}

fn status_of(exchange: &Exchange) -> String {
    let status = exchange.outcome.as_ref().ok().map(|answer| format!("HTTP {}", answer.status));
    status.unwrap_or_else(|| "none".to_owned())
}
