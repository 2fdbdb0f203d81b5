//! `svcctl demo`, as a person runs it, and interrupts it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use rustix::process::{Pid, Signal, kill_process};
use svc::runtime::thread;
use tempfile::TempDir;

use crate::daemon::{PATIENCE, wait_for};

/// A demonstration that runs, and the folder for its temporary files.
struct Demo {
    child: Child,
    lines: Receiver<String>,
    folder: TempDir,
}

impl Demo {
    fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_svcctl"))
            .arg("demo")
            .args(arguments)
            .env("TMPDIR", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        thread::spawn("test-demo", move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                // The test may have seen enough.
                drop(sender.send(line));
            }
        })
        .unwrap();
        Self { child, lines, folder }
    }

    /// Waits for a line that contains `part`.
    fn line(&self, part: &str) -> String {
        let mut seen = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            if line.contains(part) {
                return line;
            }
            seen.push(line);
        }
        panic!("{part}: {}", seen.join("\n"))
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Sends a signal; returns the exit code. Nothing it started or made may be left.
    fn end(mut self, signal: Signal) -> Option<i32> {
        assert!(!self.processes().is_empty(), "svcd runs");
        kill_process(self.pid(), signal).unwrap();
        let ended = wait_for("the end of the demonstration", || self.child.try_wait().unwrap());
        assert_eq!(fs::read_dir(self.folder.path()).unwrap().count(), 0, "after {signal:?}");
        assert_eq!(self.processes(), [0; 0], "after {signal:?}");
        ended.code()
    }

    /// Returns the daemons that run on its folder.
    fn processes(&self) -> Vec<i32> {
        let here = format!("SVC_DATABASE={}", self.folder.path().display());
        let is_here = |path: PathBuf| {
            fs::read(path.join("environ"))
                .is_ok_and(|text| String::from_utf8_lossy(&text).contains(&here))
        };
        let entries = fs::read_dir("/proc").unwrap().map(Result::unwrap);
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers.filter(|number: &i32| is_here(format!("/proc/{number}").into())).collect()
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
        for number in self.processes() {
            let ended = Pid::from_raw(number).map(|pid| kill_process(pid, Signal::KILL));
            assert!(ended.is_some(), "{number}");
        }
    }
}

#[test]
fn a_demonstration_that_is_interrupted_leaves_nothing_behind() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let demo = Demo::start(&[]);
        demo.line("$ svcctl status");
        assert_eq!(demo.end(signal), Some(1), "{signal:?}");
    }
}

#[test]
fn a_demonstration_that_is_kept_has_three_dead_letters_and_makes_more() {
    let mut demo = Demo::start(&["--keep"]);
    let value = |line: String| line.split_once('=').unwrap().1.to_owned();
    let url = value(demo.line("export SVC_URL="));
    let token = value(demo.line("export SVC_OPERATOR_API_TOKEN_FILE="));
    let letters = || {
        let output = Command::new(env!("CARGO_BIN_EXE_svcctl"))
            .env_clear()
            .env("SVC_URL", &url)
            .env("SVC_OPERATOR_API_TOKEN_FILE", &token)
            .args(["dead-letters", "list", "-o", "json"])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let page: serde_json::Value = serde_json::from_str(&text).unwrap();
        page["items"].as_array().unwrap().len()
    };
    let more = demo.line("kill -USR1 ");
    assert_eq!(letters(), 3);
    assert!(demo.child.try_wait().unwrap().is_none(), "it runs without a terminal");
    let number: i32 = more.rsplit(' ').next().unwrap().parse().unwrap();
    assert_eq!(number, demo.pid().as_raw_nonzero().get());
    kill_process(demo.pid(), Signal::USR1).unwrap();
    wait_for("one more dead letter", || (letters() == 4).then_some(()));
    assert_eq!(demo.end(Signal::TERM), Some(0));
}
