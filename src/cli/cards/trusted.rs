//! Where trusted keys come from: a file, or an address the operator names. Never from a card.

use std::path::Path;
use std::time::Duration;

use http::Uri;
use ureq::Agent;

use crate::card_signature::{JWKS_BYTES_MAX, Jwks};
use crate::cli::client;
use crate::cli::endpoint::is_loopback;
use crate::cli::error::Error;
use crate::cli::exit::Exit;

/// Longest time until the keys are there, unless a shorter one is asked for.
const TIMEOUT_MAX: Duration = Duration::from_secs(10);

/// Reads a key set from a file or an address.
pub(super) fn read(place: &str, timeout: Duration) -> Result<Jwks, Error> {
    let is_address = place.starts_with("https://") || place.starts_with("http://");
    let bytes = if is_address { fetch(place, timeout)? } else { file(place)? };
    Jwks::parse(&bytes).map_err(|error| {
        let message = format!("the keys of {} cannot be used", shown(place));
        Error::new(Exit::LocalFile, message).caused_by(error).hint(HINT)
    })
}

const HINT: &str = "svcctl cards jwks prints the public half of a key as a key set";

fn file(name: &str) -> Result<Vec<u8>, Error> {
    let refused = || Error::new(Exit::LocalFile, format!("cannot read the keys of {name}"));
    let bytes_max = u64::try_from(JWKS_BYTES_MAX).unwrap_or(u64::MAX);
    match super::read(Path::new(name), bytes_max) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(refused().hint(format!("a key set has at most {JWKS_BYTES_MAX} bytes"))),
        Err(error) => Err(refused().caused_by(error)),
    }
}

/// Fetches a key set: one request, no redirects, no proxy, bounded in time and size.
fn fetch(address: &str, timeout: Duration) -> Result<Vec<u8>, Error> {
    let uri = allowed(address)?;
    let failed = |cause: String| {
        let message = format!("cannot fetch the keys from {}", shown(address));
        Error::new(Exit::Unreachable, message)
            .caused_by(cause)
            .hint("download them another way, and pass the file with --jwks")
    };
    let mut answer = Agent::new_with_config(client::config(timeout.min(TIMEOUT_MAX)))
        .get(uri)
        .call()
        .map_err(|error| failed(error.to_string()))?;
    if answer.status().as_u16() != 200 {
        return Err(failed(format!("it answered {} instead of 200", answer.status().as_u16())));
    }
    let bytes_max = u64::try_from(JWKS_BYTES_MAX).unwrap_or(u64::MAX);
    let body = answer.body_mut().with_config().limit(bytes_max);
    body.read_to_vec().map_err(|error| failed(error.to_string()))
}

/// Refuses what would show the request, or could be answered by anybody.
fn allowed(address: &str) -> Result<Uri, Error> {
    let refused = |why: &str| Err(Error::new(Exit::Usage, format!("--jwks is refused: {why}")));
    let Ok(uri) = address.parse::<Uri>() else { return refused("it is not a URL") };
    let Some(host) = uri.host().filter(|host| !host.is_empty()) else {
        return refused("the URL has no host");
    };
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return refused("the URL holds a user name or a password");
    }
    if uri.scheme_str() != Some("https") && !is_loopback(host) {
        return refused("plain http is accepted only from this machine; use https");
    }
    Ok(uri)
}

/// Returns the place for a message, without what may be secret in a URL.
fn shown(place: &str) -> &str {
    place.split(['?', '#']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_over_https_or_from_this_machine() {
        for address in ["https://a.example/jwks", "http://127.0.0.1:1/", "http://[::1]/a?b"] {
            assert!(allowed(address).is_ok(), "{address}");
        }
        for address in [
            "http://a.example/",
            "http://10.0.0.1/",
            "http://localhost.example/",
            "https://",
            "https://me:secret@a.example/",
            "https://a b/",
        ] {
            let said = allowed(address).unwrap_err().chain();
            assert!(said.starts_with("--jwks is refused") && !said.contains("secret"), "{said}");
        }
        assert_eq!(shown("https://a.example/?token=secret"), "https://a.example/");
    }
}
