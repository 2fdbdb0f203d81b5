//! What the operator API refuses before it acts: who asks, how, and with what.

use super::ask::{Ask, Endpoint};
use super::letters::{self, list_path, replay, replay_path};
use super::site::Site;
use super::{INSTALLATION, TOKEN};

const ABSENT: &str = "0199f3a0-0000-7000-8000-00000000000a";
const OTHER_TOKEN: &str = "fedcba9876543210fedcba9876543210";

fn list() -> Ask {
    Ask::get(&list_path(INSTALLATION))
}

fn assert_unauthenticated(endpoint: &Endpoint, ask: &Ask) {
    let answer = endpoint.ask(ask);
    answer.assert_problem(401, "unauthenticated", &format!("{ask:?}"));
    assert_eq!(answer.header("www-authenticate"), "Bearer");
    assert!(!answer.text().contains(TOKEN));
}

#[test]
fn without_the_very_token_no_caller_learns_anything() {
    let site = Site::new();
    let daemon = site.start();
    let item = letters::refused(&site, &daemon, 1);
    let credentials = [
        None,
        Some(String::new()),
        Some("Bearer".to_owned()),
        Some("Bearer ".to_owned()),
        Some(format!("Basic {TOKEN}")),
        Some(TOKEN.to_owned()),
        Some(format!("Bearer {OTHER_TOKEN}")),
        Some(format!("Bearer {}", TOKEN.to_uppercase())),
        Some(format!("Bearer {TOKEN}0")),
        Some(format!("Bearer {}", &TOKEN[1..])),
        Some(format!("Bearer {TOKEN},Bearer {TOKEN}")),
        Some(format!("Bearer \"{TOKEN}\"")),
    ];
    // The first is a request that the token makes good; the others are wrong in another way too.
    let asks = [
        list(),
        Ask::post(&replay_path(INSTALLATION, "outbox", &item)).key("key"),
        Ask::post(&replay_path(INSTALLATION, "outbox", &item)),
        Ask::get(&format!("{}?limit=0", list_path(INSTALLATION))),
        Ask::get(&format!("{}?access_token={TOKEN}", list_path(INSTALLATION))),
        Ask::new("DELETE", &list_path(INSTALLATION)),
        Ask::get("/api/v1/operator/nothing"),
        Ask::get("/api/v1/operator"),
        Ask::get("/api/v1/operator/installations/x/dead-letters"),
        list().header("Cookie", format!("token={TOKEN}")),
        list().header("X-Api-Key", TOKEN),
    ];
    for endpoint in daemon.operator_endpoints() {
        let first = endpoint.ask(&list());
        for credential in &credentials {
            for ask in &asks {
                let ask = ask.clone();
                let ask = match credential {
                    None => ask,
                    Some(value) => ask.header("Authorization", value),
                };
                assert_unauthenticated(&endpoint, &ask);
                assert_eq!(endpoint.ask(&ask), first, "{ask:?}");
            }
        }
        assert_unauthenticated(&endpoint, &list().bearer().bearer());
        let bad = list().bearer().header("Authorization", format!("Bearer {OTHER_TOKEN}"));
        assert_unauthenticated(&endpoint, &bad);
        assert_eq!(endpoint.ask(&list().bearer()).status, 200);
    }
    assert!(!daemon.log().contains(TOKEN));
    assert_eq!(letters::letters(&daemon, INSTALLATION).len(), 1, "nothing was replayed");
}

#[test]
fn a_rotated_token_is_refused_after_the_restart() {
    let mut site = Site::new();
    let mut daemon = site.start();
    assert_eq!(daemon.control.ask(&list().bearer()).status, 200);
    daemon.end(rustix::process::Signal::TERM);
    site.secret("SVC_OPERATOR_API_TOKEN", OTHER_TOKEN);
    let daemon = site.start();
    for endpoint in daemon.operator_endpoints() {
        assert_unauthenticated(&endpoint, &list().bearer());
        let new = list().header("Authorization", format!("Bearer {OTHER_TOKEN}"));
        assert_eq!(endpoint.ask(&new).status, 200);
    }
}

#[test]
fn an_api_that_is_off_says_so_to_everybody() {
    for missing in ["SVC_OPERATOR_API_TOKEN_FILE", "SVC_OPERATOR_ACTOR_ID"] {
        let mut site = Site::new();
        site.unset(missing);
        let daemon = site.start();
        let warnings = daemon.log().matches("the operator API is off").count();
        assert_eq!(warnings, 1, "one warning");
        for endpoint in daemon.operator_endpoints() {
            for ask in [
                list(),
                list().bearer(),
                Ask::get("/api/v1/operator/nothing"),
                Ask::get("/api/v1/operator"),
                Ask::new("DELETE", "/api/v1/operator/installations"),
                replay(INSTALLATION, "outbox", ABSENT, "key"),
                Ask::post(&replay_path(0, "x", "y")),
            ] {
                let answer = endpoint.ask(&ask);
                answer.assert_problem(503, "unavailable", &format!("{ask:?}"));
                assert_eq!(answer.header("retry-after"), "5");
            }
            assert_eq!(endpoint.ask(&Ask::get("/health/ready")).status, 200);
        }
    }
}

