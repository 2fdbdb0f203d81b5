//! The documents: every decision is linked from what it shapes, every link leads to a decision, what the map
//! names is there, and every crate has its reason.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{ARROWS, UTILITIES};

/// How a comment, or a document, names a decision.
const FOLDER: &str = "docs/decisions/";
/// Half a printed page, at 120 characters a line.
const DECISION_LINES_MAX: usize = 40;
/// The map is read in one sitting.
const MAP_LINES_MAX: usize = 150;
/// What a decision shapes: a link has to stand in one of these.
const SHAPED: &[&str] = &["src", "packaging", "migrations", "Cargo.toml", ".cargo"];
/// Whatever else may link to decisions.
const OTHERS: &[&str] = &[
    "tests/it",
    "tests/data",
    "docs",
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
];

#[test]
fn every_decision_is_linked_from_what_it_shapes() {
    let links = links(SHAPED);
    for name in decisions() {
        assert!(links.contains(&name), "no comment names {FOLDER}{name}");
    }
}

#[test]
fn the_oldest_supported_toolchain_is_the_pinned_one() {
    let value = |text: &'static str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = \""));
        line.and_then(|line| line.strip_suffix('"')).unwrap()
    };
    let oldest = value(include_str!("../../../Cargo.toml"), "rust-version");
    let pinned = value(include_str!("../../../rust-toolchain.toml"), "channel");
    assert_eq!(pinned.strip_suffix(".0"), Some(oldest));
}

#[test]
fn every_link_leads_to_a_decision() {
    let decisions = decisions();
    for link in links(SHAPED).union(&links(OTHERS)) {
        assert!(decisions.contains(link), "{FOLDER}{link} is linked and does not exist");
    }
}

/// Reasons stand beside the code: at least 15 of 1,000 lines are comments within it. Headings and documentation do not count.
#[test]
fn reasons_stand_beside_the_code() {
    let sources = super::sources();
    let lines = || sources.iter().flat_map(|source| source.text.lines().map(str::trim_start));
    let is_inline =
        |line: &&str| line.strip_prefix("//").is_some_and(|rest| !rest.starts_with(['/', '!']));
    let (inline, all) = (lines().filter(is_inline).count(), lines().count());
    assert!(inline * 1_000 >= all * 15, "{inline} of {all} lines");
}

#[test]
fn links_are_found_as_comments_write_them() {
    let text =
        "//! See `docs/decisions/01-one-writer.md`.\n(docs/decisions/README.md, docs/decisions/)";
    assert_eq!(links_in(text).collect::<Vec<_>>(), ["01-one-writer.md"]);
}

#[test]
fn decisions_are_numbered_and_in_the_index() {
    let index = read(&format!("{FOLDER}README.md"));
    let mut names: Vec<String> = decisions().into_iter().collect();
    // As text, those of three digits come before those of two.
    names.sort_by_key(|name| name.split('-').next().and_then(|number| number.parse::<u16>().ok()));
    for (place, name) in names.iter().enumerate() {
        let number = place + 1;
        assert!(
            name.starts_with(&format!("{number:02}-")),
            "{name} should have the number {number}"
        );
        let text = read(&format!("{FOLDER}{name}"));
        let title = text.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap();
        let row = format!("{number}. [{title}]({name})");
        assert!(index.lines().any(|line| line == row), "the index lacks: {row}");
    }
    assert_eq!(
        index.matches(".md)").count(),
        decisions().len(),
        "the index has other rows as well"
    );
}

#[test]
fn a_decision_says_what_was_decided_why_and_what_it_costs_on_half_a_page() {
    for name in decisions() {
        let text = read(&format!("{FOLDER}{name}"));
        let parts = ["\n**Decided.**", "\n**Why.**", "\n**Cost.**"].map(|part| text.find(part));
        assert!(parts.iter().all(Option::is_some) && parts.is_sorted(), "{name}: {parts:?}");
        let lines = text.lines().count();
        assert!(lines <= DECISION_LINES_MAX, "{name} has {lines} lines");
    }
}

