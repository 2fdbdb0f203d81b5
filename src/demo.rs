//! The demonstration: the main job, end to end, with the real binaries over real sockets.
//!
//! `stage` sets up a daemon, a simulated forge and an operator's environment; `story` is what happens
//! on it: effects that fail and are replayed, releases that end well or badly, a signal. `relay` is another
//! story, about an agent, an open design file and the person who approves; `plugin` is that person's plugin. Nothing is
//! claimed that was not answered: each expectation is checked, and the first one that does not hold ends the
//! demonstration with an error.

pub mod plugin;
mod relay;
mod stage;
mod story;

use std::io;
use std::path::PathBuf;

use stage::Stage;

/// Why the demonstration did not end well.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The daemon's binary is not beside this one.
    #[error("there is no svcd at {0}")]
    NoDaemon(PathBuf),
    /// The system refused something.
    #[error("cannot {0}: {1}")]
    System(&'static str, io::Error),
    /// Something did not come in time.
    #[error("waited 10 seconds for {0}, which did not happen")]
    Waited(&'static str),
    /// The plugin has no connection, or no key.
    #[error(transparent)]
    Plugin(#[from] plugin::Error),
    /// The person in front of the terminal said no.
    #[error("it was declined, so nothing was done")]
    Declined,
    /// An answer was not what it must be.
    #[error("{what}: expected {expected}, found {found}")]
    Unexpected {
        /// What was asked.
        what: String,
        /// What must be.
        expected: String,
        /// What is.
        found: String,
    },
}

/// Where the demonstration's text goes.
type Print<'a> = &'a mut dyn FnMut(&str) -> io::Result<()>;
/// Asks the person in front of the terminal; returns whether they agree.
type Ask<'a> = &'a mut dyn FnMut() -> io::Result<bool>;

/// Runs the demonstration. With `keep`, everything is left running until Enter is pressed.
///
/// # Errors
/// The first expectation that did not hold. Everything is stopped and removed all the same.
pub fn run(keep: bool, print: Print<'_>) -> Result<(), Error> {
    let mut stage = Stage::start(&[])?;
    if let Err(error) = story::tell(&mut stage, print) {
        // Before the stage is taken down, and its log with it.
        print(&stage.log_tail()).map_err(|error| Error::System("print", error))?;
        return Err(error);
    }
    if keep {
        let failed = |error| Error::System("print", error);
        print(&stage.how_to_play_on()?).map_err(failed)?;
        io::stdin().read_line(&mut String::new()).map_err(failed)?;
    }
    stage.stop()
}

/// Runs the demonstration of the relay. `ask` is called each time a person decides in the plugin.
///
/// # Errors
/// The first expectation that did not hold. Everything is stopped and removed all the same.
pub fn run_relay(print: Print<'_>, ask: Ask<'_>) -> Result<(), Error> {
    let stage = Stage::start(&relay::SETTINGS)?;
    match relay::tell(&stage, print, ask) {
        Ok(()) => stage.stop(),
        Err(Error::Declined) => Err(Error::Declined),
        Err(error) => {
            print(&stage.log_tail()).map_err(|error| Error::System("print", error))?;
            Err(error)
        }
    }
}
