//! A start after a crash: the check of the file is logged, the supervisor hears of it, and a signal ends it.

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

#[test]
fn a_start_after_a_crash_says_what_it_checks_and_a_start_after_a_stop_checks_nothing() {
    let mut site = killed();
    let path = site.path("notify");
    let supervisor = UnixDatagram::bind(&path).unwrap();
    supervisor.set_read_timeout(Some(PATIENCE)).unwrap();
    site.set("NOTIFY_SOCKET", path.to_str().unwrap());
    let told = || {
        let mut buffer = [0; 512];
        let length = supervisor.recv(&mut buffer).expect("the daemon tells its supervisor");
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    };
    let mut daemon = site.start();
    let began = told();
    assert!(began.starts_with("STATUS=checking the database"), "{began}");
    assert!(began.contains("\nEXTEND_TIMEOUT_USEC="), "{began}");
    // On a busy machine progress comes between.
    let ended = std::iter::repeat_with(told).find(|text| !text.starts_with("STATUS=checking"));
    assert!(ended.as_ref().is_some_and(|text| text.starts_with("STATUS=\n")), "{ended:?}");
    let ready = std::iter::repeat_with(told).find(|text| !text.contains("WATCHDOG=1"));
    assert_eq!(ready.unwrap().trim(), "READY=1");
    let log = daemon.log();
    let place = |event: &str| log.find(event).unwrap_or_else(|| panic!("no {event}: {log}"));
    assert!(place("store.check_began") < place("store.check_ended"), "{log}");
    assert_eq!(daemon.end(Signal::TERM).code(), Some(0), "{}", daemon.log());
    let daemon = site.start();
    assert!(!daemon.log().contains("store.check_"), "{}", daemon.log());
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
