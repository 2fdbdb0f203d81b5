//! The allocator of the process: it gives back what large bodies took.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// The setting of glibc: blocks from this size on are mapped alone, and given back as soon as they are free.
const SETTING: &str = "MALLOC_MMAP_THRESHOLD_";
/// Set beside it: glibc takes the setting away from a program that has privileges by its file, which would then start
/// itself again without end.
const STARTED_AGAIN: &str = "SVCD_STARTED_AGAIN";
/// In bytes. Without the setting it grows with the largest block that was freed, up to 32 MiB.
const THRESHOLD: &str = "1048576";

/// Starts the program again in the same process, with the allocator's setting, unless it has one already.
///
/// glibc reads the setting before `main`, so that the process cannot make it for itself. It keeps its id, its descriptors
/// and all that the supervisor passed. See `docs/decisions/100-memory.md`.
///
/// # Errors
/// When the system does not start it. The daemon works without the setting, but keeps more memory.
#[expect(clippy::disallowed_methods, reason = "this is no setting of svcd's own")]
pub fn configure() -> io::Result<()> {
    if !cfg!(target_env = "gnu") || std::env::var_os(SETTING).is_some() {
        return Ok(());
    }
    if std::env::var_os(STARTED_AGAIN).is_some() {
        return Err(io::Error::other("the C library does not pass the setting on"));
    }
    let mut arguments = std::env::args_os();
    let mut again = Command::new(std::env::current_exe()?);
    if let Some(name) = arguments.next() {
        again.arg0(name);
    }
    // It returns only when it failed.
    Err(again.args(arguments).env(SETTING, THRESHOLD).env(STARTED_AGAIN, "1").exec())
}
