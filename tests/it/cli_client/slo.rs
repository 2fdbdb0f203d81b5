//! `svcctl slo`: what a person reads, what a script gets, and how it ends.

use super::canned_server::Reply;
use super::{Desk, problem};

fn signal(name: &str, state: &str, severity: &str) -> String {
    format!(
        r#"{{"name":"{name}","meaning":"what is measured","severity":"{severity}","gate":{{"kind":"volume","seconds":300}},"state":"{state}","since":"2020-01-01T00:00:00.000000Z","value":21,"unit":"count","badSide":"high","threshold":20,"healthyValue":2,"owner":"platform","nextCheck":"look there"}}"#
    )
}

fn slo(health: &str, signals: &[String]) -> String {
    format!(
        r#"{{"policyVersion":"forge-cloud-ga-v1","health":"{health}","evaluatedAt":"2020-01-01T00:00:00.000000Z","signals":[{}]}}"#,
        signals.join(",")
    )
}

#[test]
fn what_fires_stands_first_and_says_what_to_do() {
    let signals = [
        signal("quiet", "inactive", "warning"),
        signal("soon", "pending", "warning"),
        signal("noisy", "firing", "critical"),
    ];
    let run = Desk::new(vec![Reply::json(200, &slo("critical", &signals))]).run("slo");
    let places: Vec<_> = ["signals        critical", "noisy", "soon", "quiet"]
        .map(|word| run.stdout.find(word))
        .into();
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{}", run.stdout);
    let columns: Vec<&str> = run.stdout.lines().nth(5).unwrap().split("  ").collect();
    let columns: Vec<&str> = columns.into_iter().filter(|c| !c.is_empty()).map(str::trim).collect();
    let fires = ">= 20 within 300s";
    assert_eq!(&columns[..2], ["noisy", "firing"]);
    assert_eq!(&columns[3..], ["21", fires, "<= 2", "critical", "platform"]);
    assert_eq!(run.stderr, "critical: noisy: what is measured. look there\n");
    assert_eq!(run.code, 8);
}

#[test]
fn only_a_critical_signal_and_ignorance_are_not_zero() {
    for (health, code) in [("healthy", 0), ("degraded", 0), ("critical", 8), ("unknown", 75)] {
        let desk = Desk::new(vec![Reply::json(200, &slo(health, &[]))]);
        assert_eq!(desk.run("slo").code, code, "{health}");
    }
    let desk = Desk::new(vec![problem(503, "unavailable", "")]);
    assert_eq!(desk.run("slo").code, 75);
}

#[test]
fn a_script_gets_the_body_as_it_is() {
    let body = slo("degraded", &[signal("noisy", "firing", "warning")]);
    let desk = Desk::new(vec![Reply::json(200, &body), Reply::json(200, &body)]);
    let run = desk.run("slo -o json");
    let said: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(said, serde_json::from_str::<serde_json::Value>(&body).unwrap());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let lines = desk.run("slo -o ndjson").stdout;
    assert_eq!(lines, format!("{}\n", signal("noisy", "firing", "warning")));
}
