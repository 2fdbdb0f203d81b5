//! `svcctl slo`: the signals of the service, those that fire first, and what to look at next.

use crate::api::{Slo, SloGate, SloSignal};
use crate::cli::Global;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Column, Format, Output, or_dash};
use crate::cli::watch::{WatchArgs, Watched};

/// Show the service-level signals: which ones are firing, since when, and what to check next
///
/// A signal is a measured value with thresholds, such as the age of the oldest job. A pending signal is beyond its
/// threshold, but not for long enough to fire. Exits with 0 if no critical signal
/// is firing, 8 if one is, and 75 if the signals have not been evaluated since svcd started. Warnings that are
/// firing are shown, but do not change the exit code.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl slo
  svcctl slo -o json | jq -r '.signals[] | select(.state == \"firing\") | .nextCheck'
  svcctl slo --watch
  svcctl slo > /dev/null; test $? -eq 8 && echo 'a critical signal is firing'
")]
pub(crate) struct Args {
    #[command(flatten)]
    watch: WatchArgs,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    args.watch.run(Watched::Document, "slo", output, |output| print(&client, output))
}

fn print(client: &Client, output: Output) -> Result<Exit, Error> {
    let slo: Slo = client.get("/api/v1/operator/slo")?;
    match output.format() {
        Format::Json => output.json(&slo)?,
        Format::Ndjson => output.lines(&slo.signals)?,
        Format::Table => show(&slo, output)?,
    }
    Ok(match slo.health.as_ref() {
        "critical" => Exit::SignalFiring,
        "unknown" => Exit::Temporary,
        _ => Exit::Done,
    })
}

fn show(slo: &Slo, output: Output) -> Result<(), Error> {
    let evaluated = match &slo.evaluated_at {
        Some(instant) => output.times().ago(*instant),
        None => "not since svcd started".to_owned(),
    };
    output.facts(vec![
        ("signals", slo.health.to_string()),
        ("evaluated", evaluated),
        ("threshold set", slo.policy_version.to_string()),
    ])?;
    output.raw(b"\n")?;
    let mut signals: Vec<&SloSignal> = slo.signals.iter().collect();
    // The sort is stable, so signals of one state keep the order of the policy.
    signals.sort_by_key(|signal| place(&signal.state));
    output.table(COLUMNS, signals.iter().copied())?;
    for signal in signals.iter().filter(|signal| signal.state == "firing") {
        let text = format!("{}: {}. {}", signal.name, signal.meaning, signal.next_check);
        output.alarm(&signal.severity, signal.severity == "critical", &text);
    }
    Ok(())
}

/// What fires stands first, what may fire soon next.
fn place(state: &str) -> u8 {
    match state {
        "firing" => 0,
        "pending" => 1,
        _ => 2,
    }
}

const COLUMNS: &[Column<SloSignal>] = &[
    Column::new(0, "SIGNAL", |it, _| it.name.to_string()),
    Column::state(0, "STATE", |it, _| it.state.to_string()),
    Column::new(2, "SINCE", |it, times| or_dash(it.since.map(|at| times.ago(at)))),
    Column::new(0, "VALUE", |it, _| or_dash(it.value.map(|value| counted(value, &it.unit)))),
    Column::new(3, "FIRES", |it, _| {
        let sign = if it.bad_side == "low" { "<=" } else { ">=" };
        format!("{sign} {} {}", counted(it.threshold, &it.unit), gate(&it.gate))
    }),
    Column::new(5, "RECOVERS", |it, _| {
        let sign = if it.bad_side == "low" { ">=" } else { "<=" };
        format!("{sign} {}", counted(it.healthy_value, &it.unit))
    }),
    Column::new(1, "SEVERITY", |it, _| it.severity.to_string()),
    Column::new(4, "OWNER", |it, _| it.owner.to_string()),
];

fn counted(value: u64, unit: &str) -> String {
    match unit {
        "seconds" => format!("{value}s"),
        "bytes" => format!("{} MiB", value >> 20),
        _ => value.to_string(),
    }
}

fn gate(gate: &SloGate) -> String {
    let seconds = gate.seconds.unwrap_or_default();
    match (gate.kind.as_ref(), gate.snapshots) {
        (_, Some(snapshots)) => format!("{snapshots} times in a row"),
        ("duration", None) => format!("for {seconds}s"),
        ("volume", None) => format!("within {seconds}s"),
        ("trend", None) => format!("more over {seconds}s"),
        (other, None) => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_and_values_are_read_as_they_are_said() {
        let of = |kind: &'static str, seconds, snapshots| {
            gate(&SloGate { kind: kind.into(), seconds, snapshots })
        };
        assert_eq!(of("duration", Some(60), None), "for 60s");
        assert_eq!(of("volume", Some(300), None), "within 300s");
        assert_eq!(of("trend", Some(600), None), "more over 600s");
        assert_eq!(of("consecutive_snapshots", None, Some(3)), "3 times in a row");
        assert_eq!(of("of_tomorrow", None, None), "of_tomorrow");
        assert_eq!(counted(268_435_456, "bytes"), "256 MiB");
        assert_eq!(counted(90, "seconds"), "90s");
        assert_eq!(counted(7, "count"), "7");
    }
}
