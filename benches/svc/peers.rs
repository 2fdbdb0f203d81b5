//! Other queues in the same run, each of whose commits waits for the disk as ours do: plainjob (`npm`), huey (`PyPI`) and a raw
//! loop on PostgreSQL. They are installed by name below `target/`, where the network allows it.

mod postgres;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{Folder, callers, heading, line, median, open_store, ratio};
use crate::verbs::{self, JOBS};

const ROUNDS: usize = 3;
/// Callers at once. plainjob and huey are one process that serves any number of them, one after the other.
const CALLERS: [usize; 2] = [1, 16];

/// Operations a second: recording, and claiming and running.
type Rates = [f64; 2];

/// An interpreter, and what it runs.
type Program = [PathBuf; 2];

/// Runs a peer for so many callers; nothing if it cannot be had here, and then the tool has said why.
type Peer<'a> = (&'a str, Box<dyn Fn(usize) -> Option<Rates> + 'a>);

pub(crate) fn run() {
    heading(
        &format!("peers: {JOBS} jobs a round, median of {ROUNDS} rounds in turns, a second"),
        ["svc", "peer", "ratio", "aim"],
    );
    let (plainjob, huey, postgres) =
        (install_plainjob(), install_huey(), postgres::Postgres::start());
    let peers: [Peer<'_>; 3] = [
        ("plainjob", Box::new(|_| one_process(plainjob.as_ref()?))),
        ("huey", Box::new(|_| one_process(huey.as_ref()?))),
        ("PostgreSQL", Box::new(|callers| Some(postgres.as_ref()?.rates(callers)))),
    ];
    for callers in CALLERS {
        let mut own = Vec::new();
        let mut theirs = peers.each_ref().map(|_| Vec::new());
        for _ in 0..ROUNDS {
            own.push(ours(callers));
            for ((_, peer), rates) in peers.iter().zip(&mut theirs) {
                rates.extend(peer(callers));
            }
        }
        for ((name, _), rates) in peers.iter().zip(theirs) {
            show(name, callers, &own, &rates);
        }
    }
}

fn show(name: &str, callers: usize, own: &[Rates], theirs: &[Rates]) {
    let plural = if callers == 1 { "caller" } else { "callers" };
    for (place, what) in ["record", "claim and run"].into_iter().enumerate() {
        let of = |rates: &[Rates]| -> Vec<f64> {
            rates.iter().filter_map(|rates| rates.get(place)).copied().collect()
        };
        let name = format!("{what}, {callers} {plural}, {name}");
        let (own, theirs) = (of(own), of(theirs));
        if theirs.is_empty() {
            line(&name, [format!("{:.0}", median(own)).as_str(), "not here", "", ""]);
            continue;
        }
        let ratio = format!("{:.2}", ratio(&own, &theirs));
        let [own, theirs] = [own, theirs].map(|rates| format!("{:.0}", median(rates)));
        line(&name, [own.as_str(), theirs.as_str(), ratio.as_str(), ""]);
    }
}

fn ours(count: usize) -> Rates {
    let folder = Folder::new();
    let recorded = open_store(&folder.path("record.db"));
    let record = callers(count, JOBS, |number| verbs::record(&recorded, number)).per_second();
    let store = open_store(&folder.path("run.db"));
    verbs::fill(&store, 0);
    [record, callers(count, JOBS, |_| verbs::claim_and_run(&store)).per_second()]
}

/// Runs the program of a peer on a new file; it prints both rates.
fn one_process([interpreter, program]: &Program) -> Option<Rates> {
    let folder = Folder::new();
    let mut command = Command::new(interpreter);
    command.arg(program).arg(folder.path("peer.db")).arg(JOBS.to_string());
    rates(&output(&mut command)?)
}

fn rates(printed: &str) -> Option<Rates> {
    let mut rates = printed.split_whitespace().map(|rate| rate.parse().ok());
    Some([rates.next()??, rates.next()??])
}

fn source(program: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers").join(program)
}

/// Where packages are installed.
fn place(name: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("peers").join(name);
    std::fs::create_dir_all(&place).unwrap();
    place
}

fn install_plainjob() -> Option<Program> {
    let place = place("npm");
    if !place.join("node_modules/plainjob").is_dir() {
        let mut install = Command::new("npm");
        install.args(["install", "--no-audit", "--no-fund", "plainjob", "better-sqlite3"]);
        output(install.current_dir(&place))?;
    }
    // Node looks for packages beside the program.
    let program = place.join("plainjob.mjs");
    std::fs::copy(source("plainjob.mjs"), &program).unwrap();
    Some(["node".into(), program])
}

fn install_huey() -> Option<Program> {
    let python = place("python").join("bin/python");
    if !python.exists() {
        output(Command::new("python3").args(["-m", "venv"]).arg(place("python")))?;
        output(Command::new(&python).args(["-m", "pip", "install", "--quiet", "huey"]))?;
    }
    Some([python, source("huey_loop.py")])
}

/// Runs a program to its end; nothing if it cannot be started or fails.
fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
