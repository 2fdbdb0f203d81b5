//! `svcctl status`: may the service be used, and if not, why; what waits; do its reconcilers look, and do they succeed.
//! What belongs to an installation needs the operator token, the rest needs none.

mod installations;

use http::{HeaderMap, Method, StatusCode};
use serde::Serialize;

use crate::api::{BacklogQueue, ForgeStatus, Readiness, ServiceStatus, StatusBacklog};
use crate::cli::Global;
use crate::cli::client::{Client, Failure};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Column, Format, Output, Times, or_dash};
use crate::cli::watch::{WatchArgs, Watched};
use crate::domain::time::Timestamp;

/// Version of this tool.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Show whether svcd is ready, and if not, why; what is waiting; and the state of each installation
///
/// Exits with 0 if svcd is ready, 3 if it is not ready, and 69 if it cannot be reached. Without the operator token, only
/// totals for all installations are shown. Counting stops at 10,000, so 10,000 means 10,000 or more.
///
/// In the table of reconcilers, workflow is the one for attempts, check run the one for release runs, and webhooks the one
/// for stored webhooks whose job is missing or whose state does not match their job.
///
/// In the table of installations, PAUSE ENDS is the time until which the forge asked svcd to wait. DEAD LETTERS counts
/// the open ones, and REPLAY-SAFE those of them that svcctl replay accepts. --timeout limits all requests about
/// installations together: if the dead letters of an installation cannot be counted in that time, the table shows a
/// question mark, and a warning names the installation. At most 20 installations are shown; svcctl dead-letters summary -A
/// counts the dead letters of all.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl status
  svcctl status --watch
  svcctl status -o json | jq .lastSuccessfulWorkflowReconciliationAt
  svcctl status -o json | jq '.backlog.deadLetters.count'
  svcctl status > /dev/null || echo 'svcd is not ready'
")]
pub(crate) struct Args {
    #[command(flatten)]
    watch: WatchArgs,
}

/// What is printed in the machine formats.
#[derive(Serialize)]
#[serde(untagged)]
enum Told<'a> {
    Whole {
        #[serde(flatten)]
        status: &'a ServiceStatus,
        /// Null without the operator token.
        installations: &'a Option<Vec<installations::InstallationStatus>>,
    },
    /// From a daemon of an earlier version.
    Readiness(&'a Readiness),
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::anonymous(global)?;
    args.watch.run(Watched::Document, "status", output, |output| print(&client, global, output))
}

fn print(client: &Client, global: &Global, output: Output) -> Result<Exit, Error> {
    let answer = client.send(Method::GET, "/api/v1/status", HeaderMap::new())?;
    if answer.status() == StatusCode::NOT_FOUND {
        let readiness = ask(client)?;
        match output.format() {
            Format::Table => show_readiness(&readiness, Vec::new(), output)?,
            Format::Json | Format::Ndjson => output.json(&Told::Readiness(&readiness))?,
        }
        output.remark(
            "note",
            "there is no more to see at this address: it is the public one, or svcd is an earlier version",
        );
        return Ok(exit(&readiness));
    }
    let status: ServiceStatus = answer.expect_ok()?;
    let installations = installations::ask(global, output);
    match output.format() {
        Format::Table => show(&status, installations.as_deref(), output)?,
        Format::Json | Format::Ndjson => {
            output.json(&Told::Whole { status: &status, installations: &installations })?;
        }
    }
    Ok(exit(&status.readiness))
}

