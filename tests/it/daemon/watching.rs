//! `--watch` against the real daemon, over its restart: one line for each change, and a terminal that is redrawn.

use std::io::{BufRead as _, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use svc::runtime::mutex::lock;
use svc::runtime::thread;

use super::site::Site;
use super::{letters, wait_for};
use crate::support::pty::{self, Screen};

/// A watch that is under way. Killed when dropped.
struct Watch {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
    said: Arc<Mutex<Vec<String>>>,
}

impl Watch {
    fn start(site: &Site, line: &str) -> Self {
        let url = format!("unix:{}", site.socket().display());
        let mut command = site.svcctl_command(&url);
        command.args(line.split_whitespace()).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = follow(child.stdout.take().unwrap());
        let said = follow(child.stderr.take().unwrap());
        Self { child, lines, said }
    }

    /// Waits until there are so many lines, and returns them.
    fn lines(&self, count: usize) -> Vec<Value> {
        let lines = wait_for("lines of a watch", || {
            Some(lock(&self.lines).clone()).filter(|lines| lines.len() >= count)
        });
        lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn said(&self, words: &str) {
        wait_for(words, || lock(&self.said).iter().any(|line| line.contains(words)).then_some(()));
    }

    fn end(&mut self, signal: Signal) -> ExitStatus {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
        self.child.wait().unwrap()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn follow(stream: impl std::io::Read + Send + 'static) -> Arc<Mutex<Vec<String>>> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let followed = Arc::clone(&lines);
    let follow = move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            lock(&followed).push(line);
        }
    };
    drop(thread::spawn("test-watch", follow).unwrap());
    lines
}

fn events(lines: &[Value], id: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    lines.iter().map(|line| (text(&line["event"]), text(&line["item"][id]))).collect()
}

#[test]
fn each_change_of_a_list_is_a_line_also_over_a_restart() {
    let site = Site::new();
    let mut daemon = site.start();
    let [first, second] = [1, 2].map(|number| letters::refused(&site, &daemon, number));
    let mut watch = Watch::start(&site, "dead-letters list --watch --interval 1s");
    let added = |id: &String| ("added".to_owned(), id.clone());
    let mut expected = vec![added(&first), added(&second)];
    assert_eq!(events(&watch.lines(2), "itemId"), expected, "the oldest first");
    daemon.kill();
    watch.said("; trying again");
    let daemon = site.start();
    watch.said("svcd answers again");
    let url = format!("unix:{}", site.socket().display());
    let closed =
        site.svcctl(&url, &["dead-letters", "close", "outbox", &first, "--reason", "a test"]);
    assert_eq!(closed.code, Some(0), "{closed:?}");
    expected.push(("removed".to_owned(), first));
    assert_eq!(events(&watch.lines(3), "itemId"), expected);
    expected.push(added(&letters::refused(&site, &daemon, 3)));
    assert_eq!(events(&watch.lines(4), "itemId"), expected);
    let status = watch.end(Signal::INT);
    assert_eq!(status.signal(), Some(Signal::INT.as_raw()), "as shells expect: 130");
}

#[test]
fn a_document_is_a_line_when_more_than_routine_changed() {
    let site = Site::new();
    let daemon = site.start();
    let status = Watch::start(&site, "status --watch --interval 1s -o json");
    assert_eq!(status.lines(1)[0]["backlog"]["deadLetters"]["count"], 0);
    letters::refused(&site, &daemon, 1);
    wait_for("the dead letter in the status", || {
        let last = lock(&status.lines).last().cloned().unwrap();
        let last: Value = serde_json::from_str(&last).unwrap();
        (last["backlog"]["deadLetters"]["count"] == 1).then_some(())
    });
    let release = Watch::start(&site, "releases show v1 --watch --interval 1s");
    let blocked = &release.lines(1)[0];
    assert_eq!(blocked["next"]["code"], "operator_replay", "{blocked}");
}

/// A watch on a terminal.
struct Live {
    watch: Watch,
    screen: Arc<Mutex<Screen>>,
    /// The program's end.
    end: OwnedFd,
}

impl Live {
    fn start(site: &Site, line: &str, rows: u16) -> Self {
        let (terminal, end) = pty::open(120, rows);
        let url = format!("unix:{}", site.socket().display());
        let mut command = site.svcctl_command(&url);
        command.args(line.split_whitespace()).stdin(Stdio::null());
        let child = command.stdout(end.try_clone().unwrap()).stderr(Stdio::null()).spawn().unwrap();
        let screen = Screen::follow(terminal);
        let (lines, said) = (Arc::default(), Arc::default());
        Self { watch: Watch { child, lines, said }, screen, end }
    }

    /// Waits for a whole frame of which this holds, and returns it.
    fn shows(&self, what: &str, holds: impl Fn(&Screen) -> bool) -> Screen {
        wait_for(what, || {
            let screen = lock(&self.screen).clone();
            (screen.frames > 0 && !screen.is_cutting && holds(&screen)).then_some(screen)
        })
    }
}

#[test]
fn a_terminal_is_redrawn_in_place() {
    let site = Site::new();
    let mut daemon = site.start();
    let first = letters::refused(&site, &daemon, 1);
    let mut live = Live::start(&site, "dead-letters list --watch --interval 1s", 24);
    let screen = live.shows("the first dead letter", |screen| screen.text().contains(&first));
    assert!(screen.lines[0].starts_with("svcctl dead-letters list, every 1s: 20"), "{screen:?}");
    assert!(screen.is_cursor_hidden);
    let second = letters::refused(&site, &daemon, 2);
    let screen = live.shows("the second dead letter", |screen| screen.text().contains(&second));
    assert!(screen.text().contains(&first) && screen.clears == 1, "{screen:?}");

    pty::resize(&live.end, 120, 4);
    let pid = Pid::from_raw(i32::try_from(live.watch.child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::WINCH).unwrap();
    let screen = live.shows("a smaller screen", |screen| screen.text().contains(" more lines"));
    assert_eq!(screen.lines.len(), 4, "{screen:?}");
    pty::resize(&live.end, 120, 24);

    daemon.kill();
    let screen = live.shows("the trouble", |screen| screen.lines[0].contains("; trying again"));
    assert!(screen.text().contains(&second), "what was seen last stays: {screen:?}");
    let _daemon = site.start();
    live.shows("another page", |screen| screen.lines[0].starts_with("svcctl dead-letters list,"));

    let status = live.watch.end(Signal::INT);
    assert_eq!(status.signal(), Some(Signal::INT.as_raw()));
    let screen = live.shows("the cursor", |screen| !screen.is_cursor_hidden);
    assert_eq!(screen.clears, 1);
}

#[test]
fn a_watch_without_a_first_answer_or_with_a_wrong_interval_is_an_error() {
    let site = Site::new();
    let url = format!("unix:{}", site.socket().display());
    for (line, code) in [
        ("releases list --watch", 69),
        ("slo --watch", 69),
        ("slo --watch --interval 0", 64),
        ("slo --watch --interval 500ms", 64),
        ("releases list --watch --all", 64),
    ] {
        let ended = site.svcctl(&url, &line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(ended.code, Some(code), "{line}: {ended:?}");
    }
}
