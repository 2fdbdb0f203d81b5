//! `svcctl cards validate --fix` and `--diff`: cards whose findings have edits, and what becomes of them.
//!
//! What is written, and when: `docs/decisions/112-card-fixes.md`.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use similar::TextDiff;

use super::inputs::CardPath;
use super::report::Counts;
use super::validator::Validator;
use super::{STDIN, rewrite};
use crate::api::CardReport;
use crate::card::{self, Fixed, Valid};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Output, escape};

/// What is done about findings.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct FixArgs {
    /// Apply the unambiguous suggestions, and write each card that is valid afterwards
    ///
    /// A corrected card replaces the file: other hard links still have the old card. Symbolic links are followed, except
    /// links in a searched folder that lead out of that folder.
    #[arg(long, conflicts_with = "ndjson")]
    fix: bool,

    /// Print, as a unified diff, the changes that --fix makes or would make; without --fix, no file is written
    #[arg(long, conflicts_with = "ndjson")]
    diff: bool,

    /// Also write cards that are not valid afterwards; implies --fix, unless --diff is given
    #[arg(long, conflicts_with = "ndjson")]
    fix_partly: bool,
}

/// Fixes cards.
#[derive(Clone, Copy)]
pub(super) struct Fixer {
    writes: bool,
    shows_diff: bool,
    is_partly: bool,
    /// A person reads the diff, not a program.
    escapes_diff: bool,
}

/// Longest time for one diff, after which it is only coarser.
const DIFF_TIME: Duration = Duration::from_secs(2);
/// Most lines of a card of which a diff is made: it takes some 50 bytes for each.
const DIFF_LINES_MAX: usize = 1_000_000;

impl Fixer {
    /// Returns what the arguments ask for, if they do.
    pub(super) fn new(
        args: FixArgs,
        has_stdin: bool,
        output: Output,
    ) -> Result<Option<Self>, Error> {
        let fixer = Self {
            writes: args.fix || (args.fix_partly && !args.diff),
            shows_diff: args.diff,
            is_partly: args.fix_partly,
            escapes_diff: output.is_terminal(),
        };
        if fixer.writes && fixer.shows_diff && has_stdin {
            let message = "with --fix, standard output holds the card from standard input, so it cannot hold a diff";
            return Err(Error::new(Exit::Usage, message).hint("omit --fix or --diff"));
        }
        Ok((fixer.writes || fixer.shows_diff).then_some(fixer))
    }

    /// Says whether standard output is taken, so that the report goes elsewhere.
    pub(super) fn takes_stdout(self, has_stdin: bool) -> bool {
        self.shows_diff || has_stdin
    }

    /// Fixes one card. Returns the card and its report if they are others now; `out` is for standard output.
    pub(super) fn fix(
        self,
        file: &CardPath,
        bytes: &[u8],
        report: &CardReport,
        validator: &Validator,
        (counts, out): (&mut Counts, &mut Vec<u8>),
    ) -> Result<Option<(String, CardReport)>, Error> {
        let name = file.path.to_string_lossy();
        let is_stdin = file.path.as_os_str() == STDIN;
        let fixed = if report.valid { None } else { card::fix(bytes) };
        let Some(fixed) = fixed else {
            if self.writes && !report.valid {
                let note = format!(
                    "{name} was not fixed, because none of its findings has an unambiguous suggestion"
                );
                counts.notes.push(note);
            }
            if is_stdin && self.writes && (report.valid || self.is_partly) {
                out.extend_from_slice(bytes);
            }
            return Ok(None);
        };
        let after = validator.one(fixed.text.as_bytes())?;
        if let Some(why) = self.refusal(file, &fixed, &after) {
            counts.notes.push(format!("{name} was not fixed, because {why}"));
            return Ok(None);
        }
        if self.writes && !is_stdin {
            match write(file, bytes, &fixed) {
                Ok(0) => {}
                Ok(others) => counts.notes.push(format!(
                    "{name} was one of {} hard links and is now a file of its own; the others were not changed with it",
                    others.saturating_add(1)
                )),
                Err(error) => {
                    counts.unwritten.push((name.into_owned(), error.to_string()));
                    return Ok(None);
                }
            }
        }
        if self.shows_diff {
            match self.diff(&name, bytes, &fixed.text) {
                Some(diff) => out.extend_from_slice(diff.as_bytes()),
                None => counts.notes.push(format!("{name} has too many lines for a diff")),
            }
        }
        if !self.writes {
            return Ok(None);
        }
        if is_stdin {
            out.extend_from_slice(fixed.text.as_bytes());
        }
        counts.fixed.push(format!("{name}: {}", edits(&fixed)));
        if has_further_edits(&fixed) {
            let note =
                format!("{name} needs more edits than one run applies; run the command again");
            counts.notes.push(note);
        }
        if Valid::of(fixed.text.as_bytes()).is_ok_and(|card| card.signatures().next().is_some()) {
            counts.notes.push(format!("{name} has signatures, which may not match the fixed card"));
        }
        Ok(Some((fixed.text, after)))
    }

