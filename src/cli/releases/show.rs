//! `svcctl releases show`.

use uuid::Uuid;

use super::next;
use crate::api::{self, Attempt, ReleaseRun};
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::next_command::NextCommand;
use crate::cli::output::{Format, Output, ago, or_dash};
use crate::cli::pages;
use crate::cli::{Global, installations};
use crate::domain::time::Timestamp;
use crate::runtime::clock::{Clock as _, SystemClock};

/// Show one release run: its state, its attempts, and what happens next
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl releases show 0199f3a0-0000-7000-8000-00000000000a
  svcctl releases show 0199f3a0-0000-7000-8000-00000000000a -o json | jq .next
")]
pub(crate) struct Args {
    /// ID of the release run, as shown in the list
    #[arg(value_name = "ID")]
    release_run_id: Uuid,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    let path = pages::path::<ReleaseRun>(installations::meant(&client, global)?);
    let release: api::ReleaseRunDetail = client
        .get(&format!("{path}/{}", args.release_run_id))
        .map_err(|failure| installations::item_failure(failure, &client, global))?;
    match output.format() {
        Format::Table => show(&release, SystemClock::new().now(), global, output)?,
        Format::Json | Format::Ndjson => output.json(&release)?,
    }
    Ok(Exit::Done)
}

fn show(
    release: &api::ReleaseRunDetail,
    now: Timestamp,
    global: &Global,
    output: Output,
) -> Result<(), Error> {
    output.facts(facts(release, now))?;
    output.raw(b"\n")?;
    output.table(&HEADER, release.attempts.iter().map(row).collect())?;
    if let Some(letter) = &release.next.dead_letter_id {
        let show = format!("dead-letters show outbox {letter}");
        output.remark("show the dead letter", &NextCommand::new(&show, global).into_line());
    }
    Ok(())
}

/// What is not known yet is left out; what happens next stands last, where it is looked for.
fn facts(detail: &api::ReleaseRunDetail, now: Timestamp) -> Vec<(&'static str, String)> {
    let release = &detail.release_run;
    let time = |at: Timestamp| format!("{at} ({})", ago(now, at));
    let known = [
        ("release run", Some(release.release_run_id.to_string())),
        ("repository", release.repository.clone()),
        ("tag", Some(super::tag(&release.git_ref).to_owned())),
        ("commit", Some(release.head_sha.clone())),
        ("status", Some(release.status.to_string())),
        ("decision", release.decision.clone()),
        ("conclusion", release.conclusion.clone()),
        ("reason", release.failure_reason.clone()),
        ("created", Some(time(release.created_at))),
        ("changed", Some(time(release.updated_at))),
        ("finished", release.finished_at.map(time)),
        ("published", release.forge_check_published_at.map(time)),
        ("publication error", release.last_publication_error.clone()),
        (
            "blocked by",
            detail.next.reason_code.as_ref().map(|why| format!("a dead letter ({why})")),
        ),
        ("next", Some(next::sentence(detail, now))),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

const HEADER: [&str; 6] = ["ATTEMPT", "ID", "STATUS", "WORKFLOW RUN", "CHECK RUN", "REASON"];

fn row(attempt: &Attempt) -> Vec<String> {
    vec![
        attempt.number.to_string(),
        attempt.attempt_id.to_string(),
        attempt.status.clone(),
        or_dash(attempt.workflow_run_id),
        or_dash(attempt.check_run_id),
        or_dash(attempt.failure_reason.as_ref()),
    ]
}
