//! The identity of a workflow run at a forge without identity tokens: a MAC of a shared secret over
//! everything that binds a result.
//!
//! It says less than a token: a holder of the secret who learns the nonce of an attempt can speak for
//! its run; repository, workflow and commit are the secret's word.

use std::time::Duration;

use ring::hmac;
use secrecy::{ExposeSecret as _, SecretString};

use crate::auth::workload::RunIdentity;
use crate::crypto::sha256;
use crate::domain::digest::Digest;
use crate::domain::id::WorkflowRunId;
use crate::domain::result::{Expected, ResultProblem};
use crate::domain::time::Timestamp;
use crate::runtime::current::Current;

/// How far the clock of the run may be from ours, either way.
const WINDOW: Duration = Duration::from_mins(5);

/// The secrets a result may be signed with; several while one is being replaced. Shape: none empty.
/// Source: the operator.
#[derive(Debug)]
pub struct Secrets(Current<Vec<SecretString>>);

/// What stands in the headers of a signed result. Nothing of it is trusted.
#[derive(Clone, Copy, Debug)]
pub struct SignedHeaders<'a> {
    /// 64 lower-case hex digits.
    pub mac: &'a str,
    /// Seconds since the epoch.
    pub timestamp: &'a str,
    /// Number of the workflow run.
    pub workflow_run: &'a str,
    /// The forge's re-run counter.
    pub run_attempt: &'a str,
}

/// What stands in the headers, in its one spelling.
struct Signed {
    mac: Digest,
    at: Timestamp,
    workflow_run: WorkflowRunId,
}

impl Secrets {
    /// Returns the secrets. None of them means that nothing is believed.
    #[must_use]
    pub fn new(secrets: Vec<SecretString>) -> Self {
        Self(Current::new(secrets))
    }

    /// Puts other secrets in the place of those before.
    pub fn replace(&self, secrets: Vec<SecretString>) {
        self.0.set(secrets);
    }

    /// Checks the headers of a body that is sent for the expected attempt.
    ///
    /// # Errors
    /// The first thing that is not as it must be.
    pub fn verify(
        &self,
        headers: &SignedHeaders<'_>,
        body_sha256: &Digest,
        expected: &Expected,
        now: Timestamp,
    ) -> Result<RunIdentity, ResultProblem> {
        let signed = read(headers).ok_or(ResultProblem::Malformed)?;
        let message = message(headers, &expected.nonce, body_sha256);
        // Every secret is tried, so that the time taken does not tell which one held.
        let holds = |secret: &&SecretString| {
            let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose_secret().as_bytes());
            // `hmac::verify` compares in constant time.
            hmac::verify(&key, message.as_bytes(), signed.mac.as_bytes()).is_ok()
        };
        if self.0.get().iter().filter(holds).count() == 0 {
            return Err(ResultProblem::Signature);
        }
        if signed.at > now.plus(WINDOW) {
            return Err(ResultProblem::NotYetValid);
        }
        if now.since(signed.at) > WINDOW {
            return Err(ResultProblem::TooOld);
        }
        // The run's number may not be known here yet; the MAC covers the one that the header names.
        let same_run = expected.workflow_run.is_none_or(|run| run == signed.workflow_run);
        if !same_run || headers.run_attempt != expected.run_attempt.to_string() {
            return Err(ResultProblem::WorkflowRun);
        }
        Ok(RunIdentity {
            workflow_run: signed.workflow_run,
            credential: sha256::of(headers.mac.as_bytes()),
        })
    }
}

fn read(headers: &SignedHeaders<'_>) -> Option<Signed> {
    let mac = headers.mac.parse().ok()?;
    let seconds: i64 = headers.timestamp.parse().ok()?;
    // The MAC covers the text of the header, so each number has one spelling.
    let plain = seconds >= 0 && seconds.to_string() == headers.timestamp;
    let at = Timestamp::from_micros(seconds.saturating_mul(1_000_000));
    let workflow_run = headers.workflow_run.parse().ok()?;
    plain.then_some(Signed { mac, at, workflow_run })
}

