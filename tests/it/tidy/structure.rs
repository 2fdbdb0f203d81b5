//! The shape of the tree: no file imports another one that imports it back, by whatever way; layers inside a
//! module; and the figures a reader may want to know, printed.

use std::collections::{BTreeMap, BTreeSet};

use super::{Source, mentions, sources};

/// The control socket's files: what stands before `tiny_http` stays small.
const CONTROL: &[&str] =
    &["http/server/control.rs", "http/server/framing.rs", "http/server/guard.rs"];
const CONTROL_LINES_MAX: usize = 450;

/// The layers of the store, the lowest last: what may be imported from `crate::store` in each.
const LAYERS: &[(&str, &[&str])] = &[
    ("store/verbs/", &["error", "rows", "sql", "types"]),
    ("store/rows/", &["error", "rows", "sql", "types"]),
    ("store/types/", &["error", "types"]),
    ("store/sql/", &["sql"]),
    ("store/sqlite/", &["error", "sql", "sqlite", "types"]),
];

/// The path of a module: `["store", "error"]` for `store/error.rs`.
type Module = Vec<String>;

/// Which modules each module names. A module and what stands below it are one thing to a reader, so
/// arrows between them count as none.
type Imports = BTreeMap<Module, BTreeSet<Module>>;

#[test]
fn no_file_imports_another_that_imports_it_back() {
    let imports = imports(&sources());
    assert!(imports.values().map(BTreeSet::len).sum::<usize>() > 500, "the imports are read");
    let circles = circles(&imports);
    let shown: Vec<String> = circles.iter().map(|circle| circle.join(", ")).collect();
    assert!(circles.is_empty(), "files that import each other: {}", shown.join("; "));
}

#[test]
fn circles_are_found() {
    let module = |name: &str| -> Module { name.split('/').map(str::to_owned).collect() };
    let imports = |edges: &[(&str, &str)]| {
        let mut imports = Imports::new();
        for (from, to) in edges {
            imports.entry(module(from)).or_default().insert(module(to));
            imports.entry(module(to)).or_default();
        }
        imports
    };
    let none: [Vec<String>; 0] = [];
    assert_eq!(circles(&imports(&[("a", "b"), ("b", "c"), ("a", "c")])), none);
    let found = circles(&imports(&[("a", "b"), ("b", "c/d"), ("c/d", "a"), ("e", "a")]));
    assert_eq!(found, [["a", "b", "c/d"]]);
}

#[test]
fn the_store_is_in_layers() {
    for source in sources() {
        let Some((_, may)) = LAYERS.iter().find(|(layer, _)| source.name.starts_with(layer)) else {
            continue;
        };
        for module in ["error", "rows", "sql", "sqlite", "types", "verbs"] {
            let used = mentions(&source.code, "crate::store::").iter().any(|word| word == module);
            assert!(!used || may.contains(&module), "{}: store::{module}", source.name);
        }
        let is_root = source.name == "store/verbs/reconciliation.rs";
        assert!(is_root || !source.code.contains("super::"), "{}: super", source.name);
    }
}

#[test]
fn no_handler_imports_another() {
    const HANDLERS: [&str; 7] =
        ["callback", "cards", "health", "metadata", "operator", "slo", "webhook"];
    for source in sources().iter().filter(|source| source.name != "http/routes/table.rs") {
        for handler in
            HANDLERS.iter().filter(|name| !source.name.starts_with(&format!("http/{name}")))
        {
            let named = source.code.contains(&format!("crate::http::{handler}"));
            assert!(!named, "{} imports the handler {handler}", source.name);
        }
    }
}

