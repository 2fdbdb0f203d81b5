//! Each combination that starts, what it answers to, and each that does not, with everything that is missing.

use super::*;
use crate::config::Config;

type Variables<'a> = &'a [(&'a str, &'a str)];

/// Returns the problems, each with its variable, or what was read.
fn load(variables: &[(&str, &str)]) -> Result<Option<McpConfig>, Vec<String>> {
    let owned = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    let loaded = Config::load(Source::of(owned));
    loaded.map(|config| config.mcp).map_err(|problems| {
        problems.iter().map(|problem| format!("{}: {}", problem.name, problem.what)).collect()
    })
}

/// Returns what was read with `/mcp` on.
fn on(variables: Variables<'_>) -> McpConfig {
    let all = [&[("SVC_MCP", "true")], variables].concat();
    load(&all).expect("it starts").expect("it is on")
}

/// Returns the variables that problems are about, with `/mcp` on.
fn refused(variables: Variables<'_>) -> Vec<String> {
    let all = [&[("SVC_MCP", "true")], variables].concat();
    let problems = load(&all).expect_err("it does not start");
    problems.iter().map(|it| it.split(':').next().unwrap().to_owned()).collect()
}

const URL: (&str, &str) = ("SVC_PUBLIC_URL", "https://svc.example");
const LOCAL_URL: (&str, &str) = ("SVC_PUBLIC_URL", "http://localhost:8080");
const ISSUER: (&str, &str) = ("SVC_MCP_ISSUER", "https://issuer.example/tenant/");
const KEYS: (&str, &str) = ("SVC_MCP_JWKS_URL", "https://issuer.example/keys?v=2");
const ORIGINS: (&str, &str) = ("SVC_MCP_ORIGINS", "https://App.example, null");
const EVERYWHERE: (&str, &str) = ("SVC_PUBLIC_LISTEN", "0.0.0.0:7080");
const LOOPBACK: [&str; 3] = ["localhost:7080", "127.0.0.1:7080", "[::1]:7080"];
const OWN_ORIGINS: [&str; 3] =
    ["http://localhost:7080", "http://127.0.0.1:7080", "http://[::1]:7080"];

#[test]
fn it_is_off_by_default_and_its_defaults_are_those_of_the_table() {
    assert!(load(&[]).unwrap().is_none());
    assert!(load(&[("SVC_MCP", "false"), URL, EVERYWHERE]).unwrap().is_none());
    let config = on(&[]);
    assert_eq!(config.public_url, None);
    assert_eq!(config.authorization, None);
    assert_eq!((config.peer_rate, config.subject_rate), (50, 20));
    assert_eq!((config.sessions_max, config.sessions_per_subject_max), (4_096, 64));
    assert_eq!(config.session_idle, Duration::from_secs(1_800));
    assert_eq!((config.streams_max, config.body_bytes_max), (512, 1_048_576));
    assert_eq!(config.hosts, LOOPBACK);
    assert_eq!(config.origins, OWN_ORIGINS);
}

#[test]
fn a_local_one_answers_to_loopback_names_and_its_own_pages() {
    for (variables, hosts, origins) in [
        (&[("SVC_PUBLIC_LISTEN", "127.0.0.1:0")][..], "localhost:0 127.0.0.1:0 [::1]:0", None),
        (&[("SVC_PUBLIC_LISTEN", "[::1]:80")], "localhost 127.0.0.1 [::1]", None),
        (
            &[("SVC_PUBLIC_LISTEN", "127.0.0.2:1")],
            "localhost:1 127.0.0.1:1 [::1]:1 127.0.0.2:1",
            None,
        ),
        (
            &[("SVC_PUBLIC_LISTEN", "127.0.0.1:1"), LOCAL_URL],
            "localhost:1 127.0.0.1:1 [::1]:1 localhost:8080",
            None,
        ),
        (
            &[("SVC_PUBLIC_LISTEN", "127.0.0.1:1"), ("SVC_MCP_HOSTS", "LOCALHOST:9, 127.0.0.1:1")],
            "localhost:1 127.0.0.1:1 [::1]:1 localhost:9",
            Some("http://localhost:1 http://127.0.0.1:1 http://[::1]:1"),
        ),
        (
            &[("SVC_PUBLIC_LISTEN", "127.0.0.1:1"), ("SVC_PUBLIC_URL", "https://localhost")],
            "localhost:1 127.0.0.1:1 [::1]:1 localhost",
            Some("http://localhost:1 http://127.0.0.1:1 http://[::1]:1 https://localhost"),
        ),
        (
            &[("SVC_PUBLIC_LISTEN", "127.0.0.1:80"), ORIGINS],
            "localhost 127.0.0.1 [::1]",
            Some("https://app.example null http://localhost http://127.0.0.1 http://[::1]"),
        ),
    ] {
        let config = on(variables);
        assert_eq!(config.hosts.join(" "), hosts, "{variables:?}");
        let own: Vec<String> = config.hosts.iter().map(|host| format!("http://{host}")).collect();
        let wanted = origins.map_or_else(|| own.join(" "), str::to_owned);
        assert_eq!(config.origins.join(" "), wanted, "{variables:?}");
        assert_eq!(config.authorization, None);
    }
}

