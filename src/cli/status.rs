//! `svcctl status`: may the service be used, and if not, why; do its reconcilers look, and do they
//! succeed. Needs no token.

use http::{HeaderMap, Method, StatusCode};

use crate::api::Readiness;
use crate::cli::Global;
use crate::cli::client::{Client, Failure};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output, ago};
use crate::domain::time::Timestamp;
use crate::runtime::clock::{Clock as _, SystemClock};

/// Show whether the service is ready, and if not, why
///
/// Exits with 0 if the service is ready, 3 if it is not ready, and 69 if it cannot be reached. Needs no token.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl status
  svcctl status -o json | jq .lastSuccessfulWorkflowReconciliationAt
  svcctl status > /dev/null || echo 'svcd is not ready'
")]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::anonymous(global)?;
    let readiness = ask(&client)?;
    match output.format() {
        Format::Table => show(&readiness, SystemClock::new().now(), output)?,
        Format::Json | Format::Ndjson => output.json(&readiness)?,
    }
    Ok(if readiness.is_ready() { Exit::Done } else { Exit::NotReady })
}

/// Asks the service whether it is ready. That it is not is an answer too.
pub(super) fn ask(client: &Client) -> Result<Readiness, Failure> {
    let answer = client.send(Method::GET, "/health/ready", HeaderMap::new())?;
    match answer.status() {
        StatusCode::OK => answer.json(),
        // A proxy answers 503 as well, without this document.
        StatusCode::SERVICE_UNAVAILABLE => answer.json().map_err(|_| answer.refusal()),
        _ => Err(answer.refusal()),
    }
}

fn show(readiness: &Readiness, now: Timestamp, output: Output) -> Result<(), Error> {
    let configuration = match readiness.reconciliation_configuration_valid {
        true => "valid",
        false => "invalid: reconciliation is off; run svcd check-config on its host",
    };
    let mut facts = vec![
        ("service", readiness.status.replace('_', " ")),
        ("store", format!("{}, schema {}", readiness.store, readiness.schema_version)),
        ("reconciliation settings", configuration.to_owned()),
        ("signals", signals(readiness)),
    ];
    if readiness.draining {
        facts.insert(1, ("draining", "yes: it is stopping".to_owned()));
    }
    output.facts(facts)?;
    output.raw(b"\n")?;
    output.table(&["RECONCILER", "LAST POLL", "LAST SUCCESS"], reconcilers(readiness, now))?;
    Ok(())
}

/// Tells the signals in one line; `svcctl slo` tells them all.
fn signals(readiness: &Readiness) -> String {
    let Some(health) = &readiness.slo_health else { return "not evaluated yet".to_owned() };
    match readiness.slo_active_signals.as_slice() {
        [] => health.to_string(),
        active => format!("{health}: {}; see svcctl slo", active.join(", ")),
    }
}

/// Returns each reconciler with its last poll and its last success.
fn reconcilers(readiness: &Readiness, now: Timestamp) -> Vec<Vec<String>> {
    let last = |at: Option<Timestamp>| match at {
        Some(at) => ago(now, at),
        None => "never".to_owned(),
    };
    [
        (
            "workflow",
            &readiness.last_workflow_reconciliation_poll_at,
            &readiness.last_successful_workflow_reconciliation_at,
        ),
        (
            "check run",
            &readiness.last_check_run_reconciliation_poll_at,
            &readiness.last_successful_check_run_reconciliation_at,
        ),
        (
            "lifecycle",
            &readiness.last_lifecycle_reconciliation_poll_at,
            &readiness.last_successful_lifecycle_reconciliation_at,
        ),
    ]
    .into_iter()
    .map(|(name, poll, success)| vec![name.to_owned(), last(*poll), last(*success)])
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reconciler_is_told_by_its_last_poll_and_success() {
        let now = Timestamp::from_micros(1_795_251_600_000_000);
        let at = |text: &str| Timestamp::parse_rounding_up(&format!("2026-11-21T{text}Z"));
        let readiness = Readiness {
            status: "ready".into(),
            reconciliation_configuration_valid: true,
            last_workflow_reconciliation_poll_at: at("08:59:57"),
            last_successful_workflow_reconciliation_at: at("08:00:00"),
            last_check_run_reconciliation_poll_at: at("08:59:57"),
            last_successful_check_run_reconciliation_at: None,
            last_lifecycle_reconciliation_poll_at: None,
            last_successful_lifecycle_reconciliation_at: None,
            store: "ok".into(),
            schema_version: 1,
            draining: false,
            slo_health: Some("healthy".into()),
            slo_active_signals: Vec::new(),
        };
        let rows = [
            ["workflow", "3s ago", "1h ago"],
            ["check run", "3s ago", "never"],
            ["lifecycle", "never", "never"],
        ];
        assert_eq!(reconcilers(&readiness, now), rows);
    }
}
