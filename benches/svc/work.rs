//! Deliveries to work on, and the rules they are worked on by.

use std::time::Duration;

use svc::domain::delivery::NewDelivery;
use svc::domain::event::{Action, CommitSha, GitRef};
use svc::domain::pace::Pace;
use svc::domain::repository::RepositoryRef;
use svc::domain::retry::RetryPolicy;
use svc::simulator::{Webhook, Webhooks};
use svc::store::{LeasePolicy, NewRelease};

/// The one tenant.
pub(crate) const INSTALLATION: i64 = 42;
/// Its repository's number.
pub(crate) const REPOSITORY: i64 = 420;
/// Its repository's name.
pub(crate) const NAME: &str = "acme/site";
/// Tries of everything.
pub(crate) const RETRY: RetryPolicy = RetryPolicy {
    attempts_max: 3,
    delay_base: Duration::from_secs(5),
    delay_max: Duration::from_secs(60),
};
/// No lease runs out while it is measured.
pub(crate) const POLICY: LeasePolicy =
    LeasePolicy { lease: Duration::from_secs(3_600), retry: RETRY };

/// The pace of writes: as good as none.
pub(crate) fn pace() -> Pace {
    Pace::per_minute(u32::MAX)
}

/// How releases are made.
pub(crate) fn plan() -> NewRelease {
    NewRelease {
        own_app: 1.try_into().unwrap(),
        workflow: "release.yml".to_owned(),
        check_run_name: "release".to_owned(),
    }
}

pub(crate) fn repository() -> RepositoryRef {
    RepositoryRef { id: REPOSITORY.try_into().unwrap(), full_name: NAME.parse().unwrap() }
}

/// A delivery that starts a release of its own.
pub(crate) fn release(number: usize) -> NewDelivery {
    let action = Action::Release {
        git_ref: GitRef::new("refs/tags/v1.2.3").unwrap(),
        head_sha: CommitSha::new(&commit(number)).unwrap(),
        owner: None,
    };
    delivery(number, "push", action)
}

/// The repository of one of many installations.
pub(crate) fn repository_of(installation: usize) -> RepositoryRef {
    let id = i64::try_from(installation + 1).unwrap().try_into().unwrap();
    RepositoryRef { id, full_name: format!("org-{installation}/app").parse().unwrap() }
}

/// A delivery that starts a release of its own, of one of so many installations in turn.
pub(crate) fn release_of(number: usize, installations: usize) -> NewDelivery {
    let installation = number % installations;
    NewDelivery {
        installation: Some(i64::try_from(installation + 1).unwrap().try_into().unwrap()),
        repository: Some(repository_of(installation)),
        ..release(number)
    }
}

/// A delivery whose job ends without touching anything else.
pub(crate) fn hint(number: usize) -> NewDelivery {
    let action = Action::LookAtWorkflowRun { workflow_run: 7.try_into().unwrap() };
    delivery(number, "workflow_run", action)
}

fn delivery(number: usize, event: &'static str, action: Action) -> NewDelivery {
    NewDelivery {
        id: id(number).parse().unwrap(),
        event,
        installation: Some(INSTALLATION.try_into().unwrap()),
        repository: Some(repository()),
        body_sha256: [7; 32].into(),
        action: Some(action),
    }
}

/// A push of a tag on a commit of its own, as the forge sends it.
pub(crate) fn push(number: usize) -> Webhook {
    let webhooks =
        Webhooks { installation: INSTALLATION.try_into().unwrap(), repository: repository() };
    webhooks.push_tag("v1.2.3", &commit(number))
}

/// A delivery id as scattered as the forge's are.
pub(crate) fn id(number: usize) -> String {
    let mixed = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    format!("{:08x}-{:04x}-4000-8000-{number:012x}", mixed >> 32, mixed & 0xffff)
}

/// A commit for each number.
pub(crate) fn commit(number: usize) -> String {
    format!("{:040x}", number + 1)
}
