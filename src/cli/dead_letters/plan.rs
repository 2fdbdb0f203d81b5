//! `svcctl dead-letters plan`: writes the names of dead letters to a file, and sends nothing.

pub(crate) mod document;

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use document::{ITEMS_MAX, PlanAction, PlanHead, PlanItem, PlanSummary, PlanWriter};
use serde::{Deserialize, Serialize};

use super::list::Selection;
use crate::api::{DeadLetter, DeadLetterFilter, Filter as _};
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::next_command::{NextCommand, quoted};
use crate::cli::output::{Column, Format, Output};
use crate::cli::pages::{self, InstallationScope, Paging, Wanted};
use crate::cli::replay::advice;
use crate::cli::{Global, installations};
use crate::domain::id::InstallationId;
use crate::domain::operation::OperatorReason;
use crate::domain::page::PAGE_MAX;
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::random::{Ids, SystemEntropy};

/// Most pages of one installation: 100,000 items.
const PAGES_MAX: u32 = 1_000;

/// Write the dead letters that match the filters to a plan, which svcctl dead-letters apply replays or closes
///
/// Nothing is replayed or closed. The plan names each item and when it failed, counts them by reason and replay class, and
/// says what it leaves out: items that must not be replayed. A plan can be applied for one week, only to the database from which it
/// was written, and only if the file was not edited.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl dead-letters plan --reason forge_dispatch_rejected --file plan.json
  svcctl dead-letters plan --all-installations --since 2h --file plan.json
  svcctl dead-letters plan --replay-safe=false --close 'the repository was deleted' --file plan.json
  jq .summary plan.json
")]
pub(crate) struct Args {
    #[command(flatten)]
    selection: Selection,

    #[command(flatten)]
    scope: InstallationScope,

    /// Write a plan that closes the items instead of replaying them, with this reason for the audit log
    ///
    /// The reason has up to 200 characters. Items that could be replayed are included, unless --replay-safe=false is given.
    #[arg(long, value_name = "TEXT", value_parser = super::reason)]
    close: Option<OperatorReason>,

    /// File to write the plan to
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,

    /// Overwrite the file if it exists; only a regular file is overwritten
    #[arg(long)]
    force: bool,
}

/// What is printed in the machine formats.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    plan_id: &'a str,
    file: &'a Path,
    action: PlanAction,
    #[serde(flatten)]
    summary: &'a PlanSummary,
}

/// Which database a service has.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoreIdentity {
    #[serde(default)]
    store_id: Option<String>,
    #[serde(default)]
    version: String,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let now = SystemClock::new().now();
    let filter = args.selection.filter(now);
    let contradiction = filter.contradiction().or_else(|| never_replayed(&filter, args));
    if let Some(contradiction) = contradiction {
        return Err(Error::new(Exit::Usage, contradiction));
    }
    // Before anything is asked for; the end decides once more.
    check_place(args)?;
    let client = Client::operator(global)?;
    let action = if args.close.is_some() { PlanAction::Close } else { PlanAction::Replay };
    let head = PlanHead {
        plan_id: Ids::new(Box::new(SystemEntropy::new())).uuid(now).to_string(),
        created_at: now,
        store_id: store_id(&client)?,
        action,
        reason: args.close.as_ref().map(|reason| reason.as_str().to_owned()),
        installation_ids: meant(args.scope, &client, global)?,
        all_installations: args.scope.all_installations,
        filters: filter
            .parameters()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    };
    let fresh = tempfile::NamedTempFile::new_in(folder(&args.file))
        .map_err(|error| unwritten(&args.file, error))?;
    let written = write(&client, fresh.as_file(), head, filter, &args.file)?;
    let (head, summary) = written;
    if summary.items == 0 {
        installations::ensure_known(&client, global)?;
        return Err(empty(&summary));
    }
    keep(fresh, args)?;
    print(&head, &summary, args, global, output)?;
    Ok(Exit::Done)
}

fn never_replayed(filter: &DeadLetterFilter, args: &Args) -> Option<String> {
    (filter.replay_safe == Some(false) && args.close.is_none()).then(|| {
        "items that must not be replayed can only be closed; omit --replay-safe=false, or give the reason with --close"
            .to_owned()
    })
}

