//! The list of dead letters: its shape, its pages, and the queries it does not understand.

use super::INSTALLATION;
use super::ask::Ask;
use super::letters::{self, list_path};
use super::site::Site;

#[test]
fn a_query_is_understood_or_refused() {
    let site = Site::new();
    let daemon = site.start();
    for endpoint in daemon.operator_endpoints() {
        for query in [
            "limit=0",
            "limit=101",
            "limit=abc",
            "limit=01",
            "limit=",
            "limit=+1",
            "limit=-1",
            "limit=1.0",
            "limit=1%20",
            "limit=99999999999999999999",
            "limit",
            "limit=1&limit=1",
            "limit=1&limit=2",
            "before=",
            "before=yesterday",
            "before=2026-01-01",
            "before=2026-01-01T00:00:00",
            "before=2026-02-30T00:00:00Z",
            "before=2026-01-01T25:00:00Z",
            "before=1767225600",
            "before=2026-01-01T00:00:00Z&before=2026-01-01T00:00:00Z",
            "before=2026-01-01T00:00:00+01:00",
            "after=1",
            "offset=1",
            "Limit=1",
            "marked-parameter=marked-value",
            "limit=1&marked",
            "%6cimit=1&limit=1",
            "&",
            "=",
        ] {
            let ask = Ask::get(&format!("{}?{query}", list_path(INSTALLATION))).bearer();
            let answer = endpoint.ask(&ask);
            if ["&"].contains(&query) {
                // Nothing is asked for.
                assert!([200, 400].contains(&answer.status), "{query}: {answer:?}");
                continue;
            }
            answer.assert_problem(400, "invalid_request", query);
            for echoed in ["marked", "yesterday", "abc", "999"] {
                assert!(!answer.text().contains(echoed), "{query}: {}", answer.text());
            }
        }
        for query in [
            "limit=1",
            "limit=100",
            "before=2026-01-01T00:00:00Z",
            "before=2026-01-01T00:00:00.123456Z",
            "before=2026-01-01T00:00:00.123456789Z",
            "before=2026-01-01T00:00:00.12345678901234567890Z",
            "before=2026-01-01t00:00:00z",
            "before=9999-12-31T23:59:59.999999999Z",
            "before=2026-01-01T00:00:00%2B01:00",
            "before=2026-01-01T00%3A00%3A00Z&limit=7",
        ] {
            let answer =
                endpoint.ask(&Ask::get(&format!("{}?{query}", list_path(INSTALLATION))).bearer());
            assert_eq!(answer.status, 200, "{query}: {answer:?}");
            assert_eq!(answer.text(), r#"{"items":[],"nextBefore":null}"#, "{query}");
        }
    }
}

#[test]
fn pages_show_every_letter_once() {
    let site = Site::new();
    let daemon = site.start();
    letters::job(&site, &daemon, 1);
    for number in 2..5 {
        letters::refused(&site, &daemon, number);
    }
    letters::uncertain(&site, &daemon, 5);
    let whole = letters::letters(&daemon, INSTALLATION);
    assert_eq!(whole.len(), 5);
    assert!(whole.is_sorted_by(|newer, older| newer.failed_at > older.failed_at));
    for endpoint in daemon.operator_endpoints() {
        for limit in 1..=6 {
            let (mut seen, mut query) = (Vec::new(), format!("limit={limit}"));
            loop {
                let ask = Ask::get(&format!("{}?{query}", list_path(INSTALLATION))).bearer();
                let page = endpoint.ask(&ask).json();
                seen.extend(page["items"].as_array().unwrap().clone());
                let Some(next) = page["nextBefore"].as_str() else { break };
                query = format!("limit={limit}&before={next}");
            }
            assert_eq!(serde_json::json!(seen), serde_json::json!(whole), "{limit}");
        }
    }
}

#[test]
fn an_item_has_these_fields_and_no_others() {
    let site = Site::new();
    let daemon = site.start();
    let id = letters::refused(&site, &daemon, 1);
    let answer = daemon.control.ask(&Ask::get(&list_path(INSTALLATION)).bearer());
    assert_eq!(answer.header("content-type"), "application/json");
    let mut page = answer.json();
    let failed_at = page["items"][0]["failedAt"].take();
    let failed_at = failed_at.as_str().unwrap();
    assert!(failed_at.ends_with('Z') && failed_at.len() == 27, "{failed_at}");
    assert_eq!(page["items"][0]["releaseRunId"].take().as_str().map(str::len), Some(36));
    let expected = serde_json::json!({
        "items": [{
            "itemType": "outbox",
            "itemId": id,
            "repository": "acme/site",
            "reasonCode": "forge_dispatch_rejected",
            "errorClass": "validation",
            "cause": "http_4xx",
            "attemptCount": 1,
            "failedAt": null,
            "replaySafe": true,
            "replayClass": "refused",
            "effectKind": "workflow_dispatch",
            "releaseRunId": null,
        }],
        "nextBefore": null,
    });
    assert_eq!(page, expected);
}
