//! Opening a session: a token of one repository with one permission.
//!
//! It repeats one thing only: an app credential that was refused is made anew once. Whatever else is to
//! be called again is given back to the store, so that no thread waits here and every call is counted.

use http::{Method, StatusCode};

use super::answer::{Answer, class_of};
use super::client::ForgeClient;
use super::credentials::{Credentials, Token, TokenScope};
use super::failure::Unanswered;
use super::repository::RepositorySession;
use super::token::{self, Minted};
use super::wire::{Request, SendFailure};
use super::{Clearance, Forge, Gate, Permission, Session, TokenUse};
use crate::domain::dead_letter::ErrorClass;
use crate::domain::id::InstallationId;
use crate::domain::outbox::SendResult;
use crate::domain::repository::RepositoryRef;

impl ForgeClient {
    /// Makes a call with the app's own credential. One that is refused is not used again.
    pub(super) fn send_as_app(
        &self,
        credentials: &Credentials,
        (method, path, body): (Method, String, Option<String>),
        gate: &dyn Gate,
    ) -> Result<Answer, SendFailure> {
        let unsigned = SendFailure::Stopped(SendResult::TokenRefused(ErrorClass::State));
        let bearer = credentials.app(self.clock.now()).ok_or(unsigned)?;
        // Neither the app nor an installation moves.
        let request = Request { method, path, moved_path: None, bearer: &bearer, body };
        let answer = self.send(&request, gate)?;
        if answer.status == StatusCode::UNAUTHORIZED {
            credentials.app_refused(&bearer);
        }
        Ok(answer)
    }

    /// Asks for a token. Repeated once when the app's credential is refused: it may have been made in the moment a clock
    /// was set, and the second time it is another one.
    fn mint(
        &self,
        credentials: &Credentials,
        scope: TokenScope,
        gate: &dyn Gate,
    ) -> Result<Answer, Unanswered> {
        let once = || {
            let path = format!("/app/installations/{}/access_tokens", scope.installation);
            let body = token::request(scope.repository, scope.permission);
            // A token that was made and never arrived has no effect that matters.
            let not_sent = SendResult::NotSent(ErrorClass::Unavailable, None);
            let sent = self.send_as_app(credentials, (Method::POST, path, Some(body)), gate);
            sent.map_err(|failure| Unanswered::new(failure, not_sent, not_sent))
        };
        let answer = once()?;
        // A `POST` that may be repeated: a second token harms nothing.
        if answer.status == StatusCode::UNAUTHORIZED { once() } else { Ok(answer) }
    }

    fn minted(
        &self,
        credentials: &Credentials,
        scope: TokenScope,
        gate: &dyn Gate,
    ) -> Result<Minted, SendResult> {
        let (answered, token) = match self.mint(credentials, scope, gate) {
            Ok(answer) => (Ok(answer.status), self.token(&answer, scope.permission)),
            Err(Unanswered { result, cause }) => (Err(cause), Err(result)),
        };
        if let Err(result) = token {
            self.call_failed(gate, "mint", answered, class_of(result));
        }
        token
    }

    /// Takes the token from an answer, or says why there is none.
    fn token(&self, answer: &Answer, permission: Permission) -> Result<Minted, SendResult> {
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

impl Forge for ForgeClient {
    fn open<'s>(
        &'s self,
        installation: InstallationId,
        repository: &RepositoryRef,
        permission: Permission,
        token: TokenUse,
        gate: &'s dyn Gate,
    ) -> Result<Box<dyn Session + 's>, SendResult> {
        let scope = TokenScope { installation, repository: repository.id, permission };
        let credentials = self.credentials.get();
        let mint = || self.minted(&credentials, scope, gate);
        let token = match token {
            TokenUse::Own => Token::own(mint()?),
            TokenUse::Shared => match Token::kept(&credentials, scope, self.clock.now()) {
                Some(token) => token,
                None => Token::keep(&credentials, scope, mint()?, self.clock.now()),
            },
        };
        Ok(Box::new(RepositorySession::new(self, repository.clone(), token, gate)))
    }

    fn clearance(&self) -> Option<Clearance<'_>> {
        self.reach.clearance()
    }
}
