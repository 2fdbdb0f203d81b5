//! `svcctl demo`: shows the main job, and how releases end, with the real daemon and a simulated forge; `svcctl demo
//! relay` the relay, with a simulated design tool.

use std::io::{self, IsTerminal as _};

use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::demo;

/// Watch releases succeed and fail, with a real daemon, real sockets and a simulated forge
///
/// Starts svcd on a temporary store with a forge simulator beside it, sends signed webhooks, makes some
/// side effects fail, and then runs the commands that an operator would run. After that, the releases end:
/// through the signed result of their workflow run or, if no result arrives, through the reconcilers, whose
/// intervals are shortened for the demonstration. A signal fires and recovers. Every line comes from an
/// answer of the service. Exits with 1 if an answer is not as expected. Takes less than ten seconds, needs
/// 512 MiB of free space in the temporary folder, and cleans up.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// Keep everything running at the end, and show the commands to continue with
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

/// Watch an agent change a design file with a person's consent, once
///
/// Starts svcd on a temporary store with its relay on, and a plugin that opens a small file in place of a
/// design tool. An agent pairs with the plugin and proposes a change; you see the card, and approve it by
/// pressing a key. Then the same order is sent again and refused, the change is undone, and the audit log is
/// verified. Exits with 1 if an answer is not as expected, or if you decline.
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
        Some(Story::Relay(relay)) => {
            let yes = relay.yes;
            demo::run_relay(&mut print, &mut || if yes { Ok(true) } else { answer() })
        }
    };
    ran.map_err(|error| {
        let hint = match error {
            demo::Error::NoDaemon(_) => "run cargo build --release, which builds both programs",
            demo::Error::Declined => "run it again and press Enter to approve",
            _ => {
                "this is a defect of svc, or of the machine it runs on; the text above shows where"
            }
        };
        Error::new(Exit::Failed, format!("the demonstration failed: {error}")).hint(hint)
    })?;
    Ok(Exit::Done)
}

/// Reads a line: whether the person agrees. The end of the input is no consent.
fn answer() -> io::Result<bool> {
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line)?;
    Ok(read > 0 && line.trim().is_empty())
}
