//! `svcctl relay devices revoke`.

use uuid::Uuid;

use crate::api::relay::RelayDevice;
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;

/// Revoke a device permanently: its sessions end, and its key cannot be paired again
///
/// Use this for a device that was lost or is no longer trusted. The plugin can be paired again later, with a
/// new key. Revoking a device again changes nothing.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl relay devices revoke 0199f3a0-0000-7000-8000-00000000000a
")]
pub(crate) struct Args {
    /// ID of the device, as shown in the list
    #[arg(value_name = "ID")]
    device: Uuid,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    crate::cli::relay::delete::<RelayDevice>(args.device, "revoked", global, output)
}
