//! From the body of a webhook to at most one action, in our words.
//!
//! Lenient, because real payloads differ from their published schemas: a few fields are read, what
//! is missing or of the wrong type counts as absent, and everything else is skipped where it stands.
//! Only what is no JSON object, or names a field we read twice, is refused.

mod fields;

use crate::domain::delivery::RepositoryRef;
use crate::domain::event::{
    AccountName, Action, CommitSha, GitRef, InstallationState, REPOSITORIES_MAX, RepositoryState,
};
use crate::domain::id::{AppId, CheckRunId, InstallationId, WorkflowRunId};
use fields::{Field, fields};

/// Events that can ask something of us, and the one that asks for nothing by design.
const EVENTS: [&str; 7] = [
    "push",
    "check_run",
    "workflow_run",
    "installation",
    "installation_repositories",
    "repository",
    "ping",
];

/// What decides whether a payload asks for something. Source: the operator.
#[derive(Clone, Debug)]
pub struct Rules {
    /// A tag that matches, without `refs/tags/`, asks for a release. `*` matches `/` too.
    pub release_tag_pattern: glob::Pattern,
}

/// What was taken from a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Normalised {
    /// Event name: one we know, else `unknown`.
    pub event: &'static str,
    /// The tenant, when named.
    pub installation: Option<InstallationId>,
    /// The repository, when named.
    pub repository: Option<RepositoryRef>,
    /// What it asks of us; nothing when it asks for nothing, or does not say of whom.
    pub action: Option<Action>,
}

/// Why a body cannot be used. Never holds a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It is not UTF-8.
    #[error("the payload is not UTF-8")]
    NotUtf8,
    /// It is JSON of another kind, or none at all.
    #[error("the payload is not a JSON object")]
    NotAnObject,
    /// It is not well-formed JSON, or something follows it.
    #[error("the payload is not well-formed JSON")]
    Malformed,
    /// A field we read stands there twice: two readers could see two payloads.
    #[error("the payload names a field twice")]
    DuplicateField,
}

/// Takes from the body of `event` what we need of it. The event name is not signed, so that the body
/// alone decides what it can ask for.
///
/// # Errors
/// When the body is not one well-formed JSON object, or names a field we read twice.
pub fn normalise(event: &str, body: &[u8], rules: &Rules) -> Result<Normalised, Unusable> {
    let text = std::str::from_utf8(body).or(Err(Unusable::NotUtf8))?;
    let payload = Payload::read(text)?;
    let event = EVENTS.into_iter().find(|known| *known == event).unwrap_or("unknown");
    let [installation] = payload.installation.fields(["id"])?;
    let installation = installation.id::<InstallationId>();
    let repository = payload.repository.repository()?;
    let of_repository = installation.is_some() && repository.is_some();
    let action = match event {
        "push" if of_repository => payload.release(rules)?,
        "check_run" if of_repository => payload.rerequest()?,
        "repository" if of_repository => payload.repository_change(),
        "workflow_run" if installation.is_some() => payload.look_at_workflow_run()?,
        "installation" if installation.is_some() => payload.installation_change()?,
        "installation_repositories" if installation.is_some() => payload.reach_change()?,
        _ => None,
    };
    Ok(Normalised { event, installation, repository, action })
}

/// Every top-level field that is read of any event.
struct Payload<'a> {
    action: Option<String>,
    installation: Field<'a>,
    repository: Field<'a>,
    git_ref: Field<'a>,
    deleted: Field<'a>,
    after: Field<'a>,
    head_commit: Field<'a>,
    check_run: Field<'a>,
    workflow_run: Field<'a>,
    repositories: Field<'a>,
    repositories_added: Field<'a>,
    repositories_removed: Field<'a>,
}

impl<'a> Payload<'a> {
    fn read(text: &'a str) -> Result<Self, Unusable> {
        let [
            action,
            installation,
            repository,
            git_ref,
            deleted,
            after,
            head_commit,
            check_run,
            workflow_run,
            repositories,
            repositories_added,
            repositories_removed,
        ] = fields(
            text,
            [
                "action",
                "installation",
                "repository",
                "ref",
                "deleted",
                "after",
                "head_commit",
                "check_run",
                "workflow_run",
                "repositories",
                "repositories_added",
                "repositories_removed",
            ],
        )?;
        Ok(Self {
            action: action.text(),
            installation,
            repository,
            git_ref,
            deleted,
            after,
            head_commit,
            check_run,
            workflow_run,
            repositories,
            repositories_added,
            repositories_removed,
        })
    }

