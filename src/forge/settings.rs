//! How the forge is reached, as the operator configured it, and why there can be no client for that.

use std::time::Duration;

use http::uri::Authority;
use secrecy::SecretString;

use crate::domain::id::AppId;

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
            // Own servers know this version only; they differ in what a dispatch answers.
            Self::V2022_11_28 | Self::Ghes => "2022-11-28",
            Self::V2026_03_10 => "2026-03-10",
        }
    }
}

/// Says whether an address has no port, or one that exists: parsers take any digits, and none.
#[must_use]
pub fn has_sound_port(authority: &Authority) -> bool {
    authority.as_str() == authority.host() || authority.port_u16().is_some_and(|port| port > 0)
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
