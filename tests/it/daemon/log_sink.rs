//! A standard error that is not read: it costs log lines, which are counted, and nothing else.

use std::io::{self, BufRead as _, BufReader, PipeReader, PipeWriter, Write as _};
use std::process::Child;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::ask::{Ask, Endpoint};
use super::process::delivery;
use super::site::{Site, svcd};
use super::{commit, wait_for};

/// A daemon whose log the test reads itself, or does not.
struct Unread {
    child: Child,
    log: BufReader<PipeReader>,
    public: Endpoint,
    control: Endpoint,
}

impl Unread {
    /// Reads the log until the daemon is ready, and no further.
    fn start(site: &Site) -> Self {
        let (reader, writer) = io::pipe().unwrap();
        let child = site.command(svcd()).stderr(writer).spawn().unwrap();
        let control = Endpoint::Unix(site.socket());
        // Where webhooks go is in the log.
        let public = control.clone();
        let mut daemon = Self { child, log: BufReader::new(reader), public, control };
        loop {
            let line = read_line(&mut daemon.log).expect("a daemon that starts");
            if line["event"] == "daemon.listening" && line["surface"] == "public" {
                daemon.public = Endpoint::Tcp(line["address"].as_str().unwrap().parse().unwrap());
            }
            if line["event"] == "daemon.ready" {
                return daemon;
            }
        }
    }

    fn dropped(&self) -> u64 {
        let text = self.control.ask(&Ask::get("/metrics")).text();
        let value = text.lines().find_map(|line| line.strip_prefix("svc_log_lines_dropped_total "));
        value.map_or(0, |value| value.parse().unwrap())
    }

    /// Delivers webhooks, all of which must be accepted, until lines of the log are dropped.
    fn deliver_until_lines_are_dropped(&self, site: &Site) {
        for number in 0.. {
            let webhook = site.webhooks.push_tag(&format!("v{number}"), &commit(number));
            let answer = self.public.ask(&delivery(&format!("delivery-{number}"), &webhook));
            assert_eq!(answer.status, 202, "{number}: {answer:?}");
            assert!(number < 10_000, "the log takes everything");
            if number % 50 == 0 && self.dropped() > 0 {
                return;
            }
        }
    }

    fn ask_to_end(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
    }

    /// Waits for its end; returns its exit code.
    fn ended(&mut self) -> Option<i32> {
        wait_for("the end of svcd", || self.child.try_wait().unwrap()).code()
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the next line of the log, which must be whole.
fn read_line(log: &mut BufReader<PipeReader>) -> Option<Value> {
    let mut line = String::new();
    let length = log.read_line(&mut line).unwrap();
    (length > 0).then(|| serde_json::from_str(&line).unwrap())
}

/// Returns a pipe that takes no more bytes.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = io::pipe().unwrap();
    let flags = fcntl_getfl(&writer).unwrap();
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).unwrap();
    while writer.write(&[b'x'; 4_096]).is_ok() {}
    while writer.write(b"x").is_ok() {}
    fcntl_setfl(&writer, flags).unwrap();
    (reader, writer)
}

#[test]
fn a_log_that_is_not_read_holds_up_neither_webhooks_nor_a_stop() {
    let site = Site::new();
    let mut daemon = Unread::start(&site);
    daemon.deliver_until_lines_are_dropped(&site);
    daemon.ask_to_end();
    assert_eq!(daemon.ended(), Some(0));
}

#[test]
fn dropped_lines_are_reported_once_the_log_is_read_again() {
    let site = Site::new();
    let mut daemon = Unread::start(&site);
    daemon.deliver_until_lines_are_dropped(&site);
    let mut reported = 0;
    while reported < daemon.dropped() {
        let line = read_line(&mut daemon.log).unwrap();
        if line["event"] == "log.lines_dropped" {
            assert_eq!(line["level"], "warn");
            reported += line["lines"].as_u64().unwrap();
        }
    }
    daemon.ask_to_end();
    let mut last = Value::Null;
    while let Some(line) = read_line(&mut daemon.log) {
        last = line;
    }
    assert_eq!(last["event"], "daemon.stopped");
    assert_eq!(daemon.ended(), Some(0));
}

#[test]
fn a_start_that_fails_ends_although_the_log_is_full() {
    let site = Site::new();
    std::fs::write(site.database(), "no database").unwrap();
    let (reader, writer) = full_pipe();
    let mut child = site.command(svcd()).stderr(writer).spawn().unwrap();
    let ended = wait_for("the end of svcd", || child.try_wait().unwrap());
    assert_eq!(ended.code(), Some(78));
    drop(reader);
}
