//! `svcctl demo`: shows the main job, and how releases end, with the real daemon and a simulated forge; `svcctl demo
//! relay` the relay, with a simulated design tool.

use std::io::{self, IsTerminal as _};

use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::demo;

/// Watch the main job happen: a real daemon, real sockets, a simulated forge
///
/// Starts svcd on a temporary store with a forge simulator beside it, sends signed webhooks, lets
/// some side effects fail, and then does what an operator would do, with the very commands. After
/// that, releases end: by the signed result of their workflow run, or, when nothing is heard, by the
/// reconcilers, whose intervals are shortened for it; and a signal fires and recovers. Every line
/// comes from an answer: it ends with 1 when one differs from what must be. It takes less than ten
/// seconds, needs 512 MiB of free space in the temporary folder, and cleans up.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// Leave everything running at the end, and show the commands to play on with
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
/// Starts svcd on a temporary store with its relay on, and a plugin that has a small file open instead
/// of a design tool. An agent pairs with it and proposes a change; you see the card, and approve it by
/// a key. The same order again is refused, the change is undone, and the audit log verified. It ends
/// with 1 when an answer differs from what must be, or when you decline.
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
            let message = "a person has to approve, and standard input is no terminal";
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
            demo::Error::Declined => "run it again and press Enter to see what comes of a consent",
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