fn meant(
    scope: InstallationScope,
    client: &Client,
    global: &Global,
) -> Result<Vec<InstallationId>, Error> {
    if scope.all_installations {
        let all = installations::all(client)?;
        return Ok(all.into_iter().map(|known| known.installation_id).collect());
    }
    Ok(vec![installations::meant(client, global)?])
}

/// Returns the UUID of the database that a service has.
pub(crate) fn store_id(client: &Client) -> Result<String, Error> {
    let store: StoreIdentity = client.get("/api/v1/status").map_err(|failure| {
        let is_absent = failure.is_not_found();
        let error = Error::from(failure);
        if is_absent { error.hint("use the control socket or the operator address") } else { error }
    })?;
    store.store_id.ok_or_else(|| {
        let message = format!("svcd {} does not say which database it has", store.version);
        Error::new(Exit::Temporary, message).hint(
            "if it is older than svcctl, update it; otherwise check what is wrong: svcctl status",
        )
    })
}

/// Writes the plan a page at a time.
fn write(
    client: &Client,
    file: &std::fs::File,
    head: PlanHead,
    filter: DeadLetterFilter,
    path: &Path,
) -> Result<(PlanHead, PlanSummary), Error> {
    let failed = |error| unwritten(path, error);
    let is_close = head.reason.is_some();
    let installations = head.installation_ids.clone();
    let mut plan = PlanWriter::begin(BufWriter::new(file), head).map_err(failed)?;
    let wanted = Wanted { paging: Paging::pages_of(PAGE_MAX), before: None, filter };
    'all: for installation in installations {
        let list = super::path(installation);
        let mut before = None;
        for _ in 0..PAGES_MAX {
            let page = pages::page::<DeadLetter>(client, &list, &wanted, before.as_deref())?;
            for letter in &page.items {
                if !is_close && !letter.replay_safe {
                    let why = advice::of(&letter.replay_class).why;
                    plan.summary.leave_out(&letter.replay_class, why);
                } else if plan.summary.items == ITEMS_MAX {
                    plan.summary.truncated = true;
                    break 'all;
                } else {
                    plan.item(&planned(installation, letter)).map_err(failed)?;
                }
            }
            before = page.next_before;
            if before.is_none() {
                break;
            }
        }
        plan.summary.truncated |= before.is_some();
    }
    plan.end().map_err(failed)
}

fn planned(installation_id: InstallationId, letter: &DeadLetter) -> PlanItem {
    PlanItem {
        installation_id,
        item_type: letter.item_type.to_string(),
        item_id: letter.item_id.clone(),
        failed_at: letter.failed_at,
        reason_code: letter.reason_code.to_string(),
        replay_class: letter.replay_class.to_string(),
    }
}

/// Refuses a name that leads to something already, except to a regular file with --force: what is renamed to the name of a
/// device or a link would take its place.
fn check_place(args: &Args) -> Result<(), Error> {
    match std::fs::symlink_metadata(&args.file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(unwritten(&args.file, error)),
        Ok(_) if !args.force => Err(exists(&args.file)),
        Ok(found) if found.is_file() => Ok(()),
        Ok(_) => {
            let message =
                format!("{} is not a regular file; nothing was written", args.file.display());
            Err(Error::new(Exit::LocalFile, message).hint("name another file"))
        }
    }
}

/// Gives the file its name. At every moment the name leads to a whole plan, or to what it led to before.
fn keep(fresh: tempfile::NamedTempFile, args: &Args) -> Result<(), Error> {
    fresh.as_file().sync_all().map_err(|error| unwritten(&args.file, error))?;
    check_place(args)?;
    let kept =
        if args.force { fresh.persist(&args.file) } else { fresh.persist_noclobber(&args.file) };
    match kept {
        Ok(_) => Ok(()),
        Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => {
            Err(exists(&args.file))
        }
        Err(failed) => Err(unwritten(&args.file, failed.error)),
    }
}

