//! The relay: invocations from the call of an agent to its result, beside bare sockets and bare commits, and what
//! sessions cost that do nothing.

pub(crate) mod bare;
mod idle;
mod plugin;
mod site;

use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::http::{answer, connect};
use crate::support::{Run, drive, line, median, ratio};
use bare::{Commits, Echo};
use site::{Agent, Running, Site};

/// Sessions, and invocations of a round: of one session so few that its proposals in a minute are not used up.
const SIZES: [(usize, usize); 3] = [(1, 600), (16, 3_200), (64, 6_400)];
const ROUNDS: usize = 5;
/// Reads go to so many sessions in turn.
const READ_SESSIONS: usize = 256;

pub(crate) fn run() {
    println!(
        "\nrelay: median of five rounds in turns. Raised for this: SVC_RELAY_PROPOSALS_PER_MINUTE to 6000 from 30, \
         SVC_RELAY_FRAMES_PER_SECOND to 5000 from 50, SVC_RELAY_CONNECTIONS_MAX to 2000 from 256, the rates of /mcp. \
         20 reads a second and session stay, so reads go to {READ_SESSIONS} sessions in turn."
    );
    line("", ["svcd", "bare", "ratio", "aim"]);
    let site = Site::new();
    let echo = Echo::start();
    idle::run(&site, &echo);
    let running = site.start();
    let _pages = running.open(0..READ_SESSIONS);
    let commits = Commits::open();
    for action in [Action::Write, Action::Read] {
        for (sessions, invocations) in SIZES {
            compare(&running, action, (sessions, invocations), &commits, &echo);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    /// Approved by a person who looks at nothing.
    Write,
    /// By the leave that they gave.
    Read,
}

/// What was run beside each other.
#[derive(Default)]
struct Runs {
    ours: Vec<Run>,
    /// Microseconds of an invocation, all threads of the daemon together.
    cpu: Vec<f64>,
    alone: Vec<Run>,
    grouped: Vec<Run>,
    echo: Vec<Run>,
}

fn compare(
    running: &Running<'_>,
    action: Action,
    (sessions, invocations): (usize, usize),
    commits: &Commits,
    echo: &Echo,
) {
    let mut runs = Runs::default();
    for _ in 0..ROUNDS {
        let before = running.svcd.ran();
        runs.ours.push(invoke(running, action, sessions, invocations));
        runs.cpu.push((running.svcd.ran() - before).as_secs_f64() * 1e6 / invocations as f64);
        runs.alone.push(commits.alone(invocations));
        runs.grouped.push(commits.grouped(sessions, invocations));
        runs.echo.push(echo.run(sessions, invocations));
    }
    print(action, sessions, &runs);
}

fn print(action: Action, sessions: usize, runs: &Runs) {
    let rates = |runs: &[Run]| runs.iter().map(Run::per_second).collect::<Vec<_>>();
    let (ours, alone, grouped) = (rates(&runs.ours), rates(&runs.alone), rates(&runs.grouped));
    let verb = if action == Action::Write { "writes" } else { "reads" };
    let name = format!("{verb} a second, {sessions} at once; three commits");
    let shown = |values: &[f64]| format!("{:.0}", median(values.to_vec()));
    let of = |limits: &[f64]| format!("{:.2}", ratio(&ours, limits));
    line(&name, [shown(&ours), shown(&alone), of(&alone), ">= 0.5".to_owned()]);
    let name = "  beside commits made together";
    line(name, [shown(&ours), shown(&grouped), of(&grouped), "-".to_owned()]);
    for percent in [50, 99] {
        let wait = |runs: &[Run]| median(runs.iter().map(|run| run.percentile(percent)).collect());
        let (wait, bare) = (wait(&runs.ours), wait(&runs.grouped) + 2.0 * wait(&runs.echo));
        let aim = if percent == 50 && sessions == 1 { "<= +1 ms" } else { "-" };
        let cells =
            [format!("{wait:.2} ms"), format!("{bare:.2} ms"), format!("{:+.2}", wait - bare)];
        let [wait, bare, added] = cells;
        let name = format!("  p{percent}; three commits and two echoes");
        line(&name, [wait, bare, added, aim.to_owned()]);
    }
    let spread = runs.ours.iter().map(|run| run.percentile(99) / run.percentile(50)).collect();
    let aim = if sessions == 16 { "<= 3x" } else { "-" };
    let cpu = format!("{:.0} us", median(runs.cpu.clone()));
    line("  CPU of an invocation", [cpu.as_str(), "-", "-", "-"]);
    line("  p99 to p50", ["-", "-", &format!("{:.1}x", median(spread)), aim]);
}

/// Has so many agents call, each the next as soon as it has the result.
fn invoke(running: &Running<'_>, action: Action, sessions: usize, invocations: usize) -> Run {
    let next = AtomicUsize::new(0);
    let agents = || {
        let first = next.fetch_add(1, Ordering::Relaxed);
        let own = if action == Action::Write { 1 } else { READ_SESSIONS / sessions };
        let requests = (0..own).map(|turn| {
            let agent = running.agent(first + turn * sessions);
            request(&agent, action)
        });
        (connect(running.address()), requests.collect::<Vec<_>>(), 0)
    };
    drive(sessions, invocations, agents, |(stream, requests, turn), _| {
        let request = requests.get(*turn % requests.len()).unwrap();
        *turn += 1;
        stream.get_mut().write_all(request).unwrap();
        let (head, body) = answer(stream);
        let body = String::from_utf8_lossy(&body);
        assert!(head.starts_with("HTTP/1.1 200"), "{head}{body}");
        assert!(body.contains(r#""state":"succeeded""#), "{body}");
    })
}

fn request(agent: &Agent, action: Action) -> Vec<u8> {
    let (name, arguments) = match action {
        Action::Write => ("rename_node", json!({ "node": "1", "name": "Button / Primary" })),
        Action::Read => ("list_pages", json!({})),
    };
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
    let body: Value =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let (body, Agent { host, token }) = (body.to_string(), agent);
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nAuthorization: Bearer {token}\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
