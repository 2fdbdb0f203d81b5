//! A daemon's life: it comes up, answers, and ends when asked to, alone or among others.

use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::sync::mpsc::channel;

use rustix::process::Signal;
use svc::runtime::thread;
use svc::simulator::{Call, Fault};

use super::ask::{Ask, Endpoint};
use super::database;
use super::letters;
use super::process::Daemon;
use super::site::Site;
use super::wait_for;

fn assert_ready(daemon: &Daemon) {
    let endpoints = daemon.operator_endpoints();
    for endpoint in [&daemon.public, &endpoints[0], &endpoints[1]] {
        let answer = endpoint.ask(&Ask::get("/health/ready"));
        assert_eq!((answer.status, answer.member("status")), (200, "ready".to_owned()));
    }
}

#[test]
fn it_becomes_ready_and_either_signal_ends_it() {
    let mut site = Site::new();
    // Longer than the end is waited for: a stop without work under way does not use its time up.
    site.set("SVC_STOP_SECONDS", "60");
    for signal in [Signal::TERM, Signal::INT] {
        let mut daemon = site.start();
        assert_ready(&daemon);
        assert_eq!(daemon.end(signal).code(), Some(0), "{}", daemon.log());
        assert!(!site.socket().exists());
        assert!(daemon.log().contains("daemon.stopped"));
        database::assert_sound(&database::open(&site.database()));
    }
}

#[test]
fn a_stop_with_work_under_way_is_clean_and_the_work_is_done_later() {
    let site = Site::new();
    let mut daemon = site.start();
    for number in 0..10 {
        letters::push(&daemon, &site.webhooks, number);
    }
    assert_eq!(daemon.end(Signal::TERM).code(), Some(0), "{}", daemon.log());
    let daemon = site.start();
    wait_for("every release to be dispatched", || {
        let list = letters::letters(&daemon, super::INSTALLATION);
        (site.forge.workflow_runs().len() + list.len() >= 10).then_some(())
    });
    assert!(site.forge.workflow_runs().len() <= 10);
}

#[test]
fn a_second_daemon_does_not_take_the_socket() {
    let mut site = Site::new();
    let daemon = site.start();
    let other = site.path("other.db");
    site.set("SVC_DATABASE", other.to_str().unwrap());
    let ended = site.run(&[]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let last = ended.stderr.lines().last().unwrap();
    let lock = format!("another svcd holds {}.lock", site.socket().display());
    assert_eq!(last, format!("svcd: cannot serve the control socket: {lock}"));
    assert_ready(&daemon);
}

#[test]
fn a_daemon_that_was_killed_leaves_its_socket_to_the_next_one() {
    let site = Site::new();
    for _ in 0..3 {
        let mut daemon = site.start();
        assert_ready(&daemon);
        daemon.kill();
        assert!(site.socket().exists());
    }
}

#[test]
fn a_control_socket_without_a_place_does_not_fail_the_self_check() {
    let mut site = Site::new();
    // The self-check runs at a third of it.
    site.set("WATCHDOG_USEC", "300000");
    let daemon = site.start();
    // More than it serves at once; the rest is turned away.
    let mut silent: Vec<_> = (0..40).map(|_| UnixStream::connect(site.socket()).unwrap()).collect();
    wait_for("a self-check that was turned away", || {
        // Each takes the place of one that has said nothing for too long.
        silent.extend(UnixStream::connect(site.socket()));
        let log = daemon.log();
        let control =
            |line: &&str| line.contains("daemon.surface_full") && line.contains("svcd.sock");
        log.lines().find(control).map(drop)
    });
    // A check that got no answer in time, on a machine that is too busy, is another matter.
    let log = daemon.log();
    let failed = |line: &&str| line.contains("daemon.self_check_failed");
    let is_late =
        |line: &str| line.contains("timed out") || line.contains("temporarily unavailable");
    let turned_away: Vec<&str> = log.lines().filter(failed).filter(|it| !is_late(it)).collect();
    assert!(turned_away.is_empty(), "{turned_away:?}");
    drop(silent);
}

#[test]
fn the_allocator_is_told_to_give_large_blocks_back() {
    const NAME: &str = "MALLOC_MMAP_THRESHOLD_";
    let environment = |site: &Site| {
        let daemon = site.start();
        // The same process as the one that was started, with all that it was given.
        let path = format!("/proc/{}/environ", daemon.pid().as_raw_nonzero());
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains("SVC_DATABASE="), "{text}");
        text.split('\0').find_map(|line| line.strip_prefix(NAME)).map(str::to_owned)
    };
    let mut site = Site::new();
    assert_eq!(environment(&site), Some("=1048576".to_owned()));
    site.set(NAME, "65536");
    assert_eq!(environment(&site), Some("=65536".to_owned()), "what an operator sets is kept");
}

