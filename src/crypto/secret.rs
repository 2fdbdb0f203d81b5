//! Secrets at rest in files: how they are read, and when a file is refused.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use secrecy::SecretString;
use zeroize::Zeroizing;

/// Largest secret file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Why a secret file was refused. Never holds a part of its content.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// It cannot be read.
    #[error("cannot read the file: {0}")]
    Read(io::Error),
    /// It is not a plain file.
    #[error("it is not a plain file")]
    NotAFile,
    /// Everybody on the machine may read or change it.
    #[error("others can read or change it (mode {mode:03o}); run: chmod o-rwx on it")]
    Exposed {
        /// Its permission bits.
        mode: u32,
    },
    /// It is larger than any secret.
    #[error("it is larger than 64 KiB")]
    TooLarge,
    /// It is empty, or not text.
    #[error("it is empty or not UTF-8 text")]
    NotText,
}

/// Reads a secret from a file. One trailing newline is dropped.
///
/// # Errors
/// When the file cannot be read, is open to others (mode bits 007), too large, empty, or not text.
pub fn read_file(path: &Path) -> Result<SecretString, SecretError> {
    // Opening a pipe would wait for a writer for ever.
    if !std::fs::metadata(path).map_err(SecretError::Read)?.is_file() {
        return Err(SecretError::NotAFile);
    }
    let file = File::open(path).map_err(SecretError::Read)?;
    let metadata = file.metadata().map_err(SecretError::Read)?;
    // Again on the open file: the path may have been replaced in between.
    if !metadata.is_file() {
        return Err(SecretError::NotAFile);
    }
    let mode = metadata.permissions().mode() & 0o777;
    // Only the bits of others: a secret is often shared with a service through its group.
    if mode & 0o007 != 0 {
        return Err(SecretError::Exposed { mode });
    }
    let mut bytes = Zeroizing::new(Vec::new());
    // One byte more than allowed shows a file that is too large, even if it has grown since.
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(SecretError::Read)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > FILE_BYTES_MAX {
        return Err(SecretError::TooLarge);
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| SecretError::NotText)?;
    let text = text.strip_suffix('\n').unwrap_or(text);
    if text.is_empty() { Err(SecretError::NotText) } else { Ok(SecretString::from(text)) }
}
