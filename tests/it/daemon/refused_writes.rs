//! Writes that the system refuses although the disk works: a quota that is used up, a file system that became
//! read-only. SQLite calls both an I/O error.

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::process::Signal;

use super::ask::Ask;
use super::process::Daemon;
use super::site::Site;
use super::{commit, database, wait_for};
use crate::power::preload;

/// The disk under one database, as `tests/power/record.c` plays it.
struct Disk {
    switch: File,
    database: PathBuf,
}

impl Disk {
    /// Puts every `svcd` that is started from now on over a disk that can refuse.
    fn under(site: &mut Site) -> Self {
        let path = site.path("switch");
        site.set("LD_PRELOAD", preload().to_str().unwrap());
        site.set("POWER_SWITCH", path.to_str().unwrap());
        let database = site.path("").canonicalize().unwrap().join("svc.db");
        Self { switch: File::create_new(path).unwrap(), database }
    }

    /// Lets every write fail from now on.
    fn refuse(&self, error: Errno) {
        let path = [self.database.as_os_str().as_bytes(), &[0]].concat();
        self.switch.write_all_at(&path, 16).unwrap();
        let number = u32::try_from(error.raw_os_error()).unwrap();
        let counts = [number, 0, u32::MAX, 0];
        // The error is first in the file, and nothing fails while it is zero.
        for (place, count) in counts.iter().enumerate().rev() {
            self.switch
                .write_all_at(&count.to_le_bytes(), u64::try_from(place * 4).unwrap())
                .unwrap();
        }
    }

    fn mend(&self) {
        self.switch.write_all_at(&[0; 4], 0).unwrap();
    }
}

fn assert_no_probe(site: &Site) {
    let names = fs::read_dir(site.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name.as_bytes().starts_with(b"svc.db.probe")).collect();
    assert!(left.is_empty(), "{left:?}");
}

fn deliver(site: &Site, daemon: &Daemon, number: usize) -> super::ask::Answer {
    let push = site.webhooks.push_tag(&format!("v{number}"), &commit(number));
    daemon.deliver(&format!("push-{number}"), &push)
}

#[test]
fn a_quota_and_a_read_only_file_system_are_answers_and_pass() {
    for (error, word) in [(Errno::DQUOT, "quota_exceeded"), (Errno::ROFS, "read_only")] {
        let mut site = Site::new();
        let disk = Disk::under(&mut site);
        let mut daemon = site.start();
        assert_eq!(deliver(&site, &daemon, 1).status, 202);
        disk.refuse(error);
        for number in 2..5 {
            let answer = deliver(&site, &daemon, number);
            answer.assert_problem(503, "unavailable", word);
        }
        let ready = daemon.control.ask(&Ask::get("/health/ready"));
        assert_eq!((ready.status, ready.member("store")), (503, word.to_owned()));
        assert_eq!(daemon.control.ask(&Ask::get("/health/live")).status, 200);
        disk.mend();
        wait_for("readiness", || {
            let ready = daemon.control.ask(&Ask::get("/health/ready"));
            (ready.status == 200).then_some(())
        });
        assert_eq!(deliver(&site, &daemon, 2).status, 202, "the same delivery again");
        assert_eq!(daemon.end(Signal::TERM).code(), Some(0), "{}", daemon.log());
        assert_no_probe(&site);
    }
}

#[test]
fn any_other_refusal_of_a_write_ends_the_process() {
    for error in [Errno::IO, Errno::FBIG] {
        let mut site = Site::new();
        let disk = Disk::under(&mut site);
        let mut daemon = site.start();
        disk.refuse(error);
        let push = site.webhooks.push_tag("v1", &commit(1));
        if let Ok(answer) = daemon.public.try_ask(&super::process::delivery("push-1", &push)) {
            panic!("{error}: {answer:?}");
        }
        assert_eq!(daemon.ended().code(), Some(74), "{error}: {}", daemon.log());
    }
}

#[test]
fn a_start_that_the_disk_refuses_says_which_refusal_it_was() {
    for (error, words) in [
        (Errno::NOSPC, "no space is left"),
        (Errno::DQUOT, "the disk quota is used up"),
        (Errno::ROFS, "the file system is read-only"),
    ] {
        let mut site = Site::new();
        let disk = Disk::under(&mut site);
        disk.refuse(error);
        let ended = site.run(&[]);
        assert_eq!(ended.code, Some(74), "{ended:?}");
        let last = ended.stderr.lines().last().unwrap();
        assert!(last.starts_with("svcd: cannot open the store: "), "{last}");
        assert!(last.contains(words), "{last}");
        disk.mend();
        assert_no_probe(&site);
        assert_eq!(site.start().end(Signal::TERM).code(), Some(0), "{error}");
    }
}

#[test]
fn a_mapped_page_that_cannot_be_had_ends_the_process_with_74() {
    let site = Site::new();
    let mut daemon = site.start();
    assert_eq!(deliver(&site, &daemon, 1).status, 202);
    // What the system does to a page of a file that has become shorter, a full copy-on-write file system does to one
    // that is written: SIGBUS.
    File::options().write(true).open(site.path("svc.db-shm")).unwrap().set_len(0).unwrap();
    let push = site.webhooks.push_tag("v2", &commit(2));
    drop(daemon.public.try_ask(&super::process::delivery("push-2", &push)));
    assert_eq!(daemon.ended().code(), Some(74), "{}", daemon.log());
    assert_eq!(site.start().end(Signal::TERM).code(), Some(0));
}

#[test]
fn a_vacuum_of_another_program_is_named_as_the_cause() {
    let site = Site::new();
    let meddle = |with: &str| database::open(&site.database()).execute_batch(with).unwrap();
    assert_eq!(site.start().end(Signal::TERM).code(), Some(0));
    meddle("CREATE TABLE room (b); INSERT INTO room VALUES (zeroblob(1000000)); DROP TABLE room");
    let mut daemon = site.start();
    assert_eq!(deliver(&site, &daemon, 1).status, 202);
    meddle("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
    let push = site.webhooks.push_tag("v2", &commit(2));
    drop(daemon.public.try_ask(&super::process::delivery("push-2", &push)));
    assert_eq!(daemon.ended().code(), Some(74), "{}", daemon.log());
    let log = daemon.log();
    let line = log.lines().find(|line| line.contains("store.disk_failed")).unwrap();
    assert!(line.contains("file_shortened") && line.contains("VACUUM"), "{line}");
    drop(daemon);
    let again = site.start();
    let push = deliver(&site, &again, 1);
    assert_eq!((push.status, push.member("outcome")), (200, "duplicate".to_owned()));
}
