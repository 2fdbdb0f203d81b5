//! Opening a session: a token of one repository with one permission.
//!
//! It repeats one thing only: an app credential that was refused is made anew once. Whatever else is to
//! be called again is given back to the store, so that no thread waits here and every call is counted.

use http::{Method, StatusCode};
use secrecy::SecretString;

use super::answer::{Answer, class_of, log_failure};
use super::client::Client;
use super::repository::RepositorySession;
use super::wire::{Request, SendFailure};
use super::{Forge, Gate, Permission, Session, token};
use crate::domain::dead_letter::ErrorClass;
use crate::domain::id::InstallationId;
use crate::domain::outbox::SendResult;
use crate::domain::repository::RepositoryRef;

impl Client {
    /// Asks for a token. Repeated once when the app's credential is refused: it may have been made
    /// in the moment a clock was set.
    fn mint(
        &self,
        installation: InstallationId,
        body: &str,
        gate: &Gate<'_>,
    ) -> Result<Answer, SendResult> {
        let once = || {
            // Signed anew for each try: the second one must not repeat the times that were refused.
            let bearer = self.key.sign(self.clock.now());
            let bearer = bearer.ok_or(SendResult::TokenRefused(ErrorClass::State))?;
            let request = Request {
                method: Method::POST,
                path: format!("/app/installations/{installation}/access_tokens"),
                // Installations do not move.
                moved_path: None,
                bearer: &bearer,
                body: Some(body.to_owned()),
            };
            self.wire.send(&request, gate).map_err(|failure| match failure {
                SendFailure::Stopped(result) => result,
                // A token that was made and never arrived has no effect that matters.
                SendFailure::NotSent | SendFailure::Lost => {
                    SendResult::NotSent(ErrorClass::Unavailable, None)
                }
            })
        };
        let answer = once()?;
        // A `POST` that may be repeated: a second token harms nothing.
        if answer.status == StatusCode::UNAUTHORIZED { once() } else { Ok(answer) }
    }

    /// Takes the token from an answer, or says why there is none.
    fn token(&self, answer: &Answer, permission: Permission) -> Result<SecretString, SendResult> {
        let now = self.clock.now();
        match (answer.limited_until(now), answer.status.as_u16()) {
            (Some(until), _) => Err(SendResult::RateLimited(until)),
            (None, 201) => token::read(answer, permission).map_err(SendResult::TokenRefused),
            (None, 500..=599) => {
                Err(SendResult::NotSent(ErrorClass::Unavailable, answer.wait_until(now)))
            }
            (None, _) => Err(SendResult::TokenRefused(answer.class(now))),
        }
    }
}

impl Forge for Client {
    fn open<'s>(
        &'s self,
        installation: InstallationId,
        repository: &RepositoryRef,
        permission: Permission,
        gate: &'s Gate<'s>,
    ) -> Result<Box<dyn Session + 's>, SendResult> {
        let minted = self.mint(installation, &token::request(repository.id, permission), gate);
        let (status, token) = match minted {
            Ok(answer) => (Some(answer.status), self.token(&answer, permission)),
            Err(result) => (None, Err(result)),
        };
        match token {
            Ok(token) => {
                Ok(Box::new(RepositorySession::new(self, repository.clone(), token, gate)))
            }
            Err(result) => {
                log_failure("mint", status, class_of(result));
                Err(result)
            }
        }
    }
}
