//! Lock files: opened so that nothing else is, whatever another program has put under their names.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a lock file, creating it for this user alone when needed. It is never removed: two processes could then hold
/// one each.
///
/// # Errors
/// When it cannot be opened, or when it is not a plain file. A link is not followed and a named pipe is not waited for.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed();
    let mut options = File::options();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
    let opened = options.open(path);
    let found = match &opened {
        Ok(file) => file.metadata(),
        // The system's error for a link or a pipe does not say what stands there.
        Err(_) => fs::symlink_metadata(path),
    };
    if found.is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::other("it is not a plain file; remove it"));
    }
    opened
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, symlink};

    use super::*;

    #[test]
    fn neither_a_link_nor_a_pipe_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let (lock, elsewhere) = (folder.path().join("lock"), folder.path().join("elsewhere"));
        symlink(&elsewhere, &lock).unwrap();
        let said = "it is not a plain file; remove it";
        assert_eq!(open(&lock).unwrap_err().to_string(), said);
        assert!(!elsewhere.exists());
        fs::remove_file(&lock).unwrap();
        let (pipe, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
        rustix::fs::mknodat(rustix::fs::CWD, &lock, pipe, mode, 0).unwrap();
        assert_eq!(open(&lock).unwrap_err().to_string(), said);
        // With a reader, opening succeeds.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let _reader = File::options().read(true).custom_flags(flags).open(&lock).unwrap();
        assert_eq!(open(&lock).unwrap_err().to_string(), said);
        fs::remove_file(&lock).unwrap();
        assert_eq!(open(&lock).unwrap().metadata().unwrap().mode() & 0o777, 0o600);
    }
}
