//! Commands to type next, with the options that were given, ready to be pasted into a shell.

use std::borrow::Cow;

use crate::cli::{Global, URL_DEFAULT, token};

/// A command line in the making.
#[derive(Clone, Debug)]
pub(crate) struct NextCommand(String);

impl NextCommand {
    /// Starts with the command, and with how this run reached the service.
    pub(crate) fn new(command: &str, global: &Global) -> Self {
        let mut next_command = Self(format!("svcctl {command}"));
        if global.url != URL_DEFAULT {
            next_command = next_command.with("--url", &global.url);
        }
        if let Some(file) = global.token_file.clone().or_else(token::file_of_environment) {
            next_command = next_command.with("--token-file", &file.to_string_lossy());
        }
        if let Some(installation) = global.installation {
            next_command = next_command.with("--installation", &installation.to_string());
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
    use super::*;

    #[test]
    fn words_survive_the_shell() {
        assert_eq!(quoted("2026-11-21T09:00:00.000001Z"), "2026-11-21T09:00:00.000001Z");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's; rm -r $HOME"), r"'it'\''s; rm -r $HOME'");
        assert_eq!(quoted(""), "''");
    }
}
