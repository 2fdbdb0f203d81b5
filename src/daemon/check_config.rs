//! `svcd check-config`: whether the daemon would start, with the settings of its unit or of the caller.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::EXIT_CONFIG;
use super::arguments::{show_problems, show_unprinted};
use crate::config::{Config, SettingProblem, Source};
use crate::runtime::stdout;

/// Where packages put the settings of the unit; its help names it too.
const ENVIRONMENT_FILE: &str = "/etc/svc/svcd.env";

/// Settings, and where they were read.
pub(super) struct Read {
    pub(super) source: Source,
    file: Option<PathBuf>,
    /// What of the file has no effect.
    notes: Vec<SettingProblem>,
}

impl Read {
    /// Returns where they were read, for people.
    pub(super) fn place(&self) -> String {
        place(self.file.as_deref())
    }
}

/// Reads the settings of a file, or those that a start would use.
///
/// # Errors
/// When the file cannot be read, or is not one.
pub(super) fn read_settings(file: Option<&Path>) -> Result<Read, SettingProblem> {
    read(Source::process(), file, Path::new(ENVIRONMENT_FILE))
}

/// Checks the settings of a file, or those that a start would use, and says what is wrong with them. Succeeds if the
/// daemon would start and could become ready.
#[must_use]
pub fn check(file: Option<&Path>) -> ExitCode {
    let read = match read_settings(file) {
        Ok(read) => read,
        Err(problem) => {
            show_problems(None, &[problem]);
            return EXIT_CONFIG.into();
        }
    };
    match Config::load(read.source) {
        Ok(config) => {
            if let Err(error) = show(read.file.as_deref(), &config, &read.notes) {
                return show_unprinted(&error);
            }
            match config.reconciliation {
                Some(_) => ExitCode::SUCCESS,
                None => EXIT_CONFIG.into(),
            }
        }
        Err(problems) => {
            let all: Vec<SettingProblem> = problems.into_iter().chain(read.notes).collect();
            show_problems(Some(&place(read.file.as_deref())), &all);
            EXIT_CONFIG.into()
        }
    }
}

/// Reads the file that was named; otherwise the environment if it has settings, and the file of the unit if not.
fn read(process: Source, named: Option<&Path>, of_unit: &Path) -> Result<Read, SettingProblem> {
    // One that the caller may not see is there too, and must not be passed over.
    let is_there = of_unit.try_exists().unwrap_or(true);
    let of_unit = (!process.has_settings() && is_there).then_some(of_unit);
    let Some(file) = named.or(of_unit) else {
        return Ok(Read { source: process, file: None, notes: Vec::new() });
    };
    let (source, notes) = process.of_unit(file)?;
    Ok(Read { source, file: Some(file.to_owned()), notes })
}

fn place(file: Option<&Path>) -> String {
    file.map_or_else(|| "the environment".to_owned(), |file| file.display().to_string())
}

/// Says that the daemon starts with a configuration, whether it can become ready, and what is left off.
fn show(file: Option<&Path>, config: &Config, notes: &[SettingProblem]) -> io::Result<()> {
    let verdict = match config.reconciliation {
        Some(_) => "the configuration is valid",
        None => {
            "svcd would start with this configuration, but reconcile nothing and never become ready"
        }
    };
    let mut lines = vec![format!("settings of {}:", place(file)), verdict.to_owned()];
    let folder = missing_folder(&config.database);
    let notes = config.warnings.iter().chain(notes).chain(&folder);
    lines.extend(notes.map(|note| format!("  note: {note}")));
    let text = lines.join("\n") + "\n";
    stdout::flushed(io::stdout().write_all(text.as_bytes()))
}

/// Says that the folder of the database is not there, if that is so. It is no error: the unit makes that of the packages.
fn missing_folder(database: &Path) -> Option<SettingProblem> {
    let folder = database.parent().filter(|folder| !folder.as_os_str().is_empty())?;
    // One that the caller may not see is there too.
    let is_there = folder.try_exists().unwrap_or(true);
    (!is_there).then(|| SettingProblem {
        name: "SVC_DATABASE".to_owned(),
        what: format!(
            "the folder {} does not exist; svcd.service creates /var/lib/svc when it starts; create any other folder yourself",
            folder.display()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_the_unit_is_read_where_the_caller_has_no_settings() {
        let folder = tempfile::tempdir().unwrap();
        let [unit, other] = ["svcd.env", "other.env"].map(|name| folder.path().join(name));
        std::fs::write(&unit, "SVC_POLL_MS=20\n").unwrap();
        std::fs::write(&other, "SVC_POLL_MS=30\n").unwrap();
        let missing = folder.path().join("missing");
        let own = [("SERVICE_POLL_MS", "40")];
        for (variables, named, of_unit, file, millis) in [
            (&[][..], None, &unit, Some(&unit), 20),
            (&[("SVC_URL", "unix:/x"), ("PATH", "/bin")], None, &unit, Some(&unit), 20),
            (&own, None, &unit, None, 40),
            (&own, Some(&other), &unit, Some(&other), 30),
            (&[], None, &missing, None, 1_000),
        ] {
            let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            let read = read(Source::of(variables), named.map(PathBuf::as_path), of_unit).unwrap();
            assert_eq!(read.file.as_ref(), file);
            let config = Config::load(read.source).unwrap();
            assert_eq!(config.work.poll.as_millis(), millis);
        }
        let problem = read(Source::of([]), Some(&missing), &unit).err().unwrap();
        assert_eq!(problem.name, missing.display().to_string());
    }
}