#[test]
fn a_remote_one_names_all_that_is_missing() {
    let all = ["SVC_PUBLIC_URL", "SVC_MCP_ISSUER", "SVC_MCP_JWKS_URL", "SVC_MCP_ORIGINS"];
    assert_eq!(refused(&[EVERYWHERE]), all);
    assert_eq!(refused(&[("SVC_PUBLIC_LISTEN", "192.0.2.1:7080")]), all);
    assert_eq!(refused(&[("SVC_PUBLIC_LISTEN", "[::]:7080"), LOCAL_URL]), all[1..]);
    assert_eq!(refused(&[URL]), all[1..]);
    assert_eq!(refused(&[URL, ISSUER, KEYS]), all[3..]);
    assert_eq!(refused(&[URL, ISSUER, KEYS, ("SVC_MCP_ORIGINS", " , ")]), all[3..]);
    assert_eq!(refused(&[EVERYWHERE, ISSUER, KEYS, ORIGINS]), all[..1]);
    assert_eq!(refused(&[URL, ORIGINS]), all[1..3]);
    // What cannot be read is told once.
    assert_eq!(refused(&[("SVC_PUBLIC_URL", "http://svc.example"), EVERYWHERE]).len(), 4);
    let problems = load(&[("SVC_MCP", "true"), URL]).unwrap_err();
    assert!(problems.iter().all(|it| it.contains("is missing; other machines can reach /mcp")));
}

#[test]
fn a_remote_one_answers_to_its_own_host_and_to_pages_that_are_named() {
    let config = on(&[URL, ISSUER, KEYS, ORIGINS, ("SVC_MCP_HOSTS", "mcp.svc.example:8443")]);
    assert_eq!(config.hosts, ["svc.example", "mcp.svc.example:8443"]);
    assert_eq!(config.origins, ["https://app.example", "null"]);
    let wanted = TokenIssuerConfig {
        public_url: PublicUrl::read(URL.1).unwrap(),
        issuer: ISSUER.1.to_owned(),
        jwks_url: KEYS.1.to_owned(),
        audience: "https://svc.example/mcp".to_owned(),
        algorithms: vec![Algorithm::Es256, Algorithm::Rs256],
        token_type: "at+jwt".to_owned(),
    };
    assert_eq!(config.authorization, Some(wanted.clone()));
    let other = on(&[
        EVERYWHERE,
        LOCAL_URL,
        ISSUER,
        KEYS,
        ORIGINS,
        ("SVC_MCP_AUDIENCE", "urn:svc"),
        ("SVC_MCP_ALGORITHMS", "EdDSA"),
        ("SVC_MCP_TOKEN_TYPE", "application/JWT"),
    ]);
    assert_eq!(other.hosts, ["localhost:8080"]);
    let changed = TokenIssuerConfig {
        public_url: PublicUrl::read(LOCAL_URL.1).unwrap(),
        audience: "urn:svc".to_owned(),
        algorithms: vec![Algorithm::EdDsa],
        token_type: "jwt".to_owned(),
        ..wanted
    };
    assert_eq!(other.authorization, Some(changed));
}

