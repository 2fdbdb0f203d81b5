//! The pages in `tests/data/cli`: prose with commands and what they say, run against a real daemon.
//! `UPDATE=1 cargo test --test it transcripts` writes what was said.
//!
//! A page may name the dead letters that were made for it: `$REFUSED`, `$UNCERTAIN` and `$JOB`; and the
//! release runs of the first two: `$RELEASE`, and `$DOUBT` with an open reconciliation item; and of the relay, which
//! is off, a `$SESSION` of a `$DEVICE` with an invocation that waits, `$WAITING`, and one that runs, `$RUNNING`;
//! and files of its own with a card: `$DRAFT`, which can be fixed, and `$SLIPS`, which cannot. Other ids,
//! times, ages, waits and the head of an audit log are written as `[id]`, `[time]`, `[age]`, `[wait]` and `[hash]`, the schema's step as
//! `[step]`; columns are two spaces apart.
//!
//! A page that names a `plan.json` has 500 dead letters of two installations instead. The line `$ # …` there repairs what
//! most of them died of, and ` | tail -n N` behind a command leaves the last lines of what it says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use svc::domain::relay::ActionEffect;
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::random::{Ids, SystemEntropy};
use svc::simulator::Fault;
use svc::store::{LogRules, Options, Store};

use super::ask::Ask;
use super::process::Daemon;
use super::site::Site;
use super::{INSTALLATION, commit, database, letters};
use crate::support::reconciliation::{self, Item};
use crate::support::relay::{Relay, SUBJECT};

#[test]
fn every_page_is_what_is_said() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cli");
    let mut pages: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    // Those of terminals are in a folder of their own: `cli_client::terminals`.
    pages.retain(|page| page.is_file());
    pages.sort();
    assert!(pages.len() >= 4);
    for page in pages {
        let written = std::fs::read_to_string(&page).unwrap();
        let said = replay_page(&written);
        if crate::generated::is_update() {
            std::fs::write(&page, &said).unwrap();
        } else {
            assert!(written == said, "{} says now:\n{said}", page.display());
        }
    }
}

/// Returns the page with what its commands say now.
fn replay_page(page: &str) -> String {
    let stage = if page.contains("plan.json") { Stage::crowded() } else { Stage::new() };
    let mut said = String::new();
    let (mut in_transcript, mut first) = (false, true);
    for line in page.lines() {
        match (in_transcript, line) {
            (false, "```console") => (in_transcript, first) = (true, true),
            (true, "```") => in_transcript = false,
            (true, _) => {
                if let Some(command) = line.strip_prefix("$ ") {
                    said.push_str(if first { "" } else { "\n" });
                    said.push_str(&[line, "\n", &stage.run(command)].concat());
                    first = false;
                }
                continue;
            }
            (false, _) => {}
        }
        said.push_str(line);
        said.push('\n');
    }
    said
}

/// A daemon with one dead letter of each kind, and one open reconciliation item.
struct Stage {
    site: Site,
    daemon: Daemon,
    names: BTreeMap<&'static str, String>,
}

/// A card in which every slip can be fixed.
const DRAFT: &str = "\
{
  \"protocolVersion\": 1.0,
  \"name\": \"Planner\",
  \"description\": \"Plans routes\",
  \"url\": \"https://planner.example/\",
  \"version\": \"7\",
  \"icon_url\": null,
  \"capabilities\": {\"streaming\": \"true\"},
  \"defaultInputModes\": \"text/plain\"
}
";

impl Stage {
    fn new() -> Self {
        let site = Site::new();
        let daemon = site.start();
        let mut names = BTreeMap::from([
            ("$REFUSED", letters::refused(&site, &daemon, 1)),
            ("$UNCERTAIN", letters::uncertain(&site, &daemon, 2)),
            ("$JOB", letters::job(&site, &daemon, 3)),
        ]);
        let list = format!("/api/v1/operator/installations/{INSTALLATION}/releases");
        let page = daemon.control.ask(&Ask::get(&list).bearer()).json();
        for (name, number) in [("$RELEASE", 1), ("$DOUBT", 2)] {
            let items = page["items"].as_array().unwrap();
            let release = items.iter().find(|item| item["headSha"] == commit(number)).unwrap();
            names.insert(name, release["releaseRunId"].as_str().unwrap().to_owned());
        }
        let database = database::open(&site.database());
        let attempt: String = database
            .query_row(
                "SELECT current_attempt_id FROM release_runs WHERE release_run_id = ?1",
                [&names["$DOUBT"]],
                |row| row.get(0),
            )
            .unwrap();
        let item = Item::of_attempt("dispatch_uncertain", &attempt);
        let now = SystemClock::new().now();
        reconciliation::add_to(&database, INSTALLATION, &item, now);
        names.extend(relay(&site));
        names.extend(cards(&site));
        Self { site, daemon, names }
    }

