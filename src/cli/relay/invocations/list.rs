//! `svcctl relay invocations list`.

use crate::api::relay::RelayInvocation;
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Column, Output, or_dash};
use crate::cli::pages::{Part, Table};

/// List invocations, newest first, without their arguments or results
///
/// ACCESS (in JSON, effect) says what the action does with the design file: read, export, write or destructive,
/// which means that it removes something.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl relay invocations list
  svcctl relay invocations list --all -o ndjson | jq -r 'select(.state == \"unknown\").invocation'
")]
pub(crate) struct Args {
    #[command(flatten)]
    part: Part,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    crate::cli::relay::list::<RelayInvocation, _>(&args.part, global, output)
}

impl Table for RelayInvocation {
    const COMMAND: &'static str = "relay invocations list";
    const NOTHING: &'static str = "no invocations";
    const ID: &'static [&'static str] = &["invocation"];
    const COLUMNS: &'static [Column<Self>] = &[
        Column::new(1, "CHANGED", |it, times| times.ago(it.updated_at)),
        Column::new(0, "ID", |it, _| it.invocation.to_string()),
        Column::state(0, "STATE", |it, _| it.state.clone()),
        Column::new(4, "ACCESS", |it, _| it.effect.clone()),
        Column::new(1, "ACTION", |it, _| it.action.clone()),
        Column::new(2, "REASON", |it, _| or_dash(it.reason.as_ref())),
        Column::free(5, "CLIENT", |it, _| it.client.clone()),
        Column::new(3, "SUBJECT", |it, _| it.subject.clone()),
    ];
}
