//! `svcctl replay`: tries one dead letter once more.

pub(crate) mod advice;

use crate::api::DeadLetterDetail;
use crate::cli::client::Client;
use crate::cli::dead_letters::{self, show};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::ids::{self, IdArg};
use crate::cli::keyed::Keyed;
use crate::cli::next_command::NextCommand;
use crate::cli::output::Output;
use crate::cli::value_parser::one_of;
use crate::cli::{Global, installations};
use crate::domain::dead_letter::ItemType;

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

    /// ID of the item as shown in the list; its beginning is enough
    #[arg(value_name = "ID", value_parser = IdArg::parse)]
    item_id: IdArg,

    #[command(flatten)]
    keyed: Keyed,

    /// Show the item and whether it may be replayed, without replaying it
    #[arg(long, conflicts_with_all = ["idempotency_key", "retries"])]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    let installation = installations::meant(&client, global)?;
    let kind = ids::kind_of(args.item_type);
    let id = args.item_id.resolve(kind, &client, installation, global)?;
    let item = format!("{}/{}/{id}", dead_letters::path(installation), args.item_type);
    if args.dry_run {
        let found = client.get(&item);
        let found =
            found.map_err(|failure| installations::item_failure(failure, &client, global))?;
        return dry_run(&found, output);
    }
    let command = NextCommand::new(&format!("replay {} {id}", args.item_type), global);
    args.keyed.run(&client, &format!("{item}/replay"), None, command, (global, output))?;
    Ok(Exit::Done)
}

fn dry_run(item: &DeadLetterDetail, output: Output) -> Result<Exit, Error> {
    show::print(item, output)?;
    if show::allows(item, "replay") {
        return Ok(Exit::Done);
    }
    let class = show::class_now(item);
    let advice = advice::of(class);
    let message = format!("the service would refuse the replay ({class})");
    Err(Error::new(Exit::NotReplayable, message).hint(advice.why).hint(advice.next))
}
