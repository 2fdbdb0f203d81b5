//! Every decision, by the fixture's gate.

use std::time::Duration;

use http::HeaderMap;

use super::*;
use crate::http::fixture;
use crate::http::mcp;
use crate::http::message::Surface;
use crate::runtime::clock::SystemClock;

const GOOD: (&str, &str) = ("authorization", "Bearer good");
const HOST_LINE: (&str, &str) = ("host", "fixture.test");
const LENGTH: (&str, &str) = ("content-length", "2");
const PAGE: Line<'_> = ("origin", "https://page.test");

type Line<'a> = (&'a str, &'a str);

fn gate() -> Arc<Gate> {
    Arc::new(fixture::gate(Arc::new(SystemClock::new())))
}

fn head(method: &str, lines: &[Line<'_>]) -> Head {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers
            .append(HeaderName::try_from(*name).unwrap(), HeaderValue::try_from(*value).unwrap());
    }
    let (method, path) = (method.parse().unwrap(), "/".to_owned());
    Head { surface: Surface::Public, method, path, query: None, headers, peer: None }
}

/// Asks for a route that has POST alone, with bodies of up to four bytes; returns the status, and the
/// refusal in words.
fn ask(gate: &Arc<Gate>, method: &str, lines: &[Line<'_>]) -> (u16, String) {
    let admitted = gate.admit(&head(method, lines), &[Method::POST], 4);
    let entered =
        admitted.and_then(|visit| visit.caller().map(|caller| caller.unwrap().subject.clone()));
    match entered {
        Ok(subject) => (200, subject),
        Err(refusal) => {
            (refusal.status.as_u16(), String::from_utf8_lossy(refusal.body.bytes()).into_owned())
        }
    }
}

#[test]
fn the_first_thing_that_is_wrong_decides() {
    let cases: &[(u16, &str, &[Line<'_>])] = &[
        (200, "POST", &[HOST_LINE, LENGTH, GOOD]),
        (200, "POST", &[HOST_LINE, LENGTH, GOOD, PAGE]),
        (200, "POST", &[("host", "Fixture.TEST."), LENGTH, GOOD]),
        (200, "POST", &[("host", "fixture.test.:8443"), LENGTH, GOOD]),
        (200, "POST", &[HOST_LINE, LENGTH, ("authorization", "bearer good")]),
        (200, "POST", &[HOST_LINE, LENGTH, GOOD, ("origin", "HTTPS://page.test")]),
        // Whatever else is wrong: the host, then the page.
        (421, "BREW", &[("host", "evil.test"), ("origin", "https://evil.test")]),
        (421, "POST", &[LENGTH, GOOD]),
        (421, "POST", &[HOST_LINE, HOST_LINE, LENGTH, GOOD]),
        (421, "POST", &[("host", "fixture.test:80"), LENGTH, GOOD]),
        (421, "POST", &[("host", "fixture.test.evil.test"), LENGTH, GOOD]),
        (421, "POST", &[("host", "[::1]"), LENGTH, GOOD]),
        (403, "BREW", &[HOST_LINE, ("origin", "https://evil.test")]),
        (403, "OPTIONS", &[HOST_LINE, ("origin", "https://page.test.evil.test")]),
        (403, "POST", &[HOST_LINE, ("origin", "null"), LENGTH, GOOD]),
        (403, "POST", &[HOST_LINE, ("origin", "https://page.test:8443"), LENGTH, GOOD]),
        (403, "POST", &[HOST_LINE, ("origin", "http://page.test"), LENGTH, GOOD]),
        (403, "POST", &[HOST_LINE, PAGE, PAGE, LENGTH, GOOD]),
        (403, "POST", &[HOST_LINE, ("origin", ""), LENGTH, GOOD]),
        (204, "OPTIONS", &[HOST_LINE]),
        (204, "OPTIONS", &[HOST_LINE, PAGE, ("access-control-request-method", "POST")]),
        (405, "GET", &[HOST_LINE, ("content-length", "5")]),
        (405, "HEAD", &[HOST_LINE]),
        (411, "POST", &[HOST_LINE]),
        (411, "POST", &[HOST_LINE, ("content-length", "x"), GOOD]),
        (413, "POST", &[HOST_LINE, ("content-length", "5")]),
        (401, "POST", &[HOST_LINE, LENGTH]),
        (400, "POST", &[HOST_LINE, LENGTH, GOOD, GOOD]),
        (401, "POST", &[HOST_LINE, LENGTH, ("authorization", "Basic good")]),
        (400, "POST", &[HOST_LINE, LENGTH, ("authorization", "Bearer ")]),
        (400, "POST", &[HOST_LINE, LENGTH, ("authorization", "Bearer  good")]),
        (400, "POST", &[HOST_LINE, LENGTH, ("authorization", "Bearer good,good")]),
        (401, "POST", &[HOST_LINE, LENGTH, ("authorization", "Bearer bad")]),
        (403, "POST", &[HOST_LINE, LENGTH, ("authorization", "Bearer poor")]),
        (503, "POST", &[HOST_LINE, LENGTH, ("authorization", "Bearer later")]),
    ];
    for (status, method, lines) in cases {
        let (found, why) = ask(&gate(), method, lines);
        assert_eq!(found, *status, "{method} {lines:?}: {why}");
    }
    let long = format!("Bearer {}", "x".repeat(TOKEN_BYTES_MAX + 1));
    assert_eq!(ask(&gate(), "POST", &[HOST_LINE, LENGTH, ("authorization", &long)]).0, 401);
}

#[test]
fn a_gate_for_its_own_machine_refuses_what_a_proxy_passed_on() {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let rules = GateRules { refuses_forwarded: true, ..fixture::gate(Arc::clone(&clock)).rules };
    let own = Arc::new(Gate::new(rules, clock, Arc::default()));
    for name in
        ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP"]
    {
        for value in ["127.0.0.1", ""] {
            let lines = [HOST_LINE, LENGTH, GOOD, (name, value)];
            let (status, why) = ask(&own, "POST", &lines);
            assert_eq!((status, why.contains("a proxy forwarded the request")), (403, true));
            assert_eq!(ask(&own, "OPTIONS", &lines).0, 403, "a preflight has the same answer");
            assert_eq!(ask(&gate(), "POST", &lines).0, 200);
        }
    }
    let other_host = [("host", "evil.test"), ("forwarded", "for=1.2.3.4")];
    assert_eq!(ask(&own, "POST", &other_host).0, 421, "the host is looked at first");
    assert_eq!(ask(&own, "POST", &[HOST_LINE, LENGTH, GOOD, ("via", "1.1 x")]).0, 200);
}

#[test]
fn a_token_is_checked_once_and_its_owner_has_a_rate() {
    let gate = gate();
    for _ in 0..4 {
        assert_eq!(ask(&gate, "POST", &[HOST_LINE, LENGTH, GOOD]).0, 200);
    }
    let known = gate.admit(&head("POST", &[HOST_LINE, LENGTH, GOOD]), &[Method::POST], 4);
    let refusal = known.err().expect("known by now, so the head is enough");
    assert_eq!(refusal.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refusal.headers.get(RETRY_AFTER).unwrap(), "1");
}

#[test]
fn each_refusal_is_counted_by_a_word_and_is_an_error_without_an_id() {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let rules = GateRules {
        refuses_forwarded: true,
        describe: mcp::describe,
        ..fixture::gate(Arc::clone(&clock)).rules
    };
    let metrics = Arc::<Metrics>::default();
    let gate = Arc::new(Gate::new(rules, clock, Arc::clone(&metrics)));
    let token = |token| [HOST_LINE, LENGTH, ("authorization", token)];
    for (word, method, lines) in [
        ("host", "POST", &[("host", "evil.test")][..]),
        ("forwarded", "POST", &[HOST_LINE, ("forwarded", "for=1.2.3.4")]),
        ("origin", "POST", &[HOST_LINE, ("origin", "null")]),
        ("method", "GET", &[HOST_LINE]),
        ("size", "POST", &[HOST_LINE, ("content-length", "5")]),
        ("no_token", "POST", &[HOST_LINE, LENGTH]),
        ("invalid_request", "POST", &token("Bearer")),
        ("invalid_token", "POST", &token("Bearer bad")),
        ("scope", "POST", &token("Bearer poor")),
        ("keys_unavailable", "POST", &token("Bearer later")),
    ] {
        let (_, body) = ask(&gate, method, lines);
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["error"]["code"], -32600, "{word}");
        assert!(body["error"]["message"].as_str().is_some_and(|text| text.len() > 10), "{word}");
        assert_eq!((&body["jsonrpc"], body.as_object().unwrap().len()), (&"2.0".into(), 2));
        assert_eq!(metrics.mcp_refusals.sum(|[(_, found)]| found == word), 1, "{word}");
    }
    let let_in = ask(&gate, "POST", &token("Bearer good"));
    assert_eq!((let_in.0, metrics.mcp_refusals.sum(|_| true)), (200, 10));
}

#[test]
fn a_peer_has_a_rate_whatever_it_asks() {
    let gate = gate();
    let answers: Vec<u16> = (0..41).map(|_| ask(&gate, "BREW", &[HOST_LINE]).0).collect();
    assert_eq!(answers[..40], [405; 40]);
    assert_eq!(answers[40], 429);
    // A request for another host takes nothing from any rate.
    assert_eq!(ask(&gate, "POST", &[("host", "evil.test")]).0, 421);
}

#[test]
fn every_answer_carries_what_browsers_and_clients_need() {
    let gate = gate();
    let text = |response: &Response, name: &HeaderName| {
        response.headers.get(name).map(|value| value.to_str().unwrap().to_owned())
    };
    for lines in [
        &[("host", "evil.test"), PAGE][..],
        &[HOST_LINE, ("origin", "https://evil.test")],
        &[HOST_LINE, PAGE],
        &[HOST_LINE, PAGE, LENGTH, ("authorization", "Bearer bad")],
    ] {
        let admitted = gate.admit(&head("POST", lines), &[Method::POST], 4);
        let refusal = admitted.and_then(|visit| visit.caller().map(drop)).expect_err("refused");
        for (name, value) in HEADERS {
            assert_eq!(text(&refusal, &name).as_deref(), Some(value), "{lines:?}");
        }
        assert_eq!(text(&refusal, &STRICT_TRANSPORT_SECURITY).as_deref(), Some(STRICT_TRANSPORT));
        assert_eq!(text(&refusal, &VARY).as_deref(), Some("origin"));
        let page = text(&refusal, &ACCESS_CONTROL_ALLOW_ORIGIN);
        let is_let_in = lines[0] == HOST_LINE && lines[1] == PAGE;
        assert_eq!(page.as_deref(), is_let_in.then_some("https://page.test"), "{lines:?}");
        assert_eq!(text(&refusal, &ACCESS_CONTROL_EXPOSE_HEADERS).is_some(), is_let_in);
    }
    let preflight = [HOST_LINE, PAGE, ("access-control-request-method", "POST")];
    let answer = gate.admit(&head("OPTIONS", &preflight), &[Method::POST], 4);
    let answer = answer.err().expect("answered by the gate");
    assert_eq!(text(&answer, &ACCESS_CONTROL_ALLOW_METHODS).unwrap(), "POST, OPTIONS");
    assert_eq!(
        text(&answer, &ACCESS_CONTROL_ALLOW_HEADERS).unwrap(),
        "authorization, content-type"
    );
    let challenge = |token: Option<&str>| {
        let mut lines = vec![HOST_LINE, LENGTH];
        lines.extend(token.map(|token| ("authorization", token)));
        let admitted = gate.admit(&head("POST", &lines), &[Method::POST], 4);
        let refusal = admitted.and_then(|visit| visit.caller().map(drop)).expect_err("refused");
        text(&refusal, &WWW_AUTHENTICATE)
    };
    let metadata = "Bearer resource_metadata=\"https://fixture.test/metadata\", scope=\"mcp:read\"";
    assert_eq!(challenge(None).unwrap(), metadata, "no error where there was no token");
    let invalid = challenge(Some("Bearer bad")).unwrap();
    assert_eq!(invalid, format!("{metadata}, error=\"invalid_token\""));
    let twice = challenge(Some("Bearer one, Bearer two")).unwrap();
    assert_eq!(twice, format!("{metadata}, error=\"invalid_request\""));
    let poor = challenge(Some("Bearer poor")).unwrap();
    assert_eq!(poor, format!("{metadata}, error=\"insufficient_scope\""));
    assert_eq!(challenge(Some("Bearer later")), None);
    let wait = Duration::from_secs(7);
    assert_eq!(error::seconds(wait), "7");
}

#[test]
fn it_tells_which_headers_of_proxies_the_last_request_had() {
    let gate = gate();
    let last = || gate.last_forwarded().map(Iterator::collect::<Vec<_>>);
    assert_eq!(last(), None, "there was none");
    let mut all: Vec<Line<'_>> =
        FORWARDED.iter().map(|name| (name.as_str(), "192.0.2.1")).collect();
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    assert!(names.is_sorted());
    all.push(HOST_LINE);
    ask(&gate, "POST", &all);
    assert_eq!(last(), Some(names));
    ask(&gate, "POST", &[("x-real-ip", ""), ("host", "evil.test")]);
    assert_eq!(last(), Some(vec!["x-real-ip"]), "also of one that is refused");
    ask(&gate, "POST", &[("via", "1.1 x")]);
    assert_eq!(last(), Some(Vec::new()));
}