    /// A daemon with 500 dead letters of three reasons in two installations.
    fn crowded() -> Self {
        let mut site = Site::new();
        // Nothing is reconciled while the page runs, however long that takes.
        site.set("SVC_RECONCILIATION_OBSERVATION_SECONDS", "3600");
        let daemon = site.start();
        letters::dispatches(&site, &daemon, &site.webhooks, 1..21, Fault::Validation422);
        letters::dispatches(&site, &daemon, &site.strangers, 1..11, Fault::CutAfterEffect);
        letters::suspended(&site, &daemon, &site.webhooks, 100..400);
        letters::suspended(&site, &daemon, &site.strangers, 100..270);
        Self { site, daemon, names: BTreeMap::new() }
    }

    /// Runs a command and returns what it said, and how it ended.
    fn run(&self, command: &str) -> String {
        if command.starts_with('#') {
            for webhooks in [&self.site.webhooks, &self.site.strangers] {
                letters::unsuspend(&self.daemon, webhooks);
            }
            return String::new();
        }
        let (command, tail) = command.split_once(" | tail -n ").unwrap_or((command, "1000"));
        let mut words = command.strip_prefix("svcctl ").unwrap().to_owned();
        for (name, id) in &self.names {
            words = words.replace(name, id);
        }
        let words: Vec<&str> = words.split_whitespace().collect();
        let url = format!("unix:{}", self.site.socket().display());
        // The cards of other pages are named from the root of the tree.
        let ended = match self.names.is_empty() {
            true => self.site.svcctl_in_folder(&url, &words),
            false => self.site.svcctl(&url, &words),
        };
        let mut said = format!("{}{}", ended.stderr, ended.stdout);
        for (name, id) in &self.names {
            said = said.replace(id.as_str(), name);
        }
        let folder = self.site.socket();
        let folder = folder.parent().unwrap().to_string_lossy().into_owned();
        said = said.replace(&folder, "[folder]");
        let mut lines: Vec<String> = said.lines().map(plain).collect();
        lines.drain(..lines.len().saturating_sub(tail.parse().unwrap()));
        if ended.code != Some(0) {
            lines.push(format!("[exit {}]", ended.code.unwrap()));
        }
        lines.join("\n") + "\n"
    }
}

/// Writes cards that a page may change.
fn cards(site: &Site) -> [(&'static str, String); 2] {
    let folder = site.socket().parent().unwrap().to_owned();
    let slips = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cards/files/slips.json");
    let (draft, copy) = (folder.join("draft.json"), folder.join("slips.json"));
    std::fs::write(&draft, DRAFT).unwrap();
    std::fs::copy(slips, &copy).unwrap();
    [("$DRAFT", draft.display().to_string()), ("$SLIPS", copy.display().to_string())]
}

/// Lets a person pair a plugin, and an agent propose two steps, by another process on the same file.
fn relay(site: &Site) -> [(&'static str, String); 4] {
    let clock = Arc::new(SystemClock::new());
    let store = Store::open(Options {
        path: site.database(),
        clock: Arc::<SystemClock>::clone(&clock),
        ids: Ids::new(Box::new(SystemEntropy::new())),
        on_fatal: Box::new(|error| panic!("the disk failed: {error:?}")),
        on_opening: Arc::new(|_| {}),
        log: LogRules::default(),
    })
    .unwrap();
    let relay = Relay::new(&store, &clock);
    let plugin = relay.pair(1, SUBJECT, 1);
    let (running, _) = relay.run(&plugin, ActionEffect::Write, 1);
    let (_, waiting) = relay.propose(&plugin, &[ActionEffect::Write], 2);
    [
        ("$SESSION", plugin.held.session.to_string()),
        ("$DEVICE", plugin.device.to_string()),
        ("$RUNNING", running.to_string()),
        ("$WAITING", waiting[0].to_string()),
    ]
}

/// Writes what differs from run to run as what it is.
fn plain(line: &str) -> String {
    let indent: String = line.chars().take_while(|c| *c == ' ').collect();
    let columns: Vec<String> =
        line.split("  ").map(str::trim).filter(|column| !column.is_empty()).map(cell).collect();
    // It covers times.
    if let [name, _] = columns.as_slice()
        && name == "head"
    {
        return "head  [hash]".to_owned();
    }
    format!("{indent}{}", columns.join("  "))
}

fn cell(text: &str) -> String {
    let mut joined = String::new();
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-:.".contains(c);
    for piece in text.split_inclusive(|c| !is_part(c)) {
        let word = piece.trim_end_matches(|c| !is_part(c));
        let rest = piece.get(word.len()..).unwrap_or_default();
        joined.push_str(match word {
            id if is_id(id) => "[id]",
            time if is_time(time) => "[time]",
            other => other,
        });
        joined.push_str(rest);
    }
    joined = joined.replace(&format!("schema {}", svc::store::NEWEST_STEP), "schema [step]");
    for seconds in (0..=60).rev() {
        joined = joined.replace(&format!("{seconds}s ago"), "[age]");
        joined = joined.replace(&format!("in {seconds}s"), "in [wait]");
        // A page that has much to prepare takes minutes on a busy machine.
        joined = joined.replace(&format!("{seconds}m ago"), "[age]");
    }
    joined
}

fn is_id(word: &str) -> bool {
    word.len() == 36
        && word.bytes().enumerate().all(|(place, b)| match place {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

fn is_time(word: &str) -> bool {
    svc::domain::time::Timestamp::parse_rounding_up(word).is_some()
}
