//! Secrets at rest in files: how they are read, and when a file is refused. What is read stays in one buffer, which is
//! wiped: one that grows would leave copies behind.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use secrecy::SecretString;
use zeroize::Zeroizing;

/// Largest secret file that is read, in bytes.
const FILE_BYTES_MAX: usize = 64 * 1024;

/// Why a file was refused. Never holds a part of its content.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// It cannot be read.
    #[error("cannot read the file: {0}")]
    Read(io::Error),
    /// It is not a plain file.
    #[error("it is not a regular file")]
    NotAFile,
    /// Everybody on the machine may read or change it.
    #[error("other users can read or change it (mode {mode:03o}); run: chmod o-rwx on it")]
    Exposed {
        /// Its permission bits.
        mode: u32,
    },
    /// It is larger than any that is meant.
    #[error("it is larger than {} KiB", .bytes_max / 1024)]
    TooLarge {
        /// Most bytes.
        bytes_max: usize,
    },
    /// It is not text.
    #[error("it is not UTF-8 text")]
    NotText,
    /// Nothing is in it.
    #[error("it is empty")]
    Empty,
}

impl SecretError {
    /// Returns what to do about it.
    #[must_use]
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::Read(error) if error.kind() == io::ErrorKind::NotFound => {
                "create it, or name another file"
            }
            Self::Read(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                "let the user that svcd runs as read it"
            }
            Self::Read(_) | Self::NotAFile | Self::TooLarge { .. } => "name another file",
            Self::Exposed { .. } => "then replace the secret, which others may have read",
            Self::NotText | Self::Empty => "write the secret into it",
        }
    }
}

/// Reads a secret from a file. One trailing newline is dropped.
///
/// # Errors
/// When the file cannot be read, is open to others (mode bits 007), too large, empty, or not text.
pub fn read_file(path: &Path) -> Result<SecretString, SecretError> {
    let (file, metadata) = open(path)?;
    let mode = metadata.permissions().mode() & 0o777;
    // Only the bits of others: a secret is often shared with a service through its group.
    if mode & 0o007 != 0 {
        return Err(SecretError::Exposed { mode });
    }
    let bytes = read_all(file, FILE_BYTES_MAX)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| SecretError::NotText)?;
    let text = text.strip_suffix('\n').unwrap_or(text);
    if text.is_empty() { Err(SecretError::Empty) } else { Ok(SecretString::from(text)) }
}

/// Reads a plain file that others may read too.
///
/// # Errors
/// When it cannot be read, or has more bytes.
pub fn read_plain_file(path: &Path, bytes_max: usize) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    read_all(open(path)?.0, bytes_max)
}

/// Reads to the end.
///
/// # Errors
/// When that fails, or there are more bytes.
pub fn read_all(reader: impl Read, bytes_max: usize) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    // One byte more than allowed shows that there is too much, even in a file that has grown since.
    let room = bytes_max.saturating_add(1);
    let mut bytes = Zeroizing::new(Vec::with_capacity(room));
    let limit = u64::try_from(room).unwrap_or(u64::MAX);
    reader.take(limit).read_to_end(&mut bytes).map_err(SecretError::Read)?;
    if bytes.len() > bytes_max { Err(SecretError::TooLarge { bytes_max }) } else { Ok(bytes) }
}

fn open(path: &Path) -> Result<(File, Metadata), SecretError> {
    // Opening a pipe would wait for a writer for ever.
    if !fs::metadata(path).map_err(SecretError::Read)?.is_file() {
        return Err(SecretError::NotAFile);
    }
    let file = File::open(path).map_err(SecretError::Read)?;
    let metadata = file.metadata().map_err(SecretError::Read)?;
    // Again on the open file: the path may have been replaced in between.
    if metadata.is_file() { Ok((file, metadata)) } else { Err(SecretError::NotAFile) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many bytes one by one, as a pipe may give them.
    struct Pieces(usize);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(place) = buffer.first_mut().filter(|_| self.0 > 0) else { return Ok(0) };
            *place = b'x';
            self.0 -= 1;
            Ok(1)
        }
    }

    #[test]
    fn the_buffer_of_a_secret_never_grows() {
        for (length, bytes_max, fits) in
            [(0, 100, true), (33, 100, true), (100, 100, true), (101, 100, false), (9, 0, false)]
        {
            let reader = Pieces(length);
            match read_all(reader, bytes_max) {
                Ok(bytes) => {
                    assert!(fits && bytes.len() == length);
                    assert_eq!(bytes.capacity(), bytes_max + 1, "{length}");
                }
                Err(error) => assert!(!fits && matches!(error, SecretError::TooLarge { .. })),
            }
        }
    }
}
