//! `svcctl relay devices list`.

use crate::api::relay::RelayDevice;
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::pages::{Paging, Part, Table};
use crate::domain::time::Timestamp;

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
    const HEADER: &'static [&'static str] =
        &["PAIRED", "LAST SEEN", "ID", "STATE", "TOOL", "SUBJECT"];

    fn columns(&self, now: Timestamp, paging: Paging) -> Vec<String> {
        vec![
            paging.age(now, self.created_at),
            paging.age(now, self.last_seen_at),
            self.device.to_string(),
            self.state.clone(),
            self.tool.clone(),
            self.subject.clone(),
        ]
    }
}
