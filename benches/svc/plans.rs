//! Plans of dead letters: requests a second of `svcctl dead-letters apply` up to the last one, without the wait for what becomes
//! of the items, beside a bare loop of the same requests.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::simulator::Webhooks;

use crate::http::free_address;
use crate::support::{Folder, heading, line, median, open_raw, ratio};
use crate::svcd::{Site, Svcd};
use crate::{intake, work};

const ITEMS: usize = 2_000;
const ROUNDS: usize = 3;
/// Of the run whose memory is shown beside that of [`ITEMS`].
const MANY: usize = 10_000;
const TOKEN: &str = "0123456789abcdef0123456789abcdef";

pub(crate) fn run() {
    heading(
        &format!(
            "plans: {ITEMS} dead letters, requests a second, median of {ROUNDS} pairs in turns"
        ),
        ["svcctl apply", "bare loop", "ratio", "aim"],
    );
    let mut bench = Bench::new();
    for is_socket in [false, true] {
        for action in ["close", "replay"] {
            let (mut ours, mut limits) = (Vec::new(), Vec::new());
            for round in 0..ROUNDS {
                // One after the other in turns, because the file grows.
                for is_ours in [round % 2 == 0, round % 2 == 1] {
                    let plan = bench.plan(ITEMS, action);
                    if is_ours {
                        ours.push(ITEMS as f64 / bench.apply(&plan, is_socket));
                    } else {
                        limits.push(ITEMS as f64 / bench.bare(&plan, is_socket, action));
                    }
                }
            }
            let way = if is_socket { "the control socket" } else { "a kept connection" };
            let name = format!("{action}, over {way}");
            let ratio = format!("{:.2}", ratio(&ours, &limits));
            let [ours, limits] = [ours, limits].map(|rates| format!("{:.0}/s", median(rates)));
            line(&name, [ours, limits, ratio, ">= 0.8".to_owned()]);
        }
    }
    let [few, many] = [ITEMS, MANY].map(|items| {
        let plan = bench.plan(items, "replay");
        bench.memory(&plan)
    });
    let shown = [format!("{many:.1} MiB"), format!("{few:.1} MiB"), format!("{:.2}", many / few)];
    let [many, few, ratio] = shown;
    line(&format!("memory, {MANY} items to {ITEMS}"), [many, few, ratio, "flat".to_owned()]);
}

struct Bench {
    site: Site,
    svcd: Svcd,
    operator: SocketAddr,
    folder: Folder,
    /// Numbers of webhooks, which differ.
    next: usize,
}

impl Bench {
    fn new() -> Self {
        let (site, operator) = (Site::new(), free_address());
        let svcd = site.start_with(&[("SVC_OPERATOR_LISTEN", &operator.to_string())]);
        Self { site, svcd, operator, folder: Folder::new(), next: 0 }
    }

    fn installation(&mut self, action: &str) {
        let webhooks = Webhooks {
            installation: work::INSTALLATION.try_into().unwrap(),
            repository: work::repository(),
        };
        self.next += 1;
        let request = intake::signed(&work::id(self.next), webhooks.installation(action));
        let mut stream = crate::http::connect(self.svcd.public);
        stream.get_mut().write_all(&request).unwrap();
        let (head, _) = crate::http::answer(&mut stream);
        assert!(head.starts_with("HTTP/1.1 202"), "{head}");
    }

    /// Makes so many dead letters, and a plan of them; what it replays will succeed.
    fn plan(&mut self, items: usize, action: &str) -> String {
        self.installation("suspend");
        intake::send(self.svcd.public, 16, self.next + 1, items);
        self.next += items;
        let database = open_raw(&self.site.database());
        let count = |sql| -> i64 { database.query_row(sql, [], |row| row.get(0)).unwrap() };
        let wanted = i64::try_from(items).unwrap();
        while count("SELECT count(*) FROM dead_letters WHERE resolution IS NULL") < wanted {
            pause();
        }
        self.installation("unsuspend");
        while count("SELECT count(*) FROM installations WHERE state = 'active'") == 0 {
            pause();
        }
        let file = self.folder.path("plan.json").display().to_string();
        let mut command = self.svcctl(true);
        command.args(["dead-letters", "plan", "--force", "--file", &file]);
        if action == "close" {
            command.args(["--close", "a benchmark"]);
        }
        assert!(command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success());
        file
    }