/// As with a newer glibc that takes the setting away from a program with privileges by its file.
#[test]
fn a_setting_of_the_allocator_that_does_not_arrive_is_reported_and_not_tried_again() {
    let mut site = Site::new();
    site.set("SVCD_STARTED_AGAIN", "1");
    let daemon = site.start();
    daemon.logged("daemon.allocator_not_configured");
}

#[test]
fn files_are_for_their_owner() {
    use std::os::unix::fs::PermissionsExt as _;
    let site = Site::new();
    let daemon = site.start();
    letters::push(&daemon, &site.webhooks, 1);
    for (name, mode) in [("svc.db", 0o600), ("svc.db-wal", 0o600), ("svcd.sock", 0o660)] {
        let found = std::fs::metadata(site.path(name)).unwrap().permissions().mode();
        assert_eq!(found & 0o777, mode, "{name}");
    }
}

#[test]
fn twenty_first_starts_at_once_all_come_up() {
    let home = Site::new();
    let (sender, started) = channel();
    for number in 0..20 {
        let mut command = home.command(super::site::svcd());
        let socket = home.path(&format!("{number}.sock"));
        command.env("SVC_CONTROL_SOCKET", &socket).env("SVC_LOG_LEVEL", "info");
        let sender = sender.clone();
        thread::spawn("first-start", move || {
            drop(sender.send(Daemon::start(&mut command, socket)));
        })
        .unwrap();
    }
    drop(sender);
    let mut daemons: Vec<Daemon> = started.iter().map(Result::unwrap).collect();
    assert_eq!(daemons.len(), 20);
    daemons.iter().for_each(assert_ready);
    let (first, last) = (&daemons[0], &daemons[19]);
    let push = home.webhooks.push_tag("v1", &super::commit(1));
    assert_eq!(first.deliver("one-delivery", &push).status, 202);
    assert_eq!(last.deliver("one-delivery", &push).status, 200);
    wait_for("a workflow run", || home.forge.workflow_runs().pop());
    daemons.iter_mut().for_each(Daemon::kill);
    database::assert_sound(&database::open(&home.database()));
}

#[test]
fn a_forge_that_hangs_does_not_hold_up_a_stop() {
    let mut site = Site::new();
    site.set("SVC_STOP_SECONDS", "1");
    // The forge hangs for longer than the end is waited for.
    site.forge.plan(Call::Dispatch, Fault::Slow(super::PATIENCE * 3));
    let mut daemon = site.start();
    letters::push(&daemon, &site.webhooks, 1);
    wait_for("the dispatch", || (site.forge.requests(Call::Dispatch) > 0).then_some(()));
    assert_eq!(daemon.end(Signal::TERM).code(), Some(0), "{}", daemon.log());
    assert!(daemon.log().contains("daemon.worker_left"));
    database::assert_sound(&database::open(&site.database()));
}

#[test]
fn unknown_reconciliation_settings_leave_it_running_and_not_ready() {
    let mut site = Site::new();
    site.set("SVC_RECONCILIATION_DEADLINE_SECONDS", "soon");
    let daemon = site.start();
    for endpoint in [&daemon.public, &daemon.control] {
        let ready = endpoint.ask(&Ask::get("/health/ready"));
        assert_eq!((ready.status, ready.member("status")), (503, "not_ready".to_owned()));
        assert_eq!(ready.json()["reconciliationConfigurationValid"], false);
        let head = endpoint.ask(&Ask::new("HEAD", "/health/ready"));
        assert_eq!((head.status, head.body.len()), (503, 0));
    }
    letters::push(&daemon, &site.webhooks, 1);
    wait_for("a workflow run", || site.forge.workflow_runs().pop());
}

#[test]
fn a_log_that_is_not_read_any_more_does_not_end_it() {
    let site = Site::new();
    let mut command = site.command(super::site::svcd());
    let mut child = command.stderr(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    drop(child.stderr.take());
    let endpoint = Endpoint::Unix(site.socket());
    wait_for("the control socket", || endpoint.try_ask(&Ask::get("/health/live")).ok());
    for _ in 0..20 {
        assert_eq!(endpoint.ask(&Ask::get("/api/v1/operator/installations").bearer()).status, 200);
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    let ended = wait_for("its end", || child.try_wait().unwrap());
    assert_eq!(ended.code(), Some(0));
}
