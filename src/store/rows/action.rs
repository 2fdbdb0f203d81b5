//! How a normalised action is stored: JSON, written and read only here. It is tenant content; it is
//! cleared when its job completes.

use serde::{Deserialize, Serialize};

use crate::domain::event::{
    AccountName, Action, CommitSha, GitRef, InstallationState, RepositoryState,
};
use crate::domain::id::OwnerId;
use crate::domain::repository::RepositoryRef;

#[derive(Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
enum Stored {
    Release {
        git_ref: String,
        head_sha: String,
        // Absent in rows of versions that did not store the owner.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner_id: Option<i64>,
    },
    Rerequest {
        check_run_id: i64,
        app_id: i64,
        head_sha: String,
    },
    LookAtWorkflowRun {
        workflow_run_id: i64,
    },
    Installation {
        state: Option<String>,
        account: Option<String>,
        added: Vec<(i64, String)>,
        removed: Vec<(i64, String)>,
    },
    Repository {
        state: String,
    },
}

/// Writes an action.
pub(in crate::store) fn encode(action: &Action) -> String {
    let stored = match action {
        Action::Release { git_ref, head_sha, owner } => Stored::Release {
            git_ref: git_ref.as_str().to_owned(),
            head_sha: head_sha.as_str().to_owned(),
            owner_id: owner.map(OwnerId::get),
        },
        Action::Rerequest { check_run, app, head_sha } => Stored::Rerequest {
            check_run_id: check_run.get(),
            app_id: app.get(),
            head_sha: head_sha.as_str().to_owned(),
        },
        Action::LookAtWorkflowRun { workflow_run } => {
            Stored::LookAtWorkflowRun { workflow_run_id: workflow_run.get() }
        }
        Action::Installation { state, account, added, removed } => Stored::Installation {
            state: state.map(|state| state.as_str().to_owned()),
            account: account.as_ref().map(|name| name.as_str().to_owned()),
            added: encode_repositories(added),
            removed: encode_repositories(removed),
        },
        Action::Repository { state } => Stored::Repository { state: state.as_str().to_owned() },
    };
    // An array of one: the column is a list of actions, although a delivery asks for at most one today.
    serde_json::to_string(&[stored]).expect("strings and numbers always serialize")
}

/// Reads an action; `None` when it does not read as one.
pub(in crate::store) fn decode(json: &str) -> Option<Action> {
    // Every value is checked again by its type: a row that was edited by hand must not reach the forge.
    let [stored] = serde_json::from_str::<[Stored; 1]>(json).ok()?;
    Some(match stored {
        Stored::Release { git_ref, head_sha, owner_id } => Action::Release {
            git_ref: GitRef::new(&git_ref)?,
            head_sha: CommitSha::new(&head_sha)?,
            owner: owner_id.map(OwnerId::try_from).transpose().ok()?,
        },
        Stored::Rerequest { check_run_id, app_id, head_sha } => Action::Rerequest {
            check_run: check_run_id.try_into().ok()?,
            app: app_id.try_into().ok()?,
            head_sha: CommitSha::new(&head_sha)?,
        },
        Stored::LookAtWorkflowRun { workflow_run_id } => {
            Action::LookAtWorkflowRun { workflow_run: workflow_run_id.try_into().ok()? }
        }
        Stored::Installation { state, account, added, removed } => Action::Installation {
            state: match state {
                Some(word) => Some(InstallationState::from_word(&word)?),
                None => None,
            },
            account: match account {
                Some(name) => Some(AccountName::new(&name)?),
                None => None,
            },
            added: decode_repositories(added)?,
            removed: decode_repositories(removed)?,
        },
        Stored::Repository { state } => {
            Action::Repository { state: RepositoryState::from_word(&state)? }
        }
    })
}

fn encode_repositories(repositories: &[RepositoryRef]) -> Vec<(i64, String)> {
    repositories.iter().map(|r| (r.id.get(), r.full_name.to_string())).collect()
}

fn decode_repositories(stored: Vec<(i64, String)>) -> Option<Vec<RepositoryRef>> {
    let decode = |(id, name): (i64, String)| {
        Some(RepositoryRef { id: id.try_into().ok()?, full_name: name.parse().ok()? })
    };
    stored.into_iter().map(decode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_reads_back() {
        let repository =
            RepositoryRef { id: 7.try_into().unwrap(), full_name: "o/r".parse().unwrap() };
        let head_sha = CommitSha::new(&"a".repeat(40)).unwrap();
        let mut actions = vec![
            Action::Release {
                git_ref: GitRef::new("refs/tags/v1").unwrap(),
                head_sha: head_sha.clone(),
                owner: None,
            },
            Action::Release {
                git_ref: GitRef::new("refs/tags/v1").unwrap(),
                head_sha: head_sha.clone(),
                owner: Some(5.try_into().unwrap()),
            },
            Action::Rerequest {
                check_run: 1.try_into().unwrap(),
                app: 2.try_into().unwrap(),
                head_sha,
            },
            Action::LookAtWorkflowRun { workflow_run: 3.try_into().unwrap() },
        ];
        for state in [None].into_iter().chain(InstallationState::ALL.iter().copied().map(Some)) {
            actions.push(Action::Installation {
                state,
                account: AccountName::new("octo"),
                added: vec![repository.clone()],
                removed: Vec::new(),
            });
        }
        for state in RepositoryState::ALL.iter().copied() {
            actions.push(Action::Repository { state });
        }
        for action in actions {
            // The word that dead letters show is the stored one.
            let stored = serde_json::from_str::<serde_json::Value>(&encode(&action)).unwrap();
            assert_eq!(stored[0]["action"], action.word());
            assert!(Action::WORDS.contains(&action.word()));
            assert_eq!(decode(&encode(&action)), Some(action));
        }
    }

    #[test]
    fn what_is_not_an_action_is_nothing() {
        for json in ["", "[]", "{}", "[{}]", r#"[{"action":"release"}]"#, r#"[{"action":"x"}]"#] {
            assert_eq!(decode(json), None, "{json}");
        }
    }
}
