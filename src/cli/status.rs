//! `svcctl status`: may the service be used, and if not, why. Needs no token.

use http::{HeaderMap, Method, StatusCode};

use crate::api::Readiness;
use crate::cli::Global;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output, ago};
use crate::clock::{Clock as _, SystemClock};
use crate::domain::time::Timestamp;

/// Say whether the service is ready, and if not, why
///
/// Ends with 0 when it is ready, 3 when it is not, 69 when it cannot be reached. Needs no token.
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
    let answer = client.send(Method::GET, "/health/ready", HeaderMap::new())?;
    let readiness: Readiness = match answer.status() {
        StatusCode::OK | StatusCode::SERVICE_UNAVAILABLE => {
            answer.json().map_err(|malformed| match answer.status() {
                StatusCode::OK => malformed,
                _ => answer.refusal(),
            })?
        }
        _ => return Err(answer.refusal().into()),
    };
    match output.format() {
        Format::Table => show(&readiness, SystemClock::new().now(), output)?,
        Format::Json | Format::Ndjson => output.json(&readiness)?,
    }
    Ok(if answer.status() == StatusCode::OK { Exit::Done } else { Exit::NotReady })
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
    ];
    for (name, polled, succeeded) in loops(readiness) {
        facts.push((name, last(now, polled, succeeded)));
    }
    if readiness.draining {
        facts.insert(1, ("draining", "yes: it is stopping".to_owned()));
    }
    Ok(output.facts(facts)?)
}

type Loop<'a> = (&'static str, Option<&'a str>, Option<&'a str>);

/// Returns each reconciliation with its last poll and its last success.
fn loops(readiness: &Readiness) -> [Loop<'_>; 3] {
    [
        (
            "workflow reconciliation",
            readiness.last_workflow_reconciliation_poll_at.as_deref(),
            readiness.last_successful_workflow_reconciliation_at.as_deref(),
        ),
        (
            "check run reconciliation",
            readiness.last_check_run_reconciliation_poll_at.as_deref(),
            readiness.last_successful_check_run_reconciliation_at.as_deref(),
        ),
        (
            "lifecycle reconciliation",
            readiness.last_lifecycle_reconciliation_poll_at.as_deref(),
            readiness.last_successful_lifecycle_reconciliation_at.as_deref(),
        ),
    ]
}

fn last(now: Timestamp, polled: Option<&str>, succeeded: Option<&str>) -> String {
    match (polled, succeeded) {
        (None, _) => "not polled yet".to_owned(),
        (Some(polled), None) => format!("polled {}, no success yet", ago(now, polled)),
        (Some(polled), Some(succeeded)) => {
            format!("polled {}, succeeded {}", ago(now, polled), ago(now, succeeded))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_told_by_its_last_poll_and_success() {
        let now = Timestamp::from_micros(1_795_251_600_000_000);
        let (near, far) = ("2026-11-21T08:59:57.000000Z", "2026-11-21T08:00:00.000000Z");
        assert_eq!(last(now, None, None), "not polled yet");
        assert_eq!(last(now, Some(near), None), "polled 3s ago, no success yet");
        assert_eq!(last(now, Some(near), Some(far)), "polled 3s ago, succeeded 1h ago");
    }
}
