//! `svcctl dead-letters show`.

use crate::api::{DeadLetterDetail, DeadLetterEvent};
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::ids::{self, IdArg};
use crate::cli::next_command::NextCommand;
use crate::cli::output::{Column, Format, Output, Times, or_dash};
use crate::cli::replay::advice;
use crate::cli::value_parser::one_of;
use crate::cli::{Global, installations, releases};
use crate::domain::dead_letter::ItemType;

/// Show one item that became a dead letter: its history, and what can be done about it now
///
/// The history shows each time the item became a dead letter (dead_lettered; in JSON, died), and how that ended: replayed,
/// closed, completed (svcd found that the effect had happened after all), or superseded (it was not needed any more). The
/// command also works after a replay or a close.
///
/// The reason names what failed, the error class is the kind of the last error, and the forge failure (in JSON,
/// cause) how the last call to the forge failed. In /usr/share/doc/svcd/docs, dead-letters.md explains the reasons and error
/// classes and what to repair, and operate.md the forge failures.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl dead-letters show outbox 0199f3a0-0000-7000-8000-00000000000a
  svcctl dead-letters show outbox 0199f3a0
")]
pub(crate) struct Args {
    /// Type of the item: job, or outbox for an effect
    #[arg(value_name = "TYPE", value_parser = one_of(ItemType::ALL, ItemType::as_str))]
    item_type: ItemType,

    /// ID of the item as shown in the list; its beginning is enough
    #[arg(value_name = "ID", value_parser = IdArg::parse)]
    item_id: IdArg,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    let (item_type, installation) = (args.item_type, installations::meant(&client, global)?);
    let id = args.item_id.resolve(ids::kind_of(item_type), &client, installation, global)?;
    let item: DeadLetterDetail = client
        .get(&format!("{}/{item_type}/{id}", super::path(installation)))
        .map_err(|failure| installations::item_failure(failure, &client, global))?;
    print(&item, output)?;
    if output.format() == Format::Table {
        let next = |command: &str| NextCommand::new(&format!("{command} {item_type} {id}"), global);
        if allows(&item, "replay") {
            output.remark("to replay this item", &next("replay").into_line());
        }
        if allows(&item, "close") {
            let close = next("dead-letters close").with("--reason", "TEXT");
            output.remark("to close it without a replay", &close.into_line());
        }
    }
    Ok(Exit::Done)
}

/// Says whether something may be done with an item now. A service that tells no history shows open dead letters only.
pub(crate) fn allows(item: &DeadLetterDetail, what: &str) -> bool {
    if item.history.is_empty() {
        return what == "replay" && item.dead_letter.replay_safe;
    }
    item.allowed.iter().any(|allowed| allowed == what)
}

/// Returns why an item may, or may not, be replayed as it is now.
pub(crate) fn class_now(item: &DeadLetterDetail) -> &str {
    match item.history.last().map(|last| last.event.as_ref()) {
        Some("died") | None => &item.dead_letter.replay_class,
        Some("closed") => "closed",
        _ => "not_dead",
    }
}

/// Prints one dead letter.
pub(crate) fn print(item: &DeadLetterDetail, output: Output) -> Result<(), Error> {
    match output.format() {
        Format::Table => {
            output.facts(facts(item, output.times()))?;
            if !item.history.is_empty() {
                output.raw(b"\n")?;
                output.table(HISTORY, &item.history)?;
            }
        }
        Format::Json | Format::Ndjson => output.json(item)?,
    }
    Ok(())
}

/// Returns the status for people: what was closed is no dead letter any more, though its row keeps that status.
fn status<'a>(item: &'a DeadLetterDetail, class: &'a str) -> &'a str {
    if class == "closed" { class } else { item.status.as_deref().unwrap_or("deleted") }
}

/// What does not apply to the item is left out.
fn facts(item: &DeadLetterDetail, times: Times) -> Vec<(&'static str, String)> {
    let letter = &item.dead_letter;
    let class = class_now(item);
    let advice = match item.status.as_deref() {
        Some("completed") => advice::DONE,
        _ => advice::of(class),
    };
    let safe = super::yes_or_no(allows(item, "replay"));
    let does = letter.effect_kind.as_deref().or(item.job_action.as_deref());
    let attempt = item.attempt_id.zip(item.attempt_number);
    let known = [
        ("item", Some(format!("{} {}", letter.item_type, letter.item_id))),
        ("what it does", does.map(str::to_owned)),
        ("repository", Some(letter.repository.clone().unwrap_or_else(|| "-".to_owned()))),
        ("tag", item.git_ref.as_deref().map(|git_ref| releases::tag(git_ref).to_owned())),
        ("release run", letter.release_run_id.map(|id| id.to_string())),
        ("attempt", attempt.map(|(id, number)| format!("{number} ({id})"))),
        ("status", Some(status(item, class).to_owned())),
        ("failed", Some(times.both(letter.failed_at))),
        ("reason", Some(letter.reason_code.to_string())),
        ("error class", Some(letter.error_class.to_string())),
        ("forge failure", Some(letter.cause.as_deref().unwrap_or("-").to_owned())),
        ("tries", Some(letter.attempt_count.to_string())),
        ("replay-safe", Some(format!("{safe}, {class}: {}", advice.why))),
        ("next step", Some(advice.next.to_owned())),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

const HISTORY: &[Column<DeadLetterEvent>] = &[
    Column::new(0, "TIME", |it, times| times.ago(it.at)),
    Column::state(0, "EVENT", |it, _| super::event_text(&it.event).to_owned()),
    Column::new(1, "ACTOR", |it, _| or_dash(it.actor.as_ref())),
    Column::new(3, "AUDIT EVENT", |it, _| or_dash(it.audit_event_id)),
    Column::free(2, "REASON", |it, _| or_dash(it.reason.as_ref().or(it.reason_code.as_ref()))),
];
