//! Webhooks as the forge sends them: the fields we read, among enough of those we do not.

use std::fmt::Write as _;

use ring::hmac;
use serde_json::{Value, json};

use super::{APP, OWNER};
use crate::domain::id::InstallationId;
use crate::domain::repository::{RepositoryName, RepositoryRef};

/// One webhook, to be signed and delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Name of the event.
    pub event: &'static str,
    /// The raw body.
    pub body: Vec<u8>,
}

/// Makes the webhooks of one repository of one installation.
#[derive(Clone, Debug)]
pub struct Webhooks {
    /// The tenant.
    pub installation: InstallationId,
    pub repository: RepositoryRef,
}

/// Returns the signature header of a body.
#[must_use]
pub fn sign(secret: &str, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let mut header = "sha256=".to_owned();
    for byte in hmac::sign(&key, body).as_ref() {
        write!(header, "{byte:02x}").expect("writing to a string does not fail");
    }
    header
}

impl Webhooks {
    /// A tag that names a commit was pushed.
    #[must_use]
    pub fn push_tag(&self, tag: &str, commit: &str) -> Webhook {
        self.webhook(
            "push",
            json!({
                "ref": format!("refs/tags/{tag}"),
                "before": "0".repeat(40),
                "after": commit,
                "created": true,
                "deleted": false,
                "forced": false,
                "base_ref": "refs/heads/main",
                "head_commit": {"id": commit, "message": "Release", "author": {"name": "Someone"}},
                "commits": [],
                "pusher": {"name": "someone"},
            }),
        )
    }

    /// A person asked for a check run of ours to be run again.
    #[must_use]
    pub fn check_run_rerequested(&self, check_run: i64, head_sha: &str) -> Webhook {
        self.webhook(
            "check_run",
            json!({
                "action": "rerequested",
                "check_run": {
                    "id": check_run,
                    "head_sha": head_sha,
                    "status": "completed",
                    "conclusion": "failure",
                    "app": {"id": APP, "slug": "simulated"},
                    "check_suite": {"id": 1, "head_sha": head_sha},
                },
            }),
        )
    }

    /// A workflow run moved, like `requested`, `in_progress` or `completed`.
    #[must_use]
    pub fn workflow_run(&self, action: &str, run: i64) -> Webhook {
        self.webhook(
            "workflow_run",
            json!({
                "action": action,
                "workflow_run": {"id": run, "run_attempt": 1, "event": "workflow_dispatch"},
                "workflow": {"id": 1, "path": ".github/workflows/release.yml"},
            }),
        )
    }

    /// The installation changed, like `created`, `suspend`, `unsuspend` or `deleted`.
    #[must_use]
    pub fn installation(&self, action: &str) -> Webhook {
        let repository = self.repository();
        self.webhook("installation", json!({"action": action, "repositories": [repository]}))
    }

    /// The repository got another name; `self` still has the old one.
    #[must_use]
    pub fn repository_renamed(&self, name: &RepositoryName) -> Webhook {
        let (_, from) = halves(&self.repository.full_name);
        let repository = RepositoryRef { id: self.repository.id, full_name: name.clone() };
        let renamed = Self { installation: self.installation, repository };
        renamed.webhook(
            "repository",
            json!({
                "action": "renamed",
                "changes": {"repository": {"name": {"from": from}}},
            }),
        )
    }

    /// The forge tries out the webhook itself, for no installation.
    #[must_use]
    pub fn ping() -> Webhook {
        let body = json!({"zen": "Keep it logically awesome.", "hook_id": 1, "hook": {"id": 1}});
        Webhook { event: "ping", body: body.to_string().into_bytes() }
    }

    fn webhook(&self, event: &'static str, mut body: Value) -> Webhook {
        let (owner, _) = halves(&self.repository.full_name);
        let common = [
            ("installation", json!({"id": self.installation.get(), "account": {"login": owner}})),
            ("repository", self.repository()),
            ("sender", json!({"login": "someone", "id": 1, "type": "User"})),
        ];
        if let Some(body) = body.as_object_mut() {
            body.extend(common.map(|(name, value)| (name.to_owned(), value)));
        }
        Webhook { event, body: body.to_string().into_bytes() }
    }

    fn repository(&self) -> Value {
        let (owner, name) = halves(&self.repository.full_name);
        json!({
            "id": self.repository.id.get(),
            "name": name,
            "full_name": self.repository.full_name.as_str(),
            "private": true,
            "owner": {"login": owner, "id": OWNER},
        })
    }
}

fn halves(name: &RepositoryName) -> (&str, &str) {
    name.as_str().split_once('/').unwrap_or((name.as_str(), ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::{Action, InstallationState, RepositoryState};
    use crate::forge::payload::{PayloadRules, normalise};
    use crate::forge::signature;

    const SHA: &str = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d";

    #[test]
    fn each_webhook_is_signed_and_read_as_what_it_is() {
        let webhooks = Webhooks {
            installation: 42.try_into().expect("the id is positive"),
            repository: RepositoryRef {
                id: 7.try_into().expect("the id is positive"),
                full_name: "octo-org/app".parse().expect("the name is plain"),
            },
        };
        let rules =
            PayloadRules { release_tag_pattern: glob::Pattern::new("v*").expect("it is valid") };
        let secrets =
            signature::Secrets::new(vec!["secret".into()]).expect("the secret is not empty");
        let read = |webhook: &Webhook| {
            let header = sign("secret", &webhook.body);
            assert_eq!(secrets.verify(Some(&header), &webhook.body), Ok(()));
            let read = normalise(webhook.event, &webhook.body, &rules).expect("it is an object");
            assert_eq!(read.event, webhook.event);
            read
        };
        let push = read(&webhooks.push_tag("v1", SHA));
        assert_eq!(push.repository, Some(webhooks.repository.clone()));
        assert!(matches!(push.action, Some(Action::Release { .. })), "{push:?}");
        let click = read(&webhooks.check_run_rerequested(5, SHA)).action;
        assert!(matches!(click, Some(Action::Rerequest { .. })), "{click:?}");
        let action = read(&webhooks.workflow_run("completed", 5)).action;
        assert!(matches!(action, Some(Action::LookAtWorkflowRun { .. })), "{action:?}");
        for (word, wanted) in
            [("suspend", InstallationState::Suspended), ("unsuspend", InstallationState::Active)]
        {
            let Some(Action::Installation { state, added, .. }) =
                read(&webhooks.installation(word)).action
            else {
                panic!("{word}")
            };
            assert_eq!((state, added), (Some(wanted), vec![webhooks.repository.clone()]));
        }
        let name: RepositoryName = "octo-org/renamed".parse().expect("the name is plain");
        let renamed = read(&webhooks.repository_renamed(&name));
        assert_eq!(renamed.repository.map(|it| it.full_name), Some(name));
        let state = RepositoryState::Active;
        assert_eq!(renamed.action, Some(Action::Repository { state }));
        assert_eq!(read(&Webhooks::ping()).action, None);
    }
}
