//! The house rules as tests: the arrows between modules, the crates a module may use, the size of files,
//! their heads, and words that mean that a change was not finished.

mod documents;
mod english;
mod guide;
mod names;
mod secrets;
mod structure;
mod types;

use std::fs;
use std::path::{Path, PathBuf};

/// Utilities: every module may use them, and they use only each other.
const UTILITIES: &[&str] = &["config", "crypto", "json", "logging", "metrics", "runtime", "words"];

/// The arrows: which modules a module may use, besides the utilities and `domain`.
const ARROWS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("card", &[]),
    ("card_signature", &["card"]),
    ("store", &["api"]),
    ("forge", &[]),
    ("auth", &[]),
    ("api", &["card"]),
    ("jwks", &[]),
    ("app", &["api", "auth", "card", "forge", "jwks", "relay", "store"]),
    ("workers", &["forge", "store"]),
    // Protocols above HTTP know no server; `http` puts what they say into its own terms.
    ("mcp", &["api", "app", "auth", "relay"]),
    ("relay", &["auth"]),
    ("http", &["api", "app", "auth", "card", "mcp"]),
    ("daemon", &["app", "auth", "forge", "http", "jwks", "mcp", "relay", "store", "workers"]),
    ("cli", &["api", "card", "demo", "mcp", "card_signature"]),
    ("demo", &["api", "relay", "simulator"]),
    ("simulator", &[]),
    // Whether an address, a key, a certificate or a revision can be used is known only by who uses it.
    ("config", &["forge", "mcp"]),
    ("bin", &["cli", "daemon", "logging"]),
];

/// Modules that use no utility either: the rules are pure, and so is what is told between modules.
const PURE: &[&str] = &["domain", "card", "api"];

/// Modules that do not know the domain either.
const WITHOUT_DOMAIN: &[&str] = &["card"];

/// What a module that only computes never names.
const OUTSIDE: &[&str] = &[
    "std::fs",
    "std::env",
    "std::io",
    "SystemTime",
    "Instant::now",
    "std::thread",
    "std::process",
];

/// Crates that only some modules may name.
const CRATES: &[(&str, &[&str])] = &[
    ("tiny_http", &["http"]),
    ("hyper", &["http"]),
    ("hyper_util", &["http"]),
    ("tokio", &["http", "daemon"]),
    ("tokio_tungstenite", &["demo", "http"]),
    ("httparse", &["http", "simulator"]),
    ("ureq", &["forge", "cli", "demo"]),
    ("clap", &["cli", "daemon", "bin"]),
    ("base64", &["crypto", "mcp", "simulator"]),
    ("jsonschema", &["json"]),
    ("jsonwebtoken", &["crypto", "forge", "simulator"]),
    (
        "serde",
        &[
            "api",
            "cli",
            "daemon",
            "demo",
            "forge",
            "http",
            "json",
            "mcp",
            "relay",
            "simulator",
            "store",
        ],
    ),
    (
        "serde_json",
        &[
            "api",
            "app",
            "cli",
            "crypto",
            "daemon",
            "demo",
            "forge",
            "http",
            "json",
            "logging",
            "mcp",
            "relay",
            "card_signature",
            "simulator",
            "store",
        ],
    ),
    ("serde_json_canonicalizer", &["json"]),
    ("env_logger", &["logging"]),
    ("ignore", &["cli"]),
    ("unicode_width", &["cli"]),
    ("sd_notify", &["daemon"]),
];

/// Crates that only the engine of the store may name.
const ENGINE_CRATES: &[&str] = &["rusqlite", "rusqlite_migration", "r2d2", "r2d2_sqlite"];
/// The longest a file may be. A table may be long; a module may not.
const LINES_MAX: usize = 380;

#[test]
fn arrows_go_where_the_architecture_says() {
    for source in sources() {
        for module in mentions(&source.code, "crate::") {
            let module = module.as_str();
            let known =
                UTILITIES.contains(&module) || ARROWS.iter().any(|(name, _)| *name == module);
            assert!(known, "{}: crate::{module} is in no table", source.name);
            let is_utility = UTILITIES.contains(&module) && !PURE.contains(&source.module());
            // Words are as pure as what is made of them.
            if module == source.module || is_utility || module == "words" {
                continue;
            }
            let may_use_domain = module == "domain" && !WITHOUT_DOMAIN.contains(&source.module());
            let allowed = ARROWS.iter().find(|(name, _)| *name == source.module());
            let drawn = allowed.is_some_and(|(_, to)| to.contains(&module));
            let utility = UTILITIES.contains(&source.module()) && module == "domain";
            assert!(
                drawn || may_use_domain || utility,
                "{}: no arrow goes from {} to {module}",
                source.name,
                source.module
            );
        }
    }
}

