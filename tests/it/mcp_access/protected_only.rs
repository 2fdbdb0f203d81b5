//! The service is a protected resource and nothing more: it gives no tokens, and is no client of an issuer.

use svc::config::settings;
use svc::http::routes;

/// The whole schema of the store.
const SCHEMA: &str = include_str!("../../../migrations/schema.sql");

/// Returns the first of these words that a text has.
fn found<'a>(text: &str, words: &[&'a str]) -> Option<&'a str> {
    let lower = text.to_ascii_lowercase();
    words.iter().copied().find(|word| lower.contains(word))
}

#[test]
fn no_route_is_that_of_an_authorization_server_or_of_a_client_of_one() {
    const SERVER: &[&str] = &[
        "authoriz",
        "token",
        "register",
        "revoke",
        "introspect",
        "userinfo",
        "consent",
        "login",
        "logout",
        "device",
        "jwks",
        "oauth-authorization-server",
        "openid",
        "redirect",
        "oauth/callback",
    ];
    let paths: Vec<&str> = routes::listing().map(|(_, _, path)| path).collect();
    assert!(paths.contains(&"/.well-known/oauth-protected-resource"), "the table is read");
    // The devices of the relay are plugins; none of them is given a token.
    let is_of_plugins = |path: &&str| path.starts_with("/api/v1/operator/relay/devices");
    for path in paths.into_iter().filter(|path| !is_of_plugins(path)) {
        assert_eq!(found(path, SERVER), None, "{path}");
    }
}

#[test]
fn no_setting_holds_a_credential_of_a_client() {
    const CLIENT: &[&str] =
        &["client", "secret", "password", "_key", "redirect", "authorize", "endpoint", "refresh"];
    let is_ours = |name: &str| name.contains("MCP") || name == "SVC_PUBLIC_URL";
    let ours: Vec<_> = settings::all().filter(|setting| is_ours(setting.name)).collect();
    assert!(ours.len() >= 18, "the table is read");
    for setting in ours {
        assert!(!setting.secret, "{}", setting.name);
        assert_eq!(found(setting.name, CLIENT), None, "{}", setting.name);
    }
    for setting in settings::all() {
        assert_eq!(found(setting.name, &["oauth", "client"]), None, "{}", setting.name);
    }
}

#[test]
fn no_table_holds_tokens_codes_or_clients() {
    const STORED: &[&str] = &["oauth", "client", "grant", "access_token", "refresh", "auth_code"];
    let tables: Vec<&str> = SCHEMA
        .lines()
        .filter_map(|line| line.strip_prefix("CREATE TABLE "))
        .map(|rest| rest.split([' ', '(']).next().unwrap())
        .collect();
    assert!(tables.len() > 10, "the schema is read: {tables:?}");
    // A grant of the relay is the right to carry out one action, and none of OAuth.
    for table in tables.into_iter().filter(|table| *table != "relay_grants") {
        assert_eq!(found(table, STORED), None, "{table}");
    }
}
