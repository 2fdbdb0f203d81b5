//! Where settings come from: environment, secret files, systemd credentials. Reads each once and
//! collects every problem; a value that is secret is never part of one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret as _, SecretString};

use crate::config::env_file::{self, NotText};
use crate::config::settings::{self, OF_THE_COMMAND_LINE, Setting};
use crate::crypto::secret::{self, SecretError};
use crate::crypto::sha256;
use crate::domain::digest::Digest;

/// Largest environment file that is read, in bytes.
const ENV_FILE_BYTES_MAX: usize = 1 << 20;
/// How settings of reconciliation begin.
const RECONCILIATION: &str = "SVC_RECONCILIATION_";
/// Where systemd puts credentials.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// What is wrong with one variable, and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingProblem {
    /// The variable.
    pub name: String,
    /// What was wrong and what is allowed; never a secret.
    pub what: String,
}

impl fmt::Display for SettingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.what)
    }
}

/// Digests of secrets by setting: they tell which secrets have changed, without a copy of any.
#[derive(Clone, Default)]
pub struct SecretDigests(BTreeMap<&'static str, Digest>);

impl SecretDigests {
    /// Returns the settings of either, in their order.
    #[must_use]
    pub fn of_both(&self, other: &Self) -> BTreeSet<&'static str> {
        self.0.keys().chain(other.0.keys()).copied().collect()
    }

    /// Returns the settings that only one of them has, besides predecessors, which come and go.
    #[must_use]
    pub fn in_one_alone(&self, other: &Self) -> Vec<&'static str> {
        let is_alone = |name: &&str| self.0.contains_key(*name) != other.0.contains_key(*name);
        let both = self.of_both(other).into_iter();
        both.filter(is_alone).filter(|name| !is_previous(name)).collect()
    }

    /// Says whether a setting has the same secret in both, or in neither.
    #[must_use]
    pub fn agree(&self, other: &Self, name: &str) -> bool {
        self.0.get(name) == other.0.get(name)
    }
}

impl fmt::Debug for SecretDigests {
    // A guess at a secret can be checked against its digest.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Says whether a setting is the predecessor of a secret, during its rotation.
fn is_previous(name: &str) -> bool {
    name.ends_with("_PREVIOUS")
}

/// Returns the device and inode of what systemd has connected to its journal, as systemd.exec(5) has it.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the module that reads the environment")]
pub fn journal_stream() -> Option<String> {
    std::env::var("JOURNAL_STREAM").ok()
}

/// The environment a configuration is read from.
pub struct Source {
    variables: BTreeMap<String, String>,
    /// The line of each variable in the file of a unit.
    lines: BTreeMap<String, usize>,
    problems: Vec<SettingProblem>,
    /// Of the secrets that were read, by setting.
    digests: BTreeMap<&'static str, Digest>,
}

impl Source {
    /// Returns the environment of this process. Values that are not text are problems.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the module that reads the environment")]
    pub fn process() -> Self {
        let mut source = Self::of([]);
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
        Self {
            variables: variables.into_iter().collect(),
            lines: BTreeMap::new(),
            problems: Vec::new(),
            digests: BTreeMap::new(),
        }
    }

    /// Returns the environment that systemd gives a unit with this file, with what is worth a note. Credentials are
    /// those of this environment, because no file names their folder.
    ///
    /// # Errors
    /// When systemd could not read the file.
    pub fn of_unit(mut self, path: &Path) -> Result<(Self, Vec<SettingProblem>), SettingProblem> {
        let shown = path.display();
        let content = secret::read_plain_file(path, ENV_FILE_BYTES_MAX)
            .map_err(|error| SettingProblem { name: shown.to_string(), what: of_file(&error) })?;
        let mut read = env_file::read(&content).map_err(|NotText(line)| SettingProblem {
            name: shown.to_string(),
            what: format!("line {line} is not UTF-8 text, so systemd refuses the file; correct it"),
        })?;
        let note = |line: &usize, what: &str| SettingProblem {
            name: format!("{shown}, line {line}"),
            what: what.to_owned(),
        };
        let ignored = "systemd ignores it; write NAME=value, without export";
        let continued = "before version 254, systemd ignores the next line too; remove the \\ at the end of this comment";
        let ignored = read.ignored.iter().map(|line| note(line, ignored));
        let continued = read.continued_comments.iter().map(|line| note(line, continued));
        let notes = ignored.chain(continued).collect();
        read.variables.extend(self.variables.remove_entry(CREDENTIALS));
        Ok((Self { lines: read.lines, ..Self::of(read.variables) }, notes))
    }