fn message(headers: &SignedHeaders<'_>, nonce: &str, body_sha256: &Digest) -> String {
    let SignedHeaders { workflow_run, run_attempt, timestamp, .. } = headers;
    // No header value contains a line feed, so no other parts give the same text.
    format!("v1\n{nonce}\n{workflow_run}\n{run_attempt}\n{timestamp}\n{body_sha256}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "a shared secret of the tests, long enough";
    const NOW: Timestamp = Timestamp::from_micros(1_795_251_600_000_000);
    fn digest(byte: u8) -> Digest {
        [byte; 32].into()
    }

    fn expected() -> Expected {
        Expected {
            nonce: "0123".to_owned(),
            repository: 10.try_into().unwrap(),
            owner: None,
            git_ref: "refs/tags/v1".to_owned(),
            head_sha: "a".repeat(40),
            workflow: None,
            workflow_run: Some(5.try_into().unwrap()),
            run_attempt: 1,
        }
    }

    fn mac(secret: &str, message: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        {
            let tag = hmac::sign(&key, message.as_bytes());
            let bytes: [u8; 32] = tag.as_ref().try_into().unwrap();
            Digest::from(bytes).to_string()
        }
    }

    fn signed(
        secret: &str,
        [run, attempt, timestamp]: [&str; 3],
    ) -> Result<RunIdentity, ResultProblem> {
        let body = "07".repeat(32);
        let mac = mac(secret, &format!("v1\n0123\n{run}\n{attempt}\n{timestamp}\n{body}"));
        let headers =
            SignedHeaders { mac: &mac, timestamp, workflow_run: run, run_attempt: attempt };
        let secrets = Secrets::new(vec!["another secret".into(), SECRET.into()]);
        secrets.verify(&headers, &digest(7), &expected(), NOW)
    }

    #[test]
    fn everything_is_bound_and_only_for_a_while() {
        assert_eq!(signed(SECRET, ["5", "1", "1795251600"]).unwrap().workflow_run().get(), 5);
        assert!(signed("another secret", ["5", "1", "1795251600"]).is_ok());
        assert!(signed(SECRET, ["5", "1", "1795251300"]).is_ok());
        assert!(signed(SECRET, ["5", "1", "1795251900"]).is_ok());
        for (secret, parts, fault) in [
            ("wrong", ["5", "1", "1795251600"], ResultProblem::Signature),
            (SECRET, ["6", "1", "1795251600"], ResultProblem::WorkflowRun),
            (SECRET, ["5", "2", "1795251600"], ResultProblem::WorkflowRun),
            (SECRET, ["5", "01", "1795251600"], ResultProblem::WorkflowRun),
            (SECRET, ["5", "1", "1795251299"], ResultProblem::TooOld),
            (SECRET, ["5", "1", "1795251901"], ResultProblem::NotYetValid),
            (SECRET, ["05", "1", "1795251600"], ResultProblem::Malformed),
            (SECRET, ["x", "1", "1795251600"], ResultProblem::Malformed),
            (SECRET, ["5", "1", "+1795251600"], ResultProblem::Malformed),
            (SECRET, ["5", "1", "-1"], ResultProblem::Malformed),
            (SECRET, ["5", "1", ""], ResultProblem::Malformed),
        ] {
            assert_eq!(signed(secret, parts).err(), Some(fault), "{secret} {parts:?}");
        }
        assert!(!format!("{:?}", Secrets::new(vec![SECRET.into()])).contains(SECRET));
    }

    #[test]
    fn another_body_or_attempt_needs_another_mac() {
        let mac = mac(SECRET, &format!("v1\n0123\n5\n1\n1795251600\n{}", "07".repeat(32)));
        let headers = SignedHeaders {
            mac: &mac,
            timestamp: "1795251600",
            workflow_run: "5",
            run_attempt: "1",
        };
        let secrets = Secrets::new(vec![SECRET.into()]);
        let other = Expected { nonce: "4567".to_owned(), ..expected() };
        assert!(secrets.verify(&headers, &digest(7), &expected(), NOW).is_ok());
        for (body, expected) in [(digest(8), expected()), (digest(7), other)] {
            let fault = secrets.verify(&headers, &body, &expected, NOW).err();
            assert_eq!(fault, Some(ResultProblem::Signature));
        }
        let none = Secrets::new(Vec::new());
        assert_eq!(
            none.verify(&headers, &digest(7), &expected(), NOW).err(),
            Some(ResultProblem::Signature)
        );
    }
}
