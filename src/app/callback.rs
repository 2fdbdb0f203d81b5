//! Taking a result: who sent it first, then what it says, then the disk, then the answer.
//!
//! A sender that is not the workflow run of the attempt gets the same answer for every reason, also for an
//! attempt that does not exist. The reason goes to a counter and a line, as a word of a closed set.

use crate::app::{App, Error, ResultRules};
use crate::auth::shared_secret::SignedHeaders;
use crate::auth::workload::{self, RunIdentity};
use crate::crypto::sha256;
use crate::domain::digest::Digest;
use crate::domain::id::{AttemptId, ReleaseRunId};
use crate::domain::result::{Expected, NewResult, RecordedResult, ResultProblem};
use crate::forge::result;
use crate::jwks::NoKey;
use crate::jwks::bucket::Peer;

/// A result as it arrived. Nothing of it is trusted yet.
#[derive(Clone, Copy, Debug)]
pub struct Callback<'a> {
    /// The release run the path names.
    pub release_run: &'a str,
    /// The attempt the path names.
    pub attempt: &'a str,
    /// The `Authorization` header, when it is the only credential.
    pub authorization: Option<&'a str>,
    /// The signature's headers, when they are the only credential.
    pub signed: Option<SignedHeaders<'a>>,
    /// Whom a request for an unknown key is charged to.
    pub peer: Peer,
    /// The body is declared as plain JSON.
    pub is_json: bool,
    /// The raw body.
    pub body: &'a [u8],
}

words! {
    /// What became of a result that was taken.
    ResultTaken {
        /// It is on disk, and the release has ended by it.
        Recorded => "recorded",
        /// It was on disk before.
        AlreadyRecorded => "already_recorded",
    }
}

/// The attempt a credential was checked for, and who sent it.
struct Sender {
    release_run: ReleaseRunId,
    attempt: AttemptId,
    run: RunIdentity,
}

/// Why a sender is not known.
enum Unknown {
    /// The credential is not believed.
    Fault(ResultProblem),
    /// It could not be found out.
    Later(Error),
}

impl From<ResultProblem> for Unknown {
    fn from(fault: ResultProblem) -> Self {
        Self::Fault(fault)
    }
}

impl App {
    /// Takes the result of a release from its workflow run. An `Ok` is on disk.
    ///
    /// # Errors
    /// [`Error::ForgeOff`], [`Error::ResultsOff`]; [`Error::Unauthenticated`] for every fault of the credential;
    /// [`Error::UnsupportedMediaType`], [`Error::InvalidRequest`] and [`Error::ResultConflict`] when
    /// it holds and the result cannot be recorded; [`Error::Unavailable`] and
    /// [`Error::KeysUnavailable`] when the same may be sent again later.
    pub fn take_result(&self, callback: &Callback<'_>) -> Result<ResultTaken, Error> {
        let is_off = || if self.intake.is_none() { Error::ForgeOff } else { Error::ResultsOff };
        let rules = self.results.as_ref().ok_or_else(is_off)?;
        let body_sha256 = sha256::of(callback.body);
        let taken = match self.sender(rules, callback, &body_sha256) {
            Ok(sender) => self.record(callback, sender, body_sha256),
            Err(Unknown::Later(error)) => Err(error),
            Err(Unknown::Fault(fault)) => {
                self.metrics.results.count([("outcome", fault.as_str())]);
                self.say_unauthenticated(fault);
                return Err(Error::Unauthenticated);
            }
        };
        self.metrics.results.count([("outcome", outcome(&taken))]);
        taken
    }

    fn say_unauthenticated(&self, fault: ResultProblem) {
        let Some(suppressed) = self.refused.result.due(self.clock.monotonic()) else { return };
        log::warn!(event = "result.unauthenticated", fault = fault.as_str(), suppressed; "a result was refused: its credential is not valid");
    }

