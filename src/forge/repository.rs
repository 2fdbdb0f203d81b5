//! One repository over one short-lived token: how it is called.

use std::fmt::Write as _;

use http::Method;

use super::Gate;
use super::answer::Answer;
use super::client::ForgeClient;
use super::credentials::Token;
use super::failure::Unanswered;
use super::wire::Request;
use crate::domain::dead_letter::ErrorClass;
use crate::domain::outbox::SendResult;
use crate::domain::repository::RepositoryRef;

/// A session of [`ForgeClient`].
pub(super) struct RepositorySession<'a> {
    pub(super) client: &'a ForgeClient,
    pub(super) repository: RepositoryRef,
    token: Token,
    pub(super) gate: &'a dyn Gate,
}

impl<'a> RepositorySession<'a> {
    pub(super) const fn new(
        client: &'a ForgeClient,
        repository: RepositoryRef,
        token: Token,
        gate: &'a dyn Gate,
    ) -> Self {
        Self { client, repository, token, gate }
    }

    /// Makes a call on the repository.
    pub(super) fn call(
        &self,
        method: Method,
        rest: &str,
        body: Option<String>,
    ) -> Result<Answer, Unanswered> {
        let request = Request {
            method,
            path: format!("/repos/{}{rest}", self.repository.full_name),
            // By number: it is where the forge redirects to after a rename or transfer.
            moved_path: Some(format!("/repositories/{}{rest}", self.repository.id)),
            bearer: &self.token.secret,
            body,
        };
        // If no connection came to stand, the call may be repeated even if it makes something.
        let not_sent = SendResult::NotSent(ErrorClass::Unavailable, None);
        let lost = SendResult::Uncertain(ErrorClass::Unavailable, None);
        let sent = self.client.send(&request, self.gate);
        let answer = sent.map_err(|failure| Unanswered::new(failure, not_sent, lost))?;
        if answer.class(self.client.clock.now()).may_be_lag() {
            self.token.refused();
        }
        Ok(answer)
    }
}

/// Returns `text` as one path segment or query value: unreserved characters stay.
pub(super) fn percent_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            write!(encoded, "%{byte:02X}").expect("writing to a string does not fail");
        }
    }
    encoded
}