#[test]
fn the_map_is_short_and_names_every_module() {
    let map = read("ARCHITECTURE.md");
    let lines = map.lines().count();
    assert!(lines <= MAP_LINES_MAX, "ARCHITECTURE.md has {lines} lines");
    let rows: Vec<&str> = section(&map, "## Modules").filter_map(first_column).collect();
    for module in ARROWS.iter().map(|(module, _)| module).chain(UTILITIES) {
        let named = rows.iter().any(|row| row.contains(&format!("`{module}`")));
        assert!(named, "no row of ARCHITECTURE.md is about {module}");
    }
}

#[test]
fn every_invariant_names_tests_that_exist() {
    let map = read("ARCHITECTURE.md");
    let rows: Vec<&str> =
        section(&map, "## Invariants").filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows.len() > 30, "the invariants are read");
    for row in rows {
        let tests: Vec<&str> = quoted(row.rsplit(" | ").next().unwrap()).collect();
        assert!(!tests.is_empty(), "no test holds: {row}");
        for test in tests {
            let path = format!("tests/it/{}.rs", test.replace("::", "/"));
            let found = [path, format!("src/{test}.rs"), test.to_owned()];
            assert!(found.iter().any(|path| root().join(path).exists()), "{test} of: {row}");
        }
    }
}

#[test]
fn every_module_that_a_document_names_exists() {
    let modules: BTreeSet<&str> =
        ARROWS.iter().map(|(module, _)| *module).chain(UTILITIES.iter().copied()).collect();
    let decisions = decisions().into_iter().map(|name| format!("{FOLDER}{name}"));
    for document in decisions.chain(["ARCHITECTURE.md".to_owned(), "CONTRIBUTING.md".to_owned()]) {
        let text = read(&document);
        for path in text.lines().flat_map(quoted) {
            let path = path.split(':').next().unwrap();
            let is_module =
                path.split_once('/').is_some_and(|(module, _)| modules.contains(module));
            let exists = [path.to_owned(), format!("{path}.rs")]
                .iter()
                .any(|path| root().join("src").join(path).exists());
            assert!(!is_module || exists, "{document} names {path}");
        }
    }
}

#[test]
fn every_crate_has_its_reason_above_its_line() {
    let manifest = read("Cargo.toml");
    let (mut table, mut above, mut crates) = ("", "", 0);
    for line in manifest.lines() {
        if line.starts_with('[') {
            table = line;
            assert!(!line.contains("dependencies."), "{line}: a crate has one line");
        }
        if table.ends_with("dependencies]") && line.contains(" = ") {
            assert!(above.starts_with("# "), "no reason stands above {line}");
            crates += 1;
        }
        above = line;
    }
    assert!(crates > 40, "the crates are read");
}

/// Returns the names of all decisions, in their order.
fn decisions() -> BTreeSet<String> {
    let names = fs::read_dir(root().join(FOLDER)).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: BTreeSet<String> = names.filter(|name| name != "README.md").collect();
    assert!(names.len() > 50, "the decisions are read");
    names
}

/// Returns the names of all decisions that these files, and those in these folders, link to.
fn links(places: &[&str]) -> BTreeSet<String> {
    let mut files = Vec::new();
    for place in places {
        collect(&root().join(place), &mut files);
    }
    let texts = files.iter().filter_map(|path| fs::read_to_string(path).ok());
    texts.flat_map(|text| links_in(&text).map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Returns the names of decisions that a text links to. The index, `README.md`, is none.
fn links_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(FOLDER).skip(1).filter_map(|rest| {
        let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let name = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
        rest.get(name..)?.starts_with(".md").then_some(())?;
        rest.get(..name + ".md".len()).filter(|_| name > 0)
    })
}

pub(super) fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            collect(&entry.unwrap().path(), files);
        }
    } else {
        assert!(path.is_file(), "{} is gone", path.display());
        files.push(path.to_owned());
    }
}

/// Returns the lines below a heading, until the next one.
fn section<'a>(text: &'a str, heading: &str) -> impl Iterator<Item = &'a str> {
    text.lines()
        .skip_while(move |line| *line != heading)
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
}

fn first_column(row: &str) -> Option<&str> {
    row.strip_prefix("| ")?.split(" | ").next()
}

/// Returns what a line has between backticks.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

pub(super) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
