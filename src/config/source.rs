//! Where settings come from: environment, secret files, systemd credentials. Reads each once and
//! collects every problem; a value that is secret is never part of one.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use secrecy::SecretString;

use crate::config::settings::{self, OF_THE_COMMAND_LINE, Setting};
use crate::crypto::secret;

/// What is wrong with one variable, and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The variable.
    pub name: String,
    /// What was wrong and what is allowed; never a secret.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.what)
    }
}

/// The environment a configuration is read from.
pub struct Source {
    variables: BTreeMap<String, String>,
    problems: Vec<Problem>,
}

impl Source {
    /// Returns the environment of this process. Values that are not text are problems.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the module that reads the environment")]
    pub fn process() -> Self {
        let mut source = Self { variables: BTreeMap::new(), problems: Vec::new() };
        // `vars` panics when a value is not text.
        for (name, value) in std::env::vars_os() {
            // Our names are ASCII, so this is none of them.
            let Ok(name) = name.into_string() else { continue };
            match value.into_string() {
                Ok(value) => drop(source.variables.insert(name, value)),
                Err(_) if is_ours(&name) => source.problem(&name, "it is not UTF-8 text"),
                Err(_) => {}
            }
        }
        source
    }

    /// Returns an environment made of `variables`.
    #[must_use]
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { variables: variables.into_iter().collect(), problems: Vec::new() }
    }

    /// Notes a problem.
    pub(super) fn problem(&mut self, name: &str, what: impl Into<String>) {
        self.problems.push(Problem { name: name.to_owned(), what: what.into() });
    }

    /// Says whether a problem with a variable, or with the file it may be given as, was noted.
    pub(super) fn has_problem(&self, name: &str) -> bool {
        let of_it =
            |other: &str| other.strip_prefix(name).is_some_and(|rest| matches!(rest, "" | "_FILE"));
        self.problems.iter().any(|problem| of_it(&problem.name))
    }

    /// Returns how many problems were noted.
    pub(super) fn problem_count(&self) -> usize {
        self.problems.len()
    }

    /// Takes out the problems noted after there were `count`.
    pub(super) fn take_problems_from(&mut self, count: usize) -> Vec<Problem> {
        // `split_off` panics beyond the end.
        self.problems.split_off(count.min(self.problems.len()))
    }

    /// Returns a setting's text: what was set, under either name, or its default.
    pub(super) fn text(&mut self, name: &'static str) -> String {
        self.given(name).unwrap_or_else(|| default(name).to_owned())
    }

    /// Returns a setting as `convert` reads it; otherwise notes a problem and returns nothing.
    pub(super) fn parsed<T>(
        &mut self,
        name: &'static str,
        allowed: &str,
        convert: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text(name);
        let value = convert(&text);
        if value.is_none() {
            // The value is shown, so no secret is read by this function.
            self.problem(name, format!("{text:?} is not allowed; use {allowed}"));
        }
        value
    }

    /// Returns a number within the bounds of its setting; otherwise notes a problem and returns nothing.
    pub(super) fn number(&mut self, name: &'static str) -> Option<u64> {
        let (min, max) = setting(name).and_then(|it| it.bounds).expect("a number has bounds");
        self.parsed(name, &format!("a whole number from {min} to {max}"), |text| {
            text.parse().ok().filter(|number| (min..=max).contains(number))
        })
    }

    /// Returns a secret from the variable, its `…_FILE`, or a systemd credential of the same name;
    /// nothing when none is set. More than one of the first two is a problem.
    pub(super) fn secret(&mut self, name: &'static str) -> Option<SecretString> {
        // An empty variable is unset, so that a later line of a unit file can undo an earlier one.
        let value = self.given(name).filter(|value| !value.is_empty());
        let file_name = format!("{name}_FILE");
        let file = self.given(&file_name).filter(|path| !path.is_empty());
        match (value, file) {
            (Some(_), Some(_)) => {
                self.problem(name, format!("{file_name} is set too; set one of them"));
                None
            }
            (Some(_), None) if self.credential(name).is_some_and(|path| path.exists()) => {
                self.problem(
                    name,
                    "a systemd credential with this name exists too; use only one of them",
                );
                None
            }
            (Some(value), None) => Some(SecretString::from(value)),
            (None, Some(path)) => self.secret_file(&file_name, PathBuf::from(path)),
            (None, None) => {
                let path = self.credential(name)?;
                if path.exists() { self.secret_file(name, path) } else { None }
            }
        }
    }

    /// Returns where systemd puts a credential of this name.
    fn credential(&self, name: &str) -> Option<PathBuf> {
        self.variables.get("CREDENTIALS_DIRECTORY").map(|folder| PathBuf::from(folder).join(name))
    }

    /// Returns the names of all variables.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    /// Notes every variable with a prefix of ours that is never read: a slip that would go unnoticed.
    pub(super) fn refuse_unknown(&mut self) {
        let known = |name: &str| {
            let name = &name.replacen("SERVICE_", "SVC_", 1);
            settings::all().any(|setting| {
                name == setting.name
                    || (setting.secret && name.strip_suffix("_FILE") == Some(setting.name))
            }) || OF_THE_COMMAND_LINE.contains(&name.as_str())
        };
        let unknown: Vec<String> =
            self.variables.keys().filter(|name| is_ours(name) && !known(name)).cloned().collect();
        for name in unknown {
            self.problem(&name, "there is no such setting; see svcd(8)");
        }
    }

    fn secret_file(&mut self, name: &str, path: PathBuf) -> Option<SecretString> {
        match secret::read_file(&path) {
            Ok(value) => Some(value),
            Err(error) => {
                self.problem(name, format!("{}: {error}", path.display()));
                None
            }
        }
    }

    /// Returns what was set under `SVC_X` or `SERVICE_X`; both set to different values is a problem.
    pub(super) fn given(&mut self, name: &str) -> Option<String> {
        let alias = name.replacen("SVC_", "SERVICE_", 1);
        let own = self.variables.get(name).cloned();
        let other = self.variables.get(&alias).cloned();
        match (own, other) {
            (Some(own), Some(other)) if own != other => {
                self.problem(name, format!("{alias} is set to another value; set one of them"));
                // Still returned, so that its own faults are reported as well.
                Some(own)
            }
            (Some(value), _) | (None, Some(value)) => Some(value),
            (None, None) => None,
        }
    }
}

/// Says whether a variable of this name can only be meant for us: `SERVICE_` by itself is too common a
/// beginning.
fn is_ours(name: &str) -> bool {
    ["SVC_", "SERVICE_OPERATOR_", "SERVICE_RECONCILIATION_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

fn default(name: &str) -> &'static str {
    setting(name).map_or("", |setting| setting.default)
}

fn setting(name: &str) -> Option<&'static Setting> {
    settings::all().find(|setting| setting.name == name)
}

pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty())
}
