//! `svcctl relay sessions list`.

use crate::api::relay::RelaySession;
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Column, Output};
use crate::cli::pages::{Part, Table};

/// List sessions, newest first, including those that have ended
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl relay sessions list
  svcctl relay sessions list --all -o ndjson | jq -r 'select(.state == \"connected\").session'
")]
pub(crate) struct Args {
    #[command(flatten)]
    part: Part,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    crate::cli::relay::list::<RelaySession, _>(&args.part, global, output)
}

impl Table for RelaySession {
    const COMMAND: &'static str = "relay sessions list";
    const NOTHING: &'static str = "no sessions";
    const ID: &'static [&'static str] = &["session"];
    const COLUMNS: &'static [Column<Self>] = &[
        Column::new(2, "OPENED", |it, times| times.ago(it.created_at)),
        Column::new(1, "LAST SEEN", |it, times| times.ago(it.last_seen_at)),
        Column::new(0, "ID", |it, _| it.session.to_string()),
        Column::state(0, "STATE", |it, _| it.state.clone()),
        Column::new(4, "TOOL", |it, _| it.tool.clone()),
        Column::new(5, "DEVICE", |it, _| it.device.to_string()),
        Column::new(3, "SUBJECT", |it, _| it.subject.clone()),
    ];
}