    fn action(&self) -> &str {
        self.action.as_deref().unwrap_or("")
    }

    fn release(&self, rules: &Rules) -> Result<Option<Action>, Unusable> {
        let [head_commit] = self.head_commit.fields(["id"])?;
        // For an annotated tag `after` is the tag object; the commit it names is the head commit.
        let head_sha = head_commit.sha().or_else(|| self.after.sha());
        let git_ref = self.git_ref.text().as_deref().and_then(GitRef::new);
        let (Some(git_ref), Some(head_sha)) = (git_ref, head_sha) else { return Ok(None) };
        let asked = !self.deleted.is_true() && rules.release_tag_pattern.matches(git_ref.tag());
        Ok(asked.then_some(Action::Release { git_ref, head_sha }))
    }

    fn rerequest(&self) -> Result<Option<Action>, Unusable> {
        let [id, app, head_sha] = self.check_run.fields(["id", "app", "head_sha"])?;
        let [app] = app.fields(["id"])?;
        let (Some(check_run), Some(app), Some(head_sha)) =
            (id.id::<CheckRunId>(), app.id::<AppId>(), head_sha.sha())
        else {
            return Ok(None);
        };
        let asked = self.action() == "rerequested";
        Ok(asked.then_some(Action::Rerequest { check_run, app, head_sha }))
    }

    fn look_at_workflow_run(&self) -> Result<Option<Action>, Unusable> {
        let [id] = self.workflow_run.fields(["id"])?;
        let run = id.id::<WorkflowRunId>();
        Ok(run.map(|workflow_run| Action::LookAtWorkflowRun { workflow_run }))
    }

    fn installation_change(&self) -> Result<Option<Action>, Unusable> {
        let state = match self.action() {
            "created" | "unsuspend" | "new_permissions_accepted" => InstallationState::Active,
            "suspend" => InstallationState::Suspended,
            "deleted" => InstallationState::Deleted,
            _ => return Ok(None),
        };
        self.installation_in(state, self.repositories, Field::ABSENT)
    }

    fn reach_change(&self) -> Result<Option<Action>, Unusable> {
        match self.action() {
            "added" | "removed" => self.installation_in(
                InstallationState::Active,
                self.repositories_added,
                self.repositories_removed,
            ),
            _ => Ok(None),
        }
    }

    fn installation_in(
        &self,
        state: InstallationState,
        added: Field<'a>,
        removed: Field<'a>,
    ) -> Result<Option<Action>, Unusable> {
        let [account] = self.installation.fields(["account"])?;
        let [login] = account.fields(["login"])?;
        Ok(Some(Action::Installation {
            state,
            account: login.text().as_deref().and_then(AccountName::new),
            added: added.repositories(REPOSITORIES_MAX)?,
            removed: removed.repositories(REPOSITORIES_MAX)?,
        }))
    }

    fn repository_change(&self) -> Option<Action> {
        let state = match self.action() {
            "archived" | "created" | "edited" | "privatized" | "publicized" | "renamed"
            | "transferred" | "unarchived" => RepositoryState::Active,
            "deleted" => RepositoryState::Deleted,
            _ => return None,
        };
        Some(Action::Repository { state })
    }
}

impl Field<'_> {
    fn sha(self) -> Option<CommitSha> {
        self.text().as_deref().and_then(CommitSha::new)
    }

    fn repository(self) -> Result<Option<RepositoryRef>, Unusable> {
        let [id, full_name] = self.fields(["id", "full_name"])?;
        let name = full_name.text().and_then(|name| name.parse().ok());
        Ok(id.id().zip(name).map(|(id, full_name)| RepositoryRef { id, full_name }))
    }

    /// Returns the first `max` usable repositories of a list.
    fn repositories(self, max: usize) -> Result<Vec<RepositoryRef>, Unusable> {
        let mut found = Vec::new();
        self.each(|element| {
            // Beyond the cap elements are only skipped over.
            if found.len() < max {
                found.extend(element.repository()?);
            }
            Ok(())
        })?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
