//! What a webhook can ask of us, in our words. One delivery asks for at most one action.

use std::fmt;

use crate::domain::id::{AppId, CheckRunId, OwnerId, WorkflowRunId};
use crate::domain::repository::RepositoryRef;

/// Repositories taken from one delivery; further ones are learned when they first send something.
pub const REPOSITORIES_MAX: usize = 5_000;

/// A normalised action. Everything else a payload holds has been left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A tag was pushed that matches the release pattern.
    Release {
        /// Full ref, `refs/tags/…`. Source: the tenant.
        git_ref: GitRef,
        /// The commit it names.
        head_sha: CommitSha,
        /// Whose repository it is; `None` when an older version took it in.
        owner: Option<OwnerId>,
    },
    /// A person asked for our check run to be run again.
    Rerequest {
        /// The check run that was clicked.
        check_run: CheckRunId,
        /// The app that owns it, as delivered.
        app: AppId,
        /// The commit it stands on.
        head_sha: CommitSha,
    },
    /// A workflow run moved: a hint to look now, never a conclusion.
    LookAtWorkflowRun {
        /// The run to look at.
        workflow_run: WorkflowRunId,
    },
    /// An installation came, went, was suspended, or may reach other repositories than before.
    Installation {
        /// What it is now; `None` when the delivery does not say.
        state: Option<InstallationState>,
        /// Login of its owner, when named.
        account: Option<AccountName>,
        /// Repositories it may reach from now on; at most [`REPOSITORIES_MAX`].
        added: Vec<RepositoryRef>,
        /// Repositories it may no longer reach; at most [`REPOSITORIES_MAX`].
        removed: Vec<RepositoryRef>,
    },
    /// A repository was renamed, moved or deleted.
    Repository {
        /// What it is now.
        state: RepositoryState,
    },
}

impl Action {
    /// Every stable word of what a job does, in the order above.
    pub const WORDS: [&'static str; 5] =
        ["release", "rerequest", "look_at_workflow_run", "installation", "repository"];

    /// Returns the stable word of what it does.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Release { .. } => "release",
            Self::Rerequest { .. } => "rerequest",
            Self::LookAtWorkflowRun { .. } => "look_at_workflow_run",
            Self::Installation { .. } => "installation",
            Self::Repository { .. } => "repository",
        }
    }
}

words! {
    InstallationState {
        /// Work may be done.
        Active => "active",
        /// The owner suspended it: nothing is started.
        Suspended => "suspended",
        /// The owner removed it.
        Deleted => "deleted",
    }
}

words! {
    RepositoryState {
        /// It can be reached under its name.
        Active => "active",
        /// It was deleted, or no longer belongs to the installation.
        Deleted => "deleted",
    }
}

/// Declares a text type with one constructor that refuses anything outside its shape.
macro_rules! bounded_text {
    ($(#[$doc:meta])* $name:ident, $accepts:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq)]
        pub struct $name(String);

        /// Shown without the text.
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(..)"))
            }
        }

        impl $name {
            /// Returns the value when the text has the shape.
            #[must_use]
            pub fn new(text: &str) -> Option<Self> {
                let accepts: fn(&str) -> bool = $accepts;
                accepts(text).then(|| Self(text.to_owned()))
            }

            /// Returns the text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}

bounded_text! {
    /// A commit. Shape: 40 or 64 lower-case hex digits, not all zero. Source: the forge.
    CommitSha,
    |text| matches!(text.len(), 40 | 64)
        && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        && text.bytes().any(|b| b != b'0')
}

bounded_text! {
    /// A full tag ref. Shape: `refs/tags/` and at least one character, at most 255 bytes, no control
    /// characters. Source: the tenant, so it is tenant content.
    GitRef,
    |text| text.len() <= 255
        && text.strip_prefix("refs/tags/").is_some_and(|tag| !tag.is_empty())
        && !text.chars().any(char::is_control)
}

bounded_text! {
    /// Login of an account. Shape: 1 to 100 letters, digits, `-`, `_`, `.`, `[`, `]`. Source: the forge.
    AccountName,
    |text| (1..=100).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.[]".contains(&b))
}

impl GitRef {
    /// Returns the tag without `refs/tags/`.
    #[must_use]
    pub fn tag(&self) -> &str {
        self.0.strip_prefix("refs/tags/").unwrap_or(&self.0)
    }
}
