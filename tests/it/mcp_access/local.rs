//! A server for its own machine, which asks for no token.

use super::{MESSAGE, Site, header, refusal, text};
use crate::support::world::json;

const LOCAL: &[(&str, &str)] = &[("SVC_MCP", "true")];
const HOST: (&str, &str) = ("host", "localhost:7080");

#[test]
fn only_loopback_names_and_its_own_pages_get_in() {
    // The system gave the port.
    let from_system = [("SVC_MCP", "true"), ("SVC_PUBLIC_LISTEN", "127.0.0.1:0")];
    for settings in [LOCAL, &from_system] {
        let site = Site::with(settings);
        for (wanted, headers) in [
            (200, &[HOST][..]),
            (200, &[("host", "127.0.0.1:7080")]),
            (200, &[("host", "[::1]:7080")]),
            (200, &[("host", "LocalHost.:7080")]),
            (200, &[HOST, ("origin", "http://localhost:7080")]),
            (200, &[HOST, ("origin", "http://127.0.0.1:7080")]),
            (200, &[HOST, ("authorization", "Bearer whatever")]),
            (421, &[("host", "localhost")]),
            (421, &[("host", "localhost:0")]),
            (421, &[("host", "localhost:7081")]),
            (421, &[("host", "svc.example")]),
            (421, &[("host", "localhost:7080.evil.example")]),
            (421, &[]),
            (403, &[HOST, ("origin", "http://localhost:3000")]),
            (403, &[HOST, ("origin", "https://localhost:7080")]),
            (403, &[HOST, ("origin", "null")]),
            (403, &[HOST, ("origin", "http://evil.example")]),
            (403, &[HOST, ("x-forwarded-for", "192.0.2.1")]),
            (403, &[HOST, ("forwarded", "for=192.0.2.1")]),
            (403, &[HOST, ("x-forwarded-host", "svc.example")]),
            (403, &[HOST, ("x-forwarded-proto", "https")]),
            (403, &[HOST, ("x-real-ip", "192.0.2.1")]),
        ] {
            let answer = site.post("/mcp", MESSAGE, headers);
            assert_eq!(answer.status, wanted, "{headers:?}: {}", text(&answer));
            assert_eq!(header(&answer, "mcp-session-id").is_empty(), wanted != 200);
            if wanted != 200 {
                assert_eq!(header(&answer, "x-content-type-options"), "nosniff");
                assert_eq!(header(&answer, "strict-transport-security"), "", "it has no https");
                assert_eq!(header(&answer, "www-authenticate"), "", "no token would help");
            }
        }
        assert_eq!((site.refusals("host"), site.refusals("origin")), (6, 4));
        assert_eq!((site.refusals("forwarded"), site.fetched()), (5, 0));
    }
}

#[test]
fn behind_a_proxy_it_says_what_is_missing() {
    let site = Site::with(LOCAL);
    let answer = site.post("/mcp", MESSAGE, &[HOST, ("x-forwarded-for", "192.0.2.1")]);
    let message = "this address serves only its own machine, but a proxy forwarded the request; to \
    serve other machines, the operator must configure tokens";
    assert_eq!(json(&answer), refusal(message));
}
