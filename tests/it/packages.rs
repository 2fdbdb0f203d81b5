//! What the packages hold, as far as it is not seen by building them: the files of the plugin for Figma.

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
