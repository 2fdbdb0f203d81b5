//! The forge over its REST API: who we are there, and how a session is opened.
//!
//! This room is the only layer that repeats anything, and only after an answer that proves there
//! was no effect: an app credential that was refused is made anew once, and a token that is only
//! seconds old is given time to become known. Nothing below repeats at all.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use secrecy::SecretString;

use super::answer::{Answer, class_of, log_failure};
use super::session::RepositorySession;
use super::token::{AppKey, Token};
use super::wire::{Request, Wire};
use super::{Forge, Permission, Session, token, wire};
use crate::clock::Clock;
use crate::domain::dead_letter::ErrorClass;
use crate::domain::delivery::RepositoryRef;
use crate::domain::id::{AppId, InstallationId};
use crate::domain::outbox::SendResult;
use crate::wake::Wake;

/// How the forge is reached. Source: the operator.
#[derive(Debug)]
pub struct Settings {
    /// Where its API begins, like `https://api.github.com` or `https://forge.example/api/v3`.
    /// Shape: https, or http on a loopback name; no query, no user.
    pub base_url: String,
    /// The app we are.
    pub app_id: AppId,
    /// Its private key: RSA, at least 2048 bits, PEM, PKCS#1 or PKCS#8.
    pub private_key: SecretString,
    /// The dialect it speaks.
    pub api_version: ApiVersion,
    /// Longest time of one exchange, from finding the address to the last byte.
    pub timeout: Duration,
    /// Longest time until a connection stands, TLS included.
    pub timeout_connect: Duration,
    /// Waits before a call is repeated that a token younger than 15 s may have failed.
    pub freshness_waits: [Duration; 3],
    /// Certificates in PEM that are trusted instead of the public ones: a private authority.
    pub root_certificate: Option<Vec<u8>>,
}

impl Settings {
    /// Default of [`Settings::timeout`].
    pub const TIMEOUT: Duration = Duration::from_secs(15);
    /// Default of [`Settings::timeout_connect`].
    pub const TIMEOUT_CONNECT: Duration = Duration::from_secs(5);
    /// Default of [`Settings::freshness_waits`].
    pub const FRESHNESS_WAITS: [Duration; 3] =
        [Duration::from_secs(1), Duration::from_secs(3), Duration::from_secs(8)];
}

/// A dialect of the API. They differ in what a dispatch answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiVersion {
    /// The number of the run comes when it is asked for.
    V2022_11_28,
    /// The number of the run always comes.
    V2026_03_10,
    /// An own server: the number of the run never comes.
    Ghes,
}

impl ApiVersion {
    /// Returns the dialect that goes by this word in the settings.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "2022-11-28" => Some(Self::V2022_11_28),
            "2026-03-10" => Some(Self::V2026_03_10),
            "ghes" => Some(Self::Ghes),
            _ => None,
        }
    }

    /// Returns the value of the version header.
    pub(super) const fn header(self) -> &'static str {
        match self {
            Self::V2022_11_28 | Self::Ghes => "2022-11-28",
            Self::V2026_03_10 => "2026-03-10",
        }
    }
}

/// Why there can be no client with these settings. Never holds a part of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The base URL is no https URL, nor http on a loopback name, or has a query or a user.
    #[error("the forge's URL is not an https URL without query and user")]
    BaseUrl,
    /// The key is not a usable RSA key.
    #[error("the app's private key is not an RSA key of at least 2048 bits in PEM")]
    PrivateKey,
    /// There is no readable certificate.
    #[error("the root certificate is not a PEM certificate")]
    RootCertificate,
}

/// Returns everything that would keep a client from being made of these settings; none of it repeats
/// a setting.
#[must_use]
pub fn problems(
    base_url: &str,
    private_key: Option<&SecretString>,
    root_certificate: Option<&[u8]>,
) -> Vec<ClientError> {
    let key = private_key.and_then(|pem| token::read_key(pem).err());
    let root = root_certificate.and_then(|pem| wire::read_roots(pem).err());
    wire::read_base(base_url).err().into_iter().chain(key).chain(root).collect()
}

/// A client of the real API.
pub struct Client {
    pub(super) wire: Wire,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) stop: Wake,
    pub(super) app: AppId,
    pub(super) api_version: ApiVersion,
    pub(super) freshness_waits: [Duration; 3],
    pub(super) key: AppKey,
}

impl Client {
    /// Returns a client. Nothing is sent. Once `stop` is stopped, no call waits any more for a
    /// fresh token to become known.
    ///
    /// # Errors
    /// By what is wrong with the settings.
    pub fn new(settings: Settings, clock: Arc<dyn Clock>, stop: Wake) -> Result<Self, ClientError> {
        Ok(Self {
            wire: Wire::new(&settings)?,
            clock,
            stop,
            app: settings.app_id,
            api_version: settings.api_version,
            freshness_waits: settings.freshness_waits,
            key: AppKey::new(settings.app_id, &settings.private_key)?,
        })
    }

    /// Asks for a token. Repeated once when the app's credential is refused: it may have been made
    /// in the moment a clock was set.
    fn mint(&self, installation: InstallationId, body: &str) -> Result<Answer, SendResult> {
        let once = || {
            let bearer = self.key.sign(self.clock.now());
            let bearer = bearer.ok_or(SendResult::TokenRefused(ErrorClass::State))?;
            let request = Request {
                method: Method::POST,
                path: format!("/app/installations/{installation}/access_tokens"),
                moved_path: None,
                bearer: &bearer,
                body: Some(body.to_owned()),
            };
            // A token that was made and never arrived has no effect that matters.
            self.wire.send(&request).or(Err(SendResult::NotSent(ErrorClass::Unavailable)))
        };
        let answer = once()?;
        if answer.status == StatusCode::UNAUTHORIZED { once() } else { Ok(answer) }
    }

    /// Takes the token from an answer, or says why there is none.
    fn token(&self, answer: &Answer, permission: Permission) -> Result<Token, SendResult> {
        let now = self.clock.now();
        match (answer.limited_until(now), answer.status.as_u16()) {
            (Some(until), _) => Err(SendResult::RateLimited(until)),
            (None, 201) => Token::read(answer, permission, self.clock.monotonic())
                .map_err(SendResult::TokenRefused),
            (None, 500..=599) => Err(SendResult::NotSent(ErrorClass::Unavailable)),
            (None, _) => Err(SendResult::TokenRefused(answer.class(now))),
        }
    }
}

impl Forge for Client {
    fn open(
        &self,
        installation: InstallationId,
        repository: &RepositoryRef,
        permission: Permission,
    ) -> Result<Box<dyn Session + '_>, SendResult> {
        let minted = self.mint(installation, &Token::request(repository.id, permission));
        let (status, token) = match minted {
            Ok(answer) => (Some(answer.status), self.token(&answer, permission)),
            Err(result) => (None, Err(result)),
        };
        match token {
            Ok(token) => Ok(Box::new(RepositorySession::new(self, repository.clone(), token))),
            Err(result) => {
                log_failure("mint", status, class_of(result));
                Err(result)
            }
        }
    }
}