#[test]
fn only_the_control_socket_is_served_by_tiny_http() {
    for source in sources().iter().filter(|source| source.code.contains("tiny_http::")) {
        assert!(CONTROL.contains(&source.name.as_str()), "{} is none of its files", source.name);
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are what a reader asks for")]
fn figures_of_the_tree() {
    let sources = sources();
    let lines = |source: &Source| source.text.lines().count();
    let mut counts: Vec<usize> = sources.iter().map(lines).collect();
    counts.sort_unstable();
    let longest = sources.iter().max_by_key(|source| lines(source)).unwrap();
    let (function, of) = sources
        .iter()
        .map(|source| (longest_function(&source.code), source.name.as_str()))
        .max()
        .unwrap();
    println!("files: {}, median {} lines", counts.len(), counts[counts.len() / 2]);
    println!("longest file: {} with {} lines", longest.name, lines(longest));
    println!("longest function: {function} lines, in {of}");
    println!("circles: {}", circles(&imports(&sources)).len());
    println!("control socket: {} lines", control_lines(&sources));
    assert!(control_lines(&sources) <= CONTROL_LINES_MAX);
}

/// Lines of the files that serve the control socket.
fn control_lines(sources: &[Source]) -> usize {
    let of_control = |source: &&Source| CONTROL.contains(&source.name.as_str());
    let files: Vec<&Source> = sources.iter().filter(of_control).collect();
    assert_eq!(files.len(), CONTROL.len(), "a file of the control socket is gone");
    files.iter().map(|source| source.text.lines().count()).sum()
}

/// Returns the most lines from an `fn` to the brace that closes it at the same depth.
fn longest_function(code: &str) -> usize {
    let lines: Vec<&str> = code.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let begins = |line: &str| {
        let words = line.trim_start().trim_start_matches("pub").trim_start_matches("(super)");
        words.trim_start().starts_with("fn ") || line.contains(" fn ")
    };
    // One without a body, as a trait has, ends with its signature.
    let has_body = |place: usize| {
        let end = lines[place..].iter().find(|line| line.ends_with(['{', ';', '}']));
        end.is_some_and(|end| !end.ends_with(';'))
    };
    let length = |(place, line): (usize, &&str)| {
        let end = lines[place..]
            .iter()
            .position(|later| indent(later) == indent(line) && later.trim_start().starts_with('}'));
        end.filter(|_| has_body(place)).map_or(0, |end| end + 1)
    };
    lines.iter().enumerate().filter(|(_, line)| begins(line)).map(length).max().unwrap_or(0)
}

fn imports(sources: &[Source]) -> Imports {
    let modules: BTreeSet<Module> = sources.iter().map(module).collect();
    let of = |source: &Source| {
        let own = module(source);
        let named =
            paths(&source.code).into_iter().filter_map(|path| resolve(&own, &path, &modules));
        let family = |other: &Module| own.starts_with(other) || other.starts_with(&own);
        let named = named.filter(|other| !family(other)).collect();
        (own, named)
    };
    sources.iter().filter(|source| !source.name.starts_with("bin/")).map(of).collect()
}

fn module(source: &Source) -> Module {
    source.name.trim_end_matches(".rs").split('/').map(str::to_owned).collect()
}

/// Returns the module a path leads to: the longest part of it that is a file.
fn resolve(own: &[String], path: &[String], modules: &BTreeSet<Module>) -> Option<Module> {
    let (first, mut rest) = path.split_first()?;
    let mut from = match first.as_str() {
        "crate" => Module::new(),
        "self" => own.to_vec(),
        _ => own[..own.len() - 1].to_vec(),
    };
    while let Some((next, after)) = rest.split_first().filter(|(next, _)| *next == "super") {
        assert_eq!(next, "super");
        from.pop();
        rest = after;
    }
    from.extend(rest.iter().cloned());
    while !from.is_empty() && !modules.contains(&from) {
        from.pop();
    }
    (!from.is_empty()).then_some(from)
}

/// Returns every path that begins at the crate, here, or above; one with braces counts once for each
/// element.
pub(super) fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for root in ["crate", "super", "self"] {
        for (place, _) in code.match_indices(&format!("{root}::")) {
            let (before, rest) = code.split_at(place);
            let before = before.chars().next_back().unwrap_or(' ');
            if before.is_alphanumeric() || before == '_' || before == ':' {
                continue;
            }
            let is_of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            let (path, rest) = rest.split_at(rest.find(|c| !is_of_path(c)).unwrap_or(rest.len()));
            let parts = |path: &str| path.split("::").map(str::to_owned).collect::<Vec<_>>();
            match path.strip_suffix("::").zip(rest.strip_prefix('{')) {
                None => found.push(parts(path)),
                Some((path, group)) => {
                    let group = group.split('}').next().unwrap();
                    for element in group.split(',').map(str::trim).filter(|it| !it.is_empty()) {
                        found.push([parts(path), parts(element)].concat());
                    }
                }
            }
        }
    }
    found
}

/// Returns the groups of modules that reach each other.
fn circles(imports: &Imports) -> Vec<Vec<String>> {
    let reach = |from: &Module| {
        let mut reached = BTreeSet::new();
        let mut ahead: Vec<&Module> = imports[from].iter().collect();
        while let Some(next) = ahead.pop() {
            if reached.insert(next) {
                ahead.extend(imports.get(next).into_iter().flatten());
            }
        }
        reached
    };
    let reached: BTreeMap<&Module, _> = imports.keys().map(|from| (from, reach(from))).collect();
    let mut circles: Vec<Vec<String>> = Vec::new();
    for (from, ahead) in &reached {
        let back = |other: &&&Module| reached.get(**other).is_some_and(|back| back.contains(from));
        let circle: Vec<String> =
            ahead.iter().filter(back).map(|module| module.join("/")).collect();
        if !circle.is_empty() && !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}