#[test]
fn pure_modules_compute_and_do_nothing_else() {
    for source in sources().iter().filter(|source| PURE.contains(&source.module())) {
        for word in OUTSIDE {
            assert!(!source.code.contains(word), "{}: {word}", source.name);
        }
    }
}

#[test]
fn crates_stay_in_their_modules() {
    for source in sources() {
        for (name, modules) in CRATES {
            let named = source.code.contains(&format!("{name}::"));
            let path = format!("::{name}::");
            let ours = source.code.replace(&path, "").contains(&format!("{name}::"));
            assert!(
                !named || !ours || modules.contains(&source.module()),
                "{}: {name} does not belong here",
                source.name
            );
        }
    }
}

#[test]
fn only_the_engine_of_the_store_names_its_crates() {
    for source in sources() {
        let is_engine =
            source.name == "store/sqlite.rs" || source.name.starts_with("store/sqlite/");
        for name in ENGINE_CRATES {
            let named = source.code.contains(&format!("{name}::"));
            assert!(!named || is_engine, "{}: {name} does not belong here", source.name);
        }
    }
}

#[test]
fn only_the_store_sees_the_numbers_of_rows() {
    for source in sources().iter().filter(|source| source.module() != "store") {
        for word in ["RowHandle::new(", ".row_number()"] {
            assert!(!source.code.contains(word), "{}: {word}", source.name);
        }
    }
}

#[test]
fn every_arrow_is_one_visible_line() {
    for source in sources() {
        for hidden in ["super::super", "use crate::{", "use crate::*"] {
            assert!(!source.code.contains(hidden), "{}: {hidden}", source.name);
        }
    }
}

#[test]
fn every_file_says_what_it_is_and_ends() {
    for source in sources() {
        assert!(source.text.starts_with("//! "), "{} has no head", source.name);
        let lines = source.text.lines().count();
        assert!(lines <= LINES_MAX, "{} has {lines} lines", source.name);
    }
}

#[test]
fn nothing_is_left_over() {
    let words = ["TODO", "FIXME", "XXX", "HACK", "for now", "todo!(", "unimplemented!(", "dbg!("];
    for source in sources() {
        for word in words {
            assert!(!source.text.contains(word), "{}: {word}", source.name);
        }
        for (number, line) in source.text.lines().enumerate() {
            assert_eq!(line, line.trim_end(), "{}:{}", source.name, number + 1);
            assert!(!line.contains('\t'), "{}:{}", source.name, number + 1);
        }
    }
}

#[test]
fn the_store_asks_only_the_clock_and_its_source_of_chance() {
    for source in sources().iter().filter(|source| source.module() == "store") {
        for word in ["datetime('now'", "CURRENT_TIMESTAMP", "random()", "randomblob", "julianday"] {
            assert!(!source.code.contains(word), "{}: {word}", source.name);
        }
    }
}

#[test]
fn the_forge_simulator_is_not_part_of_the_daemon() {
    let daemon = fs::read(env!("CARGO_BIN_EXE_svcd")).unwrap();
    let simulator = fs::read(env!("CARGO_BIN_EXE_svcctl")).unwrap();
    let forge = svc::simulator::Simulator::start().unwrap();
    let mark = forge.private_key_pem().lines().nth(1).unwrap().as_bytes();
    let holds = |binary: &[u8]| binary.windows(mark.len()).any(|window| window == mark);
    assert!(holds(&simulator), "the demonstration has the simulator's key");
    assert!(!holds(&daemon));
    let name = svc::demo::plugin::NAME.as_bytes();
    let has_plugin = |binary: &[u8]| binary.windows(name.len()).any(|window| window == name);
    assert!(!has_plugin(&daemon), "a plugin that approves by itself");
}

struct Source {
    /// Path below `src`.
    name: String,
    /// First part of the path, without `.rs`.
    module: String,
    text: String,
    /// Without comments and unit tests.
    code: String,
}

impl Source {
    fn module(&self) -> &str {
        &self.module
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = Vec::new();
    collect(&root, &root, &mut sources);
    assert!(sources.len() > 50);
    sources
}

fn collect(root: &Path, folder: &Path, sources: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, sources);
            continue;
        }
        let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        if name == "lib.rs" || name.ends_with("/tests.rs") || name.ends_with(".json") {
            continue;
        }
        let module = name.split(['/', '.']).next().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let before_tests = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code = before_tests
            .lines()
            .map(|line| line.split("//").next().unwrap_or_default())
            .collect::<Vec<_>>()
            .join("\n");
        sources.push(Source { name, module, text, code });
    }
}

/// Every word that stands right after `prefix`, once each.
fn mentions(code: &str, prefix: &str) -> Vec<String> {
    let mut words: Vec<String> = code
        .split(prefix)
        .skip(1)
        .map(|rest| rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect())
        .collect();
    words.sort();
    words.dedup();
    words
}
