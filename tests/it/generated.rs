//! The manual pages and completions in the repository are those of the commands as they are.
//! `UPDATE=1 cargo test --test it generated` writes them anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap_complete::Shell;
use clap_complete::aot::Generator as _;
use svc::cli;

/// A date of its own, so that the pages do not change by themselves.
const DATE: &str = "2026-11-21";

type Files = BTreeMap<PathBuf, Vec<u8>>;

#[test]
fn manual_pages_are_fresh() {
    let mut pages = Files::new();
    let mut root = cli::command().disable_help_subcommand(true);
    root.build();
    add_page(&root, &mut pages);
    compare("man", &pages);
}

#[test]
fn completions_are_fresh() {
    let mut scripts = Files::new();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut cli::command(), "svcctl", &mut script);
        scripts.insert(Path::new("completions").join(shell.file_name("svcctl")), script);
    }
    compare("completions", &scripts);
}

fn add_page(command: &clap::Command, pages: &mut Files) {
    let man = clap_mangen::Man::new(command.clone()).date(DATE).manual("svc");
    let mut page = Vec::new();
    man.render(&mut page).unwrap();
    pages.insert(Path::new("man").join(man.get_filename()), page);
    for subcommand in command.get_subcommands() {
        add_page(subcommand, pages);
    }
}

/// Compares a directory with what it must hold: nothing else, nothing less. Files of other
/// programs are left alone.
fn compare(directory: &str, expected: &Files) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if is_update() {
        for (path, content) in expected {
            fs::write(root.join(path), content).unwrap();
        }
    }
    for (path, content) in expected {
        let found = fs::read(root.join(path)).unwrap_or_default();
        assert!(found == *content, "{} is not fresh; run with UPDATE=1", path.display());
    }
    for entry in fs::read_dir(root.join(directory)).unwrap() {
        let name = entry.unwrap().file_name();
        let ours = name.to_string_lossy().contains("svcctl");
        let path = Path::new(directory).join(&name);
        assert!(!ours || expected.contains_key(&path), "{} is left over", path.display());
    }
}

#[expect(clippy::disallowed_methods, reason = "a switch for developers, not a setting")]
pub(crate) fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some()
}