    fn svcctl(&self, is_socket: bool) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_svcctl"));
        let url = if is_socket { self.site.url() } else { format!("http://{}", self.operator) };
        command.env_clear().env("SVC_URL", url).env("SVC_OPERATOR_API_TOKEN", TOKEN);
        command
    }

    fn begin(&self, plan: &str, is_socket: bool, stdout: Stdio) -> Child {
        let mut command = self.svcctl(is_socket);
        command.args(["dead-letters", "apply", plan, "--yes"]).stdout(stdout);
        if !std::fs::read_to_string(plan).unwrap().contains("\"close\"") {
            command.args(["--canary", "0"]);
        }
        command.spawn().unwrap()
    }

    /// Applies a plan; returns the seconds up to the answer to its last request.
    fn apply(&self, plan: &str, is_socket: bool) -> f64 {
        let clock = SystemClock::new();
        let mut child = self.begin(plan, is_socket, Stdio::piped());
        // One line an item, and one for the end.
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.nth(ITEMS - 1).unwrap().is_ok());
        let seconds = clock.monotonic().as_secs_f64();
        lines.for_each(drop);
        assert!(child.wait().unwrap().success());
        seconds
    }

    /// Applies a plan; returns the most memory it had in MiB.
    fn memory(&self, plan: &str) -> f64 {
        let mut child = self.begin(plan, false, Stdio::null());
        let mut most = 0.0_f64;
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            let shown = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
            let shown = shown.unwrap_or_default();
            let high = shown.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = high.and_then(|text| text.trim().split(' ').next()?.parse::<f64>().ok());
            most = most.max(kib.unwrap_or(0.0) / 1_024.0);
            pause();
        };
        assert!(status.success(), "{status}");
        most
    }

    /// Sends the requests of a plan as a program would that does nothing else; returns the seconds it took.
    fn bare(&self, plan: &str, is_socket: bool, action: &str) -> f64 {
        let requests = requests(plan, action);
        let clock = SystemClock::new();
        let mut kept = crate::http::connect(self.operator);
        for request in &requests {
            if is_socket {
                let url = self.site.url();
                let path = url.strip_prefix("unix:").unwrap();
                exchange(&mut BufReader::new(UnixStream::connect(path).unwrap()), request);
            } else {
                exchange::<TcpStream>(&mut kept, request);
            }
        }
        clock.monotonic().as_secs_f64()
    }
}

/// Sends one request and reads its answer.
fn exchange<S: Read + Write>(stream: &mut BufReader<S>, request: &str) {
    stream.get_mut().write_all(request.as_bytes()).unwrap();
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") {
        let begin = head.len();
        assert!(stream.read_line(&mut head).unwrap() > 0, "{head}");
        let line = head.get(begin..).unwrap().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    stream.read_exact(&mut vec![0; length]).unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
}

fn requests(plan: &str, action: &str) -> Vec<String> {
    let plan: Value = serde_json::from_slice(&std::fs::read(plan).unwrap()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let items = plan.get("items").unwrap().as_array().unwrap();
    let one = |item: &Value| {
        let [kind, id, failed] =
            ["itemType", "itemId", "failedAt"].map(|name| text(item.get(name).unwrap()));
        let body = if action == "close" { "{\"reason\":\"a benchmark\"}" } else { "" };
        let length = body.len();
        let installation = work::INSTALLATION;
        format!(
            "POST /api/v1/operator/installations/{installation}/dead-letters/{kind}/{id}/{action}?failedAt={failed} \
             HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nIdempotency-Key: bare/{kind}/{id}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
    };
    items.iter().map(one).collect()
}

#[expect(clippy::disallowed_methods, reason = "what is looked at goes on meanwhile")]
fn pause() {
    std::thread::sleep(Duration::from_micros(300));
}