    /// Returns why a card is left as it is, if it is.
    fn refusal(self, file: &CardPath, fixed: &Fixed, after: &CardReport) -> Option<String> {
        if !after.valid && !self.is_partly {
            let edits = edits(fixed);
            return Some(if has_further_edits(fixed) {
                format!(
                    "{edits}, the most for one run, are not enough; to apply them in several runs, add --fix-partly"
                )
            } else {
                format!(
                    "it would still not be valid after {edits}; to apply them anyway, add --fix-partly"
                )
            });
        }
        if file.path.as_os_str() == STDIN {
            return None;
        }
        // A folder may hold other JSON files, which are not ours to change.
        let kind = card::dialect(fixed.text.as_bytes()).map(|(kind, _)| kind);
        if !after.valid && kind.is_none_or(|kind| kind == card::Dialect::NoCard) {
            return Some("it does not look like a card".to_owned());
        }
        // What cannot be found out is told when the file is written.
        let is_outside = matches!(target(file), Ok(None));
        let folder = file.folder.as_ref().filter(|_| is_outside)?.display();
        Some(format!("it is a link to a file outside {folder}; to fix that file, name it"))
    }

    /// Returns the difference of two texts, as `diff -u` and `patch -p0` write and read it.
    fn diff(self, name: &str, old: &[u8], new: &str) -> Option<String> {
        let old = String::from_utf8_lossy(old);
        // Only a line feed ends a line for `patch`.
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let new: Vec<&str> = new.split_inclusive('\n').collect();
        if old.len().max(new.len()) > DIFF_LINES_MAX {
            return None;
        }
        let mut config = TextDiff::configure();
        let diff = config.newline_terminated(true).timeout(DIFF_TIME).diff_slices(&old, &new);
        let name = quoted(name);
        let text = diff.unified_diff().header(&name, &name).to_string();
        Some(if self.escapes_diff { shown(&text) } else { text })
    }
}

fn target(file: &CardPath) -> io::Result<Option<PathBuf>> {
    rewrite::target(&file.path, file.folder.as_deref())
}

/// Writes a fixed card. Returns how many other hard links its file had.
fn write(file: &CardPath, old: &[u8], fixed: &Fixed) -> io::Result<u64> {
    let target = target(file)?.ok_or_else(|| io::Error::other("it is outside the folder"))?;
    rewrite::rewrite(&target, old, fixed.text.as_bytes())
}

fn edits(fixed: &Fixed) -> String {
    format!("{} {}", fixed.edits, if fixed.edits == 1 { "edit" } else { "edits" })
}

/// Says whether there are more edits than are carried out at once.
fn has_further_edits(fixed: &Fixed) -> bool {
    fixed.report.findings.iter().any(|finding| finding.edit.is_some())
}

/// Returns a diff for a terminal: escaped but for the ends of lines, and for tabs, with which authors indent.
fn shown(diff: &str) -> String {
    let mut shown = String::with_capacity(diff.len());
    for piece in diff.split_inclusive(['\n', '\t']) {
        let text = piece.trim_end_matches(['\n', '\t']);
        shown.push_str(&escape(text));
        shown.push_str(piece.get(text.len()..).unwrap_or_default());
    }
    shown
}

/// Returns a name as it stands in a diff: in quotes and with escapes, if it is not plain.
fn quoted(name: &str) -> String {
    // Without quotes, `patch` takes what follows a space for a time.
    let is_plain = |char: char| !char.is_control() && !matches!(char, ' ' | '"' | '\\');
    if name.chars().all(is_plain) {
        return name.to_owned();
    }
    let mut quoted = String::from('"');
    for byte in name.bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
            0x20..0x7f => quoted.push(char::from(byte)),
            _ => write!(quoted, "\\{byte:03o}").expect("writing to a string does not fail"),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_one_that_patch_reads() {
        let fixer =
            Fixer { writes: false, shows_diff: true, is_partly: false, escapes_diff: false };
        let old = "{\r\n \"Name\": \"n\",\n\r\"a\": 1}";
        let diff = fixer.diff("a b\n.json", old.as_bytes(), &old.replace("Name", "name"));
        let expected = "--- \"a b\\012.json\"\n+++ \"a b\\012.json\"\n@@ -1,3 +1,3 @@\n {\r\n- \"Name\": \"n\",\n\
            + \"name\": \"n\",\n \r\"a\": 1}\n\\ No newline at end of file\n";
        assert_eq!(diff.as_deref(), Some(expected));
        assert_eq!((quoted("a b").as_str(), quoted("ü/a").as_str()), ("\"a b\"", "ü/a"));
        let shown =
            Fixer { escapes_diff: true, ..fixer }.diff("a", b"\t\"\xc2\x9b\"\r\n", "x").unwrap();
        assert!(shown.contains("-\t\"\\u{9b}\"\\r\n"), "{shown}");
        assert_eq!(fixer.diff("a", &b"\n".repeat(DIFF_LINES_MAX + 1), "x"), None);
    }
}
