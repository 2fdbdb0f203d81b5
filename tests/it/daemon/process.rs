//! A running `svcd`: its endpoints, its log, and the ways to end it.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use svc::runtime::mutex::lock;
use svc::runtime::thread;
use svc::simulator::{Webhook, sign};

use super::ask::{Answer, Ask, Endpoint};
use super::{PATIENCE, SECRET, wait_for};

/// A running daemon. Killed when dropped.
pub(crate) struct Daemon {
    child: Child,
    log: Arc<Mutex<String>>,
    /// Reads the log; ends with it.
    reader: Option<JoinHandle<()>>,
    /// Webhooks.
    pub(crate) public: Endpoint,
    /// The operator's TCP address, when it has one.
    pub(crate) operator: Option<Endpoint>,
    /// The control socket.
    pub(crate) control: Endpoint,
}

impl Daemon {
    /// Starts a daemon and waits until it is ready; otherwise returns its whole log, and how it ended. It
    /// has the standard input of the command.
    pub(crate) fn start(command: &mut Command, socket: PathBuf) -> Result<Self, String> {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let (lines, reader) = follow(child.stderr.take().unwrap(), Arc::clone(&log));
        let (mut public, mut operator) = (None, None);
        while let Ok(line) = lines.recv_timeout(PATIENCE) {
            let text = |name: &str| line[name].as_str().unwrap_or_default();
            let endpoint = || text("address").parse::<SocketAddr>().map(Endpoint::Tcp).ok();
            match (text("event"), text("surface")) {
                ("daemon.listening", "public") => public = endpoint(),
                ("daemon.listening", "operator") => operator = endpoint(),
                ("daemon.ready", _) => {
                    let public = public.unwrap();
                    let (reader, control) = (Some(reader), Endpoint::Unix(socket));
                    return Ok(Self { child, log, reader, public, operator, control });
                }
                _ => {}
            }
        }
        let by_itself = lines.try_recv() == Err(TryRecvError::Disconnected);
        if !by_itself {
            drop(child.kill());
        }
        let status = child.wait().unwrap();
        let log = lock(&log).clone();
        Err(format!("{log}{status}"))
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap()
    }

    /// Returns everything it logged so far.
    pub(crate) fn log(&self) -> String {
        lock(&self.log).clone()
    }

    /// Waits until it has logged a text, because lines leave through a queue; returns everything it logged so far.
    pub(crate) fn logged(&self, text: &str) -> String {
        wait_for(text, || Some(self.log()).filter(|log| log.contains(text)))
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Ends it without warning.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.read_on();
    }

    /// Asks it to end; returns how it did.
    pub(crate) fn end(&mut self, signal: Signal) -> ExitStatus {
        kill_process(self.pid(), signal).unwrap();
        self.ended()
    }

    /// Waits for its end; returns how it did.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let status = wait_for("the end of svcd", || self.child.try_wait().unwrap());
        self.read_on();
        status
    }

    /// Waits until everything it logged has been read: its end may be seen before.
    fn read_on(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
    }

    /// Both endpoints of operators.
    pub(crate) fn operator_endpoints(&self) -> [Endpoint; 2] {
        [self.control.clone(), self.operator.clone().unwrap()]
    }

    /// Delivers a webhook as the forge does.
    pub(crate) fn deliver(&self, id: &str, webhook: &Webhook) -> Answer {
        self.public.ask(&delivery(id, webhook))
    }

    pub(crate) fn metrics(&self) -> String {
        self.control.ask(&Ask::get("/metrics")).text()
    }

    /// Returns the value of a series; zero when it is not there.
    pub(crate) fn metric(&self, series: &str) -> u64 {
        let text = self.metrics();
        let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        line.map_or(0, |value| value.parse().unwrap())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the request that delivers a webhook as the forge does.
pub(crate) fn delivery(id: &str, webhook: &Webhook) -> Ask {
    Ask::post("/webhooks/forge")
        .header("Content-Type", "application/json")
        .header("X-GitHub-Event", webhook.event)
        .header("X-GitHub-Delivery", id)
        .header("X-Hub-Signature-256", sign(SECRET, &webhook.body))
        .body(&webhook.body)
}

fn follow(stderr: ChildStderr, log: Arc<Mutex<String>>) -> (Receiver<Value>, JoinHandle<()>) {
    let (sender, lines) = channel();
    let reader = thread::spawn("test-log", move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            let mut text = lock(&log);
            text.push_str(&line);
            text.push('\n');
            drop(text);
            // There is no reader any more once the daemon is ready.
            drop(serde_json::from_str(&line).map(|line| sender.send(line)));
        }
    });
    (lines, reader.unwrap())
}
