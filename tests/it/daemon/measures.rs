//! `/metrics` after a release that failed: what was measured is there, and whatever the dashboard and the alert rules ask
//! for has that name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use svc::simulator::{Call, Fault};

use super::letters::{letters, push};
use super::site::Site;
use super::{INSTALLATION, wait_for};

const TIMES: [&str; 4] = [
    "svc_webhook_ack_seconds",
    "svc_job_wait_seconds",
    "svc_forge_call_seconds",
    "svc_store_commit_seconds",
];

/// Returns the metrics of a daemon that has a dead letter and has evaluated its signals.
fn metrics() -> String {
    let site = Site::new();
    let daemon = site.start();
    site.forge.plan(Call::Dispatch, Fault::Validation422);
    push(&daemon, &site.webhooks, 1);
    wait_for("the dead letter", || letters(&daemon, INSTALLATION).pop());
    wait_for("the signals", || {
        let text = daemon.metrics();
        text.contains("\nsvc_slo_signal_active{").then_some(text)
    })
}

fn value(text: &str, series: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {series} in {text}")).parse().unwrap()
}

/// Returns each metric with its type.
fn types(text: &str) -> BTreeMap<&str, &str> {
    text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect()
}

/// Returns the names of the series that there can be.
fn names(text: &str) -> BTreeSet<String> {
    let types = types(text).into_iter();
    let names = types.flat_map(|(name, kind)| match kind {
        "histogram" => ["_bucket", "_sum", "_count"].map(|end| format!("{name}{end}")).to_vec(),
        _ => vec![name.to_owned()],
    });
    names.collect()
}

fn metric_names_in(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with("svc_")).map(str::to_owned).collect()
}

#[test]
fn what_is_measured_is_counted_in_buckets_that_add_up() {
    let text = metrics();
    for name in TIMES {
        assert_eq!(types(&text).get(name), Some(&"histogram"));
        let start = format!("{name}_bucket{{le=\"");
        let buckets: Vec<(f64, u64)> = text
            .lines()
            .filter_map(|line| line.strip_prefix(&start)?.split_once("\"} "))
            .map(|(bound, count)| (bound.parse().unwrap(), count.parse().unwrap()))
            .collect();
        assert!(buckets.len() > 10 && buckets.is_sorted(), "{name}: {buckets:?}");
        assert!(buckets.iter().map(|(_, count)| count).is_sorted(), "{name}: {buckets:?}");
        let (last, count) = *buckets.last().unwrap();
        assert!(last.is_infinite() && count > 0, "{name}: {buckets:?}");
        assert!(
            (value(&text, &format!("{name}_count")) - f64::from(u32::try_from(count).unwrap()))
                .abs()
                < 0.5
        );
        assert!(value(&text, &format!("{name}_sum")) >= 0.0);
    }
    // A webhook that was refused is not acknowledged, and there was one that was.
    assert!((value(&text, "svc_webhook_ack_seconds_count") - 1.0).abs() < 0.5, "{text}");
    let version = env!("CARGO_PKG_VERSION");
    assert!(text.contains(&format!("\nsvc_build_info{{version=\"{version}\"}} 1\n")), "{text}");
    let rejected = r#"svc_dead_letters_open_by_reason{reason="forge_dispatch_rejected"}"#;
    assert!((value(&text, rejected) - value(&text, "svc_dead_letters_open")).abs() < 0.5, "{text}");
}

#[test]
fn the_dashboard_and_the_rules_ask_for_what_there_is() {
    let names = names(&metrics());
    let dashboard: Value =
        serde_json::from_str(include_str!("../../../packaging/grafana/svc-dashboard.json"))
            .unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    let mut asked = BTreeSet::new();
    for target in targets {
        let found = metric_names_in(target["expr"].as_str().unwrap());
        assert!(!found.is_empty(), "{target}");
        asked.extend(found);
    }
    assert!(asked.len() > 25, "{asked:?}");
    asked.extend(metric_names_in(&dashboard["templating"].to_string()));
    for line in include_str!("../../../packaging/prometheus/svc.rules.yml").lines() {
        if let Some((_, expression)) = line.split_once("expr: ") {
            asked.extend(metric_names_in(expression));
        }
    }
    for time in TIMES {
        assert!(asked.contains(&format!("{time}_bucket")), "the dashboard shows no {time}");
    }
    let missing: Vec<_> = asked.difference(&names).collect();
    assert!(missing.is_empty(), "{missing:?} of {names:?}");
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len());
}
