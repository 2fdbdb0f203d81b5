//! Commands to type next, with the options that were given, ready to be pasted into a shell.

use std::borrow::Cow;

use crate::cli::{Global, URL_DEFAULT, token};

/// A command line in the making.
#[derive(Clone, Debug)]
pub(crate) struct NextCommand(String);

impl NextCommand {
    /// Starts with the command, and with how this run reached svcd.
    pub(crate) fn new(command: &str, global: &Global) -> Self {
        let installation = global.installation.map(|installation| installation.to_string());
        Self::reaching(command, global).with_some("--installation", installation.as_deref())
    }

    /// Starts in the same way with a command about all installations, whichever one was given.
    pub(crate) fn of_all(command: &str, global: &Global) -> Self {
        Self::reaching(command, global).word("--all-installations")
    }

    fn reaching(command: &str, global: &Global) -> Self {
        let mut next_command = Self(format!("svcctl {command}"));
        if global.url != URL_DEFAULT {
            next_command = next_command.with("--url", &global.url);
        }
        if let Some(file) = global.token_file.clone().or_else(token::file_of_environment) {
            next_command = next_command.with("--token-file", &file.to_string_lossy());
        }
        next_command
    }

    /// Adds an option with a value.
    pub(crate) fn with(self, option: &str, value: &str) -> Self {
        self.word(option).word(value)
    }

    /// Adds one word.
    pub(crate) fn word(mut self, word: &str) -> Self {
        self.0.push(' ');
        self.0.push_str(&quoted(word));
        self
    }

    /// Adds an option with a value when there is one.
    pub(crate) fn with_some(self, option: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.with(option, value),
            None => self,
        }
    }

    pub(crate) fn into_line(self) -> String {
        self.0
    }
}

/// Returns a word as a shell must see it.
pub(crate) fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,=@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        Cow::Borrowed(word)
    } else {
        // Within single quotes a shell changes nothing, so only the quote itself is replaced.
        Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn a_command_is_about_one_installation_or_all_of_them() {
        let cli = Cli::try_parse_from(["svcctl", "--installation", "42", "status"]).unwrap();
        let line = NextCommand::new("dead-letters list", &cli.global).into_line();
        assert!(line.contains(" --installation 42") && !line.contains("--all"), "{line}");
        let line = NextCommand::of_all("dead-letters list", &cli.global).into_line();
        assert!(line.ends_with(" --all-installations") && !line.contains("42"), "{line}");
    }

    #[test]
    fn words_survive_the_shell() {
        assert_eq!(quoted("2026-11-21T09:00:00.000001Z"), "2026-11-21T09:00:00.000001Z");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's; rm -r $HOME"), r"'it'\''s; rm -r $HOME'");
        assert_eq!(quoted(""), "''");
    }
}
