//! A stop under load and a stop during the start: what is answered, what is given back, and what is not waited for.

use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use svc::simulator::{Call, Fault};

use super::ask::Endpoint;
use super::handed_over::handing_over;
use super::process::{Daemon, delivery};
use super::site::{Site, svcd};
use super::{PATIENCE, commit, database, letters, wait_for};

#[test]
fn with_a_socket_that_was_handed_over_webhooks_are_answered_until_the_workers_have_ended() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut site = Site::new();
    site.set("SVC_PUBLIC_LISTEN", &address.to_string());
    site.set("SVC_STOP_SECONDS", "120");
    site.forge.plan(Call::Dispatch, Fault::Slow(PATIENCE * 3));
    let mut daemon = Daemon::start(&mut handing_over(&site, &listener), site.socket()).unwrap();
    letters::push(&daemon, &site.webhooks, 1);
    wait_for("the dispatch", || (site.forge.requests(Call::Dispatch) > 0).then_some(()));
    kill_process(daemon.pid(), Signal::TERM).unwrap();
    daemon.logged("daemon.stopping");
    // The worker waits for the forge, and nothing else would take the connection in.
    for number in 2..5 {
        let push = site.webhooks.push_tag(&format!("v{number}"), &commit(number));
        let answer = Endpoint::Tcp(address).try_ask(&delivery(&format!("late-{number}"), &push));
        assert_eq!(answer.map(|it| it.status).ok(), Some(202), "{}", daemon.log());
    }
    assert!(daemon.is_running(), "{}", daemon.log());
    daemon.kill();
    drop(listener);
}

#[test]
fn what_was_claimed_and_not_begun_is_given_back_at_a_stop() {
    let mut site = Site::new();
    site.set("SVC_STOP_SECONDS", "1");
    site.forge.plan(Call::Mint, Fault::Slow(PATIENCE * 3));
    let mut daemon = site.start();
    for number in 0..4 {
        letters::push(&daemon, &site.webhooks, number);
    }
    let leased = "SELECT count(*) FROM outbox WHERE status = 'leased'";
    wait_for("a claim", || {
        let claims = database::number(&database::open(&site.database()), leased, &[]);
        (claims > 0 && site.forge.requests(Call::Mint) > 0).then_some(())
    });
    assert_eq!(daemon.end(Signal::TERM).code(), Some(0), "{}", daemon.log());
    assert!(daemon.log().contains("daemon.worker_left"), "{}", daemon.log());
    let database = database::open(&site.database());
    assert_eq!(database::number(&database, leased, &[]), 0);
    let uncounted = "SELECT count(*) FROM outbox WHERE status = 'available' AND attempt_count = 0";
    assert!(database::number(&database, uncounted, &[]) > 0);
    database::assert_sound(&database);
}

#[test]
fn a_signal_ends_a_start_that_waits_for_the_database() {
    let site = Site::new();
    drop(site.start());
    let other = database::open(&site.database());
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    for signal in [Signal::TERM, Signal::INT] {
        let mut command = site.command(svcd());
        let mut child = command.stderr(Stdio::null()).stdin(Stdio::null()).spawn().unwrap();
        let pid = Pid::from_child(&child);
        wait_for("the signal handlers", || handles(pid, signal).then_some(()));
        kill_process(pid, signal).unwrap();
        let ended = wait_for("its end", || child.try_wait().unwrap());
        assert_eq!(ended.code(), Some(0), "the database is still locked");
    }
    other.execute_batch("ROLLBACK").unwrap();
}

/// Says whether a process has a handler for a signal.
fn handles(pid: Pid, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    let caught = u64::from_str_radix(caught.trim(), 16).unwrap();
    caught & (1 << (signal.as_raw() - 1)) != 0
}

#[test]
fn connections_wait_while_the_daemon_accepts_none() {
    let site = Site::new();
    let daemon = site.start();
    let Endpoint::Tcp(address) = daemon.public else { panic!("no TCP") };
    kill_process(daemon.pid(), Signal::STOP).unwrap();
    let connected = (0..400).map_while(|_| TcpStream::connect_timeout(&address, PATIENCE).ok());
    assert_eq!(connected.collect::<Vec<_>>().len(), 400);
}
