//! The forge over its REST API: who we are there, and how a session is opened.
//!
//! It repeats one thing only: an app credential that was refused is made anew once. Whatever else is to
//! be called again is given back to the store, so that no thread waits here and every call is counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::{Method, StatusCode};
use secrecy::SecretString;

use super::answer::{Answer, class_of, log_failure};
use super::session::RepositorySession;
use super::token::AppKey;
use super::wire::{Request, Silence, Wire};
use super::{Forge, Gate, Permission, Session, token, wire};
use crate::domain::dead_letter::ErrorClass;
use crate::domain::delivery::RepositoryRef;
use crate::domain::id::{AppId, InstallationId};
use crate::domain::outbox::SendResult;
use crate::runtime::clock::Clock;

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
    /// Certificates in PEM that are trusted instead of the public ones: a private authority.
    pub root_certificate: Option<Vec<u8>>,
}

impl Settings {
    /// Default of [`Settings::timeout`].
    pub const TIMEOUT: Duration = Duration::from_secs(15);
    /// Default of [`Settings::timeout_connect`].
    pub const TIMEOUT_CONNECT: Duration = Duration::from_secs(5);
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
    pub(super) app: AppId,
    pub(super) key: AppKey,
    /// Dispatches ask for the number of the run, until the server shows that it does not know the field.
    asks_for_run_details: AtomicBool,
}

impl Client {
    /// Returns a client. Nothing is sent.
    ///
    /// # Errors
    /// By what is wrong with the settings.
    pub fn new(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self, ClientError> {
        Ok(Self {
            wire: Wire::new(&settings)?,
            clock,
            app: settings.app_id,
            key: AppKey::new(settings.app_id, &settings.private_key)?,
            asks_for_run_details: AtomicBool::new(settings.api_version == ApiVersion::V2022_11_28),
        })
    }

    pub(super) fn asks_for_run_details(&self) -> bool {
        self.asks_for_run_details.load(Ordering::Relaxed)
    }

    pub(super) fn ask_for_no_run_details(&self) {
        self.asks_for_run_details.store(false, Ordering::Relaxed);
    }

    /// Asks for a token. Repeated once when the app's credential is refused: it may have been made
    /// in the moment a clock was set.
    fn mint(
        &self,
        installation: InstallationId,
        body: &str,
        gate: &Gate<'_>,
    ) -> Result<Answer, SendResult> {
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
            self.wire.send(&request, gate).map_err(|silence| match silence {
                Silence::Stopped(result) => result,
                // A token that was made and never arrived has no effect that matters.
                Silence::NotSent | Silence::Lost => {
                    SendResult::NotSent(ErrorClass::Unavailable, None)
                }
            })
        };
        let answer = once()?;
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
