//! `svcctl installations`: which installations there are, and which of them is meant.

mod list;

use clap::Subcommand;

use crate::api::{Installation, PageAfter};
use crate::cli::Global;
use crate::cli::client::{Client, Failure};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::domain::id::InstallationId;

const PAGE: u32 = 100;
/// More pages than this are no list but a service that turns in circles.
const PAGES_MAX: u32 = 1_000;

/// See the installations of the app at the forge
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Args),
}

pub(crate) fn run(command: &Command, global: &Global, output: Output) -> Result<Exit, Error> {
    match command {
        Command::List(args) => list::run(args, global, output),
    }
}

/// Returns the installation that was named, or the only one there is.
pub(crate) fn meant(client: &Client, global: &Global) -> Result<InstallationId, Error> {
    if let Some(installation) = global.installation {
        return Ok(installation);
    }
    let installations = all(client)?;
    match installations.as_slice() {
        [only] => Ok(only.installation_id),
        [] => Err(Error::new(Exit::NotFound, "the service does not know any installation yet")
            .hint("install the app at the forge; its webhook makes the installation known")),
        several => {
            let error = Error::new(Exit::Usage, "there are several installations; choose one");
            Err(several.iter().take(10).fold(error, |error, installation| {
                let account = installation.account.as_deref().unwrap_or("account not known");
                let id = &installation.installation_id;
                error.hint(format!("--installation {id}  ({account}, {})", installation.state))
            }))
        }
    }
}

fn all(client: &Client) -> Result<Vec<Installation>, Failure> {
    let mut installations = Vec::new();
    let mut path = format!("/api/v1/operator/installations?limit={PAGE}");
    for _ in 0..PAGES_MAX {
        let page: PageAfter<Installation> = client.get(&path)?;
        installations.extend(page.items);
        let Some(after) = page.next_after else { return Ok(installations) };
        let after: InstallationId = after
            .parse()
            .map_err(|error| Failure::malformed("the number of an installation", error))?;
        path = format!("/api/v1/operator/installations?limit={PAGE}&after={after}");
    }
    Err(Failure::malformed("the list of installations", "it does not end"))
}
