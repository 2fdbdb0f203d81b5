//! `svcctl cards jwks`: the public half of a key, for those who verify.

use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;

use super::sign::Key;

/// Print the public half of a signing key, as a JSON Web Key Set
///
/// Publish the key set at an https address from which verifiers can fetch it. It contains nothing secret.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl cards jwks --key key.pem --key-id 2026-11 > jwks.json
")]
pub(crate) struct Args {
    #[command(flatten)]
    key: Key,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<Exit, Error> {
    let signer = args.key.read()?;
    output.json(&serde_json::json!({"keys": [signer.jwk()]}))?;
    Ok(Exit::Done)
}
