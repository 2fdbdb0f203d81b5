//! How a configuration is read as a whole, and what is reported about it.

use super::*;

fn load(variables: &[(&str, &str)]) -> Result<Config, Vec<String>> {
    let owned = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    Config::load(Source::of(owned))
        .map_err(|problems| problems.iter().map(SettingProblem::to_string).collect())
}

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn nothing_set_is_valid_and_warns_about_what_is_off() {
    let config = load(&[]).unwrap();
    assert!(config.operator.is_none() && config.forge.is_none());
    assert_eq!(config.warnings.len(), 2);
    assert_eq!(
        config.reconciliation,
        Some(ReconciliationConfig {
            concurrency: 2,
            poll: Duration::from_millis(5_000),
            detect_interval: Duration::from_millis(30_000),
            rules: Rules {
                observation: Duration::from_secs(300),
                deadline: Duration::from_secs(1_800),
                next_check: Duration::from_secs(60),
            },
        })
    );
}

#[test]
fn every_problem_is_reported_at_once_without_the_secret() {
    let problems = load(&[
        ("SVC_OPERATOR_API_TOKEN", "tooshort-secret"),
        ("SVC_OPERATOR_ACTOR_ID", "a b"),
        ("SVC_PUBLIC_LISTEN", "nowhere"),
        ("SVC_LOG_FORMAT", "xml"),
        ("SVC_TYPO", "1"),
        ("SVC_FORGE_APP_ID", "1"),
    ])
    .unwrap_err();
    for name in [
        "SVC_OPERATOR_API_TOKEN",
        "SVC_OPERATOR_ACTOR_ID",
        "SVC_PUBLIC_LISTEN",
        "SVC_LOG_FORMAT",
        "SVC_TYPO",
        "SVC_WEBHOOK_SECRET",
        "SVC_FORGE_PRIVATE_KEY",
    ] {
        assert!(problems.iter().any(|problem| problem.starts_with(name)), "{name}");
    }
    assert!(!problems.concat().contains("tooshort-secret"));
}

#[test]
fn a_path_too_long_for_a_socket_is_a_problem() {
    let longest = "x".repeat(CONTROL_SOCKET_BYTES_MAX);
    assert!(load(&[("SVC_CONTROL_SOCKET", &longest)]).is_ok());
    let problems = load(&[("SVC_CONTROL_SOCKET", &(longest + "y"))]).unwrap_err();
    assert_eq!(problems, ["SVC_CONTROL_SOCKET: the path has 97 bytes, but at most 96 are allowed"]);
}

#[test]
fn a_value_that_is_wrong_by_itself_is_one_problem() {
    let problems = load(&[("SVC_RETRY_MAX_MS", "x")]).unwrap_err();
    assert!(
        matches!(&problems[..], [only] if only.starts_with("SVC_RETRY_MAX_MS")),
        "{problems:?}"
    );
    let problems = load(&[("SVC_RETRY_MAX_MS", "100"), ("SVC_RETRY_BASE_MS", "200")]).unwrap_err();
    assert!(
        matches!(&problems[..], [only] if only.starts_with("SVC_RETRY_BASE_MS")),
        "{problems:?}"
    );
}

#[test]
fn the_specification_s_names_are_accepted_and_a_contradiction_is_not() {
    let config = load(&[
        ("SERVICE_OPERATOR_API_TOKEN", TOKEN),
        ("SERVICE_OPERATOR_ACTOR_ID", "ops:release-1"),
    ])
    .unwrap();
    assert_eq!(config.operator.unwrap().actor, "ops:release-1");
    let missing = load(&[("SERVICE_OPERATOR_API_TOKEN_FILE", "/no/such/file")]).unwrap_err();
    assert!(missing.concat().contains("/no/such/file"), "{missing:?}");
    let problems = load(&[("SERVICE_POLL_MS", "20"), ("SVC_POLL_MS", "30")]).unwrap_err().concat();
    assert!(problems.contains("SERVICE_POLL_MS is set to another value"), "{problems}");
}

#[test]
fn a_slip_in_the_specification_s_names_is_told_and_other_people_s_names_are_not_ours() {
    for slip in ["SERVICE_RECONCILIATION_POLL", "SERVICE_OPERATOR_TOKEN", "SVC_POLL"] {
        assert_eq!(load(&[(slip, "1")]).unwrap_err().len(), 1, "{slip}");
    }
    assert!(load(&[("SERVICE_HOST", "somewhere"), ("SERVICE_POLL_MS", "20")]).is_ok());
}

#[test]
fn bad_reconciliation_settings_start_and_are_marked() {
    let config = load(&[("SVC_RECONCILIATION_DEADLINE_SECONDS", "soon")]).unwrap();
    assert_eq!(config.reconciliation, None);
    assert!(config.warnings.iter().any(|w| w.name == "SVC_RECONCILIATION_DEADLINE_SECONDS"));
}

#[test]
fn the_operator_address_stays_on_loopback_unless_told() {
    assert!(load(&[("SVC_OPERATOR_LISTEN", "0.0.0.0:1")]).is_err());
    let allowed = [("SVC_OPERATOR_LISTEN", "0.0.0.0:1"), ("SVC_ALLOW_REMOTE_OPERATOR", "true")];
    let problems = load(&allowed).unwrap_err().concat();
    assert!(problems.starts_with("SVC_OPERATOR_HOSTS"), "{problems}");
    let named = [&allowed[..], &[("SVC_OPERATOR_HOSTS", "svc.example")]].concat();
    assert!(load(&named).is_ok());
}

#[test]
fn loopback_hosts() {
    for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "[::1]"] {
        assert!(is_loopback_host(host), "{host}");
    }
    for host in ["", "example.com", "127.0.0.1.example.com", "localhost.example.com"] {
        assert!(!is_loopback_host(host), "{host}");
    }
}
