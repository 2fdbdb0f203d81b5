//! The demonstration: the main job, end to end, with the real binaries over real sockets.
//!
//! `stage` sets up a daemon, a simulated forge and an operator's environment; `story` is what happens
//! on it: effects that fail and are replayed, releases that end well or badly, a signal. `relay` is another
//! story, about an agent, an open design file and the person who approves; `plugin` is that person's plugin. Nothing is
//! claimed that was not answered: each expectation is checked, and the first one that does not hold ends the
//! demonstration with an error.

pub mod plugin;
mod relay;
mod signals;
mod stage;
mod story;

use std::io;
use std::path::PathBuf;

use signals::Signals;
use stage::Stage;

use crate::runtime::notify::Notify;

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
    #[error("{0} did not happen within 10 seconds")]
    Waited(&'static str),
    /// The plugin has no connection, or no key.
    #[error(transparent)]
    Plugin(#[from] plugin::Error),
    /// The person in front of the terminal said no.
    #[error("you declined, so nothing was changed")]
    Declined,
    /// A signal asked it to end.
    #[error("it was interrupted; everything it had started was stopped and removed")]
    Interrupted,
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

/// Runs the demonstration. With `keep`, everything is left running until Enter is pressed or a signal asks for the end.
///
/// # Errors
/// The first expectation that did not hold. Everything is stopped and removed all the same.
pub fn run(keep: bool, print: Print<'_>) -> Result<(), Error> {
    interruptible(print, |signals, print| {
        let mut stage = Stage::start(&[])?;
        let mut told = story::tell(&mut stage, print);
        if keep {
            told = told.and_then(|()| story::kept::begin(&mut stage, print));
        }
        if let Err(error) = told {
            // Before the stage is taken down, and its log with it.
            print(&stage.log_tail()).map_err(|error| Error::System("print", error))?;
            return Err(error);
        }
        if keep {
            keep_running(&mut stage, signals, print)?;
        }
        stage.stop()
    })
}

/// Leaves everything running, and makes a dead letter whenever one is asked for.
fn keep_running(stage: &mut Stage, signals: &Signals, print: Print<'_>) -> Result<(), Error> {
    print(&stage.how_to_play_on()?).map_err(|error| Error::System("print", error))?;
    let line = signals::next_line().map_err(|error| Error::System("read the answer", error))?;
    let mut made = 0;
    // Without a terminal there is no line, only the end of the input or an error: then a signal has to end it.
    // The `Notify` is never stopped, so that it only waits.
    while Notify::new().pause(signals::POLL_INTERVAL)
        && !signals.stopped()
        && !matches!(line.try_recv(), Ok(Ok(Some(_))))
    {
        if signals.take_more() {
            match story::kept::one_more(stage, print, made) {
                // It may have been replayed as soon as it was there.
                Err(Error::Waited(_)) => print("  No dead letter this time; ask once more.\n")
                    .map_err(|error| Error::System("print", error))?,
                ended => ended?,
            }
            made += 1;
        }
    }
    Ok(())
}

/// Runs the demonstration of the relay. A person decides in the plugin, unless they approve everything with `yes`.
///
/// # Errors
/// The first expectation that did not hold. Everything is stopped and removed all the same.
pub fn run_relay(yes: bool, print: Print<'_>) -> Result<(), Error> {
    interruptible(print, |signals, print| {
        let stage = Stage::start(&relay::SETTINGS)?;
        // The end of the input is no consent.
        let mut ask = || {
            let agrees = |line: Option<String>| line.is_some_and(|line| line.trim().is_empty());
            if yes { Ok(true) } else { signals.line().map(agrees) }
        };
        match relay::tell(&stage, print, &mut ask) {
            Ok(()) => stage.stop(),
            Err(Error::Declined) => Err(Error::Declined),
            Err(error) => {
                print(&stage.log_tail()).map_err(|error| Error::System("print", error))?;
                Err(error)
            }
        }
    })
}

/// Runs a story that ends with its next word once a signal asks for the end.
fn interruptible(
    print: Print<'_>,
    story: impl FnOnce(&Signals, Print<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let signals = Signals::install().map_err(|error| Error::System("watch for signals", error))?;
    let ended = story(&signals, &mut |text| signals.check().and_then(|()| print(text)));
    match ended {
        // Whatever failed, failed because of it.
        Err(_) if signals.stopped() => Err(Error::Interrupted),
        ended => ended,
    }
}
