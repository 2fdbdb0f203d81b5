//! What the packages hold, as far as it can be seen without building them, and how the unit starts and reloads the daemon.
//! `tests/packages` builds and installs them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const FILES: &str = include_str!("../../packaging/files");
const FOLDER: &str = "/usr/share/svc/relay-plugin/figma/";

/// Returns mode, source and place of each line of the list of files.
fn rows() -> impl Iterator<Item = [&'static str; 3]> {
    let lines = FILES.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().try_into().unwrap())
}

/// Returns the files that a pattern of the list stands for.
fn found(source: &str) -> Vec<PathBuf> {
    let pattern = format!("{}/{source}", env!("CARGO_MANIFEST_DIR"));
    glob::glob(&pattern).unwrap().map(Result::unwrap).collect()
}

fn names(folder: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/relay-plugin").join(folder);
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn both_packages_hold_the_socket_of_the_default_address_and_no_upgrade_closes_it() {
    let socket = include_str!("../../packaging/svcd.socket");
    let settings = include_str!("../../packaging/svcd.env");
    let address =
        settings.lines().find_map(|line| line.strip_prefix("#SVC_PUBLIC_LISTEN=")).unwrap();
    assert!(socket.contains(&format!("\nListenStream={address}\n")), "{address}");

    let scripts = [
        include_str!("../../packaging/debian/svcd.postinst"),
        include_str!("../../packaging/rpm/svcd.spec"),
    ];
    for script in scripts {
        let restarts: Vec<_> =
            script.lines().filter(|line| line.contains("try-restart ")).collect();
        assert_eq!(restarts.len(), 1, "{restarts:?}");
        assert!(restarts[0].contains("try-restart svcd.service >"), "{restarts:?}");
    }
}

#[test]
fn both_packages_have_the_version_of_the_program_and_say_the_same_next_step() {
    let changelog = include_str!("../../packaging/debian/changelog");
    let spec = include_str!("../../packaging/rpm/svcd.spec");
    let version = env!("CARGO_PKG_VERSION");
    assert!(changelog.starts_with(&format!("svcd ({version}-1) ")), "{version}");
    let newest = spec.split("%changelog\n").nth(1).unwrap().lines().next().unwrap();
    assert!(newest.ends_with(&format!(" - {version}-1")), "{newest}");

    let postinst = include_str!("../../packaging/debian/svcd.postinst");
    let said = |script: &'static str| {
        let lines =
            script.lines().skip_while(|line| !line.contains("is installed, and not started"));
        lines.take_while(|line| line.trim() != "END").map(str::trim).collect::<Vec<_>>()
    };
    assert_eq!(said(postinst), said(spec));
    assert_eq!(said(spec).len(), 2);
}

#[test]
fn every_file_of_the_list_exists() {
    for [mode, source, place] in rows() {
        assert!(!found(source).is_empty(), "{source}");
        assert!(["0644", "0640"].contains(&mode) && place.starts_with('/'), "{source}");
    }
}

#[test]
fn both_packages_hold_the_plugin_for_figma_whole_and_in_one_folder() {
    let mut wanted = names("core");
    assert!(wanted.remove("messages.d.ts"), "types, which nothing loads");
    wanted.extend(names("figma"));
    let placed = rows().filter(|[_, _, place]| *place == FOLDER);
    let placed: Vec<_> = placed.flat_map(|[_, source, _]| found(source)).collect();
    let found: BTreeSet<String> =
        placed.iter().map(|file| file.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(found, wanted);
    assert_eq!(placed.len(), wanted.len(), "a file is placed twice");
}

#[test]
fn both_packages_hold_the_examples() {
    let examples = rows().filter(|[_, _, place]| *place == "/usr/share/doc/svcd/examples/");
    let sources: Vec<_> = examples.map(|[_, source, _]| source).collect();
    for file in ["prometheus/svc.rules.yml", "grafana/svc-dashboard.json", "workflows/release.yml"]
    {
        assert!(sources.contains(&&*format!("packaging/{file}")), "{file}");
    }
}

#[test]
fn the_unit_never_gives_up_and_starts_the_daemon_ever_less_often() {
    let unit = include_str!("../../packaging/svcd.service");
    let value = |key: &str| {
        let values: Vec<_> = unit.lines().filter_map(|line| line.strip_prefix(key)).collect();
        assert!(values.len() <= 1, "{key} {values:?}");
        values.first().copied()
    };
    assert_eq!(value("Restart="), Some("on-failure"));
    // The default is a limit as well, so it has to be switched off.
    assert_eq!(value("StartLimitIntervalSec="), Some("0"));
    assert_eq!(value("StartLimitBurst="), None);
    let seconds = |key| value(key).unwrap().trim_end_matches('s').parse::<u32>().unwrap();
    let (first, last) = (seconds("RestartSec="), seconds("RestartMaxDelaySec="));
    // An older systemd ignores the last two, so the first delay has to be bearable for good.
    assert!((1..=5).contains(&first) && (30..=120).contains(&last), "{first} {last}");
    assert!(seconds("RestartSteps=") > 0);
    // A disk that hangs keeps a start for so long; one that works asks for more time: `daemon::crashed`.
    assert!((60..=300).contains(&seconds("TimeoutStartSec=")));
}

#[test]
fn the_unit_reloads_with_a_command_that_exists_and_waits_for_its_end() {
    let unit = include_str!("../../packaging/svcd.service");
    let reload = unit.lines().find_map(|line| line.strip_prefix("ExecReload=")).unwrap();
    let words = reload.strip_prefix("/usr/bin/").unwrap().split(' ');
    let matches = svc::cli::command().try_get_matches_from(words).unwrap();
    assert_eq!(matches.subcommand_name(), Some("reload"));
}
