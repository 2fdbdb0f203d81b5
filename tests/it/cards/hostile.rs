//! Texts that mean harm: a report in bounded time, with no more findings than are shown. They are of
//! 1 MiB in a release build; a debug build takes smaller ones, because it is that much slower.

use std::time::Duration;

use svc::card::{self, FINDINGS_MAX};
use svc::runtime::clock::{Clock as _, SystemClock};

const SIZE: usize = if cfg!(debug_assertions) { 1 << 17 } else { 1 << 20 };
pub(crate) const BOUND: Duration = Duration::from_secs(5);

/// Fills a text between two ends.
fn filled(begin: &str, unit: &str, end: &str) -> String {
    let times = (SIZE - begin.len() - end.len()) / unit.len();
    [begin, &unit.repeat(times), end].concat()
}

/// Fills a text with numbered parts.
fn numbered(begin: &str, unit: impl Fn(usize) -> String, end: &str) -> String {
    let mut text = begin.to_owned();
    let mut number = 0;
    while text.len() < SIZE - end.len() {
        text += &unit(number);
        number += 1;
    }
    text + end
}

pub(crate) fn texts() -> Vec<String> {
    const CARD: &str =
        r#"{"protocolVersion":"1.0","name":"n","description":"d","url":"a:b","version":"1","#;
    let in_card = |name: &str, begin: &str| format!("{CARD}\"{name}\":{begin}");
    let with = |text: &str, value: String| text.replace("\"a:b\"", &format!("\"{value}\""));
    let url = |unit: &str| with(CARD, filled("a://", unit, ""));
    vec![
        filled("", "[", ""),
        filled("", "{\"a\":", ""),
        filled("[", "[],", "[]]"),
        filled("[", "0,", "0]"),
        filled("", " ", ""),
        filled("", "\n", "{}"),
        filled("\"", "\\u0041", "\""),
        filled("[", "\"\\ud800\",", "0]"),
        filled("", "9", ""),
        filled("1e", "9", ""),
        filled("{\"", "k", "\":{\"a\":1,\"a\":1}}"),
        filled("{", "\"a\":0,", "\"a\":0}"),
        filled("{", "\"\\u0061\":0,", "\"a\":0}"),
        numbered("{", |number| format!("\"{number}\":0,"), "\"\":0}"),
        numbered("{", |number| format!("\"{}{number}\":0,", "k".repeat(200)), "\"\":0}"),
        numbered("{", |number| format!("\"streamin{}\":0,", number % 90), "\"\":0}"),
        filled("[", "{\"a\":0,\"a\":0},", "0]"),
        filled(
            "[",
            "{\"1\":0,\"2\":0,\"3\":0,\"4\":0,\"5\":0,\"6\":0,\"7\":0,\"8\":0,\"9\":0,\"9\":0},",
            "0]",
        ),
        filled(&in_card("skills", "["), "{},", "{}]}"),
        filled(
            &in_card("skills", "["),
            "{\"id\":\"i\",\"name\":\"n\",\"description\":\"d\"},",
            "0]}",
        ),
        filled(&in_card("security", "["), "{\"a\":[\"b\"]},", "0]}"),
        numbered(&in_card("security", "[{"), |number| format!("\"{number}\":0,"), "\"\":0}]}"),
        filled(&in_card("securitySchemes", "["), "{\"id\":\"i\",\"type\":\"x\"},", "0]}"),
        filled(&in_card("securitySchemes", "[{"), "\"typ\":0,", "\"type\":0}]}"),
        filled(&in_card("signedAt", "\"2026-11-21T09:00:00."), "0", "\"}"),
        filled(&in_card("transport", "\""), "h", "\"}"),
        filled(&in_card("x", "["), "{\"a\":[{}]},", "0]}"),
        url("%41"),
        url("a@"),
        url("[::"),
        url("ü"),
        url(":"),
    ]
}

#[test]
fn no_text_takes_long() {
    let clock = SystemClock::new();
    for text in texts() {
        let began = clock.monotonic();
        let report = card::check(text.as_bytes());
        let took = clock.monotonic() - began;
        let start: String = text.chars().take(40).collect();
        assert!(took < BOUND, "{start}: {took:?}");
        assert!(report.findings.len() <= FINDINGS_MAX, "{start}");
        let said: usize = report
            .findings
            .iter()
            .map(|finding| finding.pointer.len() + finding.message.len())
            .sum();
        assert!(said < 200_000, "{start}: {said} bytes are said");
        drop(card::dialect(text.as_bytes()));
        drop(card::convert(text.as_bytes(), card::Variant::Legacy));
    }
}
