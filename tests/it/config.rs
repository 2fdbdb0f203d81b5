//! The bounds of settings, through loading a configuration.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;

use secrecy::ExposeSecret as _;
use svc::config::{Config, Source};

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
