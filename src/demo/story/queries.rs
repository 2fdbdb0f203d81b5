//! What is looked at: the forge's own state, and what `svcctl` says in JSON.

use serde::de::DeserializeOwned;

use super::Teller;
use crate::api;
use crate::demo;
use crate::demo::stage::{INSTALLATION, Ran, Stage, unexpected};
use crate::simulator;

impl Teller<'_> {
    /// Waits until the check run of a tag has a status on the forge.
    pub(super) fn await_status(&mut self, tag: &str, status: &str) -> Result<(), demo::Error> {
        self.wait("the check run's status", |stage| {
            Ok(check_run(stage, tag).filter(|run| run.status == status).map(|_| ()))
        })
    }

    /// Waits until the check run of a tag has ended on the forge, and says how.
    pub(super) fn await_conclusion(
        &mut self,
        tag: &str,
        conclusion: &str,
    ) -> Result<(), demo::Error> {
        let found = self.wait("the check run's conclusion", |stage| {
            Ok(check_run(stage, tag).and_then(|run| run.conclusion))
        })?;
        self.show(&format!("the check run of {tag} on the forge: {found}"))?;
        self.expect(&format!("the conclusion of {tag}"), &conclusion, &found.as_str())
    }

    /// Returns the workflow run of a tag, as the forge has it.
    pub(super) fn workflow_run(&self, tag: &str) -> Result<simulator::WorkflowRun, demo::Error> {
        workflow_run(self.stage, tag)
            .ok_or_else(|| unexpected("the workflow runs on the forge", &tag, &"none of it"))
    }

    /// Waits for a dead letter.
    pub(super) fn await_letter(&mut self, reason: &str) -> Result<(), demo::Error> {
        self.wait("a dead letter", |stage| Ok(find(&letters(stage)?, reason).map(|_| ())))
    }

    /// Waits until there is no dead letter of this reason any more.
    pub(super) fn await_no_letter(&mut self, reason: &str) -> Result<(), demo::Error> {
        self.wait("a dead letter to be closed", |stage| {
            Ok(find(&letters(stage)?, reason).is_none().then_some(()))
        })
    }

    pub(super) fn letter(&self, reason: &str) -> Result<api::DeadLetter, demo::Error> {
        let letters = letters(self.stage)?;
        find(&letters, reason).ok_or_else(|| unexpected("the dead letters", &reason, &"none of it"))
    }

    pub(super) fn expect_letters(&self, expected: &[(&str, bool)]) -> Result<(), demo::Error> {
        let letters = letters(self.stage)?;
        let found: Vec<(&str, bool)> = letters
            .iter()
            .map(|letter| (letter.reason_code.as_ref(), letter.replay_safe))
            .collect();
        self.expect("the dead letters", &expected, &found.as_slice())
    }

    /// Waits until a release has a status.
    pub(super) fn await_release(
        &mut self,
        what: &'static str,
        tag: &str,
        status: &str,
    ) -> Result<(), demo::Error> {
        self.wait(what, |stage| Ok((release(stage, tag)?.status == status).then_some(())))
    }

    /// Shows a release; where it stands, and why, must be as told.
    pub(super) fn show_release(
        &mut self,
        tag: &str,
        status: &str,
        reason: Option<&str>,
    ) -> Result<(), demo::Error> {
        let id = release(self.stage, tag)?.release_run_id.to_string();
        self.run(&["releases", "show", &id], 0)?;
        self.expect_release(tag, status, reason)
    }

    pub(super) fn expect_release(
        &self,
        tag: &str,
        status: &str,
        reason: Option<&str>,
    ) -> Result<(), demo::Error> {
        let release = release(self.stage, tag)?;
        let found = (release.status.as_ref(), release.failure_reason.as_deref());
        self.expect(&format!("the release of {tag}"), &(status, reason), &found)
    }
}

fn workflow_run(stage: &Stage, tag: &str) -> Option<simulator::WorkflowRun> {
    stage.forge.workflow_runs().into_iter().find(|run| run.git_ref == tag)
}

/// Returns the check run of a tag whose workflow runs.
pub(super) fn check_run(stage: &Stage, tag: &str) -> Option<simulator::CheckRun> {
    let attempt = workflow_run(stage, tag)?.attempt;
    stage.forge.check_runs().into_iter().find(|run| run.external_id == attempt)
}

/// Returns the newest items of a list of the one tenant.
pub(super) fn list<T: DeserializeOwned>(
    stage: &Stage,
    command: &[&str],
) -> Result<Vec<T>, demo::Error> {
    let page: api::PageBody<T> = ask(stage, command)?;
    Ok(page.items)
}

/// Asks for something of the one tenant.
fn ask<T: DeserializeOwned>(stage: &Stage, command: &[&str]) -> Result<T, demo::Error> {
    let installation = INSTALLATION.to_string();
    let options = ["--installation", &installation, "-o", "json"];
    parse(&stage.svcctl(&[command, &options].concat())?, &command.join(" "))
}

/// Returns the newest dead letters.
pub(super) fn letters(stage: &Stage) -> Result<Vec<api::DeadLetter>, demo::Error> {
    let page: api::PageBody<api::DeadLetter> = ask(stage, &["dead-letters", "list"])?;
    Ok(page.items)
}

fn find(letters: &[api::DeadLetter], reason: &str) -> Option<api::DeadLetter> {
    letters.iter().find(|letter| letter.reason_code == reason).cloned()
}

fn release(stage: &Stage, tag: &str) -> Result<api::ReleaseRun, demo::Error> {
    let git_ref = format!("refs/tags/{tag}");
    let releases: Vec<api::ReleaseRun> = list(stage, &["releases", "list"])?;
    let found = releases.into_iter().find(|release| release.git_ref == git_ref);
    found.ok_or_else(|| unexpected("the releases", &tag, &"none of it"))
}

pub(super) fn parse<T: DeserializeOwned>(ran: &Ran, what: &str) -> Result<T, demo::Error> {
    serde_json::from_str(&ran.stdout)
        .map_err(|error| unexpected(what, &error.to_string(), &ran.stdout))
}
