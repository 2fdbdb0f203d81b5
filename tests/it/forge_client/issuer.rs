//! What the issuer client makes of bytes: one request a call, and nothing but a whole 200 is a document.

use svc::forge::issuer::IssuerClient;

use super::double::{Double, Script, http};

/// Asks a double; returns what came of it, and the requests it saw.
fn asked(script: Script) -> (Option<Vec<u8>>, Vec<String>) {
    let double = Double::start(vec![script, Script::Close(http(200, "", "{}"))]);
    let document = IssuerClient::new(None).unwrap().key_document(&double.base_url());
    (document, double.requests())
}

#[test]
fn a_document_is_asked_for_where_it_must_be_and_nothing_is_told() {
    let (document, requests) = asked(Script::Close(http(200, "", "{\"keys\":[]}")));
    assert_eq!(document.as_deref(), Some(b"{\"keys\":[]}".as_slice()));
    assert_eq!(requests.len(), 1);
    let request = requests[0].to_lowercase();
    assert!(request.starts_with("get /.well-known/jwks http/1.1\r\n"), "{request}");
    assert!(request.contains("\r\nuser-agent: svcd/") && !request.contains("authorization"));
}

#[test]
fn anything_else_is_none_and_no_redirect_is_followed() {
    let large = "x".repeat(256 * 1024 + 1);
    for answer in [
        http(301, "location: /elsewhere\r\n", ""),
        http(307, "location: /elsewhere\r\n", "{\"keys\":[]}"),
        http(404, "", "{\"keys\":[]}"),
        http(500, "", "{\"keys\":[]}"),
        http(204, "", ""),
        http(200, "", &large),
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"keys\":[".to_vec(),
        b"no HTTP at all\r\n\r\n".to_vec(),
        Vec::new(),
    ] {
        let shown = String::from_utf8_lossy(&answer).chars().take(60).collect::<String>();
        let (document, requests) = asked(Script::Close(answer));
        assert_eq!(document, None, "{shown}");
        assert_eq!(requests.len(), 1, "{shown}");
    }
    let silent = IssuerClient::new(None).unwrap().key_document("http://127.0.0.1:1");
    assert_eq!(silent, None);
    assert!(IssuerClient::new(Some(b"no certificate")).is_err());
}

#[test]
fn an_issuer_that_drips_is_left_in_time() {
    // A client that waited for the end would have the whole body, after half an hour.
    assert_eq!(asked(Script::Drip).0, None);
}
