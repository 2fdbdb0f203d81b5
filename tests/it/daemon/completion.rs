//! What shells complete: words of the command line, and values that the running service knows. The script of bash runs
//! in bash; of zsh and fish, what their scripts ask `svcctl`.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use svc::simulator::{Call, Fault};

use super::letters::{letters, push};
use super::site::{Ended, Site};
use super::{INSTALLATION, wait_for};

/// Returns a command that completes for a shell.
fn completing(site: &Site, shell: &str, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svcctl"));
    command
        .env_clear()
        .env("_SVCCTL_COMPLETE", shell)
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("SVC_URL", format!("unix:{}", site.socket().display()))
        .env("SVC_OPERATOR_API_TOKEN_FILE", site.path("SVC_OPERATOR_API_TOKEN"))
        // With files that must not be offered.
        .current_dir(site.path("."))
        .args(["--", "svcctl"])
        .args(words);
    command
}

fn ended(command: &mut Command) -> Ended {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Returns the values that are completed, without their help and without options, which any word may be.
fn values(site: &Site, shell: &str, words: &[&str]) -> Vec<String> {
    values_of(&mut completing(site, shell, words), shell)
}

fn values_of(command: &mut Command, shell: &str) -> Vec<String> {
    let ended = ended(command);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    let value = |line: &str| {
        let end = line.find(if shell == "zsh" { ':' } else { '\t' });
        line.get(..end.unwrap_or(line.len())).unwrap().to_owned()
    };
    ended.stdout.lines().map(value).filter(|value| !value.starts_with('-')).collect()
}

/// Completes with the script of bash, in bash.
fn values_in_bash(site: &Site, words: &str, index: usize) -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("completions/svcctl.bash");
    let programs = Path::new(env!("CARGO_BIN_EXE_svcctl")).parent().unwrap();
    let typed = format!(
        "source '{}'; COMP_WORDS=({words}); COMP_CWORD={index}; COMP_TYPE=9; \
         _clap_complete_svcctl svcctl \"${{COMP_WORDS[COMP_CWORD]}}\" ''; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display()
    );
    let mut command = Command::new("bash");
    command
        .args(["--norc", "-c", &typed])
        .env("PATH", format!("{}:/usr/bin:/bin", programs.display()))
        .env("SVC_URL", format!("unix:{}", site.socket().display()))
        .env("SVC_OPERATOR_API_TOKEN_FILE", site.path("SVC_OPERATOR_API_TOKEN"))
        .current_dir(site.path("."));
    values_of(&mut command, "bash").into_iter().filter(|value| !value.is_empty()).collect()
}

#[test]
fn values_of_the_service_are_completed_in_each_shell() {
    let site = Site::new();
    let daemon = site.start();
    site.forge.plan(Call::Dispatch, Fault::Validation422);
    push(&daemon, &site.webhooks, 1);
    let letter = wait_for("the dead letter", || letters(&daemon, INSTALLATION).pop());
    let id = letter.item_id.as_str();
    let installation = INSTALLATION.to_string();
    for shell in ["bash", "zsh", "fish"] {
        // What the service does not say in time is missing, on a machine that is busy.
        let values = |words: &[&str]| {
            let enough = |found: &Vec<String>| !found.is_empty() || words.contains(&"job");
            let look = || Some(values(&site, shell, words)).filter(enough);
            wait_for("values", look)
        };
        assert_eq!(values(&["dead-letters", "show", "outbox", ""]), [id], "{shell}");
        assert_eq!(values(&["replay", "outbox", &id[..9]]), [id], "{shell}");
        assert_eq!(values(&["replay", "job", ""]), [""; 0], "{shell}");
        assert_eq!(values(&["releases", "list", "--repository", ""]), ["acme/site"], "{shell}");
        assert_eq!(
            values(&["releases", "list", "--installation", ""]),
            [&*installation],
            "{shell}"
        );
        let release = values(&["--installation", &installation, "releases", "show", ""]);
        assert!(release.len() == 1 && release[0].len() == 36, "{shell}: {release:?}");
        assert_eq!(values(&["--installation", ""]), [&*installation], "{shell}");
        assert_eq!(values(&["relay", "sessions", "--installation", ""]), [&*installation]);
        let reasons = values(&["dead-letters", "list", "--reason", "forge_dispatch"]);
        assert_eq!(reasons.len(), 2, "{shell}: {reasons:?}");
        let commands = values(&["rel"]);
        assert_eq!(commands, ["releases", "relay", "reload"], "{shell}");
    }
    for (words, index, wanted) in [
        ("svcctl dead-letters show outbox ''", 4, id),
        ("svcctl --installation ''", 2, &*installation),
    ] {
        wait_for(words, || (values_in_bash(&site, words, index) == [wanted]).then_some(()));
    }
    // Another installation has none.
    let words = ["--installation", "1", "releases", "show", ""];
    assert_eq!(values(&site, "fish", &words), [""; 0]);
}

#[test]
fn what_is_not_known_in_time_is_completed_silently_with_nothing() {
    let site = Site::new();
    fs::write(site.path("0199-a-file"), "").unwrap();
    let words = ["releases", "show", ""];
    // No service.
    assert_eq!(values(&site, "fish", &words), [""; 0]);
    assert_eq!(values_in_bash(&site, "svcctl releases show ''", 3), [""; 0]);
    // A service that does not answer: this ends all the same.
    let listener = UnixListener::bind(site.socket()).unwrap();
    for shell in ["bash", "zsh", "fish"] {
        assert_eq!(values(&site, shell, &words), [""; 0], "{shell}");
    }
    drop(listener);
    fs::remove_file(site.socket()).unwrap();
    // A token that cannot be read, or is another one.
    let _daemon = site.start();
    let mut without = completing(&site, "fish", &words);
    without.env("SVC_OPERATOR_API_TOKEN_FILE", site.path("missing"));
    assert_eq!(values_of(&mut without, "fish"), [""; 0]);
}
