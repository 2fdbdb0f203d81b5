//! What is left out of the files that are named and of the folders that are searched.
//!
//! See `docs/decisions/109-card-folders.md`.

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::cli::error::Error;
use crate::cli::exit::Exit;

/// The options.
#[derive(clap::Args, Debug, Default)]
pub(super) struct Selection {
    /// Do not read files and folders that match the pattern, which means the same as a line of a .gitignore file in the
    /// current folder; may be repeated
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    exclude: Vec<String>,

    /// In folders, also read files that .gitignore and .ignore files exclude, and those in .git and node_modules
    #[arg(long)]
    no_ignore: bool,
}

impl Selection {
    /// Returns whether some files are left out without having been named.
    pub(super) const fn ignores(&self) -> bool {
        !self.no_ignore
    }

    /// Returns whether some files are left out by pattern.
    pub(super) const fn excludes(&self) -> bool {
        !self.exclude.is_empty()
    }

    /// Returns what the patterns match.
    pub(super) fn excluded(&self) -> Result<Gitignore, Error> {
        // Each is valid, but together they can be too large.
        self.matcher().map_err(|error| {
            Error::new(Exit::Usage, "the patterns of --exclude cannot be used").caused_by(error)
        })
    }

    fn matcher(&self) -> Result<Gitignore, ignore::Error> {
        // Absolute paths are compared by what follows the current folder. Without one, there are only relative paths.
        let mut builder = GitignoreBuilder::new(std::env::current_dir().unwrap_or_default());
        for glob in &self.exclude {
            builder.add_line(None, glob)?;
        }
        builder.build()
    }
}

/// Checks a pattern.
fn glob(text: &str) -> Result<String, String> {
    let mut builder = GitignoreBuilder::new("");
    builder.add_line(None, text).map_err(|error| error.to_string())?;
    let excluded = builder.build().map_err(|error| error.to_string())?;
    // In a .gitignore file it would be an empty line or a comment.
    if excluded.is_empty() {
        return Err("it matches no file; write \\# for a name that begins with #".to_owned());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Selection {
        /// Returns what these options select.
        pub(in crate::cli::cards) fn of(exclude: &[&str], no_ignore: bool) -> Self {
            let exclude = exclude.iter().map(|text| glob(text).unwrap()).collect();
            Self { exclude, no_ignore }
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        assert!(["", "#x", "[b-a]"].iter().all(|text| glob(text).is_err()));
        assert!(["*.json", "/a/", "!b", "\\#x"].iter().all(|text| glob(text).is_ok()));
    }
}
