//! Files that are replaced, removed or cut short, under a running daemon and while none runs: it
//! ends or refuses as documented, nothing is acknowledged that the next start would not find, and no
//! empty store takes the place of one that was there.

use std::fs::{self, OpenOptions};

use rustix::process::Signal;

use super::process::{Daemon, delivery};
use super::site::Site;
use super::{INSTALLATION, commit, database, letters, wait_for};

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    /// Another database of ours takes the place.
    Replace,
    /// The file goes away.
    Remove,
    /// The log goes away.
    RemoveLog,
    /// A copy of the log takes its place.
    ReplaceLog,
    /// The file is cut to so many bytes.
    Cut(u64),
}

impl Deed {
    fn happen(self, site: &Site) {
        match self {
            Self::Replace => {
                let other = used(10, Signal::TERM);
                fs::copy(other.database(), site.path("other.db")).unwrap();
                fs::rename(site.path("other.db"), site.database()).unwrap();
            }
            Self::Remove => fs::remove_file(site.database()).unwrap(),
            Self::RemoveLog => fs::remove_file(site.path("svc.db-wal")).unwrap(),
            Self::ReplaceLog => {
                fs::copy(site.path("svc.db-wal"), site.path("other-wal")).unwrap();
                fs::rename(site.path("other-wal"), site.path("svc.db-wal")).unwrap();
            }
            Self::Cut(bytes) => {
                let file = OpenOptions::new().write(true).open(site.database()).unwrap();
                file.set_len(bytes).unwrap();
            }
        }
    }
}

/// Returns a site where a delivery came to its end before the process did.
fn used(number: usize, ending: Signal) -> Site {
    let site = Site::new();
    let mut daemon = used_and_running(&site, number);
    daemon.end(ending);
    site
}

fn used_and_running(site: &Site, number: usize) -> Daemon {
    let daemon = site.start();
    letters::push(&daemon, &site.webhooks, number);
    wait_for("a dispatch", || site.forge.workflow_runs().pop());
    daemon
}

/// Returns which deliveries a file holds; it must be whole.
fn deliveries(site: &Site) -> Vec<String> {
    let database = database::open(&site.database());
    database::assert_sound(&database);
    let query = "SELECT idempotency_key FROM webhook_inbox ORDER BY idempotency_key";
    let mut statement = database.prepare(query).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn key(number: usize) -> String {
    format!("forge:push-{INSTALLATION}-{number}")
}

/// Runs it; it must refuse, and leave everything where it is.
fn assert_refused(site: &Site, what: &str) {
    let held = |name: &str| fs::read(site.path(name)).ok();
    let before = held("svc.db");
    let log = held("svc.db-wal").unwrap_or_default();
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(78), "{what}: {ended:?}");
    let last = ended.stderr.lines().last().unwrap();
    let words = ["is empty or missing", "is damaged", "belongs to the file before"];
    assert!(words.iter().any(|words| last.contains(words)), "{what}: {last}");
    assert!(held("svc.db") == before, "{what}: the file was changed");
    assert!(held("svc.db-wal").unwrap_or_default() == log, "{what}: the log was changed");
}

/// Starts it: it finds the first delivery where the log holds every page that is missing, and refuses otherwise.
fn assert_whole_or_refused(site: &Site) {
    match site.try_start() {
        Ok(mut daemon) => {
            assert_eq!(daemon.end(Signal::TERM).code(), Some(0));
            assert!(deliveries(site).contains(&key(1)));
        }
        Err(log) => {
            assert!(log.contains("is damaged") && log.ends_with("exit status: 78"), "{log}");
        }
    }
}

#[test]
fn nothing_is_acknowledged_into_a_file_that_is_not_there_any_more() {
    use Deed::{Cut, Remove, RemoveLog, Replace, ReplaceLog};
    for deed in [Replace, Remove, RemoveLog, ReplaceLog, Cut(0), Cut(2_048)] {
        let site = Site::new();
        let mut daemon = used_and_running(&site, 1);
        deed.happen(&site);
        let push = site.webhooks.push_tag("v2", &commit(2));
        // Its own writes may find it out first.
        if let Ok(answer) = daemon.public.try_ask(&delivery("after", &push)) {
            panic!("{deed:?}: {answer:?}");
        }
        assert_eq!(daemon.ended().code(), Some(74), "{deed:?}: {}", daemon.log());
        assert!(daemon.log().contains("store.disk_failed"), "{deed:?}: {}", daemon.log());
        drop(daemon);
        match deed {
            Remove | Cut(0) | Replace => assert_refused(&site, &format!("{deed:?}")),
            // A start cannot tell which pages of the log this file has.
            RemoveLog => {}
            ReplaceLog | Cut(_) => assert_whole_or_refused(&site),
        }
    }
}

#[test]
fn no_empty_store_takes_the_place_of_one_that_was_there() {
    for ending in [Signal::TERM, Signal::KILL] {
        for deed in [Deed::Remove, Deed::Cut(0)] {
            let site = used(1, ending);
            deed.happen(&site);
            assert_refused(&site, &format!("{deed:?} after {ending:?}"));
            // Without the mark the log alone says so.
            if ending == Signal::KILL {
                fs::remove_file(site.path("svc.db.in-use")).unwrap();
                assert_refused(&site, &format!("{deed:?} after {ending:?}, unmarked"));
            }
            // An operator decides otherwise.
            for name in ["svc.db.in-use", "svc.db-wal", "svc.db-shm"] {
                drop(fs::remove_file(site.path(name)));
            }
            assert_eq!(site.start().end(Signal::TERM).code(), Some(0));
            assert!(deliveries(&site).is_empty());
        }
    }
    let site = used(1, Signal::KILL);
    Deed::Cut(0).happen(&site);
    Deed::RemoveLog.happen(&site);
    assert_refused(&site, "the log, too");
}

#[test]
fn a_file_that_was_cut_short_is_whole_again_or_refused() {
    for bytes in [2_048, 4_096] {
        let folded = used(1, Signal::TERM);
        Deed::Cut(bytes).happen(&folded);
        assert_refused(&folded, &format!("{bytes} bytes of a folded file"));
        let left = used(1, Signal::KILL);
        Deed::Cut(bytes).happen(&left);
        assert_whole_or_refused(&left);
    }
}

#[test]
fn a_restored_backup_is_taken_as_it_is() {
    let site = used(1, Signal::TERM);
    Deed::Replace.happen(&site);
    assert_eq!(site.start().end(Signal::TERM).code(), Some(0));
    assert_eq!(deliveries(&site), [key(10)]);
    // After a crash, once the log of the file before was moved away.
    let site = used(1, Signal::KILL);
    Deed::Replace.happen(&site);
    assert_refused(&site, "a backup beside the log of another file");
    Deed::RemoveLog.happen(&site);
    assert_eq!(site.start().end(Signal::TERM).code(), Some(0));
    assert_eq!(deliveries(&site), [key(10)]);
}