#[test]
fn the_public_address_has_no_operator_api() {
    let site = Site::new();
    let daemon = site.start();
    let absent = daemon.public.ask(&Ask::get("/nothing/here"));
    for ask in [
        list(),
        list().bearer(),
        replay(INSTALLATION, "outbox", ABSENT, "key"),
        Ask::get("/metrics"),
        Ask::get("/api/v1/operator"),
    ] {
        assert_eq!(daemon.public.ask(&ask), absent, "{ask:?}");
    }
    absent.assert_problem(404, "not_found", "");
}

#[test]
fn a_key_is_needed_once_and_whole() {
    let site = Site::new();
    let daemon = site.start();
    let item = letters::refused(&site, &daemon, 1);
    let ask = || Ask::post(&replay_path(INSTALLATION, "outbox", &item)).bearer();
    let longest = "k".repeat(128);
    for endpoint in daemon.operator_endpoints() {
        for asked in [
            ask(),
            ask().key(""),
            ask().key("two words"),
            ask().key("tab\there"),
            ask().key(&"k".repeat(129)),
            ask().key("one").key("one"),
            ask().key("one").key("two"),
        ] {
            endpoint.ask(&asked).assert_problem(400, "invalid_request", "Idempotency-Key");
        }
        for path in [INSTALLATION, 1] {
            // A missing key is found before the item is looked for.
            let ask = Ask::post(&replay_path(path, "outbox", ABSENT)).bearer();
            endpoint.ask(&ask).assert_problem(400, "invalid_request", "Idempotency-Key");
        }
        let outside = endpoint.ask(&ask().header("Idempotency-Key", "caf\u{e9}-marked"));
        assert_eq!(outside.status, 400, "{outside:?}");
        assert!(!outside.text().contains("marked"));
        endpoint
            .ask(
                &Ask::post(&format!("{}?key=1", replay_path(INSTALLATION, "outbox", &item)))
                    .bearer()
                    .key("q"),
            )
            .assert_problem(400, "invalid_request", "query");
    }
    assert_eq!(letters::letters(&daemon, INSTALLATION).len(), 1, "nothing was replayed");
    let answer = daemon.control.ask(&ask().key(&longest));
    assert_eq!(answer.member("outcome"), "replayed");
}

#[test]
fn methods_and_bodies_a_path_does_not_have() {
    let site = Site::new();
    let daemon = site.start();
    let list_path = list_path(INSTALLATION);
    let replay_path = replay_path(INSTALLATION, "outbox", ABSENT);
    for endpoint in daemon.operator_endpoints() {
        for (method, path, allow) in [
            ("POST", list_path.as_str(), "GET, HEAD"),
            ("PUT", &list_path, "GET, HEAD"),
            ("DELETE", &list_path, "GET, HEAD"),
            ("PATCH", &list_path, "GET, HEAD"),
            ("OPTIONS", &list_path, "GET, HEAD"),
            ("GET", &replay_path, "POST"),
            ("HEAD", &replay_path, "POST"),
            ("PUT", &replay_path, "POST"),
            ("POST", "/health/ready", "GET, HEAD"),
            ("POST", "/metrics", "GET, HEAD"),
            ("BREW", &list_path, "GET, HEAD"),
        ] {
            let answer = endpoint.ask(&Ask::new(method, path).bearer().key("key"));
            assert_eq!(answer.status, 405, "{method} {path}: {answer:?}");
            assert_eq!(answer.header("allow"), allow, "{method} {path}");
            if method != "HEAD" {
                answer.assert_problem(405, "method_not_allowed", path);
            }
        }
        let head = endpoint.ask(&Ask::new("HEAD", &list_path).bearer());
        assert_eq!((head.status, head.body.len()), (200, 0));
        let large = Ask::post(&replay_path).bearer().key("key").body(vec![b'x'; 4_097]);
        endpoint.ask(&large).assert_problem(413, "payload_too_large", "a large body");
        let declared =
            Ask::post(&replay_path).bearer().key("key").header("Content-Length", "99999999999");
        endpoint.ask(&declared).assert_problem(413, "payload_too_large", "a large declared body");
        let any = Ask::get(&list_path).bearer().header("Content-Length", "1").body("x");
        endpoint.ask(&any).assert_problem(413, "payload_too_large", "a body without a meaning");
    }
}
