//! Agent cards: the library beside a bare parse of the same bytes, and the command line.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use svc::card;
use svc::runtime::clock::{Clock as _, SystemClock};

use crate::support::{Folder, heading, line, median, ratio};
use crate::svcd::Site;

const CARDS: u64 = 20_000;
const ROUNDS: usize = 7;
/// Starts of a process whose median is told.
const STARTS: usize = 41;

pub(crate) fn run() {
    let valid: Vec<String> = (0..CARDS).map(text).collect();
    let mixed: Vec<String> =
        valid.iter().enumerate().map(|(place, card)| fault(place, card)).collect();
    let bytes: usize = valid.iter().map(String::len).sum();
    heading(
        &format!(
            "cards: {CARDS} of {} bytes on average, one core, median of {ROUNDS} interleaved pairs",
            bytes / valid.len()
        ),
        ["svc", "serde_json", "ratio", "aim"],
    );
    library("valid", &valid, ">= 1.6");
    library("half of them with a fault, all findings", &mixed, ">= 0.6");
    command_line(&valid, &mixed);
    service(&valid, &mixed);
    hostile();
}

/// Texts of 1 MiB that mean harm: each costs something else.
fn hostile() {
    heading("cards: the longest check of 1 MiB that means harm", ["svc", "", "", "bound"]);
    let filled = |begin: &str, unit: &str, end: &str| {
        [begin, &unit.repeat((1 << 20) / unit.len()), end].concat()
    };
    let numbered: String = (0..90_000).map(|number| format!("\"{number:06}\":0,")).collect();
    let clock = SystemClock::new();
    for (name, text) in [
        ("open brackets", filled("", "[", "")),
        ("one property over and over", filled("{", "\"a\":0,", "\"a\":0}")),
        ("the same, escaped", filled("{", "\"\\u0061\":0,", "\"a\":0}")),
        ("objects with duplicates", filled("[", "{\"a\":0,\"a\":0},", "0]")),
        ("as many properties as fit", format!("{{{numbered}\"\":0}}")),
        ("halves of characters", filled("[", "\"\\ud800\",", "0]")),
    ] {
        let mut times = Vec::new();
        for _ in 0..5 {
            let began = clock.monotonic();
            std::hint::black_box(card::check(text.as_bytes()));
            times.push((clock.monotonic() - began).as_secs_f64() * 1e3);
        }
        let took = format!("{:.1} ms", median(times));
        line(name, [took, String::new(), String::new(), "< 250 ms".to_owned()]);
    }
}

fn library(name: &str, cards: &[String], aim: &str) {
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        bare.push(per_second(cards, |card| {
            serde_json::from_slice::<serde_json::Value>(card).is_ok()
        }));
        ours.push(per_second(cards, |card| card::check(card).is_valid()));
    }
    let bytes: usize = cards.iter().map(String::len).sum();
    let shown = |rates: &[f64]| {
        let rate = median(rates.to_vec());
        format!("{rate:.0}/s {:.0} MB/s", rate * bytes as f64 / cards.len() as f64 / 1e6)
    };
    let ratio = format!("{:.2}", ratio(&ours, &bare));
    line(name, [shown(&ours), shown(&bare), ratio, aim.to_owned()]);
}

fn per_second(cards: &[String], mut work: impl FnMut(&[u8]) -> bool) -> f64 {
    let clock = SystemClock::new();
    let began = clock.monotonic();
    let mut sum = 0_usize;
    for card in cards {
        sum += usize::from(work(std::hint::black_box(card.as_bytes())));
    }
    std::hint::black_box(sum);
    cards.len() as f64 / (clock.monotonic() - began).as_secs_f64()
}

