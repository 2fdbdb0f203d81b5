//! One name, one meaning: a type's name is its own, or its module is in sight where it is used.

use std::collections::BTreeMap;

use super::structure::paths;
use super::{Source, sources};

/// Where types of one name that are visible outside their file are defined: paths below `src`.
type Definitions = BTreeMap<String, Vec<String>>;

/// Inside one area of the tree (`cli`, `store`), a name that is defined there once may be imported, because no
/// other meaning is near. Everywhere else a name that is defined twice carries its module: `frame::Outcome`.
#[test]
fn a_type_name_is_unique_or_carries_its_module() {
    let sources = sources();
    let shared = definitions(&sources);
    assert!(shared.len() > 20, "the definitions are read");
    let found: Vec<String> =
        sources.iter().flat_map(|source| bare_imports(source, &shared)).collect();
    assert!(found.is_empty(), "import the module of these instead:\n{}", found.join("\n"));
}

#[test]
#[expect(clippy::print_stdout, reason = "the list is what a reader asks for")]
fn names_that_are_defined_twice() {
    for (name, files) in definitions(&sources()) {
        println!("{name}: {}", files.join(", "));
    }
}

#[test]
fn bare_imports_are_found() {
    let source = |name: &str, code: &str| Source {
        name: name.to_owned(),
        module: area_of(name).to_owned(),
        text: code.to_owned(),
        code: code.to_owned(),
    };
    let mut sources = vec![
        source("store/error.rs", "pub enum Error {}\nstruct Facts;"),
        source("app/error.rs", "pub enum Error {}"),
        source("domain/job.rs", "pub struct Facts;"),
        source("domain/result.rs", "    pub(crate) struct Facts;"),
        source("domain/kind.rs", "words! {\n    /// Kinds.\n    Kind {\n"),
        source("card/kind.rs", "pub enum Kind {}"),
    ];
    let shared = definitions(&sources);
    assert_eq!(shared.keys().collect::<Vec<_>>(), ["Error", "Facts", "Kind"]);
    for (name, code, found) in [
        ("app/cards.rs", "use crate::app::Error;", false),
        ("app/cards.rs", "use crate::store::{self, Error};", true),
        ("app/cards.rs", "use crate::store;\nfn f() -> store::Error {}", false),
        ("app/cards.rs", "use crate::domain::{\n    job::Other,\n    Kind,\n};", true),
        ("domain/run.rs", "use crate::domain::job::Facts;", true),
        ("domain/job/tests.rs", "use crate::domain::job::Facts;", false),
        ("domain/job.rs", "use crate::domain::kind::Kind as Sort;", false),
    ] {
        sources.push(source(name, code));
        let bare = bare_imports(&sources[sources.len() - 1], &shared);
        assert_eq!(!bare.is_empty(), found, "{name}: {code}: {bare:?}");
    }
}

/// Returns the names that are defined more than once, with the files that do.
fn definitions(sources: &[Source]) -> Definitions {
    let mut found = Definitions::new();
    for source in sources.iter().filter(|source| !source.name.ends_with("tests.rs")) {
        let mut is_words = false;
        for line in source.code.lines().map(str::trim) {
            let name = if is_words { line.split([' ', '(']).next() } else { defined(line) };
            let begins_words = line.starts_with("words!");
            if let Some(name) = name.filter(|name| name.starts_with(char::is_uppercase)) {
                found.entry(name.to_owned()).or_default().push(source.name.clone());
                is_words = false;
            }
            is_words |= begins_words;
        }
    }
    found.retain(|_, files| files.len() > 1);
    found
}

/// Returns the name of the type that a line makes visible to other files.
fn defined(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub")?;
    let rest = match rest.strip_prefix('(') {
        Some(limited) => limited.split_once(')')?.1,
        None => rest,
    };
    let (keyword, rest) = rest.trim_start().split_once(' ')?;
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let name = rest.split(|c| !is_name(c)).next()?;
    ["struct", "enum", "trait", "type"].contains(&keyword).then_some(name)
}

/// Returns what a file imports without its module although another type of that name could be meant.
fn bare_imports(source: &Source, shared: &Definitions) -> Vec<String> {
    let imports = source.code.split(';').filter_map(|statement| {
        let statement = statement.trim_start();
        let begin = statement.rfind("\nuse ").map_or(0, |place| place + 1);
        statement.get(begin..).filter(|statement| statement.starts_with("use crate::"))
    });
    let paths = imports.flat_map(paths).filter(|path| {
        let Some((name, module)) = path.split_last() else { return false };
        let Some(files) = shared.get(name) else { return false };
        let area = module.get(1).map_or("", String::as_str);
        let of_area = files.iter().filter(|file| area_of(file) == area).count();
        let below = module.get(1..).unwrap_or_default().join("/");
        let is_family = module.len() > 2 && source.name.starts_with(&below);
        !is_family && (source.module != area || of_area > 1)
    });
    paths.map(|path| format!("{}: {}", source.name, path.join("::"))).collect()
}

/// Returns the area that a file belongs to: `store` for `store/error.rs` and `store.rs`.
fn area_of(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap_or(file)
}
