//! Settings that can be read and could not work: each is refused, or warned of, before the daemon starts.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use svc::config::{Config, Source};

const KEY: &str = include_str!("../../data/throwaway-key-pkcs8.pem");
const SECRET: &str = "a webhook secret of the tests";

/// Returns the settings that are refused, each with what is wrong.
fn problems(variables: &[(&str, &str)]) -> Vec<(String, String)> {
    match load(variables) {
        Ok(_) => Vec::new(),
        Err(problems) => problems,
    }
}

/// Loads a configuration with a forge and these settings.
fn load(variables: &[(&str, &str)]) -> Result<Config, Vec<(String, String)>> {
    let forge =
        [("SVC_WEBHOOK_SECRET", SECRET), ("SVC_FORGE_APP_ID", "1"), ("SVC_FORGE_PRIVATE_KEY", KEY)];
    // Of two values the last one counts; one that is given as a file replaces the other form.
    let is_replaced = |name: &str| variables.iter().any(|it| it.0 == format!("{name}_FILE"));
    let forge = forge.iter().filter(|(name, _)| !is_replaced(name));
    let all = forge.chain(variables).map(|(name, value)| ((*name).into(), (*value).into()));
    Config::load(Source::of(all))
        .map_err(|problems| problems.into_iter().map(|it| (it.name, it.what)).collect())
}

/// Checks that one setting is refused, and no other.
#[track_caller]
fn assert_refused(variables: &[(&str, &str)], name: &str) {
    let problems = problems(variables);
    assert!(matches!(&problems[..], [only] if only.0 == name), "{variables:?}: {problems:?}");
}

#[track_caller]
fn assert_taken(variables: &[(&str, &str)]) {
    let problems = problems(variables);
    assert!(problems.is_empty(), "{variables:?}: {problems:?}");
}

#[test]
fn webhook_secrets_have_16_visible_characters_and_no_control_characters() {
    let long = "x".repeat(4_097);
    for name in ["SVC_WEBHOOK_SECRET", "SVC_WEBHOOK_SECRET_PREVIOUS"] {
        for secret in ["0123456789abcdef", "It's a Secret to Everybody", &"é".repeat(16)] {
            assert_taken(&[(name, secret)]);
        }
        for secret in [
            "0123456789abcde",
            "0123456789abcde       ",
            "0123456789abcdef\r",
            "0123456789abcdef\n",
            "\t0123456789abcdef",
            "0123456789abcdef\u{7f}",
            "\u{feff}0123456789abcdef",
            &long,
        ] {
            assert_refused(&[(name, secret)], name);
        }
    }
}

#[test]
fn a_webhook_secret_with_the_line_end_of_another_system_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("webhook.secret");
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).unwrap();
    write!(file, "{SECRET}\r\n").unwrap();
    let problems = problems(&[("SVC_WEBHOOK_SECRET_FILE", path.to_str().unwrap())]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].0 == "SVC_WEBHOOK_SECRET" && problems[0].1.contains("control"));
}

#[test]
fn no_secret_is_that_of_another_setting() {
    const ONE: &str = "0123456789abcdef0123456789abcdef";
    let names = [
        "SVC_OPERATOR_API_TOKEN",
        "SVC_RESULT_SECRET",
        "SVC_RESULT_SECRET_PREVIOUS",
        "SVC_WEBHOOK_SECRET",
        "SVC_WEBHOOK_SECRET_PREVIOUS",
    ];
    for (place, first) in names.iter().enumerate() {
        assert_taken(&[(first, ONE)]);
        for second in &names[place + 1..] {
            let problems = problems(&[(first, ONE), (second, ONE)]);
            assert_eq!(problems.len(), 1, "{first} {second}: {problems:?}");
            let (name, what) = &problems[0];
            assert!(name == second && what.contains(first), "{problems:?}");
            assert!(!what.contains(ONE));
        }
    }
}

#[test]
fn a_root_certificate_is_a_regular_file_of_a_bounded_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(path("folder")).unwrap();
    let huge = fs::File::create(path("huge")).unwrap();
    huge.set_len(1 << 30).unwrap();
    let made = std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap();
    assert!(made.success());
    let name = "SVC_FORGE_ROOT_CERTIFICATE_FILE";
    for (file, why) in [("folder", "regular file"), ("huge", "larger"), ("pipe", "regular file")] {
        let problems = problems(&[(name, &path(file))]);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].0 == name && problems[0].1.contains(why), "{problems:?}");
        assert!(Path::new(&path(file)).exists());
    }
}

