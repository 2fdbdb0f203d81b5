//! Why a call to the forge fails: one word for each fault of names, connections, certificates and answers.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};
use svc::domain::outbox::SendResult;
use svc::forge::client::ForgeClient;
use svc::forge::settings::Settings;
use svc::forge::{Forge as _, Permission, TokenUse};
use svc::runtime::thread;

use super::double::{Double, Script, http, minted_for};
use super::{TIMEOUT, client, open_dispatch, settings};
use crate::support::log::lines_of;

pub(crate) fn path(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls").join(name)
}

/// Starts a server that shows a certificate to one client, and closes. Returns its address.
pub(crate) fn tls_server(certificate: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("the system has a port");
    let port = listener.local_addr().expect("a listener has an address").port();
    let chain = CertificateDer::from_pem_file(path(certificate)).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(path("throwaway-key.pem")).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has them")
        .with_no_client_auth()
        .with_single_cert(vec![chain], key)
        .expect("the key is that of the certificate");
    thread::spawn("tls-server", move || {
        let (mut stream, _) = listener.accept().expect("a client comes");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a socket has timeouts");
        let mut connection =
            ServerConnection::new(Arc::new(config)).expect("the settings are good");
        // Most clients of this server refuse it.
        drop(connection.complete_io(&mut stream));
    })
    .expect("the system has a thread");
    format!("https://localhost:{port}")
}

/// Returns the cause in the line of the one call that failed, when the whole forge pauses for it, or when it does not.
fn cause(client: &ForgeClient, pauses: bool) -> String {
    let lines = lines_of(|| {
        open_dispatch(client);
    });
    let failed: Vec<_> = lines.iter().filter(|line| line.event() == "forge.call_failed").collect();
    assert_eq!(failed.len(), 1, "{lines:?}");
    assert_eq!(client.clearance().is_none(), pauses, "{lines:?}");
    let paused = lines.iter().find(|line| line.event() == "forge.paused");
    assert_eq!(paused.map(|line| line.field("cause")), pauses.then(|| failed[0].field("cause")));
    failed[0].field("cause").unwrap_or_else(|| panic!("no cause: {:?}", failed[0])).to_owned()
}

fn trusting(base_url: String) -> ForgeClient {
    let root = std::fs::read(path("root.pem")).expect("a certificate");
    client(Settings { root_certificate: Some(root), ..settings(base_url) })
}

#[test]
fn what_cannot_be_reached_has_a_cause() {
    let plain = Double::start(Vec::new());
    let silent = plain.base_url().replace("http:", "https:");
    let timeout_connect = Duration::from_millis(200);
    for (settings, wanted) in [
        (settings("https://forge.invalid".to_owned()), "dns"),
        // Nothing listens on port 1.
        (settings("http://127.0.0.1:1".to_owned()), "refused"),
        (Settings { timeout_connect, ..settings(silent) }, "timeout"),
    ] {
        let address = settings.base_url.clone();
        assert_eq!(cause(&client(settings), true), wanted, "{address}");
    }
}

#[test]
fn a_certificate_that_is_refused_is_a_cause() {
    for (certificate, wanted) in [
        ("self-signed.pem", "tls_untrusted"),
        ("expired.pem", "tls_expired"),
        ("early.pem", "tls_expired"),
        ("other-name.pem", "tls_name"),
        // Accepted; the server then closes.
        ("valid.pem", "reset"),
    ] {
        let client = trusting(tls_server(certificate));
        assert_eq!(cause(&client, wanted != "reset"), wanted, "{certificate}");
    }
    // The certificate is good, but its issuer is none of the public ones.
    assert_eq!(cause(&client(settings(tls_server("valid.pem"))), true), "tls_untrusted");
}

#[test]
fn an_answer_that_does_not_come_or_is_an_error_is_a_cause() {
    let body = r#"{"message":"no"}"#;
    for (script, wanted) in [
        (Script::Keep(Vec::new()), "timeout"),
        (Script::Reset, "reset"),
        (Script::Close(Vec::new()), "reset"),
        (Script::Close(b"\x00\xff\x16garbage\r\n\r\n".to_vec()), "reset"),
        (Script::Close(http(404, "", body)), "http_4xx"),
        (Script::Close(http(429, "retry-after: 7\r\n", body)), "http_4xx"),
        (Script::Close(http(500, "", body)), "http_5xx"),
        (Script::Close(http(503, "", body)), "http_5xx"),
        // The call was answered, with something else than was hoped for.
        (Script::Close(http(200, "", "[]")), "none"),
    ] {
        let double = Double::start(vec![minted_for(Permission::ActionsWrite), script.clone()]);
        assert_eq!(cause(&client(settings(double.base_url())), false), wanted, "after the token");
    }
    for (script, wanted) in [
        (Script::Reset, "reset"),
        (Script::Close(http(403, "", body)), "http_4xx"),
        (Script::Close(http(502, "", body)), "http_5xx"),
    ] {
        let double = Double::start(vec![script]);
        assert_eq!(cause(&client(settings(double.base_url())), false), wanted, "for the token");
    }
}

#[test]
fn a_call_that_was_not_made_has_no_cause() {
    let double = Double::start(Vec::new());
    let stopped = || Err(SendResult::Postponed);
    let client = client(settings(double.base_url()));
    let lines = lines_of(|| {
        let (installation, repository) = (super::installation(), super::repository());
        let opened = client.open(
            installation,
            &repository,
            Permission::ActionsRead,
            TokenUse::Own,
            &stopped,
        );
        assert_eq!(opened.err(), Some(SendResult::Postponed));
    });
    assert!(lines.is_empty(), "{lines:?}");
}
