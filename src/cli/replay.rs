//! `svcctl replay`: tries one dead letter once more.
//!
//! The idempotency key is shown before anything is sent, so that whatever happens to this process
//! or the connection, the same replay can be asked for again and happens at most once.

pub(crate) mod advice;

use std::time::Duration;

use uuid::Uuid;

use crate::api::{DeadLetterDetail, ReplayBody};
use crate::cli::client::{Client, Failure};
use crate::cli::dead_letters::{self, show};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::next_command::NextCommand;
use crate::cli::output::{Format, Output};
use crate::cli::value_parser::one_of;
use crate::cli::{Global, installations, retry};
use crate::domain::dead_letter::{ItemType, OperationId};
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::notify::Notify;
use crate::runtime::random::{Ids, SystemEntropy};

/// Replay one dead letter that is safe to replay
///
/// A replay happens at most once for each idempotency key, however often it is requested. By default, svcctl
/// generates a new key, and prints it to standard error before it sends the request. If the service is busy or the
/// connection is lost, the request is repeated with the same key. To repeat the request later without replaying the
/// item twice, pass the key with --idempotency-key.
///
/// Exits with 0 if the item was replayed, by this request or by an earlier one with the same key,
/// and with 5 if the item must not be replayed.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl replay job 0199f3a0-0000-7000-8000-00000000000a --dry-run
  svcctl replay job 0199f3a0-0000-7000-8000-00000000000a
  svcctl replay job 0199f3a0-0000-7000-8000-00000000000a --idempotency-key KEY
")]
pub(crate) struct Args {
    /// Type of the item: job, or outbox for an effect
    #[arg(value_name = "TYPE", value_parser = one_of(ItemType::ALL, ItemType::as_str))]
    item_type: ItemType,

    /// ID of the item, as shown in the list
    #[arg(value_name = "ID")]
    item_id: Uuid,

    /// Key of an earlier request for the same replay [default: a new key]
    #[arg(long, value_name = "KEY", value_parser = operation)]
    idempotency_key: Option<OperationId>,

    /// Maximum number of retries if the service is busy or the connection is lost
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=20))]
    retries: u32,

    /// Show the item and whether it may be replayed, without replaying it
    #[arg(long, conflicts_with_all = ["idempotency_key", "retries"])]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    let installation = installations::meant(&client, global)?;
    let absent = |failure| installations::item_failure(failure, &client, global);
    let item = format!("{}/{}/{}", dead_letters::path(installation), args.item_type, args.item_id);
    if args.dry_run {
        let found = client.get(&item).map_err(absent)?;
        return dry_run(&found, output);
    }
    let key = args.idempotency_key.clone().unwrap_or_else(new_key);
    // A key that cannot be shown could not be used again, so nothing is sent then.
    output.announce("idempotency-key", key.as_str())?;
    let replayed = send(&client, &format!("{item}/replay"), &key, args.retries, output).map_err(
        |failure| match is_decided(&failure) {
            true => absent(failure),
            false => with_same_key(failure, args, global, &key),
        },
    )?;
    print(&replayed, output)?;
    Ok(Exit::Done)
}

fn dry_run(item: &DeadLetterDetail, output: Output) -> Result<Exit, Error> {
    show::print(item, output)?;
    if item.dead_letter.replay_safe {
        return Ok(Exit::Done);
    }
    let advice = advice::of(&item.replay_class);
    let message = format!("the service would refuse the replay ({})", item.replay_class);
    Err(Error::new(Exit::NotReplayable, message).hint(advice.why).hint(advice.next))
}

fn send(
    client: &Client,
    path: &str,
    key: &OperationId,
    retries: u32,
    output: Output,
) -> Result<ReplayBody, Failure> {
    let mut failures = 0;
    loop {
        let failure = match client.post(path, key.as_str()) {
            Ok(replayed) => return Ok(replayed),
            Err(failure) => failure,
        };
        failures += 1;
        let wait = failure.setback().and_then(|setback| retry::wait(setback, failures, retries));
        let Some(wait) = wait else { return Err(failure) };
        remark(wait, &failure, output);
        // Only the signal that ends the process interrupts this wait.
        let _over = Notify::new().pause(wait);
    }
}

fn remark(wait: Duration, failure: &Failure, output: Output) {
    let why = match failure {
        Failure::Unreachable { .. } => "the service cannot be reached",
        Failure::Lost { .. } => "the connection was lost",
        Failure::Refused { .. } | Failure::NotOurs { .. } | Failure::Malformed { .. } => {
            "the service is busy"
        }
    };
    let text = format!("{why}; retrying with the same key in {} ms", wait.as_millis());
    output.remark("note", &text);
}

fn is_decided(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused { .. }) && failure.setback().is_none()
}

/// Adds how to ask again for this very replay, which the service has not decided about.
fn with_same_key(failure: Failure, args: &Args, global: &Global, key: &OperationId) -> Error {
    let error = Error::from(failure);
    let next_command =
        NextCommand::new(&format!("replay {} {}", args.item_type, args.item_id), global)
            .with("--idempotency-key", key.as_str());
    error.hint(format!("to retry later with the same key: {}", next_command.into_line()))
}

fn print(replayed: &ReplayBody, output: Output) -> Result<(), Error> {
    match output.format() {
        Format::Table => {
            let (outcome, event) = (&replayed.outcome, &replayed.audit_event_id);
            output.facts(vec![
                ("outcome", outcome.to_string()),
                ("audit event", event.to_string()),
            ])?;
        }
        Format::Json | Format::Ndjson => output.json(replayed)?,
    }
    Ok(())
}

fn new_key() -> OperationId {
    let key = Ids::new(Box::new(SystemEntropy::new())).uuid(SystemClock::new().now());
    OperationId::new(&key.to_string()).expect("a UUID is visible ASCII")
}

fn operation(text: &str) -> Result<OperationId, &'static str> {
    OperationId::new(text).ok_or("1 to 128 visible ASCII characters without spaces")
}