#[test]
fn a_local_one_asks_for_tokens_whole_or_not_at_all() {
    let config = on(&[LOCAL_URL, ISSUER, KEYS]);
    assert_eq!(config.authorization.unwrap().audience, "http://localhost:8080/mcp");
    assert_eq!(refused(&[ISSUER]), ["SVC_PUBLIC_URL", "SVC_MCP_JWKS_URL"]);
    assert_eq!(refused(&[LOCAL_URL, KEYS]), ["SVC_MCP_ISSUER"]);
    assert_eq!(refused(&[ISSUER, KEYS]), ["SVC_PUBLIC_URL"]);
    assert_eq!(refused(&[LOCAL_URL, ("SVC_MCP_AUDIENCE", "a")]).len(), 2);
    // Without tokens, a host of another machine is not answered to.
    assert_eq!(refused(&[("SVC_MCP_HOSTS", "svc.example")]).len(), 3);
    let config = on(&[LOCAL_URL, ISSUER, KEYS, ("SVC_MCP_HOSTS", "svc.example")]);
    assert_eq!(config.hosts.last().unwrap(), "svc.example");
    assert!(!config.origins.contains(&"http://svc.example".to_owned()));
}

#[test]
fn what_is_written_is_valid_or_refused_on_or_off() {
    let refusals: &[(&str, &[&str])] = &[
        ("SVC_MCP", &["", "1", "yes", "TRUE"]),
        ("SVC_PUBLIC_URL", &["*", "svc.example", "https://svc.example/", "https://u:pass-word@a"]),
        (
            "SVC_MCP_HOSTS",
            &["*", "*.example", "https://a", "a/b", "a:b", "a:0", "u@a", "a.", "a b"],
        ),
        (
            "SVC_MCP_ORIGINS",
            &["*", "https://*.example", "a", "https://a/", "null,*", "NULL", "file://"],
        ),
        ("SVC_MCP_ISSUER", &["*", "issuer", "http://issuer.example", "https://u:pass-word@a"]),
        ("SVC_MCP_JWKS_URL", &["keys", "http://issuer.example/keys", "https://u:pass-word@a"]),
        ("SVC_MCP_AUDIENCE", &["a b", "é"]),
        ("SVC_MCP_ALGORITHMS", &["", ",", "none", "HS256", "es256", "ES256,ES256", "ES256;RS256"]),
        ("SVC_MCP_TOKEN_TYPE", &["", "application/", "a b", "a/b", "*"]),
        ("SVC_MCP_PEER_RATE", &["0", "1000001", "x"]),
        ("SVC_MCP_SUBJECT_RATE", &["0", "1000001"]),
        ("SVC_MCP_SESSIONS_MAX", &["0", "100001"]),
        ("SVC_MCP_SESSIONS_PER_SUBJECT", &["0", "100001"]),
        ("SVC_MCP_SESSION_IDLE_SECONDS", &["0", "86401"]),
        ("SVC_MCP_STREAMS_MAX", &["0", "32769"]),
        ("SVC_MCP_BODY_BYTES", &["1023", "16777217"]),
    ];
    for (name, values) in refusals {
        for value in *values {
            for variables in [vec![(*name, *value)], vec![("SVC_MCP", "true"), (*name, *value)]] {
                let problems = load(&variables).expect_err(&format!("{name}={value}"));
                assert!(problems.iter().any(|it| it.starts_with(&format!("{name}: "))), "{value}");
                assert!(!problems.concat().contains("pass-word"), "{problems:?}");
            }
        }
    }
}

#[test]
fn it_is_read_alone_without_the_files_of_other_settings() {
    let alone = |variables: &[(&str, &str)]| {
        let owned = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let shown =
            |problems: Vec<SettingProblem>| problems.iter().map(|it| it.name.clone()).collect();
        McpEnvironment::load(Source::of(owned)).map_err(shown)
    };
    let others = [("SVC_WEBHOOK_SECRET_FILE", "/nowhere/secret"), ("SVC_DATABASE", "")];
    let (environment, warnings) =
        alone(&[&others[..], &[("SVC_MCP", "true"), ("SVC_PUBLIC_LISTEN", "[::1]:9")]].concat())
            .unwrap();
    assert_eq!((environment.public_listen.port(), warnings), (9, Vec::new()));
    assert!(environment.mcp.unwrap().hosts.contains(&"[::1]:9".to_owned()));
    assert!(alone(&others).unwrap().0.mcp.is_none());
    let refused: Vec<String> =
        alone(&[("SVC_MCP_ISUER", "x"), ("SVC_PUBLIC_LISTEN", "x"), ("MCP_V2_EXPERIMENTAL", "x")])
            .unwrap_err();
    assert_eq!(refused, ["SVC_MCP_ISUER", "MCP_V2_EXPERIMENTAL", "SVC_PUBLIC_LISTEN"]);
}
