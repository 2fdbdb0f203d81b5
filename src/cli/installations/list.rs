//! `svcctl installations list`.

use crate::api::PageAfter;
use crate::cli::Global;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output, or_dash};
use crate::cli::watch::{WatchArgs, Watched};

/// List all installations that the service knows
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
        Format::Table => {
            let rows = items.into_iter().map(|item| {
                let id = item.installation_id.to_string();
                vec![id, or_dash(item.account), item.state.into_owned()]
            });
            output.table(&["INSTALLATION", "ACCOUNT", "STATE"], rows.collect())?;
        }
    }
    Ok(Exit::Done)
}
