//! The directory in which a control socket hides its inner sockets: made for this user alone, and removed only if it is
//! such a directory.

use std::fs::{self, DirBuilder};
use std::io::{self, Error, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _};
use std::path::Path;

/// Makes the directory, in place of one that an earlier server left.
pub(super) fn replace(private: &Path) -> io::Result<()> {
    remove(private)?;
    DirBuilder::new().mode(0o700).create(private)
}

/// Removes the private directory of a server, if there is one. What a server did not make stays as it is.
pub(super) fn remove(private: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(private) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    let own = rustix::process::geteuid().as_raw();
    let mut is_ours = found.is_dir() && found.uid() == own && found.mode() & 0o777 == 0o700;
    let mut sockets = Vec::new();
    if is_ours {
        for entry in fs::read_dir(private)? {
            let entry = entry?;
            is_ours &= entry.file_type()?.is_socket();
            sockets.push(entry.path());
        }
    }
    if !is_ours {
        let problem = format!("{} is there and was not made by svcd; move it", private.display());
        return Err(Error::new(ErrorKind::AlreadyExists, problem));
    }
    sockets.iter().try_for_each(fs::remove_file)?;
    fs::remove_dir(private)
}