#[test]
fn two_listeners_have_two_addresses() {
    let both = |public, operator| {
        [
            ("SVC_PUBLIC_LISTEN", public),
            ("SVC_OPERATOR_LISTEN", operator),
            ("SVC_ALLOW_REMOTE_OPERATOR", "true"),
            ("SVC_OPERATOR_HOSTS", "ops.example"),
        ]
    };
    for (public, operator) in [
        ("127.0.0.1:7081", "127.0.0.1:7081"),
        ("0.0.0.0:7081", "127.0.0.1:7081"),
        ("127.0.0.1:7081", "0.0.0.0:7081"),
        ("[::]:7081", "[::1]:7081"),
        ("[::]:7081", "127.0.0.1:7081"),
        ("0.0.0.0:7081", "[::]:7081"),
        ("[::ffff:127.0.0.1]:7081", "127.0.0.1:7081"),
    ] {
        assert_refused(&both(public, operator), "SVC_OPERATOR_LISTEN");
    }
    for (public, operator) in [
        ("127.0.0.1:7080", "127.0.0.1:7081"),
        ("127.0.0.1:0", "127.0.0.1:0"),
        ("127.0.0.1:7081", "127.0.0.2:7081"),
        ("127.0.0.1:7081", "[::1]:7081"),
        ("0.0.0.0:7081", "[::1]:7081"),
    ] {
        assert_taken(&both(public, operator));
    }
}

#[test]
fn operator_hosts_are_names_that_a_request_can_have() {
    for host in ["ops.example", "OPS.example,other.example", "10.0.0.1", "[2001:db8::1]"] {
        assert_taken(&[("SVC_OPERATOR_HOSTS", host)]);
    }
    for host in [
        "ops.example:7081",
        "https://ops.example",
        "*.example",
        "ops.example/",
        "ops.example,b c",
        "2001:db8::1",
        "ops.example.",
    ] {
        assert_refused(&[("SVC_OPERATOR_HOSTS", host)], "SVC_OPERATOR_HOSTS");
    }
}

#[test]
fn ports_of_addresses_are_ports() {
    for port in ["0", "65536", "70000", "x", "-1"] {
        let url = |rest: &str| format!("https://forge.example:{port}{rest}");
        assert_refused(&[("SVC_FORGE_API_URL", &url("/api/v3"))], "SVC_FORGE_API_URL");
        assert_refused(&[("SVC_RESULT_ISSUERS", &url("/token"))], "SVC_RESULT_ISSUERS");
        assert_refused(&[("SVC_MCP_ISSUER", &url(""))], "SVC_MCP_ISSUER");
        assert_refused(&[("SVC_MCP_JWKS_URL", &url("/keys"))], "SVC_MCP_JWKS_URL");
        assert_refused(&[("SVC_PUBLIC_URL", &url(""))], "SVC_PUBLIC_URL");
    }
    assert_refused(&[("SVC_PUBLIC_LISTEN", "127.0.0.1:65536")], "SVC_PUBLIC_LISTEN");
    let good = "https://forge.example:65535/api/v3";
    assert_taken(&[("SVC_FORGE_API_URL", good), ("SVC_RESULT_ISSUERS", good)]);
}

#[test]
fn a_workflow_is_the_name_of_a_file() {
    for name in ["release.yml", "release v1.yaml", "42"] {
        assert_taken(&[("SVC_RELEASE_WORKFLOW", name)]);
    }
    for name in [".github/workflows/release.yml", "workflows\\release.yml", "..", ".", "", "a/"] {
        assert_refused(&[("SVC_RELEASE_WORKFLOW", name)], "SVC_RELEASE_WORKFLOW");
    }
}

