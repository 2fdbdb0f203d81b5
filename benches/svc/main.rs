//! How fast, and beside what: each figure stands next to a raw limit taken in the same run.
//!
//! `cargo bench` runs every part, `cargo bench -- verbs` one. Nothing here fails for being slow:
//! `benches/README.md` says what each figure means and what was measured.
#![expect(clippy::print_stdout, reason = "the tables are what this program is for")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark that cannot go on has no result"
)]
#![expect(clippy::as_conversions, reason = "counts become figures to print")]

mod cards;
mod drain;
mod growth;
mod history;
mod http;
mod idle;
mod intake;
mod listing;
mod mcp;
mod peers;
mod plans;
mod prompt_forge;
mod raw;
mod raw_release;
mod relay;
mod settle;
mod start;
mod support;
mod svcd;
mod verbs;
mod work;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    // A bare server of a part, in a process of its own.
    if let [server, file] = words.as_slice() {
        match server.as_str() {
            "echo" => return mcp::echo(file),
            "web-socket" => return relay::bare::echo(),
            _ => {}
        }
    }
    // How many finished rows are many.
    let rows = words.iter().find_map(|word| word.parse().ok());
    let names: Vec<&String> = words.iter().filter(|word| word.parse::<u32>().is_err()).collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|word| name.contains(*word));
    if wanted("intake") {
        intake::run();
    }
    if wanted("verbs") {
        verbs::run();
    }
    if wanted("settle") {
        settle::run();
    }
    if wanted("drain") {
        drain::run();
    }
    if wanted("listing") {
        listing::run();
    }
    if wanted("history") {
        history::run(rows.unwrap_or(5_000_000));
    }
    if wanted("start") {
        start::run(rows.unwrap_or(1_000_000));
    }
    if wanted("growth") {
        growth::run();
    }
    if wanted("cards") {
        cards::run();
    }
    if wanted("mcp") {
        mcp::run();
    }
    if wanted("relay") {
        relay::run();
    }
    if wanted("plans") {
        plans::run();
    }
    // Only by name: it needs the registries of npm and PyPI.
    if names.iter().any(|name| *name == "peers") {
        peers::run();
    }
    if wanted("idle") {
        idle::run();
    }
}
