//! One repository over one short-lived token: how it is called.

use std::fmt::Write as _;

use http::Method;
use secrecy::SecretString;

use super::Gate;
use super::answer::Answer;
use super::client::Client;
use super::wire::{Request, SendFailure};
use crate::domain::dead_letter::ErrorClass;
use crate::domain::outbox::SendResult;
use crate::domain::repository::RepositoryRef;

/// A session of [`Client`].
pub(super) struct RepositorySession<'a> {
    pub(super) client: &'a Client,
    pub(super) repository: RepositoryRef,
    token: SecretString,
    gate: &'a Gate<'a>,
}

impl<'a> RepositorySession<'a> {
    pub(super) const fn new(
        client: &'a Client,
        repository: RepositoryRef,
        token: SecretString,
        gate: &'a Gate<'a>,
    ) -> Self {
        Self { client, repository, token, gate }
    }

    /// Makes a call on the repository.
    pub(super) fn call(
        &self,
        method: Method,
        rest: &str,
        body: Option<String>,
    ) -> Result<Answer, SendResult> {
        let request = Request {
            method,
            path: format!("/repos/{}{rest}", self.repository.full_name),
            // By number: it is where the forge redirects to after a rename or transfer.
            moved_path: Some(format!("/repositories/{}{rest}", self.repository.id)),
            bearer: &self.token,
            body,
        };
        self.client.wire.send(&request, self.gate).map_err(|failure| match failure {
            SendFailure::Stopped(result) => result,
            // No connection came to stand, so the call may be repeated even if it makes something.
            SendFailure::NotSent => SendResult::NotSent(ErrorClass::Unavailable, None),
            SendFailure::Lost => SendResult::Uncertain(ErrorClass::Unavailable, None),
        })
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
