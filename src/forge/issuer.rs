//! Issuers of tokens: where one of workflow runs' identity tokens publishes its keys, and one request for keys.
//! The address is made of the configuration alone; no answer leads anywhere else.

use std::time::Duration;

use ureq::config::Config;
use ureq::tls::TlsConfig;

use super::settings::ClientError;
use super::wire::{USER_AGENT, read_base, read_roots};

/// Where an issuer publishes its keys, below its own address.
const KEYS: &str = "/.well-known/jwks";
/// Longest time of one request, from finding the address to the last byte.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Longest time until a connection stands, TLS included.
const TIMEOUT_CONNECT: Duration = Duration::from_secs(3);
/// Largest document that is read, in bytes.
const BODY_BYTES_MAX: u64 = 256 * 1024;

/// Asks issuers for their keys.
pub struct IssuerClient(ureq::Agent);

impl IssuerClient {
    /// Returns a client that trusts these certificates, in PEM, instead of the public ones when there
    /// are any. Nothing is sent.
    ///
    /// # Errors
    /// When there is no readable certificate.
    pub fn new(root_certificate: Option<&[u8]>) -> Result<Self, ClientError> {
        let mut tls = TlsConfig::builder();
        if let Some(pem) = root_certificate {
            tls = tls.root_certs(read_roots(pem)?);
        }
        let config = Config::builder()
            .tls_config(tls.build())
            .timeout_global(Some(TIMEOUT))
            .timeout_connect(Some(TIMEOUT_CONNECT))
            .http_status_as_error(false)
            // A redirect could lead to another host, whose keys would then be trusted.
            .max_redirects(0)
            .max_redirects_will_error(false)
            // The environment does not decide whose keys are trusted.
            .proxy(None)
            // Keys are fetched hours apart; a kept connection would be dead by then.
            .max_idle_connections(0)
            .max_idle_connections_per_host(0)
            .user_agent(USER_AGENT)
            .build();
        Ok(Self(ureq::Agent::new_with_config(config)))
    }

    /// Returns the document an issuer of workflow runs publishes; `None` when it is not answered whole with 200.
    #[must_use]
    pub fn key_document(&self, issuer: &str) -> Option<Vec<u8>> {
        self.document_at(&format!("{issuer}{KEYS}"))
    }

    /// Returns the document at an address: https, or http on a loopback name; `None` when it is not answered
    /// whole with 200.
    #[must_use]
    pub fn document_at(&self, address: &str) -> Option<Vec<u8>> {
        let mut answer = self.0.get(address).header("accept", "application/json").call().ok()?;
        if answer.status() != http::StatusCode::OK {
            return None;
        }
        // A document that was cut off counts as none: half a key set would refuse valid tokens.
        answer.body_mut().with_config().limit(BODY_BYTES_MAX).read_to_vec().ok()
    }
}

/// Says whether a text can be an issuer: https, or http on a loopback name, and no `/` at its end.
#[must_use]
pub fn is_issuer(text: &str) -> bool {
    // The `iss` of a token is compared byte by byte, so a slash at the end would match no token.
    read_base(text).is_ok_and(|(base, _)| base == text)
}
