//! The story: five releases, of which four meet trouble, how each of them ends, and what an operator
//! sees of it. `trouble`, `conclusions` and `signals` are its parts, `kept` is what is left to play with; `queries`
//! reads what they show.

mod conclusions;
pub(super) mod kept;
mod queries;
mod signals;
mod trouble;

use std::fmt::Debug;
use std::time::Duration;

use crate::demo::stage::{PATIENCE, Ran, Stage, unexpected};
use crate::demo::{self, Print};
use crate::runtime::notify::Notify;

/// Between two looks at what is waited for.
const POLL_INTERVAL: Duration = Duration::from_millis(30);

pub(super) fn tell(stage: &mut Stage, print: Print<'_>) -> Result<(), demo::Error> {
    let mut teller = Teller { stage, print };
    teller.say("svcd and a simulated forge are running. Is svcd ready?")?;
    teller.run(&["status"], 0)?;
    teller.trouble()?;
    teller.conclusions()?;
    teller.signals()?;
    teller.every_workflow_ran_once()?;
    teller.run(&["status"], 0)?;
    teller.say(
        "Done: nothing was lost, nothing was done twice, and no check run is green by mistake.",
    )
}

struct Teller<'a> {
    stage: &'a mut Stage,
    print: Print<'a>,
}

impl Teller<'_> {
    /// Looks again and again until there is something to see; says every second what for.
    fn wait<T>(
        &mut self,
        what: &'static str,
        mut poll: impl FnMut(&Stage) -> Result<Option<T>, demo::Error>,
    ) -> Result<T, demo::Error> {
        let (began, mut said) = (self.stage.monotonic(), 0);
        loop {
            if let Some(seen) = poll(self.stage)? {
                return Ok(seen);
            }
            let waited = self.stage.monotonic().saturating_sub(began);
            // This `Notify` is never stopped, so that it only waits.
            if waited > PATIENCE || !Notify::new().pause(POLL_INTERVAL) {
                return Err(demo::Error::Waited(what));
            }
            if waited.as_secs() > said {
                said = waited.as_secs();
                self.show(&format!("... {said} s: waiting for {what}"))?;
            }
        }
    }

    fn expect<T: PartialEq + Debug>(
        &self,
        what: &str,
        expected: &T,
        found: &T,
    ) -> Result<(), demo::Error> {
        if expected == found { Ok(()) } else { Err(unexpected(what, expected, found)) }
    }

    /// Shows a command and everything it says; its exit code must be as told.
    fn run(&mut self, arguments: &[&str], code: i32) -> Result<Ran, demo::Error> {
        self.print(&format!("\n$ svcctl {}\n", arguments.join(" ")))?;
        let ran = self.stage.svcctl(arguments)?;
        self.print(&ran.stderr)?;
        self.print(&ran.stdout)?;
        if code != 0 {
            self.print(&format!("(exit code {})\n", ran.code))?;
        }
        self.expect(&format!("svcctl {}", arguments.join(" ")), &code, &ran.code)?;
        Ok(ran)
    }

    fn say(&mut self, text: &str) -> Result<(), demo::Error> {
        self.print(&format!("\n# {text}\n"))
    }

    fn show(&mut self, text: &str) -> Result<(), demo::Error> {
        self.print(&format!("  {text}\n"))
    }

    fn print(&mut self, text: &str) -> Result<(), demo::Error> {
        (self.print)(text).map_err(|error| demo::Error::System("print", error))
    }
}
