//! Standard output that may be a full disk, or a reader that has gone.

use std::io::{self, ErrorKind, Write as _};

/// Returns how printing to standard output went. Flushed, because an error at the end of the process would not be
/// reported; a reader who has gone wants no more, so that is no failure.
///
/// # Errors
/// What was printed did not get out.
pub fn flushed(printed: io::Result<()>) -> io::Result<()> {
    match printed.and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
