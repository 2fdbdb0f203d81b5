//! `svcctl relay invocations list`.

use crate::api::relay::RelayInvocation;
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Output, or_dash};
use crate::cli::pages::{Paging, Part, Table};
use crate::domain::time::Timestamp;

/// List invocations, newest first, without their arguments or results
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
    const HEADER: &'static [&'static str] =
        &["CHANGED", "ID", "STATE", "EFFECT", "ACTION", "REASON", "CLIENT", "SUBJECT"];

    fn columns(&self, now: Timestamp, paging: Paging) -> Vec<String> {
        vec![
            paging.age(now, self.updated_at),
            self.invocation.to_string(),
            self.state.clone(),
            self.effect.clone(),
            self.action.clone(),
            or_dash(self.reason.as_ref()),
            self.client.clone(),
            self.subject.clone(),
        ]
    }
}
