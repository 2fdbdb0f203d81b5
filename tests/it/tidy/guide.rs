//! The guide in `docs`: what it says about signals, settings, tests and figures is what they are, and its links lead
//! somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use clap::error::ErrorKind;
use svc::config::settings;
use svc::domain::dead_letter::{DeadLetterReason, ErrorClass, ReplayClass};
use svc::domain::slo::{Gate, POLICY, Rule, Side, Unit};
use svc::forge::APP_PERMISSIONS;
use svc::forge::payload::CHOSEN_EVENTS;

use super::documents::root;

/// A page is read in one sitting. Its prose is wrapped at 125 characters.
const LINES_MAX: usize = 140;

#[test]
fn every_signal_has_its_section_and_its_figures() {
    let page = read("docs/signals.md");
    let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let signals: Vec<&str> = POLICY.iter().map(|rule| rule.signal.as_str()).collect();
    assert_eq!(headings, signals);
    let found: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    let wanted: Vec<String> = POLICY.iter().map(row_of).collect();
    assert_eq!(found, wanted);
}

#[test]
fn every_reason_and_class_of_a_dead_letter_is_explained() {
    let page = read("docs/dead-letters.md");
    let found: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(word, _)| word))
        .collect();
    let reasons = DeadLetterReason::ALL.iter().map(|reason| reason.as_str());
    let errors = ErrorClass::ALL.iter().map(|class| class.as_str());
    let classes = ReplayClass::ALL.iter().map(|class| class.as_str());
    assert_eq!(found, reasons.chain(errors).chain(classes).collect());
    for class in ReplayClass::ALL {
        let safe = if class.is_safe() { "yes" } else { "no" };
        assert!(page.contains(&format!("| `{class}` | {safe} |")), "{class}");
    }
}

#[test]
fn pages_are_short_and_their_links_lead_somewhere() {
    for (name, text) in pages() {
        let lines = text.lines().count();
        assert!(lines <= LINES_MAX, "{name} has {lines} lines");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let path = if path.is_empty() { name.as_str() } else { path };
            let target = root().join("docs").join(path);
            assert!(target.is_file(), "{name} links to {link}");
            let is_there = anchor.is_empty() || anchors(&target).contains(anchor);
            assert!(is_there, "{name} links to {link}");
        }
    }
}

#[test]
fn every_setting_that_the_guide_names_exists() {
    let known: BTreeSet<&str> = settings::all().map(|setting| setting.name).collect();
    for (name, text) in pages() {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        for word in words.filter(|word| word.starts_with("SVC_")) {
            let setting = word.strip_suffix("_FILE").unwrap_or(word);
            let is_known = known.contains(word) || known.contains(setting);
            // Those stand for any setting, or are read by `svcctl` and by the workflow.
            let others = ["SVC_X", "SVC_", "SVC_URL", "SVC_INSTALLATION"];
            assert!(is_known || others.contains(&setting), "{name} names {word}");
        }
    }
}

/// Whether a command does what the text says, the runs of its blocks show: `tests/blocks.mjs`.
#[test]
fn every_command_and_option_that_the_guide_names_exists() {
    let mut pages = pages();
    pages.push(("README.md".to_owned(), read("README.md")));
    let mut found = 0;
    for (name, text) in &pages {
        for command in text.lines().flat_map(commands) {
            found += 1;
            let error = svc::cli::command().try_get_matches_from(&command).err();
            let kind = error.map(|error| error.kind());
            let is_unknown = kind.is_some_and(|kind| UNKNOWN.contains(&kind));
            assert!(!is_unknown, "{name}: {}: {kind:?}", command.join(" "));
        }
    }
    assert!(found > 60, "{found}");
}

/// What is not there; a part of a command may lack values, and a placeholder is none.
const UNKNOWN: [ErrorKind; 2] = [ErrorKind::UnknownArgument, ErrorKind::InvalidSubcommand];

/// Returns the words of each command of `svcctl` in a line.
fn commands(line: &str) -> Vec<Vec<String>> {
    // What is quoted is one word.
    let quoted = |(place, part)| if place % 2 == 0 { part } else { "x" };
    let plain: String = line.split('\'').enumerate().map(quoted).collect();
    let parts = plain.split(['`', '|', '>', ';', '#', '&']).map(str::trim);
    let commands = parts.filter(|part| part.starts_with("svcctl "));
    commands.map(|command| command.split_whitespace().map(str::to_owned).collect()).collect()
}

