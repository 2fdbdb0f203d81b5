//! Starts that take long, after a crash or an upgrade: what they do is logged, the supervisor hears of it, and a signal
//! ends them.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::net::UnixDatagram;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use super::site::{Site, svcd};
use super::{PATIENCE, database, letters, wait_for};

/// Returns a site whose daemon was killed after it had written.
fn killed() -> Site {
    let site = Site::new();
    let mut daemon = site.start();
    letters::push(&daemon, &site.webhooks, 1);
    daemon.kill();
    site
}

/// The daemon's supervisor, as far as it hears of a start.
struct Supervisor(UnixDatagram);

impl Supervisor {
    fn of(site: &mut Site) -> Self {
        let path = site.path("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        site.set("NOTIFY_SOCKET", path.to_str().unwrap());
        Self(socket)
    }

    fn told(&self) -> String {
        let mut buffer = [0; 512];
        let length = self.0.recv(&mut buffer).expect("the daemon tells its supervisor");
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    }

    /// Returns the status that comes first. On a busy machine, more time is asked for before it.
    fn status(&self) -> String {
        let told = std::iter::repeat_with(|| self.told());
        told.into_iter().find(|text| text.starts_with("STATUS=")).unwrap()
    }

    fn wait_until_ready(&self) {
        let told = std::iter::repeat_with(|| self.told());
        let other = ["STATUS=", "EXTEND_TIMEOUT_USEC=", "WATCHDOG=1"];
        let ready =
            told.into_iter().find(|text| !other.iter().any(|other| text.starts_with(other)));
        assert_eq!(ready.unwrap().trim(), "READY=1");
    }
}

/// Checks that the events are in the log, in this order.
fn assert_logged(log: &str, events: [&str; 2]) {
    let [first, second] =
        events.map(|event| log.find(event).unwrap_or_else(|| panic!("no {event}: {log}")));
    assert!(first < second, "{log}");
}

/// Returns the limit of the packaged unit, in microseconds.
fn start_timeout() -> u64 {
    let unit = include_str!("../../../packaging/svcd.service");
    let value = unit.lines().find_map(|line| line.strip_prefix("TimeoutStartSec=")).unwrap();
    let seconds: u64 =
        value.strip_suffix('s').unwrap().parse().expect("a start is ended some time");
    seconds * 1_000_000
}

#[test]
fn a_start_after_a_crash_says_what_it_checks_and_a_start_after_a_stop_checks_nothing() {
    let mut site = killed();
    let supervisor = Supervisor::of(&mut site);
    let mut daemon = site.start();
    let began = supervisor.status();
    assert!(began.starts_with("STATUS=checking the database"), "{began}");
    // As long again as the unit gives it from the beginning.
    let more = format!("\nEXTEND_TIMEOUT_USEC={}", start_timeout());
    assert!(began.contains(&more), "{began}");
    // On a busy machine progress comes between.
    let ended = std::iter::repeat_with(|| supervisor.status())
        .find(|text| !text.starts_with("STATUS=checking"));
    assert!(ended.as_ref().is_some_and(|text| text.starts_with("STATUS=\n")), "{ended:?}");
    supervisor.wait_until_ready();
    assert_logged(&daemon.log(), ["store.check_began", "store.check_ended"]);
    assert_eq!(daemon.end(Signal::TERM).code(), Some(0), "{}", daemon.log());
    let daemon = site.start();
    assert!(!daemon.log().contains("store.check_"), "{}", daemon.log());
    assert!(!daemon.log().contains("store.migration_"), "{}", daemon.log());
}

#[test]
fn a_start_after_an_upgrade_says_that_it_migrates() {
    let mut site = Site::new();
    let steps = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations")).unwrap();
    let mut steps: Vec<_> = steps.map(|step| step.unwrap().path().join("up.sql")).collect();
    steps.retain(|step| step.exists());
    steps.sort();
    let newest = steps.len();
    {
        let database = database::open(&site.database());
        for step in &steps[..newest - 1] {
            database.execute_batch(&fs::read_to_string(step).unwrap()).unwrap();
        }
        database.pragma_update(None, "user_version", i64::try_from(newest - 1).unwrap()).unwrap();
    }
    let supervisor = Supervisor::of(&mut site);
    let daemon = site.start();
    let began = supervisor.status();
    let wanted = format!("STATUS=migrating the database from schema {} to {newest}\n", newest - 1);
    assert!(began.starts_with(&wanted), "{began}");
    assert!(began.contains("\nEXTEND_TIMEOUT_USEC="), "{began}");
    assert!(supervisor.status().starts_with("STATUS=\n"));
    supervisor.wait_until_ready();
    assert_logged(&daemon.log(), ["store.migration_began", "store.migration_ended"]);
}

#[test]
fn a_signal_ends_a_start_that_checks_the_database() {
    let site = killed();
    let other = database::open(&site.database());
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    for signal in [Signal::TERM, Signal::INT] {
        let mut command = site.command(svcd());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let mut lines = log.lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains("store.check_began")), "the check did not begin");
        kill_process(Pid::from_child(&child), signal).unwrap();
        let ended = wait_for("its end", || child.try_wait().unwrap());
        assert_eq!(ended.code(), Some(0), "the database is still locked");
    }
    other.execute_batch("ROLLBACK").unwrap();
}
