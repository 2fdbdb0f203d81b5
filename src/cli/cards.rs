//! `svcctl cards`: agent cards checked, explained, converted, signed and verified where they are
//! written, and registered with the service.

mod batch;
mod codes;
mod convert;
mod delete;
mod explain;
mod fix;
mod inputs;
mod jwks;
mod lines;
mod list;
mod pool;
mod progress;
mod push;
mod registry;
mod report;
mod rewrite;
mod schema;
mod selection;
mod several;
mod show;
mod sign;
mod trusted;
mod validate;
pub(super) mod validator;
mod verify;
mod walked;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use clap::Subcommand;

use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;

/// Validate agent cards, show what is wrong and where, sign them, and register them with svcd
///
/// An agent card is a JSON document that describes an agent. svcd accepts two variants: current (protocolVersion 1.0 or
/// 1.2) and legacy (0.3). Official A2A cards differ from both; svcctl cards convert converts them.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Validate(validate::Args),
    Explain(explain::Args),
    Convert(convert::Args),
    Codes(codes::Args),
    Schema(schema::Args),
    Push(push::Args),
    List(list::Args),
    Show(show::Args),
    Delete(delete::Args),
    Sign(sign::Args),
    Verify(verify::Args),
    Jwks(jwks::Args),
}

pub(crate) fn run(command: &Command, global: &Global, output: Output) -> Result<Exit, Error> {
    match command {
        Command::Validate(args) => validate::run(args, global, output),
        Command::Explain(args) => explain::run(args, output),
        Command::Convert(args) => convert::run(args, output),
        Command::Codes(args) => codes::run(args, output),
        Command::Schema(args) => schema::run(args, output),
        Command::Push(args) => push::run(args, global, output),
        Command::List(args) => list::run(args, global, output),
        Command::Show(args) => show::run(args, global, output),
        Command::Delete(args) => delete::run(args, global, output),
        Command::Sign(args) => sign::run(args, output),
        Command::Verify(args) => verify::run(args, global, output),
        Command::Jwks(args) => jwks::run(args, output),
    }
}

/// Most bytes of one card, unless told otherwise; those the service takes.
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// What stands for standard input.
const STDIN: &str = "-";

/// Reads a file, or standard input; `None` when it is larger than `bytes_max`.
fn read(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    // One byte more shows that it is larger; a pipe does not say how long it is.
    if path.as_os_str() == STDIN {
        io::stdin().lock().take(bytes_max + 1).read_to_end(&mut bytes)?;
    } else {
        File::open(path)?.take(bytes_max + 1).read_to_end(&mut bytes)?;
    }
    let fits = u64::try_from(bytes.len()).is_ok_and(|length| length <= bytes_max);
    Ok(fits.then_some(bytes))
}

/// Reads the one card a command is about.
fn read_one(path: &Path) -> Result<Vec<u8>, Error> {
    let shown = path.display();
    match read(path, BYTES_MAX) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(Error::new(
            Exit::LocalFile,
            format!("{shown} is larger than {BYTES_MAX} bytes, the limit for a card"),
        )),
        Err(error) => {
            Err(Error::new(Exit::LocalFile, format!("cannot read {shown}")).caused_by(error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_service_takes_what_is_read() {
        assert_eq!(usize::try_from(BYTES_MAX), Ok(crate::card::BYTES_MAX));
    }
}
