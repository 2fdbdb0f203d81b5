//! The bounds of settings, through loading a configuration.

mod judged;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;

use secrecy::ExposeSecret as _;
use svc::config::settings;
use svc::config::{Config, ProtocolConfig, Source};
use svc::mcp::revision::Legacy;

const TOKEN: &str = "SVC_OPERATOR_API_TOKEN";

/// Loads a configuration that has an actor and these variables; returns the token, or the variables that
/// were refused.
fn load(variables: &[(&str, &str)]) -> Result<String, Vec<String>> {
    let actor = ("SVC_OPERATOR_ACTOR_ID", "ops:tests");
    let all = variables.iter().chain([&actor]);
    let config = Config::load(Source::of(
        all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
    ));
    match config {
        Ok(config) => Ok(config.operator.unwrap().token.expose_secret().to_owned()),
        Err(problems) => Err(problems.into_iter().map(|problem| problem.name).collect()),
    }
}

/// Returns as many visible ASCII characters, from the first to the last and again.
fn visible(count: usize) -> String {
    ('!'..='~').cycle().take(count).collect()
}

#[test]
fn an_operator_token_has_32_to_4096_visible_ascii_characters() {
    for count in [32, 33, 4_096] {
        let token = visible(count);
        assert_eq!(load(&[(TOKEN, &token)]), Ok(token.clone()), "{count}");
        assert_eq!(load(&[("SERVICE_OPERATOR_API_TOKEN", &token)]), Ok(token), "{count}");
    }
    for count in [1, 31, 4_097] {
        assert_eq!(load(&[(TOKEN, &visible(count))]), Err(vec![TOKEN.to_owned()]), "{count}");
    }
    // Long enough, and one character is not visible or not ASCII; the last has 31 characters in 32 bytes.
    for other in [" ", "\t", "\n", "\u{0}", "\u{7f}", "\u{a0}", "é"] {
        for token in [visible(31) + other, other.to_owned() + &visible(31)] {
            assert_eq!(load(&[(TOKEN, &token)]), Err(vec![TOKEN.to_owned()]), "{token:?}");
        }
    }
    assert_eq!(load(&[(TOKEN, &(visible(30) + "é"))]), Err(vec![TOKEN.to_owned()]));
}

#[test]
fn the_line_end_of_a_token_file_is_no_character_of_the_token() {
    let folder = tempfile::tempdir().unwrap();
    for (count, accepted) in [(31, false), (32, true)] {
        let path = folder.path().join(count.to_string());
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).unwrap();
        writeln!(file, "{}", visible(count)).unwrap();
        let loaded = load(&[("SVC_OPERATOR_API_TOKEN_FILE", path.to_str().unwrap())]);
        assert_eq!(loaded == Ok(visible(count)), accepted, "{count}: {loaded:?}");
    }
}

#[test]
fn numbers_are_taken_to_their_bounds_and_no_further() {
    let numbers = settings::all().filter_map(|it| Some((it.name, it.bounds?)));
    let of_reconciliation = |name: &str| name.starts_with("SVC_RECONCILIATION_");
    // Base and maximum of a delay are also compared with each other.
    let is_alone = |name: &str| !name.starts_with("SVC_RETRY_") && !of_reconciliation(name);
    for (name, (least, most)) in numbers.filter(|(name, _)| is_alone(name)) {
        let (least, most) = (i128::from(least), i128::from(most));
        for (number, is_taken) in
            [(least, true), (most, true), (least - 1, false), (most + 1, false)]
        {
            let loaded = load(&[(name, &number.to_string()), (TOKEN, &visible(32))]);
            let wanted = if is_taken { Ok(visible(32)) } else { Err(vec![name.to_owned()]) };
            assert_eq!(loaded, wanted, "{name}={number}");
        }
    }
}

#[test]
fn the_protocol_s_settings_have_one_name_each_and_are_in_both_configurations() {
    let source = |variables: &[(&str, &str)]| {
        Source::of(variables.iter().map(|(name, value)| ((*name).into(), (*value).into())))
    };
    for (variables, modern, offered) in [
        (&[][..], false, Legacy::DEFAULT),
        (&[("MCP_V2_EXPERIMENTAL", "true")], true, Legacy::DEFAULT),
        (&[("MCP_PROTOCOL_VERSION", "2025-03-26")], false, Legacy::V2025_03_26),
        (&[("SERVICE_V2_EXPERIMENTAL", "true")], false, Legacy::DEFAULT),
        (&[("MCP_V2_EXPERIMENTAL_FILE", "/no/such/file")], false, Legacy::DEFAULT),
    ] {
        let wanted = ProtocolConfig { modern, offered };
        assert_eq!(Config::load(source(variables)).unwrap().protocol, wanted, "{variables:?}");
        assert_eq!(ProtocolConfig::load(source(variables)).unwrap().0, wanted, "{variables:?}");
    }
    let slip = [("MCP_V2_EXPERIMENTEL", "true")];
    let warnings = Config::load(source(&slip)).unwrap().warnings;
    let warning = warnings.iter().find(|warning| warning.name == slip[0].0).unwrap();
    assert!(warning.what.contains("MCP_V2_EXPERIMENTAL"), "{warning}");
    let problems = Config::load(source(&[("MCP_PROTOCOL_VERSION", "2024-10-07")])).unwrap_err();
    assert_eq!(problems[0].name, "MCP_PROTOCOL_VERSION");
    // The two are read alone: what is wrong elsewhere is not their matter.
    assert!(ProtocolConfig::load(source(&[("SVC_TYPO", "1"), ("SVC_MCP", "x")])).is_ok());
}
