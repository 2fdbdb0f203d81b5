//! `svcctl releases show`.

use super::next;
use crate::api::{self, Attempt, ReleaseRun, ReleaseStep};
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::ids::IdArg;
use crate::cli::next_command::NextCommand;
use crate::cli::output::{Column, Format, Output, Times, or_dash};
use crate::cli::pages;
use crate::cli::watch::{WatchArgs, Watched};
use crate::cli::{Global, dead_letters, installations, status};
use crate::domain::id::IdKind;
use crate::domain::time::Timestamp;

/// Show one release run: its state, its attempts, and what happens next
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl releases show v1.3.0
  svcctl releases show 0199f3a0-0000-7000-8000-00000000000a
  svcctl releases show v1.3.0 --watch
  svcctl releases show 0199f3a0-0000-7000-8000-00000000000a -o json | jq .next
")]
pub(crate) struct Args {
    /// Tag of the release run, or its ID as shown in the list; the beginning of the ID is enough
    #[arg(value_name = "TAG|ID", value_parser = IdArg::parse_or_tag)]
    release_run: IdArg,

    #[command(flatten)]
    watch: WatchArgs,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    let installation = installations::meant(&client, global)?;
    let id = args.release_run.resolve(IdKind::ReleaseRun, &client, installation, global)?;
    let path = format!("{}/{id}", pages::path::<ReleaseRun>(installation));
    args.watch.run(Watched::Document, "releases show", output, |output| {
        print(&ask(&client, &path, global)?, global, output)?;
        Ok(Exit::Done)
    })
}

/// One release run.
pub(super) struct ShownRelease {
    pub(super) release: api::ReleaseRunDetail,
    /// Its next step waits for a connection to the forge.
    is_cut_off: bool,
}

impl ShownRelease {
    /// Returns what happens next.
    pub(super) fn next(&self, times: Times) -> String {
        next::sentence(&self.release, self.is_cut_off, times)
    }
}

/// Asks for one release run.
pub(super) fn ask(client: &Client, path: &str, global: &Global) -> Result<ShownRelease, Error> {
    let release = client.get(path);
    let release: api::ReleaseRunDetail =
        release.map_err(|failure| installations::item_failure(failure, client, global))?;
    let is_cut_off = next::calls_forge(&release) && status::is_forge_unreachable(client)?;
    Ok(ShownRelease { release, is_cut_off })
}

/// Prints one release run.
pub(super) fn print(found: &ShownRelease, global: &Global, output: Output) -> Result<(), Error> {
    match output.format() {
        Format::Table => show(found, global, output),
        Format::Json | Format::Ndjson => Ok(output.json(&found.release)?),
    }
}

fn show(found: &ShownRelease, global: &Global, output: Output) -> Result<(), Error> {
    output.facts(facts(found, output.times()))?;
    let release = &found.release;
    output.raw(b"\n")?;
    output.table(ATTEMPTS, &release.attempts)?;
    if !release.steps.is_empty() {
        output.raw(b"\n")?;
        output.table(STEPS, &release.steps)?;
    }
    if let Some(letter) = &release.next.dead_letter_id {
        let show = format!("dead-letters show outbox {letter}");
        output.remark("show the dead letter", &NextCommand::new(&show, global).into_line());
    }
    Ok(())
}

/// What is not known yet is left out; what happens next stands last, where it is looked for.
fn facts(found: &ShownRelease, times: Times) -> Vec<(&'static str, String)> {
    let detail = &found.release;
    let release = &detail.release_run;
    let time = |at: Timestamp| times.both(at);
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
        ("next", Some(found.next(times))),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

const ATTEMPTS: &[Column<Attempt>] = &[
    Column::new(0, "ATTEMPT", |it, _| it.number.to_string()),
    Column::new(3, "ID", |it, _| it.attempt_id.to_string()),
    Column::state(0, "STATUS", |it, _| it.status.clone()),
    Column::new(1, "WORKFLOW RUN", |it, _| or_dash(it.workflow_run_id)),
    Column::new(4, "CHECK RUN", |it, _| or_dash(it.check_run_id)),
    Column::new(2, "REASON", |it, _| or_dash(it.failure_reason.as_ref())),
];

const STEPS: &[Column<ReleaseStep>] = &[
    Column::new(0, "TIME", |it, times| times.ago(it.at)),
    Column::new(1, "ATTEMPT", |it, _| or_dash(it.attempt_number)),
    Column::state(0, "STEP", |it, _| dead_letters::event_text(&it.step).to_owned()),
    Column::new(2, "ITEM", |it, _| {
        let effect = it.outbox_id.map(|id| format!("outbox {id}"));
        or_dash(effect.or_else(|| it.reconciliation_id.map(|id| format!("reconciliation {id}"))))
    }),
    Column::new(3, "REASON", |it, _| or_dash(it.code.as_ref())),
];