fn exit(readiness: &Readiness) -> Exit {
    if readiness.is_ready() { Exit::Done } else { Exit::NotReady }
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

fn show(
    status: &ServiceStatus,
    installations: Option<&[installations::InstallationStatus]>,
    output: Output,
) -> Result<(), Error> {
    let times = output.times();
    let mut facts =
        vec![("version", version(&status.version)), ("started", times.ago(status.started_at))];
    facts.extend(status.backlog.iter().flat_map(|backlog| dead(backlog, times)));
    facts.push(("forge", forge(status.forge.as_ref(), times)));
    show_readiness(&status.readiness, facts, output)?;
    match &status.backlog {
        Some(backlog) => {
            output.raw(b"\n")?;
            output.table(QUEUES, &queues(backlog))?;
        }
        None => output.remark("note", "the database cannot be read, so it is not known what waits"),
    }
    if let Some(installations) = installations {
        output.raw(b"\n")?;
        output.table(installations::COLUMNS, installations)?;
    }
    if status.version != VERSION {
        let text =
            format!("svcd is {}, and svcctl is {VERSION}; update the older one", status.version);
        output.alarm("warning", false, &text);
    }
    Ok(())
}

fn version(daemon: &str) -> String {
    if daemon == VERSION { daemon.to_owned() } else { format!("svcd {daemon}, svcctl {VERSION}") }
}

/// Tells what does not go on without an operator.
fn dead(backlog: &StatusBacklog, times: Times) -> Vec<(&'static str, String)> {
    let oldest = |queue: &BacklogQueue| {
        queue.oldest_at.map_or_else(String::new, |at| format!(", the oldest {}", times.ago(at)))
    };
    let letters = &backlog.dead_letters;
    let safe = backlog.dead_letters_replay_safe;
    let given_up = &backlog.reconciliation_items_given_up;
    let letters = match letters.count {
        0 => "none".to_owned(),
        count => format!("{count} open, {safe} replay-safe{}", oldest(letters)),
    };
    let given_up = match given_up.count {
        0 => "none".to_owned(),
        count => {
            let list = "svcctl reconcile list --status dead_letter --closed=false -A";
            format!("{count}{}; see {list}", oldest(given_up))
        }
    };
    let mut facts = vec![("dead letters", letters), ("reconciliations given up", given_up)];
    if backlog.installations_paused > 0 {
        let paused = format!("{} (the forge asked svcd to wait)", backlog.installations_paused);
        facts.push(("paused installations", paused));
    }
    facts
}

/// Says whether effects wait because no connection to the forge can be made.
pub(crate) fn is_forge_unreachable(client: &Client) -> Result<bool, Failure> {
    match client.get::<ServiceStatus>("/api/v1/status") {
        Ok(status) => Ok(status.forge.is_some_and(|forge| forge.paused)),
        // A daemon of an earlier version does not say.
        Err(failure) if failure.is_not_found() => Ok(false),
        Err(failure) => Err(failure),
    }
}

fn forge(forge: Option<&ForgeStatus>, times: Times) -> String {
    let Some(forge) = forge else { return "not configured".to_owned() };
    let answered = match forge.last_answer_at {
        Some(at) => format!("last answer {}", times.ago(at)),
        None => "no answer since svcd started".to_owned(),
    };
    let failed = match (forge.last_failure_at, forge.last_failure_cause.as_deref()) {
        (Some(at), Some(cause)) => {
            format!("; last failure {} (forge failure: {cause})", times.ago(at))
        }
        _ => String::new(),
    };
    let paused = if forge.paused { "; cannot be reached, effects wait" } else { "" };
    format!("{answered}{failed}{paused}")
}

/// What waits, and its name.
type Queue = (&'static str, BacklogQueue);

const QUEUES: &[Column<Queue>] = &[
    Column::new(0, "QUEUE", |(name, _), _| (*name).to_owned()),
    Column::new(0, "WAITING", |(_, queue), _| queue.count.to_string()),
    Column::new(0, "OLDEST", |(_, queue), times| {
        or_dash(queue.oldest_at.map(|at| times.relative(at)))
    }),
];

fn queues(backlog: &StatusBacklog) -> [Queue; 4] {
    [
        ("webhooks", backlog.webhooks),
        ("jobs", backlog.jobs),
        ("effects", backlog.outbox),
        ("reconciliations", backlog.reconciliation_items),
    ]
}

fn show_readiness(
    readiness: &Readiness,
    more: Vec<(&'static str, String)>,
    output: Output,
) -> Result<(), Error> {
    let configuration = match readiness.reconciliation_configuration_valid {
        true => "valid",
        false => "invalid: reconciliation is off; run svcd check-config on its host",
    };
    let mut facts = vec![
        ("svcd", readiness.status.replace('_', " ")),
        ("store", format!("{}, schema {}", readiness.store, readiness.schema_version)),
        ("reconciliation settings", configuration.to_owned()),
        ("signals", signals(readiness)),
    ];
    facts.extend(more);
    if readiness.draining {
        facts.insert(1, ("draining", "yes: it is stopping".to_owned()));
    }
    output.facts(facts)?;
    output.raw(b"\n")?;
    output.table(RECONCILERS, &reconcilers(readiness))?;
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

/// A reconciler with its last poll and its last success.
type Reconciler = (&'static str, Option<Timestamp>, Option<Timestamp>);

const RECONCILERS: &[Column<Reconciler>] = &[
    Column::new(0, "RECONCILER", |(name, ..), _| (*name).to_owned()),
    Column::new(0, "LAST POLL", |(_, poll, _), times| last(*poll, times)),
    Column::new(0, "LAST SUCCESS", |(.., success), times| last(*success, times)),
];

fn last(at: Option<Timestamp>, times: Times) -> String {
    at.map_or_else(|| "never".to_owned(), |at| times.ago(at))
}

fn reconcilers(readiness: &Readiness) -> [Reconciler; 3] {
    [
        (
            "workflow",
            readiness.last_workflow_reconciliation_poll_at,
            readiness.last_successful_workflow_reconciliation_at,
        ),
        (
            "check run",
            readiness.last_check_run_reconciliation_poll_at,
            readiness.last_successful_check_run_reconciliation_at,
        ),
        (
            "webhooks",
            readiness.last_lifecycle_reconciliation_poll_at,
            readiness.last_successful_lifecycle_reconciliation_at,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::output::{Rows, View};

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
        let times = Times { now, is_exact: false };
        let rows = Rows::new(RECONCILERS, &reconcilers(&readiness), times);
        let view = View { width: None, is_wide: false, is_colored: false };
        let expected = "\
RECONCILER  LAST POLL  LAST SUCCESS
workflow    3s ago     1h ago
check run   3s ago     never
webhooks    never      never
";
        assert_eq!(rows.text(view), expected);
    }

    #[test]
    fn the_forge_is_told_by_its_last_answer_and_its_last_failure() {
        let now = Timestamp::from_micros(1_795_251_600_000_000);
        let ago = |seconds| Some(now.minus(std::time::Duration::from_secs(seconds)));
        let of = |last_answer_at, last_failure_at, paused| ForgeStatus {
            last_answer_at,
            last_failure_at,
            last_failure_cause: last_failure_at.map(|_| "refused".into()),
            paused,
        };
        for (status, text) in [
            (None, "not configured"),
            (Some(of(None, None, false)), "no answer since svcd started"),
            (Some(of(ago(3), None, false)), "last answer 3s ago"),
            (
                Some(of(ago(3), ago(90), false)),
                "last answer 3s ago; last failure 1m ago (forge failure: refused)",
            ),
            (
                Some(of(ago(90), ago(3), true)),
                "last answer 1m ago; last failure 3s ago (forge failure: refused); cannot be reached, effects wait",
            ),
        ] {
            assert_eq!(forge(status.as_ref(), Times { now, is_exact: false }), text);
        }
    }

    #[test]
    fn another_version_is_shown_beside_ours() {
        assert_eq!(version(VERSION), VERSION);
        assert_eq!(version("9.9.9"), format!("svcd 9.9.9, svcctl {VERSION}"));
    }
}
