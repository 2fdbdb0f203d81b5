//! `svcctl relay invocations show`.

use uuid::Uuid;

use super::facts;
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;

/// Show one invocation: who proposed it, who decided, and its outcome
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl relay invocations show 0199f3a0-0000-7000-8000-00000000000a
")]
pub(crate) struct Args {
    /// ID of the invocation, as shown in the list
    #[arg(value_name = "ID")]
    invocation: Uuid,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    crate::cli::relay::show(args.invocation, facts, global, output)
}