fn command_line(valid: &[String], mixed: &[String]) {
    let folder = Folder::new();
    heading(
        "cards: the command line, a stream of lines, or one file",
        ["2 cores", "1 core", "ratio", "aim"],
    );
    for (name, cards) in [("svcctl, valid", valid), ("svcctl, half with a fault", mixed)] {
        let file = stream(&folder, name, cards, 10);
        let (mut both, mut one) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            one.push(rate(&file, cards.len() * 10, true));
            both.push(rate(&file, cards.len() * 10, false));
        }
        let shown = |rates: &[f64]| format!("{:.0}/s", median(rates.to_vec()));
        let ratio = format!("{:.2}", ratio(&both, &one));
        line(name, [shown(&both), shown(&one), ratio, ">= 1.8".to_owned()]);
    }
    let one = folder.path("one.json");
    std::fs::write(&one, valid.first().unwrap()).unwrap();
    let check = start(&["cards", "validate", "--offline"], Some(&one));
    let version = start(&["--version"], None);
    let ms = |seconds: f64| format!("{:.2} ms", seconds * 1e3);
    heading("cards: start", ["one file", "--version", "ratio", "aim"]);
    let ratio = format!("{:.2}", check / version);
    line("svcctl, whole process", [ms(check), ms(version), ratio, "< 3 ms".to_owned()]);
    heading("cards: most memory, mixed", ["1M cards", "1k cards", "ratio", "aim"]);
    let (few, many) = (
        stream(&folder, "few", mixed.get(..1_000).unwrap(), 1),
        stream(&folder, "many", mixed, 50),
    );
    let (few, many) = (memory(&few), memory(&many));
    let mib = |bytes: f64| format!("{bytes:.1} MiB");
    line("svcctl", [mib(many), mib(few), format!("{:.2}", many / few), "flat".to_owned()]);
}

/// The same streams, judged by the service and offline in turns. Service and client share the cores.
fn service(valid: &[String], mixed: &[String]) {
    let (folder, site) = (Folder::new(), Site::new());
    let svcd = site.start();
    heading(
        "cards: svcctl, judged by svcd, or offline, on the same cores",
        ["svcd", "offline", "ratio", "aim"],
    );
    for (name, cards) in [("valid", valid), ("half with a fault", mixed)] {
        let file = stream(&folder, name, cards, 10);
        let (mut asked, mut alone) = (Vec::new(), Vec::new());
        for _ in 0..5 {
            let validate = |words: &[&str]| {
                let mut command = Command::new(env!("CARGO_BIN_EXE_svcctl"));
                command.args(["cards", "validate"]).args(words).env("SVC_URL", site.url());
                timed(command.arg(&file), cards.len() * 10)
            };
            asked.push(validate(&[]));
            alone.push(validate(&["--offline"]));
        }
        let shown = |rates: &[f64]| format!("{:.0}/s", median(rates.to_vec()));
        let ratio = format!("{:.2}", ratio(&asked, &alone));
        line(name, [shown(&asked), shown(&alone), ratio, ">= 0.5".to_owned()]);
    }
    let resident = format!("{:.1} MiB", svcd.resident());
    line(
        "resident memory of svcd afterwards",
        [resident, String::new(), String::new(), String::new()],
    );
}

/// Writes the cards, over and over, a line each.
fn stream(folder: &Folder, name: &str, cards: &[String], times: usize) -> std::path::PathBuf {
    let path = folder.path(&format!("{}.ndjson", name.replace([' ', ','], "-")));
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    for card in std::iter::repeat_n(cards, times).flatten() {
        file.write_all(card.as_bytes()).unwrap();
        file.write_all(b"\n").unwrap();
    }
    file.flush().unwrap();
    path
}

fn rate(file: &Path, cards: usize, on_one_core: bool) -> f64 {
    let program = env!("CARGO_BIN_EXE_svcctl");
    let mut command = if on_one_core {
        let mut command = Command::new("taskset");
        command.args(["--cpu-list", "0", program]);
        command
    } else {
        Command::new(program)
    };
    timed(command.args(["cards", "validate", "--offline"]).arg(file), cards)
}

/// Returns how many cards a second a run came to.
fn timed(command: &mut Command, cards: usize) -> f64 {
    let clock = SystemClock::new();
    let began = clock.monotonic();
    let status = command.stdout(Stdio::null()).status().unwrap();
    assert!(matches!(status.code(), Some(0 | 1)), "{status}");
    cards as f64 / (clock.monotonic() - began).as_secs_f64()
}

fn start(words: &[&str], file: Option<&Path>) -> f64 {
    let clock = SystemClock::new();
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let began = clock.monotonic();
        let mut command = Command::new(env!("CARGO_BIN_EXE_svcctl"));
        command.args(words).args(file).stdout(Stdio::null());
        assert!(command.status().unwrap().success());
        times.push((clock.monotonic() - began).as_secs_f64());
    }
    median(times)
}

