//! The field's terms: names that were coined here and have a standard one do not come back.

use std::fs;
use std::path::{Path, PathBuf};

/// A name that was replaced, what to say instead, and below which paths it means something else.
type Replaced = (&'static str, &'static str, &'static [&'static str]);

/// `verdict`, `told`, `settle`, `end`, `near`, `again`, `hint`, `keys`, `changes`, `apply` and `word` are not here: they
/// are modules no more, but good names of variables and fields. `Share` is the usual word for what one client of a
/// scheduler gets.
const REPLACED: &[Replaced] = &[
    ("Wake", "Notify", &[]),
    ("Wakes", "WorkerNotify", &[]),
    ("wakes", "worker_notify", &[]),
    ("Seat", "Permit", &[]),
    ("Seats", "Semaphore", &[]),
    ("Latest", "Watch", &[]),
    ("Seldom", "LogThrottle", &[]),
    ("unsaid", "suppressed", &[]),
    ("crew", "workers", &[]),
    ("Crew", "Workers", &[]),
    ("newcomers", "pending_heads", &[]),
    ("Newcomers", "PendingHeads", &[]),
    ("Newcomer", "PendingHead", &[]),
    ("stall", "timeout_stream", &[]),
    ("Stall", "TimeoutStream", &[]),
    ("Turns", "Phase", &[]),
    ("Alarm", "Timer", &[]),
    ("Hall", "Server", &[]),
    ("Door", "Acceptor or Endpoint", &[]),
    ("welcome", "accept", &[]),
    ("converse", "serve_connection", &[]),
    ("Peers", "ClientLimits", &[]),
    // Where something lives during a test or a measurement.
    ("Place", "ClientSlot or Position", &["tests/it", "benches"]),
    ("Hooks", "WebhookDeliveries", &[]),
    ("PageMark", "DeliveryCursor", &[]),
    ("Silence", "SendFailure", &[]),
    // Of a plugin's socket: what it observes at a tick.
    ("Look", "ReconcileTask", &["src/app/relay"]),
    ("claim_look", "claim_reconcile", &[]),
    ("apply_look", "apply_observation", &[]),
    ("doubt", "uncertain", &[]),
    ("Doubt", "Uncertain", &[]),
    ("in_doubt", "uncertain", &[]),
    ("prove", "confirm_effect", &[]),
    ("disprove", "rule_out_effect", &[]),
    ("outlook", "next_step", &[]),
    ("foresee", "derive", &[]),
    // The name of the published schema.
    (
        "Outlook",
        "NextStep",
        &["src/api", "src/cli/releases", "src/http/operator/releases.rs", "tests/it/openapi"],
    ),
    ("endings", "release_end", &[]),
    ("bury", "dead_letter", &[]),
    ("Burial", "NewDeadLetter", &[]),
    ("meet", "ensure_installation", &[]),
    ("Owed", "Unreturned", &[]),
    ("owed", "unreturned", &[]),
    ("pull_back", "clamp_future_times", &[]),
    // Authenticated encryption seals and opens.
    (
        "seal",
        "card_signature",
        &["src/crypto/aead.rs", "src/mcp/call.rs", "src/mcp/request_state", "src/mcp/rounds.rs"],
    ),
    ("inspect", "diagnose", &[]),
    ("relatives", "known_aliases", &[]),
    ("tree", "json_writer", &[]),
    ("Draft", "FindingBuilder", &[]),
    ("Again", "NextCommand", &[]),
    ("judge", "validator", &[]),
    ("Judge", "Validator", &[]),
    ("machine", "json", &[]),
    // That of the crate anstyle.
    ("Style", "Reporter", &["src/cli/output", "src/cli/cards/report/text.rs"]),
    ("Tally", "Counts", &[]),
];

#[test]
fn names_that_were_replaced_do_not_come_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src", "tests/it", "benches"] {
        collect(&root.join(folder), &mut files);
    }
    assert!(files.len() > 500, "the files are found");
    let mut found = Vec::new();
    for file in files {
        let name = file.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).unwrap();
        for identifier in identifiers(&text) {
            let replaced = REPLACED.iter().find(|(old, _, except)| {
                *old == identifier && !except.iter().any(|path| name.starts_with(path))
            });
            if let Some((old, new, _)) = replaced {
                found.push(format!("{name}: {old}, say {new}"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn identifiers_are_read_without_comments_and_strings() {
    let code = r##"
        // door
        fn open(door: &'a Door) -> char { /* hall */ 'h' }
        const S: &str = "a \" hall"; const R: &[u8] = br#"a "hall""#; let c = '\''; r"\"; end
    "##;
    let read: Vec<_> = identifiers(code).collect();
    let wanted = "fn open door a Door char const S str const R u8 let c end";
    assert_eq!(read, wanted.split(' ').map(str::to_owned).collect::<Vec<_>>());
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Returns the words of a text that are neither in a comment nor in a literal.
fn identifiers(text: &str) -> impl Iterator<Item = String> {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut words, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let length = if is_of_word(first) {
            let (word, after) = rest.split_at(rest.find(|c| !is_of_word(c)).unwrap_or(rest.len()));
            // `r`, `br` and `b` in front of a literal belong to it.
            let is_raw = after.trim_start_matches('#').starts_with('"');
            let is_prefix = word == "b" && after.starts_with(['"', '\'']);
            if matches!(word, "r" | "br") && is_raw {
                word.len() + raw_string(after)
            } else {
                if !first.is_numeric() && !is_prefix {
                    words.push(word.to_owned());
                }
                word.len()
            }
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' || first == '\'' && is_char(rest) {
            literal(rest, first)
        } else {
            first.len_utf8()
        };
        rest = rest.split_at(length).1;
    }
    words.into_iter()
}

/// Says whether a quote begins a character, and not a lifetime.
fn is_char(rest: &str) -> bool {
    let mut after = rest.chars().skip(1);
    after.next() == Some('\\') || after.next() == Some('\'')
}

/// Returns the length of a literal that ends with an unescaped `quote`.
fn literal(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (place, c) in rest.char_indices().skip(1) {
        if c == quote && !is_escaped {
            return place + c.len_utf8();
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    rest.len()
}

/// Returns the length of a raw string from its first `#` or quote.
fn raw_string(rest: &str) -> usize {
    let (hashes, inside) = rest.split_once('"').unwrap_or((rest, ""));
    let end = format!("\"{hashes}");
    let begin = hashes.len() + 1;
    inside.find(&end).map_or(rest.len(), |place| begin + place + end.len())
}
