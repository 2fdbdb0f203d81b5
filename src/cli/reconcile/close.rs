//! `svcctl reconcile close`: acknowledges one reconciliation that was given up.

use crate::api::{CloseBody, ReconciliationItem};
use crate::cli::client::Client;
use crate::cli::dead_letters::reason;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::ids::IdArg;
use crate::cli::keyed::Keyed;
use crate::cli::next_command::NextCommand;
use crate::cli::output::Output;
use crate::cli::{Global, installations, pages};
use crate::domain::id::IdKind;
use crate::domain::operation::OperatorReason;

/// Close one reconciliation that was given up
///
/// An item is given up if its data cannot be read, or if work on it was cut off eight times, for instance by a crash. The
/// second example lists these items. Closing an item records that you have seen it: the signal for such items no longer
/// counts it. Nothing else changes: at the deadline of the item, svcd still decides as if the forge had given no usable answer, so
/// a release that is undecided then ends without success. The audit log shows who closed it and why. The idempotency key works
/// as in svcctl replay.
///
/// Exits with 0 if the item was closed, by this request or by an earlier one with the same key, and with 10 if it was not
/// given up, or is closed already.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl reconcile close 0199f3a0-0000-7000-8000-00000000000a --reason 'the release was repeated'
  svcctl reconcile list --status dead_letter --closed=false
")]
pub(crate) struct Args {
    /// ID of a reconciliation that was given up, or its beginning
    #[arg(value_name = "ID", value_parser = IdArg::parse)]
    reconciliation_id: IdArg,

    /// Why it is closed, for the audit log: up to 200 characters
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    reason: OperatorReason,

    #[command(flatten)]
    keyed: Keyed,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    let installation = installations::meant(&client, global)?;
    let kind = IdKind::ReconciliationItem;
    let id = args.reconciliation_id.resolve(kind, &client, installation, global)?;
    let command = NextCommand::new(&format!("reconcile close {id}"), global)
        .with("--reason", args.reason.as_str());
    let body = CloseBody { reason: args.reason.as_str().to_owned() };
    let path = format!("{}/{id}/close", pages::path::<ReconciliationItem>(installation));
    args.keyed.run(&client, &path, Some(&body), command, (global, output)).map_err(|error| {
        if error.exit() != Exit::NotOpen {
            return error;
        }
        let list = "reconcile list --status dead_letter --closed=false";
        let list = NextCommand::new(list, global).into_line();
        error.hint(format!("to list the items that can be closed: {list}"))
    })?;
    Ok(Exit::Done)
}
