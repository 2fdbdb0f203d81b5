//! From the body of a webhook to at most one action, in our words.
//!
//! Lenient, because real payloads differ from their published schemas: a few fields are read, what
//! is missing or of the wrong type counts as absent, and everything else is skipped where it
//! stands. Only what is no JSON object, or names a field we read twice, is refused.

mod fields;

use crate::domain::event::{
    AccountName, Action, CommitSha, GitRef, InstallationState, REPOSITORIES_MAX, RepositoryState,
};
use crate::domain::id::{AppId, CheckRunId, InstallationId, OwnerId, WorkflowRunId};
use crate::domain::repository::RepositoryRef;
use fields::Field;

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

/// Those of them that an app gets only if its settings at the forge choose them.
pub const CHOSEN_EVENTS: [&str; 4] = ["check_run", "push", "repository", "workflow_run"];

/// Says whether a payload of the event can ask something of us.
#[must_use]
pub fn can_ask(event: &str) -> bool {
    event != "ping" && EVENTS.contains(&event)
}

/// What decides whether a payload asks for something. Source: the operator.
#[derive(Clone, Debug)]
pub struct PayloadRules {
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
    /// What it asks of us; `None` when it asks for nothing, or does not say of whom.
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
    /// A field we read is there twice: two readers could see two payloads.
    #[error("the payload repeats a field")]
    DuplicateField,
}

/// Takes from the body of `event` what we need of it. The event name is not signed, so that the
/// body alone decides what it can ask for.
///
/// # Errors
/// When the body is not one well-formed JSON object, or names a field we read twice.
pub fn normalise(event: &str, body: &[u8], rules: &PayloadRules) -> Result<Normalised, Unusable> {
    let text = std::str::from_utf8(body).map_err(|_| Unusable::NotUtf8)?;
    let payload = Field::object(text)?;
    let event = EVENTS.into_iter().find(|known| *known == event).unwrap_or("unknown");
    let [action, installation, repository] =
        payload.fields(["action", "installation", "repository"])?;
    let [id, account] = installation.fields(["id", "account"])?;
    let (installation, repository) = (id.id::<InstallationId>(), repository.repository()?);
    // Without a tenant and a repository there is nothing a release could belong to.
    let of_repository = installation.is_some() && repository.is_some();
    let word = action.text();
    let word = word.as_deref().unwrap_or("");
    let action = match event {
        "push" if of_repository => release(payload, rules)?,
        "check_run" if of_repository && word == "rerequested" => rerequest(payload)?,
        "repository" if of_repository => repository_change(word),
        "workflow_run" if installation.is_some() => look_at_workflow_run(payload)?,
        "installation" if installation.is_some() => installation_change(payload, word, account)?,
        "installation_repositories" if installation.is_some() => {
            reach_change(payload, word, account)?
        }
        _ => None,
    };
    Ok(Normalised { event, installation, repository, action })
}

fn release(payload: Field<'_>, rules: &PayloadRules) -> Result<Option<Action>, Unusable> {
    let [git_ref, deleted, after, head_commit, repository] =
        payload.fields(["ref", "deleted", "after", "head_commit", "repository"])?;
    // By number: it is compared with the token of a result, and a name can be taken over by another account.
    let [owner] = repository.fields(["owner"])?;
    let [owner] = owner.fields(["id"])?;
    let [head_commit] = head_commit.fields(["id"])?;
    // For an annotated tag `after` is the tag object; the commit it names is the head commit.
    let head_sha = head_commit.sha().or_else(|| after.sha());
    let git_ref = git_ref.text().as_deref().and_then(GitRef::new);
    let (Some(git_ref), Some(head_sha)) = (git_ref, head_sha) else { return Ok(None) };
    // Deleting a tag is a push, too.
    let asked = !deleted.is_true() && rules.release_tag_pattern.matches(git_ref.tag());
    Ok(asked.then_some(Action::Release { git_ref, head_sha, owner: owner.id::<OwnerId>() }))
}

fn rerequest(payload: Field<'_>) -> Result<Option<Action>, Unusable> {
    let [check_run] = payload.fields(["check_run"])?;
    let [id, app, head_sha] = check_run.fields(["id", "app", "head_sha"])?;
    let [app] = app.fields(["id"])?;
    let ids = id.id::<CheckRunId>().zip(app.id::<AppId>());
    let whole = ids.zip(head_sha.sha());
    Ok(whole.map(|((check_run, app), head_sha)| Action::Rerequest { check_run, app, head_sha }))
}

fn look_at_workflow_run(payload: Field<'_>) -> Result<Option<Action>, Unusable> {
    let [run] = payload.fields(["workflow_run"])?;
    let [id] = run.fields(["id"])?;
    let id = id.id::<WorkflowRunId>();
    Ok(id.map(|workflow_run| Action::LookAtWorkflowRun { workflow_run }))
}

fn installation_change(
    payload: Field<'_>,
    word: &str,
    account: Field<'_>,
) -> Result<Option<Action>, Unusable> {
    let state = match word {
        "created" | "unsuspend" => Some(InstallationState::Active),
        "suspend" => Some(InstallationState::Suspended),
        "deleted" => Some(InstallationState::Deleted),
        // It may happen to a suspended one as well.
        "new_permissions_accepted" => None,
        _ => return Ok(None),
    };
    let [repositories] = payload.fields(["repositories"])?;
    let (account, added) = (account.account()?, repositories.repositories()?);
    Ok(Some(Action::Installation { state, account, added, removed: Vec::new() }))
}

fn reach_change(
    payload: Field<'_>,
    word: &str,
    account: Field<'_>,
) -> Result<Option<Action>, Unusable> {
    if !matches!(word, "added" | "removed") {
        return Ok(None);
    }
    let [added, removed] = payload.fields(["repositories_added", "repositories_removed"])?;
    Ok(Some(Action::Installation {
        state: None,
        account: account.account()?,
        added: added.repositories()?,
        removed: removed.repositories()?,
    }))
}

fn repository_change(word: &str) -> Option<Action> {
    let state = match word {
        // All of them: each names the repository as it is called now, which is what has to be recorded.
        "archived" | "created" | "edited" | "privatized" | "publicized" | "renamed"
        | "transferred" | "unarchived" => RepositoryState::Active,
        "deleted" => RepositoryState::Deleted,
        _ => return None,
    };
    Some(Action::Repository { state })
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

    fn account(self) -> Result<Option<AccountName>, Unusable> {
        let [login] = self.fields(["login"])?;
        Ok(login.text().as_deref().and_then(AccountName::new))
    }

    /// Returns the usable repositories of a list, the first of them when there are too many.
    fn repositories(self) -> Result<Vec<RepositoryRef>, Unusable> {
        let mut found = Vec::new();
        self.each(|element| {
            // Beyond the cap elements are only skipped over.
            if found.len() < REPOSITORIES_MAX {
                found.extend(element.repository()?);
            }
            Ok(())
        })?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
