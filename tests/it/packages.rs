//! What the packages hold, as far as it is not seen by building them: the files of the plugin for Figma, the socket, how
//! the unit starts the daemon again, and the command that reloads it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const FOLDER: &str = "usr/share/svc/relay-plugin/figma/";

/// Returns what the assets of a package put into the plugin's folder: each line's first path, and where it goes.
fn assets(section: &str) -> Vec<(PathBuf, String)> {
    let manifest = include_str!("../../Cargo.toml");
    let section = manifest.split(&format!("\n[{section}]\n")).nth(1).unwrap();
    let assets = section.split("\nassets = [\n").nth(1).unwrap().split("\n]\n").next().unwrap();
    let mut placed = Vec::new();
    for line in assets.lines() {
        let quoted: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
        let (source, folder) = (quoted[0], quoted[1].trim_start_matches('/'));
        let Some(name) = folder.strip_prefix(FOLDER) else { continue };
        assert_eq!(quoted[2], "644", "{line}");
        for file in glob::glob(&format!("{}/{source}", env!("CARGO_MANIFEST_DIR"))).unwrap() {
            let file = file.unwrap();
            let own = file.file_name().unwrap().to_str().unwrap().to_owned();
            placed.push((file, if name.is_empty() { own } else { name.to_owned() }));
        }
    }
    placed
}

fn names(folder: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/relay-plugin").join(folder);
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn both_packages_hold_the_socket_of_the_default_address_and_no_upgrade_closes_it() {
    let manifest = include_str!("../../Cargo.toml");
    let socket = include_str!("../../packaging/svcd.socket");
    let settings = include_str!("../../packaging/svcd.env");
    let address =
        settings.lines().find_map(|line| line.strip_prefix("#SVC_PUBLIC_LISTEN=")).unwrap();
    assert!(socket.contains(&format!("\nListenStream={address}\n")), "{address}");

    // cargo-deb packages each unit of this name by itself; with this setting on, it would restart each of them.
    assert!(manifest.contains("restart-after-upgrade = false"));
    assert!(manifest.contains(r#"dest = "/usr/lib/systemd/system/svcd.socket""#));
    let scripts = [include_str!("../../packaging/postinst"), manifest];
    for script in scripts {
        let restarts: Vec<_> =
            script.lines().filter(|line| line.contains("try-restart ")).collect();
        assert_eq!(restarts.len(), 1, "{restarts:?}");
        assert!(restarts[0].contains("try-restart svcd.service >"), "{restarts:?}");
    }
}

#[test]
fn both_packages_hold_the_plugin_for_figma_whole_and_in_one_folder() {
    let mut wanted = names("core");
    assert!(wanted.remove("messages.d.ts"), "types, which nothing loads");
    wanted.extend(names("figma"));
    for section in ["package.metadata.deb", "package.metadata.generate-rpm"] {
        let placed = assets(section);
        let found: BTreeSet<String> = placed.iter().map(|(_, name)| name.clone()).collect();
        assert_eq!(found, wanted, "{section}");
        assert_eq!(placed.len(), wanted.len(), "{section} places a file twice");
        for (file, name) in placed {
            assert_eq!(file.file_name().unwrap().to_str(), Some(&*name), "{section}");
        }
    }
}

#[test]
fn both_packages_hold_the_examples() {
    let manifest = include_str!("../../Cargo.toml");
    for file in ["prometheus/svc.rules.yml", "grafana/svc-dashboard.json", "workflows/release.yml"]
    {
        let name = file.split_once('/').unwrap().1;
        let deb = format!("[\"packaging/{file}\", \"usr/share/doc/svcd/examples/\", \"644\"]");
        let rpm = format!(
            "source = \"packaging/{file}\", dest = \"/usr/share/doc/svcd/examples/{name}\""
        );
        assert!(manifest.contains(&deb) && manifest.contains(&rpm), "{file}");
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
