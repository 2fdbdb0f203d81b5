//! `svcctl demo`: shows the main job, and how releases end, with the real daemon and a simulated forge.

use std::io;

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
pub(crate) struct Args {
    /// Leave everything running at the end, and show the commands to play on with
    #[arg(long)]
    keep: bool,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<Exit, Error> {
    let mut print = |text: &str| -> io::Result<()> { output.raw(text.as_bytes()) };
    demo::run(args.keep, &mut print).map_err(|error| {
        let hint = match error {
            demo::Error::NoDaemon(_) => "run cargo build --release, which builds both programs",
            _ => {
                "this is a defect of svc, or of the machine it runs on; the text above shows where"
            }
        };
        Error::new(Exit::Failed, format!("the demonstration failed: {error}")).hint(hint)
    })?;
    Ok(Exit::Done)
}
