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

const PATH: &str = "/api/v1/operator/installations";
const PAGE: u32 = 100;
/// More pages than this are no list but a service that turns in circles.
const PAGES_MAX: u32 = 1_000;

/// Show the installations of the app on the forge
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
        [] => Err(Error::new(Exit::NotFound, "svcd does not know any installation yet")
            .hint("install the app on the forge; its webhook makes the installation known")),
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

/// Refuses an installation that was named and that the service does not know: its lists are empty (the contract of the
/// operator API), which would read as if it had nothing to show.
pub(crate) fn ensure_known(client: &Client, global: &Global) -> Result<(), Error> {
    // Otherwise it is from the list of those that are known.
    let Some(installation) = global.installation else { return Ok(()) };
    if one(client, installation)?.is_some() {
        return Ok(());
    }
    let message = format!("svcd does not know installation {installation}");
    Err(Error::new(Exit::NotFound, message)
        .hint("list the installations it knows: svcctl installations list"))
}

/// Returns one installation; `None` if the service does not know it.
pub(crate) fn one(
    client: &Client,
    installation: InstallationId,
) -> Result<Option<Installation>, Failure> {
    let path = format!("{PATH}?limit=1");
    // One request whatever their number: the list goes by rising number, so this is the first behind its predecessor.
    let path = match installation.get() - 1 {
        0 => path,
        predecessor => format!("{path}&after={predecessor}"),
    };
    let page: PageAfter<Installation> = client.get(&path)?;
    Ok(page.items.into_iter().find(|found| found.installation_id == installation))
}

/// Says why a request for an item of an installation failed. If the installation is not known, no item can be.
pub(crate) fn item_failure(failure: Failure, client: &Client, global: &Global) -> Error {
    let unknown = failure.is_not_found().then(|| ensure_known(client, global).err()).flatten();
    // Any other error is about the second question, and the answer to the first is known.
    unknown.filter(|error| error.exit() == Exit::NotFound).unwrap_or_else(|| failure.into())
}

/// Returns all that the service knows, by rising number.
pub(crate) fn all(client: &Client) -> Result<Vec<Installation>, Failure> {
    let mut installations = Vec::new();
    let mut path = format!("{PATH}?limit={PAGE}");
    for _ in 0..PAGES_MAX {
        let page: PageAfter<Installation> = client.get(&path)?;
        installations.extend(page.items);
        let Some(after) = page.next_after else { return Ok(installations) };
        let after: InstallationId = after
            .parse()
            .map_err(|error| Failure::malformed("the number of an installation", error))?;
        path = format!("{PATH}?limit={PAGE}&after={after}");
    }
    Err(Failure::malformed("the list of installations", "it has too many pages"))
}
