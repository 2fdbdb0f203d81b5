//! The identity of a workflow run: a token that the forge's issuer signed for it, bound to one attempt
//! and one body by its audience. Pure: the keys and the time are arguments, and nothing is fetched.
//!
//! What is read is what the forge really sends, in one spelling. A header that asks for anything but
//! RS256 with a known key is refused, not obeyed; so is an object in which a name is repeated.
//!
//! `repository_owner_id` must be a number, and is compared unless the release was asked for in a version that
//! did not note the owner. `sub` is not read: the owner of a repository may choose its shape.
//!
//! What else must hold, and why: `docs/decisions/23-result-authentication.md`.

mod token;

use std::time::Duration;

use subtle::ConstantTimeEq as _;

use crate::crypto::jose::Algorithm;
use crate::crypto::sha256;
use crate::domain::digest::Digest;
use crate::domain::id::{OwnerId, RepositoryId, WorkflowRunId};
use crate::domain::result::{Expected, ResultProblem};
use crate::domain::time::Timestamp;

pub use token::Token;

/// What issuers of workflow runs sign with.
pub const ALGORITHMS: &[Algorithm] = &[Algorithm::Rs256];

/// Clocks of issuer, forge and ours may differ by so much.
const LEEWAY: Duration = Duration::from_mins(1);
/// A token older than this is not taken, however long it would hold.
const AGE_MAX: Duration = Duration::from_mins(10);
/// The only event of which a run is believed.
const EVENT: &str = "workflow_dispatch";

/// Who sent a result: proof that its credential was checked.
#[derive(Clone, Debug)]
pub struct RunIdentity {
    pub(super) workflow_run: WorkflowRunId,
    pub(super) credential: Digest,
}

impl RunIdentity {
    /// Returns the workflow run.
    #[must_use]
    pub const fn workflow_run(&self) -> WorkflowRunId {
        self.workflow_run
    }

    /// Returns what names the credential.
    #[must_use]
    pub const fn credential(&self) -> Digest {
        self.credential
    }
}

/// Claims of a token, not yet compared with anything.
#[derive(Debug)]
pub(super) struct Claims {
    pub(super) issuer: String,
    pub(super) audience: String,
    pub(super) token_id: String,
    /// Seconds since the epoch, as are the next two.
    pub(super) issued_at: i64,
    pub(super) not_before: Option<i64>,
    pub(super) expires_at: i64,
    pub(super) repository: RepositoryId,
    pub(super) owner: OwnerId,
    pub(super) repository_name: String,
    pub(super) workflow_run: WorkflowRunId,
    pub(super) run_attempt: u32,
    pub(super) event: String,
    pub(super) workflow_ref: String,
    pub(super) git_ref: String,
    pub(super) sha: String,
}

/// Claims whose signature holds.
#[derive(Debug)]
pub struct Verified(Claims);

impl Verified {
    /// Compares the claims with what the attempt and the body ask for, in order.
    ///
    /// # Errors
    /// The first thing that is not as it must be.
    pub fn check(
        &self,
        expected: &Expected,
        body_sha256: &Digest,
        now: Timestamp,
    ) -> Result<RunIdentity, ResultProblem> {
        let claims = &self.0;
        let audience = audience(&expected.nonce, body_sha256);
        // In constant time, because the audience contains the nonce of the attempt.
        if !bool::from(claims.audience.as_bytes().ct_eq(audience.as_bytes())) {
            return Err(ResultProblem::Audience);
        }
        check_times(claims, now)?;
        check_run(claims, expected)?;
        // `jti` is unique for its issuer alone (RFC 7519, section 4.1.7).
        let name = format!("{}\n{}", claims.issuer, claims.token_id);
        Ok(RunIdentity {
            workflow_run: claims.workflow_run,
            credential: sha256::of(name.as_bytes()),
        })
    }
}

/// Returns the audience of a result's token: it puts the attempt and the body under the signature.
#[must_use]
pub fn audience(nonce: &str, body_sha256: &Digest) -> String {
    format!("svcd:v1:{nonce}:{body_sha256}")
}

fn check_times(claims: &Claims, now: Timestamp) -> Result<(), ResultProblem> {
    let instant = |seconds: i64| Timestamp::from_micros(seconds.saturating_mul(1_000_000));
    let soon = now.plus(LEEWAY);
    let begins = [Some(claims.issued_at), claims.not_before];
    if begins.into_iter().flatten().any(|begin| instant(begin) > soon) {
        return Err(ResultProblem::NotYetValid);
    }
    if instant(claims.expires_at).plus(LEEWAY) <= now {
        return Err(ResultProblem::Expired);
    }
    if now.since(instant(claims.issued_at)) > AGE_MAX {
        return Err(ResultProblem::TooOld);
    }
    Ok(())
}

fn check_run(claims: &Claims, expected: &Expected) -> Result<(), ResultProblem> {
    let hold = |holds: bool, fault| if holds { Ok(()) } else { Err(fault) };
    hold(claims.repository == expected.repository, ResultProblem::Repository)?;
    hold(expected.owner.is_none_or(|owner| owner == claims.owner), ResultProblem::Repository)?;
    let same_run = expected.workflow_run.is_none_or(|run| run == claims.workflow_run);
    hold(same_run && claims.run_attempt == expected.run_attempt, ResultProblem::WorkflowRun)?;
    hold(claims.event == EVENT, ResultProblem::Event)?;
    let workflow = expected.workflow.as_deref().ok_or(ResultProblem::Workflow)?;
    // With its ref: on another branch the same file may be another program.
    let workflow_ref =
        format!("{}/.github/workflows/{workflow}@{}", claims.repository_name, expected.git_ref);
    let same_workflow = claims.workflow_ref == workflow_ref && claims.git_ref == expected.git_ref;
    hold(same_workflow, ResultProblem::Workflow)?;
    hold(claims.sha == expected.head_sha, ResultProblem::Commit)
}
