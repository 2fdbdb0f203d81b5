//! A disk that fails now and then, in runs that are asked for it: a preload stands between this process
//! and its files (`tests/power/record.c`), and does what is written into a file they share.
//!
//! A full disk fails writes, a broken one also syncs; some still succeed before. What a broken disk left
//! is not known: the replica ends without an answer, and what it had acknowledged must be there.

use std::fs::OpenOptions;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::io::Errno;

/// Names the file the preload shares with us; a process that sets it has preloaded that.
const SWITCH: &str = "POWER_SWITCH";
/// Bytes in front of the path: four numbers, of which the last is told us.
const HEAD: usize = 16;

/// How a disk fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiskFault {
    Full,
    Broken,
}

impl DiskFault {
    pub(super) const ALL: [Self; 2] = [Self::Full, Self::Broken];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Broken => "broken",
        }
    }

    const fn error(self) -> i32 {
        match self {
            Self::Full => Errno::NOSPC.raw_os_error(),
            Self::Broken => Errno::IO.raw_os_error(),
        }
    }
}

/// The disk of this process.
pub(super) struct Disk(PathBuf);

impl Disk {
    /// Returns the disk, when it is one that can fail.
    #[expect(clippy::disallowed_methods, reason = "a switch of a test, not a setting")]
    pub(super) fn that_fails() -> Option<Self> {
        std::env::var_os(SWITCH).map(|path| Self(path.into()))
    }

    /// Lets so many writes of this database fail, after so many.
    pub(super) fn fail(&self, database: &Path, fault: DiskFault, (passes, fails): (u32, u32)) {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&fault.error().to_le_bytes());
        bytes.extend_from_slice(&passes.to_le_bytes());
        bytes.extend_from_slice(&fails.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(database.as_os_str().as_bytes());
        bytes.push(0);
        self.write(&bytes);
    }

    /// Lets everything succeed again; returns how many calls have failed, and how.
    pub(super) fn mend(&self) -> (Option<DiskFault>, u32) {
        let file = OpenOptions::new().read(true).open(&self.0).unwrap();
        let number = |place| {
            let mut bytes = [0; 4];
            file.read_exact_at(&mut bytes, place).unwrap();
            u32::from_le_bytes(bytes)
        };
        let (error, failed) = (number(0), number(12));
        self.write(&[0; HEAD + 1]);
        let is_it = |fault: &DiskFault| u32::try_from(fault.error()) == Ok(error);
        (DiskFault::ALL.into_iter().find(is_it), failed)
    }

    fn write(&self, bytes: &[u8]) {
        OpenOptions::new().write(true).open(&self.0).unwrap().write_all_at(bytes, 0).unwrap();
    }
}

/// Runs the simulation once more, in a process of its own whose disk fails.
pub(super) fn simulate(test: &str, seeds: u64) {
    let folder = tempfile::tempdir().unwrap();
    let switch = folder.path().join("switch");
    std::fs::write(&switch, []).unwrap();
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("LD_PRELOAD", crate::power::preload())
        .env(SWITCH, switch)
        .env("SVC_SIMULATION_SEEDS", seeds.to_string())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    super::say(&said);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    assert!(said.contains("simulation: "), "nothing was simulated");
}
