//! `svcctl releases wait`: until a release run has ended.

use std::ops::ControlFlow;

use super::show::{self, ShownRelease};
use crate::api::{ReleaseRun, ReleaseStep};
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::ids::IdArg;
use crate::cli::next_command::NextCommand;
use crate::cli::output::Output;
use crate::cli::poll::{self, Notes, Polled, Schedule};
use crate::cli::{Global, dead_letters, installations, pages};
use crate::domain::id::IdKind;
use crate::domain::release::ReleaseStatus;

/// Wait until one release run has ended
///
/// Prints the steps to standard error as they happen, and, if an operator must act next, what to do. At the end, also
/// when --timeout has passed, prints the release run as svcctl releases show does. If the check run of a release is re-run,
/// the wait goes on until the new attempt has ended.
///
/// Exits with 0 if the release succeeded, 14 if it ended in another way, and 13 if --timeout passed before the end.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl releases wait v1.3.0
  svcctl releases wait 0199f3a0-0000-7000-8000-00000000000a --timeout 30m
  svcctl releases wait v1.3.0 -o json 2> /dev/null | jq -r .status
")]
pub(crate) struct Args {
    /// Tag of the release run, or its ID as shown in the list; the beginning of the ID is enough
    #[arg(value_name = "TAG|ID", value_parser = IdArg::parse_or_tag)]
    release_run: IdArg,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(&global.waiting())?.within(global.timeout);
    let installation = installations::meant(&client, global)?;
    let id = args.release_run.resolve(IdKind::ReleaseRun, &client, installation, global)?;
    let path = format!("{}/{id}", pages::path::<ReleaseRun>(installation));
    let again = NextCommand::new(&format!("releases wait {id}"), global).into_line();
    let again = format!("to wait again: {again}");
    // What was not given whole was looked up.
    let has_answered = global.installation.is_none() || !args.release_run.is_whole();
    let schedule = Schedule::wait(global.timeout, has_answered);
    let mut last = None;
    let polled = poll::until(schedule, &mut Notes::new(output), |_| {
        let found = show::ask(&client, &path, global)?;
        tell(last.as_ref(), &found, output);
        let has_ended = found.release.release_run.finished_at.is_some();
        last = Some(found);
        Ok(if has_ended { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })
    .map_err(|error| if poll::is_passing(&error) { error.hint(&again) } else { error })?;
    let Some(found) = last else {
        return Err(Error::new(Exit::TimedOut, "svcd did not answer in time").hint(again));
    };
    show::print(&found, global, output)?;
    let release_run = &found.release.release_run;
    let status = &release_run.status;
    match polled {
        Polled::TimedOut => {
            let next = found.next(output.times());
            let message = format!("the release has not ended yet (status {status})");
            let next = format!("what happens next: {next}");
            Err(Error::new(Exit::TimedOut, message).hint(next).hint(again))
        }
        Polled::End(()) if status == ReleaseStatus::Succeeded.as_str() => Ok(Exit::Done),
        Polled::End(()) => {
            let reason = release_run.failure_reason.as_deref();
            let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
            Err(Error::new(Exit::NotSucceeded, format!("the release ended as {status}{reason}")))
        }
    }
}

/// Tells the steps that are new, and what an operator must do if that is new.
fn tell(last: Option<&ShownRelease>, found: &ShownRelease, output: Output) {
    let (last, release) = (last.map(|last| &last.release), &found.release);
    let known = last.map_or(&[][..], |last| &last.steps);
    for step in release.steps.iter().filter(|step| !known.contains(step)) {
        output.remark("step", &sentence(step));
    }
    let code = release.next.code.as_ref();
    let is_new = last.is_none_or(|last| last.next.code != code);
    if is_new && code.starts_with("operator_") {
        output.remark("next", &found.next(output.times()));
    }
}

fn sentence(step: &ReleaseStep) -> String {
    let attempt = step.attempt_number.map(|number| format!(", attempt {number}"));
    let code = step.code.as_ref().map(|code| format!(" ({code})"));
    let name = dead_letters::event_text(&step.step);
    format!("{} {name}{}{}", step.at, code.unwrap_or_default(), attempt.unwrap_or_default())
}