#[test]
fn the_app_is_described_with_the_permissions_and_events_that_are_needed() {
    let page = read("docs/connect-github.md");
    let plain = |row: &[&str]| row.iter().map(|cell| cell.replace('`', "")).collect();
    let rows = |head: &str| -> Vec<Vec<String>> {
        let rows = page.split(head).nth(1).unwrap().lines().skip(2);
        let rows = rows.map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
        rows.map(|row| plain(&row.split(" | ").collect::<Vec<_>>())).collect()
    };
    let permissions: Vec<(String, String)> = rows("| permission | access | what for |")
        .into_iter()
        .map(|row| (row[0].clone(), row[1].clone()))
        .collect();
    let needed = APP_PERMISSIONS.map(|(name, level)| (name.to_owned(), level.to_owned()));
    assert_eq!(permissions, needed);
    let events: Vec<String> =
        rows("| event | what it leads to |").into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(events, CHOSEN_EVENTS);
}

#[test]
fn every_promise_names_tests_that_exist() {
    let page = read("docs/promises.md");
    for row in table(&page, "## Tests") {
        let tests: Vec<&str> = row[1].split('`').skip(1).step_by(2).collect();
        assert!(!tests.is_empty(), "no test holds: {}", row[0]);
        for test in tests {
            let path = format!("tests/it/{}.rs", test.replace("::", "/"));
            assert!(root().join(path).is_file(), "{test} of: {}", row[0]);
        }
    }
}

#[test]
fn figures_are_those_of_the_benchmarks() {
    let (page, benches) = (read("docs/promises.md"), read("benches/README.md"));
    for row in table(&page, "## Figures") {
        let figures = format!("| {} | {} |", row[1], row[2]);
        assert!(benches.contains(&figures), "benches/README.md lacks: {figures}");
    }
}

/// Returns the row of a signal, in the words of `svcctl slo`.
fn row_of(rule: &Rule) -> String {
    let (bad, good) = match rule.side {
        Side::High => (">=", "<="),
        Side::Low => ("<=", ">="),
    };
    let gate = match rule.gate {
        Gate::Duration(time) => format!("for {}s", time.as_secs()),
        Gate::Consecutive(count) => format!("{count} times in a row"),
        Gate::Trend(time) => format!("more over {}s", time.as_secs()),
        Gate::Volume(time) => format!("within {}s", time.as_secs()),
    };
    let figure = |value: u64| match rule.unit {
        Unit::Seconds => format!("{value}s"),
        Unit::Bytes => format!("{} MiB", value >> 20),
        Unit::Count => value.to_string(),
    };
    let (signal, severity, owner) = (rule.signal, rule.severity, rule.owner);
    let (threshold, healthy) = (figure(rule.threshold), figure(rule.healthy));
    format!("| `{signal}` | {severity} | {owner} | {bad} {threshold} {gate} | {good} {healthy} |")
}

/// Returns the names and the texts of all pages.
fn pages() -> Vec<(String, String)> {
    let entries = fs::read_dir(root().join("docs")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let page = |name: String| {
        let text = read(&format!("docs/{name}"));
        (name, text)
    };
    let pages: Vec<(String, String)> =
        names.filter(|name| name.ends_with(".md")).map(page).collect();
    assert!(pages.len() > 5, "the pages are read");
    pages
}

/// Returns the anchors of the headings of a document, as forges make them.
fn anchors(path: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(path).unwrap();
    let anchor = |heading: &str| {
        let title = heading.trim_start_matches('#').trim().to_lowercase();
        let is_kept = |c: &char| c.is_alphanumeric() || matches!(*c, ' ' | '-' | '_');
        title.chars().filter(is_kept).collect::<String>().replace(' ', "-")
    };
    text.lines().filter(|line| line.starts_with('#')).map(anchor).collect()
}

/// Returns the cells of the table below a heading, without its first row.
fn table<'a>(text: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let section = text.split(heading).nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows: Vec<Vec<&str>> = rows.skip(1).map(|row| row.split(" | ").collect()).collect();
    assert!(rows.len() > 3, "{heading} has a table");
    rows
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}
