//! `svcctl demo`: shows the main job, and how releases end, with the real daemon and a simulated forge; `svcctl demo
//! relay` the relay, with a simulated design tool.

use std::io::{self, IsTerminal as _};

use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::demo;

/// Watch releases succeed and fail, with a real svcd, real sockets and a simulated forge
///
/// Starts svcd on a temporary database with a forge simulator beside it, sends signed webhooks, makes some effects
/// fail, and then runs the commands that an operator would run. After that, each release ends: either its workflow
/// run sends a signed result, or a reconciler ends it because no result arrives. The intervals of the reconcilers
/// are shortened for the demonstration. A signal fires and recovers. Every line is based on a response from
/// svcd. Exits with 1 if a response is not the expected one. Takes less than ten seconds, needs 512 MiB of free
/// space in the temporary folder, and cleans up.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// Leave svcd and the simulator running at the end, with three dead letters, and show commands to try next
    #[arg(long)]
    keep: bool,
    #[command(subcommand)]
    story: Option<Story>,
}

/// What else there is to watch.
#[derive(clap::Subcommand, Debug)]
enum Story {
    Relay(Relay),
}

/// Watch an agent change a design file with a person's consent
///
/// Starts svcd on a temporary database, with the relay on, and a plugin that has a small file open and needs no
/// design tool. An agent pairs with the plugin and proposes a change; you see the proposal, and approve it by
/// pressing a key. Then the approved change is sent to the plugin a second time and refused, the change is undone, and
/// the audit log is verified. Exits with 1 if a response is not the expected one, or if you decline.
#[derive(clap::Args, Debug)]
struct Relay {
    /// Approve without asking
    #[arg(long)]
    yes: bool,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<Exit, Error> {
    let mut print = |text: &str| -> io::Result<()> { output.raw(text.as_bytes()) };
    let ran = match &args.story {
        None => demo::run(args.keep, &mut print),
        Some(Story::Relay(relay)) if !relay.yes && !io::stdin().is_terminal() => {
            let message = "a person must approve, but standard input is not a terminal";
            return Err(Error::new(Exit::Usage, message).hint("approve everything with --yes"));
        }
        Some(Story::Relay(relay)) => demo::run_relay(relay.yes, &mut print),
    };
    ran.map_err(|error| {
        let hint = match error {
            demo::Error::NoDaemon(_) => "run cargo build --release, which builds both programs",
            demo::Error::Interrupted => "run it again",
            demo::Error::Declined => "run it again and press Enter to approve",
            _ => {
                "this is a defect of svc, or of the machine it runs on; the text above shows where"
            }
        };
        Error::new(Exit::Failed, format!("the demonstration failed: {error}")).hint(hint)
    })?;
    Ok(Exit::Done)
}