#[test]
fn proxies_that_are_trusted_from_everywhere_are_worth_a_warning() {
    let warned = |networks| {
        let warnings = load(&[("SVC_TRUSTED_PROXIES", networks)]).unwrap().warnings;
        warnings.iter().filter(|warning| warning.name == "SVC_TRUSTED_PROXIES").count()
    };
    for networks in ["0.0.0.0/0", "::/0", "10.0.0.0/8,0.0.0.0/0"] {
        assert_eq!(warned(networks), 1, "{networks}");
    }
    for networks in ["10.0.0.0/8", "127.0.0.0/8,::1/128", ""] {
        assert_eq!(warned(networks), 0, "{networks}");
    }
}

#[test]
fn an_empty_reconciliation_setting_is_unset() {
    for name in ["SVC_RECONCILIATION_POLL_MS", "SERVICE_RECONCILIATION_POLL_MS"] {
        let config = load(&[(name, "")]).unwrap();
        let poll = config.reconciliation.unwrap().poll;
        assert_eq!(poll.as_millis(), 5_000, "{name}");
    }
    let other = [("SVC_RECONCILIATION_POLL_MS", ""), ("SERVICE_RECONCILIATION_POLL_MS", "500")];
    assert_eq!(load(&other).unwrap().reconciliation.unwrap().poll.as_millis(), 500);
}

#[test]
fn two_names_of_one_setting_with_two_values_are_refused_everywhere() {
    for (own, other) in [
        ("SVC_POLL_MS", "SERVICE_POLL_MS"),
        ("SVC_RECONCILIATION_POLL_MS", "SERVICE_RECONCILIATION_POLL_MS"),
        ("SVC_OPERATOR_ACTOR_ID", "SERVICE_OPERATOR_ACTOR_ID"),
    ] {
        assert_refused(&[(own, "500"), (other, "600")], own);
        assert_taken(&[(own, "500"), (other, "500")]);
    }
    let files = [
        ("SVC_RESULT_SECRET_FILE", "/no/such/file"),
        ("SERVICE_RESULT_SECRET_FILE", "/no/other/file"),
    ];
    let problems = problems(&files);
    assert_eq!(problems[0].0, "SVC_RESULT_SECRET_FILE", "{problems:?}");
    assert!(problems[0].1.contains("SERVICE_RESULT_SECRET_FILE"), "{problems:?}");
}

#[test]
fn a_file_beside_a_credential_of_the_same_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("SVC_WEBHOOK_SECRET");
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).unwrap();
    writeln!(file, "{SECRET}").unwrap();
    let problems = problems(&[
        ("SVC_WEBHOOK_SECRET_FILE", path.to_str().unwrap()),
        ("CREDENTIALS_DIRECTORY", folder.path().to_str().unwrap()),
    ]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].0, "SVC_WEBHOOK_SECRET_FILE");
    assert!(problems[0].1.contains("credential"), "{problems:?}");
}

#[test]
fn what_kubernetes_says_of_a_service_named_svc_is_no_setting() {
    for (name, value) in [
        ("SVC_SERVICE_HOST", "10.0.0.1"),
        ("SVC_SERVICE_PORT", "7080"),
        ("SVC_SERVICE_PORT_HTTP", "7080"),
        ("SVC_PORT", "tcp://10.0.0.1:7080"),
        ("SVC_PORT_7080_TCP", "tcp://10.0.0.1:7080"),
        ("SVC_PORT_7080_TCP_PROTO", "tcp"),
        ("SVC_PORT_7080_TCP_PORT", "7080"),
        ("SVC_PORT_7080_TCP_ADDR", "10.0.0.1"),
        ("SVC_PORT_53_UDP", "udp://10.0.0.1:53"),
        ("SVC_PORT_5_SCTP_ADDR", "10.0.0.1"),
    ] {
        assert_taken(&[(name, value)]);
        assert!(!Source::of([(name.to_owned(), value.to_owned())]).has_settings(), "{name}");
    }
    for name in [
        "SVC_SERVICE",
        "SVC_SERVICE_HOSTS",
        "SVC_SERVICE_PORTS",
        "SVC_SERVICE_PORT_",
        "SVC_PORTS",
        "SVC_PORT_HTTP",
        "SVC_PORT_7080",
        "SVC_PORT_7080_HTTP",
        "SVC_PORT_7080_TCP_",
        "SVC_PORT__TCP",
        "SVC_PUBLIC_PORT",
    ] {
        assert_refused(&[(name, "1")], name);
    }
}
