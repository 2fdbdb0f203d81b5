//! From the call that starts the daemon until it is ready, with a large file: after a stop and after a kill, with the file
//! on disk alone and in the page cache.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Advice, fadvise};
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::notify::Notify;

use crate::history::seed_file;
use crate::support::{heading, line, median, ratio};
use crate::svcd::Site;

const ROUNDS: usize = 3;

pub(crate) fn run(rows: u32) {
    let site = Site::new();
    site.start().stop();
    seed_file(&site.database(), rows, SystemClock::new().now().micros());
    let mib = std::fs::metadata(site.database()).unwrap().len() >> 20;
    heading(
        &format!("start to ready with {rows} finished rows, {mib} MiB; limit: the file read once"),
        ["svcd", "raw limit", "ratio", "aim"],
    );
    for (name, is_killed, is_cold, aim) in [
        ("after a stop, from disk", false, true, ""),
        ("after a stop, cached", false, false, "< 100 ms"),
        ("after a kill, from disk", true, true, "<= 2"),
        ("after a kill, cached", true, false, ""),
    ] {
        let (mut starts, mut limits) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            leave(&site, is_killed);
            prepare(&site.database(), is_cold);
            limits.push(read(&site.database()).as_secs_f64());
            prepare(&site.database(), is_cold);
            starts.push(site.start().start.as_secs_f64());
        }
        let shown = |values: &Vec<f64>| format!("{:.0} ms", median(values.clone()) * 1e3);
        let ratio = format!("{:.2}", ratio(&starts, &limits));
        line(name, [shown(&starts), shown(&limits), ratio, aim.to_owned()]);
    }
}

/// Ends a daemon so that its database is left as it is after a stop, or after a crash.
fn leave(site: &Site, is_killed: bool) {
    let daemon = site.start();
    if !is_killed {
        return daemon.stop();
    }
    // Its workers write within seconds. Without a log, the next start finds nothing that was left unfinished.
    while log(&site.database()).metadata().map_or(0, |log| log.len()) == 0 {
        assert!(Notify::new().pause(Duration::from_millis(50)));
    }
}

fn log(database: &Path) -> PathBuf {
    database.with_extension("db-wal")
}

/// Drops the file and its log from the page cache, or fills it with them.
fn prepare(database: &Path, is_cold: bool) {
    for path in [database.to_owned(), log(database)] {
        if !path.exists() {
            continue;
        }
        if is_cold {
            let file = File::open(path).unwrap();
            // Pages that are not on disk yet are not dropped.
            file.sync_all().unwrap();
            fadvise(&file, 0, None, Advice::DontNeed).unwrap();
        } else {
            read(&path);
        }
    }
}

/// Reads a file once from its beginning to its end.
fn read(path: &Path) -> Duration {
    let clock = SystemClock::new();
    let (mut file, mut chunk) = (File::open(path).unwrap(), vec![0; 1 << 20]);
    while file.read(&mut chunk).unwrap() > 0 {}
    clock.monotonic()
}