    /// Finds out who sent a result.
    fn sender(
        &self,
        rules: &ResultRules,
        callback: &Callback<'_>,
        body_sha256: &Digest,
    ) -> Result<Sender, Unknown> {
        match (callback.authorization, callback.signed) {
            (Some(authorization), _) => {
                let token = workload::Token::read(authorization)?;
                // Before the attempt is looked up, so that a forged token causes no read of the store.
                let keys = rules.keys.of(token.issuer(), token.key_id(), callback.peer);
                let keys = keys.map_err(no_key)?;
                let verified = token.verify(&keys)?;
                let (release_run, attempt, expected) = self.expected(callback)?;
                let run = verified.check(&expected, body_sha256, self.clock.now())?;
                Ok(Sender { release_run, attempt, run })
            }
            (None, Some(signed)) => {
                // Here the attempt comes first, because the MAC covers its nonce.
                let (release_run, attempt, expected) = self.expected(callback)?;
                let now = self.clock.now();
                let run = rules.secrets.verify(&signed, body_sha256, &expected, now)?;
                Ok(Sender { release_run, attempt, run })
            }
            (None, None) => Err(ResultProblem::Missing.into()),
        }
    }

    /// Returns what a result for the path's attempt must be bound to.
    fn expected(
        &self,
        callback: &Callback<'_>,
    ) -> Result<(ReleaseRunId, AttemptId, Expected), Unknown> {
        let release_run = callback.release_run.parse().map_err(|_| ResultProblem::Attempt)?;
        let attempt = callback.attempt.parse().map_err(|_| ResultProblem::Attempt)?;
        let expected = self.store.expected_result(release_run, attempt);
        let expected = expected.map_err(|error| Unknown::Later(error.into()))?;
        Ok((release_run, attempt, expected.ok_or(ResultProblem::Attempt)?))
    }

    fn record(
        &self,
        callback: &Callback<'_>,
        sender: Sender,
        body_sha256: Digest,
    ) -> Result<ResultTaken, Error> {
        // Only a sender that has proved itself is told what is wrong with its request.
        if !callback.is_json {
            return Err(Error::UnsupportedMediaType);
        }
        let unusable = || Error::InvalidRequest("the body must be a result of version 1".into());
        let body = std::str::from_utf8(callback.body).map_err(|_| unusable())?;
        let report = result::read(body).map_err(|_| unusable())?;
        let decision = report.decision;
        let recorded = self.store.record_result(NewResult {
            release_run: sender.release_run,
            attempt: sender.attempt,
            workflow_run: sender.run.workflow_run(),
            credential: sender.run.credential(),
            report,
            body: body.to_owned(),
            body_sha256,
        })?;
        let attempt = sender.attempt.to_string();
        let attempt_id = attempt.as_str();
        match recorded {
            RecordedResult::Now => {
                self.worker_notify.outbox.notify();
                log::info!(event = "result.recorded", attempt_id = attempt_id, decision = decision.as_str(); "a release has ended through its result");
                Ok(ResultTaken::Recorded)
            }
            RecordedResult::Before => Ok(ResultTaken::AlreadyRecorded),
            RecordedResult::Refused(refusal) => {
                log::warn!(event = "result.refused", attempt_id = attempt_id, reason_code = refusal.as_str(); "a result changed nothing");
                Err(Error::ResultConflict(refusal))
            }
        }
    }
}

fn no_key(why: NoKey) -> Unknown {
    match why {
        NoKey::UnknownIssuer => Unknown::Fault(ResultProblem::Issuer),
        NoKey::UnknownKey => Unknown::Fault(ResultProblem::Key),
        NoKey::Unavailable { retry_after } => {
            Unknown::Later(Error::KeysUnavailable { retry_after })
        }
    }
}

/// Returns the counter's word.
const fn outcome(taken: &Result<ResultTaken, Error>) -> &'static str {
    match taken {
        Ok(taken) => taken.as_str(),
        Err(Error::ResultConflict(refusal)) => refusal.as_str(),
        Err(Error::InvalidRequest(_) | Error::UnsupportedMediaType) => "unusable",
        Err(_) => "unavailable",
    }
}