    /// Says whether a variable is there that is meant for the daemon.
    #[must_use]
    pub fn has_settings(&self) -> bool {
        self.names().any(|name| is_setting(name) || is_unknown(name))
    }

    /// Notes a problem, with the line of its variable if that is known.
    pub(super) fn problem(&mut self, name: &str, what: impl Into<String>) {
        let line = self.lines.get(name).or_else(|| self.lines.get(&alias(name)));
        let line = line.map_or_else(String::new, |line| format!("line {line}: "));
        let what: String = what.into();
        self.problems.push(SettingProblem { name: name.to_owned(), what: line + &what });
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
    pub(super) fn take_problems_from(&mut self, count: usize) -> Vec<SettingProblem> {
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
    /// `None` when none is set. More than one of them is a problem.
    pub(super) fn secret(&mut self, name: &'static str) -> Option<SecretString> {
        let secret = self.find_secret(name)?;
        self.digests.insert(name, sha256::of(secret.expose_secret().as_bytes()));
        Some(secret)
    }

    /// Takes out the digests of the secrets that were read.
    pub(super) fn take_digests(&mut self) -> SecretDigests {
        SecretDigests(std::mem::take(&mut self.digests))
    }

    fn find_secret(&mut self, name: &'static str) -> Option<SecretString> {
        // An empty variable is unset, so that a later line of a unit file can undo an earlier one.
        let value = self.given(name).filter(|value| !value.is_empty());
        let file_name = format!("{name}_FILE");
        let file = self.given(&file_name).filter(|path| !path.is_empty());
        let credential = self.credential(name).filter(|path| path.exists());
        let twice = "a systemd credential with this name exists too; use only one of them";
        match (value, file, credential) {
            (Some(_), Some(_), _) => {
                self.problem(name, format!("{file_name} is set too; set one of them"));
                None
            }
            (Some(_), None, Some(_)) => {
                self.problem(name, twice);
                None
            }
            (None, Some(_), Some(_)) => {
                self.problem(&file_name, twice);
                None
            }
            (Some(value), None, None) => Some(SecretString::from(value)),
            (None, Some(path), None) => self.secret_file(&file_name, PathBuf::from(path)),
            (None, None, Some(path)) => self.secret_file(name, path),
            (None, None, None) => None,
        }
    }

    /// Returns where systemd puts a credential of this name.
    fn credential(&self, name: &str) -> Option<PathBuf> {
        self.variables.get(CREDENTIALS).map(|folder| PathBuf::from(folder).join(name))
    }

    /// Returns the names of all variables.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    /// Notes every variable with a prefix of ours that is never read, a slip that would go unnoticed; and every setting
    /// that has two values under its two names.
    pub(super) fn refuse_names(&mut self) {
        let unknown = self.names().filter(|name| is_unknown(name));
        let unknown =
            unknown.map(|name| (name, "there is no such setting; see svcd.env(5)".to_owned()));
        let is_double = |name: &&str| {
            let [own, other] = self.both(name);
            is_setting(name) && own.zip(other).is_some_and(|(own, other)| own != other)
        };
        let doubles = self.names().filter(|name| name.starts_with("SVC_")).filter(is_double);
        let doubles = doubles.map(|name| {
            (name, format!("{} is set to another value; set one of them", alias(name)))
        });
        let problems = unknown.chain(doubles).map(|(name, what)| (name.to_owned(), what));
        for (name, what) in problems.collect::<Vec<_>>() {
            self.problem(&name, what);
        }
    }

    /// Notes every secret that another setting has too: who knows one of them would know both.
    pub(super) fn refuse_equal_secrets(&mut self) {
        let mut first = BTreeMap::new();
        for (name, digest) in self.digests.clone() {
            if let Some(other) = first.get(&digest) {
                self.problem(name, format!("{other} has the same secret; use another one"));
            } else {
                first.insert(digest, name);
            }
        }
    }

    fn secret_file(&mut self, name: &str, path: PathBuf) -> Option<SecretString> {
        match secret::read_file(&path) {
            Ok(value) => Some(value),
            // A rotation must not need a restart, so the file may be named before there is a predecessor.
            Err(SecretError::Empty) if is_previous(name.trim_end_matches("_FILE")) => None,
            Err(error) => {
                self.problem(name, format!("{}: {}", path.display(), of_file(&error)));
                None
            }
        }
    }

    /// Returns what was set under `SVC_X` or `SERVICE_X`.
    pub(super) fn given(&self, name: &str) -> Option<String> {
        let [own, other] = self.both(name);
        own.or(other).cloned()
    }

    /// Returns what was set under either name of a setting.
    fn both(&self, name: &str) -> [Option<&String>; 2] {
        // A reconciliation setting that is empty is unset.
        let is_set = |value: &&String| !(value.is_empty() && name.starts_with(RECONCILIATION));
        [name, &alias(name)].map(|name| self.variables.get(name).filter(is_set))
    }
}

/// Says what is wrong with a file, and what to do.
pub(super) fn of_file(error: &SecretError) -> String {
    format!("{error}; {}", error.next_step())
}

/// Says whether the daemon reads a variable of this name.
fn is_setting(name: &str) -> bool {
    let name = &name.replacen("SERVICE_", "SVC_", 1);
    settings::all().any(|setting| {
        name == setting.name || (setting.secret && name.strip_suffix("_FILE") == Some(setting.name))
    })
}

/// Says whether a variable of this name is meant for us, and nothing reads it.
fn is_unknown(name: &str) -> bool {
    is_ours(name) && !is_setting(name) && !OF_THE_COMMAND_LINE.contains(&name)
}

/// Says whether a variable of this name can only be meant for us: `SERVICE_` by itself is too common a
/// beginning.
fn is_ours(name: &str) -> bool {
    let prefixes = ["SVC_", "SERVICE_OPERATOR_", "SERVICE_RECONCILIATION_"];
    prefixes.iter().any(|prefix| name.starts_with(prefix)) && !is_of_kubernetes(name)
}

/// Says whether Kubernetes sets a variable of this name in each container beside a Service that is named `svc`. Then it
/// says nothing about us, and a start must not depend on the name of a Service.
fn is_of_kubernetes(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("SVC_") else { return false };
    let named = |rest: &str| rest.strip_prefix('_').is_some_and(|name| !name.is_empty());
    if let Some(port) = rest.strip_prefix("SERVICE_PORT") {
        return port.is_empty() || named(port);
    }
    let Some(port) = rest.strip_prefix("PORT") else { return rest == "SERVICE_HOST" };
    let parts: Vec<&str> = port.split('_').collect();
    match parts[..] {
        [""] => true,
        ["", number, "TCP" | "UDP" | "SCTP"]
        | ["", number, "TCP" | "UDP" | "SCTP", "PROTO" | "PORT" | "ADDR"] => {
            !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
        }
        _ => false,
    }
}

/// Returns the other name of a setting.
fn alias(name: &str) -> String {
    name.replacen("SVC_", "SERVICE_", 1)
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
