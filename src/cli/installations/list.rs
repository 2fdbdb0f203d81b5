//! `svcctl installations list`.

use crate::api::{Installation, PageAfter};
use crate::cli::Global;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Column, Format, Output, or_dash};
use crate::cli::watch::{WatchArgs, Watched};

/// List all installations that svcd knows
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl installations list
  svcctl installations list -o ndjson | jq -r 'select(.state == \"active\").installationId'
")]
pub(crate) struct Args {
    #[command(flatten)]
    watch: WatchArgs,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    let watched = Watched::List(&["installationId"]);
    args.watch.run(watched, "installations list", output, |output| show(&client, output))
}

fn show(client: &Client, output: Output) -> Result<Exit, Error> {
    let items = super::all(client)?;
    match output.format() {
        Format::Json => output.json(&PageAfter { items, next_after: None })?,
        Format::Ndjson => output.lines(&items)?,
        Format::Table if items.is_empty() => output.remark("note", "no installations"),
        Format::Table => output.table(COLUMNS, &items)?,
    }
    Ok(Exit::Done)
}

const COLUMNS: &[Column<Installation>] = &[
    Column::new(0, "INSTALLATION", |it, _| it.installation_id.to_string()),
    Column::new(1, "ACCOUNT", |it, _| or_dash(it.account.as_deref())),
    Column::state(0, "STATE", |it, _| it.state.to_string()),
];
