//! Objects of the API that many answers hold, as whole as its description requires them to be: what we
//! read of them and what we do not.

use serde_json::{Map, Value, json};

use super::{APP, SimulatedApp, SimulatedInstallation};
use crate::domain::id::RepositoryId;
use crate::domain::time::Timestamp;

/// Links of an account, below its own.
const OF_ACCOUNT: &[&str] = &[
    "events",
    "followers",
    "following",
    "gists",
    "organizations",
    "received_events",
    "repos",
    "starred",
    "subscriptions",
];
/// Links of a repository, below its own.
const OF_REPOSITORY: &[&str] = &[
    "archive",
    "assignees",
    "blobs",
    "branches",
    "collaborators",
    "comments",
    "commits",
    "compare",
    "contents",
    "contributors",
    "deployments",
    "downloads",
    "events",
    "forks",
    "git_commits",
    "git_refs",
    "git_tags",
    "hooks",
    "issue_comment",
    "issue_events",
    "issues",
    "keys",
    "labels",
    "languages",
    "merges",
    "milestones",
    "notifications",
    "pulls",
    "releases",
    "stargazers",
    "statuses",
    "subscribers",
    "subscription",
    "tags",
    "teams",
    "trees",
];

/// Returns an instant as the forge writes it: whole seconds.
pub(super) fn instant(at: Timestamp) -> String {
    let mut text = at.to_string();
    text.truncate("2026-11-21T09:00:00".len());
    text + "Z"
}

fn links(object: &mut Map<String, Value>, base: &str, names: &[&str]) {
    for name in names {
        object.insert(format!("{name}_url"), format!("{base}/{name}").into());
    }
}

/// Returns an account.
pub(super) fn account(base_url: &str, login: &str) -> Value {
    let url = format!("{base_url}/users/{login}");
    let mut account = Map::new();
    links(&mut account, &url, OF_ACCOUNT);
    for (name, value) in [
        ("login", json!(login)),
        ("id", json!(1)),
        ("node_id", json!("simulated")),
        ("avatar_url", json!(url)),
        ("gravatar_id", Value::Null),
        ("url", json!(url)),
        ("html_url", json!(url)),
        ("type", json!("Organization")),
        ("site_admin", json!(false)),
    ] {
        account.insert(name.to_owned(), value);
    }
    account.into()
}

/// Returns a repository, as it stands inside of other objects.
pub(super) fn repository(base_url: &str, id: RepositoryId, full_name: &str) -> Value {
    let (owner, short) = full_name.split_once('/').unwrap_or((full_name, full_name));
    let url = format!("{base_url}/repos/{full_name}");
    let mut repository = Map::new();
    links(&mut repository, &url, OF_REPOSITORY);
    for (name, value) in [
        ("id", json!(id.get())),
        ("node_id", json!("simulated")),
        ("name", json!(short)),
        ("full_name", json!(full_name)),
        ("owner", account(base_url, owner)),
        ("private", json!(true)),
        ("html_url", json!(url)),
        ("description", Value::Null),
        ("fork", json!(false)),
        ("url", json!(url)),
    ] {
        repository.insert(name.to_owned(), value);
    }
    repository.into()
}

/// Returns the app.
pub(super) fn app(base_url: &str, settings: &SimulatedApp) -> Value {
    let url = format!("{base_url}/apps/simulated");
    json!({
        "id": APP,
        "slug": "simulated",
        "node_id": "simulated",
        "owner": account(base_url, "simulated"),
        "name": "simulated",
        "description": null,
        "external_url": url,
        "html_url": url,
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
        "permissions": settings.permissions,
        "events": settings.events,
        "installations_count": settings.installations.len(),
    })
}

/// Returns an installation of the app.
pub(super) fn installation(base_url: &str, it: &SimulatedInstallation, events: &[String]) -> Value {
    let url = format!("{base_url}/app/installations/{}", it.id);
    json!({
        "id": it.id.get(),
        "app_id": APP,
        "app_slug": "simulated",
        "target_id": 1,
        "target_type": "Organization",
        "account": account(base_url, &it.account),
        "single_file_name": null,
        "repository_selection": "selected",
        "access_tokens_url": format!("{url}/access_tokens"),
        "repositories_url": format!("{base_url}/installation/repositories"),
        "html_url": url,
        "permissions": it.permissions,
        "events": events,
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
        "suspended_at": it.is_suspended.then_some("2026-01-02T00:00:00Z"),
        "suspended_by": it.is_suspended.then(|| account(base_url, &it.account)),
    })
}
