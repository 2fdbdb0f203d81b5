//! What other programs leave under the names of our files: it is neither followed, waited for nor removed.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, chown, symlink};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Signal, geteuid};

use super::say;
use super::site::Site;

/// The files that only say who runs.
const LOCKS: [&str; 3] = ["svc.db.lock", "svc.db.in-use", "svcd.sock.lock"];

/// It must not start, and say that this file is the reason.
fn assert_refused(site: &Site, name: &str, what: &str) {
    let log = site.try_start().map(drop).unwrap_err();
    assert!(log.ends_with("exit status: 1"), "{name}, {what}: {log}");
    assert!(log.contains(name) || name == "svcd.sock.lock", "{name}, {what}: {log}");
    assert!(log.contains("is not a plain file"), "{name}, {what}: {log}");
}

#[test]
fn a_lock_file_that_is_a_pipe_does_not_hang_the_start() {
    for name in LOCKS {
        let site = Site::new();
        mknodat(CWD, site.path(name), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert_refused(&site, name, "a pipe");
    }
}

#[test]
fn a_lock_file_that_is_a_link_creates_nothing_elsewhere() {
    for name in LOCKS {
        let site = Site::new();
        let elsewhere = site.path("elsewhere");
        symlink(&elsewhere, site.path(name)).unwrap();
        assert_refused(&site, name, "a link");
        assert!(!elsewhere.exists(), "{name}");
    }
}

#[test]
fn a_folder_that_the_daemon_did_not_make_is_kept() {
    let site = Site::new();
    let inner = site.path("svcd.sock.inner");
    let refused = |what: &str| {
        let log = site.try_start().map(drop).unwrap_err();
        assert!(log.ends_with("exit status: 1"), "{what}: {log}");
        assert!(log.contains("svcd.sock.inner is there and was not made by svcd"), "{what}: {log}");
    };
    fs::DirBuilder::new().mode(0o700).create(&inner).unwrap();
    fs::write(inner.join("notes"), "kept").unwrap();
    refused("a file in it");
    assert_eq!(fs::read(inner.join("notes")).unwrap(), b"kept");
    fs::remove_file(inner.join("notes")).unwrap();
    if geteuid().is_root() {
        chown(&inner, Some(1), None).unwrap();
        refused("another owner");
        chown(&inner, Some(0), None).unwrap();
    } else {
        say("another owner is skipped: it takes the superuser");
    }
    assert_eq!(site.start().end(Signal::TERM).code(), Some(0), "an empty one of our own");
    assert!(!inner.exists());
}
