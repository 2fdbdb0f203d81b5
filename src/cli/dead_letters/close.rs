//! `svcctl dead-letters close`: ends one dead letter without a replay.

use crate::api::CloseBody;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::ids::{self, IdArg};
use crate::cli::keyed::Keyed;
use crate::cli::next_command::NextCommand;
use crate::cli::output::{Format, Output};
use crate::cli::replay::advice::rerun;
use crate::cli::value_parser::one_of;
use crate::cli::{Global, installations};
use crate::domain::dead_letter::ItemType;
use crate::domain::operation::OperatorReason;

/// Close one dead letter without replaying it
///
/// Nothing is sent. The dead letter leaves the list for good, and the content of the job or effect is deleted, so that it
/// can never be replayed. A release that needs the effect fails SVC_RECONCILIATION_DEADLINE_SECONDS (by default, 30 minutes)
/// after the close, unless its check run is re-run on the forge first. Before you re-run it, check on the forge that no workflow
/// run exists for the tag: svcd no longer looks for one.
///
/// The audit log shows who closed it and why. The idempotency key works as in svcctl replay.
///
/// Exits with 0 if the item was closed, by this request or by an earlier one with the same key, and with 10 if it
/// is not a dead letter, or is closed already.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Example:
  svcctl dead-letters close outbox 0199f3a0-0000-7000-8000-00000000000a --reason 'the repository was deleted'
")]
pub(crate) struct Args {
    /// Type of the item: job, or outbox for an effect
    #[arg(value_name = "TYPE", value_parser = one_of(ItemType::ALL, ItemType::as_str))]
    item_type: ItemType,

    /// ID of the item as shown in the list; its beginning is enough
    #[arg(value_name = "ID", value_parser = IdArg::parse)]
    item_id: IdArg,

    /// Why it is closed, for the audit log: up to 200 characters
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    reason: OperatorReason,

    #[command(flatten)]
    keyed: Keyed,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    let (item_type, installation) = (args.item_type, installations::meant(&client, global)?);
    let id = args.item_id.resolve(ids::kind_of(item_type), &client, installation, global)?;
    let path = super::path(installation);
    let command = NextCommand::new(&format!("dead-letters close {item_type} {id}"), global)
        .with("--reason", args.reason.as_str());
    let body = CloseBody { reason: args.reason.as_str().to_owned() };
    let path = format!("{path}/{item_type}/{id}/close");
    args.keyed.run(&client, &path, Some(&body), command, (global, output)).map_err(|error| {
        if error.exit() != Exit::NotOpen {
            return error;
        }
        let show = NextCommand::new(&format!("dead-letters show {item_type} {id}"), global);
        error.hint(format!("to see how it ended: {}", show.into_line()))
    })?;
    if item_type == ItemType::Outbox && output.format() == Format::Table {
        output.remark(
            "note",
            concat!(
                "a release that needs this effect fails SVC_RECONCILIATION_DEADLINE_SECONDS (by default, 30 minutes) after this close; if it is still needed, ",
                rerun!()
            ),
        );
    }
    Ok(Exit::Done)
}

/// Reads a reason.
pub(crate) fn reason(text: &str) -> Result<OperatorReason, &'static str> {
    OperatorReason::new(text).ok_or(OperatorReason::SHAPE)
}
