//! `svcctl relay devices list`.

use crate::api::relay::RelayDevice;
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Column, Output};
use crate::cli::pages::{Part, Table};

/// List devices, newest first, including those that were revoked
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl relay devices list
  svcctl relay devices list --all -o ndjson | jq -r 'select(.state == \"active\").device'
")]
pub(crate) struct Args {
    #[command(flatten)]
    part: Part,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    crate::cli::relay::list::<RelayDevice, _>(&args.part, global, output)
}

impl Table for RelayDevice {
    const COMMAND: &'static str = "relay devices list";
    const NOTHING: &'static str = "no devices";
    const ID: &'static [&'static str] = &["device"];
    const COLUMNS: &'static [Column<Self>] = &[
        Column::new(2, "PAIRED", |it, times| times.ago(it.created_at)),
        Column::new(1, "LAST SEEN", |it, times| times.ago(it.last_seen_at)),
        Column::new(0, "ID", |it, _| it.device.to_string()),
        Column::state(0, "STATE", |it, _| it.state.clone()),
        Column::new(4, "TOOL", |it, _| it.tool.clone()),
        Column::new(3, "SUBJECT", |it, _| it.subject.clone()),
    ];
}
