//! The manual pages, completions, sample environment file and schema in the repository are those of the
//! commands, settings and steps as they are. `UPDATE=1 cargo test --test it generated` writes them anew.

mod daemon;
mod manual;
mod schema;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap_complete::Shell;
use clap_complete::aot::Generator as _;
use svc::cli;
use svc::config::settings;
use svc::config::{Config, Source};

/// Returns the date of the newest release, which the pages carry: with the day of the build they would change by
/// themselves.
fn date() -> &'static str {
    let newest =
        include_str!("../../CHANGELOG.md").lines().find_map(|line| line.strip_prefix("## "));
    let (version, date) = newest.unwrap().split_once(" (").unwrap();
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    date.strip_suffix(')').unwrap()
}

type Files = BTreeMap<PathBuf, Vec<u8>>;

#[test]
fn manual_pages_are_fresh() {
    let mut pages = Files::new();
    let mut root = cli::command().disable_help_subcommand(true);
    root.build();
    add_page(&root, None, &mut pages);
    pages.insert("man/svcd.8".into(), daemon::page(date()));
    pages.insert("man/svcd.env.5".into(), daemon::settings_page(date()));
    compare(&pages);
    nothing_else("man", &pages);
}

#[test]
fn completions_are_fresh() {
    let mut scripts = Files::new();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let script = cli::script(shell).unwrap();
        scripts.insert(Path::new("completions").join(shell.file_name("svcctl")), script);
    }
    compare(&scripts);
    nothing_else("completions", &scripts);
}

#[test]
fn the_sample_environment_file_is_fresh_and_valid() {
    let sample = daemon::sample();
    let lines = sample.lines().filter_map(|line| line.strip_prefix('#'));
    let pairs = lines.filter_map(|line| line.split_once('='));
    let settings = pairs.filter(|(name, _)| settings::all().any(|it| it.name == *name));
    let set: Vec<_> = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let plain = settings::all().filter(|setting| !setting.secret);
    assert_eq!(set.len(), plain.count(), "every setting but the secrets, which are files");
    let loaded = Config::load(Source::of(set));
    assert!(loaded.is_ok(), "{:?}", loaded.unwrap_err());
    compare(&Files::from([("packaging/svcd.env".into(), sample.into_bytes())]));
}

#[test]
fn the_schema_in_one_file_is_fresh() {
    compare(&Files::from([("migrations/schema.sql".into(), schema::text().into_bytes())]));
}

fn add_page(command: &clap::Command, parent: Option<&clap::Command>, pages: &mut Files) {
    let (name, page) = manual::of_command(command, parent, date());
    pages.insert(format!("man/{name}.1").into(), page);
    for subcommand in command.get_subcommands() {
        add_page(subcommand, Some(command), pages);
    }
}

/// Compares files with what they must hold.
fn compare(expected: &Files) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (path, content) in expected {
        if is_update() {
            fs::write(root.join(path), content).unwrap();
        }
        let found = fs::read(root.join(path)).unwrap_or_default();
        assert!(found == *content, "{} is not fresh; run with UPDATE=1", path.display());
    }
}

/// Refuses files of a directory that nothing writes any more.
fn nothing_else(directory: &str, expected: &Files) {
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(directory)).unwrap() {
        let path = Path::new(directory).join(entry.unwrap().file_name());
        assert!(expected.contains_key(&path), "{} is left over", path.display());
    }
}

#[expect(clippy::disallowed_methods, reason = "a switch for developers, not a setting")]
pub(crate) fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some()
}