/// Returns the most memory a run had, in MiB, as often as it could be asked.
fn memory(file: &Path) -> f64 {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svcctl"));
    let mut child = command
        .args(["cards", "validate", "--offline"])
        .arg(file)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut most = 0.0_f64;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
        let status = status.unwrap_or_default();
        let high = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = high.and_then(|text| text.trim().split(' ').next()?.parse::<f64>().ok());
        most = most.max(kib.unwrap_or(0.0) / 1024.0);
        pause();
    }
    most
}

#[expect(clippy::disallowed_methods, reason = "the process that is looked at goes on meanwhile")]
fn pause() {
    std::thread::sleep(Duration::from_micros(300));
}

/// Returns a valid card, as an author would lay it out, with a different choice of everything.
fn text(number: u64) -> String {
    let mut chance = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |bound: u64| {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        (chance >> 20) % bound
    };
    let legacy = below(5) == 0;
    let version = if legacy { "0.3" } else { "1.0" };
    let mut card = format!(
        r#"{{"protocolVersion":"{version}","name":"Agent {number}","description":"Plans routes, books tables and answers questions about öffentlicher Verkehr, number {number}.","url":"https://agent-{number}.example.org:8443/a2a/v1","version":"{}.{}.{}","iconUrl":"https://cdn.example.org/icons/{number}.svg","provider":{{"name":"Example Systems {}","url":"https://www.example.org/company?id={number}"}},"capabilities":{{"streaming":{},"pushNotifications":true,"extendedAgentCard":false}}"#,
        below(9),
        below(20),
        below(100),
        below(50),
        below(2) == 0,
    );
    let scheme = match below(3) {
        0 => {
            r#"{"type":"apiKey","id":"key","in":"header","name":"X-Api-Key","description":"Ask \"us\" for one"}"#
        }
        1 => {
            r#"{"type":"http","id":"token","scheme":"bearer","bearerFormat":"JWT","audience":["agents","tools"],"issuer":"https://id.example.org/","jwksUri":"https://id.example.org/.well-known/jwks.json","algorithms":["ES256","RS256"]}"#
        }
        _ => {
            r#"{"type":"openIdConnect","id":"login","openIdConnectUrl":"https://id.example.org/.well-known/openid-configuration","audience":"agents"}"#
        }
    };
    let rest = if legacy {
        format!(
            r#","defaultInputMode":"text/plain","defaultOutputMode":"application/json","authentication":[{scheme}],"supportsAuthenticatedExtendedCard":true"#
        )
    } else {
        format!(
            r#","documentationUrl":"https://docs.example.org/agents/{number}#start","defaultInputModes":["text/plain","application/json"],"defaultOutputModes":["text/plain"],"transport":"http","security":[{{"key":[]}},{{"login":["read","write"]}}],"securitySchemes":[{scheme}],"signedAt":"2026-0{}-1{}T09:00:0{}Z","supportedInterfaces":[{{"url":"https://agent-{number}.example.org/a2a","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}}]"#,
            below(9) + 1,
            below(10),
            below(10)
        )
    };
    card.push_str(&rest);
    card += r#","skills":["#;
    for skill in 0..below(3) + 1 {
        card += if skill > 0 { "," } else { "" };
        let shown = format!(
            r#"{{"id":"skill-{skill}","name":"Skill number {skill}","description":"Takes a place and an hour and finds the way there, whatever the weather may be.","tags":["maps","travel","t{}"],"examples":["Way to the station?","When does the last train leave?"]}}"#,
            below(1000)
        );
        card.push_str(&shown);
    }
    card + "]}"
}

/// Plants a fault into every second card.
fn fault(place: usize, card: &str) -> String {
    match place % 10 {
        1 => card.replacen(r#""name":"Agent"#, r#""nmae":"Agent"#, 1),
        3 => card.replacen("https://cdn.example.org/icons/", "cdn.example.org/icons/", 1),
        5 => card.replacen(r#""pushNotifications":true"#, r#""pushNotifications":"true""#, 1),
        7 => card.replacen(r#","tags":["maps""#, r#","price":[1,2],"tags":["maps""#, 1),
        9 => card.replacen(
            r#""protocolVersion":"1.0","name""#,
            r#""protocolVersion":"1.0.0","name""#,
            1,
        ),
        _ => card.to_owned(),
    }
}
