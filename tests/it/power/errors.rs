//! Writes, syncs, truncations and reads that fail: no client gets a false answer, and the process ends
//! or goes on as it is documented.
//!
//! A write or sync that fails with EIO ends it with 74, and so does a sync that fails with ENOSPC: of
//! neither is it known what reached the disk. A write that fails with ENOSPC is 503 or tried again, and
//! the process goes on. A read that fails is 503 for who only wanted to look, because it loses nothing;
//! of the writer it is the end. A truncation is only a courtesy. A start that is hit ends with 1, with 74 when no
//! space is left, or with 78 when it is a read of the header, because SQLite reports a read that fails with EIO as a
//! damaged file. Nothing ever ends by a signal, and a start after it finds everything that was acknowledged.

use std::collections::BTreeMap;

use rustix::process::Signal;

use super::script::{Script, age, examine};
use super::{arm, disarm, for_each, kill, say};
use crate::daemon::site::Site;
use crate::support::campaign::number_or;

/// Beyond the first, of the writes every so many-th; a campaign takes each: `SVC_POWER_STRIDE=1`.
const STRIDE: usize = 24;
/// Every write and sync of the first so many.
const FIRST: usize = 20;
/// Syncs of a start that makes the file, at least.
const STARTING: usize = 6;
/// Reads that fail are among the first so many.
const READS: usize = 80;
/// Calls that fail, one after the other.
const FAILURES: usize = 3;

/// A fault, and where it strikes.
#[derive(Clone, Copy, Debug)]
struct Point {
    error: &'static str,
    call: &'static str,
    number: usize,
    /// The process makes the file; otherwise it finds one.
    fresh: bool,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// The start failed, with exit status 1; with 74 when no space is left; with 78 when SQLite took a read for a damaged file.
    NotStarted,
    /// It ended, with exit status 74.
    Ended,
    /// A client was told to come later, and it went on.
    Later,
    /// It was not noticed.
    Unnoticed,
}

impl Point {
    /// Returns whether this may come of it.
    fn allows(&self, fate: Fate) -> bool {
        match (self.error, self.call, fate) {
            (_, _, Fate::Unnoticed) => true,
            (_, _, Fate::NotStarted) => true,
            ("ENOSPC", "write", Fate::Later) | (_, "read", Fate::Later) => true,
            ("ENOSPC", "write", Fate::Ended) => false,
            (_, _, Fate::Ended) => true,
            (_, _, Fate::Later) => false,
        }
    }
}

/// Lets a life go through a fault, and on after it.
fn strike(point: &Point) -> Result<Fate, String> {
    let mut site = Site::new();
    if !point.fresh {
        assert_eq!(site.start().end(Signal::TERM).code(), Some(0));
    }
    let mut script = Script::new(&site, 1);
    arm(&mut site);
    let Point { error, call, number, .. } = point;
    site.set("POWER_FAULT", &format!("{error} {call} {number} {FAILURES}"));
    let fate = live(&site, &mut script, call)?;
    let owners = examine(&site, &script.told)?;
    disarm(&mut site);
    let mut daemon = site.try_start()?;
    age(&site, &owners);
    assert!(script.go_on(&site, &mut daemon), "it ended: {}", daemon.log());
    daemon.kill();
    script.evaluate(&site)?;
    Ok(fate)
}

fn live(site: &Site, script: &mut Script, call: &str) -> Result<Fate, String> {
    let mut daemon = match site.try_start() {
        Ok(daemon) => daemon,
        Err(log) if log.ends_with("exit status: 1") => return Ok(Fate::NotStarted),
        Err(log) if log.ends_with("exit status: 74") => {
            let refused = log.contains("no space is left");
            return Ok(if refused { Fate::NotStarted } else { Fate::Ended });
        }
        Err(log) if call == "read" && log.ends_with("exit status: 78") => {
            return Ok(Fate::NotStarted);
        }
        Err(log) => return Err(format!("a start that failed otherwise: {log}")),
    };
    let fate = if script.go_on(site, &mut daemon) {
        daemon.kill();
        if script.later > 0 { Fate::Later } else { Fate::Unnoticed }
    } else {
        let code = daemon.ended().code();
        if code != Some(74) || !daemon.log().contains("store.disk_failed") {
            return Err(format!("it ended with {code:?}: {}", daemon.log()));
        }
        Fate::Ended
    };
    let log = daemon.log();
    // Text of the database is no business of the log.
    if ["panicked", "disk I/O error", "malformed"].iter().any(|word| log.contains(word)) {
        return Err(log);
    }
    Ok(fate)
}

/// Returns where faults strike: `dense` first, and every so many-th up to `last`.
fn numbers(dense: usize, last: usize) -> impl Iterator<Item = usize> {
    let stride = number_or("SVC_POWER_STRIDE", STRIDE);
    (1..=dense.min(last)).chain((dense + 1..=last).step_by(stride))
}

#[test]
fn calls_that_fail_are_an_end_or_a_wait_and_never_a_false_word() {
    let (syncs, writes) = kill::count();
    let mut points = Vec::new();
    for fresh in [false, true] {
        let dense = if fresh { 0 } else { FIRST };
        for error in ["EIO", "ENOSPC"] {
            let mut add = |call, dense, last| {
                let point = |number| Point { error, call, number, fresh };
                points.extend(numbers(dense, last).map(point));
            };
            add("write", dense, writes);
            add("sync", if fresh { STARTING } else { syncs }, syncs);
            add("truncate", 1, 1);
        }
        let point = |number| Point { error: "EIO", call: "read", number, fresh };
        points.extend(numbers(2, READS).map(point));
    }
    let mut seen: BTreeMap<_, usize> = BTreeMap::new();
    for (point, result) in for_each(points, strike) {
        let fate = result.unwrap_or_else(|wrong| panic!("{point:?}: {wrong}"));
        assert!(point.allows(fate), "{point:?}: {fate:?}");
        *seen.entry((point.error, point.call, fate)).or_default() += 1;
    }
    say(&format!("{} faults: {seen:?}", seen.values().sum::<usize>()));
    let count = |error, call, fate| seen.get(&(error, call, fate)).copied().unwrap_or(0);
    assert!(count("EIO", "write", Fate::Ended) > FIRST / 2, "{seen:?}");
    assert!(count("EIO", "sync", Fate::Ended) > syncs / 2, "{seen:?}");
    assert!(count("ENOSPC", "write", Fate::Later) > 2, "{seen:?}");
}