fn folder(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn exists(file: &Path) -> Error {
    let message = format!("{} exists already; nothing was written", file.display());
    Error::new(Exit::LocalFile, message).hint("name another file, or overwrite it with --force")
}

fn unwritten(file: &Path, error: io::Error) -> Error {
    Error::new(Exit::LocalFile, format!("cannot write the plan {}", file.display()))
        .caused_by(error)
}

fn empty(summary: &PlanSummary) -> Error {
    let left: usize = summary.left_out.iter().map(|left| left.count).sum();
    let error = Error::new(Exit::NotFound, "no dead letter matches, so no plan was written");
    if left == 0 {
        return error.hint("count the dead letters: svcctl dead-letters summary");
    }
    let reasons = summary.left_out.iter().map(|left| {
        format!("{} must not be replayed ({}): {}", left.count, left.replay_class, left.why)
    });
    reasons
        .fold(error, Error::hint)
        .hint("to close items that are not needed any more, add --close TEXT")
}

fn print(
    head: &PlanHead,
    summary: &PlanSummary,
    args: &Args,
    global: &Global,
    output: Output,
) -> Result<(), Error> {
    if output.format() != Format::Table {
        let (plan_id, action) = (head.plan_id.as_str(), head.action);
        let written = Written { plan_id, file: &args.file, action, summary };
        return Ok(output.json(&written)?);
    }
    show(head, summary, output)?;
    let apply = apply_command(head, &args.file, global).into_line();
    output.remark("to apply it", &apply);
    Ok(())
}

/// Shows what is in a plan, and what is not.
pub(crate) fn show(head: &PlanHead, summary: &PlanSummary, output: Output) -> Result<(), Error> {
    let mut facts = vec![
        ("plan", head.plan_id.clone()),
        ("created", head.created_at.to_string()),
        ("action", head.action.as_str().to_owned()),
        ("items", summary.items.to_string()),
    ];
    if let Some(reason) = &head.reason {
        facts.push(("reason", reason.clone()));
    }
    output.facts(facts)?;
    for (name, counts) in [
        ("INSTALLATION", &summary.installations),
        ("REASON", &summary.reasons),
        ("REPLAY CLASS", &summary.replay_classes),
    ] {
        output.raw(b"\n")?;
        let columns: [Column<(String, usize)>; 2] = [
            Column::new(0, "ITEMS", |(_, count), _| count.to_string()),
            Column::new(0, name, |(name, _), _| name.clone()),
        ];
        let counts: Vec<_> = counts.clone().into_iter().collect();
        output.table(&columns, &counts)?;
    }
    if !summary.left_out.is_empty() {
        output.raw(b"\n")?;
        output.table(LEFT_OUT, &summary.left_out)?;
    }
    if summary.truncated {
        let note = format!("there are more; a plan has at most {ITEMS_MAX} items");
        output.remark("note", &note);
    }
    Ok(())
}

const LEFT_OUT: &[Column<document::LeftOut>] = &[
    Column::new(0, "LEFT OUT", |it, _| it.count.to_string()),
    Column::new(0, "REPLAY CLASS", |it, _| it.replay_class.clone()),
    Column::free(1, "WHY", |it, _| it.why.clone()),
];

/// Returns the command that applies a plan.
pub(crate) fn apply_command(head: &PlanHead, file: &Path, global: &Global) -> NextCommand {
    let file = file.to_string_lossy();
    scoped(&format!("dead-letters apply {}", quoted(&file)), head, global)
}

/// Returns the command that writes a plan of the same kind again, to a file.
pub(crate) fn plan_command(head: &PlanHead, file: &Path, global: &Global) -> NextCommand {
    let mut filter = DeadLetterFilter::default();
    for (name, value) in &head.filters {
        // What is a dead letter again became one after the end of a period. A filter that is
        // not known here is of a plan that was edited.
        if name != "until" {
            drop(filter.set(name, value));
        }
    }
    let command = scoped("dead-letters plan", head, global);
    pages::filtered(command, &filter)
        .with_some("--close", head.reason.as_deref())
        .with("--file", &file.to_string_lossy())
}

/// Returns a command about the installations of a plan.
pub(crate) fn scoped(command: &str, head: &PlanHead, global: &Global) -> NextCommand {
    let start = if head.all_installations { NextCommand::of_all } else { NextCommand::new };
    start(command, global)
}
