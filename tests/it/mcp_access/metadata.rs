//! The metadata of the protected resource, as clients look for it.

use http::Method;
use serde_json::json;
use svc::http::message::Surface;

use super::{HOST, Site, header};
use crate::support::world;

const PATHS: [&str; 2] =
    ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"];

#[test]
fn both_forms_say_the_same_whatever_host_is_asked() {
    let site = Site::remote(&[]);
    let wanted = json!({
        "resource": "https://svc.example/mcp",
        "authorization_servers": ["https://issuer.example"],
        // What every call needs, and what a tool of the fixture needs besides.
        "scopes_supported": ["mcp:read", "mcp:invoke"],
        "bearer_methods_supported": ["header"],
    });
    for path in PATHS {
        for headers in [
            &[HOST][..],
            &[("host", "evil.example"), ("x-forwarded-host", "evil.example")],
            &[HOST, ("origin", "https://evil.example"), ("authorization", "Bearer x")],
        ] {
            let answer = site.send(Method::GET, path, headers);
            assert_eq!((answer.status.as_u16(), world::json(&answer)), (200, wanted.clone()));
            for (name, value) in [
                ("content-type", "application/json"),
                ("access-control-allow-origin", "*"),
                ("access-control-allow-credentials", ""),
                ("cache-control", "public, max-age=300"),
            ] {
                assert_eq!(header(&answer, name), value, "{path} {name}");
            }
        }
        assert_eq!(site.send(Method::HEAD, path, &[HOST]).status, 200);
        assert_eq!(site.send(Method::POST, path, &[HOST]).status, 405);
        for surface in [Surface::Control, Surface::Operator] {
            let answer =
                site.world.send(surface, Method::GET, path, &[("host", "localhost")], Vec::new());
            assert_eq!(answer.status, 404, "it is the public surface's");
        }
    }
    assert_eq!(site.fetched(), 0);
    // A client gets there by the challenge.
    let challenge = site.call(&[]);
    let url = header(&challenge, "www-authenticate").split('"').nth(1).unwrap();
    assert_eq!(url, format!("https://svc.example{}", PATHS[0]));
}

#[test]
fn where_no_token_is_asked_for_there_is_none() {
    let site = Site::with(&[("SVC_MCP", "true")]);
    for path in PATHS {
        let answer = site.send(Method::GET, path, &[("host", "localhost:7080")]);
        assert_eq!(world::outcome(&answer), (404, "not_found".to_owned()));
        assert_eq!(header(&answer, "access-control-allow-origin"), "");
    }
}

#[test]
fn other_spellings_are_no_route() {
    let site = Site::remote(&[]);
    for path in [
        "/.well-known/oauth-protected-resource/",
        "/.well-known/oauth-protected-resource/mcp/",
        "/.well-known/oauth-protected-resource/other",
        "/mcp/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
    ] {
        assert_eq!(site.send(Method::GET, path, &[HOST]).status, 404, "{path}");
    }
}
