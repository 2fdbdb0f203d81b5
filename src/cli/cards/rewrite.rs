//! A file rewritten in one step: at every moment, its name leads to all of the old text or all of the new one.
//!
//! What is kept of the file, and what is not: `docs/decisions/112-card-fixes.md`.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};

/// In front of the name of the new file. It is not found in a folder that is searched for cards.
const PREFIX: &str = ".svcctl-";
/// Largest list of extended attributes, and largest one, that Linux has.
const ATTRIBUTES_MAX: usize = 64 * 1024;
/// The attribute with the access control list.
const ACL: &[u8] = b"system.posix_acl_access";

/// Returns the file that a path leads to; `None` if it is not in the folder in which the path was found.
pub(super) fn target(path: &Path, folder: Option<&Path>) -> io::Result<Option<PathBuf>> {
    // Replacing the link itself would leave what it leads to as it was.
    let file = fs::canonicalize(path)?;
    let is_inside = match folder {
        Some(folder) => file.starts_with(fs::canonicalize(folder)?),
        None => true,
    };
    Ok(is_inside.then_some(file))
}

/// Writes a new text in place of an old one, to a path without links. Returns how many other hard links the old file
/// had.
pub(super) fn rewrite(path: &Path, old: &[u8], new: &[u8]) -> io::Result<u64> {
    let Some(folder) = path.parent().filter(|_| path.is_file()) else {
        return Err(io::Error::other("it is not a regular file"));
    };
    let opened_folder = File::open(folder)?;
    // Replacing a file needs no permission to write to it, but to do so would be a surprise.
    let found = OpenOptions::new().write(true).open(path)?.metadata()?;
    let mut fresh = tempfile::Builder::new().prefix(PREFIX).tempfile_in(folder)?;
    fresh.write_all(new)?;
    keep_attributes(path, &found, fresh.as_file())?;
    // Before the name leads to it: after a power failure, a name without its text would be an empty card.
    fresh.as_file().sync_all()?;
    // Last, so that little time remains for others to write.
    let is_same = |now: &Metadata| identity(now) == identity(&found);
    let length_max = u64::try_from(old.len().max(new.len())).unwrap_or(u64::MAX);
    match super::read(path, length_max) {
        Ok(Some(now)) if now == old && fs::metadata(path).is_ok_and(|it| is_same(&it)) => {}
        // The same file under another name.
        Ok(Some(now)) if now == new => return Ok(0),
        _ => return Err(io::Error::other("it was changed by another program meanwhile")),
    }
    fresh.persist(path).map_err(|failed| failed.error)?;
    opened_folder.sync_all()?;
    Ok(found.nlink().saturating_sub(1))
}

/// Returns what tells files apart, and who may do what with one.
fn identity(file: &Metadata) -> (u64, u64, u32, u32, u32) {
    (file.dev(), file.ino(), file.mode(), file.uid(), file.gid())
}

/// Gives a new file the owner, the permissions and the attributes of another.
fn keep_attributes(path: &Path, found: &Metadata, fresh: &File) -> io::Result<()> {
    let made = fresh.metadata()?;
    if (made.uid(), made.gid()) != (found.uid(), found.gid()) {
        fchown(fresh, Some(found.uid()), Some(found.gid())).map_err(|error| {
            io::Error::new(error.kind(), format!("its owner cannot be kept: {error}"))
        })?;
    }
    let file = File::open(path)?;
    let mut has_acl = false;
    let mut names = vec![0; ATTRIBUTES_MAX];
    let length = match flistxattr(&file, &mut names) {
        Err(rustix::io::Errno::NOTSUP) => 0,
        listed => listed?,
    };
    for name in names.get(..length).unwrap_or_default().split(|byte| *byte == 0) {
        // The others are set by the system, for a new file too.
        has_acl |= name == ACL;
        if name.starts_with(b"user.") || name == ACL {
            let mut value = vec![0; ATTRIBUTES_MAX];
            let length = fgetxattr(&file, name, &mut value)?;
            fsetxattr(fresh, name, value.get(..length).unwrap_or_default(), XattrFlags::empty())?;
        }
    }
    // A new file may inherit one from its folder, which would let in others than the old file did.
    if !has_acl && let Err(error) = fremovexattr(fresh, ACL) {
        match error {
            rustix::io::Errno::NODATA | rustix::io::Errno::NOTSUP => {}
            error => return Err(error.into()),
        }
    }
    // After the owner, whose change takes the set-user-ID bit away.
    fresh.set_permissions(found.permissions())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_folder_lets_in_is_not_let_into_a_file_that_has_no_list() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("card.json");
        fs::write(&path, "old").unwrap();
        // Version 2, then tag, permissions and id of each entry: one more user may do everything.
        let mut list = 2_u32.to_le_bytes().to_vec();
        let none = u32::MAX;
        for (tag, id) in [(1_u16, none), (2, 65_534), (4, none), (0x10, none), (0x20, none)] {
            list.extend(tag.to_le_bytes());
            list.extend(7_u16.to_le_bytes());
            list.extend(id.to_le_bytes());
        }
        let opened = File::open(folder.path()).unwrap();
        let set = fsetxattr(&opened, "system.posix_acl_default", &list, XattrFlags::empty());
        if set == Err(rustix::io::Errno::NOTSUP) {
            return;
        }
        set.unwrap();
        fs::write(folder.path().join("beside.json"), "").unwrap();
        let has_list = |name: &str| {
            let file = File::open(folder.path().join(name)).unwrap();
            fgetxattr(&file, ACL, &mut vec![0; ATTRIBUTES_MAX]).is_ok()
        };
        assert!(has_list("beside.json") && !has_list("card.json"));
        assert_eq!(rewrite(&path, b"old", b"new").unwrap(), 0);
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert!(!has_list("card.json"));
    }
}
