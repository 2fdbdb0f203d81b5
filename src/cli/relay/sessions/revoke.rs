//! `svcctl relay sessions revoke`.

use uuid::Uuid;

use crate::api::relay::RelaySession;
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;

/// End a session: its plugin is disconnected, and invocations that have not begun are cancelled
///
/// If an invocation is running, its outcome will be unknown: check the file. The device stays paired; see
/// svcctl relay devices revoke. Ending a session again changes nothing.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl relay sessions revoke 0199f3a0-0000-7000-8000-00000000000a
")]
pub(crate) struct Args {
    /// ID of the session, as shown in the list
    #[arg(value_name = "ID")]
    session: Uuid,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    crate::cli::relay::delete::<RelaySession>(args.session, "ended", global, output)
}
