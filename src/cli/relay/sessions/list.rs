//! `svcctl relay sessions list`.

use crate::api::relay::RelaySession;
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::pages::{Paging, Part, Table};
use crate::domain::time::Timestamp;

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
    const HEADER: &'static [&'static str] =
        &["OPENED", "LAST SEEN", "ID", "STATE", "TOOL", "DEVICE", "SUBJECT"];

    fn columns(&self, now: Timestamp, paging: Paging) -> Vec<String> {
        vec![
            paging.age(now, self.created_at),
            paging.age(now, self.last_seen_at),
            self.session.to_string(),
            self.state.clone(),
            self.tool.clone(),
            self.device.to_string(),
            self.subject.clone(),
        ]
    }
}
