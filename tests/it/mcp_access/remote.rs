//! A server that others reach: its hosts, its pages, its rates.

use http::Method;

use super::{HOST, MESSAGE, Site, header, refusal, text};
use crate::support::world::json;

const PAGE: (&str, &str) = ("origin", "https://app.example");

#[test]
fn a_proxy_may_pass_requests_on_and_its_host_is_the_public_one() {
    let site = Site::remote(&[("SVC_MCP_HOSTS", "alias.example:8443")]);
    let bearer = format!("Bearer {}", site.good_token());
    let token = ("authorization", bearer.as_str());
    for (wanted, headers) in [
        (200, &[HOST, token][..]),
        (200, &[HOST, token, ("x-forwarded-for", "192.0.2.1"), ("x-forwarded-proto", "https")]),
        (200, &[("host", "alias.example:8443"), token]),
        (200, &[HOST, token, PAGE]),
        (421, &[("host", "localhost:7080"), token]),
        (421, &[("host", "127.0.0.1:7080"), token]),
        (421, &[("host", "svc.example:443"), token]),
        (421, &[("host", "evil.example"), token, ("x-forwarded-host", "svc.example")]),
        (403, &[HOST, token, ("origin", "https://svc.example")]),
        (403, &[HOST, token, ("origin", "https://app.example.evil.example")]),
        (403, &[HOST, token, ("origin", "http://app.example")]),
        // The page is looked at before the token.
        (403, &[HOST, ("origin", "https://evil.example")]),
        (401, &[HOST, PAGE]),
    ] {
        let answer = site.post("/mcp", MESSAGE, headers);
        assert_eq!(answer.status, wanted, "{headers:?}: {}", text(&answer));
        if wanted != 200 {
            let transport = header(&answer, "strict-transport-security");
            assert_eq!(transport, "max-age=31536000", "{headers:?}");
        }
    }
}

#[test]
fn pages_may_send_headers_of_the_modern_era_only_while_it_is_on() {
    let base =
        "authorization, content-type, accept, mcp-protocol-version, mcp-session-id, last-event-id";
    for (modern, wanted) in
        [("false", base.to_owned()), ("true", format!("{base}, mcp-method, mcp-name"))]
    {
        let site = Site::remote(&[("MCP_V2_EXPERIMENTAL", modern)]);
        let asked = [HOST, PAGE, ("access-control-request-method", "POST")];
        // Without a token: a browser has none to send here.
        let answer = site.send(Method::OPTIONS, "/mcp", &asked);
        assert_eq!(answer.status, 204);
        assert_eq!(header(&answer, "access-control-allow-headers"), wanted);
        assert_eq!(header(&answer, "access-control-allow-origin"), PAGE.1);
        assert_eq!(header(&answer, "access-control-allow-methods"), "POST, GET, DELETE, OPTIONS");
        assert_eq!(header(&answer, "access-control-allow-credentials"), "");
        assert_eq!(header(&answer, "vary"), "origin");
        for version in ["2025-11-25", "2026-07-28", "x"] {
            let versioned = [&asked[..], &[("mcp-protocol-version", version)]].concat();
            let other = site.send(Method::OPTIONS, "/mcp", &versioned);
            assert_eq!(other.headers, answer.headers, "pages negotiate nothing");
        }
        let refused = site.call(&[PAGE]);
        assert_eq!(refused.status, 401);
        let readable = "mcp-session-id, www-authenticate, retry-after";
        assert_eq!(header(&refused, "access-control-expose-headers"), readable);
        let evil = site.send(Method::OPTIONS, "/mcp", &[HOST, ("origin", "https://evil.example")]);
        assert_eq!((evil.status.as_u16(), header(&evil, "access-control-allow-origin")), (403, ""));
    }
}

#[test]
fn a_subject_and_a_peer_have_a_rate_and_a_burst_of_four_seconds() {
    let site = Site::remote(&[("SVC_MCP_SUBJECT_RATE", "2"), ("SVC_MCP_PEER_RATE", "5")]);
    let token = site.good_token();
    for call in 0..8 {
        assert_eq!(site.call_with(&token).status, 200, "{call}");
    }
    // Another client of the same subject is no other subject.
    let other = super::attacks::with(site.keys.claims(site.now()), "client_id", "another".into());
    let other = site.keys.sign("RS256", &other);
    for token in [&token, &other] {
        let answer = site.call_with(token);
        assert_eq!((answer.status.as_u16(), header(&answer, "retry-after")), (429, "1"));
        let message = "too many requests; retry after the number of seconds in Retry-After";
        assert_eq!(json(&answer), refusal(message));
    }
    for call in 10..20 {
        assert_eq!(site.call(&[]).status, 401, "{call}");
    }
    assert_eq!(site.call(&[]).status, 429, "whatever it asks");
    assert_eq!(site.refusals("rate"), 3);
}
